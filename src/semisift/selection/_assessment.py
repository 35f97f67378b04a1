"""Assessment: how much a ranking depends on the rows it has seen, and whether on the labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.base._decisions import count_decisions, find_confirmed, near_copies
from semisift.base._training_data import TrainingData
from semisift.exceptions import DuplicateRowsWarning
from semisift.selection._permutation import PermutationPlan, find_permutation_plan, plan_permutation
from semisift.selection._permutation_test import LabellingsTest, test_labels
from semisift.selection._refit import ERROR, SIGNIFICANT, Scorer, seeds_of
from semisift.transduction._components import components
from semisift.utils._agreement import Stability, nogueira
from semisift.utils._typing import Ints
from semisift.utils._warnings import warn

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

RESAMPLE_STREAM = 0x726573

# The interval of the ranks leaves out this share at each end.
TAIL = 0.05

# The best columns, where nothing says how many they are.
N_SHOWN = 20

# Sets of copies that a warning names.
N_NAMED = 5


@dataclass(frozen=True, eq=False)
class Assessment:
    """How sure a ranking is.

    Attributes
    ----------
    rank_interval : int array of shape (p, 2) or None
        Lowest and highest rank of each column, without the 5 % of the halves of the rows at either
        end. In each half its own near-copies stand behind the others. Columns of a group have the
        rank of the group among all features. None without resamples.
    selection_probability : float array of shape (p,) or None
        In which share of them each column was among the best.
    stability : Stability or None
        How alike the best columns of different halves are, without those that are kept: 1 if they
        are the same, about 0 if they are as alike as random ones (Nogueira's measure, with its 95 %
        interval).
    family_probability : float array of shape (p,) or None
        In which share of them the column, or any of those that the ranking takes for near-copies of
        the same column, was among the best. None where the ranker does not look for near-copies.
    family_stability : Stability or None
        The stability with near-copies counted as one column.
    n_best : int
        How many features are the best ones, with those that are kept.
    n_kept : int
        How many are kept.
    n_resamples : int
    p_value : float
        The chance of columns that score so high if the labels tell nothing. NaN without
        permutations, without labels, and for methods whose scores are places in an order.
    p_values : float array of shape (p,) or None
        The chance that any column scores as high as this one if the labels tell nothing.
    decisions : array of str of shape (p,) or None
        "confirmed": `p_values` at most .025, and `p_value` at most .05; "tentative": `p_values`
        below .5; else "unconfirmed".
    null_score : float
        The score that the best column under labels that tell nothing exceeds in .025 of the
        permutations; NaN where a column has several scores, as in a consensus, where scores are
        places in an order, and with smaller committees.
    n_permutations : int
        How many shuffled labellings there were, or comparisons with twins.
    against : {"labels", "twins"}
        What stands for labels that tell nothing: shuffled labels, or twins of the columns.
    exchanged : bool
        Whether labels were exchanged among the labelled rows, rather than given to rows drawn from
        all; with groups, among or within those with labelled rows.
    light : bool
        Whether committees were smaller than in the fit.
    n_labelled : int
        How many rows carry a label.
    error : str
        What is bounded for the confirmed columns.
    is_copy : bool array of shape (p,) or None
        Which columns are near-copies of better ones, and not counted.
    class_p_values : float array of shape (n_classes, p) or None
        With twins: the chance that any column tells the class from the rest as well as this one if
        the labels tell nothing. Corrected for the number of columns, and not for that of classes.
    exchange : Exchange or None
        How labels were exchanged between and within groups and batches, and the least p-value that
        so many can show. None without groups and batches.
    """

    rank_interval: NDArray[np.int64] | None
    selection_probability: NDArray[np.float64] | None
    n_best: int
    n_resamples: int
    p_value: float
    p_values: NDArray[np.float64] | None
    decisions: NDArray[np.str_] | None
    null_score: float
    n_permutations: int
    exchanged: bool
    light: bool
    n_labelled: int = 0
    against: Literal["labels", "twins"] = "labels"
    error: str = ERROR
    is_copy: NDArray[np.bool_] | None = None
    family_probability: NDArray[np.float64] | None = None
    stability: Stability | None = None
    family_stability: Stability | None = None
    n_kept: int = 0
    exchange: PermutationPlan | None = None
    class_p_values: NDArray[np.float64] | None = None

    @property
    def passed(self) -> bool:
        """Whether the ranking is told from those of labels that tell nothing."""
        return bool(self.p_value <= SIGNIFICANT + 1e-12)

    @property
    def least_p_value(self) -> float:
        """No p-value is below this, as there are no more ways to exchange labels between groups."""
        least = 0.0 if self.exchange is None else self.exchange.least_p_value
        return min(1.0, least if self.against == "labels" else 2 * least)

    @property
    def facts(self) -> dict[str, Any]:
        """What is said of the ranking as a whole, as plain values."""
        names = ["p_value", "n_permutations", "against", "exchanged"]
        names += ["n_resamples", "n_best", "light"]
        facts: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name in ("stability", "family_stability"):
            stable = getattr(self, name)
            facts[name] = stable and {k: getattr(stable, k) for k in ("value", "low", "high")}
        if self.exchange is not None and (self.exchange.is_known or self.exchange.differences):
            facts |= {**self.exchange.facts, "least_p_value": self.least_p_value}
        return facts

    def __repr__(self) -> str:
        said = []
        if self.decisions is not None:
            is_copy = self.decisions == "" if self.is_copy is None else self.is_copy
            counts = count_decisions(self.decisions, is_copy)
            by = "shuffled labellings" if self.against == "labels" else "trials with twins"
            said += [
                f"p = {self.p_value:.2g} by {self.n_permutations:,} {by}",
                f"{counts['confirmed']:,} of {len(self.decisions):,} columns confirmed, "
                f"{counts['tentative']:,} tentative",
            ]
        if self.stability is not None:
            stable = self.stability
            has_interval = np.isfinite(stable.low)
            interval = f" ({stable.low:.2f} to {stable.high:.2f})" if has_interval else ""
            said.append(
                f"stability of the best {self.n_best:,} {stable.value:.2f}{interval} on "
                f"{self.n_resamples:,} halves of the rows"
            )
        return f"<Assessment: {'; '.join(said) or 'nothing was asked for'}>"


def assess_ranking(
    ranker: "FeatureRanker",
    problem: TrainingData,
    steps: Iterator[int],
    *,
    n_best: int | None,
    n_resamples: int,
    n_permutations: int,
    seed: int,
    light: bool,
) -> Assessment:
    """Assess a ranker that was fitted on the problem.

    Parameters
    ----------
    ranker : FeatureRanker
    problem : TrainingData
    steps : iterator
        One step is taken for each ranking.
    n_best, n_resamples, n_permutations, seed, light
        As of `FeatureRanker.assess`.

    Returns
    -------
    Assessment
    """
    scorer = Scorer(ranker, light=light)
    test, exchange = None, find_permutation_plan(problem)
    if n_permutations and scorer.learns_from_labels(problem):
        plan = _, exchange = plan_permutation(problem)
        _warn_of_copies(exchange.copies)
        test = test_labels(scorer, plan, steps, n_permutations, seed)
    if n_best is None:
        n_best = count_best(ranker, test)
    if ranker._labeller() is not None:
        components(problem)  # halves have their part of them, be there a test or not
    seeds = seeds_of(steps, n_resamples, seed, RESAMPLE_STREAM)
    found = [*scorer.rankings_on_halves(problem, seeds, n_best)]
    rankings = np.array(found, dtype=np.int64).reshape(-1, problem.n_features)
    n_resamples = len(rankings)
    best = [np.flatnonzero(ranking <= n_best) for ranking in rankings]
    on_scale = not (light or ranker.scores_are_places)
    return Assessment(
        rank_interval=rank_interval(rankings) if n_resamples else None,
        selection_probability=(rankings <= n_best).mean(axis=0) if n_resamples else None,
        n_kept=0 if ranker._features is None else ranker._features.n_kept,
        n_best=n_best,
        n_resamples=n_resamples,
        p_value=nan if test is None else test.p_value,
        p_values=None if test is None else test.p_values,
        decisions=None if test is None else test.decisions,
        # NaN where it is on another scale than the scores
        null_score=nan if test is None or not on_scale else test.null_score,
        n_permutations=0 if test is None else test.n_labellings,
        exchanged=exchange.how != "all",
        light=light,
        n_labelled=len(problem.labels.labelled),
        against="labels" if ranker._labeller() is None else "twins",
        is_copy=near_copies(ranker),
        exchange=exchange if exchange.is_known or exchange.is_special else None,
        class_p_values=None if test is None else test.class_p_values,
        **_of_features(ranker, best),
    )


def _warn_of_copies(copies: list[Ints]) -> None:
    """Name labelled rows that are copies of each other."""
    if not copies:
        return
    named = [" and ".join(str(row) for row in rows) for rows in copies[:N_NAMED]]
    more = f", and {len(copies) - N_NAMED:,} more" if len(copies) > N_NAMED else ""
    warn(
        f"Labelled rows with (nearly) equal values: {', '.join(named)}{more} (numbers count from "
        "0). They are taken for one sample in the permutation test. If they are replicates, pass "
        "groups; if they are duplicates, keep one of each.",
        DuplicateRowsWarning,
    )


def _of_features(ranker: "FeatureRanker", best: list[NDArray[np.int64]]) -> dict[str, Any]:
    """Return how alike features, and families of near-copies, are among the best.

    Those that are kept, which always are, say nothing of that.
    """
    p, (is_open, feature_of) = ranker.n_features_in_, _counted(ranker)
    found: dict[str, Any] = {}
    if (stable := alike_features(ranker, best)) is not None:
        found["stability"] = stable
    if best and hasattr(ranker, "representative_"):
        family_of = feature_of[ranker.representative_]
        families = [np.unique(family_of[columns]) for columns in best]
        times = np.bincount(np.concatenate(families), minlength=p)
        found["family_probability"] = (times / len(best))[family_of]
        if "stability" in found:
            found["family_stability"] = _alike(best, family_of, is_open)
    return found


def alike_features(ranker: "FeatureRanker", best: list[NDArray[np.int64]]) -> Stability | None:
    """Return how alike the best features are, but for those that are kept; None if all are.

    Parameters
    ----------
    ranker : FeatureRanker
        Fitted.
    best : list of int arrays
        Columns.

    Returns
    -------
    Stability or None
    """
    is_open, feature_of = _counted(ranker)
    n_open = sum(int(is_open[columns].sum()) for columns in best)
    return _alike(best, feature_of, is_open) if n_open else None


def _counted(ranker: "FeatureRanker") -> tuple[NDArray[np.bool_], NDArray[np.integer]]:
    """Return which columns are not kept, and the feature of each."""
    known, p = ranker._features, ranker.n_features_in_
    if known is None:
        return np.ones(p, dtype=bool), np.arange(p)
    return ~known.kept, known.feature_of


def _alike(
    best: list[NDArray[np.int64]], unit_of: NDArray[np.integer], is_open: NDArray[np.bool_]
) -> Stability:
    """Return how alike the best open columns are, where several columns may be one unit."""
    units = np.unique(unit_of[is_open])
    others = [columns[is_open[columns]] for columns in best]
    found = [np.searchsorted(units, np.unique(unit_of[columns])) for columns in others]
    return nogueira(found, len(units))


def count_best(ranker: "FeatureRanker", test: LabellingsTest | None) -> int:
    """Return how many columns the ranker selects, or the test confirms if nothing was asked for.

    Where that is none, they are half of those that are no near-copies, which always come last.
    """
    copies = near_copies(ranker)
    known = ranker._features
    if ranker.n_features_to_select is not None:
        best = ranker.get_support()
    elif test is not None:
        best = find_confirmed(test.decisions, copies)
        best = best if known is None else known.complete(best, ranker.ranking_)
    else:
        best = np.zeros(ranker.n_features_in_, dtype=bool)
    if known is None:
        return int(best.sum()) or _few(int((~copies).sum()))
    n_best, n_others = (
        int(known.has_any(which & ~known.kept).sum()) for which in (best, ~copies & ~known.excluded)
    )
    return known.n_kept + (n_best or (0 if ranker._asks_for_number else _few(n_others)))


def _few(n_features: int) -> int:
    return min(N_SHOWN, max(1, n_features // 2))


def rank_interval(rankings: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lowest and highest rank of each column, without the tails."""
    n_left = max(0, int(TAIL * (len(rankings) + 1) + 1e-9) - 1)
    ordered = np.sort(rankings, axis=0)
    return np.column_stack([ordered[n_left], ordered[-1 - n_left]])
