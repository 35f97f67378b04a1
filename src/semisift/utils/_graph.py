"""Neighbour graphs on rows, and the heat that weighs their edges.

Sums over the edges of a graph for all columns at once.

With S the weights, D the degrees and f a column, ``f'(D - S)f`` is the sum of the weighted squared
differences over the edges. Dense columns are added up edge by edge, many side by side, so nothing
cancels; for sparse ones it is the column sums of ``X o (D X - S X)``. Where a column has missing
values, its graph is that of the edges whose two rows have the value, with degrees of its own.

Graphs that the user gives: a matrix of weights, or a transformer that finds neighbours.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse, triu
from sklearn.base import clone

from semisift import _kernels
from semisift.parallel import one_blas_thread
from semisift.utils._columns import (
    BLOCK_VALUES,
    blocks,
    check_structure,
    column_factors,
    dense_blocks,
    filled_columns,
)
from semisift.utils._neighbors import Edges, MeasuredRows, RowsWithMissing, distinct_rows, nearest
from semisift.utils._typing import Floats, Ints


@dataclass(frozen=True)
class GraphOptions:
    """How a neighbour graph is made.

    Attributes
    ----------
    n_neighbors : int
        At most the number of other rows is used.
    symmetry : {"mean", "union"}
        An edge has the mean, or the larger, of the shares that its two ends give it.
    weights : {"heat", "binary"}
        ``exp(-d2 / (heat_constant * scale))``, or 1.
    feature_scaling : {None, "minmax", "standard"}
        ``"minmax"`` measures distances after each column was scaled to [0, 1], as the mean of the
        squared differences over the columns; ``"standard"`` after it was divided by its standard
        deviation.
    heat_scale : {"mean", "median", "raw"}
        The scale: the mean squared distance between two rows, the median over the edges between
        different rows, or 1.
    heat_constant : float
    shift : bool
        Multiply all weights so that the largest is 1: right wherever a score does not depend on
        the scale of the weights, and then nothing vanishes.
    """

    n_neighbors: int = 10
    symmetry: Literal["mean", "union"] = "mean"
    weights: Literal["heat", "binary"] = "heat"
    feature_scaling: Literal["minmax", "standard"] | None = None
    heat_scale: Literal["mean", "median", "raw"] = "mean"
    heat_constant: float = 1.0
    shift: bool = True


@dataclass(frozen=True, eq=False)
class Graph:
    """A weighted graph on nodes that represent identical rows.

    Attributes
    ----------
    first, second : int arrays of shape (n_edges,)
        The nodes of each edge, which is there once: the first is before the second. Edges are in
        the order of their first nodes.
    weights : float array of shape (n_edges,)
        The sum over the rows of the two nodes.
    rows : int array of shape (n_nodes,)
        A row of the matrix for each node.
    node : int array of shape (n_rows,)
        The node of each row.
    within : float array of shape (n_nodes,)
        Twice the weight of the edges among the rows of a node: it counts for degrees alone, since
        such rows do not differ.
    heat : float or None
        Squared distance at which a weight falls to 1/e, in the unit that `column_factors` measures
        in; None where weights do not come from distances.
    lowest : float
        Squared distance at which a weight is 1, in `heat`: not 0 if the weights were shifted.
    few_edges : float or None
        Where heat leaves few edges that count, so many edges of equal weight are as uneven.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weights: Floats
    rows: NDArray[np.int64]
    node: NDArray[np.int64]
    within: Floats
    heat: float | None = None
    lowest: float = 0.0
    few_edges: float | None = None

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the edges of each node start, with the end as last entry."""
        return np.searchsorted(self.first, np.arange(len(self.rows) + 1))

    @cached_property
    def upper(self) -> csr_array:
        """The weights as a matrix, above its diagonal."""
        n = len(self.rows)
        return csr_array((self.weights, self.second, self.starts), shape=(n, n))

    @cached_property
    def between(self) -> Floats:
        """Sum of the weights between each node and the others."""
        ends = np.concatenate([self.first, self.second])
        return np.bincount(ends, np.tile(self.weights, 2), len(self.rows)).astype(np.float64)

    @cached_property
    def degrees(self) -> Floats:
        """Sum of the weights at each node."""
        return self.between + self.within

    @cached_property
    def counts(self) -> Ints:
        """Number of rows of each node."""
        return np.bincount(self.node, minlength=len(self.rows))

    @cached_property
    def n_edges(self) -> float:
        """Sum of the weights of all edges between two rows: their number, if weights are 1."""
        return float(self.degrees.sum() / 2)

    @cached_property
    def effective_edges(self) -> float:
        """How many edges of equal weight would be as spread out: ``(sum w)^2 / sum w^2``.

        The sums are over pairs of rows; an edge of two nodes is many pairs.
        """
        counts = self.counts
        total = 2 * self.weights.sum() + self.within.sum()
        pairs = counts[self.first] * counts[self.second]
        squares = 2 * float((self.weights**2 / pairs).sum())
        several = counts > 1
        squares += float((self.within[several] ** 2 / (counts * (counts - 1.0))[several]).sum())
        return float(total**2 / (2 * squares)) if squares > 0 else 0.0

    def split(self, groups: Ints) -> tuple["Graph", Ints]:
        """Split nodes so that the rows of each belong to one group.

        Parameters
        ----------
        groups : int array of shape (n_rows,)

        Returns
        -------
        graph : Graph
            The same graph on the finer nodes.
        group : int array
            The group of each of its nodes.
        """
        key = np.column_stack([self.node, groups])
        parts, first, node = np.unique(key, axis=0, return_index=True, return_inverse=True)
        node, parent = node.ravel(), parts[:, 0]
        counts = np.bincount(node, minlength=len(parts))
        shares = counts / self.counts[parent], parent, np.arange(len(parts) + 1)
        share = csr_array(shares, shape=(len(parts), len(self.rows)))
        upper = (share @ self.upper @ share.T).tocsr()  # the parts are in the order of the nodes
        # each of the pairs of rows of one node has the same part of what is within it
        pairs = self.counts * (self.counts - 1.0)
        each = np.divide(self.within, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
        within = counts * (counts - 1.0) * each[parent]
        alone = self.counts[parent] == 1  # a diagonal that the user gave
        within[alone] = self.within[parent][alone]
        torn = np.flatnonzero(np.bincount(parent, minlength=len(self.rows))[parent] > 1)
        if len(torn):
            at = torn, parent[torn]
            same = csr_array((np.ones(len(torn)), at), shape=share.shape)
            sides = csr_array((counts[torn] * each[parent[torn]], at), shape=same.shape)
            between = (sides @ same.T).multiply(counts[None, :])
            upper = upper + triu(between, k=1, format="csr")
        graph = Graph(*edges_of(upper), first, node, within, self.heat, self.lowest)
        return graph, parts[:, 1]


def edges_of(upper: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return the nodes and weights of the edges of a graph from a matrix without a lower half."""
    upper = upper.tocsr()
    first = np.repeat(np.arange(upper.shape[0]), np.diff(upper.indptr))
    return first, upper.indices.astype(np.int64), upper.data


@one_blas_thread()
def neighbour_graph(
    X: Any, options: GraphOptions, width: Floats | None = None, *, has_missing: bool = False
) -> Graph:
    """Make the graph of the nearest neighbours of each row.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    options : GraphOptions
    width : float array of shape (p,), optional
        What scaling divides each column by: the difference between its extremes, if it is not
        given. It must be where there are missing values.
    has_missing : bool
        Whether `X` is dense and has missing values.

    Returns
    -------
    Graph
    """
    factors, unit = column_factors(X, options.feature_scaling, width)
    edges = nearest_edges(X, options, factors, has_missing=has_missing)
    return weighted_graph(*edges, unit, options)


def nearest_edges(
    X: Any, options: GraphOptions, factors: Floats, *, has_missing: bool = False
) -> tuple[Edges, NDArray[np.int64], NDArray[np.int64], Floats, float]:
    """Return the symmetric edges, `rows`, `node` and `within` of a graph, and the mean distance.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    options : GraphOptions
    factors : float array of shape (p,)
        What columns are multiplied by to measure distances, squared in what is returned.
    has_missing : bool
        Whether `X` is dense and has missing values. The mean distance is then the sum over the
        columns of that of the values that are there.
    """
    n = X.shape[0]
    k = min(options.n_neighbors, n - 1)
    if k < 1:
        none, nodes = np.empty(0), np.arange(n)
        return Edges(nodes[:0], nodes[:0], none, none), nodes, nodes, np.zeros(n), 0.0
    rows, node = (np.arange(n), np.arange(n)) if has_missing else distinct_rows(X)
    counts = np.bincount(node, minlength=len(rows))
    measured = (
        RowsWithMissing(X, factors) if has_missing else MeasuredRows(X, rows, counts, factors)
    )
    edges = symmetrise(nearest(measured, k), len(rows), options.symmetry)
    # what the rows of a node give to each other, at distance 0
    within = counts * np.minimum(k, counts - 1.0)
    return edges, rows, node, within, measured.mean_d2


def symmetrise(edges: Edges, n_nodes: int, symmetry: str) -> Edges:
    """Return each edge once, with the mean or the larger of the shares of its two directions.

    The first node of an edge is before the second, and the edges are in the order of their nodes.
    """
    ends = edges.first, edges.second
    key = np.minimum(*ends) * n_nodes + np.maximum(*ends)
    order = np.argsort(key)
    key = key[order]
    if not len(key):
        return edges
    starts = np.append(0, 1 + np.flatnonzero(key[1:] != key[:-1]))
    join, parts = (np.add, 2) if symmetry == "mean" else (np.maximum, 1)
    share = join.reduceat(edges.share[order], starts) / parts
    # the two directions of an edge may differ in the last digit
    d2 = np.minimum.reduceat(edges.d2[order], starts)
    first, second = np.divmod(key[starts], n_nodes)
    return Edges(first, second, d2, share)


def weighted_graph(
    edges: Edges,
    rows: NDArray[np.int64],
    node: NDArray[np.int64],
    within: Floats,
    mean_d2: float,
    unit: float,
    options: GraphOptions,
) -> Graph:
    """Make a graph of symmetric edges; `unit` is the length in which distances are measured."""
    ends = edges.first, edges.second
    if options.weights == "binary" or not len(edges.d2):
        return Graph(*ends, edges.share, rows, node, within)
    scale = heat_scale(edges, mean_d2, unit, options.heat_scale)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        heat = options.heat_constant * scale
        exponent = np.where(edges.d2 > 0, edges.d2 / heat, 0.0)
    if np.exp(-exponent.min()) == 0.0:
        raise ValueError(
            "Every weight of the neighbour graph vanished: the smallest squared distance is "
            f"{exponent.min():.3g} times the heat constant, and exp(-746) is 0. {cure(options)}"
        )
    lowest = float(exponent.min()) if options.shift and not within.any() else 0.0
    weights = edges.share * np.exp(lowest - exponent)
    graph = Graph(*ends, weights, rows, node, within, heat, lowest)
    return replace(graph, few_edges=few_edges(graph, edges.share))


def few_edges(graph: Graph, shares: Floats) -> float | None:
    """Return how many edges of equal weight are as uneven, where heat leaves few; else None.

    Parameters
    ----------
    graph : Graph
    shares : array of shape (n_edges,)
        Its weights without heat.
    """
    plain, found = replace(graph, weights=shares).effective_edges, graph.effective_edges
    return found if found < min(float(len(graph.node)), plain / 2) else None


def heat_scale(
    edges: Edges, mean_d2: float, unit: float, kind: str, no_median: float = 1.0
) -> float:
    """Return the squared distance that heat weights are measured in; 1 if all distances are 0.

    The median over edges that all join identical rows is `no_median`.
    """
    if kind == "raw":
        with np.errstate(over="ignore", divide="ignore", under="ignore"):
            return float(np.divide(1.0, np.float64(unit) ** 2))
    is_median = kind == "median"
    scale = (weighted_median(edges.d2, edges.share) or no_median) if is_median else mean_d2
    return scale if scale > 0 else 1.0


def weighted_median(values: Floats, weights: Floats) -> float:
    """Return the median of positive values, each counted by its weight; 0 if there is none."""
    order = np.argsort(values, kind="stable")
    order = order[values[order] > 0]
    if not len(order):
        return 0.0
    below = np.cumsum(weights[order])
    half = below[-1] / 2
    low = np.searchsorted(below, half * (1 - 1e-12))
    high = np.searchsorted(below, half * (1 + 1e-12), side="right")
    return float(values[order[low]] + values[order[min(high, len(order) - 1)]]) / 2


def cure(options: GraphOptions) -> str:
    """Say which of the options mends heat weights that are too uneven."""
    if options.heat_scale == "raw":
        now = f"now 'raw', with heat_constant={options.heat_constant}"
        return f"Set heat_scale='mean' ({now}): the constant is then in mean squared distances."
    if options.heat_constant < 1:
        return f"Set heat_constant=1 (now {options.heat_constant})."
    return "Set weights='binary'."


# --- edge sums ------------------------------------------------------------------------------------


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
    has_missing: bool = False,
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
    has_missing : bool
        Whether `X` is dense and has missing values.
    more : callable, optional
        Where there are missing values: given some columns, what is added to the degrees of the
        nodes in each of them.

    Returns
    -------
    EdgeSums
        Of the columns in their units.
    """
    if has_missing:
        return _sums_of_known(X, graph, unit, more)
    sums = np.zeros((4, X.shape[1]))
    degrees = graph.degrees
    volume = degrees.sum()
    if not volume > 0:
        return EdgeSums(*sums)
    sums[3], factors = volume, 1 / unit
    dense = filled_columns(X)
    if issparse(X):
        # the squared mean must not cancel most of what it is taken from
        at = degrees / graph.counts
        share = np.add.reduceat(np.append(at[graph.node][X.indices], 0.0), X.indptr[:-1])
        share[np.diff(X.indptr) == 0] = 0.0
        dense |= share > volume / 2
    if not dense.all():
        dense[_add_sparse(sums, X, np.flatnonzero(~dense), graph, factors)] = True
    for columns, block in dense_blocks(X, np.flatnonzero(dense), BLOCK_VALUES):
        edges = graph.starts, graph.second, graph.weights
        sums[:3, columns] = _kernels.edges.column_sums(
            block, graph.rows, factors[columns], degrees, *edges
        )
    return EdgeSums(*sums)


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
        sums[:3, columns] = difference, variance, mean
    return np.concatenate(lost)


# --- given graph ----------------------------------------------------------------------------------


def given_graph(given: Any, X: Any, options: GraphOptions, width: Floats | None = None) -> Graph:
    """Make a graph from what the user gave for the parameter `graph`.

    Parameters
    ----------
    given : array, sparse matrix or transformer
        Weights between all rows, or an object whose ``fit_transform(X)`` returns a sparse matrix
        of distances (or of weights, if its `mode` is "connectivity").
    X : array or csc_array of shape (n, p)
    options : GraphOptions
        Of a matrix of distances, all but the number of neighbours; of weights, nothing.
    width : float array of shape (p,), optional
        What scaling divides each column by.

    Returns
    -------
    Graph
    """
    if not hasattr(given, "fit_transform"):
        return graph_of_weights(given, X.shape[0])
    transformer = clone(given, safe=False)
    factors, _ = column_factors(X, options.feature_scaling, width)
    if options.feature_scaling is not None:
        X = X.multiply(factors[None, :]).tocsr() if issparse(X) else X * factors
    found = transformer.fit_transform(X.tocsr() if issparse(X) else X)
    found = _check(found, X.shape[0], f"What {type(given).__name__} returned")
    if getattr(transformer, "mode", "distance") == "connectivity":
        return graph_of_weights(found - diags_array(found.diagonal()), X.shape[0])
    n = X.shape[0]
    first = np.repeat(np.arange(n), np.diff(found.indptr))
    apart = first != found.indices  # distances of 0 to other rows are edges
    d2 = found.data[apart] ** 2
    edges = Edges(first[apart], found.indices[apart].astype(np.int64), d2, np.ones(len(d2)))
    edges = symmetrise(edges, n, options.symmetry)
    own_space = getattr(transformer, "effective_metric_", None) == "euclidean"
    mean_d2 = mean_squared_distance(X) if own_space else float(d2.mean()) if len(d2) else 0.0
    nodes = np.arange(n)
    return weighted_graph(edges, nodes, nodes, np.zeros(n), mean_d2, 1.0, options)


def graph_of_weights(given: Any, n_rows: int) -> Graph:
    """Make a graph of given weights, averaged with their transpose; a diagonal adds to degrees."""
    weights = _check(given, n_rows, "graph")
    weights = ((weights + weights.T) / 2).tocsr()
    within = weights.diagonal()
    nodes = np.arange(n_rows)
    return Graph(*edges_of(triu(weights, k=1)), nodes, nodes, within)


def mean_squared_distance(X: Any) -> float:
    """Return the mean over all pairs of rows, from the variances of the columns."""
    n = X.shape[0]
    if issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        variances = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    else:
        variances = X.var(axis=0, dtype=np.float64)
    return float(2 * n / max(1, n - 1) * max(0.0, variances.sum()))


def _check(given: Any, n_rows: int, name: str) -> csr_array:
    """Return a matrix of finite numbers, none negative, for each pair of rows."""
    check_structure(given, name)
    try:
        matrix = csr_array(given, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be 'mean', 'union', a matrix of weights or a transformer: {error}."
        ) from error
    if matrix.shape != (n_rows, n_rows):
        needed = f"a row and a column for each of the {n_rows} rows of X"
        raise ValueError(f"{name} must have {needed}: got the shape {matrix.shape}.")
    matrix.sum_duplicates()
    wrong = matrix.data[~(np.isfinite(matrix.data) & (matrix.data >= 0))]
    if len(wrong):
        raise ValueError(f"{name} must hold finite weights, none negative: got {wrong[0]}.")
    return matrix
