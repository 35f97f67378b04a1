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

# What their bits are multiplied by: powers of an odd number, modulo 2^64.
ODD = np.cumprod(np.full(FIRST_LOOK, 0x9E3779B97F4A7C15, dtype=np.uint64))


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
    looks = None if issparse(X) else _first_looks(X)
    if looks is not None and len(set(looks)) == len(looks):
        nodes = np.arange(len(looks))
        return nodes, nodes
    found: dict[Any, int] = {}
    keys = _sparse_keys(X.tocsr()) if looks is None else _dense_keys(X, looks)
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


def _first_looks(X: NDArray[np.floating]) -> list[int]:
    """Return a number for each row, different only if the rows are.

    Most rows differ in a few columns already, and then there is no need to read the others.
    """
    few = slice(0, None, max(1, X.shape[1] // FIRST_LOOK))
    values = np.ascontiguousarray(X[:, few][:, :FIRST_LOOK], dtype=np.float64) + 0.0  # -0 is 0
    bits = values.view(np.uint64)
    bits ^= bits >> np.uint64(32)  # of whole numbers only the highest bits are not 0
    looks: list[int] = (bits @ ODD[: bits.shape[1]]).tolist()
    return looks


def _dense_keys(X: NDArray[np.floating], looks: list[int]) -> Iterator[Any]:
    times = Counter(looks)
    for i, look in enumerate(looks):
        if times[look] == 1:
            yield look
        else:
            row = np.ascontiguousarray(X[i]) + X.dtype.type(0)
            yield hashlib.blake2b(row, digest_size=16).digest()
