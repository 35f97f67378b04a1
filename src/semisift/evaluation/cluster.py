"""Runs of a comparison on a Dask cluster.

A data set is the result of a task of its own, which the scheduler can do again, so that a worker
that dies takes nothing with it: its runs and its data are made anew elsewhere. (Scattered data
would be lost, and data that came with every run would travel as often.)
"""

import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from semisift.evaluation.datasets import ComparisonData
from semisift.evaluation.runs import Record, RunKey
from semisift.exceptions import WorkerLostError

if TYPE_CHECKING:
    from distributed import Client, Future

    from semisift.evaluation.work import RunPlan

# Runs that are sent out for each thread of the cluster: one at work and one to follow.
RUNS_PER_THREAD = 2

SECONDS_TO_WAIT_FOR_WORKERS = 60

SCHEDULER_GONE = "the scheduler of the cluster is gone"


def run_on_cluster(
    client: "Client", keys: Iterator[RunKey], plan: "RunPlan", n_jobs: int | None = None
) -> Iterator[Record]:
    """Make records on a cluster, in the order in which they are ready.

    Parameters
    ----------
    client : distributed.Client
    keys : iterator of RunKey
        Asked for the next one when there is room for it.
    plan : RunPlan
    n_jobs : int or None
        Runs at a time; None and -1 keep all threads of the cluster busy.

    Yields
    ------
    dict
    """
    from distributed import as_completed
    from distributed.comm import CommClosedError

    client.wait_for_workers(1, timeout=SECONDS_TO_WAIT_FOR_WORKERS)
    finished = as_completed()
    pending: set[Future] = set()
    on_cluster: dict[str, Future] = {}
    n_at_once = 1
    try:
        while True:
            if client.status not in ("running", "connecting"):
                raise WorkerLostError(SCHEDULER_GONE)
            n_at_once = _n_at_once(client, n_jobs) or n_at_once
            while len(pending) < n_at_once and (key := next(keys, None)) is not None:
                data = _send(client, key.dataset, plan.sets, on_cluster)
                future = client.submit(plan.runner, data, *plan.arguments(key), pure=False)
                pending.add(future)
                finished.add(future)
            if not pending:
                return
            future = next(finished)
            pending.remove(future)
            yield _record(future)
    except CommClosedError as error:
        raise WorkerLostError(SCHEDULER_GONE) from error
    finally:
        if client.status == "running":
            client.cancel([*pending, *on_cluster.values()])


def _n_at_once(client: "Client", n_jobs: int | None) -> int:
    """Return how many runs to send out; 0 where all workers are gone for the moment."""
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    return RUNS_PER_THREAD * sum(client.nthreads().values())


def _send(
    client: "Client", name: str, sets: dict[str, ComparisonData], on_cluster: "dict[str, Future]"
) -> "Future":
    """Return the data set on the cluster, and let go of the one before it."""
    if name not in on_cluster:
        on_cluster.clear()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            on_cluster[name] = client.submit(_same, sets[name], pure=False)
    return on_cluster[name]


def _same(data: ComparisonData) -> ComparisonData:
    return data


def _record(future: "Future") -> Record:
    """Return the record of a run; where it was lost with its worker, the run is made again."""
    from distributed import KilledWorker

    try:
        record: Record = future.result()
    except KilledWorker as error:
        raise WorkerLostError(
            "the workers that were given a run died one after another, as happens where memory "
            "runs out or compiled code crashes"
        ) from error
    except CancelledError as error:
        raise WorkerLostError(SCHEDULER_GONE) from error
    return record
