"""The classes of the k nearest rows, with scikit-learn's choice among equally near ones."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

cdef extern from "heaps.h":
    void float_distances(const float *x, int64_t stride, int64_t n, const int32_t *columns,
                         int64_t m, const float *row, double *sums) noexcept nogil
    void double_distances(const double *x, int64_t stride, int64_t n, const int32_t *columns,
                          int64_t m, const double *row, double *sums) noexcept nogil

# Queries whose distances are formed at once: these, and the values of a subspace, stay in the cache.
cdef enum:
    BLOCK = 512

ctypedef fused value:
    float
    double

ctypedef fused name:
    int32_t
    int64_t


cdef inline void push(double *heap, name *kept, Py_ssize_t k, double value,
                      name row) noexcept nogil:
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


def push_rows(const value[::1, :] X, const int32_t[:, ::1] subspaces, const value[:, ::1] rows,
              const int32_t[::1] codes, double[:, :, ::1] heaps, int32_t[:, :, ::1] kept,
              int32_t[:, ::1] votes, Py_ssize_t start, Py_ssize_t stop):
    """Show further labelled rows, one after the other, to some queries in every subspace.

    As `semisift._kernels.fallback.heaps.push_rows`, which says what the arrays are; X and `rows` have at least
    one column and `subspaces` one as well.
    """
    cdef Py_ssize_t n = X.shape[0], k = heaps.shape[2], m = subspaces.shape[1]
    cdef Py_ssize_t first = start, width, s, r, i
    cdef int32_t gone
    cdef double[BLOCK] sums
    with nogil:
        while first < stop:
            width = min(<Py_ssize_t>BLOCK, stop - first)
            for s in range(subspaces.shape[0]):
                for r in range(rows.shape[0]):
                    if value is float:
                        float_distances(&X[first, 0], n, width, &subspaces[s, 0], m, &rows[r, 0],
                                        sums)
                    else:
                        double_distances(&X[first, 0], n, width, &subspaces[s, 0], m, &rows[r, 0],
                                         sums)
                    for i in range(width):
                        if sums[i] < heaps[s, first + i, 0]:
                            gone = kept[s, first + i, 0]
                            if gone >= 0:
                                votes[first + i, gone] -= 1
                            votes[first + i, codes[r]] += 1
                            push(&heaps[s, first + i, 0], &kept[s, first + i, 0], k, sums[i],
                                 codes[r])
            first += width
