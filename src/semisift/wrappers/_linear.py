"""Linear models judged for all columns at once: ridge regression and logistic regression.

Ridge regression of the classes on the picks is solved once for each split; one further column adds
its residual after the picks, times a weight in closed form. Logistic regression starts from the
solution with the picks alone and takes Newton steps for all columns side by side (_newton.py).

Both are solved to the last digits, where scikit-learn's L-BFGS stops at its tolerance. Decision
values that differ by rounding only are equal here, and the first class is predicted.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.math.blocks import blocks
from semisift.wrappers._judges import Columns, Judge, SplitJudge, Tried, margins
from semisift.wrappers._newton import Scaled, log_odds, newton
from semisift.wrappers._trials import Array, Fold, Trials, Verdict, log_probability

# Decision values closer than this share of how large they may be are equal.
SAME_DECISION = 1e-9

# Of models with more weights than this, logistic regressions are fitted one by one: what a Newton
# step costs grows with the cube (measured on 62 rows: with 170 weights three times faster).
MOST_WEIGHTS = 250

# Directions of the picks that are shorter than this, the longest being 1, are rounding.
SHORTEST = 1e-13


class LinearJudge(SplitJudge):
    """Judges all columns at once by a linear model.

    Parameters
    ----------
    trials : Trials
    kind : {Ridge, Logistic}
    for_large : Judge or None
        Of models with more than `MOST_WEIGHTS` weights.
    *options
        penalty and fit_intercept of the model.
    """

    def __init__(
        self, trials: Trials, kind: "type[LinearModel]", for_large: Judge | None, *options: Any
    ) -> None:
        super().__init__(trials)
        self.kind, self.for_large, self.options = kind, for_large, options

    def judge(self, picks: Columns, columns: Columns, sure: bool) -> Verdict:
        """Judge each of `columns` as the next one after the picks."""
        n_targets = self.trials.n_classes if self.trials.n_classes > 2 else 1
        if self.for_large is not None and n_targets * (picks.shape[1] + 2) > MOST_WEIGHTS:
            return self.for_large.judge(picks, columns, sure)
        return super().judge(picks, columns, sure)

    def _model(self, split: Fold, picks: Columns) -> tuple[NDArray[np.int64], "LinearModel | None"]:
        """Return the classes of a split and its model, None for a single class."""
        codes = self.trials.codes[split.train]
        classes = np.unique(codes)
        if len(classes) == 1:
            return classes, None
        targets = codes == (classes if len(classes) > 2 else classes[1:])[:, None]
        return classes, self.kind(self.trials.take(picks).T, split, targets, *self.options)

    def _blocks(self, known: list[Any], n_columns: int) -> Iterator[slice]:
        widths = [model.width for _, model in known if model]
        return blocks(n_columns, max(len(self.trials.held_out), *widths, 1))

    def _predict(self, split: Fold, model: Any, values: Array) -> Tried:
        classes, model = model
        truth = self.trials.codes[split.test]
        if model is None:
            right = (truth == classes[0])[:, None]
            return right, log_probability(right.astype(np.float64))
        decisions, size = model.extend(values)
        same = SAME_DECISION * size[:, None]
        if len(classes) == 2:
            winner = (decisions[:, 0] > same).astype(np.int64)
        else:
            top = decisions.max(axis=1) - same
            winner = (decisions >= top[:, None]).argmax(axis=1)
        is_class = classes == truth[:, None]
        place = np.where(is_class.any(axis=1), is_class.argmax(axis=1), -1)
        return (winner == place).T, model.sure_of(decisions, place).T


@dataclass(eq=False)
class LinearModel(ABC):
    """A linear model of the picks in one split, to be extended by further columns.

    Parameters
    ----------
    values : array of shape (n_picks, n)
        The picks.
    split : Fold
    targets : bool array of shape (n_targets, n_train)
    penalty : float
        Of the square of a weight.
    fit_intercept : bool

    Attributes
    ----------
    width : int
        Numbers that are worked on for each further column.
    """

    values: InitVar[Array]
    split: Fold
    targets: NDArray[np.bool_]
    penalty: float
    fit_intercept: bool
    width: int = field(init=False)

    def __post_init__(self, values: Array) -> None:
        self.picked = Scaled.build(values, self.split, self.penalty, self.fit_intercept)
        self._fit()

    @abstractmethod
    def _fit(self) -> None:
        """Fit the picks alone."""

    def extend(self, values: Array) -> tuple[Array, Array]:
        """Add each of some columns.

        Parameters
        ----------
        values : array of shape (n_columns, n)
            Of all rows of the trials.

        Returns
        -------
        decisions : array of shape (n_columns, n_targets, n_test)
        size : array of shape (n_columns,)
            How large the decision values may be. Where the classes cancel each other exactly, they
            are rounding, and small beside this, but not beside each other.
        """
        further = Scaled.build(values, self.split, self.penalty, self.fit_intercept)
        decisions, size = self._extend(further)
        # of weakly fitted models
        possible = np.minimum(1.0, self.picked.squares.sum() + further.squares)
        return decisions, size + np.sqrt(further.train.shape[1]) * possible

    @abstractmethod
    def _extend(self, further: "Scaled") -> tuple[Array, Any]:
        """Return the decision values with each column, and the largest of the training rows."""

    @abstractmethod
    def sure_of(self, decisions: Array, place: NDArray[np.int64]) -> Array:
        """Return how sure the model is of each true class, of shape (n_columns, n_test).

        Parameters
        ----------
        decisions : array of shape (n_columns, n_targets, n_test)
        place : int array of shape (n_test,)
            Of the true class among those of the split; -1 for another one.
        """


class Ridge(LinearModel):
    """Ridge regression of -1 and 1."""

    def _fit(self) -> None:
        n_train = len(self.split.train)
        self.width = 2 * n_train + (len(self.targets) + 2) * len(self.split.test)
        self.signs = np.where(self.targets, 1.0, -1.0)
        mean = self.signs.mean(axis=1, keepdims=True) * self.fit_intercept
        # the weights of the picks are a product with this, also where picks are alike
        padded = np.hstack([self.picked.train, np.diag(np.sqrt(self.picked.penalty))])
        self.inverse = np.linalg.pinv(padded, rcond=SHORTEST)[:n_train]
        weights = (self.signs - mean) @ self.inverse
        self.decisions = mean + weights @ self.picked.test
        self.size = np.abs(mean).max()

    def _extend(self, further: Scaled) -> tuple[Array, Any]:
        shadow = further.train @ self.inverse  # weights of the picks that come nearest to a column
        train = further.train - shadow @ self.picked.train
        test = further.test - shadow @ self.picked.test
        # no difference of large numbers, as this is positive for columns that are like picks too
        squares = np.einsum("ij,ij->i", train, train) + shadow**2 @ self.picked.penalty
        weights = train @ self.signs.T / (squares + further.penalty)[:, None]
        return self.decisions + weights[:, :, None] * test[:, None, :], self.size

    def sure_of(self, decisions: Array, place: NDArray[np.int64]) -> Array:
        """Return the margins."""
        return margins(decisions, place)


class Logistic(LinearModel):
    """Logistic regression."""

    def _fit(self) -> None:
        known, n_train = self.picked, len(self.split.train)
        if self.fit_intercept:
            known = Scaled(
                np.vstack([known.train, np.ones(n_train)]),
                np.vstack([known.test, np.ones(len(self.split.test))]),
                np.append(known.penalty, 0.0),
            )
        self.known = known
        n_targets, n_weights = len(self.targets), len(known.train) + 1
        self.width = n_targets**2 * (4 * n_train + 2 * n_weights**2)
        nothing = Scaled(np.zeros((1, n_train)), np.empty((1, 0)), np.ones(1))
        self.start = np.zeros((n_targets, n_weights - 1))
        self.start = self._newton(nothing)[0][0, :, :-1]

    def _newton(self, further: Scaled) -> tuple[Array, Array]:
        return newton(self.known, further, self.targets, self.start, self.fit_intercept)

    def _extend(self, further: Scaled) -> tuple[Array, Any]:
        weights, size = self._newton(further)
        return log_odds(weights, self.known.test, further.test), size

    def sure_of(self, decisions: Array, place: NDArray[np.int64]) -> Array:
        """Return the log-probabilities."""
        if decisions.shape[1] == 1:
            others = np.exp(decisions[:, 0] * np.where(place == 1, -1.0, 1.0))
        else:
            own = decisions[:, place, np.arange(len(place))]
            others = np.exp(decisions - own[:, None]).sum(axis=1) - 1.0
        return log_probability(np.where(place >= 0, 1.0 / (1.0 + others), 0.0))
