"""What committee members of any kind share: what they are dealt, and the rows they are handed.

A `Setting` is what all members of a committee share, a `Block` a range of members. What a block has
worked out stays with it while it stays in this process; to another one it travels as its range and
the rows it was handed (`picks`), and works the rest out again.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from semisift import kernels
from semisift._labels import Labels
from semisift._problem import Problem


class Dealt(NamedTuple):
    """What each member of a block is dealt."""

    subspaces: NDArray[np.int32] | None
    weights: NDArray[np.int32]
    out_of_bag: NDArray[np.uint64]

    def count_draws(self, n_features: int) -> NDArray[np.int64]:
        """Return how many members drew each feature."""
        drawn = np.empty(0, dtype=np.int32) if self.subspaces is None else self.subspaces.ravel()
        return np.bincount(drawn, minlength=n_features)


class Importance(NamedTuple):
    """What the members of a block lose when a feature is permuted."""

    features: NDArray[np.int32]
    losses: NDArray[np.float64]
    agreement: NDArray[np.float64]
    draws: NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Setting(ABC):
    """What all members of a committee share."""

    labels: Labels
    labelled: NDArray[np.int32]
    strata: NDArray[np.int32]
    seed: int
    n_rows: int
    n_features: int
    n_drawn: int
    draws_at_nodes: bool
    # the features of all members, of shape (n_members, n_drawn); None: drawn with equal chances
    subspaces: NDArray[np.int32] | None = None

    @staticmethod
    def shared(
        problem: Problem,
        n_drawn: int,
        *,
        stratified: bool,
        draws_at_nodes: bool,
        subspaces: NDArray[np.int32] | None,
    ) -> dict[str, Any]:
        """Return the attributes of a setting of any kind."""
        labelled, strata = list_strata(problem.labels, stratified)
        return {
            "labels": problem.labels,
            "labelled": labelled,
            "strata": strata,
            "seed": problem.seed,
            "n_rows": problem.n_rows,
            "n_features": problem.n_features,
            "n_drawn": n_drawn,
            "draws_at_nodes": draws_at_nodes,
            "subspaces": subspaces,
        }

    @abstractmethod
    def new_block(self, start: int, stop: int) -> "Block":
        """Return members that have not been handed any row."""


@dataclass(frozen=True, eq=False)
class Block(ABC):
    """A range of members with the unlabelled rows that they were handed so far."""

    start: int
    stop: int
    picks: NDArray[np.int32]
    pick_labels: NDArray[np.int32]
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def new(cls, start: int, stop: int) -> Self:
        """Return a block that has not been handed any row."""
        none = np.empty((stop - start, 0), dtype=np.int32)
        return cls(start, stop, none, none)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def with_picks(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> Self:
        """Return the block after its members were handed further rows (-1: none)."""
        if not (rows >= 0).any():
            return self
        return replace(
            self,
            picks=np.ascontiguousarray(np.concatenate([self.picks, rows], axis=1)),
            pick_labels=np.ascontiguousarray(np.concatenate([self.pick_labels, labels], axis=1)),
            _kept={"plan": self._kept["plan"]} if "plan" in self._kept else {},
        )

    def plan(self, setting: Any) -> Dealt:
        """Return what the members are dealt."""
        if "plan" not in self._kept:
            members = setting.seed, self.start, self.stop
            subspaces = setting.subspaces
            if subspaces is not None:
                subspaces = subspaces[self.start : self.stop]
            elif not setting.draws_at_nodes:
                subspaces = kernels.plan.draw_subspaces(
                    *members, setting.n_features, setting.n_drawn
                )
            weights, out_of_bag = kernels.plan.draw_bags(
                *members,
                setting.n_rows,
                setting.labelled,
                setting.strata,
                setting.labels.unlabelled,
            )
            self._kept["plan"] = Dealt(subspaces, weights, out_of_bag)
        return self._kept["plan"]

    def pick_confident(self, setting: Any, *choice: NDArray[Any]) -> NDArray[np.int32]:
        """Return the rows of each member's bag that the committee is surest about."""
        out_of_bag = self.plan(setting).out_of_bag
        return kernels.plan.pick_confident(
            setting.seed, self.start, out_of_bag, self.picks, *choice
        )

    @abstractmethod
    def vote(
        self, setting: Any, probability: bool, rows: NDArray[np.uint64] | None = None
    ) -> NDArray[np.int64]:
        """Return the summed votes of the members, each on its out-of-bag rows and on `rows`.

        A vote is 1, or with `probability` spread over the classes in units of 1 / 65536.
        """

    @abstractmethod
    def pick_own(
        self, setting: Any, pools: NDArray[np.uint64], quotas: NDArray[np.int32], above: float
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the rows of each member's pool that it is itself surest about, and its labels."""

    @abstractmethod
    def permute(
        self,
        setting: Any,
        labels: NDArray[np.uint64],
        weights: NDArray[np.float64],
        *,
        net: bool,
        sampled: bool = False,
        own_labels_from: float = -1.0,
    ) -> Importance:
        """Return what each member loses when a feature is permuted over its out-of-bag rows.

        Parameters
        ----------
        setting : Setting
        labels : uint64 array of shape (n_classes, n_words)
            The rows that carry each label; a row without one is left out.
        weights : array of shape (n_rows,)
            What a row counts for.
        net : bool
            Permute over all labelled rows and subtract what turns right; else over those predicted
            right.
        sampled : bool
            One random permutation for each feature instead of the expectation over all of them.
        own_labels_from : float
            If not negative: the label of an unlabelled row is the member's own prediction where it
            is at least so confident, and none elsewhere.

        Returns
        -------
        Importance
        """


def list_strata(labels: Labels, stratified: bool) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """List the labelled rows, those of one stratum side by side, and where each stratum starts."""
    labelled = labels.labelled
    strata = np.array([0, len(labelled)])
    if stratified:
        labelled = labelled[np.argsort(labels.codes[labelled], kind="stable")]
        strata = np.concatenate([[0], np.cumsum(labels.counts)])
    return labelled.astype(np.int32), strata.astype(np.int32)


def count_quotas(growth: float, prior: NDArray[np.float64], n_unlabelled: int) -> NDArray[np.int32]:
    """Return how many rows of each class a member is handed in a round.

    The growth is shared by the prior and rounded up, so that no class gets none; more than there
    are rows would only cost memory.
    """
    # the tiny amount keeps 100 * 0.07 from being a little more than 7
    shared = np.ceil(growth * prior - 1e-9)
    return np.clip(shared, 1, max(1, n_unlabelled)).astype(np.int32)
