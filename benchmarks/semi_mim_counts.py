"""Why Semi-MIM misses markers of counts: bins of equal width, and a mean of ranks over classes.

    python benchmarks/semi_mim_counts.py
    python benchmarks/semi_mim_counts.py --rows 50000 --columns 20000 --markers 200 --density 0.03

Tables are those of benchmarks/million.py, 20 labels a class. For raw counts and for log(1 + count)
it prints the share of the markers among as many of the best genes: of Semi-MIM as it is; of the
best rank over the classes in place of the mean; and of the F-score and SSFI. Then the share of the
rows that are outside the largest of the five bins of a marker.
"""

import argparse

import million
import numpy as np
from scipy.sparse import vstack
from scipy.stats import rankdata

from semisift import SSFI, FisherScore, SemiMIM
from semisift.filters._pseudo_class_ranker import surrogates
from semisift.utils._information import bin_columns, mutual_information


def make_table(options, n_classes, seed):
    """Return counts by columns, labels, and which genes are markers."""
    shape = options.rows, options.columns
    cells = million.Cells(*shape, options.density, n_classes, options.markers, 20.0, seed)
    n_chunks = -(-options.rows // million.CHUNK_ROWS)
    parts, classes = zip(*(cells.chunk(number) for number in range(n_chunks)), strict=True)
    truth, y = np.concatenate(classes), np.full(options.rows, -1)
    rng = np.random.default_rng([seed, 2])
    for code in range(n_classes):
        y[rng.permutation(np.flatnonzero(truth == code))[: million.LABELS_PER_CLASS]] = code
    return vstack(parts).tocsc(), y, np.isin(np.arange(options.columns), cells.markers)


def best_rank(X, y, n_classes):
    """Return the best rank of each column over the classes, each against the rest."""
    binned, ranks = bin_columns(X), []
    for code in range(1 if n_classes == 2 else 0, n_classes):
        targets = surrogates(y, code, None, both_on_threshold=True)
        information = np.mean([mutual_information(binned, target) for target in targets], axis=0)
        ranks.append(rankdata(information))
    return np.max(ranks, axis=0)


def share_found(scores, is_marker):
    """Return the share of the markers among as many of the best columns."""
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    return is_marker[order[: is_marker.sum()]].mean()


def measure(options, n_classes, seed):
    """Return the shares found: form of the values -> method -> share."""
    X, y, is_marker = make_table(options, n_classes, seed)
    found = {}
    for form, values in (("counts", X), ("log(1 + count)", X.log1p())):
        rankers = {"semi-mim": SemiMIM(), "fisher": FisherScore(), "ssfi": SSFI(random_state=seed)}
        scores = {name: ranker.fit(values, y).scores_ for name, ranker in rankers.items()}
        scores["semi-mim, best rank"] = best_rank(values, y, n_classes)
        found[form] = {name: share_found(each, is_marker) for name, each in scores.items()}
        binned = bin_columns(values)
        sizes = [np.bincount(binned.column(j)).max() for j in np.flatnonzero(is_marker)]
        found[form]["rows of a marker outside its largest bin"] = 1 - np.mean(sizes) / len(y)
    return found


def main():
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=4_000)
    parser.add_argument("--markers", type=int, default=40)
    parser.add_argument("--density", type=float, default=0.1)
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 10])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for n_classes in options.classes:
        runs = [measure(options, n_classes, seed) for seed in range(options.seeds)]
        print(f"{options.rows:,} x {options.columns:,}, {n_classes} classes, {len(runs)} tables")
        for form in runs[0]:
            parts = [
                f"{name} {np.mean([run[form][name] for run in runs]):.2f}" for name in runs[0][form]
            ]
            print(f"  {form}: {', '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
