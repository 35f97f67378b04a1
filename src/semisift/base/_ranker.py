"""FeatureRanker: the way through `fit`, read from top to bottom in `FeatureRanker._fit`.

A ranker declares `labels_needed` and `_parameter_constraints` and implements one method,
``_score(data)``. The base validates what it is given into one `TrainingData`, ranks the scores,
and lets a rule decide how many columns to select if there is one. What else a ranker tells is in
`semisift.base._analysis`.
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from semisift.base._analysis import RankingAnalysisMixin
from semisift.base._decisions import correlated_features, count_decisions, find_significant
from semisift.base._estimator import SemiSupervisedMixin
from semisift.base._feature_constraints import (
    COPY_OF_KEPT,
    PARAMETERS,
    Features,
    read_features,
    without,
)
from semisift.base._training_data import MAX_SAMPLED, MIN_SAMPLED, FitFingerprint, TrainingData
from semisift.base._validation import check_conversion
from semisift.exceptions import NoFeatureSelectedWarning, SubsamplingWarning
from semisift.out_of_core._matrix import as_stored
from semisift.parallel import committee_size
from semisift.transduction._positive_unlabelled import find_rest, given_share
from semisift.utils._labels import Labels
from semisift.utils._memory import FEWER, check_memory
from semisift.utils._named_array import check_names, names_of, validate_again
from semisift.utils._redundancy import put_copies_last, rank, representative_correlations
from semisift.utils._sklearn_compat import (
    Interval,
    RealNotInt,
    StrOptions,
    at_least,
    check_param,
    fit_context,
)
from semisift.utils._text import plural, quote
from semisift.utils._validation import as_array, check_choice
from semisift.utils._warnings import warn

RULES = ("shadow", "stability", "knockoff")

# More columns than knockoffs are of use for.
MAX_KNOCKOFFS = 5000

# Bytes of the scores, ranks and means of a column, whatever the method.
BYTES_A_COLUMN = 32

# What is forgotten when a ranker is fitted again.
OF_A_FIT = (
    "decisions_",
    "cutoff_",
    "assessment_",
    "rank_interval_",
    "selection_probability_",
    "positive_share_",
)
OF_A_RANKING = (
    "representative_",
    "representative_correlation_",
    "redundancy_threshold_",
    "classes_",
)


class FeatureRanker(RankingAnalysisMixin, SelectorMixin, SemiSupervisedMixin, BaseEstimator):
    """Base class of all rankers: score the columns, rank them and select the best.

    Subclasses implement ``_score(data)`` and may set further attributes in it.

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
    include : list of str or int, default=None
        Columns, by name or number, that are selected in any case and rank first, in the order of
        their scores; or a mask of the columns. Features correlated with them (above
        `redundancy_threshold`, or .7 without one) are put last, and methods that pick columns one
        by one pick these first. A number to select counts them.
    exclude : list of str or int, default=None
        Columns, by name or number, or a mask of them, that are treated as if they held one value:
        nothing is learnt from them, they have no score, rank last and are never selected.
    feature_groups : dict of str to list, or list of lists, default=None
        Columns that are one feature: ranked side by side, where the best of them stands, selected
        together, and counted as one. Groups of many columns have more chances of a good one, which
        p-values account for and ranks do not.
    feature_weights : dict of str or int to float, or array-like of shape (n_features,),
    default=None
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
        with a redundancy threshold and where `include`, `feature_groups` or `feature_weights` say
        so.
    representative_ : ndarray of shape (n_features_in_,)
        For each column, the column that represents it: the kept one that a correlated feature
        resembles most, else itself. Columns with the same one are a family. With a redundancy
        threshold or `include` only.
    representative_correlation_ : ndarray of shape (n_features_in_,)
        Correlation of each column with the one that represents it, with its sign; 1 where that is
        itself. With a redundancy threshold or `include` only.
    redundancy_threshold_ : float
        The threshold that was used. With a redundancy threshold or `include` only.
    decisions_ : ndarray of shape (n_features_in_,)
        "significant", "suggestive" or "not significant" (which does not show that it
        is useless) for each column. With a rule only, which selects the significant columns (with a
        redundancy threshold, those that represent themselves) besides those of `include`; of a
        group its best column decides.
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

    supports_out_of_core = True
    supports_positive_unlabelled = True
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
        "include": [None, "array-like"],
        "exclude": [None, "array-like"],
        "feature_groups": [None, dict, list],
        "feature_weights": [None, dict, "array-like"],
    }

    n_features_to_select: int | float | str | None = None
    redundancy_threshold: float | None = None
    random_state: int | np.random.RandomState | None = None
    include: Any = None
    exclude: Any = None
    feature_groups: Any = None
    feature_weights: Any = None

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
            together, and labels are permuted between groups (see docs/studies.md).
        batch : array-like of shape (n_samples,), default=None
            Which rows were measured together: differences between batches are taken out before
            anything else.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        return self._fit(X, y, groups=groups, batch=batch)

    def _fit(self, X: Any, y: Any, **of_rows: Any) -> Self:
        """Validate what is given into one object, score, rank, and select by a rule if any."""
        data = self._build_data(X, y, **of_rows)
        for name in OF_A_FIT:
            self.__dict__.pop(name, None)
        self._given_to_fit = FitFingerprint.of(data)
        if data.full is not None or self._most_used is not None:
            data = self._limit(data)
        self._n_sampled = None
        if data.full is not None:  # some unlabelled rows represent all
            self._n_sampled = len(data.labels.unlabelled)
            self._warn_sampled(data)
        n_repetitions = 0
        if self._rule is not None:
            n_repetitions = self._check_rule(data)
        elif self.n_features_to_select is not None:
            self._count_to_select(data.n_features)
        self._check_labels(data)
        cure = "Rank fewer features, or set a smaller n_members."
        cure = cure if hasattr(self, "n_members") else FEWER
        wide = f"{type(self).__name__} on {data.n_features:,} features"
        check_memory(self._bytes_needed(data), wide, cure)
        n_tasks = self._n_tasks(data)
        with self._watched(X, y, None if n_tasks is None else n_tasks + n_repetitions):
            known = data
            if data.labels.n_classes == 1:
                known = self._find_rest(data)
            self._set_ranking(known, self._score(known))
            if self.is_transductive:
                self._find_novel_rows(known)
            if self._rule is not None:
                self._decide(replace(data, full=None) if data.full else data)
        return self

    def _set_ranking(self, data: TrainingData, scores: NDArray[np.floating]) -> None:
        """Set what every ranker has after a fit, from the scores of the columns."""
        for name in OF_A_RANKING:
            self.__dict__.pop(name, None)
        if data.labels.n_classes:
            self.classes_ = data.labels.classes
        self._set_scores(data, scores)
        threshold, features = None, self._features
        if self.redundancy_threshold is not None:
            threshold = self._threshold_of_copies(data)
        self._copies_of_kept_only = threshold is None
        if threshold is None and (features is None or not features.kept.any()):
            return
        self.redundancy_threshold_ = COPY_OF_KEPT if threshold is None else threshold
        n_wanted = self._count_to_select(data.n_features) if self._selects_number else 0
        has_score = ~np.isnan(self.scores_)
        put_last: Any = put_copies_last if features is None else features.put_copies_last
        self.ranking_, self.representative_ = put_last(
            data.X, self.ranking_, has_score, threshold, n_wanted
        )
        self.representative_correlation_ = representative_correlations(data.X, self.representative_)

    def _set_scores(self, data: TrainingData, scores: NDArray[np.floating]) -> None:
        """Set the scores and the ranking by them, correlated features not put last yet."""
        given, p = as_array(scores), data.n_features
        is_real = given.dtype.kind in "biuf" or all(isinstance(each, Real) for each in given.flat)
        if not is_real or given.shape != (p,):
            form = f"an array of dtype {given.dtype} and shape {given.shape}"
            raise ValueError(
                f"_score of {type(self).__name__} must return one number for each of the "
                f"{plural(p, 'column')}: got {form if given.ndim else quote(scores)}."
            )
        self.scores_ = np.array(given, dtype=np.float64)
        self.scores_[data.constant] = np.nan
        self.score_ranking_ = rank(self.scores_, data.seed, self._tie_key(data))
        self.ranking_ = self.score_ranking_.copy()
        if self._features is not None:
            self.ranking_ = self._features.arrange(self.scores_, self.score_ranking_)

    # --- what a method says of itself ---

    @abstractmethod
    def _score(self, data: TrainingData) -> NDArray[np.floating]:
        """Return one score for each column, higher is better; all randomness from its seed."""

    def _tie_key(self, data: TrainingData) -> NDArray[np.floating] | None:
        """Return what orders columns of equal score, higher first; None leaves it to chance."""
        return None

    def _n_tasks(self, data: TrainingData) -> int | None:
        """Return how many items `_score` will pass through `_progress`; None if unknown."""
        return 0

    def _bytes_needed(self, data: TrainingData) -> int:
        """Return the bytes of memory that `_score` needs at least, besides those of X."""
        return BYTES_A_COLUMN * data.n_features

    @property
    def _most_used(self) -> int | None:
        """How many unlabelled rows represent all, wherever they are; None where all are used."""
        return None

    def _find_novel_rows(self, data: TrainingData) -> None:
        """Tell of rows that fit no class, where the method labels rows by their shape."""

    def _comparable_scores(self) -> NDArray[np.floating] | None:
        """Return scores whose size can be compared with those of a fit to other labels.

        None where scores are places in an order, which are the same numbers in every fit.
        """
        return None if self.scores_are_places else self.scores_

    def _labeller(self) -> Any:
        """Return the part that labels all rows by the shape of the data; None where there is none.

        Columns are then tested against permuted features rather than with permuted labels. Nothing
        is built: the part is as the user gave it.
        """
        return None

    def _threshold_of_copies(self, data: TrainingData) -> float | None:
        """Return the correlation above which features count as correlated, where a rule was set."""
        return self.redundancy_threshold

    def _lighter(self, n_features: int) -> Any:
        """Return a copy whose committees are smaller, for many repetitions."""
        copy = clone(self)
        n_members = self.get_params(deep=False).get("n_members")
        if n_members is not None:
            full = committee_size(n_features) if n_members == "auto" else int(n_members)
            copy.set_params(n_members=max(1, full // self.committee_divisor))
        return copy

    # --- which rows and columns are learnt from ---

    def _exclude(self, data: TrainingData) -> TrainingData:
        known = {name: getattr(self, name) for name in PARAMETERS}
        features = read_features(data.feature_names, data.n_features, **known)
        self.__dict__["_features"] = features
        if features is None or not features.excluded.any():
            return data
        return without(data, features.excluded)

    def _limit(self, data: TrainingData) -> TrainingData:
        """Return the rows that the ranking is made from: of very many unlabelled ones, some."""
        if self.uses_statistics:
            return data.with_statistics_of_all()
        return data if self._most_used is None else data.limited(self._most_used)

    def _most_to_hold(self) -> int:
        looks_for_copies = self.redundancy_threshold is not None or self.include is not None
        needs_rows = self._rule is not None or looks_for_copies
        return MIN_SAMPLED if self.uses_statistics and not needs_rows else MAX_SAMPLED

    def _same_in_blocks(self, labels: Labels) -> bool:
        if self._most_used is None:
            return self._most_to_hold() == MIN_SAMPLED and labels.n_classes != 1
        return self._most_used <= MAX_SAMPLED < len(labels.unlabelled)

    def _warn_sampled(self, data: TrainingData) -> None:
        if self.uses_statistics or hasattr(self, "max_unlabelled"):
            return
        n_sampled, n_all = len(data.labels.unlabelled), len(data.all_labels.unlabelled)
        if n_sampled < min(MAX_SAMPLED, n_all):
            return  # it was said when the rows were taken
        warn(
            f"{type(self).__name__} holds its rows in memory: {n_sampled:,} of {n_all:,} "
            "unlabelled rows, drawn at random, represent all.",
            SubsamplingWarning,
        )

    def _find_rest(self, data: TrainingData) -> TrainingData:
        """Return the training data with a second class where one is labelled and two are needed."""
        self.__dict__.pop("positive_share_", None)
        if data.labels.n_classes != 1 or self.labels_needed != "two_classes":
            return data
        if data.given_pairs:
            return data
        share = given_share(getattr(self, "class_prior", None), data.labels)
        data, self.positive_share_ = find_rest(data, share)
        return data

    def _stays_after_failure(self, before: dict[str, Any]) -> Iterable[str]:
        """Return what stays where a fit ended early: all, once there is a ranking."""
        now = vars(self)
        return {*before, *now} if now.get("ranking_") is not before.get("ranking_") else ()

    # --- how many columns to select ---

    @property
    def _rule(self) -> str | None:
        wanted = self.n_features_to_select
        return wanted if isinstance(wanted, str) else None

    @property
    def _selects_number(self) -> bool:
        """Whether a number or share was asked for, rather than none or a rule."""
        return self.n_features_to_select is not None and self._rule is None

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
        if known is not None and wanted < known.n_kept:
            raise ValueError(
                f"n_features_to_select must be at least the number of kept features: got {wanted} "
                f"to select and {known.n_kept} in keep."
            )
        return int(wanted)

    def _count_to_pick(self, data: TrainingData) -> int:
        """Return how many columns to pick one by one, for methods that do."""
        wanted = self._count_to_select(data.n_features)
        wanted = wanted if self._selects_number else min(wanted, self.most_picked)
        if self._features is None:
            return wanted
        return self._features.n_picks(wanted, ~data.constant)

    @property
    def _picked_first(self) -> NDArray[np.bool_] | None:
        """Which columns to pick before all others, for methods that pick one by one."""
        return None if self._features is None else self._features.kept

    @property
    def _feature_of(self) -> NDArray[np.int64] | None:
        """The feature of each column, where some features have several columns."""
        known = self._features
        return known.feature_of if known is not None and known.groups else None

    def _check_rule(self, data: TrainingData) -> int:
        """Refuse what the rule cannot do, and return how many rankings it makes."""
        if self._rule == "knockoff":
            instead = "or use 'shadow' or 'stability'."
            if data.has_missing:
                raise ValueError(
                    "n_features_to_select='knockoff' takes no missing values: knockoffs need all "
                    f"values of a row. Fill the missing values, {instead}"
                )
            if data.n_features > MAX_KNOCKOFFS:
                raise ValueError(
                    f"n_features_to_select='knockoff' takes at most {MAX_KNOCKOFFS:,} columns: got "
                    f"{data.n_features:,}. Select columns first, {instead}"
                )
        from semisift.selection._refit import MAX

        return {"shadow": 2 * MAX, "stability": MAX}.get(self._rule or "", 1 + MAX)

    def _decide(self, data: TrainingData) -> None:
        """Let the rule decide on each column; the ranking is there already."""
        # The rules load what a fit without them does not need.
        from semisift.selection import _knockoff, _shadow, _stability

        decide: Any = {
            "shadow": _shadow.decide_by_shadows,
            "stability": _stability.decide_by_stability,
            "knockoff": _knockoff.decide_by_knockoffs,
        }[self._rule or ""]
        steps = self._progress(range(self._check_rule(data)), "repetition")
        decided = decide(self, data, steps)
        for _ in steps:  # to the end of the bar, also where the rule was sure early
            pass
        self.decisions_, self.cutoff_ = decided
        counts = count_decisions(self.decisions_, correlated_features(self))
        if counts["significant"]:
            return
        n_suggestive = counts["suggestive"]
        suggestive = f" ({n_suggestive} suggestive)" if n_suggestive else ""
        why, cure = ".", ""
        if len(data.labels.labelled):
            why = f": {_why_nothing(data, self._rule)}"
            more = "more rows" if data.design.groups is None else "rows of more groups"
            cure = f"label {more}, or "
        warn(
            f"n_features_to_select={self._rule!r} found none significant of "
            f"{plural(data.n_features, 'column')}{suggestive}{why} The ranking stands; "
            f"{cure}select a number of columns.",
            NoFeatureSelectedWarning,
        )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        check_param(self, "n_features_to_select")  # which may have been set since
        known = self._features
        if self._rule is None:
            n_wanted = self._count_to_select(self.n_features_in_)
            places = self.ranking_ if known is None else known.places(self.ranking_)
            return np.asarray(places <= n_wanted)
        if not hasattr(self, "decisions_") or self.cutoff_.rule != self._rule:
            raise NotFittedError(
                f"n_features_to_select={self._rule!r} was not in force during fit, or fit was "
                "interrupted: there is a ranking, but no decision on the columns. Call fit again, "
                "or set n_features_to_select to a number."
            )
        significant = find_significant(self.decisions_, correlated_features(self))
        return significant if known is None else known.complete(significant, self.ranking_)

    # --- results ---

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
            score_rank, representative and correlation (of correlated features), decision, rank_low,
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
            chosen = self.get_support(indices=True)
            check_names(self, stored)
            if stored.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {stored.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            if len(chosen):
                return stored.columns(chosen)
            return super().transform(stored.take(np.arange(len(stored))))  # with its warning
        check_conversion(X)
        leaves_out = self._features is not None and self._features.excluded.any()
        with config_context(assume_finite=leaves_out or get_config()["assume_finite"]):
            if names_of(X) is None or not hasattr(self, "feature_names_in_"):
                return super().transform(X)
            return self._transform(validate_again(self, X, dtype=None, accept_sparse="csr"))

    def inverse_transform(self, X: Any) -> Any:
        """Put zeros where columns were left out.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_selected)

        Returns
        -------
        X_original : {array, sparse matrix} of shape (n_samples, n_features)
        """
        check_conversion(X)
        with config_context(assume_finite=self.allow_nan or get_config()["assume_finite"]):
            return super().inverse_transform(X)


def _why_nothing(data: TrainingData, rule: str | None) -> str:
    """Say why a rule confirms nothing."""
    from semisift.selection._permutation import plan_permutation
    from semisift.selection._refit import ALPHA
    from semisift.selection._summary import format_too_few

    having = plural(len(data.labels.labelled), "labelled row")
    plan = plan_permutation(data)[1]
    if plan.has_groups:
        having += f" of {plural(plan.n_units, 'group')}"
    why = f"with {having} nothing stands out."
    if rule != "stability" and plan.least_p_value > ALPHA:
        why += f" {format_too_few(plan, plan.least_p_value)}"
    return why


# --- ranker kinds ---------------------------------------------------------------------------------


class WeightedRanker(FeatureRanker):
    """Base class of the rankers in which rows may count for more or less than one."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        batch: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Score and rank the columns of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups, batch : array-like of shape (n_samples,), default=None
            Which rows belong together, and which were measured together: see `FeatureRanker.fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        return self._fit(X, y, groups=groups, batch=batch, sample_weight=sample_weight)


class PairRanker(FeatureRanker):
    """Base class of the rankers that also learn from pairs of rows instead of labels."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        batch: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
    ) -> Self:
        """Score and rank the columns of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups, batch : array-like of shape (n_samples,), default=None
            Which rows belong together, and which were measured together: see `FeatureRanker.fit`.
        must_link, cannot_link : array-like of shape (n_pairs, 2), default=None
            Pairs of row numbers that belong, or do not belong, to the same class, besides those
            that follow from `y`. Not for cross-validation, which does not slice them.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        pairs = {"must_link": must_link, "cannot_link": cannot_link}
        return self._fit(X, y, groups=groups, batch=batch, **pairs)


class WeightedPairRanker(PairRanker):
    """Base class of the rankers that take both pairs and weights."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        batch: Any = None,
        sample_weight: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
    ) -> Self:
        """Score and rank the columns of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups, batch : array-like of shape (n_samples,), default=None
            Which rows belong together, and which were measured together: see `FeatureRanker.fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each row counts for; a pair counts the product of its two.
        must_link, cannot_link : array-like of shape (n_pairs, 2), default=None
            Pairs of row numbers that belong, or do not belong, to the same class: see
            `PairRanker.fit`.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        known = {"groups": groups, "batch": batch, "sample_weight": sample_weight}
        return self._fit(X, y, must_link=must_link, cannot_link=cannot_link, **known)
