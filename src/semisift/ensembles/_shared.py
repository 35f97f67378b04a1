"""What the committees share: their size, what members draw, and the sum of what they lose."""

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from semisift._committee.engine import committee_size
from semisift._committee.members import Importance

COMMITTEE_CONSTRAINTS: dict[str, list[Any]] = {
    "n_members": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "max_features": [
        StrOptions({"sqrt"}),
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
    ],
    "max_depth": [None, Interval(Integral, 1, None, closed="left")],
    "permutation": [StrOptions({"expected", "sampled"})],
    "n_jobs": [None, Integral],
}


def count_members(n_members: int | str, n_features: int) -> int:
    """Return the size of the committee."""
    return committee_size(n_features) if isinstance(n_members, str) else int(n_members)


def features_to_draw(max_features: Any, n_features: int) -> int:
    """Return how many features a member draws."""
    if max_features == "sqrt":
        return max(1, round(math.sqrt(n_features)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(1, round(max_features * n_features))


def add_up(
    parts: list[Importance], divisor: NDArray[np.int64] | int, n_features: int
) -> NDArray[np.float64]:
    """Add the losses in member order and divide; a feature that nobody drew has no score."""
    features = np.concatenate([part.features for part in parts])
    losses = np.concatenate([part.losses for part in parts])
    total = np.bincount(features, losses, minlength=n_features)
    divisor = np.broadcast_to(divisor, total.shape)
    return np.divide(total, divisor, out=np.full(n_features, np.nan), where=divisor > 0)
