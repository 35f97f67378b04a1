"""Each parameter of every public class, with values at its limits, just outside, and of no use.

What the declared constraints refuse is refused by fit with the name of the parameter, the rule and
the value; what they let through works, or is refused by name as well.
"""

import inspect
import warnings
from numbers import Integral

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions, make_constraint

import semisift
from semisift import CLASSIFIERS, METHODS, ApproximateNeighbors, MixedNB, NNge
from tests.conftest import make_data
from tests.nightly import daily_are
from tests.properties.fits import MIN, check_refusal
from tests.properties.profiles import some

CLASSES = {entry.cls.__name__: entry.cls for entry in (METHODS | CLASSIFIERS).values()}
CLASSES |= {cls.__name__: cls for cls in (ApproximateNeighbors, MixedNB, NNge)}

DATA = make_data(n_rows=24, n_features=6)
MAX = np.finfo(float).max

# Of no use for any parameter that has limits; what a constraint takes all the same is left out.
NONSENSE = {
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "a word": "no such word",
    "no word": "",
    "bytes": b"mean",
    "a complex number": 1j,
    "nothing in a list": [],
    "an object": object(),
    "a class": dict,
    "a large number": 10**30,
    "a negative number": -1,
    "a broken number": 0.5,
    "a truth": np.bool_(True),
    "True": True,
    "a list of lists": [["a", ["b"]], [1]],
    "a table": np.full((2, 2, 2), np.nan),
    "a text of zeros": "\0" * 3,
    "a set": {1, 2},
    "a mapping": {"a": object()},
    "a function": len,
}

# Work that nobody waits for: committees of a million, trials without end.
COSTLY = {"n_members", "n_samplings", "max_iter", "n_jobs", "cv", "n_start", "n_step", "views"} | {
    "rebuild"
}


def candidates(constraints):
    """Return values at the limits of a parameter, just outside of them, and nonsense."""
    values = dict(NONSENSE)
    for each in map(make_constraint, constraints):
        if isinstance(each, Interval):
            for side, limit in (("left", each.left), ("right", each.right)):
                if limit is None:
                    continue
                values[f"the {side} limit {limit}"] = limit
                if each.type is Integral:
                    values |= {f"{side} {limit}{step:+}": limit + step for step in (-1, 1)}
                else:
                    values[f"below {limit}"] = float(np.nextafter(float(limit), -np.inf))
                    values[f"above {limit}"] = float(np.nextafter(float(limit), np.inf))
            if each.type is not Integral:
                values |= {"the largest": float(MAX), "the smallest": 5e-324}
        if isinstance(each, StrOptions):
            values |= {repr(word): word for word in sorted(each.options)}
            values |= {"in capitals": sorted(each.options)[0].upper() + " "}
    return values


def is_allowed(constraints, value):
    return any(make_constraint(each).is_satisfied_by(value) for each in constraints)


def fit(cls, parameter, value):
    """Return the error of a fit, or None."""
    params = {key: given for key, given in MIN.items() if key in inspect.signature(cls).parameters}
    if cls is semisift.LabelledOnly:
        params["estimator"] = MixedNB()
    if "n_features_to_select" not in params:
        params |= {"n_features_to_select": 3} if hasattr(cls, "n_features_to_select") else {}
    model = cls(**{**params, parameter: value})
    try:
        with warnings.catch_warnings():
            for each in dir(semisift.exceptions):
                if each.endswith("Warning"):
                    warnings.simplefilter("ignore", getattr(semisift.exceptions, each))
            warnings.simplefilter("ignore", ConvergenceWarning)  # it says what is not reached
            y = np.maximum(DATA.y, 0) if cls in (MixedNB, NNge) else DATA.y
            model.fit(DATA.X, y)
    except (ValueError, TypeError) as error:
        return error
    if hasattr(model, "scores_"):
        assert not np.isnan(model.scores_).all(), value
    return None


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_what_is_outside_is_refused_by_name(name):
    cls = CLASSES[name]
    for parameter in sorted(inspect.signature(cls).parameters):
        constraints = cls._parameter_constraints[parameter]
        values = candidates(constraints)
        wrong = [words for words in values if not is_allowed(constraints, values[words])]
        for words in some(wrong, f"{name} {parameter}", 3):
            error = fit(cls, parameter, values[words])
            assert error is not None, words
            assert f"The '{parameter}' parameter of {name} must be" in str(error), words
            assert repr(values[words]) in str(error) or str(values[words]) in str(error), words


SEVEN = {"FisherScore", "SSFI", "SSelect", "SequentialForward", "RLSR", "Consensus", "TriTraining"}


@pytest.mark.parametrize("name", daily_are(SEVEN, sorted(CLASSES)))
def test_what_is_inside_works_or_is_refused_by_name(name):
    cls = CLASSES[name]
    parameters = [each for each in sorted(inspect.signature(cls).parameters) if each not in COSTLY]
    for parameter in some(parameters, name, 3):
        constraints = cls._parameter_constraints[parameter]
        values = candidates(constraints)
        allowed = [words for words in values if is_allowed(constraints, values[words])]
        for words in some(allowed, f"{name} {parameter}"):
            error = fit(cls, parameter, values[words])
            if error is not None:
                check_refusal(error)
                assert parameter in str(error), (words, error)


@pytest.mark.parametrize("value", [0, -3, True, np.nan, [2], 2.5])
def test_a_number_that_was_set_after_the_fit(value):
    ranker = semisift.FisherScore().fit(DATA.X, DATA.y).set_params(n_features_to_select=value)
    with pytest.raises(ValueError, match="The 'n_features_to_select' parameter of FisherScore"):
        ranker.get_support()


@pytest.mark.parametrize(("name", "parameter"), [("SSFI", "n_members"), ("C4", "offset")])
def test_true_is_no_number(name, parameter):
    assert parameter in str(fit(CLASSES[name], parameter, True))


KEPT = [
    # overflows in the middle of a fit
    ("C4", "heat_constant", MAX),
    ("C4", "offset", MAX),
    ("CLS", "heat_constant", MAX),
    ("CSFS", "heat_constant", MAX),
    ("EnsCLS", "balance", MAX),
    ("GSFS", "same_class_weight", 10**30),
    ("LSDF", "must_link_weight", MAX),
    ("S3VMFS", "unlabelled_weight", 10**30),
    ("S3VMRFE", "unlabelled_weight", 10**30),
    ("SemiSupervisedForest", "alpha", MAX),
    ("SemiSupervisedForest", "cooling", MAX),
    # no number
    ("SemiMIM", "class_prior", dict),
    ("SemiJMI", "class_prior", dict),
    # singular equations
    ("FSManifold", "C", 1e30),
    ("FSManifold", "C", 5e-324),
    # errors of numpy, which name no parameter
    ("Consensus", "ranker_weights", [["a", ["b"]], [1]]),
    ("Consensus", "ranker_weights", {1, 2}),
    ("MixedNB", "categorical", [["a", ["b"]], [1]]),
    ("NNge", "categorical", [["a", ["b"]], [1]]),
    # more memory than there is, and a product out of range
    ("NNge", "n_intervals", 2**31 - 1),
    ("MixedNB", "var_smoothing", MAX),
]


@pytest.mark.parametrize(("name", "parameter", "value"), KEPT)
def test_what_once_went_wrong(name, parameter, value):
    error = fit(CLASSES[name], parameter, value)
    if error is not None:
        check_refusal(error)
        assert parameter in str(error)
