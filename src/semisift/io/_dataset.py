"""From a table to what a ranker takes: numbers, names, labels and facts of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.io._features import prepare_features
from semisift.io._guards import FileError, error_context
from semisift.io._labels import find_labels, hide_labels, join_column, text_of
from semisift.io._on_disk import few_rows, sample_places
from semisift.io._options import FORMATS, Reading, format_option
from semisift.io._side_files import read_pairs
from semisift.io._table import MISSING, FileTable, Preparation, find_column
from semisift.utils._labels import parse_labels
from semisift.utils._text import examples, join, quote
from semisift.utils._warnings import warn

# Fewer rows are easily counted by chance.
MIN_ROWS = 5


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table that is ready for a ranker.

    Attributes
    ----------
    X : array, sparse array or OutOfCoreMatrix of shape (n_rows, n_columns)
        Finite numbers, and NaN for missing values that were to be kept. It knows the names of its
        columns, which rankers take from it. Rows that do not fit into memory stay in the file, and
        rankers go through them in blocks.
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

        Columns and rows keep their order, and every cell is as it was read.
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
    with error_context(table.path):
        return _prepare(table, reading or Reading(), labels_table)


def _prepare(table: FileTable, reading: Reading, labels_table: FileTable | None) -> Dataset:
    row_names, id_columns = find_row_names(table, reading.id)
    prep = Preparation(table, reading, labels_table, row_names, [*table.notes])
    y, label_columns, where = find_labels(prep)
    of_rows, columns_of_rows = _sample_info(prep)
    beside = label_columns | id_columns | columns_of_rows
    dropped = set()
    if not table.transposed or not table.is_frame:  # else they were columns of the file
        dropped = {find_column(table, wanted, "drop") for wanted in reading.drop}
    declared = {find_column(table, wanted, "category") for wanted in reading.category}
    prep.table = table = replace(table, categorical=table.categorical | declared)
    aside = beside | dropped
    positions = np.flatnonzero([name not in aside for name in table.names])
    if not len(positions):
        raise FileError(f"no column is left to rank beside {examples(sorted(aside))}.")
    features = prepare_features(prep, positions)
    X, rows, notes = features.X, features.rows, prep.notes
    y, hidden = y[rows], None
    must_link, cannot_link = read_pairs(prep, rows, y)
    if reading.labels_per_class is not None:
        y, hidden = hide_labels(y, reading.labels_per_class, reading.seed, where, notes)
    of_rows = {name: given[rows] for name, given in of_rows.items()}
    if "batch" in of_rows:
        notes += describe_confounding(y, of_rows["batch"])
    _warn_of_row_numbers(table, X)
    return Dataset(
        X=X,
        y=y,
        feature_names=X.feature_names.tolist(),
        variables=[table.names[j] for j in features.positions.tolist()],
        variable_of=features.variable_of,
        row_names=None if row_names is None else [row_names[i] for i in rows],
        rows=rows,
        hidden=hidden,
        notes=notes,
        table=table,
        beside=frozenset(beside),
        must_link=must_link,
        cannot_link=cannot_link,
        usual_total=features.total,
        **of_rows,
    )


def _warn_of_row_numbers(table: FileTable, X: Any) -> None:
    """Warn of columns that count the rows: where rows are sorted by class, they look useful."""
    n_rows, names = X.shape[0], X.feature_names
    if issparse(X) or getattr(X, "is_sparse", False) or n_rows < MIN_ROWS:
        return
    places = sample_places(n_rows) if table.is_stored else np.arange(n_rows)
    X = few_rows(X)
    first = X[0]
    suspects = np.flatnonzero(np.isin(first, (0, 1)) & (X[-1] - first == n_rows - 1))
    for j in suspects:
        if np.array_equal(X[:, j] - first[j], places):
            warn(
                f"{table.path}: the column {quote(names[j])} counts the rows and is ranked like a "
                f"measurement. Leave it out with {format_option('id')} or {format_option('drop')}.",
                UserWarning,
            )


# --- facts of the rows ----------------------------------------------------------------------------


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
            f"{table.place(row)}. The names of rows ({format_option('id', wanted)}) must differ."
        )
    return names, {column}


def _sample_info(prep: Preparation) -> tuple[dict[str, NDArray[Any]], set[str]]:
    """Return groups, batches and weights as `Dataset` has them, and their columns of the table."""
    found: dict[str, NDArray[Any]] = {}
    columns = set()
    for option, name in (("group", "groups"), ("batch", "batch"), ("weight", "weight")):
        if (wanted := getattr(prep.reading, option)) is None:
            continue
        source, joined = prep.table, join_column(prep, option)
        if joined is not None:
            source = replace(source, rows=joined.to_frame())
        column = find_column(source, wanted, option)
        cells = text_of(source, column)
        _check_given(source, cells, wanted, option)
        found[name] = np.array(cells.to_list(), dtype=object)
        if option == "weight":
            found[name] = _weights(source, cells, wanted, prep.reading.decimal_comma)
        if joined is None:
            columns.add(column)
    return found, columns


def _weights(
    table: FileTable, cells: pl.Series, wanted: str, decimal_comma: bool
) -> NDArray[np.float64]:
    plain = cells.str.replace(",", ".", literal=True) if decimal_comma else cells
    weights = plain.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(wrong):
        row = int(wrong[0])
        raise FileError(
            f"{table.place(row)}: the weight ({format_option('weight', wanted)}) must be a "
            f"number of 0 or more, and this one is {quote(cells[row])}."
        )
    return weights


def _check_given(table: FileTable, cells: pl.Series, wanted: str, option: str) -> None:
    """Refuse rows without a group, batch or weight."""
    without = np.flatnonzero(cells.is_in(MISSING).to_numpy())
    if not len(without):
        return
    first, *others = map(table.place, without[:3].tolist())
    more = f" (also {join(others)}{', ...' * (len(without) > 3)})" if others else ""
    raise FileError(
        f"{first}: no {option} is given ({format_option(option, wanted)}), and {len(without)} of "
        f"{table.n_rows} rows have none{more}. Each row must have one."
    )


def describe_confounding(y: NDArray[Any], batches: NDArray[Any]) -> list[str]:
    """Return a sentence on classes that are labelled in batches of their own alone, if any.

    Parameters
    ----------
    y : object array of shape (n_rows,)
        None for unlabelled rows.
    batches : object array of shape (n_rows,)

    Returns
    -------
    list of str

    Examples
    --------
    >>> y = np.array(["a", "b", None, "c"], dtype=object)
    >>> describe_confounding(y, np.array(["1", "1", "2", "2"]))[0][:46]
    "The labelled rows of 'c' are all in batches wi"
    """
    labels = parse_labels(y, len(y))
    batch = parse_labels(batches, len(y), words=frozenset())  # any text is a name
    if labels.n_classes < 2:
        return []
    found = np.zeros((batch.n_classes, labels.n_classes), dtype=bool)
    found[batch.codes[labels.labelled], labels.codes[labels.labelled]] = True
    is_mixed = found.sum(axis=1) > 1
    alone = sorted(map(str, labels.classes[~found[is_mixed].any(axis=0)].tolist()))
    if not alone:
        return []
    each = " each" if len(alone) > 1 else ""
    return [
        f"The labelled rows of {examples(alone)} are{each} all in batches without labelled rows of "
        "another class: taking out the batches takes out part of the difference."
    ]
