"""The stability rule: columns that are among the best on most halves of the rows.

Each of 100 times half of the labelled rows of each class and half of the unlabelled rows are drawn
and scored. A column is significant if it is among the best q in at least pi of them. With
exchangeable useless columns the expected number of them that are significant is

    at most q^2 / ((2 pi - 1) p)

N. Meinshausen, P. Bühlmann (2010). Stability selection. Journal of the Royal Statistical Society B
72(4). Here pi = .75 and q is the largest number with a bound of at most 1.

Columns are counted by their scores, also where correlated features are put last: as correlated
features take turns to represent each other, hardly one of them would be among the best q in most
halves. Those of the ranking itself are left out of the selection afterwards.

Three labels of a class cannot be halved: where a class has fewer than four, the labelled rows of
each class are drawn with repetition instead, and the bound does not formally hold. With groups,
whole groups are drawn, and the same is true of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from semisift.base._decisions import decide
from semisift.base._training_data import TrainingData
from semisift.selection._refit import MAX, Scorer, can_halve, parallel_map, rank_half, seeds_of

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

HALF_STREAM = 0x68616C

CONFIRMED = 0.75
TENTATIVE = 0.5


@dataclass(frozen=True, eq=False)
class StabilityCutoff:
    """What the stability rule measured.

    Attributes
    ----------
    repetitions : int
        How often half of the rows were drawn.
    frequencies : float array of shape (p,)
        In which share of them each column was among the best.
    n_best : int
        How many were the best.
    bound : float
        Expected number of useless columns that are significant, at most.
    bound_holds : bool
        Whether all labelled rows, or their groups, could be halved.
    threshold : float
        The lowest frequency that confirms a column.
    error : str
        What is bounded.
    """

    repetitions: int
    frequencies: NDArray[np.float64]
    n_best: int
    bound: float
    bound_holds: bool
    threshold: float
    error: str
    rule: ClassVar[str] = "stability"


def expected_errors(n_best: int, threshold: float, n_features: int) -> float:
    """Return the bound of the expected number of useless columns that are significant.

    Each sample picks `n_best` columns; the threshold is the lowest frequency, above 1/2.

    Examples
    --------
    >>> round(expected_errors(10, 0.9, 1000), 9)
    0.125
    """
    return n_best**2 / ((2 * threshold - 1) * n_features)


def choose_n_best(n_features: int) -> int:
    """Return how many columns each sample picks so that one error is expected at most.

    Examples
    --------
    >>> choose_n_best(1000)
    22
    """
    most = isqrt(int((2 * CONFIRMED - 1) * n_features))
    return max(1, min(most, n_features // 2))


def decide_by_stability(
    ranker: "FeatureRanker", data: TrainingData, steps: Iterator[int]
) -> tuple[NDArray[np.str_], StabilityCutoff]:
    """Decide on each column; parameters and results as of `decide_by_shadows`."""
    scorer = Scorer(ranker)
    usable = max(1, data.n_features - int(data.constant.sum()))
    n_best, times, n = choose_n_best(usable), np.zeros(data.n_features), 0
    seeds = seeds_of(steps, MAX, data.seed, HALF_STREAM)
    for ranking in parallel_map(rank_half, seeds, data, scorer, None, n_jobs=scorer.n_jobs):
        times += ranking <= n_best
        n += 1
    times[data.constant] = 0  # among the best where there are no others
    frequencies = times / max(1, n)
    bound = expected_errors(n_best, CONFIRMED, usable)
    can_confirm = bound <= 1  # else there is a single column, which is always the best
    decisions = decide((frequencies >= CONFIRMED) & can_confirm, frequencies >= TENTATIVE)
    holds = can_halve(data)
    error = f"the expected number of useless features significant is at most {bound:.3g}"
    error += ", so that one of them is no surprise"
    if not holds:
        few = "labels" if data.design.groups is None else "groups"
        error += f"; this does not formally hold, as there are too few {few} to halve"
    cutoff = StabilityCutoff(n, frequencies, n_best, bound, holds, CONFIRMED, error)
    return decisions, cutoff
