"""EnsCLS: members, aggregation, and the same answer everywhere."""

import warnings

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import spearmanr

from semisift import (
    CLS,
    CompiledKernelsMissingWarning,
    EnsCLS,
    FallbackWarning,
    GraphWarning,
    parallel,
)
from semisift.base._training_data import TrainingData
from semisift.ensemble import enscls
from semisift.ensemble._som import batch_som
from semisift.ensemble.enscls import aggregate, make_context
from tests.conftest import in_numpy, needs_kernels
from tests.filters.test_cls import labelled_data, pairs_of
from tests.reference import cls as reference
from tests.reference.sklearn_enscls import sklearn_enscls

pytestmark = pytest.mark.filterwarnings("ignore::semisift.CompiledKernelsMissingWarning")

NIGHTLY = pytest.mark.nightly

SMALL = {"n_members": 40, "max_features": 6, "random_state": 0}


def make_data(kind="normal", n=120, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = {
        "normal": lambda: rng.normal(size=(n, p)),
        "whole": lambda: rng.integers(0, 1000, size=(n, p)).astype(float),
        "counts": lambda: rng.poisson(0.15, size=(n, p)).astype(float),
        "weighted counts": lambda: rng.poisson(0.1, size=(n, p)) * rng.random(p),
    }[kind]()
    return X, np.where(np.arange(n) < 12, np.arange(n) % 3, -1)


KINDS = ["normal", "whole", "counts", "weighted counts"]

SETTINGS = {
    "default": {},
    "union": {"graph": "union"},
    "plain sums": {"balance": None, "aggregation": "draws"},
    "ranks": {"aggregation": "rank"},
    "degree mean, no loops": {"mean": "D", "self_loops": False},
    "raw": {"heat_scale": "raw", "heat_constant": 50.0},
    "binary": {"weights": "binary"},
    "stratified": {"bootstrap": "stratified"},
    "some rows": {"max_unlabelled": 50},
    "minmax": {"feature_scaling": "minmax", "heat_scale": "raw", "heat_constant": 0.1},
    "many neighbours": {"n_neighbors": 45},
    "more neighbours than rows": {"n_neighbors": 500},
}


# --- aggregation ----------------------------------------------------------------------------------


def test_printed_and_corrected_division():
    features = np.array([[0, 1], [0, 2]])
    scores = np.array([[0.4, 0.9], [0.4, 0.2]])
    printed, draws = aggregate(features, scores, 4, "printed", 2)
    assert_allclose(printed, [0.4, 0.45, 0.1, 0.0])
    assert_allclose(aggregate(features, scores, 4, "draws", 2)[0], [0.4, 0.9, 0.2, np.nan])
    assert_array_equal(draws, [2, 1, 1, 0])


@pytest.mark.parametrize("how", ["draws", "rank", "zscore"])
def test_constant_member_scores_give_constant_scores(how):
    rng = np.random.default_rng(0)
    features = np.array([rng.choice(20, 4, replace=False) for _ in range(30)])
    scores, draws = aggregate(features, np.full((30, 4), 0.7), 20, how, 30)
    assert len(np.unique(draws)) > 1
    assert_allclose(scores[draws > 0], scores[draws > 0][0])
    assert np.isnan(scores[draws == 0]).all()


def test_what_is_not_a_number_counts_as_not_drawn():
    features = np.array([[0, 1, 2], [0, 1, 3]])
    scores = np.array([[0.5, np.nan, 0.1], [0.3, 0.2, np.inf]])
    assert_allclose(aggregate(features, scores, 4, "draws", 2)[0], [0.4, 0.2, 0.1, np.inf])
    assert_allclose(aggregate(features, scores, 4, "rank", 2)[0], [5 / 6, 1 / 3, 0.5, 1.0])
    zscores, draws = aggregate(features, scores, 4, "zscore", 2)
    assert np.isfinite(zscores).all()
    assert_array_equal(draws, [2, 1, 1, 1])
    assert np.isnan(aggregate(features, scores, 4, "printed", 2)[0][1])


# --- members --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_one_member_with_all_features_is_cls(kind):
    X, y = make_data(kind)
    one = EnsCLS(n_members=1, max_features=1.0, bootstrap=None, balance=None, aggregation="draws")
    assert_allclose(one.fit(X, y).scores_, CLS().fit(X, y).scores_, rtol=1e-9)


@pytest.mark.parametrize(("kind", "balance"), [("normal", None), ("normal", 1.0), ("counts", 0.3)])
def test_members_equal_loops(kind, balance):
    X, y = labelled_data(kind=kind)
    ranker = EnsCLS(n_members=3, max_features=4, balance=balance)
    setting = make_context(ranker, TrainingData.build(X, y))
    members = enscls.score_members((0, 3), setting)
    sample = enscls.draw_samples((0, 3), setting)
    drawn = members.features, members.scores, sample.copies
    for features, scores, copies in zip(*drawn, strict=True):
        bag = setting.constraints.rows[copies > 0]
        assert copies.max() == 1
        rows = np.concatenate([bag, np.flatnonzero(y < 0)])
        free = list(range(len(bag), len(rows)))
        expected = reference.cls(X[rows][:, features], free, *pairs_of(y[rows]), balance=balance)
        assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.parametrize("n", [10, 12, 30])
def test_printed_members_equal_loops_on_the_units_of_a_map(n):
    """However few unlabelled rows there are, a map of each subspace represents them."""
    X, y = labelled_data(n)
    X = X / 4  # or exp(-d2 / 0.1) vanishes
    setting = make_context(
        EnsCLS(n_members=3, max_features=4, variant="paper"), TrainingData.build(X, y)
    )
    members = enscls.score_members((0, 3), setting)
    sample = enscls.draw_samples((0, 3), setting)
    printed = {"graph": "union", "heat": 0.1, "self_loops": False, "mean": "plain"}
    drawn = members.features, members.scores, sample.copies
    for features, scores, copies in zip(*drawn, strict=True):
        bag = np.repeat(setting.constraints.rows, copies)
        units = batch_som(X[y < 0][:, features]).units
        Z = np.vstack([X[bag][:, features], units])
        labels = np.concatenate([y[bag], np.full(len(units), -1)])
        free = list(range(len(bag), len(Z)))
        expected = reference.cls(Z, free, *pairs_of(labels), **printed)
        assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::semisift.GraphWarning")
@needs_kernels
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=() if i % 4 == j else pytest.mark.nightly)
        for i, name in enumerate(SETTINGS)
        for j, kind in enumerate(KINDS)
    ],
)
def test_kernel_equals_numpy(kind, name):
    X, y = make_data(kind)
    ranker = EnsCLS(**SMALL, **SETTINGS[name])
    fast = ranker.fit(X, y)
    scores, draws = fast.scores_, fast.n_draws_
    with in_numpy():
        assert_allclose(scores, ranker.fit(X, y).scores_, rtol=1e-9, atol=1e-12)
        assert_array_equal(draws, ranker.n_draws_)


@needs_kernels
@pytest.mark.filterwarnings("ignore::semisift.GraphWarning")
@pytest.mark.parametrize("kind", ["normal", "counts"])
def test_printed_form_in_numpy(kind, monkeypatch):
    """Rows that were drawn twice count twice."""
    X, y = make_data(kind)
    ranker = EnsCLS(**SMALL, variant="paper")
    fast = ranker.fit(X / 10, y).scores_
    assert not np.isnan(fast).all()
    with in_numpy():
        assert_allclose(fast, ranker.fit(X / 10, y).scores_, rtol=1e-9)


@needs_kernels
@pytest.mark.parametrize("variant", ["default", "paper"])
@pytest.mark.filterwarnings("ignore::semisift.GraphWarning")
def test_pairs_are_drawn_instead_of_rows(variant, monkeypatch):
    X, _ = make_data()
    pairs = {"must_link": [(0, 3), (1, 4), (20, 30)], "cannot_link": [(0, 1), (3, 20), (30, 31)]}
    ranker = EnsCLS(**SMALL, variant=variant)
    setting = make_context(ranker, TrainingData.build(X, **pairs))
    assert setting.bootstrap == "pairs"
    counts = enscls.draw_samples((0, 40), setting).pair_counts
    assert counts.shape == (40, 6)
    assert counts.max() == (1 if variant == "default" else 3)
    assert (counts[:, 3:].sum(axis=1) > 0).all()  # a cannot-link in every member
    fast = ranker.fit(X, **pairs).scores_
    with in_numpy():
        assert_allclose(fast, ranker.fit(X, **pairs).scores_, rtol=1e-9)


def test_labels_and_pairs_together(monkeypatch):
    X, y = make_data()
    pairs = {"must_link": [(0, 50)], "cannot_link": [(1, 60)]}
    ranker = EnsCLS(**SMALL)
    fast = ranker.fit(X, y, **pairs).scores_
    assert not np.array_equal(fast, EnsCLS(**SMALL).fit(X, y).scores_)
    with in_numpy():
        assert_allclose(fast, ranker.fit(X, y, **pairs).scores_, rtol=1e-9)


def test_stratified_bags_have_all_classes():
    X, y = make_data()
    setting = make_context(EnsCLS(**SMALL, bootstrap="stratified"), TrainingData.build(X, y))
    copies = enscls.draw_samples((0, 40), setting).copies
    codes = y[setting.constraints.rows]
    for code in range(3):
        assert (copies[:, codes == code].sum(axis=1) > 0).all()
    few = np.where(np.arange(120) < 4, y, -1)
    plain = make_context(EnsCLS(**SMALL), TrainingData.build(X, few))
    assert (enscls.draw_samples((0, 200), plain).copies.sum(axis=1) < 4).any()


def test_rows_of_a_member_are_drawn_without_replacement():
    X, y = make_data()
    setting = make_context(EnsCLS(**SMALL, max_unlabelled=50), TrainingData.build(X, y))
    rows = enscls.draw_samples((3, 9), setting).unlabelled
    assert rows.shape == (6, 50)
    assert all(len(np.unique(own)) == 50 for own in rows)
    assert (y[rows] < 0).all()
    assert not np.array_equal(rows[0], rows[1])
    again = enscls.draw_samples((5, 6), setting).unlabelled
    assert_array_equal(again[0], rows[2])


# --- odd data -------------------------------------------------------------------------------------


def test_a_feature_that_nobody_drew_is_last():
    X, y = make_data()
    ranker = EnsCLS(n_members=3, max_features=4).fit(X, y)
    never = ranker.n_draws_ == 0
    assert never.any()
    assert np.isnan(ranker.scores_[never]).all()
    assert ranker.ranking_[never].min() > ranker.ranking_[~never].max()


def test_members_without_a_cannot_link_are_left_out():
    X, y = make_data()
    y = np.where(np.arange(120) < 3, np.arange(120) // 2, -1)  # classes 0, 0, 1
    ranker = EnsCLS(n_members=60, max_features=5).fit(X, y)
    # a bag lacks the only row of class 1 with probability (2/3)^3
    assert 0.5 * 300 < ranker.n_draws_.sum() < 0.85 * 300


@pytest.mark.parametrize("y", [np.full(120, -1), np.where(np.arange(120) < 5, 0, -1)])
def test_a_single_class_and_no_label(y):
    X, _ = make_data()
    with pytest.warns(FallbackWarning, match="no cannot-link pair") as caught:
        ranker = EnsCLS(**SMALL).fit(X, y)
    assert caught[0].filename == __file__
    assert np.isfinite(ranker.scores_).all()


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_few_unlabelled_rows():
    for n_unlabelled in range(4):
        X, _ = make_data(n=12 + n_unlabelled)
        y = np.where(np.arange(len(X)) < 12, np.arange(len(X)) % 3, -1)
        ranker = EnsCLS(**SMALL)
        fast = ranker.fit(X, y).scores_
        assert np.isfinite(fast).all()
        with in_numpy():
            assert_allclose(fast, ranker.fit(X, y).scores_, rtol=1e-9)


def test_one_label_of_each_class():
    X, _ = make_data()
    X[:, 7] += 5 * (np.arange(120) % 3)
    y = np.where(np.arange(120) < 3, np.arange(120) % 3, -1)
    assert EnsCLS(random_state=0).fit(X, y).ranking_[7] == 1


def test_identical_rows(monkeypatch):
    X, y = make_data()
    X, y = np.tile(X[:40], (3, 1)), np.concatenate([y[:40], np.full(80, -1)])
    ranker = EnsCLS(**SMALL)
    fast = ranker.fit(X, y).scores_
    with in_numpy():
        assert_allclose(fast, ranker.fit(X, y).scores_, rtol=1e-9)


def test_a_feature_that_is_constant_in_a_member_counts_as_not_drawn():
    X, y = make_data()
    X[:, 4] = 0.0
    X[0, 4] = 1.0  # one labelled row, which half of the bags lack
    ranker = EnsCLS(n_members=100, max_features=1.0, random_state=0).fit(X, y)
    assert 0 < ranker.n_draws_[4] < ranker.n_draws_[5]
    assert np.isfinite(ranker.scores_[4])


def test_weights_that_vanish():
    X = 1000 * np.random.default_rng(0).normal(size=(60, 40))
    y = np.where(np.arange(60) < 6, np.arange(60) % 2, -1)
    with pytest.warns(GraphWarning, match="Every weight of EnsCLS vanished.*heat_scale='mean'"):
        scores = EnsCLS(**SMALL, variant="paper").fit(X, y).scores_
    assert not np.nan_to_num(scores).any()  # 0, or 0 / 0
    with pytest.raises(ValueError, match="Every weight of EnsCLS vanished"):
        EnsCLS(**SMALL, heat_scale="raw").fit(X, y)


def test_heat_that_does_not_fit_is_told():
    X = np.random.default_rng(0).normal(size=(100, 20))
    y = np.full(100, -1)
    y[:8] = [0, 1] * 4
    with pytest.warns(GraphWarning, match="EnsCLS rests on weights as uneven"):
        EnsCLS(**SMALL, heat_constant=1e-2).fit(X, y)
    with pytest.raises(ValueError, match="Every weight of EnsCLS vanished"):
        EnsCLS(**SMALL, heat_constant=1e-8).fit(X, y)


def test_printed_division_ranks_by_the_draws():
    X, y = make_data(p=100)
    ranker = EnsCLS(n_members=200, random_state=0, aggregation="printed", balance=None).fit(X, y)
    assert spearmanr(ranker.n_draws_, -ranker.scores_)[0] > 0.6
    ranker.set_params(aggregation="draws").fit(X, y)
    assert abs(spearmanr(ranker.n_draws_, -ranker.scores_)[0]) < 0.3


# --- the same answer ------------------------------------------------------------------------------


SAME = {
    "default": {},
    "some rows": {"max_unlabelled": 500},
    "som": {"compress": "som"},
    "paper": {"variant": "paper"},
}


@pytest.mark.filterwarnings("ignore:EnsCLS rests on weights:semisift.GraphWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=NIGHTLY if name in ("som", "paper") else ()) for name in SAME]
)
def test_blocks_threads_and_processes_do_not_matter(name, monkeypatch):
    X, y = make_data("counts", n=620)
    ranker = EnsCLS(n_members=12, max_features=5, random_state=3, **SAME[name])
    expected = ranker.fit(X, y).scores_
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert_array_equal(ranker.fit(X, y).scores_, expected)
    for block_size in (1, 5):
        monkeypatch.setattr(parallel, "BLOCK_SIZE", block_size)
        for n_jobs in (1, 2):
            assert_array_equal(ranker.set_params(n_jobs=n_jobs).fit(X, y).scores_, expected)


@pytest.mark.parametrize("kind", KINDS[1:3])
def test_sparse_and_precision_do_not_matter(kind):
    X, y = make_data(kind)
    X = X.astype(np.float32).astype(np.float64)
    expected = EnsCLS(**SMALL).fit(X, y).scores_
    for form in (csr_array(X), X.astype(np.float32), csr_array(X.astype(np.float32))):
        assert_array_equal(EnsCLS(**SMALL).fit(form, y).scores_, expected)


def test_order_of_the_rows_does_not_matter_to_a_member():
    X, y = make_data("counts")
    order = np.concatenate([np.arange(12), 12 + np.random.default_rng(0).permutation(108)])
    ranker = EnsCLS(**SMALL)
    expected = ranker.fit(X, y).scores_
    assert_allclose(ranker.fit(X[order], y[order]).scores_, expected, rtol=1e-9)


def test_missing_kernels_warn_once(without_kernels):
    X, y = make_data()
    with pytest.warns(
        CompiledKernelsMissingWarning, match="EnsCLS about 10 times.* C compiler"
    ) as caught:
        EnsCLS(**SMALL).fit(X, y)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EnsCLS(**SMALL).fit(X, y)


def test_equals_the_straightforward_version():
    """Without ties, the version of the benchmark gives the same scores."""
    X, y = make_data(n=200, p=60)
    ranker = EnsCLS(n_members=30, max_features=8, random_state=5).fit(X, y)
    expected = sklearn_enscls(X, y, seed=5, n_members=30, n_drawn=8)
    assert_allclose(ranker.scores_, expected, rtol=1e-6, atol=1e-9)


def test_finds_the_feature_of_the_classes():
    rng = np.random.default_rng(0)
    classes = np.arange(300) % 2
    X = rng.normal(size=(300, 50))
    X[:, 20] += 5 * classes
    y = np.where(np.arange(300) < 10, classes, -1)
    assert EnsCLS(random_state=0).fit(X, y).ranking_[20] == 1
    assert EnsCLS(random_state=0, n_members=100).fit(X, y).ranking_[20] == 1


def test_real_data(load_dataset):
    X, y = load_dataset("basehock")
    given = np.full(len(y), -1)
    for label in np.unique(y):
        given[np.flatnonzero(y == label)[:3]] = label
    ranker = EnsCLS(random_state=0, n_members=400).fit(X, given)
    drawn = ranker.n_draws_ > 0
    assert np.isfinite(ranker.scores_[drawn]).all()
