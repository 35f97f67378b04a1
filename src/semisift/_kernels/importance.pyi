import numpy as np
from numpy.typing import NDArray

from semisift._kernels.columns import Columns
from semisift._kernels.grow import Trees

def permute(
    X: Columns,
    trees: Trees,
    seed: int,
    start: int,
    out_of_bag: NDArray[np.uint64],
    labels: NDArray[np.uint64],
    unlabelled: NDArray[np.uint64],
    weights: NDArray[np.float64],
    *,
    net: bool,
    sampled: bool = False,
    own_labels_from: float = -1.0,
    copies: NDArray[np.float64] | None = None,
    row_cost: float = 64.0,
    by_lists: int = -1,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...
