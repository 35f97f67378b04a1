"""LSDF: the classes apart, and like rows and neighbours together.

J. Zhao, K. Lu, X. He (2008). Locality sensitive semi-supervised feature selection. Neurocomputing
71(10-12).

    within graph   Sw_ij = gamma if i and j are labelled alike,
                           1 if they are neighbours and at least one is unlabelled, else 0
    between graph  Sb_ij = 1 if i and j are labelled differently, else 0
    LSDF = f'Lb f / f'Lw f          with L the Laplacians of the graphs

Direction: higher is better, as printed. Cost: O(n^2 p) for the neighbours among n rows, O(n k p)
for the scores; the pairs of labelled rows are never listed.

What is a reading: a second-hand account joins differently labelled rows only if they are
neighbours, which with a few labels leaves nothing; ``between="near"`` does so, and falls back to
all such rows where there is no such edge. Given pairs of rows count as labels do. Where no row must
be linked and none is a neighbour, the sum over the differently labelled rows ranks; without
differently labelled rows, minus the Laplacian score. Where there are missing values, each sum is
over the pairs in which both rows have the value, scaled to all pairs of its kind; the score is NaN
where one is left without any.
"""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._graph_ranker import GraphRanker
from semisift.base._pairs import count_pairs, pair_sums, pair_sums_in_units, units
from semisift.base._ranker import PairRanker
from semisift.base._training_data import TrainingData
from semisift.exceptions import FallbackWarning
from semisift.filters._label_graph import cannot_link_edges, laplacian_score, undecided_edges
from semisift.utils._columns import ratio, scaled_to_all
from semisift.utils._graph import Graph, edge_sums
from semisift.utils._sklearn_compat import Interval, StrOptions
from semisift.utils._typing import Floats
from semisift.utils._warnings import warn


class LSDF(GraphRanker, PairRanker):
    """Rank columns by the differences between classes against those of like rows and neighbours.

    Parameters
    ----------
    {n_features_to_select}
    must_link_weight : float, default=100
        The gamma of the paper: weight of a pair of rows of one class against a pair of neighbours.
    between : {"all", "near"}, default="all"
        Which differently labelled rows are compared: all, or those that are neighbours.
    n_neighbors : int, default=5
        Neighbours of each row; at most all other rows are used.
    {graph parameters}
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column, higher is better: infinity where only differently labelled rows
        differ, NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    J. Zhao, K. Lu, X. He (2008). Locality sensitive semi-supervised feature selection.
    Neurocomputing 71(10-12).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import LSDF
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = LSDF(n_features_to_select=3, feature_scaling="minmax").fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['hue', 'od280/od315_of_diluted_wines', 'proline']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphRanker._parameter_constraints,
        "must_link_weight": [Interval(Real, 0, 1e100, closed="both")],  # products stay in range
        "between": [StrOptions({"all", "near"})],
    }

    allow_nan = True

    must_link_weight: float = 100.0
    between: Literal["all", "near"] = "all"
    n_neighbors: int = 5
    weights: Literal["heat", "binary"] = "binary"

    def _score(self, data: TrainingData) -> Floats:
        graph = self._graph(data)
        if self._lacks_classes(data, "minus the Laplacian score"):
            return -laplacian_score(data, graph)
        must_link, _ = pair_sums_in_units(data)
        undecided = undecided_edges(data, graph)
        near = self._differences(data, undecided)
        if not count_pairs(data)[0] and not undecided.degrees.any():
            warn(
                f"{type(self).__name__} has no must-link pair and no unlabelled neighbours: it "
                "ranks by the differences of cannot-link pairs alone, which depend on the unit of "
                "a column. Label a second row of a class, or scale the columns.",
                FallbackWarning,
            )
            return pair_sums(data)[1]
        return ratio(self._between(data), float(self.must_link_weight) * must_link + near)

    def _between(self, data: TrainingData) -> Floats:
        if self.between == "near":
            edges = cannot_link_edges(data, self._graph(data))
            if edges.weights.any():
                return self._differences(data, edges)
            warn(
                "No differently labelled rows are neighbours: LSDF compares all of them, as with "
                "between='all'. Set a larger n_neighbors to compare near ones.",
                FallbackWarning,
            )
        return pair_sums_in_units(data)[1]

    def _differences(self, data: TrainingData, graph: Graph) -> Floats:
        sums = edge_sums(data.X, graph, units(data), has_missing=data.has_missing)
        if not data.has_missing:
            return sums.difference
        return scaled_to_all(sums.difference, sums.volume, graph.degrees.sum())

    def _tie_key(self, data: TrainingData) -> Floats | None:
        perfect = np.isposinf(self.scores_)
        if np.count_nonzero(perfect) < 2:
            return None
        variance = np.where(data.constant, 1.0, data.spread / units(data)) ** 2
        return np.where(perfect, pair_sums_in_units(data)[1] / variance, 0.0)
