"""Nearest neighbours judged for all columns at once, and NNge for many in one call.

Squared distances are sums over the columns, so those in the picks are formed once and one square is
added for each further column. Of rows at the same distance, scikit-learn keeps those that its heap
keeps when the rows are looked at in their order. So it is here. (Its k-d tree looks at them in
another order from 61 training rows on, and with few rows or many columns it may round distances
otherwise: among equally distant rows its choice may then be another.)
"""

from collections.abc import Iterator

import numpy as np

from semisift import _kernels
from semisift.utils._columns import blocks
from semisift.wrapper._candidate_scorers import Columns, Judge, SplitJudge, Tried
from semisift.wrapper._trials import Array, Fold, Trials, Verdict, log_probability

# Distances worked on at once, 1 MB: they stay in the cache from one pass to the next.
BLOCK_DISTANCES = 1 << 17


class NeighboursJudge(SplitJudge):
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

    def _model(self, split: Fold, picks: Columns) -> Array:
        """Return squared distances, of shape (n_test, n_train), adding column after column."""
        distances = np.zeros((len(split.test), len(split.train)))
        for x in self.trials.take(picks).T:
            distances += np.square(x[split.test, None] - x[split.train])
        return distances

    def _blocks(self, known: list[Array], n_columns: int) -> Iterator[slice]:
        return blocks(n_columns, max(model.size for model in known), BLOCK_DISTANCES)

    def _predict(self, split: Fold, model: Array, values: Array) -> Tried:
        codes = self.trials.codes
        x, y = np.take(values, split.test, axis=1), np.take(values, split.train, axis=1)
        distances = x[:, :, None] - y[:, None, :]
        np.square(distances, out=distances)
        distances += model
        k = min(self.n_neighbours, len(split.train))
        votes = _kernels.heaps.count_votes(
            distances.reshape(-1, len(split.train)), codes[split.train], self.trials.n_classes, k
        ).reshape(*distances.shape[:2], -1)
        truth = codes[split.test]
        right = votes.argmax(axis=2) == truth
        share = np.take_along_axis(votes, truth[None, :, None], axis=2)[..., 0] / k
        return right.T, log_probability(share.T)


class NNgeJudge(Judge):
    """Judges columns by NNge models, all of numeric columns, with the compiled kernel.

    As in `EstimatorJudge`, once there are picks a column is given up as soon as it cannot reach the
    best one before it.

    Parameters
    ----------
    trials : Trials
    n_attempts, n_intervals : int
    half_open : bool
        The parameters of NNge.
    """

    def __init__(self, trials: Trials, n_attempts: int, n_intervals: int, half_open: bool) -> None:
        super().__init__(trials)
        self.options = trials.n_classes, n_attempts, n_intervals, half_open

    def judge(self, picks: Columns, columns: Columns, sure: bool) -> Verdict:
        """Judge each of `columns` as the next one after the picks."""
        trials = self.trials
        labels = trials.codes.astype(np.int32)
        right = np.zeros((len(trials.held_out), len(columns)), dtype=bool)
        samples = zip(trials.splits_of, picks, trials.parts_of_samples, strict=True)
        for splits, own_picks, own in samples:
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
