"""Predictive clustering trees: what they are, what is in their bags, and paths through them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.utils._random import Purpose, draw_below
from semisift.utils._typing import Floats, Ints


class Tree(NamedTuple):
    """One tree; node 0 is the root, and the right child follows the left one.

    Attributes
    ----------
    feature, left, depth : int32 arrays of shape (n_nodes,)
        The column that a node tests and its left child, -1 at leaves.
    threshold, gain : float arrays of shape (n_nodes,)
        Rows with a value of at most `threshold` go left.
    size : int64 array of shape (n_nodes,)
        Rows of each node.
    counts : int64 array of shape (n_nodes, n_classes)
        Labelled rows of each class.
    """

    feature: Ints
    left: Ints
    depth: Ints
    threshold: Floats
    gain: Floats
    size: Ints
    counts: Ints


def draw_bag(
    seed: int, member: int, n_rows: int, labelled: Ints, strata: Ints, unlabelled: Ints
) -> NDArray[np.int32]:
    """Return how often each row is in the bag of a member.

    Parameters
    ----------
    seed, member, n_rows : int
    labelled : int32 array
        The labelled rows, those of one stratum side by side.
    strata : int32 array
        Where each stratum starts in `labelled`, with the end as last entry.
    unlabelled : int32 array

    Returns
    -------
    int32 array of shape (n_rows,)
        Each stratum, and the unlabelled rows, are drawn from by themselves.
    """
    weights = np.zeros(n_rows, dtype=np.int32)
    for first, end in zip(strata[:-1].tolist(), strata[1:].tolist(), strict=True):
        counters = np.arange(first, end)
        drawn = draw_below(seed, member, Purpose.LABELLED_BAG, counters, end - first)
        weights[labelled[first:end]] = np.bincount(drawn, minlength=end - first)
    n = len(unlabelled)
    drawn = draw_below(seed, member, Purpose.UNLABELLED_BAG, np.arange(n), n)
    weights[unlabelled] = np.bincount(drawn, minlength=n)
    return weights


def path_ends(tree: Tree, X: Any) -> Ints:
    """Return for each row the last node on its way that has labelled rows.

    Parameters
    ----------
    tree : Tree
    X : array or csc_array of shape (n, p)
        Few rows.

    Returns
    -------
    int array of shape (n,)
    """
    at = np.zeros(X.shape[0], dtype=np.int64)
    known = at.copy()
    has_labels = tree.counts.sum(axis=1) > 0
    moving = np.flatnonzero(tree.feature[at] >= 0)
    while len(moving):
        node = at[moving]
        values = X[moving, tree.feature[node]]
        values = values.toarray().ravel() if issparse(values) else np.asarray(values).ravel()
        goes_left = values <= tree.threshold[node]
        at[moving] = tree.left[node] + ~goes_left
        reached = moving[has_labels[at[moving]]]
        known[reached] = at[reached]
        moving = moving[tree.feature[at[moving]] >= 0]
    return known


def gini(counts: Ints) -> Floats:
    """Return the Gini index of counts along the last axis; 0 where there are none."""
    n = counts.sum(axis=-1)
    squares = (counts**2).sum(axis=-1)
    n_squared = n.astype(np.float64) * n
    return np.where(n > 0, 1.0 - squares / np.maximum(n_squared, 1.0), 0.0)
