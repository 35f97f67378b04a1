"""MATLAB files: a matrix, and perhaps labels and feature names beside it.

The matrix is the variable ``X`` or ``data``, else the only matrix of numbers in the file. Labels
are ``y``, ``Y``, ``labels``, ``gnd`` or ``class``, a vector or a cell array of text; feature names
are ``feature_names`` or ``names``. Other variables are not even loaded.
"""

from pathlib import Path

from semisift.io._formats._common import columns_kept, reading, try_in_child
from semisift.io._formats._hdf5 import SIGNATURE, USER_BLOCK
from semisift.io._formats._mat_file import (
    NAMES,
    MatFile,
    load_chosen,
    open_new,
    open_old,
    write_mat,
)
from semisift.io._guards import read_bytes
from semisift.io._options import TableOptions
from semisift.io._table import FileTable, as_series, from_matrix

# What we refuse ourselves, we refuse again where the user sees it.
READ = """
import sys
from semisift.exceptions import TableError
from semisift.io._formats._mat_file import load_chosen, open_old
try:
    load_chosen(open_old(sys.stdin.buffer.read()), {matrix!r}, {transpose})
except TableError:
    pass
"""


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a MATLAB file.

    Parameters
    ----------
    path : Path
        Of version 4, 5 to 7.2, or 7.3 (which needs h5py).
    options : TableOptions
        `matrix` names the variable with the values.

    Returns
    -------
    FileTable
    """
    with reading(path, "MATLAB"):
        with path.open("rb") as file:
            start = file.read(USER_BLOCK + len(SIGNATURE))
        if start.startswith(SIGNATURE) or start[USER_BLOCK:] == SIGNATURE:
            with open_new(path) as opened:
                return _read(path, opened, options)
        data = read_bytes(path)
        try_in_child(READ.format(matrix=options.matrix, transpose=options.transpose), data)
        return _read(path, open_old(data), options)


def _read(path: Path, file: MatFile, options: TableOptions) -> FileTable:
    matrix, label, key, values = load_chosen(file, options.matrix, options.transpose)
    y = None if label is None else values[label]
    return from_matrix(
        path,
        "mat",
        values[matrix],
        options,
        names=None if key is None else values[key],
        rows=None if label is None else {label: as_series(y)},
        label=label,
        details={"version": file.version, "matrix": matrix, "labels": y, "names_key": key},
    )


def write(table: FileTable, path: Path) -> None:
    """Write a MATLAB file of the same version with the matrix, the labels and the names.

    Parameters
    ----------
    table : FileTable
        As `read` returned it, perhaps with fewer columns.
    path : Path
    """
    details = table.details
    new = {details["matrix"]: table.values.T if table.transposed else table.values}
    if table.label is not None:
        new[table.label] = details["labels"]
    if details["names_key"] or len(columns_kept(table)) < len(details["names"]):
        new[details["names_key"] or NAMES[0]] = list(table.names)
    write_mat(path, new, details["version"])
