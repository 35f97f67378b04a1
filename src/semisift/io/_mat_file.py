"""The container of a MATLAB file: which variables it has, and their content on request.

Structures, objects and functions are never loaded.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from semisift.io._sparse import from_compressed
from semisift.io.limits import FileError

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


@dataclass(frozen=True)
class MatFile:
    """A file with its variables; `load` gives an array, a CSR array, or a list of text."""

    version: str
    variables: Mapping[str, Variable]
    load: Callable[[str], Any]


def open_old(path: Path) -> MatFile:
    """Open a file of version 4, or 5 to 7.2. On some damaged ones, scipy ends the process."""
    from scipy.io import loadmat, whosmat

    variables = {
        name: Variable(tuple(shape), kind, kind == "sparse")
        for name, shape, kind in whosmat(path, appendmat=False)
    }

    def load(name: str) -> Any:
        try:
            value = loadmat(path, appendmat=False, variable_names=[name], mat_dtype=True)[name]
        except ValueError as error:
            if found := re.match(r"cannot reshape array of size (\d+) .*?(\(.*\))", str(error)):
                raise ValueError(f"{name} has {found[1]} values for the shape {found[2]}") from None
            raise
        return _checked(name, value)

    return MatFile("5", variables, load)


def _checked(name: str, value: Any) -> Any:
    """Return numbers as they are, and text as a list."""
    if issparse(value):
        value = value.tocsc()
        parts = value.data, value.indices, value.indptr
        return from_compressed(*parts, value.shape, by_columns=True)
    if not isinstance(value, np.ndarray):  # what is wrong, in words
        raise ValueError(value)
    if value.dtype.kind == "O":
        return [_cell_text(name, cell) for cell in value.ravel(order="F")]
    if value.dtype.kind == "U":
        return [_text(name, row) for row in value.ravel()]
    if value.dtype.kind not in "biuf":
        raise FileError(f"the variable {name} does not hold numbers or text.")
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


def write_old(path: Path, variables: Mapping[str, Any]) -> None:
    """Write arrays, sparse matrices and lists of text as a file of version 7."""
    from scipy.io import savemat

    with path.open("xb") as file:
        arrays = {name: _for_scipy(value) for name, value in variables.items()}
        savemat(file, arrays, do_compression=True)


def _for_scipy(value: Any) -> Any:
    if isinstance(value, list):
        return np.array([*value, None], dtype=object)[:-1, None]
    return csc_array(value) if issparse(value) else value
