"""The consensus: how it was chosen, how it compares, what it costs.

    SEMISIFT_DATA=... python benchmarks/consensus.py run RECORDS [--sets ...] [--labels 3]
        [--methods consensus,transductive,ssfi,fisher] [--runs 5]
    SEMISIFT_DATA=... python benchmarks/consensus.py markers RECORDS [--kinds ...] [--labels 10]
    python benchmarks/consensus.py tables RECORDS
    SEMISIFT_DATA=... python benchmarks/consensus.py time

`run` ranks real data and evaluates the rankings, `markers` ranks simulations and counts the markers
among the best; both add to a file of records, one line each, and leave out what it holds. `tables`
prints what the records say. The parts of the consensus, and how far it trusts each, were chosen on
the sets and simulations of `CHOICE`; what is said of `SHOWN` had no part in it.

A ranking is evaluated by the accuracy, on a third of the rows, of a decision tree on the 10 best
columns, a linear machine on the 20 best, the machine on 2, 5 and 10 (mean) and the tree on 2 and 5
(mean); these classifiers learn from the true labels of the other two thirds.
"""

import argparse
import json
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import simulations
from protocol import load, split
from scipy import sparse
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from semisift import METHODS
from semisift.ensemble.consensus import REDUNDANCY
from semisift.utils._redundancy import put_copies_last

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
MAX_ROWS = 1500

# The splits of the choice are others.
FIRST_RUN = 500

EVALUATOR_NAMES = "tree 10", "svm 20", "svm 2-10", "tree 2-5"


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
                    record |= {"judged": evaluate(ranker, X, y, train, test), "seconds": seconds}
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
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_ROWS])
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


def evaluate(ranker, X, y, train, test):
    """Return accuracies of `EVALUATOR_NAMES`; correlated features among measurements come last."""
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

    show_curve([record for record in records if "judged" in record])


def show_curve(records):
    """Print accuracies by labels over the sets that have them all, and the labels saved."""
    counts = sorted({record["labels"] for record in records})
    for half, names in {"shown": SHOWN, "all": CHOICE + SHOWN}.items():
        for most in (20, 50):
            own = [n for n in counts if n <= most]
            usable = [name for name in names if has_all(records, name, own)]
            if len(usable) < 2 or len(own) < 2:
                continue
            print(f"\nLabels a class and accuracy, {half}: {', '.join(usable)}")
            curves = {
                method: [
                    mean_over_sets([r for r in records if r["labels"] == n], usable, method)
                    for n in own
                ]
                for method in ("consensus", "transductive", "ssfi", "fisher")
            }
            print(f"{'':14}" + "".join(f"{n:>8}" for n in own))
            for method, values in curves.items():
                print(f"{method:14}" + "".join(f"{value:8.3f}" for value in values))
            needed = [labels_needed(value, own, curves["fisher"]) for value in curves["consensus"]]
            print(f"{'fisher needs':14}" + "".join(f"{each:>8}" for each in needed))


def has_all(records, name, counts):
    methods = "consensus", "fisher"
    found = {(r["labels"], r["method"]) for r in records if r["set"] == name}
    return {(n, method) for n in counts for method in methods} <= found


def labels_needed(accuracy, counts, accuracies):
    """Return how many labels reach an accuracy, between two counts on a logarithmic scale."""
    for (low, below), (high, above) in pairwise(zip(counts, accuracies, strict=True)):
        if above >= accuracy:
            share = max(0.0, (accuracy - below) / (above - below)) if above > below else 0.0
            return f"{low * (high / low) ** share:.1f}"
    return f"> {counts[-1]}"


def methods_of(records):
    return list(dict.fromkeys(record["method"] for record in records))


def show_accuracies(records):
    """Print the mean accuracy of the classifiers by kind of data and half, and the differences."""
    if not records:
        return
    methods = methods_of(records)
    halves = {"choice": CHOICE, "shown": SHOWN}
    kinds = [*KINDS, "kinds"]
    print("Mean of the four evaluation classifiers; kinds count alike in `kinds`")
    print(f"{'':14}" + "".join(f"{half:^45}" for half in halves))
    print(f"{'':14}" + "".join(f"{kind[:8]:>9}" for kind in kinds) * 2)
    for method in methods:
        cells = [
            by_kind(records, names, list(KINDS) if kind == "kinds" else [kind], method)
            for names in halves.values()
            for kind in kinds
        ]
        print(f"{method:14}" + "".join(f"{cell:9.3f}" for cell in cells))
    halves["all"] = CHOICE + SHOWN
    print(
        "\nAhead of the consensus by, over sets (standard error); label accuracy; each classifier"
    )
    titles = [*halves, "labels", *EVALUATOR_NAMES]
    print(f"{'':14}" + "".join(f"{title:>16}" for title in titles[:3]) + " " * 2, end="")
    print("".join(f"{title:>10}" for title in titles[3:]))
    for method in methods:
        print(f"{method:14}", end="")
        print(
            "".join(f"{difference(records, each, method):>16}" for each in halves.values()), end=""
        )
        cells = [mean_over_sets(records, halves["all"], method, "label accuracy")]
        for place in range(len(EVALUATOR_NAMES)):
            evaluated = [record | {"own": record["judged"][place]} for record in records]
            cells.append(mean_over_sets(evaluated, halves["all"], method, "own"))
        print(" " * 2 + "".join(f"{cell:10.3f}" for cell in cells))
    few = methods[:4]
    print(f"\n{'':20}" + "".join(f"{each:>22}" for each in few))
    for name in dict.fromkeys(record["set"] for record in records):
        cells = [mean_and_error(records, name, method) for method in few]
        print(f"{name:20}" + "".join(f"{cell:>22}" for cell in cells))


def mean_and_error(records, name, method):
    """Return the mean over runs and its standard error."""
    values = [r["value"] for r in records if r["set"] == name and r["method"] == method]
    if len(values) < 2:
        return ""
    return f"{np.mean(values):.3f} ({np.std(values, ddof=1) / len(values) ** 0.5:.3f})"


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
    """Return how far a method is ahead of the consensus, with the standard error over the sets.

    Only splits that both have ranked count.
    """
    values = {key_of(record): record["value"] for record in records}
    differences = {}
    for (name, n_labels, number, own), value in values.items():
        ours = values.get((name, n_labels, number, "consensus"))
        if own == method and name in names and ours is not None:
            differences.setdefault(name, []).append(value - ours)
    means = [np.mean(each) for each in differences.values()]
    if method == "consensus" or len(means) < 2:
        return ""
    return f"{np.mean(means):+.3f} ({np.std(means, ddof=1) / len(means) ** 0.5:.3f})"


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
        ranker.assess(X, given, n_resamples=20, n_permutations=39, fast=True)
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
