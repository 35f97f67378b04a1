"""What it is worth to put near-copies last, in the EnsCLS paper's protocol.

Two thirds of each class train, three rows of each class are labelled; a linear support vector
machine on z-scored features learns from all training rows with their true labels, on the top 1 to
20 features; the mean accuracy on the test rows is averaged over ten splits, the same for all
methods.

    SEMISIFT_DATA=... python benchmarks/redundancy.py [--runs 10] [method ...]
"""

import argparse
import time
import warnings

import numpy as np
from protocol import judge_svm, load, split

from semisift import METHODS

FIVE_SETS = ["warppie10p", "lymphoma", "leukemia_allaml", "prostata", "colon"]
THRESHOLD = 0.7
N_TOP = 20


def accuracies(name, params, data, n_runs):
    """Return one accuracy a run, and the seconds of a fit."""
    X, y = data
    values, seconds = [], []
    for run in range(n_runs):
        train, test, given = split(y, run)
        start = time.perf_counter()
        ranker = METHODS[name].cls(n_features_to_select=N_TOP, random_state=run, **params)
        ranker.fit(X[train], given)
        seconds.append(time.perf_counter() - start)
        values.append(judge_svm(ranker.ranking_, X, y, train, test, N_TOP))
    return np.array(values), np.median(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=["bs", "fisher", "mrmr", "variance"])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--sets", default=",".join(FIVE_SETS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = options.sets.split(",")
    print(f"{'method':12}" + "".join(f"{name:>17}" for name in sets) + f"{'mean':>8}  gain (SE)")
    for method in options.methods:
        gains, rows = [], {None: [], THRESHOLD: []}
        for name in sets:
            data = load(name)
            both = [
                accuracies(method, {"redundancy_threshold": t}, data, options.runs)[0] for t in rows
            ]
            for row, values in zip(rows.values(), both, strict=True):
                row.append(values.mean())
            gains.append(both[1] - both[0])
        for threshold, row in rows.items():
            label = method if threshold is None else f"  and {threshold}"
            print(
                f"{label:12}" + "".join(f"{v:17.3f}" for v in row) + f"{np.mean(row):8.3f}", end=""
            )
            if threshold is None:
                print()
        per_run = np.mean(gains, axis=0)
        error = per_run.std(ddof=1) / np.sqrt(len(per_run))
        print(f"  {np.mean(gains):+.3f} ({error:.3f})", flush=True)


if __name__ == "__main__":
    main()
