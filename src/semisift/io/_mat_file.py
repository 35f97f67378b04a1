"""The container of a MATLAB file: which variables it has, and their content on request.

Structures, objects and functions are never loaded.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from semisift.io._hdf5 import SIGNATURE, USER_BLOCK
from semisift.io._sparse import from_compressed

ITEMSIZES = {
    "double": 8,
    "single": 4,
    "logical": 1,
    **{f"{sign}int{8 * size}": size for sign in ("", "u") for size in (1, 2, 4, 8)},
}


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
        """One of numeric, sparse, char, cell and other."""
        if self.sparse:
            return "sparse"
        if self.described in ITEMSIZES:
            return "numeric"
        return self.described if self.described in ("char", "cell") else "other"

    @property
    def itemsize(self) -> int:
        """Bytes of a value in memory."""
        return ITEMSIZES.get(self.described, 8)


@dataclass(frozen=True)
class MatFile:
    """A file with its variables; `load` gives an array, a CSR array, or a list of text."""

    version: str
    variables: Mapping[str, Variable]
    load: Callable[[str], Any]


@contextmanager
def open_mat(path: Path) -> Iterator[MatFile]:
    """Open a MATLAB file of any version."""
    with path.open("rb") as file:
        start = file.read(USER_BLOCK + len(SIGNATURE))
    if start.startswith(SIGNATURE) or start[USER_BLOCK:] == SIGNATURE:
        from semisift.io import _mat_hdf5

        with _mat_hdf5.open_hdf5(path) as opened:
            yield opened
    elif start[126:128] in (b"IM", b"MI"):
        from semisift.io import _mat_v5

        yield _mat_v5.open_v5(path)
    else:
        yield _open_v4(path)


def write_mat(path: Path, variables: Mapping[str, Any], version: str) -> None:
    """Write arrays, sparse matrices and lists of text.

    Parameters
    ----------
    path : Path
    variables : mapping
    version : str
        "7.3", or any other for the older form.
    """
    if version == "7.3":
        from semisift.io import _mat_hdf5

        _mat_hdf5.write_hdf5(path, variables)
        return
    from scipy.io import savemat

    with path.open("xb") as file:
        arrays = {name: _for_scipy(value) for name, value in variables.items()}
        savemat(file, arrays, do_compression=True)


def _for_scipy(value: Any) -> Any:
    if isinstance(value, list):
        cells = np.empty((len(value), 1), dtype=object)
        cells[:, 0] = value
        return cells
    return csc_array(value) if issparse(value) else value


def _open_v4(path: Path) -> MatFile:
    from scipy.io import loadmat, whosmat
    from scipy.io.matlab import matfile_version

    if matfile_version(path, appendmat=False)[0] != 0:
        raise ValueError("its first bytes are those of no version of MATLAB")
    variables = {
        name: Variable(tuple(shape), kind, kind == "sparse")
        for name, shape, kind in whosmat(path, appendmat=False)
    }

    def load(name: str) -> Any:
        value = loadmat(path, appendmat=False, variable_names=[name])[name]
        if issparse(value):
            value = value.tocsc()
            parts = value.data, value.indices, value.indptr
            return from_compressed(path, *parts, value.shape, by_columns=True)
        if variables[name].kind == "char":
            return [str(row).strip() for row in value.ravel()]
        return value

    return MatFile("5", variables, load)
