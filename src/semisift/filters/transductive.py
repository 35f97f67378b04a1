"""TransductiveScore: the F-score with soft labels as weights.

Soft labels p_ic, how likely class c is for row i, come from `semisift.transduction`. With them

    F_cr = n n_c / (n - n_c) (mean_cr - mean_r)^2 / within_cr       one class against the rest
    score_r = mean over classes of F_cr / max over columns of F_cr

with n_c = sum_i p_ic, mean_cr = sum_i p_ic x_ir / n_c, and within_cr what is left of the sum of
squares of column r, but at least a share 1/n of it. Counts are taken as log(1 + x) of rows of equal
totals. For two classes this is the order of the F-score; for more it takes care that each class has
its columns, where the F-score of all classes would list many columns of the class that is easiest
to tell.

The soft labels and the score are our own reading of an old idea: label first, then test all rows.
Direction: higher is better. Cost: O(n p), for 50 components and for the scores of each class.
"""

from typing import Any, ClassVar

from semisift.base._ranker import WeightedRanker
from semisift.base._training_data import MAX_SAMPLED, TrainingData
from semisift.transduction._class_sums import class_scores, label_all_rows, mean_scores
from semisift.transduction._components import components, scaled_rows
from semisift.transduction._novelty import warn_of_novel_rows
from semisift.transduction._soft_labels import find_soft_labels
from semisift.utils._labels import known_prior
from semisift.utils._sklearn_compat import at_least
from semisift.utils._typing import Floats


class TransductiveScore(WeightedRanker):
    """Rank columns by how far apart the classes lie, with all rows labelled softly.

    All rows get soft labels from the few that are given and the shape of the data: Gaussian classes
    and a ridge machine in principal components. Each row then counts for each class as much as it
    is likely to belong to it.

    Where the unlabelled rows fall into the classes, this finds nearly all columns that differ, with
    a handful of labels. Where they fall into other groups, as of batches, and the labels are too
    few to say which, the labels may follow those: `stability_` and `recovered_` tell.

    Parameters
    ----------
    {n_features_to_select}
    class_prior : array-like of shape (n_classes,) or dict, default=None
        The shares of the classes among all rows, in the order of ``classes_`` or by label. None
        estimates them from the rows, halfway to equal shares.
    max_unlabelled : int or None, default=20000
        Of more unlabelled rows so many, drawn by a hash of their numbers and the seed, represent
        all in the components and the members that label; all rows are then labelled and scored in
        a last pass. None uses all.
    {redundancy_threshold}
    {known columns}
    {random_state (draws, ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Between 0 and 1, higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    class_scores_ : ndarray of shape (n_classes, n_features_in_)
        F-score of each class against the rest.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        How likely each class is for each row.
    transduction_ : ndarray of shape (n_samples,)
        The most likely label of each row.
    confidence_ : ndarray of shape (n_samples,)
        How likely that label is; 1 for labelled rows.
    stability_ : float
        How far the labels of unlabelled rows stay the same when a fifth of the labels is left out:
        1 if they do, 0 if they are as alike as by chance; .5 with one label a class.
    novel_rows_ : ndarray
        Rows that fit none of the classes, where they are many (see docs/studies.md); of more than
        2,000 unlabelled rows those among some of them.
    label_trust_ : float
        How far left-out labels support the confidence, from 0 to 1: what is told of unlabelled rows
        is drawn to equal shares by the rest. 1 where no label can be left out.
    recovered_ : tuple of int
        How many labelled rows that were left out are found again, and how many were left out.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    D. J. Miller, H. S. Uyar (1997). A mixture of experts classifier with learning based on both
    labelled and unlabelled data. NIPS 9.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import TransductiveScore
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = TransductiveScore(n_features_to_select=3).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['flavanoids', 'od280/od315_of_diluted_wines', 'proline']
    >>> round(float((ranker.transduction_ == y).mean()), 2)
    0.97
    """

    labels_needed = "two_classes"
    is_transductive = True
    allow_nan = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedRanker._parameter_constraints,
        "class_prior": [None, "array-like", dict],
        "max_unlabelled": [None, at_least(2)],
    }

    class_prior: Any = None
    max_unlabelled: int | None = MAX_SAMPLED

    @property
    def _most_used(self) -> int | None:
        return self.max_unlabelled

    def _score(self, data: TrainingData) -> Floats:
        data = self._limit(data)
        labels = data.labels
        prior = known_prior(self.class_prior, labels)
        if data.full is None:
            found = find_soft_labels(data, prior)
            sums = scaled_rows(data).class_sums(found.shares)
        else:
            found, sums = label_all_rows(data, prior)
        self.label_distributions_ = found.distributions(data.all_labels.codes)
        self.transduction_ = labels.classes[found.codes]
        self.confidence_ = self.label_distributions_.max(axis=1)
        self.stability_ = found.stability
        self.label_trust_ = found.trust
        self._depth = found.depth
        self.recovered_ = found.n_recovered, found.n_left_out
        self.class_scores_ = class_scores(sums, data.constant)
        return mean_scores(self.class_scores_)

    def _find_novel_rows(self, data: TrainingData) -> None:
        data = self._limit(data)
        T, depth = components(data), data.design.depth
        if self._depth is not None and depth is not None:
            T = self._depth.without(T, depth)
        self.novel_rows_ = warn_of_novel_rows(data, T)

    def _comparable_scores(self) -> Floats:
        return self.class_scores_

    def _labeller(self) -> "TransductiveScore":
        return self
