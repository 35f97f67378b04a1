"""Tables with known truth: which columns tell the classes apart, and what else is in the table.

Counts of 1,000 cells by 2,000 genes, of which 20 are markers (three times 7 where there are three
classes), with means 1 and 3 in the two groups; what is named besides changes one thing:

- log: log(1 + count). counts: as they are.
- nuisance: log counts, and three factors common to all genes, as of the cell cycle.
- batch: two batches that have nothing to do with the class shift 600 further genes.
- weak: means 1 and 2.
- imbalance: a tenth of the rows is of the second class.
- three: three classes with 7 markers each.
- normal: no counts, but 20 normal columns whose means differ by .8 standard deviations.
- depth: cells differ in their number of molecules, and genes in their mean, by a factor of 4 or so.
"""

import numpy as np

N_ROWS, N_COLUMNS, N_MARKERS = 1000, 2000, 20

# Used for the choice of the consensus, and for showing it.
CHOICE = ["log", "nuisance", "batch", "weak", "imbalance", "three", "normal"]
SHOWN = [
    "counts",
    "nuisance-weak",
    "batch-imbalance",
    "three-nuisance",
    "depth",
    "normal-imbalance",
]


def simulate(kind, labels_per_class, seed):
    """Return X, y, the labels given (-1 where none is) and which columns are markers."""
    rng = np.random.default_rng([seed, 0x73696D])
    has = set(kind.split("-"))
    n_classes = 3 if "three" in has else 2
    y = np.arange(N_ROWS) % n_classes
    if "imbalance" in has:
        y = (np.arange(N_ROWS) % 10 == 0).astype(int)
    marks = np.full(N_COLUMNS, -1)
    n_each = 7 if n_classes == 3 else N_MARKERS
    for code in range(n_classes if n_classes == 3 else 1):
        marks[code * n_each : (code + 1) * n_each] = code
    is_high = y[:, None] == marks
    if "normal" in has:
        X = rng.normal(size=(N_ROWS, N_COLUMNS)) + 0.8 * is_high
    else:
        mean = np.where(is_high, 2.0 if "weak" in has else 3.0, 1.0)
        if "batch" in has:
            mean[:, 100:700] += 2.0 * rng.integers(0, 2, N_ROWS)[:, None]
        if "depth" in has:
            mean *= np.exp(rng.normal(scale=0.5, size=(N_ROWS, 1)))
            mean *= np.exp(rng.normal(scale=0.7, size=N_COLUMNS)) * 0.5
        X = rng.poisson(mean).astype(float)
        if has & {"log", "nuisance"}:
            X = np.log1p(X)
        if "nuisance" in has:
            X = X + 0.3 * rng.normal(size=(N_ROWS, 3)) @ rng.normal(size=(3, N_COLUMNS))
    given = np.full(N_ROWS, -1)
    for code in range(n_classes):
        given[rng.permutation(np.flatnonzero(y == code))[:labels_per_class]] = code
    return X, y, given, marks >= 0
