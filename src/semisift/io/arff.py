"""ARFF, the format of Weka: a head that declares attributes, then a line for each row.

Dense rows (``1.5, 3, yes``) become a frame. Sparse rows (``{0 1.5, 2 yes}``) become a sparse matrix
of the numeric attributes, with the others beside it; what is left out is 0, or the first value that
a nominal attribute declares. An attribute called ``class`` holds the labels.
"""

from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from polars import selectors

from semisift.exceptions import TableError
from semisift.io import _arff_sparse
from semisift.io._arff_header import (
    Attribute,
    Header,
    as_cells,
    as_numbers,
    read_header,
    split_values,
    typed,
)
from semisift.io._shared import create, reading
from semisift.io._text_cells import decode
from semisift.io.limits import read_bytes
from semisift.io.options import TableOptions, said
from semisift.io.table import FileTable, check_unique


class Lines(NamedTuple):
    """The lines with data, and the number of each in the file."""

    texts: list[str]
    numbers: list[int]


def read(path: Path, options: TableOptions) -> FileTable:
    """Read an ARFF file.

    Parameters
    ----------
    path : Path
    options : TableOptions
        `encoding` counts here too.

    Returns
    -------
    FileTable
        Nominal attributes are text and count as categorical, but for the label and for those with
        just two values that are numbers, which become numbers.
    """
    if options.transpose:
        raise TableError(
            f"{path}: an ARFF file has features in columns, each with a type of its own: leave out "
            f"{said('transpose', True)}."
        )
    with reading(path, "ARFF"):
        text = decode(path, read_bytes(path), options.encoding)
        every = text.split("\n")
        header = read_header(path, every)
        attributes = header.attributes
        check_unique(path, [attribute.name for attribute in attributes], "attribute")
        lines = _data_lines(path, every, header)
        if lines.texts[0].startswith("{"):
            return _arff_sparse.read(path, header, lines.texts, lines.numbers)
        frame = _parse(path, attributes, lines)
        label = next((a.name for a in attributes if a.is_label), None)
        first, last = lines.numbers[0], lines.numbers[-1]
        return FileTable(
            path=path,
            form="arff",
            values=frame,
            names=frame.columns,
            label=label,
            categorical=frozenset(
                a.name for a in attributes if a.kind == "nominal" and not a.is_label | a.is_coded
            ),
            first_line=first if last - first + 1 == len(lines.numbers) else None,
            details={"header": header},
        )


def write(table: FileTable, path: Path) -> None:
    """Write an ARFF file with the declarations of the one that was read.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns.
    path : Path
        Packed if it ends in ``.gz``.
    """
    header: Header = table.details["header"]
    there = {*table.names, *table.rows.columns}
    attributes = [attribute for attribute in header.attributes if attribute.name in there]
    with create(path) as file:
        declared = "\n".join(attribute.line for attribute in attributes)
        file.write(f"{header.relation}\n\n{declared}\n\n@data\n".encode())
        if table.is_frame and not table.details.get("sparse"):
            frame = _as_cells(table.values.select(a.name for a in attributes), attributes)
            frame.write_csv(file, include_header=False, quote_style="never", null_value="?")
        else:
            _arff_sparse.write_rows(table, attributes, file)


def _as_cells(frame: pl.DataFrame, attributes: list[Attribute]) -> pl.DataFrame:
    numbers = [a.name for a in attributes if a.kind == "numeric"]
    # all numbers at once: one column after the other takes ten times as long
    cells = frame.with_columns(as_numbers(pl.col(numbers))) if numbers else frame
    return cells.with_columns(as_cells(frame[a.name], a) for a in attributes if a.kind != "numeric")


def _data_lines(path: Path, every: list[str], header: Header) -> Lines:
    texts, numbers = [], []
    for number, line in enumerate(every[header.n_lines :], start=header.n_lines + 1):
        line = line.strip()
        if line and not line.startswith("%"):
            texts.append(line)
            numbers.append(number)
    if not texts:
        raise TableError(f"{path}: there is no row after @data.")
    return Lines(texts, numbers)


def _parse(path: Path, attributes: list[Attribute], lines: Lines) -> pl.DataFrame:
    data = "\n".join(lines.texts)
    if any(mark in data for mark in "'\"\\%"):
        frame = _split_quoted(path, len(attributes), lines)
    else:
        widths = [line.count(",") + 1 for line in lines.texts]
        _check_widths(path, len(attributes), lines.numbers, widths)
        frame = _split_plain(data, attributes)
    series = zip(frame.get_columns(), attributes, strict=True)
    return pl.DataFrame([typed(path, column, a, lines.numbers) for column, a in series])


def _split_plain(data: str, attributes: list[Attribute]) -> pl.DataFrame:
    """Parse cells without quotation marks, numbers at once unless one of them is none."""
    wanted = [pl.Float64 if a.kind == "numeric" else pl.String for a in attributes]
    try:
        frame = _read_csv(data, wanted)
    except pl.exceptions.PolarsError:
        frame = _read_csv(data, [pl.String] * len(attributes))
    return frame.with_columns(selectors.string().str.strip_chars())


def _read_csv(data: str, types: list[Any]) -> pl.DataFrame:
    return pl.read_csv(
        data.encode(),
        has_header=False,
        schema={f"column_{j}": dtype for j, dtype in enumerate(types)},
        null_values="?",
        quote_char=None,
    )


def _split_quoted(path: Path, n_columns: int, lines: Lines) -> pl.DataFrame:
    rows = []
    for line, number in zip(lines.texts, lines.numbers, strict=True):
        values = split_values(line)
        if values is None:
            raise TableError(
                f"{path}: line {number}: a quotation mark is not closed, or text follows a closed "
                "one. Correct the line; a quotation mark inside text is written \\' or \\\"."
            )
        rows.append(values)
    _check_widths(path, n_columns, lines.numbers, [len(row) for row in rows])
    columns = zip(*rows, strict=True)
    return pl.DataFrame({str(j): pl.Series(c, dtype=pl.String) for j, c in enumerate(columns)})


def _check_widths(path: Path, n_columns: int, numbers: list[int], widths: list[int]) -> None:
    for number, width in zip(numbers, widths, strict=True):
        if width != n_columns:
            raise TableError(
                f"{path}: line {number} has {width} values for {n_columns} attributes. Look for a "
                "missing or an extra comma in it; text that holds a comma must stand between "
                "quotation marks."
            )
