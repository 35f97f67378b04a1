import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array
from sklearn.model_selection import cross_val_score
from threadpoolctl import threadpool_limits

from semisift import NoUnlabelledDataWarning, TransductiveClassifier, TransductiveScore
from semisift.base._training_data import TrainingData
from semisift.transduction._components import components, find_axes
from tests.conftest import make_data


def counts(n_rows=300, n_columns=250, seed=0):
    """Return counts of which the first ten columns follow the class, and few labels."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % 2
    mean = np.full((n_rows, n_columns), 0.4)
    mean[:, :10] += 2.0 * truth[:, None]
    return rng.poisson(mean).astype(float), np.where(np.arange(n_rows) < 10, truth, -1), truth


def test_it_says_what_the_ranker_says(data):
    model = TransductiveClassifier().fit(data.X, data.y)
    ranker = TransductiveScore().fit(data.X, data.y)
    assert_allclose(model.label_distributions_, ranker.label_distributions_, atol=1e-9)
    assert_array_equal(model.transduction_, ranker.transduction_)
    assert model.stability_ == ranker.stability_
    assert model.recovered_ == ranker.recovered_
    assert model.score(data.X, data.y_true) > 0.9


@pytest.mark.parametrize("kind", ["measurements", "counts"])
@pytest.mark.parametrize(
    ("form", "large"),
    [
        (np.asarray, False),
        (csr_array, True),
        pytest.param(np.asarray, True, marks=pytest.mark.nightly),
        pytest.param(csr_array, False, marks=pytest.mark.nightly),
    ],
)
def test_rows_of_the_fit_are_predicted_as_they_were_labelled(form, large, kind, request):
    X, y, truth = counts()
    if kind == "measurements":
        X = X + np.random.default_rng(1).normal(size=X.shape)
    if large:
        request.getfixturevalue("stay_sparse")
    model = TransductiveClassifier().fit(form(X), y)
    hidden = y < 0
    found = model.predict_proba(form(X))
    assert_allclose(found[hidden], model.label_distributions_[hidden], atol=1e-12)
    assert_array_equal(model.predict(form(X))[hidden], model.transduction_[hidden])
    assert_allclose(model.label_distributions_[~hidden].max(axis=1), 1)
    assert_allclose(model.predict_proba(form(X[40:60])), found[40:60], atol=1e-9)
    assert np.mean(model.transduction_ == truth) > 0.9


@pytest.mark.parametrize(("n_rows", "n_columns", "atol"), [(80, 300, 1e-9), (300, 250, 0.3)])
def test_rows_are_placed_where_their_components_are(n_rows, n_columns, atol):
    """Exactly where there are few; else to the error of the range finder, of a spread of 3."""
    X, y, _ = counts(n_rows, n_columns)
    data = TrainingData.build(X, y)
    T = components(data)
    placed = find_axes(data).place(data.X)
    assert_allclose(placed[:, 0], T[:, 0], atol=atol / 100)
    assert np.abs(placed - T).std() < atol


def test_new_rows_are_labelled():
    X, y, truth = counts(600)
    model = TransductiveClassifier().fit(X[:300], y[:300])
    assert np.mean(model.predict(X[300:]) == truth[300:]) > 0.95
    assert_allclose(model.predict_proba(X[300:]).sum(axis=1), 1)


def test_counts_of_a_row_may_have_any_total():
    X, y, _ = counts()
    model = TransductiveClassifier().fit(X, y)
    assert_allclose(model.predict_proba(X[20:] * 7), model.predict_proba(X[20:]), atol=1e-12)


def test_units_do_not_matter(data):
    expected = TransductiveClassifier().fit(data.X, data.y)
    for scale in (1e-300, 1e-5, 1e300):
        X = data.X * scale
        model = TransductiveClassifier().fit(X, data.y)
        assert_array_equal(model.transduction_, expected.transduction_)
        assert_allclose(model.predict_proba(X), expected.predict_proba(data.X), atol=1e-6)


def test_a_new_row_may_be_far_away(data):
    model = TransductiveClassifier().fit(data.X, data.y)
    for value in (1e30, 1e300, -1e308):
        found = model.predict_proba(np.where(np.arange(8) == 3, value, data.X[:5]))
        assert np.isfinite(found).all()
        assert_allclose(found.sum(axis=1), 1)


def test_constant_columns_do_not_count(data):
    expected = TransductiveClassifier().fit(data.X, data.y).predict_proba(data.X)
    X = np.hstack([data.X, np.full((60, 1), 7.0), np.zeros((60, 1))])
    model = TransductiveClassifier().fit(X, data.y)
    assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    moved = X + np.r_[np.zeros(8), 5.0, 5.0]
    assert_allclose(model.predict_proba(moved), expected, atol=1e-12)


def test_a_constant_table_says_nothing(data):
    model = TransductiveClassifier().fit(np.ones((60, 3)), data.y)
    assert_allclose(model.predict_proba(data.X[:, :3]), 0.5)


def test_the_class_prior_is_heard(data):
    shares = [
        TransductiveClassifier(class_prior=prior).fit(data.X, data.y).label_distributions_
        for prior in ({0: 3, 1: 1}, [0.5, 0.5], [0.25, 0.75])
    ]
    few, half, many = (each[:, 1].mean() for each in shares)
    assert few < half < many
    with pytest.raises(ValueError, match="class_prior must be 2 positive numbers"):
        TransductiveClassifier(class_prior=[1, 1, 1]).fit(data.X, data.y)


def test_kinds_of_labels(data):
    model = TransductiveClassifier().fit(data.X, data.y)
    names = np.array([None, "no", "yes"], dtype=object)
    named = TransductiveClassifier().fit(data.X, names[data.y + 1])
    assert_array_equal(named.classes_, ["no", "yes"])
    assert_array_equal(named.predict(data.X), names[model.predict(data.X) + 1])
    floats = TransductiveClassifier().fit(data.X, np.where(data.y < 0, np.nan, data.y))
    assert_array_equal(floats.predict_proba(data.X), model.predict_proba(data.X))


def test_forms_of_x(data):
    expected = TransductiveClassifier().fit(data.X, data.y).predict_proba(data.X)
    frames = (pytest.importorskip(name).DataFrame for name in ("pandas", "polars"))
    for form in (csr_array, csc_array, np.float32, *frames):
        X = form(data.X)
        found = TransductiveClassifier().fit(X, data.y).predict_proba(X)
        assert_allclose(found, expected, atol=1e-12)


def test_the_order_of_rows_does_not_matter():
    data = make_data(n_classes=3)
    order = np.random.default_rng(0).permutation(60)
    model = TransductiveClassifier().fit(data.X, data.y)
    other = TransductiveClassifier().fit(data.X[order], data.y[order])
    assert_allclose(other.label_distributions_, model.label_distributions_[order], atol=1e-9)


def test_threads_and_pickle_do_not_matter():
    X, y, _ = counts()
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            model = pickle.loads(pickle.dumps(TransductiveClassifier().fit(X, y)))
            found.append(model.predict_proba(X))
    assert_array_equal(*found)


def test_scores_labelled_rows_alone(data):
    model = TransductiveClassifier().fit(data.X, data.y)
    known = data.y >= 0
    assert model.score(data.X, data.y) == model.score(data.X[known], data.y[known])
    assert len(cross_val_score(model, data.X, data.y, cv=2)) == 2


def test_too_few_and_too_many_labels(data):
    with pytest.raises(ValueError, match="needs labelled rows of at least two classes"):
        TransductiveClassifier().fit(data.X[:2], [0, -1])
    with pytest.warns(NoUnlabelledDataWarning, match="no unlabelled row"):
        model = TransductiveClassifier().fit(data.X, data.y_true)
    assert_array_equal(model.transduction_, data.y_true)


def test_groups_weights_and_missing_values_are_those_of_the_ranker(data):
    X = data.X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.15] = np.nan
    numbers = np.arange(len(X))
    known = {"groups": numbers // 4, "sample_weight": 1.0 + numbers % 3}
    model = TransductiveClassifier().fit(X, data.y, **known)
    ranker = TransductiveScore().fit(X, data.y, **known)
    assert_allclose(model.label_distributions_, ranker.label_distributions_, atol=1e-9)
    assert model.recovered_ == ranker.recovered_
    hidden = data.y < 0
    assert_allclose(model.predict_proba(X)[hidden], model.label_distributions_[hidden], atol=1e-12)
    plain = TransductiveClassifier().fit(X, data.y)
    assert not np.allclose(plain.label_distributions_, model.label_distributions_)
