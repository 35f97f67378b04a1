"""Depth: cells with more molecules are no class of their own."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array
from sklearn.preprocessing import FunctionTransformer

from semisift import Consensus, TransductiveClassifier, TransductiveScore, normalize_counts
from semisift.base._data_kind import kind_of_cells, kind_of_data
from semisift.base._sample_info import SampleInfo
from semisift.base._training_data import TrainingData
from semisift.transduction._components import components, scaled_rows
from semisift.transduction._permuted_features import exceeded_by_permuted_features
from semisift.transduction._soft_labels import (
    label_components,
    log_filled,
    slopes_within,
    take_depth,
)
from semisift.utils._labels import Labels
from semisift.utils._named_array import knows_logarithms, names_of
from tests.reference import transduction as reference


def cells(seed, n_rows=600, n_columns=1500, labels=10, fold=3.0):
    """Return counts, classes, labels of deep cells of one class and shallow ones of the other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    mean = np.exp(rng.normal(np.log(0.3), 1.2, n_columns))
    marker = np.zeros(n_columns, dtype=bool)
    marker[rng.permutation(np.flatnonzero((mean > 0.1) & (mean < 2)))[:20]] = True
    up = marker & (np.cumsum(marker) % 2 == 0)
    mean = mean * np.where(marker & (up == y[:, None]), fold, 1.0)
    size = np.exp(rng.normal(0, 0.5, n_rows))
    X = rng.poisson(mean * size[:, None] * rng.gamma(3, 1 / 3, mean.shape)).astype(float)
    few = np.full(n_rows, -1)
    order = np.argsort(size)
    for code in (0, 1):
        rows = order[y[order] == code]
        half = rows[len(rows) // 2 :] if code else rows[: len(rows) // 2]
        few[rng.permutation(half)[:labels]] = code
    return X, y, few, marker


def recall(ranker, marker):
    return marker[np.argsort(ranker.ranking_)[:20]].mean()


def test_depth_of_the_labelled_cells_does_not_rank():
    counts, cleared = [], []
    for seed in range(2):
        X, y, few, marker = cells(seed)
        counts.append(recall(TransductiveScore().fit(X, few), marker))
        Z = normalize_counts(X)
        ranker = Consensus().fit(Z, few)
        cleared.append(recall(ranker, marker))
        assert np.mean(ranker.transduction_ == y) > 0.8
    assert np.mean(cleared) > 0.85
    assert np.mean(cleared) > np.mean(counts) + 0.1


@pytest.mark.parametrize("times", [2.0, 4.0])
def test_types_that_differ_in_depth_are_told_apart(times):
    accuracy, found = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 400)
        mean = np.full((400, 300), 0.3)
        mean[:, :10] *= np.where(y == 0, 3.0, 1.0)[:, None]
        mean[:, 10:20] *= np.where(y == 1, 3.0, 1.0)[:, None]
        mean *= (np.where(y == 1, times, 1.0) * rng.lognormal(0, 0.3, 400))[:, None]
        few = np.where(np.arange(400) < 12, y, -1)
        Z = normalize_counts(rng.poisson(mean))
        ranker = Consensus().fit(Z, few)
        accuracy.append(np.mean(ranker.transduction_ == y))
        found.append(recall(ranker, np.arange(300) < 20))
    assert np.mean(accuracy) > 0.85
    assert np.mean(found) > 0.85


def depth_case(seed=0):
    """Return components of two classes that differ in depth, and rise with it by 3, 0 and -1."""
    rng = np.random.default_rng(seed)
    y = np.arange(300) % 2
    depth = rng.normal(size=300) + 2 * y
    T = rng.normal(scale=[0.3, 0.2, 0.1], size=(300, 3)) + np.outer(depth, [3.0, 0.0, -1.0])
    T[:, 1] += 4 * y
    return T - T.mean(axis=0), y, depth


def test_slopes_are_those_of_a_regression_within_classes():
    T, y, depth = depth_case()
    wanted = np.linalg.lstsq(np.column_stack([depth, y == 0, y == 1]), T)[0][0]
    assert_allclose(slopes_within(T, np.eye(2)[y], depth), wanted)
    both = slopes_within(np.array([T, 2 * T]), np.array([np.eye(2)[y]] * 2), depth)
    assert_allclose(both, [wanted, 2 * wanted])
    taken = take_depth(T, np.eye(2)[y], depth, None)
    left = taken.without(T, depth)
    assert_allclose(left, (T - np.outer(depth - depth.mean(), wanted))[:, [1, 0, 2]])
    assert (taken.order == [1, 0, 2]).all()
    weights = np.where(np.arange(300) < 100, 2.0, 1.0)
    twice = np.repeat(np.arange(300), weights.astype(int))
    counted = take_depth(T, np.eye(2)[y], depth, weights)
    repeated = take_depth(T[twice], np.eye(2)[y][twice], depth[twice], None)
    assert_allclose(counted.slopes, repeated.slopes)
    assert_allclose(counted.mean, repeated.mean)


def test_rows_of_no_depth_stay_where_they_are():
    T, y, depth = depth_case()
    holes = depth.copy()
    holes[::10] = np.nan
    taken = take_depth(T, np.eye(2)[y], holes, None)
    rest = ~np.isnan(holes)
    alone = take_depth(T[rest], np.eye(2)[y[rest]], depth[rest], None)
    assert_allclose(taken.slopes, alone.slopes)
    assert_allclose(taken.without(T, holes)[::10], T[::10][:, taken.order])
    assert_array_equal(take_depth(T, np.eye(2)[y], np.ones(300), None).slopes, 0)


def test_labels_say_what_was_taken_out():
    T, y, depth = depth_case()
    few = np.where(np.arange(300) < 20, y, -1)
    labels = Labels(few.astype(np.int32), np.arange(2))
    found = label_components(T, labels, SampleInfo(depth=depth))
    assert (found.codes == y).mean() > 0.98
    assert_allclose(found.depth.slopes, [3.0, 0.0, -1.0], atol=0.1)
    again = label_components(found.depth.without(T, depth), labels, SampleInfo())
    assert_array_equal(found.shares, again.shares)
    assert again.depth is None


def test_permuted_features_equal_a_table_of_columns_and_permuted_features():
    rng = np.random.default_rng(0)
    few = np.where(np.arange(80) < 12, np.arange(80) % 2, -1)
    depth = rng.normal(size=80)
    Z = rng.normal(size=(80, 15)) + np.outer(depth, rng.normal(size=15))
    plain = TrainingData.build(Z, few)
    data = replace(plain, design=SampleInfo(depth=depth), is_log=True)
    assert kind_of_data(data) == "logarithms"
    T, values = components(data), scaled_rows(data).values
    orders = [rng.permutation(80) for _ in range(2)]
    found = list(exceeded_by_permuted_features(data, iter(orders), None))
    for order, (soft, labelled) in zip(orders, found, strict=True):
        wanted = reference.beaten_by_permuted(values, T, few, 2, order, None, depth)
        assert soft.tolist() == np.array(wanted[0]).tolist()
        assert labelled.tolist() == np.array(wanted[1]).tolist()
    without = list(exceeded_by_permuted_features(plain, iter(orders), None))
    assert any((one[0] != two[0]).any() for one, two in zip(found, without, strict=True))


def test_new_rows_are_placed_without_their_depth():
    X, y, few, _ = cells(1)
    Z = normalize_counts(X)
    learner = TransductiveClassifier().fit(Z[:400], few[:400])
    assert learner.score(Z[400:], y[400:]) > 0.8
    # rows that do not know what they hold are placed in the same way
    assert_array_equal(learner.predict_proba(np.asarray(Z[400:])), learner.predict_proba(Z[400:]))


def test_counts_are_normalised_and_remembered():
    X, *_ = cells(2, 60, 40)
    totals = X.sum(axis=1)
    wanted = np.log1p(X / totals[:, None] * np.median(totals))
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(40)])
    for given in (X, X.astype(np.int32), csr_array(X), csc_array(X), frame):
        Z = normalize_counts(given)
        assert_allclose(Z.toarray() if hasattr(Z, "toarray") else Z, wanted)
        assert knows_logarithms(Z)
        assert knows_logarithms(Z[:10])
        assert not knows_logarithms(Z * 2)
    assert names_of(Z).tolist() == frame.columns.tolist()
    assert names_of(normalize_counts(X)) is None
    again = normalize_counts(wanted)
    assert_array_equal(again, wanted)
    assert knows_logarithms(again)
    # counts a million are no logarithms
    assert normalize_counts(X / totals[:, None] * 1e6).max() < 25


def test_what_is_no_count_is_refused():
    with pytest.raises(ValueError, match=r"none of them below 0: got -0\.5"):
        normalize_counts(np.array([[0.0, -0.5], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="dtype='numeric' is not compatible"):
        normalize_counts(np.array([["a", "b"]]))
    endless = np.array([[0.0, 3.0], [np.inf, 1.0]], dtype=np.float32)
    for given in (endless, csr_array(endless), csc_array(endless)):
        with pytest.raises(ValueError, match=r"contains infinity(.|\n)*Found in column 0"):
            normalize_counts(given)
    holes = np.where(np.isinf(endless), np.nan, endless)
    assert np.isnan(normalize_counts(holes)).sum() == 1
    with pytest.raises(ValueError, match="contains NaN"):  # as in fit
        normalize_counts(csr_array(holes))
    for total in (0, -1.0, np.nan, np.inf, "median"):
        with pytest.raises(ValueError, match="total must be a number above 0"):
            normalize_counts(np.eye(3), total=total)


def test_new_rows_are_brought_to_the_total_of_others():
    X, *_ = cells(2, 60, 40)
    total = np.median(X.sum(axis=1))
    wanted = normalize_counts(X)
    scaler = FunctionTransformer(normalize_counts, accept_sparse=True, kw_args={"total": total})
    for given in (X, csr_array(X)):
        for rows in (slice(0, 60), slice(7, 8)):
            found = scaler.fit(given).transform(given[rows])
            assert knows_logarithms(found)
            found = found.toarray() if hasattr(found, "toarray") else found
            assert_allclose(found, wanted[rows])


def test_kinds_of_cells():
    X, *_ = cells(3, 60, 40)
    assert kind_of_cells(X) == kind_of_cells(csr_array(X)) == "counts"
    assert kind_of_cells(np.log1p(X / 3)) == "logarithms"
    assert kind_of_cells(X - X.mean(axis=0)) == "measurements"
    assert kind_of_cells(X * 100.5) == "counts"
    holes = np.log1p(X)
    holes[0, 0] = np.nan
    assert kind_of_cells(holes) == "logarithms"
    for empty in (X[:, :0], X[:0], csr_array(X[:, :0])):
        assert kind_of_cells(empty) == "measurements"


def test_missing_values_are_no_depth():
    assert_allclose(log_filled(np.array([[1.0, np.nan, 0.0, 2.0]])), [np.log(2)])
    assert_allclose(log_filled(csr_array(np.array([[1.0, 0.0, 3.0]]))), [np.log(2)])
