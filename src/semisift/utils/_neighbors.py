"""The nearest neighbours of rows, exactly, whatever the order of the rows.

Identical rows are merged into one node that counts as many rows, and rows at the same distance
share the last places among the k neighbours equally. So nothing depends on the order of the rows,
and text, where most rows tie, costs less instead of more.

Rows with missing values are compared in the columns that both have: of p columns, with c of them in
common,

    d2 = p / c * sum over these of (x_i - x_j)^2

where columns of a single value are not among the p. Rows without a column in common are infinitely
far from each other, and never neighbours: then a row may have fewer than k. Such rows are not
merged, as rows that agree wherever both have a value need not be identical.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger
from scipy.sparse import issparse

from semisift.utils._columns import blocks, dense_blocks, filled_columns
from semisift.utils._typing import Floats, Ints

# Columns in which rows are compared first.
FIRST_LOOK = 16

# What their bits are multiplied by: powers of an odd number, modulo 2^64.
ODD = np.cumprod(np.full(FIRST_LOOK, 0x9E3779B97F4A7C15, dtype=np.uint64))

# Squared distances are computed for so many pairs of rows at once, 64 MB.
BLOCK_VALUES = 1 << 23

# What is read several times is worked on in parts of so many values, 2 MB.
CACHED_VALUES = 1 << 18

# Columns are multiplied so many at once at least, where there is room: each product is added to
# the others.
MIN_COLUMNS = 1024

# Dense columns of up to so many values are converted once, 256 MB, and not for each block of rows.
MAX_CACHED_VALUES = 1 << 25

# So many edges take 6 GB: more are an error, unless they were asked for.
MAX_EDGES = 50_000_000

# Squared distances that differ by less than this share of the squared lengths involved are equal:
# a matrix product leaves about 1e-15 of them, 3e-14 with 20,000 columns.
TIE = 1e-12

# Where squared lengths exceed squared distances by more than this, as they do of rows far from the
# centre, distances are computed again from differences: those that decide who is a neighbour, ...
FAR = 1e3

# ... and any other of which most digits are lost, as of all rows where one value is huge.
LOST = 1e9


def distinct_rows(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Merge identical rows into nodes.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)

    Returns
    -------
    rows : int array of shape (n_nodes,)
        The first row of each node, ascending.
    node : int array of shape (n,)
        The node of each row.
    """
    found: dict[Any, int] = {}
    keys = _sparse_keys(X.tocsr()) if issparse(X) else _dense_keys(X)
    node = np.array([found.setdefault(key, len(found)) for key in keys], dtype=np.int64)
    rows = np.full(len(found), len(node), dtype=np.int64)
    np.minimum.at(rows, node, np.arange(len(node)))
    return rows, node


def _sparse_keys(X: Any) -> Iterator[bytes]:
    X.sort_indices()
    for start, stop in pairwise(X.indptr.tolist()):
        key = hashlib.blake2b(X.indices[start:stop], digest_size=16)
        key.update(X.data[start:stop])
        yield key.digest()


def _dense_keys(X: NDArray[np.floating]) -> Iterator[Any]:
    """Yield a hash of each row; most differ in a few columns already, and the rest is not read."""
    few = slice(0, None, max(1, X.shape[1] // FIRST_LOOK))
    values = np.ascontiguousarray(X[:, few][:, :FIRST_LOOK], dtype=np.float64) + 0.0  # -0 is 0
    bits = values.view(np.uint64)
    bits ^= bits >> np.uint64(32)  # of whole numbers only the highest bits are not 0
    hashes: list[int] = (bits @ ODD[: bits.shape[1]]).tolist()
    times = Counter(hashes)
    for i, row_hash in enumerate(hashes):
        if times[row_hash] == 1:
            yield row_hash
        else:
            row = np.ascontiguousarray(X[i]) + X.dtype.type(0)
            yield hashlib.blake2b(row, digest_size=16).digest()


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges between nodes: directed, until `semisift.utils._graph.symmetrise` joins the directions.

    Attributes
    ----------
    first, second : int arrays
        The nodes.
    d2 : float array
        Squared distances.
    share : float array
        How much of its places the first node gives to the second, as the sum over the rows of both.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    d2: Floats
    share: Floats


class MeasuredRows:
    """Distinct rows to measure distances between.

    Dense and well-filled columns are centred, which changes no distance and saves digits; the
    other columns of a sparse matrix stay sparse.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    rows : int array
        A row for each node.
    counts : int array
        How many rows each node represents.
    factors : float array of shape (p,)
        What each column is multiplied by.
    """

    has_missing = False

    def __init__(self, X: Any, rows: Ints, counts: Ints, factors: Floats) -> None:
        self.X, self.counts, self.factors = X, counts, factors
        self.rows = slice(None) if len(rows) == X.shape[0] else rows
        filled = filled_columns(X)
        self.dense = np.flatnonzero(filled & (factors > 0))
        self.sparse = None
        centre2 = 0.0
        n, n_rows = len(rows), counts.sum()
        if issparse(X) and not filled.all():
            rest = np.flatnonzero(~filled & (factors > 0))
            part = X[:, rest].tocsr()[self.rows].astype(np.float64)
            part.data *= factors[rest][part.indices]
            self.sparse, self.transposed = part, part.T.tocsr()
            centre2 = float(((counts @ part / n_rows) ** 2).sum())
        self.cached_blocks: list[Floats] | None = None
        self.products: Floats | None = None
        if n * n <= BLOCK_VALUES:
            self.products = self._products(0, n)
            self.lengths = self.products.diagonal()
        else:
            if n * len(self.dense) <= MAX_CACHED_VALUES:
                self.cached_blocks = list(self._blocks())
            self.lengths = self._lengths()
        #: mean squared distance over all pairs of rows, those of one node included
        self.mean_d2 = 2 * max(0.0, counts @ self.lengths - n_rows * centre2) / max(1, n_rows - 1)

    @property
    def _block_size(self) -> int:
        return min(BLOCK_VALUES, max(CACHED_VALUES, MIN_COLUMNS * len(self.counts)))

    def _blocks(self) -> Iterator[Floats]:
        if self.cached_blocks is not None:
            yield from self.cached_blocks
            return
        ones = np.ones(len(self.counts))
        for columns, values in dense_blocks(self.X, self.dense, self._block_size):
            # the same order for dense and sparse: products have the same bits then
            block = np.array(values[self.rows], dtype=np.float64, order="F")
            if (self.factors[columns] != 1).any():
                block *= self.factors[columns]
            mean = self.counts @ block / self.counts.sum()
            # block -= mean, in less than half the time where there are few rows
            yield dger(-1.0, ones, mean, a=block, overwrite_a=1)

    def _lengths(self) -> Floats:
        """Return the squared length of each row."""
        lengths = np.zeros(len(self.counts))
        for block in self._blocks():
            lengths += np.einsum("ij,ij->i", block, block)
        if self.sparse is not None:
            lengths += self.sparse.power(2).sum(axis=1)
        return lengths

    def squared_distances(self) -> Iterator[tuple[int, Floats]]:
        """Yield blocks of squared distances with the first row of each.

        A row's distance to itself is infinite.
        """
        n = len(self.lengths)
        height, low = (max(1, size // max(1, n)) for size in (BLOCK_VALUES, CACHED_VALUES))
        for start in range(0, n, height):
            stop = min(start + height, n)
            products = self._products(start, stop) if self.products is None else self.products
            for first in range(start, stop, low):
                last = min(first + low, stop)
                d2 = -2.0 * products[first - start : last - start]
                d2 += self.lengths
                d2 += self.lengths[first:last, None]
                np.maximum(d2, 0.0, out=d2)
                d2[np.arange(last - first), np.arange(first, last)] = np.inf
                yield first, d2

    def _products(self, start: int, stop: int) -> Floats:
        """Return the inner products of some rows with all rows."""
        products = None
        for block in self._blocks():
            part = block[start:stop] @ block.T
            products = part if products is None else np.add(products, part, out=products)
        if self.sparse is not None:
            part = (self.sparse[start:stop] @ self.transposed).toarray()
            products = part if products is None else np.add(products, part, out=products)
        return np.zeros((stop - start, len(self.counts))) if products is None else products

    def from_differences(self, first: Ints, second: Ints) -> Floats:
        """Return the squared distances of some pairs of rows, slowly and to the last digits."""
        sums, common = np.zeros((2, len(first)))
        for columns, values in dense_blocks(self.X, self.dense, BLOCK_VALUES):
            block = np.ascontiguousarray(values[self.rows]) * self.factors[columns]
            for part in blocks(len(first), block.shape[1]):
                apart = block[first[part]] - block[second[part]]
                if self.has_missing:
                    common[part] += np.count_nonzero(~np.isnan(apart), axis=1)
                    apart = np.nan_to_num(apart)
                sums[part] += (apart**2).sum(axis=1)
        if self.sparse is not None:
            for part in blocks(len(first), max(1, self.sparse.nnz // len(self.lengths))):
                apart = self.sparse[first[part]] - self.sparse[second[part]]
                sums[part] += apart.power(2).sum(axis=1)
        return self._scaled(sums, common) if self.has_missing else sums

    def _scaled(self, sums: Floats, common: Floats) -> Floats:
        """Return sums over the columns that rows have in common as if they were over all."""
        d2 = np.maximum(sums, 0.0) * len(self.dense)
        return np.divide(d2, common, out=np.full_like(d2, np.inf), where=common > 0)


class RowsWithMissing(MeasuredRows):
    """Rows with missing values to measure distances between: four products instead of one.

    Parameters
    ----------
    X : array of shape (n, p)
    factors : float array of shape (p,)
        What each column is multiplied by.
    """

    has_missing = True

    def __init__(self, X: NDArray[np.floating], factors: Floats) -> None:
        self.X, self.factors, self.rows, self.sparse = X, factors, slice(None), None
        self.counts = np.ones(len(X), dtype=np.int64)
        self.dense = np.flatnonzero(factors > 0)
        squares, n_known = np.zeros((2, len(X)))
        self.mean_d2 = 0.0
        for values, known in self._known_blocks():
            squares += np.einsum("ij,ij->i", values, values)
            n_known += known.sum(axis=1)
            # twice the variance of a column is the mean squared difference of two of its values
            n_values = np.maximum(known.sum(axis=0) - 1, 1)
            self.mean_d2 += 2 * float(np.sum((values**2).sum(axis=0) / n_values))
        self.lengths = squares * len(self.dense) / np.maximum(n_known, 1)

    def _known_blocks(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield values around the mean of their column, 0 where missing, and which are there."""
        for columns, part in dense_blocks(self.X, self.dense, self._block_size):
            values = part * self.factors[columns]
            known = (~np.isnan(values)).astype(np.float64)
            values = np.nan_to_num(values)
            values -= values.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            values *= known
            yield values, known

    def squared_distances(self) -> Iterator[tuple[int, Floats]]:
        """Yield blocks of squared distances with the first row of each, as `MeasuredRows` does."""
        n = len(self.counts)
        height = max(1, BLOCK_VALUES // max(1, n))
        for start in range(0, n, height):
            stop = min(start + height, n)
            sums, common = np.zeros((2, stop - start, n))
            for values, known in self._known_blocks():
                own, there = values[start:stop], known[start:stop]
                sums += own**2 @ known.T
                sums += there @ (values**2).T
                sums -= 2.0 * (own @ values.T)
                common += there @ known.T
            d2 = self._scaled(sums, common)
            d2[np.arange(stop - start), np.arange(start, stop)] = np.inf
            yield start, d2


def nearest(rows: MeasuredRows, k: int) -> Edges:
    """Give each row's k places to its nearest other rows; those at the last distance share.

    Parameters
    ----------
    rows : MeasuredRows
    k : int
        Less than the number of rows. Rows of one node fill each other's places first; these
        edges, within nodes, are left out.

    Returns
    -------
    Edges
    """
    places = np.maximum(k - (rows.counts - 1), 0)
    parts, n_edges = [], 0
    most = max(MAX_EDGES, 2 * k * len(places))
    for start, d2 in rows.squared_distances():
        origin = np.arange(start, start + len(d2))
        wanted = places[origin]
        if rows.has_missing:
            # not all rows have so many others within reach
            wanted = np.minimum(wanted, np.count_nonzero(np.isfinite(d2), axis=1))
            some = wanted > 0
            d2, origin, wanted = d2[some], origin[some], wanted[some]
        parts.append(_block_of_edges(d2, origin, rows, wanted))
        n_edges += len(parts[-1][0])
        if n_edges > most:
            raise ValueError(
                f"Too many of the {rows.counts.sum()} rows are equally near: sharing the last of "
                f"{k} places makes more than {most} edges. Use fewer rows, or columns that tell "
                "more of them apart."
            )
    return Edges(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _block_of_edges(
    d2: Floats, origin: Ints, rows: MeasuredRows, wanted: Ints
) -> tuple[NDArray[Any], ...]:
    """Return the edges of the rows `origin`, which want so many neighbours within reach."""
    n_rows, n = d2.shape
    counts = rows.counts
    # a node fills at least one place, so the last place is filled by the `most` nearest
    most = min(int(wanted.max(initial=0)), n - 1)
    if most == 0:
        return tuple(np.empty(0, dtype=t) for t in (np.int64, np.int64, np.float64, np.float64))
    bound = np.partition(d2, most - 1, axis=1)[:, most - 1]
    if np.isinf(bound).any():  # where fewer are within reach, all of them
        bound = np.minimum(bound, d2.max(axis=1, where=np.isfinite(d2), initial=0.0))
    lengths = rows.lengths[origin]
    tie = TIE * (lengths + bound)
    at = np.flatnonzero(d2 <= (bound + tie)[:, None])
    row, column = np.divmod(at, n)
    distance = d2.ravel()[at]
    mass = counts[column].astype(np.float64)
    # where each node is one row, the last place is filled by the last of the nearest
    last = bound if counts.max() == 1 else _last_distance(row, distance, mass, wanted)
    far = lengths > FAR * last
    again = far[row] & (distance <= (last + tie)[row])
    again |= lengths[row] + rows.lengths[column] > LOST * distance
    if again.any():
        distance[again] = rows.from_differences(origin[row[again]], column[again])
        last = _last_distance(row, distance, mass, wanted)
        tie[far] = TIE * last[far]
    nearer = distance < (last - tie)[row]
    tied = ~nearer & (distance <= (last + tie)[row])
    shared = np.bincount(row, mass * tied, n_rows)
    rest = (wanted - np.bincount(row, mass * nearer, n_rows)) / shared
    share = np.where(nearer, 1.0, tied * rest[row]) * mass
    used = share > 0
    first = origin[row[used]]
    return first, column[used], distance[used], share[used] * counts[first]


def _last_distance(row: Ints, distance: Floats, mass: Floats, wanted: Ints) -> Floats:
    """Return the distance at which the places of each row run out."""
    order = np.lexsort((distance, row))
    row, distance, mass = row[order], distance[order], mass[order]
    starts = np.searchsorted(row, np.arange(len(wanted)))
    until = np.cumsum(mass)
    until -= (until - mass)[starts][row]
    return distance[starts + np.bincount(row, until < wanted[row], len(wanted)).astype(np.int64)]
