"""Trees of the kernels on columns with missing values, against the slow reference."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from semisift import _kernels
from semisift.utils._random import row_mask, unmask
from tests.conftest import needs_kernels
from tests.kernels.test_kernels import (
    N_MEMBERS,
    assert_same_tree,
    draw_bags,
    pseudo_labelled_rows,
    voted,
)
from tests.nightly import daily_are, nightly
from tests.reference.forest import node_columns
from tests.reference.importance import tree_importance
from tests.reference.streams import NODE_SUBSPACE, stream_key
from tests.reference.tree import Example, fit_tree, grow, leaf_counts, predict

pytestmark = needs_kernels


def make_table(seed, *, n, p=7, n_classes=2, share=0.3, few_values=True, n_labelled=14):
    """Integer columns with ties and missing values; one has no value, and so has one row."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, p)).astype(float) if few_values else rng.normal(size=(n, p))
    truth = rng.integers(0, n_classes, size=n)
    X[:, 1] += truth
    X[rng.random(X.shape) < share] = np.nan
    X[:, 2], X[5], X[:, 3] = np.nan, np.nan, np.where(np.isnan(X[:, 3]), np.nan, 4.0)
    codes = np.where(np.arange(n) < n_labelled, truth, -1).astype(np.int32)
    codes[:n_classes] = np.arange(n_classes)
    return np.asfortranarray(X), codes


def order_of(X):
    return np.argsort(X.T, axis=1).astype(np.int32)


# how the columns are held and searched -> arguments of grow
FORMS = {
    "ranks": lambda X: (X, {"codes": _kernels.grow.rank_columns(X)}),
    "dense": lambda X: (X, {}),
    "float32": lambda X: (np.asfortranarray(X, dtype=np.float32), {}),
    "ordered": lambda X: (X, {"order": order_of(X)}),
    "swept": lambda X: (X, {"side_by_side": 0}),
    "ordered, swept": lambda X: (X, {"side_by_side": 0, "order": order_of(X)}),
}


def examples_of(codes, labelled, weights, picks, pick_labels):
    drawn, pseudo_labelled = (
        zip(labelled, weights, strict=True),
        zip(picks, pick_labels, strict=True),
    )
    bag = [Example(int(row), int(w), int(codes[row])) for row, w in drawn if w]
    return bag + [Example(int(row), 1, int(label)) for row, label in pseudo_labelled if row >= 0]


def grow_both(X, codes, form, n_classes, seed, *, spread=None, size=5, max_depth=None):
    labelled, subspaces, weights, out_of_bag = draw_bags(codes, X.shape[1], size, seed)
    picks, pick_labels = pseudo_labelled_rows(codes, out_of_bag, n_classes, seed)
    table, options = FORMS[form](X)
    columns = _kernels.columns.Columns(table, has_missing=True)
    bags = labelled, weights, picks, pick_labels
    how = {"spread": spread, "max_depth": max_depth}
    trees = _kernels.grow.grow(columns, codes, n_classes, *bags, subspaces, **how, **options)
    reference = [
        fit_tree(
            X,
            examples_of(codes, labelled, *(each[i] for each in bags[1:])),
            subspaces[i].tolist(),
            n_classes,
            **how,
        )
        for i in range(N_MEMBERS)
    ]
    return columns, trees, reference, out_of_bag


def assert_same_directions(trees, i, node, v=0):
    if node.feature is not None:
        at = trees.offsets[i] + v
        assert trees.missing_left[at] == node.missing_left
        assert_same_directions(trees, i, node.left, trees.left[at])
        assert_same_directions(trees, i, node.right, trees.left[at] + 1)


@pytest.mark.parametrize("n_classes", [nightly(1), nightly(2), 4])
@pytest.mark.parametrize("form", daily_are(["ranks", "dense", "swept"], FORMS))
def test_trees_equal_exact_arithmetic(form, n_classes):
    for seed, share, few_values in product(range(4), (0.1, 0.6), (False, True)):
        X, codes = make_table(seed, n=40, n_classes=n_classes, share=share, few_values=few_values)
        X = np.asfortranarray(X.astype(np.float32), dtype=np.float64)
        spread = np.nan_to_num(np.nanmax(X, axis=0, initial=0.0), nan=0.0) + 1.0
        for units in (None, spread):
            _, trees, reference, _ = grow_both(X, codes, form, n_classes, seed, spread=units)
            for i, node in enumerate(reference):
                assert_same_tree(trees, i, node)
                assert_same_directions(trees, i, node)


@pytest.mark.parametrize("form", FORMS)
def test_perfect_splits_need_all_missing_values_on_the_side_of_their_class(form):
    """The first class has fewer, as many or more values than the second; either misses some.

    The missing values are the last rows, or the first ones.
    """
    for n_first, n_second, gaps, sign, turn in product((2, 3), (2, 3), (0, 1), (1, -1), (0, 2)):
        values = sign * np.r_[np.arange(n_first), 10 + np.arange(n_second), np.nan, np.nan]
        codes = np.r_[np.zeros(n_first), np.ones(n_second), gaps, gaps].astype(np.int32)
        values, codes = np.roll(values, turn), np.roll(codes, turn)
        X = np.asfortranarray(values[:, None])
        rows, weights = np.arange(len(X), dtype=np.int32), np.ones((1, len(X)), dtype=np.int32)
        none = np.empty((1, 0), dtype=np.int32)
        table, options = FORMS[form](X)
        columns = _kernels.columns.Columns(table, has_missing=True)
        subspace = np.zeros((1, 1), dtype=np.int32)
        trees = _kernels.grow.grow(
            columns, codes, 2, rows, weights, none, none, subspace, **options
        )
        expected = fit_tree(X, examples_of(codes, rows, weights[0], none[0], none[0]), [0], 2)
        assert_same_tree(trees, 0, expected)
        assert_same_directions(trees, 0, expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nodes_that_draw_their_own_columns(n_classes):
    for seed in range(4):
        X, codes = make_table(seed, n=30, p=9, n_classes=n_classes, n_labelled=30, share=0.4)
        labelled, _, weights, _ = draw_bags(codes, 9, 2, seed)
        none = np.empty((N_MEMBERS, 0), dtype=np.int32)
        columns = _kernels.columns.Columns(X, has_missing=True)
        for side_by_side in (-1, 0):
            trees = _kernels.grow.grow(
                *(columns, codes, n_classes, labelled, weights, none, none),
                seed=seed,
                node_features=2,
                side_by_side=side_by_side,
            )
            for i in range(N_MEMBERS):

                def columns_at(number, examples, X=X, seed=seed, i=i):
                    return node_columns(X, examples, 2, stream_key(seed, i, NODE_SUBSPACE + number))

                bag = examples_of(codes, labelled, weights[i], none[i], none[i])
                assert_same_tree(trees, i, grow(X, bag, columns_at, n_classes))


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_all_searches_agree_on_large_bags(n_classes):
    rng = np.random.default_rng(n_classes)
    for n, total in ((120, 255), (700, 700)):
        X = rng.normal(size=(n, 30)).round(1)
        X[rng.random(X.shape) < rng.choice([0.0, 0.05, 0.5], size=30)] = np.nan
        X = np.asfortranarray(X)
        codes = rng.integers(0, n_classes, size=n).astype(np.int32)
        weights = rng.multinomial(total, np.full(n, 1 / n), size=N_MEMBERS).astype(np.int32)
        none, rows = np.empty((N_MEMBERS, 0), dtype=np.int32), np.arange(n, dtype=np.int32)
        subspaces = _kernels.plan.draw_subspaces(0, 0, N_MEMBERS, 30, 7)
        columns = _kernels.columns.Columns(X, has_missing=True)
        arguments = columns, codes, n_classes, rows, weights, none, none
        searches = [{}, {"side_by_side": 0}, {"order": order_of(X)}]
        searches.append({"side_by_side": 0, "order": order_of(X)})
        if n < 256:
            searches.append({"codes": _kernels.grow.rank_columns(X)})
        for drawn in ({"subspaces": subspaces}, {"node_features": 4}):
            for spread in (None, np.nanstd(X, axis=0)):
                grown = [
                    _kernels.grow.grow(*arguments, **drawn, spread=spread, **how)
                    for how in searches
                ]
                for one, other in pairwise(grown):
                    for first, second in zip(one, other, strict=True):
                        assert_array_equal(first, second)


@pytest.mark.parametrize("n", [40, 200])
def test_ranks_of_missing_values(n):
    X, _ = make_table(0, n=n, few_values=False)
    for column, codes in zip(X.T, _kernels.grow.rank_columns(X), strict=True):
        table = ~np.isnan(column)
        assert_array_equal(codes[table], np.unique(column[table], return_inverse=True)[1])
        assert (codes[~table] == 255).all()


@pytest.mark.parametrize("probability", [False, True])
@pytest.mark.parametrize("form", ["ranks", "float32"])
def test_votes(form, probability):
    X, codes = make_table(1, n=130, n_classes=3)
    columns, trees, reference, out_of_bag = grow_both(X, codes, form, 3, 1)
    expected = np.zeros((len(X), 3), dtype=int)
    for node, mask in zip(reference, unmask(out_of_bag, len(X)), strict=True):
        for row in np.flatnonzero(mask):
            counts, total = leaf_counts(node, X[row]), sum(leaf_counts(node, X[row]))
            shares = [(2 * c * 65536 + total) // (2 * total) for c in counts]
            alone = np.arange(3) == predict(node, X[row])
            expected[row] += shares if probability else alone
    for by_lists in (0, 1):
        votes = _kernels.votes.vote(columns, trees, out_of_bag, 3, probability, by_lists=by_lists)
        assert_array_equal(votes, expected)


@pytest.mark.parametrize("row_cost", [0.0, np.inf], ids=["by rows", "by intervals"])
@pytest.mark.parametrize("by_lists", [0, 1])
@pytest.mark.parametrize("net", [False, True])
def test_expected_loss(net, by_lists, row_cost):
    for seed, n_classes in ((0, 2), (1, 3)):
        X, codes = make_table(seed, n=60, n_classes=n_classes)
        columns, trees, reference, out_of_bag = grow_both(X, codes, "ranks", n_classes, seed)
        label, weight = voted(codes, n_classes)
        labels = row_mask(label == np.arange(n_classes)[:, None])
        rows = out_of_bag, labels, row_mask(codes < 0), weight
        how = {"net": net, "row_cost": row_cost, "by_lists": by_lists}
        features, losses, _ = _kernels.importance.permute(columns, trees, 0, 0, *rows, **how)
        at = 0
        for node, mask in zip(reference, unmask(out_of_bag, len(X)), strict=True):
            known = np.flatnonzero(mask & (label >= 0))
            expected = tree_importance(
                node, X, [(row, label[row], weight[row]) for row in known], net=net
            )
            found = dict(zip(features[at : at + len(expected)], losses[at:], strict=False))
            at += len(expected)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert at == len(features) > 0


def large_trees(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(600, 5)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X = np.asfortranarray(X)
    codes = rng.integers(0, 3, size=600).astype(np.int32)
    codes[520:] = -1
    labelled, subspaces, weights, out_of_bag = draw_bags(codes, 5, 4, seed)
    none = np.empty((N_MEMBERS, 0), dtype=np.int32)
    columns = _kernels.columns.Columns(X, has_missing=True)
    trees = _kernels.grow.grow(columns, codes, 3, labelled, weights, none, none, subspaces)
    assert np.diff(trees.offsets).min() > 50
    label, weight = voted(codes, 3)
    labels = row_mask(label == np.arange(3)[:, None])
    return columns, trees, (out_of_bag, labels, row_mask(codes < 0), weight)


def test_lists_and_masks_of_rows_give_the_same_bits():
    columns, trees, rows = large_trees(1)
    for net, sampled, row_cost in product((False, True), (False, True), (0.0, np.inf)):
        how = {"net": net, "sampled": sampled, "row_cost": row_cost}
        by_masks, by_lists = (
            _kernels.importance.permute(columns, trees, 3, 0, *rows, **how, by_lists=way)
            for way in (0, 1)
        )
        for first, second in zip(by_masks, by_lists, strict=True):
            assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("row_cost", [0.0, np.inf], ids=["by rows", "by masks"])
def test_sampled_permutations_average_to_the_expectation(row_cost):
    columns, trees, rows = large_trees(2)
    permute = _kernels.importance.permute
    _, expected, _ = permute(columns, trees, 0, 0, *rows, net=True)
    draws = [
        permute(columns, trees, seed, 0, *rows, net=True, sampled=True, row_cost=row_cost)[1]
        for seed in range(60)
    ]
    error = np.std(draws, axis=0) / np.sqrt(len(draws))
    assert (np.abs(np.mean(draws, axis=0) - expected) < 5 * error + 1e-12).all()


def test_columns_keep_their_missing_values_when_they_travel():
    columns = _kernels.columns.Columns(np.asfortranarray([[np.nan], [1.0]]), has_missing=True)
    assert columns.__reduce__()[1][1] is True


def test_without_missing_values_the_flag_changes_nothing():
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.integers(0, 5, size=(60, 8)).astype(float))
    codes = np.where(np.arange(60) < 20, np.arange(60) % 3, -1).astype(np.int32)
    labelled, subspaces, weights, _ = draw_bags(codes, 8, 4, 0)
    none = np.empty((N_MEMBERS, 0), dtype=np.int32)
    for how in ({}, {"side_by_side": 0}, {"codes": _kernels.grow.rank_columns(X)}):
        one, other = (
            _kernels.grow.grow(
                _kernels.columns.Columns(X, has_missing),
                *(codes, 3, labelled, weights, none, none, subspaces),
                **how,
            )
            for has_missing in (False, True)
        )
        for first, second in zip(one, other, strict=True):
            assert_array_equal(first, second)
