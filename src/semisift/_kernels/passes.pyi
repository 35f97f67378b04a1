from typing import Any

import numpy as np
from numpy.typing import NDArray

def add_sparse(
    values: NDArray[np.floating],
    columns: NDArray[np.integer],
    inverse: NDArray[np.float64],
    sums: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    filled: NDArray[Any],
) -> None: ...
def add_squares_sparse(
    values: NDArray[np.floating],
    columns: NDArray[np.integer],
    inverse: NDArray[np.float64],
    mean: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None: ...
def add_dense(
    values: NDArray[np.floating],
    inverse: NDArray[np.float64],
    sums: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    filled: NDArray[Any],
) -> None: ...
def add_squares_dense(
    values: NDArray[np.floating],
    inverse: NDArray[np.float64],
    mean: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None: ...
def note_values(
    values: NDArray[np.float64],
    columns: NDArray[np.integer],
    known: NDArray[np.float64],
    n_known: NDArray[Any],
) -> None: ...
