"""FisherScore: the distance between the classes against the spread within them.

R. O. Duda, P. E. Hart, D. G. Stork (2001). Pattern classification, 2nd edition, Wiley.

    F_r = sum_c n_c (mean_cr - mean_r)^2 / sum_c n_c var_cr      over labelled rows

with var_c the variance of class c, divided by n_c. Direction: higher is better, as printed. Cost:
O(n_L p) for n_L labelled rows, besides one pass over all rows for the unit of each column. Columns
without any spread within the classes score infinity; between them, and this is a reading, the
numerator decides, in units of the variance over all rows. A class with one labelled row adds
nothing to the denominator, so scores of very few labels are optimistic. A gap leaves its row out of
the column; the score F is over the classes that then have a value. By chance it is the higher, the
fewer rows are left: with k rows of m classes in a column, of n rows of q classes in all, it becomes
the score that a complete column with nearly the same p-value has,

    (1 + F)^a - 1       a = (k - m - b) / (n - q - b), with b = 1/2 for two classes, else 0

(see `semisift.utils._columns.as_if_complete`), with k for F where nothing varies within classes; it
is NaN where k = m or m < 2. A row of weight 2 is two rows.
"""

import numpy as np

from semisift.base._pairs import class_moments, units
from semisift.base._ranker import WeightedRanker
from semisift.base._training_data import TrainingData
from semisift.utils._columns import as_if_complete, ratio
from semisift.utils._typing import Floats, Ints


class FisherScore(WeightedRanker):
    """Rank columns by how far the classes lie apart; unlabelled rows are not used.

    Parameters
    ----------
    {n_features_to_select}
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column, higher is better: infinity where no class varies, NaN for constant
        columns and columns that are constant over the labelled rows.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    R. O. Duda, P. E. Hart, D. G. Stork (2001). Pattern classification, 2nd edition. Wiley.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import FisherScore
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = FisherScore(n_features_to_select=3).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['hue', 'od280/od315_of_diluted_wines', 'proline']
    """

    labels_needed = "two_classes"
    uses_statistics = True
    allow_nan = True

    def _score(self, data: TrainingData) -> Floats:
        moments = class_moments(data)
        scores = ratio(moments.between, moments.within.sum(axis=0))
        if data.has_missing:
            scores = _as_if_complete(scores, moments.counts, data)
        return np.where(moments.too_few, np.nan, scores)

    def _tie_key(self, data: TrainingData) -> Floats | None:
        if np.count_nonzero(np.isposinf(self.scores_)) < 2:
            return None
        unit = units(data)
        variance = np.where(data.constant, 1.0, data.spread / unit) ** 2
        key = class_moments(data).between / variance
        return np.where(np.isposinf(self.scores_), key, 0.0)


def _as_if_complete(scores: Floats, counts: Ints | Floats, data: TrainingData) -> Floats:
    """Return scores of columns with missing values on the scale of those of complete ones."""
    rows, weights = data.labels.labelled, data.design.weights
    n = len(rows) if weights is None else weights[rows].sum()
    n_classes = data.labels.n_classes
    known = counts.sum(axis=0)
    left, every = known - (counts > 0).sum(axis=0), n - n_classes
    if not every > 0:
        return scores
    bounded = np.where(np.isposinf(scores) & (left < every), known, scores)
    return np.where(left > 0, as_if_complete(bounded, left, every, n_classes), np.nan)
