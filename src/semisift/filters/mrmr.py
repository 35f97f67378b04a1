"""MRMR: columns that tell much about the classes and little about each other.

H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information: criteria of
max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27(8).

With S the columns picked so far, the next one is that with the largest

    MID:  I(f; y) - (1/|S|) sum_{s in S} I(f; s)
    MIQ:  I(f; y) / ((1/|S|) sum_{s in S} I(f; s))

and the first one that with the largest I(f; y). Mutual information is that of binned columns: five
bins of equal width, or the values themselves where there are at most five. Direction: higher is
better, as printed. Cost: O(n p) for each pick.

What is a reading: the bins, of which the paper leaves the choice open; MIQ without any redundancy
is I(f; y) / 1e-12; the redundancy over all rows, which the paper, having no unlabelled rows, does
not consider; and that among equally good columns, of which bins and few labels make many, the one
with the best Fisher score is picked. Where there are missing values, information is over the rows
that have the value, or the values of both columns.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.stats import rankdata

from semisift.base._pairs import class_moments
from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.utils._columns import some_rows
from semisift.utils._information import DECIMALS, bin_columns, mutual_information
from semisift.utils._sklearn_compat import StrOptions
from semisift.utils._typing import Bools, Floats, Ints

NO_REDUNDANCY = 1e-12

# Separates the draw that orders ties among the picks from the one that orders ties of scores.
PICK_STREAM = 0x7069


class MRMR(FeatureRanker):
    """Pick columns one by one for their relevance less their redundancy with those picked before.

    Parameters
    ----------
    {n_features_to_select (picked)}
    criterion : {"MID", "MIQ"}, default="MID"
        Relevance minus redundancy, or divided by it.
    redundancy_on : {"labelled", "all"}, default="labelled"
        The rows over which the redundancy of two columns is measured: the labelled ones, as in the
        paper, or all of them. Each is binned by itself.
    {redundancy_threshold}
    {known columns}
    {random_state (ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        p, p - 1, ... for the picks in their order; the others have the rank of their mutual
        information with the classes, from 1 for the lowest. NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    relevance_ : ndarray of shape (n_features_in_,)
        Mutual information of each column with the classes, in nats.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information: criteria of
    max-dependency, max-relevance, and min-redundancy. IEEE Transactions on Pattern Analysis and
    Machine Intelligence 27(8).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import MRMR
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 10, -1)
    >>> ranker = MRMR(n_features_to_select=3).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['malic_acid', 'hue', 'proline']
    """

    labels_needed = "two_classes"
    scores_are_places = True
    allow_nan = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "criterion": [StrOptions({"MID", "MIQ"})],
        "redundancy_on": [StrOptions({"labelled", "all"})],
    }

    criterion: Literal["MID", "MIQ"] = "MID"
    redundancy_on: Literal["labelled", "all"] = "labelled"

    def _score(self, data: TrainingData) -> Floats:
        labelled = data.labels.labelled
        binned = bin_columns(_rows(data, labelled), has_missing=data.has_missing)
        relevance = np.round(mutual_information(binned, data.labels.codes[labelled]), DECIMALS)
        self.relevance_ = relevance
        if self.redundancy_on == "all" and len(labelled) < data.n_rows:
            binned = bin_columns(data.X, has_missing=data.has_missing)
        n_picks = self._count_to_pick(data)
        chance = np.random.default_rng([data.seed, PICK_STREAM]).permutation(data.n_features)
        self._shares = _fisher_shares(data)  # the ranking asks for them again
        order = np.lexsort((chance, -self._shares))
        redundancy = np.zeros(data.n_features)
        n_added = 0

        def add(chosen: int) -> Floats:
            nonlocal redundancy, n_added
            redundancy += mutual_information(binned, binned.column(chosen))
            n_added += 1
            return criterion(relevance, redundancy / n_added, self.criterion == "MIQ")

        return scores_of_picks(
            relevance,
            add,
            n_picks,
            candidates=~data.constant,
            tie_order=np.argsort(order),
            first=self._picked_first,
            feature_of=self._feature_of,
        )

    def _comparable_scores(self) -> Floats:
        return self.relevance_

    def _tie_key(self, data: TrainingData) -> Floats:
        known: Floats | None = self.__dict__.pop("_shares", None)
        return _fisher_shares(data) if known is None else known


def _rows(data: TrainingData, labelled: Ints) -> Any:
    if len(labelled) == data.n_rows:
        return data.X
    return data.X[labelled] if data.is_sparse else some_rows(data.X, labelled)


def _fisher_shares(data: TrainingData) -> Floats:
    """Return F / (1 + F), which orders columns as their Fisher score F does and is finite."""
    moments = class_moments(data)
    total = moments.between + moments.within.sum(axis=0)
    share = np.divide(moments.between, total, out=np.zeros(len(total)), where=total > 0)
    return np.round(share, DECIMALS)


def criterion(relevance: Floats, redundancy: Floats, quotient: bool) -> Floats:
    """Return MID or MIQ of all columns, given their mean redundancy with the picks."""
    if not quotient:
        return relevance - redundancy
    none = redundancy < 10.0**-DECIMALS
    return np.asarray(relevance / np.where(none, NO_REDUNDANCY, redundancy))


# --- one column after another ---------------------------------------------------------------------


def scores_of_picks(
    relevance: Floats,
    add: Callable[[int], Floats],
    n_picks: int,
    *,
    candidates: Bools,
    tie_order: Ints,
    first: Bools | None = None,
    feature_of: Ints | None = None,
) -> Floats:
    """Pick the most relevant column, and go on with the values that follow from each pick.

    Parameters
    ----------
    relevance : float array of shape (p,)
        Not negative: the values before the first pick, and what ranks the columns not picked.
    add : callable
        Given the column that was picked, returns the values before the next pick; not called after
        the last one.
    n_picks : int
        At most the candidates are picked.
    candidates : bool array of shape (p,)
        Which columns may be picked; the others rank behind them.
    tie_order : int array of shape (p,)
        Of equally good columns the one with the lowest number is picked.
    first : bool array of shape (p,), optional
        The columns that are picked before all others.
    feature_of : int array of shape (p,), optional
        Of the other columns of a feature only one is picked.

    Returns
    -------
    float array of shape (p,)
        As of `places`.
    """
    picks: list[int] = []
    left, value = candidates.copy(), relevance
    first = np.zeros(len(left), dtype=bool) if first is None else first
    while len(picks) < n_picks and left.any():
        if picks:
            value = add(picks[-1])
        now = left & first if (left & first).any() else left
        best = value[now].max()
        tied = np.flatnonzero(now & (value >= best - 10.0**-DECIMALS * max(1.0, abs(best))))
        chosen = int(tied[np.argmin(tie_order[tied])])
        picks.append(chosen)
        left[chosen] = False
        if feature_of is not None and not first[chosen]:
            left[feature_of == feature_of[chosen]] = False
    return places(picks, np.where(candidates, relevance, -1.0))


def places(picks: list[int], criterion: Floats) -> Floats:
    """Return p, p - 1, ... for the picks, and for the others the rank of a criterion.

    Parameters
    ----------
    picks : list of int
    criterion : float array of shape (p,)
        Higher is better; NaN stays NaN.

    Returns
    -------
    float array of shape (p,)

    Examples
    --------
    >>> places([3], np.array([0.3, 0.1, 0.2, 0.3]))
    array([3., 1., 2., 4.])
    """
    scores = np.empty(len(criterion))
    rest = np.ones(len(criterion), dtype=bool)
    rest[picks] = False
    scores[rest] = rankdata(criterion[rest], nan_policy="omit")
    scores[picks] = len(criterion) - np.arange(len(picks))
    return scores
