"""Linear models judged for all columns at once: sizes of columns, likeness, what is judged so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from semisift import FWSemiFS
from semisift.wrapper import _linear
from semisift.wrapper._candidate_scorers import EstimatorJudge, WrappedLearner
from semisift.wrapper._linear import LinearJudge
from semisift.wrapper._scorers import choose_judge
from tests.searches import TIGHT, SlowLogistic, SlowRidge, fit, make_trials

pytestmark = pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")

PAIRS = {
    "ridge": (RidgeClassifier(), SlowRidge(solver="svd")),
    "logistic": (LogisticRegression(), SlowLogistic(**TIGHT)),
}
each_pair = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
each = pytest.mark.parametrize("fast", [fast for fast, _ in PAIRS.values()], ids=PAIRS.keys())


def make_data(n_classes=2, n=40, p=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    return rng.normal(size=(n, p)) + y[:, None] * rng.normal(size=p) / 2, y


def judge_both(pair, X, y, picks):
    """Return the verdicts on each column by itself, so that no column is given up."""
    trials, p = make_trials(X, y), X.shape[1]
    picks = np.array([picks], dtype=np.int64)
    columns = np.setdiff1d(np.arange(p), picks)
    fast = choose_judge(WrappedLearner(pair[0], p, 0), trials).judge(picks, columns, sure=True)
    slow = EstimatorJudge(trials, WrappedLearner(pair[1], p, 0))
    verdicts = [slow.judge(picks, columns[[place]], sure=True) for place in range(len(columns))]
    return fast, [np.concatenate(part, axis=1) for part in zip(*verdicts, strict=True)]


def assert_same_verdicts(pair, X, y, picks):
    fast, (accuracy, confidence) = judge_both(pair, X, y, picks)
    assert_array_equal(fast.accuracy, accuracy)
    assert_allclose(fast.confidence, confidence, rtol=0, atol=1e-8)


@each_pair
@pytest.mark.parametrize("picks", [[], [0], [3, 1, 2]], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_same_verdicts(pair, picks, n_classes):
    assert_same_verdicts(pair, *make_data(n_classes), picks)


@each_pair
@pytest.mark.parametrize("picks", [[], [0, 2]], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_of_any_size(pair, picks, n_classes):
    """Sizes at which scikit-learn's solvers still find the optimum."""
    X, y = make_data(n_classes)
    assert_same_verdicts(pair, X * [1, 30, 1e-2, 10, 0.1, 3] + [0, 1, 0, -5, 1, 9], y, picks)


@each
@pytest.mark.parametrize("picks", [[], [0], [1, 2], [0, 1, 2, 3]], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_of_extreme_size(fast, picks, n_classes):
    """They neither overflow nor spoil the others: those of size 1 are judged as without them."""
    X, y = make_data(n_classes, p=8)
    X[:, :4] *= [1e40, 1e-40, 1e12, 1e-12]
    X[:, 3] = X[:, 3] + 1e-3
    trials = make_trials(X, y)
    judge = choose_judge(WrappedLearner(fast, 8, 0), trials)
    verdict = judge.judge(np.array([picks], dtype=np.int64), np.arange(8), sure=True)
    assert np.isfinite(verdict.confidence).all()
    alone = choose_judge(WrappedLearner(fast, 4, 0), make_trials(X[:, 4:], y))
    expected = alone.judge(np.empty((1, 0), dtype=np.int64), np.arange(4), sure=True)
    if not picks:
        assert_allclose(verdict.confidence[:, 4:], expected.confidence, atol=1e-10)


@each
def test_a_large_column_is_judged_by_its_direction(fast):
    """Its penalty vanishes: size no longer matters."""
    X, y = make_data()
    judges = [
        choose_judge(WrappedLearner(fast, 6, 0), make_trials(X * size, y)) for size in (1e10, 1e30)
    ]
    none = np.empty((1, 0), dtype=np.int64)
    large, larger = (judge.judge(none, np.arange(6), sure=True) for judge in judges)
    assert_array_equal(large.accuracy, larger.accuracy)
    assert_allclose(large.confidence, larger.confidence, rtol=1e-6)


@each_pair
@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_that_are_alike(pair, n_classes):
    X, y = make_data(n_classes)
    X[:, 3], X[:, 4], X[:, 5] = X[:, 0], -2 * X[:, 1] + 1, X[:, 0] + X[:, 1]
    assert_same_verdicts(pair, X, y, [0, 1, 3])


@each
def test_large_columns_that_are_alike_add_nothing(fast):
    X, y = make_data()
    X = X * 1e9
    X[:, 3], X[:, 4] = X[:, 0], X[:, 0] + X[:, 1]
    judge = choose_judge(WrappedLearner(fast, 6, 0), make_trials(X, y))
    copies = judge.judge(np.array([[0, 1]]), np.array([0, 1, 3, 4]), sure=True)
    again = judge.judge(np.array([[0, 1, 3]]), np.array([0, 1, 3, 4]), sure=True)
    for verdict in (copies, again):
        assert_allclose(verdict.confidence, copies.confidence[0, 0], rtol=1e-5)
        assert_array_equal(verdict.accuracy, copies.accuracy[0, 0])


def test_separable_classes():
    """With a weak penalty the decision values grow large."""
    X, y = make_data()
    X[:, 0] += 10 * y
    pair = LogisticRegression(C=1e4), SlowLogistic(C=1e4, **TIGHT)
    fast, (accuracy, confidence) = judge_both(pair, X, y, [0])
    assert_array_equal(fast.accuracy, accuracy)
    assert_allclose(fast.confidence, confidence, atol=1e-6)


def test_same_picks_as_at_default_tolerance():
    """Without ties, scikit-learn's own stopping rule leads to the same columns."""

    class PlainLogistic(LogisticRegression):
        pass

    X, y = make_data(n=60, p=10, seed=3)
    fast, slow = (fit(estimator(), X, y) for estimator in (LogisticRegression, PlainLogistic))
    assert_array_equal(fast.picked_, slow.picked_)


@each_pair
def test_fw_semifs(pair):
    X, y = make_data(n=30, p=5)
    y[12:] = -1
    fast, slow = (
        FWSemiFS(n_features_to_select=3, n_start=2, n_samplings=2, estimator=estimator).fit(X, y)
        for estimator in pair
    )
    assert_array_equal(fast.picked_, slow.picked_)


def test_large_logistic_models_are_fitted_one_by_one(monkeypatch):
    X, y = make_data(3)
    expected = fit(LogisticRegression(), X, y)
    fitted = []

    def judge(self, picks, columns, sure):
        fitted.append(picks.shape[1])
        return EstimatorJudge_judge(self, picks, columns, sure)

    EstimatorJudge_judge = EstimatorJudge.judge
    monkeypatch.setattr(EstimatorJudge, "judge", judge)
    monkeypatch.setattr(_linear, "MOST_WEIGHTS", 10)
    assert_array_equal(fit(LogisticRegression(), X, y).picked_, expected.picked_)
    assert set(fitted) == {2, 3}


@pytest.mark.parametrize(
    ("estimator", "at_once"),
    [
        (RidgeClassifier(alpha=3, solver="svd", fit_intercept=False), True),
        (RidgeClassifier(alpha=0), False),
        (RidgeClassifier(class_weight="balanced"), False),
        (RidgeClassifier(solver="lsqr"), False),
        (RidgeClassifier(positive=True), False),
        (LogisticRegression(C=3, tol=1e-6, max_iter=1000, random_state=1), True),
        (LogisticRegression(C=np.inf), False),
        (LogisticRegression(class_weight="balanced"), False),
        (LogisticRegression(l1_ratio=1, solver="liblinear"), False),
        (LogisticRegression(max_iter=5), False),
    ],
)
def test_which_models_are_judged_at_once(estimator, at_once):
    judge = choose_judge(WrappedLearner(estimator, 6, 0), make_trials(*make_data()))
    assert isinstance(judge, LinearJudge) == at_once
