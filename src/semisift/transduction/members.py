"""Two ways from few labels to soft labels, both in principal components.

**Gaussian classes**: the rows of a class are normal around its mean, with one covariance for all
classes, half of it shrunk to its diagonal. Expectation and maximisation take turns for 15 steps;
labelled rows keep their labels. The share of a class is drawn halfway to equal shares, or given.

**Ridge**: a linear machine with squared loss on the labelled rows; its values, in units of their
spread over all rows and doubled, become shares by the softmax.

D. J. Miller, H. S. Uyar (1997). A mixture of experts classifier with learning based on both
labelled and unlabelled data. NIPS 9, for the former. The numbers are our own choice
(benchmarks/labels.py).
"""

from functools import reduce

import numpy as np

from semisift.math import Floats, Ints

STEPS = 15
SHRINKAGE = 0.5

# What is added to the diagonal of a covariance, against its mean.
RIDGE_OF_COVARIANCE = 1e-6

# Of the mean square of a labelled row.
PENALTY = 0.1

# How sharply values of the machine, in units of their spread, become shares.
SHARPNESS = 2.0


def gaussian_classes(T: Floats, held: Floats, class_prior: Floats | None) -> Floats:
    """Return the shares of the classes for several sets of held labels at once.

    Parameters
    ----------
    T : float array of shape (n, d) or (n_sets, n, d)
        Components, centred; the same for all sets, or those of each.
    held : float array of shape (n_sets, n, n_classes)
        1 for the label of a row that is held, else 0; each class has one such row.
    class_prior : float array of shape (n_classes,) or None
        The shares of the classes; None estimates them.

    Returns
    -------
    float array of shape (n_sets, n, n_classes)
    """
    n_rows = T.shape[-2]
    n_classes = held.shape[2]
    is_held = held.any(axis=2, keepdims=True)
    total = np.matmul(_turned(T), T) / n_rows
    total = total if total.ndim == 3 else total[None]
    prior = np.full((1, n_classes), 1 / n_classes) if class_prior is None else class_prior[None]
    shares = held
    for step in range(STEPS + 1):
        sizes = _turned(np.matmul(np.ones((1, n_rows)), shares))
        means = np.matmul(_turned(shares), T) / sizes
        between = np.matmul(_turned(means * sizes), means) / n_rows if step else 0.0
        directions = np.linalg.solve(_shrunk(total - between), _turned(means))
        offsets = 0.5 * (_turned(means) * directions).sum(axis=1, keepdims=True)
        if step and class_prior is None:
            prior = (sizes[:, :, 0] + n_rows / n_classes) / (2 * n_rows)
        logs = np.matmul(T, directions) - offsets + np.log(prior)[:, None, :]
        shares = np.where(is_held, held, softmax(logs))
    return shares


def _turned(matrices: Floats) -> Floats:
    """Return matrices, the last two axes, transposed."""
    return np.swapaxes(matrices, -1, -2)


def _shrunk(covariance: Floats) -> Floats:
    """Return covariances of shape (n_sets, d, d), half of them shrunk to their diagonals."""
    diagonal = np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0)
    shrunk = (1 - SHRINKAGE) * covariance
    places = np.arange(covariance.shape[1])
    floor = RIDGE_OF_COVARIANCE * diagonal.mean(axis=1, keepdims=True)
    shrunk[:, places, places] = diagonal + floor + np.finfo(np.float64).tiny
    return shrunk


def ridge(T: Floats, codes: Ints, n_classes: int) -> Floats:
    """Return the shares of the classes by a linear machine.

    Parameters
    ----------
    T : float array of shape (n, d)
        Components.
    codes : int array of shape (n,)
        Class of each row, negative for an unlabelled one.
    n_classes : int

    Returns
    -------
    float array of shape (n, n_classes)
        Of labelled rows too what the machine says.
    """
    rows = np.flatnonzero(codes >= 0)
    targets = 2.0 * (codes[rows, None] == np.arange(n_classes)) - 1
    centre, mean = T[rows].mean(axis=0), targets.mean(axis=0)
    Q = T[rows] - centre
    gram = Q.T @ Q
    penalty = PENALTY * np.trace(gram) / len(rows)
    if not penalty > 0:
        return np.full((len(T), n_classes), 1 / n_classes)
    gram[np.diag_indices_from(gram)] += penalty
    values = (T - centre) @ np.linalg.solve(gram, Q.T @ (targets - mean)) + mean
    return softmax(SHARPNESS * values / max(values.std(), np.finfo(np.float64).tiny))


def softmax(values: Floats) -> Floats:
    """Return the shares that logarithms stand for, along the last axis.

    Class by class: numpy is slow to reduce a short axis.
    """
    classes = range(values.shape[-1])
    highest = reduce(np.maximum, (values[..., code] for code in classes))
    shares = np.exp(values - highest[..., None])
    shares /= reduce(np.add, (shares[..., code] for code in classes))[..., None]
    return shares
