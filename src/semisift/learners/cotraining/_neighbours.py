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
from semisift.learners.cotraining._diagnosis import When
from semisift.learners.cotraining._members import Panel, Subspaces, Trainer, rounded
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
    is_euclidean = estimator.metric == "euclidean" or (
        estimator.metric == "minkowski" and estimator.p == 2
    )
    k = estimator.n_neighbors
    return (
        is_euclidean
        and estimator.metric_params is None
        and estimator.weights == "uniform"
        and isinstance(k, Integral)
        and 1 <= int(k) <= len(problem.labels.labelled)
        and (
            not problem.is_sparse
            or is_small(problem.n_rows, len(np.unique(subspaces)), MOST_DENSE_COLUMNS)
        )
    )


@dataclass(eq=False)
class Vicinity:
    """Rows with the classes of their nearest neighbours so far.

    Attributes
    ----------
    X : Fortran-ordered array of shape (n, n_used)
    heaps : array of shape (n_subspaces, n, k)
        Squared distances, the largest first.
    kept : int32 array of shape (n_subspaces, n, k)
        The classes of the neighbours.
    votes : int32 array of shape (n, n_classes)
        How often each class is among them.
    """

    X: NDArray[np.floating]
    heaps: NDArray[np.float64]
    kept: NDArray[np.int32]
    votes: NDArray[np.int32]

    @classmethod
    def new(cls, X: NDArray[np.floating], n_subspaces: int, k: int, n_classes: int) -> "Vicinity":
        """Return rows that have not seen any other."""
        shape = n_subspaces, len(X), k
        return cls(
            X,
            np.full(shape, np.inf),
            np.full(shape, -1, dtype=np.int32),
            np.zeros((len(X), n_classes), dtype=np.int32),
        )

    def see(
        self,
        subspaces: NDArray[np.int32],
        rows: NDArray[np.floating],
        codes: NDArray[np.int32],
        n_jobs: int = 1,
    ) -> None:
        """Look at further labelled rows, one after the other."""
        push = kernels.heaps.push_rows
        given = self.X, subspaces, rows, codes, self.heaps, self.kept, self.votes
        if n_jobs == 1:
            push(*given, 0, len(self.X))
            return
        ends = np.linspace(0, len(self.X), n_jobs + 1).astype(int).tolist()
        with ThreadPoolExecutor(n_jobs, thread_name_prefix="semisift") as pool:
            list(pool.map(lambda start, stop: push(*given, start, stop), ends[:-1], ends[1:]))

    def part(self, rows: NDArray[np.bool_]) -> "Vicinity":
        """Return some of the rows."""
        heaps, kept = self.heaps[:, rows], self.kept[:, rows]
        return Vicinity(
            np.asfortranarray(self.X[rows]),
            np.ascontiguousarray(heaps),
            np.ascontiguousarray(kept),
            self.votes[rows],
        )

    def shares(self) -> NDArray[np.float64]:
        """Return the shares of the classes, of shape (n_subspaces, n, n_classes)."""
        is_class = [np.count_nonzero(self.kept == c, axis=2) for c in range(self.votes.shape[1])]
        return np.stack(is_class, axis=2) / self.kept.shape[2]


@dataclass(frozen=True, eq=False)
class NeighbourPanel(Panel):
    """The labelled rows, in the order in which they were labelled.

    Attributes
    ----------
    used : int array
        The columns that some subspace has.
    subspaces : int32 array of shape (n_subspaces, m)
        Places in `used`.
    rows : C-ordered array of shape (n, n_used)
    codes : int32 array of shape (n,)
    n_begin : int
        How many were labelled at the beginning.
    n_neighbours, n_classes, n_jobs : int
    """

    used: NDArray[np.integer]
    subspaces: NDArray[np.int32]
    rows: NDArray[np.floating]
    codes: NDArray[np.int32]
    n_begin: int
    n_neighbours: int
    n_classes: int
    n_jobs: int

    def __len__(self) -> int:
        return len(self.subspaces)

    def shares(self, X: Any, when: When = "end") -> NDArray[np.float64]:
        """Return the shares of the classes, of shape (n_subspaces, n_rows, n_classes)."""
        n = self.n_begin if when == "begin" else len(self.rows)
        queries = dense(X, self.used, self.rows.dtype)
        near = Vicinity.new(queries, len(self.subspaces), self.n_neighbours, self.n_classes)
        near.see(self.subspaces, self.rows[:n], self.codes[:n], self.n_jobs)
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
        self,
        problem: Problem,
        subspaces: NDArray[np.integer],
        n_neighbours: int,
        n_jobs: int | None,
    ) -> None:
        labels = problem.labels
        used, places = np.unique(subspaces, return_inverse=True)
        self.subspaces = places.reshape(subspaces.shape).astype(np.int32)
        self.used = used
        self.values = dense(problem.X, used, problem.X.dtype)
        self.known = [labels.labelled]
        self.codes = [labels.codes[labels.labelled]]
        self.n_jobs = joblib.effective_n_jobs(n_jobs)
        self.rows: NDArray[np.integer] = labels.unlabelled
        # rows that are labelled stay among the others for a while: leaving takes a copy
        self.is_left = np.ones(len(self.rows), dtype=bool)
        self.near = Vicinity.new(
            np.asfortranarray(self.values[self.rows]),
            len(subspaces),
            n_neighbours,
            labels.n_classes,
        )
        self._show(self.known[0], self.codes[0])

    def judge(self) -> NDArray[np.float64]:
        """Return the mean shares of the classes for `rows`, rounded to whole units."""
        n_votes = self.near.kept.shape[0] * self.near.kept.shape[2]
        return rounded(self.near.votes[self.is_left] / n_votes)

    def add(self, places: NDArray[np.integer], codes: NDArray[np.integer]) -> None:
        """Label the rows at some places of `rows`, which leave it."""
        self.known.append(self.rows[places])
        self.codes.append(codes.astype(np.int32))
        self.is_left[np.flatnonzero(self.is_left)[places]] = False
        self.rows = np.delete(self.rows, places)
        if 2 * len(self.rows) < len(self.is_left):
            self.near = self.near.part(self.is_left)
            self.is_left = np.ones(len(self.rows), dtype=bool)
        self._show(self.known[-1], self.codes[-1])

    def _show(self, rows: NDArray[np.integer], codes: NDArray[np.int32]) -> None:
        values = np.ascontiguousarray(self.values[rows])
        self.near.see(self.subspaces, values, codes, self.n_jobs)

    def panel(self) -> NeighbourPanel:
        """Return the labelled rows."""
        return NeighbourPanel(
            self.used,
            self.subspaces,
            np.ascontiguousarray(self.values[np.concatenate(self.known)]),
            np.concatenate(self.codes),
            len(self.known[0]),
            self.near.kept.shape[2],
            self.near.votes.shape[1],
            self.n_jobs,
        )


def dense(X: Any, columns: NDArray[np.integer], dtype: Any) -> NDArray[np.floating]:
    """Return some columns as a Fortran-ordered array."""
    part = X[:, columns]
    return np.asfortranarray(part.toarray() if issparse(part) else part, dtype=dtype)
