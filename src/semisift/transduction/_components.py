"""The rows on a scale of their own, and their principal components.

Measurements are standardised: each column has mean 0 and variance 1. Counts, as of words or of
molecules in a cell, are divided by the total of their row, brought to the median total, and taken
as log(1 + x); logarithms are left as they are; the columns of both are centred.

The components are those of the largest variance: exact where there are few rows or columns, else by
a randomised range finder with four power iterations, whose cost is linear in rows and columns. They
depend on the seed of the training data alone, whatever the number of threads.

Rows count as often as their weights say. A gap is at the mean of its column: a row of which little
is known stands in the middle, where no class is likely.

N. Halko, P.-G. Martinsson, J. A. Tropp (2011). Finding structure with randomness: probabilistic
algorithms for constructing approximate matrix decompositions. SIAM Review 53(2).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr, svd
from scipy.sparse import csc_array, csr_array, issparse

from semisift.base._data_kind import kind_of_data
from semisift.base._pairs import units
from semisift.base._training_data import TrainingData
from semisift.parallel import one_blas_thread
from semisift.preprocessing._counts import log_of_shares, usual_total
from semisift.utils._columns import blocks, column_moments, counted_moments, is_small, some_rows
from semisift.utils._typing import Bools, Floats, Ints

# Rows farther away than this, in standard deviations, are taken as so far away.
MAX = 1e100

# What the training data keeps.
SCALED, COMPONENTS = "scaled rows", "components"

N_COMPONENTS = 50

# Directions drawn beyond those that are wanted, and how often the range is refined.
N_MORE = 10
N_POWERS = 4

# Of so many rows or columns, the smaller number counts, components are exact.
MIN = 200

# Components of less variance, against the first, are rounding.
NEGLIGIBLE = 1e-10

# Separates the drawn directions from the other draws with the same seed.
RANGE_STREAM = 0x737664


@dataclass(frozen=True, eq=False)
class ClassSums:
    """What rows add up to, with the shares of the classes as weights.

    Attributes
    ----------
    sums : float array of shape (n_classes, p)
        Of the columns, scaled and centred.
    sizes : float array of shape (n_classes, 1) or (n_classes, p)
        Of the shares; with missing values those of the rows that have a value in the column.
    total : float array of shape (1,) or (p,)
        How many rows count.
    squares : float array of shape (p,)
        Sums of squares of the centred columns.
    """

    sums: Floats
    sizes: Floats
    total: Floats
    squares: Floats


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """The rows of the training data on the scale on which they are compared.

    Attributes
    ----------
    values : Fortran-ordered array or csc_array of shape (n, p)
        Of float64, but large dense ones of float32. Centred if they are dense.
    centre : float array of shape (p,)
        What is still to be subtracted from each column: 0 if they are dense.
    squares : float array of shape (p,)
        Sum of squares of each centred column.
    known : bool array of shape (n, p) or None
        Which values are there, where there are missing values; `values` are 0 at missing values.
    weights : float array of shape (n,) or None
        How often each row counts.
    """

    values: Any
    centre: Floats
    squares: Floats
    known: Bools | None = None
    weights: Floats | None = None

    @cached_property
    def total(self) -> Floats:
        """How many rows count: one number, or with missing values one for each column."""
        everyone = np.ones((self.values.shape[0], 1))
        return self.weight_sums(everyone if self.weights is None else self.weights[:, None])[0]

    def weight_sums(self, weights: Floats) -> Floats:
        """Return what weights of rows, of shape (n, q), add up to in each column.

        The shape is (q, 1), or (q, p) where values are missing.
        """
        if self.known is None:
            return weights.sum(axis=0)[:, None]
        found = np.empty((weights.shape[1], self.known.shape[1]))
        for columns in blocks(self.known.shape[1], len(self.known)):
            found[:, columns] = weights.T @ self.known[:, columns].astype(np.float64)
        return found

    def times(self, right: NDArray[np.floating]) -> NDArray[np.floating]:
        """Multiply the centred rows by a matrix of shape (p, q)."""
        if not issparse(self.values):
            return np.asarray(self.values @ right)
        return np.asarray(self.by_row @ right) - self.centre @ right

    def transposed_times(self, right: NDArray[np.floating]) -> NDArray[np.floating]:
        """Multiply the transpose of the centred rows by a matrix of shape (n, q)."""
        product = np.asarray(self.values.T @ right)
        return product - np.outer(self.centre, right.sum(axis=0)) if self.is_sparse else product

    def class_sums(self, shares: Floats) -> ClassSums:
        """Return the sums of the rows by class, with shares of shape (n, n_classes)."""
        weighed = weighted(shares, self.weights)
        return ClassSums(self.sums(weighed), self.weight_sums(weighed), self.total, self.squares)

    def sums(self, weights: Floats) -> Floats:
        """Return the weighted sums of the centred columns, of shape (q, p), by weights (n, q).

        Equal columns have equal bits.
        """
        if self.is_sparse:
            found = np.asarray(self.values.T @ weights).T
            return found - weights.sum(axis=0)[:, None] * self.centre
        n_rows, n_columns = self.values.shape
        found = np.empty((weights.shape[1], n_columns))
        by_class = np.asfortranarray(weights)
        for columns in blocks(n_columns, n_rows):
            block = self.values[:, columns].astype(np.float64, order="F")
            for number in range(weights.shape[1]):
                found[number, columns] = (block * by_class[:, number, None]).sum(axis=0)
        return found

    def take(self, rows: Ints) -> Floats:
        """Return some rows, centred, as a dense float64 array with its missing values."""
        if self.is_sparse:
            return np.asarray(self.by_row[rows].toarray() - self.centre)
        taken = self.values[rows].astype(np.float64)
        return taken if self.known is None else np.where(self.known[rows], taken, np.nan)

    def part(self, rows: Ints) -> "ScaledRows":
        """Return some of the rows, centred anew."""
        weights = None if self.weights is None else self.weights[rows]
        if self.is_sparse:
            return _sparse(self.by_row[rows].tocsc(), weights)
        some = some_rows(self.values, rows)
        if self.known is not None or weights is not None:
            if self.known is not None:
                some[~self.known[rows]] = np.nan
            unit = np.ones(some.shape[1])
            return _centred(some, unit, unit, self.known is not None, weights)
        some -= some.mean(axis=0)
        return ScaledRows(some, np.zeros(some.shape[1]), np.square(some).sum(axis=0, dtype=float))

    @property
    def is_sparse(self) -> bool:
        """Whether `values` are sparse."""
        return bool(issparse(self.values))

    @cached_property
    def by_row(self) -> Any:
        """Sparse `values`, row after row."""
        return self.values.tocsr()


def scaled_rows(data: TrainingData) -> ScaledRows:
    """Return the rows of the training data on the scale on which they are compared; made once."""
    made: ScaledRows = data.cached(SCALED, _scale)
    return made


def components(data: TrainingData) -> Floats:
    """Return the first principal components of the rows; made once, whatever their labels.

    Columns that do not count for the neighbour graph do not count here either.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    float array of shape (n, d)
        Centred, of falling variance; d is at most 50. One of zeros where no two rows differ.
    """
    made: Floats = (data.graph_source or data).cached(COMPONENTS, _find_components)
    return made


def make_components(data: TrainingData) -> None:
    """Make what `share_components` takes a part of, also where components were sent alone."""
    scaled_rows(data)
    components(data)


def share_components(data: TrainingData, part: TrainingData, rows: Ints) -> None:
    """Let the training data of some of the rows have what was made of all of them, centred anew.

    The directions of the components are then those of all rows.
    """
    if {SCALED, COMPONENTS} <= data.made.keys():
        part.made[SCALED] = data.made[SCALED].part(rows)
        T = data.made[COMPONENTS][rows]
        part.made[COMPONENTS] = T - mean_row(T, part.design.weights)


def _scale(data: TrainingData) -> ScaledRows:
    X = data.X
    if data.is_sparse and is_small(*X.shape):
        X = X.toarray(order="F")
    unit, factor = units_and_factors(data)
    if kind_of_data(data) == "counts":
        X = log_of_shares(X, usual_total(X))
    return _centred(X, unit, factor, data.has_missing, data.design.weights)


def units_and_factors(data: TrainingData) -> tuple[Floats, Floats]:
    """Return what each column is divided by, and what it is multiplied by once it is centred."""
    factor = np.where(data.constant, 0.0, 1.0)
    if kind_of_data(data) != "measurements":
        return np.ones(data.n_features), factor
    unit = units(data)
    np.divide(unit, data.spread, out=factor, where=~data.constant)
    return unit, factor


def _centred(
    X: Any, unit: Floats, factor: Floats, has_missing: bool, weights: Floats | None
) -> ScaledRows:
    """Divide columns by a unit, multiply them by a factor, and centre them if they are dense."""
    n_rows, n_columns = X.shape
    if issparse(X):
        values = csc_array(X, dtype=np.float64, copy=True)
        column = np.repeat(np.arange(n_columns), np.diff(values.indptr))
        values.data = values.data / unit[column] * factor[column]
        return _sparse(values, weights)
    dtype = np.float64 if is_small(n_rows, n_columns) else np.float32
    scaled = np.empty(X.shape, dtype=dtype, order="F")
    squares = np.empty(n_columns)
    known = np.asfortranarray(~np.isnan(X)) if has_missing else None
    for columns in blocks(n_columns, n_rows):
        block = X[:, columns].astype(np.float64, order="F") / unit[columns]
        if has_missing or weights is not None:
            _, means, own = counted_moments(block, np.ones(block.shape[1]), weights)
            block = (block - means) * factor[columns]
            block[np.isnan(block)] = 0.0
            squares[columns] = own * factor[columns] ** 2
        else:
            block -= block.mean(axis=0)
            block *= factor[columns]
            squares[columns] = np.square(block).sum(axis=0)
        scaled[:, columns] = block
    return ScaledRows(scaled, np.zeros(n_columns), squares, known, weights)


def _sparse(values: csc_array, weights: Floats | None) -> ScaledRows:
    """Return sparse rows, which are centred where they are used."""
    unit = np.ones(values.shape[1])
    if weights is None:
        return ScaledRows(values, *column_moments(values, unit))
    column = np.repeat(np.arange(len(unit)), np.diff(values.indptr))
    own, total = weights[values.indices], weights.sum()
    centre = np.bincount(column, own * values.data, len(unit)) / total
    squares = np.bincount(column, own * (values.data - centre[column]) ** 2, len(unit))
    squares = squares + (total - np.bincount(column, own, len(unit))) * centre**2
    return ScaledRows(values, centre, squares, weights=weights)


def _find_components(data: TrainingData) -> Floats:
    rows = scaled_rows(data)
    n_rows, n_columns = rows.values.shape
    d = min(N_COMPONENTS, n_rows - 1, n_columns)
    if d < 1 or not rows.squares.any():
        return np.zeros((n_rows, 1))
    with one_blas_thread():
        exact = min(n_rows, n_columns) <= MIN
        root = None if rows.weights is None else np.sqrt(rows.weights)
        found = _exact(rows, d, root) if exact else _randomised(rows, d, root, data.seed)
        found = _of_rows(rows, found, root)
    found = found - mean_row(found, rows.weights)
    variance = weighted(np.square(found), rows.weights).sum(axis=0)
    found = found[:, variance > NEGLIGIBLE * variance[0]]
    # of the two directions of a component, the one of its largest value
    has_weight = None if rows.weights is None else rows.weights > 0
    largest = np.abs(weighted(found, has_weight)).argmax(axis=0)
    return np.asarray(found * np.where(found[largest, np.arange(found.shape[1])] < 0, -1.0, 1.0))


def _exact(rows: ScaledRows, d: int, root: Floats | None) -> Floats:
    """Return components by the smaller of the two matrices of inner products."""
    n_rows, n_columns = rows.values.shape
    Z = rows.values.toarray() - rows.centre if rows.is_sparse else rows.values
    Z = weighted(Z, root)
    if n_rows <= n_columns:
        gram = (Z @ Z.T).astype(np.float64)
        values, vectors = eigh(gram, subset_by_index=[n_rows - d, n_rows - 1])
        return np.asarray(vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)))
    gram = (Z.T @ Z).astype(np.float64)
    _, vectors = eigh(gram, subset_by_index=[n_columns - d, n_columns - 1])
    return np.asarray(Z @ vectors[:, ::-1])


def _randomised(rows: ScaledRows, d: int, root: Floats | None, seed: int) -> Floats:
    size = min(d + N_MORE, *rows.values.shape)
    rng = np.random.default_rng([seed, RANGE_STREAM])
    start = rng.normal(size=(rows.values.shape[1], size)).astype(rows.values.dtype)
    basis = _orthonormal(weighted(rows.times(start), root))
    for _ in range(N_POWERS):
        turned = _orthonormal(rows.transposed_times(weighted(basis, root)))
        basis = _orthonormal(weighted(rows.times(turned), root))
    small = rows.transposed_times(weighted(basis, root)).T.astype(np.float64)
    left, values, _ = svd(small @ small.T)
    return np.asarray((basis.astype(np.float64) @ left)[:, :d] * np.sqrt(values[:d]))


def _of_rows(rows: ScaledRows, found: Floats, root: Floats | None) -> Floats:
    """Return the components of rows from those of rows times the roots of their weights."""
    if root is None:
        return found
    lengths = np.square(found).sum(axis=0)
    directions = rows.transposed_times(weighted(found, root).astype(rows.values.dtype))
    return rows.times(directions / np.where(lengths > 0, lengths, 1.0)).astype(np.float64)


def mean_row(T: Floats, weights: Floats | None) -> Floats:
    """Return the mean of rows that count as often as their weights say."""
    return np.asarray(T.mean(axis=0) if weights is None else weights @ T / weights.sum())


def weighted(rows: NDArray[Any], weights: Floats | Bools | None) -> NDArray[Any]:
    """Return rows times their weights, in their own type; themselves where they have none."""
    return rows if weights is None else rows * weights[:, None].astype(rows.dtype)


def _orthonormal(columns: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.asarray(qr(columns, mode="economic", overwrite_a=True, check_finite=False)[0])


# Rows that were not there when the components were found ------------------------------------------


@dataclass(frozen=True, eq=False)
class Scale:
    """The scale of the columns, on which rows are compared.

    Attributes
    ----------
    usual : (float, float) or None
        The total to which rows of counts are brought, as `usual_total` returns it; None for
        measurements.
    unit, centre, factor : float arrays of shape (p,)
        Columns are divided by the first, less the second, times the third.
    """

    usual: tuple[float, float] | None
    unit: Floats
    centre: Floats
    factor: Floats

    def scale(self, rows: Any) -> Any:
        """Return a block of rows on the scale, in float64; sparse ones are not centred."""
        if not issparse(rows):
            rows = rows.astype(np.float64)
            return self._scaled(rows if self.usual is None else log_of_shares(rows, self.usual))
        values = csr_array(rows, dtype=np.float64, copy=True)
        if self.usual is not None:
            values = log_of_shares(values, self.usual)
        scaled = values.data / self.unit[values.indices] * self.factor[values.indices]
        values.data = np.clip(scaled, -MAX, MAX)
        return values

    def _scaled(self, rows: Floats) -> Floats:
        """Return rows on the scale."""
        with np.errstate(over="ignore"):
            scaled = (rows / self.unit - self.centre) * self.factor
        np.clip(scaled, -MAX, MAX, out=scaled)
        scaled[np.isnan(scaled)] = 0.0
        return scaled


@dataclass(frozen=True, eq=False)
class Axes(Scale):
    """How rows become components: the scale of the columns, and the loadings.

    Attributes
    ----------
    loadings : float array of shape (p, d)
    """

    loadings: Floats

    def place_scaled(self, rows: Any) -> Floats:
        """Return the components of rows that `scale` returned."""
        found = np.asarray(rows @ self.loadings)
        return found - (self.centre * self.factor) @ self.loadings if issparse(rows) else found

    def place(self, X: Any) -> Floats:
        """Return the components of rows."""
        with one_blas_thread():
            if issparse(X) and not is_small(*X.shape):
                return self._place_sparse(X.tocsc())
            found = np.empty((X.shape[0], self.loadings.shape[1]))
            for some in blocks(*X.shape):
                rows = X[some].toarray() if issparse(X) else X[some].astype(np.float64)
                rows = rows if self.usual is None else log_of_shares(rows, self.usual)
                found[some] = self._scaled(rows) @ self.loadings
            return found

    def _place_sparse(self, X: csc_array) -> Floats:
        """Return the components of sparse rows: their zeros are counted, not multiplied."""
        values = X.copy() if self.usual is None else log_of_shares(X, self.usual)
        column = np.repeat(np.arange(X.shape[1]), np.diff(values.indptr))
        with np.errstate(over="ignore"):
            scaled = values.data / self.unit[column] * self.factor[column]
        values.data = np.clip(scaled, -MAX, MAX)
        return np.asarray(values @ self.loadings) - (self.centre * self.factor) @ self.loadings


def find_scale(data: TrainingData) -> Scale:
    """Return the scale on which the rows of the training data are compared."""
    X, weights = data.X, data.design.weights
    unit, factor = units_and_factors(data)
    usual = usual_total(X) if kind_of_data(data) == "counts" else None
    X = X if usual is None else log_of_shares(X, usual)
    if weights is None and not data.has_missing:
        centre = column_moments(X, unit)[0]
    elif issparse(X):
        assert weights is not None
        centre = np.asarray(weights @ X / weights.sum()) / unit
    else:
        centre = np.empty(X.shape[1])
        for columns in blocks(X.shape[1], len(X)):
            centre[columns] = counted_moments(X[:, columns], unit[columns], weights)[1]
    return Scale(usual, unit, centre, factor)


def find_axes(data: TrainingData) -> Axes:
    """Return the axes of the components of the training data.

    Rows of the training data are placed where their components are: to rounding, or to the error of
    the randomised range finder.
    """
    T, rows = components(data), scaled_rows(data)
    squares = weighted(np.square(T), rows.weights).sum(axis=0)
    with one_blas_thread():
        weighed = weighted(T, rows.weights)
        loadings = rows.transposed_times(weighed).astype(np.float64, copy=False)
    loadings /= np.where(squares > 0, squares, 1.0)
    return Axes(**vars(find_scale(data)), loadings=loadings)
