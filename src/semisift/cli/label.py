"""``semisift label``: a table in, a label for every row out."""

from dataclasses import MISSING, dataclass
from typing import Any

from semisift.cli._options import IN_MEMORY, TABLE, FileRequest, command, option

# The most accurate one on the sets of docs/results/labels.md, and its confidence can be trusted.
DEFAULT_LEARNER = "transduction"

EXAMPLES = """\b
Examples:
  semisift label table.csv --label diagnosis --out labels.csv
  semisift label table.csv --label diagnosis --method rel-rasco --out labels.csv --probabilities
  semisift label digits.npz --labels-per-class 3 --method labelled-only --out labels.csv
"""


@dataclass(frozen=True, kw_only=True)
class LabelRequest(FileRequest):
    """What the user asked to label."""

    supports_out_of_core = False  # a classifier holds all rows
    printed = "out"
    out: str = option(
        "Write a label and a confidence for every row (csv, tsv, parquet or json); - prints "
        "them as csv.",
        "FILE",
        default=MISSING,
    )
    probabilities: bool = option("Write the probability of each class as well.", default=False)
    method: str = option(
        "How to label; `semisift methods --learners` lists the names. --param estimator=NAME names "
        "the classifier inside: tree, forest, knn:n_neighbors=3, nb, svm, or a class by path.",
        "NAME",
        default=DEFAULT_LEARNER,
    )


@command(
    LabelRequest,
    TABLE,
    EXAMPLES,
    Results=("out", "probabilities", "spreadsheet_safe", "quiet"),
    Method=("method", "param", "seed", "n_jobs"),
    Table=IN_MEMORY,
)
def label(**options: Any) -> None:
    """Label the rows of a table that carry no label.

    TABLE is a file or folder, as for `semisift rank`. A classifier for partly labelled data learns
    from all rows and labels those without a label. Given labels stay as they are.
    """
    from semisift.cli._run_predict import run

    run(LabelRequest(**options))
