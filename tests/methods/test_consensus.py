"""Consensus: the mean place with several rankers."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from semisift import (
    C4,
    SSFI,
    Consensus,
    FisherScore,
    LaplacianScore,
    SequentialForward,
    TransductiveScore,
    VarianceScore,
)
from semisift.base._data_kind import kind_of_data
from semisift.base._training_data import TrainingData
from tests.conftest import make_data, needs_callbacks
from tests.methods.test_ranker import Recorder
from tests.reference.consensus import consensus
from tests.reference.consensus import default_rankers as separate_rankers


@pytest.fixture
def counts():
    """Few words of many: columns 0 and 1 follow the class."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.poisson(0.3, size=(60, 12)).astype(float)
    X[:, 0] += rng.poisson(2.0 * y)
    X[:, 1] += rng.poisson(2.0 * (1 - y))
    return X, np.where(np.arange(60) < 12, y, -1)


def with_copies(data):
    return np.column_stack([data.X, data.X[:, :2] + 0.01 * data.X[:, 5:7], np.ones(len(data.X))])


@pytest.mark.parametrize("aggregation", ["product", "mean"])
def test_is_the_mean_place_with_separate_rankers(aggregation, data):
    X = with_copies(data)
    ranker = Consensus(aggregation=aggregation, random_state=3).fit(X, data.y)
    expected = consensus(X, data.y, separate_rankers(X, data.y, 3), aggregation)
    assert_allclose(ranker.scores_, expected, rtol=1e-12)
    assert np.isnan(ranker.scores_[-1])


def test_counts_are_left_as_they_are(counts):
    X, y = counts
    ranker = Consensus(random_state=1).fit(X, y)
    assert ranker.data_kind_ == "counts"
    assert_allclose(ranker.scores_, consensus(X, y, separate_rankers(X, y, 1)), rtol=1e-12)
    assert not hasattr(ranker, "representative_")
    assert set(np.argsort(ranker.ranking_)[:2]) == {0, 1}


def kind(X):
    return kind_of_data(TrainingData.build(X))


def test_kinds_of_data(counts, data):
    X, _ = counts
    assert kind(X) == kind(sparse.csr_array(X)) == "counts"
    assert kind(X * 0.37) == "counts"  # weighted words
    assert kind(-X) == kind(sparse.csr_array(-X)) == "measurements"
    assert kind(X + 1) == kind(sparse.csr_array(X + 1)) == "measurements"
    assert kind(data.X) == "measurements"
    assert kind(np.array([[0.0, 0.0], [1.0, 0.0]])) == "counts"
    assert kind(np.array([[0.0, 1.0], [1.0, 2.0]])) == "measurements"


def test_places_and_weights_are_there_to_see(data):
    ranker = Consensus(random_state=0).fit(data.X, data.y)
    assert [name for name, _ in ranker.rankers_] == ["transductive", "ssfi"]
    assert_allclose(ranker.weights_.sum(), 1)
    assert ranker.part_rankings_.shape == (2, 8)
    for (_, part), ranks in zip(ranker.rankers_, ranker.part_rankings_, strict=True):
        assert_array_equal(np.argsort(ranks), np.argsort(part.ranking_))


def test_trees_that_label_otherwise_are_not_trusted():
    # three factors of all columns hide the class from the trees, not from the components
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 300)) + 2 * rng.normal(size=(400, 3)) @ rng.normal(size=(3, 300))
    X[:, :20] += 2.5 * y[:, None]
    ranker = Consensus(random_state=0).fit(X, np.where(np.arange(400) < 16, y, -1))
    soft, trees = (part for _, part in ranker.rankers_)
    assert np.mean(soft.transduction_ == y) > 0.97
    assert np.mean(trees.transduction_ == y) < 0.8
    assert ranker.weights_[0] > 0.95
    assert np.sum(ranker.score_ranking_[:20] <= 20) >= 19
    assert np.sum(trees.ranking_[:20] <= 20) < 10


def test_weights_of_rankers_without_soft_labels_are_equal(data):
    rankers = [("s", SSFI(n_members=20)), ("f", FisherScore()), ("c", C4())]
    assert_allclose(Consensus(rankers=rankers).fit(data.X, data.y).weights_, np.full(3, 1 / 3))
    rankers[0] = "t", TransductiveScore()
    ranker = Consensus(rankers=rankers).fit(data.X, data.y)
    stable = min(ranker.rankers_[0][1].stability_, 0.98)
    odds = stable / (1 - stable)
    assert_allclose(ranker.weights_, np.array([odds, 1, 1]) / (odds + 2))


def test_near_copies_come_last_among_measurements(data):
    X = with_copies(data)
    ranker = Consensus(random_state=0).fit(X, data.y)
    for j in range(2):
        better, copy = sorted([j, j + 8], key=lambda column: -ranker.scores_[column])
        assert ranker.representative_[copy] == better
        assert ranker.ranking_[copy] > 8
    alone = Consensus(redundancy_threshold=None, random_state=0).fit(X, data.y)
    assert_array_equal(alone.scores_, ranker.scores_)
    assert not hasattr(alone, "representative_")
    assert_array_equal(np.argsort(alone.ranking_)[:-1], np.argsort(-alone.scores_)[:-1])


def test_rankers_and_weights_of_ones_own(data):
    rankers = [("f", FisherScore()), ("v", VarianceScore())]
    both = Consensus(rankers=rankers).fit(data.X, data.y)
    separate = [(FisherScore(), 1), (VarianceScore(), 1)]
    assert_allclose(both.scores_, consensus(data.X, data.y, separate))
    assert_allclose(both.weights_, [0.5, 0.5])
    assert not hasattr(rankers[0][1], "scores_")  # clones are fitted
    assert not hasattr(both, "transduction_")
    one = Consensus(rankers=rankers, ranker_weights=[3, 0]).fit(data.X, data.y)
    assert_array_equal(one.ranking_, FisherScore().fit(data.X, data.y).ranking_)


def test_labels_of_rows_are_those_of_the_first_ranker_with_labels(data):
    ranker = Consensus(random_state=2).fit(data.X, data.y)
    alone = TransductiveScore(random_state=2).fit(data.X, data.y)
    assert_array_equal(ranker.transduction_, alone.transduction_)
    assert_array_equal(ranker.confidence_, alone.confidence_)
    ranker.set_params(rankers=[("f", FisherScore()), ("s", SSFI())]).fit(data.X, data.y)
    trees = SSFI(random_state=2).fit(data.X, data.y)
    assert_array_equal(ranker.transduction_, trees.transduction_)
    ranker.set_params(rankers=[("f", FisherScore())]).fit(data.X, data.y)
    assert not hasattr(ranker, "transduction_")


def test_rankers_share_one_graph(data):
    training = TrainingData.build(data.X, data.y)
    Consensus(rankers=[("l", LaplacianScore()), ("c", C4())])._score(training)
    assert len(training._graphs) == 1


def test_at_most_so_many_unlabelled_rows():
    data = make_data(n_rows=120)
    rankers = [("ssfi", SSFI()), ("c4", C4())]
    few = Consensus(rankers=rankers, max_unlabelled=20, random_state=0).fit(data.X, data.y)
    many = Consensus(rankers=rankers, max_unlabelled=None, random_state=0).fit(data.X, data.y)
    parts = dict(few.rankers_), dict(many.rankers_)
    assert_array_equal(parts[0]["ssfi"].scores_, parts[1]["ssfi"].scores_)
    assert (parts[0]["c4"].scores_ != parts[1]["c4"].scores_).any()
    assert len(few.transduction_) == 120


def test_smaller_committees_for_repetitions(data):
    ranker = Consensus(n_members=200).fit(data.X, data.y)
    fast = ranker._lighter(8)
    assert [name for name, _ in fast.rankers] == ["transductive", "ssfi"]
    assert dict(fast.rankers)["ssfi"].n_members == 20
    assert dict(ranker.rankers_)["ssfi"].n_members == 200
    assert fast.ranker_weights is None  # trust is for each fit to decide


def test_assessment_tells_labels_from_noise():
    data = make_data(n_rows=80, n_features=20, per_class=10)
    settings = {"n_resamples": 4, "n_permutations": 39, "fast": True}
    sure = Consensus(random_state=0).fit(data.X, data.y).assess(data.X, data.y, **settings)
    assert sure.p_value <= 0.05
    assert set(np.flatnonzero(sure.decisions == "significant")) <= {0, 1}
    assert (sure.decisions == "significant").any()
    noise = np.random.default_rng(0).normal(size=data.X.shape)
    sure = Consensus(random_state=0).fit(noise, data.y).assess(noise, data.y, **settings)
    assert sure.p_value > 0.05
    assert not (sure.decisions == "significant").any()


def test_rankers_without_comparable_scores_have_no_test(data):
    ranker = Consensus(rankers=[("s", SequentialForward(n_features_to_select=2))])
    sure = ranker.fit(data.X, data.y).assess(data.X, data.y, n_resamples=2, n_permutations=3)
    assert np.isnan(sure.p_value)
    assert sure.decisions is None


@needs_callbacks
def test_steps_of_all_rankers_are_heard_of(data):
    recorder = Recorder()
    ranker = Consensus().set_callbacks(recorder).fit(data.X, data.y)
    assert recorder.begun.count("ranker") == 2
    assert recorder.begun.count("round") > 1
    assert len(recorder.begun) == 1 + ranker._n_tasks(TrainingData.build(data.X, data.y))
    pickle.dumps(ranker.set_callbacks())


@needs_callbacks
def test_a_callback_can_end_the_fit_early(data):
    ranker = Consensus().set_callbacks(Recorder(stop=True)).fit(data.X, data.y)
    assert [name for name, _ in ranker.rankers_] == ["transductive"]
    assert_allclose(ranker.weights_, [1.0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rankers": []}, "pairs of a name and a ranker: got an empty list"),
        ({"rankers": [FisherScore()]}, "pairs of a name and a ranker: got FisherScore"),
        ({"rankers": [("a", "fisher")]}, r"a ranker: got \('a', 'fisher'\)"),
        (
            {"rankers": [("a", FisherScore()), ("a", LaplacianScore())]},
            r"each with a name of its own: got \['a', 'a'\]",
        ),
        ({"ranker_weights": [1, 2, 3]}, r"ranker_weights must hold 2 numbers, .*: got \[1, 2, 3\]"),
        ({"ranker_weights": [1, -1]}, "none of them negative"),
        ({"ranker_weights": [0, 0]}, "not all 0"),
        ({"redundancy_threshold": "much"}, "redundancy_threshold"),
    ],
)
def test_bad_parameters(params, message, data):
    with pytest.raises((ValueError, TypeError), match=message):
        Consensus(**params).fit(data.X, data.y)


def test_columns_of_categories_do_not_make_measurements_counts(data):
    categories = np.eye(20)[np.arange(60) % 20]
    assert kind(np.hstack([np.abs(data.X[:, :3]), categories])) == "measurements"
    assert kind(categories) == "counts"


def test_rankers_are_checked_and_may_be_consensuses(data):
    with pytest.raises(ValueError, match="The 'n_members' parameter of SSFI"):
        Consensus(rankers=[("a", SSFI(n_members=-3))]).fit(data.X, data.y)
    inner = Consensus(rankers=[("f", FisherScore()), ("v", VarianceScore())])
    ranker = Consensus(rankers=[("c", inner), ("l", LaplacianScore())]).fit(data.X, data.y)
    sure = ranker.assess(data.X, data.y, n_resamples=2, n_permutations=5)
    assert sure.p_values.shape == (8,)
