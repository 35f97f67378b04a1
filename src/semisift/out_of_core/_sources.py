"""Where rows can be: maps of memory, HDF5 and zarr, Parquet, dask, and arrays in memory.

A source gives rows by their numbers as they are stored, dense or compressed by rows. It is never
asked for columns: a store of rows would be read whole for each of them.
"""

import os
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from semisift.exceptions import OutOfCoreError

# Rows that are read at once to look up single ones, where a store does not say how it is divided.
ROWS_PER_LOOKUP = 64


class Source(ABC):
    """Rows of numbers that are read when they are asked for.

    Attributes
    ----------
    name : str
        For messages.
    shape : (int, int)
    dtype : numpy.dtype
    is_sparse : bool
    is_log : bool
        Whether the values are known to be logarithms of counts at equal totals.
    in_memory : bool
        Whether the rows are in memory already.
    is_mapped_by_row : bool
        Whether the rows are those of a memory map, one after the other.
    """

    name: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    is_sparse: bool = False
    is_log: bool = False
    in_memory: bool = False
    is_mapped_by_row: bool = False
    _chunk_rows: int = 0
    _fingerprint: tuple[Any, ...] | None = None

    @property
    def mapped_columns(self) -> NDArray[np.floating] | None:
        """All rows, where they are a memory map of columns, one after the other, of floats."""
        return None

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Return the rows from `start` to `stop`, dense or in any sparse form."""

    def read_some(self, start: int, stop: int, places: NDArray[np.integer]) -> Any:
        """Return some of the rows that `read` would return, by their places among them."""
        rows = self.read(start, stop)
        return csr_array(rows)[places] if issparse(rows) else rows[places]

    @property
    def bounds(self) -> Sequence[int]:
        """The first row of each part that is stored as one, and the number of rows."""
        if self._chunk_rows:
            return [*range(0, self.shape[0], self._chunk_rows), self.shape[0]]
        return range(0, self.shape[0] + ROWS_PER_LOOKUP, ROWS_PER_LOOKUP)

    @property
    def n_bytes(self) -> int:
        """What all rows take in memory."""
        return self.shape[0] * self.shape[1] * max(self.dtype.itemsize, 4)

    @property
    def fingerprint(self) -> tuple[Any, ...] | None:
        """What tells whether the rows are the same as in an earlier process; None if nothing."""
        return self._fingerprint

    def place(self, start: int, stop: int) -> str:
        """Say where rows are."""
        rows = f"row {start:,}" if stop == start + 1 else f"rows {start:,} to {stop - 1:,}"
        rows = f"{rows} of {self.name}"
        if isinstance(self.bounds, range):
            return rows
        first, last = (max(0, bisect_right(self.bounds, row) - 1) for row in (start, stop - 1))
        return f"chunk {first:,}{f' to {last:,}' if last > first else ''} ({rows})"


def of_file(path: str | os.PathLike[str]) -> tuple[Any, ...]:
    """Return what changes when a file does, also where its time is set back to what it was."""
    found = Path(path).resolve()
    state = found.stat()
    return str(found), state.st_size, state.st_mtime_ns, state.st_ctime_ns


class ArraySource(Source):
    """An array that gives rows by slices: of numpy, mapped or not, h5py, zarr, or sparse."""

    def __init__(self, array: Any, name: str = "X", fingerprint: Any = None) -> None:
        self.is_sparse = issparse(array)
        self.array = array.tocsr() if self.is_sparse else array
        self.name = name
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        self._chunk_rows = _chunk_rows(array)
        self._fingerprint = fingerprint
        self._is_mapped = isinstance(array, np.memmap)
        self.in_memory = self.is_sparse or (isinstance(array, np.ndarray) and not self._is_mapped)
        self.is_mapped_by_row = self._is_mapped and not array.flags.f_contiguous

    @property
    def mapped_columns(self) -> NDArray[np.floating] | None:
        """The array itself, where it is a map of columns that need not be changed."""
        if not self._is_mapped or self.is_mapped_by_row:
            return None
        is_plain = self.dtype in (np.float32, np.float64) and self.array.flags.aligned
        return np.asarray(self.array) if is_plain else None

    def read(self, start: int, stop: int) -> Any:
        """Return rows, dense or sparse."""
        return self.array[start:stop] if self.is_sparse else np.asarray(self.array[start:stop])

    @property
    def n_bytes(self) -> int:
        """What the values take, and their places where they are sparse."""
        return _sparse_bytes(self.array.nnz, self.dtype) if self.is_sparse else super().n_bytes

    @property
    def fingerprint(self) -> tuple[Any, ...] | None:
        """The file and the place in it."""
        file = getattr(self.array, "filename", None)
        if self._fingerprint is None and self._is_mapped and file is not None:
            return (*of_file(file), *_place_in_map(self.array), self.shape, self.dtype.str)
        return self._fingerprint


def _chunk_rows(array: Any) -> int:
    """Return the length of the chunks of an array; 0 where it has none.

    Once its file is closed, an array of h5py no longer says so.
    """
    return int((getattr(array, "chunks", None) or (0,))[0])


def _sparse_bytes(n_stored: int, dtype: np.dtype[Any]) -> int:
    """Return what stored values and their places take in memory."""
    return int(n_stored) * (max(dtype.itemsize, 4) + 4)


def _place_in_map(array: NDArray[Any]) -> tuple[Any, ...]:
    """Return where an array stands in a map; a part of one says the offset of the whole."""
    base: Any = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    start = np.frombuffer(base, np.uint8).ctypes.data
    return getattr(array, "offset", 0), array.ctypes.data - start, array.strides


class CompressedSource(Source):
    """Rows in compressed form (CSR) in HDF5 or zarr, as AnnData writes them.

    Parameters
    ----------
    data, indices, indptr : arrays of h5py or zarr
    shape : (int, int)
    name : str
    fingerprint : tuple or None
    """

    is_sparse = True

    def __init__(
        self,
        data: Any,
        indices: Any,
        indptr: Any,
        shape: Sequence[int],
        name: str = "X",
        fingerprint: Any = None,
    ) -> None:
        self.data, self.indices = data, indices
        self.indptr = np.asarray(indptr[:], dtype=np.int64)
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(data.dtype)
        self.name = name
        self._chunk_rows = _chunk_rows(data)
        self._fingerprint = fingerprint
        self._check()

    def _check(self) -> None:
        n_rows, n_stored = self.shape[0], min(self.data.shape[0], self.indices.shape[0])
        indptr, problem = self.indptr, ""
        if len(indptr) != n_rows + 1:
            problem = f"its index lists {len(indptr) - 1:,} rows, and the shape says {n_rows:,}"
        elif indptr[0] != 0 or (np.diff(indptr) < 0).any():
            problem = "its index does not rise from 0"
        elif indptr[-1] > n_stored:
            row = int(np.searchsorted(indptr, n_stored, side="right")) - 1
            problem = (
                f"it ends early, at row {row:,} of {n_rows:,}: {n_stored:,} values are stored and "
                f"{indptr[-1]:,} are listed"
            )
        for part, what in ((self.data, "values"), (self.indices, "columns")):
            # a chunk of zarr that is not there would be read as zeros
            written = getattr(part, "nchunks_initialized", None)
            n_lost = 0 if written is None else part.nchunks - written
            if n_lost > 0 and not problem:
                problem = f"{n_lost:,} of the {part.nchunks:,} chunks of {what} are missing"
        if problem:
            raise OutOfCoreError(f"{self.name}: {problem}. It is cut or damaged: make it again.")

    def read(self, start: int, stop: int) -> Any:
        """Return rows as a sparse matrix."""
        first, last = self.indptr[start], self.indptr[stop]
        values, columns = (np.asarray(part[first:last]) for part in (self.data, self.indices))
        starts = self.indptr[start : stop + 1] - first
        return csr_array((values, columns, starts), shape=(stop - start, self.shape[1]))

    @property
    def bounds(self) -> Sequence[int]:
        """About the rows of each chunk of values."""
        if not self._chunk_rows:
            return super().bounds
        places = np.arange(0, int(self.indptr[-1]), self._chunk_rows)
        firsts = np.searchsorted(self.indptr, places, side="right") - 1
        return [*np.unique(np.append(firsts, 0)).tolist(), self.shape[0]]

    @property
    def n_bytes(self) -> int:
        """What the stored values and their places take."""
        return _sparse_bytes(self.indptr[-1], self.dtype)


class PartsSource(Source):
    """Rows in parts that are read whole, one after the other; the last one is kept.

    Parameters
    ----------
    heights : sequence of int
        Rows of each part.
    n_columns : int
    dtype : numpy.dtype
    read_part : callable
        Returns a part by its number.
    is_sparse : bool
    name : str
    fingerprint : tuple or None
    n_bytes : int or None
        What all rows take in memory, where that is known.
    """

    def __init__(
        self,
        heights: Sequence[int],
        n_columns: int,
        dtype: Any,
        read_part: Callable[[int], Any],
        *,
        is_sparse: bool = False,
        name: str = "X",
        fingerprint: Any = None,
        n_bytes: int | None = None,
    ) -> None:
        self._bounds = [0, *np.cumsum(heights).tolist()]
        self.shape = (self._bounds[-1], int(n_columns))
        self.dtype = np.dtype(dtype)
        self.is_sparse = is_sparse
        self.name = name
        self._read_part = read_part
        self._fingerprint = fingerprint
        self._n_bytes = n_bytes
        self._kept: tuple[int, Any] = (-1, None)

    def read(self, start: int, stop: int) -> Any:
        """Return rows from all the parts that hold them."""
        found = []
        for number, (low, high) in enumerate(pairwise(self._bounds)):
            if low < stop and high > start:
                part = self._part(number)
                found.append(part[max(start, low) - low : min(stop, high) - low])
        if len(found) == 1:
            return found[0]
        return vstack(found, format="csr") if issparse(found[0]) else np.concatenate(found)

    def _part(self, number: int) -> Any:
        kept, part = self._kept
        if kept != number:
            part = self._read_part(number)
            height = self._bounds[number + 1] - self._bounds[number]
            if tuple(part.shape) != (height, self.shape[1]):
                raise OutOfCoreError(
                    f"chunk {number:,} of {self.name} has the shape {tuple(part.shape)}, where "
                    f"{(height, self.shape[1])} is announced. All chunks need the same columns."
                )
            part = part.tocsr() if issparse(part) else part
            self._kept = number, part
        return part

    @property
    def bounds(self) -> Sequence[int]:
        """The first row of each part."""
        return self._bounds

    @property
    def n_bytes(self) -> int:
        """What all rows take in memory."""
        return super().n_bytes if self._n_bytes is None else self._n_bytes


class DerivedSource(Source):
    """Some columns of another source; subclasses make other rows of it, as many.

    Parameters
    ----------
    source : Source
    mark : tuple
        What its fingerprint has besides that of the other source.
    columns : int array, optional
        Else all of them.
    """

    def __init__(
        self,
        source: Source,
        mark: tuple[Any, ...] = (),
        columns: NDArray[np.integer] | None = None,
    ) -> None:
        self.source = source
        self.name, self.shape, self.dtype = source.name, source.shape, source.dtype
        self.is_sparse, self.is_log = source.is_sparse, source.is_log
        self._mark, self.columns = mark, columns
        if columns is not None:
            self.shape = (source.shape[0], len(columns))
            self._mark = (*mark, np.asarray(columns).tobytes())

    def read(self, start: int, stop: int) -> Any:
        """Return rows with the chosen columns."""
        rows = self.source.read(start, stop)
        if self.columns is None:
            return rows
        return rows.tocsr()[:, self.columns] if issparse(rows) else rows[:, self.columns]

    @property
    def bounds(self) -> Sequence[int]:
        """Those of the other source."""
        return self.source.bounds

    @property
    def n_bytes(self) -> int:
        """Those of the other source, with the type and the number of these columns."""
        of_type = max(4, self.dtype.itemsize) / max(4, self.source.dtype.itemsize)
        return int(self.source.n_bytes * of_type * (self.shape[1] / max(1, self.source.shape[1])))

    @property
    def fingerprint(self) -> tuple[Any, ...] | None:
        """That of the other source, marked."""
        own = self.source.fingerprint
        return None if own is None else (*own, *self._mark)

    def place(self, start: int, stop: int) -> str:
        """Say where rows are."""
        return self.source.place(start, stop)


# --- objects of other libraries -------------------------------------------------------------------


def find_source(X: Any, name: str = "X") -> Source | None:
    """Return the source of what stays on disk or on a cluster; None for anything else.

    Parameters
    ----------
    X : object
        A memory map of numpy, an array of dask, h5py or zarr, or a sparse matrix of an AnnData file
        that is open (``read_h5ad(..., backed="r").X``).
    name : str
        For messages.

    Returns
    -------
    Source or None
    """
    if isinstance(X, np.memmap):
        return _of_array(X, name)
    match type(X).__module__.partition(".")[0]:
        case "dask":
            return _from_dask(X, name)
        case "h5py":
            _check_open(X, name)
            file = getattr(getattr(X, "file", None), "filename", None)
            about = None if file is None else (*of_file(file), str(X.name))
            return _of_array(X, name, about) if hasattr(X, "dtype") else None
        case "zarr":
            return _of_array(X, name) if hasattr(X, "dtype") else None
        case "anndata" if hasattr(X, "group") and hasattr(X, "format"):
            _check_open(X.group, name)
            return from_group(X.group, X.shape, X.format, name)
    return None


def _check_open(part: Any, name: str) -> None:
    if type(part).__module__.startswith("h5py") and not part:
        raise OutOfCoreError(f"{name} cannot be read: its file is closed. Open it again.")


def _of_array(X: Any, name: str, fingerprint: Any = None) -> Source:
    if X.ndim != 2:
        raise _wrong_dimensions(X)
    return ArraySource(X, name, fingerprint)


def _wrong_dimensions(X: Any) -> ValueError:
    return ValueError(
        f"X must have rows and columns: got {type(X).__name__} of {X.ndim} dimensions, shape "
        f"{tuple(X.shape)}."
    )


def from_group(
    group: Any, shape: Sequence[int], form: str, name: str = "X", fingerprint: Any = None
) -> CompressedSource:
    """Return the source of a group of HDF5 or zarr that holds a sparse matrix.

    Parameters
    ----------
    group : group of h5py or zarr
        With data, indices and indptr.
    shape : (int, int)
    form : {"csr", "csc"}
    name : str
    fingerprint : tuple, optional

    Returns
    -------
    CompressedSource
    """
    if not form.startswith("csr"):
        raise OutOfCoreError(
            f"{name} is stored by columns ({form}), and rows cannot be read from it without "
            "reading all of it. Write it by rows: adata.X = adata.X.tocsr() before writing."
        )
    if fingerprint is None and hasattr(group, "file"):
        fingerprint = (*of_file(group.file.filename), str(group.name))
    values, columns, starts = (group[part] for part in ("data", "indices", "indptr"))
    return CompressedSource(values, columns, starts, shape, name, fingerprint)


def _from_dask(X: Any, name: str) -> Source | None:
    """Return the source of a dask array; its chunks are computed one after the other."""
    if not hasattr(X, "chunks") or not hasattr(X, "rechunk"):
        raise TypeError(
            f"X must be an array: got dask's {type(X).__name__}. Give its values, with known "
            "lengths: X.to_dask_array(lengths=True)."
        )
    if X.ndim != 2:
        raise _wrong_dimensions(X)
    if np.isnan(X.shape[0]):
        raise ValueError(
            "X must have a known number of rows: this array of dask does not know it. Say "
            "X.compute_chunk_sizes() first."
        )
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    parts = X.to_delayed().ravel()
    form = *X.shape[1:], X.dtype, lambda number: parts[number].compute()
    return PartsSource(X.chunks[0], *form, is_sparse=issparse(X._meta), name=name)
