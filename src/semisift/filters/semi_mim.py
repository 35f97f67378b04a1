"""Semi-MIM: mutual information with a class that all unlabelled rows are given to.

K. Sechidis, G. Brown (2018). Simple strategies for semi-supervised feature selection. Machine
Learning 107(2).

With p positive, n negative and m unlabelled rows, and the prior P(y = 1) of the positive class,

    phi = a / (a + b),    a = sqrt(p (p + m)),    b = sqrt(n (n + m))
    y0: unlabelled rows are negative;   y1: they are positive
    score_r = I(f_r; y0) if P(y = 1) < phi, else I(f_r; y1)      over all rows

Where labels are missing at random, both surrogates rank columns as the classes would, given rows
enough, and phi tells which of them needs fewer. Mutual information is that of binned columns: five
bins of equal width, or the values themselves where there are at most five. Direction: higher is
better, as printed. Cost: O(n p). Without unlabelled rows it is the mutual information with the
classes; with one class labelled, that of labelled against unlabelled.

What is a reading: more than two classes, which the paper leaves out, are taken one against the
rest, and the ranks of a column are averaged. The prior is the share among the labelled rows, as the
authors' comment says (their code counts unlabelled rows as negative). As many labels of one class
as of the other put the prior exactly on phi: then the score is the mean of both surrogates, so that
the names of the classes do not matter; with ``variant="paper"`` it is y1 of the last class. Missing
values are in no bin, and the score of a column is over the rows that have its value, whose smaller
number makes it a little larger by chance; phi and the prior are over all rows. A row of weight 2 is
two rows, in the tables and in phi; bins do not depend on it.

When not to use it: on counts with a long tail, as of molecules in cells. Bins of equal width put
nearly all rows into the lowest one, the more so the more rows there are, and then a single labelled
row with a rare high count tells more than a marker does. In benchmarks/semi_mim_counts.py (two
classes, 20,000 cells, 20 labels each) 4 % of the rows of a marker are outside its largest bin, and
.02 of 40 markers are among the best 40; of log(1 + count) .62, where the F-score of the labelled
rows finds .83 and SSFI all. Nor is it made for markers of one class among many: a column that is
the best for one of ten classes and like any other for nine has a middling mean of ranks (of ten
classes, one table, log counts: .17 found, and .85 by the best rank).
"""

from typing import Any

from scipy.stats import rankdata

from semisift.base._ranker import WeightedRanker
from semisift.base._training_data import TrainingData
from semisift.filters._pseudo_class_ranker import SurrogateRanker, Surrogates
from semisift.out_of_core._binning import count_bins
from semisift.utils._information import Countable
from semisift.utils._labels import Labels
from semisift.utils._typing import Floats


class SemiMIM(SurrogateRanker, WeightedRanker):
    """Rank columns by what they tell about a class to which the unlabelled rows were added.

    Not for counts with a long tail, of which the five bins of equal width tell nearly nothing: take
    ``log(1 + count)``, or another method. Nor for markers of single classes among many, since ranks
    are averaged over the classes.

    Parameters
    ----------
    {n_features_to_select}
    {class_prior}
    variant : {"default", "paper"}, default="default"
        Whether both surrogates count where the prior does not favour one of them, or the authors'
        choice.
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Mutual information of each column with the surrogate, in nats; with more than two classes
        the mean of its ranks, p for the best column of each. NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    K. Sechidis, G. Brown (2018). Simple strategies for semi-supervised feature selection. Machine
    Learning 107(2).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from semisift import SemiMIM
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 50, -1)
    >>> ranker = SemiMIM(n_features_to_select=3).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['mean concave points', 'worst perimeter', 'worst concave points']
    """

    uses_statistics = True

    def _limit(self, data: TrainingData) -> TrainingData:
        if data.full is not None:  # what is constant is so over all rows
            _, spans = count_bins(data.full.rows, data.full.labels)
            data.__dict__["spans"] = spans
        return data

    def _bins(self, data: TrainingData) -> tuple[Labels, Countable]:
        if data.full is None:
            return super()._bins(data)
        return data.full.labels, count_bins(data.full.rows, data.full.labels)[0]

    def _score_class(
        self, data: TrainingData, relevance: Floats, binned: Any, targets: Surrogates
    ) -> Floats:
        return relevance if data.labels.n_classes <= 2 else rankdata(relevance)
