"""Sparse and dense tables of whole numbers, in which much ties, give the same answers."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from semisift import CLASSIFIERS, METHODS, SSFI, CoBC, CoTraining, SelfTraining
from semisift.utils import _columns
from tests.methods.test_common import spread

pytestmark = pytest.mark.filterwarnings(
    "ignore::semisift.FallbackWarning", "ignore::semisift.GraphWarning"
)

MODELS = {name: entry.cls for name, entry in (METHODS | CLASSIFIERS).items()}
del MODELS["labelled-only"]  # hands X on as it is

FORMS = [sparse.csr_matrix, sparse.csc_array]


def whole_numbers(seed, n_rows=40):
    """Return few different numbers, most of them 0 in some columns, and a few labels."""
    rng = np.random.default_rng(seed)
    n_features, n_classes = 8 + 4 * (seed % 3), 2 + seed % 2
    X = rng.integers(0, 4, (n_rows, n_features)).astype(float)
    X *= rng.random(X.shape) < rng.choice([0.05, 0.3, 1.0], n_features)
    y = np.full(n_rows, -1)
    y[: 3 * n_classes] = np.arange(3 * n_classes) % n_classes
    return X, y


def small(cls):
    known = inspect.signature(cls).parameters
    return cls(**{key: value for key, value in {"n_members": 20}.items() if key in known})


def answers(model, X):
    if hasattr(model, "ranking_"):
        return model.scores_, model.ranking_
    when = getattr(model, "labeled_iter_", ())  # of those that label in a loop
    return model.transduction_, when, model.predict(X), model.predict_proba(X)


def assert_same_answers(model, seed):
    X, y = whole_numbers(seed)
    expected = answers(model.fit(X, y), X)
    for form in FORMS:
        for found, wanted in zip(answers(model.fit(form(X), y), form(X)), expected, strict=True):
            assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", spread(MODELS))
def test_ties_are_the_same(name):
    for seed in range(6):
        assert_same_answers(small(MODELS[name]), seed)


@pytest.mark.parametrize(
    "model",
    [
        SelfTraining(label_by="min_confidence"),
        CoTraining(KNeighborsClassifier(1)),
        CoBC(estimator=KNeighborsClassifier(3), n_members=3, max_iter=2),
        SSFI(estimator=KNeighborsClassifier(3), n_members=10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_neighbours_that_tie_are_the_same(model):
    for seed in range(3):
        assert_same_answers(model, seed)


def test_sparse_rows_to_predict_are_made_dense_in_blocks(monkeypatch):
    X, y = whole_numbers(0)
    model = CoTraining().fit(sparse.csr_array(X), y)
    expected = model.predict_proba(X)
    monkeypatch.setattr(_columns, "BLOCK_VALUES", 20)
    assert_array_equal(model.predict_proba(sparse.csr_array(X)), expected)
