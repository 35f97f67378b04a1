"""Columns of dense and sparse matrices: in dense blocks, at scales at which nothing overflows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from semisift import kernels
from semisift.math import Bools, Floats, Ints
from semisift.math.blocks import blocks, dense_columns

# A sparse column that is filled more than this is worked on as a dense one: a dense product is then
# faster (measured on text and on single cells: the best share lies between 1/8 and 1/32).
FILLED = 1 / 16

# A sparse matrix of up to so many values, 8 MB, or so many columns is worked on as a dense one
# altogether: what is added in the same order has the same bits, and what ties ties in both forms.
FEW_VALUES = 1 << 20
FEW_COLUMNS = 64

# Columns whose largest span lies between these have squared distances in range as they are.
SAFE = 1e-50, 1e50

# Rows that are copied at once where values are brought from row after row to column after column:
# all at once took 1.0 s for 20,000 x 2,000, and so it takes 0.15 s.
ROWS_AT_ONCE = 128

# A denominator below this share of the largest one is zero: what is left of it is rounding.
NEGLIGIBLE = 1e-12

_SMALLEST = np.finfo(np.float64).tiny


def is_small(n_rows: int, n_columns: int, few: int | None = None) -> bool:
    """Return whether a sparse matrix is better worked on as a dense one, whatever fills it."""
    return n_columns <= (few or FEW_COLUMNS) or n_rows * n_columns <= FEW_VALUES


def filled_columns(X: Any) -> Bools:
    """Return which columns are better worked on as dense ones: all, if `X` is dense or small.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)

    Returns
    -------
    bool array of shape (p,)
    """
    if not issparse(X) or is_small(*X.shape):
        return np.ones(X.shape[1], dtype=bool)
    return np.diff(X.indptr) > FILLED * X.shape[0]


def blank_columns(X: Any, blank: Bools) -> Any:
    """Return a copy of `X` with zeros in some columns.

    Parameters
    ----------
    X : array, csr_array or csc_array of shape (n, p)
        A sparse one holds no explicit zeros, and so does the copy.
    blank : bool array of shape (p,)

    Returns
    -------
    array, csr_array or csc_array
    """
    if not issparse(X):
        copied = X.copy(order="K")
        copied[:, blank] = 0
        return copied
    copied = X.copy()
    if X.format == "csr":
        copied.data[blank[X.indices]] = 0
    else:
        copied.data[np.repeat(blank, np.diff(X.indptr))] = 0
    copied.eliminate_zeros()
    return copied


def dense_blocks(
    X: Any, columns: Ints, n_values: int
) -> Iterator[tuple[Ints, NDArray[np.floating]]]:
    """Yield some columns as dense blocks, which may be parts of `X` itself.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    columns : int array
        Which columns, ascending.
    n_values : int
        Largest size of a block, but at least one column is in it.

    Yields
    ------
    columns : int array
        The columns of the block.
    block : array of shape (n, width)
    """
    for some in blocks(len(columns), X.shape[0], n_values):
        part = columns[some]
        # a slice is a view, a list of columns a copy
        run = slice(part[0], part[-1] + 1) if part[-1] - part[0] + 1 == len(part) else part
        yield part, X[:, run].toarray(order="F") if issparse(X) else X[:, run]


def copy_rows(rows: NDArray[Any], into: NDArray[np.floating]) -> None:
    """Copy rows into as many rows of a Fortran-ordered array."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        into[start : start + ROWS_AT_ONCE] = rows[start : start + ROWS_AT_ONCE]


def some_rows(X: NDArray[np.floating], rows: Ints) -> NDArray[np.floating]:
    """Return some rows of a Fortran-ordered array in the same order, copied once."""
    return np.take(X.T, rows, axis=1).T


def extremes(X: Any) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return the least and the largest value of each column; not finite if another one is not."""
    columns = X if issparse(X) else np.asfortranarray(X)
    return kernels.columns.extremes(kernels.columns.Columns(columns))


def spans(X: Any, *, has_gaps: bool = False) -> Floats:
    """Return the difference between the largest and the smallest value of each column."""
    low, high = known_extremes(X) if has_gaps else extremes(X)
    with np.errstate(over="ignore"):
        span = np.asarray(high, dtype=np.float64) - np.asarray(low, dtype=np.float64)
    return np.minimum(span, np.finfo(np.float64).max)


def known_extremes(X: NDArray[np.floating]) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return the least and the largest value of each column besides gaps; 0 where all are gaps."""
    found = np.empty((2, X.shape[1]), dtype=X.dtype)
    for columns in blocks(X.shape[1], len(X)):
        found[0, columns] = np.fmin.reduce(X[:, columns], axis=0)
        found[1, columns] = np.fmax.reduce(X[:, columns], axis=0)
    np.nan_to_num(found, copy=False, nan=0.0)
    return found[0], found[1]


def spread_of_counted(X: Any, weights: Floats | None) -> Floats:
    """Return the standard deviation of the values of each column that are there."""
    X = X.toarray() if issparse(X) else X
    unit = power_of_two(np.fmax.reduce(np.abs(X), axis=0, initial=0.0))
    total, _, squares = counted_moments(X, unit, weights)
    return np.asarray(np.sqrt(squares / np.where(total > 0, total, 1.0)) * unit)


def counted_moments(
    X: NDArray[np.floating], unit: Floats, weights: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """Return how many rows count in each column, their mean and their sum of squares around it.

    Gaps do not count, and other rows as often as their weights say.

    Parameters
    ----------
    X : float array of shape (n, p)
    unit : float array of shape (p,)
        In which means and squares are.
    weights : float array of shape (n,) or None

    Returns
    -------
    total, means, squares : float arrays of shape (p,)
        The latter two are 0 where no row counts.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [4.0, np.nan]])
    >>> total, means, squares = counted_moments(X, np.ones(2), np.array([2.0, 1.0]))
    >>> total.tolist(), means.tolist(), squares.tolist()
    ([3.0, 2.0], [2.0, 5.0], [6.0, 0.0])
    """
    known = ~np.isnan(X)
    counted = known.astype(np.float64) if weights is None else known * weights[:, None]
    total = counted.sum(axis=0)
    values = np.where(known, X, 0.0) / unit
    means = (values * counted).sum(axis=0) / np.where(total > 0, total, 1.0)
    return total, means, (np.square(values - means) * counted).sum(axis=0)


def power_of_two(values: NDArray[np.floating]) -> Floats:
    """Return a power of two near each value, and 1 for 0: a unit by which division is exact.

    Its inverse is one as well, so that the smallest values, below 1e-308, are small in it.
    """
    exponent = np.clip(np.frexp(values)[1], -1023, 1023)
    return np.ldexp(np.ones(np.shape(values)), np.where(values > 0, exponent, 0))


def column_factors(
    X: Any, feature_scaling: str | None, width: Floats | None = None
) -> tuple[Floats, float]:
    """Return what columns are multiplied by to measure distances, and the unit of the distances.

    Constant columns get 0. The unit is a power of two: with it no distance overflows. Scaling
    divides by `width`, the difference between the extremes if it is not given.
    """
    span = spans(X) if width is None else width
    if feature_scaling is None:
        largest = span.max(initial=0.0)
        unit = 1.0 if SAFE[0] < largest < SAFE[1] else float(power_of_two(largest))
        return np.where(span > 0, 1 / unit, 0.0), unit
    limit = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        factors = np.divide(1.0, span, out=np.zeros_like(span), where=span > 0)
    return np.minimum(factors, limit) / np.sqrt(X.shape[1]), 1.0


def column_moments(X: Any, unit: Floats, rows: Ints | None = None) -> tuple[Floats, Floats]:
    """Return the mean of each column and its sum of squares around it, in a unit.

    Parameters
    ----------
    X : array or sparse array of shape (n, p)
    unit : float array of shape (p,)
    rows : int array, optional
        Some of the rows; else all of them.

    Returns
    -------
    means, squares : float arrays of shape (p,)
    """
    if issparse(X):
        X = X.tocsr()
        return _sparse_moments(X if rows is None else X[rows], unit)
    columns = kernels.columns.Columns(as_columns(X))
    some = None if rows is None else rows.astype(np.int32)
    return kernels.columns.moments(columns, np.asarray(unit, dtype=np.float64), some)


def moments_of_counted(
    X: Any, unit: Floats, rows: Ints | None = None, weights: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """Return `counted_moments` of all columns, in blocks.

    Parameters
    ----------
    X : array, which may have gaps, or csr_array, of shape (n, p)
    unit : float array of shape (p,)
    rows : int array, optional
        Some of the rows; else all of them.
    weights : float array of shape (n,), optional
        Of all rows; else each row counts once.

    Returns
    -------
    total, means, squares : float arrays of shape (p,)
    """
    if rows is not None:
        X, weights = X[rows], None if weights is None else weights[rows]
    found = np.empty((3, X.shape[1]))
    for columns in blocks(X.shape[1], X.shape[0]):
        found[:, columns] = counted_moments(dense_columns(X, columns), unit[columns], weights)
    return found[0], found[1], found[2]


def scaled_to_all(sums: Floats, known: Floats, every: float | Floats) -> Floats:
    """Return sums over what is known of something as if all of it were known.

    Parameters
    ----------
    sums : float array of shape (p,)
    known : float array of shape (p,)
        How much is known for each column.
    every : float
        How much there is.

    Returns
    -------
    float array of shape (p,)
        ``sums * every / known``; NaN where nothing is known of what there is.
    """
    share = np.divide(every, known, out=np.full(len(sums), np.nan), where=known > 0)
    return sums * np.where(known == every, 1.0, share)


def as_columns(X: NDArray[Any]) -> NDArray[np.floating]:
    """Return an array as the kernels read it: column after column, in floats."""
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    return np.asarray(X, dtype=dtype, order="F")


def _sparse_moments(X: csr_array, unit: Floats) -> tuple[Floats, Floats]:
    n_rows, n_columns = X.shape
    values = X.data / unit[X.indices]
    means = np.bincount(X.indices, values, n_columns) / n_rows
    squares = np.bincount(X.indices, (values - means[X.indices]) ** 2, n_columns)
    n_zeros = n_rows - np.bincount(X.indices, minlength=n_columns)
    return means, squares + n_zeros * means**2


def ratio(
    numerator: Floats, denominator: Floats, negligible: float | Floats | None = None
) -> Floats:
    """Divide; where the denominator vanishes, infinity or, if both do or one is NaN, NaN.

    Parameters
    ----------
    numerator, denominator : float arrays of shape (..., p)
        Not negative.
    negligible : float or array of shape (..., p), optional
        What vanishes is not above it; else what is tiny against the largest along the last axis.

    Returns
    -------
    float array of shape (..., p)
    """
    below = NEGLIGIBLE * _largest(denominator) if negligible is None else negligible
    is_zero = ~(denominator > below)
    scores = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=scores, where=~is_zero)
    below = NEGLIGIBLE * _largest(numerator) if negligible is None else negligible
    scores[is_zero & (numerator > below) & ~np.isnan(denominator)] = np.inf
    return scores


def as_if_complete(ratios: Floats, left: Floats, every: float | Floats, n_classes: int) -> Floats:
    """Return ratios of what is between classes to what is within, as of complete columns.

    The fewer values a column has, the higher its ratio is by chance. With nu degrees of freedom
    within classes, ``(nu - 1/2) log(1 + ratio)`` for two classes, and ``nu log(1 + ratio)`` for
    more, has nearly the same distribution for any nu (the likelihood ratio, with Bartlett's
    correction where it is negative), so a column with missing values gets the ratio for which a
    complete one has the same value of it, and so nearly the same p-value: 0 where no degree of
    freedom is left.

    M. S. Bartlett (1937). Properties of sufficiency and statistical tests. Proceedings of the Royal
    Society of London A 160.

    Parameters
    ----------
    ratios : float array of shape (..., p)
    left : float array of shape (..., p)
        Degrees of freedom within classes that missing values leave.
    every : float or array of shape (..., p)
        Those of a complete column.
    n_classes : int

    Returns
    -------
    float array of shape (..., p)
        As they are where none is missing.

    Examples
    --------
    >>> F, freedom = np.array([7.0, 7.0, 7.0]), np.array([8.0, 3.0, 0.0])
    >>> as_if_complete(F, freedom, 8.0, 2).round(6).tolist()
    [7.0, 1.0, 0.0]
    """
    correction = min(0.0, (n_classes - 3) / 2)  # above three classes few values count for less
    share = np.maximum(left + correction, 0.0) / np.maximum(every + correction, _SMALLEST)
    share = np.where(left > 0, np.minimum(share, 1.0), 0.0)
    return np.where(left >= every, ratios, np.expm1(share * np.log1p(ratios)))


def _largest(values: Floats) -> Floats:
    return np.max(values, axis=-1, initial=0.0, where=np.isfinite(values), keepdims=True)
