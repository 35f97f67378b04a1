"""Committees on input that is too little, too large or wrong."""

from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from semisift import CLASSIFIERS, METHODS, SEFR, SSFI, FeatureRanker


@pytest.mark.parametrize("ranker", [SSFI(n_members=20), SEFR(n_members=20)])
class TestBadInput:
    def test_one_labelled_row_in_a_class(self, ranker, data):
        y = data.y.copy()
        y[np.flatnonzero(y == 1)[1:]] = -1
        assert_array_equal(np.sort(ranker.fit(data.X, y).ranking_), np.arange(1, 9))

    def test_one_labelled_row_in_each_class(self, ranker, data):
        y = np.full(len(data.y), -1)
        y[:2] = 0, 1
        assert_array_equal(np.sort(ranker.fit(data.X, y).ranking_), np.arange(1, 9))

    def test_fewer_features_than_asked_to_draw(self, ranker, data):
        ranker = clone(ranker).set_params(max_features=50)
        assert_array_equal(ranker.fit(data.X, data.y).n_draws_, 20)

    def test_one_unlabelled_row(self, ranker, data):
        y = data.y_true.copy()
        y[3] = -1
        ranker.fit(data.X, y)
        assert ranker.scores_[:2].min() > ranker.scores_[2:].max()
        if isinstance(ranker, SSFI):
            assert ranker.transduction_[3] == data.y_true[3]
            assert ranker.confidence_[3] > 0.5

    def test_duplicated_rows_with_other_labels(self, ranker):
        X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 10, axis=0)
        y = np.array([0, 1] * 5 + [-1] * 10)
        scores = ranker.fit(X, y).scores_
        assert not np.isinf(scores).any()

    def test_more_classes_than_a_byte(self, ranker):
        rng = np.random.default_rng(0)
        y = np.r_[np.arange(300), np.arange(300), np.full(60, -1)]
        X = rng.normal(size=(660, 4))
        assert_array_equal(np.sort(ranker.fit(X, y).ranking_), np.arange(1, 5))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([1.0], "must be 2 positive numbers"),
        ([0.5, 0.5, 0.5], "must be 2 positive numbers"),
        ([1.0, 0.0], "must be 2 positive numbers"),
        ([np.nan, 1.0], "must be 2 positive numbers"),
        ([1e-300, 1e300], "must be 2 positive numbers"),
        (["a", "b"], "must be 2 positive numbers"),
        ({0: 0.5}, r"\[1\] missing"),
    ],
)
def test_bad_prior(prior, message, data):
    with pytest.raises(ValueError, match=message):
        SSFI(class_prior=prior, n_members=10).fit(data.X, data.y)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_members", 0),
        ("max_features", "log2"),
        ("max_iter", -1),
        ("growth", 0),
        ("variant", "printed"),
        ("estimator", 3),
        ("permutation", True),
    ],
)
def test_bad_parameter(parameter, value, data):
    with pytest.raises(ValueError, match=f"'{parameter}' parameter of SSFI must be"):
        SSFI(**{parameter: value}).fit(data.X, data.y)


THREADED = {
    entry.cls
    for entry in (METHODS | CLASSIFIERS).values()
    if "n_jobs" in signature(entry.cls).parameters
}


def test_no_thread_at_all_is_refused_by_name(data):
    for cls in THREADED:
        with pytest.raises(ValueError, match=f"'n_jobs' parameter of {cls.__name__} must be None"):
            cls(n_jobs=0).fit(data.X, data.y)


@pytest.mark.parametrize(
    ("scores", "got"),
    [
        ([1.0], r"dtype float64 and shape \(1,\)"),
        (np.ones((8, 1)), r"shape \(8, 1\)"),
        (np.ones(9), r"shape \(9,\)"),
        (None, "None"),
        (3.0, "3.0"),
        (list("abcdefgh"), "dtype <U1"),
        (["1.5"] * 8, "dtype <U3"),
        ([1.0] * 7 + [None], "dtype object"),
        (np.ones(8) * 1j, "dtype complex128"),
        ([[1.0], [1.0, 2.0]], "dtype object"),
    ],
)
def test_scores_of_a_ranker_of_ones_own(scores, got, data):
    class Own(FeatureRanker):
        def _score(self, training):
            return scores

    rule = "_score of Own must return one number for each of the 8 columns: got "
    with pytest.raises(ValueError, match=f"{rule}(an array of )?.*{got}"):
        Own().fit(data.X, data.y)


@pytest.mark.parametrize("form", [list, np.float32, np.int8, lambda scores: scores.astype(object)])
def test_scores_in_any_form_of_numbers(form, data):
    class Own(FeatureRanker):
        def _score(self, training):
            return form(np.arange(8.0))

    ranker = Own().fit(data.X, data.y)
    assert ranker.scores_.dtype == np.float64
    assert_array_equal(ranker.ranking_, np.arange(8, 0, -1))
