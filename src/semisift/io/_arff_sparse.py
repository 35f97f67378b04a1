"""Rows of an ARFF file in the sparse form: ``{0 1.5, 2 yes}``, what is left out being 0."""

import re
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift.exceptions import TableError
from semisift.io._arff_header import QUOTED, Attribute, Header, as_cells, as_numbers, typed, unquote
from semisift.io._sparse import from_coordinates
from semisift.io.table import FileTable

ITEM = re.compile(rf"\s*+(\d++)\s++({QUOTED}|[^,\s'\"]++)\s*+(,|$)")


class Entries(NamedTuple):
    """What is written out: the row, the attribute and the text of each value."""

    row: NDArray[np.int64]
    attribute: NDArray[np.int64]
    text: pl.Series  # null where missing


def read(path: Path, header: Header, texts: list[str], lines: list[int]) -> FileTable:
    """Make a table of sparse rows.

    Parameters
    ----------
    path : Path
    header : Header
    texts : list of str
        The rows.
    lines : list of int
        The number of each in the file.

    Returns
    -------
    FileTable
        With a sparse matrix of the numeric attributes and a frame of the others beside it; if none
        is numeric, with a frame.
    """
    attributes, n_rows = header.attributes, len(texts)
    entries = _entries(path, attributes, texts, lines)
    numeric = np.array([_is_numeric(attribute) for attribute in attributes])
    others = _others(path, attributes, numeric, entries, lines)
    details = {"header": header, "sparse": True}
    label = next((attribute.name for attribute in attributes if attribute.is_label), None)
    unbroken = lines[-1] - lines[0] + 1 == len(lines)
    first_line = lines[0] if unbroken else None
    common: dict[str, Any] = {"label": label, "first_line": first_line, "details": details}
    if not numeric.any():
        categorical = frozenset(
            a.name for a in attributes if a.kind == "nominal" and a.name != label
        )
        frame = pl.DataFrame(others)
        return FileTable(path, "arff", frame, frame.columns, categorical=categorical, **common)
    chosen = numeric[entries.attribute]
    column = (np.cumsum(numeric) - 1)[entries.attribute[chosen]]
    data = _numbers(path, attributes, entries, chosen, lines)
    shape = (n_rows, int(numeric.sum()))
    X = from_coordinates(path, data, entries.row[chosen], column, shape)
    X.eliminate_zeros()
    names = [a.name for a, is_numeric in zip(attributes, numeric, strict=True) if is_numeric]
    return FileTable(path, "arff", X, names, rows=pl.DataFrame(others), **common)


def write_rows(table: FileTable, attributes: list[Attribute], file: IO[bytes]) -> None:
    """Write the rows of a table that was read from sparse rows."""
    place = {attribute.name: j for j, attribute in enumerate(attributes)}
    parts = []
    if not table.is_frame:
        X = table.values.tocoo()
        columns = np.array([place[name] for name in table.names])[X.col]
        coded = np.array([a.categories[1] if a.is_coded else "" for a in attributes])[columns]
        plain = as_numbers(pl.Series(X.data))
        text = pl.Series(coded.tolist(), dtype=pl.String)
        text = plain.zip_with((text == "") | plain.is_null(), text)
        parts.append(_part(X.row, columns, text))
    for series in table.values if table.is_frame else table.rows:
        attribute = attributes[place[series.name]]
        usual = pl.Series([_usual(attribute)], dtype=pl.String).cast(series.dtype)
        rows = series.ne_missing(usual).arg_true()
        cells = as_cells(series.gather(rows), attribute)
        parts.append(_part(rows.to_numpy(), np.full(len(rows), place[series.name]), cells))
    every = pl.concat(parts).sort("row", "attribute")
    items = (every["attribute"].cast(pl.String) + " " + every["text"].fill_null("?")).to_list()
    counts = np.bincount(every["row"].to_numpy(), minlength=table.n_rows)
    for start, stop in pairwise([0, *np.cumsum(counts).tolist()]):
        file.write(b"{" + ", ".join(items[start:stop]).encode() + b"}\n")


def _part(row: NDArray[Any], attribute: NDArray[Any], text: pl.Series) -> pl.DataFrame:
    places = {"row": row.astype(np.int64), "attribute": attribute.astype(np.int64)}
    return pl.DataFrame({**places, "text": text})


def _is_numeric(attribute: Attribute) -> bool:
    """Whether 0 may be left out: it is a number, or nominal with the values 0 and another."""
    if attribute.is_label and attribute.kind == "nominal":
        return False
    coded = attribute.is_coded and float(attribute.categories[0]) == 0
    return coded or (attribute.kind == "numeric" and not attribute.is_label)


def _usual(attribute: Attribute) -> str | None:
    """Return what a value is that is not written."""
    if attribute.kind == "numeric":
        return "0"
    return attribute.categories[0] if attribute.categories else None


def _entries(
    path: Path, attributes: list[Attribute], texts: list[str], lines: list[int]
) -> Entries:
    places: list[str] = []
    values: list[str | None] = []
    counts = []
    for text, line in zip(texts, lines, strict=True):
        items = _items(text)
        if items is None:
            raise TableError(
                f"{path}: line {line} must list numbers of attributes with their values between "
                f"braces, such as {{0 1.5, 3 yes}}, as the first row does: got {text[:60]!r}."
            )
        places += [item[0] for item in items]
        values += [item[1] for item in items]
        counts.append(len(items))
    row = np.repeat(np.arange(len(texts)), counts)
    number = pl.Series(places, dtype=pl.String).cast(pl.Int64, strict=False).fill_null(-1)
    attribute = number.to_numpy()
    wrong = np.flatnonzero((attribute < 0) | (attribute >= len(attributes)))
    if len(wrong):
        raise TableError(
            f"{path}: line {lines[row[wrong[0]]]} names attribute {places[wrong[0]][:40]}; they "
            f"are counted from 0 to {len(attributes) - 1}."
        )
    order = np.lexsort((attribute, row))
    row, attribute = row[order], attribute[order]
    twice = np.flatnonzero((np.diff(row) == 0) & (np.diff(attribute) == 0))
    if len(twice):
        raise TableError(
            f"{path}: line {lines[row[twice[0]]]} gives attribute {attribute[twice[0]]} "
            f"({attributes[attribute[twice[0]]].name!r}) twice."
        )
    return Entries(row, attribute, pl.Series(values, dtype=pl.String).gather(order))


def _items(text: str) -> list[tuple[str, str | None]] | None:
    """Return the places and values of a row, or None if it is none."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    inside = text[1:-1].strip()
    items: list[tuple[str, str | None]] = []
    position = 0
    while position < len(inside):
        found = ITEM.match(inside, position)
        if found is None:
            return None
        place, value, _ = found.groups()
        items.append((place, None if value == "?" else unquote(value)))
        position = found.end()
    return items


def _numbers(
    path: Path,
    attributes: list[Attribute],
    entries: Entries,
    chosen: NDArray[np.bool_],
    lines: list[int],
) -> NDArray[np.float64]:
    """Return the values of the numeric attributes, NaN where missing."""
    cells = entries.text.filter(pl.Series(chosen))
    data = cells.cast(pl.Float64, strict=False)
    first, second = (
        np.array([float(a.categories[k]) if a.is_coded else np.nan for a in attributes])
        for k in (0, 1)
    )
    which = entries.attribute[chosen]
    values = data.fill_null(np.nan).to_numpy()
    strange = ~np.isnan(first[which]) & (values != first[which]) & (values != second[which])
    wrong = np.flatnonzero((data.is_null().to_numpy() | strange) & cells.is_not_null().to_numpy())
    if len(wrong):
        attribute = attributes[which[wrong[0]]]
        line = lines[entries.row[chosen][wrong[0]]]
        raise TableError(
            f"{path}: line {line}: {cells[int(wrong[0])][:40]!r} is no value of "
            f"{attribute.name!r}, which is declared as {attribute.line[:80]!r}."
        )
    return values


def _others(
    path: Path,
    attributes: list[Attribute],
    numeric: NDArray[np.bool_],
    entries: Entries,
    lines: list[int],
) -> list[pl.Series]:
    """Return the attributes that are no numbers, with the first value where none is written."""
    order = np.argsort(entries.attribute, kind="stable")
    starts = np.searchsorted(entries.attribute[order], np.arange(len(attributes) + 1))
    columns = []
    for j in np.flatnonzero(~numeric):
        attribute = attributes[j]
        cells = [_usual(attribute)] * len(lines)
        where = order[starts[j] : starts[j + 1]]
        texts = entries.text.gather(where).to_list()
        for row, text in zip(entries.row[where].tolist(), texts, strict=True):
            cells[row] = text
        columns.append(typed(path, pl.Series(cells, dtype=pl.String), attribute, lines))
    return columns
