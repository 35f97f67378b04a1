"""From a table to what a ranker takes: numbers, names and labels, with nothing left in doubt."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.exceptions import TableError
from semisift.tables.categories import check_categories, encode
from semisift.tables.labels import LabelChoice, find_labels, text_of
from semisift.tables.missing import settle_missing
from semisift.tables.numbers import read_numbers
from semisift.tables.table import Table, find_column

Missing = Literal["error", "median", "drop-columns", "drop-rows"]
Categorical = Literal["error", "onehot", "ordinal"]


@dataclass(frozen=True)
class Choices:
    """What the user decided about a table.

    Attributes
    ----------
    label : LabelChoice
    id : str or None
        Column that names the rows: not a feature.
    drop : tuple of str
        Further columns that are not features.
    missing : {"error", "median", "drop-columns", "drop-rows"}
    categorical : {"error", "onehot", "ordinal"}
    missing_values : tuple of str
        Cells that mean "missing", besides empty ones, ``NA``, ``?`` and the like.
    decimal_comma : bool
        Numbers are written 1,5 instead of 1.5.
    """

    label: LabelChoice = field(default_factory=LabelChoice)
    id: str | None = None
    drop: tuple[str, ...] = ()
    missing: Missing = "error"
    categorical: Categorical = "error"
    missing_values: tuple[str, ...] = ()
    decimal_comma: bool = False


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table that is ready for a ranker.

    Attributes
    ----------
    X : array or sparse array of shape (n_rows, n_columns)
        Finite numbers.
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
    hidden : object array or None
        Labels that were hidden for a trial.
    notes : list of str
        What was done to the table, as sentences.
    table : Table
        What was read.
    beside : frozenset of str
        Columns of the table that hold labels and row names.
    """

    X: Any
    y: NDArray[Any]
    feature_names: list[str]
    variables: list[str]
    variable_of: NDArray[np.int64]
    row_names: list[str] | None
    hidden: NDArray[Any] | None
    notes: list[str]
    table: Table
    beside: frozenset[str] = frozenset()

    @property
    def is_spread(self) -> bool:
        """Whether a variable has several columns."""
        return len(self.variables) < len(self.feature_names)

    def reduced(self, variables: Sequence[str]) -> Table:
        """Return the table with these variables alone, its labels and its row names.

        Columns and rows keep their order, and every cell is as it was read.
        """
        kept = {*variables, *self.beside}
        return self.table.take_columns(
            np.array([j for j, name in enumerate(self.table.names) if name in kept])
        )


def prepare(table: Table, choices: Choices | None = None) -> Dataset:
    """Turn a table into numbers, names and labels, or say what stands in the way.

    Parameters
    ----------
    table : Table
    choices : Choices, optional

    Returns
    -------
    Dataset
    """
    choices = choices or Choices()
    row_names, id_column = _row_names(table, choices.id)
    labels = find_labels(table, choices.label, row_names)
    notes = list(labels.notes)
    beside = {name for name in (labels.column, id_column) if name is not None}
    dropped = set()
    if not table.transposed or not table.is_frame:  # else they were columns of the file
        dropped = {find_column(table, wanted, "--drop") for wanted in choices.drop}
    aside = beside | dropped
    features = [j for j, name in enumerate(table.names) if name not in aside]
    if not features:
        raise TableError(f"{table.path}: no column is left to rank beside {sorted(aside)}.")
    columns = read_numbers(table, np.array(features), choices.missing_values, choices.decimal_comma)
    check_categories(table, columns, choices.categorical)
    settled = settle_missing(table, columns, choices.missing)
    encoded = encode(table, settled.columns, choices.categorical)
    rows = settled.rows
    return Dataset(
        X=encoded.X,
        y=labels.y if rows is None else labels.y[rows],
        feature_names=encoded.names,
        variables=[table.names[j] for j in settled.columns.positions],
        variable_of=encoded.variable_of,
        row_names=row_names if rows is None or row_names is None else [row_names[i] for i in rows],
        hidden=labels.hidden if rows is None or labels.hidden is None else labels.hidden[rows],
        notes=notes + settled.notes + encoded.notes,
        table=table,
        beside=frozenset(beside),
    )


def _row_names(table: Table, wanted: str | None) -> tuple[list[str] | None, str | None]:
    """Return the names of the rows, and the column of the table that holds them."""
    if wanted is None:
        return table.row_names, None
    column = find_column(table, wanted, "--id")
    text = text_of(table, column)
    names: list[str] = text.to_list()
    if repeated := text.filter(text.is_duplicated() & (text != "")).to_list():
        row = names.index(repeated[0])
        again = names.index(repeated[0], row + 1)
        raise TableError(
            f"{table.path}: {table.place(again)}: the row is called {repeated[0]!r}, as is "
            f"{table.place(row)}. The names of rows (--id {wanted}) must differ."
        )
    return names, column
