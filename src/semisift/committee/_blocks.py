"""What committee members of any kind share: what they are dealt, and the rows they are handed.

A `Setting` is what all members of a committee share, a block a range of members. A block travels as
its range and the rows it was handed (`picks`). What its members were dealt, and the members as they
were grown last, stay with the setting, which stays where it has arrived; elsewhere they are worked
out again.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from semisift import _kernels
from semisift.base._training_data import TrainingData
from semisift.committee._bootstrap import Bootstrap
from semisift.utils._labels import Labels


class MemberSample(NamedTuple):
    """What each member of a block is dealt."""

    subspaces: NDArray[np.int32] | None
    weights: NDArray[np.int32]
    out_of_bag: NDArray[np.uint64]

    def count_draws(self, n_features: int) -> NDArray[np.uint16]:
        """Return how many members drew each feature; a block has at most 1,024."""
        drawn = np.empty(0, dtype=np.int32) if self.subspaces is None else self.subspaces.ravel()
        return np.bincount(drawn, minlength=n_features).astype(np.uint16)


class Importance(NamedTuple):
    """What the members of a block lose when a feature is permuted."""

    features: NDArray[np.int32]
    losses: NDArray[np.float64]
    agreement: NDArray[np.float64]
    draws: NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class BaseBlock:
    """A range of members with the unlabelled rows that they were handed so far."""

    start: int
    stop: int
    picks: NDArray[np.int32]
    pick_labels: NDArray[np.int32]

    def with_picks(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> Self:
        """Return the block after its members were handed further rows (-1: none)."""
        if not (rows >= 0).any():
            return self
        return replace(
            self,
            picks=np.ascontiguousarray(np.concatenate([self.picks, rows], axis=1)),
            pick_labels=np.ascontiguousarray(np.concatenate([self.pick_labels, labels], axis=1)),
        )

    def grown(self, setting: "EnsembleContext", grow: Callable[[], Any]) -> Any:
        """Return the members on all rows that they have; the last ones stay with the setting.

        So a worker that is asked again has them, though blocks travel without.
        """
        found = setting.grown.get((self.start, self.stop))
        if found is not None and all(
            np.array_equal(one, other)
            for one, other in zip(found[:2], (self.picks, self.pick_labels), strict=True)
        ):
            return found[2]
        members = grow()
        setting.grown[self.start, self.stop] = self.picks, self.pick_labels, members
        return members

    def voting(self) -> NDArray[np.int64]:
        """Return which members, counted from the first of the block, vote on rows of no bag.

        They are 1 in e of the committee, as many as vote on a row that is dealt to bags.
        """
        members = np.arange(self.start - 1, self.stop)
        return np.flatnonzero(np.diff(np.floor(members / math.e)))

    def plan(self, setting: "EnsembleContext") -> MemberSample:
        """Return what the members are dealt."""
        key = self.start, self.stop
        if key not in setting.plans:
            members = setting.seed, *key
            subspaces = setting.subspaces
            if subspaces is not None:
                subspaces = subspaces[self.start : self.stop]
            elif not setting.draws_at_nodes:
                size = setting.n_features, setting.n_drawn
                subspaces = _kernels.plan.draw_subspaces(*members, *size)
            setting.plans[key] = MemberSample(subspaces, *setting.bootstrap.draw(*members))
        return setting.plans[key]

    def pick_confident(
        self, setting: "EnsembleContext", *choice: NDArray[Any]
    ) -> NDArray[np.int32]:
        """Return the rows of each member's bag that the committee is surest about."""
        out_of_bag = self.plan(setting).out_of_bag
        return _kernels.plan.pick_confident(
            setting.seed, self.start, out_of_bag, self.picks, *choice
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class EnsembleContext:
    """What all members of a committee share."""

    kind: ClassVar[type[Any]]  # of its blocks

    labels: Labels
    bootstrap: Bootstrap
    seed: int
    n_rows: int
    n_features: int
    n_drawn: int
    draws_at_nodes: bool
    # the features of all members, of shape (n_members, n_drawn); None: drawn with equal chances
    subspaces: NDArray[np.int32] | None = None
    # what the members of each block were dealt, as far as it was asked for here
    plans: dict[tuple[int, int], MemberSample] = field(default_factory=dict, init=False, repr=False)

    # the last members of each block, with the rows that they were handed
    grown: dict[tuple[int, int], Any] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "plans": {}, "grown": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def labelled(self) -> NDArray[np.int32]:
        """The labelled rows, in the order in which bags count them."""
        return self.bootstrap.labelled

    @property
    def row_weights(self) -> NDArray[np.float64] | None:
        """What each row counts for, 1 on average; None where all rows count alike."""
        return self.bootstrap.weights

    def weigh(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply what rows count for by their own weights."""
        return weights if self.row_weights is None else weights * self.row_weights

    def prepare(self) -> None:
        """Work out what members need again and again, before several of them ask for it."""

    @staticmethod
    def plan_options(
        data: TrainingData,
        n_drawn: int,
        *,
        stratified: bool = False,
        draws_at_nodes: bool = False,
        subspaces: NDArray[np.int32] | None = None,
    ) -> dict[str, Any]:
        """Return what a setting of any kind says of the members' columns and bags.

        Parameters
        ----------
        data : TrainingData
        n_drawn : int
            Features that each member draws.
        stratified : bool
            Bootstrap each class by itself, where the rows are of no groups.
        draws_at_nodes : bool
            Draw features afresh at every node, as a random forest does.
        subspaces : int32 array of shape (n_members, n_drawn), optional
            The features of each member; else they are drawn with equal chances.

        Returns
        -------
        dict
        """
        return {
            "labels": data.labels,
            "bootstrap": Bootstrap.of(data, stratified),
            "seed": data.seed,
            "n_rows": data.n_rows,
            "n_features": data.n_features,
            "n_drawn": n_drawn,
            "draws_at_nodes": draws_at_nodes,
            "subspaces": subspaces,
        }

    def new_block(self, start: int, stop: int) -> Any:
        """Return members that have not been handed any row."""
        none = np.empty((stop - start, 0), dtype=np.int32)
        return self.kind(start, stop, none, none)


def count_quotas(growth: float, prior: NDArray[np.float64], n_unlabelled: int) -> NDArray[np.int32]:
    """Return how many rows of each class a member is handed in a round.

    The growth is shared by the prior and rounded up, so that no class gets none; more than there
    are rows would only cost memory.
    """
    # the tiny amount keeps 100 * 0.07 from being a little more than 7
    shared = np.ceil(growth * prior - 1e-9)
    return np.clip(shared, 1, max(1, n_unlabelled)).astype(np.int32)
