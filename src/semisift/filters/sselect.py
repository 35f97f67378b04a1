"""SSelect: columns that cut the neighbour graph well and agree with the labels.

Z. Zhao, H. Liu (2007). Semi-supervised feature selection via spectral analysis. SDM.

    g    = f - (f'd / 1'd) 1                          d the degrees of the rows
    A    = sum_ij w_ij (g_i - g_j)^2 / (2 sum_i d_i g_i^2)
    NMI  = I(sign(g); y) / max(H(sign(g)), H(y))      over labelled rows, sign(0) = +1
    sSelect = lambda * A + (1 - lambda) * (1 - NMI)

Direction: the paper ranks low values first, so ``scores_`` is minus its value. Cost: O(n^2 p) for
the graph of n rows, O(n k p + n_L p) for the scores. A is the Laplacian score of the column.

What is a reading: the final sum is given from general knowledge of the paper. The paper has two
classes; with more, the two signs are compared with all of them at once, so that NMI stays below 1.
Without labels of two classes the score is A. Missing values are left out of A as in
`semisift.filters.laplacian`, and NMI is over the labelled rows that have the value.
"""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from semisift.base._graph_ranker import GraphRanker
from semisift.base._training_data import TrainingData
from semisift.filters._label_graph import laplacian_score, span_units
from semisift.utils._columns import blocks, dense_columns, ratio
from semisift.utils._graph import NO_VARIANCE, edge_sums
from semisift.utils._sklearn_compat import Interval
from semisift.utils._typing import Floats

# A value nearer to the mean than this, in units of the span of the column, is on it.
ON_THE_MEAN = 1e-12


class SSelect(GraphRanker):
    """Rank columns by how well their two halves follow the neighbour graph and the labels.

    Parameters
    ----------
    {n_features_to_select}
    graph_weight : float, default=0.1
        The lambda of the paper: weight of the graph term, from 0 to 1. The labels have the rest.
    {n_neighbors}
    {graph parameters}
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Minus the paper's value, so higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    Z. Zhao, H. Liu (2007). Semi-supervised feature selection via spectral analysis. SDM.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import SSelect
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = SSelect(n_features_to_select=3, feature_scaling="minmax").fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['total_phenols', 'flavanoids', 'od280/od315_of_diluted_wines']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphRanker._parameter_constraints,
        "graph_weight": [Interval(Real, 0, 1, closed="both")],
    }

    allow_nan = True

    graph_weight: float = 0.1

    def _score(self, data: TrainingData) -> Floats:
        graph = self._graph(data, shift=True)
        if self._lacks_classes(data, "its graph term, the Laplacian score"):
            return -laplacian_score(data, graph)
        unit = span_units(data)
        sums = edge_sums(data.X, graph, unit, has_missing=data.has_missing)
        graph_term = ratio(sums.difference, sums.variance, NO_VARIANCE * sums.volume)
        label_term = 1.0 - normalised_information(count_above(data, sums.mean, unit))
        return -(self.graph_weight * graph_term + (1.0 - self.graph_weight) * label_term)


def count_above(data: TrainingData, mean: Floats, unit: Floats) -> Floats:
    """Count the labelled rows of each class below and not below the mean of each column.

    Rows with a missing value are not counted.

    Parameters
    ----------
    data : TrainingData
    mean, unit : float arrays of shape (p,)
        The mean is in units.

    Returns
    -------
    float array of shape (2, n_classes, p)
    """
    labels = data.labels
    rows = labels.labelled
    X = data.X.tocsr()[rows].tocsc() if data.is_sparse else data.X[rows]
    member = (labels.codes[rows] == np.arange(labels.n_classes)[:, None]).astype(np.float64)
    above, known = np.empty((2, labels.n_classes, data.n_features))
    for columns in blocks(data.n_features, len(rows)):
        distance = dense_columns(X, columns) / unit[columns] - mean[columns]
        above[:, columns] = member @ (distance >= -ON_THE_MEAN)
        known[:, columns] = member @ ~np.isnan(distance)
    return np.stack([known - above, above])


def normalised_information(counts: Floats) -> Floats:
    """Return ``I(a; b) / max(H(a), H(b))`` of tables of counts, one for each column.

    Parameters
    ----------
    counts : float array of shape (n_a, n_b, p)

    Returns
    -------
    float array of shape (p,)
        0 where a or b has one value only.
    """
    h_a, h_b = _entropy(counts.sum(axis=1)), _entropy(counts.sum(axis=0))
    h_both = _entropy(counts.reshape(-1, counts.shape[-1]))
    most = np.maximum(h_a, h_b)
    shared = np.where((h_a > 0) & (h_b > 0), h_a + h_b - h_both, 0.0)
    share = np.divide(shared, most, out=np.zeros_like(most), where=most > 0)
    return np.clip(share, 0.0, 1.0)


def _entropy(counts: Floats) -> Floats:
    shares = counts / np.maximum(counts.sum(axis=0), 1)  # missing values may leave nothing
    return np.asarray(-(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=0))
