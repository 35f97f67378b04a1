"""Matrix Market: a matrix as text, by coordinates (sparse) or as an array (dense)."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse

from semisift.exceptions import TableError
from semisift.io._shared import check_shape, create, reading
from semisift.io._sparse import from_coordinates
from semisift.io.limits import check_fits, read_bytes
from semisift.io.options import TableOptions
from semisift.io.table import FileTable, from_matrix

HEADER = re.compile(
    rb"%%?MatrixMarket\s+matrix\s+(coordinate|array)\s+([a-z-]+)\s+([a-z-]+)[ \t\r]*\n"
    rb"(?:[ \t\r]*(?:%[^\n]*)?\n)*+([^\n]*)",
    re.IGNORECASE,
)
FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
SIZE = re.compile(rb"\d{1,18}")
INTEGER = rb"[+-]?\d{1,18}"
NUMBER = rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|nan|NaN|inf|Inf)"


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a Matrix Market file.

    Parameters
    ----------
    path : Path
        Unpacked on the way where it ends in ``.gz``.
    options : TableOptions

    Returns
    -------
    FileTable
        With a sparse matrix, or with an array if the file holds one.
    """
    matrix, pattern = read_matrix(path)
    return from_matrix(path, "mtx", matrix, options, details={"pattern": pattern})


def write(table: FileTable, path: Path) -> None:
    """Write a Matrix Market file.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns. The form has no names: columns are
        numbered anew.
    path : Path
        Packed if it ends in ``.gz``.
    """
    values = table.values.T if table.transposed else table.values
    write_matrix(path, values, pattern=table.details["pattern"])


def read_matrix(path: Path) -> tuple[Any, bool]:
    """Return the matrix as the file has it, and whether it marks places without giving values.

    Parsed here: scipy's parser ends the process on some damaged files.
    """
    with reading(path, "Matrix Market"):
        text = read_bytes(path)
        claims = _read_claims(path, text)
        body = _tidy(text[claims.end :])
        frame = _parse(path, body, claims, text)
        if claims.is_array:
            return _fill(frame["value"].to_numpy(), claims), False
        row, column = frame["row"].to_numpy() - 1, frame["column"].to_numpy() - 1
        data = np.ones(len(row)) if claims.pattern else frame["value"].to_numpy()
        if claims.symmetry != "general":
            beside = row != column
            mirrored = -data if claims.symmetry == "skew-symmetric" else data
            data = np.concatenate([data, mirrored[beside]])
            row, column = (
                np.concatenate([row, column[beside]]),
                np.concatenate([column, row[beside]]),
            )
        shape = (claims.rows, claims.columns)
        return from_coordinates(path, data, row, column, shape), claims.pattern


def write_matrix(path: Path, matrix: Any, *, pattern: bool = False) -> None:
    """Write a matrix; packed if the path ends in ``.gz``."""
    from scipy.io import mmwrite

    if issparse(matrix):
        matrix = coo_array(matrix)
    with create(path) as file:
        field = "pattern" if pattern else None
        mmwrite(file, matrix, field=field, symmetry="general")


@dataclass(frozen=True)
class _Claims:
    """What the first lines say of the rest."""

    is_array: bool
    field: str
    symmetry: str
    rows: int
    columns: int
    n_values: int
    end: int  # where the values start

    @property
    def pattern(self) -> bool:
        return self.field == "pattern"

    @property
    def schema(self) -> dict[str, Any]:
        value = pl.Int64 if "integer" in self.field else pl.Float64
        places = {} if self.is_array else {"row": pl.Int64, "column": pl.Int64}
        return places if self.pattern else {**places, "value": value}


def _read_claims(path: Path, text: bytes) -> _Claims:
    """Read the first lines, and refuse sizes that the rest of the file cannot hold."""
    found = HEADER.match(text)
    form, field, symmetry = (
        (part.decode().lower() for part in found.groups()[:3]) if found else [""] * 3
    )
    if found is None or field not in FIELDS or symmetry not in SYMMETRIES:
        shown = text[:60].partition(b"\n")[0].decode("utf-8", errors="replace")
        raise TableError(
            f"{path}: the first line must read '%%MatrixMarket matrix coordinate real general', or "
            "'array' instead of 'coordinate', 'integer' or 'pattern' instead of 'real', "
            f"'symmetric' instead of 'general': got {shown!r}."
        )
    is_array = form == "array"
    sizes = found[4].split()
    if len(sizes) != (2 if is_array else 3) or not all(map(SIZE.fullmatch, sizes)):
        rule = "rows and columns" if is_array else "rows, columns and stored values"
        shown = found[4][:60].decode("utf-8", errors="replace").strip()
        line = text.count(b"\n", 0, found.start(4)) + 1
        raise TableError(f"{path}: line {line} must give the numbers of {rule}: got {shown!r}.")
    rows, columns, *rest = (int(size) for size in sizes)
    n_values = rest[0] if rest else rows * columns
    if symmetry != "general" and rows != columns:
        raise TableError(f"{path}: a {symmetry} matrix cannot have {rows} rows, {columns} columns.")
    if is_array:
        check_fits(8 * n_values, path, f"an array of {rows} rows and {columns} columns")
        if symmetry != "general":
            n_values = rows * (rows + (-1 if symmetry == "skew-symmetric" else 1)) // 2
    check_shape(path, (rows, columns))
    # each value stands in a line of its own: "5", "1 1" or "1 1 5"
    least = n_values * (2 if is_array else 4 if field == "pattern" else 6) - 1
    if least > len(text) - found.end(4):
        raise TableError(
            f"{path}: its header claims {n_values} values, which take at least {least} bytes; the "
            f"file has {len(text) - found.end(4)} after the header. It is cut or damaged: make it "
            "again."
        )
    return _Claims(is_array, field, symmetry, rows, columns, n_values, found.end(4))


def _tidy(body: bytes) -> bytes:
    """Leave one space between numbers, one line end between lines, and no remark."""
    if b"%" in body:
        body = re.sub(rb"(?m)^[ \t]*%.*$", b"", body)
    if any(odd in body for odd in (b"\t", b"\r", b"  ", b" \n", b"\n ")):
        body = re.sub(rb"(?m)^ | $", b"", re.sub(rb"[ \t\r]+", b" ", body))
    return (re.sub(rb"\n+", b"\n", body) if b"\n\n" in body else body).strip()


def _parse(path: Path, body: bytes, claims: _Claims, text: bytes) -> pl.DataFrame:
    schema = claims.schema
    if not body:
        frame = pl.DataFrame(schema=schema)
    else:
        try:
            frame = pl.read_csv(
                body, has_header=False, separator=" ", schema=schema, quote_char=None
            )
        except pl.exceptions.PolarsError:
            raise _wrong_line(path, claims, text) from None
        if sum(frame.null_count().row(0)):
            raise _wrong_line(path, claims, text)
    if frame.height != claims.n_values:
        raise TableError(
            f"{path}: its header claims {claims.n_values} values, and the file holds "
            f"{frame.height}. It is cut or damaged: make it again."
        )
    for name, size in (("row", claims.rows), ("column", claims.columns)):
        if name in schema and frame.height:
            outside = ~frame[name].is_between(1, size)
            if outside.any():
                place = frame[name][outside.arg_max() or 0]
                number = rf"{place}\s" if name == "row" else rf"\d+\s+{place}(\s|$)"
                line = _line_of(text, claims, re.compile(rf"\s*{number}".encode()))
                raise TableError(
                    f"{path}: line {line} names {name} {place}; they are counted from 1 to {size}."
                )
    return frame


def _wrong_line(path: Path, claims: _Claims, text: bytes) -> TableError:
    cells = [INTEGER if dtype == pl.Int64 else NUMBER for dtype in claims.schema.values()]
    good = re.compile(rb"\s*(" + rb"\s+".join(cells) + rb")?\s*|\s*%.*")
    lines = text.split(b"\n")
    line = _line_of(text, claims, good, matching=False)
    shown = lines[line - 1][:60].decode("utf-8", errors="replace").strip()
    rule = ", ".join(
        f"a {name}" + (" (a whole number)" if dtype == pl.Int64 else " (a number)")
        for name, dtype in claims.schema.items()
    )
    return TableError(f"{path}: line {line} must hold {rule}, separated by spaces: got {shown!r}.")


def _line_of(text: bytes, claims: _Claims, wanted: re.Pattern[bytes], matching: bool = True) -> int:
    """Return the number of the first line of the values that matches, or does not."""
    skipped = text.count(b"\n", 0, claims.end)
    lines = text.split(b"\n")[skipped + 1 :]
    find = wanted.match if matching else wanted.fullmatch
    hits = (i for i, line in enumerate(lines) if (find(line) is not None) == matching)
    return skipped + 2 + next(hits, 0)


def _fill(values: NDArray[Any], claims: _Claims) -> NDArray[Any]:
    """Return the array, which is stored column by column."""
    if claims.symmetry == "general":
        return values.reshape((claims.rows, claims.columns), order="F")
    columns, rows = _triangle(claims.rows, claims.symmetry)
    full = np.zeros((claims.rows, claims.columns), dtype=values.dtype)
    full[columns, rows] = -values if claims.symmetry == "skew-symmetric" else values
    full[rows, columns] = values
    return full


def _triangle(size: int, symmetry: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return columns and rows of what a symmetric array stores: the lower triangle."""
    return np.triu_indices(size, k=1 if symmetry == "skew-symmetric" else 0)
