"""FeatureRanker: what every ranker does around its score.

A ranker declares `labels_needed` and `_parameter_constraints` and implements one method,
``_score(problem)``. The base validates, builds the `Problem`, ranks the scores and selects.
"""

import os
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from semisift._checks import as_array, check_choice, check_flag, check_path, check_text, check_whole
from semisift._clean import refuse_lost_on_conversion
from semisift._features import (
    COPY_OF_KEPT,
    PARAMETERS,
    Features,
    read_features,
    without,
)
from semisift._given import given_to_fit
from semisift._labels import Labels
from semisift._memory import FEWER, check_memory
from semisift._named import check_names, names_of, validate_again
from semisift._problem import FEW_HELD, MOST_HELD, Problem
from semisift._semi_supervised import SemiSupervisedMixin
from semisift._sklearn import Interval, RealNotInt, StrOptions, at_least, fit_context
from semisift._warnings import warn
from semisift._words import count, quoted
from semisift.exceptions import SampledRowsWarning
from semisift.math.ranks import rank
from semisift.math.redundancy import correlations_in_families, put_copies_last
from semisift.math.structure import check_structure
from semisift.outcome.asking import AskingMixin
from semisift.outcome.learning import LearningMixin
from semisift.outcome.mixin import RULES, CutoffMixin
from semisift.outcome.shown import renderer
from semisift.stored.rows import StoredRows, as_stored
from semisift.transduction.one_class import find_rest, given_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from semisift.outcome import Outcome

# Bytes of the scores, ranks and means of a column, whatever the method.
BYTES_A_COLUMN = 32

# What is forgotten when a ranker is fitted again.
OF_A_RANKING = ("represented_by_", "family_correlation_", "redundancy_threshold_", "classes_")


class FeatureRanker(
    CutoffMixin, AskingMixin, LearningMixin, SelectorMixin, SemiSupervisedMixin, BaseEstimator
):
    """Base class of all rankers: score the columns, rank them and select the best.

    Subclasses implement ``_score(problem)`` and may set further attributes in it.

    Parameters
    ----------
    n_features_to_select : int, float or {"shadow", "stability", "knockoff"}, default=None
        How many columns to select: a number, a share in (0, 1], or a rule that decides by itself
        and sets `decisions_` and `cutoff_`. Of nothing but noise, "shadow" keeps a column in at
        most 2.5 % of cases; "stability", which bounds the expected number instead, more often. None
        selects half.
    redundancy_threshold : float, default=None
        In (0, 1). Columns whose absolute correlation with a better one exceeds it, over labelled
        and unlabelled rows together, are ranked behind all others. None ranks by score alone.
    random_state : int or RandomState instance, default=None
        Seed of the method and of the order of ties. None is a fixed seed: fitting twice gives the
        same ranking.
    keep : list of str or int, default=None
        Columns, by name or number, that are selected in any case and rank first, in the order of
        their scores; or a mask of the columns. Near-copies of them (above `redundancy_threshold`,
        or .7 without one) are put last, and methods that pick columns one by one pick these first.
        A number to select counts them.
    exclude : list of str or int, default=None
        Columns, by name or number, or a mask of them, that are treated as if they held one value:
        nothing is learnt from them, they have no score, rank last and are never selected.
    feature_groups : dict of str to list, or list of lists, default=None
        Columns that are one feature: ranked side by side, where the best of them stands, selected
        together, and counted as one. Groups of many columns have more chances of a good one, which
        p-values account for and ranks do not.
    prior : dict of str or int to float, or array-like of shape (n_features,), default=None
        How much is expected of columns, 0 or more; 1 of those that are not named. A column at place
        r by score with the weight w is ranked as one of weight 1 at place r / w. Scores and
        decisions do not change: what is expected is no evidence.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column, higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best: a permutation in which NaN scores come last and ties stand
        in a seeded random order. A redundancy threshold changes it, not the scores.
    score_ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column by its score alone, ties as in `ranking_`, from which it differs only
        with a redundancy threshold and where `keep`, `feature_groups` or `prior` say so.
    represented_by_ : ndarray of shape (n_features_in_,)
        For each column, the column that stands for it: the kept one that a near-copy resembles
        most, else itself. Columns with the same one are a family. With a redundancy threshold or
        `keep` only.
    family_correlation_ : ndarray of shape (n_features_in_,)
        Correlation of each column with the one that stands for it, with its sign; 1 where that is
        itself. With a redundancy threshold or `keep` only.
    redundancy_threshold_ : float
        The threshold that was used. With a redundancy threshold or `keep` only.
    decisions_ : ndarray of shape (n_features_in_,)
        "confirmed", "tentative" or "unconfirmed" (not told from chance, which does not show that it
        is useless) for each column. With a rule only, which selects the confirmed columns (with a
        redundancy threshold, those that are no near-copies) besides those of `keep`; of a group its
        best column decides.
    cutoff_ : ShadowCutoff, StabilityCutoff or KnockoffCutoff
        What the rule measured. With a rule only.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any; with one labelled class also the
        rest, of which some unlabelled rows are taken to be (see docs/studies.md).
    positive_share_ : float
        The share of the labelled class among the unlabelled rows, where no other is labelled: as
        given by `class_prior`, or estimated.
    n_features_in_ : int
        Number of columns seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X is of `read_table` or has string column names.
    """

    takes_stored = True
    takes_one_class = True
    scores_are_places: ClassVar[bool] = False  # p, p - 1, ... instead of a measure
    most_picked: ClassVar[int] = 100  # one by one, where nobody asked for a number of columns
    committee_divisor: ClassVar[int] = 20  # a committee is so many times smaller for repetitions

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            None,
            at_least(1),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions(set(RULES)),
        ],
        "redundancy_threshold": [None, Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
        "keep": [None, "array-like"],
        "exclude": [None, "array-like"],
        "feature_groups": [None, dict, list],
        "prior": [None, dict, "array-like"],
    }

    n_features_to_select: int | float | str | None = None
    redundancy_threshold: float | None = None
    random_state: int | np.random.RandomState | None = None
    keep: Any = None
    exclude: Any = None
    feature_groups: Any = None
    prior: Any = None

    # what the last four say of the columns of the fit
    _features: ClassVar[Features | None] = None

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, groups: Any = None, batch: Any = None) -> Self:
        """Score and rank the columns of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups : array-like of shape (n_samples,), default=None
            Which rows belong together, as those of a donor: they are drawn into bags and halves
            together, and labels are exchanged between groups (see docs/studies.md).
        batch : array-like of shape (n_samples,), default=None
            Which rows were measured together: differences between batches are taken out before
            anything else.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        return self._fit(X, y, self._build_problem(X, y, groups=groups, batch=batch))

    def _fit(self, X: Any, y: Any, problem: Problem) -> Self:
        self._given_to_fit = given_to_fit(problem)
        problem = self._limit(problem)
        # how many unlabelled rows stand for all, where they do
        self._n_held = None if problem.whole is None else len(problem.labels.unlabelled)
        self._tell_sampled(problem)
        self._prepare_rule(problem)
        self._count_to_select(problem.n_features)
        self._check_labels(problem)
        self._check_memory(problem)
        n_own = self._n_tasks(problem)
        n_tasks = None if n_own is None else n_own + self._n_repetitions()
        with self._watched(X, y, n_tasks):
            known = self._find_rest(problem)
            self._set_ranking(known, self._score(known))
            self._look_for_strangers(known)
            self._decide(replace(problem, whole=None) if problem.whole else problem)
        return self

    def _check_memory(self, problem: Problem) -> None:
        """Refuse what needs more memory than is free, before the work begins."""
        wide = f"{type(self).__name__} on {count(problem.n_features, 'feature')}"
        cure = "Rank fewer features, or set a smaller n_members."
        cure = cure if hasattr(self, "n_members") else FEWER
        check_memory(self._bytes_needed(problem), wide, cure)

    def _bytes_needed(self, problem: Problem) -> int:
        """Return the bytes of memory that `_score` needs at least, besides those of X."""
        return BYTES_A_COLUMN * problem.n_features

    def _find_rest(self, problem: Problem) -> Problem:
        """Return the problem with a second class where one is labelled and two are needed."""
        self.__dict__.pop("positive_share_", None)
        if problem.labels.n_classes != 1 or self.labels_needed != "two_classes":
            return problem
        if problem.given_pairs:
            return problem
        share = given_share(getattr(self, "class_prior", None), problem.labels)
        problem, self.positive_share_ = find_rest(problem, share)
        return problem

    def _exclude(self, problem: Problem) -> Problem:
        said = {name: getattr(self, name) for name in PARAMETERS}
        features = read_features(problem.feature_names, problem.n_features, **said)
        self.__dict__["_features"] = features
        if features is None or not features.excluded.any():
            return problem
        return without(problem, features.excluded)

    def _look_for_strangers(self, problem: Problem) -> None:
        """Tell of rows that fit no class, where the method labels rows by their shape."""

    def _most_to_hold(self) -> int:
        looks_for_copies = self.redundancy_threshold is not None or self.keep is not None
        needs_rows = self._rule is not None or looks_for_copies
        return FEW_HELD if self.uses_statistics and not needs_rows else MOST_HELD

    def _limit(self, problem: Problem) -> Problem:
        """Return the rows that the ranking is made from: of very many unlabelled ones, some."""
        if self.uses_statistics:
            return problem.with_statistics_of_all()
        return problem if self._most_used is None else problem.limited(self._most_used)

    @property
    def _most_used(self) -> int | None:
        """How many unlabelled rows stand for all, wherever they are; None where all are used."""
        return None

    def _same_in_blocks(self, labels: Labels) -> bool:
        if self._most_used is None:
            return self._most_to_hold() == FEW_HELD and labels.n_classes != 1
        return self._most_used <= MOST_HELD < len(labels.unlabelled)

    def _tell_sampled(self, problem: Problem) -> None:
        if problem.whole is None or self.uses_statistics or hasattr(self, "max_unlabelled"):
            return
        n_held, n_all = len(problem.labels.unlabelled), len(problem.all_labels.unlabelled)
        if n_held < min(MOST_HELD, n_all):
            return  # it was said when the rows were taken
        warn(
            f"{type(self).__name__} holds its rows in memory: {n_held:,} of {n_all:,} unlabelled "
            "rows, drawn at random, stand for all.",
            SampledRowsWarning,
        )

    def _set_ranking(self, problem: Problem, scores: NDArray[np.floating]) -> None:
        """Set what every ranker has after a fit, from the scores of the columns."""
        for name in OF_A_RANKING:
            self.__dict__.pop(name, None)
        if problem.labels.n_classes:
            self.classes_ = problem.labels.classes
        self._set_scores(problem, scores)
        self._put_copies_last(problem)

    def _stays_after_failure(self, before: dict[str, Any]) -> Iterable[str]:
        """Return what stays where a fit ended early: all, once there is a ranking."""
        now = vars(self)
        return {*before, *now} if now.get("ranking_") is not before.get("ranking_") else ()

    def _set_scores(self, problem: Problem, scores: NDArray[np.floating]) -> None:
        """Set the scores and the ranking that follows from them before near-copies are put last."""
        self.scores_ = self._numbers_of(scores, problem.n_features)
        self.scores_[problem.constant] = np.nan
        self.score_ranking_ = rank(self.scores_, problem.seed, self._tie_key(problem))
        self.ranking_ = self.score_ranking_.copy()
        if self._features is not None:
            self.ranking_ = self._features.arrange(self.scores_, self.score_ranking_)

    def _numbers_of(self, scores: Any, n_features: int) -> NDArray[np.float64]:
        """Return a copy of what `_score` has returned, one number for each column."""
        given = as_array(scores)
        is_real = given.dtype.kind in "biuf" or all(isinstance(each, Real) for each in given.flat)
        if is_real and given.shape == (n_features,):
            return np.array(given, dtype=np.float64)
        got = (
            f"an array of dtype {given.dtype} and shape {given.shape}"
            if given.ndim
            else quoted(scores)
        )
        raise ValueError(
            f"_score of {type(self).__name__} must return one number for each of the "
            f"{count(n_features, 'column')}: got {got}."
        )

    def _comparable_scores(self) -> NDArray[np.floating] | None:
        """Return scores whose size can be compared with those of a fit to other labels.

        None where scores are places in an order, which are the same numbers in every fit.
        """
        return None if self.scores_are_places else self.scores_

    def _labeller(self) -> Any:
        """Return the part that labels all rows by the shape of the data; None where there is none.

        Columns are then tested against twins rather than with shuffled labels.
        """
        return None

    @abstractmethod
    def _score(self, problem: Problem) -> NDArray[np.floating]:
        """Return one score for each column, higher is better; all randomness from its seed."""

    def _tie_key(self, problem: Problem) -> NDArray[np.floating] | None:
        """Return what orders columns of equal score, higher first; None leaves it to chance."""
        return None

    def _put_copies_last(self, problem: Problem) -> None:
        """Let the redundancy rule change the ranking."""
        threshold, features = self._threshold_of_copies(problem), self._features
        self._copies_of_kept_only = threshold is None
        if threshold is None and (features is None or not features.kept.any()):
            return
        self.redundancy_threshold_ = COPY_OF_KEPT if threshold is None else threshold
        n_wanted = self._count_to_select(problem.n_features) if self._asks_for_number else 0
        has_score = ~np.isnan(self.scores_)
        put_last: Any = put_copies_last if features is None else features.put_copies_last
        self.ranking_, self.represented_by_ = put_last(
            problem.X, self.ranking_, has_score, threshold, n_wanted
        )
        self.family_correlation_ = correlations_in_families(problem.X, self.represented_by_)

    def _threshold_of_copies(self, problem: Problem) -> float | None:
        """Return the correlation above which a column is a near-copy; None for no such rule."""
        return getattr(self, "redundancy_threshold", None)

    def _n_tasks(self, problem: Problem) -> int | None:
        """Return how many items `_score` will pass through `_progress`; None if unknown."""
        return 0

    def _count_to_select(self, n_columns: int) -> int:
        """Return how many features to select, of which a group of columns is one."""
        wanted, known = self.n_features_to_select, self._features
        n_features = n_columns if known is None else known.n_features
        if wanted is None or isinstance(wanted, str):  # a rule decides after the ranking
            return max(1, n_features // 2, 0 if known is None else known.n_kept)
        if not isinstance(wanted, Integral):
            # 0.29 * 100 is a little less than 29 in floating point.
            wanted = max(1, int(wanted * n_features + 1e-9))
        if wanted > n_features:
            raise ValueError(
                f"n_features_to_select must be at most the number of features of X: "
                f"got n_features_to_select={wanted} and n_features={n_features}."
            )
        return int(wanted) if known is None else known.check_number(int(wanted))

    def _count_to_pick(self, problem: Problem) -> int:
        """Return how many columns to pick one by one, for methods that do."""
        wanted = self._count_to_select(problem.n_features)
        wanted = wanted if self._asks_for_number else min(wanted, self.most_picked)
        if self._features is None:
            return wanted
        return self._features.n_picks(wanted, ~problem.constant)

    @property
    def _picked_first(self) -> NDArray[np.bool_] | None:
        """Which columns to pick before all others, for methods that pick one by one."""
        return None if self._features is None else self._features.kept

    @property
    def _feature_of(self) -> NDArray[np.int64] | None:
        """The feature of each column, where some features have several columns."""
        known = self._features
        return known.feature_of if known is not None and known.groups else None

    def to_frame(self, output: Literal["polars", "pandas"] = "polars") -> Any:
        """Return the ranking as a frame, best first.

        Parameters
        ----------
        output : {"polars", "pandas"}, default="polars"
            Kind of the frame.

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            With the columns feature, rank, score and selected and, where they are known, draws,
            score_rank, represented_by and correlation (of near-copies), decision, rank_low,
            rank_high, selection_probability, family_probability and the rank by each part of a
            consensus. A group of columns is one feature, with n_columns and best_column; kept and
            prior are there where such columns were given.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from semisift import FisherScore
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> few_labels = y.where(y.groupby(y).cumcount() < 8, -1)
        >>> FisherScore(n_features_to_select=2).fit(X, few_labels).to_frame("pandas").head(3)
                                feature  rank     score  selected
        0  od280/od315_of_diluted_wines     1  4.533315      True
        1                           hue     2  4.178939      True
        2                       proline     3  3.752998     False
        """
        check_choice(output, "output", ("polars", "pandas"))
        return self._outcome().to_frame(output)

    def transform(self, X: Any) -> Any:
        """Reduce `X` to the selected columns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        X_selected : {array, data frame, sparse matrix} of shape (n_samples, n_selected)
        """
        # a memory map gives columns as any array does
        if not isinstance(X, np.memmap) and (stored := as_stored(X)) is not None:
            return self._transform_stored(stored)
        refuse_lost_on_conversion(X)
        leaves_out = self._features is not None and self._features.excluded.any()
        with config_context(assume_finite=leaves_out or get_config()["assume_finite"]):
            if names_of(X) is None or not hasattr(self, "feature_names_in_"):
                return super().transform(X)
            return self._transform(validate_again(self, X, dtype=None, accept_sparse="csr"))

    def _transform_stored(self, rows: StoredRows) -> Any:
        chosen = self.get_support(indices=True)
        check_names(self, rows)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        if not len(chosen):  # as scikit-learn does, with its warning
            return super().transform(rows.take(np.arange(len(rows))))
        return rows.columns(chosen)

    def inverse_transform(self, X: Any) -> Any:
        """Put zeros where columns were left out.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_selected)

        Returns
        -------
        X_original : {array, sparse matrix} of shape (n_samples, n_features)
        """
        refuse_lost_on_conversion(X)
        with config_context(assume_finite=self.takes_gaps or get_config()["assume_finite"]):
            return super().inverse_transform(X)

    def plot_scores(
        self, ax: "Axes | None" = None, *, top: int | None = None, n_names: int = 8
    ) -> "Axes":
        """Draw the scores against the ranks, with the number selected marked.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure with pyplot.
        top : int, default=None
            Draw this many of the best columns only.
        n_names : int, default=8
            Name at most this many columns, as far as there is room.

        Returns
        -------
        matplotlib.axes.Axes
        """
        check_whole(top, "top", or_none=True)
        check_whole(n_names, "n_names", least=0)
        axes: Axes = renderer().plot_scores(self._outcome(), ax=ax, top=top, n_names=n_names)
        return axes

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        title: str | None = None,
        by_class: bool = False,
        **of_rows: Any,
    ) -> Path:
        """Write a report: one HTML file with the ranking, pictures and what the score means.

        Parameters
        ----------
        path : str or path
            File to write; replaced if it exists.
        X, y : array-like, default=None
            The rows and labels of the fit, for the pictures of rows. The ranker does not keep them.
        title : str, default=None
            Title of the page.
        by_class : bool, default=False
            Tell also what marks each class, as `markers` does; needs `X` and `y`.
        **of_rows : array-like
            `groups`, `batch` and `sample_weight` of the fit, for `by_class` and for the rows to
            label next; needs `X` and `y`.

        Returns
        -------
        pathlib.Path
            The file.
        """
        check_path(path, "path")
        check_text(title, "title", or_none=True)
        check_flag(by_class, "by_class")
        check_structure(X)
        if by_class and (X is None or y is None):
            raise ValueError(
                "by_class=True needs the rows and the labels of the fit: give X and y."
            )
        if of_rows and (X is None or y is None):
            given = " and ".join(of_rows)
            raise TypeError(f"report takes {given} beside X and y alone.")
        found = {
            "markers": self.markers(X, y, **of_rows) if by_class else None,
            "next_rows": None if X is None or y is None else self._next_of_fit(X, y, **of_rows),
        }
        outcome = self._outcome()
        renderer().write_report(path, outcome, X=X, y=y, title=title, **found)
        return Path(path)

    def _outcome(self) -> "Outcome":
        check_is_fitted(self)
        from semisift.outcome import outcome_of

        return outcome_of(self)

    def _html_repr(self) -> str:
        diagram: str = estimator_html_repr(self)
        is_fitted = hasattr(self, "ranking_")
        return diagram + renderer().notebook(self._outcome()) if is_fitted else diagram
