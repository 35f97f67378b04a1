"""What more labels would bring: hands that share no label, and the curve through them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from semisift import (
    SSFI,
    ConstraintScore,
    FisherScore,
    OutOfCoreMatrix,
    TransductiveScore,
    VarianceScore,
)
from semisift.base._sample_info import parse_design
from semisift.base._training_data import TrainingData
from semisift.out_of_core import _matrix
from semisift.selection import _learning_curve
from semisift.selection._learning_curve import measure, numbers_of_subsets, split_labels
from semisift.utils._agreement import extrapolate, mean_kuncheva

QUICK = FisherScore(n_features_to_select=10)


def study(per_class=8, effect=2.0, seed=0, n_rows=120, n_columns=100):
    """Return two classes that differ in the first ten columns, and few labels."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, n_columns))
    X[:, :10] += effect * truth[:, None]
    return X, np.where(np.arange(n_rows) < 2 * per_class, truth, -1)


def curve_of(X, y, ranker=QUICK, **given):
    return ranker.fit(X, y).learning_curve(X, y, **given)


# Hands --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "numbers"),
    [
        ((1, 5), []),
        ((3, 9), []),
        ((4, 4), [2, 4]),
        ((5, 5), [2, 5]),
        ((10, 10), [2, 3, 5, 10]),
        ((4, 40), [2, 3]),
    ],
)
def test_labels_are_split_as_far_as_each_class_goes_round(counts, numbers):
    y = np.repeat([0, 1, -1], [*counts, 3])
    assert numbers_of_subsets(TrainingData.build(np.arange(len(y))[:, None], y)) == numbers


def test_subsets_share_no_label_and_have_each_class_alike():
    y = np.repeat([0, 1, -1], [7, 15, 4])
    splits = split_labels(TrainingData.build(np.arange(26.0)[:, None], y), 0)
    assert {len(split) for split in splits} == {2, 3, 5}
    for split in splits:
        held = np.concatenate(split)
        assert len(np.unique(held)) == len(held)
        for subset in split:
            assert_array_equal(np.bincount(y[subset]), [7 // len(split), 15 // len(split)])


def test_subsets_are_of_whole_groups():
    groups = np.repeat(np.arange(12), 4)
    y = np.where(np.arange(48) % 4 < 3, groups % 2, -1)
    data = TrainingData.build(np.arange(48.0)[:, None], y, design=parse_design(48, groups=groups))
    splits = split_labels(data, 0)
    assert {len(split) for split in splits} == {2, 3, 6}
    for split in splits:
        of_groups = [np.unique(groups[subset]) for subset in split]
        assert len(np.unique(np.concatenate(of_groups))) == sum(map(len, of_groups))
        for subset, own in zip(split, of_groups, strict=True):
            assert_array_equal(subset, np.flatnonzero(np.isin(groups, own) & (y >= 0)))


def test_what_is_measured_is_how_alike_the_best_are(monkeypatch):
    monkeypatch.setattr(_learning_curve, "N_RANKINGS", 6)
    X, y = study(per_class=6)
    ranker = FisherScore(n_features_to_select=5).fit(X, y)
    data = TrainingData.build(X, y)
    splits = split_labels(data, 3)
    found = measure(ranker, data, splits, iter(range(99)), n_best=5, seed=3, fast=True)
    expected = {}
    for split in splits:
        best = []
        for rows in split:
            few = np.full(len(y), -1)
            few[rows] = y[rows]
            best.append(FisherScore(n_features_to_select=5).fit(X, few).get_support(indices=True))
        expected.setdefault(len(split), []).append(mean_kuncheva(best, 100))
    assert_array_equal(found.n_subsets, [2, 3, 6])
    assert_array_equal(found.sizes, [6, 4, 2])
    assert_allclose(found.values, [np.mean(values) for values in expected.values()])


# Curves -------------------------------------------------------------------------------------------


def test_stability_rises_with_labels_where_classes_differ():
    curve = curve_of(*study())
    assert 0.2 < curve.now < curve.then <= 1
    for value, (low, high) in [(curve.now, curve.now_interval), (curve.then, curve.interval)]:
        assert 0 <= low <= value <= high <= 1
    assert curve.n_labelled == 16
    assert curve.n_more == curve.n_best == 10
    assert_array_equal(curve.sizes, [8, 4, 2])


def test_nothing_is_promised_of_labels_that_tell_nothing():
    curves = [curve_of(*study(per_class=10, effect=0, seed=seed)) for seed in range(4)]
    assert np.mean([curve.now for curve in curves]) < 0.15
    assert np.mean([curve.now_interval[0] for curve in curves]) < 0.05
    assert all(abs(curve.stability[0]) < 0.3 for curve in curves)


def test_more_labels_more_stability():
    X, y = study()
    thens = [curve_of(X, y, n_more=n).then for n in (1, 10, 100)]
    assert thens == sorted(thens)
    assert curve_of(X, y, n_more=1).now == curve_of(X, y, n_more=100).now


@pytest.mark.parametrize("odds", [0.003, 0.02, 0.2])
def test_intervals_hold_a_curve_without_noise(odds):
    """A curve of Spearman and Brown; what is usual, a steeper one, draws the median up."""
    sizes = np.array([50.0, 25.0, 10.0, 4.0])
    truth = {n: odds * n / (1 + odds * n) for n in (100, 120)}
    for n, true in truth.items():
        found = extrapolate(sizes, odds * sizes / (1 + odds * sizes), 100.0, float(n))
        assert found.low < true < found.high
        assert_allclose(found.value, true, atol=0.15)


@pytest.mark.parametrize("value", [-0.2, 0.0, 0.5, 1.0])
def test_intervals_stay_within_what_a_stability_can_be(value):
    for at in (20.0, 30.0, 1000.0):
        found = extrapolate(np.array([10.0, 5.0]), np.array([value, value]), 20.0, at)
        assert 0 <= found.low < found.value < found.high <= 1


def test_the_same_seed_gives_the_same_curve():
    X, y = study()
    one, other = (curve_of(X, y, random_state=5) for _ in range(2))
    assert_array_equal(one.stability, other.stability)
    assert one.interval == other.interval
    assert (curve_of(X, y, random_state=6).stability != one.stability).any()


def test_threads_change_nothing():
    X, y = study(per_class=4)
    curves = [curve_of(X, y, SSFI(n_members=20, n_features_to_select=10, n_jobs=n)) for n in (1, 2)]
    assert_array_equal(curves[0].stability, curves[1].stability)


def test_sparse_and_dense_rows_give_the_same_curve():
    X, y = study(per_class=5)
    X = np.where(X > 0.5, X, 0)
    ranker = FisherScore(n_features_to_select=10)
    dense, thin = curve_of(X, y, ranker), curve_of(sparse.csr_array(X), y, ranker)
    assert_array_equal(dense.stability, thin.stability)
    assert dense.then == thin.then


def test_stored_rows_give_the_same_curve(tmp_path, monkeypatch):
    monkeypatch.setattr(_matrix, "BLOCK_VALUES", 1 << 12)
    X, y = study(n_rows=2000, n_columns=40)
    np.save(tmp_path / "X.npy", X)
    stored = OutOfCoreMatrix(np.load(tmp_path / "X.npy", mmap_mode="r"), max_memory=400_000)
    assert not stored.fits()
    ranker = FisherScore(n_features_to_select=10)
    plain, found = curve_of(X, y, ranker), curve_of(stored, y, ranker)
    assert found.n_labelled == 16
    # one label a class leaves no spread within classes but rounding
    assert_array_equal(plain.stability[:2], found.stability[:2])


def test_missing_values_and_weights_are_as_in_the_fit():
    X, y = study(per_class=4)
    X[::7, ::9] = np.nan
    weights = np.where(np.arange(len(y)) % 3, 1.0, 2.0)
    ranker = TransductiveScore(n_features_to_select=10).fit(X, y, sample_weight=weights)
    assert 0 <= ranker.learning_curve(X, y, sample_weight=weights).now <= 1


def test_groups_stay_together():
    X, y = study(per_class=16, n_rows=160)
    groups = np.arange(160) // 4 * 2 + np.arange(160) % 2
    ranker = FisherScore(n_features_to_select=10).fit(X, y, groups=groups)
    curve = ranker.learning_curve(X, y, groups=groups)
    assert curve.n_labelled == 32
    assert_array_equal(curve.sizes, [16, 8, 4])


def test_kept_columns_do_not_make_it_stable():
    X, y = study(per_class=6, effect=0)
    ranker = FisherScore(n_features_to_select=10, include=[0, 1, 2, 3, 4, 5, 6, 7])
    assert abs(curve_of(X, y, ranker).stability[0]) < 0.3


def test_one_labelled_class_is_enough():
    X, y = study(per_class=10, effect=2)
    curve = curve_of(X, np.where(y == 1, 1, -1))
    assert curve.n_labelled == 10
    assert_array_equal(curve.sizes, [5, 3, 2, 1])


def test_the_best_are_those_of_the_assessment():
    X, y = study()
    ranker = FisherScore().fit(X, y)
    assert ranker.learning_curve(X, y).n_best == 20
    ranker.assess(X, y, n_best=7, n_permutations=0, n_resamples=2)
    assert ranker.learning_curve(X, y).n_best == 7
    assert ranker.learning_curve(X, y, n_best=4).n_best == 4


# Too few ------------------------------------------------------------------------------------------


def nothing(curve):
    assert curve.now is None
    assert curve.then is None
    assert curve.interval is None
    assert curve.to_frame().height == 0
    assert curve.lacking in repr(curve)
    return curve.words


def test_a_class_with_few_labels_is_too_few():
    X, y = study(per_class=5)
    y[[1, 3, 5, 7]] = -1
    text = nothing(curve_of(X, y))
    assert text.endswith("takes 4 labelled rows of each class, and the class 1 has 1.")


def test_a_class_of_one_group_is_too_few():
    X, y = study(per_class=5)
    groups = np.where(y == 0, 0, np.arange(len(y)))
    ranker = FisherScore().fit(X, y, groups=groups)
    text = nothing(ranker.learning_curve(X, y, groups=groups))
    assert text.endswith("takes 4 groups of each class, and the class 0 has 1.")


def test_groups_that_are_not_alike_are_too_few():
    X, _ = study()
    y, groups = np.full(len(X), -1), np.arange(len(X))
    # each class in four groups, and no two groups of the same classes
    kinds = [(0, 1), (0, 2), (0, 3), (0, 1, 2), (0, 1, 3), (1, 2, 3), (2, 3)]
    y[:17] = np.concatenate(kinds)
    groups[:17] = np.repeat(np.arange(7), [*map(len, kinds)])
    ranker = FisherScore().fit(X, y, groups=groups)
    text = nothing(ranker.learning_curve(X, y, groups=groups))
    assert "there are too few of these. Label rows of more groups" in text


def test_methods_without_labels_have_nothing_to_learn():
    X, y = study()
    assert "VarianceScore learns nothing from labels" in nothing(curve_of(X, y, VarianceScore()))


def test_pairs_are_no_labels():
    X, _ = study()
    pairs = {"must_link": [[0, 2], [4, 6]], "cannot_link": [[0, 1], [4, 5]]}
    ranker = ConstraintScore().fit(X, **pairs)
    assert "there are none" in nothing(ranker.learning_curve(X, **pairs))


def test_all_features_are_always_the_same():
    X, y = study()
    text = nothing(curve_of(X[:, :5], y, FisherScore(n_features_to_select=5)))
    assert "the best features are the same with any labels" in text


# Words and errors ---------------------------------------------------------------------------------


def test_words_say_what_to_expect():
    X, y = study()
    curve = curve_of(X, y)
    text = curve.words
    assert text.startswith("With 16 labels the stability of the best 10 features is about 0.")
    assert f"with 10 more expect {curve.then:.2f}" in text
    assert "guess" not in text
    assert "take it for a guess" in curve_of(X, y, n_more=40).words
    assert "best feature is" in curve_of(X, y, n_best=1).words


@pytest.mark.parametrize("output", ["polars", "pandas"])
def test_frames_have_what_was_measured_and_what_is_expected(output):
    curve = curve_of(*study())
    frame = curve.to_frame(output)
    assert list(frame["labels"]) == [2, 4, 8, 16, 26]
    assert list(frame["kind"]) == ["measured"] * 3 + ["expected"] * 2
    assert frame["stability"].to_list()[-1] == curve.then
    with pytest.raises(ValueError, match=r"output must be 'polars' or 'pandas': got 'numpy'\."):
        curve.to_frame("numpy")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_more": 0}, r"n_more must be a whole number, 1 or more: got 0\."),
        ({"n_more": 2.5}, r"n_more must be a whole number, 1 or more: got 2\.5\."),
        ({"n_best": 101}, r"n_best must be from 1 to the 100 columns of X: got 101\."),
        ({"random_state": -1}, r"random_state must be a whole number, 0 or more: got -1\."),
    ],
)
def test_errors_name_parameter_rule_and_value(given, message):
    with pytest.raises(ValueError, match=message):
        curve_of(*study(), **given)


def test_other_labels_than_those_of_the_fit_are_refused():
    X, y = study()
    ranker = FisherScore().fit(X, y)
    with pytest.raises(ValueError, match="learning_curve must be given what fit was given"):
        ranker.learning_curve(X, np.roll(y, 1))
    with pytest.raises(TypeError, match="takes no weight"):
        ranker.learning_curve(X, y, weight=y)
