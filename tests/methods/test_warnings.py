"""Warnings name the line of the user, wherever in the library they come from."""

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semisift import (
    C4,
    CLS,
    CSFS,
    GSFS,
    LSDF,
    SSFI,
    BaggingConstraintScore,
    ConstraintScore,
    EnsCLS,
    FallbackWarning,
    FisherScore,
    GraphWarning,
    LaplacianScore,
    NoUnlabelledDataWarning,
    UnlabelledTextWarning,
    VarianceScore,
)

X = np.random.default_rng(0).normal(size=(40, 6))
ONE_EACH = np.where(np.arange(40) < 2, np.arange(40), -1)
ONE_CLASS = np.where(np.arange(40) < 4, 0, -1)
COLUMN = np.where(np.arange(40) < 8, np.arange(40) % 2, -1)[:, None]
LABELLED = np.arange(40) % 2

CASES = {
    "CLS": (CLS(), ONE_CLASS, FallbackWarning),
    "CLS, heat": (CLS(heat_constant=0.01), COLUMN.ravel(), GraphWarning),
    "CSFS": (CSFS(), ONE_CLASS, FallbackWarning),
    "EnsCLS": (EnsCLS(n_members=5), ONE_CLASS, FallbackWarning),
    "C4": (C4(), ONE_EACH, FallbackWarning),
    "GSFS": (GSFS(), COLUMN.ravel(), FallbackWarning),
    "LSDF": (LSDF(), ONE_CLASS, FallbackWarning),
    "constraints": (ConstraintScore(), ONE_EACH, FallbackWarning),
    "bags of constraints": (BaggingConstraintScore(n_members=2), ONE_EACH, FallbackWarning),
    "graph": (LaplacianScore(heat_constant=0.003), COLUMN.ravel(), GraphWarning),
    "shape of y": (FisherScore(), COLUMN, DataConversionWarning),
    "text": (FisherScore(), COLUMN.ravel().astype(str), UnlabelledTextWarning),
    "nothing unlabelled": (SSFI(n_members=5), LABELLED, NoUnlabelledDataWarning),
}


@pytest.mark.parametrize("name", CASES)
def test_fit_names_the_caller(name):
    ranker, y, category = CASES[name]
    with pytest.warns(category) as caught:
        ranker.fit(X, y)
    assert {one.filename for one in caught} == {__file__}


@pytest.mark.parametrize("name", ["CLS", "EnsCLS", "shape of y", "text"])
def test_a_pipeline_names_the_caller(name):
    ranker, y, category = CASES[name]
    with pytest.warns(category) as caught:
        make_pipeline(StandardScaler(), ranker, VarianceScore()).fit(X, y)
    ours = [one for one in caught if issubclass(one.category, category)]
    assert {one.filename for one in ours} == {__file__}


def test_a_search_names_the_caller():
    search = GridSearchCV(CLS(), {"n_neighbors": [3]}, scoring=lambda *_: 0.0, cv=2)
    with pytest.warns(FallbackWarning) as caught:
        search.fit(X, ONE_CLASS)
    assert {one.filename for one in caught} == {__file__}
