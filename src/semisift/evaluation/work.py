"""The work of a comparison: which runs are to be made, and by whom.

Runs are made here, by the threads and processes of joblib, or by a Dask cluster. The numbers are
the same.
"""

import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import joblib
from joblib.parallel import get_active_backend

from semisift._provenance import plain, versions
from semisift._words import count
from semisift.evaluation.cluster import run_on_cluster
from semisift.evaluation.datasets import ComparisonData
from semisift.evaluation.protocol import Protocol
from semisift.evaluation.runs import Record, RunKey, check_splits, is_slow, key_of
from semisift.evaluation.store import Store
from semisift.evaluation.sweeps import Sweep
from semisift.exceptions import WorkerLostError

MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class RunPlan:
    """What is compared and how: `runner` makes a record from a data set and `arguments`.

    Attributes
    ----------
    sets : dict of str to ComparisonData
    entrants : dict of str to object
    protocol : Protocol
    sweep : Sweep or None
    """

    sets: dict[str, ComparisonData]
    entrants: dict[str, Any]
    protocol: Protocol
    sweep: Sweep | None = None

    runner: ClassVar[Callable[..., Record]]

    def arguments(self, key: RunKey) -> tuple[Any, ...]:
        """Return what `runner` is given for a record, after the data set."""
        raise NotImplementedError

    @property
    def about(self) -> dict[str, Any]:
        """What a store keeps of it."""
        return {
            "protocol": self.protocol.to_dict(),
            "sweep": None if self.sweep is None else asdict(self.sweep),
            "datasets": {name: data.about for name, data in self.sets.items()},
            "methods": {label: entrant.parameters for label, entrant in self.entrants.items()},
            "versions": versions(),
        }

    def check(self) -> dict[str, int]:
        """Refuse data sets that cannot be split, and tell how many rows judge a run on each."""
        return {
            name: check_splits(data, self.protocol, self.sweep) for name, data in self.sets.items()
        }


class Work:
    """What is to do, what is done, and what is no longer worth doing.

    Parameters
    ----------
    keys : list of RunKey
    done : dict of RunKey to dict
        Records that there are; new ones are added.
    store : Store or None
    max_seconds : float or None
    retry_failed : bool
    """

    def __init__(
        self,
        keys: list[RunKey],
        done: dict[RunKey, Record],
        store: Store | None = None,
        max_seconds: float | None = None,
        retry_failed: bool = False,
    ) -> None:
        self.done, self.store, self.max_seconds = done, store, max_seconds
        self.todo = [
            key
            for key in keys
            if key not in done or (retry_failed and done[key]["status"] == "failed")
        ]
        self.again = {key for key in self.todo if key in done}
        self.slow = {_cell(key) for key, record in done.items() if is_slow(record, max_seconds)}
        self.under_way: dict[RunKey, None] = {}
        self._left = Counter(_cell(key) for key in self.todo)
        self._lock = threading.Lock()  # joblib asks for tasks in threads of its own

    @property
    def n_left(self) -> int:
        """How many records are still to come."""
        with self._lock:
            return sum(number for cell, number in self._left.items() if cell not in self.slow)

    def rounds(self) -> list[list[RunKey]]:
        """Return what is to do, in parts of which each waits for the one before.

        Where seconds are limited, each method first has one run on each data set: were they sent
        out together, several would be under way when the first one turns out to be slow.
        """
        if self.max_seconds is None:
            return [self.todo]
        tried = {_cell(key) for key in self.done if key not in self.again}
        first = {_cell(key): key for key in reversed(self.todo) if _cell(key) not in tried}
        trials = set(first.values())
        return [
            [key for key in self.todo if key in trials],
            [key for key in self.todo if key not in trials],
        ]

    def start(self, keys: list[RunKey]) -> Iterator[RunKey]:
        """Yield the keys that are still to do when their turn comes.

        A method may have turned out to be slow, and another process may have made the record.
        """
        for key in keys:
            if _cell(key) in self.slow:
                continue
            if self.store is not None and key not in self.again and self.store.has(key):
                self._settle(key)
                continue
            self.under_way[key] = None
            yield key

    def keep(self, record: Record) -> None:
        """Keep a new record."""
        record = plain(record)
        if self.store is not None:
            self.store.write(record)
        key = key_of(record)
        self.done[key] = record
        if is_slow(record, self.max_seconds):
            self.slow.add(_cell(key))
        self._settle(key)

    def _settle(self, key: RunKey) -> None:
        with self._lock:
            self.under_way.pop(key, None)
            self._left[_cell(key)] -= 1

    def fetch_from_others(self) -> None:
        """Read the records that another process has made in the meantime."""
        for key in self.todo:
            if self.store is not None and key not in self.done and self.store.has(key):
                self.done[key] = self.store.read(key)


def _cell(key: RunKey) -> tuple[str, str]:
    """What is left out as a whole where one run is too slow."""
    return key.dataset, key.method


def make_records(work: Work, plan: RunPlan, n_jobs: int | None) -> Generator[Record]:
    """Make the records that are missing, in the order in which they are ready.

    Parameters
    ----------
    work : Work
        Told of each record by the caller.
    plan : RunPlan
    n_jobs : int or None

    Yields
    ------
    dict
    """
    if work.store is None:
        yield from _make_all(work, plan, n_jobs, backwards=False)
        return
    with work.store.claimed() as alone:
        # a second process starts at the other end, so that the two meet in the middle
        yield from _make_all(work, plan, n_jobs, backwards=not alone)
    work.fetch_from_others()


def _make_all(work: Work, plan: RunPlan, n_jobs: int | None, backwards: bool) -> Iterator[Record]:
    backend, _ = get_active_backend()
    # joblib 1.6 on Dask waits for ever where workers die of a run, and fails where they take data
    # with them
    client = backend.client if type(backend).__name__ == "DaskDistributedBackend" else None
    try:
        for keys in work.rounds():
            waiting = work.start(keys[::-1] if backwards else keys)
            if client is None:
                yield from _run_with_joblib(waiting, plan, n_jobs)
            else:
                yield from run_on_cluster(client, waiting, plan, n_jobs)
    except (BrokenProcessPool, WorkerLostError) as error:
        raise WorkerLostError(_obituary(list(work.under_way), error)) from error


def _run_with_joblib(keys: Iterator[RunKey], plan: RunPlan, n_jobs: int | None) -> Iterator[Record]:
    pool = joblib.Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1
    )
    yield from pool(
        joblib.delayed(plan.runner)(plan.sets[key.dataset], *plan.arguments(key)) for key in keys
    )


def _obituary(keys: list[RunKey], error: Exception) -> str:
    named = "; ".join(
        f"{key.method} on {key.dataset}, run {key.run}"
        + ("" if key.level is None else f" at level {key.level:g}")
        for key in keys[:MOST_NAMED]
    )
    what = "a process at work died, as happens where memory runs out or compiled code crashes"
    if isinstance(error, WorkerLostError):
        what = str(error)
    return (
        f"{what}. {count(len(keys), 'run')} had been sent out: {named}"
        f"{'; ...' if len(keys) > MOST_NAMED else ''}."
    )
