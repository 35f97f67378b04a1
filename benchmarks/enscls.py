"""How fast EnsCLS and CLS are, and how accurate: one process, one thread, ratios inside one run.

    python benchmarks/enscls.py [--part race] [--part accuracy] ... [--sets colon,madelon]

Parts, all by default:
  race      EnsCLS against the straightforward version (tests/reference/sklearn_enscls.py: one
            neighbour graph of scikit-learn and sparse products a member; some members, scaled)
  single    CLS and CSFS on chowdary and news20_binary, EnsCLS on news20_binary; seconds, memory
  growth    seconds of CLS and EnsCLS, with and without a map, over unlabelled rows and columns
  som       the batch map against MiniSom, seconds and quantisation error
  accuracy  protocol of the EnsCLS paper (three labels a class, linear SVM on z-scored features
            trained on all training rows, mean over the top 1 to 20): aggregation, balance, and the
            redundancy threshold .7
"""

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from protocol import evaluate_svm, load, split
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from semisift import CLS, CSFS, EnsCLS
from semisift.base._training_data import TrainingData
from semisift.ensemble._som import batch_som, quantisation_error
from semisift.ensemble.enscls import aggregate, draw_samples, make_context, run_kernel
from semisift.filters._constrained_laplacian import N_CANNOT_LINKS, combine
from semisift.parallel import committee_size
from semisift.utils._redundancy import put_copies_last, rank

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.reference.sklearn_enscls import sklearn_enscls

RACE = ["colon", "leukemia_allaml", "lymphoma", "warppie10p", "basehock", "madelon"]
REDUNDANT = ["warppie10p", "lymphoma", "leukemia_allaml", "prostata", "colon"]
ACCURACY = [
    *REDUNDANT, "colon_alon", "khan_srbct", "chowdary", "ovarian", "isolet_bc", "basehock",
    "classic3_3000x273", "dexter", "madelon",
]  # fmt: skip
SOME_MEMBERS = 100
RUNS = 10


def seconds(function, repeats=1):
    """Return the least CPU time of several calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def training_part(name, seed=0):
    X, y = load(name)
    train, _, given = split(y, seed)
    return X[train], given


def race(sets):
    print("set, straightforward s, EnsCLS s, ratio, rank correlation on the members compared")
    for name in sets or RACE:
        X, y = training_part(name)
        p = X.shape[1]
        size, some = committee_size(p), min(SOME_MEMBERS, committee_size(p))
        kept = {}

        def straightforward(X=X, y=y, some=some, p=p, kept=kept):
            n_drawn = round(np.sqrt(p))
            kept["scores"] = sklearn_enscls(X, y, seed=0, n_members=some, n_drawn=n_drawn)

        slow = seconds(straightforward) * size / some
        fast = seconds(lambda X=X, y=y: EnsCLS().fit(X, y), repeats=3)
        ours, theirs = EnsCLS(n_members=some).fit(X, y).scores_, kept["scores"]
        known = ~np.isnan(ours) & ~np.isnan(theirs)
        same = spearmanr(ours[known], theirs[known])[0]
        print(f"{name:16} {slow:8.2f} {fast:8.3f} {slow / fast:7.1f} {same:8.5f}", flush=True)


def single(sets):
    print("method, set, seconds (CPU), largest memory of the process in GB")
    cases = [
        ("CLS", "chowdary"), ("CSFS", "chowdary"), ("EnsCLS", "chowdary"),
        ("CLS", "news20_binary"), ("CSFS", "news20_binary"), ("EnsCLS", "news20_binary"),
    ]  # fmt: skip
    for method, name in cases:
        if sets and name not in sets:
            continue
        # a process of its own, for its memory
        command = [sys.executable, __file__, "--one", method, name]
        subprocess.run(command, check=True, env=os.environ)


def one(method, name):
    X, y = training_part(name) if name == "chowdary" else some_labels(*load(name))
    ranker = {"CLS": CLS, "CSFS": CSFS, "EnsCLS": EnsCLS}[method]()
    took = seconds(lambda: ranker.fit(X, y))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{method:8} {name:16} {took:8.2f} {memory:6.2f}", flush=True)


def some_labels(X, y, per_class=3):
    given = np.full(len(y), -1)
    for label in np.unique(y):
        given[np.flatnonzero(y == label)[:per_class]] = label
    return X, given


def growth(sets):
    print("unlabelled rows, columns: seconds of CLS, CLS with a map, EnsCLS of 20 members with all")
    print("unlabelled rows, with a map, and with at most 2,000 unlabelled rows")
    rng = np.random.default_rng(0)
    grid = [(n, 500) for n in (500, 1000, 2000, 5000, 10000, 20000, 50000)]
    grid += [(1000, p) for p in (1000, 2000, 5000, 10000, 20000)]
    for n, p in grid:
        y = np.full(n + 6, -1)
        y[:6] = np.arange(6) % 2
        X = rng.normal(size=(n + 6, p))
        X[:, 0] += 3 * (np.arange(n + 6) % 2)
        some = {"n_members": 20, "random_state": 0}
        rankers = [
            CLS(), CLS(compress="som"), EnsCLS(**some, max_unlabelled=None),
            EnsCLS(**some, compress="som"), EnsCLS(**some),
        ]  # fmt: skip
        times = [seconds(lambda ranker=ranker, X=X, y=y: ranker.fit(X, y)) for ranker in rankers]
        print(f"{n:6} {p:6} " + " ".join(f"{t:8.2f}" for t in times), flush=True)


def som(sets):
    from minisom import MiniSom

    print("rows, columns: MiniSom s, batch s, ratio, quantisation errors")
    for name, width in (("madelon", 22), ("waveform40", 40), ("optdigits", 64)):
        X, _ = load(name)
        X = np.asarray(X[:, :width], dtype=np.float64)[:2000]
        side = round(np.sqrt(5 * np.sqrt(len(X))))
        other = MiniSom(side, side, X.shape[1], sigma=side / 2, random_seed=0)
        other.pca_weights_init(X)
        slow = seconds(lambda other=other, X=X: other.train_batch(X, 70 * len(X)))  # 70 epochs
        kept = {}
        fast = seconds(lambda X=X, kept=kept: kept.update(book=batch_som(X)), repeats=3)
        errors = other.quantization_error(X), quantisation_error(X, kept["book"].units)
        print(
            f"{name:12} {X.shape} {slow:7.2f} {fast:7.3f} {slow / fast:6.1f} "
            f"{errors[0]:9.3f} {errors[1]:9.3f}",
            flush=True,
        )


def rankings(data):
    """Rankings of all kinds of aggregation from one run of the members."""
    setting = make_context(EnsCLS(), data)
    size = committee_size(data.n_features)
    parts = []
    for start in range(0, size, 1024):
        sample = draw_samples((start, min(start + 1024, size)), setting)
        parts.append((sample.features, *run_kernel(setting.X, setting.unit, sample, setting)))
    features, sums, totals = (np.concatenate(part) for part in zip(*parts, strict=True))
    taken = totals[:, N_CANNOT_LINKS] > 0
    for balance in (None, 1.0):
        scores = combine(sums, totals, balance)
        for how in ("draws", "rank", "zscore", "printed"):
            score, _ = aggregate(features[taken], scores[taken], data.n_features, how, len(taken))
            score[data.constant] = np.nan
            yield f"{how} {'balanced' if balance else 'plain'}", rank(-score, data.seed)
    printed_mean = EnsCLS(mean="plain", random_state=data.seed)
    yield "default, plain mean", rank(printed_mean._score(data), data.seed)


def accuracy(sets):
    for name in sets or ACCURACY:
        X, y = load(name)
        found = {}
        for run in range(RUNS):
            train, test, given = split(y, run)
            data = TrainingData.build(X[train], given, seed=run)
            for kind, ranking in rankings(data):
                sparse_order, _ = put_copies_last(data.X, ranking, ~data.constant, 0.7, 20)
                for label, order in ((kind, ranking), (kind + " .7", sparse_order)):
                    found.setdefault(label, []).append(evaluate_svm(order, X, y, train, test))
        print(name)
        for label, values in found.items():
            error = np.std(values, ddof=1) / np.sqrt(RUNS)
            print(f"    {label:20} {np.mean(values):.3f} (SE {error:.3f})", flush=True)


if __name__ == "__main__":
    parts = {f.__name__: f for f in (race, single, growth, som, accuracy)}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", action="append", choices=parts)
    parser.add_argument("--sets", default="")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if options.one:
            one(*options.one)
        else:
            for part in options.part or parts:
                print(f"--- {part}")
                parts[part]([name for name in options.sets.split(",") if name])
