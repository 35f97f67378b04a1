"""Text tables: csv, tsv and their relatives, every cell kept as the file has it.

Cells stay text here; what they mean is decided when the table is prepared. The parser (polars)
fills short lines with missing values and guesses at stray quotation marks, both in silence. So the
separators outside quoted cells are counted first, and Python's csv module reads tables whose
quotation marks do not all stand around whole cells.
"""

import csv
import gzip
import io
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from semisift.exceptions import TableError
from semisift.io._formats._common import turn, turned_back
from semisift.io._guards import FileError, check_fits, error_context, read_bytes
from semisift.io._options import TableOptions, format_option
from semisift.io._table import FileTable, is_number, resolve_names
from semisift.utils._text import plural

# Name of a column of row names that has none in the file.
ROW_NAME = "row_name"

# In the frame of text (16, longer ones twice) and in the array of numbers (8).
BYTES_A_CELL = 24

# Heading of row names where the line of the names is one cell short.
NO_HEADING = "-"

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

# Separates cells after quotation marks were resolved: it stands in no file that people write.
UNIT = "\x1f"

BYTE_ORDER_MARKS = {BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}

# The line by which Excel tells itself the separator.
EXCEL_SEPARATOR = re.compile(r'"?sep=(.)"?\n', re.IGNORECASE)


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a text table into a frame of text, in which empty cells are missing values."""
    with error_context(path):
        text, skipped, separator = skip_preamble(decode(read_bytes(path), options.encoding))
        if not text.strip():
            raise FileError("the file is empty. A table needs names and at least one row.")
        separator = options.between_cells or separator or find_separator(path, text)
        has_header = options.header is not False
        names, body, first_line = _split_names(text, separator, len(skipped) + 1)
        if has_header:
            if options.header is None:
                remark = ""
                if skipped and skipped[-1].count(separator) == len(names) - 1:
                    looks = f"Line {len(skipped)}, a remark, looks like the names"
                    remark = f" {looks}: remove its mark (#)."
                check_names_not_numbers(names, remark)
        else:
            names, body, first_line = numbered_names(len(names)), text, len(skipped) + 1
        # empty lines at the end are rows only where there is a single column
        body = body.rstrip("\n") if separator in body else body.removesuffix("\n")
        if not body:
            raise FileError("the table has names but no row.")
        frame, one_line_each = _parse(body, separator, first_line, len(names))
        return as_table(
            path,
            "tsv" if separator == "\t" else "csv",
            frame,
            names,
            options,
            first_line=first_line if one_line_each else None,
            details={"separator": separator, "has_header": has_header},
        )


def as_table(
    path: Path,
    form: str,
    frame: pl.DataFrame,
    names: list[str],
    options: TableOptions,
    *,
    first_line: int | None,
    details: Mapping[str, Any],
) -> FileTable:
    """Return a table of the cells of a text or of a sheet.

    Parameters
    ----------
    path, form
        Of the file.
    frame : polars.DataFrame
        The cells below the names.
    names : list of str
        As the file has them: one for each column, or one less where row names have no heading.
    options : TableOptions
    first_line : int or None
        Where the first row stands in the file.
    details : mapping
        For the writer.

    Returns
    -------
    FileTable
        Without empty columns and rows at the edges; a first column without a name holds row names.
        Turned where the options say so.
    """
    frame, names, notes = _without_empty_edges(frame, names)
    heading = None  # of the row names, where they are no named column
    if frame.width == len(names) + 1:  # as R writes it: the column of row names has no heading
        names, heading = [ROW_NAME, *names], NO_HEADING
    elif not names[0] and len(names) > 1:  # as pandas and R's write.csv do
        names, heading = [ROW_NAME, *names[1:]], ""
    names, numbered = resolve_names(names, "column", options)
    frame.columns = names
    table = FileTable(
        path=path,
        form=form,
        values=frame,
        names=names,
        first_line=first_line,
        notes=(*notes, *numbered),
        details={**details, "heading": heading},
    )
    if options.transpose:
        return turn(table, options)
    if heading is None:
        return table
    row_names = frame[ROW_NAME].cast(pl.String).fill_null("").str.strip_chars()
    return replace(  # row names must never be ranked as a feature
        table,
        values=frame.drop(ROW_NAME),
        names=names[1:],
        row_names=row_names.to_list(),
        column_offset=1,
    )


def write(table: FileTable, path: Path) -> None:
    """Write a text table, each cell as it was read; packed if the path ends in ``.gz``."""
    frame, separator = turned_back(table), table.details["separator"]
    if table.row_names is not None and not table.transposed:
        frame = pl.DataFrame([pl.Series(ROW_NAME, table.row_names), *frame.get_columns()])
    header, heading = list(frame.columns), table.details["heading"]
    if heading is not None:
        header = header[1:] if heading == NO_HEADING else ["", *header[1:]]
    lines = frame, header if table.details["has_header"] else None, separator
    text = _joined(*lines, "necessary")
    found = find_separator(path, text)
    if skip_preamble(text)[1] or (found != separator and found in text):
        text = _joined(*lines, "always")  # a name would be taken for a remark, or cut in two
    if EXCEL_SEPARATOR.match(text):  # a name, which quotation marks do not tell from Excel's line
        text = f"\n{text}"
    if text.startswith("\ufeff"):  # of a name, which would be taken for the mark of the encoding
        text = f"\ufeff{text}"
    data = text.encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix.lower() == ".gz" else data)


def _joined(
    frame: pl.DataFrame,
    header: list[str] | None,
    separator: str,
    quoted: Literal["necessary", "always"],
) -> str:
    """Return the names and the cells, with quotation marks where they are needed or everywhere."""
    first = io.StringIO()
    if header is not None:
        quoting: Literal[0, 1] = csv.QUOTE_ALL if quoted == "always" else csv.QUOTE_MINIMAL
        writer = csv.writer(first, delimiter=separator, lineterminator="\n", quoting=quoting)
        writer.writerow(header)
    rest = frame.write_csv(separator=separator, include_header=False, quote_style=quoted)
    return first.getvalue() + rest


def _without_empty_edges(
    frame: pl.DataFrame, names: list[str]
) -> tuple[pl.DataFrame, list[str], tuple[str, ...]]:
    """Leave out what spreadsheets add: empty columns without a name, empty rows at the end."""
    height, width = frame.shape
    # one more column than names, with nothing in it: every line ends in a separator
    while width > 1 and frame.to_series(width - 1).null_count() == height:
        if width <= len(names) and names[-1]:
            break
        width -= 1
        names = names[:width]
    while height > 1 and width > 1 and frame.row(height - 1)[:width] == (None,) * width:
        height -= 1
    notes = []
    if width < frame.width:
        empty = plural(frame.width - width, "empty column")
        notes.append(f"{empty} without a name at the end of the lines, left out.")
    if height < frame.height:
        notes.append(f"{plural(frame.height - height, 'empty row')} at the end, left out.")
    return frame[:height, :width], names, tuple(notes)


def numbered_names(n_columns: int) -> list[str]:
    """Return names for the columns of a table that has none."""
    return [f"column_{j}" for j in range(1, n_columns + 1)]


def check_names_not_numbers(names: list[str], remark: str = "") -> None:
    """Refuse a first line that looks like values; a remark may say where the names could be."""
    numbers = [name for name in names if is_number(name)]
    if len(names) > 1 and 2 * len(numbers) > len(names):
        raise FileError(
            "the first line should hold the names of the columns, and holds numbers "
            f"({', '.join(numbers[:3])}, ...). If the file has no names, pass "
            f"{format_option('header', False)}; if these numbers are the names, pass "
            f"{format_option('header', True)}.{remark}"
        )


# --- from bytes to text, names and cells ----------------------------------------------------------


def decode(data: bytes, encoding: str) -> str:
    """Return the text of a file, with plain line ends."""
    for mark, marked in BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            encoding = marked
    if b"\0" in data and not encoding.lower().replace("-", "").startswith(("utf16", "utf32")):
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        cure = f"If this is a text file in UTF-16, pass {format_option('encoding', 'utf-16')}"
        other = "if it is another kind of file, give it the ending of its format"
        raise FileError(f"line {line} holds a zero byte, which no text has. {cure}; {other}.")
    try:
        text = data.decode(encoding.replace("\0", "?"))  # Python has other words for a zero byte
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        cure = f"say how it is written, for example {format_option('encoding', 'latin-1')}"
        raise FileError(
            f"line {line} holds a character that is not {encoding.upper()} (byte "
            f"{data[error.start]:#04x}). Save the file as UTF-8, or {cure}."
        ) from error
    except LookupError as error:
        given = format_option("encoding", encoding)
        raise TableError(f"{given}: there is no encoding of this name.") from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def skip_preamble(text: str) -> tuple[str, list[str], str | None]:
    """Leave out what stands before the names: empty lines, remarks, Excel's separator.

    Returns
    -------
    text : str
        What follows.
    skipped : list of str
        The lines before it.
    separator : str or None
        As Excel gives it.
    """
    skipped, separator = [], None
    if given := EXCEL_SEPARATOR.match(text):
        separator = given[1]
        skipped.append(given[0])
        text = text[given.end() :]
    while text.startswith(("# ", "##", "\n")):
        line, _, text = text.partition("\n")
        skipped.append(line)
    return text, skipped, separator


def find_separator(path: Path, text: str) -> str:
    """Choose what divides the first two lines alike; else the separator of the file's ending."""
    lines = [re.sub('"[^"]*"', "", line) for line in text.split("\n", 2)[:2]]
    usual = "\t" if re.search(r"\.(tsv|tab)\b", path.name.lower()) else ","
    dividing = {}
    for separator in sorted(SEPARATORS, key=lambda separator: separator != usual):
        if any(both := [line.count(separator) for line in lines]):
            dividing[separator] = both
    for tolerance in (0, 1):  # R leaves the heading of the row names out
        for separator, both in dividing.items():
            if min(both) > 0 and max(both) - min(both) <= tolerance:
                return separator
    return next(iter(dividing), usual)


def _records(text: str, separator: str, first_line: int, n_records: int = -1) -> tuple[Any, int]:
    """Return records of cells as Python's csv module reads them, and how many lines they take."""
    csv.field_size_limit(2**31 - 1)
    every = (line[0] for line in re.finditer(r"[^\n]*+\n|[^\n]++", text))  # one after the other
    reader = csv.reader(every, delimiter=separator, strict=True)
    records: list[list[str]] = []
    n_lines = 0
    try:
        for record in reader:
            records.append(record)
            n_lines = reader.line_num
            if len(records) == n_records:
                break
    except csv.Error as error:
        problem = "a quotation mark is not closed, or text follows a closed one"
        cure = 'Inside a quoted cell it is written twice (""): correct the line, or remove the mark'
        raise FileError(f"line {first_line + n_lines}: {problem} ({error}). {cure}.") from error
    return records, n_lines


def _split_names(text: str, separator: str, first_line: int) -> tuple[list[str], str, int]:
    """Return the cells of the first record, the text behind it, and in which line that begins."""
    first, _, body = text.partition("\n")
    cells, n_lines = first.split(separator), 1
    if '"' in first:
        (cells,), n_lines = _records(text, separator, first_line, 1)
        body = text.split("\n", n_lines)[n_lines] if text.count("\n") >= n_lines else ""
    names = [" ".join(cell.split("\n")).strip() for cell in cells]
    return names, body, first_line + n_lines


def _parse(body: str, separator: str, first_line: int, n_names: int) -> tuple[pl.DataFrame, bool]:
    """Return rows as a frame of text, and whether each of them stands in one line of the file.

    The frame has a column for each name, or one more. Only the sum of the separators is counted:
    with the right sum a short line implies a long one, and the parser refuses those.
    """
    text, between, one_line_each, quote_char = body, separator, True, None
    bare = text  # without quoted cells: each line is a row, each separator separates
    if '"' in body:
        ends = re.escape(separator) + r"\n"
        bare = re.sub(rf'"(?<![^{ends}]")[^"]*+(?:""[^"]*+)*+"(?![^{ends}])', "", body)
        quote_char, one_line_each = '"', bare.count("\n") == body.count("\n")
    if '"' in bare:  # not around a whole cell
        records, n_lines = _records(body, separator, first_line)
        text = bare = "\n".join(UNIT.join(record).replace("\n", " ") for record in records)
        between, quote_char, one_line_each = UNIT, None, n_lines == len(records)
    n_rows, n_separators = bare.count("\n") + 1, bare.count(between)
    n_columns = n_names + (n_separators == n_rows * n_names)
    frame = None
    if n_separators == n_rows * (n_columns - 1):
        what = f"a table of {n_rows:,} rows and {n_columns:,} columns"
        check_fits(BYTES_A_CELL * n_rows * n_columns + len(text), what)
        with suppress(pl.exceptions.PolarsError):
            frame = read_text(text, n_columns, between, quote_char)
    if frame is None or frame.height != n_rows:
        start = ("line", first_line) if one_line_each else ("row", 1)
        raise _ragged(bare, between, separator, n_names, start)
    if not one_line_each:
        frame = frame.with_columns(pl.all().str.replace_all("\n", " ", literal=True))
    if quote_char and '""' in text:  # an empty cell between marks
        frame = frame.with_columns(pl.when(pl.all() != "").then(pl.all()))
    return frame, one_line_each


def _ragged(
    text: str, between: str, separator: str, n_names: int, start: tuple[str, int]
) -> FileError:
    """Return the error of the first line with another number of cells than the others."""
    lines = text.split("\n")
    widths = [line.count(between) + 1 for line in lines]
    # where nearly all lines have a cell more than there are names, row names have no heading
    expected = n_names + (2 * widths.count(n_names + 1) > len(widths))
    row = next((i for i, width in enumerate(widths) if width != expected), 0)
    place = f"{start[0]} {start[1] + row}"
    if not lines[row].strip():
        return FileError(f"{place} is empty. Remove it.")
    divider = SEPARATORS.get(separator, repr(separator))
    cure = f"Look for a missing or an extra separator ({divider}) in it"
    if n_names == 1:
        cure = f"A {divider} divides cells here. If the first line is a title, remove it"
    return FileError(
        f"{place} has {plural(widths[row], 'cell')}, where {expected} are expected, as in the line "
        f"of the names. {cure}; text that holds a separator must stand between quotation marks; if "
        f"the cells are divided by something else, pass {format_option('separator')}."
    )


def read_text(
    text: str, n_columns: int, separator: str, quote_char: str | None = None
) -> pl.DataFrame:
    """Return lines of cells as a frame of text."""
    data = (text + "\n").encode()  # or an empty last line would be no row
    return read_cells(data, [pl.String] * n_columns, separator, quote_char=quote_char)


def read_cells(
    data: bytes, types: Sequence[Any], separator: str = ",", **options: Any
) -> pl.DataFrame:
    """Return cells without names, of a type for each column; none is quoted unless options say."""
    schema = {f"column_{j}": dtype for j, dtype in enumerate(types)}
    options = {"quote_char": None, **options}
    return pl.read_csv(data, has_header=False, schema=schema, separator=separator, **options)
