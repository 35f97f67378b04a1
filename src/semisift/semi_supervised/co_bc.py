"""CoBC: co-training by committee.

M. F. A. Hady, F. Schwenker (2008). Co-training by committee: a new semi-supervised learning
framework. IEEE International Conference on Data Mining Workshops.
"""

from collections.abc import Iterator
from itertools import count
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from semisift.committee._blocks import count_quotas
from semisift.semi_supervised._base import Int32s, Mask, Stop
from semisift.semi_supervised._team import MAX_FEATURES, CommitteeClassifier, Team, pad_rows
from semisift.utils._random import Purpose, stream_words
from semisift.utils._sklearn_compat import MAX_MEMBERS, Interval, StrOptions, at_least


class CoBC(CommitteeClassifier):
    """A committee whose members are handed the rows that their companions are surest about.

    Members differ by bootstraps of the labelled rows, by the features that each draws, or by both.
    In each round each member i draws a pool of its unlabelled rows. Its companions, all members but
    i, average their class probabilities there, and for each class k the member is handed the n_k
    rows of the pool that they give to this class with most confidence::

        n_k = max(1, ceil(growth * share of class k among the labelled rows))

    and is trained again. A round costs the training of all members and one comparison for each
    member, row and class.

    What is a reading: a row that one member is handed stays in the pools of the others; the
    companions are those of the start of the round for all members; equally confident rows come in
    random order, of each member its own. Members are trees that draw half of the features, which
    was more accurate than all of them (by .024) or their square root (.010); ten rounds were by
    .006 and .011 above three and thirty, which may be chance (ten splits of each of the six sets on
    which the defaults were chosen: part "settings" of benchmarks/cotraining.py). Between
    equally good splits the widest gap in standard deviations decides, as in SSFI.

    Parameters
    ----------
    n_members : int, default=10
        Number of members, at least 2.
    bootstrap : {"plain"} or None, default="plain"
        Start each member on a bootstrap of the labelled rows (bagging), or on all of them.
    max_features : "sqrt", int or float, default=0.5
        Features that each member draws (random subspaces): the rounded square root, a number or a
        share; 1.0 is all of them.
    growth : float, default=1
        Rows that a member is handed in a round, shared among the classes by their shares among the
        labelled rows and rounded up: with 1, one row of each class.
    pool_size : int, default=100
        Unlabelled rows that a member chooses from in a round; None is all of them.
    {max_depth}
    {estimator (for trees)}
    voting : {"soft", "hard"}, default="soft"
        Members vote with class probabilities, or with one vote for a class.
    max_iter : int, default=10
        Most rounds.
    {n_jobs}
    {random_state (draws)}

    Attributes
    ----------
    {classes_}
    transduction_ : ndarray of shape (n_samples,)
        Label of every row: its own, or the one under which most members have it in their training
        rows; -1 (None where the classes are no numbers) where no member has it.
    labeled_iter_ : ndarray of shape (n_samples,)
        The round in which a member was first handed the row: 0 for labelled rows, -1 for never.
    n_iter_ : int
        Rounds, the last of which may have found nothing to hand out.
    termination_condition_ : {"max_iter", "no_change", "all_labeled"}
        Why the rounds ended; "all_labeled": each member has been handed all rows.
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    M. F. A. Hady, F. Schwenker (2008). Co-training by committee: a new semi-supervised learning
    framework. IEEE International Conference on Data Mining Workshops.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import CoBC
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> model = CoBC(random_state=0).fit(X, few_labels)
    >>> round(model.score(X, y), 2)
    0.92
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CommitteeClassifier._parameter_constraints,
        "n_members": [at_least(2, MAX_MEMBERS)],
        "bootstrap": [None, StrOptions({"plain"})],
        "max_features": MAX_FEATURES,
        "growth": [Interval(Real, 0, None, closed="neither")],
        "pool_size": [None, at_least(1)],
    }

    n_members: int = 10
    bootstrap: Literal["plain"] | None = "plain"
    max_features: int | float | Literal["sqrt"] = 0.5
    growth: float = 1
    pool_size: int | None = 100
    max_iter: int = 10

    def _ways(self) -> dict[str, bool]:
        return {**super()._ways(), "bootstrap": self.bootstrap is not None}

    def _rounds(self, team: Team) -> Iterator[Stop]:
        labels = team.labels
        n_unlabelled = len(labels.unlabelled)
        quotas = count_quotas(self.growth, labels.counts / labels.counts.sum(), n_unlabelled)
        pool_size = n_unlabelled if self.pool_size is None else self.pool_size
        left = np.ones((self.n_members, n_unlabelled), dtype=bool)
        for n_round in count(1):
            pools = draw_pools(team.data.seed, n_round, left, labels.unlabelled, pool_size)
            picked, given = pick_surest(team, pools, quotas)
            if not picked.any():
                return
            left &= ~picked
            rows, codes = pad_rows(picked, labels.unlabelled, given)
            bags = team.bags._replace(
                rows=np.concatenate([team.bags.rows, rows], axis=1),
                labels=np.concatenate([team.bags.labels, codes], axis=1),
            )
            team.train(bags, np.asarray(picked.any(axis=1)), n_round)
            yield "max_iter" if left.any() else "all_labeled"


def draw_pools(seed: int, n_round: int, left: Mask, unlabelled: Int32s, pool_size: int) -> Mask:
    """Draw the pool of each member from the rows that it has left.

    Parameters
    ----------
    seed, n_round : int
        Each round has draws of its own.
    left : boolean array of shape (n_members, n_unlabelled)
    unlabelled : int32 array of shape (n_unlabelled,)
    pool_size : int

    Returns
    -------
    boolean array of shape (n_members, n_unlabelled)
    """
    if pool_size >= left.shape[1]:
        return left
    numbers = n_round * len(left) + np.arange(len(left))[:, None]
    words = stream_words(seed, numbers, Purpose.UNLABELLED_BAG, unlabelled)
    # a random order in which the rows that are left come first
    place = np.argsort(np.lexsort((words, ~left), axis=1), axis=1)
    return left & (place < pool_size)


def pick_surest(team: Team, pools: Mask, quotas: Int32s) -> tuple[Mask, Int32s]:
    """Pick from each member's pool, class by class, the rows that its companions are surest about.

    Parameters
    ----------
    team : Team
    pools : boolean array of shape (n_members, n_unlabelled)
    quotas : int array of shape (n_classes,)

    Returns
    -------
    picked : boolean array of shape (n_members, n_unlabelled)
    labels : int32 array of that shape
        What the companions call the rows.
    """
    unlabelled = team.labels.unlabelled
    picked = np.zeros(pools.shape, dtype=bool)
    labels = np.zeros(pools.shape, dtype=np.int32)
    for members, (label, confidence) in team.companions(np.arange(len(team))):
        words = stream_words(team.data.seed, members[:, None], Purpose.TIES, unlabelled)
        labels[members] = label
        for k, quota in enumerate(quotas.tolist()):
            of_class = pools[members] & (label == k) & (confidence > 0)
            order = np.lexsort((words, -confidence, ~of_class), axis=1)[:, :quota]
            best = np.zeros_like(of_class)
            np.put_along_axis(best, order, True, axis=1)
            picked[members] |= best & of_class
    return picked, labels
