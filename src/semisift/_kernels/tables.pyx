"""Columns in bins, and what the bins of all columns tell about another variable.

The rows of a bin are a bit mask (see columns.h), so that a table of counts is made 64 rows at a time.
"""

import numpy as np

from libc.math cimport INFINITY, nextafter
from libc.stdint cimport int32_t, int64_t, uint64_t

from semisift._kernels.columns cimport (
    Columns, column_mask, columns_t, semisift_popcount, stored_value,
)

cdef extern from "tables.h" nogil:
    int MAX_MASKED_VALUES
    void information_sums(
        const uint64_t *bits, const int32_t *bin_sizes, int64_t n_columns, int64_t n_bins,
        int64_t n_words, const int32_t *values, const uint64_t *marks, const int32_t *sizes,
        int64_t n_s, int64_t n_y, const double *k_log_k, int32_t *counts, double *out,
    )


cdef bint few_values(const columns_t *X, int64_t column, int64_t n_bins, double *cuts) noexcept nogil:
    """Cut a column with at most `n_bins` distinct values at each of them but the lowest.

    Most columns show within a few rows that they have more; `cuts`, of `n_bins`, is then scratch.
    """
    cdef int64_t i, at, n_found = 0
    cdef double value
    for i in range(X.n_rows):
        value = stored_value(X, column * X.n_rows + i)
        at = n_found
        while at > 0 and cuts[at - 1] > value:
            at -= 1
        if at > 0 and cuts[at - 1] == value:
            continue
        if n_found == n_bins:
            return False
        n_found += 1
        for at in range(at, n_found):
            cuts[at], value = value, cuts[at]
    for at in range(1, n_bins):
        cuts[at - 1] = cuts[at] if at < n_found else INFINITY
    return True


def bin_columns(Columns X, const double[:, ::1] cuts, Py_ssize_t n_bins):
    """Bin the columns of a dense array.

    Parameters
    ----------
    X : Columns
    cuts : array of shape (n_features, n_bins - 1)
        The lowest values of all bins but the first, for columns of more values than bins.
    n_bins : int

    Returns
    -------
    bits : uint64 array of shape (n_features, n_bins, n_words)
        The rows of each bin.
    sizes : int32 array of shape (n_features, n_bins)
        Their numbers.
    """
    cdef Py_ssize_t n_rows = X.c.n_rows, n_words = (n_rows + 63) // 64, j, b, w
    bits_array = np.zeros((X.n_features, n_bins, n_words), dtype=np.uint64)
    sizes_array = np.zeros((X.n_features, n_bins), dtype=np.int32)
    own_array = np.empty(max(n_bins, 1))
    below_array = np.empty(max(n_words, 1), dtype=np.uint64)
    cdef uint64_t[:, :, ::1] bits = bits_array
    cdef int32_t[:, ::1] sizes = sizes_array
    cdef double[::1] own = own_array
    cdef uint64_t[::1] below = below_array
    if n_rows == 0:
        return bits_array, sizes_array
    with nogil:
        for j in range(X.n_features):
            if not few_values(&X.c, j, n_bins, &own[0]):
                for b in range(n_bins - 1):
                    own[b] = cuts[j, b]
            for w in range(n_words):
                bits[j, 0, w] = ~(<uint64_t>0)
            if n_rows % 64:
                bits[j, 0, n_words - 1] >>= 64 - n_rows % 64
            # a row goes on to the next bin where it is in this one and reaches the next cut
            for b in range(1, n_bins):
                column_mask(&X.c, j, nextafter(own[b - 1], -INFINITY), False, &below[0])
                for w in range(n_words):
                    bits[j, b, w] = bits[j, b - 1, w] & ~below[w]
                    bits[j, b - 1, w] &= below[w]
                    sizes[j, b - 1] += semisift_popcount(bits[j, b - 1, w])
            for w in range(n_words):
                sizes[j, n_bins - 1] += semisift_popcount(bits[j, n_bins - 1, w])
    return bits_array, sizes_array


def information_terms(const uint64_t[:, :, ::1] bits, const int32_t[:, ::1] bin_sizes,
                      const int32_t[::1] values, Py_ssize_t n_s, Py_ssize_t n_y,
                      const double[::1] k_log_k):
    """Return ``sum k log k over (f, y, s) - over (f, s)`` of each binned column f.

    Parameters
    ----------
    bits, bin_sizes : arrays
        The columns, as `bin_columns` returns them.
    values : array of shape (n_rows,)
        ``s * n_y + y`` of each row.
    n_s, n_y : int
        Number of codes of s and of y.
    k_log_k : array of shape (n_rows + 1,)

    Returns
    -------
    float array of shape (n_features,)
    """
    cdef Py_ssize_t n_columns = bits.shape[0], n_bins = bits.shape[1], n_words = bits.shape[2], i
    cdef Py_ssize_t n_values = n_s * n_y
    out_array = np.zeros(n_columns)
    if n_columns == 0 or n_words == 0:
        return out_array
    n_masked = n_values if n_values <= MAX_MASKED_VALUES else 1
    marks_array = np.zeros((n_masked, n_words), dtype=np.uint64)
    sizes_array = np.zeros(n_values, dtype=np.int32)
    counts_array = np.empty(n_values * n_bins, dtype=np.int32)
    cdef uint64_t[:, ::1] marks = marks_array
    cdef int32_t[::1] sizes = sizes_array, counts = counts_array
    cdef double[::1] out = out_array
    for i in range(values.shape[0]):
        sizes[values[i]] += 1
        if n_values <= MAX_MASKED_VALUES:
            marks[values[i], i >> 6] |= (<uint64_t>1) << (i & 63)
    with nogil:
        information_sums(
            &bits[0, 0, 0], &bin_sizes[0, 0], n_columns, n_bins, n_words, &values[0], &marks[0, 0],
            &sizes[0], n_s, n_y, &k_log_k[0], &counts[0], &out[0],
        )
    return out_array
