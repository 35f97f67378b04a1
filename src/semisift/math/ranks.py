"""Ranks from scores, and from picking columns one by one."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from semisift.math import Bools, Floats, Ints

# Separates the draw that orders ties from the draws a method makes with the same seed.
TIE_STREAM = 0x7469

# Information is compared up to this: the order in which counts are added changes the last bits.
DECIMALS = 12

# Separates the draw that orders ties among the picks from the one that orders ties of scores.
PICK_STREAM = 0x7069


def rank(
    scores: NDArray[np.floating], seed: int, tie_key: NDArray[np.floating] | None = None
) -> NDArray[np.int64]:
    """Rank scores from 1, the highest, with NaN last and ties in a random order.

    Parameters
    ----------
    scores : array of shape (p,)
    seed : int
        Decides the order of ties.
    tie_key : array of shape (p,), optional
        Decides it first, higher before lower.

    Returns
    -------
    ranking : int array of shape (p,)
        A permutation of 1, ..., p.

    Examples
    --------
    >>> import numpy as np
    >>> rank(np.array([0.2, np.nan, 0.7]), seed=0)
    array([2, 3, 1])
    """
    tie_order = np.random.default_rng([seed, TIE_STREAM]).permutation(len(scores))
    ranking = np.empty(len(scores), dtype=np.int64)
    keys = (tie_order, -scores) if tie_key is None else (tie_order, -tie_key, -scores)
    ranking[np.lexsort(keys)] = np.arange(1, len(scores) + 1)
    return ranking


def scores_of_picks(
    relevance: Floats,
    add: Callable[[int], Floats],
    n_picks: int,
    *,
    candidates: Bools,
    tie_order: Ints,
    first: Bools | None = None,
    feature_of: Ints | None = None,
) -> Floats:
    """Pick the most relevant column, and go on with the values that follow from each pick.

    Parameters
    ----------
    relevance : float array of shape (p,)
        Not negative: the values before the first pick, and what ranks the columns not picked.
    add : callable
        Given the column that was picked, returns the values before the next pick; not called after
        the last one.
    n_picks : int
        At most the candidates are picked.
    candidates : bool array of shape (p,)
        Which columns may be picked; the others rank behind them.
    tie_order : int array of shape (p,)
        Of equally good columns the one with the lowest number is picked.
    first : bool array of shape (p,), optional
        The columns that are picked before all others.
    feature_of : int array of shape (p,), optional
        Of the other columns of a feature only one is picked.

    Returns
    -------
    float array of shape (p,)
        As of `places`.
    """
    picks: list[int] = []
    left, value = candidates.copy(), relevance
    first = np.zeros(len(left), dtype=bool) if first is None else first
    while len(picks) < n_picks and left.any():
        if picks:
            value = add(picks[-1])
        now = left & first if (left & first).any() else left
        best = value[now].max()
        tied = np.flatnonzero(now & (value >= best - 10.0**-DECIMALS * max(1.0, abs(best))))
        chosen = int(tied[np.argmin(tie_order[tied])])
        picks.append(chosen)
        left[chosen] = False
        if feature_of is not None and not first[chosen]:
            left[feature_of == feature_of[chosen]] = False
    return places(picks, np.where(candidates, relevance, -1.0))


def places(picks: list[int], criterion: Floats) -> Floats:
    """Return p, p - 1, ... for the picks, and for the others the rank of a criterion.

    Parameters
    ----------
    picks : list of int
    criterion : float array of shape (p,)
        Higher is better; NaN stays NaN.

    Returns
    -------
    float array of shape (p,)

    Examples
    --------
    >>> places([3], np.array([0.3, 0.1, 0.2, 0.3]))
    array([3., 1., 2., 4.])
    """
    scores = np.empty(len(criterion))
    rest = np.ones(len(criterion), dtype=bool)
    rest[picks] = False
    scores[rest] = rankdata(criterion[rest], nan_policy="omit")
    scores[picks] = len(criterion) - np.arange(len(picks))
    return scores
