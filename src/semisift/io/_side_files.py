"""Files beside a table: names, groups and weights of features, and pairs of rows.

Names stand one in a line, or in the first column of a text table; groups in a table with the
columns feature and group, or in a gmt file (name, description and members between tabs); weights
in a table with the columns feature and weight. A line of a file of pairs holds two rows, by their
names or numbers; a first line that names no row is a heading.
"""

import re
from collections.abc import Collection, Sequence, Sized
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from semisift.exceptions import TableError
from semisift.io._formats import text
from semisift.io._guards import FileError, error_context, read_bytes
from semisift.io._options import TableOptions, format_option
from semisift.io._table import FileTable, Preparation, is_number
from semisift.utils._labels import parse_labels, parse_pairs
from semisift.utils._text import examples, plural, quote

# What people write above a column of names.
HEADINGS = ("", "feature", "features", "name", "names", "column", "gene", "genes", "variable")

GMT = (".gmt", ".gmt.gz")

INTEGER = re.compile(r"[+-]?[0-9]{1,18}")  # longer ones number no row, and int() may refuse them

Found = TypeVar("Found", bound=Sized)
Pairs = NDArray[np.int64] | None


def read_names(given: str, known: Collection[str]) -> list[str]:
    """Read names from a file, or between commas where there is no such file.

    Parameters
    ----------
    given : str
        The path of a file, or names.
    known : collection of str
        The features that there are: a first line that is one of them is no heading.

    Returns
    -------
    list of str
        Each name once, in its order.
    """
    path = Path(given)
    if not path.is_file():
        names = [name.strip() for name in given.split(",")]
        if path.suffix and given not in known and not any(name in known for name in names):
            with error_context(path):
                raise FileError("there is no such file, and no feature is called so.")
        return [given] if given in known else _check_found(_distinct(names), "name")
    with error_context(path):
        lines = [line for line in _lines(path) if line.strip()]
        # a whole line may be a name with a comma in it
        if not any(line.strip() in known for line in lines):
            lines = [cells[0] for cells in _cells(path)[0]]
        names = [line.strip() for line in lines]
        if names and names[0] not in known and names[0].lower() in HEADINGS:
            names = names[1:]
        return _check_found(_distinct(names), "name")


def read_groups(given: str, known: Collection[str] = ()) -> dict[str, list[str]]:
    """Read groups of features.

    Parameters
    ----------
    given : str
        The path of a file.
    known : collection of str
        The features that there are.

    Returns
    -------
    dict of str to list of str
        The members of each group.
    """
    path = Path(given)
    with error_context(path):
        groups: dict[str, list[str]] = {}
        if not path.name.lower().endswith(GMT):
            for feature, group in _two_columns(path, "group", known):
                groups.setdefault(group, []).append(feature)
        else:
            for number, line in enumerate(_lines(path), start=1):
                name, *rest = line.split("\t")
                members = [cell.strip() for cell in rest[1:] if cell.strip()]
                if line.strip() and not members:
                    raise FileError(
                        f"line {number}: a line of a gmt file is a name, a description and the "
                        f"members, between tabs: got {quote(line)}."
                    )
                if members:
                    groups.setdefault(name.strip(), []).extend(members)
        return {name: _distinct(found) for name, found in _check_found(groups, "group").items()}


def read_weights(given: str, known: Collection[str] = ()) -> dict[str, float]:
    """Read the weights of features.

    Parameters
    ----------
    given : str
        The path of a file.
    known : collection of str
        The features that there are.

    Returns
    -------
    dict of str to float
    """
    path = Path(given)
    with error_context(path):
        weights: dict[str, float] = {}
        for feature, weight in _two_columns(path, "weight", known):
            if not is_number(weight):
                raise FileError(f"the weight of {quote(feature)} is no number: {quote(weight)}.")
            if feature in weights:
                raise FileError(f"{quote(feature)} has two weights. Remove one of them.")
            weights[feature] = float(weight)
        return _check_found(weights, "weight")


def _lines(path: Path) -> list[str]:
    _check_file(path)
    return text.decode(read_bytes(path), TableOptions().encoding).splitlines()


def _cells(path: Path) -> tuple[list[tuple[str, ...]], FileTable]:
    """Return the cells of a text table line by line, with its heading, and the table."""
    _check_file(path)
    try:
        table = text.read(path, TableOptions(header=False))
    except OSError as error:
        raise FileError(f"the file cannot be read: {error.strerror or error}.") from error
    rows = table.values.fill_null("").iter_rows()
    return [tuple(str(cell).strip() for cell in row) for row in rows], table


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise FileError("there is no such file.")


def _two_columns(path: Path, second: str, known: Collection[str]) -> list[tuple[str, str]]:
    """Return two columns of a table: those with the headings feature and `second`, or the first."""
    rows, _ = _cells(path)
    if len(rows[0]) < 2:
        raise FileError(f"it must have the columns feature and {second}, and it has one.")
    places = _headed(rows[0], second, known)
    first, other = places or (0, 1)
    found = [(row[first], row[other]) for row in (rows[1:] if places else rows)]
    return [(feature, value) for feature, value in found if feature or value]


def _headed(line: Sequence[str], second: str, known: Collection[str]) -> tuple[int, int] | None:
    """Return the places of features and `second` below a line; None where it is no heading."""
    heading = [cell.lower() for cell in line]
    if "feature" in heading and second in heading:
        return heading.index("feature"), heading.index(second)
    is_feature = line[0] in known
    if second in heading[1:] and (heading[0] in HEADINGS or not is_feature):
        return 0, heading.index(second, 1)
    if is_feature or (second == "weight" and is_number(line[1])):
        return None
    if heading[0] == second:
        return next(((j, 0) for j, cell in enumerate(heading) if cell in HEADINGS), None)
    return (0, 1) if heading[0] in HEADINGS else None


def _distinct(names: list[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name))


def _check_found(found: Found, what: str) -> Found:
    if not found:
        raise FileError(f"it holds no {what}.")
    return found


# --- pairs of rows --------------------------------------------------------------------------------


def read_pairs(
    prep: Preparation, kept: NDArray[np.integer], y: NDArray[Any]
) -> tuple[Pairs, Pairs]:
    """Read pairs of rows, and refuse those that contradict each other or the labels.

    Parameters
    ----------
    prep : Preparation
    kept : int array
        The rows of the table that were not left out for missing values.
    y : object array
        Labels of the kept rows; None for unlabelled ones.

    Returns
    -------
    must_link, cannot_link : int array of shape (k, 2), or None
        Numbers of kept rows, counted from 0; None where no file was named.
    """
    names, files, pairs = prep.row_names, [], {}
    number = np.full(prep.table.n_rows, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    for kind in ("must-link", "cannot-link"):
        if (given := getattr(prep.reading, kind.replace("-", "_"))) is None:
            continue
        with error_context(given):
            moved = number[_read_pairs(Path(given), kind, prep)]
        is_left = (moved >= 0).all(axis=1)
        if n_gone := int((~is_left).sum()):
            gone = f"{n_gone} of the {kind} pairs were left out with rows that have missing values."
            prep.notes.append(gone)
        pairs[kind] = moved[is_left]
        files.append(str(Path(given)))
    must, cannot = pairs.get("must-link"), pairs.get("cannot-link")

    def show(row: int) -> str:
        return str(kept[row] + 1) if names is None else repr(names[kept[row]])

    try:
        if pairs:
            parse_pairs(must, cannot, parse_labels(y, len(y)), show)
    except ValueError as error:
        cure = "Remove or correct the pairs that are wrong"
        raise TableError(f"{' and '.join(files)}: {error} {cure}.") from error
    return must, cannot


def _read_pairs(path: Path, kind: str, prep: Preparation) -> NDArray[np.int64]:
    """Return the pairs of a file as rows of the table."""
    cells, content = _cells(path)
    if len(cells[0]) != 2:
        raise FileError(
            f"a file of {kind} pairs is text with two columns, the two rows of each pair, and this "
            f"one has {len(cells[0])}."
        )
    table, names = prep.table, prep.row_names or ()
    # by name where any cell is a name, else by number
    number = {name: row for row, name in enumerate(names)}
    by_name = any(cell in number for pair in cells for cell in pair)
    if number and not by_name:
        if all(map(INTEGER.fullmatch, number)):
            raise FileError(
                f"none of its cells is a row of {table.path}, where rows are called "
                f"{examples(names)}. Names that are numbers must be written as they stand there."
            )
        prep.notes.append(f"{path.name} holds no name of a row: its numbers count rows from 1.")
    is_row = number.__contains__ if by_name else INTEGER.fullmatch
    start = 0 if any(map(is_row, cells[0])) else 1
    if start:
        heading = ", ".join(cells[0])
        prep.notes.append(f"The first line of {path.name} ({heading}) was read as a heading.")
    if start == len(cells):
        raise FileError("the file has a heading but no pair.")

    def find(cell: str) -> int:
        if by_name and cell in number:
            return number[cell]
        if by_name:
            raise FileError(
                f"{cell!r} is no row of {table.path}, where rows are called {examples(names)}. "
                "Correct the name or remove the pair."
            )
        if not INTEGER.fullmatch(cell):
            cure = f"say with {format_option('id')} which column of the table names the rows"
            raise FileError(
                f"{cell!r} is no row number of {table.path}. Give numbers, counted from 1, or "
                f"{f'the names of rows: {examples(names)}' if names else cure}."
            )
        if not 1 <= int(cell) <= table.n_rows:
            raise FileError(
                f"there is no row {cell}: the rows of {table.path} are counted from 1 to "
                f"{table.n_rows}. Correct the number or remove the pair."
            )
        return int(cell) - 1

    pairs = np.empty((len(cells) - start, 2), dtype=np.int64)
    for i, pair in enumerate(cells[start:]):
        with error_context(f"{path}: {content.place(start + i)}"):
            pairs[i] = [find(cell) for cell in pair]
            if pairs[i, 0] == pairs[i, 1]:
                raise FileError(f"{pair[0]!r} is paired with itself. Remove it.")
    prep.notes.append(f"{plural(len(pairs), f'{kind} pair')} read from {path.name}.")
    return pairs
