"""VarianceScore: the variance of each column, the simplest unsupervised score.

    score_r = (1/n) * sum_i (x_ir - mean_r)^2      over labelled and unlabelled rows

Direction: higher is better. Cost: O(n p). It depends on the unit of a column, so by default columns
are scaled to [0, 1] first: the score is then divided by ``(max_r - min_r)^2``. Missing values are
left out of the column, and a row of weight 2 is two rows. No paper proposes it; C. M. Bishop
(1995), Neural Networks for Pattern Recognition, discusses it. Nothing here is a reading.
"""

from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._ranker import WeightedRanker
from semisift.base._training_data import TrainingData
from semisift.utils._sklearn_compat import StrOptions
from semisift.utils._typing import Floats


class VarianceScore(WeightedRanker):
    """Rank columns by their variance over all rows; labels are not used.

    Parameters
    ----------
    {n_features_to_select}
    feature_scaling : {"minmax", None}, default="minmax"
        Scale every column to [0, 1] first. None ranks the columns as they are: right where all have
        the same unit, such as counts of words.
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column, higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import VarianceScore
    >>> X, _ = load_wine(return_X_y=True, as_frame=True)
    >>> VarianceScore(n_features_to_select=2).fit(X).get_feature_names_out().tolist()
    ['nonflavanoid_phenols', 'od280/od315_of_diluted_wines']
    """

    labels_needed = "none"
    uses_statistics = True
    allow_nan = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedRanker._parameter_constraints,
        "feature_scaling": [None, StrOptions({"minmax"})],
    }

    feature_scaling: Literal["minmax"] | None = "minmax"

    def _score(self, data: TrainingData) -> Floats:
        spread = data.spread
        if self.feature_scaling == "minmax":
            span = data.spans
            spread = np.divide(spread, span, out=np.zeros_like(spread), where=span > 0)
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(spread**2)
