"""Two methods at a time over many data sets: the signed-rank test, and all pairs of methods."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from semisift.evaluation.statistics import EQUAL, finite, levels

# Up to so many differences the distribution of the signed ranks is counted out.
MOST_COUNTED = 50


@dataclass(frozen=True)
class Wilcoxon:
    """What the signed-rank test says.

    Attributes
    ----------
    w_plus, w_minus : float
        The sum of the ranks of the differences in favour of the first and of the second.
    n : int
        How many differences are not zero.
    p : float
        Two-sided.
    """

    w_plus: float
    w_minus: float
    n: int
    p: float


def wilcoxon(a: ArrayLike, b: ArrayLike) -> Wilcoxon:
    """Test whether paired scores differ, by the signed ranks of their differences.

    Zero differences are dropped and ties share the mean of their ranks. For at most 50 differences
    the null distribution is counted out, also where there are ties; beyond, the normal
    approximation with the correction for ties is used.

    Parameters
    ----------
    a, b : arrays of shape (n_sets,)

    Returns
    -------
    Wilcoxon
        With p = 1 if all differences are zero.

    References
    ----------
    F. Wilcoxon (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1(6).

    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7.

    Examples
    --------
    >>> wilcoxon([0.9, 0.8, 0.7, 0.6, 0.5, 0.7], [0.8, 0.7, 0.8, 0.4, 0.2, 0.7])
    Wilcoxon(w_plus=13.0, w_minus=2.0, n=5, p=0.25)
    """
    gains, tolerance = differences(a, b)
    gains = gains[np.abs(gains) > tolerance]
    n = len(gains)
    numbers = levels(np.abs(gains), tolerance)
    ranked = stats.rankdata(numbers)
    w_plus = float(ranked[gains > 0].sum())
    w_minus = float(ranked[gains < 0].sum())
    if n <= MOST_COUNTED:
        p = _counted_p(ranked, min(w_plus, w_minus))
    else:
        p = _normal_p(numbers, min(w_plus, w_minus))
    return Wilcoxon(w_plus, w_minus, n, p)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values for their number, step by step from the smallest on.

    Parameters
    ----------
    p_values : array of shape (n,)

    Returns
    -------
    float array of shape (n,)
        A hypothesis is rejected at a level, for all together, if its adjusted p-value is not above.

    References
    ----------
    S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6(2).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise ValueError(
            f"p_values must be numbers from 0 to 1 in one axis, received {p_values!r}."
        )
    order = np.argsort(values)
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def pairwise_wilcoxon(scores: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Test each pair of methods by signed ranks.

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)

    Returns
    -------
    p, adjusted : float arrays of shape (n_methods, n_methods)
        p-values, and the same adjusted for all pairs (Holm). Symmetric, 1 on the diagonal.

    Examples
    --------
    >>> scores = [[0.7, 0.5, 0.4], [0.8, 0.6, 0.5], [0.9, 0.3, 0.4], [0.5, 0.4, 0.1], [0.6, 0.2, 0]]
    >>> p, adjusted = pairwise_wilcoxon(scores)
    >>> p[0]
    array([1.    , 0.0625, 0.0625])
    >>> adjusted[0]
    array([1.    , 0.1875, 0.1875])
    """
    table = finite(scores, "scores", ("data set", "method"))
    first, second = np.triu_indices(table.shape[1], 1)
    pairs = zip(first, second, strict=True)
    p_values = np.array([wilcoxon(table[:, i], table[:, j]).p for i, j in pairs])
    matrices = np.ones((2, table.shape[1], table.shape[1]))
    matrices[:, first, second] = matrices[:, second, first] = p_values, holm(p_values)
    return matrices[0], matrices[1]


def differences(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.float64], float]:
    """Return the differences of pairs, and how much of one may be rounding.

    Parameters
    ----------
    a, b : arrays of shape (n,)

    Returns
    -------
    differences : float array of shape (n,)
    tolerance : float
        Differences that differ by no more are equal.

    Examples
    --------
    >>> differences([0.75, 0.5], [0.25, 0.5])
    (array([0.5, 0. ]), 7.5e-13)
    """
    first, second = finite(a, "a", ("pair",)), finite(b, "b", ("pair",))
    if len(first) != len(second):
        raise ValueError(
            f"a and b must be pairs, received {len(first)} values in a and {len(second)} in b."
        )
    largest = max(np.abs(first).max(), np.abs(second).max())
    return first - second, float(EQUAL * largest)


def _counted_p(ranked: NDArray[np.float64], smaller: float) -> float:
    """Count the signs that give at most the smaller sum; twice the ranks are whole numbers."""
    sums = np.zeros(int(2 * smaller) + 1, dtype=np.int64)
    sums[0] = 1
    for rank in (2 * ranked).astype(np.int64):
        sums[rank:] += sums[:-rank]
    return min(1.0, 2 * int(sums.sum()) / 2 ** len(ranked))


def _normal_p(numbers: NDArray[np.int64], smaller: float) -> float:
    n = len(numbers)
    ties = np.bincount(numbers).astype(np.float64)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48
    return float(2 * stats.norm.cdf((smaller - n * (n + 1) / 4) / math.sqrt(variance)))
