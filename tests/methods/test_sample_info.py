"""What a study knows of its rows: groups, batches and weights."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from semisift import (
    CSFS,
    SSFI,
    Consensus,
    ConstraintScore,
    FisherScore,
    OutOfCoreMatrix,
    SubsamplingWarning,
    TransductiveScore,
    VarianceScore,
)
from semisift.base._data_kind import without_batches
from semisift.base._sample_info import parse_design
from semisift.base._training_data import TrainingData
from semisift.exceptions import OutOfCoreError
from semisift.out_of_core import _matrix
from semisift.selection._refit import take_rows


def batched(X, batch, **known):
    design = parse_design(len(batch), batch=batch, **known)
    return without_batches(TrainingData.build(X, design=design, allow_nan=True))


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"groups": ["a", "b"]}, r"groups must hold one name .*got 2 labels for 3 rows"),
        ({"groups": ["a", None, "b"]}, r"groups must hold .*: 1 of 3 rows have none"),
        ({"batch": [0.5, 1, 2]}, r"batch must hold one name or whole number"),
        ({"sample_weight": [1, 2]}, r"sample_weight must be one number .*: got 2 for 3 rows"),
        ({"sample_weight": [1, 2, -1]}, r"sample_weight .*none of them negative.*: got -1.0"),
        ({"sample_weight": [1, 2, np.inf]}, r"sample_weight .*and finite: got inf"),
        ({"sample_weight": np.zeros(3)}, r"not all 0: got 3 zeros"),
        ({"sample_weight": ["a", "b", "c"]}, r"sample_weight must be one number"),
        ({"sample_weight": np.ones((3, 2))}, r"must be 1D: got the shape \(3, 2\)"),
        ({"sample_weight": [1, 1, 1e-100]}, "and 0 or from 1e-60 to 1e.60: got 1e-100"),
        ({"sample_weight": [1, 1, 1e100]}, "and 0 or from 1e-60 to 1e.60: got 1e.100"),
        ({"sample_weight": [1, 1, 10**400]}, "sample_weight must be one number"),
        ({"sample_weight": [1, 1, 1j]}, "sample_weight must be one number"),
        ({"sample_weight": np.array(["2026"] * 3, "M8[Y]")}, "sample_weight must be one number"),
        ({"sample_weight": np.ma.masked_equal([1, 1, 2], 2)}, "sample_weight must be one number"),
    ],
)
def test_what_cannot_be_used_is_named(known, message):
    with pytest.raises(ValueError, match=message):
        parse_design(3, **known)


def test_a_problem_of_some_rows_knows_them():
    design = parse_design(4, groups=list("abab"), batch=[0, 0, 1, 1], sample_weight=[1, 2, 3, 4])
    data = TrainingData.build(np.eye(4), [0, 1, -1, -1], design=design)
    rows = np.array([1, 3])
    for part in (data.part(rows), take_rows(data, rows, 0)):
        assert part.design.groups.tolist() == [1, 1]
        assert part.design.batches.tolist() == [0, 1]
        assert part.design.weights.tolist() == [2, 4]
    assert data.with_labels(data.labels, None, 1).design is design


def test_batches_lose_their_means():
    X = np.array([[1.0, 5, 0], [3, 5, 2], [11, 7, 4], [13, 7, 8]])
    found = batched(X, [0, 0, 1, 1]).X
    expected = [[6.0, 6, 2.5], [8, 6, 4.5], [6, 6, 1.5], [8, 6, 5.5]]
    np.testing.assert_allclose(found, expected)
    assert np.ptp(found[:, 1]) == 0


def test_what_varies_between_batches_alone_is_constant():
    X = np.repeat([[0.1, 1 / 3], [0.7, 2 / 7], [1e9, 1e-9]], 7, axis=0)
    assert batched(X, np.repeat([0, 1, 2], 7)).constant.all()


def test_missing_values_stay_missing_values_and_do_not_count():
    X = np.array([[1.0], [3], [np.nan], [11], [13], [15]])
    found = batched(X, [0, 0, 0, 1, 1, 1]).X
    overall = np.nanmean(X)
    np.testing.assert_allclose(found.ravel() - overall, [-1, 1, np.nan, -2, 0, 2])


def test_weights_count_in_the_means():
    X = np.array([[1.0], [3], [11], [13]])
    weighted = batched(X, [0, 0, 1, 1], sample_weight=[1, 2, 1, 1]).X
    repeated = batched(X[[0, 1, 1, 2, 3]], [0, 0, 0, 1, 1]).X
    np.testing.assert_allclose(weighted, repeated[[0, 1, 3, 4]])


def test_counts_are_taken_as_logarithms_of_shares():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, (40, 20)).astype(float)
    dense, sparse = (batched(form, np.arange(40) % 2) for form in (X, csr_array(X)))
    np.testing.assert_array_equal(dense.X, sparse.X)
    totals = X.sum(axis=1, keepdims=True)
    logs = np.log1p(X / totals * np.median(totals))
    for batch in range(2):
        rows = np.arange(40) % 2 == batch
        np.testing.assert_allclose(
            dense.X[rows], logs[rows] - logs[rows].mean(axis=0) + logs.mean(axis=0)
        )


def test_a_column_of_the_batch_does_not_rank():
    rng = np.random.default_rng(0)
    batch = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 8))
    X[:, 3] += 10 * batch
    X[::2, 5] += 4
    y = np.full(60, -1)
    y[[0, 2, 4, 6, 8, 1, 31, 33, 35, 37]] = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert FisherScore().fit(X, y).ranking_[3] <= 2
    ranker = FisherScore().fit(X, y, batch=batch)
    assert ranker.ranking_[5] == 1
    assert ranker.scores_[3] < ranker.scores_[5] / 3


def test_batches_need_the_rows_in_memory(tmp_path):
    stored = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(64, 4))
    stored[:] = np.random.default_rng(0).normal(size=(64, 4))
    rows = OutOfCoreMatrix(stored, max_memory=1000)
    with pytest.raises(OutOfCoreError, match="batch needs the rows in memory"):
        VarianceScore().fit(rows, batch=np.arange(64) % 2)


def rows_of_study():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    X[::2, 0] += 3
    return X, np.where(np.arange(80) < 20, np.arange(80) % 2, -1)


def test_an_assessment_needs_what_the_fit_knew():
    X, y = rows_of_study()
    groups = np.arange(80) // 4
    ranker = FisherScore().fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="groups is lacking"):
        ranker.assess(X, y, n_resamples=2, n_permutations=5)
    ranker.assess(X, y, groups=groups, n_resamples=2, n_permutations=5)


@pytest.mark.parametrize("cls", [TransductiveScore, SSFI, Consensus])
def test_rows_of_weight_0_do_not_count_and_are_labelled(cls):
    X, y = rows_of_study()
    X[:, 5] = 0.0
    weights = np.ones(80)
    weights[[3, 50, 51]] = 0
    X[[3, 50]] = 100.0
    X[3, 5] = -1.0
    few = np.flatnonzero(weights)
    ranker = cls(random_state=0).fit(X, y, sample_weight=weights)
    other = cls(random_state=0).fit(X[few], y[few])
    np.testing.assert_allclose(ranker.scores_, other.scores_, rtol=1e-6)
    assert len(ranker.transduction_) == 80


def test_weights_must_leave_two_classes():
    X, y = rows_of_study()
    weights = (y != 1).astype(float)
    for cls in (FisherScore, TransductiveScore):
        with pytest.raises(ValueError, match="leave labelled rows of two classes: all rows of 1"):
            cls().fit(X, y, sample_weight=weights)
    three = np.where(np.arange(80) < 4, 2, y)
    ranker = TransductiveScore().fit(X, three, sample_weight=(three != 2).astype(float))
    assert ranker.classes_.tolist() == [0, 1]
    few = three != 2
    expected = TransductiveScore().fit(X[few], three[few])
    np.testing.assert_allclose(ranker.scores_, expected.scores_, rtol=1e-6)


def test_knockoffs_take_no_missing_values():
    X, y = rows_of_study()
    X[40, 2] = np.nan
    with pytest.raises(ValueError, match="'knockoff' takes no missing values"):
        FisherScore(n_features_to_select="knockoff").fit(X, y)


def test_missing_values_go_through_transform_and_back(tmp_path):
    X, y = rows_of_study()
    X[40, 0] = np.nan
    ranker = FisherScore(n_features_to_select=3).fit(X, y)
    back = ranker.inverse_transform(ranker.transform(X))
    np.testing.assert_array_equal(back[:, ranker.get_support()], X[:, ranker.get_support()])
    stored = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
    stored[:] = X
    np.testing.assert_array_equal(FisherScore().fit(stored, y).scores_, ranker.scores_)


def test_missing_values_in_an_excluded_column_do_not_matter():
    X, y = rows_of_study()
    X[40, 2] = np.nan
    ranker = CSFS(exclude=[2], n_features_to_select=2).fit(X, y)
    assert ranker.transform(X).shape == (80, 2)


def test_one_class_of_rows_on_disk_is_sought_among_many(tmp_path, monkeypatch):
    monkeypatch.setattr(_matrix, "BLOCK_VALUES", 1 << 12)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 40))
    X[::2, :3] += 3
    y = np.where((np.arange(3000) < 40) & (np.arange(3000) % 2 == 0), 1, -1)
    stored = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
    stored[:] = X
    rows = OutOfCoreMatrix(stored, max_memory=2_000_000)
    assert not rows.fits()
    with pytest.warns(SubsamplingWarning):
        ranker = FisherScore().fit(rows, y)
    assert set(ranker.ranking_[:3]) == {1, 2, 3}


def test_a_series_names_its_columns():
    X, y = rows_of_study()
    table = pd.DataFrame(X, columns=list("abcdef"))
    prior = pd.Series({"f": 1000.0})
    assert FisherScore(feature_weights=prior).fit(table, y).ranking_[5] == 1
    mask = pd.Series({name: name == "e" for name in "fedcba"})
    assert FisherScore(include=mask).fit(table, y).ranking_[4] == 1


def test_a_consensus_asks_all_that_take_weights():
    X, y = rows_of_study()
    parts = [("pairs", ConstraintScore()), ("fisher", FisherScore())]
    Consensus(rankers=parts).fit(X, y, sample_weight=np.ones(80))
    with pytest.raises(TypeError, match=r"'cls' \(CSFS\) takes none"):
        Consensus(rankers=[("cls", CSFS())]).fit(X, y, sample_weight=np.ones(80))
