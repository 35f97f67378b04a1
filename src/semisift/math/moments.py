"""Means and sums of squares of all columns at once, with the same bits dense and sparse."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from semisift.math.blocks import blocks, dense_columns


def column_moments(
    X: Any, unit: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean of each column and its sum of squares around it, in a unit.

    Parameters
    ----------
    X : array or sparse array of shape (n, p)
    unit : float array of shape (p,)

    Returns
    -------
    means, squares : float arrays of shape (p,)
    """
    return _sparse_moments(X.tocsr(), unit) if issparse(X) else _dense_moments(X, unit)


def _dense_moments(
    X: NDArray[np.floating], unit: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    means, squares = np.empty((2, X.shape[1]))
    for columns in blocks(X.shape[1], len(X)):
        values = dense_columns(X, columns)
        is_zero = values == 0
        values /= unit[columns]
        mean = np.cumsum(values, axis=0)[-1] / len(X)
        values -= mean
        np.square(values, out=values)
        np.copyto(values, 0.0, where=is_zero)
        means[columns] = mean
        squares[columns] = np.cumsum(values, axis=0)[-1]
        squares[columns] += np.count_nonzero(is_zero, axis=0) * mean**2
    return means, squares


def _sparse_moments(
    X: csr_array, unit: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    n_rows, n_columns = X.shape
    values = X.data / unit[X.indices]
    means = np.bincount(X.indices, values, n_columns) / n_rows
    squares = np.bincount(X.indices, (values - means[X.indices]) ** 2, n_columns)
    n_zeros = n_rows - np.bincount(X.indices, minlength=n_columns)
    return means, squares + n_zeros * means**2
