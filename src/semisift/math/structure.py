"""Whether the arrays of a sparse matrix fit together: scipy's compiled code takes it on trust."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse


def check_structure(X: Any, name: str = "X") -> None:
    """Refuse a sparse matrix whose places lie outside of it, which would end the process.

    Parameters
    ----------
    X : any
        What is not sparse passes.
    name : str
        For the message.
    """
    if not issparse(X) or X.ndim != 2:
        return
    form = X.format
    if form == "lil":
        form, X = "csr", X.tocsr()
    if form == "coo":
        for places, size, what in zip(X.coords, X.shape, ("row", "column"), strict=True):
            _check_length(places, len(X.data), f"{what} numbers", name)
            _check_range(places, size, what, name)
    elif form in ("csr", "csc", "bsr"):
        _check_compressed(X, form, name)


def _check_compressed(X: Any, form: str, name: str) -> None:
    height, width = X.blocksize if form == "bsr" else (1, 1)
    n_rows, n_columns = X.shape[0] // height, X.shape[1] // width
    lines, size = (n_columns, n_rows) if form == "csc" else (n_rows, n_columns)
    line, what = ("column", "row") if form == "csc" else ("row", "column")
    indptr = X.indptr
    if len(indptr) != lines + 1:
        _refuse(name, f"indptr needs {lines + 1} numbers for {lines} {line}s: got {len(indptr)}")
    _check_length(X.indices, len(X.data), "indices", name)
    if indptr[0] != 0 or indptr[-1] > len(X.data):
        _refuse(
            name,
            f"indptr must rise from 0 to the number of stored values, {len(X.data)}: got "
            f"{indptr[0]} to {indptr[-1]}",
        )
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falls):
        at = falls[0]
        _refuse(
            name, f"indptr must not fall: got {indptr[at]} and then {indptr[at + 1]} at {line} {at}"
        )
    _check_range(X.indices[: indptr[-1]], size, what, name)


def _check_length(places: NDArray[Any], n_values: int, what: str, name: str) -> None:
    if len(places) != n_values:
        _refuse(name, f"{n_values} stored values but {len(places)} {what} for them")


def _check_range(places: NDArray[Any], size: int, what: str, name: str) -> None:
    if len(places) and not 0 <= places.min() <= places.max() < size:
        wrong = places.min() if places.min() < 0 else places.max()
        _refuse(name, f"a stored value claims {what} {wrong}, counted from 0, of {size}")


def _refuse(name: str, why: str) -> None:
    raise ValueError(f"{name} is a damaged sparse matrix: {why}. Build it anew from its values.")
