"""Sparse matrices from the arrays of a file, checked before any compiled code trusts them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array

from semisift.io._guards import check_shape, damaged

Part = NDArray[Any]


def as_shape(shape: Any) -> tuple[int, int]:
    """Return the shape of a matrix, which must be two numbers."""
    sizes = np.asarray(shape).ravel()
    if len(sizes) != 2 or sizes.dtype.kind not in "iu" or sizes.min() < 0:
        got = sizes.tolist()[:5]
        raise damaged(f"the shape of a sparse matrix must be two whole numbers: got {got}")
    rows, columns = (int(size) for size in sizes)
    check_shape((rows, columns))
    return rows, columns


def from_compressed(
    data: Part, indices: Part, indptr: Part, shape: Any, *, by_columns: bool = False
) -> csr_array:
    """Return a matrix from the three arrays of the compressed row (or column) form.

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
        With sorted indices; duplicate entries are added.
    """
    shape = as_shape(shape)
    lines, width = shape[::-1] if by_columns else shape
    line, place = ("column", "row") if by_columns else ("row", "column")
    _check_parts(data, indices, indptr)
    if len(indptr) != lines + 1:
        got = f"for {lines} {line}s: got {len(indptr)}"
        raise damaged(
            f"'indptr' says where each {line} starts, so it needs {lines + 1} numbers {got}"
        )
    indptr = indptr.astype(np.int64)
    falls = np.flatnonzero(np.diff(indptr) < 0)
    if len(falls) or indptr[0] != 0 or indptr[-1] != len(data):
        first, last = indptr[falls[0] :][:2] if len(falls) else indptr[[0, -1]]
        rule = f"rise from 0 to the number of stored values, {len(data)}"
        raise damaged(f"'indptr' must {rule}: got {first} to {last}")
    _check_range(indices, width, place)
    data = np.require(native(data), requirements="W")  # views of a frame or of bytes are read-only
    kind, places = csc_array if by_columns else csr_array, _as_indices(shape, indices, indptr)
    matrix = kind((data, *places), shape=shape).tocsr()
    matrix.sum_duplicates()
    return matrix


def from_coordinates(data: Part, row: Part, column: Part, shape: Any) -> csr_array:
    """Return a matrix from values with a row and a column each, which are counted from 0."""
    shape = as_shape(shape)
    _check_parts(data, row, column)
    if len(row) != len(column):
        raise damaged(f"{len(row)} rows for {len(column)} columns")
    _check_range(row, shape[0], "row")
    _check_range(column, shape[1], "column")
    return coo_array((native(data), _as_indices(shape, row, column)), shape=shape).tocsr()


def from_blocks(data: Part, indices: Part, indptr: Part, shape: Any) -> csr_array:
    """Return a matrix from the arrays of the block form (BSR), whose data are small matrices."""
    rows, columns = as_shape(shape)
    if data.ndim != 3 or not data.shape[1] or not data.shape[2]:
        raise damaged(f"'data' of a block matrix must be small matrices: got shape {data.shape}")
    height, width = data.shape[1:]
    if rows % height or columns % width:
        raise damaged(f"blocks of shape {(height, width)} do not fill a {rows} x {columns} matrix")
    numbers = np.arange(1, len(data) + 1)  # represent the blocks while their places are checked
    places = from_compressed(numbers, indices, indptr, (rows // height, columns // width))
    if places.nnz != len(data):
        raise damaged("a block stands twice in the same place")
    blocks = native(data)[places.data - 1]
    return bsr_array((blocks, places.indices, places.indptr), shape=(rows, columns)).tocsr()


def _as_indices(shape: tuple[int, int], *parts: Part) -> tuple[Part, ...]:
    """Return indices in four bytes where these suffice: not all libraries take more."""
    small = max(*shape, *map(len, parts)) < 2**31
    return tuple(part.astype(np.int32 if small else np.int64) for part in parts)


def _check_parts(data: Part, indices: Part, indptr: Part) -> None:
    for name, part in (("data", data), ("indices", indices), ("indptr", indptr)):
        kinds, what = ("biuf", "numbers") if name == "data" else ("iu", "whole numbers")
        if part.ndim != 1 or part.dtype.kind not in kinds:
            got = f"shape {part.shape}, type {part.dtype}"
            raise damaged(f"'{name}' of a sparse matrix must be a list of {what}: got {got}")
    if len(data) != len(indices):
        places = f"{len(indices)} places ('indices')"
        raise damaged(f"{len(data)} stored values ('data') but {places} for them")


def _check_range(indices: Part, width: int, place: str) -> None:
    outside = np.flatnonzero((indices < 0) | (indices >= width))
    if len(outside):
        number, index = int(outside[0]) + 1, indices[outside[0]]
        of = f"counted from 0, of a matrix with {width} {place}s"
        raise damaged(f"stored value {number} claims {place} {index}, {of}")


def native(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in this machine's byte order and in a type that every library knows."""
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float32 if array.dtype.itemsize == 2 else np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
