"""Ranks from scores."""

import numpy as np
from numpy.typing import NDArray

# Separates the draw that orders ties from the draws a method makes with the same seed.
TIE_STREAM = 0x7469


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
