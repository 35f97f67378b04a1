"""Sheets of Excel and LibreOffice.

Cells are read twice, as text and as numbers: as text alone, numbers would have nine decimals, and
as numbers alone, words would be gone. On damaged or hostile files the reader may end the process or
fill the memory, so a process of its own reads the file first.
"""

import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from semisift.io._formats._common import reading, try_in_child
from semisift.io._formats.text import (
    BYTES_A_CELL,
    as_table,
    numbered_names,
    refuse_numbers_as_names,
)
from semisift.io._guards import FileError, check_fits, import_extra, read_bytes
from semisift.io._options import TableOptions, said
from semisift.io._table import FileTable, as_series
from semisift.io._write import write_plain
from semisift.utils._text import examples, quote

READ = """import os, sys
os.environ["RUST_BACKTRACE"] = "0"
import fastexcel
wanted = {wanted!r}
try:
    book = fastexcel.read_excel(sys.stdin.buffer.read())
    names = [name for name in book.sheet_names if wanted in (None, name)]
    for name in names[:1]:
        book.load_sheet(name, header_row=None, dtypes="string")
except Exception as error:
    sys.exit(str(error).partition(chr(10))[0])
for name in names[1:]:  # sheets of charts cannot be read
    try:
        book.load_sheet(name, header_row=None, dtypes="string")
    except Exception:
        pass
"""

ZIP, OLE = b"PK", b"\xd0\xcf\x11\xe0"
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

# As the reader writes them: numbers (a leading zero makes an identifier), dates and times.
NUMBER = r"^-?(0|[1-9]\d*)(\.\d+)?$"
DATE = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$"


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a sheet.

    Parameters
    ----------
    path : Path
    options : TableOptions
        `matrix` names a sheet other than the first.

    Returns
    -------
    FileTable
        With a frame, whose columns hold numbers, truth values, dates or text. Cells that hold a
        formula have its last value, and errors are missing values.
    """
    with reading(path, "spreadsheet"):
        fastexcel = import_extra("fastexcel", "excel")
        data = read_bytes(path)
        _check(data)
        try_in_child(READ.format(wanted=options.matrix), data)
        book = fastexcel.read_excel(data)
        sheet, notes = _choose(book, options.matrix)
        text, numbers, first = _load(book, sheet)
        names = ["" if name is None else name for name in text.row(0)]
        has_header = options.header is not False
        if has_header:
            _refuse_title(names)
            if options.header is None:
                refuse_numbers_as_names(names)
            text, numbers = text[1:], numbers[1:]
        else:
            names = numbered_names(len(names))
        if not text.height:
            raise FileError("the table has names but no row.")
        table = as_table(
            path,
            "xlsx",
            _typed(text, numbers),
            names,
            options,
            first_line=first + has_header,
            details={"has_header": has_header},
        )
        return replace(table, notes=(*notes, *table.notes, *_told_of_dates(table)))


def write(table: FileTable, path: Path) -> None:
    """Write a text table or a Parquet file.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns.
    path : Path
        Whose ending tells the form.
    """
    write_plain(table, path)


def _check(data: bytes) -> None:
    """Refuse what is packed and damaged, or would not fit, and what needs a password."""
    if data.startswith(OLE) and ENCRYPTED in data:
        raise FileError("the file is protected by a password. Save it without one.")
    if not data.startswith(ZIP):
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        # no part is unpacked to more than it claims
        check_fits(sum(part.file_size for part in archive.infolist()), "its content, unpacked,")
        if part := archive.testzip():
            raise ValueError(f"its part {part} is damaged")


def _choose(book: Any, wanted: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the name of the sheet to be read, and a note where it is one of several."""
    first, *others = book.sheet_names
    if wanted in book.sheet_names:
        return str(wanted), ()
    if wanted is not None:
        problem = f"{said('matrix', wanted)}: there is no such sheet"
        raise FileError(f"{problem}. There is {examples(book.sheet_names)}.")
    others = [name for name in others if _has_content(book, name)]
    if not others:
        return first, ()
    note = f"The first sheet, {quote(first)}, was read; there are also {examples(others)}"
    return first, (f"{note} ({said('matrix')}).",)


def _has_content(book: Any, name: str) -> bool:
    try:
        return bool(book.load_sheet(name, header_row=None, n_rows=1, dtypes="string").height)
    except Exception:  # a sheet of charts
        return False


def _load(book: Any, name: str) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """Return the cells as text and as numbers from the first row with any, which is counted."""
    sheet = book.load_sheet(name, header_row=None, skip_rows=0, dtypes="string")
    what = f"a table of {sheet.height:,} rows and {sheet.width:,} columns"
    check_fits(BYTES_A_CELL * sheet.height * sheet.width, what)
    text = sheet.to_polars().with_columns(pl.all().str.strip_chars().replace("", None))
    filled = text.select(pl.any_horizontal(pl.all().is_not_null(), False)).to_series()
    if not filled.any():
        others = [each for each in book.sheet_names if each != name]
        way_out = f" Name another one by {said('matrix')}: {examples(others)}." if others else ""
        raise FileError(f"the sheet {quote(name)} is empty.{way_out}")
    first = int(filled.arg_max() or 0)
    sheet = book.load_sheet(name, header_row=None, skip_rows=0, dtypes="float")
    return text[first:], sheet.to_polars()[first:], first + 1


def _refuse_title(names: list[str]) -> None:
    given = [name for name in names if name]
    if len(given) == 1 and len(names) > 2:
        raise FileError(
            f"the first row of the sheet holds a single cell, {quote(given[0])}, where the names "
            f"of {len(names)} columns should stand. If it is a title, remove it."
        )


def _typed(text: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """Return each column in the type of its cells."""
    every = pl.all()
    are_numbers, are_dates, are_truths = (
        text.select(rule.all()).row(0)
        for rule in (
            every.str.contains(NUMBER),
            every.str.contains(DATE),
            every.is_in(["true", "false"]),
        )
    )
    columns = []
    for j, (words, number) in enumerate(zip(text, numbers, strict=True)):
        if are_numbers[j]:
            column = as_series(number.to_numpy()).fill_nan(None)
        elif are_dates[j]:
            column = words.str.to_datetime(strict=False)
        elif are_truths[j]:
            column = words == "true"
        else:  # with all decimals of the numbers among the words
            is_short = words.str.contains(NUMBER) & (words.cast(pl.Float64, strict=False) != number)
            exact = number.cast(pl.String).str.strip_suffix(".0")
            column = exact.zip_with(is_short.fill_null(False), words)
        columns.append(column.alias(words.name))
    return pl.DataFrame(columns)


def _told_of_dates(table: FileTable) -> tuple[str, ...]:
    """Tell of features that Excel has made a date of, as it does of SEPT2."""
    dates = [name for name in table.names if re.match(DATE, name)]
    if not dates:
        return ()
    return (f"Dates as names of features, such as Excel makes of SEPT2: {examples(dates)}.",)
