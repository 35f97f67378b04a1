"""What a stability measured with few labels becomes with more of them.

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
"""

from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit

from semisift.math import Floats

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
