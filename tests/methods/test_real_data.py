"""Committees on real data; skipped where SEMISIFT_DATA does not name the folder."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import spearmanr

from semisift import SEFR, SSFI, ForestImportance
from tests.reference.sklearn_ssfi import sklearn_ssfi


def hide(y, per_class, seed=0):
    """Keep a few labels of each class."""
    rng = np.random.default_rng(seed)
    given = np.full(len(y), -1)
    for label in np.unique(y):
        given[rng.permutation(np.flatnonzero(y == label))[:per_class]] = label
    return given


@pytest.mark.parametrize("name", ["colon", "warppie10p", "sonar"])
@pytest.mark.parametrize("method", [SSFI, SEFR, ForestImportance])
def test_two_threads_give_the_same_bits(name, method, load_dataset):
    X, y = load_dataset(name)
    given = hide(y, 3)
    one = method(n_members=400, n_jobs=1).fit(X, given)
    two = method(n_members=400, n_jobs=2).fit(X, given)
    assert_array_equal(one.scores_, two.scores_)
    assert_array_equal(one.ranking_, two.ranking_)


@pytest.mark.parametrize("method", [SSFI, pytest.param(SEFR, marks=pytest.mark.nightly)])
def test_text_gives_the_same_bits_sparse_and_dense(method, load_dataset):
    X, y = load_dataset("basehock")
    given = hide(y, 5)
    sparse = method(n_members=300).fit(X, given)
    dense = method(n_members=300).fit(X.toarray(), given)
    assert_array_equal(sparse.scores_, dense.scores_)


@pytest.mark.parametrize("name", ["sonar", pytest.param("ionosphere", marks=pytest.mark.nightly)])
def test_the_printed_method_agrees_with_scikit_learn_trees(name, load_dataset):
    """Other random draws, so the agreement is that of two runs of the same method."""
    X, y = load_dataset(name)
    given = hide(y, 6)
    ours = [
        SSFI(n_members=300, variant="paper", random_state=seed).fit(X, given).scores_
        for seed in range(6)
    ]
    ours = np.nan_to_num(ours)  # a constant column has no score
    theirs = np.mean([sklearn_ssfi(X, given, n_members=300, seed=s)[0] for s in range(2)], axis=0)
    between_ours = spearmanr(ours[:2].mean(axis=0), ours[2:4].mean(axis=0)).statistic
    across = spearmanr(ours[4:].mean(axis=0), theirs).statistic
    assert across > between_ours - 0.15
    assert np.sum(theirs) == pytest.approx(np.mean(ours, axis=0).sum(), rel=0.15)


def test_informative_columns_of_madelon(load_dataset):
    """Of its 500 columns, 20 are informative: those that the other columns explain."""
    X, y = load_dataset("madelon")
    correlation = np.corrcoef(X.T.astype(float))
    explained = 1 - 1 / np.diag(np.linalg.inv(correlation))
    informative = explained > 0.9
    assert informative.sum() == 20
    best = SSFI(random_state=0).fit(X, hide(y, 30)).ranking_ <= 20
    assert (best & informative).sum() >= 4  # by chance 0.8


def test_noise_columns_of_waveform_come_last(load_dataset):
    X, y = load_dataset("waveform40")
    ranking = SSFI(random_state=0).fit(X, hide(y, 5)).ranking_
    assert np.median(ranking[21:]) > np.median(ranking[3:18]) + 10


def test_labels_given_to_easy_rows_are_right(load_dataset):
    X, y = load_dataset("wdbc")
    given = hide(y, 10)
    ranker = SSFI(random_state=0).fit(X, given)
    unlabelled = given < 0
    sure = unlabelled & (ranker.confidence_ >= np.median(ranker.confidence_[unlabelled]))
    right = ranker.transduction_ == y
    assert right[unlabelled].mean() > 0.8
    assert right[sure].mean() > right[unlabelled].mean()
