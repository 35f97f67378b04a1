"""Rows of an ARFF file in the sparse form: ``{0 1.5, 2 yes}``, what is left out being 0."""

import re
from itertools import pairwise
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

from semisift.io._arff_header import QUOTED, Attribute, as_cells, as_numbers, typed, unquote
from semisift.io._sparse import from_coordinates
from semisift.io.limits import FileError
from semisift.io.table import FileTable

ITEM = re.compile(rf"\s*+(\d++)\s++({QUOTED}|[^,\s'\"]++)\s*+(,|$)")


def parse(
    attributes: list[Attribute], texts: list[str], lines: list[int]
) -> tuple[csr_array | None, pl.DataFrame]:
    """Parse sparse rows.

    Parameters
    ----------
    attributes : list of Attribute
    texts : list of str
        The rows.
    lines : list of int
        The number of each in the file.

    Returns
    -------
    X : csr_array or None
        The numeric attributes, where there are such.
    others : polars.DataFrame
        The other attributes, with the first value where none is written.
    """
    entries = _entries(attributes, texts, lines)
    numeric = np.array([is_numeric(attribute) for attribute in attributes])
    written = entries.partition_by("attribute", as_dict=True)
    columns = []
    for j in np.flatnonzero(~numeric).tolist():
        cells = pl.Series([_usual(attributes[j])] * len(lines), dtype=pl.String)
        if (part := written.get((j,))) is not None:
            cells = cells.scatter(part["row"], part["text"])
        columns.append(typed(cells, attributes[j], lines))
    others = pl.DataFrame(columns)
    if not numeric.any():
        return None, others
    entries = entries.filter(pl.Series(numeric[entries["attribute"].to_numpy()]))
    column = (np.cumsum(numeric) - 1)[entries["attribute"].to_numpy()]
    data = _numbers(attributes, entries, lines)
    X = from_coordinates(data, entries["row"].to_numpy(), column, (len(texts), numeric.sum()))
    X.eliminate_zeros()
    return X, others


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
        parts.append(_entries_of(X.row, columns, text))
    for series in table.values if table.is_frame else table.rows:
        attribute = attributes[place[series.name]]
        usual = pl.Series([_usual(attribute)], dtype=pl.String).cast(series.dtype)
        rows = series.ne_missing(usual).arg_true()
        cells = as_cells(series.gather(rows), attribute)
        parts.append(_entries_of(rows.to_numpy(), np.full(len(rows), place[series.name]), cells))
    every = pl.concat(parts).sort("row", "attribute")
    items = (every["attribute"].cast(pl.String) + " " + every["text"].fill_null("?")).to_list()
    counts = np.bincount(every["row"].to_numpy(), minlength=table.n_rows)
    for start, stop in pairwise([0, *np.cumsum(counts).tolist()]):
        file.write(b"{" + ", ".join(items[start:stop]).encode() + b"}\n")


def _entries_of(row: NDArray[Any], attribute: NDArray[Any], text: pl.Series) -> pl.DataFrame:
    """Return what is written out: the row, the attribute and the text (or null) of each value."""
    places = {"row": row.astype(np.int64), "attribute": attribute.astype(np.int64)}
    return pl.DataFrame({**places, "text": text})


def is_numeric(attribute: Attribute) -> bool:
    """Whether 0 may be left out: it is a number, or nominal with the values 0 and another."""
    coded = attribute.is_coded and float(attribute.categories[0]) == 0
    return coded or (attribute.kind == "numeric" and not attribute.is_label)


def _usual(attribute: Attribute) -> str | None:
    """Return what a value is that is not written."""
    if attribute.kind == "numeric":
        return "0"
    return attribute.categories[0] if attribute.categories else None


def _entries(attributes: list[Attribute], texts: list[str], lines: list[int]) -> pl.DataFrame:
    places: list[str] = []
    values: list[str | None] = []
    counts = []
    for text, line in zip(texts, lines, strict=True):
        items = _items(text)
        if items is None:
            raise FileError(
                f"line {line} must list numbers of attributes with their values between braces, "
                f"such as {{0 1.5, 3 yes}}, as the first row does: got {text[:60]!r}."
            )
        places += [item[0] for item in items]
        values += [item[1] for item in items]
        counts.append(len(items))
    row = np.repeat(np.arange(len(texts)), counts)
    number = pl.Series(places, dtype=pl.String).cast(pl.Int64, strict=False).fill_null(-1)
    wrong = number.is_between(0, len(attributes) - 1).not_().arg_true()
    if len(wrong):
        raise FileError(
            f"line {lines[row[wrong[0]]]} names attribute {places[wrong[0]][:40]}; they are "
            f"counted from 0 to {len(attributes) - 1}."
        )
    cells = pl.Series(values, dtype=pl.String)
    entries = _entries_of(row, number.to_numpy(), cells).sort("row", "attribute")
    twice = entries.filter(entries.select("row", "attribute").is_duplicated())
    if len(twice):
        i, j, _ = twice.row(0)
        raise FileError(f"line {lines[i]} gives attribute {j} ({attributes[j].name!r}) twice.")
    return entries


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
        items.append((found[1], None if found[2] == "?" else unquote(found[2])))
        position = found.end()
    return items


def _numbers(
    attributes: list[Attribute], entries: pl.DataFrame, lines: list[int]
) -> NDArray[np.float64]:
    """Return the values of the numeric attributes, NaN where missing."""
    data = entries["text"].cast(pl.Float64, strict=False)
    which, values = entries["attribute"].to_numpy(), data.fill_null(np.nan).to_numpy()
    codes = np.array(
        [list(map(float, a.categories)) if a.is_coded else [np.nan] * 2 for a in attributes]
    )[which]
    strange = ~np.isnan(codes[:, 0]) & (values[:, None] != codes).all(axis=1)
    wrong = (data.is_null() | pl.Series(strange)) & entries["text"].is_not_null()
    if wrong.any():
        row, j, cell = entries.filter(wrong).row(0)
        raise FileError(
            f"line {lines[row]}: {cell[:40]!r} is no value of {attributes[j].name!r}, which is "
            f"declared as {attributes[j].line[:80]!r}."
        )
    return values
