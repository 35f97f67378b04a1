"""RLSR: golden values, the slow reference, and the properties of its descent."""

from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone

from semisift import RLSR
from semisift.embedded import rlsr as module
from semisift.embedded.rlsr import TallRegression, WideRegression, descend, project_on_simplex
from semisift.utils._columns import ScaledColumns
from tests.conftest import make_data
from tests.nightly import few_daily
from tests.reference import rlsr as slow

T1 = np.array([[0, 0, 2], [1, 3, 2], [4, 0, 2], [5, 3, 2], [0, 2, 2], [5, 1, 2]], dtype=float)
T1_Y = np.array([0, 0, 1, 1, -1, -1])

regressions = pytest.mark.parametrize("regression", [WideRegression, TallRegression])


def as_given(X):
    rows, p = np.arange(X.shape[0]), X.shape[1]
    return ScaledColumns(X, rows, np.ones(p), np.zeros(p), np.ones(p))


def states_of(regression, X, y, gamma=1.0, n_steps=20, **options):
    usable = np.ones(X.shape[1], dtype=bool)
    states = descend(regression(as_given(X)), usable, y, y.max() + 1, gamma, **options)
    return list(islice(states, n_steps))


@regressions
def test_by_hand(regression):
    states = states_of(regression, T1, T1_Y, n_inner=10, n_steps=8)
    assert_allclose(states[-1].theta, [0.849947, 0.150024, 0.000028], atol=5e-7)
    assert_allclose(states[-1].objective, 0.2, atol=1e-8)
    assert_allclose(states[-1].shares[4:], [[1, 0], [0, 1]], atol=1e-12)
    assert_allclose(states[4].theta, states[-1].theta, atol=1e-9)
    path = [state.objective for state in states]
    assert (np.diff(path) <= 1e-9).all()


def test_the_printed_form_by_hand():
    ranker = RLSR(variant="paper").fit(T1, T1_Y)
    assert_allclose(ranker.scores_ / ranker.scores_[0], [1, 0.150024 / 0.849947, np.nan], atol=1e-5)
    assert ranker.n_iter_ == len(ranker.objective_path_) <= 8


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ([0.5, 0.8, -0.3], [0.35, 0.65, 0]),
        ([1 / 3, 1 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]),
        ([5.0, 0.0, 0.0], [1, 0, 0]),
        ([-9.0, -9.0, -9.0], [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_simplex_by_hand(point, expected):
    assert_allclose(project_on_simplex(np.array([point])), [expected], atol=1e-12)


def test_simplex_against_the_reference():
    points = np.random.default_rng(0).normal(size=(200, 5))
    expected = [slow.on_simplex(point) for point in points]
    assert_allclose(project_on_simplex(points), expected, atol=1e-12)


def cases():
    for seed, (n, p, k) in enumerate([(30, 6, 2), (30, 6, 3), (20, 50, 2), (24, 40, 4)]):
        data = make_data(n_rows=n, n_features=p, n_classes=k, per_class=3, seed=seed)
        yield data.X, data.y


@regressions
@pytest.mark.parametrize("form", [np.asarray, csc_array])
@pytest.mark.parametrize("gamma", few_daily([0.1, 1.0, 30.0], 1))
@pytest.mark.parametrize("n_inner", [1, 10])
def test_against_the_reference(regression, form, gamma, n_inner):
    for X, y in cases():
        theta, _, _, shares, path = slow.rlsr(X, y, gamma, n_inner, n_steps=6)
        states = states_of(regression, form(X), y, gamma, 6, n_inner=n_inner)
        assert_allclose(states[-1].theta, theta, rtol=1e-6, atol=1e-10)
        assert_allclose(states[-1].shares, shares, atol=1e-6)
        assert_allclose([state.objective for state in states], path, rtol=1e-6)


@pytest.mark.parametrize("n_inner", [1, 10])
def test_the_objective_falls_and_weights_add_up(n_inner):
    for X, y in cases():
        states = states_of(WideRegression, X, y, n_steps=40, n_inner=n_inner)
        path = np.array([state.objective for state in states])
        assert (np.diff(path) <= 1e-6 * path[:-1]).all()
        for state in states:
            assert_allclose(state.theta.sum(), 1.0)
            assert_allclose(state.shares.sum(axis=1), 1.0)
            assert state.shares.min() >= 0


def test_names_of_three_classes_do_not_matter():
    data = make_data(n_classes=3)
    renamed = np.where(data.y < 0, -1, (data.y + 1) % 3)
    expected = RLSR().fit(data.X, data.y).scores_
    assert_allclose(RLSR().fit(data.X, renamed).scores_, expected, rtol=1e-8)


def test_without_unlabelled_rows_it_is_a_regression(data):
    with pytest.warns(UserWarning, match="no unlabelled row"):
        ranker = RLSR(variant="paper").fit(data.X, data.y_true)
    theta, *_ = slow.rlsr(data.X, data.y_true, n_inner=10, n_steps=ranker.n_iter_)
    assert_allclose(ranker.scores_, theta, rtol=1e-6)


def test_finds_the_columns_of_the_classes():
    data = make_data(n_rows=90, n_features=200, per_class=15, seed=3)
    assert max(RLSR().fit(data.X, data.y).ranking_[:2]) <= 10


@pytest.mark.usefixtures("stay_sparse")
def test_sparse_columns_stay_sparse(monkeypatch):
    rng = np.random.default_rng(0)
    X = csr_array((rng.random((80, 300)) < 0.04) * rng.integers(1, 4, size=(80, 300)).astype(float))
    y = np.where(np.arange(80) < 12, np.arange(80) % 2, -1)
    expected = RLSR().fit(X.toarray(), y).scores_
    monkeypatch.setattr(csc_array, "toarray", refuse_full(csc_array.toarray, X.shape))
    assert_allclose(RLSR().fit(X, y).scores_, expected, rtol=1e-6, atol=1e-12)


def refuse_full(toarray, shape):
    def checked(self, *args, **options):
        assert self.shape != shape, "the whole matrix was made dense"
        return toarray(self, *args, **options)

    return checked


def test_unlabelled_rows_are_limited_where_columns_are_many():
    data = make_data(n_rows=60, n_features=30)
    full = RLSR(max_unlabelled=None).fit(data.X, data.y).scores_
    assert_array_equal(RLSR(max_unlabelled=48).fit(data.X, data.y).scores_, full)
    assert_array_equal(RLSR(max_unlabelled=30).fit(data.X, data.y).scores_, full)
    few = RLSR(max_unlabelled=10, random_state=0).fit(data.X, data.y)
    assert not np.allclose(few.scores_, full)
    other = clone(few).set_params(random_state=1).fit(data.X, data.y)
    assert not np.allclose(few.scores_, other.scores_)


def test_too_many_unknowns(monkeypatch):
    data = make_data(n_rows=60, n_features=30)
    monkeypatch.setattr(module, "MAX_UNKNOWNS", 20)
    with pytest.raises(ValueError, match=r"at most 20: got 60 rows, 12 of them labelled, and 30"):
        RLSR(max_unlabelled=None).fit(data.X, data.y)


def test_stops_where_it_is_told(data):
    assert RLSR(max_iter=3, tol=0).fit(data.X, data.y).n_iter_ == 3
    ranker = RLSR(tol=0.05).fit(data.X, data.y)
    path = ranker.objective_path_
    assert ranker.n_iter_ < 100
    assert 1 - path[-1] / path[-2] <= 0.05
    assert (1 - path[1:-1] / path[:-2] > 0.05).all()


@pytest.mark.parametrize("unit", [1e-3, 1e4])
def test_units_of_columns(unit, data):
    scaled = data.X * np.where(np.arange(8) % 2, unit, 1.0)
    standard = RLSR(feature_scaling="standard")
    expected = standard.fit(data.X, data.y).scores_
    assert_allclose(standard.fit(scaled, data.y).scores_, expected, rtol=1e-5)
    plain, printed = RLSR(), RLSR(variant="paper")
    expected = plain.fit(data.X, data.y).scores_
    assert not np.allclose(plain.fit(scaled, data.y).scores_, expected)
    assert_allclose(plain.fit(data.X * unit, data.y).scores_, expected, rtol=1e-5)
    expected = printed.fit(data.X, data.y).scores_
    assert not np.allclose(printed.fit(data.X * unit, data.y).scores_, expected)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_the_printed_form_of_huge_values(unit, data):
    ranker = RLSR(variant="paper").fit(data.X * unit, data.y)
    assert np.isfinite(ranker.scores_).all()
