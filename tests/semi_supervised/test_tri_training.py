import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.naive_bayes import GaussianNB

from semisift import NoUnlabelledDataWarning, TriTraining
from semisift.semi_supervised.tri_training import count_rows
from tests.conftest import needs_kernels
from tests.cotrained import (
    assert_same_model,
    first_rounds,
    noisy_data,
    probabilities,
    slow_committee,
)
from tests.reference.committees_cotraining import tri_training


@needs_kernels
@pytest.mark.parametrize(("seed", "n_classes"), [(0, 2), (2, 3), (4, 4)])
def test_equals_the_slow_reference(seed, n_classes):
    data = noisy_data(n_classes=n_classes, per_class=8, seed=seed)
    slow = slow_committee(data, seed, 3, 5, at_nodes=False, soft=False)
    n_iter, history, first = tri_training(slow)
    assert first, "the example must hand out rows"
    assert all(np.diff(np.array(history), axis=0).ravel() <= 0)  # e' never increases
    model = TriTraining(random_state=seed).fit(data.X, data.y)
    assert model.n_iter_ == n_iter
    assert_array_equal(model.errors_, history[-1])
    assert_array_equal(model.labeled_iter_, first_rounds(first, data.y))
    assert_array_equal(model.predict_proba(data.X), probabilities(slow.total()))


def test_how_many_rows_are_taken():
    assert count_rows(0.1, 0.5, 0, 100) == (4, 1)  # 0.1 * 100 >= 0.5 * 1: a sample
    assert count_rows(0.1, 0.5, 0, 4) == (4, 1)  # 0.1 * 4 < 0.5 * 1: all
    assert count_rows(0.1, 0.5, 0, 1) == (0, 1)  # not more than l'
    assert count_rows(0.0, 0.5, 0, 100) == (100, 1)  # no error: all
    assert count_rows(0.5, 0.5, 7, 100) == (0, 7)  # no better than last time
    assert count_rows(0.4, 0.5, 0, 100) == (6, 5)  # l' = floor(4 + 1), 0.5 * 5 / 0.4 - 1
    assert count_rows(0.2, 0.3, 2, 10) == (0, 2)  # l' = 2 is not above 0.2 / 0.1
    assert count_rows(0.1, 0.3, 10, 1000) == (29, 10)  # 0.3 * 10 / 0.1 is not exactly 30


@needs_kernels
def test_without_unlabelled_rows_it_is_bagging_of_three():
    data = noisy_data()
    with pytest.warns(NoUnlabelledDataWarning):
        model = TriTraining(random_state=0).fit(data.X, data.y_true)
    slow = slow_committee(data._replace(y=data.y_true), 0, 3, 5, at_nodes=False, soft=False)
    assert_array_equal(model.predict_proba(data.X), probabilities(slow.total()))
    assert model.n_iter_ == 1
    assert_array_equal(model.errors_, [0.5, 0.5, 0.5])


def test_learners_that_do_not_err_take_all_rows_at_once():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.full(40, -1)
    y[:5], y[20:25] = 0, 1
    model = TriTraining(random_state=0).fit(X, y)
    assert_array_equal(model.transduction_, np.repeat([0, 1], 20))
    assert_array_equal(model.errors_, [0, 0, 0])
    assert_array_equal(np.unique(model.labeled_iter_), [0, 1])
    assert model.n_iter_ == 2
    assert model.termination_condition_ == "no_change"


def test_soft_votes_are_the_mean_of_the_probabilities():
    data = noisy_data(seed=1)
    model = TriTraining(estimator=GaussianNB(), voting="soft", random_state=0).fit(data.X, data.y)
    hard = TriTraining(estimator=GaussianNB(), random_state=0).fit(data.X, data.y)
    members = [member.estimator for member in model._members.fitted]
    expected = np.mean([member.predict_proba(data.X) for member in members], axis=0)
    np.testing.assert_allclose(model.predict_proba(data.X), expected, atol=2e-5)
    counts = (hard.member_predictions(data.X) == 1).mean(axis=0)
    np.testing.assert_allclose(hard.predict_proba(data.X)[:, 1], counts)


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_same_for_any_number_of_threads_and_for_sparse_x(estimator):
    data = noisy_data(n_classes=3, seed=1)
    X = data.X if estimator else np.where(np.abs(data.X) < 0.7, 0.0, data.X)
    model = TriTraining(estimator=estimator, random_state=1).fit(X, data.y)
    for n_jobs in (2, 3):
        other = TriTraining(estimator=estimator, random_state=1, n_jobs=n_jobs).fit(X, data.y)
        assert_same_model(other, model, X)
    if estimator is None:
        other = TriTraining(random_state=1).fit(csr_array(X), data.y)
        assert_same_model(other, model, X)
