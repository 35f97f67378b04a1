"""The model behind FS-Manifold, and the alternation that finds the weights of its columns.

For given weights d of the columns, each machine minimises

    1/2 sum_j w_j^2 / d_j + C sum_{i labelled} max(0, 1 - y_i (z_i'w + b))^2 + 1/2 f'Qf,   f = Zw

with Q the Laplacian of a graph on the rows, scaled. The solution is ``w = D Z'a``, where a is minus
the derivative of the last two terms by f. The objective J(d) is convex, its derivative by d_j is
``-g_j^2 / 2`` with ``g_j = |z_j'a|`` over the machines, and so

    J(d) - min J <= 1/2 (sum of the m largest g_j^2 - sum_j d_j g_j^2)

over all d between 0 and 1 with the sum m: a bound on what is left to gain.

FS-Manifold: weights of columns that let a large margin follow the manifold of all rows.

Z. Xu, I. King, M. R. Lyu, R. Jin (2010). Discriminative semi-supervised feature selection via
manifold regularization. IEEE Transactions on Neural Networks 21(7).

    min over d, w, b of  1/2 sum_j w_j^2 / d_j
                         + C sum_{i labelled} max(0, 1 - y_i (z_i'w + b))^2
                         + rho / (2 n^2) w'Z' L Z w
    with 0 <= d_j <= 1 and sum_j d_j = m

Z are the standardised columns, L is the Laplacian of a neighbour graph of all n rows and m the
number of columns to select. The problem is convex. Machines and weights are found in turn, as
`semisift.embedded.fs_manifold` says, until the objective is known to be within `tol` of the lowest.

Direction: higher d_j is better. Cost: a step takes O(n^2 p) for the columns that still have a
weight and O(n^3), or O(n p^2 + p^3) if there are no more columns than rows; hundreds of steps.

What is a reading: the paper's abstract tells of the margin, of manifold regularisation and of a
convex-concave problem solved by a level method; the constants, the squared hinge and this solver
are ours. Several classes: one machine each against the rest, with the same d. Another account
builds the manifold from the selected columns; `rebuild` does, at the price of convexity. Columns of
equal weight are ordered by the derivative of the objective: for those of weight 1 that is the order
of |w_j|, for those of weight 0 the order in which they would come in.
"""

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigh, solve, solve_triangular
from scipy.sparse import diags_array
from sklearn.exceptions import ConvergenceWarning

from semisift.base._graph_ranker import GraphRanker
from semisift.base._pairs import units
from semisift.base._training_data import TrainingData
from semisift.embedded._svm_solver import class_signs
from semisift.parallel import one_blas_thread
from semisift.utils._columns import ScaledColumns, blocks, column_moments, filled_columns
from semisift.utils._graph import Graph, edges_of
from semisift.utils._sklearn_compat import Interval, StrOptions, at_least
from semisift.utils._typing import Bools, Floats, Ints
from semisift.utils._warnings import warn

# A decrease of the objective below this share of it is rounding.
NEGLIGIBLE = 1e-15

# The decrease that a step must bring, as a share of what its slope promises.
ENOUGH = 1e-4

MAX_STEPS = 200

# Weights do not fall below this, or columns could not come back.
MIN = 1e-12

# While steps lower the objective they grow by this factor, up to so many in one; else they shrink.
GROWTH, SHRINKAGE = 1.5, 4.0
MAX = 64.0


class SquaredHinge:
    """One machine for each vector of signs, which starts from where it was trained before.

    Parameters
    ----------
    signs : float array of shape (n_machines, n)
        The class of each row as +1 or -1.
    C : float

    Attributes
    ----------
    duals : float array of shape (n_machines, n)
        Minus the derivative of the loss by the value of each row.
    biases : float array of shape (n_machines,)
    """

    def __init__(self, signs: Floats, C: float) -> None:
        self.signs, self.C = signs, C
        self.duals = np.zeros(signs.shape)
        self.biases = np.zeros(len(signs))

    def train(self, R: Floats) -> tuple[float, Floats]:
        """Minimise ``|v|^2 / 2 + C sum_i max(0, 1 - y_i (r_i'v + b))^2`` for each machine.

        Parameters
        ----------
        R : float array of shape (n, r)

        Returns
        -------
        objective : float
            Sum over the machines.
        v : float array of shape (n_machines, r)
        """
        total, found = 0.0, np.empty((len(self.signs), R.shape[1]))
        R1 = np.column_stack([R, np.ones(len(R))])
        for k, y in enumerate(self.signs):
            start = np.append(self.duals[k] @ R, self.biases[k])
            x, objective = newton(R1, y, self.C, start)
            self.duals[k] = 2 * self.C * y * np.maximum(0.0, 1 - y * (R1 @ x))
            found[k], self.biases[k] = x[:-1], x[-1]
            total += objective
        return total, found


def newton(R1: Floats, y: Floats, C: float, x: Floats) -> tuple[Floats, float]:
    """Train one machine; the last column of R1 is 1, and the last entry of x is not penalised."""
    slack = np.maximum(0.0, 1 - y * (R1 @ x))
    objective = x[:-1] @ x[:-1] / 2 + C * (slack @ slack)
    for _ in range(MAX_STEPS):
        active = slack > 0
        part = R1[active]
        hessian = 2 * C * part.T @ part
        hessian[np.diag_indices(len(x) - 1)] += 1.0
        gradient = -2 * C * (y * slack) @ R1
        gradient[:-1] += x[:-1]
        if not active.any():
            hessian[-1, -1] = 1.0
        step = -solve(hessian, gradient, assume_a="pos")
        slope = gradient @ step
        share, before = 1.0, objective
        while True:
            new = x + share * step
            slack = np.maximum(0.0, 1 - y * (R1 @ new))
            objective = new[:-1] @ new[:-1] / 2 + C * (slack @ slack)
            if objective <= before + ENOUGH * share * slope or share < NEGLIGIBLE:
                break
            share /= 2
        x = new
        # with the same rows active a whole step ends at the minimum
        if before - objective <= NEGLIGIBLE * before or (
            share == 1.0 and ((slack > 0) == active).all()
        ):
            break
    return x, float(objective)


class Solution(NamedTuple):
    """The machines for given weights of the columns.

    Attributes
    ----------
    objective : float
    pull : float array of shape (p,)
        The g of each column; its |w_j| is d_j times that.
    """

    objective: float
    pull: Floats


class ManifoldState(NamedTuple):
    """Where the alternation is.

    Attributes
    ----------
    d : float array of shape (p,)
        The weights of the columns.
    solution : Solution
    gap : float
        By how much the objective exceeds the lowest one, at most.
    """

    d: Floats
    solution: Solution
    gap: float


class WideModel:
    """The model in the space of the rows, for more columns than rows.

    The graph turns the Gram matrix K = ZDZ' into ``(1 + KQ)^-1 K``, and the part of that between
    labelled rows is all that the machines see.

    Parameters
    ----------
    columns : ScaledColumns
    Q : sparse array of shape (n, n)
    labelled : int array
        The row of each labelled example; examples may share one.
    machines : SquaredHinge
    """

    def __init__(
        self, columns: ScaledColumns, Q: Any, labelled: Ints, machines: SquaredHinge
    ) -> None:
        self.columns, self.Q, self.labelled, self.machines = columns, Q, labelled, machines
        # most columns soon have the least weight, and need not be looked at for the Gram matrix
        self.K_of_least = MIN * columns.gram(np.ones(len(columns.factor)))

    def solve(self, d: Floats) -> Solution:
        """Return the machines for weights d of the columns."""
        K = self.columns.gram(np.maximum(d - MIN, 0.0))
        K += self.K_of_least
        system = (self.Q @ K).T
        system[np.diag_indices_from(system)] += 1.0
        to_labelled = solve(system, K[:, self.labelled])
        seen = to_labelled[self.labelled]
        values, vectors = eigh((seen + seen.T) / 2)
        objective, _ = self.machines.train(vectors * np.sqrt(np.maximum(values, 0.0)))
        duals = self.machines.duals.T
        a = -(self.Q @ (to_labelled @ duals))
        np.add.at(a, self.labelled, duals)
        return Solution(objective, np.linalg.norm(self.columns.project(a), axis=1))


class TallModel:
    """The model in the space of the columns, for no more columns than rows.

    With w = D^1/2 v, the first and the last term are ``v'(1 + D^1/2 M D^1/2)v / 2`` with M = Z'QZ.

    Parameters
    ----------
    columns : ScaledColumns
    Q : sparse array of shape (n, n)
    labelled : int array
        The row of each labelled example; examples may share one.
    machines : SquaredHinge
    """

    def __init__(
        self, columns: ScaledColumns, Q: Any, labelled: Ints, machines: SquaredHinge
    ) -> None:
        p = len(columns.factor)
        self.machines = machines
        self.M = np.empty((p, p))
        self.labelled = np.empty((len(labelled), p))
        for part in blocks(p, columns.n_rows):
            Z = columns.columns(np.arange(part.start, part.stop))
            self.M[:, part] = columns.project(Q @ Z)
            self.labelled[:, part] = Z[labelled]

    def solve(self, d: Floats) -> Solution:
        """Return the machines for weights d of the columns."""
        root = np.sqrt(d)
        metric = root[:, None] * self.M * root
        metric[np.diag_indices_from(metric)] += 1.0
        factor = cholesky(metric, lower=True)
        R = solve_triangular(factor, (self.labelled * root).T, lower=True).T
        objective, v = self.machines.train(R)
        w = root[:, None] * solve_triangular(factor, v.T, lower=True, trans="T")
        pulls = self.labelled.T @ self.machines.duals.T - self.M @ w
        return Solution(objective, np.linalg.norm(pulls, axis=1))


def alternate(
    model: WideModel | TallModel, usable: Bools, m: int, tol: float, max_iter: int
) -> Iterator[ManifoldState]:
    """Train the machines and weigh the columns in turn, until little is left to gain.

    The plain step is ``d_j = min(1, |w_j| / tau)``, which minimises the objective for given w and
    so never raises it. With ``|w_j| = d_j g_j`` many plain steps in one are ``d_j g_j^e / tau``:
    such steps are tried with growing e, and a plain one is taken where they fail.

    Parameters
    ----------
    model : WideModel or TallModel
    usable : bool array of shape (p,)
        Which columns may have a weight.
    m : int
        Sum of the weights, at most the number of usable columns.
    tol : float
        Stop where the gap is at most this share of the objective.
    max_iter : int
        Stop after so many steps.

    Yields
    ------
    ManifoldState
        One for each step, the objective never higher than before.
    """
    state = _state(model, np.where(usable, m / max(1, usable.sum()), 0.0), m)
    exponent = 1.0
    yield state
    for _ in range(max_iter - 1):
        if state.gap <= tol * state.solution.objective:
            return
        relative = state.solution.pull / state.solution.pull.max()
        while True:
            d = np.zeros(len(usable))
            d[usable] = water_filling((state.d * relative**exponent)[usable], m, MIN)
            new = _state(model, d, m)
            if new.solution.objective <= state.solution.objective:
                break
            if exponent == 1.0:
                return  # what is left is rounding
            exponent = max(1.0, exponent / SHRINKAGE)
        exponent = min(MAX, exponent * GROWTH)
        state = new
        yield state


def _state(model: WideModel | TallModel, d: Floats, m: int) -> ManifoldState:
    solution = model.solve(d)
    squares = solution.pull**2
    largest = np.sort(squares)[len(squares) - m :]
    return ManifoldState(d, solution, float(max(0.0, largest.sum() - d @ squares) / 2))


def water_filling(weights: Floats, m: float, least: float = 0.0) -> Floats:
    """Return ``weights / tau``, but no less than `least` and no more than 1, with the sum m.

    Parameters
    ----------
    weights : float array of shape (p,)
        Not negative.
    m : float
        At most p.
    least : float
        Much less than m / p.

    Returns
    -------
    float array of shape (p,)
        1 for every positive weight where there are no more than m.

    Examples
    --------
    >>> import numpy as np
    >>> water_filling(np.array([6.0, 1.0, 2.0, 1.0]), 2)
    array([1.  , 0.25, 0.5 , 0.25])
    """
    if np.count_nonzero(weights) <= m:
        return np.where(weights > 0, 1.0, least)
    largest = np.sort(weights)[::-1]
    n_full = np.arange(np.ceil(m))
    rest = np.cumsum(largest[::-1])[::-1][: len(n_full)]  # what is left without the n_full largest
    taus = rest / (m - n_full)
    d = weights / taus[np.argmax(largest[: len(n_full)] <= taus)]
    too_low = d < least
    if too_low.any():
        d = water_filling(np.where(too_low, 0.0, weights), m - least * too_low.sum())
        d[too_low] = least
    return np.minimum(d, 1.0)


# --- fs manifold ----------------------------------------------------------------------------------


class FSManifold(GraphRanker):
    """Rank columns by their weights in large-margin machines on the manifold of all rows.

    Parameters
    ----------
    n_features_to_select : int, float or str, default=None
        How many columns to select: a number, a share in (0, 1], or a rule: "shadow", "stability"
        or "knockoff" (see `FeatureRanker`). A number is the m of the formula, so the weights depend
        on it. None selects half, and seeks the best 100 of them if there are more.
    C : float, default=1.0
        How much machines pay for labelled rows on the wrong side of their margin.
    graph_weight : float, default=1.0
        The rho of the formula: weight of the differences between neighbours. 0 leaves unlabelled
        rows out.
    {n_neighbors}
    feature_scaling : {"standard", "minmax", None}, default="standard"
        How columns are scaled to measure the distances of the graph: to standard deviation 1, to
        [0, 1], or not at all. The machines always see standardised columns.
    rebuild : int, default=0
        How many times to make the graph again from the columns of the largest weights, and the
        weights from that graph.
    max_unlabelled : int or None, default=1000
        Use at most this many unlabelled rows, drawn at random by `random_state`. None uses all;
        the cost of a step grows with their third power.
    tol : float, default=1e-5
        Stop where the objective is within this share of the lowest one.
    max_iter : int, default=5000
        Stop after so many steps.
    {graph}
    {weights}
    {heat_scale}
    {heat_constant}
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The weight d of each column, between 0 and 1; NaN for constant columns. Their sum is the
        number of columns to select, or less where fewer columns do all the work.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    gains_ : ndarray of shape (n_features_in_,)
        How fast the objective falls as the weight of a column grows; orders columns of equal
        weight.
    objective_path_ : ndarray of shape (n_iter_,)
        The objective after each step (of the last graph); it never rises.
    dual_gap_ : float
        By how much the last objective exceeds the lowest one, at most.
    n_iter_ : int
        Number of steps (of the last graph).
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    Z. Xu, I. King, M. R. Lyu, R. Jin (2010). Discriminative semi-supervised feature selection via
    manifold regularization. IEEE Transactions on Neural Networks 21(7).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import FSManifold
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = FSManifold(n_features_to_select=3).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['hue', 'od280/od315_of_diluted_wines', 'proline']
    """

    labels_needed = "two_classes"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphRanker._parameter_constraints,
        # beyond these the equations of a machine are singular in floats
        "C": [Interval(Real, 1e-12, 1e12, closed="both")],
        "graph_weight": [Interval(Real, 0, None, closed="left")],
        "feature_scaling": [None, StrOptions({"minmax", "standard"})],
        "rebuild": [at_least(0)],
        "max_unlabelled": [None, at_least(1)],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [at_least(1)],
    }
    del _parameter_constraints["variant"]

    variant: ClassVar[Literal["default"]] = "default"  # type: ignore[misc]  # no parameter here
    C: float = 1.0
    graph_weight: float = 1.0
    feature_scaling: Literal["standard", "minmax"] | None = "standard"
    rebuild: int = 0
    max_unlabelled: int | None = 1000
    tol: float = 1e-5
    max_iter: int = 5000

    def _n_tasks(self, data: TrainingData) -> None:
        return None

    @one_blas_thread()
    def _score(self, data: TrainingData) -> Floats:
        rows = data.some_rows(self.max_unlabelled)
        part = data.part(rows)
        m = self._count_to_pick(data)
        state = self._fit_model(part, self._graph_of_rows(data, part, rows), m)
        for _ in range(self.rebuild):
            best = np.sort(np.lexsort((state.solution.pull, state.d))[-m:])
            chosen = TrainingData(part.X[:, best], part.labels, part.seed)
            state = self._fit_model(part, self._graph(chosen), m)
        self.dual_gap_ = state.gap
        if state.gap > self.tol * state.solution.objective:
            warn(
                f"{type(self).__name__} stopped after {self.n_iter_} steps: its "
                f"objective of {state.solution.objective:.3g} may be {state.gap:.2g} above the "
                "lowest one. Set a larger max_iter or tol.",
                ConvergenceWarning,
            )
        self.gains_ = state.solution.pull**2 / 2
        return np.where(state.d > MIN, state.d, 0.0)

    def _graph_of_rows(self, data: TrainingData, part: TrainingData, rows: Ints) -> Graph:
        """Return the graph of the rows that are used; a given matrix is one of all rows."""
        is_matrix = not isinstance(self.graph, str) and not hasattr(self.graph, "fit_transform")
        if is_matrix and self.rebuild:
            raise ValueError(
                f"rebuild={self.rebuild} makes graphs from columns, but graph is a matrix: leave "
                "rebuild at 0, or give a transformer or the name of a graph."
            )
        if not is_matrix or part is data:
            return self._graph(part)
        upper = self._graph(data).upper[rows][:, rows]
        nodes = np.arange(len(rows))
        return Graph(*edges_of(upper), nodes, nodes, np.zeros(len(rows)))

    def _fit_model(self, data: TrainingData, graph: Graph, m: int) -> ManifoldState:
        """Find the weights of the columns with one graph."""
        scale = self.graph_weight / data.n_rows**2
        Q = (scale * (diags_array(graph.between) - graph.upper - graph.upper.T)).tocsr()
        columns = standardised(data, graph.rows)
        labels = data.labels
        signs = class_signs(labels.codes[labels.labelled], labels.n_classes)
        kind = TallModel if data.n_features <= len(graph.rows) else WideModel
        model = kind(columns, Q, graph.node[labels.labelled], SquaredHinge(signs, self.C))
        usable = columns.factor > 0
        states = alternate(model, usable, min(m, int(usable.sum())), self.tol, self.max_iter)
        path = []
        for state in self._progress(states, "step"):
            path.append(state.solution.objective)
        self.objective_path_ = np.array(path)
        self.n_iter_ = len(path)
        return state

    def _tie_key(self, data: TrainingData) -> Floats:
        return self.gains_


def standardised(data: TrainingData, rows: Ints) -> ScaledColumns:
    """Return some rows with each column scaled to standard deviation 1 over all rows.

    A shift changes nothing, since machines have a bias, so sparse columns are not centred.
    """
    unit = units(data)
    mean, squares = column_moments(data.X, unit)
    spread = np.sqrt(squares / data.n_rows)
    factor = np.divide(1.0, spread, out=np.zeros(len(spread)), where=~data.constant)
    centre = np.where(filled_columns(data.X), mean, 0.0)
    return ScaledColumns(data.X, rows, unit, centre, factor)
