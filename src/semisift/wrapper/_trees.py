"""Decision trees judged for all columns at once, by the compiled kernels.

The trees are those of scikit-learn's DecisionTreeClassifier, read in single precision as there. But
between equally good splits scikit-learn draws a column, where here the one that was picked first is
taken and a new column last.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift import _kernels
from semisift.utils._columns import blocks, extremes, power_of_two
from semisift.wrapper._candidate_scorers import BatchJudge, Columns, Tried
from semisift.wrapper._trials import Trials, divide_columns, log_probability

# Up to so many rows, the rank of a value within its column fits into a byte.
MOST_BYTE_RANKS = 256


class TreeJudge(BatchJudge):
    """Judges columns by decision trees, many at once.

    Parameters
    ----------
    trials : Trials
    max_depth : int or None
    """

    def __init__(self, trials: Trials, max_depth: int | None) -> None:
        super().__init__(trials)
        self.max_depth = max_depth
        low, high = extremes(trials.X)
        # a power of two for each column, which changes no split, keeps single precision in range
        self.unit = power_of_two(np.maximum(-low, high))
        X = divide_columns(trials.X, self.unit).astype(np.float32)
        self.columns = _kernels.columns.Columns(X)
        self.ranks = None
        if not issparse(X) and len(X) <= MOST_BYTE_RANKS:
            self.ranks = _kernels.grow.rank_columns(X)
        self.weights = np.zeros((len(trials.splits), len(trials.codes)), dtype=np.int32)
        for weights, split in zip(self.weights, trials.splits, strict=True):
            weights[split.train] = 1

    def _begin(self, picks: Columns) -> Columns:
        return picks

    def _blocks(self, known: Columns, n_columns: int) -> Iterator[slice]:
        return blocks(n_columns, 2 * self.weights.size + 20 * len(self.trials.held_out))

    def _extend(self, known: Columns, columns: Columns, sure: bool) -> Tried:
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

    def _grow(self, picks: Columns, columns: Columns) -> "_kernels.grow.Trees":
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

    def _find_leaves(
        self, trees: "_kernels.grow.Trees", picks: Columns, columns: Columns
    ) -> NDArray[np.int64]:
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
