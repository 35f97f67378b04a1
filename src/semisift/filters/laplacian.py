"""LaplacianScore: what varies little between neighbours, and much in all.

X. He, D. Cai, P. Niyogi (2005). Laplacian score for feature selection. NIPS 18.

    S_ij = exp(-|x_i - x_j|^2 / t) for neighbours, else 0        D = diag(S 1)
    f~ = f - (f'D1 / 1'D1) 1
    LS = f~'(D - S)f~ / f~'Df~

Direction: the paper ranks low values first, so ``scores_`` is minus its value, between -2 and 0.
Cost: O(n^2 p) for the graph of n rows, O(n k p) for the scores of all p columns.

What differs from the paper: the graph is the mean of the directed graph and its transpose, with
shared places for ties (``variant="paper"`` takes the union), and t is by default the mean squared
distance of the rows, as the paper leaves it to the user. There are no self-loops. Where there are
missing values, rows are compared in the columns that both have
(`semisift.utils._neighbors.RowsWithGaps`), and the sums of a column are over the edges whose two
rows have its value.
"""

from semisift.base._graph_ranker import GraphRanker
from semisift.base._training_data import TrainingData
from semisift.filters._label_graph import laplacian_score
from semisift.utils._typing import Floats


class LaplacianScore(GraphRanker):
    """Rank columns by how well they follow the neighbourhoods of the rows; labels are not used.

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
        Minus the Laplacian score, so higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.

    References
    ----------
    X. He, D. Cai, P. Niyogi (2005). Laplacian score for feature selection. NIPS 18.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import LaplacianScore
    >>> X, _ = load_wine(return_X_y=True, as_frame=True)
    >>> ranker = LaplacianScore(n_features_to_select=3, feature_scaling="minmax").fit(X)
    >>> ranker.get_feature_names_out().tolist()
    ['flavanoids', 'od280/od315_of_diluted_wines', 'proline']
    """

    labels_needed = "none"
    allow_nan = True

    def _score(self, data: TrainingData) -> Floats:
        return -laplacian_score(data, self._graph(data, shift=True))
