"""``semisift explore``: a page on which a person labels rows and watches the ranking follow."""

from dataclasses import dataclass
from typing import Any

import click

from semisift.cli._options import OF_ONE_TABLE, PAIR_FILES, TABLE, command, option
from semisift.cli.rank import RankRequest

OF_TABLE = [name for name in OF_ONE_TABLE if name not in PAIR_FILES]

EXAMPLES = """\b
Examples:
  semisift explore cells.csv --label type --out results/
  semisift explore samples.tsv --id sample
  semisift explore digits.npz --image 28x28
  semisift explore cells.h5ad --label cell_type --unlabelled unknown --no-browser
"""

# What --out writes into its folder, by the field of a request to rank.
RESULTS = {"ranking": "ranking.csv", "labels_out": "labels.csv", "report": "report.html"}


def read_image(value: Any) -> tuple[int, int]:
    """Read height and width, as in 28x28."""
    parts = str(value).lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() and 0 < int(part) < 10_000 for part in parts):
        raise click.BadParameter(f"must be height and width, as in 28x28: got {value!r}.")
    height, width = map(int, parts)
    return height, width


@dataclass(frozen=True, kw_only=True)
class ExploreRequest(RankRequest):
    """What the user asked to explore."""

    judges_by_some = True  # the page works with some rows, and the results are made from all

    folder: str | None = option(
        "Write ranking.csv, labels.csv and report.html into this folder at the end, or when the "
        "page says so, as `semisift rank` writes them.",
        "FOLDER",
        "--out",
    )
    answers: str | None = option(
        "File of the labels that are given on the page; written whole after each answer.  "
        "[default: TABLE.labels.csv, beside the table]",
        "FILE",
    )
    browser: bool = option(
        "Open the page in a browser, or print its address only.",
        None,
        "--browser/--no-browser",
        default=True,
    )
    port: int = option(
        "Port of the page on this machine; 0 takes a free one.",
        "N",
        default=0,
        type=click.IntRange(0, 65535),
    )
    image: tuple[int, int] | None = option(
        "Show rows as pictures: their features are pixels, line after line.",
        "HxW",
        type=read_image,
    )


@command(
    ExploreRequest,
    TABLE,
    EXAMPLES,
    Page=("folder", "answers", "browser", "port", "image"),
    Method=("seed", "n_jobs", "assess"),
    Results=("title", "spreadsheet_safe", "quiet"),
    Table=OF_TABLE,
)
def explore(**options: Any) -> None:
    """Label the rows of a table on a page, and watch the ranking follow.

    TABLE is a file or folder, as for `semisift rank`; it may hold no label yet. The page is served
    on this machine only, to who has its address. It shows the ranking, the rows on a map, and which
    rows a label tells most of.

    Each answer is on the disk before the page goes on, in a file beside the table, which itself is
    never changed. A second start goes on from there, and `semisift rank TABLE --labels FILE` takes
    the file. Ctrl-C ends the server, and writes --out.
    """
    from semisift.cli._run_explore import run

    run(ExploreRequest(**options))
