"""SLS: the Laplacian score on a graph in which labels overrule neighbours.

A baseline named in J. Ren, Z. Qiu, W. Fan, H. Cheng, P. S. Yu (2008). Forward semi-supervised
feature selection. PAKDD; the criterion is that of X. He, D. Cai, P. Niyogi (2005). Laplacian score
for feature selection. NIPS 18.

    S_ij = 1 if i and j are labelled alike, 0 if they are labelled differently,
           the neighbour weight if at least one of them is unlabelled
    SLS  = f~'(D - S)f~ / f~'Df~         as in the Laplacian score

Direction: low values first, so ``scores_`` is minus the value. Cost: O(n^2 p) for the graph of n
rows, O(n k p) for the scores; the pairs of labelled rows are never listed.

All of it is a reading: the paper says only that it resembles another semi-supervised method, with
the Laplacian score as the criterion. Without labels of two classes it is the Laplacian score.
Missing values are left out as in `semisift.filters.laplacian`.
"""

from semisift.base._graph_ranker import GraphRanker
from semisift.base._training_data import TrainingData
from semisift.filters._label_graph import label_aware_score, laplacian_score
from semisift.utils._typing import Floats


class SLS(GraphRanker):
    """Rank columns by how well they follow the neighbourhoods of the rows and their labels.

    Parameters
    ----------
    {n_features_to_select}
    {n_neighbors}
    {graph parameters}
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Minus the label-aware Laplacian score, so higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    J. Ren, Z. Qiu, W. Fan, H. Cheng, P. S. Yu (2008). Forward semi-supervised feature selection.
    PAKDD.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import SLS
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = SLS(n_features_to_select=3, feature_scaling="minmax").fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['flavanoids', 'od280/od315_of_diluted_wines', 'proline']
    """

    allow_nan = True

    def _score(self, data: TrainingData) -> Floats:
        if self._lacks_classes(data, "the Laplacian score, without labels"):
            return -laplacian_score(data, self._graph(data, shift=True))
        return -label_aware_score(data, self._graph(data))
