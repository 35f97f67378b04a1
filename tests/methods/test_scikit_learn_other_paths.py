"""scikit-learn's checks of classifiers with other parameters, which take other paths."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from semisift import (
    CoBC,
    CoForest,
    MixedNB,
    NNge,
    SelfTraining,
    SemiSupervisedForest,
    TriTraining,
)
from tests.methods.test_scikit_learn import CLASSES

OTHERS = [
    CoBC(n_members=3, estimator=GaussianNB(), max_iter=2),
    CoForest(n_members=3, estimator=GaussianNB()),
    MixedNB(var_smoothing=1e-3, alpha=0.5),
    NNge(half_open=False, n_attempts=1),
    SelfTraining(LogisticRegression(max_iter=5000), label_by="min_confidence"),
    SemiSupervisedForest(n_members=3, max_iter=2, estimator=GaussianNB()),
    TriTraining(estimator=GaussianNB()),
]


def expected_failures(estimator):
    """Return the checks that a classifier fails by design, with the reason."""
    return {} if isinstance(estimator, MixedNB | NNge) else CLASSES


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
@parametrize_with_checks(OTHERS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
