"""Text tables: csv, tsv and their relatives, every cell kept as the file has it.

Cells stay text here; what they mean is decided when the table is prepared. Whether all lines have
the same number of cells is checked here, because the parser behind it (polars) fills short lines
with missing values in silence.
"""

import csv
import gzip
import io
import re
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from semisift.exceptions import TableError
from semisift.tables._io import read_bytes
from semisift.tables.frames import transpose_frame, untranspose_frame
from semisift.tables.table import ReadOptions, Table, check_unique, drop_columns

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

# Separates cells after quotation marks were resolved: it stands in no file that people write.
UNIT = "\x1f"

# Name of a column of row names that has none in the file.
ROW_NAME = "row_name"

# Heading of row names where the line of the names is one cell short.
NO_HEADING = "-"

BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True)
class Layout:
    """How the cells of a text file are written."""

    separator: str
    has_header: bool
    row_names: str | None = None  # the heading of the row names, where they are no named column


def read(path: Path, options: ReadOptions) -> Table:
    """Read a text table.

    Parameters
    ----------
    path : Path
    options : ReadOptions

    Returns
    -------
    Table
        With a frame of text; empty cells are missing values.
    """
    text, preamble = _skip_preamble(_decode(path, read_bytes(path), options.encoding))
    if not text.strip():
        raise TableError(f"{path}: the file is empty. A table needs names and at least one row.")
    separator = options.separator or _find_separator(path, text)
    cells = _split(path, text, separator, preamble)
    has_header = options.header is not False
    first, _, rest = cells.text.partition("\n")
    names = [name.strip() for name in first.split(cells.separator)]
    if not has_header:
        names, rest = [f"column_{j}" for j in range(1, len(names) + 1)], cells.text
    elif options.header is None:
        _refuse_numbers_as_names(path, names)
    first_line = preamble + 1 + has_header
    cells = replace(cells, text=rest)
    width = _width(path, cells, len(names), first_line)
    layout = Layout(separator, has_header)
    if width == len(names) + 1:  # as R writes it: the column of row names has no heading
        names, layout = [ROW_NAME, *names], replace(layout, row_names=NO_HEADING)
    elif not names[0] and len(names) > 1:  # as pandas and R's write.csv do
        names, layout = [ROW_NAME, *names[1:]], replace(layout, row_names="")
    check_unique(path, names, "column")
    table = Table(
        path=path,
        form="tsv" if separator == "\t" else "csv",
        values=_parse(path, cells, names, first_line),
        names=names,
        first_line=first_line if cells.one_line_each else None,
        details={"layout": layout},
    )
    if options.transpose:
        return _turned(table, options)
    return _without_row_names(table) if layout.row_names is not None else table


def write(table: Table, path: Path) -> None:
    """Write a text table, each cell as it was read.

    Parameters
    ----------
    table : Table
        As `read` returned it, perhaps with fewer columns.
    path : Path
        Of the new file; packed if it ends in ``.gz``.
    """
    layout: Layout = table.details["layout"]
    frame = table.values
    if table.transposed:
        frame = untranspose_frame(frame, table.row_names or [], table.details["first_name"])
    elif table.row_names is not None:
        frame = frame.insert_column(0, pl.Series(ROW_NAME, table.row_names))
    header = list(frame.columns)
    if layout.row_names is not None:
        header = header[1:] if layout.row_names == NO_HEADING else ["", *header[1:]]
    target = io.StringIO()
    if layout.has_header:
        csv.writer(target, delimiter=layout.separator, lineterminator="\n").writerow(header)
    target.write(frame.write_csv(separator=layout.separator, include_header=False))
    data = target.getvalue().encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix.lower() == ".gz" else data)


def _turned(table: Table, options: ReadOptions) -> Table:
    frame = drop_columns(table, options.drop).values
    turned, row_names = transpose_frame(frame, table.path)
    return replace(
        table,
        values=turned,
        names=turned.columns,
        row_names=row_names,
        transposed=True,
        first_line=None,
        details={**table.details, "first_name": frame.columns[0]},
    )


def _without_row_names(table: Table) -> Table:
    """Take the row names out of the values: they must never be ranked as a feature."""
    frame = table.values
    return replace(
        table,
        values=frame.drop(ROW_NAME),
        names=table.names[1:],
        row_names=frame[ROW_NAME].fill_null("").to_list(),
        column_offset=1,
    )


# --- from bytes to text --------------------------------------------------------------------------


def _decode(path: Path, data: bytes, encoding: str) -> str:
    for mark, marked in BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            encoding = marked
    if b"\0" in data and not encoding.lower().replace("-", "").startswith(("utf16", "utf32")):
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise TableError(
            f"{path}: line {line} holds a zero byte, which no text has. If this is a text file "
            "in UTF-16, say --encoding utf-16; if it is another kind of file, give it the ending "
            "of its format."
        )
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableError(
            f"{path}: line {line} holds a character that is not {encoding.upper()} (byte "
            f"{data[error.start]:#04x}). Save the file as UTF-8, or say how it is written, for "
            "example --encoding latin-1 or --encoding cp1252."
        ) from error
    except LookupError as error:
        raise TableError(f"--encoding {encoding}: there is no encoding of this name.") from error
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _skip_preamble(text: str) -> tuple[str, int]:
    """Leave out empty lines and lines of remarks (``# ...``, ``##...``) before the names."""
    skipped = 0
    while text.startswith(("# ", "##", "\n")):
        _, _, text = text.partition("\n")
        skipped += 1
    return text, skipped


def _find_separator(path: Path, text: str) -> str:
    """Choose the separator that divides the first line: that of the file's ending, if it does."""
    line = re.sub('"[^"]*"', "", text.partition("\n")[0])
    usual = "\t" if ".tsv" in path.name.lower() else ","
    if usual in line:
        return usual
    found = max(SEPARATORS, key=line.count)
    return found if found in line else usual


# --- from text to cells --------------------------------------------------------------------------


@dataclass(frozen=True)
class Cells:
    """Text without quotation marks: a line for each row, a separator between cells."""

    text: str
    separator: str
    one_line_each: bool  # each row stands in one line of the file


def _split(path: Path, text: str, separator: str, preamble: int) -> Cells:
    """Resolve quotation marks, so that the fast parser meets none."""
    if '"' not in text:
        return Cells(text.rstrip("\n"), separator, True)
    csv.field_size_limit(2**31 - 1)
    records = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    lines = []
    last = 0  # line of the file in which the last whole row ended
    try:
        for record in records:
            lines.append(UNIT.join(record).replace("\n", " "))
            last = records.line_num
    except csv.Error as error:
        raise TableError(
            f"{path}: line {preamble + last + 1}: a quotation mark is not closed, or text follows "
            f"a closed one ({error}). Inside a quoted cell a quotation mark is written twice "
            '(""): correct the line, or remove the mark.'
        ) from error
    one_line_each = records.line_num == len(lines)
    return Cells("\n".join(lines).rstrip("\n"), UNIT, one_line_each)


def _refuse_numbers_as_names(path: Path, names: list[str]) -> None:
    if len(names) > 1 and all(_is_number(name) for name in names):
        raise TableError(
            f"{path}: the first line should hold the names of the columns, and holds numbers "
            f"({', '.join(names[:3])}, ...). If the file has no names, say --no-header; if these "
            "numbers are the names, say --header."
        )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _width(path: Path, cells: Cells, n_names: int, first_line: int) -> int:
    """Return how many cells each line has, which must be one for each name (or one more).

    Only the sum is counted here: with this sum, a short line implies a long one, and the parser
    refuses those.
    """
    if not cells.text:
        raise TableError(f"{path}: the table has names but no row.")
    n_lines = cells.text.count("\n") + 1
    n_separators = cells.text.count(cells.separator)
    if n_separators == n_lines * (n_names - 1):
        return n_names
    if n_separators == n_lines * n_names:
        return n_names + 1
    raise _ragged(path, cells, n_names, first_line)


def _ragged(path: Path, cells: Cells, n_names: int, first_line: int) -> TableError:
    lines = cells.text.split("\n")
    widths = [line.count(cells.separator) + 1 for line in lines]
    # where all lines but a few have a cell more than there are names, row names have no heading
    expected = max({n_names, n_names + 1}, key=widths.count)
    row = next((i for i, width in enumerate(widths) if width != expected), 0)
    unit = "line" if cells.one_line_each else "row"
    number = (first_line if cells.one_line_each else 1) + row
    if not lines[row].strip():
        return TableError(f"{path}: {unit} {number} is empty. Remove it.")
    return TableError(
        f"{path}: {unit} {number} has {widths[row]} cells, where {expected} are expected, as in "
        f"the line of the names. Look for a missing or an extra separator "
        f"({SEPARATORS.get(cells.separator, 'separator')}) in it; text that holds a separator must "
        'stand between quotation marks ("...").'
    )


def _parse(path: Path, cells: Cells, names: list[str], first_line: int) -> pl.DataFrame:
    schema = {f"column_{j}": pl.String for j in range(len(names))}
    try:
        frame = pl.read_csv(
            cells.text.encode(),
            has_header=False,
            schema=schema,
            separator=cells.separator,
            quote_char=None,
        )
    except pl.exceptions.PolarsError as error:
        raise _ragged(path, cells, len(names), first_line) from error
    frame.columns = names
    return frame
