"""MATLAB files: a matrix, and perhaps labels and feature names beside it.

The matrix is the variable ``X`` or ``data``, else the only matrix of numbers in the file. Labels
are ``y``, ``Y``, ``labels``, ``gnd`` or ``class``, a vector or a cell array of text; feature names
are ``feature_names`` or ``names``. Other variables are not even loaded.
"""

import math
from collections.abc import Mapping
from itertools import compress
from pathlib import Path

from semisift.io._hdf5 import SIGNATURE, USER_BLOCK
from semisift.io._mat_file import MatFile, Variable, open_new, open_old, write_mat
from semisift.io._shared import columns_kept, reading, try_in_child
from semisift.io.limits import FileError, read_bytes
from semisift.io.options import TableOptions, said
from semisift.io.table import FileTable, as_series, from_matrix

MATRICES = ("X", "data")
LABELS = ("y", "Y", "labels", "gnd", "class")
NAMES = ("feature_names", "names")
TEXT = ("char", "cell")

# What we refuse ourselves, we refuse again where the user sees it.
READ = """
import pathlib, sys
from semisift.exceptions import TableError
from semisift.io.matlab import TableOptions, read_old
options = TableOptions(matrix={matrix!r}, transpose={transpose})
try:
    read_old(pathlib.Path(), sys.stdin.buffer.read(), options)
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
        return read_old(path, data, options)


def read_old(path: Path, data: bytes, options: TableOptions) -> FileTable:
    """Read a file of a version before 7.3, which must be sound: see `open_old`."""
    return _read(path, open_old(data), options)


def _read(path: Path, file: MatFile, options: TableOptions) -> FileTable:
    matrix = _find_matrix(file.variables, options.matrix)
    shape = file.variables[matrix].shape
    n_samples, n_features = shape[::-1] if options.transpose else shape
    label = _find_labels(file.variables, n_samples, matrix)
    key = _find_names(file.variables, n_features)
    wanted = [name for name in (matrix, label, key) if name is not None]
    for name in wanted:
        file.variables[name].check_fits(name)
    raw = {name: file.load(name) for name in wanted}
    y, names = (None if name is None else raw[name] for name in (label, key))
    return from_matrix(
        path,
        "mat",
        raw[matrix],
        options,
        names=names,
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


def _find_matrix(variables: Mapping[str, Variable], wanted: str | None) -> str:
    good = [
        name
        for name, variable in variables.items()
        if variable.kind in ("numeric", "sparse") and len(variable.shape) == 2
    ]
    if wanted is not None:
        candidates = [wanted] if wanted in good else []
        problem = f"{said('matrix', wanted)}: there is no matrix of numbers of this name"
    else:
        usual = [name for name in MATRICES if name in good]
        broad = [name for name in good if min(variables[name].shape) > 1 and name not in LABELS]
        candidates = usual[:1] or broad
        problem = "it is not clear which variable holds the values"
    if len(candidates) == 1:
        return candidates[0]
    listed = ", ".join(
        f"{name} ({' x '.join(map(str, variable.shape))}, {variable.described})"
        for name, variable in variables.items()
    )
    raise FileError(
        f"{problem}. The file holds {listed or 'no variable'}. Name the one with the values by "
        f"{said('matrix')}."
    )


def _length(variable: Variable) -> int:
    return variable.shape[0] if variable.kind == "char" else math.prod(variable.shape)


def _find_labels(variables: Mapping[str, Variable], n_samples: int, matrix: str) -> str | None:
    """Return the first of the usual variables that fits the samples; else the first there is."""
    lengths = {}
    for name in LABELS:
        variable = variables.get(name)
        if variable is None or name == matrix or variable.kind not in ("numeric", *TEXT):
            continue
        if variable.kind == "char" or _length(variable) == max(variable.shape, default=0):
            lengths[name] = _length(variable)
    return min(lengths, key=lambda name: lengths[name] != n_samples, default=None)


def _find_names(variables: Mapping[str, Variable], n_features: int) -> str | None:
    texts = [name for name in NAMES if name in variables and variables[name].kind in TEXT]
    fitting = (name == NAMES[0] or _length(variables[name]) == n_features for name in texts)
    return next(compress(texts, fitting), None)
