"""Neighbours found approximately, for more rows than the exact search can handle."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from semisift.base._validation import check_overflow
from semisift.utils._sklearn_compat import Interval, at_least, fit_context

# Squared distances beyond these are infinite or 0 in single precision.
SMALLEST, LARGEST = 1e-36, 1e38


@dataclass(kw_only=True, eq=False, repr=False)
class ApproximateNeighbors(TransformerMixin, BaseEstimator):
    """Find nearest neighbours approximately, with faiss.

    The exact search compares all pairs of rows: right up to about 50,000 rows. This one divides the
    rows among cells and looks into the nearest of them only. Give it to a ranker as its `graph`. It
    needs the extra ``ann`` of semisift, ``pip install "semisift[ann]"``, and dense rows: put
    `sklearn.decomposition.TruncatedSVD` before it in a pipeline where they are sparse.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours of each row.
    n_cells : int, default=None
        Number of cells; None is four times the square root of the number of rows.
    n_visited : int, default=16
        How many cells are looked into for each row: more is slower and misses less.
    random_state : int, default=0
        Seed of the cells.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen during fit.
    effective_metric_ : str
        "euclidean".

    Examples
    --------
    >>> from semisift import ApproximateNeighbors, LaplacianScore
    >>> ranker = LaplacianScore(graph=ApproximateNeighbors(n_neighbors=10))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [at_least(1)],
        "n_cells": [None, at_least(1)],
        "n_visited": [at_least(1)],
        "random_state": [Interval(Integral, 0, 2**31 - 1, closed="both")],
    }

    n_neighbors: int = 10
    n_cells: int | None = None
    n_visited: int = 16
    random_state: int = 0

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Divide the rows of `X` among cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : Ignored

        Returns
        -------
        self : object
        """
        faiss = _faiss()
        if issparse(X):
            raise ValueError(
                "ApproximateNeighbors needs dense rows: got a sparse matrix. Put "
                "sklearn.decomposition.TruncatedSVD before it in a pipeline."
            )
        with check_overflow():
            X = validate_data(self, X, dtype=np.float64)
        # single precision is relative to the largest value, so a common offset must not be there
        self._centre = X.mean(axis=0)
        rows = self._centred(X, SMALLEST)
        n, p = rows.shape
        n_cells = min(n, self.n_cells or max(1, int(4 * np.sqrt(n))))
        # faiss warns on its own output of fewer than 39 rows a cell
        n_cells = max(1, min(n_cells, n // 39))
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(p), p, n_cells)
        index.cp.seed = self.random_state
        index.train(rows)
        index.add(rows)
        index.nprobe = min(self.n_visited, n_cells)
        self._index = faiss.serialize_index(index)  # an array, so that it can be pickled
        self.effective_metric_ = "euclidean"
        return self

    def transform(self, X: Any) -> csr_array:
        """Return the distances of the rows of `X` to their neighbours among those of the fit.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        csr_array of shape (n_queries, n_samples)
            For each row `n_neighbors` + 1 distances: a row is its own first neighbour.
        """
        check_is_fitted(self)
        with check_overflow():
            X = validate_data(self, X, dtype=np.float64, reset=False)
        index = _faiss().deserialize_index(self._index)
        k = min(self.n_neighbors + 1, index.ntotal)
        d2, found = index.search(self._centred(X), k)
        # too few rows in the cells: places stay empty
        row = np.repeat(np.arange(len(X)), (found >= 0).sum(axis=1))
        parts = np.sqrt(np.maximum(d2[found >= 0], 0.0)).astype(np.float64), found[found >= 0]
        starts = np.searchsorted(row, np.arange(len(X) + 1))
        return csr_array((*parts, starts), shape=(len(X), index.ntotal))

    def _centred(self, X: np.ndarray, least: float = -1.0) -> np.ndarray:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            rows = X - self._centre
            # two rows are at most twice as far apart as one is from the centre
            furthest = 4 * np.einsum("ij,ij->i", rows, rows).max(initial=0.0)
        largest = np.abs(rows).max(axis=0, initial=0.0)
        if largest.any() and not least < furthest < LARGEST:
            raise ValueError(
                "ApproximateNeighbors measures squared distances in single precision, from "
                f"{SMALLEST:g} to {LARGEST:g}: the values of column {largest.argmax()} are up to "
                f"{largest.max():g} from the mean. Scale the columns first, or use an exact graph."
            )
        return np.ascontiguousarray(rows, dtype=np.float32)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ImportError(
            "ApproximateNeighbors needs faiss: install it with pip install 'semisift[ann]'."
        ) from error
    return faiss
