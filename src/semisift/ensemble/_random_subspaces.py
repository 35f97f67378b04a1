"""Subspaces for the members of a committee: at random, by relevance, or by little redundancy.

Y. Yaslan, Z. Cataltepe. Selection of relevant and non-redundant feature subspaces for co-training.

Member i draws from the random stream (seed, i), so its columns depend on nobody else's. Columns are
drawn without replacement::

    random                P(f) equal
    relevant              P(f) proportional to I(f; y)
    probabilistic MRMR    P(f) proportional to I(f; y) for the first column, then to
                          max(0, I(f; y) - mean over drawn s of I(f; s))

Where fewer columns than needed have a positive probability, the others are drawn with equal ones.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift import _kernels
from semisift.utils._columns import blocks
from semisift.utils._information import Binned, bin_columns, mutual_information
from semisift.utils._labels import Labels
from semisift.utils._random import Purpose, stream_words
from semisift.utils._typing import Bools, Floats

Kind = Literal["random", "relevant", "probabilistic-mrmr"]
KINDS: tuple[Kind, ...] = ("random", "relevant", "probabilistic-mrmr")

# Members are dealt at once as long as there are no more values than this for each, 16 MB.
BLOCK_DRAWS = 1 << 21
# Mutual information with drawn columns that is kept, 256 MB.
KEPT_VALUES = 1 << 25
# Scores below this share of the largest relevance are rounding errors.
NEGLIGIBLE = 1e-12

Redundancy = Callable[[int], Floats]


def draw_subspaces(
    kind: Kind, X: Any, labels: Labels, seed: int, n_members: int, size: int
) -> NDArray[np.int32]:
    """Draw the columns of all members of a committee.

    Parameters
    ----------
    kind : {"random", "relevant", "probabilistic-mrmr"}
    X : array or sparse csc_array of shape (n, p)
        Relevance and redundancy are those of the labelled rows.
    labels : Labels
    seed, n_members : int
    size : int
        Columns of a member, at most p.

    Returns
    -------
    int32 array of shape (n_members, size)
    """
    if kind == "random":
        return random(seed, n_members, X.shape[1], size)
    if labels.n_classes < 2:
        return relevant(seed, n_members, np.zeros(X.shape[1]), size)
    rows = labels.labelled
    binned = bin_columns(X[rows] if not issparse(X) else X.tocsr()[rows].tocsc())
    relevance = mutual_information(binned, labels.codes[rows])
    if kind == "relevant":
        return relevant(seed, n_members, relevance, size)
    return probabilistic_mrmr(seed, n_members, relevance, redundancy_of(binned), size)


def random(seed: int, n_members: int, n_features: int, size: int) -> NDArray[np.int32]:
    """Draw columns with equal probabilities.

    Parameters
    ----------
    seed, n_members, n_features, size : int

    Returns
    -------
    int32 array of shape (n_members, size)
    """
    return _kernels.plan.draw_subspaces(seed, 0, n_members, n_features, size)


def relevant(seed: int, n_members: int, relevance: Floats, size: int) -> NDArray[np.int32]:
    """Draw columns one after the other with probabilities proportional to their relevance.

    Every column has an exponential clock whose rate is its relevance, and the first to ring are
    drawn: the same distribution as that of drawing in turn (or of Gumbel variables added to the
    logarithms), at the cost of one pass.

    Parameters
    ----------
    seed, n_members : int
    relevance : array of shape (p,)
        Not negative. Columns with 0 are drawn, with equal probabilities, after all others.
    size : int

    Returns
    -------
    int32 array of shape (n_members, size)
        In the order in which they are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> relevant(0, 3, np.array([0.0, 0.4, 0.0, 0.1]), 2)
    array([[1, 3],
           [1, 3],
           [1, 3]], dtype=int32)
    """
    n_features = len(relevance)
    drawn = np.empty((n_members, size), dtype=np.int32)
    counters = np.arange(n_features)
    for block in blocks(n_members, n_features, BLOCK_DRAWS):
        members = range(block.start, block.stop)
        words = [stream_words(seed, i, Purpose.SUBSPACE, counters) for i in members]
        clock = -np.log(_unit(np.array(words)))
        with np.errstate(divide="ignore"):
            rings = np.where(relevance > 0, -relevance / clock, clock)
        if size < n_features:
            first = np.argpartition(rings, size - 1, axis=1)[:, :size]
        else:
            first = np.broadcast_to(counters, rings.shape)
        order = np.argsort(np.take_along_axis(rings, first, axis=1), axis=1, kind="stable")
        drawn[block] = np.take_along_axis(first, order, axis=1)
    return drawn


def redundancy_of(binned: Binned) -> Redundancy:
    """Return the function of a column that gives its mutual information with all columns.

    Parameters
    ----------
    binned : DenseBins or SparseBins

    Returns
    -------
    callable
    """

    @lru_cache(maxsize=max(1, KEPT_VALUES // binned.shape[1]))
    def redundancy(column: int) -> Floats:
        return mutual_information(binned, binned.column(column))

    return redundancy


def probabilistic_mrmr(
    seed: int,
    n_members: int,
    relevance: Floats,
    redundancy: Redundancy,
    size: int,
    negative: Literal["clip", "shift"] = "clip",
) -> NDArray[np.int32]:
    """Draw columns with probabilities proportional to relevance minus redundancy (MID).

    Parameters
    ----------
    seed, n_members : int
    relevance : array of shape (p,)
        Mutual information with the classes.
    redundancy : callable
        Returns the mutual information of a column with all columns.
    size : int
    negative : {"clip", "shift"}
        Scores below 0 count as 0, or from the second column on the lowest score is subtracted from
        all. Where no column has a positive score, those left are drawn with equal probabilities.

    Returns
    -------
    int32 array of shape (n_members, size)
        In the order in which they are drawn.
    """
    n_features = len(relevance)
    drawn = np.empty((n_members, size), dtype=np.int32)
    for block in blocks(n_members, n_features, BLOCK_DRAWS):
        here = drawn[block]
        members = range(block.start, block.stop)
        words = [stream_words(seed, i, Purpose.SUBSPACE, np.arange(size)) for i in members]
        chance = _unit(np.array(words))
        total = np.zeros((len(here), n_features))
        left = np.ones(total.shape, dtype=bool)
        for step in range(size):
            scores = relevance - total / max(step, 1)
            shifts = negative == "shift" and step > 0
            weights = _weights(scores, left, shifts, NEGLIGIBLE * relevance.max())
            here[:, step] = _draw(weights, chance[:, step])
            left[np.arange(len(here)), here[:, step]] = False
            if step + 1 < size:
                for column in np.unique(here[:, step]).tolist():
                    total[here[:, step] == column] += redundancy(column)
    return drawn


def _weights(scores: Floats, left: Bools, shifts: bool, negligible: float) -> Floats:
    """Return what the probabilities of the columns that are left are proportional to."""
    if shifts:
        lowest = np.where(left, scores, np.inf).min(axis=1, keepdims=True)
        scores = scores - lowest
    weights = np.where(left & (scores > negligible), scores, 0.0)
    return np.where(weights.any(axis=1, keepdims=True), weights, left)


def _draw(weights: Floats, chance: Floats) -> NDArray[np.intp]:
    """Draw one column for each row of weights."""
    sums = np.cumsum(weights, axis=1)
    # chance is in (0, 1]: the first column whose sum reaches it has a positive weight
    return np.asarray((sums < chance[:, None] * sums[:, -1:]).sum(axis=1))


def _unit(words: NDArray[np.uint64]) -> Floats:
    """Turn words into numbers above 0 and up to 1."""
    return np.asarray(((words >> np.uint64(11)) + np.uint64(1)) * 2.0**-53, dtype=np.float64)
