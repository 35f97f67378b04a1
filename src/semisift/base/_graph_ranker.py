"""GraphRanker: the parameters of a neighbour graph; ApproximateNeighbors makes one of many rows."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from semisift.base._pairs import count_pairs
from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.base._validation import check_overflow
from semisift.exceptions import FallbackWarning
from semisift.utils._graph import Graph, GraphOptions
from semisift.utils._sklearn_compat import HasMethods, Interval, StrOptions, at_least, fit_context
from semisift.utils._warnings import warn


class GraphRanker(FeatureRanker):
    """Base class of the rankers on a neighbour graph."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "n_neighbors": [at_least(1)],
        "variant": [StrOptions({"default", "paper"})],
        "graph": [
            StrOptions({"mean", "union"}),
            "array-like",
            "sparse matrix",
            HasMethods("fit_transform"),
        ],
        "weights": [StrOptions({"heat", "binary"})],
        "feature_scaling": [None, StrOptions({"minmax"})],
        "heat_scale": [StrOptions({"mean", "median", "raw"})],
        "heat_constant": [Interval(Real, 0, None, closed="neither")],
    }

    n_neighbors: int = 10
    variant: Literal["default", "paper"] = "default"
    graph: Any = "mean"
    weights: Literal["heat", "binary"] = "heat"
    feature_scaling: Literal["minmax", "standard"] | None = None
    heat_scale: Literal["mean", "median", "raw"] = "mean"
    heat_constant: float = 1.0

    def _graph(self, data: TrainingData, shift: bool = False) -> Graph:
        """Return the graph; shifted, for a score that the scale of the weights does not change."""
        by_name = isinstance(self.graph, str)
        union = self.variant == "paper" or (by_name and self.graph == "union")
        same = ("n_neighbors", "weights", "feature_scaling", "heat_scale", "heat_constant")
        options: dict[str, Any] = {name: getattr(self, name) for name in same}
        options |= {"symmetry": "union" if union else "mean", "shift": shift}
        return data.graph(GraphOptions(**options), None if by_name else self.graph)

    def _lacks_classes(self, data: TrainingData, instead: str) -> bool:
        """Return whether no two rows are known to be of different classes, with a warning."""
        n_must_link, n_cannot_link = count_pairs(data)
        if n_cannot_link:
            return False
        n_labelled = len(data.labels.labelled)
        what = "no label" if not n_labelled else "labels of one class only"
        what = "no cannot-link pair" if n_must_link and n_labelled == 0 else what
        warn(
            f"{type(self).__name__} has {what}: it ranks by {instead}. Label rows of at least two "
            "classes.",
            FallbackWarning,
        )
        return True


# --- approximate neighbours -----------------------------------------------------------------------

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
