"""Matrix Market: a matrix as text, by coordinates (sparse) or as an array (dense).

Parsed here: scipy's parser ends the process on some damaged files.
"""

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import coo_array, issparse

from semisift.io._formats._common import create, reading, shown
from semisift.io._formats._sparse import from_coordinates
from semisift.io._formats.text import read_cells
from semisift.io._guards import FileError, check_fits, check_shape, damaged, read_bytes
from semisift.io._options import TableOptions
from semisift.io._table import FileTable, from_matrix

HEADER = re.compile(
    rb"%%?MatrixMarket\s+matrix\s+(coordinate|array)\s+([a-z-]+)\s+([a-z-]+)[ \t\r]*\n"
    rb"(?:[ \t\r]*(?:%[^\n]*)?\n)*+([^\n]*)",
    re.IGNORECASE,
)
FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
GENERAL, SKEW = "general", "skew-symmetric"
SYMMETRIES = (GENERAL, "symmetric", SKEW, "hermitian")
SIZE = re.compile(rb"\d{1,18}")
INTEGER = rb"[+-]?\d{1,18}"
NUMBER = rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|nan|NaN|inf|Inf)"


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a Matrix Market file: a sparse matrix, or an array if the file holds one."""
    with reading(path, "Matrix Market"):
        matrix, pattern = read_matrix(path)
        return from_matrix(path, "mtx", matrix, options, details={"pattern": pattern})


def write(table: FileTable, path: Path) -> None:
    """Write a Matrix Market file. The form has no names: columns are numbered anew."""
    values = table.values.T if table.transposed else table.values
    write_matrix(path, values, pattern=table.details["pattern"])


def read_matrix(path: Path) -> tuple[Any, bool]:
    """Return the matrix as the file has it, and whether it marks places without giving values."""
    with reading(path, "Matrix Market"):
        text = read_bytes(path)
        claims = _read_claims(text)
        frame = _parse(text, claims)
        pattern = "value" not in claims.schema
        values = np.ones(frame.height) if pattern else frame["value"].to_numpy()
        mirrored = -values if claims.symmetry == SKEW else values
        if "row" in claims.schema:
            row, column = (frame[name].to_numpy() - 1 for name in ("row", "column"))
            if claims.symmetry != GENERAL:
                beside = row != column
                values = np.concatenate([values, mirrored[beside]])
                both = [[row, column], [column[beside], row[beside]]]
                row, column = np.concatenate(both, axis=1)
            return from_coordinates(values, row, column, claims.shape), pattern
        if claims.symmetry == GENERAL:
            return values.reshape(claims.shape, order="F"), pattern
        # the lower triangle, column by column
        columns, rows = np.triu_indices(claims.shape[0], k=1 if claims.symmetry == SKEW else 0)
        full = np.zeros(claims.shape, dtype=values.dtype)
        full[columns, rows], full[rows, columns] = mirrored, values
        return full, pattern


def write_matrix(path: Path, matrix: Any, *, pattern: bool = False) -> None:
    """Write a matrix; packed if the path ends in ``.gz``."""
    from scipy.io import mmwrite

    matrix = coo_array(matrix) if issparse(matrix) else matrix
    with create(path) as file:
        mmwrite(file, matrix, field="pattern" if pattern else None, symmetry=GENERAL)


class _Claims(NamedTuple):
    """What the first lines say of the rest."""

    schema: dict[str, Any]  # what a line holds
    symmetry: str
    shape: tuple[int, int]
    n_values: int
    end: int  # where the values start


def _read_claims(text: bytes) -> _Claims:
    """Return what the first lines say, and refuse sizes that the rest of the file cannot hold."""
    found = HEADER.match(text)
    words = found.groups()[:3] if found else [b""] * 3
    form, field, symmetry = (word.decode().lower() for word in words)
    if found is None or field not in FIELDS or symmetry not in SYMMETRIES:
        first = shown(text[:60].partition(b"\n")[0])
        rule = "'%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric'"
        raise FileError(f"the first line must read {rule}: got {first}.")
    is_array = form == "array"
    sizes = found[4].split()
    if len(sizes) != (2 if is_array else 3) or not all(map(SIZE.fullmatch, sizes)):
        rule = "rows and columns" if is_array else "rows, columns and stored values"
        line = text.count(b"\n", 0, found.start(4)) + 1
        raise FileError(f"line {line} must give the numbers of {rule}: got {shown(found[4])}.")
    rows, columns, *rest = (int(size) for size in sizes)
    n_values = rest[0] if rest else rows * columns
    if symmetry != GENERAL and rows != columns:
        raise FileError(f"a {symmetry} matrix cannot have {rows} rows, {columns} columns.")
    if is_array:
        check_fits(8 * n_values, f"an array of {rows} rows and {columns} columns")
        if symmetry != GENERAL:
            n_values = rows * (rows + (-1 if symmetry == SKEW else 1)) // 2
    check_shape((rows, columns))
    # each value stands in a line of its own: "5", "1 1" or "1 1 5"
    least = n_values * (2 if is_array else 4 if field == "pattern" else 6) - 1
    if least > (left := len(text) - found.end(4)):
        claimed = f"its header claims {n_values} values, which take at least {least} bytes"
        raise damaged(f"{claimed}; the file has {left} after the header")
    schema: dict[str, Any] = {} if is_array else {"row": pl.Int64, "column": pl.Int64}
    if field != "pattern":
        schema["value"] = pl.Int64 if "integer" in field else pl.Float64
    return _Claims(schema, symmetry, (rows, columns), n_values, found.end(4))


def _parse(text: bytes, claims: _Claims) -> pl.DataFrame:
    schema, body = claims.schema, text[claims.end :]
    # one space between numbers, one line end between lines, and no remark
    if b"%" in body:
        body = re.sub(rb"(?m)^[ \t]*%.*$", b"", body)
    if any(odd in body for odd in (b"\t", b"\r", b"  ", b" \n", b"\n ")):
        body = re.sub(rb"(?m)^ | $", b"", re.sub(rb"[ \t\r]+", b" ", body))
    body = (re.sub(rb"\n+", b"\n", body) if b"\n\n" in body else body).strip()
    frame = pl.DataFrame(schema=schema)
    if body:
        try:
            frame = read_cells(body, [*schema.values()], " ")
        except pl.exceptions.PolarsError:
            raise _wrong_line(claims, text) from None
        if sum(frame.null_count().row(0)):
            raise _wrong_line(claims, text)
        frame.columns = [*schema]
    if frame.height != claims.n_values:
        claimed = f"its header claims {claims.n_values} values"
        raise damaged(f"{claimed}, and the file holds {frame.height}")
    for name, size in zip(("row", "column"), claims.shape, strict=True):
        if name in schema and not (inside := frame[name].is_between(1, size)).all():
            wrong = inside.not_().arg_max() or 0
            line, got = _value_lines(claims, text)[wrong][0], f"{name} {frame[name][wrong]}"
            raise FileError(f"line {line} names {got}; they are counted from 1 to {size}.")
    return frame


def _wrong_line(claims: _Claims, text: bytes) -> FileError:
    cells = [INTEGER if dtype == pl.Int64 else NUMBER for dtype in claims.schema.values()]
    good = re.compile(rb"\s*" + rb"\s+".join(cells) + rb"\s*")
    lines = _value_lines(claims, text)
    number, line = next((each for each in lines if not good.fullmatch(each[1])), lines[0])
    kinds = {pl.Int64: "a whole number", pl.Float64: "a number"}
    rule = ", ".join(f"a {name} ({kinds[dtype]})" for name, dtype in claims.schema.items())
    return FileError(f"line {number} must hold {rule}, separated by spaces: got {shown(line)}.")


def _value_lines(claims: _Claims, text: bytes) -> list[tuple[int, bytes]]:
    """Return the lines that hold values, with their numbers."""
    start = text.count(b"\n", 0, claims.end) + 1
    lines = enumerate(text.split(b"\n")[start:], start + 1)
    return [(i, line) for i, line in lines if line.strip() and line.lstrip()[:1] != b"%"]
