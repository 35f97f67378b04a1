"""Committees on tables with missing values: one rule, with the kernels and without."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from semisift import (
    SEFR,
    SSFI,
    CoForest,
    ForestImportance,
    SemiSupervisedForest,
    TriTraining,
    _kernels,
)
from semisift.base._training_data import TrainingData
from semisift.ensemble.ssfi import VARIANTS
from tests.conftest import make_data, needs_kernels
from tests.reference.forest import forest
from tests.reference.sefr import sefr
from tests.reference.ssfi import ssfi


def with_missing(share=0.2, coarse=False, **case):
    """Return a table with missing values, of which one column and one row have nothing else."""
    data = make_data(**case)
    X = data.X.round() if coarse else data.X.copy()
    X[np.random.default_rng(1).random(X.shape) < share] = np.nan
    X[:, 4], X[-1] = np.nan, np.nan
    return X, data.y, data.y_true


@needs_kernels
@pytest.mark.parametrize(
    ("variant", "coarse", "n_classes"),
    [
        ("default", False, 2),
        ("default", True, 3),
        ("paper", True, 2),
        *(
            pytest.param(variant, coarse, n_classes, marks=pytest.mark.nightly)
            for variant in VARIANTS
            for coarse in (False, True)
            for n_classes in (2, 3)
        ),
    ],
)
def test_ssfi_equals_the_reference(variant, coarse, n_classes):
    X, y, _ = with_missing(
        coarse=coarse, n_rows=40, n_features=12, n_classes=n_classes, per_class=4
    )
    reading = VARIANTS[variant]
    expected = ssfi(
        X,
        y,
        seed=7,
        n_members=15,
        m=3,
        n_rounds=reading.n_rounds,
        n_k=[1] * n_classes,
        votes="probability" if reading.probability else "hard",
        spread=TrainingData.build(X, allow_nan=True).spread if reading.widest_gap else None,
        net=reading.net,
        normalise="draws" if reading.per_draw else "members",
    )
    for n_jobs in (1, 2):
        ranker = SSFI(n_members=15, variant=variant, random_state=7, n_jobs=n_jobs).fit(X, y)
        assert_allclose(np.nan_to_num(ranker.scores_), expected["scores"], rtol=1e-12, atol=1e-12)
    assert np.isnan(ranker.scores_[4])


@needs_kernels
def test_forest_and_sefr_equal_the_reference():
    X, y, _ = with_missing(n_rows=40, n_features=9, n_classes=3, per_class=8)
    known = y >= 0
    found = ForestImportance(n_members=15, random_state=3).fit(X, y).scores_
    expected = forest(X[known], y[known], seed=3, n_members=15, m=3)["scores"]
    assert_allclose(np.nan_to_num(found), expected, rtol=1e-12, atol=1e-12)
    ranker = SEFR(n_members=15, random_state=3, max_iter=4).fit(X, y)
    reference = sefr(X, y, seed=3, n_members=15, m=3, max_iter=4)
    assert_allclose(np.nan_to_num(ranker.scores_), reference["scores"], rtol=1e-12, atol=1e-12)


@needs_kernels
def test_rows_that_are_not_in_the_committee_follow_the_missing_values():
    X, y, truth = with_missing(n_rows=400, n_features=10)
    ranker = SSFI(n_members=200, max_unlabelled=50).fit(X, y)
    is_known = ~np.isnan(X[:, :2]).any(axis=1)
    assert (ranker.transduction_ == truth)[is_known].mean() > 0.75


@pytest.mark.filterwarnings("ignore::semisift.CompiledKernelsMissingWarning")
@pytest.mark.parametrize("ranker", [SSFI, SEFR, ForestImportance])
def test_without_the_kernels_missing_values_are_taken_too(ranker):
    X, y, _ = with_missing(n_rows=60, n_features=9)
    with _kernels.numpy_only():
        scores = ranker(n_members=40).fit(X, y).scores_
    assert np.isnan(scores[4])
    assert np.isfinite(np.delete(scores, 4)).all()
    assert scores[:2].min() > np.nanmedian(scores)


def test_estimators_that_take_no_missing_values_are_refused_by_name():
    X, y, _ = with_missing()
    for model in (SSFI(estimator=GaussianNB()), TriTraining(estimator=GaussianNB())):
        with pytest.raises(ValueError, match=r"missing values .* GaussianNB does not take"):
            model.fit(X, y)
    pipeline = make_pipeline(SimpleImputer(keep_empty_features=True), GaussianNB())
    for estimator in (pipeline, DecisionTreeClassifier()):
        scores = SSFI(estimator=estimator, n_members=6, max_iter=1).fit(X, y).scores_
        assert np.isfinite(np.delete(scores, 4)).any()


def test_subspaces_by_mutual_information_need_all_values():
    X, y, _ = with_missing()
    with pytest.raises(ValueError, match=r"subspace must be .random.*'relevant'"):
        SSFI(subspace="relevant").fit(X, y)


@pytest.mark.parametrize("model", [SemiSupervisedForest, CoForest, TriTraining])
def test_classifiers_learn_and_predict_with_missing_values(model):
    X, y, truth = with_missing(n_rows=120, n_features=6, share=0.1)
    fitted = model(random_state=0).fit(X, y)
    assert (fitted.predict(X[:-1]) == truth[:-1]).mean() > 0.75
    complete = np.nan_to_num(X)
    assert_array_equal(fitted.predict(complete).shape, truth.shape)


@needs_kernels
def test_few_values_are_no_advantage():
    """Columns without any information: those with missing values rank no higher than the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    X[:, :20] = np.where(rng.random((60, 20)) < 0.7, np.nan, X[:, :20])
    y = np.where(np.arange(60) < 16, np.arange(60) % 2, -1)
    scores = np.mean([SSFI(n_members=300, random_state=s).fit(X, y).scores_ for s in range(4)], 0)
    assert scores[:20].mean() <= scores[20:].mean()
