"""FW-SemiFS against its figure written as loops, and its properties."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import FWSemiFS, MixedNB, SequentialForward
from semisift.wrapper import fw_semifs
from semisift.wrapper._candidate_scorers import WrappedLearner
from semisift.wrapper.fw_semifs import DRAW_STREAM, draw_weighted, most_frequent
from tests.conftest import make_data, needs_callbacks
from tests.nightly import few_daily
from tests.reference.wrappers import PlainTree, sffs
from tests.reference.wrappers import fw_semifs as slow
from tests.searches import SlowNB, SlowNeighbours, Stop, chance


def make_partly(n_rows=24, n_features=7, per_class=4, few_values=False, seed=0):
    """Return few rows with few labels; with few values there are many ties."""
    data = make_data(n_rows, n_features, per_class=per_class, seed=seed)
    X = np.round(data.X) if few_values else data.X
    return X, data.y


def draws(codes, n_samplings=2, rate=0.5, seed=0):
    """Return for a number of picks the unlabelled rows of each sample, as FWSemiFS draws them."""
    unlabelled = np.flatnonzero(codes < 0)
    n_drawn = round(rate * len(unlabelled))

    def draw(number):
        rng = np.random.default_rng([seed, DRAW_STREAM, number])
        weights = np.ones(len(unlabelled))
        return [unlabelled[draw_weighted(rng, weights, n_drawn)] for _ in range(n_samplings)]

    return draw


SMALL = {"n_start": 2, "n_step": 3, "n_samplings": 2}


@pytest.mark.parametrize("few_values", [False, True])
@pytest.mark.parametrize(
    ("fast", "plain"),
    few_daily(
        [
            (GaussianNB(), SlowNB()),
            (SlowNB(), SlowNB()),
            (KNeighborsClassifier(3), SlowNeighbours(3)),
        ],
        1,
    ),
    ids=["bayes", "any estimator", "neighbours"],
)
def test_as_the_figure(fast, plain, few_values):
    X, y = make_partly(few_values=few_values)
    ranker = FWSemiFS(n_features_to_select=4, estimator=fast, **SMALL).fit(X, y)
    expected = slow(X, y, plain, 4, chance(7), draws(y), n_start=2, n_step=3)
    assert ranker.picked_.tolist() == expected


def test_trees_as_the_figure(monkeypatch):
    """With a tree that decides between equal splits as the kernels do, also where it predicts."""
    X, y = make_partly()
    expected = slow(X, y, PlainTree(), 4, chance(7), draws(y), n_start=2, n_step=3)
    monkeypatch.setattr(
        WrappedLearner, "fit", lambda self, X, codes, columns: PlainTree().fit(X, codes)
    )
    tree = DecisionTreeClassifier()
    ranker = FWSemiFS(n_features_to_select=4, estimator=tree, **SMALL).fit(X, y)
    assert ranker.picked_.tolist() == expected


@pytest.mark.parametrize("estimator", [None, KNeighborsClassifier(), DecisionTreeClassifier()])
def test_the_first_columns_are_those_of_the_labelled_rows(estimator):
    X, y = make_partly(n_rows=60)
    ranker = FWSemiFS(n_features_to_select=6, estimator=estimator).fit(X, y)
    labelled = SequentialForward(n_features_to_select=6, estimator=estimator).fit(X, y)
    assert_array_equal(ranker.picked_[:5], labelled.picked_[:5])
    order = np.argsort(ranker.ranking_)
    assert_array_equal(order[:6], ranker.picked_)


@pytest.mark.parametrize("n_wanted", [1, 3, 7])
def test_exactly_as_many_as_wanted(n_wanted):
    X, y = make_partly()
    ranker = FWSemiFS(n_features_to_select=n_wanted, n_samplings=2).fit(X, y)
    assert len(set(ranker.picked_.tolist())) == len(ranker.picked_) == n_wanted


def test_a_constant_column_is_never_picked():
    X, y = make_partly()
    X[:, 3] = 1.5
    ranker = FWSemiFS(n_features_to_select=7, n_samplings=2).fit(X, y)
    assert_array_equal(np.sort(ranker.picked_), [0, 1, 2, 4, 5, 6])


def test_at_most_ten_are_picked_unasked():
    X, y = make_partly(n_features=40)
    assert len(FWSemiFS(n_samplings=1, n_step=1).fit(X, y).picked_) == 10


def test_seeds():
    X, y = make_partly(n_rows=60, n_features=20, seed=3)

    def picks(seed):
        ranker = FWSemiFS(n_features_to_select=10, n_samplings=2, random_state=seed)
        return tuple(ranker.fit(X, y).picked_)

    assert picks(1) == picks(1)
    assert len({picks(seed) for seed in range(5)}) > 1


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_without_unlabelled_rows_it_is_forward_search():
    data = make_data()
    ranker = FWSemiFS(n_features_to_select=8).fit(data.X, data.y_true)
    labelled = SequentialForward(n_features_to_select=8).fit(data.X, data.y_true)
    assert_array_equal(ranker.scores_, labelled.scores_)


@pytest.mark.parametrize("n_step", [2, 6])
def test_a_rate_of_0_leaves_the_labelled_rows(n_step):
    """Then every group is the first columns of SFFS on L, and those of them not picked follow."""
    X, y = make_partly()
    labelled = SequentialForward(n_features_to_select=7).fit(X, y).picked_
    ranker = FWSemiFS(n_features_to_select=6, n_start=2, n_step=n_step, sampling_rate=0)
    picked = ranker.fit(X, y).picked_
    n_same = max(2, n_step)
    assert_array_equal(picked[:n_same], labelled[:n_same])
    assert len(set(picked)) == 6  # beyond them the groups hold nothing new, and the stall rule adds


def test_where_all_groups_are_picked_all_rows_decide():
    """One step on L and all of U as predicted, from the picks."""
    X, y = make_partly()
    picked = (
        FWSemiFS(n_features_to_select=3, n_start=2, n_step=2, sampling_rate=0).fit(X, y).picked_
    )
    first = picked[:2]
    filled = y.copy()
    filled[y < 0] = GaussianNB().fit(X[y >= 0][:, first], y[y >= 0]).predict(X[y < 0][:, first])
    assert picked.tolist() == sffs(X, filled, SlowNB(), 3, chance(7), picks=first.tolist())


def test_a_single_predicted_class_twice_takes_a_supervised_step(monkeypatch):
    X, y = make_partly(n_features=8)
    predictions = []

    def predict(problem, learner, picks, train):
        predictions.append(len(picks))
        n_unlabelled = len(problem.labels.unlabelled)
        return np.zeros(n_unlabelled, dtype=int), np.ones(n_unlabelled)

    monkeypatch.setattr(fw_semifs, "predict", predict)
    ranker = FWSemiFS(n_features_to_select=5, n_start=2, n_samplings=1).fit(X, y)
    labelled = np.flatnonzero(y >= 0)
    for n in (3, 4):  # the first time, with two picks, samples are drawn all the same
        begun = ranker.picked_[:n].tolist()
        expected = sffs(X[labelled], y[labelled], SlowNB(), n + 1, chance(8), picks=begun)
        assert ranker.picked_[: n + 1].tolist() == expected
    assert predictions == [2, 3, 2, 4, 3]


def test_most_frequent():
    groups = np.array([[1, 2, 3], [1, 2, 4], [2, 4, 5]])
    none, order = np.zeros(6), np.arange(6)
    assert most_frequent(groups, [], none, order) == 2
    # 1 and 4 are in two groups: 1 at the places 0 and 0, 4 at 2 and 1
    assert most_frequent(groups, [2], none, order) == 1
    assert most_frequent(groups, [1, 2], none, order) == 4
    # 3 and 5 are in one group each, both last
    assert most_frequent(groups, [1, 2, 4], none, order) == 3
    assert most_frequent(groups, [1, 2, 4], none, order[::-1]) == 5
    assert most_frequent(groups, [1, 2, 4], np.array([0, 0, 0, 0.1, 0, 0.2]), order) == 5
    assert most_frequent(groups, [1, 2, 3, 4, 5], none, order) is None


def test_weighted_draws():
    rng = np.random.default_rng(0)
    weights = np.array([3.0, 1.0, 0.0, 0.0])
    first = [draw_weighted(rng, weights, 1)[0] for _ in range(4000)]
    assert np.bincount(first, minlength=4)[:2] / 4000 == pytest.approx([0.75, 0.25], abs=0.03)
    assert 2 not in first
    third = [np.setdiff1d(draw_weighted(rng, weights, 3), [0, 1])[0] for _ in range(1000)]
    assert np.mean(np.array(third) == 2) == pytest.approx(0.5, abs=0.06)
    assert_array_equal(draw_weighted(rng, weights, 4), np.arange(4))
    assert len(draw_weighted(rng, weights, 0)) == 0


def test_confident_rows_are_preferred(monkeypatch):
    X, y = make_partly(n_rows=60)
    drawn = []

    def draw(rng, weights, size):
        drawn.append(weights)
        return draw_weighted(rng, weights, size)

    monkeypatch.setattr(fw_semifs, "draw_weighted", draw)
    ranker = FWSemiFS(n_features_to_select=3, n_start=2, n_samplings=1, sampling="confidence")
    picked = ranker.fit(X, y).picked_
    model = GaussianNB().fit(X[y >= 0][:, picked[:2]], y[y >= 0])
    probability = model.predict_proba(X[y < 0][:, picked[:2]]).max(axis=1)
    np.testing.assert_allclose(drawn[0], probability - 0.5)


def test_confidence_needs_probabilities():
    X, y = make_partly()
    ranker = FWSemiFS(estimator=RidgeClassifier(), sampling="confidence")
    with pytest.raises(ValueError, match=r"needs an estimator with predict_proba: got Ridge"):
        ranker.fit(X, y)


def test_categorical_columns():
    X, y = make_partly(few_values=True)
    mask = np.arange(7) % 2 == 0
    ranker = FWSemiFS(n_features_to_select=7, estimator=MixedNB(categorical=mask), n_samplings=2)
    assert len(ranker.fit(X, y).picked_) == 7


@needs_callbacks
@pytest.mark.parametrize("after", [1, 4, 6])
def test_interrupted_and_resumed(after):
    X, y = make_partly(n_rows=40, n_features=9)
    full = FWSemiFS(n_features_to_select=8, **SMALL).fit(X, y)
    ranker = FWSemiFS(n_features_to_select=8, **SMALL).set_callbacks(Stop(after, True))
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, y)
    assert_array_equal(ranker.picked_, full.picked_[:after])
    assert_array_equal(ranker.ranking_[ranker.picked_], np.arange(1, after + 1))
    ranker.set_params(warm_start=True).set_callbacks().fit(X, y)
    assert_array_equal(ranker.scores_, full.scores_)
