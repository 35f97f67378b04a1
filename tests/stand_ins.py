"""Committees that stand in for the co-training classifiers in tests of the figure about them."""

import time
from collections import namedtuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from semisift.registry import CLASSIFIERS, Learner
from semisift.utils._agreement import entropy_diversity

Quality = namedtuple("Quality", "accuracy member_accuracy diversity")
CommitteeReport = namedtuple("CommitteeReport", "begin end")


class Subspaces(ClassifierMixin, BaseEstimator):
    """Class means in random subspaces; at the end they are those of the labels that all gave.

    `estimator` is not used: a scikit-learn classifier for each member would take a hundred times as
    long.
    """

    def __init__(
        self, estimator, *, n_members=2, max_features=25, voting="soft", max_iter=None,
        seconds=0.0, random_state=None,
    ):  # fmt: skip
        self.estimator = estimator
        self.n_members = n_members
        self.max_features = max_features
        self.voting = voting
        self.max_iter = max_iter
        self.seconds = seconds
        self.random_state = random_state

    def fit(self, X, y):
        time.sleep(self.seconds)
        rng = np.random.default_rng(self.random_state)
        size = min(self.max_features, X.shape[1])
        self.subspaces_ = [rng.permutation(X.shape[1])[:size] for _ in range(self.n_members)]
        labelled = y >= 0
        self.begin_ = self._members(X[labelled], y[labelled])
        votes = self._predict(self.begin_, X)
        self.end_ = self._members(X, np.where(labelled, y, self._vote(votes)))
        return self

    def _members(self, X, y):
        return np.array([X[y == label].mean(axis=0) for label in np.unique(y)])

    def _predict(self, means, X):
        squares = (X[:, None, :] - means) ** 2
        return np.array(
            [squares[:, :, columns].sum(axis=2).argmin(axis=1) for columns in self.subspaces_]
        )

    def _vote(self, votes):
        return np.array([np.bincount(column).argmax() for column in votes.T])

    def evaluate_committee(self, X, y):
        found = []
        for members in (self.begin_, self.end_):
            votes = self._predict(members, X)
            vote = np.mean(self._vote(votes) == y)
            found.append(Quality(vote, np.mean(votes == y), entropy_diversity(votes == y)))
        return CommitteeReport(*found)


class TwoViews(Subspaces):
    """Two members in random halves of the features."""

    def __init__(self, estimator, *, max_iter=None, seconds=0.0, random_state=None):
        super().__init__(estimator, max_iter=max_iter, seconds=seconds, random_state=random_state)

    def fit(self, X, y):
        self.max_features = X.shape[1] // 2
        return super().fit(X, y)


class Failing(Subspaces):
    """Fails to learn."""

    def fit(self, X, y):
        raise RuntimeError("no luck")


def register(learners=CLASSIFIERS):
    """Put the stand-ins into the registry under the names of those they stand in for."""
    classes = {
        "co-training": "TwoViews",
        "rasco": "Subspaces",
        "rel-rasco": "Subspaces",
        "prob-mrmr": "Failing",
    }
    for name, cls in classes.items():
        learners[name] = Learner(
            name=name,
            path=f"tests.stand_ins:{cls}",
            accepts=[],
            citation="Nobody (2000).",
            cost="little",
            source="reading",
            summary="It stands in for another.",
            meaning="It stands in for another. It means nothing.",
        )
