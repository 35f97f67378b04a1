"""SemiSupervisedForest: a random forest that anneals the labels of its unlabelled rows.

C. Leistner, A. Saffari, J. Santner, H. Bischof (2009). Semi-supervised random forests. IEEE
International Conference on Computer Vision.
"""

from collections.abc import Iterator
from itertools import count
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from semisift.committee._bootstrap import Int32s
from semisift.committee._votes import decide
from semisift.semi_supervised._base import Stop
from semisift.semi_supervised._team import MAX_FEATURES, CommitteeClassifier, Team
from semisift.utils._random import Purpose, stream_words, unit_interval
from semisift.utils._sklearn_compat import MAX_MEMBERS, Interval, at_least
from semisift.utils._typing import Floats, Ints

# Nothing is divided by 0 where it is cold.
COLDEST = float(np.finfo(np.float64).tiny)


class SemiSupervisedForest(CommitteeClassifier):
    """A random forest whose trees learn from labels drawn for the unlabelled rows, ever less so.

    It starts as a random forest on the labelled rows. In each round the votes v_k of the trees on
    an unlabelled row become probabilities::

        g_k = v_k - max over j != k of v_j                         (margin)
        p(k) proportional to exp(-alpha * max(0, 1 - g_k) / T)     (hinge loss)

    with a temperature T that falls by `cooling` from round to round: labels are nearly random at
    high T, and those of the vote at low T. For each tree a label is drawn from p for each
    unlabelled row, and the tree is grown again on its bootstrap of the labelled rows and all
    unlabelled ones. If in the end the out-of-bag error on the labelled rows is higher than that of
    the first forest, the first forest is what is returned (the airbag).

    Each round grows all trees on all rows, so this is the slowest of the committees: as a random
    forest with `max_iter` times as many trees and all rows labelled.

    What is a reading: the paper was not available, so this follows descriptions of it. The
    bootstraps of the labelled rows stay those of the start, so that out-of-bag errors compare;
    unlabelled rows are not bootstrapped; the temperatures are ours. From .005, .01, .02 and .1 the
    third was taken, by accuracies of .830, .833, .838 and .815 on the six sets of part "settings"
    of benchmarks/cotraining.py. The first forest alone has .836 there, so no gain is shown.
    With few labels the out-of-bag error is a coarse measure.

    Parameters
    ----------
    n_members : int, default=100
        Number of trees.
    alpha : float, default=0.1
        Weight of the loss on unlabelled rows.
    temperature : float, default=0.02
        T in the first round.
    cooling : float, default=1.1
        T is divided by it after each round.
    max_iter : int, default=20
        Rounds.
    airbag : bool, default=True
        Return the first forest where its out-of-bag error is the lower one.
    {max_features (node)}
    {max_depth}
    estimator : classifier, default=None
        Any scikit-learn classifier instead of the compiled trees; far slower. It gets all features.
    {voting}
    {n_jobs}
    {random_state (draws)}

    Attributes
    ----------
    {classes_}
    transduction_ : ndarray of shape (n_samples,)
        Label of every row: its own, or the one that most trees drew for it in the last round; -1
        (None where the classes are no numbers) where the airbag has brought back the first forest.
    labeled_iter_ : ndarray of shape (n_samples,)
        The round in which a tree was first given the row: 0 for labelled rows, -1 for never.
    oob_errors_ : ndarray of shape (2,)
        Out-of-bag error on the labelled rows, of the first forest and of the last; NaN where each
        row is in all bootstraps.
    airbag_used_ : bool
        Whether the first forest was brought back.
    n_iter_ : int
        Rounds.
    termination_condition_ : {"max_iter", "all_labeled"}
        Why the rounds ended; "all_labeled": there was no unlabelled row.
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    C. Leistner, A. Saffari, J. Santner, H. Bischof (2009). Semi-supervised random forests. IEEE
    International Conference on Computer Vision.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import SemiSupervisedForest
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> model = SemiSupervisedForest(random_state=0).fit(X, few_labels)
    >>> round(model.score(X, y), 2)
    0.9
    """

    is_forest = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CommitteeClassifier._parameter_constraints,
        "n_members": [at_least(1, MAX_MEMBERS)],
        "alpha": [Interval(Real, 0, 1e100, closed="both")],  # products stay in range
        "temperature": [Interval(Real, 0, None, closed="neither")],
        "cooling": [Interval(Real, 1, None, closed="left")],
        "airbag": ["boolean"],
        "max_features": MAX_FEATURES,
    }

    n_members: int = 100
    alpha: float = 0.1
    temperature: float = 0.02
    cooling: float = 1.1
    max_iter: int = 20
    airbag: bool = True
    max_features: int | float | Literal["sqrt"] = "sqrt"

    def _rounds(self, team: Team) -> Iterator[Stop]:
        unlabelled = team.labels.unlabelled
        everyone = np.ones(self.n_members, dtype=bool)
        rows = np.tile(unlabelled, (self.n_members, 1))
        temperature = self.temperature
        self.oob_errors_ = np.full(2, oob_error(team))
        if not len(unlabelled):
            yield "all_labeled"
        for n_round in count(1):
            shares = label_shares(team.total[unlabelled], self.alpha, temperature)
            drawn = draw_labels(shares, unlabelled, team.data.seed, n_round, self.n_members)
            team.train(team.first_bags._replace(rows=rows, labels=drawn), everyone, n_round)
            temperature = max(temperature / self.cooling, COLDEST)
            yield "max_iter"

    def _keep(self, team: Team) -> None:
        self.oob_errors_[1] = oob_error(team)
        self.airbag_used_ = bool(self.airbag and self.oob_errors_[1] > self.oob_errors_[0])
        if self.airbag_used_:
            team.members, team.bags = team.first_members, team.first_bags
        super()._keep(team)


def label_shares(votes: Ints, alpha: float, temperature: float) -> Floats:
    """Return the probability of each label for each row.

    Parameters
    ----------
    votes : array of shape (n_rows, n_classes)
    alpha, temperature : float

    Returns
    -------
    array of shape (n_rows, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> label_shares(np.array([[7, 3]]), alpha=0.1, temperature=0.2).round(6)
    array([[0.598688, 0.401312]])
    """
    shares = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)
    ordered = np.sort(shares, axis=1)
    is_best = np.arange(shares.shape[1]) == shares.argmax(axis=1)[:, None]
    rival = np.where(is_best, ordered[:, [-2]], ordered[:, [-1]])
    loss = alpha * np.maximum(0.0, 1 - (shares - rival))
    with np.errstate(over="ignore", under="ignore"):
        weight = np.exp(-(loss - loss.min(axis=1, keepdims=True)) / temperature)
    return weight / weight.sum(axis=1, keepdims=True)


def draw_labels(shares: Floats, rows: Int32s, seed: int, n_round: int, n_members: int) -> Int32s:
    """Draw a label of each row for each member from its own stream: (n_members, n_rows)."""
    numbers = n_round * n_members + np.arange(n_members)[:, None]
    words = stream_words(seed, numbers, Purpose.PERMUTATION, rows)
    uniform = unit_interval(words)
    below = np.cumsum(shares, axis=1)
    drawn = np.zeros(uniform.shape, dtype=np.int32)
    # the last class takes what rounding leaves
    for k in range(shares.shape[1] - 1):
        drawn += uniform >= below[:, k]
    return drawn


def oob_error(team: Team) -> float:
    """Return the share of labelled rows that the members without them get wrong; NaN if none."""
    labelled = team.labels.labelled
    votes = team.own[:, labelled] * team.out_of_bag[:, :, None].astype(np.int64)
    opinion = decide(votes.sum(axis=0))
    is_rated = opinion.confidence > 0
    if not is_rated.any():
        return float("nan")
    return float((opinion.label != team.labels.codes[labelled])[is_rated].mean())
