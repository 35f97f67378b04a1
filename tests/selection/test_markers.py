import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import ttest_ind

from semisift import (
    CLS,
    SSFI,
    Consensus,
    FallbackWarning,
    FisherScore,
    LaplacianScore,
    OutOfCoreMatrix,
    TransductiveScore,
    normalize_counts,
)
from semisift.out_of_core import _matrix as stored_rows
from semisift.utils._named_array import with_names


@pytest.fixture(scope="module")
def cells():
    """Return counts of three classes with 4 markers each, the classes, and labels of some."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    mean = np.full((240, 60), 0.4)
    for code in range(3):
        mean[np.ix_(y == code, range(4 * code, 4 * code + 4))] = 2.0
    X = rng.poisson(mean * rng.uniform(0.5, 2, (240, 1))).astype(float)
    X[:, 59] = 3.0
    few = np.where(np.arange(240) < 30, y, -1)
    return X, y, few


@pytest.mark.filterwarnings("ignore:y has no unlabelled row")
def test_markers_of_certain_labels_are_welchs_t(cells):
    X, y, _ = cells
    Z = normalize_counts(X)
    found = FisherScore().fit(Z, y).markers(Z, y)
    values = np.asarray(Z)
    for code in range(3):
        own, rest = values[y == code], values[y != code]
        wanted = ttest_ind(own[:, :59], rest[:, :59], equal_var=False).statistic
        assert_allclose(found.scores[code, :59], wanted)
        assert_allclose(found.differences[code], own.mean(axis=0) - rest.mean(axis=0), atol=1e-12)
        assert_allclose(found.shares[code], (own != 0).mean(axis=0))
        assert_allclose(found.rest_shares[code], (rest != 0).mean(axis=0))
        one, other = (np.expm1(part.mean(axis=0)) + 1e-9 for part in (own, rest))
        assert_allclose(found.fold_changes[code, :59], np.log2(one / other)[:59])
    assert_array_equal(found.sizes, [80, 80, 80])
    assert (found.scores[:, 59] != 0).any()  # equal counts at unequal totals do differ


@pytest.mark.filterwarnings("ignore:y has no unlabelled row")
def test_methods_that_label_no_rows_compare_the_labelled_ones(cells):
    X, y, few = cells
    Z = normalize_counts(X)
    found = FisherScore().fit(Z, few).markers(Z, few)
    alone = FisherScore().fit(Z[:30], y[:30]).markers(Z[:30], y[:30])
    for name in ("differences", "shares", "rest_shares", "fold_changes", "sizes"):
        assert_allclose(getattr(found, name), getattr(alone, name), atol=1e-9, err_msg=name)
    varies = np.asarray(Z[:30]).std(axis=0) > 0
    assert_allclose(found.scores[:, varies], alone.scores[:, varies])


@pytest.mark.parametrize("ranker", [Consensus(), TransductiveScore(), SSFI(n_members=60)])
def test_each_class_has_its_own_markers(cells, ranker):
    X, _, few = cells
    Z = normalize_counts(X)
    found = ranker.fit(Z, few).markers(Z, few)
    for code in range(3):
        assert set(found.order(code)[:4]) == set(range(4 * code, 4 * code + 4))
    if hasattr(ranker, "label_distributions_"):
        assert_allclose(found.sizes, ranker.label_distributions_.sum(axis=0))
    assert found.p_values is None


def test_stored_and_sparse_rows_have_the_same_markers(cells, monkeypatch):
    monkeypatch.setattr(stored_rows, "BLOCK_VALUES", 1 << 12)
    monkeypatch.setattr(stored_rows, "READ_BYTES", 1 << 14)
    X, _, few = cells
    Z = normalize_counts(X)
    ranker = TransductiveScore(max_unlabelled=50)
    wanted = ranker.fit(Z, few).markers(Z, few)
    sparse = normalize_counts(csr_array(X))
    rows = OutOfCoreMatrix(sparse, max_memory=200_000)
    rows.is_log = True
    for other in (sparse, rows):
        found = ranker.fit(other, few).markers(other, few)
        for name in ("scores", "differences", "fold_changes", "shares", "rest_shares", "sizes"):
            assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-6, err_msg=name)


def test_weights_missing_values_and_batches(cells):
    X, _, few = cells
    Z = normalize_counts(X)
    weights = np.where(np.arange(240) % 2, 2.0, 1.0)
    twice = np.repeat(np.arange(240), weights.astype(int))
    one = FisherScore().fit(Z, few, sample_weight=weights)
    two = FisherScore().fit(Z[twice], few[twice])
    found, wanted = one.markers(Z, few, sample_weight=weights), two.markers(Z[twice], few[twice])
    assert_allclose(found.differences, wanted.differences, atol=1e-9)
    assert_allclose(found.shares, wanted.shares)
    with pytest.raises(ValueError, match="sample_weight is lacking"):
        one.markers(Z, few)

    holes = np.array(Z)
    holes[::7, 3] = np.nan
    holes = with_names(holes, None, is_log=True)
    found = FisherScore().fit(holes, few).markers(holes, few)
    own = (few == 0) & ~np.isnan(holes[:, 3])
    rest = (few > 0) & ~np.isnan(holes[:, 3])
    difference = holes[own, 3].mean() - holes[rest, 3].mean()
    assert_allclose(found.differences[0, 3], difference, rtol=1e-6)
    assert_allclose(found.shares[0, 3], (holes[own, 3] != 0).mean())

    plate = np.arange(240) % 2
    shifted = np.asarray(Z) + 5.0 * plate[:, None]
    found = FisherScore().fit(shifted, few, batch=plate).markers(shifted, few, batch=plate)
    assert set(found.order(0)[:4]) == set(range(4))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("prepare", [np.asarray, normalize_counts])
def test_with_batches_shares_and_folds_are_of_the_values_as_given(cells, form, prepare):
    X, _, few = cells
    plate = np.arange(240) % 7 < 3
    X = form(X) if prepare is np.asarray else normalize_counts(form(X))
    wanted = FisherScore().fit(X, few).markers(X, few)
    found = FisherScore().fit(X, few, batch=plate).markers(X, few, batch=plate)
    for name in ("shares", "rest_shares", "fold_changes", "sizes"):
        assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-6, err_msg=name)
    assert abs(found.differences - wanted.differences).max() > 1e-3  # which are without batches
    assert set(found.order(0)[:4]) == set(range(4))


def test_rows_of_weight_0_have_no_part_with_batches(cells):
    X, _, few = cells
    plate, counts = np.arange(240) % 2, np.arange(240) < 200
    known = {"batch": plate, "sample_weight": counts.astype(float)}
    ranker = TransductiveScore().fit(X, few, **known)
    found = ranker.markers(X, few, **known)
    likely = ranker.label_distributions_[counts]
    assert_allclose(found.sizes, likely.sum(axis=0))
    assert_allclose(found.shares, (likely / found.sizes).T @ (X[counts] != 0))
    Z = np.array(normalize_counts(X[counts]))
    for own in (plate[counts] == 0, plate[counts] == 1):
        Z[own] -= Z[own].mean(axis=0)
    rest = (1 - likely) / (1 - likely).sum(axis=0)
    assert_allclose(found.differences, (likely / found.sizes - rest).T @ Z, atol=1e-9)


def test_excluded_columns_are_last_and_have_no_score(cells):
    X, _, few = cells
    ranker = TransductiveScore(exclude=[0, 30]).fit(X, few)
    ranker.assess(X, few, n_resamples=0, n_permutations=39)
    found = ranker.markers(X, few)
    names = ("scores", "differences", "fold_changes", "shares", "rest_shares", "p_values")
    for name in names:
        left_out = np.isnan(getattr(found, name))
        assert left_out[:, [0, 30]].all()
        assert left_out.sum() == 6
    for code in range(3):
        assert set(found.order(code)[-2:]) == {0, 30}
        assert not {0, 30} & set(found.best(code, 60))
    assert found.to_frame()["feature"][58:60].to_list() == ["x0", "x30"]


def test_weights_say_for_how_many_rows_each_counts(cells):
    X, _, few = cells
    Z = normalize_counts(X)
    scores = []
    for each in (1.0, 4.0):
        weights = np.full(240, each)
        ranker = FisherScore().fit(Z, few, sample_weight=weights)
        scores.append(ranker.markers(Z, few, sample_weight=weights).scores)
    four_times = FisherScore().fit(Z[np.tile(np.arange(240), 4)], np.tile(few, 4))
    repeated = four_times.markers(Z[np.tile(np.arange(240), 4)], np.tile(few, 4)).scores
    assert_allclose(scores[1], repeated, rtol=1e-6)
    varies = scores[0] != 0
    assert_allclose(scores[1][varies] / scores[0][varies], 2.0, rtol=0.1)


def test_measurements_have_no_fold_changes(cells):
    X, _, few = cells
    scaled = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    found = TransductiveScore().fit(scaled, few).markers(scaled, few)
    assert found.fold_changes is None
    assert (found.scores[:, 59] == 0).all()
    assert set(found.order(2)[:4]) == set(range(8, 12))
    assert "log2_fold_change" not in found.to_frame(2).columns


def test_the_frame_lists_the_best_of_each_class(cells):
    X, _, few = cells
    names = [f"gene {j}" for j in range(60)]
    classes = np.array(["a", "b", "c"], dtype=object)
    y = np.where(few < 0, None, classes[few])
    frame = pl.DataFrame(X, schema=names)
    found = FisherScore().fit(frame, y).markers(frame, y)
    table = found.to_frame(2)
    assert table["class"].to_list() == ["a", "a", "b", "b", "c", "c"]
    assert table["rank"].to_list() == [1, 2] * 3
    assert table["feature"][0] == names[found.order(0)[0]]
    assert_allclose(table["score"], np.sort(found.scores, axis=1)[:, ::-1][:, :2].ravel())
    assert len(found.to_frame(output="pandas")) == 180
    assert repr(found) == "<Markers: 60 features of 3 classes>"
    for wrong in ({"n": 0}, {"output": "csv"}):
        with pytest.raises(ValueError, match="got"):
            found.to_frame(**wrong)


def test_one_labelled_class_has_the_rest(cells):
    X, y, _ = cells
    Z = normalize_counts(X)
    one = np.where((np.arange(240) < 60) & (y == 0), "b cell", None)
    ranker = Consensus().fit(Z, one)
    found = ranker.markers(Z, one)
    assert_array_equal(found.classes, ranker.classes_)
    number = found.classes.tolist().index("b cell")
    assert set(found.order(number)[:4]) == set(range(4))
    # the rest that a method without labels of its own was given
    found = FisherScore().fit(Z, one).markers(Z, one)
    assert_array_equal(found.classes, ranker.classes_)
    assert found.scores.shape == (2, 60)
    assert_allclose(found.scores[0], -found.scores[1], atol=1e-9)
    assert set(found.order(number)[:4]) == set(range(4))
    with pytest.warns(FallbackWarning):
        alone = CLS().fit(Z, one)
    with pytest.raises(ValueError, match="needs labelled rows of two classes"):
        alone.markers(Z, one)


def test_what_is_no_use_is_refused(cells):
    X, _, few = cells
    ranker = TransductiveScore().fit(X, few)
    with pytest.raises(ValueError, match="X had 240 rows: got 239"):
        ranker.markers(X[:239], few[:239])
    with pytest.raises(ValueError, match="with 60 columns: got 59"):
        ranker.markers(X[:, :59], few)
    with pytest.raises(TypeError, match="takes no must_link"):
        ranker.markers(X, few, must_link=[[0, 1]])
    with pytest.raises(ValueError, match="needs labelled rows of two classes"):
        LaplacianScore().fit(X).markers(X, None)


@pytest.mark.parametrize("ranker", [FisherScore(), TransductiveScore()])
@pytest.mark.parametrize("method", ["markers", "assess"])
def test_what_fit_was_not_given_is_refused(cells, ranker, method):
    X, _, few = cells
    Z, plate = normalize_counts(X), np.arange(240) % 2
    ask = getattr(ranker.fit(Z, few, groups=plate), method)

    def refused(match, X=Z, y=few, **of_rows):
        with pytest.raises(ValueError, match=f"{method} must be given what fit was.*: {match}"):
            ask(X, y, **({"groups": plate} | of_rows))

    refused("X had 240 rows: got 239", Z[:239], few[:239], groups=plate[:239])
    refused("the X of fit was marked .* and this one was not", np.asarray(Z))
    refused("y had the classes 0, 1, 2: got 0, 1", y=np.where(few == 2, -1, few))
    names = np.array(["z", "b", "c", None], dtype=object)
    refused("y had the classes 0, 1, 2: got 'b', 'c', 'z'", y=names[few])
    refused("y differs", y=np.roll(few, 1))
    refused("groups is lacking", groups=None)
    refused("groups differs", groups=1 - plate)
    refused("fit was given no batch", batch=plate)
    # the same in other types is the same
    same = np.where(few < 0, None, few.astype(object))
    assert ranker.markers(Z.copy(), same, groups=plate.tolist()).scores.shape == (3, 60)


def test_classes_of_one_row_and_columns_without_spread_have_scores():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 6))
    y = np.full(40, -1)
    y[:9] = [0, 1, 1, 1, 1, 2, 2, 2, 2]
    X[:, 5] = np.arange(40) < 5  # parts the labelled rows without any spread
    X[9:, 5] = 1.0
    found = FisherScore().fit(X, y).markers(X, y)
    assert np.isfinite(found.scores).all()
    assert found.order(2)[-1] == 5
    assert found.scores[2, 5] < -9
    assert_array_equal(found.sizes, [1, 4, 4])
