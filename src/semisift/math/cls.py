"""The constrained Laplacian score of one matrix: what CLS and the members of EnsCLS share.

Unlabelled rows are tied to their nearest unlabelled neighbours, and the rows of a must-link pair
to each other, by ``S = exp(-d2 / (heat_constant * scale))``. No edge joins the two kinds of rows.
Four sums for each column f, over ordered pairs of rows::

    neighbours    sum over unlabelled neighbours i, j of S_ij (f_i - f_j)^2
    must-links    sum over must-link pairs i, j of       S_ij (f_i - f_j)^2
    cannot-links  sum over cannot-link pairs i, j of     D_i (f_i - f_j)^2
    variance      sum over unlabelled rows i of          D_i (f_i - mean)^2

with D_i the sum of the weights at row i. The score is the first two over the other two; low is
good. Where there are gaps, each sum is over the pairs and rows that have the value, and scaled to
the weight of all of them; NaN where nothing of it is left.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from semisift._threads import one_blas_thread
from semisift.math import Floats, Ints
from semisift.math.blocks import blocks, dense_columns
from semisift.math.columns import (
    column_factors,
    column_moments,
    moments_of_counted,
    ratio,
    scaled_to_all,
    spans,
)
from semisift.math.constraints import ClassPairs, Constraints, KnownPairs, ListedPairs
from semisift.math.edge_sums import edge_sums
from semisift.math.graph import Graph, GraphOptions, few_edges, heat_scale, nearest_edges

# Place in the totals of `Parts`.
N_CANNOT_LINKS = 3

# Squares of a column are measured in its own unit as long as this holds no more units of distance.
MOST_UNITS = 1e100


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


class Parts(NamedTuple):
    """The sums of the score, and how well its heat fits the distances.

    Attributes
    ----------
    sums : float array of shape (4, p)
        Neighbours, must-links, cannot-links and variance, each column in its unit.
    totals : float array of shape (5,)
        The weights at unlabelled rows, of must-links and of cannot-links; the number of
        cannot-links; the largest weight of an edge, before ties are shared.
    vanished : bool
        Whether there are edges, and all of them have no weight.
    few_edges : float or None
        Where heat makes the graph rest on few edges, so many edges of equal weight are as uneven.
    """

    sums: Floats
    totals: Floats
    vanished: bool
    few_edges: float | None


@one_blas_thread()
def cls_parts(
    X: Any,
    unlabelled: Ints,
    constraints: Constraints,
    options: TieOptions,
    unit: Floats,
    *,
    has_gaps: bool = False,
) -> Parts:
    """Tie rows to each other, and add up the parts of the score for all columns.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    unlabelled : int array
        The rows that the neighbour graph is built on.
    constraints : Constraints
        The other rows and their pairs.
    options : TieOptions
    unit : float array of shape (p,)
        Each column is divided by it first, so that squares stay in range.
    has_gaps : bool
        Whether `X` is dense and has gaps; then all pairs must be listed.

    Returns
    -------
    Parts
    """
    factors, length = column_factors(X, None, spans(X, has_gaps=has_gaps))
    mean, mean_d2 = _mean_and_distance(X, unit, factors, has_gaps)
    edges, rows, node, within, _ = nearest_edges(X[unlabelled], options, factors, has_gaps=has_gaps)
    kind = ListedPairs if constraints.labels is None else ClassPairs
    kind = KnownPairs if has_gaps else kind
    pairs = kind(X[constraints.rows], constraints, factors, unit, mean)
    least, least_apart = pairs.least_distances()

    lowest = 0.0
    if options.shift and not within.any():
        lowest = min(edges.d2.min(initial=np.inf), least)
    scale = heat_scale(edges, mean_d2, length, options.heat_scale, no_median=mean_d2)
    with np.errstate(over="ignore"):
        scale = options.heat_constant * scale

    def heat(d2: Floats) -> Floats:
        if options.weights == "binary":
            return np.ones_like(d2)
        with np.errstate(all="ignore"):
            return np.where(d2 > lowest, np.exp((lowest - d2) / scale), 1.0)

    edge_heat, must_link = heat(edges.d2), pairs.must_link_sums(heat)
    largest = max(edge_heat.max(initial=0.0), must_link.largest, float(within.any()))
    graph = Graph(edges.first, edges.second, edges.share * edge_heat, rows, node, within)
    degrees = must_link.degrees
    if options.self_loops:
        degrees = degrees + (largest if largest > 0 else 1.0)
    cannot_link, total, number = pairs.cannot_link_sums(degrees)

    around = edge_sums(X[unlabelled], graph, unit, has_gaps=has_gaps)
    volume = float(graph.degrees.sum())
    if options.mean == "D" and volume + degrees.sum() > 0:
        held_mean, held = _weighted_sums(X[constraints.rows], degrees, unit, has_gaps)
        total_known = around.volume + held
        mean = (around.volume * around.mean + held_mean) / np.where(total_known > 0, total_known, 1)
    variance = around.variance + around.volume * (around.mean - mean) ** 2
    difference = around.difference
    if has_gaps:
        difference, variance = (
            scaled_to_all(part, around.volume, volume) for part in (difference, variance)
        )
    sums = np.array([2 * difference, 2 * must_link.sums, cannot_link, variance])
    totals = np.array([volume, must_link.total, total, number, largest])

    # identical rows are tied as ever, and do not differ
    apart = edges.d2.min(initial=least_apart, where=edges.d2 > 0)
    with np.errstate(all="ignore"):
        vanished = options.weights == "heat" and apart < np.inf and np.exp(-apart / scale) == 0
    few = None if vanished else few_edges(graph, edges.share)
    return Parts(sums, totals, bool(vanished), few)


def _mean_and_distance(
    X: Any, unit: Floats, factors: Floats, has_gaps: bool
) -> tuple[Floats, float]:
    """Return the mean of each column in its unit, and the mean squared distance between rows.

    The unit is that of all rows of a table. Where those at hand are so much smaller that their
    squares would be lost in it, they are measured in the unit of the distances.
    """
    n_others = 1 if has_gaps else max(1, X.shape[0] - 1)

    def moments(unit: Floats) -> tuple[Floats, Floats]:
        if not has_gaps:
            return column_moments(X, unit)
        n_known, mean, squares = moments_of_counted(X, unit)
        return mean, squares / np.maximum(1, n_known - 1)

    with np.errstate(under="ignore", over="ignore"):
        mean, squares = moments(unit)
        ratios = unit * factors
        is_lost = ratios > MOST_UNITS
        if is_lost.any():
            _, squares = moments(np.divide(1.0, factors, out=unit.copy(), where=is_lost))
            ratios = np.where(is_lost, 1.0, ratios)
        return mean, 2 * float(np.sum(squares * ratios**2)) / n_others


def member_parts(
    X: Floats,
    unlabelled: Ints,
    constraints: Constraints,
    copies: Ints,
    pair_counts: Ints | None,
    options: TieOptions,
    unit: Floats,
) -> Parts:
    """Add up the parts of the score of a member, whose rows or pairs may count several times.

    Parameters
    ----------
    X : array of shape (n, p)
        The columns of the member.
    unlabelled, constraints, options, unit
        As `cls_parts` takes them.
    copies : int array of shape (n_constrained,)
        How often each constrained row is in the bag.
    pair_counts : int array of shape (n_pairs,) or None
        How often each pair is in the bag, must-links before cannot-links; None if rows were drawn.

    Returns
    -------
    Parts
        The sums of constant columns are NaN.
    """
    rows, must_link, cannot_link, _ = constraints
    held = X[rows]
    if pair_counts is not None:
        must_counts, cannot_counts = np.split(pair_counts, [len(must_link)])
        must_link = np.repeat(must_link, must_counts, axis=0)
        cannot_link = np.repeat(cannot_link, cannot_counts, axis=0)
    else:
        held, must_link, cannot_link = _repeat_rows(held, copies, must_link, cannot_link)
    X = np.asfortranarray(np.vstack([held, X[unlabelled]]))
    repeated = Constraints(np.arange(len(held)), must_link, cannot_link)
    parts = cls_parts(X, np.arange(len(held), len(X)), repeated, options, unit)
    parts.sums[:, X.max(axis=0) == X.min(axis=0)] = np.nan
    return parts


def _repeat_rows(
    held: Floats, copies: Ints, must_link: Ints, cannot_link: Ints
) -> tuple[Floats, Ints, Ints]:
    """Return rows as often as they count, with their pairs; copies of a row must link."""
    origin = np.repeat(np.arange(len(held)), copies)
    rows = np.flatnonzero(copies > 1)
    own = _repeat_pairs(np.column_stack([rows, rows]), copies)
    must_link = _repeat_pairs(must_link, copies)
    must_link = np.concatenate([must_link, own[own[:, 0] < own[:, 1]]])
    return held[origin], must_link, _repeat_pairs(cannot_link, copies)


def _repeat_pairs(pairs: Ints, copies: Ints) -> Ints:
    """Return every copy of the first row of a pair with every copy of the second."""
    first, second = pairs.T
    n_each = copies[first] * copies[second]
    pair = np.repeat(np.arange(len(pairs)), n_each)
    number = np.arange(len(pair)) - np.repeat(np.cumsum(n_each) - n_each, n_each)
    starts = np.cumsum(copies) - copies
    one, other = np.divmod(number, copies[second][pair])
    return np.column_stack([starts[first][pair] + one, starts[second][pair] + other])


def _weighted_sums(X: Any, weights: Floats, unit: Floats, has_gaps: bool) -> tuple[Floats, Floats]:
    """Add up the rows, each as often as its weight says, in the unit of each column.

    The second sums are of the weights of the rows that have the value.
    """
    sums, known = np.zeros(X.shape[1]), np.full(X.shape[1], weights.sum())
    for columns in blocks(X.shape[1], max(1, X.shape[0])):
        block = dense_columns(X, columns) / unit[columns]
        if has_gaps:
            known[columns] = weights @ ~np.isnan(block)
            block = np.nan_to_num(block)
        sums[columns] = weights @ block
    return sums, known


def combine(sums: Floats, totals: Floats, balance: float | None = None) -> Floats:
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
