"""S3VM-RFE and S3VM-FS against machines trained from scratch, by hand, and their properties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

from semisift import S3VMFS, S3VMRFE, CompiledKernelsMissingWarning, FallbackWarning, _kernels
from semisift._kernels.fallback import dual as numpy_dual
from semisift.base._training_data import TrainingData
from semisift.embedded import _elimination, s3vm
from semisift.embedded._svm_solver import one_against_rest, one_class
from semisift.embedded.s3vm import unit_columns
from semisift.utils import _columns
from tests.conftest import make_data, needs_callbacks
from tests.nightly import few_daily
from tests.reference import embedded as reference

# Two labelled rows and two unlabelled ones; all columns reach from 0 to 1.
#   labelled     w_l = alpha (1, -.8), alpha = min(C, 2 / 1.64)
#   unlabelled   w_u = (.5, .5), the point of their segment that is nearest to the origin
SMALL_X = np.array([[0.0, 0.8], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
SMALL_Y = np.array([0, 1, -1, -1])


def first_out(ranker, X=SMALL_X, y=SMALL_Y):
    return int(ranker.fit(X, y).eliminated_[0])


@pytest.mark.parametrize(("C", "alpha"), [(1.0, 1.0), (0.25, 0.25), (10.0, 2 / 1.64)])
def test_machines_by_hand(C, alpha):
    data = TrainingData.build(SMALL_X, SMALL_Y)
    kept = np.ones(2, dtype=bool)
    labelled = one_against_rest(unit_columns(data, np.array([0, 1])), np.array([0, 1]), 2, C)
    unlabelled = one_class(unit_columns(data, np.array([2, 3])), 0.5)
    for machine, w in ((labelled, [alpha, -0.8 * alpha]), (unlabelled, [0.5, 0.5])):
        machine.keep(kept)
        machine.train()
        assert_allclose(machine.columns.project(machine.dual.T).ravel(), w, rtol=1e-9)
        assert_allclose(machine.lengths, np.linalg.norm(w), rtol=1e-9)


def test_criterion_by_hand():
    # c = (1 / 1.64 + .5, .64 / 1.64 + .5)
    assert first_out(S3VMRFE()) == 1
    assert_array_equal(S3VMRFE().fit(SMALL_X, SMALL_Y).scores_, [2, 1])


def test_the_printed_sum_depends_on_the_names_of_the_classes():
    # c = (1.5^2, .3^2), and (.5^2, 1.3^2) with the classes exchanged
    assert first_out(S3VMRFE(variant="paper")) == 1
    assert first_out(S3VMRFE(variant="paper"), y=np.array([1, 0, -1, -1])) == 0
    assert first_out(S3VMRFE(), y=np.array([1, 0, -1, -1])) == 1


def order_of(ranker, X, y):
    scores = ranker.fit(X, y).scores_
    assert_array_equal(np.sort(scores), np.arange(1, X.shape[1] + 1))
    return np.argsort(scores)


def rows(kind, seed, n_classes=2, n=40, p=12):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    X = {
        "normal": lambda: rng.normal(size=(n, p)) + truth[:, None] * (np.arange(p) < 3),
        "skewed": lambda: rng.exponential(size=(n, p)) ** 2,
        "sparse": lambda: (
            rng.random((n, p)) * (rng.random((n, p)) < 0.4) - 0.1 * (truth > 0)[:, None]
        ),
    }[kind]()
    y = np.where(np.arange(n) < 6 * n_classes, truth, -1)
    return X, y


@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
@pytest.mark.parametrize("kind", few_daily(["normal", "skewed", "sparse"], 1))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("params", "reading"),
    [
        ({}, {}),
        ({"variant": "paper"}, {"variant": "paper"}),
        ({"unlabelled_weight": 0.2}, {"eta": 0.2}),
        ({"C": 0.1, "nu": 0.2}, {"C": 0.1, "nu": 0.2}),
        ({"step": 5}, {"step": 5}),
    ],
)
def test_order_equals_training_from_scratch(kind, n_classes, params, reading):
    for seed in range(3):
        X, y = rows(kind, seed, n_classes)
        expected = reference.s3vm_rfe(X, y, **reading)
        assert_array_equal(order_of(S3VMRFE(**params), X, y), expected)
        assert_array_equal(order_of(S3VMRFE(**params), sparse.csr_array(X), y), expected)


@pytest.mark.parametrize("m", [1, 4, 11])
def test_s3vm_fs_equals_training_from_scratch(m):
    X, y = rows("normal", 0, 3)
    ranker = S3VMFS(n_features_to_select=m)
    assert_array_equal(order_of(ranker, X, y), reference.s3vm_rfe(X, y, n_left=m))
    assert_array_equal(ranker.eliminated_, S3VMRFE().fit(X, y).eliminated_[: 12 - m])


def test_train_once_ranks_by_the_first_machines():
    X, y = rows("normal", 1)
    ranker = S3VMFS(n_features_to_select=4, train_once=True)
    c = reference.criterion(*reference.weights(reference.unit_scaled(X), y))
    assert_array_equal(order_of(ranker, X, y), np.argsort(c))
    assert_array_equal(ranker.eliminated_, np.argsort(c)[:8])


def test_weight_zero_is_svm_rfe():
    X, y = rows("normal", 2)
    labelled = y >= 0
    svm_rfe = RFE(SVC(kernel="linear", tol=1e-9), n_features_to_select=1)
    svm_rfe.fit(reference.unit_scaled(X)[labelled], y[labelled])
    assert_array_equal(S3VMRFE(unlabelled_weight=0.0).fit(X, y).ranking_, svm_rfe.ranking_)


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_nothing_unlabelled_is_svm_rfe():
    X, y = rows("normal", 2)
    X, y = X[y >= 0], y[y >= 0]
    svm_rfe = RFE(SVC(kernel="linear", tol=1e-9), n_features_to_select=1)
    svm_rfe.fit(reference.unit_scaled(X), y)
    assert_array_equal(S3VMRFE().fit(X, y).ranking_, svm_rfe.ranking_)


@pytest.mark.parametrize(
    ("hidden", "found"),
    [(lambda y: np.minimum(y, 0), "labels of one class only"), (None, "no label")],
)
def test_without_two_classes_the_one_class_machine_decides(hidden, found):
    X, y = rows("normal", 3)
    with pytest.warns(
        FallbackWarning, match=f"S3VMRFE has {found}: its one-class machine"
    ) as caught:
        ranker = S3VMRFE().fit(X, None if hidden is None else hidden(y))
    assert caught[0].filename == __file__
    used = slice(None) if hidden is None else y < 0
    Z = reference.unit_scaled(X)[used]
    left = list(range(12))
    for column in ranker.eliminated_[:4]:
        w = reference.weights(Z[:, left], np.full(len(Z), -1))[1]
        assert left[np.argmin(w**2)] == column
        left.remove(column)


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_one_class_and_nothing_unlabelled():
    X, _ = rows("normal", 3)
    with pytest.warns(FallbackWarning):
        ranker = S3VMRFE().fit(X, np.zeros(40))
    with pytest.warns(FallbackWarning):
        assert_array_equal(ranker.ranking_, S3VMRFE().fit(X).ranking_)


@pytest.mark.parametrize("variant", ["default", "paper"])
def test_unlabelled_rows_without_a_direction(variant):
    """With more than half of them at the smallest values, the origin is among them."""
    rng = np.random.default_rng(0)
    X = rng.random((30, 5))
    y = np.where(np.arange(30) < 10, np.arange(30) % 2, -1)
    X[15:] = 0.0
    with pytest.warns(FallbackWarning, match="no direction in the last 5 columns") as caught:
        ranker = S3VMRFE(variant=variant).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert_array_equal(ranker.ranking_, S3VMRFE(unlabelled_weight=0.0).fit(X, y).ranking_)


def test_a_class_between_the_others_has_no_direction():
    """Its machine finds nothing to part in one column, and what is left of w is rounding."""
    truth = np.tile([0, 1, 2], 10)
    X = np.random.default_rng(1).normal(size=(30, 4)) * 0.1
    X[:, 0] += truth
    y = np.where(np.arange(30) < 15, truth, -1)
    assert_array_equal(order_of(S3VMRFE(), X, y), reference.s3vm_rfe(X, y))


def test_positive_affine_maps_of_columns_change_nothing():
    X, y = rows("normal", 4)
    rng = np.random.default_rng(0)
    moved = X * rng.uniform(0.01, 100, size=12) + rng.normal(size=12) * 1e4
    assert_array_equal(S3VMRFE().fit(moved, y).ranking_, S3VMRFE().fit(X, y).ranking_)


# How columns are compared


@pytest.mark.parametrize("size", [1, 3, 20])
def test_the_size_of_the_front_does_not_matter(size, monkeypatch):
    X, y = rows("skewed", 5, n_classes=3, p=150)
    for variant in ("default", "paper"):
        expected = S3VMRFE(variant=variant).fit(X, y)
        with monkeypatch.context() as patch:
            patch.setattr(_elimination, "FRONT_COLUMNS", size)
            patch.setattr(_elimination, "FRONT_VALUES", 1)
            ranker = S3VMRFE(variant=variant).fit(X, y)
        assert_array_equal(ranker.eliminated_, expected.eliminated_)


def test_most_columns_are_not_compared_at_every_step(monkeypatch):
    """Or the front would be of no use."""
    X, y = rows("normal", 6, p=1000)
    monkeypatch.setattr(_elimination, "FRONT_COLUMNS", 200)
    monkeypatch.setattr(_elimination, "FRONT_VALUES", 1)
    made = []
    new_front = _elimination.Elimination._new_front
    monkeypatch.setattr(
        _elimination.Elimination, "_new_front", lambda self: (made.append(1), new_front(self))
    )
    S3VMRFE().fit(X, y)
    assert 5 <= len(made) < 400


def test_copies_leave_in_a_seeded_order():
    X, y = rows("normal", 7, p=4)
    X = np.repeat(X, 3, axis=1)
    orders = {tuple(S3VMRFE(random_state=seed).fit(X, y).ranking_[:3]) for seed in range(20)}
    assert len(orders) > 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_elimination, "FRONT_COLUMNS", 1)
        patch.setattr(_elimination, "FRONT_VALUES", 1)
        few = {tuple(S3VMRFE(random_state=seed).fit(X, y).ranking_[:3]) for seed in range(20)}
    assert few == orders


@pytest.mark.parametrize(
    ("step", "n", "n_left", "steps"),
    [
        (1, 4, 1, [1, 1, 1]),
        (3, 8, 1, [3, 3, 1]),
        (0.5, 11, 1, [5, 3, 1, 1]),
        (0.1, 5, 3, [1, 1]),
        ("auto", 22, 17, [2, 2, 1]),
    ],
)
def test_steps(step, n, n_left, steps, monkeypatch):
    monkeypatch.setattr(s3vm, "ONE_BY_ONE", 18)
    assert S3VMRFE(step=step)._steps(n, n_left) == steps


@pytest.mark.parametrize("step", [7, 0.3])
def test_columns_that_leave_together_are_ordered_by_their_criterion(step):
    X, y = rows("normal", 8)
    gone = S3VMRFE(step=step).fit(X, y).eliminated_[: 7 if step == 7 else 3]
    c = reference.criterion(*reference.weights(reference.unit_scaled(X), y))
    assert_array_equal(gone, np.argsort(c)[: len(gone)])


def test_max_unlabelled():
    data = make_data(n_rows=120)
    ranker = S3VMRFE(max_unlabelled=20, random_state=3)
    used = TrainingData.build(data.X, data.y, seed=3).some_rows(20)
    assert (data.y[used] < 0).sum() == 20
    assert (data.y[used] >= 0).sum() == 12
    expected = S3VMRFE(random_state=3).fit(data.X[used], data.y[used])
    assert_array_equal(ranker.fit(data.X, data.y).ranking_, expected.ranking_)
    others = [S3VMRFE(max_unlabelled=20, random_state=s).fit(data.X, data.y) for s in range(5)]
    assert len({tuple(other.ranking_) for other in others}) > 1


# Interrupted fits


class Stop:
    """A callback that ends a fit after some tasks, in one way or another."""

    def __init__(self, after, error=None):
        self.left, self.error = after, error

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.left -= 1
        if self.left == 0 and self.error is not None:
            raise self.error
        return self.left == 0

    def teardown(self, estimator, context):
        pass


@needs_callbacks
@pytest.mark.parametrize("ranker", [S3VMRFE(), S3VMFS(n_features_to_select=4)])
def test_an_interrupted_fit_can_be_gone_on_with(ranker):
    X, y = rows("normal", 9)
    expected = ranker.set_params(warm_start=True).fit(X, y)
    order, scores = expected.eliminated_, expected.scores_
    resumed = type(ranker)(**ranker.get_params()).set_callbacks(Stop(3, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        resumed.fit(X, y)
    assert_array_equal(resumed.eliminated_, order[:3])
    began = []
    remove = _elimination.Elimination.remove
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            _elimination.Elimination,
            "remove",
            lambda self, count: (began.append(count), remove(self, count))[1],
        )
        resumed.set_callbacks().fit(X, y)
    assert len(began) == len(order) - 3
    assert_array_equal(resumed.eliminated_, order)
    assert_array_equal(resumed.scores_, scores)


@needs_callbacks
def test_a_fit_starts_over_unless_it_can_be_gone_on_with():
    X, y = rows("normal", 9)
    ranker = S3VMRFE(warm_start=True).fit(X, y)
    assert_array_equal(ranker.fit(-X, y).ranking_, S3VMRFE().fit(-X, y).ranking_)  # was complete
    for warm_start, given in ((False, X), (True, X[:, :8]), (True, X)):
        ranker = S3VMRFE(warm_start=warm_start).set_callbacks(Stop(3, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            ranker.fit(-X, y)
        ranker.set_callbacks().fit(given, y)
        assert_array_equal(ranker.ranking_, S3VMRFE().fit(given, y).ranking_)


def test_s3vm_fs_goes_on_to_fewer_columns():
    X, y = rows("normal", 9)
    ranker = S3VMFS(n_features_to_select=6, warm_start=True).fit(X, y)
    ranker.set_params(n_features_to_select=2).fit(X, y)
    assert_array_equal(ranker.scores_, S3VMFS(n_features_to_select=2).fit(X, y).scores_)


@needs_callbacks
def test_a_callback_can_end_the_elimination():
    X, y = rows("normal", 9)
    ranker = S3VMRFE().set_callbacks(Stop(5)).fit(X, y)
    assert len(ranker.eliminated_) == 5
    assert_array_equal(ranker.scores_, S3VMFS(n_features_to_select=7).fit(X, y).scores_)


# The solver


def problem_of(seed, n=30, p=5):
    rng = np.random.default_rng(seed)
    Z = rng.integers(0, 3, size=(n, p)) / 2.0 if seed % 2 else rng.random((n, p))
    sign = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    low, high = np.where(sign > 0, 0.0, -1.0), np.where(sign > 0, 1.0, 0.0)
    return Z, sign, low, high


SOLVERS = [numpy_dual.solve, *([_kernels.dual.solve] if _kernels.are_compiled() else [])]


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("seed", few_daily(range(6), 2))
def test_dual_is_optimal(solve, seed):
    Z, sign, low, high = problem_of(seed)
    gram = Z @ Z.T
    dual, gradient = np.zeros(30), -sign
    assert solve(gram, sign, low, high, dual, gradient, 1e-10, 10**6) > 0
    assert_allclose(gradient, gram @ dual - sign, atol=1e-9)
    assert ((low <= dual) & (dual <= high)).all()
    assert abs(dual.sum()) < 1e-12
    can_grow, can_shrink = dual < high, dual > low
    assert gradient[can_shrink].max() - gradient[can_grow].min() < 1e-9
    w = SVC(kernel="linear", tol=1e-9).fit(Z, sign).coef_[0]
    assert_allclose(Z.T @ dual, w, atol=1e-5)


@pytest.mark.parametrize("solve", SOLVERS)
def test_dual_of_rows_that_are_all_zero(solve):
    n = 6
    dual, gradient = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(n)
    gram = np.zeros((n, n))
    assert solve(gram, gradient, np.zeros(n), np.ones(n), dual, gradient.copy(), 1e-10, 100) == 0
    gradient = np.arange(n, 0.0, -1.0)  # a slope without any curvature
    solve(gram, -gradient, np.zeros(n), np.ones(n), dual, gradient, 1e-10, 100)
    assert_array_equal(dual, [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("solve", SOLVERS)
def test_number_of_steps_is_limited(solve):
    Z, sign, low, high = problem_of(0)
    assert solve(Z @ Z.T, sign, low, high, np.zeros(30), -sign, 1e-10, 5) == 5


def test_without_kernels():
    X, y = rows("normal", 10, n_classes=3)
    expected = S3VMRFE().fit(X, y).ranking_
    with (
        _kernels.numpy_only(),
        pytest.warns(CompiledKernelsMissingWarning, match="S3VMRFE") as caught,
    ):
        ranker = S3VMRFE().fit(X, y)
    assert caught[0].filename == __file__
    assert_array_equal(ranker.ranking_, expected)


# The columns


def rare_values(seed=0, n=80, p=30):
    """Return columns of which most hold few values, some of them negative, and one holds many."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.05)
    X[:, 0] = rng.normal(size=n) + 1e6
    X[n // 2] += 0.1  # no column is constant
    return X


@pytest.mark.parametrize("is_held", [True, False])
@pytest.mark.usefixtures("stay_sparse")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scaled_columns(form, is_held, monkeypatch):
    if not is_held:
        monkeypatch.setattr(_columns, "MAX_CACHED_VALUES", 0)
        monkeypatch.setattr(_columns, "BLOCK_VALUES", 300)
    X = rare_values()
    Z = reference.unit_scaled(X)[10:50]
    rng = np.random.default_rng(1)
    columns = unit_columns(TrainingData.build(form(X)), np.arange(10, 50))
    weights, values = rng.random(30) * (rng.random(30) < 0.7), rng.normal(size=(40, 3))
    assert_allclose(columns.gram(weights), (Z * weights) @ Z.T, atol=1e-9)
    assert_allclose(columns.project(values), Z.T @ values, atol=1e-9)
    assert_allclose(columns.columns(np.array([4, 0, 7])), Z[:, [4, 0, 7]], atol=1e-9)
    kept = np.arange(30) % 3 == 0
    assert_allclose(columns.restricted(kept).gram(np.ones(30)), (Z * kept) @ Z.T, atol=1e-9)
    assert_array_equal(columns.restricted(kept).project(values)[~kept], 0)


@pytest.mark.usefixtures("stay_sparse")
@pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")
def test_columns_that_stay_sparse_leave_in_the_same_order():
    X = rare_values(2)
    y = np.where(np.arange(80) < 40, np.arange(80) % 2, -1)
    dense = S3VMRFE().fit(X, y)
    assert_array_equal(S3VMRFE().fit(sparse.csr_array(X), y).ranking_, dense.ranking_)
