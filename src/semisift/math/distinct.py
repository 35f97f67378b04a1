"""Which rows of a matrix are identical."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

# Columns in which rows are compared first.
FIRST_LOOK = 16


def distinct_rows(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Merge identical rows into nodes.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)

    Returns
    -------
    rows : int array of shape (n_nodes,)
        The first row of each node, ascending.
    node : int array of shape (n,)
        The node of each row.
    """
    found: dict[bytes, int] = {}
    keys = _sparse_keys(X.tocsr()) if issparse(X) else _dense_keys(X)
    node = np.array([found.setdefault(key, len(found)) for key in keys], dtype=np.int64)
    rows = np.full(len(found), len(node), dtype=np.int64)
    np.minimum.at(rows, node, np.arange(len(node)))
    return rows, node


def _sparse_keys(X: Any) -> Iterator[bytes]:
    X.sort_indices()
    for start, stop in pairwise(X.indptr.tolist()):
        key = hashlib.blake2b(X.indices[start:stop], digest_size=16)
        key.update(X.data[start:stop])
        yield key.digest()


def _dense_keys(X: Any) -> Iterator[bytes]:
    # most rows differ in a few columns already, and then there is no need to read the others
    few = np.unique(np.linspace(0, X.shape[1] - 1, FIRST_LOOK).astype(np.int64))
    looks = [row.tobytes() for row in np.ascontiguousarray(X[:, few]) + X.dtype.type(0)]
    times = Counter(looks)
    for i, look in enumerate(looks):
        if times[look] == 1:
            yield look
        else:
            row = np.ascontiguousarray(X[i]) + X.dtype.type(0)  # -0 is 0
            yield b"row" + hashlib.blake2b(row, digest_size=16).digest()
