"""Columns against permuted features: permutations, p-values, decisions."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from semisift import Consensus, FisherScore, TransductiveScore
from semisift.base._training_data import TrainingData
from semisift.selection import ranking_result
from semisift.selection._assessment import compare_with_permuted_features
from semisift.selection._assessment import test_labels as compare_with_chance
from semisift.selection._permutation import find_permutation_plan, permuted_rows, plan_permutation
from semisift.selection._refit import LABEL_STREAM, Scorer, seed_of
from semisift.transduction import _permuted_features
from semisift.transduction._permuted_features import exceeded_by_permuted_features

MIN = {"n_resamples": 0, "n_permutations": 39, "fast": True}
SEEDS = [seed_of(0, LABEL_STREAM, number) for number in range(39)]


def clusters(seed, per_class=10, n_rows=100):
    """Two strong groups of rows in 20 of 40 columns, which have nothing to do with the labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 40))
    X[:, :20] += 2 * rng.integers(0, 2, n_rows)[:, None]
    y = np.full(n_rows, -1)
    rows = rng.permutation(n_rows)
    y[rows[:per_class]], y[rows[per_class : 2 * per_class]] = 0, 1
    return X, y


def markers(seed=0, per_class=8, n_rows=120):
    """Classes in the first 10 of 60 columns, and batches in the 20 columns after these."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, 60))
    X[:, :10] += 2 * truth[:, None]
    X[:, 10:30] += rng.integers(0, 2, n_rows)[:, None]
    return X, np.where(np.arange(n_rows) < 2 * per_class, truth, -1)


def try_planned(data, seeds, prior=None):
    data, plan = plan_permutation(data)
    return compare_with_permuted_features(data, seeds, prior, plan)


# --- what is exchanged ----------------------------------------------------------------------------


@pytest.mark.parametrize(("per_class", "among_labelled"), [(3, False), (6, False), (7, True)])
def test_rows_are_permuted_among_the_labelled_ones_or_among_all(per_class, among_labelled):
    data = TrainingData.build(*clusters(0, per_class))
    labelled, how = data.labels.labelled, find_permutation_plan(data).how
    order = permuted_rows(data, (1, None), how)
    assert_array_equal(np.sort(order), np.arange(100))
    assert (order != np.arange(100)).mean() > 0.9
    assert (set(order[labelled]) == set(labelled)) is among_labelled
    assert_array_equal(permuted_rows(data, (1, None), how), order)
    assert (permuted_rows(data, (2, None), how) != order).any()


def test_rankers_that_label_rows_by_their_shape_are_compared_with_permuted_features():
    X, y = markers()
    for ranker, null in [
        (Consensus(), "permuted_features"),
        (TransductiveScore(), "permuted_features"),
        (FisherScore(), "permuted_labels"),
        (Consensus(rankers=[("fisher", FisherScore())]), "permuted_labels"),
    ]:
        sure = ranker.fit(X, y).assess(X, y, n_resamples=0, n_permutations=2)
        assert sure.null == sure.facts["null"] == null
        assert sure.n_permutations == (5 if null == "permuted_features" else 2)


def test_the_null_is_that_of_the_assessment_whatever_the_parameters_are_by_now():
    X, y = markers()
    ranker = Consensus(n_members=20).fit(X, y)
    ranker.assess(X, y, n_resamples=0, n_permutations=19)
    before = ranking_result(ranker)
    words = before.trust
    ranker.set_params(rankers=[("fisher", FisherScore())])
    after = ranking_result(ranker)
    assert before.null == after.null == "permuted_features"
    assert after.trust == words


# --- the p-values ---------------------------------------------------------------------------------


def test_p_values_are_those_of_the_better_score_doubled():
    X, y = clusters(2, per_class=3)
    data = TrainingData.build(X, y)
    seeds = [*(seed + turn for seed in SEEDS[:6] for turn in range(2)), SEEDS[0] + 2]
    orders = [permuted_rows(data, (seed, None), "all") for seed in seeds]
    beaten = np.array([*exceeded_by_permuted_features(data, iter(orders), None)])
    soft, labelled = beaten[:, :, 0].transpose(1, 0, 2)
    test = try_planned(data, SEEDS[:6])
    assert test.n_permutations == 13
    one, two = ((1 + times.sum(axis=0)) / 14 for times in (soft, labelled))
    assert (one != two).any()
    assert_array_equal(test.p_values, np.minimum(1, 2 * np.minimum(one, two)))
    whole = min((1 + times.all(axis=1).sum()) / 14 for times in (soft, labelled))
    assert test.p_value == min(1, 2 * whole)
    assert test.p_value <= test.p_values.min()


def test_as_many_trials_as_the_command_asks_for_can_confirm():
    X, y = markers()
    test = try_planned(TrainingData.build(X, y), SEEDS)
    assert test.p_values.min() == test.p_value == 2 / 80
    assert "significant" in test.decisions
    fewer = try_planned(TrainingData.build(X, y), SEEDS[:38])
    assert "significant" not in fewer.decisions


def test_the_class_prior_of_the_ranker_counts():
    X, y = clusters(3)
    data, prior = TrainingData.build(X, y), np.array([0.95, 0.05])
    ranker = TransductiveScore(class_prior=prior).fit(X, y)
    test = compare_with_chance(Scorer(ranker), plan_permutation(data), iter(range(39)), 39, 0)
    same, other = (try_planned(data, SEEDS, each) for each in (prior, None))
    assert_array_equal(test.p_values, same.p_values)
    assert test.p_value == same.p_value != other.p_value


@pytest.mark.parametrize("n_steps", [0, 1, 5])
def test_steps_may_end_early(n_steps):
    X, y = markers()
    ranker = TransductiveScore().fit(X, y)
    test = compare_with_chance(
        Scorer(ranker), plan_permutation(TrainingData.build(X, y)), iter(range(n_steps)), 39, 0
    )
    n = 2 * n_steps + 1 if n_steps else 0
    assert test.n_permutations == n
    assert test.p_value == test.p_values.min() == min(1, 2 / (n + 1))
    assert "significant" not in test.decisions
    again = try_planned(TrainingData.build(X, y), SEEDS[:n_steps])
    assert_array_equal(test.p_values, again.p_values)


def test_neither_threads_nor_the_size_of_batches_matter(monkeypatch):
    X, y = markers(1, per_class=3)
    one, two = (
        Consensus(n_jobs=n_jobs, n_members=20).fit(X, y).assess(X, y, **MIN) for n_jobs in (1, 2)
    )
    assert_array_equal(one.p_values, two.p_values)
    assert one.p_value == two.p_value
    monkeypatch.setattr(_permuted_features, "MAX_VALUES", 1)
    alone = Consensus(n_members=20).fit(X, y).assess(X, y, **MIN)
    assert_array_equal(one.p_values, alone.p_values)
    assert len(np.unique(one.p_values)) > 3


def test_sparse_equals_dense():
    X, y = markers()
    X = np.abs(X) * (np.random.default_rng(1).random(X.shape) < 0.6)
    dense, stored = (
        TransductiveScore().fit(form(X), y).assess(form(X), y, **MIN)
        for form in (np.asarray, sparse.csr_array)
    )
    assert_array_equal(dense.p_values, stored.p_values)


def test_the_test_leaves_the_intervals_alone():
    X, y = markers()
    with_test, without = (
        TransductiveScore(random_state=0)
        .fit(X, y)
        .assess(X, y, n_best=5, n_resamples=6, n_permutations=n)
        for n in (3, 0)
    )
    assert_array_equal(with_test.rank_interval, without.rank_interval)


# --- what is significant --------------------------------------------------------------------------


@pytest.mark.parametrize("per_class", [3, 8])
def test_constant_columns_are_never_significant(per_class):
    X, y = markers(per_class=per_class)
    X[:, 20] = 3.0
    X[y >= 0, 21] = 0.0  # the labelled rows alone do not differ
    sure = Consensus(random_state=0).fit(X, y).assess(X, y, **MIN)
    assert (sure.decisions[:10] == "significant").any()
    assert_array_equal(sure.decisions[20:22], "not significant")
    assert sure.p_values[20] == 1
    assert np.isfinite(sure.p_values).all()


@pytest.mark.parametrize(
    ("per_class", "n_seeds"),
    [(3, 4), *(pytest.param(n, 8, marks=pytest.mark.nightly) for n in (3, 10))],
)
def test_clusters_that_have_nothing_to_do_with_the_labels_are_not_significant(per_class, n_seeds):
    passed = 0
    for seed in range(n_seeds):
        test = try_planned(TrainingData.build(*clusters(seed, per_class)), SEEDS)
        assert "significant" not in test.decisions
        passed += test.p_value <= 0.05
    assert passed <= n_seeds // 4


@pytest.mark.parametrize("per_class", [pytest.param(5, marks=pytest.mark.nightly), 8])
def test_markers_are_confirmed_and_batches_are_not(per_class):
    for seed in range(3):
        X, y = markers(seed, per_class)
        sure = Consensus(random_state=0).fit(X, y).assess(X, y, **MIN)
        assert sure.passed
        assert_array_equal(sure.decisions[:10], "significant")
        assert "significant" not in sure.decisions[10:]


def test_columns_that_only_the_labelled_rows_show_are_significant():
    """One weak column among many, with many labels: all rows together do not show it."""
    rng = np.random.default_rng(0)
    X, truth = rng.normal(size=(200, 100)), np.arange(200) % 2
    X[:, :60] += 2 * rng.integers(0, 2, 200)[:, None]
    X[:, 99] += 1.2 * truth
    y = np.where(np.arange(200) < 80, truth, -1)
    sure = Consensus(random_state=0).fit(X, y).assess(X, y, **MIN)
    assert_array_equal(np.flatnonzero(sure.decisions == "significant"), [99])


# --- p-values by class ----------------------------------------------------------------------------


def three(seed=0, n_rows=150, per_class=8, shift=2.0):
    """Three classes, of which each is high in 4 of 40 columns; the last 10 tell nothing."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, 40))
    for code in range(3):
        X[:, 4 * code : 4 * code + 4] += shift * (truth == code)[:, None]
    return X, np.where(np.arange(n_rows) < 3 * per_class, truth, -1)


def test_each_class_has_p_values_of_its_own():
    X, y = three()
    ranker = Consensus(n_members=40).fit(X, y)
    sure = ranker.assess(X, y, **MIN)
    found = ranker.markers(X, y)
    assert_array_equal(found.p_values, sure.class_p_values)
    assert found.p_values.shape == (3, 40)
    for code in range(3):
        own = found.p_values[code, 4 * code : 4 * code + 4]
        assert (own <= 0.025).mean() >= 0.75
        assert set(found.order(code)[:4]) == set(range(4 * code, 4 * code + 4))
    assert (found.p_values[:, 12:] > 0.025).all()
    assert "p_value" in found.to_frame(2).columns


def test_two_classes_share_their_p_values():
    X, y = markers()
    ranker = TransductiveScore().fit(X, y)
    sure = ranker.assess(X, y, **MIN)
    assert_array_equal(sure.class_p_values, [sure.p_values, sure.p_values])
    labels = FisherScore().fit(X, y).assess(X, y, n_resamples=0, n_permutations=19)
    assert labels.class_p_values is None


@pytest.mark.parametrize("n_seeds", [4, pytest.param(12, marks=pytest.mark.nightly)])
def test_labels_that_tell_nothing_confirm_no_class(n_seeds):
    n_significant = 0
    for seed in range(n_seeds):
        X, _ = three(seed, shift=3.0)
        y = np.full(150, -1)
        y[np.random.default_rng([seed, 1]).permutation(150)[:24]] = np.arange(24) % 3
        test = try_planned(TrainingData.build(X, y), SEEDS)
        n_significant += int((test.class_p_values <= 0.025).any())
    assert n_significant <= n_seeds // 4
