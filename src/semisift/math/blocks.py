"""Columns a block at a time, and when there are too many rows for a matrix of all their pairs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from semisift.math import Floats, Ints

# A block of columns holds about this many values, 8 MB as float64.
BLOCK_VALUES = 1 << 20

# Of more rows than this, no matrix of all pairs is held: here it has 32 MB.
MOST_SQUARED = 2000


def too_many_to_square(n_rows: int) -> bool:
    """Return whether a matrix of all pairs of so many rows is too large."""
    return n_rows > MOST_SQUARED


def blocks(n_columns: int, values_per_column: int, most: int | None = None) -> Iterator[slice]:
    """Yield slices of columns that hold about `most` values each, and at least one column.

    Parameters
    ----------
    n_columns, values_per_column : int
    most : int, optional
        Else `BLOCK_VALUES`.

    Yields
    ------
    slice
    """
    width = max(1, (most or BLOCK_VALUES) // max(1, values_per_column))
    for start in range(0, n_columns, width):
        yield slice(start, min(start + width, n_columns))


def row_blocks(X: Any, n_columns: int, is_dense: bool) -> Iterator[slice]:
    """Yield slices of rows to be taken at once: all, unless sparse rows are to be made dense."""
    if is_dense and issparse(X):
        yield from blocks(X.shape[0], n_columns)
    else:
        yield slice(0, X.shape[0])


def dense_columns(X: Any, columns: slice | Ints) -> Floats:
    """Return some columns as a float64 array of their own, row after row.

    Parameters
    ----------
    X : array or sparse array of shape (n, p)
    columns : slice or int array
        Few enough for a dense array.

    Returns
    -------
    C-ordered float64 array of shape (n, number of columns)
    """
    part = X[:, columns]
    if issparse(part):
        return np.ascontiguousarray(part.toarray(), dtype=np.float64)
    return np.array(part, dtype=np.float64, order="C")
