"""Sums over the edges of a graph: kernels/edges.pyx in numpy, up to rounding."""

import numpy as np
from numpy.typing import NDArray

from semisift.parallel import one_blas_thread
from semisift.utils._columns import blocks
from semisift.utils._typing import Floats, Ints

# Differences over so many edges and columns are taken at once, 1 MB.
CACHED_VALUES = 1 << 17


@one_blas_thread()
def column_sums(
    X: NDArray[np.floating],
    rows: Ints,
    factors: Floats,
    degrees: Floats,
    starts: Ints,
    ends: Ints,
    weights: Floats,
) -> Floats:
    """Return the sums of `semisift.utils._graph.EdgeSums` for each column.

    Parameters
    ----------
    X : array of shape (n, p)
    rows : int array of shape (n_nodes,)
        A row of X for each node.
    factors : array of shape (p,)
        What columns are multiplied by.
    degrees : array of shape (n_nodes,)
    starts : int array of shape (n_nodes + 1,)
        Where the edges of each node start.
    ends : int array of shape (n_edges,)
        The other node of each edge.
    weights : array of shape (n_edges,)

    Returns
    -------
    float array of shape (3, p)
    """
    first = np.repeat(np.arange(len(rows)), np.diff(starts))
    values = X[rows] * factors
    mean = degrees @ values / degrees.sum()
    values -= mean
    difference = np.zeros(len(mean))
    for part in blocks(len(weights), len(mean), CACHED_VALUES):
        apart = values[first[part]] - values[ends[part]]
        difference += weights[part] @ apart**2
    return np.stack([difference, degrees @ values**2, mean])
