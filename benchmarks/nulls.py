"""Tables in which nothing has to do with the labels, whatever else is in them.

200 rows and 300 normal columns; what is named changes one thing:

- clusters: two groups of rows that differ by 2 standard deviations in 100 columns. three: three
  groups, with 20 columns each in which one differs from the others.
- nuisance: three factors common to all columns.
- one batch: two batches that differ as clusters do, and labels in one of them only.
- imbalance: clusters, and three times as many labels of the second class.
- counts: Poisson counts of mean .5, in 100 columns 2 in one of two groups.

Two more have fewer rows: 60 x 200 normal, and 300 columns of colon with labels on random rows.
"""

import numpy as np
from protocol import load

N_ROWS, N_COLUMNS, N_SHIFTED = 200, 300, 100
SHIFT = 2.0


def label_rows(rows, sizes, n_rows):
    """Return the labels 0, 1, ... of the first rows, so many of each; -1 elsewhere."""
    given = np.full(n_rows, -1)
    given[rows[: sum(sizes)]] = np.repeat(np.arange(len(sizes)), sizes)
    return given


def few_normal(per_class, seed):
    rng = np.random.default_rng([seed, 1])
    X, y = rng.normal(size=(60, 200)), rng.permutation(np.arange(60) % 2)
    return X, label_some(y, per_class, np.random.default_rng([seed, 3]))


def colon(per_class, seed):
    rng = np.random.default_rng([seed, 2])
    X, y = load("colon")
    X, y = X[:, rng.permutation(X.shape[1])[:N_COLUMNS]], rng.permutation(y)
    return X, label_some(y, per_class, np.random.default_rng([seed, 3]))


def label_some(y, per_class, rng):
    """Return labels of so many rows of each class, drawn at random; -1 elsewhere."""
    given = np.full(len(y), -1)
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))[:per_class]
        given[rows] = label
    return given


def structured(kind):
    """Return a function that makes tables of a kind."""

    def make(per_class, seed):
        rng = np.random.default_rng([seed, 9])
        X = rng.normal(size=(N_ROWS, N_COLUMNS))
        group = rng.integers(0, 2, N_ROWS)
        if kind in ("clusters", "one batch", "imbalance"):
            X[:, :N_SHIFTED] += SHIFT * group[:, None]
        elif kind == "three":
            own = np.arange(60) % 3
            X[:, :60] += SHIFT * (rng.integers(0, 3, N_ROWS)[:, None] == own)
        elif kind == "nuisance":
            X += 0.7 * rng.normal(size=(N_ROWS, 3)) @ rng.normal(size=(3, N_COLUMNS))
        elif kind == "counts":
            is_high = group[:, None] * (np.arange(N_COLUMNS) < N_SHIFTED)
            X = rng.poisson(0.5 + 1.5 * is_high).astype(float)
        rows = np.flatnonzero(group == 1) if kind == "one batch" else np.arange(N_ROWS)
        sizes = (per_class, 3 * per_class) if kind == "imbalance" else (per_class, per_class)
        return X, label_rows(rng.permutation(rows), sizes, N_ROWS)

    return make


NULLS = {
    "normal 60 x 200": few_normal,
    "colon 62 x 300": colon,
    **{
        kind: structured(kind)
        for kind in ("normal", "clusters", "three", "nuisance", "one batch", "imbalance", "counts")
    },
}
