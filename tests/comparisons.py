"""Data, methods and results that tests of comparisons share."""

from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin

from semisift.comparison._datasets import ComparisonData
from semisift.comparison._protocol import Protocol
from semisift.comparison._results import Results

# Rows of each class of the lymphoma data, the smallest classes of all sets in the papers.
LYMPHOMA = [46, 10, 9, 11, 6, 6, 4, 2, 2]


def codes(counts, unknown=0, seed=0):
    """Return codes of classes with these counts, and -1 for unknown ones, in a random order."""
    y = np.repeat(np.arange(len(counts)), counts)
    y = np.concatenate([y, np.full(unknown, -1)])
    return np.random.default_rng(seed).permutation(y).astype(np.int64)


def numbered_rows(counts=(30, 24), n_features=6, unknown=0, groups=None):
    """Return a data set whose first feature is the number of the row."""
    y = codes(counts, unknown)
    X = np.random.default_rng(1).normal(size=(len(y), n_features))
    X[:, 1] += y
    X[:, 0] = np.arange(len(y))
    return ComparisonData.build("numbered", X, y, groups)


def counts_data(sparse=False, n_rows=90, n_features=60):
    """Return counts of which the fourth follows three classes."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, size=(n_rows, n_features)).astype(float)
    X[:, 3] += np.arange(n_rows) % 3
    return ComparisonData.build("counts", csr_array(X) if sparse else X, np.arange(n_rows) % 3)


class Spy(BaseEstimator):
    """Notes the rows that it is given, by their first feature, and their labels."""

    seen: ClassVar[list] = []
    supports_unlabelled = True

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        X = X.toarray() if hasattr(X, "toarray") else X
        self.seen.append((X[:, 0].astype(int), np.array(y), self.random_state))
        self.scores_ = np.arange(X.shape[1], 0, -1.0)
        return self


class SeesAll(Spy):
    """A spy that is shown the hidden labels."""

    sees_all_labels = True


class SpyEvaluator(ClassifierMixin, BaseEstimator):
    """Notes what it learns from and what it predicts."""

    learnt: ClassVar[list] = []
    predicted_on: ClassVar[list] = []

    def fit(self, X, y):
        self.learnt.append((X.copy(), y.copy()))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        self.predicted_on.append(X.copy())
        return np.full(len(X), self.classes_[0])


SPY_EVALUATOR = "tests.comparisons.SpyEvaluator"


def record_of(dataset, method, run, values, level=None, **changes):
    """Return a record with these figures, one for each size."""
    return {
        "dataset": dataset,
        "method": method,
        "run": run,
        "level": level,
        "status": "done",
        "error": None,
        "warnings": [],
        "parameters": {"class": "Ranker"},
        "random_state": 7,
        "n_features": 100,
        "n_train": 40,
        "n_given": 40,
        "n_labelled": 6,
        "n_test": 20,
        "split": run,
        "top": list(range(50)),
        "curves": {"tree": {"accuracy": list(values)}},
        "versions": {},
        "measured": {"seconds": 0.5, "judge_seconds": 0.25, "peak_mb": 100.0},
        **changes,
    }


def about_of(datasets, methods, protocol, levels=None, **changes):
    """Return what a store keeps of a comparison."""
    sweep = None if levels is None else {"kind": "labels", "levels": list(levels)}
    return {
        "protocol": protocol.to_dict(),
        "sweep": sweep,
        "datasets": {name: {"n_features": 100} for name in datasets},
        "methods": {name: {} for name in methods},
        "max_seconds": None,
        "notes": {},
        **changes,
    }


def results_of(values, *, datasets=None, methods=None, levels=None, **about):
    """Return results with these figures, of shape (n_datasets, n_runs, n_methods)."""
    values = np.asarray(values, dtype=float)
    datasets = datasets or [f"set {i}" for i in range(values.shape[0])]
    methods = methods or [f"method {j}" for j in range(values.shape[2])]
    protocol = Protocol(n_runs=values.shape[1], sizes=(1, 2))
    records = [
        record_of(dataset, method, run, [values[i, run, j] - 0.1, values[i, run, j] + 0.1], level)
        for i, dataset in enumerate(datasets)
        for level in levels or [None]
        for run in range(values.shape[1])
        for j, method in enumerate(methods)
    ]
    return Results(about_of(datasets, methods, protocol, levels, **about), records)


def without(results, drop):
    """Return the results without the records for which `drop` holds."""
    kept = [record for record in results.records if not drop(record)]
    return Results(results.about, kept)


def changed(results, change):
    """Return the results with records as `change` returns them."""
    return Results(results.about, [{**record, **change(record)} for record in results.records])
