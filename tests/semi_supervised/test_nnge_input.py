"""NNge as a classifier: scikit-learn's checks, forms of input, nominal columns, odd data."""

from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score

from semisift import CompiledKernelsMissingWarning, LabelledOnly, NNge, _kernels
from tests.conftest import in_numpy
from tests.semi_supervised.test_nnge import boxes_of, fit_then


@pytest.fixture(params=["kernel", pytest.param("numpy", marks=pytest.mark.nightly)])
def path(request):
    """As everywhere, but numpy at night: test_nnge.py compares the two every day."""
    if request.param == "kernel" and not _kernels.are_compiled():
        pytest.skip("the kernels are not built")
    with in_numpy() if request.param == "numpy" else nullcontext():
        yield request.param


def test_accuracy_on_wine():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    assert cross_val_score(NNge(), X[order], y[order], cv=10).mean() > 0.93


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "list": lambda X: X.tolist(),
    "frame": lambda X: pytest.importorskip("pandas").DataFrame(X, columns=list("abcdefgh")),
    "big-endian": lambda X: X.astype(">f8"),
}


@pytest.mark.parametrize("categorical", [None, [1]])
def test_forms_of_x(categorical, data):
    X = np.round(data.X, 1).astype(np.float32).astype(float)
    X.flags.writeable = False
    expected = NNge(categorical=categorical).fit(X, data.y_true)
    for form in FORMS.values():
        model = NNge(categorical=categorical).fit(form(X), data.y_true)
        assert boxes_of(model) == boxes_of(expected)
        assert_array_equal(model.predict(form(X)), expected.predict(X))


def test_labels_of_any_type(data):
    expected = NNge().fit(data.X, data.y_true).predict(data.X)
    for classes in (["no", "yes"], [-1, 1], [False, True], [2.0, 7.0]):
        model = NNge().fit(data.X, np.array(classes)[data.y_true])
        assert model.classes_.tolist() == classes
        assert_array_equal(model.predict(data.X), np.array(classes)[expected])


def test_labelled_rows_only(data):
    rows = data.y != -1
    model = LabelledOnly(NNge()).fit(data.X, data.y)
    expected = NNge().fit(data.X[rows], data.y[rows])
    assert_array_equal(model.predict(data.X), expected.predict(data.X))


@pytest.mark.parametrize("nominal", [None, np.arange(8) == 3])
def test_the_entry_for_wrappers(path, nominal, data):
    X = np.round(data.X, 1)
    model = NNge(categorical=nominal).fit(X, data.y_true)
    bare = NNge()._fit_arrays(X, data.y_true.astype(np.int32), 2, nominal)
    assert_array_equal(bare._predict_codes(X), model.predict(X))
    assert not hasattr(bare, "classes_")


# Nominal columns


def test_ways_to_name_nominal_columns(data):
    X = np.round(np.random.default_rng(0).normal(size=(30, 3)))
    mask = [True, False, True]
    for categorical in ([0, 2], np.array([2, 0]), tuple(mask), np.array(mask)):
        model = NNge(categorical=categorical).fit(X, np.arange(30) % 2)
        assert np.isnan(model.lower_).all(axis=0).tolist() == mask
        assert model.values_[0].keys() == {0, 2}
    for categorical in ([], np.zeros(8, dtype=bool)):
        model = NNge(categorical=categorical).fit(data.X, data.y_true)
        assert boxes_of(model) == boxes_of(NNge().fit(data.X, data.y_true))


def test_bad_nominal_columns(data):
    rule = "categorical must be a mask of the 8 columns of X or positions from 0 to 7"
    column = np.ones((8, 1), dtype=bool)
    for categorical in ([8], [-1], [True, False], [0.5], ["a"], [[0, 1]], column):
        with pytest.raises(ValueError, match=rule):
            NNge(categorical=categorical).fit(data.X, data.y_true)


def test_nominal_values_are_compared_for_equality(path):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, size=(60, 2))
    y = (codes[:, 0] + rng.integers(0, 2, 60)) % 3
    names = np.array([70.0, -3.5, 0.0, 1e9, 12.0])
    model = NNge(categorical=[0, 1]).fit(codes, y)
    renamed = NNge(categorical=[0, 1]).fit(names[codes], y)
    assert_array_equal(renamed.predict(names[codes]), model.predict(codes))
    assert_array_equal(renamed.counts_, model.counts_)
    assert_allclose(renamed.weights_, model.weights_)


def test_nominal_values_never_seen(path):
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 9.0], [1.0, 10.0]], list("aabb")
    model = NNge(categorical=[0]).fit(X, y)
    # as far from every box in column 0, so column 1 decides
    for unknown in (7.0, -1.0, 0.5):
        assert model.predict([[unknown, 2.0], [unknown, 8.0]]).tolist() == ["a", "b"]


# Bad and odd input


@pytest.mark.parametrize("bad", [np.nan, pytest.param(np.inf, marks=pytest.mark.nightly)])
def test_missing_and_infinite_values_are_refused(bad, data):
    names = list("abcdefgh")
    X = pytest.importorskip("pandas").DataFrame(data.X, columns=names)
    model = NNge().fit(X, data.y_true)
    X.iloc[3, 2] = bad
    word = "NaN" if np.isnan(bad) else "infinity"
    for method in (lambda: NNge().fit(X, data.y_true), lambda: model.predict(X)):
        with pytest.raises(ValueError, match=f"(?s)contains {word}.*column 'c'"):
            method()


def test_bad_parameters(data):
    for name, value in {
        "n_attempts": 0,
        "n_intervals": 1,
        "half_open": "yes",
        "categorical": 3,
    }.items():
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            NNge(**{name: value}).fit(data.X, data.y_true)


def test_sparse_and_regression_are_refused(data):
    with pytest.raises(TypeError, match="Sparse data was passed"):
        NNge().fit(sparse.csr_array(data.X), data.y_true)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        NNge().fit(data.X, data.X[:, 0])


def test_one_row(path):
    model = NNge().fit([[3.0, 1.0]], ["x"])
    assert boxes_of(model) == [("x", 1, [(3.0, 3.0), (1.0, 1.0)])]
    assert model.predict([[100.0, -5.0]]).tolist() == ["x"]


def test_every_row_its_own_class(path):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = NNge().fit(X, np.arange(20))
    assert_array_equal(model.predict(X), np.arange(20))
    assert (model.counts_ == 1).all()


def test_constant_columns_change_nothing(path, data):
    plain = NNge().fit(data.X, data.y_true)
    for categorical in (None, [8]):
        X = np.column_stack([data.X, np.full(60, 3.0)])
        model = NNge(categorical=categorical).fit(X, data.y_true)
        assert model.weights_[8] == 0
        assert_array_equal(model.lower_[:, :8], plain.lower_)
        X[:, 8] = 1e9
        assert_array_equal(model.predict(X * 1.0), plain.predict(data.X))


def test_more_columns_than_rows(path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3000)), np.arange(12) % 2
    X[:, 5] += 20 * y
    assert_array_equal(NNge().fit(X, y).predict(X), y)


@pytest.mark.parametrize(
    "power", [-1020, 1020, *(pytest.param(p, marks=pytest.mark.nightly) for p in (-300, 300))]
)
def test_units_do_not_matter(path, power, data):
    unit = 2.0**power
    model, expected = NNge().fit(data.X * unit, data.y_true), NNge().fit(data.X, data.y_true)
    assert_array_equal(model.lower_, expected.lower_ * unit)
    assert_array_equal(model.predict(data.X[::-1] * unit), expected.predict(data.X[::-1]))


def test_ranges_beyond_the_largest_number(path):
    largest = np.finfo(float).max
    X = np.array([[-largest], [largest], [-largest / 2], [largest / 2]])
    model = NNge().fit(X, [0, 1, 0, 1])
    assert_array_equal(model.predict(X), [0, 1, 0, 1])
    assert np.isfinite(model.weights_).all()


def test_zeros_of_both_signs_are_equal(path):
    rows = [(1, 1), (1, 10), (-5, 1), (-5, 10), (0.0, 9), (-0.0, 9)]
    assert boxes_of(fit_then(rows, (0, 5)))[3] == ("a", 2, [(0.0, 0.0), (9.0, 9.0)])


def test_missing_kernels_warn_once(without_kernels, data):
    with pytest.warns(CompiledKernelsMissingWarning, match="slower: .* NNge 30 to 100. ") as seen:
        model = NNge().fit(data.X, data.y_true)
    model.fit(data.X, data.y_true).predict(data.X)  # a second warning would be an error
    assert len(seen) == 1
    assert seen[0].filename == __file__
