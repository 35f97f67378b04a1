import inspect
import io
import pickle
from dataclasses import field
from typing import ClassVar

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from rich.console import Console
from sklearn.utils import get_tags

from semisift import FeatureRanker, NoUnlabelledDataWarning
from semisift.base._ranker import rank
from tests.conftest import needs_callbacks


class MeanGap(FeatureRanker):
    """Distance of the two outermost class means; the spread of the column without labels."""

    labels_needed = "two_classes"

    def _n_tasks(self, data):
        return data.labels.n_classes

    def _score(self, data):
        self.problem_ = data
        if data.labels.n_classes < 2:
            return data.spread
        means = []
        for code in self._progress(range(data.labels.n_classes), "class"):
            rows = np.flatnonzero(data.labels.codes == code)
            means.append(np.asarray(data.X[rows].mean(axis=0, dtype=np.float64)).ravel())
        return np.ptp(means, axis=0)


class OptionalGap(MeanGap):
    labels_needed = "optional"


class Spread(MeanGap):
    labels_needed = "none"


class Flat(FeatureRanker):
    def _score(self, data):
        return np.zeros(data.n_features)


def test_fitted_attributes(data):
    X = pd.DataFrame(data.X, columns=list("abcdefgh"))
    ranker = MeanGap(n_features_to_select=2).fit(X, data.y)
    assert set(ranker.get_feature_names_out()) == {"a", "b"}
    assert_array_equal(ranker.classes_, [0, 1])
    assert ranker.scores_.dtype == np.float64
    assert_array_equal(np.sort(ranker.ranking_), np.arange(1, 9))
    assert_array_equal(ranker.problem_.feature_names, list("abcdefgh"))
    assert ranker.transform(X).shape == (60, 2)


@pytest.mark.parametrize(
    ("wanted", "selected"),
    [(None, 4), (1, 1), (8, 8), (0.5, 4), (1.0, 8), (0.01, 1), (0.375, 3), (np.int64(3), 3)],
)
def test_n_features_to_select(data, wanted, selected):
    ranker = MeanGap(n_features_to_select=wanted).fit(data.X, data.y)
    assert ranker.get_support().sum() == selected
    assert_array_equal(ranker.get_support(), ranker.ranking_ <= selected)


def test_a_share_is_not_lost_to_rounding():
    assert MeanGap(n_features_to_select=0.29)._count_to_select(100) == 29


def test_the_number_selected_can_change_without_a_new_fit(data):
    ranker = MeanGap().fit(data.X, data.y).set_params(n_features_to_select=1)
    assert ranker.transform(data.X).shape == (60, 1)


@pytest.mark.parametrize("wanted", [0, -1, 0.0, 1.5, "half"])
def test_n_features_to_select_is_validated(data, wanted):
    with pytest.raises(ValueError, match="The 'n_features_to_select' parameter"):
        MeanGap(n_features_to_select=wanted).fit(data.X, data.y)


def test_more_features_than_there_are(data):
    with pytest.raises(ValueError, match="n_features_to_select=9 and n_features=8"):
        MeanGap(n_features_to_select=9).fit(data.X, data.y)


def test_one_column(data):
    ranker = MeanGap().fit(data.X[:, :1], data.y)
    assert_array_equal(ranker.ranking_, [1])
    assert_array_equal(ranker.get_support(), [True])


def test_constant_columns_come_last(data):
    X = data.X.copy()
    X[:, 0] = 3.0
    ranker = MeanGap().fit(X, data.y)
    assert np.isnan(ranker.scores_[0])
    assert ranker.ranking_[0] == 8


def test_all_columns_constant(data):
    ranker = MeanGap().fit(np.ones_like(data.X), data.y)
    assert np.isnan(ranker.scores_).all()
    assert_array_equal(np.sort(ranker.ranking_), np.arange(1, 9))


def test_rank_order():
    scores = np.array([-np.inf, 1.0, np.nan, np.inf, -2.0])
    assert_array_equal(rank(scores, seed=3), [4, 2, 5, 1, 3])


def test_ties_are_ordered_by_the_seed_and_not_by_position(data):
    rankings = [Flat(random_state=seed).fit(data.X).ranking_ for seed in range(200)]
    assert_array_equal(rankings[5], Flat(random_state=5).fit(data.X).ranking_)
    assert np.abs(np.mean(rankings, axis=0) - 4.5).max() < 0.7


@pytest.mark.parametrize("random_state", [None, 7])
def test_same_answer_twice(data, random_state):
    fits = [Flat(random_state=random_state).fit(data.X).ranking_ for _ in range(2)]
    assert_array_equal(*fits)


@pytest.mark.parametrize(("random_state", "seed"), [(None, 0), (0, 0), (12, 12)])
def test_seed(data, random_state, seed):
    assert Spread(random_state=random_state).fit(data.X).problem_.seed == seed


def test_random_state_instance_draws_a_seed(data):
    source = np.random.RandomState(0)
    seeds = {Spread(random_state=source).fit(data.X).problem_.seed for _ in range(3)}
    assert len(seeds) == 3
    assert all(type(seed) is int and 0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize(
    ("y", "found"),
    [
        (["a"] * 24 + [None], r"y has 24 labelled rows, all of one class \('a'\), and 1 unlab"),
        ([3] * 25, "and 0 unlabelled rows"),
        ([-1] * 25, "y has no labelled row: all 25 are unlabelled"),
    ],
)
def test_two_classes_are_needed(y, found):
    X = np.random.default_rng(0).normal(size=(25, 3))
    with pytest.raises(ValueError, match=f"MeanGap needs labelled rows of at least two.*{found}"):
        MeanGap().fit(X, y)


def test_y_is_required_only_where_two_classes_are_needed(data):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        MeanGap().fit(data.X)
    OptionalGap().fit(data.X)
    assert get_tags(MeanGap()).target_tags.required
    assert not get_tags(OptionalGap()).target_tags.required


def test_rankers_without_labels_ignore_y(data):
    assert not hasattr(Spread().fit(data.X, data.X[:, 0]), "classes_")


def test_classes_of_an_earlier_fit_are_forgotten(data):
    ranker = OptionalGap().fit(data.X, data.y)
    assert not hasattr(ranker.fit(data.X), "classes_")


@pytest.mark.parametrize("cls", [MeanGap, OptionalGap])
def test_nothing_unlabelled_warns_where_the_user_called(data, cls):
    with pytest.warns(NoUnlabelledDataWarning, match="no unlabelled row") as caught:
        cls().fit(data.X, data.y_true)
    assert caught[0].filename == __file__


class Recorder:
    """A callback that writes down the tasks it hears of."""

    def __init__(self, stop=False):
        self.begun, self.torn_down, self.stop = [], 0, stop

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        return self.stop

    def teardown(self, estimator, context):
        self.torn_down += 1


@needs_callbacks
def test_callbacks_hear_of_every_task(data):
    recorder = Recorder()
    ranker = MeanGap().set_callbacks(recorder).fit(data.X, data.y)
    assert recorder.begun == ["fit", "class", "class"]
    assert recorder.torn_down == 1
    pickle.loads(pickle.dumps(ranker.set_callbacks()))


@needs_callbacks
def test_a_callback_can_end_the_loop(data):
    recorder = Recorder(stop=True)
    MeanGap().set_callbacks(recorder).fit(data.X, data.y)
    assert recorder.begun == ["fit", "class"]


def test_progress_without_fit(data):
    ranker = MeanGap().fit(data.X, data.y)
    assert_array_equal(ranker._score(ranker.problem_), ranker.scores_)


@needs_callbacks
def test_progress_bar(data, monkeypatch):
    from sklearn.callback import ProgressBar

    screen = io.StringIO()
    monkeypatch.setattr("rich.progress.get_console", lambda: Console(file=screen, width=120))
    MeanGap().set_callbacks(ProgressBar()).fit(data.X, data.y)
    assert "MeanGap" in screen.getvalue()


@pytest.mark.parametrize(
    ("name", "default", "message"),
    [
        ("_cache", 0, "Named._cache has an annotation, which makes it a constructor parameter"),
        ("scores_", None, "Named.scores_ has an annotation"),
        ("sizes", [], r"Named: mutable default <class 'list'> for field sizes is not allowed. Use"),
        ("names", field(default_factory=list), "Named.names must have a default, and no factory"),
    ],
)
def test_an_attribute_that_is_no_parameter_is_refused(name, default, message):
    body = {"__annotations__": {name: object}, name: default}
    with pytest.raises(TypeError, match=message):
        type("Named", (Flat,), body)


def test_annotated_attributes_are_the_parameters():
    class Scaled(Flat):
        scale: float = 2.0
        _cache: ClassVar[dict] = {}
        _n_calls = 0

    assert set(Scaled().get_params()) == {*Flat().get_params(), "scale"}
    assert "scale: float = 2.0" in str(inspect.signature(Scaled))
    assert Scaled(scale=3).scale == 3


def test_a_fit_hashes_nothing(data, monkeypatch):
    def refuse(*_):
        raise AssertionError("hashed")

    with monkeypatch.context() as patch:
        patch.setattr(joblib, "hash", refuse)
        ranker = Spread().fit(data.X)
    stored = pickle.loads(pickle.dumps(ranker))
    for fitted in (ranker, stored):
        assert fitted.assess(data.X, n_resamples=2).n_resamples == 2
        with pytest.raises(ValueError, match="X had 60 rows: got 59"):
            fitted.assess(data.X[:-1])
    kept = pickle.loads(pickle.dumps(OptionalGap().fit(data.X, data.y)))
    assert isinstance(kept._given_to_fit.of_rows["y"], str)
    with pytest.raises(ValueError, match="p-values would be those of other rows: y differs"):
        kept.assess(data.X, data.y[::-1])
