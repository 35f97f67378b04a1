"""Bins, mutual information of all columns at once, and MRMR."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from semisift import MRMR, FisherScore, _kernels
from semisift.filters.mrmr import criterion
from semisift.utils import _columns as blocks_module
from semisift.utils import _information
from semisift.utils._information import (
    DenseBins,
    SparseBins,
    bin_columns,
    conditional_mutual_information,
    entropy,
    mutual_information,
)
from tests.reference import information as slow

FORMS = [np.asarray, sparse.csc_array]
every_form = pytest.mark.parametrize("form", FORMS)

BITS = np.log(2)
Y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
X = np.array(
    [[0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 1, 0, 1, 1, 0, 1], [0, 1] * 4],
    dtype=float,
).T


def make_columns(n_rows=150, n_columns=12, density=0.5, seed=0):
    """Return columns of many and of few values, among them constant ones."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < density)
    columns[:, 1], columns[:, 2] = 0.0, 4.5
    columns[:, 3] = rng.integers(-2, 3, n_rows)
    columns[:, 4] = rng.integers(0, 6, n_rows)
    columns[:, 5] = rng.normal(size=n_rows) + 100
    return columns, rng.integers(0, 3, n_rows)


def codes_of(binned):
    return np.column_stack([binned.column(j) for j in range(binned.shape[1])])


# --- bins -----------------------------------------------------------------------------------------


@every_form
@pytest.mark.parametrize("n_rows", [4, 40, 150])
def test_bins_are_those_of_loops(form, n_rows):
    columns, _ = make_columns(n_rows)
    expected = np.column_stack([slow.binned(column.tolist()) for column in columns.T])
    assert_array_equal(codes_of(bin_columns(form(columns))), expected)
    few = np.column_stack([slow.binned(column.tolist(), 3) for column in columns.T])
    assert_array_equal(codes_of(bin_columns(form(columns), 3)), few)


def test_a_value_that_comes_late_counts():
    column = np.zeros((200, 1))
    column[-6:, 0] = [1, 2, 3, 4, 5, 100]
    expected = slow.binned(column[:, 0].tolist())
    for form in FORMS:
        assert_array_equal(bin_columns(form(column)).column(0), expected)


def test_sparse_stays_sparse():
    columns, _ = make_columns(density=0.05)
    assert isinstance(bin_columns(columns), DenseBins)
    binned = bin_columns(sparse.csc_array(columns[:, 6:]))
    assert isinstance(binned, SparseBins)
    assert len(binned.rows) <= np.count_nonzero(columns[:, 6:])


@every_form
@pytest.mark.parametrize("unit", [1e-300, 1e300, 1.7e308])
def test_extreme_values_have_the_same_bins(form, unit):
    columns = np.clip(make_columns()[0][:, 6:], -1, 1)
    assert_array_equal(
        codes_of(bin_columns(form(columns * unit))), codes_of(bin_columns(form(columns)))
    )


# --- information ----------------------------------------------------------------------------------


@every_form
def test_golden_values(form):
    binned = bin_columns(form(X))
    relevance = mutual_information(binned, Y)
    assert_allclose(relevance / BITS, [0.5487949, 0.5487949, 0.1887219, 0], atol=5e-8)
    with_first = mutual_information(binned, binned.column(0))
    assert_allclose(with_first / BITS, [0.9544340, 0.9544340, 0.0487949, 0.0487949], atol=5e-8)
    given_first = conditional_mutual_information(binned, Y, binned.column(0))
    assert_allclose(given_first[1:] / BITS, [0, 0.2012051, 0.1068441], atol=5e-8)
    # G17 and G18
    difference = criterion(relevance, with_first, quotient=False) / BITS
    assert_allclose(difference[1:], [-0.4056391, 0.1399269, -0.0487949], atol=5e-8)
    quotient = criterion(relevance, with_first, quotient=True)
    assert_allclose(quotient[1:], [0.5749952, 3.8676525, 0], atol=5e-7)
    # G19: I((f, f0); y) by the chain rule
    joint = (given_first + relevance[0]) / BITS
    assert_allclose(joint[1:], [0.5487949, 0.7500000, 0.6556391], atol=5e-8)
    # G20: relevance as shares
    shares = relevance / relevance.sum()
    assert_allclose(shares, [0.4266422, 0.4266422, 0.1467155, 0], atol=5e-8)


@every_form
@pytest.mark.parametrize("n_rows", [9, 64, 150])
def test_agreement_with_loops(form, n_rows):
    columns, y = make_columns(n_rows)
    binned = bin_columns(form(columns))
    codes = [slow.binned(column.tolist()) for column in columns.T]
    assert_allclose(entropy(binned), [slow.entropy(code) for code in codes], atol=1e-12)
    expected = [slow.mutual(code, y.tolist()) for code in codes]
    assert_allclose(mutual_information(binned, y), expected, atol=1e-12)
    s = binned.column(3)
    expected = [slow.conditional(code, y.tolist(), s.tolist()) for code in codes]
    assert_allclose(conditional_mutual_information(binned, y, s), expected, atol=1e-12)


def test_dense_and_sparse_give_the_same_bits():
    columns, y = make_columns()
    dense, thin = bin_columns(columns), bin_columns(sparse.csc_array(columns))
    assert_array_equal(mutual_information(dense, y), mutual_information(thin, y))
    s = dense.column(0)
    assert_array_equal(
        conditional_mutual_information(dense, y, s), conditional_mutual_information(thin, y, s)
    )


@every_form
def test_blocks_do_not_matter(form, monkeypatch):
    columns, y = make_columns()
    expected = mutual_information(bin_columns(form(columns)), y)
    monkeypatch.setattr(_information, "BLOCK_COUNTS", 40)
    monkeypatch.setattr(blocks_module, "BLOCK_VALUES", 300)
    assert_allclose(mutual_information(bin_columns(form(columns)), y), expected, atol=1e-15)


@every_form
def test_sizes_of_bins(form):
    binned = bin_columns(form(make_columns(30)[0]))
    for j in range(12):
        assert_array_equal(binned.sizes[j], np.bincount(binned.column(j), minlength=5))


@pytest.mark.parametrize("n_rows", [3, 64, 130, 700])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tables_in_numpy_give_the_same_bits(n_rows, dtype):
    columns, y = make_columns(n_rows)
    columns = np.asarray(columns, dtype=dtype)
    many = np.random.default_rng(1).integers(0, 60, n_rows)  # more than are counted by masks

    def measure():
        binned = bin_columns(columns)
        given = [mutual_information(binned, other) for other in (y, many)]
        given += [conditional_mutual_information(binned, y, s) for s in (binned.column(3), many)]
        return binned, given

    binned, found = measure()
    with _kernels.numpy_only():
        same, expected = measure()
    assert_array_equal(binned.bits, same.bits)
    assert_array_equal(binned.sizes, same.sizes)
    assert_array_equal(found, expected)


def test_information_is_bounded_and_does_not_depend_on_names():
    columns, y = make_columns()
    binned = bin_columns(columns)
    relevance = mutual_information(binned, y)
    of_classes = slow.entropy(y.tolist())
    assert (relevance >= 0).all()
    assert (relevance <= np.minimum(entropy(binned), of_classes) + 1e-12).all()
    assert_allclose(mutual_information(binned, 2 - y), relevance, atol=1e-12)
    assert_allclose(mutual_information(bin_columns(-columns), y)[3], relevance[3], atol=1e-12)
    assert_allclose(mutual_information(bin_columns(y[:, None].astype(float)), y), of_classes)


# --- MRMR -----------------------------------------------------------------------------------------


@every_form
@pytest.mark.parametrize("name", ["MID", "MIQ"])
def test_the_copy_is_not_the_second_pick(form, name):
    ranker = MRMR(criterion=name, n_features_to_select=2)
    with pytest.warns(UserWarning, match="no unlabelled row"):
        ranker.fit(form(X), Y)
    assert_array_equal(ranker.scores_[[2, 3]], [3, 1])
    assert_array_equal(np.sort(ranker.scores_[:2]), [2, 4])
    assert_allclose(ranker.relevance_ / BITS, [0.5487949, 0.5487949, 0.1887219, 0], atol=5e-8)


@every_form
@pytest.mark.parametrize("on", ["labelled", "all"])
@pytest.mark.parametrize("name", ["MID", "MIQ"])
def test_picks_are_those_of_loops(form, on, name):
    columns, y = make_columns(150, 12, seed=3)
    columns = np.delete(columns, [1, 2], axis=1)
    columns[:, 0] += y
    columns[:, 7] += 0.8 * columns[:, 0]
    y[100:] = -1
    ranker = MRMR(criterion=name, redundancy_on=on, n_features_to_select=6).fit(form(columns), y)
    labelled = [slow.binned(column[:100].tolist()) for column in columns.T]
    others = [slow.binned(column.tolist()) for column in columns.T] if on == "all" else None
    picks = slow.mrmr(labelled, y[:100].tolist(), 6, name, others)
    assert_array_equal(np.argsort(ranker.ranking_)[:6], picks)
    assert_array_equal(ranker.scores_[picks], [10, 9, 8, 7, 6, 5])
    rest = np.setdiff1d(np.arange(10), picks)
    by_relevance = rest[np.argsort(-ranker.relevance_[rest])]
    assert_array_equal(np.argsort(ranker.ranking_)[6:], by_relevance)


def test_a_copy_of_a_pick_has_no_positive_difference():
    columns, y = make_columns()
    binned = bin_columns(columns)
    relevance = mutual_information(binned, y)
    for j in range(12):
        redundancy = mutual_information(binned, binned.column(j))
        value = criterion(relevance, redundancy, quotient=False)[j]
        assert value <= 1e-12
        assert value == pytest.approx(relevance[j] - entropy(binned)[j])


def test_the_first_pick_is_the_most_relevant():
    columns, y = make_columns()
    y[120:] = -1
    ranker = MRMR(n_features_to_select=5).fit(columns, y)
    assert ranker.relevance_[ranker.ranking_ == 1] == ranker.relevance_.max()


def test_recoding_values_changes_nothing():
    _, y = make_columns(100)
    few = np.random.default_rng(0).integers(0, 4, size=(100, 6)).astype(float)
    few[:, 0] = np.where(np.arange(100) % 3, y, few[:, 0])
    y[80:] = -1
    codes = np.array([7.0, -3.0, 11.0, 0.5])
    recoded = codes[few.astype(int)]
    expected = MRMR(n_features_to_select=6).fit(few, y)
    assert_array_equal(MRMR(n_features_to_select=6).fit(recoded, y).scores_, expected.scores_)


def test_at_most_a_hundred_picks_unless_asked():
    rng = np.random.default_rng(0)
    columns, y = rng.normal(size=(40, 250)), np.arange(40) % 2
    y[20:] = -1
    by_default = MRMR().fit(columns, y)
    picked = by_default.ranking_ <= 100
    assert_array_equal(np.sort(by_default.scores_[picked]), np.arange(151, 251))
    assert by_default.scores_[~picked].max() <= 150
    assert MRMR(n_features_to_select=120).fit(columns, y).scores_.max() == 250
    asked = MRMR(n_features_to_select=120).fit(columns, y)
    assert_array_equal(np.sort(asked.scores_)[-120:], np.arange(131, 251))


def test_constant_columns_are_never_picked():
    columns, y = make_columns()
    y[100:] = -1
    ranker = MRMR(n_features_to_select=12).fit(columns, y)
    assert np.isnan(ranker.scores_[[1, 2]]).all()
    assert_array_equal(np.sort(ranker.ranking_[[1, 2]]), [11, 12])


def test_equally_relevant_columns_are_ordered_by_their_fisher_score():
    rng = np.random.default_rng(1)
    y = np.array([0, 0, 0, 1, 1, 1, *[-1] * 20])
    columns = rng.normal(size=(26, 30))
    columns[:6, :10] += 20.0 * y[:6, None]
    ranker = MRMR(n_features_to_select=1).fit(columns, y)
    best = np.flatnonzero(ranker.relevance_ == ranker.relevance_.max())
    assert len(best) >= 10
    fisher = FisherScore().fit(columns, y).scores_
    assert best[np.argmax(fisher[best])] == np.argmin(ranker.ranking_)
