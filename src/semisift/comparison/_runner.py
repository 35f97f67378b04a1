"""The runs of a comparison: which are to be made, and by whom.

Runs are made here, by the threads and processes of joblib, or by a Dask cluster, each of whose
workers gets a data set once. The numbers are the same.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import joblib

from semisift.comparison._datasets import ComparisonData
from semisift.comparison._protocol import Protocol
from semisift.comparison._run import Record, RunKey, check_splits, is_slow, key_of, keys_of
from semisift.comparison._store import Store
from semisift.comparison._sweeps import Sweep
from semisift.exceptions import WorkerLostError
from semisift.parallel import PROCESS_DIED, Call, Cluster, active_client, sent
from semisift.utils._metadata import plain, versions
from semisift.utils._text import plural

MAX_NAMED = 5


@dataclass(frozen=True, eq=False)
class RunPlan:
    """What is compared and how.

    Attributes
    ----------
    sets : dict of str to ComparisonData
    methods : dict of str to object
        With `parameters` as JSON holds them.
    protocol : Protocol
    run : callable
        ``run(data, method, protocol, number, level=level)`` returns a record.
    sweep : Sweep or None
    kind : str or None
        Of what else than rankings the records are.
    """

    sets: dict[str, ComparisonData]
    methods: dict[str, Any]
    protocol: Protocol
    run: Callable[..., Record]
    sweep: Sweep | None = None
    kind: str | None = None

    @property
    def about(self) -> dict[str, Any]:
        """What a store keeps of it."""
        return {
            **({} if self.kind is None else {"kind": self.kind}),
            "protocol": self.protocol.to_dict(),
            "sweep": None if self.sweep is None else asdict(self.sweep),
            "datasets": {name: data.about for name, data in self.sets.items()},
            "methods": {label: method.parameters for label, method in self.methods.items()},
            "versions": versions(),
        }

    def call(self, key: RunKey) -> tuple[Callable[..., Record], Any, Any, Protocol, int]:
        """Return the task that makes a record, and its arguments; the data set is the first."""
        task = partial(self.run, level=key.level)
        return task, self.sets[key.dataset], self.methods[key.method], self.protocol, key.run

    def n_test_rows(self) -> dict[str, int]:
        """Return how many rows test in a run on each data set; one without is an error."""
        return {
            name: check_splits(data, self.protocol, self.sweep) for name, data in self.sets.items()
        }


def run_plan(
    plan: RunPlan,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    on_record: Callable[[Record, int], None] | None = None,
    notes: dict[str, Any] | None = None,
) -> tuple[dict[str, Any], list[Record], Path | None]:
    """Make all records of a plan that are missing; the parameters are those of `compare`.

    Returns
    -------
    about, records, folder
        What `Results` are made of.
    """
    store = None if out is None else Store(Path(out))
    if store is not None:
        store.check(resume)
    wanted = about = plain(plan.about | {"max_seconds": max_seconds, "notes": notes or {}})
    done: dict[RunKey, Record] = {}
    if store is not None:
        if store.exists:
            about = _merged(store.about(), about)
        store.begin(about)
        done = {key_of(record): record for record in store.records()}
    # the store may know of more runs and levels, and of methods and data sets not asked for
    keys = keys_of(about | {part: wanted[part] for part in ("datasets", "methods")})
    runner = Runner(keys, done, store, max_seconds, retry_failed)
    with closing(runner.run(plan, n_jobs)) as records:
        for record in records:
            runner.keep(record)
            if on_record is not None:
                on_record(record, runner.n_left)
    return about, list(runner.done.values()), None if store is None else store.folder


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return what a resumed comparison is about, or say why it cannot be the same one."""
    # there may be more runs, levels, data sets and methods
    before, now = ({**about["protocol"], "n_runs": 0} for about in (old, new))
    sweeps = [(about["sweep"] or {}).get("kind") for about in (old, new)]
    same: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("it", {"kind": old.get("kind")}, {"kind": new.get("kind")}),
        ("the protocol", before, now),
        ("the sweep", {"kind": sweeps[0]}, {"kind": sweeps[1]}),
    ]
    for part, what in (("datasets", "data set"), ("methods", "method")):
        same += [
            (f"{what} {name!r}", facts, new[part][name])
            for name, facts in old[part].items()
            if name in new[part]
        ]
    for what, before, now in same:
        for name in {**before, **now}:
            if before.get(name) != now.get(name):
                raise ValueError(
                    "this is another comparison than the one in the folder: "
                    f"{what} has {name}={now.get(name)!r}, and there {before.get(name)!r}."
                )
    parts = ("datasets", "methods", "notes")
    merged = {**old, **new, **{part: {**old[part], **new[part]} for part in parts}}
    merged["protocol"]["n_runs"] = max(old["protocol"]["n_runs"], new["protocol"]["n_runs"])
    if new["sweep"]:
        levels = dict.fromkeys([*old["sweep"]["levels"], *new["sweep"]["levels"]])
        merged["sweep"] = {**new["sweep"], "levels": list(levels)}
    return merged


class Runner:
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
        failed = {key for key, record in done.items() if retry_failed and _has_failed(record)}
        self.todo = [key for key in keys if key not in done or key in failed]
        self.again = failed & set(self.todo)
        self.slow = {key.cell for key, record in done.items() if is_slow(record, max_seconds)}
        self.under_way: dict[RunKey, None] = {}
        self._left = Counter(key.cell for key in self.todo)
        self._lock = threading.Lock()  # joblib asks for tasks in threads of its own

    @property
    def n_left(self) -> int:
        """How many records are still to come."""
        with self._lock:
            return sum(number for cell, number in self._left.items() if cell not in self.slow)

    def run(self, plan: RunPlan, n_jobs: int | None) -> Generator[Record]:
        """Make the records that are missing, in the order in which they are ready.

        Parameters
        ----------
        plan : RunPlan
        n_jobs : int or None
            On a cluster, None and -1 keep all its threads busy.

        Yields
        ------
        dict
            To be kept by the caller.
        """
        client = active_client()
        options: Any = {"return_as": "generator_unordered", "pre_dispatch": "2*n_jobs"}
        with nullcontext(True) if self.store is None else self.store.claimed() as alone:
            try:
                for keys in self.rounds():
                    # a second process starts at the other end, so that they meet in the middle
                    calls = map(plan.call, self.start(keys if alone else keys[::-1]))
                    if client is None:
                        pool = joblib.Parallel(n_jobs=n_jobs, batch_size=1, **options)
                        yield from pool(sent(*call) for call in calls)
                    else:
                        cluster = Cluster(client)
                        given = (
                            Call(task, (cluster.put(data), *rest)) for task, data, *rest in calls
                        )
                        at_once = n_jobs if n_jobs is not None and n_jobs > 0 else None
                        yield from cluster.run(given, at_once, in_order=False)
            except (BrokenProcessPool, WorkerLostError) as error:
                raise WorkerLostError(format_failure(list(self.under_way), error)) from error
        for key in self.todo:  # what another process has made in the meantime
            if self.store is not None and key not in self.done and self.store.has(key):
                self.done[key] = self.store.read(key)

    def rounds(self) -> list[list[RunKey]]:
        """Return what is to do, in parts of which each waits for the one before.

        Where seconds are limited, each method first has one run on each data set: were they sent
        out together, several would be under way when the first one turns out to be slow.
        """
        if self.max_seconds is None:
            return [self.todo]
        tried = {key.cell for key in self.done if key not in self.again}
        first = {key.cell: key for key in reversed(self.todo) if key.cell not in tried}
        trials = set(first.values())
        return [[key for key in self.todo if (key in trials) == is_trial] for is_trial in (1, 0)]

    def start(self, keys: list[RunKey]) -> Iterator[RunKey]:
        """Yield the keys that are still to do when their turn comes.

        A method may have turned out to be slow, and another process may have made the record.
        """
        for key in keys:
            if key.cell in self.slow:
                continue
            if self.store is not None and key not in self.again and self.store.has(key):
                self._finish(key)
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
            self.slow.add(key.cell)
        self._finish(key)

    def _finish(self, key: RunKey) -> None:
        with self._lock:
            self.under_way.pop(key, None)
            self._left[key.cell] -= 1


def _has_failed(record: Record) -> bool:
    return bool(record["status"] == "failed")


def format_failure(keys: list[RunKey], error: Exception) -> str:
    """Return which runs had been sent out when a process that made runs died."""
    named = "; ".join(
        f"{key.method} on {key.dataset}, run {key.run}"
        + ("" if key.level is None else f" at level {key.level:g}")
        for key in keys[:MAX_NAMED]
    )
    what = str(error) if isinstance(error, WorkerLostError) else PROCESS_DIED
    more = "; ..." if len(keys) > MAX_NAMED else ""
    return f"{what}. {plural(len(keys), 'run')} had been sent out: {named}{more}."
