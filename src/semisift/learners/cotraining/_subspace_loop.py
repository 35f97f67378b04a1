"""The loop that RASCO, Rel-RASCO, Prob-MRMR and self-training share."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import Tags, get_tags

from semisift._committee.engine import Committee
from semisift._labels import Labels
from semisift._problem import Problem
from semisift._sklearn import HasMethods, at_least
from semisift.learners.cotraining._base import CoTrainedClassifier, Labelling, Stop
from semisift.learners.cotraining._diagnosis import When
from semisift.learners.cotraining._members import (
    EstimatorTrainer,
    Panel,
    Trainer,
)
from semisift.learners.cotraining._neighbours import NeighbourTrainer, can_serve
from semisift.math.blocks import blocks
from semisift.math.streams import surest

N_NEIGHBOURS = 3
# Shares of classes that are held at once when rows are predicted, 32 MB.
BLOCK_SHARES = 1 << 22


class SubspaceClassifier(CoTrainedClassifier):
    """Base class: classifiers in subspaces vote, and the surest rows of each class are added.

    Subclasses give the subspaces. Parameters and attributes are theirs.
    """

    estimator: Any
    max_iter: int | None
    n_jobs: int | None
    voting: str = "soft"

    _panel: Panel

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CoTrainedClassifier._parameter_constraints,
        "estimator": [None, HasMethods(["fit", "predict"])],
        "max_iter": [None, at_least(0)],
    }

    @abstractmethod
    def _draw(self, problem: Problem) -> NDArray[np.integer]:
        """Return the columns of the members, of shape (n_subspaces, m)."""

    @property
    def _n_per_class(self) -> int:
        """Rows of each class that are added in an iteration."""
        return 1

    def _n_tasks(self, problem: Problem) -> int | None:
        return None if self.max_iter is None else int(self.max_iter)

    def _co_train(self, problem: Problem) -> Labelling:
        subspaces = self._draw(problem)
        estimator = check_estimator(self.estimator, len(problem.labels.labelled))
        n_most = len(problem.labels.unlabelled) + 1 if self.max_iter is None else self.max_iter
        steps = self._progress(range(1, int(n_most) + 1), "iteration")
        with Committee(len(subspaces), self.n_jobs) as committee:
            committee.limit_threads()
            trainer: Trainer
            if can_serve(estimator, problem, subspaces):
                k = int(estimator.n_neighbors)
                trainer = NeighbourTrainer(problem, subspaces, k, self.n_jobs)
            else:
                trainer = EstimatorTrainer(problem, subspaces, estimator, committee)
            labelling = co_train(trainer, problem.labels, problem.seed, self._n_per_class, steps)
            self._panel = trainer.panel()
        return labelling

    def _vote(self, X: Any) -> NDArray[np.floating]:
        votes = [self._votes_of(shares) for shares in self._shares(X, "end")]
        return np.concatenate(votes)

    def _votes_of(self, shares: NDArray[np.float64]) -> NDArray[np.floating]:
        """Put the shares of (n_subspaces, n_rows, n_classes) together."""
        if self.voting == "soft":
            return np.asarray(shares.mean(axis=0))
        choice = shares.argmax(axis=2)
        return np.asarray((choice[:, :, None] == np.arange(shares.shape[2])).sum(axis=0) * 1.0)

    def _shares(self, X: Any, when: When) -> Iterator[NDArray[np.float64]]:
        """Yield the shares of blocks of rows."""
        rows = X.tocsr() if issparse(X) else X
        for block in blocks(X.shape[0], len(self._panel) * len(self.classes_), BLOCK_SHARES):
            yield self._panel.shares(rows[block], when)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    def _judgements(self, X: Any, when: When) -> tuple[NDArray[np.floating], NDArray[np.integer]]:
        votes, choices = [], []
        for shares in self._shares(X, when):
            votes.append(self._votes_of(shares))
            choices.append(shares.argmax(axis=2))
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


def co_train(
    trainer: Trainer, labels: Labels, seed: int, n_per_class: int, steps: Iterable[int]
) -> Labelling:
    """Add the surest rows of each class until none is left.

    Parameters
    ----------
    trainer : Trainer
        Of which the classifiers have seen the labelled rows.
    labels : Labels
    seed : int
        Decides between rows that are equally sure.
    n_per_class : int
        Rows of each class that are added in an iteration. A row is of the class with the largest
        mean share.
    steps : iterable of int
        The numbers of the iterations.

    Returns
    -------
    Labelling
    """
    codes = labels.codes.copy()
    iterations = np.where(codes >= 0, 0, -1)
    n_iter, stop = 0, "max_iter"
    for n_iter in steps:
        if len(trainer.rows):
            places, given = pick(trainer.judge(), trainer.rows, seed, n_iter, n_per_class)
            codes[trainer.rows[places]] = given
            iterations[trainer.rows[places]] = n_iter
            trainer.add(places, given)
        if not len(trainer.rows):
            stop = "all_labeled"
            break
    return Labelling(codes, iterations, n_iter, cast("Stop", stop))


def pick(
    shares: NDArray[np.float64],
    rows: NDArray[np.integer],
    seed: int,
    iteration: int,
    quotas: int | NDArray[np.integer],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
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
        picked.append(
            own[surest(seed, iteration, rows[own].astype(np.int32), sureness[own], quota)]
        )
    places = np.concatenate(picked)
    return places, codes[places]
