"""Predictive clustering trees: kernels/pct.pyx in numpy, bit for bit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from semisift._kernels.fallback.columns import Columns
from semisift.utils._random import Purpose, draw_distinct
from semisift.utils._typing import Floats, Ints

# Cuts that part the rows alike differ by rounding: the first of them is taken.
CLEARLY = 1.0 + 1e-9


def grow_tree(
    X: Columns,
    usable: Ints,
    rows: Ints,
    weights: Ints,
    codes: Ints,
    coordinates: Floats,
    n_classes: int,
    n_candidates: int,
    min_leaf: int,
    max_depth: int,
    min_classes: int,
    label_weight: float,
    row_weight: float,
    by_labelled: bool,
    seed: int,
    member: int,
) -> tuple[Any, ...]:
    """Grow one tree, as the kernel of that name does.

    Parameters
    ----------
    X : Columns
    usable : int32 array
        The columns that nodes draw from.
    rows, weights : int32 arrays of shape (n,)
        The distinct rows of the bag and how often each is in it.
    codes : int32 array of shape (n_rows,)
        The class of each row of X, -1 where it is not known.
    coordinates : float array of shape (n, r)
        Of the rows of the bag.
    n_classes, n_candidates, min_leaf, max_depth : int
    min_classes : int
        Nodes with labelled rows of fewer classes are leaves.
    label_weight, row_weight : float
        What the two terms of the gain are multiplied by.
    by_labelled : bool
        Whether the shares of the label term are those of the labelled rows.
    seed, member : int

    Returns
    -------
    tuple of arrays
        As in `semisift.ensemble.pct_forest.Tree`.
    """
    marks = np.eye(n_classes + 1, n_classes, dtype=np.int64)[codes[rows]] * weights[:, None]
    nodes, depth = [np.arange(len(rows))], [0]
    splits: dict[int, tuple[int, int, float, float]] = {}
    pending = [0]
    while pending:
        number = pending.pop()
        places = nodes[number]
        if len(places) < 2 or depth[number] == max_depth or not len(usable):
            continue
        terms = label_weight, row_weight, by_labelled
        node = Node(weights[places].astype(np.int64), marks[places], coordinates[places], *terms)
        if node.n < 2 * min_leaf or np.count_nonzero(node.counts) < min_classes:
            continue
        purpose = Purpose.NODE_SUBSPACE + number
        drawn = draw_distinct(seed, member, len(usable), n_candidates, purpose)
        best = (0.0, -1, 0.0)
        for column in usable[drawn]:
            values = _column(X.X, rows[places], int(column))
            gain, cut = node.best_cut(values, min_leaf, best[0])
            if gain > best[0]:
                best = gain, int(column), cut
        if best[1] < 0:
            continue
        goes_left = _column(X.X, rows[places], best[1]) <= best[2]
        if goes_left.all() or not goes_left.any():  # NaN, where the caller vouched for X
            continue
        splits[number] = best[1], len(nodes), best[2], best[0]
        pending += [len(nodes) + 1, len(nodes)]
        nodes += [places[goes_left], places[~goes_left]]
        depth += [depth[number] + 1] * 2
    each = [splits.get(number, (-1, -1, 0.0, 0.0)) for number in range(len(nodes))]
    feature, left, thresholds, gains = (np.array(values) for values in zip(*each, strict=True))
    return (
        feature.astype(np.int32),
        left.astype(np.int32),
        np.array(depth, dtype=np.int32),
        thresholds,
        gains,
        np.array([weights[places].sum() for places in nodes]),
        np.array([marks[places].sum(axis=0) for places in nodes]),
    )


@dataclass(eq=False)
class Node:
    """The rows of one node, of which cuts are tried.

    Attributes
    ----------
    weights : int array of shape (n,)
    marks : int array of shape (n, n_classes)
        The weight of a row in the column of its class.
    coordinates : float array of shape (n, r)
    label_weight, row_weight : float
    by_labelled : bool
    """

    weights: Ints
    marks: Ints
    coordinates: Floats
    label_weight: float
    row_weight: float
    by_labelled: bool

    def __post_init__(self) -> None:
        self.n, self.counts = int(self.weights.sum()), self.marks.sum(axis=0)
        self.gini = float(gini(self.counts))
        each = self.weights[:, None].astype(np.float64)
        mean = np.cumsum(each * self.coordinates, axis=0)[-1] / float(self.n)
        self.centred = each * (self.coordinates - mean)

    def best_cut(self, values: Floats, min_leaf: int, least: float) -> tuple[float, float]:
        """Return the gain and the threshold of the first best cut that gains more than `least`."""
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        n_negative, n_positive = np.count_nonzero(values < 0), np.count_nonzero(values > 0)
        best = least, 0.0
        has_zeros = n_negative + n_positive < len(values)
        for taken, swept in (
            (order[:n_negative], ordered),
            (order[::-1][: n_positive if has_zeros else max(0, n_positive - 1)], ordered[::-1]),
        ):
            if not len(taken):
                continue
            following = swept[1 : len(taken) + 1]
            taken = taken[: len(following)]
            n_part = np.cumsum(self.weights[taken])
            allowed = swept[: len(taken)] != following
            allowed &= (n_part >= min_leaf) & (self.n - n_part >= min_leaf)
            gains = np.where(allowed, self.gains(taken, n_part), -np.inf)
            place = first_best(gains, best[0])
            if place >= 0:
                low, high = sorted((float(swept[place]), float(following[place])))
                middle = low / 2 + high / 2
                best = float(gains[place]), middle if low <= middle < high else low
        return best

    def gains(self, taken: Ints, n_part: Ints) -> Floats:
        """Return the gain of splitting off the first row taken, the first two, ..."""
        n_rest = self.n - n_part
        labels = np.zeros(len(taken))
        # where nothing is left, which no cut is
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.label_weight > 0 and self.counts.any():
                counts = np.cumsum(self.marks[taken], axis=0)
                rest = self.counts - counts
                shares = n_part / self.n, n_rest / self.n
                if self.by_labelled:
                    n = self.counts.sum()
                    shares = counts.sum(axis=1) / n, rest.sum(axis=1) / n
                labels = self.gini - shares[0] * gini(counts)
                labels -= shares[1] * gini(rest)
                labels *= self.label_weight
            squares = self.squares(taken) / (n_part.astype(np.float64) * n_rest)
        return np.asarray(labels + self.row_weight * squares)

    def squares(self, taken: Ints) -> Floats:
        """Return the squared length of the sum of coordinates, added in the kernel's four lanes."""
        if not self.row_weight > 0:
            return np.zeros(len(taken))
        totals = np.cumsum(self.centred[taken], axis=0)
        lanes = np.zeros((4, len(taken)))
        for j in range(totals.shape[1]):
            lanes[j % 4] += totals[:, j] ** 2
        return np.asarray((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))


def gini(counts: Ints) -> Floats:
    """Return the Gini index of counts along the last axis; 0 where there are none."""
    n = counts.sum(axis=-1)
    squares = (counts**2).sum(axis=-1)
    n_squared = n.astype(np.float64) * n
    return np.where(n > 0, 1.0 - squares / np.maximum(n_squared, 1.0), 0.0)


def first_best(gains: Floats, least: float) -> int:
    """Return the first gain that no later one clearly exceeds, or -1 if none exceeds `least`."""
    place = -1
    while True:
        better = np.flatnonzero(gains[place + 1 :] > least * CLEARLY)
        if not len(better):
            return place
        place += 1 + int(better[0])
        least = float(gains[place])


def _column(X: Any, rows: Ints, column: int) -> Floats:
    part = X[:, [column]]
    part = part.toarray() if issparse(part) else part
    return part[rows, 0].astype(np.float64)
