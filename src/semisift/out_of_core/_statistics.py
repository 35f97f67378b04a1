"""What is known of each column after two passes over all rows.

Values are added one by one in the order of the rows, and zeros are counted: the bits are those of
`semisift.base._training_data.TrainingData`, which holds the rows in memory, however large the
blocks are.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from semisift import _kernels
from semisift.out_of_core._matrix import OutOfCoreMatrix, entries_of, filled_by_row
from semisift.utils._columns import power_of_two
from semisift.utils._labels import Labels
from semisift.utils._typing import Floats, Ints

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


def column_statistics(rows: OutOfCoreMatrix) -> ColumnStatistics:
    """Return what two passes tell of each column; they are made once.

    Parameters
    ----------
    rows : OutOfCoreMatrix

    Returns
    -------
    ColumnStatistics
    """
    return ColumnStatistics(
        **rows.cached("column statistics", (), lambda: _measure(rows)._asdict())
    )


def _measure(rows: OutOfCoreMatrix) -> ColumnStatistics:
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
            _kernels.passes.add_squares_sparse(block.data, block.indices, 1.0 / unit, mean, squares)
        else:
            _kernels.passes.add_squares_dense(block, 1.0 / unit, mean, squares)
    spread = np.sqrt((squares + (n_rows - filled) * mean**2) / n_rows) * unit
    spread = np.maximum(spread, np.finfo(np.float64).smallest_subnormal)
    spread[high == low] = 0.0
    return ColumnStatistics(low, high, filled, spread)


def _add(rows: OutOfCoreMatrix, inverse: Floats) -> tuple[Floats, Floats, Floats, Any]:
    n_rows, n_columns = rows.shape
    sums, filled = np.zeros(n_columns), np.zeros(n_columns, dtype=np.int64)
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    totals = inverse, sums, low, high, filled
    for _, block in rows.blocks("sums of the columns", rows.many_rows):
        if issparse(block):
            _kernels.passes.add_sparse(block.data, block.indices, *totals)
        else:
            _kernels.passes.add_dense(block, *totals)
    has_zero = filled < n_rows
    np.minimum(low, 0.0, out=low, where=has_zero)
    np.maximum(high, 0.0, out=high, where=has_zero)
    return sums, low, high, filled


def moments_by_class(rows: OutOfCoreMatrix, labels: Labels, unit: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each class and its sum of squares around it, in two passes.

    Parameters
    ----------
    rows : OutOfCoreMatrix
    labels : Labels
        Of all rows.
    unit : float array of shape (p,)
        Powers of two by which columns are divided.

    Returns
    -------
    means, squares : float arrays of shape (n_classes, p)
    """
    about = labels.codes.tobytes(), unit.tobytes()
    made = rows.cached(
        "moments of the classes", about, lambda: _measure_classes(rows, labels, unit)
    )
    return made["means"], made["squares"]


def _measure_classes(rows: OutOfCoreMatrix, labels: Labels, unit: Floats) -> dict[str, Floats]:
    n_classes, n_columns = labels.n_classes, rows.shape[1]
    counts = labels.counts[:, None]
    inverse = np.tile(1.0 / unit, n_classes)
    sums, squares = np.zeros((2, n_classes * n_columns))
    low, high = np.full((2, len(sums)), np.inf)
    filled = np.zeros(len(sums), dtype=np.int64)
    for values, places in _by_class(rows, labels):
        _kernels.passes.add_sparse(values, places, inverse, sums, low, -high, filled)
    means = sums.reshape(n_classes, n_columns) / counts
    for values, places in _by_class(rows, labels):
        _kernels.passes.add_squares_sparse(values, places, inverse, means.ravel(), squares)
    n_zeros = counts - filled.reshape(n_classes, n_columns)
    squares = squares.reshape(n_classes, n_columns) + n_zeros * means**2
    return {"means": means, "squares": squares}


def _by_class(rows: OutOfCoreMatrix, labels: Labels) -> Iterator[tuple[Floats, Ints]]:
    """Yield the values of labelled rows that are not 0, and their places by class and column."""
    for start, block in rows.blocks("moments of the classes", rows.many_rows):
        codes = labels.codes[start : start + block.shape[0]]
        labelled = np.flatnonzero(codes >= 0)
        if len(labelled):
            part = block[labelled]
            values, columns = entries_of(part)
            owner = np.repeat(codes[labelled], filled_by_row(part)).astype(np.int64)
            yield values, owner * rows.shape[1] + columns
