"""How fast Semi-MIM, Semi-JMI, RLSR and forests of clustering trees are: one thread, CPU seconds.

    python benchmarks/modern.py [--part seconds] [--part no-kernels]

Parts, all by default:
  seconds     one fit of each method on several sets, three labels a class
  no-kernels  how many times slower trees, S3VM-RFE and NNge are where numpy serves

How good the rankings are is told by
    semisift compare FILES --methods semi-mim,semi-jmi,rlsr,pct-forest,fisher,random --protocol ssfi
"""

import argparse
import warnings

import numpy as np
from embedded import labelled, timed
from threadpoolctl import threadpool_limits

from semisift import RLSR, S3VMRFE, NNge, PCTForestImportance, SemiJMI, SemiMIM, _kernels

SETS = ["colon", "khan_srbct", "chowdary", "basehock"]
METHODS = {
    "semi-mim": SemiMIM(),
    "semi-jmi, 20": SemiJMI(n_features_to_select=20),
    "rlsr": RLSR(),
    "pct-forest": PCTForestImportance(),
    "pct-forest, 30": PCTForestImportance(n_members=30),
    "pct, 30, w = .5": PCTForestImportance(n_members=30, label_weight=0.5, variant="paper"),
}


def seconds():
    print(f"\n{'seconds':18}" + "".join(f"{name:>12}" for name in SETS))
    data = [labelled(name) for name in SETS]
    for name, ranker in METHODS.items():
        taken = [timed(lambda X=X, y=y, ranker=ranker: ranker.fit(X, y))[1] for X, y in data]
        print(f"{name:18}" + "".join(f"{value:12.2f}" for value in taken), flush=True)


def no_kernels():
    print(f"\n{'20 trees':18}{'kernels':>12}{'numpy':>12}{'ratio':>8}")
    for name in SETS:
        race(name, PCTForestImportance(n_members=20), *labelled(name))
    print()
    race("S3VM-RFE, colon", S3VMRFE(), *labelled("colon"))
    rng = np.random.default_rng(0)
    for n_rows in (60, 300):
        race(f"NNge, {n_rows} x 10", NNge(), rng.normal(size=(n_rows, 10)), np.arange(n_rows) % 2)


def race(name, estimator, X, y):
    fast = min(timed(lambda: estimator.fit(X, y))[1] for _ in range(3))
    with _kernels.numpy_only():
        _, slow = timed(lambda: estimator.fit(X, y))
    print(f"{name:18}{fast:12.4f}{slow:12.3f}{slow / fast:8.0f}", flush=True)


PARTS = {"seconds": seconds, "no-kernels": no_kernels}


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
