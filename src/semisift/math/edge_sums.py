"""Sums over the edges of a graph for all columns at once.

With S the weights, D the degrees and f a column, ``f'(D - S)f`` is the sum of the weighted squared
differences over the edges. Dense columns are added up edge by edge, many side by side, so nothing
cancels; for sparse ones it is the column sums of ``X o (D X - S X)``. Where a column has gaps, its
graph is that of the edges whose two rows have the value, with degrees of its own.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from semisift import kernels
from semisift.math import Floats, Ints
from semisift.math.blocks import blocks
from semisift.math.columns import dense_blocks, filled_columns
from semisift.math.graph import Graph

# Dense columns are worked on in blocks of so many values, 8 MB.
BLOCK_VALUES = 1 << 20

# What a sparse product may take: about 200 MB.
PRODUCT_VALUES = 1 << 24

# Over sparse columns a sum over the edges is the difference of two sums of the size of the degrees'
# sum of squares. Below this share of it too many digits are lost, and the column is taken as dense.
CANCELS = 1e-3

# A difference of two sums below this share of them is zero.
NEGLIGIBLE = 1e-14

# Values of a column in its unit are about 1, so a variance below this share of the degrees is what
# rounding leaves of zero.
NO_VARIANCE = 1e-26


class EdgeSums(NamedTuple):
    """Sums for each column.

    Attributes
    ----------
    difference : float array of shape (p,)
        Weighted squared differences over the edges, ``f'(D - S)f``.
    variance : float array of shape (p,)
        Squared deviations from the mean, weighted by the degrees.
    mean : float array of shape (p,)
        Mean weighted by the degrees.
    volume : float array of shape (p,)
        Sum of the degrees.
    """

    difference: Floats
    variance: Floats
    mean: Floats
    volume: Floats


def edge_sums(
    X: Any,
    graph: Graph,
    unit: Floats,
    *,
    has_gaps: bool = False,
    more: Callable[[slice], Floats] | None = None,
) -> EdgeSums:
    """Return the sums of all columns.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    graph : Graph
        On the rows of `X`.
    unit : float array of shape (p,)
        Each column is divided by it first, so that nothing overflows.
    has_gaps : bool
        Whether `X` is dense and has gaps.
    more : callable, optional
        Where there are gaps: given some columns, what is added to the degrees of the nodes in each
        of them.

    Returns
    -------
    EdgeSums
        Of the columns in their units.
    """
    if has_gaps:
        return _sums_of_known(X, graph, unit, more)
    p = X.shape[1]
    sums = np.zeros((3, p))
    degrees = graph.degrees
    volume = degrees.sum()
    if not volume > 0:
        return EdgeSums(sums[0], sums[1], sums[2], np.zeros(p))
    factors = 1 / unit
    dense = filled_columns(X)
    if issparse(X):
        # the squared mean must not cancel most of what it is taken from
        at = degrees / graph.counts
        held = np.add.reduceat(np.append(at[graph.node][X.indices], 0.0), X.indptr[:-1])
        held[np.diff(X.indptr) == 0] = 0.0
        dense |= held > volume / 2
    if not dense.all():
        dense[_add_sparse(sums, X, np.flatnonzero(~dense), graph, factors)] = True
    for columns, block in dense_blocks(X, np.flatnonzero(dense), BLOCK_VALUES):
        edges = graph.starts, graph.second, graph.weights
        sums[:, columns] = kernels.edges.column_sums(
            block, graph.rows, factors[columns], degrees, *edges
        )
    return EdgeSums(sums[0], sums[1], sums[2], np.full(p, volume))


def _sums_of_known(
    X: Any, graph: Graph, unit: Floats, more: Callable[[slice], Floats] | None
) -> EdgeSums:
    sums = np.zeros((4, X.shape[1]))
    for columns in blocks(X.shape[1], max(len(graph.weights), len(graph.rows)), BLOCK_VALUES):
        values = X[:, columns][graph.rows] / unit[columns]
        known = (~np.isnan(values)).astype(np.float64)
        between = graph.upper @ known + graph.upper.T @ known
        added = graph.within[:, None] if more is None else graph.within[:, None] + more(columns)
        degrees = known * (between + added)
        apart = np.nan_to_num(values[graph.first] - values[graph.second])
        volume = degrees.sum(axis=0)
        values = np.nan_to_num(values)
        mean = (degrees * values).sum(axis=0) / np.where(volume > 0, volume, 1.0)
        variance = (degrees * (values - mean) ** 2).sum(axis=0)
        sums[:, columns] = graph.weights @ apart**2, variance, mean, volume
    return EdgeSums(*sums)


def _add_sparse(sums: Floats, X: Any, rest: Ints, graph: Graph, factors: Floats) -> Ints:
    """Add the columns that are sparse, centred only in effect; return those that lose digits."""
    degrees, volume = graph.degrees, graph.degrees.sum()
    # a product has at most as many entries as the edges meet values
    share = len(graph.weights) * X[:, rest].nnz / max(1, X.shape[0])
    width = max(1, int(len(rest) * PRODUCT_VALUES / max(PRODUCT_VALUES, share)))
    lost = []
    for start in range(0, len(rest), width):
        columns = rest[start : start + width]
        part = X[:, columns].tocsr()[graph.rows].astype(np.float64)
        part.data *= factors[columns][part.indices]
        squares = csr_array((part.data**2, part.indices, part.indptr), shape=part.shape)
        inner = 2.0 * np.asarray((graph.upper @ part).multiply(part).sum(axis=0)).ravel()
        mean = degrees @ part / volume
        squared = degrees @ squares
        difference = graph.between @ squares - inner
        lost.append(columns[difference < CANCELS * squared])
        variance = squared - volume * mean**2
        variance[variance <= NEGLIGIBLE * squared] = 0.0
        sums[:, columns] = difference, variance, mean
    return np.concatenate(lost)
