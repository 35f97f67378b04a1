"""From files to records, a report and standings: what ``semisift compare`` does."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import joblib

from semisift._compare import compare
from semisift._labels import UNLABELLED
from semisift._words import count, visible
from semisift.cli._compare_request import find_protocol, notes_of
from semisift.cli._options import blaming
from semisift.cli._outputs import Targets
from semisift.cli._own_classes import import_own_classes
from semisift.cli._reading import check_reading, labels_are_not_named
from semisift.cli._standings import show
from semisift.cli._terminal import Steps
from semisift.cli.compare import CompareRequest
from semisift.evaluation.datasets import ComparisonData
from semisift.evaluation.entrants import find_entrants
from semisift.evaluation.runs import check_splits
from semisift.evaluation.store import Store
from semisift.evaluation.sweeps import Sweep
from semisift.io import FileTable, load

REPORT = "report.html"

SECONDS_TO_CONNECT = 10


def run(request: CompareRequest) -> bool:
    """Compare, write the report and show how the methods stand.

    Returns
    -------
    bool
        Whether every run failed.
    """
    _check(request)
    report = _find_report(request)
    protocol = find_protocol(request)
    with blaming("--methods"):
        import_own_classes(request.entrants, "method")
        find_entrants(request.entrants)
    with blaming("--sweep"):
        sweep = None if request.sweep is None else Sweep.parse(request.sweep)
    steps = Steps(request.quiet)
    sets = []
    for name, path in request.files.items():
        data, notes = _read(request, name, path, steps)
        n_judging = check_splits(data, protocol, sweep)
        if not request.quiet:
            for line in [_in_words(data, n_judging), *(f"  Note: {note}" for note in notes)]:
                click.echo(line)
        sets.append(data)
    with _backend(request), steps.step("Comparing") as step:
        taken = ("out", "resume", "retry_failed", "max_seconds", "n_jobs")
        options: dict[str, Any] = {name: getattr(request, name) for name in taken}
        options |= {"sweep": sweep, "on_record": step.hear, "notes": notes_of(request)}
        results = compare(request.entrants, sets, protocol, **options)
    if report is not None:
        with steps.step("Writing the report"):
            results.report(report)
    if not request.quiet:
        show(results, report)
    return bool(results.records) and len(results.failures) == len(results.records)


def _check(request: CompareRequest) -> None:
    """Refuse what cannot be meant, before any file is read."""
    if not request.files:
        also = f" {request.out} holds no comparison that names them." if request.resume else ""
        raise click.UsageError(f"FILES are missing: name the tables to compare on.{also}")
    if not request.entrants:
        raise click.UsageError("--methods is missing: name what to compare, as ssfi,fisher,random.")
    if (request.backend == "dask") != (request.scheduler is not None):
        raise click.BadParameter(
            "the address of a Dask scheduler and --backend dask go together.",
            param_hint="--scheduler",
        )
    if request.n_jobs == 0:
        raise click.BadParameter("must be a number of runs, or -1.", param_hint="--n-jobs")
    if request.missing == "keep":
        raise click.BadParameter(
            "the judges of a comparison take no gaps: say median, drop-columns or drop-rows.",
            param_hint="--missing",
        )
    check_reading(request)
    Store(Path(request.out)).check(request.resume)


def _find_report(request: CompareRequest) -> Path | None:
    if request.no_report:
        return None
    if request.report is None:
        return Path(request.out) / REPORT
    return Targets(request.files.values()).add(request.report, "--report", (".html", ".htm"))


def _read(
    request: CompareRequest, name: str, path: str, steps: Steps
) -> tuple[ComparisonData, list[str]]:
    def check(table: FileTable) -> None:
        if request.label is None and table.label is None:
            raise labels_are_not_named(table, "a comparison")

    with steps.step(f"Reading {Path(path).name}"):
        dataset = load(path, request.for_one_table, check)
        data = ComparisonData.build(name, dataset.X, dataset.y, dataset.groups)
    return data, dataset.notes


def _in_words(data: ComparisonData, n_judging: int) -> str:
    n_rows, n_features = data.X.shape
    n_known = int((data.y != UNLABELLED).sum())
    known = f", of which {n_known:,} are labelled" if n_known < n_rows else ""
    return (
        f"{visible(data.name)}: {count(n_rows, 'row')}{known}, {count(n_features, 'feature')}, "
        f"{count(len(data.classes), 'class', 'classes')}; {count(n_judging, 'labelled row')} "
        f"judge each run"
    )


@contextmanager
def _backend(request: CompareRequest) -> Iterator[None]:
    """Let the runs be made by whom the user chose."""
    if request.backend != "dask":
        with joblib.parallel_config(backend=request.backend, n_jobs=1):
            yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise click.ClickException(
            '--backend dask needs distributed: pip install "semisift[dask]"'
        ) from error
    try:
        client = Client(request.scheduler, timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError) as error:
        raise click.ClickException(
            f"--scheduler {request.scheduler}: no Dask scheduler answers there ({error})."
        ) from error
    with client, joblib.parallel_config(backend="dask", client=client):
        yield
