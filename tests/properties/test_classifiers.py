"""Classifiers of users that answer what they should not: refused in our words, by all hosts."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import RadiusNeighborsClassifier

from semisift import (
    SEFR,
    SSFI,
    CoTraining,
    FWSemiFS,
    LabelledOnly,
    SelfTraining,
    SequentialForward,
    TriTraining,
)
from tests.conftest import make_data
from tests.nightly import daily_are
from tests.properties.fits import check_refusal

DATA = make_data(n_rows=40, n_features=6)


class Nearest(ClassifierMixin, BaseEstimator):
    """Says how near the means of the classes are."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means = np.array([X[y == label].mean(axis=0) for label in np.unique(y)])
        return self

    def predict(self, X):
        return self.classes_[self.shares(X).argmax(axis=1)]

    def predict_proba(self, X):
        return self.shares(X)

    def shares(self, X):
        shares = np.exp(-((X[:, None] - self.means) ** 2).sum(axis=2)) + 1e-9
        return shares / shares.sum(axis=1, keepdims=True)


class Silent(Nearest):
    """Does not return itself."""

    def fit(self, X, y):
        super().fit(X, y)


class Backwards(Nearest):
    """Has its classes in falling order."""

    def fit(self, X, y):
        super().fit(X, y)
        self.classes_, self.means = self.classes_[::-1], self.means[::-1]
        return self


class Listing(Nearest):
    """Answers with lists, and with a column."""

    def predict(self, X):
        return super().predict(X)[:, None].tolist()

    def predict_proba(self, X):
        return super().predict_proba(X).tolist()


class Deciding(Nearest):
    """Has no probabilities."""

    predict_proba = property()

    def decision_function(self, X):
        return np.diff(self.shares(X))[:, 0]


class Turned(Backwards, Deciding):
    """Has neither probabilities nor its classes in rising order."""

    def predict(self, X):
        return self.classes_[self.shares(X).argmax(axis=1)]


def host_of(kind, estimator):
    return kind(estimator=estimator, **({"n_members": 4} if kind in (SSFI, SEFR) else {}))


def by_confidence(estimator):
    return SelfTraining(estimator=estimator, label_by="min_confidence")


HOSTS = {
    **{
        kind.__name__: lambda estimator, kind=kind: host_of(kind, estimator)
        for kind in (SSFI, SEFR, SelfTraining, CoTraining, TriTraining, LabelledOnly)
    },
    "min_confidence": by_confidence,
    "SequentialForward": lambda estimator: SequentialForward(
        estimator=estimator, n_features_to_select=2
    ),
    "FWSemiFS": lambda estimator: FWSemiFS(
        estimator=estimator, n_features_to_select=3, n_start=2, n_samplings=2
    ),
}


def answer(host, estimator):
    """Return what comes out of a fit, and of all that is asked then."""
    model = HOSTS[host](estimator).fit(DATA.X, DATA.y)
    names = ("predict", "predict_proba", "decision_function")
    asked = [getattr(model, name)(DATA.X) for name in names if hasattr(model, name)]
    return [model.scores_] if hasattr(model, "scores_") else asked


def objects(labels):
    found = labels.astype(object)
    found[0] = [1]
    return found


def knowing(classes):
    def fit(self, X, y):
        Nearest.fit(self, X, y).known = classes
        return self

    return {
        "fit": fit,
        "classes_": property(lambda self: self.known, lambda self, _: None),
        "predict": lambda self, X: np.zeros(len(X), dtype=int),
        "shares": lambda self, X: np.full((len(X), 2), 0.5),
    }


def shares(change):
    return {"predict_proba": lambda self, X: change(self.shares(X))}


def predicting(change):
    return {"predict": lambda self, X: change(Nearest.predict(self, X))}


def deciding(change):
    return {
        "predict_proba": property(),
        "decision_function": lambda self, X: change(np.diff(self.shares(X))[:, 0]),
    }


AMONG = re.escape("classes among those given to fit (0, 1): got ")
CASES = {
    "a number from fit": ({"fit": lambda self, X, y: 3}, "fit .* return the fitted .*: got 3"),
    "no classes": (knowing(None), "fit .* set classes_, .*: got no classes_"),
    "other classes": (knowing(np.array([0, 5])), f"classes_ .* hold {AMONG}"),
    "a class twice": (knowing([0, 0]), "classes_ .* hold each class once"),
    "classes of two": (knowing([[0, 1]]), r"classes_ .* one dimension: got \[\[0, 1\]\]"),
    "labels of NaN": (predicting(lambda y: np.full(len(y), np.nan)), f"predict .* {AMONG}nan"),
    "other labels": (predicting(lambda y: y + 7), f"predict .* {AMONG}"),
    "names": (predicting(lambda y: y.astype(str)), f"predict .* {AMONG}'"),
    "lists in labels": (predicting(objects), f"predict .* {AMONG}"),
    "few labels": (predicting(lambda y: y[:-1]), r"predict .* one class for each of .*shape"),
    "no labels": (predicting(lambda y: None), "predict .* one class for each of .*: got None"),
    "labels in rows": (predicting(lambda y: np.c_[y, y]), r"predict .* one class for .*, 2\)"),
    "one share": (shares(lambda p: p[:, :1]), r"predict_proba .* and 2 classes: got .*, 1\)"),
    "four shares": (shares(lambda p: np.c_[p, p]), r"predict_proba .* 2 classes: got .*, 4\)"),
    "few shares": (shares(lambda p: p[:-1]), "predict_proba .* one probability for each of"),
    "no shares": (shares(lambda p: None), "predict_proba .* one probability .*: got None"),
    "words": (shares(lambda p: p.astype(str)), "predict_proba .* numbers: got .* dtype <U"),
    "complex": (shares(lambda p: p * 1j), "predict_proba .* numbers: got .* complex128"),
    "infinite shares": (shares(lambda p: p * np.inf), "predict_proba .* no infinite .*: got inf"),
    "few decisions": (deciding(lambda d: d[:-1]), "decision_function .* values for each of"),
    "no decisions": (deciding(lambda d: None), "decision_function .* values .*: got None"),
    "decisions of NaN": (deciding(lambda d: d * np.nan), "decision_function .* finite .*: got nan"),
}


# Who never asks for it: there a classifier goes by what it says right.
NOT_ASKED = {
    "predict": {"SelfTraining", "CoTraining", "min_confidence"},
    "predict_proba": {"TriTraining"},
    "classes_": {"TriTraining"},
    "decision_function": {"SSFI", "SEFR", "SelfTraining", "CoTraining", "TriTraining"},
}


# The second as of a classifier that was fitted before, to more classes.
TAKEN = {("no classes", "TriTraining"), ("other classes", "LabelledOnly")}


# Each wrong answer once a day, of one host after the other.
PAIRS = [(case, host) for case in CASES for host in HOSTS]


@pytest.mark.parametrize(("case", "host"), daily_are(PAIRS[:: len(HOSTS) + 1] + PAIRS[::40], PAIRS))
def test_wrong_answers_are_refused(case, host):
    methods, words = CASES[case]
    name = words.partition(" ")[0]
    if host in NOT_ASKED.get(name, ()) or (case, host) in TAKEN:
        answer(host, type("Broken", (Nearest,), methods)())
        return
    if name == "decision_function" and host == "min_confidence":
        words = "label_by='min_confidence' needs an estimator with predict_proba: got Broken"
    with pytest.raises(ValueError, match=words) as refusal:
        answer(host, type("Broken", (Nearest,), methods)())
    check_refusal(refusal.value)
    assert "Broken" in str(refusal.value)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("other", [Silent, Backwards, Listing])
def test_right_answers_in_another_form(other, host):
    for found, expected in zip(answer(host, other()), answer(host, Nearest()), strict=True):
        if host == "LabelledOnly" and other is Backwards and found.ndim == 2:
            found = found[:, ::-1]  # as its classes_ say
        assert_array_equal(found, expected)


def test_a_frozen_classifier_may_know_more_classes():
    three = GaussianNB().fit(DATA.X, np.arange(40) % 3)
    found = LabelledOnly(FrozenEstimator(three)).fit(DATA.X, DATA.y)
    assert_array_equal(found.classes_, [0, 1, 2])
    assert_array_equal(found.predict_proba(DATA.X), three.predict_proba(DATA.X))


def test_the_order_of_classes_does_not_change_how_sure_decisions_are():
    found, expected = (answer("SequentialForward", kind()) for kind in (Turned, Deciding))
    assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore:Outlier label -1 is not in training classes")
@pytest.mark.parametrize("host", ["SequentialForward", "LabelledOnly"])
def test_rows_of_no_class_may_be_named(host):
    found = answer(host, RadiusNeighborsClassifier(radius=0.7, outlier_label=-1))[0]
    assert np.isfinite(found).all()
    assert host != "LabelledOnly" or -1 in found
