from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift._kernels.columns import Columns

SIDE_BY_SIDE: int

class Trees(NamedTuple):
    offsets: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    leaf: NDArray[np.int32]
    impure: NDArray[np.int32]
    counts: NDArray[np.int32]
    missing_left: NDArray[np.uint8]

def grow(
    X: Columns,
    row_labels: NDArray[np.int32],
    n_classes: int,
    labelled: NDArray[np.int32],
    weights: NDArray[np.int32],
    picks: NDArray[np.int32],
    pick_labels: NDArray[np.int32],
    subspaces: NDArray[np.int32] | None = None,
    *,
    codes: NDArray[np.uint8] | None = None,
    order: NDArray[np.int32] | None = None,
    spread: NDArray[np.float64] | None = None,
    max_depth: int | None = None,
    seed: int = 0,
    start: int = 0,
    node_features: int = -1,
    side_by_side: int = -1,
    pick_weights: NDArray[np.int32] | None = None,
) -> Trees: ...
def rank_columns(X: NDArray[Any]) -> NDArray[np.uint8]: ...
