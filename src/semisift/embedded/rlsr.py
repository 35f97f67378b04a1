"""Rescaled linear square regression: weights of columns, regression and unlabelled classes in turn.

Given the weights theta of the columns and the classes Y, with Z and Y around their means,

    W = T Z' (Z T Z' + gamma I)^-1 Y = (Z'Z + gamma T^-1)^-1 Z'Y,      T = diag(theta)

of which the first form needs a matrix of all pairs of rows, the second one of all pairs of columns.

RLSR, rescaled linear square regression: weights of columns in a regression on the classes.

X. Chen, G. Yuan, F. Nie, J. Z. Huang (2017). Semi-supervised feature selection via rescaled linear
regression. IJCAI.

    min over W, b, theta and Y_U of  |X W + 1 b' - Y|^2 + gamma sum_j |w_j|^2 / theta_j
    with theta and each row of Y_U not negative and adding up to 1

Y holds the classes of the labelled rows and Y_U the shares of the classes in the unlabelled ones.
With the best theta the penalty is gamma (sum_j |w_j|)^2. The problem is convex; regression, weights
and shares are found in turn, as `semisift.embedded.rlsr` says, and the objective falls.
Direction: theta_j, higher is better, as printed. Cost: a step takes O(n^2 p + n^3), or O(n p + p^3)
if there are no more columns than rows. Without unlabelled rows only regression and weights are
left.

What is a reading: the penalty of a column depends on its unit. By default the columns keep their
spreads relative to each other, as in the source, but all are divided by the root of their mean
variance, so that gamma does not depend on a common unit; `feature_scaling` standardises each. The
shares are found after each regression rather than after ten, which comes to the same place with
fewer regressions. ``variant="paper"`` does neither, and starts, as the default does, from equal
weights (the authors' program squares the first penalty by mistake). Constant columns have no
weight.
"""

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from semisift.base._pairs import units
from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.parallel import one_blas_thread
from semisift.utils._columns import (
    ScaledColumns,
    blocks,
    column_factors,
    column_moments,
    filled_columns,
)
from semisift.utils._sklearn_compat import Interval, StrOptions, at_least
from semisift.utils._typing import Bools, Floats, Ints

# Added to the lengths of the rows of W, so that no weight vanishes for good.
MIN_LENGTH = 1e-5

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
            theta = np.where(usable, lengths + MIN_LENGTH, 0.0)
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


# --- rlsr -----------------------------------------------------------------------------------------


# Systems of equations of more unknowns than this take minutes a step, and gigabytes.
MAX_UNKNOWNS = 10_000

PAPER_TOL = 1e-8
PAPER_STEPS = 100
PAPER_INNER = 10


class RLSR(FeatureRanker):
    """Rank columns by their weights in a regression on known and unknown classes.

    Parameters
    ----------
    {n_features_to_select}
    gamma : float, default=1.0
        Weight of the penalty; the larger, the fewer columns share the weights.
    feature_scaling : {"standard"}, default=None
        "standard" scales each column to standard deviation 1, for columns of different units. None
        divides all columns by one number.
    tol : float, default=1e-5
        Stop where a step lowers the objective by no more than this share.
    max_iter : int, default=100
        Stop after so many steps.
    max_unlabelled : int or None, default=1000
        Where there are more columns, use at most this many unlabelled rows, drawn at random by
        `random_state`. None uses all; the cost of a step grows with their third power.
    variant : {"default", "paper"}, default="default"
        "paper" takes the columns as they are, finds regression and weights ten times in turn before
        the shares of the classes, and stops at a relative change of 1e-8 or after 100 steps;
        `feature_scaling`, `tol` and `max_iter` are then not used.
    {redundancy_threshold}
    {known columns}
    random_state : int or RandomState instance, default=None
        Seed of the draw of unlabelled rows and of the order of ties. None is a fixed seed.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The weight theta of each column; they add up to 1. NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    objective_path_ : ndarray of shape (n_iter_,)
        The objective after each step.
    n_iter_ : int
        Number of steps.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    X. Chen, G. Yuan, F. Nie, J. Z. Huang (2017). Semi-supervised feature selection via rescaled
    linear regression. IJCAI.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import RLSR
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = RLSR(n_features_to_select=3, feature_scaling="standard").fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['hue', 'od280/od315_of_diluted_wines', 'proline']
    """

    labels_needed = "two_classes"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "feature_scaling": [None, StrOptions({"standard"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [at_least(1)],
        "max_unlabelled": [None, at_least(1)],
        "variant": [StrOptions({"default", "paper"})],
    }

    gamma: float = 1.0
    feature_scaling: Literal["standard"] | None = None
    tol: float = 1e-5
    max_iter: int = 100
    max_unlabelled: int | None = 1000
    variant: Literal["default", "paper"] = "default"

    def _n_tasks(self, data: TrainingData) -> None:
        return None

    @one_blas_thread()
    def _score(self, data: TrainingData) -> Floats:
        most = self.max_unlabelled
        part = data
        if most is not None and data.n_features > most:
            part = data.part(data.some_rows(most))
        self._check_size(part)
        usable = ~data.constant
        if not usable.any():
            self.objective_path_, self.n_iter_ = np.zeros(1), 1
            return np.zeros(data.n_features)
        columns, gamma = self._columns(part)
        kind = TallRegression if part.n_features <= part.n_rows else WideRegression
        paper = self.variant == "paper"
        states = descend(
            kind(columns),
            usable & (columns.factor > 0),
            part.labels.codes,
            part.labels.n_classes,
            gamma,
            n_inner=PAPER_INNER if paper else 1,
        )
        tol, max_iter = (PAPER_TOL, PAPER_STEPS) if paper else (self.tol, self.max_iter)
        path: list[float] = []
        for state in self._progress(states, "step"):
            path.append(state.objective)
            if len(path) == 1 or state.objective < min(path[:-1]):
                best = state.theta
            has_converged = len(path) > 1 and abs(path[-2] - path[-1]) <= tol * path[-2]
            if has_converged or len(path) == max_iter:
                break
        self.objective_path_ = np.array(path)
        self.n_iter_ = len(path)
        return best

    def _check_size(self, data: TrainingData) -> None:
        unknowns = min(data.n_rows, data.n_features)
        if unknowns > MAX_UNKNOWNS:
            raise ValueError(
                f"RLSR solves equations of as many unknowns as there are rows or columns, at most "
                f"{MAX_UNKNOWNS}: got {data.n_rows} rows, {len(data.labels.labelled)} of "
                f"them labelled, and {data.n_features} columns. Leave out labelled rows, or set "
                "max_unlabelled lower."
            )

    def _columns(self, data: TrainingData) -> tuple[ScaledColumns, float]:
        """Return the columns, scaled, and gamma in their unit."""
        gamma, unit = self.gamma, units(data)
        if self.variant == "paper":
            _, common = column_factors(data.X, None, data.spans)
            unit = np.full(data.n_features, common)
            with np.errstate(over="ignore", under="ignore"):
                gamma = gamma / common / common
            limits = np.finfo(np.float64)
            gamma = min(max(gamma, float(limits.tiny)), float(limits.max))
        mean, squares = column_moments(data.X, unit)
        varies = ~data.constant
        factor = varies.astype(np.float64)
        if self.variant == "default":
            factor *= self._factors(np.sqrt(squares / data.n_rows), unit, varies)
        centre = np.where(filled_columns(data.X), mean, 0.0)
        rows = np.arange(data.n_rows)
        return ScaledColumns(data.X, rows, unit, centre, factor), gamma

    def _factors(self, spread: Floats, unit: Floats, varies: Bools) -> Floats:
        """Return what columns, in units of their own, are multiplied by."""
        if self.feature_scaling == "standard":
            return np.divide(1.0, spread, out=np.ones(len(spread)), where=varies)
        largest = unit[varies].max(initial=0.0) or 1.0
        relative = np.where(varies, unit, 0.0) / largest
        common = np.sqrt(np.mean((spread * relative)[varies] ** 2))
        return np.asarray(relative / common)
