"""SSFI, SEFR and ForestImportance against their references, and on any way to run them."""

import threading
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from semisift import (
    SEFR,
    SSFI,
    Consensus,
    EnsCLS,
    ForestImportance,
    LabelledOnly,
    LongRuntimeWarning,
    NoUnlabelledDataWarning,
)
from semisift.base._training_data import TrainingData
from semisift.committee._blocks import count_quotas
from semisift.committee._members import build_context
from semisift.committee._votes import decide, is_degenerate
from semisift.ensemble import sefr as sefr_file
from semisift.ensemble import ssfi as ssfi_file
from semisift.ensemble.ssfi import VARIANTS
from semisift.parallel import committee_size
from semisift.utils import _memory
from semisift.utils._random import row_mask, unmask
from tests.conftest import make_data, needs_callbacks
from tests.reference.forest import forest
from tests.reference.sefr import sefr
from tests.reference.ssfi import ssfi
from tests.reference.tree import split_features

CASES = [
    {"n_classes": 2, "seed": 0},
    {"n_classes": 3, "seed": 1, "per_class": 3},
    {"n_classes": 4, "seed": 2, "n_rows": 50},
]

COARSE_CASES = pytest.mark.parametrize(
    ("coarse", "case"), [(True, CASES[0]), (False, CASES[1]), (True, CASES[2])]
)


def make_case(n_rows=40, n_features=12, coarse=False, **case):
    data = make_data(
        n_rows=n_rows, n_features=n_features, per_class=case.pop("per_class", 4), **case
    )
    return (data.X.round() if coarse else data.X), data.y


def run_reference(X, y, variant, **options):
    reading = VARIANTS[variant]
    return ssfi(
        X,
        y,
        **{
            "n_members": 15,
            "m": round(np.sqrt(X.shape[1])),
            "n_rounds": reading.n_rounds,
            "n_k": [1] * (y.max() + 1),
            "stratified": reading.stratified,
            "votes": "probability" if reading.probability else "hard",
            "spread": TrainingData.build(X).spread if reading.widest_gap else None,
            "net": reading.net,
            "normalise": "draws" if reading.per_draw else "members",
        }
        | options,
    )


@pytest.mark.parametrize(
    ("variant", "coarse", "case"),
    [
        ("default", False, CASES[1]),
        ("default", True, CASES[2]),
        ("paper", True, CASES[1]),
        ("paper", False, CASES[0] | {"n_rows": 30}),
        *(
            pytest.param(variant, coarse, case, marks=pytest.mark.nightly)
            for variant in VARIANTS
            for coarse in (False, True)
            for case in CASES
        ),
    ],
)
def test_ssfi_equals_the_reference(variant, coarse, case):
    X, y = make_case(coarse=coarse, **case)
    ranker = SSFI(n_members=15, variant=variant, random_state=7).fit(X, y)
    reference = run_reference(X, y, variant, seed=7)
    assert_allclose(np.nan_to_num(ranker.scores_), reference["scores"], rtol=1e-12, atol=1e-12)
    assert_array_equal(ranker.n_draws_, reference["draws"])
    assert ranker.oob_agreement_ == pytest.approx(reference["oob_agreement"])
    voted = (y < 0) & (reference["label"] >= 0)
    assert_array_equal(ranker.transduction_[voted], reference["label"][voted])
    assert_array_equal(ranker.confidence_[voted], reference["conf"][voted])
    assert_array_equal(ranker.transduction_[y >= 0], y[y >= 0])
    assert_array_equal(ranker.confidence_[y >= 0], 1.0)


def test_ssfi_with_prior_growth_and_depth_equals_the_reference():
    X, y = make_case(n_classes=3, seed=3)
    prior = np.array([0.5, 0.3, 0.2])
    options = {"growth": 5, "class_prior": prior, "max_depth": 2, "max_iter": 2, "max_features": 5}
    ranker = SSFI(n_members=15, random_state=1, **options).fit(X, y)
    reference = run_reference(
        X, y, "default", seed=1, n_k=[3, 2, 1], prior=prior, max_depth=2, n_rounds=2, m=5
    )
    assert_allclose(np.nan_to_num(ranker.scores_), reference["scores"], rtol=1e-12, atol=1e-12)
    named = dict(enumerate(2 * prior))
    again = SSFI(n_members=15, random_state=1, **options | {"class_prior": named}).fit(X, y)
    assert_array_equal(again.scores_, ranker.scores_)


@COARSE_CASES
def test_sefr_equals_the_reference(coarse, case):
    X, y = make_case(coarse=coarse, **case)
    ranker = SEFR(n_members=15, random_state=7).fit(X, y)
    reference = sefr(X, y, seed=7, n_members=15, m=3, max_iter=10)
    assert_allclose(np.nan_to_num(ranker.scores_), reference["scores"], rtol=1e-12, atol=1e-12)
    rounds = max(max((t for t, _, _ in picks), default=0) for picks in reference["picks"])
    assert ranker.n_iter_ == max(1, rounds)


def test_sefr_says_beforehand_that_it_takes_minutes(monkeypatch):
    X, y = make_case(n_rows=60, seed=2)
    SEFR(n_members=2, random_state=7).fit(X, y)  # no warning, which would be an error
    monkeypatch.setattr(sefr_file, "MAX_VALUES", 100)
    with pytest.warns(
        LongRuntimeWarning, match=r"^SEFR grows 22 trees on about \d+ rows and 3 col"
    ):
        SEFR(n_members=2, random_state=7).fit(X, y)


def test_sefr_says_that_it_takes_minutes_before_they_pass(monkeypatch):
    def work(*args):
        raise InterruptedError

    X, y = make_case(n_rows=60, seed=2)
    monkeypatch.setattr(sefr_file, "MAX_VALUES", 100)
    monkeypatch.setattr(sefr_file, "self_train_and_measure", work)
    with pytest.warns(LongRuntimeWarning), pytest.raises(InterruptedError):
        SEFR(n_members=2, random_state=7).fit(X, y)


@pytest.mark.parametrize(("pick_share", "labelled"), [(1.0, 68_394), (0.1, 71_554)])
def test_sefr_takes_minutes_beyond_ten_billion_values(pick_share, labelled):
    """Of the 63213 rows of an unlabelled bag trees get half of what is picked in 9 rounds."""
    size = {
        "labelled": labelled,
        "unlabelled": 100_000,
        "columns": 1000,
        "members": 10,
        "rounds": 9,
    }

    def warn_if_long(labelled, unlabelled, columns, members, rounds):
        labels = SimpleNamespace(labelled=range(labelled), unlabelled=range(unlabelled))
        ranker = SEFR(max_iter=rounds, pick_share=pick_share)
        ranker._warn_if_long(SimpleNamespace(labels=labels), members, columns)

    warn_if_long(**size)  # 10 * 10 trees on 100000 rows and 1000 columns: no warning
    more = {"labelled": 1, "unlabelled": 4, "columns": 1, "members": 1, "rounds": 1}
    for name, n in more.items():
        with pytest.warns(LongRuntimeWarning):
            warn_if_long(**size | {name: size[name] + n})


def test_sefr_never_trains_on_more_than_its_bags():
    """L_bag never exceeds n_L + |U_bag|: a row of the unlabelled bag joins at most once."""
    X, y = make_case(n_rows=60, seed=2)
    data = TrainingData.build(X, y)
    setting = build_context(data, 3, large_bags=True)
    block = setting.new_block(0, 20)
    pools = unmask(~block.sample(setting).out_of_bag, len(X)) & (y < 0)
    for _ in range(30):
        masks = row_mask(pools)
        rows, labels = block.pick_own(setting, masks, np.full(20, 4, dtype=np.int32), 0.5)
        block = block.with_picks(rows, labels)
        for own, pool in zip(rows, pools, strict=True):
            assert pool[own[own >= 0]].all()
            pool[own[own >= 0]] = False
    assert not pools.any()
    picked = [own[own >= 0] for own in block.picks]
    assert all(len(np.unique(own)) == len(own) for own in picked)


@COARSE_CASES
def test_forest_equals_the_reference(coarse, case):
    X, y = make_case(coarse=coarse, **case)
    ranker = ForestImportance(n_members=25, random_state=7).fit(X, y)
    reference = forest(X, y, seed=7, n_members=25, m=3)
    assert_allclose(ranker.scores_, reference["scores"], rtol=1e-12, atol=1e-14)


def test_forest_ignores_unlabelled_rows(data):
    labelled = data.y >= 0
    ranker = ForestImportance(n_members=50).fit(data.X, data.y)
    with pytest.warns(NoUnlabelledDataWarning):
        alone = ForestImportance(n_members=50).fit(data.X[labelled], data.y[labelled])
    assert_array_equal(ranker.scores_, alone.scores_)


# Golden values and properties --------------------------------------------------------------------


def test_committee_size():
    """The values of the paper's formula, worked out by hand."""
    for p, size in {
        100: 440,
        500: 1010,
        2000: 2040,
        4862: 3190,
        7129: 3870,
        10304: 4660,
        19993: 6490,
    }.items():
        assert committee_size(p) == size


def test_committee_size_of_few_features():
    sizes = [committee_size(p) for p in range(1, 300)]
    assert all(size % 10 == 0 for size in sizes)
    assert sizes == sorted(sizes)
    assert SSFI()._parameter_constraints.keys() == SSFI().get_params().keys()


def test_vote_of_five_members():
    verdict = decide(np.array([[3, 2], [0, 4], [0, 0]]))
    assert_array_equal(verdict.label, [0, 1, -1])
    assert_array_equal(verdict.confidence, [0.6, 1.0, 0.0])


def test_class_mass_follows_the_prior():
    votes = np.array([[9, 1], [8, 2], [7, 3], [6, 4]])
    assert_array_equal(decide(votes).label, 0)
    scaled = decide(votes, np.array([0.5, 0.5]))
    assert_array_equal(scaled.label, [0, 0, 1, 1])
    assert ((scaled.confidence >= 0.5) & (scaled.confidence <= 1)).all()


@pytest.mark.parametrize("name", ["paper", "default", "sefr"])
def test_a_feature_never_split_on_scores_exactly_zero(name):
    X, y = make_case(seed=5, n_features=40)
    few = {"n_members": 6, "random_state": 5}
    if name == "sefr":
        scores = SEFR(**few).fit(X, y).scores_
        reference = sefr(X, y, seed=5, n_members=6, m=6, max_iter=10)
    else:
        scores = SSFI(variant=name, **few).fit(X, y).scores_
        reference = run_reference(X, y, name, seed=5, n_members=6)
    split = set().union(*(split_features(tree) for tree in reference["trees"]))
    unused = [f for f in np.flatnonzero(reference["draws"]) if f not in split]
    assert unused
    assert_array_equal(scores[unused], 0.0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_positive_affine_maps_change_nothing(variant, data):
    """By powers of two and small integers, which float64 holds exactly."""
    X = data.X.round(3) * 1024
    moved = X.round() * 2.0 ** np.arange(-3, 5) + np.arange(8) * 16
    ranker = SSFI(n_members=60, variant=variant)
    assert_allclose(ranker.fit(X.round(), data.y).scores_, ranker.fit(moved, data.y).scores_)


@pytest.mark.parametrize("names", [("dog", "cat")])
@pytest.mark.parametrize(
    "ranker", [SSFI(n_members=3001), SSFI(n_members=3001, variant="paper"), SEFR(n_members=300)]
)
def test_renaming_classes_changes_nothing(ranker, names):
    """Vote ties aside, which go to the first class: so many members that there are none."""
    X, y = make_case(n_classes=2, seed=4, n_rows=60)
    renamed = np.where(y < 0, None, np.array(names, dtype=object)[y])
    expected = ranker.fit(X, y).scores_
    assert_allclose(ranker.fit(X, renamed).scores_, expected, rtol=1e-12)


def test_no_rounds_add_no_row(data):
    ranker = SSFI(n_members=50, max_iter=0).fit(data.X, data.y)
    assert ranker.n_iter_ == 0
    assert_array_equal(
        SSFI(n_members=50, max_iter=0, growth=7).fit(data.X, data.y).scores_, ranker.scores_
    )


def test_rounds_stop_when_the_bags_run_out():
    X, y = make_case(n_rows=20, seed=1, per_class=6)
    ranker = SSFI(n_members=20, variant="paper", max_iter=100, growth=10).fit(X, y)
    assert 1 <= ranker.n_iter_ < 100
    assert_array_equal(
        SSFI(n_members=20, variant="paper", max_iter=ranker.n_iter_ - 1, growth=10)
        .fit(X, y)
        .scores_,
        ranker.scores_,
    )


def test_without_unlabelled_rows_sefr_equals_ssfi(data):
    paper = SSFI(n_members=50, variant="paper", random_state=3)
    with pytest.warns(NoUnlabelledDataWarning):
        paper.fit(data.X, data.y_true)
    with pytest.warns(NoUnlabelledDataWarning):
        other = SEFR(n_members=50, random_state=3).fit(data.X, data.y_true)
    assert_allclose(other.scores_ * other.n_draws_, paper.scores_ * 50)
    assert np.isnan(paper.oob_agreement_)
    assert_array_equal(paper.transduction_, data.y_true)


def test_a_vote_that_collapses_is_scaled():
    rng = np.random.default_rng(0)
    votes = np.column_stack([rng.integers(60, 90, size=400), np.full(400, 40)])
    equal = np.array([0.5, 0.5])
    assert (decide(votes).label == 0).all()
    scaled = decide(votes, labelled_shares=equal)
    assert 0.3 < np.mean(scaled.label) < 0.7
    assert scaled.label[votes[:, 0].argmax()] == 0


def test_no_collapse_where_it_is_plausible():
    one_class = np.zeros(40, dtype=int)
    equal = np.array([0.5, 0.5])
    assert not is_degenerate(one_class, equal), "forty rows may be of one class"
    assert is_degenerate(np.zeros(400, dtype=int), equal)
    assert not is_degenerate(np.zeros(400, dtype=int), np.array([0.95, 0.05]))
    assert not is_degenerate(np.arange(400) % 10 == 0, equal)
    assert not is_degenerate(np.zeros(400, dtype=int), None)
    assert not is_degenerate(np.empty(0, dtype=int), equal)


def test_quotas():
    prior = np.array([0.07, 0.93])
    assert_array_equal(count_quotas(1, prior, 500), [1, 1])
    assert_array_equal(count_quotas(100, prior, 500), [7, 93])
    assert_array_equal(count_quotas(1e300, prior, 500), [500, 500])
    assert_array_equal(count_quotas(5, prior, 0), [1, 1])


def test_extreme_parameters(data):
    for name, value in {
        "growth": 1e10,
        "max_iter": 2**31 - 1,
        "max_depth": 2**31 - 1,
        "max_features": 1.0,
    }.items():
        ranker = SSFI(n_members=20, **{name: value}).fit(data.X, data.y)
        assert_array_equal(np.sort(ranker.ranking_), np.arange(1, 9))
        assert ranker.n_iter_ <= (data.y < 0).sum() + 1


def test_prior_that_floats_can_hardly_add(data):
    ranker = SSFI(n_members=20, class_prior=[1e308, 1e308]).fit(data.X, data.y)
    expected = SSFI(n_members=20, class_prior=[1, 1]).fit(data.X, data.y)
    assert_array_equal(ranker.scores_, expected.scores_)


def test_bags_on_both_sides_of_the_sparse_limit():
    """Members of one block whose bags are searched in different ways."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, size=(200, 30)).astype(float)
    y = np.where(np.arange(200) < 100, np.arange(200) % 2, -1)
    for method in (ForestImportance, SSFI, SEFR):
        dense = method(n_members=60).fit(X, y)
        sparse = method(n_members=60).fit(csr_array(X), y)
        assert_array_equal(dense.scores_, sparse.scores_)


def test_rows_that_are_never_out_of_bag_get_a_label_too():
    X, y = make_case(n_rows=40)
    ranker = SSFI(n_members=2).fit(X, y)
    assert set(ranker.transduction_) <= {0, 1}
    assert (ranker.confidence_ > 0).all()


def test_informative_features_come_first():
    X, truth = make_classification(
        n_samples=300,
        n_features=60,
        n_informative=4,
        n_redundant=0,
        class_sep=2,
        shuffle=False,
        random_state=0,
    )
    y = np.full(300, -1)
    for label in range(2):
        y[np.flatnonzero(truth == label)[:8]] = label
    for ranker in (SSFI(), SSFI(variant="paper"), SEFR()):
        assert (ranker.fit(X, y).ranking_[:4] <= 8).sum() >= 3, ranker


# In use -------------------------------------------------------------------------------------------


def test_in_a_pipeline(data):
    pipeline = make_pipeline(SSFI(n_features_to_select=2, n_members=100), LabelledOnly(SVC()))
    pipeline.fit(data.X, data.y)
    assert set(pipeline.predict(data.X)) == {0, 1}
    assert pipeline.score(data.X, data.y_true) > 0.85


@needs_callbacks
def test_progress_bar(data, capsys):
    from sklearn.callback import ProgressBar

    ranker = SSFI(n_members=20).set_callbacks(ProgressBar())
    ranker.fit(data.X, data.y)
    assert "SSFI" in capsys.readouterr().out


def test_an_interrupted_fit_leaves_no_threads(data, monkeypatch):
    def ours():
        return [thread for thread in threading.enumerate() if thread.name.startswith("semisift")]

    def interrupt(*_):
        assert ours()
        raise KeyboardInterrupt

    monkeypatch.setattr(ssfi_file, "co_train", interrupt)
    with pytest.raises(KeyboardInterrupt):
        SSFI(n_members=500, n_jobs=2).fit(data.X, data.y)
    assert not ours()


@needs_callbacks
def test_a_callback_can_stop_the_rounds(data):
    class StopAfterTwo:
        steps = 0

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, **kwargs):
            pass

        def on_fit_task_end(self, estimator, context, **kwargs):
            self.steps += context.task_name == "round"
            return self.steps == 2

        def teardown(self, estimator, context):
            pass

    stopped = SSFI(n_members=30).set_callbacks(StopAfterTwo()).fit(data.X, data.y)
    assert stopped.n_iter_ == 1
    assert_array_equal(stopped.scores_, SSFI(n_members=30, max_iter=1).fit(data.X, data.y).scores_)


@pytest.mark.parametrize(
    "kind",
    [
        SSFI,
        EnsCLS,
        *(pytest.param(k, marks=pytest.mark.nightly) for k in (SEFR, ForestImportance, Consensus)),
    ],
)
def test_a_committee_is_not_said_to_need_more_than_it_does(kind, monkeypatch):
    """Of very many columns; and where that is more than is free, the fit does not begin."""
    X = csr_array((np.ones(400), (np.arange(400) % 40, np.arange(400) * 7)), shape=(40, 60_000))
    y = np.repeat([0, 1, -1], [10, 10, 20])
    ranker = kind(random_state=0).fit(X[:, :2000], y)  # whatever is loaded at the first call
    needed = ranker._bytes_needed(TrainingData.build(X, y))
    assert needed > 32 * X.shape[1]
    tracemalloc.start()
    ranker.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert needed < peak
    monkeypatch.setattr(_memory, "ALWAYS_FITS", 0)
    monkeypatch.setattr(_memory, "available_memory", lambda: needed - 1)
    with pytest.raises(MemoryError, match=r"on 60,000 features needs .* smaller n_members\."):
        ranker.fit(X, y)


def test_counts_of_draws_take_two_bytes_a_feature_and_block():
    X = csr_array((np.ones(400), (np.arange(400) % 40, np.arange(400) * 7)), shape=(40, 600_000))
    y = np.repeat([0, 1, -1], [10, 10, 20])
    peaks = []
    for n_blocks in (8, 16):
        ranker = SSFI(random_state=0, n_members=n_blocks * 1024, max_features=2, max_iter=1)
        tracemalloc.start()
        ranker.fit(X, y)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert ranker.n_draws_.sum() == n_blocks * 1024 * 2
    assert peaks[1] - peaks[0] < 8 * 3 * X.shape[1]
