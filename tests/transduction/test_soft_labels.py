import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from semisift import FisherScore, TransductiveClassifier, TransductiveScore
from semisift.base._sample_info import parse_design
from semisift.base._training_data import TrainingData
from semisift.transduction._class_sums import class_scores
from semisift.transduction._components import scaled_rows
from semisift.transduction._soft_labels import find_soft_labels
from tests.conftest import make_data
from tests.reference import transduction as reference
from tests.transduction.cases import mixture

SIMULATIONS = Path(__file__).parents[2] / "benchmarks" / "simulations.py"


def labelled(X, y, **options):
    return find_soft_labels(TrainingData.build(X, y, **options))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labelled_rows_keep_their_labels(n_classes):
    data, _ = mixture(n_classes=n_classes, gap=0.1)  # some would be labelled otherwise
    found, codes = find_soft_labels(data), data.labels.codes
    assert_array_equal(found.codes[codes >= 0], codes[codes >= 0])
    assert_array_equal(found.distributions(codes).max(axis=1)[codes >= 0], 1)
    assert_allclose(found.shares.sum(axis=1), 1)
    assert (found.shares >= 0).all()
    assert found.weights.sum() == pytest.approx(1)
    assert found.n_left_out == 4 * n_classes


def test_threads_do_not_matter():
    data = make_data(300, 260)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            ranker = TransductiveScore().fit(data.X, data.y)
            found.append((ranker.label_distributions_, ranker.scores_))
    for one, other in zip(*found, strict=True):
        assert_array_equal(one, other)


def test_the_order_of_rows_and_the_names_of_classes_do_not_matter():
    data = make_data(n_classes=3)
    found = labelled(data.X, data.y)
    order = np.random.default_rng(0).permutation(60)
    other = labelled(data.X[order], data.y[order])
    assert_allclose(other.shares, found.shares[order], atol=1e-9)
    assert other.stability == pytest.approx(found.stability)
    assert other.n_recovered == found.n_recovered
    names = np.array([None, "c", "a", "b"], dtype=object)[data.y + 1]
    other = labelled(data.X, names)
    assert_allclose(other.shares[:, [2, 0, 1]], found.shares, atol=1e-12)
    assert other.stability == pytest.approx(found.stability)


@pytest.mark.parametrize("shape", [(60, 8), (60, 300)])
def test_the_seed_does_not_matter_where_nothing_is_drawn(shape):
    data = make_data(*shape)
    one, other = (labelled(data.X, data.y, seed=seed) for seed in (0, 7))
    assert_array_equal(one.shares, other.shares)


def test_one_label_a_class_says_nothing_of_the_stability():
    data = make_data(per_class=1)
    found = labelled(data.X, data.y)
    assert (found.stability, found.n_left_out, found.n_recovered) == (0.5, 0, 0)
    assert_allclose(found.weights, 1 / len(found.weights))


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_no_unlabelled_row():
    data = make_data(per_class=30)
    found = labelled(data.X, data.y_true)
    assert_array_equal(found.shares, np.eye(2)[data.y_true])
    assert found.stability == 1.0
    assert found.n_left_out == 60
    assert found.n_recovered > 50


def test_a_constant_table(data):
    found = labelled(np.ones((60, 3)), data.y)
    assert_allclose(found.shares[data.y < 0], 0.5)
    assert np.isnan(TransductiveScore().fit(np.ones((60, 3)), data.y).scores_).all()


def test_the_class_prior_is_heard(data):
    training = TrainingData.build(data.X, data.y)
    priors = [0.25, 0.5, 0.75]
    sizes = [find_soft_labels(training, np.array([1 - p, p])).shares[:, 1].mean() for p in priors]
    assert sizes == sorted(sizes)
    assert sizes[2] - sizes[0] > 0.05


def test_labels_that_go_with_the_shape_are_stable_and_others_are_not():
    data = make_data(200, 40, per_class=10)
    X = data.X.copy()
    X[:, :20] += 2 * data.y_true[:, None]
    fits = labelled(X, data.y)
    assert fits.stability > 0.95
    assert fits.n_recovered == 20
    rng = np.random.default_rng(0)
    y = np.full(200, -1)
    y[rng.permutation(200)[:20]] = np.arange(20) % 2
    fits_not = labelled(X, y)
    assert fits_not.stability < 0.8
    assert fits_not.n_recovered < 17


@pytest.mark.parametrize(
    "kind",
    [
        "two groups",
        pytest.param("weights", marks=pytest.mark.nightly),
        pytest.param("normal", marks=pytest.mark.nightly),
        pytest.param("three classes", marks=pytest.mark.nightly),
    ],
)
def test_confidence_where_labels_tell_nothing_is_what_is_right(kind):
    n_classes = 3 if kind == "three classes" else 2
    raw, confidence, trust = [], [], []
    for seed in range(20 if kind == "two groups" else 40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 200))
        if kind == "two groups":
            X[:, :100] += 2 * rng.integers(0, 2, 60)[:, None]
        y = np.full(60, -1)
        y[rng.permutation(60)[: 5 * n_classes]] = np.arange(5 * n_classes) % n_classes
        weights = rng.gamma(0.3, 1.0, 60) + 0.01 if kind == "weights" else None
        model = TransductiveClassifier().fit(X, y, sample_weight=weights)
        found = labelled(X, y, design=parse_design(60, sample_weight=weights))
        raw.append(found.shares.max(axis=1)[y < 0].mean())
        confidence.append(model.label_distributions_.max(axis=1)[y < 0].mean())
        trust.append(model.label_trust_)
    assert np.mean(raw) > 1 / n_classes + 0.15
    assert np.mean(confidence) < 1 / n_classes + 0.1
    assert np.mean(np.array(trust) < 0.5) > 0.3


def test_confidence_where_labels_tell_is_as_it_was():
    data, truth = mixture(n_rows=200, per_class=5, gap=4.0)
    found, model = find_soft_labels(data), TransductiveClassifier()
    assert found.trust == 1
    model.fit(data.X, data.labels.codes)
    assert_allclose(model.label_distributions_, found.shares, atol=1e-9)
    assert np.mean(model.transduction_ == truth) > 0.8


def test_what_is_told_is_drawn_to_equal_shares():
    X, y = np.random.default_rng(5).normal(size=(60, 200)), np.full(60, -1)
    y[:10] = np.arange(10) % 2
    ranker, model = TransductiveScore().fit(X, y), TransductiveClassifier().fit(X, y)
    trust, found = ranker.label_trust_, labelled(X, y)
    assert 0 < trust == found.trust < 0.5
    wanted = trust * found.shares + (1 - trust) / 2
    assert_array_equal(ranker.label_distributions_[10:], wanted[10:])
    assert_array_equal(ranker.label_distributions_[:10], np.eye(2)[y[:10]])
    assert_array_equal(ranker.confidence_, ranker.label_distributions_.max(axis=1))
    assert_array_equal(ranker.transduction_, found.codes)  # the likeliest class stays
    assert_allclose(model.predict_proba(X)[10:], wanted[10:], atol=1e-9)


# --- the score ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_scores_equal_the_loops(n_classes, form):
    data, _ = mixture(n_classes=n_classes)
    shares = find_soft_labels(data).shares
    wanted = reference.class_scores(scaled_rows(data).values, shares)
    rows = scaled_rows(data)
    found = class_scores(rows.class_sums(shares), data.constant)
    assert_allclose(found, wanted)
    ranker = TransductiveScore().fit(form(data.X), data.labels.codes)
    assert_allclose(ranker.class_scores_, wanted)
    best = wanted.max(axis=1, keepdims=True)
    assert_allclose(ranker.scores_, (wanted / best).mean(axis=0))


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_with_all_labels_it_is_the_fisher_score_of_two_classes(data):
    soft = TransductiveScore().fit(data.X, data.y_true)
    fisher = FisherScore().fit(data.X, data.y_true)
    assert_array_equal(soft.ranking_, fisher.ranking_)
    assert_allclose(soft.scores_, fisher.scores_ / fisher.scores_.max())


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_copies_of_a_column_have_equal_scores(form, data):
    X = np.hstack([data.X, data.X[:, ::-1]])
    scores = TransductiveScore().fit(form(X), data.y).scores_
    assert_array_equal(scores[:8], scores[8:][::-1])


def test_markers_are_found_with_ten_labels():
    spec = importlib.util.spec_from_file_location("simulations", SIMULATIONS)
    simulations = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(simulations)
    X, y, given, is_marker = simulations.simulate("log", 10, 0)
    ranker = TransductiveScore().fit(X, given)
    best = np.argsort(ranker.ranking_)[: is_marker.sum()]
    assert is_marker[best].mean() >= 0.95
    assert np.mean(ranker.transduction_ == y) > 0.98
