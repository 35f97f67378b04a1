"""How the constrained Laplacian score ties rows to each other.

Unlabelled rows are tied to their nearest unlabelled neighbours, and the rows of a must-link pair
to each other, by ``exp(-d2 / (heat_constant * scale))``. No edge joins the two kinds of rows.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from semisift.math.blocks import blocks, dense_columns
from semisift.math.distinct import distinct_rows
from semisift.math.graph import Graph, column_factors, symmetrise
from semisift.math.heat import weighted_median
from semisift.math.neighbours import Edges, Rows, nearest


@dataclass(frozen=True)
class Options:
    """How rows are tied to each other.

    Attributes
    ----------
    n_neighbors, graph, weights, heat_scale, heat_constant, shift
        As in `semisift.math.graph.GraphOptions`, where `graph` is called symmetry. The mean squared
        distance is that of all rows, labelled or not.
    self_loops : bool
        Each constrained row is tied to itself by the largest heat weight, or it would count for
        nothing where it is the only one of its class.
    mean : {"plain", "D"}
        The mean that the variance is taken from: of all rows, or weighted by their degrees.
    """

    n_neighbors: int = 10
    graph: Literal["mean", "union"] = "mean"
    weights: Literal["heat", "binary"] = "heat"
    heat_scale: Literal["mean", "median", "raw"] = "mean"
    heat_constant: float = 1.0
    shift: bool = True
    self_loops: bool = True
    mean: Literal["plain", "D"] = "plain"


class Constraints(NamedTuple):
    """Rows that are labelled or in pairs, and their pairs.

    Attributes
    ----------
    rows : int array of shape (n_constrained,)
    must_link, cannot_link : int arrays of shape (k, 2)
        Places in `rows`; a pair may be there several times.
    """

    rows: NDArray[np.integer]
    must_link: NDArray[np.integer]
    cannot_link: NDArray[np.integer]

    def ordered(self, order: NDArray[np.integer]) -> "Constraints":
        """Return the same constraints with the rows in another order."""
        place = np.argsort(order).astype(np.int32)
        return Constraints(self.rows[order], place[self.must_link], place[self.cannot_link])


class Weights(NamedTuple):
    """What ties rows to each other.

    Attributes
    ----------
    graph : Graph
        Of the unlabelled rows.
    must : float array of shape (n_constrained, n_constrained)
        Weights of must-links, symmetric.
    cannot : float array of shape (n_constrained, n_constrained)
        How often each cannot-link is there, symmetric.
    degrees : float array of shape (n_constrained,)
        Sum of the weights of must-links and of the self-loop at each constrained row.
    largest : float
        The largest weight of an edge, before ties are shared.
    vanished : bool
        Whether there are edges, and all of them have no weight.
    few_edges : float or None
        Where heat makes the graph rest on few edges, so many edges of equal weight are as uneven.
    """

    graph: Graph
    must: NDArray[np.float64]
    cannot: NDArray[np.float64]
    degrees: NDArray[np.float64]
    largest: float
    vanished: bool
    few_edges: float | None


def weigh(
    X: Any,
    unlabelled: NDArray[np.integer],
    constraints: Constraints,
    options: Options,
    squares: NDArray[np.float64],
    unit: NDArray[np.float64],
) -> Weights:
    """Find the neighbours of unlabelled rows and weigh all edges.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    unlabelled : int array
    constraints : Constraints
    options : Options
    squares, unit : float arrays of shape (p,)
        Sum of squares of each column around its mean, in its unit.

    Returns
    -------
    Weights
    """
    factors, length = column_factors(X, None)
    with np.errstate(under="ignore"):
        mean_d2 = 2 * float(np.sum(squares * (unit * factors) ** 2)) / max(1, X.shape[0] - 1)
    rows, must_link, cannot_link = constraints
    edges, first, node, within = _neighbours(X[unlabelled], options, factors)
    must_d2 = pair_distances(gram_matrix(X[rows], factors), must_link)

    lowest = 0.0
    if options.shift and not within.any():
        lowest = min(edges.d2.min(initial=np.inf), must_d2.min(initial=np.inf))
    scale = _heat_scale(edges, mean_d2, length, options)

    def heat(d2: NDArray[np.float64]) -> NDArray[np.float64]:
        if options.weights == "binary":
            return np.ones(len(d2))
        with np.errstate(all="ignore"):
            return np.where(d2 > lowest, np.exp((lowest - d2) / scale), 1.0)

    edge_heat, must_heat = heat(edges.d2), heat(must_d2)
    largest = max(edge_heat.max(initial=0.0), must_heat.max(initial=0.0), float(within.any()))
    starts = np.concatenate([[0], np.cumsum(np.bincount(edges.first, minlength=len(first)))])
    plain, graph = (
        Graph(csr_array((data, edges.second, starts), shape=(len(first),) * 2), first, node, within)
        for data in (edges.share, edges.share * edge_heat)
    )
    must = pair_matrix(must_link, must_heat, len(rows))
    cannot = pair_matrix(cannot_link, np.ones(len(cannot_link)), len(rows))
    degrees = must.sum(axis=1)
    if options.self_loops:
        degrees += largest if largest > 0 else 1.0
    apart = np.concatenate([edges.d2, must_d2])
    apart = apart[apart > 0]  # identical rows are tied as ever, and do not differ
    with np.errstate(all="ignore"):
        vanished = bool(
            options.weights == "heat" and len(apart) and np.exp(-apart.min() / scale) == 0
        )
    enough = min(float(len(unlabelled)), plain.effective_edges / 2)
    few = None if vanished or graph.effective_edges >= enough else graph.effective_edges
    return Weights(graph, must, cannot, degrees, largest, vanished, few)


def _neighbours(
    X: Any, options: Options, factors: NDArray[np.float64]
) -> tuple[Edges, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return symmetric edges, the first row of each node, the node of each row, and `within`."""
    k = min(options.n_neighbors, X.shape[0] - 1)
    if k < 1:
        none = np.empty(0, dtype=np.int64)
        nodes = np.arange(X.shape[0])
        return Edges(none, none, np.empty(0), np.empty(0)), nodes, nodes, np.zeros(X.shape[0])
    first, node = distinct_rows(X)
    counts = np.bincount(node, minlength=len(first))
    edges = nearest(Rows(X, first, counts, factors), k)
    within = counts * np.minimum(k, counts - 1.0)
    return symmetrise(edges, len(first), options.graph), first, node, within


def gram_matrix(X: Any, factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the dot products of the rows around their mean, columns multiplied by `factors`."""
    gram = np.zeros((X.shape[0],) * 2)
    for columns in blocks(X.shape[1], max(1, X.shape[0])):
        block = dense_columns(X, columns) * factors[columns]
        if len(block):
            block -= block.mean(axis=0)
        gram += block @ block.T
    return gram


def pair_distances(gram: NDArray[np.float64], pairs: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the squared distances of pairs of rows."""
    i, j = pairs.T
    lengths = gram[i, i] + gram[j, j]
    d2 = lengths - 2 * gram[i, j]
    d2[d2 <= 1e-14 * lengths] = 0.0  # identical rows
    return d2


def _heat_scale(edges: Edges, mean_d2: float, length: float, options: Options) -> float:
    if options.heat_scale == "raw":
        with np.errstate(over="ignore", divide="ignore", under="ignore"):
            return options.heat_constant * float(np.divide(1.0, np.float64(length) ** 2))
    scale = mean_d2
    if options.heat_scale == "median":
        scale = weighted_median(edges.d2, edges.share) or mean_d2
    return options.heat_constant * (scale if scale > 0 else 1.0)


def pair_matrix(
    pairs: NDArray[np.integer], weights: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Return the weights of pairs as a symmetric matrix; a pair may be there several times."""
    matrix = np.zeros((n, n))
    np.add.at(matrix, tuple(pairs.T), weights)
    return matrix + matrix.T
