"""The sums of the constrained Laplacian score in many random subspaces, graphs included."""

import numpy as np

from libc.math cimport INFINITY, NAN, exp, fabs, ldexp, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy, memset

from semisift._kernels.columns cimport Columns, columns_t, stored_value
from semisift._kernels.streams cimport mix

cdef double TIE = 1e-12  # distances that differ by less than this share are equal

include "nearest.pxi"


cdef struct Work:
    # the constrained rows of a member, then its unlabelled rows, which are merged into nodes
    double *rows
    int64_t n_constrained
    uint64_t *hashes
    int32_t *table
    int64_t table_size
    double *low
    double *high
    double *mean
    double *sums
    double *degrees
    double *heat
    int64_t top  # exponent of the largest unit of a column
    Graph graph


cdef class Memory:
    """What a call needs for one member at a time, as pieces of four arrays."""

    cdef Work w
    cdef object _arrays

    def __init__(self, int64_t n_constrained, int64_t n_pairs, int64_t n, int64_t m, int64_t k):
        cdef Graph *g = &self.w.graph
        g.n_columns = m
        g.width = (m + 3) // 4 * 4
        g.group = GROUP * max(1, (2 * k + GROUP - 1) // GROUP)
        g.stride = (n + g.group - 1) // g.group * g.group
        self.w.n_constrained = n_constrained
        self.w.table_size = 16
        while self.w.table_size < 2 * n:
            self.w.table_size *= 2
        cdef int64_t n_values = n * m // 8 + 1  # of what counts as sparse
        wide = np.empty(
            (n_constrained + n) * (g.width + 1) + n_pairs + 5 * g.width + 2 * n, dtype=np.float64
        )
        narrow = np.empty(
            g.stride * (m + 1 + AT_ONCE) + g.group + n_values, dtype=np.float32
        )
        long_ = np.empty(4 * n + m + 4, dtype=np.int64)
        short = np.empty(self.w.table_size + n + 1 + 2 * n_values, dtype=np.int32)
        self._arrays = wide, narrow, long_, short
        cdef double[::1] wide_view = wide
        cdef float[::1] narrow_view = narrow
        cdef int64_t[::1] long_view = long_
        cdef int32_t[::1] short_view = short
        cdef double *d = &wide_view[0] if wide.size else NULL
        cdef float *f = &narrow_view[0]
        cdef int64_t *l = &long_view[0]
        cdef int32_t *s = &short_view[0]
        self.w.rows, d = d, d + (n_constrained + n) * g.width
        self.w.degrees, d = d, d + n_constrained + n
        self.w.heat, d = d, d + n_pairs
        self.w.low, d = d, d + g.width
        self.w.high, d = d, d + g.width
        self.w.mean, d = d, d + g.width
        self.w.sums, d = d, d + g.width
        g.unit, d = d, d + g.width
        g.masses, d = d, d + n
        g.copy = d
        g.rows = self.w.rows + n_constrained * g.width
        g.z, f = f, f + g.stride * m
        g.lengths, f = f, f + g.stride
        g.near, f = f, f + AT_ONCE * g.stride
        g.minima, f = f, f + g.group
        g.column_values = f
        g.counts, l = l, l + n
        g.starts, l = l, l + n + 1
        g.row_starts, l = l, l + n + 1
        g.column_starts, l = l, l + m + 1
        self.w.hashes = <uint64_t *>l
        self.w.table, s = s, s + self.w.table_size
        g.found, s = s, s + n + 1
        g.row_columns, s = s, s + n_values
        g.column_rows = s
        g.ends = NULL
        g.d2 = NULL
        g.share = NULL
        g.capacity = 0

    def __dealloc__(self):
        free(self.w.graph.ends)
        free(self.w.graph.d2)
        free(self.w.graph.share)


# The rows of a member ----------------------------------------------------------------------------

cdef inline void note(Work *w, int64_t c, int64_t place, double value, double scale,
                      const int32_t *copies, bint *whole) noexcept nogil:
    cdef Graph *g = &w.graph
    cdef uint64_t bits
    if place < w.n_constrained and copies[place] == 0:
        return
    w.low[c] = min(w.low[c], value)
    w.high[c] = max(w.high[c], value)
    if value == 0.0:
        return
    whole[0] = whole[0] and fabs(value) < 4096 and value == <double>(<int64_t>value)
    value *= scale
    w.rows[place * g.width + c] = value
    if place >= w.n_constrained:
        # the order in which the columns come does not matter
        memcpy(&bits, &value, sizeof(uint64_t))
        w.hashes[place - w.n_constrained] += mix(bits + mix(c))


cdef void gather(Work *w, const columns_t *X, const int32_t *features, const int32_t *exponents,
                 const int32_t *constrained, const int32_t *copies, const int32_t *unlabelled,
                 const int32_t *place) noexcept nogil:
    """Copy the values of a member, each column in a unit of its own, a power of two."""
    cdef Graph *g = &w.graph
    cdef int64_t c, i, at, start, n_seen, n_present = 0
    cdef double scale, largest, whole_length = 0.0
    cdef bint whole = True
    memset(w.rows, 0, (w.n_constrained + g.n_rows) * g.width * sizeof(double))
    memset(w.hashes, 0, g.n_rows * sizeof(uint64_t))
    memset(g.unit, 0, g.width * sizeof(double))
    w.top = exponents[features[0]]
    for c in range(g.n_columns):
        w.top = max(w.top, exponents[features[c]])
    for i in range(w.n_constrained):
        n_present += copies[i] > 0
    n_present += g.n_rows
    for c in range(g.n_columns):
        scale = ldexp(1.0, -exponents[features[c]])
        g.unit[c] = ldexp(1.0, exponents[features[c]] - w.top)
        w.low[c] = INFINITY
        w.high[c] = -INFINITY
        if X.is_sparse:
            n_seen = 0
            for at in range(X.indptr[features[c]], X.indptr[features[c] + 1]):
                i = place[X.indices[at]]
                if i < 0:
                    continue
                note(w, c, i, stored_value(X, at), scale, copies, &whole)
                n_seen += i >= w.n_constrained or copies[i] > 0
            if n_seen < n_present:
                w.low[c] = min(w.low[c], 0.0)
                w.high[c] = max(w.high[c], 0.0)
        else:
            start = features[c] * X.n_rows
            for i in range(w.n_constrained):
                note(w, c, i, stored_value(X, start + constrained[i]), scale, copies, &whole)
            for i in range(g.n_rows):
                note(w, c, w.n_constrained + i, stored_value(X, start + unlabelled[i]), scale,
                     copies, &whole)
        largest = max(fabs(w.low[c]), fabs(w.high[c]))
        whole_length += largest * largest
    # four times the longest row bounds all that a distance is added up from; in the largest unit it
    # must stay in the range of float32, from 2^-126 to 2^127
    g.exact = whole and 4.0 * whole_length < 16777216.0 and -50 < w.top < 60


cdef void merge(Work *w) noexcept nogil:
    """Make one node of identical unlabelled rows; nodes are in the order of their first rows."""
    cdef Graph *g = &w.graph
    cdef int64_t i, slot, size = g.width * sizeof(double), n_nodes = 0
    cdef uint64_t mask = w.table_size - 1
    memset(w.table, 0xFF, w.table_size * sizeof(int32_t))
    for i in range(g.n_rows):
        slot = mix(w.hashes[i]) & mask
        while w.table[slot] >= 0 and memcmp(
            g.rows + w.table[slot] * g.width, g.rows + i * g.width, size
        ):
            slot = (slot + 1) & mask
        if w.table[slot] >= 0:
            g.counts[w.table[slot]] += 1
            continue
        w.table[slot] = <int32_t>n_nodes
        if n_nodes < i:
            memcpy(g.rows + n_nodes * g.width, g.rows + i * g.width, size)
        g.counts[n_nodes] = 1
        n_nodes += 1
    g.n_nodes = n_nodes


cdef double centre(Work *w, const int32_t *copies) noexcept nogil:
    """Set the mean of each column; return the mean squared distance between two rows."""
    cdef Graph *g = &w.graph
    cdef int64_t i, c, n = 0, n_all = w.n_constrained + g.n_nodes
    cdef double difference, total = 0.0
    cdef double *row
    memset(w.mean, 0, g.width * sizeof(double))
    for i in range(n_all):
        w.degrees[i] = copies[i] if i < w.n_constrained else g.counts[i - w.n_constrained]
        n += <int64_t>w.degrees[i]
        row = w.rows + i * g.width
        for c in range(g.width):
            w.mean[c] += w.degrees[i] * row[c]
    for c in range(g.width):
        w.mean[c] /= n
    for i in range(n_all):
        row = w.rows + i * g.width
        for c in range(g.n_columns):
            difference = (row[c] - w.mean[c]) * g.unit[c]
            total += w.degrees[i] * (difference * difference)
    return 2.0 * total / (n - 1) if n > 1 else 0.0


include "cls.pxi"
