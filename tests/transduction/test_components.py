import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from semisift.base._data_kind import kind_of_data
from semisift.base._training_data import TrainingData
from semisift.transduction._components import components, scaled_rows, share_components


def table(n_rows, n_columns, seed=0):
    """Return rows with 5 strong directions and noise."""
    rng = np.random.default_rng(seed)
    strong = rng.normal(size=(n_rows, 5)) @ rng.normal(size=(5, n_columns))
    return (strong + rng.normal(size=(n_rows, n_columns))) * rng.uniform(0.1, 10, n_columns) + 3


def depths(n_rows=260, n_columns=230, seed=0):
    """Return counts, most of them 0, of rows with different totals."""
    rng = np.random.default_rng(seed)
    mean = rng.gamma(0.5, 1.0, n_columns) * 0.6
    return rng.poisson(mean * rng.uniform(0.5, 4, (n_rows, 1))).astype(float)


def upright(T):
    """Return components with the sign of their largest value, as ours have it."""
    return T * np.sign(T[np.abs(T).argmax(axis=0), np.arange(T.shape[1])])


@pytest.mark.parametrize("shape", [(30, 12), (30, 400), (400, 30), (12, 12)])
def test_few_rows_or_columns_have_exact_components(shape):
    X = table(*shape)
    found = components(TrainingData.build(X))
    d = min(50, shape[0] - 1, shape[1])
    wanted = PCA(d, svd_solver="full").fit_transform(StandardScaler().fit_transform(X))
    assert found.shape == (shape[0], d)
    assert_allclose(found, upright(wanted), atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_many_rows_and_columns_have_nearly_exact_components(form, stay_sparse):
    X = table(300, 260)
    found = components(TrainingData.build(form(X)))
    wanted = PCA(50, svd_solver="full").fit_transform(StandardScaler().fit_transform(X))
    assert_allclose(found[:, :5], upright(wanted)[:, :5], atol=2e-3)
    assert_allclose(found.std(axis=0), wanted.std(axis=0), rtol=0.03)


def test_the_seed_matters_for_drawn_directions_alone():
    small, large = table(150, 400), table(300, 260)
    for X, is_drawn in ((small, False), (large, True)):
        one, other = (components(TrainingData.build(X, seed=seed)) for seed in (0, 1))
        assert_allclose(one[:, :5], other[:, :5], atol=1e-2)
        assert (one != other).any() == is_drawn


@pytest.mark.parametrize("shape", [(300, 260), (60, 400)])
def test_threads_do_not_matter(shape):
    X = table(*shape)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(components(TrainingData.build(X)))
    assert_array_equal(*found)


@pytest.mark.parametrize("X", [table(60, 90), depths()], ids=["measurements", "counts"])
@pytest.mark.parametrize("large", [False, True])
def test_sparse_equals_dense(X, large, request):
    if large:
        request.getfixturevalue("stay_sparse")
    dense, sparse = TrainingData.build(X), TrainingData.build(csr_array(X))
    assert scaled_rows(sparse).is_sparse == large
    if not large:
        assert_array_equal(components(sparse), components(dense))
    # large dense rows are kept in single precision
    assert_allclose(components(sparse), components(dense), atol=1e-4)
    assert_allclose(scaled_rows(sparse).squares, scaled_rows(dense).squares, rtol=1e-6)
    weights = np.random.default_rng(0).random((len(X), 2))
    wanted = scaled_rows(dense).sums(weights)
    assert_allclose(scaled_rows(sparse).sums(weights), wanted, atol=1e-5)
    some = np.array([4, 0, 7])
    assert_allclose(scaled_rows(sparse).take(some), scaled_rows(dense).take(some), atol=1e-6)


def test_counts_are_told_from_measurements():
    X = depths()
    assert kind_of_data(TrainingData.build(X)) == "counts"
    assert kind_of_data(TrainingData.build(csr_array(X))) == "counts"
    assert kind_of_data(TrainingData.build(X - 0.1)) == "measurements"
    assert kind_of_data(TrainingData.build(np.abs(table(30, 9)))) == "measurements"
    categories = np.eye(5)[np.arange(40) % 5]
    mixed = np.hstack([np.abs(table(40, 3)), categories])
    assert kind_of_data(TrainingData.build(mixed)) == "measurements"
    assert kind_of_data(TrainingData.build(categories)) == "counts"


def test_counts_are_logarithms_of_shares():
    X = depths(40, 30) * (np.arange(30) % 3 > 0)
    X[3] = 0
    totals = X.sum(axis=1)
    usual = np.median(totals[totals > 0])
    shares = np.divide(X, totals[:, None], out=np.zeros_like(X), where=totals[:, None] > 0)
    wanted = np.log1p(shares * usual)
    assert_allclose(
        scaled_rows(TrainingData.build(X)).values, wanted - wanted.mean(axis=0), atol=1e-12
    )


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_depth_of_a_row_does_not_matter(form):
    X = depths()
    deep = X * np.random.default_rng(1).choice([1, 2, 8], (len(X), 1))
    usual = [np.median(each.sum(axis=1)) for each in (X, deep)]
    deep *= usual[0] / usual[1]  # all rows together may not be deeper
    one, other = (components(TrainingData.build(form(each))) for each in (X, deep))
    assert_allclose(other[:, :3], one[:, :3], atol=1e-6)


def test_rows_that_do_not_differ_have_one_component_of_zeros():
    assert_array_equal(components(TrainingData.build(np.ones((5, 3)))), np.zeros((5, 1)))
    assert_array_equal(components(TrainingData.build(np.ones((1, 3)))), np.zeros((1, 1)))


def test_components_that_are_rounding_are_left_out():
    X = np.repeat(table(40, 2), 10, axis=1)
    assert components(TrainingData.build(X)).shape == (40, 2)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_some_rows_keep_the_directions_of_all(form, stay_sparse):
    X = depths()
    data = TrainingData.build(form(X))
    T, Z = components(data), scaled_rows(data)
    rows = np.arange(0, 260, 3)
    part = data.part(rows)
    share_components(data, part, rows)
    assert_allclose(components(part), T[rows] - T[rows].mean(axis=0))
    own = scaled_rows(part)
    wanted = Z.take(rows) - Z.take(rows).mean(axis=0)
    assert_allclose(own.take(np.arange(len(rows))), wanted, atol=1e-6)
    assert_allclose(own.squares, (wanted**2).sum(axis=0), rtol=1e-5, atol=1e-12)


def test_nothing_is_handed_down_that_was_not_made():
    data = TrainingData.build(depths())
    part = data.part(np.arange(100))
    share_components(data, part, np.arange(100))
    assert not part.made
