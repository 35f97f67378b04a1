"""What is known of each column after two passes over all rows.

Values are added one by one in the order of the rows, and zeros are counted: the bits are those of
`semisift._problem.Problem`, which holds the rows in memory, however large the blocks are.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from semisift import kernels
from semisift.math import Floats, Ints
from semisift.math.columns import power_of_two
from semisift.stored.rows import StoredRows

# Columns whose largest values lie between these need no unit of their own to be added.
SAFE = 1e-100, 1e100


class ColumnStatistics(NamedTuple):
    """Of each column over all rows.

    Attributes
    ----------
    low, high : float arrays of shape (p,)
    filled : int array of shape (p,)
        How many values are not 0.
    spread : float array of shape (p,)
        The standard deviation; 0 for constant columns.
    """

    low: Floats
    high: Floats
    filled: Ints
    spread: Floats

    @property
    def spans(self) -> Floats:
        """Difference between the largest and the smallest value of each column."""
        with np.errstate(over="ignore"):
            return np.minimum(self.high - self.low, np.finfo(np.float64).max)


def column_statistics(rows: StoredRows) -> ColumnStatistics:
    """Return what two passes tell of each column; they are made once.

    Parameters
    ----------
    rows : StoredRows

    Returns
    -------
    ColumnStatistics
    """
    return ColumnStatistics(**rows.once("column statistics", (), lambda: _measure(rows)._asdict()))


def _measure(rows: StoredRows) -> ColumnStatistics:
    n_rows, n_columns = rows.shape
    sums, low, high, filled = _add(rows, np.ones(n_columns))
    largest = np.maximum(-low, high)
    unit = power_of_two(largest)
    varied = largest > 0
    if not np.isfinite(sums).all() or ((largest < SAFE[0]) | (largest > SAFE[1]))[varied].any():
        sums = _add(rows, 1.0 / unit)[0]
    else:
        sums = sums / unit  # a power of two: the bits of sums in this unit
    mean = sums / n_rows
    squares = np.zeros(n_columns)
    for _, block in rows.blocks("spread of the columns", rows.many_rows):
        if issparse(block):
            kernels.passes.add_squares_sparse(block.data, block.indices, 1.0 / unit, mean, squares)
        else:
            kernels.passes.add_squares_dense(block, 1.0 / unit, mean, squares)
    spread = np.sqrt((squares + (n_rows - filled) * mean**2) / n_rows) * unit
    spread = np.maximum(spread, np.finfo(np.float64).smallest_subnormal)
    spread[high == low] = 0.0
    return ColumnStatistics(low, high, filled, spread)


def _add(rows: StoredRows, inverse: Floats) -> tuple[Floats, Floats, Floats, Any]:
    n_rows, n_columns = rows.shape
    sums, filled = np.zeros(n_columns), np.zeros(n_columns, dtype=np.int64)
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    totals = inverse, sums, low, high, filled
    for _, block in rows.blocks("sums of the columns", rows.many_rows):
        if issparse(block):
            kernels.passes.add_sparse(block.data, block.indices, *totals)
        else:
            kernels.passes.add_dense(block, *totals)
    has_zero = filled < n_rows
    np.minimum(low, 0.0, out=low, where=has_zero)
    np.maximum(high, 0.0, out=high, where=has_zero)
    return sums, low, high, filled
