import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context

from semisift.base import _training_data
from semisift.base._training_data import TrainingData
from semisift.utils import _memory

SPARSE_FORMATS = [
    sparse.csr_matrix,
    sparse.csc_matrix,
    sparse.csr_array,
    sparse.csc_array,
    sparse.coo_array,
]


@pytest.fixture
def dense():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 7)) * (rng.random((40, 7)) < 0.4)
    X[:, 2] = 0.0
    X[:, 3] = 4.5
    return X


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("float32", "float32"),
        ("float64", "float64"),
        ("float16", "float32"),
        ("longdouble", "float64"),
        ("bool", "float32"),
        ("int8", "float32"),
        ("uint16", "float32"),
        ("int32", "float64"),
        ("int64", "float64"),
        ("object", "float64"),
    ],
)
def test_dense_types(given, kept):
    for order in "CF":
        X = np.array([[0, 1], [1, 0], [1, 1]], order=order).astype(given)
        data = TrainingData.build(X)
        assert data.X.dtype == kept
        assert data.X.flags.f_contiguous
        assert_array_equal(data.X, X.astype(float))


@pytest.mark.parametrize("form", SPARSE_FORMATS)
def test_sparse_types(form):
    for given in ("float32", "float64", "bool", "int8", "int64"):
        X = form(np.array([[0, 1], [1, 0], [1, 1]], dtype=given))
        data = TrainingData.build(X)
        assert isinstance(data.X, sparse.csc_array)
        assert data.X.dtype == TrainingData.build(X.toarray()).X.dtype
        assert_array_equal(data.X.toarray(), X.toarray())


def test_fortran_ordered_floats_are_not_copied():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(5, 3)))
    assert np.shares_memory(TrainingData.build(X).X, X)


@pytest.mark.parametrize("given", ["float64", "float32", "int8", "bool"])
def test_other_dense_input_is_copied_once(given):
    X = np.ones((2000, 500), dtype=given)
    size = X.size * TrainingData.build(X[:2]).X.itemsize
    tracemalloc.start()
    TrainingData.build(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1 * size


def test_a_copy_that_does_not_fit_is_not_begun(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 30_000_000)
    X = np.ones((2000, 2000))
    assert TrainingData.build(np.asfortranarray(X)).n_features == 2000  # needs none
    with pytest.raises(MemoryError, match=r"a copy of X \(2,000 x 2,000\) .* needs 32 MB .* 30 MB"):
        TrainingData.build(X)


def test_canonical_csc_is_not_copied(dense):
    X = sparse.csc_array(dense)
    assert np.shares_memory(TrainingData.build(X).X.data, X.data)


def test_arrays_are_read_only_and_the_callers_stay_writeable(dense):
    for X in (np.asfortranarray(dense), sparse.csc_array(dense)):
        data = TrainingData.build(X)
        values = data.X.data if data.is_sparse else data.X
        with pytest.raises(ValueError, match="read-only"):
            values[:] = 0
        assert (X.data if data.is_sparse else X).flags.writeable


def test_read_only_memory_map(tmp_path, dense):
    np.save(tmp_path / "X.npy", np.asfortranarray(dense))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    data = TrainingData.build(X)
    assert_array_equal(data.X, dense)
    assert np.shares_memory(data.X, X)


def test_wide_sparse_indices_are_narrowed(dense):
    X = sparse.csr_array(dense)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    data = TrainingData.build(X)
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32
    assert_array_equal(data.X.toarray(), dense)


def test_duplicates_zeros_and_order_of_sparse_entries():
    parts = (np.array([2.0, 1.0, 3.0, 0.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4]))
    X = sparse.csc_array(parts, shape=(3, 2))
    data = TrainingData.build(X)
    assert data.X.has_canonical_format
    assert_array_equal(data.X.toarray(), [[1, 0], [0, 0], [5, 0]])
    assert data.X.nnz == 2
    assert_array_equal(X.data, [2.0, 1.0, 3.0, 0.0])
    assert_array_equal(X.indices, [2, 0, 2, 1])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_non_finite_values_name_their_column(form, value):
    X = np.ones((4, 3), dtype=np.float32)
    X[2, 1] = value
    what = "NaN" if np.isnan(value) else "infinity or a value too large for dtype"
    with pytest.raises(ValueError, match=rf"Input X contains {what}[\s\S]*in column 1\."):
        TrainingData.build(form(X))
    with pytest.raises(ValueError, match=rf"Input X contains {what}[\s\S]*in column 'b'"):
        TrainingData.build(form(X), feature_names=["a", "b", "c"])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_at_most_five_columns_are_named(form):
    X = np.full((2, 8), np.nan)
    X[:, 0] = [np.inf, -np.inf]
    with pytest.raises(ValueError, match="in columns 1, 2, 3, 4, 5 and 2 more"):
        TrainingData.build(form(X))


def test_sums_that_overflow_are_not_infinite_values():
    X = np.full((3, 2), 1.7e308)
    assert TrainingData.build(X).constant.all()


def test_assume_finite_is_respected():
    with config_context(assume_finite=True):
        TrainingData.build(np.array([[np.nan, 1.0]]))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[1, "a"]], dtype=object), "column 1 holds the text 'a'"),
        (np.array([["1", "a"]]), "column 0 holds the text"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), r"got an array of dtype datetime64\[D\]"),
    ],
)
def test_x_must_hold_numbers(X, message):
    with pytest.raises(ValueError, match=message):
        TrainingData.build(X)


@pytest.mark.parametrize("form", [np.asarray, *SPARSE_FORMATS])
def test_constant(form, dense):
    assert_array_equal(
        TrainingData.build(form(dense)).constant, [False] * 2 + [True] * 2 + [False] * 3
    )


@pytest.mark.parametrize("values_per_block", [1, 50, 1 << 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spread_is_the_same_for_dense_and_sparse(dense, dtype, values_per_block, monkeypatch):
    monkeypatch.setattr(_training_data, "BLOCK_VALUES", values_per_block)
    X = dense.astype(dtype)
    spread = TrainingData.build(X).spread
    assert spread.dtype == np.float64
    assert_allclose(spread, X.astype(float).std(axis=0), rtol=1e-12, atol=1e-15)
    for form in SPARSE_FORMATS:
        assert_array_equal(TrainingData.build(form(X)).spread, spread)


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
def test_spread_keeps_its_digits_beside_a_huge_offset(form):
    X = np.array([[1e9 + 1], [1e9 + 2], [1e9 + 3]])
    assert_allclose(TrainingData.build(form(X)).spread, np.sqrt(2 / 3), rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("unit", [1.7e308, 1e300, 1e-300, 5e-324])
def test_spread_of_extreme_values(form, unit):
    X = np.array([[1.0], [-1.0], [0.0], [0.0]]) * unit
    assert_allclose(TrainingData.build(form(X)).spread, np.sqrt(0.5) * unit, rtol=1e-12)


def test_spread_of_a_constant_column_is_exactly_zero():
    X = np.full((7, 1), 0.1)
    assert TrainingData.build(X).spread[0] == 0.0


def test_statistics_are_computed_once(dense):
    data = TrainingData.build(dense)
    assert data.spread is data.spread
    assert data.constant is data.constant
    assert (data.n_rows, data.n_features) == dense.shape
