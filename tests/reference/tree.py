"""Decision tree with exact arithmetic: every boundary of every column is scored as a Fraction.

A value that is not there (a missing value) is NaN. At each boundary the rows with a missing value
go where more of the others go, by weight, and to the left if both sides have as many.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, pairwise
from typing import NamedTuple


class Example(NamedTuple):
    """One training row."""

    row: int
    weight: int
    label: int


@dataclass
class Node:
    """A leaf when `feature` is None."""

    counts: list  # weighted, per class
    feature: int | None = None
    threshold: float | None = None
    missing_left: bool | None = None
    left: "Node | None" = None
    right: "Node | None" = None


def fit_tree(X, examples, columns, n_classes, *, spread=None, max_depth=None):
    """Tree whose every node may split on any of `columns` (the order decides ties)."""
    return grow(X, examples, lambda number, examples: columns, n_classes, spread, max_depth)


def grow(X, examples, columns_at, n_classes, spread=None, max_depth=None):
    """Tree whose node number v may split on columns_at(v, examples of the node)."""
    numbers = count()

    def grow_node(examples, number, depth):
        counts = class_counts(examples, n_classes)
        pure = sum(c > 0 for c in counts) == 1
        if pure or depth == max_depth:
            return Node(counts)
        split = best_split(X, examples, columns_at(number, examples), n_classes, spread)
        if split is None:
            return Node(counts)
        feature, threshold = split
        left_number, right_number = next(numbers), next(numbers)
        left, right, missing_left = part(X, examples, feature, threshold)
        return Node(
            counts,
            feature,
            threshold,
            missing_left,
            grow_node(left, left_number, depth + 1),
            grow_node(right, right_number, depth + 1),
        )

    return grow_node(list(examples), next(numbers), 0)


def part(X, examples, column, threshold):
    """Examples on the left, on the right, and whether missing values go to the left."""
    below = [e for e in examples if X[e.row, column] <= threshold]
    above = [e for e in examples if X[e.row, column] > threshold]
    gaps = [e for e in examples if math.isnan(X[e.row, column])]
    if sum(e.weight for e in below) >= sum(e.weight for e in above):
        return below + gaps, above, True
    return below, above + gaps, False


def best_split(X, examples, columns, n_classes, spread):
    """(feature, threshold) with the largest score, or None if every column is constant.

    Only a strictly better (score, width) replaces the best so far, which leaves the other ties
    to the first column and the smallest boundary.
    """
    best = None
    for column in columns:
        values = {float(X[e.row, column]) for e in examples}
        for a, b in pairwise(sorted(value for value in values if not math.isnan(value))):
            left, right, _ = part(X, examples, column, a)
            score = purity(class_counts(left, n_classes)) + purity(class_counts(right, n_classes))
            width = 0.0 if spread is None else (b - a) / float(spread[column])
            if best is None or (score, width) > best[:2]:
                best = (score, width, column, a, b)
    if best is None:
        return None
    _, _, column, a, b = best
    return int(column), between(a, b)


def class_counts(examples, n_classes):
    counts = [0] * n_classes
    for e in examples:
        counts[e.label] += int(e.weight)
    return counts


def purity(counts):
    return Fraction(sum(c * c for c in counts), sum(counts))


def between(a, b):
    """The midpoint, or a where rounding would put the midpoint on b."""
    t = a / 2 + b / 2
    if t >= b:
        t = a
    assert a <= t < b
    return t


def leaf_counts(tree, x, feature=None, value=None):
    """Class counts of the leaf of x, with x[feature] replaced by value if a feature is given."""
    node = tree
    while node.feature is not None:
        v = value if node.feature == feature else x[node.feature]
        goes_left = node.missing_left if math.isnan(v) else v <= node.threshold
        node = node.left if goes_left else node.right
    return node.counts


def predict(tree, x, feature=None, value=None):
    counts = leaf_counts(tree, x, feature, value)
    return counts.index(max(counts))


def confidence(tree, x):
    """Leaf probability of the predicted class, exact."""
    counts = leaf_counts(tree, x)
    return Fraction(max(counts), sum(counts))


def split_features(tree):
    if tree.feature is None:
        return set()
    return {tree.feature} | split_features(tree.left) | split_features(tree.right)
