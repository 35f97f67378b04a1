"""Markers of cells from a few labelled ones, against the tools that people use for it.

    python benchmarks/single_cell.py markers RECORDS [--kinds ...] [--labels 2,5,10,20] [--draws 20]
    SEMISIFT_DATA=... python benchmarks/single_cell.py accuracy RECORDS [--sets ...] [--draws 5]
    python benchmarks/single_cell.py depth RECORDS [--draws 20]
    python benchmarks/single_cell.py tables RECORDS
    python benchmarks/single_cell.py cost
    python benchmarks/single_cell.py unlabelled
    python benchmarks/single_cell.py null [--draws 200]

`markers` simulates cells whose markers are known and counts those among the best genes;
`accuracy` judges the best genes of real cells by a linear machine; `depth` has labels that go with
the depth of the cells. They add to a file of records, one line each, and leave out what it holds;
`tables` prints what the records say. `cost` has time and memory, `unlabelled` what each tool does
with labels that are missing (NaN), `null` how often labels that tell nothing confirm a gene for a
class. `--tools` names some of the tools; those that are not installed
are left out.

All tools see the same values, those of `semisift.normalize_counts`: log(1 + x) of counts brought to
the median total. semisift sees all cells and the labels of some. The others see the labelled cells
alone, or all cells with NaN where no label is ("as called"), or all true labels ("all labelled",
the ceiling).

The others rank genes for one class against the rest. The share of markers among their best 20 is
that of the best ranks over the classes, either by the score or by its absolute value: of these two
readings the tables show the one that is better on average in the setting. semisift has one ranking
for all classes, which is taken as it is; by class its markers are those of `ranker.markers`, whose
best ranks over the classes `accuracy` judges as well.
"""

import argparse
import importlib.util
import json
import multiprocessing
import tempfile
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import simulations
from protocol import load, split
from scipy import sparse
from single_cell_tools import (
    ALONE,
    AS_CALLED,
    CEILING,
    OURS,
    PEERS,
    TOOLS,
    WITH_BATCH,
    one_against_rest,
    readings,
)
from sklearn.svm import SVC
from ssfi import forget_peak, memory_now

from semisift import METHODS, normalize_counts
from semisift.preprocessing._counts import log_of_shares, usual_total

KINDS = "landscape", "strong", "weak", "imbalance", "depth", "batch", "five"
SETS = "sc_mixology_5cl", "sc_mouse_bladder"
N_BEST = 20

# Of larger sets so many cells are drawn; the splits are those of benchmarks/consensus.py.
MAX_CELLS, FIRST_SPLIT = 1500, 500

COST_SHAPE = 5000, 5000

# Simulated cells. Means, spread and depth are those of the two real sets: the median mean of genes
# within a type is .44 in one, .26 among the 2,000 highest genes of the other, the logarithms of the
# means have a standard deviation of 1.2 to 1.4, those of the totals .4 to .6, and the median excess
# variance is .1 to .3 times the squared mean.
N_CELLS, N_GENES = 1000, 2000
MEAN, MEAN_SPREAD, DEPTH_SPREAD, DISPERSION = 0.35, 1.2, 0.45, 0.3

# How many times a marker is higher: of 3 and 4, and of 1.5, 1.6, 1.7, 1.8 and 2, the largest with
# which scanpy's t-test and Wilcoxon test find .9 to 1, and .7 to .9, with all cells labelled (on
# other draws, before anything else was run).
STRONG, WEAK = 4.0, 1.8

# Cells of one type have so many times the molecules of the other, in `deep`.
DEEPER = 2.0

# Genes that differ between batches, and the standard deviation of the logarithm of how far.
N_SHIFTED, SHIFT = 600, 0.5


def simulate(kind, n_labels, seed, n_cells=N_CELLS, n_genes=N_GENES):
    """Return counts, classes, labels given (-1 for none), whose marker a gene is (-1), batches.

    Negative binomial counts with log-normal depth and means of genes; 20 genes, drawn at random,
    are markers, as many for each class. `landscape` are the log counts of simulations.py, where all
    20 markers are of one class, with genes in random order.
    """
    rng = np.random.default_rng([seed, 0x63656C])
    if kind == "landscape":
        X, y, given, is_marker = simulations.simulate("log", n_labels, seed)
        order = rng.permutation(X.shape[1])
        return sparse.csr_array(X[:, order]), y, given, np.where(is_marker, 0, -1)[order], None
    n_classes = 5 if kind == "five" else 2
    y = np.arange(n_cells) % n_classes
    if kind == "imbalance":
        y = (np.arange(n_cells) % 10 == 0).astype(int)
    marks = np.full(n_genes, -1)
    marks[rng.permutation(n_genes)[:N_BEST]] = np.arange(N_BEST) % n_classes
    mean = MEAN * np.exp(rng.normal(scale=MEAN_SPREAD, size=n_genes))
    depth = np.exp(rng.normal(scale=DEPTH_SPREAD, size=n_cells))
    if kind == "deep":
        depth[y == 1] *= DEEPER
    rates = np.where(y[:, None] == marks, WEAK if kind == "weak" else STRONG, 1.0)
    rates *= mean * depth[:, None]
    batch = rng.integers(0, 2, n_cells)
    if kind == "batch":
        shifts = np.zeros(n_genes)
        shifts[rng.permutation(n_genes)[:N_SHIFTED]] = rng.normal(scale=SHIFT, size=N_SHIFTED)
        rates *= np.exp(shifts * batch[:, None])
    counts = rng.poisson(rates * rng.gamma(1 / DISPERSION, DISPERSION, rates.shape))
    return (
        sparse.csr_array(counts, dtype=np.float32),
        y,
        give(y, depth, kind, n_labels, rng),
        marks,
        batch,
    )


def give(y, depth, kind, n_labels, rng):
    """Return labels of some cells; with `depth`, of deep ones of one class, shallow of another."""
    given = np.full(len(y), -1)
    for code in range(y.max() + 1):
        rows = rng.permutation(np.flatnonzero(y == code))
        if kind == "depth":
            by_depth = rows[np.argsort(depth[rows])]
            quarter = len(rows) // 4
            rows = rng.permutation(by_depth[:quarter] if code else by_depth[-quarter:])
        given[rows[:n_labels]] = code
    return given


def tools_of(options, names):
    """Return the names of the tools asked for that are installed."""
    chosen = [name for name in names if not options.tools or name in options.tools.split(";")]
    packages = {name.split(",")[0].split()[0] for name in chosen} - set(METHODS)
    absent = {package for package in packages if importlib.util.find_spec(package) is None}
    for package in sorted(absent):
        print(f"{package} is not installed and left out: pip install 'semisift[bench]'")
    return [name for name in chosen if not name.startswith(tuple(absent))]


# Records ------------------------------------------------------------------------------------------


def read_records(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


KEY = "what", "set", "labels", "draw", "tool"


class Records:
    """A file of records, to which those that it lacks are added."""

    def __init__(self, options):
        self.options = options
        self.done = {
            tuple(record[name] for name in KEY) for record in read_records(options.records)
        }

    def lacking(self, what, names, tools):
        """Yield settings of which the file lacks tools, and these tools."""
        labels = [int(number) for number in self.options.labels.split(",")]
        for draw, name, n_labels in product(range(self.options.draws), names, labels):
            setting = what, name, n_labels, draw
            if missing := [tool for tool in tools if (*setting, tool) not in self.done]:
                yield setting, missing

    def add(self, setting, tool, measure, *given):
        """Write what `measure` finds."""
        start = time.process_time()
        record = dict(zip(KEY, (*setting, tool), strict=True)) | {"found": measure(*given)}
        record["seconds"] = round(time.process_time() - start, 2)
        with self.options.records.open("a") as file:
            file.write(json.dumps(record) + "\n")


def find_markers(options):
    records, tools = Records(options), tools_of(options, TOOLS)
    for kind in options.kinds.split(","):
        own = [tool for tool in tools if tool not in WITH_BATCH or kind == "batch"]
        for setting, missing in records.lacking("markers", [kind], own):
            *_, n_labels, draw = setting
            counts, y, given, marks, batch = simulate(kind, n_labels, draw)
            X = counts if kind == "landscape" else normalize_counts(counts)
            for tool in missing:
                labels = y if tool in CEILING else given
                records.add(setting, tool, recall, tool, X, labels, batch, draw, marks)


def recall(tool, X, given, batch, seed, marks):
    """Return the shares of markers among the best (of each reading), and class by class."""
    orders, scores = TOOLS[tool](X, given, batch, seed)
    best = np.argsort(-scores, axis=1, kind="stable")[:, : N_BEST // len(scores)]
    of_class = np.mean([np.mean(marks[genes] == code) for code, genes in enumerate(best)])
    return {"best 20": share(orders, marks), "by class": [round(float(of_class), 4)]}


def share(orders, marks):
    return [round(float(np.mean(marks[order[:N_BEST]] >= 0)), 4) for order in np.atleast_2d(orders)]


def evaluate_genes(options):
    records, tools = Records(options), tools_of(options, ALONE)
    for name in options.sets.split(","):
        counts, y = load_some(name)
        X = normalize_counts(counts)
        for setting, missing in records.lacking("accuracy", [name], tools):
            *_, n_labels, draw = setting
            parts = split(y, FIRST_SPLIT + draw, n_labels)
            for tool in missing:
                records.add(setting, tool, accuracies, tool, X, y, *parts, draw)


def load_some(name):
    """Return some cells of a set, and the genes that ten or more of them have."""
    counts, y = load(name)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_CELLS])
    counts = sparse.csr_array(counts[rows])
    is_seen = np.asarray((counts > 0).sum(axis=0)).ravel() >= 10
    return counts[:, np.flatnonzero(is_seen)], y[rows]


def accuracies(tool, X, y, train, test, given, seed):
    """Return the accuracy, on the test cells, of a linear machine on the best genes."""
    orders, scores = TOOLS[tool](X[train], given, None, seed)
    if tool in OURS:
        orders = [*orders, readings(scores)[0]]
    found = {}
    for n_best in (20, 50):
        found[f"{n_best} genes"] = each = []
        for order in np.atleast_2d(orders):
            values = X[:, order[:n_best]].toarray()
            spread = values[train].std(axis=0)
            values = (values - values[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
            machine = SVC(kernel="linear").fit(values[train], y[train])
            each.append(round(machine.score(values[test], y[test]), 5))
    return found


# Depth --------------------------------------------------------------------------------------------

VALUES = {
    "counts as they are": lambda counts: counts,
    "log-normalised": lambda counts: log_of_shares(counts, usual_total(counts)),
    "normalize_counts": normalize_counts,
}
RANKERS = "fisher", *OURS


def rank_depth(options):
    """Rank values that hold the depth, and values that know that it is to be taken out."""
    records = Records(options)
    ways = {f"{method}, {values}": (method, values) for values in VALUES for method in RANKERS}
    for setting, missing in records.lacking("depth", ["depth", "deep"], ways):
        _, kind, n_labels, draw = setting
        counts, y, given, marks, _ = simulate(kind, n_labels, draw)
        for way in missing:
            method, values = ways[way]
            X = VALUES[values](counts)
            records.add(setting, way, with_depth, method, X, y, given, marks, draw)


def with_depth(method, X, y, given, marks, seed):
    """Return the share of markers found, and of unlabelled cells that are labelled right."""
    ranker = METHODS[method].cls(random_state=seed).fit(X, given)
    found = {"best 20": share(np.argsort(ranker.ranking_), marks)}
    if hasattr(ranker, "transduction_"):
        rows = given < 0
        found["labels"] = [round(float(np.mean(ranker.transduction_[rows] == y[rows])), 4)]
    return found


# Tables -------------------------------------------------------------------------------------------

MEASURES = {
    "markers": ("best 20", "by class"),
    "accuracy": ("20 genes", "50 genes"),
    "depth": ("best 20", "labels"),
}


def show_tables(options):
    """Print a table for each set of cells and measure: tools by labels a class."""
    records = read_records(options.records)
    for what, measures in MEASURES.items():
        own = [record for record in records if record["what"] == what]
        for name, measure in product(dict.fromkeys(record["set"] for record in own), measures):
            if measure == "by class" and name == "landscape":
                continue
            cells = settings([record for record in own if record["set"] == name], measure)
            if cells:
                show_table(f"{what}: {name}, {measure}", cells)


def settings(records, measure):
    """Return draws and values by tool and number of labels, of the better reading of others."""
    found = {}
    for record in records:
        values, tool = record["found"].get(measure, []), record["tool"]
        if tool in OURS and len(values) == 2:  # the ranking, and the markers by class
            by_class = found.setdefault((f"{tool}, by class", record["labels"]), {})
            by_class[record["draw"]] = values[1:]
            values = values[:1]
        if values:
            found.setdefault((tool, record["labels"]), {})[record["draw"]] = values
    for key, draws in found.items():
        values = np.array(list(draws.values()))
        found[key] = dict(zip(draws, values[:, values.mean(axis=0).argmax()], strict=True))
    return found


def show_table(title, cells):
    labels = sorted({n_labels for _, n_labels in cells})
    known = [each for name in TOOLS for each in (name, f"{name}, by class")]
    found = dict.fromkeys(name for name, _ in cells)
    tools = sorted(found, key=lambda name: known.index(name) if name in known else len(known))
    print(f"\n{title}\n\n| tool | " + " | ".join(map(str, labels)) + " |")
    print("| --- " * (len(labels) + 1) + "|")
    for tool in tools:
        row = [mean_and_error(cells.get((tool, n_labels), {}).values()) for n_labels in labels]
        print(f"| {tool} | " + " | ".join(row) + " |")
    for own in ("consensus", "consensus, by class"):
        row = [ahead(own, cells, n_labels) for n_labels in labels]
        if any(row):
            print(f"| *{own}, less the best other* | " + " | ".join(row) + " |")


def mean_and_error(values, sign=""):
    values = np.array(list(values))
    if len(values) < 2:
        return "".join(f"{value:{sign}.3f}" for value in values)
    return f"{values.mean():{sign}.3f} ({values.std(ddof=1) / len(values) ** 0.5:.3f})"


def ahead(own, cells, n_labels):
    """Return the paired difference of one of our rankings and the best of the other tools."""
    ours, others = cells.get((own, n_labels), {}), {}
    for (tool, labels), values in cells.items():
        if labels == n_labels and tool in PEERS | AS_CALLED:
            others[tool] = values
    if not ours or not others:
        return ""
    best = max(others, key=lambda tool: np.mean(list(others[tool].values())))
    differences = [ours[draw] - value for draw, value in others[best].items() if draw in ours]
    return f"{mean_and_error(differences, '+')} {best}"


# Time, memory and labels that are missing ---------------------------------------------------------


def show_costs(options):
    """Print processor seconds and memory of each tool, in a process of its own."""
    counts, y, given, _, _ = simulate("five", 20, 0, *COST_SHAPE)
    X = normalize_counts(counts)
    print(f"{X.shape[0]} x {X.shape[1]}, {X.nnz / np.prod(X.shape):.0%} of the values are not 0\n")
    print("| tool | seconds | memory beyond the table, MB |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        sparse.save_npz(f"{folder}/X.npz", sparse.csr_matrix(X))
        np.save(f"{folder}/given.npy", given)
        np.save(f"{folder}/y.npy", y)
        for tool in tools_of(options, ALONE | AS_CALLED | CEILING):
            labels = "y" if tool in CEILING else "given"
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, megabytes = pool.apply(cost, (tool, folder, labels))
            print(f"| {tool} | {seconds:.1f} | {megabytes:.0f} |", flush=True)


def cost(tool, folder, labels):
    """Return what a tool takes once a small table has loaded what it needs."""
    warnings.simplefilter("ignore")
    X = normalize_counts(sparse.load_npz(f"{folder}/X.npz"))  # known to hold logarithms again
    given = np.load(f"{folder}/{labels}.npy")
    TOOLS[tool](X[:300], np.where(np.arange(300) < 100, np.arange(300) % 5, -1), None, 0)
    forget_peak()
    before, start = memory_now("VmRSS"), time.process_time()
    TOOLS[tool](X, given, None, 0)
    return time.process_time() - start, memory_now("VmHWM") - before


def show_unlabelled(options):
    """Print what tools say of labels that are missing."""
    counts, _, given, marks, _ = simulate("strong", 10, 0)
    X = normalize_counts(counts)
    for name, scores_of in PEERS.items():
        try:
            orders, _ = one_against_rest(scores_of, only_labelled=False)(X, given, None, 0)
            print(f"{name}: no word; {max(share(orders, marks)):.2f} of the markers")
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}")


def show_null(options):
    """Print how often genes are significant for a class where the labels tell nothing.

    400 cells of four types that differ in 80 of 500 genes; 24 labels of four classes are given to
    cells at random.
    """
    significant = []
    for draw in range(options.draws):
        rng = np.random.default_rng([draw, 0x6E756C])
        y, marks = np.arange(400) % 4, np.where(np.arange(500) < 80, np.arange(500) % 4, -1)
        rates = np.exp(rng.normal(np.log(MEAN), MEAN_SPREAD, 500)) * rng.lognormal(0, 0.5, (400, 1))
        rates = rates * np.where(y[:, None] == marks, STRONG, 1.0)
        X = normalize_counts(
            rng.poisson(rates * rng.gamma(1 / DISPERSION, DISPERSION, rates.shape))
        )
        given = np.full(400, -1)
        given[rng.permutation(400)[:24]] = np.arange(24) % 4
        ranker = METHODS["transductive"].cls(random_state=draw).fit(X, given)
        sure = ranker.assess(X, given, n_resamples=0, n_permutations=39, fast=True)
        significant.append((sure.class_p_values <= 0.025 + 1e-12).any(axis=1))
    each, some = np.mean(significant), np.mean(np.any(significant, axis=1))
    print(f"{options.draws} draws: a gene is significant for a class in {each:.4f} of the classes,")
    print(f"for any of the four in {some:.4f} of the draws")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = {
        "markers": find_markers,
        "accuracy": evaluate_genes,
        "depth": rank_depth,
        "tables": show_tables,
        "cost": show_costs,
        "unlabelled": show_unlabelled,
        "null": show_null,
    }
    parser.add_argument("what", choices=commands)
    parser.add_argument("records", type=Path, nargs="?", default=Path("single_cell.jsonl"))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--labels", default="2,5,10,20")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--tools", default="", help="names of tools, with ; between them")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    commands[options.what](options)


if __name__ == "__main__":
    main()
