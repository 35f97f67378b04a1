"""Judges: what a learner makes of every column beside those picked before.

`EstimatorJudge` fits the estimator for each column and split. For learners whose model of the
picked columns can be extended by one more column at once, other judges give the same verdicts for
all columns side by side: _naive_bayes.py, _neighbours.py, _nnge.py, _trees.py, _linear.py.
"""

from abc import ABC, abstractmethod
from contextlib import ExitStack
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

from semisift._threads import one_blas_thread, one_openmp_thread
from semisift.math.blocks import blocks
from semisift.wrappers._learner import WrappedLearner
from semisift.wrappers._trials import Trials, Verdict, log_probability

Columns = NDArray[np.int64]


class Judge(ABC):
    """Judges columns beside the picks of each sample.

    Parameters
    ----------
    trials : Trials
    """

    # whether confidence costs next to nothing beside accuracy
    sure_at_once: ClassVar[bool] = True

    def __init__(self, trials: Trials) -> None:
        self.trials = trials

    @abstractmethod
    def judge(self, picks: Columns, columns: Columns, sure: bool) -> Verdict:
        """Judge each of `columns` as the next one after the picks.

        Parameters
        ----------
        picks : int array of shape (n_samples, n_picks)
            What was picked for each sample, in this order.
        columns : int array
        sure : bool
            Whether confidence is asked for.

        Returns
        -------
        Verdict
        """


class EstimatorJudge(Judge):
    """Fits the estimator for every column and split.

    Once there are picks, a column is given up as soon as it cannot reach the best one before it:
    its accuracy is then a bound below that.

    Parameters
    ----------
    trials : Trials
    learner : WrappedLearner
    """

    def __init__(self, trials: Trials, learner: WrappedLearner) -> None:
        super().__init__(trials)
        self.learner = learner

    def judge(self, picks: Columns, columns: Columns, sure: bool) -> Verdict:
        """Judge each of `columns` as the next one after the picks."""
        trials = self.trials
        right = np.zeros((len(trials.held_out), len(columns)), dtype=bool)
        sureness = np.zeros(right.shape)
        with ExitStack() as quick:
            quick.enter_context(config_context(assume_finite=True, skip_parameter_validation=True))
            quick.enter_context(np.errstate(all="ignore"))
            quick.enter_context(one_blas_thread())
            quick.enter_context(one_openmp_thread())
            start = 0
            for splits, own_picks in zip(trials.splits_of, picks, strict=True):
                stop = start + sum(len(split.test) for split in splits)
                own = slice(start, stop)
                self._judge_sample(splits, own_picks, columns, sure, right[own], sureness[own])
                start = stop
        return trials.tally(right, sureness if sure else None)

    def _judge_sample(
        self,
        splits: list[Any],
        picks: Columns,
        columns: Columns,
        sure: bool,
        right: NDArray[np.bool_],
        sureness: NDArray[np.float64],
    ) -> None:
        trials, n_picks = self.trials, len(picks)
        parts = np.empty((len(trials.codes), n_picks + 1))
        parts[:, :n_picks] = trials.take(picks)
        parts[:, n_picks] = 0.0
        buffers = [(parts[split.train], parts[split.test]) for split in splits]
        taken = set(picks.tolist())
        best = -1.0
        for block in blocks(len(columns), len(trials.codes)):
            values = trials.take(columns[block])
            for place, column in enumerate(columns[block].tolist(), start=block.start):
                if column in taken:
                    continue
                own = np.append(picks, column)
                lost, start = 0.0, 0
                for split, (train, test) in zip(splits, buffers, strict=True):
                    train[:, n_picks] = values[split.train, place - block.start]
                    test[:, n_picks] = values[split.test, place - block.start]
                    stop = start + len(split.test)
                    fitted = self.learner.fit(train, trials.codes[split.train], own)
                    truth = trials.codes[split.test]
                    hits = fitted.predict(test) == truth
                    right[start:stop, place] = hits
                    if sure:
                        sureness[start:stop, place] = sure_of(fitted, test, truth)
                    start = stop
                    lost += 1.0 - hits.mean()
                    if n_picks and 1.0 - lost / len(splits) < best - 1e-9:
                        break
                else:
                    best = max(best, 1.0 - lost / max(1, len(splits)))


def sure_of(fitted: Any, X: NDArray[np.float64], truth: NDArray[np.int64]) -> Any:
    """Return how sure a classifier is of the true class of each row.

    Parameters
    ----------
    fitted : classifier
        Its classes are codes.
    X : array of shape (n, p)
    truth : int array of shape (n,)

    Returns
    -------
    float array of shape (n,), or 0
        The log-probability; without probabilities the margin of the decision function, its value
        for the true class less the largest one of another; without either 0.
    """
    place = np.searchsorted(fitted.classes_, truth)
    known = fitted.classes_[np.minimum(place, len(fitted.classes_) - 1)] == truth
    place = np.where(known, place, 0)
    rows = np.arange(len(truth))
    if hasattr(fitted, "predict_proba"):
        probability = fitted.predict_proba(X)[rows, place]
        return log_probability(np.where(known, probability, 0.0))
    if not hasattr(fitted, "decision_function"):
        return 0.0
    decision = fitted.decision_function(X)
    if decision.ndim == 1:
        return np.where(place == 1, decision, -decision) * np.where(known, 1.0, 0.0)
    own = np.where(known, decision[rows, place], decision.min(axis=1))
    decision[rows[known], place[known]] = -np.inf
    return own - decision.max(axis=1)
