"""Missing values and categories: refused by default, settled where the user says so.

And logarithms, where the user wants them.

A categorical variable with the categories red and blue is spread over the columns ``colour=red``
and ``colour=blue`` of zeros and ones; it is ranked as one variable again, by its best column.

Features of a table whose values stay in its file: which columns a ranker goes through.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.io._guards import FileError, check_fits
from semisift.io._numeric import FeatureColumns, read_numbers
from semisift.io._on_disk import OnDisk
from semisift.io._options import Reading, said
from semisift.io._table import FileTable
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.utils._text import examples, plural, quote

MOST_SHOWN = 5

# A variable with more values than this, and than half of the rows, holds no categories.
MOST_CATEGORIES = 20


def settle_missing(
    table: FileTable, columns: FeatureColumns, missing: str, notes: list[str]
) -> tuple[FeatureColumns, NDArray[np.int64] | None]:
    """Refuse, fill or leave out what has missing values.

    Parameters
    ----------
    table : FileTable
        For messages.
    columns : FeatureColumns
    missing : {"error", "keep", "median", "drop-columns", "drop-rows"}
        ``"keep"`` leaves them as they are. ``"median"`` fills a number with the median of its
        column and a category with the most frequent one. Both leave out columns without any value.
    notes : list of str
        Takes sentences on what was done.

    Returns
    -------
    columns : FeatureColumns
        Without missing values, unless they are kept.
    rows : int array or None
        The rows that were kept; None for all of them.
    """
    n_rows, n_columns = columns.X.shape
    row_of, column_of = _find_missing(columns.X)
    counts = np.bincount(column_of, minlength=n_columns)
    affected = np.flatnonzero(counts)
    if not len(affected):
        return columns, None
    if missing == "error":
        _, first = np.unique(column_of, return_index=True)
        raise _error(table, columns, counts, dict(zip(affected, row_of[first], strict=True)))
    if missing == "drop-rows":
        rows = np.setdiff1d(np.arange(n_rows), row_of)
        if not len(rows):
            raise FileError(
                f"{said('missing', 'drop-rows')} leaves no row: every row has a missing value. Try "
                f"{said('missing', 'median')} or {said('missing', 'drop-columns')}."
            )
        left = plural(n_rows - len(rows), "row")
        notes.append(f"{left} of {n_rows} with missing values, left out.")
        X = columns.X[rows]
        return replace(columns, X=X if issparse(X) else np.asfortranarray(X)), rows
    if missing == "keep" and issparse(columns.X):
        raise FileError(
            f"{said('missing', 'keep')} is for dense tables, and this one is sparse, with missing "
            f"values in {plural(len(affected), 'column')}. Say {said('missing', 'median')}, "
            f"{said('missing', 'drop-columns')} or {said('missing', 'drop-rows')}."
        )
    gone = affected
    if missing != "drop-columns":
        gone = np.flatnonzero(counts == n_rows)
    if len(gone) == n_columns:
        why = "all have missing values" if missing == "drop-columns" else "none holds a value"
        raise FileError(f"{said('missing', missing)} leaves no column: {why}.")
    if len(gone):
        notes.append(
            f"{plural(len(gone), 'column')} with missing values, left out: "
            f"{examples([table.names[columns.positions[j]] for j in gone])}."
        )
    filled = np.setdiff1d(affected, gone)
    if len(filled) and missing == "keep":
        have = f"{plural(int(counts[filled].sum()), 'missing value')} in"
        notes.append(f"{have} {plural(len(filled), 'column')}, kept as gaps.")
    elif len(filled):
        notes.append(
            f"{plural(int(counts[filled].sum()), 'missing value')} in "
            f"{plural(len(filled), 'column')}, replaced by the median of the column (by the most "
            "frequent category, where it is categorical)."
        )
        columns = replace(columns, X=_fill(columns, filled))
    if len(gone):
        kept = np.setdiff1d(np.arange(n_columns), gone)
        number = {int(old): new for new, old in enumerate(kept)}
        categories = {number[j]: values for j, values in columns.categories.items() if j in number}
        columns = FeatureColumns(columns.positions[kept], columns.X[:, kept], categories)
    return columns, None


def _error(
    table: FileTable, columns: FeatureColumns, counts: NDArray[np.int64], first: dict[Any, Any]
) -> FileError:
    """Return where values are missing; `first` says in which row of each column that has some."""
    worst = sorted(first, key=lambda j: (-counts[j], j))[:MOST_SHOWN]
    n_rows = columns.X.shape[0]
    shown = ", ".join(
        f"{quote(table.names[columns.positions[j]])} ({counts[j]} of {n_rows} rows)" for j in worst
    )
    more = f" and {len(first) - len(worst)} more" if len(first) > len(worst) else ""
    place = table.place(int(first[worst[0]]), int(columns.positions[worst[0]]))
    return FileError(
        f"values are missing in {len(first)} of {len(counts)} columns: {shown}{more}. The first of "
        f"them: {place}. Say {said('missing', 'median')} to fill them, "
        f"{said('missing', 'drop-columns')} or {said('missing', 'drop-rows')} to leave out what "
        f"has them, or {said('missing', 'keep')} for a method that takes gaps."
    )


def _find_missing(X: Any) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Return the row and the column of each missing value."""
    if issparse(X):
        entries = X.tocoo()
        where = np.isnan(entries.data)
        return entries.row[where], entries.col[where]
    suspects = np.flatnonzero(np.isnan(X.sum(axis=0)))
    rows, places = np.nonzero(np.isnan(X[:, suspects]))
    return rows, suspects[places]


def _fill(columns: FeatureColumns, filled: NDArray[np.int64]) -> Any:
    sparse = issparse(columns.X)
    X = columns.X.tocsc(copy=True) if sparse else columns.X.copy(order="F")
    for j in filled:
        stored = X.data[X.indptr[j] : X.indptr[j + 1]] if sparse else X[:, j]
        values = X[:, [j]].toarray() if sparse else stored
        known = values[~np.isnan(values)]
        fill: Any = np.median(known)
        if j in columns.categories:
            fill = np.bincount(known.astype(np.int64)).argmax()
        stored[np.isnan(stored)] = fill
    return X


def take_logarithms(
    table: FileTable, columns: FeatureColumns, rows: NDArray[np.int64], notes: list[str]
) -> FeatureColumns:
    """Take log(1 + x) of the columns of numbers, or say which value has none.

    Parameters
    ----------
    table : FileTable
        For messages.
    columns : FeatureColumns
    rows : int array
        The rows of the table that `columns` has.
    notes : list of str
        Takes a sentence on what was done.

    Returns
    -------
    FeatureColumns
    """
    X = columns.X.tocsc() if issparse(columns.X) else columns.X
    is_number = ~np.isin(np.arange(X.shape[1]), [*columns.categories])
    if not is_number.any():
        raise FileError(f"{said('log', True)} needs columns of numbers, and there are none.")
    # a gap is neither the least nor the largest value
    lowest = X.min(axis=0).toarray().ravel() if issparse(X) else np.fmin.reduce(X, axis=0)
    if (below := np.flatnonzero(is_number & (lowest < 0))).size:
        raise _error_of_logarithm(table, columns, rows, below)
    dtype = np.result_type(X.dtype, np.float32)
    n_values = X.nnz if issparse(X) else X.size
    check_fits(n_values * dtype.itemsize, "a copy of the table, for its logarithms,")
    notes.append(f"log(1 + x) was taken of {plural(int(is_number.sum()), 'column')}.")
    taken = X.astype(dtype)
    if issparse(taken):
        stored = np.repeat(is_number, np.diff(taken.indptr))
        taken.data[stored] = np.log1p(taken.data[stored])
    else:
        np.log1p(taken, out=taken, where=is_number)
    return replace(columns, X=taken)


def _error_of_logarithm(
    table: FileTable, columns: FeatureColumns, rows: NDArray[np.int64], below: NDArray[np.intp]
) -> FileError:
    """Return where the first value below 0 stands, and in how many columns there are such."""
    first = int(below[0])
    column = columns.X[:, [first]]
    column = (column.toarray() if issparse(column) else column).ravel()
    row = int(np.flatnonzero(column < 0)[0])
    place = table.place(int(rows[row]), int(columns.positions[first]))
    have, them = ("has", "it") if len(below) == 1 else ("have", "them")
    return FileError(
        f"{place}: {said('log', True)} takes log(1 + x) of values of 0 or more, and this one is "
        f"{column[row]:g}. {plural(len(below), 'column')} of {columns.X.shape[1]} {have} values "
        f"below 0: leave {them} out with {said('drop')}, or do without {said('log', True)}."
    )


def check_categories(table: FileTable, columns: FeatureColumns, categorical: str) -> None:
    """Refuse categorical columns that the user has said nothing about, and identifiers.

    Parameters
    ----------
    table : FileTable
        For messages.
    columns : FeatureColumns
    categorical : {"error", "onehot", "ordinal"}
    """
    n_rows = columns.X.shape[0]
    for j, values in columns.categories.items():
        if len(values) > max(MOST_CATEGORIES, n_rows / 2) or 2 < len(values) == n_rows:
            position = int(columns.positions[j])
            raise FileError(
                f"column {position + 1 + table.column_offset} ({quote(table.names[position])}) "
                f"holds words, {len(values)} different ones in {n_rows} rows "
                f"({examples(values, 2)}): this looks like an identifier. If it names the rows, "
                f"say {said('id', table.names[position])}; if it names features, which the file "
                f"has in rows, say {said('transpose', True)}; else leave it out with "
                f"{said('drop')}."
            )
    if columns.categories and categorical == "error":
        shown = ", ".join(
            f"{quote(table.names[columns.positions[j]])} "
            f"({', '.join(values[:3])}{', ...' if len(values) > 3 else ''})"
            for j, values in list(columns.categories.items())[:MOST_SHOWN]
        )
        more = len(columns.categories) - MOST_SHOWN
        shown += f" and {more} more" if more > 0 else ""
        raise FileError(
            f"categories instead of numbers in {len(columns.categories)} of "
            f"{len(columns.positions)} columns: {shown}. Say {said('categorical', 'onehot')} to "
            "give each category a column of its own (they are ranked together, as one variable), "
            f"or {said('categorical', 'ordinal')} to number the categories in their order; or "
            f"leave such columns out with {said('drop')}."
        )


def encode(
    table: FileTable, columns: FeatureColumns, categorical: str, notes: list[str]
) -> tuple[Any, list[str], NDArray[np.int64]]:
    """Turn categories into numbers; a gap stays one, in every column of its variable.

    Parameters
    ----------
    table : FileTable
        For the names.
    columns : FeatureColumns
    categorical : {"onehot", "ordinal"}
        Or anything, where there is no categorical column.
    notes : list of str
        Takes a sentence on what was done.

    Returns
    -------
    X : array or sparse array
    names : list of str
        Of its columns.
    variable_of : int array
        Which column of the features each of its columns came from.
    """
    names = [table.names[j] for j in columns.positions.tolist()]
    n_categorical = len(columns.categories)
    if not n_categorical or categorical == "ordinal":
        if n_categorical:
            spread = plural(n_categorical, "column")
            notes.append(f"The categories of {spread} were numbered in their order.")
        return columns.X, names, np.arange(len(names))
    parts, spread_names, owners = [], [], []
    for j, name in enumerate(names):
        column, values = columns.X[:, [j]], columns.categories.get(j)
        if values is None:
            parts.append(column)
            spread_names.append(name)
            owners.append(j)
            continue
        codes = [code for code in range(len(values)) if (column == code).any()]
        is_each = (column == np.array(codes)).astype(columns.X.dtype)
        parts.append(np.where(np.isnan(column), column, is_each))
        spread_names += [f"{name}={values[code]}" for code in codes]
        owners += [j] * len(codes)
    notes.append(
        f"{plural(n_categorical, 'categorical variable')} spread over "
        f"{plural(len(owners) - len(names) + n_categorical, 'column')} of zeros and ones and "
        f"ranked "
        "as one, each by its best column."
    )
    return np.asfortranarray(np.hstack(parts)), spread_names, np.array(owners)


# --- settle on disk -------------------------------------------------------------------------------


def rows_of_features(
    table: FileTable, positions: NDArray[np.int64], reading: Reading, notes: list[str]
) -> OutOfCoreMatrix:
    """Return the rows of the features, or say which column holds no numbers.

    Parameters
    ----------
    table : FileTable
        Whose values stay in the file.
    positions : int array
        Which columns of the values are features.
    reading : Reading
    notes : list of str
        Takes sentences on what is done.

    Returns
    -------
    OutOfCoreMatrix
    """
    values: OnDisk = table.values
    for position in values.doubtful(positions):
        _refuse(table, position, reading)
    names = [table.names[j] for j in positions.tolist()]
    rows = values.rows(positions, names, reading.log)
    if reading.log:
        notes.append(f"log(1 + x) is taken of {plural(len(names), 'column')}.")
    return rows


def _refuse(table: FileTable, position: int, reading: Reading) -> None:
    """Raise the error that a column of other things than numbers gets in memory, or another."""
    name, column = table.names[position], table.values.column(position)
    alone = FileTable(
        path=table.path,
        form=table.form,
        values=column.alias(name).to_frame(),
        names=[name],
        column_offset=table.column_offset + position,
    )
    found = read_numbers(alone, np.array([0]), (), reading.decimal_comma)
    check_categories(alone, found, "error")
    raise FileError(
        f"column {position + 1 + table.column_offset} ({quote(name)}) holds numbers that are "
        "stored as text, which are read from tables in memory only. Write them as numbers, leave "
        f"the column out with {said('drop', name)}, or allow more memory with {said('max_memory')}."
    )
