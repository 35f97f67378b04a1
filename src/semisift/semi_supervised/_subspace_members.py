"""Classifiers in subspaces that learn from one growing list of labelled rows.

A `Trainer` shows the list to the classifiers and says what they make of the rows that are left; its
panel is what remains of it: the classifiers before the first row was added and after the last.
There are two kinds, for any scikit-learn classifier (here) and for the k nearest neighbours
(_neighbours.py).

The k nearest neighbours in many subspaces, without ever fitting them again.

Every row that is not labelled keeps a heap of its k smallest distances in each subspace, and the
classes of these neighbours are counted. A row that gets its label is shown to the heaps of all
others once: distances are formed as sums over the columns of a subspace, at the cost of one
distance for each pair of rows and subspace in the whole loop.

The neighbours are those that scikit-learn finds by brute force after a fit on the labelled rows in
the order in which they were labelled: of equally near rows those that its heap keeps. Its trees (up
to 15 columns) look at rows in another order and may keep others of them, as may brute force on
several threads. It also rounds distances otherwise, in their last digits.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.neighbors import KNeighborsClassifier

from semisift import _kernels
from semisift.base._training_data import TrainingData
from semisift.base._validation import fit_classifier
from semisift.committee._estimators import Member, gets_dense, with_random_states
from semisift.parallel import Committee, one_openmp_thread
from semisift.semi_supervised._base import Array, Int32s, Ints, Mask, When
from semisift.utils._columns import is_small, row_blocks

Subspaces = Sequence[Ints] | Ints

# Mean shares are rounded to this unit, so that equal ones are equal in whatever order they were
# added: no share of k neighbours in K subspaces lies near the middle between two units.
SHARE = 2.0**-40


class Trainer(ABC):
    """Shows labelled rows to the classifiers of all subspaces.

    Parameters
    ----------
    data : TrainingData

    Attributes
    ----------
    rows : int array
        The unlabelled rows that are left.
    known, codes : int arrays of one length
        The others, in the order in which they were labelled, and their classes.
    """

    def __init__(self, data: TrainingData) -> None:
        labels = data.labels
        self.rows: Ints = labels.unlabelled
        self.known: Ints = labels.labelled
        self.codes: Ints = labels.codes[self.known]

    @abstractmethod
    def mean_shares(self) -> Array:
        """Return the mean shares of the classes for `rows`, rounded to whole units."""

    def add(self, places: Ints, codes: Ints) -> None:
        """Label the rows at some places of `rows`, which leave it."""
        self.known = np.concatenate([self.known, self.rows[places]])
        self.codes = np.concatenate([self.codes, codes])
        self.rows = np.delete(self.rows, places)

    @abstractmethod
    def panel(self) -> Any:
        """Return the classifiers, which have seen all that was labelled.

        They have a length and ``shares(X, when="end")``, the shares of the classes, of shape
        (n_subspaces, n_rows, n_classes).
        """


@dataclass(frozen=True, eq=False)
class EstimatorPanel:
    """Fitted scikit-learn classifiers.

    Attributes
    ----------
    begin, end : list of Member
        Before the first and after the last row was added.
    n_classes : int
    is_dense : bool
        Whether sparse rows are made dense for them.
    """

    begin: list[Member]
    end: list[Member]
    n_classes: int
    is_dense: bool

    def __len__(self) -> int:
        return len(self.end)

    def shares(self, X: Any, when: When = "end") -> Array:
        """Return the shares of the classes, of shape (n_subspaces, n_rows, n_classes)."""
        rows = X.tocsr() if issparse(X) else X
        members = self.begin if when == "begin" else self.end
        return np.array([self._shares_of(member, rows) for member in members])

    def _shares_of(self, member: Member, X: Any) -> Array:
        parts = [
            member.class_shares(take(X, part, member.columns, self.is_dense))
            for part in row_blocks(X, len(member.columns), self.is_dense)
        ]
        return np.concatenate(parts)


class EstimatorTrainer(Trainer):
    """Fits any classifier again after rows were added.

    Parameters
    ----------
    data : TrainingData
    subspaces : sequence of int arrays
        The columns of each classifier.
    estimator : scikit-learn classifier
    committee : Committee
        Who fits them.
    """

    def __init__(
        self, data: TrainingData, subspaces: Subspaces, estimator: Any, committee: Committee
    ) -> None:
        super().__init__(data)
        widest = max(len(columns) for columns in subspaces)
        self.made_for = data.labels.n_classes, gets_dense(estimator, data.n_rows, widest)
        self.X = data.X.tocsr() if data.is_sparse else data.X
        self.setting = subspaces, estimator, data.seed, *self.made_for
        self.committee = committee
        self.begin: list[Member] = []
        self.end: list[Member] = []

    def mean_shares(self) -> Array:
        """Return the mean shares of the classes for `rows`, rounded to whole units."""
        return rounded(self.predict_each(self.rows).mean(axis=0))

    def predict_each(self, rows: Ints) -> Array:
        """Return the shares of the classes for some rows, (n_subspaces, n_rows, n_classes)."""
        shared = self.X, self.setting, self.known, self.codes, rows
        answers = self.committee.map(fit_and_predict, self.committee.ranges(), *shared)
        fitted, shares = zip(*answers, strict=True)
        self.end = [member for members in fitted for member in members]
        self.begin = self.begin or self.end
        return np.concatenate(shares)

    def add(self, places: Ints, codes: Ints) -> None:
        """Label the rows at some places of `rows`, which leave it."""
        super().add(places, codes)
        self.end = []

    def panel(self) -> EstimatorPanel:
        """Return the classifiers, which have seen all that was labelled."""
        if not self.end:
            self.predict_each(self.rows[:0])
        return EstimatorPanel(self.begin, self.end, *self.made_for)


@one_openmp_thread()
@np.errstate(over="ignore", invalid="ignore")  # scikit-learn adds up all values to check them
def fit_and_predict(
    block: tuple[int, int], X: Any, setting: tuple[Any, ...], known: Ints, codes: Ints, rows: Ints
) -> tuple[list[Member], Array]:
    """Fit some members on the known rows, and return them and their shares for other rows."""
    subspaces, estimator, seed, n_classes, is_dense = setting
    members, shares = [], np.zeros((block[1] - block[0], len(rows), n_classes))
    for i, number in enumerate(range(*block)):
        columns = np.asarray(subspaces[number], dtype=np.int32)
        fresh = with_random_states(estimator, seed, number)
        fitted = fit_classifier(fresh, take(X, known, columns, is_dense), codes)
        members.append(Member(number, columns, fitted, n_classes))
        shares[i] = members[-1].class_shares(take(X, rows, columns, is_dense))
    return members, shares


def take(X: Any, rows: Ints | slice, columns: Ints, is_dense: bool) -> Any:
    """Return a copy of some rows and columns: a C-ordered array, or else a CSR array."""
    part = X[rows][:, columns]
    if issparse(part):
        return part.toarray(order="C") if is_dense else part
    return np.ascontiguousarray(part)


def rounded(shares: Array) -> Array:
    """Return shares in whole units of `SHARE`."""
    return np.rint(shares / SHARE)


# --- neighbours -----------------------------------------------------------------------------------


# A sparse matrix is made dense in the columns that are used, if they are no more than these or
# hold few values.
MAX_DENSE_COLUMNS = 1000


def can_serve(estimator: Any, data: TrainingData, subspaces: Subspaces) -> bool:
    """Return whether an estimator is plain k nearest neighbours by Euclidean distance.

    Parameters
    ----------
    estimator : scikit-learn classifier
    data : TrainingData
    subspaces : sequence of int arrays

    Returns
    -------
    bool
        False also for parameters that scikit-learn refuses: it will say so.
    """
    if type(estimator) is not KNeighborsClassifier:
        return False
    k, is_sparse = estimator.n_neighbors, data.is_sparse
    is_euclidean = estimator.metric == "euclidean" or (
        estimator.metric == "minkowski" and estimator.p == 2
    )
    is_plain = estimator.metric_params is None and estimator.weights == "uniform"
    is_possible = isinstance(k, Integral) and 1 <= int(k) <= len(data.labels.labelled)
    n_used = len(np.unique(subspaces))
    fits = not is_sparse or is_small(data.n_rows, n_used, MAX_DENSE_COLUMNS)
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
            _kernels.heaps.push_rows(self.X, self.subspaces, *given, start, stop)

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
    data : TrainingData
    subspaces : int array of shape (n_subspaces, m)
    n_neighbours : int
    n_jobs : int or None
    """

    def __init__(
        self, data: TrainingData, subspaces: Ints, n_neighbours: int, n_jobs: int | None
    ) -> None:
        super().__init__(data)
        self.used, places = np.unique(subspaces, return_inverse=True)
        self.values = dense(data.X, self.used, data.X.dtype)
        self.n_begin = len(self.known)
        self.setting = (
            places.reshape(subspaces.shape).astype(np.int32),
            n_neighbours,
            data.labels.n_classes,
            joblib.effective_n_jobs(n_jobs),
        )
        # rows that are labelled stay among the others for a while: leaving takes a copy
        self.is_left = np.ones(len(self.rows), dtype=bool)
        self.near = Vicinity(np.asfortranarray(self.values[self.rows]), *self.setting)
        self._show(0)

    def mean_shares(self) -> Array:
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
