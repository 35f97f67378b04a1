"""Committees give the same bits in any blocks, on any threads, processes or machines."""

import os
import platform
import subprocess
import sys
import textwrap

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from semisift import SEFR, SSFI, EnsCLS, ForestImportance, PCTForestImportance, parallel
from semisift.parallel import Committee
from tests.methods.test_common import nightly


def big_case(sparse=False):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, size=(300, 80)).astype(float)
    X[:, 0] += np.arange(300) % 3
    y = np.where(np.arange(300) < 15, np.arange(300) % 3, -1)
    return (csr_array(X) if sparse else X), y


RANKERS = {
    "ssfi": SSFI(n_members=150, random_state=0),
    "ssfi paper": SSFI(n_members=150, variant="paper", random_state=0),
    "ssfi sampled": SSFI(n_members=150, permutation="sampled", random_state=0),
    "sefr": SEFR(n_members=150, random_state=0),
    "forest": ForestImportance(n_members=150, random_state=0),
    "enscls": EnsCLS(n_members=150, random_state=0),
    "pct-forest": PCTForestImportance(n_members=150, random_state=0),
}

every = pytest.mark.parametrize("name", RANKERS)


def scores_of(name, **params):
    return RANKERS[name].set_params(n_jobs=None).set_params(**params).fit(*big_case()).scores_


@every
@pytest.mark.parametrize("block_size", [7, *nightly(1, 64)])
@pytest.mark.parametrize("n_jobs", [2, *nightly(1)])
def test_blocks_and_threads_do_not_matter(name, block_size, n_jobs, monkeypatch):
    expected = scores_of(name)
    monkeypatch.setattr(parallel, "BLOCK_SIZE", block_size)
    assert_array_equal(scores_of(name, n_jobs=n_jobs), expected)


@pytest.mark.parametrize("name", ["ssfi", *nightly(*[each for each in RANKERS if each != "ssfi"])])
def test_processes_do_not_matter(name):
    expected = scores_of(name)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert_array_equal(scores_of(name), expected)


@every
def test_sparse_and_precision_do_not_matter(name):
    X, y = big_case()
    expected = scores_of(name)
    for form in (csr_array(X), X.astype(np.float32), X.astype(np.int64), np.asfortranarray(X)):
        assert_array_equal(RANKERS[name].fit(form, y).scores_, expected)


@pytest.mark.cluster
def test_a_dask_cluster_does_not_matter(tmp_path):
    """A real cluster of two worker processes, in a process of its own."""
    pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    script = """
        import warnings
        import joblib, numpy as np
        from distributed import Client, LocalCluster
        from tests.methods.test_same_answer import RANKERS, scores_of

        if __name__ == "__main__":
            warnings.simplefilter("ignore")
            expected = {name: scores_of(name) for name in RANKERS}
            with (
                LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
                Client(cluster),
                joblib.parallel_config(backend="dask"),
            ):
                for name in RANKERS:
                    assert np.array_equal(scores_of(name), expected[name], equal_nan=True), name
            print("equal")
    """
    path = tmp_path / "on_dask.py"
    path.write_text(textwrap.dedent(script))
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=300, env=environment()
    )
    assert "equal" in done.stdout, done.stderr


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join([".", *sys.path])}


def test_a_remote_backend_is_really_used(monkeypatch):
    """Otherwise the two tests above would compare threads with threads."""
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert Committee(10, None).is_remote
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert not Committee(10, None).is_remote
    assert not Committee(10, 2).is_remote
    assert Committee(10, None).n_jobs == 1


@every
@pytest.mark.parametrize("place", nightly(0, 40, 79))
def test_place_of_a_column_does_not_matter_in_distribution(name, place):
    ranks = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 80))
        X[:, place] += 4 * (np.arange(200) % 2)
        y = np.where(np.arange(200) < 10, np.arange(200) % 2, -1)
        ranker = RANKERS[name].set_params(n_jobs=None, random_state=seed)
        ranks.append(ranker.fit(X, y).ranking_[place])
        ranker.set_params(random_state=0)
    assert np.median(ranks) <= 3, ranks


RANK_EVERYTHING = """
import numpy as np
from sklearn.datasets import load_breast_cancer
from semisift import METHODS

X, classes = load_breast_cancer(return_X_y=True)
X, y = X[:120], np.where(np.arange(120) % 6 == 0, classes[:120], -1)
for name in ("rlsr", "s3vm-rfe", "fs-manifold", "laplacian", "enscls", "ssfi", "fisher", "cls"):
    ranker = METHODS[name].cls().fit(X, y)
    print(name, *ranker.ranking_, *map(float.hex, ranker.scores_.astype(float)))
"""


def ranked_on(processor):
    """Rank in a process of its own, with the routines of BLAS for one kind of processor."""
    process = subprocess.run(
        [sys.executable, "-c", RANK_EVERYTHING],
        env=os.environ | {"OPENBLAS_CORETYPE": processor},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split() for line in process.stdout.splitlines()]
    return {
        name: (numbers[:30], [float.fromhex(n) for n in numbers[30:]]) for name, *numbers in lines
    }


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names of x86 processors")
def test_routines_of_another_processor_change_no_rank():
    old, new = ranked_on("Prescott"), ranked_on("Haswell")
    assert len(old) == 8
    for name, (ranks, scores) in old.items():
        assert ranks == new[name][0], name
        np.testing.assert_allclose(scores, new[name][1], rtol=1e-10, err_msg=name)
