"""The columns of X as the other functions read them: kernels/columns.pyx in numpy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse


class Columns:
    """An array or a CSC matrix."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n_features = X.shape[1]


def extremes(X: Columns) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return the least and the largest value of each column; not finite if another one is not."""
    low, high = X.X.min(axis=0), X.X.max(axis=0)
    return (low.toarray().ravel(), high.toarray().ravel()) if issparse(X.X) else (low, high)
