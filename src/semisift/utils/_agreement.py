"""How much the features that a method picks depend on the rows it happened to see.

All measures but Jaccard's and the overlap of rankings are corrected for chance: of p features, sets
of k share k^2 / p by luck. With M sets, the share h_f of them that hold feature f, and their mean
size k:

    Kuncheva:  (r - k^2 / p) / (k - k^2 / p)                          sets of equal size, r in both
    Nogueira:  1 - mean_f[M / (M - 1) h_f (1 - h_f)] / [k / p (1 - k / p)]       sets of any size

Both are 1 for equal sets and about 0 for random ones; for sets of equal size Nogueira's measure is
the mean of Kuncheva's over all pairs. Sets are arrays of feature indices; the cost grows with their
sizes and p, not with M p.

What a stability measured with few labels becomes with more of them.

The stability s with n labels is taken to follow

    log(s / (1 - s)) = a + b log(n / N) + e        N labels are there, b >= 0

With b = 1 this is the formula of Spearman and Brown for a test that is made longer; rankers that
use unlabelled rows rise faster, or hardly at all. Beyond the largest size m that was measured, e is
normal with the variance OFF^2 log(n / m): so far such curves were off. A value measured with n
labels is taken to vary about s(n) with the variance

    NOISE^2 s (1 - s) 2 n / N + FLOOR^2

as N / (2 n) pairs of rankings share no label. Values of several sizes come from the same labels and
say less than as many of their own, so that their logarithmic likelihoods count `COUNTED` of each. a
and b have normal priors, and what is expected and its interval are quantiles of what follows,
summed up on a grid.

The numbers are those that made the true stabilities most likely on one half of the sets of
benchmarks/learning_curve.py, rounded, with OFF and COUNTED changed until the intervals held there
about what they promise; docs/results/learning-curve.md shows them on the other half.

C. Spearman (1910). Correlation calculated from faulty data. British Journal of Psychology 3. W.
Brown (1910). Some experimental results in the correlation of mental abilities. Same volume.

How much the members of an ensemble disagree.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import ArrayLike
from scipy.special import expit, ndtri

from semisift.utils._typing import Floats, Ints

# Half the width of a 95 % interval, in standard errors.
WIDTH = float(ndtri(0.975))

# With fewer sets the spread of what they contribute says nothing, and there is no interval.
MIN_SETS = 10


@dataclass(frozen=True)
class Stability:
    """A stability with its 95 % confidence interval.

    Attributes
    ----------
    value : float
    low, high : float
        NaN for fewer than 10 sets. `high` is cut at 1, the largest stability there is.
    n : int
        How many sets it stands on.
    """

    value: float
    low: float
    high: float
    n: int


def kuncheva(a: ArrayLike, b: ArrayLike, p: int) -> float:
    """Return the consistency of two sets of equal size.

    Parameters
    ----------
    a, b : int arrays of shape (k,)
        Indices of features.
    p : int
        How many features there are.

    Returns
    -------
    float
        Above -1, at most 1; NaN for sets of no and of all features.

    References
    ----------
    L. I. Kuncheva (2007). A stability index for feature selection. Artificial Intelligence and
    Applications (AIA).

    Examples
    --------
    >>> round(kuncheva([0, 1, 2], [0, 1, 3], 10), 6)
    0.52381
    """
    return mean_kuncheva([a, b], p)


def mean_kuncheva(sets: Sequence[ArrayLike], p: int) -> float:
    """Return the mean consistency of all pairs of sets of equal size.

    Parameters
    ----------
    sets : sequence of int arrays of shape (k,)
        Indices of features.
    p : int
        How many features there are.

    Returns
    -------
    float
        NaN for fewer than two sets and for sets of no and of all features.

    References
    ----------
    L. I. Kuncheva (2007). A stability index for feature selection. Artificial Intelligence and
    Applications (AIA).

    Examples
    --------
    >>> round(mean_kuncheva([[0, 1, 2], [0, 1, 3], [0, 4, 5]], 10), 6)
    0.206349
    """
    checked = _checked(sets, p)
    sizes = sorted({len(features) for features in checked})
    if len(sizes) > 1:
        raise ValueError(
            f"Kuncheva's measure needs sets of equal size, received sizes from {sizes[0]} to "
            f"{sizes[-1]}; nogueira takes any."
        )
    n = len(checked)
    if n < 2 or sizes[0] in (0, p):
        return math.nan
    k = sizes[0]
    n_lists = np.bincount(np.concatenate(checked), minlength=p)
    shared = float((n_lists * (n_lists - 1)).sum()) / (n * (n - 1))
    return (shared - k**2 / p) / (k - k**2 / p)


def nogueira(sets: Sequence[ArrayLike], p: int) -> Stability:
    """Return the stability of sets of any size, with its confidence interval.

    The interval is the asymptotic one of the paper; with few sets (below about 30) take it as a
    hint. With fewer than 10 there is none: two sets would have one of width 0.

    Parameters
    ----------
    sets : sequence of int arrays
        Indices of features.
    p : int
        How many features there are.

    Returns
    -------
    Stability
        NaN for fewer than two sets, and where all sets are empty or hold every feature.

    References
    ----------
    S. Nogueira, K. Sechidis, G. Brown (2018). On the stability of feature selection algorithms.
    Journal of Machine Learning Research 18(174).

    Examples
    --------
    >>> result = nogueira([[0, 1, 2], [0, 1, 3], [0, 1, 2], [0, 1]] * 3, 10)
    >>> round(result.value, 4), round(result.low, 4), round(result.high, 4), result.n
    (0.7606, 0.7022, 0.819, 12)
    """
    checked = _checked(sets, p)
    n = len(checked)
    sizes = np.array([len(features) for features in checked], dtype=np.float64)
    size = float(sizes.sum()) / max(n, 1)
    if n < 2 or size in (0, p):
        return Stability(math.nan, math.nan, math.nan, n)
    features = np.concatenate(checked)
    share = np.bincount(features, minlength=p) / n
    spread = size / p * (1 - size / p)
    value = 1 - float((share * (1 - share)).mean()) * n / (n - 1) / spread
    member = np.repeat(np.arange(n), sizes.astype(np.int64))
    with_others = np.bincount(member, share[features], minlength=n) / p
    by_chance = sizes * size / p**2
    own = with_others - by_chance + value / 2 * (2 * by_chance - (sizes + size) / p + 1)
    if n < MIN_SETS:
        return Stability(value, math.nan, math.nan, n)
    error = 2 / n * math.sqrt((((own - own.mean()) / spread) ** 2).sum())
    return Stability(value, value - WIDTH * error, min(1.0, value + WIDTH * error), n)


def jaccard(a: ArrayLike, b: ArrayLike) -> float:
    """Return how many features of either set are in both, as a share; not corrected for chance.

    Parameters
    ----------
    a, b : int arrays
        Indices of features.

    Returns
    -------
    float
        From 0 to 1; NaN for two empty sets.

    Examples
    --------
    >>> jaccard([0, 1, 2], [0, 1, 3])
    0.5
    """
    first, second = _checked([a, b])
    shared = len(np.intersect1d(first, second, assume_unique=True))
    either = len(first) + len(second) - shared
    return shared / either if either else math.nan


def rank_overlap(first: ArrayLike, second: ArrayLike, depth: int) -> float:
    """Return the average overlap of two rankings over the depths 1, ..., `depth`.

    At each depth d it is the share of the best d of one that are among the best d of the other.
    What stands high is in more of these shares, so it counts more.

    Parameters
    ----------
    first, second : int arrays
        Indices of features from the best on, at least `depth` of them.
    depth : int

    Returns
    -------
    float
        1 for the same order, 0 where the best share nothing.

    References
    ----------
    R. Fagin, R. Kumar, D. Sivakumar (2003). Comparing top k lists. SIAM Journal on Discrete
    Mathematics 17(1).

    Examples
    --------
    >>> rank_overlap([4, 2, 7], [2, 4, 9], 2), rank_overlap([4, 2, 7], [4, 9, 2], 2)
    (0.5, 0.75)
    """
    one, other = _checked([first, second])
    if not 1 <= depth <= min(len(one), len(other)):
        raise ValueError(
            f"depth must lie between 1 and the length of the shorter ranking, received {depth} for "
            f"{len(one)} and {len(other)} features."
        )
    _, place, place_of_other = np.intersect1d(
        one[:depth], other[:depth], assume_unique=True, return_indices=True
    )
    # A feature is shared from the deeper of its two places on.
    shared = np.cumsum(np.bincount(np.maximum(place, place_of_other), minlength=depth))
    return float((shared / np.arange(1, depth + 1)).mean())


def _checked(sets: Sequence[ArrayLike], p: int | None = None) -> list[Ints]:
    """Return sets as arrays; what is no feature, or is in a set twice, is an error."""
    arrays = [np.asarray(features) for features in sets]
    for i, features in enumerate(arrays):
        if features.ndim != 1 or (features.size and features.dtype.kind not in "iu"):
            raise ValueError(
                f"A set must be indices of features in one axis, but set {i} has {features.dtype} "
                f"values of shape {features.shape}."
            )
        outside = (features < 0) | (features >= (np.inf if p is None else p))
        if outside.any():
            bound = "on" if p is None else f"to {p - 1}"
            found = features[outside].min()
            raise ValueError(f"Features are numbered from 0 {bound}, but set {i} has {found}.")
        if len(np.unique(features)) < len(features):
            raise ValueError(f"A set must hold a feature once, but set {i} repeats one.")
    return [features.astype(np.int64) for features in arrays]


# --- extrapolation --------------------------------------------------------------------------------


# The chance that an interval holds the stability.
LEVEL = 0.8

# Mean and standard deviation of a and b beforehand.
START = (0.5, 2.0)
SLOPE = (1.5, 0.8)

NOISE, FLOOR, COUNTED, OFF = 0.1, 0.03, 0.25, 1.0

# Where a, b and e are summed up.
STARTS = np.linspace(-8.0, 8.0, 81)
SLOPES = np.linspace(0.0, 3.0, 31)
N_ERRORS = 5


class Expected(NamedTuple):
    """A stability that is expected, and its interval."""

    value: float
    low: float
    high: float


def extrapolate(sizes: Floats, values: Floats, n_now: float, at: float) -> Expected:
    """Return the stability to expect with a number of labels.

    Parameters
    ----------
    sizes, values : float arrays of shape (k,)
        Numbers of labels, at most half of those there are, and the stabilities measured with them.
    n_now : float
        How many labels there are.
    at : float
        How many there will be.

    Returns
    -------
    Expected
        The median, and the quantiles that leave out a tenth at each end.

    Examples
    --------
    >>> found = extrapolate(np.array([10.0, 5.0]), np.array([0.5, 0.33]), 20.0, 30.0)
    >>> [round(value, 1) for value in found]
    [0.8, 0.4, 1.0]
    """
    a, b = np.meshgrid(STARTS, SLOPES, indexing="ij")
    log_posterior = -0.5 * (((a - START[0]) / START[1]) ** 2 + ((b - SLOPE[0]) / SLOPE[1]) ** 2)
    # less alike than by chance is luck
    for size, value in zip(sizes, np.maximum(values, 0.0), strict=True):
        stable = expit(a + b * np.log(size / n_now))
        variance = NOISE**2 * stable * (1 - stable) * 2 * size / n_now + FLOOR**2
        log_posterior -= COUNTED / 2 * ((value - stable) ** 2 / variance + np.log(variance))
    weights = np.exp(log_posterior - log_posterior.max())
    errors, shares = hermegauss(N_ERRORS)
    errors = errors * OFF * np.sqrt(np.log(at / sizes.max()))
    stable = expit(a + b * np.log(at / n_now) + errors[:, None, None]).ravel()
    weights = (shares[:, None, None] * weights).ravel()
    order = np.argsort(stable, kind="stable")
    share = np.cumsum(weights[order]) - weights[order] / 2
    tail = (1 - LEVEL) / 2
    low, middle, high = np.interp([tail, 0.5, 1 - tail], share / weights.sum(), stable[order])
    return Expected(float(middle), float(low), float(high))


# --- diversity ------------------------------------------------------------------------------------


def entropy_diversity(correct: ArrayLike) -> float:
    """Return the entropy measure of diversity.

    With L members of which l(z) are right on row z:

        E = mean_z min(l(z), L - l(z)) / (L - ceil(L / 2))

    Parameters
    ----------
    correct : bool array of shape (n_members, n_rows)
        Which members are right on which rows.

    Returns
    -------
    float
        0 if on each row all are right or all are wrong, 1 if each row splits the members evenly; 0
        for a single member.

    References
    ----------
    L. I. Kuncheva (2004). Combining pattern classifiers, chapter 10. Wiley.

    Examples
    --------
    >>> entropy_diversity([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])
    0.5
    """
    is_right = np.asarray(correct)
    if is_right.ndim != 2 or not is_right.size or not np.isin(is_right, (0, 1)).all():
        raise ValueError(
            "correct must be true or false for each member and row (two axes, none of them empty), "
            f"received {is_right.dtype} values of shape {is_right.shape}."
        )
    n_members = len(is_right)
    if n_members == 1:
        return 0.0
    n_right = is_right.astype(bool).sum(axis=0)
    return float(np.minimum(n_right, n_members - n_right).mean() / (n_members // 2))
