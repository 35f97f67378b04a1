"""``semisift select``: a table in, a smaller table out."""

from dataclasses import MISSING, dataclass
from typing import Any

from semisift.cli._options import OF_ONE_TABLE, TABLE, command, option
from semisift.cli.rank import FEATURES, METHOD, RESULTS, RankRequest

EXAMPLES = """\b
Examples:
  semisift select table.csv --label diagnosis --top 30 --out small.csv
  semisift select cells.h5ad --label cell_type --top 200 --out small.h5ad
  semisift select table.csv --label diagnosis --top shadow --out small.csv
"""


@dataclass(frozen=True, kw_only=True)
class SelectRequest(RankRequest):
    """What the user asked to rank and select."""

    reduced: str | None = option(
        "Write the table with the selected features, its labels, row names, groups, batches and "
        "weights, in the form of the input.",
        "FILE",
        "--out",
        default=MISSING,
    )
    ranking: str | None = option(
        "Write the whole ranking as well (csv, tsv, parquet or json).", "FILE"
    )


@command(
    SelectRequest,
    TABLE,
    EXAMPLES,
    Results=["reduced", *RESULTS],
    Method=METHOD,
    Features=FEATURES,
    Table=OF_ONE_TABLE,
)
def select(**options: Any) -> None:
    """Rank the features of a table and write a table with the best of them.

    Rows and columns keep their order, and every cell is written as it was read. Everything else is
    as in `semisift rank`, but the ranking is not assessed unless --assess or --thorough asks for
    it, so that the best 20 features are selected if --top does not say otherwise.
    """
    from semisift.cli._run_rank import run

    run(SelectRequest(**options))
