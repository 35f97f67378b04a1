"""NNge judged for many columns in one call of the compiled kernel."""

import numpy as np
from numpy.typing import NDArray

from semisift import kernels
from semisift.math.blocks import blocks
from semisift.wrappers._judges import Columns, Judge
from semisift.wrappers._trials import Fold, Trials, Verdict, log_probability


class NNgeJudge(Judge):
    """Judges columns by NNge models, all of numeric columns.

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
        start = 0
        for splits, own_picks in zip(trials.splits_of, picks, strict=True):
            if not splits:
                continue
            train, test, ends = _joined(splits)
            own = np.zeros((len(test), len(columns)), dtype=bool)
            others = np.flatnonzero(~np.isin(columns, own_picks))
            picked = trials.take(own_picks)
            for block in blocks(len(others), len(labels)):
                places = others[block]
                values = np.ascontiguousarray(trials.take(columns[places]).T)
                part = np.zeros((len(test), len(places)), dtype=bool)
                kernels.nnge.judge_columns(
                    *(picked, values, labels, train, test, ends, *self.options),
                    give_up=picks.shape[1] > 0,
                    right=part,
                )
                own[:, places] = part
            right[start : start + len(test)] = own
            start += len(test)
        # the probability of a class is 1 or 0
        return trials.tally(right, log_probability(right.astype(np.float64)) if sure else None)


def _joined(
    splits: list[Fold],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the rows of all splits to learn from and to predict, and where each split ends."""
    train = np.concatenate([split.train for split in splits]).astype(np.int32)
    test = np.concatenate([split.test for split in splits]).astype(np.int32)
    sizes = np.array([[len(split.train), len(split.test)] for split in splits])
    return train, test, np.cumsum(sizes, axis=0, dtype=np.int32)
