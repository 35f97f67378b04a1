"""Means and sums of squares of the labelled rows of each class, for all columns at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from semisift._problem import Problem
from semisift.math.columns import power_of_two
from semisift.math.moments import column_moments


@dataclass(frozen=True, eq=False)
class ClassMoments:
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


def units(problem: Problem) -> NDArray[np.float64]:
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


def class_moments(problem: Problem) -> ClassMoments:
    """Return means and sums of squares of the labelled rows of each class, in `units`.

    Dense and sparse X give the same bits: zeros are counted rather than added, and the other values
    are added one by one in row order. Cost: O(n_labelled p).

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    ClassMoments
    """
    labels, unit = problem.labels, units(problem)
    counts = labels.counts
    means, within = np.empty((2, len(counts), problem.n_features))
    X = problem.X.tocsr() if problem.is_sparse else problem.X
    for code in range(len(counts)):
        rows = X[np.flatnonzero(labels.codes == code)]
        means[code], within[code] = column_moments(rows, unit)
    share = counts[:, None] / max(1, counts.sum())
    distance = means - (share * means).sum(axis=0)
    return ClassMoments(counts, means, within, (counts[:, None] * distance**2).sum(axis=0))
