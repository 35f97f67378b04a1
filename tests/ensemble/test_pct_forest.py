"""Forests of predictive clustering trees: golden values, the slow reference, and properties."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array

from semisift import CompiledKernelsMissingWarning, FallbackWarning, PCTForestImportance
from semisift.base._training_data import TrainingData
from semisift.ensemble import pct_forest
from semisift.ensemble.pct_forest import PCTContext, choose_weight, folds, measure
from tests.conftest import in_numpy, make_data, needs_kernels
from tests.reference import pct as slow

T1 = np.array([[0, 0, 2], [1, 3, 2], [4, 0, 2], [5, 3, 2], [0, 2, 2], [5, 1, 2]], dtype=float)
T1_Y = np.array([0, 0, 1, 1, -1, -1])


def setting(X, y, weight=0.5, *, by_labelled=True, every=True, min_leaf=1, max_depth=-1, seed=0):
    """Return a setting whose trees see every column at every node, or as many as by default."""
    n = X.shape[1] if every else max(1, round(X.shape[1] ** 0.5))
    return PCTContext.build(
        TrainingData.build(X, y, seed=seed),
        label_weight=weight,
        n_candidates=n,
        n_descriptive=n,
        min_leaf=min_leaf,
        max_depth=max_depth,
        by_labelled=by_labelled,
    )


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("by_labelled", [True, False])
@pytest.mark.parametrize(
    ("weight", "first", "second"),
    [(1.0, 1.0, 0.0), (0.5, 0.7430865, 0.2276241), (0.0, 0.4861731, 0.4552483)],
)
def test_by_hand(weight, first, second, by_labelled):
    everything = np.ones(6, dtype=np.int32)
    tree = setting(T1, T1_Y, weight, by_labelled=by_labelled).grow(0, everything)
    assert (tree.feature[0], tree.threshold[0], tree.size[0]) == (0, 2.5, 6)
    assert_allclose(tree.gain[0], first, atol=5e-8)
    Z = (T1 - T1.mean(axis=0))[:, :2] / T1.std(axis=0)[:2]
    gain = slow.gain(list(range(6)), [0, 2, 5], [1, 3, 4], Z, T1_Y, weight, by_labelled)
    assert_allclose(gain, second, atol=5e-8)


def walk(tree, X, rows):
    """Yield each inner node with the rows that reach it."""
    at = {0: rows}
    for node in range(len(tree.feature)):
        yield node, at[node]
        if tree.feature[node] >= 0:
            left = X[at[node], tree.feature[node]] <= tree.threshold[node]
            at[tree.left[node]], at[tree.left[node] + 1] = at[node][left], at[node][~left]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(
    ("form", "weight", "by_labelled"),
    [
        (np.asarray, 0.95, True),
        (csc_array, 0.3, False),
        *(
            pytest.param(form, weight, by_labelled, marks=pytest.mark.nightly)
            for form in (np.asarray, csc_array)
            for weight in (0.0, 0.3, 0.95, 1.0)
            for by_labelled in (True, False)
        ),
    ],
)
def test_every_split_is_the_best_one(form, weight, by_labelled):
    data = make_data(n_rows=24, n_features=5, n_classes=3, per_class=4)
    X = data.X * (np.random.default_rng(0).random(data.X.shape) < 0.7)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    given = setting(form(X), data.y, weight, by_labelled=by_labelled, min_leaf=2)
    for member in range(2):
        bag = given.bag(member)
        tree = given.grow(member, bag)
        for node, rows in walk(tree, X, np.repeat(np.arange(24), bag)):
            assert tree.size[node] == len(rows)
            known = data.y[rows][data.y[rows] >= 0]
            assert_array_equal(tree.counts[node], np.bincount(known, minlength=3))
            best, _, _ = slow.best_split(
                rows.tolist(), range(5), X, Z, data.y, weight, by_labelled, min_leaf=2
            )
            done = weight > 0 and by_labelled and len(set(known.tolist())) < 2
            if done or best < 1e-12:
                assert tree.feature[node] == -1
                continue
            assert_allclose(tree.gain[node], best, atol=1e-9)
            left = rows[X[rows, tree.feature[node]] <= tree.threshold[node]]
            right = rows[X[rows, tree.feature[node]] > tree.threshold[node]]
            value = slow.gain(rows, left, right, Z, data.y, weight, by_labelled)
            assert_allclose(value, best, atol=1e-9)


@needs_kernels
@pytest.mark.parametrize("form", [np.asarray, csc_array])
@pytest.mark.parametrize(
    ("weight", "by_labelled"),
    [
        (0.5, True),
        (0.0, False),
        *(
            pytest.param(weight, by_labelled, marks=pytest.mark.nightly)
            for weight, by_labelled in [(0.0, True), (0.5, False), (1.0, True), (1.0, False)]
        ),
    ],
)
def test_numpy_gives_the_bits_of_the_kernel(form, weight, by_labelled):
    data = make_data(n_rows=90, n_features=40, n_classes=3)
    X = data.X * (np.random.default_rng(0).random(data.X.shape) < 0.6)
    given = setting(form(X), data.y, weight, by_labelled=by_labelled, every=False)
    bags = [given.bag(member) for member in range(3)]
    expected = [given.grow(member, bag) for member, bag in enumerate(bags)]
    with in_numpy():
        found = [given.grow(member, bag) for member, bag in enumerate(bags)]
    for trees in zip(found, expected, strict=True):
        for mine, other in zip(*trees, strict=True):
            assert_array_equal(mine, other)
    assert max(len(tree.feature) for tree in expected) > 5


def test_bags_hold_every_class_and_keep_their_sizes(data):
    given = setting(data.X, data.y)
    for member in range(20):
        bag = given.bag(member)
        assert [bag[data.y == label].sum() for label in (0, 1, -1)] == [6, 6, 48]
    assert not np.array_equal(given.bag(0), given.bag(1))


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
def test_importances_of_a_tree_add_up_to_what_its_leaves_gained(weight):
    data = make_data(n_rows=50, n_features=6)
    given = setting(data.X, data.y, weight, by_labelled=False)
    _, gains, _ = measure((0, 1), given, "genie3")
    tree = given.grow(0, given.bag(0))
    rows = np.repeat(np.arange(50), given.bag(0))
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)

    def impurity(part):
        of_labels, of_rows = slow.impurities(part, Z, data.y)
        return weight * of_labels / slow.gini(data.y.tolist()) + (1 - weight) * of_rows

    leaves = [part for node, part in walk(tree, data.X, rows) if tree.feature[node] < 0]
    gained = len(rows) * impurity(rows) - sum(len(leaf) * impurity(leaf) for leaf in leaves)
    assert_allclose(gains.sum(), gained, rtol=1e-9)


def test_symbolic_importance_is_the_share_of_the_rows():
    data = make_data()
    given = setting(data.X, data.y)
    columns, values, _ = measure((3, 4), given, "symbolic")
    tree = given.grow(3, given.bag(3))
    inner = tree.feature >= 0
    assert_array_equal(columns, tree.feature[inner])
    assert_allclose(values, tree.size[inner] / 60)


def test_permutation_importance_of_a_stump():
    X = np.column_stack([np.arange(40.0), np.random.default_rng(0).normal(size=40)])
    y = np.arange(40) // 20
    given = setting(X, y, 1.0, max_depth=1)
    for member in range(5):
        columns, values, _ = measure((member, member + 1), given, "permutation")
        assert_array_equal(columns, [0])
        assert values[0] > 1
    ranker = PCTForestImportance(n_members=20, importance="permutation", label_weight=1.0)
    with pytest.warns(UserWarning, match="no unlabelled row"):
        assert_array_equal(ranker.fit(X, y).ranking_, [1, 2])


def test_rows_end_where_labels_are_known():
    data = make_data(n_rows=40, n_features=4, per_class=2)
    given = setting(data.X, data.y, 0.2, by_labelled=False)
    tree = given.grow(0, given.bag(0))
    for form in (np.asarray, csc_array):
        ends = pct_forest.path_ends(tree, form(data.X))
        expected = np.zeros(40, dtype=int)
        for node, rows in walk(tree, data.X, np.arange(40)):
            if tree.counts[node].any():
                expected[rows] = node
        assert_array_equal(ends, expected)


@pytest.mark.parametrize("variant", ["default", "paper"])
def test_units_of_columns_do_not_matter(variant, data):
    ranker = PCTForestImportance(n_members=20, variant=variant, label_weight=0.5)
    expected = ranker.fit(data.X, data.y).scores_
    scaled = data.X * 2.0 ** np.arange(-4, 4) + 16.0
    assert_allclose(ranker.fit(scaled, data.y).scores_, expected, rtol=1e-6)


def test_without_weight_labels_do_not_matter(data):
    ranker = PCTForestImportance(n_members=20, label_weight=0)
    swapped = np.where(data.y < 0, -1, 1 - data.y)
    swapped[np.flatnonzero(data.y >= 0)[:6]] = 1
    first = setting(data.X, data.y, 0.0).grow(0, np.ones(60, dtype=np.int32))
    other = setting(data.X, swapped, 0.0).grow(0, np.ones(60, dtype=np.int32))
    assert_array_equal(first.feature, other.feature)
    assert_array_equal(first.gain, other.gain)
    assert ranker.fit(data.X).label_weight_ == 0


def test_no_classes_fall_back_on_the_columns(data):
    free = PCTForestImportance(n_members=20, label_weight=0).fit(data.X)
    for y in (None, np.where(data.y == 0, 0, -1)):
        with pytest.warns(FallbackWarning, match="as with label_weight=0"):
            ranker = PCTForestImportance(n_members=20).fit(data.X, y)
        assert ranker.label_weight_ == 0
    with pytest.warns(FallbackWarning):
        assert_array_equal(PCTForestImportance(n_members=20).fit(data.X).scores_, free.scores_)


def test_all_rows_labelled_is_a_supervised_forest(data):
    with pytest.warns(UserWarning, match="no unlabelled row"):
        ranker = PCTForestImportance(n_members=50, label_weight=1.0).fit(data.X, data.y_true)
    assert set(np.argsort(ranker.ranking_)[:2]) == {0, 1}


def test_the_weight_is_chosen_on_rows_held_out(data):
    training = TrainingData.build(data.X, data.y)
    held_out = [rows for _, rows in folds(training)]
    assert len(held_out) == 5
    assert_array_equal(np.sort(np.concatenate(held_out)), training.labels.labelled)
    for rows, out in folds(training):
        assert len(np.intersect1d(rows, out)) == 0
        assert np.isin(training.labels.unlabelled, rows).all()
    given = setting(data.X, data.y)
    chosen = choose_weight(training, given, 10, None)
    assert chosen in pct_forest.WEIGHTS
    assert choose_weight(training, given, 10, 2) == chosen
    ranker = PCTForestImportance(n_members=10, label_weight="cv").fit(data.X, data.y)
    expected = PCTForestImportance(n_members=10, label_weight=ranker.label_weight_)
    assert_array_equal(expected.fit(data.X, data.y).scores_, ranker.scores_)


def test_labels_that_tell_nothing_get_the_largest_weight():
    X = np.repeat(np.arange(10.0), 4)[:, None]
    y = np.tile([0, 1, -1, -1], 10)
    assert choose_weight(TrainingData.build(X, y), setting(X, y), 5, None) == 1.0


def test_the_printed_form_chooses_its_weight(data):
    ranker = PCTForestImportance(n_members=5, variant="paper").fit(data.X, data.y)
    assert ranker.label_weight_ in pct_forest.WEIGHTS
    assert PCTForestImportance(n_members=5).fit(data.X, data.y).label_weight_ == 0.95


def test_sparse_columns_stay_sparse(monkeypatch):
    rng = np.random.default_rng(0)
    X = csr_array((rng.random((80, 300)) < 0.05) * rng.integers(1, 4, size=(80, 300)).astype(float))
    y = np.where(np.arange(80) < 12, np.arange(80) % 2, -1)
    expected = PCTForestImportance(n_members=10).fit(X.toarray(), y).scores_
    toarray = csc_array.toarray

    def checked(self, *args, **options):
        assert self.shape != X.shape, "the whole matrix was made dense"
        return toarray(self, *args, **options)

    monkeypatch.setattr(csc_array, "toarray", checked)
    assert_array_equal(PCTForestImportance(n_members=10).fit(X, y).scores_, expected)


def test_unlabelled_rows_are_limited(data):
    full = PCTForestImportance(n_members=10).fit(data.X, data.y).scores_
    few = PCTForestImportance(n_members=10, max_unlabelled=10).fit(data.X, data.y).scores_
    assert not np.allclose(full, few)


def test_missing_kernels_warn_once(without_kernels, data):
    ranker = PCTForestImportance(n_members=2)
    with pytest.warns(CompiledKernelsMissingWarning, match="PCTForestImportance about 20"):
        ranker.fit(data.X, data.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.fit(data.X, data.y)
