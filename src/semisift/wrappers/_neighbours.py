"""Nearest neighbours judged for all columns at once.

Squared distances are sums over the columns, so those in the picks are formed once and one square is
added for each further column. Of rows at the same distance, scikit-learn keeps those that its heap
keeps when the rows are looked at in their order. So it is here. (Its k-d tree looks at them in
another order from 61 training rows on, and with few rows or many columns it may round distances
otherwise: among equally distant rows its choice may then be another.)
"""

import numpy as np
from numpy.typing import NDArray

from semisift import kernels
from semisift._threads import one_blas_thread
from semisift.math.blocks import blocks
from semisift.wrappers._judges import Columns, Judge
from semisift.wrappers._trials import Fold, Trials, Verdict, log_probability

# Distances worked on at once, 1 MB: they stay in the cache from one pass to the next.
BLOCK_DISTANCES = 1 << 17


class NeighboursJudge(Judge):
    """Judges all columns at once by the k nearest neighbours.

    Parameters
    ----------
    trials : Trials
    n_neighbours : int
        Where there are fewer training rows, all of them vote.
    """

    def __init__(self, trials: Trials, n_neighbours: int) -> None:
        super().__init__(trials)
        self.n_neighbours = n_neighbours

    def judge(self, picks: Columns, columns: Columns, sure: bool) -> Verdict:
        """Judge each of `columns` as the next one after the picks."""
        trials = self.trials
        accuracy, confidence = np.zeros((2, len(trials.samples), len(columns)))
        known = [
            _distances(trials, split, trials.take(own))
            for splits, own in zip(trials.splits_of, picks, strict=True)
            for split in splits
        ]
        largest = max((distances.size for distances in known), default=1)
        for block in blocks(len(columns), largest, BLOCK_DISTANCES):
            values = np.ascontiguousarray(trials.take(columns[block]).T)
            right = np.empty((len(trials.held_out), len(values)), dtype=bool)
            share = np.empty(right.shape)
            start = 0
            with one_blas_thread():  # its products are small
                for split, distances in zip(trials.splits, known, strict=True):
                    own = slice(start, start + len(split.test))
                    right[own], share[own] = self._predict(split, distances, values)
                    start = own.stop
            verdict = trials.tally(right, log_probability(share))
            accuracy[:, block], confidence[:, block] = verdict
        return Verdict(accuracy, confidence)

    def _predict(
        self, split: Fold, known: NDArray[np.float64], values: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return which rows are right and the share of neighbours in the true class, by column."""
        codes = self.trials.codes
        x, y = np.take(values, split.test, axis=1), np.take(values, split.train, axis=1)
        distances = x[:, :, None] - y[:, None, :]
        np.square(distances, out=distances)
        distances += known
        k = min(self.n_neighbours, len(split.train))
        votes = kernels.heaps.count_votes(
            distances.reshape(-1, len(split.train)), codes[split.train], self.trials.n_classes, k
        ).reshape(*distances.shape[:2], -1)
        truth = codes[split.test]
        right = votes.argmax(axis=2) == truth
        share = np.take_along_axis(votes, truth[None, :, None], axis=2)[..., 0] / k
        return right.T, share.T


def _distances(trials: Trials, split: Fold, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return squared distances, of shape (n_test, n_train), adding one column after the other."""
    distances = np.zeros((len(split.test), len(split.train)))
    for x in values.T:
        distances += np.square(x[split.test, None] - x[split.train])
    return distances
