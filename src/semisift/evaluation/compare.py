"""compare: every method on every data set, over the same splits, in a store that can be resumed."""

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from semisift._sklearn import check_params
from semisift.evaluation.datasets import find_datasets
from semisift.evaluation.entrants import find_entrants
from semisift.evaluation.judges import find_judges
from semisift.evaluation.protocol import Protocol, find_protocol
from semisift.evaluation.results import Results
from semisift.evaluation.runs import Key, Record, check_splits, key_of, versions
from semisift.evaluation.store import Store, plain
from semisift.evaluation.sweeps import Sweep
from semisift.evaluation.work import AnyPlan, Plan, Work, make_records

# What a resumed comparison may have more of.
MAY_GROW = ("n_runs",)


def compare(
    methods: Any,
    datasets: Any,
    protocol: str | Protocol = "ssfi",
    *,
    sweep: str | Sweep | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    on_record: Callable[[Record, int], None] | None = None,
    notes: dict[str, Any] | None = None,
) -> Results:
    """Compare methods on data sets.

    Parameters
    ----------
    methods : list or mapping
        Names with parameters (``"ssfi"``, ``"enscls:variant=paper"``, ``"random"``,
        ``"all-labels"``, ``"package.module.Class"``), objects with ``fit(X, y)`` that have
        ``scores_`` or ``feature_importances_`` afterwards, or pairs of a label and one of these.
        Unlabelled rows have -1; estimators of scikit-learn are given the labelled rows alone.
    datasets : mapping of str to (X, y) or (X, y, groups)
        With all labels known; those the protocol hides are hidden from the methods.
    protocol : str or Protocol, default="ssfi"
        A preset, ``"ssfi"``, ``"enscls"``, ``"fw-semifs"`` or ``"rel-rasco"``, or settings of your
        own.
    sweep : str or Sweep, default=None
        Vary one property: ``"labels=1,2,5"``, ``"flipped=0,0.1,0.2"``, ``"left-out=0,0.1"``.
    out : str or path, default=None
        Folder of the store. Each record is written when it is made, so that whatever happens, the
        same call with ``resume=True`` does what is missing. None keeps the records in memory.
    resume : bool, default=False
        Go on with the comparison in `out`, which may get more methods, data sets, levels and runs.
    retry_failed : bool, default=False
        Do again what failed.
    max_seconds : float, default=None
        A method that takes longer to rank in one run on a data set is left out there. The run is
        not cut short.
    n_jobs : int, default=None
        Runs at a time. The joblib backend in force serves, so that a cluster does with
        ``joblib.parallel_config(backend="dask")``; numbers do not depend on it.
    on_record : callable, default=None
        Called with each new record and the number of records still to come.
    notes : dict, default=None
        Kept in the store, for whoever reads it.

    Returns
    -------
    Results

    Raises
    ------
    WorkerLostError
        Where a process that made runs died. What was finished by then is in the store.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import compare
    >>> results = compare(["fisher", "random"], {"wine": load_wine(return_X_y=True)})
    >>> results.table().columns
    ['dataset', 'fisher', 'random']
    """
    protocol = find_protocol(protocol)
    plan = Plan(
        {entrant.label: entrant for entrant in find_entrants(methods)},
        {data.name: data for data in find_datasets(datasets)},
        protocol,
        Sweep.parse(sweep) if isinstance(sweep, str) else sweep,
        find_judges(protocol.judges),
    )
    store = None if out is None else Store(Path(out))
    if store is not None:
        store.check(resume)
    _check(plan)
    about = plain(_about(plan) | {"max_seconds": max_seconds, "notes": notes or {}})
    done: dict[Key, Record] = {}
    if store is not None:
        about, done = begin(store, about)
        plan = _grown(plan, about)
    work = Work(plan.keys, done, store, max_seconds, retry_failed)
    do_all(work, plan, n_jobs, on_record)
    return Results(about, list(work.done.values()), None if store is None else store.folder)


def begin(store: Store, about: dict[str, Any]) -> tuple[dict[str, Any], dict[Key, Record]]:
    """Begin to fill a store, or go on.

    Parameters
    ----------
    store : Store
    about : dict
        What is wanted and how, as reading it back would give it.

    Returns
    -------
    about : dict
        With what the store knows of besides.
    done : dict of Key to dict
        The records that there are.

    Raises
    ------
    ValueError
        Where the store holds something else.
    """
    if store.exists:
        about = _merged(store.about(), about)
    store.begin(about)
    return about, {key_of(record): record for record in store.records()}


def do_all(
    work: Work,
    plan: AnyPlan,
    n_jobs: int | None,
    on_record: Callable[[Record, int], None] | None = None,
) -> None:
    """Make and keep all records that are missing, and tell of each."""
    with closing(make_records(work, plan, n_jobs)) as records:
        for record in records:
            work.keep(record)
            if on_record is not None:
                on_record(record, work.n_left)


def _check(plan: Plan) -> None:
    """Find out before the first run what would go wrong in all of them."""
    for estimator in [
        *(entrant.estimator for entrant in plan.entrants.values()),
        *plan.judges.values(),
    ]:
        check_params(estimator)
    fewest = min(plan.protocol.sizes)
    for data in plan.sets.values():
        if data.X.shape[1] < fewest:
            raise ValueError(
                f"data set {data.name!r} has {data.X.shape[1]} features, and sizes begin with "
                f"{fewest}: no ranking of it could be judged."
            )
        check_splits(data, plan.protocol, plan.sweep)


def _about(plan: Plan) -> dict[str, Any]:
    return {
        "protocol": plan.protocol.to_dict(),
        "sweep": None if plan.sweep is None else asdict(plan.sweep),
        "datasets": {name: data.about for name, data in plan.sets.items()},
        "methods": {label: entrant.parameters for label, entrant in plan.entrants.items()},
        "versions": versions(),
    }


def _grown(plan: Plan, about: dict[str, Any]) -> Plan:
    """Return the plan with the runs and levels that the store knows of besides."""
    sweep = plan.sweep and replace(plan.sweep, levels=tuple(about["sweep"]["levels"]))
    return replace(plan, protocol=Protocol.from_dict(about["protocol"]), sweep=sweep)


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return what a resumed comparison is about, or say why it cannot be the same one."""
    if old.get("kind") != new.get("kind"):
        raise ValueError(_differs(f"it is of {new.get('kind', 'rankings')}", old.get("kind")))
    for name, before in old["protocol"].items():
        now = new["protocol"].get(name)
        if before != now and name not in MAY_GROW:
            raise ValueError(_differs(f"the protocol has {name}={now!r}", before))
    if (old["sweep"] or {}).get("kind") != (new["sweep"] or {}).get("kind"):
        raise ValueError(_differs(f"the sweep is {new['sweep']}", old["sweep"]))
    for part, what in (("datasets", "data set"), ("methods", "method")):
        for name in [name for name in old[part] if name in new[part]]:
            _check_same(f"{what} {name!r}", old[part][name], new[part][name])
    merged = {**old, **new, "notes": {**old.get("notes", {}), **new["notes"]}}
    for part in ("datasets", "methods"):
        merged[part] = {**old[part], **new[part]}
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
