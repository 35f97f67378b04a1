"""``semisift rank``: a table in, a ranking out."""

from typing import Any

import click

from semisift.cli._options import (
    METHOD_OPTIONS,
    OUTPUT_OPTIONS,
    TABLE_OPTIONS,
    InSections,
    with_options,
)

RANKING = click.option(
    "--out",
    "--ranking",
    "ranking",
    metavar="FILE",
    help="Write the whole ranking (csv, tsv, parquet or json); - prints it as csv.",
)

EXAMPLES = """\b
Examples:
  semisift rank table.csv --label diagnosis --report report.html
  semisift rank genes.tsv --transpose --labels samples.csv --out ranking.csv
  semisift rank digits.npz --labels-per-class 3 --labels-out labels.csv
  semisift rank cells.h5ad --label cell_type --unlabelled unknown --top 50
  semisift rank table.csv --label diagnosis --thorough --out ranking.json
  semisift rank table.csv --label diagnosis --method ssfi --top shadow
"""


@click.command(cls=InSections, epilog=EXAMPLES)
@click.argument("table")
@with_options(Results=[RANKING, *OUTPUT_OPTIONS], Method=METHOD_OPTIONS, Table=TABLE_OPTIONS)
def rank(**options: Any) -> None:
    """Rank the features of a table, best first.

    TABLE is a file (csv, tsv, parquet, npz, mat, arff, svmlight, mtx, h5ad; text may be packed
    with gzip) or a folder of 10x. A few labelled rows are enough; rows without a label are not
    thrown away: they are what makes the methods semi-supervised.

    Without --method and without a rule in --top, the ranking is also assessed: rankings from
    shuffled labels tell whether the labels matter and confirm features, and rankings of halves of
    the rows tell how much the ranks vary.
    """
    from semisift.cli._result import RankRequest
    from semisift.cli._run import run

    run(RankRequest(**options))
