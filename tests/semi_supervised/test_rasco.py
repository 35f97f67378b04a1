"""RASCO, Rel-RASCO and Prob-MRMR: the loop, and neighbours that are never fitted again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from semisift import RASCO, ProbMRMR, RelRASCO, _kernels
from semisift.semi_supervised import _subspace_loop
from semisift.utils._agreement import entropy_diversity
from semisift.utils._random import Purpose, stream_words
from tests.conftest import make_data
from tests.reference import cotraining as reference

FAMILY = [RASCO, RelRASCO, ProbMRMR]


class Refitted(KNeighborsClassifier):
    """Neighbours that are not recognised, and so are fitted in every iteration."""


def words(seed):
    return lambda iteration, rows: stream_words(seed, iteration, Purpose.TIES, np.array(rows))


def make_digits(seed=0, n_rows=120, n_columns=24, n_classes=3):
    """Return columns of small whole numbers, in which many distances are equal."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.integers(0, 3, size=(n_rows, n_columns)) + (np.arange(n_columns) < 8) * y[:, None]
    hidden = np.where(np.arange(n_rows) < 15, y, -1)
    return X.astype(float), hidden, y


@pytest.mark.parametrize("max_iter", [pytest.param(4, marks=pytest.mark.nightly), None])
@pytest.mark.parametrize(
    ("cls", "estimator"),
    [*((cls, None) for cls in FAMILY), (RASCO, GaussianNB())],
)
def test_against_the_reference(cls, estimator, max_iter):
    data = make_data(n_rows=50, n_features=7, n_classes=3, per_class=4)
    model = cls(estimator, n_members=5, max_features=3, max_iter=max_iter, random_state=8)
    model.fit(data.X, data.y)
    codes, iterations = reference.rasco(
        data.X,
        data.y,
        3,
        model.subspaces_,
        lambda: clone(estimator or KNeighborsClassifier(3)),
        words(8),
        50 if max_iter is None else max_iter,
    )
    assert_array_equal(model.transduction_, codes)
    assert_array_equal(model.labeled_iter_, iterations)
    assert model.n_iter_ == iterations.max()
    assert model.termination_condition_ == ("max_iter" if max_iter else "all_labeled")


@pytest.mark.parametrize(
    ("metric", "seed"),
    [
        ("minkowski", 0),
        ("euclidean", 1),
        *(
            pytest.param(metric, seed, marks=pytest.mark.nightly)
            for metric in ("minkowski", "euclidean")
            for seed in (2, 3)
        ),
    ],
)
def test_neighbours_equal_those_that_are_fitted_again(seed, metric):
    data = make_data(n_rows=90, n_features=20, n_classes=3, seed=seed)
    common = {"n_members": 7, "max_features": 6, "max_iter": None, "random_state": seed}
    X, truth = data.X[70:], data.y_true[70:]
    for k in (1, 3, 4):
        fast = RelRASCO(KNeighborsClassifier(k, metric=metric), **common)
        slow = RelRASCO(Refitted(k, metric=metric), **common)
        fast.fit(data.X[:70], data.y[:70])
        slow.fit(data.X[:70], data.y[:70])
        assert isinstance(fast._members, _subspace_loop.NeighbourPredictors)
        assert not isinstance(slow._members, _subspace_loop.NeighbourPredictors)
        assert_array_equal(fast.labeled_iter_, slow.labeled_iter_)
        assert_array_equal(fast.transduction_, slow.transduction_)
        assert_allclose(fast.predict_proba(X), slow.predict_proba(X), atol=1e-12)
        assert_allclose(fast.evaluate_committee(X, truth), slow.evaluate_committee(X, truth))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))]
)
def test_equally_near_rows_are_those_of_brute_force(seed):
    digits, y, _ = make_digits(seed)
    common = {"n_members": 9, "max_features": 6, "max_iter": None, "random_state": seed}
    for dtype in (np.float32, np.float64, np.int64):
        X = digits.astype(dtype)
        fast = RASCO(KNeighborsClassifier(3), **common).fit(X[:90], y[:90])
        slow = RASCO(Refitted(3, algorithm="brute"), **common).fit(X[:90], y[:90])
        assert_array_equal(fast.labeled_iter_, slow.labeled_iter_)
        assert_array_equal(fast.transduction_, slow.transduction_)
        assert_allclose(fast.predict_proba(X[90:]), slow.predict_proba(X[90:]), atol=1e-12)


def test_other_neighbours_are_fitted():
    X, y, _ = make_digits()
    for estimator in (
        KNeighborsClassifier(3, weights="distance"),
        KNeighborsClassifier(3, p=1),
        KNeighborsClassifier(3, metric="chebyshev"),
        Refitted(3),
    ):
        model = RASCO(estimator, n_members=3, max_iter=2).fit(X, y)
        assert not isinstance(model._members, _subspace_loop.NeighbourPredictors)


def test_more_neighbours_than_labelled_rows():
    data = make_data(per_class=1)
    with pytest.raises(ValueError, match="n_neighbors"):
        RASCO(KNeighborsClassifier(3)).fit(data.X, data.y)
    assert RASCO().fit(data.X, data.y).predict(data.X).shape == (60,)  # 2 neighbours


@pytest.mark.parametrize("n_jobs", [2, pytest.param(3, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier()])
@pytest.mark.parametrize(
    "cls", [RASCO, *(pytest.param(cls, marks=pytest.mark.nightly) for cls in FAMILY[1:])]
)
def test_same_answer_for_any_number_of_jobs(cls, estimator, n_jobs):
    X, y, _ = make_digits()
    one = cls(estimator, n_members=5, random_state=4).fit(X, y)
    some = cls(estimator, n_members=5, random_state=4, n_jobs=n_jobs).fit(X, y)
    assert_array_equal(one.transduction_, some.transduction_)
    assert_array_equal(one.predict_proba(X), some.predict_proba(X))
    again = cls(estimator, n_members=5, random_state=5).fit(X, y)
    assert not np.array_equal(one.subspaces_, again.subspaces_)


def test_without_kernels():
    X, y, _ = make_digits()
    model = RASCO(n_members=4, max_iter=None).fit(X, y)
    with _kernels.numpy_only():
        other = RASCO(n_members=4, max_iter=None).fit(X, y)
    assert_array_equal(model.labeled_iter_, other.labeled_iter_)
    assert_array_equal(model.predict_proba(X), other.predict_proba(X))


def test_blocks_of_rows(monkeypatch):
    X, y, truth = make_digits()
    model = RASCO(n_members=4).fit(X, y)
    at_once = model.predict_proba(X), model.evaluate_committee(X, truth)
    monkeypatch.setattr(_subspace_loop, "BLOCK_SHARES", 60)
    assert_array_equal(model.predict_proba(X), at_once[0])
    assert_allclose(model.evaluate_committee(X, truth), at_once[1])


@pytest.mark.usefixtures("stay_sparse")
@pytest.mark.parametrize("most", [1000, 3])
def test_sparse_equals_dense(monkeypatch, most):
    monkeypatch.setattr(_subspace_loop, "MAX_DENSE_COLUMNS", most)
    data = make_data(n_features=20)
    dense = RelRASCO(n_members=4).fit(data.X, data.y)
    sparse = RelRASCO(n_members=4).fit(csr_array(data.X), data.y)
    assert isinstance(dense._members, _subspace_loop.NeighbourPredictors)
    assert isinstance(sparse._members, _subspace_loop.NeighbourPredictors) == (most == 1000)
    assert_array_equal(dense.labeled_iter_, sparse.labeled_iter_)
    assert_allclose(
        dense.predict_proba(data.X), sparse.predict_proba(csr_array(data.X)), atol=1e-12
    )


def test_rows_leave_once_and_one_of_each_class_at_a_time():
    data = make_data(n_rows=80, n_classes=4, per_class=3)
    model = RASCO(max_iter=None, random_state=0).fit(data.X, data.y)
    assert_array_equal(model.transduction_[data.y >= 0], data.y[data.y >= 0])
    assert (model.labeled_iter_ >= 0).all()
    for iteration in range(1, model.n_iter_ + 1):
        added = model.transduction_[model.labeled_iter_ == iteration]
        assert 1 <= len(added) == len(np.unique(added))


def test_equally_sure_rows_stand_in_a_seeded_order():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 30, axis=0) + rng.normal(size=(60, 2)) * 1e-3
    y = np.full(60, -1)
    y[[0, 1, 2, 30, 31, 32]] = [0, 0, 0, 1, 1, 1]
    first = {
        tuple(np.flatnonzero(RASCO(max_iter=1, random_state=seed).fit(X, y).labeled_iter_ == 1))
        for seed in range(12)
    }
    assert len(first) > 6


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_votes_and_diagnosis(voting):
    data = make_data(n_rows=100, n_classes=3, per_class=4)
    model = RASCO(GaussianNB(), n_members=5, max_features=2, voting=voting, random_state=1)
    model.fit(data.X[:60], data.y[:60])
    X, truth = data.X[60:], data.y_true[60:]
    for when, members in (("begin", model._first_members.fitted), ("end", model._members.fitted)):
        shares = np.array([m.estimator.predict_proba(X[:, m.columns]) for m in members])
        choices = shares.argmax(axis=2)
        votes = shares.mean(axis=0)
        if voting == "hard":
            votes = np.array([np.bincount(own, minlength=3) / 5 for own in choices.T])
        right = choices == truth
        quality = getattr(model.evaluate_committee(X, truth), when)
        assert quality.accuracy == pytest.approx((votes.argmax(axis=1) == truth).mean())
        assert quality.member_accuracy == pytest.approx(right.mean())
        assert quality.diversity == pytest.approx(entropy_diversity(right))
    assert_allclose(model.predict_proba(X), votes)
    assert_array_equal(model.predict(X), votes.argmax(axis=1))
    assert model.score(X, truth) == quality.accuracy
    known = data.y[:60] >= 0  # what the members of the beginning have seen
    first = model._first_members.fitted[0]
    expected = GaussianNB().fit(data.X[:60][known][:, first.columns], data.y[:60][known])
    assert_allclose(first.estimator.theta_, expected.theta_)


def test_relevant_subspaces_hold_more_informative_columns():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 200))
    X[:, :10] += 3 * y[:, None]
    hidden = np.where(np.arange(120) < 40, y, -1)
    share = {cls: (cls(random_state=0).fit(X, hidden).subspaces_ < 10).mean() for cls in FAMILY}
    assert share[RelRASCO] > 2 * share[RASCO]
    assert share[ProbMRMR] > 2 * share[RASCO]


def test_subspace_size():
    for size, n_columns, expected in [
        ("auto", 8, 4),
        ("auto", 7, 4),
        ("auto", 60, 25),
        (3, 8, 3),
        (99, 8, 8),
        (0.5, 8, 4),
        (1, 8, 1),
    ]:
        data = make_data(n_features=n_columns)
        model = RASCO(n_members=3, max_features=size, max_iter=1).fit(data.X, data.y)
        assert model.subspaces_.shape == (3, expected)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearSVC(),
        pytest.param(RandomForestClassifier(n_estimators=5), marks=pytest.mark.nightly),
        pytest.param(LogisticRegression(), marks=pytest.mark.nightly),
    ],
)
def test_any_estimator(estimator):
    data = make_data()
    model = RelRASCO(estimator, n_members=5, random_state=0).fit(data.X, data.y)
    again = RelRASCO(estimator, n_members=5, random_state=0).fit(data.X, data.y)
    assert_array_equal(model.transduction_, again.transduction_)
    assert model.score(data.X, data.y_true) > 0.7


def test_no_iteration_is_the_supervised_committee():
    data = make_data()
    model = RASCO(max_iter=0).fit(data.X, data.y)
    assert_array_equal(model.transduction_, data.y)
    assert model.n_iter_ == 0
    begin, end = model.evaluate_committee(data.X, data.y_true)
    assert begin == end


def test_refuses_what_is_no_classifier():
    data = make_data()
    with pytest.raises(ValueError, match="estimator must be a classifier"):
        RASCO(LinearRegression()).fit(data.X, data.y)
    with pytest.raises(ValueError, match="must have a labelled row"):
        RASCO().fit(data.X, data.y).evaluate_committee(data.X, np.full(60, -1))


def test_labels_rightly(path):
    data = make_data(n_rows=100, per_class=8)
    X = data.X.copy()
    X[:, :4] += 4.0 * data.y_true[:, None]
    model = RelRASCO(max_iter=None).fit(X, data.y)
    assert (model.transduction_ == data.y_true).mean() > 0.95
