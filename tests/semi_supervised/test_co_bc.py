import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.naive_bayes import GaussianNB

from semisift import CoBC, NoUnlabelledDataWarning, parallel
from semisift.semi_supervised.co_bc import draw_pools
from tests.conftest import make_data, needs_kernels
from tests.cotrained import (
    assert_same_model,
    first_rounds,
    noisy_data,
    probabilities,
    slow_committee,
)
from tests.reference.committees_cotraining import co_bc


@needs_kernels
@pytest.mark.parametrize(
    ("seed", "n_classes", "growth", "pool_size", "max_iter"),
    [(0, 2, 1, 10, 3), (1, 3, 4, 20, 2), (2, 2, 5, 1000, 20)],
)
def test_equals_the_slow_reference(seed, n_classes, growth, pool_size, max_iter):
    data = noisy_data(n_rows=40, n_classes=n_classes, per_class=5, seed=seed)
    slow = slow_committee(data, seed, 5, 3, at_nodes=False)
    n_iter, first = co_bc(slow, growth, pool_size, max_iter)
    model = CoBC(
        n_members=5,
        max_features=3,
        growth=growth,
        pool_size=pool_size,
        max_iter=max_iter,
        random_state=seed,
    ).fit(data.X, data.y)
    assert model.n_iter_ == n_iter
    assert_array_equal(model.labeled_iter_, first_rounds(first, data.y))
    assert_array_equal(model.predict_proba(data.X), probabilities(slow.total()))


def self_train(X, y, per_class, n_rounds):
    """Self-training of one learner, the surest rows of each class in each round."""
    y = y.copy()
    for _ in range(n_rounds):
        model = GaussianNB(var_smoothing=1.0).fit(X[y >= 0], y[y >= 0])
        left = np.flatnonzero(y < 0)
        shares = model.predict_proba(X[left])
        label, confidence = shares.argmax(axis=1), shares.max(axis=1)
        for k in range(2):
            of_class = np.flatnonzero(label == k)
            y[left[of_class[np.argsort(-confidence[of_class])[:per_class]]]] = k
    return y


def test_identical_members_train_as_one_does():
    data = make_data(n_rows=30, per_class=3, seed=4)
    X = data.X
    model = CoBC(
        n_members=2, bootstrap=None, max_features=1.0, pool_size=None, growth=2,
        estimator=GaussianNB(var_smoothing=1.0), max_iter=4, random_state=0,
    ).fit(X, data.y)  # fmt: skip
    expected = self_train(X, data.y, per_class=1, n_rounds=4)
    assert (expected >= 0).sum() > 10
    assert_array_equal(model.transduction_, expected)


def test_a_member_is_handed_at_most_its_quota():
    data = noisy_data(n_rows=50)
    model = CoBC(n_members=4, max_iter=1, random_state=0).fit(data.X, data.y)
    assert 1 <= (model.labeled_iter_ == 1).sum() <= 4 * 2
    assert model.termination_condition_ == "max_iter"


def test_ends_when_all_rows_are_handed_out():
    data = make_data(n_rows=24, per_class=5)
    model = CoBC(n_members=3, growth=100, random_state=0).fit(data.X, data.y)
    assert model.termination_condition_ == "all_labeled"
    assert model.n_iter_ == 1
    assert (model.labeled_iter_ >= 0).all()


def test_pools():
    left = np.ones((3, 20), dtype=bool)
    left[0, 4:] = False
    rows = np.arange(20, dtype=np.int32)
    pools = draw_pools(0, 1, left, rows, 6)
    assert_array_equal(pools[0], left[0])  # no more than it has
    assert_array_equal(pools.sum(axis=1), [4, 6, 6])
    assert not np.array_equal(pools[1], pools[2])
    assert not np.array_equal(pools, draw_pools(0, 2, left, rows, 6))


def test_without_unlabelled_rows_it_is_bagging():
    data = noisy_data(n_rows=40)
    with pytest.warns(NoUnlabelledDataWarning):
        model = CoBC(n_members=5, max_features=3, random_state=0).fit(data.X, data.y_true)
    slow = slow_committee(data._replace(y=data.y_true), 0, 5, 3, at_nodes=False)
    assert_array_equal(model.predict_proba(data.X), probabilities(slow.total()))
    assert model.n_iter_ == 1


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_same_for_any_number_of_threads_blocks_and_for_sparse_x(monkeypatch, estimator):
    data = noisy_data(n_rows=50, n_classes=3, seed=1)
    X = data.X if estimator else np.where(np.abs(data.X) < 0.7, 0.0, data.X)
    params = {"estimator": estimator, "pool_size": 20, "random_state": 1}
    model = CoBC(**params).fit(X, data.y)
    for n_jobs in (2, 3):
        assert_same_model(CoBC(**params, n_jobs=n_jobs).fit(X, data.y), model, X)
    if estimator is None:
        assert_same_model(CoBC(**params).fit(csr_array(X), data.y), model, X)
    monkeypatch.setattr(parallel, "BLOCK_SIZE", 1)
    assert_same_model(CoBC(**params).fit(X, data.y), model, X)


def test_a_committee_of_one_is_refused():
    data = noisy_data()
    with pytest.raises(ValueError, match="n_members"):
        CoBC(n_members=1).fit(data.X, data.y)
