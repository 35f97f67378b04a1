import numpy as np
from numpy.typing import NDArray

from semisift._kernels.columns import Columns

def grow_tree(
    X: Columns,
    usable: NDArray[np.int32],
    rows: NDArray[np.int32],
    weights: NDArray[np.int32],
    codes: NDArray[np.int32],
    coordinates: NDArray[np.float64],
    n_classes: int,
    n_candidates: int,
    min_leaf: int,
    max_depth: int,
    min_classes: int,
    label_weight: float,
    row_weight: float,
    by_labelled: bool,
    seed: int,
    member: int,
) -> tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.int64],
]: ...
