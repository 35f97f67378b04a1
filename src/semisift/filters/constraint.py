"""ConstraintScore: close within must-link pairs, apart within cannot-link pairs.

D. Zhang, S. Chen, Z.-H. Zhou (2008). Constraint score: a new filter method for feature selection
with pairwise constraints. Pattern Recognition 41(5).

    m_r = sum over must-link pairs (i, j) of (x_ir - x_jr)^2
    c_r = sum over cannot-link pairs (i, j) of (x_ir - x_jr)^2

    CS-1:  m_r / c_r          CS-2:  m_r - lambda * c_r

Pairs are unordered and count once; rows of the same class must link, rows of different classes
cannot. Direction: the paper ranks low values first, so ``scores_`` is minus its value. Cost:
O(n_L p) for n_L labelled rows, whose pairs are never listed, and O(p) for each further pair,
besides one pass over all rows for the unit of each column.

What is a reading: without a must-link pair CS-1 is 0 everywhere, and c_r ranks; without a
cannot-link pair the variance over all rows takes the place of c_r. Both are told by a warning.
The default lambda is that of the original, as far as known. Where there are missing values, a sum
is over the pairs in which both rows have the value, scaled to the number of all pairs
(`semisift.base._pairs` has the details), and the score is NaN where a kind of pairs is left without
any. Pairs count the product of the weights of their rows.
"""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._pairs import check_kinds, pair_sums, pair_sums_in_units, units
from semisift.base._ranker import WeightedPairRanker
from semisift.base._training_data import TrainingData
from semisift.utils._columns import ratio
from semisift.utils._sklearn_compat import Interval, StrOptions
from semisift.utils._typing import Floats


class ConstraintScore(WeightedPairRanker):
    """Rank columns by the differences inside must-link and cannot-link pairs.

    Pairs follow from the labels, or are given to `fit`, or both. Other rows only help to measure
    the spread of a column.

    Parameters
    ----------
    {n_features_to_select}
    criterion : {"ratio", "difference"}, default="ratio"
        CS-1 or CS-2. The difference depends on the units of the columns: scale them first.
    trade_off : float, default=0.1
        Weight of the cannot-link pairs in the difference: the lambda of the paper.
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Minus the paper's value, so higher is better; minus infinity for columns that differ in
        must-link pairs only, NaN for constant columns and columns that differ in no pair.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    D. Zhang, S. Chen, Z.-H. Zhou (2008). Constraint score: a new filter method for feature
    selection with pairwise constraints. Pattern Recognition 41(5).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import ConstraintScore
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ranker = ConstraintScore(n_features_to_select=2)
    >>> ranker.fit(X, must_link=[(0, 1), (60, 61)], cannot_link=[(0, 60), (1, 170)])
    ConstraintScore(n_features_to_select=2)
    >>> ranker.get_feature_names_out().tolist()
    ['total_phenols', 'flavanoids']
    """

    labels_needed = "two_classes"
    uses_statistics = True
    allow_nan = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedPairRanker._parameter_constraints,
        "criterion": [StrOptions({"ratio", "difference"})],
        "trade_off": [Interval(Real, 0, None, closed="left")],
    }

    criterion: Literal["ratio", "difference"] = "ratio"
    trade_off: float = 0.1

    def _score(self, data: TrainingData) -> Floats:
        has_must_link, has_cannot_link = check_kinds(data, type(self).__name__)
        if self.criterion == "difference":
            must, cannot = pair_sums(data)
            with np.errstate(invalid="ignore"):  # both may be infinite
                return np.asarray(self.trade_off * cannot - must)
        if not has_must_link:
            return pair_sums(data)[1]
        must, cannot = pair_sums_in_units(data)
        if not has_cannot_link:
            cannot = (data.spread / units(data)) ** 2
        return 0.0 - ratio(must, cannot)
