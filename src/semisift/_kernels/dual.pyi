import numpy as np
from numpy.typing import NDArray

def solve(
    gram: NDArray[np.float64],
    target: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    dual: NDArray[np.float64],
    gradient: NDArray[np.float64],
    tol: float,
    max_iter: int,
) -> int: ...
