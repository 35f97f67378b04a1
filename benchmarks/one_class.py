"""Labels of one class alone, and classes without a label.

    python benchmarks/one_class.py markers [--trials 5] [--methods fisher,ssfi,consensus]
    python benchmarks/one_class.py null [--trials 200] [--methods transductive]
    SEMISIFT_DATA=... python benchmarks/one_class.py strangers [--trials 5]

`markers`: the share of the markers of simulations.py among the best 20 features from labels of the
first class alone, from as many of each class, and by the F-score of the labelled rows against all
others; the estimated and the true share of the class. `null`: the share of trials in which anything
is significant where the labelled rows of one class are drawn at random, among rows that fall into
two groups. `strangers`: how often rows are listed that resemble no class where all classes have
labels, and where one has none.
"""

import argparse
import os
import warnings

import numpy as np
from joblib import Parallel, delayed
from protocol import load
from simulations import simulate

from semisift import METHODS, FisherScore
from semisift.base._training_data import TrainingData
from semisift.transduction._components import components
from semisift.transduction._novelty import find_novel_rows

KINDS = ("log", "nuisance", "weak", "imbalance", "normal", "three", "counts", "depth")
LABELS = (5, 20)
N_BEST = 20
SETS = ("khan_srbct", "waveform21", "optdigits", "sc_mixology_5cl", "warppie10p", "classic3")
TWO_CLASSES = ("wdbc", "chowdary", "isolet_bc", "madelon", "basehock")
MAX_ROWS = 2000


def found(ranker, marks):
    """Return the share of the markers among the best."""
    return np.mean(ranker.ranking_[marks] <= N_BEST)


def one_trial(kind, n_labels, method, seed):
    """Return recall from one class, from two, against all others, and the two shares."""
    warnings.simplefilter("ignore")
    X, y, given, marks = simulate(kind, n_labels, seed)
    positives = np.where(given == 0, 0, -1)
    ranker = METHODS[method].cls(random_state=seed).fit(X, positives)
    two = METHODS[method].cls(random_state=seed).fit(X, given)
    naive = FisherScore().fit(X, np.where(given == 0, 0, 1))
    recalls = [found(each, marks) for each in (ranker, two, naive)]
    return [*recalls, ranker.positive_share_, np.mean(y[positives < 0] == 0)]


def show_markers(options):
    """Print a row for each simulation, number of labels and method."""
    print("| simulation | labels | method | one class | two | against all | share | true |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for kind in KINDS:
        for n_labels in LABELS:
            for method in options.methods.split(","):
                tasks = (
                    delayed(one_trial)(kind, n_labels, method, seed)
                    for seed in range(options.trials)
                )
                rows = np.array(Parallel(options.n_jobs)(tasks))
                shown = " | ".join(f"{value:.2f}" for value in rows.mean(axis=0))
                print(f"| {kind} | {n_labels} | {method} | {shown} |", flush=True)


def null_trial(method, seed):
    """Tell whether anything is significant of labels that tell nothing."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, 0x6F6E65])
    X = rng.normal(size=(100, 50))
    X[:, :10] += 3 * rng.integers(0, 2, 100)[:, None]
    y = np.full(100, -1)
    y[rng.permutation(100)[:10]] = 1
    ranker = METHODS[method].cls(random_state=seed).fit(X, y)
    sure = ranker.assess(X, y, n_permutations=39, n_resamples=0, fast=True)
    return "significant" in sure.decisions, sure.p_value <= 0.05


def show_null(options):
    """Print the shares, which are to be at most .05."""
    for method in options.methods.split(","):
        tasks = (delayed(null_trial)(method, seed) for seed in range(options.trials))
        shares = np.mean(Parallel(options.n_jobs)(tasks), axis=0)
        print(f"{method}: significant {shares[0]:.3f}, p-value at most .05 {shares[1]:.3f}")


def novel_row_trials(X, y, hidden, trials):
    """Return how often novel rows are found, and how many of them are of the hidden class."""
    is_warned, right = [], []
    for n_labels in (3, 5, 10):
        for seed in range(trials):
            rng = np.random.default_rng([seed, n_labels])
            given = np.full(len(y), -1)
            for label in np.setdiff1d(y, [hidden]):
                given[rng.permutation(np.flatnonzero(y == label))[:n_labels]] = label
            data = TrainingData.build(X, given)
            rows = find_novel_rows(components(data), data.labels)
            is_warned.append(len(rows) > 0)
            right += [np.mean(y[rows] == hidden)] if len(rows) else []
    return np.mean(is_warned), np.mean(right) if right else np.nan


def show_novel_rows(options):
    """Print how often rows are found that resemble no class."""
    tables = {name: load(name)[:2] for name in SETS + TWO_CLASSES}
    tables |= {kind: simulate(kind, 5, 0)[:2] for kind in ("log", "nuisance", "batch", "three")}
    print("| table | all labelled | one class hidden | its share of those told |")
    print("| --- | --- | --- | --- |")
    for name, (X, labels) in tables.items():
        y = np.unique(labels, return_inverse=True)[1]
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_ROWS])
        X, y = X[rows], y[rows]
        all_known = novel_row_trials(X, y, -1, options.trials)[0]
        hidden = [novel_row_trials(X, y, code, options.trials) for code in range(3) if y.max() > 1]
        shown = "|"
        if hidden:
            is_warned, right = (np.array(part) for part in zip(*hidden, strict=True))
            of_warned = f"{right[is_warned > 0].mean():.2f}" if is_warned.any() else ""
            shown = f"{is_warned.mean():.2f} | {of_warned}"
        print(f"| {name} | {all_known:.2f} | {shown} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shows = {"markers": show_markers, "null": show_null, "strangers": show_novel_rows}
    parser.add_argument("what", choices=shows)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--methods", default="fisher,transductive,ssfi,consensus")
    parser.add_argument("--n-jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    shows[options.what](options)


if __name__ == "__main__":
    main()
