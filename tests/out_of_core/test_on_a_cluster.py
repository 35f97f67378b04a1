"""Dask arrays whose chunks are on a cluster."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from semisift import SSFI, FisherScore, OutOfCoreError, OutOfCoreMatrix, TransductiveScore
from semisift.out_of_core import _matrix as stored_rows

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask.array")

pytestmark = pytest.mark.cluster

RANKERS = [
    FisherScore(),
    TransductiveScore(max_unlabelled=100),
    SSFI(max_unlabelled=100, n_members=60),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(stored_rows, "BLOCK_VALUES", 64 * 25)
    monkeypatch.setattr(stored_rows, "READ_BYTES", 20_000)


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def case():
    rng = np.random.default_rng(0)
    truth = np.arange(800) % 2
    X = rng.normal(size=(800, 25))
    X[:, :3] += 1.5 * truth[:, None]
    return X, np.where(np.arange(800) < 24, truth, -1)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.parametrize("spreads_members", [False, True])
def test_chunks_on_a_cluster_give_the_same_bits(client, ranker, spreads_members):
    X, y = case()
    plain = ranker.fit(X, y).scores_.copy()
    stored = dask.from_array(X, chunks=(90, 25)).persist()
    rows = OutOfCoreMatrix(stored, max_memory=120_000)
    assert not rows.fits()
    if spreads_members:
        with joblib.parallel_config(backend="dask", client=client):
            found = ranker.fit(rows, y)
    else:
        found = ranker.fit(rows, y)
    assert_array_equal(found.scores_, plain)


def test_a_chunk_that_fails_on_the_cluster_is_named(client):
    X, y = case()

    def fail_at(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == 4:
            raise OSError("disk of worker is gone")
        return block

    stored = dask.from_array(X, chunks=(90, 25)).map_blocks(fail_at, dtype=X.dtype, meta=X[:0])
    with pytest.raises(
        OutOfCoreError, match=r"chunk .*4.* cannot be read: OSError: disk of worker"
    ):
        FisherScore().fit(OutOfCoreMatrix(stored, max_memory=120_000), y)
