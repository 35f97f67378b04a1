"""Two classes out of partly labelled rows: all unlabelled ones to one side or to the other.

K. Sechidis, G. Brown (2018). Where labels are missing at random, a test of independence between a
column and such a surrogate is one between the column and the class, and which of the two surrogates
is the more powerful follows from the counts alone.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# Priors that lie so close to the threshold are on it.
ON_IT = 1e-9

Surrogates = list[NDArray[np.int64]]


def threshold(n_positive: int, n_negative: int, n_unlabelled: int) -> float:
    """Return the prior of the positive class from which unlabelled rows are called positive.

    Parameters
    ----------
    n_positive, n_negative, n_unlabelled : int
        Rows that are labelled so, and rows that are not labelled.

    Returns
    -------
    float
        ``a / (a + b)`` with ``a^2 = p (p + m)`` and ``b^2 = n (n + m)``.

    Examples
    --------
    >>> round(threshold(5, 1, 94), 7)
    0.6953688
    """
    a = math.sqrt(n_positive * (n_positive + n_unlabelled))
    b = math.sqrt(n_negative * (n_negative + n_unlabelled))
    return a / (a + b)


def surrogates(
    codes: NDArray[np.integer], positive: int, prior: float | None, *, both_on_threshold: bool
) -> Surrogates:
    """Return one or two surrogates of one class against the rest.

    Parameters
    ----------
    codes : int array of shape (n,)
        -1: unlabelled.
    positive : int
        The class that is not the rest.
    prior : float or None
        Its share; None takes that among the labelled rows. If all labelled rows are positive, that
        says nothing, and unlabelled rows are called negative.
    both_on_threshold : bool
        Return both surrogates where the prior is the threshold, which the names of the classes
        cannot change, instead of that which calls unlabelled rows positive.

    Returns
    -------
    list of int arrays of shape (n,)
        1 for the positive side and 0 for the other.
    """
    unlabelled, is_positive = codes < 0, codes == positive
    n_positive, n_unlabelled = int(is_positive.sum()), int(unlabelled.sum())
    n_negative = len(codes) - n_positive - n_unlabelled
    as_negative = is_positive.astype(np.int64)
    as_positive = (is_positive | unlabelled).astype(np.int64)
    if not n_unlabelled or (prior is None and not n_negative):
        return [as_negative]
    if prior is None:
        prior = n_positive / (n_positive + n_negative)
    limit = threshold(n_positive, n_negative, n_unlabelled)
    if both_on_threshold and abs(prior - limit) < ON_IT:
        return [as_negative, as_positive]
    return [as_negative] if prior < limit else [as_positive]


def mean_over(
    targets: Surrogates, measure: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the mean of a measure over the surrogates."""
    return np.mean([measure(target) for target in targets], axis=0)
