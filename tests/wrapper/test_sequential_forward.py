"""Forward search around a classifier: what is chosen, from what, and how it is resumed."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from semisift import METHODS, FallbackWarning, MixedNB, SequentialForward
from semisift.cli import main
from semisift.wrapper._batch_scorers import choose_scorer
from semisift.wrapper._candidate_scorers import EstimatorScorer, WrappedLearner, sure_of
from semisift.wrapper._trials import default_splits
from tests.conftest import make_data, needs_callbacks
from tests.nightly import few_daily
from tests.reference.wrappers import sffs, splits_of, trial
from tests.searches import (
    PAIRS,
    P,
    SlowNB,
    SlowNeighbours,
    Stop,
    chance,
    fit,
    make_case,
    make_trials,
)

pytestmark = pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")

each_learner = pytest.mark.parametrize(
    "estimator", [fast for fast, _ in PAIRS.values()], ids=PAIRS.keys()
)


@pytest.mark.parametrize("kind", ["normal", "few values"])
@pytest.mark.parametrize(("n_classes", "n_rows"), [(2, 8), (3, 22)])
@pytest.mark.parametrize(
    "estimator", few_daily([SlowNB(), SlowNeighbours(3)], 1), ids=["bayes", "neighbours"]
)
def test_as_the_reference(kind, n_classes, n_rows, estimator):
    X, y = make_case(kind, n_classes, n_rows)
    expected = sffs(X, y, estimator, 4, chance(P))
    assert fit(estimator, X, y).picked_.tolist() == expected


def test_by_hand():
    """Four rows are left out one by one, and the nearest of the others gives its class.

    Column 0 puts each row next to one of its class: 4 of 4 are right. In column 1 the nearest of
    each row is of the other class: none is right. In column 2 row 2 alone is nearer to row 1, at
    1.2, than to row 3, at 1.8: 3 of 4 are right.
    """
    X = np.array([[0, 0, 0], [1, 5, 1], [10, 1, 2.2], [11, 6, 4.0]])
    for estimator in (KNeighborsClassifier(1), SlowNeighbours(1)):
        scorer = choose_scorer(WrappedLearner(estimator, 3, 0), make_trials(X, [0, 0, 1, 1]))
        verdict = scorer.score(np.empty((1, 0), dtype=int), np.arange(3), sure=True)
        assert_array_equal(verdict.accuracy, [[1.0, 0.0, 0.75]])
        assert_allclose(verdict.confidence, np.log(1e-12) * np.array([[0.0, 1.0, 0.25]]))
        ranker = fit(estimator, X, [0, 0, 1, 1], n_features_to_select=1)
        assert_array_equal(ranker.picked_, [0])
        assert_array_equal(ranker.scores_, [3, 1, 2])
        assert_array_equal(ranker.accuracies_, [1.0])


def test_confidence_decides_between_equal_accuracies():
    y = np.arange(6) // 3
    near = np.array([0.0, 1, 2, 3.5, 4.5, 5.5])
    X = np.column_stack([near, near + y])
    for estimator in (GaussianNB(), SlowNB()):
        assert fit(estimator, X, y, n_features_to_select=1).picked_ == [1]
        by_index = fit(estimator, X, y, n_features_to_select=1, tie_break="index")
        assert by_index.picked_ == [0]
        assert by_index.accuracies_ == [1.0]


def test_information_decides_between_equal_confidences():
    """Both columns put each row next to its like; in bins the first one mixes the classes."""
    y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    twice = np.repeat([0.0, 10, 20, 30], 2) + [0, 0.1] * 4
    mixed = np.repeat([0.0, 1, 2, 30], 2) + [0, 0.1] * 4
    X = np.column_stack([mixed, twice])
    assert fit(KNeighborsClassifier(1), X, y, n_features_to_select=1).picked_ == [1]


def test_chance_decides_between_copies():
    X, y = make_case("normal", 2, 12)
    X[:] = X[:, [1]]
    first = {fit(None, X, y, random_state=seed).picked_[0] for seed in range(10)}
    assert len(first) > 3


@each_learner
@pytest.mark.parametrize("kind", few_daily(["normal", "few values"], 1))
def test_a_copy_of_the_labels_is_first(estimator, kind):
    X, y = make_case(kind, 2, 24)
    X[:, 6] = y
    assert fit(estimator, X, y).picked_[0] == 6


@each_learner
def test_the_order_is_nested_and_complete(estimator):
    X, y = make_case("normal", 3, 20)
    full = fit(estimator, X, y, n_features_to_select=P)
    assert_array_equal(np.sort(full.picked_), np.arange(P))
    assert_array_equal(full.scores_[full.picked_], np.arange(P, 0, -1))
    for n in (1, 5):
        assert_array_equal(fit(estimator, X, y, n_features_to_select=n).picked_, full.picked_[:n])


def test_others_follow_as_the_first_step_judged_them():
    X, y = make_case("normal", 2, 24)
    ranker = fit(SlowNB(), X, y, n_features_to_select=2)
    judged = [trial(X, y, [j], SlowNB(), splits_of(y)) for j in range(P)]
    rest = np.setdiff1d(np.arange(P), [*ranker.picked_, 4])  # 4 is a copy of 1
    order = sorted(rest, key=lambda j: tuple(np.round(judged[j], 8)))
    assert (np.diff(ranker.scores_[order]) > 0).all()
    assert ranker.scores_[rest].max() < ranker.scores_[ranker.picked_].min()


def test_unlabelled_rows_play_no_part():
    X, y = make_case("normal", 2, 24)
    more = np.random.default_rng(0).normal(size=(30, P)) * 100
    partly = fit(None, np.vstack([more, X]), np.concatenate([np.full(30, -1), y]))
    assert_array_equal(partly.picked_, fit(None, X, y).picked_)


def test_at_most_100_are_picked_unasked():
    rng = np.random.default_rng(0)
    ranker = SequentialForward().fit(rng.normal(size=(6, 230)), [0, 1] * 3)
    assert len(ranker.picked_) == 100
    assert ranker.get_support().sum() == 115


def test_early_stop():
    X, y = make_case("normal", 2, 40)
    full = fit(None, X, y, n_features_to_select=P)
    stopped = fit(None, X, y, n_features_to_select=P, early_stop=True)
    n = len(stopped.picked_)
    assert 1 <= n < P
    assert (np.diff(stopped.accuracies_) > 0).all()
    assert full.accuracies_[n] <= full.accuracies_[n - 1]
    assert_array_equal(stopped.picked_, full.picked_[:n])
    assert_array_equal(np.flatnonzero(stopped.get_support()), np.sort(stopped.picked_))


# the splits


def test_few_rows_are_held_out_one_by_one():
    codes = np.array([0, 1, 1, 2, 0])
    splits = default_splits(codes, np.arange(5))
    assert [split.test.tolist() for split in splits] == [[0], [1], [2], [4]]
    assert all(len(split.train) == 4 for split in splits)
    assert len(default_splits(np.arange(19) % 2, np.arange(19))) == 19


def test_more_rows_are_held_out_in_stratified_folds():
    codes = np.array([0] * 20 + [1] * 9 + [2])
    rows = np.arange(30)
    splits = default_splits(codes, rows)
    assert len(splits) == 5
    assert_array_equal(np.sort(np.concatenate([split.test for split in splits])), rows[:29])
    for train, test in splits:
        assert_array_equal(np.sort(np.concatenate([train, test])), rows)
        assert (codes[test] == 0).sum() == 4
    assert len(default_splits(np.array([0] * 20 + [1] * 3 + [2]), np.arange(24))) == 3


def test_one_row_of_each_class():
    X, _ = make_case("few values", 2, 3)
    X[:, 7] = [0.0, 1.0, 2.0]
    with pytest.warns(FallbackWarning, match="single labelled row of each class"):
        ranker = fit(None, X, [0, 1, 2], n_features_to_select=1)
    relevance = make_trials(X, [0, 1, 2]).relevance(0)
    assert relevance[ranker.picked_[0]] == relevance.max()
    assert ranker.accuracies_ == [0.0]


# any estimator


@pytest.mark.parametrize("estimator", [GaussianNB(), KNeighborsClassifier(3)])
@pytest.mark.parametrize("kind", ["normal", "few values"])
def test_the_order_of_scikit_learn(estimator, kind):
    X, y = make_case(kind, 2, 30)
    X = np.delete(X, 5, axis=1)  # of which scikit-learn's folds make errors
    cv = StratifiedKFold(4)
    ranker = fit(estimator, X, y, cv=cv, tie_break="index", n_features_to_select=3)
    for n in range(1, 4):
        selector = SequentialFeatureSelector(estimator, n_features_to_select=n, cv=cv)
        with threadpool_limits(1):
            theirs = selector.fit(X, y)
        assert_array_equal(np.flatnonzero(theirs.get_support()), np.sort(ranker.picked_[:n]))


class Majority(ClassifierMixin, BaseEstimator):
    """Knows neither probabilities nor a decision function."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.winner_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.winner_)


@pytest.mark.parametrize(
    "estimator",
    [
        RidgeClassifier(class_weight="balanced"),
        Majority(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        KNeighborsClassifier(weights="distance"),
        KNeighborsClassifier(p=1),
        DecisionTreeClassifier(max_features=1),
        GaussianNB(priors=[0.5, 0.5]),
    ],
    ids=str,
)
def test_any_estimator(estimator):
    X, y = make_case("normal", 2, 24)
    trials = make_trials(X, y)
    assert isinstance(choose_scorer(WrappedLearner(estimator, P, 0), trials), EstimatorScorer)
    ranker = fit(estimator, X, y, n_features_to_select=2)
    assert_array_equal(ranker.scores_, fit(estimator, X, y, n_features_to_select=2).scores_)
    assert not hasattr(estimator, "classes_")
    best = max(trial(X, y, [j], estimator, splits_of(y))[0] for j in range(P))
    assert isinstance(estimator, DecisionTreeClassifier) or ranker.accuracies_[0] == best


def test_how_sure_a_classifier_is():
    X, y = make_case("few values", 3, 30)
    truth = np.array([0, 1, 2, 2])
    logistic = LogisticRegression().fit(X, y)
    probability = logistic.predict_proba(X[:4])
    assert_allclose(sure_of(logistic, X[:4], truth, 3), np.log(probability[np.arange(4), truth]))
    ridge = RidgeClassifier().fit(X, y)
    decision = ridge.decision_function(X[:4])
    assert_allclose(sure_of(ridge, X[:4], truth, 3)[0], decision[0, 0] - decision[0, 1:].max())
    two = RidgeClassifier().fit(X[y < 2], y[y < 2])
    decision = two.decision_function(X[:4])
    assert_allclose(
        sure_of(two, X[:4], truth, 3), [-decision[0], decision[1], 0, 0], err_msg="2 is not known"
    )
    assert sure_of(Majority().fit(X, y), X[:4], truth, 3) == 0.0


class RidgeLike(BaseEstimator):
    """Fits and predicts, but not classes."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


def test_estimator_must_be_a_valid_classifier():
    X, y = make_case("normal", 2, 12)
    with pytest.raises(ValueError, match=r"estimator must be a classifier: got RidgeLike"):
        fit(RidgeLike(), X, y)
    with pytest.raises(ValueError, match="var_smoothing"):
        fit(GaussianNB(var_smoothing=-1), X, y)
    with pytest.raises(ValueError, match="'C' parameter"):
        fit(make_pipeline(StandardScaler(), LogisticRegression(C=-1)), X, y)
    with pytest.raises(ValueError, match=r"one bool for each of the 9 columns .* shape \(2,\)"):
        fit(MixedNB(categorical=[True, False]), X, y)


# interrupted and resumed


@needs_callbacks
@pytest.mark.parametrize("interrupt", [True, False])
def test_stopped_and_resumed(interrupt):
    X, y = make_case("normal", 2, 24)
    full = fit(None, X, y, n_features_to_select=8)
    ranker = SequentialForward(n_features_to_select=8).set_callbacks(Stop(3, interrupt))
    if interrupt:
        with pytest.raises(KeyboardInterrupt):
            ranker.fit(X, y)
    else:
        ranker.fit(X, y)
    assert_array_equal(ranker.picked_, full.picked_[:3])
    assert_array_equal(ranker.ranking_[full.picked_[:3]], [1, 2, 3])
    assert_array_equal(np.sort(ranker.ranking_), np.arange(1, P + 1))
    assert ranker.transform(X).shape == (24, 8)
    counter = Stop(0, False)
    ranker.set_params(warm_start=True).set_callbacks(counter).fit(X, y)
    assert counter.picks == 5
    assert_array_equal(ranker.scores_, full.scores_)
    assert_array_equal(ranker.accuracies_, full.accuracies_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_warm_start_with_more_and_fewer_picks(form):
    X, y = make_case("few values", 2, 24)
    X = form(X)
    ranker = fit(None, X, y, n_features_to_select=3, warm_start=True)
    for n in (7, 2, 5):
        ranker.set_params(n_features_to_select=n).fit(X, y)
        assert_array_equal(ranker.scores_, fit(None, X, y, n_features_to_select=n).scores_)


@pytest.mark.parametrize("what", ["X", "y", "seed"])
def test_warm_start_needs_the_same_data(what):
    X, y = make_case("normal", 2, 24)
    ranker = fit(None, X, y, warm_start=True)
    if what == "X":
        X[3, 2] += 1
    elif what == "y":
        y[0] = 1 - y[0]
    else:
        ranker.set_params(random_state=5)
    with pytest.raises(ValueError, match="warm_start=True goes on from the picks of the last fit"):
        ranker.fit(X, y)
    ranker.set_params(warm_start=False).fit(X, y)


def test_early_stop_and_warm_start():
    X, y = make_case("normal", 2, 40)
    ranker = fit(None, X, y, n_features_to_select=P, early_stop=True)
    ranker.set_params(early_stop=False, warm_start=True).fit(X, y)
    assert_array_equal(ranker.scores_, fit(None, X, y, n_features_to_select=P).scores_)


@pytest.mark.parametrize("method", ["sffs", "fw-semifs", "en-semifs"])
def test_on_the_command_line(method, tmp_path):
    data = make_data()
    table = pd.DataFrame(data.X).add_prefix("x")
    table["class"] = np.where(data.y < 0, "", data.y.astype(str))
    table.to_csv(tmp_path / "table.csv", index=False)
    arguments = ["rank", tmp_path / "table.csv", "--label", "class", "--method", method]
    result = CliRunner().invoke(main, [*map(str, arguments), "--out", str(tmp_path / "r.csv")])
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "r.csv", comment="#")
    ranker = METHODS[method].cls(n_features_to_select=8).fit(data.X, data.y)
    assert found["feature"].tolist() == [f"x{j}" for j in np.argsort(ranker.ranking_)]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_with_scaling_units_do_not_matter(form):
    X, y = make_case("normal", 2, 30)
    span = np.ptp(X, axis=0)
    plain = fit(KNeighborsClassifier(), X / np.where(span > 0, span, 1), y)
    scaled = fit(KNeighborsClassifier(), form(X * 3.0 ** np.arange(P)), y, feature_scaling="minmax")
    assert_array_equal(scaled.picked_, plain.picked_)
    assert fit(KNeighborsClassifier(), X, y).picked_.tolist() != plain.picked_.tolist()


def test_resubstitution_judges_by_the_rows_that_were_learnt_from():
    rng = np.random.default_rng(0)
    truth = np.arange(40) % 2
    X = rng.normal(size=(40, 12))
    X[:, 3] += 2 * truth
    y = np.where(np.arange(40) < 6, truth, -1)
    learner = KNeighborsClassifier(5)
    left_out = SequentialForward(n_features_to_select=2, estimator=learner).fit(X, y)
    # of five rows all are neighbours, and the class of the row left out is in the minority
    assert_array_equal(left_out.accuracies_, [0.0, 0.0])
    again = SequentialForward(
        n_features_to_select=1, estimator=learner, cv="resubstitution", tie_break="index"
    ).fit(X, y)
    known = y >= 0
    single = [
        learner.fit(X[known][:, [j]], y[known]).score(X[known][:, [j]], y[known]) for j in range(12)
    ]
    assert again.picked_[0] == np.argmax(single)
    assert again.accuracies_[0] == max(single)


@pytest.mark.parametrize(
    "cv",
    [[1], (1,), ["ab"], [(0, 1)], [([0, 1], [2], [3])], [([0, 1], [99])], [([0, 1], [-1])],
     [([0.5], [1])], [([[0], [1, 2]], [3])], [([], [0, 1])], [([0, 1], [2]), None]],
    ids=str,
)  # fmt: skip
def test_splits_that_are_none_are_refused(cv):
    X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2
    with pytest.raises(ValueError, match=r"cv must give pairs of rows.* from 0 to 11, .*: got"):
        SequentialForward(n_features_to_select=1, cv=cv).fit(X, y)


@pytest.mark.parametrize("cv", [[], [([0, 1], [])]], ids=str)
def test_splits_without_a_row_to_judge_by_are_refused(cv):
    X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2
    with pytest.raises(ValueError, match="cv must give rows to judge by: got"):
        SequentialForward(n_features_to_select=1, cv=cv).fit(X, y)
