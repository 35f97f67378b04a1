"""C4: the product of the Laplacian score and the constraint score.

M. Kalakech, P. Biela, L. Macaire, D. Hamad (2011). Constraint scores for semi-supervised feature
selection: a comparative study. Pattern Recognition Letters 32(5).

    C4 = LS * CS1

    LS   Laplacian score (He, Cai, Niyogi 2005) over all rows
    CS1  sum over must-link pairs / sum over cannot-link pairs of squared differences
         (Zhang, Chen, Zhou 2008)

Direction: the paper ranks low values first, so ``scores_`` is minus its value. Cost: O(n^2 p) for
the graph of n rows, O(n k p + n_L p) for the scores.

What is a reading: the graph of LS has nearest neighbours. Without a must-link pair, where CS1 is 0
everywhere, the variance over all rows takes the place of its numerator; without a cannot-link pair
the score is LS. A factor of 0 makes the product 0 whatever the other says; `offset` is added to
both factors to order such columns, and is 0 in the paper. Missing values are left out of LS as in
`semisift.filters.laplacian`, of CS1 as in `semisift.filters.constraint`.
"""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from semisift.base._graph_ranker import GraphRanker
from semisift.base._pairs import count_pairs, pair_sums_in_units, units
from semisift.base._ranker import PairRanker
from semisift.base._training_data import TrainingData
from semisift.exceptions import FallbackWarning
from semisift.filters._label_graph import laplacian_score
from semisift.utils._columns import ratio
from semisift.utils._sklearn_compat import Interval
from semisift.utils._typing import Floats
from semisift.utils._warnings import warn


class C4(GraphRanker, PairRanker):
    """Rank columns by the neighbourhoods of all rows times the pairs that labels decide.

    Parameters
    ----------
    {n_features_to_select}
    offset : float, default=0
        Added to both factors; a small one, such as 1e-12, orders columns of which a factor is 0.
    {n_neighbors}
    {graph parameters}
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Minus the product, so higher is better: minus infinity for columns that differ in must-link
        pairs only, NaN for constant columns and columns that differ in no pair.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    M. Kalakech, P. Biela, L. Macaire, D. Hamad (2011). Constraint scores for semi-supervised
    feature selection: a comparative study. Pattern Recognition Letters 32(5).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import C4
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = C4(n_features_to_select=3, feature_scaling="minmax").fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['flavanoids', 'od280/od315_of_diluted_wines', 'proline']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphRanker._parameter_constraints,
        "offset": [Interval(Real, 0, None, closed="left")],
    }

    allow_nan = True

    offset: float = 0.0

    def _score(self, data: TrainingData) -> Floats:
        laplacian = laplacian_score(data, self._graph(data, shift=True))
        if self._lacks_classes(data, "the Laplacian score, without labels"):
            return -laplacian
        must_link, cannot_link = pair_sums_in_units(data)
        if not count_pairs(data)[0]:
            warn(
                f"{type(self).__name__} has no must-link pair: it compares the cannot-link pairs "
                "with the variance over all rows instead. Label a second row of a class.",
                FallbackWarning,
            )
            must_link = (data.spread / units(data)) ** 2
        constraint = ratio(must_link, cannot_link)
        with np.errstate(over="ignore", invalid="ignore"):
            product = (laplacian + self.offset) * (constraint + self.offset)
        if (np.isinf(product) & np.isfinite(laplacian) & np.isfinite(constraint)).any():
            raise ValueError(
                "offset must leave the product of the two scores in the range of floats: got "
                f"{self.offset!r}."
            )
        # 0 times infinity: what differs in must-link pairs only stays behind
        return -np.where(np.isposinf(constraint) & ~np.isnan(laplacian), np.inf, product)
