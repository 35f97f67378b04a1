"""Values that stay in their file, because they would not fit into memory.

A table of such values knows its names, its labels and all that is said of its rows; the values
themselves are read in blocks of rows by whoever ranks them.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.exceptions import OutOfCoreError
from semisift.io._guards import FileError
from semisift.io._options import Reading, TableOptions, format_option
from semisift.out_of_core._matrix import COPIES, OutOfCoreMatrix
from semisift.out_of_core._sources import DerivedSource, Source
from semisift.preprocessing._counts import first_no_count
from semisift.utils._columns import check_structure
from semisift.utils._files import can_write
from semisift.utils._memory import in_words
from semisift.utils._text import quote

# Options that need all values at once.
OF_ALL_VALUES = ("missing", "na", "categorical", "category", "transpose", "batch", "weight")

# Rows by which a table is judged that cannot be looked at as a whole.
N_PLACES, SIDE_BY_SIDE = 8, 32


class OnDisk(ABC):
    """The values of a table that stay in its file.

    Parameters
    ----------
    shape : (int, int)
    dtype : numpy.dtype
    options : Reading
        Says how much memory to use, and where to keep finished passes.
    """

    ndim = 2

    def __init__(self, shape: tuple[int, int], dtype: Any, options: Reading) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.options = options

    @abstractmethod
    def column(self, position: int) -> pl.Series:
        """Return one column."""

    @abstractmethod
    def source(self, positions: NDArray[np.integer]) -> Source:
        """Return the rows of some columns, which must hold numbers."""

    @abstractmethod
    def doubtful(self, positions: NDArray[np.integer]) -> list[int]:
        """Return those of some columns that do not hold numbers."""

    @abstractmethod
    def part(self, positions: NDArray[np.integer]) -> "OnDisk":
        """Return some columns, which stay in the file as well."""

    def rows(
        self, positions: NDArray[np.integer], names: Sequence[str], log: bool
    ) -> OutOfCoreMatrix:
        """Return some columns, or the logarithms of 1 + their values, for a ranker."""
        source = self.source(positions)
        return OutOfCoreMatrix(
            LogRows(source, names) if log else source,
            max_memory=self.options.max_memory,
            feature_names=names,
            cache_dir=self.options.cache_dir,
            name=source.name,
        )


class MatrixOnDisk(OnDisk):
    """A matrix of numbers.

    Parameters
    ----------
    source : Source
    options : Reading
    """

    def __init__(self, source: Source, options: Reading) -> None:
        super().__init__(source.shape, source.dtype, options)
        self._source = source

    def column(self, position: int) -> pl.Series:
        """Return one column, in a pass over all rows."""
        rows = OutOfCoreMatrix(self._source, max_memory=self.options.max_memory)
        found = rows.columns(np.array([position]))
        return pl.Series(np.ravel(found.toarray() if issparse(found) else found))

    def source(self, positions: NDArray[np.integer]) -> Source:
        """Return the rows of some columns."""
        has_all_columns = len(positions) == self.shape[1]
        return self._source if has_all_columns else DerivedSource(self._source, columns=positions)

    def doubtful(self, positions: NDArray[np.integer]) -> list[int]:
        """Return no column: a matrix holds numbers."""
        return []

    def part(self, positions: NDArray[np.integer]) -> "MatrixOnDisk":
        """Return some columns."""
        return MatrixOnDisk(self.source(positions), self.options)


class LogRows(DerivedSource):
    """The logarithms of 1 + the values of another source."""

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        super().__init__(source, ("log1p",))
        self.names = names
        self.dtype = np.result_type(source.dtype, np.float32)

    def read(self, start: int, stop: int) -> Any:
        """Return rows, or say where a value below 0 stands."""
        rows = self.source.read(start, stop)
        if issparse(rows):
            check_structure(rows, "it")
            rows.sum_duplicates()
        taken = rows.astype(self.dtype)
        if (found := first_no_count(taken, allow_infinite=True)) is not None:
            row, column, value = found
            place = (
                f"{self.place(start + row, start + row + 1)}, column {quote(self.names[column])}"
            )
            problem = (
                f"{format_option('log', True)} takes values of 0 or more, and this one is {value:g}"
            )
            cure = (
                f"Leave the column out with {format_option('drop')}, or do without "
                f"{format_option('log', True)}"
            )
            raise OutOfCoreError(f"{place}: {problem}. {cure}.")
        stored = taken.data if issparse(taken) else taken
        np.log1p(stored, out=stored)
        return taken


# --- what stays -----------------------------------------------------------------------------------


class _Announced(Source):
    """Rows of which the shape, the type and the size are known, and no values."""

    name = "X"

    def __init__(self, shape: tuple[int, int], dtype: Any, n_bytes: int | None) -> None:
        self.shape, self.dtype, self._n_bytes = shape, np.dtype(dtype), n_bytes

    def read(self, start: int, stop: int) -> Any:
        """Raise a NotImplementedError."""
        raise NotImplementedError

    @property
    def n_bytes(self) -> int:
        """Bytes of all rows in memory."""
        return super().n_bytes if self._n_bytes is None else self._n_bytes


def stays_on_disk(
    options: TableOptions, shape: Sequence[int], dtype: Any, n_stored: int | None = None
) -> bool:
    """Tell whether values stay in their file: with what a ranking needs they would not fit.

    Parameters
    ----------
    options : TableOptions
    shape : two integers
    dtype : numpy.dtype
    n_stored : int, optional
        How many values of a sparse matrix are stored.

    Returns
    -------
    bool

    Raises
    ------
    FileError
        If an option needs all values at once, or the folder of `cache_dir` cannot be used.
    """
    dtype = np.dtype(dtype)
    if not isinstance(options, Reading) or not options.supports_out_of_core:
        return False
    if dtype.kind not in "biuf" or len(shape) != 2 or not math.prod(shape):
        return False  # the usual errors are the better ones
    n_bytes = None if n_stored is None else n_stored * (max(dtype.itemsize, 4) + 4)
    size = int(shape[0]), int(shape[1])
    rows = OutOfCoreMatrix(_Announced(size, dtype, n_bytes), max_memory=options.max_memory)
    if rows.fits():
        return False
    plain = Reading()
    for name in OF_ALL_VALUES:
        if (value := getattr(options, name)) != getattr(plain, name):
            shown = value[0] if isinstance(value, tuple) else value
            needs = f"{in_words(COPIES * rows.n_bytes)} of memory, and {in_words(rows.usable)} may"
            cure = f"Allow more with {format_option('max_memory')}, or leave it out"
            raise FileError(
                f"{format_option(name, shown)} needs all values at once: {needs} be used. {cure}."
            )
    if options.cache_dir is not None:
        _make_folder(Path(options.cache_dir))
    return True


def _make_folder(folder: Path) -> None:
    """Make the folder of finished passes, before the first of them takes its time."""
    named = format_option("cache_dir", str(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{named}: no folder can be made there: {error.strerror or error}."
        ) from error
    if not can_write(folder):
        raise FileError(f"{named}: the folder cannot be written to.")


def few_rows(X: Any) -> Any:
    """Return some rows from all over a table that stays in its file; else the table itself."""
    return X.take(sample_places(len(X))) if isinstance(X, OutOfCoreMatrix) else X


def sample_places(n_rows: int) -> NDArray[np.int64]:
    """Return the numbers of some rows, the first and the last among them.

    Many of them stand side by side: each place costs the reading of a chunk.
    """
    starts = np.linspace(0, max(0, n_rows - SIDE_BY_SIDE), N_PLACES).astype(np.int64)
    places = np.unique(starts[:, None] + np.arange(SIDE_BY_SIDE))
    return places[places < n_rows]
