"""gct, the format of GenePattern: features in rows, perhaps with columns that describe them.

Version 1.2 has two columns before the samples, Name and Description. Version 1.3 says in its second
line how many columns describe the features, and how many lines describe the samples; these become
columns beside the values.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl

from semisift.io._formats._common import choose_names, reading, turn
from semisift.io._formats.text import BYTES_A_CELL, decode, read_text
from semisift.io._guards import FileError, check_fits, damaged, read_bytes
from semisift.io._options import TableOptions
from semisift.io._table import MISSING, FileTable, resolve_names
from semisift.io._write import write_plain
from semisift.utils._text import plural

TAB = "\t"

# How gct and GEO also write a cell without a value.
EMPTY = (*MISSING, "na")

# version -> how many numbers its second line has
SIZES = {"#1.2": 2, "#1.3": 4}


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a gct file, with samples in rows; `names_from` names a column about the features."""
    fixed = "a gct file always has features in rows and samples in columns"
    with reading(path, "gct", fixed=fixed, turn=options.transpose):
        text = decode(read_bytes(path), options.encoding)
        first, second, names, rest = (text + "\n\n\n").split("\n", 3)
        n_features, n_samples, n_about_features, n_about_samples = _sizes(first, second)
        headings, n_first = split_line(names), 1 + n_about_features
        if len(headings) != n_first + n_samples:
            claimed = f"{plural(n_samples, 'sample')} after {plural(n_first, 'column')}"
            has = plural(len(headings), "name")
            raise damaged(f"line 2 tells of {claimed}, and line 3 has {has}")
        if not rest.strip():
            raise FileError("the table has names but no row.")
        frame = read_lines(rest, len(headings), first_line=4)
        if frame.height != (n_lines := n_features + n_about_samples):
            there = f"there are {frame.height}"
            raise damaged(f"line 2 tells of {n_lines} lines after the names, and {there}")
        samples, rows = frame[:, n_first:], frame[n_about_samples:, :n_first]
        about = zip(frame[:n_about_samples, 0], samples[:n_about_samples].iter_rows(), strict=True)
        features = rows.to_series(0).fill_null("").str.strip_chars().to_list()
        notes: tuple[str, ...] = ()
        if options.names_from is not None:
            columns = dict(zip(headings, rows.get_columns(), strict=False))
            features, notes = choose_names(columns, features, options.names_from)
        return as_table(
            path,
            "gct",
            samples[n_about_samples:],
            options,
            features=(headings[0], features),
            samples=headings[n_first:],
            about={str(name): list(cells) for name, cells in about},
            notes=notes,
        )


def write(table: FileTable, path: Path) -> None:
    """Write a text table or a Parquet file, as the ending of the path says; samples in rows."""
    write_plain(replace(table, transposed=False), path)


def _sizes(version: str, sizes: str) -> tuple[int, int, int, int]:
    """Return how many features, samples, columns about features and lines about samples follow."""
    n_sizes = SIZES.get(version.strip())
    if n_sizes is None:
        known = " or ".join(SIZES)
        raise FileError(f"the first line must be {known}, the version: got {version[:40]!r}.")
    numbers = sizes.split()
    if len(numbers) != n_sizes or not all(re.fullmatch(r"\d{1,12}", each) for each in numbers):
        rule = f"{n_sizes} whole numbers in version {version.strip()}"
        raise FileError(f"line 2 must hold {rule}: got {sizes[:40]!r}.")
    n_features, n_samples, *about = map(int, numbers)
    if not n_features or not n_samples:
        raise FileError(f"the table is empty: it has {n_features} features, {n_samples} samples.")
    n_about_features, n_about_samples = about or (1, 0)  # version 1.2 has a description
    return n_features, n_samples, n_about_features, n_about_samples


# --- shared with GEO: text with features in rows, and lines that describe samples -----------------


def split_line(line: str) -> list[str]:
    """Return the cells of a line, without the quotation marks around them."""
    return [cell.strip().removeprefix('"').removesuffix('"') for cell in line.split(TAB)]


def read_lines(text: str, width: int, first_line: int) -> pl.DataFrame:
    """Return the lines of a table as a frame of text, null for cells without a value.

    Parameters
    ----------
    text : str
        Lines of cells.
    width : int
        How many cells each line must have.
    first_line : int
        Of the file, in which the text begins.
    """
    text = text.replace('"', "").rstrip("\n")
    lines = text.split("\n")
    for number, line in enumerate(lines, start=first_line):
        if (n_cells := line.count(TAB) + 1) != width:
            expected = f"where {width} are expected, as in the line of the names"
            raise damaged(f"line {number} has {plural(n_cells, 'cell')}, {expected}")
    what = f"a table of {len(lines):,} rows and {width:,} columns"
    check_fits(BYTES_A_CELL * len(lines) * width + len(text), what)
    frame = read_text(text, width, TAB)
    cells = pl.exclude(frame.columns[0])  # which holds names
    return frame.with_columns(pl.when(~cells.str.strip_chars().is_in(EMPTY)).then(cells))


def as_table(
    path: Path,
    form: str,
    values: pl.DataFrame,
    options: TableOptions,
    *,
    features: tuple[str, Sequence[str]],
    samples: Sequence[str],
    about: Mapping[str, Sequence[str | None]],
    notes: tuple[str, ...] = (),
) -> FileTable:
    """Return a table, samples in rows, of a file that has them in columns.

    Parameters
    ----------
    path, form
        Of the file.
    values : polars.DataFrame
        Of text, with a column for each sample.
    options : TableOptions
        `drop` names samples here.
    features : tuple of str and sequence of str
        The heading of the names of the features, and the names.
    samples : sequence of str
        Names.
    about : mapping of name to sequence
        What the file says of the samples; None where it says nothing.
    notes : tuple of str
        On what was read.

    Returns
    -------
    FileTable
    """
    heading, names = features
    samples, numbered = resolve_names(samples, "sample", options)
    values.columns = samples
    with suppress(pl.exceptions.PolarsError):  # the cell without a number is named later
        values = values.cast(pl.Float64)
    while heading in samples:
        heading += " "
    values = values.insert_column(0, pl.Series(heading, names, dtype=pl.String))
    table = FileTable(path, form, values, [heading, *samples], notes=(*notes, *numbered))
    table = turn(table, options)
    place = {name: i for i, name in enumerate(samples)}
    kept = [place[name] for name in table.row_names or ()]
    about_samples = {
        name: pl.Series(cells, dtype=pl.String) for name, cells in about.items() if any(cells)
    }
    return replace(
        table, rows=pl.DataFrame(about_samples)[kept] if about_samples else pl.DataFrame()
    )
