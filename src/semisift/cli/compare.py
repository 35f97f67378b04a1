"""``semisift compare``: many methods on many tables, with records that survive."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.table import Column, Table
from rich.text import Text

from semisift.cli import STOPS, _options, _reading
from semisift.cli._options import Options, option_errors, section
from semisift.cli._terminal import Steps, Terminal
from semisift.exceptions import WorkerLostError
from semisift.io._options import TableOptions
from semisift.utils._text import format_number, join, plural, printable_name

if TYPE_CHECKING:
    from semisift.comparison._datasets import ComparisonData
    from semisift.comparison._results import Results
    from semisift.io import FileTable

REPORT = "report.html"
MAX_ERROR = 300  # characters of an error that are printed
SECONDS_TO_CONNECT = 10


class CompareOptions(Options):
    """The options of ``semisift compare``; `files` are the paths of the tables, by their names."""

    @property
    def reading(self) -> Any:
        """Those that say how each table is read."""
        return TableOptions(**{name: getattr(self, name) for name in _options.OF_TABLES})

    @property
    def method_names(self) -> list[str]:
        """Names of the methods with their parameters, each of them once."""
        return each_name(self.methods)


def each_name(parts: tuple[str, ...]) -> list[str]:
    """Return names between commas, each of them once."""
    every = [name.strip() for part in parts for name in part.split(",")]
    return list(dict.fromkeys(name for name in every if name))


@_options.command()
@click.argument("files", nargs=-1)
@section(
    "Comparison",
    click.option("--out", metavar="DIR"),
    click.option("--methods", metavar="NAMES", multiple=True),
    click.option("--protocol", metavar="NAME", default="ssfi", show_default=True),
    click.option("--sweep", metavar="KIND=LEVELS"),
)
@section(
    "Protocol",
    click.option("--runs", metavar="N", type=_options.AT_LEAST_1),
    click.option("--labels-per-class", metavar="K", type=_options.AT_LEAST_1),
    click.option(
        "--train-size", metavar="SHARE", type=click.FloatRange(0, 1, min_open=True, max_open=True)
    ),
    click.option("--sizes", metavar="NUMBERS"),
    click.option("--judge", metavar="NAME", multiple=True),
    click.option("--train-on", type=click.Choice(["all", "labelled"])),
    click.option("--scaling", type=click.Choice(["none", "standard", "minmax"])),
    click.option(
        "--metric",
        multiple=True,
        type=click.Choice(["accuracy", "balanced_accuracy", "macro_f1", "auc"]),
    ),
    click.option("--seed", metavar="N", type=_options.SEED_RANGE),
)
@section(
    "Work",
    click.option("--resume", is_flag=True),
    click.option("--retry-failed", is_flag=True),
    click.option("--max-seconds", metavar="S", type=click.FloatRange(0, min_open=True)),
    click.option("--n-jobs", metavar="N", type=_options.read_jobs),
    click.option(
        "--backend",
        default="loky",
        show_default=True,
        type=click.Choice(["loky", "threading", "dask"]),
    ),
    click.option("--scheduler", metavar="ADDRESS"),
)
@section(
    "Report",
    click.option("--report", metavar="FILE"),
    click.option("--no-report", is_flag=True),
    _options.QUIET,
)
@section("Tables", *_options.reading_options(_options.OF_TABLES))
@click.pass_context
def compare(ctx: click.Context, /, **given: Any) -> None:
    r"""Compare methods on labelled tables, and keep every record.

    Each method ranks the features of each table several times, from rows of which most labels are
    hidden; a classifier then judges the best features on rows that no method has seen. FILES are
    tables as in `semisift rank`, called by their names without the ending.

    Each run leaves a record in DIR when it is made. Whatever stops the comparison, the same
    command with --resume does what is missing, and nothing twice.

    What --missing and --categorical do, they do once for the whole table, before it is split.

    Parameters
    ----------
    out
        Folder of the comparison: it keeps every record.
    methods
        What takes part, between commas: names that `semisift methods` lists, with parameters after
        colons (enscls:variant=paper); random, all-labels and all-features, to compare with; a class
        of your own (package.module.Class).
    protocol
        How rows are split, labels hidden and rankings judged, as in a paper: ssfi, enscls,
        fw-semifs or rel-rasco. The options below change parts of it.
    sweep
        Vary one thing: labels=1,2,5 (labelled rows of each class), flipped=0,0.1 (share of wrong
        labels) or left-out=0,0.5 (share of unlabelled rows left out).
    runs
        Splits of each data set.
    labels_per_class
        Labels of each class that the methods see; the others are hidden.
    train_size
        Share of the rows that train.
    sizes
        How many of the best features are judged: 1-20 or 5,10.
    judge
        Classifier that judges them: tree, svm, knn, nb, nnge, with parameters after colons
        (knn:n_neighbors=3), or a class of your own. May be repeated.
    train_on
        Judges learn from all training rows with their true labels, or from the labelled ones alone.
    scaling
        What is done to features before a judge sees them.
    metric
        What is measured; the first one is the main one. May be repeated.
    seed
        Seed of every random choice. The same seed gives the same numbers everywhere.
    resume
        Go on with the comparison in DIR, with the files and options that it was begun with. It may
        get more files, methods, levels and runs. Classes of your own, --backend and --report are to
        be named again.
    retry_failed
        Do again what failed.
    max_seconds
        Leave a method out on a data set where one run of it took longer.
    n_jobs
        Runs at a time, -1 for one on each core. The numbers do not depend on it.
    backend
        Who does the runs: processes, threads or a Dask cluster.
    scheduler
        Of the Dask cluster, as tcp://10.0.0.5:8786.
    report
        Write the report there. [default: DIR/report.html]
    no_report
        Write no report; `semisift report` does it.

    Examples
    --------
      semisift compare data/*.npz --methods ssfi,lsdf,fisher,random --out runs
      semisift compare a.csv b.csv --label class --protocol enscls --methods \
        enscls,enscls:variant=paper,all-labels --n-jobs -1 --out runs
      semisift compare cells.h5ad --label type --group patient --methods ssfi,fisher \
        --sweep labels=1,2,5,10 --out sweep
      semisift compare --resume --out runs
    """
    if given["out"] is None:
        raise click.UsageError("--out DIR is missing: name a folder that keeps the records.")
    _reading.check_exists(given["files"])
    from semisift.cli._compare_options import find_options, resume_command
    from semisift.comparison._store import ABOUT_RUNS, RESTORE, Store

    default = click.core.ParameterSource.DEFAULT
    named = {name for name in given if ctx.get_parameter_source(name) is not default}
    store, goes_on = Store(Path(given["out"])), ""
    try:
        options = find_options(given, named)
        goes_on = f"`{resume_command(options)}` goes on."
        all_failed = _run(options)
    except tuple(STOPS) as stop:
        words, code = STOPS[type(stop)]
        click.echo(f"{words} {goes_on}".rstrip() if store.exists else words, err=True)
        ctx.exit(code)
    except WorkerLostError as error:
        raise click.ClickException(
            f"{error} What was finished is kept, and {goes_on} Fewer runs at a time (--n-jobs) "
            "need less memory."
        ) from error
    except click.BadParameter as error:
        name = str(error.param_hint).strip("-").replace("-", "_")
        if not given["resume"] or not store.exists or name in {*named, "FILES"}:
            raise
        raise click.ClickException(
            f"{store.folder / ABOUT_RUNS} is damaged: {name}: {error.message} {RESTORE}."
        ) from error
    if all_failed:
        raise click.ClickException("every run failed.")


def _run(options: CompareOptions) -> bool:
    """Compare, write the report and show how the methods stand; return whether every run failed."""
    from semisift.cli._compare_options import find_protocol, import_own_classes, notes_of
    from semisift.comparison._compare import compare
    from semisift.comparison._methods import find_methods
    from semisift.comparison._run import check_splits
    from semisift.comparison._sweeps import Sweep

    _check(options)
    report = _report_path(options)
    protocol = find_protocol(options)
    with option_errors("--methods"):
        import_own_classes(options.method_names, "method")
        find_methods(options.method_names)
    with option_errors("--sweep"):
        sweep = None if options.sweep is None else Sweep.parse(options.sweep)
    steps, sets = Steps(options.quiet), []
    for name, path in options.files.items():
        data, notes = _read(options, name, path, steps)
        n_test = check_splits(data, protocol, sweep)
        if not options.quiet:
            for line in [_summary(data, n_test), *(f"  Note: {note}" for note in notes)]:
                click.echo(line)
        sets.append(data)
    with _backend(options), steps.step("Comparing") as step:
        work = ("out", "resume", "retry_failed", "max_seconds", "n_jobs")
        results = compare(
            options.method_names,
            sets,
            protocol,
            sweep=sweep,
            on_record=step.on_record,
            notes=notes_of(options),
            **{name: getattr(options, name) for name in work},
        )
    if report is not None:
        with steps.step("Writing the report"):
            results.report(report)
    if not options.quiet:
        show(results, report)
    return bool(results.records) and len(results.failures) == len(results.records)


def _check(options: CompareOptions) -> None:
    """Check the options that contradict each other, before any file is read."""
    from semisift.comparison._store import Store

    if not options.files:
        also = f" {options.out} holds no comparison that names them." if options.resume else ""
        raise click.UsageError(f"FILES are missing: name the tables to compare on.{also}")
    if not options.method_names:
        raise click.UsageError("--methods is missing: name what to compare, as ssfi,fisher,random.")
    if (options.backend == "dask") != (options.scheduler is not None):
        raise click.BadParameter(
            "the address of a Dask scheduler and --backend dask go together.",
            param_hint="--scheduler",
        )
    if options.missing == "keep":
        raise click.BadParameter(
            "the judges of a comparison take no missing values: pass median, drop-columns or "
            "drop-rows.",
            param_hint="--missing",
        )
    _reading.check_reading(options.reading)
    Store(Path(options.out)).check(options.resume)


def _report_path(options: CompareOptions) -> Path | None:
    from semisift.cli._output import Targets

    if options.no_report:
        return None
    if options.report is None:
        return Path(options.out) / REPORT
    return Targets(options.files.values()).add(options.report, "--report", (".html", ".htm"))


def _read(
    options: CompareOptions, name: str, path: str, steps: Steps
) -> tuple["ComparisonData", list[str]]:
    from semisift.comparison._datasets import ComparisonData
    from semisift.io import load

    def check(table: "FileTable") -> None:
        if options.label is None and table.label is None:
            raise _reading.unnamed_labels(table, "a comparison")

    with steps.step(f"Reading {Path(path).name}"):
        dataset = load(path, options.reading.for_one_table, check)
        data = ComparisonData.build(name, dataset.X, dataset.y, dataset.groups)
    return data, dataset.notes


def _summary(data: "ComparisonData", n_test: int) -> str:
    """Return how many rows, labels and features a data set has."""
    from semisift.utils._labels import UNLABELLED

    n_rows, n_features = data.X.shape
    n_labelled = int((data.y != UNLABELLED).sum())
    labelled = f", of which {n_labelled:,} are labelled" if n_labelled < n_rows else ""
    return (
        f"{printable_name(data.name)}: {plural(n_rows, 'row')}{labelled}, "
        f"{plural(n_features, 'feature')}, "
        f"{plural(len(data.classes), 'class', 'classes')}; {plural(n_test, 'labelled row')} "
        f"judge each run"
    )


@contextmanager
def _backend(options: CompareOptions) -> Iterator[None]:
    """Run the comparison in processes, in threads or on a Dask cluster."""
    import joblib

    if options.backend != "dask":
        with joblib.parallel_config(backend=options.backend, n_jobs=1):
            yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise click.ClickException(
            '--backend dask needs distributed: pip install "semisift[dask]"'
        ) from error
    try:
        client = Client(options.scheduler, timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError) as error:
        raise click.ClickException(
            f"--scheduler {options.scheduler}: no Dask scheduler answers there ({error})."
        ) from error
    with client, joblib.parallel_config(backend="dask", client=client):
        yield


# --- how the methods stand ------------------------------------------------------------------------


def show(results: "Results", report: Path | None) -> None:
    """Print a table of the methods, what went wrong, and where all is."""
    from semisift.report.comparison._page import failures, too_slow

    console = Terminal()
    console.print(standings(results))
    for problem in [*failures(results), *too_slow(results)]:
        console.print(f"{problem.where}: {problem.what[:MAX_ERROR]}")
    places = {"Records": results.folder, "Report": report}
    found = [f"{what}: {place}" for what, place in places.items() if place is not None]
    for line in [*remarks(results), *found]:
        console.print(line)


def standings(results: "Results") -> Table:
    """Return a table with a row for each method, the best mean rank first."""
    from semisift.report.comparison._view import view_of

    evaluator, metric = results.protocol.judges[0], results.protocol.metrics[0]
    n_sets = len(results.datasets)
    of_levels = [
        metric if level is None else f"{results.about['sweep']['kind']}={level:g}"
        for level in results.levels
    ]
    numbers = ("mean rank", *of_levels, "median seconds", "failed")
    table = Table(
        Column("method", overflow="fold"),
        *(Column(heading, justify="right") for heading in numbers),
        title=f"{plural(n_sets, 'data set')}, "
        f"{plural(results.protocol.n_runs, 'run')}: {metric} of {evaluator}",
    )
    ranks = dict(zip(results.methods, view_of(results).mean_ranks, strict=True))
    means = [results.means(level=level) for level in results.levels]
    measured = results.measured("seconds")
    seconds = dict(zip(measured.methods, np.moveaxis(measured.values, 2, 0), strict=True))
    failed = Counter(record["method"] for record in results.failures)
    for method in sorted(ranks, key=lambda method: np.nan_to_num(ranks[method], nan=np.inf)):
        rank = "-" if np.isnan(ranks[method]) else f"{ranks[method]:.2f}"
        cells = [_mean(*of_level[method], n_sets) for of_level in means]
        known = seconds[method][np.isfinite(seconds[method])]
        time = format_number(float(np.median(known))) if len(known) else "-"
        name = Text(printable_name(method))
        table.add_row(name, rank, *cells, time, str(failed[method] or "-"))
    return table


def _mean(mean: float, n_known: int, n_sets: int) -> str:
    """Format a mean over data sets, and of how many, where some are missing."""
    if not n_known:
        return "-"
    return f"{mean:.4f}" + (f" ({n_known} of {n_sets})" if n_known < n_sets else "")


def remarks(results: "Results") -> list[str]:
    """Return what the numbers of the table stand on, where that is not all there is."""
    from semisift.comparison._run import doubt
    from semisift.comparison._sweeps import SWEEPS

    found = [*filter(None, [doubt(results.n_judging)])]
    complete = results.scores().complete().datasets
    if problem := results.unpaired(complete):
        found.append(f"There are no ranks: {problem}")
    elif 0 < len(complete) < len(results.datasets):
        found.append(
            f"Ranks are over the {len(complete)} of {len(results.datasets)} data sets on which "
            "every method has all its runs."
        )
    if results.levels[0] is not None:
        sweep = results.about["sweep"]["kind"]
        found.append(
            f"Ranks and seconds are at the first level, {results.levels[0]:g} ({SWEEPS[sweep]})."
        )
    if results.n_missing:
        found.append(f"{plural(results.n_missing, 'record')} are missing: resume the comparison.")
    if others := [*results.protocol.judges[1:], *results.protocol.metrics[1:]]:
        found.append(f"The records and the report have more: {join(others)}.")
    return found
