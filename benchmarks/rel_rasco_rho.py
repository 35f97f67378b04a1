"""The share rho of section 3 of Rel-RASCO: how often relevant subspaces make the better members.

    SEMISIFT_DATA=data python benchmarks/rel_rasco_rho.py

Yaslan and Cataltepe compare subsets of growing size k by the error of a classifier; rho is the
share of the sizes at which the relevant ones have the lower error than random ones. Here the error
is that of single members (3 nearest neighbours) that know the labelled rows alone, as a mean over
ten subspaces of k features and some splits of the protocol.
"""

import argparse
import os
from pathlib import Path

import numpy as np

from semisift.comparison import _run
from semisift.comparison._protocol import PROTOCOLS
from semisift.papers.reproduce import load
from semisift.papers.targets import TARGETS
from semisift.registry import CLASSIFIERS

SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 25)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    folder, protocol = Path(os.environ["SEMISIFT_DATA"]), PROTOCOLS["rel-rasco"]
    for name, kind in TARGETS["rel-rasco-fig1"].sets.items():
        if (path := kind.find(folder)) is None:
            continue
        data, right = load(name, path, kind.overrides), {}
        for run in range(options.runs):
            split = _run.split_of(data, protocol, run)
            y = np.where(split.is_labelled, data.y[split.train], -1)
            for method in ("rasco", "rel-rasco", "prob-mrmr"):
                for size in SIZES:
                    model = CLASSIFIERS[method].cls(
                        n_members=10, max_features=size, max_iter=1, random_state=run
                    )
                    model.fit(data.X[split.train], y)
                    found = model.evaluate_committee(data.X[split.test], data.y[split.test])
                    right.setdefault((method, size), []).append(found.begin.member_accuracy)
        means = {
            method: np.array([np.mean(right[method, size]) for size in SIZES])
            for method in ("rasco", "rel-rasco", "prob-mrmr")
        }
        print(f"{name}: k = {', '.join(map(str, SIZES))}; {options.runs} splits")
        for method, values in means.items():
            rho = "" if method == "rasco" else f"  rho {np.mean(values > means['rasco']):.2f}"
            print(f"  {method:<10} {' '.join(f'{value:.3f}' for value in values)}{rho}", flush=True)


if __name__ == "__main__":
    main()
