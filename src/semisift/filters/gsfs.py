"""GSFS: columns in the order of a label-aware Laplacian score, less those that tell nothing new.

H. Cheng, W. Deng, C. Fu, Y. Wang, Z. Qin (2011). Graph-based semi-supervised feature selection with
application to automatic spam image identification. CSISE.

    s-Laplacian(f) = f~'(D - S)f~ / f~'Df~
        S_ij = gamma if i and j are labelled alike, 0 if they are labelled differently,
               the neighbour weight if at least one of them is unlabelled
    CIG(f | s) = I(f; y | s) / I(f; y)         on binned labelled rows; 0/0 is 0, x/0 infinity

Columns are visited from the lowest s-Laplacian. One is kept if ``CIG(f | s) > tau`` for all columns
s that were kept before, until there are as many as asked for (100 if no number was asked for). Kept
columns score p, p - 1, ... in this order; the others follow in the order of their s-Laplacian.
Direction: higher is better. Cost: O(n^2 p) for the graph of n rows, O(n k p) for the s-Laplacian,
O(n_L) for each pair of a kept and a visited column.

All of it is a reading of the abstract: the s-Laplacian preserves local and global structure, and
the classification information gain degree removes redundant columns. Without labels of two classes
the Laplacian score ranks. Missing values are left out of the s-Laplacian as in
`semisift.filters.laplacian`; information is over the labelled rows that have the values of both
columns.
"""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from semisift.base._graph_ranker import GraphRanker
from semisift.base._training_data import TrainingData
from semisift.exceptions import FallbackWarning
from semisift.filters._label_graph import label_aware_score, laplacian_score
from semisift.filters.mrmr import places
from semisift.utils._information import (
    Binned,
    bin_columns,
    conditional_mutual_information,
    mutual_information,
)
from semisift.utils._redundancy import rank
from semisift.utils._sklearn_compat import Interval
from semisift.utils._typing import Floats, Ints
from semisift.utils._warnings import warn

# With fewer labelled rows the information in a pair of columns is mostly chance.
ENOUGH_LABELS = 20

# Columns are visited in groups of this many, whose information is computed at once.
GROUP = 256

# Information below this is rounding.
NEGLIGIBLE = 1e-12


class GSFS(GraphRanker):
    """Rank columns by neighbourhoods and labels, and leave out those that tell nothing new.

    Parameters
    ----------
    {n_features_to_select}
    min_gain : float, default=0.05
        The tau of the formula: share of its information on the class that a column must keep when
        any of the kept columns is known. -1 keeps all.
    same_class_weight : float, default=1
        The gamma of the formula: weight of a pair of labelled rows of one class.
    {n_neighbors}
    {graph parameters}
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        p, p - 1, ... for the kept columns, then the others in their order; NaN for constant
        columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    n_kept_ : int
        How many columns were kept; those after them are redundant, or were not visited.
    s_laplacian_ : ndarray of shape (n_features_in_,)
        The s-Laplacian of each column; lower is better.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    H. Cheng, W. Deng, C. Fu, Y. Wang, Z. Qin (2011). Graph-based semi-supervised feature selection
    with application to automatic spam image identification. CSISE.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import GSFS
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 20, -1)
    >>> ranker = GSFS(n_features_to_select=3, feature_scaling="minmax").fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['flavanoids', 'od280/od315_of_diluted_wines', 'proline']
    """

    scores_are_places = True
    allow_nan = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphRanker._parameter_constraints,
        "min_gain": [Interval(Real, -1, None, closed="left")],
        "same_class_weight": [Interval(Real, 0, 1e100, closed="both")],  # products stay in range
    }

    min_gain: float = 0.05
    same_class_weight: float = 1.0

    def _score(self, data: TrainingData) -> Floats:
        if self._lacks_classes(data, "the Laplacian score, without labels"):
            self.s_laplacian_ = laplacian_score(data, self._graph(data, shift=True))
            self.n_kept_ = 0
            return places([], -self.s_laplacian_)
        if len(data.labels.labelled) < ENOUGH_LABELS:
            warn(
                f"GSFS has {len(data.labels.labelled)} labelled rows: with fewer than "
                f"{ENOUGH_LABELS} it is mostly chance which columns it finds redundant. Set "
                "min_gain=-1 to keep all.",
                FallbackWarning,
            )
        graph = self._graph(data)
        self.s_laplacian_ = label_aware_score(data, graph, float(self.same_class_weight))
        self.s_laplacian_[data.constant] = np.nan
        n_wanted = self._count_to_pick(data)
        order = np.argsort(rank(-self.s_laplacian_, data.seed))
        order = order[: int(np.isfinite(self.s_laplacian_).sum())]
        n_sure = 0
        if (first := self._picked_first) is not None:
            order = np.concatenate([order[first[order]], order[~first[order]]])
            n_sure = int(first[order].sum())
        kept = keep(data, order, n_wanted, self.min_gain, n_sure, self._feature_of)
        self.n_kept_ = len(kept)
        return places(kept, -self.s_laplacian_)

    def _comparable_scores(self) -> Floats:
        return -self.s_laplacian_


def keep(
    data: TrainingData,
    order: Ints,
    n_wanted: int,
    min_gain: float,
    n_sure: int = 0,
    feature_of: Ints | None = None,
) -> list[int]:
    """Visit columns in an order and keep those that are not redundant given any one kept before.

    Parameters
    ----------
    data : TrainingData
    order : int array
        The columns to visit.
    n_wanted : int
        Stop at this many.
    min_gain : float
    n_sure : int, default=0
        So many at the start of the order are kept in any case.
    feature_of : int array of shape (p,), optional
        Of the other columns of a feature only one is kept.

    Returns
    -------
    list of int
        The columns kept, in the order of their visit.
    """
    rows = data.labels.labelled
    y = data.labels.codes[rows]
    X = data.X.tocsr()[rows].tocsc() if data.is_sparse else data.X[rows]
    kept: list[int] = []
    known: list[NDArray[np.integer]] = []  # the bins of the kept columns
    left = np.ones(data.n_features, dtype=bool)
    for start in range(0, len(order), GROUP):
        group = order[start : start + GROUP]
        binned = bin_columns(X[:, group], has_missing=data.has_missing)
        alone = mutual_information(binned, y)
        least = np.full(len(group), np.inf)
        for codes in known:
            np.minimum(least, gain(binned, y, codes, alone), out=least)
        for place, column in enumerate(group):
            if len(kept) == n_wanted:
                return kept
            is_sure = start + place < n_sure
            if is_sure or (left[column] and least[place] > min_gain):
                if feature_of is not None and not is_sure:
                    left[feature_of == feature_of[column]] = False
                kept.append(int(column))
                known.append(binned.column(place))
                np.minimum(least, gain(binned, y, known[-1], alone), out=least)
    return kept


def gain(binned: Binned, y: Ints, known: Ints, alone: Floats) -> Floats:
    """Return CIG: the share of the information on y that columns keep when another is known.

    Parameters
    ----------
    binned : DenseBins or SparseBins
    y, known : int arrays of shape (n,)
    alone : float array of shape (p,)
        Information of the columns on y.

    Returns
    -------
    float array of shape (p,)
    """
    left = conditional_mutual_information(binned, y, known)
    left = np.where(left > NEGLIGIBLE, left, 0.0)
    nothing = alone <= NEGLIGIBLE
    share = left / np.where(nothing, 1.0, alone)
    return np.where(nothing, np.where(left > 0, np.inf, 0.0), share)
