"""``semisift next``: a table in, the rows to label next out."""

from dataclasses import dataclass
from typing import Any

from semisift.cli._options import (
    AT_LEAST_1,
    OF_ONE_TABLE,
    PAIR_FILES,
    TABLE,
    FileRequest,
    command,
    option,
)

EXAMPLES = """\b
Examples:
  semisift next table.csv --label diagnosis --n 10 --out next.csv
  semisift next table.csv                      (nothing is labelled yet)
  semisift next cells.h5ad --label cell_type --group donor
"""


@dataclass(frozen=True, kw_only=True)
class NextRequest(FileRequest):
    """What the user asked to choose."""

    printed = "out"
    n: int = option("How many rows.", "N", "--n", "-n", default=10, type=AT_LEAST_1)
    out: str | None = option(
        "Write the rows, the most useful first, with the reason, the most likely label and how "
        "sure it is (csv, tsv, parquet or json); - prints them as csv.",
        "FILE",
    )
    expect: bool | None = option(
        "Tell how much more stable the best features would be with N more labels, by leaving out "
        "some of those at hand; takes a few times as long as a ranking.  [default: yes]"
    )


@command(
    NextRequest,
    TABLE,
    EXAMPLES,
    Results=("n", "out", "expect", "spreadsheet_safe", "quiet"),
    Method=("seed", "n_jobs"),
    Table=[name for name in OF_ONE_TABLE if name not in PAIR_FILES],
)
def next(**options: Any) -> None:
    """Tell which rows to label next, and why.

    TABLE is a file or folder, as for `semisift rank`. Rows are chosen whose labels would take away
    the most doubt about all rows; no two of them are alike. It goes from no label at all (leave out
    --label), from one class, and from more.
    """
    from semisift.cli._run_next import run

    run(NextRequest(**options))
