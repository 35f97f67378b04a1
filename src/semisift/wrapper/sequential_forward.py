"""SequentialForward (SFFS): forward search for the columns with which a classifier does best.

The baseline of J. Ren, Z. Qiu, W. Fan, H. Cheng, P. S. Yu (2008). Forward semi-supervised feature
selection. PAKDD. There SFFS is plain sequential forward selection, not floating search: start with
no column; add the one with which the classifier has the highest accuracy; go on until there are
enough, or until no column raises the accuracy.

Direction: higher is better. Cost: picks * columns * folds fits of the classifier; but one pass over
the data for each pick with naive Bayes, nearest neighbours and decision trees.

What is a reading: the paper does not say on which rows the accuracy is measured, nor what decides
between equals, of which few labelled rows make many.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.base._training_data import TrainingData
from semisift.utils._sklearn_compat import StrOptions
from semisift.wrapper._forward import SAME_ACCURACY, ForwardRanker, SearchState, advance


class SequentialForward(ForwardRanker):
    """Pick columns one by one: each time the one with which a classifier is most accurate.

    Accuracy is measured on labelled rows that are held out: one by one where there are fewer than
    20 labelled rows, else in stratified folds, five or as many as the smallest class has rows. The
    only labelled row of a class is never held out. Unlabelled rows play no part.

    The estimator is fitted for each column and fold, but for naive Bayes (`GaussianNB`, `MixedNB`),
    nearest neighbours (`KNeighborsClassifier` with equal weights and Euclidean distances), `NNge`
    on numeric columns and decision trees (`DecisionTreeClassifier`, all but the depth left at its
    default): models of all columns are then computed at once, tens to hundreds of times faster, and
    the same columns are picked. `candidate_scorer_` tells which it was. Two differences are left:

    - Between equally good splits scikit-learn's trees draw a column, while these take the one that
      was picked first.
    - Among rows at exactly the same distance scikit-learn's k-d tree may prefer others when there
      are more than 60 rows to fit on.

    Parameters
    ----------
    {n_features_to_select (picked)}
    estimator : classifier, default=None
        Any scikit-learn classifier; None is naive Bayes, `GaussianNB()`. If it has a parameter
        `categorical`, a mask of the columns of X, it is given the part for the columns at hand.
    {feature_scaling}
    cv : int, splitter, iterable or "resubstitution", default=None
        How to hold out labelled rows, as in scikit-learn, instead of the rule above. The accuracy
        is the mean over the folds. "resubstitution" holds none out: rows are predicted by a model
        that has learnt from them. That flatters, but with so few labelled rows that k nearest
        neighbours are all the others, leaving one out makes every column as good as any other.
    tie_break : {"default", "index"}, default="default"
        What decides between columns of equal accuracy. By default the mean log-probability of the
        true class over the held-out rows (the margin, for classifiers without probabilities), then
        the mutual information with the classes, then chance. "index" takes the first column, for
        comparison with scikit-learn's `SequentialFeatureSelector`.
    early_stop : bool, default=False
        Stop where no column raises the accuracy, and select no more than what was picked.
    {warm_start}
    {redundancy_threshold}
    {known columns}
    random_state : int or RandomState instance, default=None
        Seed of the order of ties, and of random states that the estimator leaves open. None is a
        fixed seed.

    Attributes
    ----------
    {scores_}
    {ranking_}
    {picked_}
    accuracies_ : ndarray of shape (n_picks,)
        Accuracy with each pick and those before it.
    {candidate_scorer_}
    {classes_}

    References
    ----------
    J. Ren, Z. Qiu, W. Fan, H. Cheng, P. S. Yu (2008). Forward semi-supervised feature selection.
    Pacific-Asia Conference on Knowledge Discovery and Data Mining (PAKDD).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import SequentialForward
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 10, -1)
    >>> ranker = SequentialForward(n_features_to_select=3).fit(X, few_labels)
    >>> X.columns[ranker.picked_].tolist()
    ['hue', 'malic_acid', 'proline']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ForwardRanker._parameter_constraints,
        "cv": ["cv_object", StrOptions({"resubstitution"})],
        "tie_break": [StrOptions({"default", "index"})],
        "early_stop": ["boolean"],
    }

    cv: Any = None
    tie_break: Literal["default", "index"] = "default"
    early_stop: bool = False

    def _picks(self, data: TrainingData, found: SearchState) -> Iterator[int]:
        options = {"tie_break": self.tie_break, "picks": found.picks}
        search = self._labelled_search(data, self._learner(data), self.cv, **options)
        n_first = len(self._to_pick_first(data))
        while True:
            pick = advance(search, found)
            before, now = [-np.inf, *found.accuracies][-2:]
            can_stop = self.early_stop and len(found.picks) >= n_first
            if can_stop and now <= before + SAME_ACCURACY:
                found.accuracies.pop()
                return
            yield pick

    def _set_found(self, found: SearchState) -> None:
        super()._set_found(found)
        self.accuracies_ = np.array(found.accuracies)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        mask = super()._get_support_mask()
        if not self.early_stop:
            return mask
        if self._features is None:
            return mask & (self.ranking_ <= len(self.picked_))
        picked = np.isin(np.arange(self.n_features_in_), self.picked_)
        return mask & self._features.complete(picked, self.ranking_)
