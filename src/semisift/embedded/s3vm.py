"""S3VM-RFE: columns eliminated one by one by a supervised and a one-class support vector machine.

J. C. Ang, H. Haron, H. N. A. Hamed (2015). Semi-supervised SVM-based feature selection for cancer
classification using microarray gene expression data. IEA/AIE.

    repeat until no column is left:
        w_l = sum_k alpha_k y_k x_k     linear SVM on the labelled rows
        w_u = sum_k alpha_k x_k         linear one-class SVM on the unlabelled rows
        printed:  c_i = (w_l,i + w_u,i)^2
        default:  c_i = (w_l,i / |w_l|)^2 + eta (w_u,i / |w_u|)^2
        the column with the smallest c_i leaves

Direction: higher is better; the score of a column is its place in the order of elimination, so
that the last one left is the best. Cost: n_L^2 + n_U^2 for each of p steps, on Gram matrices from
which a column that leaves takes a term of rank one, and O(n p) whenever the weakest columns have to
be found anew. The machines are trained after every removal, so precisely that the order is that of
machines trained from scratch.

What is a reading: the listing gives unlabelled rows the label 0 and multiplies by it, which would
leave nothing of w_u; here it is the weight vector of the one-class machine. The printed sum depends
on which class is called +1, since w_l changes its sign with it and w_u does not, and on the lengths
of both, which have nothing to do with each other; hence the default. A linear one-class machine
parts the rows from the origin, so columns are scaled to [0, 1] and not centred: on centred columns
w_u is nearly 0. Several classes: one machine each against the rest, and the mean of their squares
(printed: the sum of c_i). One labelled class: w_u alone; no unlabelled row: w_l alone, which is
SVM-RFE.

S3VM-FS: the elimination of S3VM-RFE, stopped at a number of columns that is given.

J. C. Ang, H. Haron, H. N. A. Hamed (2015). Semi-supervised SVM-based feature selection for cancer
classification using microarray gene expression data. IEA/AIE.

Columns leave as in `semisift.embedded.s3vm` until as many are left as are asked for; these are
ranked by their criterion c_i in machines trained on them. Direction: higher is better. Cost: as
S3VM-RFE for the columns that leave, which is most of it.

What is a reading: all that is known of the method is that it keeps a preset number of columns and
is faster than S3VM-RFE. `train_once` is the other reading of it: the machines are trained once, on
all columns, and the columns with the largest c_i are kept.
"""

from collections.abc import Iterable
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from semisift import _kernels
from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.embedded._elimination import Elimination
from semisift.embedded._svm_solver import one_against_rest, one_class
from semisift.exceptions import FallbackWarning
from semisift.parallel import one_blas_thread
from semisift.utils._columns import ScaledColumns, power_of_two
from semisift.utils._sklearn_compat import Interval, RealNotInt, StrOptions, at_least
from semisift.utils._typing import Bools, Floats, Ints
from semisift.utils._warnings import warn

# Separates the order of equally weak columns from other draws with the same seed.
ELIMINATION_STREAM = 0x726665

# Above so many columns "auto" removes a tenth of those left at a time.
ONE_BY_ONE = 25_000

# Progress is told so many times.
MAX_TASKS = 100


class S3VMRFE(FeatureRanker):
    """Rank columns by eliminating the weakest in two support vector machines, again and again.

    Parameters
    ----------
    {n_features_to_select}
        All columns are ranked in any case.
    C : float, default=1.0
        How much the supervised machine pays for labelled rows on the wrong side of its margin.
    nu : float, default=0.5
        In (0, 1]. Share of the unlabelled rows that the one-class machine leaves on the side of
        the origin, at most.
    unlabelled_weight : float, default=1.0
        The eta of the formula; 0 is SVM-RFE. Not used by ``variant="paper"``.
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
        Go on where an interrupted fit on the same X, y and random_state was, from its
        `eliminated_`. A fit that was complete, or on other data, is not gone on with.
    {redundancy_threshold}
    {known columns}
    random_state : int or RandomState instance, default=None
        Seed of the choice of unlabelled rows and of the order of equally weak columns. None is a
        fixed seed.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Place in the order of elimination, 1 for the first to leave; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    eliminated_ : ndarray of int
        The columns in the order in which they left. An interrupted fit (Ctrl-C) leaves those that
        it came to.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    J. C. Ang, H. Haron, H. N. A. Hamed (2015). Semi-supervised SVM-based feature selection for
    cancer classification using microarray gene expression data. IEA/AIE.

    I. Guyon, J. Weston, S. Barnhill, V. Vapnik (2002). Gene selection for cancer classification
    using support vector machines. Machine Learning 46.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import S3VMRFE
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = S3VMRFE(n_features_to_select=3).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['ash', 'hue', 'od280/od315_of_diluted_wines']
    """

    scores_are_places = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "nu": [Interval(Real, 0, 1, closed="right")],
        "unlabelled_weight": [Interval(Real, 0, 1e100, closed="both")],  # products stay in range
        "step": [StrOptions({"auto"}), at_least(1), Interval(RealNotInt, 0, 1, closed="neither")],
        "variant": [StrOptions({"default", "paper"})],
        "max_unlabelled": [None, at_least(1)],
        "warm_start": ["boolean"],
    }

    C: float = 1.0
    nu: float = 0.5
    unlabelled_weight: float = 1.0
    step: Literal["auto"] | int | float = "auto"
    variant: Literal["default", "paper"] = "default"
    max_unlabelled: int | None = 1000
    warm_start: bool = False

    def _n_left(self, data: TrainingData) -> int:
        """Return how many columns are left at the end, to be ranked by their strength."""
        return 1

    def _n_tasks(self, data: TrainingData) -> int:
        return len(self._tasks(data))

    def _tasks(self, data: TrainingData) -> list[list[int]]:
        """Return how many columns are to leave in each step, in groups of steps."""
        n = int((~data.constant).sum()) - len(self._gone(data))
        steps = self._steps(n, self._n_left(data))
        size = max(1, -(-len(steps) // MAX_TASKS))
        return [steps[start : start + size] for start in range(0, len(steps), size)]

    def _steps(self, n: int, n_left: int) -> list[int]:
        """Return how many columns are to leave in each step, from n to those left at the end."""
        steps = []
        while n > n_left:
            if isinstance(self.step, str):
                count = n // 10 if n > ONE_BY_ONE else 1
            else:
                count = int(self.step if self.step >= 1 else max(1, self.step * n))
            steps.append(min(count, n - n_left))
            n -= steps[-1]
        return steps

    def _gone(self, data: TrainingData) -> Ints:
        """Return the columns that an earlier fit eliminated, if it is to be gone on with."""
        before = np.array(vars(self).get("eliminated_", ()), dtype=np.int64)
        n_to_leave = int((~data.constant).sum()) - self._n_left(data)
        if not self.warm_start or not 0 < len(before) < n_to_leave:
            return before[:0]
        return before if self._eliminated_from == data.fingerprint else before[:0]

    @one_blas_thread()
    def _score(self, data: TrainingData) -> Floats:
        gone = self._gone(data)
        tasks = self._tasks(data)
        kept = ~data.constant
        kept[gone] = False
        order = gone.tolist()
        self._eliminated_from = data.fingerprint
        elimination = self._begin(data, kept)
        try:
            for task in self._progress(tasks, "columns"):
                for count in task:
                    order.extend(elimination.remove(count))
        finally:
            self.eliminated_ = np.array(order, dtype=np.int64)
        order.extend(elimination.by_strength())
        scores = np.full(data.n_features, np.nan)
        scores[order] = np.arange(1, len(order) + 1)
        return scores

    def _stays_after_failure(self, before: dict[str, Any]) -> Iterable[str]:
        stays = super()._stays_after_failure(before)
        return {*stays, "eliminated_", "_eliminated_from"}  # to be gone on with

    def _begin(self, data: TrainingData, kept: Bools) -> Elimination:
        """Train the machines on the columns that are left."""
        _kernels.warn_if_missing()
        part = data.part(data.some_rows(self.max_unlabelled))
        labels, rows = part.labels, part.labels.unlabelled
        labelled = unlabelled = None
        if labels.n_classes >= 2:
            columns = unit_columns(part, labels.labelled)
            codes = labels.codes[labels.labelled]
            labelled = one_against_rest(columns, codes, labels.n_classes, self.C)
        else:
            what = "labels of one class only" if labels.n_classes else "no label"
            warn(
                f"{type(self).__name__} has {what}: its one-class machine alone decides. Label "
                "rows of at least two classes.",
                FallbackWarning,
            )
            rows = rows if len(rows) else labels.labelled
        is_used = self.unlabelled_weight > 0 or self.variant == "paper" or labelled is None
        if is_used and len(rows):
            unlabelled = one_class(unit_columns(part, rows), self.nu)
        chance = np.random.default_rng([data.seed, ELIMINATION_STREAM])
        return Elimination(
            labelled,
            unlabelled,
            unlabelled_weight=1.0 if labelled is None else float(self.unlabelled_weight),
            is_printed=self.variant == "paper",
            kept=kept,
            tie_order=chance.permutation(data.n_features),
            last=self._picked_first,
        )


def unit_columns(data: TrainingData, rows: Ints) -> ScaledColumns:
    """Return some rows with each column scaled to [0, 1] over all rows of the training data."""
    unit = power_of_two(data.spans)
    low = data.X.min(axis=0)
    low = np.asarray(low.toarray().ravel() if data.is_sparse else low, dtype=np.float64)
    with np.errstate(divide="ignore"):
        factor = np.where(data.constant, 0.0, unit / data.spans)
    return ScaledColumns(data.X, rows, unit, low / unit, factor)


# --- s3vm fs --------------------------------------------------------------------------------------


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

    def _n_left(self, data: TrainingData) -> int:
        return self._count_to_select(data.n_features)

    def _steps(self, n: int, n_left: int) -> list[int]:
        return [] if self.train_once else super()._steps(n, n_left)

    def _score(self, data: TrainingData) -> Floats:
        scores = super()._score(data)
        if self.train_once:
            order = np.argsort(scores)[: np.isfinite(scores).sum()]  # NaN last
            self.eliminated_ = order[: max(0, len(order) - self._n_left(data))]
        return scores
