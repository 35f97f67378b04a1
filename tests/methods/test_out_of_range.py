"""Numbers beyond what the machine can hold: errors that name what is wrong, or right answers."""

import inspect
import warnings
from numbers import Integral

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils._param_validation import Interval, InvalidParameterError

from semisift import (
    CLASSIFIERS,
    METHODS,
    RLSR,
    ApproximateNeighbors,
    FisherScore,
    FSManifold,
    MixedNB,
    NNge,
    TriTraining,
    VarianceScore,
)
from semisift.utils._sklearn_compat import MAX, MAX_MEMBERS
from tests.conftest import make_data
from tests.methods.test_common import nightly

CLASSES = [entry.cls for entry in (METHODS | CLASSIFIERS).values()]
CLASSES += [ApproximateNeighbors, NNge]


def whole_numbers(cls):
    """Return the parameters that may be whole numbers."""
    return [
        name
        for name, constraints in cls._parameter_constraints.items()
        if name in inspect.signature(cls).parameters
        and any(isinstance(c, Interval) and c.type.__name__ == "Integral" for c in constraints)
    ]


def test_every_number_has_bounds():
    for cls in CLASSES:
        for name in whole_numbers(cls):
            of_numbers = [c for c in cls._parameter_constraints[name] if isinstance(c, Interval)]
            whole = [each for each in of_numbers if each.type is Integral]
            assert all(None not in (each.left, each.right) for each in whole), (cls, name)
            assert all(abs(each.right) <= MAX for each in whole), (cls, name)


@pytest.mark.parametrize("value", [2**64, 10**29, 10**400], ids=["2**64", "10**29", "10**400"])
@pytest.mark.parametrize(("cls", "name"), [(CLASSES[0], "max_unlabelled"), (NNge, "n_attempts")])
def test_no_whole_number_overflows(cls, name, value, data):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of {cls.__name__} must"):
        cls(**{name: value}).fit(data.X, data.y)


def test_committees_are_bounded(data):
    for cls in CLASSES:
        for name in {"n_members", "n_samplings"} & set(whole_numbers(cls)):
            with pytest.raises(InvalidParameterError, match=f"{MAX_MEMBERS}]"):
                cls(**{name: MAX}).fit(data.X, data.y)


@pytest.mark.parametrize("ranker", [VarianceScore(), TriTraining(), NNge(), MixedNB()])
def test_too_large_for_a_float(ranker):
    X = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1, 10**400, 3, 4]}, dtype=object)
    with pytest.raises(ValueError, match=r"a value too large for dtype[\s\S]*Found in column 'b'"):
        ranker.fit(X, ["p", "q", "p", "q"])


def test_too_large_where_scikit_learn_converts():
    X = np.array([[1], [10**400], [3], [4]], dtype=object)
    with pytest.raises(ValueError, match=r"X must hold numbers that fit into float64.*1\.8e\+308"):
        ApproximateNeighbors().fit(X)


@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
@pytest.mark.parametrize("ranker", [RLSR(), RLSR(feature_scaling="standard"), FSManifold()])
@pytest.mark.parametrize("scale", [5e-324, *nightly(1e-322, 1e-315)])
@pytest.mark.parametrize("constant", [1e300, *nightly(None, 1.0)])
def test_the_smallest_numbers(ranker, scale, constant):
    data = make_data(n_rows=24, n_features=20)
    X = np.round(data.X) * scale
    X[:, 5] = np.where(np.arange(24) == 3, 5e-324, 0.0)  # its standard deviation is no number
    if constant is not None:
        X[:, 7] = constant
    scores = ranker.fit(X, data.y).scores_
    assert_array_equal(np.isfinite(scores), np.ptp(X, axis=0) > 0)


def test_a_ridge_that_vanishes_is_named():
    X = np.repeat(make_data(n_rows=12).X[:, :2], 2, axis=1)
    y = np.r_[0, 1, 0, 1, np.full(8, -1)]
    with pytest.raises(ValueError, match="gamma is too small for these columns"):
        RLSR(gamma=1e-300).fit(X, y)


@pytest.mark.parametrize("scale", [1e300, 1e25, 1e-25, 1e-300])
def test_distances_out_of_single_precision(scale, data):
    pytest.importorskip("faiss", reason="faiss is not installed")
    with pytest.raises(ValueError, match="in single precision, from 1e-36 to 1e"):
        ApproximateNeighbors().fit(data.X * scale)
    near = ApproximateNeighbors().fit(data.X)
    assert near.transform(near._centre[None, :]).nnz
    with pytest.raises(ValueError, match="the values of column 3 are up to"):
        near.transform(data.X * np.where(np.arange(8) == 3, 1e200, 1.0))


def test_categories_of_pandas():
    data = make_data()
    names = np.array([None, "no", "yes"], dtype=object)[data.y + 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = FisherScore().fit(data.X, pd.Categorical(names))
    assert_array_equal(ranker.classes_, ["no", "yes"])
    assert_array_equal(ranker.scores_, FisherScore().fit(data.X, data.y).scores_)
