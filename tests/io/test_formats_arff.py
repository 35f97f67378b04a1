"""ARFF files, dense and sparse."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from semisift.exceptions import TableError
from semisift.io._formats import arff
from semisift.io._options import TableOptions

PLAIN = TableOptions()

DENSE = r"""% a remark
@RELATION 'my data'
@attribute 'age of x' REAL
@Attribute "b\"q" {yes, 'no way', "it's"}
@attribute c {0,1}
@attribute s string
@attribute d date "yyyy-MM-dd"
@ATTRIBUTE Class {a,b}

@DATA
1.5, yes, 0, 'he said, \'x\'', "2001-04-03", a
% another
?, 'no way', 1, ?, ?, b
-3e2,"it's",?,'50 %',1,?   % why
"""

SPARSE = """@relation x
@attribute a numeric
@attribute b {x,y,z}
@attribute c {0,1}
@attribute e {1,0}
@attribute t string
@attribute class {u,v}
@data
{0 1.5, 1 y, 2 1}
{}
{ 4 'hello, w' ,0 ?, 3 0, 5 v }
"""


def read(tmp_path, text, name="t.arff"):
    (tmp_path / name).write_text(text)
    return arff.read(tmp_path / name, PLAIN)


def rewritten(tmp_path, table):
    arff.write(table, tmp_path / "written.arff")
    return arff.read(tmp_path / "written.arff", PLAIN)


def test_dense_by_hand(tmp_path):
    table = read(tmp_path, DENSE)
    assert table.values.to_dict(as_series=False) == {
        "age of x": [1.5, None, -300],
        'b"q': ["yes", "no way", "it's"],
        "c": [0, 1, None],
        "s": ["he said, 'x'", None, "50 %"],
        "d": ["2001-04-03", None, "1"],
        "Class": ["a", "b", None],
    }
    assert (table.label, table.categorical) == ("Class", frozenset(['b"q']))
    assert rewritten(tmp_path, table).values.equals(table.values)


def test_sparse_by_hand(tmp_path):
    table = read(tmp_path, SPARSE)
    assert table.names == ["a", "c"]
    assert np.array_equal(table.values.toarray(), [[1.5, 1], [0, 0], [np.nan, 0]], equal_nan=True)
    assert table.rows.to_dict(as_series=False) == {
        "b": ["y", "x", "x"],
        "e": [1, 1, 0],
        "t": [None, None, "hello, w"],
        "class": ["u", "u", "v"],
    }
    assert (table.label, table.first_line) == ("class", 9)
    again = rewritten(tmp_path, table.take_columns(np.array([1])))
    assert again.values.toarray().tolist() == [[1], [0], [0]]
    assert again.rows.equals(table.rows)


def test_sparse_without_numbers_is_a_frame(tmp_path):
    header = "@relation x\n@attribute a {f,t}\n@attribute class {u,v}\n@data\n"
    table = read(tmp_path, header + "{0 t}\n{1 v}\n")
    assert table.values.to_dict(as_series=False) == {"a": ["t", "f"], "class": ["u", "v"]}
    assert rewritten(tmp_path, table).values.equals(table.values)


def declared(names, classes):
    attributes = "".join(f"@attribute {name} numeric\n" for name in names)
    return f"@relation r\n{attributes}@attribute class {{{','.join(classes)}}}\n@data\n"


@pytest.mark.parametrize(
    "name",
    ["german", *(pytest.param(n, marks=pytest.mark.nightly) for n in ("optdigits", "colon_alon"))],
)
def test_dense_of_real_data(load_dataset, tmp_path, name):
    X, y = load_dataset(name)
    names = [f"f{j}" for j in range(X.shape[1])]
    cells = pl.DataFrame(X, schema=names).with_columns(pl.Series("class", y))
    text = declared(names, [str(label) for label in np.unique(y)])
    table = read(tmp_path, text + cells.write_csv(include_header=False))
    assert np.array_equal(table.values.drop("class").to_numpy().astype(X.dtype), X)
    assert table.values["class"].to_list() == [str(label) for label in y]
    fewer = table.take_columns(np.arange(0, len(table.names), 2))
    again = rewritten(tmp_path, fewer)
    assert again.values.equals(fewer.values)


def test_sparse_of_real_data(load_dataset, tmp_path):
    X, y = load_dataset("basehock")
    lines = []
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        items = [f"{j} {v}" for j, v in zip(X.indices[row], X.data[row], strict=True)]
        lines.append("{" + ",".join([*items, f"{X.shape[1]} c{y[i]}"]) + "}\n")
    text = declared([f"f{j}" for j in range(X.shape[1])], ["c0", "c1"])
    table = read(tmp_path, text + "".join(lines))
    assert isinstance(table.values, csr_array)
    assert not (table.values != X).nnz
    assert table.rows["class"].to_list() == [f"c{label}" for label in y]
    fewer = table.take_columns(np.arange(0, X.shape[1], 3))
    again = rewritten(tmp_path, fewer)
    assert again.names == fewer.names
    assert not (again.values != fewer.values).nnz
    assert again.rows.equals(table.rows)


HEAD = "@relation x\n@attribute a numeric\n@attribute b {x,y}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "line 1 must start with @relation, @attribute or @data.*got 'a,b'"),
        (HEAD, "no line with @data"),
        ("@relation x\n@data\n1", "line 2: @data, but there is no @attribute"),
        (HEAD + "@data\n% nothing\n", "no row after @data"),
        (HEAD + "@data\n1,x\n\n2\n", "line 7 has 1 values for 2 attributes"),
        (HEAD + "@data\n1,x\nlow,y\n", "line 6: the value of 'a' must be a number.*got 'low'"),
        (HEAD + "@data\n1,x\n2,z\n", "line 6: the value of 'b' must be one of 'x', 'y'.*got 'z'"),
        (HEAD + "@data\n1,'x\n", "line 5: a quotation mark is not closed"),
        (HEAD + "@data\n{0 1}\n{0 1, 2 x}\n", "line 6 names attribute 2; .* from 0 to 1"),
        (HEAD + "@data\n{0 1}\n{0 1, 0 2}\n", r"line 6 gives attribute 0 \('a'\) twice"),
        (HEAD + "@data\n{0 1}\n1,x\n", "line 6 must list numbers of attributes"),
        (HEAD + "@data\n{0 one}\n", "line 5: 'one' is no value of 'a'"),
        (HEAD + "@data\n{1 z}\n", "line 5: the value of 'b' must be one of"),
        (
            "@relation x\n@attribute a complex\n@data\n1\n",
            "line 2: the type of 'a' must be .*got 'co",
        ),
        ("@relation x\n@attribute a {x,y\n@data\nx\n", "line 2: the list of values is not closed"),
        ("@relation x\n@attribute a\n", "line 2 must read '@attribute name type'"),
        ("@relation x\n@attribute a real\n@attribute a real\n@data\n1,2\n", "'a' stands twice"),
    ],
)
def test_bad_files_say_where(tmp_path, text, message):
    with pytest.raises(TableError, match=message):
        read(tmp_path, text)


def test_encoding(tmp_path):
    (tmp_path / "t.arff").write_bytes(HEAD.encode() + "% ü\n@data\n1,x\n".encode("latin-1"))
    with pytest.raises(
        TableError, match=r"line 4 holds a character that is not UTF-8.*encoding='latin-1'"
    ):
        arff.read(tmp_path / "t.arff", PLAIN)
    assert arff.read(tmp_path / "t.arff", TableOptions(encoding="latin-1")).n_rows == 1
