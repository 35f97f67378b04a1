"""Logistic regression with one further column, for many columns side by side, by Newton's method.

Minimises ``sum of losses + sum of penalty * weight^2 / 2``. All columns begin at the solution
without them. The second derivatives in the known columns are one matrix product for all columns:
the weights of the rows times the products of pairs of known columns.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.math.blocks import blocks
from semisift.wrappers._trials import Array, Fold

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
