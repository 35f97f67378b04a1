import numpy as np
from numpy.typing import NDArray

def count_votes(
    distances: NDArray[np.float64], codes: NDArray[np.int64], n_classes: int, k: int
) -> NDArray[np.int64]: ...
