"""``semisift compare``: many methods on many tables, with records that survive."""

from typing import Any

import click

from semisift.cli._options import DATASET_OPTIONS, QUIET, InSections, with_options

COMPARISON_OPTIONS = [
    click.option(
        "--out", metavar="DIR", help="Folder of the comparison: every record is kept there."
    ),
    click.option(
        "--methods",
        multiple=True,
        metavar="NAMES",
        help="What takes part, between commas: names that `semisift methods` lists, with "
        "parameters after colons (enscls:variant=paper); random, all-labels and "
        "all-features, to compare with; "
        "a class of your own (package.module.Class).",
    ),
    click.option(
        "--protocol",
        default="ssfi",
        show_default=True,
        metavar="NAME",
        help="How rows are split, labels hidden and rankings judged, as in a paper: ssfi, enscls, "
        "fw-semifs or rel-rasco. The options below change parts of it.",
    ),
    click.option(
        "--sweep",
        metavar="KIND=LEVELS",
        help="Vary one thing: labels=1,2,5 (labelled rows of each class), flipped=0,0.1 (share of "
        "wrong labels) or left-out=0,0.5 (share of unlabelled rows left out).",
    ),
]

PROTOCOL_OPTIONS = [
    click.option(
        "--runs", type=click.IntRange(min=1), metavar="N", help="Splits of each data set."
    ),
    click.option(
        "--labels-per-class",
        type=click.IntRange(min=1),
        metavar="K",
        help="Labels of each class that the methods see; the others are hidden.",
    ),
    click.option(
        "--train-size",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="SHARE",
        help="Share of the rows that train.",
    ),
    click.option(
        "--sizes", metavar="NUMBERS", help="How many of the best features are judged: 1-20 or 5,10."
    ),
    click.option(
        "--judge",
        multiple=True,
        metavar="NAME",
        help="Classifier that judges them: tree, svm, knn, nb, nnge, with parameters after colons "
        "(knn:n_neighbors=3), or a class of your own. May be repeated.",
    ),
    click.option(
        "--train-on",
        type=click.Choice(["all", "labelled"]),
        help="Judges learn from all training rows with their true labels, or from the labelled "
        "ones alone.",
    ),
    click.option(
        "--scaling",
        type=click.Choice(["none", "standard", "minmax"]),
        help="What is done to features before a judge sees them.",
    ),
    click.option(
        "--metric",
        multiple=True,
        type=click.Choice(["accuracy", "balanced_accuracy", "macro_f1", "auc"]),
        help="What is measured; the first one is the main one. May be repeated.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0, max=2**32 - 1),
        metavar="N",
        help="Seed of every random choice. The same seed gives the same numbers everywhere.",
    ),
]

WORK_OPTIONS = [
    click.option(
        "--resume",
        is_flag=True,
        help="Go on with the comparison in DIR, with the files and options that it was begun "
        "with. It may get more files, methods, levels and runs. Classes of your own, --backend "
        "and --report are to be named again.",
    ),
    click.option("--retry-failed", is_flag=True, help="Do again what failed."),
    click.option(
        "--max-seconds",
        type=click.FloatRange(0, min_open=True),
        metavar="S",
        help="Leave a method out on a data set where one run of it took longer.",
    ),
    click.option(
        "--n-jobs",
        type=int,
        metavar="N",
        help="Runs at a time, -1 for one on each core. The numbers do not depend on it.",
    ),
    click.option(
        "--backend",
        type=click.Choice(["loky", "threading", "dask"]),
        default="loky",
        show_default=True,
        help="Who does the runs: processes, threads or a Dask cluster.",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="Of the Dask cluster, as tcp://10.0.0.5:8786."
    ),
]

REPORT_OPTIONS = [
    click.option(
        "--report", metavar="FILE", help="Write the report there.  [default: DIR/report.html]"
    ),
    click.option("--no-report", is_flag=True, help="Write no report; `semisift report` does it."),
    QUIET,
]

EXAMPLES = """\b
Examples:
  semisift compare data/*.npz --methods ssfi,lsdf,fisher,random --out runs
  semisift compare a.csv b.csv --label class --protocol enscls --methods \\
    enscls,enscls:variant=paper,all-labels --n-jobs -1 --out runs
  semisift compare cells.h5ad --label type --group patient --methods ssfi,fisher \\
    --sweep labels=1,2,5,10 --out sweep
  semisift compare --resume --out runs
"""


@click.command(cls=InSections, epilog=EXAMPLES)
@click.argument("files", nargs=-1)
@with_options(
    Comparison=COMPARISON_OPTIONS,
    Protocol=PROTOCOL_OPTIONS,
    Work=WORK_OPTIONS,
    Report=REPORT_OPTIONS,
    Tables=DATASET_OPTIONS,
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
    from semisift.cli._compare_run import run
    from semisift.cli._signals import STOPS
    from semisift.evaluation.store import ABOUT, RESTORE, Store
    from semisift.exceptions import WorkerLostError

    if options["out"] is None:
        raise click.UsageError("--out DIR is missing: name a folder that keeps the records.")
    given = {
        name
        for name in options
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
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
            f"{store.folder / ABOUT} is damaged: {name}: {error.message} {RESTORE}."
        ) from error
    if all_failed:
        raise click.ClickException("every run failed.")
