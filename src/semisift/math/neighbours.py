"""The nearest neighbours of rows, exactly, whatever the order of the rows.

Identical rows are merged into one node that counts as many rows, and rows at the same distance
share the last places among the k neighbours equally. So nothing depends on the order of the rows,
and text, where most rows tie, costs less instead of more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.math.blocks import blocks
from semisift.math.columns import dense_blocks, filled_columns

# Squared distances are computed for so many pairs of rows at once, 64 MB.
BLOCK_VALUES = 1 << 23

# Of these the neighbours are sought for so many at once, 2 MB: they are read several times.
CACHED_VALUES = 1 << 18

# Dense columns of up to so many values are converted once, 256 MB, and not for each block of rows.
HELD_VALUES = 1 << 25

# Squared distances that differ by less than this share of the squared lengths involved are equal:
# a matrix product leaves about 1e-15 of them, 3e-14 with 20,000 columns.
TIE = 1e-12

# Where squared lengths exceed squared distances by more than this, as they do of rows far from the
# centre, distances are computed again from differences.
FAR = 1e3


@dataclass(frozen=True, eq=False)
class Edges:
    """Directed edges between nodes.

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
    d2: NDArray[np.float64]
    share: NDArray[np.float64]


class Rows:
    """Distinct rows to measure distances between.

    Dense and well-filled columns are centred, which changes no distance and saves digits; the
    other columns of a sparse matrix stay sparse.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    rows : int array
        A row for each node.
    counts : int array
        How many rows each node stands for.
    factors : float array of shape (p,)
        What each column is multiplied by.
    """

    def __init__(
        self,
        X: Any,
        rows: NDArray[np.int64],
        counts: NDArray[np.int64],
        factors: NDArray[np.float64],
    ) -> None:
        self.X, self.counts, self.factors = X, counts, factors
        self.rows = None if len(rows) == X.shape[0] else rows
        filled = filled_columns(X)
        self.dense = np.flatnonzero(filled & (factors > 0))
        self.sparse = None
        centre2 = 0.0
        n_rows = counts.sum()
        if issparse(X) and not filled.all():
            rest = np.flatnonzero(~filled & (factors > 0))
            part = X[:, rest].tocsr()
            part = (part if self.rows is None else part[rows]).astype(np.float64)
            part.data *= factors[rest][part.indices]
            self.sparse = part
            centre2 = float(((counts @ part / n_rows) ** 2).sum())
        self.held: list[NDArray[np.float64]] | None = None
        if len(rows) * len(self.dense) <= HELD_VALUES:
            self.held = list(self._blocks())
        self.lengths = np.zeros(len(rows))
        for block in self._blocks():
            self.lengths += np.einsum("ij,ij->i", block, block)
        if self.sparse is not None:
            self.lengths += np.bincount(
                np.repeat(np.arange(len(rows)), np.diff(self.sparse.indptr)),
                self.sparse.data**2,
                len(rows),
            )
        #: mean squared distance over all pairs of rows, those of one node included
        self.mean_d2 = 2 * max(0.0, counts @ self.lengths - n_rows * centre2) / max(1, n_rows - 1)

    def _blocks(self) -> Iterator[NDArray[np.float64]]:
        if self.held is not None:
            yield from self.held
            return
        columns_at_once = dense_blocks(self.X, self.dense, self.rows, BLOCK_VALUES, any_order=True)
        for columns, block in columns_at_once:
            if (self.factors[columns] != 1).any():
                block *= self.factors[columns]
            block -= self.counts @ block / self.counts.sum()
            yield block

    def squared_distances(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield blocks of squared distances with the first row of each.

        A row's distance to itself is infinite.
        """
        n = len(self.lengths)
        transposed = None if self.sparse is None else self.sparse.T.tocsr()
        height, low = (max(1, size // max(1, n)) for size in (BLOCK_VALUES, CACHED_VALUES))
        for start in range(0, n, height):
            stop = min(start + height, n)
            product = self._products(start, stop, transposed)
            for first in range(start, stop, low):
                last = min(first + low, stop)
                d2 = product[first - start : last - start]
                d2 *= -2.0
                d2 += self.lengths
                d2 += self.lengths[first:last, None]
                np.maximum(d2, 0.0, out=d2)
                d2[np.arange(last - first), np.arange(first, last)] = np.inf
                yield first, d2

    def _products(self, start: int, stop: int, transposed: Any) -> NDArray[np.float64]:
        """Return the inner products of some rows with all rows."""
        product = None
        for block in self._blocks():
            part = block[start:stop] @ block.T
            product = part if product is None else np.add(product, part, out=product)
        if self.sparse is not None:
            part = (self.sparse[start:stop] @ transposed).toarray()
            product = part if product is None else np.add(product, part, out=product)
        return np.zeros((stop - start, len(self.lengths))) if product is None else product

    def from_differences(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the squared distances of some pairs of rows, slowly and to the last digits."""
        d2 = np.zeros(len(first))
        for columns, block in dense_blocks(self.X, self.dense, self.rows, BLOCK_VALUES):
            block *= self.factors[columns]
            for part in blocks(len(first), block.shape[1]):
                d2[part] += ((block[first[part]] - block[second[part]]) ** 2).sum(axis=1)
        if self.sparse is not None:
            for part in blocks(len(first), max(1, self.sparse.nnz // len(self.lengths))):
                apart = self.sparse[first[part]] - self.sparse[second[part]]
                d2[part] += apart.power(2).sum(axis=1)
        return d2


def nearest(rows: Rows, k: int) -> Edges:
    """Give each row's k places to its nearest other rows; those at the last distance share.

    Parameters
    ----------
    rows : Rows
    k : int
        Less than the number of rows. Rows of one node fill each other's places first; these
        edges, within nodes, are left out.

    Returns
    -------
    Edges
    """
    places = np.maximum(k - (rows.counts - 1), 0)
    parts = [_block_of_edges(d2, start, rows, places) for start, d2 in rows.squared_distances()]
    return Edges(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _block_of_edges(
    d2: NDArray[np.float64], start: int, rows: Rows, places: NDArray[np.int64]
) -> tuple[NDArray[Any], ...]:
    n_rows, n = d2.shape
    counts = rows.counts
    wanted = places[start : start + n_rows]
    # a node fills at least one place, so the last place is filled by the `most` nearest
    most = min(int(wanted.max(initial=0)), n - 1)
    if most == 0:
        return tuple(np.empty(0, dtype=t) for t in (np.int64, np.int64, np.float64, np.float64))
    bound = np.partition(d2, most - 1, axis=1)[:, most - 1]
    lengths = rows.lengths[start : start + n_rows]
    tie = TIE * (lengths + bound)
    at = np.flatnonzero(d2 <= (bound + tie)[:, None])
    row, column = np.divmod(at, n)
    distance = d2.ravel()[at]
    if (far := lengths > FAR * bound).any():
        again = far[row]
        distance[again] = rows.from_differences(row[again] + start, column[again])
        tie[far] = 0.0
        np.maximum.at(tie, row[again], TIE * distance[again])
    order = np.lexsort((distance, row))
    row, column, distance = row[order], column[order], distance[order]
    # the distance at which the places of each row run out
    mass = counts[column].astype(np.float64)
    starts = np.searchsorted(row, np.arange(n_rows))
    until = np.cumsum(mass)
    until -= (until - mass)[starts][row]
    last = distance[starts + np.bincount(row, until < wanted[row], n_rows).astype(np.int64)]
    nearer = distance < (last - tie)[row]
    tied = ~nearer & (distance <= (last + tie)[row])
    shared = np.bincount(row, mass * tied, n_rows)
    rest = (wanted - np.bincount(row, mass * nearer, n_rows)) / shared
    share = np.where(nearer, 1.0, tied * rest[row]) * mass
    used = share > 0
    origin = row[used] + start
    return origin, column[used], distance[used], share[used] * counts[origin]
