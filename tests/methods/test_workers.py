"""Whoever does tasks: the same answers, in their order, from threads and processes as from one."""

import os
import signal
import threading
import warnings

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

from semisift import SSFI, Consensus, FisherScore
from semisift.base._training_data import TrainingData
from semisift.committee._members import build_context, new_blocks
from semisift.exceptions import WorkerLostError
from semisift.parallel import Committee, Workers
from semisift.utils._warnings import quiet


def big_case():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 700))
    X[:, :3] += np.arange(400)[:, None] % 2
    return X, np.where(np.arange(400) < 20, np.arange(400) % 2, -1)


def mapped_files(block, setting):
    """Say which files the values of X are mapped from, and in which process."""
    X = setting.table.X
    parts = (X.data, X.indices) if issparse(X) else (X,)
    return [getattr(part, "filename", None) for part in parts], os.getpid()


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_processes_map_one_file_of_the_values(form):
    """It is written once, whatever the number of calls, and is gone afterwards."""
    X, y = big_case()
    setting = build_context(TrainingData.build(form(X), y), 10)
    with joblib.parallel_config(backend="loky", n_jobs=2), Committee(8, None) as committee:
        blocks = new_blocks(committee, setting)
        found = [*committee.map(mapped_files, blocks, setting)]
        found += [*committee.map(mapped_files, blocks, setting)]
        files = found[0][0]
        assert None not in files
        assert all(each[0] == files for each in found)
        assert all(pid != os.getpid() for _, pid in found)
    assert not any(os.path.exists(file) for file in files)


def die(item):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.kill
def test_a_killed_process_is_told():
    with (
        joblib.parallel_config(backend="loky", n_jobs=2),
        Workers(None) as workers,
        pytest.raises(WorkerLostError, match="a process at work died"),
    ):
        list(workers.map(die, [1, 2]))


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_items_are_asked_for_when_there_is_room(backend):
    asked = []

    def numbers():
        for i in range(40):
            asked.append(i)
            yield i

    with joblib.parallel_config(backend=backend, n_jobs=2), Workers(None) as workers:
        results = workers.map(divmod, numbers(), 7)
        assert next(results) == (0, 0)
        assert len(asked) < 10
        assert [*results] == [divmod(i, 7) for i in range(1, 40)]


def test_memory_limits_threads_only():
    assert Workers(4, most_threads=2).n_jobs == 2
    assert Workers(4, most_threads=0).n_jobs == 1
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert Workers(None, most_threads=1).n_jobs == 2


@pytest.mark.parametrize(
    "ranker",
    [Consensus(n_members=30, random_state=0), SSFI(n_members=30, random_state=0), FisherScore()],
    ids=["permuted features", "committee", "no n_jobs"],
)
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_an_assessment_is_the_same_on_threads_and_processes(ranker, backend):
    X, y = big_case()
    expected = ranker.fit(X, y).assess(X, y, n_resamples=4, n_permutations=39)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = ranker.assess(X, y, n_resamples=4, n_permutations=39)
    for part in ("rank_interval", "selection_probability", "p_values", "decisions"):
        assert_array_equal(getattr(found, part), getattr(expected, part), err_msg=part)


def warn_once(*args):
    warnings.warn("somebody hears this", UserWarning, stacklevel=1)


def test_quiet_concerns_its_own_thread_alone():
    """The filters are those of the process: other threads work while this one is quiet."""
    with warnings.catch_warnings(record=True) as caught, quiet():
        warnings.simplefilter("always")
        with quiet():
            warn_once()
        with quiet():
            thread = threading.Thread(target=warn_once)
            thread.start()
            thread.join()
        assert len(caught) == 1


def test_threads_that_work_for_a_quiet_one_are_quiet():
    with warnings.catch_warnings(record=True) as caught, Workers(2) as workers:
        warnings.simplefilter("always")
        with quiet():
            list(workers.map(warn_once, [1, 2]))
        assert not caught
        list(workers.map(warn_once, [1, 2]))
        assert len(caught) == 2
