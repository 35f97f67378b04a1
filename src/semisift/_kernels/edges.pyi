import numpy as np
from numpy.typing import NDArray

def column_sums(
    X: NDArray[np.floating],
    rows: NDArray[np.int64],
    factors: NDArray[np.float64],
    degrees: NDArray[np.float64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]: ...
