"""The rankers that a consensus asks, and how far each is trusted.

Consensus: the mean place of features with rankers that err in different ways.

    score_j = 1 - sum over rankers m of w_m log(rank_mj) / log(p)          ("product")
    score_j = 1 - sum over rankers m of w_m (rank_mj - 1) / (p - 1)        ("mean")

with weights w that add up to 1; features correlated with better features are put last. The first is
the rank product: a feature that one ranker puts at place 2 and another at 50 is as good as one that
both put at place 10, so that the places at the top decide. The second is Borda's count.

R. Breitling, P. Armengaud, A. Amtmann, P. Herzyk (2004). Rank products: a simple, yet powerful, new
method to detect differentially regulated genes in replicated microarray experiments. FEBS Letters
573. C. Dwork, R. Kumar, M. Naor, D. Sivakumar (2001). Rank aggregation methods for the web. WWW 10.

Which rankers to ask, how far to trust each and when to put correlated features last is our own
choice. Direction: high is good. Cost: that of the rankers.
"""

import inspect
from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone

from semisift.base._data_kind import kind_of_data
from semisift.base._ranker import FeatureRanker, WeightedRanker
from semisift.base._training_data import MAX_SAMPLED, TrainingData
from semisift.ensemble.ssfi import SSFI
from semisift.filters.transductive import TransductiveScore
from semisift.transduction._soft_labels import kappa
from semisift.utils._sklearn_compat import (
    JOBS,
    MAX_MEMBERS,
    Interval,
    StrOptions,
    at_least,
    check_params,
)
from semisift.utils._typing import Floats
from semisift.utils._validation import as_numbers

# Odds are those of a stability no nearer to 0 or 1 than this.
NEAREST = 0.02


def weigh_by_trust(rankers: Sequence[FeatureRanker], data: TrainingData) -> Floats:
    """Return how far each fitted ranker is trusted, in any unit.

    With s the stability of the soft labels of `TransductiveScore`, it counts s / (1 - s), the odds
    that its labels hold. Another ranker that labels rows counts the square root of that, but at
    least 1, times the square of how well its labels agree with the soft ones on the unlabelled
    rows: where these are stable, a ranker that labels the rows otherwise has ranked for something
    else. Rankers that label no rows count 1, and without a `TransductiveScore` all do.

    Parameters
    ----------
    rankers : sequence of FeatureRanker
        Fitted on the training data.
    data : TrainingData

    Returns
    -------
    float array of shape (n_rankers,)
    """
    weights = np.ones(len(rankers))
    soft = next((each for each in rankers if isinstance(each, TransductiveScore)), None)
    if soft is None:
        return weights
    stable = float(np.clip(soft.stability_, NEAREST, 1 - NEAREST))
    odds = stable / (1 - stable)
    rows, classes = data.all_labels.unlabelled, data.labels.classes
    row_weights = (data.full or data).design.weights
    if row_weights is not None:
        rows = rows[row_weights[rows] > 0]
    for place, ranker in enumerate(rankers):
        if ranker is soft:
            weights[place] = odds
        elif ranker.is_transductive:
            own: Any = ranker
            alike = kappa(soft.transduction_[rows], own.transduction_[rows], classes)
            weights[place] = max(1.0, odds) ** 0.5 * max(0.0, alike) ** 2
    return weights


def check_rankers(rankers: Any) -> None:
    """Refuse what is no list of rankers with different names."""
    rule = "rankers must be a list of pairs of a name and a ranker"
    if not len(rankers):
        raise ValueError(f"{rule}: got an empty list.")
    for part in rankers:
        is_named = isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str)
        if not (is_named and isinstance(part[1], FeatureRanker)):
            raise TypeError(f"{rule}: got {part!r}.")
    names = [name for name, _ in rankers]
    if len(set(names)) < len(names):
        raise ValueError(f"{rule}, each with a name of its own: got {names}.")


# What is known of rows, from the first ranker that labels them.
OF_ROWS = {"transduction_", "confidence_", "label_distributions_", "label_trust_", "recovered_"}

# Of measurements: above this correlation one of two columns is a correlated feature.
REDUNDANCY = 0.7


class Consensus(WeightedRanker):
    """Rank features by their mean place with rankers that err in different ways.

    The score of a feature is 1 minus the mean logarithm of its ranks, in units of log(p): 1 is the
    first place with all rankers, 0 the last. A feature without a score ranks last with a ranker.
    The rankers share the rows, the neighbour graph and the pairs that follow from the labels, and
    the members of their committees draw the same features.

    By default the rankers are `TransductiveScore`, which labels all rows and tests them, and
    `SSFI`, which asks many small trees. How much each counts depends on the data: the first the
    more, the less its labels change when some of those given are left out; the second the more, the
    better its labels agree with these. So where the unlabelled rows show the classes, they decide,
    and where they do not, the two are averaged. The rankers and the rule were chosen on half of the
    data sets of benchmarks/consensus.py, which shows them on the other half.

    Correlated features among measurements are put last: features with an absolute correlation above
    0.7 with a better one. Counts, as of words or of molecules in a cell (no negative value, and at
    least half of the values zero), are left as they are.

    Parameters
    ----------
    {n_features_to_select}
    rankers : list of (str, FeatureRanker), default=None
        The rankers to ask, with their names. None takes the default ones. They are cloned; seed,
        selection, the rule on correlated features and what is known of columns are those of the
        consensus.
    ranker_weights : array-like of shape (n_rankers,), default=None
        How much each ranker counts. None decides by the data: see
        `semisift.ensemble.consensus.weigh_by_trust`. Rankers without a `TransductiveScore` among
        them then count alike.
    aggregation : {"product", "mean"}, default="product"
        Average the logarithms of the ranks, or the ranks.
    n_members : int or "auto", default="auto"
        Size of the committees among the default rankers; "auto" is that of their papers.
    max_unlabelled : int or None, default=2000
        Rankers that label no rows work on so many unlabelled rows, drawn at random, where there are
        more. Those that do have a number of their own, and label all rows in a last pass.
        Correlated features are looked for on at most 20,000 unlabelled rows.
    n_jobs : int, default=None
        Threads of the default rankers; the scores do not depend on it.
    redundancy_threshold : float, "auto" or None, default="auto"
        Rank columns whose absolute correlation with a better one exceeds it behind all others;
        "auto" is 0.7 for measurements and None for counts, where correlated features are rare.
    {known columns}
    {random_state (draws, ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Between 0 and 1, higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    {score_ranking_}
    rankers_ : list of (str, FeatureRanker)
        The fitted rankers.
    weights_ : ndarray of shape (n_rankers,)
        How much each counted; they add up to 1.
    part_rankings_ : ndarray of shape (n_rankers, n_features_in_)
        Rank of each column by each ranker, 1 is best; equal scores share their mean rank.
    data_kind_ : {"measurements", "counts"}
        What the columns were taken for.
    representative_ : ndarray of shape (n_features_in_,)
        For each column, the column that represents it. With a redundancy threshold only.
    {representative_correlation_}
    transduction_ : ndarray of shape (n_samples,)
        Label of every row by the first ranker that labels rows, which is `TransductiveScore` by
        default.
    confidence_ : ndarray of shape (n_samples,)
        How sure that label is; 1 for labelled rows.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        How likely each class is for each row, where that ranker tells.
    label_trust_ : float
        How far left-out labels support the confidence, from 0 to 1, where that ranker tells.
    recovered_ : tuple of int
        How many labelled rows that were left out are found again, and how many were left out, where
        that ranker tells.
    novel_rows_ : ndarray
        Rows that fit none of the classes, where they are many, by `TransductiveScore`.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    R. Breitling, P. Armengaud, A. Amtmann, P. Herzyk (2004). Rank products: a simple, yet powerful,
    new method to detect differentially regulated genes in replicated microarray experiments. FEBS
    Letters 573.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import Consensus
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = Consensus(n_features_to_select=3, random_state=0).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['alcohol', 'flavanoids', 'proline']
    >>> [name for name, _ in ranker.rankers_]
    ['transductive', 'ssfi']
    >>> ranker.part_rankings_[:, X.columns.get_loc("flavanoids")].tolist()
    [2.0, 5.0]
    """

    labels_needed = "two_classes"
    is_transductive = True
    allow_nan = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "rankers": [None, list],
        "ranker_weights": [None, "array-like"],
        "aggregation": [StrOptions({"product", "mean"})],
        "n_members": [StrOptions({"auto"}), at_least(1, MAX_MEMBERS)],
        "max_unlabelled": [None, at_least(2)],
        "n_jobs": JOBS,
        "redundancy_threshold": [
            None,
            StrOptions({"auto"}),
            Interval(Real, 0, 1, closed="neither"),
        ],
    }

    rankers: Sequence[tuple[str, FeatureRanker]] | None = None
    ranker_weights: Sequence[float] | None = None
    aggregation: Literal["product", "mean"] = "product"
    n_members: int | Literal["auto"] = "auto"
    max_unlabelled: int | None = 2000
    n_jobs: int | None = None
    redundancy_threshold: Any = "auto"

    @property
    def _most_used(self) -> int | None:
        return MAX_SAMPLED

    def _n_tasks(self, data: TrainingData) -> int | None:
        parts = [ranker._n_tasks(data) for _, ranker in self._new_rankers()]
        return None if None in parts else len(parts) + sum(filter(None, parts))

    def _bytes_needed(self, data: TrainingData) -> int:
        parts = (ranker._bytes_needed(data) for _, ranker in self._new_rankers())
        return super()._bytes_needed(data) + max(parts)

    def _check_complete(self, data: TrainingData) -> None:
        for name, ranker in self._new_rankers():
            if data.has_missing and not ranker.allow_nan:
                ranker._check_complete(data)
            takes_weights = "sample_weight" in inspect.signature(ranker.fit).parameters
            if data.design.weights is not None and not takes_weights:
                raise TypeError(
                    f"sample_weight: the ranker {name!r} ({type(ranker).__name__}) takes none."
                )

    def _score(self, data: TrainingData) -> Floats:
        self.data_kind_ = kind_of_data(data)
        rankers = self._new_rankers()
        given = self._given_weights(len(rankers))
        self.rankers_: list[tuple[str, FeatureRanker]] = []
        for name in OF_ROWS:
            self.__dict__.pop(name, None)  # of an earlier fit
        few = data
        if not all(ranker.is_transductive for _, ranker in rankers):
            few = data.part(data.some_rows(self.max_unlabelled))
        for name, ranker in self._progress(rankers, "ranker"):
            part = data if ranker.is_transductive else few
            with self._watches(ranker):
                ranker._set_ranking(part, ranker._score(part))
            self.rankers_.append((name, ranker))
            if not hasattr(self, "transduction_"):
                self._keep_labels_of(ranker)
        if given is None:
            given = weigh_by_trust([ranker for _, ranker in self.rankers_], data)
        given = given[: len(self.rankers_)]  # a callback may have ended the loop
        self.weights_ = given / given.sum()
        scores = np.array([ranker.scores_ for _, ranker in self.rankers_])
        self.part_rankings_ = rankdata(np.where(np.isnan(scores), np.inf, -scores), axis=1)
        return aggregate(self.part_rankings_, self.weights_, self.aggregation)

    def _find_novel_rows(self, data: TrainingData) -> None:
        self.__dict__.pop("novel_rows_", None)
        for _, ranker in self.rankers_:
            ranker._find_novel_rows(data)
            if hasattr(ranker, "novel_rows_"):
                self.novel_rows_ = ranker.novel_rows_

    def _keep_labels_of(self, ranker: FeatureRanker) -> None:
        for name in OF_ROWS & vars(ranker).keys():
            setattr(self, name, getattr(ranker, name))

    def _new_rankers(self) -> list[tuple[str, FeatureRanker]]:
        if self.rankers is None:
            ssfi = SSFI(n_members=self.n_members, n_jobs=self.n_jobs)
            return [("transductive", TransductiveScore()), ("ssfi", ssfi)]
        check_rankers(self.rankers)
        for _, ranker in self.rankers:
            check_params(ranker)
        return [(name, clone(ranker)) for name, ranker in self.rankers]

    def _given_weights(self, n_rankers: int) -> Floats | None:
        if self.ranker_weights is None:
            return None
        weights = as_numbers(self.ranker_weights)
        if weights.shape != (n_rankers,) or not (weights >= 0).all() or not weights.sum() > 0:
            raise ValueError(
                f"ranker_weights must hold {n_rankers} numbers, one for each ranker, none of them "
                f"negative and not all 0: got {self.ranker_weights!r}."
            )
        return weights

    def _comparable_scores(self) -> Floats | None:
        """Return the scores of the rankers, of shape (n_rankers, p): ranks say nothing of size."""
        scores = [ranker._comparable_scores() for _, ranker in self.rankers_]
        found = [each for each in scores if each is not None]
        return np.vstack(found) if found else None

    def _labeller(self) -> Any:
        if self.rankers is None:  # no need to build them: the first labels all rows
            return TransductiveScore
        parts = (ranker._labeller() for _, ranker in self.rankers)
        return next((part for part in parts if part is not None), None)

    def _lighter(self, n_features: int) -> "Consensus":
        """Return a copy of a fitted consensus that asks lighter copies of its rankers."""
        rankers = [(name, ranker._lighter(n_features)) for name, ranker in self.rankers_]
        copy: Consensus = clone(self).set_params(rankers=rankers)
        return copy

    def _threshold_of_copies(self, data: TrainingData) -> float | None:
        if not isinstance(self.redundancy_threshold, str):
            return self.redundancy_threshold
        return REDUNDANCY if self.data_kind_ == "measurements" else None


def aggregate(rankings: Floats, weights: Floats, aggregation: str) -> Floats:
    """Put the ranks by several rankers together.

    Parameters
    ----------
    rankings : float array of shape (n_rankers, p)
    weights : float array of shape (n_rankers,)
        They add up to 1.
    aggregation : {"product", "mean"}

    Returns
    -------
    float array of shape (p,)
        1 for the first place with all rankers, 0 for the last.

    Examples
    --------
    >>> rankings = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 4.0, 3.0, 2.0]])
    >>> aggregate(rankings, np.array([0.5, 0.5]), "mean").round(6).tolist()
    [1.0, 0.333333, 0.333333, 0.333333]
    """
    p = rankings.shape[1]
    is_product = aggregation == "product"
    places, last = (np.log(rankings), np.log(p)) if is_product else (rankings - 1.0, p - 1.0)
    mean = (weights[:, None] * places).sum(axis=0)
    return np.asarray(1.0 - mean / (last or 1.0))
