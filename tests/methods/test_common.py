"""The contract that every ranker keeps, whatever it computes."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from semisift import (
    CLASSIFIERS,
    METHODS,
    LabelledOnly,
    NoUnlabelledDataWarning,
    UnlabelledTextWarning,
)
from tests.conftest import make_data

# The data have few labels, and some methods say what they then leave out.
pytestmark = pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")

FAST = {"n_members": 30, "random_state": 0}


def parameters_of(name):
    return set(inspect.signature(METHODS[name].cls).parameters)


def make(name, **params):
    """Make a small ranker; of `params` and the fast settings it gets those that it has."""
    known = parameters_of(name)
    return METHODS[name].cls(**{key: v for key, v in (FAST | params).items() if key in known})


def needing(*labels_needed):
    return [name for name in METHODS if METHODS[name].cls.labels_needed in labels_needed]


DETERMINISTIC = [name for name in METHODS if not {"n_members", "n_samplings"} & parameters_of(name)]
PARALLEL = [name for name in METHODS if "n_jobs" in parameters_of(name)]

# One of each family and kind of search; all methods are tried every night.
REPRESENTATIVES = ("consensus", "ssfi", "fisher", "laplacian", "mrmr", "sffs", "s3vm-rfe")


def nightly(*cases):
    """Return cases for every night."""
    return [pytest.param(each, marks=pytest.mark.nightly) for each in cases]


def spread(names):
    """Return the names of methods, of which the representatives are tried every day."""
    return [each if each in REPRESENTATIVES else nightly(each)[0] for each in names]


every = pytest.mark.parametrize("name", spread(METHODS))
deterministic = pytest.mark.parametrize("name", spread(DETERMINISTIC))


def assert_same_fit(ranker, other):
    assert_array_equal(ranker.scores_, other.scores_)
    assert_array_equal(ranker.ranking_, other.ranking_)


def assert_is_ranking(ranker, n_features):
    assert ranker.scores_.shape == (n_features,)
    assert_array_equal(np.sort(ranker.ranking_), np.arange(1, n_features + 1))


@every
def test_fitted_attributes(name, data):
    ranker = make(name).fit(data.X, data.y)
    assert_is_ranking(ranker, 8)
    assert ranker.scores_.dtype == np.float64
    order = np.argsort(ranker.ranking_)
    assert (np.diff(ranker.scores_[order]) <= 0).all()
    if METHODS[name].cls.labels_needed != "none":
        assert_array_equal(ranker.classes_, [0, 1])


def as_strings(y, missing):
    return np.array([missing if code < 0 else "ab"[code] for code in y], dtype=object)


FORMS_OF_Y = {
    "list": lambda y: y.tolist(),
    "int8": lambda y: y.astype(np.int8),
    "float": lambda y: y.astype(float),
    "NaN": lambda y: np.where(y < 0, np.nan, y),
    "object": lambda y: y.astype(object),
    "None": lambda y: np.where(y < 0, None, y.astype(object)),
    "strings, None": lambda y: as_strings(y, None),
    "strings, NaN": lambda y: as_strings(y, np.nan),
    "strings, NA": lambda y: as_strings(y, pd.NA),
    "strings, -1": lambda y: as_strings(y, -1),
    "Int64": lambda y: pd.Series(np.where(y < 0, None, y.astype(object)), dtype="Int64"),
    "string series": lambda y: pd.Series(as_strings(y, None), dtype="string"),
    "category": lambda y: pd.Series(as_strings(y, None), dtype="category"),
    "polars": lambda y: pl.Series(as_strings(y, None).tolist()),
}


@pytest.mark.parametrize("name", ["fisher", *nightly(*sorted({*METHODS} - {"fisher"}))])
@pytest.mark.parametrize("form", FORMS_OF_Y.values(), ids=FORMS_OF_Y.keys())
def test_forms_of_y(name, form, data):
    assert_same_fit(make(name).fit(data.X, data.y), make(name).fit(data.X, form(data.y)))


@every
@pytest.mark.parametrize("missing", [-1, *nightly(None, np.nan)])
def test_labels_as_text_rank_as_before_and_are_told_once(name, missing, data):
    y = np.where(data.y < 0, missing, data.y.astype(object)).astype(str)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker = make(name).fit(data.X, y)
    recorded = [one for one in caught if issubclass(one.category, UnlabelledTextWarning)]
    assert len(recorded) == (METHODS[name].cls.labels_needed != "none")
    assert_same_fit(make(name).fit(data.X, data.y), ranker)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_take_labels_as_text(name, data):
    learner = LabelledOnly(GaussianNB()) if name == "labelled-only" else CLASSIFIERS[name].cls()
    fitted = clone(learner).fit(data.X, data.y)
    with pytest.warns(UnlabelledTextWarning):
        other = learner.fit(data.X, data.y.astype(str))
    assert other.classes_.tolist() == ["0", "1"]
    assert_array_equal(other.predict(data.X), fitted.predict(data.X).astype(str))


@every
@pytest.mark.parametrize(
    "form", [sparse.csr_array, *nightly(sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix)]
)
@pytest.mark.parametrize("n_classes", [3, *nightly(2)])
def test_sparse_equals_dense(name, form, n_classes):
    data = make_data(n_classes=n_classes)
    X = data.X * (np.random.default_rng(1).random(data.X.shape) < 0.5)
    assert_same_fit(make(name).fit(X, data.y), make(name).fit(form(X), data.y))


@every
def test_explicit_zeros_are_zeros(name, data):
    X = sparse.csr_array(data.X)
    X.data[::3] = 0.0
    assert_same_fit(make(name).fit(X.toarray(), data.y), make(name).fit(X, data.y))


@every
@pytest.mark.parametrize("form", [np.asarray, *nightly(sparse.csr_array)])
def test_float32_equals_float64(name, form, data):
    wide = make(name).fit(form(data.X), data.y)
    assert_same_fit(wide, make(name).fit(form(data.X.astype(np.float32)), data.y))


@every
@pytest.mark.parametrize("dtype", [object, *nightly(bool, np.uint8, np.int64)])
def test_types_of_x(name, dtype, data):
    X = data.X > 0
    assert_same_fit(
        make(name).fit(X.astype(float), data.y), make(name).fit(X.astype(dtype), data.y)
    )


@every
def test_read_only_and_memory_mapped(name, tmp_path, data):
    expected = make(name).fit(data.X, data.y)
    for order in "CF":
        X, y = np.array(data.X, order=order), data.y.copy()
        X.flags.writeable = y.flags.writeable = False
        assert_same_fit(expected, make(name).fit(X, y))
        np.save(tmp_path / "X.npy", X)
        X = np.load(tmp_path / "X.npy", mmap_mode="r")
        assert_same_fit(expected, make(name).fit(X, y))
        del X


@every
@pytest.mark.parametrize("library", [pd, *nightly(pl)])
def test_data_frames(name, library, data):
    names = [f"column {j}" for j in range(8)]
    X = library.DataFrame({column: data.X[:, j] for j, column in enumerate(names)})
    ranker = make(name, n_features_to_select=3).fit(X, data.y)
    assert_same_fit(make(name, n_features_to_select=3).fit(data.X, data.y), ranker)
    assert_array_equal(ranker.feature_names_in_, names)
    assert_array_equal(ranker.get_feature_names_out(), np.array(names)[ranker.ranking_ <= 3])


@every
def test_clone_and_pickle(name, data):
    ranker = make(name).fit(data.X, data.y)
    assert_same_fit(ranker, clone(ranker).fit(data.X, data.y))
    loaded = pickle.loads(pickle.dumps(ranker))
    assert_same_fit(ranker, loaded)
    assert_array_equal(ranker.transform(data.X), loaded.transform(data.X))


@every
@pytest.mark.parametrize("random_state", [None, *nightly(0, 11)])
def test_same_answer_twice(name, random_state, data):
    ranker = make(name, random_state=random_state).fit(data.X, data.y)
    first = pickle.loads(pickle.dumps(ranker))
    assert_same_fit(first, ranker.fit(data.X, data.y))


@every
@pytest.mark.parametrize(
    "form", [np.asfortranarray, sparse.csc_array, *nightly(np.asarray, sparse.csr_array)]
)
def test_input_is_not_modified(name, form, data):
    X, y = form(data.X.copy()), data.y.copy()
    make(name).fit(X, y)
    assert_array_equal(X.toarray() if sparse.issparse(X) else X, data.X)
    assert_array_equal(y, data.y)


@every
@pytest.mark.parametrize(("value", "text"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_non_finite_values_name_the_column(name, value, text, data):
    X = data.X.copy()
    X[3, 5] = value
    tables = [
        (sparse.csr_array(X), "5"),
        (X, "5"),
        (pd.DataFrame(X).add_prefix("c"), "'c5'"),
    ]
    allow_nan = np.isnan(value) and METHODS[name].cls.allow_nan
    for given, column in tables[: 1 if allow_nan else 3]:
        with pytest.raises(ValueError, match=rf"Input X contains {text}[\s\S]*column {column}"):
            make(name).fit(given, data.y)


@every
@pytest.mark.parametrize("form", [sparse.csr_array, *nightly(np.asarray)])
def test_constant_columns_come_last(name, form, data):
    X = data.X.copy()
    X[:, 1], X[:, 4] = 0.0, 7.0
    ranker = make(name).fit(form(X), data.y)
    assert np.isnan(ranker.scores_[[1, 4]]).all()
    assert_array_equal(np.sort(ranker.ranking_[[1, 4]]), [7, 8])


@every
@pytest.mark.parametrize("value", [2.5, *nightly(0.0)])
def test_all_columns_constant(name, value, data):
    ranker = make(name).fit(np.full_like(data.X, value), data.y)
    assert np.isnan(ranker.scores_).all()
    assert_is_ranking(ranker, 8)


@every
@pytest.mark.parametrize(("wanted", "selected"), [(0.25, 2)])
def test_n_features_to_select(name, wanted, selected, data):
    ranker = make(name, n_features_to_select=wanted).fit(data.X, data.y)
    assert_array_equal(ranker.get_support(), ranker.ranking_ <= selected)
    assert ranker.transform(data.X).shape == (60, selected)


@every
def test_redundancy_threshold(name, data):
    assert "redundancy_threshold" in parameters_of(name)
    ranker = make(name, redundancy_threshold=0.5).fit(data.X, data.y)
    assert_array_equal(ranker.scores_, make(name).fit(data.X, data.y).scores_)
    assert_is_ranking(ranker, 8)
    assert ranker.representative_.shape == (8,)


@pytest.mark.parametrize("name", spread(needing("optional", "two_classes")))
def test_nothing_unlabelled_warns(name, data):
    with pytest.warns(NoUnlabelledDataWarning):
        ranker = make(name).fit(data.X, data.y_true)
    assert_is_ranking(ranker, 8)


@pytest.mark.parametrize("name", spread(needing("two_classes")))
def test_two_classes_are_needed(name, data):
    with pytest.raises(ValueError, match=r"60 labelled rows, all of one class .* 0 unlabelled"):
        make(name).fit(data.X, np.zeros(60))
    with pytest.raises(ValueError, match="no labelled row: all 60"):
        make(name).fit(data.X, np.full(60, -1))
    with pytest.raises(ValueError, match="requires y to be passed"):
        make(name).fit(data.X)


@pytest.mark.parametrize("name", spread(needing("none", "optional")))
def test_labels_may_be_absent(name, data):
    ranker = make(name).fit(data.X)
    assert_is_ranking(ranker, 8)
    assert not hasattr(ranker, "classes_")


@pytest.mark.parametrize("name", spread(PARALLEL))
def test_n_jobs_do_not_change_the_answer(name, data):
    alone = make(name, n_jobs=1).fit(data.X, data.y)
    assert_same_fit(alone, make(name, n_jobs=2).fit(data.X, data.y))


@every
@pytest.mark.parametrize("form", [np.asarray, *nightly(sparse.csr_array)])
def test_one_column(name, form, data):
    ranker = make(name).fit(form(data.X[:, :1]), data.y)
    assert_array_equal(ranker.ranking_, [1])
    assert_array_equal(ranker.get_support(), [True])


@every
def test_duplicated_rows_and_columns(name, data):
    X = np.tile(data.X, (2, 2))
    assert_is_ranking(make(name).fit(X, np.tile(data.y, 2)), 16)
    X[:] = X[:, :1]
    assert_is_ranking(make(name).fit(X, np.tile(data.y, 2)), 16)


@every
@pytest.mark.parametrize("unit", [1e300, 1e-300])
@pytest.mark.parametrize("form", [np.asarray, *nightly(sparse.csr_array)])
def test_extreme_values(name, form, unit, data):
    ranker = make(name).fit(form(data.X * unit), data.y)
    assert_is_ranking(ranker, 8)
    mixed = data.X * np.where(np.arange(8) % 2, unit, 1.0)
    assert_is_ranking(make(name).fit(form(mixed), data.y), 8)


@every
@pytest.mark.filterwarnings("ignore::semisift.exceptions.FallbackWarning")
def test_one_label_per_class(name):
    data = make_data(n_classes=3, per_class=1)
    assert_is_ranking(make(name).fit(data.X, data.y), 8)


@deterministic
def test_row_order(name, data):
    order = np.random.default_rng(0).permutation(60)
    shuffled = make(name).fit(data.X[order], data.y[order])
    expected = make(name).fit(data.X, data.y)
    assert_allclose(shuffled.scores_, expected.scores_, rtol=1e-9)
    assert_array_equal(shuffled.ranking_, expected.ranking_)


@deterministic
def test_column_order(name, data):
    order = np.random.default_rng(0).permutation(8)
    shuffled = make(name).fit(data.X[:, order], data.y)
    expected = make(name).fit(data.X, data.y)
    assert_allclose(shuffled.scores_, expected.scores_[order], rtol=1e-9)
    assert_array_equal(shuffled.ranking_, expected.ranking_[order])


@deterministic
def test_names_of_classes(name, data):
    renamed = make(name).fit(data.X, np.where(data.y < 0, -1, 1 - data.y))
    assert_allclose(renamed.scores_, make(name).fit(data.X, data.y).scores_, rtol=1e-9)


DATES = pd.date_range("2026-01-01", periods=60)


@pytest.mark.parametrize("name", ["fisher", *nightly(*sorted({*METHODS} - {"fisher"}))])
@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["0.5"] * 60, "'height' holds the text '0.5'. Convert numbers"),
        (["tall"] * 60, "'height' holds the text 'tall'. Encode text"),
        (DATES, r"the columns \['height'\] hold dates"),
    ],
)
def test_columns_that_are_not_numbers(name, column, message, data):
    table = pd.DataFrame(data.X, columns=list("abcdefgh")).assign(height=column)
    with pytest.raises(ValueError, match=message):
        make(name).fit(table, data.y)


@every
@pytest.mark.parametrize("gap", [pd.NA, *nightly(None, np.nan)])
def test_missing_values_are_taken_or_refused(name, gap, data):
    table = pd.DataFrame(data.X, columns=list("abcdefgh")).assign(height=[gap, *range(59)])
    ranker = make(name)
    if ranker.allow_nan:
        assert_is_ranking(ranker.fit(table, data.y), 9)
    else:
        with pytest.raises(ValueError, match=r"contains NaN.\nFound in column 'height'.*SSFI"):
            ranker.fit(table, data.y)
    assert get_tags(ranker).input_tags.allow_nan == ranker.allow_nan


@pytest.mark.parametrize("name", spread(needing("two_classes")))
def test_one_labelled_class_is_enough(name):
    rng = np.random.default_rng(0)
    truth = np.arange(80) % 2
    X = rng.normal(size=(80, 6))
    X[:, :2] += 6 * truth[:, None]
    y = np.where((truth == 1) & (np.arange(80) < 20), 1, -1)
    ranker = make(name).fit(X, y)
    assert ranker.classes_.tolist() == [0, 1]
    assert 0.3 < ranker.positive_share_ < 0.7
    assert ranker.ranking_[:2].min() == 1
    again = make(name).fit(X, np.where(y == 1, "case", None))
    assert again.classes_.tolist() == ["case", "other"]
    both = np.where(np.arange(80) < 20, truth, -1)
    assert not hasattr(ranker.fit(X, both), "positive_share_")


@every
def test_masked_values_are_refused(name, data):
    with pytest.raises(ValueError, match="X must not have masked values: 1 found"):
        make(name).fit(np.ma.masked_equal(data.X, data.X[3, 2]), data.y)
