"""``semisift reproduce``: a table or figure of a paper, made again on the same protocol."""

import shlex
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any

import click

from semisift.cli._options import AT_LEAST_1, Request, command, option, read_jobs
from semisift.papers.targets import TARGETS

# numpy, scikit-learn and rich are imported inside functions: ``semisift reproduce --help`` should
# not wait for them.

FOLDERS = ("data", "out")

TARGET_LIST = "\b\nTargets:\n" + "\n".join(
    f"  {name:<17} {target.place}, {target.source.partition(')')[0]})"
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


@dataclass(frozen=True, kw_only=True)
class ReproduceRequest(Request):
    """What the user asked to make again, but for the target."""

    data: str = option(
        "Folder with the data sets; docs/data.md says what their files are called.",
        "DIR",
        default=MISSING,
        type=click.Path(exists=True, file_okay=False),
    )
    out: str = option(
        "Folder for the records, report.html and summary/.",
        "DIR",
        default=MISSING,
        type=click.Path(file_okay=False),
    )
    runs: int | None = option("Splits.  [default: as in the paper]", "N", type=AT_LEAST_1)
    methods: str | None = option(
        "Run these methods alone; +NAME adds one to those of the target. Parameters follow a "
        "colon: enscls:variant=paper.",
        "NAME,...",
    )
    max_seconds: float = option(
        "A method that ranks longer than this in one run on a data set is left out there, with "
        "its time. The run itself is not cut short.",
        "S",
        default=120,
        type=click.FloatRange(min=0, min_open=True),
    )
    n_jobs: int | None = option("Runs at a time, -1 for all cores.", "N", type=read_jobs)
    resume: bool = option(
        "Go on with the records in --out. Targets of one paper that differ only in what they "
        "show can share a folder.",
        default=False,
    )


@command(
    ReproduceRequest,
    click.argument("target", type=click.Choice(list(TARGETS)), metavar="TARGET"),
    f"{TARGET_LIST}\n\n{EXAMPLES}",
    Options=("data", "out", "runs", "methods", "max_seconds", "n_jobs", "resume", "quiet"),
)
def reproduce(target: str, **options: Any) -> None:
    """Make a table or figure of a paper again, beside the published numbers.

    By the paper's protocol: its methods run in their printed form and in the form that semisift
    recommends, on the same splits as a random ranking, the F-score of the labelled rows, and that
    of all labels. What there is no data or no method for is said first. Where a paper is about
    classifiers, they are run instead, and their members are judged before and after they learnt.
    """
    from semisift.cli._terminal import Steps, Terminal
    from semisift.papers.reproduce import reproduce as make_again

    again = _command(target, options)
    console, steps = Terminal(quiet=options["quiet"]), Steps(options.pop("quiet"))
    options |= {name: Path(options[name]) for name in FOLDERS}
    make_again(TARGETS[target], console, steps, command=again, **options)


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
