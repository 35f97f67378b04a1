"""The columns of X as the other kernels read them, without a copy."""

import numpy as np
from scipy import sparse

from libc.stdint cimport int32_t, int64_t

cdef extern from "extremes.h" nogil:
    void column_extremes(const columns_t *columns, int64_t column, double *low, double *high)

cdef extern from "moments.h" nogil:
    void column_moments(
        const columns_t *columns, int64_t n_columns, const int32_t *rows, int64_t n,
        const double *unit, double *mean, double *squares,
    )


cdef bint is_sound(const int64_t[::1] indptr, const int32_t[::1] indices,
                   int64_t n_rows) noexcept nogil:
    """Whether the rows of each sparse column ascend and are there."""
    cdef int64_t j, at, last
    if indptr[0] < 0:
        return False
    for j in range(indptr.shape[0] - 1):
        if indptr[j + 1] < indptr[j] or indptr[j + 1] > indices.shape[0]:
            return False
        last = -1
        for at in range(indptr[j], indptr[j + 1]):
            if indices[at] <= last:
                return False
            last = indices[at]
        if last >= n_rows:
            return False
    return True


cdef class Columns:
    """A Fortran-ordered array or a CSC matrix of float32 or float64, kept alive while it is read.

    With `has_missing`, NaN in an array is a value that is not there. A matrix whose row numbers would lead
    outside memory is refused: scipy believes what it was once told of them.
    """

    def __init__(self, X, bint has_missing=False):
        cdef const float[::1] float32
        cdef const double[::1] float64
        cdef const int32_t[::1] indices
        cdef const int64_t[::1] indptr
        self.X = X
        self.n_features = X.shape[1]
        self.c.n_rows = X.shape[0]
        self.c.is_sparse = sparse.issparse(X)
        self.c.has_missing = has_missing and not self.c.is_sparse
        self.c.is_float32 = X.dtype == np.float32
        if self.c.is_sparse:
            stored = X.data
            indices = np.asarray(X.indices, dtype=np.int32)
            indptr = np.asarray(X.indptr, dtype=np.int64)
            if stored.shape[0] < indices.shape[0] or not is_sound(indptr, indices, X.shape[0]):
                raise ValueError(
                    "The sparse X is damaged: in each column the numbers of the rows have to "
                    f"ascend, each of them once, from 0 to at most {X.shape[0] - 1}."
                )
            self._buffers = (stored, indices, indptr)
            self.c.indptr = &indptr[0]
            self.c.indices = &indices[0] if indices.shape[0] else NULL
        else:
            stored = X.ravel(order="K")
            self._buffers = (stored,)
        if stored.shape[0] == 0:
            self.c.values = NULL
        elif self.c.is_float32:
            float32 = stored
            self.c.values = &float32[0]
        else:
            float64 = stored
            self.c.values = &float64[0]

    def __reduce__(self):
        return Columns, (self.X, bool(self.c.has_missing))


def extremes(Columns X):
    """Return the least and the largest value of each column; NaN if one of them is not finite."""
    low, high = np.empty(X.n_features), np.empty(X.n_features)
    cdef double[::1] lows = low, highs = high
    cdef Py_ssize_t j
    with nogil:
        for j in range(X.n_features):
            column_extremes(&X.c, j, &lows[j], &highs[j])
    return low, high


def moments(Columns X, const double[::1] unit, const int32_t[::1] rows=None):
    """Return the mean of each column of a dense array and its sum of squares around it, in a unit.

    Zeros are counted rather than added, and the other values are added one by one in row order.

    Parameters
    ----------
    X : Columns
    unit : array of shape (n_features,)
    rows : array, optional
        Some of the rows; else all of them.

    Returns
    -------
    means, squares : ndarrays of shape (n_features,)
    """
    mean, squares = np.empty(X.n_features), np.empty(X.n_features)
    cdef double[::1] means = mean, squared = squares
    cdef Py_ssize_t n = X.c.n_rows if rows is None else rows.shape[0]
    if X.n_features == 0:
        return mean, squares
    if n == 0:
        raise ValueError("there is no row to take a mean of")
    with nogil:
        column_moments(
            &X.c, X.n_features, NULL if rows is None else &rows[0], n, &unit[0], &means[0],
            &squared[0],
        )
    return mean, squares
