"""From a table to numbers and labels: labels, missing values, categories, and what is refused."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from semisift import FisherScore
from semisift.exceptions import TableError
from semisift.io import Reading, TableOptions, prepare, read_table
from semisift.io._table import FileTable, from_matrix
from tests.nightly import few_daily


@pytest.fixture
def save(tmp_path):
    def to_file(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return to_file


def column(values, *, header="x,label", fill="1"):
    return header + "\n" + "".join(f"{fill},{value}\n" for value in values)


def matrix(tmp_path, X, **arguments):
    return from_matrix(tmp_path / "data.npz", "npz", X, TableOptions(), **arguments)


# --- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "expected"),
    few_daily(
        [
            (["A", "B", "", "NA", "?"], ["A", "B", None, None, None]),
            ([" A", "A ", "B", "nan"], ["A", "A", "B", None]),
            (["1", "2.0", "+2", ""], [1, 2, 2, None]),
            (["-1", "0", "1", "1"], [None, 0, 1, 1]),
            (["None", "drug", "sham", ""], [None, "drug", "sham", None]),
            (["<NA>", "A", "B", "NaT"], [None, "A", "B", None]),
            (["-1.0", "A", "A", "B"], [None, "A", "A", "B"]),
            ([2**53, 2**53 + 1, "1.0", "1"], [2**53, 2**53 + 1, 1, 1]),
            ([2**63, 2**63 + 1, "-5", "-5"], [str(2**63), str(2**63 + 1), "-5", "-5"]),
        ],
        6,
    ),
)
def test_cells_become_labels(save, cells, expected):
    assert read_table(save(column(cells)), label="label").y.tolist() == expected


def test_minus_one_and_plus_one_must_be_explained(save):
    path = save(column(["-1", "1", "1", "-1", ""]))
    with pytest.raises(TableError, match=r"-1 can mean.*unlabelled='-1' .*unlabelled='NA'"):
        read_table(path, label="label")
    assert read_table(path, label="label", unlabelled=[-1]).y.tolist() == [None, 1, 1, None, None]
    both = read_table(path, label="label", unlabelled=["NA"])
    assert both.y.tolist() == ["-1", "1", "1", "-1", None]


def test_none_beside_one_class_must_be_explained(save):
    path = save(column(["None", "drug", "drug", ""]))
    with pytest.raises(TableError, match=r"None can mean.*unlabelled='None' .*unlabelled='NA'"):
        read_table(path, label="label")
    both = read_table(path, label="label", unlabelled="NA")
    assert both.y.tolist() == ["None", "drug", "drug", None]
    assert any("The label None counts as a class" in note for note in both.notes)


def test_text_that_was_read_as_unlabelled_is_told(save):
    data = read_table(save(column(["None", "drug", "sham", "-1"])), label="label")
    assert "Rows with the label -1 and None were read as unlabelled." in data.notes


@pytest.mark.parametrize("word", few_daily(["-1", "None", "<NA>"], 1))
def test_what_is_a_class_in_a_table_is_one_in_a_fit(save, word):
    data = read_table(save(column([word, "x", "x", word, ""])), label="label", unlabelled="NA")
    assert FisherScore().fit(data.X, data.y).classes_.tolist() == sorted([word, "x"])


def test_values_that_mean_unlabelled(save):
    path = save(column(["A", "B", "unknown", ""]))
    assert read_table(path, label=2, unlabelled=["unknown"]).y.tolist() == ["A", "B", None, None]
    with pytest.raises(TableError, match=r"unlabelled='Unknown': no row.*'A', 'B', 'unknown'"):
        read_table(path, label=2, unlabelled=["Unknown"])


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        (["1.5", "2", "2"], "1.5: this looks like a measurement"),
        (["a", "b", "c", "d"], "a label of its own .* looks like an identifier"),
        ([f"{2**53}.5", "1", "1"], f"{2**53}.5: this looks like a measurement"),
        (["a", "a", "x" * 60_000], "line 4: the label 'xxx.* has 60,000 characters, and .* 1,000"),
    ],
)
def test_columns_that_are_no_labels(save, cells, match):
    with pytest.raises(TableError, match=match):
        read_table(save(column(cells)), label="label")


@pytest.mark.parametrize("options", few_daily([{}, {"label": "label"}], 1))
def test_columns_that_are_no_labels_in_a_file_of_their_own(save, options):
    path = save("id,x\na,1\nb,2\nc,3\n")
    labels = save(f"id,label\na,A\nb,A\nc,{'x' * 60_000}\n", "labels.csv")
    with pytest.raises(TableError, match=r"line 4: the label 'xxx.* has 60,000 characters"):
        read_table(path, id="id", labels=labels, **options)


def test_lookalikes_are_told(save):
    with pytest.warns(UserWarning, match="'Tumor' and 'tumor' differ in capital letters"):
        read_table(save(column(["Tumor", "tumor", "x", "x"])), label="label")
    with pytest.warns(UserWarning, match=r"'1' and '1\.0' are the same number"):
        read_table(save(column(["1", "1.0", "x", "x", "inf", "2", "3.0", "nan"])), label="label")


def test_hidden_labels(save):
    path = save(column(["A"] * 6 + ["B"] * 2 + [""]))
    data = read_table(path, label="label", labels_per_class=3, seed=1)
    assert data.y.tolist().count("A") == 3
    assert data.y.tolist().count("B") == 2
    together = [a or b for a, b in zip(data.y, data.hidden, strict=True)]
    assert together == ["A"] * 6 + ["B"] * 2 + [None]
    assert not any(a and b for a, b in zip(data.y, data.hidden, strict=True))
    assert data.y.tolist() == read_table(path, label=2, labels_per_class=3, seed=1).y.tolist()
    assert "5 labels were kept" in data.notes[0]
    with pytest.raises(TableError, match="no row has one"):
        read_table(save(column(["", ""])), label="label", labels_per_class=3)


def test_hiding_labels_keeps_distinct_ones_apart(tmp_path):
    long = "x" * 900
    table = pl.DataFrame({"x": [1, 2] * 50_000, "label": ["a", "a\0", "b", long] * 25_000})
    table.write_parquet(tmp_path / "table.parquet")
    data = read_table(tmp_path / "table.parquet", label="label", labels_per_class=1)
    shown = {label for label in data.y if label is not None}
    assert shown == {"a", "a\0", "b", long}


def test_labels_of_a_file_of_their_own(save):
    path = save("id,x\na,1\nb,2\nc,3\n")
    labels = save("sample,class\nc,C1\na,A1\nz,A1\n", "labels.csv")
    data = read_table(path, labels=labels, id="id")
    assert data.y.tolist() == ["A1", None, "C1"]
    assert data.feature_names == ["x"]
    assert data.row_names == ["a", "b", "c"]
    assert "1 of the 3 names in labels.csv are not rows" in data.notes[0]
    in_order = save("class\nA\n\nB\n", "order.csv")
    assert read_table(path, labels=in_order, id="id").y.tolist() == ["A", None, "B"]


@pytest.mark.parametrize(
    ("labels", "id_", "match"),
    [
        (
            "sample,class\nx,A\ny,B\n",
            "id",
            "none of its 2 names is a row .*'a', 'b', 'c'.*'x', 'y'",
        ),
        ("sample,class\na,A\na,B\n", "id", "line 3: 'a' has the label 'B', and 'A' further up"),
        ("sample,class\na,A\n", None, "has none. Say with id="),
        ("class\nA\nB\n", "id", "2 labels for the 3 rows"),
        ("sample,class,age\na,A,3\n", "id", "3 columns. Say with label="),
    ],
)
def test_labels_files_that_do_not_fit(save, labels, id_, match):
    path = save("id,x\na,1\nb,2\nc,3\n")
    with pytest.raises(TableError, match=match):
        read_table(path, labels=save(labels, "labels.csv"), id=id_)


def test_row_names_must_differ(save):
    with pytest.raises(TableError, match=r"line 4: the row is called 'a', as is line 2"):
        read_table(save("id,x\na,1\nb,2\na,3\n"), id="id")


# --- missing values -------------------------------------------------------------------------------

MISSING = "x,y,z\n1,5,\n,NA,\n3,7,\n5,9,\n"


def test_missing_values_are_refused_by_name(save):
    with pytest.raises(TableError) as caught:
        read_table(save(MISSING))
    message = str(caught.value)
    assert "in 3 of 3 columns: 'z' (4 of 4 rows), 'x' (1 of 4 rows), 'y' (1 of 4 rows)" in message
    assert "line 2, column 3 ('z')" in message
    for way in ("missing='median'", "missing='drop-columns'", "missing='drop-rows'"):
        assert way in message


def test_missing_values_are_settled_as_asked(save):
    filled = read_table(save(MISSING), missing="median")
    assert filled.X.tolist() == [[1, 5], [3, 7], [3, 7], [5, 9]]
    assert filled.variables == ["x", "y"]  # z has no value at all
    assert len(filled.notes) == 2
    rows = read_table(save("x,y,label\n1,2,A\n,3,B\n4,5,\n"), missing="drop-rows", label="label")
    assert rows.X.tolist() == [[1, 2], [4, 5]]
    assert rows.y.tolist() == ["A", None]
    columns = read_table(save("x,y\n1,2\n,3\n"), missing="drop-columns")
    assert columns.variables == ["y"]
    for way, text in [("drop-rows", "x,y\n,1\n2,\n"), ("drop-columns", "x,y\n,1\n2,\n")]:
        with pytest.raises(TableError, match="leaves no"):
            read_table(save(text), missing=way)


def test_what_means_missing(save):
    path = save("x,y\n1,-999\n2,4\nN/A,NaN\n4,6\n")
    data = read_table(path, missing="median", na=["-999"])
    assert data.X.tolist() == [[1, 5], [2, 4], [2, 5], [4, 6]]


@pytest.mark.parametrize("make", [np.array, csr_array])
def test_missing_values_of_matrices(tmp_path, make):
    X = np.array([[1.0, 0.0], [np.nan, 2.0], [3.0, 0.0]])
    table = matrix(tmp_path, make(X))
    with pytest.raises(TableError, match=r"'feature_1' \(1 of 3 rows\).*row 2, column 1"):
        prepare(table)
    filled = prepare(table, Reading(missing="median")).X
    dense = filled.toarray() if hasattr(filled, "toarray") else filled
    assert dense.tolist() == [[1, 0], [2, 2], [3, 0]]
    assert prepare(table, Reading(missing="drop-rows")).X.shape == (2, 2)
    assert np.isnan(X).sum() == 1  # the caller's own


# --- numbers and categories -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x,y\n1,2\n2,<3\n3,4\n", r"line 3, column 2 \('y'\): '<3' is not a number.*na='<3'"),
        ("x;y\n1;2,5\n2;3,5\n", r"line 2, column 2 \('y'\): '2,5' .*decimal_comma=True"),
        ("x,y\n1,2\n2,inf\n", r"line 3, column 2 \('y'\): the value is infinite"),
        ("x,n\n1,ann\n2,bob\n3,cyd\n", r"column 2 \('n'\) looks like an identifier: 3 different"),
    ],
)
def test_cells_that_are_no_numbers(save, text, match):
    with pytest.raises(TableError, match=match):
        read_table(save(text))


def test_decimal_commas(save):
    data = read_table(save("x;y\n1,5;2\n-2,5;3e-1\n"), decimal_comma=True)
    assert data.X.tolist() == [[1.5, 2], [-2.5, 0.3]]


def test_dates_are_refused(tmp_path):
    frame = pl.DataFrame(
        {"day": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 3), eager=True)}
    )
    with pytest.raises(TableError, match=r"column 1 \('day'\) holds dates or times"):
        prepare(FileTable(tmp_path / "t.parquet", "parquet", frame, ["day"]))


COLOURS = "x,colour\n1,red\n2,blue\n3,red\n4,red\n"


def test_categories_are_refused_by_name(save):
    with pytest.raises(TableError, match=r"in 1 of 2 columns: 'colour' \(blue, red\).*onehot"):
        read_table(save(COLOURS))


def test_categories_are_spread_or_numbered(save):
    spread = read_table(save(COLOURS), categorical="onehot")
    assert spread.feature_names == ["x", "colour=blue", "colour=red"]
    assert spread.variables == ["x", "colour"]
    assert spread.variable_of.tolist() == [0, 1, 1]
    assert spread.X.tolist() == [[1, 0, 1], [2, 1, 0], [3, 0, 1], [4, 0, 1]]
    numbered = read_table(save(COLOURS), categorical="ordinal")
    assert numbered.X.tolist() == [[1, 1], [2, 0], [3, 1], [4, 1]]
    assert not numbered.is_spread


def test_missing_categories_are_filled_by_the_most_frequent(save):
    text = COLOURS + "9,\n"
    data = read_table(save(text), categorical="ordinal", missing="median")
    assert data.X[:, 1].tolist() == [1, 0, 1, 1, 1]


def test_declared_categories_of_a_matrix(tmp_path):
    X = np.array([[3.0, 1.5], [7.0, 2.5], [3.0, 3.5]])
    table = matrix(tmp_path, X, names=["code", "size"], categorical=np.array([True, False]))
    with pytest.raises(TableError, match=r"'code' \(3, 7\)"):
        prepare(table)
    data = prepare(table, Reading(categorical="onehot"))
    assert data.feature_names == ["code=3", "code=7", "size"]
    assert X.tolist() == [[3, 1.5], [7, 2.5], [3, 3.5]]


def test_the_table_is_reduced_to_what_was_chosen(save):
    text = "id,x,colour,label,y\na,1,red,A,2\nb,3,blue,B,4\nc,5,red,,6\n"
    data = read_table(save(text), id="id", label="label", categorical="onehot")
    reduced = data.reduced(["y", "colour"])
    assert reduced.names == ["id", "colour", "label", "y"]
    assert reduced.values.row(1) == ("b", "blue", "B", "4")


def test_nothing_left_to_rank(save):
    with pytest.raises(TableError, match="no column is left to rank"):
        read_table(save("id,label\na,A\nb,B\n"), id="id", label="label")


def test_the_label_column_of_a_matrix_is_no_feature(tmp_path):
    table = matrix(tmp_path, np.array([[1.0, 5.0], [2.0, 6.0], [2.0, 7.0]]))
    data = prepare(table, Reading(label="1"))
    assert data.feature_names == ["feature_2"]
    assert data.y.tolist() == [1, 2, 2]


# --- logarithms -----------------------------------------------------------------------------------


def test_logarithms_of_numbers_alone(save):
    text = "x,colour,y,label\n0,red,1,A\n1,blue,3,B\n3,red,7,\n"
    data = read_table(save(text), label="label", categorical="onehot", log=True)
    assert data.feature_names == ["x", "colour=blue", "colour=red", "y"]
    assert data.X[:, [0, 3]] == pytest.approx(np.log([[1, 2], [2, 4], [4, 8]]))
    assert data.X[:, 1].tolist() == [0, 1, 0]
    assert data.notes[0] == "log(1 + x) was taken of 2 columns."
    assert data.table.values["x"].to_list() == ["0", "1", "3"]
    assert read_table(save(text), label="label", categorical="onehot").X[2, 0] == 3


def test_logarithms_of_sparse_and_whole_numbers(tmp_path):
    X = np.array([[0, 3, 1], [7, 0, 0]])
    for given in (csr_array(X), X, X.astype(np.uint8)):
        data = prepare(matrix(tmp_path, given), Reading(log=True))
        found = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
        assert np.asarray(found) == pytest.approx(np.log1p(X))
    assert X.tolist() == [[0, 3, 1], [7, 0, 0]]


def test_logarithms_name_the_column_of_a_value_below_0(save, tmp_path):
    text = "a,b,c\n1,2,3\n,1,1\n4,-5,-6\n"
    expected = (
        r"line 4, column 2 \('b'\): log=True takes values of 0 or more, and this "
        r"one is -5. 2 columns have values below 0: leave such out with drop=..., or do "
        r"without log=True"
    )
    with pytest.raises(TableError, match=expected):
        read_table(save(text), missing="drop-rows", log=True)
    with pytest.raises(TableError, match=r"row 2, column 1 .*1 column has .* leave such out"):
        prepare(matrix(tmp_path, csr_array([[0.0, 1.0], [-0.5, 0.0]])), Reading(log=True))
    with pytest.raises(TableError, match="log=True needs columns of numbers, and there are none"):
        read_table(save("a\nred\nblue\nred\n"), categorical="onehot", log=True)
