import json
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.ensemble import ExtraTreesClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from semisift import parallel as threads
from semisift.comparison._datasets import ComparisonData
from semisift.comparison._methods import ComparedMethod, find_methods
from semisift.comparison._protocol import METRICS, PROTOCOLS, Protocol
from semisift.comparison._run import RunKey, check_splits, key_of, run_once
from semisift.comparison._sweeps import Sweep
from semisift.utils._metadata import versions
from tests.comparisons import (
    SPY_EVALUATOR,
    SeesAll,
    Spy,
    SpyEvaluator,
    codes,
    counts_data,
    numbered_rows,
)
from tests.nightly import few_daily

QUICK = Protocol(sizes=(1, 3), n_runs=2)
ALL_EVALUATORS = Protocol(sizes=(2, 20), judges=("tree", "svm", "knn", "nb"), metrics=METRICS)


@pytest.fixture
def spies():
    for seen in (Spy.seen, SpyEvaluator.learnt, SpyEvaluator.predicted_on):
        seen.clear()


def method_of(method):
    return find_methods([method])[0]


def numbers(record):
    """Return all of a record but what was measured."""
    return {name: part for name, part in record.items() if name != "measured"}


# --- no test row reaches a method ---

PROTOCOLS_AND_SWEEPS = {
    **{name: (protocol, None) for name, protocol in PROTOCOLS.items()},
    "labelled alone": (Protocol(train_on="labelled"), None),
    "labels": (PROTOCOLS["ssfi"], Sweep("labels", (1, 4))),
    "labels of fw-semifs": (PROTOCOLS["fw-semifs"], Sweep("labels", (1, 4))),
    "flipped": (PROTOCOLS["ssfi"], Sweep("flipped", (0, 0.5))),
    "left-out": (PROTOCOLS["ssfi"], Sweep("left-out", (0, 0.5))),
    "left-out of rel-rasco": (PROTOCOLS["rel-rasco"], Sweep("left-out", (0.3,))),
}


@pytest.mark.parametrize(
    ("case", "grouped"),
    few_daily(
        [
            (case, grouped)
            for case, (protocol, _) in PROTOCOLS_AND_SWEEPS.items()
            for grouped in (False, True)
            if protocol.n_unlabelled is None or not grouped
        ],
        9,
    ),
)
@pytest.mark.parametrize("method", [Spy(), SeesAll()])
@pytest.mark.parametrize("sparse", few_daily([False, True], 1))
def test_no_test_row_and_no_hidden_label_reaches_a_method(spies, case, grouped, method, sparse):
    """What the judge is asked to predict is the test: its rows carry their numbers."""
    protocol, sweep = PROTOCOLS_AND_SWEEPS[case]
    data = numbered_rows(unknown=7, groups=np.arange(61) % 12 if grouped else None)
    if sparse:
        data = replace(data, X=csr_array(data.X))
    protocol = replace(
        protocol,
        judges=(SPY_EVALUATOR,),
        sizes=(6,),
        scaling=None,
        n_unlabelled=protocol.n_unlabelled and 11,
    )
    for run in range(2):
        for level in [None] if sweep is None else sweep.levels:
            spies_before = len(Spy.seen)
            record = run_once(data, ComparedMethod("spy", method), protocol, run, sweep, level)
            assert record["status"] == "done", record["error"]
            rows, y, _ = Spy.seen[spies_before]
            tested = SpyEvaluator.predicted_on[-1][:, 0].astype(int)
            learnt, learnt_y = SpyEvaluator.learnt[-1]
            learnt = learnt[:, 0].astype(int)

            assert not set(rows) & set(tested)
            assert not set(learnt) & set(tested)
            assert len(rows) == record["n_given"] == len(set(rows))
            assert len(tested) == record["n_test"] > 0
            assert (data.y[tested] >= 0).all()
            if grouped:
                assert not set(data.groups[rows]) & set(data.groups[tested])
            assert_array_equal(learnt_y, data.y[learnt])
            assert (y >= 0).sum() == record["n_labelled"]
            if isinstance(method, SeesAll):
                assert_array_equal(y, data.y[rows])
            elif case != "flipped":
                assert_array_equal(y[y >= 0], data.y[rows[y >= 0]])
            if not isinstance(method, SeesAll):
                assert 2 <= (y >= 0).sum() < (data.y[rows] >= 0).sum()
            if protocol.train_on == "labelled" and not isinstance(method, SeesAll):
                assert_array_equal(learnt, rows[y >= 0])


@pytest.mark.parametrize(
    "method",
    few_daily(["fisher", "all-labels", "laplacian", "mrmr", "ssfi:n_members=30", "random"], 3),
)
def test_poisoned_test_rows_change_no_ranking(method):
    data = counts_data()
    before = run_once(
        data, method_of(method), replace(QUICK, judges=(SPY_EVALUATOR,), sizes=(60,)), 0
    )
    tested = SpyEvaluator.predicted_on[-1][:, np.argsort(before["top"])]
    is_test = (data.X[:, None] == tested).all(axis=2).any(axis=1)
    assert is_test.sum() == before["n_test"]
    poisoned = data.X.copy()
    poisoned[is_test] = 1e9 * np.random.default_rng(0).normal(size=poisoned[is_test].shape)
    after = run_once(replace(data, X=poisoned), method_of(method), replace(QUICK, sizes=(60,)), 0)
    assert after["status"] == "done"
    assert after["top"] == before["top"]


def test_an_entrant_cannot_change_the_data():
    class Vandal(Spy):
        def fit(self, X, y):
            super().fit(X, y)
            X[:], y[:] = 0, 0
            return self

    data = numbered_rows()
    X, y = data.X.copy(), data.y.copy()
    run_once(data, ComparedMethod("vandal", Vandal()), QUICK, 0)
    assert_array_equal(data.X, X)
    assert_array_equal(data.y, y)


# --- pairs ---


def test_every_method_of_a_run_has_the_same_split_and_other_runs_have_others():
    data = counts_data()
    methods = ["fisher", "random", "all-labels"]
    splits = [
        {run_once(data, method_of(method), QUICK, run)["split"] for method in methods}
        for run in range(3)
    ]
    assert all(len(split) == 1 for split in splits)
    assert len(set.union(*splits)) == 3


def test_another_seed_has_other_splits():
    data = counts_data()
    one, other = (
        run_once(data, method_of("random"), replace(QUICK, seed=seed), 0) for seed in (0, 1)
    )
    assert one["split"] != other["split"]
    assert one["random_state"] != other["random_state"]


def test_runs_draw_with_other_seeds(spies):
    for run in range(3):
        run_once(numbered_rows(), ComparedMethod("spy", Spy()), QUICK, run)
    seeds = [seed for _, _, seed in Spy.seen]
    assert len(set(seeds)) == 3


# --- the same records everywhere ---

METHODS = ["fisher", "laplacian", "lsdf", "ssfi:n_members=30", "random", "all-labels"]


@pytest.mark.parametrize("method", few_daily(METHODS, 2))
def test_twice_the_same(method):
    data = counts_data()
    one, again = (run_once(data, method_of(method), ALL_EVALUATORS, 1) for _ in range(2))
    assert one["status"] == "done"
    assert numbers(one) == numbers(again)


@pytest.mark.parametrize("method", few_daily(METHODS, 3))
def test_sparse_is_dense(method):
    dense, sparse = (
        run_once(counts_data(sparse), method_of(method), ALL_EVALUATORS, 1)
        for sparse in (False, True)
    )
    assert dense["status"] == "done"
    assert numbers(dense) == numbers(sparse)


@pytest.mark.parametrize("method", ["laplacian", "enscls:n_members=20"])
def test_threads_do_not_matter(method):
    data = counts_data(n_rows=300)
    records = []
    for n_threads in (1, 2, 4):
        with threadpool_limits(limits=n_threads):
            records.append(numbers(run_once(data, method_of(method), ALL_EVALUATORS, 0)))
    assert records[0]["status"] == "done"
    assert records[0] == records[1] == records[2]


def numbers_of_threads():
    """Return those of the libraries that add up numbers; SciPy lists one that reads files too."""
    return {
        library["num_threads"]
        for library in threadpool_info()
        if library["user_api"] in {"blas", "openmp"}
    }


def test_numbers_are_added_up_on_one_thread():
    threads._controller.cache_clear()  # other tests may have loaded libraries since
    seen = []

    class Looks(Spy):
        def fit(self, X, y):
            seen.append(numbers_of_threads())
            return super().fit(X, y)

    with threadpool_limits(limits=2):
        run_once(counts_data(), ComparedMethod("looks", Looks()), QUICK, 0)
        after = numbers_of_threads()
    assert seen == [{1}]
    assert after == {2}


def test_runs_at_a_time_in_one_process_do_not_matter():
    class Warns(Spy):
        def fit(self, X, y):
            time.sleep(0.02)
            warnings.warn(f"seed {self.random_state}", stacklevel=2)
            return super().fit(X, y)

    data, method = counts_data(), ComparedMethod("warns", Warns())
    expected = [numbers(run_once(data, method, QUICK, run)) for run in range(6)]
    filters = list(warnings.filters)
    with joblib.parallel_config(backend="threading", n_jobs=3):
        found = joblib.Parallel()(
            joblib.delayed(run_once)(data, method, QUICK, run) for run in range(6)
        )
    assert [numbers(record) for record in found] == expected
    assert warnings.filters == filters


def test_another_process_does_not_matter():
    code = (
        "import json; from tests.comparison.test_run import *;"
        "print(json.dumps(numbers(run_once(counts_data(), method_of('ssfi:n_members=30'),"
        " ALL_EVALUATORS, 1))))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    here = numbers(run_once(counts_data(), method_of("ssfi:n_members=30"), ALL_EVALUATORS, 1))
    assert json.loads(printed) == here


# --- what a record says ---


def test_record_of_a_method():
    data = counts_data()
    record = run_once(data, method_of("fisher"), QUICK, 1)
    assert record["status"] == "done"
    assert record["error"] is None
    assert key_of(record) == RunKey("counts", "fisher", 1, None)
    assert (record["n_train"], record["n_labelled"], record["n_test"]) == (60, 9, 30)
    assert record["n_features"] == 60
    assert len(record["top"]) == 50
    assert len(record["curves"]["tree"]["accuracy"]) == 2
    assert record["parameters"]["class"] == "FisherScore"
    assert record["versions"] == versions()
    assert record["measured"]["seconds"] > 0
    assert record["measured"]["judge_seconds"] > 0
    assert json.loads(json.dumps(record)) == record


def test_record_keeps_as_many_features_as_are_judged():
    record = run_once(counts_data(), method_of("fisher"), replace(QUICK, sizes=(55,)), 0)
    assert len(record["top"]) == 55


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_peak_memory_is_that_of_the_method():
    """In a process of its own, since the peak is that of all threads."""
    program = """
import numpy as np
from semisift.comparison._methods import ComparedMethod
from semisift.comparison._protocol import Protocol
from semisift.comparison._run import run_once
from tests.comparisons import Spy, numbered_rows
from tests.nightly import few_daily

class Greedy(Spy):
    def fit(self, X, y):
        np.ones(15_000_000)  # 120 MB
        return super().fit(X, y)

data, protocol = numbered_rows(), Protocol(sizes=(1, 3))
for spy in (Spy(), Spy(), Greedy(), Spy()):
    print(run_once(data, ComparedMethod("it", spy), protocol, 0)["measured"]["peak_mb"])
"""
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    _, before, greedy, after = map(float, printed.split())
    assert greedy > before + 90
    assert after < before + 40


def test_levels_are_recorded():
    data, sweep = counts_data(), Sweep("left-out", (0, 0.5))
    records = [run_once(data, method_of("fisher"), QUICK, 0, sweep, level) for level in (0.0, 0.5)]
    assert [record["level"] for record in records] == [0.0, 0.5]
    assert [record["n_train"] for record in records] == [60, 60]
    assert [record["n_given"] for record in records] == [60, 60 - round(51 / 2)]


def test_judges_do_not_learn_flipped_labels(spies):
    data = numbered_rows()
    protocol = replace(QUICK, judges=(SPY_EVALUATOR,), sizes=(6,), train_on="labelled")
    for level in (0.0, 0.9):
        run_once(data, ComparedMethod("spy", Spy()), protocol, 0, Sweep("flipped", (0, 0.9)), level)
    (_, honest), (_, same) = SpyEvaluator.learnt
    assert_array_equal(honest, same)
    assert not np.array_equal(Spy.seen[0][1], Spy.seen[1][1])


def test_an_ordinary_classifier_takes_part():
    record = run_once(
        counts_data(), method_of(ExtraTreesClassifier(n_estimators=30)), ALL_EVALUATORS, 0
    )
    assert record["status"] == "done", record["error"]
    assert record["parameters"]["n_estimators"] == 30


# --- failures and warnings ---


class Fails(Spy):
    def fit(self, X, y):
        warnings.warn("about to fail", stacklevel=2)
        raise ZeroDivisionError("division by the sceptic")


def test_an_entrant_that_fails_leaves_a_record():
    record = run_once(counts_data(), ComparedMethod("fails", Fails()), QUICK, 0)
    assert record["status"] == "failed"
    assert record["error"] == "ZeroDivisionError: division by the sceptic"
    assert record["warnings"] == ["about to fail"]
    assert record["curves"] == {}
    assert record["top"] == []
    assert record["measured"]["seconds"] is not None


def test_a_judge_that_fails_leaves_a_record_with_the_ranking():
    protocol = replace(QUICK, judges=("tests.comparison.test_evaluators.Broken",))
    record = run_once(counts_data(), method_of("fisher"), protocol, 0)
    assert record["status"] == "failed"
    assert record["error"] == (
        "RuntimeError: out of order\n"
        "(judge 'tests.comparison.test_evaluators.Broken' with 1 feature)"
    )
    assert len(record["top"]) == 50


def test_long_errors_are_cut():
    class Wordy(Spy):
        def fit(self, X, y):
            raise ValueError("no " * 10_000)

    record = run_once(counts_data(), ComparedMethod("wordy", Wordy()), QUICK, 0)
    assert len(record["error"]) == 2000


def test_interruptions_are_no_failures():
    class Interrupted(Spy):
        def fit(self, X, y):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_once(counts_data(), ComparedMethod("it", Interrupted()), QUICK, 0)


def test_warnings_are_recorded_once_each_and_not_shown():
    class Warns(Spy):
        def fit(self, X, y):
            for message in ("two", "one", "two"):
                warnings.warn(message, stacklevel=1)
            return super().fit(X, y)

    record = run_once(counts_data(), ComparedMethod("it", Warns()), QUICK, 0)
    assert record["status"] == "done"
    assert record["warnings"] == ["one", "two"]


def test_versions_are_those_that_count():
    assert list(versions()) == ["semisift", "python", "numpy", "scipy", "scikit-learn"]
    assert versions()["numpy"] == np.__version__


# --- data sets that cannot be split ---


def test_a_data_set_that_cannot_be_split_is_named():
    data = ComparisonData.build("colon", np.zeros((62, 3)), codes([40, 22]))
    with pytest.raises(ValueError, match="data set 'colon': no row is left to test on"):
        check_splits(data, PROTOCOLS["fw-semifs"])
    with pytest.raises(ValueError, match="data set 'colon': no row is left to test on"):
        run_once(data, method_of("random"), PROTOCOLS["fw-semifs"], 0)


def test_every_level_is_checked():
    data = ComparisonData.build("sonar", np.zeros((208, 3)), codes([97, 111]))
    check_splits(data, PROTOCOLS["fw-semifs"], Sweep("labels", (1, 5)))
    with pytest.raises(ValueError, match="data set 'sonar': no row is left"):
        check_splits(data, PROTOCOLS["fw-semifs"], Sweep("labels", (1, 100)))
