"""The container of a MATLAB file: which variables it has, and their content on request.

Structures, objects and functions are never loaded.
"""

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse

from semisift.io._formats._hdf5 import USER_BLOCK, create_hdf5, open_hdf5, read_own
from semisift.io._formats._sparse import from_compressed
from semisift.io._guards import FileError, check_fits, check_shape
from semisift.io._options import said

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


@dataclass(frozen=True)
class Variable:
    """What a file says of a variable.

    Attributes
    ----------
    shape : tuple of int
        As MATLAB has it.
    described : str
        MATLAB's name of the type.
    sparse : bool
    """

    shape: tuple[int, ...]
    described: str
    sparse: bool = False

    @property
    def kind(self) -> str:
        """Numeric, sparse, char, cell, or another of MATLAB's types."""
        numbers = "numeric" if self.described in ITEMSIZES else self.described
        return "sparse" if self.sparse else numbers

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


class Chosen(NamedTuple):
    """The names of the variables that make a table, and what they hold."""

    matrix: str
    label: str | None
    names: str | None
    values: Mapping[str, Any]


def open_old(data: bytes) -> MatFile:
    """Open a file of version 4, or 5 to 7.2. On some damaged ones, scipy ends the process."""
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
        return _checked(name, value)

    return MatFile("5", variables, load)


def _checked(name: str, value: Any) -> Any:
    """Return numbers as they are, and text as a list."""
    if issparse(value):
        value = value.tocsc()
        parts = value.data, value.indices, value.indptr
        return from_compressed(*parts, value.shape, by_columns=True)
    if value.dtype.kind == "O":
        return [_cell_text(name, cell) for cell in value.ravel(order="F")]
    if value.dtype.kind == "U":
        return [_text(name, row) for row in value.ravel()]
    return value


def _cell_text(name: str, cell: Any) -> str:
    if cell.size == 0:
        return ""
    if cell.size > 1 or cell.dtype.kind not in "Ubiuf":
        raise FileError(
            f"the cells of {name} must hold text: one of them has the shape {cell.shape}."
        )
    return _text(name, cell.item())


def _text(name: str, value: Any) -> str:
    if "\N{REPLACEMENT CHARACTER}" in (text := str(value)):
        raise ValueError(f"the text of {name} holds an invalid start byte or half a character")
    return text.strip()


def write_mat(path: Path, variables: Mapping[str, Any], version: str) -> None:
    """Write arrays, sparse matrices and lists of text, in version 7 unless it is 7.3."""
    if version == "7.3":
        write_hdf5(path, variables)
        return
    from scipy.io import savemat

    with path.open("xb") as file:
        arrays = {name: _for_scipy(value) for name, value in variables.items()}
        savemat(file, arrays, do_compression=True)


def _for_scipy(value: Any) -> Any:
    if isinstance(value, list):
        return np.array([*value, None], dtype=object)[:-1, None]
    return csc_array(value) if issparse(value) else value


# --- version 7.3, which is HDF5 -------------------------------------------------------------------


@contextmanager
def open_new(path: Path) -> Iterator[MatFile]:
    """Open a file of version 7.3."""
    with open_hdf5(path, "hdf5") as (h5py, file):
        variables = {name: _describe(h5py, file[name]) for name in file if not name.startswith("#")}
        load = partial(_load, path, h5py, file, variables)
        yield MatFile("7.3", variables, load)


def write_hdf5(path: Path, variables: Mapping[str, Any]) -> None:
    """Write a file of version 7.3."""
    with create_hdf5(path, "hdf5", userblock_size=USER_BLOCK) as (h5py, file):
        for name, value in variables.items():
            if isinstance(value, list):
                _write_cells(h5py, file, name, value)
            elif issparse(value):
                _write_sparse(file, name, csc_array(value))
            else:
                _write_array(file, name, value.T)
    title = b"MATLAB 7.3 MAT-file, written by semisift".ljust(116) + bytes(8) + b"\x00\x02IM"
    with path.open("r+b") as raw:
        raw.write(title)


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


def _load(path: Path, h5py: Any, file: Any, variables: Mapping[str, Variable], name: str) -> Any:
    content = partial(read_own, path, h5py)
    node, variable = file[name], variables[name]
    if variable.kind == "sparse":
        indptr = content(node["jc"])
        empty = "data" not in node  # MATLAB leaves it out where all is zero
        data = np.empty(0) if empty else content(node["data"])
        indices = np.empty(0, dtype=np.int64) if empty else content(node["ir"])
        return from_compressed(data, indices, indptr, variable.shape, by_columns=True)
    value = content(node)
    if variable.kind == "cell":
        return [_decoded(name, content(file[reference])) for reference in value.T.ravel()]
    if variable.kind == "char":
        return [_decoded(name, row) for row in value.T]
    return value.T.astype(bool) if variable.described == "logical" else value.T


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


def _write_array(file: Any, name: str, value: NDArray[Any]) -> None:
    described = CLASSES.get(value.dtype.name, value.dtype.name)
    stored = value.astype(np.uint8) if described == "logical" else value
    dataset = file.create_dataset(name, data=np.ascontiguousarray(stored), compression="gzip")
    dataset.attrs["MATLAB_class"] = np.bytes_(described)
    if described == "logical":
        dataset.attrs["MATLAB_int_decode"] = np.int32(1)


def _write_sparse(file: Any, name: str, value: csc_array) -> None:
    group = file.create_group(name)
    group.attrs["MATLAB_class"] = np.bytes_("double")
    group.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
    group.create_dataset("data", data=value.data.astype(np.float64), compression="gzip")
    group.create_dataset("ir", data=value.indices.astype(np.uint64), compression="gzip")
    group.create_dataset("jc", data=value.indptr.astype(np.uint64))


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


# --- which variables ---


def load_chosen(file: MatFile, matrix: str | None, transpose: bool) -> Chosen:
    """Load the matrix, the labels and the names, and nothing else."""
    name = _find_matrix(file.variables, matrix)
    shape = file.variables[name].shape
    n_samples, n_features = shape[::-1] if transpose else shape
    label = _find_labels(file.variables, n_samples, name)
    names = _find_names(file.variables, n_features)
    wanted = [each for each in (name, label, names) if each is not None]
    for each in wanted:
        file.variables[each].check_fits(each)
    return Chosen(name, label, names, {each: file.load(each) for each in wanted})


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
