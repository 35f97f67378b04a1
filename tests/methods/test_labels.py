import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning

from semisift import UnlabelledTextWarning
from semisift.utils._labels import as_class, check_pairs, pairs_from_labels, parse_labels

INTEGERS = {
    "list": [3, -1, 1, 3],
    "int64": np.array([3, -1, 1, 3]),
    "int8": np.array([3, -1, 1, 3], dtype=np.int8),
    "float": np.array([3.0, -1.0, 1.0, 3.0]),
    "float32 with NaN": np.array([3, np.nan, 1, 3], dtype=np.float32),
    "object with -1": np.array([3, -1, 1, 3], dtype=object),
    "object with None": np.array([3, None, 1, 3], dtype=object),
    "object with pd.NA": np.array([3, pd.NA, 1, 3], dtype=object),
    "list with NaN": [3, float("nan"), 1, 3],
    "Int64": pd.Series([3, None, 1, 3], dtype="Int64"),
    "Int64 with -1": pd.Series([3, -1, 1, 3], dtype="Int64"),
    "polars": pl.Series([3, None, 1, 3]),
    "polars with -1": pl.Series([3, -1, 1, 3]),
    "polars float": pl.Series([3.0, float("nan"), 1.0, 3.0]),
}

STRINGS = {
    "list with None": ["b", None, "a", "b"],
    "list with NaN": ["b", float("nan"), "a", "b"],
    "list with -1": ["b", -1, "a", "b"],
    "object with pd.NA": np.array(["b", pd.NA, "a", "b"], dtype=object),
    "object with -1.0": np.array(["b", -1.0, "a", "b"], dtype=object),
    "series": pd.Series(["b", None, "a", "b"]),
    "object series": pd.Series(["b", np.nan, "a", "b"], dtype=object),
    "nullable string": pd.Series(["b", None, "a", "b"], dtype="string"),
    "category": pd.Series(["b", None, "a", "b"], dtype="category"),
    "polars": pl.Series(["b", None, "a", "b"]),
    "polars category": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
    "numpy string": np.array(["b", None, "a", "b"], dtype=np.dtypes.StringDType(na_object=None)),
}


@pytest.mark.parametrize("y", INTEGERS.values(), ids=INTEGERS.keys())
def test_integer_labels(y):
    labels = parse_labels(y, 4)
    assert_array_equal(labels.codes, [1, -1, 0, 1])
    assert labels.codes.dtype == np.int32
    assert_array_equal(labels.classes, [1, 3])


@pytest.mark.parametrize("name", ["list", "object with None", "Int64", "polars"])
def test_missing_values_do_not_turn_integers_into_floats(name):
    assert parse_labels(INTEGERS[name], 4).classes.dtype.kind == "i"


@pytest.mark.parametrize("y", STRINGS.values(), ids=STRINGS.keys())
def test_string_labels(y):
    labels = parse_labels(y, 4)
    assert_array_equal(labels.codes, [1, -1, 0, 1])
    assert labels.classes.tolist() == ["a", "b"]


SPELLINGS = ["-1", "-1.0", "", " ", "nan", "NaN", "None", "NA", "N/A", "#N/A", "NULL", "null"]
SPELLINGS += ["?", "<NA>", "NaT", " nan "]


FORMS_OF_TEXT = [
    list,
    np.array,
    lambda y: np.array(y, dtype=object),
    lambda y: np.array(y).astype("S"),
    lambda y: np.array(y, dtype=np.dtypes.StringDType()),
    pd.Series,
    pd.Categorical,
    pl.Series,
]


@pytest.mark.parametrize("form", FORMS_OF_TEXT)
def test_text_that_means_unlabelled(form):
    for word in SPELLINGS:
        with pytest.warns(UnlabelledTextWarning, match=rf"'{re.escape(word.strip())}' \(1 row\)"):
            labels = parse_labels(form(["b", word, "a", "b"]), 4)
        assert_array_equal(labels.codes, [1, -1, 0, 1])
        assert labels.classes.astype(str).tolist() == ["a", "b"]


@pytest.mark.parametrize("form", [*INTEGERS, *STRINGS])
def test_labels_written_as_text_are_the_same_labels(form):
    y = (INTEGERS | STRINGS)[form]
    silent = parse_labels(y, 4)
    with pytest.warns(UnlabelledTextWarning) as recorded:
        labels = parse_labels([str(value) for value in y], 4)
    assert len(recorded) == 1
    assert_array_equal(labels.codes, silent.codes)


def test_text_beside_numbers_may_mean_unlabelled():
    with pytest.warns(UnlabelledTextWarning, match=r"'' \(2 rows\) and 'NA' \(1 row\)"):
        labels = parse_labels([3, "", 1, "NA", " "], 5)
    assert_array_equal(labels.codes, [1, -1, 0, -1, -1])
    assert labels.classes.dtype.kind == "i"


def test_other_text_is_a_class():
    for word in ("none", "Na", "Nan", "-1.5", "-2", "-", "unknown", "0", "n a"):
        assert word in parse_labels(["a", word], 2).classes


def test_what_a_reader_was_told_is_a_class_stays_one():
    y = np.array(["a", as_class("-1"), None, as_class("nan")], dtype=object)
    for given in (
        y,
        y.tolist(),
        y.copy(),
        pickle.loads(pickle.dumps(y)),
        pd.Series(y, dtype=object),
    ):
        labels = parse_labels(given, 4)
        assert labels.classes.tolist() == ["-1", "a", "nan"]
        assert_array_equal(labels.codes, [1, 0, -1, 2])
    assert labels.classes.dtype.kind == "U"
    assert type(as_class("b")) is str


def test_masked_text_is_unlabelled():
    masked = np.ma.masked_array(["a", "b", "a"], mask=[0, 0, 1])
    assert_array_equal(parse_labels(masked, 3).codes, [0, 1, -1])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_what_is_missing_is_unlabelled_without_a_warning(missing):
    y = np.array(["a", missing, "b"], dtype=object)
    assert_array_equal(parse_labels(y, 3).codes, [0, -1, 1])


@pytest.mark.parametrize("y", [np.array([True, False]), [True, False], [np.True_, np.False_]])
def test_booleans_have_no_unlabelled_value(y):
    labels = parse_labels(y, 2)
    assert_array_equal(labels.codes, [1, 0])
    assert_array_equal(labels.classes, [False, True])


def test_booleans_may_be_missing():
    labels = parse_labels(pd.Series([True, None, False], dtype="boolean"), 3)
    assert_array_equal(labels.codes, [1, -1, 0])
    assert labels.classes.dtype == bool


def test_counts_and_row_numbers():
    labels = parse_labels([2, -1, 7, 2, -1], 5)
    assert_array_equal(labels.labelled, [0, 2, 3])
    assert_array_equal(labels.unlabelled, [1, 4])
    assert labels.labelled.dtype == labels.unlabelled.dtype == np.int32
    assert_array_equal(labels.counts, [2, 1])
    assert labels.n_classes == 2


@pytest.mark.parametrize("y", [None, [-1, -1], [None, None], np.full(2, np.nan)])
def test_nothing_labelled(y):
    labels = parse_labels(y, 2)
    assert labels.n_classes == 0
    assert_array_equal(labels.codes, [-1, -1])
    assert len(labels.counts) == 0


def test_column_vector_is_ravelled_with_a_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        labels = parse_labels(np.array([[1], [-1]]), 2)
    assert_array_equal(labels.codes, [0, -1])


def test_y_is_not_modified():
    y = np.array([1, None, 2], dtype=object)
    parse_labels(y, 3)
    assert y.tolist() == [1, None, 2]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5, 1.0], "Unknown label type: continuous.*got 0.5 in y"),
        (np.array([0.5, None], dtype=object), "Unknown label type: continuous"),
        ([1.0, np.inf], "Input y contains infinity"),
        (np.array([1 + 1j, 2]), "Complex data not supported"),
        ([1 + 1j, 2], "Unknown label type.*complex"),
        ([1, 2, 3], "one label for each row of X: got 3 labels for 2 rows"),
        (np.zeros((2, 2)), r"y should be a 1d array, got an array of shape \(2, 2\)"),
        (np.array(1), r"y should be a 1d array, got an array of shape \(\)"),
        (["a", 1], "y mixes labels that are numbers and strings"),
        ([True, 1], "y mixes labels that are booleans and numbers"),
        ([{}, 1], "Unknown label type: {} in y is of type dict"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), "Unknown label type: y has dtype"),
        (csr_array([[1, 0]]), "y must be a dense 1d array"),
    ],
)
def test_errors_name_what_was_received(y, message):
    with pytest.raises(ValueError, match=message):
        parse_labels(y, 2)


def test_pairs_from_labels():
    must_link, cannot_link = pairs_from_labels(parse_labels(["a", "a", "b", None, "b"], 5))
    assert_array_equal(must_link, [[0, 1], [2, 4]])
    assert_array_equal(cannot_link, [[0, 2], [0, 4], [1, 2], [1, 4]])


def test_pairs_of_nothing_labelled():
    must_link, cannot_link = pairs_from_labels(parse_labels(None, 3))
    assert must_link.shape == cannot_link.shape == (0, 2)


@pytest.mark.parametrize("pairs", [None, [], np.empty((0, 2))])
def test_no_pairs(pairs):
    assert check_pairs(pairs, 3, "must_link").shape == (0, 2)


def test_pairs_are_ordered_within():
    pairs = np.array([[2, 0], [0, 1]])
    assert_array_equal(check_pairs(pairs, 3, "must_link"), [[0, 2], [0, 1]])
    assert_array_equal(pairs, [[2, 0], [0, 1]])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([1, 2], r"must_link must be pairs of row numbers: got shape \(2,\)"),
        ([[0, 1, 2]], r"got shape \(1, 3\)"),
        ([[0.0, 1.0]], "must_link must be pairs of integers: got dtype float64"),
        ([[True, False]], "must be pairs of integers"),
        ([[0, 3]], "row numbers from 0 to 2: got 3"),
        ([[-1, 0]], "row numbers from 0 to 2: got -1"),
        ([[0, 1], [1, 1]], "must pair different rows: got row 1 twice"),
    ],
)
def test_wrong_pairs(pairs, message):
    with pytest.raises(ValueError, match=message):
        check_pairs(pairs, 3, "must_link")


def test_masked_labels_are_unlabelled():
    labels = parse_labels(np.ma.masked_array([3, 5, 3, 5], mask=[0, 0, 1, 1]), 4)
    assert_array_equal(labels.codes, [0, 1, -1, -1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a\0", "a", None], r"The label 'a\\x00' in y cannot be told from 'a'"),
        ([b"a\0", b"a"], r"cannot be told from b'a'"),
        ([2**63, 2**63 + 1, -5], f"label {2**63 + 1} in y cannot be told from {2**63} "),
        ([2**53 + 1, 1.0, 2.0**53], f"label {2**53 + 1} in y cannot be told from {2**53} "),
        (pl.Series([2**63 + 1, 2], dtype=pl.UInt64), f"{2**63 + 1} in y cannot be told from"),
        (["a", "x" * 60_000], "at most 1,000 characters: y holds one of 60,000 characters, 'xxx"),
    ],
)
def test_labels_that_would_be_merged_or_are_no_names(y, message):
    with pytest.raises(ValueError, match=message):
        parse_labels(y, len(y))


def test_large_whole_numbers_stay_distinct():
    labels = parse_labels([2**60, 2**60 + 1, -7, None], 4)
    assert labels.classes.tolist() == [-7, 2**60, 2**60 + 1]
    assert_array_equal(labels.codes, [1, 2, 0, -1])


def test_one_long_label_does_not_widen_the_others():
    long = "x" * 900
    labels = parse_labels([long, *["a", "b"] * 50_000], 100_001)
    assert labels.classes.tolist() == ["a", "b", long]
    assert labels.classes[labels.codes].nbytes < 1_000_000


def test_a_label_is_looked_at_once_however_many_rows_have_it():
    class Counted(str):
        n_looks = 0

        def strip(self, *args):
            Counted.n_looks += 1
            return super().strip(*args)

    label = Counted("a")
    labels = parse_labels(np.array([label, "b", None] * 1000, dtype=object), 3000)
    assert_array_equal(labels.codes[:3], [0, 1, -1])
    assert Counted.n_looks < 10


@pytest.mark.parametrize(
    ("y", "codes", "classes"),
    [
        ([1, 2.0, None, 1.0, -1.0], [0, 1, -1, 0, -1], [1.0, 2.0]),
        ([True, None, False, np.True_, True], [1, -1, 0, 1, 1], [False, True]),
        ([b"x", b" -1 ", b"w", None, b"x"], [1, -1, 0, -1, 1], [b"w", b"x"]),
    ],
)
@pytest.mark.filterwarnings("ignore::semisift.UnlabelledTextWarning")
def test_equal_values_of_several_types_are_one_class(y, codes, classes):
    labels = parse_labels(y, 5)
    assert_array_equal(labels.codes, codes)
    assert labels.classes.tolist() == classes


def test_what_has_no_hash_is_no_label():
    with pytest.raises(ValueError, match=r"\[1\] in y is of type list"):
        parse_labels(np.array(["a", [1], "b"], dtype=object), 3)
