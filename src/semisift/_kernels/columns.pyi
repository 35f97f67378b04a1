from typing import Any

import numpy as np
from numpy.typing import NDArray

class Columns:
    X: Any
    n_features: int
    def __init__(self, X: Any, has_missing: bool = False) -> None: ...

def extremes(X: Columns) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def moments(
    X: Columns, unit: NDArray[np.float64], rows: NDArray[np.int32] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
