"""``semisift rank``: a table in, a ranking out."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from semisift.cli._options import OF_ONE_TABLE, TABLE, FileRequest, command, option

RESULTS = (
    "ranking",
    "by_class",
    "markers",
    "labels_out",
    "spreadsheet_safe",
    "report",
    "title",
    "quiet",
)
FEATURES = ("keep", "exclude", "feature_groups", "prior")
METHOD = ("method", "param", "redundancy", "seed", "n_jobs", "top", "assess", "thorough")

EXAMPLES = """\b
Examples:
  semisift rank table.csv --label diagnosis --report report.html
  semisift rank genes.tsv --transpose --labels samples.csv --out ranking.csv
  semisift rank digits.npz --labels-per-class 3 --labels-out labels.csv
  semisift rank cells.h5ad --label cell_type --unlabelled unknown --top 50
  semisift rank cells.h5ad --label cell_type --by-class --report report.html
  semisift rank cells.zarr --label cell_type --memory 4GB --passes passes/
  semisift rank table.csv --label diagnosis --thorough --out ranking.json
  semisift rank table.csv --label diagnosis --method ssfi --top shadow
  semisift rank table.csv --label diagnosis --keep age,sex --exclude controls.txt
  semisift rank cells.csv --label type --group donor --batch plate --missing keep
"""


# What --redundancy says to rank by score alone.
OFF = "off"


def read_top(value: Any) -> int | str:
    """Read a number of features, or the name of a rule that finds it."""
    # Loads scikit-learn, which --help need not wait for.
    from semisift.base._ranker import RULES

    text = str(value).strip().lower()
    if text in RULES:
        return text
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(
            f"must be a number of at least 1, or a rule ({', '.join(RULES)}): got {value!r}."
        )
    return int(text)


def read_redundancy(value: Any) -> float | str:
    """Read a correlation between 0 and 1, or `OFF`."""
    text = str(value).strip().lower()
    if text in (OFF, "none"):
        return OFF
    try:
        threshold = float(text)
    except ValueError:
        threshold = float("nan")
    if not 0 < threshold < 1:
        raise click.BadParameter(f"must be between 0 and 1, or {OFF}: got {value!r}.")
    return threshold


@dataclass(frozen=True, kw_only=True)
class RankRequest(FileRequest):
    """What the user asked to rank."""

    printed = "ranking"
    ranking: str | None = option(
        "Write the whole ranking (csv, tsv, parquet or json); - prints it as csv.",
        "FILE",
        "--out",
        "--ranking",
    )
    by_class: bool = option(
        "Tell also what marks each class: features that are higher there than in all others, on "
        "the terminal, the page and in the file of the ranking.",
        default=False,
    )
    markers: str | None = option(
        "Write all features of each class, the best first (csv, tsv, parquet or json), as "
        "--by-class tells them.",
        "FILE",
    )
    labels_out: str | None = option(
        "Write the label and the confidence that the method gives to every row (csv, tsv, "
        "parquet or json).",
        "FILE",
    )
    report: str | None = option("Write a page to show: one HTML file.", "FILE")
    title: str | None = option("Title of the report.", "TEXT")
    reduced: str | None = None
    method: str | None = option(
        "How to rank; `semisift methods` lists the names.  [default: consensus, the mean "
        "place with two methods]",
        "NAME",
    )
    redundancy: float | str | None = option(
        "Put near-copies last: features whose correlation with a better one exceeds R, in "
        "absolute value and over all rows; off ranks by score alone.  [default: 0.7 with "
        "consensus, unless the table holds counts; off with other methods]",
        "R",
        type=read_redundancy,
    )
    top: int | str | None = option(
        "How many features to select and show: a number, or a rule that confirms features "
        "(shadow, stability, knockoff).  [default: those that are confirmed; 20 if nothing was "
        "asked to confirm any]",
        "N|RULE",
        type=read_top,
    )
    assess: bool | None = option(
        "Tell how sure the ranking is, from twins of the features or shuffled labels (which also "
        "confirm features) and from halves of the rows; takes a few times as long as the "
        "ranking.  [default: yes "
        "for rank without --method and without a rule, else no]"
    )
    keep: str | None = option(
        "Features that stay: first in the ranking and selected in any case; what follows must add "
        "to them. A file with a name in each line or in its first column, or names between commas.",
        "FILE|NAMES",
    )
    exclude: str | None = option(
        "Features that nothing is learnt from: they have no score and are never selected. In the "
        "same form.",
        "FILE|NAMES",
    )
    feature_groups: str | None = option(
        "Features that are ranked and selected together, where the best of them stands: a table "
        "with the columns feature and group, or a gmt file.",
        "FILE",
    )
    prior: str | None = option(
        "How much is expected of features, 1 of those not named: a table with the columns feature "
        "and weight. Place r becomes r / weight; scores and decisions stay.",
        "FILE",
    )
    thorough: bool = option(
        "Confirm features by the rule shadow, unless --top says otherwise, and assess the "
        "ranking with more repetitions and whole committees. Takes some hundred times as long as "
        "the ranking.",
        default=False,
    )

    @property
    def number(self) -> int | None:
        """How many features were asked for, by a number."""
        return None if isinstance(self.top, str) else self.top

    @property
    def rule(self) -> str | None:
        """The rule that is to confirm features."""
        if isinstance(self.top, str):
            return self.top
        return "shadow" if self.thorough and self.top is None else None

    @property
    def wants_markers(self) -> bool:
        """Whether to tell what marks each class."""
        return self.by_class or self.markers is not None

    @property
    def is_assessed(self) -> bool:
        """Whether to tell how sure the ranking is; `rank` does so unless told what to do."""
        if self.assess is not None:
            return self.assess
        by_itself = self.method is None and self.rule is None and self.reduced is None
        return self.thorough or by_itself

    @property
    def files_beside(self) -> dict[str, str]:
        """The files that are read besides the table, by what they hold."""
        given = {name: getattr(self, name) for name in FEATURES}
        files = {name: file for name, file in given.items() if file and Path(file).is_file()}
        return super().files_beside | files

    @property
    def has_pairs(self) -> bool:
        """Whether pairs of rows were given."""
        return self.must_link is not None or self.cannot_link is not None


@command(
    RankRequest,
    TABLE,
    EXAMPLES,
    Results=RESULTS,
    Method=METHOD,
    Features=FEATURES,
    Table=OF_ONE_TABLE,
)
def rank(**options: Any) -> None:
    """Rank the features of a table, best first.

    TABLE is a file (csv, tsv, parquet, npz, mat, xlsx, geo, gct, arff, svmlight, mtx, 10x-h5,
    h5ad; text may be packed with gzip) or a folder of zarr or 10x. A few labelled rows are enough;
    rows without a label are not thrown away: they are what makes the methods semi-supervised.

    Without --method and without a rule in --top, the ranking is also assessed: twins of the
    features, with their rows exchanged, tell whether the labels matter and confirm features, and
    rankings of halves of the rows tell how much the ranks vary.
    """
    from semisift.cli._run_rank import run

    run(RankRequest(**options))
