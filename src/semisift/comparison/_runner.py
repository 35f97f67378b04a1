"""Runs of a comparison on a Dask cluster, each of whose workers gets a data set once.

The work of a comparison: what is compared and how, which runs are to be made, and by whom.

Runs are made here, by the threads and processes of joblib, or by a Dask cluster. The numbers are
the same.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import joblib

from semisift.comparison import _run
from semisift.comparison._datasets import ComparisonData
from semisift.comparison._protocol import Protocol
from semisift.comparison._run import Record, RunKey, key_of
from semisift.comparison._store import Store
from semisift.comparison._sweeps import Sweep
from semisift.exceptions import SmallTestSetWarning, WorkerLostError
from semisift.parallel import PROCESS_DIED, Call, Cluster, active_client, sent
from semisift.utils._metadata import plain, versions
from semisift.utils._text import plural
from semisift.utils._warnings import warn

if TYPE_CHECKING:
    from distributed import Client


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


# --- work -----------------------------------------------------------------------------------------


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
            name: _run.check_splits(data, self.protocol, self.sweep)
            for name, data in self.sets.items()
        }


@dataclass(frozen=True, eq=False)
class ComparisonPlan(RunPlan):
    """Which methods rank the features of which data sets.

    Attributes
    ----------
    judges : dict of str to object
        Those of the protocol, not fitted. Processes at work are given them, since a class of the
        user's own may be found here alone.
    """

    judges: dict[str, Any] = field(default_factory=dict)
    runner = staticmethod(_run.run_once)

    def arguments(self, key: RunKey) -> tuple[Any, ...]:
        """Return what `run_once` is given for a record, after the data set."""
        entrant = self.entrants[key.method]
        return entrant, self.protocol, key.run, self.sweep, key.level, self.judges

    def check(self) -> dict[str, int]:
        """Find out before the first run what would go wrong in all of them."""
        estimators = [entrant.estimator for entrant in self.entrants.values()]
        for estimator in [*estimators, *self.judges.values()]:
            if hasattr(estimator, "_parameter_constraints"):
                estimator._validate_params()
        fewest = min(self.protocol.sizes)
        for data in self.sets.values():
            if data.X.shape[1] < fewest:
                raise ValueError(
                    f"data set {data.name!r} has {data.X.shape[1]} features, and sizes begin with "
                    f"{fewest}: no ranking of it could be judged."
                )
        n_judging = super().check()
        if problem := _run.doubt(n_judging):
            warn(problem, SmallTestSetWarning)
        return n_judging


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
        What `Records` are made of.
    """
    store = None if out is None else Store(Path(out))
    if store is not None:
        store.check(resume)
    plan.check()
    wanted = about = plain(plan.about | {"max_seconds": max_seconds, "notes": notes or {}})
    done: dict[RunKey, Record] = {}
    if store is not None:
        if store.exists:
            about = _merged(store.about(), about)
        store.begin(about)
        done = {key_of(record): record for record in store.records()}
    # the store may know of more runs and levels, and of methods and data sets not asked for
    keys = _run.keys_of(about | {part: wanted[part] for part in ("datasets", "methods")})
    work = Runner(keys, done, store, max_seconds, retry_failed)
    with closing(make_records(work, plan, n_jobs)) as records:
        for record in records:
            work.keep(record)
            if on_record is not None:
                on_record(record, work.n_left)
    return about, list(work.done.values()), None if store is None else store.folder


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return what a resumed comparison is about, or say why it cannot be the same one."""
    if old.get("kind") != new.get("kind"):
        raise ValueError(_differs(f"it is of {new.get('kind', 'rankings')}", old.get("kind")))
    # there may be more runs
    _check_same("the protocol", *({**about["protocol"], "n_runs": 0} for about in (old, new)))
    if (old["sweep"] or {}).get("kind") != (new["sweep"] or {}).get("kind"):
        raise ValueError(_differs(f"the sweep is {new['sweep']}", old["sweep"]))
    for part, what in (("datasets", "data set"), ("methods", "method")):
        for name in [name for name in old[part] if name in new[part]]:
            _check_same(f"{what} {name!r}", old[part][name], new[part][name])
    parts = ("datasets", "methods", "notes")
    merged = {**old, **new, **{part: {**old[part], **new[part]} for part in parts}}
    merged["protocol"]["n_runs"] = max(old["protocol"]["n_runs"], new["protocol"]["n_runs"])
    if new["sweep"]:
        levels = dict.fromkeys([*old["sweep"]["levels"], *new["sweep"]["levels"]])
        merged["sweep"] = {**new["sweep"], "levels": list(levels)}
    return merged


def _check_same(what: str, before: dict[str, Any], now: dict[str, Any]) -> None:
    for name in {**before, **now}:
        if before.get(name) != now.get(name):
            raise ValueError(_differs(f"{what} has {name}={now.get(name)!r}", before.get(name)))


def _differs(now: str, before: Any) -> str:
    return f"this is another comparison than the one in the folder: {now}, and there {before!r}."


# --- what is to do ---


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
        self.todo = [
            key
            for key in keys
            if key not in done or (retry_failed and done[key]["status"] == "failed")
        ]
        self.again = {key for key in self.todo if key in done}
        self.slow = {
            _cell(key) for key, record in done.items() if _run.is_slow(record, max_seconds)
        }
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
        if _run.is_slow(record, self.max_seconds):
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


def make_records(work: Runner, plan: RunPlan, n_jobs: int | None) -> Generator[Record]:
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
    client = active_client()
    run = _run_with_joblib if client is None else partial(run_on_cluster, client)
    with nullcontext(True) if work.store is None else work.store.claimed() as alone:
        try:
            for keys in work.rounds():
                # a second process starts at the other end, so that the two meet in the middle
                yield from run(work.start(keys if alone else keys[::-1]), plan, n_jobs)
        except (BrokenProcessPool, WorkerLostError) as error:
            raise WorkerLostError(_format_failure(list(work.under_way), error)) from error
    work.fetch_from_others()


def _run_with_joblib(keys: Iterator[RunKey], plan: RunPlan, n_jobs: int | None) -> Iterator[Record]:
    pool = joblib.Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1
    )
    yield from pool(sent(plan.runner, plan.sets[key.dataset], *plan.arguments(key)) for key in keys)


def _format_failure(keys: list[RunKey], error: Exception) -> str:
    named = "; ".join(
        f"{key.method} on {key.dataset}, run {key.run}"
        + ("" if key.level is None else f" at level {key.level:g}")
        for key in keys[:MOST_NAMED]
    )
    what = str(error) if isinstance(error, WorkerLostError) else PROCESS_DIED
    return (
        f"{what}. {plural(len(keys), 'run')} had been sent out: {named}"
        f"{'; ...' if len(keys) > MOST_NAMED else ''}."
    )
