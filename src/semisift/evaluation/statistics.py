"""Many methods on many data sets: ranks, the test of Friedman and the test of Nemenyi.

With N data sets, k methods and mean ranks R_j (1 is the best, ties share the mean of their ranks):

    chi2 = 12 N / (k (k + 1)) * (sum_j R_j^2 - k (k + 1)^2 / 4)            k - 1 degrees of freedom
    F = (N - 1) chi2 / (N (k - 1) - chi2)                   k - 1 and (k - 1) (N - 1) degrees
    CD = q * sqrt(k (k + 1) / (6 N))

where q is the quantile of the studentized range for k groups and infinite degrees of freedom,
divided by the square root of 2. Two methods differ if their mean ranks differ by more than CD.

Scores are mean accuracies, which are equal in truth but not to the last digit when the same numbers
were added in another order; such scores are ties (see `EQUAL`).

References
----------
J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine
Learning Research 7.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

# Scores that differ by less than this share of the largest of them are equal: it is rounding.
EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Friedman:
    """What the test of Friedman says.

    Attributes
    ----------
    n_sets, n_methods : int
    mean_ranks : float array of shape (n_methods,)
        1 is the best.
    chi2, p_chi2 : float
        Friedman's statistic without a correction for ties, as in Demsar's paper, and its p-value.
    chi2_ties : float
        The statistic with the correction for ties, as in ``scipy.stats.friedmanchisquare``; 0 if
        all methods are tied on every data set.
    f, p_f : float
        The less conservative statistic of Iman and Davenport and its p-value; infinity and 0 if all
        data sets rank the methods alike.
    """

    n_sets: int
    n_methods: int
    mean_ranks: NDArray[np.float64]
    chi2: float
    p_chi2: float
    chi2_ties: float
    f: float
    p_f: float


@dataclass(frozen=True, eq=False)
class Nemenyi:
    """What the test of Nemenyi says about each pair of methods.

    Attributes
    ----------
    mean_ranks : float array of shape (n_methods,)
        1 is the best.
    critical_difference : float
        Mean ranks that differ by more are different.
    p_values : float array of shape (n_methods, n_methods)
        Symmetric, 1 on the diagonal.
    different : bool array of shape (n_methods, n_methods)
    groups : tuple of tuples of int
        The bars of the diagram: the largest groups of methods of which no two differ, each from
        best to worst, and the group with the best method first. A method that differs from all
        others is in none.
    """

    mean_ranks: NDArray[np.float64]
    critical_difference: float
    p_values: NDArray[np.float64]
    different: NDArray[np.bool_]
    groups: tuple[tuple[int, ...], ...]


def ranks(scores: ArrayLike) -> NDArray[np.float64]:
    """Rank the methods on each data set.

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)
        Higher is better.

    Returns
    -------
    float array of shape (n_sets, n_methods)
        1 is the best; ties share the mean of their ranks.

    Examples
    --------
    >>> ranks([[0.7, 0.9, 0.8], [0.5, 0.5, 0.6]])
    array([[3. , 1. , 2. ],
           [2.5, 2.5, 1. ]])
    """
    checked = finite(scores, "scores", ("data set", "method"))
    tolerance = EQUAL * np.abs(checked).max(axis=1, keepdims=True)
    return np.asarray(stats.rankdata(levels(-checked, tolerance), axis=1))


def friedman(scores: ArrayLike) -> Friedman:
    """Test whether all methods perform alike.

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)
        Higher is better; at least two data sets and two methods.

    Returns
    -------
    Friedman

    References
    ----------
    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7.

    R. L. Iman, J. M. Davenport (1980). Approximations of the critical region of the Friedman
    statistic. Communications in Statistics A 9(6).

    Examples
    --------
    >>> result = friedman([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.7, 0.8, 0.6], [0.9, 0.6, 0.5]])
    >>> result.mean_ranks
    array([1.25, 1.75, 3.  ])
    >>> round(result.chi2, 4), round(result.p_chi2, 4), round(result.f, 4), round(result.p_f, 4)
    (6.5, 0.0388, 13.0, 0.0066)
    """
    table = _ranks_of_several(scores)
    n_sets, n_methods = table.shape
    mean_ranks = table.mean(axis=0)
    scale = 12 * n_sets / (n_methods * (n_methods + 1))
    chi2 = float(scale * ((mean_ranks - (n_methods + 1) / 2) ** 2).sum())
    # Ties make ranks spread less than 1, ..., k do.
    spread = float(((table - (n_methods + 1) / 2) ** 2).sum())
    share = 12 * spread / (n_sets * n_methods * (n_methods**2 - 1))
    largest = n_sets * (n_methods - 1)
    f = math.inf if chi2 >= largest * (1 - EQUAL) else (n_sets - 1) * chi2 / (largest - chi2)
    p_chi2 = float(stats.chi2.sf(chi2, n_methods - 1))
    p_f = float(stats.f.sf(f, n_methods - 1, (n_methods - 1) * (n_sets - 1)))
    chi2_ties = chi2 / share if share else 0.0
    return Friedman(n_sets, n_methods, mean_ranks, chi2, p_chi2, chi2_ties, f, p_f)


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """Return by how much mean ranks differ that are different according to Nemenyi.

    Parameters
    ----------
    n_methods, n_sets : int
    alpha : float
        Level of the test; 0.1 is that of the EnsCLS paper.

    Returns
    -------
    float

    References
    ----------
    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7.

    Examples
    --------
    >>> round(critical_difference(5, 9, 0.1), 6)
    1.833215
    """
    if n_methods < 2 or n_sets < 1:
        raise ValueError(
            "critical_difference needs at least 2 methods and 1 data set, "
            f"received n_methods={n_methods}, n_sets={n_sets}."
        )
    check_alpha(alpha)
    quantile = stats.studentized_range.isf(alpha, n_methods, np.inf) / math.sqrt(2)
    return float(quantile * _standard_error(n_methods, n_sets))


def nemenyi(scores: ArrayLike, alpha: float = 0.05) -> Nemenyi:
    """Compare all methods with each other by their mean ranks.

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)
        Higher is better; at least two data sets and two methods.
    alpha : float
        Level of the test, for all pairs together; 0.1 is that of the EnsCLS paper.

    Returns
    -------
    Nemenyi

    References
    ----------
    P. B. Nemenyi (1963). Distribution-free multiple comparisons. Princeton University.

    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7.

    Examples
    --------
    >>> result = nemenyi([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.7, 0.8, 0.6], [0.9, 0.6, 0.5]])
    >>> round(result.critical_difference, 4)
    1.6572
    >>> result.groups
    ((0, 1), (1, 2))
    >>> round(float(result.p_values[0, 2]), 4)
    0.0356
    """
    table = _ranks_of_several(scores)
    n_sets, n_methods = table.shape
    mean_ranks = table.mean(axis=0)
    distance = np.abs(mean_ranks[:, None] - mean_ranks)
    studentized = distance * math.sqrt(2) / _standard_error(n_methods, n_sets)
    p_values = np.clip(stats.studentized_range.sf(studentized, n_methods, np.inf), 0.0, 1.0)
    limit = critical_difference(n_methods, n_sets, alpha)
    different = distance > limit
    return Nemenyi(mean_ranks, limit, p_values, different, _groups(mean_ranks, different))


def finite(values: ArrayLike, name: str, axes: tuple[str, ...]) -> NDArray[np.float64]:
    """Return values as an array; what is not finite is an error that says where it is.

    Parameters
    ----------
    values : array-like
    name : str
        What messages call the values.
    axes : tuple of str
        What an index along each axis counts.

    Returns
    -------
    float array with ``len(axes)`` dimensions

    Examples
    --------
    >>> finite([[0.5, float("nan")]], "scores", ("data set", "method"))
    Traceback (most recent call last):
    ...
    ValueError: scores must be finite, but data set 0, method 1 has nan.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != len(axes) or not array.size:
        raise ValueError(
            f"{name} must be an array with {len(axes)} axes ({', '.join(axes)}), none of them "
            f"empty, received shape {array.shape}."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = ", ".join(f"{axis} {i}" for axis, i in zip(axes, bad[0], strict=True))
        raise ValueError(f"{name} must be finite, but {place} has {array[tuple(bad[0])]}.")
    return array


def levels(
    values: NDArray[np.float64], tolerance: float | NDArray[np.float64]
) -> NDArray[np.int64]:
    """Number the values along the last axis from the smallest on; equal ones share a number.

    Parameters
    ----------
    values : float array
    tolerance : float or array
        Values that differ by no more are equal.

    Returns
    -------
    int array of the same shape

    Examples
    --------
    >>> levels(np.array([0.3, 0.2, 0.1 + 0.2]), 1e-12)
    array([1, 0, 1])
    """
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    is_step = np.diff(ordered, axis=-1, prepend=ordered[..., :1]) > tolerance
    numbers = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(numbers, order, np.cumsum(is_step, axis=-1), axis=-1)
    return numbers


def check_alpha(alpha: float) -> None:
    """Refuse a level of a test that is none."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, received {alpha!r}.")


def _ranks_of_several(scores: ArrayLike) -> NDArray[np.float64]:
    table = ranks(scores)
    if min(table.shape) < 2:
        raise ValueError(
            "scores must have at least 2 data sets (rows) and 2 methods (columns), "
            f"received shape {table.shape}."
        )
    return table


def _standard_error(n_methods: int, n_sets: int) -> float:
    return math.sqrt(n_methods * (n_methods + 1) / (6 * n_sets))


def _groups(
    mean_ranks: NDArray[np.float64], different: NDArray[np.bool_]
) -> tuple[tuple[int, ...], ...]:
    order = np.argsort(mean_ranks, kind="stable")
    same = ~different[np.ix_(order, order)]
    n_methods = len(order)
    last = n_methods - 1 - np.argmax(same[:, ::-1], axis=1)
    first = np.arange(n_methods)
    # A group that reaches no further than the one before it is a part of that.
    is_largest = np.diff(last, prepend=-1) > 0
    bars = zip(first[is_largest], last[is_largest], strict=True)
    return tuple(tuple(order[i : j + 1].tolist()) for i, j in bars if j > i)
