"""A comparison has the same numbers whoever makes its runs: threads and processes of joblib."""

import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from semisift import Protocol, compare
from semisift.comparison._run import RunKey, collected_warnings
from semisift.comparison._runner import Runner
from semisift.parallel import one_blas_thread
from tests.rankers import Counting, Failing, Slow

SETS = {"wine": load_wine(return_X_y=True), "iris": load_iris(return_X_y=True)}
METHODS = ["fisher", "random", "all-labels", "laplacian", "ssfi:n_members=30"]
PROTOCOL = Protocol(n_runs=3, sizes=(1, 2), judges=("nb", "tree"))


@pytest.fixture(scope="module")
def one_by_one():
    return compare(METHODS, SETS, PROTOCOL)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_numbers_do_not_depend_on_the_backend(backend, one_by_one):
    with joblib.parallel_config(backend=backend):
        results = compare(METHODS, SETS, PROTOCOL, n_jobs=2)
    assert len(results.records) == 30
    assert results.same_numbers(one_by_one)


def test_failures_are_the_same_as_well():
    with joblib.parallel_config(backend="threading"):
        first, second = (
            compare([("bad", Failing()), "random"], SETS, PROTOCOL, n_jobs=jobs) for jobs in (1, 2)
        )
    assert len(first.failures) == 6
    assert first.same_numbers(second)


def test_threads_work_at_the_same_time():
    with joblib.parallel_config(backend="threading"):
        compare([("counting", Counting())], SETS, PROTOCOL, n_jobs=2)
    assert Counting.most == 2


def test_threads_hear_their_own_warnings():
    methods = [f"tests.rankers.Warner:words={words}" for words in ("one", "two", "three")]
    with joblib.parallel_config(backend="threading"):
        results = compare([*methods, "random"], SETS, PROTOCOL, n_jobs=4)
    for record in results.records:
        words = record["method"].partition("=")[2]
        assert record["warnings"] == ([words] if words else [])


def test_warnings_are_as_they_were_afterwards():
    before = warnings.filters[:], warnings.showwarning

    def listen():
        with collected_warnings() as caught:
            time.sleep(0.01)
            warnings.warn("heard", stacklevel=1)
        assert caught == {"heard"}

    threads = [threading.Thread(target=listen) for _ in range(8)]
    for thread in threads:
        thread.start()
        time.sleep(0.003)
    for thread in threads:
        thread.join()
    assert (warnings.filters, warnings.showwarning) == before


def blas_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads():
    """Let BLAS have two threads, whatever other tests left, and no thread own this number."""
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    before = [library.num_threads for library in libraries]
    for numbers in ([2] * len(libraries), before):
        for library, number in zip(libraries, numbers, strict=True):
            library.clear_controlling_thread(force=True)
            library.set_num_threads(number)
            library.clear_controlling_thread(force=True)
        if numbers is not before:
            yield


@pytest.mark.usefixtures("two_blas_threads")
def test_overlapping_threads_keep_blas_to_one_thread_and_give_it_back():
    seen = []

    def work(delay, seconds):
        time.sleep(delay)
        with one_blas_thread():
            time.sleep(seconds)
            seen.extend(blas_threads())

    # the first one leaves while the second is at work, and lives on in the pool
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (0, 0.05), (0.1, 0.1)))
        assert set(seen) == {1}
        assert set(blas_threads()) == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_a_limit_of_the_user_s_own_neither_hinders_nor_is_lost():
    with threadpool_limits(3, "blas"), ThreadPoolExecutor(1) as pool:

        def work():
            with one_blas_thread():
                return blas_threads()

        assert set(pool.submit(work).result()) == {1}
        assert set(blas_threads()) == {3}
    assert set(blas_threads()) == {2}


# --- what is told before the first run ------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judges": ("nonsense",)}, "there is no judge 'nonsense'"),
        ({"sizes": (5, 6)}, "data set 'iris' has 4 features, and sizes begin with 5"),
        ({"labels_per_class": None, "n_labelled": 2}, "data set 'wine': n_labelled must be"),
    ],
)
def test_what_would_fail_in_every_run(changes, message):
    protocol = Protocol(**{"sizes": (1,), **changes})
    with pytest.raises(ValueError, match=message):
        compare("random", SETS, protocol, on_record=lambda *_: pytest.fail("a run was made"))


# --- too slow -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_seconds_are_limited(n_jobs):
    left = []
    with joblib.parallel_config(backend="threading"):
        results = compare(
            {"slow": Slow(0.3), "quick": Slow(0.0)},
            SETS,
            Protocol(n_runs=8, sizes=(1,), judges=("nb",)),
            max_seconds=0.2,
            n_jobs=n_jobs,
            on_record=lambda _, n_left: left.append(n_left),
        )
    made = [(record["dataset"], record["method"]) for record in results.records]
    assert made.count(("wine", "slow")) == made.count(("iris", "slow")) == 1
    assert len(made) == len(left) == 18
    assert left[-1] == 0
    assert left[0] <= 31
    assert sorted(left, reverse=True) == left
    assert set(results.too_slow) == {("wine", "slow"), ("iris", "slow")}
    assert np.isnan(results.scores().means[:, 0]).all()


def test_each_method_is_tried_once_before_the_rest():
    keys = [RunKey("d", method, run) for run in range(3) for method in "ab"]
    done = {keys[0]: {"status": "done", "measured": {"seconds": 0.1}}}
    work = Runner(keys, done, max_seconds=1.0)
    assert work.rounds() == [[RunKey("d", "b", 0)], [key for key in keys[1:] if key.run]]
    assert Runner(keys, dict(done)).rounds() == [keys[1:]]
