"""Forests of predictive clustering trees: members, importances, and the choice of a weight."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift import _kernels
from semisift._kernels.fallback.pct import gini
from semisift.base._pairs import units
from semisift.base._training_data import TrainingData
from semisift.committee._bootstrap import Bootstrap, by_appearance
from semisift.parallel import Committee
from semisift.utils._columns import column_moments
from semisift.utils._labels import Labels
from semisift.utils._random import Purpose, draw_distinct, stream_words
from semisift.utils._typing import Floats, Ints

# Separates the draw of the folds from the draws that trees make with the same seed.
FOLD_STREAM = 0x666F6C64

N_FOLDS = 5
WEIGHTS = tuple(step / 10 for step in range(11))
# Trees of each forest that is tried, at most.
TRIED_TREES = 50
# A vote is spread over the classes in units of this, so that the order of adding does not matter.
VOTE = 1 << 16


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


@dataclass(frozen=True, eq=False, kw_only=True)
class PCTSetting:
    """What all trees of a forest share.

    Attributes
    ----------
    X : array or csc_array of shape (n_rows, p)
    columns : Columns or None
        X for the kernels.
    labels : Labels
    bootstrap : Bootstrap
        Of each class by itself, or of groups of rows.
    usable : int32 array
        The columns that are not constant.
    unit, mean, spread : float arrays of shape (p,)
        By which columns are standardised.
    label_weight : float
        The w of the impurity.
    n_candidates : int
        Columns that a node draws.
    n_descriptive : int
        Columns over which a tree measures the variance.
    min_leaf, max_depth : int
        Least rows of a leaf; -1 is no limit of the depth.
    by_labelled : bool
        Weigh the label term by labelled rows rather than by all, and split no node whose labelled
        rows are of one class.
    seed : int
    """

    X: Any
    columns: Any
    labels: Labels
    bootstrap: Bootstrap
    usable: NDArray[np.int32]
    unit: NDArray[np.float64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    label_weight: float
    n_candidates: int
    n_descriptive: int
    min_leaf: int
    max_depth: int
    by_labelled: bool
    seed: int

    @classmethod
    def build(cls, data: TrainingData, **options: Any) -> "PCTSetting":
        """Prepare the data; the options are the attributes from `label_weight` to `by_labelled`."""
        _kernels.warn_if_missing()
        return cls(**cls.of_rows(data), **options)

    @staticmethod
    def of_rows(data: TrainingData) -> dict[str, Any]:
        """Return the attributes that depend on the rows."""
        unit = units(data)
        mean, squares = column_moments(data.X, unit)
        return {
            "X": data.X,
            "columns": _kernels.columns.Columns(data.X),
            "labels": data.labels,
            "bootstrap": Bootstrap.of(data, stratified=True),
            "usable": np.flatnonzero(~data.constant).astype(np.int32),
            "unit": unit,
            "mean": mean,
            "spread": np.sqrt(squares / data.n_rows),
            "seed": data.seed,
        }

    @property
    def n_measured(self) -> int:
        """Columns over which a tree measures the variance."""
        return min(self.n_descriptive, len(self.usable))

    def bag(self, member: int) -> NDArray[np.int32]:
        """Return how often each row is in the bag of a tree."""
        return self.bootstrap.count(self.seed, member)

    def coordinates(self, member: int, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the standardised columns over which a tree measures the variance."""
        drawn = draw_distinct(self.seed, member, len(self.usable), self.n_measured)
        which = self.usable[np.sort(drawn)]
        part = self.X[:, which]
        part = part.toarray() if issparse(part) else part
        part = part[rows].astype(np.float64, order="C")
        part /= self.unit[which]
        part -= self.mean[which]
        part /= self.spread[which]
        return part

    def grow(self, member: int, bag: NDArray[np.int32]) -> Tree:
        """Grow the tree of a member on a bag."""
        rows = np.flatnonzero(bag).astype(np.int32)
        of_labels, of_rows = self.terms()
        none = np.empty((len(rows), 0))
        coordinates = self.coordinates(member, rows) if of_rows > 0 else none
        min_classes = 2 if self.by_labelled and of_labels > 0 else 0
        n_drawn = min(self.n_candidates, len(self.usable))
        limits = n_drawn, self.min_leaf, self.max_depth, min_classes
        gain = of_labels, of_rows, self.by_labelled
        how: Any = self.labels.n_classes, *limits, *gain, self.seed, member
        data = self.usable, rows, bag[rows], self.labels.codes, coordinates
        return Tree(*_kernels.pct.grow_tree(self.columns, *data, *how))

    def terms(self) -> tuple[float, float]:
        """Return what the two terms of the gain are multiplied by, that of labels and of rows."""
        root = float(gini(self.labels.counts)) if self.label_weight > 0 else 1.0
        of_labels = self.label_weight / root if root > 0 else 0.0
        return of_labels, (1.0 - self.label_weight) / max(1, self.n_measured)


class Worth(NamedTuple):
    """What columns are worth to trees, tree after tree; a column may come more than once."""

    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    n_trees: int


def measure(members: tuple[int, int], setting: PCTSetting, importance: str) -> Worth:
    """Grow some trees, and measure what columns are worth to them."""
    measured = []
    for member in range(*members):
        bag = setting.bag(member)
        tree = setting.grow(member, bag)
        if importance == "permutation":
            measured.append(permutation_importance(tree, setting, member, bag))
            continue
        inner = np.flatnonzero(tree.feature >= 0)
        size = tree.size[inner].astype(np.float64)
        value = size * tree.gain[inner] if importance == "genie3" else size / bag.sum()
        measured.append((tree.feature[inner].astype(np.int64), value))
    columns, values = (np.concatenate(parts) for parts in zip(*measured, strict=True))
    return Worth(columns, values, len(measured))


def permutation_importance(
    tree: Tree, setting: PCTSetting, member: int, bag: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return how the error of one tree grows when a column is permuted over its out-of-bag rows.

    As a share of the error, or where the tree makes none, of one error.
    """
    labelled = setting.bootstrap.labelled
    rows = labelled[bag[labelled] == 0]
    X, truth = setting.X[rows], setting.labels.codes[rows]
    if not len(rows):
        return np.empty(0, dtype=np.int64), np.empty(0)
    answers = np.argmax(tree.counts, axis=1)
    wrong = int(np.count_nonzero(answers[path_ends(tree, X)] != truth))
    columns = np.unique(tree.feature[tree.feature >= 0]).astype(np.int64)
    X = X.toarray() if issparse(X) else np.array(X)
    worths = np.zeros(len(columns))
    for i, column in enumerate(columns):
        kept = X[:, column].copy()
        counters = column * len(rows) + np.arange(len(rows))
        words = stream_words(setting.seed, member, Purpose.PERMUTATION, counters)
        X[:, column] = kept[np.argsort(words)]
        permuted = np.count_nonzero(answers[path_ends(tree, X)] != truth)
        worths[i] = (permuted - wrong) / max(wrong, 1)
        X[:, column] = kept
    return columns, worths


def votes(part: tuple[int, int, int], setting: PCTSetting, data: TrainingData) -> NDArray[np.int64]:
    """Return the class shares that some trees give to the rows held out of a fold, in fixed point.

    Parameters
    ----------
    part : tuple of int
        The number of the fold, the first tree and the first one after the last.
    setting : PCTSetting
    data : TrainingData

    Returns
    -------
    int64 array of shape (n_weights, n_held_out, n_classes)
        Summed over the trees, for each weight.
    """
    fold, *members = part
    rows, held_out = folds(data)[fold]
    inside = replace(setting, **setting.of_rows(data.part(rows)))
    X = data.X[held_out]
    total = np.zeros((len(WEIGHTS), len(held_out), setting.labels.n_classes), dtype=np.int64)
    for place, weight in enumerate(WEIGHTS):
        tried = replace(inside, label_weight=weight)
        for member in range(*members):
            tree = tried.grow(member, tried.bag(member))
            counts = tree.counts[path_ends(tree, X)]
            total[place] += counts * VOTE // np.maximum(counts.sum(axis=1), 1)[:, None]
    return total


def folds(data: TrainingData) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the rows to grow on and the labelled rows held out, class by class in turn.

    Where rows are of groups, these are held out in turn, with their unlabelled rows.
    """
    rng = np.random.default_rng([data.seed, FOLD_STREAM])
    codes = data.labels.codes
    if data.design.groups is not None:
        groups = by_appearance(data.design.groups)
        turn = rng.permutation(np.unique(groups[codes >= 0]))
        n_folds = min(N_FOLDS, len(turn))
        each = [np.isin(groups, turn[fold::n_folds]) for fold in range(n_folds)]
        return [(np.flatnonzero(~out), np.flatnonzero(out & (codes >= 0))) for out in each]
    turn = np.concatenate(
        [rng.permutation(np.flatnonzero(codes == k)) for k in range(data.labels.n_classes)]
    )
    n_folds = min(N_FOLDS, len(turn))
    all_held_out = [np.sort(turn[fold::n_folds]) for fold in range(n_folds)]
    return [(np.setdiff1d(np.arange(data.n_rows), held_out), held_out) for held_out in all_held_out]


def choose_weight(
    data: TrainingData, setting: PCTSetting, n_members: int, n_jobs: int | None
) -> float:
    """Return the weight with which forests are right about most labelled rows held out.

    The unlabelled rows are always grown on. Of equally good weights the largest is taken.
    """
    n_right = np.zeros(len(WEIGHTS), dtype=np.int64)
    tried = folds(data)
    with Committee(min(n_members, TRIED_TREES), n_jobs) as committee:
        ranges = committee.ranges()
        parts = [(fold, *members) for fold in range(len(tried)) for members in ranges]
        shares = [*committee.map(votes, parts, setting, data)]
    for fold, (_, held_out) in enumerate(tried):
        of_fold = sum(shares[fold * len(ranges) : (fold + 1) * len(ranges)])
        answers = np.argmax(of_fold, axis=2)
        n_right += np.count_nonzero(answers == data.labels.codes[held_out], axis=1)
    return WEIGHTS[len(WEIGHTS) - 1 - int(np.argmax(n_right[::-1]))]


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
