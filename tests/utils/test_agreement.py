"""How alike the picks of several runs are, against loops and known answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from semisift.utils._agreement import (
    entropy_diversity,
    jaccard,
    kuncheva,
    mean_kuncheva,
    nogueira,
    rank_overlap,
)
from tests.reference import statistics as slow

SETS = [[0, 1, 2], [0, 1, 3], [0, 4, 5]]


def random_sets(n_sets, p, sizes, seed=0):
    rng = np.random.default_rng(seed)
    favoured = rng.dirichlet(np.full(p, 0.5))
    return [rng.choice(p, rng.choice(sizes), replace=False, p=favoured) for _ in range(n_sets)]


def test_kuncheva_by_hand():
    values = [kuncheva(SETS[i], SETS[j], 10) for i, j in [(0, 1), (0, 2), (1, 2)]]
    assert_allclose(values, [0.5238095, 0.0476190, 0.0476190], atol=5e-8)
    assert_allclose(mean_kuncheva(SETS, 10), 0.2063492, atol=5e-8)
    assert_allclose(kuncheva([0, 1, 2], [3, 4, 5], 10), -0.4285714, atol=5e-8)


def test_nogueira_by_hand():
    assert_allclose(nogueira(SETS, 10).value, 0.2063492, atol=5e-8)
    assert_allclose(nogueira([[0, 1], [0, 1, 2]], 5).value, 0.6)


@pytest.mark.parametrize("size", [1, 4, 19])
@pytest.mark.parametrize("n_sets", [2, 7])
def test_sets_of_equal_size(n_sets, size):
    sets = random_sets(n_sets, 20, [size])
    expected = slow.mean_kuncheva([features.tolist() for features in sets], 20)
    assert_allclose(mean_kuncheva(sets, 20), expected, atol=1e-12)
    assert_allclose(nogueira(sets, 20).value, expected, atol=1e-12)


@pytest.mark.parametrize("n_sets", [10, 13, 40])
@pytest.mark.parametrize("sizes", [[3], [0, 2, 5], [1, 29, 30]])
def test_nogueira_is_that_of_loops(n_sets, sizes):
    sets = random_sets(n_sets, 30, sizes, seed=n_sets)
    value, variance = slow.nogueira([features.tolist() for features in sets], 30)
    result = nogueira(sets, 30)
    width = 1.959963984540054 * np.sqrt(variance)
    assert_allclose([result.value, result.low], [value, value - width], atol=1e-12)
    assert_allclose(result.high, min(1, value + width), atol=1e-12)
    assert result.n == n_sets


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    chance = np.concatenate([np.full(5, 0.9), np.full(5, 0.4), np.full(30, 0.05)])
    size = chance.sum() / 40
    truth = 1 - (chance * (1 - chance)).mean() / (size * (1 - size))
    n_inside, values, widths = 0, [], []
    for _ in range(600):
        picked = rng.random((60, 40)) < chance
        result = nogueira([np.flatnonzero(row) for row in picked], 40)
        n_inside += result.low <= truth <= result.high
        values.append(result.value)
        widths.append(result.high - result.low)
    assert 0.92 < n_inside / 600 < 0.975
    assert_allclose(np.mean(values), truth, atol=0.01)
    assert_allclose(np.mean(widths) / 2 / 1.96, np.std(values), rtol=0.1)


def test_equal_sets_are_stable_in_any_order():
    sets = [[3, 1, 8], [8, 3, 1], [1, 8, 3]] * 4
    assert mean_kuncheva(sets, 12) == pytest.approx(1)
    result = nogueira(sets, 12)
    assert (result.value, result.low, result.high) == pytest.approx((1, 1, 1))
    assert jaccard(*sets[:2]) == 1


def test_random_sets_are_not_stable():
    rng = np.random.default_rng(0)
    sets = [rng.choice(50, 10, replace=False) for _ in range(300)]
    assert abs(mean_kuncheva(sets, 50)) < 0.01
    assert abs(nogueira(sets, 50).value) < 0.01


@pytest.mark.parametrize("sizes", [[5], [2, 9]])
def test_names_of_features_and_order_of_sets_do_not_matter(sizes):
    sets = random_sets(11, 25, sizes)
    names = np.random.default_rng(1).permutation(25)
    renamed = [names[features] for features in reversed(sets)]
    one, other = nogueira(sets, 25), nogueira(renamed, 25)
    assert_allclose([one.value, one.low, one.high], [other.value, other.low, other.high])
    assert_allclose(jaccard(sets[0], sets[1]), jaccard(renamed[-1], renamed[-2]))


@pytest.mark.parametrize("n_sets", [2, 9])
def test_few_sets_have_no_interval(n_sets):
    """Those that all agree as little would have one of width 0."""
    disjoint = [[2 * number, 2 * number + 1] for number in range(n_sets)]
    result = nogueira(disjoint, 18)
    assert_allclose(result.value, slow.mean_kuncheva(disjoint, 18))
    assert_array_equal([result.low, result.high], np.nan)


@pytest.mark.parametrize("sets", [[[], []], [[0, 1, 2], [2, 1, 0]], [[0]], []])
def test_stabilities_that_do_not_exist(sets):
    assert np.isnan(mean_kuncheva(sets, 3))
    result = nogueira(sets, 3)
    assert_array_equal([result.value, result.low, result.high], np.nan)
    assert result.n == len(sets)


def test_kuncheva_needs_equal_sizes():
    with pytest.raises(ValueError, match="sets of equal size, received sizes from 1 to 3"):
        mean_kuncheva([[0, 1], [0, 1, 2], [3]], 10)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([0, 10], "numbered from 0 to 9, but set 1 has 10"),
        ([-1, 2], "numbered from 0 to 9, but set 1 has -1"),
        ([4, 4], "set 1 repeats one"),
        ([0.0, 1.0], "set 1 has float64 values"),
        ([[0, 1]], r"set 1 has int64 values of shape \(1, 2\)"),
    ],
)
@pytest.mark.parametrize("measure", [mean_kuncheva, nogueira])
def test_what_are_no_sets(measure, wrong, message):
    with pytest.raises(ValueError, match=message):
        measure([[0, 1], wrong], 10)


def test_jaccard_by_hand():
    assert jaccard([0, 1, 2, 3], [2, 3, 4]) == pytest.approx(2 / 5)
    assert jaccard([0, 1], [2]) == 0
    assert jaccard([], [2]) == 0
    assert np.isnan(jaccard([], []))
    with pytest.raises(ValueError, match="numbered from 0 on, but set 0 has -2"):
        jaccard([-2], [1])


def test_rank_overlap_by_hand():
    assert rank_overlap([1, 2, 3], [1, 2, 3], 3) == 1
    assert rank_overlap([1, 2, 3], [4, 5, 6], 3) == 0
    # the same two features, at the top and at the end
    assert rank_overlap([1, 2, 3], [1, 4, 5], 3) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert rank_overlap([3, 2, 1], [5, 4, 1], 3) == pytest.approx(1 / 9)


@pytest.mark.parametrize("depth", [1, 7, 30])
def test_rank_overlap_is_that_of_loops(depth):
    rng = np.random.default_rng(depth)
    for _ in range(5):
        first, second = rng.permutation(40)[:30], rng.permutation(40)[:33]
        expected = slow.rank_overlap(first.tolist(), second.tolist(), depth)
        assert_allclose(rank_overlap(first, second, depth), expected)
        assert_allclose(rank_overlap(second, first, depth), expected)


@pytest.mark.parametrize("depth", [0, 4])
def test_depths_out_of_range(depth):
    with pytest.raises(ValueError, match=f"received {depth} for 3 and 5 features"):
        rank_overlap([0, 1, 2], [0, 1, 2, 3, 4], depth)


# --- how much members disagree ---


def test_entropy_diversity_by_hand():
    assert entropy_diversity([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]) == 0.5
    assert entropy_diversity(np.tile([True, False, False], (4, 1))) == 0
    assert entropy_diversity(np.array([[1, 0], [1, 0], [0, 1], [0, 1]])) == 1
    assert entropy_diversity([[True, False]]) == 0


def test_properties_of_entropy_diversity():
    rng = np.random.default_rng(0)
    for n_members in (2, 5, 8):
        correct = rng.random((n_members, 40)) < 0.7
        value = entropy_diversity(correct)
        right = correct.sum(axis=0)
        expected = [min(r, n_members - r) / (n_members - -(-n_members // 2)) for r in right]
        assert_allclose(value, np.mean(expected))
        assert_allclose(value, entropy_diversity(rng.permutation(correct)))
        assert_allclose(value, entropy_diversity(rng.permutation(correct, axis=1)))
        assert 0 < value <= 1


@pytest.mark.parametrize("correct", [[], [True], [[]], [[0, 2]], [[0.5, 1]]])
def test_what_is_neither_right_nor_wrong(correct):
    with pytest.raises(ValueError, match="correct must be true or false"):
        entropy_diversity(correct)
