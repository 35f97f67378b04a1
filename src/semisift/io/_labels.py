"""Labels of a table: which column or file holds them, and which rows have none."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift.exceptions import TableError
from semisift.io._guards import FileError, error_context
from semisift.io._options import format_option
from semisift.io._table import FileTable, Preparation, find_column
from semisift.utils._labels import (
    MAX_LABEL,
    MISSING,
    UNLABELLED,
    WRITTEN,
    as_class,
    parse_labels,
    unlabelled_words,
)
from semisift.utils._text import examples, join, plural, quote
from semisift.utils._warnings import warn


def find_labels(prep: Preparation) -> tuple[NDArray[Any], set[str], str]:
    """Return the labels of a table, the columns that hold them, and where they were found.

    Parameters
    ----------
    prep : Preparation
        Its notes take sentences on what was done.

    Returns
    -------
    y : object array
        Whole numbers or strings; None for unlabelled rows.
    columns : set of str
        The columns of the table that hold labels: not features.
    where : str
        For messages.
    """
    table, labels, wanted = prep.table, prep.labels, prep.reading.label
    columns = set() if table.label is None else {table.label}
    if labels is not None:
        where = f"{labels.path}"
        with error_context(where):
            name = _label_column(labels, wanted)
            _check_lengths(labels, column_of(labels, name))
            if len(labels.names) > 2 and wanted is None and labels.label is None:
                which = (
                    f"Say with {format_option('label')} which holds the labels: "
                    f"{examples(labels.names)}"
                )
                raise FileError(f"there are {len(labels.names)} columns. {which}.")
            raw = _join(prep, labels, name, "label", prep.notes)
        # the same labels in the table itself would be the best feature of all
        columns |= {name} & {*table.names, *table.rows.columns}
        if aside := sorted(columns & set(table.names)):
            prep.notes.append(f"The column {examples(aside)} of the table was left out: labels.")
    else:
        column = table.label if wanted is None else find_column(table, wanted, "label")
        if column is None:
            return np.full(table.n_rows, None, dtype=object), columns, ""
        columns.add(column)
        raw, where = column_of(table, column), f"{table.path}: column {quote(column)}"
        _check_lengths(table, raw)
    with error_context(where):
        y = _classes(_cells(raw), prep.reading.unlabelled, where, prep.notes)
    return y, columns, where


def column_of(table: FileTable, name: str) -> pl.Series:
    """Return one column of a table, of the values or of what is said of the rows."""
    if name in table.rows.columns:
        return table.rows[name]
    if table.is_frame:
        return table.values[name]
    if table.is_stored:
        return table.values.column(table.names.index(name)).alias(name)
    column = table.values[:, [table.names.index(name)]]
    return pl.Series(name, np.ravel(column.toarray() if hasattr(column, "toarray") else column))


def text_of(table: FileTable, name: str) -> pl.Series:
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


def hide_labels(
    y: NDArray[Any], per_class: int, seed: int, where: str, notes: list[str]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Hide all but a few labels of each class, for a trial.

    Parameters
    ----------
    y : object array
        Labels; None for unlabelled rows.
    per_class : int
    seed : int
    where : str
        Of the labels, for messages.
    notes : list of str
        Takes a sentence on what was done.

    Returns
    -------
    shown, hidden : object arrays
        The labels that are left, and those that were taken away; None elsewhere.
    """
    labels = parse_labels(y, len(y))
    if not len(labels.labelled):
        raise TableError(
            f"{where}: {format_option('labels_per_class')} hides labels, and no row has one."
        )
    order = np.argsort(labels.classes.astype(str))  # rows are drawn by class, as text
    codes = np.append(np.argsort(order), UNLABELLED)[labels.codes]
    kept = rows_to_keep(codes, per_class, np.random.default_rng(seed))
    shown, hidden = y.copy(), y.copy()
    shown[~kept], hidden[kept] = None, None
    notes.append(
        f"For this trial {plural(int(kept.sum()), 'label')} were kept, up to {per_class} a class, "
        f"and {len(labels.labelled) - int(kept.sum())} were hidden (seed {seed})."
    )
    return shown, hidden


# --- labels in a file of their own ----------------------------------------------------------------


def _label_column(labels: FileTable, wanted: str | None) -> str:
    if wanted is not None:
        return find_column(labels, wanted, "label")
    return labels.label or labels.names[-1]


def join_column(prep: Preparation, option: str) -> pl.Series | None:
    """Return the column of the labels file that an option names, in the order of the table's rows.

    None where there is no such file, the table has a column of this name itself, or the labels file
    has none.
    """
    wanted, table, labels = getattr(prep.reading, option), prep.table, prep.labels
    if (
        labels is None
        or wanted not in labels.names
        or wanted in {*table.names, *table.rows.columns}
    ):
        return None
    with error_context(labels.path):
        return _join(prep, labels, wanted, option, []).alias(wanted)


def _join(
    prep: Preparation, labels: FileTable, column: str, what: str, notes: list[str]
) -> pl.Series:
    """Return a column of the labels file in the order of the table's rows."""
    table, row_names = prep.table, prep.row_names
    values, no_names = column_of(labels, column), {column}
    no_names |= {_label_column(labels, prep.reading.label)}
    kept = [name for name in labels.names if name not in no_names]
    others = {name: text_of(labels, name).to_list() for name in kept}
    if labels.row_names is not None:
        others["the names of its rows"] = labels.row_names
    if not others:
        _check_order(table, labels, len(values))
        return values
    if row_names is None:
        _check_turned(table, others.values())
        raise FileError(
            f"the labels are joined by the names of the rows, and {table.path} has none. Say with "
            f"{format_option('id')} which column holds them, or give labels alone, in the order "
            "of the rows."
        )
    names = _matching_names(labels, others, set(row_names), prep.reading.id)
    every = pl.DataFrame({"name": names, "value": values}).with_row_index()
    pairs = every.unique(["name", "value"], keep="first", maintain_order=True)
    if len(again := pairs.filter(~pl.col("name").is_first_distinct())):
        row, name, value = again.row(0)
        other = pairs.filter(pl.col("name") == name)["value"][0]
        raise FileError(
            f"{labels.place(row)}: {name!r} has the {what} {value!r}, and {other!r} further up. A "
            f"row can have one {what} only: remove one of them."
        )
    place = dict(zip(pairs["name"], range(len(pairs)), strict=True))
    _check_names(table, labels, place, row_names, notes)
    return pairs["value"].gather(pl.Series([*map(place.get, row_names)], dtype=pl.UInt32))


def _matching_names(
    labels: FileTable, candidates: dict[str, list[str]], known: set[str], wanted: str | None
) -> list[str]:
    """Choose the column of the labels file that holds the names of the table's rows."""
    if heading := known & {*labels.names}:
        problem = f"the first line should name the columns: {quote(heading.pop())} is a row"
        raise FileError(f"{problem}. Add a line such as sample,label.")
    if wanted in candidates:
        return candidates[wanted]
    matches = {name: len(known & set(names)) for name, names in candidates.items()}
    best = max(matches, key=lambda name: matches[name])
    rivals = [name for name in matches if name != best and matches[name] == matches[best] > 0]
    if rivals and any(candidates[name] != candidates[best] for name in rivals):
        raise FileError(
            f"{quote(best)} and {quote(rivals[0])} could both hold the names of the rows. Give "
            f"the right one the name of the table's column ({format_option('id')}), or remove "
            "the other."
        )
    return candidates[best]


def _check_turned(table: FileTable, candidates: Iterable[Iterable[str]]) -> None:
    """Refuse a table with features in rows: there, labels go by the names of columns."""
    columns = set(table.names)
    for names in candidates:
        found = [name for name in names if name in columns]
        if not table.transposed and 2 * len(found) > len(set(names)):
            problem = f"the names in it are columns of {table.path}, not rows: {examples(found)}"
            cure = f"If that file has features in rows, pass {format_option('transpose', True)}"
            raise FileError(f"{problem}. {cure}.")


def _check_order(table: FileTable, labels: FileTable, n_labels: int) -> None:
    """Refuse labels without names that are not as many as the rows."""
    if n_labels == table.n_rows:
        return
    cure = (
        "Labels without row names must be as many as the rows, in their order, below a line with "
        f"a name (here {quote(labels.names[0])})"
    )
    # in a frame, a first column may name the features
    n_samples = (len(table.names), len(table.names) - table.is_frame)
    if n_labels in n_samples and not table.transposed:
        cure = (
            "There are as many columns: are features in rows? Say "
            f"{format_option('transpose', True)}"
        )
    raise FileError(f"{n_labels} labels for the {table.n_rows} rows of {table.path}. {cure}.")


def _check_names(
    table: FileTable,
    labels: FileTable,
    labelled: Collection[str],
    row_names: Sequence[str],
    notes: list[str],
) -> None:
    """Refuse names that do not join labels and rows, and note those that stand in one file only."""
    known = set(row_names)
    if len(known) < len(row_names):
        [(twice, _)] = Counter(row_names).most_common(1)
        rule = "To join labels, the names of the rows must differ"
        raise TableError(f"{table.path}: several rows are called {quote(twice)}. {rule}.")
    unknown_names = [name for name in labelled if name not in known]
    if len(unknown_names) == len(labelled):
        _check_turned(table, [labelled])
        problem = f"none of its {len(labelled)} names is a row of {table.path}"
        names = f"Rows are called {examples(row_names)}; here {examples(unknown_names)}"
        raise FileError(f"{problem}. {names}. Is {format_option('id')} the right column?")
    if unknown_names:
        some = f"{len(unknown_names)} of the {len(labelled)} names in {labels.path.name}"
        notes.append(f"{some} are not rows of the table, left out: {examples(unknown_names)}.")
    if without := [name for name in row_names if name not in labelled]:
        rows = f"{plural(len(without), 'row')} without an entry in {labels.path.name}"
        notes.append(f"{rows}, unlabelled: {examples(without)}.")


def _check_lengths(table: FileTable, column: pl.Series) -> None:
    """Refuse cells that are too long for the name of a class."""
    if column.dtype != pl.String:
        return
    lengths = column.str.len_chars()
    if (lengths.max() or 0) > MAX_LABEL:  # type: ignore[operator]
        row = (lengths > MAX_LABEL).arg_max() or 0
        problem = f"the label {quote(column[row][:60])}... has {lengths[row]:,} characters"
        rule = f"a class has at most {MAX_LABEL:,}. Is {quote(column.name)} the right column?"
        raise FileError(f"{table.place(row)}: {problem}, and the name of {rule}")


# --- from cells to classes ------------------------------------------------------------------------


def _cells(raw: pl.Series) -> pl.Series:
    """Return the labels as text, whole numbers without a decimal point."""
    dtype = raw.dtype
    if dtype.is_float():
        numbers, codes = np.unique(raw.to_numpy(), return_inverse=True)  # NaN where missing
        texts = [None if value != value else _as_text(value) for value in numbers.tolist()]
        return pl.Series(raw.name, np.array(texts, dtype=object)[codes].tolist(), dtype=pl.String)
    if dtype.is_integer() or dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Null):
        return raw.cast(pl.String).str.strip_chars()
    raise FileError(f"labels must be words or whole numbers, and these are {dtype}.")


def _as_text(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() else str(value)


def _classes(cells: pl.Series, named: Sequence[str], where: str, notes: list[str]) -> NDArray[Any]:
    """Turn cells into labels: None for unlabelled rows, whole numbers where all are such."""
    no_label = unlabelled_words(named)
    every = sorted(cells.drop_nulls().unique().to_list())
    if absent := [value for value in named if value not in MISSING and value not in {*every}]:
        raise TableError(
            f"{format_option('unlabelled', absent[0])}: no row of {where} holds this value. It "
            f"holds {examples([cell for cell in every if cell])}."
        )
    found = [cell for cell in every if cell not in no_label]
    as_numbers = parse_integers(found) or {}
    written = [cell for cell in every if cell in WRITTEN or as_numbers.get(cell) == UNLABELLED]
    labels: dict[str, Any] = {text: as_class(text) for text in found}
    if named:  # -1 as a number would mean unlabelled
        labels = labels if UNLABELLED in as_numbers.values() else as_numbers or labels
        notes.extend(f"The label {text} counts as a class." for text in written if text in labels)
    else:
        numbers = {text: number for text, number in as_numbers.items() if number != UNLABELLED}
        labels = numbers or labels
        if written and len(set(labels.values())) < 2:
            others = [label for label in found if label != written[0]]
            beside = f"the labels are {written[0]} and {examples(others)}, and " if others else ""
            cure = (
                f"Say {format_option('unlabelled', written[0])} if it marks rows without a "
                "label, or"
            )
            cure += f" {format_option('unlabelled', 'NA')} if all of them are classes"
            problem = f"{beside}{written[0]} can mean a class or an unlabelled row"
            raise FileError(f"{problem}. {cure}.")
        if written:
            notes.append(f"Rows with the label {join(written)} were read as unlabelled.")
    # by the number of the cell: each label is one object, however many rows have it
    codes = cells.cast(pl.Enum(every)).to_physical().cast(pl.Int64).fill_null(len(every)).to_numpy()
    y = np.array([*(labels.get(cell) for cell in every), None], dtype=object)[codes]
    counts = np.bincount(codes, minlength=len(every))
    n_given = int(sum(counts[place] for place, cell in enumerate(every) if cell in labels))
    if n_given > 2 and len(set(labels.values())) == n_given > 0.5 * len(y):
        given = examples([label for label in y if label is not None])
        raise FileError(
            f"each of the {n_given} labelled rows has a label of its own ({given}). This looks "
            "like an identifier: is it the right column?"
        )
    _warn_of_lookalikes({label for label in labels.values() if isinstance(label, str)})
    return y


def parse_integers(found: list[str]) -> dict[str, Any] | None:
    """Return the labels as whole numbers; None where they are words, or too large for an array.

    Parameters
    ----------
    found : list of str

    Returns
    -------
    dict of str to int, or None

    Raises
    ------
    FileError
        Where they are numbers, and some of them are not whole.
    """
    try:
        numbers = list(map(float, found))
    except ValueError:
        return None
    has_leading_zero = any(re.match(r"[+-]?0\d", text) for text in found)
    if has_leading_zero or not all(abs(number) < 2**63 for number in numbers):
        return None
    exact = {text: _number(text) for text in found}  # a float would take 2**53 + 1 for 2**53
    if broken := [text for text, value in exact.items() if value is None or value % 1]:
        raise FileError(
            f"labels must be words or whole numbers, and there is {broken[0]}: this looks like a "
            "measurement. Is it the right column? If so, turn it into classes first."
        )
    return {text: int(value) for text, value in exact.items() if value is not None}


def _number(text: str) -> Decimal | None:
    """Return the number that a text means; None where it means none, or no finite one."""
    try:
        value = Decimal(text)
    except ArithmeticError:  # also an exponent of twenty digits
        return None
    return value if value.is_finite() else None


def _warn_of_lookalikes(words: set[str]) -> None:
    seen: dict[Any, str] = {}
    for label in sorted(words):
        number = _number(label)
        looks = " ".join(label.casefold().split()) if number is None else number
        other = seen.setdefault(looks, label)
        if other != label:
            differ = "differ in capital letters or spaces only"
            same = differ if number is None else "are the same number"
            count = f"the labels {other!r} and {label!r} {same}, and count as two classes."
            warn(count, UserWarning)
