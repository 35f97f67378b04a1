"""svmlight and libsvm: a line for each row, ``label index:value index:value ...  # remark``.

scikit-learn reads them; where it fails, the line at fault is searched here. Indices are counted
from 0 if the index 0 occurs anywhere in the file, else from 1, and features are called by their
indices. The writer keeps the base; it gives the first row an explicit zero where the first (from 0)
or the last index would otherwise not occur, so that what is written is read back with the same
columns by every reader. The form has no names: selected columns are numbered anew.
"""

import io
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from semisift.io._formats._common import create, reading, shown
from semisift.io._formats._sparse import from_compressed
from semisift.io._guards import BYTES_A_NAME, FileError, check_fits, read_bytes
from semisift.io._options import TableOptions
from semisift.io._table import FileTable, as_series, from_matrix

# Possessive, so that a line is read once whatever it holds.
NUMBER = rb"[+-]?+(?:(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?+\d++)?+|[nN][aA][nN]|[iI][nN][fF])"
PAIR = re.compile(rb"(\d{1,18}):" + NUMBER)
QUERY = re.compile(rb"\S+\s+qid:(\S*)")


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a file of svmlight or libsvm: a sparse matrix, with the labels as ``y``."""
    from sklearn.datasets import load_svmlight_file

    with reading(path, "svmlight"):
        text = read_bytes(path)
        try:
            found, y = load_svmlight_file(io.BytesIO(text), zero_based=True)
            _check_width(found.shape[1] - 1)
        except Exception:
            _explain(text)
            raise
        if not found.nnz:
            raise FileError("no row has a feature." if len(y) else "the file holds no row.")
        base = 0 if 0 in found.indices else 1
        names = [f"feature_{j}" for j in range(base, found.shape[1])]
        shape = len(y), len(names)
        X = from_compressed(found.data, found.indices - base, found.indptr, shape)
        X.eliminate_zeros()
        rows = {"y": as_series(y)}
        if b"qid:" in text:
            queries = [QUERY.match(line) for _, line in _rows(text)]
            rows["qid"] = pl.Series([query and int(query[1]) for query in queries], dtype=pl.Int64)
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
    """Write a file of svmlight; see the module for how columns are numbered."""
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


def _rows(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that hold rows, without remarks, and their numbers."""
    for number, line in enumerate(text.split(b"\n"), start=1):
        if line := line.partition(b"#")[0].strip():
            yield number, line


def _check_width(top: int, where: str = "") -> None:
    """Refuse more features than could be named."""
    check_fits(BYTES_A_NAME * (top + 1), f"{where}a table with feature number {top}")


def _explain(text: bytes) -> None:
    """Raise an error that names the first line that is no row, if there is one."""
    top, where = 0, ""
    for number, line in _rows(text):
        label, *cells = line.split()
        if b"," in label:
            problem = f"line {number} has several labels ({shown(label, 40)})"
            raise FileError(f"{problem}. Each row must have one: write a file for one of them.")
        if not re.fullmatch(NUMBER, label):
            rule = "where the label must stand, as a number: '1 4:0.5 7:2'"
            raise FileError(f"line {number} starts with {shown(label, 40)}, {rule}.")
        last = -1
        for cell in cells[1:] if QUERY.match(line) else cells:
            if not (found := PAIR.fullmatch(cell)):
                rule = "where a feature must stand as number:value, such as 4:0.5"
                raise FileError(f"line {number} holds {shown(cell, 40)}, {rule}.")
            if (index := int(found[1])) <= last:
                rule = "Features must stand in rising order, each once: sort the line"
                raise FileError(f"line {number} has feature {index} after feature {last}. {rule}.")
            last = index
        if last > top:
            top, where = last, f"line {number}: "
    _check_width(top, where)
