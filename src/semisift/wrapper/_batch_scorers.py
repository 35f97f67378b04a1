"""Nearest neighbours, NNge and decision trees tried for all columns at once; which scorer serves.

Neighbours: squared distances are sums over the columns, so those in the picks are formed once and
one square is added for each further column. Of rows at the same distance, scikit-learn keeps those
that its heap keeps when the rows are looked at in their order. So it is here. (Its k-d tree looks
at them in another order from 61 training rows on, and with few rows or many columns it may round
distances otherwise: among equally distant rows its choice may then be another.)

Trees: those of scikit-learn's DecisionTreeClassifier, read in single precision as there. But
between equally good splits scikit-learn draws a column, where here the one that was picked first is
taken and a new column last.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import _kernels
from semisift.utils._columns import blocks, extremes, power_of_two
from semisift.utils._naive_bayes import NaiveBayes
from semisift.utils._typing import Floats, Ints
from semisift.wrapper._candidate_scorers import (
    BatchScorer,
    CandidateScorer,
    EstimatorScorer,
    Tried,
    WrappedLearner,
)
from semisift.wrapper._naive_bayes import NaiveBayesScorer
from semisift.wrapper._trials import CandidateScores, Trials, divide_columns, log_probability

# Distances worked on at once, 1 MB: they stay in the cache from one pass to the next.
BLOCK_DISTANCES = 1 << 17

# Up to so many rows, the rank of a value within its column fits into a byte.
MAX_BYTE_RANKS = 256


class NeighboursScorer(BatchScorer):
    """Scores all columns at once by the k nearest neighbours.

    Parameters
    ----------
    trials : Trials
    n_neighbours : int
        Where there are fewer training rows, all of them vote.
    """

    name = "neighbours"

    def __init__(self, trials: Trials, n_neighbours: int) -> None:
        super().__init__(trials)
        self.n_neighbours = n_neighbours

    def _begin(self, picks: Ints) -> list[Floats]:
        """Return squared distances for each split, of shape (n_test, n_train)."""
        known = []
        for split, sample in zip(self.trials.splits, self.trials.sample_of_split, strict=True):
            distances = np.zeros((len(split.test), len(split.train)))
            for x in self.trials.take(picks[sample]).T:
                distances += np.square(x[split.test, None] - x[split.train])
            known.append(distances)
        return known

    def _blocks(self, known: list[Floats], n_columns: int) -> Iterator[slice]:
        return blocks(n_columns, max(model.size for model in known), BLOCK_DISTANCES)

    def _extend(self, known: list[Floats], columns: Ints, sure: bool) -> Tried:
        trials = self.trials
        values = np.ascontiguousarray(trials.take(columns).T)
        right = np.empty((len(trials.held_out), len(columns)), dtype=bool)
        sureness = np.empty(right.shape)
        for split, own, picked in zip(trials.splits, trials.parts, known, strict=True):
            x, y = (np.take(values, rows, axis=1) for rows in (split.test, split.train))
            distances = x[:, :, None] - y[:, None, :]
            np.square(distances, out=distances)
            distances += picked
            k, n_train = min(self.n_neighbours, len(split.train)), len(split.train)
            votes = _kernels.heaps.count_votes(
                distances.reshape(-1, n_train), trials.codes[split.train], trials.n_classes, k
            ).reshape(*distances.shape[:2], -1)
            truth = trials.codes[split.test]
            right[own] = (votes.argmax(axis=2) == truth).T
            share = np.take_along_axis(votes, truth[None, :, None], axis=2)[..., 0] / k
            sureness[own] = log_probability(share.T)
        return right, sureness


class NNgeScorer(CandidateScorer):
    """Scores columns by NNge models, all of numeric columns, with the compiled kernel.

    As in `EstimatorScorer`, once there are picks a column is given up as soon as it cannot reach
    the best one before it.

    Parameters
    ----------
    trials : Trials
    n_attempts, n_intervals : int
    half_open : bool
        The parameters of NNge.
    """

    name = "NNge"

    def __init__(self, trials: Trials, n_attempts: int, n_intervals: int, half_open: bool) -> None:
        super().__init__(trials)
        self.options = trials.n_classes, n_attempts, n_intervals, half_open

    def score(self, picks: Ints, columns: Ints, sure: bool) -> CandidateScores:
        """Score each of `columns` as the next one after the picks."""
        trials = self.trials
        labels = trials.codes.astype(np.int32)
        right = np.zeros((len(trials.held_out), len(columns)), dtype=bool)
        for splits, own_picks, own in zip(
            trials.splits_of, picks, trials.parts_of_samples, strict=True
        ):
            if not splits:
                continue
            train, test = (
                np.concatenate(rows).astype(np.int32) for rows in zip(*splits, strict=True)
            )
            sizes = [[len(split.train), len(split.test)] for split in splits]
            ends = np.cumsum(sizes, axis=0, dtype=np.int32)
            others = np.flatnonzero(~np.isin(columns, own_picks))
            picked = trials.take(own_picks)
            for block in blocks(len(others), len(labels)):
                places = others[block]
                values = np.ascontiguousarray(trials.take(columns[places]).T)
                part = np.zeros((len(test), len(places)), dtype=bool)
                _kernels.nnge.judge_columns(
                    *(picked, values, labels, train, test, ends, *self.options),
                    give_up=picks.shape[1] > 0,
                    right=part,
                )
                right[own, places] = part
        # the probability of a class is 1 or 0
        return trials.tally(right, log_probability(right.astype(np.float64)) if sure else None)


class TreeScorer(BatchScorer):
    """Scores columns by decision trees, many at once.

    Parameters
    ----------
    trials : Trials
    max_depth : int or None
    """

    name = "tree"

    def __init__(self, trials: Trials, max_depth: int | None) -> None:
        super().__init__(trials)
        self.max_depth = max_depth
        low, high = extremes(trials.X)
        # a power of two for each column, which changes no split, keeps single precision in range
        self.unit = power_of_two(np.maximum(-low, high))
        X = divide_columns(trials.X, self.unit).astype(np.float32)
        self.columns = _kernels.columns.Columns(X)
        self.ranks = None
        if not issparse(X) and len(X) <= MAX_BYTE_RANKS:
            self.ranks = _kernels.grow.rank_columns(X)
        self.weights = np.zeros((len(trials.splits), len(trials.codes)), dtype=np.int32)
        for weights, split in zip(self.weights, trials.splits, strict=True):
            weights[split.train] = 1

    def _begin(self, picks: Ints) -> Ints:
        return picks

    def _blocks(self, known: Ints, n_columns: int) -> Iterator[slice]:
        return blocks(n_columns, 2 * self.weights.size + 20 * len(self.trials.held_out))

    def _extend(self, known: Ints, columns: Ints, sure: bool) -> Tried:
        trees = self._grow(known, columns)
        leaves = self._find_leaves(trees, known, columns)
        truth = np.broadcast_to(self.trials.truth[:, None], leaves.shape)
        right = trees.leaf[leaves] == truth
        # the share of the true class among the training rows of a leaf
        share = right.astype(np.float64)
        impure = trees.impure[leaves]
        mixed = impure >= 0
        counts = trees.counts[impure[mixed]]
        share[mixed] = counts[np.arange(len(counts)), truth[mixed]] / counts.sum(axis=1)
        return right, log_probability(share)

    def _grow(self, picks: Ints, columns: Ints) -> "_kernels.grow.Trees":
        """Grow a tree for each split and, within it, each column."""
        trials, n_columns = self.trials, len(columns)
        subspaces = np.empty((len(trials.splits), n_columns, picks.shape[1] + 1), dtype=np.int32)
        subspaces[:, :, :-1] = picks[trials.sample_of_split][:, None]
        subspaces[:, :, -1] = columns
        n_members = len(trials.splits) * n_columns
        none = np.empty((n_members, 0), dtype=np.int32)
        return _kernels.grow.grow(
            self.columns,
            trials.codes.astype(np.int32),
            trials.n_classes,
            np.arange(len(trials.codes), dtype=np.int32),
            np.repeat(self.weights, n_columns, axis=0),
            none,
            none,
            subspaces.reshape(n_members, -1),
            codes=self.ranks,
            max_depth=self.max_depth,
        )

    def _find_leaves(self, trees: "_kernels.grow.Trees", picks: Ints, columns: Ints) -> Ints:
        """Return the leaf that each held-out row falls into, of shape (n_held_out, n_columns)."""
        trials = self.trials
        own = np.concatenate([columns, np.setdiff1d(picks, columns)])
        values = (trials.take(own) * (trials.unit / self.unit[own])).astype(np.float32)
        place = np.empty(trials.n_features, dtype=np.int64)
        place[own] = np.arange(len(own))
        tree = trials.split_of_held_out[:, None] * len(columns) + np.arange(len(columns))
        root = trees.offsets[tree].astype(np.int64).ravel()
        rows = np.repeat(trials.held_out, len(columns))
        node = root.copy()
        inner = np.flatnonzero(trees.feature[node] >= 0)
        while len(inner):
            here = node[inner]
            x = values[rows[inner], place[trees.feature[here]]]
            node[inner] = root[inner] + trees.left[here] + (x > trees.threshold[here])
            inner = inner[trees.feature[node[inner]] >= 0]
        return node.reshape(tree.shape)


# --- which scorer serves an estimator -------------------------------------------------------------

SCORERS: dict[str, Any] = {
    "naive Bayes": NaiveBayesScorer,
    "neighbours": NeighboursScorer,
    "NNge": NNgeScorer,
    "tree": TreeScorer,
}
# Those that need the compiled kernels.
COMPILED = {"NNge", "tree"}


def choose_scorer(learner: WrappedLearner, trials: Trials) -> CandidateScorer:
    """Return a scorer of all columns at once where there is one for the estimator.

    An estimator may offer a method ``_batch_model(n_features)``, which returns a key of `SCORERS`
    and a tuple of what that scorer takes besides the trials, or None to be fitted for each column.
    MixedNB and NNge have it.
    """
    estimator, kind = learner.estimator, type(learner.estimator)
    model: tuple[str, tuple[Any, ...]] | None = None
    if hasattr(estimator, "_batch_model"):
        model = estimator._batch_model(trials.n_features)
    elif kind is GaussianNB and estimator.priors is None:
        model = "naive Bayes", (NaiveBayes(estimator.var_smoothing),)
    elif kind is KNeighborsClassifier and _counts_euclidean(estimator):
        model = "neighbours", (estimator.n_neighbors,)
    elif kind is DecisionTreeClassifier:
        # all parameters but the depth are as by default; random states do not matter
        free = {"max_depth": estimator.max_depth, "random_state": estimator.random_state}
        if estimator.get_params() == kind(**free).get_params():
            model = "tree", (estimator.max_depth,)
    if model is None or (model[0] in COMPILED and not _kernels.are_compiled()):
        return EstimatorScorer(trials, learner)
    return SCORERS[model[0]](trials, *model[1])


def _counts_euclidean(estimator: KNeighborsClassifier) -> bool:
    euclidean = estimator.metric == "euclidean" or (
        estimator.metric == "minkowski" and estimator.p == 2
    )
    return euclidean and estimator.weights == "uniform" and not estimator.metric_params
