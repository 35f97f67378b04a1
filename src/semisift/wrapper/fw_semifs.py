"""FW-SemiFS: forward search on labelled rows and on unlabelled rows with predicted labels.

J. Ren, Z. Qiu, W. Fan, H. Cheng, P. S. Yu (2008). Forward semi-supervised feature selection. PAKDD,
figure 1, with the paper's names for the parameters in brackets:

    pick n_start [startfn] columns by SFFS on the labelled rows L
    until there are enough [sizeFS]:
        fit the classifier on L with the picks, and predict the unlabelled rows U
        n_samplings [samplingTimes] times:
            draw a share sampling_rate [samplingRate] of U, join it, as predicted, to L,
            and pick n_step [fnstep] columns by SFFS, from none
        add the column that is in most of these groups and not picked yet

Direction: higher is better. Cost: n_samplings * n_step * p trials of the classifier for each column
after the first n_start; naive Bayes, nearest neighbours and decision trees try all columns at
once.

What is a reading: what SFFS measures and how it decides between equals (see `SequentialForward`);
between columns in as many groups, the earlier mean place within them, then the mutual information
with the labels, then chance; where all groups lie within the picks, as the printed loop would then
go on for ever, one step of SFFS from the picks on L and all of U as predicted, so that every round
adds a column and [maxIterations] is not needed; and where the classifier predicts a single class
for the second time in a row, a step of SFFS on L.
"""

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._training_data import TrainingData
from semisift.utils._sklearn_compat import MAX_MEMBERS, Interval, StrOptions, at_least
from semisift.utils._typing import Floats, Ints
from semisift.wrapper._batch_scorers import choose_scorer
from semisift.wrapper._forward import ForwardRanker, Search, SearchState, advance, one_step, predict
from semisift.wrapper._trials import Trials

# Separates the draws of unlabelled rows from the others of the same seed.
DRAW_STREAM = 0x6477


class FWSemiFS(ForwardRanker):
    """Pick columns that a classifier picks most often on labelled and predicted rows together.

    The first columns are those of `SequentialForward`. Then, for each further column, the
    classifier predicts the unlabelled rows from the picks, and columns are picked anew on many
    random samples of these rows together with the labelled ones; the column that comes up most
    often is added.

    Parameters
    ----------
    n_features_to_select : int, float or str, default=None
        How many columns to pick and to select: a number, a share in (0, 1], or a rule: "shadow",
        "stability" or "knockoff" (see `FeatureRanker`). None selects half, of which at most 10, as
        in the paper, are picked one by one; the others follow as the first step judged them.
    estimator : classifier, default=None
        Any scikit-learn classifier; None is naive Bayes, `GaussianNB()`, the first of the paper's.
        See `SequentialForward` for those that are fast.
    {feature_scaling}
    n_start : int, default=5
        Ints that are picked on the labelled rows alone.
    n_step : int, default=6
        Ints that are picked on each sample.
    n_samplings : int, default=10
        Samples that are drawn for each column.
    sampling_rate : float, default=0.5
        Share of the unlabelled rows in each sample.
    sampling : {"random", "confidence"}, default="random"
        Draw unlabelled rows with equal chances, or, as the authors planned, prefer those that the
        classifier is sure about: with chances in proportion to how far the probability of the
        predicted class lies above that of a guess.
    {warm_start}
    {redundancy_threshold}
    {known columns}
    random_state : int or RandomState instance, default=None
        Seed of the samples, of the order of ties, and of random states that the estimator leaves
        open. None is a fixed seed.

    Attributes
    ----------
    {scores_}
    {ranking_}
    {picked_}
    {candidate_scorer_}
    {classes_}

    References
    ----------
    J. Ren, Z. Qiu, W. Fan, H. Cheng, P. S. Yu (2008). Forward semi-supervised feature selection.
    Pacific-Asia Conference on Knowledge Discovery and Data Mining (PAKDD).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import FWSemiFS
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = FWSemiFS(n_features_to_select=3, n_start=2).fit(X, few_labels)
    >>> X.columns[ranker.picked_].tolist()
    ['od280/od315_of_diluted_wines', 'malic_acid', 'ash']
    """

    most_picked = 10

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ForwardRanker._parameter_constraints,
        "n_start": [at_least(1)],
        "n_step": [at_least(1)],
        "n_samplings": [at_least(1, MAX_MEMBERS)],
        "sampling_rate": [Interval(Real, 0, 1, closed="both")],
        "sampling": [StrOptions({"random", "confidence"})],
    }

    n_start: int = 5
    n_step: int = 6
    n_samplings: int = 10
    sampling_rate: float = 0.5
    sampling: Literal["random", "confidence"] = "random"

    def _picks(self, data: TrainingData, found: SearchState) -> Iterator[int]:
        learner = self._learner(data)
        if self.sampling == "confidence" and not hasattr(learner.estimator, "predict_proba"):
            raise ValueError(
                "sampling='confidence' needs an estimator with predict_proba: got "
                f"{learner.estimator!r}."
            )
        labels = data.labels
        labelled = self._labelled_search(data, learner, picks=found.picks)
        first = self._to_pick_first(data).tolist()
        n_start = max(self.n_start, len(first))
        while len(found.picks) < n_start or not len(labels.unlabelled):
            yield advance(labelled, found)
        while True:
            predicted, probability = predict(data, learner, found.picks, labels.labelled)
            if len(found.picks) > n_start and (predicted == predicted[0]).all():
                before, _ = predict(data, learner, found.picks[:-1], labels.labelled)
                if (before == before[0]).all():  # a single class, twice in a row
                    yield one_step(data, labelled.scorer, found.picks, self._feature_of)
                    continue
            codes = labels.codes.copy()
            codes[labels.unlabelled] = predicted
            samples = self._draw(data, probability, len(found.picks))
            scorer = choose_scorer(learner, Trials.build(data, codes, samples))
            search = Search(scorer, data, picks=first, feature_of=self._feature_of)
            for _ in range(min(self.n_step, self._most_steps(data))):
                search.step()
            relevance = labelled.scorer.trials.relevance(0)
            taken = self._taken(found.picks)
            pick = most_frequent(search.picks, taken, relevance, labelled.chance)
            if pick is None:
                trials = Trials.build(data, codes, [np.arange(data.n_rows)])
                scorer = choose_scorer(learner, trials)
                pick = one_step(data, scorer, found.picks, self._feature_of)
            yield pick

    def _most_steps(self, data: TrainingData) -> int:
        """Return how many columns there are to pick besides those that are picked first."""
        usable = ~data.constant
        if self._features is None:
            return int(usable.sum())
        n_all = self._features.n_picks(data.n_features, usable)
        return n_all - len(self._to_pick_first(data))

    def _taken(self, picks: list[int]) -> list[int]:
        """Return the picks with all columns of their features."""
        if (feature_of := self._feature_of) is None:
            return picks
        return np.flatnonzero(np.isin(feature_of, feature_of[picks])).tolist()

    def _draw(self, data: TrainingData, probability: Floats, number: int) -> list[Ints]:
        """Draw samples of the unlabelled rows, and join them to the labelled ones."""
        labels = data.labels
        n_rows = len(labels.unlabelled)
        n_drawn = round(self.sampling_rate * n_rows)
        weights = np.ones(n_rows)
        if self.sampling == "confidence":
            weights = np.maximum(probability - 1 / labels.n_classes, 0.0)
        # all samples are the same where none or all of the rows are drawn
        n_samples = self.n_samplings if 0 < n_drawn < n_rows else 1
        rng = np.random.default_rng([data.seed, DRAW_STREAM, number])
        drawn = [draw_weighted(rng, weights, n_drawn) for _ in range(n_samples)]
        return [np.concatenate([labels.labelled, labels.unlabelled[rows]]) for rows in drawn]


def draw_weighted(rng: np.random.Generator, weights: Floats, size: int) -> Ints:
    """Draw rows without replacement, one after the other, with chances in proportion to weights.

    Parameters
    ----------
    rng : numpy Generator
    weights : float array
        Not negative; rows with 0 are drawn last, with equal chances.
    size : int

    Returns
    -------
    int array of shape (size,)
        Ascending.
    """
    waiting, last = rng.exponential(size=(2, len(weights)))
    time = np.divide(waiting, weights, out=np.full(len(weights), np.inf), where=weights > 0)
    return np.sort(np.lexsort((last, time))[:size])


def most_frequent(
    groups: Ints, picks: Sequence[int], relevance: Floats, chance: Ints
) -> int | None:
    """Return the column that is in most groups and not among the picks.

    Parameters
    ----------
    groups : int array of shape (n_groups, n_columns)
        The columns of each group, in the order in which they were picked.
    picks : sequence of int
    relevance : float array of shape (p,)
        Decides, after the mean place in the groups, between columns in as many groups.
    chance : int array of shape (p,)
        Decides then; the lowest wins.

    Returns
    -------
    int or None
        None where all groups lie within the picks.

    Examples
    --------
    >>> import numpy as np
    >>> groups = np.array([[1, 2, 3], [1, 2, 4], [2, 4, 5]])
    >>> most_frequent(groups, [2], np.zeros(6), np.arange(6))
    1
    """
    counts = np.bincount(groups.ravel(), minlength=len(relevance))
    places = np.broadcast_to(np.arange(groups.shape[1]), groups.shape)
    mean_place = np.bincount(groups.ravel(), places.ravel(), len(relevance)) / np.maximum(counts, 1)
    counts[list(picks)] = 0
    order = np.lexsort((chance, -relevance, mean_place, -counts))
    return int(order[0]) if counts[order[0]] else None
