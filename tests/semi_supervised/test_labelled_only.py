import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array, csc_array, csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from semisift import LabelledOnly


@pytest.fixture
def expected(data):
    rows = data.y != -1
    return LogisticRegression().fit(data.X[rows], data.y[rows])


def test_equals_the_classifier_fitted_on_the_labelled_rows(data, expected):
    model = LabelledOnly(LogisticRegression()).fit(data.X, data.y)
    assert_array_equal(model.classes_, [0, 1])
    assert_array_equal(model.predict(data.X), expected.predict(data.X))
    assert_array_equal(model.predict_proba(data.X), expected.predict_proba(data.X))
    assert_array_equal(model.decision_function(data.X), expected.decision_function(data.X))
    assert model.n_features_in_ == 8


def test_forms_of_x(data, expected):
    frames = (pytest.importorskip(name).DataFrame for name in ("pandas", "polars"))
    for form in (csr_array, csc_array, coo_array, *frames):
        X = form(data.X)
        model = LabelledOnly(LogisticRegression()).fit(X, data.y)
        assert_array_equal(model.predict(X), expected.predict(data.X))


def test_feature_names(data):
    X = pytest.importorskip("pandas").DataFrame(data.X, columns=list("abcdefgh"))
    model = LabelledOnly(LogisticRegression()).fit(X, data.y)
    assert_array_equal(model.feature_names_in_, list("abcdefgh"))
    assert not hasattr(model.fit(data.X, data.y), "feature_names_in_")


def test_predictions_have_the_type_of_the_labels(data, expected):
    for missing in (None, np.nan, pytest.importorskip("pandas").NA, -1):
        y = np.array([missing if code < 0 else "ab"[code] for code in data.y], dtype=object)
        model = LabelledOnly(LogisticRegression()).fit(data.X, y)
        assert model.classes_.tolist() == ["a", "b"]
        assert_array_equal(model.predict(data.X), np.array(["a", "b"])[expected.predict(data.X)])


def test_score_leaves_out_unlabelled_rows(data, expected):
    model = LabelledOnly(LogisticRegression()).fit(data.X, data.y)
    rows = data.y != -1
    assert model.score(data.X, data.y) == expected.score(data.X[rows], data.y[rows])
    assert model.score(data.X, data.y_true) == expected.score(data.X, data.y_true)


def test_sample_weight_is_cut_down_to_the_labelled_rows(data):
    weight = np.random.default_rng(0).random(60)
    rows = data.y != -1
    inner = LogisticRegression().fit(data.X[rows], data.y[rows], sample_weight=weight[rows])
    model = LabelledOnly(LogisticRegression()).fit(data.X, data.y, sample_weight=weight)
    assert_array_equal(model.estimator_.coef_, inner.coef_)
    score = inner.score(data.X[rows], data.y[rows], sample_weight=weight[rows])
    assert model.score(data.X, data.y, sample_weight=weight) == score


def test_metadata_routing(data):
    weight = np.random.default_rng(0).random(60)
    unrouted = LabelledOnly(LogisticRegression()).fit(data.X, data.y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        routed = LabelledOnly(inner).fit(data.X, data.y, sample_weight=weight)
    assert_array_equal(routed.estimator_.coef_, unrouted.estimator_.coef_)


def test_methods_follow_the_estimator():
    assert not hasattr(LabelledOnly(LinearSVC()), "predict_proba")
    assert not hasattr(LabelledOnly(DecisionTreeClassifier()), "decision_function")


def test_the_estimator_itself_is_not_fitted(data):
    inner = LogisticRegression()
    LabelledOnly(inner).fit(data.X, data.y)
    assert not hasattr(inner, "coef_")


def test_nothing_labelled(data):
    model = LabelledOnly(LogisticRegression())
    for y in (np.full(60, -1), [None] * 60):
        with pytest.raises(ValueError, match="needs a labelled row to fit: all 60 values of y"):
            model.fit(data.X, y)
        with pytest.raises(ValueError, match="needs a labelled row to score"):
            model.fit(data.X, data.y).score(data.X, y)


def test_y_is_required(data):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        LabelledOnly(LogisticRegression()).fit(data.X, None)


def test_cross_validation_and_grid_search(data):
    model = make_pipeline(VarianceThreshold(), LabelledOnly(LogisticRegression()))
    scores = cross_val_score(clone(model), data.X, data.y, cv=3)
    assert np.isfinite(scores).all()
    grid = {"labelledonly__estimator__C": [0.1, 1.0]}
    search = GridSearchCV(model, grid, cv=3).fit(data.X, data.y)
    assert_array_equal(search.classes_, [0, 1])
    assert search.score(data.X, data.y_true) > 0.8
