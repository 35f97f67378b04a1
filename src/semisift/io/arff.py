"""ARFF, the format of Weka: a head that declares attributes, then a line for each row.

Dense rows (``1.5, 3, yes``) become a frame. Sparse rows (``{0 1.5, 2 yes}``) become a sparse matrix
of the numeric attributes, with the others beside it; what is left out is 0, or the first value that
a nominal attribute declares. An attribute called ``class`` holds the labels.
"""

from pathlib import Path

import polars as pl
from polars import selectors

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
from semisift.io._text_cells import decode, read_cells
from semisift.io.limits import FileError, read_bytes
from semisift.io.options import TableOptions, said
from semisift.io.table import FileTable, check_unique


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
    with reading(path, "ARFF"):
        if options.transpose:
            raise FileError(
                "an ARFF file has features in columns, each with a type of its own: leave out "
                f"{said('transpose', True)}."
            )
        every = decode(read_bytes(path), options.encoding).split("\n")
        header = read_header(every)
        attributes = header.attributes
        check_unique([attribute.name for attribute in attributes], "attribute")
        data = enumerate(map(str.strip, every[header.n_lines :]), start=header.n_lines + 1)
        numbered = [(number, text) for number, text in data if text and not text.startswith("%")]
        if not numbered:
            raise FileError("there is no row after @data.")
        lines, texts = map(list, zip(*numbered, strict=True))
        sparse = texts[0].startswith("{")
        parse = _arff_sparse.parse if sparse else _parse
        X, frame = parse(attributes, texts, lines)
        names, rows, categorical = frame.columns, pl.DataFrame(), frozenset[str]()
        if X is None:
            nominal = [a for a in attributes if a.kind == "nominal" and not a.is_label]
            categorical = frozenset(a.name for a in nominal if sparse or not a.is_coded)
        else:
            names, rows = [a.name for a in attributes if _arff_sparse.is_numeric(a)], frame
        return FileTable(
            path=path,
            form="arff",
            values=frame if X is None else X,
            names=names,
            rows=rows,
            label=next((a.name for a in attributes if a.is_label), None),
            categorical=categorical,
            first_line=lines[0] if lines[-1] - lines[0] + 1 == len(lines) else None,
            details={"header": header, "sparse": sparse},
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
        if not table.details["sparse"]:
            frame = _as_cells(table.values.select(a.name for a in attributes), attributes)
            frame.write_csv(file, include_header=False, quote_style="never", null_value="?")
        else:
            _arff_sparse.write_rows(table, attributes, file)


def _as_cells(frame: pl.DataFrame, attributes: list[Attribute]) -> pl.DataFrame:
    numbers = [a.name for a in attributes if a.kind == "numeric"]
    # all numbers at once: one column after the other takes ten times as long
    cells = frame.with_columns(as_numbers(pl.col(numbers))) if numbers else frame
    return cells.with_columns(as_cells(frame[a.name], a) for a in attributes if a.kind != "numeric")


def _parse(
    attributes: list[Attribute], texts: list[str], lines: list[int]
) -> tuple[None, pl.DataFrame]:
    data = "\n".join(texts)
    if any(mark in data for mark in "'\"\\%"):
        frame = _split_quoted(len(attributes), texts, lines)
    else:
        widths = [line.count(",") + 1 for line in texts]
        _check_widths(len(attributes), lines, widths)
        frame = _split_plain(data, attributes)
    series = zip(frame.get_columns(), attributes, strict=True)
    return None, pl.DataFrame([typed(column, a, lines) for column, a in series])


def _split_plain(data: str, attributes: list[Attribute]) -> pl.DataFrame:
    """Parse cells without quotation marks, numbers at once unless one of them is none."""
    wanted = [pl.Float64 if a.kind == "numeric" else pl.String for a in attributes]
    try:
        frame = read_cells(data, wanted, null_values="?")
    except pl.exceptions.PolarsError:
        frame = read_cells(data, [pl.String] * len(attributes), null_values="?")
    return frame.with_columns(selectors.string().str.strip_chars())


def _split_quoted(n_columns: int, texts: list[str], lines: list[int]) -> pl.DataFrame:
    rows = []
    for line, number in zip(texts, lines, strict=True):
        values = split_values(line)
        if values is None:
            raise FileError(
                f"line {number}: a quotation mark is not closed, or text follows a closed one. "
                "Correct the line; a quotation mark inside text is written \\' or \\\"."
            )
        rows.append(values)
    _check_widths(n_columns, lines, [len(row) for row in rows])
    columns = enumerate(zip(*rows, strict=True))
    return pl.DataFrame([pl.Series(str(j), cells, dtype=pl.String) for j, cells in columns])


def _check_widths(n_columns: int, numbers: list[int], widths: list[int]) -> None:
    for number, width in zip(numbers, widths, strict=True):
        if width != n_columns:
            raise FileError(
                f"line {number} has {width} values for {n_columns} attributes. Look for a missing "
                "or an extra comma in it; text that holds a comma must stand between quotation "
                "marks."
            )
