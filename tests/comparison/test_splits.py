from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from semisift.comparison._protocol import PROTOCOLS, Protocol
from semisift.comparison._splits import draw_split
from tests.comparisons import LYMPHOMA, codes
from tests.nightly import few_daily

SSFI = PROTOCOLS["ssfi"]
COLON = [40, 22]


def split_of(y, protocol=SSFI, seed=0, groups=None):
    return draw_split(y, protocol, np.random.default_rng(seed), groups)


def counts_of(y, rows, n_classes):
    return np.bincount(y[rows], minlength=n_classes)


@pytest.mark.parametrize("counts", few_daily([COLON, LYMPHOMA, [21] * 10, [7, 1]], 2))
@pytest.mark.parametrize("seed", few_daily(range(3), 1))
def test_rows_are_partitioned(counts, seed):
    y = codes(counts)
    split = split_of(y, seed=seed)
    assert_array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(len(y)))
    assert len(split.is_labelled) == len(split.train)


def test_rows_are_in_order():
    split = split_of(codes(COLON))
    assert (np.diff(split.train) > 0).all()
    assert (np.diff(split.test) > 0).all()


@pytest.mark.parametrize("labels_per_class", few_daily([1, 3, 5], 2))
def test_number_of_labelled_rows(labels_per_class):
    y = codes([21] * 10)
    split = split_of(y, replace(SSFI, labels_per_class=labels_per_class))
    labelled = split.train[split.is_labelled]
    assert_array_equal(counts_of(y, labelled, 10), [labels_per_class] * 10)


def test_a_third_of_each_class_tests_rounded_down():
    y = codes(COLON)
    assert_array_equal(counts_of(y, split_of(y).test, 2), [13, 7])


def test_classes_with_few_rows_are_kept():
    y = codes(LYMPHOMA)
    for seed in range(5):
        split = split_of(y, seed=seed)
        labelled = split.train[split.is_labelled]
        assert_array_equal(counts_of(y, split.test, 9), [15, 3, 3, 3, 2, 2, 1, 1, 1])
        assert_array_equal(counts_of(y, labelled, 9), [3, 3, 3, 3, 3, 3, 3, 1, 1])


def test_a_class_of_one_row_trains():
    y = codes([12, 9, 1])
    for seed in range(5):
        split = split_of(y, seed=seed)
        assert_array_equal(counts_of(y, split.test, 3), [4, 3, 0])
        assert counts_of(y, split.train[split.is_labelled], 3)[2] == 1


@pytest.mark.parametrize("train_size", few_daily([1e-12, 0.01, 0.99, 1 - 1e-12], 2))
def test_each_class_trains_and_tests_at_any_size(train_size):
    y = codes([40, 5, 2])
    split = split_of(y, replace(SSFI, train_size=train_size))
    assert (counts_of(y, split.train, 3) > 0).all()
    assert (counts_of(y, split.test, 3) > 0).all()


def test_same_split_twice_and_another_one_for_another_run():
    y = codes(COLON)
    one, again, other = split_of(y), split_of(y), split_of(y, seed=1)
    assert_array_equal(one.train, again.train)
    assert_array_equal(one.is_labelled, again.is_labelled)
    assert one.checksum == again.checksum
    assert not np.array_equal(one.test, other.test)
    assert one.checksum != other.checksum


def test_checksum_tells_which_rows_are_labelled():
    y = codes(COLON)
    assert split_of(y).checksum != split_of(y, replace(SSFI, labels_per_class=2)).checksum


def test_every_row_tests_as_often_as_the_others():
    y = codes([12, 9])
    times = np.zeros(len(y))
    for seed in range(600):
        times[split_of(y, seed=seed).test] += 1
    # 600 draws of a third: 200 with a standard deviation of 11.5
    assert (np.abs(times[y == 0] - 200) < 58).all()
    assert (np.abs(times[y == 1] - 200) < 58).all()


def test_every_training_row_is_labelled_as_often_as_the_others():
    y = codes([12, 9])
    times = np.zeros(len(y))
    for seed in range(600):
        split = split_of(y, seed=seed)
        times[split.train[split.is_labelled]] += 1
    assert (np.abs(times[y == 0] - 150) < 53).all()
    assert (np.abs(times[y == 1] - 200) < 58).all()


# --- rows of unknown class ---


@pytest.mark.parametrize("protocol", [SSFI, replace(SSFI, n_unlabelled=9)])
def test_rows_of_unknown_class_always_train_and_are_never_labelled(protocol):
    y = codes([20, 12], unknown=15)
    for seed in range(5):
        split = split_of(y, protocol, seed)
        assert set(np.flatnonzero(y == -1)) <= set(split.train)
        assert (y[split.test] >= 0).all()
        assert (y[split.train[split.is_labelled]] >= 0).all()


def test_rows_of_unknown_class_do_not_change_the_share_that_tests():
    y = codes(COLON, unknown=100)
    assert_array_equal(counts_of(y, split_of(y).test, 2), [13, 7])


# --- amounts ---


@pytest.mark.parametrize(
    ("counts", "n_unlabelled", "n_test", "expected"),
    [
        ([700, 300], 100, 294, (6, 100, 294)),  # German
        ([40, 22], 30, None, (6, 30, 26)),  # ColonTumor
        ([97, 111], 100, None, (6, 100, 102)),  # Sonar
    ],
)
def test_sizes_of_the_fw_semifs_paper(counts, n_unlabelled, n_test, expected):
    y = codes(counts)
    protocol = replace(PROTOCOLS["fw-semifs"], n_unlabelled=n_unlabelled, n_test=n_test)
    split = split_of(y, protocol)
    labelled = split.train[split.is_labelled]
    assert (len(labelled), len(split.train) - len(labelled), len(split.test)) == expected
    assert_array_equal(counts_of(y, labelled, 2), [3, 3])
    assert not set(split.train) & set(split.test)


def test_test_rows_are_drawn_from_all_classes():
    y = codes([700, 300])
    protocol = replace(PROTOCOLS["fw-semifs"], n_test=294)
    drawn = counts_of(y, split_of(y, protocol).test, 2)
    assert 180 < drawn[0] < 230  # 206 expected


@pytest.mark.parametrize("n_labelled", few_daily([3, 4, 6, 20], 2))
def test_n_labelled_is_spread_evenly(n_labelled):
    y = codes([30, 30, 30])
    split = split_of(y, Protocol(labels_per_class=None, n_labelled=n_labelled))
    drawn = counts_of(y, split.train[split.is_labelled], 3)
    assert drawn.sum() == n_labelled
    assert np.ptp(drawn) <= 1


def test_n_labelled_takes_more_of_large_classes_where_small_ones_have_no_more():
    y = codes([60, 3])
    split = split_of(y, Protocol(labels_per_class=None, n_labelled=10))
    assert_array_equal(counts_of(y, split.train[split.is_labelled], 2), [8, 2])


def test_chance_decides_which_class_has_one_label_more():
    y = codes([30, 30])
    protocol = Protocol(labels_per_class=None, n_labelled=3)
    more = []
    for seed in range(100):
        split = split_of(y, protocol, seed)
        more.append(counts_of(y, split.train[split.is_labelled], 2).argmax())
    assert 30 < np.sum(more) < 70


def test_n_labelled_beyond_all_rows_labels_all():
    y = codes([12, 9])
    split = split_of(y, Protocol(labels_per_class=None, n_labelled=1000))
    assert split.is_labelled.all()


def test_labelled_share():
    y = codes([100, 60, 4])
    split = split_of(y, PROTOCOLS["rel-rasco"])
    assert_array_equal(counts_of(y, split.train, 3), [50, 30, 2])
    assert_array_equal(counts_of(y, split.train[split.is_labelled], 3), [5, 3, 1])


def test_whole_labelled_share_hides_nothing():
    split = split_of(codes(COLON), Protocol(labels_per_class=None, labelled_share=1))
    assert split.is_labelled.all()


def test_fewer_labels_than_classes():
    with pytest.raises(ValueError, match="at least the number of classes, 10: got 6"):
        split_of(codes([21] * 10), PROTOCOLS["fw-semifs"])


def test_nothing_left_to_test_on():
    with pytest.raises(ValueError, match="no row is left to test on: all 62 train, 6 of them"):
        split_of(codes(COLON), PROTOCOLS["fw-semifs"])


def test_classes_of_one_row_alone_leave_nothing_to_test_on():
    with pytest.raises(ValueError, match="no row is left to test on"):
        split_of(codes([1, 1]))


# --- groups ---


def random_grouping(seed):
    """Return classes and groups of many shapes: few and many, alike and not, mixed and pure."""
    rng = np.random.default_rng(seed)
    y = codes(rng.integers(2, 40, size=rng.integers(2, 5)), int(rng.integers(0, 6)), seed)
    n_groups = int(rng.integers(2, 30))
    weights = rng.dirichlet(np.full(n_groups, rng.choice([0.3, 1.0, 20.0])))
    groups = rng.choice(n_groups, size=len(y), p=weights)
    if rng.random() < 0.3:
        groups = groups + n_groups * (y + 1)  # a group has one class
    return y, np.unique(groups, return_inverse=True)[1]


@pytest.mark.parametrize("train_size", few_daily([0.05, 2 / 3, 0.9], 2))
@pytest.mark.parametrize("seed", few_daily(range(30), 4))
def test_groups_are_never_split(seed, train_size):
    y, groups = random_grouping(seed)
    split = split_of(y, replace(SSFI, train_size=train_size), seed, groups)
    assert not set(groups[split.train]) & set(groups[split.test])
    assert set(y[split.train]) - {-1} == set(y) - {-1}
    assert (y[split.test] >= 0).all()
    shown = split.train[split.is_labelled]
    assert set(y[shown]) == set(y) - {-1}


def test_groups_are_split_wherever_one_can_be_spared():
    rng = np.random.default_rng(0)
    n_refused = 0
    for _ in range(300):
        y, groups = np.append(rng.integers(-1, 2, size=6), [0, 1]), rng.integers(0, 2, size=8)
        can_be_spared = [
            (y[groups == group] >= 0).any() and {0, 1} <= set(y[groups != group])
            for group in range(2)
        ]
        if any(can_be_spared):
            assert len(split_of(y, groups=groups).test) > 0
        else:
            n_refused += 1
            with pytest.raises(ValueError, match="groups: none of"):
                split_of(y, groups=groups)
    assert 10 < n_refused < 290


def test_groups_test_about_a_third_of_each_class():
    y = codes([300, 150])
    groups = np.random.default_rng(0).integers(0, 60, size=len(y))
    shares = []
    for seed in range(10):
        split = split_of(y, seed=seed, groups=groups)
        shares.append(counts_of(y, split.test, 2) / [300, 150])
    assert np.abs(np.array(shares) - 1 / 3).max() < 0.06


def test_groups_of_different_sizes_test_in_different_runs():
    groups = np.repeat(np.arange(12), np.arange(4, 28, 2))
    y = np.arange(len(groups)) % 2
    tested = {
        tuple(np.unique(groups[split_of(y, seed=seed, groups=groups).test])) for seed in range(10)
    }
    assert len(tested) > 7


def test_rows_of_unknown_class_in_a_group_that_tests_are_left_out():
    groups = np.repeat(np.arange(6), 10)
    y = np.tile([0, 0, 0, 0, 1, 1, 1, 1, -1, -1], 6)
    split = split_of(y, groups=groups)
    tested = np.isin(groups, groups[split.test])
    assert_array_equal(split.test, np.flatnonzero(tested & (y >= 0)))
    assert_array_equal(split.train, np.flatnonzero(~tested))


def test_a_large_group_tests_where_there_is_no_other():
    groups, y = np.repeat([0, 1], 50), np.tile([0, 1], 50)
    split = split_of(y, replace(SSFI, train_size=0.95), groups=groups)
    assert len(split.test) == 50


def test_groups_that_are_classes():
    y = codes(COLON)
    with pytest.raises(
        ValueError, match=r"groups: none of 2 can be held back .* all rows of a class"
    ):
        split_of(y, groups=y.copy())


def test_one_group():
    with pytest.raises(ValueError, match="groups: none of 1 can be held back"):
        split_of(codes(COLON), groups=np.zeros(62, dtype=int))


def test_groups_and_n_unlabelled():
    y = codes([97, 111])
    with pytest.raises(ValueError, match=r"groups cannot be kept together.*n_unlabelled=100"):
        split_of(y, PROTOCOLS["fw-semifs"], groups=np.arange(208) // 2)
