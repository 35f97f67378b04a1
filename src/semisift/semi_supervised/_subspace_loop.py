"""The loop that RASCO, Rel-RASCO, Prob-MRMR, co-training and self-training share."""

from abc import abstractmethod
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier

from semisift.base._training_data import TrainingData
from semisift.parallel import Committee
from semisift.semi_supervised._base import Array, CoTrainedClassifier, Ints, Labelling, Stop, When
from semisift.semi_supervised._subspace_members import (
    EstimatorTrainer,
    NeighbourTrainer,
    Subspaces,
    Trainer,
    can_serve,
)
from semisift.utils._columns import blocks
from semisift.utils._random import surest
from semisift.utils._sklearn_compat import at_least

N_NEIGHBOURS = 3
# Shares of classes that are held at once when rows are predicted, 32 MB.
BLOCK_SHARES = 1 << 22

Picks = tuple[NDArray[np.intp], NDArray[np.intp]]


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
    _panel: Any = field(init=False)

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
        estimator = check_estimator(self.estimator, len(data.labels.labelled))
        with Committee(len(subspaces), self.n_jobs) as committee:
            committee.limit_threads()
            trainer = self._trainer(data, subspaces, estimator, committee)
            labelling = self._loop(data, trainer)
            self._panel = trainer.panel()
        return labelling

    def _trainer(
        self, data: TrainingData, subspaces: Any, estimator: Any, committee: Committee
    ) -> Trainer:
        if can_serve(estimator, data, subspaces):
            return NeighbourTrainer(data, subspaces, int(estimator.n_neighbors), self.n_jobs)
        return EstimatorTrainer(data, subspaces, estimator, committee)

    def _loop(self, data: TrainingData, trainer: Trainer) -> Labelling:
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

    def _votes_and_choices(self, X: Any, when: When) -> tuple[NDArray[np.floating], Ints]:
        rows = X.tocsr() if issparse(X) else X
        n_classes = len(self.classes_)
        votes, choices = [], []
        for block in blocks(X.shape[0], len(self._panel) * n_classes, BLOCK_SHARES):
            shares = self._panel.shares(rows[block], when)  # (n_subspaces, n_rows, n_classes)
            choices.append(shares.argmax(axis=2))
            if self.voting == "soft":
                votes.append(shares.mean(axis=0))
            else:
                is_chosen = choices[-1][:, :, None] == np.arange(n_classes)
                votes.append(is_chosen.sum(axis=0) * 1.0)
        return np.concatenate(votes), np.concatenate(choices, axis=1)


def check_estimator(estimator: Any, n_labelled: int) -> Any:
    """Return a classifier: 3 nearest neighbours, or as many as there are rows, where none is given.

    Parameters
    ----------
    estimator : scikit-learn classifier or None
    n_labelled : int

    Returns
    -------
    scikit-learn classifier
    """
    if estimator is None:
        return KNeighborsClassifier(min(N_NEIGHBOURS, n_labelled))
    if not is_classifier(estimator):
        raise ValueError(f"estimator must be a classifier: got {estimator!r}.")
    return estimator


def pick(shares: Array, rows: Ints, seed: int, iteration: int, quotas: int | Ints) -> Picks:
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
