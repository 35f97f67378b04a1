"""SemiFisherScore: the Fisher score with the variance and the neighbours of all rows.

M. Yang, Y.-J. Chen, G.-L. Ji (2010). Semi_Fisher score: a semi-supervised method for feature
selection. ICMLC.

    S_b  = sum_c n_c (mean_c - mean)^2          mean over all rows
    S_w  = sum_c n_c var_c                      over labelled rows
    Var  = variance over all rows
    J    = sum_ij S_ij (f_i - f_j)^2            over ordered pairs of neighbours, S_ij = 1
    score = (S_b + delta * Var) / (S_w + lambda * J)

Direction: higher is better, as printed. Cost: O(n^2 p) for the neighbours among n rows,
O(n k p + n_L p) for the scores.

Written after a third-party implementation, whose defaults are ours: k = 20, lambda = delta = 1. J
grows with all rows and S_w with the labelled ones, so that J outweighs it; ``balance=True``
divides each by what it is a sum over, which is not in the source. Without labels of two classes the
score is ``delta * Var / (lambda * J)``. Where there are missing values, each is over the rows and
neighbours that have the value, and S_b, S_w and J are scaled to all labelled rows and all
neighbours.
"""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._graph_ranker import GraphRanker
from semisift.base._pairs import class_moments, units
from semisift.base._training_data import TrainingData
from semisift.utils._columns import column_moments, moments_of_counted, ratio, scaled_to_all
from semisift.utils._graph import edge_sums
from semisift.utils._sklearn_compat import Interval
from semisift.utils._typing import Floats


class SemiFisherScore(GraphRanker):
    """Rank columns by the distance between classes, their variance and that of neighbours.

    Parameters
    ----------
    {n_features_to_select}
    graph_weight : float, default=1
        The lambda of the formula: weight of the differences of neighbours.
    variance_weight : float, default=1
        The delta of the formula: weight of the variance over all rows.
    balance : bool, default=False
        Divide the sums over labelled rows by their number, and the one over neighbours by the
        weight of its edges.
    n_neighbors : int, default=20
        Neighbours of each row; at most all other rows are used.
    {graph parameters}
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column, higher is better: infinity where neither the rows of a class nor
        neighbours differ, NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    M. Yang, Y.-J. Chen, G.-L. Ji (2010). Semi_Fisher score: a semi-supervised method for feature
    selection. ICMLC.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import SemiFisherScore
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = SemiFisherScore(n_features_to_select=3, feature_scaling="minmax")
    >>> ranker.fit(X, few_labels).get_feature_names_out().tolist()
    ['total_phenols', 'flavanoids', 'od280/od315_of_diluted_wines']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphRanker._parameter_constraints,
        "graph_weight": [Interval(Real, 0, None, closed="left")],
        "variance_weight": [Interval(Real, 0, None, closed="left")],
        "balance": ["boolean"],
    }

    allow_nan = True

    graph_weight: float = 1.0
    variance_weight: float = 1.0
    balance: bool = False
    n_neighbors: int = 20
    weights: Literal["heat", "binary"] = "binary"

    def _score(self, data: TrainingData) -> Floats:
        graph = self._graph(data)
        unit = units(data)
        sums = edge_sums(data.X, graph, unit, has_missing=data.has_missing)
        near = self.graph_weight * 2.0 * sums.difference
        if data.has_missing:
            near = scaled_to_all(near, sums.volume, graph.degrees.sum())
        spread = self.variance_weight * (data.spread / unit) ** 2
        if self.balance:
            near /= max(graph.n_edges, np.finfo(np.float64).tiny)
        if self._lacks_classes(data, "the variance of all rows over that of neighbours"):
            return ratio(spread, near)
        moments = class_moments(data)
        if data.has_missing:
            _, mean, _ = moments_of_counted(data.X, unit)
        else:
            mean, _ = column_moments(data.X, unit)
        between = (moments.counts * (moments.means - mean) ** 2).sum(axis=0)
        within = moments.within.sum(axis=0)
        n_labelled = len(data.labels.labelled)
        if data.has_missing:
            n_known = np.maximum(moments.counts.sum(axis=0), 1)  # of no labelled row both are 0
            between, within = (part * n_labelled / n_known for part in (between, within))
        parts = n_labelled if self.balance else 1
        return ratio(between / parts + spread, within / parts + near)
