"""Tables as people have them: exported from Excel, R and pandas, with what comes along."""

import numpy as np
import polars as pl
import pytest

from semisift.exceptions import TableError
from semisift.io import Reading, prepare, read, read_table
from semisift.io._table import FileTable
from tests.nightly import few_daily

LABELS = ["A", "B", "A", "B", "", ""]


@pytest.fixture
def save(tmp_path):
    def to_file(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return to_file


def refused(match, *arguments, **options):
    with pytest.raises(TableError, match=match):
        read_table(*arguments, **options)


# --- names and separators -------------------------------------------------------------------------


def test_a_file_without_names_is_refused_though_its_label_is_a_word(save):
    rows = "5.1,3.5,A\n4.9,3.0,B\n6.1,2.2,A\n5.0,3.1,B\n"
    refused("holds numbers.*header=False", save(rows), label=-1)
    data = read_table(save(rows), label=-1, header=False)
    assert data.X.shape == (4, 2)
    assert data.y.tolist() == ["A", "B", "A", "B"]


def test_names_in_a_remark_are_pointed_at(save):
    refused("Line 1, a remark, looks like the names", save("# a,b,label\n1,2,A\n3,4,B\n"))


def test_a_separator_at_the_end_of_lines_shifts_nothing(save):
    for header in ("g1,g2,label", "g1,g2,label,"):
        data = read_table(save(f"{header}\n1,2,A,\n3,4,B,\n5,6,A,\n7,8,B,\n"), label="label")
        assert data.feature_names == ["g1", "g2"]
        assert data.X[:, 0].tolist() == [1, 3, 5, 7]
        assert "1 empty column" in data.notes[0]


def test_empty_rows_of_a_spreadsheet_are_left_out(save):
    data = read_table(save("g1,label\n1,A\n2,B\n3,A\n4,B\n,\n,\n"), label="label")
    assert data.X.shape == (4, 1)
    assert data.notes == ["2 empty rows at the end, left out."]


def test_the_separator_that_excel_names(save):
    table = read(save("sep=;\na;b,c\n1;2\n3;4\n"))
    assert table.names == ["a", "b,c"]
    assert table.first_line == 3


@pytest.mark.parametrize(
    ("text", "name", "names"),
    few_daily(
        [
            ("a\tb, in cm\n1\t2\n", "t.txt", ["a", "b, in cm"]),
            ("a\tb, in cm\n1\t2\n", "t.tab", ["a", "b, in cm"]),
            ("a;b, in cm\n1;2\n", "t.csv", ["a", "b, in cm"]),
            ("a,b;c\n1,2\n", "t.csv", ["a", "b;c"]),
        ],
        2,
    ),
)
def test_the_separator_is_what_divides_the_data(save, text, name, names):
    assert read(save(text, name)).names == names


def test_a_title_above_the_names(save):
    refused("If the first line is a title, remove it", save("My study\na,b,c\n1,2,3\n"))


# --- labels ---------------------------------------------------------------------------------------

PATIENTS = "patient,g1\n" + "".join(f"{i},{i % 3}.5\n" for i in range(1, 7))


def test_labels_with_an_index_of_pandas_are_joined_by_the_named_column(save):
    rows = "".join(f"{i},{i + 1},{label}\n" for i, label in enumerate(LABELS))
    labels = save(",patient,label\n" + rows, "labels.csv")
    data = read_table(save(PATIENTS), id="patient", labels=labels)
    assert data.y.tolist() == ["A", "B", "A", "B", None, None]


def test_two_columns_that_could_be_names_are_not_guessed_between(save):
    rows = "".join(f"{i},{7 - i},{label}\n" for i, label in enumerate(LABELS, start=1))
    labels = save("old,new,label\n" + rows, "labels.csv")
    refused("could both hold", save(PATIENTS), id="patient", labels=labels, label="label")


def test_a_labels_file_without_names(save):
    labels = save("1,A\n2,B\n3,A\n", "labels.csv")
    refused("'1' is a row", save(PATIENTS), id="patient", labels=labels)


def test_labels_in_order_may_end_in_unlabelled_rows(save):
    labels = save("label\n" + "\n".join(LABELS) + "\n", "labels.csv")
    data = read_table(save(PATIENTS), id="patient", labels=labels)
    assert data.y.tolist() == ["A", "B", "A", "B", None, None]


def test_labels_of_the_table_itself_are_no_feature(save):
    table = save("id,g1,label\n" + "".join(f"s{i},{i % 3},{i % 2}\n" for i in range(6)))
    labels = save("id,label\n" + "".join(f"s{i},{i % 2}\n" for i in range(6)), "labels.csv")
    data = read_table(table, id="id", labels=labels)
    assert data.feature_names == ["g1"]
    assert "'label' of the table was left out" in data.notes[0]


def test_samples_without_a_label_are_named(save):
    genes = save("gene,length,s1,s2,s3\na,9,1,2,3\nb,8,4,5,6\n")
    labels = save("sample,label\ns1,A\ns2,B\n", "labels.csv")
    data = read_table(genes, transpose=True, labels=labels)
    assert "2 rows without an entry in labels.csv, unlabelled: 'length', 's3'" in data.notes[0]


@pytest.mark.parametrize("mark", few_daily(["N/A", "#N/A", "NULL", "NaN"], 1))
def test_marks_of_missing_values_are_no_class(save, mark):
    data = read_table(save(f"g,label\n1,A\n2,B\n3,{mark}\n4,A\n"), label="label")
    assert data.y.tolist() == ["A", "B", None, "A"]


def test_minus_one_among_words(save):
    path = save("g,label\n1,A\n2,B\n3,-1\n4,A\n7,B\n")
    data = read_table(path, label="label")
    assert data.y.tolist() == ["A", "B", None, "A", "B"]
    assert "Rows with the label -1 were read as unlabelled." in data.notes
    refused("-1 can mean", save("g,label\n1,A\n2,A\n3,-1\n", "one.csv"), label="label")
    assert read_table(path, label="label", unlabelled=-1).y.tolist() == ["A", "B", None, "A", "B"]


def test_leading_zeros_make_words(save):
    with pytest.warns(UserWarning, match="'01' and '1' are the same number, and count as two"):
        data = read_table(save("g,label\n1,01\n2,1\n3,01\n4,1\n"), label="label")
    assert data.y.tolist() == ["01", "1", "01", "1"]


def test_infinite_labels(tmp_path):
    frame = pl.DataFrame({"g": [1.0, 2.0, 4.0], "label": [1.0, np.inf, 1.0]})
    table = FileTable(tmp_path / "t.parquet", "parquet", frame, frame.columns, label="label")
    assert prepare(table).y.tolist() == ["1", "inf", "1"]


def test_labels_are_hidden_among_the_rows_that_are_used(save):
    rows = "".join(f"{'' if i < 6 else i % 4},{'AB'[i % 2]}\n" for i in range(12))
    data = read_table(
        save("g,label\n" + rows), label="label", missing="drop-rows", labels_per_class=2
    )
    assert sorted(label for label in data.y if label) == ["A", "A", "B", "B"]
    assert data.rows.tolist() == list(range(6, 12))


# --- numbers --------------------------------------------------------------------------------------


def test_columns_that_count_the_rows_are_told(save):
    text = "Unnamed: 0,g,label\n" + "".join(f"{i},{i % 3},{'AB'[i % 2]}\n" for i in range(6))
    with pytest.warns(UserWarning, match="'Unnamed: 0' counts the rows"):
        read_table(save(text), label="label")


@pytest.mark.parametrize("cell", few_daily(["-999", "-999.0", " -999 "], 1))
def test_numbers_that_mean_missing(save, cell, tmp_path):
    data = read_table(save(f"g,h\n1,2\n{cell},3\n5,4\n"), na="-999", missing="median")
    assert data.X[:, 0].tolist() == [1, 3, 5]
    frame = pl.DataFrame({"g": [1, -999, 5]})
    table = FileTable(tmp_path / "t.parquet", "parquet", frame, ["g"])
    typed = prepare(table, Reading(missing="median", na=("-999",)))
    assert typed.X.ravel().tolist() == [1, 3, 5]


def test_a_mark_that_stands_nowhere(save):
    refused("na='-99': no cell", save("g,h\n1,2\n3,4\n"), na=["-99"])


@pytest.mark.parametrize("cell", few_daily(["inf", "Inf", "-Infinity"], 1))
def test_infinite_values_can_be_marked_as_missing(save, cell):
    path = save(f"g,h\n1,2\n{cell},3\n5,4\n")
    refused("infinite.*na='inf'", path)
    assert read_table(path, na="inf", missing="median").X[:, 0].tolist() == [1, 3, 5]


@pytest.mark.parametrize(
    ("cells", "options", "match"),
    [
        (['"1,234"', "999", "12"], {}, "Remove thousand separators"),
        (["1.234", "999", "12"], {"decimal_comma": True}, "remove thousand separators"),
        (["12%", "7%", "8%"], {}, "Remove the signs of per cent"),
        (["$12", "$7", "$8"], {}, "Remove the signs of per cent, currencies"),
        (["1", "2", "X", "3"], {}, "category='g'"),
    ],
)
def test_numbers_with_something_added(save, cells, options, match):
    path = save("g;h\n" + "".join(f"{cell};{i}.5\n" for i, cell in enumerate(cells)))
    refused(match, path, separator=";", **{"decimal_comma": False, **options})


def test_columns_can_be_declared_categories(save):
    path = save("chromosome,g\n1,3\n2,4\nX,5\n1,7\n")
    data = read_table(path, category=["chromosome"], categorical="onehot")
    assert data.feature_names == ["chromosome=1", "chromosome=2", "chromosome=X", "g"]


def test_a_single_category_is_reported_as_its_variable(save):
    data = read_table(save("colour,g\nred,3\nred,4\nred,5\n"), categorical="onehot")
    assert data.is_spread
    assert data.variables == ["colour", "g"]


def test_a_description_in_a_turned_table(save):
    path = save("gene,about,s1,s2,s3\na,kinase,1,2,3\nb,ligase,4,5,6\n")
    refused("If the column 'about' of the file is no sample.*drop='about'", path, transpose=True)


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    few_daily(
        [
            ({"missing": "mean"}, "missing must be one of"),
            ({"categorical": "one-hot"}, "categorical must be one of"),
            ({"labels_per_class": 0}, "labels_per_class must be None or a whole number, 1 or more"),
            ({"matrix": "X"}, r"matrix=\.\.\. is for npz"),
            ({"append_unlabelled": True}, "append_unlabelled=.* is for npz"),
        ],
        4,
    ),
)
def test_parameters_are_checked(save, options, match):
    with pytest.raises(ValueError, match=match):
        read_table(save("g,h\n1,2\n3,4\n"), **options)


def test_one_word_is_one_column(save):
    assert read_table(save("g1,g2\n1,2\n3,4\n"), drop="g1").feature_names == ["g2"]


def test_messages_stay_short(save):
    name = "x" * 100_000
    with pytest.raises(TableError) as caught:
        read_table(save(f"{name},b\n1,2\n"), label="none")
    assert len(str(caught.value)) < 1_000
