"""CoForest: random trees that label rows for one another.

M. Li, Z.-H. Zhou (2007). Improve computer-aided diagnosis with machine learning techniques using
undiagnosed samples. IEEE Transactions on Systems, Man, and Cybernetics A 37(6).
"""

from collections.abc import Iterator
from itertools import count
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.semi_supervised._base import Array, Stop
from semisift.semi_supervised._team import (
    MAX_FEATURES,
    CommitteeClassifier,
    Opinion,
    Team,
    decide,
    pad_rows,
)
from semisift.utils._random import Purpose, stream_words
from semisift.utils._sklearn_compat import MAX_MEMBERS, Interval, at_least

# e' at the start, and what counts as the error where no labelled row tells: no better than chance
CHANCE = 0.5
# s' at the start: this share of the unlabelled rows, and at most so many
FIRST_SHARE, FIRST_MOST = 0.1, 100


class CoForest(CommitteeClassifier):
    """A random forest whose trees are handed the rows that the other trees are sure about.

    Each tree i starts on a bootstrap of the labelled rows L. In each round the concomitant
    committee H_i, all trees but i, is judged on the labelled rows: those about which it is more
    sure than `min_confidence`, each judged by the trees that do not have it in their bootstrap::

        e_i = share of these rows that H_i gets wrong (0.5 where there is none)

    If e_i is below its last value e'_i, at most ``ceil(e'_i s'_i / e_i - 1)`` unlabelled rows are
    drawn, and of these the ones that H_i is more sure about than `min_confidence` are kept, with
    its label and its confidence as weight. With W_i the sum of these weights, tree i is grown again
    on L and the kept rows if they are more than s'_i and ``e_i W_i < e'_i s'_i``; then e'_i is e_i
    and s'_i is W_i. The first e'_i is 0.5, the first s'_i a tenth of the unlabelled rows and at
    most 100. The rounds end when no tree changes.

    The votes of each tree are kept beside their sum, so H_i costs a subtraction. A round costs the
    trees that are grown and one comparison for each tree, row and class.

    What is a reading: the loop follows the program of the authors, in which the bootstraps of the
    start decide for all rounds which labelled rows a tree judges, although a tree that was grown
    again has seen all of them; unlike it, the first of the drawn rows has to pass the threshold
    too. Weights are rounded to 1/256. The authors' program has 10 trees; 100 are cheap here and
    more accurate (.838 against .778, six labels a class, mean over the six sets of
    benchmarks/cotraining.py). Between equally good splits the widest gap in standard deviations
    decides, as in SSFI. With three labels a class the labelled rows are rarely judged with
    confidence: then e_i stays 0.5 and the forest remains that of the labelled rows. On those six
    sets that forest has .836, so little of the accuracy comes from the unlabelled rows.

    Parameters
    ----------
    n_members : int, default=100
        Number of trees, at least 2.
    min_confidence : float, default=0.75
        A row is sure where the winning class has more than this share of the votes.
    {max_features (node)}
    {max_depth}
    estimator : classifier, default=None
        Any scikit-learn classifier instead of the compiled trees; far slower. It gets all features,
        and the weights if its `fit` takes `sample_weight`.
    {voting}
    max_iter : int, default=100
        Most rounds.
    {n_jobs}
    {random_state (draws)}

    Attributes
    ----------
    {classes_}
    transduction_ : ndarray of shape (n_samples,)
        Label of every row: its own, or the one under which most trees have it in their training
        rows; -1 (None where the classes are no numbers) where no tree has it.
    labeled_iter_ : ndarray of shape (n_samples,)
        The round in which a tree was first handed the row: 0 for labelled rows, -1 for never.
    errors_ : ndarray of shape (n_members,)
        The last e'_i.
    n_iter_ : int
        Rounds, the last of which may have changed nothing.
    termination_condition_ : {"max_iter", "no_change"}
        Why the rounds ended.
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    M. Li, Z.-H. Zhou (2007). Improve computer-aided diagnosis with machine learning techniques
    using undiagnosed samples. IEEE Transactions on Systems, Man, and Cybernetics A 37(6).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import CoForest
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> model = CoForest(random_state=0).fit(X, few_labels)
    >>> round(model.score(X, y), 2)
    0.94
    """

    is_forest = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CommitteeClassifier._parameter_constraints,
        "n_members": [at_least(2, MAX_MEMBERS)],
        "min_confidence": [Interval(Real, 0, 1, closed="both")],
        "max_features": MAX_FEATURES,
    }

    n_members: int = 100
    min_confidence: float = 0.75
    max_features: int | float | Literal["sqrt"] = "sqrt"
    max_iter: int = 100

    def _rounds(self, team: Team) -> Iterator[Stop]:
        n_unlabelled = len(team.labels.unlabelled)
        self.errors_ = np.full(self.n_members, CHANCE)
        size = np.full(self.n_members, min(FIRST_SHARE * n_unlabelled, FIRST_MOST))
        for n_round in count(1):
            error, previous = measure_errors(team, self.min_confidence), self.errors_
            most = count_draws(error, previous, size, n_unlabelled) * (error < previous)
            kept, labels, weights = keep_sure(team, most, self.min_confidence, n_round)
            weight = np.where(kept >= 0, weights, 0).sum(axis=1)
            is_more = (kept >= 0).sum(axis=1) > size
            chosen = is_more & (error * weight < previous * size)
            if not chosen.any():
                return
            team.train(team.bags.with_pseudo_labels(chosen, kept, labels, weights), chosen, n_round)
            self.errors_ = np.where(chosen, error, previous)
            size = np.where(chosen, weight, size)
            yield "max_iter"


def measure_errors(team: Team, min_confidence: float) -> Array:
    """Return e_i, the error on sure labelled rows of the committee without each member.

    Parameters
    ----------
    team : Team
    min_confidence : float

    Returns
    -------
    array of shape (n_members,)
    """
    labelled = team.labels.labelled
    votes = team.own[:, labelled] * team.out_of_bag[:, :, None].astype(np.int64)
    opinion = decide(votes.sum(axis=0) - votes)
    sure = opinion.confidence > min_confidence
    wrong = sure & (opinion.label != team.labels.codes[labelled])
    n_sure = sure.sum(axis=1)
    return np.where(n_sure > 0, wrong.sum(axis=1) / np.maximum(n_sure, 1), CHANCE)


def count_draws(error: Array, previous: Array, size: Array, n_unlabelled: int) -> NDArray[np.int64]:
    """Return how many unlabelled rows each member may draw: ``ceil(e' s' / e - 1)``.

    Parameters
    ----------
    error, previous, size : arrays of shape (n_members,)
        e, e' and s'.
    n_unlabelled : int
        What it comes to where e is 0.

    Returns
    -------
    int array of shape (n_members,)

    Examples
    --------
    >>> import numpy as np
    >>> count_draws(np.array([0.2, 0.0]), np.array([0.5, 0.5]), np.array([10.0, 10.0]), 100)
    array([ 24, 100])
    """
    most = np.full(len(error), float(n_unlabelled))
    np.divide(previous * size, error, out=most, where=error > 0)
    # the tiny amount keeps 0.3 * 10 / 0.1 from being a little more than 30
    most = np.where(error > 0, np.ceil(most - 1 - 1e-9), most)
    return np.clip(most, 0, n_unlabelled).astype(np.int64)


def keep_sure(
    team: Team, most: NDArray[np.int64], min_confidence: float, n_round: int
) -> tuple[NDArray[Any], ...]:
    """Draw unlabelled rows for each member and keep those that the others are sure about.

    Parameters
    ----------
    team : Team
    most : int array of shape (n_members,)
        How many rows to draw.
    min_confidence : float
    n_round : int
        Each round has draws of its own.

    Returns
    -------
    rows, labels, weights : arrays of shape (n_members, n_slots)
        The rows kept (-1: none) with the label of the others and their confidence.
    """
    unlabelled = team.labels.unlabelled
    shape = len(team), len(unlabelled)
    opinion = Opinion(np.zeros(shape, dtype=np.int32), np.zeros(shape))
    kept = np.zeros(shape, dtype=bool)
    for members, (label, confidence) in team.companions(np.flatnonzero(most)):
        numbers = (n_round * len(team) + members)[:, None]
        words = stream_words(team.data.seed, numbers, Purpose.TIES, unlabelled)
        place = np.argsort(np.argsort(words, axis=1), axis=1)
        opinion.label[members], opinion.confidence[members] = label, confidence
        kept[members] = (place < most[members, None]) & (confidence > min_confidence)
    return pad_rows(kept, unlabelled, *opinion)
