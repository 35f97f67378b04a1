"""How fast and how accurate the co-training classifiers are: one thread, CPU seconds.

    python benchmarks/cotraining.py [--part peers] [--method co-forest] [--runs 20]

Parts, all by default:
  peers     Rel-RASCO (25 subspaces of 25 columns, 3 nearest neighbours, 10 iterations), Co-Forest
            (100 trees), CoBC and Tri-training against sslearn, the `bench` extra, on colon and
            leukemia_allaml: seconds of a fit, accuracies and their paired difference. Two thirds
            of each class train, of which three rows are labelled.
  digits    the setting of the Rel-RASCO paper on optdigits, 25 subspaces of 25 columns, 3 nearest
            neighbours, until all rows have labels: seconds of the fit and of the test predictions
            at the beginning and the end, accuracies and diversities. Half of the rows train, a
            tenth of them labelled.
  settings  accuracies of variants with six labels a class, from which the defaults were chosen
  jobs      whether the results are the same for 1, 2 and 3 threads, and twice under one seed
"""

import argparse
import time
import warnings

import numpy as np
from protocol import load, split
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from semisift import (
    RASCO,
    CoBC,
    CoForest,
    LabelledOnly,
    ProbMRMR,
    RelRASCO,
    SemiSupervisedForest,
    TriTraining,
)

MICROARRAYS = ["colon", "leukemia_allaml"]
OF_SETTINGS = ["colon", "leukemia_allaml", "lymphoma", "warppie10p", "ionosphere", "wdbc"]
SUBSPACES = {"n_members": 25, "max_features": 25}

OURS = {
    "rel-rasco": lambda seed: RelRASCO(**SUBSPACES, max_iter=10, random_state=seed),
    "co-forest": lambda seed: CoForest(random_state=seed),
    "co-bc": lambda seed: CoBC(random_state=seed),
    "tri-training": lambda seed: TriTraining(random_state=seed),
    "ss-forest": lambda seed: SemiSupervisedForest(random_state=seed),
}

VARIANTS = {
    "CoForest": lambda seed: CoForest(random_state=seed),
    "  does nothing (threshold 1)": lambda seed: CoForest(threshold=1.0, random_state=seed),
    "  10 members": lambda seed: CoForest(n_members=10, random_state=seed),
    "  hard votes": lambda seed: CoForest(voting="hard", random_state=seed),
    "CoBC": lambda seed: CoBC(random_state=seed),
    "  all features": lambda seed: CoBC(max_features=1.0, random_state=seed),
    "  sqrt features": lambda seed: CoBC(max_features="sqrt", random_state=seed),
    "  3 rounds": lambda seed: CoBC(max_iter=3, random_state=seed),
    "  30 rounds": lambda seed: CoBC(max_iter=30, random_state=seed),
    "SemiSupervisedForest": lambda seed: SemiSupervisedForest(random_state=seed),
    "  T = .005": lambda seed: SemiSupervisedForest(temperature=0.005, random_state=seed),
    "  T = .1": lambda seed: SemiSupervisedForest(temperature=0.1, random_state=seed),
    "  no airbag": lambda seed: SemiSupervisedForest(airbag=False, random_state=seed),
    "TriTraining": lambda seed: TriTraining(random_state=seed),
    "forest on the labelled rows": lambda seed: LabelledOnly(
        RandomForestClassifier(random_state=seed)
    ),
}


def sslearn_peers():
    """Return the peers; none where sslearn is not installed."""
    try:
        from sslearn import wrapper
    except ImportError:
        print("install sslearn to run against it")
        return {}
    return {
        "rel-rasco": lambda seed: wrapper.RelRasco(
            KNeighborsClassifier(3),
            max_iterations=10,
            n_estimators=SUBSPACES["n_members"],
            subspace_size=SUBSPACES["max_features"],
            random_state=seed,
            n_jobs=1,
        ),
        "co-forest": lambda seed: wrapper.CoForest(n_estimators=100, n_jobs=1, random_state=seed),
        "co-bc": lambda seed: wrapper.CoTrainingByCommittee(random_state=seed),
        "tri-training": lambda seed: wrapper.TriTraining(n_jobs=1, random_state=seed),
    }


def run(make, name, per_class, n_runs):
    """Return the accuracies and the CPU seconds of fit, over the splits."""
    X, y = load(name)
    X, y = np.asarray(X, dtype=np.float64), np.unique(y, return_inverse=True)[1]
    accuracy, seconds = [], []
    for seed in range(n_runs):
        train, test, given = split(y, seed, per_class)
        start = time.process_time()
        model = make(seed).fit(X[train], given)
        seconds.append(time.process_time() - start)
        accuracy.append((model.predict(X[test]) == y[test]).mean())
    return np.array(accuracy), np.array(seconds)


def peers(n_runs, methods):
    print(f"three labels a class, {n_runs} splits: median seconds of a fit, mean accuracy")
    print("                                 ours  sslearn  ratio    ours sslearn  difference (SE)")
    for method, make_peer in sslearn_peers().items():
        if methods and method not in methods:
            continue
        for name in MICROARRAYS:
            ours, took = run(OURS[method], name, 3, n_runs)
            theirs, peer_took = run(make_peer, name, 3, n_runs)
            fast, slow = np.median(took), np.median(peer_took)
            gain = ours - theirs
            error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
            print(
                f"{method:13} {name:16} {fast:8.4f} {slow:7.3f} {slow / fast:6.0f}"
                f" {ours.mean():7.3f} {theirs.mean():7.3f}   {gain.mean():+.3f} ({error:.3f})",
                flush=True,
            )


def digits(n_runs, methods):
    X, y = load("optdigits")
    X = np.asarray(X, dtype=np.float64)
    print("optdigits           seconds        accuracy       members        diversity")
    print("                   fit  predict  begin    end   begin    end   begin    end")
    for cls in (RASCO, RelRASCO, ProbMRMR):
        rows = []
        for seed in range(min(n_runs, 3)):
            order = np.random.default_rng(seed).permutation(len(y))
            train, test = order[: len(y) // 2], order[len(y) // 2 :]
            given = np.where(np.arange(len(train)) < len(y) // 20, y[train], -1)
            model = cls(**SUBSPACES, max_iter=None, random_state=seed)
            start = time.process_time()
            model.fit(X[train], given)
            fitted = time.process_time()
            begin, end = model.evaluate_committee(X[test], y[test])
            pairs = np.column_stack([begin, end]).ravel()
            rows.append([fitted - start, time.process_time() - fitted, *pairs])
        fit, predict, *qualities = np.mean(rows, axis=0)
        shown = "  ".join(f"{value:.3f}" for value in qualities)
        print(f"{cls.__name__:16} {fit:6.2f} {predict:7.2f}   {shown}", flush=True)


def settings(n_runs, methods):
    print("accuracy with six labels a class:", ", ".join(OF_SETTINGS), "and their mean; seconds")
    for variant, make in VARIANTS.items():
        runs = [run(make, name, 6, min(n_runs, 10)) for name in OF_SETTINGS]
        accuracy = [part.mean() for part, _ in runs]
        took = sum(seconds.sum() for _, seconds in runs)
        cells = " ".join(f"{value:.3f}" for value in [*accuracy, np.mean(accuracy)])
        print(f"{variant:30} {cells} {took:8.2f}", flush=True)


def jobs(n_runs, methods):
    print("same probabilities for n_jobs 1, 1, 2 and 3")
    for name in MICROARRAYS:
        X, y = load(name)
        train, test, given = split(y, 0, 6)
        for method, make in OURS.items():
            answers = [
                make(0).set_params(n_jobs=n).fit(X[train], given).predict_proba(X[test])
                for n in (1, 1, 2, 3)
            ]
            same = all(np.array_equal(answers[0], other) for other in answers[1:])
            print(f"{name:16} {method:13} {same}", flush=True)


PARTS = {"peers": peers, "digits": digits, "settings": settings, "jobs": jobs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--method", action="append", choices=OURS, help="of the part peers")
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of sslearn
    with threadpool_limits(1):
        for part in arguments.part or PARTS:
            print(f"== {part}", flush=True)
            PARTS[part](arguments.runs, arguments.method)


if __name__ == "__main__":
    main()
