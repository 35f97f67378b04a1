"""What GEO and gct files share: text with features in rows, and columns that describe samples."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl

from semisift.io._formats._common import turn
from semisift.io._formats.text import BYTES_A_CELL, Cells, parse
from semisift.io._guards import FileError, check_fits
from semisift.io._options import TableOptions
from semisift.io._table import MISSING, FileTable, settle_names
from semisift.io._write import write_plain
from semisift.utils._text import plural

TAB = "\t"

# How both forms also write a cell without a value.
EMPTY = (*MISSING, "na")


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
        if line.count(TAB) != width - 1:
            raise FileError(
                f"line {number} has {plural(line.count(TAB) + 1, 'cell')}, where {width} are "
                "expected, as in the line of the names. The file is cut or damaged: make or "
                "download it again."
            )
    what = f"a table of {len(lines):,} rows and {width:,} columns"
    check_fits(BYTES_A_CELL * len(lines) * width + len(text), what)
    frame = parse(Cells(text, TAB, TAB, True, first_line), width)
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
    """Make a table, samples in rows, of a file that has them in columns.

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
    samples, numbered = settle_names(samples, "sample", options)
    values.columns = samples
    with suppress(pl.exceptions.PolarsError):  # it is told later which cell holds no number
        values = values.cast(pl.Float64)
    while heading in samples:
        heading += " "
    table = turn(
        FileTable(
            path=path,
            form=form,
            values=values.insert_column(0, pl.Series(heading, names, dtype=pl.String)),
            names=[heading, *samples],
            notes=(*notes, *numbered),
        ),
        options,
    )
    place = {name: i for i, name in enumerate(samples)}
    rows = pl.DataFrame(
        {name: pl.Series(cells, dtype=pl.String) for name, cells in about.items() if any(cells)}
    )
    kept = [place[name] for name in table.row_names or ()]
    return replace(table, rows=rows[kept] if rows.width else rows)


def write(table: FileTable, path: Path) -> None:
    """Write a text table or a Parquet file, with samples in rows.

    Parameters
    ----------
    table : FileTable
        As `as_table` returned it, perhaps with fewer columns.
    path : Path
        Whose ending tells the form.
    """
    write_plain(replace(table, transposed=False), path)
