"""Feature columns: missing values, categories, logarithms and counts on one scale.

Missing values and categories are refused by default, and treated as the user says. A categorical
variable with the categories red and blue is spread over the columns ``colour=red`` and
``colour=blue`` of zeros and ones; it is ranked as one variable again, by its best column.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.base._data_kind import LARGEST_LOGARITHM, kind_of_cells, takes_logarithms
from semisift.exceptions import OutOfCoreError
from semisift.io._guards import FileError, check_fits
from semisift.io._numeric import FeatureColumns, read_numbers
from semisift.io._on_disk import few_rows
from semisift.io._options import OF_CELLS, Reading, format_option
from semisift.io._table import FileTable, Preparation
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.preprocessing._counts import first_no_count, format_total, to_log_shares, usual_total
from semisift.utils._named_array import with_names
from semisift.utils._text import examples, plural, quote

MAX_SHOWN = 5

# A variable with more values than this, and than half of the rows, holds no categories.
MAX_CATEGORIES = 20


@dataclass(frozen=True, eq=False)
class Features:
    """Feature columns as a ranker takes them.

    Attributes
    ----------
    X : array, sparse array or OutOfCoreMatrix
        With the names of its columns, and whether it holds logarithms of counts.
    rows : int array
        The rows of the table that were kept.
    positions : int array
        The columns of the table that were kept: the variables.
    variable_of : int array
        The variable of each column of `X`.
    total : float or None
        The median total that counts were brought to.
    """

    X: Any
    rows: NDArray[np.int64]
    positions: NDArray[np.int64]
    variable_of: NDArray[np.int64]
    total: float | None


def prepare_features(prep: Preparation, positions: NDArray[np.int64]) -> Features:
    """Return the columns at some positions of a table as a ranker takes them."""
    table, reading = prep.table, prep.reading
    rows = np.arange(table.n_rows)
    if table.is_stored:
        stored = _rows_on_disk(prep, positions)
        stored, stored.is_log, total = _scale(prep, stored)
        return Features(stored, rows, positions, np.arange(len(positions)), total)
    columns = read_numbers(table, positions, reading.na, reading.decimal_comma)
    _check_categories(table, columns, reading.categorical)
    columns, rows = _treat_missing(prep, columns)
    if reading.log:
        columns = _take_logarithms(prep, columns, rows)
    X, is_log, total = _scale(prep, columns.X, columns, rows)
    columns = replace(columns, X=X)
    X, names, variable_of = _encode(prep, columns)
    X = with_names(X, names, is_log=is_log)
    return Features(X, rows, columns.positions, variable_of, total)


# --- missing values -------------------------------------------------------------------------------


def _treat_missing(
    prep: Preparation, columns: FeatureColumns
) -> tuple[FeatureColumns, NDArray[np.int64]]:
    """Refuse, keep, fill or leave out missing values; return the columns and the kept rows.

    ``"median"`` fills a number with the median of its column and a category with the most frequent
    one. It and ``"keep"`` leave out columns without any value.
    """
    table, missing, notes = prep.table, prep.reading.missing, prep.notes
    n_rows, n_columns = columns.X.shape
    every = np.arange(n_rows)
    row_of, column_of = _find_missing(columns.X)
    counts = np.bincount(column_of, minlength=n_columns)
    affected = np.flatnonzero(counts)
    if not len(affected):
        return columns, every
    if missing == "error":
        raise _missing_error(table, columns, counts, row_of, column_of)
    if missing == "drop-rows":
        rows = np.setdiff1d(every, row_of)
        if not len(rows):
            raise FileError(
                f"{format_option('missing', missing)} leaves no row: all have missing values."
            )
        left = plural(n_rows - len(rows), "row")
        notes.append(f"{left} of {n_rows} with missing values, left out.")
        X = columns.X[rows]
        return replace(columns, X=X if issparse(X) else np.asfortranarray(X)), rows
    if missing == "keep" and issparse(columns.X):
        cure = f"Say {format_option('missing', 'median')}, or leave such columns or rows out"
        raise FileError(
            f"{format_option('missing', missing)} is for dense tables: this is sparse. {cure}."
        )
    gone = affected if missing == "drop-columns" else np.flatnonzero(counts == n_rows)
    if len(gone) == n_columns:
        why = "all have missing values" if missing == "drop-columns" else "none holds a value"
        raise FileError(f"{format_option('missing', missing)} leaves no column: {why}.")
    if len(gone):
        names = examples([table.names[columns.positions[j]] for j in gone])
        notes.append(f"{plural(len(gone), 'column')} with missing values, left out: {names}.")
    filled = np.setdiff1d(affected, gone)
    if len(filled):
        done = "kept as missing values"
        if missing != "keep":
            columns = replace(columns, X=_fill(columns, filled))
            done = "replaced by the median (in categorical columns by the most frequent category)"
        values = plural(int(counts[filled].sum()), "missing value")
        notes.append(f"{values} in {plural(len(filled), 'column')}, {done}.")
    if len(gone):
        kept = np.setdiff1d(np.arange(n_columns), gone)
        number = {int(old): new for new, old in enumerate(kept)}
        categories = {number[j]: values for j, values in columns.categories.items() if j in number}
        columns = FeatureColumns(columns.positions[kept], columns.X[:, kept], categories)
    return columns, every


def _missing_error(
    table: FileTable,
    columns: FeatureColumns,
    counts: NDArray[np.int64],
    row_of: NDArray[np.integer],
    column_of: NDArray[np.integer],
) -> FileError:
    """Return where values are missing: the worst columns, and the first cell of the worst one."""
    affected = np.flatnonzero(counts).tolist()
    worst = sorted(affected, key=lambda j: (-counts[j], j))[:MAX_SHOWN]
    names = [quote(table.names[columns.positions[j]]) for j in worst]
    n_rows, pairs = columns.X.shape[0], zip(names, worst, strict=True)
    shown = ", ".join(f"{name} ({counts[j]} of {n_rows} rows)" for name, j in pairs)
    more = f" and {len(affected) - len(worst)} more" if len(affected) > len(worst) else ""
    row = int(row_of[(column_of == worst[0]).argmax()])
    return FileError(
        f"values are missing in {len(affected)} of {len(counts)} columns: {shown}{more}. The first "
        f"of them: {table.place(row, int(columns.positions[worst[0]]))}. Say "
        f"{format_option('missing', 'median')} to fill them, "
        f"{format_option('missing', 'drop-columns')} or "
        f"{format_option('missing', 'drop-rows')} to leave out what has them, or "
        f"{format_option('missing', 'keep')} for a method that takes them."
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


# --- categories -----------------------------------------------------------------------------------


def _check_categories(table: FileTable, columns: FeatureColumns, categorical: str) -> None:
    """Refuse categorical columns that the user has said nothing about, and identifiers."""
    n_rows = columns.X.shape[0]
    shown = []
    for j, values in columns.categories.items():
        position = int(columns.positions[j])
        name = table.names[position]
        if len(values) > max(MAX_CATEGORIES, n_rows / 2) or 2 < len(values) == n_rows:
            raise FileError(
                f"column {position + 1 + table.column_offset} ({quote(name)}) looks like an "
                f"identifier: {len(values)} different words in {n_rows} rows "
                f"({examples(values, 2)}). If it names the rows, pass "
                f"{format_option('id', name)}; if it names features, pass "
                f"{format_option('transpose', True)}; or leave it out."
            )
        shown.append(f"{quote(name)} ({', '.join(values[:3])}{', ...' * (len(values) > 3)})")
    if shown and categorical == "error":
        more = f" and {len(shown) - MAX_SHOWN} more" if len(shown) > MAX_SHOWN else ""
        raise FileError(
            f"categories instead of numbers in {len(shown)} of {len(columns.positions)} columns: "
            f"{', '.join(shown[:MAX_SHOWN])}{more}. Say {format_option('categorical', 'onehot')} "
            f"for a column of each category, {format_option('categorical', 'ordinal')} to number "
            f"the categories, or leave such columns out with {format_option('drop')}."
        )


def _encode(prep: Preparation, columns: FeatureColumns) -> tuple[Any, list[str], NDArray[np.int64]]:
    """Return X with categories as numbers, the names of its columns and the variable of each.

    A missing value stays one, in every column of its variable.
    """
    names = [prep.table.names[j] for j in columns.positions.tolist()]
    n_categorical = len(columns.categories)
    if n_categorical and prep.reading.categorical == "ordinal":
        spread = plural(n_categorical, "column")
        prep.notes.append(f"The categories of {spread} were numbered in their order.")
    if not n_categorical or prep.reading.categorical == "ordinal":
        return columns.X, names, np.arange(len(names))
    parts, spread_names, owners = [], [], []
    for j, name in enumerate(names):
        column, values = columns.X[:, [j]], columns.categories.get(j)
        if values is None:
            parts.append(column)
            spread_names.append(name)
            owners.append(j)
            continue
        codes = np.unique(column[~np.isnan(column)]).astype(int).tolist()
        is_each = (column == np.array(codes)).astype(columns.X.dtype)
        parts.append(np.where(np.isnan(column), column, is_each))
        spread_names += [f"{name}={values[code]}" for code in codes]
        owners += [j] * len(codes)
    spread = plural(len(owners) - len(names) + n_categorical, "column")
    prep.notes.append(
        f"{plural(n_categorical, 'categorical variable')} spread over {spread} of zeros and ones "
        "and ranked as one, each by its best column."
    )
    return np.asfortranarray(np.hstack(parts)), spread_names, np.array(owners)


# --- logarithms and counts ------------------------------------------------------------------------


def _take_logarithms(
    prep: Preparation, columns: FeatureColumns, rows: NDArray[np.int64]
) -> FeatureColumns:
    """Return the columns of numbers as log(1 + x); refuse values below 0."""
    X = columns.X.tocsc() if issparse(columns.X) else columns.X
    is_number = ~np.isin(np.arange(X.shape[1]), [*columns.categories])
    log = format_option("log", True)
    if not is_number.any():
        raise FileError(f"{log} needs columns of numbers, and there are none.")
    # a missing value is neither the lowest nor the highest one
    lowest = X.min(axis=0).toarray().ravel() if issparse(X) else np.fmin.reduce(X, axis=0)
    if (below := np.flatnonzero(is_number & (lowest < 0))).size:
        column = X[:, [below[0]]]
        column = (column.toarray() if issparse(column) else column).ravel()
        row = int(np.flatnonzero(column < 0)[0])
        place = prep.table.place(int(rows[row]), int(columns.positions[below[0]]))
        have = "column has" if len(below) == 1 else "columns have"
        problem = f"{place}: {log} takes values of 0 or more, and this one is {column[row]:g}"
        cure = f"leave such out with {format_option('drop')}, or do without {log}"
        raise FileError(f"{problem}. {len(below):,} {have} values below 0: {cure}.")
    dtype = np.result_type(X.dtype, np.float32)
    n_values = X.nnz if issparse(X) else X.size
    check_fits(n_values * dtype.itemsize, "a copy of the table, for its logarithms,")
    prep.notes.append(f"log(1 + x) was taken of {plural(int(is_number.sum()), 'column')}.")
    taken = X.astype(dtype)
    if issparse(taken):
        stored = np.repeat(is_number, np.diff(taken.indptr))
        taken.data[stored] = np.log1p(taken.data[stored])
    else:
        np.log1p(taken, out=taken, where=is_number)
    return replace(columns, X=taken)


def _scale(
    prep: Preparation,
    X: Any,
    columns: FeatureColumns | None = None,
    rows: NDArray[np.int64] | None = None,
) -> tuple[Any, bool, float | None]:
    """Bring counts to one total by row and take log(1 + x), where that is to be done.

    Return the values, whether they are logarithms of counts, and the total. Values that stay in the
    file are judged by some of their rows; `columns` and `rows` are of those in memory.
    """
    table, reading, notes = prep.table, prep.reading, prep.notes
    is_wanted, has_words = reading.normalize, columns is not None and bool(columns.categories)
    if is_wanted is None and (reading.log or table.form not in OF_CELLS or has_words):
        is_wanted = False
    if is_wanted is False:
        return X, False, None
    if is_wanted and (problem := _no_count(table, columns, rows)):
        raise FileError(problem)
    some = few_rows(X)
    kind = kind_of_cells(some.astype(np.result_type(some.dtype, np.float32), copy=False))
    if not takes_logarithms(kind, is_wanted):
        is_log = kind == "logarithms"
        if is_log:
            fractions = f"fractions of at most {LARGEST_LOGARITHM:g}, most of them 0"
            notes.append(f"The values look like logarithms of counts ({fractions}): kept so.")
        return X, is_log, None
    if columns is not None:
        n_values = X.nnz if issparse(X) else X.size
        check_fits(16 * n_values, f"the table as {n_values:,} logarithms, and a copy,")
    try:
        usual = usual_total(some) if columns is None and reading.totals_from_sample else None
        shares, total = to_log_shares(X, usual)
    except OutOfCoreError as error:
        raise FileError(f"{error} {_way_out()}") from error
    brought = f"each row was brought to the median total ({format_total(total)})"
    done = f"{brought}, and log(1 + x) was taken"
    note = f"The table holds counts: {done}"
    if kind != "counts":
        odd = "More than half of the values are other than 0, which is unusual for counts"
        note = f"{odd}. As {format_option('normalize', True)} says, {done}"
    elif not is_wanted:
        note += f"; {format_option('normalize', False)} leaves them as they are"
    notes.append(f"{note}.")
    is_dense = not issparse(shares) and columns is not None
    return np.asfortranarray(shares) if is_dense else shares, True, total


def _no_count(
    table: FileTable, columns: FeatureColumns | None, rows: NDArray[np.int64] | None
) -> str | None:
    """Return why values in memory are no counts: categories, or the first one below 0."""
    if columns is None or rows is None:
        return None
    wanted = f"{format_option('normalize', True)} takes rows of counts"
    if columns.categories:
        named = [table.names[columns.positions[j]] for j in columns.categories]
        have = f"{plural(len(named), 'column')} of {columns.X.shape[1]} with categories"
        return f"{wanted}, and there are {have}: {examples(named)}. {_way_out()}"
    if (found := first_no_count(columns.X)) is None:
        return None
    row, column, value = found
    place = table.place(int(rows[row]), int(columns.positions[column]))
    return f"{place}: {wanted}, which are 0 or more, and this value is {value:g}. {_way_out()}"


def _way_out() -> str:
    return (
        f"Leave such columns out with {format_option('drop')}, or pass "
        f"{format_option('normalize', False)}."
    )


# --- values that stay in their file ---------------------------------------------------------------


def _rows_on_disk(prep: Preparation, positions: NDArray[np.int64]) -> OutOfCoreMatrix:
    """Return the rows of the features, or raise for a column that holds no numbers."""
    table, reading = prep.table, prep.reading
    for position in table.values.doubtful(positions):
        _raise_not_numeric(table, position, reading)
    names = [table.names[j] for j in positions.tolist()]
    if reading.log:
        prep.notes.append(f"log(1 + x) is taken of {plural(len(names), 'column')}.")
    return table.values.rows(positions, names, reading.log)


def _raise_not_numeric(table: FileTable, position: int, reading: Reading) -> None:
    """Raise the error that a column without numbers gets in memory, or another."""
    name, column = table.names[position], table.values.column(position)
    offset = table.column_offset + position
    values = column.alias(name).to_frame()
    alone = FileTable(table.path, table.form, values, [name], column_offset=offset)
    found = read_numbers(alone, np.array([0]), (), reading.decimal_comma)
    _check_categories(alone, found, "error")
    raise FileError(
        f"column {offset + 1} ({quote(name)}) holds numbers as text, which are read in memory "
        f"only. Write them as numbers, leave the column out with {format_option('drop', name)}, "
        f"or allow more memory with {format_option('max_memory')}."
    )
