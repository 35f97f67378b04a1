"""Sparse matrices from the arrays of a file, checked before any compiled code trusts them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array

from semisift.io._shared import check_shape
from semisift.io.limits import FileError
from semisift.io.table import native

DAMAGED = "The file is damaged or was written by a faulty program: make it again."


def as_shape(shape: Any) -> tuple[int, int]:
    """Return the shape of a matrix, which must be two numbers."""
    sizes = np.asarray(shape).ravel()
    if len(sizes) != 2 or sizes.dtype.kind not in "iu" or sizes.min() < 0:
        raise FileError(
            "the shape of a sparse matrix must be two whole numbers, rows and columns: got "
            f"{sizes.tolist()[:5]}. {DAMAGED}"
        )
    rows, columns = (int(size) for size in sizes)
    check_shape((rows, columns))
    return rows, columns


def from_compressed(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    shape: Any,
    *,
    by_columns: bool = False,
) -> csr_array:
    """Build a matrix from the three arrays of the compressed row (or column) form.

    Parameters
    ----------
    data, indices, indptr : 1-d arrays
        The values, the column of each, and where each row starts. By columns: the row of each, and
        where each column starts.
    shape : two integers
    by_columns : bool
        The arrays are those of CSC instead of CSR.

    Returns
    -------
    csr_array
        With sorted indices; values that stand twice are added.
    """
    shape = as_shape(shape)
    lines, width = shape[::-1] if by_columns else shape
    line, place = ("column", "row") if by_columns else ("row", "column")
    _check_parts(data, indices, indptr)
    if len(indptr) != lines + 1:
        raise FileError(
            f"'indptr' says where each {line} starts, so it needs {lines + 1} numbers for {lines} "
            f"{line}s: got {len(indptr)}. {DAMAGED}"
        )
    indptr = indptr.astype(np.int64)
    steps = np.diff(indptr)
    if indptr[0] != 0 or indptr[-1] != len(data) or np.any(steps < 0):
        got = f"{indptr[0]} to {indptr[-1]}"
        if np.any(steps < 0):
            where = int(np.flatnonzero(steps < 0)[0])
            got = f"{indptr[where]} and then {indptr[where + 1]} at {line} {where + 1}"
        raise FileError(
            f"'indptr' must rise from 0 to the number of stored values, {len(data)}: got {got}. "
            f"{DAMAGED}"
        )
    _check_range(indices, width, place)
    data = np.require(native(data), requirements="W")  # views of a frame or of bytes are fixed
    kind = csc_array if by_columns else csr_array
    matrix = kind((data, indices, indptr), shape=shape).tocsr()
    matrix.sum_duplicates()
    return matrix


def from_coordinates(
    data: NDArray[Any], row: NDArray[Any], column: NDArray[Any], shape: Any
) -> csr_array:
    """Build a matrix from values with a row and a column each, which are counted from 0."""
    shape = as_shape(shape)
    _check_parts(data, row, column)
    if len(row) != len(column):
        raise FileError(f"{len(row)} rows for {len(column)} columns. {DAMAGED}")
    _check_range(row, shape[0], "row")
    _check_range(column, shape[1], "column")
    return coo_array((native(data), (row, column)), shape=shape).tocsr()


def from_blocks(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: Any
) -> csr_array:
    """Build a matrix from the arrays of the block form (BSR), whose data are small matrices."""
    rows, columns = as_shape(shape)
    if data.ndim != 3 or not data.shape[1] or not data.shape[2]:
        raise FileError(
            f"'data' of a block matrix must be small matrices: got shape {data.shape}. {DAMAGED}"
        )
    high, wide = data.shape[1:]
    if rows % high or columns % wide:
        raise FileError(
            f"blocks of shape {(high, wide)} do not fill a matrix of shape {(rows, columns)}. "
            f"{DAMAGED}"
        )
    whole = (rows // high, columns // wide)
    numbers = np.arange(1, len(data) + 1)  # stand for the blocks while their places are checked
    places = from_compressed(numbers, indices, indptr, whole)
    if places.nnz != len(data):
        raise FileError(f"a block stands twice in the same place. {DAMAGED}")
    blocks = native(data)[places.data - 1]
    return bsr_array((blocks, places.indices, places.indptr), shape=(rows, columns)).tocsr()


def _check_parts(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]) -> None:
    for name, part in (("data", data), ("indices", indices), ("indptr", indptr)):
        if part.ndim != 1 or part.dtype.kind not in ("biuf" if name == "data" else "iu"):
            raise FileError(
                f"'{name}' of a sparse matrix must be a list of "
                f"{'numbers' if name == 'data' else 'whole numbers'}: got shape {part.shape}, type "
                f"{part.dtype}. {DAMAGED}"
            )
    if len(data) != len(indices):
        raise FileError(
            f"{len(data)} stored values ('data') but {len(indices)} places ('indices') for them. "
            f"{DAMAGED}"
        )


def _check_range(indices: NDArray[Any], width: int, place: str) -> None:
    if not len(indices):
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= width:
        wrong = low if low < 0 else high
        where = int(np.flatnonzero(indices == wrong)[0])
        raise FileError(
            f"stored value {where + 1} claims {place} {wrong}, counted from 0, of a matrix with "
            f"{width} {place}s. {DAMAGED}"
        )
