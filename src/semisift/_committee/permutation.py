"""What a committee member that is a scikit-learn classifier loses when its columns are permuted."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.tree import BaseDecisionTree

from semisift._classifiers import labels_of, probabilities_of
from semisift.math.streams import Purpose, stream_words

# Where an expectation over all permutations is out of reach.
N_PERMUTATIONS = 5
# Rows with a replaced value are stacked up to this size, so that one call predicts many of them.
STACK_BYTES = 1 << 26


# One vote in the fixed-point arithmetic of probability votes.
VOTE = 65536


class Member(NamedTuple):
    """A fitted estimator: its number in the committee, its columns and the number of classes."""

    number: int
    columns: NDArray[np.int32]
    estimator: Any
    n_classes: int

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the class codes that the estimator predicts."""
        if not X.shape[0]:
            return np.empty(0, dtype=np.intp)
        return labels_of(self.estimator, X, range(self.n_classes)).astype(np.intp)

    @np.errstate(over="ignore", invalid="ignore")  # of values whose sum or distance is too large
    def class_shares(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of all classes; without any, the prediction has them all."""
        shares = np.zeros((X.shape[0], self.n_classes))
        if not hasattr(self.estimator, "predict_proba"):
            shares[np.arange(len(shares)), self.predict(X)] = 1.0
        elif len(shares):
            # an estimator that divides by a vanishing variance gives NaN: no share at all
            classes, found = probabilities_of(self.estimator, X, range(self.n_classes))
            shares[:, classes.astype(np.intp)] = np.nan_to_num(found)
        return shares

    def cast(self, X: Any, probability: bool) -> NDArray[np.int64]:
        """Return the votes on each row: one for a class, or shares in units of 1 / 65536."""
        if probability:
            return np.floor(VOTE * self.class_shares(X) + 0.5).astype(np.int64)
        return (self.predict(X)[:, None] == np.arange(self.n_classes)).astype(np.int64)

    def judge(self, X: Any) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the predicted class codes and the probability of each."""
        predicted = self.predict(X)
        return predicted, self.class_shares(X)[np.arange(len(predicted)), predicted]


class Constant:
    """Predicts the only class that a bag has."""

    def __init__(self, code: int) -> None:
        self.classes_ = np.array([code])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class for each row."""
        return np.repeat(self.classes_, X.shape[0])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return that it is certain of each row."""
        return np.ones((X.shape[0], 1))


def lose_columns(
    member: Member,
    X: Any,
    label: NDArray[np.integer],
    right: NDArray[np.bool_],
    weights: NDArray[np.float64],
    seed: int,
    sampled: bool,
    copies: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return what a member loses when each of its columns is permuted.

    Parameters
    ----------
    member : Member
    X : array or CSR array of shape (n, n_columns)
        The rows to permute over.
    label : array of shape (n,)
    right : boolean array of shape (n,)
        Whether the member predicts the label.
    weights : array of shape (n,)
        What a row counts for.
    seed : int
    sampled : bool
        One random permutation for each column instead of the expectation, or its estimate.
    copies : array of shape (n,), optional
        How many rows each row stands for: in the expectation it gives its value to others so often.
        A random permutation takes each for one.

    Returns
    -------
    columns : int array
        Positions in ``member.columns``; the columns left out cannot change a prediction.
    losses : array of that length
    """
    columns = _columns_in_use(member.estimator, X.shape[1])
    losses = np.zeros(len(columns))
    at_once = max(1, STACK_BYTES // (8 * N_PERMUTATIONS * X.shape[0] * X.shape[1]))
    for start in range(0, len(columns), at_once):
        trials = [
            (place, values, share)
            for place in range(start, min(start + at_once, len(columns)))
            for values, share in _replace(member, X, columns[place], place, seed, sampled, copies)
        ]
        places, replaced, shares = (np.array(part) for part in zip(*trials, strict=True))
        predicted = _predict_replaced(member, X, columns[places], replaced)
        lost = ((right * 1.0 - (predicted == label)) * weights).sum(axis=1)
        losses += np.bincount(places, shares * lost, minlength=len(columns))
    return columns, losses


def _columns_in_use(estimator: Any, n_columns: int) -> NDArray[np.intp]:
    """Return the columns that a prediction can depend on."""
    if isinstance(estimator, Constant):
        return np.empty(0, dtype=np.intp)
    if isinstance(estimator, BaseDecisionTree):
        feature = estimator.tree_.feature
        return np.unique(feature[feature >= 0])
    return np.arange(n_columns)


def _replace(
    member: Member,
    X: Any,
    column: int,
    place: int,
    seed: int,
    sampled: bool,
    copies: NDArray[np.float64] | None,
) -> Iterator[tuple[NDArray[Any], float]]:
    """Yield what a column is replaced by, and the share that it has in the permuted column's loss.

    Over all permutations each of the n values meets a row equally often. Values between the same
    two thresholds of a tree are as one, so a tree is asked about one of them, for all rows at once;
    gaps are one more such value.
    """
    values = X[:, [column]].toarray().ravel() if issparse(X) else X[:, column]
    n_rows = len(values)
    if isinstance(member.estimator, BaseDecisionTree) and not sampled:
        tree = member.estimator.tree_
        thresholds = np.unique(tree.threshold[tree.feature == column])
        interval = np.searchsorted(thresholds, values.astype(np.float32))  # as the tree reads them
        interval[np.isnan(values)] = len(thresholds) + 1
        _, first, place_of = np.unique(interval, return_index=True, return_inverse=True)
        counts = np.bincount(place_of, copies)
        total = n_rows if copies is None else copies.sum()
        for value, count in zip(values[first], counts.tolist(), strict=True):
            yield np.full(n_rows, value), count / total
        return
    n_permutations = 1 if sampled else N_PERMUTATIONS
    counters = np.arange(n_permutations * n_rows) + place * n_permutations * n_rows
    words = stream_words(seed, member.number, Purpose.PERMUTATION, counters)
    for order in words.reshape(n_permutations, n_rows).argsort(axis=1):
        yield values[order], 1 / n_permutations


def _predict_replaced(
    member: Member, X: Any, columns: NDArray[np.intp], replaced: NDArray[Any]
) -> NDArray[np.intp]:
    """Predict all rows of X once for each trial, in which one column has other values.

    Parameters
    ----------
    member : Member
    X : array or CSR array of shape (n, n_columns)
    columns : int array of shape (n_trials,)
    replaced : array of shape (n_trials, n)

    Returns
    -------
    int array of shape (n_trials, n)
    """
    predicted = np.empty(replaced.size, dtype=np.intp)
    at_once = max(1, STACK_BYTES // (8 * X.shape[1]))
    for start in range(0, replaced.size, at_once):
        place = np.arange(start, min(start + at_once, replaced.size))
        trial, row = np.divmod(place, X.shape[0])
        stack = X[row].toarray() if issparse(X) else X[row]
        stack[np.arange(len(place)), columns[trial]] = replaced[trial, row]
        predicted[place] = member.predict(csr_array(stack) if issparse(X) else stack)
    return predicted.reshape(replaced.shape)
