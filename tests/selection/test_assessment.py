"""How sure a ranking is: half of the rows, and labels that tell nothing."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from semisift import (
    MRMR,
    SSFI,
    ConstraintScore,
    FisherScore,
    LaplacianScore,
    SequentialForward,
    SSelect,
)
from semisift.base._training_data import TrainingData
from semisift.selection._assessment import compare_fits, rank_interval
from semisift.selection._permutation import find_permutation_plan, permuted_labels
from semisift.selection._refit import Scorer, half_of_rows, rank_half
from semisift.selection._summary import format_stability
from semisift.utils._agreement import mean_kuncheva
from tests.conftest import make_data


def problem_of(per_class, n_classes=2):
    data = make_data(per_class=per_class, n_classes=n_classes)
    return TrainingData.build(data.X, data.y)


def test_halves_are_of_each_class():
    data = problem_of(6)
    rows = half_of_rows(data, 0)
    assert len(np.unique(rows)) == len(rows) == 3 + 3 + 24
    assert_array_equal(np.bincount(data.labels.codes[rows] + 1), [24, 3, 3])


def test_few_labels_are_drawn_with_repetition():
    data = problem_of(3)
    counts = np.zeros(60, dtype=int)
    for seed in range(20):
        rows = half_of_rows(data, seed)
        assert_array_equal(np.bincount(data.labels.codes[rows] + 1), [27, 2, 2])
        counts += np.bincount(rows, minlength=60) > 1
    assert (counts[data.labels.labelled] > 0).all()
    assert (counts[data.labels.unlabelled] == 0).all()


@pytest.mark.parametrize("n_labelled", [2, 3, 4, 8, 20])
def test_means_of_halves_vary_as_those_of_new_rows(n_labelled):
    values = np.random.default_rng(n_labelled).normal(size=n_labelled)
    y = np.append(np.zeros(n_labelled, dtype=int), [1, 1, -1, -1])
    data = TrainingData.build(np.append(values, np.arange(4.0))[:, None], y)
    means = []
    for seed in range(3000):
        rows = half_of_rows(data, seed)
        means.append(values[rows[rows < n_labelled]].mean())
    assert_allclose(np.mean(means), values.mean(), atol=0.1 / np.sqrt(n_labelled))
    assert_allclose(np.var(means), values.var(ddof=1) / n_labelled, rtol=0.1)


def test_a_class_with_few_labels_leaves_the_others_alone():
    y = np.array([0, 0, 0, *[1] * 10, -1, -1])
    data = TrainingData.build(np.arange(30.0).reshape(15, 2), y)
    for seed in range(10):
        rows = half_of_rows(data, seed)
        of_large = rows[y[rows] == 1]
        assert len(np.unique(of_large)) == len(of_large) == 5


@pytest.mark.parametrize(
    ("per_class", "n_classes", "enough"), [(3, 2, False), (6, 2, False), (7, 2, True), (3, 4, True)]
)
def test_labels_are_permuted_where_there_are_enough_ways(per_class, n_classes, enough):
    # 6 and 6 of 12: 924 / 2 ways; 7 and 7: 3432 / 2
    data = problem_of(per_class, n_classes)
    assert find_permutation_plan(data).how == ("labelled" if enough else "all")
    other = permuted_labels(data, (1, None), find_permutation_plan(data)).labels
    assert_array_equal(np.sort(other.codes), np.sort(data.labels.codes))
    assert np.array_equal(other.labelled, data.labels.labelled) is enough
    assert (other.codes != data.labels.codes).any()


def test_pairs_go_with_the_rows_they_are_given_to():
    X = np.arange(40.0).reshape(20, 2)
    pairs = {"must_link": [[0, 1], [1, 2]], "cannot_link": [[0, 3]]}
    data = TrainingData.build(X, **pairs)
    other = permuted_labels(data, (0, None), find_permutation_plan(data)).given_pairs
    # the same shape: a row in two must-links, one end of which is in the cannot-link
    rows, times = np.unique(other.must_link, return_counts=True)
    assert sorted(times) == [1, 1, 2]
    assert len(np.intersect1d(rows, other.cannot_link)) == 1
    assert set(rows) != {0, 1, 2}


def test_rank_interval_leaves_out_the_tails():
    ranks = np.column_stack([np.arange(1, 101), np.full(100, 7)])
    assert_array_equal(rank_interval(ranks), [[5, 96], [7, 7]])


@pytest.mark.parametrize(("per_class", "least"), [(3, 0.8), (8, 0.85)])
def test_intervals_cover_the_rank_on_the_whole_population(per_class, least):
    """Their means over many trials are .86 and .91, with a standard error of .01 in 20 trials."""
    effects, ranks, covered = 2 * 0.93 ** np.arange(50), np.arange(1, 51), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.arange(100) % 2
        X = rng.normal(size=(100, 50)) + np.outer(y, effects)
        few = np.where(np.arange(100) < 2 * per_class, y, -1)
        ranker = FisherScore(random_state=seed).fit(X, few)
        low, high = ranker.assess(X, few, n_permutations=0, n_resamples=20).rank_interval.T
        covered.append(((low <= ranks) & (ranks <= high)).mean())
    assert np.mean(covered) >= least


def one_part(scores):
    return compare_fits(np.array(scores)[:, None, :])


def test_p_value_of_one_score_is_that_of_the_best():
    # in the other fits the best columns reach 9, 3, 2, 1
    test = one_part([[5.0, 2.0, 0.5], [9.0, 0, 0], [3.0, 0, 0], [2.0, 0, 0], [0, 1.0, 0]])
    assert_allclose(test.p_values, [2 / 5, 4 / 5, 1])
    assert test.p_value == 2 / 5
    assert test.n_permutations == 4


def test_p_value_counts_ties_and_infinite_scores():
    assert one_part([[3.0, 1.0], [3.0, 1.0], [0.0, 0.0]]).p_value == 2 / 3
    scores = [[np.inf, 1.0], [0.5, 1.0], [-np.inf, 0.0], [0.0, 0.0]]
    assert one_part(scores).p_value == 1 / 4
    assert one_part(np.full((4, 2), np.inf)).p_value == 1
    assert one_part(np.full((4, 2), -np.inf)).p_value == 1


def combined_slowly(scores):
    """Return the p-values of the columns of the first fit, by the formulas."""
    n_fits, n_parts, p = scores.shape
    psi = np.zeros((n_fits, p))
    for fit in range(n_fits):
        for j in range(p):
            for m in range(n_parts):
                reach = [scores[other, m].max() >= scores[fit, m, j] for other in range(n_fits)]
                psi[fit, j] -= np.log(np.mean(reach))
    return [
        np.mean([psi[fit].max() >= psi[0, j] - 1e-9 for fit in range(n_fits)]) for j in range(p)
    ]


def test_parts_are_combined_by_how_rare_their_scores_are():
    scores = np.random.default_rng(0).normal(size=(12, 3, 7)) * [[[1.0], [50.0], [1e-3]]]
    scores[0, :, 2] = [2.4, 120, 2.4e-3]  # high with all parts
    test = compare_fits(scores)
    assert_allclose(test.p_values, combined_slowly(scores))
    assert test.p_values.argmin() == 2
    # the size of a score does not matter, only how rare it is
    assert_array_equal(compare_fits(np.exp(scores)).p_values, test.p_values)


def test_p_values_of_several_parts_are_exact():
    # all fits alike: the first has p <= 1/4 in a quarter of the trials, 25 of 100 (SE 4.3)
    rng = np.random.default_rng(1)
    tests = [compare_fits(rng.normal(size=(8, 2, 5)).cumsum(axis=1)) for _ in range(100)]
    assert 10 <= sum(test.p_value <= 0.25 for test in tests) <= 40
    assert 10 <= sum(test.p_values.min() <= 0.25 for test in tests) <= 40


def test_decisions_follow_from_the_p_values():
    fits = np.zeros((40, 1, 4))
    fits[0, 0] = [3.0, 1.5, 0.5, 0.0]
    fits[1:, 0, 3] = np.linspace(0, 2, 39)
    test = compare_fits(fits)
    assert test.decisions.tolist() == [
        "significant",
        "suggestive",
        "not significant",
        "not significant",
    ]
    assert test.null_score == 2.0
    fits[1:, 0, 1:] = 2.0  # many good columns: the first one alone does not make a good ranking
    assert compare_fits(fits).decisions[0] == "significant"


def noise_in_groups(seed):
    """Return 12 columns of noise with 9 correlated features each, and labels that tell nothing."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(60, 12)), 10, axis=1) + 0.3 * rng.normal(size=(60, 120))
    return X, np.where(np.arange(60) < 20, np.arange(60) % 2, -1)


def test_noise_in_groups_of_copies_is_not_stable():
    """Features correlate in each half anew: with those of the full fit the mean would be .55."""
    found = []
    for seed in range(8):
        X, y = noise_in_groups(seed)
        ranker = FisherScore(redundancy_threshold=0.7, random_state=seed).fit(X, y)
        found.append(ranker.assess(X, y, n_permutations=0, n_resamples=20).stability.value)
    assert np.mean(found) < 0.2


def test_other_copies_may_come_first_on_a_half():
    X, y = noise_in_groups(0)
    ranker = FisherScore(n_features_to_select=15, redundancy_threshold=0.7).fit(X, y)
    sure = ranker.assess(X, y, n_permutations=0, n_resamples=20)
    assert (ranker.representative_ == np.arange(120)).sum() == 12
    first = ranker.ranking_ <= 12
    assert sure.selection_probability[first].mean() < 0.8
    assert (sure.selection_probability[~first] > 0).any()
    assert sure.rank_interval[ranker.ranking_ == 1][0, 1] > 12


def test_correlated_groups_are_counted_as_one_feature():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 40))
    X[:, :8] = (3 * y + rng.normal(size=80))[:, None] + 0.3 * rng.normal(size=(80, 8))
    few = np.where(np.arange(80) < 20, y, -1)
    ranker = FisherScore(n_features_to_select=1, redundancy_threshold=0.7).fit(X, few)
    sure = ranker.assess(X, few, n_permutations=0, n_resamples=20)
    assert_array_equal(sure.family_probability[:8], np.full(8, sure.family_probability[0]))
    assert sure.family_probability[0] >= 0.9 > sure.selection_probability[:8].max()
    assert sure.family_stability.value > 0.6 > 0.4 > sure.stability.value
    assert "Correlated features replace each other: counted as one" in format_stability(sure)
    plain = FisherScore(n_features_to_select=1).fit(X, few)
    plain = plain.assess(X, few, n_permutations=0, n_resamples=3)
    assert plain.family_probability is plain.family_stability is None


def test_noise_in_correlated_groups_is_not_stable_either():
    found = []
    for seed in range(8):
        X, y = noise_in_groups(seed)
        ranker = FisherScore(redundancy_threshold=0.7, random_state=seed).fit(X, y)
        sure = ranker.assess(X, y, n_permutations=0, n_resamples=20)
        found.append(sure.family_stability.value)
    assert np.mean(found) < 0.35


def test_near_copies_of_a_half_stand_behind_the_others():
    X, y = noise_in_groups(1)
    ranker = FisherScore(redundancy_threshold=0.7).fit(X, y)
    data = TrainingData.build(X, y)
    ranking = rank_half(5, data, Scorer(ranker), 1)
    rows = half_of_rows(data, 5)
    again = FisherScore(redundancy_threshold=0.7, random_state=5).fit(X[rows], y[rows])
    assert_array_equal(ranking, again.ranking_)
    assert (again.representative_ != ranker.representative_).any()


def test_assessment(data):
    ranker = FisherScore(n_features_to_select=2).fit(data.X, data.y)
    sure = ranker.assess(data.X, data.y, n_resamples=30, n_permutations=39)
    assert sure is ranker.assessment_
    assert ranker.rank_interval_ is sure.rank_interval
    assert ranker.selection_probability_ is sure.selection_probability
    assert sure.n_best == 2
    assert sure.rank_interval.shape == (8, 2)
    assert (sure.rank_interval[:, 0] <= sure.rank_interval[:, 1]).all()
    assert_allclose(sure.selection_probability.sum(), 2)
    assert sure.selection_probability[:2].min() > sure.selection_probability[2:].max()
    assert sure.stability.low <= sure.stability.value <= sure.stability.high
    assert 1 / 40 <= sure.p_value <= 0.1
    ranker.fit(data.X, data.y)
    assert not {"assessment_", "rank_interval_", "selection_probability_"} & set(vars(ranker))


def test_stability_is_that_of_the_best():
    data = make_data(per_class=10)
    ranker = FisherScore(n_features_to_select=3, random_state=4).fit(data.X, data.y)
    sure = ranker.assess(data.X, data.y, n_resamples=2, n_permutations=0)
    shared = int((sure.selection_probability == 1).sum())
    first, second = [0, 1, 2], [*range(shared), *range(5, 8 - shared)]
    assert_allclose(sure.stability.value, mean_kuncheva([first, second], 8))


def test_seed_and_form_do_not_matter(data):
    X = data.X * (np.random.default_rng(1).random(data.X.shape) < 0.6)
    settings = {"n_resamples": 5, "n_permutations": 5}
    one, two = (
        SSelect().fit(form(X), data.y).assess(form(X), data.y, **settings)
        for form in (np.asarray, sparse.csr_array)
    )
    assert_array_equal(one.rank_interval, two.rank_interval)
    assert one.p_value == two.p_value
    other = SSelect().fit(X, data.y).assess(X, data.y, random_state=5, **settings)
    assert (other.rank_interval != one.rank_interval).any()


def test_threads_do_not_matter(data):
    settings = {"n_resamples": 5, "n_permutations": 5}
    one, two = (
        SSFI(n_members=20, n_jobs=n_jobs).fit(data.X, data.y).assess(data.X, data.y, **settings)
        for n_jobs in (1, 2)
    )
    assert_array_equal(one.rank_interval, two.rank_interval)
    assert one.p_value == two.p_value


def test_what_cannot_be_tested_has_no_p_value(data):
    few = {"n_resamples": 2, "n_permutations": 5}
    assert np.isnan(LaplacianScore().fit(data.X).assess(data.X, **few).p_value)
    ranker = SequentialForward(n_features_to_select=2).fit(data.X, data.y)
    assert np.isnan(ranker.assess(data.X, data.y, **few).p_value)
    must, cannot = [[0, 2], [1, 3]], [[0, 1], [2, 3]]
    pairs = {"must_link": must, "cannot_link": cannot}
    sure = ConstraintScore().fit(data.X, **pairs).assess(data.X, **pairs, **few)
    assert 1 / 6 <= sure.p_value <= 1


@pytest.mark.parametrize("n_labelled", [pytest.param(6, marks=pytest.mark.nightly), 20])
def test_p_values_of_noise_are_uniform(n_labelled):
    # of 40 trials 8 are expected at or below .2, and more than 16 in 0.1 % of cases
    low = 0
    for seed in range(40):
        X = np.random.default_rng(seed).normal(size=(40, 30))
        y = np.where(np.arange(40) < n_labelled, np.arange(40) % 2, -1)
        ranker = FisherScore(random_state=seed).fit(X, y)
        low += ranker.assess(X, y, n_resamples=0, n_permutations=19).p_value <= 0.2
    assert 1 <= low <= 16


def test_bad_requests(data):
    with pytest.raises(NotFittedError):
        FisherScore().assess(data.X, data.y)
    ranker = FisherScore().fit(data.X, data.y)
    with pytest.raises(ValueError, match="with 8 columns: got 7"):
        ranker.assess(data.X[:, :7], data.y)
    with pytest.raises(ValueError, match="n_best must be from 1 to the 8 columns of X: got 9"):
        ranker.assess(data.X, data.y, n_best=9)
    with pytest.raises(ValueError, match="n_resamples must be a whole number, 0 or more: got -1"):
        ranker.assess(data.X, data.y, n_resamples=-1)


def test_columns_are_those_of_the_fit(data):
    X = pd.DataFrame(data.X).add_prefix("c")
    ranker = FisherScore().fit(X, data.y)
    with pytest.raises(ValueError, match="feature names should match"):
        ranker.assess(X[X.columns[::-1]], data.y)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"random_state": np.random.RandomState(0)}, "random_state must be a whole number"),
        ({"random_state": -1}, "random_state must be a whole number, 0 or more: got -1"),
        ({"n_resamples": 2.5}, "n_resamples must be a whole number, 0 or more: got 2.5"),
        ({"n_best": 2.5}, "n_best must be from 1 to the 8 columns of X: got 2.5"),
        ({"must_link": [[0, 1]]}, "FisherScore takes no must_link: .* is groups, batch"),
    ],
)
def test_bad_numbers(request_, message, data):
    ranker = FisherScore().fit(data.X, data.y)
    with pytest.raises((TypeError, ValueError), match=message):
        ranker.assess(data.X, data.y, **request_)


def test_labels_are_needed_as_in_fit(data):
    ranker = SSFI(n_members=20).fit(data.X, data.y)
    with pytest.raises(ValueError, match="SSFI needs labelled rows of at least two classes"):
        ranker.assess(data.X, np.full(len(data.y), -1))


def test_the_best_where_nothing_is_significant():
    X = np.random.default_rng(0).normal(size=(40, 8))
    y = np.where(np.arange(40) < 8, np.arange(40) % 2, -1)
    settings = {"n_resamples": 3, "n_permutations": 5}
    assert FisherScore().fit(X, y).assess(X, y, **settings).n_best == 4
    assert LaplacianScore().fit(X).assess(X, **settings).n_best == 4


def test_chance_is_on_the_scale_of_the_scores(data):
    settings = {"n_resamples": 0, "n_permutations": 39}
    ranker = SSFI(n_members=60).fit(data.X, data.y)
    assert np.isfinite(ranker.assess(data.X, data.y, **settings).null_score)
    assert np.isnan(ranker.assess(data.X, data.y, fast=True, **settings).null_score)
    places = MRMR(n_features_to_select=3).fit(data.X, data.y)
    assert np.isnan(places.assess(data.X, data.y, **settings).null_score)
