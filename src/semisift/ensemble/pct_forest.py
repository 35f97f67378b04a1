"""PCTForestImportance: importances in a forest of semi-supervised predictive clustering trees.

M. Petkovic, S. Dzeroski, D. Kocev (2022). Feature ranking for semi-supervised learning. Machine
Learning. The trees are those of J. Levatic, M. Ceci, D. Kocev, S. Dzeroski (2017). Semi-supervised
classification trees. Journal of Intelligent Information Systems 49(3).

A tree splits the rows so that labels and columns become alike. The impurity of a node E is

    imp(E) = w gini(labelled rows of E) / gini(all labelled rows)
             + (1 - w) mean_j variance_j(E) / variance_j(all rows)

and a split into E_l and E_r, of n_l and n_r of its n rows, gains

    gain(E) = imp(E) - n_l / n imp(E_l) - n_r / n imp(E_r)

A node without labelled rows has no label term; w = 1 is a supervised
tree, w = 0 one that knows no labels. Each tree is grown on a bootstrap of each class and one of the
unlabelled rows, each node draws sqrt(p) columns, and the score of a column is the mean over the
trees of one of

    genie3       the sum of n gain(node) over the nodes that test the column
    symbolic     the sum of n / (rows of the bag) over these nodes
    permutation  (errors with the column permuted - errors) / errors, over the labelled rows out of
                 the bag

Direction: higher is better, as printed. Cost: a tree takes O(n p) for each of its levels.

What is a reading: the source was known from abstracts, a manual and a program. The mean over j is
taken over sqrt(p) columns that each tree draws; variances and gini of all rows are taken from X
rather than from the bag; classes are drawn from one by one; errors are divided by 1 where there are
none. Where few rows are labelled, the printed label term gains most by a small part that holds all
labelled rows, of whatever classes, as the large part counts as pure. So by default its shares are
those of the labelled rows, and nodes whose labelled rows are of one class are not split. The weight
is fixed, as few labels do not tell one from another. ``variant="paper"`` is as printed: shares of
all rows, trees that grow on, and a weight chosen by cross-validation.
"""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift import _kernels
from semisift._kernels.fallback.pct import gini
from semisift.base._pairs import units
from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.committee._bootstrap import Bootstrap, Int32s, by_appearance
from semisift.ensemble._importance import COMMITTEE_CONSTRAINTS, CommitteeMixin
from semisift.exceptions import FallbackWarning
from semisift.parallel import Committee, features_to_draw
from semisift.utils._columns import column_moments
from semisift.utils._labels import Labels
from semisift.utils._random import Purpose, draw_distinct, stream_words
from semisift.utils._sklearn_compat import MAX_MEMBERS, Interval, StrOptions, at_least
from semisift.utils._typing import Floats, Ints
from semisift.utils._warnings import warn

# Separates the draw of the folds from the draws that trees make with the same seed.
FOLD_STREAM = 0x666F6C64

N_FOLDS = 5
WEIGHTS = tuple(step / 10 for step in range(11))
# Trees of each forest that is tried, at most.
TRIED_TREES = 50
# A vote is spread over the classes in units of this, so that the order of adding does not matter.
VOTE = 1 << 16
# Measured best of 0.8, 0.95, 0.99 and 1 over five sets with three labels a class.
LABEL_WEIGHT = 0.95


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
class PCTContext:
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
    usable: Int32s
    unit: Floats
    mean: Floats
    spread: Floats
    label_weight: float
    n_candidates: int
    n_descriptive: int
    min_leaf: int
    max_depth: int
    by_labelled: bool
    seed: int

    @classmethod
    def build(cls, data: TrainingData, **options: Any) -> "PCTContext":
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

    def bag(self, member: int) -> Int32s:
        """Return how often each row is in the bag of a tree."""
        return self.bootstrap.count(self.seed, member)

    def coordinates(self, member: int, rows: NDArray[np.integer]) -> Floats:
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

    def grow(self, member: int, bag: Int32s) -> Tree:
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


def measure(
    members: tuple[int, int], context: PCTContext, importance: str
) -> tuple[NDArray[np.int64], Floats, int]:
    """Grow some trees; return columns, their importances tree after tree, and how many trees.

    A column may come more than once.
    """
    measured = []
    for member in range(*members):
        bag = context.bag(member)
        tree = context.grow(member, bag)
        if importance == "permutation":
            measured.append(permutation_importance(tree, context, member, bag))
            continue
        inner = np.flatnonzero(tree.feature >= 0)
        size = tree.size[inner].astype(np.float64)
        value = size * tree.gain[inner] if importance == "genie3" else size / bag.sum()
        measured.append((tree.feature[inner].astype(np.int64), value))
    columns, values = (np.concatenate(parts) for parts in zip(*measured, strict=True))
    return columns, values, len(measured)


def permutation_importance(
    tree: Tree, context: PCTContext, member: int, bag: Int32s
) -> tuple[NDArray[np.int64], Floats]:
    """Return how the error of one tree grows when a column is permuted over its out-of-bag rows.

    As a share of the error, or where the tree makes none, of one error.
    """
    labelled = context.bootstrap.labelled
    rows = labelled[bag[labelled] == 0]
    X, truth = context.X[rows], context.labels.codes[rows]
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
        words = stream_words(context.seed, member, Purpose.PERMUTATION, counters)
        X[:, column] = kept[np.argsort(words)]
        permuted = np.count_nonzero(answers[path_ends(tree, X)] != truth)
        worths[i] = (permuted - wrong) / max(wrong, 1)
        X[:, column] = kept
    return columns, worths


def votes(part: tuple[int, int, int], context: PCTContext, data: TrainingData) -> NDArray[np.int64]:
    """Return the class shares that some trees give to the rows held out of a fold, in fixed point.

    Parameters
    ----------
    part : tuple of int
        The number of the fold, the first tree and the first one after the last.
    context : PCTContext
    data : TrainingData

    Returns
    -------
    int64 array of shape (n_weights, n_held, n_classes)
        Summed over the trees, for each weight.
    """
    fold, *members = part
    rows, held = folds(data)[fold]
    inside = replace(context, **context.of_rows(data.part(rows)))
    X = data.X[held]
    total = np.zeros((len(WEIGHTS), len(held), context.labels.n_classes), dtype=np.int64)
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
    all_held = [np.sort(turn[fold::n_folds]) for fold in range(n_folds)]
    return [(np.setdiff1d(np.arange(data.n_rows), held), held) for held in all_held]


def choose_weight(
    data: TrainingData, context: PCTContext, n_members: int, n_jobs: int | None
) -> float:
    """Return the weight with which forests are right about most labelled rows held out.

    The unlabelled rows are always grown on. Of equally good weights the largest is taken.
    """
    n_right = np.zeros(len(WEIGHTS), dtype=np.int64)
    tried = folds(data)
    with Committee(min(n_members, TRIED_TREES), n_jobs) as committee:
        ranges = committee.ranges()
        parts = [(fold, *members) for fold in range(len(tried)) for members in ranges]
        shares = [*committee.map(votes, parts, context, data)]
    for fold, (_, held) in enumerate(tried):
        of_fold = sum(shares[fold * len(ranges) : (fold + 1) * len(ranges)])
        answers = np.argmax(of_fold, axis=2)
        n_right += np.count_nonzero(answers == data.labels.codes[held], axis=1)
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


# --- ranker ---------------------------------------------------------------------------------------


class PCTForestImportance(CommitteeMixin, FeatureRanker):
    """Rank columns by how much trees that know labels and rows gain from them.

    Parameters
    ----------
    {n_features_to_select}
    n_members : int, default=500
        Number of trees.
    label_weight : float or "cv", default=None
        The w of the impurity, from 0 (labels do not count) to 1 (only they do). "cv" takes the one
        of 0, 0.1, ..., 1 with which forests are right about most labelled rows held out; None is
        0.95, and "cv" for the printed form.
    importance : {"genie3", "symbolic", "permutation"}, default="genie3"
        What a column is worth to a tree.
    variant : {"default", "paper"}, default="default"
        The recommended form, or the printed one.
    max_features : "sqrt", int or float, default="sqrt"
        Columns that each node draws: the rounded square root, a number or a share.
    n_descriptive : "sqrt", int or float, default="sqrt"
        Columns over which each tree measures the variance.
    min_samples_leaf : int, default=1
        Least number of rows of a leaf.
    max_depth : int, default=None
        Depth limit of the trees; None grows them until nothing is gained.
    max_unlabelled : int or None, default=1000
        Use at most this many unlabelled rows, drawn at random by `random_state`. None uses all.
    {n_jobs}
    {redundancy_threshold}
    {known columns}
    {random_state (draws, ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column, higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    label_weight_ : float
        The weight of the labels.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    M. Petkovic, S. Dzeroski, D. Kocev (2022). Feature ranking for semi-supervised learning. Machine
    Learning.

    J. Levatic, M. Ceci, D. Kocev, S. Dzeroski (2017). Semi-supervised classification trees. Journal
    of Intelligent Information Systems 49(3).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import PCTForestImportance
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = PCTForestImportance(n_features_to_select=3, random_state=0).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['hue', 'od280/od315_of_diluted_wines', 'proline']
    """

    labels_needed = "optional"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "n_members": [at_least(1, MAX_MEMBERS)],
        "label_weight": [None, Interval(Real, 0, 1, closed="both"), StrOptions({"cv"})],
        "importance": [StrOptions({"genie3", "symbolic", "permutation"})],
        "variant": [StrOptions({"default", "paper"})],
        "max_features": COMMITTEE_CONSTRAINTS["max_features"],
        "n_descriptive": COMMITTEE_CONSTRAINTS["max_features"],
        "min_samples_leaf": [at_least(1)],
        "max_depth": COMMITTEE_CONSTRAINTS["max_depth"],
        "max_unlabelled": [None, at_least(1)],
        "n_jobs": COMMITTEE_CONSTRAINTS["n_jobs"],
    }

    n_members: int = 500
    label_weight: float | Literal["cv"] | None = None
    importance: Literal["genie3", "symbolic", "permutation"] = "genie3"
    variant: Literal["default", "paper"] = "default"
    max_features: int | float | Literal["sqrt"] = "sqrt"
    n_descriptive: int | float | Literal["sqrt"] = "sqrt"
    min_samples_leaf: int = 1
    max_depth: int | None = None
    max_unlabelled: int | None = 1000
    n_jobs: int | None = None

    def _score(self, data: TrainingData) -> Floats:
        context = self._context(data.part(data.some_rows(self.max_unlabelled)))
        self.label_weight_ = context.label_weight
        with self._committee(data) as committee:
            measured = committee.map(measure, committee.ranges(), context, self.importance)
            columns, values, n_trees = zip(*self._progress(measured, "trees"), strict=True)
        total = np.bincount(np.concatenate(columns), np.concatenate(values), data.n_features)
        return total / sum(n_trees)  # fewer if a callback stopped it

    def _context(self, data: TrainingData) -> PCTContext:
        """Prepare the data, and choose the weight of the labels if that was asked for."""
        weight = self.label_weight
        if weight is None:
            weight = "cv" if self.variant == "paper" else LABEL_WEIGHT
        has_classes = data.labels.n_classes > 1
        if not has_classes and weight != 0:
            warn(
                f"{type(self).__name__} has no labels of two classes: it ranks by the columns "
                "alone, as with label_weight=0. Label rows of at least two classes.",
                FallbackWarning,
            )
        context = PCTContext.build(
            data,
            label_weight=float(weight) if has_classes and weight != "cv" else 0.0,
            n_candidates=features_to_draw(self.max_features, data.n_features),
            n_descriptive=features_to_draw(self.n_descriptive, data.n_features),
            min_leaf=self.min_samples_leaf,
            max_depth=-1 if self.max_depth is None else self.max_depth,
            by_labelled=self.variant == "default",
        )
        if has_classes and weight == "cv":
            chosen = choose_weight(data, context, self.n_members, self.n_jobs)
            return replace(context, label_weight=chosen)
        return context
