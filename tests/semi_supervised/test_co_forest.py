import pickle

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from semisift import (
    CoBC,
    CoForest,
    CompiledKernelsMissingWarning,
    NoUnlabelledDataWarning,
    SemiSupervisedForest,
    TriTraining,
    _kernels,
    parallel,
)
from semisift.base._training_data import TrainingData
from semisift.committee._blocks import Bags
from semisift.committee._members import TreePredictors, build_context
from semisift.parallel import Committee
from semisift.semi_supervised._team import Team
from semisift.semi_supervised.co_forest import count_draws, keep_sure, measure_errors
from semisift.utils._agreement import entropy_diversity
from tests.conftest import make_data, needs_kernels
from tests.cotrained import (
    assert_same_model,
    first_rounds,
    noisy_data,
    probabilities,
    slow_committee,
)
from tests.reference.committees_cotraining import co_forest


@needs_kernels
@pytest.mark.parametrize(
    ("seed", "n_classes", "min_confidence", "voting"),
    [(0, 2, 0.75, "soft"), (1, 2, 0.6, "hard"), (2, 3, 0.5, "hard"), (3, 3, 0.6, "soft")],
)
def test_equals_the_slow_reference(seed, n_classes, min_confidence, voting):
    data = noisy_data(n_classes=n_classes, seed=seed)
    slow = slow_committee(data, seed, 12, 2, at_nodes=True, soft=voting == "soft")
    n_iter, errors, first = co_forest(slow, min_confidence)
    assert first, "the example must hand out rows"
    model = CoForest(
        n_members=12,
        max_features=2,
        min_confidence=min_confidence,
        voting=voting,
        random_state=seed,
    ).fit(data.X, data.y)
    assert model.n_iter_ == n_iter
    assert_array_equal(model.errors_, errors)
    assert_array_equal(model.labeled_iter_, first_rounds(first, data.y))
    assert_array_equal(model.predict_proba(data.X), probabilities(slow.total()))


def test_how_many_rows_are_drawn():
    def draw(e, previous, size, n_unlabelled):
        arrays = (np.array([value]) for value in (e, previous, size))
        return count_draws(*arrays, n_unlabelled)[0]

    assert draw(0.2, 0.5, 10.0, 100) == 24
    assert draw(0.0, 0.5, 10.0, 100) == 100  # no error: all of them
    assert draw(0.01, 0.5, 10.0, 100) == 100
    assert draw(0.1, 0.3, 10.0, 100) == 29  # 0.3 * 10 / 0.1 is not exactly 30
    assert draw(0.4, 0.5, 0.1, 100) == 0


def make_team(data, **params):
    training = TrainingData.build(data.X, data.y, seed=0)
    setting = build_context(training, 2, draws_at_nodes=True, **params)
    return Team(Committee(12, 1), setting, training, probability=True)


def test_no_sure_labelled_row_counts_as_chance():
    team = make_team(noisy_data())
    assert_array_equal(measure_errors(team, 1.0), np.full(12, 0.5))


def test_errors_of_a_worked_example():
    team = make_team(make_data(n_rows=6, per_class=1))  # rows 0 (class 0) and 1 are labelled
    team.own = np.zeros((3, 6, 2), dtype=np.int32)
    team.own[0, :2] = [[4, 0], [4, 0]]
    team.own[1, :2] = [[0, 4], [0, 4]]
    team.own[2, :2] = [[3, 1], [1, 3]]
    team.out_of_bag = np.array([[True, False], [False, True], [True, True]])
    # row 0 is judged by members 0 and 2, row 1 by 1 and 2
    # without 0: row 0 (3, 1) is at .75, not above; row 1 (1, 7) is sure and right
    # without 1: row 0 (7, 1) sure and right; row 1 (1, 3) not sure
    # without 2: row 0 (4, 0) and row 1 (0, 4) both sure and right
    assert_array_equal(measure_errors(team, 0.75), [0, 0, 0])
    # at .5 with the labels swapped everything that is sure is wrong
    team.labels.codes[:2] = [1, 0]
    assert_array_equal(measure_errors(team, 0.5), [1, 1, 1])


def test_every_kept_label_is_that_of_the_concomitant_majority():
    team = make_team(noisy_data(seed=3))
    most = np.full(12, 20)
    most[4] = 0
    rows, labels, weights = keep_sure(team, most, 0.6, 1)
    assert (rows[4] == -1).all()
    assert 0 < (rows >= 0).sum(axis=1).max() <= 20
    for i, slot in zip(*np.nonzero(rows >= 0), strict=True):
        votes = team.own[np.arange(12) != i, rows[i, slot]].sum(axis=0)
        assert labels[i, slot] == votes.argmax()
        assert weights[i, slot] == votes.max() / votes.sum() > 0.6


def test_running_votes_are_the_votes():
    data = noisy_data(seed=1)
    model = CoForest(n_members=12, min_confidence=0.6, random_state=1).fit(data.X, data.y)
    X = np.asfortranarray(data.X)
    each = model._members.vote_each(X, True)
    assert_array_equal(model._members.vote(X, True), each.sum(axis=0))
    assert_array_equal(each.argmax(axis=2), model.member_predictions(X))


@needs_kernels
def test_without_unlabelled_rows_it_is_a_random_forest():
    data = noisy_data()
    with pytest.warns(NoUnlabelledDataWarning):
        model = CoForest(n_members=12, max_features=2, random_state=0).fit(data.X, data.y_true)
    slow = slow_committee(data._replace(y=data.y_true), 0, 12, 2, at_nodes=True)
    assert_array_equal(model.predict_proba(data.X), probabilities(slow.total()))
    assert model.n_iter_ == 1
    assert (model.labeled_iter_ == 0).all()


def test_a_threshold_of_1_changes_nothing():
    data = noisy_data(seed=1)
    model = CoForest(n_members=12, min_confidence=1.0).fit(data.X, data.y)
    assert model.n_iter_ == 1
    assert model.termination_condition_ == "no_change"
    assert_array_equal(model.transduction_, data.y)
    assert (model.errors_ == 0.5).all()


def test_labelled_rows_keep_their_labels():
    data = noisy_data(seed=1)
    model = CoForest(n_members=12, min_confidence=0.6, random_state=1).fit(data.X, data.y)
    labelled = data.y != -1
    assert_array_equal(model.transduction_[labelled], data.y[labelled])
    assert_array_equal(model.labeled_iter_ == 0, labelled)
    assert_array_equal(model.transduction_ == -1, model.labeled_iter_ == -1)
    assert (model.labeled_iter_ > 0).any()


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_same_for_any_number_of_threads_and_blocks(monkeypatch, estimator):
    data = noisy_data(seed=1)
    params = {"n_members": 12, "min_confidence": 0.6, "random_state": 1, "estimator": estimator}
    model = CoForest(**params).fit(data.X, data.y)
    assert (model.labeled_iter_ > 0).any()
    for n_jobs in (2, 3):
        assert_same_model(CoForest(**params, n_jobs=n_jobs).fit(data.X, data.y), model, data.X)
    monkeypatch.setattr(parallel, "BLOCK_SIZE", 1)
    assert_same_model(CoForest(**params).fit(data.X, data.y), model, data.X)


def test_same_in_other_processes():
    data = noisy_data(seed=1)
    params = {"n_members": 12, "min_confidence": 0.6, "random_state": 1, "n_jobs": 2}
    model = CoForest(**params).fit(data.X, data.y)
    with joblib.parallel_config(backend="loky"):
        assert_same_model(CoForest(**params).fit(data.X, data.y), model, data.X)


@pytest.mark.parametrize("estimator", [None, BernoulliNB()])
def test_sparse_x_gives_the_same(estimator):
    data = noisy_data(seed=1)
    X = np.where(np.abs(data.X) < 0.7, 0.0, data.X)
    params = {"n_members": 12, "min_confidence": 0.6, "random_state": 1, "estimator": estimator}
    model = CoForest(**params).fit(X, data.y)
    assert_same_model(CoForest(**params).fit(csr_array(X), data.y), model, csr_array(X))
    assert_array_equal(model.predict_proba(X), model.predict_proba(csr_array(X)))


def test_pickle():
    data = noisy_data(seed=1)
    model = CoForest(n_members=12, min_confidence=0.6, random_state=1).fit(data.X, data.y)
    assert_same_model(pickle.loads(pickle.dumps(model)), model, data.X)


def test_string_labels():
    data = noisy_data(seed=1)
    names = np.array(["no", "yes"], dtype=object)
    y = np.where(data.y < 0, None, names[data.y])
    model = CoForest(n_members=12, min_confidence=0.6, random_state=1).fit(data.X, data.y)
    named = CoForest(n_members=12, min_confidence=0.6, random_state=1).fit(data.X, y)
    assert_array_equal(named.predict(data.X), names[model.predict(data.X)])
    assert_array_equal(named.transduction_ == None, model.transduction_ == -1)  # noqa: E711


def test_weights_reach_an_estimator_that_takes_them():
    class Recorder(GaussianNB):
        seen = []

        def fit(self, X, y, sample_weight=None):
            Recorder.seen.append(sample_weight)
            return super().fit(X, y, sample_weight)

    data = noisy_data(seed=1)
    model = CoForest(n_members=4, min_confidence=0.6, estimator=Recorder(), random_state=1)
    model.fit(data.X, data.y)
    weighted = [weights for weights in Recorder.seen if weights is not None]
    assert weighted
    n_labelled = (data.y >= 0).sum()
    for weights in weighted:
        assert (weights[:n_labelled] == 1).all()
        assert ((weights[n_labelled:] > 0.6) & (weights[n_labelled:] <= 1)).all()


@needs_kernels
def test_rows_that_hardly_count_reach_trees_with_the_least_weight(monkeypatch):
    data, seen, grow = noisy_data(), [], _kernels.grow.grow

    def watched(*args, pick_weights, **options):
        seen.append(pick_weights)
        return grow(*args, pick_weights=pick_weights, **options)

    monkeypatch.setattr(_kernels.grow, "grow", watched)
    setting = build_context(TrainingData.build(data.X, data.y), 2, draws_at_nodes=True)
    counts = np.ones((1, (data.y >= 0).sum()), dtype=np.int32)
    rows, labels = np.array([[40, 41, 42]], dtype=np.int32), np.zeros((1, 3), dtype=np.int32)
    TreePredictors.fit(setting, 0, Bags(counts, rows, labels, np.array([[1.0, 0.25, 1e-9]])))
    assert_array_equal(seen[0], [[256, 64, 1]])


def test_missing_kernels_warn(without_kernels):
    data = noisy_data(seed=1)
    with pytest.warns(CompiledKernelsMissingWarning):
        model = CoForest(n_members=12, min_confidence=0.6, random_state=1).fit(data.X, data.y)
    assert model.score(data.X, data.y_true) > 0.6


def test_member_predictions_give_accuracies_and_diversity():
    data = noisy_data()
    model = CoForest(n_members=12, random_state=0).fit(data.X, data.y)
    correct = model.member_predictions(data.X) == data.y_true
    assert correct.shape == (12, 60)
    assert 0.5 < correct.mean() < model.score(data.X, data.y_true)
    assert 0 < entropy_diversity(correct) < 1


def test_more_accurate_than_a_forest_on_the_labelled_rows():
    gains = []
    for seed in range(10):
        data = make_data(n_rows=200, n_features=10, per_class=8, seed=seed)
        labelled = data.y >= 0
        forest = RandomForestClassifier(random_state=seed).fit(data.X[labelled], data.y[labelled])
        model = CoForest(random_state=seed).fit(data.X, data.y)
        gains.append(model.score(data.X, data.y_true) - forest.score(data.X, data.y_true))
    assert np.mean(gains) > 0


def test_refused_parameters():
    data = noisy_data()
    for name, value in {"n_members": 1, "min_confidence": 1.1, "max_iter": 0}.items():
        with pytest.raises(ValueError, match=name):
            CoForest(**{name: value}).fit(data.X, data.y)


@pytest.mark.parametrize(
    "model",
    [CoForest(n_members=12), CoBC(), TriTraining(), SemiSupervisedForest(n_members=12)],
    ids=lambda model: type(model).__name__,
)
def test_diagnosis_of_committees(model):
    data = noisy_data()
    model.fit(data.X, data.y)
    begin, end = model.evaluate_committee(data.X, data.y_true)
    right = model.member_predictions(data.X) == data.y_true
    assert end.accuracy == model.score(data.X, data.y_true)
    assert end.member_accuracy == right.mean()
    assert end.diversity == entropy_diversity(right)
    assert 0 < begin.member_accuracy <= begin.accuracy <= 1


def test_diagnosis_begins_with_the_forest_of_the_labelled_rows():
    data = noisy_data()
    model = CoForest(n_members=12).fit(data.X, data.y)
    forest = CoForest(n_members=12, min_confidence=1.0).fit(data.X, data.y)
    assert model.n_iter_ > 1
    assert (
        model.evaluate_committee(data.X, data.y_true).begin
        == forest.evaluate_committee(data.X, data.y_true).end
    )


@pytest.mark.parametrize("cls", [CoForest, CoBC, TriTraining, SemiSupervisedForest])
def test_rows_of_a_group_are_drawn_together(cls, data, monkeypatch):
    teams = []
    keep = cls._keep
    monkeypatch.setattr(cls, "_keep", lambda self, team: (teams.append(team), keep(self, team)))
    groups = np.arange(len(data.y)) // 4
    model = cls(random_state=0).fit(data.X, data.y, groups=groups)
    counts = teams[0].first_bags.counts
    labelled = groups[np.flatnonzero(data.y >= 0)]
    for group in np.unique(labelled):
        own = counts[:, labelled == group]
        assert (own == own[:, :1]).all()
    assert counts.max() > 1
    plain = cls(random_state=0).fit(data.X, data.y)
    assert not np.array_equal(plain.predict_proba(data.X), model.predict_proba(data.X))
