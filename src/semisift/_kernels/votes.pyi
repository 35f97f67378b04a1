import numpy as np
from numpy.typing import NDArray

from semisift._kernels.columns import Columns
from semisift._kernels.grow import Trees

def vote(
    X: Columns,
    trees: Trees,
    rows: NDArray[np.uint64],
    n_classes: int,
    probability: bool,
    *,
    by_lists: int = -1,
) -> NDArray[np.int64]: ...
def vote_each(X: Columns, trees: Trees, n_classes: int, probability: bool) -> NDArray[np.int32]: ...
def pick_own(
    X: Columns,
    trees: Trees,
    seed: int,
    start: int,
    pools: NDArray[np.uint64],
    quotas: NDArray[np.int32],
    at_least: float,
    *,
    by_lists: int = -1,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
