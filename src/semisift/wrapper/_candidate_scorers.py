"""Scores of candidate columns: what a learner makes of each column beside those picked before.

`EstimatorScorer` fits the estimator for each column and split. For learners whose model of the
picked columns can be extended by one more column at once, batch scorers give the same scores for
all columns side by side: _batch_scorers.py, _naive_bayes.py.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from semisift.base._validation import decisions_of, fit_classifier, labels_of
from semisift.committee._estimators import Constant, Member
from semisift.parallel import one_blas_thread, one_openmp_thread
from semisift.utils._columns import blocks
from semisift.utils._random import Purpose, draw_below
from semisift.utils._sklearn_compat import check_params
from semisift.utils._typing import Bools, Floats, Ints
from semisift.wrapper._trials import CandidateScores, Fold, Trials, log_probability, slices_of

# which held-out rows are right with each of some columns, and how sure the model is of their class,
# both of shape (n_held_out, n_columns): see `Trials.tally`
Tried = tuple[Bools, Floats | None]


class CandidateScorer(ABC):
    """Scores columns beside the picks of each sample.

    Parameters
    ----------
    trials : Trials
    """

    name: ClassVar[str]
    # whether confidence costs next to nothing beside accuracy
    sure_at_once: ClassVar[bool] = True

    def __init__(self, trials: Trials) -> None:
        self.trials = trials

    @abstractmethod
    def score(self, picks: Ints, columns: Ints, sure: bool) -> CandidateScores:
        """Score each of `columns` as the next one after the picks.

        Parameters
        ----------
        picks : int array of shape (n_samples, n_picks)
            What was picked for each sample, in this order.
        columns : int array
        sure : bool
            Whether confidence is asked for.

        Returns
        -------
        CandidateScores
        """


class BatchScorer(CandidateScorer):
    """Scores blocks of columns at once, each beside what is known of the picks."""

    def score(self, picks: Ints, columns: Ints, sure: bool) -> CandidateScores:
        """Score each of `columns` as the next one after the picks."""
        accuracy, confidence = np.zeros((2, len(self.trials.samples), len(columns)))
        if self.trials.splits:
            with np.errstate(all="ignore"), one_blas_thread():
                known = self._begin(picks)
                for block in self._blocks(known, len(columns)):
                    found = self.trials.tally(*self._extend(known, columns[block], sure))
                    accuracy[:, block] = found.accuracy
                    if found.confidence is not None:
                        confidence[:, block] = found.confidence
        return CandidateScores(accuracy, confidence if sure or self.sure_at_once else None)

    @abstractmethod
    def _begin(self, picks: Ints) -> Any:
        """Return what is known of the picks."""

    @abstractmethod
    def _blocks(self, known: Any, n_columns: int) -> Iterator[slice]:
        """Yield slices of columns to be scored at once."""

    @abstractmethod
    def _extend(self, known: Any, columns: Ints, sure: bool) -> Tried:
        """Return how the held-out rows are predicted with each column."""


class WrappedLearner:
    """An estimator that is cloned once and fitted many times, on class codes.

    Random states that are not fixed are fixed by the seed. A parameter ``categorical`` that is a
    mask of all columns is cut down to the columns at hand, and the number of neighbours to the
    rows.

    Parameters
    ----------
    estimator : classifier or None
        None is a GaussianNB.
    n_features : int
        Number of columns of X.
    seed : int

    Attributes
    ----------
    estimator : classifier
        Not fitted.
    """

    def __init__(self, estimator: Any, n_features: int, seed: int) -> None:
        if estimator is None:
            estimator = GaussianNB()
        if not is_classifier(estimator):
            raise ValueError(f"estimator must be a classifier: got {estimator!r}.")
        self.estimator = clone(estimator)
        # also of nested estimators, which later fits need not do again
        for part in [self.estimator, *self.estimator.get_params().values()]:
            check_params(part)
        # every fit is the same
        free = [
            name
            for name, value in sorted(self.estimator.get_params().items())
            if name.rpartition("__")[2] == "random_state"
            and not isinstance(value, (int, np.integer))
        ]
        states = draw_below(seed, 0, Purpose.NODE_SUBSPACE, np.arange(len(free)), 2**31 - 1)
        self.estimator.set_params(**dict(zip(free, states.tolist(), strict=True)))
        self._categorical = _mask(self.estimator, n_features)
        self._fitted = clone(self.estimator)

    def fit(self, X: Floats, codes: Ints, columns: Any) -> Any:
        """Fit on rows of some columns; the next fit may overwrite what is returned.

        Parameters
        ----------
        X : array of shape (n, number of columns)
        codes : int array of shape (n,)
        columns : int array
            Which columns of the whole X these are.

        Returns
        -------
        A fitted classifier, whose classes are codes; a constant where there is one class.
        """
        if (codes == codes[0]).all():
            return Constant(int(codes[0]))
        if getattr(self.estimator, "warm_start", False):
            self._fitted = clone(self.estimator)
        if self._categorical is not None:
            self._fitted.categorical = self._categorical[columns]
        if isinstance(self.estimator, KNeighborsClassifier):
            self._fitted.n_neighbors = min(self.estimator.n_neighbors, len(X))
        return fit_classifier(self._fitted, X, codes)


def _mask(estimator: Any, n_features: int) -> Bools | None:
    """Return the mask of categorical columns where the estimator has one."""
    mask = getattr(estimator, "categorical", None)
    if mask is None or isinstance(mask, str):
        return None
    mask = np.asarray(mask)
    if mask.dtype != bool or mask.shape != (n_features,):
        raise ValueError(
            "categorical of the estimator must be a mask with one bool for each of the "
            f"{n_features} columns of X: got an array of dtype {mask.dtype} and shape {mask.shape}."
        )
    return mask


class EstimatorScorer(CandidateScorer):
    """Fits the estimator for every column and split.

    Once there are picks, a column is given up as soon as it cannot reach the best one before it:
    its accuracy is then a bound below that.

    Parameters
    ----------
    trials : Trials
    learner : WrappedLearner
    """

    name = "estimator"

    def __init__(self, trials: Trials, learner: WrappedLearner) -> None:
        super().__init__(trials)
        self.learner = learner

    def score(self, picks: Ints, columns: Ints, sure: bool) -> CandidateScores:
        """Score each of `columns` as the next one after the picks."""
        trials = self.trials
        right = np.zeros((len(trials.held_out), len(columns)), dtype=bool)
        sureness = np.zeros(right.shape)
        with (
            config_context(assume_finite=True, skip_parameter_validation=True),
            np.errstate(all="ignore"),
            one_blas_thread(),
            one_openmp_thread(),
        ):
            samples = zip(trials.splits_of, picks, trials.parts_of_samples, strict=True)
            for splits, own_picks, own in samples:
                tried = right[own], sureness[own] if sure else None
                self._score_sample(splits, own_picks, columns, *tried)
        return trials.tally(right, sureness if sure else None)

    def _score_sample(
        self, splits: list[Fold], picks: Ints, columns: Ints, right: Bools, sureness: Floats | None
    ) -> None:
        """Fill in which held-out rows of a sample are right, and how sure the learner is."""
        trials, n_picks, given = self.trials, len(picks), range(self.trials.n_classes)
        parts = np.column_stack([trials.take(picks), np.zeros(len(trials.codes))])
        buffers = [(parts[split.train], parts[split.test]) for split in splits]
        rows = slices_of(len(split.test) for split in splits)
        best = -1.0
        for block in blocks(len(columns), len(trials.codes)):
            values = trials.take(columns[block])
            for place, column in enumerate(columns[block].tolist(), start=block.start):
                if column in picks:
                    continue
                own = np.append(picks, column)
                lost = 0.0
                for split, tested, (train, test) in zip(splits, rows, buffers, strict=True):
                    train[:, n_picks] = values[split.train, place - block.start]
                    test[:, n_picks] = values[split.test, place - block.start]
                    fitted = self.learner.fit(train, trials.codes[split.train], own)
                    truth = trials.codes[split.test]
                    hits = labels_of(fitted, test, given) == truth
                    right[tested, place] = hits
                    if sureness is not None:
                        sureness[tested, place] = sure_of(fitted, test, truth, trials.n_classes)
                    lost += 1.0 - hits.mean()
                    if n_picks and 1.0 - lost / len(splits) < best - 1e-9:
                        break
                else:
                    best = max(best, 1.0 - lost / max(1, len(splits)))


def sure_of(fitted: Any, X: Floats, truth: Ints, n_classes: int) -> Any:
    """Return how sure a classifier is of the true class of each row.

    Parameters
    ----------
    fitted : classifier
        Its classes are codes.
    X : array of shape (n, p)
    truth : int array of shape (n,)
    n_classes : int

    Returns
    -------
    float array of shape (n,), or 0
        The log-probability; without probabilities the margin of the decision function, its value
        for the true class less the largest one of another; without either 0.
    """
    if hasattr(fitted, "predict_proba"):
        shares = Member(0, np.arange(X.shape[1], dtype=np.int32), fitted, n_classes).class_shares(X)
        return log_probability(shares[np.arange(len(truth)), truth])
    if not hasattr(fitted, "decision_function"):
        return 0.0
    classes, decisions = decisions_of(fitted, X, range(n_classes))
    place = np.full(n_classes, -1)
    place[classes.astype(np.intp)] = np.arange(len(classes))
    place = place[truth]  # -1 for a class that the model does not know
    if decisions.ndim == 1:
        return decisions * np.select([place == 1, place == 0], [1.0, -1.0], 0.0)
    rows, known = np.arange(len(place)), place >= 0
    own = np.where(known, decisions[rows, place], decisions.min(axis=1))
    decisions = decisions.copy()
    decisions[rows[known], place[known]] = -np.inf
    return own - decisions.max(axis=1)
