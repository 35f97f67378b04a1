"""Sums over the edges of a graph for all columns at once.

With S the weights, D the degrees and f a column, ``f'(D - S)f`` is the sum of the weighted squared
differences over the edges, and the column sums of ``X o (D X - S X)`` give it for all columns.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from semisift.math.columns import dense_blocks, filled_columns
from semisift.math.graph import Graph
from semisift.math.threads import one_blas_thread

# Columns are worked on in blocks of so many values, 1 MB: they are read several times.
BLOCK_VALUES = 1 << 17

# What a sparse product may take: about 200 MB.
PRODUCT_VALUES = 1 << 24

# A sum over the edges is the difference of two sums of the size of the degrees' sum of squares.
# Below this share of it too many digits are lost, and differences are taken edge by edge.
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
    """

    difference: NDArray[np.float64]
    variance: NDArray[np.float64]
    mean: NDArray[np.float64]


@one_blas_thread()
def edge_sums(X: Any, graph: Graph, unit: NDArray[np.float64]) -> EdgeSums:
    """Return the sums of all columns.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    graph : Graph
        On the rows of `X`.
    unit : float array of shape (p,)
        Each column is divided by it first, so that nothing overflows.

    Returns
    -------
    EdgeSums
        Of the columns in their units.
    """
    p = X.shape[1]
    sums = EdgeSums(np.zeros(p), np.zeros(p), np.zeros(p))
    degrees = graph.degrees
    volume = degrees.sum()
    if not volume > 0:
        return sums
    rows = None if len(graph.rows) == X.shape[0] else graph.rows
    factors = 1 / unit
    dense = filled_columns(X)
    if issparse(X):
        # the squared mean must not cancel most of what it is taken from
        at = degrees / graph.counts
        held = np.add.reduceat(np.append(at[graph.node][X.indices], 0.0), X.indptr[:-1])
        held[np.diff(X.indptr) == 0] = 0.0
        dense |= held > volume / 2
    both = np.stack([degrees, graph.between])
    half = graph.upper
    for columns, block in dense_blocks(X, np.flatnonzero(dense), rows, BLOCK_VALUES):
        block *= factors[columns]
        mean = degrees @ block / volume
        block -= mean
        inner = 2.0 * np.einsum("ij,ij->j", half @ block, block)
        squares, between = both @ (block * block)
        difference = between - inner
        lost = np.flatnonzero(difference < CANCELS * squares)
        difference[lost] = _edge_by_edge(block[:, lost], half)
        sums.difference[columns], sums.variance[columns] = difference, squares
        sums.mean[columns] = mean
    if not dense.all():
        _add_sparse(sums, X, np.flatnonzero(~dense), graph, rows, factors)
    return sums


def _add_sparse(
    sums: EdgeSums,
    X: Any,
    rest: NDArray[np.int64],
    graph: Graph,
    rows: NDArray[np.int64] | None,
    factors: NDArray[np.float64],
) -> None:
    """Add the columns that are sparse, centred only in effect."""
    degrees, volume = graph.degrees, graph.degrees.sum()
    # a product has at most as many entries as the edges meet values
    share = graph.upper.nnz * X[:, rest].nnz / max(1, X.shape[0])
    width = max(1, int(len(rest) * PRODUCT_VALUES / max(PRODUCT_VALUES, share)))
    for start in range(0, len(rest), width):
        columns = rest[start : start + width]
        part = X[:, columns].tocsr()
        part = (part if rows is None else part[rows]).astype(np.float64)
        part.data *= factors[columns][part.indices]
        squares = csr_array((part.data**2, part.indices, part.indptr), shape=part.shape)
        inner = 2.0 * np.asarray((graph.upper @ part).multiply(part).sum(axis=0)).ravel()
        mean = degrees @ part / volume
        squared = degrees @ squares
        difference = graph.between @ squares - inner
        for lost in np.array_split(
            np.flatnonzero(difference < CANCELS * squared),
            1 + len(columns) * part.shape[0] // BLOCK_VALUES,
        ):
            difference[lost] = _edge_by_edge(part[:, lost].toarray(), graph.upper)
        variance = squared - volume * mean**2
        variance[variance <= NEGLIGIBLE * squared] = 0.0
        sums.difference[columns], sums.variance[columns] = difference, variance
        sums.mean[columns] = mean


def _edge_by_edge(block: NDArray[np.float64], half: csr_array) -> NDArray[np.float64]:
    """Return the weighted squared differences over the edges, nothing lost to cancellation."""
    total = np.zeros(block.shape[1])
    if not block.shape[1]:
        return total
    origin = np.repeat(np.arange(half.shape[0]), np.diff(half.indptr))
    height = max(1, PRODUCT_VALUES // block.shape[1])
    for start in range(0, half.nnz, height):
        part = slice(start, start + height)
        total += half.data[part] @ (block[origin[part]] - block[half.indices[part]]) ** 2
    return total
