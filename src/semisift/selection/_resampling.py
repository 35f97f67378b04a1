"""Units: rows that belong together, or single rows where nothing is known of groups.

Problems made of another one: with more columns or fewer rows.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, hstack, issparse

from semisift.base._training_data import TrainingData
from semisift.transduction._components import hand_down
from semisift.utils._columns import blocks, some_rows
from semisift.utils._labels import UNLABELLED, Labels
from semisift.utils._typing import Bools, Ints


@dataclass(frozen=True, eq=False)
class Units:
    """What the groups of a problem hold.

    Attributes
    ----------
    of_row : int array of shape (n_rows,)
        The unit of each row.
    sizes : int array of shape (n_units,)
        How many rows each has.
    counts : int array of shape (n_units, n_classes)
        How many labelled rows of each class.
    batches : int array of shape (n_units,)
        Equal for units whose rows are in the same batches.
    """

    of_row: Ints
    sizes: Ints
    counts: Ints
    batches: Ints

    @property
    def is_free(self) -> Bools:
        """Which units have no labelled row."""
        return np.asarray(~self.counts.any(axis=1))

    @property
    def is_pure(self) -> Bools:
        """Which units have labelled rows of one class."""
        return np.asarray((self.counts > 0).sum(axis=1) == 1)

    @property
    def is_mixed(self) -> Bools:
        """Which units have labelled rows of several classes."""
        return np.asarray((self.counts > 0).sum(axis=1) > 1)

    def take(self, some: Bools) -> "Units":
        """Return some of the units; their rows are not told."""
        nobody = np.empty(0, dtype=np.int64)
        return Units(nobody, self.sizes[some], self.counts[some], self.batches[some])

    def strata(self, within_batches: bool) -> Ints:
        """Return a number for each unit; those with the same one may change places."""
        return self.batches if within_batches else np.zeros_like(self.batches)

    def row_keys(self, problem: TrainingData, within_batches: bool) -> Ints:
        """Return a number for each row; those with the same one are in one unit, and batch."""
        batches = problem.design.batches
        if batches is None or not within_batches:
            return self.of_row
        return self.of_row * (int(batches.max()) + 1) + batches

    def members(self) -> list[NDArray[np.int64]]:
        """Return the rows of each unit, ascending."""
        return np.split(np.argsort(self.of_row, kind="stable"), np.cumsum(self.sizes)[:-1])


def units_of(problem: TrainingData) -> Units:
    """Return the groups of a problem, or its rows where there are none."""
    design, codes, n_rows = problem.design, problem.labels.codes, problem.n_rows
    of_row, sizes = np.arange(n_rows), np.ones(n_rows, dtype=np.int64)
    if design.groups is not None:
        _, of_row, sizes = np.unique(design.groups, return_inverse=True, return_counts=True)
    counts = np.zeros((len(sizes), problem.labels.n_classes), dtype=np.int64)
    labelled = problem.labels.labelled
    np.add.at(counts, (of_row[labelled], codes[labelled]), 1)
    batches = np.zeros(len(sizes), dtype=np.int64)
    if design.batches is not None:
        is_there = np.zeros((len(sizes), int(design.batches.max()) + 1), dtype=bool)
        is_there[of_row, design.batches] = True
        batches = np.unique(is_there, axis=0, return_inverse=True)[1].ravel()
    return Units(of_row, sizes, counts, batches)


# --- samples --------------------------------------------------------------------------------------


# Fewer columns get more than one shuffled copy each.
LEAST_SHADOWS = 5

# Classes with fewer labelled rows are not halved, nor are kinds of groups.
LEAST_TO_HALVE = 4


def with_columns(problem: TrainingData, extra: Any, seed: int, *, own_graph: bool) -> TrainingData:
    """Return the problem with more columns behind its own.

    Parameters
    ----------
    problem : TrainingData
    extra : array or csc_array
        Sparse if X is.
    seed : int
    own_graph : bool
        Whether the new columns count for the neighbour graph.

    Returns
    -------
    Problem
    """
    if problem.is_sparse:
        X = csc_array(hstack([problem.X, extra], format="csc"))
    else:
        dtype = np.result_type(problem.X, extra)
        X = np.concatenate([problem.X.T, extra.T], dtype=dtype).T
    source = None if own_graph else problem
    return replace(problem, X=X, seed=seed, feature_names=None, graph_source=source, whole=None)


def with_shadows(problem: TrainingData, seed: int, *, own_graph: bool = False) -> TrainingData:
    """Return the problem with shuffled copies of its columns behind them.

    Each column is shuffled by itself over all rows, labelled or not. Dense and sparse columns are
    shuffled alike. With groups each group has values of one other group, in random order: some of
    those of a larger one, and those of a smaller one repeatedly. The neighbour graph stays that of
    the real columns unless `own_graph` lets the shuffled ones count as well.
    """
    rng = np.random.default_rng(seed)
    copies = -(-LEAST_SHADOWS // problem.n_features)
    if problem.design.groups is not None:
        units = units_of(problem)
        shadows: list[Any] = [_shuffle_groups(problem.X, units, rng) for _ in range(copies)]
    else:
        shuffle: Any = _shuffle_sparse if problem.is_sparse else _shuffle_dense
        shadows = [shuffle(problem.X, rng) for _ in range(copies)]
    join: Any = hstack if problem.is_sparse else np.hstack
    extra = join(shadows) if copies > 1 else shadows[0]
    return with_columns(problem, extra, seed, own_graph=own_graph)


def _places(rng: np.random.Generator, n_rows: int, n_columns: int) -> NDArray[np.int32]:
    """Return where each row goes, for each column."""
    rows = np.broadcast_to(np.arange(n_rows, dtype=np.int32), (n_columns, n_rows))
    return rng.permuted(rows, axis=1)


def _shuffle_dense(X: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.floating]:
    shuffled = np.empty(X.T.shape, dtype=X.dtype)
    for columns in blocks(X.shape[1], len(X)):
        places = _places(rng, len(X), len(shuffled[columns]))
        np.put_along_axis(shuffled[columns], places, X.T[columns], axis=1)
    return shuffled.T


def _shuffle_sparse(X: csc_array, rng: np.random.Generator) -> csc_array:
    rows = X.indices.copy()
    for columns in blocks(X.shape[1], X.shape[0]):
        starts = X.indptr[columns.start : columns.stop + 1]
        places = _places(rng, X.shape[0], len(starts) - 1)
        own = slice(starts[0], starts[-1])
        column = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        rows[own] = places[column, X.indices[own]]
    shuffled = csc_array((X.data.copy(), rows, X.indptr), shape=X.shape)
    shuffled.sort_indices()
    return shuffled


def _shuffle_groups(X: Any, units: Units, rng: np.random.Generator) -> Any:
    """Return columns in which groups have the values of other groups; sparse if X is."""
    n_rows, n_groups = X.shape[0], len(units.sizes)
    starts = np.cumsum(units.sizes) - units.sizes
    place = np.empty(n_rows, dtype=np.int64)
    place[np.argsort(units.of_row, kind="stable")] = np.arange(n_rows)
    place -= starts[units.of_row]
    made = []
    for columns in blocks(X.shape[1], n_rows):
        block = X[:, columns].toarray() if issparse(X) else X[:, columns]
        n_columns = block.shape[1]
        # rows by their group, in random order within
        by_group = np.argsort(units.of_row + rng.random((n_columns, n_rows)), axis=1)
        other = _places(rng, n_groups, n_columns)[:, units.of_row]
        places = starts[other] + np.remainder(place, units.sizes[other], dtype=np.int64)
        rows = np.take_along_axis(by_group, places, axis=1)
        shuffled = np.take_along_axis(block, rows.T, axis=0)
        made.append(csc_array(shuffled) if issparse(X) else shuffled)
    return hstack(made, format="csc") if issparse(X) else np.concatenate(made, axis=1)


def can_halve(problem: TrainingData) -> bool:
    """Return whether the labelled rows of each class, or their groups, can be halved."""
    if problem.given_pairs:
        return False
    if problem.design.groups is None:
        return bool((problem.labels.counts >= LEAST_TO_HALVE).all())
    return all(len(kind) >= LEAST_TO_HALVE for kind in kinds_of(units_of(problem)))


def half_of_rows(problem: TrainingData, seed: int) -> NDArray[np.int64]:
    """Draw half of the rows, ascending.

    Half of the labelled rows of each class, or, of a class with fewer than four, one less than
    there are, drawn with repetition; and half of the unlabelled rows. Rows of given pairs all stay.

    With groups, whole groups are drawn, with all their rows: in the same way of those whose
    labelled rows are of the same classes, and half of those without labelled rows.

    A mean of k of n values differs from that of all n by a variance of s^2 (1/k - 1/n), which for
    k = n/2 is that of a mean of n values. So is that of n - 1 values drawn with repetition, where
    n would vary too little: by (n - 1) / n of it.
    """
    rng = np.random.default_rng(seed)
    labels = problem.labels
    if problem.design.groups is not None:
        drawn = _half_of_groups(rng, units_of(problem))
    else:
        drawn = [_half(rng, labels.unlabelled)]
        of_classes = (np.flatnonzero(labels.codes == code) for code in range(labels.n_classes))
        drawn += [_half_or_repeated(rng, rows) for rows in of_classes]
    if problem.given_pairs:
        pairs = problem.given_pairs
        in_pairs = np.concatenate([*pairs.must_link, *pairs.cannot_link])
        drawn.append(np.setdiff1d(in_pairs, np.concatenate(drawn)))
    return np.sort(np.concatenate(drawn)).astype(np.int64)


def _half_of_groups(rng: np.random.Generator, units: Units) -> list[NDArray[np.integer]]:
    drawn = [_half(rng, free)] if len(free := np.flatnonzero(units.is_free)) else []
    drawn += [_half_or_repeated(rng, kind) for kind in kinds_of(units)]
    members = units.members()
    return [members[unit] for unit in np.concatenate(drawn)]


def kinds_of(units: Units) -> list[NDArray[np.int64]]:
    """Return the groups with labelled rows, by which classes these are of."""
    labelled = np.flatnonzero(~units.is_free)
    kinds, kind_of = np.unique(units.counts[labelled] > 0, axis=0, return_inverse=True)
    return [labelled[kind_of.ravel() == kind] for kind in range(len(kinds))]


def _half_or_repeated(
    rng: np.random.Generator, members: NDArray[np.integer]
) -> NDArray[np.integer]:
    can = len(members) >= LEAST_TO_HALVE
    return _half(rng, members) if can else rng.choice(members, max(1, len(members) - 1))


def _half(rng: np.random.Generator, rows: NDArray[np.integer]) -> NDArray[np.integer]:
    return rng.permutation(rows)[: max(1, len(rows) // 2)]


def take_rows(problem: TrainingData, rows: NDArray[np.integer], seed: int) -> TrainingData:
    """Return the problem of some rows, ascending, which may be repeated."""
    X = problem.X[rows].tocsc() if problem.is_sparse else some_rows(problem.X, rows)
    pairs = problem.given_pairs
    if pairs is not None:
        place = np.full(problem.n_rows, UNLABELLED)
        place[rows] = np.arange(len(rows))
        pairs = pairs.moved(place)
    labels = Labels(problem.labels.codes[rows], problem.labels.classes)
    part = replace(
        problem,
        X=X,
        labels=labels,
        seed=seed,
        given_pairs=pairs,
        graph_source=None,
        whole=None,
        numbers=None,
        design=problem.design.take(rows),
    )
    hand_down(problem, part, rows)
    return part
