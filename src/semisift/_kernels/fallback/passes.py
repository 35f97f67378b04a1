"""One row after the other into running sums of the columns: kernels/passes.pyx in numpy."""

from typing import Any

import numpy as np

from semisift.utils._typing import Floats, Ints


def add_sparse(
    values: Any,
    columns: Ints,
    inverse: Floats,
    sums: Floats,
    low: Floats,
    high: Floats,
    filled: Ints,
) -> None:
    """Add the stored values of sparse rows, times a factor, to the sums of their columns."""
    np.add.at(sums, columns, values * inverse[columns])
    np.minimum.at(low, columns, values.astype(np.float64))
    np.maximum.at(high, columns, values.astype(np.float64))
    filled += np.bincount(columns, minlength=len(filled))


def add_squares_sparse(
    values: Any, columns: Ints, inverse: Floats, mean: Floats, squares: Floats
) -> None:
    """Add the squared distances of the stored values, times a factor, from the means."""
    np.add.at(squares, columns, (values * inverse[columns] - mean[columns]) ** 2)


def add_dense(
    values: Any, inverse: Floats, sums: Floats, low: Floats, high: Floats, filled: Ints
) -> None:
    """Add dense rows, times a factor, to the sums of their columns."""
    sums[:] = np.cumsum(np.vstack([sums[None], values * inverse]), axis=0)[-1]
    np.minimum(low, values.min(axis=0), out=low)
    np.maximum(high, values.max(axis=0), out=high)
    filled += np.count_nonzero(values, axis=0)


def add_squares_dense(values: Any, inverse: Floats, mean: Floats, squares: Floats) -> None:
    """Add the squared distances of the values that are not 0, times a factor, from the means."""
    distances = np.where(values != 0, (values * inverse - mean) ** 2, 0.0)
    squares[:] = np.cumsum(np.vstack([squares[None], distances]), axis=0)[-1]


def note_values(values: Floats, columns: Ints, known: Floats, n_known: Ints) -> None:
    """Note the different values of each column, until there are more than `known` has room for."""
    room = known.shape[1]
    for column, value in dict.fromkeys(zip(columns.tolist(), values.tolist(), strict=True)):
        n = n_known[column]
        if n <= room and value not in known[column, : min(n, room)]:
            if n < room:
                known[column, n] = value
            n_known[column] += 1
