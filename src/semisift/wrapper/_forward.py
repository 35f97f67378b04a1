"""Forward search: add the best column, again and again; and what the wrappers share around it."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.stats import rankdata

from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.committee._estimators import Member
from semisift.exceptions import FallbackWarning
from semisift.parallel import one_blas_thread, one_openmp_thread
from semisift.utils._columns import column_factors, dense_columns
from semisift.utils._sklearn_compat import HasMethods, StrOptions
from semisift.utils._typing import Bools, Floats, Ints
from semisift.utils._warnings import warn
from semisift.wrapper._batch_scorers import choose_scorer
from semisift.wrapper._candidate_scorers import CandidateScorer, WrappedLearner
from semisift.wrapper._trials import CandidateScores, Trials, divide_columns

# Accuracies and confidences that differ by less are equal: rounding is no reason to prefer one.
SAME_ACCURACY = 1e-9
SAME_CONFIDENCE = 1e-8

# Separates the draw that orders ties among the picks from the one that orders ties of scores.
PICK_STREAM = 0x7069


class Search:
    """Forward searches side by side, one for each sample of the scorer's trials.

    Parameters
    ----------
    scorer : CandidateScorer
    data : TrainingData
        Its constant columns are not picked; its seed decides between columns that are equal in all
        else.
    tie_break : {"default", "index"}
        Between columns of equal accuracy: the confidence, the mutual information with the classes
        and chance; or the first column.
    picks : sequence of int
        What every sample starts from.
    first : bool array of shape (p,), optional
        The columns that are picked before all others.
    feature_of : int array of shape (p,), optional
        Of the other columns of a feature only one is picked.
    """

    def __init__(
        self,
        scorer: CandidateScorer,
        data: TrainingData,
        tie_break: Literal["default", "index"] = "default",
        picks: Sequence[int] = (),
        first: Bools | None = None,
        feature_of: Ints | None = None,
    ) -> None:
        self.scorer = scorer
        self.columns = np.flatnonzero(~data.constant)
        self.first = None if first is None else first[self.columns]
        self.feature_of = feature_of
        self.tie_break = tie_break
        n_samples = len(scorer.trials.samples)
        self.picks: Ints = np.tile(np.array(picks, dtype=np.int64), (n_samples, 1))
        rng = np.random.default_rng([data.seed, PICK_STREAM])
        self.chance = rng.permutation(data.n_features)

    def step(self) -> CandidateScores:
        """Pick one more column for each sample; return how all columns were judged."""
        sure = self.picks.shape[1] == 0 or (
            self.tie_break == "default" and self.scorer.sure_at_once
        )
        verdict = self.scorer.score(self.picks, self.columns, sure)
        accuracy = verdict.accuracy.copy()
        for own, picks in zip(accuracy, self.picks, strict=True):
            own[~self._left(picks)] = -np.inf
        if self.tie_break == "index":
            chosen = accuracy.argmax(axis=1)
        else:
            chosen = self._break_ties(accuracy, verdict.confidence)
        self.picks = np.column_stack([self.picks, self.columns[chosen]])
        return verdict

    def _left(self, picks: Ints) -> Bools:
        """Return which columns can be picked next after some others."""
        left = np.ones(len(self.columns), dtype=bool)
        left[np.searchsorted(self.columns, picks)] = False
        if self.first is not None and (left & self.first).any():
            return left & self.first
        if self.feature_of is not None:
            left &= ~np.isin(self.feature_of[self.columns], self.feature_of[picks])
        return left

    def _break_ties(self, accuracy: Floats, confidence: Floats | None) -> Ints:
        tied = accuracy >= accuracy.max(axis=1, keepdims=True) - SAME_ACCURACY
        if confidence is None:
            confidence = np.zeros(accuracy.shape)
            places = np.flatnonzero(tied[tied.sum(axis=1) > 1].any(axis=0))
            if len(places):
                again = self.scorer.score(self.picks, self.columns[places], sure=True)
                confidence[:, places] = again.confidence
        chosen = []
        for sample, own in enumerate(tied):
            left = np.flatnonzero(own)
            best = _best(left, confidence[sample, left], SAME_CONFIDENCE)
            if len(best) > 1:
                relevance = self.scorer.trials.relevance(sample)[self.columns[best]]
                best = _best(best, relevance, 0.0)
            chosen.append(best[self.chance[self.columns[best]].argmin()])
        return np.array(chosen)


def _best(places: Ints, values: Floats, same: float) -> Ints:
    return places[values >= values.max() - same]


@dataclass
class SearchState:
    """What a search has found so far, enough to go on from.

    Attributes
    ----------
    fingerprint : str
        Of the data.
    picks : list of int
        The columns picked, in order.
    accuracies : list of float
        With each pick of a search on the labelled rows.
    first : float array of shape (p,)
        Orders all columns as the first step judged them, the best highest; -1 for those that were
        no candidates.
    """

    fingerprint: str
    picks: list[int] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    first: Floats | None = None

    def scores(self, n_features: int) -> Floats:
        """Return p, p - 1, ... for the picks, and ranks by the first step for the others."""
        rest = np.ones(n_features, dtype=bool)
        rest[self.picks] = False
        scores = np.zeros(n_features)
        if self.first is not None:
            scores[rest] = rankdata(self.first[rest])
        scores[self.picks] = n_features - np.arange(len(self.picks))
        return scores


class ForwardRanker(FeatureRanker):
    """Base class of the rankers that pick columns one by one around a classifier.

    Subclasses implement ``_picks(problem, found)``. If a fit is interrupted, what it has found so
    far is ranked as if no more had been asked for.

    Parameters
    ----------
    estimator : classifier, default=None
        The classifier.
    feature_scaling : {None, "minmax"}, default=None
        "minmax" divides each column by its range over all rows before the classifier sees it, which
        matters to nearest neighbours.
    warm_start : bool, default=False
        Go on from the picks of the last fit, interrupted or not, with the same X, y and
        random_state; other parameters should not have changed either.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        p, p - 1, ... for the picks in their order; the others are ranked as the first step judged
        them, from 1 for the worst. NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    picked_ : ndarray of shape (n_picks,)
        The columns picked, in order. If `fit` is interrupted, those picked until then; the scores
        and the ranking are then theirs.
    candidate_scorer_ : str
        How columns are tried: "estimator", which is fitted for each column and fold, or the form of
        it that is computed for all columns at once: "naive Bayes", "neighbours", "NNge" or "tree".
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.
    """

    labels_needed = "two_classes"
    scores_are_places = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "estimator": [None, HasMethods(["fit", "predict"])],
        "feature_scaling": [None, StrOptions({"minmax"})],
        "warm_start": ["boolean"],
    }

    estimator: Any = None
    feature_scaling: Literal["minmax"] | None = None
    warm_start: bool = False

    @abstractmethod
    def _picks(self, data: TrainingData, found: SearchState) -> Iterator[int]:
        """Yield the next column again and again; each is in ``found.picks`` before the next."""

    def _score(self, data: TrainingData) -> Floats:
        found = self._begin(data)
        n_picks = self._n_picks(data)
        del found.picks[n_picks:], found.accuracies[n_picks:]
        self._found = found
        seen = data  # by the classifier
        if self.feature_scaling == "minmax":
            # columns are not shifted, which would fill sparse ones
            span = np.where(data.constant, 1.0, data.spans)
            seen = replace(data, X=divide_columns(data.X, span))
        picks = self._picks(seen, found)
        try:
            for _ in self._progress(range(n_picks - len(found.picks)), "pick"):
                pick = next(picks, None)
                if pick is not None:
                    found.picks.append(pick)
        except KeyboardInterrupt:
            if found.picks:
                self._set_found(found)
                self._set_ranking(data, found.scores(data.n_features))
            raise
        self._set_found(found)
        return found.scores(data.n_features)

    def _set_found(self, found: SearchState) -> None:
        """Set the attributes that tell what was found."""
        self.picked_ = np.array(found.picks, dtype=np.int64)

    def _n_picks(self, data: TrainingData) -> int:
        return min(self._count_to_pick(data), int((~data.constant).sum()))

    def _to_pick_first(self, data: TrainingData) -> Ints:
        """Return the columns that are picked before all others."""
        first = self._picked_first
        return np.flatnonzero(False if first is None else first & ~data.constant)

    def _n_tasks(self, data: TrainingData) -> int:
        n_found = len(self._found.picks) if self.warm_start and hasattr(self, "_found") else 0
        return max(0, self._n_picks(data) - n_found)

    def _begin(self, data: TrainingData) -> SearchState:
        """Return what an earlier fit found, where that is asked for, else that nothing is."""
        fingerprint = data.fingerprint
        earlier = getattr(self, "_found", None)
        if not self.warm_start or earlier is None:
            return SearchState(fingerprint)
        if earlier.fingerprint != fingerprint:
            raise ValueError(
                "warm_start=True goes on from the picks of the last fit, so X, y and random_state "
                "must be those of that fit; they are not. Set warm_start=False to start afresh."
            )
        return earlier

    def _learner(self, data: TrainingData) -> WrappedLearner:
        return WrappedLearner(self.estimator, data.n_features, data.seed)

    def _labelled_search(
        self, data: TrainingData, learner: WrappedLearner, cv: Any = None, **options: Any
    ) -> Search:
        """Return a search on the labelled rows."""
        labels = data.labels
        trials = Trials.build(data, labels.codes, [labels.labelled], cv)
        if not trials.splits:
            warn(
                "y has a single labelled row of each class, so that none can be held out to judge "
                f"columns by: {type(self).__name__} picks those that tell most about the classes "
                "by themselves.",
                FallbackWarning,
            )
        scorer = choose_scorer(learner, trials)
        self.candidate_scorer_ = scorer.name
        options |= {"first": self._picked_first, "feature_of": self._feature_of}
        return Search(scorer, data, **options)


def advance(search: Search, found: SearchState) -> int:
    """Pick one more column by a search on the labelled rows, and note how it was judged."""
    verdict = search.step()
    pick = int(search.picks[0, -1])
    if found.first is None:
        assert verdict.confidence is not None
        relevance = search.scorer.trials.relevance(0)[search.columns]
        confidence = np.round(verdict.confidence[0], 8)
        keys = np.column_stack([np.round(verdict.accuracy[0], 9), confidence, relevance])
        found.first = np.full(len(search.chance), -1.0)
        found.first[search.columns] = np.unique(keys, axis=0, return_inverse=True)[1]
    found.accuracies.append(float(verdict.accuracy[0, np.searchsorted(search.columns, pick)]))
    return pick


def predict(
    data: TrainingData, learner: WrappedLearner, picks: list[int], train: Ints
) -> tuple[Ints, Floats]:
    """Fit on labelled rows in the columns picked, and predict the unlabelled rows.

    Parameters
    ----------
    data : TrainingData
    learner : WrappedLearner
    picks : list of int
    train : int array
        Labelled rows, which may be repeated.

    Returns
    -------
    predicted : int array of shape (n_unlabelled,)
        Codes of classes.
    probability : float array of shape (n_unlabelled,)
        That of the predicted class; 1 for a classifier without probabilities.
    """
    labels, columns = data.labels, np.array(picks)
    X = dense_columns(data.X, columns)
    X /= column_factors(data.X, None, data.spans)[1]
    with np.errstate(all="ignore"), one_blas_thread(), one_openmp_thread():
        fitted = learner.fit(X[train], labels.codes[train].astype(np.int64), columns)
        return Member(0, columns, fitted, labels.n_classes).predict_with_confidence(
            X[labels.unlabelled]
        )


def one_step(
    data: TrainingData, scorer: CandidateScorer, picks: list[int], feature_of: Ints | None = None
) -> int:
    """Return the column that a forward search from the picks would add; see `Search`."""
    search = Search(scorer, data, picks=picks, feature_of=feature_of)
    search.step()
    return int(search.picks[0, -1])
