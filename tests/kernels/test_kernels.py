"""The kernels against the slow reference, on the same random draws."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array

from semisift import _kernels
from semisift._kernels.fallback import columns as plain_columns
from semisift.base._training_data import TrainingData
from semisift.utils._random import row_mask, unmask
from tests.nightly import nightly
from tests.reference.importance import tree_importance
from tests.reference.plan import make_plan
from tests.reference.tree import Example, fit_tree, leaf_counts, predict

if not _kernels.are_compiled():
    pytest.skip("the compiled kernels are not installed", allow_module_level=True)

N_MEMBERS = 12


def test_kernels_are_compiled():
    for name in (
        "columns",
        "dual",
        "edges",
        "grow",
        "heaps",
        "importance",
        "masks",
        "neighbours",
        "nnge",
        "pct",
        "plan",
        "tables",
        "votes",
    ):
        module = __import__(f"semisift._kernels.{name}", fromlist=["__file__"])
        assert module.__file__.endswith((".so", ".pyd"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [1, 4, 7])
def test_moments_in_numpy_have_the_same_bits(dtype, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, n_features)) * (rng.random((90, n_features)) < 0.7)
    X = np.asfortranarray(X, dtype=dtype)
    rows = np.arange(0, 90, 3, dtype=np.int32)
    for unit in (np.full(n_features, 0.25), rng.uniform(0.1, 9, size=n_features)):
        for some in (None, rows):
            found = _kernels.columns.moments(_kernels.columns.Columns(X), unit, some)
            expected = plain_columns.moments(plain_columns.Columns(X), unit, some)
            assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 16, 37])
def test_extremes(n, dtype):
    X = np.random.default_rng(n).normal(size=(n, 6)).astype(dtype)
    X[X < -0.5] = 0
    for form in (np.asfortranarray, csc_array):
        low, high = _kernels.columns.extremes(_kernels.columns.Columns(form(X)))
        assert_array_equal(low, X.min(axis=0))
        assert_array_equal(high, X.max(axis=0))
        for row in range(n):
            for value in (np.nan, np.inf, -np.inf):
                Y = X.copy()
                Y[row, 2] = value
                low, high = _kernels.columns.extremes(_kernels.columns.Columns(form(Y)))
                expected = np.arange(6) != 2
                assert_array_equal(np.isfinite(low), expected)
                assert_array_equal(np.isfinite(high), expected)


def make_rows(seed, *, n=70, p=9, n_classes=3, kind="normal", per_class=6):
    rng = np.random.default_rng(seed)
    X = {
        "normal": lambda: rng.normal(size=(n, p)),
        "coarse": lambda: rng.integers(-1, 2, size=(n, p)).astype(float),
        "sparse": lambda: rng.poisson(0.3, size=(n, p)) * rng.choice([-1.0, 1.0], size=(n, p)),
        "copies": lambda: np.repeat(rng.normal(size=(n, (p + 2) // 3)), 3, axis=1)[:, :p],
    }[kind]()
    truth = rng.integers(0, n_classes, size=n)
    truth[:n_classes] = np.arange(n_classes)
    X[:, 0] += truth
    codes = np.full(n, -1, dtype=np.int32)
    for label in range(n_classes):
        rows = np.flatnonzero(truth == label)[:per_class]
        codes[rows] = label
    return X, codes


def draw_bags(codes, p, size, seed, stratified=False, start=0):
    labelled = np.flatnonzero(codes >= 0).astype(np.int32)
    strata = np.array([0, len(labelled)], dtype=np.int32)
    if stratified:
        labelled = labelled[np.argsort(codes[labelled], kind="stable")]
        strata = np.concatenate([[0], np.cumsum(np.bincount(codes[labelled]))]).astype(np.int32)
    members = seed, start, start + N_MEMBERS
    subspaces = _kernels.plan.draw_subspaces(*members, p, size)
    unlabelled = np.flatnonzero(codes < 0).astype(np.int32)
    weights, out_of_bag = _kernels.plan.draw_bags(
        *members, len(codes), labelled, strata, unlabelled
    )
    return labelled, subspaces, weights, out_of_bag


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize(("p", "size"), [(9, 3), (5, 5), (1, 1)])
def test_plan(stratified, p, size):
    _, codes = make_rows(0)
    labelled, subspaces, weights, out_of_bag = draw_bags(codes, p, size, 5, stratified, start=40)
    for i in range(N_MEMBERS):
        plan = make_plan(codes, p, size, seed=5, member=40 + i, stratified=stratified)
        assert subspaces[i].tolist() == plan.subspace
        assert dict(zip(labelled, weights[i], strict=True)) == {
            row: plan.weights.get(row, 0) for row in labelled
        }
        rows = np.flatnonzero(unmask(out_of_bag[i], len(codes)))
        assert_array_equal(rows, np.sort(plan.oob_labelled + plan.oob_unlabelled))


def pseudo_labelled_rows(codes, out_of_bag, n_classes, seed):
    """Some rows of each member's unlabelled bag, with random labels."""
    rng = np.random.default_rng(seed)
    picks = np.full((N_MEMBERS, 8), -1, dtype=np.int32)
    for i, mask in enumerate(unmask(out_of_bag, len(codes))):
        pool = rng.permutation(np.flatnonzero(~mask & (codes < 0)))[: rng.integers(0, 8)]
        picks[i, : len(pool)] = pool
    return picks, rng.integers(0, n_classes, size=picks.shape, dtype=np.int32)


def assert_same_tree(trees, i, node, v=0):
    at = trees.offsets[i] + v
    if node.feature is None:
        assert trees.feature[at] == -1
        assert trees.leaf[at] == np.argmax(node.counts)
        if trees.impure[at] >= 0:
            assert trees.counts[trees.impure[at]].tolist() == node.counts
        else:
            assert np.count_nonzero(node.counts) == 1
        return
    assert trees.leaf[at] == -1
    assert trees.feature[at] == node.feature
    assert trees.threshold[at] == node.threshold
    assert_same_tree(trees, i, node.left, trees.left[at])
    assert_same_tree(trees, i, node.right, trees.left[at] + 1)


# how the columns are held and searched -> arguments of grow
FORMS = {
    "ranks": lambda X: (X, {"codes": _kernels.grow.rank_columns(X)}),
    "dense": lambda X: (X, {}),
    "float32": lambda X: (np.asfortranarray(X, dtype=np.float32), {}),
    "sparse": lambda X: (csc_array(X), {}),
    "ordered": lambda X: (X, {"order": np.argsort(X.T, axis=1).astype(np.int32)}),
    "dense, swept": lambda X: (X, {"side_by_side": 0}),
    "ordered, swept": lambda X: (
        X,
        {"side_by_side": 0, "order": np.argsort(X.T, axis=1).astype(np.int32)},
    ),
    "sparse, swept": lambda X: (csc_array(X), {"side_by_side": 0}),
}


def grow_both(form, kind, n_classes, *, gap=False, max_depth=None, seed=0, stratified=False):
    X, codes = make_rows(seed, kind=kind, n_classes=n_classes)
    X = np.asfortranarray(X.astype(np.float32), dtype=np.float64)
    labelled, subspaces, weights, out_of_bag = draw_bags(codes, X.shape[1], 3, seed, stratified)
    picks, pick_labels = pseudo_labelled_rows(codes, out_of_bag, n_classes, seed)
    spread = TrainingData.build(X).spread
    table, options = FORMS[form](X)
    columns = _kernels.columns.Columns(table)
    trees = _kernels.grow.grow(
        columns,
        codes,
        n_classes,
        labelled,
        weights,
        picks,
        pick_labels,
        subspaces,
        spread=spread if gap else None,
        max_depth=max_depth,
        **options,
    )
    reference = []
    for i in range(N_MEMBERS):
        examples = [
            Example(int(row), int(w), int(codes[row]))
            for row, w in zip(labelled, weights[i], strict=True)
            if w
        ]
        examples += [
            Example(int(row), 1, int(label))
            for row, label in zip(picks[i], pick_labels[i], strict=True)
            if row >= 0
        ]
        reference.append(
            fit_tree(
                X,
                examples,
                subspaces[i].tolist(),
                n_classes,
                spread=spread if gap else None,
                max_depth=max_depth,
            )
        )
    return X, codes, columns, trees, reference, out_of_bag


@pytest.mark.parametrize("gap", [nightly(False), True])
@pytest.mark.parametrize("n_classes", [nightly(2), 4])
@pytest.mark.parametrize("kind", ["normal", nightly("coarse"), "sparse", "copies"])
@pytest.mark.parametrize("form", FORMS)
def test_trees_equal_exact_arithmetic(form, kind, n_classes, gap):
    for seed in range(3):
        _, _, _, trees, reference, _ = grow_both(form, kind, n_classes, gap=gap, seed=seed)
        for i, node in enumerate(reference):
            assert_same_tree(trees, i, node)


@pytest.mark.parametrize("form", ["ranks", "dense, swept"])
@pytest.mark.parametrize("max_depth", [1, 2])
def test_depth_limit(form, max_depth):
    _, _, _, trees, reference, _ = grow_both(form, "normal", 3, max_depth=max_depth)
    for i, node in enumerate(reference):
        assert_same_tree(trees, i, node)


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_both_searches_agree_on_large_bags(n_classes):
    """Up to the largest weight that bytes can count, and far beyond the reference's reach."""
    rng = np.random.default_rng(n_classes)
    n = 120
    X = np.asfortranarray(rng.normal(size=(n, 40)).round(1))
    codes = rng.integers(0, n_classes, size=n).astype(np.int32)
    labelled = np.arange(n, dtype=np.int32)
    weights = rng.multinomial(255, np.full(n, 1 / n), size=N_MEMBERS).astype(np.int32)
    none = np.empty((N_MEMBERS, 0), dtype=np.int32)
    subspaces = _kernels.plan.draw_subspaces(0, 0, N_MEMBERS, 40, 37)
    grow = _kernels.grow.grow
    arguments = codes, n_classes, labelled, weights, none, none, subspaces
    columns = _kernels.columns.Columns(X)
    for spread in (None, X.std(axis=0)):
        side_by_side = grow(columns, *arguments, spread=spread)
        ranked = grow(columns, *arguments, spread=spread, codes=_kernels.grow.rank_columns(X))
        swept = grow(columns, *arguments, spread=spread, side_by_side=0)
        order = np.argsort(X.T, axis=1).astype(np.int32)
        ordered = grow(columns, *arguments, spread=spread, order=order)
        swept_in_order = grow(columns, *arguments, spread=spread, order=order, side_by_side=0)
        for one, *others in zip(side_by_side, ranked, swept, ordered, swept_in_order, strict=True):
            for other in others:
                assert_array_equal(one, other)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_searches_agree_on_large_bags_that_draw_at_their_nodes(n_classes):
    rng = np.random.default_rng(n_classes)
    X = np.asfortranarray(rng.normal(size=(900, 30)).round(1))
    codes = rng.integers(0, n_classes, size=900).astype(np.int32)
    weights = rng.multinomial(800, np.full(900, 1 / 900), size=N_MEMBERS).astype(np.int32)
    none = np.empty((N_MEMBERS, 0), dtype=np.int32)
    rows = np.arange(900, dtype=np.int32)
    arguments = _kernels.columns.Columns(X), codes, n_classes, rows, weights, none, none, None
    order = np.argsort(X.T, axis=1).astype(np.int32)
    for max_depth in (None, 6):
        swept, *others = (
            _kernels.grow.grow(*arguments, node_features=5, max_depth=max_depth, **options)
            for options in ({"side_by_side": 0}, {}, {"order": order})
        )
        for other in others:
            for one, another in zip(swept, other, strict=True):
                assert_array_equal(one, another)


def test_huge_and_tiny_values_are_split():
    X = np.asfortranarray([[1e300, 5e-324], [-1e300, 0.0], [1.7e308, 1e-323], [-1.7e308, -5e-324]])
    codes = np.array([0, 1, 0, 1], dtype=np.int32)
    rows = np.arange(4, dtype=np.int32)
    weights = np.ones((1, 4), dtype=np.int32)
    none = np.empty((1, 0), dtype=np.int32)
    for feature in range(2):
        subspace = np.array([[feature]], dtype=np.int32)
        trees = _kernels.grow.grow(
            _kernels.columns.Columns(X), codes, 2, rows, weights, none, none, subspace
        )
        values = np.sort(X[:, feature])
        assert values[1] <= trees.threshold[0] < values[2]


@pytest.mark.parametrize("probability", [False, True])
@pytest.mark.parametrize("form", ["ranks", "float32", "sparse"])
@pytest.mark.parametrize("kind", ["normal", "coarse"])
def test_votes(form, kind, probability):
    X, _, columns, trees, reference, out_of_bag = grow_both(form, kind, 3)
    votes = _kernels.votes.vote(columns, trees, out_of_bag, 3, probability)
    expected = np.zeros((len(X), 3), dtype=int)
    for node, mask in zip(reference, unmask(out_of_bag, len(X)), strict=True):
        for row in np.flatnonzero(mask):
            counts = leaf_counts(node, X[row])
            total = sum(counts)
            if probability:
                expected[row] += [(2 * c * 65536 + total) // (2 * total) for c in counts]
            else:
                expected[row, predict(node, X[row])] += 1
    assert_array_equal(votes, expected)


def test_many_votes_do_not_overflow_the_counters():
    """More trees than the bit-sliced counters hold between two flushes."""
    n_members = 700
    X = np.asfortranarray(np.linspace(-1, 1, 130)[:, None])
    codes = np.full(130, -1, dtype=np.int32)
    codes[[0, -1]] = 0, 1
    rows = np.array([0, 129], dtype=np.int32)
    none = np.empty((n_members, 0), dtype=np.int32)
    columns = _kernels.columns.Columns(X)
    trees = _kernels.grow.grow(
        columns,
        codes,
        2,
        rows,
        np.ones((n_members, 2), dtype=np.int32),
        none,
        none,
        np.zeros((n_members, 1), dtype=np.int32),
    )
    everywhere = np.broadcast_to(row_mask(np.ones(130, dtype=bool)), (n_members, 3)).copy()
    votes = _kernels.votes.vote(columns, trees, everywhere, 2, False)
    assert_array_equal(votes[:, 0], np.where(X[:, 0] <= 0, n_members, 0))
    assert_array_equal(votes.sum(axis=1), n_members)


def voted(codes, n_classes, seed=0):
    """Random labels and weights for the unlabelled rows; a few rows have no label."""
    rng = np.random.default_rng(seed)
    label = np.where(codes >= 0, codes, rng.integers(-1, n_classes, size=len(codes)))
    weight = np.where(codes >= 0, 1.0, rng.uniform(0.3, 1.0, size=len(codes)))
    return label, weight


@pytest.mark.parametrize("row_cost", [0.0, np.inf], ids=["by rows", "by masks"])
@pytest.mark.parametrize("net", [False, True])
@pytest.mark.parametrize("form", ["ranks", "sparse"])
@pytest.mark.parametrize("kind", ["normal", "coarse"])
def test_expected_loss(form, kind, net, row_cost):
    X, codes, columns, trees, reference, out_of_bag = grow_both(form, kind, 3)
    label, weight = voted(codes, 3)
    features, losses, agreement = _kernels.importance.permute(
        columns,
        trees,
        0,
        0,
        out_of_bag,
        row_mask(label == np.arange(3)[:, None]),
        row_mask(codes < 0),
        weight,
        net=net,
        row_cost=row_cost,
    )
    at = 0
    for i, (node, mask) in enumerate(zip(reference, unmask(out_of_bag, len(X)), strict=True)):
        rows = [(row, label[row], weight[row]) for row in np.flatnonzero(mask) if label[row] >= 0]
        expected = tree_importance(node, X, rows, net=net)
        found = dict(zip(features[at : at + len(expected)], losses[at:], strict=False))
        at += len(expected)
        assert found.keys() == expected.keys()
        for feature, loss in expected.items():
            assert found[feature] == pytest.approx(loss, rel=1e-12, abs=1e-12)
        ours = [label[row] == predict(node, X[row]) for row, _, _ in rows if codes[row] < 0]
        assert agreement[i] == pytest.approx(np.mean(ours))
    assert at == len(features)


@pytest.mark.parametrize("row_cost", [0.0, np.inf], ids=["by rows", "by masks"])
@pytest.mark.parametrize("net", [False, True])
def test_sampled_permutations_average_to_the_expectation(net, row_cost):
    _, codes, columns, trees, _, out_of_bag = grow_both("ranks", "normal", 3)
    label, weight = voted(codes, 3)
    shared = (
        out_of_bag,
        row_mask(label == np.arange(3)[:, None]),
        row_mask(codes < 0),
        weight,
    )
    permute = _kernels.importance.permute
    features, expected, _ = permute(columns, trees, 0, 0, *shared, net=net)
    draws = []
    for seed in range(600):
        sampled_features, losses, _ = permute(
            columns, trees, seed, 0, *shared, net=net, sampled=True, row_cost=row_cost
        )
        assert_array_equal(sampled_features, features)
        draws.append(losses)
    error = np.std(draws, axis=0) / np.sqrt(len(draws))
    assert (np.abs(np.mean(draws, axis=0) - expected) < 5 * error + 1e-12).all()
    assert np.std(draws, axis=0).max() > 0


@pytest.mark.parametrize("net", [False, True])
def test_both_ways_to_permute_agree_on_large_trees(net):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(1500, 5)))
    codes = rng.integers(0, 3, size=1500).astype(np.int32)
    labelled, subspaces, weights, out_of_bag = draw_bags(codes, 5, 4, 0)
    none = np.empty((N_MEMBERS, 0), dtype=np.int32)
    columns = _kernels.columns.Columns(X)
    trees = _kernels.grow.grow(columns, codes, 3, labelled, weights, none, none, subspaces)
    assert np.diff(trees.offsets).min() > 500
    shared = (
        out_of_bag,
        row_mask(codes == np.arange(3)[:, None]),
        row_mask(codes < 0),
        np.ones(1500),
    )
    for sampled in (False, True):
        by_rows, by_masks = (
            _kernels.importance.permute(
                columns, trees, 0, 0, *shared, net=net, sampled=sampled, row_cost=row_cost
            )
            for row_cost in (0.0, np.inf)
        )
        assert_array_equal(by_rows[0], by_masks[0])
        assert_allclose(by_rows[1], by_masks[1], rtol=1e-9)


@pytest.mark.parametrize("form", [nightly("dense"), "float32", "sparse"])
@pytest.mark.parametrize("kind", [nightly("normal"), "coarse"])
def test_lists_and_masks_of_rows_give_the_same_bits(form, kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 5))
    X = np.asfortranarray(np.round(X) if kind == "coarse" else X)
    codes = rng.integers(0, 3, size=700).astype(np.int32)
    codes[600:] = -1
    labelled, subspaces, weights, out_of_bag = draw_bags(codes, 5, 4, 0)
    none = np.empty((N_MEMBERS, 0), dtype=np.int32)
    columns = _kernels.columns.Columns(FORMS[form](X)[0])
    trees = _kernels.grow.grow(columns, codes, 3, labelled, weights, none, none, subspaces)
    assert np.diff(trees.offsets).min() > 50

    ways = range(-1, 2)  # the kernel's choice, masks, lists
    for probability in (False, True):
        votes = [
            _kernels.votes.vote(columns, trees, out_of_bag, 3, probability, by_lists=way)
            for way in ways
        ]
        assert_array_equal(votes[1:], votes[:-1])
    quotas = np.full(N_MEMBERS, 9, dtype=np.int32)
    picked = [
        _kernels.votes.pick_own(columns, trees, 0, 0, out_of_bag, quotas, 0.4, by_lists=way)
        for way in ways
    ]
    assert_array_equal(picked[1:], picked[:-1])

    label, weight = voted(codes, 3)
    shared = out_of_bag, row_mask(label == np.arange(3)[:, None]), row_mask(codes < 0), weight
    for net, sampled, own, row_cost in product(
        (False, True), (False, True), (-1.0, 0.6), (0.0, 64.0, np.inf)
    ):
        options = {"net": net, "sampled": sampled, "own_labels_from": own, "row_cost": row_cost}
        lost = [
            _kernels.importance.permute(columns, trees, 3, 0, *shared, **options, by_lists=way)
            for way in ways
        ]
        for one, other in pairwise(lost):
            for first, second in zip(one, other, strict=True):
                assert first.tobytes() == second.tobytes()


def test_picks_are_the_surest_rows_of_each_class():
    codes = np.full(200, -1, dtype=np.int32)
    codes[:4] = [0, 0, 1, 1]
    _, _, _, out_of_bag = draw_bags(codes, 4, 2, 3)
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, size=200)
    confidence = rng.choice([0.6, 0.8, 0.9], size=200)
    unlabelled = np.flatnonzero(codes < 0)
    order = unlabelled[np.lexsort((-confidence[unlabelled], label[unlabelled]))]
    starts = np.searchsorted(label[order], [0, 1, 2]).astype(np.int32)
    taken = np.full((N_MEMBERS, 3), -1, dtype=np.int32)
    for i, mask in enumerate(unmask(out_of_bag, 200)):
        taken[i] = np.flatnonzero(~mask & (codes < 0))[:3]
    quotas = np.array([5, 2], dtype=np.int32)
    picks = _kernels.plan.pick_confident(
        3, 0, out_of_bag, taken, order.astype(np.int32), confidence, starts, quotas
    )
    chosen_first = set()
    for i, mask in enumerate(unmask(out_of_bag, 200)):
        pool = np.setdiff1d(np.flatnonzero(~mask & (codes < 0)), taken[i])
        for k, rows in enumerate(np.split(picks[i], [5])):
            assert len(set(rows)) == quotas[k]
            assert np.isin(rows, pool).all()
            assert (label[rows] == k).all()
            others = np.setdiff1d(pool[label[pool] == k], rows)
            assert confidence[rows].min() >= confidence[others].max()
        chosen_first.add(picks[i, 0])
    assert len(chosen_first) > 3, "equal confidences must not be taken in the same order by all"


def test_picks_run_out():
    codes = np.array([0, 1, -1, -1], dtype=np.int32)
    _, _, _, out_of_bag = draw_bags(codes, 2, 1, 0)
    none = np.empty((N_MEMBERS, 0), dtype=np.int32)
    order = np.array([2, 3], dtype=np.int32)
    starts = np.array([0, 2, 2], dtype=np.int32)
    quotas = np.array([3, 2], dtype=np.int32)
    picks = _kernels.plan.pick_confident(0, 0, out_of_bag, none, order, np.ones(4), starts, quotas)
    for rows, mask in zip(picks, unmask(out_of_bag, 4), strict=True):
        expected = np.flatnonzero(~mask & (codes < 0))
        assert sorted(rows[rows >= 0]) == expected.tolist()
        assert (rows[3:] == -1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 300])
def test_column_masks_compare_exactly(dtype, n_rows):
    """A float32 column against thresholds between two of its neighbours."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(n_rows, 1)).astype(dtype))
    codes = np.zeros(n_rows, dtype=np.int32)
    codes[X[:, 0] > np.median(X)] = 1
    rows = np.arange(n_rows, dtype=np.int32)
    none = np.empty((1, 0), dtype=np.int32)
    subspace = np.zeros((1, 1), dtype=np.int32)
    weights = np.ones((1, n_rows), dtype=np.int32)
    for table in (X, csc_array(X)):
        columns = _kernels.columns.Columns(table)
        trees = _kernels.grow.grow(columns, codes, 2, rows, weights, none, none, subspace)
        votes = _kernels.votes.vote(columns, trees, row_mask(np.ones((1, n_rows), bool)), 2, False)
        assert_array_equal(votes.argmax(axis=1), codes)
    assert_allclose(votes.sum(axis=1), 1)
