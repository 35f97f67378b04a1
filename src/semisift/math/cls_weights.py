"""How the constrained Laplacian score ties rows to each other.

Unlabelled rows are tied to their nearest unlabelled neighbours, and the rows of a must-link pair
to each other, by ``exp(-d2 / (heat_constant * scale))``. No edge joins the two kinds of rows.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.math.class_pairs import ClassPairs
from semisift.math.columns import column_factors
from semisift.math.constraints import Constraints
from semisift.math.distinct import distinct_rows
from semisift.math.graph import Graph, GraphOptions, few_edges, symmetrise
from semisift.math.heat import heat_scale
from semisift.math.listed_pairs import ListedPairs, Tied
from semisift.math.neighbours import Edges, MeasuredRows, nearest


@dataclass(frozen=True, kw_only=True)
class TieOptions(GraphOptions):
    """How rows are tied to each other; the mean squared distance is that of all rows.

    Attributes
    ----------
    self_loops : bool
        Each constrained row is tied to itself by the largest heat weight, or it would count for
        nothing where it is the only one of its class.
    mean : {"plain", "D"}
        The mean that the variance is taken from: of all rows, or weighted by their degrees.
    """

    self_loops: bool = True
    mean: Literal["plain", "D"] = "plain"

    @property
    def graph(self) -> str:
        """The symmetry, as the kernel calls it."""
        return self.symmetry


class Weights(NamedTuple):
    """What ties rows to each other.

    Attributes
    ----------
    graph : Graph
        Of the unlabelled rows.
    pairs : ListedPairs or ClassPairs
        Of the constrained rows.
    must_link : Tied
        Sums over the must-links.
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
    pairs: ListedPairs | ClassPairs
    must_link: Tied
    degrees: NDArray[np.float64]
    largest: float
    vanished: bool
    few_edges: float | None


def weigh(
    X: Any,
    unlabelled: NDArray[np.integer],
    constraints: Constraints,
    options: TieOptions,
    moments: tuple[NDArray[np.float64], NDArray[np.float64]],
    unit: NDArray[np.float64],
) -> Weights:
    """Find the neighbours of unlabelled rows and weigh all edges.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    unlabelled : int array
    constraints : Constraints
    options : TieOptions
    moments : tuple of two float arrays of shape (p,)
        Mean of each column and sum of squares around it, in its unit.
    unit : float array of shape (p,)

    Returns
    -------
    Weights
    """
    factors, length = column_factors(X, None)
    mean, squares = moments
    with np.errstate(under="ignore"):
        mean_d2 = 2 * float(np.sum(squares * (unit * factors) ** 2)) / max(1, X.shape[0] - 1)
    edges, first, node, within = _neighbours(X[unlabelled], options, factors)
    pairs = _pairs(X, constraints, factors, unit, mean)
    least, least_apart = pairs.least_distances()

    lowest = 0.0
    if options.shift and not within.any():
        lowest = min(edges.d2.min(initial=np.inf), least)
    scale = options.heat_constant * heat_scale(
        edges, mean_d2, length, options.heat_scale, no_median=mean_d2
    )

    def heat(d2: NDArray[np.float64]) -> NDArray[np.float64]:
        if options.weights == "binary":
            return np.ones_like(d2)
        with np.errstate(all="ignore"):
            return np.where(d2 > lowest, np.exp((lowest - d2) / scale), 1.0)

    edge_heat, must_link = heat(edges.d2), pairs.must_link_sums(heat)
    largest = max(edge_heat.max(initial=0.0), must_link.largest, float(within.any()))
    ends = edges.first, edges.second
    graph = Graph(*ends, edges.share * edge_heat, first, node, within)
    degrees = must_link.degrees
    if options.self_loops:
        degrees = degrees + (largest if largest > 0 else 1.0)
    # identical rows are tied as ever, and do not differ
    apart = edges.d2.min(initial=least_apart, where=edges.d2 > 0)
    with np.errstate(all="ignore"):
        vanished = bool(
            options.weights == "heat" and apart < np.inf and np.exp(-apart / scale) == 0
        )
    few = None if vanished else few_edges(graph, edges.share)
    return Weights(graph, pairs, must_link, degrees, largest, vanished, few)


def _pairs(
    X: Any,
    constraints: Constraints,
    factors: NDArray[np.float64],
    unit: NDArray[np.float64],
    centre: NDArray[np.float64],
) -> ListedPairs | ClassPairs:
    held = X[constraints.rows]
    if constraints.labels is None:
        return ListedPairs(held, constraints, factors, unit, centre)
    return ClassPairs(held, constraints, factors, unit, centre, constraints.labels)


def _neighbours(
    X: Any, options: TieOptions, factors: NDArray[np.float64]
) -> tuple[Edges, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return symmetric edges, the first row of each node, the node of each row, and `within`."""
    k = min(options.n_neighbors, X.shape[0] - 1)
    if k < 1:
        none = np.empty(0, dtype=np.int64)
        nodes = np.arange(X.shape[0])
        return Edges(none, none, np.empty(0), np.empty(0)), nodes, nodes, np.zeros(X.shape[0])
    first, node = distinct_rows(X)
    counts = np.bincount(node, minlength=len(first))
    edges = nearest(MeasuredRows(X, first, counts, factors), k)
    within = counts * np.minimum(k, counts - 1.0)
    return symmetrise(edges, len(first), options.symmetry), first, node, within
