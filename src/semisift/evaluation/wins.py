"""Two methods at a time over many runs: paired t-tests, wins, ties and losses, the sign test."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from semisift.evaluation.pairwise import differences
from semisift.evaluation.statistics import EQUAL, check_alpha, finite


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
        raise ValueError(
            "counts must be integers from 0 on (wins, ties, losses) along a last axis of length 3, "
            f"received {table.dtype} values of shape {table.shape}."
        )
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
        raise ValueError(
            f"test_share must be a positive number (n_test / n_train), received {test_share!r}."
        )
    mean = gains.mean(axis=-1)
    factor = 1 / n_runs + share
    error = np.sqrt(factor * gains.var(axis=-1, ddof=1))
    is_zero = np.abs(mean) <= tolerance
    is_constant = np.ptp(gains, axis=-1) <= tolerance
    t = np.where(is_zero, 0.0, np.copysign(np.inf, mean))
    np.divide(mean, error, out=t, where=~is_constant)
    return t, 2 * stats.t.sf(np.abs(t), n_runs - 1)
