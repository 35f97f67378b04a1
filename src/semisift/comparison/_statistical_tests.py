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

Two methods at a time over many data sets: the signed-rank test, and all pairs of methods.

Two methods at a time over many runs: paired t-tests, wins, ties and losses, the sign test.
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
        raise ValueError(f"at least 2 methods and 1 data set, not {n_methods} and {n_sets}.")
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
        raise ValueError(f"{name} must have values by {', '.join(axes)}: got shape {array.shape}.")
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
        raise ValueError(f"scores must have at least 2 data sets and 2 methods: got {table.shape}.")
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


# --- pairwise -------------------------------------------------------------------------------------


# Up to so many differences the distribution of the signed ranks is counted out.
MAX_EXACT = 50


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
    if n <= MAX_EXACT:
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
        raise ValueError(f"p_values must be numbers from 0 to 1 in one axis: got {p_values!r}.")
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
        raise ValueError(f"a and b must be pairs: got {len(first)} and {len(second)} values.")
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


# --- wins -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairedT:
    """What the paired t-test says.

    Attributes
    ----------
    t, p : float
        The statistic, positive if the first is better, and its two-sided p-value.
    mean : float
        The mean difference.
    """

    t: float
    p: float
    mean: float


def paired_t(a: ArrayLike, b: ArrayLike, test_share: float | None = None) -> PairedT:
    """Test whether the means of paired scores differ.

    Runs that split the same rows again and again share most of their training rows, so their
    differences are not independent and the plain test finds too many; with `test_share` the
    variance of the mean is ``(1 / n_runs + test_share) * s^2`` instead of ``s^2 / n_runs``.

    Parameters
    ----------
    a, b : arrays of shape (n_runs,)
        At least two runs.
    test_share : float, optional
        Test rows over training rows (``n_test / n_train``), for random splits of the same rows.

    Returns
    -------
    PairedT
        If all differences are equal, t is 0 and p is 1 where they are zero, else t is infinite and
        p is 0.

    References
    ----------
    C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52(3).

    Examples
    --------
    >>> a, b = [0.70, 0.72, 0.69, 0.71, 0.73], [0.68, 0.70, 0.70, 0.69, 0.70]
    >>> result = paired_t(a, b)
    >>> round(result.t, 6), round(result.p, 6)
    (2.359071, 0.077742)
    >>> round(paired_t(a, b, test_share=0.5).p, 6)
    0.275852
    """
    gains, tolerance = differences(a, b)
    t, p = _t_test(gains, tolerance, test_share)
    return PairedT(float(t), float(p), float(gains.mean()))


def win_tie_loss(
    runs: ArrayLike, alpha: float = 0.1, test_share: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Count on how many data sets each method is better, not different and worse than each other.

    Parameters
    ----------
    runs : array of shape (n_sets, n_runs, n_methods)
        Scores; a run is the same split for all methods. At least two runs.
    alpha : float
        Level of the paired t-test on each data set; 0.1 is that of the EnsCLS paper.
    test_share : float, or array of shape (n_sets,), optional
        As in `paired_t`, of all data sets or of each.

    Returns
    -------
    int array of shape (n_methods, n_methods, 3)
        Wins, ties and losses of the first method; on the diagonal all are ties.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> runs = rng.normal(size=(9, 10, 2)) + [1.0, 0.0]
    >>> win_tie_loss(runs)[0, 1]
    array([6, 3, 0])
    """
    check_alpha(alpha)
    scores = finite(runs, "runs", ("data set", "run", "method"))
    scores = scores.transpose(0, 2, 1)
    tolerance = EQUAL * np.abs(scores).max(axis=(1, 2))[:, None, None]
    if test_share is not None:
        test_share = np.asarray(test_share, dtype=np.float64).reshape(-1, 1, 1)
    t, p = _t_test(scores[:, :, None] - scores[:, None], tolerance, test_share)
    is_different = p <= alpha
    parts = is_different & (t > 0), ~is_different, is_different & (t < 0)
    return np.stack([part.sum(axis=0) for part in parts], axis=-1)


def critical_wins(n: int, alpha: float = 0.1) -> int:
    """Return the fewest wins out of n that are significant: ``P(Binomial(n, 1/2) >= w) <= alpha``.

    The test is one-sided: so 7 of 9 are significant at 0.1, as the EnsCLS paper says.

    Parameters
    ----------
    n : int
    alpha : float

    Returns
    -------
    int
        n + 1 if not even n wins are significant.

    References
    ----------
    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7.

    Examples
    --------
    >>> critical_wins(9, 0.1), critical_wins(9, 0.05), critical_wins(3, 0.05)
    (7, 8, 4)
    """
    check_alpha(alpha)
    if n < 0:
        raise ValueError(f"n must not be negative, received {n}.")
    at_least = stats.binom.sf(np.arange(-1, n + 1), n, 0.5)
    return int(np.argmax(at_least <= alpha * (1 + EQUAL)))


def sign_test(counts: ArrayLike, alpha: float = 0.1) -> NDArray[np.bool_]:
    """Return which counts of wins, ties and losses make the first significantly better.

    Ties speak for no difference, so each side gets half of them; of an odd number one is ignored,
    and with it its data set.

    Parameters
    ----------
    counts : int array of shape (..., 3)
        Wins, ties and losses, as from `win_tie_loss`.
    alpha : float
        Level of the one-sided test; 0.1 is that of the EnsCLS paper.

    Returns
    -------
    bool array of shape (...)

    References
    ----------
    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7.

    Examples
    --------
    >>> sign_test([[5, 4, 0], [6, 3, 0], [5, 2, 2]])
    array([ True,  True, False])
    """
    table = np.asarray(counts)
    is_count = table.dtype.kind in "iu" and table.ndim > 0 and table.shape[-1] == 3
    if not is_count or (table < 0).any():
        raise ValueError("counts must be wins, ties and losses: three integers from 0 each.")
    wins, ties = table[..., 0], table[..., 1]
    sizes, place = np.unique(table.sum(axis=-1) - ties % 2, return_inverse=True)
    needed = np.array([critical_wins(int(n), alpha) for n in sizes], dtype=np.int64)
    return np.asarray(wins + ties // 2 >= needed[place].reshape(wins.shape))


def _t_test(
    gains: NDArray[np.float64],
    tolerance: float | NDArray[np.float64],
    test_share: float | NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return t and p along the last axis."""
    n_runs = gains.shape[-1]
    if n_runs < 2:
        raise ValueError(f"A paired t-test needs at least 2 runs, received {n_runs}.")
    share = np.asarray(0.0 if test_share is None else test_share)
    if test_share is not None and not np.all((share > 0) & (share < math.inf)):
        raise ValueError(f"test_share (n_test / n_train) must be above 0: got {test_share!r}.")
    mean = gains.mean(axis=-1)
    factor = 1 / n_runs + share
    error = np.sqrt(factor * gains.var(axis=-1, ddof=1))
    is_zero = np.abs(mean) <= tolerance
    is_constant = np.ptp(gains, axis=-1) <= tolerance
    t = np.where(is_zero, 0.0, np.copysign(np.inf, mean))
    np.divide(mean, error, out=t, where=~is_constant)
    return t, 2 * stats.t.sf(np.abs(t), n_runs - 1)
