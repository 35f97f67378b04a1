import numpy as np
from numpy.typing import NDArray

from semisift._kernels.columns import Columns
from semisift.filters._constrained_laplacian import TieOptions

def cls_parts(
    X: Columns,
    exponents: NDArray[np.int32],
    subspaces: NDArray[np.int32],
    constrained: NDArray[np.int32],
    copies: NDArray[np.int32],
    unlabelled: NDArray[np.int32],
    pairs: NDArray[np.int32],
    n_must: int,
    pair_counts: NDArray[np.int32],
    options: TieOptions,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
