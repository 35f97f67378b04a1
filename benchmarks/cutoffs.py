"""How many features each rule keeps: under pure noise, where the truth is known, and in what time.

    SEMISIFT_DATA=... python benchmarks/cutoffs.py noise [--trials 200] [--methods ssfi,fisher]
    SEMISIFT_DATA=... python benchmarks/cutoffs.py truth [--trials 10]
    SEMISIFT_DATA=... python benchmarks/cutoffs.py time

`noise`: the share of trials in which a rule keeps any column, though none has to do with the
labels; the goal is at most 5 %. Independent normal columns, and the colon data with labels given to
random rows. The rule "assess" is what `semisift rank` does by itself: the test with shuffled labels
at a small budget; its p-value is at most .05 in the share of trials that the last column shows.
`truth`: mean precision and recall where it is known which columns matter. madelon's
informative columns are those that the other columns explain. `time`: the shadow rule around SSFI.
"""

import argparse
import os
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from protocol import load

from semisift import METHODS
from semisift.outcome.mixin import RULES

METHODS_HERE = "ssfi,fisher,sselect"
ASSESS = {"n_resamples": 0, "n_permutations": 39, "light": True}
LABELS_PER_CLASS = (3, 10, 30)


def kept(method, rule, X, y, seed):
    """Return which columns a rule confirms, and the p-value of an assessment."""
    number = None if rule == "assess" else rule
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = METHODS[method].cls(n_features_to_select=number, random_state=seed).fit(X, y)
        if rule != "assess":
            return ranker.get_support(), np.nan
        sure = ranker.assess(X, y, **ASSESS)
        return sure.decisions == "confirmed", sure.p_value


def label_some(y, per_class, rng):
    """Return labels of so many rows of each class, drawn at random; -1 elsewhere."""
    given = np.full(len(y), -1)
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))[:per_class]
        given[rows] = label
    return given


# Noise --------------------------------------------------------------------------------------------


def normal_noise(seed):
    rng = np.random.default_rng([seed, 1])
    return rng.normal(size=(60, 200)), rng.permutation(np.arange(60) % 2)


def shuffled_colon(seed):
    rng = np.random.default_rng([seed, 2])
    X, y = load("colon")
    return X[:, rng.permutation(X.shape[1])[:300]], rng.permutation(y)


NOISE = {"normal 60 x 200": normal_noise, "colon, 300 columns": shuffled_colon}


def noise_trial(setting, n_labels, method, rule, seed):
    X, y = NOISE[setting](seed)
    given = label_some(y, n_labels // 2, np.random.default_rng([seed, 3]))
    found, p_value = kept(method, rule, X, given, seed)
    return int(found.sum()), p_value


def noise(options):
    print(
        f"{'data':22}{'labels':>7} {'method':10}{'rule':12}{'keeps any':>10}{'columns':>9}"
        f"{'p <= .05':>10}  CPU s"
    )
    for setting in NOISE:
        for n_labels in (6, 20):
            for method in options.methods:
                for rule in options.rules:
                    start = time.process_time()
                    jobs = [
                        delayed(noise_trial)(setting, n_labels, method, rule, seed)
                        for seed in range(options.trials)
                    ]
                    counts, p_values = np.array(Parallel(options.jobs)(jobs)).T
                    low = "" if np.isnan(p_values).all() else f"{(p_values <= 0.05).mean():.3f}"
                    spent = time.process_time() - start
                    print(
                        f"{setting:22}{n_labels:7} {method:10}{rule:12}{(counts > 0).mean():10.3f}"
                        f"{counts.mean():9.2f}{low:>10}{spent:7.1f}",
                        flush=True,
                    )


# Truth --------------------------------------------------------------------------------------------


@cache
def madelon():
    X, y = load("madelon")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    explained = 1 - 1 / np.diag(np.linalg.pinv(np.corrcoef(Z.T)))
    informative = np.sort(np.argsort(-explained)[:20])
    return X, y, np.isin(np.arange(X.shape[1]), informative)


@cache
def waveform40():
    X, y = load("waveform40")
    with np.load(Path(os.environ["SEMISIFT_DATA"]) / "waveform40.npz") as file:
        irrelevant = file["irrelevant"]
    matters = np.ones(X.shape[1], dtype=bool)
    matters[irrelevant] = False
    return X, y, matters


def copies(seed, n_rows=200, n_columns=300, shift=1.5):
    """Return 5 columns that follow the class, 3 noisy copies of each, and noise."""
    rng = np.random.default_rng([seed, 4])
    y = rng.permutation(np.arange(n_rows) % 2)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, :5] += shift * y[:, None]
    for copy in range(1, 4):
        X[:, 5 * copy : 5 * copy + 5] *= 0.4
        X[:, 5 * copy : 5 * copy + 5] += X[:, :5]
    return X, y, np.arange(n_columns) < 20


def truth_trial(name, per_class, method, rule, seed):
    if name == "copies":
        X, y, matters = copies(seed)
    else:
        X, y, matters = {"madelon": madelon, "waveform40": waveform40}[name]()
        rows = np.random.default_rng([seed, 5]).permutation(len(X))[:500]
        X, y = X[rows], y[rows]
    given = label_some(y, per_class, np.random.default_rng([seed, 6]))
    found, _ = kept(method, rule, X, given, seed)
    n_right = (found & matters).sum()
    return found.sum(), n_right / max(1, found.sum()), n_right / matters.sum()


def truth(options):
    print(
        f"{'data':12}{'labels':>7} {'method':10}{'rule':12}{'kept':>7}{'precision':>11}"
        f"{'recall':>8}"
    )
    for name in ("madelon", "waveform40", "copies"):
        for per_class in LABELS_PER_CLASS:
            for method in options.methods:
                for rule in options.rules:
                    jobs = [
                        delayed(truth_trial)(name, per_class, method, rule, seed)
                        for seed in range(options.trials)
                    ]
                    n_kept, precision, recall = np.array(Parallel(options.jobs)(jobs)).T
                    # precision of the trials that kept anything
                    some = precision[n_kept > 0].mean() if (n_kept > 0).any() else np.nan
                    print(
                        f"{name:12}{per_class:7} {method:10}{rule:12}{n_kept.mean():7.1f}"
                        f"{some:11.2f}{recall.mean():8.2f}",
                        flush=True,
                    )


# Time ---------------------------------------------------------------------------------------------


def spend(options):
    X, y = load("colon")
    given = label_some(y, 10, np.random.default_rng(0))
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = METHODS["ssfi"].cls(n_features_to_select="shadow", random_state=0)
        ranker.fit(X, given)
    print(
        f"shadow around SSFI on colon ({X.shape[0]} x {X.shape[1]}): "
        f"{ranker.cutoff_.repetitions} repetitions, {int(ranker.get_support().sum())} confirmed, "
        f"{time.perf_counter() - wall:.1f} s, of processors {time.process_time() - cpu:.1f} s"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["noise", "truth", "time"])
    parser.add_argument("--trials", type=int)
    parser.add_argument("--methods", default=METHODS_HERE)
    parser.add_argument("--rules", default=",".join(RULES))
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    options.methods, options.rules = options.methods.split(","), options.rules.split(",")
    options.trials = options.trials or {"noise": 200, "truth": 10, "time": 1}[options.part]
    {"noise": noise, "truth": truth, "time": spend}[options.part](options)


if __name__ == "__main__":
    main()
