"""Data sets of the papers: what their files are called, and how the papers describe them.

A data set is looked for in a folder under the stem of its file name, in any format that keeps
labels beside the values.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semisift._words import count, listed

if TYPE_CHECKING:
    from semisift.evaluation.datasets import ComparisonData

# Formats that have a place for labels, and the column that holds them in the others.
KEEP_LABELS = ("npz", "mat", "arff", "svmlight")
LABEL_COLUMN = "class"

# In this order, where a folder has a data set in several of them.
READABLE = (*KEEP_LABELS, "parquet", "csv", "tsv")


@dataclass(frozen=True)
class PaperSet:
    """A data set as a paper describes it.

    Attributes
    ----------
    stems : list of str
        Names of its file without the ending, in lower case; the first one found serves.
    n_rows, n_features, n_classes : int
        As the paper prints them.
    overrides : dict
        Fields of the protocol that are different for this data set.
    """

    stems: list[str]
    n_rows: int
    n_features: int
    n_classes: int
    overrides: dict[str, Any] = field(default_factory=dict)

    def find(self, folder: Path) -> Path | None:
        """Return the file of the data set in a folder, or None."""
        from semisift.io import FORMATS

        files = {path.name.lower(): path for path in sorted(folder.iterdir()) if path.is_file()}
        names = [
            f"{stem}{ending}"
            for stem in self.stems
            for form in READABLE
            for ending in FORMATS[form].endings
        ]
        return next((files[name] for name in names if name in files), None)

    def differences(self, data: "ComparisonData") -> str:
        """Say how a data set differs from the paper's description; nothing where it does not."""
        here = (*data.X.shape, len(data.classes))
        words = (("row", None), ("feature", None), ("class", "classes"))
        printed = (self.n_rows, self.n_features, self.n_classes)
        return listed(
            [
                f"{count(found, *word)} (the paper: {wanted:,})"
                for found, wanted, word in zip(here, printed, words, strict=True)
                if found != wanted
            ]
        )


def load(name: str, path: Path, overrides: dict[str, Any]) -> "ComparisonData":
    """Read a data set of which all labels are known.

    Categories become numbers in their order, and missing values the median of their column (or the
    most frequent category): two of the papers' data sets have them.

    Parameters
    ----------
    name : str
    path : Path
    overrides : dict
        Fields of the protocol that are different for this data set.

    Returns
    -------
    ComparisonData
    """
    from semisift.evaluation.datasets import ComparisonData
    from semisift.io import find_format, read_table

    table = read_table(
        path,
        label=None if find_format(path) in KEEP_LABELS else LABEL_COLUMN,
        unlabelled=("NA",),  # so that -1 is a class, as in files of the ASU repository
        categorical="ordinal",
        missing="median",
    )
    y = [None if label is None else str(label) for label in table.y]
    return ComparisonData.build(name, table.X, y, overrides=overrides)
