"""Columns that are shifted and scaled, in effect where they are sparse, and products with them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from semisift.math import Bools, Floats, Ints
from semisift.math.columns import dense_blocks, filled_columns

# Columns are worked on in blocks of so many values, 8 MB.
BLOCK_VALUES = 1 << 20

# Dense columns of up to so many values are held, 256 MB; more are computed whenever they are read.
HELD_VALUES = 1 << 25


class ScaledColumns:
    """The matrix Z with the columns ``z = (x / unit - centre) * factor`` on some rows of X.

    Dense and well-filled columns are computed. The others stay sparse: their zeros are in the range
    of the column, so that the shift may be added to the products without loss.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    rows : int array of shape (n_rows,)
        The rows of Z.
    unit : float array of shape (p,)
        Powers of two, by which division is exact.
    centre, factor : float arrays of shape (p,)
        Columns with the factor 0 vanish.
    """

    def __init__(self, X: Any, rows: Ints, unit: Floats, centre: Floats, factor: Floats) -> None:
        self.X, self.rows, self.n_rows = X, rows.astype(np.int64), len(rows)
        self.unit, self.centre, self.factor = unit, centre, factor
        filled = filled_columns(X)
        self._dense = np.flatnonzero(filled & (factor > 0))
        self._rest = np.flatnonzero(~filled & (factor > 0))
        self._sparse = None
        if issparse(X):
            self.X = X.tocsr()[rows].tocsc()
            self.rows = np.arange(self.n_rows)
            self._sparse = self.X[:, self._rest].astype(np.float64)
            counts = np.diff(self._sparse.indptr)
            self._sparse.data /= np.repeat(unit[self._rest], counts)
            self._sparse.data *= np.repeat(factor[self._rest], counts)
        self._offset = -(centre * factor)[self._rest]
        self._held: list[tuple[Ints, Floats]] | None = None
        if self.n_rows * len(self._dense) <= HELD_VALUES:
            self._held = list(self._blocks())

    def _blocks(self) -> Iterator[tuple[Ints, Floats]]:
        """Yield the computed columns."""
        if self._held is not None:
            yield from self._held
            return
        for columns, block in dense_blocks(self.X, self._dense, BLOCK_VALUES):
            yield columns, self._scale(block[self.rows].astype(np.float64), columns)

    def _scale(self, block: Floats, columns: Ints) -> Floats:
        block /= self.unit[columns]
        block -= self.centre[columns]
        block *= self.factor[columns]
        return block

    def restricted(self, kept: Bools) -> "ScaledColumns":
        """Return the same matrix with only some columns that do not vanish."""
        factor = np.where(kept, self.factor, 0.0)
        return ScaledColumns(self.X, self.rows, self.unit, self.centre, factor)

    def columns(self, which: Ints) -> Floats:
        """Return a few columns as a dense array of shape (n_rows, number of columns)."""
        part = self.X[:, which].toarray() if issparse(self.X) else self.X[np.ix_(self.rows, which)]
        return self._scale(np.array(part, dtype=np.float64, order="C"), which)

    def gram(self, weights: Floats) -> Floats:
        """Return ``Z diag(weights) Z'``.

        Parameters
        ----------
        weights : float array of shape (p,)
            Not negative. Columns of weight 0 cost nothing.

        Returns
        -------
        float array of shape (n_rows, n_rows)
        """
        total = np.zeros((self.n_rows, self.n_rows))
        roots = np.sqrt(weights)
        for columns, block in self._blocks():
            used = weights[columns] > 0
            if used.any():
                part = (block if used.all() else block[:, used]) * roots[columns[used]]
                total += part @ part.T
        used = weights[self._rest] > 0
        if self._sparse is not None and used.any():
            part = self._sparse[:, used]
            part.data *= np.repeat(roots[self._rest[used]], np.diff(part.indptr))
            total += (part @ part.T).toarray()
            shift = self._offset[used] * roots[self._rest[used]]
            if shift.any():
                inner = part @ shift
                total += inner[:, None] + inner + shift @ shift
        return total

    def project(self, values: Floats) -> Floats:
        """Return ``Z' values`` for values of shape (n_rows, k)."""
        out = np.zeros((len(self.factor), values.shape[1]))
        for columns, block in self._blocks():
            out[columns] = block.T @ values
        if self._sparse is not None:
            out[self._rest] = self._sparse.T @ values + np.outer(self._offset, values.sum(axis=0))
        return out

    def times(self, values: Floats) -> Floats:
        """Return ``Z values`` for values of shape (p, k)."""
        out = np.zeros((self.n_rows, values.shape[1]))
        for columns, block in self._blocks():
            out += block @ values[columns]
        if self._sparse is not None:
            out += self._sparse @ values[self._rest] + self._offset @ values[self._rest]
        return out
