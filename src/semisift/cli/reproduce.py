"""``semisift reproduce``: a table or figure of a paper, made again on the same protocol."""

import shlex
from pathlib import Path
from typing import Any

import click

from semisift.cli import _options
from semisift.cli._terminal import Steps, Terminal
from semisift.papers.targets import TARGETS

FOLDERS = ("data", "out")

TARGET_LIST = "\b\nTargets:\n" + "\n".join(
    f"  {name:<17} {target.place}, {target.source.partition(')')[0]})"
    for name, target in TARGETS.items()
)


@_options.command()
@click.argument("target", type=click.Choice(list(TARGETS)), metavar="TARGET")
@click.option("--data", metavar="DIR", required=True, type=click.Path(exists=True, file_okay=False))
@click.option("--out", metavar="DIR", required=True, type=click.Path(file_okay=False))
@click.option("--runs", metavar="N", type=_options.AT_LEAST_1)
@click.option("--methods", metavar="NAME,...")
@click.option(
    "--max-seconds",
    metavar="S",
    default=120,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
)
@click.option("--n-jobs", metavar="N", type=_options.read_jobs)
@click.option("--resume", is_flag=True)
@_options.QUIET
def reproduce(target: str, quiet: bool, **options: Any) -> None:
    """Make a table or figure of a paper again, beside the published numbers.

    By the paper's protocol: its methods run in their printed form and in the form that semisift
    recommends, on the same splits as a random ranking, the F-score of the labelled rows, and that
    of all labels. What there is no data or no method for is said first. Where a paper is about
    classifiers, they are run instead, and their members are judged before and after they learnt.

    Parameters
    ----------
    data
        Folder with the data sets; docs/data.md says what their files are called.
    out
        Folder for the records, report.html and summary/.
    runs
        Splits. [default: as in the paper]
    methods
        Run these methods alone; +NAME adds one to those of the target. Parameters follow a colon:
        enscls:variant=paper.
    max_seconds
        A method that ranks longer than this in one run on a data set is left out there, with its
        time. The run itself is not cut short.
    n_jobs
        Runs at a time, -1 for all cores.
    resume
        Go on with the records in --out. Targets of one paper that differ only in what they show can
        share a folder.

    Examples
    --------
      semisift reproduce ssfi-table2 --data data/ --out ssfi/
      semisift reproduce enscls-table3 --data data/ --out enscls/ --n-jobs 4
      semisift reproduce enscls-fig2 --data data/ --out enscls/ --resume
      semisift reproduce rel-rasco-fig1 --data data/ --out committees/ --n-jobs 2
      semisift reproduce ssfi-table2 --data data/ --out quick/ --runs 3 --methods +lsdf,+sefr
    """
    from semisift.papers.reproduce import reproduce as run

    again = _command(target, options)
    options |= {name: Path(options[name]) for name in FOLDERS}
    run(TARGETS[target], Terminal(quiet=quiet), Steps(quiet), command=again, **options)


def _command(target: str, options: dict[str, Any]) -> str:
    """Return the line that makes the same comparison, without the reader's folders."""
    words = ["semisift", "reproduce", target]
    for name in FOLDERS:
        words += [f"--{name}", Path(options[name]).resolve().name]
    for name in ("runs", "methods", "max_seconds"):
        if (value := options[name]) is not None:
            text = f"{value:g}" if isinstance(value, float) else str(value)
            words += [f"--{name.replace('_', '-')}", text]
    return shlex.join(words)


reproduce.epilog = f"{TARGET_LIST}\n\n{reproduce.epilog}"
