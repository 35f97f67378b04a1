"""Assessment: how much a ranking depends on the rows it has seen, and whether on the labels.

The permutation test asks how high columns score if labels are permuted. Under R permutations of the
labels all columns are scored again. A column is as good as its score is rare among the best scores
of all R + 1 fits, which corrects for the number of columns. A consensus has a score of each of its
parts: how rare each is becomes lambda, and they are put together as

    lambda_mj = share of the fits whose best score by part m reaches s_mj
    psi_j     = - sum over parts m of log lambda_mj
    p_j       = share of the fits whose best psi reaches psi_j

The fit with the real labels is one of the R + 1, and all are treated alike, so that the p-values
are exact whatever the parts have in common. The p-value of the whole ranking is made in the same
way from the highest score, and the mean of the 20 highest, of each part.

Where a ranker labels all rows by the shape of the data, permuted labels find the same shape, and
columns are compared with permuted features instead: see
`semisift.transduction._permuted_features`.

F. Pesarin, L. Salmaso (2010). Permutation tests for complex data. Wiley, for the combination.
P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing. Wiley, for the best score.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.base._decisions import correlated_features, count_decisions, decide, find_significant
from semisift.base._training_data import TrainingData
from semisift.exceptions import DuplicateRowsWarning
from semisift.selection._permutation import (
    Draw,
    How,
    PermutationPlan,
    even_groups,
    find_permutation_plan,
    permuted_labels,
    permuted_rows,
    plan_permutation,
)
from semisift.selection._refit import (
    ALPHA,
    ERROR,
    LABEL_STREAM,
    SIGNIFICANT,
    Scorer,
    is_significant,
    parallel_map,
    rank_half,
    seeds_of,
    take_rows,
)
from semisift.transduction._components import components, make_components
from semisift.transduction._permuted_features import exceeded_by_permuted_features, n_together
from semisift.transduction._positive_unlabelled import given_share
from semisift.utils._agreement import Stability, nogueira
from semisift.utils._labels import known_prior
from semisift.utils._typing import Bools, Floats, Ints
from semisift.utils._warnings import warn

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

Null = Literal["permuted_labels", "permuted_features"]

RESAMPLE_STREAM = 0x726573

# The interval of the ranks leaves out this share at each end.
TAIL = 0.05

# The best columns, where nothing says how many they are.
N_SHOWN = 20

# Sets of copies that a warning names.
N_NAMED = 5

# How many of the highest scores the test of the whole ranking looks at, besides the highest.
N_TESTED = 20

# Permuted features are tried on at most so many unlabelled rows: enough for the test, and its time
# is bounded.
MAX_TRIED = 2000

# Sums of logarithms that differ by less are equal.
DECIMALS = 9


@dataclass(frozen=True, eq=False)
class Assessment:
    """How sure a ranking is.

    Attributes
    ----------
    rank_interval : int array of shape (p, 2) or None
        Lowest and highest rank of each column, without the 5 % of the halves of the rows at either
        end. In each half its own correlated features stand behind the others. Columns of a group
        have the rank of the group among all features. None without resamples.
    selection_probability : float array of shape (p,) or None
        In which share of them each column was among the best.
    n_best : int
        How many features are the best ones, with those that are kept.
    n_resamples : int
    p_value : float
        The chance of columns that score so high if the labels tell nothing. NaN without
        permutations, without labels, and for methods whose scores are places in an order.
    p_values : float array of shape (p,) or None
        The chance that any column scores as high as this one if the labels tell nothing.
    decisions : array of str of shape (p,) or None
        "significant": `p_values` at most .025, and `p_value` at most .05; "suggestive": `p_values`
        below .5; else "not significant".
    null_score : float
        The score that the best column under permuted labels exceeds in .025 of the permutations;
        NaN where a column has several scores, as in a consensus, where scores are places in an
        order, and with smaller committees.
    n_permutations : int
        How many permutations of the labels there were, or comparisons with permuted features.
    permuted : bool
        Whether labels were permuted among the labelled rows, rather than given to rows drawn from
        all; with groups, among or within those with labelled rows.
    fast : bool
        Whether committees were smaller than in the fit.
    n_labelled : int
        How many rows carry a label.
    null : {"permuted_labels", "permuted_features"}
        What the scores were compared with.
    error : str
        What is bounded for the significant columns.
    is_copy : bool array of shape (p,) or None
        Which columns are features correlated with better ones, and not counted.
    family_probability : float array of shape (p,) or None
        In which share of the halves the column, or any of those that the ranking takes for
        features correlated with the same column, was among the best. None where the ranker does not
        look for correlated features.
    stability : Stability or None
        How alike the best columns of different halves are, without those that are kept: 1 if they
        are the same, about 0 if they are as alike as random ones (Nogueira's measure, with its 95 %
        interval).
    family_stability : Stability or None
        The stability with correlated features counted as one column.
    n_kept : int
        How many are kept.
    plan : PermutationPlan or None
        How labels were permuted between and within groups and batches, and the least p-value that
        so many can show. None where each row is one by itself.
    class_p_values : float array of shape (n_classes, p) or None
        With permuted features: the chance that any column tells the class from the rest as well as
        this one if the labels tell nothing. Corrected for the number of columns, and not for that
        of classes.
    """

    n_best: int
    n_resamples: int
    permuted: bool
    fast: bool
    rank_interval: NDArray[np.int64] | None = None
    selection_probability: Floats | None = None
    p_value: float = nan
    p_values: Floats | None = None
    decisions: NDArray[np.str_] | None = None
    null_score: float = nan
    n_permutations: int = 0
    n_labelled: int = 0
    null: Null = "permuted_labels"
    error: str = ERROR
    is_copy: Bools | None = None
    family_probability: Floats | None = None
    stability: Stability | None = None
    family_stability: Stability | None = None
    n_kept: int = 0
    plan: PermutationPlan | None = None
    class_p_values: Floats | None = None

    @property
    def passed(self) -> bool:
        """Whether the ranking differs from those of permuted labels."""
        return bool(self.p_value <= SIGNIFICANT + 1e-12)

    @property
    def has_groups(self) -> bool:
        """Whether labels were permuted by groups of rows."""
        return self.plan is not None and self.plan.has_groups

    @property
    def least_p_value(self) -> float:
        """No p-value is below this, as there are no more ways to permute labels between groups."""
        least = 0.0 if self.plan is None else self.plan.least_p_value
        return min(1.0, least if self.null == "permuted_labels" else 2 * least)

    @property
    def facts(self) -> dict[str, Any]:
        """What is said of the ranking as a whole, as plain values."""
        names = "p_value n_permutations null permuted n_resamples n_best fast"
        facts: dict[str, Any] = {name: getattr(self, name) for name in names.split()}
        for name in ("stability", "family_stability"):
            stable = getattr(self, name)
            facts[name] = stable and {k: getattr(stable, k) for k in ("value", "low", "high")}
        if self.plan is not None and (self.plan.is_known or self.plan.differences):
            facts |= {**self.plan.facts, "least_p_value": self.least_p_value}
        return facts

    def __repr__(self) -> str:
        parts = []
        if self.decisions is not None:
            is_copy = self.decisions == "" if self.is_copy is None else self.is_copy
            counts = count_decisions(self.decisions, is_copy)
            significant = (
                f"{counts['significant']:,} of {len(self.decisions):,} columns significant"
            )
            parts.append(f"p = {self.p_value:.2g} by {self.n_permutations:,} permutations")
            parts.append(f"{significant}, {counts['suggestive']:,} suggestive")
        if (stable := self.stability) is not None:
            interval = (
                f" ({stable.low:.2f} to {stable.high:.2f})" if np.isfinite(stable.low) else ""
            )
            parts.append(
                f"stability of the best {self.n_best:,} {stable.value:.2f}{interval} on "
                f"{self.n_resamples:,} halves of the rows"
            )
        return f"<Assessment: {'; '.join(parts) or 'nothing was asked for'}>"


def null_of(labeller: Any) -> Null:
    """Return what the scores of a ranker are compared with, by the part that labels all rows."""
    return "permuted_labels" if labeller is None else "permuted_features"


def assess_ranking(
    ranker: "FeatureRanker",
    data: TrainingData,
    steps: Iterator[int],
    *,
    n_best: int | None,
    n_resamples: int,
    n_permutations: int,
    seed: int,
    fast: bool,
) -> Assessment:
    """Assess a ranker that was fitted on the training data, in a step for each ranking.

    The other parameters are those of `FeatureRanker.assess`.
    """
    scorer, known = Scorer(ranker, fast=fast), dict[str, Any]()
    test, plan = None, find_permutation_plan(data)
    if n_permutations and scorer.learns_from_labels(data):
        planned = _, plan = plan_permutation(data)
        _warn_of_copies(plan.copies)
        test = test_labels(scorer, planned, steps, n_permutations, seed)
    if n_best is None:
        n_best = count_best(ranker, test)
    if scorer.labeller is not None:
        components(data)  # halves have their part of them, be there a test or not
    seeds = seeds_of(steps, n_resamples, seed, RESAMPLE_STREAM)
    found = [*parallel_map(rank_half, seeds, data, scorer, n_best, n_jobs=scorer.n_jobs)]
    rankings = np.array(found, dtype=np.int64).reshape(-1, data.n_features)
    if len(rankings):
        known["rank_interval"] = rank_interval(rankings)
        known["selection_probability"] = (rankings <= n_best).mean(axis=0)
    if test is not None:
        known |= {**vars(test), "decisions": test.decisions}
        if fast or ranker.scores_are_places:  # it is on another scale than the scores
            known["null_score"] = nan
    return Assessment(
        n_best=n_best,
        n_kept=0 if ranker._features is None else ranker._features.n_kept,
        n_resamples=len(rankings),
        permuted=plan.how != "all",
        fast=fast,
        n_labelled=len(data.labels.labelled),
        null=null_of(scorer.labeller),
        is_copy=correlated_features(ranker),
        plan=plan if plan.is_known or plan.is_special else None,
        **known,
        **_stabilities(ranker, [np.flatnonzero(ranking <= n_best) for ranking in rankings]),
    )


def _warn_of_copies(copies: list[Ints]) -> None:
    """Name labelled rows that are copies of each other."""
    if not copies:
        return
    named = ", ".join(" and ".join(map(str, rows)) for rows in copies[:N_NAMED])
    more = f", and {len(copies) - N_NAMED:,} more" if len(copies) > N_NAMED else ""
    warn(
        f"Labelled rows with (nearly) equal values: {named}{more} (numbers count from 0). They "
        "are taken for one sample. If they are replicates, pass groups; else keep one of each.",
        DuplicateRowsWarning,
    )


# Halves of the rows -------------------------------------------------------------------------------


def rank_interval(rankings: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lowest and highest rank of each column, without the tails."""
    n_left = max(0, int(TAIL * (len(rankings) + 1) + 1e-9) - 1)
    ordered = np.sort(rankings, axis=0)
    return np.column_stack([ordered[n_left], ordered[-1 - n_left]])


def _stabilities(ranker: "FeatureRanker", best: list[NDArray[np.int64]]) -> dict[str, Any]:
    """Return how alike features, and families of correlated features, are among the best."""
    found: dict[str, Any] = {"stability": alike_features(ranker, best)}
    if best and hasattr(ranker, "representative_"):
        group_of = _features_of(ranker)[ranker.representative_]
        groups = np.concatenate([np.unique(group_of[columns]) for columns in best])
        times = np.bincount(groups, minlength=len(group_of))
        found["family_probability"] = (times / len(best))[group_of]
        found["family_stability"] = alike_features(ranker, best, group_of)
    return found


def alike_features(
    ranker: "FeatureRanker", best: list[NDArray[np.int64]], unit_of: Ints | None = None
) -> Stability | None:
    """Return how alike sets of the best columns are, but for those kept; None if all are.

    Several columns may be one unit: one feature, if nothing else is given.
    """
    unit_of = _features_of(ranker) if unit_of is None else unit_of
    kept = np.zeros(len(unit_of), dtype=bool) if ranker._features is None else ranker._features.kept
    others = [columns[~kept[columns]] for columns in best]
    if not any(map(len, others)):
        return None
    units = np.unique(unit_of[~kept])
    found = [np.searchsorted(units, np.unique(unit_of[columns])) for columns in others]
    return nogueira(found, len(units))


def _features_of(ranker: "FeatureRanker") -> Ints:
    """Return the feature of each column."""
    known = ranker._features
    return np.arange(ranker.n_features_in_) if known is None else known.feature_of


def count_best(ranker: "FeatureRanker", test: "PermutationTest | None") -> int:
    """Return how many columns the ranker selects, or the test confirms if nothing was asked for.

    Where that is none, they are half of those that represent themselves, which always come last.
    """
    copies, known = correlated_features(ranker), ranker._features
    best = np.zeros(ranker.n_features_in_, dtype=bool)
    if ranker.n_features_to_select is not None:
        best = ranker.get_support()
    elif test is not None:
        best = find_significant(test.decisions, copies)
        best = best if known is None else known.complete(best, ranker.ranking_)
    if known is None:
        return int(best.sum()) or _few(int((~copies).sum()))
    n_best, n_others = (
        int(known.has_any(which & ~known.kept).sum()) for which in (best, ~copies & ~known.excluded)
    )
    return known.n_kept + (n_best or (0 if ranker._selects_number else _few(n_others)))


def _few(n_features: int) -> int:
    return min(N_SHOWN, max(1, n_features // 2))


# The permutation test -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """How a ranking compares with those of permuted labels, or columns with permuted features.

    Attributes
    ----------
    p_value : float
        The chance of columns that score so high if the labels tell nothing.
    p_values : float array of shape (p,)
        The chance that any column scores as high as this one if the labels tell nothing.
    null_score : float
        What the best column under permuted labels exceeds in .025 of them at most; NaN where a
        column has several scores.
    n_permutations : int
        Of the labels, or trials with permuted features.
    class_p_values : float array of shape (n_classes, p) or None
        With permuted features: the chance that any column tells the class from the rest as well as
        this one.
    """

    p_value: float
    p_values: Floats
    null_score: float
    n_permutations: int
    class_p_values: Floats | None = None

    @property
    def decisions(self) -> NDArray[np.str_]:
        """Return "significant", "suggestive" or "not significant" for each column.

        Significant are columns that pass, if the ranking as a whole does; suggestive are those that
        beat the best column in more than half of the permutations, or the best permuted feature in
        more than three quarters of the trials.
        """
        passed = is_significant(self.p_values) & (self.p_value <= SIGNIFICANT + 1e-12)
        return decide(passed, self.p_values < 0.5)


def test_labels(
    scorer: Scorer,
    planned: tuple[TrainingData, PermutationPlan],
    steps: Iterator[int],
    n: int,
    seed: int,
) -> PermutationTest | None:
    """Compare the scores with those of n permutations, a step each, as suits the ranker.

    One that labels all rows by the shape of the data is compared with permuted features, others
    with fits to permuted labels. `planned` is what `plan_permutation` returns. None where the
    scores of different fits cannot be compared.

    No p-value is below what so few ways to permute labels can show: that labels are as they were is
    one of the ways, and rounding may hide that they are.
    """
    data, plan = planned
    seeds, least = seeds_of(steps, n, seed, LABEL_STREAM), plan.least_p_value
    if scorer.labeller is None:
        test = compare_with_permuted_labels(scorer, data, seeds, plan)
    else:
        least, class_prior, prior = 2 * least, scorer.labeller.class_prior, None
        if data.labels.n_classes > 1:
            prior = known_prior(class_prior, data.labels)
        elif (share := given_share(class_prior, data.labels)) is not None:
            prior = np.array([share, 1 - share])
        unweighted = data.unweighted
        test = compare_with_permuted_features(unweighted, seeds, prior, plan, scorer.n_jobs)
    for _ in seeds:  # to the end of the bar, also where there are fewer ways than steps
        pass
    if test is None:
        return None
    least, of_classes = min(1.0, least), test.class_p_values
    return replace(
        test,
        p_value=max(test.p_value, least),
        p_values=np.maximum(test.p_values, least),
        class_p_values=None if of_classes is None else np.maximum(of_classes, least),
    )


def compare_with_permuted_features(
    data: TrainingData,
    seeds: Iterable[int],
    prior: Floats | None,
    plan: PermutationPlan,
    n_jobs: int | None = None,
) -> PermutationTest:
    """Compare the columns with permuted ones, twice for each seed and once more for the first.

    With 39 seeds the smallest p-value, which is doubled, is 2 / 80.
    """
    draws = plan.draws(
        seed + turn for number, seed in enumerate(seeds) for turn in range(2 if number else 3)
    )
    n_rows = len(data.some_rows(MAX_TRIED))
    size = n_together(n_rows * components(data).shape[1])
    trials = iter(lambda: [*islice(draws, size)], [])
    n_classes = max(2, data.labels.n_classes)
    n_scores = 1 if n_classes == 2 else 1 + n_classes
    reached = np.zeros((2, n_scores, data.n_features), dtype=np.int64)
    all_reached, n = np.zeros(2, dtype=np.int64), 0
    for beaten in parallel_map(_permute_features, trials, data, prior, plan.how, n_jobs=n_jobs):
        reached += beaten.sum(axis=0)
        all_reached += beaten[:, :, 0].all(axis=2).sum(axis=0)
        n += len(beaten)
    # the better of two scores counts, so the p-value is doubled
    p_values = np.minimum(1.0, 2 * (1 + reached.min(axis=0)) / (1 + n))
    p_values[:, data.constant] = 1.0
    p_value = min(1.0, 2 * (1 + int(all_reached.min())) / (1 + n))
    # of two classes, what tells one from the other tells of both
    of_classes = p_values[1:] if n_classes > 2 else np.repeat(p_values, 2, axis=0)
    return PermutationTest(p_value, p_values[0], nan, n, of_classes)


def _permute_features(
    draws: list[Draw], data: TrainingData, prior: Floats | None, how: How
) -> Bools:
    """Return which columns the best permuted feature reaches in some trials.

    The shape is (n_trials, 2, n_scores, p): see `exceeded_by_permuted_features`.
    """
    make_components(data)  # of all rows, of which a part has its own
    rows = data.some_rows(MAX_TRIED)
    if len(rows) < data.n_rows:
        data = take_rows(data, rows, data.seed)
    data = even_groups(data, how)
    orders = (permuted_rows(data, draw, how) for draw in draws)
    return np.array([*exceeded_by_permuted_features(data, orders, prior)])


def compare_with_permuted_labels(
    scorer: Scorer, data: TrainingData, seeds: Iterable[int], plan: PermutationPlan
) -> PermutationTest | None:
    """Compare the scores with those of permuted labels; None if fits cannot be compared."""
    observed = scorer.fresh().comparable(data)
    if observed is None:
        return None
    draws, n_jobs = plan.draws(seeds), scorer.n_jobs
    others = parallel_map(_permute_labels, draws, data, scorer, plan, n_jobs=n_jobs)
    return compare_fits(np.array([observed, *others]))


def _permute_labels(
    draw: Draw, data: TrainingData, scorer: Scorer, plan: PermutationPlan
) -> Floats | None:
    return scorer.fresh().comparable(permuted_labels(data, draw, plan))


def compare_fits(scores: Floats) -> PermutationTest:
    """Compare the first of several fits, that with the real labels, with the others.

    The scores have the shape (n_fits, n_parts, p), minus infinity where there is none.

    Examples
    --------
    >>> scores = np.array([[[9.0, 1.0]], [[2.0, 3.0]], [[0.0, 4.0]], [[1.0, 0.0]]])
    >>> test = compare_fits(scores)
    >>> test.p_value, test.p_values.tolist()
    (0.25, [0.25, 1.0])
    """
    best, n_others = scores.max(axis=2), len(scores) - 1
    psi = np.array([_combine(own, best) for own in scores])
    p_values = _share_reaching(psi[0], psi.max(axis=1))
    samples = np.concatenate([best, _mean_of_highest(scores)], axis=1)
    combined = _combine(samples.T, samples)
    n_above = int(ALPHA * (n_others + 1) + 1e-12) - 1
    has_null = scores.shape[1] == 1 and n_above >= 0 and n_others > 0
    return PermutationTest(
        p_value=float(_share_reaching(combined[:1], combined)[0]),
        p_values=p_values,
        null_score=float(np.sort(best[1:, 0])[-1 - n_above]) if has_null else nan,
        n_permutations=n_others,
    )


def _combine(values: Floats, rivals: Floats) -> Floats:
    """Return psi of each column of `values`; both have a row or column for each statistic."""
    total = np.zeros(values.shape[1])
    for own, against in zip(values, rivals.T, strict=True):
        total -= np.log(_share_reaching(own, against))
    return np.round(total, DECIMALS)


def _share_reaching(values: Floats, rivals: Floats) -> Floats:
    """Return the share of the rivals that are not below each value."""
    n_below = np.searchsorted(np.sort(rivals), values, side="left")
    return np.asarray((len(rivals) - n_below) / len(rivals))


def _mean_of_highest(scores: Floats) -> Floats:
    """Return the mean of the highest scores; infinite ones are the highest finite one."""
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        return np.zeros(scores.shape[:2])
    clipped = np.clip(scores, finite.min(), finite.max())
    n_left = max(0, scores.shape[2] - N_TESTED)
    return np.asarray(np.partition(clipped, n_left, axis=2)[:, :, n_left:].mean(axis=2))
