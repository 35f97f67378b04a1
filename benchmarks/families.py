"""Correlated groups: which correlation makes one, and of which form they should be.

    SEMISIFT_DATA=... python benchmarks/families.py [--runs 8] [--methods fisher,ssfi]

For each threshold and each form of a group, two things on the same splits: how well a decision
tree on the 10 first and a linear machine on the 20 first representatives do on the test rows,
having learned from all training rows with their true labels; and how good the first 20
representatives are one by one, by the true AUC over all rows and labels (of several classes the
mean over each against the rest, 1 - AUC where that is more). Without a threshold the first are the
best by score. Groups are made from the training rows, of which three a class are labelled for the
scores. Half of the sets are to choose on, the others show whether the choice holds.

Forms: "single" is one pass as in `semisift.utils._redundancy`, where a column joins a group by its
correlation with the representative alone; "complete" lets it join only if it correlates as much
with every column of the group.
"""

import argparse
import warnings
from functools import cache

import numpy as np
from protocol import load, split
from scipy.stats import rankdata
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from semisift import METHODS
from semisift.utils._redundancy import find_copies, rank

HALVES = {
    "to choose on": [
        "colon",
        "leukemia_allaml",
        "lymphoma",
        "ionosphere",
        "wdbc",
        "waveform40",
        "warppie10p",
    ],
    "to show on": [
        "khan_srbct",
        "ovarian",
        "prostata",
        "chowdary",
        "sonar",
        "isolet_bc",
        "optdigits",
    ],
}
MAX_ROWS = 1500
THRESHOLDS = (0.6, 0.7, 0.8, 0.9, 0.95)
CONFIGURATIONS = [
    (None, "by score"),
    *((threshold, form) for form in ("single", "complete") for threshold in THRESHOLDS),
]
TODAY = (0.7, "single")
N_SHOWN = 20
MEASURES = "tree on 10", "machine on 20", "AUC of 20", "groups of the best 20"


@cache
def read(name):
    X, y = load(name)
    return X[:MAX_ROWS].astype(float), y[:MAX_ROWS]


# Families -----------------------------------------------------------------------------------------


def single(rows, order, threshold, n_kept):
    """Return the family of each column of `order`, by the rule of the package."""
    return find_copies(rows, order, threshold, n_kept)[1]


def complete(rows, order, threshold, n_kept):
    """Return the family of each column of `order`: all its members correlate with each other.

    Of several groups that a column could join it joins that of the nearest representative. The
    walk ends when so many groups are found.
    """
    Z = rows[:, order] - rows[:, order].mean(axis=0)
    length = np.sqrt((Z**2).sum(axis=0))
    Z = Z / np.where(length > 0, length, 1.0)
    groups, stands = [], np.array(order)
    for place in range(len(order)):
        near = np.abs(Z[:, : place + 1].T @ Z[:, place])
        open_to_it = [members for members in groups if (near[members] > threshold).all()]
        if open_to_it:
            nearest = max(open_to_it, key=lambda members: near[members[0]])
            nearest.append(place)
            stands[place] = order[nearest[0]]
            continue
        groups.append([place])
        if len(groups) == n_kept:
            break
    return stands


FORMS = {"single": single, "complete": complete}


def first_of(rows, order, threshold, form):
    """Return the columns that are shown first, and how many groups the best by score have."""
    if threshold is None:
        return order[:N_SHOWN], N_SHOWN
    stands = FORMS[form](rows, order, threshold, N_SHOWN)
    is_kept = stands == order
    kept = np.concatenate([order[is_kept], order[~is_kept]])[:N_SHOWN]
    return kept, len(set(stands[:N_SHOWN].tolist()))


# Measures -----------------------------------------------------------------------------------------


@cache
def true_auc(name, column):
    """Return how well a column alone tells the classes apart, by all labels."""
    X, y = read(name)
    ranks = rankdata(X[:, column])
    found = []
    for label in np.unique(y):
        own = y == label
        n_own, n_other = own.sum(), (~own).sum()
        area = (ranks[own].sum() - n_own * (n_own + 1) / 2) / (n_own * n_other)
        found.append(max(area, 1 - area))
    return float(np.mean(found))


def accuracies(X, y, train, test, columns):
    """Return the accuracy of the tree on 10 and of the machine on 20 columns."""
    Z = X[:, columns]
    tree = DecisionTreeClassifier(random_state=0).fit(Z[train, :10], y[train])
    spread = Z[train].std(axis=0)
    W = (Z - Z[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    machine = SVC(kernel="linear").fit(W[train], y[train])
    return tree.score(Z[test, :10], y[test]), machine.score(W[test], y[test])


def measure(name, run, method):
    """Return the measures of one split, of shape (configurations, measures)."""
    X, y = read(name)
    train, test, given = split(y, run)
    scores = METHODS[method].cls(random_state=run).fit(X[train], given).scores_
    order = np.argsort(rank(scores, run))[: int(np.isfinite(scores).sum())]
    n_evaluated = min(N_SHOWN, X.shape[1] // 2)  # of few columns nearly all would be shown
    values = []
    for threshold, form in CONFIGURATIONS:
        columns, n_groups = first_of(X[train], order, threshold, form)
        area = np.mean([true_auc(name, int(column)) for column in columns[:n_evaluated]])
        values.append([*accuracies(X, y, train, test, columns), area, n_groups])
    return np.array(values)


# Tables -------------------------------------------------------------------------------------------


def errors(values):
    """Return the standard errors over sets and over splits of values of shape (sets, splits)."""
    by_set, by_split = values.mean(axis=1), values.mean(axis=0)
    return [each.std(ddof=1) / np.sqrt(len(each)) for each in (by_set, by_split)]


def show(title, found):
    """Print means, and differences to today's rule; `found` is (sets, splits, rows, measures)."""
    print(f"\n{title}: difference to {TODAY[1]} {TODAY[0]} (standard error over sets; over splits)")
    print("| |" + "".join(f" {name} | |" for name in MEASURES[:3]) + f" {MEASURES[3]} |")
    print("| --- |" + " --- |" * 7)
    today = found[:, :, CONFIGURATIONS.index(TODAY)]
    for place, (threshold, form) in enumerate(CONFIGURATIONS):
        line = f"| {form}{'' if threshold is None else f' {threshold}'} |"
        for number in range(3):
            values = found[:, :, place, number]
            gain = values - today[:, :, number]
            over_sets, over_splits = errors(gain)
            line += f" {values.mean():.3f} |"
            line += f" {gain.mean():+.3f} ({over_sets:.3f}; {over_splits:.3f}) |"
        print(line + f" {found[:, :, place, 3].mean():.1f} |", flush=True)


def show_sets(names, found):
    """Print today's rule and the order by score, set by set."""
    print("\n| set |" + "".join(f" {name}: by score | groups |" for name in MEASURES[:3]))
    print("| --- |" + " --- |" * 6)
    both = [0, CONFIGURATIONS.index(TODAY)]
    for name, values in zip(names, found.mean(axis=1), strict=True):
        cells = values[both, :3].T.ravel()
        print(f"| {name} |" + "".join(f" {value:.3f} |" for value in cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--methods", default="fisher,ssfi")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for title, names in HALVES.items():
        for method in options.methods.split(","):
            found = np.array(
                [[measure(name, run, method) for run in range(options.runs)] for name in names]
            )
            show(f"{method}, sets {title}", found)
            show_sets(names, found)


if __name__ == "__main__":
    main()
