"""Sheets of Excel and LibreOffice.

Cells are parsed as text and as numbers: as text alone, numbers would have nine decimals, and as
numbers alone, words would be gone. On damaged or hostile files the reader may end the process or
fill the memory, so a process of its own reads the sheet and hands over both as an Arrow stream.
"""

import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import polars as pl

from semisift.io._formats._common import read_in_child, reading
from semisift.io._formats.text import as_table, check_names_not_numbers, numbered_names
from semisift.io._guards import FileError, check_fits, import_extra, read_bytes
from semisift.io._options import TableOptions, format_option
from semisift.io._table import FileTable, as_series
from semisift.io._write import write_plain as write
from semisift.utils._text import examples, quote

__all__ = ["read", "write"]

# Prints the names of the sheets, those without the chosen one that hold anything, and its cells.
READ = """import os, sys, json
os.environ["RUST_BACKTRACE"] = "0"
import fastexcel, polars
wanted = {wanted!r}
everything = dict(header_row=None, skip_rows=0)
def has_cells(name):
    try:
        return book.load_sheet(name, header_row=None, n_rows=1, dtypes="string").height > 0
    except Exception:  # a sheet of charts
        return False
try:
    book = fastexcel.read_excel(sys.stdin.buffer.read())
    names = book.sheet_names
    others = [name for name in names[1:] if has_cells(name)] if wanted is None else []
    print(json.dumps([names, others]), flush=True)
    if wanted is None or wanted in names:
        name = names[0] if wanted is None else wanted
        frames = [
            book.load_sheet(name, **everything, dtypes=dtype).to_polars()
            for dtype in ("string", "float")
        ]
        for frame, kind in zip(frames, "tn"):
            frame.columns = [kind + str(j) for j in range(frame.width)]
        polars.concat(frames, how="horizontal").write_ipc_stream(sys.stdout.buffer)
except Exception as error:
    sys.exit(str(error).partition(chr(10))[0])
"""

ZIP, OLE = b"PK", b"\xd0\xcf\x11\xe0"
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

# As the reader writes them: numbers (a leading zero makes an identifier), dates and times.
NUMBER = r"^-?(0|[1-9]\d*)(\.\d+)?$"
DATE = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$"


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a sheet, the first one unless `matrix` names another.

    Columns hold numbers, truth values, dates or text. Cells that hold a formula have its last
    value, and errors are missing values.
    """
    with reading(path, "spreadsheet"):
        import_extra("fastexcel", "excel")
        text, numbers, first_line, notes = _load(read_bytes(path), options.matrix)
        names = ["" if name is None else name for name in text.row(0)]
        has_header = options.header is not False
        if has_header:
            given = [name for name in names if name]
            if len(given) == 1 and len(names) > 2:
                cell = f"a single cell, {quote(given[0])}, where the names of {len(names)} columns"
                cure = "If it is a title, remove it"
                raise FileError(f"the first row of the sheet holds {cell} should stand. {cure}.")
            if options.header is None:
                check_names_not_numbers(names)
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
            first_line=first_line + has_header,
            details={"has_header": has_header},
        )
        notes = (*notes, *table.notes)
        if dates := [name for name in table.names if re.match(DATE, name)]:
            what = "Dates as names of features, such as Excel makes of SEPT2"
            notes = (*notes, f"{what}: {examples(dates)}.")
        return replace(table, notes=notes)


def _load(
    data: bytes, wanted: str | None
) -> tuple[pl.DataFrame, pl.DataFrame, int, tuple[str, ...]]:
    """Return the cells as text and as numbers, the line of the first with any, and notes."""
    if data.startswith(OLE) and ENCRYPTED in data:
        raise FileError("the file is protected by a password. Save it without one.")
    if data.startswith(ZIP):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # no part is unpacked to more than it claims
            check_fits(sum(part.file_size for part in archive.infolist()), "its content, unpacked,")
            if part := archive.testzip():
                raise ValueError(f"its part {part} is damaged")
    head, _, stream = read_in_child(READ.format(wanted=wanted), data).partition(b"\n")
    sheets, others = json.loads(head)
    if wanted is not None and wanted not in sheets:
        problem = f"{format_option('matrix', wanted)}: there is no such sheet"
        raise FileError(f"{problem}. There is {examples(sheets)}.")
    name = wanted or sheets[0]
    notes: tuple[str, ...] = ()
    if others:
        note = f"The first sheet, {quote(name)}, was read; there are also {examples(others)}"
        notes = (f"{note} ({format_option('matrix')}).",)
    cells = pl.read_ipc_stream(stream)
    width = cells.width // 2
    text, numbers = cells[:, :width], cells[:, width:]
    text = text.with_columns(pl.all().str.strip_chars().replace("", None))
    filled = text.select(pl.any_horizontal(pl.all().is_not_null(), False)).to_series()
    if not filled.any():
        others = [each for each in sheets if each != name]
        cure = (
            f" Name another one by {format_option('matrix')}: {examples(others)}." if others else ""
        )
        raise FileError(f"the sheet {quote(name)} is empty.{cure}")
    first = int(filled.arg_max() or 0)
    return text[first:], numbers[first:], first + 1, notes


def _typed(text: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """Return each column in the type of its cells."""
    every = pl.all()
    rules = every.str.contains(NUMBER), every.str.contains(DATE), every.is_in(["true", "false"])
    are_numbers, are_dates, are_truths = (text.select(rule.all()).row(0) for rule in rules)
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
