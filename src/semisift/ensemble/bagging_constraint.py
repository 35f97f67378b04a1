"""BaggingConstraintScore (BS): the constraint score of many bags of pairs, averaged.

D. Sun, D. Zhang (2010). Bagging constraint score for feature selection with pairwise constraints.
Pattern Recognition 43(6).

Each of B bags draws as many must-link pairs with replacement as there are, and likewise of
the cannot-link pairs, and ranks the columns by CS-1 of its bag::

    CS1_br = sum over must-link pairs k of v_bk d_kr / sum over cannot-link pairs k of v_bk d_kr

where d_kr is the squared difference of pair k in column r and v_bk how often bag b drew it. So all
bags are two matrix products, (bags x pairs) @ (pairs x columns), a block of columns at a time.
Where rows are of groups, a bag draws as many of these as there are instead, and has a pair as often
as both of its rows.

Direction: low values rank first, so ``scores_`` is minus the average. Cost: O(B * pairs * p), with
at most `max_pairs` pairs of either kind.

The original was not available, and this is a reading: it combines classifiers trained on the
columns of each bag, where a ranking needs one order, so the ranks of the bags are averaged (their
scores have different scales); and whether the two kinds of pairs are drawn apart is not known.
"""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from semisift.base._pairs import check_kinds, some_pairs, squared_differences, units
from semisift.base._ranker import PairRanker
from semisift.base._training_data import TrainingData
from semisift.committee._bootstrap import Bootstrap
from semisift.parallel import one_blas_thread
from semisift.utils._columns import blocks, ratio
from semisift.utils._labels import Pairs
from semisift.utils._random import Purpose, draw_below
from semisift.utils._sklearn_compat import MAX_MEMBERS, StrOptions, at_least
from semisift.utils._typing import Floats

# The constraint scores of so many bags and columns are held at once, 256 MB.
MAX_SCORES = 1 << 25


class BaggingConstraintScore(PairRanker):
    """Rank columns by the constraint score, averaged over bags of pairs.

    Pairs follow from the labels, or are given to `fit`, or both. Other rows only help to measure
    the spread of a column.

    Parameters
    ----------
    {n_features_to_select}
    n_members : int, default=100
        Number of bags.
    aggregation : {"rank", "score"}, default="rank"
        Average the ranks of the bags, or their constraint scores.
    max_pairs : int, default=5000
        Of the must-link and of the cannot-link pairs that follow from the labels, use so many,
        drawn at random, where there are more.
    {redundancy_threshold}
    {known columns}
    {random_state (draws, ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Minus the mean rank (or constraint score) over the bags, so higher is better; NaN for
        constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    D. Sun, D. Zhang (2010). Bagging constraint score for feature selection with pairwise
    constraints. Pattern Recognition 43(6).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import BaggingConstraintScore
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = BaggingConstraintScore(n_features_to_select=3).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['hue', 'od280/od315_of_diluted_wines', 'proline']
    """

    labels_needed = "two_classes"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairRanker._parameter_constraints,
        "n_members": [at_least(1, MAX_MEMBERS)],
        "aggregation": [StrOptions({"rank", "score"})],
        "max_pairs": [at_least(1)],
    }

    n_members: int = 100
    aggregation: Literal["rank", "score"] = "rank"
    max_pairs: int = 5000

    def _score(self, data: TrainingData) -> Floats:
        check_kinds(data, type(self).__name__)
        pairs = some_pairs(data, self.max_pairs)
        n_must, n_cannot = len(pairs.must_link), len(pairs.cannot_link)
        total = np.zeros(data.n_features)
        with one_blas_thread():
            for block in blocks(self.n_members, data.n_features, MAX_SCORES):
                bags = range(block.start, block.stop)
                if data.design.groups is not None:
                    must, cannot = draw_groups_of_pairs(data, pairs, bags)
                else:
                    must = draw_bags(data.seed, bags, n_must, Purpose.LABELLED_BAG)
                    cannot = draw_bags(data.seed, bags, n_cannot, Purpose.UNLABELLED_BAG)
                for scores in score_bags(data, pairs, must, cannot):
                    total += rank_columns(scores) if self.aggregation == "rank" else scores
        return -total / self.n_members


def draw_bags(seed: int, bags: range, n_pairs: int, purpose: Purpose) -> Floats:
    """Return how often each bag drew each pair; a bag's draws depend on its number alone."""
    counters = np.arange(n_pairs)
    drawn = (draw_below(seed, bag, purpose, counters, n_pairs) for bag in bags)
    return np.array([np.bincount(each, minlength=n_pairs) for each in drawn], dtype=np.float64)


def draw_groups_of_pairs(data: TrainingData, pairs: Pairs, bags: range) -> tuple[Floats, Floats]:
    """Return how often each bag of groups has each must-link and each cannot-link pair.

    A pair is there as often as both of its rows are.
    """
    kinds = pairs.must_link, pairs.cannot_link
    rows = np.unique(np.concatenate([kind.ravel() for kind in kinds]))
    groups = np.asarray(data.design.groups)[rows]
    drawn, _ = Bootstrap.of_all(len(rows), groups=groups).draw(data.seed, bags.start, bags.stop)
    must, cannot = (drawn[:, np.searchsorted(rows, kind)].prod(axis=2) for kind in kinds)
    return must.astype(np.float64), cannot.astype(np.float64)


def score_bags(data: TrainingData, pairs: Pairs, must: Floats, cannot: Floats) -> Floats:
    """Return CS-1 of each bag for all columns, infinite where its cannot-link pairs do not differ.

    Parameters
    ----------
    data : TrainingData
    pairs : Pairs
    must, cannot : float arrays of shape (n_bags, n_pairs)
        How often each bag holds each pair of that kind.

    Returns
    -------
    float array of shape (n_bags, p)
    """
    unit = units(data)
    numerator = _sum_bags(data, pairs.must_link, must, unit)
    denominator = _sum_bags(data, pairs.cannot_link, cannot, unit)
    if not len(pairs.must_link):  # c alone ranks: the larger the better
        with np.errstate(over="ignore", divide="ignore"):
            return np.asarray(1.0 / (denominator * unit * unit))
    if not len(pairs.cannot_link):
        denominator += (data.spread / unit) ** 2
    scores = np.array([ratio(m, c) for m, c in zip(numerator, denominator, strict=True)])
    return np.where(np.isnan(scores), np.inf, scores)


def _sum_bags(
    data: TrainingData, pairs: NDArray[np.integer], bags: NDArray[Any], unit: Floats
) -> Floats:
    sums = np.zeros((len(bags), data.n_features))
    if len(pairs):
        for columns, squares in squared_differences(data, pairs, unit):
            sums[:, columns] = bags @ squares
    return sums


def rank_columns(scores: Floats) -> Floats:
    """Rank columns from the lowest score on; equal scores share their mean rank.

    The last 12 bits are left out of the comparison: equal columns may be added up in another order.

    Parameters
    ----------
    scores : float array of shape (p,)
        Not negative.

    Returns
    -------
    float array of shape (p,)

    Examples
    --------
    >>> rank_columns(np.array([0.3, 0.1, np.inf, 0.3])).tolist()
    [2.5, 1.0, 4.0, 2.5]
    """
    bits = np.ascontiguousarray(scores, dtype=np.float64).view(np.int64)
    return np.asarray(rankdata((bits + 0x800) >> 12, method="average"))
