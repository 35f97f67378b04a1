import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.naive_bayes import GaussianNB

from semisift import NoUnlabelledDataWarning, SemiSupervisedForest, parallel
from semisift.semi_supervised.ss_forest import draw_labels, label_shares
from tests.conftest import needs_callbacks, needs_kernels
from tests.cotrained import (
    assert_same_model,
    noisy_data,
    probabilities,
    slow_committee,
)
from tests.reference.committees_cotraining import annealed, ss_forest
from tests.searches import Stop


@needs_kernels
@pytest.mark.parametrize(("seed", "n_classes"), [(0, 2), (1, 3)])
def test_equals_the_slow_reference(seed, n_classes):
    data = noisy_data(n_rows=40, n_classes=n_classes, per_class=6, seed=seed)
    slow = slow_committee(data, seed, 6, 2, at_nodes=True)
    errors = ss_forest(slow, alpha=0.1, temperature=0.05, cooling=1.5, max_iter=3)
    model = SemiSupervisedForest(
        n_members=6, max_features=2, temperature=0.05, cooling=1.5, max_iter=3, airbag=False,
        random_state=seed,
    ).fit(data.X, data.y)  # fmt: skip
    assert_array_equal(model.oob_errors_, errors)
    assert_array_equal(model.predict_proba(data.X), probabilities(slow.total()))
    assert_array_equal(model.labeled_iter_, np.where(data.y < 0, 1, 0))


def test_probabilities_of_labels():
    for temperature, expected, atol in [
        (10, 0.502, 5e-4),
        (0.2, 0.598688, 5e-7),
        (0.02, 0.982014, 5e-7),
    ]:
        shares = label_shares(np.array([[7, 3]]), 0.1, temperature)
        assert_allclose(shares, [[expected, 1 - expected]], atol=atol)


def test_probabilities_of_three_labels():
    votes = np.array([[5, 3, 2], [4, 4, 2], [0, 0, 10]])
    expected = [annealed(row / 10, 0.3, 0.2) for row in votes]
    assert_allclose(label_shares(votes, 0.3, 0.2), expected, rtol=1e-12)


def test_limits_of_the_temperature():
    votes = np.array([[5, 3, 2], [2, 3, 5]])
    assert_allclose(label_shares(votes, 0.1, 1e9), np.full((2, 3), 1 / 3))
    assert_array_equal(label_shares(votes, 0.1, 1e-9), [[1, 0, 0], [0, 0, 1]])
    assert_allclose(label_shares(votes, 0.0, 0.1), np.full((2, 3), 1 / 3))


def test_drawn_labels_follow_the_probabilities():
    shares = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    drawn = draw_labels(shares, np.array([3, 7, 8], dtype=np.int32), 0, 1, 20_000)
    found = [np.bincount(drawn[:, row], minlength=3) / 20_000 for row in range(3)]
    assert_allclose(found, shares, atol=0.012)
    assert_array_equal(found[1:], shares[1:])


def test_the_airbag_brings_the_first_forest_back():
    used = []
    for seed in range(12):
        data = noisy_data(n_rows=40, per_class=5, seed=seed)
        params = {"n_members": 20, "temperature": 10.0, "max_iter": 2, "random_state": seed}
        model = SemiSupervisedForest(**params).fit(data.X, data.y)
        assert model.airbag_used_ == (model.oob_errors_[1] > model.oob_errors_[0])
        used.append(model.airbag_used_)
        if model.airbag_used_:
            labelled = data.y >= 0
            with pytest.warns(NoUnlabelledDataWarning):
                first = SemiSupervisedForest(**params).fit(data.X[labelled], data.y[labelled])
            assert first.oob_errors_[0] == model.oob_errors_[0]
            assert_array_equal(model.transduction_, data.y)
            assert (model.labeled_iter_[~labelled] == -1).all()
    assert 0 < sum(used) < 12


@needs_kernels
def test_without_unlabelled_rows_it_is_a_random_forest():
    data = noisy_data(n_rows=40)
    model = SemiSupervisedForest(n_members=6, max_features=2, random_state=0)
    with pytest.warns(NoUnlabelledDataWarning):
        model.fit(data.X, data.y_true)
    slow = slow_committee(data._replace(y=data.y_true), 0, 6, 2, at_nodes=True)
    assert_array_equal(model.predict_proba(data.X), probabilities(slow.total()))
    assert model.termination_condition_ == "all_labeled"
    assert not model.airbag_used_


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_same_for_any_number_of_threads_blocks_and_for_sparse_x(monkeypatch, estimator):
    data = noisy_data(n_rows=50, n_classes=3, seed=1)
    X = data.X if estimator else np.where(np.abs(data.X) < 0.7, 0.0, data.X)
    params = {
        "n_members": 8, "max_iter": 3, "airbag": False, "estimator": estimator, "random_state": 1
    }  # fmt: skip
    model = SemiSupervisedForest(**params).fit(X, data.y)
    for n_jobs in (2, 3):
        assert_same_model(SemiSupervisedForest(**params, n_jobs=n_jobs).fit(X, data.y), model, X)
    if estimator is None:
        assert_same_model(SemiSupervisedForest(**params).fit(csr_array(X), data.y), model, X)
    monkeypatch.setattr(parallel, "BLOCK_SIZE", 1)
    assert_same_model(SemiSupervisedForest(**params).fit(X, data.y), model, X)


@needs_callbacks
def test_rounds_that_a_callback_ends_are_counted():
    data = noisy_data(n_rows=40, n_classes=2, per_class=6)
    model = SemiSupervisedForest(n_members=5, max_iter=9).set_callbacks(Stop(2, False, "round"))
    assert model.fit(data.X, data.y).n_iter_ == 2
