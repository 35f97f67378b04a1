"""EN-SemiFS: forward search on labelled rows and those unlabelled rows that an ensemble agrees on.

Y. Han, K. Park, Y.-K. Lee (2011). Confident wrapper-type semi-supervised feature selection using an
ensemble classifier. International Conference on Artificial Intelligence, Management Science and
Electronic Commerce (AIMSEC).

    pick n_start columns by SFFS on the labelled rows L
    until there are enough:
        fit an ensemble on bootstraps of L with the picks, and let it vote on the unlabelled rows
        C = the rows on which at least a share `min_confidence` of the members agree
        add the column that one step of SFFS from the picks adds on L and C together

Direction: higher is better. Cost: p trials of the classifier for each column, against
n_samplings * n_step * p of FW-SemiFS.

All but the idea is a reading: of the paper no more than the abstract was available. It says that an
ensemble judges how sure the predicted labels are, and that combinations of columns are judged, not
how often single ones are picked. The members are bagged copies of the classifier; C keeps the ratio
of the classes in L, as far as every class that is predicted at all keeps a row.
"""

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from semisift.base._training_data import TrainingData
from semisift.utils._random import Purpose, draw_below
from semisift.utils._sklearn_compat import MAX_MEMBERS, Interval, at_least
from semisift.utils._typing import Ints
from semisift.wrapper._batch_scorers import choose_scorer
from semisift.wrapper._candidate_scorers import WrappedLearner
from semisift.wrapper._forward import ForwardRanker, SearchState, advance, one_step, predict
from semisift.wrapper._trials import Trials

# Separates the order of rows with as many votes from the other draws of the same seed.
ROW_STREAM = 0x726F


class ENSemiFS(ForwardRanker):
    """Pick columns by a classifier on labelled rows and rows that an ensemble is sure about.

    The first columns are those of `SequentialForward`. Then, for each further column, bagged copies
    of the classifier vote on the unlabelled rows, and the rows on which they agree join the
    labelled ones to judge which column to add.

    Parameters
    ----------
    {n_features_to_select (picked)}
        The others follow as the first step judged them.
    estimator : classifier, default=None
        Any scikit-learn classifier; None is naive Bayes, `GaussianNB()`. See `SequentialForward`
        for those that are fast.
    {feature_scaling}
    n_start : int, default=5
        Ints that are picked on the labelled rows alone.
    n_members : int, default=10
        Members of the ensemble, each fitted on a bootstrap of the labelled rows.
    min_confidence : float, default=0.8
        Share of the members that have to agree on a row for it to be used. Above 1, none do.
    min_per_class : int, default=1
        Rows of each predicted class that are used in any case: those with the most votes.
    {warm_start}
    {redundancy_threshold}
    {known columns}
    random_state : int or RandomState instance, default=None
        Seed of the bootstraps, of the order of ties, and of random states that the estimator leaves
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
    Y. Han, K. Park, Y.-K. Lee (2011). Confident wrapper-type semi-supervised feature selection
    using an ensemble classifier. AIMSEC.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import ENSemiFS
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = ENSemiFS(n_features_to_select=3, n_start=2).fit(X, few_labels)
    >>> X.columns[ranker.picked_].tolist()
    ['od280/od315_of_diluted_wines', 'malic_acid', 'hue']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ForwardRanker._parameter_constraints,
        "n_start": [at_least(1)],
        "n_members": [at_least(1, MAX_MEMBERS)],
        "min_confidence": [Interval(Real, 0, None, closed="left")],
        "min_per_class": [at_least(0)],
    }

    n_start: int = 5
    n_members: int = 10
    min_confidence: float = 0.8
    min_per_class: int = 1

    def _picks(self, data: TrainingData, found: SearchState) -> Iterator[int]:
        learner = self._learner(data)
        labels = data.labels
        labelled = self._labelled_search(data, learner, picks=found.picks)
        n_start = max(self.n_start, len(self._to_pick_first(data)))
        while len(found.picks) < n_start or not len(labels.unlabelled):
            yield advance(labelled, found)
        while True:
            votes = self._vote(data, learner, found.picks)
            enough = self.min_confidence * self.n_members
            rng = np.random.default_rng([data.seed, ROW_STREAM, len(found.picks)])
            sure = choose_sure(votes, labels.counts, enough, self.min_per_class, rng)
            codes = labels.codes.copy()
            codes[labels.unlabelled] = votes.argmax(axis=1)
            rows = np.concatenate([labels.labelled, labels.unlabelled[sure]])
            scorer = choose_scorer(learner, Trials.build(data, codes, [rows]))
            yield one_step(data, scorer, found.picks, self._feature_of)

    def _vote(self, data: TrainingData, learner: WrappedLearner, picks: list[int]) -> Ints:
        """Return the votes of the members on the unlabelled rows, by class."""
        labels = data.labels
        votes = np.zeros((len(labels.unlabelled), labels.n_classes), dtype=np.int64)
        draws = np.arange(len(labels.labelled))
        for member in range(self.n_members):
            number = len(picks) * self.n_members + member
            bag = draw_below(data.seed, number, Purpose.LABELLED_BAG, draws, len(draws))
            predicted, _ = predict(data, learner, picks, labels.labelled[bag])
            votes[np.arange(len(votes)), predicted] += 1
        return votes


def choose_sure(
    votes: Ints,
    class_counts: Ints,
    enough: float,
    min_per_class: int,
    rng: np.random.Generator,
) -> Ints:
    """Return rows that an ensemble is sure about, in the ratio of the labelled classes.

    Parameters
    ----------
    votes : int array of shape (n, n_classes)
    class_counts : int array of shape (n_classes,)
        Labelled rows of each class.
    enough : float
        Votes that make a row sure.
    min_per_class : int
        Rows of each predicted class that are chosen in any case.
    rng : numpy Generator
        Orders rows with as many votes.

    Returns
    -------
    int array
        Ascending.

    Examples
    --------
    >>> votes = np.array([[9, 1], [10, 0], [8, 2], [4, 6]])
    >>> choose_sure(votes, np.array([3, 3]), 8, 1, np.random.default_rng(0))
    array([1, 3])
    """
    predicted, most = votes.argmax(axis=1), votes.max(axis=1)
    order = np.lexsort((rng.permutation(len(votes)), -most))
    rows_of = [order[predicted[order] == code] for code in range(len(class_counts))]
    # enough up to rounding: 0.8 * 10 members may be a little more than 8
    n_sure = [
        max(int((most[rows] >= enough - 1e-9).sum()), min(min_per_class, len(rows)))
        for rows in rows_of
    ]
    share = class_counts / class_counts.sum()
    most_in_ratio = min((n / s for n, s in zip(n_sure, share, strict=True) if n), default=0.0)
    chosen = [
        rows[: min(n, max(min_per_class, int(most_in_ratio * s + 1e-9)))]
        for rows, n, s in zip(rows_of, n_sure, share, strict=True)
    ]
    return np.sort(np.concatenate(chosen))
