import json

import click
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from semisift import SSFI, CoForest, FisherScore, LaplacianScore, Protocol, compare
from semisift.cli._options import parse_parameters
from semisift.comparison._methods import BASELINES, ComparedMethod, find_methods
from semisift.comparison._specs import make, parse
from semisift.registry import METHODS
from tests.comparisons import Spy
from tests.conftest import make_data
from tests.nightly import few_daily

DATA = make_data(n_features=6)
QUICK = Protocol(n_runs=2, sizes=(1, 2))


def order_of(estimator, X=DATA.X, y=DATA.y, seed=3, n_top=4):
    return ComparedMethod("it", estimator).order(X, y, seed, n_top)


class Fixed:
    """An object that has no parameters, and scores as it was told."""

    def __init__(self, scores, name="scores_"):
        self.attribute = name, scores

    def fit(self, X, y):
        setattr(self, *self.attribute)
        return self


# --- the order of features ---


@pytest.mark.parametrize("name", ["scores_", "feature_importances_"])
def test_objects_with_scores(name):
    scores = [0.1, 0.7, np.nan, -np.inf, np.inf, 0.2]
    assert_array_equal(order_of(Fixed(scores, name)), [4, 1, 5, 0, 3, 2])


def test_ties_stand_in_the_order_of_the_seed():
    orders = [order_of(Fixed(np.zeros(6)), seed=seed).tolist() for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(6))


def test_rankers_order_by_their_ranking():
    ranker = FisherScore(redundancy_threshold=0.5, n_features_to_select=4, random_state=3)
    expected = np.argsort(ranker.fit(DATA.X, DATA.y).ranking_)
    assert_array_equal(order_of(FisherScore(redundancy_threshold=0.5)), expected)


def test_wrong_number_of_scores():
    with pytest.raises(ValueError, match=r"scores_ of Fixed .* each of 6 features: got .*\(5,\)"):
        order_of(Fixed(np.zeros(5)))


def test_scores_in_two_dimensions():
    with pytest.raises(ValueError, match=r"feature_importances_ of Fixed .*shape \(6, 2\)"):
        order_of(Fixed(np.zeros((6, 2)), "feature_importances_"))


def test_no_scores():
    with pytest.raises(ValueError, match="Fixed has neither scores_ nor feature_importances_"):
        order_of(Fixed(np.zeros(6), "ranks_"))


def test_the_object_itself_is_never_fitted():
    estimator, plain = FisherScore(), Fixed(np.zeros(6))
    order_of(estimator)
    order_of(plain)
    assert not hasattr(estimator, "scores_")
    assert not hasattr(plain, "scores_")
    assert estimator.random_state is None


# --- what it is given ---


def test_unlabelled_rows_are_given_with_minus_one():
    Spy.seen.clear()
    order_of(Spy())
    [(_, y, _)] = Spy.seen
    assert_array_equal(y, DATA.y)


@pytest.mark.parametrize(
    "estimator", [ExtraTreesClassifier(n_estimators=20), SelectKBest(f_classif, k=2)]
)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_estimators_of_scikit_learn_are_given_the_labelled_rows_alone(estimator, form):
    labelled = DATA.y >= 0
    expected = order_of(estimator, form(DATA.X[labelled]), DATA.y[labelled])
    assert_array_equal(order_of(estimator, form(DATA.X), DATA.y), expected)


class ThirdPartySelector(SelectKBest):
    """A supervised selector that is not scikit-learn's own."""


class ThirdPartyScores(Spy):
    supports_unlabelled = False


@pytest.mark.parametrize("estimator", [ThirdPartySelector(f_classif, k=2), ThirdPartyScores()])
def test_whoever_does_not_know_unlabelled_rows_is_given_the_labelled_ones_alone(estimator):
    Spy.seen.clear()
    labelled = DATA.y >= 0
    expected = order_of(estimator, DATA.X[labelled], DATA.y[labelled])
    assert_array_equal(order_of(estimator), expected)
    for _, y, _ in Spy.seen:
        assert_array_equal(y, DATA.y[labelled])


@pytest.mark.parametrize(
    "estimator", [FisherScore(), SSFI(), CoForest(), LabelSpreading(), SelfTrainingClassifier()]
)
def test_who_knows_unlabelled_rows(estimator):
    assert ComparedMethod("it", estimator).sees_unlabelled_rows
    scaled = make_pipeline(StandardScaler(), estimator)
    assert ComparedMethod("it", scaled).sees_unlabelled_rows


# --- pipelines ---


def test_the_last_step_of_a_pipeline_ranks():
    """A scaler does not change the Fisher score."""
    pipeline = make_pipeline(StandardScaler(), FisherScore())
    assert_array_equal(order_of(pipeline), order_of(FisherScore()))
    assert not hasattr(pipeline[-1], "scores_")


def test_the_last_step_is_given_the_seed_and_the_number_of_features():
    pipeline = make_pipeline(MinMaxScaler(), SSFI(n_members=10))
    scaled = SSFI(n_members=10, n_features_to_select=4, random_state=3)
    scaled.fit(MinMaxScaler().fit_transform(DATA.X), DATA.y)
    assert_array_equal(order_of(pipeline), np.argsort(scaled.ranking_))


def test_a_supervised_pipeline_is_given_the_labelled_rows_alone():
    labelled = DATA.y >= 0
    pipeline = make_pipeline(StandardScaler(), SelectKBest(f_classif, k=2))
    assert_array_equal(order_of(pipeline), order_of(pipeline, DATA.X[labelled], DATA.y[labelled]))


def test_a_pipeline_that_changes_the_features_is_refused():
    with pytest.raises(ValueError, match=r"scores_ of FisherScore must .* each of 6"):
        order_of(make_pipeline(SelectKBest(f_classif, k=3), FisherScore()), n_top=2)


def test_pipelines_take_part():
    pair = "scaled", make_pipeline(StandardScaler(), FisherScore())
    results = compare([pair, "fisher"], {"wine": load_wine(return_X_y=True)}, QUICK)
    assert not results.failures
    assert_array_equal(results.scores().values[..., 0], results.scores().values[..., 1])


# --- labels ---


class TakesMinusOne(DecisionTreeClassifier):
    """A classifier that says that it knows unlabelled rows."""

    supports_unlabelled = True


def test_minus_one_is_no_class():
    with pytest.raises(ValueError, match="TakesMinusOne took -1, which marks unlabelled rows"):
        order_of(TakesMinusOne())


def test_an_ordinary_classifier_may_have_all_labels():
    assert len(order_of(TakesMinusOne(), y=DATA.y_true)) == 6


def test_random_states_are_set_also_nested_ones():
    class Wrapper(Spy):
        def __init__(self, estimator=None, random_state=None):
            super().__init__(random_state)
            self.estimator = estimator

        def fit(self, X, y):
            self.states = self.estimator.random_state
            return super().fit(X, self.states + 0 * y)

    Spy.seen.clear()
    order_of(Wrapper(DecisionTreeClassifier(random_state=99)), seed=11)
    [(_, inner, outer)] = Spy.seen
    assert outer == 11
    assert set(inner) == {11}


@pytest.mark.parametrize(("n_top", "expected"), [(4, 4), (500, 6)])
def test_methods_are_told_how_many_features_are_judged(n_top, expected):
    sizes = []

    class Asked(Spy):
        def __init__(self, n_features_to_select=None, random_state=None):
            super().__init__(random_state)
            self.n_features_to_select = n_features_to_select

        def fit(self, X, y):
            sizes.append(self.n_features_to_select)
            return super().fit(X, y)

    order_of(Asked(), n_top=n_top)
    assert sizes == [expected]


# --- parameters ---


def test_parameters_are_kept_as_json():
    estimator = SSFI(n_members=np.int64(7), estimator=DecisionTreeClassifier(max_depth=2))
    parameters = ComparedMethod("it", estimator).parameters
    assert json.loads(json.dumps(parameters)) == parameters
    assert parameters["class"] == "SSFI"
    assert parameters["variant"] == "default"
    assert parameters["estimator"] == "DecisionTreeClassifier(max_depth=2)"


def test_parameters_are_the_same_in_every_process():
    class Odd(BaseEstimator):
        def __init__(self, a=None, b=float("inf"), c=float("nan")):
            self.a, self.b, self.c = a, b, c

    parameters = ComparedMethod("it", Odd(a=object())).parameters
    assert parameters == {"class": parameters["class"], "a": "object", "b": "inf", "c": "nan"}


def test_parameters_tell_classes_apart():
    one, other = Fixed(np.zeros(6)), Spy()
    assert ComparedMethod("it", one).parameters != ComparedMethod("it", other).parameters


# --- who takes part ---


def test_every_method_and_baseline_takes_part():
    names = [*METHODS, *BASELINES]
    assert [method.label for method in find_methods(names)] == names


def test_names_in_one_text():
    assert [e.label for e in find_methods("fisher, random")] == ["fisher", "random"]


def test_parameters_of_names():
    [method] = find_methods(["ssfi:variant=paper:n_members=50"])
    assert method.label == "ssfi:variant=paper:n_members=50"
    assert (method.estimator.variant, method.estimator.n_members) == ("paper", 50)


def test_paths_of_classes():
    [method] = find_methods(["sklearn.ensemble.ExtraTreesClassifier:n_estimators=3"])
    assert isinstance(method.estimator, ExtraTreesClassifier)
    assert method.estimator.n_estimators == 3


def test_objects_are_called_by_their_class_and_pairs_by_their_label():
    spy = Spy()
    methods = find_methods([spy, ("mine", spy), ("theirs", "fisher")])
    assert [method.label for method in methods] == ["Spy", "mine", "theirs"]
    assert isinstance(methods[2].estimator, FisherScore)


def test_mapping_of_labels():
    methods = find_methods({"a": "fisher", "b": LaplacianScore()})
    assert [method.label for method in methods] == ["a", "b"]


@pytest.mark.parametrize(
    ("methods", "message"),
    few_daily(
        [
            ([], "at least one method"),
            (["fisher", "fisher"], "different names: fisher came twice. Pairs of a label"),
            ([Spy(), Spy()], "different names: Spy came twice"),
            (FisherScore(), r"methods must be a list.*got FisherScore\(\)"),
            (None, "methods must be a list.*got None"),
            ([FisherScore], "FisherScore.* must be a name or an object with fit"),
            ([7], "7 must be a name or an object with fit"),
            ([("a", "fisher", 3)], r"a pair has a label and a method: got \('a', 'fisher', 3\)"),
            (
                ["nope"],
                "there is no method 'nope'. There are consensus, .*, all-labels, all-features; for",
            ),
            (["fisher:variant"], "method 'fisher:variant': 'variant' must be NAME=VALUE"),
            (["ssfi:=3"], "'=3' must be NAME=VALUE"),
            (["ssfi:a=1:a=2"], "method 'ssfi:a=1:a=2': a is given twice"),
            (
                ["fisher:depth=1"],
                "method 'fisher:depth=1': .*'depth'.* Parameters are n_features_to_",
            ),
            (["numpy.nope.Class"], "method 'numpy.nope.Class' cannot be imported: No module"),
            (["numpy.Nope"], "method 'numpy.Nope' cannot be imported"),
            ([".relative.Class"], "cannot be imported"),
            (["..x"], "cannot be imported"),
            (["math.pi"], "method 'math.pi' must be a class with fit"),
            (["os.getcwd"], "method 'os.getcwd' must be a class with fit"),
            ([""], "there is no method ''"),
        ],
        9,
    ),
)
def test_what_does_not_take_part(methods, message):
    with pytest.raises(ValueError, match=message):
        find_methods(methods)


def test_values_are_read_as_python_does():
    assert parse("m:a=1:b=0.5:c=none:d=True:e=text:f=(1, 2)", "method") == (
        "m",
        {"a": 1, "b": 0.5, "c": None, "d": True, "e": "text", "f": (1, 2)},
    )


def test_names_hide_no_type_error_of_others():
    with pytest.raises(ValueError, match="thing 'x:a=1'"):
        make("x:a=1", {"x": SVC}, "thing")


# --- baselines ---


def test_random_ranking_depends_on_the_seed_alone():
    ranking = BASELINES["random"]()
    assert_array_equal(order_of(ranking, seed=1), order_of(ranking, DATA.X + 1, seed=1))
    assert order_of(ranking, seed=1).tolist() != order_of(ranking, seed=2).tolist()


def test_all_labels_is_the_fisher_score_without_its_warning():
    """Warnings are errors here: that nothing is unlabelled is what it is for."""
    [method] = find_methods(["all-labels"])
    assert method.sees_all_labels
    X, y = DATA.X[DATA.y >= 0], DATA.y[DATA.y >= 0]
    assert_array_equal(method.order(X, y, 0, 4), order_of(FisherScore(), DATA.X, DATA.y, seed=0))


def test_other_methods_do_not_see_all_labels():
    assert not any(method.sees_all_labels for method in find_methods([*METHODS, "random"]))


def test_the_command_line_reads_parameters_alike():
    assert parse_parameters(("variant=paper", "n_members = 5"), SSFI) == {
        "variant": "paper",
        "n_members": 5,
    }
    with pytest.raises(click.BadParameter, match="variant is given twice"):
        parse_parameters(("variant=paper", "variant=paper"), SSFI)
    with pytest.raises(click.BadParameter, match="'=3' must be NAME=VALUE"):
        parse_parameters(("=3",), SSFI)
