"""The columns of X as the other functions read them: kernels/columns.pyx in numpy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.utils._columns import blocks, dense_columns


class Columns:
    """An array or a CSC matrix; with `has_missing`, NaN in an array is a missing value."""

    def __init__(self, X: Any, has_missing: bool = False) -> None:
        self.X = X
        self.n_features = X.shape[1]
        self.has_missing = has_missing and not issparse(X)


def extremes(X: Columns) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return the least and the largest value of each column; not finite if another one is not."""
    low, high = X.X.min(axis=0), X.X.max(axis=0)
    return (low.toarray().ravel(), high.toarray().ravel()) if issparse(X.X) else (low, high)


def moments(
    X: Columns, unit: NDArray[np.float64], rows: NDArray[np.int32] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean of each column of a dense array and its sum of squares around it, in a unit.

    Parameters
    ----------
    X : Columns
    unit : array of shape (n_features,)
    rows : array, optional
        Some of the rows; else all of them.

    Returns
    -------
    means, squares : ndarrays of shape (n_features,)
    """
    some = X.X if rows is None else X.X[rows]
    means, squares = np.empty((2, X.n_features))
    for columns in blocks(X.n_features, len(some)):
        values = dense_columns(some, columns)
        is_zero = values == 0
        values /= unit[columns]
        mean = np.cumsum(values, axis=0)[-1] / len(some)
        values -= mean
        np.square(values, out=values)
        np.copyto(values, 0.0, where=is_zero)
        means[columns] = mean
        squares[columns] = np.cumsum(values, axis=0)[-1]
        squares[columns] += np.count_nonzero(is_zero, axis=0) * mean**2
    return means, squares
