"""How many features each rule keeps, and how sure a ranking is: in noise, and with known truth.

    SEMISIFT_DATA=... python benchmarks/cutoffs.py noise [--trials 200] [--methods ssfi,fisher]
    SEMISIFT_DATA=... python benchmarks/cutoffs.py truth [--trials 10]
    python benchmarks/cutoffs.py markers [--trials 10] [--methods consensus] [--rules assess]
    python benchmarks/cutoffs.py cover [--trials 100]
    SEMISIFT_DATA=... python benchmarks/cutoffs.py time

`noise`: the share of trials in which a rule keeps any column of nulls.py, of which none has to do
with the labels; the goal is at most 5 %. The rule "assess" is what `semisift rank` does by itself:
the test of the labels at a small budget; its p-value is at most .05 in the share of trials that the
column after it shows. `truth`: mean precision and recall where it is known which columns matter.
madelon's informative columns are those that the other columns explain. `markers`: how many markers
of simulations.py are significant, and how many useless columns. `cover`: how often the intervals of
the ranks hold the rank on the whole population, and how alike the best columns are from half to
half of a study and from one new study to the next. `time`: the shadow rule around SSFI.
"""

import argparse
import os
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from nulls import NULLS, label_some
from protocol import load
from scipy.stats import spearmanr
from simulations import CHOICE, SHOWN, simulate

from semisift import METHODS
from semisift.base._ranker import RULES
from semisift.utils._agreement import nogueira

METHODS_HERE = "ssfi,fisher,sselect"
ASSESS = {"n_resamples": 0, "n_permutations": 39, "fast": True}
LABELS_PER_CLASS = (3, 10, 30)
ON_HALVES = {"n_best": 10, "n_resamples": 20, "n_permutations": 0, "fast": True}

# The simulations of benchmarks/consensus.py and of the choice of the consensus are others.
FIRST_SEED = 1000


def kept(method, rule, X, y, seed):
    """Return which columns are significant by a rule, and the p-value of an assessment."""
    number = None if rule == "assess" else rule
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = METHODS[method].cls(n_features_to_select=number, random_state=seed).fit(X, y)
        if rule != "assess":
            return ranker.get_support(), np.nan
        sure = ranker.assess(X, y, **ASSESS)
        return sure.decisions == "significant", sure.p_value


# Noise --------------------------------------------------------------------------------------------


def noise_trial(data, per_class, method, rule, seed):
    X, given = NULLS[data](per_class, seed)
    found, p_value = kept(method, rule, X, given, seed)
    return int(found.sum()), p_value, np.sum(given >= 0)


def share(hits):
    """Return a share of trials with its standard error."""
    return f"{np.mean(hits):.3f} ({np.std(hits) / np.sqrt(len(hits)):.3f})"


def noise(options):
    print(
        f"{'data':20}{'labels':>7} {'method':10}{'rule':10}{'keeps any':>15}{'columns':>9}"
        f"{'p <= .05':>15}  CPU s"
    )
    for data in options.data or NULLS:
        for per_class in (3, 10):
            for method in options.methods:
                for rule in options.rules:
                    start = time.process_time()
                    jobs = [
                        delayed(noise_trial)(data, per_class, method, rule, seed)
                        for seed in range(options.trials)
                    ]
                    counts, p_values, n_labels = np.array(Parallel(options.jobs)(jobs)).T
                    low = "" if np.isnan(p_values).all() else share(p_values <= 0.05 + 1e-12)
                    spent = time.process_time() - start
                    print(
                        f"{data:20}{n_labels[0]:7.0f} {method:10}{rule:10}{share(counts > 0):>15}"
                        f"{counts.mean():9.2f}{low:>15}{spent:7.1f}",
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
        f"{'recall':>13}"
    )
    for name in options.data or ("madelon", "waveform40", "copies"):
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
                    error = recall.std(ddof=1) / np.sqrt(len(recall))
                    print(
                        f"{name:12}{per_class:7} {method:10}{rule:12}{n_kept.mean():7.1f}"
                        f"{some:11.2f}{f'{recall.mean():.2f} ({error:.3f})':>13}",
                        flush=True,
                    )


# Markers ------------------------------------------------------------------------------------------


def markers_trial(kind, per_class, method, rule, seed):
    """Return how many markers are significant by a rule, of how many, and useless columns."""
    X, _, given, is_marker = simulate(kind, per_class, FIRST_SEED + seed)
    found, _ = kept(method, rule, X, given, seed)
    return found[is_marker].sum(), is_marker.sum(), found[~is_marker].sum()


def markers(options):
    print(
        f"{'data':18}{'labels':>7} {'method':10}{'rule':10}{'markers':>14}{'of':>4}{'useless':>9}"
        f"{'trials with any':>17}"
    )
    for kind in options.data or CHOICE + SHOWN:
        for per_class in (5, 10, 20):
            for method in options.methods:
                for rule in options.rules:
                    jobs = [
                        delayed(markers_trial)(kind, per_class, method, rule, seed)
                        for seed in range(options.trials)
                    ]
                    right, n_markers, useless = np.array(Parallel(options.jobs)(jobs)).T
                    error = right.std(ddof=1) / np.sqrt(len(right))
                    print(
                        f"{kind:18}{per_class:7} {method:10}{rule:10}"
                        f"{f'{right.mean():.1f} ({error:.2f})':>14}{n_markers[0]:4}"
                        f"{useless.mean():9.2f}{np.mean(useless > 0):17.2f}",
                        flush=True,
                    )


# Cover --------------------------------------------------------------------------------------------

# By how much the classes differ in each of 50 columns, best first. Their order is the ranking on
# the whole population, which rankings of very many labelled rows come to.
GRADES = {
    "steep": 2 * 0.93 ** np.arange(50),
    "even": 1.5 * (1 - np.arange(50) / 50),
    "none": np.zeros(50),
}


def graded(effects, n_rows, rng):
    y = rng.permutation(np.arange(n_rows) % 2)
    return rng.normal(size=(n_rows, len(effects))) + np.outer(y, effects), y


def cover_trial(grades, per_class, method, seed):
    """Return the shares of ranks covered, all and best three, their width, and the best columns."""
    rng = np.random.default_rng([seed, 7])
    effects = GRADES[grades]
    X, y = graded(effects, 200, rng)
    given = label_some(y, per_class, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = METHODS[method].cls(random_state=seed).fit(X, given)
        sure = ranker.assess(X, given, **ON_HALVES)
    low, high = sure.rank_interval.T
    ranks = np.arange(1, len(effects) + 1)
    is_covered = (low <= ranks) & (ranks <= high)
    first = ranker.ranking_ <= 3
    figures = (
        is_covered.mean(),
        is_covered[first].mean(),
        (high - low)[first].mean(),
        sure.stability.value,
    )
    return figures, np.flatnonzero(ranker.ranking_ <= ON_HALVES["n_best"])


def agreement_of_many(grades, method, n_rows=2000):
    """Return how a ranking of many labelled rows correlates with the order of the effects."""
    X, y = graded(GRADES[grades], n_rows, np.random.default_rng(8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = METHODS[method].cls(random_state=0).fit(X, y)
    return spearmanr(ranker.ranking_, np.arange(X.shape[1]))[0]


def cover(options):
    print(
        f"{'effects':9}{'labels':>7} {'method':11}{'covered':>13}{'best three':>13}{'width':>7}"
        f"{'halves':>13}{'new studies':>13}"
    )
    for grades, effects in GRADES.items():
        for method in options.methods:
            if effects.any():
                alike = agreement_of_many(grades, method)
                print(f"# {method}: with 2,000 labels, correlation with the true ranks {alike:.3f}")
            for per_class in (3, 8, 20):
                jobs = [
                    delayed(cover_trial)(grades, per_class, method, seed)
                    for seed in range(options.trials)
                ]
                figures, best = zip(*Parallel(options.jobs)(jobs), strict=True)
                mean = np.mean(figures, axis=0)
                error = np.std(figures, axis=0, ddof=1) / np.sqrt(options.trials)
                shown = [f"{m:.2f} ({e:.3f})" for m, e in zip(mean, error, strict=True)]
                if not effects.any():  # all ranks are alike
                    shown[:2] = "", ""
                new = nogueira(best, len(effects))
                between = f"{new.value:.2f} ({(new.high - new.low) / 3.92:.3f})"
                print(
                    f"{grades:9}{per_class:7} {method:11}{shown[0]:>13}{shown[1]:>13}{mean[2]:7.1f}"
                    f"{shown[3]:>13}{between:>13}",
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
        f"{ranker.cutoff_.repetitions} repetitions, {int(ranker.get_support().sum())} significant, "
        f"{time.perf_counter() - wall:.1f} s, of processors {time.process_time() - cpu:.1f} s"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["noise", "truth", "markers", "cover", "time"])
    parser.add_argument("--trials", type=int)
    parser.add_argument("--methods", default=METHODS_HERE)
    parser.add_argument("--rules", default=",".join(RULES))
    parser.add_argument("--data", help="of those of the part, by commas; all if not given")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    for name in ("methods", "rules", "data"):
        given = getattr(options, name)
        setattr(options, name, given and given.split(","))
    parts = {
        "noise": (noise, 200),
        "truth": (truth, 10),
        "markers": (markers, 10),
        "cover": (cover, 100),
        "time": (spend, 1),
    }
    run, trials = parts[options.part]
    options.trials = options.trials or trials
    run(options)


if __name__ == "__main__":
    main()
