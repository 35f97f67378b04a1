"""Whether the arrays of a sparse matrix fit together: scipy's compiled code takes it on trust."""

from collections.abc import Iterator
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
    if issparse(X) and X.ndim == 2:
        for damage in _damages(X.tocsr() if X.format == "lil" else X):
            raise ValueError(
                f"{name} is a damaged sparse matrix: {damage}. Build it anew from its values."
            )


def _damages(X: Any) -> Iterator[str]:
    """Yield what is wrong; after the first of it nothing is sure."""
    if X.format == "coo":
        for places, size, what in zip(X.coords, X.shape, ("row", "column"), strict=True):
            yield from _wrong_length(places, len(X.data), f"{what} numbers")
            yield from _out_of_range(places, size, what)
    elif X.format in ("csr", "csc", "bsr"):
        height, width = X.blocksize if X.format == "bsr" else (1, 1)
        sides = [(X.shape[0] // height, "row"), (X.shape[1] // width, "column")]
        (n_lines, line), (size, what) = sides[::-1] if X.format == "csc" else sides
        indptr = X.indptr
        if len(indptr) != n_lines + 1:
            yield f"indptr needs {n_lines + 1} numbers for {n_lines} {line}s: got {len(indptr)}"
        yield from _wrong_length(X.indices, len(X.data), "indices")
        if indptr[0] != 0 or indptr[-1] > len(X.data):
            yield (
                f"indptr must rise from 0 to the number of stored values, {len(X.data)}: got "
                f"{indptr[0]} to {indptr[-1]}"
            )
        for at in np.flatnonzero(indptr[1:] < indptr[:-1]):
            yield f"indptr must not fall: got {indptr[at]} and then {indptr[at + 1]} at {line} {at}"
        yield from _out_of_range(X.indices[: indptr[-1]], size, what)


def _wrong_length(places: NDArray[Any], n_values: int, what: str) -> Iterator[str]:
    if len(places) != n_values:
        yield f"{n_values} stored values but {len(places)} {what} for them"


def _out_of_range(places: NDArray[Any], size: int, what: str) -> Iterator[str]:
    if len(places) and not 0 <= places.min() <= places.max() < size:
        wrong = places.min() if places.min() < 0 else places.max()
        yield f"a stored value claims {what} {wrong}, counted from 0, of {size}"
