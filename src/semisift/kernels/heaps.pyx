# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The classes of the k nearest rows, with scikit-learn's choice among equally near ones."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t


cdef inline void push(double *heap, int64_t *kept, Py_ssize_t k, double value,
                      int64_t row) noexcept nogil:
    """Replace the largest value, at the root, and let the new one sink below larger ones."""
    cdef Py_ssize_t here = 0, child
    while True:
        child = 2 * here + 1
        if child >= k:
            break
        if child + 1 < k and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[here] = heap[child]
        kept[here] = kept[child]
        here = child
    heap[here] = value
    kept[here] = row


def count_votes(const double[:, ::1] distances, const int64_t[::1] codes, Py_ssize_t n_classes,
                Py_ssize_t k):
    """Count the classes of the k nearest rows; of equally near ones, those that a heap keeps.

    Parameters
    ----------
    distances : array of shape (n, n_train)
    codes : int64 array of shape (n_train,)
        Classes.
    n_classes : int
    k : int
        From 1 to n_train.

    Returns
    -------
    int64 array of shape (n, n_classes)
    """
    cdef Py_ssize_t n = distances.shape[0], n_train = distances.shape[1], i, j
    counts = np.zeros((n, n_classes), dtype=np.int64)
    cdef int64_t[:, ::1] out = counts
    cdef double[::1] heap = np.empty(k)
    cdef int64_t[::1] kept = np.zeros(k, dtype=np.int64)
    with nogil:
        for i in range(n):
            for j in range(k):
                heap[j] = INFINITY
                kept[j] = j
            for j in range(n_train):
                if distances[i, j] < heap[0]:
                    push(&heap[0], &kept[0], k, distances[i, j], j)
            for j in range(k):
                out[i, codes[kept[j]]] += 1
    return counts
