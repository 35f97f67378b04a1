"""The rows on a scale of their own, and their principal components.

Measurements are standardised: each column has mean 0 and variance 1. Counts, as of words or of
molecules in a cell, are divided by the total of their row, brought to the median total, and taken
as log(1 + x); their columns are centred.

The components are those of the largest variance: exact where there are few rows or columns, else by
a randomised range finder with four power iterations, whose cost is linear in rows and columns. They
depend on the seed of the problem alone, whatever the number of threads.

N. Halko, P.-G. Martinsson, J. A. Tropp (2011). Finding structure with randomness: probabilistic
algorithms for constructing approximate matrix decompositions. SIAM Review 53(2).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr, svd
from scipy.sparse import csc_array, issparse

from semisift._problem import Problem
from semisift._threads import one_blas_thread
from semisift.graphs.pairs import units
from semisift.math import Floats
from semisift.math.blocks import blocks
from semisift.math.columns import column_moments, power_of_two
from semisift.transduction.kind import kind_of_data

N_COMPONENTS = 50

# Directions drawn beyond those that are wanted, and how often the range is refined.
N_MORE = 10
N_POWERS = 4

# Of so many rows or columns, the smaller number counts, components are exact.
FEW = 200

# Components of less variance, against the first, are rounding.
NEGLIGIBLE = 1e-10

# Separates the drawn directions from the other draws with the same seed.
RANGE_STREAM = 0x737664


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """The rows of a problem on the scale on which they are compared.

    Attributes
    ----------
    values : Fortran-ordered float32 array, or float64 csc_array, of shape (n, p)
        Centred if they are dense.
    centre : float array of shape (p,)
        What is still to be subtracted from each column: 0 if they are dense.
    squares : float array of shape (p,)
        Sum of squares of each centred column.
    """

    values: Any
    centre: Floats
    squares: Floats

    def times(self, right: NDArray[np.floating]) -> NDArray[np.floating]:
        """Multiply the centred rows by a matrix of shape (p, q)."""
        if not issparse(self.values):
            return np.asarray(self.values @ right)
        return np.asarray(self._by_row @ right) - self.centre @ right

    def transposed_times(self, right: NDArray[np.floating]) -> NDArray[np.floating]:
        """Multiply the transpose of the centred rows by a matrix of shape (n, q)."""
        product = np.asarray(self.values.T @ right)
        return product - np.outer(self.centre, right.sum(axis=0)) if self.is_sparse else product

    def sums(self, weights: Floats) -> Floats:
        """Return the weighted sums of the centred columns: equal columns have equal bits.

        Parameters
        ----------
        weights : float array of shape (n, q)

        Returns
        -------
        float array of shape (q, p)
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

    @property
    def is_sparse(self) -> bool:
        """Whether `values` are sparse."""
        return bool(issparse(self.values))

    @property
    def _by_row(self) -> Any:
        return self.values.tocsr()


def scaled_rows(problem: Problem) -> ScaledRows:
    """Return the rows of a problem on the scale on which they are compared; made once."""
    made: ScaledRows = problem.once("scaled rows", _scale)
    return made


def components(problem: Problem) -> Floats:
    """Return the first principal components of the rows; made once, whatever their labels.

    Columns that do not count for the neighbour graph do not count here either.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    float array of shape (n, d)
        Centred, of falling variance; d is at most 50, and 0 where no two rows differ.
    """
    made: Floats = (problem.graph_source or problem).once("components", _find_components)
    return made


def _scale(problem: Problem) -> ScaledRows:
    if kind_of_data(problem) == "counts":
        values = _log_of_shares(problem)
        if not problem.is_sparse:
            return _centred(values, np.ones(problem.n_features), np.ones(problem.n_features))
        mean, squares = column_moments(values, np.ones(problem.n_features))
        return ScaledRows(values, mean, squares)
    unit = units(problem)
    spread = np.where(problem.constant, 1.0, problem.spread / unit)
    if not problem.is_sparse:
        return _centred(problem.X, unit, spread)
    values = csc_array(problem.X, dtype=np.float64, copy=True)
    values.data /= np.repeat(unit * spread, np.diff(values.indptr))
    mean, squares = column_moments(values, np.ones(problem.n_features))
    return ScaledRows(values, mean, squares)


def _centred(X: NDArray[np.floating], unit: Floats, spread: Floats) -> ScaledRows:
    """Centre dense columns and divide them by `unit` and `spread`."""
    values = np.empty(X.shape, dtype=np.float32, order="F")
    squares = np.empty(X.shape[1])
    for columns in blocks(X.shape[1], len(X)):
        block = X[:, columns].astype(np.float64, order="F") / unit[columns]
        block -= block.mean(axis=0)
        block /= spread[columns]
        values[:, columns] = block
        squares[columns] = np.square(block).sum(axis=0)
    return ScaledRows(values, np.zeros(X.shape[1]), squares)


def _log_of_shares(problem: Problem) -> Any:
    """Return log(1 + x) of counts that are brought to the median total of a row."""
    X = problem.X
    largest = X.data.max(initial=0.0) if problem.is_sparse else X.max(initial=0.0)
    unit = float(power_of_two(np.asarray(largest, dtype=np.float64)))
    if problem.is_sparse:
        values = csc_array(X, dtype=np.float64, copy=True)
        values.data /= unit
        totals = np.asarray(values.sum(axis=1)).ravel()
    else:
        values = X.astype(np.float64, order="F") / unit
        totals = values.sum(axis=1)
    usual = np.median(totals[totals > 0]) if (totals > 0).any() else 1.0
    factors = np.divide(usual, totals, out=np.zeros_like(totals), where=totals > 0)
    with np.errstate(over="ignore"):
        factors = np.minimum(factors * unit, np.finfo(np.float64).max / values.shape[1])
    if problem.is_sparse:
        values.data = np.log1p(values.data * factors[values.indices])
        return values
    return np.log1p(values * factors[:, None])


def _find_components(problem: Problem) -> Floats:
    rows = scaled_rows(problem)
    n_rows, n_columns = rows.values.shape
    d = min(N_COMPONENTS, n_rows - 1, n_columns)
    if d < 1:
        return np.zeros((n_rows, 0))
    with one_blas_thread():
        exact = min(n_rows, n_columns) <= FEW
        found = _exact(rows, d) if exact else _randomised(rows, d, problem.seed)
    found = found - found.mean(axis=0)
    variance = np.square(found).sum(axis=0)
    return found[:, variance > NEGLIGIBLE * variance[0]] if variance[0] > 0 else found[:, :0]


def _exact(rows: ScaledRows, d: int) -> Floats:
    """Return components by the smaller of the two matrices of inner products."""
    n_rows, n_columns = rows.values.shape
    Z = rows.values.toarray() - rows.centre if rows.is_sparse else rows.values
    if n_rows <= n_columns:
        gram = (Z @ Z.T).astype(np.float64)
        values, vectors = eigh(gram, subset_by_index=[n_rows - d, n_rows - 1])
        return np.asarray(vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)))
    gram = (Z.T @ Z).astype(np.float64)
    _, vectors = eigh(gram, subset_by_index=[n_columns - d, n_columns - 1])
    return np.asarray(Z @ vectors[:, ::-1])


def _randomised(rows: ScaledRows, d: int, seed: int) -> Floats:
    size = min(d + N_MORE, *rows.values.shape)
    rng = np.random.default_rng([seed, RANGE_STREAM])
    start = rng.normal(size=(rows.values.shape[1], size)).astype(rows.values.dtype)
    basis = _orthonormal(rows.times(start))
    for _ in range(N_POWERS):
        basis = _orthonormal(rows.times(_orthonormal(rows.transposed_times(basis))))
    small = rows.transposed_times(basis).T.astype(np.float64)
    left, values, _ = svd(small @ small.T)
    return np.asarray((basis.astype(np.float64) @ left)[:, :d] * np.sqrt(values[:d]))


def _orthonormal(columns: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.asarray(qr(columns, mode="economic", overwrite_a=True, check_finite=False)[0])
