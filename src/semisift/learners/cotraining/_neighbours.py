"""The k nearest neighbours in many subspaces, without ever fitting them again.

Every row that is not labelled keeps a heap of its k smallest distances in each subspace, and the
classes of these neighbours are counted. A row that gets its label is shown to the heaps of all
others once: distances are formed as sums over the columns of a subspace, at the cost of one
distance for each pair of rows and subspace in the whole loop.

The neighbours are those that scikit-learn finds by brute force after a fit on the labelled rows in
the order in which they were labelled: of equally near rows those that its heap keeps. Its trees (up
to 15 columns) look at rows in another order and may keep others of them, as may brute force on
several threads. It also rounds distances otherwise, in their last digits.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.neighbors import KNeighborsClassifier

from semisift import kernels
from semisift._problem import Problem
from semisift.learners.cotraining._base import Array, Int32s, Ints, Mask, When
from semisift.learners.cotraining._members import Subspaces, Trainer, rounded
from semisift.math.columns import is_small

# A sparse matrix is made dense in the columns that are used, if they are no more than these or
# hold few values.
MOST_DENSE_COLUMNS = 1000


def can_serve(estimator: Any, problem: Problem, subspaces: Subspaces) -> bool:
    """Return whether an estimator is plain k nearest neighbours by Euclidean distance.

    Parameters
    ----------
    estimator : scikit-learn classifier
    problem : Problem
    subspaces : sequence of int arrays

    Returns
    -------
    bool
        False also for parameters that scikit-learn refuses: it will say so.
    """
    if type(estimator) is not KNeighborsClassifier:
        return False
    k, is_sparse = estimator.n_neighbors, problem.is_sparse
    is_euclidean = estimator.metric == "euclidean" or (
        estimator.metric == "minkowski" and estimator.p == 2
    )
    is_plain = estimator.metric_params is None and estimator.weights == "uniform"
    is_possible = isinstance(k, Integral) and 1 <= int(k) <= len(problem.labels.labelled)
    n_used = len(np.unique(subspaces))
    fits = not is_sparse or is_small(problem.n_rows, n_used, MOST_DENSE_COLUMNS)
    return is_euclidean and is_plain and is_possible and fits


class Vicinity:
    """Rows with the classes of their nearest neighbours so far.

    Parameters
    ----------
    X : Fortran-ordered array of shape (n, n_used)
    subspaces : int32 array of shape (n_subspaces, m)
        Columns of X.
    n_neighbours, n_classes, n_jobs : int

    Attributes
    ----------
    heaps : array of shape (n_subspaces, n, n_neighbours)
        Squared distances, the largest first.
    kept : int32 array of shape (n_subspaces, n, n_neighbours)
        The classes of the neighbours.
    votes : int32 array of shape (n, n_classes)
        How often each class is among them.
    """

    def __init__(
        self,
        X: NDArray[np.floating],
        subspaces: Int32s,
        n_neighbours: int,
        n_classes: int,
        n_jobs: int,
    ) -> None:
        self.X, self.subspaces, self.n_jobs = X, subspaces, n_jobs
        self.heaps = np.full((len(subspaces), len(X), n_neighbours), np.inf)
        self.kept = np.full(self.heaps.shape, -1, dtype=np.int32)
        self.votes = np.zeros((len(X), n_classes), dtype=np.int32)

    def see(self, rows: NDArray[np.floating], codes: Ints) -> None:
        """Look at further labelled rows, one after the other."""
        given = rows, codes.astype(np.int32), self.heaps, self.kept, self.votes

        def push(start: int, stop: int) -> None:
            kernels.heaps.push_rows(self.X, self.subspaces, *given, start, stop)

        if self.n_jobs == 1:
            push(0, len(self.X))
            return
        ends = np.linspace(0, len(self.X), self.n_jobs + 1).astype(int).tolist()
        with ThreadPoolExecutor(self.n_jobs, thread_name_prefix="semisift") as pool:
            list(pool.map(push, ends[:-1], ends[1:]))

    def keep(self, rows: Mask) -> None:
        """Forget all but some of the rows."""
        self.X = np.asfortranarray(self.X[rows])
        self.heaps = np.ascontiguousarray(self.heaps[:, rows])
        self.kept = np.ascontiguousarray(self.kept[:, rows])
        self.votes = self.votes[rows]

    def shares(self) -> Array:
        """Return the shares of the classes, of shape (n_subspaces, n, n_classes)."""
        is_class = [np.count_nonzero(self.kept == c, axis=2) for c in range(self.votes.shape[1])]
        return np.stack(is_class, axis=2) / self.kept.shape[2]


@dataclass(frozen=True, eq=False)
class NeighbourPanel:
    """The labelled rows, in the order in which they were labelled.

    Attributes
    ----------
    used : int array
        The columns that some subspace has.
    rows : C-ordered array of shape (n, n_used)
    codes : int array of shape (n,)
    n_begin : int
        How many were labelled at the beginning.
    setting : tuple
        What a `Vicinity` is given besides X.
    """

    used: Ints
    rows: NDArray[np.floating]
    codes: Ints
    n_begin: int
    setting: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.setting[0])

    def shares(self, X: Any, when: When = "end") -> Array:
        """Return the shares of the classes, of shape (n_subspaces, n_rows, n_classes)."""
        n = self.n_begin if when == "begin" else len(self.rows)
        near = Vicinity(dense(X, self.used, self.rows.dtype), *self.setting)
        near.see(self.rows[:n], self.codes[:n])
        return near.shares()


class NeighbourTrainer(Trainer):
    """Shows every row that is labelled to all others once.

    Parameters
    ----------
    problem : Problem
    subspaces : int array of shape (n_subspaces, m)
    n_neighbours : int
    n_jobs : int or None
    """

    def __init__(
        self, problem: Problem, subspaces: Ints, n_neighbours: int, n_jobs: int | None
    ) -> None:
        super().__init__(problem)
        self.used, places = np.unique(subspaces, return_inverse=True)
        self.values = dense(problem.X, self.used, problem.X.dtype)
        self.n_begin = len(self.known)
        self.setting = (
            places.reshape(subspaces.shape).astype(np.int32),
            n_neighbours,
            problem.labels.n_classes,
            joblib.effective_n_jobs(n_jobs),
        )
        # rows that are labelled stay among the others for a while: leaving takes a copy
        self.is_left = np.ones(len(self.rows), dtype=bool)
        self.near = Vicinity(np.asfortranarray(self.values[self.rows]), *self.setting)
        self._show(0)

    def judge(self) -> Array:
        """Return the mean shares of the classes for `rows`, rounded to whole units."""
        n_votes = self.near.kept.shape[0] * self.near.kept.shape[2]
        return rounded(self.near.votes[self.is_left] / n_votes)

    def add(self, places: Ints, codes: Ints) -> None:
        """Label the rows at some places of `rows`, which leave it."""
        n_shown = len(self.known)
        super().add(places, codes)
        self.is_left[np.flatnonzero(self.is_left)[places]] = False
        if 2 * len(self.rows) < len(self.is_left):
            self.near.keep(self.is_left)
            self.is_left = np.ones(len(self.rows), dtype=bool)
        self._show(n_shown)

    def _show(self, first: int) -> None:
        values = np.ascontiguousarray(self.values[self.known[first:]])
        self.near.see(values, self.codes[first:])

    def panel(self) -> NeighbourPanel:
        """Return the labelled rows."""
        rows = np.ascontiguousarray(self.values[self.known])
        return NeighbourPanel(self.used, rows, self.codes, self.n_begin, self.setting)


def dense(X: Any, columns: Ints, dtype: Any) -> NDArray[np.floating]:
    """Return some columns as a Fortran-ordered array."""
    part = X[:, columns]
    return np.asfortranarray(part.toarray() if issparse(part) else part, dtype=dtype)
