"""Variance, Fisher score, constraint score and its bagged form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from semisift import (
    BaggingConstraintScore,
    ConstraintScore,
    FallbackWarning,
    FisherScore,
    VarianceScore,
)
from semisift.base._pairs import count_pairs, pair_sums, some_pairs
from semisift.base._training_data import TrainingData
from semisift.ensemble import bagging_constraint
from semisift.ensemble.bagging_constraint import draw_bags, rank_columns, score_bags
from semisift.utils import _columns as blocks_module
from semisift.utils._labels import Pairs
from semisift.utils._random import Purpose
from tests.reference import constraint_filters as slow

FORMS = [np.asarray, sparse.csr_array]
NAN = np.nan
TOY_X, TOY_Y = np.array(slow.TOY_X, dtype=float), np.array(slow.TOY_Y)

every_form = pytest.mark.parametrize("form", FORMS)


def make_rows(n_classes=3, per_class=4, n_rows=30, n_features=6, seed=0, density=0.6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < density)
    y = np.full(n_rows, -1)
    y[: n_classes * per_class] = np.arange(n_classes * per_class) % n_classes
    return X, y


def toy_problem(**pairs):
    return TrainingData.build(TOY_X, TOY_Y, **pairs)


# --- golden values --------------------------------------------------------------------------------


@every_form
def test_g1_variance(form):
    scores = VarianceScore(feature_scaling=None).fit(form(TOY_X)).scores_
    assert_allclose(scores, [59 / 12, 19 / 12, NAN])
    scaled = VarianceScore().fit(form(TOY_X)).scores_
    assert_allclose(scaled, [59 / 12 / 25, 19 / 12 / 9, NAN])


@every_form
def test_g2_fisher(form):
    assert_allclose(FisherScore().fit(form(TOY_X), TOY_Y).scores_, [16, 0, NAN])


@every_form
def test_g5_constraint(form):
    assert_allclose(ConstraintScore().fit(form(TOY_X), TOY_Y).scores_, [-1 / 33, -1, NAN])
    difference = ConstraintScore(criterion="difference").fit(form(TOY_X), TOY_Y)
    assert_allclose(difference.scores_, [4.6, -16.2, NAN])
    assert_allclose(pair_sums(TrainingData.build(form(TOY_X), TOY_Y)), [[2, 18, 0], [66, 18, 0]])


def test_g16_two_given_bags():
    pairs = Pairs(np.array([[0, 1], [2, 3]]), np.array([[0, 2], [0, 3], [1, 2], [1, 3]]))
    must, cannot = np.array([[2.0, 0], [0, 1]]), np.array([[1.0, 2, 1, 0], [1, 0, 2, 2]])
    scores = score_bags(toy_problem(), pairs, must, cannot)
    assert_allclose(scores[:, :2], [[2 / 75, 2 / 3], [1 / 66, 1 / 2]])
    assert_allclose(scores.mean(axis=0)[:2], [0.0209091, 0.5833333], atol=5e-8)
    bags = [
        ([(0, 1), (0, 1)], [(0, 2), (0, 3), (0, 3), (1, 2)]),
        ([(2, 3)], [(1, 3), (1, 3), (0, 2), (1, 2), (1, 2)]),
    ]
    assert_allclose(slow.bagging(TOY_X[:, :2].tolist(), bags)[0], scores.mean(axis=0)[:2])


@pytest.mark.parametrize("per_class", [2, 5])
def test_g40_fisher_and_cs1_of_balanced_classes(per_class):
    X, y = make_rows(3, per_class)
    fisher, constraint = FisherScore().fit(X, y), ConstraintScore().fit(X, y)
    expected = per_class / (3 * per_class * (1 + fisher.scores_) - per_class)
    assert_allclose(-constraint.scores_, expected, rtol=1e-9)
    assert_array_equal(fisher.ranking_, constraint.ranking_)


# --- against the slow versions --------------------------------------------------------------------


@every_form
@pytest.mark.parametrize("seed", range(5))
def test_agreement_with_loops(form, seed):
    X, y = make_rows(2 + seed % 3, 1 + seed, seed=seed)
    X += [0, 0, 0, 100, -5, 10]
    must, cannot = slow.pairs_of(y)
    columns = slow.columns_of(X)
    variance = VarianceScore(feature_scaling=None).fit(form(X))
    assert_allclose(variance.scores_, [slow.variance(column) for column in columns], rtol=1e-9)
    if seed:  # else there is one labelled row in each class
        given = form(X)
        expected = slow.fisher(X.tolist(), y.tolist())
        assert_allclose(FisherScore().fit(given, y).scores_, expected, rtol=1e-9)
        for criterion in ("ratio", "difference"):
            expected = slow.constraint(X.tolist(), must, cannot, criterion, 0.3)
            ranker = ConstraintScore(criterion=criterion, trade_off=0.3).fit(given, y)
            assert_allclose(-ranker.scores_, expected, rtol=1e-9)


@every_form
@pytest.mark.parametrize("seed", range(4))
def test_pair_sums_with_given_pairs(form, seed):
    X, y = make_rows(3, 3, seed=seed)
    must_link, cannot_link = [(0, 3), (20, 21), (21, 22), (0, 25)], [(0, 1), (20, 1), (27, 28)]
    for labels in (y, np.full(30, -1)):
        data = TrainingData.build(form(X), labels, must_link=must_link, cannot_link=cannot_link)
        must, cannot = slow.pairs_of(labels.tolist(), must_link, cannot_link)
        columns = slow.columns_of(X)
        expected = [[slow.squares(column, pairs) for column in columns] for pairs in (must, cannot)]
        assert_allclose(pair_sums(data), expected, rtol=1e-9)
        assert count_pairs(data) == (len(must), len(cannot))
        pairs = some_pairs(data, 100)
        assert_array_equal(pairs.must_link, must)
        assert_array_equal(pairs.cannot_link, cannot)


@pytest.mark.parametrize("aggregation", ["rank", "score"])
@every_form
def test_bags_against_loops(form, aggregation):
    X, y = make_rows(3, 3)
    ranker = BaggingConstraintScore(n_members=7, aggregation=aggregation, random_state=5)
    scores = ranker.fit(form(X), y).scores_
    bags = []
    for bag in range(7):
        drawn = []
        purposes = (Purpose.LABELLED_BAG, Purpose.UNLABELLED_BAG)
        for pairs, purpose in zip(slow.pairs_of(y.tolist()), purposes, strict=True):
            counts = draw_bags(5, range(bag, bag + 1), len(pairs), purpose)[0]
            assert counts.sum() == len(pairs)
            drawn.append(
                [pair for pair, n in zip(pairs, counts, strict=True) for _ in range(int(n))]
            )
        bags.append(drawn)
    by_score, by_rank = slow.bagging(X.tolist(), bags)
    assert_allclose(-scores, by_rank if aggregation == "rank" else by_score, rtol=1e-9)


# --- properties -----------------------------------------------------------------------------------


def test_variance_is_translated_and_scaled():
    X, _ = make_rows()
    ranker = VarianceScore(feature_scaling=None)
    scores = ranker.fit(X).scores_
    assert_allclose(ranker.fit(3 * X + 7).scores_, 9 * scores)
    assert_allclose(VarianceScore().fit(3 * X + 7).scores_, VarianceScore().fit(X).scores_)


def test_variance_is_the_laplacian_denominator_of_a_complete_graph():
    X, _ = make_rows()
    degrees = np.full((30, 30), 1 / 30).sum(axis=1)
    centred = X - (degrees @ X) / degrees.sum()
    expected = (degrees[:, None] * centred**2).sum(axis=0) / 30
    assert_allclose(VarianceScore(feature_scaling=None).fit(X).scores_, expected)


@pytest.mark.parametrize(
    "ranker", [FisherScore(), ConstraintScore(), BaggingConstraintScore(n_members=10)]
)
def test_scores_without_a_unit_are_affine_invariant(ranker):
    X, y = make_rows()
    scale, shift = np.array([2.0, -3, 0.1, 1e-150, 1e150, 7]), np.array([1, -50, 2, 0, 0, 3.0])
    expected = ranker.fit(X, y).scores_
    assert_allclose(ranker.fit(X * scale + shift, y).scores_, expected, rtol=1e-7)


def test_cs2_is_translated_but_not_scaled():
    X, y = make_rows()
    ranker = ConstraintScore(criterion="difference")
    expected = ranker.fit(X, y).scores_
    assert_allclose(ranker.fit(X + 7, y).scores_, expected, rtol=1e-9)
    assert_allclose(ranker.fit(3 * X, y).scores_, 9 * expected)


def test_fisher_is_a_laplacian_score_of_the_classes():
    labelled, y = TOY_X[:4, :2], TOY_Y[:4]
    graph = (y[:, None] == y) / 2
    centred = labelled - labelled.mean(axis=0)
    laplacian = np.diag(graph.sum(axis=1)) - graph
    score = (centred * (laplacian @ centred)).sum(axis=0) / (centred**2).sum(axis=0)
    assert_allclose(1 / score - 1, FisherScore().fit(TOY_X, TOY_Y).scores_[:2], atol=1e-12)


def test_removing_a_cannot_link_pair_never_lowers_cs1():
    X, y = make_rows()
    must, cannot = slow.pairs_of(y.tolist())
    full = ConstraintScore().fit(X, must_link=must, cannot_link=cannot).scores_
    for k in range(len(cannot)):
        fewer = cannot[:k] + cannot[k + 1 :]
        assert (ConstraintScore().fit(X, must_link=must, cannot_link=fewer).scores_ <= full).all()


def test_a_bag_of_each_pair_once_is_cs1():
    X, y = make_rows()
    data = TrainingData.build(X, y)
    ones = (np.ones((1, len(part))) for part in (data.pairs.must_link, data.pairs.cannot_link))
    scores = score_bags(data, data.pairs, *ones)
    assert_allclose(-scores[0], ConstraintScore().fit(X, y).scores_, rtol=1e-9)


def test_bags_repeat_and_do_not_depend_on_blocks(monkeypatch):
    X, y = make_rows()
    expected = BaggingConstraintScore(random_state=3).fit(X, y).scores_
    assert_array_equal(BaggingConstraintScore(random_state=3).fit(X, y).scores_, expected)
    assert (BaggingConstraintScore(random_state=4).fit(X, y).scores_ != expected).any()
    monkeypatch.setattr(blocks_module, "BLOCK_VALUES", 64)
    assert_array_equal(BaggingConstraintScore(random_state=3).fit(X, y).scores_, expected)
    monkeypatch.setattr(bagging_constraint, "MAX_SCORES", 12)
    assert_array_equal(BaggingConstraintScore(random_state=3).fit(X, y).scores_, expected)


def test_perfect_columns_share_the_first_rank():
    X, y = make_rows()
    X[:, 2] = X[:, 4] = np.where(y < 0, 0.5, y)
    scores = BaggingConstraintScore().fit(X, y).scores_
    assert_array_equal(scores[[2, 4]], [-1.5, -1.5])
    X[:, 4] = np.random.default_rng(1).normal(size=30)
    assert BaggingConstraintScore().fit(X, y).scores_[2] == -1


def test_last_bits_make_no_difference_between_ranks():
    values = np.array([0.3, 0.1 + 0.2, 0.1, np.inf, np.inf, 0.0])
    assert_array_equal(rank_columns(values), [3.5, 3.5, 2, 5.5, 5.5, 1])


def test_few_of_many_pairs():
    X, y = make_rows(3, 9)
    data = TrainingData.build(X, y, must_link=[(0, 28)])
    pairs = some_pairs(data, 20)
    assert len(pairs.must_link) == 21
    assert len(pairs.cannot_link) == 20
    both = data.pairs
    assert {*map(tuple, pairs.must_link)} <= {*map(tuple, both.must_link)}
    assert {*map(tuple, pairs.cannot_link)} <= {*map(tuple, both.cannot_link)}
    few = BaggingConstraintScore(max_pairs=20).fit(X, y).scores_
    assert np.corrcoef(few, BaggingConstraintScore().fit(X, y).scores_)[0, 1] > 0.5


# --- degenerate cases -----------------------------------------------------------------------------


@every_form
def test_perfect_columns_of_fisher_are_ordered_by_their_numerator(form):
    y = np.array([0, 0, 1, 1, -1, -1, -1])
    near, far = np.where(y == 1, 1.0, 0.0), np.where(y == 1, 1.0, 0.0)
    near[4:], far[4:] = [9, -9, 7], [0.5, 0.4, 0.6]
    X = np.column_stack([near, far, far * 100, np.arange(7.0)])
    ranker = FisherScore().fit(form(X), y)
    assert_array_equal(np.isposinf(ranker.scores_), [True, True, True, False])
    assert ranker.ranking_[0] == 3
    assert ranker.ranking_[3] == 4


@every_form
def test_one_label_in_each_class(form):
    X, y = make_rows(3, 1)
    assert_array_equal(np.isposinf(FisherScore().fit(form(X), y).scores_), X[:3].std(axis=0) > 0)
    with pytest.warns(FallbackWarning, match="no must-link pair"):
        ranker = ConstraintScore().fit(form(X), y)
    _, cannot = slow.pairs_of(y.tolist())
    separation = [slow.squares(column, cannot) for column in slow.columns_of(X)]
    assert_allclose(ranker.scores_, separation, rtol=1e-9)
    with pytest.warns(FallbackWarning, match="no must-link pair"):
        bagged = BaggingConstraintScore(n_members=300).fit(form(X), y)
    assert np.argmax(bagged.scores_) == np.argmax(separation)


@every_form
def test_must_link_pairs_alone(form):
    X, _ = make_rows()
    must_link = [(0, 1), (2, 3), (4, 5)]
    with pytest.warns(FallbackWarning, match="no cannot-link pair"):
        ranker = ConstraintScore().fit(form(X), must_link=must_link)
    differences = [slow.squares(column, must_link) for column in slow.columns_of(X)]
    assert_allclose(-ranker.scores_, differences / X.var(axis=0), rtol=1e-9)
    with pytest.warns(FallbackWarning, match="no cannot-link pair"):
        BaggingConstraintScore(n_members=10).fit(form(X), must_link=must_link)


@every_form
def test_columns_that_do_not_differ_between_classes(form):
    X, y = make_rows(2, 2)
    X[:4, 0] = [1, 1, 1, 1]  # the same in all labelled rows
    X = np.column_stack([X, np.where(y < 0, X[:, 0] + 3, 2.0)])
    ranker = ConstraintScore().fit(form(X), must_link=[(0, 2)], cannot_link=[(0, 1)])
    assert np.isnan(ranker.scores_[[0, 6]]).all()
    X[2, 0] = 5.0  # rows 0 and 2 differ, which must link
    ranker.fit(form(X), must_link=[(0, 2)], cannot_link=[(0, 1)])
    assert ranker.scores_[0] == -np.inf
    assert ranker.ranking_[0] == 6
    bagged = BaggingConstraintScore(n_members=5)
    scores = bagged.fit(form(X), must_link=[(0, 2)], cannot_link=[(0, 1)]).scores_
    assert_array_equal(scores[[0, 6]], [-6.5, -6.5])  # both take the worst rank of every bag


def test_a_constant_column_does_not_reorder_the_others():
    X, y = make_rows()
    for ranker in (VarianceScore(), FisherScore(), ConstraintScore(), BaggingConstraintScore()):
        expected = ranker.fit(X, y).ranking_
        more = ranker.fit(np.column_stack([np.full(30, 3.0), X]), y)
        assert_array_equal(more.ranking_, [7, *expected])
