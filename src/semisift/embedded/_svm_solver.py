"""Linear support vector machines that go on from where they were when columns leave.

They are solved in the dual, on the Gram matrix of their rows: a column z that leaves takes z z'
from it, and the dual variables, which change little, are found again in a few steps.
"""

import numpy as np
from scipy.linalg.blas import dger

from semisift import _kernels
from semisift.utils._columns import ScaledColumns
from semisift.utils._typing import Bools, Floats, Ints

# How far the gradients of the dual may be apart, as a share of the largest: so tight that the
# order of columns is that of machines trained from scratch.
TOLERANCE = 1e-10

# What is left of a row's length, squared, when so much of it was subtracted is mostly rounding.
LOST = 1e-8

# Steps of the solver after which it stops short of the tolerance; thousands are many.
MAX_STEPS = 1_000_000


class Machines:
    """Machines that share their rows and columns.

    Each minimises ``u'Ku / 2 - target'u`` over its dual variables u between bounds, with their sum
    as it is; K is the Gram matrix of the rows, and ``w = Z'u``.

    Parameters
    ----------
    columns : ScaledColumns
    target, low, high : float arrays of shape (n_machines, n_rows)
    dual : float array of shape (n_machines, n_rows)
        Where to start.
    """

    def __init__(
        self, columns: ScaledColumns, target: Floats, low: Floats, high: Floats, dual: Floats
    ) -> None:
        self.columns = columns
        self.target, self.low, self.high, self.dual = target, low, high, dual
        self.gram = np.zeros((columns.n_rows, columns.n_rows))
        self.gradient = -target

    def keep(self, kept: Bools) -> None:
        """Leave out all columns but some, and compute the Gram matrix afresh."""
        self.columns = self.columns.restricted(kept)
        self.gram = np.ascontiguousarray(self.columns.gram(kept.astype(np.float64)))
        self.exact = self.gram.diagonal().copy()
        self.gradient = self.dual @ self.gram - self.target

    def remove(self, Z: Floats, kept: Bools) -> None:
        """Take columns from the Gram matrix.

        Parameters
        ----------
        Z : float array of shape (n_rows, number of columns)
            The columns that leave.
        kept : bool array of shape (p,)
            The columns that are left.
        """
        if Z.shape[1] == 1:
            dger(-1.0, Z[:, 0], Z[:, 0], a=self.gram.T, overwrite_a=1)  # in place
        else:
            self.gram -= Z @ Z.T
        self.gradient -= (self.dual @ Z) @ Z.T
        lost = np.flatnonzero(self.gram.diagonal() < LOST * self.exact)
        if len(lost):
            self._compute_rows(lost, kept)

    def _compute_rows(self, lost: Ints, kept: Bools) -> None:
        """Compute the Gram matrix afresh where rows have next to nothing left in the columns."""
        chosen = np.zeros((self.columns.n_rows, len(lost)))
        chosen[lost, np.arange(len(lost))] = 1.0
        rows = self.columns.project(chosen)
        rows[~kept] = 0.0
        products = self.columns.times(rows)
        self.gram[:, lost] = products
        self.gram[lost] = products.T
        self.gram[np.ix_(lost, lost)] = rows.T @ rows
        self.exact[lost] = self.gram.diagonal()[lost]
        self.gradient = self.dual @ self.gram - self.target

    def train(self) -> None:
        """Find the dual variables."""
        machines = zip(self.target, self.low, self.high, self.dual, self.gradient, strict=True)
        for machine in machines:
            _kernels.dual.solve(self.gram, *machine, TOLERANCE, MAX_STEPS)

    @property
    def lengths(self) -> Floats:
        """The length of w of each machine."""
        squares = np.einsum("ij,ij->i", self.dual, self.gradient + self.target)
        return np.sqrt(np.maximum(squares, 0.0))


def class_signs(codes: Ints, n_classes: int) -> Floats:
    """Return +1 and -1 for each class against the rest, or for the second of two classes.

    Parameters
    ----------
    codes : int array of shape (n_rows,)
    n_classes : int

    Returns
    -------
    float array of shape (n_machines, n_rows)
    """
    positive = np.arange(1 if n_classes == 2 else 0, n_classes)
    return np.where(codes == positive[:, None], 1.0, -1.0)


def one_against_rest(columns: ScaledColumns, codes: Ints, n_classes: int, C: float) -> Machines:
    """Return the machines of the classes, or the one of two classes.

    As `sklearn.svm.SVC` with a linear kernel; u holds ``alpha_i y_i``.

    Parameters
    ----------
    columns : ScaledColumns
        On the labelled rows.
    codes : int array of shape (n_rows,)
        Their classes.
    n_classes : int
    C : float

    Returns
    -------
    Machines
    """
    sign = class_signs(codes, n_classes)
    return Machines(
        columns,
        target=sign,
        low=np.where(sign > 0, 0.0, -C),
        high=np.where(sign > 0, C, 0.0),
        dual=np.zeros(sign.shape),
    )


def one_class(columns: ScaledColumns, nu: float) -> Machines:
    """Return the machine that parts most of the rows from the origin.

    As `sklearn.svm.OneClassSVM` with a linear kernel: between 0 and 1, with the sum nu times the
    number of rows.

    Parameters
    ----------
    columns : ScaledColumns
        On the unlabelled rows.
    nu : float

    Returns
    -------
    Machines
    """
    n = columns.n_rows
    none = np.zeros((1, n))
    start = np.clip(nu * n - np.arange(n), 0.0, 1.0)[None, :]
    return Machines(columns, target=none, low=none, high=np.ones((1, n)), dual=start)
