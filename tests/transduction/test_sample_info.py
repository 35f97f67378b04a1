"""Soft labels of rows that count differently, belong together or have missing values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from semisift import TransductiveScore
from semisift.base._sample_info import parse_design
from semisift.base._training_data import TrainingData
from semisift.transduction import _components as room
from semisift.transduction._components import components, find_axes, scaled_rows
from semisift.transduction._permuted_features import labelled_scores
from semisift.transduction._soft_labels import fifths, find_soft_labels

TIMES = np.array([1, 2, 3])


def study(n=60, p=8, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, :2] += 2.5 * truth[:, None]
    y = np.where(np.arange(n) < 12, truth, -1)
    return X, y, TIMES[rng.integers(0, 3, n)]


def counts(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (60, 30)).astype(float)
    X[:, 0] += 1 + 5 * (np.arange(60) % 2)
    return X, np.where(np.arange(60) < 12, np.arange(60) % 2, -1), TIMES[rng.integers(0, 3, 60)]


@pytest.mark.parametrize("table", [study, counts])
@pytest.mark.parametrize(
    ("form", "is_exact"),
    [
        (np.asarray, True),
        (csr_array, False),
        pytest.param(csr_array, True, marks=pytest.mark.nightly),
        pytest.param(np.asarray, False, marks=pytest.mark.nightly),
    ],
)
def test_a_row_of_weight_2_counts_as_two_rows(table, form, is_exact, monkeypatch):
    if not is_exact:
        monkeypatch.setattr(room, "MIN", 5)
        monkeypatch.setattr(room, "N_COMPONENTS", 3)
        monkeypatch.setattr(room, "N_POWERS", 40)
    monkeypatch.setattr(room, "is_small", lambda *shape: False)
    X, y, weights = table()
    rows = np.repeat(np.arange(len(X)), weights)
    one = TransductiveScore().fit(form(X), y, sample_weight=weights)
    # copies of a row must not stand in different fifths
    other = TransductiveScore().fit(form(X[rows]), y[rows], groups=rows)
    assert_allclose(one.label_distributions_[rows], other.label_distributions_, atol=2e-4)
    assert_allclose(one.class_scores_, other.class_scores_, rtol=2e-3, atol=1e-5)
    assert_allclose(one.stability_, other.stability_, atol=1e-9)


def test_a_row_of_weight_0_does_not_count():
    X, y, _ = study()
    weights = (np.arange(60) % 5 > 0).astype(float)
    X[weights == 0] += 30
    rows = np.flatnonzero(weights)
    one = TransductiveScore().fit(X, y, sample_weight=weights)
    other = TransductiveScore().fit(X[rows], y[rows])
    assert_allclose(one.label_distributions_[rows], other.label_distributions_, atol=1e-8)
    assert_allclose(one.class_scores_, other.class_scores_, rtol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_weights_count_where_a_sample_stands_for_all(form):
    X, y, weights = study(400)
    few = {"max_unlabelled": 100}
    one = TransductiveScore(**few).fit(form(X), y, sample_weight=weights.astype(float))
    equal = TransductiveScore(**few).fit(form(X), y, sample_weight=np.ones(400))
    none = TransductiveScore(**few).fit(form(X), y)
    assert_allclose(equal.class_scores_, none.class_scores_, rtol=1e-6)
    # the members are those of the sample, so that the sums alone can be worked out
    shares = one.label_distributions_
    total = weights.sum()
    Z = X - weights @ X / total
    sums = (shares * weights[:, None]).T @ Z
    sizes = (shares.T @ weights)[:, None]
    between = sums**2 * total / (sizes * (total - sizes))
    within = weights @ Z**2 - between
    assert_allclose(one.class_scores_, between / within, rtol=1e-5)


def test_axes_place_weighted_rows_where_their_components_are():
    X, y, weights = study()
    for form in (np.asarray, csr_array):
        design = parse_design(60, sample_weight=weights)
        data = TrainingData.build(form(X), y, design=design)
        assert_allclose(find_axes(data).place(data.X), components(data), atol=1e-9)


def with_missing(share=0.2, seed=0):
    X, y, _ = study(seed=seed)
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X, y


def test_missing_values_stand_at_the_mean_of_their_column():
    X, y = with_missing()
    data = TrainingData.build(X, y, allow_nan=True)
    found = scaled_rows(data).values
    wanted = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    assert_allclose(found, np.nan_to_num(wanted), atol=1e-12)
    T = components(data)
    _, values, _ = np.linalg.svd(found, full_matrices=False)
    assert_allclose(np.square(T).sum(axis=0), values[: T.shape[1]] ** 2)
    assert_allclose(find_axes(data).place(data.X), T, atol=1e-9)


def class_scores_of_known(X, shares):
    """The F-score of each class against the rest over the rows that have the value, in loops.

    Those of columns with missing values are put on the scale of the others.
    """
    most = max(np.sum(~np.isnan(X), axis=0))
    found = np.zeros((shares.shape[1], X.shape[1]))
    for r, column in enumerate(X.T):
        there = ~np.isnan(column)
        x, own = column[there], shares[there]
        n, total = len(x), np.square(x - x.mean()).sum()
        for c in range(shares.shape[1]):
            size = own[:, c].sum()
            mean = own[:, c] @ x / size
            between = n * size / (n - size) * (mean - x.mean()) ** 2
            found[c, r] = between / max(total - between, total / n)
            if n < most:
                found[c, r] = (1 + found[c, r]) ** ((n - 2 - 0.5) / (most - 2 - 0.5)) - 1
    return found


@pytest.mark.parametrize("max_unlabelled", [None, 20])
def test_scores_are_over_the_values_that_are_there(max_unlabelled):
    X, y = with_missing()
    ranker = TransductiveScore(max_unlabelled=max_unlabelled).fit(X, y)
    wanted = class_scores_of_known(X, ranker.label_distributions_)
    assert_allclose(ranker.class_scores_, wanted, rtol=1e-8)
    assert set(ranker.ranking_[:2]) == {1, 2}


def test_labelled_scores_are_over_the_values_that_are_there():
    X, y = with_missing()
    data = TrainingData.build(X, y, allow_nan=True)
    found = labelled_scores(scaled_rows(data), data.labels, np.arange(60))
    few = X[y >= 0]
    shares = np.eye(2)[y[y >= 0]]
    wanted = class_scores_of_known(few, shares)[0]
    assert_allclose(found, wanted[None], rtol=1e-9)


def test_a_table_with_missing_values_is_assessed():
    X, y = with_missing()
    ranker = TransductiveScore().fit(X, y)
    sure = ranker.assess(X, y, n_permutations=39, n_resamples=3)
    assert sure.decisions[:2].tolist() == ["significant"] * 2
    assert "significant" not in sure.decisions[2:]


def test_a_column_or_a_row_of_missing_values():
    X, y = with_missing()
    X[:, 4] = np.nan
    X[7] = np.nan
    ranker = TransductiveScore().fit(X, y)
    assert np.isnan(ranker.scores_[4])
    assert np.isfinite(np.delete(ranker.scores_, 4)).all()
    assert set(ranker.ranking_[:2]) == {1, 2}


def test_rows_of_a_group_are_left_out_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 5)
    codes = np.where(np.arange(60) % 5 < 3, np.arange(60) // 5 % 3, -1)
    found = fifths(codes, 3, rng.normal(size=60), groups)
    assert (found[codes < 0] == -1).all()
    for group in range(12):
        assert len(set(found[(groups == group) & (codes >= 0)])) == 1
    for code in range(3):
        assert sorted(set(found[codes == code])) == [0, 1, 2, 3]


def test_a_class_of_one_group_stays():
    groups = np.array([0, 0, 1, 1, 2, 2])
    codes = np.array([0, 0, 1, 1, 1, -1])
    found = fifths(codes, 2, np.arange(6.0), groups)
    assert found.tolist() == [-1, -1, 0, 0, 1, -1]


def test_groups_of_one_row_are_rows():
    X, y, _ = study()
    key = X[:, 0]
    assert fifths(y, 2, key, np.arange(60)).tolist() == fifths(y, 2, key).tolist()
    data = TrainingData.build(X, y, design=parse_design(60, groups=np.arange(60)))
    one = find_soft_labels(data)
    assert_allclose(one.shares, find_soft_labels(TrainingData.build(X, y)).shares)


def test_a_class_whose_rows_all_have_weight_0_has_no_fifths():
    found = fifths(np.array([0, 0, -1]), 2, np.array([0.1, 0.2, 0.3]), np.array([0, 1, 2]))
    assert found.tolist() == [0, 1, -1]
