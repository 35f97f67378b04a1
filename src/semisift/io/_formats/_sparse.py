"""Sparse matrices from the arrays of a file, checked before any compiled code trusts them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array

from semisift.io._guards import FileError, check_shape

Part = NDArray[Any]


def as_shape(shape: Any) -> tuple[int, int]:
    """Return the shape of a matrix, which must be two numbers."""
    sizes = np.asarray(shape).ravel()
    if len(sizes) != 2 or sizes.dtype.kind not in "iu" or sizes.min() < 0:
        raise _faulty(
            "the shape of a sparse matrix must be two whole numbers, rows and columns: got "
            f"{sizes.tolist()[:5]}"
        )
    rows, columns = (int(size) for size in sizes)
    check_shape((rows, columns))
    return rows, columns


def from_compressed(
    data: Part, indices: Part, indptr: Part, shape: Any, *, by_columns: bool = False
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
        raise _faulty(
            f"'indptr' says where each {line} starts, so it needs {lines + 1} numbers for {lines} "
            f"{line}s: got {len(indptr)}"
        )
    indptr = indptr.astype(np.int64)
    steps = np.diff(indptr)
    if indptr[0] != 0 or indptr[-1] != len(data) or np.any(steps < 0):
        got = f"{indptr[0]} to {indptr[-1]}"
        if np.any(steps < 0):
            where = int(np.flatnonzero(steps < 0)[0])
            got = f"{indptr[where]} and then {indptr[where + 1]} at {line} {where + 1}"
        raise _faulty(
            f"'indptr' must rise from 0 to the number of stored values, {len(data)}: got {got}"
        )
    _check_range(indices, width, place)
    data = np.require(native(data), requirements="W")  # views of a frame or of bytes are fixed
    kind, places = csc_array if by_columns else csr_array, _as_indices(shape, indices, indptr)
    matrix = kind((data, *places), shape=shape).tocsr()
    matrix.sum_duplicates()
    return matrix


def from_coordinates(data: Part, row: Part, column: Part, shape: Any) -> csr_array:
    """Build a matrix from values with a row and a column each, which are counted from 0."""
    shape = as_shape(shape)
    _check_parts(data, row, column)
    if len(row) != len(column):
        raise _faulty(f"{len(row)} rows for {len(column)} columns")
    _check_range(row, shape[0], "row")
    _check_range(column, shape[1], "column")
    return coo_array((native(data), _as_indices(shape, row, column)), shape=shape).tocsr()


def from_blocks(data: Part, indices: Part, indptr: Part, shape: Any) -> csr_array:
    """Build a matrix from the arrays of the block form (BSR), whose data are small matrices."""
    rows, columns = as_shape(shape)
    if data.ndim != 3 or not data.shape[1] or not data.shape[2]:
        raise _faulty(f"'data' of a block matrix must be small matrices: got shape {data.shape}")
    high, wide = data.shape[1:]
    if rows % high or columns % wide:
        raise _faulty(
            f"blocks of shape {(high, wide)} do not fill a matrix of shape {(rows, columns)}"
        )
    whole = (rows // high, columns // wide)
    numbers = np.arange(1, len(data) + 1)  # stand for the blocks while their places are checked
    places = from_compressed(numbers, indices, indptr, whole)
    if places.nnz != len(data):
        raise _faulty("a block stands twice in the same place")
    blocks = native(data)[places.data - 1]
    return bsr_array((blocks, places.indices, places.indptr), shape=(rows, columns)).tocsr()


def _as_indices(shape: tuple[int, int], *parts: Part) -> tuple[Part, ...]:
    """Return indices in four bytes where these suffice: not all libraries take more."""
    small = max(*shape, *map(len, parts)) < 2**31
    return tuple(part.astype(np.int32 if small else np.int64) for part in parts)


def _check_parts(data: Part, indices: Part, indptr: Part) -> None:
    for name, part in (("data", data), ("indices", indices), ("indptr", indptr)):
        if part.ndim != 1 or part.dtype.kind not in ("biuf" if name == "data" else "iu"):
            raise _faulty(
                f"'{name}' of a sparse matrix must be a list of "
                f"{'numbers' if name == 'data' else 'whole numbers'}: got shape {part.shape}, type "
                f"{part.dtype}"
            )
    if len(data) != len(indices):
        raise _faulty(
            f"{len(data)} stored values ('data') but {len(indices)} places ('indices') for them"
        )


def _check_range(indices: Part, width: int, place: str) -> None:
    outside = np.flatnonzero((indices < 0) | (indices >= width))
    if len(outside):
        where = int(outside[0])
        raise _faulty(
            f"stored value {where + 1} claims {place} {indices[where]}, counted from 0, of a "
            f"matrix with {width} {place}s"
        )


def _faulty(what: str) -> FileError:
    return FileError(
        f"{what}. The file is damaged or was written by a faulty program: make it again."
    )


def native(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in this machine's byte order and in a type that every library knows."""
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float32 if array.dtype.itemsize == 2 else np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
