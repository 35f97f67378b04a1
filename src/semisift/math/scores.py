"""Formulas that more than one method uses, for all columns at once."""

import numpy as np
from numpy.typing import NDArray

# A denominator below this share of the largest one is zero: what is left of it is rounding.
NEGLIGIBLE = 1e-12


def ratio(
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64],
    negligible: float | None = None,
) -> NDArray[np.float64]:
    """Divide; where the denominator vanishes, infinity or, if both do, NaN.

    Parameters
    ----------
    numerator, denominator : float arrays of shape (..., p)
        Not negative.
    negligible : float, optional
        What vanishes is not above it; else what is tiny against the largest along the last axis.

    Returns
    -------
    float array of shape (..., p)
    """
    below = NEGLIGIBLE * _largest(denominator) if negligible is None else negligible
    is_zero = ~(denominator > below)
    scores = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=scores, where=~is_zero)
    below = NEGLIGIBLE * _largest(numerator) if negligible is None else negligible
    scores[is_zero & (numerator > below)] = np.inf
    return scores


def _largest(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.max(values, axis=-1, initial=0.0, where=np.isfinite(values), keepdims=True)
