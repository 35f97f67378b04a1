"""Tests of many methods on many data sets, against printed tables, other libraries and loops."""

import autorank
import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from semisift.comparison._statistical_tests import (
    critical_difference,
    friedman,
    nemenyi,
    pairwise_wilcoxon,
    ranks,
)
from tests.nightly import few_daily
from tests.reference import statistics as slow

# Table 2 of the EnsCLS paper: accuracy of EnsCLS, CLS, CSFS, BS and SSFI on nine data sets.
ENSCLS = np.array(
    [
        [0.695, 0.507, 0.513, 0.600, 0.675],
        [0.781, 0.740, 0.751, 0.618, 0.760],
        [0.702, 0.480, 0.490, 0.647, 0.680],
        [0.594, 0.542, 0.549, 0.499, 0.548],
        [0.703, 0.515, 0.517, 0.543, 0.638],
        [0.734, 0.535, 0.535, 0.696, 0.701],
        [0.907, 0.837, 0.837, 0.882, 0.902],
        [0.749, 0.507, 0.511, 0.538, 0.735],
        [0.660, 0.550, 0.560, 0.562, 0.553],
    ]
)


def random_scores(n_sets, n_methods, seed, decimals=None):
    """Return accuracies; with few decimals many of them are tied."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.4, 0.9, (n_sets, 1)) + rng.normal(0, 0.05, (n_sets, n_methods))
    scores += np.linspace(0.08, 0, n_methods)
    return scores if decimals is None else np.round(scores, decimals)


tables = pytest.mark.parametrize(
    "scores",
    few_daily(
        [
            random_scores(n_sets, n_methods, seed, decimals)
            for seed, (n_sets, n_methods) in enumerate([(5, 3), (9, 5), (12, 4), (30, 6), (15, 12)])
            for decimals in (None, 2)
        ],
        2,
    ),
    ids=lambda scores: "x".join(map(str, scores.shape)),
)


# --- ranks ----------------------------------------------------------------------------------------


@tables
def test_ranks_are_those_of_pandas(scores):
    expected = pd.DataFrame(scores).rank(axis=1, ascending=False)
    assert_array_equal(ranks(scores), expected)
    assert_allclose(ranks(scores).sum(axis=1), scores.shape[1] * (scores.shape[1] + 1) / 2)


def test_rounding_makes_no_rank():
    summed = [0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 0.6 + 1e-9]
    assert summed[0] != summed[1]
    assert_array_equal(ranks([summed]), [[2.5, 2.5, 1]])
    assert_array_equal(ranks(1e-30 * np.array([summed])), [[2.5, 2.5, 1]])
    assert_array_equal(ranks(np.zeros((2, 3))), np.full((2, 3), 2.0))


@pytest.mark.parametrize("value", few_daily([np.nan, np.inf], 1))
@pytest.mark.parametrize("test", [ranks, friedman, nemenyi, pairwise_wilcoxon])
def test_scores_that_are_no_numbers(test, value):
    scores = ENSCLS.copy()
    scores[3, 1] = value
    with pytest.raises(
        ValueError, match=f"scores must be finite, but data set 3, method 1 has {value}"
    ):
        test(scores)


@pytest.mark.parametrize("test", [ranks, friedman, nemenyi, pairwise_wilcoxon])
@pytest.mark.parametrize("shape", [(0, 3)])
def test_scores_that_are_no_table(test, shape):
    with pytest.raises(ValueError, match="scores must have values by data set, method"):
        test(np.ones(shape))


@pytest.mark.parametrize("test", [friedman, nemenyi])
@pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
def test_too_few_to_compare(test, shape):
    with pytest.raises(ValueError, match="at least 2 data sets"):
        test(np.ones(shape))


# --- Friedman -------------------------------------------------------------------------------------


def test_friedman_on_the_table_of_the_paper():
    result = friedman(ENSCLS)
    assert (result.n_sets, result.n_methods) == (9, 5)
    assert_array_equal(np.round(result.mean_ranks, 4), [1, 4.6667, 3.6667, 3.3333, 2.3333])
    assert_allclose([result.chi2, result.f], 28, rtol=1e-12)
    assert_allclose(result.chi2_ties, 28.3146, rtol=1e-6)
    assert_allclose([result.p_chi2, result.p_f], [1.247e-5, 4.75e-10], rtol=2e-3)


@tables
def test_friedman_agrees_with_scipy(scores):
    result = friedman(scores)
    expected = stats.friedmanchisquare(*scores.T)
    assert_allclose(result.chi2_ties, expected.statistic)
    if (np.diff(np.sort(scores)) > 0).all():
        assert_allclose(result.chi2, expected.statistic)
        assert_allclose(result.p_chi2, expected.pvalue)
    else:
        assert result.chi2 < expected.statistic
    n, k = scores.shape
    printed = 12 * n / (k * (k + 1)) * ((result.mean_ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert_allclose(result.chi2, printed)
    f = (n - 1) * printed / (n * (k - 1) - printed)
    assert_allclose([result.f, result.p_f], [f, stats.f.sf(f, k - 1, (k - 1) * (n - 1))])


@pytest.mark.parametrize("n_methods", few_daily([2, 3, 7, 10], 2))
@pytest.mark.parametrize("n_sets", few_daily([2, 3, 7, 11], 2))
def test_all_data_sets_agree(n_sets, n_methods):
    result = friedman(np.arange(n_sets)[:, None] + np.arange(n_methods) / 10)
    assert_allclose(result.chi2, n_sets * (n_methods - 1))
    assert (result.f, result.p_f) == (np.inf, 0.0)


def test_all_methods_are_equal():
    result = friedman(np.repeat(ENSCLS[:, :1], 4, axis=1))
    assert (result.chi2, result.p_chi2, result.chi2_ties) == (0, 1, 0)
    assert (result.f, result.p_f) == (0, 1)
    assert_array_equal(result.mean_ranks, 2.5)


@tables
def test_the_order_of_data_sets_does_not_matter(scores):
    mixed = np.random.default_rng(0).permutation(scores)
    one, other = friedman(scores), friedman(mixed)
    assert_allclose(one.mean_ranks, other.mean_ranks)
    assert_allclose(one.mean_ranks.sum(), scores.shape[1] * (scores.shape[1] + 1) / 2)
    assert_allclose([one.chi2, one.f], [other.chi2, other.f])
    assert nemenyi(scores).groups == nemenyi(mixed).groups


# --- Nemenyi --------------------------------------------------------------------------------------


def test_critical_difference_by_hand():
    assert_allclose(critical_difference(5, 9, 0.1), 1.833215, atol=5e-7)
    assert_allclose(critical_difference(5, 9, 0.05), 2.033163, atol=5e-7)
    assert critical_difference(5, 9) == critical_difference(5, 9, 0.05)


# Demsar (2006), table 5a.
@pytest.mark.parametrize(
    ("alpha", "printed"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_differences_of_the_printed_table(alpha, printed):
    quantiles = [
        critical_difference(k, 10, alpha) / np.sqrt(k * (k + 1) / 60) for k in range(2, 11)
    ]
    assert_allclose(quantiles, printed, atol=1.1e-3)


def test_nemenyi_on_the_table_of_the_paper():
    result = nemenyi(ENSCLS, alpha=0.1)
    # EnsCLS and SSFI; SSFI, BS and CSFS; BS, CSFS and CLS
    assert result.groups == ((0, 4), (4, 3, 2), (3, 2, 1))
    close = {(0, 4), (2, 4), (3, 4), (1, 2), (1, 3), (2, 3)}
    pairs = {(i, j) for i in range(5) for j in range(i + 1, 5)}
    assert {pair for pair in pairs if not result.different[pair]} == close
    assert_allclose(result.critical_difference, 1.833215, atol=5e-7)


@tables
def test_nemenyi_agrees_with_scikit_posthocs(scores):
    expected = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    result = nemenyi(scores)
    assert_allclose(result.p_values, expected, rtol=1e-9, atol=1e-12)
    assert_array_equal(result.p_values, result.p_values.T)
    for alpha in (0.01, 0.1):
        assert_array_equal(nemenyi(scores, alpha).different, expected < alpha)


@tables
def test_friedman_and_nemenyi_agree_with_autorank(scores):
    names = [str(i) for i in range(scores.shape[1])]
    frame = pd.DataFrame(scores, columns=names)
    theirs = autorank.autorank(frame, alpha=0.05, force_mode="nonparametric")
    assert (theirs.omnibus, theirs.posthoc) == ("friedman", "nemenyi")
    ours = nemenyi(scores)
    assert_allclose(theirs.cd, ours.critical_difference, rtol=2e-3)  # theirs is interpolated
    assert_allclose(theirs.rankdf.meanrank[names], ours.mean_ranks)
    tied = friedman(scores)
    assert_allclose(theirs.pvalue, stats.chi2.sf(tied.chi2_ties, tied.n_methods - 1))


@tables
@pytest.mark.parametrize("alpha", few_daily([0.01, 0.1, 0.5], 2))
def test_groups_are_the_largest_cliques(scores, alpha):
    scores = scores[:, :9]
    result = nemenyi(scores, alpha)
    expected = slow.cliques(result.mean_ranks.tolist(), result.critical_difference)
    assert sorted(map(sorted, result.groups)) == sorted(map(sorted, expected))
    for group in result.groups:
        assert_array_equal(group, sorted(group, key=lambda i: result.mean_ranks[i]))
    best = [result.mean_ranks[group[0]] for group in result.groups]
    assert best == sorted(best)


def test_groups_of_none_and_of_all():
    apart = np.arange(200)[:, None] + np.array([0.3, 0.1, 0.2])
    assert nemenyi(apart).groups == ()
    assert nemenyi(apart).different.sum() == 6
    assert nemenyi(apart[:2]).groups == ((0, 2, 1),)


@pytest.mark.parametrize("sizes", [(1, 5), (5, 0)])
def test_critical_difference_of_too_few(sizes):
    with pytest.raises(ValueError, match="at least 2 methods and 1 data set"):
        critical_difference(*sizes)
