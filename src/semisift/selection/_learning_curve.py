"""Hands: the labels dealt out like cards, so that rankings from each share no label.

The labelled rows are shuffled and dealt to m hands: of each class n_c // m rows a hand, the rest
are left out. Hands that held one class more often than the others do would differ by that alone.
With groups, whole groups are dealt, of those whose labelled rows are of the same classes as many to
each hand. All rows stay; those that are not of a hand count as unlabelled.

Rankings from two hands of one deal differ as those from labels of two studies of that size would.
How alike their best features are, in the mean over many deals, is the stability at that size.

LearningCurve: how alike the best features of other labels are, now and with more of them.
"""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.base._training_data import TrainingData
from semisift.selection._assessment import alike_features, count_best
from semisift.selection._refit import Scorer, parallel_map, rank_labelled, seed_of
from semisift.selection._resampling import Units, kinds_of, units_of
from semisift.transduction._components import make_components
from semisift.utils._agreement import LEVEL, extrapolate
from semisift.utils._text import plural
from semisift.utils._typing import Floats, Ints
from semisift.utils._validation import check_choice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semisift.base._ranker import FeatureRanker


HAND_STREAM = 0x68616E64

# Labelled rows of each class, or groups with such, that each of two hands must have. With one of
# each, all that can be told is what is usual (see docs/results/learning-curve.md).
LEAST_OF_CLASS = 2

# Rankings at each size, or a few less.
N_RANKINGS = 24

# Sizes at most, each smaller than the last by such a factor at least.
MOST_SIZES = 4
STEP = 1.4


@dataclass(frozen=True, eq=False)
class LabelSplit:
    """Labels dealt out once.

    Attributes
    ----------
    n_hands : int
        Into how many hands.
    hands : list of int arrays
        The labelled rows of each.
    """

    n_hands: int
    hands: list[NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Measured:
    """The stability at some sizes, the largest first.

    Attributes
    ----------
    n_hands : int array of shape (k,)
    sizes : float array of shape (k,)
        Labels of a hand, in the mean.
    values, spreads : float arrays of shape (k,)
        Mean over deals, and standard deviation between them.
    n_deals : int array of shape (k,)
    """

    n_hands: Ints
    sizes: Floats
    values: Floats
    spreads: Floats
    n_deals: Ints


def numbers_of_subsets(problem: TrainingData, least: int = LEAST_OF_CLASS) -> list[int]:
    """Return into how many hands the labels are dealt, ascending; none where they are too few.

    Of numbers that give hands of the same size the largest counts. Each of two hands has `least`
    rows of each class, or groups with such; hands of more have one.
    """
    units, kinds = _labelled_units(problem)
    sizes: dict[int, int] = {}
    for n_hands in range(2, max(map(len, kinds), default=0) + 1):
        hand = [kind[: len(kind) // n_hands] for kind in kinds]
        held = (units.counts[np.concatenate(hand)] > 0).sum(axis=0)
        if held.min() < (1 if sizes else least):
            break
        sizes[sum(map(len, hand))] = n_hands
    chosen: list[int] = []
    last = np.inf
    for size, n_hands in sizes.items():
        if size * STEP <= last and len(chosen) < MOST_SIZES:
            chosen.append(n_hands)
            last = size
    return chosen


def split_labels(problem: TrainingData, seed: int, least: int = LEAST_OF_CLASS) -> list[LabelSplit]:
    """Deal the labels out into every number of hands, several times.

    Parameters
    ----------
    problem : TrainingData
    seed : int
    least : int
        As of `numbers_of_hands`.

    Returns
    -------
    list of Deal
    """
    units, kinds = _labelled_units(problem)
    labelled = [rows[problem.labels.codes[rows] >= 0] for rows in units.members()]
    rng = np.random.default_rng([seed, HAND_STREAM])
    deals = []
    for n_hands in numbers_of_subsets(problem, least):
        for _ in range(max(1, N_RANKINGS // n_hands)):
            dealt: list[list[NDArray[np.int64]]] = [[] for _ in range(n_hands)]
            for kind in kinds:
                shuffled, n_each = rng.permutation(kind), len(kind) // n_hands
                for place, hand in enumerate(dealt):
                    hand += [labelled[unit] for unit in shuffled[place * n_each :][:n_each]]
            deals.append(LabelSplit(n_hands, [np.sort(np.concatenate(hand)) for hand in dealt]))
    return deals


def _labelled_units(problem: TrainingData) -> tuple[Units, list[NDArray[np.int64]]]:
    """Return the units, and those with labels by the classes that these are of."""
    units = units_of(problem)
    return units, [] if units.is_free.all() else kinds_of(units)


def measure(
    ranker: "FeatureRanker",
    problem: TrainingData,
    deals: list[LabelSplit],
    steps: "Iterator[int]",
    *,
    n_best: int,
    seed: int,
    light: bool,
) -> Measured:
    """Rank with the labels of each hand, and tell how alike the best features of a deal are.

    Parameters
    ----------
    ranker : FeatureRanker
        Fitted on the problem.
    problem : TrainingData
    deals : list of Deal
    steps : iterator
        One step is taken for each hand.
    n_best, seed, light
        As of `FeatureRanker.learning_curve`.

    Returns
    -------
    Measured
    """
    scorer = Scorer(ranker, light=light)
    if ranker._labeller() is not None:
        make_components(problem)
    hands = [hand for deal in deals for hand in deal.hands]
    seeds = (seed_of(seed, HAND_STREAM, number) for number in range(len(hands)))
    items: Any = zip(hands, seeds, strict=True)
    taken = (item for _, item in zip(steps, items, strict=False))
    found = parallel_map(rank_labelled, taken, problem, scorer, n_best, n_jobs=scorer.n_jobs)
    rankings = iter([np.flatnonzero(ranking <= n_best) for ranking in found])
    alike: dict[int, list[float]] = {}
    sizes: dict[int, list[float]] = {}
    for deal in deals:
        best = [*islice(rankings, len(deal.hands))]
        stable = alike_features(ranker, best) if len(best) == len(deal.hands) else None
        if stable is not None and not np.isnan(stable.value):
            alike.setdefault(deal.n_hands, []).append(stable.value)
            sizes.setdefault(deal.n_hands, []).append(float(np.mean([*map(len, deal.hands)])))
    return Measured(
        n_hands=np.array([*alike], dtype=np.int64),
        sizes=np.array([np.mean(each) for each in sizes.values()]),
        values=np.array([np.mean(each) for each in alike.values()]),
        spreads=np.array([np.std(each, ddof=len(each) > 1) for each in alike.values()]),
        n_deals=np.array([len(each) for each in alike.values()], dtype=np.int64),
    )


# --- curve ----------------------------------------------------------------------------------------


# The curve was tried up to so many times the labels that it starts from.
FAR = 2


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """What more labels would bring.

    A stability is 1 if the best features from other labels, as many as these, would be the same,
    and about 0 if they would be as alike as random ones (Nogueira's measure).

    Attributes
    ----------
    sizes : float array of shape (k,)
        Numbers of labels with which the stability was measured, the largest first; in the mean,
        where groups differ in their labels.
    stability, spread : float arrays of shape (k,)
        The stability with so many labels: the mean over deals, and the standard deviation between
        them. All deals are of the same labels, so that other labels would vary by more.
    now, then : float or None
        The stability that is expected with the labels at hand, and with more of them. None where
        there are too few labels to tell.
    now_interval, interval : (float, float) or None
        Where the two lie in `level` of cases.
    n_labelled, n_more : int
        How many labels there are, and how many more were asked for.
    n_best : int
        How many features are the best ones, with those that are kept.
    level : float
    light : bool
        Whether committees were smaller than in the fit.
    lacking : str
        Why nothing can be told; empty where something can.
    """

    sizes: Floats
    stability: Floats
    spread: Floats
    now: float | None
    then: float | None
    now_interval: tuple[float, float] | None
    interval: tuple[float, float] | None
    n_labelled: int
    n_more: int
    n_best: int
    light: bool
    level: float = LEVEL
    lacking: str = ""

    @property
    def words(self) -> str:
        """What it says, in a sentence or two."""
        if self.now is None or self.then is None:
            return self.lacking
        (low_now, high_now), (low, high) = self.now_interval, self.interval  # type: ignore[misc]
        best = "feature" if self.n_best == 1 else f"{self.n_best:,} features"
        text = (
            f"With {plural(self.n_labelled, 'label')} the stability of the best {best} is about "
            f"{self.now:.2f} ({self.level:.0%} interval {low_now:.2f} to {high_now:.2f}); with "
            f"{self.n_more:,} more expect {self.then:.2f} ({low:.2f} to {high:.2f}), where 1 is "
            "always the same, whichever rows are labelled, and 0 as alike as random picks."
        )
        if self.n_more > (FAR - 1) * self.n_labelled:
            text += (
                f" That is more than {FAR} times the labels at hand, further than the curve was "
                "tried: take it for a guess."
            )
        return text

    def __repr__(self) -> str:
        if self.now is None or self.then is None:
            return f"<LearningCurve: {self.lacking}>"
        return (
            f"<LearningCurve: stability of the best {self.n_best:,} {self.now:.2f} with "
            f"{self.n_labelled:,} labels, {self.then:.2f} with {self.n_more:,} more>"
        )

    def to_frame(self, output: Literal["polars", "pandas"] = "polars") -> Any:
        """Return a frame with a row for each size, what is expected last.

        Parameters
        ----------
        output : {"polars", "pandas"}, default="polars"

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            With the columns labels, stability, kind ("measured" or "expected"), spread (of what was
            measured), low and high (of what is expected).
        """
        check_choice(output, "output", ("polars", "pandas"))
        n, nan = len(self.sizes), float("nan")
        table: dict[str, list[Any]] = {
            "labels": self.sizes[::-1].tolist(),
            "stability": self.stability[::-1].tolist(),
            "kind": ["measured"] * n,
            "spread": self.spread[::-1].tolist(),
            "low": [nan] * n,
            "high": [nan] * n,
        }
        ahead = [(0, self.now, self.now_interval), (self.n_more, self.then, self.interval)]
        for more, value, interval in ahead:
            if value is not None and interval is not None:
                row = (float(self.n_labelled + more), value, "expected", nan, *interval)
                for column, cell in zip(table.values(), row, strict=True):
                    column.append(cell)
        return importlib.import_module(output).DataFrame(table)


def draw_curve(
    ranker: "FeatureRanker",
    problem: TrainingData,
    deals: list[LabelSplit],
    steps: Iterator[int],
    *,
    n_more: int,
    n_best: int | None,
    seed: int,
    light: bool,
) -> LearningCurve:
    """Measure the stability from some of the labels, and lead the curve to more of them.

    Parameters
    ----------
    ranker : FeatureRanker
        Fitted on the problem.
    problem : TrainingData
    deals : list of Deal
        Of its labels.
    steps : iterator
        One step is taken for each ranking.
    n_more, n_best, seed, light
        As of `FeatureRanker.learning_curve`.

    Returns
    -------
    LearningCurve
    """
    if n_best is None:
        assessed = getattr(ranker, "assessment_", None)
        n_best = count_best(ranker, None) if assessed is None else assessed.n_best
    found = measure(ranker, problem, deals, steps, n_best=n_best, seed=seed, light=light)
    n = len(problem.labels.labelled)
    now = then = None
    lacking = _say_lacking(ranker, problem, n_best)
    if len(found.sizes):
        measured = found.sizes, found.values, float(n)
        now, then = extrapolate(*measured, float(n)), extrapolate(*measured, float(n + n_more))
        lacking = ""
    return LearningCurve(
        sizes=found.sizes,
        stability=found.values,
        spread=found.spreads,
        now=None if now is None else now.value,
        then=None if then is None else then.value,
        now_interval=None if now is None else (now.low, now.high),
        interval=None if then is None else (then.low, then.high),
        n_labelled=n,
        n_more=n_more,
        n_best=n_best,
        light=light,
        lacking=lacking,
    )


def _say_lacking(ranker: "FeatureRanker", problem: TrainingData, n_best: int) -> str:
    """Say why nothing can be told, where nothing was measured."""
    labels, has_groups = problem.labels, problem.design.groups is not None
    if ranker.labels_needed == "none":
        return (
            f"{type(ranker).__name__} learns nothing from labels: more of them change nothing in "
            "its ranking."
        )
    start = "Too few labels to tell what more would bring"
    if not len(labels.labelled):
        return f"{start}: there are none."
    held = (units_of(problem).counts > 0).sum(axis=0)
    fewest, needed = int(held.argmin()), 2 * LEAST_OF_CLASS
    if held[fewest] < needed:
        unit = "group" if has_groups else "labelled row"
        return (
            f"{start}: rankings from half of them are compared with rankings from the others, "
            f"which takes {plural(needed, unit)} of each class, and the class "
            f"{labels.classes.tolist()[fewest]!r} has {int(held[fewest])}."
        )
    if has_groups and n_best < problem.n_features:
        return (
            f"{start}: groups are compared with others whose labelled rows are of the same "
            "classes, and there are too few of these. Label rows of more groups."
        )
    return (
        "Nothing can be told of what more labels would bring: the best features are the same with "
        "any labels, as no others are left."
    )
