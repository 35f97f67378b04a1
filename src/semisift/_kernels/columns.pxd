"""Columns of X for the kernels: see columns.h."""

from libc.stdint cimport int32_t, int64_t, uint64_t


cdef extern from "portable.h" nogil:
    int semisift_popcount(uint64_t word)
    int semisift_lowest_bit(uint64_t word)


cdef extern from "columns.h" nogil:
    ctypedef struct columns_t:
        int64_t n_rows
        int is_float32
        int is_sparse
        int has_missing
        const void *values
        const int32_t *indices
        const int64_t *indptr

    double column_value(const columns_t *columns, int64_t column, int32_t row)
    int gather_column(
        const columns_t *columns, int64_t column, const int32_t *rows, int n,
        const int32_t *position, double *out,
    )
    double stored_value(const columns_t *columns, int64_t at)
    int64_t count_rows(const uint64_t *rows, int64_t n_words)
    bint goes_left(double value, double threshold, bint missing_left)
    void column_mask(
        const columns_t *columns, int64_t column, double threshold, bint missing_left, uint64_t *out
    )
    int64_t split_rows(
        const columns_t *columns, int64_t column, double threshold, bint missing_left, int32_t *rows,
        int64_t n, int32_t *right,
    )


cdef class Columns:
    cdef columns_t c
    cdef readonly object X
    cdef readonly Py_ssize_t n_features
    cdef object _buffers
