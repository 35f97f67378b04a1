"""Depth: cells with more molecules are no class of their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array, random_array

from semisift import Consensus, TransductiveClassifier, TransductiveScore, normalize_counts
from semisift._named import knows_logarithms, names_of
from semisift._problem import Problem
from semisift.graphs.depth import know_depth, log_filled
from semisift.graphs.kind import kind_of_cells, kind_of_data
from semisift.transduction.axes import find_axes
from semisift.transduction.components import components


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
    for seed in range(4):
        X, y, few, marker = cells(seed)
        counts.append(recall(TransductiveScore().fit(X, few), marker))
        Z = normalize_counts(X)
        ranker = Consensus().fit(Z, few)
        cleared.append(recall(ranker, marker))
        assert np.mean(ranker.transduction_ == y) > 0.8
    assert np.mean(cleared) > 0.85
    assert np.mean(cleared) > np.mean(counts) + 0.1


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_components_have_nothing_to_do_with_depth(form, request):
    if form is csr_array:
        request.getfixturevalue("stay_sparse")
    X, *_ = cells(0)
    Z = normalize_counts(form(X))
    problem = know_depth(Problem.build(Z))
    assert kind_of_data(problem) == "logarithms"
    T, depth = components(problem), problem.design.depth
    assert_allclose(depth, np.log((X != 0).sum(axis=1)))
    assert np.abs((depth - depth.mean()) @ T).max() < 1e-6 * np.linalg.norm(T)
    assert (np.diff(T.std(axis=0)) <= 1e-12).all()
    placed = find_axes(problem).place(problem.X)
    alike = [np.corrcoef(placed[:, j], T[:, j])[0, 1] for j in range(3)]
    assert min(alike) > 0.995


def test_rows_of_one_depth_stay_where_they_are():
    X = np.abs(random_array((40, 30), density=0.2, rng=np.random.default_rng(0)).toarray())
    X = np.sort(X, axis=1)[:, ::-1]
    X[:, 6:] = 0
    X[:, :6] += 0.1
    one, other = Problem.build(X), know_depth(Problem.build(X))
    assert np.ptp(other.design.depth) == 0
    assert components(other).shape[1] == 6 == components(one).shape[1]


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


def test_kinds_of_cells():
    X, *_ = cells(3, 60, 40)
    assert kind_of_cells(X) == kind_of_cells(csr_array(X)) == "counts"
    assert kind_of_cells(np.log1p(X / 3)) == "logarithms"
    assert kind_of_cells(X - X.mean(axis=0)) == "measurements"
    assert kind_of_cells(X * 100.5) == "counts"
    holes = np.log1p(X)
    holes[0, 0] = np.nan
    assert kind_of_cells(holes) == "logarithms"


def test_gaps_are_no_depth():
    assert_allclose(log_filled(np.array([[1.0, np.nan, 0.0, 2.0]])), [np.log(2)])
    assert_allclose(log_filled(csr_array(np.array([[1.0, 0.0, 3.0]]))), [np.log(2)])
