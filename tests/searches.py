"""What the tests of the forward searches share: learners that are fitted for each column, data."""

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import MixedNB, NNge, SequentialForward
from semisift.base._training_data import TrainingData
from semisift.wrapper._forward import PICK_STREAM
from semisift.wrapper._trials import Trials

from .reference.wrappers import PlainTree


class SlowNB(GaussianNB):
    """Not exactly a GaussianNB, so it is fitted for each column."""


class SlowNeighbours(KNeighborsClassifier):
    pass


class SlowMixedNB(MixedNB):
    _batch_model = None

    def __getattribute__(self, name):
        if name == "_batch_model":
            raise AttributeError(name)
        return super().__getattribute__(name)


class SlowNNge(NNge):
    _batch_model = None

    def __getattribute__(self, name):
        if name == "_batch_model":
            raise AttributeError(name)
        return super().__getattribute__(name)


P = 9
CATEGORICAL = np.arange(P) % 3 == 0

PAIRS = {
    "naive Bayes": (GaussianNB(), SlowNB()),
    "smoother naive Bayes": (GaussianNB(var_smoothing=0.1), SlowNB(var_smoothing=0.1)),
    "mixed naive Bayes": (MixedNB(categorical=CATEGORICAL), SlowMixedNB(categorical=CATEGORICAL)),
    "numeric mixed naive Bayes": (MixedNB(), SlowMixedNB()),
    "5 neighbours": (KNeighborsClassifier(), SlowNeighbours()),
    "2 neighbours": (KNeighborsClassifier(2, metric="euclidean"), SlowNeighbours(2)),
    "NNge": (NNge(), SlowNNge()),
    "tree": (DecisionTreeClassifier(), PlainTree()),
    "stump": (DecisionTreeClassifier(max_depth=1), PlainTree(max_depth=1)),
}


def make_case(kind, n_classes, n_rows, seed=0, p=P):
    rng = np.random.default_rng([seed, n_rows])
    y = rng.permutation(np.arange(n_rows) % n_classes)
    if kind == "normal":
        X = rng.normal(size=(n_rows, p)) * 10.0 ** rng.integers(-2, 3, p)
        X[:, 1] += y * X[:, 1].std()
    else:  # few values, so that rows, columns and classes tie
        X = rng.integers(0, 3, size=(n_rows, p)).astype(float)
        X[:, 1] = np.where(rng.random(n_rows) < 0.7, y, X[:, 1])
    X[:, 4] = X[:, 1]
    X[:-1, 5] = 2.0  # constant in all folds but one
    return X, y


def fit(estimator, X, y, **params):
    return SequentialForward(**{"estimator": estimator, "n_features_to_select": 4} | params).fit(
        X, y
    )


def make_trials(X, y):
    data = TrainingData.build(X, y)
    return Trials.build(data, data.labels.codes, [data.labels.labelled])


def chance(n_features, seed=0):
    return np.random.default_rng([seed, PICK_STREAM]).permutation(n_features)


class Stop:
    """A callback that ends the fit, or interrupts it, after some picks or other steps."""

    def __init__(self, after, interrupt, step="pick"):
        self.after, self.interrupt, self.step, self.picks = after, interrupt, step, 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **kwargs):
        pass

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.picks += context.task_name == self.step
        if self.picks == self.after and self.interrupt:
            raise KeyboardInterrupt
        return self.picks == self.after

    def teardown(self, estimator, context):
        pass
