"""S3VM-FS: the elimination of S3VM-RFE, stopped at a number of columns that is given.

J. C. Ang, H. Haron, H. N. A. Hamed (2015). Semi-supervised SVM-based feature selection for cancer
classification using microarray gene expression data. IEA/AIE.

Columns leave as in `semisift.embedded.s3vm_rfe` until as many are left as are asked for; these are
ranked by their criterion c_i in machines trained on them. Direction: higher is better. Cost: as
S3VM-RFE for the columns that leave, which is most of it.

What is a reading: all that is known of the method is that it keeps a preset number of columns and
is faster than S3VM-RFE. `train_once` is the other reading of it: the machines are trained once, on
all columns, and the columns with the largest c_i are kept.
"""

from typing import Any, ClassVar

import numpy as np

from semisift._problem import Problem
from semisift.embedded.s3vm_rfe import S3VMRFE
from semisift.math import Floats


class S3VMFS(S3VMRFE):
    """Rank columns as S3VMRFE does, eliminating them only until as many are left as asked for.

    Parameters
    ----------
    {n_features_to_select}
    train_once : bool, default=False
        Train the machines once and rank all columns by their weights, instead of training them
        again after each removal.
    C : float, default=1.0
        How much the supervised machine pays for labelled rows on the wrong side of its margin.
    nu : float, default=0.5
        In (0, 1]. Share of the unlabelled rows that the one-class machine leaves on the side of
        the origin, at most.
    unlabelled_weight : float, default=1.0
        The eta of the formula; 0 leaves the unlabelled rows out. Not used by ``variant="paper"``.
    step : "auto", int or float, default="auto"
        How many columns leave before the machines are trained again: a number, or a share in
        (0, 1) of those left. "auto" is 1, and a tenth where more than 25,000 columns are left.
    variant : {"default", "paper"}, default="default"
        "paper" squares the sum of both weights, as printed. Its ranking depends on which of two
        classes comes last in sorted order, the positive one.
    max_unlabelled : int or None, default=1000
        Use at most this many unlabelled rows, drawn at random. None uses all; the cost of a step
        grows with their square.
    warm_start : bool, default=False
        Go on where an earlier fit on the same X and y was, from its `eliminated_`: one that was
        interrupted, or that kept more columns.
    {redundancy_threshold}
    {known columns}
    random_state : int or RandomState instance, default=None
        Seed of the choice of unlabelled rows and of the order of equally weak columns. None is a
        fixed seed.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Place in the order of elimination, 1 for the first to leave, and above them the places of
        the columns that are kept; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    eliminated_ : ndarray of int
        The columns in the order in which they left.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    J. C. Ang, H. Haron, H. N. A. Hamed (2015). Semi-supervised SVM-based feature selection for
    cancer classification using microarray gene expression data. IEA/AIE.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import S3VMFS
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = S3VMFS(n_features_to_select=3).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['ash', 'hue', 'od280/od315_of_diluted_wines']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **S3VMRFE._parameter_constraints,
        "train_once": ["boolean"],
    }

    train_once: bool = False

    def _n_left(self, problem: Problem) -> int:
        return self._count_to_select(problem.n_features)

    def _steps(self, n: int, n_left: int) -> list[int]:
        return [] if self.train_once else super()._steps(n, n_left)

    def _score(self, problem: Problem) -> Floats:
        scores = super()._score(problem)
        if self.train_once:
            order = np.argsort(scores)[: np.isfinite(scores).sum()]  # NaN last
            self.eliminated_ = order[: max(0, len(order) - self._n_left(problem))]
        return scores
