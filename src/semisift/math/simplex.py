"""The nearest points with shares that add up to 1."""

import numpy as np
from numpy.typing import NDArray


def project_on_simplex(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each row the nearest one whose entries are not negative and add up to 1.

    Parameters
    ----------
    points : float array of shape (n, k)

    Returns
    -------
    float array of shape (n, k)

    Examples
    --------
    >>> project_on_simplex(np.array([[0.5, 0.8, -0.3]]))
    array([[0.35, 0.65, 0.  ]])
    """
    falling = -np.sort(-points, axis=1)
    excess = np.cumsum(falling, axis=1) - 1.0
    size = np.arange(1, points.shape[1] + 1)
    n_kept = np.count_nonzero(falling * size > excess, axis=1)
    shift = excess[np.arange(len(points)), n_kept - 1] / n_kept
    return np.maximum(points - shift[:, None], 0.0)
