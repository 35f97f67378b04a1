import numpy as np
from numpy.typing import NDArray

def learn(
    X: NDArray[np.float64],
    labels: NDArray[np.int32],
    n_values: NDArray[np.int32],
    n_classes: int,
    n_attempts: int,
    n_intervals: int,
    half_open: bool,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    held: NDArray[np.uint64],
    members: NDArray[np.int32],
    scales: NDArray[np.float64],
) -> int: ...
def nearest(
    X: NDArray[np.float64],
    n_values: NDArray[np.int32],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    held: NDArray[np.uint64],
    scales: NDArray[np.float64],
    out: NDArray[np.int32],
) -> None: ...
def judge_columns(
    picked: NDArray[np.float64],
    columns: NDArray[np.float64],
    labels: NDArray[np.int32],
    train: NDArray[np.int32],
    test: NDArray[np.int32],
    ends: NDArray[np.int32],
    n_classes: int,
    n_attempts: int,
    n_intervals: int,
    half_open: bool,
    give_up: bool,
    right: NDArray[np.bool_],
) -> None: ...
