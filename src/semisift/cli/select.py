"""``semisift select``: a table in, a smaller table out."""

from typing import Any

import click

from semisift.cli import _options
from semisift.cli.rank import RankOptions, rank_options, run


@_options.command(RankOptions)
@rank_options(
    click.option(*("--out", "reduced"), metavar="FILE", required=True),
    click.option("--ranking", metavar="FILE"),
)
def select(**given: Any) -> None:
    """Rank the features of a table and write a table with the best of them.

    Rows and columns keep their order, and every cell is written as it was read. Everything else is
    as in `semisift rank`, but the ranking is not assessed unless --assess asks for it, so that the
    best 20 features are selected if --top does not say otherwise.

    Parameters
    ----------
    reduced
        Write the table with the selected features, its labels, row names, groups, batches and
        weights, in the form of the input.
    ranking
        Write the whole ranking as well (csv, tsv, parquet or json).

    Examples
    --------
      semisift select table.csv --label diagnosis --top 30 --out small.csv
      semisift select cells.h5ad --label cell_type --top 200 --out small.h5ad
      semisift select table.csv --label diagnosis --top shadow --out small.csv
    """
    run(RankOptions(**given))
