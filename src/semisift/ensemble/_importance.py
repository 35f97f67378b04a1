"""What the committees share: their size, what members draw, and the sum of what they lose."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from semisift.base._training_data import TrainingData
from semisift.committee._blocks import Importance, MemberBlock
from semisift.committee._bootstrap import Int32s, Masks
from semisift.committee._estimators import allow_nan
from semisift.ensemble._random_subspaces import draw_subspaces
from semisift.parallel import Committee, committee_size, features_to_draw
from semisift.utils._sklearn_compat import (
    JOBS,
    MAX_MEMBERS,
    Interval,
    RealNotInt,
    StrOptions,
    at_least,
)
from semisift.utils._typing import Floats

COMMITTEE_CONSTRAINTS: dict[str, list[Any]] = {
    "n_members": [StrOptions({"auto"}), at_least(1, MAX_MEMBERS)],
    "max_features": [StrOptions({"sqrt"}), at_least(1), Interval(RealNotInt, 0, 1, closed="right")],
    "max_depth": [None, at_least(1)],
    "permutation": [StrOptions({"expected", "sampled"})],
    "n_jobs": JOBS,
}


# What a member keeps until the end, at least: from 330 bytes were measured for SSFI.
BYTES_A_MEMBER = 64


class CommitteeMixin:
    """Mixin of rankers whose committee works once, block after block."""

    n_members: Any
    n_jobs: int | None

    # Bytes of each feature that a member draws, kept until the end; counts of draws aside.
    bytes_a_draw: ClassVar[int] = 0

    def _committee(self, data: TrainingData) -> Committee:
        wanted, p = self.n_members, data.n_features
        n_members = committee_size(p) if isinstance(wanted, str) else int(wanted)
        return Committee(n_members, self.n_jobs)

    def _bytes_needed(self: Any, data: TrainingData) -> int:
        n_features, committee = data.n_features, self._committee(data)
        n_draws = committee.n_members * features_to_draw(self.max_features, n_features)
        counts = len(committee.ranges()) * n_features * np.dtype(np.uint16).itemsize
        needed: int = super()._bytes_needed(data)  # type: ignore[misc]
        return needed + counts + BYTES_A_MEMBER * committee.n_members + self.bytes_a_draw * n_draws

    def _n_tasks(self, data: TrainingData) -> int:
        return len(self._committee(data).ranges())

    def __sklearn_tags__(self: Any) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        if getattr(self, "estimator", None) is not None:
            tags.input_tags.allow_nan &= allow_nan(self.estimator)
        return tags

    def _subspaces(self: Any, data: TrainingData, n_drawn: int) -> Int32s | None:
        """Return the features of all members, or None where they are drawn with equal chances.

        Members draw these by themselves, where they are at work.
        """
        if self.subspace == "random":
            return None
        if data.has_missing:
            raise ValueError(
                'X has missing values (NaN), with which subspace must be "random": the mutual '
                f"information needs complete columns. Got subspace={self.subspace!r}."
            )
        size = self._committee(data).n_members, n_drawn
        return draw_subspaces(self.subspace, data.X, data.labels, data.seed, *size)


def measure(
    block: MemberBlock, context: Any, labels: Masks, weights: Floats, options: dict[str, Any]
) -> Importance:
    """Permute the features of each member over its out-of-bag rows; see `MemberBlock.permute`."""
    return block.permute(context, labels, weights, **options)


def sum_draws(parts: Sequence[Importance]) -> NDArray[np.int64]:
    """Return how many members of all blocks drew each feature."""
    total = np.zeros(len(parts[0].draws), dtype=np.int64)
    for part in parts:  # stacked they would take as much again
        total += part.draws
    return total


def add_up(
    parts: Sequence[Importance], divisor: NDArray[np.int64] | int, n_features: int
) -> Floats:
    """Add the losses in member order and divide; a feature that nobody drew has no score."""
    features = np.concatenate([part.features for part in parts])
    losses = np.concatenate([part.losses for part in parts])
    total = np.bincount(features, losses, minlength=n_features)
    divisor = np.broadcast_to(divisor, total.shape)
    return np.divide(total, divisor, out=np.full(n_features, np.nan), where=divisor > 0)
