"""Sets of rows as bit masks, and trees that let them fall through: see masks.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from semisift.kernels.columns cimport columns_t


cdef struct Tree:
    int n_nodes
    const int32_t *feature
    const double *threshold
    const int32_t *left
    const int32_t *leaf
    const int32_t *impure


cdef class Forest:
    cdef const int32_t[::1] offsets, feature, left, leaf, impure
    cdef const double[::1] threshold
    cdef const int32_t[:, ::1] counts
    cdef readonly Py_ssize_t most_nodes

    cdef Tree tree(self, Py_ssize_t i) noexcept nogil
    cdef double confidence(self, const Tree *tree, int leaf) noexcept nogil


cdef class Masks:
    cdef int64_t n_words
    cdef uint64_t *reached
    cdef uint64_t *below
    cdef bint keeps_below

    cdef void drop(self, const Tree *tree, const columns_t *X, const uint64_t *rows) noexcept nogil


cdef void split_mask(
    const uint64_t *rows, const uint64_t *below, uint64_t *left, uint64_t *right, int64_t n_words
) noexcept nogil
