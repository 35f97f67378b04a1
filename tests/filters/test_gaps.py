"""Filters on tables with missing values: closed forms, slow versions, invariances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import f as f_distribution
from sklearn.neighbors import KNeighborsTransformer

from semisift import (
    C4,
    CLS,
    GSFS,
    LSDF,
    METHODS,
    MRMR,
    SLS,
    ConstraintScore,
    FallbackWarning,
    FisherScore,
    LaplacianScore,
    SemiFisherScore,
    SemiJMI,
    SemiMIM,
    SSelect,
    VarianceScore,
)
from semisift.utils._columns import as_if_complete
from tests.conftest import make_data
from tests.methods.test_common import DETERMINISTIC, assert_is_ranking, assert_same_fit, make
from tests.nightly import daily_are
from tests.reference import gaps as slow
from tests.reference import graph_filters as plain

NAN = np.nan
ALLOW_NAN = [name for name in METHODS if METHODS[name].cls.allow_nan]

# one of each way to treat missing values: moments, pairs, graphs, bins, trees
DAILY = ["fisher", "constraint", "lsdf", "cls", "semi-mim", "mrmr", "ssfi", "consensus"]

each = pytest.mark.parametrize("name", daily_are(DAILY, ALLOW_NAN))
few_labels = pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")


def make_rows(seed=0, n_classes=2, share=0.15):
    rng = np.random.default_rng(seed)
    y_true = np.arange(50) % n_classes
    X = rng.normal(size=(50, 6)) + y_true[:, None] * [1.5, 0.5, 0, 0, 0, 0]
    X[rng.random(X.shape) < share] = NAN
    return X, np.where(np.arange(50) < 6 * n_classes, y_true, -1)


# --- all that take missing values -----------------------------------------------------------------


@pytest.mark.parametrize("name", daily_are(["csfs", "rlsr"], sorted(set(METHODS) - set(ALLOW_NAN))))
def test_the_others_name_them(name):
    X, y = make_rows()
    with pytest.raises(ValueError, match=r"These take missing values as they are: .*FisherScore"):
        make(name).fit(X, y)


@each
@few_labels
def test_a_strong_column_leads_and_forms_agree(name):
    data = make_data(n_rows=80, per_class=10)
    X = data.X.copy()
    X[:, 0] += 4 * data.y_true
    X[np.random.default_rng(0).random(X.shape) < 0.15] = NAN
    ranker = make(name).fit(X, data.y)
    assert_is_ranking(ranker, 8)
    assert np.isfinite(ranker.scores_).all()
    if name != "variance":
        assert ranker.ranking_[0] <= 2
    assert_same_fit(ranker, make(name).fit(np.asfortranarray(X), data.y))
    assert_same_fit(ranker, make(name).fit(X.astype(object), data.y))
    names = np.where(data.y < 0, None, np.array(["a", "b"], dtype=object)[data.y])
    assert_same_fit(ranker, make(name).fit(X, names))


@each
@few_labels
def test_columns_without_values_rank_last(name, data):
    X = np.column_stack([data.X, np.full(60, NAN), np.where(np.arange(60) < 50, NAN, 3.0)])
    ranker = make(name).fit(X, data.y)
    assert_array_equal(np.isnan(ranker.scores_), np.arange(10) >= 8)
    assert set(ranker.ranking_[8:].tolist()) == {9, 10}


@pytest.mark.parametrize(
    "name", daily_are(DAILY, sorted(set(ALLOW_NAN) & set(DETERMINISTIC) - {"consensus"}))
)
@few_labels
def test_the_order_of_rows_does_not_matter(name):
    X, y = make_rows(3)
    order = np.random.default_rng(5).permutation(50)
    expected, found = make(name).fit(X, y), make(name).fit(X[order], y[order])
    assert_allclose(found.scores_, expected.scores_, rtol=1e-8)


@each
@few_labels
def test_huge_values_stay_in_range(name, data):
    X = data.X.copy()
    X[::7, 3] = NAN
    expected, found = (make(name).fit(unit * X, data.y) for unit in (1.0, 2.0**500))
    assert_array_equal(found.ranking_, expected.ranking_)


# --- one pass -------------------------------------------------------------------------------------


def test_variance_of_the_values_that_are_there():
    X = np.array([[1.0, NAN], [3.0, 2.0], [NAN, 4.0], [8.0, NAN]])
    assert_allclose(VarianceScore(feature_scaling=None).fit(X).scores_, [26 / 3, 1])
    assert_allclose(VarianceScore().fit(X).scores_, [26 / 3 / 49, 1 / 4])


def test_variance_of_a_column_with_missing_values_at_random_is_unbiased():
    rng = np.random.default_rng(0)
    f = rng.exponential(size=40)
    X = np.repeat(f[:, None], 20_000, axis=1)
    X[rng.random(X.shape) < 0.3] = NAN
    found = VarianceScore(feature_scaling=None).fit(X).scores_
    n_known = (~np.isnan(X)).sum(axis=0)
    unbiased = found * n_known / (n_known - 1)
    expected = f.var(ddof=1)
    assert abs(unbiased.mean() - expected) < 4 * unbiased.std() / np.sqrt(20_000)


def test_fisher_by_hand():
    X = np.array([[0, 0, 0, 1.0], [2, NAN, 1, NAN], [4, 4, NAN, NAN], [6, 6, NAN, 3], [5, 5, 5, 9]])
    y = [0, 0, 1, 1, -1]
    # one degree of freedom of two is left to the second column, with Bartlett's correction 1/2 of
    # 3/2; a class without a value leaves one class, and one value of each class tells nothing of
    # the spread within: no score
    second = (1 + 25 / 3) ** (1 / 3) - 1
    assert_allclose(FisherScore().fit(X, y).scores_, [4, second, NAN, NAN])


def test_few_values_that_are_equal_within_classes_are_no_proof():
    X = np.array([[0, 0.0], [0, NAN], [0, NAN], [1, 1], [1, 1], [1, NAN], [2, 3]])
    y = np.array([0, 0, 0, 1, 1, 1, -1])
    # three values as if nearly as far apart as they are many: (1 + 3)^(1/7) - 1
    assert_allclose(FisherScore().fit(X, y).scores_, [np.inf, 4 ** (1 / 7) - 1])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_as_if_complete_keeps_the_p_value(n_classes):
    every = 20.0
    for left in (3.0, 6.0, 12.0, 20.0):
        p_values = np.array([0.3, 0.05, 0.01, 0.001])
        ratios = f_distribution.isf(p_values, n_classes - 1, left) * (n_classes - 1) / left
        found = as_if_complete(ratios, np.full(4, left), every, n_classes)
        again = f_distribution.sf(found * every / (n_classes - 1), n_classes - 1, every)
        # if anything, few values count for less
        assert (again > 0.999 * p_values).all()
        assert (again < (1.5 if n_classes < 4 else 2.6) * p_values).all()


def test_a_complete_column_stands_out_among_columns_with_few_values():
    rng = np.random.default_rng(4)
    n_first = 0
    for _ in range(10):
        X, y = rng.normal(size=(60, 200)), np.full(60, -1)
        y[:10] = np.arange(10) % 2
        X[rng.random(X.shape) < 0.6] = NAN
        X[:10, 0] = rng.normal(size=10) + 8 * y[:10]
        n_first += FisherScore().fit(X, y).ranking_[0] == 1
    assert n_first == 10


def test_fisher_is_over_the_classes_that_have_values():
    X = np.array([[0, 0.0], [2, NAN], [4, 4], [6, 6], [9, NAN], [8, NAN], [0, 7]])
    y = np.array([0, 0, 1, 1, 2, 2, -1])
    expected = [slow.fisher(f, y) for f in X.T]
    without = FisherScore().fit(X[[0, 2, 3, 6], 1:], y[[0, 2, 3, 6]]).scores_
    without = np.cbrt(1 + without) - 1  # one degree of freedom of three
    assert_allclose(FisherScore().fit(X, y).scores_, expected)
    assert_allclose(expected[1], without[0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fisher_against_loops(n_classes):
    X, y = make_rows(1, n_classes)
    assert_allclose(FisherScore().fit(X, y).scores_, [slow.fisher(f, y) for f in X.T])


def test_constraint_score_by_hand():
    X = np.array([[0.0, 0], [1, 1], [3, NAN], [7, 7], [9, NAN]])
    y = [0, 0, 0, 1, 1]
    with pytest.warns(UserWarning, match="no unlabelled row"):
        found = ConstraintScore().fit(X, y).scores_
    # the second column: no pair of the second class, one of three of the first
    must, cannot = [1 + 9 + 4 + 4, 4 * 1], [49 + 81 + 36 + 64 + 16 + 36, 6 / 2 * (49 + 36)]
    assert_allclose(found, -np.array(must) / cannot)


@pytest.mark.parametrize("criterion", ["ratio", "difference"])
def test_constraint_score_against_loops(criterion):
    X, y = make_rows(2, 3)
    X[y == 0, 4] = NAN  # no value of the first class
    X[y >= 0, 5] = NAN  # no pair of labelled rows
    X[40:46, 5] = np.arange(6)
    ranker = ConstraintScore(criterion=criterion)
    given = [(40, 41), (42, 43)], [(44, 45), (46, 0)]
    for pairs in (([], []), given):
        sums = np.array([slow.pair_sums(f, y, *pairs) for f in X.T])
        expected = -sums[:, 0] / sums[:, 1]
        if criterion == "difference":
            expected = 0.1 * sums[:, 1] - sums[:, 0]
        fitted = ranker.fit(X, y, must_link=pairs[0] or None, cannot_link=pairs[1] or None)
        assert_allclose(fitted.scores_, expected)
        assert np.isnan(fitted.scores_).tolist() == [False] * 5 + [pairs == ([], [])]


def test_many_missing_values_make_a_column_neither_better_nor_worse():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 8)
    f = rng.normal(size=16) + y
    X = np.repeat(f[:, None], 4000, axis=1)
    X[rng.random(X.shape) < 0.4] = NAN
    must, cannot = plain.pairs_of(y)
    with pytest.warns(UserWarning, match="no unlabelled row"):
        found = ConstraintScore(criterion="difference", trade_off=1).fit(X, y).scores_
    found = found[np.isfinite(found)]
    expected = plain.pair_sums(f, must, cannot)[1] - plain.pair_sums(f, must, cannot)[0]
    assert abs(found.mean() - expected) < 4 * found.std() / np.sqrt(len(found))


# --- information ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_unlabelled_as", [0, 1])
def test_semi_mim_is_over_the_rows_that_have_the_value(n_unlabelled_as):
    X, y = make_rows(4)
    ranker = SemiMIM(class_prior=0.01 if n_unlabelled_as == 0 else 0.99).fit(X, y)
    target = np.where(y < 0, n_unlabelled_as, y).tolist()
    assert_allclose(ranker.scores_, [slow.mutual(slow.binned(f), target) for f in X.T], atol=1e-11)


def test_mrmr_against_loops():
    rng = np.random.default_rng(8)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 7)) + y[:, None] * np.linspace(0, 1.2, 7)
    X[:, 5] = X[:, 6] + 0.3 * rng.normal(size=90)
    X[rng.random(X.shape) < 0.15] = NAN
    y[80:] = -1
    rows = y >= 0
    classes = y[rows].tolist()
    columns = [slow.binned(f) for f in X[rows].T]
    relevance = [slow.mutual(column, classes) for column in columns]
    picks = [int(np.argmax(relevance))]
    while len(picks) < 5:
        left = [j for j in range(7) if j not in picks]
        values = [
            relevance[j] - np.mean([slow.mutual(columns[j], columns[s]) for s in picks])
            for j in left
        ]
        picks.append(left[int(np.argmax(values))])
    ranker = MRMR(n_features_to_select=5).fit(X, y)
    assert_allclose(ranker.relevance_, relevance, atol=1e-11)
    assert_array_equal(np.argsort(ranker.ranking_)[:5], picks)


def test_semi_jmi_against_loops():
    X, y = make_rows(6)
    target = np.where(y < 0, 0, y).tolist()
    columns = [slow.binned(f) for f in X.T]
    relevance = [slow.mutual(column, target) for column in columns]
    picks = [int(np.argmax(relevance))]
    while len(picks) < 4:
        joint = [
            sum(slow.conditional(columns[j], target, columns[s]) for s in picks) for j in range(6)
        ]
        left = [j for j in range(6) if j not in picks]
        picks.append(max(left, key=lambda j: joint[j]))
    ranker = SemiJMI(n_features_to_select=4, class_prior=0.01).fit(X, y)
    assert_array_equal(np.argsort(ranker.ranking_)[:4], picks)


# --- graphs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"weights": "binary", "feature_scaling": "minmax"}])
def test_graph_filters_against_loops(n_classes, options):
    X, y = make_rows(7, n_classes)
    S = slow.graph(X, 7, **options)
    options = {"n_neighbors": 7, "weights": "heat"} | options
    expected = {
        LaplacianScore: lambda f: -slow.on_known(plain.laplacian, S, f),
        SLS: lambda f: -slow.on_known(plain.sls, S, f, y),
        SSelect: lambda f: -slow.on_known(plain.sselect, S, f, y),
        LSDF: lambda f: slow.lsdf(S, y, f),
        SemiFisherScore: lambda f: slow.semi_fisher(S, y, f),
        C4: lambda f: -slow.c4(S, y, f),
    }
    for cls, score in expected.items():
        found = cls(**options).fit(X, y).scores_
        assert_allclose(found, [score(f) for f in X.T], rtol=1e-9, err_msg=cls.__name__)


@few_labels
def test_gsfs_visits_in_the_order_of_sls():
    X, y = make_rows(7)
    ranker = GSFS(min_gain=-1, n_features_to_select=3).fit(X, y)
    assert_array_equal(ranker.ranking_, SLS().fit(X, y).ranking_)
    ranker = GSFS(n_features_to_select=12).fit(np.hstack([X, X]), y)
    kept = np.argsort(ranker.ranking_)[: ranker.n_kept_]
    assert 1 < ranker.n_kept_ == len(np.unique(kept % 6))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_cls_against_loops(n_classes):
    X, y = make_rows(9, n_classes)
    must, cannot = plain.pairs_of(y)
    expected = slow.cls(X, np.flatnonzero(y < 0).tolist(), must, cannot)
    assert_allclose(-CLS().fit(X, y).scores_, expected, rtol=1e-9)


@few_labels
def test_without_labels_the_laplacian_score_ranks():
    X, _ = make_rows(1)
    expected = LaplacianScore().fit(X).scores_
    for cls in (SLS, SSelect, C4):
        assert_allclose(cls().fit(X).scores_, expected, rtol=1e-9)
    S = slow.graph(X)
    given = LaplacianScore(graph=S).fit(X).scores_
    assert_allclose(given, [-slow.on_known(plain.laplacian, S, f) for f in X.T], rtol=1e-9)


def test_a_class_without_values_in_a_column():
    X, y = make_rows(1)
    X[y == 1, 2] = NAN  # no cannot-link pair is known
    X[y >= 0, 3] = NAN  # no pair at all
    nothing = {FisherScore: [2, 3], ConstraintScore: [2, 3], C4: [2, 3], LSDF: [2, 3], CLS: [2, 3]}
    for cls, without in nothing.items():
        assert np.flatnonzero(np.isnan(cls().fit(X, y).scores_)).tolist() == without, cls
    for cls in (SLS, SSelect, SemiFisherScore, SemiMIM, LaplacianScore):
        assert np.isfinite(cls().fit(X, y).scores_).all(), cls


def test_transformers_may_take_missing_values():
    X, _ = make_rows(1)
    nan_euclidean = KNeighborsTransformer(n_neighbors=7, metric="nan_euclidean")
    found = LaplacianScore(graph=nan_euclidean, weights="binary", n_neighbors=7).fit(X).scores_
    expected = LaplacianScore(n_neighbors=7, weights="binary").fit(X).scores_
    assert_allclose(found, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="contains NaN"):
        LaplacianScore(graph=KNeighborsTransformer()).fit(X)


def test_what_cls_does_not_take(monkeypatch):
    X, y = make_rows(1)
    monkeypatch.setattr("semisift.filters.cls.MIN_ROWS", 10)
    with pytest.raises(
        ValueError, match="compress='som' does not take: fill them, or set compress=None"
    ):
        CLS(compress="som").fit(X, y)
    monkeypatch.setattr("semisift.utils._columns.MAX_SQUARED", 5)
    with pytest.raises(ValueError, match="12 rows are labelled: CLS takes these with at most 2000"):
        CLS().fit(X, y)


@pytest.mark.parametrize("rule", ["shadow", "stability"])
@pytest.mark.parametrize("name", daily_are(["fisher"], ["fisher", "semi-mim", "lsdf"]))
def test_rules_for_the_number_of_columns(name, rule):
    data = make_data(n_rows=80, per_class=15)
    X = data.X.copy()
    X[:, 0] += 5 * data.y_true
    X[np.random.default_rng(0).random(X.shape) < 0.1] = NAN
    ranker = make(name, n_features_to_select=rule).fit(X, data.y)
    assert ranker.decisions_.shape == (8,)
    assert ranker.decisions_[0] == "significant"


def test_no_pair_of_one_kind_is_told():
    X, y = make_rows(1)
    y[y >= 0] = -1
    y[[0, 1]] = [0, 1]
    with pytest.warns(FallbackWarning, match="no must-link pair"):
        found = ConstraintScore().fit(X, y).scores_
    assert_allclose(found, [(f[0] - f[1]) ** 2 for f in X.T])
