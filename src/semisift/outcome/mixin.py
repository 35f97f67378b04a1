"""CutoffMixin: what a ranker does after its ranking where a rule is to say how many to select."""

import inspect
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from semisift._checks import LARGEST_SEED, check_flag, check_whole, is_whole
from semisift._committee.engine import committee_size
from semisift._given import GivenToFit, given_to_fit
from semisift._named import check_names
from semisift._problem import Problem
from semisift._sklearn import check_param, fit_context
from semisift._warnings import warn
from semisift._words import count, quoted
from semisift.exceptions import NothingSelectedWarning, SampledRowsWarning
from semisift.outcome.decisions import count_decisions, find_confirmed, near_copies

if TYPE_CHECKING:
    from semisift.outcome.assessment import Assessment
    from semisift.outcome.knockoff import KnockoffCutoff
    from semisift.outcome.markers import Markers
    from semisift.outcome.shadow import ShadowCutoff
    from semisift.outcome.stability import StabilityCutoff

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
        _given_to_fit: GivenToFit
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

    def _prepare_rule(self, problem: Problem) -> None:
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
        from semisift.outcome.scoring import MOST

        return {"shadow": 2 * MOST, "stability": MOST, "knockoff": 1 + MOST}[self._rule]

    def _decide(self: Any, problem: Problem) -> None:
        """Let the rule decide on each column; the ranking is there already."""
        if self._rule is None:
            return
        # The rules load what a fit without them does not need.
        from semisift.outcome import knockoff, shadow, stability

        decide: Any = {
            "shadow": shadow.decide_by_shadows,
            "stability": stability.decide_by_stability,
            "knockoff": knockoff.decide_by_knockoffs,
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
            f"{count(problem.n_features, 'column')}{tentative}{why} The ranking stands; "
            f"{cure}select a number of columns.",
            NothingSelectedWarning,
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
        check_whole(n_resamples, "n_resamples", least=0)
        check_whole(n_permutations, "n_permutations", least=0)
        check_flag(light, "light")
        self._check_repetition(n_best, random_state)
        problem = self._build_to_repeat(X, y, "assess", "p-values", of_rows)
        from semisift.outcome.assessment import assess_ranking

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
        if not self.labels_rows:
            problem = self._find_rest(problem)
        if len(getattr(self, "classes_", ())) < 2:
            raise ValueError(
                "markers compares each class with the rest, and needs labelled rows of two classes."
            )
        as_given = None
        if problem.design.batches is not None:
            others = {name: each for name, each in of_rows.items() if name != "batch"}
            as_given = clone(self)._build_problem(X, y, is_repeated=True, **others)
        from semisift.outcome.markers import find_markers

        return find_markers(self, problem, as_given)

    def _check_repetition(self: Any, n_best: Any, random_state: Any) -> None:
        """Refuse what says neither which columns are the best ones nor how to draw."""
        if random_state is not None:
            check_whole(random_state, "random_state", 0, LARGEST_SEED)
        p = self.n_features_in_
        if n_best is not None and not (is_whole(n_best) and 1 <= n_best <= p):
            raise ValueError(
                f"n_best must be from 1 to the {p} columns of X: got {quoted(n_best)}."
            )

    def _build_to_repeat(
        self: Any, X: Any, y: Any, method: str, wanted: str, of_rows: dict[str, Any]
    ) -> Problem:
        """Build the problem of the fit again, without the rows that were left out of it."""
        problem: Problem = self._build_again(X, y, method, wanted, of_rows)
        return problem if problem.whole is None else replace(problem, whole=None)

    def _build_again(
        self: Any, X: Any, y: Any, method: str, wanted: str, of_rows: dict[str, Any]
    ) -> Problem:
        """Build the problem of the fit again, for a method that needs what the fit was given."""
        self._check_taken(of_rows)
        check_names(self, X)
        with warnings.catch_warnings():  # it was said during fit
            warnings.simplefilter("ignore", SampledRowsWarning)
            problem: Problem = self._limit(
                clone(self)._build_problem(X, y, is_repeated=True, **of_rows)
            )
        if problem.n_features != self.n_features_in_:
            raise ValueError(
                f"X must be the rows of the fit, with {self.n_features_in_} columns: got "
                f"{problem.n_features}."
            )
        if problem.labels.n_classes < 2:
            self._check_labels(problem)
        if different := self._given_to_fit.difference(given_to_fit(problem)):
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


def _why_nothing(problem: Problem, rule: str) -> str:
    """Say why a rule confirms nothing."""
    from semisift.outcome.exchanges import plan_exchange
    from semisift.outcome.scoring import ALPHA
    from semisift.outcome.words import say_too_few

    having = count(len(problem.labels.labelled), "labelled row")
    exchange = plan_exchange(problem)[1]
    if exchange.has_groups:
        having += f" of {count(exchange.n_units, 'group')}"
    why = f"with {having} nothing stands out."
    if rule != "stability" and exchange.least_p_value > ALPHA:
        why += f" {say_too_few(exchange, exchange.least_p_value)}"
    return why
