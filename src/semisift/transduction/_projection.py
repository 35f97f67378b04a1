"""The principal components of rows that were not there when the components were found."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from semisift.base._data_kind import kind_of_data
from semisift.base._training_data import TrainingData
from semisift.parallel import one_blas_thread
from semisift.preprocessing._counts import log_of_shares, usual_total
from semisift.transduction._components import components, scaled_rows, units_and_factors, weighted
from semisift.utils._columns import blocks, column_moments, counted_moments, is_small
from semisift.utils._typing import Floats

# Rows farther away than this, in standard deviations, are taken as so far away.
MOST = 1e100


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
        """Return a block of rows on the scale; sparse ones are not centred.

        Parameters
        ----------
        rows : array or csr_array of shape (n, p)

        Returns
        -------
        float64 array or csr_array of shape (n, p)
        """
        if not issparse(rows):
            rows = rows.astype(np.float64)
            return self._scaled(rows if self.usual is None else log_of_shares(rows, self.usual))
        values = csr_array(rows, dtype=np.float64, copy=True)
        if self.usual is not None:
            values = log_of_shares(values, self.usual)
        scaled = values.data / self.unit[values.indices] * self.factor[values.indices]
        values.data = np.clip(scaled, -MOST, MOST)
        return values

    def _scaled(self, rows: Floats) -> Floats:
        """Return rows on the scale."""
        with np.errstate(over="ignore"):
            scaled = (rows / self.unit - self.centre) * self.factor
        np.clip(scaled, -MOST, MOST, out=scaled)
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
        """Return the components of rows.

        Parameters
        ----------
        X : array or csc_array of shape (n, p)

        Returns
        -------
        float array of shape (n, d)
        """
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
        values.data = np.clip(scaled, -MOST, MOST)
        return np.asarray(values @ self.loadings) - (self.centre * self.factor) @ self.loadings


def _counted_means(X: Any, unit: Floats, weights: Floats | None) -> Floats:
    if issparse(X):
        assert weights is not None
        return np.asarray(weights @ X / weights.sum()) / unit
    centre = np.empty(X.shape[1])
    for columns in blocks(X.shape[1], len(X)):
        centre[columns] = counted_moments(X[:, columns], unit[columns], weights)[1]
    return centre


def find_scale(problem: TrainingData) -> Scale:
    """Return the scale on which the rows of a problem are compared.

    Parameters
    ----------
    problem : TrainingData

    Returns
    -------
    Scale
    """
    X, weights = problem.X, problem.design.weights
    unit, factor = units_and_factors(problem)
    usual = usual_total(X) if kind_of_data(problem) == "counts" else None
    X = X if usual is None else log_of_shares(X, usual)
    if weights is None and not problem.has_gaps:
        centre = column_moments(X, unit)[0]
    else:
        centre = _counted_means(X, unit, weights)
    return Scale(usual, unit, centre, factor)


def find_axes(problem: TrainingData) -> Axes:
    """Return the axes of the components of a problem.

    Parameters
    ----------
    problem : TrainingData

    Returns
    -------
    Axes
        Rows of the problem are placed where their components are: to rounding, or to the error of
        the randomised range finder.
    """
    T, rows = components(problem), scaled_rows(problem)
    squares = weighted(np.square(T), rows.weights).sum(axis=0)
    with one_blas_thread():
        counted = weighted(T, rows.weights)
        loadings = rows.transposed_times(counted).astype(np.float64, copy=False)
    loadings /= np.where(squares > 0, squares, 1.0)
    return Axes(**vars(find_scale(problem)), loadings=loadings)
