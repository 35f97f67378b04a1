"""Logistic regression with one further column, for many columns side by side, by Newton's method.

Minimises ``sum of losses + sum of penalty * weight^2 / 2``. All columns begin at the solution
without them. The second derivatives in the known columns are one matrix product for all columns:
the weights of the rows times the products of pairs of known columns.

Linear models judged for all columns at once: ridge regression and logistic regression.

Ridge regression of the classes on the picks is solved once for each split; one further column adds
its residual after the picks, times a weight in closed form. Logistic regression starts from the
solution with the picks alone and takes Newton steps for all columns side by side (_newton.py).

Both are solved to the last digits, where scikit-learn's L-BFGS stops at its tolerance. Decision
values that differ by rounding only are equal here, and the first class is predicted.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.utils._columns import blocks
from semisift.wrapper._candidate_scorers import Columns, Judge, SplitJudge, Tried, margins
from semisift.wrapper._trials import Array, Fold, Trials, Verdict, log_probability

Pair = tuple[Array, Array]

# Steps converge quadratically: one that promises to lower the loss by so small a share of it is the
# last one.
LAST_STEP = 1e-14
MOST_STEPS = 200

# A step has to lower the loss by this share of what it promises, but for rounding; else it is
# halved.
FAIR_SHARE = 1e-4
ROUNDING = 1e-12

# What is added to the diagonal, relative to it, so that columns that are alike can be told apart.
JITTER = 1e-12


class Scaled(NamedTuple):
    """Columns in units in which those of any size are alike to a penalised model.

    Attributes
    ----------
    train, test : arrays of shape (n_columns, n_train) and (n_columns, n_test)
        Centred if there is an intercept, and so that squares of the training rows and the penalty
        add up to 1.
    penalty : array of shape (n_columns,)
        Of the square of a weight.
    """

    train: Array
    test: Array
    penalty: Array

    @classmethod
    def build(cls, values: Array, split: Fold, penalty: float, fit_intercept: bool) -> "Scaled":
        """Scale the columns of a split, given as rows of `values`."""
        train, test = values[:, split.train], values[:, split.test]
        if fit_intercept:
            first = train[:, :1]
            # the mean of equal values need not be exactly that value
            constant = (train == first).all(axis=1, keepdims=True)
            centre = np.where(constant, first, train.mean(axis=1, keepdims=True))
            train, test = train - centre, test - centre
        squares = np.einsum("ij,ij->i", train, train) + penalty
        unit = np.sqrt(squares)[:, None]
        return cls(train / unit, test / unit, penalty / squares)

    @property
    def squares(self) -> Array:
        """Sum of squares of the training rows, 1 at most."""
        return np.einsum("ij,ij->i", self.train, self.train)


def log_odds(weights: Array, known: Array, further: Array) -> Array:
    """Return decision values.

    Parameters
    ----------
    weights : array of shape (n_columns, n_targets, n_known + 1)
        The last one is that of the further column.
    known : array of shape (n_known, n)
    further : array of shape (n_columns, n)

    Returns
    -------
    array of shape (n_columns, n_targets, n)
    """
    return weights[:, :, :-1] @ known + weights[:, :, -1:] * further[:, None, :]


def newton(
    picked: Scaled, added: Scaled, targets: NDArray[np.bool_], start: Array, fit_intercept: bool
) -> tuple[Array, Array]:
    """Fit the known columns and one further column, for each of these.

    Parameters
    ----------
    picked : Scaled
        The known columns, with ones last if there is an intercept.
    added : Scaled
        The further columns.
    targets : bool array of shape (n_targets, n)
        One for two classes, else one for each class.
    start : array of shape (n_targets, n_known)
    fit_intercept : bool

    Returns
    -------
    weights : array of shape (n_columns, n_targets, n_known + 1)
    size : array of shape (n_columns,)
        The largest absolute decision value of a row.
    """
    known, further = picked.train, added.train
    n_columns, n_known = len(further), len(known)
    found = np.zeros((n_columns, len(targets), n_known + 1))
    found[:, :, :-1] = start
    size = np.zeros(n_columns)
    penalty = np.empty((n_columns, 1, n_known + 1))
    penalty[:, 0, :-1], penalty[:, 0, -1] = picked.penalty, added.penalty
    left = np.arange(n_columns)
    weights, odds = found.copy(), log_odds(found, known, further)
    for _ in range(MOST_STEPS):
        loss, slope, curvature = _derivatives(odds, targets)
        loss += _penalties(weights, penalty)
        gradient = _sums(slope, known, further) + penalty * weights
        hessian = _hessian(curvature, known, further, penalty)
        if fit_intercept and len(targets) > 1:
            _hold_intercepts(hessian, n_known - 1)
        step = _solve(hessian, gradient)
        promise = np.einsum("ijk,ijk->i", step, gradient)
        way = log_odds(step, known, further)
        length = _lengths(loss, promise, (weights, odds), (step, way), penalty, targets)
        weights = weights - length * step
        odds = odds - length * way
        found[left], size[left] = weights, np.abs(odds).max(axis=(1, 2))
        on = ~(promise <= LAST_STEP * loss)
        if not on.any():
            break
        if not on.all():
            left, further, penalty = left[on], further[on], penalty[on]
            weights, odds = weights[on], odds[on]
    return found, size


def _rivals(odds: Array, targets: NDArray[np.bool_]) -> Array:
    """Return the odds of each class against the true one, 0 for itself."""
    if len(targets) == 1:
        return np.exp(np.where(targets, -odds, odds))
    own = np.take_along_axis(odds, targets.argmax(axis=0)[None, None], axis=1)
    rivals = np.exp(odds - own)
    rivals[:, targets] = 0.0
    return rivals


def _losses(odds: Array, targets: NDArray[np.bool_]) -> Array:
    return np.log1p(_rivals(odds, targets).sum(axis=1)).sum(axis=1)


def _penalties(weights: Array, penalty: Array) -> Array:
    return 0.5 * (penalty * weights**2).sum(axis=(1, 2))


def _derivatives(odds: Array, targets: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Return the loss, its slope by decision values and its curvature by pairs of them."""
    rivals = _rivals(odds, targets)
    total = rivals.sum(axis=1, keepdims=True)
    # the probability of a class that is wrong; of the true class, that it is not
    wrong = np.where(targets, total, rivals) / (1.0 + total)
    slope = np.where(targets, -wrong, wrong)
    own = wrong * (1.0 - wrong)
    if len(targets) == 1:
        return np.log1p(total).sum(axis=(1, 2)), slope, own[:, None]
    probability = np.where(targets, 1.0 - wrong, wrong)
    curvature = -probability[:, :, None] * probability[:, None]
    every = np.arange(len(targets))
    curvature[:, every, every] = own
    return np.log1p(total).sum(axis=(1, 2)), slope, curvature


def _sums(slope: Array, known: Array, further: Array) -> Array:
    """Return sums over the rows of values times columns, the further column last."""
    last = (slope @ further[:, :, None])[..., 0]
    return np.concatenate([slope @ known.T, last[..., None]], axis=-1)


def _hessian(curvature: Array, known: Array, further: Array, penalty: Array) -> Array:
    """Return second derivatives by pairs of weights, each given by its target and its place."""
    n_columns, n_targets = curvature.shape[:2]
    n_known, n = known.shape
    flat = curvature.reshape(-1, n)
    inner = np.zeros((len(flat), n_known**2))
    for rows in blocks(n, n_known**2):
        some = known[:, rows].T
        pairs = some[:, :, None] * some[:, None]
        inner += flat[:, rows] @ pairs.reshape(len(some), n_known**2)
    times = (curvature * further[:, None, None]).reshape(n_columns, -1, n)
    border = _sums(times, known, further).reshape(n_columns, n_targets, n_targets, -1)
    hessian = np.empty((n_columns, n_targets, n_known + 1, n_targets, n_known + 1))
    inner = inner.reshape(n_columns, n_targets, n_targets, n_known, n_known)
    hessian[:, :, :-1, :, :-1] = inner.swapaxes(2, 3)
    hessian[:, :, :-1, :, -1] = border[..., :-1].swapaxes(2, 3)
    hessian[:, :, -1] = border
    every = np.arange(n_known + 1)
    for target in range(n_targets):
        hessian[:, target, every, target, every] += penalty[:, 0]
    return hessian


def _hold_intercepts(hessian: Array, place: int) -> None:
    """Keep the sum of the intercepts of all classes, which changes no probability."""
    block = hessian[:, :, place, :, place]
    block += np.einsum("ijj->i", block)[:, None, None] / block.shape[1]


def _solve(hessian: Array, gradient: Array) -> Array:
    n_columns, n_weights = len(gradient), gradient[0].size
    matrix = hessian.reshape(n_columns, n_weights, n_weights)
    every = np.arange(n_weights)
    unit = np.sqrt(np.maximum(matrix[:, every, every], np.finfo(np.float64).tiny))
    matrix /= unit[:, :, None]
    matrix /= unit[:, None, :]
    matrix[:, every, every] += JITTER
    scaled = gradient.reshape(n_columns, n_weights) / unit
    return (np.linalg.solve(matrix, scaled[..., None])[..., 0] / unit).reshape(gradient.shape)


def _lengths(
    loss: Array, promise: Array, at: Pair, by: Pair, penalty: Array, targets: NDArray[np.bool_]
) -> Array:
    """Return how far to go along each step, of shape (n_columns, 1, 1): 1, or halved.

    A step leads from `at`, the weights and decision values, by its own.
    """
    (weights, odds), (step, way) = at, by
    length = np.ones((len(loss), 1, 1))
    long = np.arange(len(loss))
    while len(long):
        own = length[long]
        now = _losses(odds[long] - own * way[long], targets)
        now += _penalties(weights[long] - own * step[long], penalty[long])
        limit = loss[long] * (1.0 + ROUNDING) - FAIR_SHARE * own[:, 0, 0] * promise[long]
        long = long[(now > limit) & (own[:, 0, 0] > 1e-10)]
        length[long] /= 2.0
    return length


# --- linear ---------------------------------------------------------------------------------------


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
