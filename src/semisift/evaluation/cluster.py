"""Runs of a comparison on a Dask cluster, each of whose workers gets a data set once."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from semisift._cluster import Call, Cluster
from semisift.evaluation.runs import Record, RunKey

if TYPE_CHECKING:
    from distributed import Client

    from semisift.evaluation.work import RunPlan


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
    cluster = Cluster(client)
    calls = (
        Call(plan.runner, (cluster.put(plan.sets[key.dataset]), *plan.arguments(key)))
        for key in keys
    )
    at_once = n_jobs if n_jobs is not None and n_jobs > 0 else None
    yield from cluster.run(calls, at_once, in_order=False)
