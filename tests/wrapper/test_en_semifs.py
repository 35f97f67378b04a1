"""EN-SemiFS: which rows an ensemble is sure about, and the search on them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import ENSemiFS, SequentialForward
from semisift.utils._random import Purpose, draw_below
from semisift.wrapper import en_semifs
from semisift.wrapper.en_semifs import ROW_STREAM, choose_sure
from tests.conftest import make_data, needs_callbacks
from tests.reference.wrappers import sffs
from tests.searches import SlowNB, Stop, chance


def choose(votes, class_counts, enough=8, min_per_class=1, seed=0):
    rng = np.random.default_rng(seed)
    return choose_sure(np.array(votes), np.array(class_counts), enough, min_per_class, rng).tolist()


def test_sure_rows_keep_the_ratio_of_the_classes():
    votes = [[10, 0]] * 6 + [[1, 9]] * 2 + [[6, 4]] * 3
    assert choose(votes, [4, 2])[-2:] == [6, 7]
    assert len(choose(votes, [4, 2])) == 6
    assert len(choose(votes, [3, 3])) == 4
    # a quarter of two rows is none, but one row of a predicted class is used in any case
    assert len(choose(votes, [1, 3])) == 3
    assert len(choose(votes, [1, 3], min_per_class=0)) == 2


def test_rows_with_the_most_votes_come_first():
    votes = [[8, 2], [10, 0], [9, 1], [2, 8], [7, 3]]
    assert choose(votes, [1, 1]) == [1, 3]
    assert choose(votes, [2, 1]) == [1, 2, 3]
    chosen = {choose([[9, 1]] * 4 + [[0, 10]], [1, 1], seed=seed)[0] for seed in range(20)}
    assert chosen == {0, 1, 2, 3}


def test_a_class_that_nobody_is_sure_of():
    votes = [[10, 0]] * 5 + [[4, 6], [3, 7]]
    assert choose(votes, [1, 1])[1:] == [6]
    # without a minimum it does not limit the others, nor does a class that nobody predicts
    assert choose(votes, [1, 1], min_per_class=0) == [0, 1, 2, 3, 4]
    assert choose([[10, 0, 0]] * 5, [1, 1, 1]) == [0, 1, 2, 3, 4]


def test_nobody_is_sure():
    assert choose([[10, 0], [0, 10]], [1, 1], enough=11) == [0, 1]
    assert choose([[10, 0], [0, 10]], [1, 1], enough=11, min_per_class=0) == []


def test_a_share_of_the_members_is_reached_in_spite_of_rounding():
    assert 0.7 * 10 < 0.1 * 70 + 1e-9
    votes = [[7, 3], [3, 7]]
    assert choose(votes, [1, 1], enough=(0.1 + 0.2 + 0.4) * 10, min_per_class=0) == [0, 1]


def test_as_written_out(monkeypatch):
    """Bootstraps of the labelled rows vote; the rows they agree on join for one more step."""
    data = make_data(40, 7, per_class=4)
    X, y = data.X, data.y
    ranker = ENSemiFS(n_features_to_select=5, n_start=2, n_members=6, min_confidence=0.9).fit(X, y)
    labelled, unlabelled = np.flatnonzero(y >= 0), np.flatnonzero(y < 0)
    picks = sffs(X[labelled], y[labelled], SlowNB(), 2, chance(7))
    while len(picks) < 5:
        votes = np.zeros((len(unlabelled), 2), dtype=int)
        for member in range(6):
            number = len(picks) * 6 + member
            bag = draw_below(0, number, Purpose.LABELLED_BAG, np.arange(8), 8)
            rows = labelled[bag]
            for i, row in enumerate(unlabelled):
                if len(set(y[rows])) == 1:
                    votes[i, y[rows[0]]] += 1
                else:
                    model = SlowNB().fit(X[np.ix_(rows, picks)], y[rows])
                    votes[i, model.predict(X[[row]][:, picks])[0]] += 1
        sure = choose_sure(
            votes, [4, 4] * np.array(1), 5.4, 1, np.random.default_rng([0, ROW_STREAM, len(picks)])
        )
        filled = y.copy()
        filled[unlabelled] = votes.argmax(axis=1)
        rows = np.sort(np.concatenate([labelled, unlabelled[sure]]))
        picks = sffs(X[rows], filled[rows], SlowNB(), len(picks) + 1, chance(7), picks)
    assert ranker.picked_.tolist() == picks


@pytest.mark.parametrize("estimator", [None, KNeighborsClassifier(), DecisionTreeClassifier()])
def test_without_sure_rows_it_is_forward_search(estimator):
    data = make_data()
    params = {"n_features_to_select": 8, "estimator": estimator}
    ranker = ENSemiFS(**params, n_start=2, min_confidence=1.1, min_per_class=0).fit(data.X, data.y)
    labelled = SequentialForward(**params).fit(data.X, data.y)
    assert_array_equal(ranker.scores_, labelled.scores_)


def test_selected_sets_are_nested():
    data = make_data()
    full = ENSemiFS(n_features_to_select=8, n_start=2).fit(data.X, data.y)
    assert_array_equal(np.sort(full.picked_), np.arange(8))
    for n in (1, 3, 6):
        fewer = ENSemiFS(n_features_to_select=n, n_start=2).fit(data.X, data.y)
        assert_array_equal(fewer.picked_, full.picked_[:n])


@pytest.mark.parametrize("threshold", [0.0, 0.8, 2.0])
def test_rows_that_join_are_unlabelled(threshold, monkeypatch):
    data = make_data()
    samples = []

    class Spy(en_semifs.Trials):
        @classmethod
        def build(cls, training, codes, rows):
            samples.append((codes, rows[0]))
            return super().build(training, codes, rows)

    monkeypatch.setattr(en_semifs, "Trials", Spy)
    ENSemiFS(n_features_to_select=6, n_start=2, min_confidence=threshold).fit(data.X, data.y)
    labelled = np.flatnonzero(data.y >= 0)
    assert len(samples) == 4
    for codes, rows in samples:
        assert len(np.unique(rows)) == len(rows) <= 60
        assert_array_equal(rows[: len(labelled)], labelled)
        assert_array_equal(codes[labelled], data.y[labelled])
        joined = codes[rows[len(labelled) :]]
        assert_array_equal(np.bincount(joined, minlength=2), [len(joined) // 2] * 2)


@needs_callbacks
def test_interrupted_and_resumed():
    data = make_data()
    full = ENSemiFS(n_features_to_select=7, n_start=2).fit(data.X, data.y)
    ranker = ENSemiFS(n_features_to_select=7, n_start=2).set_callbacks(Stop(4, True))
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(data.X, data.y)
    assert_array_equal(ranker.picked_, full.picked_[:4])
    ranker.set_params(warm_start=True).set_callbacks().fit(data.X, data.y)
    assert_array_equal(ranker.scores_, full.scores_)


def test_seeds():
    data = make_data(n_features=20, per_class=4, seed=3)
    picks = {
        tuple(
            ENSemiFS(n_features_to_select=10, n_start=1, random_state=seed)
            .fit(data.X, data.y)
            .picked_
        )
        for seed in [0, 0, 1, 2]
    }
    assert 1 < len(picks) <= 3
