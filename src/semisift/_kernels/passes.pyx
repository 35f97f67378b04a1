"""One row after the other into running sums of the columns: the same bits for blocks of any size."""

from libc.stdint cimport int32_t, int64_t

ctypedef fused number:
    float
    double

ctypedef fused place:
    int32_t
    int64_t


def add_sparse(const number[::1] values, const place[::1] columns, const double[::1] inverse,
               double[::1] sums, double[::1] low, double[::1] high, int64_t[::1] filled):
    """Add the stored values of sparse rows, times a factor, to the sums of their columns.

    `low` and `high` are the extremes of the stored values themselves, `filled` is their number.
    """
    cdef Py_ssize_t i, j
    cdef double value
    with nogil:
        for i in range(values.shape[0]):
            j = columns[i]
            value = values[i]
            sums[j] += value * inverse[j]
            filled[j] += 1
            if value < low[j]:
                low[j] = value
            if value > high[j]:
                high[j] = value


def add_squares_sparse(const number[::1] values, const place[::1] columns,
                       const double[::1] inverse, const double[::1] mean, double[::1] squares):
    """Add the squared distances of the stored values, times a factor, from the means."""
    cdef Py_ssize_t i, j
    cdef double distance
    with nogil:
        for i in range(values.shape[0]):
            j = columns[i]
            distance = values[i] * inverse[j] - mean[j]
            squares[j] += distance * distance


def add_dense(const number[:, ::1] values, const double[::1] inverse,
              double[::1] sums, double[::1] low, double[::1] high, int64_t[::1] filled):
    """Add dense rows, times a factor, to the sums of their columns; `filled` counts what is not 0."""
    cdef Py_ssize_t i, j
    cdef double value
    with nogil:
        for i in range(values.shape[0]):
            for j in range(values.shape[1]):
                value = values[i, j]
                sums[j] += value * inverse[j]
                filled[j] += value != 0
                if value < low[j]:
                    low[j] = value
                if value > high[j]:
                    high[j] = value


def add_squares_dense(const number[:, ::1] values, const double[::1] inverse,
                      const double[::1] mean, double[::1] squares):
    """Add the squared distances of the values that are not 0, times a factor, from the means."""
    cdef Py_ssize_t i, j
    cdef double distance
    with nogil:
        for i in range(values.shape[0]):
            for j in range(values.shape[1]):
                distance = values[i, j] * inverse[j] - mean[j]
                squares[j] += distance * distance if values[i, j] != 0 else 0.0


def note_values(const double[::1] values, const place[::1] columns, double[:, ::1] known,
                int64_t[::1] n_known):
    """Note the different values of each column, until there are more than `known` has room for."""
    cdef Py_ssize_t i, j, k, room = known.shape[1]
    cdef double value
    with nogil:
        for i in range(values.shape[0]):
            j = columns[i]
            if n_known[j] > room:
                continue
            value = values[i]
            for k in range(n_known[j]):
                if known[j, k] == value:
                    break
            else:
                if n_known[j] < room:
                    known[j, n_known[j]] = value
                n_known[j] += 1
