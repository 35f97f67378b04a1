"""The general path: members that are scikit-learn classifiers."""

import os
import pickle
import shutil
import subprocess
import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from threadpoolctl import ThreadpoolController

import semisift
from semisift import (
    SEFR,
    SSFI,
    CompiledKernelsMissingWarning,
    ForestImportance,
    _kernels,
    parallel,
)
from semisift._kernels.fallback import plan as numpy_plan
from semisift.base._training_data import TrainingData
from semisift.committee import _estimators as permutation_module
from semisift.committee._estimators import EstimatorContext, with_random_states
from semisift.committee._members import TreeContext, build_context
from semisift.utils._random import row_mask, unmask
from tests.conftest import in_numpy, make_data, needs_kernels

NIGHTLY = pytest.mark.nightly


def problem_of(data, seed=3):
    return TrainingData.build(data.X, data.y, seed=seed)


def fit(data, **params):
    return SSFI(**({"n_members": 40, "random_state": 0} | params)).fit(data.X, data.y)


def assert_same_fit(ranker, other):
    assert_array_equal(ranker.scores_, other.scores_)
    assert_array_equal(ranker.transduction_, other.transduction_)
    assert_array_equal(ranker.confidence_, other.confidence_)
    assert ranker.oob_agreement_ == other.oob_agreement_


# What members are dealt


def test_masks_there_and_back():
    for n_rows in (1, 63, 64, 65, 200):
        rows = np.random.default_rng(0).random((3, n_rows)) < 0.5
        assert_array_equal(unmask(row_mask(rows), n_rows), rows)
        assert_array_equal(unmask(row_mask(rows)[1], n_rows), rows[1])


@needs_kernels
@pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])
def test_subspaces_are_those_of_the_kernels(seed):
    for n_features, size in [(1, 1), (50, 7), (50, 50), (5000, 71)]:
        arguments = seed, 5, 40, n_features, size
        drawn = numpy_plan.draw_subspaces(*arguments)
        assert drawn.dtype == np.int32
        assert_array_equal(drawn, _kernels.plan.draw_subspaces(*arguments))


@needs_kernels
@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("data", [make_data(n_classes=3), make_data(n_rows=65, per_class=65)])
def test_bags_are_those_of_the_kernels(stratified, data):
    setting = build_context(problem_of(data), 3, stratified=stratified)
    arguments = (
        *(setting.seed, 5, 40, setting.n_rows),
        *(setting.labelled, setting.bootstrap.strata, setting.labels.unlabelled),
    )
    for ours, theirs in zip(
        numpy_plan.draw_bags(*arguments), _kernels.plan.draw_bags(*arguments), strict=True
    ):
        assert ours.dtype == theirs.dtype
        assert_array_equal(ours, theirs)


@needs_kernels
@pytest.mark.parametrize("n_confidences", [1, 4, 1000])
def test_confident_picks_are_those_of_the_kernels(n_confidences):
    rng = np.random.default_rng(n_confidences)
    n_rows, n_members = 150, 30
    rows = rng.permutation(n_rows)[:120].astype(np.int32)
    label = rng.integers(0, 3, len(rows))
    confidence = np.zeros(n_rows)
    confidence[rows] = rng.integers(0, n_confidences, len(rows)) / n_confidences
    order = np.lexsort((-confidence[rows], label))
    class_starts = np.searchsorted(label[order], np.arange(4)).astype(np.int32)
    out_of_bag = row_mask(rng.random((n_members, n_rows)) < 0.6)
    picks = rng.integers(-1, n_rows, (n_members, 9)).astype(np.int32)
    for quotas in [(1, 1, 1), (3, 0, 200), (0, 0, 0)]:
        choice = rows[order], confidence, class_starts, np.array(quotas, dtype=np.int32)
        ours = numpy_plan.pick_confident(3, 11, out_of_bag, picks, *choice)
        theirs = _kernels.plan.pick_confident(3, 11, out_of_bag, picks, *choice)
        assert ours.dtype == theirs.dtype
        assert_array_equal(ours, theirs)


def test_plan_is_the_same_without_kernels(data):
    setting = EstimatorContext.build(problem_of(data), 3)
    with in_numpy():
        ours = setting.new_block(4, 9).sample(setting)
    for one, other in zip(ours, setting.new_block(4, 9).sample(setting), strict=True):
        assert_array_equal(one, other)


# With a single column to split on, scikit-learn's trees are those of the kernels


def copied_blocks(data, **options):
    training = problem_of(data)
    for build in TreeContext.build, EstimatorContext.build:
        setting = build(training, 1, **options)
        block = setting.new_block(2, 40)
        for code in range(2):
            rows = np.full((38, 1), setting.labels.unlabelled[code], dtype=np.int32)
            block = block.with_picks(rows, np.full_like(rows, code))
        yield block, setting


MORE_LOSSES = [(False, -1.0), (True, 0.9)]
COPIES = pytest.mark.parametrize(
    ("n_classes", "options"),
    [
        (2, {}),
        (3, {"stratified": True}),
        pytest.param(3, {"max_depth": 1}, marks=NIGHTLY),
        pytest.param(2, {"max_depth": 2}, marks=NIGHTLY),
    ],
)


@needs_kernels
@COPIES
def test_votes_equal_those_of_the_kernels(n_classes, options):
    data = make_data(n_classes=n_classes)
    more = row_mask(np.arange(60) % 7 == 0)
    for probability in False, True:
        for rows in None, more:
            ours, theirs = (
                block.vote(setting, probability, rows)
                for block, setting in copied_blocks(data, **options)
            )
            assert ours.dtype == theirs.dtype
            assert_array_equal(ours, theirs)


@needs_kernels
@COPIES
def test_own_picks_equal_those_of_the_kernels(n_classes, options):
    data = make_data(n_classes=n_classes)
    pools = row_mask(np.random.default_rng(0).random((38, 60)) < 0.5)
    quotas = (np.arange(38) % 9).astype(np.int32)
    for above in 0.0, 0.6, 0.95, 1.0:
        found = []
        for block, setting in copied_blocks(data, **options):
            rows, labels = block.pick_own(setting, pools, quotas, above)
            order = rows.argsort(axis=1)
            found.append([np.take_along_axis(part, order, axis=1) for part in (rows, labels)])
        assert_array_equal(*found)


@needs_kernels
@COPIES
@pytest.mark.parametrize(
    ("net", "own_labels_from"),
    [(True, -1.0), (False, 0.9), *(pytest.param(*case, marks=NIGHTLY) for case in MORE_LOSSES)],
)
def test_expected_losses_equal_those_of_the_kernels(n_classes, options, net, own_labels_from):
    data = make_data(n_classes=n_classes)
    rng = np.random.default_rng(0)
    label = np.where(data.y < 0, rng.integers(-1, n_classes, 60), data.y)
    labels = row_mask(label == np.arange(n_classes)[:, None])
    weights = 1 + np.arange(60) / 60
    ours, theirs = (
        block.permute(setting, labels, weights, net=net, own_labels_from=own_labels_from)
        for block, setting in copied_blocks(data, **options)
    )
    assert_allclose(ours.agreement, theirs.agreement)
    assert_array_equal(ours.draws, theirs.draws)
    for part in ours, theirs:
        assert part.features.dtype == np.int32
    n_features = data.X.shape[1]
    assert_allclose(
        np.bincount(ours.features, ours.losses, minlength=n_features),
        np.bincount(theirs.features, theirs.losses, minlength=n_features),
        atol=1e-12,
    )


@needs_kernels
def test_ssfi_equals_the_kernels_on_single_columns(data):
    params = {"max_features": 1, "variant": "paper", "max_iter": 3}
    ours = fit(data, estimator=DecisionTreeClassifier(), **params)
    theirs = fit(data, **params)
    assert_allclose(ours.scores_, theirs.scores_, atol=1e-12)
    assert_array_equal(ours.transduction_, theirs.transduction_)
    assert_array_equal(ours.n_draws_, theirs.n_draws_)


# Permutations


def losses_of(data, estimator, seed=3, **options):
    setting = EstimatorContext.build(problem_of(data, seed), 4, estimator=estimator)
    labels = row_mask(data.y_true == np.arange(2)[:, None])
    block = setting.new_block(0, 10)
    return block.permute(setting, labels, np.ones(60), **({"net": True} | options))


def expected_loss(predict, X, label, column):
    """Average over all values that a permutation may put on a row."""
    right = predict(X) == label
    total = 0.0
    for value in X[:, column]:
        changed = X.copy()
        changed[:, column] = value
        total += np.sum(right * 1.0 - (predict(changed) == label))
    return total / len(X)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_expectation_is_exact_for_trees(criterion, data):
    estimator = DecisionTreeClassifier(criterion=criterion)
    setting = EstimatorContext.build(problem_of(data), 4, estimator=estimator)
    block = setting.new_block(0, 10)
    labels = row_mask(data.y_true == np.arange(2)[:, None])
    found = block.permute(setting, labels, np.ones(60), net=True)
    at = 0
    out_of_bag = unmask(block.sample(setting).out_of_bag, 60)
    for member, rows in zip(block.members(setting).fitted, out_of_bag, strict=True):
        used = np.unique(member.estimator.tree_.feature)
        used = used[used >= 0]
        assert_array_equal(found.features[at : at + len(used)], member.columns[used])
        X = data.X[rows][:, member.columns]
        expected = [expected_loss(member.predict, X, data.y_true[rows], column) for column in used]
        assert_allclose(found.losses[at : at + len(used)], expected, atol=1e-9)
        at += len(used)
    assert at == len(found.features)


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(), GaussianNB()])
def test_sampled_permutations_average_to_the_expectation(estimator, data, monkeypatch):
    seeds = range(20)
    sampled = [losses_of(data, estimator, seed, sampled=True).losses.sum() for seed in seeds]
    monkeypatch.setattr(permutation_module, "N_PERMUTATIONS", 20)
    expected = [losses_of(data, estimator, seed).losses.sum() for seed in seeds]
    difference = np.subtract(sampled, expected)
    assert 0 < abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(seeds))


@pytest.mark.parametrize(
    ("estimator", "form"),
    [
        (DecisionTreeClassifier(), np.asarray),
        (BernoulliNB(), sparse.csr_array),
        pytest.param(DecisionTreeClassifier(), sparse.csr_array, marks=NIGHTLY),
        pytest.param(BernoulliNB(), np.asarray, marks=NIGHTLY),
    ],
)
def test_small_stacks_do_not_change_the_losses(form, estimator, data, monkeypatch):
    data = data._replace(X=form(data.X))
    at_once = losses_of(data, estimator)
    for size in 1, 2000:
        monkeypatch.setattr(permutation_module, "STACK_BYTES", size)
        bit_by_bit = losses_of(data, estimator)
        assert_array_equal(bit_by_bit.features, at_once.features)
        assert_array_equal(bit_by_bit.losses, at_once.losses)


# The committee


def planted_data(seed):
    """Return 80 rows of 40 columns, of which the first four follow the class."""
    rng = np.random.default_rng(seed)
    y_true = np.arange(80) % 2
    X = rng.normal(size=(80, 40))
    X[:, :4] += 1.5 * y_true[:, None]
    return X, np.where(np.arange(80) < 20, y_true, -1)


@pytest.mark.nightly
@needs_kernels
def test_finds_what_the_kernels_find():
    scores = {}
    ranks = {}
    for name, estimator in {"general": DecisionTreeClassifier(), "kernels": None}.items():
        fits = [
            SSFI(estimator=estimator, n_members=120, random_state=seed).fit(*planted_data(seed))
            for seed in range(6)
        ]
        scores[name] = np.mean([ranker.scores_ for ranker in fits], axis=0)
        ranks[name] = np.mean([ranker.ranking_[:4] for ranker in fits])
        assert scores[name][:4].min() > 3 * scores[name][4:].max()
        assert ranks[name] < 5  # at best 2.5, by chance 20.5
    assert np.corrcoef(scores["general"], scores["kernels"])[0, 1] > 0.97
    assert_allclose(scores["general"][:4].sum(), scores["kernels"][:4].sum(), rtol=0.15)


OTHERS = {
    "bayes": GaussianNB(),
    "logistic": LogisticRegression(),
    "extra tree": ExtraTreeClassifier(),
    "svc, no probabilities": SVC(kernel="linear"),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}


@pytest.mark.parametrize(
    ("name", "permutation"),
    [
        ("bayes", "expected"),
        ("extra tree", "sampled"),
        ("svc, no probabilities", "expected"),
        *(
            pytest.param(name, permutation, marks=NIGHTLY)
            for name in ("logistic", "pipeline")
            for permutation in ("expected", "sampled")
        ),
    ],
)
def test_other_estimators(name, permutation, data):
    estimator = OTHERS[name]
    ranker = fit(data, estimator=estimator, permutation=permutation)
    assert set(np.argsort(-ranker.scores_)[:2]) == {0, 1}
    assert not hasattr(estimator, "classes_")
    paper = fit(data, estimator=estimator, permutation=permutation, variant="paper", max_iter=1)
    assert np.isfinite(paper.scores_).all()


def test_without_probabilities_every_vote_is_whole(data):
    setting = EstimatorContext.build(problem_of(data), 4, estimator=SVC())
    block = setting.new_block(0, 5)
    assert_array_equal(block.vote(setting, True), 65536 * block.vote(setting, False))


def test_regressors_are_refused(data):
    with pytest.raises(ValueError, match="estimator must be a classifier: got Ridge"):
        fit(data, estimator=Ridge())


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(),
        BernoulliNB(),
        pytest.param(LogisticRegression(), marks=NIGHTLY),
        pytest.param(SVC(), marks=NIGHTLY),
    ],
)
def test_sparse_equals_dense(estimator, data):
    X = data.X * (np.random.default_rng(1).random(data.X.shape) < 0.5)
    dense = fit(data._replace(X=X), estimator=estimator, n_members=20)
    as_sparse = fit(data._replace(X=sparse.csr_array(X)), estimator=estimator, n_members=20)
    assert_allclose(as_sparse.scores_, dense.scores_, atol=0.1)
    if isinstance(estimator, DecisionTreeClassifier):
        assert_same_fit(dense, as_sparse)


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
def test_estimators_get_arrays_of_their_own(form, data):
    class Spoiler(BernoulliNB):
        def fit(self, X, y):
            super().fit(X, y)
            (X.data if sparse.issparse(X) else X)[:] = 7
            y[:] = 0
            return self

        def predict_proba(self, X):
            shares = super().predict_proba(X)
            (X.data if sparse.issparse(X) else X)[:] = 7
            return shares

    X, y = form(np.asfortranarray(data.X)), data.y.copy()
    spoilt = fit(data._replace(X=X, y=y), estimator=Spoiler())
    assert_same_fit(spoilt, fit(data._replace(X=form(data.X)), estimator=BernoulliNB()))
    assert_array_equal(X.toarray() if sparse.issparse(X) else X, data.X)
    assert_array_equal(y, data.y)


@pytest.mark.parametrize(
    "estimator",
    [DecisionTreeClassifier(), pytest.param(LogisticRegression(), marks=NIGHTLY), SVC()],
)
@pytest.mark.parametrize("form", [np.asarray, pytest.param(sparse.csr_array, marks=NIGHTLY)])
def test_bags_of_a_single_class(estimator, form):
    data = make_data(per_class=1)
    data = data._replace(X=form(data.X))
    setting = EstimatorContext.build(problem_of(data), 4, estimator=estimator)
    fitted = [member.estimator for member in setting.new_block(0, 20).members(setting).fitted]
    alone = [member.classes_[0] for member in fitted if len(member.classes_) == 1]
    assert {0, 1} == set(alone)
    assert len(alone) < 20
    ranker = fit(data, estimator=estimator, variant="paper", max_iter=1)
    assert np.isfinite(ranker.scores_).all()


def test_bags_that_lack_a_class():
    data = make_data(n_classes=4, per_class=1)
    setting = EstimatorContext.build(problem_of(data), 4, estimator=GaussianNB(var_smoothing=0.1))
    block = setting.new_block(0, 30)
    lacking = {len(member.estimator.classes_) for member in block.members(setting).fitted}
    assert {2, 3} <= lacking
    votes = block.vote(setting, True)
    assert votes.shape == (60, 4)
    out_of_bag = unmask(block.sample(setting).out_of_bag, 60).sum(axis=0)
    assert_allclose(votes.sum(axis=1), 65536 * out_of_bag, atol=60)


def test_random_states_belong_to_the_member():
    estimator = make_pipeline(StandardScaler(), RandomForestClassifier(random_state=1))

    def state(seed, member):
        fresh = with_random_states(estimator, seed, member)
        return fresh.get_params()["randomforestclassifier__random_state"]

    states = [state(seed, member) for seed in range(3) for member in range(50)]
    assert len(set(states)) == 150
    assert state(2, 7) == states[107]
    assert estimator[-1].random_state == 1
    with_random_states(GaussianNB(), 0, 0)


@pytest.mark.parametrize(
    "estimator", [ExtraTreeClassifier(), pytest.param(LogisticRegression(), marks=NIGHTLY)]
)
def test_jobs_and_blocks_do_not_change_the_answer(estimator, data, monkeypatch):
    expected = fit(data, estimator=estimator)
    assert_same_fit(expected, fit(data, estimator=estimator, n_jobs=2))
    for size in 1, 7:
        monkeypatch.setattr(parallel, "BLOCK_SIZE", size)
        assert_same_fit(expected, fit(data, estimator=estimator))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert_same_fit(expected, fit(data, estimator=estimator, n_jobs=2))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_members_work_on_one_thread_each(n_jobs, data):
    controller = ThreadpoolController()
    found = set()

    def count():
        return {library.num_threads for library in controller.lib_controllers}

    class Counting(GaussianNB):
        def fit(self, X, y):
            found.update(count())
            return super().fit(X, y)

    with controller.limit(limits=2):
        fit(data, estimator=Counting(), n_jobs=n_jobs)
        assert count() == {2}
    assert found == {1}


def test_a_pickled_block_travels_light(data):
    setting = EstimatorContext.build(problem_of(data), 4, estimator=ExtraTreeClassifier())
    block = setting.new_block(0, 5)
    rows = np.full((5, 1), data.y.argmin(), dtype=np.int32)
    block.vote(setting, True)
    block = block.with_picks(rows, np.ones_like(rows))
    votes = block.vote(setting, True)
    assert setting.samples.keys() == setting.fitted.keys() == {(0, 5)}
    arrived, arrived_setting = pickle.loads(pickle.dumps((block, setting)))
    assert arrived_setting.samples == arrived_setting.fitted == {}
    assert_array_equal(arrived.vote(arrived_setting, True), votes)


def test_depth_and_draws_of_the_trees(data):
    training = problem_of(data)
    setting = EstimatorContext.build(training, 3, max_depth=2, draws_at_nodes=True)
    block = setting.new_block(0, 5)
    assert block.sample(setting).subspaces is None
    for member in block.members(setting).fitted:
        assert member.estimator.max_features == 3
        assert member.estimator.get_depth() <= 2
        assert member.estimator.n_features_in_ == 8
    named = EstimatorContext.build(training, 3, max_depth=2, estimator=DecisionTreeClassifier())
    assert named.estimator.max_depth is None
    sparse_problem = problem_of(data._replace(X=sparse.csr_array(data.X)))
    setting = EstimatorContext.build(sparse_problem, 3, max_depth=2, draws_at_nodes=True)
    assert_array_equal(setting.new_block(0, 5).vote(setting, True), block.vote(setting, True))


# Without kernels


def test_missing_kernels_warn_once(without_kernels, data):
    with pytest.warns(
        CompiledKernelsMissingWarning, match="kernel.* slower: .* C compiler"
    ) as caught:
        ranker = fit(data)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert set(np.argsort(-ranker.scores_)[:2]) == {0, 1}
    assert_same_fit(ranker, fit(data))
    assert_same_fit(ranker, fit(data, estimator=DecisionTreeClassifier()))


@pytest.mark.filterwarnings("ignore::semisift.CompiledKernelsMissingWarning")
@pytest.mark.parametrize(
    ("committee", "form"), [(SEFR, np.asarray), (ForestImportance, sparse.csr_array)]
)
def test_other_committees_without_kernels(without_kernels, committee, form, data):
    ranker = committee(n_members=40, random_state=0).fit(form(data.X), data.y)
    assert set(np.argsort(-ranker.scores_)[:2]) == {0, 1}


def test_an_estimator_needs_no_kernels(data):
    with _kernels.numpy_only():
        ours = fit(data, estimator=GaussianNB())
    assert_same_fit(ours, fit(data, estimator=GaussianNB()))


@pytest.mark.filterwarnings("ignore::semisift.CompiledKernelsMissingWarning")
@pytest.mark.parametrize(("unit", "form"), [(1e300, np.asarray), (1e-300, sparse.csr_array)])
def test_extreme_values_without_kernels(without_kernels, unit, form, data):
    power = 2.0 ** np.round(np.log2(unit))
    expected = fit(data)
    assert_same_fit(expected, fit(data._replace(X=form(data.X * power))))


def test_extensions_that_were_never_built(tmp_path):
    package = Path(semisift.__file__).parent
    built = [f"*{suffix}" for suffix in EXTENSION_SUFFIXES]
    shutil.copytree(
        package, tmp_path / "semisift", ignore=shutil.ignore_patterns(*built, "__pycache__")
    )
    code = """
import numpy as np
import semisift
from semisift import SSFI, _kernels

assert semisift.__file__.startswith({folder!r}) and not _kernels.are_compiled()
X = np.random.default_rng(0).normal(size=(40, 6))
y = np.arange(40) % 2
X[:, 3] += 4 * y
y[10:] = -1
for _ in range(2):
    print(SSFI(n_members=20).fit(X, y).ranking_[3])
"""
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code.format(folder=str(tmp_path))],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert done.stdout.split() == ["1", "1"]
    assert done.stderr.count("CompiledKernelsMissingWarning") == 1


@needs_kernels
def test_kernels_do_not_warn(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(data)
