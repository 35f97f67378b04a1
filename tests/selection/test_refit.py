"""What the rules stand on: thresholds, knockoffs, shadows and the test with the maximum."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from semisift import FisherScore, LaplacianScore, SSelect
from semisift.base._training_data import TrainingData
from semisift.selection import _refit
from semisift.selection._knockoff import gaussian_knockoffs, knockoff_threshold
from semisift.selection._refit import (
    MaxStatisticTest,
    Scorer,
    is_significant,
    with_columns,
    with_shadows,
)
from semisift.selection._stability import choose_n_best, expected_errors
from semisift.utils._graph import GraphOptions

W = np.array([5, 4.2, 3.9, 3.1, 2.8, 2.2, -1.5, 1.2, -0.7, 0.4])


def test_knockoff_thresholds():
    assert knockoff_threshold(W, 0.2) == 2.2
    assert (knockoff_threshold(W, 0.2) <= W).sum() == 6
    assert knockoff_threshold(W, 0.2, offset=0) == 1.2
    assert (knockoff_threshold(W, 0.2, offset=0) <= W).sum() == 7


def test_knockoffs_without_a_positive_difference_select_none():
    assert knockoff_threshold(-np.abs(W), 0.2) == np.inf
    assert knockoff_threshold(np.zeros(4), 0.2, offset=0) == np.inf


@pytest.mark.parametrize("seed", range(3))
def test_knockoff_threshold_is_the_lowest_that_keeps_the_share(seed):
    values = np.round(np.random.default_rng(seed).normal(0.6, 1, 30), 1)
    for offset, q in itertools.product((0, 1), (0.1, 0.2, 0.4)):
        sizes = sorted(set(np.abs(values)) - {0.0})
        enough = [
            t for t in sizes if (offset + (values <= -t).sum()) / max(1, (values >= t).sum()) <= q
        ]
        assert knockoff_threshold(values, q, offset) == min(enough, default=np.inf)
    plus, plain = (knockoff_threshold(values, 0.2, offset) for offset in (1, 0))
    assert plain <= plus


def test_stability_bound():
    assert_allclose(expected_errors(10, 0.9, 1000), 0.125)
    assert choose_n_best(1000) == 22
    assert [choose_n_best(p) for p in (1, 2, 3, 8)] == [1, 1, 1, 2]
    assert all(expected_errors(choose_n_best(p), 0.75, p) <= 1 for p in range(2, 400))


def test_knockoffs_have_the_moments_of_the_columns():
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(4, 4))
    X = rng.normal(size=(40_000, 4)) @ mixing + [0, 5, -3, 100]
    made = gaussian_knockoffs(X, 1)
    own = np.cov(X.T)
    assert_allclose(made.mean(axis=0), X.mean(axis=0), atol=0.1)
    assert_allclose(np.cov(made.T), own, atol=0.03 * np.abs(own).max())
    between = np.cov(X.T, made.T)[:4, 4:]
    off = ~np.eye(4, dtype=bool)
    assert_allclose(between[off], own[off], atol=0.03 * np.abs(own).max())
    assert (np.diag(between) < np.diag(own)).all()


@pytest.mark.parametrize("shape", [(30, 8), (30, 20), (20, 30), (12, 12)])
def test_knockoffs_do_not_depend_on_units(shape):
    X = np.random.default_rng(0).normal(size=shape)
    X[:, 3] = 2.0
    made = gaussian_knockoffs(X, 0)
    assert_allclose(gaussian_knockoffs(X * 1e200, 0), made * 1e200, rtol=1e-9)
    assert_array_equal(made[:, 3], X[:, 3])
    assert np.isfinite(made).all()


def test_swapping_a_column_and_its_knockoff_turns_its_sign_alone(data):
    # Laplacian: the graph must see both alike
    made = gaussian_knockoffs(data.X, 0)
    for cls in (FisherScore, LaplacianScore, SSelect):
        ranker = cls().fit(data.X, data.y)
        values = []
        for flip in (False, True):
            own, other = data.X.copy(), made.copy()
            if flip:
                own[:, 2], other[:, 2] = made[:, 2], data.X[:, 2]
            training = TrainingData.build(own, data.y)
            both = with_columns(training, np.asfortranarray(other), 0, own_graph=True)
            scores = Scorer(ranker).scores(both)
            values.append(scores[:8] - scores[8:])
        sign = np.where(np.arange(8) == 2, -1, 1)
        assert_allclose(values[1], sign * values[0], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_shadows_are_shuffled_columns(form, data):
    X = data.X * (np.random.default_rng(1).random(data.X.shape) < 0.5)
    training = TrainingData.build(form(X), data.y)
    both = with_shadows(training, 3)
    values = both.X.toarray() if sparse.issparse(both.X) else both.X
    assert_array_equal(values[:, :8], X)
    assert_array_equal(np.sort(values[:, 8:], axis=0), np.sort(X, axis=0))
    assert (values[:, 8:] != X).any(axis=0).all()
    dense = with_shadows(TrainingData.build(X, data.y), 3).X
    assert_array_equal(values, dense)


def test_few_columns_have_five_shadows(data):
    assert with_shadows(TrainingData.build(data.X[:, :2], data.y), 0).n_features == 2 + 6


def test_graph_is_that_of_the_real_columns(data):
    X = np.repeat(data.X[:30], 2, axis=0)  # rows that are equal, but not in their shadows
    training = TrainingData.build(X, data.y)
    both = with_shadows(training, 0)
    options = GraphOptions(n_neighbors=5)
    own, split = training.graph(options), both.graph(options)
    assert len(own.rows) == 30
    assert len(split.rows) == 60
    assert_allclose(split.n_edges, own.n_edges)
    scores = LaplacianScore()._score(training)
    assert_allclose(LaplacianScore()._score(both)[:8], scores, rtol=1e-9)


def test_max_test():
    test = MaxStatisticTest(3)
    for number in range(39):
        test.add(np.array([2.0, 1.0 if number < 20 else 3.0, -np.inf]), np.array([1.0, -np.inf]))
        assert test.is_over() is False
    assert_array_equal(test.hits, [39, 19, 0])
    assert_allclose(test.p_values, [1 / 40, 21 / 40, 1])
    assert_array_equal(is_significant(test.p_values), [True, False, False])


def test_max_test_is_over_only_when_nothing_can_change():
    # whatever comes, the columns that pass at the end are those that pass when it was over
    rng = np.random.default_rng(0)
    for _ in range(200):
        test, over = MaxStatisticTest(4), None
        chance = rng.choice([0, 0.01, 0.025, 0.3, 0.9], size=4)
        for _ in range(_refit.MAX):
            test.add(np.where(rng.random(4) < chance, 0.0, 2.0), np.ones(1))
            if over is None and test.is_over():
                over = is_significant(test.p_values)
        assert over is not None
        assert_array_equal(over, is_significant(test.p_values))
