"""Hands: the labels dealt out like cards, so that rankings from each share no label.

The labelled rows are shuffled and dealt to m hands: of each class n_c // m rows a hand, the rest
are left out. Hands that held one class more often than the others do would differ by that alone.
With groups, whole groups are dealt, of those whose labelled rows are of the same classes as many to
each hand. All rows stay; those that are not of a hand count as unlabelled.

Rankings from two hands of one deal differ as those from labels of two studies of that size would.
How alike their best features are, in the mean over many deals, is the stability at that size.
"""

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisift._problem import Problem
from semisift.math import Floats, Ints
from semisift.outcome.assessment import alike_features
from semisift.outcome.samples import kinds_of
from semisift.outcome.scoring import Scorer, rank_labelled, repeat, seed_of
from semisift.outcome.units import Units, units_of
from semisift.transduction.components import make_components

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semisift._base import FeatureRanker

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
class Deal:
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


def numbers_of_hands(problem: Problem, least: int = LEAST_OF_CLASS) -> list[int]:
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


def deal_labels(problem: Problem, seed: int, least: int = LEAST_OF_CLASS) -> list[Deal]:
    """Deal the labels out into every number of hands, several times.

    Parameters
    ----------
    problem : Problem
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
    for n_hands in numbers_of_hands(problem, least):
        for _ in range(max(1, N_RANKINGS // n_hands)):
            dealt: list[list[NDArray[np.int64]]] = [[] for _ in range(n_hands)]
            for kind in kinds:
                shuffled, n_each = rng.permutation(kind), len(kind) // n_hands
                for place, hand in enumerate(dealt):
                    hand += [labelled[unit] for unit in shuffled[place * n_each :][:n_each]]
            deals.append(Deal(n_hands, [np.sort(np.concatenate(hand)) for hand in dealt]))
    return deals


def _labelled_units(problem: Problem) -> tuple[Units, list[NDArray[np.int64]]]:
    """Return the units, and those with labels by the classes that these are of."""
    units = units_of(problem)
    return units, [] if units.is_free.all() else kinds_of(units)


def measure(
    ranker: "FeatureRanker",
    problem: Problem,
    deals: list[Deal],
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
    problem : Problem
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
    found = repeat(rank_labelled, taken, problem, scorer, n_best, n_jobs=scorer.n_jobs)
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
