"""Trying all columns at once picks what one fit for each column and split would."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import ENSemiFS, FWSemiFS, NNge, SequentialForward, _kernels
from semisift.utils._naive_bayes import add_in_order
from semisift.wrapper import _batch_scorers, _naive_bayes
from semisift.wrapper._batch_scorers import SCORERS, choose_scorer
from semisift.wrapper._candidate_scorers import EstimatorScorer, WrappedLearner
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

nightly = pytest.mark.nightly
each_pair = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())


def assert_same_choices(pair, X, y, **params):
    fast, slow = (fit(estimator, X, y, **params) for estimator in pair)
    assert_array_equal(fast.picked_, slow.picked_)
    assert_array_equal(fast.accuracies_, slow.accuracies_)
    assert_array_equal(fast.scores_, slow.scores_)


@pytest.mark.parametrize(("fast", "slow"), PAIRS.values(), ids=PAIRS.keys())
def test_one_tries_all_columns_and_the_other_fits(fast, slow):
    """Otherwise the tests below would compare a path with itself."""
    trials = make_trials(np.zeros((6, P)), np.arange(6) % 2)
    scorer = choose_scorer(WrappedLearner(fast, P, 0), trials)
    assert not isinstance(scorer, EstimatorScorer)
    assert SCORERS[scorer.name] is type(scorer)
    assert isinstance(choose_scorer(WrappedLearner(slow, P, 0), trials), EstimatorScorer)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (None, "naive Bayes"),
        (KNeighborsClassifier(), "neighbours"),
        (RidgeClassifier(), "estimator"),
        (LogisticRegression(), "estimator"),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", [SequentialForward, FWSemiFS, ENSemiFS])
def test_an_attribute_tells_how_columns_were_tried(estimator, name, method):
    X, y = make_case("normal", 2, 8)
    ranker = method(estimator=estimator, n_features_to_select=1).fit(X, y)
    assert ranker.candidate_scorer_ == name


@each_pair
@pytest.mark.parametrize("kind", ["normal", "few values"])
@pytest.mark.parametrize(
    ("n_classes", "n_rows"),
    [(2, 8), (4, 20), *(pytest.param(*case, marks=nightly) for case in [(3, 14), (2, 31)])],
)
def test_same_choices_as_one_fit_for_each_column(pair, kind, n_classes, n_rows):
    assert_same_choices(pair, *make_case(kind, n_classes, n_rows))


@each_pair
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=nightly) for seed in (2, 3))])
def test_same_choices_on_more_data(pair, seed):
    assert_same_choices(pair, *make_case("few values", 2, 24, seed), tie_break="index")
    assert_same_choices(pair, *make_case("normal", 3, 24, seed))


@each_pair
@pytest.mark.parametrize("kind", ["few values", pytest.param("normal", marks=nightly)])
def test_same_choices_with_many_picks(pair, kind):
    """From eight terms on numpy does not add one after the other."""
    assert_same_choices(pair, *make_case(kind, 2, 22), n_features_to_select=P)


@each_pair
@pytest.mark.parametrize("n_rows", [9, pytest.param(27, marks=nightly)])
def test_same_choices_with_single_rows_of_a_class(pair, n_rows):
    X, y = make_case("normal", 2, n_rows)
    y[3], y[7] = 5, 6
    assert_same_choices(pair, X, y)


@each_pair
@pytest.mark.parametrize(
    "cv",
    [
        KFold(3),  # y is sorted below, so folds lack classes
        pytest.param(LeaveOneOut(), marks=nightly),
        pytest.param(
            RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0), marks=nightly
        ),
        pytest.param(3, marks=nightly),
    ],
    ids=str,
)
def test_same_choices_with_given_splits(pair, cv):
    X, y = make_case("normal", 3, 13)
    assert_same_choices(pair, X[np.argsort(y)], np.sort(y), cv=cv, n_features_to_select=3)


@each_pair
@pytest.mark.parametrize(
    "form",
    [
        sparse.csr_array,
        pytest.param(sparse.csc_array, marks=nightly),
        pytest.param(lambda X: X.astype(np.float32), marks=nightly),
        pytest.param(np.asfortranarray, marks=nightly),
    ],
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
    monkeypatch.setattr(_batch_scorers, "BLOCK_DISTANCES", 1)
    monkeypatch.setattr(_naive_bayes, "MAX_KEPT", 0)
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


@pytest.mark.parametrize("n_terms", [1, 7, 8, 9, 17, 128, 129, 300])
def test_adding_in_the_order_of_numpy(n_terms):
    terms = np.random.default_rng(n_terms).normal(size=(50, n_terms))
    assert_array_equal(add_in_order(list(terms.T)), terms.sum(axis=1))


def test_more_neighbours_than_rows():
    X, y = make_case("normal", 2, 5)
    assert_same_choices((KNeighborsClassifier(9), SlowNeighbours(9)), X, y)


def test_parameters_of_nnge():
    params = {"half_open": False, "n_attempts": 1, "n_intervals": 3}
    assert_same_choices((NNge(**params), SlowNNge(**params)), *make_case("few values", 2, 24))


def test_nnge_with_nominal_columns_is_fitted_for_each_column():
    nominal = NNge(categorical=CATEGORICAL)
    trials = make_trials(np.zeros((6, P)), np.arange(6) % 2)
    assert isinstance(choose_scorer(WrappedLearner(nominal, P, 0), trials), EstimatorScorer)
