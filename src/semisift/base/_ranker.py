"""CutoffMixin: what a ranker does after its ranking where a rule is to say how many to select.

AskingMixin: which rows to label next.

LearningMixin: the part of a ranker that tells what more labels would bring.

FeatureRanker: what every ranker does around its score.

A ranker declares `labels_needed` and `_parameter_constraints` and implements one method,
``_score(problem)``. The base validates, builds the `TrainingData`, ranks the scores and selects.

Rankers whose fit takes more of the rows than groups and batches: weights, pairs, or both.

scikit-learn reads from the signature of `fit` what may be routed to it: each kind spells its own.
"""

import inspect
import os
import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from semisift.base._decisions import count_decisions, find_confirmed, near_copies
from semisift.base._estimator import SemiSupervisedMixin
from semisift.base._feature_constraints import (
    COPY_OF_KEPT,
    PARAMETERS,
    Features,
    read_features,
    without,
)
from semisift.base._training_data import (
    FEW_HELD,
    MOST_HELD,
    FitFingerprint,
    TrainingData,
    fit_fingerprint,
)
from semisift.base._validation import check_conversion
from semisift.exceptions import NoFeatureSelectedWarning, SubsamplingWarning
from semisift.out_of_core._matrix import OutOfCoreMatrix, as_stored
from semisift.parallel import committee_size
from semisift.transduction._positive_unlabelled import find_rest, given_share
from semisift.utils._columns import check_structure
from semisift.utils._labels import Labels
from semisift.utils._memory import FEWER, check_memory
from semisift.utils._named_array import check_names, names_of, validate_again
from semisift.utils._redundancy import correlations_in_families, put_copies_last, rank
from semisift.utils._sklearn_compat import (
    Interval,
    RealNotInt,
    StrOptions,
    at_least,
    check_param,
    fit_context,
)
from semisift.utils._text import plural, quote
from semisift.utils._validation import (
    LARGEST_SEED,
    as_array,
    check_choice,
    check_flag,
    check_integer,
    check_path,
    check_text,
    is_integer,
)
from semisift.utils._warnings import warn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from semisift.active._next_rows import NextRows
    from semisift.selection import Outcome
    from semisift.selection._assessment import Assessment
    from semisift.selection._knockoff import KnockoffCutoff
    from semisift.selection._learning_curve import LearningCurve
    from semisift.selection._markers import Markers
    from semisift.selection._shadow import ShadowCutoff
    from semisift.selection._stability import StabilityCutoff


RULES = ("shadow", "stability", "knockoff")

# More columns than knockoffs are of use for.
MOST_KNOCKOFFS = 5000

# What is forgotten when a ranker is fitted again.
OF_A_FIT = ("decisions_", "cutoff_", "assessment_", "rank_interval_", "selection_probability_")


class CutoffMixin:
    """The part of a ranker that decides how many columns to select, and how sure it is."""

    if TYPE_CHECKING:
        n_features_to_select: int | float | str | None
        n_features_in_: int
        _given_to_fit: FitFingerprint
        decisions_: NDArray[np.str_]
        cutoff_: ShadowCutoff | StabilityCutoff | KnockoffCutoff

    @property
    def _rule(self) -> str | None:
        wanted = self.n_features_to_select
        return wanted if isinstance(wanted, str) else None

    @property
    def _asks_for_number(self) -> bool:
        """Whether a number or share was asked for, rather than none or a rule."""
        return self.n_features_to_select is not None and self._rule is None

    def _prepare_rule(self, problem: TrainingData) -> None:
        """Forget the decisions of an earlier fit, and refuse what the rule cannot do."""
        for name in OF_A_FIT:
            self.__dict__.pop(name, None)
        if self._rule == "knockoff" and problem.has_gaps:
            raise ValueError(
                "n_features_to_select='knockoff' takes no gaps: knockoffs are made from all "
                "values of a row. Fill the gaps, or use 'shadow' or 'stability'."
            )
        if self._rule == "knockoff" and problem.n_features > MOST_KNOCKOFFS:
            raise ValueError(
                f"n_features_to_select='knockoff' takes at most {MOST_KNOCKOFFS:,} columns: got "
                f"{problem.n_features:,}. Select columns first, or use 'shadow' or 'stability'."
            )

    def _n_repetitions(self) -> int:
        if self._rule is None:
            return 0
        from semisift.selection._refit import MOST

        return {"shadow": 2 * MOST, "stability": MOST, "knockoff": 1 + MOST}[self._rule]

    def _decide(self: Any, problem: TrainingData) -> None:
        """Let the rule decide on each column; the ranking is there already."""
        if self._rule is None:
            return
        # The rules load what a fit without them does not need.
        from semisift.selection import _knockoff, _shadow, _stability

        decide: Any = {
            "shadow": _shadow.decide_by_shadows,
            "stability": _stability.decide_by_stability,
            "knockoff": _knockoff.decide_by_knockoffs,
        }[self._rule]
        steps = self._progress(range(self._n_repetitions()), "repetition")
        decided = decide(self, problem, steps)
        for _ in steps:  # to the end of the bar, also where the rule was sure early
            pass
        self.decisions_, self.cutoff_ = decided
        counts = count_decisions(self.decisions_, near_copies(self))
        if counts["confirmed"]:
            return
        n_tentative, n_labelled = counts["tentative"], len(problem.labels.labelled)
        tentative = f" ({n_tentative} tentative)" if n_tentative else ""
        why, cure = ".", ""
        if n_labelled:
            why = f": {_why_nothing(problem, self._rule)}"
            more = "more rows" if problem.design.groups is None else "rows of more groups"
            cure = f"label {more}, or "
        warn(
            f"n_features_to_select={self._rule!r} confirmed none of "
            f"{plural(problem.n_features, 'column')}{tentative}{why} The ranking stands; "
            f"{cure}select a number of columns.",
            NoFeatureSelectedWarning,
        )

    def _get_support_mask(self: Any) -> NDArray[np.bool_]:
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
        confirmed = find_confirmed(self.decisions_, near_copies(self))
        return confirmed if known is None else known.complete(confirmed, self.ranking_)

    def _lighter(self: Any, n_features: int) -> Any:
        """Return a copy whose committees are smaller, for many repetitions."""
        copy = clone(self)
        n_members = self.get_params(deep=False).get("n_members")
        if n_members is not None:
            full = committee_size(n_features) if n_members == "auto" else int(n_members)
            copy.set_params(n_members=max(1, full // self.committee_divisor))
        return copy

    # fit_context tears the callbacks down.
    @fit_context(prefer_skip_nested_validation=True)
    def assess(
        self: Any,
        X: Any,
        y: Any = None,
        *,
        n_best: int | None = None,
        n_resamples: int = 50,
        n_permutations: int = 99,
        light: bool = False,
        random_state: int | None = None,
        **of_rows: Any,
    ) -> "Assessment":
        """Tell how sure the ranking is: how it varies with the rows, and whether labels matter.

        Each of `n_resamples` times half of the rows are ranked: half of the labelled rows of each
        class, or, of a class with fewer than four, one less than there are, drawn with repetition;
        and half of the unlabelled rows. Halves vary about the ranking of all rows as that does
        about the ranking on the whole population, but share rows, so that they agree with each
        other in what is luck (see docs/cutoffs.md). In each half near-copies are put last anew.

        The p-values compare the scores with those of `n_permutations` fits to labels that tell
        nothing. The labels are exchanged among the labelled rows where there are at least 1,000
        ways to do so, else given to rows drawn from all, which assumes that the labelled rows are a
        random sample of all rows. Of rankers that label all rows by the shape of the data, which
        any labels would find, twins of the columns stand for such labels: the same columns with
        their rows exchanged, twice for each permutation.

        With `groups`, halves are of whole groups, and labels are exchanged between groups of one
        class and within groups of several; with `batch`, within batches where there are enough
        ways. So few groups as 3 against 3 cannot confirm anything (see docs/studies.md).

        Parameters
        ----------
        X, y : array-like
            The rows and labels of the fit. The ranker does not keep them.
        n_best : int, default=None
            How many columns are the best ones; None is as many as the ranker selects, or, if it was
            not told how many, as many as the permutations confirm. Where that is none, 20, but no
            more than half of those that are no near-copies.
        n_resamples : int, default=50
            Rankings of half of the rows; 0 leaves them out.
        n_permutations : int, default=99
            Rankings from labels that tell nothing; 0 leaves them out. At least 39 are needed to
            confirm a column.
        light : bool, default=False
            Repeat the ranking with smaller committees: a tenth of the members of `SSFI`, and a
            twentieth of those of other methods.
        random_state : int, default=None
            Seed of the draws; None is that of the ranker.
        **of_rows : array-like
            `groups`, `batch`, `sample_weight`, `must_link` and `cannot_link` of the fit, where the
            method takes them.

        Returns
        -------
        Assessment
            Also kept as ``assessment_``, with its ``rank_interval_`` and
            ``selection_probability_``.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from semisift import FisherScore
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> few_labels = y.where(y.groupby(y).cumcount() < 8, -1)
        >>> ranker = FisherScore(n_features_to_select=3).fit(X, few_labels)
        >>> sure = ranker.assess(X, few_labels)
        >>> sure.p_value
        0.01
        >>> ranker.rank_interval_[X.columns.get_loc("proline")].tolist()
        [1, 6]
        """
        check_is_fitted(self)
        check_integer(n_resamples, "n_resamples", least=0)
        check_integer(n_permutations, "n_permutations", least=0)
        check_flag(light, "light")
        self._check_repetition(n_best, random_state)
        problem = self._build_to_repeat(X, y, "assess", "p-values", of_rows)
        from semisift.selection._assessment import assess_ranking

        n_steps = n_permutations + n_resamples
        with self._watched(X, y, n_steps, "assess"):
            self.assessment_ = assess_ranking(
                self,
                problem,
                self._progress(range(n_steps), "repetition"),
                n_best=n_best,
                n_resamples=n_resamples,
                n_permutations=n_permutations,
                seed=problem.seed if random_state is None else random_state,
                light=light,
            )
        self.rank_interval_ = self.assessment_.rank_interval
        self.selection_probability_ = self.assessment_.selection_probability
        return self.assessment_

    def markers(self: Any, X: Any, y: Any, **of_rows: Any) -> "Markers":
        """Tell what is high or low in each class against the rest.

        All rows count with the labels that the fit gave them, softly where it did; with methods
        that label no rows, the labelled ones alone. Which columns mark a class is then a matter of
        size: Welch's t, were the labels certain.

        Parameters
        ----------
        X, y : array-like
            The rows and labels of the fit. The ranker does not keep them.
        **of_rows : array-like
            `groups`, `batch` and `sample_weight` of the fit, where the method takes them.

        Returns
        -------
        Markers
            With `to_frame`, and p-values by class where the ranker was assessed with twins.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from semisift import Consensus
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
        >>> ranker = Consensus().fit(X, few_labels)
        >>> ranker.markers(X, few_labels).to_frame(1, "pandas")[["class", "feature", "score"]]
           class          feature      score
        0      0          proline  14.895657
        1      1              hue   4.934609
        2      2  color_intensity   8.124509
        """
        check_is_fitted(self)
        problem = self._build_again(X, y, "markers", "markers", of_rows)
        if not self.is_transductive:
            problem = self._find_rest(problem)
        if len(getattr(self, "classes_", ())) < 2:
            raise ValueError(
                "markers compares each class with the rest, and needs labelled rows of two classes."
            )
        as_given = None
        if problem.design.batches is not None:
            others = {name: each for name, each in of_rows.items() if name != "batch"}
            as_given = clone(self)._build_problem(X, y, is_repeated=True, **others)
        from semisift.selection._markers import find_markers

        return find_markers(self, problem, as_given)

    def _check_repetition(self: Any, n_best: Any, random_state: Any) -> None:
        """Refuse what says neither which columns are the best ones nor how to draw."""
        if random_state is not None:
            check_integer(random_state, "random_state", 0, LARGEST_SEED)
        p = self.n_features_in_
        if n_best is not None and not (is_integer(n_best) and 1 <= n_best <= p):
            raise ValueError(f"n_best must be from 1 to the {p} columns of X: got {quote(n_best)}.")

    def _build_to_repeat(
        self: Any, X: Any, y: Any, method: str, wanted: str, of_rows: dict[str, Any]
    ) -> TrainingData:
        """Build the problem of the fit again, without the rows that were left out of it."""
        problem: TrainingData = self._build_again(X, y, method, wanted, of_rows)
        return problem if problem.whole is None else replace(problem, whole=None)

    def _build_again(
        self: Any, X: Any, y: Any, method: str, wanted: str, of_rows: dict[str, Any]
    ) -> TrainingData:
        """Build the problem of the fit again, for a method that needs what the fit was given."""
        self._check_taken(of_rows)
        check_names(self, X)
        with warnings.catch_warnings():  # it was said during fit
            warnings.simplefilter("ignore", SubsamplingWarning)
            problem: TrainingData = self._limit(
                clone(self)._build_problem(X, y, is_repeated=True, **of_rows)
            )
        if problem.n_features != self.n_features_in_:
            raise ValueError(
                f"X must be the rows of the fit, with {self.n_features_in_} columns: got "
                f"{problem.n_features}."
            )
        if problem.labels.n_classes < 2:
            self._check_labels(problem)
        if different := self._given_to_fit.difference(fit_fingerprint(problem)):
            raise ValueError(
                f"{method} must be given what fit was given, or its {wanted} would be those of "
                f"other rows: {different}."
            )
        return problem

    def _check_taken(self: Any, of_rows: dict[str, Any]) -> None:
        """Refuse what is said of rows to a method that does not take it."""
        taken = [*inspect.signature(self.fit).parameters][2:]
        if unknown := [name for name in of_rows if name not in taken]:
            raise TypeError(
                f"{type(self).__name__} takes no {' and no '.join(unknown)}: what it takes besides "
                f"X and y is {', '.join(taken)}."
            )


def _why_nothing(problem: TrainingData, rule: str) -> str:
    """Say why a rule confirms nothing."""
    from semisift.selection._permutation import plan_permutation
    from semisift.selection._refit import ALPHA
    from semisift.selection._summary import say_too_few

    having = plural(len(problem.labels.labelled), "labelled row")
    exchange = plan_permutation(problem)[1]
    if exchange.has_groups:
        having += f" of {plural(exchange.n_units, 'group')}"
    why = f"with {having} nothing stands out."
    if rule != "stability" and exchange.least_p_value > ALPHA:
        why += f" {say_too_few(exchange, exchange.least_p_value)}"
    return why


# --- asking ---------------------------------------------------------------------------------------


# Of more unlabelled rows so many, drawn at random, are looked at.
MOST_ROWS = 5000
N_TOLD = 10


class AskingMixin:
    """The part of a ranker that tells which labels would help it most."""

    if TYPE_CHECKING:
        _given_to_fit: FitFingerprint

    def query(self: Any, X: Any, y: Any = None, n: int = N_TOLD, **of_rows: Any) -> "NextRows":
        """Tell which rows to label next, and why.

        Rows are chosen whose labels would take away the most doubt about all rows: such as stand
        for many that no label is near to, and such as the parts that label rows disagree about. No
        two of them are alike. It goes from no label at all, from one class, and from more, whether
        the ranker is fitted or not. Where it is fitted to these labels, its own labels of rows and
        its ranking have a say in the reasons. See `semisift.active._design` for the rule.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Labelled and unlabelled rows.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN, also as text, mark unlabelled rows
            (`UnlabelledTextWarning`). None where nothing is labelled.
        n : int, default=10
            How many rows; fewer where fewer are unlabelled. They are chosen among 5,000 of them,
            drawn at random, where there are more.
        **of_rows : array-like
            `groups`, `batch` and `sample_weight`, where the method takes them. Rows are taken from
            as many groups as possible, and none of weight 0.

        Returns
        -------
        NextRows
            With `rows`, `reasons` and `to_frame`; notebooks show it as a table.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from semisift import Consensus
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> few_labels = y.where(y.groupby(y).cumcount() < 2, -1)
        >>> found = Consensus().query(X, few_labels, n=3)
        >>> found.to_frame("pandas")[["row", "guess", "stands_for"]]
           row guess  stands_for
        0  125     1          40
        1  148     2          35
        2   91     1          19
        """
        return self._query(X, y, n, **of_rows)[0]

    def _query(
        self: Any, X: Any, y: Any, n: int, **of_rows: Any
    ) -> tuple["NextRows", FitFingerprint]:
        """Return the rows to label next, and what a fit to X and y would keep of them."""
        check_integer(n, "n")
        from semisift.active._next_rows import find_next_rows

        self._check_taken(of_rows)
        with warnings.catch_warnings():  # it speaks of rankings
            warnings.simplefilter("ignore", SubsamplingWarning)
            problem: TrainingData = clone(self)._build_problem(
                X, y, is_repeated=True, any_labels=True, **of_rows
            )
        problem = problem.limited(MOST_ROWS)
        votes: list[Any] = []
        order = None
        given = fit_fingerprint(problem)
        if problem.n_features == getattr(self, "n_features_in_", None) and self._knows(X, given):
            order = np.argsort(self.ranking_)
            for _, part in getattr(self, "rankers_", [("", self)]):
                # those that label by soft labels are asked in any case
                if part.is_transductive and part._labeller() is None:
                    rows = slice(None) if problem.whole is None else problem.whole.held
                    votes.append(np.asarray(part.transduction_)[rows])
        return find_next_rows(problem, int(n), votes=votes, order=order), given

    def _next_of_fit(self: Any, X: Any, y: Any, **of_rows: Any) -> "NextRows | None":
        """Tell the rows to label next; None where the fit was given what is lacking here."""
        needed = ("batch", "sample_weight")
        if any(getattr(self._given_to_fit, name) and name not in of_rows for name in needed):
            return None
        next_rows: NextRows
        next_rows, given = self._query(X, y, N_TOLD, **of_rows)
        known: FitFingerprint = self._given_to_fit
        if not known.classes:  # y may tell what fit did not know
            known = known._replace(y=given.y, classes=given.classes)
        if different := known.difference(given):
            raise ValueError(
                "report must be given what fit was given, or its pictures would be those of other "
                f"rows: {different}."
            )
        return next_rows

    def _knows(self: Any, X: Any, given: FitFingerprint) -> bool:
        """Tell whether the ranker was fitted to these rows and labels, of as many columns."""
        check_names(self, X)
        return self._given_to_fit.difference(given) is None


# --- learning -------------------------------------------------------------------------------------


class LearningMixin:
    """The part of a ranker that tells what more labels would bring."""

    # fit_context tears the callbacks down.
    @fit_context(prefer_skip_nested_validation=True)
    def learning_curve(
        self: Any,
        X: Any,
        y: Any = None,
        n_more: int = 10,
        *,
        n_best: int | None = None,
        light: bool = True,
        random_state: int | None = None,
        **of_rows: Any,
    ) -> "LearningCurve":
        """Tell how much more stable the best features would be with more labels.

        The labels at hand are dealt out into hands that share none of them, at several sizes up to
        half of the labels, and all rows are ranked with the labels of each hand alone. How alike
        the best features of two hands are is what other labels of that size would bring. A curve
        through these leads to the present number of labels, and to `n_more` further ones of the
        classes and, with `groups`, of groups such as those at hand. The interval is to hold the
        stability in 80 % of cases; docs/results/learning-curve.md tells what it does hold, and
        that the rise is mostly overrated where labels tell little.

        This is about the labels: the rows stay the same. The stability of `assess` is another one,
        between halves of all rows that have labels in common.

        Parameters
        ----------
        X, y : array-like
            The rows and labels of the fit. The ranker does not keep them.
        n_more : int, default=10
            How many more labels.
        n_best : int, default=None
            How many columns are the best ones; None is as many as in the assessment or, where there
            is none, as the ranker selects. If it was not told how many, 20, but no more than half
            of those that are no near-copies.
        light : bool, default=True
            Rank with smaller committees: a tenth of the members of `SSFI`, and a twentieth of those
            of other methods. Smaller committees agree less than those of the fit.
        random_state : int, default=None
            Seed of the draws; None is that of the ranker.
        **of_rows : array-like
            `groups`, `batch`, `sample_weight`, `must_link` and `cannot_link` of the fit, where the
            method takes them. Given pairs count in every ranking.

        Returns
        -------
        LearningCurve
            Without a stability, but with words that say why, where a class has fewer than four
            labelled rows, or groups with such.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from semisift import FisherScore
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> few_labels = y.where(y.groupby(y).cumcount() < 8, -1)
        >>> ranker = FisherScore(n_features_to_select=3).fit(X, few_labels)
        >>> curve = ranker.learning_curve(X, few_labels)
        >>> curve.sizes.tolist()
        [12.0, 6.0, 3.0]
        >>> curve.now < curve.then
        True
        """
        check_is_fitted(self)
        check_integer(n_more, "n_more")
        check_flag(light, "light")
        self._check_repetition(n_best, random_state)
        problem = self._build_to_repeat(X, y, "learning_curve", "curve", of_rows)
        from semisift.selection._learning_curve import draw_curve, split_labels

        seed = problem.seed if random_state is None else random_state
        deals = split_labels(problem, seed) if self.labels_needed != "none" else []
        n_steps = sum(map(len, deals))
        with self._watched(X, y, n_steps, "learning_curve"):
            return draw_curve(
                self,
                problem,
                deals,
                self._progress(range(n_steps), "repetition"),
                n_more=int(n_more),
                n_best=n_best,
                seed=seed,
                light=light,
            )


# --- base -----------------------------------------------------------------------------------------


# Bytes of the scores, ranks and means of a column, whatever the method.
BYTES_A_COLUMN = 32

# What is forgotten when a ranker is fitted again.
OF_A_RANKING = (
    "representative_",
    "representative_correlation_",
    "redundancy_threshold_",
    "classes_",
)


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
    representative_ : ndarray of shape (n_features_in_,)
        For each column, the column that stands for it: the kept one that a near-copy resembles
        most, else itself. Columns with the same one are a family. With a redundancy threshold or
        `keep` only.
    representative_correlation_ : ndarray of shape (n_features_in_,)
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

    def _fit(self, X: Any, y: Any, problem: TrainingData) -> Self:
        self._given_to_fit = fit_fingerprint(problem)
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
            self._find_novel_rows(known)
            self._decide(replace(problem, whole=None) if problem.whole else problem)
        return self

    def _check_memory(self, problem: TrainingData) -> None:
        """Refuse what needs more memory than is free, before the work begins."""
        wide = f"{type(self).__name__} on {plural(problem.n_features, 'feature')}"
        cure = "Rank fewer features, or set a smaller n_members."
        cure = cure if hasattr(self, "n_members") else FEWER
        check_memory(self._bytes_needed(problem), wide, cure)

    def _bytes_needed(self, problem: TrainingData) -> int:
        """Return the bytes of memory that `_score` needs at least, besides those of X."""
        return BYTES_A_COLUMN * problem.n_features

    def _find_rest(self, problem: TrainingData) -> TrainingData:
        """Return the problem with a second class where one is labelled and two are needed."""
        self.__dict__.pop("positive_share_", None)
        if problem.labels.n_classes != 1 or self.labels_needed != "two_classes":
            return problem
        if problem.given_pairs:
            return problem
        share = given_share(getattr(self, "class_prior", None), problem.labels)
        problem, self.positive_share_ = find_rest(problem, share)
        return problem

    def _exclude(self, problem: TrainingData) -> TrainingData:
        said = {name: getattr(self, name) for name in PARAMETERS}
        features = read_features(problem.feature_names, problem.n_features, **said)
        self.__dict__["_features"] = features
        if features is None or not features.excluded.any():
            return problem
        return without(problem, features.excluded)

    def _find_novel_rows(self, problem: TrainingData) -> None:
        """Tell of rows that fit no class, where the method labels rows by their shape."""

    def _most_to_hold(self) -> int:
        looks_for_copies = self.redundancy_threshold is not None or self.keep is not None
        needs_rows = self._rule is not None or looks_for_copies
        return FEW_HELD if self.uses_statistics and not needs_rows else MOST_HELD

    def _limit(self, problem: TrainingData) -> TrainingData:
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

    def _tell_sampled(self, problem: TrainingData) -> None:
        if problem.whole is None or self.uses_statistics or hasattr(self, "max_unlabelled"):
            return
        n_held, n_all = len(problem.labels.unlabelled), len(problem.all_labels.unlabelled)
        if n_held < min(MOST_HELD, n_all):
            return  # it was said when the rows were taken
        warn(
            f"{type(self).__name__} holds its rows in memory: {n_held:,} of {n_all:,} unlabelled "
            "rows, drawn at random, stand for all.",
            SubsamplingWarning,
        )

    def _set_ranking(self, problem: TrainingData, scores: NDArray[np.floating]) -> None:
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

    def _set_scores(self, problem: TrainingData, scores: NDArray[np.floating]) -> None:
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
            else quote(scores)
        )
        raise ValueError(
            f"_score of {type(self).__name__} must return one number for each of the "
            f"{plural(n_features, 'column')}: got {got}."
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
    def _score(self, problem: TrainingData) -> NDArray[np.floating]:
        """Return one score for each column, higher is better; all randomness from its seed."""

    def _tie_key(self, problem: TrainingData) -> NDArray[np.floating] | None:
        """Return what orders columns of equal score, higher first; None leaves it to chance."""
        return None

    def _put_copies_last(self, problem: TrainingData) -> None:
        """Let the redundancy rule change the ranking."""
        threshold, features = self._threshold_of_copies(problem), self._features
        self._copies_of_kept_only = threshold is None
        if threshold is None and (features is None or not features.kept.any()):
            return
        self.redundancy_threshold_ = COPY_OF_KEPT if threshold is None else threshold
        n_wanted = self._count_to_select(problem.n_features) if self._asks_for_number else 0
        has_score = ~np.isnan(self.scores_)
        put_last: Any = put_copies_last if features is None else features.put_copies_last
        self.ranking_, self.representative_ = put_last(
            problem.X, self.ranking_, has_score, threshold, n_wanted
        )
        self.representative_correlation_ = correlations_in_families(problem.X, self.representative_)

    def _threshold_of_copies(self, problem: TrainingData) -> float | None:
        """Return the correlation above which a column is a near-copy; None for no such rule."""
        return getattr(self, "redundancy_threshold", None)

    def _n_tasks(self, problem: TrainingData) -> int | None:
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

    def _count_to_pick(self, problem: TrainingData) -> int:
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
            score_rank, representative and correlation (of near-copies), decision, rank_low,
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
        check_conversion(X)
        leaves_out = self._features is not None and self._features.excluded.any()
        with config_context(assume_finite=leaves_out or get_config()["assume_finite"]):
            if names_of(X) is None or not hasattr(self, "feature_names_in_"):
                return super().transform(X)
            return self._transform(validate_again(self, X, dtype=None, accept_sparse="csr"))

    def _transform_stored(self, rows: OutOfCoreMatrix) -> Any:
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
        check_conversion(X)
        with config_context(assume_finite=self.allow_nan or get_config()["assume_finite"]):
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
        check_integer(top, "top", or_none=True)
        check_integer(n_names, "n_names", least=0)
        from semisift import report

        axes: Axes = report.plot_scores(self._outcome(), ax=ax, top=top, n_names=n_names)
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
        found: dict[str, Any] = {
            "markers": self.markers(X, y, **of_rows) if by_class else None,
            "next_rows": None if X is None or y is None else self._next_of_fit(X, y, **of_rows),
        }
        outcome = self._outcome()
        from semisift import report

        report.write_report(path, outcome, X=X, y=y, title=title, **found)
        return Path(path)

    def _outcome(self) -> "Outcome":
        check_is_fitted(self)
        from semisift.selection import outcome_of

        return outcome_of(self)

    def _html_repr(self) -> str:
        diagram: str = estimator_html_repr(self)
        is_fitted = hasattr(self, "ranking_")
        from semisift import report

        return diagram + report.notebook(self._outcome()) if is_fitted else diagram


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
        known = {"groups": groups, "batch": batch, "sample_weight": sample_weight}
        return self._fit(X, y, self._build_problem(X, y, **known))


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
        known = {"groups": groups, "batch": batch}
        pairs = {"must_link": must_link, "cannot_link": cannot_link}
        return self._fit(X, y, self._build_problem(X, y, **known, **pairs))


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
        pairs = {"must_link": must_link, "cannot_link": cannot_link}
        return self._fit(X, y, self._build_problem(X, y, **known, **pairs))
