"""Published results: the numbers of the papers' tables, as they are printed there.

Accuracies are shares of 1; the paper of FW-SemiFS prints per cent. Learners have the names of our
judges: "tree", "svm", "nb" (naive Bayes), "nnge", "knn".
"""

from dataclasses import dataclass, field

SSFI_PAPER = (
    "Barkia, Elghazel, Aussem (2011). Semi-supervised feature importance evaluation with ensemble "
    "learning. ICDM."
)
ENSCLS_PAPER = (
    "Hindawi, Elghazel, Benabdeslem (2013). Efficient semi-supervised feature selection by an "
    "ensemble approach. COPEM workshop at ECML-PKDD."
)
FW_SEMIFS_PAPER = (
    "Ren, Qiu, Fan, Cheng, Yu (2008). Forward semi-supervised feature selection. PAKDD."
)
REL_RASCO_PAPER = (
    "Yaslan, Cataltepe (2009). Random relevant and non-redundant feature subspaces for "
    "co-training. IDEAL; in the version called Selection of relevant and non-redundant feature "
    "subspaces for co-training."
)

# data set -> one figure for each method, None where none is printed
Rows = dict[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class Published:
    """What a paper prints in one place.

    Attributes
    ----------
    source : str
        The paper.
    place : str
        Table or figure.
    what : str
        What is measured.
    methods : tuple of str
        By their names in the paper.
    values : dict of str to dict
        learner -> data set -> accuracy of each method; empty for a figure without numbers.
    deviations : dict of str to dict
        The same for what is printed as standard deviation.
    sentences : tuple of str
        What the paper concludes, in our words.
    """

    source: str
    place: str
    what: str
    methods: tuple[str, ...]
    values: dict[str, Rows] = field(default_factory=dict)
    deviations: dict[str, Rows] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()

    def value(self, learner: str, dataset: str, method: str) -> float | None:
        """Return one accuracy, or None where the paper prints none."""
        return self._entry(self.values, learner, dataset, method)

    def deviation(self, learner: str, dataset: str, method: str) -> float | None:
        """Return one standard deviation, or None where the paper prints none."""
        return self._entry(self.deviations, learner, dataset, method)

    def _entry(
        self, table: dict[str, Rows], learner: str, dataset: str, method: str
    ) -> float | None:
        row = table.get(learner, {}).get(dataset)
        if row is None or method not in self.methods:
            return None
        return row[self.methods.index(method)]


def _share(per_cent: float) -> float:
    return round(per_cent / 100, 6)


# --- SSFI -----------------------------------------------------------------------------------------

SSFI_METHODS = ("SSFI", "FwFS", "RF", "sSelect")

SSFI_TABLE_2 = Published(
    SSFI_PAPER,
    "Table II",
    "accuracy of a decision tree, averaged over the 10 most important features",
    SSFI_METHODS,
    {
        "tree": {
            "Basehock": (0.6080, 0.5193, 0.5445, 0.5064),
            "Colon": (0.5645, 0.5404, 0.5327, 0.5431),
            "Leukemia": (0.7707, 0.6396, 0.6950, 0.6246),
            "Madelon": (0.5580, 0.5024, 0.5076, 0.5008),
            "Orlraws": (0.6952, 0.6200, 0.6563, 0.6145),
            "Ovarian": (0.8372, 0.7444, 0.7583, 0.6327),
            "Pcmac": (0.5953, 0.5312, 0.5120, 0.5123),
            "SMKCAN": (0.5671, 0.5339, 0.5408, 0.5275),
            "Toxicology": (0.4777, 0.3656, 0.4008, 0.3435),
            "Warpar10P": (0.4432, 0.3952, 0.4876, 0.2966),
        }
    },
    sentences=(
        "SSFI is the best on all data sets but Warpar10P, where RF is.",
        "SSFI is significantly better than each of the three others (p < 0.02, Wilcoxon "
        "signed-rank test).",
    ),
)

SSFI_FIGURE_1 = Published(
    SSFI_PAPER,
    "Figure 1",
    "accuracy of a decision tree against the number of the most important features",
    SSFI_METHODS,
    sentences=(
        "SSFI is better than the three others by a noticeable margin, above all on Basehock, "
        "Leukemia, Madelon, Pcmac and Toxicology.",
        "sSelect is the worst.",
        "The accuracy of SSFI rises fast with the first features and slowly later.",
        "The accuracy of FwFS often falls as features are added.",
    ),
)

# --- EnsCLS ---------------------------------------------------------------------------------------

ENSCLS_METHODS = ("EnsCLS", "CLS", "CSFS", "BS", "SSFI")

ENSCLS_TABLE_2 = Published(
    ENSCLS_PAPER,
    "Table 2",
    "accuracy of a support vector machine, averaged over the 20 most important features",
    ENSCLS_METHODS,
    {
        "svm": {
            "BaseHock": (0.695, 0.507, 0.513, 0.600, 0.675),
            "Leukemia": (0.781, 0.740, 0.751, 0.618, 0.760),
            "Lymphoma": (0.702, 0.480, 0.490, 0.647, 0.680),
            "Madelon": (0.594, 0.542, 0.549, 0.499, 0.548),
            "PcMac": (0.703, 0.515, 0.517, 0.543, 0.638),
            "PIE10P": (0.734, 0.535, 0.535, 0.696, 0.701),
            "PIX10P": (0.907, 0.837, 0.837, 0.882, 0.902),
            "Prostata": (0.749, 0.507, 0.511, 0.538, 0.735),
            "Relathe": (0.660, 0.550, 0.560, 0.562, 0.553),
        }
    },
    {
        "svm": {
            "BaseHock": (0.01, 0.00, 0.01, 0.05, 0.03),
            "Leukemia": (0.06, 0.10, 0.11, 0.04, 0.08),
            "Lymphoma": (0.03, 0.03, 0.03, 0.04, 0.06),
            "Madelon": (0.01, 0.04, 0.03, 0.01, 0.04),
            "PcMac": (0.01, 0.01, 0.01, 0.03, 0.02),
            "PIE10P": (0.07, 0.04, 0.04, 0.11, 0.07),
            "PIX10P": (0.03, 0.05, 0.05, 0.03, 0.03),
            "Prostata": (0.04, 0.02, 0.02, 0.08, 0.10),
            "Relathe": (0.01, 0.00, 0.00, 0.02, 0.00),
        }
    },
    (
        "EnsCLS is the best on all data sets.",
        "The five methods differ (Friedman test, p < 0.05).",
    ),
)

# The bottom row of Table 2, in the order of `ENSCLS_METHODS`.
ENSCLS_MEAN_RANKS = (1.0, 4.6667, 3.6667, 3.3333, 2.3333)

# Of Figure 2, at the level 0.1. The exact quantile gives 1.8332, a rounded one the printed number.
ENSCLS_CRITICAL_DIFFERENCE = 1.8336
ENSCLS_ALPHA = 0.1

ENSCLS_FIGURE_1 = Published(
    ENSCLS_PAPER,
    "Figure 1",
    "accuracy of a support vector machine against the number of the most important features",
    ENSCLS_METHODS,
    sentences=(
        "EnsCLS is better than the four others by a noticeable margin.",
        "The accuracy of EnsCLS rises fast with the first features: the best 5 are often enough, "
        "where other methods need more.",
    ),
)

ENSCLS_FIGURE_2 = Published(
    ENSCLS_PAPER,
    "Figure 2",
    "mean ranks with the critical difference of the Nemenyi test",
    ENSCLS_METHODS,
    ENSCLS_TABLE_2.values,
    ENSCLS_TABLE_2.deviations,
    (
        "EnsCLS is the best, and not different from SSFI.",
        "Ensembles (EnsCLS, SSFI, BS) do better than single scores (CLS, CSFS) almost always.",
    ),
)

# Table 3: wins, ties and losses of the method of the row against that of the column.
ENSCLS_COUNTS: dict[str, dict[str, tuple[int, int, int]]] = {
    "EnsCLS": {"CLS": (8, 1, 0), "CSFS": (8, 1, 0), "BS": (8, 1, 0), "SSFI": (5, 4, 0)},
    "CLS": {"EnsCLS": (0, 1, 8), "CSFS": (2, 3, 4), "BS": (2, 2, 5), "SSFI": (0, 3, 6)},
    "CSFS": {"EnsCLS": (0, 1, 8), "CLS": (4, 3, 2), "BS": (2, 2, 5), "SSFI": (1, 2, 6)},
    "BS": {"EnsCLS": (0, 1, 8), "CLS": (5, 2, 2), "CSFS": (5, 2, 2), "SSFI": (0, 2, 7)},
    "SSFI": {"EnsCLS": (0, 4, 5), "CLS": (6, 3, 0), "CSFS": (6, 2, 1), "BS": (7, 2, 0)},
}

ENSCLS_TABLE_3 = Published(
    ENSCLS_PAPER,
    "Table 3",
    "data sets won, tied and lost by a paired t-test at 0.1; bold by a sign test at 0.1",
    ENSCLS_METHODS,
    ENSCLS_TABLE_2.values,
    ENSCLS_TABLE_2.deviations,
    ("EnsCLS is significantly better than each of the others, SSFI among them.",),
)

# --- FW-SemiFS ------------------------------------------------------------------------------------

FW_SEMIFS_LEARNERS = ("nb", "nnge", "knn")


def _by_learner(text: str) -> dict[str, Rows]:
    """Read a line for each data set: its name and per cents, a part for each learner."""
    tables: dict[str, Rows] = {learner: {} for learner in FW_SEMIFS_LEARNERS}
    for line in text.strip().splitlines():
        name, parts = line.split(maxsplit=1)
        for learner, part in zip(FW_SEMIFS_LEARNERS, parts.split("|"), strict=True):
            tables[learner][name] = tuple(_share(float(number)) for number in part.split())
    return tables


# Full, SFFS, SLS and SemiFS with each of the learners. How many splits these are means of is not
# said; all are whole thirds of a test row, as the means of three are.
FW_SEMIFS_TABLE_2 = Published(
    FW_SEMIFS_PAPER,
    "Table 2",
    "accuracy with 10 features, learned from the labelled rows",
    ("Full", "SFFS", "SLS", "SemiFS"),
    _by_learner("""
    German     52.72 54.08 51.59 55.44 | 67.01 65.65 58.84 70.41 | 64.63 63.61 60.20 67.01
    Ionosphere 73.47 73.47 67.76 75.51 | 71.84 71.43 65.04 74.15 | 72.38 70.61 52.93 73.61
    Mushroom   89.80 86.73 91.50 85.71 | 86.28 83.45 82.54 84.35 | 65.31 63.95 62.24 69.05
    Sonar      52.94 52.61 48.37 59.15 | 68.63 70.59 70.59 70.59 | 56.86 61.76 59.80 63.73
    Waveform   38.44 46.94 39.80 40.48 | 61.90 69.39 58.84 69.39 | 42.52 51.70 51.36 52.72
    wdbc       82.72 77.97 87.90 82.51 | 90.28 92.87 91.79 91.58 | 92.22 89.85 85.31 87.04
    ColonTumor 39.74 76.92 53.85 84.62 | 37.18 47.44 55.13 35.90 | 53.85 35.90 58.98 41.03
"""),
    sentences=(
        "FW-SemiFS is better than SFFS and SLS in 13 of 21 cases (by the printed numbers in 12, "
        "and as good as the better one in 2 more).",
    ),
)

# Mean and standard deviation over 16 sizes, for SFFS, SLS and SemiFS with each of the learners.
FW_SEMIFS_TABLE_3 = Published(
    FW_SEMIFS_PAPER,
    "Table 3",
    "accuracy averaged over 5, ..., 20 features, learned from the labelled rows",
    ("SFFS", "SLS", "SemiFS"),
    _by_learner("""
    German     54.49 52.99 55.93 | 66.14 63.14 69.26 | 62.35 62.86 63.82
    Ionosphere 72.32 68.98 74.64 | 72.50 65.17 74.46 | 71.51 60.50 73.92
    Mushroom   88.65 88.80 87.33 | 84.76 82.41 85.06 | 61.31 63.39 61.78
    Sonar      53.29 50.51 58.58 | 71.57 68.20 70.10 | 56.25 58.09 61.21
    Waveform   43.47 40.18 41.71 | 62.48 60.89 63.58 | 50.30 51.79 52.42
    wdbc       79.70 85.81 82.82 | 91.28 91.20 91.62 | 85.12 86.00 87.39
    ColonTumor 52.31 43.42 54.02 | 44.27 57.78 40.00 | 39.06 61.45 53.85
"""),
    _by_learner("""
    German     2.16 0.89 2.22 | 1.43 5.35 2.77 | 4.98 2.45 3.92
    Ionosphere 1.48 2.78 0.99 | 1.08 3.17 1.00 | 1.07 6.28 0.53
    Mushroom   3.17 2.44 3.28 | 0.84 3.78 0.54 | 4.68 5.53 4.68
    Sonar      2.41 2.27 0.98 | 1.13 2.91 0.72 | 4.85 3.07 4.64
    Waveform   3.21 1.22 3.17 | 3.53 3.65 3.13 | 6.74 3.84 6.06
    wdbc       3.24 3.34 1.11 | 0.90 0.60 0.66 | 5.50 0.73 1.04
    ColonTumor 4.34 3.14 1.99 | 2.51 3.00 1.95 | 1.80 2.89 5.24
"""),
    (
        "The mean of FW-SemiFS is the highest most of the time, and for all three learners on "
        "German and Ionosphere.",
    ),
)

# --- Rel-RASCO and Prob-MRMR ----------------------------------------------------------------------

# The figure prints no numbers; those of co-training, at its beginning (B) and end (E), are in the
# text.
REL_RASCO_FIGURE_1 = Published(
    REL_RASCO_PAPER,
    "Figure 1",
    "accuracy of committees of classifiers by three nearest neighbours, each on 25 features",
    ("CoTrain-B", "CoTrain-E", "RASCO", "Rel-RASCO", "Prob-MRMR"),
    {
        "knn:n_neighbors=3": {
            name: (_share(before), _share(after), None, None, None)
            for name, before, after in [
                ("Audio Genre", 75.28, 69.52),
                ("OptDigits", 81.59, 75.64),
                ("Classic-3", 62.51, 58.21),
                ("Isolet", 89.69, 88.75),
                ("MFeat", 86.64, 92.74),
            ]
        }
    },
    sentences=(
        "Rel-RASCO and Prob-MRMR are better than RASCO and co-training, above all with many "
        "features, and about as good as each other.",
        "More than 10 classifiers add little.",
        "Co-training does not gain from unlabelled rows, except on MFeat.",
    ),
)
