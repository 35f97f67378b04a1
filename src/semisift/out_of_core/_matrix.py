"""OutOfCoreMatrix: rows that stay where they are, read in blocks of fixed bounds.

A block begins at a row whose number is a multiple of the height of blocks, which follows from the
number of columns. So what is added block by block has the same bits however the rows are stored,
and whoever reads them. Several blocks are read at once, the next ones while these are worked on.
"""

import hashlib
import math
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from semisift.exceptions import OutOfCoreError
from semisift.out_of_core._sources import ArraySource, Source, find_source
from semisift.utils._columns import blank_columns, check_structure, copy_rows
from semisift.utils._files import drafts
from semisift.utils._memory import available_memory, in_words, read_size
from semisift.utils._named_array import NamedColumnsMixin
from semisift.utils._text import quote
from semisift.utils._typing import Floats, Ints
from semisift.utils._validation import check_callable, check_path, check_text

# Values of a block, and the fewest and most rows of one.
BLOCK_VALUES = 1 << 23
MIN_ROWS, MAX_ROWS = 64, 1 << 20

# Blocks are read together as long as they take no more, and by default no more of the memory.
READ_BYTES = 1 << 26
SHARE_OF_MEMORY = 0.5

# What a ranking needs of memory, in copies of the rows that it holds.
COPIES = 4

# Below this share of wanted rows single ones are looked up.
MIN_WANTED = 1 / 64

Progress = Callable[[str, int, int], None]


class OutOfCoreMatrix(NamedColumnsMixin):
    """Rows of numbers that stay on disk or on a cluster, for rankers to go through in blocks.

    Rankers make one by themselves of what they are given; by hand it says how much memory to use,
    where to keep finished passes, and whom to tell of the progress.

    Parameters
    ----------
    X : object
        A memory map of numpy, an array of dask (dense or sparse chunks), h5py or zarr, the ``X`` of
        an AnnData file that was opened with ``backed="r"`` or ``anndata.experimental.read_lazy``,
        or an array or sparse matrix in memory.
    max_memory : int or str, default=None
        What may be held of the rows in memory, in bytes or as ``"4GB"``. Rows that fit into it,
        with the copies that a ranking needs, are loaded as a whole. None is half of what is free.
    feature_names : sequence of str, default=None
        Names of the columns.
    cache_dir : str or path, default=None
        Folder in which the results of finished passes over the rows are kept: a second start with
        the same rows goes on from there. For rows of a file, which is known by its size and time.
    progress : callable, default=None
        Called with the name of a pass, the rows that it has done and the number of rows.
    name : str, default="X"
        What messages call the rows.

    Attributes
    ----------
    shape : (int, int)
    dtype : numpy.dtype
        float32 for what it holds exactly, else float64.
    is_sparse : bool
    block_rows : int
        Rows of a block.

    Examples
    --------
    >>> import numpy as np
    >>> from semisift import OutOfCoreMatrix
    >>> rows = OutOfCoreMatrix(np.arange(12.0).reshape(4, 3))
    >>> rows.shape, rows.take(np.array([1, 3])).tolist()
    ((4, 3), [[3.0, 4.0, 5.0], [9.0, 10.0, 11.0]])
    """

    ndim = 2
    has_missing = False  # which rows in memory may have

    def __init__(
        self,
        X: Any,
        *,
        max_memory: int | str | None = None,
        feature_names: Any = None,
        cache_dir: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
        name: str = "X",
    ) -> None:
        check_path(cache_dir, "cache_dir", or_none=True)
        check_callable(progress, "progress")
        check_text(name, "name")
        if isinstance(X, OutOfCoreMatrix):
            raise TypeError(
                "X must be where rows are stored: got OutOfCoreMatrix, which is used as it is."
            )
        found = X if isinstance(X, Source) else find_source(X, name)
        if found is None:
            found = ArraySource(X if issparse(X) else np.asarray(X), name)
        self.source: Source = found
        self.shape = found.shape
        self.is_sparse = found.is_sparse
        self.dtype = float_type(found.dtype)
        self.is_log = found.is_log
        self.feature_names = None if feature_names is None else np.array(feature_names, object)
        if self.feature_names is not None and self.feature_names.shape != (self.shape[1],):
            is_list = self.feature_names.ndim == 1
            got = f"{len(self.feature_names):,} names" if is_list else quote(feature_names)
            raise ValueError(f"feature_names must name the {self.shape[1]:,} columns: got {got}.")
        self.max_memory = None if max_memory is None else read_size(max_memory, "max_memory")
        self.cache_dir = None if cache_dir is None else Path(cache_dir)
        if cache_dir is not None and found.fingerprint is None and not found.in_memory:
            raise ValueError(
                f"cache_dir={str(cache_dir)!r}: passes are kept for files alone, and nothing tells "
                f"whether {name} holds the same rows in another process. Give the file, or leave "
                "passes out."
            )
        self.progress = progress
        self.block_rows = _height(self.shape[1])
        self._kept: dict[str, Any] = {}
        self._blank: NDArray[np.bool_] | None = None  # columns that hold zeros, whatever is stored

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        n_rows, n_columns = self.shape
        return f"<OutOfCoreMatrix: {n_rows:,} rows of {n_columns:,} columns, {kind} {self.dtype}>"

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def n_bytes(self) -> int:
        """What all rows take in memory."""
        return self.source.n_bytes * self.dtype.itemsize // max(4, self.source.dtype.itemsize)

    @property
    def usable(self) -> int:
        """How many bytes of rows may be held."""
        if self.max_memory is not None:
            return self.max_memory
        free = None if self.source.in_memory else available_memory()
        return 1 << 62 if free is None else int(SHARE_OF_MEMORY * free)

    @property
    def max_sampled(self) -> int:
        """How many rows may be held, with the copies that a ranking needs."""
        return int(self.usable * len(self) / max(1, COPIES * self.n_bytes))

    def fits(self) -> bool:
        """Return whether all rows may be held with what a ranking needs."""
        return COPIES * self.n_bytes <= self.usable

    @property
    def _row_bytes(self) -> float:
        return max(1.0, self.n_bytes / max(1, len(self)))

    @property
    def is_read_in_place(self) -> bool:
        """Whether the rows are mapped one after the other, and are more than are read at once."""
        return self.source.is_mapped_by_row and self.n_bytes > READ_BYTES

    @property
    def many_rows(self) -> int:
        """Rows of large blocks, for passes whose result does not depend on the blocks."""
        most = int(math.log2(max(1.0, min(READ_BYTES, self.usable // 4) / self._row_bytes)))
        return max(self.block_rows, min(MAX_ROWS, 1 << most))

    # --- reading ---

    def blocks(self, what: str = "reading", n_rows: int | None = None) -> Iterator[tuple[int, Any]]:
        """Yield the first row of each block and its rows, in order.

        Parameters
        ----------
        what : str
            What the pass is for, to those who watch it.
        n_rows : int, optional
            Rows of a block, where the result does not depend on it; else `block_rows`.

        Yields
        ------
        start : int
        rows : C-ordered array or csr_array
            Of float32 or float64, finite; sparse ones are sorted, without zeros and duplicates.
        """
        height = n_rows or self.block_rows
        for start, group in self._groups(what, height):
            for first in range(0, group.shape[0], height):
                yield start + first, _some(group, first, first + height)

    def _groups(self, what: str, height: int) -> Iterator[tuple[int, Any]]:
        """Yield several blocks at once, and read the next ones in the meantime."""
        n_rows, size = len(self), self._group_rows(height)
        starts = range(0, n_rows, size)
        with ThreadPoolExecutor(1, thread_name_prefix="semisift-read") as reader:
            ahead = [reader.submit(self.read, 0, min(size, n_rows))] if n_rows else []
            try:
                for start in starts:
                    group = ahead.pop().result()
                    following = start + size
                    if following < n_rows:
                        stop = min(following + size, n_rows)
                        ahead.append(reader.submit(self.read, following, stop))
                    yield start, group
                    if self.progress is not None:
                        self.progress(what, min(following, n_rows), n_rows)
            finally:
                for task in ahead:
                    task.cancel()

    def _group_rows(self, height: int) -> int:
        """Return how many rows are read at once, a multiple of the height of a block."""
        row = self._row_bytes
        most = min(READ_BYTES, self.usable // 4)
        # two groups at a time, and the parts from which they are made
        least = 4 * min(height, len(self)) * row
        if self.usable < least:
            raise OutOfCoreError(
                f"a block of {min(height, len(self)):,} rows of {self.source.name} needs "
                f"{in_words(int(least))}, and the memory that may be used is "
                f"{in_words(self.usable)}. Allow more memory."
            )
        chunk = max((b - a for a, b in _spans(self.source.bounds)), default=0)
        if chunk * row > self.usable:
            raise OutOfCoreError(
                f"a chunk of {self.source.name} has {chunk:,} rows, which take "
                f"{in_words(int(chunk * row))}, and {in_words(self.usable)} may be used. Write "
                "it with smaller chunks, or allow more memory."
            )
        return height * max(1, int(most / (height * row)))

    def read(self, start: int, stop: int, rows: Ints | None = None) -> Any:
        """Return some rows that follow each other, or those of them that are wanted, clean."""
        numbers = np.arange(start, stop) if rows is None else rows
        where = self.source.place(start, stop)
        try:
            if rows is None:
                found = self.source.read(start, stop)
            else:
                found = self.source.read_some(start, stop, rows - start)
        except (OutOfCoreError, KeyboardInterrupt, MemoryError):
            raise
        except Exception as error:
            where = self._unreadable(start, stop) or where
            raise OutOfCoreError(
                f"{where} cannot be read: {type(error).__name__}: {error}. It is cut or damaged, "
                "or no longer there."
            ) from error
        announced = len(numbers), self.shape[1]
        if tuple(found.shape) != announced:
            raise OutOfCoreError(
                f"{where}: the rows have the shape {tuple(found.shape)}, where {announced} is "
                "announced."
            )
        try:
            clean = self._clean(found)
        except ValueError as error:
            raise OutOfCoreError(f"{where}: {error}") from error
        if self._blank is not None:
            clean = blank_columns(clean, self._blank)
        if not self.has_missing:
            self._check_complete(clean, numbers)
        return clean

    def _unreadable(self, start: int, stop: int) -> str | None:
        """Say which chunk of some rows cannot be read; None where that is not known."""
        for low, high in _spans(self.source.bounds):
            low, high = max(start, low), min(stop, high)
            if low < high:
                try:
                    self.source.read(low, high)
                except Exception:
                    return self.source.place(low, high)
        return None

    def _clean(self, rows: Any) -> Any:
        if not issparse(rows):
            return np.ascontiguousarray(rows, dtype=self.dtype)
        rows = csr_array(rows)
        check_structure(rows, "it")
        rows = rows.astype(self.dtype, copy=False)
        if not rows.has_canonical_format or np.count_nonzero(rows.data) < rows.nnz:
            rows = rows.copy()
            rows.sum_duplicates()
            rows.eliminate_zeros()
        rows.indices = rows.indices.astype(np.int32, copy=False)
        return rows

    def _check_complete(self, rows: Any, numbers: Ints) -> None:
        values = (rows.data if issparse(rows) else rows).ravel()
        if _is_finite(values):
            return
        places = np.flatnonzero(~np.isfinite(values))
        if issparse(rows):
            row = int(np.searchsorted(rows.indptr, places[0], side="right")) - 1
            column = int(rows.indices[places[0]])
        else:
            row, column = divmod(int(places[0]), rows.shape[1])
        is_nan = np.isnan(values[places[0]])
        named = column if self.feature_names is None else repr(self.feature_names[column])
        where = self.source.place(int(numbers[row]), int(numbers[row]) + 1)
        more = f", and {len(places) - 1:,} more in the rows after it" if len(places) > 1 else ""
        raise OutOfCoreError(
            f"Input X contains {'NaN' if is_nan else 'infinity'}.\nFound in {where}, column "
            f"{named}{more}. Fill the missing values, or leave out those rows or columns."
        )

    def take(self, rows: Ints, what: str = "sampling") -> Any:
        """Return some rows, ascending, as an array or csr_array."""
        rows = np.asarray(rows)
        size = self._group_rows(self.block_rows)
        bounds = np.asarray(self.source.bounds)
        found, n_rows = [], len(self)
        edges = np.searchsorted(rows, np.arange(0, n_rows + size, size))
        for number, (low, high) in enumerate(_spans(edges)):
            start = number * size
            stop = min(start + size, n_rows)
            wanted = rows[low:high]
            if len(wanted) > MIN_WANTED * (stop - start):
                found.append(self.read(start, stop, wanted))
            elif len(wanted):
                found += self._look_up(wanted, bounds)
            if self.progress is not None:
                self.progress(what, stop, n_rows)
        if not found:
            empty = np.empty((0, self.shape[1]), dtype=self.dtype)
            return csr_array(empty) if self.is_sparse else empty
        return vstack(found, format="csr") if self.is_sparse else np.concatenate(found)

    def _look_up(self, rows: Ints, bounds: NDArray[np.integer]) -> list[Any]:
        """Return rows that stand far from each other, part by part of the store."""
        parts = np.searchsorted(bounds, rows, side="right")
        each = (rows[parts == part] for part in np.unique(parts))
        return [self.read(int(own[0]), int(own[-1]) + 1, own) for own in each]

    def load(self, *, keeps_missing: bool = False) -> Any:
        """Return all rows as a Fortran-ordered array or csr_array; NaN of dense ones may stay.

        A memory map of such an array is not copied where missing values may stay.
        """
        mapped = self.source.mapped_columns
        if mapped is not None and keeps_missing and self._blank is None:
            return mapped
        other = self._with_missing() if keeps_missing else self
        groups = other._groups("reading", self.block_rows)
        if self.is_sparse:
            return vstack([rows for _, rows in groups], format="csr")
        loaded = np.empty(self.shape, dtype=self.dtype, order="F")
        for start, rows in groups:
            copy_rows(rows, loaded[start : start + len(rows)])
        return loaded

    def is_finite(self) -> bool:
        """Return whether all values are there and finite, after one pass at most."""
        if self.source.dtype.kind != "f":
            return True
        groups = self._with_missing()._groups("looking for missing values", self.block_rows)
        return all(_is_finite(rows.data if issparse(rows) else rows) for _, rows in groups)

    def _with_missing(self) -> "OutOfCoreMatrix":
        other = copy(self)
        other.has_missing = self.has_missing or not self.is_sparse
        return other

    def columns(self, columns: Ints) -> Any:
        """Return some columns of all rows, in one pass."""
        found = [block[:, columns] for _, block in self.blocks("reading columns")]
        return vstack(found, format="csr") if self.is_sparse else np.concatenate(found)

    def blanked(self, columns: NDArray[np.bool_]) -> "OutOfCoreMatrix":
        """Return the same rows with zeros in some columns."""
        other = copy(self)
        other._blank, other._kept = columns, {}
        return other

    # --- finished passes ---

    def cached(self, what: str, about: Any, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the arrays that a pass makes; they are kept, and in the folder of passes as well.

        Parameters
        ----------
        what : str
            Name of the pass.
        about : object
            All that the arrays depend on besides the rows; it can be pickled.
        make : callable
            Makes the arrays, by their names.

        Returns
        -------
        dict of str to array
        """
        own = self.source.fingerprint
        blank = () if self._blank is None else (self._blank.tobytes(),)
        state = pickle.dumps((what, about, own, self.shape, str(self.dtype), *blank))
        key = f"{what.replace(' ', '-')}-{hashlib.sha256(state).hexdigest()[:24]}"
        if key not in self._kept:
            file = None if self.cache_dir is None or own is None else self.cache_dir / f"{key}.npz"
            made = _read_arrays(file)
            if made is None:
                made = make()
                if file is not None:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    with drafts([file]) as (draft,):
                        np.savez(draft, **made)
            self._kept[key] = made
        found: dict[str, Any] = self._kept[key]
        return found


def entries_of(block: Any) -> tuple[Floats, Ints]:
    """Return the values that are not 0, row after row, and their columns."""
    if issparse(block):
        return block.data.astype(np.float64), block.indices
    rows, columns = np.nonzero(block)
    return block[rows, columns].astype(np.float64), columns.astype(np.int32)


def filled_by_row(block: Any) -> Ints:
    """Return how many values of each row are not 0."""
    return np.diff(block.indptr) if issparse(block) else np.count_nonzero(block, axis=1)


def _is_finite(values: NDArray[np.floating]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all())


def _read_arrays(file: Path | None) -> dict[str, Any] | None:
    """Return what a finished pass has left; None where there is none, or where it is damaged."""
    if file is None or not file.exists():
        return None
    try:
        with file.open("rb") as content, np.load(content, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None


def as_stored(X: Any) -> OutOfCoreMatrix | None:
    """Return the rows of what stays on disk or on a cluster; None for what is in memory."""
    if isinstance(X, OutOfCoreMatrix):
        return X
    source = find_source(X)
    return None if source is None else OutOfCoreMatrix(source)


def float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return float32 for what it holds exactly (booleans, short integers), else float64."""
    if dtype.kind not in "biufO":
        raise ValueError(f"X must hold numbers: got an array of dtype {dtype}.")
    short = dtype.kind != "O" and np.result_type(dtype, np.float32) == np.float32
    return np.dtype(np.float32 if short else np.float64)


def _height(n_columns: int) -> int:
    """Return the rows of a block: a power of two."""
    most = BLOCK_VALUES // max(1, n_columns)
    return int(np.clip(1 << int(math.log2(max(1, most))), MIN_ROWS, MAX_ROWS))


def _some(rows: Any, start: int, stop: int) -> Any:
    """Return rows that follow each other, not copied: scipy would look at each value."""
    if not issparse(rows) or (start == 0 and stop >= rows.shape[0]):
        return rows if issparse(rows) else rows[start:stop]
    stop = min(stop, rows.shape[0])
    own = slice(rows.indptr[start], rows.indptr[stop])
    indptr = rows.indptr[start : stop + 1] - rows.indptr[start]
    parts = rows.data[own], rows.indices[own], indptr
    return csr_array(parts, shape=(stop - start, rows.shape[1]))


def _spans(bounds: Any) -> Iterator[tuple[int, int]]:
    if isinstance(bounds, range):
        return iter(())
    return pairwise(bounds)
