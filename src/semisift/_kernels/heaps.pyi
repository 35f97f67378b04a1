import numpy as np
from numpy.typing import NDArray

def count_votes(
    distances: NDArray[np.float64], codes: NDArray[np.int64], n_classes: int, k: int
) -> NDArray[np.int64]: ...
def push_rows(
    X: NDArray[np.floating],
    subspaces: NDArray[np.int32],
    rows: NDArray[np.floating],
    codes: NDArray[np.int32],
    heaps: NDArray[np.float64],
    kept: NDArray[np.int32],
    votes: NDArray[np.int32],
    start: int,
    stop: int,
) -> None: ...
