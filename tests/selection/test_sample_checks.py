"""Whether labelled rows are a random sample, copies among them, and what then is permuted."""

from itertools import permutations
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csc_array

from semisift import FisherScore, TransductiveScore
from semisift.base._sample_info import parse_design
from semisift.base._training_data import TrainingData
from semisift.exceptions import DuplicateRowsWarning
from semisift.selection import ranking_result
from semisift.selection._permutation import (
    copies_of_labelled,
    differences_of_labelled,
    find_permutation_plan,
    permuted_labels,
    permuted_rows,
    plan_permutation,
)
from semisift.selection._summary import summarize

BY_COMMAND = {"n_resamples": 0, "n_permutations": 39, "fast": True}


def table(seed=0, sizes=(5, 5), n_rows=60, n_columns=200):
    rng = np.random.default_rng(seed)
    y = np.full(n_rows, -1)
    rows = rng.permutation(n_rows)[: sum(sizes)]
    y[rows] = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(n_rows, n_columns)), y


def lose(X, y, of_labelled, of_others, seed=0):
    share = np.where(y >= 0, of_labelled, of_others)
    return np.where(np.random.default_rng(seed).random(X.shape) < share[:, None], np.nan, X)


# --- differences ----------------------------------------------------------------------------------


CHANGES = {
    "share of missing values": lambda X, y: lose(X, y, 0.2, 0.05),
    "share of zeros": lambda X, y: np.where(np.isnan(lose(X, y, 0.3, 0.1)), 0.0, X),
    "total": lambda X, y: X + 0.5 * (y >= 0)[:, None],
    "mean of the standardised values": lambda X, y: X + 0.5 * (y >= 0)[:, None],
    "spread of the standardised values": lambda X, y: X * np.where(y >= 0, 2.0, 1.0)[:, None],
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_differs_is_named(name):
    X, y = table()
    assert differences_of_labelled(TrainingData.build(X, y)) == ()
    found = differences_of_labelled(TrainingData.build(CHANGES[name](X, y), y, allow_nan=True))
    assert name in found


def test_a_random_sample_is_told_apart_in_5_percent():
    found = [bool(differences_of_labelled(TrainingData.build(*table(seed)))) for seed in range(100)]
    assert 1 <= sum(found) <= 12  # 5 are expected


def test_a_single_column_that_only_labelled_rows_have_does_not_matter():
    X, y = table()
    X[y < 0, 3] = np.nan
    assert differences_of_labelled(TrainingData.build(X, y, allow_nan=True)) == ()


def test_groups_are_compared_as_one():
    donor = np.arange(60) // 4
    n_by_rows = n_by_donors = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 100)) + rng.normal(size=15)[donor][:, None]
        y = np.where(donor < 4, donor % 2, -1)
        n_by_rows += bool(differences_of_labelled(TrainingData.build(X, y)))
        n_by_donors += bool(differences_of_labelled(TrainingData.build(X, y), donor))
    assert n_by_donors <= 3
    assert n_by_rows >= 6


def test_sparse_equals_dense():
    X, y = table()
    X *= np.random.default_rng(3).random(X.shape) < 0.4
    X[y >= 0] *= np.random.default_rng(4).random((10, 200)) < 0.5
    dense, stored = (TrainingData.build(form(X), y) for form in (np.asarray, csc_array))
    assert differences_of_labelled(dense) == differences_of_labelled(stored) != ()


def test_all_rows_labelled_or_none():
    X, _ = table()
    for y in (np.arange(60) % 2, np.full(60, -1)):
        assert differences_of_labelled(TrainingData.build(X, y)) == ()


# --- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_copies_are_found(noise):
    X, y = table()
    rows = np.flatnonzero(y >= 0)
    X[rows[3]], X[rows[5]], X[rows[7]] = X[rows[0]], X[rows[0]], X[rows[6]]
    X += noise * np.random.default_rng(1).normal(size=X.shape)
    found = [each.tolist() for each in copies_of_labelled(TrainingData.build(X, y))]
    assert found == [[rows[0], rows[3], rows[5]], [rows[6], rows[7]]]


def test_rows_of_a_tight_cluster_and_of_few_columns_are_no_copies():
    X, y = table()
    X[::2] += 500.0
    assert copies_of_labelled(TrainingData.build(X, y)) == []
    few, y = np.repeat(np.eye(6), 10, axis=0), np.where(np.arange(60) % 5, -1, np.arange(60) % 2)
    assert copies_of_labelled(TrainingData.build(few, y)) == []


def test_copies_are_permuted_together_and_named():
    X, y = table(sizes=(3, 3), n_rows=30)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    data, plan = plan_permutation(TrainingData.build(X, y))
    assert plan.has_groups
    assert len(plan.copies) == 6
    for seed in range(5):
        codes = permuted_labels(data, (seed, None), plan).labels.codes
        assert_array_equal(codes[::2], codes[1::2])
    first = np.flatnonzero(y >= 0)[0]
    ranker = FisherScore().fit(X, y)
    with pytest.warns(DuplicateRowsWarning, match=rf"values: {first} and {first + 1}, .*1 more"):
        ranker.assess(X, y, **BY_COMMAND)


def test_groups_that_are_given_are_not_replaced():
    X, y = table()
    X[1::2] = X[::2]
    design = parse_design(60, groups=np.arange(60) // 3)
    data, plan = plan_permutation(TrainingData.build(X, y, design=design))
    assert plan.copies == []
    assert_array_equal(data.design.groups, design.groups)


# --- what is permuted -----------------------------------------------------------------------------


def apart(sizes, seed=0):
    X, y = table(seed, sizes)
    X[y >= 0] *= 3
    return TrainingData.build(X, y)


@pytest.mark.parametrize(
    ("sizes", "ways"),
    [((5, 5), 126), ((4, 4), 35), ((3, 5), 56), ((2, 2, 2), 15), ((1, 2, 3), 60), ((1, 1), 1)],
)
def test_every_other_labelling_is_tried_once(sizes, ways):
    data, plan = plan_permutation(apart(sizes))
    labelled, own = data.labels.labelled, data.labels.codes
    assert (plan.how, plan.labellings.shape) == ("labelled", (ways - 1, sum(sizes)))
    assert plan.least_p_value == pytest.approx(1 / ways)
    names = [
        names
        for names in permutations(range(len(sizes)))
        if all(sizes[a] == sizes[b] for a, b in enumerate(names))
    ]
    seen = {tuple(np.array(name)[own[labelled]].tolist()) for name in names}
    for draw in plan.draws(iter(range(1000))):
        codes = permuted_labels(data, draw, plan).labels.codes
        assert_array_equal(np.bincount(codes[labelled]), sizes)
        assert (codes[own < 0] < 0).all()
        same = {tuple(np.array(name)[codes[labelled]].tolist()) for name in names}
        assert not same & seen
        seen |= same
        order = permuted_rows(data, draw, plan.how)
        assert_array_equal(np.sort(order), np.arange(60))
        assert_array_equal(codes[order[labelled]], own[labelled])
    assert len(seen) == ways * len(names)


def test_many_labels_and_pairs_are_permuted_as_before():
    for data, how in (
        (apart((7, 7)), "labelled"),
        (TrainingData.build(*table()), "all"),
    ):
        _, plan = plan_permutation(data)
        assert (plan.how, plan.labellings, plan.differences) == (how, None, ())
    X, y = table()
    data = TrainingData.build(3.0 * X * (y >= 0)[:, None], y, must_link=[[0, 1]])
    assert plan_permutation(data)[1].how == "all"


def test_groups_that_differ_are_permuted_among_themselves():
    X, y = table(sizes=(8, 8))
    groups = np.where(y < 0, np.cumsum(y < 0) // 2, 100 + 10 * y)
    for code in (0, 1):
        groups[y == code] += np.arange(8) // 2
    X[y >= 0] *= 3
    design = parse_design(60, groups=groups)
    _, plan = plan_permutation(TrainingData.build(X, y, design=design))
    assert plan.how == "labelled"
    assert plan.differences == ("spread of the standardised values",)
    assert plan.least_p_value == pytest.approx(1 / (comb(8, 4) / 2))


def test_one_class_stays_in_its_batch():
    X, _ = table()
    batch, y = np.arange(60) // 20, np.full(60, -1)
    y[[0, 1, 2, 20, 21]] = 0
    data = TrainingData.build(X, y, design=parse_design(60, batch=batch))
    plan = find_permutation_plan(data)
    assert plan.how == "all"
    assert plan.least_p_value == pytest.approx(1 / (comb(20, 3) * comb(20, 2)))
    for seed in range(5):
        codes = permuted_labels(data, (seed, None), plan).labels.codes
        assert_array_equal(np.bincount(batch[codes == 0], minlength=3), [3, 2, 0])
        order = permuted_rows(data, (seed, None), "all")
        assert_array_equal(batch[order], batch)


# --- error rates, and what is said ----------------------------------------------------------------


def null_tables(kind, n):
    for seed in range(n):
        X, y = table(seed, sizes=(5, 5))
        rng = np.random.default_rng([seed, 1])
        if kind == "missing":
            yield lose(X, y, 0.5, 0.0), y
        elif kind == "zeros":
            yield (rng.random(X.shape) < np.where(y >= 0, 0.5, 0.03)[:, None]).astype(float), y
        elif kind == "depth":
            mean = np.where(y >= 0, 1.0, 0.1)[:, None]
            yield np.log1p(rng.poisson(mean, X.shape).astype(float)), y
        elif kind == "copies":
            yield np.repeat(X[:30], 2, axis=0), np.repeat(table(seed, n_rows=30)[1], 2)


@pytest.mark.filterwarnings("ignore::semisift.DuplicateRowsWarning")
@pytest.mark.parametrize("method", [TransductiveScore, FisherScore])
@pytest.mark.parametrize("kind", ["missing", "zeros", "depth", "copies"])
@pytest.mark.parametrize("n_tables", [5, pytest.param(12, marks=pytest.mark.nightly)])
def test_labels_that_tell_nothing_rarely_confirm_anything(kind, method, n_tables):
    # before: in .5 to all of the tables by the former, in .1 to .9 by the latter
    n_significant = 0
    for X, y in null_tables(kind, n_tables):
        sure = method(random_state=0).fit(X, y).assess(X, y, **BY_COMMAND)
        n_significant += "significant" in sure.decisions
    assert n_significant <= n_tables // 5


def test_a_marker_is_confirmed_among_columns_with_few_values():
    n_significant = 0
    for seed in range(5):
        X, y = table(seed)
        X = np.where(np.random.default_rng(seed).random(X.shape) < 0.6, np.nan, X)
        side = np.where(y < 0, np.arange(60) % 2, y)
        X[:, 0] = np.random.default_rng(seed).normal(size=60) + 8 * side
        sure = TransductiveScore(random_state=0).fit(X, y).assess(X, y, **BY_COMMAND)
        n_significant += sure.decisions[0] == "significant"
    assert n_significant >= 4


def words_of(X, y, **of_rows):
    ranker = TransductiveScore(random_state=0).fit(X, y, **of_rows)
    ranker.assess(X, y, **BY_COMMAND, **of_rows)
    return summarize(ranking_result(ranker))


def test_differences_are_told():
    X, y = table(sizes=(3, 3))
    words = words_of(lose(X, y, 0.3, 0.0), y)
    assert "labels of 6 labelled rows can be exchanged in no more than 10 ways" in words.test
    assert words.notes == [note for note in words.notes if "random sample of all rows" not in note]
    assert any(
        "they differ from the unlabelled ones in the share of missing values" in note
        for note in words.notes
    )


def test_one_class_comes_with_a_caution_in_the_first_lines():
    X, y = table(sizes=(8,))
    assert "not chosen or measured apart from the other samples." in words_of(X, y).summary
    words = words_of(X, y, batch=np.arange(60) % 2)
    assert "apart from the other samples of their batch." in words.summary
    assert "measured apart" not in words_of(*table()).summary
