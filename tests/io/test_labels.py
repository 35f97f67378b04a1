"""Labels of tables: one rule for all ways in, and one look at each distinct label."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import semisift
from semisift import FisherScore, UnlabelledTextWarning, read_table
from semisift.io._labels import hide_labels
from semisift.utils import _labels
from semisift.utils._labels import parse_labels

N_ROWS = 600
CODES = np.arange(N_ROWS) % 3


@pytest.fixture
def counted(monkeypatch):
    """Count the labels that are looked at."""
    seen = []
    is_unlabelled = _labels.is_unlabelled

    def count(value, *args):
        seen.append(value)
        return is_unlabelled(value, *args)

    monkeypatch.setattr(_labels, "is_unlabelled", count)
    return seen


@pytest.mark.parametrize(
    ("make", "n_seen"),
    [
        (lambda: np.array(["a", "b", None], dtype=object)[CODES], 3),
        (lambda: [("a", 1.0, None)[0] if code else None for code in CODES], 2),
        (lambda: pd.Categorical.from_codes(CODES - 1, ["a", "b", "c"]), 3),
        (lambda: pd.Series(pd.Categorical.from_codes(CODES - 1, ["a", "b", "c"])), 3),
        (lambda: pl.Series(["a", "b", None] * (N_ROWS // 3)), 3),
    ],
    ids=["objects", "list", "categorical", "series", "polars"],
)
def test_each_distinct_label_is_looked_at_once(make, n_seen, counted):
    labels = parse_labels(make(), N_ROWS)
    assert len(counted) == n_seen
    assert len(labels.unlabelled) == N_ROWS // 3


def test_categories_that_no_row_has_are_no_classes():
    y = pd.Categorical(["b", None, "b"], categories=["a", 1, "b"])
    labels = parse_labels(y, 3)
    assert labels.classes.tolist() == ["b"]
    assert labels.codes.tolist() == [0, -1, 0]


@pytest.mark.parametrize("value", [[1], {}, np.zeros(2)])
def test_a_label_that_cannot_be_hashed_is_refused(value):
    y = np.array([None, "a", None], dtype=object)
    y[2] = value
    with pytest.raises(ValueError, match="Unknown label type"):
        parse_labels(y, 3)


def test_minus_one_as_text_is_unlabelled_on_all_ways(tmp_path):
    anndata = pytest.importorskip("anndata")
    y, X = ["-1", "1", "2"] * 8, np.random.default_rng(0).normal(size=(24, 3)).round(3)
    with pytest.warns(UnlabelledTextWarning, match="'-1'"):
        classes = FisherScore().fit(X, y).classes_.tolist()
    lines = [",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,kind", *lines]))
    data = read_table(tmp_path / "t.csv", label="kind")
    adata = anndata.AnnData(X)
    adata.obs["kind"] = y
    with pytest.warns(UnlabelledTextWarning, match="'-1'"):
        semisift.tl.rank_markers(adata, "kind", method="fisher", normalize=False)
    given = adata.obs["semisift_given"]
    assert classes == given.cat.categories.tolist() == ["1", "2"]
    assert {str(label) for label in data.y if label is not None} == {"1", "2"}
    assert given.isna().tolist() == [label is None for label in data.y] == [True, False, False] * 8


def test_hidden_labels_are_drawn_by_class_as_text():
    y = np.array([10, 9, None, 10, 9, 9], dtype=object)
    notes = []
    shown, hidden = hide_labels(y, 1, 0, "t.csv", notes)
    rng = np.random.default_rng(0)
    kept = {int(rng.choice([0, 3], 1, replace=False)[0]), int(rng.choice([1, 4, 5], 1, False)[0])}
    assert {row for row, label in enumerate(shown) if label is not None} == kept
    assert notes == [
        "For this trial 2 labels were kept, up to 1 a class, and 3 were hidden (seed 0)."
    ]
    assert all(
        (a is None) != (b is None) for a, b in zip(shown[[0, 1, 3]], hidden[[0, 1, 3]], strict=True)
    )
