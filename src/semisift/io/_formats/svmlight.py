"""svmlight and libsvm: a line for each row, ``label index:value index:value ...  # remark``.

Indices are counted from 0 if the index 0 occurs anywhere in the file, else from 1, and features are
called by their indices. The writer keeps the base; it gives the first row an explicit zero where
the first (from 0) or the last index would otherwise not occur, so that what is written is read back
with the same columns by every reader. The form has no names: selected columns are numbered anew.
"""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift.io._formats._common import create, reading, shown
from semisift.io._formats._sparse import from_coordinates
from semisift.io._formats.text import read_cells
from semisift.io._guards import BYTES_A_NAME, FileError, check_fits, read_bytes
from semisift.io._options import TableOptions
from semisift.io._table import FileTable, as_series, from_matrix

# Possessive, so that a line is read once whatever it holds.
NUMBER = rb"[+-]?+(?:(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?+\d++)?+|[nN][aA][nN]|[iI][nN][fF])"
PAIR = rb"\d{1,18}+:" + NUMBER
LINE = re.compile(rb"(" + NUMBER + rb")(?:\s++qid:(\d{1,18}))?+((?:\s++" + PAIR + rb")*+)")


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a file of svmlight or libsvm.

    Parameters
    ----------
    path : Path
        Unpacked on the way where it ends in ``.gz``.
    options : TableOptions

    Returns
    -------
    FileTable
        With a sparse matrix, and the labels as ``y``.
    """
    with reading(path, "svmlight"):
        lines, labels, queries, pairs = _split(read_bytes(path))
        cells = b"\n".join(b"".join(pairs).split())
        if not cells:
            raise FileError("no row has a feature.")
        both = read_cells(cells, (pl.Int64, pl.Float64), ":")
        indices, data = (column.to_numpy() for column in both)
        row = np.repeat(np.arange(len(lines)), [part.count(b":") for part in pairs])
        _check_indices(indices, np.array(lines)[row])
        base = 0 if indices.min() == 0 else 1
        names = [f"feature_{j}" for j in range(base, indices.max() + 1)]
        X = from_coordinates(data, row, indices - base, (len(lines), len(names)))
        X.eliminate_zeros()
        rows = {"y": as_series(np.array(labels, dtype=np.float64))}
        if any(query is not None for query in queries):
            rows["qid"] = pl.Series([query and int(query) for query in queries], dtype=pl.Int64)
        return from_matrix(
            path,
            "svmlight",
            X,
            options,
            names=None if options.transpose else names,
            row_names=names if options.transpose else None,
            rows=rows,
            label="y",
            details={"base": base},
        )


def write(table: FileTable, path: Path) -> None:
    """Write a file of svmlight; see the module for how columns are numbered.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns.
    path : Path
        Packed if it ends in ``.gz``.
    """
    X, base = table.values.tocsr(), table.details["base"]
    places = pl.Series(X.indices.astype(np.int64) + base).cast(pl.String)
    cells = (places + ":" + _as_text(pl.Series(X.data.astype(np.float64)))).to_list()
    heads = _as_text(table.rows["y"])
    if "qid" in table.rows.columns:
        heads = heads + (" qid:" + table.rows["qid"].cast(pl.String)).fill_null("")
    rows = [cells[start:stop] for start, stop in pairwise(X.indptr.tolist())]
    last = X.shape[1] - 1
    if last not in X.indices:
        rows[0].append(f"{last + base}:0")
    if base == 0 and 0 not in X.indices and last > 0:
        rows[0].insert(0, "0:0")
    with create(path) as file:
        for head, row in zip(heads.to_list(), rows, strict=True):
            file.write(" ".join([head, *row]).encode() + b"\n")


def _as_text(numbers: pl.Series) -> pl.Series:
    return numbers.cast(pl.String).str.strip_suffix(".0").fill_null("nan")


def _split(text: bytes) -> Any:
    """Return the number, the label, the query number and the text of the pairs of each line."""
    rows = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        if line := line.partition(b"#")[0].strip():
            match = LINE.fullmatch(line) or _complain(number, line)
            rows.append((number, *match.groups()))
    if not rows:
        raise FileError("the file holds no row.")
    return zip(*rows, strict=True)


def _complain(number: int, line: bytes) -> NoReturn:
    """Say what is wrong with a line."""
    label, *cells = line.split()
    if b"," in label:
        raise FileError(
            f"line {number} has several labels ({shown(label, 40)}). Each row must have one: "
            "choose one, and write a file for it."
        )
    if not re.fullmatch(NUMBER, label):
        raise FileError(
            f"line {number} starts with {shown(label, 40)}, where the label must stand, as a "
            "number: '1 4:0.5 7:2' is label 1, feature 4 and feature 7."
        )
    wrong = next((cell for cell in cells if not re.fullmatch(PAIR, cell)), cells[0])
    raise FileError(
        f"line {number} holds {shown(wrong, 40)}, where a feature must stand as number:value, such "
        "as 4:0.5."
    )


def _check_indices(indices: NDArray[np.int64], lines: NDArray[np.int64]) -> None:
    """Refuse an order that is none, and more columns than there could be."""
    wrong = np.flatnonzero((np.diff(indices) <= 0) & (np.diff(lines) == 0))
    if len(wrong):
        first = wrong[0]
        raise FileError(
            f"line {lines[first]} has feature {indices[first + 1]} after feature {indices[first]}. "
            "Features must stand in rising order, each once: sort the line."
        )
    top, line = int(indices.max()), lines[indices.argmax()]
    check_fits(BYTES_A_NAME * (top + 1), f"line {line}: a table with feature number {top}")
