"""Work on a real Dask cluster of two processes: bytes on the wire, same bits, and what is lost."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, random_array
from sklearn.base import clone

from semisift import (
    SEFR,
    SSFI,
    CoForest,
    Consensus,
    EnsCLS,
    FisherScore,
    ForestImportance,
    PCTForestImportance,
    Protocol,
    Results,
    compare,
    parallel,
)
from semisift.exceptions import WorkerLostError
from semisift.parallel import Workers

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.cluster

# Times X, for what each worker receives.
MAX_RECEIVED = 1.2

RANKERS = {
    "ssfi, 3 rounds": SSFI(n_members=60, max_iter=3, random_state=0),
    "ssfi, 10 rounds": SSFI(n_members=60, max_iter=10, random_state=0),
    "ssfi relevant": SSFI(n_members=60, subspace="relevant", random_state=0),
    "sefr": SEFR(n_members=20, max_iter=2, random_state=0),
    "forest": ForestImportance(n_members=60, random_state=0),
    "enscls": EnsCLS(n_members=20, max_unlabelled=100, random_state=0),
    "pct-forest": PCTForestImportance(n_members=2, label_weight="cv", random_state=0),
}


def big_case(n=1000, p=400, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(dtype)
    X[:, :5] += np.arange(n)[:, None] % 3
    return X, np.where(np.arange(n) < 30, np.arange(n) % 3, -1)


@pytest.fixture(scope="module")
def cluster():
    # A local cluster gives a worker up for good that is gone 15 s after one of its name was lost,
    # which is in the next test that kills it.
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        wait_for_both(client)
        yield client


def wait_for_both(client):
    """Wait until two workers answer: one that was just killed is still counted for a while."""
    for _ in range(600):
        found = client.run(os.getpid, on_error="return").values()
        if sum(isinstance(pid, int) for pid in found) == 2:
            return
        time.sleep(0.1)
    raise TimeoutError("two workers")


class Received:
    """Counts the bytes that each worker receives, of whomever, while the context lasts."""

    def __init__(self, client):
        self.client = client

    def __enter__(self):
        def begin():
            from distributed.comm import tcp

            if not hasattr(tcp, "read_uncounted"):
                tcp.read_uncounted = tcp.read_bytes_rw

                async def read(stream, n):
                    tcp.n_received += n
                    return await tcp.read_uncounted(stream, n)

                tcp.read_bytes_rw = read
            tcp.n_received = 0

        self.client.run(begin)
        return self

    def __exit__(self, *_):
        def end():
            from distributed.comm import tcp

            return tcp.n_received

        self.by_worker = self.client.run(end)

    def check(self, size):
        assert len(self.by_worker) == 2
        received = [n / size for n in self.by_worker.values()]
        assert max(received) <= MAX_RECEIVED, received
        assert min(received) >= 0.9, received  # or nothing was counted, or nothing done there


def kill(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def on_dask(client):
    return joblib.parallel_config(backend="dask", client=client)


@pytest.mark.parametrize("name", RANKERS)
def test_data_moves_once(name, client):
    X, y = big_case()
    expected = RANKERS[name].fit(X, y).scores_
    with Received(client) as received, on_dask(client):
        found = RANKERS[name].fit(X, y).scores_
    assert_array_equal(found, expected)
    if name != "forest":  # whose labelled rows are few beside the messages of the cluster
        received.check(X.nbytes)


def test_all_labelled_rows_of_a_forest_move_once(client):
    X, _ = big_case()
    y = np.where(np.arange(len(X)) < 990, np.arange(len(X)) % 3, -1)
    ranker = ForestImportance(n_members=30, random_state=0)
    expected = ranker.fit(X, y).scores_
    with Received(client) as received, on_dask(client):
        assert_array_equal(ranker.fit(X, y).scores_, expected)
    received.check(X.nbytes)


def test_a_second_fit_sends_nothing_again(client):
    X, y = big_case()
    with on_dask(client):
        SSFI(n_members=60, random_state=0).fit(X, y)
        with Received(client) as received:
            SSFI(n_members=60, random_state=1).fit(X, y)
    assert max(received.by_worker.values()) < 0.2 * X.nbytes


def test_sparse_data_moves_once(client):
    X = csr_array(random_array((2000, 1000), density=0.1, random_state=np.random.default_rng(0)))
    y = np.where(np.arange(2000) < 30, np.arange(2000) % 3, -1)
    ranker = SSFI(n_members=60, random_state=0)
    expected = ranker.fit(X, y).scores_
    with Received(client) as received, on_dask(client):
        assert_array_equal(ranker.fit(X, y).scores_, expected)
    received.check(X.nnz * 12)


def test_learners_get_data_once(client):
    X, y = big_case()
    learner = CoForest(n_members=10, max_iter=3, random_state=0)
    expected = learner.fit(X, y).predict_proba(X)
    with Received(client) as received, on_dask(client):
        assert_array_equal(learner.fit(X, y).predict_proba(X), expected)
    received.check(X.nbytes)


def same_assessment(one, other):
    for part in ("rank_interval", "selection_probability", "p_values", "decisions"):
        assert_array_equal(getattr(one, part), getattr(other, part), err_msg=part)
    assert one.p_value == other.p_value
    assert one.stability == other.stability


ASSESSED = {
    "consensus": Consensus(n_members=50, random_state=0),
    "ssfi": SSFI(n_members=30, random_state=0),
}
HOW = {"n_resamples": 5, "n_permutations": 39}


@pytest.mark.parametrize("name", ASSESSED)
def test_assessments_move_data_once(name, client):
    X, y = big_case(p=600)
    ranker = ASSESSED[name].fit(X, y)
    expected = ranker.assess(X, y, **HOW)
    with Received(client) as received, on_dask(client):
        found = ranker.assess(X, y, **HOW)
    same_assessment(found, expected)
    received.check(X.nbytes)


def test_assessments_of_many_rows_have_the_same_bits(client):
    """Twins are tried on 2,000 unlabelled rows, in the components of all."""
    X, y = big_case(n=2600, p=30)
    ranker = ASSESSED["consensus"].fit(X, y)
    expected = ranker.assess(X, y, **HOW)
    with on_dask(client):
        same_assessment(ranker.assess(X, y, **HOW), expected)


@pytest.mark.parametrize("rule", ["shadow", "stability", "knockoff"])
def test_rules_decide_alike_on_a_cluster(rule, client):
    rng = np.random.default_rng(0)
    classes = np.arange(300) % 2
    X = rng.normal(size=(300, 40))
    X[:, :20] += 0.7 * classes[:, None]
    y = np.where(np.arange(300) < 250, classes, -1)
    ranker = FisherScore(n_features_to_select=rule)
    expected = ranker.fit(X, y)
    decisions, cutoff = expected.decisions_, expected.cutoff_
    with on_dask(client):
        ranker.fit(X, y)
    assert_array_equal(ranker.decisions_, decisions)
    assert ranker.cutoff_.threshold == cutoff.threshold


def test_each_data_set_reaches_a_worker_once(client):
    sets = {}
    for seed in range(2):
        X, _ = big_case(n=600, seed=seed)
        sets[f"set {seed}"] = X, np.arange(600) % 3
    protocol = Protocol(n_runs=6, sizes=(1,), judges=("nb",))
    expected = compare(["fisher", "random"], sets, protocol)
    with Received(client) as received, on_dask(client):
        found = compare(["fisher", "random"], sets, protocol)
    assert found.same_numbers(expected)
    received.check(sum(X.nbytes for X, _ in sets.values()))


# What is lost -------------------------------------------------------------------------------------


class KillsAfter:
    """Lets tasks through, and kills processes when some of them have come back."""

    def __init__(self, monkeypatch, n_results, find_pids):
        self.left, self.killed = n_results, []
        result = parallel.Cluster._result

        def counted(cluster, sent):
            found = result(cluster, sent)
            self.left -= 1
            if not self.left:
                self.killed = find_pids()
                kill(self.killed)
            return found

        monkeypatch.setattr(parallel.Cluster, "_result", counted)

    @classmethod
    def some_workers(cls, monkeypatch, client, n_results, n_workers):
        find = client.run
        return cls(monkeypatch, n_results, lambda: [*find(os.getpid).values()][:n_workers])


@pytest.mark.parametrize("n_killed", [1, 2])
def test_a_killed_worker_costs_time_only(client, monkeypatch, n_killed):
    X, y = big_case()
    ranker = SSFI(n_members=60, max_iter=10, random_state=0)
    expected = ranker.fit(X, y).scores_
    monkeypatch.setattr(parallel, "SECONDS_TO_WAIT_FOR_WORKERS", 300)  # on a busy machine
    kills = KillsAfter.some_workers(monkeypatch, client, 9, n_killed)
    with on_dask(client):
        assert_array_equal(ranker.fit(X, y).scores_, expected)
    assert len(kills.killed) == n_killed


def test_a_killed_worker_does_not_change_an_assessment(client, monkeypatch):
    X, y = big_case()
    ranker = ASSESSED["consensus"].fit(X, y)
    expected = ranker.assess(X, y, **HOW)
    kills = KillsAfter.some_workers(monkeypatch, client, 3, 1)
    with on_dask(client):
        same_assessment(ranker.assess(X, y, **HOW), expected)
    assert kills.killed


def die(item):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(item):
    raise ValueError(f"no {item}")


def count_jobs(item):
    """Say what a nested call would use, and where it is."""
    return joblib.effective_n_jobs(-1), Workers(-1).n_jobs, os.getpid()


def test_a_task_that_kills_every_worker_is_told(monkeypatch):
    monkeypatch.setattr(parallel, "MAX_LOST", 1)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
        on_dask(client),
        Workers(None) as workers,
        pytest.raises(WorkerLostError, match="died one after another"),
    ):
        list(workers.map(die, [1]))


def test_errors_of_tasks_come_back_as_they_are(client):
    with on_dask(client), Workers(None) as workers, pytest.raises(ValueError, match="no 1"):
        list(workers.map(fail, [1, 2]))


def test_tasks_are_not_spread_any_further(client):
    with on_dask(client), Workers(None) as workers:
        assert workers.is_cluster
        *_, (of_joblib, own, where) = workers.map(count_jobs, range(4))
    assert (of_joblib, own) == (1, 1)
    assert where != os.getpid()
    with Workers(2) as workers:
        assert {found[:2] for found in workers.map(count_jobs, range(4))} == {(1, 1)}


def test_a_closed_scheduler_is_told():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
        on_dask(client),
        Workers(None) as workers,
    ):
        results = workers.map(np.multiply, iter(range(20)), 2)
        assert next(results) == 0
        cluster.close()
        with pytest.raises(WorkerLostError, match="the scheduler of the cluster is gone"):
            list(results)


@pytest.mark.kill
def test_a_killed_scheduler_is_told_and_the_store_resumes(tmp_path):
    """What was finished is kept."""
    sets = {"a": (big_case(n=90, p=10)[0], np.arange(90) % 3)}
    protocol = Protocol(n_runs=8, sizes=(1,), judges=("nb",))
    with own_scheduler(tmp_path) as (scheduler, client):

        def kill_scheduler(record, n_left):
            if n_left == 5:
                kill([scheduler.pid])

        with on_dask(client), pytest.raises(WorkerLostError, match="scheduler of the cluster"):
            compare("random", sets, protocol, out=tmp_path / "out", on_record=kill_scheduler)
    assert 0 < Results.load(tmp_path / "out").n_missing <= 5
    compare("random", sets, protocol, out=tmp_path / "out", resume=True)
    assert Results.load(tmp_path / "out").n_missing == 0


@pytest.mark.kill
@pytest.mark.parametrize("what", ["fit", "assess"])
def test_a_scheduler_killed_at_work_is_told_and_leaves_the_ranker_usable(
    what, tmp_path, monkeypatch
):
    X, y = big_case()
    ranker = clone(ASSESSED["consensus"]).fit(X, y)
    scores = ranker.scores_.copy()
    with own_scheduler(tmp_path) as (scheduler, client):
        kills = KillsAfter(monkeypatch, 2, lambda: [scheduler.pid])
        with on_dask(client), pytest.raises(WorkerLostError, match="scheduler of the cluster"):
            ranker.fit(X, y) if what == "fit" else ranker.assess(X, y, **HOW)
    assert kills.killed
    assert not hasattr(ranker, "assessment_")
    assert_array_equal(ranker.fit(X, y).scores_, scores)


@contextmanager
def own_scheduler(tmp_path):
    """Start a scheduler and two workers as processes of their own."""
    file = ["--scheduler-file", str(tmp_path / "scheduler.json"), "--no-dashboard"]
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        started("dask_scheduler", "--host", "127.0.0.1", "--port", "0", *file) as scheduler,
        started("dask_worker", "--nthreads", "1", "--nworkers", "2", *file),
        distributed.Client(scheduler_file=file[1], timeout="30s") as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield scheduler, client


@contextmanager
def started(program, *options):
    path = {"PYTHONPATH": os.pathsep.join([".", *sys.path])}
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{program}", *options],
        env={**os.environ, **path},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def test_workers_without_the_package_are_named(tmp_path):
    (tmp_path / "hide.py").write_text(
        textwrap.dedent(
            """
            import sys

            def dask_setup(worker):
                for name in [name for name in sys.modules if name.startswith("semisift")]:
                    del sys.modules[name]
                sys.modules["semisift"] = None
            """
        )
    )
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            preload=[str(tmp_path / "hide.py")],
        ) as cluster,
        distributed.Client(cluster) as client,
        on_dask(client),
    ):
        client.wait_for_workers(2, timeout=60)
        with pytest.raises(ImportError, match=r"the worker tcp://.* \(and 1 more\) .*semisift"):
            SSFI(n_members=20, random_state=0).fit(*big_case(n=60, p=10))


# What stays ---------------------------------------------------------------------------------------


def test_what_is_kept_is_bounded(client):
    cluster = parallel.Cluster(client)
    things = [np.full(100_000, i, dtype=float) for i in range(4)]
    for thing in things:
        assert isinstance(cluster.put(thing), parallel.Parcel)
    assert cluster.put(things[0]) is cluster.put(things[0])
    assert cluster.put("a few words") == "a few words"
    kept = cluster._store.contents.values()
    assert sum(each.n_bytes for each in kept) <= 2 * things[0].nbytes
