"""What no method can take is refused in our words, which name the column and the value."""

import datetime
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

from semisift import CLASSIFIERS, METHODS, FisherScore, LabelledOnly, MixedNB, NNge
from tests.nightly import daily_are
from tests.properties.fits import MODELS, answer, check_refusal, make
from tests.properties.profiles import REPRESENTATIVES, some
from tests.properties.tables import Recipe

X, Y = Recipe(n_rows=12, n_columns=4).make()


def changed(column, value, as_type=float):
    made = X.astype(as_type)
    made[3, column] = value
    return made


def frame(column, values):
    return pd.DataFrame(X, columns=list("abcd")).assign(**{"abcd"[column]: values})


# The table or the labels, and what the message says; {column} represents the number.
TABLES = {
    "infinity": (lambda j: changed(j, np.inf), "infinity[^$]*column {column}"),
    "minus infinity": (lambda j: changed(j, -np.inf), "infinity[^$]*column {column}"),
    "sparse infinity": (lambda j: sparse.csc_array(changed(j, np.inf)), "column {column}"),
    "sparse NaN": (lambda j: sparse.csr_array(changed(j, np.nan)), "NaN[^$]*column {column}"),
    "too large": (lambda j: changed(j, 10**400, object), "column {column}"),
    "text": (lambda j: changed(j, "tall", object), "column {column} holds the text 'tall'"),
    "bytes": (lambda j: changed(j, b"tall", object), "column {column} holds the text"),
    "an object": (lambda j: changed(j, {}, object), "column {column} holds {{}}"),
    "complex": (lambda j: changed(j, 1j, complex), "[Cc]omplex"),
    "dates": (lambda j: frame(j, datetime.datetime(2026, 1, 1)), "dates or times"),
    "time": (lambda j: X.astype("m8[s]"), "."),
    "masked": (lambda j: np.ma.masked_equal(X, X[3, j]), "masked values: 1 found"),
    "texts of numpy": (lambda j: X.astype(str), "column 0 holds the text '.*X.astype"),
    "bytes of numpy": (lambda j: X.astype("S"), "column 0 holds the text"),
    "strings of numpy": (lambda j: X.astype(np.dtypes.StringDType()), "column 0 holds the text"),
    "a name twice": (lambda j: pd.DataFrame(X, columns=list("abca")), "'a' stands more than once"),
    "words of pandas": (lambda j: frame(j, "tall"), "holds the text 'tall'"),
    "words of polars": (lambda j: pl.DataFrame({"a": ["b"] * 12}), "holds the text 'b'"),
    "one dimension": (lambda j: X[:, j], "2D array"),
    "three dimensions": (lambda j: X[:, :, None], "dim"),
    "no column": (lambda j: X[:, :0], "0 feature"),
    "no row": (lambda j: X[:0], "0 sample"),
    "ragged": (lambda j: [[1.0], [1.0, 2.0]], "first has 1 and row 1, counted from 0, has 2"),
    "a mapping": (lambda j: {"a": 1}, "."),
    "a number": (lambda j: 3.0, "."),
    "nothing": (lambda j: None, "."),
    "a text": (lambda j: "table.csv", "."),
    "records": (lambda j: np.zeros(12, dtype=[("a", float), ("b", float)]), "."),
}
LABELS = {
    "too few": (lambda: Y[:-1], "got 11 labels for 12 rows"),
    "too many": (lambda: np.r_[Y, Y], "got 24 labels for 12 rows"),
    "broken numbers": (lambda: Y + 0.5, r"continuous.*got \S+ in y"),
    "infinity": (lambda: np.where(Y < 0, np.inf, Y), "y contains infinity"),
    "complex": (lambda: Y * 1j, "Complex"),
    "dates": (lambda: np.array(["2026-01-01"] * 12, dtype="M8[D]"), "y has dtype"),
    "mixed": (lambda: ["a", 1] * 6, "mixes labels"),
    "lists": (lambda: np.array([[1]] * 11 + [None], dtype=object), "Unknown label type"),
    "two columns": (lambda: np.c_[Y, Y], "1d array"),
    "sparse": (lambda: sparse.csr_array(Y[:, None]), "dense 1d array"),
    "a text longer than any name": (lambda: ["x" * 2000, "y"] * 6, "names of classes"),
    "2**53 + 1 beside a float": (lambda: [2**53 + 1, 1.0, *[None] * 10], "cannot be told from"),
    "a zero byte at the end": (lambda: ["a\0", "a"] * 6, "cannot be told from"),
    "a number": (lambda: 3, "."),
    "a text": (lambda: "abcdefghijkl", "."),
    "a mapping": (lambda: {"a": 1}, "."),
}
USES_LABELS = [
    name for name in MODELS if name in CLASSIFIERS or METHODS[name].cls.labels_needed != "none"
]


def check_message(found, words):
    assert found.refused is not None
    assert re.search(words, found.refused), found.refused


@pytest.mark.parametrize(
    "name", daily_are(REPRESENTATIVES, [name for name in MODELS if name != "labelled-only"])
)
def test_tables(name):
    for case in some(sorted(TABLES), name, 2):
        make, words = TABLES[case]
        column = len(name) % 4
        check_message(answer(name, make(column), Y), words.format(column=column))


@pytest.mark.parametrize("name", daily_are(REPRESENTATIVES, USES_LABELS))
def test_labels(name):
    for case in some(sorted(LABELS), name, 2):
        make, words = LABELS[case]
        check_message(answer(name, X, make()), words)


@pytest.mark.parametrize("case", sorted(TABLES))
def test_each_table_once(case):
    make, words = TABLES[case]
    for name in ("co-training", "fisher"):
        check_message(answer(name, make(1), Y), words.format(column=1))


@pytest.mark.parametrize("case", sorted(LABELS))
def test_each_kind_of_labels_once(case):
    make, words = LABELS[case]
    for name in ("co-training", "fisher", "labelled-only"):
        check_message(answer(name, X, make()), words)


@pytest.mark.parametrize("name", daily_are(REPRESENTATIVES, [*USES_LABELS, "mixed-nb", "nnge"]))
def test_a_refused_fit_changes_nothing(name):
    model = {"mixed-nb": MixedNB(), "nnge": NNge()}.get(name) or make(name)
    labels = Y if name in USES_LABELS else np.maximum(Y, 0)
    with warnings.catch_warnings(action="ignore"):
        with pytest.raises(ValueError, match="continuous"):
            model.fit(frame(0, 1.0), labels + 0.5)
        assert vars(model).keys() == vars(clone(model)).keys()
        model.fit(X, labels)
        before = vars(model).copy()
        for wrong in (X[:, :2], frame(0, 1.0)):
            with pytest.raises(ValueError, match="continuous"):
                model.fit(wrong, labels + 0.5)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is before[key] for key in before)


def test_a_fit_that_is_stopped_before_its_ranking_changes_nothing(monkeypatch):
    ranker = FisherScore(n_features_to_select=1).fit(frame(0, X[:, 0]), Y)

    def stopped(self, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(FisherScore, "_score", stopped)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X[:, ::-1], Y)
    assert ranker.feature_names_in_.tolist() == list("abcd")
    assert ranker.assess(frame(0, X[:, 0]), Y, n_resamples=0, n_permutations=0)


def test_what_is_below_a_mask_is_not_selected():
    ranker = FisherScore(n_features_to_select=1).fit(X, Y)
    masked = np.ma.masked_equal(X, X[3, 2])
    with pytest.raises(ValueError, match="X must not have masked values: 1 found"):
        ranker.transform(masked)
    with pytest.raises(ValueError, match="X must not have masked values: 1 found"):
        ranker.inverse_transform(masked[:, [2]])


NO_NUMBERS = [
    np.full(X.shape, "q"),
    X.astype(str),
    X.astype("m8[s]"),
    frame(1, "tall"),
    frame(1, pd.Categorical(["tall", "small"] * 6)),
    changed(1, 10**400, object),
    changed(1, np.inf),
    changed(1, np.nan),
]


@pytest.mark.parametrize("table", NO_NUMBERS)
def test_naive_bayes_refuses_what_nnge_refuses(table):
    labels, messages = np.arange(12) % 2, []
    for model in (NNge(), MixedNB()):
        with pytest.raises(ValueError, match=r"number|NaN|infinity") as of_fit:
            model.fit(table, labels)
        with pytest.raises(ValueError, match=r"number|NaN|infinity") as of_predict:
            model.fit(X, labels).predict(np.asarray(table))
        check_refusal(of_fit.value)
        messages.append((str(of_fit.value), str(of_predict.value)))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("model", [LabelledOnly(MixedNB()), MixedNB(), NNge()])
def test_what_is_below_a_mask_is_not_learnt_from(model):
    labels, masked = np.arange(12) % 2, np.ma.masked_equal(X, X[3, 2])
    with pytest.raises(ValueError, match="X must not have masked values: 1 found"):
        model.fit(masked, labels)
    with pytest.raises(ValueError, match="X must not have masked values: 1 found"):
        model.fit(X, labels).predict(masked)
