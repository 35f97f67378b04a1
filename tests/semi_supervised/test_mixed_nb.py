"""Naive Bayes for numeric and categorical columns together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from semisift.semi_supervised import MixedNB


def make_rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    numbers = rng.normal(size=(n, 4)) + y[:, None] * [0, 1, 0, 0.5]
    names = (rng.integers(0, 4, size=(n, 3)) + y[:, None] * [0, 1, 0]) % 4
    names[:4] = np.arange(4)[:, None]  # so that all of them are seen
    return numbers, names.astype(float), y


def test_numeric_columns_are_those_of_gaussian_nb():
    numbers, _, y = make_rows()
    ours, theirs = MixedNB().fit(numbers, y), GaussianNB().fit(numbers, y)
    assert_allclose(ours.predict_joint_log_proba(numbers), theirs.predict_joint_log_proba(numbers))
    assert_allclose(ours.predict_proba(numbers), theirs.predict_proba(numbers))
    assert_allclose(ours.theta_, theirs.theta_)
    assert_allclose(ours.var_, theirs.var_)


@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_categorical_columns_are_those_of_categorical_nb(alpha):
    _, names, y = make_rows()
    ours = MixedNB(categorical=[True] * 3, alpha=alpha).fit(names * 2.5 - 1, y)
    theirs = CategoricalNB(alpha=alpha).fit(names, y)
    assert_allclose(
        ours.predict_joint_log_proba(names * 2.5 - 1), theirs.predict_joint_log_proba(names)
    )


def test_both_kinds_add_up():
    numbers, names, y = make_rows()
    X = np.column_stack([names[:, :1], numbers, names[:, 1:]])
    categorical = np.array([True] + [False] * 4 + [True] * 2)
    joint = MixedNB(categorical=categorical).fit(X, y).predict_joint_log_proba(X)
    expected = GaussianNB().fit(numbers, y).predict_joint_log_proba(numbers)
    expected = expected + CategoricalNB().fit(names, y).predict_joint_log_proba(names)
    assert_allclose(joint, expected - np.log(np.bincount(y) / len(y)))


def test_by_hand():
    """Class a has the values 0, 0, 1, class b 1, 1: shares (2 + 1) / 5, (1 + 1) / 5 and so on."""
    model = MixedNB(categorical=[True]).fit([[0], [0], [1], [1], [1]], list("aaabb"))
    a = 3 / 5 * np.array([3 / 5, 2 / 5, 1 / 5])
    b = 2 / 5 * np.array([1 / 4, 3 / 4, 1 / 4])
    joint = model.predict_joint_log_proba([[0], [1], [7]])  # 7 was not seen
    assert_allclose(np.exp(joint), np.column_stack([a, b]))
    assert_array_equal(model.predict([[0], [1], [7]]), list("aba"))


def test_categorical_must_be_a_mask():
    for categorical in ([True], [1, 0], [[True, False]]):
        with pytest.raises(ValueError, match=r"categorical must be one bool for each of the 2"):
            MixedNB(categorical=categorical).fit(np.eye(2), [0, 1])


def test_rows_beyond_all_squares_belong_to_the_nearest_class():
    """In standard deviations: column 0 is wider in class 1, column 1 in class 2."""
    numbers, names, y = make_rows(60)
    numbers = numbers[:, :2] * np.where([[0, 0], [1, 0], [0, 1]], 9.0, 1.0)[y]
    X = np.column_stack([numbers, names[:, 0]])
    far = np.array([[1e200, 0, 0], [0, -1e200, 0], [-1.7e308, 0, 9], [1e200, 1e190, 1]])
    for columns in ([0, 1], [0, 1, 2]):
        model = MixedNB(categorical=np.array([False, False, True])[columns]).fit(X[:, columns], y)
        expected = np.eye(3)[[1, 2, 1, 1]]
        assert_array_equal(model.predict_proba(far[:, columns]), expected)
        assert_array_equal(model.predict(far[:, columns]), [1, 2, 1, 1])
        both = np.vstack([X[:5], far])[:, columns]
        assert_array_equal(model.predict_proba(both)[:5], model.predict_proba(X[:5, columns]))


def test_classes_as_near_share_a_row():
    """The variances are equal, and 1e200 is as far from 0 as from 4."""
    model = MixedNB().fit([[-1], [1], [3], [5], [3], [5]], [0, 0, 1, 1, 1, 1])
    assert_allclose(model.predict_proba([[1e200], [-1e200]]), [[1 / 3, 2 / 3]] * 2)


@pytest.mark.parametrize("unit", [1e200, pytest.param(1e307, marks=pytest.mark.nightly)])
def test_values_whose_variance_is_no_number_are_refused(unit):
    numbers, _, y = make_rows()
    with pytest.raises(ValueError, match=r"mean and variance fit into float64: got values up to"):
        MixedNB().fit(numbers * unit, y)
    categorical = MixedNB(categorical=[True] * 4).fit(np.rint(numbers) * unit, y)
    assert np.isfinite(categorical.predict_proba(numbers)).all()
