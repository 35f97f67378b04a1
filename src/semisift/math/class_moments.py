"""Means and sums of squares of the labelled rows of each class, for all columns at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from semisift.math.blocks import blocks, dense_columns
from semisift.math.columns import power_of_two


@dataclass(frozen=True, eq=False)
class Moments:
    """The labelled rows of each class, in a unit of each column's own.

    Attributes
    ----------
    counts : int array of shape (n_classes,)
        Rows of each class.
    means : float array of shape (n_classes, p)
    within : float array of shape (n_classes, p)
        Sum of the squared differences from the mean of the class.
    between : float array of shape (p,)
        ``sum_c counts_c (mean_c - mean)^2``.
    """

    counts: NDArray[np.int64]
    means: NDArray[np.float64]
    within: NDArray[np.float64]
    between: NDArray[np.float64]


def units(problem: Any) -> NDArray[np.float64]:
    """Return a power of two near the standard deviation of each column over all rows.

    Scores that do not depend on the unit of a column are computed in this one: squares stay in
    range, and what is negligible is so against columns that vary as much.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    float array of shape (p,)
    """
    first = problem.X[[0]]
    first = first.toarray().ravel() if problem.is_sparse else first[0]
    return power_of_two(np.where(problem.constant, np.abs(first), problem.spread))


def class_moments(problem: Any) -> Moments:
    """Return means and sums of squares of the labelled rows of each class, in `units`.

    Dense and sparse X give the same bits: zeros are counted rather than added, and the other values
    are added one by one in row order. Cost: O(n_labelled p).

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    Moments
    """
    labels, unit = problem.labels, units(problem)
    counts = labels.counts
    means, within = np.empty((2, len(counts), problem.n_features))
    X = problem.X.tocsr() if problem.is_sparse else problem.X
    for code in range(len(counts)):
        rows = X[np.flatnonzero(labels.codes == code)]
        measure = _sparse_moments if problem.is_sparse else _dense_moments
        means[code], within[code] = measure(rows, unit)
    share = counts[:, None] / max(1, counts.sum())
    distance = means - (share * means).sum(axis=0)
    return Moments(counts, means, within, (counts[:, None] * distance**2).sum(axis=0))


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
