"""What a stability measured with few labels becomes with more of them.

The stability s with n labels is taken to follow

    log(s / (1 - s)) = a + b log(n / N)        N labels are there, b > 0

With b = 1 this is the formula of Spearman and Brown for a test that is made n times as long; rankers
that use unlabelled rows rise faster or slower. A value measured with n labels is taken to vary about
s(n) with the variance

    NOISE^2 s (1 - s) 2 n / N + FLOOR^2

as N / (2 n) pairs of rankings share no label. Values of several sizes come from the same labels, so
they count together as `COUNTED` of each would. a and b have normal priors, and what is expected and
its interval are quantiles of the posterior, summed up on a grid. The priors and the three numbers
were chosen on one half of the sets of benchmarks/learning_curve.py, which shows what the intervals
hold on the other.

C. Spearman (1910). Correlation calculated from faulty data. W. Brown (1910). Some experimental
results in the correlation of mental abilities. British Journal of Psychology 3.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from semisift.math import Floats

# The chance that an interval holds the stability.
LEVEL = 0.8

# Mean and standard deviation of the priors: of a, and of the logarithm of b.
START = (-0.5, 2.0)
SLOPE = (0.0, 0.5)

NOISE, FLOOR, COUNTED = 0.5, 0.03, 0.5

# Where the posterior is summed up.
STARTS = np.linspace(-8.0, 8.0, 161)
SLOPES = np.exp(np.linspace(-1.6, 1.6, 33))


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
    >>> found = extrapolate(np.array([10.0, 5.0]), np.array([0.5, 0.33]), 20.0, 40.0)
    >>> [round(value, 1) for value in found]
    [0.8, 0.6, 0.9]
    """
    a, b = np.meshgrid(STARTS, SLOPES, indexing="ij")
    log_posterior = -0.5 * ((a - START[0]) / START[1]) ** 2
    log_posterior -= 0.5 * ((np.log(b) - SLOPE[0]) / SLOPE[1]) ** 2
    for size, value in zip(sizes, values, strict=True):
        stable = expit(a + b * np.log(size / n_now))
        variance = NOISE**2 * stable * (1 - stable) * 2 * size / n_now + FLOOR**2
        log_posterior -= COUNTED / 2 * ((value - stable) ** 2 / variance + np.log(variance))
    weights = np.exp(log_posterior - log_posterior.max()).ravel()
    stable = expit(a + b * np.log(at / n_now)).ravel()
    order = np.argsort(stable, kind="stable")
    share = np.cumsum(weights[order]) / weights.sum()
    tail = (1 - LEVEL) / 2
    low, middle, high = np.interp([tail, 0.5, 1 - tail], share, stable[order])
    return Expected(float(middle), float(low), float(high))
