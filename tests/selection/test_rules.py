"""How many features: the three rules around any ranker."""

import inspect
import itertools
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from semisift import (
    METHODS,
    MRMR,
    SSFI,
    FisherScore,
    LaplacianScore,
    MixedNB,
    NoFeatureSelectedWarning,
    SequentialForward,
    SSelect,
    VarianceScore,
)
from semisift.base._ranker import RULES
from semisift.selection import _knockoff, _refit, _shadow, _stability
from semisift.selection._refit import ALPHA, Scorer
from tests.conftest import make_data, needs_callbacks

pytestmark = [
    pytest.mark.filterwarnings("ignore::semisift.FallbackWarning"),
    pytest.mark.filterwarnings("ignore::semisift.NoFeatureSelectedWarning"),
]

rules = pytest.mark.parametrize("rule", RULES)

# One of each kind runs every day: labels only, unsupervised, with a graph, a search, committees.
DAILY = {"fisher", "laplacian", "sselect", "mrmr", "ssfi", "transductive"}


def at_night(name):
    return pytest.param(name, marks=pytest.mark.nightly)


@pytest.fixture
def few_repetitions(monkeypatch):
    """The least that can confirm a column, so that all methods have their turn."""
    for module in (_knockoff, _refit, _shadow, _stability):
        monkeypatch.setattr(module, "MAX", 39)
    monkeypatch.setattr(_shadow, "N_LABELLINGS", 39)


def make(name, rule, **params):
    known = inspect.signature(METHODS[name].cls).parameters
    wanted = {"n_members": 10, "n_samplings": 1, "random_state": 0, **params}
    wanted = {key: value for key, value in wanted.items() if key in known}
    return METHODS[name].cls(n_features_to_select=rule, **wanted)


# Every method -------------------------------------------------------------------------------------


@rules
@pytest.mark.parametrize("name", [name if name in DAILY else at_night(name) for name in METHODS])
@pytest.mark.usefixtures("few_repetitions")
def test_every_method_accepts_every_rule(name, rule):
    data = make_data(n_rows=40, n_features=6, per_class=5)
    X = data.X.copy()
    X[:, 5] = 1.0
    plain = make(name, None).fit(X, data.y)
    ranker = make(name, rule).fit(X, data.y)
    assert_array_equal(np.sort(ranker.ranking_), np.arange(1, 7))
    assert set(ranker.decisions_) <= {"significant", "suggestive", "not significant"}
    assert ranker.decisions_[5] == "not significant"
    assert_array_equal(ranker.get_support(), ranker.decisions_ == "significant")
    assert ranker.cutoff_.rule == rule
    assert_array_equal(ranker.scores_, plain.scores_)


@rules
@pytest.mark.parametrize(
    "name", ["fisher", "sselect", *map(at_night, ["laplacian", "mrmr", "ssfi"])]
)
@pytest.mark.usefixtures("few_repetitions")
def test_sparse_equals_dense(name, rule):
    data = make_data(per_class=10)
    X = data.X * (np.random.default_rng(1).random(data.X.shape) < 0.6)
    dense, stored = (
        make(name, rule).fit(form(X), data.y) for form in (np.asarray, sparse.csc_array)
    )
    assert_array_equal(dense.decisions_, stored.decisions_)
    assert_array_equal(dense.scores_, stored.scores_)


@rules
@pytest.mark.usefixtures("few_repetitions")
def test_same_answer_for_any_number_of_threads(rule, data):
    fits = [make("ssfi", rule, n_jobs=n_jobs).fit(data.X, data.y) for n_jobs in (1, 2, 1)]
    for other in fits[1:]:
        assert_array_equal(fits[0].decisions_, other.decisions_)
        for name, value in vars(fits[0].cutoff_).items():
            assert_array_equal(value, getattr(other.cutoff_, name))


# What the rules decide ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def label_copy():
    """Columns of noise, of which number 7 is the label with a little noise."""
    rng = np.random.default_rng(1)
    y_true = np.arange(60) % 2
    X = rng.normal(size=(60, 40))
    X[:, 7] = 6 * y_true + rng.normal(size=60)
    return X, np.where(np.arange(60) < 24, y_true, -1)


@pytest.mark.parametrize("rule", ["shadow", "stability"])
@pytest.mark.parametrize("name", ["fisher", "sselect", "mrmr", *map(at_night, ["ssfi", "forest"])])
def test_a_copy_of_the_labels_is_significant(name, rule, label_copy):
    X, y = label_copy
    ranker = make(name, rule, n_members=100).fit(X, y)
    assert ranker.decisions_[7] == "significant"
    assert np.flatnonzero(ranker.get_support()).tolist() == [7]


def test_knockoffs_confirm_many_columns_that_follow_the_class():
    data = make_data(n_rows=300, n_features=60, per_class=60)
    X = data.X.copy()
    X[:, :15] += 3 * data.y_true[:, None]
    X += np.random.default_rng(5).normal(size=X.shape)
    ranker = FisherScore(n_features_to_select="knockoff").fit(X, data.y)
    found = ranker.get_support()
    assert found[:15].sum() >= 10
    assert found[15:].sum() <= 3


def noise(seed, n_labelled):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(40) < n_labelled, np.arange(40) % 2, -1)
    return rng.normal(size=(40, 30)), y


@rules
@pytest.mark.parametrize(
    ("n_labelled", "trials"),
    [(6, 10), *(pytest.param(n, 30, marks=pytest.mark.nightly) for n in (6, 20))],
)
def test_noise_is_rarely_significant(rule, n_labelled, trials):
    # 2.5 % of 30 trials are 0.75; more than 4 happen in 0.1 % of cases at the level itself
    fits = [
        FisherScore(n_features_to_select=rule, random_state=seed).fit(*noise(seed, n_labelled))
        for seed in range(trials)
    ]
    n_kept = sum(bool(fit.get_support().any()) for fit in fits)
    if rule == "stability":  # bounds the number of columns instead, by 1
        assert np.mean([fit.get_support().sum() for fit in fits]) <= 1
    else:
        assert n_kept <= (4 if trials == 30 else 2)


def test_structure_that_the_labels_do_not_follow_is_not_significant():
    # two clusters: columns 0 to 4 beat any shuffled copy on the graph, whatever the labels
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    X[:, :5] += 4 * (np.arange(60) % 2)[:, None]
    kept = []
    for seed in range(5):
        y = np.full(60, -1)
        y[np.random.default_rng(seed).permutation(60)[:12]] = np.arange(12) % 2
        ranker = SSelect(n_features_to_select="shadow", graph_weight=0.8).fit(X, y)
        assert (ranker.cutoff_.p_values[:5] <= ALPHA).any()
        kept.append(ranker.get_support().any())
    assert sum(kept) <= 2
    unsupervised = LaplacianScore(n_features_to_select="shadow").fit(X)
    assert unsupervised.decisions_[:5].tolist() == ["significant"] * 5
    assert unsupervised.cutoff_.label_p_values is None


def test_decisions_follow_from_what_was_measured(label_copy):
    ranker = SSelect(n_features_to_select="shadow").fit(*label_copy)
    cutoff = ranker.cutoff_
    assert len(cutoff.shadow_maxima) == cutoff.repetitions
    assert_allclose(
        cutoff.p_values, (1 + cutoff.repetitions - cutoff.hits) / (1 + cutoff.repetitions)
    )
    significant = (cutoff.p_values <= ALPHA) & (cutoff.label_p_values <= ALPHA)
    assert_array_equal(ranker.decisions_ == "significant", significant)
    halves = 2 * cutoff.hits > cutoff.repetitions
    assert_array_equal(ranker.decisions_ == "suggestive", halves & ~significant)


@pytest.mark.parametrize(
    ("name", "n_seeds"),
    [
        ("fisher", 3),
        *(pytest.param(name, 3, marks=pytest.mark.nightly) for name in ("ssfi", "consensus")),
    ],
)
def test_what_the_shadow_rule_confirms_is_confirmed_by_an_assessment(name, n_seeds):
    """Both bound the same error, so that it must not be a matter of other shuffled labels."""
    n_significant = 0
    for seed in range(n_seeds):
        data = make_data(n_features=20, per_class=12, seed=seed)
        ranker = make(name, "shadow", random_state=seed, n_members=60).fit(data.X, data.y)
        sure = ranker.assess(data.X, data.y, n_resamples=0)
        assert (sure.decisions[ranker.decisions_ == "significant"] == "significant").all()
        if ranker.cutoff_.label_p_values is not None:
            assert_array_equal(ranker.cutoff_.label_p_values, sure.p_values)
        n_significant += (ranker.decisions_ == "significant").sum()
    assert n_significant


def test_frequencies_add_up_to_the_number_of_the_best(label_copy):
    cutoff = FisherScore(n_features_to_select="stability").fit(*label_copy).cutoff_
    assert cutoff.bound_holds
    assert cutoff.frequencies.min() >= 0
    assert cutoff.frequencies.max() <= 1
    assert_allclose(cutoff.frequencies.sum(), cutoff.n_best)


def test_too_few_labels_to_halve_are_said(data):
    y = np.where(np.arange(60) < 6, data.y, -1)
    cutoff = FisherScore(n_features_to_select="stability").fit(data.X, y).cutoff_
    assert not cutoff.bound_holds
    assert "does not formally hold" in cutoff.error


# Around the rules ---------------------------------------------------------------------------------


def test_nothing_confirmed_warns_and_selects_nothing():
    X, y = noise(0, 6)
    with pytest.warns(
        NoFeatureSelectedWarning, match="'shadow' found none significant of 30 columns"
    ):
        ranker = FisherScore(n_features_to_select="shadow").fit(X, y)
    assert not ranker.get_support().any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert ranker.transform(X).shape == (40, 0)
    assert len(ranker.get_feature_names_out()) == 0


def test_knockoffs_refuse_too_many_columns():
    with pytest.raises(ValueError, match=r"at most 5,000 columns: got 5,001.*'shadow' or"):
        VarianceScore(n_features_to_select="knockoff").fit(np.eye(3, 5001))


def test_a_rule_set_after_the_fit_is_no_decision(data):
    ranker = FisherScore().fit(data.X, data.y).set_params(n_features_to_select="shadow")
    with pytest.raises(NotFittedError, match="'shadow' was not in force during fit"):
        ranker.get_support()
    assert ranker.set_params(n_features_to_select=3).get_support().sum() == 3


def test_a_fit_without_a_rule_forgets_the_decisions(data):
    ranker = FisherScore(n_features_to_select="stability").fit(data.X, data.y)
    ranker.set_params(n_features_to_select=3).fit(data.X, data.y)
    assert not hasattr(ranker, "decisions_")
    assert not hasattr(ranker, "cutoff_")


@rules
def test_interruption_leaves_the_ranking(rule, data, monkeypatch):
    expected = FisherScore().fit(data.X, data.y)
    ranker = FisherScore(n_features_to_select=rule).fit(data.X, data.y)
    calls = itertools.count()
    fit = Scorer._fit

    def interrupted(self, training):
        if next(calls) == (0 if rule == "knockoff" else 3):
            raise KeyboardInterrupt
        fit(self, training)

    monkeypatch.setattr(Scorer, "_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(data.X, data.y)
    assert_array_equal(ranker.ranking_, expected.ranking_)
    with pytest.raises(NotFittedError, match="interrupted"):
        ranker.get_support()


class Counter:
    """Counts the tasks, as scikit-learn's progress bar does."""

    def __init__(self):
        self.names = []

    def setup(self, estimator, context):
        self.n_tasks = context.max_subtasks

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.names.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        return False


@needs_callbacks
@rules
def test_progress_reaches_the_end(rule, data):
    counter = Counter()
    FisherScore(n_features_to_select=rule).set_callbacks(counter).fit(data.X, data.y)
    n = {"shadow": 200, "stability": 100, "knockoff": 101}[rule]
    assert counter.names.count("repetition") == n == counter.n_tasks


def test_redundancy_leaves_out_confirmed_copies(label_copy):
    X, y = label_copy
    X = np.hstack([X, X[:, [7]] + 0.01])
    ranker = FisherScore(n_features_to_select="shadow", redundancy_threshold=0.9).fit(X, y)
    assert ranker.decisions_[[7, 40]].tolist() == ["significant"] * 2
    assert ranker.get_support().sum() == 1


@pytest.mark.parametrize("rule", ["shadow", "stability"])
@pytest.mark.usefixtures("few_repetitions")
def test_pairs_and_given_graphs(rule, data):
    must, cannot = [[0, 2], [1, 3], [4, 6], [5, 7]], [[0, 1], [2, 3], [4, 5], [6, 7]]
    ranker = make("constraint", rule).fit(data.X, must_link=must, cannot_link=cannot)
    assert len(ranker.decisions_) == 8
    weights = np.random.default_rng(0).random((60, 60)) < 0.2
    for graph in (weights.astype(float), sparse.csr_array(weights.astype(float))):
        assert len(SSelect(n_features_to_select=rule, graph=graph).fit(data.X, data.y).decisions_)


@pytest.mark.usefixtures("few_repetitions")
def test_masks_of_categorical_columns_grow_with_the_shadows(data):
    X = data.X.copy()
    X[:, 1] = data.y_true
    mask = np.arange(8) == 1
    ranker = SequentialForward(n_features_to_select="shadow", estimator=MixedNB(categorical=mask))
    assert ranker.fit(X, data.y).decisions_.shape == (8,)
    assert_array_equal(ranker.estimator.categorical, mask)


def test_pipelines_and_frames(label_copy):
    X, y = label_copy
    table = pd.DataFrame(X).add_prefix("c")
    pipeline = make_pipeline(MRMR(n_features_to_select="shadow"), SSFI(n_members=10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipeline.fit(table, y)
    assert pipeline[0].get_feature_names_out().tolist() == ["c7"]


@pytest.mark.parametrize("cls", [LaplacianScore, SSelect])
def test_noise_is_not_confirmed_without_labels(cls):
    # on a graph of the real columns alone, each of them would be smoother than any shuffled copy
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = [
            cls(n_features_to_select="shadow")
            .fit(np.random.default_rng(seed).normal(size=(60, 20)))
            .get_support()
            .any()
            for seed in range(10)
        ]
    assert sum(kept) <= 2


def test_what_is_bounded_without_a_test_of_the_labels(label_copy):
    with_labels = SSelect(n_features_to_select="shadow").fit(*label_copy).cutoff_
    assert with_labels.error == "the chance to confirm any useless feature is at most .025"
    without = LaplacianScore(n_features_to_select="shadow").fit(label_copy[0]).cutoff_
    assert without.error.endswith("whether the labels matter was not tested")


@pytest.mark.filterwarnings("ignore::semisift.NoFeatureSelectedWarning")
def test_a_single_column_is_not_confirmed_for_being_the_best(data):
    ranker = FisherScore(n_features_to_select="stability").fit(data.X[:, [5]], data.y)
    assert ranker.decisions_.tolist() == ["suggestive"]


def test_a_rule_that_confirms_near_copies_alone_warns_of_an_empty_selection(monkeypatch):
    data = make_data(per_class=20)
    X = np.hstack([data.X, data.X[:, :1] + 1e-6])
    ranker = FisherScore(redundancy_threshold=0.9).fit(X, data.y)
    decisions = np.where(ranker.representative_ == np.arange(9), "suggestive", "significant")
    decided = decisions, SimpleNamespace(rule="stability")
    monkeypatch.setattr(_stability, "decide_by_stability", lambda *_: decided)
    with pytest.warns(
        NoFeatureSelectedWarning, match=r"found none significant of 9 columns \(8 suggestive\)"
    ):
        ranker.set_params(n_features_to_select="stability").fit(X, data.y)
    assert not ranker.get_support().any()
