"""How fast the forward searches are: against scikit-learn and mlxtend, and FW-SemiFS as a whole.

    python benchmarks/wrappers.py [--part race] [--part fw] [--part tree] [--part linear]
        [--picks 10]

Parts, all by default: race (SequentialForward with naive Bayes and 5 nearest neighbours against
scikit-learn's SequentialFeatureSelector and mlxtend's SequentialFeatureSelector on colon, all 62
rows labelled, the same folds; whether they pick the same columns, and in the same order; this takes
half an hour), fw (FW-SemiFS with three labels a class: all seconds, those for each added column,
and the ratio to the figure of the paper written as loops, tests/reference/wrappers.py, on a few
columns), tree (FW-SemiFS with a decision tree), linear (SequentialForward with ridge and logistic
regression, all columns at once against one fit for each of a few columns, and whether the picks are
the same). CPU seconds, one thread.
"""

import argparse
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
from protocol import load
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from semisift import FWSemiFS, NoUnlabelledDataWarning, SequentialForward
from semisift.wrapper._forward import PICK_STREAM
from semisift.wrapper.fw_semifs import DRAW_STREAM, draw_weighted

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.reference.wrappers import fw_semifs

CLASSIFIERS = {"naive Bayes": GaussianNB(), "5 neighbours": KNeighborsClassifier()}
FOLDS = StratifiedKFold(5)
MIN = 20  # columns for the slow reference


def timed(work, *arguments):
    """Return CPU seconds and what the work gives."""
    start = time.process_time()
    done = work(*arguments)
    return time.process_time() - start, done


def by_mlxtend(X, y, estimator, n_picks):
    """Return the columns in the order in which mlxtend adds them."""
    from mlxtend.feature_selection import SequentialFeatureSelector as Selector

    selector = Selector(
        estimator, k_features=n_picks, floating=False, scoring="accuracy", cv=FOLDS
    ).fit(X, y)
    sets = [set(selector.subsets_[n]["feature_idx"]) for n in range(1, n_picks + 1)]
    return [*sets[0], *((now - before).pop() for before, now in pairwise(sets))]


def by_scikit_learn(X, y, estimator, n_picks):
    """Return the columns that scikit-learn adds; it does not tell their order."""
    selector = SequentialFeatureSelector(estimator, n_features_to_select=n_picks, cv=FOLDS)
    return np.flatnonzero(selector.fit(X, y).get_support()).tolist()


def race(n_picks):
    X, y = load("colon")
    X = X.astype(np.float64)
    print(f"colon, {n_picks} of {X.shape[1]} columns by {FOLDS}")
    print(f"{'learner':14}{'peer':14}{'theirs':>9}{'ours':>8}{'ratio':>8}  same columns, order")
    for name, estimator in CLASSIFIERS.items():
        ranker = SequentialForward(
            n_features_to_select=n_picks, estimator=estimator, cv=FOLDS, tie_break="index"
        )
        ours = min(timed(ranker.fit, X, y)[0] for _ in range(3))
        picked = ranker.picked_.tolist()
        for peer, work in (("scikit-learn", by_scikit_learn), ("mlxtend", by_mlxtend)):
            try:
                theirs, found = timed(work, X, y, estimator, n_picks)
            except ImportError:
                print(f"{name:14}install {peer} to run against it")
                continue
            order = found == picked if peer == "mlxtend" else "-"
            same = sorted(found) == sorted(picked)
            print(
                f"{name:14}{peer:14}{theirs:9.1f}{ours:8.2f}{theirs / ours:8.0f}  {same}, {order}",
                flush=True,
            )


def few_labels(y, per_class=3):
    rng = np.random.default_rng(0)
    given = np.full(len(y), -1)
    for label in np.unique(y):
        given[rng.permutation(np.flatnonzero(y == label))[:per_class]] = label
    return given


def fw(n_picks):
    for name in ("colon", "colon_alon"):
        X, y = load(name)
        given = few_labels(y)
        print(f"{name}: FW-SemiFS, 6 labels, {n_picks} columns")
        print(f"{'learner':14}{'seconds':>9}{'a column':>10}{f'{MIN} columns':>12}", end="")
        print(f"{'plain':>8}{'ratio':>7}")
        for learner, estimator in CLASSIFIERS.items():
            # the first five are picked on the labelled rows alone
            begun, _ = timed(FWSemiFS(n_features_to_select=5, estimator=estimator).fit, X, given)
            ranker = FWSemiFS(n_features_to_select=n_picks, estimator=estimator)
            total, _ = timed(ranker.fit, X, given)
            few = X[:, :MIN].astype(np.float64)
            ours, ranker = timed(
                FWSemiFS(n_features_to_select=6, estimator=estimator).fit, few, given
            )
            plain, found = timed(plain_fw, few, given, estimator)
            assert found == ranker.picked_.tolist(), (found, ranker.picked_)
            print(
                f"{learner:14}{total:9.2f}{(total - begun) / (n_picks - 5):10.2f}{ours:12.3f}"
                f"{plain:8.1f}{plain / ours:7.0f}",
                flush=True,
            )


def plain_fw(X, given, estimator):
    """Return six columns, the first five from the labelled rows, by the slow reference."""
    unlabelled = np.flatnonzero(given < 0)
    chance = np.random.default_rng([0, PICK_STREAM]).permutation(X.shape[1])

    def draw(number):
        rng = np.random.default_rng([0, DRAW_STREAM, number])
        even = np.ones(len(unlabelled))
        return [unlabelled[draw_weighted(rng, even, round(len(even) / 2))] for _ in range(10)]

    return fw_semifs(X, given, estimator, 6, chance, draw)


def tree(n_picks):
    for name in ("colon", "colon_alon"):
        X, y = load(name)
        ranker = FWSemiFS(n_features_to_select=n_picks, estimator=DecisionTreeClassifier())
        seconds, _ = timed(ranker.fit, X, few_labels(y))
        print(
            f"{name}: FW-SemiFS with a decision tree, 6 labels, {n_picks} columns: {seconds:.1f} s",
            flush=True,
        )


class FittedRidge(RidgeClassifier):
    """Not exactly a RidgeClassifier, so it is fitted for each column."""


class FittedLogistic(LogisticRegression):
    """Likewise."""


def linear(n_picks):
    X, y = load("colon")
    few = X[:, :MIN].astype(np.float64)
    n_picks = min(n_picks, MIN)
    print(f"colon, {n_picks} of {MIN} and of {X.shape[1]} columns by {FOLDS}")
    print(f"{'learner':12}{'one by one':>12}{'at once':>10}{'ratio':>7}{'all columns':>13}", end="")
    print("  same picks")
    for name, one_by_one, at_once in (
        ("ridge", FittedRidge(), RidgeClassifier()),
        ("logistic", FittedLogistic(), LogisticRegression()),
    ):
        rankers = [
            SequentialForward(n_features_to_select=n_picks, estimator=estimator, cv=FOLDS)
            for estimator in (one_by_one, at_once)
        ]
        slow, quick = (timed(ranker.fit, few, y)[0] for ranker in rankers)
        same = rankers[0].picked_.tolist() == rankers[1].picked_.tolist()
        total, _ = timed(rankers[1].fit, X, y)
        print(
            f"{name:12}{slow:12.2f}{quick:10.3f}{slow / quick:7.0f}{total:13.2f}  {same}",
            flush=True,
        )


PARTS = {"race": race, "fw": fw, "tree": tree, "linear": linear}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--picks", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", NoUnlabelledDataWarning)
    with threadpool_limits(1):
        for part in arguments.part or PARTS:
            PARTS[part](arguments.picks)


if __name__ == "__main__":
    main()
