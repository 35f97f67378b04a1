"""Sets of rows, and trees that let them fall through: see masks.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from semisift._kernels.columns cimport columns_t


cdef struct Tree:
    int n_nodes
    const int32_t *feature
    const double *threshold
    const int32_t *left
    const int32_t *leaf
    const int32_t *impure
    const uint8_t *missing_left


cdef class Forest:
    cdef const int32_t[::1] offsets, feature, left, leaf, impure
    cdef const double[::1] threshold
    cdef const uint8_t[::1] missing_left
    cdef const int32_t[:, ::1] counts
    cdef readonly Py_ssize_t most_nodes

    cdef Tree tree(self, Py_ssize_t i) noexcept nogil
    cdef double confidence(self, const Tree *tree, int leaf) noexcept nogil


cdef class Fallen:
    cdef int64_t n_words
    cdef bint keeps_below
    cdef int by_lists  # whether trees are to be walked by lists, or -1: by what is faster
    # the last tree: the rows of node v are the mask reached[v], or list[starts[v]] to list[stops[v]]
    cdef bint listed
    cdef uint64_t *reached
    cdef uint64_t *below
    cdef int64_t n_masks
    cdef int32_t *rows
    cdef int32_t *scratch
    cdef int32_t *starts
    cdef int32_t *stops

    cdef int drop(self, const Tree *tree, const columns_t *X, const uint64_t *rows) except -1 nogil
    cdef int make_masks(self, int64_t n_masks) except -1 nogil
    cdef void add_leaf(self, int v, const uint64_t *among, uint64_t *out) noexcept nogil
    cdef int64_t list_leaf(self, int v, int32_t *out) noexcept nogil


cdef int64_t list_rows(const uint64_t *mask, int64_t n_words, int32_t *out) noexcept nogil

cdef void split_mask(
    const uint64_t *rows, const uint64_t *below, uint64_t *left, uint64_t *right, int64_t n_words
) noexcept nogil
