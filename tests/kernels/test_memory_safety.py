"""Kernels stay within their arrays, and counters within their range, whatever they are given."""

from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.naive_bayes import GaussianNB

from semisift import LEARNERS, METHODS, S3VMRFE, CoForest, PCTForestImportance, kernels
from semisift._committee.permutation import VOTE
from semisift.embedded._machines import Machines, one_class
from semisift.kernels.plain import dual as numpy_dual
from semisift.kernels.plain import pct as numpy_pct
from semisift.learners.cotraining import _trained
from semisift.math.scaled import ScaledColumns
from tests.conftest import make_data, needs_kernels

pytestmark = needs_kernels


# --- support vector machines on rows of which rounding alone is left -----------------------------


@pytest.mark.parametrize("solve", [kernels.dual.solve, numpy_dual.solve])
@pytest.mark.parametrize("diagonal", [-1e-17, 0.0, np.nan])
def test_dual_writes_nothing_before_its_array(solve, diagonal):
    gram = np.full((4, 4), 1e-18)
    np.fill_diagonal(gram, diagonal)
    target = np.array([1.0, -1.0, 1.0, -1.0])
    around = np.zeros(6)
    dual, low, high = around[1:5], np.where(target > 0, 0.0, -1.0), np.where(target > 0, 1.0, 0.0)
    solve(gram, target, low, high, dual, -target, 1e-10, 1000)
    assert_array_equal(around[[0, 5]], 0.0)
    if np.isfinite(diagonal):  # without curvature all variables go to their bounds
        assert_array_equal(dual, target)


def nearly_sparse(seed):
    """Return tables of which some rows lose all their values on the way."""
    rng = np.random.default_rng(seed)
    n_labelled, n_unlabelled = int(rng.choice([2, 4, 6, 9])), int(rng.choice([10, 30]))
    p, filled = int(rng.choice([6, 12, 30])), rng.choice([0.05, 0.1, 0.2, 0.4])
    shape = n_labelled + n_unlabelled, p
    has_value, digits = rng.random(shape) < filled, int(rng.choice([1, 3]))
    X = np.where(has_value, np.round(rng.random(shape), digits), 0.0)
    y = np.full(len(X), -1)
    y[:n_labelled] = np.arange(n_labelled) % 2
    return X, y


@pytest.mark.parametrize("seed", [24, 42, 92, 212, 401, 444, 459, 577])
@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
def test_rows_that_lose_all_values_leave_the_order_as_it_is(seed, monkeypatch):
    X, y = nearly_sparse(seed)
    ranking = S3VMRFE().fit(X, y).ranking_
    monkeypatch.setattr(Machines, "remove", lambda machine, Z, kept: machine.keep(kept))
    assert_array_equal(ranking, S3VMRFE().fit(X, y).ranking_)


def test_gram_matrix_of_rows_that_lose_all_values_is_exact():
    Z = np.array([[1.0, 0.3, 0.0], [0.7, 0.0, 0.1], [0.0, 0.9, 0.7]])
    columns = ScaledColumns(Z, np.arange(3), np.ones(3), np.zeros(3), np.ones(3))
    machine = one_class(columns, 0.5)
    kept = np.ones(3, dtype=bool)
    machine.keep(kept)
    for column in (0, 1):
        kept[column] = False
        machine.remove(Z[:, [column]], kept)
    assert_array_equal(machine.gram[0], 0.0)
    assert_allclose(machine.gram, Z[:, kept] @ Z[:, kept].T, rtol=1e-12)
    assert_allclose(machine.gradient, machine.dual @ machine.gram)


# --- trees on values that nobody looked at -------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("variant", ["default", "paper"])
def test_pct_trees_part_no_node_into_itself_and_nothing(variant):
    X, y, _ = make_data(n_rows=70, n_features=9)
    X[3, 0], X[5, 1] = np.inf, np.nan
    X[:20, 2], X[:, 3] = np.nan, np.where(X[:, 3] > 0, X[:, 3], np.nan)
    with config_context(assume_finite=True):
        PCTForestImportance(n_members=50, variant=variant).fit(X, y)
    column = kernels.columns.Columns(np.asfortranarray(X[:, [3]]))
    usable, rows = np.zeros(1, dtype=np.int32), np.arange(70, dtype=np.int32)
    codes = (np.arange(70) % 2).astype(np.int32)
    given = usable, rows, np.ones(70, dtype=np.int32), codes, np.zeros((70, 1))
    for grow, values in ((kernels.pct.grow_tree, column), (numpy_pct.grow_tree, column)):
        tree = grow(values, *given, 2, 1, 1, -1, 2, 1.0, 0.0, False, 0, 0)
        assert (np.asarray(tree[5]) > 0).all()  # the sizes of its nodes


# --- votes of more members than 32 bits hold -----------------------------------------------------


def test_soft_votes_of_many_members_are_counted_in_full():
    X, y, _ = make_data(n_rows=30, n_features=4)
    model = CoForest(n_members=2, max_iter=1).fit(X, y)
    two = model.predict_proba(X)
    model._members = type(model._members).join([model._members] * (2**30 // VOTE + 1))
    assert_allclose(model.predict_proba(X), two, rtol=1e-12)


def test_soft_votes_of_many_estimators_are_counted_in_full(monkeypatch):
    X, y, _ = make_data(n_rows=30, n_features=4)
    model = CoForest(estimator=GaussianNB(), n_members=10, max_iter=1).fit(X, y)
    votes = model.predict_proba(X)
    monkeypatch.setattr(_trained, "VOTE", 2**16 * VOTE)
    assert_allclose(model.predict_proba(X), votes, atol=1e-4)


# --- every method on values that nobody looked at ------------------------------------------------


@pytest.mark.parametrize("filled", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("name", [*METHODS, *LEARNERS])
@pytest.mark.filterwarnings("ignore")
def test_values_that_are_not_finite_corrupt_no_memory(name, filled):
    """What comes out is the business of who vouched for X; builds with checks see to the rest."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(40, 6)).astype(np.float64)
    wrong = rng.random(X.shape) < filled
    X[wrong] = rng.choice([np.nan, np.inf, -np.inf], size=wrong.sum())
    y = np.full(40, -1)
    y[:8] = np.arange(8) % 2
    entry = (METHODS | LEARNERS)[name]
    model = entry.cls(GaussianNB()) if name == "labelled-only" else entry.cls()
    if "n_members" in model.get_params(deep=False):
        model.set_params(n_members=20)
    with config_context(assume_finite=True), np.errstate(all="ignore"), suppress(ValueError):
        model.fit(X, y)
        if hasattr(model, "predict"):
            model.predict(X)
