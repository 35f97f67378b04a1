"""Files with names, groups and weights of features."""

import gzip

import pytest

from semisift.exceptions import TableError
from semisift.io._side_files import read_groups, read_names, read_weights
from tests.nightly import few_daily

KNOWN = {"age", "sex", "BRCA1", "a, b"}


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return written


@pytest.mark.parametrize(
    ("name", "content"),
    few_daily(
        [
            ("n.txt", "age\nBRCA1\n"),
            ("n.txt", "\ufeffage\r\n\r\nBRCA1\r\nage\r\n"),
            ("n.txt", "feature\nage\nBRCA1"),
            ("n.csv", "gene,note\nage,years\nBRCA1,x\n"),
            ("n.tsv", "age\tyears\nBRCA1\tx\n"),
            ("n.csv", '"name"\n"age"\n"BRCA1"\n'),
            ("n.txt.gz", gzip.compress(b"age\nBRCA1\n", mtime=0)),
        ],
        4,
    ),
)
def test_names(name, content, write):
    assert read_names(write(name, content), KNOWN) == ["age", "BRCA1"]


def test_names_between_commas_and_with_commas(write):
    assert read_names("age, sex", KNOWN) == ["age", "sex"]
    assert read_names("a, b", KNOWN) == ["a, b"]
    assert read_names(write("n.txt", "a, b\nage\n"), KNOWN) == ["a, b", "age"]
    with pytest.raises(TableError, match=r"nemas.txt: there is no such file"):
        read_names("nemas.txt", KNOWN)
    with pytest.raises(TableError, match="it holds no name"):
        read_names(write("n.txt", "feature\n"), KNOWN)


@pytest.mark.parametrize(
    ("name", "content"),
    few_daily(
        [
            ("g.csv", "feature,group\nage,person\nsex,person\nBRCA1,genes\n"),
            ("g.csv", "group,feature\nperson,age\nperson,sex\ngenes,BRCA1\n"),
            ("g.tsv", "age\tperson\nsex\tperson\nBRCA1\tgenes\n"),
            ("g.gmt", "person\thttp://x\tage\tsex\t\n\ngenes\t\tBRCA1\n"),
        ],
        4,
    ),
)
def test_groups(name, content, write):
    assert read_groups(write(name, content)) == {"person": ["age", "sex"], "genes": ["BRCA1"]}


def test_weights(write):
    assert read_weights(write("w.csv", "feature,weight\nage,2\nsex,0.5\n")) == {
        "age": 2,
        "sex": 0.5,
    }
    assert read_weights(write("w.csv", "weight;feature\n2;age\n")) == {"age": 2}
    assert read_weights(write("w.tsv", "age\t2\nsex\t1e1\n")) == {"age": 2, "sex": 10}


@pytest.mark.parametrize(
    ("read", "name", "content", "message"),
    [
        (read_groups, "g.csv", "feature\nage\n", "must have the columns feature and group"),
        (read_groups, "g.gmt", "person\tage\n", "line 1: a line of a gmt file is a name"),
        (read_weights, "w.csv", "age,much\n", "the weight of 'age' is no number: 'much'"),
        (read_weights, "w.csv", "age,1\nage,2\n", "'age' has two weights"),
    ],
)
def test_bad_files(read, name, content, message, write):
    with pytest.raises(TableError, match=message):
        read(write(name, content))
    with pytest.raises(TableError, match="there is no such file"):
        read("nowhere.csv")


@pytest.mark.parametrize(
    ("content", "expected"),
    few_daily(
        [
            ("gene,9\nf5,2\n", {"gene": 9, "f5": 2}),
            ("weight,0.1\nf5,9\n", {"weight": 0.1, "f5": 9}),
            ("name,0.1\nf5,9\n", {"name": 0.1, "f5": 9}),  # which is no feature
            ("gene,weight\nf5,9\n", {"f5": 9}),
            ("probe,weight\nf5,9\n", {"f5": 9}),
            ("weight,name\n9,f5\n", {"f5": 9}),
            ("name,how much\nf5,9\n", {"f5": 9}),
        ],
        3,
    ),
)
def test_a_feature_called_like_a_heading_is_no_heading(content, expected, write):
    assert read_weights(write("w.csv", content), {"gene", "f5"}) == expected


def test_a_group_called_like_a_heading(write):
    known = {"group", "gene", "f5"}
    assert read_groups(write("g.csv", "group,g1\nf5,g1\n"), known) == {"g1": ["group", "f5"]}
    assert read_groups(write("g.csv", "gene,g1\nf5,g1\n"), known) == {"g1": ["gene", "f5"]}
    assert read_groups(write("g.csv", "f5,group\ngene,group\n"), known) == {"group": ["f5", "gene"]}
    assert read_groups(write("g.csv", "group,feature\ng1,f5\n"), known) == {"g1": ["f5"]}
    assert read_groups(write("g.csv", "gene,pathway\nf5,g1\n")) == {"g1": ["f5"]}
