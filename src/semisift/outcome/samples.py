"""Problems made of another one: with more columns, fewer rows or other labels."""

from dataclasses import replace
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, hstack

from semisift._labels import UNLABELLED, Labels, Pairs
from semisift._problem import Problem
from semisift.math.blocks import blocks
from semisift.math.columns import some_rows
from semisift.transduction.components import hand_down

# Fewer columns get more than one shuffled copy each.
LEAST_SHADOWS = 5

# Classes with fewer labelled rows are not halved.
LEAST_TO_HALVE = 4

# With fewer ways to exchange the labels among the labelled rows, they are given to other rows.
ENOUGH_LABELLINGS = 1000


def with_columns(problem: Problem, extra: Any, seed: int, *, own_graph: bool) -> Problem:
    """Return the problem with more columns behind its own.

    Parameters
    ----------
    problem : Problem
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


def with_shadows(problem: Problem, seed: int, *, own_graph: bool = False) -> Problem:
    """Return the problem with shuffled copies of its columns behind them.

    Each column is shuffled by itself over all rows, labelled or not. Dense and sparse columns are
    shuffled alike. The neighbour graph stays that of the real columns unless `own_graph` lets the
    shuffled ones count as well.
    """
    rng = np.random.default_rng(seed)
    copies = -(-LEAST_SHADOWS // problem.n_features)
    shuffle = _shuffle_sparse if problem.is_sparse else _shuffle_dense
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


def can_halve(problem: Problem) -> bool:
    """Return whether the labelled rows of each class can be halved."""
    return not problem.given_pairs and bool((problem.labels.counts >= LEAST_TO_HALVE).all())


def half_of_rows(problem: Problem, seed: int) -> NDArray[np.int64]:
    """Draw half of the rows, ascending.

    Half of the labelled rows of each class, or, of a class with fewer than four, one less than
    there are, drawn with repetition; and half of the unlabelled rows. Rows of given pairs all stay.

    A mean of k of n values differs from that of all n by a variance of s^2 (1/k - 1/n), which for
    k = n/2 is that of a mean of n values. So is that of n - 1 values drawn with repetition, where
    n would vary too little: by (n - 1) / n of it.
    """
    rng = np.random.default_rng(seed)
    labels = problem.labels
    drawn = [_half(rng, labels.unlabelled)]
    for code in range(labels.n_classes):
        rows = np.flatnonzero(labels.codes == code)
        can = len(rows) >= LEAST_TO_HALVE
        drawn.append(_half(rng, rows) if can else rng.choice(rows, max(1, len(rows) - 1)))
    if problem.given_pairs:
        pairs = problem.given_pairs
        in_pairs = np.concatenate([*pairs.must_link, *pairs.cannot_link])
        drawn.append(np.setdiff1d(in_pairs, np.concatenate(drawn)))
    return np.sort(np.concatenate(drawn)).astype(np.int64)


def _half(rng: np.random.Generator, rows: NDArray[np.integer]) -> NDArray[np.integer]:
    return rng.permutation(rows)[: max(1, len(rows) // 2)]


def take_rows(problem: Problem, rows: NDArray[np.integer], seed: int) -> Problem:
    """Return the problem of some rows, ascending, which may be repeated."""
    X = problem.X[rows].tocsc() if problem.is_sparse else some_rows(problem.X, rows)
    pairs = problem.given_pairs
    if pairs is not None:
        place = np.full(problem.n_rows, UNLABELLED)
        place[rows] = np.arange(len(rows))
        pairs = _moved(pairs, place)
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


def _moved(pairs: Pairs, place: NDArray[np.integer]) -> Pairs:
    """Return the pairs by the new places of their rows; those that are at none are left out."""
    moved = [place[part].astype(np.int32) for part in (pairs.must_link, pairs.cannot_link)]
    return Pairs(*(np.sort(part[(part >= 0).all(axis=1)], axis=1) for part in moved))


def exchanges_labels(problem: Problem) -> bool:
    """Return whether there are enough ways to exchange the labels among the labelled rows.

    Ways that differ in the names of classes of equal size are one: 6 labels of two classes can be
    exchanged in 10 ways, so that no p-value below .1 would be possible.
    """
    counts = problem.labels.counts
    if problem.given_pairs:
        return False
    ways = lgamma(counts.sum() + 1) - sum(lgamma(count + 1) for count in counts)
    ways -= sum(lgamma(times + 1) for times in np.unique(counts, return_counts=True)[1])
    return ways >= log(ENOUGH_LABELLINGS)


def exchanged_rows(problem: Problem, seed: int) -> NDArray[np.int64]:
    """Return for each row another one, whose values tell nothing of its label.

    Rows are exchanged among the labelled and among the unlabelled ones or, where there are too few
    ways to do so, among all.
    """
    rng = np.random.default_rng(seed)
    if not exchanges_labels(problem):
        return rng.permutation(problem.n_rows)
    order = np.arange(problem.n_rows)
    for rows in (problem.labels.labelled, problem.labels.unlabelled):
        order[rows] = rng.permutation(rows)
    return order


def shuffled_labels(problem: Problem, seed: int) -> Problem:
    """Return the problem with labels that tell nothing.

    They are exchanged among the labelled rows or, where there are too few ways to do so, given to
    rows drawn from all, as are given pairs. The latter assumes that the labelled rows are a random
    sample of all rows.
    """
    rng = np.random.default_rng(seed)
    labels, pairs = problem.labels, problem.given_pairs
    codes = labels.codes.copy()
    if exchanges_labels(problem):
        codes[labels.labelled] = rng.permutation(codes[labels.labelled])
    else:
        place = rng.permutation(problem.n_rows)
        codes[place] = labels.codes
        pairs = None if pairs is None else _moved(pairs, place)
    return problem.with_labels(Labels(codes, labels.classes), pairs, seed)
