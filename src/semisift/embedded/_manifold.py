"""The model behind FS-Manifold, and the alternation that finds the weights of its columns.

For given weights d of the columns, each machine minimises

    1/2 sum_j w_j^2 / d_j + C sum_{i labelled} max(0, 1 - y_i (z_i'w + b))^2 + 1/2 f'Qf,   f = Zw

with Q the Laplacian of a graph on the rows, scaled. The solution is ``w = D Z'a``, where a is minus
the derivative of the last two terms by f. The objective J(d) is convex, its derivative by d_j is
``-g_j^2 / 2`` with ``g_j = |z_j'a|`` over the machines, and so

    J(d) - min J <= 1/2 (sum of the m largest g_j^2 - sum_j d_j g_j^2)

over all d between 0 and 1 with the sum m: a bound on what is left to gain.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigh, solve, solve_triangular

from semisift.math import Bools, Floats, Ints
from semisift.math.blocks import blocks
from semisift.math.scaled import ScaledColumns

# A decrease of the objective below this share of it is rounding.
NEGLIGIBLE = 1e-15

# The decrease that a step must bring, as a share of what its slope promises.
ENOUGH = 1e-4

MOST_STEPS = 200

# Weights do not fall below this, or columns could not come back.
LEAST = 1e-12

# While steps lower the objective they grow by this factor, up to so many in one; else they shrink.
GROWTH, SHRINKAGE = 1.5, 4.0
LONGEST = 64.0


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
    for _ in range(MOST_STEPS):
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
        self.K_of_least = LEAST * columns.gram(np.ones(len(columns.factor)))

    def solve(self, d: Floats) -> Solution:
        """Return the machines for weights d of the columns."""
        K = self.columns.gram(np.maximum(d - LEAST, 0.0))
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
            d[usable] = water_filling((state.d * relative**exponent)[usable], m, LEAST)
            new = _state(model, d, m)
            if new.solution.objective <= state.solution.objective:
                break
            if exponent == 1.0:
                return  # what is left is rounding
            exponent = max(1.0, exponent / SHRINKAGE)
        exponent = min(LONGEST, exponent * GROWTH)
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
