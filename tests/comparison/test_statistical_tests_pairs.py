"""Two methods at a time, against printed tables, other libraries and loops."""

from fractions import Fraction

import numpy as np
import pytest
import scikit_posthocs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from semisift.comparison._statistical_tests import (
    critical_difference,
    critical_wins,
    holm,
    nemenyi,
    paired_t,
    pairwise_wilcoxon,
    ranks,
    sign_test,
    wilcoxon,
    win_tie_loss,
)
from tests.comparison.test_statistical_tests import ENSCLS, random_scores
from tests.nightly import few_daily
from tests.reference import statistics as slow

# Table 3 of the EnsCLS paper: wins, ties and losses of each method against each other.
WINS = np.array(
    [
        [[0, 9, 0], [8, 1, 0], [8, 1, 0], [8, 1, 0], [5, 4, 0]],
        [[0, 1, 8], [0, 9, 0], [2, 3, 4], [2, 2, 5], [0, 3, 6]],
        [[0, 1, 8], [4, 3, 2], [0, 9, 0], [2, 2, 5], [1, 2, 6]],
        [[0, 1, 8], [5, 2, 2], [5, 2, 2], [0, 9, 0], [0, 2, 7]],
        [[0, 4, 5], [6, 3, 0], [6, 2, 1], [7, 2, 0], [0, 9, 0]],
    ]
)

# Table II of the SSFI paper: accuracy of SSFI, FwFS, RF and sSelect on ten data sets.
SSFI = np.array(
    [
        [0.6080, 0.5193, 0.5445, 0.5064],
        [0.5645, 0.5404, 0.5327, 0.5431],
        [0.7707, 0.6396, 0.6950, 0.6246],
        [0.5580, 0.5024, 0.5076, 0.5008],
        [0.6952, 0.6200, 0.6563, 0.6145],
        [0.8372, 0.7444, 0.7583, 0.6327],
        [0.5953, 0.5312, 0.5120, 0.5123],
        [0.5671, 0.5339, 0.5408, 0.5275],
        [0.4777, 0.3656, 0.4008, 0.3435],
        [0.4432, 0.3952, 0.4876, 0.2966],
    ]
)

A = np.array([0.70, 0.72, 0.69, 0.71, 0.73])
B = np.array([0.68, 0.70, 0.70, 0.69, 0.70])


# --- Wilcoxon -------------------------------------------------------------------------------------


def test_wilcoxon_on_the_table_of_the_paper():
    forest = wilcoxon(SSFI[:, 0], SSFI[:, 2])
    assert (forest.w_plus, forest.w_minus, forest.n) == (51, 4, 10)
    assert_allclose(forest.p, 0.0136719, atol=5e-8)
    for other in (1, 3):
        result = wilcoxon(SSFI[:, 0], SSFI[:, other])
        assert (result.w_plus, result.w_minus) == (55, 0)
        assert_allclose(result.p, 2 / 2**10)
    p, adjusted = pairwise_wilcoxon(SSFI)
    assert_allclose(p[0], [1, 2 / 1024, 14 / 1024, 2 / 1024])
    assert (p[0, 1:] < 0.02).all()
    assert (adjusted >= p).all()


@pytest.mark.parametrize("n", few_daily([1, 2, 5, 8, 11], 3))
@pytest.mark.parametrize("largest", few_daily([1, 2, 4, 50], 2))
def test_wilcoxon_counts_as_trying_all_signs_does(n, largest):
    rng = np.random.default_rng(n * largest)
    for _ in range(3):
        differences = rng.integers(-largest, largest + 1, n)
        b = rng.integers(-9, 9, n)
        result = wilcoxon(b + differences, b)
        expected = slow.wilcoxon(differences.tolist())
        assert (result.w_plus, result.w_minus, result.n) == expected[:3]
        assert result.p == expected[3]


@pytest.mark.parametrize("n", few_daily([3, 10, 25, 50], 2))
def test_wilcoxon_agrees_with_scipy_where_there_are_no_ties(n):
    a, b = np.random.default_rng(n).normal([0.3, 0], 1, (n, 2)).T
    expected = stats.wilcoxon(a, b, method="exact")
    result = wilcoxon(a, b)
    assert min(result.w_plus, result.w_minus) == expected.statistic
    assert_allclose(result.p, expected.pvalue)


@pytest.mark.parametrize("n", few_daily([51, 80, 300], 2))
@pytest.mark.parametrize("decimals", [1, 6])
def test_many_differences_agree_with_the_approximation_of_scipy(n, decimals):
    a, b = np.round(np.random.default_rng(n).normal([0.2, 0], 1, (n, 2)), decimals).T
    # scipy takes differences by rounding for different ones
    exact = np.round(a - b, decimals)
    expected = stats.wilcoxon(exact, method="asymptotic", zero_method="wilcox", correction=False)
    result = wilcoxon(a, b)
    assert result.n == np.count_nonzero(exact) > 50
    assert min(result.w_plus, result.w_minus) == expected.statistic
    assert_allclose(result.p, expected.pvalue)


def test_counting_and_approximation_meet():
    rng = np.random.default_rng(0)
    differences = rng.integers(-5, 8, 80)
    fifty = differences[differences != 0][:50]
    exact = wilcoxon(fifty, np.zeros(50))
    approximate = stats.wilcoxon(fifty, method="asymptotic")
    assert exact.n == 50
    assert_allclose(exact.p, approximate.pvalue, rtol=0.05)


def test_ties_and_zeros_are_found_behind_rounding():
    a = np.array([0.72, 0.70, 0.69, 0.1 + 0.2])
    b = np.array([0.70, 0.68, 0.67, 0.3])
    assert len(set(np.abs(a - b))) == 3
    assert (a != b).all()
    result = wilcoxon(a, b)
    assert (result.w_plus, result.n, result.p) == (6, 3, 0.25)


@pytest.mark.parametrize("decimals", [2, 8])
@pytest.mark.parametrize("n", [12, 90])
def test_properties_of_wilcoxon(decimals, n):
    a, b = random_scores(n, 2, n, decimals).T
    result, swapped = wilcoxon(a, b), wilcoxon(b, a)
    assert (swapped.w_plus, swapped.w_minus) == (result.w_minus, result.w_plus)
    assert swapped.p == result.p
    assert wilcoxon(a + 0.37, b + 0.37) == result
    assert result.w_plus + result.w_minus == result.n * (result.n + 1) / 2
    same = wilcoxon(a, a)
    assert (same.w_plus, same.w_minus, same.n, same.p) == (0, 0, 0, 1)


def test_pairs_that_do_not_match():
    with pytest.raises(ValueError, match="got 9 and 4 values"):
        wilcoxon(ENSCLS[:, 0], ENSCLS[:4, 1])
    with pytest.raises(ValueError, match="b must be finite, but pair 1 has nan"):
        paired_t([1, 2], [3, np.nan])


# --- many pairs -----------------------------------------------------------------------------------


def test_holm_by_hand_and_as_loops():
    assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert_array_equal(holm([]), [])
    rng = np.random.default_rng(0)
    for n in (1, 4, 20):
        p_values = rng.uniform(0, 0.3, n)
        assert_allclose(holm(p_values), slow.holm(p_values.tolist()))


@pytest.mark.parametrize("p_values", few_daily([[0.1, 1.2], [-0.1], [np.nan], [[0.1]], 0.1], 2))
def test_what_are_no_p_values(p_values):
    with pytest.raises(ValueError, match="p_values must be numbers from 0 to 1"):
        holm(p_values)


@pytest.mark.parametrize("shape", [(8, 3), (50, 4)])
def test_all_pairs_agree_with_scikit_posthocs(shape):
    scores = random_scores(*shape, seed=7)
    p, adjusted = pairwise_wilcoxon(scores)
    columns = list(scores.T)
    assert_allclose(p, scikit_posthocs.posthoc_wilcoxon(columns))
    assert_allclose(adjusted, scikit_posthocs.posthoc_wilcoxon(columns, p_adjust="holm"))
    assert_array_equal(adjusted, adjusted.T)


# --- t-tests --------------------------------------------------------------------------------------


def test_paired_t_by_hand():
    result = paired_t(A, B)
    assert_allclose([result.t, result.p], [2.359071, 0.077742], atol=5e-7)
    assert_allclose(result.mean, 0.016)
    corrected = paired_t(A, B, test_share=0.5)
    assert_allclose(corrected.t, result.t * np.sqrt(0.2 / 0.7))
    assert_allclose(corrected.p, 2 * stats.t.sf(corrected.t, 4))


@pytest.mark.parametrize("n", few_daily([2, 10, 100], 2))
def test_paired_t_agrees_with_scipy(n):
    a, b = np.random.default_rng(n).normal(0.7, 0.1, (2, n))
    expected = stats.ttest_rel(a, b)
    result = paired_t(a, b)
    assert_allclose([result.t, result.p], [expected.statistic, expected.pvalue])
    swapped = paired_t(b, a)
    assert_allclose([swapped.t, swapped.p, swapped.mean], [-result.t, result.p, -result.mean])


@pytest.mark.parametrize("test_share", [None, 0.5])
def test_differences_that_do_not_vary(test_share):
    better = paired_t([0.72, 0.70, 0.69], [0.70, 0.68, 0.67], test_share)
    assert (better.t, better.p) == (np.inf, 0)
    worse = paired_t([0.70, 0.68, 0.67], [0.72, 0.70, 0.69], test_share)
    assert (worse.t, worse.p) == (-np.inf, 0)
    same = paired_t([0.1 + 0.2, 0.5, 0.6], [0.3, 0.5, 0.6], test_share)
    assert (same.t, same.p) == (0, 1)
    nothing = paired_t(np.zeros(4), np.zeros(4), test_share)
    assert (nothing.t, nothing.p, nothing.mean) == (0, 1, 0)


def test_corrected_t_keeps_its_level_where_runs_share_rows():
    """On splits of the same rows the plain test finds far too many differences."""
    rng = np.random.default_rng(0)
    n_rows, n_runs, n_test = 60, 15, 20
    found = np.zeros(2)
    for _ in range(400):
        values = rng.normal(size=n_rows)  # the gain of a method on each row, 0 on average
        test = np.array([rng.permutation(n_rows)[:n_test] for _ in range(n_runs)])
        gain = values[test].mean(axis=1)
        for i, test_share in enumerate([None, n_test / (n_rows - n_test)]):
            found[i] += paired_t(gain, np.zeros(n_runs), test_share).p <= 0.05
    plain, corrected = found / 400
    assert plain > 0.3
    assert corrected < 0.1


def test_t_tests_without_enough_runs():
    with pytest.raises(ValueError, match="at least 2 runs, received 1"):
        paired_t([0.5], [0.4])
    with pytest.raises(ValueError, match="at least 2 runs, received 1"):
        win_tie_loss(np.ones((3, 1, 2)))


@pytest.mark.parametrize("test_share", few_daily([0, -1, np.nan, np.inf], 2))
def test_shares_out_of_range(test_share):
    with pytest.raises(ValueError, match="must be above 0"):
        paired_t(A, B, test_share)


# --- wins, ties and losses ------------------------------------------------------------------------


@pytest.mark.parametrize("test_share", [None, 0.5])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_wins_are_those_of_one_test_after_the_other(alpha, test_share):
    rng = np.random.default_rng(0)
    runs = np.round(rng.normal(0.7, 0.05, (12, 6, 4)) + np.array([0, 0, 0.03, 0.08]), 2)
    runs[0] = 0.5
    runs[1, :, 2] = runs[1, :, 1] + 0.1
    expected = np.zeros((4, 4, 3), dtype=int)
    for scores in runs:
        for i in range(4):
            for j in range(4):
                result = paired_t(scores[:, i], scores[:, j], test_share)
                outcome = 1 if result.p > alpha else 0 if result.mean > 0 else 2
                expected[i, j, outcome] += 1
    counts = win_tie_loss(runs, alpha, test_share)
    assert_array_equal(counts, expected)
    assert_array_equal(counts.sum(axis=-1), 12)
    assert_array_equal(counts[..., 0], counts[..., 2].T)
    assert (np.diagonal(counts, axis1=0, axis2=1)[1] == 12).all()
    assert counts[2, 1, 0] >= 1


def test_units_of_the_data_sets_do_not_matter():
    runs = np.random.default_rng(0).normal(size=(6, 5, 3)) + np.array([2.0, 1.0, 0.0])
    units = np.array([1e-20, 1e-9, 1, 4, 1e9, 1e20])[:, None, None]
    assert_array_equal(win_tie_loss(runs * units), win_tie_loss(runs))
    assert_array_equal(ranks(runs.mean(axis=1) * units[:, 0]), ranks(runs.mean(axis=1)))


def test_runs_that_are_no_numbers():
    runs = np.ones((3, 4, 2))
    runs[2, 1, 0] = np.nan
    with pytest.raises(ValueError, match="but data set 2, run 1, method 0 has nan"):
        win_tie_loss(runs)


@pytest.mark.parametrize(
    ("alpha", "wins"),
    [
        (0.10, [5, 6, 6, 7, 7, 8, 9, 9, 10, 10, 11]),
        (0.05, [5, 6, 7, 7, 8, 9, 9, 10, 10, 11, 12]),
    ],
)
def test_critical_wins_by_hand(alpha, wins):
    assert [critical_wins(n, alpha) for n in range(5, 16)] == wins


@pytest.mark.parametrize(
    "alpha", [Fraction(1, 10), Fraction(1, 20), Fraction(1, 16), Fraction(1, 2)]
)
def test_critical_wins_are_those_of_fractions(alpha):
    for n in range(70):
        assert critical_wins(n, float(alpha)) == slow.critical_wins(n, alpha)


def test_critical_wins_of_less_than_nothing():
    with pytest.raises(ValueError, match="n must not be negative, received -1"):
        critical_wins(-1)


def test_sign_test_on_the_table_of_the_paper():
    better = sign_test(WINS, alpha=0.1)
    expected = np.zeros((5, 5), dtype=bool)
    expected[0, 1:] = True  # EnsCLS is better than all others
    expected[4, 1:4] = True  # SSFI than all but EnsCLS
    assert_array_equal(better, expected)
    assert_array_equal(WINS[..., ::-1], WINS.transpose(1, 0, 2))


def test_ties_are_shared_and_an_odd_one_dropped():
    # of 8, 7 wins are needed, of 9 as well, of 10 it takes 8
    assert sign_test([6, 3, 0])
    assert sign_test([7, 1, 2]) == sign_test([7, 0, 2])
    assert sign_test([6, 3, 1])
    assert not sign_test([5, 3, 1])
    assert not sign_test([7, 0, 3])
    assert not sign_test([0, 9, 0])
    assert not sign_test([0, 0, 0])
    assert sign_test(np.empty((0, 3), dtype=int)).shape == (0,)


@pytest.mark.parametrize("counts", few_daily([[1, 2], [1.5, 2.0, 3.0], [1, 2, -3], 5], 2))
def test_what_are_no_counts(counts):
    with pytest.raises(ValueError, match="counts must be wins, ties and losses"):
        sign_test(counts)


@pytest.mark.parametrize("alpha", few_daily([0, 1, -0.1, 5, np.nan], 2))
def test_levels_out_of_range(alpha):
    uses = (
        lambda: critical_difference(3, 4, alpha),
        lambda: nemenyi(ENSCLS, alpha),
        lambda: critical_wins(9, alpha),
        lambda: sign_test(WINS, alpha),
        lambda: win_tie_loss(np.ones((2, 3, 2)), alpha),
    )
    for use in uses:
        with pytest.raises(ValueError, match="alpha must lie between 0 and 1, received"):
            use()
