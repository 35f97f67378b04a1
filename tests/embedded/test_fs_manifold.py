"""FS-Manifold by hand, against a general solver, and its properties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsTransformer

from semisift import FSManifold
from semisift.base._training_data import TrainingData
from semisift.embedded import fs_manifold
from semisift.embedded.fs_manifold import (
    SquaredHinge,
    TallModel,
    WideModel,
    standardised,
    water_filling,
)
from semisift.utils._graph import GraphOptions
from tests.conftest import make_data, needs_callbacks
from tests.nightly import few_daily
from tests.reference import embedded as reference
from tests.reference.graph_filters import graph as graph_weights

# Two labelled rows at -1 and +1 in the columns 0 and 2 and at 0 in column 1.
SMALL_X = np.array([[-1.0, 0, -1], [1, 0, 1], [-1, -1, -1], [1, 1, 1]])
SMALL_Y = np.array([0, 1, -1, -1])


@pytest.mark.parametrize(
    ("columns", "m", "d", "objective"),
    [
        # w^2 / 2 + 2 (1 - w)^2 is lowest at w = .8
        ([0, 1], 1, [1, 0], 0.4),
        # the copies share the weight: sum_j w_j^2 / d_j is (sum w)^2 in both cases
        ([0, 1, 2], 1, [0.5, 0, 0.5], 0.4),
        # w_0 = w_2 = w / 2 with w^2 / 4 + 2 (1 - w)^2, lowest at w = 8 / 9
        ([0, 1, 2], 2, [1, 0, 1], 2 / 9),
    ],
)
def test_by_hand(columns, m, d, objective):
    ranker = FSManifold(n_features_to_select=m, graph_weight=0.0).fit(SMALL_X[:, columns], SMALL_Y)
    assert_allclose(ranker.scores_, d, atol=1e-12)
    assert_allclose(ranker.objective_path_[-1], objective, rtol=1e-12)
    assert ranker.dual_gap_ < 1e-12


def test_graph_by_hand():
    """An edge between the labelled rows adds rho / (2 n^2) (2 w)^2 = w^2 / 2 for n = 4, rho = 4."""
    S = np.zeros((4, 4))
    S[0, 1] = S[1, 0] = 1.0
    ranker = FSManifold(n_features_to_select=1, graph_weight=4.0, graph=S)
    ranker.fit(SMALL_X[:, :2], SMALL_Y)
    # w^2 + 2 (1 - w)^2 is lowest at w = 2 / 3
    assert_allclose(ranker.objective_path_[-1], 2 / 3, rtol=1e-12)
    # its derivative by d is -w^2 / 2, and w = 2 / 3
    assert_allclose(ranker.gains_, [2 / 9, 0], atol=1e-12)


def rows(seed=0, n=40, p=6, n_classes=2):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    X = rng.normal(size=(n, p))
    X[:, 0] += 2 * truth
    X[:, 1] -= truth
    return X, np.where(np.arange(n) < 8 * n_classes, truth, -1)


def lowest(X, y, m, C=1.0, rho=1.0):
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    # distances as the mean over standardised columns, as feature_scaling="standard" takes them
    return reference.fs_manifold(Z, y, graph_weights(Z), m, C, rho)


@pytest.mark.parametrize("m", few_daily([1, 2, 6], 1))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("C", "rho"), [(1.0, 1.0), (0.1, 30.0)])
def test_objective_equals_that_of_a_general_solver(m, n_classes, C, rho):
    X, y = rows(seed=m, n_classes=n_classes)
    expected, d = lowest(X, y, m, C, rho)
    ranker = FSManifold(n_features_to_select=m, C=C, graph_weight=rho, tol=1e-7).fit(X, y)
    assert_allclose(ranker.objective_path_[-1], expected, rtol=1e-5)
    assert ranker.objective_path_[-1] <= expected * (1 + 1e-7)
    assert_allclose(ranker.scores_, d, atol=0.01)


def test_the_gap_is_an_upper_bound():
    X, y = rows(seed=3)
    expected, _ = lowest(X, y, 2)
    dual_gaps = []
    for max_iter in (1, 2, 5, 20):
        ranker = FSManifold(n_features_to_select=2, max_iter=max_iter, tol=1e-9)
        with pytest.warns(ConvergenceWarning, match=f"FSManifold stopped after {max_iter} steps"):
            ranker.fit(X, y)
        assert ranker.n_iter_ == len(ranker.objective_path_) == max_iter
        assert ranker.objective_path_[-1] - expected <= ranker.dual_gap_ * (1 + 1e-6)
        dual_gaps.append(ranker.dual_gap_)
    assert dual_gaps[-1] < 0.1 * dual_gaps[0]


@pytest.mark.parametrize("p", [6, 100])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("m", few_daily([1, 5], 1))
def test_objective_never_rises_and_weights_add_up(p, n_classes, m):
    X, y = rows(seed=5, p=p, n_classes=n_classes)
    ranker = FSManifold(n_features_to_select=m).fit(X, y)
    assert (np.diff(ranker.objective_path_) <= 0).all()
    assert ranker.n_iter_ > 3
    assert ranker.dual_gap_ <= 1e-5 * ranker.objective_path_[-1]
    assert_allclose(ranker.scores_.sum(), m, rtol=1e-6)
    assert ((ranker.scores_ >= 0) & (ranker.scores_ <= 1)).all()


def test_long_steps_are_faster_and_end_where_plain_ones_do(monkeypatch):
    X, y = rows(seed=6, p=100)
    long = FSManifold(n_features_to_select=5, tol=1e-6).fit(X, y)
    monkeypatch.setattr(fs_manifold, "MAX", 1.0)
    plain = FSManifold(n_features_to_select=5, tol=1e-6, max_iter=10_000).fit(X, y)
    assert long.n_iter_ < plain.n_iter_ / 2
    assert_allclose(long.objective_path_[-1], plain.objective_path_[-1], rtol=2e-6)
    assert_allclose(long.scores_, plain.scores_, atol=0.01)


def test_exchanged_classes_give_the_same_weights():
    X, y = rows(seed=7, p=60)
    swapped = np.where(y < 0, -1, 1 - y)
    scores = FSManifold(n_features_to_select=4).fit(X, y).scores_
    assert_allclose(FSManifold(n_features_to_select=4).fit(X, swapped).scores_, scores, rtol=1e-9)


def test_copies_of_columns():
    X, y = rows(seed=8)
    for m, is_capped in ((1, False), (4, True)):
        params = {"n_features_to_select": m, "tol": 1e-8, "max_iter": 5000}
        S = graph_weights((X - X.mean(axis=0)) / X.std(axis=0))
        alone = FSManifold(graph=S, **params).fit(X, y)
        copied = FSManifold(graph=S, **params).fit(X[:, [0, 1, 2, 3, 4, 5, 0]], y)
        assert (alone.scores_.max() == 1) == is_capped or m == 1
        if is_capped:
            assert copied.objective_path_[-1] < alone.objective_path_[-1] * (1 - 1e-4)
        else:
            assert_allclose(copied.objective_path_[-1], alone.objective_path_[-1], rtol=1e-7)
            assert_allclose(copied.scores_[[0, 6]].sum(), alone.scores_[0], atol=1e-3)


def test_without_the_graph_unlabelled_rows_only_set_the_scale():
    X, y = rows(seed=9)
    scores = FSManifold(n_features_to_select=2, graph_weight=0.0).fit(X, y).scores_
    rng = np.random.default_rng(0)
    mixed = X.copy()
    for column in mixed.T:
        column[16:] = rng.permutation(column[16:])
    ranker = FSManifold(n_features_to_select=2, graph_weight=0.0).fit(mixed, y)
    assert_allclose(ranker.scores_, scores, rtol=1e-9)
    with_graph = FSManifold(n_features_to_select=2, graph_weight=100.0)
    assert not np.allclose(with_graph.fit(X, y).scores_, with_graph.fit(mixed, y).scores_)


def test_the_graph_keeps_neighbours_together():
    """Two columns are the same on the labelled rows; one follows the groups of all rows."""
    rng = np.random.default_rng(0)
    group = np.arange(60) % 2
    X = group[:, None] + 0.3 * rng.normal(size=(60, 10))
    X[:, 1] = rng.permutation(X[:, 0])
    X[:4, 1] = X[:4, 0]
    y = np.where(np.arange(60) < 4, group, -1)
    without = FSManifold(n_features_to_select=3, graph_weight=0.0).fit(X, y).gains_[:2]
    assert_allclose(without[0], without[1], rtol=0.1)
    d = FSManifold(n_features_to_select=3, graph_weight=1000.0).fit(X, y).scores_
    assert d[0] > 2 * d[1] > 0


def test_ties_are_ordered_by_the_gain():
    X, y = rows(seed=10, p=60)
    ranker = FSManifold(n_features_to_select=20).fit(X, y)
    order = np.argsort(ranker.ranking_)
    for value in (0.0, 1.0):
        tied = order[ranker.scores_[order] == value]
        assert len(tied) > 3
        assert (np.diff(ranker.gains_[tied]) <= 0).all()
    least_full = ranker.gains_[ranker.scores_ == 1].min()
    assert least_full > ranker.gains_[ranker.scores_ == 0].max()


def test_both_models_are_the_same():
    data = make_data(n_rows=30, n_features=20, n_classes=3, per_class=3)
    training = TrainingData.build(data.X, data.y)
    graph = training.graph(GraphOptions(shift=False))
    Q = (sparse.diags_array(graph.between) - graph.upper - graph.upper.T).tocsr() / 100
    signs = reference.machine_labels(data.y[data.y >= 0])
    labelled = graph.node[training.labels.labelled]
    columns = standardised(training, graph.rows)
    rng = np.random.default_rng(0)
    models = [
        kind(columns, Q, labelled, SquaredHinge(signs, 2.0)) for kind in (WideModel, TallModel)
    ]
    for _ in range(3):
        d = rng.random(20)
        wide, tall = (model.solve(d) for model in models)
        assert_allclose(wide.objective, tall.objective, rtol=1e-10)
        assert_allclose(wide.pull, tall.pull, rtol=1e-8)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_machines_are_trained_to_the_last_digits(C):
    rng = np.random.default_rng(0)
    R = rng.normal(size=(25, 8))
    y = np.where(R[:, 0] + rng.normal(size=25) > 0, 1.0, -1.0)
    machine = SquaredHinge(y[None, :], C)
    objective, v = machine.train(R)
    slack = np.maximum(0, 1 - y * (R @ v[0] + machine.biases[0]))
    assert_allclose(v[0], 2 * C * R.T @ (y * slack), rtol=1e-7, atol=1e-9)
    assert_allclose(C * (y * slack).sum(), 0.0, atol=1e-8 * C)
    assert_allclose(objective, v[0] @ v[0] / 2 + C * slack @ slack)


def test_water_filling():
    rng = np.random.default_rng(0)
    for m in (1, 2, 5, 9):
        weights = rng.exponential(size=10) ** 3
        d = water_filling(weights, m)
        assert_allclose(d.sum(), m)
        assert d.max() <= 1
        free = d < 1
        assert_allclose(d[free] / weights[free], (d[free] / weights[free])[0])
        assert (weights[~free] * (d[free] / weights[free])[0] >= 1 - 1e-12).all()
    assert_array_equal(water_filling(np.array([0.0, 3.0, 0.0]), 2), [0, 1, 0])


@pytest.mark.usefixtures("stay_sparse")
@pytest.mark.parametrize("p", [20, 300])
def test_sparse_columns_are_not_centred_but_count_the_same(p):
    """Few values differ from 0, so that columns really stay sparse."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.04, size=(120, p)).astype(float)
    X[:, :3] += (np.arange(120) % 2 * rng.random(120) > 0.4)[:, None]
    y = np.where(np.arange(120) < 30, np.arange(120) % 2, -1)
    dense = FSManifold(n_features_to_select=5, tol=1e-3).fit(X, y)
    stored = FSManifold(n_features_to_select=5, tol=1e-3).fit(sparse.csr_array(X), y)
    assert_allclose(stored.scores_, dense.scores_, rtol=1e-6, atol=1e-9)
    assert_allclose(stored.objective_path_, dense.objective_path_, rtol=1e-9)


def test_shifts_and_scales_of_columns_change_nothing():
    X, y = rows(seed=11, p=50)
    rng = np.random.default_rng(0)
    moved = X * rng.choice([-3.0, 0.01, 50.0], size=50) + rng.normal(size=50) * 1e5
    scores = FSManifold(n_features_to_select=5).fit(X, y).scores_
    assert_allclose(FSManifold(n_features_to_select=5).fit(moved, y).scores_, scores, atol=1e-5)


def test_identical_rows_may_have_different_labels():
    X, y = rows(seed=12)
    X[1] = X[0]
    X[20:30] = X[0]
    assert y[0] != y[1]
    ranker = FSManifold(n_features_to_select=2).fit(X, y)
    expected, _ = lowest(X, y, 2)
    assert_allclose(ranker.objective_path_[-1], expected, rtol=2e-5)


def test_standard_scaling_of_the_graph():
    X, y = rows(seed=13)
    X *= np.array([1.0, 10.0, 0.1, 5.0, 1.0, 100.0])
    Z = X / X.std(axis=0)
    ranker = FSManifold(n_features_to_select=2, graph_weight=50.0).fit(X, y)
    given = FSManifold(n_features_to_select=2, graph_weight=50.0, graph=graph_weights(Z)).fit(X, y)
    assert_allclose(ranker.scores_, given.scores_, rtol=1e-6)
    neighbours = KNeighborsTransformer(n_neighbors=10)
    by_transformer = FSManifold(n_features_to_select=2, graph_weight=50.0, graph=neighbours)
    assert_allclose(by_transformer.fit(X, y).scores_, given.scores_, rtol=1e-6)
    raw = FSManifold(n_features_to_select=2, graph_weight=50.0, feature_scaling=None).fit(X, y)
    assert not np.allclose(raw.scores_, given.scores_)


@pytest.mark.parametrize("graph", ["mean", "matrix"])
def test_max_unlabelled(graph):
    X, y = rows(seed=14, n=60)
    used = TrainingData.build(X, y, seed=2).some_rows(10)
    assert len(used) == 26
    S = np.abs(np.random.default_rng(0).normal(size=(60, 60)))
    by_name = graph == "mean"
    params = {"n_features_to_select": 2, "random_state": 2, "graph_weight": 20.0}
    bounded = FSManifold(max_unlabelled=10, graph=graph if by_name else S, **params).fit(X, y)
    alone = FSManifold(graph=graph if by_name else S[np.ix_(used, used)], **params)
    assert_allclose(bounded.scores_, alone.fit(X[used], y[used]).scores_, rtol=1e-9)


def test_rebuild_makes_the_graph_of_the_best_columns():
    X, y = rows(seed=15)
    params = {"n_features_to_select": 2, "graph_weight": 50.0}
    first = FSManifold(**params).fit(X, y)
    Z = (X / X.std(axis=0))[:, first.get_support()]
    expected = FSManifold(graph=graph_weights(Z), **params).fit(X, y)
    rebuilt = FSManifold(rebuild=1, **params).fit(X, y)
    assert_allclose(rebuilt.scores_, expected.scores_, rtol=1e-6)
    assert not np.allclose(rebuilt.scores_, first.scores_)
    with pytest.raises(ValueError, match="rebuild=2 makes graphs from columns, but graph is a mat"):
        FSManifold(rebuild=2, graph=np.ones((40, 40))).fit(X, y)


def test_number_of_columns_that_are_sought():
    X, y = rows(seed=16, p=300)
    assert_allclose(FSManifold().fit(X, y).scores_.sum(), 100, rtol=1e-6)
    assert_allclose(FSManifold(n_features_to_select=0.5).fit(X, y).scores_.sum(), 150, rtol=1e-6)
    assert_allclose(FSManifold().fit(X[:, :8], y).scores_.sum(), 4, rtol=1e-6)


def test_labelled_rows_that_do_not_differ():
    X, y = rows(seed=17)
    X[y >= 0] = X[0]
    ranker = FSManifold(n_features_to_select=2).fit(X, y)
    # nothing parts them: each row costs 1 at w = 0, b = 0
    assert_allclose(ranker.objective_path_, [16.0])
    assert_allclose(ranker.scores_, 1 / 3)
    assert_array_equal(np.sort(ranker.ranking_), np.arange(1, 7))


@needs_callbacks
def test_progress_is_told_for_each_step():
    class Counter:
        steps = 0

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            self.steps += context.task_name == "step"

        def on_fit_task_end(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

    X, y = rows(seed=18)
    counter = Counter()
    ranker = FSManifold(n_features_to_select=2).set_callbacks(counter).fit(X, y)
    assert counter.steps == ranker.n_iter_
