"""A comparison on a real Dask cluster of two processes."""

import os
import signal

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from semisift import Protocol, Results, compare
from semisift.exceptions import WorkerLostError
from tests.cli.test_compare import call

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.cluster

SETS = {"wine": load_wine(return_X_y=True), "iris": load_iris(return_X_y=True)}
METHODS = ["fisher", "random", "all-labels", "laplacian", "ssfi:n_members=30"]
PROTOCOL = Protocol(n_runs=4, sizes=(1, 2), judges=("nb",))


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(scope="module")
def one_by_one():
    return compare(METHODS, SETS, PROTOCOL)


def test_a_cluster_gives_the_same_records(client, one_by_one):
    with joblib.parallel_config(backend="dask", client=client):
        results = compare(METHODS, SETS, PROTOCOL)
    assert len(results.records) == 40
    assert results.same_numbers(one_by_one)


def test_a_worker_that_dies_half_way_changes_nothing(client, cluster, one_by_one, tmp_path):
    killed = []

    def kill_one(record, n_left):
        if n_left == 25:
            workers = client.run(os.getpid)
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

    with joblib.parallel_config(backend="dask", client=client):
        results = compare(METHODS, SETS, PROTOCOL, out=tmp_path / "out", on_record=kill_one)
    assert len(killed) == 1
    assert results.same_numbers(one_by_one)
    assert Results.load(tmp_path / "out").same_numbers(one_by_one)


def test_the_only_holder_of_the_data_dies(client, one_by_one):
    """All workers at once: the data set is sent again as well."""
    killed = []

    def kill_all(record, n_left):
        if n_left == 25:
            killed.extend(client.run(os.getpid).values())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    with joblib.parallel_config(backend="dask", client=client):
        results = compare(METHODS, SETS, PROTOCOL, on_record=kill_all)
    assert len(killed) == 2
    assert results.same_numbers(one_by_one)


def test_a_run_that_kills_every_worker_is_told(client, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with (
        joblib.parallel_config(backend="dask", client=client),
        pytest.raises(WorkerLostError, match=r"died one after another.*Dying on iris"),
    ):
        compare(
            ["random", "tests.rankers.Dying"],
            {"iris": SETS["iris"]},
            PROTOCOL,
            out=tmp_path / "out",
        )
    Results.load(tmp_path / "out")


def test_the_command_line_finds_the_cluster(cluster, one_by_one, tmp_path):
    for name, (X, y) in SETS.items():
        np.savez(tmp_path / f"{name}.npz", X=X, y=y)
    files = [tmp_path / "wine.npz", tmp_path / "iris.npz"]
    out = tmp_path / "out"
    call(
        *("compare", *files, "--methods", ",".join(METHODS), "--out", out, "--no-report"),
        *("--runs", 4, "--sizes", "1,2", "--judge", "nb"),
        *("--backend", "dask", "--scheduler", cluster.scheduler_address),
    )
    assert Results.load(out).same_numbers(one_by_one)
    next(out.glob("records/*/*/*.json")).unlink()
    call("compare", "--resume", "--out", out)
    assert Results.load(out).same_numbers(one_by_one)
    assert not {"backend", "scheduler"} & {*Results.load(out).about["notes"]["options"]}


def test_a_scheduler_that_goes_away_is_told(tmp_path):
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def close(*_):
            cluster.close()

        with (
            joblib.parallel_config(backend="dask", client=client),
            pytest.raises(WorkerLostError, match="the scheduler of the cluster is gone"),
        ):
            compare("random", SETS, PROTOCOL, out=tmp_path / "out", on_record=close)
    assert Results.load(tmp_path / "out").n_missing == 7
