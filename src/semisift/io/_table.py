"""FileTable: what a file holds, before anything is decided about it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.exceptions import TableError
from semisift.io._formats._sparse import native
from semisift.io._guards import FileError, error_context
from semisift.io._on_disk import OnDisk
from semisift.io._options import Reading, TableOptions, format_option
from semisift.utils._labels import MISSING as MISSING
from semisift.utils._text import plural, quote

# Names that a mistyped one is compared with: more would take longer than a reader waits.
MAX_COMPARED = 20_000

MAX_CHARACTER = 0x10FFFF


@dataclass(frozen=True, eq=False)
class FileTable:
    """What a file holds: values with named columns, and what is said of the rows beside them.

    Rows are samples and columns are features, also where the file has them the other way round.

    Attributes
    ----------
    path : Path
    form : str
        Key of ``semisift.io.FORMATS``.
    values : polars.DataFrame, array, sparse array or OnDisk of shape (n_rows, n_columns)
        A frame may hold text, numbers, labels and identifiers alike. A matrix holds numbers. What
        does not fit into memory stays in the file.
    names : list of str
        Of the columns; no name twice.
    rows : polars.DataFrame
        What the file says of the rows beside the values, such as labels: one row for each row of
        the values, or no column at all.
    row_names : list of str or None
        Names of the rows, where the file gives them.
    label : str or None
        The column (of `rows` or of the values) that holds the labels unless the user names another.
    categorical : frozenset of str
        Columns that are declared categorical though they may be coded as numbers.
    transposed : bool
        The file has features in rows.
    first_line : int or None
        Line of a text file in which the first row stands, where each row is one line.
    column_offset : int
        Columns of the file before the first of the values: row names.
    notes : tuple of str
        What was left out of the file, as sentences.
    details : mapping
        What only the writer of the same form needs.
    """

    path: Path
    form: str
    values: Any
    names: list[str]
    rows: pl.DataFrame = field(default_factory=pl.DataFrame)
    row_names: list[str] | None = None
    label: str | None = None
    categorical: frozenset[str] = frozenset()
    transposed: bool = False
    first_line: int | None = None
    column_offset: int = 0
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_rows, width = self.values.shape
        with error_context(self.path):
            if not n_rows or not width:
                raise FileError(f"the table is empty: it has {n_rows} rows and {width} columns.")
            if len(self.names) != width:
                raise FileError(f"{len(self.names)} names for {width} columns.")
            check_unique(self.names, "feature" if self.transposed else "column")

    @property
    def is_frame(self) -> bool:
        """Whether the values are a frame, whose columns may hold anything."""
        return isinstance(self.values, pl.DataFrame)

    @property
    def is_stored(self) -> bool:
        """Whether the values stay in the file."""
        return isinstance(self.values, OnDisk)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[0])

    def is_row(self, name: str) -> bool:
        """Whether a row of the file is called so, by its first column or its row names."""
        if self.transposed or self.row_names:
            return not self.transposed and name in (self.row_names or ())
        first = self.values.to_series(0) if self.is_frame else pl.Series(dtype=pl.Null)
        return first.dtype == pl.String and name in first

    def take_columns(self, columns: NDArray[np.integer]) -> "FileTable":
        """Return the table with these columns of the values alone, and all that is said of rows."""
        names = [self.names[j] for j in columns]
        if isinstance(self.values, OnDisk):
            return replace(self, values=self.values.part(columns), names=names)
        values = self.values.select(names) if self.is_frame else self.values[:, columns]
        return replace(self, values=values, names=names)

    def place(self, row: int, column: int | None = None) -> str:
        """Say where a cell stands in the file, counting from 1."""
        number = row + 1 if self.first_line is None else self.first_line + row
        if self.transposed:
            where = f"sample {quote(self.row_names[row]) if self.row_names else row + 1}"
            return where if column is None else f"feature {quote(self.names[column])}, {where}"
        line = f"{'row' if self.first_line is None else 'line'} {number}"
        if column is None:
            return line
        return f"{line}, column {column + 1 + self.column_offset} ({quote(self.names[column])})"


@dataclass(eq=False)
class Preparation:
    """A table that is being prepared for a ranker, and what belongs to it.

    Attributes
    ----------
    table : FileTable
    reading : Reading
        What the user said of it.
    labels : FileTable or None
        A table of its own that holds the labels, joined by the names of the rows.
    row_names : list of str or None
    notes : list of str
        Sentences on what was done.
    """

    table: FileTable
    reading: Reading
    labels: FileTable | None
    row_names: list[str] | None
    notes: list[str]


def from_matrix(
    path: Path,
    form: str,
    X: Any,
    options: TableOptions,
    *,
    names: Sequence[str] | None = None,
    row_names: Sequence[str] | None = None,
    rows: Mapping[str, Any] | None = None,
    label: str | None = None,
    categorical: NDArray[np.bool_] | None = None,
    notes: tuple[str, ...] = (),
    details: Mapping[str, Any] | None = None,
) -> FileTable:
    """Make a table of a matrix of numbers as the file has it.

    Parameters
    ----------
    path, form
        Of the file.
    X : 2-d array, sparse matrix or OnDisk
        As stored; turned round here where the options say so.
    options : TableOptions
    names, row_names : sequence of str, optional
        Names of the features and of the samples. Features without names are called feature_1,
        feature_2, ...
    rows : mapping of name to array, optional
        What is said of the samples; each array must have one value for each sample.
    label : str, optional
        Which of `rows` holds the labels.
    categorical : boolean array, optional
        Which features are categorical.
    notes : tuple of str
        On what was read.
    details : mapping, optional
        For the writer.

    Returns
    -------
    FileTable
    """
    if X.ndim != 2:
        raise FileError(f"the values must be a matrix: got an array of shape {X.shape}.")
    if X.dtype.kind not in "biuf":
        raise FileError(f"the values must be numbers: got an array of type {X.dtype}.")
    if not isinstance(X, OnDisk):
        X = X.T if options.transpose else X
        X = X.tocsr() if issparse(X) else native(X)
    names = [f"feature_{j}" for j in range(1, X.shape[1] + 1)] if names is None else names
    _check_length(X, names, 1, f"{len(names)} feature names")
    if row_names is not None:
        _check_length(X, row_names, 0, f"{len(row_names)} row names")
    rows = rows or {}
    for name, column in rows.items():
        _check_length(X, column, 0, f"{quote(name)} has {len(column)} values")
    if categorical is not None:
        _check_length(X, categorical, 1, f"{len(categorical)} marks of categorical columns")
    what = "feature" if options.transpose else "column"
    named, numbered = resolve_names([str(name) for name in names], what, options)
    is_categorical = np.zeros(len(named), dtype=bool) if categorical is None else categorical
    return FileTable(
        path=path,
        form=form,
        values=X,
        names=named,
        rows=pl.DataFrame({name: as_series(column) for name, column in rows.items()}),
        row_names=None if row_names is None else [str(name) for name in row_names],
        label=label,
        categorical=frozenset(np.array(named, dtype=object)[is_categorical]),
        transposed=options.transpose,
        notes=(*notes, *numbered),
        details={**(details or {}), "names": named},
    )


def _check_length(X: Any, given: Any, axis: int, what: str) -> None:
    """Refuse what has not one value for each row (axis 0) or column of a matrix."""
    if len(given) == X.shape[axis]:
        return
    turn = (
        f" They fit the other side: try again with {format_option('transpose', True)} (or without)."
    )
    cure = turn if len(given) == X.shape[1 - axis] else ""
    raise FileError(f"{what} for {X.shape[axis]} {('rows', 'features')[axis]}.{cure}")


def find_column(table: FileTable, wanted: str, option: str) -> str:
    """Return the name of a column that the user gave by name or by number.

    Parameters
    ----------
    table : FileTable
    wanted : str
        A name, of the values or of what is said of the rows, or the number of a column of the file,
        counted from 1, or from -1 backwards.
    option : str
        By which the user gave it, for messages: "label".

    Returns
    -------
    str
    """
    if wanted in table.rows.columns or wanted in table.names:
        return wanted
    n_columns = len(table.names) + table.column_offset
    problem = f"{format_option(option, wanted)}: {table.path} has no column of this name"
    try:
        number = int(wanted)
    except ValueError:
        every = [*table.rows.columns, *table.names]
        near = get_close_matches(wanted, every[:MAX_COMPARED], n=3) or every[:3]
        cure = f"It has, for example, {', '.join(map(quote, near))}."
        if table.is_row(wanted):
            turn = format_option("transpose", True)
            cure = f"A row is called so: if the file has features in rows, pass {turn}."
        raise TableError(f"{problem}. {cure}") from None
    position = (number - 1 if number > 0 else number + n_columns) - table.column_offset
    if number == 0 or not 0 <= position < len(table.names):
        allowed = f"Columns are counted from {1 + table.column_offset} to {n_columns}"
        raise TableError(f"{problem} or number. {allowed}.")
    return table.names[position]


def drop_columns(table: FileTable, wanted: Sequence[str]) -> FileTable:
    """Return the table without the columns that the user named."""
    dropped = {find_column(table, column, "drop") for column in wanted}
    kept = [j for j, name in enumerate(table.names) if name not in dropped]
    if not kept:
        raise TableError(f"{format_option('drop')}: no column of {table.path} is left.")
    return table.take_columns(np.array(kept)) if dropped else table


def is_number(cell: str) -> bool:
    """Whether Python reads the cell as a number, infinite ones included."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def resolve_names(
    names: Sequence[str], what: str, options: TableOptions
) -> tuple[list[str], tuple[str, ...]]:
    """Return the names, numbered where they stand twice and the user says so, and a note on it."""
    names = list(names)
    n_twice = len(names) - len(set(names))
    if not n_twice or options.duplicates != "number":
        check_unique(names, what, f", or pass {format_option('duplicates', 'number')}")
        return names, ()
    taken, seen, new = set(names), Counter[str](), ""
    for position, name in enumerate(names):
        seen[name] += 1
        if seen[name] == 1:
            continue
        while (new := f"{name} ({seen[name]})") in taken:
            seen[name] += 1
        names[position] = new
        taken.add(new)
    check_unique(names, what)
    note = f"{plural(n_twice, what)} with the name of another, numbered: as {quote(new)}."
    return names, (note,)


def check_unique(names: Sequence[str], what: str, way_out: str = "") -> None:
    """Refuse names that are missing or stand twice, saying which and where."""
    if len(set(names)) == len(names) and all(map(str.strip, names)):
        return
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise FileError(f"{what} {position} has no name. Every {what} needs one: fill it in.")
        if name in seen:
            raise FileError(
                f"the name {quote(name)} stands twice, for {what} {seen[name]} and {what} "
                f"{position}. Every {what} needs a name of its own: rename one of them{way_out}."
            )
        seen[name] = position


def as_series(values: Any) -> pl.Series:
    """Return what is said of rows: text, or numbers, of which whole ones become integers."""
    if isinstance(values, pl.Series):
        return values
    array = native(np.asarray(values).ravel())
    if array.dtype.kind in "US":
        return pl.Series(texts(array), dtype=pl.String)
    if array.dtype.kind == "O":
        return pl.Series(list(array), strict=False)
    given = array[~np.isnan(array)] if array.dtype.kind == "f" else array
    if array.dtype.kind != "f" or np.any(np.abs(given) >= 2**53) or np.any(given % 1):
        return pl.Series(array)
    return pl.Series(array.astype(np.float64)).fill_nan(None).cast(pl.Int64)


def texts(array: NDArray[Any]) -> list[str]:
    """Return the strings of an array of text, of bytes in UTF-8 or of numbers."""
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind == "U" and array.size:
        plain = native(np.ascontiguousarray(array)).ravel()
        codes = plain.view(np.uint32)  # as the file has them, and Python believes anything
        wrong = codes[(codes > MAX_CHARACTER) | ((codes >= 0xD800) & (codes < 0xE000))]
        if len(wrong):
            raise ValueError(f"a text in it holds {wrong[0]:#x}, which is no character")
    return [str(value) for value in array.ravel().tolist()]
