"""Semi-JMI: joint mutual information with a class that all unlabelled rows are given to.

K. Sechidis, G. Brown (2018). Simple strategies for semi-supervised feature selection. Machine
Learning 107(2). The criterion is that of H. Yang, J. Moody (1999), NIPS 12.

The class is the surrogate that `semisift.filters.semi_mim` tells of. The first column is that with
the largest I(f; y); with S the columns picked so far, the next one is that with the largest

    sum_{s in S} I((f, s); y) = sum_{s in S} ( I(s; y) + I(f; y | s) )

over all rows. Direction: higher is better, as printed. Cost: O(n p) for each pick, and class.

What is a reading: as in Semi-MIM, more than two classes are taken one against the rest and the
scores of a column averaged, and both surrogates count where the prior favours neither. Where there
are missing values, I(f; y | s) is over the rows that have the values of both columns.
"""

from functools import partial
from typing import Any

import numpy as np

from semisift.base._training_data import TrainingData
from semisift.filters._pseudo_class_ranker import SurrogateRanker, Surrogates, mean_over
from semisift.filters.mrmr import PICK_STREAM, scores_of_picks
from semisift.utils._information import conditional_mutual_information
from semisift.utils._typing import Floats


class SemiJMI(SurrogateRanker):
    """Pick columns one by one for what each tells about a surrogate class beside those picked.

    Parameters
    ----------
    {n_features_to_select (picked)}
    {class_prior}
    variant : {"default", "paper"}, default="default"
        Whether both surrogates count where the prior does not favour one of them, or the authors'
        choice.
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        p, p - 1, ... for the picks in their order; the others have the rank of their mutual
        information with the surrogate, from 1 for the lowest. With more than two classes, the mean
        over the classes. NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    K. Sechidis, G. Brown (2018). Simple strategies for semi-supervised feature selection. Machine
    Learning 107(2).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from semisift import SemiJMI
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 50, -1)
    >>> ranker = SemiJMI(n_features_to_select=3).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['mean concave points', 'mean fractal dimension', 'worst symmetry']
    """

    def _score_class(
        self, data: TrainingData, relevance: Floats, binned: Any, targets: Surrogates
    ) -> Floats:
        n_picks = self._count_to_pick(data)
        joint = np.zeros(data.n_features)

        def add(chosen: int) -> Floats:
            # I(s; y) is the same for all columns, so that it does not decide
            nonlocal joint
            known = partial(conditional_mutual_information, binned, s=binned.column(chosen))
            joint = joint + mean_over(targets, known)
            return joint

        chance = np.random.default_rng([data.seed, PICK_STREAM]).permutation(data.n_features)
        return scores_of_picks(
            relevance,
            add,
            n_picks,
            candidates=~data.constant,
            tie_order=chance,
            first=self._picked_first,
            feature_of=self._feature_of,
        )
