"""The learning curve: whether the stability that it tells for more labels is what they bring.

    SEMISIFT_DATA=... python benchmarks/learning_curve.py run RECORDS [--sets ...] [--labels 3,5,10]
        [--method transductive] [--runs 4]
    python benchmarks/learning_curve.py tables RECORDS [--method transductive]

`run` hides all labels but a few of each class, has `learning_curve` tell the stability now and with
10 more labels, and finds out the truth: how alike the best features of rankings from disjoint draws
of so many of the labels that are hidden are. It adds to a file of records, one line each, and
leaves out what it holds. `tables` prints what the records say, in the form of
docs/results/learning-curve.md. The numbers of `semisift.utils._agreement` were chosen on the
first of the `HALVES`; what is said of the second had no part in it.

At most 500 rows of a set count. Classes of too few rows for two disjoint draws are left out, and a
set of fewer than two others is. Simulations are `sim:` and their kind (see simulations.py);
`sim:null` is that of `log` with labels that tell nothing. With 3 labels a class `learning_curve`
tells nothing; here it is asked all the same.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import simulations
from consensus import CHOICE, SHOWN, add_record, read_records
from labels import show_rows
from protocol import load

from semisift import METHODS
from semisift.selection._assessment import alike_features, count_best
from semisift.selection._learning_curve import measure, split_labels
from semisift.selection._refit import Scorer, rank_labelled, seed_of
from semisift.transduction._components import make_components
from semisift.utils._agreement import extrapolate
from semisift.utils._labels import Labels

N_LABELS = 3, 5, 10
N_MORE = 10

# Classes count that have rows for two disjoint draws of so many labels and their part of the more.
LABELS_OF_CLASSES = 5

SIMULATED = {
    "choice": [f"sim:{kind}" for kind in ("log", "weak", "nuisance", "normal")],
    "shown": [f"sim:{kind}" for kind in ("null", "counts", "nuisance-weak", "three-nuisance")],
}
HALVES = {"choice": CHOICE + SIMULATED["choice"], "shown": SHOWN + SIMULATED["shown"]}

MAX_ROWS = 500

# Half of the last digit of what is printed.
ROUND = 0.005

# Rankings that a true stability stands on, or a few less.
N_RANKINGS = 40
MAX_DISJOINT = 8

# The draws of other benchmarks are others.
FIRST_RUN = 1300
TRUTH_STREAM = 0x747275


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "tables"):
        command = commands.add_parser(name)
        command.add_argument("records", type=Path)
        command.add_argument("--sets", default=",".join(HALVES["choice"] + HALVES["shown"]))
        command.add_argument("--labels", default=",".join(map(str, N_LABELS)))
        command.add_argument("--method", default="transductive")
        command.add_argument("--runs", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    {"run": run, "tables": show_tables}[options.command](options)


# Records ------------------------------------------------------------------------------------------


def run(options):
    done = {key_of(record) for record in read_records(options.records)}
    for name in options.sets.split(","):
        X, y = load_some(name)
        classes, counts = np.unique(y, return_counts=True)
        n_classes = len(classes)
        for n_labels in map(int, options.labels.split(",")):
            if n_classes < 2 or min(counts) < needed(n_labels, n_classes):
                continue
            wanted = [n_labels * n_classes, n_labels * n_classes + N_MORE]
            if n_labels == 3:
                wanted += [n_classes, 2 * n_classes]
            for n_all in wanted:
                key = (name, options.method, n_all, "truth")
                if key in done:
                    continue
                done.add(key)
                found = find_truth(options.method, X, y, n_all)
                record = dict(zip(("set", "method", "n", "run"), key, strict=True))
                add_record(options.records, record | found)
            for number in range(options.runs):
                key = (name, options.method, wanted[0], number)
                if key in done:
                    continue
                record = dict(zip(("set", "method", "n", "run"), key, strict=True))
                record |= {"labels": n_labels, "classes": n_classes}
                given = draw(y, wanted[0], np.random.default_rng([FIRST_RUN, number]))
                add_record(options.records, record | predict(options.method, X, given, number))


def key_of(record):
    return tuple(record[name] for name in ("set", "method", "n", "run"))


def load_some(name):
    if name.startswith("sim:"):
        kind = name[4:]
        X, y, _, _ = simulations.simulate(kind if kind != "null" else "log", 1, FIRST_RUN)
        if kind == "null":
            y = np.random.default_rng(FIRST_RUN).permutation(y)
    else:
        X, y = load(name)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_ROWS])
    return large_classes(X[rows], y[rows])


def large_classes(X, y):
    """Return the rows of classes of which two disjoint draws can be made; see `needed`."""
    classes, counts = np.unique(y, return_counts=True)
    while len(classes) > 1 and min(counts) < (least := needed(LABELS_OF_CLASSES, len(classes))):
        classes, counts = classes[counts >= least], counts[counts >= least]
    rows = np.isin(y, classes)
    return X[rows], y[rows]


def needed(n_labels, n_classes):
    """Return how many rows of a class two disjoint draws with more labels take."""
    return 2 * (n_labels + -(-N_MORE // n_classes))


def draw(y, n_all, rng, classes=None):
    """Return labels of so many rows, of each class as many but for one, -1 for hidden."""
    given = np.full(len(y), -1)
    classes = rng.permutation(np.unique(y) if classes is None else classes)
    for place, label in enumerate(classes):
        n = n_all // len(classes) + (place < n_all % len(classes))
        given[rng.permutation(np.flatnonzero(y == label))[:n]] = label
    return given


def fitted(method, X, given, seed):
    ranker = METHODS[method].cls(random_state=seed).fit(X, given)
    data = ranker._build_again(X, given, "learning_curve", "curve", {})
    return ranker, data


def find_truth(method, X, y, n_all):
    """Return the stability of rankings from so many labels, with its standard error."""
    ranker, data = fitted(method, X, draw(y, n_all, np.random.default_rng(0)), 0)
    n_best = count_best(ranker, None)
    classes = np.unique(y)
    codes = np.searchsorted(classes, y).astype(np.int32)
    data = data.with_labels(Labels(codes, classes), None, 0)
    make_components(data)
    scorer = Scorer(ranker, fast=True)
    n_disjoint = min(np.bincount(codes) // -(-n_all // len(classes)))
    n_disjoint = int(min(n_disjoint, MAX_DISJOINT))
    values = []
    for number in range(N_RANKINGS // n_disjoint):
        rng = np.random.default_rng([TRUTH_STREAM, n_all, number])
        free, best = y.copy(), []
        for subset in range(n_disjoint):
            rows = np.flatnonzero(draw(free, n_all, rng, classes) >= 0)
            free[rows] = -1
            seed = seed_of(n_all, TRUTH_STREAM, N_RANKINGS * number + subset)
            ranking = rank_labelled((rows, seed), data, scorer, n_best)
            best.append(np.flatnonzero(ranking <= n_best))
        values.append(alike_features(ranker, best).value)
    error = np.std(values, ddof=1) / len(values) ** 0.5
    return {"truth": round(float(np.mean(values)), 5), "error": round(float(error), 5)}


def predict(method, X, given, seed):
    ranker, data = fitted(method, X, given, seed)
    start = time.process_time()
    splits = split_labels(data, seed, least=1)
    n_best = count_best(ranker, None)
    n_steps = sum(map(len, splits))
    found = measure(ranker, data, splits, iter(range(n_steps)), n_best=n_best, seed=seed, fast=True)
    seconds = time.process_time() - start
    record = {name: getattr(found, name).round(5).tolist() for name in found._fields}
    return record | {"seconds": round(seconds, 3), "n_best": n_best, "p": data.n_features}


# Tables -------------------------------------------------------------------------------------------


def show_tables(options):
    records = [r for r in read_records(options.records) if r["method"] == options.method]
    truth = {(r["set"], r["n"]): r for r in records if r["run"] == "truth"}
    trials = [r | expect(r, truth) for r in records if r["run"] != "truth"]
    print(f"\n{options.method}: what is expected less the truth, and what the intervals hold\n")
    show_rows(["half, labels a class", "sets", "trials", *TITLES])
    for half, names in HALVES.items():
        for n_labels in (*map(int, options.labels.split(",")), None):
            own = [r for r in trials if r["set"] in names and n_labels in (None, r["labels"])]
            if own:
                about = [f"{half}, {n_labels or 'all'}", len({r["set"] for r in own}), len(own)]
                show_rows([*about, *summary(own)])
    print("\nBy set: the truth, what is expected in the mean, and how often it is held\n")
    show_rows(["set", "labels a class", "now", "expected", "then", "expected", "held"])
    for name in HALVES["choice"] + HALVES["shown"]:
        for n_labels in map(int, options.labels.split(",")):
            own = [r for r in trials if r["set"] == name and r["labels"] == n_labels]
            if own:
                show_rows([name, n_labels, *of_set(own)])
    seconds = [r["seconds"] for r in trials]
    print(
        f"\nProcessor seconds of a curve: median {np.median(seconds):.1f}, most {max(seconds):.1f}"
    )


TITLES = ["now: bias", "RMSE", "held", "width"]
TITLES += ["then: bias", "RMSE", "held", "width", "rise: bias", "RMSE"]


def expect(record, truth):
    measured = np.array(record["sizes"]), np.array(record["values"]), record["n"]
    found = {}
    for when, n in (("now", record["n"]), ("then", record["n"] + N_MORE)):
        true, known = truth[record["set"], n]["truth"], extrapolate(*measured, n)
        found[when] = known.value - true
        found[f"{when} true"], found[f"{when} expected"] = true, known.value
        found[f"{when} held"] = known.low - ROUND <= true <= known.high + ROUND
        found[f"{when} width"] = known.high - known.low
    return found | {"rise": found["then"] - found["now"]}


def summary(trials):
    """Return means over sets of the means over their trials."""
    names = [record["set"] for record in trials]
    weights = np.array([1 / names.count(name) for name in names])

    def mean(values):
        return float(weights @ np.array(values, dtype=float) / weights.sum())

    cells = []
    for when in ("now", "then", "rise"):
        errors = np.array([record[when] for record in trials])
        cells += [f"{mean(errors):+.3f}", f"{mean(errors**2) ** 0.5:.3f}"]
        if when != "rise":
            cells.append(f"{mean([record[f'{when} held'] for record in trials]):.2f}")
            cells.append(f"{mean([record[f'{when} width'] for record in trials]):.2f}")
    return cells


def of_set(trials):
    cells = []
    for when in ("now", "then"):
        cells.append(f"{trials[0][f'{when} true']:.2f}")
        cells.append(f"{np.mean([record[f'{when} expected'] for record in trials]):.2f}")
    n_covered = sum(record["now held"] + record["then held"] for record in trials)
    return [*cells, f"{n_covered} of {2 * len(trials)}"]


if __name__ == "__main__":
    main()
