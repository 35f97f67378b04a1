"""The constrained Laplacian score of one matrix: what CLS and the members of EnsCLS share.

Four sums for each column f, over ordered pairs of rows::

    neighbours    sum over unlabelled neighbours i, j of S_ij (f_i - f_j)^2
    must-links    sum over must-link pairs i, j of       S_ij (f_i - f_j)^2
    cannot-links  sum over cannot-link pairs i, j of     D_i (f_i - f_j)^2
    variance      sum over unlabelled rows i of          D_i (f_i - mean)^2

with S the weights of `semisift.math.cls_weights` and D_i their sum at row i. The score is the first
two over the other two; low is good.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.math.blocks import blocks, dense_columns
from semisift.math.class_moments import column_moments
from semisift.math.cls_weights import Options, Weights, weigh
from semisift.math.constraints import Constraints
from semisift.math.edge_sums import edge_sums
from semisift.math.scores import ratio
from semisift.math.threads import one_blas_thread

# Place in the totals of `Parts`.
N_CANNOT_LINKS = 3


class Parts(NamedTuple):
    """The sums of the score.

    Attributes
    ----------
    sums : float array of shape (4, p)
        Neighbours, must-links, cannot-links and variance, each column in its unit.
    totals : float array of shape (5,)
        The weights at unlabelled rows, of must-links and of cannot-links; the number of
        cannot-links; the largest weight of an edge.
    """

    sums: NDArray[np.float64]
    totals: NDArray[np.float64]


@one_blas_thread()
def cls_parts(
    X: Any,
    unlabelled: NDArray[np.integer],
    constraints: Constraints,
    options: Options,
    unit: NDArray[np.float64],
) -> tuple[Parts, Weights]:
    """Add up the parts of the score for all columns.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    unlabelled : int array
        The rows that the neighbour graph is built on.
    constraints : Constraints
        The other rows and their pairs.
    options : Options
    unit : float array of shape (p,)
        Each column is divided by it first, so that squares stay in range.

    Returns
    -------
    Parts, Weights
    """
    moments = column_moments(X, unit)
    weights = weigh(X, unlabelled, constraints, options, moments, unit)
    graph, degrees = weights.graph, weights.degrees
    around = edge_sums(X[unlabelled], graph, unit)
    volume = float(graph.degrees.sum())
    must_link, cannot_link = weights.must_link, weights.pairs.cannot_link_sums(degrees)

    mean = moments[0]
    if options.mean == "D" and volume + degrees.sum() > 0:
        held_mean = _weighted_sums(X[constraints.rows], degrees, unit)
        mean = (volume * around.mean + held_mean) / (volume + degrees.sum())
    variance = around.variance + volume * (around.mean - mean) ** 2
    sums = [2 * around.difference, 2 * must_link.sums, cannot_link.sums, variance]
    totals = [volume, must_link.total, cannot_link.total, cannot_link.number, weights.largest]
    return Parts(np.array(sums), np.array(totals)), weights


def _weighted_sums(
    X: Any, weights: NDArray[np.float64], unit: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add up the rows, each as often as its weight says, in the unit of each column."""
    sums = np.zeros(X.shape[1])
    for columns in blocks(X.shape[1], max(1, X.shape[0])):
        sums[columns] = weights @ (dense_columns(X, columns) / unit[columns])
    return sums


def combine(
    sums: NDArray[np.float64], totals: NDArray[np.float64], balance: float | None = None
) -> NDArray[np.float64]:
    """Divide the parts of the score; low is good.

    Parameters
    ----------
    sums : float array of shape (..., 4, p)
    totals : float array of shape (..., 5)
    balance : float or None
        None adds the parts as they are. A number divides each by its total weight first, and
        multiplies the pairs by it.

    Returns
    -------
    float array of shape (..., p)
    """
    neighbours, must, cannot, variance = np.moveaxis(sums, -2, 0)
    if balance is None:
        return ratio(neighbours + must, variance + cannot)
    tiny = np.finfo(np.float64).tiny
    scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals >= tiny)
    each_row, each_must, each_cannot = np.moveaxis(scale, -1, 0)[:3, ..., None]
    return ratio(
        neighbours * each_row + balance * must * each_must,
        variance * each_row + balance * cannot * each_cannot,
    )
