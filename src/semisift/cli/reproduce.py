"""``semisift reproduce``: a table or figure of a paper, made again on the same protocol."""

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semisift.cli._progress import Steps
from semisift.evaluation.targets import TARGETS
from semisift.exceptions import FewTestRowsWarning

if TYPE_CHECKING:
    from rich.console import Console

    from semisift.evaluation.reproductions import Reproduction
    from semisift.evaluation.results import Results
    from semisift.evaluation.targets import Target

# numpy, scikit-learn and rich are imported inside functions: ``semisift reproduce --help`` should
# not wait for them.

TARGET_LIST = "\b\nTargets:\n" + "\n".join(
    f"  {name:<17} {target.published.place}, {target.published.source.partition(')')[0]})"
    for name, target in TARGETS.items()
)

EXAMPLES = """\b
Examples:
  semisift reproduce ssfi-table2 --data data/ --out ssfi/
  semisift reproduce enscls-table3 --data data/ --out enscls/ --n-jobs 4
  semisift reproduce enscls-fig2 --data data/ --out enscls/ --resume
  semisift reproduce rel-rasco-fig1 --data data/ --out committees/ --n-jobs 2
  semisift reproduce ssfi-table2 --data data/ --out quick/ --runs 3 --methods +lsdf,+sefr
"""


@click.command(epilog=f"{TARGET_LIST}\n\n{EXAMPLES}")
@click.argument("target", type=click.Choice(list(TARGETS)), metavar="TARGET")
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Folder with the data sets; docs/data.md says what their files are called.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Folder for the records, report.html and summary/.",
)
@click.option(
    "--runs", type=click.IntRange(min=1), metavar="N", help="Splits.  [default: as in the paper]"
)
@click.option(
    "--methods",
    metavar="NAME,...",
    help="Run these methods alone; +NAME adds one to those of the target. Parameters follow a "
    "colon: enscls:variant=paper.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=120,
    show_default=True,
    metavar="S",
    help="A method that ranks longer than this in one run on a data set is left out there, with "
    "its time. The run itself is not cut short.",
)
@click.option("--n-jobs", type=int, metavar="N", help="Runs at a time, -1 for all cores.")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with the records in --out. Targets of one paper that differ only in what they "
    "show can share a folder.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print errors and warnings only.")
def reproduce(target: str, **options: Any) -> None:
    """Make a table or figure of a paper again, beside the published numbers.

    By the paper's protocol: its methods run in their printed form and in the form that semisift
    recommends, on the same splits as a random ranking, the F-score of the labelled rows, and that
    of all labels. What there is no data or no method for is said first. Where a paper is about
    classifiers, they are run instead, and their members are judged before and after they learnt.
    """
    from semisift.cli._terminal import Terminal
    from semisift.evaluation.reproductions import prepare

    console = Terminal(quiet=options["quiet"])
    steps = Steps(options["quiet"])
    if TARGETS[target].view == "committees":
        _reproduce_committees(console, steps, TARGETS[target], options)
        return
    with steps.step("Reading the data sets"):
        plan = prepare(TARGETS[target], Path(options["data"]), options["methods"], options["runs"])
    _say_what_is_missing(console, plan)
    results = _run(plan, steps, options)
    with steps.step("Writing the report"):
        _write(plan, results, Path(options["out"]))
    if not options["quiet"]:
        from semisift.cli._reproduced import show

        show(console, plan.target, results)
    console.print(f"Written: {Path(options['out']) / 'report.html'}, with summary/ beside it.")


def _reproduce_committees(
    console: "Console", steps: Steps, target: "Target", options: dict[str, Any]
) -> None:
    from semisift.cli import _committees

    with steps.step("Reading the data sets"):
        plan = _committees.prepare(target, options)
    _say_what_is_missing(console, plan)
    results = _committees.run(plan, steps, options, _command(target.name, options))
    if not options["quiet"]:
        _committees.show(console, results)
    console.print(f"Written: {Path(options['out']) / _committees.SUMMARY}.")


def _say_what_is_missing(console: "Console", plan: "Reproduction") -> None:
    silent = [each.name for each in plan.target.columns if not (each.printed or each.default)]
    facts = {
        "No data": [f"{name} ({kind.stems[0]})" for name, kind in plan.missing_sets.items()],
        "Other data": [f"{name} has {text}" for name, text in plan.differences.items()],
        "No method yet": plan.missing_methods,
        "No classifier yet": plan.missing_judges,
        "Nothing of its own to run": silent,
    }
    console.print(plan.target.title)
    for heading, names in facts.items():
        if names:
            console.print(f"{heading}: {', '.join(names)}.")


def _run(plan: "Reproduction", steps: Steps, options: dict[str, Any]) -> "Results":
    from semisift.evaluation.compare import compare

    with steps.step(f"Comparing on {len(plan.sets)} data sets") as step, warnings.catch_warnings():
        # the protocol is the paper's, and the report says it
        warnings.simplefilter("ignore", FewTestRowsWarning)
        return compare(
            plan.methods,
            plan.sets,
            plan.target.protocol,
            out=options["out"],
            resume=options["resume"],
            max_seconds=options["max_seconds"],
            n_jobs=options["n_jobs"],
            on_record=step.hear,
            notes={**plan.notes, "command": _command(plan.target.name, options)},
        )


def _command(target: str, options: dict[str, Any]) -> str:
    """Return the line that makes the same comparison, without the reader's folders."""
    words = ["semisift", "reproduce", target]
    for name in ("data", "out"):
        words += [f"--{name}", Path(options[name]).resolve().name]
    for name in ("runs", "methods", "max_seconds"):
        if options[name] is not None:
            value = options[name]
            words += [
                f"--{name.replace('_', '-')}",
                f"{value:g}" if isinstance(value, float) else str(value),
            ]
    return shlex.join(words)


def _write(plan: "Reproduction", results: "Results", folder: Path) -> None:
    from semisift.report.comparison import write_comparison, write_summary

    write_comparison(results, folder / "report.html", title=plan.target.title)
    write_summary(results, folder / "summary")
