"""The consensus: how it was chosen, how it compares, what it costs.

    SEMISIFT_DATA=... python benchmarks/consensus.py run RECORDS [--sets ...] [--labels 3]
        [--methods consensus,transductive,ssfi,fisher] [--runs 5]
    SEMISIFT_DATA=... python benchmarks/consensus.py markers RECORDS [--kinds ...] [--labels 10]
    python benchmarks/consensus.py tables RECORDS
    SEMISIFT_DATA=... python benchmarks/consensus.py time

`run` ranks real data and judges the rankings, `markers` ranks simulations and counts the markers
among the best; both add to a file of records, one line each, and leave out what it holds. `tables`
prints what the records say. The parts of the consensus, and how far it trusts each, were chosen on
the sets and simulations of `CHOICE`; what is said of `SHOWN` had no part in it.

A ranking is judged by the accuracy, on a third of the rows, of a decision tree on the 10 best
columns, a linear machine on the 20 best, the machine on 2, 5 and 10 (mean) and the tree on 2 and 5
(mean); the judges learn from the true labels of the other two thirds.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import simulations
from protocol import load, split
from scipy import sparse
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from semisift import METHODS
from semisift.consensus.consensus import REDUNDANCY
from semisift.math.redundancy import put_copies_last

KINDS = {
    "measurements": [
        *("colon", "leukemia_allaml", "lymphoma", "ionosphere", "wdbc", "waveform40"),
        *("khan_srbct", "ovarian", "prostata", "chowdary", "sonar", "german", "madelon"),
        "isolet_bc",
    ],
    "images": ["warppie10p", "optdigits"],
    "text": ["basehock", "dexter", "classic3"],
    "counts": ["sc_mixology_5cl", "sc_mouse_bladder"],
}
CHOICE = ["colon", "leukemia_allaml", "lymphoma", "ionosphere", "wdbc", "waveform40"]
CHOICE += ["warppie10p", "basehock", "dexter", "sc_mixology_5cl"]
SHOWN = [name for names in KINDS.values() for name in names if name not in CHOICE]

# Of larger sets so many rows are drawn.
MOST_ROWS = 1500

# The splits of the choice are others.
FIRST_RUN = 500

JUDGES = "tree 10", "svm 20", "svm 2-10", "tree 2-5"


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "markers", "tables"):
        command = commands.add_parser(name)
        command.add_argument("records", type=Path)
        command.add_argument("--sets", default=",".join(CHOICE + SHOWN))
        command.add_argument("--kinds", default=",".join(simulations.CHOICE + simulations.SHOWN))
        command.add_argument("--labels", default="3")
        command.add_argument("--methods", default="consensus,transductive,ssfi,fisher")
        command.add_argument("--runs", type=int, default=5)
    commands.add_parser("time")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    {"run": run, "markers": find_markers, "tables": show_tables, "time": show_times}[
        options.command
    ](options)


# Records ------------------------------------------------------------------------------------------


def read_records(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def key_of(record):
    return tuple(record[name] for name in ("set", "labels", "run", "method"))


def run(options):
    done = {key_of(record) for record in read_records(options.records)}
    for name in options.sets.split(","):
        X, y = load_some(name)
        for n_labels in map(int, options.labels.split(",")):
            for number in range(options.runs):
                train, test, given = split(y, FIRST_RUN + number, n_labels)
                for method in options.methods.split(","):
                    if (name, n_labels, number, method) in done or not (given < 0).any():
                        continue
                    ranker, seconds = rank(method, X[train], given, number)
                    record = {"set": name, "labels": n_labels, "run": number, "method": method}
                    record |= {"judged": judge(ranker, X, y, train, test), "seconds": seconds}
                    record |= label_accuracy(ranker, given, y[train])
                    add_record(options.records, record)


def find_markers(options):
    done = {key_of(record) for record in read_records(options.records)}
    for kind in options.kinds.split(","):
        for n_labels in map(int, options.labels.split(",")):
            for number in range(options.runs):
                X, y, given, is_marker = simulations.simulate(kind, n_labels, FIRST_RUN + number)
                for method in options.methods.split(","):
                    if (f"sim:{kind}", n_labels, number, method) in done:
                        continue
                    ranker, seconds = rank(method, X, given, number)
                    best = np.argsort(ranker.ranking_)[: is_marker.sum()]
                    record = {"set": f"sim:{kind}", "labels": n_labels, "run": number}
                    record |= {"method": method, "found": float(is_marker[best].mean())}
                    record |= {"seconds": seconds} | label_accuracy(ranker, given, y)
                    add_record(options.records, record)


def add_record(path, record):
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")


def load_some(name):
    X, y = load(name)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
    return X[rows], y[rows]


def rank(method, X, given, seed):
    start = time.process_time()
    ranker = METHODS[method].cls(random_state=seed).fit(X, given)
    return ranker, round(time.process_time() - start, 3)


def label_accuracy(ranker, given, y):
    rows = given < 0
    if not hasattr(ranker, "transduction_"):
        return {}
    return {"label accuracy": float(np.mean(ranker.transduction_[rows] == y[rows]))}


def judge(ranker, X, y, train, test):
    """Return the accuracies of `JUDGES`; near-copies among measurements come last."""
    order = ranker.ranking_
    if not sparse.issparse(X):
        rows = np.asfortranarray(X[train], dtype=float)
        has_score = ~np.isnan(ranker.scores_)
        order = put_copies_last(rows, order, has_score, REDUNDANCY, 20)[0]
    Z = X[:, np.argsort(order)[:20]]
    Z = Z.toarray() if sparse.issparse(Z) else Z
    spread = Z[train].std(axis=0)
    W = (Z - Z[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)

    def accuracy(model, values, n_best):
        model.fit(values[train, :n_best], y[train])
        return model.score(values[test, :n_best], y[test])

    tree = {n: accuracy(DecisionTreeClassifier(random_state=0), Z, n) for n in (2, 5, 10)}
    machine = {n: accuracy(SVC(kernel="linear"), W, n) for n in (2, 5, 10, 20)}
    few = np.mean([machine[n] for n in (2, 5, 10)]), np.mean([tree[2], tree[5]])
    return [round(float(value), 5) for value in (tree[10], machine[20], *few)]


# Tables -------------------------------------------------------------------------------------------


def show_tables(options):
    records = read_records(options.records)
    for record in records:
        record["value"] = record["found"] if "found" in record else np.mean(record["judged"])
    for n_labels in sorted({record["labels"] for record in records}):
        own = [record for record in records if record["labels"] == n_labels]
        print(f"\n{n_labels} labels a class")
        show_accuracies([record for record in own if "judged" in record])
        show_markers([record for record in own if "found" in record])


def methods_of(records):
    return list(dict.fromkeys(record["method"] for record in records))


def show_accuracies(records):
    """Print the mean accuracy over the judges by kind of data and half, and the differences."""
    if not records:
        return
    methods = methods_of(records)
    print(f"{'mean of the four judges':30}" + "".join(f"{each[:13]:>14}" for each in methods))
    halves = {"choice": CHOICE, "shown": SHOWN, "all": CHOICE + SHOWN}
    for half, names in halves.items():
        for kind in (*KINDS, "mean of kinds"):
            kinds = list(KINDS) if kind == "mean of kinds" else [kind]
            values = [by_kind(records, names, kinds, method) for method in methods]
            print(f"{half:7} {kind:22}" + "".join(f"{value:14.3f}" for value in values))
    print(f"\n{'consensus minus, over sets':30}" + "".join(f"{each[:13]:>14}" for each in methods))
    for half, names in halves.items():
        cells = [difference(records, names, method) for method in methods]
        print(f"{half:30}" + "".join(f"{cell:>14}" for cell in cells))
    print(f"\n{'label accuracy':30}" + "".join(f"{each[:13]:>14}" for each in methods))
    for half, names in halves.items():
        cells = [mean_over_sets(records, names, method, "label accuracy") for method in methods]
        print(f"{half:30}" + "".join(f"{cell:14.3f}" for cell in cells))
    print(f"\n{'set':30}" + "".join(f"{each[:13]:>14}" for each in methods))
    for name in dict.fromkeys(record["set"] for record in records):
        cells = [mean_over_sets(records, [name], method) for method in methods]
        print(f"{name:30}" + "".join(f"{cell:14.3f}" for cell in cells))
    print(f"\n{'judge, all sets':30}" + "".join(f"{each[:13]:>14}" for each in methods))
    for place, judge_name in enumerate(JUDGES):
        judged = [record | {"own": record["judged"][place]} for record in records]
        cells = [mean_over_sets(judged, CHOICE + SHOWN, method, "own") for method in methods]
        print(f"{judge_name:30}" + "".join(f"{cell:14.3f}" for cell in cells))


def set_means(records, names, method, what="value"):
    """Return the mean over runs of each set that has them."""
    found = {}
    for record in records:
        if record["method"] == method and record["set"] in names and what in record:
            found.setdefault(record["set"], []).append(record[what])
    return {name: float(np.mean(values)) for name, values in found.items()}


def mean_over_sets(records, names, method, what="value"):
    values = list(set_means(records, names, method, what).values())
    return float(np.mean(values)) if values else np.nan


def by_kind(records, names, kinds, method):
    """Return the mean over kinds of the mean over their sets: kinds count alike."""
    means = set_means(records, names, method)
    each = [[means[name] for name in KINDS[kind] if name in means] for kind in kinds]
    return float(np.mean([np.mean(values) for values in each if values])) if any(each) else np.nan


def difference(records, names, method):
    """Return how far the consensus is ahead, with its standard error over the sets."""
    ours, theirs = (set_means(records, names, each) for each in ("consensus", method))
    gaps = [ours[name] - theirs[name] for name in ours if name in theirs]
    if method == "consensus" or len(gaps) < 2:
        return ""
    return f"{np.mean(gaps):+.3f} ({np.std(gaps, ddof=1) / len(gaps) ** 0.5:.3f})"


def show_markers(records):
    if not records:
        return
    methods = methods_of(records)
    print(f"\n{'markers among the best':30}" + "".join(f"{each[:13]:>14}" for each in methods))
    for what, title in (("value", ""), ("label accuracy", "labels: ")):
        for name in dict.fromkeys(record["set"] for record in records):
            half = "choice" if name[4:] in simulations.CHOICE else "shown"
            cells = [mean_over_sets(records, [name], method, what) for method in methods]
            row = f"{title}{name[4:]} ({half})"
            print(f"{row:30}" + "".join(f"{cell:14.3f}" for cell in cells))


# Time ---------------------------------------------------------------------------------------------


def show_times(options):
    """Print the processor seconds of a fit and of the assessment that `semisift rank` adds."""
    rng = np.random.default_rng(0)
    given = np.full(2000, -1)
    given[:20] = np.arange(20) % 2
    tables = {"normal": (rng.normal(size=(2000, 5000)), given)}
    for name in ("chowdary", "news20_binary", "sc_mixology_5cl", "wdbc"):
        X, y = load(name)
        tables[name] = X, some_labels(y)
    print(f"{'table':18}{'shape':>16}{'fit':>8}{'assess':>8}{'ratio':>7}   parts")
    for name, (X, given) in tables.items():
        ranker, fit = rank("consensus", X, given, 0)
        start = time.process_time()
        ranker.assess(X, given, n_resamples=20, n_permutations=39, light=True)
        assess = time.process_time() - start
        parts = {each: rank(each, X, given, 0)[1] for each, _ in ranker.rankers_}
        shape = f"{X.shape[0]} x {X.shape[1]}"
        print(f"{name:18}{shape:>16}{fit:8.2f}{assess:8.2f}{assess / fit:7.1f}   {parts}")


def some_labels(y, n_labels=3):
    rng = np.random.default_rng(0)
    given = np.full(len(y), -1)
    for label in np.unique(y):
        given[rng.permutation(np.flatnonzero(y == label))[:n_labels]] = label
    return given


if __name__ == "__main__":
    main()
