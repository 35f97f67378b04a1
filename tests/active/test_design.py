"""The choice of rows to label next, against a slow reference and by its properties."""

import numpy as np
import pytest

from semisift.active import _design
from semisift.active._design import choose_rows
from semisift.base._sample_info import SampleInfo
from tests.reference import next_rows as reference


def rows_of(n=60, d=24, seed=0):
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, d)) * np.linspace(3, 0.3, d)
    T[: n // 3, 0] += 8
    return T - T.mean(axis=0), rng.uniform(size=n)


@pytest.mark.parametrize("labelled", [[], [3], [1, 30, 59, 12]])
@pytest.mark.parametrize("with_groups", [False, True])
def test_as_the_reference(labelled, with_groups):
    T, doubt = rows_of()
    groups = np.arange(60) % 7 if with_groups else None
    design = SampleInfo(groups=None if groups is None else groups.astype(np.int32))
    found = choose_rows(T, np.array(labelled, dtype=int), 8, doubt=doubt, design=design)
    assert found.rows.tolist() == reference.choose(T, labelled, 8, doubt, groups)


def test_nothing_known_is_equal_doubt():
    T, _ = rows_of()
    some = np.array([5])
    assert (choose_rows(T, some, 6).rows == choose_rows(T, some, 6, doubt=np.ones(60)).rows).all()


def test_the_order_of_the_rows_does_not_matter():
    T, doubt = rows_of()
    order = np.random.default_rng(1).permutation(60)
    labelled = np.array([4, 20])
    place = np.argsort(order)
    found = choose_rows(T[order], place[labelled], 6, doubt=doubt[order])
    expected = choose_rows(T, labelled, 6, doubt=doubt)
    assert order[found.rows].tolist() == expected.rows.tolist()
    assert found.stands_for.tolist() == expected.stands_for.tolist()


def test_ten_rows_are_no_ten_copies_of_one():
    T, _ = rows_of(90)
    T = np.concatenate([T, np.repeat(T[:1], 60, axis=0)])
    found = choose_rows(T, np.array([], dtype=int), 10)
    assert np.sum((found.rows == 0) | (found.rows >= 90)) <= 1
    assert found.stands_for.sum() == len(T)
    # nor one of a row that has a label, while there are others
    assert (choose_rows(T, np.array([100]), 89).rows < 90).all()
    assert len(choose_rows(T, np.array([100]), 95).rows) == 95


def test_rows_without_doubt_about_them_count_for_nothing():
    T, _ = rows_of()
    doubt = np.zeros(60)
    doubt[:20] = 1.0  # the group that lies apart
    assert (choose_rows(T, np.array([40]), 3, doubt=doubt).rows < 20).all()
    # nothing in doubt at all: those that are least known, and no error
    found = choose_rows(T, np.array([40]), 5, doubt=np.zeros(60)).rows
    assert len(set(found.tolist()) - {40}) == 5


@pytest.mark.parametrize("seed", range(2))
def test_a_rare_group_is_asked_about(seed):
    T = np.random.default_rng(seed).normal(size=(400, 8))
    T[:40, 0] += 12
    found = choose_rows(T - T.mean(axis=0), np.array([], dtype=int), 10).rows
    assert (found < 40).any()


def test_a_single_odd_row_is_not_the_first_to_ask_about():
    rng = np.random.default_rng(0)
    T = rng.normal(size=(400, 8))
    T[7] += 40
    assert 7 not in choose_rows(T - T.mean(axis=0), np.array([], dtype=int), 5).rows


def test_rows_are_taken_from_different_groups():
    T, doubt = rows_of()
    groups = np.repeat(np.arange(6), 10).astype(np.int32)
    found = choose_rows(T, np.array([0, 1, 2]), 6, doubt=doubt, design=SampleInfo(groups=groups))
    assert len(set(groups[found.rows].tolist())) >= 5


def test_rows_of_weight_0_are_not_taken():
    T, _ = rows_of()
    weights = np.where(np.arange(60) < 50, 0.0, 1.0)
    found = choose_rows(T, np.array([55]), 20, design=SampleInfo(weights=weights))
    assert sorted(found.rows.tolist()) == [50, 51, 52, 53, 54, 56, 57, 58, 59]


def test_fewer_rows_than_wanted_and_none():
    T, _ = rows_of(12)
    assert sorted(choose_rows(T, np.arange(8), 10).rows.tolist()) == [8, 9, 10, 11]
    nothing = choose_rows(T, np.arange(12), 10)
    assert (len(nothing.rows), len(nothing.stands_for), len(nothing.covered)) == (0, 0, 0)
    assert choose_rows(np.zeros((1, 1)), np.array([], dtype=int), 3).rows.tolist() == [0]


def test_equal_rows():
    found = choose_rows(np.zeros((30, 1)), np.array([2]), 3)
    assert len(set(found.rows.tolist())) == 3


def test_of_very_many_rows_some_are_asked_about(monkeypatch):
    monkeypatch.setattr(_design, "MAX_CANDIDATES", 100)
    monkeypatch.setattr(_design, "MAX_KNOWN", 20)
    T, doubt = rows_of(600)
    found = choose_rows(T, np.arange(50), 10, doubt=doubt)
    assert (found.rows >= 50).all()
    assert len(set(found.rows.tolist())) == 10
    assert 0 < found.stands_for.sum() <= 550
