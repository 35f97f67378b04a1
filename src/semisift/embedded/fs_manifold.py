"""FS-Manifold: weights of columns that let a large margin follow the manifold of all rows.

Z. Xu, I. King, M. R. Lyu, R. Jin (2010). Discriminative semi-supervised feature selection via
manifold regularization. IEEE Transactions on Neural Networks 21(7).

    min over d, w, b of  1/2 sum_j w_j^2 / d_j
                         + C sum_{i labelled} max(0, 1 - y_i (z_i'w + b))^2
                         + rho / (2 n^2) w'Z' L Z w
    with 0 <= d_j <= 1 and sum_j d_j = m

Z are the standardised columns, L is the Laplacian of a neighbour graph of all n rows and m the
number of columns to select. The problem is convex. Machines and weights are found in turn, as
`semisift.embedded._manifold` says, until the objective is known to be within `tol` of the lowest.

Direction: higher d_j is better. Cost: a step takes O(n^2 p) for the columns that still have a
weight and O(n^3), or O(n p^2 + p^3) if there are no more columns than rows; hundreds of steps.

What is a reading: the paper's abstract tells of the margin, of manifold regularisation and of a
convex-concave problem solved by a level method; the constants, the squared hinge and this solver
are ours. Several classes: one machine each against the rest, with the same d. Another account
builds the manifold from the selected columns; `rebuild` does, at the price of convexity. Columns of
equal weight are ordered by the derivative of the objective: for those of weight 1 that is the order
of |w_j|, for those of weight 0 the order in which they would come in.
"""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import diags_array
from sklearn.exceptions import ConvergenceWarning

from semisift._graph_ranker import GraphRanker
from semisift._problem import Problem
from semisift._sklearn import Interval, StrOptions, at_least
from semisift._threads import one_blas_thread
from semisift._warnings import warn
from semisift.embedded._machines import class_signs
from semisift.embedded._manifold import (
    LEAST,
    ManifoldState,
    SquaredHinge,
    TallModel,
    WideModel,
    alternate,
)
from semisift.graphs.pairs import units
from semisift.math import Floats, Ints
from semisift.math.columns import column_moments, filled_columns
from semisift.math.graph import Graph, edges_of
from semisift.math.scaled import ScaledColumns


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

    def _n_tasks(self, problem: Problem) -> None:
        return None

    @one_blas_thread()
    def _score(self, problem: Problem) -> Floats:
        rows = problem.some_rows(self.max_unlabelled)
        part = problem.part(rows)
        m = self._count_to_pick(problem)
        state = self._fit_model(part, self._graph_of_rows(problem, part, rows), m)
        for _ in range(self.rebuild):
            best = np.sort(np.lexsort((state.solution.pull, state.d))[-m:])
            chosen = Problem(part.X[:, best], part.labels, part.seed)
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
        return np.where(state.d > LEAST, state.d, 0.0)

    def _graph_of_rows(self, problem: Problem, part: Problem, rows: Ints) -> Graph:
        """Return the graph of the rows that are used; a given matrix is one of all rows."""
        is_matrix = not isinstance(self.graph, str) and not hasattr(self.graph, "fit_transform")
        if is_matrix and self.rebuild:
            raise ValueError(
                f"rebuild={self.rebuild} makes graphs from columns, but graph is a matrix: leave "
                "rebuild at 0, or give a transformer or the name of a graph."
            )
        if not is_matrix or part is problem:
            return self._graph(part)
        upper = self._graph(problem).upper[rows][:, rows]
        nodes = np.arange(len(rows))
        return Graph(*edges_of(upper), nodes, nodes, np.zeros(len(rows)))

    def _fit_model(self, problem: Problem, graph: Graph, m: int) -> ManifoldState:
        """Find the weights of the columns with one graph."""
        scale = self.graph_weight / problem.n_rows**2
        Q = (scale * (diags_array(graph.between) - graph.upper - graph.upper.T)).tocsr()
        columns = standardised(problem, graph.rows)
        labels = problem.labels
        signs = class_signs(labels.codes[labels.labelled], labels.n_classes)
        kind = TallModel if problem.n_features <= len(graph.rows) else WideModel
        model = kind(columns, Q, graph.node[labels.labelled], SquaredHinge(signs, self.C))
        usable = columns.factor > 0
        states = alternate(model, usable, min(m, int(usable.sum())), self.tol, self.max_iter)
        path = []
        for state in self._progress(states, "step"):
            path.append(state.solution.objective)
        self.objective_path_ = np.array(path)
        self.n_iter_ = len(path)
        return state

    def _tie_key(self, problem: Problem) -> Floats:
        return self.gains_


def standardised(problem: Problem, rows: Ints) -> ScaledColumns:
    """Return some rows with each column scaled to standard deviation 1 over all rows.

    A shift changes nothing, since machines have a bias, so sparse columns are not centred.
    """
    unit = units(problem)
    mean, squares = column_moments(problem.X, unit)
    spread = np.sqrt(squares / problem.n_rows)
    factor = np.divide(1.0, spread, out=np.zeros(len(spread)), where=~problem.constant)
    centre = np.where(filled_columns(problem.X), mean, 0.0)
    return ScaledColumns(problem.X, rows, unit, centre, factor)
