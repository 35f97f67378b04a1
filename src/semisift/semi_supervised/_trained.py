"""Trained committee members: trees of our own kernels, or scikit-learn classifiers.

Both kinds are trained on a range of `Bags`, put together in member order, and asked for votes. They
keep nothing of the rows that they were trained on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift import _kernels
from semisift.committee._bootstrap import UNIT, Bootstrap
from semisift.committee._estimators import EstimatorContext, Member, fit_member
from semisift.committee._members import EnsembleContext, TreeContext
from semisift.parallel import one_openmp_thread
from semisift.semi_supervised._base import Array, Int32s, Mask
from semisift.utils._columns import row_blocks
from semisift.utils._random import row_mask

# What trees hold for each node, besides the place of its counts.
OF_NODES = "feature", "threshold", "left", "leaf", "missing_left"


class Bags(NamedTuple):
    """What each member is trained on.

    Attributes
    ----------
    counts : int32 array of shape (n_members, n_labelled)
        How often each labelled row counts.
    rows, labels : int32 arrays of shape (n_members, n_slots)
        Further rows (-1: none) and the classes that they were given.
    weights : array of that shape or None
        What the further rows count for, in (0, 1]; None is 1.
    subspaces : int32 array of shape (n_members, n_drawn) or None
        The columns of each member; None is all.
    """

    counts: Int32s
    rows: Int32s
    labels: Int32s
    weights: Array | None = None
    subspaces: Int32s | None = None

    def part(self, start: int, stop: int) -> "Bags":
        """Return the bags of some members."""
        own = slice(start, stop)
        weights = None if self.weights is None else self.weights[own]
        subspaces = None if self.subspaces is None else self.subspaces[own]
        return Bags(self.counts[own], self.rows[own], self.labels[own], weights, subspaces)

    def with_pseudo_labels(
        self, chosen: Mask, rows: Int32s, labels: Int32s, weights: Array | None = None
    ) -> "Bags":
        """Return the bags after some members got all labelled rows and new ones, but no others."""
        old_weights = np.ones(self.rows.shape) if self.weights is None else self.weights
        return self._replace(
            counts=np.where(chosen[:, None], np.int32(1), self.counts),
            rows=_mix(chosen, rows, self.rows, -1),
            labels=_mix(chosen, labels, self.labels, -1),
            weights=None if weights is None else _mix(chosen, weights, old_weights, 1),
        )

    def emptied(self, where: Mask) -> "Bags":
        """Return the bags with nothing in those of some members."""
        emptied = where[:, None]
        return self._replace(
            counts=np.where(emptied, np.int32(0), self.counts),
            rows=np.where(emptied, np.int32(-1), self.rows),
        )


def _mix(chosen: Mask, new: NDArray[Any], old: NDArray[Any], fill: int) -> NDArray[Any]:
    """Return the rows of `new` where chosen, else of `old`, filled up to one width."""
    mixed = np.full((len(old), max(new.shape[1], old.shape[1])), fill, dtype=new.dtype)
    mixed[chosen, : new.shape[1]] = new[chosen]
    mixed[~chosen, : old.shape[1]] = old[~chosen]
    return mixed


@dataclass(frozen=True, eq=False)
class TreeMembers:
    """Trees of the kernels."""

    trees: Any
    n_classes: int

    @classmethod
    def fit(cls, setting: TreeContext, start: int, bags: Bags) -> "TreeMembers":
        """Grow a tree for each bag; an empty one gets a single leaf."""
        counts, weights = bags.counts, None
        if bags.weights is not None:
            counts = counts * np.int32(UNIT)
            most = np.iinfo(np.int32).max
            weights = np.clip(np.rint(UNIT * bags.weights), 1, most).astype(np.int32)
        trees = _kernels.grow.grow(
            setting.columns,
            setting.labels.codes,
            setting.labels.n_classes,
            setting.labelled,
            np.ascontiguousarray(counts),
            np.ascontiguousarray(bags.rows),
            np.ascontiguousarray(bags.labels),
            bags.subspaces,
            codes=setting.ranks,
            order=setting.order,
            spread=setting.spread,
            max_depth=setting.max_depth,
            seed=setting.seed,
            start=start,
            node_features=setting.n_drawn,
            pick_weights=weights,
        )
        return cls(trees, setting.labels.n_classes)

    @classmethod
    def join(cls, parts: Sequence["TreeMembers"]) -> "TreeMembers":
        """Put the members of several ranges behind one another."""
        trees = [part.trees for part in parts]
        n_nodes = np.cumsum([0, *(len(part.feature) for part in trees)])
        n_impure = np.cumsum([0, *(len(part.counts) for part in trees)])
        offsets = [part.offsets[1:] + n for part, n in zip(trees, n_nodes, strict=False)]
        impure = [
            np.where(part.impure < 0, -1, part.impure + n)
            for part, n in zip(trees, n_impure, strict=False)
        ]
        joined = *OF_NODES, "counts"
        merged = trees[0]._replace(
            offsets=np.concatenate([[0], *offsets]).astype(np.int32),
            impure=np.concatenate(impure).astype(np.int32),
            **{name: np.concatenate([getattr(part, name) for part in trees]) for name in joined},
        )
        return cls(merged, parts[0].n_classes)

    def replaced(self, by: "TreeMembers", where: Mask) -> "TreeMembers":
        """Return these members with some of them replaced."""
        both = TreeMembers.join([self, by]).trees
        chosen = np.arange(len(where)) + len(where) * where
        starts, sizes = both.offsets[chosen], np.diff(both.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        nodes = np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])
        impure = both.impure[nodes]
        is_impure = impure >= 0
        counts = both.counts[impure[is_impure]]
        impure[is_impure] = np.arange(len(counts))
        fields = {name: getattr(both, name)[nodes] for name in OF_NODES}
        trees = both._replace(
            offsets=offsets.astype(np.int32), impure=impure, counts=counts, **fields
        )
        return TreeMembers(trees, self.n_classes)

    def vote_each(self, X: Any, probability: bool) -> Int32s:
        """Return the votes of each member: (n_members, n_rows, n_classes)."""
        columns = _kernels.columns.Columns(X)
        return _kernels.votes.vote_each(columns, self.trees, self.n_classes, probability)

    def vote(self, X: Any, probability: bool) -> NDArray[np.int64]:
        """Return the sum of the votes: (n_rows, n_classes)."""
        everyone = row_mask(np.ones(X.shape[0], dtype=bool))
        rows = np.tile(everyone, (len(self.trees.offsets) - 1, 1))
        columns = _kernels.columns.Columns(X)
        return _kernels.votes.vote(columns, self.trees, rows, self.n_classes, probability)


@dataclass(frozen=True, eq=False)
class EstimatorMembers:
    """Fitted scikit-learn classifiers, None in place of those that had nothing to learn from."""

    setting: EstimatorContext
    members: list[Member | None]

    @classmethod
    @one_openmp_thread()
    def fit(cls, setting: EstimatorContext, start: int, bags: Bags) -> "EstimatorMembers":
        """Fit a classifier on each bag that is not empty."""
        members: list[Member | None] = []
        every = np.arange(setting.n_features, dtype=np.int32)
        for i in range(len(bags.counts)):
            columns = every if bags.subspaces is None else bags.subspaces[i]
            own, further = np.repeat(setting.labelled, bags.counts[i]), bags.rows[i] >= 0
            rows = np.concatenate([own, bags.rows[i, further]])
            codes = np.concatenate([setting.labels.codes[own], bags.labels[i, further]])
            weights = None
            if bags.weights is not None:
                weights = np.concatenate([np.ones(len(own)), bags.weights[i, further]])
            known = columns, rows, codes, weights
            members.append(fit_member(setting, start + i, *known) if len(rows) else None)
        # what is kept must not hold the rows
        return cls(replace(setting, X=None, bootstrap=Bootstrap.of_all(0)), members)

    @classmethod
    def join(cls, parts: Sequence["EstimatorMembers"]) -> "EstimatorMembers":
        """Put the members of several ranges behind one another."""
        return cls(parts[0].setting, [member for part in parts for member in part.members])

    def replaced(self, by: "EstimatorMembers", where: Mask) -> "EstimatorMembers":
        """Return these members with some of them replaced."""
        pairs = zip(self.members, by.members, where.tolist(), strict=True)
        return replace(self, members=[new if chosen else old for old, new, chosen in pairs])

    def vote_each(self, X: Any, probability: bool) -> Int32s:
        """Return the votes of each member: (n_members, n_rows, n_classes)."""
        n_classes = self.setting.labels.n_classes
        votes = np.zeros((len(self.members), X.shape[0], n_classes), dtype=np.int32)
        self._add_votes(X, probability, votes)
        return votes

    def vote(self, X: Any, probability: bool) -> NDArray[np.int64]:
        """Return the sum of the votes: (n_rows, n_classes)."""
        votes = np.zeros((X.shape[0], self.setting.labels.n_classes), dtype=np.int64)
        self._add_votes(X, probability, [votes] * len(self.members))
        return votes

    @one_openmp_thread()
    def _add_votes(self, X: Any, probability: bool, votes: Iterable[NDArray[Any]]) -> None:
        """Add the votes of each member to an array of its own, or of all."""
        setting = replace(self.setting, X=X.tocsr() if issparse(X) else X)
        rows = np.arange(X.shape[0])
        for member, own in zip(self.members, votes, strict=True):
            if member is None:
                continue
            for block in row_blocks(X, len(member.columns), setting.is_dense):
                part = setting.take(rows[block], member.columns)
                own[block] += member.cast(part, probability).astype(own.dtype)


def fit_and_vote(
    job: tuple[int, Bags], setting: EnsembleContext, X: Any, probability: bool
) -> tuple[TreeMembers | EstimatorMembers, Int32s]:
    """Train a range of members and let each vote on all rows."""
    kind: Any = EstimatorMembers if isinstance(setting, EstimatorContext) else TreeMembers
    members = kind.fit(setting, *job)
    return members, members.vote_each(X, probability)
