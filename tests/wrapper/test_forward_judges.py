"""Judging all columns at once picks what one fit for each column and split would."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import NNge, _kernels
from semisift.utils._naive_bayes import add_in_order
from semisift.wrapper import _naive_bayes, _neighbors
from semisift.wrapper._candidate_scorers import EstimatorJudge, WrappedLearner
from semisift.wrapper._naive_bayes import most_likely
from semisift.wrapper._scorers import choose_judge
from tests.searches import (
    CATEGORICAL,
    PAIRS,
    P,
    SlowNB,
    SlowNeighbours,
    SlowNNge,
    fit,
    make_case,
    make_trials,
)

pytestmark = pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")

each_pair = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())


def assert_same_choices(pair, X, y, **params):
    fast, slow = (fit(estimator, X, y, **params) for estimator in pair)
    assert_array_equal(fast.picked_, slow.picked_)
    assert_array_equal(fast.accuracies_, slow.accuracies_)
    assert_array_equal(fast.scores_, slow.scores_)


@pytest.mark.parametrize(("fast", "slow"), PAIRS.values(), ids=PAIRS.keys())
def test_one_judges_all_columns_and_the_other_fits(fast, slow):
    """Otherwise the tests below would compare a path with itself."""
    trials = make_trials(np.zeros((6, P)), np.arange(6) % 2)
    assert not isinstance(choose_judge(WrappedLearner(fast, P, 0), trials), EstimatorJudge)
    assert isinstance(choose_judge(WrappedLearner(slow, P, 0), trials), EstimatorJudge)


@each_pair
@pytest.mark.parametrize("kind", ["normal", "few values"])
@pytest.mark.parametrize(("n_classes", "n_rows"), [(2, 8), (3, 14), (2, 31), (4, 20)])
def test_same_choices_as_one_fit_for_each_column(pair, kind, n_classes, n_rows):
    assert_same_choices(pair, *make_case(kind, n_classes, n_rows))


@each_pair
@pytest.mark.parametrize("seed", range(1, 4))
def test_same_choices_on_more_data(pair, seed):
    assert_same_choices(pair, *make_case("few values", 2, 24, seed), tie_break="index")
    assert_same_choices(pair, *make_case("normal", 3, 24, seed))


@each_pair
@pytest.mark.parametrize("kind", ["normal", "few values"])
def test_same_choices_with_many_picks(pair, kind):
    """From eight terms on numpy does not add one after the other."""
    assert_same_choices(pair, *make_case(kind, 2, 22), n_features_to_select=P)


@each_pair
@pytest.mark.parametrize("n_rows", [9, 27])
def test_same_choices_with_single_rows_of_a_class(pair, n_rows):
    X, y = make_case("normal", 2, n_rows)
    y[3], y[7] = 5, 6
    assert_same_choices(pair, X, y)


@each_pair
@pytest.mark.parametrize(
    "cv",
    [
        KFold(3),  # y is sorted below, so folds lack classes
        LeaveOneOut(),
        RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
        3,
    ],
    ids=str,
)
def test_same_choices_with_given_splits(pair, cv):
    X, y = make_case("normal", 3, 13)
    assert_same_choices(pair, X[np.argsort(y)], np.sort(y), cv=cv, n_features_to_select=3)


@each_pair
@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_array, lambda X: X.astype(np.float32), np.asfortranarray]
)
def test_form_of_x_does_not_matter(pair, form):
    X, y = make_case("few values", 2, 24)
    assert_array_equal(fit(pair[0], form(X), y).scores_, fit(pair[0], X, y).scores_)


@pytest.mark.parametrize("form", [sparse.csr_array, lambda X: X.astype(np.float32)])
def test_form_of_x_does_not_matter_for_other_estimators(form):
    X, y = make_case("few values", 2, 24)
    assert_array_equal(fit(SlowNB(), form(X), y).scores_, fit(SlowNB(), X, y).scores_)


@each_pair
def test_size_of_blocks_does_not_matter(pair, monkeypatch):
    X, y = make_case("few values", 3, 30)
    expected = fit(pair[0], X, y)
    monkeypatch.setattr("semisift.utils._columns.BLOCK_VALUES", 1)
    monkeypatch.setattr(_neighbors, "BLOCK_DISTANCES", 1)
    monkeypatch.setattr(_naive_bayes, "MOST_KEPT", 0)
    assert_array_equal(fit(pair[0], X, y).scores_, expected.scores_)


def test_neighbours_without_kernels():
    X, y = make_case("few values", 3, 40)
    expected = fit(KNeighborsClassifier(), X, y)
    with _kernels.numpy_only():
        assert_array_equal(fit(KNeighborsClassifier(), X, y).scores_, expected.scores_)


def test_trees_without_kernels():
    X, y = make_case("normal", 2, 24)
    tree = DecisionTreeClassifier(max_depth=1)  # on one column there are no ties
    with _kernels.numpy_only():
        slow = fit(tree, X, y, n_features_to_select=1)
    assert_array_equal(slow.picked_, fit(tree, X, y, n_features_to_select=1).picked_)


def test_neighbours_far_and_wide():
    """More rows than a leaf of scikit-learn's tree; without ties the rows' order is no matter."""
    pair = KNeighborsClassifier(7), SlowNeighbours(7)
    assert_same_choices(pair, *make_case("normal", 2, 150))


@pytest.mark.parametrize("n_terms", [*range(1, 26), 64, 127, 128, 129, 136, 137, 260, 300])
def test_adding_in_the_order_of_numpy(n_terms):
    terms = np.random.default_rng(n_terms).normal(size=(50, n_terms))
    assert_array_equal(add_in_order(list(terms.T)), terms.sum(axis=1))


def test_the_class_with_the_largest_value_is_that_of_argmax():
    values = np.array([1.0, 2.0, -np.inf, np.inf, np.nan])
    cases = np.array(list(itertools.product(values, repeat=3)))
    assert_array_equal(most_likely(list(cases.T)), cases.argmax(axis=1))


def test_more_neighbours_than_rows():
    X, y = make_case("normal", 2, 5)
    assert_same_choices((KNeighborsClassifier(9), SlowNeighbours(9)), X, y)


def test_parameters_of_nnge():
    params = {"half_open": False, "n_attempts": 1, "n_intervals": 3}
    assert_same_choices((NNge(**params), SlowNNge(**params)), *make_case("few values", 2, 24))


def test_nnge_with_nominal_columns_is_fitted_for_each_column():
    nominal = NNge(categorical=CATEGORICAL)
    trials = make_trials(np.zeros((6, P)), np.arange(6) % 2)
    assert isinstance(choose_judge(WrappedLearner(nominal, P, 0), trials), EstimatorJudge)
