"""Heaps of the k smallest distances of many queries: kernels/heaps.pyx in numpy, bit for bit.

The largest of them is at the root. A smaller one replaces it and sinks below larger ones, as in
scikit-learn's search, so that of equally near rows the same are kept when they come in its order.
"""

import numpy as np
from numpy.typing import NDArray

from semisift.utils._typing import Floats, Ints


def push_rows(
    X: NDArray[np.floating],
    subspaces: Ints,
    rows: NDArray[np.floating],
    codes: Ints,
    heaps: Floats,
    kept: Ints,
    votes: Ints,
    start: int,
    stop: int,
) -> None:
    """Show further labelled rows, one after the other, to some queries in every subspace.

    Parameters
    ----------
    X : Fortran-ordered array of shape (n, p)
        The queries.
    subspaces : int32 array of shape (n_subspaces, m)
        Columns by which distances are measured.
    rows : C-ordered array of shape (n_new, p)
    codes : int32 array of shape (n_new,)
        The classes of `rows`.
    heaps : array of shape (n_subspaces, n, k)
        Squared distances of the k nearest rows so far; infinity where there are fewer. Changed.
    kept : int32 array of shape (n_subspaces, n, k)
        The classes of these rows, -1 where there are fewer. Changed.
    votes : int32 array of shape (n, n_classes)
        How often each class is among them, over all subspaces. Changed.
    start, stop : int
        The queries that are shown the rows.
    """
    queries = np.asarray(X[start:stop], dtype=np.float64)
    for s, columns in enumerate(subspaces):
        for row, code in zip(rows.astype(np.float64), codes, strict=True):
            distances = np.zeros(len(queries))
            with np.errstate(over="ignore"):  # too far to be told apart
                for j in columns:
                    distances += np.square(queries[:, j] - row[j])
            nearer = start + np.flatnonzero(distances < heaps[s, start:stop, 0])
            left = kept[s, nearer, 0]
            votes[nearer[left >= 0], left[left >= 0]] -= 1
            votes[nearer, code] += 1
            push(heaps[s], kept[s], nearer, distances[nearer - start], code)


def push(heap: Floats, kept: Ints, queries: Ints, values: Floats, name: int) -> None:
    """Replace the root of some queries' heaps, and let the new value sink below larger ones.

    Parameters
    ----------
    heap : array of shape (n, k)
        Changed.
    kept : int array of shape (n, k)
        What is known of each value. Changed.
    queries : int array
        The rows of `heap` that get a new value.
    values : array of the shape of `queries`
    name : int
        What is known of the new values.
    """
    k = heap.shape[1]
    here = np.zeros(len(queries), dtype=np.int64)
    while len(queries):
        left, right = 2 * here + 1, 2 * here + 2
        of_left = np.where(left < k, heap[queries, np.minimum(left, k - 1)], -np.inf)
        of_right = np.where(right < k, heap[queries, np.minimum(right, k - 1)], -np.inf)
        child = np.where(of_right > of_left, right, left)
        larger = np.maximum(of_left, of_right)
        sinks = larger > values
        heap[queries[~sinks], here[~sinks]] = values[~sinks]
        kept[queries[~sinks], here[~sinks]] = name
        queries, here, values = queries[sinks], here[sinks], values[sinks]
        child, larger = child[sinks], larger[sinks]
        heap[queries, here] = larger
        kept[queries, here] = kept[queries, child]
        here = child


def count_votes(distances: Floats, codes: Ints, n_classes: int, k: int) -> Ints:
    """Count the classes of the k nearest rows, as the kernel of this name does.

    Parameters
    ----------
    distances : array of shape (n, n_train)
    codes : int array of shape (n_train,)
    n_classes, k : int

    Returns
    -------
    int array of shape (n, n_classes)
    """
    heap = np.full((len(distances), k), np.inf)
    kept = np.zeros(heap.shape, dtype=np.int64)
    for row, values in enumerate(distances.T):
        nearer = np.flatnonzero(values < heap[:, 0])
        push(heap, kept, nearer, values[nearer], row)
    return np.asarray((codes[:, None] == np.arange(n_classes))[kept].sum(axis=1))
