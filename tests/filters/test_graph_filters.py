"""The filters on neighbour graphs: golden values, slow versions, properties, odd data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from semisift import (
    C4,
    GSFS,
    LSDF,
    SLS,
    FallbackWarning,
    LaplacianScore,
    NoUnlabelledDataWarning,
    SemiFisherScore,
    SSelect,
)
from semisift.base._training_data import TrainingData
from semisift.filters.gsfs import gain
from semisift.utils._information import bin_columns, mutual_information
from tests.nightly import nightly
from tests.reference import graph_filters as slow

pytestmark = pytest.mark.usefixtures("stay_sparse")

# Toy data: the first column is relevant, the second noise, the third constant.
T1 = np.array([[0, 0, 2], [1, 3, 2], [4, 0, 2], [5, 3, 2], [0, 2, 2], [5, 1, 2]], dtype=float)
Y1 = np.array([0, 0, 1, 1, -1, -1])
ONE = {"n_neighbors": 1, "graph": "union"}
BINARY = {**ONE, "weights": "binary"}

# name, parameters, values as printed, whether low values are better
GOLDEN = [
    (LaplacianScore, BINARY, [2 / 42, 1.0], True),
    (
        LaplacianScore,
        {**ONE, "heat_scale": "raw", "heat_constant": 2},
        [0.0763447, 0.7227297],
        True,
    ),
    (C4, BINARY, [1 / 21 / 33, 1.0], True),
    (SLS, BINARY, [4 / 59, 28 / 19], True),
    (SSelect, BINARY, [0.1 / 21, 1.0], True),
    (LSDF, ONE, [66 / 202, 18 / 1810], False),
    (SemiFisherScore, ONE, [20.9166667 / 5, 1.5833333 / 29], False),
]


@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("cls", "options", "values", "low"), GOLDEN)
def test_golden_values(cls, options, values, low, form):
    scores = cls(**options).fit(form(T1), Y1).scores_
    assert_allclose(-scores if low else scores, [*values, np.nan], rtol=1e-6)


def make_rows(kind, n_classes, seed=0):
    """Return 60 rows of normal columns, or of counts with identical rows and sparse columns."""
    rng = np.random.default_rng(seed)
    y_true = np.arange(60) % n_classes
    X = rng.normal(size=(60, 6)) + y_true[:, None] * [1.5, 0.5, 0, 0, 0, 0]
    if kind == "counts":
        X = rng.poisson(np.exp(np.minimum(X, 2.0) - 1)).astype(float)
        X[:, 4] = rng.random(60) < 0.05
        X[5, 4] = 1.0
        X[40:44] = X[0]
    y = np.where(np.arange(60) < 4 * n_classes, y_true, -1)
    return X, y


def expected_scores(cls, X, y, S):
    must, cannot = slow.pairs_of(y)
    score = {
        LaplacianScore: lambda f: -slow.laplacian(S, f),
        SLS: lambda f: -slow.sls(S, y, f),
        SSelect: lambda f: -slow.sselect(S, y, f),
        LSDF: lambda f: slow.lsdf(S, must, cannot, f),
        SemiFisherScore: lambda f: slow.semi_fisher(S, y, f),
        C4: lambda f: -slow.c4(S, must, cannot, f),
    }[cls]
    return np.array([score(f) for f in X.T])


@pytest.mark.parametrize("cls", [LaplacianScore, SLS, SSelect, LSDF, SemiFisherScore, C4])
@pytest.mark.parametrize(
    ("kind", "n_classes"),
    [("normal", 2), ("counts", 3), nightly(("normal", 3)), nightly(("counts", 2))],
)
@pytest.mark.parametrize("variant", ["default", "paper"])
def test_against_the_slow_version(cls, kind, n_classes, variant):
    X, y = make_rows(kind, n_classes)
    ranker = cls(variant=variant)
    symmetry = "union" if variant == "paper" else "mean"
    S = slow.graph(X, ranker.n_neighbors, symmetry, ranker.weights)
    expected = expected_scores(cls, X, y, S)
    for form in (X, sparse.csr_array(X)):
        assert_allclose(ranker.fit(form, y).scores_, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["normal", "counts"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
def test_gsfs_against_the_slow_version(kind, n_classes):
    X, y = make_rows(kind, n_classes)
    X = np.column_stack([X, X[:, 0], X[:, 1] > 0.5])
    S = slow.graph(X, 10)
    criterion = np.array([slow.sls(S, y, f) for f in X.T])
    criterion[6] += 1e-9  # the copy is visited after the original
    for min_gain in (0.05, 0.5, -1):
        ranker = GSFS(n_features_to_select=5, min_gain=min_gain)
        kept = slow.gsfs(criterion, X, y, 5, min_gain)
        for form in (X, sparse.csr_array(X)):
            ranker.fit(form, y)
            assert_allclose(ranker.s_laplacian_, [slow.sls(S, y, f) for f in X.T], rtol=1e-9)
            order = np.argsort(ranker.ranking_)[: len(kept)]
            assert_array_equal(
                np.where(order == 6, 0, order), np.where(np.array(kept) == 6, 0, kept)
            )
            assert_array_equal(ranker.scores_[order], 8.0 - np.arange(len(kept)))


# --- properties -----------------------------------------------------------------------------------

ALL = [LaplacianScore, SLS, SSelect, LSDF, SemiFisherScore, C4, GSFS]
WITH_LABELS = [cls for cls in ALL if cls.labels_needed != "none"]


@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("kind", ["normal", nightly("counts")])
def test_affine_columns_on_a_fixed_graph(cls, kind):
    X, y = make_rows(kind, 2)
    ranker = cls(graph=slow.graph(X))
    expected = ranker.fit(X, y).scores_
    moved = X * [2.0, 1e-3, -5.0, 1e6, 0.1, 7.0] + [0.0, 1.0, -3.0, 1e5, 0.0, 100.0]
    assert_allclose(ranker.fit(moved, y).scores_, expected, rtol=1e-8)


@pytest.mark.parametrize("cls", [LaplacianScore, SSelect, C4])
def test_scale_of_a_given_graph(cls):
    X, y = make_rows("normal", 2)
    S = slow.graph(X)
    expected = cls(graph=S).fit(X, y).scores_
    assert_allclose(cls(graph=1e-3 * S).fit(X, y).scores_, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("kind", ["normal", nightly("counts")])
def test_a_constant_column_changes_no_other(cls, kind):
    X, y = make_rows(kind, 2)
    ranker = cls(heat_scale="median")
    expected = ranker.fit(X, y)
    order = expected.ranking_.copy()
    wider = ranker.fit(np.column_stack([X, np.full(60, 3.0)]), y)
    assert np.isnan(wider.scores_[-1])
    assert_array_equal(np.argsort(wider.ranking_)[:6], np.argsort(order))


@pytest.mark.parametrize("kind", ["normal", "counts"])
def test_laplacian_score_is_between_0_and_2(kind):
    X, _ = make_rows(kind, 2)
    scores = -LaplacianScore(n_neighbors=3).fit(X).scores_
    assert (scores >= 0).all()
    assert (scores <= 2).all()


def test_laplacian_score_of_eigenvectors():
    X, _ = make_rows("normal", 2)
    S = slow.graph(X)
    D = np.diag(S.sum(axis=1))
    values, vectors = np.linalg.eig(np.linalg.solve(D, D - S))
    order = np.argsort(values.real)[1:]
    scores = -LaplacianScore(graph=S).fit(vectors.real[:, order]).scores_
    assert_allclose(scores, values.real[order], rtol=1e-9)


def fisher(X, y):
    groups = [X[y == label] for label in np.unique(y)]
    between = sum(len(group) * (group.mean(axis=0) - X.mean(axis=0)) ** 2 for group in groups)
    return between / sum(len(group) * group.var(axis=0) for group in groups)


def test_laplacian_score_on_the_graph_of_classes_is_fisher():
    X, _ = make_rows("normal", 3)
    y = np.arange(60) % 3
    S = (y[:, None] == y) / 20.0
    assert_allclose(-1 / LaplacianScore(graph=S).fit(X).scores_ - 1, fisher(X, y))
    labelled = Y1 >= 0
    S = (Y1[labelled][:, None] == Y1[labelled]) / 2.0
    assert_allclose(-LaplacianScore(graph=S).fit(T1[labelled]).scores_[:2], [1 / 17, 1.0])


def test_sselect_with_the_graph_alone_is_laplacian():
    X, y = make_rows("counts", 3)
    assert_allclose(
        SSelect(graph_weight=1).fit(X, y).scores_, LaplacianScore().fit(X).scores_, rtol=1e-12
    )


def test_sselect_bounds_and_signs():
    X, y = make_rows("normal", 2)
    S = slow.graph(X)
    expected = SSelect(graph=S).fit(X, y).scores_
    assert (-expected >= 0).all()
    assert (-expected <= 2 * 0.1 + 0.9).all()
    swapped = np.where(y < 0, -1, 1 - y)
    assert_allclose(SSelect(graph=S).fit(-X, swapped).scores_, expected, rtol=1e-12)


def test_c4_follows_laplacian_where_constraints_are_equal():
    X, y = make_rows("normal", 2)
    X[y >= 0] = X[y >= 0][:, :1]
    assert_array_equal(C4().fit(X, y).ranking_, LaplacianScore().fit(X).ranking_)
    # all are 0, unless an offset orders them
    X[y >= 0] = y[y >= 0][:, None]
    assert_array_equal(C4().fit(X, y).scores_, 0.0)
    ordered = C4(offset=1e-12).fit(X, y)
    assert_array_equal(ordered.ranking_, LaplacianScore().fit(X).ranking_)


def test_lsdf_with_heavy_must_links_ranks_as_the_constraint_score():
    X, y = make_rows("normal", 3)
    m, c = np.array([slow.pair_sums(f, *slow.pairs_of(y)) for f in X.T]).T
    heavy = LSDF(must_link_weight=1e9).fit(X, y)
    assert_array_equal(heavy.ranking_, np.argsort(np.argsort(m / c)) + 1)


def test_lsdf_near():
    X, y = make_rows("normal", 2)
    S = np.ones((60, 60)) - np.eye(60)
    assert_allclose(
        LSDF(graph=S, between="near").fit(X, y).scores_, LSDF(graph=S).fit(X, y).scores_
    )
    with pytest.warns(FallbackWarning, match="No differently labelled rows are neighbours"):
        near = LSDF(**ONE, between="near").fit(T1, Y1)
    assert_array_equal(near.scores_, LSDF(**ONE).fit(T1, Y1).scores_)


def test_semi_fisher_contains_fisher():
    X, y = make_rows("normal", 3)
    X, y = X[y >= 0], y[y >= 0]
    with pytest.warns(NoUnlabelledDataWarning):
        ranker = SemiFisherScore(graph_weight=0, variance_weight=0).fit(X, y)
    assert_allclose(ranker.scores_, fisher(X, y))


def test_semi_fisher_balanced():
    X, y = make_rows("normal", 2)
    ranker = SemiFisherScore(balance=True).fit(X, y)
    S, f = slow.graph(X, 20, weights="binary"), X[:, 0]
    groups = [f[y == 0], f[y == 1]]
    between = np.mean([(group.mean() - f.mean()) ** 2 for group in groups])
    within = np.mean([group.var() for group in groups])
    near = 2 * slow.difference(S, f) / (S.sum() / 2)
    assert_allclose(ranker.scores_[0], (between + f.var()) / (within + near))


MRMR = np.array(
    [[0, 0, 0, 1, 1, 1, 1, 1]] * 2 + [[0, 0, 1, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 0, 1]],
    dtype=float,
).T


def test_gain_by_hand():
    y = np.repeat([0, 1], 4)
    binned = bin_columns(MRMR)
    alone = mutual_information(binned, y)
    assert_allclose(alone / np.log(2), [0.5487949, 0.5487949, 0.1887219, 0], atol=1e-7)
    assert_allclose(gain(binned, y, binned.column(0), alone), [0, 0, 1.0661451, np.inf], rtol=1e-6)


def test_gsfs_never_keeps_a_copy():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(100) < 60, np.arange(100) % 2, -1)
    X = rng.normal(size=(100, 10)) + (np.arange(100) % 2)[:, None] * np.linspace(0, 2, 10)
    ranker = GSFS(n_features_to_select=20).fit(np.hstack([X, X]), y)
    kept = np.argsort(ranker.ranking_)[: ranker.n_kept_]
    assert 1 < len(np.unique(kept % 10)) == ranker.n_kept_
    assert_array_equal(np.sort(ranker.ranking_), np.arange(1, 21))


def test_gsfs_that_keeps_all_ranks_by_its_first_step():
    X, _ = make_rows("normal", 2)
    y = np.where(np.arange(60) < 30, np.arange(60) % 2, -1)
    ranker = GSFS(min_gain=-1, n_features_to_select=3).fit(X, y)
    assert_array_equal(ranker.ranking_, SLS().fit(X, y).ranking_)
    assert_array_equal(np.sort(ranker.scores_), np.arange(1, 7))


# --- labels and pairs that do not suffice ---------------------------------------------------------


@pytest.mark.parametrize("cls", [SLS, SSelect, LSDF, C4])
@pytest.mark.parametrize("kind", ["normal", "counts"])
def test_without_classes_the_laplacian_score_ranks(cls, kind):
    X, y = make_rows(kind, 2)
    ranker = cls(n_neighbors=10, weights="heat")
    expected = LaplacianScore().fit(X).scores_
    for given, found in [(None, "no label"), (np.minimum(y, 0), "labels of one class only")]:
        message = f"{cls.__name__} has {found}: it ranks by"
        with pytest.warns(FallbackWarning, match=message) as caught:
            ranker.fit(X, given)
        assert caught[0].filename == __file__
        assert_allclose(ranker.scores_, expected, rtol=1e-9)


def test_without_classes_gsfs_and_semi_fisher():
    X, y = make_rows("normal", 2)
    with pytest.warns(FallbackWarning, match=r"GSFS has 8 labelled rows.*min_gain=-1"):
        GSFS().fit(X, y)
    with pytest.warns(FallbackWarning, match="GSFS has no label"):
        assert_array_equal(GSFS().fit(X).ranking_, LaplacianScore().fit(X).ranking_)
    S = slow.graph(X, 20, weights="binary")
    expected = [f.var() / (2 * slow.difference(S, f)) for f in X.T]
    for given in (None, np.minimum(y, 0)):
        with pytest.warns(
            FallbackWarning, match="the variance of all rows over that of neighbours"
        ):
            assert_allclose(SemiFisherScore().fit(X, given).scores_, expected)


@pytest.mark.parametrize("cls", WITH_LABELS)
@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
def test_nothing_unlabelled(cls):
    X, _ = make_rows("normal", 3)
    y = np.arange(60) % 3
    with pytest.warns(NoUnlabelledDataWarning):
        ranker = cls().fit(X, y)
    must, cannot = slow.pairs_of(y)
    if cls is LSDF:
        sums = np.array([slow.pair_sums(f, must, cannot) for f in X.T])
        assert_allclose(ranker.scores_, sums[:, 1] / sums[:, 0] / 100)
    elif cls is not GSFS:
        S = slow.graph(X, ranker.n_neighbors, weights=ranker.weights)
        assert_allclose(ranker.scores_, expected_scores(cls, X, y, S), rtol=1e-9)


@pytest.mark.parametrize("cls", [SLS, SSelect, SemiFisherScore])
def test_classes_of_one_row(cls):
    X, _ = make_rows("counts", 3)
    y = np.where(np.arange(60) < 3, np.arange(60), -1)
    S = slow.graph(X, cls().n_neighbors, weights=cls().weights)
    assert_allclose(cls().fit(X, y).scores_, expected_scores(cls, X, y, S), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_no_must_link_pair():
    X, _ = make_rows("normal", 2)
    y = np.where(np.arange(60) < 3, np.arange(60), -1)
    c = np.array([slow.pair_sums(f, *slow.pairs_of(y))[1] for f in X.T])
    with pytest.warns(FallbackWarning, match="C4 has no must-link pair") as caught:
        scores = C4().fit(X, y).scores_
    assert caught[0].filename == __file__
    assert_allclose(scores, LaplacianScore().fit(X).scores_ * X.var(axis=0) / c)
    assert_allclose(
        LSDF().fit(X, y).scores_, expected_scores(LSDF, X, y, slow.graph(X, 5, weights="binary"))
    )
    with pytest.warns(FallbackWarning, match="LSDF has no must-link pair and no unlabelled"):
        assert_allclose(LSDF().fit(X[:3], y[:3]).scores_, c)


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_columns_that_tell_classes_and_nothing_else():
    X, y = np.random.default_rng(0).normal(size=(40, 5)), np.repeat([0, 1], 20)
    X[:, 1], X[:, 3] = 3.0 * y, -y
    ranker = LSDF().fit(X, y)
    assert_array_equal(np.isposinf(ranker.scores_), [False, True, False, True, False])
    assert_array_equal(np.sort(ranker.ranking_[[1, 3]]), [1, 2])


@pytest.mark.parametrize("kind", ["normal", "counts"])
@pytest.mark.parametrize("with_labels", [True, False])
def test_given_pairs(kind, with_labels):
    X, y = make_rows(kind, 2)
    y = y if with_labels else np.full(60, -1)
    must = [(20, 30), (0, 42), (31, 20)]
    cannot = [(0, 21), (50, 30), (41, 50)]
    labels = slow.pairs_of(y)
    pairs = labels[0] + must, labels[1] + cannot
    for form in (X, sparse.csr_array(X)):
        for cls, score in ((LSDF, slow.lsdf), (C4, lambda *args: -slow.c4(*args))):
            S = slow.graph(X, cls().n_neighbors, weights=cls().weights)
            ranker = cls().fit(form, y, must_link=must, cannot_link=cannot)
            expected = [score(S, *pairs, f) for f in X.T]
            assert_allclose(ranker.scores_, expected, rtol=1e-9)


def test_identical_rows_with_different_labels():
    X, y = make_rows("counts", 2)
    X[:8] = X[0]
    X[8:16] = X[8]
    for cls in (SLS, SSelect, LSDF, SemiFisherScore):
        S = slow.graph(X, cls().n_neighbors, weights=cls().weights)
        assert_allclose(cls().fit(X, y).scores_, expected_scores(cls, X, y, S), rtol=1e-9)


def test_methods_share_a_graph():
    data = TrainingData.build(*make_rows("normal", 2))
    LaplacianScore()._score(data)
    C4()._score(data)
    assert len(data._graphs) == 1
