"""Pairs of rows in a file of their own: by the names of the rows, or by their numbers.

A line holds two rows. A first line that names no row is a heading.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._labels import parse_labels, parse_pairs
from semisift.exceptions import TableError
from semisift.io import text
from semisift.io.options import Reading, TableOptions, said
from semisift.io.table import FileTable

MOST_SHOWN = 5

Cells = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class RowPairs:
    """Pairs of rows of a dataset.

    Attributes
    ----------
    must_link, cannot_link : int array of shape (k, 2), or None
        Row numbers counted from 0; None where no file was named.
    notes : list of str
        What was read, as sentences.
    """

    must_link: NDArray[np.int64] | None
    cannot_link: NDArray[np.int64] | None
    notes: list[str]


def read_pairs(
    reading: Reading,
    table: FileTable,
    row_names: Sequence[str] | None,
    kept: NDArray[np.integer] | None,
    y: NDArray[Any],
) -> RowPairs:
    """Read pairs of rows, and refuse those that contradict each other or the labels.

    Parameters
    ----------
    reading : Reading
        Names the reading.
    table : FileTable
        Whose rows are paired.
    row_names : sequence of str or None
        Names of all rows of the table.
    kept : int array or None
        The rows that were not left out for missing values; None for all.
    y : object array
        Labels of the kept rows; None for unlabelled ones.

    Returns
    -------
    RowPairs
    """
    if reading.must_link is None and reading.cannot_link is None:
        return RowPairs(None, None, [])
    notes: list[str] = []
    must, cannot = (
        None if path is None else _read_file(Path(path), kind, table, row_names, kept, notes)
        for path, kind in ((reading.must_link, "must-link"), (reading.cannot_link, "cannot-link"))
    )
    rows = np.arange(table.n_rows) if kept is None else kept
    labels = parse_labels(y, len(y))
    try:
        parse_pairs(must, cannot, labels, lambda row: _shown(int(rows[row]), row_names))
    except ValueError as error:
        named = [str(path) for path in (reading.must_link, reading.cannot_link) if path is not None]
        raise TableError(
            f"{' and '.join(named)}: {error} Remove or correct the pairs that are wrong."
        ) from error
    return RowPairs(must, cannot, notes)


def _read_file(
    path: Path,
    kind: str,
    table: FileTable,
    row_names: Sequence[str] | None,
    kept: NDArray[np.integer] | None,
    notes: list[str],
) -> NDArray[np.int64]:
    content = _read_text(path, kind)
    cells: Cells = list(content.values.fill_null("").iter_rows())
    cells = [(first.strip(), second.strip()) for first, second in cells]
    rows = _RowFinder(path, content, table, row_names, cells)
    start = 0 if any(rows.knows(cell) for cell in cells[0]) else 1
    if start:
        notes.append(
            f"The first line of {path.name} ({', '.join(cells[0])}) was read as a heading."
        )
    if start == len(cells):
        raise TableError(f"{path}: the file has a heading but no pair.")
    pairs = np.array([rows.pair(i) for i in range(start, len(cells))], dtype=np.int64)
    notes.append(f"{len(pairs)} {kind} pair{'s' * (len(pairs) != 1)} read from {path.name}.")
    if kept is None:
        return pairs
    number = np.full(table.n_rows, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    moved = number[pairs]
    gone = (moved < 0).any(axis=1)
    if gone.any():
        notes.append(
            f"{int(gone.sum())} of the {kind} pairs were left out with rows that have missing "
            "values."
        )
    return moved[~gone]


def _read_text(path: Path, kind: str) -> FileTable:
    if not path.is_file():
        raise TableError(f"{path}: there is no such file.")
    try:
        content = text.read(path, TableOptions(header=False))
    except OSError as error:
        raise TableError(f"{path}: the file cannot be read: {error.strerror or error}.") from error
    if len(content.names) != 2:
        raise TableError(
            f"{path}: a file of {kind} pairs is text with two columns, the two rows of each pair, "
            f"and this one has {len(content.names)}."
        )
    return content


class _RowFinder:
    """Finds rows by name where any cell is a name, else by number."""

    def __init__(
        self,
        path: Path,
        content: FileTable,
        table: FileTable,
        row_names: Sequence[str] | None,
        cells: Cells,
    ) -> None:
        self.path, self.content, self.table = path, content, table
        self.row_names, self.cells = row_names, cells
        self._numbers = {name: row for row, name in enumerate(row_names or ())}
        self._by_name = any(cell in self._numbers for pair in cells for cell in pair)

    def knows(self, cell: str) -> bool:
        """Whether a cell may be a row: a heading is none."""
        return cell in self._numbers if self._by_name else _is_whole(cell)

    def pair(self, line: int) -> tuple[int, int]:
        """Return the rows of one line, counted from 0."""
        first, second = (self._row(cell, line) for cell in self.cells[line])
        if first == second:
            raise self._error(line, f"{self.cells[line][0]!r} is paired with itself. Remove it")
        return first, second

    def _row(self, cell: str, line: int) -> int:
        if self._by_name:
            if cell not in self._numbers:
                raise self._error(
                    line,
                    f"{cell!r} is no row of {self.table.path}, where rows are called "
                    f"{self._listed()}. Correct the name or remove the pair",
                )
            return self._numbers[cell]
        if not _is_whole(cell):
            raise self._error(
                line, f"{cell!r} is no row number of {self.table.path}.{self._hint()}"
            )
        if not 1 <= int(cell) <= self.table.n_rows:
            raise self._error(
                line,
                f"there is no row {cell}: the rows of {self.table.path} are counted from 1 to "
                f"{self.table.n_rows}. Correct the number or remove the pair",
            )
        return int(cell) - 1

    def _hint(self) -> str:
        if self.row_names is None:
            return (
                f" To pair rows by name, say with {said('id')} which column of the table holds "
                "the names; "
                "else give their numbers, counted from 1"
            )
        return f" Rows are called {self._listed()}; or give their numbers, counted from 1"

    def _listed(self) -> str:
        names = list(self.row_names or ())
        more = f", ... ({len(names)} in all)" if len(names) > MOST_SHOWN else ""
        return ", ".join(map(repr, names[:MOST_SHOWN])) + more

    def _error(self, line: int, what: str) -> TableError:
        return TableError(f"{self.path}: {self.content.place(line)}: {what}.")


def _is_whole(cell: str) -> bool:
    return cell.lstrip("+-").isdecimal()


def _shown(row: int, row_names: Sequence[str] | None) -> str:
    return str(row + 1) if row_names is None else repr(row_names[row])
