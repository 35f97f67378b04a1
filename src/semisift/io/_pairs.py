"""Pairs of rows in a file of their own: by the names of the rows, or by their numbers.

A line holds two rows. A first line that names no row is a heading.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.exceptions import TableError
from semisift.io._formats import text
from semisift.io._guards import FileError, naming
from semisift.io._options import Reading, TableOptions, said
from semisift.io._table import FileTable
from semisift.utils._labels import parse_labels, parse_pairs

MOST_SHOWN = 5

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")  # longer ones number no row, and int() may refuse them

Pairs = NDArray[np.int64] | None


def read_pairs(
    reading: Reading,
    table: FileTable,
    row_names: Sequence[str] | None,
    kept: NDArray[np.integer],
    y: NDArray[Any],
    notes: list[str],
) -> tuple[Pairs, Pairs]:
    """Read pairs of rows, and refuse those that contradict each other or the labels.

    Parameters
    ----------
    reading : Reading
        Names the files.
    table : FileTable
        Whose rows are paired.
    row_names : sequence of str or None
        Names of all rows of the table.
    kept : int array
        The rows that were not left out for missing values.
    y : object array
        Labels of the kept rows; None for unlabelled ones.
    notes : list of str
        Takes sentences on what was read.

    Returns
    -------
    must_link, cannot_link : int array of shape (k, 2), or None
        Row numbers counted from 0; None where no file was named.
    """
    given = {"must-link": reading.must_link, "cannot-link": reading.cannot_link}
    files = {kind: Path(path) for kind, path in given.items() if path is not None}
    if not files:
        return None, None
    number = np.full(table.n_rows, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    pairs = {}
    for kind, path in files.items():
        with naming(path):
            moved = number[_read_file(path, kind, table, row_names, notes)]
        gone = (moved < 0).any(axis=1)
        if gone.any():
            notes.append(
                f"{int(gone.sum())} of the {kind} pairs were left out with rows that have missing "
                "values."
            )
        pairs[kind] = moved[~gone]
    must, cannot = pairs.get("must-link"), pairs.get("cannot-link")

    def shown(row: int) -> str:
        return str(kept[row] + 1) if row_names is None else repr(row_names[kept[row]])

    try:
        parse_pairs(must, cannot, parse_labels(y, len(y)), shown)
    except ValueError as error:
        raise TableError(
            f"{' and '.join(map(str, files.values()))}: {error} Remove or correct the pairs that "
            "are wrong."
        ) from error
    return must, cannot


def _read_file(
    path: Path, kind: str, table: FileTable, row_names: Sequence[str] | None, notes: list[str]
) -> NDArray[np.int64]:
    """Return the pairs of a file as rows of the table."""
    if not path.is_file():
        raise FileError("there is no such file.")
    try:
        content = text.read(path, TableOptions(header=False))
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror or error}.") from error
    if len(content.names) != 2:
        raise FileError(
            f"a file of {kind} pairs is text with two columns, the two rows of each pair, and this "
            f"one has {len(content.names)}."
        )
    cells = [tuple(map(str.strip, pair)) for pair in content.values.fill_null("").iter_rows()]
    # by name where any cell is a name, else by number
    numbers = {name: row for row, name in enumerate(row_names or ())}
    by_name = any(cell in numbers for pair in cells for cell in pair)
    if numbers and not by_name:
        if all(map(_is_whole, numbers)):
            raise FileError(
                f"none of its cells is a row of {table.path}, where rows are called "
                f"{_listed(row_names)}. Names that are numbers must be written as they stand there."
            )
        notes.append(f"{path.name} holds no name of a row: its numbers count rows from 1.")
    is_row = numbers.__contains__ if by_name else _is_whole
    start = 0 if any(map(is_row, cells[0])) else 1
    if start:
        heading = ", ".join(cells[0])
        notes.append(f"The first line of {path.name} ({heading}) was read as a heading.")
    if start == len(cells):
        raise FileError("the file has a heading but no pair.")
    pairs = np.empty((len(cells) - start, 2), dtype=np.int64)
    for i, pair in enumerate(cells[start:]):
        with naming(f"{path}: {content.place(start + i)}"):
            known = numbers if by_name else None
            pairs[i] = [_find_row(cell, table, row_names, known) for cell in pair]
            if pairs[i, 0] == pairs[i, 1]:
                raise FileError(f"{pair[0]!r} is paired with itself. Remove it.")
    notes.append(f"{len(pairs)} {kind} pair{'s' * (len(pairs) != 1)} read from {path.name}.")
    return pairs


def _find_row(
    cell: str, table: FileTable, row_names: Sequence[str] | None, numbers: dict[str, int] | None
) -> int:
    """Return the row, counted from 0, of a name (where `numbers` are given) or number."""
    if numbers is not None:
        if cell not in numbers:
            raise FileError(
                f"{cell!r} is no row of {table.path}, where rows are called {_listed(row_names)}. "
                "Correct the name or remove the pair."
            )
        return numbers[cell]
    if not _is_whole(cell):
        hint = f"Rows are called {_listed(row_names)}; or give their numbers, counted from 1"
        if row_names is None:
            hint = (
                f"To pair rows by name, say with {said('id')} which column of the table holds the "
                "names; else give their numbers, counted from 1"
            )
        raise FileError(f"{cell!r} is no row number of {table.path}. {hint}.")
    if not 1 <= int(cell) <= table.n_rows:
        raise FileError(
            f"there is no row {cell}: the rows of {table.path} are counted from 1 to "
            f"{table.n_rows}. Correct the number or remove the pair."
        )
    return int(cell) - 1


def _listed(row_names: Sequence[str] | None) -> str:
    names = list(row_names or ())
    more = f", ... ({len(names)} in all)" if len(names) > MOST_SHOWN else ""
    return ", ".join(map(repr, names[:MOST_SHOWN])) + more


def _is_whole(cell: str) -> bool:
    return WHOLE.fullmatch(cell) is not None
