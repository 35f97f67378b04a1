"""Labels of a table: which column or file holds them, and which rows have none."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift.exceptions import TableError
from semisift.tables.table import Table, find_column

# What an unlabelled row holds in the label column, besides what the user names.
NO_LABEL = ("", "NA", "?", "NaN", "nan")

MOST_SHOWN = 5


@dataclass(frozen=True)
class LabelChoice:
    """Where the labels are and what marks a row without one.

    Attributes
    ----------
    column : str or None
        Name or number of the label column; None takes what the format itself calls labels.
    labels_table : Table or None
        A table of its own that holds the labels, joined by the names of the rows.
    unlabelled : tuple of str
        Values that mark unlabelled rows, besides empty cells, ``NA`` and ``?``.
    per_class : int or None
        Keep so many labels of each class and hide the others, for a trial.
    seed : int
        Decides which labels are kept.
    """

    column: str | None = None
    labels_table: Table | None = None
    unlabelled: tuple[str, ...] = ()
    per_class: int | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class RowLabels:
    """The labels of all rows.

    Attributes
    ----------
    y : object array
        Whole numbers or strings; None for unlabelled rows.
    hidden : object array or None
        Labels that were hidden for a trial; None elsewhere.
    column : str or None
        The column of the table that held the labels: not a feature.
    notes : list of str
    """

    y: NDArray[Any]
    hidden: NDArray[Any] | None
    column: str | None
    notes: list[str]


def find_labels(table: Table, choice: LabelChoice, row_names: Sequence[str] | None) -> RowLabels:
    """Find the labels of a table.

    Parameters
    ----------
    table : Table
    choice : LabelChoice
    row_names : sequence of str or None
        By which a labels file is joined.

    Returns
    -------
    RowLabels
    """
    notes: list[str] = []
    column: str | None = None
    if choice.labels_table is not None:
        raw = _joined(table, choice, row_names, notes)
        where = f"{choice.labels_table.path}"
    else:
        column = table.label
        if choice.column is not None:
            column = find_column(table, choice.column, "--label")
        if column is None:
            return RowLabels(np.full(table.n_rows, None, dtype=object), None, None, notes)
        raw, where = column_of(table, column), f"{table.path}: column {column!r}"
    y = _classes(_cells(raw, where), choice.unlabelled, where, notes)
    hidden = None
    if choice.per_class is not None:
        y, hidden = _hide(y, choice.per_class, choice.seed, where, notes)
    _warn_of_lookalikes(y)
    return RowLabels(y, hidden, column, notes)


def column_of(table: Table, name: str) -> pl.Series:
    """Return one column of a table, of the values or of what is said of the rows."""
    if name in table.rows.columns:
        return table.rows[name]
    if table.is_frame:
        return table.values[name]
    column = table.values[:, [table.names.index(name)]]
    return pl.Series(name, np.ravel(column.toarray() if hasattr(column, "toarray") else column))


def text_of(table: Table, name: str) -> pl.Series:
    """Return a column as text, without spaces around it; empty where it is missing."""
    return column_of(table, name).cast(pl.String).fill_null("").str.strip_chars()


def rows_to_keep(
    codes: NDArray[np.integer], per_class: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Choose up to `per_class` random rows of each class; negative codes are never chosen."""
    kept = np.zeros(len(codes), dtype=bool)
    for code in np.unique(codes[codes >= 0]):
        rows = np.flatnonzero(codes == code)
        kept[rng.choice(rows, min(per_class, len(rows)), replace=False)] = True
    return kept


# --- labels in a file of their own ---------------------------------------------------------------


def _joined(
    table: Table, choice: LabelChoice, row_names: Sequence[str] | None, notes: list[str]
) -> pl.Series:
    labels = choice.labels_table
    assert labels is not None
    column = labels.label or labels.names[-1]
    if choice.column is not None:
        column = find_column(labels, choice.column, "--label")
    values = column_of(labels, column)
    names = labels.row_names
    if names is None and len(labels.names) > 1:
        others = [name for name in labels.names if name != column]
        if len(others) > 1 and choice.column is None:
            raise TableError(
                f"{labels.path}: there are {len(labels.names)} columns. Say with --label which of "
                f"them holds the labels: {_listed(labels.names)}."
            )
        names = text_of(labels, others[0]).to_list()
    if names is None:
        return _in_order(table, labels, values)
    if row_names is None:
        raise TableError(
            f"{labels.path}: the labels are joined by the names of the rows, and {table.path} has "
            "none. Say with --id which of its columns holds them, or give a labels file with a "
            "single column, in the order of the rows."
        )
    return _by_name(table, labels, dict(_unique_pairs(labels, names, values)), row_names, notes)


def _in_order(table: Table, labels: Table, values: pl.Series) -> pl.Series:
    if len(values) != table.n_rows:
        raise TableError(
            f"{labels.path}: {len(values)} labels for the {table.n_rows} rows of {table.path}. "
            "Labels without row names must be as many as the rows, in their order."
        )
    return values


def _unique_pairs(labels: Table, names: Sequence[str], values: pl.Series) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for row, (name, value) in enumerate(zip(names, values.to_list(), strict=True)):
        if name in pairs and pairs[name] != value:
            raise TableError(
                f"{labels.path}: {labels.place(row)}: {name!r} has the label {value!r}, and "
                f"{pairs[name]!r} further up. A row can have one label only: remove one of them."
            )
        pairs[name] = value
    return pairs


def _by_name(
    table: Table,
    labels: Table,
    pairs: dict[str, Any],
    row_names: Sequence[str],
    notes: list[str],
) -> pl.Series:
    known = set(row_names)
    strangers = [name for name in pairs if name not in known]
    if len(strangers) == len(pairs):
        raise TableError(
            f"{labels.path}: none of its {len(pairs)} names is a row of {table.path}. There, rows "
            f"are called {_listed(row_names)}; here {_listed(list(pairs))}. Do the two files "
            "belong together, and is --id the right column?"
        )
    if strangers:
        notes.append(
            f"{len(strangers)} of the {len(pairs)} names in {labels.path.name} are not rows of the "
            f"table and were left out: {_listed(strangers)}."
        )
    return pl.Series([pairs.get(name) for name in row_names], strict=False)


# --- from cells to classes -----------------------------------------------------------------------


def _cells(raw: pl.Series, where: str) -> list[str | None]:
    """Return the labels as text, whole numbers without a decimal point."""
    dtype = raw.dtype
    if dtype.is_float():
        values = [None if v is None or v != v else v for v in raw.to_list()]
        return [f"{v:.0f}" if v is not None and v == int(v) else _text(v) for v in values]
    if dtype.is_integer() or dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Null):
        return raw.cast(pl.String).str.strip_chars().to_list()
    raise TableError(f"{where}: labels must be words or whole numbers, and these are {dtype}.")


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _classes(
    cells: list[str | None], named: Sequence[str], where: str, notes: list[str]
) -> NDArray[Any]:
    """Turn cells into labels: None for unlabelled rows, whole numbers where all are such."""
    no_label = {*NO_LABEL, *named}
    missing = [value for value in named if value not in NO_LABEL and value not in set(cells)]
    if missing:
        raise TableError(
            f"--unlabelled {missing[0]}: no row of {where} holds this value. It holds "
            f"{_listed(sorted({cell for cell in cells if cell}))}."
        )
    labels = [None if cell is None or cell in no_label else cell for cell in cells]
    found = sorted({label for label in labels if label is not None})
    whole = _whole_numbers(found, where)
    if whole is not None:
        if -1 in whole.values() and not named:
            _check_minus_one(set(whole.values()), where)
            notes.append("Rows with the label -1 were read as unlabelled.")
            whole = {text: number for text, number in whole.items() if number != -1}
        elif -1 in whole.values():  # a class like the others: as a number it would mean unlabelled
            whole = {text: text for text in whole}
        labels = [whole.get(label) if label is not None else None for label in labels]
    y = np.empty(len(labels), dtype=object)
    y[:] = labels
    _refuse_identifiers(y, where)
    return y


def _whole_numbers(found: list[str], where: str) -> dict[str, Any] | None:
    """Return the labels as whole numbers; None where they are words."""
    try:
        numbers = {text: float(text) for text in found}
    except ValueError:
        return None
    if not all(np.isfinite(number) for number in numbers.values()):
        return None
    broken = [text for text, number in numbers.items() if number != int(number)]
    if broken:
        raise TableError(
            f"{where}: labels must be words or whole numbers, and there is {broken[0]}: this looks "
            "like a measurement. Is it the right column? If so, turn it into classes first."
        )
    return {text: int(number) for text, number in numbers.items()}


def _check_minus_one(numbers: set[int], where: str) -> None:
    classes = sorted(numbers - {-1})
    if len(classes) < 2:
        raise TableError(
            f"{where}: the labels are -1 and {_listed(classes)}, and -1 can mean a class or an "
            "unlabelled row. Say --unlabelled -1 if it marks rows without a label, or "
            "--unlabelled NA if both are classes."
        )


def _refuse_identifiers(y: NDArray[Any], where: str) -> None:
    labels = [label for label in y if label is not None]
    if len(labels) > 2 and len(set(labels)) == len(labels) > 0.5 * len(y):
        raise TableError(
            f"{where}: each of the {len(labels)} labelled rows has a label of its own "
            f"({_listed(labels)}). This looks like an identifier: is it the right column?"
        )


def _warn_of_lookalikes(y: NDArray[Any]) -> None:
    seen: dict[str, str] = {}
    for label in sorted({label for label in y if isinstance(label, str)}):
        twin = seen.setdefault(" ".join(label.casefold().split()), label)
        if twin != label:
            warnings.warn(
                f"the labels {twin!r} and {label!r} differ in capital letters or spaces only, and "
                "count as two classes.",
                UserWarning,
                stacklevel=4,
            )


def _hide(
    y: NDArray[Any], per_class: int, seed: int, where: str, notes: list[str]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Hide all but a few labels of each class."""
    known = np.array([label is not None for label in y])
    if not known.any():
        raise TableError(f"{where}: --labels-per-class hides labels, and no row has one.")
    codes = np.full(len(y), -1)
    _, codes[known] = np.unique(y[known].astype(str), return_inverse=True)
    kept = rows_to_keep(codes, per_class, np.random.default_rng(seed))
    shown, hidden = y.copy(), y.copy()
    shown[~kept], hidden[kept] = None, None
    notes.append(
        f"For this trial {int(kept.sum())} labels were kept, up to {per_class} a class, and "
        f"{int((known & ~kept).sum())} were hidden (seed {seed})."
    )
    return shown, hidden


def _listed(values: Sequence[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:MOST_SHOWN])
    return f"{shown}, ... ({len(values)} in all)" if len(values) > MOST_SHOWN else shown
