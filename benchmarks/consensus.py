"""The consensus: how its parts were chosen, how it compares, and what it costs.

    SEMISIFT_DATA=... python benchmarks/consensus.py choice [--runs 11]
    SEMISIFT_DATA=... python benchmarks/consensus.py compare SSFI_DIR ENSCLS_DIR
    SEMISIFT_DATA=... python benchmarks/consensus.py sizes [--runs 10]
    SEMISIFT_DATA=... python benchmarks/consensus.py time

`choice`: mean ranks and rank products of several methods on the first half of the data sets, judged
by a decision tree on the 10 best and a linear machine on the 20 best columns. `compare` reads two
comparisons that `semisift compare` has made, with the protocols ssfi and enscls (the commands are
in docs/results/consensus.md), and compares on the second half. `sizes`: the mean accuracy over the
best 1, 2, ... columns instead of the 10 or 20 best, against the F-score of all labels. `time`: CPU
seconds of a fit and of the assessment that `semisift rank` adds.
"""

import argparse
import time
import warnings
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from cutoffs import label_some
from protocol import judge, judge_svm, load, split
from scipy import sparse
from scipy.stats import rankdata, wilcoxon
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from semisift import METHODS, Consensus, Results
from semisift.consensus.consensus import REDUNDANCY, aggregate
from semisift.math.ranks import rank
from semisift.math.redundancy import put_copies_last

FIRST_HALF = [
    "colon",
    "khan_srbct",
    "leukemia_allaml",
    "ionosphere",
    "warppie10p",
    "wdbc",
    "dexter",
    "sc_mixology_5cl",
]
SECOND_HALF = [
    "ovarian",
    "prostata",
    "lymphoma",
    "chowdary",
    "isolet_bc",
    "sonar",
    "waveform40",
    "madelon",
    "basehock",
]
TEXT = ["dexter", "basehock"]

# Splits that no comparison uses.
FIRST_RUN = 100

CANDIDATES = ["ssfi"], ["sselect"], ["bs"], ["enscls"], ["c4"], ["lsdf"], ["fisher"]
COMBINATIONS = [
    ["ssfi", "sselect", "bs", "enscls"],
    ["ssfi", "sselect", "enscls"],
    ["ssfi", "sselect", "enscls", "c4"],
    ["ssfi", "ssfi", "sselect", "enscls", "c4"],
    ["ssfi", "ssfi", "enscls", "c4"],
    ["ssfi", "c4", "fisher"],
    ["ssfi", "lsdf"],
]

# Choice -------------------------------------------------------------------------------------------


@dataclass
class Trial:
    """One split of a data set, with the ranks by each method."""

    X: object
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    ranks: dict = field(default_factory=dict)

    @property
    def is_text(self):
        return sparse.issparse(self.X)


def make_trial(name, run, methods):
    X, y = load(name)
    train, test, given = split(y, run)
    trial = Trial(X, y, train, test)
    for method in methods:
        cls = METHODS[method].cls
        scaled = "feature_scaling" in cls._parameter_constraints and not trial.is_text
        params = {"feature_scaling": "minmax"} if scaled else {}
        scores = cls(random_state=run, **params).fit(X[train], given).scores_
        trial.ranks[method] = rankdata(np.where(np.isnan(scores), np.inf, -scores))
    return trial


def accuracies(trial, methods, aggregation):
    """Return the accuracy of the tree on 10 and of the machine on 20 columns."""
    ranks = np.array([trial.ranks[method] for method in methods])
    scores = aggregate(ranks, np.full(len(ranks), 1 / len(ranks)), aggregation)
    order = rank(scores, 0)
    if not trial.is_text:
        rows = np.asfortranarray(trial.X[trial.train], dtype=float)
        order, _ = put_copies_last(rows, order, np.ones(len(order), bool), REDUNDANCY, 20)
    Z = trial.X[:, np.argsort(order)[:20]]
    Z = Z.toarray() if trial.is_text else Z
    train, test, y = trial.train, trial.test, trial.y
    tree = DecisionTreeClassifier(random_state=0).fit(Z[train, :10], y[train])
    spread = Z[train].std(axis=0)
    W = (Z - Z[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    machine = SVC(kernel="linear").fit(W[train], y[train])
    return tree.score(Z[test, :10], y[test]), machine.score(W[test], y[test])


def choice(options):
    runs = range(FIRST_RUN, FIRST_RUN + options.runs)
    methods = {method for parts in (*CANDIDATES, *COMBINATIONS) for method in parts}
    trials = [make_trial(name, run, sorted(methods)) for name in FIRST_HALF for run in runs]
    print(f"{'':36}{'mean':>7}{'tree':>7}{'svm':>7}")
    for parts in (*CANDIDATES, *COMBINATIONS):
        for aggregation in ("product", "mean") if len(parts) > 1 else ("product",):
            found = np.array([accuracies(trial, parts, aggregation) for trial in trials])
            tree, machine = found.mean(axis=0)
            label = "+".join(parts) + (f" {aggregation}" if len(parts) > 1 else "")
            print(f"{label:36}{found.mean():7.3f}{tree:7.3f}{machine:7.3f}", flush=True)


# Compare ------------------------------------------------------------------------------------------


def read(folder):
    """Return accuracies by data set, run and method."""
    frame = Results.load(folder).to_polars()
    return frame.group_by("dataset", "run", "method").agg(pl.col("value").mean())


def is_ranked(method):
    return METHODS[method].family in ("filters", "ensembles", "consensus")


def mean_ranks(frames):
    """Return the mean rank of each filter, ensemble and the consensus over sets and protocols."""
    ranks = []
    for frame in frames:
        known = frame.filter(pl.col("method").is_in([m for m in METHODS if is_ranked(m)]))
        table = known.group_by("dataset", "method").agg(pl.col("value").mean())
        place = pl.col("value").rank(descending=True).over("dataset")
        ranks.append(table.with_columns(place.alias("rank")))
    both = pl.concat(ranks).group_by("method").agg(pl.col("rank").mean(), pl.col("value").mean())
    return both.sort("rank")


def differences(frame, other, datasets):
    """Return consensus minus another method, of shape (n_sets, n_runs)."""
    rows = frame.filter(
        pl.col("dataset").is_in(datasets) & pl.col("method").is_in(["consensus", other])
    )
    wide = rows.pivot(on="method", index=["dataset", "run"], values="value").sort("dataset", "run")
    gaps = (wide["consensus"] - wide[other]).to_numpy()
    return gaps.reshape(len(datasets), -1)


def print_differences(frame, others, datasets):
    for other in others:
        gaps = differences(frame, other, datasets)
        by_pair, by_set = wilcoxon(gaps.ravel()), wilcoxon(gaps.mean(axis=1))
        print(
            f"  {other:34}{gaps.mean():+.3f}  ahead on {(gaps.mean(axis=1) > 0).sum()} of "
            f"{len(datasets)} sets, p {by_set.pvalue:.3f} over sets, {by_pair.pvalue:.4f} over "
            f"{gaps.size} set-and-split pairs"
        )


def compare(options):
    frames = dict(zip(("ssfi", "enscls"), map(read, options.folders), strict=True))
    datasets = sorted(frames["ssfi"]["dataset"].unique())
    second_half = [name for name in datasets if name not in FIRST_HALF]
    n_first = len(datasets) - len(second_half)
    print(f"{len(datasets)} sets; the parts were chosen on {n_first} of them")
    print("Mean rank over all sets, by both protocols and by each; mean accuracy:")
    by_each = [
        dict(mean_ranks([frame]).select("method", "rank").rows()) for frame in frames.values()
    ]
    for method, place, value in mean_ranks(frames.values()).rows():
        own = "".join(f"{ranks[method]:7.2f}" for ranks in by_each)
        print(f"  {method:14}{place:6.2f}{own}{value:8.3f}")
    threshold = f"redundancy_threshold={REDUNDANCY}"
    for protocol, frame in frames.items():
        table = frame.group_by("dataset", "method").agg(pl.col("value").mean())
        shown = ["consensus", f"ssfi:{threshold}", "ssfi", "all-labels", "random"]
        print(f"\n{protocol}: mean accuracy\n  {'':18}" + "".join(f"{m[:14]:>16}" for m in shown))
        wide = table.pivot(on="method", index="dataset", values="value").sort("dataset")
        for row in wide.select("dataset", *shown).iter_rows():
            print(f"  {row[0]:18}" + "".join(f"{value:16.3f}" for value in row[1:]))
        for label, part in (
            ("all", datasets),
            ("not text", [name for name in datasets if name not in TEXT]),
        ):
            means = wide.filter(pl.col("dataset").is_in(part)).select(shown).mean().row(0)
            print(f"  {label:18}" + "".join(f"{value:16.3f}" for value in means))
        first = table.filter(pl.col("dataset").is_in(FIRST_HALF))
        known = first.filter(
            pl.col("method").is_in([m for m in METHODS if is_ranked(m) and m != "consensus"])
        )
        best = known.group_by("method").agg(pl.col("value").mean()).sort("value")["method"][-1]
        print(f"Second half ({', '.join(second_half)}): consensus minus")
        others = [best, *(f"{method}:{threshold}" for method in ("bs", "sselect", "ssfi"))]
        print_differences(frame, [*others, "all-labels"], second_half)
        print(f"  (the best single method on the first half is {best})")


# Sizes --------------------------------------------------------------------------------------------


def sizes(options):
    print(f"{'':18}{'tree, 1 to 10':>24}{'svm, 1 to 20':>26}")
    print(f"{'':18}" + 2 * f"{'consensus':>12}{'all labels':>12}  ")
    rows = []
    for name in [*FIRST_HALF, *SECOND_HALF]:
        X, y = load(name)
        found = []
        for run in range(options.runs):
            train, test, given = split(y, run)
            rankers = Consensus(random_state=run), METHODS["fisher"].cls(random_state=run)
            for ranker, labels in zip(rankers, (given, y[train]), strict=True):
                ranking = ranker.fit(X[train], labels).ranking_
                found.append(judge(ranking, X, y, train, test))
                found.append(judge_svm(ranking, X, y, train, test))
        rows.append(np.reshape(found, (-1, 2, 2)).mean(axis=0).T)
        print_sizes(name, rows[-1])
    is_text = np.isin([*FIRST_HALF, *SECOND_HALF], TEXT)
    print_sizes("not text", np.array(rows)[~is_text].mean(axis=0))
    print_sizes("all", np.mean(rows, axis=0))


def print_sizes(label, values):
    """Print accuracies of shape (judge, ranker)."""
    print(f"{label:18}" + "".join(f"{a:12.3f}{b:12.3f}  " for a, b in values), flush=True)


# Time ---------------------------------------------------------------------------------------------


def spend(options):
    print("CPU seconds on one core, three labels a class")
    for name in options.sets.split(","):
        X, y = load(name)
        given = label_some(y, 3, np.random.default_rng(0))
        start = time.process_time()
        ranker = Consensus(random_state=0).fit(X, given)
        fit = time.process_time() - start
        start = time.process_time()
        ranker.assess(X, given, n_resamples=20, n_permutations=39, light=True)
        assess = time.process_time() - start
        print(
            f"  {name:16}{X.shape[0]:7,} x {X.shape[1]:<7,} fit {fit:6.1f}  assessment "
            f"{assess:6.1f}  ({assess / fit:.1f} times)",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["choice", "compare", "sizes", "time"])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument(
        "--sets", default="colon,khan_srbct,prostata,madelon,basehock,chowdary,news20_binary"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    {"choice": choice, "compare": compare, "sizes": sizes, "time": spend}[options.part](options)


if __name__ == "__main__":
    main()
