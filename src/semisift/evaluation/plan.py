"""Plans: what is compared and how, and the store in which a comparison is carried out."""

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semisift._provenance import plain
from semisift._warnings import warn
from semisift.evaluation.runs import Record, RunKey, doubt, key_of, keys_of, run_once
from semisift.evaluation.store import Store
from semisift.evaluation.work import RunPlan, Work, make_records
from semisift.exceptions import FewTestRowsWarning

# What a resumed comparison may have more of.
MAY_GROW = ("n_runs",)


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
    runner = staticmethod(run_once)

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
        if problem := doubt(n_judging):
            warn(problem, FewTestRowsWarning)
        return n_judging


def carry_out(
    plan: RunPlan,
    *,
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
    keys = keys_of(about | {part: wanted[part] for part in ("datasets", "methods")})
    work = Work(keys, done, store, max_seconds, retry_failed)
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
