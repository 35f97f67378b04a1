"""Rows that belong together: halves, permuted labels and rows, shadows, and what is significant."""

from collections import Counter
from math import comb, exp, log

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from semisift import Consensus, FisherScore, TransductiveScore
from semisift.base._sample_info import parse_design
from semisift.base._training_data import TrainingData
from semisift.exceptions import NoFeatureSelectedWarning
from semisift.selection import ranking_result
from semisift.selection._permutation import (
    even_groups,
    find_permutation_plan,
    permuted_labels,
    permuted_rows,
)
from semisift.selection._refit import can_halve, half_of_rows, take_rows, with_shadows
from semisift.selection._summary import summarize

MIN = {"n_resamples": 0, "n_permutations": 39, "fast": True}

# Labelled rows of each group by class, and unlabelled ones.
PURE = [(2, 0, 3), (0, 2, 3)] * 7
UNEQUAL = [(1 + n % 4, 0, n) for n in range(7)] + [(0, 1 + n % 3, 2 * n) for n in range(7)]
MIXED = [(2, 3, 2), (1, 1, 0), (3, 3, 4)] * 3
BOTH = [*PURE, *MIXED, (0, 0, 4), (0, 0, 2), (0, 0, 5)]


def shuffle(data, seed):
    return permuted_labels(data, (seed, None), find_permutation_plan(data))


def study(kinds, seed=0, n_columns=6, **known):
    """Return the training data with such groups, whose rows are in random order."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(kinds)), [sum(kind) for kind in kinds])
    y = np.concatenate([np.repeat([0, 1, -1], kind) for kind in kinds])
    order = rng.permutation(len(y))
    X = rng.normal(size=(len(y), n_columns)) + rng.normal(size=(len(kinds), n_columns))[groups]
    if "batch" in known:
        known["batch"] = np.asarray(known["batch"])[groups][order]
    design = parse_design(len(y), groups=groups[order], **known)
    return TrainingData.build(X[order], y[order], design=design, seed=seed)


def held(data, codes=None):
    """Return how many rows of each group are unlabelled, and of each class."""
    codes = data.labels.codes if codes is None else codes
    found = np.zeros((data.design.groups.max() + 1, 3), dtype=int)
    np.add.at(found, (data.design.groups, codes + 1), 1)
    return found


def donors(seed, per_class=7, shift=0.0):
    """Return donors of one class each, who differ in half of 40 columns."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(2 * per_class), 6)
    truth = rng.permutation(np.arange(2 * per_class) % 2)[groups]
    X = rng.normal(size=(len(groups), 40))
    X[:, 20:] += 1.5 * rng.normal(size=(2 * per_class, 20))[groups]
    X[:, 0] += shift * truth
    return X, np.where(np.arange(len(groups)) % 6 < 3, truth, -1), groups


# --- halves ---------------------------------------------------------------------------------------


def test_halves_are_of_whole_groups():
    data = study(BOTH)
    groups, n_rows = data.design.groups, np.array([sum(kind) for kind in BOTH])
    drawn = set()
    for seed in range(10):
        rows = half_of_rows(data, seed)
        assert (np.diff(rows) > 0).all()
        found, times = np.unique(groups[rows], return_counts=True)
        assert_array_equal(times, n_rows[found])
        # 7 of each class, 9 of both, 3 of none
        kinds = ["both" if min(BOTH[g][:2]) else BOTH[g][:2] for g in found]
        assert Counter(kinds) == {(2, 0): 3, (0, 2): 3, "both": 4, (0, 0): 1}
        drawn |= set(found)
    assert drawn == set(range(len(BOTH)))


def test_few_groups_are_drawn_with_repetition():
    data = study([(2, 0, 1)] * 3 + [(0, 2, 1)] * 5 + [(0, 1, 0)])
    n_repeated = 0
    for seed in range(20):
        rows = half_of_rows(data, seed)
        half = take_rows(data, rows, seed)
        assert_array_equal(half.labels.counts, [4, half.labels.counts[1]])
        assert half.labels.counts[1] > 0
        first = data.design.groups[rows][half.labels.codes == 0]
        n_repeated += len(np.unique(first)) == 1
        found, times = np.unique(rows, return_counts=True)
        of_groups = data.design.groups[found]
        for group in np.unique(of_groups):  # a repeated group repeats all its rows
            own = data.design.groups == group
            assert set(found[of_groups == group]) == set(np.flatnonzero(own))
            assert len(np.unique(times[of_groups == group])) == 1
    assert 2 <= n_repeated <= 14
    assert not can_halve(data)
    assert can_halve(study([(2, 0, 1)] * 4 + [(0, 2, 1)] * 4))


def test_intervals_of_groups_are_wider():
    X, y, groups = donors(0)
    ranker = FisherScore(random_state=0).fit(X, y)
    wide, narrow = (
        np.ptp(ranker.assess(X, y, n_permutations=0, n_resamples=40, **known).rank_interval, axis=1)
        for known in ({"groups": groups}, {})
    )
    assert wide[20:].mean() > narrow[20:].mean() + 2


# --- ways -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kinds", "how", "ways"),
    [
        (PURE, "labelled", comb(14, 7) / 2),
        (UNEQUAL, "labelled", comb(14, 7) / 2),
        (MIXED, "labelled", (comb(5, 2) * 2 * comb(6, 3)) ** 3),
        ([(1, 1, 1)] * 12, "labelled", 2**12 / 2),
        ([(2, 0, 1)] * 3 + [(0, 2, 1)] * 3, "labelled", comb(6, 3) / 2),
        # room for all labels in all of 20 groups
        (
            [(2, 0, 1)] * 3 + [(0, 2, 1)] * 3 + [(0, 0, 2)] * 14,
            "all",
            comb(20, 6) * comb(6, 3) / 2,
        ),
        # the groups of 2 labels may take 13 places, and the others 20
        (
            [(2, 0, 1)] * 3 + [(0, 1, 1)] * 3 + [(0, 0, 2)] * 7 + [(0, 0, 1)] * 7,
            "all",
            comb(13, 3) * comb(17, 3) / 2,
        ),
        # one class: any of 10 groups for each of two, and there any two of three rows
        ([(2, 0, 1)] * 2 + [(0, 0, 3)] * 8, "all", comb(10, 2) * 3**2),
        ([(2, 0, 1)] * 4, "all", 3**4),
        # three pairs of labels within groups can be exchanged in 4 ways, so all rows count
        ([(1, 1, 2)] * 3, "all", (4 * 3) ** 3 / 2),
    ],
)
def test_ways_to_permute_labels(kinds, how, ways):
    found = find_permutation_plan(study(kinds))
    assert found.how == how
    assert found.log_ways == pytest.approx(log(ways))
    assert found.least_p_value == pytest.approx(1 / ways)


def test_groups_of_one_row_are_rows():
    y = np.repeat([0, 1, -1], [8, 9, 20])
    X = np.zeros((37, 1))
    alone = find_permutation_plan(TrainingData.build(X, y))
    data = TrainingData.build(X, y, design=parse_design(37, groups=np.arange(37)))
    found = find_permutation_plan(data)
    assert found.how == alone.how == "labelled"
    assert found.log_ways == pytest.approx(alone.log_ways)
    assert alone.least_p_value == 0
    assert even_groups(data, found.how) is data


# --- labels ---------------------------------------------------------------------------------------


def test_labels_are_permuted_between_and_within_groups():
    data, codes = study(BOTH), set()
    before, is_pure = held(data), np.arange(len(BOTH)) < 14
    for seed in range(20):
        other = shuffle(data, seed)
        after = held(data, other.labels.codes)
        assert_array_equal(other.labels.labelled, data.labels.labelled)
        assert_array_equal(after[~is_pure], before[~is_pure])
        assert_array_equal(after[is_pure, 1:].max(axis=1), 2)
        assert_array_equal(after[is_pure].sum(axis=0), before[is_pure].sum(axis=0))
        codes.add(tuple(other.labels.codes))
    assert len(codes) == 20


def test_every_way_is_as_likely():
    data = study([(2, 0, 1), (1, 0, 0), (0, 2, 1), (0, 3, 0)])
    times = Counter(
        tuple(held(data, shuffle(data, seed).labels.codes)[:, 1] > 0) for seed in range(600)
    )
    assert len(times) == 6
    assert_allclose([*times.values()], 100, atol=35)


def test_labels_of_few_groups_go_to_groups_drawn_from_all():
    kinds = [(2, 0, 1)] * 3 + [(0, 1, 1)] * 3 + [(0, 0, 2)] * 7 + [(0, 0, 1)] * 7
    data, taken = study(kinds), np.zeros((20, 2), dtype=int)
    for seed in range(200):
        after = held(data, shuffle(data, seed).labels.codes)[:, 1:]
        assert Counter(map(tuple, after)) == {(2, 0): 3, (0, 1): 3, (0, 0): 14}
        taken += after > 0
    assert_array_equal(taken[13:, 0], 0)  # no room for two labels
    assert_allclose(taken[:13, 0], 200 * 3 / 13, atol=30)
    assert (taken[:, 1] > 0).all()


def test_pairs_go_with_the_groups_they_are_given_to():
    design = parse_design(20, groups=np.arange(20) // 4)
    pairs = {"must_link": [[0, 1], [1, 2]], "cannot_link": [[0, 5]]}
    data = TrainingData.build(np.arange(40.0).reshape(20, 2), design=design, **pairs)
    for seed in range(10):
        other = shuffle(data, seed).given_pairs
        linked = np.unique(design.groups[other.must_link])
        assert len(linked) == 1
        apart = design.groups[other.cannot_link[0]]
        assert linked[0] in apart
        assert apart[0] != apart[1]


BATCHES = [n // 2 % 2 for n in range(len(BOTH))]


@pytest.mark.parametrize("with_groups", [True, False])
def test_labels_are_permuted_within_batches(with_groups):
    data = study(BOTH, batch=BATCHES)
    if not with_groups:
        batch = data.design.batches
        design = parse_design(len(batch), batch=batch)
        data = TrainingData.build(data.X, data.labels.codes, design=design)
    assert find_permutation_plan(data).how == "batches"
    other = shuffle(data, 0).labels.codes
    assert (other != data.labels.codes).any()
    units = data.design.batches
    for batch in (0, 1):
        rows = units == batch
        assert_array_equal(np.sort(other[rows]), np.sort(data.labels.codes[rows]))
    even = even_groups(data, "batches")
    order = permuted_rows(even, (0, None), "batches")
    assert_array_equal(even.design.batches[order], even.design.batches)
    assert_array_equal(np.sort(order), np.arange(even.n_rows))


def test_batches_with_few_ways_are_mixed():
    # each class in a batch of its own: within batches nothing can be exchanged
    found = find_permutation_plan(study(PURE, batch=[0, 1] * 7))
    assert found.how == "labelled"
    assert exp(found.log_ways) == pytest.approx(comb(14, 7) / 2)


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", [PURE, UNEQUAL, BOTH])
def test_rows_of_groups_change_places_together(kinds):
    data = even_groups(study(kinds), "labelled")
    groups, codes = data.design.groups, data.labels.codes
    is_mixed = np.array([min(kind[:2]) > 0 for kind in kinds])
    moved = 0
    for seed in range(5):
        order = permuted_rows(data, (seed, None), "labelled")
        assert_array_equal(np.sort(order), np.arange(data.n_rows))
        assert_array_equal(codes[order] >= 0, codes >= 0)
        for group in np.unique(groups):
            (other,) = np.unique(groups[order[groups == group]])
            assert other == group or not (is_mixed[group] or is_mixed[other])
            moved += other != group
    assert moved > 5 * (~is_mixed).sum() / 2
    mixed = is_mixed[groups]
    assert not mixed.any() or (order[mixed] != np.flatnonzero(mixed)).any()


def test_even_groups_have_as_many_rows_of_their_own():
    data = study([*UNEQUAL, *MIXED, (0, 0, 4), (0, 0, 1), (0, 0, 2)])
    even = even_groups(data, "labelled")
    found = held(even)
    before = held(data)
    n_labelled = before[:14, 1:].sum(axis=1)
    assert_array_equal(found[:14, 1:].sum(axis=1), np.ceil(n_labelled.mean()))
    assert_array_equal(found[:14, 0], np.ceil(before[:14, 0].mean()))
    assert_array_equal(found[14:23], before[14:23])
    assert_array_equal(found[23:], [[3, 0, 0]] * 3)
    assert_array_equal(found[:14, 1:] > 0, before[:14, 1:] > 0)
    for group in range(26):
        own = {tuple(row) for row in data.X[data.design.groups == group]}
        theirs = {tuple(row) for row in even.X[even.design.groups == group]}
        assert theirs <= own
        # nobody lacks rows while others are there twice
        assert len(theirs) >= min(len(own), max(1, found[group, 1:].sum()), before[group].sum())


def test_among_all_groups_have_as_many_rows():
    kinds = [(2, 0, 1), (5, 1, 0), (0, 2, 4), (0, 0, 3), (0, 0, 7), (0, 0, 1)]
    data = study(kinds)
    even = even_groups(data, "all")
    found = held(even)
    assert_array_equal(found.sum(axis=1), 5)
    assert_array_equal(found[:, 1:] > 0, held(data)[:, 1:] > 0)
    seen = set()
    for seed in range(20):
        order = permuted_rows(even, (seed, None), "all")
        assert_array_equal(np.sort(order), np.arange(30))
        for group in range(6):
            assert len(np.unique(even.design.groups[order[even.design.groups == group]])) == 1
        seen |= set(even.design.groups[order[even.labels.labelled]])
    assert seen == set(range(6))


# --- shadows --------------------------------------------------------------------------------------


def test_shadows_of_a_group_are_values_of_one_group():
    data = study(UNEQUAL, n_columns=30)
    shadows, groups = with_shadows(data, 1).X[:, 30:], data.design.groups
    owner = {value: group for row, group in zip(data.X, groups, strict=True) for value in row}
    sizes = np.bincount(groups)
    taken = np.zeros((30, 14), dtype=int)
    for column in range(30):
        for group in range(14):
            values = shadows[groups == group, column]
            (source,) = {owner[value] for value in values}
            taken[column, group] = source
            assert len(set(values)) == min(sizes[group], sizes[source])
    assert_array_equal(np.sort(taken, axis=1), np.tile(np.arange(14), (30, 1)))
    assert len(np.unique(taken, axis=0)) == 30


def test_shadows_of_groups_are_the_same_for_sparse_columns():
    data = study(UNEQUAL)
    X = data.X * (np.random.default_rng(1).random(data.X.shape) < 0.5)
    dense, stored = (
        with_shadows(TrainingData.build(form(X), data.labels.codes, design=data.design), 3).X
        for form in (np.asarray, sparse.csr_array)
    )
    assert_array_equal(stored.toarray(), dense)


# --- what is significant --------------------------------------------------------------------------


@pytest.mark.parametrize("n_seeds", [4, pytest.param(8, marks=pytest.mark.nightly)])
def test_donors_alone_confirm_nothing(n_seeds):
    found = np.zeros((2, 2), dtype=int)
    for seed in range(n_seeds):
        X, y, groups = donors(seed)
        for row, known in enumerate([{}, {"groups": groups}]):
            for column, ranker in enumerate([FisherScore(), TransductiveScore()]):
                sure = ranker.fit(X, y, **known).assess(X, y, **MIN, **known)
                found[row, column] += "significant" in sure.decisions
    assert (found[0] >= 3 * n_seeds // 8).all()
    assert (found[1] <= 1).all()


@pytest.mark.parametrize("make", [FisherScore, TransductiveScore])
def test_markers_are_confirmed_between_donors(make):
    X, y, groups = donors(1, per_class=9, shift=5.0)
    sure = make().fit(X, y, groups=groups).assess(X, y, groups=groups, **MIN)
    assert_array_equal(np.flatnonzero(sure.decisions == "significant"), [0])
    assert sure.facts["between_groups"] == 18


@pytest.mark.parametrize("make", [FisherScore, TransductiveScore])
def test_markers_are_confirmed_within_donors(make):
    X, y, groups = donors(1)
    y = np.where(y < 0, -1, np.arange(len(y)) % 2)
    X[:, 0] += 2 * (np.arange(len(y)) % 2)
    sure = make().fit(X, y, groups=groups).assess(X, y, groups=groups, **MIN)
    assert_array_equal(np.flatnonzero(sure.decisions == "significant"), [0])
    assert sure.facts["within_groups"] == 14


def test_one_class_goes_to_other_rows_of_its_groups_and_to_others():
    X, _, groups = donors(0)
    number = np.arange(len(X)) % 6  # every other row of a donor is positive, some are labelled
    X[:, 0] += 4 * (number % 2)
    y = np.where((number == 1) | (number == 3), 1, -1)
    known = {"groups": groups}
    for ranker in (FisherScore(), TransductiveScore()):
        sure = ranker.fit(X, y, **known).assess(X, y, **MIN, **known)
        assert sure.decisions[0] == "significant"
        assert not sure.permuted


@pytest.mark.parametrize("ranker", [FisherScore(), TransductiveScore()])
def test_three_against_three_donors_cannot_confirm(ranker):
    X, y, groups = donors(0, per_class=3, shift=50.0)
    sure = ranker.fit(X, y, groups=groups).assess(X, y, groups=groups, **MIN)
    least = 0.1 if sure.null == "permuted_labels" else 0.2
    assert sure.least_p_value == sure.facts["least_p_value"] == pytest.approx(least)
    assert sure.p_values.min() >= sure.p_value >= least - 1e-9
    assert "significant" not in sure.decisions
    trust = summarize(ranking_result(ranker))
    assert trust.summary.startswith("With these 18 labels of 6 groups none of the 40 features")
    assert trust.test == (
        "Too few groups to tell: the labels of 6 groups can be exchanged in no more than 10 ways, "
        f"so that no p-value is below {least}, whatever the features are. Label rows of more "
        "groups before you build on it."
    )


@pytest.mark.parametrize("rule", ["shadow", "knockoff"])
def test_rules_say_that_there_are_too_few_groups(rule):
    X, y, groups = donors(0, per_class=3, shift=50.0)
    ranker = FisherScore(n_features_to_select=rule)
    with pytest.warns(NoFeatureSelectedWarning, match="18 labelled rows of 6 groups") as caught:
        ranker.fit(X, y, groups=groups)
    assert "the labels of 6 groups can be exchanged in no more than 10 ways" in str(
        caught[0].message
    )
    assert "label rows of more groups, or select a number" in str(caught[0].message)


def test_the_stability_rule_halves_groups():
    X, y, groups = donors(0, per_class=3, shift=50.0)
    ranker = FisherScore(n_features_to_select="stability").fit(X, y, groups=groups)
    assert not ranker.cutoff_.bound_holds
    assert "too few groups to halve" in ranker.cutoff_.error
    assert ranker.decisions_[0] == "significant"


def test_four_against_four_may_tell_something_but_confirm_nothing():
    X, y, groups = donors(0, per_class=4, shift=50.0)
    known = {"groups": groups}
    ranker = FisherScore().fit(X, y, **known)
    sure = ranker.assess(X, y, n_resamples=0, n_permutations=199, **known)
    assert 1 / 35 <= sure.p_value <= 0.05
    assert "significant" not in sure.decisions
    notes = summarize(ranking_result(ranker)).notes
    assert any("in no more than 35 ways" in note for note in notes)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kinds", "known", "expected"),
    [
        (PURE, {}, "Labels were exchanged between 14 groups."),
        (MIXED, {}, "Labels were exchanged within 9 groups."),
        (
            BOTH,
            {},
            "Labels were exchanged between 14 groups and within 9 groups of several classes.",
        ),
        (
            BOTH,
            {"batch": BATCHES},
            "Labels were exchanged between 14 groups and within 9 groups of several classes, and "
            "of the same batches.",
        ),
        (
            [(2, 0, 1)] * 3 + [(0, 2, 1)] * 3 + [(0, 0, 3)] * 14,
            {},
            "Labels were exchanged between all groups, labelled or not. This assumes that the 6 "
            "groups with labelled rows are a random sample of all groups, and the labelled rows "
            "one of theirs.",
        ),
    ],
)
def test_how_labels_were_permuted_is_said(kinds, known, expected):
    data = study(kinds, **known)
    design = data.design
    given = {"groups": design.groups} | ({} if "batch" not in known else {"batch": design.batches})
    ranker = FisherScore().fit(data.X, data.labels.codes, **given)
    sure = ranker.assess(data.X, data.labels.codes, n_resamples=0, n_permutations=1, **given)
    assert expected in summarize(ranking_result(ranker)).notes
    assert sure.facts["between_groups"] == sure.plan.n_between
    alone = FisherScore().fit(data.X, data.labels.codes)
    sure = alone.assess(data.X, data.labels.codes, n_resamples=0, n_permutations=1)
    assert sure.plan is None
    assert "between_groups" not in sure.facts
    assert not any("exchanged" in note for note in summarize(ranking_result(alone)).notes)


def test_batches_are_told():
    data = study(BOTH, batch=BATCHES)
    known = {"batch": data.design.batches}
    ranker = Consensus(n_members=5).fit(data.X, data.labels.codes, **known)
    sure = ranker.assess(data.X, data.labels.codes, n_resamples=0, n_permutations=1, **known)
    assert sure.facts["within_batches"] is True
    assert (
        "Rows of the permuted features were exchanged within batches."
        in summarize(ranking_result(ranker)).notes
    )
