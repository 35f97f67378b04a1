import numpy as np
from numpy.typing import NDArray

def draw_subspaces(
    seed: int, start: int, stop: int, n_features: int, size: int
) -> NDArray[np.int32]: ...
def draw_bags(
    seed: int,
    start: int,
    stop: int,
    n_rows: int,
    labelled: NDArray[np.int32],
    strata: NDArray[np.int32],
    unlabelled: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]: ...
def pick_confident(
    seed: int,
    start: int,
    out_of_bag: NDArray[np.uint64],
    picks: NDArray[np.int32],
    order: NDArray[np.int32],
    confidence: NDArray[np.float64],
    class_starts: NDArray[np.int32],
    quotas: NDArray[np.int32],
) -> NDArray[np.int32]: ...
