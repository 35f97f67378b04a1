"""Rows with weights in the bags of committees and in the importance of features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import SEFR, SSFI, ForestImportance, _kernels
from semisift.base._sample_info import parse_design
from semisift.base._training_data import TrainingData
from semisift.committee._bootstrap import UNIT, Bootstrap
from semisift.committee._estimators import Member, permutation_losses
from semisift.utils._random import row_mask, unmask
from tests.conftest import make_data, needs_kernels
from tests.kernels.test_gaps import make_table
from tests.kernels.test_kernels import draw_bags, voted

RANKERS = [SSFI, SEFR, ForestImportance]


def weighted(weights, groups=None, n_labelled=4):
    n = len(weights)
    y = np.where(np.arange(n) < n_labelled, np.arange(n) % 2, -1)
    design = parse_design(n, groups=groups, sample_weight=weights)
    return Bootstrap.of(TrainingData.build(np.ones((n, 1)), y, design=design), stratified=False)


def test_rows_are_drawn_as_ever_and_count_by_their_weights():
    weights = np.random.default_rng(0).uniform(0.1, 3.0, size=30)
    for groups in (None, np.arange(30) // 3):
        plain = weighted(np.ones(30), groups, n_labelled=20).draw(3, 5, 60)
        drawn = weighted(weights, groups, n_labelled=20).draw(3, 5, 60)
        assert_array_equal(drawn[1], plain[1])
        share = UNIT * weights[:20] / weights[:20].mean()
        assert_array_equal(drawn[0], np.rint(plain[0] * share))
        assert_array_equal(weighted(weights, groups, 20).draw(3, 40, 41)[0][0], drawn[0][35])


def test_bags_in_which_nothing_has_a_weight_are_drawn_anew():
    counts, masks = weighted([0.0, 0.0, 0.0, 1.0, 1.0, 2.0]).draw(0, 0, 500)
    outside = unmask(masks, 6)
    assert (counts[:, 3] > 0).all()
    assert not counts[:, :3].any()
    assert (outside[:, :3].mean(axis=0) > 0.2).all()


@pytest.mark.parametrize("ranker", RANKERS)
def test_equal_weights_give_the_same_bits_as_none(ranker):
    data = make_data(n_rows=60, n_features=9)
    model = ranker(n_members=40)
    plain = model.fit(data.X, data.y).scores_
    for weight in (1.0, 0.1, 7.0):
        same = model.fit(data.X, data.y, sample_weight=np.full(60, weight)).scores_
        assert_array_equal(same, plain)


@pytest.mark.parametrize("ranker", RANKERS)
def test_scale_and_threads_change_nothing(ranker):
    data = make_data(n_rows=60, n_features=9)
    weights = np.random.default_rng(0).integers(1, 5, size=60).astype(float)
    one = ranker(n_members=40).fit(data.X, data.y, sample_weight=weights).scores_
    two = ranker(n_members=40, n_jobs=2).fit(data.X, data.y, sample_weight=weights).scores_
    assert_array_equal(one, two)
    large = ranker(n_members=40).fit(data.X, data.y, sample_weight=4 * weights).scores_
    assert_array_equal(one, large)
    assert not np.array_equal(one, ranker(n_members=40).fit(data.X, data.y).scores_)


@pytest.mark.parametrize("ranker", RANKERS)
def test_labelled_rows_without_weight_do_not_matter(ranker):
    data = make_data(n_rows=60, n_features=9)
    weights = np.random.default_rng(0).integers(1, 4, size=60).astype(float)
    nobody = np.flatnonzero(data.y >= 0)[::3]
    weights[nobody] = 0.0
    X = data.X.copy()
    X[nobody] = X[nobody][:, ::-1]  # within the range of the others
    scores = [
        ranker(n_members=40).fit(Z, data.y, sample_weight=weights).scores_ for Z in (data.X, X)
    ]
    assert_array_equal(*scores)


def test_some_labelled_row_must_have_a_weight():
    data = make_data()
    with pytest.raises(ValueError, match="leave labelled rows of two classes: all rows of 0 have"):
        SSFI(n_members=5).fit(data.X, data.y, sample_weight=data.y < 0)


@needs_kernels
@pytest.mark.parametrize(
    ("row_cost", "by_lists", "net"),
    [
        (0.0, 0, True),
        (np.inf, 1, True),
        (np.inf, 0, False),
        *(
            pytest.param(row_cost, by_lists, net, marks=pytest.mark.nightly)
            for row_cost in (0.0, np.inf)
            for by_lists in (0, 1)
            for net in (False, True)
        ),
    ],
)
def test_the_loss_of_fixed_trees_is_that_of_repeated_rows(net, by_lists, row_cost):
    """With missing values and without; bags stay as they are."""
    for seed, share in ((0, 0.0), (1, 0.3)):
        X, codes = make_table(seed, n=50, n_classes=3, share=share, few_values=False)
        X = np.asfortranarray(np.nan_to_num(X) if share == 0 else X)
        labelled, subspaces, weights, out_of_bag = draw_bags(codes, X.shape[1], 4, seed)
        columns = _kernels.columns.Columns(X, has_missing=share > 0)
        none = np.empty((len(weights), 0), dtype=np.int32)
        trees = _kernels.grow.grow(columns, codes, 3, labelled, weights, none, none, subspaces)
        label, confidence = voted(codes, 3)
        copies = np.random.default_rng(seed).integers(0, 4, size=50)
        rows = np.repeat(np.arange(50), copies)

        def lost(X, label, outside, counts, copies=None, has_missing=share > 0, trees=trees):
            shown = label == np.arange(3)[:, None]
            return _kernels.importance.permute(
                _kernels.columns.Columns(np.asfortranarray(X), has_missing=has_missing),
                *(trees, 0, 0, row_mask(outside), row_mask(shown), row_mask(label < -1), counts),
                net=net,
                row_cost=row_cost,
                by_lists=by_lists,
                copies=copies,
            )[:2]

        outside = unmask(out_of_bag, 50)
        found = lost(X, label, outside, confidence * copies, copies.astype(float))
        repeated = lost(X[rows], label[rows], outside.take(rows, axis=1), confidence[rows])
        assert_array_equal(found[0], repeated[0])
        assert_allclose(found[1], repeated[1], rtol=1e-12, atol=1e-12)
        plain = lost(X, label, outside, confidence)
        assert_array_equal(plain[1], lost(X, label, outside, confidence, np.ones(50))[1])


def test_the_loss_of_a_tree_of_scikit_learn_is_that_of_repeated_rows():
    data = make_data(n_rows=50, n_features=4)
    tree = DecisionTreeClassifier(random_state=0).fit(data.X[:20], data.y_true[:20])
    member = Member(0, np.arange(4, dtype=np.int32), tree, 2)
    copies = np.random.default_rng(0).integers(1, 4, size=30)
    rows = np.repeat(np.arange(30), copies)

    def lost(rows, weights, copies=None):
        X, label = data.X[20:][rows], data.y_true[20:][rows]
        right = tree.predict(X) == label
        return permutation_losses(member, X, label, right, weights, 0, False, copies)[1]

    found = lost(np.arange(30), copies * 1.0, copies * 1.0)
    assert_allclose(found, lost(rows, np.ones(len(rows))), rtol=1e-12)


def parted_rows():
    """Column 0 tells the classes among the first rows, column 1 among the others."""
    rng = np.random.default_rng(0)
    truth, first = np.arange(240) % 2, np.arange(240) % 4 < 2
    X = rng.normal(size=(240, 6))
    X[first, 0] += 4 * truth[first]
    X[~first, 1] += 4 * truth[~first]
    return X, np.where(np.arange(240) < 80, truth, -1), first


@pytest.mark.parametrize(
    "model",
    [
        ForestImportance(n_members=60),
        SEFR(n_members=60, max_iter=0),
        SSFI(n_members=60, max_iter=0),
        SSFI(n_members=60, max_iter=0, estimator=DecisionTreeClassifier()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_weights_are_repeated_rows(model):
    """Copies are drawn together, else most rows would be on both sides of a bag."""
    X, y, first = parted_rows()
    weights = np.where(first, 3.0, 1.0)  # 2 on average, also of the labelled rows
    rows = np.repeat(np.arange(240), weights.astype(int))
    weighed = model.fit(X, y, groups=np.arange(240), sample_weight=weights).scores_
    repeated = model.fit(X[rows], y[rows], groups=rows).scores_
    assert_allclose(2 * weighed, repeated, rtol=1e-9, atol=1e-9)
    plain = model.fit(X, y, groups=np.arange(240)).scores_
    assert weighed[0] / weighed[1] > 1.2 * plain[0] / plain[1]


@pytest.mark.parametrize("ranker", [SEFR, SSFI])
def test_rounds_with_weights_are_as_good_as_with_repeated_rows(ranker):
    """The handed rows differ, as one of several copies is one row."""
    X, y, first = parted_rows()
    weights = np.where(first, 3.0, 1.0)
    rows = np.repeat(np.arange(240), weights.astype(int))
    shares = []
    for table, known in (
        ((X, y), {"sample_weight": weights}),
        ((X[rows], y[rows]), {"groups": rows}),
    ):
        models = (ranker(n_members=100, random_state=seed) for seed in range(8))
        scores = np.array([model.fit(*table, **known).scores_[:2] for model in models])
        each = scores[:, 0] / scores.sum(axis=1)
        shares.append((each.mean(), each.std() / np.sqrt(7)))
    (weighed, one), (repeated, other) = shares
    assert abs(weighed - repeated) < 3 * np.hypot(one, other)


def test_estimators_that_take_no_weights_are_refused_by_name():
    data = make_data()
    with pytest.raises(ValueError, match="fit of KNeighborsClassifier does not take"):
        SSFI(estimator=KNeighborsClassifier()).fit(data.X, data.y, sample_weight=np.arange(60))
