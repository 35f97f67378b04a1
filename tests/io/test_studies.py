"""Columns that say something of the rows, and missing values that stay."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from semisift import read_table
from semisift.exceptions import TableError
from semisift.io._dataset import describe_confounding
from semisift.out_of_core import _matrix
from tests.nightly import few_daily

TABLE = {
    "x": [1.5, None, 2.5, 3.5],
    "colour": ["red", "blue", None, "red"],
    "label": ["a", "b", None, "a"],
    "donor": ["d1", "d1", "d2", "d2"],
    "w": [1.0, 0.5, 0.0, 2.0],
}
GIVEN = {"label": "label", "group": "donor", "batch": "donor", "weight": "w"}


def write(frame, path):
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        numbers = frame.select("x").to_numpy().astype(float)
        beside = {name: frame[name].to_numpy() for name in ("donor", "w")}
        beside = {name: values.astype("U" if name == "donor" else float)
                  for name, values in beside.items()}  # fmt: skip
        np.savez(path, X=numbers, y=np.array([0, 1, -1, 0]), feature_names=["x"], **beside)
    return path


@pytest.mark.parametrize("form", few_daily(["csv", "parquet", "npz"], 2))
def test_what_is_said_of_rows(form, tmp_path):
    path = write(pl.DataFrame(TABLE).drop("colour"), tmp_path / f"t.{form}")
    given = dict(GIVEN, label="y" if form == "npz" else "label")
    data = read_table(path, **given, missing="keep")
    assert data.feature_names == ["x"]
    assert data.groups.tolist() == data.batch.tolist() == TABLE["donor"]
    assert data.weight.tolist() == TABLE["w"]
    np.testing.assert_array_equal(data.X[:, 0], [1.5, np.nan, 2.5, 3.5])
    assert "1 missing value in 1 column, kept as missing values." in data.notes
    short = read_table(path, **given, missing="drop-rows")
    assert short.weight.tolist() == [1.0, 0.0, 2.0]
    assert short.groups.tolist() == ["d1", "d2", "d2"]
    nothing = read_table(path, label=given["label"], drop=["donor", "w"] if form != "npz" else (),
                         missing="keep")  # fmt: skip
    assert nothing.groups is nothing.batch is nothing.weight is None
    assert nothing.of_rows == {}


def test_a_gap_of_a_category_is_one_in_all_its_columns(tmp_path):
    path = write(pl.DataFrame(TABLE), tmp_path / "t.csv")
    data = read_table(path, **GIVEN, missing="keep", categorical="onehot", log=True)
    assert data.feature_names == ["x", "colour=blue", "colour=red"]
    colours = [[0, 1], [1, 0], [np.nan, np.nan], [0, 1]]
    np.testing.assert_array_equal(data.X[:, 1:], colours)
    np.testing.assert_allclose(data.X[:, 0], np.log1p([1.5, np.nan, 2.5, 3.5]))
    ordinal = read_table(path, **GIVEN, missing="keep", categorical="ordinal")
    np.testing.assert_array_equal(ordinal.X[:, 1], [1, 0, np.nan, 1])


def test_columns_without_any_value(tmp_path):
    frame = pl.DataFrame({"x": [1.0, 2, 3], "empty": [None] * 3, "code": ["", "", ""],
                          "label": ["a", "b", ""]})  # fmt: skip
    path = tmp_path / "t.csv"
    frame.write_csv(path)
    given = {"label": "label", "missing": "keep", "category": "code", "categorical": "onehot"}
    data = read_table(path, **given)
    assert data.feature_names == ["x"]
    assert any("left out: 'empty', 'code'" in note for note in data.notes)
    for missing in ("keep", "median"):
        with pytest.raises(TableError, match=f"missing='{missing}' leaves no column: none holds"):
            read_table(path, label="label", drop=["x", "code"], missing=missing)


def test_logarithms_of_what_is_below_zero_beside_a_gap(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,label\n,a\n-1,b\n2,\n")
    with pytest.raises(TableError, match=r"line 3.*values of 0 or more, and this one is -1"):
        read_table(path, label="label", missing="keep", log=True)


def test_sparse_tables_keep_no_missing_values(tmp_path):
    X = csr_array([[np.nan, 0, 1], [0, 2, 0]])
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(tmp_path / "t.npz", y=[0, 1], **parts)
    with pytest.raises(TableError, match=r"missing='keep' is for dense tables.*missing='median'"):
        read_table(tmp_path / "t.npz", missing="keep")


@pytest.mark.parametrize(
    ("column", "cells", "message"),
    few_daily(
        [
            ("donor", ["d", None, "NA", "e"], r"line 3: no {} is given .*2 of 4 rows have none"),
            ("donor", ["d", "", "", ""], r"3 of 4 rows have none \(also line 4 and line 5\)"),
            ("w", ["1", "", "2", "3"], r"line 3: no weight is given"),
            ("w", ["1", "-1", "2", "3"], r"line 3: the weight \(weight='w'\) must .* is '-1'"),
            ("w", ["1", "2", "much", "3"], r"line 4: the weight .*this one is 'much'"),
            ("w", ["1", "2", "inf", "3"], r"line 4: the weight .*this one is 'inf'"),
        ],
        4,
    ),
)
def test_rows_of_which_nothing_is_said(column, cells, message, tmp_path):
    frame = pl.DataFrame(TABLE).with_columns(pl.Series(column, cells))
    path = write(frame, tmp_path / "t.csv")
    options = ["weight"] if column == "w" else ["group", "batch"]
    for option in options:
        with pytest.raises(TableError, match=message.format(option)):
            read_table(path, label="label", missing="keep", **{option: column})


def test_columns_of_the_file_of_labels(tmp_path):
    (tmp_path / "t.tsv").write_text("gene\ts1\ts2\ts3\ng1\t1\t2\t3\ng2\t4\t5\t7\n")
    sheet = "sample,diagnosis,donor,w\ns2,b,d1,2\ns1,a,d1,1\ns3,,d2,0.5\n"
    (tmp_path / "s.csv").write_text(sheet)
    given = {"transpose": True, "labels": tmp_path / "s.csv", "label": "diagnosis"}
    known = {"group": "donor", "batch": "donor", "weight": "w"}
    data = read_table(tmp_path / "t.tsv", **given, **known)
    assert data.feature_names == ["g1", "g2"]
    assert data.y.tolist() == ["a", "b", None]
    assert data.groups.tolist() == data.batch.tolist() == ["d1", "d1", "d2"]
    assert data.weight.tolist() == [1, 2, 0.5]
    (tmp_path / "s.csv").write_text(sheet + "s3,,d1,0.5\n")
    with pytest.raises(TableError, match=r"line 5: 's3' has the group 'd1', and 'd2' further up"):
        read_table(tmp_path / "t.tsv", **given, **known)
    (tmp_path / "s.csv").write_text(sheet.replace("s3,", "s4,"))
    with pytest.raises(TableError, match="sample 's3': no group is given"):
        read_table(tmp_path / "t.tsv", **given, **known)


@pytest.mark.parametrize(
    ("labels", "batches", "alone"),
    few_daily(
        [
            ("ab-ab", "11122", None),
            ("abc", "112", "'c' are all"),
            ("aabb", "1122", "'a', 'b' are each all"),
            ("aab", "121", None),
            ("aa-", "121", None),
        ],
        3,
    ),
)
def test_classes_in_batches_of_their_own(labels, batches, alone):
    y = np.array([None if label == "-" else label for label in labels], dtype=object)
    notes = describe_confounding(y, np.array([*batches], dtype=object))
    assert len(notes) == (alone is not None)
    assert all(f"The labelled rows of {alone} in batches" in sentence for sentence in notes)


def test_stored_rows_take_groups_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(_matrix, "BLOCK_VALUES", 1 << 10)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(2000, 30)), schema=[f"x{j}" for j in range(30)])
    number = np.arange(2000)
    frame = frame.with_columns(
        pl.Series("label", ["ab"[i % 2] if i < 20 else None for i in number]),
        pl.Series("donor", [f"d{i}" for i in number // 10]),
        pl.Series("w", 1.0 + number % 2),
    )
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=50)
    given = {"label": "label", "max_memory": "1MB"}
    data = read_table(tmp_path / "t.parquet", **given, group="donor", drop="w")
    assert data.table.is_stored
    assert len(set(data.groups)) == 200
    for option, column in (("batch", "donor"), ("weight", "w")):
        with pytest.raises(TableError, match=rf"{option}='{column}' needs all values at once"):
            read_table(tmp_path / "t.parquet", **given, **{option: column}, drop=["donor", "w"])
