"""What the printed CLS and EnsCLS weigh: how many scores differ, and what the file's order gives.

    SEMISIFT_DATA=data python benchmarks/printed_cls.py

On the splits of the EnsCLS protocol: the mean accuracy over the first 1 to 20 columns of the file,
which is what a stable sort of scores that are all equal or missing keeps, and over a random order;
and for the first split the number of different scores of CLS and EnsCLS (some members) as printed,
of those that are missing, and of edges that weigh as unevenly as the graph of EnsCLS.
"""

import argparse
import os
import re
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from semisift import CLS, EnsCLS
from semisift.comparison import _run
from semisift.comparison._evaluators import EVALUATORS
from semisift.comparison._protocol import PROTOCOLS
from semisift.comparison._specs import make
from semisift.papers.reproduce import load
from semisift.papers.targets import TARGETS

NAMES = ("Lymphoma", "PIE10P", "Leukemia", "Prostata")


def accuracy(data, split, order, sizes, evaluator):
    """Return the mean accuracy of a judge over the first columns of an order."""
    found = []
    for size in sizes:
        X = data.X[:, order[:size]]
        X = StandardScaler().fit(X[split.train]).transform(X)
        fitted = clone(evaluator).fit(X[split.train], data.y[split.train])
        found.append(fitted.score(X[split.test], data.y[split.test]))
    return np.mean(found)


def describe(ranker, X, y):
    """Say how many different scores there are, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = ranker.fit(X, y).scores_
    known = scores[np.isfinite(scores)]
    text = f"{len(np.unique(known))} different of {len(scores)}, {np.isnan(scores).sum()} missing"
    edges = re.search(r"as if there were (\S+) edges", " ".join(str(w.message) for w in caught))
    return f"{text}{f', as uneven as {edges[1]} edges' if edges else ''}"


def main():
    """Measure each set and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    protocol, folder = PROTOCOLS["enscls"], Path(os.environ["SEMISIFT_DATA"])
    evaluator, sets = make(protocol.judges[0], EVALUATORS, "judge"), TARGETS["enscls-table2"].sets
    for name in NAMES:
        data = load(name, sets[name].find(folder), sets[name].overrides)
        p, rng = data.X.shape[1], np.random.default_rng(0)
        kept, drawn = [], []
        for run in range(options.runs):
            split = _run.split_of(data, protocol, run)
            kept.append(accuracy(data, split, np.arange(p), protocol.sizes, evaluator))
            drawn.append(accuracy(data, split, rng.permutation(p), protocol.sizes, evaluator))
        split = _run.split_of(data, protocol, 0)
        X, y = data.X[split.train], np.where(split.is_labelled, data.y[split.train], -1)
        print(f"{name}: file order {np.mean(kept):.3f}, random {np.mean(drawn):.3f}")
        print(f"  CLS: {describe(CLS(variant='paper'), X, y)}")
        ranker = EnsCLS(variant="paper", n_members=options.members, random_state=0)
        print(f"  EnsCLS: {describe(ranker, X, y)}", flush=True)


if __name__ == "__main__":
    main()
