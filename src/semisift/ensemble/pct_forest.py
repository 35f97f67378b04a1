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

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.ensemble._importance import COMMITTEE_CONSTRAINTS, CommitteeMixin
from semisift.ensemble._pct import PCTSetting, choose_weight, measure
from semisift.exceptions import FallbackWarning
from semisift.parallel import features_to_draw
from semisift.utils._sklearn_compat import MAX_MEMBERS, Interval, StrOptions, at_least
from semisift.utils._warnings import warn

# Measured best of 0.8, 0.95, 0.99 and 1 over five sets with three labels a class.
LABEL_WEIGHT = 0.95


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

    def _score(self, data: TrainingData) -> NDArray[np.float64]:
        setting = self._setting(data.part(data.some_rows(self.max_unlabelled)))
        self.label_weight_ = setting.label_weight
        with self._committee(data) as committee:
            measured = committee.map(measure, committee.ranges(), setting, self.importance)
            columns, values, n_trees = zip(*self._progress(measured, "trees"), strict=True)
        total = np.bincount(np.concatenate(columns), np.concatenate(values), data.n_features)
        return total / sum(n_trees)  # fewer if a callback stopped it

    def _setting(self, data: TrainingData) -> PCTSetting:
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
        setting = PCTSetting.build(
            data,
            label_weight=float(weight) if has_classes and weight != "cv" else 0.0,
            n_candidates=features_to_draw(self.max_features, data.n_features),
            n_descriptive=features_to_draw(self.n_descriptive, data.n_features),
            min_leaf=self.min_samples_leaf,
            max_depth=-1 if self.max_depth is None else self.max_depth,
            by_labelled=self.variant == "default",
        )
        if has_classes and weight == "cv":
            chosen = choose_weight(data, setting, self.n_members, self.n_jobs)
            return replace(setting, label_weight=chosen)
        return setting
