"""What the tests of the co-trained committees share."""

import numpy as np
from numpy.testing import assert_array_equal

from semisift.base._training_data import TrainingData

from .conftest import make_data
from .reference.committees_cotraining import Committee


def noisy_data(n_rows=60, n_classes=2, per_class=8, seed=0):
    """Return data on which committees err, so that all branches of the loops are taken."""
    data = make_data(n_rows, 5, n_classes, per_class, seed)
    rng = np.random.default_rng(seed + 1)
    X = np.round(data.X + rng.normal(scale=0.8, size=data.X.shape), 1)
    return data._replace(X=X)


def slow_committee(data, seed, n_members, m, *, at_nodes, soft=True):
    spread = TrainingData.build(data.X, data.y).spread
    codes = data.y.tolist()
    return Committee(data.X, codes, seed, n_members, m, at_nodes, spread, soft)


def first_rounds(first, y):
    """Return what `labeled_iter_` should be."""
    return [0 if label >= 0 else first.get(row, -1) for row, label in enumerate(y)]


def assert_same_model(model, other, X):
    assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    assert_array_equal(model.transduction_, other.transduction_)
    assert_array_equal(model.labeled_iter_, other.labeled_iter_)
    assert model.n_iter_ == other.n_iter_


def probabilities(votes):
    return votes / votes.sum(axis=1, keepdims=True)
