"""MATLAB files: a matrix, and perhaps labels and feature names beside it.

The matrix is the variable ``X`` or ``data``, else the only matrix of numbers in the file. Labels
are ``y``, ``Y``, ``labels``, ``gnd`` or ``class``, a vector or a cell array of text; feature names
are ``feature_names`` or ``names``. Other variables are not even loaded, and structures, objects and
functions never are. On some damaged files of version 5, scipy ends the process: so a process of its
own loads the same variables first. (It lists the variables of damaged files without harm.)
"""

import io
import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse

from semisift.io._formats._common import columns_kept, read_in_child, reading
from semisift.io._formats._hdf5 import SIGNATURE, USER_BLOCK, create_hdf5, open_hdf5, read_own
from semisift.io._formats._sparse import from_compressed
from semisift.io._guards import FileError, check_fits, check_shape, read_bytes
from semisift.io._options import TableOptions, format_option
from semisift.io._table import FileTable, as_series, from_matrix

# What scipy refuses in words, it refuses again where the user sees it.
READ = """import io, sys
from scipy.io import loadmat
data = sys.stdin.buffer.read()
for name, as_matlab in {wanted!r}.items():
    try:
        loadmat(io.BytesIO(data), variable_names=[name], mat_dtype=as_matlab)
    except MemoryError:
        raise
    except Exception:
        pass
"""

ITEMSIZES = {
    "double": 8,
    "single": 4,
    "logical": 1,
    **{f"{sign}int{8 * size}": size for sign in ("", "u") for size in (1, 2, 4, 8)},
}
CLASSES = {"float64": "double", "float32": "single", "bool": "logical"}
TYPES = {described: dtype for dtype, described in CLASSES.items()}
REFERENCES = "#refs#"

MATRICES = ("X", "data")
LABELS = ("y", "Y", "labels", "gnd", "class")
NAMES = ("feature_names", "names")
TEXT = ("char", "cell")


def read(path: Path, options: TableOptions) -> FileTable:
    """Read a MATLAB file of version 4, 5 to 7.2, or 7.3 (which needs h5py).

    `matrix` names the variable with the values.
    """
    with reading(path, "MATLAB"):
        with path.open("rb") as file:
            start = file.read(USER_BLOCK + len(SIGNATURE))
        if start.startswith(SIGNATURE) or start[USER_BLOCK:] == SIGNATURE:
            with open_hdf5(path, "hdf5") as (h5py, opened):
                return _read(path, _open_new(path, h5py, opened), options)
        data = read_bytes(path)
        return _read(path, _open_old(data), options, data)


def _read(
    path: Path, file: "MatFile", options: TableOptions, data: bytes | None = None
) -> FileTable:
    """Return the table of a file; of an old one, of these bytes, when a child has read it."""
    matrix, label, key = file.choose(options.matrix, options.transpose)
    wanted = [name for name in (matrix, label, key) if name is not None]
    for name in wanted:
        file.variables[name].check_fits(name)
    if data is not None:
        read_in_child(
            READ.format(wanted={name: file.kind(name) == "cell" for name in wanted}), data
        )
    values = {name: file.load(name) for name in wanted}
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
    """Write a MATLAB file of the same version with the matrix, the labels and the names."""
    details = table.details
    new = {details["matrix"]: table.values.T if table.transposed else table.values}
    if table.label is not None:
        new[table.label] = details["labels"]
    if details["names_key"] or len(columns_kept(table)) < len(details["names"]):
        new[details["names_key"] or NAMES[0]] = list(table.names)
    write_mat(path, new, details["version"])


# --- variables ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variable:
    """What a file says of a variable: its shape and the name of its type, as MATLAB has them."""

    shape: tuple[int, ...]
    described: str
    sparse: bool = False

    @property
    def kind(self) -> str:
        """Numeric, sparse, char, cell, or another of MATLAB's types."""
        numbers = "numeric" if self.described in ITEMSIZES else self.described
        return "sparse" if self.sparse else numbers

    @property
    def length(self) -> int:
        """How many values or texts it has."""
        return self.shape[0] if self.kind == "char" else math.prod(self.shape)

    def check_fits(self, name: str) -> None:
        """Refuse what would not fit into memory."""
        if self.sparse:
            check_shape(self.shape)
        elif self.described != "logical":  # which may be sparse without saying so
            n_bytes = math.prod(self.shape) * ITEMSIZES.get(self.described, 8)
            check_fits(n_bytes, f"the variable {name} ({' x '.join(map(str, self.shape))})")


@dataclass(frozen=True)
class MatFile:
    """A file with its variables; `load` gives an array, a CSR array, or a list of text."""

    version: str
    variables: Mapping[str, Variable]
    load: Callable[[str], Any]

    def choose(self, matrix: str | None, transpose: bool) -> tuple[str, str | None, str | None]:
        """Return which variables are the matrix, the labels and the names of the features."""
        name = self._find_matrix(matrix)
        shape = self.variables[name].shape
        n_samples, n_features = shape[::-1] if transpose else shape
        for names in NAMES:
            fits = self.kind(names) in TEXT and self.variables[names].length == n_features
            if fits or (names == NAMES[0] and self.kind(names) in TEXT):
                return name, self._find_labels(n_samples, name), names
        return name, self._find_labels(n_samples, name), None

    def kind(self, name: str) -> str | None:
        """Return the kind of a variable; None if there is none."""
        return self.variables[name].kind if name in self.variables else None

    def _find_matrix(self, wanted: str | None) -> str:
        shapes = {name: variable.shape for name, variable in self.variables.items()}
        good = [n for n in shapes if self.kind(n) in ("numeric", "sparse") and len(shapes[n]) == 2]
        if wanted is not None:
            candidates = [wanted] if wanted in good else []
            problem = (
                f"{format_option('matrix', wanted)}: there is no matrix of numbers of this name"
            )
        else:
            broad = [name for name in good if min(shapes[name]) > 1 and name not in LABELS]
            candidates = [name for name in MATRICES if name in good][:1] or broad
            problem = "it is not clear which variable holds the values"
        if len(candidates) == 1:
            return candidates[0]
        names_shown = ", ".join(
            f"{name} ({' x '.join(map(str, variable.shape))}, {variable.described})"
            for name, variable in self.variables.items()
        )
        cure = f"Name the one with the values by {format_option('matrix')}"
        raise FileError(f"{problem}. The file holds {names_shown or 'no variable'}. {cure}.")

    def _find_labels(self, n_samples: int, matrix: str) -> str | None:
        """Return the first of the usual variables that fits the samples; else the first of all."""
        lengths = {}
        for name in LABELS:
            if name != matrix and (kind := self.kind(name)) in ("numeric", *TEXT):
                variable = self.variables[name]
                if kind == "char" or variable.length == max(variable.shape, default=0):
                    lengths[name] = variable.length
        return min(lengths, key=lambda name: lengths[name] != n_samples, default=None)


# --- versions 4 and 5 to 7.2 ----------------------------------------------------------------------


def _open_old(data: bytes) -> MatFile:
    """Open a file of version 4, or 5 to 7.2."""
    from scipy.io import loadmat, whosmat

    is_v5 = data[126:128] in (b"IM", b"MI")
    variables = {
        name: Variable(tuple(shape), kind, kind == "sparse")
        for name, shape, kind in whosmat(io.BytesIO(data))
    }

    def load(name: str) -> Any:
        try:
            # matrices in the type of their storage: in their own, complex ones would become real
            in_cells = variables[name].kind == "cell"
            with warnings.catch_warnings():  # a sparse matrix or a sparse array: either serves
                warnings.filterwarnings("ignore", r"\s*The default value for `spmatrix`")
                value = loadmat(io.BytesIO(data), variable_names=[name], mat_dtype=in_cells)[name]
        except ValueError as error:
            if found := re.match(r"cannot reshape array of size (\d+) .*?(\(.*\))", str(error)):
                raise ValueError(f"{name} has {found[1]} values for the shape {found[2]}") from None
            raise
        if isinstance(value, str):  # what is wrong, in words
            raise ValueError(value)
        described = variables[name].described
        if is_v5 and described in ITEMSIZES and value.dtype.kind in "biuf":
            value = value.astype(TYPES.get(described, described))
        if issparse(value):
            value = value.tocsc()
            parts = value.data, value.indices, value.indptr
            return from_compressed(*parts, value.shape, by_columns=True)
        if value.dtype.kind in "OU":
            return [_cell_text(name, cell) for cell in value.ravel(order="F")]
        return value

    return MatFile("5", variables, load)


def _cell_text(name: str, cell: Any) -> str:
    if not isinstance(cell, str):
        if cell.size == 0:
            return ""
        if cell.size > 1 or cell.dtype.kind not in "Ubiuf":
            got = f"one of them has the shape {cell.shape}"
            raise FileError(f"the cells of {name} must hold text: {got}.")
        cell = str(cell.item())
    if "\N{REPLACEMENT CHARACTER}" in cell:
        raise ValueError(f"the text of {name} holds an invalid start byte or half a character")
    return cell.strip()


def write_mat(path: Path, variables: Mapping[str, Any], version: str) -> None:
    """Write arrays, sparse matrices and lists of text, in version 7 unless it is 7.3."""
    if version == "7.3":
        write_hdf5(path, variables)
        return
    from scipy.io import savemat

    arrays = {}
    for name, value in variables.items():
        arrays[name] = csc_array(value) if issparse(value) else value
        if isinstance(value, list):
            arrays[name] = np.array([*value, None], dtype=object)[:-1, None]
    with path.open("xb") as file:
        savemat(file, arrays, do_compression=True)


# --- version 7.3, which is HDF5 -------------------------------------------------------------------


def _open_new(path: Path, h5py: Any, file: Any) -> MatFile:
    variables = {name: _describe(h5py, file[name]) for name in file if not name.startswith("#")}
    content = partial(read_own, path, h5py)

    def load(name: str) -> Any:
        node, variable = file[name], variables[name]
        if variable.kind == "sparse":
            is_empty = "data" not in node  # MATLAB leaves it out where all is zero
            data = np.empty(0) if is_empty else content(node["data"])
            indices = np.empty(0, dtype=np.int64) if is_empty else content(node["ir"])
            return from_compressed(
                data, indices, content(node["jc"]), variable.shape, by_columns=True
            )
        value = content(node).T
        if variable.kind == "cell":
            return [_decoded(name, content(file[reference])) for reference in value.ravel()]
        if variable.kind == "char":
            return [_decoded(name, row) for row in value]
        return value.astype(bool) if variable.described == "logical" else value

    return MatFile("7.3", variables, load)


def _describe(h5py: Any, node: Any) -> Variable:
    given = node.attrs.get("MATLAB_class", b"")
    described = given.decode() if isinstance(given, bytes) else str(given)
    if "MATLAB_sparse" in node.attrs and "jc" in node:
        rows, columns = int(node.attrs["MATLAB_sparse"]), int(node["jc"].size) - 1
        return Variable((rows, columns), described, sparse=True)
    if not isinstance(node, h5py.Dataset) or "MATLAB_empty" in node.attrs:
        return Variable((0, 0), described or "group")
    if h5py.check_ref_dtype(node.dtype) is not None:
        described = "cell"
    elif not described and node.dtype.kind in "biuf":  # not written by MATLAB
        described = CLASSES.get(node.dtype.name, node.dtype.name)
    if described in ITEMSIZES and node.dtype.kind not in "biuf":
        described = "unknown"
    return Variable(tuple(node.shape[::-1]), described)


def _decoded(name: str, codes: NDArray[Any]) -> str:
    """Return the text of an array of UTF-16 codes."""
    codes = np.asarray(codes)
    if codes.dtype.kind not in "iu" or codes.dtype.itemsize > 8:
        raise FileError(f"the cells of {name} must hold text: got type {codes.dtype}.")
    if codes.ndim == 1 and codes.dtype.itemsize == 8:  # an empty text is stored as its shape
        return ""
    if codes.size and not 0 <= codes.min() <= codes.max() <= 0xFFFF:
        raise FileError(f"the text of {name} holds numbers that are no characters.")
    return codes.ravel().astype("<u2").tobytes().decode("utf-16-le").strip()


def write_hdf5(path: Path, variables: Mapping[str, Any]) -> None:
    """Write a file of version 7.3."""
    with create_hdf5(path, "hdf5", userblock_size=USER_BLOCK) as (h5py, file):
        for name, value in variables.items():
            if isinstance(value, list):
                _write_cells(h5py, file, name, value)
            elif issparse(value):
                value = csc_array(value)
                group = file.create_group(name)
                group.attrs["MATLAB_class"] = np.bytes_("double")
                group.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
                parts = (value.data, np.float64), (value.indices, np.uint64)
                for part, (values, dtype) in zip(("data", "ir"), parts, strict=True):
                    group.create_dataset(part, data=values.astype(dtype), compression="gzip")
                group.create_dataset("jc", data=value.indptr.astype(np.uint64))
            else:
                described = CLASSES.get(value.dtype.name, value.dtype.name)
                stored = value.T.astype(np.uint8) if described == "logical" else value.T
                stored = np.ascontiguousarray(stored)
                dataset = file.create_dataset(name, data=stored, compression="gzip")
                dataset.attrs["MATLAB_class"] = np.bytes_(described)
                if described == "logical":
                    dataset.attrs["MATLAB_int_decode"] = np.int32(1)
    title = b"MATLAB 7.3 MAT-file, written by semisift".ljust(116) + bytes(8) + b"\x00\x02IM"
    with path.open("r+b") as raw:
        raw.write(title)


def _write_cells(h5py: Any, file: Any, name: str, texts: list[str]) -> None:
    store = file.require_group(REFERENCES)
    references = np.empty((1, len(texts)), dtype=h5py.ref_dtype)
    for i, text in enumerate(texts):
        codes = np.frombuffer(text.encode("utf-16-le"), dtype="<u2")
        cell = store.create_dataset(
            f"{name}_{i}", data=codes[:, None] if text else np.zeros(2, "u8")
        )
        cell.attrs["MATLAB_class"] = np.bytes_("char")
        cell.attrs["MATLAB_int_decode"] = np.int32(2)
        if not text:
            cell.attrs["MATLAB_empty"] = np.uint8(1)
        references[0, i] = cell.ref
    dataset = file.create_dataset(name, data=references, dtype=h5py.ref_dtype)
    dataset.attrs["MATLAB_class"] = np.bytes_("cell")
