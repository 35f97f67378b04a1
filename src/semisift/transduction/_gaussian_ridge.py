"""Two ways from few labels to soft labels, both in principal components.

**Gaussian classes**: the rows of a class are normal around its mean, with one covariance for all
classes, half of it shrunk to its diagonal. Expectation and maximisation take turns for 15 steps;
labelled rows keep their labels. The share of a class is drawn halfway to equal shares, or given.
Rows count as often as their weights say.

**Ridge**: a linear machine with squared loss on the labelled rows; its values, in units of their
spread over all rows and doubled, become shares by the softmax.

D. J. Miller, H. S. Uyar (1997). A mixture of experts classifier with learning based on both
labelled and unlabelled data. NIPS 9, for the former. The numbers are our own choice
(benchmarks/labels.py).
"""

from functools import reduce

import numpy as np

from semisift.transduction._components import mean_row, weighted
from semisift.utils._typing import Floats, Ints

STEPS = 15
SHRINKAGE = 0.5

# What is added to the diagonal of a covariance, against its mean.
RIDGE_OF_COVARIANCE = 1e-6

# What is left of a covariance below this share of the whole is rounding.
NOTHING_LEFT = 1e-14

# Of the mean square of a labelled row.
PENALTY = 0.1

# How sharply values of the machine, in units of their spread, become shares.
SHARPNESS = 2.0


def gaussian_classes(
    T: Floats, indicator: Floats, class_prior: Floats | None, weights: Floats | None = None
) -> Floats:
    """Return the shares of the classes for several sets of held labels at once.

    Parameters
    ----------
    T : float array of shape (n, d) or (n_sets, n, d)
        Components, centred; the same for all sets, or those of each.
    indicator : float array of shape (n_sets, n, n_classes)
        1 for the label of a row that is held, else 0; each class has one such row.
    class_prior : float array of shape (n_classes,) or None
        The shares of the classes; None estimates them.
    weights : float array of shape (n,), optional

    Returns
    -------
    float array of shape (n_sets, n, n_classes)
    """
    shares = machine_shares(T, *gaussian_machines(T, indicator, class_prior, weights))
    return np.where(indicator.any(axis=2, keepdims=True), indicator, shares)


def gaussian_machines(
    T: Floats, indicator: Floats, class_prior: Floats | None, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return what `gaussian_classes` ends with: with one covariance the shares are linear machines.

    Parameters
    ----------
    T, held, class_prior, weights
        As there.

    Returns
    -------
    slopes : float array of shape (n_sets, d, n_classes)
    intercepts : float array of shape (n_sets, 1, n_classes)
    """
    is_known = indicator.any(axis=2, keepdims=True)
    row_weights = np.ones(T.shape[-2]) if weights is None else weights
    total = (
        np.matmul(_turned(T if weights is None else T * weights[:, None]), T) / row_weights.sum()
    )
    total = total if total.ndim == 3 else total[None]
    equal = (
        np.full(indicator.shape[2], 1 / indicator.shape[2]) if class_prior is None else class_prior
    )
    # at first nothing is known of most rows: one covariance around one mean, and equal shares
    machines = _maximised(T, indicator, total, 0.0, equal, row_weights)
    for _ in range(STEPS):
        shares = np.where(is_known, indicator, machine_shares(T, *machines))
        machines = _maximised(T, shares, total, 1.0, class_prior, row_weights)
    return machines


def _maximised(
    T: Floats,
    shares: Floats,
    total: Floats,
    known: float,
    class_prior: Floats | None,
    row_weights: Floats,
) -> tuple[Floats, Floats]:
    """Return the machines of the most likely means, covariance and shares of the classes.

    `known` is how much of the differences between the means is taken out of the covariance;
    `row_weights` is how often each row counts.
    """
    n_rows, n_classes = row_weights.sum(), shares.shape[2]
    sizes = _turned(np.matmul(row_weights[None], shares))
    if (row_weights != 1).any():
        shares = shares * row_weights[:, None]
    means = np.matmul(_turned(shares), T) / sizes
    between = known * np.matmul(_turned(means * sizes), means) / n_rows
    slopes = np.asarray(
        np.linalg.solve(shrunk(total - between, total), _turned(means)), dtype=float
    )
    offsets = 0.5 * (_turned(means) * slopes).sum(axis=1, keepdims=True)
    if class_prior is None:
        prior = (sizes[:, :, 0] + n_rows / n_classes) / (2 * n_rows)
    else:
        prior = class_prior[None]
    return slopes, np.log(prior)[:, None, :] - offsets


def machine_shares(T: Floats, slopes: Floats, intercepts: Floats) -> Floats:
    """Return the shares of the classes by linear machines."""
    return softmax(np.matmul(T, slopes) + intercepts)


def _turned(matrices: Floats) -> Floats:
    """Return matrices, the last two axes, transposed."""
    return np.swapaxes(matrices, -1, -2)


def shrunk(covariance: Floats, pooled: Floats | None = None) -> Floats:
    """Return covariances of shape (n_sets, d, d), half of them shrunk to their diagonals.

    Where they are a part of a `pooled` one, something of it stays where nothing is left of them.
    """
    diagonal = np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0)
    shrunk = (1 - SHRINKAGE) * covariance
    places = np.arange(covariance.shape[1])
    floor = RIDGE_OF_COVARIANCE * diagonal.mean(axis=1, keepdims=True)
    if pooled is not None:
        every = np.diagonal(pooled, axis1=1, axis2=2).mean(axis=1, keepdims=True)
        floor = np.maximum(floor, NOTHING_LEFT * every)
    shrunk[:, places, places] = diagonal + floor + np.finfo(np.float64).tiny
    return shrunk


def ridge(T: Floats, codes: Ints, n_classes: int, weights: Floats | None = None) -> Floats:
    """Return the shares of the classes by a linear machine.

    Parameters
    ----------
    T : float array of shape (n, d)
        Components.
    codes : int array of shape (n,)
        Class of each row, negative for an unlabelled one.
    n_classes : int
    weights : float array of shape (n,), optional

    Returns
    -------
    float array of shape (n, n_classes)
        Of labelled rows too what the machine says.
    """
    return machine_shares(T, *ridge_machine(T, codes, n_classes, weights))


def ridge_machine(
    T: Floats, codes: Ints, n_classes: int, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the machine of `ridge`.

    Parameters
    ----------
    T, codes, n_classes, weights
        As there.

    Returns
    -------
    slopes : float array of shape (d, n_classes)
    intercepts : float array of shape (n_classes,)
    """
    rows = np.flatnonzero(codes >= 0)
    targets = 2.0 * (codes[rows, None] == np.arange(n_classes)) - 1
    own = None if weights is None else weights[rows]
    n_rows = len(rows) if own is None else own.sum()
    if not n_rows > 0:
        return np.zeros((T.shape[1], n_classes)), np.zeros(n_classes)
    centre, mean = mean_row(T[rows], own), mean_row(targets, own)
    Q = T[rows] - centre
    turned = weighted(Q, own).T
    gram = turned @ Q
    penalty = PENALTY * np.trace(gram) / n_rows
    if not penalty > 0:
        return np.zeros((T.shape[1], n_classes)), np.zeros(n_classes)
    gram[np.diag_indices_from(gram)] += penalty
    slopes = np.linalg.solve(gram, turned @ (targets - mean))
    intercepts = mean - centre @ slopes
    spread = max(_spread(T @ slopes + intercepts, weights), np.finfo(np.float64).tiny)
    return SHARPNESS * slopes / spread, SHARPNESS * intercepts / spread


def _spread(values: Floats, weights: Floats | None) -> float:
    if weights is None:
        return float(values.std())
    mean = mean_row(values, weights).mean()
    return float(np.sqrt(mean_row(np.square(values - mean), weights).mean()))


def softmax(values: Floats) -> Floats:
    """Return the shares that logarithms represent, along the last axis.

    Class by class: numpy is slow to reduce a short axis.
    """
    classes = range(values.shape[-1])
    highest = reduce(np.maximum, (values[..., code] for code in classes))
    shares = np.exp(values - highest[..., None])
    shares /= reduce(np.add, (shares[..., code] for code in classes))[..., None]
    return shares
