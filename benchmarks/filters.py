"""How fast the filters are: two of them against other packages, then every filter.

    python benchmarks/filters.py [--part laplacian] [--part mrmr] [--part wide] [--part text]
                                 [--methods lsdf,c4]

Parts, all by default: laplacian (CPU seconds against scikit-feature, package skfeature-chappers,
the least of five runs or more, in turns: our whole `fit`, and its graph and scores alone, without
the checks of X and the ranking; and the largest relative difference from the definition), mrmr
(20 columns picked by MRMR and, by canonical correlations instead of mutual information, by fastcan,
the fastest selector of this kind that we know; all rows labelled, whole fits in turns), wide
(every filter on chowdary), text (every filter on 20 Newsgroups, with the peak of the memory).
One thread. A filter's time is that of `fit`, the neighbour graph included.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from protocol import load
from scipy import sparse
from scipy.spatial.distance import cdist
from ssfi import forget_peak, memory_now, seconds
from threadpoolctl import threadpool_limits

from semisift import METHODS, MRMR, LaplacianScore
from semisift.base._training_data import TrainingData

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.reference.graph_filters import shares

DENSE = ["colon", "chowdary", "lymphoma", "warppie10p", "isolet_bc", "madelon", "waveform40"]
SPARSE = ["basehock", "dexter"]
PICKED = [
    "colon",
    "chowdary",
    "leukemia_allaml",
    "khan_srbct",
    "lymphoma",
    "warppie10p",
    "madelon",
    "prostata",
    "ovarian",
    "basehock",
]
FILTERS = [name for name, method in METHODS.items() if method.family == "filters"]


def by_definition(X, k=10):
    """Return the Laplacian scores from a full matrix of weights, column after column."""
    d2 = cdist(X, X, "sqeuclidean")
    given = shares(d2, k)
    n = len(X)
    S = (given + given.T) / 2 * np.exp(-d2 / (d2.sum() / (n * (n - 1))))
    degrees = S.sum(axis=1)
    scores = np.full(X.shape[1], np.nan)
    for j, f in enumerate(X.T):
        f = f - degrees @ f / degrees.sum()
        if f.any():
            i, other = np.nonzero(S)
            scores[j] = (S[i, other] * (f[i] - f[other]) ** 2).sum() / 2 / (degrees @ f**2)
    return scores


def scikit_feature(X):
    from skfeature.function.similarity_based.lap_score import lap_score
    from skfeature.utility.construct_W import construct_W

    t = np.sqrt(X.var(axis=0).sum())  # so that 2 t^2 is about the mean squared distance
    W = construct_W(
        X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=10, t=t
    )
    return lap_score(X, mode="index", W=W)


def score(X, labels):
    return LaplacianScore()._score(TrainingData(X, labels))


def in_turns(*tasks):
    """Return the least time of each task; they run in turns, so that a busy machine slows all."""
    times = []
    while len(times) < 5 or np.sum(times) < 2:
        times.append([seconds(task, repeats=1) for task in tasks])
    return np.min(times, axis=0)


def laplacian(methods):
    try:
        import skfeature  # noqa: F401
    except ImportError:
        print("laplacian: install skfeature-chappers to run this part")
        return
    print(
        f"{'Laplacian score':18}{'rows':>6}{'columns':>8}{'theirs':>9}{'fit':>9}{'ratio':>7}",
        end="",
    )
    print(f"{'graph, score':>14}{'ratio':>7}{'from definition':>17}")
    for name in DENSE + SPARSE:
        X, _ = load(name)
        dense = (X.toarray() if sparse.issparse(X) else X).astype(np.float64)
        clean = TrainingData.build(X)
        theirs, fit, alone = in_turns(
            lambda dense=dense: scikit_feature(dense),
            lambda X=X: LaplacianScore().fit(X),
            lambda clean=clean: score(clean.X, clean.labels),
        )
        error = np.nan
        if len(dense) <= 700:
            expected = by_definition(dense)
            error = np.nanmax(
                np.abs(LaplacianScore().fit(X).scores_ + expected) / expected.clip(1e-9)
            )
        print(
            f"{name:18}{X.shape[0]:6}{X.shape[1]:8}{theirs:9.3f}{fit:9.3f}{theirs / fit:7.1f}"
            f"{alone:14.3f}{theirs / alone:7.1f}{error:17.1e}",
            flush=True,
        )


def mrmr(methods):
    try:
        from fastcan import FastCan
    except ImportError:
        print("mrmr: install fastcan to run this part")
        return
    print(f"{'MRMR, 20 picks':18}{'rows':>6}{'columns':>8}{'fastcan':>9}{'fit':>9}{'ratio':>7}")
    for name in PICKED:
        X, y = load(name)
        X = (X.toarray() if sparse.issparse(X) else X).astype(np.float64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs, ours = in_turns(
                lambda X=X, y=y: FastCan(20, verbose=0).fit(X, y),
                lambda X=X, y=y: MRMR(n_features_to_select=20).fit(X, y),
            )
        print(
            f"{name:18}{X.shape[0]:6}{X.shape[1]:8}{theirs:9.4f}{ours:9.4f}{theirs / ours:7.2f}",
            flush=True,
        )


def each(name, methods):
    X, y = load(name)
    rng = np.random.default_rng(0)
    given = np.full(len(y), -1)
    for label in np.unique(y):
        given[rng.permutation(np.flatnonzero(y == label))[:3]] = label
    print(f"{name}: {X.shape[0]} rows, {X.shape[1]} columns, 3 labels a class")
    print(f"{'method':14}{'seconds':>9}{'CPU':>9}{'memory, MB: extra':>19}{'in all':>8}")
    for method in methods:
        forget_peak()
        before = memory_now("VmRSS")
        start, cpu = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            METHODS[method].cls().fit(X, given)
        taken, cpu = time.perf_counter() - start, time.process_time() - cpu
        peak = memory_now("VmHWM")
        print(f"{method:14}{taken:9.2f}{cpu:9.2f}{peak - before:19.0f}{peak:8.0f}", flush=True)


PARTS = {
    "laplacian": laplacian,
    "mrmr": mrmr,
    "wide": lambda methods: each("chowdary", methods),
    "text": lambda methods: each("news20_binary", methods),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--methods", default=",".join(FILTERS))
    arguments = parser.parse_args()
    with threadpool_limits(1):
        for part in arguments.part or PARTS:
            PARTS[part](arguments.methods.split(","))


if __name__ == "__main__":
    main()
