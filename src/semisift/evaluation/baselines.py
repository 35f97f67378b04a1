"""Baselines of a comparison: what any method must beat, what all labels or all features give.

They are no methods, so they are not in the registry. The F-score of the labelled rows is one: it is
``fisher``, which ranks as the F-test of the analysis of variance does.
"""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from semisift._problem import Problem
from semisift.exceptions import NothingUnlabelledWarning
from semisift.filters.fisher import FisherScore


class RandomRanking(BaseEstimator):
    """Features in a random order.

    Parameters
    ----------
    random_state : int, default=0
    """

    def __init__(self, *, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw a score for each column of `X`."""
        self.scores_ = np.random.default_rng(self.random_state).random(X.shape[1])
        return self


class AllLabels(FisherScore):
    """The Fisher score with the true labels of all training rows: what nobody has in practice.

    A comparison shows it the labels that it hides from the others.
    """

    sees_all_labels = True

    def _check_labels(self, problem: Problem) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingUnlabelledWarning)  # it is meant so
            super()._check_labels(problem)


class AllFeatures(RandomRanking):
    """No selection: judges are given all features, whatever number is asked for.

    It ranks nothing; where an order is asked for all the same, as for stability, it is a random
    one.
    """

    keeps_all_features = True


BASELINES: dict[str, Any] = {
    "random": RandomRanking,
    "all-labels": AllLabels,
    "all-features": AllFeatures,
}
