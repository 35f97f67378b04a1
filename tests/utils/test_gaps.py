"""Columns with missing values: neighbours, sums over edges, information, correlation."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import nan_euclidean_distances

from semisift import FisherScore, VarianceScore
from semisift.base._training_data import TrainingData
from semisift.utils import _neighbors, _redundancy
from semisift.utils._columns import moments_of_counted, ratio, scaled_to_all
from semisift.utils._graph import GraphOptions, edge_sums
from semisift.utils._information import (
    KnownBins,
    bin_columns,
    conditional_mutual_information,
    entropy,
    mutual_information,
)
from semisift.utils._neighbors import MeasuredRows, RowsWithMissing
from semisift.utils._redundancy import find_copies, representative_correlations
from tests.conftest import make_data
from tests.reference import gaps as slow
from tests.reference import information as slow_information
from tests.utils.test_graph import row_weights
from tests.utils.test_redundancy import make_copies, walk_slowly


def with_missing(X, share=0.2, seed=0):
    gone = np.random.default_rng(seed).random(X.shape) < share
    return np.where(gone, np.nan, X)


def rows_with_missing(kind):
    """Return 40 rows: normal, or counts with identical rows and one like another but incomplete."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 6))
    if kind == "counts":
        X = rng.poisson(0.7, size=(40, 6)).astype(float)
    X = with_missing(X)
    if kind == "counts":
        X[30:34] = X[3]
        X[34] = np.where(np.arange(6) < 3, X[0], np.nan)
    if kind == "apart":
        X[:, 3:][:20] = np.nan
        X[:, :3][20:] = np.nan
        X[7] = np.nan
        X[8] = [1, *[np.nan] * 5]
    return X


def problem_of(X, y=None):
    return TrainingData.build(X, y, allow_nan=True)


def all_distances(rows):
    return np.vstack([d2 for _, d2 in rows.squared_distances()])


# --- distances and graphs -------------------------------------------------------------------------


def test_distances_are_those_of_scikit_learn(monkeypatch):
    X = rows_with_missing("normal")
    expected = nan_euclidean_distances(X, squared=True)
    np.fill_diagonal(expected, np.inf)
    for most in (_neighbors.BLOCK_VALUES, 90):
        monkeypatch.setattr(_neighbors, "BLOCK_VALUES", most)
        rows = RowsWithMissing(X, np.ones(6))
        assert_allclose(all_distances(rows), expected, rtol=1e-12)
        first, second = np.triu_indices(40, 1)
        assert_allclose(rows.from_differences(first, second), expected[first, second])


def test_without_missing_values_distances_are_the_plain_ones():
    X = np.random.default_rng(0).normal(size=(30, 5)) + 100
    plain = MeasuredRows(X, np.arange(30), np.ones(30, dtype=int), np.ones(5))
    known = RowsWithMissing(X, np.ones(5))
    assert_allclose(all_distances(known), all_distances(plain), rtol=1e-9)
    assert_allclose(known.mean_d2, plain.mean_d2)


def test_a_column_of_one_value_does_not_count():
    X = rows_with_missing("normal")
    more = np.column_stack(
        [X, np.full(40, 3.0), np.full(40, np.nan), with_missing(np.ones((40, 1)))]
    )
    options = GraphOptions(5, shift=False)
    expected = row_weights(problem_of(X).graph(options))
    assert_allclose(row_weights(problem_of(more).graph(options)), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "counts", "apart"])
@pytest.mark.parametrize("symmetry", ["mean", "union"])
@pytest.mark.parametrize(
    "options", [{"weights": "binary"}, {}, {"feature_scaling": "minmax", "heat_constant": 0.5}]
)
def test_graph_against_loops(kind, symmetry, options):
    X = rows_with_missing(kind)
    for k in (5, 25):
        graph = problem_of(X).graph(GraphOptions(k, symmetry, shift=False, **options))
        expected = slow.graph(X, k, symmetry, **options)
        assert_allclose(row_weights(graph), expected, rtol=1e-9, atol=1e-12)


def test_rows_without_a_common_column_are_no_neighbours():
    X = rows_with_missing("apart")
    weights = row_weights(problem_of(X).graph(GraphOptions(39, weights="binary")))
    assert not weights[:20, 20:].any()
    assert not weights[7].any()
    assert weights[8].any()
    nothing_shared = np.array([[1.0, np.nan], [np.nan, 2.0], [2.0, np.nan], [np.nan, 3.0]])
    weights = row_weights(problem_of(nothing_shared).graph(GraphOptions(3, weights="binary")))
    assert_array_equal(weights, np.eye(4)[[2, 3, 0, 1]])


def test_rows_far_from_zero_lose_no_digits():
    X = with_missing(np.random.default_rng(2).integers(0, 50, size=(40, 6)).astype(float))
    X += np.where(np.arange(40) < 20, 0.0, 1e9)[:, None]
    options = GraphOptions(4, weights="binary")
    assert_allclose(row_weights(problem_of(X).graph(options)), slow.graph(X, 4, weights="binary"))


def test_sums_against_loops():
    X = rows_with_missing("counts")
    graph = problem_of(X).graph(GraphOptions(5, shift=False))
    sums = edge_sums(X, graph, np.ones(6), has_missing=True)
    S = row_weights(graph)
    for j, f in enumerate(X.T):
        known = ~np.isnan(f)
        left, values = S[np.ix_(known, known)], f[known]
        degrees = left.sum(axis=1)
        mean = degrees @ values / degrees.sum()
        apart = (left * (values[:, None] - values) ** 2).sum() / 2
        expected = apart, degrees @ (values - mean) ** 2, mean, degrees.sum()
        assert_allclose([each[j] for each in sums], expected, rtol=1e-12)


def test_sums_without_missing_values_are_the_plain_ones():
    X = np.random.default_rng(0).normal(size=(40, 7))
    graph = problem_of(X).graph(GraphOptions(5))
    for plain, known in zip(
        edge_sums(X, graph, np.full(7, 2.0)),
        edge_sums(X, graph, np.full(7, 2.0), has_missing=True),
        strict=True,
    ):
        assert_allclose(known, plain, rtol=1e-12, atol=1e-14)


# --- moments --------------------------------------------------------------------------------------


def test_moments_of_known_values():
    X = np.array([[1.0, np.nan, np.nan], [3.0, 4.0, np.nan], [np.nan, 4.0, np.nan], [8.0, 7.0, 2]])
    weights = np.array([1.0, 2.0, 1.0, 1.0])
    totals, means, squares = moments_of_counted(X, np.ones(3), weights=weights)
    assert_allclose(totals, [4, 4, 1])
    assert_allclose(means, [15 / 4, 19 / 4, 2])
    assert_allclose(squares, [83 - 15**2 / 4, 97 - 19**2 / 4, 0], atol=1e-12)
    totals, means, squares = moments_of_counted(X, np.ones(3), np.array([0, 1]), weights)
    assert_allclose(totals, [3, 2, 0])
    assert_allclose(means, [7 / 3, 4, 0])


def test_scaling_to_all_and_ratios_of_nothing():
    scaled = scaled_to_all(np.array([2.0, 3.0, 0.0]), np.array([4.0, 10.0, 0.0]), 10.0)
    assert_allclose(scaled, [5, 3, np.nan])
    assert_allclose(scaled_to_all(np.zeros(1), np.zeros(1), 0.0), [0])
    assert_allclose(
        ratio(np.array([1.0, 1, np.nan]), np.array([np.nan, 0, 1])), [np.nan, np.inf, np.nan]
    )


# --- information ----------------------------------------------------------------------------------


def columns_for_bins():
    rng = np.random.default_rng(3)
    X = np.column_stack(
        [rng.normal(size=60), rng.integers(0, 3, 60), rng.exponential(size=60), np.ones(60)]
    ).astype(float)
    X = with_missing(X, 0.25)
    return np.column_stack([X, np.full(60, np.nan)]), rng.integers(0, 3, 60)


def test_bins_and_information_against_loops():
    X, y = columns_for_bins()
    binned = bin_columns(X, has_missing=True)
    assert isinstance(binned, KnownBins)
    columns = [slow.binned(f) for f in X.T]
    for j, column in enumerate(columns):
        expected = [-1 if code is None else code for code in column]
        assert_array_equal(binned.column(j), expected)
    classes = y.tolist()
    known = [[code for code in column if code is not None] for column in columns]
    assert_allclose(entropy(binned), [slow_information.entropy(c) if c else 0 for c in known])
    assert_allclose(
        mutual_information(binned, y), [slow.mutual(c, classes) for c in columns], atol=1e-14
    )
    for s in (0, 1, 4):
        assert_allclose(
            mutual_information(binned, binned.column(s)),
            [slow.mutual(c, columns[s]) for c in columns],
            atol=1e-14,
        )
        assert_allclose(
            conditional_mutual_information(binned, y, binned.column(s)),
            [slow.conditional(c, classes, columns[s]) for c in columns],
            atol=1e-14,
        )


def test_bins_without_missing_values_are_the_plain_ones():
    X = np.column_stack([make_data().X, np.arange(60) % 4, np.arange(60) % 7])
    plain, known = bin_columns(X), bin_columns(X, has_missing=True)
    y = make_data().y_true
    for j in range(X.shape[1]):
        assert_array_equal(known.column(j), plain.column(j))
    assert_allclose(mutual_information(known, y), mutual_information(plain, y), atol=1e-14)
    assert_allclose(entropy(known), entropy(plain), atol=1e-14)


# --- correlated features --------------------------------------------------------------------------


@pytest.mark.parametrize("limits", [(16, 1 << 20), (16, 0)])
@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.9])
def test_near_copies_are_those_of_the_common_rows(limits, threshold, monkeypatch):
    monkeypatch.setattr(_redundancy, "BLOCK_COLUMNS", limits[0])
    monkeypatch.setattr(_redundancy, "MAX_CACHED_VALUES", limits[1])
    X = with_missing(make_copies(n_rows=60), 0.2)
    correlations = pd.DataFrame(X).corr().to_numpy()
    walk = np.random.default_rng(0).permutation(X.shape[1])

    expected = walk_slowly(X, walk, threshold, 8)
    is_copy, representative = find_copies(X, walk, threshold, 8)
    assert_array_equal(is_copy, expected[0])
    assert_array_equal(representative, expected[1])
    representative_of = np.arange(X.shape[1])
    representative_of[walk] = representative
    expected = correlations[np.arange(len(representative_of)), representative_of]
    assert_allclose(representative_correlations(X, representative_of), expected, rtol=1e-9)


def test_few_common_rows_make_no_near_copies():
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[:, 1] = X[:, 0]
    assert find_copies(X, np.arange(2), 0.9, 2)[0].tolist() == [False, True]
    X[:9, 0] = np.nan
    assert find_copies(X, np.arange(2), 0.9, 2)[0].tolist() == [False, True]
    X[:20, 0] = X[29:, 1] = np.nan
    assert find_copies(X, np.arange(2), 0.9, 2)[0].tolist() == [False, False]


def test_a_ranker_puts_copies_with_missing_values_last():
    data = make_data()
    X = with_missing(np.hstack([data.X, -3 * data.X]), 0.1)
    for ranker in (
        FisherScore(redundancy_threshold=0.95),
        VarianceScore(redundancy_threshold=0.95),
    ):
        ranker.fit(X, data.y)
        assert_array_equal(ranker.representative_ % 8, np.arange(16) % 8)
        assert_allclose(np.sort(ranker.representative_correlation_), np.repeat([-1.0, 1.0], 8))
        assert len(set((np.argsort(ranker.ranking_)[:8] % 8).tolist())) == 8
