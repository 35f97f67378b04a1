"""Kernels stay within their arrays, and counters within their range, whatever they are given."""

from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.naive_bayes import GaussianNB

from semisift import CLASSIFIERS, METHODS, S3VMRFE, CoForest, PCTForestImportance, _kernels
from semisift._kernels.fallback import dual as numpy_dual
from semisift._kernels.fallback import pct as numpy_pct
from semisift.committee import _estimators
from semisift.committee._bootstrap import Bootstrap
from semisift.committee._estimators import VOTE
from semisift.embedded._svm_solver import Machines, one_class
from semisift.utils._columns import ScaledColumns
from tests.conftest import make_data, needs_kernels

pytestmark = [needs_kernels, pytest.mark.nightly]


# --- support vector machines on rows of which rounding alone is left -----------------------------


@pytest.mark.parametrize("solve", [_kernels.dual.solve, numpy_dual.solve])
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


def two_and_two(gram, size):
    """Return a function that solves a machine of two rows of each class by some kernel."""

    def by(solve):
        target, around = size * np.array([1.0, -1.0, 1.0, -1.0]), np.zeros(6)
        low, high = np.where(target > 0, 0.0, -1.0), np.where(target > 0, 1.0, 0.0)
        n_steps = solve(gram, target, low, high, around[1:5], -target, 1e-10, 1000)
        assert_array_equal(around[[0, 5]], 0.0)
        return n_steps, around[1:5]

    return by


@pytest.mark.parametrize("solve", [_kernels.dual.solve, numpy_dual.solve])
def test_dual_without_curvature_goes_to_the_bounds_however_small_the_gain(solve):
    # the square of 1e-170 is 0, and 0 / 0 no gain at all
    n_steps, dual = two_and_two(np.zeros((4, 4)), 1e-170)(solve)
    assert n_steps == 2
    assert_array_equal(dual, [1.0, -1.0, 1.0, -1.0])


@pytest.mark.parametrize("solve", [_kernels.dual.solve, numpy_dual.solve])
def test_dual_stays_as_it_is_where_no_gain_is_a_number(solve):
    n_steps, dual = two_and_two(np.diag(np.full(4, np.inf)), 1e170)(solve)  # inf / inf
    assert n_steps == 0
    assert_array_equal(dual, 0.0)


@pytest.mark.parametrize("curvature", [-1.0, 0.0, np.nan, np.inf])
@pytest.mark.parametrize("place", ["diagonal", "row", "all"])
@pytest.mark.parametrize("size", [1e-170, 1.0, 1e170])
def test_dual_writes_nothing_outside_whatever_the_curvatures(curvature, place, size):
    gram = np.eye(4)
    where = {"diagonal": np.diag_indices(4), "row": (1, slice(None)), "all": slice(None)}
    gram[where[place]] = curvature
    (n_steps, dual), (n_expected, expected) = map(
        two_and_two(gram, size), (_kernels.dual.solve, numpy_dual.solve)
    )
    assert n_steps == n_expected
    assert np.isfinite(dual).all()
    assert_array_equal(dual, expected)


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
    column = _kernels.columns.Columns(np.asfortranarray(X[:, [3]]))
    usable, rows = np.zeros(1, dtype=np.int32), np.arange(70, dtype=np.int32)
    codes = (np.arange(70) % 2).astype(np.int32)
    given = usable, rows, np.ones(70, dtype=np.int32), codes, np.zeros((70, 1))
    for grow, values in ((_kernels.pct.grow_tree, column), (numpy_pct.grow_tree, column)):
        tree = grow(values, *given, 2, 1, 1, -1, 2, 1.0, 0.0, False, 0, 0)
        assert (np.asarray(tree[5]) > 0).all()  # the sizes of its nodes


def grown_on(columns, codes, weights):
    """Grow one tree on all columns of rows that are all labelled."""
    rows, nobody = np.arange(len(codes), dtype=np.int32), np.empty((1, 0), dtype=np.int32)
    every = np.arange(columns.n_features, dtype=np.int32)[None, :]
    bag = rows, np.asarray(weights, dtype=np.int32)[None, :], nobody, nobody
    return _kernels.grow.grow(columns, np.asarray(codes, dtype=np.int32), 2, *bag, every)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_trees_with_missing_values_find_infinite_values_in_their_own_column(sign):
    # before the second column lie the values of the first
    first, second = [0.0, np.nan, 0.0, 0.0, 0.0, 1e6], [1.0, 1.5, 2.0, np.nan, np.inf, np.inf]
    X = sign * np.array([first, second]).T
    columns = _kernels.columns.Columns(np.asfortranarray(X), has_missing=True)
    tree = grown_on(columns, [0, 0, 0, 0, 1, 1], np.ones(6))
    assert tree.feature.tolist() == [1, -1, -1]
    assert tree.threshold[0] == (2.0 if sign > 0 else -np.inf)


def test_trees_refuse_weights_that_add_up_to_more_than_32_bits_hold():
    X = np.asfortranarray(np.arange(4.0)[:, None])
    columns, codes = _kernels.columns.Columns(X), [0, 1, 0, 1]
    assert len(grown_on(columns, codes, [2**29] * 4 - np.eye(4)[0]).feature) == 7
    with pytest.raises(ValueError, match="add up to 2147483648, more than 2147483647"):
        grown_on(columns, codes, [2**29] * 4)


def test_trees_refuse_more_nodes_than_32_bits_number(monkeypatch):
    columns = _kernels.columns.Columns(np.asfortranarray(np.arange(4.0)[:, None]))
    monkeypatch.setattr(_kernels.grow, "MAX_NODES", 8)
    assert len(grown_on(columns, [0, 1, 0, 1], np.ones(4)).feature) == 7
    monkeypatch.setattr(_kernels.grow, "MAX_NODES", 7)
    with pytest.raises(ValueError, match="1 members may have 8 nodes, more than 7: leave out"):
        grown_on(columns, [0, 1, 0, 1], np.ones(4))


def test_weights_of_rows_stay_whole_numbers():
    n = 100_000
    weights, every = np.zeros(n), np.arange(n, dtype=np.int32)
    weights[7] = 1.0
    strata = np.array([0, n], dtype=np.int32)
    rows = Bootstrap(n_rows=n, labelled=every, strata=strata, unlabelled=every[:0], weights=weights)
    counts = rows._weigh(np.full((1, n), 100, dtype=np.int32))
    assert counts[0, 7] == 2**31 - 1
    assert counts.sum() == counts[0, 7]


# --- columns that are not what scipy says, or lie in memory backwards ----------------------------

DAMAGED = {
    "twice": ([0, 2, 2, 1], [0, 3, 4]),
    "descending": ([2, 1, 0, 1], [0, 3, 4]),
    "negative": ([-1, 1, 2, 1], [0, 3, 4]),
    "too high": ([0, 1, 3, 1], [0, 3, 4]),
    "fewer and fewer": ([0, 1, 2, 1], [0, 3, 1]),
}
# starts, stops and values outside of their arrays, beside which memory holds what would do
SOUND_BESIDE = {
    "before the first": ([0, 1, 2, 1], slice(1, None), [-1, 2, 3], 3),
    "behind the last": ([0, 1, 0, 1, 2], slice(4), [0, 2, 5], 4),
    "too few values": ([0, 1, 2, 1], slice(4), [0, 3, 4], 3),
}


@pytest.mark.parametrize("damage", sorted(DAMAGED))
def test_damaged_sparse_columns_are_refused(damage):
    X = sparse.csc_array(np.array([[1.0, 0.0], [2.0, 4.0], [3.0, 0.0]]))
    assert X.has_canonical_format  # which scipy remembers
    X.indices, X.indptr = (np.array(part, dtype=np.int32) for part in DAMAGED[damage])
    with pytest.raises(ValueError, match="The sparse X is damaged: in each column"):
        _kernels.columns.Columns(X)


@pytest.mark.parametrize("damage", sorted(SOUND_BESIDE))
def test_sparse_columns_that_go_on_outside_of_their_arrays_are_refused(damage):
    around, own, indptr, n_values = SOUND_BESIDE[damage]
    X = sparse.csc_array(np.array([[1.0, 0.0], [2.0, 4.0], [3.0, 0.0]]))
    X.data, X.indices = np.ones(5)[1 : 1 + n_values], np.array(around, dtype=np.int32)[own]
    X.indptr = np.array(indptr, dtype=np.int32)
    with pytest.raises(ValueError, match="The sparse X is damaged: in each column"):
        _kernels.columns.Columns(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_over_edges_of_rows_and_columns_that_lie_backwards(dtype):
    X = np.random.default_rng(0).normal(size=(9, 20)).astype(dtype)
    rows, starts = np.arange(9), np.append(np.arange(9), 8)
    edges = starts, np.arange(1, 9), np.ones(8)
    forwards = _kernels.edges.column_sums(X, rows, np.ones(20), np.ones(9), *edges)
    turned = np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    backwards = _kernels.edges.column_sums(turned, rows, np.ones(20), np.ones(9), *edges)
    assert_array_equal(forwards, backwards)


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
    monkeypatch.setattr(_estimators, "VOTE", 2**16 * VOTE)
    assert_allclose(model.predict_proba(X), votes, atol=1e-4)


# --- every method on values that nobody looked at ------------------------------------------------


@pytest.mark.parametrize("filled", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("name", [*METHODS, *CLASSIFIERS])
@pytest.mark.filterwarnings("ignore")
def test_values_that_are_not_finite_corrupt_no_memory(name, filled):
    """What comes out is the business of who vouched for X; builds with checks see to the rest."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(40, 6)).astype(np.float64)
    wrong = rng.random(X.shape) < filled
    X[wrong] = rng.choice([np.nan, np.inf, -np.inf], size=wrong.sum())
    y = np.full(40, -1)
    y[:8] = np.arange(8) % 2
    entry = (METHODS | CLASSIFIERS)[name]
    model = entry.cls(GaussianNB()) if name == "labelled-only" else entry.cls()
    if "n_members" in model.get_params(deep=False):
        model.set_params(n_members=20)
    with config_context(assume_finite=True), np.errstate(all="ignore"), suppress(ValueError):
        model.fit(X, y)
        if hasattr(model, "predict"):
            model.predict(X)
