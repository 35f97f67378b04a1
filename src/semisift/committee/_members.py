"""Committee members: trees of our own kernels, or any scikit-learn classifier (estimators.py)."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from semisift import _kernels
from semisift.base._training_data import TrainingData
from semisift.committee._blocks import BaseBlock, EnsembleContext, Importance
from semisift.committee._bootstrap import UNIT, row_weights
from semisift.committee._estimators import EstimatorBlock, EstimatorContext, EstimatorPredictors
from semisift.parallel import Committee
from semisift.utils._columns import blocks
from semisift.utils._random import row_mask

# Up to so many rows, the rank of a value within its column fits into a byte.
MAX_BYTE_RANKS = 256
# Values whose order is held as int64, 8 MB, before it is narrowed.
SORTED_AT_ONCE = 1 << 20
# Of sparse rows those in the bags are taken out where all rows are so many times more.
MIN_IN_BAGS = 4


@dataclass(frozen=True, eq=False)
class TreeBlock(BaseBlock):
    """A range of members that are trees."""

    def trees(self, setting: "TreeContext") -> "_kernels.grow.Trees":
        """Return the members' trees on all rows they have."""
        return self.grown(setting, lambda: self._grow(setting))

    def _grow(self, setting: "TreeContext") -> "_kernels.grow.Trees":
        subspaces, weights, _ = self.plan(setting)
        columns, codes, labelled, picks = setting.in_bags(self.picks)
        bags: Any = labelled, weights, picks, self.pick_labels, subspaces
        return _kernels.grow.grow(
            columns,
            codes,
            setting.labels.n_classes,
            *bags,
            codes=setting.ranks,
            order=setting.order,
            spread=setting.spread,
            max_depth=setting.max_depth,
            seed=setting.seed,
            start=self.start,
            node_features=setting.n_drawn,
            pick_weights=None if setting.row_weights is None else np.full_like(picks, UNIT),
        )

    def vote(
        self, setting: "TreeContext", probability: bool, rows: NDArray[np.uint64] | None = None
    ) -> NDArray[np.int64]:
        """Return the summed votes of the members, each on its out-of-bag rows and on `rows`.

        A vote is 1, or with `probability` spread over the classes in units of 1 / 65536.
        """
        out_of_bag = self.plan(setting).out_of_bag
        voted = out_of_bag if rows is None else out_of_bag | rows
        how = setting.labels.n_classes, probability
        return _kernels.votes.vote(setting.columns, self.trees(setting), voted, *how)

    def voters(self, setting: "TreeContext") -> "TreePredictors":
        """Return the members that vote on rows of no bag."""
        return TreePredictors(take_trees(self.trees(setting), self.voting()))

    def pick_own(
        self,
        setting: "TreeContext",
        pools: NDArray[np.uint64],
        quotas: NDArray[np.int32],
        above: float,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the rows of each member's pool that it is itself surest about, and its labels."""
        members = self.trees(setting), setting.seed, self.start
        return _kernels.votes.pick_own(setting.columns, *members, pools, quotas, above)

    def permute(
        self,
        setting: "TreeContext",
        labels: NDArray[np.uint64],
        weights: NDArray[np.float64],
        **options: Any,
    ) -> Importance:
        """Return what each member loses when a feature is permuted over its out-of-bag rows.

        Parameters
        ----------
        setting : TreeSetting
        labels : uint64 array of shape (n_classes, n_words)
            The rows that carry each label; a row without one is left out.
        weights : array of shape (n_rows,)
            What a row counts for, besides its own weight.
        net : bool
            Permute over all labelled rows and subtract what turns right; else over those predicted
            right.
        sampled : bool, default=False
            One random permutation for each feature instead of the expectation over all of them.
        own_labels_from : float, default=-1
            If not negative: the label of an unlabelled row is the member's own prediction where it
            is at least so confident, and none elsewhere.

        Returns
        -------
        Importance
        """
        plan = self.plan(setting)
        unlabelled = row_mask(setting.labels.codes < 0)
        members = self.trees(setting), setting.seed, self.start, plan.out_of_bag
        lost = _kernels.importance.permute(
            setting.columns,
            *(*members, labels, unlabelled, setting.weigh(weights)),
            copies=setting.row_weights,
            **options,
        )
        return Importance(*lost, plan.count_draws(setting.n_features))


@dataclass(frozen=True, eq=False)
class TreePredictors:
    """Trees that vote on rows that no member was dealt."""

    trees: "_kernels.grow.Trees"

    def vote(self, setting: "TreeContext", probability: bool, X: Any) -> NDArray[np.int64]:
        """Return the summed votes on other rows than those of the setting.

        Parameters
        ----------
        setting : TreeSetting
        probability : bool
        X : Fortran-ordered array or csc_array

        Returns
        -------
        int64 array of shape (number of rows, n_classes)
        """
        everyone = np.ones((1, X.shape[0]), dtype=bool)
        rows = np.repeat(row_mask(everyone), len(self.trees.offsets) - 1, axis=0)
        columns, how = _kernels.columns.Columns(X), (setting.labels.n_classes, probability)
        return _kernels.votes.vote(columns, self.trees, rows, *how)


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeContext(EnsembleContext):
    """What all members of a committee of trees share."""

    kind = TreeBlock

    columns: Any
    spread: NDArray[np.float64] | None
    max_depth: int | None
    has_ranks: bool
    has_order: bool
    has_few_in_bags: bool

    @cached_property
    def ranks(self) -> NDArray[np.uint8] | None:
        """The rank of each value within its column, of few rows."""
        return _kernels.grow.rank_columns(self.columns.X) if self.has_ranks else None

    @cached_property
    def order(self) -> NDArray[np.int32] | None:
        """The rows of each column by ascending value, for large bags."""
        return sort_rows(self.columns.X) if self.has_order else None

    @cached_property
    def by_row(self) -> csr_array | None:
        """Sparse rows, to take those in the bags."""
        return self.columns.X.tocsr() if self.has_few_in_bags else None

    def prepare(self) -> None:
        """Rank, sort or turn the rows; with X they would take half as long again over a network."""
        _ = self.ranks, self.order, self.by_row

    def in_bags(
        self, picks: NDArray[np.int32]
    ) -> tuple[Any, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Return columns of the rows that members may have in their bags, and these rows' places.

        To look for a few rows in sparse columns takes as long as the columns are filled: where the
        bags have few rows, these are taken out first.

        Parameters
        ----------
        picks : int32 array of shape (n_members, n_picks)
            Rows besides the labelled ones; -1 for none.

        Returns
        -------
        columns : Columns
        codes : int32 array
            Class of each of their rows.
        labelled, picks : int32 arrays
            The places of the rows.
        """
        codes = self.labels.codes
        if self.by_row is None:
            return self.columns, codes, self.labelled, picks
        rows = np.union1d(self.labelled, picks[picks >= 0])
        if len(rows) * MIN_IN_BAGS > self.n_rows:
            return self.columns, codes, self.labelled, picks
        place = np.full(self.n_rows + 1, -1, dtype=np.int32)  # the last one is for no row
        place[rows] = np.arange(len(rows))
        columns = _kernels.columns.Columns(csc_array(self.by_row[rows]))
        return columns, codes[rows], place[self.labelled], place[picks]

    @classmethod
    def build(
        cls,
        data: TrainingData,
        n_drawn: int,
        *,
        widest_gap: bool = False,
        max_depth: int | None = None,
        large_bags: bool = False,
        **plan: Any,
    ) -> "TreeContext":
        """Prepare the data for trees.

        Parameters
        ----------
        data : TrainingData
        n_drawn : int
            Features that each member draws.
        widest_gap : bool
            Between equal splits take the widest gap, in standard deviations, instead of the first.
        max_depth : int or None
        large_bags : bool
            Whether bags are to grow by many unlabelled rows.
        **dealt
            As `Setting.deal` takes it.

        Returns
        -------
        TreeSetting
        """
        shared, n_labelled = cls.plan_options(data, n_drawn, **plan), len(data.labels.labelled)
        is_large = large_bags or n_labelled > _kernels.grow.SIDE_BY_SIDE
        has_few = n_labelled * MIN_IN_BAGS <= data.n_rows
        most_ranked = MAX_BYTE_RANKS - data.has_missing  # which have a rank of their own
        has_ranks = not data.is_sparse and data.n_rows <= most_ranked
        return cls(
            columns=_kernels.columns.Columns(data.X, data.has_missing),
            **shared,
            spread=spread_of(data) if widest_gap else None,
            max_depth=max_depth,
            has_ranks=has_ranks,
            has_order=is_large and not (data.is_sparse or has_ranks),
            has_few_in_bags=data.is_sparse and has_few,
        )


def spread_of(data: TrainingData) -> NDArray[np.float64]:
    """Return the spread of the columns: where all rows count alike, the same bits as ever."""
    if data.design.weights is not None and row_weights(data) is None:
        data = replace(data, design=replace(data.design, weights=None))
    return data.spread


def take_trees(trees: "_kernels.grow.Trees", numbers: NDArray[np.integer]) -> "_kernels.grow.Trees":
    """Return some of the trees, by their numbers."""
    starts, sizes = trees.offsets[numbers], np.diff(trees.offsets)[numbers]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    nodes = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
    names = ("feature", "threshold", "left", "leaf", "impure", "missing_left")
    parts: dict[str, Any] = {name: getattr(trees, name)[nodes] for name in names}
    return trees._replace(offsets=offsets, **parts)


def sort_rows(X: NDArray[np.floating]) -> NDArray[np.int32]:
    """Return the rows of each column by ascending value, missing last: (n_features, n_rows)."""
    n_rows, n_features = X.shape
    order = np.empty((n_features, n_rows), dtype=np.int32)
    for columns in blocks(n_features, n_rows, SORTED_AT_ONCE):
        order[columns] = np.argsort(X.T[columns], axis=1)
    return order


Block = TreeBlock | EstimatorBlock
Voters = TreePredictors | EstimatorPredictors


def build_context(
    data: TrainingData, n_drawn: int, *, estimator: Any = None, **options: Any
) -> EnsembleContext:
    """Prepare for the estimator if one is given, else for trees.

    Parameters
    ----------
    data : TrainingData
    n_drawn : int
        Features that each member draws.
    estimator : scikit-learn classifier or None
    **options
        As `TreeSetting.build` and `Setting.deal` take them.

    Returns
    -------
    Setting
    """
    if estimator is None:
        _kernels.warn_if_missing()
        if _kernels.are_compiled():
            return TreeContext.build(data, n_drawn, **options)
    return EstimatorContext.build(data, n_drawn, estimator=estimator, **options)


def prepare_context(committee: Committee, setting: EnsembleContext) -> None:
    """Prepare a committee for what its members are."""
    if isinstance(setting, EstimatorContext):
        committee.limit_threads()
    if not committee.is_cluster:  # whose workers do it themselves
        setting.prepare()


def new_blocks(committee: Committee, setting: EnsembleContext) -> list[Block]:
    """Return the committee's blocks before any of them was handed a row."""
    prepare_context(committee, setting)
    return [setting.new_block(start, stop) for start, stop in committee.ranges()]
