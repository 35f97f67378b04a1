"""How the methods of a comparison stand, on a terminal.

From files to records, a report and standings: what ``semisift compare`` does.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import joblib
import numpy as np
from rich.table import Column, Table
from rich.text import Text

from semisift.cli._compare_request import find_protocol, notes_of
from semisift.cli._options import blaming
from semisift.cli._output import Targets
from semisift.cli._plugins import import_own_classes
from semisift.cli._reading import check_reading, labels_are_not_named
from semisift.cli._terminal import Steps, Terminal
from semisift.cli.compare import CompareRequest
from semisift.comparison._compare import compare
from semisift.comparison._datasets import ComparisonData
from semisift.comparison._methods import find_methods
from semisift.comparison._results import ComparisonResults
from semisift.comparison._run import check_splits, doubt
from semisift.comparison._store import Store
from semisift.comparison._sweeps import SWEEPS, Sweep
from semisift.io import FileTable, load
from semisift.report.comparison._page import failures, too_slow
from semisift.report.comparison._view import view_of
from semisift.utils._labels import UNLABELLED
from semisift.utils._text import format_number, join, plural, printable_name

LONGEST_ERROR = 300


def show(results: ComparisonResults, report: Path | None) -> None:
    """Print a table of the methods, what went wrong, and where all is."""
    console = Terminal()
    console.print(standings(results))
    for problem in [*failures(results), *too_slow(results)]:
        console.print(f"{problem.where}: {problem.what[:LONGEST_ERROR]}")
    for line in remarks(results):
        console.print(line)
    if results.folder is not None:
        console.print(f"Records: {results.folder}")
    if report is not None:
        console.print(f"Report: {report}")


def standings(results: ComparisonResults) -> Table:
    """Return a table with a row for each method, the best mean rank first."""
    judge, metric = results.protocol.judges[0], results.protocol.metrics[0]
    of_levels = [
        metric if level is None else f"{results.about['sweep']['kind']}={level:g}"
        for level in results.levels
    ]
    numbers = ("mean rank", *of_levels, "median seconds", "failed")
    table = Table(
        Column("method", overflow="fold"),
        *(Column(heading, justify="right") for heading in numbers),
        title=f"{plural(len(results.datasets), 'data set')}, "
        f"{plural(results.protocol.n_runs, 'run')}: {metric} of {judge}",
    )
    ranks = dict(zip(results.methods, view_of(results).mean_ranks, strict=True))
    means = [results.means(level=level) for level in results.levels]
    seconds = _median_seconds(results)
    failed = Counter(record["method"] for record in results.failures)
    for method in sorted(ranks, key=lambda method: np.nan_to_num(ranks[method], nan=np.inf)):
        rank = "-" if np.isnan(ranks[method]) else f"{ranks[method]:.2f}"
        figures = [_mean(*of_level[method], len(results.datasets)) for of_level in means]
        time = "-" if np.isnan(seconds[method]) else format_number(seconds[method])
        table.add_row(
            Text(printable_name(method)), rank, *figures, time, str(failed[method] or "-")
        )
    return table


def _mean(mean: float, n_known: int, n_sets: int) -> str:
    """Write a mean over data sets, and of how many, where some are missing."""
    if not n_known:
        return "-"
    return f"{mean:.4f}" + (f" ({n_known} of {n_sets})" if n_known < n_sets else "")


def _median_seconds(results: ComparisonResults) -> dict[str, float]:
    found = {}
    seconds = results.measured("seconds")
    for method, values in zip(seconds.methods, np.moveaxis(seconds.values, 2, 0), strict=True):
        known = values[np.isfinite(values)]
        found[method] = float(np.median(known)) if len(known) else np.nan
    return found


def remarks(results: ComparisonResults) -> list[str]:
    """Say what the figures of the table stand on, where that is not all there is."""
    found = [*filter(None, [doubt(results.n_judging)])]
    complete = results.scores().complete().datasets
    n_complete = len(complete)
    if problem := results.unpaired(complete):
        found.append(f"There are no ranks: {problem}")
    elif 0 < n_complete < len(results.datasets):
        found.append(
            f"Ranks are over the {n_complete} of {len(results.datasets)} data sets on which every "
            "method has all its runs."
        )
    if results.levels[0] is not None:
        sweep = results.about["sweep"]["kind"]
        found.append(
            f"Ranks and seconds are at the first level, {results.levels[0]:g} ({SWEEPS[sweep]})."
        )
    if results.n_missing:
        found.append(f"{plural(results.n_missing, 'record')} are missing: resume the comparison.")
    if len(results.protocol.judges) > 1 or len(results.protocol.metrics) > 1:
        others = [*results.protocol.judges[1:], *results.protocol.metrics[1:]]
        found.append(f"The records and the report have more: {join(others)}.")
    return found


# --- compare run ----------------------------------------------------------------------------------


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
        find_methods(request.entrants)
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
        f"{printable_name(data.name)}: {plural(n_rows, 'row')}{known}, "
        f"{plural(n_features, 'feature')}, "
        f"{plural(len(data.classes), 'class', 'classes')}; {plural(n_judging, 'labelled row')} "
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
