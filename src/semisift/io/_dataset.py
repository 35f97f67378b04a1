"""From a table to what a ranker takes: numbers, names and labels, with nothing left in doubt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.io._counts import Scale, scale_columns, scale_rows
from semisift.io._guards import FileError, naming
from semisift.io._labels import find_labels, hide_labels, join_column, text_of
from semisift.io._missing import (
    check_categories,
    encode,
    rows_of_features,
    settle_missing,
    take_logarithms,
)
from semisift.io._numeric import read_numbers
from semisift.io._on_disk import few_rows, sample_places
from semisift.io._options import FORMATS, Reading, said
from semisift.io._pairs import read_pairs
from semisift.io._sample_info import names_of_rows, say_confounded, weights_of_rows
from semisift.io._table import FileTable, find_column
from semisift.utils._named_array import with_names
from semisift.utils._text import examples, quote
from semisift.utils._warnings import warn

# Fewer rows are easily counted by chance.
FEWEST_ROWS = 5


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table that is ready for a ranker.

    Attributes
    ----------
    X : array, sparse array or OutOfCoreMatrix of shape (n_rows, n_columns)
        Finite numbers, and NaN for gaps that were to be kept. It knows the names of its columns,
        which rankers take from it. Rows that do not fit into memory stay in the file, and rankers
        go through them in blocks.
    y : object array of shape (n_rows,)
        Labels; None for unlabelled rows.
    feature_names : list of str
        Names of the columns of `X`.
    variables : list of str
        Names of the columns of the table that `X` was made of.
    variable_of : int array of shape (n_columns,)
        The variable of each column of `X`; several columns have the same one where a categorical
        variable was spread over them.
    row_names : list of str or None
    rows : int array of shape (n_rows,)
        The rows of the table, where some were left out.
    hidden : object array or None
        Labels that were hidden for a trial.
    notes : list of str
        What was done to the table, as sentences.
    table : FileTable
        What was read.
    beside : frozenset of str
        Columns of the table, or of what it says of the rows, that hold labels, names, groups,
        batches and weights.
    must_link, cannot_link : int array of shape (k, 2), or None
        Pairs of rows of `X`, counted from 0; None where no file was named.
    groups, batch : object array of shape (n_rows,), or None
        Names of the groups and of the batches of rows; None where no column was named.
    weight : float array of shape (n_rows,), or None
        How many rows each row counts for; None where no column was named.
    usual_total : float or None
        The total that the counts of each row were brought to, before log(1 + x) was taken; None
        where that was not done.
    """

    X: Any
    y: NDArray[Any]
    feature_names: list[str]
    variables: list[str]
    variable_of: NDArray[np.int64]
    row_names: list[str] | None
    rows: NDArray[np.int64]
    hidden: NDArray[Any] | None
    notes: list[str]
    table: FileTable
    beside: frozenset[str] = frozenset()
    must_link: NDArray[np.int64] | None = None
    cannot_link: NDArray[np.int64] | None = None
    groups: NDArray[Any] | None = None
    batch: NDArray[Any] | None = None
    weight: NDArray[np.float64] | None = None
    usual_total: float | None = None

    @property
    def is_spread(self) -> bool:
        """Whether a variable has other columns than its own."""
        return self.variables != self.feature_names

    @property
    def of_rows(self) -> dict[str, NDArray[Any]]:
        """What the table says of its rows for `fit`, by the names of its parameters."""
        known = {"groups": self.groups, "batch": self.batch, "sample_weight": self.weight}
        return {name: given for name, given in known.items() if given is not None}

    @property
    def row_ids(self) -> list[str]:
        """Names of the rows, or else their numbers in the table, counted from 1."""
        return self.row_names or [str(row + 1) for row in self.rows]

    def reduced(self, variables: Sequence[str]) -> FileTable:
        """Return the table with these variables alone, its labels and its row names.

        FeatureColumns and rows keep their order, and every cell is as it was read.
        """
        kept = {*variables, *self.beside}
        columns = [j for j, name in enumerate(self.table.names) if name in kept]
        table = self.table.take_columns(np.array(columns))
        if not FORMATS[table.form].written:
            return table
        # in another form, what is said of the rows would be features
        rows = table.rows.select(name for name in table.rows.columns if name in self.beside)
        return replace(table, rows=rows)


def prepare(
    table: FileTable, reading: Reading | None = None, labels_table: FileTable | None = None
) -> Dataset:
    """Turn a table into numbers, names and labels, or say what stands in the way.

    Parameters
    ----------
    table : FileTable
    reading : Reading, optional
        What the user said of it.
    labels_table : FileTable, optional
        A table of its own that holds the labels, joined by the names of the rows.

    Returns
    -------
    Dataset
    """
    with naming(table.path):
        return _prepare(table, reading or Reading(), labels_table)


def _prepare(table: FileTable, reading: Reading, labels_table: FileTable | None) -> Dataset:
    notes = list(table.notes)
    row_names, id_columns = find_row_names(table, reading.id)
    y, label_columns, where = find_labels(table, reading, labels_table, row_names, notes)
    of_rows, columns_of_rows = _of_rows(table, reading, labels_table, row_names)
    beside = label_columns | id_columns | columns_of_rows
    dropped = set()
    if not table.transposed or not table.is_frame:  # else they were columns of the file
        dropped = {find_column(table, wanted, "drop") for wanted in reading.drop}
    declared = {find_column(table, wanted, "category") for wanted in reading.category}
    table = replace(table, categorical=table.categorical | declared)
    aside = beside | dropped
    features = np.flatnonzero([name not in aside for name in table.names])
    if not len(features):
        raise FileError(f"no column is left to rank beside {examples(sorted(aside))}.")
    X, rows, positions, variable_of, scale = _values(table, features, reading, notes)
    y, hidden = y[rows], None
    must_link, cannot_link = read_pairs(reading, table, row_names, rows, y, notes)
    if reading.labels_per_class is not None:
        y, hidden = hide_labels(y, reading.labels_per_class, reading.seed, where, notes)
    of_rows = {name: given[rows] for name, given in of_rows.items()}
    if "batch" in of_rows:
        notes += say_confounded(y, of_rows["batch"])
    _warn_of_row_numbers(table, X)
    return Dataset(
        X=X,
        y=y,
        feature_names=X.feature_names.tolist(),
        variables=[table.names[j] for j in positions.tolist()],
        variable_of=variable_of,
        row_names=None if row_names is None else [row_names[i] for i in rows],
        rows=rows,
        hidden=hidden,
        notes=notes,
        table=table,
        beside=frozenset(beside),
        must_link=must_link,
        cannot_link=cannot_link,
        usual_total=scale.total,
        **of_rows,
    )


def _values(
    table: FileTable, features: NDArray[np.int64], reading: Reading, notes: list[str]
) -> tuple[Any, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Scale]:
    """Return X with its names, and what it was made of.

    That is: rows and variables of the table, the variable of each column, and the scale of the
    values.
    """
    if table.is_stored:
        stored = rows_of_features(table, features, reading, notes)
        stored, scale = scale_rows(table, stored, reading, notes)
        return stored, np.arange(table.n_rows), features, np.arange(len(features)), scale
    columns = read_numbers(table, features, reading.na, reading.decimal_comma)
    check_categories(table, columns, reading.categorical)
    columns, kept = settle_missing(table, columns, reading.missing, notes)
    rows = np.arange(table.n_rows) if kept is None else kept
    if reading.log:
        columns = take_logarithms(table, columns, rows, notes)
    columns, scale = scale_columns(table, columns, rows, reading, notes)
    X, names, variable_of = encode(table, columns, reading.categorical, notes)
    named = with_names(X, names, is_log=scale.is_log)
    return named, rows, columns.positions, variable_of, scale


def _warn_of_row_numbers(table: FileTable, X: Any) -> None:
    """Tell of columns that count the rows: where rows are sorted by class, they look useful."""
    n_rows, names = X.shape[0], X.feature_names
    if issparse(X) or getattr(X, "is_sparse", False) or n_rows < FEWEST_ROWS:
        return
    places = sample_places(n_rows) if table.is_stored else np.arange(n_rows)
    X = few_rows(X)
    first = X[0]
    suspects = np.flatnonzero(np.isin(first, (0, 1)) & (X[-1] - first == n_rows - 1))
    for j in suspects:
        if np.array_equal(X[:, j] - first[j], places):
            warn(
                f"{table.path}: the column {quote(names[j])} counts the rows and is ranked like a "
                f"measurement. Leave it out with {said('id')} or {said('drop')}.",
                UserWarning,
            )


def find_row_names(table: FileTable, wanted: str | None) -> tuple[list[str] | None, set[str]]:
    """Return the names of the rows, and the columns of the table that hold them."""
    if wanted is None:
        return table.row_names, set()
    column = find_column(table, wanted, "id")
    text = text_of(table, column)
    names: list[str] = text.to_list()
    if repeated := text.filter(text.is_duplicated() & (text != "")).to_list():
        row = names.index(repeated[0])
        again = names.index(repeated[0], row + 1)
        raise FileError(
            f"{table.place(again)}: the row is called {quote(repeated[0])}, as is "
            f"{table.place(row)}. The names of rows ({said('id', wanted)}) must differ."
        )
    return names, {column}


def _of_rows(
    table: FileTable,
    reading: Reading,
    labels_table: FileTable | None,
    row_names: Sequence[str] | None,
) -> tuple[dict[str, NDArray[Any]], set[str]]:
    """Return groups, batches and weights as `Dataset` has them, and their columns of the table."""
    found: dict[str, NDArray[Any]] = {}
    columns = set()
    for option, name in (("group", "groups"), ("batch", "batch"), ("weight", "weight")):
        wanted = getattr(reading, option)
        if wanted is None:
            continue
        source, joined = table, None
        if labels_table is not None:
            joined = join_column(table, reading, labels_table, option, row_names)
        if joined is not None:
            source = replace(table, rows=joined.to_frame())
        if option == "weight":
            found[name], column = weights_of_rows(source, wanted, reading.decimal_comma)
        else:
            found[name], column = names_of_rows(source, wanted, option)
        if joined is None:
            columns.add(column)
    return found, columns
