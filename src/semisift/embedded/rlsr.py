"""RLSR, rescaled linear square regression: weights of columns in a regression on the classes.

X. Chen, G. Yuan, F. Nie, J. Z. Huang (2017). Semi-supervised feature selection via rescaled linear
regression. IJCAI.

    min over W, b, theta and Y_U of  |X W + 1 b' - Y|^2 + gamma sum_j |w_j|^2 / theta_j
    with theta and each row of Y_U not negative and adding up to 1

Y holds the classes of the labelled rows and Y_U the shares of the classes in the unlabelled ones.
With the best theta the penalty is gamma (sum_j |w_j|)^2. The problem is convex; regression, weights
and shares are found in turn, as `semisift.embedded._rescaled` says, and the objective falls.
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

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from semisift._base import FeatureRanker
from semisift._problem import Problem
from semisift._sklearn import Interval, StrOptions, at_least
from semisift._threads import one_blas_thread
from semisift.embedded._rescaled import TallRegression, WideRegression, descend
from semisift.graphs.pairs import units
from semisift.math import Bools, Floats
from semisift.math.columns import column_factors, column_moments, filled_columns
from semisift.math.scaled import ScaledColumns

# Systems of equations of more unknowns than this take minutes a step, and gigabytes.
MOST_UNKNOWNS = 10_000

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

    def _n_tasks(self, problem: Problem) -> None:
        return None

    @one_blas_thread()
    def _score(self, problem: Problem) -> Floats:
        most = self.max_unlabelled
        part = problem
        if most is not None and problem.n_features > most:
            part = problem.part(problem.some_rows(most))
        self._check_size(part)
        usable = ~problem.constant
        if not usable.any():
            self.objective_path_, self.n_iter_ = np.zeros(1), 1
            return np.zeros(problem.n_features)
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
            settled = len(path) > 1 and abs(path[-2] - path[-1]) <= tol * path[-2]
            if settled or len(path) == max_iter:
                break
        self.objective_path_ = np.array(path)
        self.n_iter_ = len(path)
        return best

    def _check_size(self, problem: Problem) -> None:
        unknowns = min(problem.n_rows, problem.n_features)
        if unknowns > MOST_UNKNOWNS:
            raise ValueError(
                f"RLSR solves equations of as many unknowns as there are rows or columns, at most "
                f"{MOST_UNKNOWNS}: got {problem.n_rows} rows, {len(problem.labels.labelled)} of "
                f"them labelled, and {problem.n_features} columns. Leave out labelled rows, or set "
                "max_unlabelled lower."
            )

    def _columns(self, problem: Problem) -> tuple[ScaledColumns, float]:
        """Return the columns, scaled, and gamma in their unit."""
        gamma, unit = self.gamma, units(problem)
        if self.variant == "paper":
            _, common = column_factors(problem.X, None, problem.spans)
            unit = np.full(problem.n_features, common)
            with np.errstate(over="ignore", under="ignore"):
                gamma = gamma / common / common
            limits = np.finfo(np.float64)
            gamma = min(max(gamma, float(limits.tiny)), float(limits.max))
        mean, squares = column_moments(problem.X, unit)
        varies = ~problem.constant
        factor = varies.astype(np.float64)
        if self.variant == "default":
            factor *= self._factors(np.sqrt(squares / problem.n_rows), unit, varies)
        centre = np.where(filled_columns(problem.X), mean, 0.0)
        rows = np.arange(problem.n_rows)
        return ScaledColumns(problem.X, rows, unit, centre, factor), gamma

    def _factors(self, spread: Floats, unit: Floats, varies: Bools) -> Floats:
        """Return what columns, in units of their own, are multiplied by."""
        if self.feature_scaling == "standard":
            return np.divide(1.0, spread, out=np.ones(len(spread)), where=varies)
        largest = unit[varies].max(initial=0.0) or 1.0
        relative = np.where(varies, unit, 0.0) / largest
        common = np.sqrt(np.mean((spread * relative)[varies] ** 2))
        return np.asarray(relative / common)
