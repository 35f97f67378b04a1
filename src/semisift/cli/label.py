"""``semisift label``: a table in, a label for every row out."""

from typing import Any

import click

from semisift.cli._options import (
    LABELLED_TABLE_OPTIONS,
    N_JOBS,
    PARAM,
    QUIET,
    SEED,
    SPREADSHEET_SAFE,
    InSections,
    with_options,
)

# Its trees do not depend on the units of the columns, and its probabilities are votes of many.
DEFAULT_LEARNER = "co-forest"

OUTPUTS = [
    click.option(
        "--out",
        required=True,
        metavar="FILE",
        help="Write a label and a confidence for every row (csv, tsv, parquet or json); - prints "
        "them as csv.",
    ),
    click.option(
        "--probabilities", is_flag=True, help="Write the probability of each class as well."
    ),
    SPREADSHEET_SAFE,
    QUIET,
]

METHOD = click.option(
    "--method",
    default=DEFAULT_LEARNER,
    show_default=True,
    metavar="NAME",
    help="How to label; `semisift methods --learners` lists the names. --param estimator=NAME "
    "names the classifier inside: tree, forest, knn:n_neighbors=3, nb, svm, or a class by path.",
)

EXAMPLES = """\b
Examples:
  semisift label table.csv --label diagnosis --out labels.csv
  semisift label table.csv --label diagnosis --method rel-rasco --out labels.csv --probabilities
  semisift label digits.npz --labels-per-class 3 --method labelled-only --out labels.csv
"""


@click.command(cls=InSections, epilog=EXAMPLES)
@click.argument("table")
@with_options(Results=OUTPUTS, Method=[METHOD, PARAM, SEED, N_JOBS], Table=LABELLED_TABLE_OPTIONS)
def label(**options: Any) -> None:
    """Label the rows of a table that carry no label.

    TABLE is a file or folder, as for `semisift rank`. A classifier for partly labelled data learns
    from all rows and labels those without a label. Given labels stay as they are.
    """
    from semisift.cli._labelling import LabelRequest, run

    run(LabelRequest(**options))
