"""Neighbour graphs and the sums over their edges."""

import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from semisift import ApproximateNeighbors, GraphWarning, LaplacianScore, _kernels
from semisift.base._training_data import TrainingData
from semisift.utils import _graph as edge_sums_module
from semisift.utils import _neighbors
from semisift.utils._graph import GraphOptions, edge_sums, neighbour_graph, weighted_median
from semisift.utils._neighbors import distinct_rows
from tests.nightly import nightly
from tests.reference import graph_filters as slow

pytestmark = pytest.mark.usefixtures("stay_sparse")

KINDS = ["normal", "whole numbers", "counts"]


def make_rows(kind, n=60, p=12, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "normal":
        return rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3, p) + 5.0
    if kind == "whole numbers":
        return rng.integers(0, 3, size=(n, 3)).astype(float)  # most rows tie, many are identical
    X = rng.poisson(0.03, size=(n, p)).astype(float)  # columns with few entries
    X[:, 0] = rng.poisson(2.0, size=n)
    X[:, 1] = 3.0
    return X


def node_weights(graph):
    """Return the weights between all nodes."""
    return (graph.upper + graph.upper.T).toarray()


def row_weights(graph):
    """Return the weights between all rows."""
    counts = graph.counts[graph.node]
    weights = node_weights(graph)[np.ix_(graph.node, graph.node)] / np.outer(counts, counts)
    same = (graph.node[:, None] == graph.node) & ~np.eye(len(counts), dtype=bool)
    each = graph.within[graph.node] / np.maximum(counts * (counts - 1), 1)
    return np.where(same, each[:, None], weights)


def forms(X):
    return [np.asfortranarray(X), sparse.csc_array(X)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("symmetry", ["mean", "union"])
@pytest.mark.parametrize(
    "options",
    [
        {"weights": "binary"},
        {"heat_scale": "mean"},
        {"heat_scale": "mean", "feature_scaling": "minmax", "heat_constant": 0.5},
        {"heat_scale": "raw", "heat_constant": 2e4},
        {"heat_scale": "median"},
    ],
)
def test_graph_against_the_slow_version(kind, symmetry, options):
    X = make_rows(kind)
    k = 4 if options.get("heat_scale") == "median" else 10
    expected = slow.graph(X, k, symmetry, **options)
    for form in forms(X):
        graph = neighbour_graph(form, GraphOptions(k, symmetry, shift=False, **options))
        assert_allclose(row_weights(graph), expected, rtol=1e-9, atol=1e-12)
        assert_array_equal(graph.upper.toarray(), np.triu(graph.upper.toarray(), k=1))


def test_union_is_that_of_the_papers_when_nothing_ties():
    X = make_rows("normal")
    d2 = slow.squared_distances(X)
    np.fill_diagonal(d2, np.inf)
    near = np.zeros((60, 60))
    near[np.arange(60)[:, None], np.argsort(d2, axis=1)[:, :7]] = 1
    graph = neighbour_graph(X, GraphOptions(7, "union", "binary"))
    assert_array_equal(node_weights(graph), np.maximum(near, near.T))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [59, nightly(60), nightly(1000)])
def test_all_other_rows_are_neighbours_at_most(kind, k):
    graph = neighbour_graph(make_rows(kind), GraphOptions(k, weights="binary"))
    assert_allclose(row_weights(graph), 1 - np.eye(60))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    graph = neighbour_graph(X, GraphOptions())
    assert len(graph.weights) == {1: 0, 2: 1, 3: 3}[n]
    same = neighbour_graph(np.ones((n, 2)), GraphOptions())
    assert len(same.weights) == 0
    assert_allclose(same.within, [n * (n - 1)])


@pytest.mark.parametrize("kind", KINDS)
def test_sums_against_loops(kind):
    X = make_rows(kind)
    f = X[:, 0]
    for form in forms(X):
        graph = neighbour_graph(form, GraphOptions(5, shift=False))
        S = row_weights(graph)
        sums = edge_sums(form, graph, np.ones(X.shape[1]))
        for j, f in enumerate(X.T):
            variance = sum(S.sum(axis=1) * (f - slow.weighted_mean(S, f)) ** 2)
            assert_allclose(sums.difference[j], slow.difference(S, f), rtol=1e-9, atol=1e-11)
            assert_allclose(sums.variance[j], variance, rtol=1e-9, atol=1e-11)
            assert_allclose(sums.mean[j], slow.weighted_mean(S, f), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [3, 16, 40])
def test_sums_with_and_without_kernels(kind, p):
    X = np.tile(make_rows(kind), 4)[:, :p]
    X[:, ::3] += 1e3
    graph = neighbour_graph(X, GraphOptions(5))
    unit = 2.0 ** np.arange(p)
    for dtype in (np.float32, np.float64):
        forms = [np.asarray(X, dtype=dtype, order=order) for order in "CF"]
        with_kernels = [edge_sums(form, graph, unit) for form in forms]
        assert_array_equal(*with_kernels)
        with _kernels.numpy_only():
            without = edge_sums(forms[0], graph, unit)
        assert_allclose(with_kernels[0], without, rtol=1e-11, atol=1e-25)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_a_large_offset_loses_no_digits(make):
    X = np.random.default_rng(0).normal(size=(60, 5)) + 1e8
    graph = neighbour_graph(X, GraphOptions(5))
    S, D = node_weights(graph), graph.degrees
    scores = LaplacianScore(n_neighbors=5).fit(make(X)).scores_
    for f, score in zip((X - 1e8).T, scores, strict=True):
        centred = f - D @ f / D.sum()
        difference = (S * (f[:, None] - f) ** 2).sum() / 2
        assert_allclose(-score, difference / (D @ centred**2), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_change_nothing(kind, monkeypatch):
    X = make_rows(kind)
    for form in forms(X):
        expected = LaplacianScore().fit(form).scores_
        with monkeypatch.context() as patch:
            patch.setattr(_neighbors, "BLOCK_VALUES", 150)
            patch.setattr(_neighbors, "MAX_CACHED_VALUES", 0)
            patch.setattr(edge_sums_module, "BLOCK_VALUES", 100)
            patch.setattr(edge_sums_module, "PRODUCT_VALUES", 10)
            assert_allclose(LaplacianScore().fit(form).scores_, expected, rtol=1e-9)


def test_rows_on_few_nodes_with_degree_do_not_cancel():
    # All the volume of a column at few entries: its squared mean must not eat its variance.
    X = np.zeros((200, 40))
    X[:, 0] = np.arange(200)
    X[:3, 1:] = np.random.default_rng(0).normal(1e6, 1.0, size=(3, 39))
    S = np.full((200, 200), 1e-9)
    S[:3, :3] = 1.0
    scores = [LaplacianScore(graph=S).fit(form).scores_ for form in forms(X)]
    assert_allclose(*scores, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distinct_rows(dtype):
    X = np.random.default_rng(0).integers(0, 2, size=(60, 40)).astype(dtype)
    X[50:] = X[10:20]  # the same rows
    X[20:30] = X[:10]
    X[20:30, 1] = 2  # rows that differ in one column
    X[55, X[55] == 0] = -0.0
    expected = np.array([np.flatnonzero((row == X).all(axis=1))[0] for row in X])
    for form in forms(X):
        rows, node = distinct_rows(form)
        assert_array_equal(rows[node], expected)
        assert_array_equal(np.diff(rows) > 0, True)


def test_too_many_ties_are_an_error(monkeypatch):
    monkeypatch.setattr(_neighbors, "MAX_EDGES", 1000)
    with pytest.raises(ValueError, match=r"Too many of the 60 rows are equally near.*of 5 "):
        LaplacianScore(n_neighbors=5).fit(np.eye(60))
    assert len(neighbour_graph(np.eye(60), GraphOptions(59)).weights) == 60 * 59 / 2
    LaplacianScore(n_neighbors=5).fit(make_rows("normal"))


@pytest.mark.parametrize("name", ["colon", nightly("basehock")])
def test_row_order_of_real_data(name, load_dataset):
    X, _ = load_dataset(name)
    X = X if sparse.issparse(X) else np.round(X - X.min(), -2)  # so that distances tie
    order = np.random.default_rng(0).permutation(X.shape[0])
    for weights in ("heat", "binary"):
        expected = LaplacianScore(weights=weights).fit(X)
        shuffled = LaplacianScore(weights=weights).fit(X[order])
        assert_allclose(shuffled.scores_, expected.scores_, rtol=1e-9)


def test_threads_do_not_change_a_bit():
    X = np.random.default_rng(0).normal(size=(700, 300))
    scores = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            scores.append(LaplacianScore().fit(X).scores_)
    assert_array_equal(*scores)


def test_an_outlier_does_not_make_ties():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    X[0] = 1e6
    assert_allclose(
        row_weights(neighbour_graph(X, GraphOptions(5, weights="binary"))),
        slow.graph(X, 5, weights="binary"),
    )


@pytest.mark.filterwarnings("ignore::semisift.GraphWarning")
@pytest.mark.parametrize("k", [4, 59])
@pytest.mark.parametrize(
    "options", [{"weights": "binary"}, {"heat_scale": "raw"}, {"heat_scale": "median"}]
)
def test_an_outlier_among_repeated_rows(options, k):
    """What ends the search of a row is how many rows its neighbours represent."""
    X = make_rows("whole numbers")
    X[0, 0], X[1, 0] = 1e20, 1e16
    expected = slow.graph(X, k, "mean", **options)
    for form in forms(X):
        graph = neighbour_graph(form, GraphOptions(k, "mean", shift=False, **options))
        assert_allclose(row_weights(graph), expected, rtol=1e-9, atol=1e-12)


def test_problem_keeps_its_graphs():
    data = TrainingData.build(make_rows("normal"))
    given = np.ones((60, 60))
    assert data.graph(GraphOptions(5)) is data.graph(GraphOptions(5))
    assert data.graph(GraphOptions(5)) is not data.graph(GraphOptions(6))
    assert data.graph(GraphOptions(), given) is data.graph(GraphOptions(), given)
    assert data.graph(GraphOptions(), given) is not data.graph(GraphOptions())


@pytest.mark.parametrize("kind", KINDS)
def test_split(kind):
    X = make_rows(kind)
    graph = neighbour_graph(X, GraphOptions(5))
    groups = np.random.default_rng(0).integers(0, 3, 60)
    fine, group = graph.split(groups)
    assert_array_equal(group[fine.node], groups)
    assert_allclose(row_weights(fine), row_weights(graph), rtol=1e-12)
    assert_array_equal(fine.counts, np.bincount(fine.node))
    assert_allclose(fine.degrees.sum(), graph.degrees.sum())


# --- heat weights that do not fit -----------------------------------------------------------------


def test_weights_that_all_vanished_are_an_error():
    X = np.random.default_rng(0).normal(size=(50, 2000))
    ranker = LaplacianScore(heat_scale="raw", heat_constant=0.1)
    message = r"Every weight of the neighbour graph vanished[\s\S]*heat_scale='mean'"
    with pytest.raises(ValueError, match=message):
        ranker.fit(X)
    with pytest.raises(ValueError, match=message):
        ranker.fit(np.vstack([X, X[:1]]))  # the weight of identical rows tells nothing
    with pytest.raises(ValueError, match="heat_constant=1"):
        LaplacianScore(heat_constant=1e-4).fit(X)


def test_few_effective_edges_are_a_warning():
    X = np.random.default_rng(0).normal(size=(60, 5))
    message = r"60 rows rests on few edges.*Set heat_constant=1 "
    with pytest.warns(GraphWarning, match=message) as caught:
        LaplacianScore(heat_constant=0.003).fit(X)
    assert caught[0].filename == __file__
    with pytest.warns(GraphWarning, match="heat_scale='mean'"):
        LaplacianScore(heat_constant=0.02, heat_scale="raw").fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in (1, 2, 10, 59):
            LaplacianScore(n_neighbors=k).fit(X)


def test_effective_edges_of_equal_weights_are_the_edges():
    X = make_rows("normal")
    graph = neighbour_graph(X, GraphOptions(5, "union", "binary"))
    assert_allclose(graph.effective_edges, len(graph.weights))
    assert_allclose(graph.n_edges, len(graph.weights))
    doubled = neighbour_graph(np.ones((6, 2)), GraphOptions(5))
    assert_allclose(doubled.effective_edges, 15)


@pytest.mark.parametrize("kind", KINDS)
def test_shift_changes_no_score(kind):
    data = TrainingData.build(make_rows(kind))
    unit = np.ones(data.n_features)
    ratios = []
    for shift in (False, True):
        sums = edge_sums(data.X, data.graph(GraphOptions(shift=shift)), unit)
        ratios.append(sums.difference[[0, 2]] / sums.variance[[0, 2]])
    assert_allclose(*ratios, rtol=1e-12)


def test_weighted_median():
    assert weighted_median(np.array([3.0, 1.0, 2.0]), np.ones(3)) == 2.0
    assert weighted_median(np.array([3.0, 1.0, 2.0, 9.0]), np.ones(4)) == 2.5
    assert weighted_median(np.array([3.0, 1.0]), np.array([1.0, 3.0])) == 1.0
    assert weighted_median(np.array([0.0, 0.0, 5.0]), np.ones(3)) == 5.0
    assert weighted_median(np.zeros(2), np.ones(2)) == 0.0


# --- graphs of the user's own ---------------------------------------------------------------------


def test_given_weights():
    X = make_rows("normal")
    S = slow.graph(X)
    expected = LaplacianScore().fit(X).scores_
    for given in (S, S.tolist(), sparse.csr_matrix(S), sparse.coo_array(S), 3 * S):
        assert_allclose(LaplacianScore(graph=given).fit(X).scores_, expected, rtol=1e-9)
    directed = np.random.default_rng(0).random((60, 60))
    assert_allclose(
        LaplacianScore(graph=directed).fit(X).scores_,
        LaplacianScore(graph=directed + directed.T).fit(X).scores_,
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            np.ones((3, 60)),
            r"graph must have a row and a column for each of the 60 rows.*\(3, 60\)",
        ),
        (-np.ones((60, 60)), r"none negative: got -1\.0"),
        (np.full((60, 60), np.nan), "finite weights"),
        (np.full((60, 60), "a"), "graph must be 'mean', 'union', a matrix"),
    ],
)
def test_bad_weights(given, message):
    with pytest.raises(ValueError, match=message):
        LaplacianScore(graph=given).fit(make_rows("normal"))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_neighbours_transformers(form):
    X = make_rows("normal")
    near = KNeighborsTransformer(n_neighbors=10)
    for options in ({}, {"weights": "binary"}, {"feature_scaling": "minmax"}):
        found = LaplacianScore(graph=near, **options).fit(form(X)).scores_
        assert_allclose(found, LaplacianScore(**options).fit(X).scores_, rtol=1e-6)
    assert not hasattr(near, "n_features_in_")
    union = LaplacianScore(graph=near, variant="paper").fit(form(X)).scores_
    assert_allclose(union, LaplacianScore(graph="union").fit(X).scores_, rtol=1e-6)
    with_itself = KNeighborsTransformer(mode="connectivity", n_neighbors=11)
    binary = LaplacianScore(weights="binary").fit(X).scores_
    assert_allclose(LaplacianScore(graph=with_itself).fit(form(X)).scores_, binary, rtol=1e-9)
    radius = np.sqrt(np.quantile(slow.squared_distances(X), 0.5))
    for mode in ("distance", "connectivity"):
        around = RadiusNeighborsTransformer(mode=mode, radius=radius)
        d2 = slow.squared_distances(X)
        S = ((d2 <= radius**2) & ~np.eye(60, dtype=bool)).astype(float)
        found = LaplacianScore(graph=around, weights="binary").fit(form(X)).scores_
        assert_allclose(found, [-slow.laplacian(S, f) for f in X.T], rtol=1e-9)


def test_transformers_keep_identical_rows_apart():
    X = np.repeat(make_rows("normal", n=20), 3, axis=0)
    found = LaplacianScore(graph=KNeighborsTransformer(n_neighbors=2), weights="binary").fit(X)
    assert_allclose(found.scores_, 0.0, atol=1e-12)


def test_approximate_neighbours():
    pytest.importorskip("faiss")
    X = np.random.default_rng(0).normal(size=(500, 10)) + 100.0
    near = ApproximateNeighbors(n_neighbors=10, n_visited=100)
    found = LaplacianScore(graph=near).fit(X).scores_
    assert_allclose(found, LaplacianScore().fit(X).scores_, rtol=1e-3)
    with pytest.raises(ValueError, match="needs dense rows"):
        LaplacianScore(graph=near).fit(sparse.csr_array(X))
    reduced = make_pipeline(TruncatedSVD(5, random_state=0), near)
    assert np.isfinite(LaplacianScore(graph=reduced).fit(sparse.csr_array(X)).scores_).all()


def test_approximate_neighbours_without_faiss(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"pip install 'semisift\[ann\]'"):
        LaplacianScore(graph=ApproximateNeighbors()).fit(make_rows("normal"))


def test_an_outlier_leaves_a_column_its_score():
    X = np.random.default_rng(5).normal(size=(80, 4))
    X[30, 2] = 1e7
    assert np.isfinite(LaplacianScore().fit(X).scores_).all()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("offset", [1e3, 1e7])
def test_two_far_groups_lose_no_digits(offset, make):
    X = np.random.default_rng(1).normal(size=(80, 4))
    X[:40] += offset
    scores = LaplacianScore(n_neighbors=5, weights="binary").fit(make(X)).scores_
    graph = neighbour_graph(X, GraphOptions(n_neighbors=5, weights="binary"))
    S, D = node_weights(graph), graph.degrees
    for f, score in zip(X[graph.rows].T, scores, strict=True):
        centred = f - D @ f / D.sum()
        difference = (S * (f[:, None] - f) ** 2).sum() / 2
        assert_allclose(-score, difference / (D @ centred**2), rtol=1e-9)
