"""Linear machines with the squared hinge loss, to the last digits by Newton steps."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

# A decrease of the objective below this share of it is rounding.
NEGLIGIBLE = 1e-15

# The decrease that a step must bring, as a share of what its slope promises.
ENOUGH = 1e-4

MOST_STEPS = 200


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

    def __init__(self, signs: NDArray[np.float64], C: float) -> None:
        self.signs, self.C = signs, C
        self.duals = np.zeros(signs.shape)
        self.biases = np.zeros(len(signs))

    def train(self, R: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
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


def newton(
    R1: NDArray[np.float64], y: NDArray[np.float64], C: float, x: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
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
