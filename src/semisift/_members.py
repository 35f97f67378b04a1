"""Committee members that are trees: what a block of them is dealt, grows, votes and loses.

A `Setting` is what all members share, a `TreeBlock` a range of members. What a block has worked out
stays with it while it stays in this process; to another one it travels as its range and the rows it
was handed (`picks`), and works the rest out again.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift._committee import Committee
from semisift._labels import Labels
from semisift._problem import Problem
from semisift.kernels import columns, grow, importance, plan, votes

# Up to so many rows, the rank of a value within its column fits into a byte.
MOST_BYTE_RANKS = 256
# With bags larger than this, trees are grown on sorted columns, and sorting once for all pays.
SORT_FROM = 128


class Plan(NamedTuple):
    """What each member of a block is dealt."""

    subspaces: NDArray[np.int32] | None
    weights: NDArray[np.int32]
    out_of_bag: NDArray[np.uint64]


class Importance(NamedTuple):
    """What the members of a block lose when a feature is permuted."""

    features: NDArray[np.int32]
    losses: NDArray[np.float64]
    agreement: NDArray[np.float64]
    draws: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Setting:
    """What all members of a committee of trees share."""

    columns: Any
    labels: Labels
    labelled: NDArray[np.int32]
    strata: NDArray[np.int32]
    seed: int
    n_drawn: int
    draws_at_nodes: bool
    ranks: NDArray[np.uint8] | None
    order: NDArray[np.int32] | None
    spread: NDArray[np.float64] | None
    max_depth: int | None

    @classmethod
    def build(
        cls,
        problem: Problem,
        n_drawn: int,
        *,
        stratified: bool = False,
        widest_gap: bool = False,
        max_depth: int | None = None,
        large_bags: bool = False,
        draws_at_nodes: bool = False,
    ) -> "Setting":
        """Prepare the data for trees.

        Parameters
        ----------
        problem : Problem
        n_drawn : int
            Features that each member draws.
        stratified : bool
            Bootstrap each class by itself.
        widest_gap : bool
            Between equal splits take the widest gap, in standard deviations, instead of the first.
        max_depth : int or None
        large_bags : bool
            Whether bags are to grow by many unlabelled rows.
        draws_at_nodes : bool
            Draw features afresh at every node, as a random forest does.

        Returns
        -------
        Setting
        """
        labels = problem.labels
        labelled = labels.labelled
        strata = np.array([0, len(labelled)])
        if stratified:
            labelled = labelled[np.argsort(labels.codes[labelled], kind="stable")]
            strata = np.concatenate([[0], np.cumsum(labels.counts)])
        ranks = order = None
        if not problem.is_sparse and problem.n_rows <= MOST_BYTE_RANKS:
            ranks = grow.rank_columns(problem.X)
        elif not problem.is_sparse and (large_bags or len(labelled) > SORT_FROM):
            order = np.argsort(problem.X.T, axis=1).astype(np.int32)
        return cls(
            columns=columns.Columns(problem.X),
            labels=labels,
            labelled=labelled.astype(np.int32),
            strata=strata.astype(np.int32),
            seed=problem.seed,
            n_drawn=n_drawn,
            draws_at_nodes=draws_at_nodes,
            ranks=ranks,
            order=order,
            spread=problem.spread if widest_gap else None,
            max_depth=max_depth,
        )


@dataclass(frozen=True, eq=False)
class TreeBlock:
    """A range of members with the unlabelled rows that they were handed so far."""

    start: int
    stop: int
    picks: NDArray[np.int32]
    pick_labels: NDArray[np.int32]
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def new(cls, start: int, stop: int) -> "TreeBlock":
        """Return a block that has not been handed any row."""
        none = np.empty((stop - start, 0), dtype=np.int32)
        return cls(start, stop, none, none)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def with_picks(self, rows: NDArray[np.int32], labels: NDArray[np.int32]) -> "TreeBlock":
        """Return the block after its members were handed further rows (-1: none)."""
        if not (rows >= 0).any():
            return self
        return replace(
            self,
            picks=np.ascontiguousarray(np.hstack([self.picks, rows])),
            pick_labels=np.ascontiguousarray(np.hstack([self.pick_labels, labels])),
            _kept={"plan": self._kept["plan"]} if "plan" in self._kept else {},
        )

    def plan(self, setting: Setting) -> Plan:
        """Return what the members are dealt."""
        if "plan" not in self._kept:
            seed, n_rows = setting.seed, setting.columns.X.shape[0]
            subspaces = None
            if not setting.draws_at_nodes:
                subspaces = plan.draw_subspaces(
                    seed, self.start, self.stop, setting.columns.n_features, setting.n_drawn
                )
            weights, out_of_bag = plan.draw_bags(
                seed,
                self.start,
                self.stop,
                n_rows,
                setting.labelled,
                setting.strata,
                setting.labels.unlabelled,
            )
            self._kept["plan"] = Plan(subspaces, weights, out_of_bag)
        return self._kept["plan"]

    def trees(self, setting: Setting) -> grow.Trees:
        """Return the members' trees on all rows they have."""
        if "trees" not in self._kept:
            subspaces, weights, _ = self.plan(setting)
            self._kept["trees"] = grow.grow(
                setting.columns,
                setting.labels.codes,
                setting.labels.n_classes,
                setting.labelled,
                weights,
                self.picks,
                self.pick_labels,
                subspaces,
                codes=setting.ranks,
                order=setting.order,
                spread=setting.spread,
                max_depth=setting.max_depth,
                seed=setting.seed,
                start=self.start,
                node_features=setting.n_drawn,
            )
        return self._kept["trees"]

    def vote(
        self, setting: Setting, probability: bool, rows: NDArray[np.uint64] | None = None
    ) -> NDArray[np.int32]:
        """Return the summed votes of the members, each on its out-of-bag rows and on `rows`."""
        voted = self.plan(setting).out_of_bag
        if rows is not None:
            voted = voted | rows
        n_classes = setting.labels.n_classes
        return votes.vote(setting.columns, self.trees(setting), voted, n_classes, probability)

    def pick_confident(self, setting: Setting, *choice: NDArray[Any]) -> NDArray[np.int32]:
        """Return the rows of each member's bag that the committee is surest about."""
        out_of_bag = self.plan(setting).out_of_bag
        return plan.pick_confident(setting.seed, self.start, out_of_bag, self.picks, *choice)

    def pick_own(
        self, setting: Setting, pools: NDArray[np.uint64], quotas: NDArray[np.int32], above: float
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the rows of each member's pool that it is itself surest about, and its labels."""
        trees = self.trees(setting)
        return votes.pick_own(
            setting.columns, trees, setting.seed, self.start, pools, quotas, above
        )

    def permute(
        self,
        setting: Setting,
        labels: NDArray[np.uint64],
        weights: NDArray[np.float64],
        **options: Any,
    ) -> Importance:
        """Return what each member loses when a feature is permuted over its out-of-bag rows."""
        dealt = self.plan(setting)
        unlabelled = row_mask(setting.labels.codes < 0)
        features, losses, agreement = importance.permute(
            setting.columns,
            self.trees(setting),
            setting.seed,
            self.start,
            dealt.out_of_bag,
            labels,
            unlabelled,
            weights,
            **options,
        )
        n_features = setting.columns.n_features
        drawn = np.empty(0, dtype=np.int32) if dealt.subspaces is None else dealt.subspaces.ravel()
        draws = np.bincount(drawn, minlength=n_features)
        return Importance(features, losses, agreement, draws)


Block = TreeBlock


def build_setting(problem: Problem, n_drawn: int, *, estimator: Any = None, **options: Any) -> Any:
    """Prepare for trees."""
    return Setting.build(problem, n_drawn, **options)


def new_blocks(committee: Committee, setting: Any) -> list[Any]:
    return [TreeBlock.new(start, stop) for start, stop in committee.ranges()]


def row_mask(rows: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack booleans, along the last axis, into the bit masks of the kernels."""
    n_rows = rows.shape[-1]
    padding = [(0, 0)] * (rows.ndim - 1) + [(0, -n_rows % 64)]
    packed = np.packbits(np.pad(rows, padding), axis=-1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)
