"""Rows that count for more or less than one: a row of weight 2 is two rows."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from semisift import METHODS, ConstraintScore, FisherScore, SemiMIM, VarianceScore
from semisift.base._ranker import WeightedPairRanker, WeightedRanker
from tests.nightly import nightly
from tests.reference import gaps as slow

WEIGHTED = [VarianceScore, FisherScore, ConstraintScore, SemiMIM]
PARAMS = [
    (VarianceScore, {}),
    (VarianceScore, {"feature_scaling": None}),
    (FisherScore, {}),
    (ConstraintScore, {}),
    (ConstraintScore, {"criterion": "difference"}),
    (SemiMIM, {}),
    (SemiMIM, {"class_prior": 0.9}),
]

each = pytest.mark.parametrize(("cls", "params"), PARAMS)
forms = pytest.mark.parametrize("form", [np.asarray, csr_array])


def make_rows(n_classes=2, seed=0):
    """Return 60 rows of which a half are labelled, some columns with zeros or few values."""
    rng = np.random.default_rng(seed)
    y_true = np.arange(60) % n_classes
    X = rng.normal(size=(60, 6)) + y_true[:, None] * [1.5, 0.5, 0, 0, 0, 0]
    X[:, 3] = rng.integers(0, 3, 60)
    X[:, 4:] *= rng.random((60, 2)) < 0.4
    return X, np.where(np.arange(60) < 30, y_true, -1), rng.integers(0, 4, 60)


def fit(cls, params, X, y, **known):
    y = None if cls is VarianceScore else y
    return cls(**params).fit(X, y, **known)


def test_who_takes_weights():
    takes = {
        METHODS[name].cls
        for name in METHODS
        if "sample_weight" in inspect.signature(METHODS[name].cls.fit).parameters
    }
    assert takes == {
        METHODS[name].cls
        for name in METHODS
        if issubclass(METHODS[name].cls, (WeightedRanker, WeightedPairRanker))
    }
    assert set(WEIGHTED) <= takes


@each
@forms
@pytest.mark.parametrize("n_classes", [nightly(2), 3])
def test_repetition(cls, params, form, n_classes):
    if params.get("class_prior") and n_classes > 2:
        params = {"class_prior": [0.1, 0.2, 0.7]}
    X, y, weights = make_rows(n_classes)
    weighted = fit(cls, params, form(X), y, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights)
    repeated = fit(cls, params, form(X[rows]), y[rows])
    assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-9)
    assert_array_equal(weighted.ranking_, repeated.ranking_)


@each
def test_repetition_with_missing_values(cls, params):
    X, y, weights = make_rows()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    weighted = fit(cls, params, X, y, sample_weight=weights)
    if cls is ConstraintScore:  # pairs are of different rows: copies of a row are none
        kept = weights > 0
        labels = np.where(kept, y, -1)
        sums = np.array([slow.pair_sums(f, labels, weights=weights) for f in X.T]).T
        ratio = params.get("criterion") is None
        expected = -sums[0] / sums[1] if ratio else 0.1 * sums[1] - sums[0]
        assert_allclose(weighted.scores_, expected)
        return
    rows = np.repeat(np.arange(60), weights)
    assert_allclose(weighted.scores_, fit(cls, params, X[rows], y[rows]).scores_, rtol=1e-9)


@each
@forms
def test_a_weight_of_zero_leaves_a_row_out(cls, params, form):
    X, y, weights = make_rows(3)
    if "class_prior" in params:
        params = {"class_prior": 0.9}
    weights = np.where((weights == 0) | (y == 2), 0.0, weights + 0.5)  # the last class is gone
    left = weights > 0
    found = fit(cls, params, form(X), y, sample_weight=weights)
    expected = fit(cls, params, form(X[left]), y[left], sample_weight=weights[left])
    assert_array_equal(found.scores_, expected.scores_)
    assert_array_equal(found.ranking_, expected.ranking_)
    if cls is not VarianceScore:
        assert found.classes_.tolist() == [0, 1]


@each
@forms
@pytest.mark.parametrize("weight", [nightly(1), nightly(1.0), 0.25, nightly(3)])
def test_equal_weights_rank_as_none(cls, params, form, weight):
    X, y, _ = make_rows()
    expected = fit(cls, params, form(X), y)
    for weights in (weight, np.full(60, weight)):
        found = fit(cls, params, form(X), y, sample_weight=weights)
        assert_array_equal(found.ranking_, expected.ranking_)
        if params.get("criterion") != "difference":
            assert_allclose(found.scores_, expected.scores_, rtol=1e-9)


def test_pairs_count_the_product_of_their_weights():
    X = np.array([[0.0, 1], [1, 5], [3, 2], [7, 2], [8, 0]])
    weights = np.array([1.0, 2, 3, 0.5, 1])
    must, cannot = [(0, 1), (2, 3)], [(1, 2), (0, 3)]
    ranker = ConstraintScore().fit(X, must_link=must, cannot_link=cannot, sample_weight=weights)
    sums = [
        [sum(w * (f[i] - f[j]) ** 2 for i, j, w in slow.listed(pairs, weights)) for f in X.T]
        for pairs in (must, cannot)
    ]
    assert_allclose(ranker.scores_, -np.array(sums[0]) / sums[1])
    weights[0] = 0
    without = ConstraintScore().fit(
        X[1:], must_link=[(1, 2)], cannot_link=[(0, 1)], sample_weight=weights[1:]
    )
    again = ConstraintScore().fit(X, must_link=must, cannot_link=cannot, sample_weight=weights)
    assert_array_equal(again.scores_, without.scores_)


def test_weights_with_a_rule_for_the_number_of_columns():
    X, y, weights = make_rows()
    X[:, 0] += 5 * (np.arange(60) % 2)
    ranker = FisherScore(n_features_to_select="shadow").fit(X, y, sample_weight=weights)
    assert ranker.decisions_[0] == "significant"


def test_fractions():
    X = np.array([[0.0], [2], [5]])
    found = VarianceScore(feature_scaling=None).fit(X, sample_weight=[0.5, 0.25, 0.25])
    mean = 1.75
    assert_allclose(found.scores_, 0.5 * mean**2 + 0.25 * (0.25**2 + 3.25**2))
