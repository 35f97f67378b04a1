"""Rows that are labelled or in pairs, and sums over their pairs, listed or not.

Pairs that follow from the labels of very many rows are neither listed nor held in a matrix. A
must-link needs the distance of its rows, so these pairs are visited: some rows of a class at a
time, with those that come after them. A cannot-link does not: with n_c rows, mean m_c and sum of
squares V_c of class c, and with D_c, md_c and VD_c the same weighted by the degrees D of the rows::

    sum over i in a, j in b of D_i (f_i - f_j)^2 = n_b VD_a + D_a (n_b (md_a - m_b)^2 + V_b)

where nothing cancels.

The constrained Laplacian score of one matrix: what CLS and the members of EnsCLS share.

Unlabelled rows are tied to their nearest unlabelled neighbours, and the rows of a must-link pair
to each other, by ``S = exp(-d2 / (heat_constant * scale))``. No edge joins the two kinds of rows.
Four sums for each column f, over ordered pairs of rows::

    neighbours    sum over unlabelled neighbours i, j of S_ij (f_i - f_j)^2
    must-links    sum over must-link pairs i, j of       S_ij (f_i - f_j)^2
    cannot-links  sum over cannot-link pairs i, j of     D_i (f_i - f_j)^2
    variance      sum over unlabelled rows i of          D_i (f_i - mean)^2

with D_i the sum of the weights at row i. The score is the first two over the other two; low is
good. Where there are missing values, each sum is over the pairs and rows that have the value, and
scaled to the weight of all of them; NaN where nothing of it is left.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse, triu

from semisift.parallel import one_blas_thread
from semisift.utils import _columns, _graph
from semisift.utils._columns import blocks, dense_columns
from semisift.utils._graph import CANCELS, Graph
from semisift.utils._labels import Labels, pairs_from_labels
from semisift.utils._neighbors import FAR, LOST, MeasuredRows, RowsWithMissing
from semisift.utils._typing import Floats, Ints

# A centre that is more than so many standard deviations from the mean of the rows is none.
AWAY = 1e6

Heat = Callable[[Floats], Floats]


class Constraints(NamedTuple):
    """Rows that are labelled or in pairs, and their pairs.

    Attributes
    ----------
    rows : int array of shape (n_constrained,)
    must_link, cannot_link : int arrays of shape (k, 2)
        Places in `rows`; a pair may be there several times.
    labels : Labels or None
        Labels of these rows, where the pairs that follow from them are too many to be listed: they
        come on top of the listed pairs.
    """

    rows: Ints
    must_link: Ints
    cannot_link: Ints
    labels: Labels | None = None

    def ordered(self, order: Ints) -> "Constraints":
        """Return the same constraints with the rows in another order."""
        place = np.argsort(order).astype(np.int32)
        labels = self.labels and Labels(self.labels.codes[order], self.labels.classes)
        pairs = place[self.must_link], place[self.cannot_link]
        return Constraints(self.rows[order], *pairs, labels)

    def listed(self, places: Ints) -> "Constraints":
        """Return some of the rows with all pairs among them, those of the labels listed too."""
        own = np.full(len(self.rows), -1, dtype=np.int32)
        own[places] = np.arange(len(places))
        both = own[self.must_link], own[self.cannot_link]
        must, cannot = (pairs[(pairs >= 0).all(axis=1)] for pairs in both)
        if self.labels is not None:
            implied = pairs_from_labels(Labels(self.labels.codes[places], self.labels.classes))
            must, cannot = np.concatenate([implied[0], must]), np.concatenate([implied[1], cannot])
        return Constraints(self.rows[places], must, cannot)


class Gram:
    """Dot products of rows around their mean, columns multiplied by factors.

    ``gram[i, j]`` with two arrays of row numbers, of one shape or as for an outer product, is as of
    a matrix. There is one unless there are very many rows: then products are worked out when they
    are asked for.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    factors : float array of shape (p,)
    """

    def __init__(self, X: Any, factors: Floats) -> None:
        self.X = X
        self.factors = factors
        self.matrix = None if _columns.too_many_to_square(X.shape[0]) else self._all_products()

    def _all_products(self) -> Floats:
        n = self.X.shape[0]
        products = np.zeros((n, n))
        for columns in blocks(self.X.shape[1] if n else 0, max(1, n)):
            block = self._centred(columns)
            products += block @ block.T
        return products

    def _centred(self, columns: slice) -> Floats:
        block = dense_columns(self.X, columns) * self.factors[columns]
        block -= block.mean(axis=0)
        return block

    def __getitem__(self, at: tuple[Ints, Ints]) -> Floats:
        if self.matrix is not None:
            return self.matrix[at]
        first, second = at
        is_outer = first.ndim == 2
        products = np.zeros((len(first), len(second)) if is_outer else len(first))
        n_columns = self.X.shape[1] if products.size else 0
        for columns in blocks(n_columns, self.X.shape[0] + len(first) + len(second)):
            block = self._centred(columns)
            if is_outer:
                products += block[first[:, 0]] @ block[second].T
            else:
                products += np.einsum("ij,ij->i", block[first], block[second])
        return products

    def distances(self, pairs: Ints) -> Floats:
        """Return the squared distances of pairs of rows, of shape (k, 2)."""
        i, j = pairs.T
        lengths = self[i, i] + self[j, j]
        d2 = lengths - 2 * self[i, j]
        lost = np.flatnonzero(lengths > LOST * d2)
        d2[lost] = exact_distances(self.X, i[lost], j[lost], self.factors)
        return d2


def exact_distances(X: Any, first: Ints, second: Ints, factors: Floats) -> Floats:
    """Return the squared distances of pairs of rows from their differences.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    first, second : int arrays of shape (k,)
    factors : float array of shape (p,)

    Returns
    -------
    float array of shape (k,)
    """
    if not len(first):
        return np.zeros(0)
    every = np.arange(X.shape[0])
    rows = MeasuredRows(X, every, np.ones_like(every), factors)
    return rows.from_differences(first.astype(np.int64), second.astype(np.int64))


class ListedPairs:
    """Sums over listed pairs, from a matrix of their weights.

    Where there are missing values, distances are those of `semisift.utils._neighbors`, and the sum
    of a column is over the pairs in which both rows have the value, scaled to all pairs.

    Parameters
    ----------
    constrained : array or csc_array of shape (n_constrained, p)
        The constrained rows.
    constraints : Constraints
    factors : float array of shape (p,)
        What columns are multiplied by to measure distances.
    unit, centre : float arrays of shape (p,)
        The unit to add up a column in, and what to take from it first so that less cancels.
    has_missing : bool
    """

    def __init__(
        self,
        constrained: Any,
        constraints: Constraints,
        factors: Floats,
        unit: Floats,
        centre: Floats,
        has_missing: bool = False,
    ) -> None:
        self.constrained, self.constraints, self.factors = constrained, constraints, factors
        self.unit, self.centre, self.has_missing = unit, centre, has_missing
        pairs = constraints.must_link
        if has_missing:
            self.d2 = RowsWithMissing(constrained, factors).from_differences(
                *pairs.T.astype(np.int64)
            )
        else:
            self.d2 = Gram(constrained, factors).distances(pairs)

    def least_distances(self) -> tuple[float, float]:
        """Return the least squared distance of a must-link, and the least that is not 0."""
        return self.d2.min(initial=np.inf), self.d2.min(initial=np.inf, where=self.d2 > 0)

    def must_link_sums(self, heat: Heat) -> tuple[Floats, Floats, float, float]:
        """Add up over must-links, each once, with weights that `heat` makes of squared distances.

        Returns
        -------
        sums : float array of shape (p,)
            Weighted squared differences, each column in its unit.
        degrees : float array of shape (n_constrained,)
            Sum of the weights at each row.
        total, largest : float
            Sum of the weights, each pair twice, and the largest of them.
        """
        weights = heat(self.d2)
        matrix = pair_matrix(self.constraints.must_link, weights, self.constrained.shape[0])
        total, largest = float(matrix.sum()), weights.max(initial=0.0)
        return self._sums(matrix), matrix.sum(axis=1), total, largest

    def cannot_link_sums(self, degrees: Floats) -> tuple[Floats, float, float]:
        """Add up over cannot-links; a pair weighs as much as its rows together.

        Returns
        -------
        sums : float array of shape (p,)
            Weighted squared differences, each column in its unit.
        total, number : float
            Sum of the weights, and how many pairs there are.
        """
        pairs = self.constraints.cannot_link
        matrix = pair_matrix(pairs, degrees[pairs].sum(axis=1), self.constrained.shape[0])
        return self._sums(matrix), float(matrix.sum() / 2), len(pairs)

    def _sums(self, matrix: Any) -> Floats:
        if self.has_missing:
            nodes = np.arange(len(self.constrained))
            edges = _graph.edges_of(triu(csr_array(matrix), k=1))
            graph = Graph(*edges, nodes, nodes, np.zeros(len(nodes)))
            found = _graph.edge_sums(self.constrained, graph, self.unit, has_missing=True)
            return _columns.scaled_to_all(found.difference, found.volume, graph.degrees.sum())
        sums = np.zeros(self.constrained.shape[1])
        for columns in blocks(len(sums), max(1, self.constrained.shape[0])):
            block = dense_columns(self.constrained, columns) / self.unit[columns]
            sums[columns] = quadratic_sums(matrix, block, self.centre[columns])
        return sums


def pair_matrix(pairs: Ints, weights: Floats, n: int) -> Any:
    """Return the weights of pairs as a symmetric matrix; a pair may be there several times.

    Parameters
    ----------
    pairs : int array of shape (k, 2)
    weights : float array of shape (k,)
    n : int

    Returns
    -------
    array of shape (n, n), or csr_array where that is too large
    """
    if _columns.too_many_to_square(n):
        half = coo_array((weights, tuple(pairs.T)), shape=(n, n)).tocsr()
        return csr_array(half + half.T)
    matrix = np.zeros((n, n))
    np.add.at(matrix, tuple(pairs.T), weights)
    return matrix + matrix.T


def quadratic_sums(weights: Any, block: Floats, centre: Floats) -> Floats:
    """Add up the weighted squared differences over unordered pairs of rows, for each column.

    Parameters
    ----------
    weights : array or csr_array of shape (n, n)
        Symmetric.
    block : float array of shape (n, width)
    centre : float array of shape (width,)
        What to take from each column first, so that less cancels.

    Returns
    -------
    float array of shape (width,)
    """
    if len(block):
        own = block.mean(axis=0)
        # a huge value in another row may have drawn the centre away from all of these
        is_away = np.abs(centre - own) > AWAY * block.std(axis=0)
        block = block - np.where(is_away, own, centre)
    squares = weights.sum(axis=1) @ block**2
    sums = squares - (block * (weights @ block)).sum(axis=0)
    lost = np.flatnonzero(sums < CANCELS * squares)
    if len(lost):  # the difference of two sums of that size: taken pair by pair
        half = triu(coo_array(weights), format="coo")
        few = block[:, lost]
        sums[lost] = 0.0
        for pairs in blocks(half.nnz, len(lost), _graph.PRODUCT_VALUES):
            apart = few[half.row[pairs]] - few[half.col[pairs]]
            sums[lost] += half.data[pairs] @ np.asfortranarray(apart) ** 2
    return sums


class ClassPairs(ListedPairs):
    """Sums over the pairs that follow from labels, besides the listed ones."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        assert self.constraints.labels is not None
        self.labels = self.constraints.labels
        self.rows = self.constrained.tocsr() if issparse(self.constrained) else self.constrained

    def least_distances(self) -> tuple[float, float]:
        """Return the least squared distance of a must-link, and the least that is not 0."""
        least = [super().least_distances()]
        for *_, d2 in self._parts():
            least.append((d2.min(), d2.min(initial=np.inf, where=d2 > 0)))
        smallest, apart = np.min(least, axis=0).tolist()
        return smallest, apart

    def must_link_sums(self, heat: Heat) -> tuple[Floats, Floats, float, float]:
        """Add up over must-links, with weights that `heat` makes of squared distances."""
        sums, degrees, _, largest = super().must_link_sums(heat)
        for X, members, rows, d2 in self._parts():
            weights = np.where(np.isinf(d2), 0.0, heat(d2))
            largest = max(largest, float(weights.max()))
            degrees[members[rows]] += weights.sum(axis=1)
            degrees[members[rows.start :]] += weights.sum(axis=0)
            for columns in blocks(len(sums), X.shape[0]):
                block = _centred(X, columns, 1 / self.unit, rows.start)
                sums[columns] += _rectangular_sums(weights, block)
        return sums, degrees, float(degrees.sum()), largest

    def cannot_link_sums(self, degrees: Floats) -> tuple[Floats, float, float]:
        """Add up over cannot-links."""
        sums, total, number = super().cannot_link_sums(degrees)
        rows = np.argsort(self.labels.codes, kind="stable")[-len(self.labels.labelled) :]
        counts = self.labels.counts[self.labels.counts > 0]
        starts = np.cumsum(counts) - counts
        own = degrees[rows]
        volumes = np.add.reduceat(own, starts)
        others = counts.sum() - counts
        for columns in blocks(len(sums), self.constrained.shape[0]):
            block = dense_columns(self.constrained, columns)[rows] / self.unit[columns]
            block -= self.centre[columns]
            sums[columns] += _between_classes(block, own, counts, volumes)
        return sums, total + float(volumes @ others), number + float(counts @ others) / 2

    def _parts(self) -> Iterator[tuple[Any, Ints, slice, Floats]]:
        """Yield some rows of a class at a time, with their distances to these and later ones.

        Yields
        ------
        X : array or csr_array of shape (n_class, p)
            All rows of the class.
        members : int array of shape (n_class,)
            Their places among the constrained rows.
        rows : slice
        d2 : float array of shape (number of rows, number of these and later rows)
            Infinite for a row with itself, and where a pair is there the other way round.
        """
        for code in np.flatnonzero(self.labels.counts > 1):
            members = np.flatnonzero(self.labels.codes == code)
            X = self.rows[members]
            for rows in blocks(len(members), len(members)):
                yield X, members, rows, _distances(X, rows, self.factors)


def _centred(X: Any, columns: slice, factors: Floats, start: int) -> Floats:
    """Return columns of the rows from `start` on, times their factors, around their median."""
    block = dense_columns(X, columns)[start:] * factors[columns]
    block -= np.median(block, axis=0)  # a huge value would draw the mean away from all others
    return block


def _distances(X: Any, rows: slice, factors: Floats) -> Floats:
    """Return the squared distances of rows to these and later ones, infinite to earlier ones."""
    height, n = rows.stop - rows.start, X.shape[0] - rows.start
    products, lengths = np.zeros((height, n)), np.zeros(n)
    for columns in blocks(X.shape[1], X.shape[0]):
        block = _centred(X, columns, factors, rows.start)
        products += block[:height] @ block.T
        lengths += np.einsum("ij,ij->i", block, block)
    both = lengths[:height, None] + lengths
    d2 = both - 2 * products
    d2[:, :height][np.tri(height, dtype=bool)] = np.inf
    first, second = np.nonzero(both > FAR * d2)
    if len(first):
        X = X[rows.start :]
        d2[first, second] = exact_distances(X.tocsc() if issparse(X) else X, first, second, factors)
    return d2


def _rectangular_sums(weights: Floats, block: Floats) -> Floats:
    """Add up the weighted squared differences between the first rows of a block and all of it."""
    first = block[: len(weights)]
    squares = weights.sum(axis=1) @ first**2 + weights.sum(axis=0) @ block**2
    sums = squares - 2 * np.einsum("ij,ij->j", first, weights @ block)
    for j in np.flatnonzero(sums < CANCELS * squares):
        sums[j] = np.sum(weights * (first[:, [j]] - block[:, j]) ** 2)
    return sums


def _between_classes(block: Floats, degrees: Floats, counts: Ints, volumes: Floats) -> Floats:
    """Add up the squared differences between classes, each row weighted by its degree.

    Parameters
    ----------
    block : float array of shape (n_labelled, width)
        Class by class.
    degrees : float array of shape (n_labelled,)
    counts, volumes : arrays of shape (n_classes,)
        Number of rows, and sum of the degrees, of each class.

    Returns
    -------
    float array of shape (width,)
    """
    starts = np.cumsum(counts) - counts

    def moments(weights: Floats, totals: NDArray[Any]) -> tuple[Floats, Floats]:
        means = np.add.reduceat(weights[:, None] * block, starts, axis=0)
        np.divide(means, totals[:, None], out=means, where=totals[:, None] > 0)
        squares = weights[:, None] * (block - np.repeat(means, counts, axis=0)) ** 2
        return means, np.add.reduceat(squares, starts, axis=0)

    plain_means, plain_squares = moments(np.ones(len(block)), counts)
    means, squares = moments(degrees, volumes)
    sums = np.zeros(block.shape[1])
    for a, volume in enumerate(volumes):
        others = np.where(np.arange(len(counts)) == a, 0, counts)
        distances = others @ (means[a] - plain_means) ** 2 + (others > 0) @ plain_squares
        sums += others.sum() * squares[a] + volume * distances
    return sums


# --- cls ------------------------------------------------------------------------------------------


# Place in the totals of `Parts`.
N_CANNOT_LINKS = 3

# Squares of a column are measured in its own unit as long as this holds no more units of distance.
MAX_UNITS = 1e100


@dataclass(frozen=True, kw_only=True)
class TieOptions(_graph.GraphOptions):
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
    has_missing: bool = False,
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
    has_missing : bool
        Whether `X` is dense and has missing values; then all pairs must be listed.

    Returns
    -------
    Parts
    """
    factors, length = _columns.column_factors(X, None, _columns.spans(X, has_missing=has_missing))
    mean, mean_d2 = _mean_and_distance(X, unit, factors, has_missing)
    edges, rows, node, within, _ = _graph.nearest_edges(
        X[unlabelled], options, factors, has_missing=has_missing
    )
    given = X[constraints.rows], constraints, factors, unit, mean
    is_listed = has_missing or constraints.labels is None
    pairs = ListedPairs(*given, has_missing) if is_listed else ClassPairs(*given)
    least, least_apart = pairs.least_distances()

    lowest = 0.0
    if options.shift and not within.any():
        lowest = min(edges.d2.min(initial=np.inf), least)
    scale = _graph.heat_scale(edges, mean_d2, length, options.heat_scale, no_median=mean_d2)
    with np.errstate(over="ignore"):
        scale = options.heat_constant * scale

    def heat(d2: Floats) -> Floats:
        if options.weights == "binary":
            return np.ones_like(d2)
        with np.errstate(all="ignore"):
            return np.where(d2 > lowest, np.exp((lowest - d2) / scale), 1.0)

    edge_heat = heat(edges.d2)
    must_link, degrees, must_total, largest_tie = pairs.must_link_sums(heat)
    largest = max(edge_heat.max(initial=0.0), largest_tie, float(within.any()))
    graph = Graph(edges.first, edges.second, edges.share * edge_heat, rows, node, within)
    if options.self_loops:
        degrees = degrees + (largest if largest > 0 else 1.0)
    cannot_link, total, number = pairs.cannot_link_sums(degrees)

    around = _graph.edge_sums(X[unlabelled], graph, unit, has_missing=has_missing)
    volume = float(graph.degrees.sum())
    if options.mean == "D" and volume + degrees.sum() > 0:
        constrained_mean, constrained_volume = _weighted_sums(
            X[constraints.rows], degrees, unit, has_missing
        )
        total_known = around.volume + constrained_volume
        mean = (around.volume * around.mean + constrained_mean) / np.where(
            total_known > 0, total_known, 1
        )
    variance = around.variance + around.volume * (around.mean - mean) ** 2
    difference = around.difference
    if has_missing:
        difference, variance = (
            _columns.scaled_to_all(part, around.volume, volume) for part in (difference, variance)
        )
    sums = np.array([2 * difference, 2 * must_link, cannot_link, variance])
    totals = np.array([volume, must_total, total, number, largest])

    # identical rows are tied as ever, and do not differ
    apart = edges.d2.min(initial=least_apart, where=edges.d2 > 0)
    with np.errstate(all="ignore"):
        vanished = options.weights == "heat" and apart < np.inf and np.exp(-apart / scale) == 0
    few = None if vanished else _graph.few_edges(graph, edges.share)
    return Parts(sums, totals, bool(vanished), few)


def _mean_and_distance(
    X: Any, unit: Floats, factors: Floats, has_missing: bool
) -> tuple[Floats, float]:
    """Return the mean of each column in its unit, and the mean squared distance between rows.

    The unit is that of all rows of a table. Where those at hand are so much smaller that their
    squares would be lost in it, they are measured in the unit of the distances.
    """
    n_others = 1 if has_missing else max(1, X.shape[0] - 1)

    def moments(unit: Floats) -> tuple[Floats, Floats]:
        if not has_missing:
            return _columns.column_moments(X, unit)
        n_known, mean, squares = _columns.moments_of_counted(X, unit)
        return mean, squares / np.maximum(1, n_known - 1)

    with np.errstate(under="ignore", over="ignore"):
        mean, squares = moments(unit)
        ratios = unit * factors
        is_lost = ratios > MAX_UNITS
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
    constrained = X[rows]
    if pair_counts is not None:
        must_counts, cannot_counts = np.split(pair_counts, [len(must_link)])
        must_link = np.repeat(must_link, must_counts, axis=0)
        cannot_link = np.repeat(cannot_link, cannot_counts, axis=0)
    else:
        constrained, must_link, cannot_link = _repeat_rows(
            constrained, copies, must_link, cannot_link
        )
    X = np.asfortranarray(np.vstack([constrained, X[unlabelled]]))
    repeated = Constraints(np.arange(len(constrained)), must_link, cannot_link)
    parts = cls_parts(X, np.arange(len(constrained), len(X)), repeated, options, unit)
    parts.sums[:, X.max(axis=0) == X.min(axis=0)] = np.nan
    return parts


def _repeat_rows(
    constrained: Floats, copies: Ints, must_link: Ints, cannot_link: Ints
) -> tuple[Floats, Ints, Ints]:
    """Return rows as often as they count, with their pairs; copies of a row must link."""
    origin = np.repeat(np.arange(len(constrained)), copies)
    rows = np.flatnonzero(copies > 1)
    own = _repeat_pairs(np.column_stack([rows, rows]), copies)
    must_link = _repeat_pairs(must_link, copies)
    must_link = np.concatenate([must_link, own[own[:, 0] < own[:, 1]]])
    return constrained[origin], must_link, _repeat_pairs(cannot_link, copies)


def _repeat_pairs(pairs: Ints, copies: Ints) -> Ints:
    """Return every copy of the first row of a pair with every copy of the second."""
    first, second = pairs.T
    n_each = copies[first] * copies[second]
    pair = np.repeat(np.arange(len(pairs)), n_each)
    number = np.arange(len(pair)) - np.repeat(np.cumsum(n_each) - n_each, n_each)
    starts = np.cumsum(copies) - copies
    one, other = np.divmod(number, copies[second][pair])
    return np.column_stack([starts[first][pair] + one, starts[second][pair] + other])


def _weighted_sums(
    X: Any, weights: Floats, unit: Floats, has_missing: bool
) -> tuple[Floats, Floats]:
    """Add up the rows, each as often as its weight says, in the unit of each column.

    The second sums are of the weights of the rows that have the value.
    """
    sums, known = np.zeros(X.shape[1]), np.full(X.shape[1], weights.sum())
    for columns in blocks(X.shape[1], max(1, X.shape[0])):
        block = dense_columns(X, columns) / unit[columns]
        if has_missing:
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
        return _columns.ratio(neighbours + must, variance + cannot)
    tiny = np.finfo(np.float64).tiny
    scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals >= tiny)
    each_row, each_must, each_cannot = np.moveaxis(scale, -1, 0)[:3, ..., None]
    return _columns.ratio(
        neighbours * each_row + balance * must * each_must,
        variance * each_row + balance * cannot * each_cannot,
    )
