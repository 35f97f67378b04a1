"""The samplers of subspaces: their distributions, and that a member's draws are its own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array
from sklearn.naive_bayes import GaussianNB

from semisift import SSFI, EnsCLS
from semisift._kernels.fallback.plan import draw_subspaces as random_subspaces
from semisift.ensemble import _random_subspaces as _subspaces
from semisift.utils._information import bin_columns, mutual_information
from semisift.utils._labels import parse_labels
from tests.reference.cotraining import draw_prob_mrmr_odds, relevant_pairs

# Four columns that make the classes of eight rows known to a different extent.
TOY_Y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
TOY_X = np.array(
    [
        [0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 1, 0, 1, 1, 0, 1],
        [0, 1, 0, 1, 0, 1, 0, 1],
    ],
    dtype=float,
).T


@pytest.fixture
def toy():
    binned = bin_columns(TOY_X)
    return mutual_information(binned, TOY_Y), _subspaces.redundancy_of(binned)


def test_golden_relevance(toy):
    relevance, redundancy = toy
    assert_allclose(relevance / relevance.sum(), [0.4266422, 0.4266422, 0.1467155, 0], atol=1e-7)
    after_first = (relevance - redundancy(0)) / np.log(2)
    assert_allclose(after_first[1:], [-0.4056391, 0.1399269, -0.0487949], atol=1e-7)


def test_random_is_that_of_the_committees():
    assert_array_equal(_subspaces.random(5, 7, 30, 6), random_subspaces(5, 0, 7, 30, 6))


def test_relevant_draws_in_proportion():
    drawn = _subspaces.relevant(1, 40_000, np.array([0.5, 0.3, 0.2]), 2)
    pairs = np.sort(drawn, axis=1)
    shares = [(pairs == pair).all(axis=1).mean() for pair in ([0, 1], [0, 2], [1, 2])]
    assert_allclose(relevant_pairs([0.5, 0.3, 0.2]), [0.5143, 0.3250, 0.1607], atol=5e-5)
    assert_allclose(shares, relevant_pairs([0.5, 0.3, 0.2]), atol=0.01)
    assert_allclose((drawn[:, 0] == 0).mean(), 0.5, atol=0.01)


def test_equally_relevant_columns_are_drawn_alike():
    drawn = _subspaces.relevant(0, 20_000, np.full(6, 0.1), 3)
    assert_allclose(np.bincount(drawn.ravel()) / 20_000, 0.5, atol=0.015)


def test_irrelevant_columns_wait_for_the_relevant_ones():
    relevance = np.array([0.0, 0.2, 0.0, 0.7, 1e-9, 0.0])
    drawn = _subspaces.relevant(3, 5_000, relevance, 3)
    assert_array_equal(np.sort(drawn, axis=1), np.tile([1, 3, 4], (5_000, 1)))
    filled = _subspaces.relevant(3, 30_000, relevance, 4)
    assert_array_equal(np.sort(filled[:, :3], axis=1), np.tile([1, 3, 4], (30_000, 1)))
    assert_allclose(
        np.bincount(filled[:, 3], minlength=6) / 30_000 * 3, [1, 0, 1, 0, 0, 1], atol=0.03
    )


def test_nothing_relevant_is_uniform():
    drawn = _subspaces.relevant(0, 20_000, np.zeros(5), 2)
    assert_allclose(np.bincount(drawn.ravel()) / 20_000, 0.4, atol=0.015)


def test_prob_mrmr_draws_in_proportion(toy):
    relevance, redundancy = toy
    drawn = _subspaces.probabilistic_mrmr(2, 40_000, relevance, redundancy, 2)
    assert_allclose(
        np.bincount(drawn[:, 0], minlength=4) / 40_000, relevance / relevance.sum(), atol=0.01
    )
    # a copy of the first column is never drawn beside it
    assert not ((drawn[:, 0] == 0) & (drawn[:, 1] == 1)).any()
    assert ((drawn[:, 0] == 0) & (drawn[:, 1] == 2)).any()


@pytest.mark.parametrize("negative", ["clip", "shift"])
def test_prob_mrmr_against_the_reference(negative):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(40, 5)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, 40) > 2).astype(int)
    binned = bin_columns(X)
    relevance, redundancy = mutual_information(binned, y), _subspaces.redundancy_of(binned)
    drawn = _subspaces.probabilistic_mrmr(0, 60_000, relevance, redundancy, 3, negative)
    odds = draw_prob_mrmr_odds(relevance, np.array([redundancy(j) for j in range(5)]), 3, negative)
    assert sum(odds.values()) == pytest.approx(1)
    found = {tuple(row): 0 for row in drawn.tolist()}
    for row in drawn.tolist():
        found[tuple(row)] += 1
    assert set(found) <= {row for row, chance in odds.items() if chance > 0}
    for row, chance in odds.items():
        assert found.get(row, 0) / 60_000 == pytest.approx(chance, abs=0.008)


@pytest.mark.parametrize("kind", _subspaces.KINDS)
class TestEveryKind:
    def draw(self, kind, n_members=9, size=4, seed=3, X=TOY_X):
        return _subspaces.draw_subspaces(kind, X, parse_labels(TOY_Y, 8), seed, n_members, size)

    def test_all_columns(self, kind):
        assert_array_equal(np.sort(self.draw(kind), axis=1), np.tile(np.arange(4), (9, 1)))

    def test_members_draw_their_own(self, kind, monkeypatch):
        drawn = self.draw(kind, size=2)
        assert_array_equal(self.draw(kind, n_members=4, size=2), drawn[:4])
        monkeypatch.setattr(_subspaces, "BLOCK_DRAWS", 8)
        assert_array_equal(self.draw(kind, size=2), drawn)
        assert not np.array_equal(self.draw(kind, size=2, seed=4), drawn)

    def test_sparse_equals_dense(self, kind):
        assert_array_equal(self.draw(kind, size=2, X=csc_array(TOY_X)), self.draw(kind, size=2))

    def test_unlabelled_rows_play_no_part(self, kind):
        X = np.vstack([TOY_X, np.full((3, 4), 9.0)])
        labels = parse_labels([*TOY_Y, -1, -1, -1], 11)
        drawn = _subspaces.draw_subspaces(kind, X, labels, 3, 9, 2)
        assert_array_equal(drawn, self.draw(kind, size=2))

    def test_without_classes(self, kind):
        labels = parse_labels(np.full(8, -1), 8)
        drawn = _subspaces.draw_subspaces(kind, TOY_X, labels, 0, 4_000, 2)
        assert_allclose(np.bincount(drawn.ravel()) / 4_000, 0.5, atol=0.05)


def test_thousands_of_columns():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3_000))
    X[:, :30] += 3 * y[:, None]
    labels = parse_labels(y, 40)
    share = {
        kind: (_subspaces.draw_subspaces(kind, X, labels, 0, 25, 25) < 30).mean()
        for kind in _subspaces.KINDS
    }
    assert share["random"] < 0.03
    assert share["relevant"] > 3 * share["random"]
    assert share["probabilistic-mrmr"] > share["random"]


def make_informative(n_columns=60):
    """Return rows of which the first six columns tell the classes of 20 labelled ones."""
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, n_columns))
    X[:, :6] += 4 * y[:, None]
    return X, np.where(np.arange(60) < 20, y, -1)


@pytest.mark.parametrize("kind", ["relevant", "probabilistic-mrmr"])
@pytest.mark.parametrize("cls", [SSFI, EnsCLS])
def test_committees_draw_informative_columns_more_often(cls, kind):
    X, y = make_informative()
    plain = cls(n_members=200, random_state=0).fit(X, y)
    chosen = cls(n_members=200, subspace=kind, random_state=0).fit(X, y)
    assert chosen.n_draws_.sum() == plain.n_draws_.sum()
    assert chosen.n_draws_[:6].sum() > 1.5 * plain.n_draws_[:6].sum()
    labels = parse_labels(y, 60)
    drawn = _subspaces.draw_subspaces(kind, np.asfortranarray(X), labels, 0, 200, 8)
    assert_array_equal(chosen.n_draws_, np.bincount(drawn.ravel(), minlength=60))


@pytest.mark.parametrize("kind", _subspaces.KINDS)
@pytest.mark.parametrize("cls", [SSFI, EnsCLS])
def test_committees_give_the_same_answer_in_any_blocks(cls, kind, monkeypatch):
    X, y = make_informative()
    expected = cls(n_members=50, subspace=kind, random_state=0).fit(X, y).scores_
    threads = cls(n_members=50, subspace=kind, random_state=0, n_jobs=2).fit(X, y).scores_
    assert_array_equal(threads, expected)
    monkeypatch.setattr("semisift.parallel.BLOCK_SIZE", 7)
    assert_array_equal(cls(n_members=50, subspace=kind, random_state=0).fit(X, y).scores_, expected)


def test_committees_draw_at_random_by_default():
    X, y = make_informative()
    model = SSFI(n_members=40, random_state=3).fit(X, y)
    drawn = random_subspaces(3, 0, 40, 60, 8)
    assert_array_equal(model.n_draws_, np.bincount(drawn.ravel(), minlength=60))
    named = SSFI(n_members=40, random_state=3, subspace="random").fit(X, y)
    assert_array_equal(model.scores_, named.scores_)


def test_estimators_get_the_same_columns_as_trees():
    X, y = make_informative()
    trees = SSFI(n_members=20, subspace="relevant").fit(X, y)
    others = SSFI(n_members=20, subspace="relevant", estimator=GaussianNB()).fit(X, y)
    assert_array_equal(trees.n_draws_, others.n_draws_)
