"""Rows of a class that nobody labelled."""

import numpy as np
import pytest

from semisift import Consensus, TransductiveClassifier, TransductiveScore
from semisift.base._training_data import TrainingData
from semisift.exceptions import NovelClassWarning
from semisift.transduction._components import components
from semisift.transduction._novelty import find_novel_rows


def study(n_classes, seed=1, n=300, p=30):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    means = np.eye(p)[:n_classes] * [[6.0], [6.0], [9.0]][:n_classes]
    X = rng.normal(size=(n, p)) + means[truth]
    y = np.where((np.arange(n) < 30) & (truth < 2), truth, -1)
    return X, y, truth


def test_a_class_without_a_label_is_told():
    X, y, truth = study(3)
    with pytest.warns(NovelClassWarning, match=r"About 3\d% of the unlabelled rows fit no class"):
        ranker = TransductiveScore().fit(X, y)
    assert np.mean(truth[ranker.novel_rows_] == 2) > 0.95
    assert len(ranker.novel_rows_) > 90
    with pytest.warns(NovelClassWarning, match=f"row {ranker.novel_rows_[0]}"):
        model = TransductiveClassifier().fit(X, y)
    assert model.novel_rows_.tolist() == ranker.novel_rows_.tolist()


def test_most_such_classes_are_found():
    n_found = 0
    for seed in range(10):
        X, y, truth = study(3, seed)
        data = TrainingData.build(X, y)
        rows = find_novel_rows(components(data), data.labels)
        n_found += len(rows) > 90 and np.mean(truth[rows] == 2) > 0.95
    assert n_found >= 8


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_said_where_all_classes_are_labelled(seed):
    X, y, _ = study(2, seed)
    assert len(TransductiveScore().fit(X, y).novel_rows_) == 0
    assert (
        len(
            TransductiveScore().fit(np.random.default_rng(seed).normal(size=X.shape), y).novel_rows_
        )
        == 0
    )


def test_rows_are_those_of_the_table_where_a_sample_stands_for_all():
    X, y, truth = study(3)
    with pytest.warns(NovelClassWarning):
        ranker = TransductiveScore(max_unlabelled=200).fit(X, y)
    assert np.mean(truth[ranker.novel_rows_] == 2) > 0.95


def test_a_consensus_tells_it_too():
    X, y, _ = study(3)
    with pytest.warns(NovelClassWarning):
        Consensus(n_members=20).fit(X, y)
