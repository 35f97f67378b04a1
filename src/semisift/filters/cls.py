"""CLS: the constrained Laplacian score.

K. Benabdeslem, M. Hindawi (2011). Constrained Laplacian score for semi-supervised feature
selection. ECML-PKDD; as printed again in M. Hindawi, H. Elghazel, K. Benabdeslem (2013), Efficient
semi-supervised feature selection by an ensemble approach.

    S_ij = exp(-|x_i - x_j|^2 / t)   i, j unlabelled neighbours, or a must-link pair; else 0
    D_i  = sum_j S_ij
    CLS  = sum_ij S_ij (f_i - f_j)^2
           / (sum over cannot-link pairs i, j of D_i (f_i - f_j)^2
              + sum over unlabelled i of D_i (f_i - mean)^2)          over ordered pairs

Direction: the paper ranks low values first, so ``scores_`` is minus its value. Cost: O(n_U^2 p) for
the neighbours of n_U unlabelled rows, O(n_U k p + n_L^2 p) for the scores of all columns; with
``compress="som"`` linear in n_U from 10,000 rows on, and n_U^1.5 below. Up to 2,000 labelled rows
there are matrices of all their pairs; of more rows, pairs are never held all at once.

What is a reading: the printed denominator sums over partners of cannot-links only, so that no
unlabelled row could ever count; as the same page says that CLS contains the Laplacian score, which
is then the unlabelled part, the unlabelled rows are added. (It is twice the Laplacian score, for
``mean="D"``.) What differs from the paper, and is as printed with ``variant="paper"``: t is the
mean squared distance of the rows instead of 0.1; the graph is the mean of the directed graph and
its transpose instead of their union; the mean is weighted by D, because a single outlier moves the
plain mean away from all rows and so makes any column look good (for EnsCLS the accuracy is the
same, ``benchmarks/enscls.py --part accuracy``); and each labelled row has a self-loop, without
which the only row of a class would count for nothing (D_i = 0). The settings of the map are ours.
What missing values change is told in `semisift.filters._constrained_laplacian`; the map does not
take them, nor do more than 2,000 labelled rows.
"""

from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._graph_ranker import GraphRanker
from semisift.base._ranker import PairRanker
from semisift.base._training_data import TrainingData
from semisift.ensemble._som import MIN_ROWS, batch_som
from semisift.filters._constrained_laplacian import Constraints, cls_parts, combine
from semisift.filters._constraints import (
    check_not_vanished,
    list_constraints,
    scaled,
    warn_of_no_cannot_link,
    weight_options,
)
from semisift.utils._columns import MAX_SQUARED
from semisift.utils._sklearn_compat import StrOptions
from semisift.utils._typing import Floats


class CLS(GraphRanker, PairRanker):
    """Rank columns by neighbourhoods of the unlabelled rows and by the pairs of the labelled ones.

    A good column has similar values for unlabelled neighbours and for labelled rows of the same
    class, differs between classes, and varies among the unlabelled rows.

    Parameters
    ----------
    {n_features_to_select}
    {n_neighbors (unlabelled)}
    variant : {"default", "paper"}, default="default"
        "paper" is the printed form: weights ``exp(-d2 / 0.1)`` of raw squared distances on the
        union of the 10 nearest neighbours, no self-loops. The parameters below up to `mean` are
        then not used.
    {graph (by name)}
    {weights}
    {feature_scaling (mean)}
    {heat_scale (by name)}
    heat_constant : float, default=1.0
        Larger is more even weights.
    {self_loops}
    {mean (of the variance)}
    compress : {None, "som"}, default=None
        "som" replaces more than 500 unlabelled rows by the units of a self-organising map.
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Minus the score, so higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    K. Benabdeslem, M. Hindawi (2011). Constrained Laplacian score for semi-supervised feature
    selection. ECML-PKDD.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import CLS
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = CLS(n_features_to_select=3, feature_scaling="minmax").fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['total_phenols', 'flavanoids', 'od280/od315_of_diluted_wines']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphRanker._parameter_constraints,
        "graph": [StrOptions({"mean", "union"})],
        "self_loops": ["boolean"],
        "mean": [StrOptions({"plain", "D"})],
        "compress": [None, StrOptions({"som"})],
    }

    allow_nan = True

    graph: Literal["mean", "union"] = "mean"
    feature_scaling: Literal["minmax"] | None = None
    self_loops: bool = True
    mean: Literal["plain", "D"] = "D"
    compress: Literal["som"] | None = None

    def _score(self, data: TrainingData) -> Floats:
        name, is_printed = type(self).__name__, self.variant == "paper"
        warn_of_no_cannot_link(data, name)
        constraints, unlabelled = list_constraints(data)
        X, unit = scaled(data, None if is_printed else self.feature_scaling)
        compresses = self.compress == "som" and len(unlabelled) > MIN_ROWS
        if data.has_missing:
            _check_complete(constraints, compresses)
        if compresses:
            constrained = X[constraints.rows]
            constrained = constrained.toarray() if data.is_sparse else constrained
            X = np.vstack([constrained, batch_som(X[unlabelled]).units])
            constraints = constraints._replace(rows=np.arange(len(constrained)))
            unlabelled = np.arange(len(constrained), len(X), dtype=np.int32)
        options = weight_options(self)
        parts = cls_parts(X, unlabelled, constraints, options, unit, has_missing=data.has_missing)
        if parts.vanished or parts.few_edges is not None:
            check_not_vanished(name, is_printed, parts.few_edges)
        return 0.0 - combine(parts.sums, parts.totals)


def _check_complete(constraints: Constraints, compresses: bool) -> None:
    if compresses:
        raise ValueError(
            "X has missing values, which compress='som' does not take: fill them, or set "
            "compress=None."
        )
    if constraints.labels is not None:
        raise ValueError(
            f"X has missing values, and {len(constraints.rows)} rows are labelled: CLS takes these "
            f"with at most {MAX_SQUARED} labelled rows. Hide some labels, or fill the values."
        )
