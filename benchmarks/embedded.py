"""How fast the embedded methods are, and how exact: one thread, CPU seconds.

    python benchmarks/embedded.py [--part rfe] [--part refit] [--part manifold] [--part solver]

Parts, all by default:
  rfe       S3VM-RFE over all columns of several sets, one by one, three labels a class
  refit     S3VM-RFE against scikit-learn's machines trained from scratch at each step
            (tests/reference/embedded.py), on columns of colon_alon: seconds, ratio, and whether the
            order is the same
  manifold  FS-Manifold on several sets: seconds, steps, and how far its objective may be from the
            lowest one
  solver    FS-Manifold against a general solver (sequential quadratic programming of scipy) on
            small problems: the largest relative difference of the objective, seconds, ratio
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from protocol import load
from threadpoolctl import threadpool_limits

from semisift import S3VMRFE, FSManifold

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.reference import embedded as reference
from tests.reference.graph_filters import graph

RFE_SETS = ["chowdary", "prostata", "lymphoma", "madelon", "basehock"]
MANIFOLD_RUNS = [
    ("prostata", 100),
    ("prostata", 10),
    ("prostata", 1),
    ("chowdary", 100),
    ("lymphoma", 20),
    ("warppie10p", 20),
    ("basehock", 50),
    ("optdigits", 10),
]


def labelled(name, per_class=3):
    X, y = load(name)
    rng = np.random.default_rng(0)
    given = np.full(len(y), -1)
    for label in np.unique(y):
        given[rng.permutation(np.flatnonzero(y == label))[:per_class]] = label
    return X, given


def timed(function):
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def rfe():
    print(f"\n{'S3VM-RFE, one by one':22}{'rows':>6}{'columns':>9}{'seconds':>9}")
    for name in RFE_SETS:
        X, given = labelled(name)
        _, taken = timed(lambda X=X, given=given: S3VMRFE(step=1).fit(X, given))
        print(f"{name:22}{X.shape[0]:6}{X.shape[1]:9}{taken:9.2f}", flush=True)


def refit():
    print("\nS3VM-RFE on the first columns of colon_alon, six labels a class")
    print(f"{'columns':>7}{'from scratch':>14}{'S3VMRFE':>9}{'ratio':>7}  same order")
    X, given = labelled("colon_alon", per_class=6)
    X = X[:, np.sort(np.unique(X, axis=1, return_index=True)[1])]  # copies leave in a random order
    for p in (200, 1000, X.shape[1]):
        order, slow = timed(lambda p=p: reference.s3vm_rfe(X[:, :p], given))
        ranker, fast = timed(lambda p=p: S3VMRFE().fit(X[:, :p], given))
        same = np.array_equal(np.argsort(ranker.scores_), order)
        print(f"{p:7}{slow:14.2f}{fast:9.3f}{slow / fast:7.0f}  {same}", flush=True)


def manifold():
    print(
        f"\n{'FS-Manifold':14}{'rows':>6}{'columns':>9}{'m':>5}{'seconds':>9}{'steps':>7}{'gap':>10}"
    )
    for name, m in MANIFOLD_RUNS:
        X, given = labelled(name)
        ranker = FSManifold(n_features_to_select=m)
        _, taken = timed(lambda ranker=ranker, X=X, given=given: ranker.fit(X, given))
        gap = ranker.dual_gap_ / ranker.objective_path_[-1]
        row = f"{name:14}{X.shape[0]:6}{X.shape[1]:9}{m:5}{taken:9.2f}{ranker.n_iter_:7}{gap:10.1e}"
        print(row, flush=True)


def solver():
    worst, ours, theirs = 0.0, 0.0, 0.0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n_classes, m = 2 + seed % 2, 1 + seed % 4
        truth = np.arange(40) % n_classes
        X = rng.normal(size=(40, 8)) + truth[:, None] * (np.arange(8) < 2)
        y = np.where(np.arange(40) < 8 * n_classes, truth, -1)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        S = graph(Z)
        (expected, _), slow = timed(lambda Z=Z, y=y, S=S, m=m: reference.fs_manifold(Z, y, S, m))
        ranker = FSManifold(n_features_to_select=m)
        _, fast = timed(lambda ranker=ranker, X=X, y=y: ranker.fit(X, y))
        worst = max(worst, abs(ranker.objective_path_[-1] / expected - 1))
        ours, theirs = ours + fast, theirs + slow
    print(f"\nFS-Manifold on 20 problems of 40 rows and 8 columns: objective within {worst:.1e} of "
          f"SLSQP, {ours:.2f} s against {theirs:.2f} s, ratio {theirs / ours:.0f}")  # fmt: skip


PARTS = {"rfe": rfe, "refit": refit, "manifold": manifold, "solver": solver}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=PARTS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for part in arguments.part or PARTS:
            PARTS[part]()


if __name__ == "__main__":
    main()
