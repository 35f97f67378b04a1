"""CLS, CSFS and the coherence of pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from semisift import CLS, CSFS, FallbackWarning, GraphWarning, LaplacianScore
from semisift.filters.csfs import coherent_pairs, incoherence
from tests.nightly import nightly
from tests.reference import cls as reference

T1 = np.array([[0, 0, 2], [1, 3, 2], [4, 0, 2], [5, 3, 2], [0, 2, 2], [5, 1, 2]], dtype=float)
Y1 = np.array([0, 0, 1, 1, -1, -1])

PLAIN = {"n_neighbors": 1, "self_loops": False}
PAIRS = np.array([[0, 1], [2, 3]]), np.array([[0, 2], [0, 3], [1, 2], [1, 3]])


def low(ranker, X, y=None, **pairs):
    return -ranker.fit(X, y, **pairs).scores_


def labelled_data(n=30, p=6, kind="normal", seed=0):
    """Three labels of each of three classes, the other rows unlabelled."""
    rng = np.random.default_rng(seed)
    X = {
        "normal": rng.normal(size=(n, p)),
        "counts": rng.poisson(0.4, size=(n, p)).astype(float),
    }[kind]
    y = np.where(np.arange(n) < 9, np.arange(n) % 3, -1)
    order = rng.permutation(n)
    return X[order], y[order]


def pairs_of(y):
    rows = np.flatnonzero(y >= 0)
    both = [(i, j) for i in rows for j in rows if i < j]
    return [b for b in both if y[b[0]] == y[b[1]]], [b for b in both if y[b[0]] != y[b[1]]]


# --- golden values --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"weights": "binary"}, [0.3737024, 1.0410959, np.nan]),
        ({"heat_scale": "raw", "heat_constant": 10}, [0.1047758, 1.0083888, np.nan]),
        (
            {"feature_scaling": "minmax", "heat_scale": "raw", "heat_constant": 0.1},
            [0.3062701, 1.0325171, np.nan],
        ),
    ],
    ids=["G11", "G12", "G13"],
)
def test_cls_by_hand(params, expected):
    assert_allclose(low(CLS(**PLAIN, **params), T1, Y1), expected, atol=1e-7)


@pytest.mark.parametrize("variant", ["default", "later"])
def test_csfs_by_hand(variant):
    ranker = CSFS(
        n_neighbors=1, graph="union", heat_scale="raw", heat_constant=10, selection="all",
        variant=variant,
    )  # fmt: skip
    assert_allclose(low(ranker, T1[:, :2], Y1), [0.0333252, 0.6850769], atol=1e-7)
    assert ranker.n_kept_ == (2, 4)


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
@pytest.mark.parametrize(("variant", "expected"), [("later", 0.0358510), ("default", 0.0393304)])
def test_csfs_variants_by_hand(variant, expected):
    X = np.array([[0.0], [1.0], [1.5], [4.0]])
    ranker = CSFS(n_neighbors=1, graph="union", heat_scale="raw", selection="all", variant=variant)
    assert_allclose(low(ranker, X, [0, 0, 1, 1]), [expected], atol=1e-7)


def share_coherent(gram, must, cannot):
    return (incoherence(gram, must, cannot) == 0).mean()


def test_coherence_by_hand():
    gram = T1[:, :2] @ T1[:, :2].T
    assert share_coherent(gram, *PAIRS) == 0.25
    # strict selection keeps nothing here, and falls back to the half
    must, cannot = coherent_pairs(gram, *PAIRS, "strict")
    half = coherent_pairs(gram, *PAIRS, "half")
    assert_array_equal(must, half[0])
    assert_array_equal(cannot, half[1])
    assert must.any()
    assert cannot.any()


# --- coherence ------------------------------------------------------------------------------------


def test_overlaps_of_three_segments():
    X = np.array([[0, 0], [1, 0], [3, 1], [3, 3], [0.5, 1], [2, 1]])
    gram = X @ X.T
    m, c1, c2 = np.array([[0, 1]]), np.array([[2, 3]]), np.array([[4, 5]])
    assert_allclose(incoherence(gram, m, np.concatenate([c1, c2])), [[0, 0.5]])
    assert share_coherent(gram, m, np.concatenate([c1, c2])) == 0.5


def test_overlaps_equal_projections():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 3))
    pairs, others = np.array([[0, 1], [2, 3]]), np.array([[4, 5], [0, 6], [7, 7]])

    def overlap(pair, other):
        length = max(np.linalg.norm(X[other[1]] - X[other[0]]), 1e-300)
        return reference.overlap(*X[pair], *X[other]) / length

    expected = [[max(overlap(a, b), overlap(b, a)) for b in others] for a in pairs]
    assert_allclose(incoherence(X @ X.T, pairs, others), expected, atol=1e-12)


def test_coherence_does_not_depend_on_the_frame():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9, 2))
    y = np.arange(9) % 3
    must, cannot = (np.array(pairs) for pairs in pairs_of(y))
    turn, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    moved = 3 * X @ turn + 5
    value = share_coherent(X @ X.T, must, cannot)
    assert 0 < value < 1
    assert_allclose(share_coherent(moved @ moved.T, must, cannot), value)


@pytest.mark.parametrize("selection", ["half", "strict"])
@pytest.mark.parametrize("p", [2, 10, 100])
def test_selection_never_empties_a_kind(selection, p):
    X = np.random.default_rng(p).normal(size=(9, p))
    y = np.arange(9) % 3
    must, cannot = (np.array(pairs) for pairs in pairs_of(y))
    kept = coherent_pairs(X @ X.T, must, cannot, selection, y)
    assert kept[0].any()
    assert kept[1].any()
    if selection == "half":  # one of each class, and of each two classes
        assert {int(y[i]) for i, _ in must[kept[0]]} == {0, 1, 2}
        assert len({tuple(sorted(y[pair])) for pair in cannot[kept[1]]}) == 3
    none = np.empty((0, 2), dtype=int)
    assert coherent_pairs(X @ X.T, must, none)[0].all()


def test_a_given_pair_does_not_cost_the_classes_their_pairs():
    """One pair with an unlabelled row has no class; those of the labels have theirs as ever."""
    X = np.random.default_rng(6).normal(size=(12, 4))
    y = np.array([0, 0, 0, 0, 1, 1, 2, 2, 3, 3, -1, -1])
    must, cannot = (np.array(pairs) for pairs in pairs_of(y))
    must = np.concatenate([must, [[0, 10]]])  # all rows but the last are constrained
    centred = X[:11] - X[:11].mean(axis=0)
    kept = coherent_pairs(centred @ centred.T, must, cannot, "half", y[:11])
    without = coherent_pairs(centred @ centred.T, must, cannot, "half")
    assert {int(y[i]) for i, j in must[kept[0]] if y[j] >= 0} == {0, 1, 2, 3}
    assert {int(y[i]) for i, j in must[without[0]] if y[j] >= 0} < {0, 1, 2, 3}
    ranker = CSFS().fit(X, y, must_link=[(0, 10)])
    assert ranker.n_kept_ == tuple(int(kind.sum()) for kind in kept)


def test_pairs_without_a_class_are_no_group():
    """They are kept or not by their coherence alone."""
    X = np.random.default_rng(0).normal(size=(8, 3))
    must, cannot = np.array([[0, 1], [2, 3], [4, 5]]), np.array([[0, 2], [1, 4], [6, 7]])
    expected = coherent_pairs(X @ X.T, must, cannot)
    assert not all(kind.all() for kind in expected)
    kept = coherent_pairs(X @ X.T, must, cannot, groups=np.full(8, -1))
    assert_array_equal(kept[0], expected[0])
    assert_array_equal(kept[1], expected[1])


# --- against loops over pairs ---------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("kind", ["normal", "counts"])
@pytest.mark.parametrize("graph", ["mean", "union"])
@pytest.mark.parametrize("mean", ["plain", "D"])
@pytest.mark.parametrize("n_neighbors", [nightly(3), 10])
def test_cls_equals_loops(form, kind, graph, mean, n_neighbors):
    X, y = labelled_data(kind=kind)
    ranker = CLS(n_neighbors=n_neighbors, graph=graph, mean=mean)
    free = np.flatnonzero(y < 0).tolist()
    expected = reference.cls(X, free, *pairs_of(y), k=n_neighbors, graph=graph, mean=mean)
    assert_allclose(low(ranker, form(X), y), expected, rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("kind", ["normal", "counts"])
@pytest.mark.parametrize("variant", ["default", "later"])
def test_csfs_equals_loops(form, kind, variant):
    X, y = labelled_data(kind=kind)
    ranker = CSFS(selection="all", variant=variant, n_neighbors=5)
    free = np.flatnonzero(y < 0).tolist()
    expected = reference.csfs(X, free, *pairs_of(y), k=5, variant=variant)
    assert_allclose(low(ranker, form(X), y), expected, rtol=1e-9)


def test_given_pairs_equal_labels():
    X, y = labelled_data()
    must, cannot = pairs_of(y)
    for ranker in (CLS(), CSFS()):
        expected = low(ranker, X, y)
        assert_allclose(low(ranker, X, must_link=must, cannot_link=cannot), expected, rtol=1e-12)
        # what the labels say already changes nothing
        assert_allclose(low(ranker, X, y, must_link=must[:2]), expected, rtol=1e-12)


def test_given_pairs_equal_loops():
    X, _ = labelled_data()
    must, cannot = [(0, 5), (5, 9)], [(0, 7), (8, 9)]
    free = [i for i in range(30) if i not in {0, 5, 7, 8, 9}]
    expected = reference.cls(X, free, must, cannot)
    assert_allclose(low(CLS(), X, must_link=must, cannot_link=cannot), expected, rtol=1e-9)


# --- properties -----------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", ["mean", "union"])
def test_without_labels_it_is_twice_the_laplacian_score(graph):
    X, _ = labelled_data(n=40)
    expected = 2 * low(LaplacianScore(graph=graph), X)
    for ranker in (CLS(mean="D", graph=graph), CSFS(mean="D", graph=graph)):
        with pytest.warns(FallbackWarning, match="no cannot-link pair"):
            assert_allclose(low(ranker, X), expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_two_rows_a_class_and_nothing_unlabelled_is_the_constraint_score():
    ranker = CLS(weights="binary", self_loops=False)
    assert_allclose(low(ranker, T1[:4], Y1[:4]), [1 / 33, 1.0, np.nan])


def test_scale_of_a_column_and_of_the_weights():
    X, y = labelled_data()
    expected = low(CLS(), X, y)
    # the mean distance follows the unit, so the weights are the same
    assert_allclose(low(CLS(), 7 * X + 3, y), expected, rtol=1e-9)
    raw = low(CLS(heat_scale="raw", heat_constant=10), X, y)
    assert_allclose(low(CLS(heat_scale="raw", heat_constant=40), 2 * X, y), raw)


def test_duplicated_column_duplicates_its_score():
    X, y = labelled_data()
    scores = CLS().fit(X[:, [0, 1, 2, 3, 4, 5, 2]], y).scores_
    assert_allclose(scores[6], scores[2], rtol=1e-12)


def test_keeping_all_pairs_with_no_change_of_the_weights():
    X = T1[:, :2]
    free, must, cannot = [4, 5], [(0, 1), (2, 3)], [(0, 2), (0, 3), (1, 2), (1, 3)]
    # without N the numerator is the graph alone: a must-link of no neighbours adds w^2
    with_n = reference.csfs(X, free, must, cannot, k=1, graph="union", heat=10.0)
    without = reference.csfs(X, free, [], cannot, k=1, graph="union", heat=10.0)
    assert_allclose(without, [0.0285980, 0.5082158], atol=1e-7)
    assert (with_n > without).all()


# --- odd data -------------------------------------------------------------------------------------


def test_one_row_of_a_class_counts_by_its_self_loop():
    X, y = labelled_data()
    y[np.flatnonzero(y == 2)[1:]] = -1
    y[np.flatnonzero(y == 1)[1:]] = -1
    y[np.flatnonzero(y == 0)[1:]] = -1
    free = np.flatnonzero(y < 0).tolist()
    with_loops, without = (
        reference.cls(X, free, *pairs_of(y), self_loops=loops) for loops in (True, False)
    )
    assert_allclose(low(CLS(), X, y), with_loops, rtol=1e-9)
    assert_allclose(low(CLS(self_loops=False), X, y), without, rtol=1e-9)
    assert not np.allclose(with_loops, without)


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_nothing_unlabelled():
    X, y = labelled_data()
    X, y = X[y >= 0], y[y >= 0]
    assert_allclose(low(CLS(), X, y), reference.cls(X, [], *pairs_of(y)), rtol=1e-9)
    assert np.isfinite(CSFS().fit(X, y).scores_).all()


@pytest.mark.parametrize("ranker", [CLS(), CSFS()])
def test_one_unlabelled_row(ranker):
    X, y = labelled_data()
    rows = [*np.flatnonzero(y >= 0).tolist(), int(np.flatnonzero(y < 0)[0])]
    assert np.isfinite(ranker.fit(X[rows], y[rows]).scores_).all()


@pytest.mark.parametrize("ranker", [CLS(), CSFS()])
def test_a_single_class_and_no_label(ranker):
    X, y = labelled_data()
    one_class = np.where(y == 0, 0, -1)
    with pytest.warns(FallbackWarning, match="no cannot-link pair") as caught:
        assert np.isfinite(ranker.fit(X, one_class).scores_).all()
    assert caught[0].filename == __file__
    free = np.flatnonzero(one_class < 0).tolist()
    if isinstance(ranker, CLS):
        expected = reference.cls(X, free, *pairs_of(one_class))
        assert_allclose(-ranker.scores_, expected, rtol=1e-9)


@pytest.mark.parametrize("ranker", [CLS, CSFS])
def test_more_neighbours_than_rows(ranker):
    X, y = labelled_data()
    most = low(ranker(n_neighbors=29), X, y)
    assert_allclose(low(ranker(n_neighbors=1000), X, y), most, rtol=1e-12)


@pytest.mark.parametrize("graph", ["mean", "union"])
def test_identical_rows(graph):
    X, y = labelled_data()
    X, y = np.tile(X, (2, 1)), np.concatenate([y, np.full(len(y), -1)])
    free = np.flatnonzero(y < 0).tolist()
    expected = reference.cls(X, free, *pairs_of(y), graph=graph)
    assert_allclose(low(CLS(graph=graph), X, y), expected, rtol=1e-9)
    assert np.isfinite(CSFS(graph=graph).fit(X, y).scores_).all()


def test_constant_columns_do_not_reorder_the_others():
    X, y = labelled_data()
    for ranker in (CLS(), CSFS()):
        expected = ranker.fit(X, y).scores_
        scores = ranker.fit(np.column_stack([X, np.full(len(X), 3.0)]), y).scores_
        assert np.isnan(scores[-1])
        assert_allclose(scores[:-1], expected, rtol=1e-12)


@pytest.mark.parametrize("variant", ["default", "later"])
@pytest.mark.parametrize("heat_scale", ["mean", "median"])
def test_csfs_does_not_depend_on_the_unit_of_x(heat_scale, variant):
    X, y = labelled_data()
    ranker = CSFS(heat_scale=heat_scale, variant=variant)
    expected = ranker.fit(X, y).scores_
    for exponent in (600, -600):
        assert_allclose(ranker.fit(np.ldexp(X, exponent), y).scores_, expected, rtol=1e-12)


# --- weights that vanish --------------------------------------------------------------------------


def test_printed_weights_that_vanish_are_told_and_rank_nothing():
    X = np.random.default_rng(0).normal(size=(50, 2000))
    y = np.where(np.arange(50) < 6, np.arange(50) % 2, -1)
    with pytest.warns(GraphWarning, match="Every weight of CLS vanished.*heat_scale='mean'"):
        scores = CLS(variant="paper").fit(X, y).scores_
    assert np.isnan(scores).all()
    with pytest.raises(ValueError, match=r"Every weight of CLS vanished\. Set heat_scale='mean'"):
        CLS(heat_scale="raw", heat_constant=0.1).fit(X, y)
    assert np.isfinite(CLS().fit(X, y).scores_).all()


def test_uneven_weights_are_told():
    X, y = labelled_data(n=60)
    with pytest.warns(GraphWarning, match="as uneven as if there were") as caught:
        CLS(heat_constant=0.01).fit(X, y)
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore::semisift.GraphWarning")
def test_variant_paper_is_the_printed_form():
    X, y = labelled_data()
    X = X / 10
    printed = low(CLS(variant="paper"), X, y)
    free = np.flatnonzero(y < 0).tolist()
    options = {"graph": "union", "heat": 0.1, "self_loops": False, "mean": "plain"}
    expected = reference.cls(X, free, *pairs_of(y), **options)
    assert_allclose(printed, expected, rtol=1e-9)


def test_an_outlier_does_not_make_noise_the_best_column():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4))
    y = np.full(80, -1)
    y[:6] = [0, 1] * 3
    X[:, 0] += np.concatenate([6 * y[:6], rng.choice([0, 6], 74)])
    X[30, 2] = 1000
    for ranker in (CLS(), CSFS()):
        assert ranker.fit(X, y).ranking_[0] == 1


@pytest.mark.parametrize("heat_constant", [1e-4, 1e-8])
def test_weights_that_vanish_before_the_shift_are_refused(heat_constant):
    X = np.random.default_rng(0).normal(size=(100, 20))
    y = np.full(100, -1)
    y[:8] = [0, 1] * 4
    with pytest.raises(ValueError, match="Every weight of CLS vanished"):
        CLS(heat_constant=heat_constant).fit(X, y)


def test_map_of_the_unlabelled_rows():
    rng = np.random.default_rng(0)
    classes = np.arange(900) % 2
    X = rng.normal(size=(900, 12))
    X[:, 3] += 4 * classes
    y = np.where(np.arange(900) < 10, classes, -1)
    exact, compressed = CLS().fit(X, y), CLS(compress="som").fit(X, y)
    assert compressed.ranking_[3] == exact.ranking_[3] == 1
    assert not np.allclose(compressed.scores_, exact.scores_)
    few = slice(0, 400)
    assert_array_equal(
        CLS(compress="som").fit(X[few], y[few]).scores_, CLS().fit(X[few], y[few]).scores_
    )
    assert_allclose(CLS(compress="som").fit(csr_array(X), y).scores_, compressed.scores_, rtol=1e-6)
