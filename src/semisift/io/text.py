"""Text tables: csv, tsv and their relatives, every cell kept as the file has it.

Cells stay text here; what they mean is decided when the table is prepared. Whether all lines have
the same number of cells is checked here, because the parser behind it (polars) fills short lines
with missing values in silence.
"""

import csv
import gzip
import io
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from semisift._words import count
from semisift.io._text_cells import (
    decode,
    find_separator,
    parse,
    skip_preamble,
    split_cells,
    width_of,
)
from semisift.io.limits import FileError, check_fits, naming, read_bytes
from semisift.io.options import TableOptions, said
from semisift.io.table import FileTable, is_number, settle_names, turn, untranspose_frame

# Name of a column of row names that has none in the file.
ROW_NAME = "row_name"

# In the frame of text (16, longer ones twice) and in the array of numbers (8).
BYTES_A_CELL = 24

# Heading of row names where the line of the names is one cell short.
NO_HEADING = "-"


@dataclass(frozen=True)
class Layout:
    """How the cells of a text file are written."""

    separator: str
    has_header: bool
    row_names: str | None = None  # the heading of the row names, where they are no named column


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a text table.

    Parameters
    ----------
    path : Path
    options : TableOptions

    Returns
    -------
    FileTable
        With a frame of text; empty cells are missing values.
    """
    with naming(path):
        return _read(path, options)


def _read(path: Path, options: TableOptions) -> FileTable:
    text, skipped, separator = skip_preamble(decode(read_bytes(path), options.encoding))
    if not text.strip():
        raise FileError("the file is empty. A table needs names and at least one row.")
    separator = options.between_cells or separator or find_separator(path, text)
    cells = split_cells(text, separator, len(skipped) + 1)
    has_header = options.header is not False
    first, _, rest = cells.text.partition("\n")
    names = [name.strip() for name in first.split(cells.separator)]
    if has_header:
        if options.header is None:
            _refuse_numbers_as_names(names, skipped, separator)
        cells = replace(cells, text=rest, first_line=cells.first_line + 1)
    else:
        names = [f"column_{j}" for j in range(1, len(names) + 1)]
    if not cells.text:
        raise FileError("the table has names but no row.")
    n_columns = width_of(cells, len(names))
    n_rows = cells.text.count("\n") + 1
    what = f"a table of {n_rows:,} rows and {n_columns:,} columns"
    check_fits(BYTES_A_CELL * n_rows * n_columns + len(cells.text), what)
    frame = parse(cells, n_columns)
    frame, names, notes = _without_empty_edges(frame, names)
    layout = Layout(separator, has_header)
    if frame.width == len(names) + 1:  # as R writes it: the column of row names has no heading
        names, layout = [ROW_NAME, *names], replace(layout, row_names=NO_HEADING)
    elif not names[0] and len(names) > 1:  # as pandas and R's write.csv do
        names, layout = [ROW_NAME, *names[1:]], replace(layout, row_names="")
    names, numbered = settle_names(names, "column", options)
    frame.columns = names
    table = FileTable(
        path=path,
        form="tsv" if separator == "\t" else "csv",
        values=frame,
        names=names,
        first_line=cells.first_line if cells.one_line_each else None,
        notes=(*notes, *numbered),
        details={"layout": layout},
    )
    if options.transpose:
        return turn(table, options)
    return _without_row_names(table) if layout.row_names is not None else table


def write(table: FileTable, path: Path) -> None:
    """Write a text table, each cell as it was read.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns.
    path : Path
        Of the new file; packed if it ends in ``.gz``.
    """
    layout: Layout = table.details["layout"]
    frame = table.values
    if table.transposed:
        frame = untranspose_frame(frame, table.row_names or [], table.details["first_name"])
    elif table.row_names is not None:
        frame = pl.DataFrame([pl.Series(ROW_NAME, table.row_names), *frame.get_columns()])
    header = list(frame.columns)
    if layout.row_names is not None:
        header = header[1:] if layout.row_names == NO_HEADING else ["", *header[1:]]
    target = io.StringIO()
    if layout.has_header:
        csv.writer(target, delimiter=layout.separator, lineterminator="\n").writerow(header)
    target.write(frame.write_csv(separator=layout.separator, include_header=False))
    data = target.getvalue().encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix.lower() == ".gz" else data)


def _without_row_names(table: FileTable) -> FileTable:
    """Take the row names out of the values: they must never be ranked as a feature."""
    frame = table.values
    return replace(
        table,
        values=frame.drop(ROW_NAME),
        names=table.names[1:],
        row_names=frame[ROW_NAME].fill_null("").str.strip_chars().to_list(),
        column_offset=1,
    )


def _without_empty_edges(
    frame: pl.DataFrame, names: list[str]
) -> tuple[pl.DataFrame, list[str], tuple[str, ...]]:
    """Leave out what spreadsheets add: empty columns without a name, empty rows at the end."""
    notes = []
    columns = frame.get_columns()
    n_columns = len(columns)
    # one more column than names, with nothing in it: every line ends in a separator
    while len(columns) > 1 and columns[-1].null_count() == frame.height:
        if len(columns) <= len(names):
            if names[-1]:
                break
            names = names[:-1]
        columns = columns[:-1]
    if len(columns) < n_columns:
        empty = count(n_columns - len(columns), "empty column")
        notes.append(f"{empty} without a name at the end of the lines, left out.")
    frame = pl.DataFrame(columns)
    filled = frame.height
    while filled > 1 and frame.width > 1 and all(cell is None for cell in frame.row(filled - 1)):
        filled -= 1
    if filled < frame.height:
        notes.append(f"{count(frame.height - filled, 'empty row')} at the end, left out.")
    return frame.head(filled), names, tuple(notes)


def _refuse_numbers_as_names(names: list[str], skipped: list[str], separator: str) -> None:
    numbers = [name for name in names if is_number(name)]
    if len(names) > 1 and 2 * len(numbers) > len(names):
        remark = ""
        if skipped and skipped[-1].count(separator) == len(names) - 1:
            remark = f" Line {len(skipped)}, a remark, looks like the names: remove its mark (#)."
        raise FileError(
            "the first line should hold the names of the columns, and holds numbers "
            f"({', '.join(numbers[:3])}, ...). If the file has no names, say "
            f"{said('header', False)}; if these numbers are the names, say "
            f"{said('header', True)}.{remark}"
        )
