"""compare: methods on data sets."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from semisift.comparison._datasets import find_datasets
from semisift.comparison._evaluators import find_evaluators
from semisift.comparison._methods import find_methods
from semisift.comparison._protocol import Protocol, find_protocol
from semisift.comparison._results import Results
from semisift.comparison._run import Record, doubt, run_once
from semisift.comparison._runner import RunPlan, run_plan
from semisift.comparison._sweeps import Sweep, find_sweep
from semisift.exceptions import SmallTestSetWarning
from semisift.utils._text import quote
from semisift.utils._validation import (
    check_above_zero,
    check_callable,
    check_flag,
    check_jobs,
    check_path,
)
from semisift.utils._warnings import warn


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
        ``scores_`` or ``feature_importances_`` afterwards, pipelines that end with one of these,
        or pairs of a label and a method. Unlabelled rows have -1. Objects that are neither ours nor
        semi-supervised classifiers of scikit-learn are given the labelled rows alone, unless they
        say ``supports_unlabelled = True``.
    datasets : mapping of str to (X, y) or (X, y, groups)
        Those labels that the protocol hides are hidden from the methods. Rows of unknown class
        (-1, None, NaN) count neither in training nor in tests: at least 10 labelled rows must be
        left to test on in each run, and fewer than 30 are warned of (`SmallTestSetWarning`).
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
    check_path(out, "out", or_none=True)
    check_flag(resume, "resume")
    check_flag(retry_failed, "retry_failed")
    check_above_zero(max_seconds, "max_seconds")
    check_jobs(n_jobs)
    check_callable(on_record, "on_record")
    if notes is not None and not isinstance(notes, Mapping):
        raise ValueError(f"notes must be None or a mapping: got {quote(notes)}.")
    protocol, sweep = find_protocol(protocol), find_sweep(sweep)
    sets = {data.name: data for data in find_datasets(datasets)}
    compared = {method.label: method for method in find_methods(methods)}
    evaluators = find_evaluators(protocol.judges)
    # what would go wrong in all runs
    for estimator in [*(method.estimator for method in compared.values()), *evaluators.values()]:
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
    for data in sets.values():
        if data.X.shape[1] < (fewest := min(protocol.sizes)):
            raise ValueError(
                f"data set {data.name!r} has {data.X.shape[1]} features, and sizes begin with "
                f"{fewest}: no ranking of it could be evaluated."
            )
    run = partial(run_once, sweep=sweep, evaluators=evaluators)
    plan = RunPlan(sets, compared, protocol, run, sweep)
    if problem := doubt(plan.n_test_rows()):
        warn(problem, SmallTestSetWarning)
    options = (out, resume, retry_failed, max_seconds, n_jobs, on_record, notes)
    return Results(*run_plan(plan, *options))
