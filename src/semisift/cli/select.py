"""``semisift select``: a table in, a smaller table out."""

from typing import Any

import click

from semisift.cli._options import (
    METHOD_OPTIONS,
    OUTPUT_OPTIONS,
    TABLE_OPTIONS,
    InSections,
    with_options,
)

OUTPUTS = [
    click.option(
        "--out",
        "reduced",
        metavar="FILE",
        required=True,
        help="Write the table with the selected features, its labels and row names, in the form "
        "of the input.",
    ),
    click.option(
        "--ranking",
        metavar="FILE",
        help="Write the whole ranking as well (csv, tsv, parquet or json).",
    ),
]

EXAMPLES = """\b
Examples:
  semisift select table.csv --label diagnosis --top 30 --out small.csv
  semisift select cells.h5ad --label cell_type --top 200 --out small.h5ad
  semisift select table.csv --label diagnosis --top shadow --out small.csv
"""


@click.command(cls=InSections, epilog=EXAMPLES)
@click.argument("table")
@with_options(Results=[*OUTPUTS, *OUTPUT_OPTIONS], Method=METHOD_OPTIONS, Table=TABLE_OPTIONS)
def select(**options: Any) -> None:
    """Rank the features of a table and write a table with the best of them.

    Rows and columns keep their order, and every cell is written as it was read. Everything else is
    as in `semisift rank`, but the ranking is not assessed unless --assess or --thorough asks for
    it, so that the best 20 features are selected if --top does not say otherwise.
    """
    from semisift.cli._result import RankRequest
    from semisift.cli._run import run

    run(RankRequest(**options))
