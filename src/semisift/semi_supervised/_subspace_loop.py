"""Classifiers in subspaces that learn from one growing list of labelled rows.

`SubspaceClassifier` is the loop of RASCO, Rel-RASCO, Prob-MRMR, co-training and self-training. A
`Trainer` shows the list to the classifiers and says what they make of the rows that are left; what
remains of it are the classifiers before the first row was added and after the last.
There are two kinds, for any scikit-learn classifier and for the k nearest neighbours.

The k nearest neighbours in many subspaces are never fitted again. Every row that is not labelled
keeps a heap of its k smallest distances in each subspace, and the classes of these neighbours are
counted. A row that gets its label is shown to the heaps of all others once: distances are formed as
sums over the columns of a subspace, at the cost of one distance for each pair of rows and subspace
in the whole loop. To fit scikit-learn's again gives the same choices in 20 to 170 times the time.

The neighbours are those that scikit-learn finds by brute force after a fit on the labelled rows in
the order in which they were labelled: of equally near rows those that its heap keeps. Its trees (up
to 15 columns) look at rows in another order and may keep others of them, as may brute force on
several threads. It also rounds distances otherwise, in their last digits.
"""

from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.neighbors import KNeighborsClassifier

from semisift import _kernels
from semisift.base._training_data import TrainingData
from semisift.committee._blocks import Bags
from semisift.committee._bootstrap import Int32s
from semisift.committee._estimators import EstimatorContext, EstimatorPredictors
from semisift.parallel import Committee
from semisift.semi_supervised._base import CoTrainedClassifier, Labelling, Stop
from semisift.utils._columns import blocks, is_small
from semisift.utils._random import surest
from semisift.utils._sklearn_compat import at_least
from semisift.utils._typing import Bools, Floats, Ints

N_NEIGHBOURS = 3
# Shares of classes that are held at once when rows are predicted, 32 MB.
BLOCK_SHARES = 1 << 22

# Mean shares are rounded to this unit, so that equal ones are equal in whatever order they were
# added: no share of k neighbours in K subspaces lies near the middle between two units.
SHARE = 2.0**-40

# A sparse matrix is made dense in the columns that are used, if they are no more than these or
# hold few values.
MAX_DENSE_COLUMNS = 1000

Subspaces = Sequence[Ints] | Ints
Picks = tuple[NDArray[np.intp], NDArray[np.intp]]


class Trainer:
    """Shows labelled rows to the classifiers of all subspaces; the base class of two kinds.

    Each has ``mean_shares()``, the mean shares of the classes for `rows` in units of `SHARE`, and
    ``members()``, the classifiers before the first row was added and after the last: with a length
    and ``shares(X)``, the shares of the classes, of shape (n_subspaces, n_rows, n_classes).

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

    def add(self, places: Ints, codes: Ints) -> None:
        """Label the rows at some places of `rows`, which leave it."""
        self.known = np.concatenate([self.known, self.rows[places]])
        self.codes = np.concatenate([self.codes, codes])
        self.rows = np.delete(self.rows, places)


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
        self.subspaces = [np.asarray(columns, dtype=np.int32) for columns in subspaces]
        widest = max(map(len, self.subspaces))
        context = EstimatorContext.build(data, widest, estimator=estimator)
        self.context = replace(context, table=X.tocsr() if issparse(X := context.table) else X)
        self.committee = committee
        self.first: EstimatorPredictors | None = None
        self.n_fitted = 0  # how many rows were labelled then

    def mean_shares(self) -> Floats:
        """Return the mean shares of the classes for `rows`, rounded to whole units."""
        return rounded(self.predict_each(self.rows).mean(axis=0))

    def predict_each(self, rows: Ints) -> Floats:
        """Return the shares of the classes for some rows, (n_subspaces, n_rows, n_classes)."""
        n_labelled = len(self.context.labelled)
        added = self.known[n_labelled:], self.codes[n_labelled:]
        ranges = [(start, self.subspaces[start:stop]) for start, stop in self.committee.ranges()]
        answers = self.committee.map(fit_and_predict, ranges, self.context, added, rows)
        fitted, shares = zip(*answers, strict=True)
        self.last, self.n_fitted = EstimatorPredictors.join(fitted), len(self.known)
        self.first = self.first or self.last
        return np.concatenate(shares)

    def members(self) -> tuple[Any, Any]:
        """Return the classifiers before the first row was added and after the last."""
        if self.n_fitted < len(self.known):
            self.predict_each(self.rows[:0])
        return self.first, self.last


@np.errstate(over="ignore", invalid="ignore")  # scikit-learn adds up all values to check them
def fit_and_predict(
    job: tuple[int, list[Int32s]], context: EstimatorContext, added: tuple[Ints, Ints], rows: Ints
) -> tuple[EstimatorPredictors, Floats]:
    """Fit some members on the labelled and the added rows; return their shares for other rows."""
    start, subspaces = job
    counts = np.ones((len(subspaces), len(context.labelled)), dtype=np.int32)
    rows_added, codes = (np.tile(part.astype(np.int32), (len(subspaces), 1)) for part in added)
    bags = Bags(counts, rows_added, codes, subspaces=subspaces)
    members = EstimatorPredictors.fit(context, start, bags)
    return members, members.shares(context.table[rows])


def rounded(shares: Floats) -> Floats:
    """Return shares in whole units of `SHARE`."""
    return np.rint(shares / SHARE)


# --- neighbours -----------------------------------------------------------------------------------


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
    metric = (
        (estimator.metric, estimator.p) if estimator.metric == "minkowski" else estimator.metric
    )
    is_plain = estimator.metric_params is None and estimator.weights == "uniform"
    is_possible = isinstance(k, Integral) and 1 <= int(k) <= len(data.labels.labelled)
    n_used = len(np.unique(subspaces))
    fits = not is_sparse or is_small(data.n_rows, n_used, MAX_DENSE_COLUMNS)
    return metric in ("euclidean", ("minkowski", 2)) and is_plain and is_possible and fits


class Vicinity:
    """Rows with the classes of their nearest neighbours so far.

    Parameters
    ----------
    X : Fortran-ordered array of shape (n, n_used)
    setting : tuple
        The columns of each subspace (an int32 array of shape (n_subspaces, m)), the number of
        neighbours, that of classes and that of threads.

    Attributes
    ----------
    heaps : array of shape (n_subspaces, n, n_neighbours)
        Squared distances, the largest first.
    kept : int32 array of shape (n_subspaces, n, n_neighbours)
        The classes of the neighbours.
    votes : int32 array of shape (n, n_classes)
        How often each class is among them.
    """

    def __init__(self, X: NDArray[np.floating], setting: tuple[Int32s, int, int, int]) -> None:
        self.X = X
        self.subspaces, n_neighbours, n_classes, self.n_jobs = setting
        self.heaps = np.full((len(self.subspaces), len(X), n_neighbours), np.inf)
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

    def keep(self, rows: Bools) -> None:
        """Forget all but some of the rows."""
        self.X = np.asfortranarray(self.X[rows])
        self.heaps = np.ascontiguousarray(self.heaps[:, rows])
        self.kept = np.ascontiguousarray(self.kept[:, rows])
        self.votes = self.votes[rows]

    def shares(self) -> Floats:
        """Return the shares of the classes, of shape (n_subspaces, n, n_classes)."""
        is_class = [np.count_nonzero(self.kept == c, axis=2) for c in range(self.votes.shape[1])]
        return np.stack(is_class, axis=2) / self.kept.shape[2]


@dataclass(frozen=True, eq=False)
class NeighbourPredictors:
    """The labelled rows, in the order in which they were labelled.

    Attributes
    ----------
    used : int array
        The columns that some subspace has.
    rows : C-ordered array of shape (n, n_used)
    codes : int array of shape (n,)
    setting : tuple
        As of `Vicinity`.
    """

    used: Ints
    rows: NDArray[np.floating]
    codes: Ints
    setting: tuple[Int32s, int, int, int]

    def __len__(self) -> int:
        return len(self.setting[0])

    def shares(self, X: Any) -> Floats:
        """Return the shares of the classes, of shape (n_subspaces, n_rows, n_classes)."""
        near = Vicinity(dense(X, self.used, self.rows.dtype), self.setting)
        near.see(self.rows, self.codes)
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
        self.near = Vicinity(np.asfortranarray(self.values[self.rows]), self.setting)
        self._show(0)

    def mean_shares(self) -> Floats:
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

    def members(self) -> tuple[Any, Any]:
        """Return the labelled rows before the first one was added and after the last."""
        rows, n = np.ascontiguousarray(self.values[self.known]), self.n_begin
        first = NeighbourPredictors(self.used, rows[:n], self.codes[:n], self.setting)
        return first, NeighbourPredictors(self.used, rows, self.codes, self.setting)


def dense(X: Any, columns: Ints, dtype: Any) -> NDArray[np.floating]:
    """Return some columns as a Fortran-ordered array."""
    part = X[:, columns]
    return np.asfortranarray(part.toarray() if issparse(part) else part, dtype=dtype)


# --- loop -----------------------------------------------------------------------------------------


class SubspaceClassifier(CoTrainedClassifier):
    """Base class: classifiers in subspaces vote, and the surest rows of each class are added.

    Subclasses give the subspaces. Parameters and attributes are theirs.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CoTrainedClassifier._parameter_constraints,
        "max_iter": [None, at_least(0)],
    }

    estimator: Any = field(default=None, kw_only=False)
    max_iter: int | None = 10

    # parameters of some: how the votes are put together, and how many rows of each class are added
    voting = "soft"
    k_best = 1

    @abstractmethod
    def _draw(self, data: TrainingData) -> Subspaces:
        """Return the columns of the members."""

    def _n_tasks(self, data: TrainingData) -> int | None:
        return None if self.max_iter is None else int(self.max_iter)

    def _co_train(self, data: TrainingData) -> Labelling:
        subspaces = self._draw(data)
        estimator = self._classifier(data)
        with Committee(len(subspaces), self.n_jobs) as committee:
            committee.limit_threads()
            trainer = self._trainer(data, subspaces, estimator, committee)
            labelling = self._loop(data, trainer)
            self._first_members, self._members = trainer.members()
        return labelling

    def _classifier(self, data: TrainingData) -> Any:
        """Return a classifier: 3 nearest neighbours, or as many as are labelled, by default."""
        k = min(N_NEIGHBOURS, len(data.labels.labelled))
        return KNeighborsClassifier(k) if self.estimator is None else self.estimator

    def _trainer(
        self, data: TrainingData, subspaces: Any, estimator: Any, committee: Committee
    ) -> Any:
        if can_serve(estimator, data, subspaces):
            return NeighbourTrainer(data, subspaces, int(estimator.n_neighbors), self.n_jobs)
        return EstimatorTrainer(data, subspaces, estimator, committee)

    def _loop(self, data: TrainingData, trainer: Any) -> Labelling:
        """Add the surest rows of each class until none is left, or none is sure."""
        codes = data.labels.codes.copy()
        iterations = np.where(codes >= 0, 0, -1)
        n_most = len(trainer.rows) + 1 if self.max_iter is None else int(self.max_iter)
        n_iter = 0
        stop: Stop = "max_iter"
        for n_iter in self._progress(range(1, n_most + 1), "iteration"):
            if len(trainer.rows):
                places, given = self._pick(trainer, data.seed, n_iter)
                codes[trainer.rows[places]] = given
                iterations[trainer.rows[places]] = n_iter
                trainer.add(places, given)
            if not len(trainer.rows) or not len(places):
                stop = "no_change" if len(trainer.rows) else "all_labeled"
                break
        return Labelling(codes, iterations, n_iter, stop)

    def _pick(self, trainer: Any, seed: int, n_iter: int) -> Picks:
        """Return the places of the rows that are added in an iteration, and their classes."""
        return pick(trainer.mean_shares(), trainer.rows, seed, n_iter, int(self.k_best))

    def _votes_and_choices(self, members: Any, X: Any) -> tuple[NDArray[np.floating], Ints]:
        rows = X.tocsr() if issparse(X) else X
        n_classes = len(self.classes_)
        votes, choices = [], []
        for block in blocks(X.shape[0], len(members) * n_classes, BLOCK_SHARES):
            shares = members.shares(rows[block])  # (n_subspaces, n_rows, n_classes)
            choices.append(shares.argmax(axis=2))
            if self.voting == "soft":
                votes.append(shares.mean(axis=0))
            else:
                is_chosen = choices[-1][:, :, None] == np.arange(n_classes)
                votes.append(is_chosen.sum(axis=0) * 1.0)
        return np.concatenate(votes), np.concatenate(choices, axis=1)


def pick(shares: Floats, rows: Ints, seed: int, iteration: int, quotas: int | Ints) -> Picks:
    """Pick the surest rows of each class; equally sure ones in the random order of the iteration.

    Parameters
    ----------
    shares : array of shape (n, n_classes)
    rows : int array of shape (n,)
        The rows' own numbers.
    seed, iteration : int
    quotas : int or int array of shape (n_classes,)
        How many of each class.

    Returns
    -------
    places : int array
        Where the picked rows stand in `rows`, class by class.
    codes : int array
        Their classes.
    """
    codes, sureness = shares.argmax(axis=1), shares.max(axis=1)
    picked = []
    for code, quota in enumerate(np.broadcast_to(quotas, shares.shape[1]).tolist()):
        own = np.flatnonzero(codes == code)
        best = surest(seed, iteration, rows[own].astype(np.int32), sureness[own], quota)
        picked.append(own[best])
    places = np.concatenate(picked)
    return places, codes[places]
