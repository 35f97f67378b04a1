"""Labels for rows that have none: how many are right, and how far their confidence can be trusted.

    SEMISIFT_DATA=... python benchmarks/labels.py run RECORDS [--sets ...] [--labels 1,3,5,10,20]
        [--methods transduction,ridge,...] [--runs 5]
    python benchmarks/labels.py tables RECORDS

`run` hides all labels but a few of each class and has the methods label the other rows; it adds to
a file of records, one line each, and leaves out what it holds. `tables` prints what the records
say, in the form of docs/results/labels.md. What the soft labels rest on was chosen on the sets of
`CHOICE`; what is said of `SHOWN` had no part in it.

A class is given at most half of its rows as labels; a set is left out where that is too few for
more than half of its classes.
"""

import argparse
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
from consensus import CHOICE, SHOWN, add_record, key_of, load_some, mean_over_sets, read_records
from consensus import set_means as means_of_sets
from scipy import sparse
from sklearn.linear_model import RidgeClassifier
from sklearn.semi_supervised import LabelSpreading

from semisift import CLASSIFIERS, SSFI, LabelledOnly

N_LABELS = 1, 3, 5, 10, 20
HALVES = {"choice": CHOICE, "shown": SHOWN}

# Confidence from one of these to the next makes a bin.
EDGES = np.array([0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0])

# The draws of other benchmarks are others.
FIRST_RUN = 900


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "tables"):
        command = commands.add_parser(name)
        command.add_argument("records", type=Path)
        command.add_argument("--sets", default=",".join(CHOICE + SHOWN))
        command.add_argument("--labels", default=",".join(map(str, N_LABELS)))
        command.add_argument("--methods", default=",".join(METHODS))
        command.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    {"run": run, "tables": show_tables}[options.command](options)


# Methods ------------------------------------------------------------------------------------------


def learner(name):
    def label(X, given, seed):
        model = CLASSIFIERS[name].cls(random_state=seed).fit(X, given)
        return model.classes_, model.predict_proba(X)

    return label


def ridge(X, given, seed):
    model = LabelledOnly(RidgeClassifier()).fit(level(X), given)
    return model.predict(level(X))


def ssfi(X, given, seed):
    return SSFI(random_state=seed).fit(X, given).transduction_


def spreading(X, given, seed):
    model = LabelSpreading(kernel="knn").fit(level(X), given)
    return model.classes_, np.nan_to_num(model.label_distributions_)


METHODS = {
    "transduction": learner("transduction"),
    "co-forest": learner("co-forest"),
    "ridge": ridge,
    "ssfi": ssfi,
    "label-spreading": spreading,
}


def level(X):
    """Return standardised columns, or log(1 + x) of sparse rows that have the median total."""
    if sparse.issparse(X):
        totals = np.asarray(X.sum(axis=1)).ravel()
        factors = np.median(totals) / np.where(totals > 0, totals, 1.0)
        return (sparse.diags_array(factors) @ X).tocsr().log1p()
    spread = X.std(axis=0, dtype=float)
    return (X - X.mean(axis=0, dtype=float)) / np.where(spread > 0, spread, 1.0)


# Records ------------------------------------------------------------------------------------------


def run(options):
    done = {key_of(record) for record in read_records(options.records)}
    for name in options.sets.split(","):
        X, y = load_some(name)
        for n_labels in map(int, options.labels.split(",")):
            for number in range(options.runs):
                given = draw_labels(y, n_labels, FIRST_RUN + number)
                for method in options.methods.split(","):
                    if given is None or (name, n_labels, number, method) in done:
                        continue
                    record = {"set": name, "labels": n_labels, "run": number, "method": method}
                    start = time.process_time()
                    found = METHODS[method](X, given, number)
                    record["seconds"] = round(time.process_time() - start, 3)
                    add_record(options.records, record | evaluate(found, given, y))


def draw_labels(y, n_labels, seed):
    """Return the labels given, -1 for hidden; None where too many classes are too small."""
    rng = np.random.default_rng(seed)
    given = np.full(len(y), -1)
    counts = []
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        counts.append(min(n_labels, max(1, len(rows) // 2)))
        given[rows[: counts[-1]]] = label
    return given if np.mean(np.array(counts) == n_labels) >= 0.5 else None


def evaluate(found, given, y):
    """Return the share of hidden labels that were found; by bins of confidence, where it is told.

    Of each bin the number of rows, of those labelled right, and the sum of the confidences.
    """
    hidden = given < 0
    if not isinstance(found, tuple):
        return {"accuracy": round(float(np.mean(found[hidden] == y[hidden])), 5)}
    classes, shares = found
    right = (classes[shares.argmax(axis=1)] == y)[hidden]
    confidence = shares.max(axis=1)[hidden]
    place = np.clip(np.searchsorted(EDGES, confidence, "right") - 1, 0, len(EDGES) - 2)
    columns = np.ones(len(right)), right, confidence
    bins = [np.bincount(place, column, len(EDGES) - 1).round(4).tolist() for column in columns]
    return {"accuracy": round(float(right.mean()), 5), "bins": bins}


# Tables -------------------------------------------------------------------------------------------


def show_tables(options):
    records = [each for each in read_records(options.records) if each["run"] < options.runs]
    wanted = [int(each) for each in options.labels.split(",")]
    methods = options.methods.split(",")
    for half, names in (HALVES | {"all": CHOICE + SHOWN}).items():
        print(f"\nMean accuracy, {half}\n")
        show_rows(["labels a class", "sets", *methods])
        for n_labels in wanted:
            own = [record for record in records if record["labels"] == n_labels]
            cells = [mean_over_sets(own, names, method, "accuracy") for method in methods]
            n_sets = len(means_of_sets(own, names, methods[0], "accuracy"))
            show_rows([n_labels, n_sets, *(f"{cell:.3f}" for cell in cells)])
        print(f"\n{methods[0]} minus, {half}\n")
        show_rows(["labels a class", *methods[1:]])
        for n_labels in wanted:
            own = [record for record in records if record["labels"] == n_labels]
            show_rows(
                [n_labels, *(difference(own, names, methods[0], other) for other in methods[1:])]
            )
    show_sets(records, methods)
    for method in methods:
        show_bins([record for record in records if record["method"] == method], method)
    show_seconds(records, methods)


def show_rows(cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def difference(records, names, method, other):
    """Return how far a method is ahead of another, with the standard error over the sets."""
    ours, theirs = (means_of_sets(records, names, each, "accuracy") for each in (method, other))
    differences = [ours[name] - theirs[name] for name in ours if name in theirs]
    if len(differences) < 2:
        return ""
    return (
        f"{np.mean(differences):+.3f} ({np.std(differences, ddof=1) / len(differences) ** 0.5:.3f})"
    )


def show_sets(records, methods):
    own = [record for record in records if record["labels"] == 3]
    print("\nThree labels a class, by set\n")
    show_rows(["set", *methods])
    for name in CHOICE + SHOWN:
        cells = [mean_over_sets(own, [name], method, "accuracy") for method in methods]
        show_rows([name, *(f"{cell:.3f}" for cell in cells)])


def show_bins(records, method):
    """Print the share of right labels by bins of confidence, each set counted alike.

    How far confidence is off is shown for the rows of all sets together (mean over the bins), and
    for the mean confidence of a set, of either sign (mean over sets; its mean size in brackets).
    """
    if not any("bins" in record for record in records):
        return
    print(f"\nConfidence of {method}\n")
    columns = [f"{low:g} to {high:g}" for low, high in pairwise(EDGES)]
    show_rows(["half, labels", "", *columns, "off, bins", "off, sets"])
    for half, names in HALVES.items():
        for n_labels in (3, 10):
            own = [each for each in records if each["labels"] == n_labels and each["set"] in names]
            if not own:
                continue
            by_set = [
                np.mean([shares_of_bins(each) for each in own if each["set"] == name], axis=0)
                for name in dict.fromkeys(each["set"] for each in own)
            ]
            rows, right, confidence = np.mean(by_set, axis=0)
            filled = np.where(rows == 0, np.nan, rows)
            differences = [float((part[2] - part[1]).sum()) for part in by_set]
            off = f"{np.abs(right - confidence).sum():.3f}"
            sets = f"{np.mean(differences):+.3f} ({np.mean(np.abs(differences)):.3f})"
            show_rows([f"{half}, {n_labels}", "share of rows", *shown(rows), "", ""])
            show_rows(["", "mean confidence", *shown(confidence / filled), "", ""])
            show_rows(["", "right", *shown(right / filled), off, sets])


def shares_of_bins(record):
    return np.array(record["bins"]) / sum(record["bins"][0])


def shown(values):
    return ["" if np.isnan(value) else f"{value:.3f}" for value in values]


def show_seconds(records, methods):
    print("\nProcessor seconds of a fit, mean over all sets\n")
    show_rows(methods)
    names = CHOICE + SHOWN
    show_rows([f"{mean_over_sets(records, names, each, 'seconds'):.2f}" for each in methods])


if __name__ == "__main__":
    main()
