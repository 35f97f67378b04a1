import numpy as np
from numpy.typing import NDArray

from semisift._kernels.columns import Columns

def bin_columns(
    X: Columns, cuts: NDArray[np.float64], n_bins: int
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]: ...
def information_terms(
    bits: NDArray[np.uint64],
    bin_sizes: NDArray[np.int32],
    values: NDArray[np.int32],
    n_s: int,
    n_y: int,
    k_log_k: NDArray[np.float64],
) -> NDArray[np.float64]: ...
