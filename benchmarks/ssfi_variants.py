"""Which variant of SSFI ranks best: paired runs of algorithm 5 over many data sets.

    python benchmarks/ssfi_variants.py [--runs 12] [--sets colon,madelon] [--readings "paper;..."]

Every variant sees the same splits. Prints the mean accuracy of each variant on each set, and its
paired difference to the printed method: the mean over the sets with its standard error. The default
of `SSFI(variant=...)` was chosen by this script. With --reference, the scikit-learn version of the
printed method (full committees: an hour) is judged as well.
"""

import argparse
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from protocol import EIGHT_SETS, ELEVEN_OTHERS, evaluate, load, split
from sklearn.feature_selection import f_classif

from semisift import SEFR, ForestImportance
from semisift.ensemble import ssfi
from semisift.parallel import committee_size
from semisift.utils._redundancy import rank

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.reference.sklearn_ssfi import sklearn_ssfi

PAPER = ssfi.VARIANTS["paper"]
DEFAULT = ssfi.VARIANTS["default"]

READINGS = {
    "paper": PAPER,
    "paper, 3 rounds": replace(PAPER, n_rounds=3),
    "paper, per draw": replace(PAPER, per_draw=True),
    "paper, stratified": replace(PAPER, stratified=True),
    "paper, probability": replace(PAPER, probability=True),
    "paper, gap": replace(PAPER, widest_gap=True),
    "paper, net": replace(PAPER, net=True),
    "default": DEFAULT,
    "default, 0 rounds": replace(DEFAULT, n_rounds=0),
    "default, 1 round": replace(DEFAULT, n_rounds=1),
    "default, 5 rounds": replace(DEFAULT, n_rounds=5),
    "default, 10 rounds": replace(DEFAULT, n_rounds=10),
    "default, stratified": replace(DEFAULT, stratified=True),
    "default, stratified, 5": replace(DEFAULT, stratified=True, n_rounds=5),
    "default, hard votes": replace(DEFAULT, probability=False),
    "default, first tie": replace(DEFAULT, widest_gap=False),
    "default, not net": replace(DEFAULT, net=False),
    "default, per member": replace(DEFAULT, per_draw=False),
    "default, no class mass": replace(DEFAULT, mends_collapse=False),
}


def f_scores(X, given):
    labelled = given >= 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # constant columns: not a number, ranked last
        return f_classif(X[labelled], given[labelled])[0]


def run(name, seed, readings, with_reference):
    """Accuracies of each variant and of the baselines in one run."""
    X, y = load(name)
    train, test, given = split(y, seed)
    X_train = X[train]
    rankings = {}
    for label in readings:
        ssfi.VARIANTS["default"] = READINGS[label]
        rankings[label] = ssfi.SSFI(random_state=seed).fit(X_train, given).ranking_
    ssfi.VARIANTS["default"] = DEFAULT
    if with_reference:
        scores, _ = sklearn_ssfi(
            X_train, given, n_members=committee_size(X.shape[1]), seed=seed, cache_bytes=1 << 30
        )
        rankings["scikit-learn reference"] = rank(scores, seed)
    rankings["SEFR"] = SEFR(random_state=seed).fit(X_train, given).ranking_
    rankings["forest on L"] = ForestImportance(random_state=seed).fit(X_train, given).ranking_
    rankings["F-score on L"] = rank(f_scores(X_train, given), seed)
    rankings["random"] = np.random.default_rng(seed).permutation(X.shape[1])
    labelled = train[given >= 0]
    return {
        label: (
            evaluate(ranking, X, y, train, test),
            evaluate(ranking, X, y, train, test, fit_rows=labelled),
        )
        for label, ranking in rankings.items()
    }


def show(labels, sets, table):
    """Print accuracies of shape (variant, set, run) and differences to the first variant."""
    print(f"{'':26}" + "".join(f"{name[:9]:>10}" for name in sets))
    for label, accuracy in zip(labels, table, strict=True):
        difference = accuracy - table[0]
        # splits are drawn anew in each run: the error of the mean over these very sets
        variance = difference.var(axis=1, ddof=1) / difference.shape[1]
        error = np.sqrt(variance.sum()) / len(sets)
        cells = "".join(f"{mean:10.3f}" for mean in accuracy.mean(axis=1))
        print(f"{label:26}{cells}  {accuracy.mean():.3f}  {difference.mean():+.4f} +- {error:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--sets", default="eight", help="names, or: eight, others")
    parser.add_argument("--readings", default=";".join(READINGS), help="separated by ;")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    known = {"eight": EIGHT_SETS, "others": ELEVEN_OTHERS}
    sets = known.get(arguments.sets) or arguments.sets.split(",")
    readings = arguments.readings.split(";")
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.runs)
    results = Parallel(n_jobs=arguments.jobs)(
        delayed(run)(name, seed, readings, arguments.reference) for name in sets for seed in seeds
    )
    labels = list(results[0])
    # variant, set, run, what the evaluation tree sees
    table = np.array([[result[label] for result in results] for label in labels])
    table = table.reshape(len(labels), len(sets), len(seeds), 2)
    print(f"{len(seeds)} runs; mean over the sets, and paired difference to the first row")
    print("\nevaluation tree on all training rows")
    show(labels, sets, table[..., 0])
    print("\nevaluation tree on the labelled rows")
    show(labels, sets, table[..., 1])


if __name__ == "__main__":
    main()
