"""Rankings of tables with missing values, kept or filled by medians, against those of full tables.

    python benchmarks/gaps.py [--methods fisher,laplacian] [--data wdbc,sonar] [--seeds 5]
                              [--shares 0.05,0.2] [--uneven]

Of each table at most 300 rows and 300 columns are drawn, five rows of each class are labelled, and
values are taken away at random: each with the same probability or, with --uneven, from a third
of the columns alone, three times as often. Measured are Spearman's correlation of the ranking with
that of the full table, and which share of its best 20 columns (10 % if that is less) is among the
best again. Means over the data sets, with the standard error over the seeds of the difference
between both ways. Every method that takes missing values takes part.
"""

import argparse
import inspect
import time
import warnings

import numpy as np
from protocol import load
from scipy.stats import spearmanr
from simulations import simulate
from threadpoolctl import threadpool_limits

from semisift import METHODS

DATA = [
    "wdbc",
    "sonar",
    "ionosphere",
    "colon_alon",
    "khan_srbct",
    "waveform40",
    "isolet_bc",
    "chowdary",
    "simulation",
]
MAX_ROWS = MAX_COLUMNS = 300
LABELS_PER_CLASS = 5


def draw(name, seed):
    """Return some rows and columns of a data set, and the labels given (-1 where none is)."""
    rng = np.random.default_rng([seed, 0x67617073])
    if name == "simulation":
        X, y, _, is_marker = simulate("log", 1, seed)
        others = rng.permutation(np.flatnonzero(~is_marker))
        columns = np.concatenate([np.flatnonzero(is_marker), others])[:MAX_COLUMNS]
    else:
        X, y = load(name)
        columns = rng.permutation(X.shape[1])[:MAX_COLUMNS]
    rows = rng.permutation(len(y))[:MAX_ROWS]
    X, y = np.asarray(X[rows][:, columns], dtype=np.float64), y[rows]
    given = np.full(len(y), -1)
    for code in np.unique(y):
        own = np.flatnonzero(y == code)[:LABELS_PER_CLASS]
        given[own] = code
    return X, given


def take_away(X, share, seed, uneven):
    rng = np.random.default_rng([seed, 0x6E616E])
    chance = np.full(X.shape[1], share)
    if uneven:
        chance = np.where(rng.random(X.shape[1]) < 1 / 3, 3 * share, 0.0)
    return np.where(rng.random(X.shape) < chance, np.nan, X)


def fill(X):
    """Put the median of a column into its missing values."""
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X)


def rank(name, X, y):
    cls = METHODS[name].cls
    known = inspect.signature(cls).parameters
    options = {"feature_scaling": "minmax", "random_state": 0, "n_jobs": 1}
    return cls(**{key: value for key, value in options.items() if key in known}).fit(X, y).ranking_


def agreement(found, full):
    n_best = min(20, max(1, len(full) // 10))
    overlap = np.mean(found[full <= n_best] <= n_best)
    return spearmanr(found, full).statistic, overlap


def measure(name, data, seeds, share, uneven):
    """Return the agreements of shape (n_seeds, n_data, 2 ways, 2 measures)."""
    found = np.empty((len(seeds), len(data), 2, 2))
    for i, seed in enumerate(seeds):
        for j, each in enumerate(data):
            X, y = draw(each, seed)
            gappy = take_away(X, share, seed, uneven)
            full = rank(name, X, y)
            for k, table in enumerate((gappy, fill(gappy))):
                found[i, j, k] = agreement(rank(name, table, y), full)
    return found


def line(name, found):
    means = found.mean(axis=1)  # over the data sets
    cells = [name]
    for measured in range(2):
        kept, filled = means[:, 0, measured], means[:, 1, measured]
        apart = kept - filled
        error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
        cells += [f"{kept.mean():.3f}", f"{filled.mean():.3f}"]
        cells.append(f"{apart.mean():+.3f} ± {error:.3f}")
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    allow_nan = [name for name, method in METHODS.items() if method.cls.allow_nan]
    parser.add_argument("--methods", default=",".join(allow_nan))
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--shares", default="0.05,0.2")
    parser.add_argument("--uneven", action="store_true")
    options = parser.parse_args()
    data = options.data.split(",")
    print(f"{len(data)} data sets ({', '.join(data)}), {options.seeds} seeds.")
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for share in map(float, options.shares.split(",")):
            print(f"\n{share:.0%} of the values gone\n")
            print("| method | Spearman, kept | filled | difference | best, kept | filled | d. |")
            print("| --- | --- | --- | --- | --- | --- | --- |")
            for name in options.methods.split(","):
                found = measure(name, data, range(options.seeds), share, options.uneven)
                print(line(name, found), flush=True)
    print(f"\n{time.process_time() - start:.0f} s of CPU time.")


if __name__ == "__main__":
    main()
