"""CLS, CSFS and EnsCLS with more labelled rows than a matrix of all their pairs is made for."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from semisift import CLS, CSFS, EnsCLS, FallbackWarning
from semisift.base._training_data import TrainingData
from semisift.ensemble import _subspaces
from semisift.ensemble._subspaces import draw_members, make_setting
from semisift.utils import _columns, _neighbors
from tests.filters.test_cls import pairs_of
from tests.nightly import few_daily
from tests.reference import cls as reference

pytestmark = pytest.mark.filterwarnings(
    "ignore::semisift.CompiledKernelsMissingWarning", "ignore::semisift.GraphWarning"
)

GIVEN = {"must_link": [(30, 31), (0, 32)], "cannot_link": [(30, 33), (1, 34)]}


def make_data(n=36, p=5, n_labelled=24, n_classes=3, seed=0):
    """Return rows of which the first are labelled, with one class that has a single row."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, p)), 1)
    X[7] = X[4]  # of the same class
    y = np.where(np.arange(n) < n_labelled, np.arange(n) % n_classes, -1)
    y[5] = n_classes
    return X, y


@pytest.fixture
def few_at_once(monkeypatch):
    """Let ten rows be too many for a matrix of their pairs, and work on few values at a time."""
    monkeypatch.setattr(_columns, "MAX_SQUARED", 10)
    monkeypatch.setattr(_columns, "BLOCK_VALUES", 30)


def loops(X, y, must_link=(), cannot_link=(), **options):
    must, cannot = pairs_of(y)
    must, cannot = [*must, *must_link], [*cannot, *cannot_link]
    used = {row for pair in (*must, *cannot) for row in pair} | set(np.flatnonzero(y >= 0))
    free = [i for i in range(len(X)) if i not in used]
    return reference.cls(X, free, must, cannot, **options)


# --- CLS ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", few_daily([np.asarray, csr_array], 1))
@pytest.mark.parametrize("pairs", [{}, GIVEN], ids=["labels", "labels and pairs"])
@pytest.mark.parametrize(
    ("params", "options"),
    [
        ({}, {}),
        ({"mean": "plain", "self_loops": False}, {"mean": "plain", "self_loops": False}),
        ({"weights": "binary"}, {"heat": 0}),
        ({"heat_scale": "raw", "heat_constant": 3.0}, {"heat": 3.0}),
    ],
    ids=["default", "no loops", "binary", "raw"],
)
def test_cls_equals_loops(form, pairs, params, options, few_at_once):
    X, y = make_data()
    scores = CLS(**params).fit(form(X), y, **pairs).scores_
    assert_allclose(-scores, loops(X, y, **pairs, **options), rtol=1e-9)


def test_columns_that_hardly_differ_within_a_class(few_at_once):
    X, y = make_data()
    X[:, 0] = 1e6 * (y + 1) + np.arange(36) % 2  # all but 1e-12 of the squares cancel
    X[:, 1] = np.where(np.arange(36) < 12, 0.0, 1e5) + np.arange(36) % 2
    scores = CLS(heat_scale="raw", heat_constant=1.0).fit(X, y).scores_
    assert_allclose(-scores, loops(X, y, heat=1.0), rtol=1e-9)


def test_a_huge_value_leaves_the_other_distances(few_at_once):
    X, y = make_data()
    plain = CLS(heat_scale="raw", heat_constant=3.0).fit(X, y).scores_
    X[35, 0] = 1e12  # unlabelled
    X[3, 0] = 1e12
    scores = CLS(heat_scale="raw", heat_constant=3.0).fit(X, y).scores_
    assert_allclose(-scores, loops(X, y, heat=3.0), rtol=1e-9)
    assert not np.allclose(scores, plain)


def test_rows_in_given_pairs_alone(few_at_once):
    X, _ = make_data()
    y = np.full(len(X), -1)
    pairs = {"must_link": [(i, i + 1) for i in range(0, 20, 2)], "cannot_link": [(0, 5), (7, 30)]}
    scores = CLS().fit(X, **pairs).scores_
    assert_allclose(-scores, loops(X, y, **pairs), rtol=1e-9)


def test_one_class_of_many_rows_is_told(few_at_once):
    X, y = make_data(n_classes=1)
    y[5] = 0
    with pytest.warns(FallbackWarning, match="no cannot-link pair"):
        scores = CLS().fit(X, y).scores_
    assert_allclose(-scores, loops(X, y), rtol=1e-9)


def test_weights_that_vanish_are_refused(few_at_once):
    X, y = make_data()
    with pytest.raises(ValueError, match="Every weight of CLS vanished"):
        CLS(heat_constant=1e-9).fit(np.random.default_rng(0).normal(size=X.shape), y)


# --- CSFS -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", few_daily([np.asarray, csr_array], 1))
@pytest.mark.parametrize("pairs", [{}, GIVEN], ids=["labels", "labels and pairs"])
@pytest.mark.parametrize("params", [{}, {"selection": "all"}, {"variant": "later"}])
def test_csfs_is_the_same(form, pairs, params, monkeypatch):
    X, y = make_data()
    ranker = CSFS(**params).fit(form(X), y, **pairs)
    expected, kept = ranker.scores_, ranker.n_kept_
    monkeypatch.setattr(_columns, "MAX_SQUARED", 10)
    monkeypatch.setattr(_neighbors, "BLOCK_VALUES", 300)
    assert_allclose(ranker.fit(form(X), y, **pairs).scores_, expected, rtol=1e-9)
    assert ranker.n_kept_ == kept


# --- EnsCLS ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [{}, {"bootstrap": "stratified"}, {"bootstrap": None, "balance": None}, {"variant": "paper"}],
    ids=["default", "stratified", "no bootstrap", "paper"],
)
def test_members_that_list_their_own_pairs(params, path, monkeypatch):
    X, y = make_data()
    ranker = EnsCLS(n_members=12, max_features=3, random_state=0, **params)
    expected = ranker.fit(X / 3, y).scores_
    with_pairs = ranker.fit(X / 3, y, **GIVEN).scores_
    monkeypatch.setattr(_columns, "MAX_SQUARED", 10)
    assert_allclose(ranker.fit(X / 3, y).scores_, expected, rtol=1e-12, atol=1e-12)
    assert_allclose(ranker.fit(X / 3, y, **GIVEN).scores_, with_pairs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bootstrap", few_daily(["stratified", None, "plain"], 2))
def test_members_keep_some_of_many_labelled_rows(bootstrap, monkeypatch):
    X, y = make_data()
    monkeypatch.setattr(_columns, "MAX_SQUARED", 10)
    monkeypatch.setattr(_subspaces, "MAX_LABELLED", 8)
    data = TrainingData.build(X, y, **GIVEN)
    ranker = EnsCLS(n_members=40, max_features=3, bootstrap=bootstrap)
    setting = make_setting(ranker, data)
    copies = draw_members((0, 40), setting).copies
    codes = y[setting.constraints.rows]
    assert_array_equal((copies[:, codes >= 0] > 0).sum(axis=1), 8)
    used = (copies[:, codes >= 0] > 0).mean(axis=0)
    assert used.min() > 0  # none is left out by all
    if bootstrap == "stratified":
        for code in range(4):
            assert (copies[:, codes == code] > 0).any(axis=1).all()
    if bootstrap is None:
        assert copies[:, codes < 0].all()  # what is in a given pair alone stays
    assert_array_equal(draw_members((7, 9), setting).copies, copies[7:9])
    assert np.isfinite(ranker.fit(X, y, **GIVEN).scores_).all()


def test_some_of_many_labelled_rows_tell_as_much(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(400) < 300, np.arange(400) % 2, -1)
    X = rng.normal(size=(400, 20))
    X[:, :4] += np.outer(np.arange(400) % 2, [2.0, 1.5, 1.0, 0.5])
    ranker = EnsCLS(n_members=200, random_state=0)
    expected = ranker.fit(X, y).scores_
    monkeypatch.setattr(_columns, "MAX_SQUARED", 100)
    monkeypatch.setattr(_subspaces, "MAX_LABELLED", 100)
    scores = ranker.fit(X, y).scores_
    assert np.corrcoef(scores, expected)[0, 1] > 0.98
    assert not np.array_equal(scores, expected)


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize(
    "ranker", [CLS(), CSFS(), EnsCLS(n_members=2, max_features=3)], ids=["CLS", "CSFS", "EnsCLS"]
)
def test_no_matrix_of_all_pairs(ranker, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(5100) < 5000, np.arange(5100) % 2, -1)
    X = rng.normal(size=(5100, 4)) + y[:, None]
    monkeypatch.setattr(_columns, "MAX_SQUARED", 1000)
    monkeypatch.setattr(_subspaces, "MAX_LABELLED", 1000)
    tracemalloc.start()
    try:
        ranker.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5000 * 5000 * 8
