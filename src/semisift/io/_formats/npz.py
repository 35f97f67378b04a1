"""NumPy archives: ``X``, or the parts of a sparse matrix, with labels and names beside it.

Keys that are understood: ``X`` (or ``data``, ``indices``, ``indptr``, ``shape``, also as
`scipy.sparse.save_npz` writes them); ``y``; ``class_names`` (then ``y`` holds positions in it, -1
for an unlabelled row); ``feature_names``; ``row_names``; ``categorical`` (a mask or positions of
features); ``u_X`` (or its parts): rows without a label, kept apart. Any other array with one value
for each row is a column beside the values.
"""

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse, vstack

from semisift.io._formats._common import columns_kept, reading
from semisift.io._formats._sparse import from_blocks, from_compressed, from_coordinates, native
from semisift.io._guards import FileError, check_fits, damaged
from semisift.io._options import TableOptions, format_option
from semisift.io._table import FileTable, as_series, from_matrix, texts

# Keys of a matrix; with the prefix ``u_`` they are those of rows without a label.
PARTS = ("X", "data", "indices", "indptr", "shape", "format", "row", "col", "_is_array")
# Keys whose arrays are never of the columns, whatever their length.
OF_ROWS_OR_CLASSES = ("y", "row_names", "class_names")
SUFFIX = ".npy"
Arrays = Mapping[str, NDArray[Any]]


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a NumPy archive.

    `matrix` names another key than ``X``; `append_unlabelled` appends rows of the ``u_`` arrays.
    """
    with reading(path, "NumPy (.npz)"):
        arrays = read_arrays(path)
        X = _matrix(arrays, options.matrix)
        n_samples, n_features = X.shape[::-1] if options.transpose else X.shape
        n_extra = 0
        if options.append_unlabelled:
            extra = _matrix(arrays, prefix="u_")
            n_extra = extra.shape[1 if options.transpose else 0]
            X = _append(X, extra, options.transpose)
        rows = _rows(arrays, n_samples, n_extra)
        keys = ("feature_names", "row_names")
        names, row_names = (texts(arrays[key]) if key in arrays else None for key in keys)
        if row_names is not None:
            row_names += [f"unlabelled_{i}" for i in range(1, n_extra + 1)]
        return from_matrix(
            path,
            "npz",
            X,
            options,
            names=names,
            row_names=row_names,
            rows=rows,
            label="y" if "y" in rows else None,
            categorical=_categorical(arrays, n_features),
            details={"arrays": arrays, "n_samples": n_samples, "matrix": options.matrix},
        )


def write(table: FileTable, path: Path) -> None:
    """Write a NumPy archive with the keys of the one that was read.

    What the file says of the columns (any array with one value for each of them) is kept for those
    that are left.
    """
    arrays: Arrays = table.details["arrays"]
    n_samples, n_features = table.details["n_samples"], len(table.details["names"])
    kept = columns_kept(table)
    new: dict[str, NDArray[Any]] = {}
    of_rows = (*OF_ROWS_OR_CLASSES, *table.rows.columns)
    for name, array in arrays.items():
        if name.removeprefix("u_") in PARTS or name == table.details["matrix"]:
            continue
        is_of_columns = name not in of_rows and not name.startswith("u_")
        if name == "categorical" and len(array) != n_features:
            new[name] = np.flatnonzero(np.isin(kept, array))
        elif array.shape == (n_features,) and is_of_columns:
            new[name] = array[kept]
        else:
            new[name] = array
    if len(kept) < n_features:  # or column 7 would become number 1 of a file without names
        new["feature_names"] = np.array(table.names)
    values = table.values
    new |= _stored(values[:n_samples], arrays, table.details["matrix"] or "X", table.transposed)
    if "u_X" in arrays or "u_data" in arrays:
        extra = values[n_samples:]
        if not extra.shape[0]:  # they were not asked for
            extra = _matrix(arrays, prefix="u_")
            extra = extra.T if table.transposed else extra
            if extra.shape[1] == n_features:  # else they are about other columns
                extra = extra[:, kept]
        new |= _stored(extra, arrays, "u_X", table.transposed, "u_")
    write_arrays(path, new)


def _matrix(arrays: Arrays, key: str | None = None, prefix: str = "") -> Any:
    """Return the matrix of this key, or of the usual keys with this prefix."""
    dense = key or prefix + "X"
    if dense in arrays:
        if arrays[dense].ndim == 2:
            return native(arrays[dense])
        got = f"got shape {arrays[dense].shape}"
        raise FileError(f"the array {dense!r} must be a matrix of samples and features: {got}.")
    part = {name: arrays[prefix + name] for name in PARTS if prefix + name in arrays}
    form = str(texts(part["format"])[0]) if "format" in part else "csr"
    needed = ("data", "row", "col") if form == "coo" else ("data", "indices", "indptr")
    if key or any(name not in part for name in (*needed, "shape")):
        sparse = "" if key else f" and no sparse matrix ({prefix}data, {prefix}indices, ...)"
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        cure = f" Name the one with the values by {format_option('matrix')}." if not prefix else ""
        raise FileError(f"there is no array {dense!r}{sparse}. The file holds {found}.{cure}")
    parts = [part[name] for name in (*needed, "shape")]
    if form == "coo":
        return from_coordinates(*parts)
    if form == "bsr":
        return from_blocks(*parts)
    if form not in ("csr", "csc"):
        cure = "Save it as CSR: scipy.sparse.save_npz(file, matrix.tocsr())"
        raise FileError(f"a sparse matrix in the form {form!r} is not read. {cure}.")
    return from_compressed(*parts, by_columns=form == "csc")


def _append(X: Any, extra: Any, transpose: bool) -> Any:
    """Return the matrix with the unlabelled samples after the others."""
    across = 0 if transpose else 1
    if X.shape[across] != extra.shape[across]:
        rule = "the rows without a label must have the columns of the others"
        raise FileError(f"{rule}: got the shapes {extra.shape} (u_) and {X.shape}.")
    if issparse(X) != issparse(extra):
        X, extra = csr_array(X), csr_array(extra)
    if issparse(X):
        return (hstack if transpose else vstack)([X, extra], format="csr")
    return np.concatenate([X, extra], axis=1 - across)


def _rows(arrays: Arrays, n_samples: int, n_extra: int) -> dict[str, pl.Series]:
    """Return the labels and whatever else the file says of the samples; null for appended ones."""
    rows = {}
    if "y" in arrays:
        rows["y"] = _labels(arrays["y"].ravel(), arrays.get("class_names"))
    known = ("feature_names", "categorical", *OF_ROWS_OR_CLASSES, *PARTS)
    for name, array in arrays.items():
        beside = name not in known and not name.startswith("u_")
        if beside and array.shape == (n_samples,) and array.dtype.kind in "biufUS":
            rows[name] = as_series(array)
    return {name: series.extend_constant(None, n_extra) for name, series in rows.items()}


def _labels(y: NDArray[Any], class_names: NDArray[Any] | None) -> pl.Series:
    is_code = y.dtype.kind in "iu" and y.size and y.min() >= -1
    if class_names is None or not is_code or y.max() >= class_names.size:
        return as_series(y)
    names = np.array([*texts(class_names), None], dtype=object)  # -1 takes the last
    return pl.Series(names[y.astype(np.int64)].tolist(), dtype=pl.String)


def _categorical(arrays: Arrays, n_features: int) -> NDArray[np.bool_] | None:
    """Return the mask of the categorical features, which may be stored as their positions."""
    marks = arrays.get("categorical")
    if marks is None:
        return None
    marks = marks.ravel()
    if marks.dtype.kind == "b" or (len(marks) == n_features > 2 and np.isin(marks, (0, 1)).all()):
        return marks.astype(bool)
    if marks.dtype.kind not in "iu" or np.any((marks < 0) | (marks >= n_features)):
        rule = f"a mask of features or positions of features from 0 to {n_features - 1}"
        raise FileError(f"'categorical' must be {rule}: got {marks.tolist()[:5]}.")
    mask = np.zeros(n_features, dtype=bool)
    mask[marks] = True
    return mask


def _stored(values: Any, arrays: Arrays, key: str, transposed: bool, prefix: str = "") -> Arrays:
    """Return the arrays of a matrix as the file that was read stores them."""
    values = values.T if transposed else values
    if not issparse(values):
        return {key: values}
    values = values.tocsr()
    parts = {"data": values.data, "indices": values.indices, "indptr": values.indptr}
    for name in ("indices", "indptr"):
        if prefix + name in arrays:  # indices of two bytes stay so
            parts[name] = parts[name].astype(arrays[prefix + name].dtype, copy=False)
    parts["shape"] = np.array(values.shape)
    if prefix + "format" in arrays:
        parts["format"] = np.array(b"csr")
    return {prefix + name: part for name, part in parts.items()}


# --- the archive ----------------------------------------------------------------------------------


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive; nothing in it is ever executed (no pickle)."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(SUFFIX)]
        check_fits(sum(entry.file_size for entry in entries), "its content, unpacked,")
        for entry in entries:
            name = entry.filename.removesuffix(SUFFIX)
            if name in arrays:
                problem = f"the array {name!r} stands twice in it"
                raise FileError(f"{problem}. Write the file again, with the one that is meant.")
            with archive.open(entry) as file:
                _check_header(file, entry.file_size, name)
                file.seek(0)
                arrays[name] = np.lib.format.read_array(file, allow_pickle=False)
    if not arrays:
        raise FileError("the archive holds no array. Was it saved by numpy.savez?")
    return arrays


def _check_header(file: IO[bytes], size: int, name: str) -> None:
    major, minor = np.lib.format.read_magic(file)
    read_header = getattr(np.lib.format, f"read_array_header_{major}_{minor}", None)
    if read_header is None:
        raise FileError(f"the array {name!r} is a table of records, not an array.")
    shape, _, dtype = read_header(file)
    if dtype.hasobject:
        problem = "holds Python objects (pickle), which could run any program and are never loaded"
        cure = "Save it as numbers or as text: array.astype(float), array.astype(str)"
        raise FileError(f"the array {name!r} {problem}. {cure}.")
    claimed, size = math.prod(shape) * dtype.itemsize, size - file.tell()
    if claimed != size:
        what = f"the array {name!r} of shape {shape}"
        check_fits(claimed, what)
        raise damaged(f"{what} and type {dtype} takes {claimed} bytes, but the file has {size}")


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays as `numpy.savez_compressed` does, whatever their names are."""
    with zipfile.ZipFile(path, "x", compression=zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for name, array in arrays.items():
            # the same time in every file, so that the same table makes the same file
            entry = zipfile.ZipInfo(name + SUFFIX)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
