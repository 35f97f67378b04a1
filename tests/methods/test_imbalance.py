"""Few labels of one class, many of the other, and rows of a class that nobody labelled.

One column of 20 tells the two labelled classes apart by five standard deviations. Run as a program,
``python -m tests.methods.test_imbalance``, it prints the median rank of that column over ten draws,
which docs/studies.md shows.
"""

import warnings

import numpy as np
import pytest

from semisift import METHODS
from tests.methods.test_common import assert_is_ranking, make, spread

AMONG_THE_BEST = 5

# Who misses the column, and why. Variance uses no labels; the others follow from what they measure.
MISSES = {
    # of six labelled rows, five of them alike: nothing to tell from chance by counts (semi-mim,
    # semi-jmi) or by accuracies (the wrappers); the forest's only row of a class is out of bag
    # where no tree knows the class
    "5 against 1": {"semi-mim", "semi-jmi", "sffs", "fw-semifs", "en-semifs", "forest"},
    "200 against 1": {"variance", "forest"},
    "a class without labels": set(),
}


def draw(case, seed):
    """Return rows and labels; column 0 is the strong one, columns 5 to 7 are of a third class."""
    rng = np.random.default_rng(seed)
    if case == "200 against 1":
        y_true, n_labelled = (np.arange(300) >= 290).astype(int), (200, 1)
    elif case == "5 against 1":
        y_true, n_labelled = np.arange(240) % 2, (5, 1)
    else:
        y_true, n_labelled = np.arange(240) % 3, (5, 5)
    X = rng.normal(size=(len(y_true), 20))
    X[y_true == 1, 0] += 5
    X[y_true == 2, 5:8] += 6
    y = np.full(len(y_true), -1)
    for code, n in enumerate(n_labelled):
        y[np.flatnonzero(y_true == code)[:n]] = code
    return X, y


def fit(name, case, seed):
    X, y = draw(case, seed)
    return make(name, n_members=100, n_features_to_select=5).fit(X, y)


@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
@pytest.mark.filterwarnings("ignore::semisift.NovelClassWarning")
@pytest.mark.parametrize("case", MISSES)
@pytest.mark.parametrize("name", spread(METHODS))
def test_a_strong_column_is_among_the_best(name, case):
    rankers = [fit(name, case, seed) for seed in range(3)]
    for ranker in rankers:
        assert_is_ranking(ranker, 20)
        assert np.isfinite(ranker.scores_).all()
    found = np.median([ranker.ranking_[0] for ranker in rankers]) <= AMONG_THE_BEST
    assert found or name in MISSES[case]


FILTERS = [name for name in METHODS if METHODS[name].family == "filters" and name != "variance"]


@pytest.mark.parametrize("name", spread(FILTERS))
def test_one_label_against_a_thousand(name):
    rng = np.random.default_rng(0)
    y_true = (np.arange(1100) >= 1080).astype(int)
    X = rng.normal(size=(1100, 10))
    X[:, 0] += 5 * y_true
    y = np.where(np.arange(1100) < 1000, 0, -1)
    y[-1] = 1
    ranker = make(name, n_features_to_select=5).fit(X, y)
    assert np.isfinite(ranker.scores_).all()
    assert ranker.ranking_[0] <= 3


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(f"| method | {' | '.join(MISSES)} |\n| --- | --- | --- | --- |")
    for name in METHODS:
        ranks = [[fit(name, case, seed).ranking_[0] for seed in range(10)] for case in MISSES]
        print(f"| {name} | {' | '.join(f'{np.median(each):g}' for each in ranks)} |", flush=True)
