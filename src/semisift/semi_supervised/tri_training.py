"""TriTraining: three learners, two of which teach the third where they agree.

Z.-H. Zhou, M. Li (2005). Tri-training: exploiting unlabeled data using three classifiers. IEEE
Transactions on Knowledge and Data Engineering 17(11).
"""

import math
from collections.abc import Iterator
from dataclasses import field
from itertools import count
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from semisift.committee._blocks import Bags
from semisift.semi_supervised._base import Stop
from semisift.semi_supervised._team import CommitteeClassifier, Team, pad_rows
from semisift.utils._random import Purpose, stream_words
from semisift.utils._typing import Bools, Floats

N_LEARNERS = 3
# e' at the start, and what counts as the error where two learners never agree
CHANCE = 0.5


class TriTraining(CommitteeClassifier):
    """Three learners on bootstraps; where two agree, they label rows for the third.

    In each round, for each learner i, e_i is the share of wrong answers among the labelled rows on
    which the other two agree, and L_i the unlabelled rows on which they agree. If e_i is below its
    last value e'_i, learner i is trained again on all labelled rows and L_i, where that is expected
    to help::

        l'_i = floor(e_i / (e'_i - e_i) + 1)      the first time, else the last |L_i|
        |L_i| > l'_i and e_i |L_i| < e'_i l'_i    take L_i
        |L_i| > l'_i > e_i / (e'_i - e_i)         take a random ceil(e'_i l'_i / e_i - 1) rows of it

    then e'_i is e_i. The first e'_i is 0.5. The rounds end when no learner changes; the majority of
    the three decides. A round costs the training of at most three learners.

    What is a reading: where two learners agree on no labelled row, e_i counts as 0.5. The learners
    are decision trees, in which between equally good splits the widest gap in standard deviations
    decides, as in SSFI.

    Parameters
    ----------
    estimator : classifier, default=None
        Any scikit-learn classifier instead of the compiled trees.
    {max_depth}
    voting : {"hard", "soft"}, default="hard"
        How `predict` and `predict_proba` count: one vote of each learner, or its class
        probabilities. Agreement is always that of the predicted classes.
    max_iter : int, default=100
        Most rounds.
    {n_jobs}
    {random_state (draws)}

    Attributes
    ----------
    {classes_}
    transduction_ : ndarray of shape (n_samples,)
        Label of every row: its own, or the one under which most learners have it in their training
        rows; -1 (None where the classes are no numbers) where no learner has it.
    labeled_iter_ : ndarray of shape (n_samples,)
        The round in which a learner was first given the row: 0 for labelled rows, -1 for never.
    errors_ : ndarray of shape (3,)
        The last e'_i.
    n_iter_ : int
        Rounds, the last of which may have changed nothing.
    termination_condition_ : {"max_iter", "no_change"}
        Why the rounds ended.
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    Z.-H. Zhou, M. Li (2005). Tri-training: exploiting unlabeled data using three classifiers. IEEE
    Transactions on Knowledge and Data Engineering 17(11).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import TriTraining
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> model = TriTraining(random_state=0).fit(X, few_labels)
    >>> round(model.score(X, y), 2)
    0.92
    """

    voting: Literal["hard", "soft"] = "hard"
    max_iter: int = 100
    n_members: int = field(default=N_LEARNERS, init=False)
    max_features: float = field(default=1.0, init=False)

    def _team_options(self) -> dict[str, bool]:
        return {"probability": False}

    def _rounds(self, team: Team) -> Iterator[Stop]:
        self.errors_, size = np.full(N_LEARNERS, CHANCE), np.zeros(N_LEARNERS, dtype=np.int64)
        for n_round in count(1):
            chosen, bags = teach(team, self.errors_, size, n_round)
            if not chosen.any():
                return
            team.train(bags, chosen, n_round)
            yield "max_iter"


def teach(team: Team, error: Floats, size: NDArray[np.int64], n_round: int) -> tuple[Bools, Bags]:
    """Choose who learns in this round, and from what; `error` and `size` (e', l') are updated."""
    labels = team.labels
    predicted = team.own.argmax(axis=2).astype(np.int32)
    taken, given = np.zeros(predicted.shape, dtype=bool), np.zeros_like(predicted)
    chosen = np.zeros(N_LEARNERS, dtype=bool)
    for i in range(N_LEARNERS):
        first, second = (j for j in range(N_LEARNERS) if j != i)
        agreed = predicted[first] == predicted[second]
        agreed_rows = labels.labelled[agreed[labels.labelled]]
        wrong = predicted[first, agreed_rows] != labels.codes[agreed_rows]
        e = wrong.mean() if len(agreed_rows) else CHANCE
        rows = labels.unlabelled[agreed[labels.unlabelled]]
        n_taken, size[i] = count_rows(e, error[i], int(size[i]), len(rows))
        if not n_taken:
            continue
        number = n_round * N_LEARNERS + i
        words = stream_words(team.data.seed, number, Purpose.TIES, rows)
        rows = rows[np.argsort(words)[:n_taken]]
        chosen[i], error[i], size[i] = True, e, len(rows)
        taken[i, rows] = True
        given[i] = predicted[first]
    everyone = np.arange(team.data.n_rows, dtype=np.int32)
    return chosen, team.bags_with(chosen, *pad_rows(taken, everyone, given))


def count_rows(e: float, previous: float, size: int, n_agreed: int) -> tuple[int, int]:
    """Return how many of the rows agreed on a learner takes: all, some of them, or none.

    Parameters
    ----------
    e, previous : float
        e and e'.
    size : int
        l'; 0 the first time.
    n_agreed : int
        Rows on which the other two agree.

    Returns
    -------
    n_rows : int
    size : int
        l' from now on, where it takes none.

    Examples
    --------
    >>> count_rows(0.1, 0.5, 0, 100)
    (4, 1)
    """
    if not e < previous:
        return 0, size
    ratio = e / (previous - e)
    if size == 0:
        size = math.floor(ratio + 1)
    if not size < n_agreed:
        return 0, size
    if e * n_agreed < previous * size:
        return n_agreed, size
    if size > ratio:
        # the tiny amount keeps 0.3 * 10 / 0.1 from being a little more than 30
        return math.ceil(previous * size / e - 1 - 1e-9), size
    return 0, size
