"""Committee members: trees of our own kernels, or any scikit-learn classifier (estimators.py)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift import kernels
from semisift._committee.blocks import Block, Dealt, Importance, Setting
from semisift._committee.engine import Committee
from semisift._committee.estimators import EstimatorBlock, EstimatorSetting
from semisift._problem import Problem
from semisift.math.masks import row_mask, unmask

__all__ = [
    "Block",
    "Dealt",
    "EstimatorBlock",
    "EstimatorSetting",
    "Importance",
    "Setting",
    "TreeBlock",
    "TreeSetting",
    "build_setting",
    "new_blocks",
    "row_mask",
    "unmask",
]

# Up to so many rows, the rank of a value within its column fits into a byte.
MOST_BYTE_RANKS = 256
# Values whose order is held as int64, 8 MB, before it is narrowed.
SORTED_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeSetting(Setting):
    """What all members of a committee of trees share."""

    columns: Any
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
        subspaces: NDArray[np.int32] | None = None,
    ) -> "TreeSetting":
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
        subspaces : int32 array of shape (n_members, n_drawn), optional
            The features of each member; else they are drawn with equal chances.

        Returns
        -------
        TreeSetting
        """
        shared = cls.shared(
            problem,
            n_drawn,
            stratified=stratified,
            draws_at_nodes=draws_at_nodes,
            subspaces=subspaces,
        )
        ranks = order = None
        if not problem.is_sparse and problem.n_rows <= MOST_BYTE_RANKS:
            ranks = kernels.grow.rank_columns(problem.X)
        elif not problem.is_sparse and (
            large_bags or len(shared["labelled"]) > kernels.grow.SIDE_BY_SIDE
        ):
            order = sort_rows(problem.X)
        return cls(
            columns=kernels.columns.Columns(problem.X),
            **shared,
            ranks=ranks,
            order=order,
            spread=problem.spread if widest_gap else None,
            max_depth=max_depth,
        )

    def new_block(self, start: int, stop: int) -> "TreeBlock":
        """Return members that have not been handed any row."""
        return TreeBlock.new(start, stop)


@dataclass(frozen=True, eq=False)
class TreeBlock(Block):
    """A range of members that are trees."""

    def trees(self, setting: TreeSetting) -> "kernels.grow.Trees":
        """Return the members' trees on all rows they have."""
        if "trees" not in self._kept:
            subspaces, weights, _ = self.plan(setting)
            self._kept["trees"] = kernels.grow.grow(
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
        self, setting: TreeSetting, probability: bool, rows: NDArray[np.uint64] | None = None
    ) -> NDArray[np.int64]:
        """Return the summed votes of the members, each on its out-of-bag rows and on `rows`."""
        voted = self.plan(setting).out_of_bag
        if rows is not None:
            voted = voted | rows
        n_classes = setting.labels.n_classes
        return kernels.votes.vote(
            setting.columns, self.trees(setting), voted, n_classes, probability
        )

    def pick_own(
        self,
        setting: TreeSetting,
        pools: NDArray[np.uint64],
        quotas: NDArray[np.int32],
        above: float,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the rows of each member's pool that it is itself surest about, and its labels."""
        trees = self.trees(setting)
        return kernels.votes.pick_own(
            setting.columns, trees, setting.seed, self.start, pools, quotas, above
        )

    def permute(
        self,
        setting: TreeSetting,
        labels: NDArray[np.uint64],
        weights: NDArray[np.float64],
        *,
        net: bool,
        sampled: bool = False,
        own_labels_from: float = -1.0,
    ) -> Importance:
        """Return what each member loses when a feature is permuted over its out-of-bag rows."""
        dealt = self.plan(setting)
        unlabelled = row_mask(setting.labels.codes < 0)
        features, losses, agreement = kernels.importance.permute(
            setting.columns,
            self.trees(setting),
            setting.seed,
            self.start,
            dealt.out_of_bag,
            labels,
            unlabelled,
            weights,
            net=net,
            sampled=sampled,
            own_labels_from=own_labels_from,
        )
        draws = dealt.count_draws(setting.n_features)
        return Importance(features, losses, agreement, draws)


def sort_rows(X: NDArray[np.floating]) -> NDArray[np.int32]:
    """Return the rows of each column by ascending value, of shape (n_features, n_rows)."""
    n_rows, n_features = X.shape
    order = np.empty((n_features, n_rows), dtype=np.int32)
    width = max(1, SORTED_AT_ONCE // n_rows)
    for start in range(0, n_features, width):
        order[start : start + width] = np.argsort(X.T[start : start + width], axis=1)
    return order


def build_setting(
    problem: Problem, n_drawn: int, *, estimator: Any = None, **options: Any
) -> Setting:
    """Prepare for the estimator if one is given, else for trees.

    Parameters
    ----------
    problem : Problem
    n_drawn : int
        Features that each member draws.
    estimator : scikit-learn classifier or None
    **options
        As `TreeSetting.build` takes them.

    Returns
    -------
    Setting
    """
    if estimator is None:
        kernels.warn_if_missing()
        if kernels.are_compiled():
            return TreeSetting.build(problem, n_drawn, **options)
    return EstimatorSetting.build(problem, n_drawn, estimator=estimator, **options)


def new_blocks(committee: Committee, setting: Setting) -> list[Block]:
    """Return the committee's blocks before any of them was handed a row."""
    if isinstance(setting, EstimatorSetting):
        committee.limit_threads()
    return [setting.new_block(start, stop) for start, stop in committee.ranges()]
