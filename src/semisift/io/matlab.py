"""MATLAB files: a matrix, and perhaps labels and feature names beside it.

The matrix is the variable ``X`` or ``data``, else the only matrix of numbers in the file. Labels
are ``y``, ``Y``, ``labels``, ``gnd`` or ``class``, a vector or a cell array of text; feature names
are ``feature_names`` or ``names``. Other variables are not even loaded.
"""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from semisift.exceptions import TableError
from semisift.io._mat_file import MatFile, Variable, open_mat, write_mat
from semisift.io._shared import check_shape, columns_kept, native, reading, whole
from semisift.io.limits import check_fits
from semisift.io.options import TableOptions, said
from semisift.io.table import FileTable, from_matrix

MATRICES = ("X", "data")
LABELS = ("y", "Y", "labels", "gnd", "class")
NAMES = ("feature_names", "names")


class _Labels(NamedTuple):
    name: str
    raw: Any
    values: Any


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
    with reading(path, "MATLAB"), open_mat(path) as file:
        matrix = _find_matrix(path, file, options.matrix)
        shape = file.variables[matrix].shape
        n_samples, n_features = shape[::-1] if options.transpose else shape
        _check_claim(path, matrix, file.variables[matrix])
        X = file.load(matrix)
        X = native(X) if isinstance(X, np.ndarray) else X
        labels = _find_labels(path, file, n_samples, matrix)
        key, names = _find_names(path, file, n_features)
        return from_matrix(
            path,
            "mat",
            X,
            options,
            names=None if options.transpose else names,
            row_names=names if options.transpose else None,
            rows={labels.name: labels.values} if labels else None,
            label=labels.name if labels else None,
            details={
                "version": file.version,
                "matrix": matrix,
                "labels": labels,
                "names_key": key,
            },
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
    if details["labels"]:
        new[details["labels"].name] = details["labels"].raw
    kept = columns_kept(table)
    if details["names_key"] or len(kept) < len(details["names"]):
        new[details["names_key"] or NAMES[0]] = list(table.names)
    write_mat(path, new, details["version"])


def _find_matrix(path: Path, file: MatFile, wanted: str | None) -> str:
    variables = file.variables
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
    raise TableError(
        f"{path}: {problem}. The file holds {listed or 'no variable'}. Name the one with the "
        f"values by {said('matrix')}."
    )


def _check_claim(path: Path, name: str, variable: Variable) -> None:
    """Refuse what would not fit into memory."""
    shown = " x ".join(map(str, variable.shape))
    if variable.kind == "sparse":
        check_shape(path, variable.shape)
        return
    check_fits(
        math.prod(variable.shape) * variable.itemsize, path, f"the variable {name} ({shown})"
    )


def _find_labels(path: Path, file: MatFile, n_samples: int, matrix: str) -> _Labels | None:
    """Return the first of the usual variables that fits the samples; else the first there is."""
    found = []
    for name in LABELS:
        variable = file.variables.get(name)
        if variable is None or name == matrix or variable.kind in ("sparse", "other"):
            continue
        size = variable.shape[0] if variable.kind == "char" else math.prod(variable.shape)
        if variable.kind == "char" or size == max(variable.shape, default=0):
            found.append((size != n_samples, name))
    if not found:
        return None
    name = min(found, key=lambda candidate: candidate[0])[1]
    _check_claim(path, name, file.variables[name])
    raw = file.load(name)
    if isinstance(raw, list):
        return _Labels(name, raw, pl.Series(raw, dtype=pl.String))
    return _Labels(name, raw, whole(native(raw.ravel())))


def _find_names(path: Path, file: MatFile, n_features: int) -> tuple[str | None, list[str] | None]:
    for name in NAMES:
        variable = file.variables.get(name)
        if variable is None or variable.kind not in ("char", "cell"):
            continue
        size = variable.shape[0] if variable.kind == "char" else math.prod(variable.shape)
        if size == n_features or name == NAMES[0]:
            _check_claim(path, name, variable)
            return name, file.load(name)
    return None, None
