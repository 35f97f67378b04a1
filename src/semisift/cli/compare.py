"""``semisift compare``: many methods on many tables, with records that survive."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import click

from semisift.cli import STOPS
from semisift.cli._options import A_SEED, AT_LEAST_1, OF_TABLES, Request, command, option, read_jobs
from semisift.io._options import TableOptions

PROTOCOL = (
    *("runs", "labels_per_class", "train_size", "sizes"),
    *("judge", "train_on", "scaling", "metric", "seed"),
)

EXAMPLES = """\b
Examples:
  semisift compare data/*.npz --methods ssfi,lsdf,fisher,random --out runs
  semisift compare a.csv b.csv --label class --protocol enscls --methods \\
    enscls,enscls:variant=paper,all-labels --n-jobs -1 --out runs
  semisift compare cells.h5ad --label type --group patient --methods ssfi,fisher \\
    --sweep labels=1,2,5,10 --out sweep
  semisift compare --resume --out runs
"""


@dataclass(frozen=True, kw_only=True)
class CompareRequest(Request, TableOptions):
    """What the user asked for; `files` are the paths of the data sets, by their names."""

    files: dict[str, str]
    out: str = option("Folder of the comparison: every record is kept there.", "DIR")
    methods: tuple[str, ...] = option(
        "What takes part, between commas: names that `semisift methods` lists, with "
        "parameters after colons (enscls:variant=paper); random, all-labels and "
        "all-features, to compare with; "
        "a class of your own (package.module.Class).",
        "NAMES",
        default=(),
    )
    protocol: str = option(
        "How rows are split, labels hidden and rankings judged, as in a paper: ssfi, enscls, "
        "fw-semifs or rel-rasco. The options below change parts of it.",
        "NAME",
        default="ssfi",
    )
    sweep: str | None = option(
        "Vary one thing: labels=1,2,5 (labelled rows of each class), flipped=0,0.1 (share of "
        "wrong labels) or left-out=0,0.5 (share of unlabelled rows left out).",
        "KIND=LEVELS",
    )
    runs: int | None = option("Splits of each data set.", "N", type=AT_LEAST_1)
    labels_per_class: int | None = option(
        "Labels of each class that the methods see; the others are hidden.", "K", type=AT_LEAST_1
    )
    train_size: float | None = option(
        "Share of the rows that train.",
        "SHARE",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
    )
    sizes: str | None = option("How many of the best features are judged: 1-20 or 5,10.", "NUMBERS")
    judge: tuple[str, ...] = option(
        "Classifier that judges them: tree, svm, knn, nb, nnge, with parameters after colons "
        "(knn:n_neighbors=3), or a class of your own. May be repeated.",
        "NAME",
        default=(),
    )
    train_on: str | None = option(
        "Judges learn from all training rows with their true labels, or from the labelled "
        "ones alone.",
        type=click.Choice(["all", "labelled"]),
    )
    scaling: str | None = option(
        "What is done to features before a judge sees them.",
        type=click.Choice(["none", "standard", "minmax"]),
    )
    metric: tuple[str, ...] = option(
        "What is measured; the first one is the main one. May be repeated.",
        default=(),
        type=click.Choice(["accuracy", "balanced_accuracy", "macro_f1", "auc"]),
    )
    seed: int | None = option(
        "Seed of every random choice. The same seed gives the same numbers everywhere.",
        "N",
        type=A_SEED,
    )
    resume: bool = option(
        "Go on with the comparison in DIR, with the files and options that it was begun "
        "with. It may get more files, methods, levels and runs. Classes of your own, --backend "
        "and --report are to be named again.",
        default=False,
    )
    retry_failed: bool = option("Do again what failed.", default=False)
    max_seconds: float | None = option(
        "Leave a method out on a data set where one run of it took longer.",
        "S",
        type=click.FloatRange(0, min_open=True),
    )
    n_jobs: int | None = option(
        "Runs at a time, -1 for one on each core. The numbers do not depend on it.",
        "N",
        type=read_jobs,
    )
    backend: str = option(
        "Who does the runs: processes, threads or a Dask cluster.",
        default="loky",
        type=click.Choice(["loky", "threading", "dask"]),
    )
    scheduler: str | None = option("Of the Dask cluster, as tcp://10.0.0.5:8786.", "ADDRESS")
    report: str | None = option("Write the report there.  [default: DIR/report.html]", "FILE")
    no_report: bool = option("Write no report; `semisift report` does it.", default=False)

    @property
    def entrants(self) -> list[str]:
        """Names of the methods with their parameters, each of them once."""
        return each_name(self.methods)


def each_name(parts: Iterable[str]) -> list[str]:
    """Return names between commas, each of them once."""
    every = [name.strip() for part in parts for name in part.split(",")]
    return list(dict.fromkeys(name for name in every if name))


@command(
    CompareRequest,
    click.argument("files", nargs=-1),
    EXAMPLES,
    Comparison=("out", "methods", "protocol", "sweep"),
    Protocol=PROTOCOL,
    Work=("resume", "retry_failed", "max_seconds", "n_jobs", "backend", "scheduler"),
    Report=("report", "no_report", "quiet"),
    Tables=OF_TABLES,
)
@click.pass_context
def compare(ctx: click.Context, /, **options: Any) -> None:
    """Compare methods on labelled tables, and keep every record.

    Each method ranks the features of each table several times, from rows of which most labels are
    hidden; a classifier then judges the best features on rows that no method has seen. FILES are
    tables as in `semisift rank`, called by their names without the ending.

    Each run leaves a record in DIR when it is made. Whatever stops the comparison, the same
    command with --resume does what is missing, and nothing twice.

    What --missing and --categorical do, they do once for the whole table, before it is split.
    """
    from semisift.cli._compare_request import find_request, resume_command
    from semisift.cli._run_compare import run
    from semisift.comparison._store import ABOUT_RUNS, RESTORE, Store
    from semisift.exceptions import WorkerLostError

    if options["out"] is None:
        raise click.UsageError("--out DIR is missing: name a folder that keeps the records.")
    default = click.core.ParameterSource.DEFAULT
    given = {name for name in options if ctx.get_parameter_source(name) is not default}
    store, goes_on = Store(options["out"]), ""
    try:
        request = find_request(options, given)
        goes_on = f"`{resume_command(request)}` goes on."
        all_failed = run(request)
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
        if not options["resume"] or not store.exists or name in {*given, "FILES"}:
            raise
        raise click.ClickException(
            f"{store.folder / ABOUT_RUNS} is damaged: {name}: {error.message} {RESTORE}."
        ) from error
    if all_failed:
        raise click.ClickException("every run failed.")
