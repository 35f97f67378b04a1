"""Committee members: trees of our own kernels, or any scikit-learn classifier (_estimators.py)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from semisift import _kernels
from semisift.base._training_data import TrainingData
from semisift.committee._blocks import Bags, EnsembleContext, MemberBlock
from semisift.committee._bootstrap import UNIT, Int32s, Masks, row_weights
from semisift.committee._estimators import EstimatorContext, EstimatorPredictors
from semisift.parallel import Committee
from semisift.utils._columns import blocks
from semisift.utils._random import row_mask
from semisift.utils._typing import Floats

# Up to so many rows, the rank of a value within its column fits into a byte.
MAX_BYTE_RANKS = 256
# Values whose order is held as int64, 8 MB, before it is narrowed.
SORTED_AT_ONCE = 1 << 20
# Of sparse rows those in the bags are taken out where all rows are so many times more.
MIN_IN_BAGS = 4
# What trees hold for each node, besides the place of its counts.
OF_NODES = "feature", "threshold", "left", "leaf", "missing_left"


@dataclass(frozen=True, eq=False)
class TreePredictors:
    """Trees of the kernels."""

    trees: "_kernels.grow.Trees"
    n_classes: int

    def __len__(self) -> int:
        return len(self.trees.offsets) - 1

    @classmethod
    def fit(cls, context: "TreeContext", start: int, bags: Bags) -> Self:
        """Grow a tree for each bag; an empty one gets a single leaf."""
        columns, codes, labelled, rows = context.in_bags(bags.rows)
        counts, weights = bags.counts, None
        if context.row_weights is not None:  # counts are in units
            weights = np.full_like(rows, UNIT)
        elif bags.weights is not None:
            counts = counts * np.int32(UNIT)
            most = np.iinfo(np.int32).max
            weights = np.clip(np.rint(UNIT * bags.weights), 1, most).astype(np.int32)
        trees = _kernels.grow.grow(
            columns,
            codes,
            context.labels.n_classes,
            labelled,
            np.ascontiguousarray(counts),
            np.ascontiguousarray(rows),
            np.ascontiguousarray(bags.labels),
            bags.subspaces,
            codes=context.ranks,
            order=context.order,
            spread=context.spread,
            max_depth=context.max_depth,
            seed=context.seed,
            start=start,
            node_features=context.n_drawn,
            pick_weights=weights,
        )
        return cls(trees, context.labels.n_classes)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put the members of several ranges behind one another."""
        trees = [part.trees for part in parts]
        n_nodes = np.cumsum([0, *(len(part.feature) for part in trees)])
        n_impure = np.cumsum([0, *(len(part.counts) for part in trees)])
        offsets = [part.offsets[1:] + n for part, n in zip(trees, n_nodes, strict=False)]
        impure = [
            np.where(part.impure < 0, -1, part.impure + n)
            for part, n in zip(trees, n_impure, strict=False)
        ]
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in trees])
            for name in (*OF_NODES, "counts")
        }
        joined["offsets"] = np.concatenate([[0], *offsets]).astype(np.int32)
        joined["impure"] = np.concatenate(impure).astype(np.int32)
        return cls(trees[0]._replace(**joined), parts[0].n_classes)

    def take(self, numbers: NDArray[np.integer]) -> Self:
        """Return some of the members, by their numbers."""
        trees = self.trees
        starts, sizes = trees.offsets[numbers], np.diff(trees.offsets)[numbers]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        nodes = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
        impure = trees.impure[nodes]
        is_impure = impure >= 0
        counts = trees.counts[impure[is_impure]]
        impure[is_impure] = np.arange(len(counts))
        taken: dict[str, Any] = {name: getattr(trees, name)[nodes] for name in OF_NODES}
        taken |= {"offsets": offsets, "impure": impure, "counts": counts}
        return replace(self, trees=trees._replace(**taken))

    def vote(self, data: Any, probability: bool, rows: Masks | None = None) -> NDArray[np.int64]:
        """Return the summed votes of the members, each on its own rows (None: all).

        Parameters
        ----------
        data : Columns, or Fortran-ordered array or csc_array of shape (n_rows, p)
        probability : bool
        rows : uint64 array of shape (n_members, n_words), optional

        Returns
        -------
        int64 array of shape (n_rows, n_classes)
        """
        columns = as_columns(data)
        if rows is None:
            every = np.ones((1, columns.X.shape[0]), dtype=bool)
            rows = np.repeat(row_mask(every), len(self), axis=0)
        return _kernels.votes.vote(columns, self.trees, rows, self.n_classes, probability)

    def vote_each(self, data: Any, probability: bool) -> Int32s:
        """Return the votes of each member: (n_members, n_rows, n_classes)."""
        columns = as_columns(data)
        return _kernels.votes.vote_each(columns, self.trees, self.n_classes, probability)

    def pick_own(self, context: "TreeContext", start: int, *choice: Any) -> Any:
        """Return the rows of each member's pool that it is surest about, and its labels."""
        return _kernels.votes.pick_own(context.table, self.trees, context.seed, start, *choice)

    def permute(
        self,
        context: "TreeContext",
        start: int,
        out_of_bag: Masks,
        labels: Masks,
        weights: Floats,
        **options: Any,
    ) -> tuple[NDArray[Any], ...]:
        """Return features, losses and agreements of the members, as of `MemberBlock.permute`."""
        members = self.trees, context.seed, start, out_of_bag
        rows = labels, row_mask(context.labels.codes < 0), weights
        copies = context.row_weights
        return _kernels.importance.permute(context.table, *members, *rows, copies=copies, **options)


def as_columns(data: Any) -> Any:
    """Return columns as the kernels read them."""
    is_read = isinstance(data, _kernels.columns.Columns)
    return data if is_read else _kernels.columns.Columns(data)


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeContext(EnsembleContext):
    """What all members of a committee of trees share."""

    predictors = TreePredictors

    spread: Floats | None
    max_depth: int | None
    has_ranks: bool
    has_order: bool
    has_few_in_bags: bool

    @cached_property
    def ranks(self) -> NDArray[np.uint8] | None:
        """The rank of each value within its column, of few rows."""
        return _kernels.grow.rank_columns(self.table.X) if self.has_ranks else None

    @cached_property
    def order(self) -> Int32s | None:
        """The rows of each column by ascending value, missing ones last, for large bags."""
        if not self.has_order:
            return None
        n_rows, n_features = self.table.X.shape
        order = np.empty((n_features, n_rows), dtype=np.int32)
        for columns in blocks(n_features, n_rows, SORTED_AT_ONCE):
            order[columns] = np.argsort(self.table.X.T[columns], axis=1)
        return order

    @cached_property
    def by_row(self) -> csr_array | None:
        """Sparse rows, to take those in the bags."""
        return self.table.X.tocsr() if self.has_few_in_bags else None

    def prepare(self, committee: Committee) -> None:
        """Rank, sort or turn the rows; with X they would take half as long again over a network."""
        if not committee.is_cluster:  # whose workers do it themselves
            _ = self.ranks, self.order, self.by_row

    def in_bags(self, picks: Int32s) -> tuple[Any, Int32s, Int32s, Int32s]:
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
            return self.table, codes, self.labelled, picks
        rows = np.union1d(self.labelled, picks[picks >= 0])
        if len(rows) * MIN_IN_BAGS > self.n_rows:
            return self.table, codes, self.labelled, picks
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
        large_bags: bool = False,
        max_depth: int | None = None,
        **options: Any,
    ) -> "TreeContext":
        """Prepare the data for trees.

        Parameters
        ----------
        data : TrainingData
        n_drawn : int
            Features that each member draws.
        widest_gap : bool
            Between equal splits take the widest gap, in standard deviations, instead of the first.
        large_bags : bool
            Whether bags are to grow by many unlabelled rows.
        max_depth : int or None
        **options
            As `EnsembleContext.of` takes them.

        Returns
        -------
        TreeContext
        """
        n_labelled = len(data.labels.labelled)
        is_large = large_bags or n_labelled > _kernels.grow.SIDE_BY_SIDE
        has_few = n_labelled * MIN_IN_BAGS <= data.n_rows
        most_ranked = MAX_BYTE_RANKS - data.has_missing  # which have a rank of their own
        has_ranks = not data.is_sparse and data.n_rows <= most_ranked
        return cls.of(
            data,
            n_drawn,
            table=_kernels.columns.Columns(data.X, data.has_missing),
            spread=spread_of(data) if widest_gap else None,
            max_depth=max_depth,
            has_ranks=has_ranks,
            has_order=is_large and not (data.is_sparse or has_ranks),
            has_few_in_bags=data.is_sparse and has_few,
            **options,
        )


def spread_of(data: TrainingData) -> Floats:
    """Return the spread of the columns: where all rows count alike, the same bits as ever."""
    if data.design.weights is not None and row_weights(data) is None:
        data = replace(data, design=replace(data.design, weights=None))
    return data.spread


Predictors = TreePredictors | EstimatorPredictors


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
        As `TreeContext.build` and `EnsembleContext.of` take them.

    Returns
    -------
    EnsembleContext
    """
    if estimator is None:
        _kernels.warn_if_missing()
        if _kernels.are_compiled():
            return TreeContext.build(data, n_drawn, **options)
    return EstimatorContext.build(data, n_drawn, estimator=estimator, **options)


def new_blocks(committee: Committee, context: EnsembleContext) -> list[MemberBlock]:
    """Return the committee's blocks before any of them was given a row."""
    context.prepare(committee)
    return [context.new_block(start, stop) for start, stop in committee.ranges()]
