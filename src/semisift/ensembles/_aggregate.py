"""How the scores of many subspaces become one score for each feature."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Aggregate = Literal["draws", "rank", "zscore", "printed"]
AGGREGATES = ("draws", "rank", "zscore", "printed")


def aggregate(
    features: NDArray[np.integer],
    scores: NDArray[np.float64],
    n_features: int,
    how: Aggregate,
    n_members: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Put the scores of members together, in member order.

    Parameters
    ----------
    features : int array of shape (n, m)
        The features of each member.
    scores : float array of shape (n, m)
        Low is good. NaN counts as not drawn, except where the printed rule adds it.
    n_features : int
    how : {"draws", "rank", "zscore", "printed"}
        The mean of the scores over the draws of a feature; of their ranks within the member over
        the number of its features; of the scores in standard deviations from the member's mean; or
        the sum over all members divided by `n_members`, drawn or not.
    n_members : int

    Returns
    -------
    scores : float array of shape (n_features,)
        NaN for features that nobody drew; 0 by the printed rule.
    n_draws : int array of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> features, scores = np.array([[0, 1], [0, 2]]), np.array([[0.4, 0.9], [0.4, 0.2]])
    >>> aggregate(features, scores, 4, "draws", 2)[0]
    array([0.4, 0.9, 0.2, nan])
    >>> aggregate(features, scores, 4, "printed", 2)[0]
    array([0.4 , 0.45, 0.1 , 0.  ])
    """
    drawn = ~np.isnan(scores)
    n_draws = np.bincount(features[drawn], minlength=n_features)
    if how == "printed":
        return np.bincount(features.ravel(), scores.ravel(), n_features) / n_members, n_draws
    if how == "rank":
        scores = within_ranks(scores, drawn)
    elif how == "zscore":
        scores = within_zscores(scores, drawn)
    total = np.bincount(features[drawn], scores[drawn], n_features)
    mean = np.divide(total, n_draws, out=np.full(n_features, np.nan), where=n_draws > 0)
    return mean, n_draws


def within_ranks(scores: NDArray[np.float64], drawn: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Rank the scores of each member, equal ones in the middle, and divide by their number."""
    # what was not drawn comes after all others
    low_first = np.where(drawn, np.minimum(scores, np.finfo(np.float64).max), np.inf)
    if not low_first.size:
        return low_first
    return rankdata(low_first, axis=1) / np.maximum(1, drawn.sum(axis=1, keepdims=True))


def within_zscores(scores: NDArray[np.float64], drawn: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Measure the scores of each member in standard deviations from their mean.

    An infinite score counts as the largest finite one of the member.
    """
    finite = np.isfinite(scores)
    largest = np.max(scores, axis=1, initial=0.0, where=finite, keepdims=True)
    scores = np.where(drawn, np.minimum(scores, largest), 0.0)
    n = np.maximum(1, drawn.sum(axis=1, keepdims=True))
    apart = np.where(drawn, scores - scores.sum(axis=1, keepdims=True) / n, 0.0)
    spread = np.sqrt((apart**2).sum(axis=1, keepdims=True) / n)
    return np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 1e-12 * largest)
