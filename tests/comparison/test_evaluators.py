from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from semisift.comparison._evaluators import evaluate, find_evaluators, measure, ready
from semisift.comparison._protocol import METRICS, PROTOCOLS, Protocol
from semisift.comparison._splits import draw_split
from tests.comparisons import SPY_EVALUATOR, SpyEvaluator
from tests.nightly import few_daily

X, Y = load_wine(return_X_y=True)
ORDER = np.random.default_rng(3).permutation(X.shape[1])
SSFI = PROTOCOLS["ssfi"]


@pytest.fixture
def spy():
    SpyEvaluator.learnt.clear()
    SpyEvaluator.predicted_on.clear()
    return SpyEvaluator


def split_of(protocol=SSFI, y=Y, seed=0):
    return draw_split(y, protocol, np.random.default_rng(seed))


def make_evaluator(name, seed, n_rows):
    return ready(find_evaluators([name])[name], seed, n_rows)


def curves_of(protocol, X=X, y=Y, order=ORDER):
    return evaluate(order, X, y, split_of(protocol, y), protocol, seed=5)


CLASSIFIERS = {
    "tree": DecisionTreeClassifier(random_state=5),
    "svm": SVC(kernel="linear"),
    "knn": KNeighborsClassifier(),
    "nb": GaussianNB(),
    "knn:n_neighbors=3": KNeighborsClassifier(n_neighbors=3),
    "svm:kernel=rbf:C=10": SVC(kernel="rbf", C=10),
    "sklearn.linear_model.LogisticRegression:max_iter=9999": LogisticRegression(max_iter=9999),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_curve_is_that_of_the_best_features(name):
    protocol = replace(SSFI, judges=(name,), scaling="standard", sizes=(1, 4, 9))
    split = split_of()
    scaler = StandardScaler().fit(X[split.train])
    Z = scaler.transform(X)
    expected = [
        CLASSIFIERS[name]
        .fit(Z[split.train][:, ORDER[:size]], Y[split.train])
        .score(Z[split.test][:, ORDER[:size]], Y[split.test])
        for size in protocol.sizes
    ]
    assert_allclose(curves_of(protocol)[name]["accuracy"], expected, rtol=1e-12)


def test_a_curve_for_each_judge_and_metric():
    protocol = replace(SSFI, judges=("tree", "nb"), metrics=METRICS, sizes=(2, 5))
    curves = curves_of(protocol)
    assert list(curves) == ["tree", "nb"]
    for curve in curves.values():
        assert list(curve) == list(METRICS)
        assert all(len(values) == 2 for values in curve.values())


def test_sizes_in_any_order():
    up, down = (
        curves_of(replace(SSFI, sizes=sizes))["tree"]["accuracy"] for sizes in [(2, 7), (7, 2)]
    )
    assert up == down[::-1]


def test_sizes_beyond_the_features_have_no_value():
    curves = curves_of(replace(SSFI, sizes=(1, 13, 14)))
    assert [value is None for value in curves["tree"]["accuracy"]] == [False, False, True]


@pytest.mark.parametrize("scaling", few_daily([None, "standard", "minmax"], 2))
def test_judges_see_the_same_bits_of_sparse_and_dense_data(spy, scaling):
    values = np.random.default_rng(0).normal(size=(90, 30))
    values[values < 0.5] = 0
    protocol = replace(SSFI, scaling=scaling, judges=(SPY_EVALUATOR,), sizes=(6,))
    for form in (values, np.asfortranarray(values), csr_array(values)):
        curves_of(protocol, form, np.arange(90) % 3, np.arange(30)[::-1])
    for rows, _ in spy.learnt[1:]:
        assert_array_equal(rows, spy.learnt[0][0])


# --- what a judge learns from ---


def test_learns_from_all_training_rows_with_true_labels(spy):
    curves_of(replace(SSFI, judges=(SPY_EVALUATOR,), sizes=(3,)))
    split = split_of()
    [(rows, labels)], [predicted] = spy.learnt, spy.predicted_on
    assert_array_equal(rows, X[split.train][:, ORDER[:3]])
    assert_array_equal(labels, Y[split.train])
    assert_array_equal(predicted, X[split.test][:, ORDER[:3]])


def test_learns_from_the_labelled_rows_alone(spy):
    curves_of(replace(SSFI, judges=(SPY_EVALUATOR,), sizes=(3,), train_on="labelled"))
    split = split_of()
    labelled = split.train[split.is_labelled]
    [(rows, labels)] = spy.learnt
    assert len(labelled) == 9
    assert_array_equal(rows, X[labelled][:, ORDER[:3]])
    assert_array_equal(labels, Y[labelled])


def test_rows_of_unknown_class_are_no_lesson(spy):
    y = Y.copy()
    y[::5] = -1
    curves_of(replace(SSFI, judges=(SPY_EVALUATOR,), sizes=(3,)), y=y)
    [(_, labels)] = spy.learnt
    assert (labels >= 0).all()


# --- scaling ---


@pytest.mark.parametrize("train_on", ["all", "labelled"])
@pytest.mark.parametrize(
    ("scaling", "scaler"), [("standard", StandardScaler()), ("minmax", MinMaxScaler())]
)
def test_scaling_is_that_of_the_training_rows(spy, scaling, scaler, train_on):
    protocol = replace(
        SSFI, judges=(SPY_EVALUATOR,), sizes=(4,), scaling=scaling, train_on=train_on
    )
    curves_of(protocol)
    split = split_of()
    scaler.fit(X[split.train][:, ORDER[:4]])
    assert_allclose(spy.predicted_on[0], scaler.transform(X[split.test][:, ORDER[:4]]), rtol=1e-10)


@pytest.mark.parametrize("scaling", few_daily([None, "standard", "minmax"], 2))
def test_test_rows_change_nothing_that_is_learnt(spy, scaling):
    protocol = replace(SSFI, judges=(SPY_EVALUATOR,), sizes=(1, 8), scaling=scaling)
    curves_of(protocol)
    expected = list(spy.learnt)
    spy.learnt.clear()
    wild = X.copy()
    wild[split_of().test] = 1e12 * np.random.default_rng(0).normal(size=wild[split_of().test].shape)
    curves_of(protocol, wild)
    for (rows, labels), (same_rows, same_labels) in zip(expected, spy.learnt, strict=True):
        assert_array_equal(rows, same_rows)
        assert_array_equal(labels, same_labels)


def test_a_feature_without_spread_in_training_does_not_drown_the_others():
    """The standard deviation of a constant such as 0.1 is not zero but a rounding error."""
    y = np.arange(60) % 2
    values = np.column_stack([np.full(60, 0.1), y + np.random.default_rng(0).normal(0, 0.1, 60)])
    split = split_of(y=y)
    assert values[split.train].std(axis=0)[0] > 0
    values[split.test, 0] = np.random.default_rng(1).normal(size=len(split.test))
    protocol = replace(SSFI, judges=("knn",), scaling="standard", sizes=(2,))
    curves = evaluate(np.array([0, 1]), values, y, split, protocol, 0)
    assert curves["knn"]["accuracy"] == [1.0]


def test_the_caller_s_data_are_not_changed():
    kept = X.copy()
    curves_of(replace(SSFI, scaling="standard"))
    assert_array_equal(X, kept)


# --- metrics ---


@pytest.mark.parametrize("name", few_daily(["tree", "svm", "knn", "nb"], 2))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_metrics_are_those_of_scikit_learn(name, n_classes):
    rows = np.isin(Y, range(n_classes))
    split = split_of(y=Y[rows], seed=1)
    # noise, so that no judge is perfect
    noisy = X[rows] / X.std(axis=0) * 0.2 + np.random.default_rng(0).normal(size=X[rows].shape)
    classifier = make_evaluator(name, 0, 100).fit(noisy[split.train], Y[rows][split.train])
    test, y = noisy[split.test], Y[rows][split.test]
    found = measure(classifier, test, y, METRICS)
    predicted = classifier.predict(test)
    assert 0.2 < found["accuracy"] < 1
    assert found["accuracy"] == accuracy_score(y, predicted)
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, predicted))
    assert found["macro_f1"] == pytest.approx(f1_score(y, predicted, average="macro"))
    if name == "svm":
        scores = classifier.decision_function(test)
    else:
        scores = classifier.predict_proba(test)
        scores = scores[:, 1] if n_classes == 2 else scores
    if name == "svm" and n_classes == 3:  # scikit-learn wants probabilities here
        expected = np.mean([roc_auc_score(y == c, scores[:, c]) for c in range(3)])
    else:
        expected = roc_auc_score(y, scores, multi_class="ovr", average="macro")
    assert found["auc"] == pytest.approx(expected, rel=1e-12)


class Fixed:
    """A classifier that predicts what it was told, and scores the classes at random."""

    def __init__(self, classes, predicted):
        self.classes_ = np.array(classes)
        self.predicted = np.array(predicted)

    def predict(self, X):
        return self.predicted

    def predict_proba(self, X):
        return np.random.default_rng(0).dirichlet(np.ones(len(self.classes_)), size=len(X))


def test_area_of_two_classes_is_that_of_the_second():
    """Probabilities near 1 are equal where those near 0 are not."""

    class Sure(Fixed):
        def predict_proba(self, X):
            small = np.array([1e-20, 1e-30, 1e-25, 0.5])
            return np.column_stack([small, 1 - small])

    y = np.array([0, 1, 0, 1])
    sure = Sure([0, 1], y)
    scores = sure.predict_proba(None)
    assert measure(sure, y[:, None], y, ("auc",))["auc"] == roc_auc_score(y, scores[:, 1])
    assert roc_auc_score(y, scores[:, 1]) != roc_auc_score(y == 0, scores[:, 0])


def test_metrics_where_the_test_lacks_a_class():
    y = np.array([0, 0, 1, 1])
    found = measure(Fixed([0, 1, 2], [0, 2, 1, 1]), np.zeros((4, 1)), y, METRICS)
    assert found["accuracy"] == 0.75
    assert found["balanced_accuracy"] == 0.75
    assert found["macro_f1"] == pytest.approx((2 / 3 + 1) / 2)
    assert 0 <= found["auc"] <= 1


def test_metrics_where_the_judge_has_not_seen_a_class():
    y = np.array([0, 0, 1, 1, 2, 2])
    found = measure(Fixed([0, 1], [0, 0, 1, 0, 1, 1]), np.zeros((6, 1)), y, METRICS)
    assert found["balanced_accuracy"] == pytest.approx(0.5)
    assert found["macro_f1"] == pytest.approx((0.8 + 0.4 + 0) / 3)
    scores = Fixed([0, 1], []).predict_proba(np.zeros(6))
    areas = [roc_auc_score(y == label, scores[:, label]) for label in (0, 1)]
    assert found["auc"] == pytest.approx(np.mean([*areas, 0.5]))


def test_metrics_where_the_test_has_one_class():
    found = measure(Fixed([0, 1], [0, 0, 1]), np.zeros((3, 1)), np.zeros(3, dtype=int), METRICS)
    assert found["auc"] is None
    assert found["balanced_accuracy"] == found["accuracy"] == pytest.approx(2 / 3)


def test_no_area_without_a_score_for_each_class():
    pairs = make_evaluator("svm:decision_function_shape=ovo", 0, 100)
    y = np.arange(80) % 4
    rows = np.random.default_rng(0).normal(size=(80, 3))
    assert measure(pairs.fit(rows, y), rows, y, ("auc",)) == {"auc": None}


# --- names ---


def test_judges_draw_from_the_seed():
    assert make_evaluator("tree", 8, 10).random_state == 8
    bagged = make_evaluator("sklearn.ensemble.BaggingClassifier", 8, 10)
    assert bagged.random_state == 8


@pytest.mark.parametrize(("n_rows", "expected"), few_daily([(2, 2), (5, 5), (50, 5)], 2))
def test_no_more_neighbours_than_rows(n_rows, expected):
    assert make_evaluator("knn", 0, n_rows).n_neighbors == expected


def test_two_labelled_rows_are_enough_for_all_judges():
    protocol = Protocol(
        labels_per_class=1, train_on="labelled", judges=("tree", "svm", "knn", "nb"), sizes=(2,)
    )
    y = (Y > 0).astype(int)
    for curve in curves_of(protocol, y=y).values():
        assert 0 < curve["accuracy"][0] <= 1


def test_known_judges():
    find_evaluators(tuple(CLASSIFIERS))


@pytest.mark.parametrize(
    ("name", "message"),
    few_daily(
        [
            ("forest", "there is no judge 'forest'. There are tree, svm, knn, nb, nnge;"),
            ("knn:k=3", "judge 'knn:k=3': .*unexpected keyword.*Parameters are n_neighbors, "),
            ("svm:c=3", "judge 'svm:c=3': .*unexpected keyword.*Parameters are C, "),
            ("sklearn.tree.Nope", "judge 'sklearn.tree.Nope' cannot be imported"),
            ("os.system:command=exit 3", "judge 'os.system' must be a class with fit"),
            ("sklearn.tree.export_text", "must be a class with fit"),
            ("sklearn.preprocessing.StandardScaler", "is no classifier: it has no fit and predict"),
        ],
        3,
    ),
)
def test_what_is_no_judge(name, message):
    with pytest.raises(ValueError, match=message):
        find_evaluators((name,))


class Broken(SpyEvaluator):
    def fit(self, X, y):
        raise RuntimeError("out of order")


def test_a_judge_that_fails_is_named():
    with pytest.raises(RuntimeError, match="out of order") as caught:
        curves_of(replace(SSFI, judges=("tests.comparison.test_evaluators.Broken",)))
    assert caught.value.__notes__ == [
        "(judge 'tests.comparison.test_evaluators.Broken' with 1 feature)"
    ]


def test_all_features():
    protocol = replace(SSFI, judges=("knn", "nnge"), sizes=(1, 5))
    curves = evaluate(ORDER, X, Y, split_of(protocol), protocol, seed=5, all_features=True)
    full = curves_of(replace(protocol, sizes=(X.shape[1],)), order=np.arange(X.shape[1]))
    for name in protocol.judges:
        assert curves[name]["accuracy"] == full[name]["accuracy"] * 2
