import numpy as np
import pytest
from numpy.testing import assert_array_equal

from semisift.comparison._protocol import PROTOCOLS
from semisift.comparison._splits import draw_split
from semisift.comparison._sweeps import Sweep, disturb
from tests.comparisons import codes
from tests.nightly import few_daily

Y = codes([60, 40, 20])


def split_of(protocol=PROTOCOLS["ssfi"], y=Y):
    return draw_split(y, protocol, np.random.default_rng(0))


def task_of(kind, level, y=Y):
    sweep = Sweep(kind, (level,))
    protocol = sweep.protocol(PROTOCOLS["ssfi"], level)
    return disturb(split_of(protocol, y), y, sweep, level, np.random.default_rng(1))


def test_without_a_sweep_labels_are_hidden_and_nothing_else():
    split = split_of()
    task = disturb(split, Y, None, None, np.random.default_rng(1))
    assert_array_equal(task.rows, split.train)
    assert_array_equal(task.y, np.where(split.is_labelled, Y[split.train], -1))


@pytest.mark.parametrize("level", few_daily([1, 2, 5, 100], 2))
def test_labels_are_the_labelled_rows_of_each_class(level):
    task = task_of("labels", level)
    assert_array_equal(np.bincount(task.y[task.y >= 0]), np.minimum(level, [40, 27, 14]))


def test_labels_are_nested_over_the_same_rows():
    few, many = task_of("labels", 2), task_of("labels", 7)
    assert_array_equal(few.rows, many.rows)
    assert_array_equal(few.y[few.y >= 0], many.y[few.y >= 0])


def test_labels_replace_any_other_amount():
    for name in ("fw-semifs", "rel-rasco"):
        protocol = Sweep("labels", (4,)).protocol(PROTOCOLS[name], 4)
        assert (protocol.labels_per_class, protocol.n_labelled, protocol.labelled_share) == (
            4,
            None,
            None,
        )


def test_labels_leave_the_test_rows_alone():
    tests = [
        split_of(Sweep("labels", (level,)).protocol(PROTOCOLS["ssfi"], level)).test
        for level in (1, 9)
    ]
    assert_array_equal(*tests)


@pytest.mark.parametrize(
    ("share", "n_wrong"), few_daily([(0, 0), (0.1, 1), (1 / 3, 3), (0.99, 9)], 2)
)
def test_flipped_labels_are_wrong(share, n_wrong):
    task = task_of("flipped", share)
    labelled = task.y >= 0
    assert labelled.sum() == 9
    assert (task.y[labelled] != Y[task.rows[labelled]]).sum() == n_wrong


def test_flipped_labels_are_those_of_other_classes_that_are_there():
    task = task_of("flipped", 0.99)
    assert set(task.y) <= {-1, 0, 1, 2}


def test_flipped_labels_are_nested():
    tasks = [task_of("flipped", share) for share in (0.2, 0.4, 0.8)]
    wrong = [task.y != task_of("flipped", 0).y for task in tasks]
    for fewer, more, few, many in zip(wrong, wrong[1:], tasks, tasks[1:], strict=False):
        assert fewer.sum() < more.sum()
        assert_array_equal(few.y[fewer], many.y[fewer])


def test_flipping_changes_no_rows():
    assert_array_equal(task_of("flipped", 0.5).rows, task_of("flipped", 0).rows)


@pytest.mark.parametrize("share", few_daily([0, 0.25, 0.9], 2))
def test_left_out_are_unlabelled_rows(share):
    everything, task = task_of("left-out", 0), task_of("left-out", share)
    unlabelled = (everything.y == -1).sum()
    assert (task.y == -1).sum() == unlabelled - round(share * unlabelled)
    assert_array_equal(task.rows[task.y >= 0], everything.rows[everything.y >= 0])
    assert_array_equal(task.y[task.y >= 0], everything.y[everything.y >= 0])


def test_left_out_are_nested():
    few, many = (set(task_of("left-out", share).rows) for share in (0.6, 0.2))
    assert few < many


@pytest.mark.parametrize("kind", ["flipped", "left-out"])
def test_disturbing_changes_neither_the_split_nor_the_classes(kind):
    split, y = split_of(), Y.copy()
    rows, shown = split.train.copy(), split.is_labelled.copy()
    disturb(split, y, Sweep(kind, (0.5,)), 0.5, np.random.default_rng(1))
    assert_array_equal(y, Y)
    assert_array_equal(split.train, rows)
    assert_array_equal(split.is_labelled, shown)


# --- reading ---


@pytest.mark.parametrize(
    ("text", "kind", "levels"),
    [
        ("labels=1,2,5", "labels", (1.0, 2.0, 5.0)),
        (" flipped = 0, 0.1", "flipped", (0.0, 0.1)),
        ("left-out=0.5", "left-out", (0.5,)),
    ],
)
def test_parse(text, kind, levels):
    sweep = Sweep.parse(text)
    assert (sweep.kind, sweep.levels) == (kind, levels)


@pytest.mark.parametrize(
    "text", few_daily(["labels", "labels=", "labels=a", "labels=1,,2", "", "1,2"], 2)
)
def test_parse_what_is_no_sweep(text):
    with pytest.raises(ValueError, match=r"KIND=LEVEL,LEVEL,.*got '"):
        Sweep.parse(text)


def test_unknown_kind():
    with pytest.raises(ValueError, match="one of labels, flipped, left-out: got 'rows'"):
        Sweep.parse("rows=1")


@pytest.mark.parametrize("level", few_daily([0, -1, 1.5, float("inf"), float("nan"), "2", None], 2))
def test_levels_of_labels(level):
    with pytest.raises(ValueError, match="levels must be whole numbers from 1: got"):
        Sweep("labels", (level,))


@pytest.mark.parametrize("kind", ["flipped", "left-out"])
@pytest.mark.parametrize("level", few_daily([-0.1, 1, 2, float("nan"), "0.5"], 2))
def test_levels_that_are_no_shares(kind, level):
    with pytest.raises(ValueError, match="levels must be shares from 0 to below 1: got"):
        Sweep(kind, (level,))


@pytest.mark.parametrize("levels", [(), (1, 1), (1, 1.0)])
def test_levels_differ(levels):
    with pytest.raises(ValueError, match="levels must be different"):
        Sweep("labels", levels)


def test_a_level_has_one_name_wherever_it_comes_from():
    sweeps = [
        Sweep.parse("labels=1,2"),
        Sweep("labels", (1, 2)),
        Sweep("labels", [1.0, 2.0]),
        Sweep("labels", tuple(np.array([1, 2]))),
    ]
    assert {repr(sweep) for sweep in sweeps} == {"Sweep(kind='labels', levels=(1.0, 2.0))"}
