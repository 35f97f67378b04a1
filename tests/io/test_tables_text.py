"""Text tables: what is read, what is written, what is refused and how it is said."""

import csv
import gzip
import io

import numpy as np
import pytest

from semisift.exceptions import TableError
from semisift.io import TableOptions, read, read_table, write
from semisift.io._formats import text as text_module
from semisift.io._table import find_column

ROWS = ["s1,1.5,2,A", "s2,2.5,3,B", "s3,3.5,4,"]
TABLE = "\n".join(["id,x,y,label", *ROWS]) + "\n"


@pytest.fixture
def table(tmp_path):
    """Return ``table(text, name) -> path``."""

    def save(text, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return save


def refused(path, match, **options):
    with pytest.raises(TableError, match=match) as caught:
        read(path, TableOptions(**options))
    assert str(path) in str(caught.value)
    return str(caught.value)


# --- what is read ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a\n5\n\n", '"a"\n5\n\n', '"a"\n"5"\n""\n', 'a\n5\n""'])
def test_an_empty_last_cell_of_a_single_column_is_a_row(table, text):
    assert read(table(text)).values.rows() == [("5",), (None,)]


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        TABLE.rstrip("\n"),
        TABLE + "\n\n",
        TABLE.replace("\n", "\r\n"),
        TABLE.replace("\n", "\r"),
        TABLE.replace(",", ";"),
        TABLE.replace(",", "\t"),
        "# a remark, with a comma\n##another\n\n" + TABLE,
        TABLE.replace("s1", '"s1"').replace("id", '"id"'),
        TABLE.replace("x", " x "),
        "\ufeff" + TABLE,
    ],
)
def test_one_table_in_many_spellings(table, text):
    read_back = read(table(text))
    assert read_back.names == ["id", "x", "y", "label"]
    assert read_back.values.rows() == [
        ("s1", "1.5", "2", "A"),
        ("s2", "2.5", "3", "B"),
        ("s3", "3.5", "4", None),
    ]


def test_packed_and_other_encodings(table):
    assert read(table(gzip.compress(TABLE.encode()), "t.csv.gz")).values.height == 3
    assert read(table("\ufeff" + TABLE, "u.csv", "utf-16-le")).values.height == 3
    latin = read(
        table(TABLE.replace("A", "ä"), "l.csv", "latin-1"), TableOptions(encoding="latin-1")
    )
    assert latin.values["label"][0] == "ä"


def test_quoted_cells_may_hold_separators_quotes_and_line_ends(table):
    text = 'name,note\na,"one, two"\nb,"say ""yes"""\nc,"two\nlines"\n'
    read_back = read(table(text))
    assert read_back.values["note"].to_list() == ["one, two", 'say "yes"', "two lines"]
    assert read_back.first_line is None  # rows are no longer lines


QUOTED = 'name,note\na,"one, two"\nb,"say ""yes"""\n"",plain\n"d","e"\n'


@pytest.mark.parametrize(
    "text", [QUOTED, QUOTED.replace("two", "\\ntwo"), QUOTED.replace(",", ";")]
)
def test_quoted_cells_are_read_the_fast_way(table, monkeypatch, text):
    """Python's csv module gives the same table, and is not asked."""
    divider = ";" if ";" in text else ","
    _, *rows = csv.reader(io.StringIO(text), delimiter=divider)
    monkeypatch.setattr(text_module, "_records", None)
    read_back = read(table(text)).values.rows()
    assert read_back == [tuple(cell.replace("\n", " ") or None for cell in row) for row in rows]


@pytest.mark.parametrize("cell", ['5" pipe', '5"', ' "five"', 'a""b'])
def test_marks_inside_of_cells_stay(table, cell):
    values = read(table(f'name,x\n{cell},1\n"one, two",2\n')).values
    assert values.rows() == [(cell, "1"), ("one, two", "2")]


@pytest.mark.parametrize("header", [",x,y", "x,y", '"","x","y"'])
def test_row_names_as_pandas_and_r_write_them_are_no_feature(table, header):
    path = table(f"{header}\n0,1.5,2\n1,2.5,3\n")
    read_back = read(path)
    assert read_back.names == ["x", "y"]
    assert read_back.row_names == ["0", "1"]
    assert read_back.place(1, 1) == "line 3, column 3 ('y')" or '"' in header


def test_without_names(table):
    path = table("1,2\n3,4\n")
    message = refused(path, "holds numbers")
    assert "pass header=False;" in message
    assert "pass header=True." in message
    assert read(path, TableOptions(header=False)).values.rows() == [("1", "2"), ("3", "4")]
    assert read(path, TableOptions(header=True)).names == ["1", "2"]


def test_features_in_rows(table):
    path = table("gene,about,s1,s2\nTP53,p53,1.5,2\nMYC,myc,3,4.5\n", "genes.csv")
    turned = read(path, TableOptions(transpose=True, drop=("about",)))
    assert turned.names == ["TP53", "MYC"]
    assert turned.row_names == ["s1", "s2"]
    assert turned.values.rows() == [("1.5", "3"), ("2", "4.5")]
    assert turned.place(1, 0) == "feature 'TP53', sample 's2'"
    twice = table("gene,s1\na,1\na,2\n", "twice.csv")
    assert "'a' stands twice" in refused(twice, "feature", transpose=True)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "the file is empty"),
        ("\n\n \n", "the file is empty"),
        ("a,b\n", "names but no row"),
        ("a,b\n1,2\n3\n", r"line 3 has 1 cell, where 2 are expected"),
        ("a,b\n1,2,3\n3,4\n", r"line 2 has 3 cells, where 2 are expected"),
        ("a,b\n1\n2,3,4\n", r"line 2 has 1 cell, where 2"),  # the sum of the cells is right
        ("a,b\n1,2\n\n3,4\n", "line 3 is empty"),
        ("a,b,a\n1,2,3\n", r"'a' stands twice, for column 1 and column 3"),
        ("a,,c\n1,2,3\n", "column 2 has no name"),
        ('a,b\n1,2\n"3,4\n5,6\n', "line 3: a quotation mark is not closed"),
        ('a,b\n1,"2"x\n', "line 2: a quotation mark is not closed, or text follows"),
        (b"a,b\n1,\xff\n", "line 2 holds a character that is not UTF-8"),
        (b"a,b\n1,\x00\n", "line 2 holds a zero byte"),
    ],
)
def test_refused(table, text, match):
    refused(table(text), match)


def test_unknown_encoding_and_damaged_packing(table):
    with pytest.raises(TableError, match="no encoding of this name"):
        read(table(TABLE), TableOptions(encoding="klingon"))
    refused(table(gzip.compress(TABLE.encode())[:-9], "cut.csv.gz"), "cut or damaged")
    refused(table("plain text", "not.csv.gz"), "cut or damaged")


def test_unpacking_stops_before_memory_is_full(table, monkeypatch):
    monkeypatch.setattr("semisift.utils._memory.available_memory", lambda: 50_000_000)
    path = table(gzip.compress(b"a,b\n" + b"1,2\n" * 20_000_000, compresslevel=1), "bomb.csv.gz")
    refused(path, "needs .* MB of memory")


def test_no_such_file_and_unknown_endings(tmp_path):
    with pytest.raises(TableError, match="no such file or folder"):
        read(tmp_path / "none.csv")
    for name, match in [
        ("table.numbers", "Save the sheet as CSV"),
        ("table.xyz", r"tells no format.*\.csv.*format="),
    ]:
        (tmp_path / name).write_text("x")
        with pytest.raises(TableError, match=match):
            read(tmp_path / name)
    with pytest.raises(TableError, match=r"format must be one of csv, .*: got 'xls'"):
        read_table(tmp_path / "table.xyz", format="xls")


def test_columns_by_name_and_number(table):
    read_back = read(table(TABLE))
    assert find_column(read_back, "x", "label") == "x"
    assert find_column(read_back, "4", "label") == "label"
    assert find_column(read_back, "-1", "label") == "label"
    indexed = read(table(",x,7\n0,1,2\n", "indexed.csv"))
    assert find_column(indexed, "2", "label") == "x"  # as the file counts
    assert find_column(indexed, "7", "label") == "7"  # a name goes before a number
    for wanted, match in [("lable", "'label'"), ("5", "counted from 1 to 4"), ("0", "counted")]:
        with pytest.raises(TableError, match=match):
            find_column(read_back, wanted, "label")


# --- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz"])
@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        TABLE.replace(",", ";"),
        ",x,y\n0,1.50,2\n1,2.5,NA\n",
        "x,y\n0,1.50,2\n1,2.5,NA\n",
        'a,b\n"one, two",1\n"say ""yes""",2\n',
    ],
)
def test_cells_are_written_as_they_were_read(table, tmp_path, text, name):
    write(read(table(text)), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    assert (gzip.decompress(data) if name.endswith("gz") else data).decode() == text


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ('"# no remark",b\n1,2\n', True),
        ('"# no remark",1\nx,2\n', False),
        ('"sep=;",b\n1,2\n', True),
        ('"a;b",b\n1,2\n', True),
        (",1\n5,2\n,3\n", False),
    ],
)
@pytest.mark.parametrize("n_columns", [1, 2])
def test_what_is_written_is_taken_for_nothing_else(table, tmp_path, text, header, n_columns):
    options = TableOptions(header=header)
    some = read(table(text), options).take_columns(np.arange(n_columns))
    write(some, tmp_path / "out.csv")
    again = read(tmp_path / "out.csv", options)
    assert again.names == some.names
    assert again.values.equals(some.values)


def test_turned_tables_are_written_as_they_stood(table, tmp_path):
    text = "gene,s1,s2\nTP53,1.50,2\nMYC,3,NA\nEGFR,5,6\n"
    turned = read(table(text), TableOptions(transpose=True)).take_columns(np.array([0, 2]))
    write(turned, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "gene,s1,s2\nTP53,1.50,2\nEGFR,5,6\n"


def test_round_trip_on_real_data(load_dataset, tmp_path):
    X, y = load_dataset("colon_alon")
    lines = [",".join(["class", *(f"g{j}" for j in range(X.shape[1]))])]
    for label, row in zip(y, X, strict=True):
        lines.append(f"c{label}," + ",".join(map(repr, map(float, row))))
    path = tmp_path / "colon.csv"
    path.write_text("\n".join(lines) + "\n")
    data = read_table(path, label="class", labels_per_class=62)
    np.testing.assert_array_equal(data.X, X.astype(np.float64))
    assert data.y.tolist() == [f"c{label}" for label in y]
    write(data.table, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()
