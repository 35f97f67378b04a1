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
    stems : tuple of str
        Names of its file without the ending, in lower case; the first one found serves.
    n_rows, n_features, n_classes : int
        As the paper prints them.
    overrides : dict
        Fields of the protocol that are different for this data set.
    """

    stems: tuple[str, ...]
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


SSFI_SETS = {
    "Basehock": PaperSet(("basehock",), 1993, 4862, 2),
    "Colon": PaperSet(("colon", "colon_alon"), 62, 2000, 2),
    "Leukemia": PaperSet(("leukemia_allaml", "allaml"), 73, 7129, 2),
    "Madelon": PaperSet(("madelon",), 2598, 500, 2),
    "Orlraws": PaperSet(("orlraws10p",), 100, 10304, 10),
    "Ovarian": PaperSet(("ovarian",), 54, 1536, 2),
    "Pcmac": PaperSet(("pcmac",), 1943, 3289, 2),
    "SMKCAN": PaperSet(("smk_can_187", "smk-can-187"), 187, 19993, 2),
    "Toxicology": PaperSet(("tox_171", "tox-171"), 171, 5748, 2),
    "Warpar10P": PaperSet(("warpar10p",), 130, 2400, 10),
}

ENSCLS_SETS = {
    "BaseHock": SSFI_SETS["Basehock"],
    "Leukemia": SSFI_SETS["Leukemia"],
    "Lymphoma": PaperSet(("lymphoma",), 96, 4026, 9),
    "Madelon": SSFI_SETS["Madelon"],
    "PcMac": SSFI_SETS["Pcmac"],
    "PIE10P": PaperSet(("warppie10p",), 210, 2420, 10),
    "PIX10P": PaperSet(("pixraw10p",), 100, 10000, 10),
    "Prostata": PaperSet(("prostata",), 102, 12533, 2),
    "Relathe": PaperSet(("relathe",), 1427, 4322, 2),
}

# Of the sets with thousands of rows the paper tests on 294 only. Its table counts these 400 rows
# for German, Mushroom and Waveform; here stands how many there are.
FW_SEMIFS_SETS = {
    "German": PaperSet(("german",), 1000, 20, 2, {"n_test": 294}),
    "Ionosphere": PaperSet(("ionosphere",), 351, 34, 2),
    "Mushroom": PaperSet(("mushroom", "agaricus-lepiota"), 8124, 22, 2, {"n_test": 294}),
    "Sonar": PaperSet(("sonar",), 208, 60, 2),
    "Waveform": PaperSet(("waveform21", "waveform"), 5000, 21, 3, {"n_test": 294}),
    "wdbc": PaperSet(("wdbc",), 569, 30, 2),
    "ColonTumor": PaperSet(
        ("colon_alon", "colon"), 62, 2000, 2, {"n_unlabelled": 30, "n_test": 26}
    ),
}

REL_RASCO_SETS = {
    "Audio Genre": PaperSet(("audio_genre",), 500, 50, 5, {"labelled_share": 0.2}),
    "OptDigits": PaperSet(("optdigits",), 5620, 64, 10),
    "Classic-3": PaperSet(("classic3_3000x273",), 3000, 273, 3, {"labelled_share": 0.2}),
    "Isolet": PaperSet(("isolet_bc",), 480, 617, 2),
    "MFeat": PaperSet(("mfeat",), 2000, 649, 10),
}
