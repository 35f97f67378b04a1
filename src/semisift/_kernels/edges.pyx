"""Sums over the edges of a graph for all columns."""

import numpy as np

from libc.stdint cimport int64_t

cdef extern from "edges.h" nogil:
    enum: LANES
    void side_by_side_float32(const float *X, int64_t row_step, const int64_t *offsets,
                              const double *factors, const int64_t *rows, int64_t n, double *out)
    void side_by_side_float64(const double *X, int64_t row_step, const int64_t *offsets,
                              const double *factors, const int64_t *rows, int64_t n, double *out)
    void add_edges(const double *values, int64_t n, const int64_t *starts, const int64_t *ends,
                   const double *weights, double *sums)
    void add_nodes(const double *values, int64_t n, const double *degrees, double volume,
                   double *means, double *sums)

ctypedef fused real:
    float
    double


def column_sums(const real[:, :] X, const int64_t[::1] rows, const double[::1] factors,
                const double[::1] degrees, const int64_t[::1] starts, const int64_t[::1] ends,
                const double[::1] weights):
    """Return three sums for each column of X, multiplied by its factor.

    They are the weighted squared differences over the edges, the squared deviations from the mean
    weighted by the degrees, and that mean. Node i is the row rows[i] of X; its edges start at
    starts[i], and each edge is there once.
    """
    cdef int64_t n = rows.shape[0], p = X.shape[1], i, l, column
    cdef int64_t n_groups = (p + LANES - 1) // LANES
    # signed, as steps back are negative
    cdef int64_t size = sizeof(real), row_step = X.strides[0] // size, step = X.strides[1] // size
    cdef int64_t offsets[LANES]
    cdef double group_factors[LANES]
    cdef double volume = np.sum(degrees)
    cdef const int64_t *end = &ends[0] if ends.shape[0] else NULL
    cdef const double *weight = &weights[0] if ends.shape[0] else NULL
    sums = np.empty((3, n_groups * LANES))
    side_by_side = np.empty(n * LANES)
    cdef double[:, ::1] out = sums
    cdef double[::1] values = side_by_side
    with nogil:
        for i in range(n_groups):
            for l in range(LANES):  # the last column also fills what is left of the last group
                column = min(i * LANES + l, p - 1)
                offsets[l] = column * step
                group_factors[l] = factors[column]
            column = i * LANES
            if real is float:
                side_by_side_float32(&X[0, 0], row_step, offsets, group_factors, &rows[0], n,
                                     &values[0])
            else:
                side_by_side_float64(&X[0, 0], row_step, offsets, group_factors, &rows[0], n,
                                     &values[0])
            add_edges(&values[0], n, &starts[0], end, weight, &out[0, column])
            add_nodes(&values[0], n, &degrees[0], volume, &out[2, column], &out[1, column])
    return sums[:, :p]
