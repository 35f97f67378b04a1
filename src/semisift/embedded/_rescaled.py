"""Rescaled linear square regression: weights of columns, regression and unlabelled classes in turn.

Given the weights theta of the columns and the classes Y, with Z and Y around their means,

    W = T Z' (Z T Z' + gamma I)^-1 Y = (Z'Z + gamma T^-1)^-1 Z'Y,      T = diag(theta)

of which the first form needs a matrix of all pairs of rows, the second one of all pairs of columns.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from semisift.math import Bools, Floats, Ints
from semisift.math.blocks import blocks
from semisift.math.scaled import ScaledColumns

# Added to the lengths of the rows of W, so that no weight vanishes for good.
LEAST_LENGTH = 1e-5

BLOCK_VALUES = 1 << 22


def project_on_simplex(points: Floats) -> Floats:
    """Return for each row the nearest one whose entries are not negative and add up to 1.

    Parameters
    ----------
    points : float array of shape (n, k)

    Returns
    -------
    float array of shape (n, k)

    Examples
    --------
    >>> project_on_simplex(np.array([[0.5, 0.8, -0.3]]))
    array([[0.35, 0.65, 0.  ]])
    """
    falling = -np.sort(-points, axis=1)
    excess = np.cumsum(falling, axis=1) - 1.0
    size = np.arange(1, points.shape[1] + 1)
    n_kept = np.count_nonzero(falling * size > excess, axis=1)
    shift = excess[np.arange(len(points)), n_kept - 1] / n_kept
    return np.maximum(points - shift[:, None], 0.0)


class RescaledState(NamedTuple):
    """Where the descent is.

    Attributes
    ----------
    theta : float array of shape (p,)
        Weights of the columns; they add up to 1.
    objective : float
    shares : float array of shape (n, n_classes)
        What each row has of each class.
    """

    theta: Floats
    objective: float
    shares: Floats


class WideRegression:
    """For more columns than rows: systems of equations as large as there are rows."""

    def __init__(self, columns: ScaledColumns) -> None:
        self.columns = columns

    def solve(self, theta: Floats, Y: Floats, gamma: float) -> tuple[Floats, Floats]:
        """Return the lengths of the rows of W and the values ``Z W`` around their mean.

        Parameters
        ----------
        theta : float array of shape (p,)
        Y : float array of shape (n, n_classes)
            Around its mean.
        gamma : float

        Returns
        -------
        lengths : float array of shape (p,)
        values : float array of shape (n, n_classes)
        """
        gram = self.columns.gram(theta)
        gram -= gram.mean(axis=0)
        gram -= gram.mean(axis=1)[:, None]
        gram.flat[:: len(gram) + 1] += gamma
        A = solve_ridge(gram, Y)
        A -= A.mean(axis=0)
        W = theta[:, None] * self.columns.project(A)
        return np.sqrt(np.einsum("ij,ij->i", W, W)), Y - gamma * A


class TallRegression:
    """For more rows than columns: systems of equations as large as there are columns."""

    def __init__(self, columns: ScaledColumns) -> None:
        self.columns = columns
        p = len(columns.factor)
        self.squares = np.empty((p, p))
        for part in blocks(p, columns.n_rows, BLOCK_VALUES):
            block = columns.columns(np.arange(part.start, part.stop))
            self.squares[:, part] = columns.project(block - block.mean(axis=0))

    def solve(self, theta: Floats, Y: Floats, gamma: float) -> tuple[Floats, Floats]:
        """Return the lengths of the rows of W and the values ``Z W`` around their mean."""
        roots = np.sqrt(theta)
        matrix = self.squares * roots
        matrix *= roots[:, None]
        matrix.flat[:: len(matrix) + 1] += gamma
        target = roots[:, None] * self.columns.project(Y)
        W = roots[:, None] * solve_ridge(matrix, target)
        values = self.columns.times(W)
        return np.sqrt(np.einsum("ij,ij->i", W, W)), values - values.mean(axis=0)


def descend(
    model: WideRegression | TallRegression,
    usable: Bools,
    codes: Ints,
    n_classes: int,
    gamma: float,
    *,
    n_inner: int = 1,
) -> Iterator[RescaledState]:
    """Yield one state after another, without end.

    Parameters
    ----------
    model : WideRegression or TallRegression
    usable : bool array of shape (p,)
        Which columns may have a weight.
    codes : int array of shape (n,)
        The class of each row, -1 where it is not known.
    n_classes : int
    gamma : float
        Weight of the penalty.
    n_inner : int
        How many times regression and weights are found in turn before the classes of the
        unlabelled rows.

    Yields
    ------
    RescaledState
    """
    unlabelled = codes < 0
    shares = np.eye(n_classes)[codes]
    shares[unlabelled] = 1.0 / n_classes
    theta = np.where(usable, 1.0 / np.count_nonzero(usable), 0.0)
    while True:
        mean = shares.mean(axis=0)
        for _ in range(n_inner):
            lengths, values = model.solve(theta, shares - mean, gamma)
            theta = np.where(usable, lengths + LEAST_LENGTH, 0.0)
            theta /= theta.sum()
        values += mean
        shares = shares.copy()
        shares[unlabelled] = project_on_simplex(values[unlabelled])
        objective = ((values - shares) ** 2).sum() + gamma * lengths.sum() ** 2
        yield RescaledState(theta, float(objective), shares)


def solve_ridge(matrix: Floats, target: Floats) -> Floats:
    """Solve equations whose matrix, which is overwritten, is positive definite by its ridge."""
    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True)
    except LinAlgError as error:
        raise ValueError(
            "gamma is too small for these columns: against their squares it vanishes, and the "
            "regression has no unique solution. Set it larger, near the default of 1."
        ) from error
    return np.asarray(cho_solve(factor, target))
