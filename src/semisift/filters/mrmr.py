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
with the best Fisher score is picked. Where there are gaps, information is over the rows that have
the value, or the values of both columns.
"""

from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._pairs import class_moments
from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.utils._columns import some_rows
from semisift.utils._information import bin_columns, mutual_information
from semisift.utils._redundancy import DECIMALS, PICK_STREAM, scores_of_picks
from semisift.utils._sklearn_compat import StrOptions
from semisift.utils._typing import Floats, Ints

NO_REDUNDANCY = 1e-12


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

    def _score(self, problem: TrainingData) -> Floats:
        labelled = problem.labels.labelled
        binned = bin_columns(_rows(problem, labelled), has_gaps=problem.has_gaps)
        relevance = np.round(mutual_information(binned, problem.labels.codes[labelled]), DECIMALS)
        self.relevance_ = relevance
        if self.redundancy_on == "all" and len(labelled) < problem.n_rows:
            binned = bin_columns(problem.X, has_gaps=problem.has_gaps)
        n_picks = self._count_to_pick(problem)
        chance = np.random.default_rng([problem.seed, PICK_STREAM]).permutation(problem.n_features)
        self._shares = _fisher_shares(problem)  # the ranking asks for them again
        order = np.lexsort((chance, -self._shares))
        redundancy = np.zeros(problem.n_features)
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
            candidates=~problem.constant,
            tie_order=np.argsort(order),
            first=self._picked_first,
            feature_of=self._feature_of,
        )

    def _comparable_scores(self) -> Floats:
        return self.relevance_

    def _tie_key(self, problem: TrainingData) -> Floats:
        known: Floats | None = self.__dict__.pop("_shares", None)
        return _fisher_shares(problem) if known is None else known


def _rows(problem: TrainingData, labelled: Ints) -> Any:
    if len(labelled) == problem.n_rows:
        return problem.X
    return problem.X[labelled] if problem.is_sparse else some_rows(problem.X, labelled)


def _fisher_shares(problem: TrainingData) -> Floats:
    """Return F / (1 + F), which orders columns as their Fisher score F does and is finite."""
    moments = class_moments(problem)
    total = moments.between + moments.within.sum(axis=0)
    share = np.divide(moments.between, total, out=np.zeros(len(total)), where=total > 0)
    return np.round(share, DECIMALS)


def criterion(relevance: Floats, redundancy: Floats, quotient: bool) -> Floats:
    """Return MID or MIQ of all columns, given their mean redundancy with the picks."""
    if not quotient:
        return relevance - redundancy
    none = redundancy < 10.0**-DECIMALS
    return np.asarray(relevance / np.where(none, NO_REDUNDANCY, redundancy))
