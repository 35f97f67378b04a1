"""Whatever names and values a table has: what is written is read back as it was."""

import json

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmwrite, savemat
from sklearn.datasets import dump_svmlight_file

from semisift.cli._output import write_table
from semisift.exceptions import TableError
from semisift.io import read
from semisift.io._options import TableOptions
from semisift.io._read import write
from tests.properties.profiles import several
from tests.properties.tables import SPECIAL

NAMES = ["a,b", 'a "quote"', "two\nlines", "\r", "# no remark", "=1+1", " before", "after ", "\t"]
NAMES += [
    "nan",
    "NA",
    "?",
    "1e5",
    "-1",
    "'",
    "''",
    "@data",
    "{a b}",
    "%",
    "\\",
    "\\n",
    "é",
    "e\u0301",
]
NAMES += [
    "\u202eright",
    "名前",
    "💥",
    "x" * 3000,
    "\u0085",
    "\u2028",
    "\x1c",
    "\ufeff",
    "None",
    "/a/b",
]

any_text = st.one_of(st.sampled_from(NAMES), st.text(st.characters(exclude_categories=["Cs"])))
numbers = st.one_of(st.sampled_from(SPECIAL), st.floats(allow_infinity=False))


@st.composite
def frames(draw):
    """Draw names of columns, numbers, and words for each row."""
    names = draw(st.lists(any_text, min_size=2, max_size=5, unique=True))
    n_rows = draw(st.integers(1, 5))
    columns = [draw(st.lists(numbers, min_size=n_rows, max_size=n_rows)) for _ in names]
    words = draw(st.lists(any_text, min_size=n_rows, max_size=n_rows, unique=True))
    return names, np.array(columns).T, words


def to_text(path, names, X, words):
    separator = "," if path.suffix == ".csv" else "\t"
    made = pl.DataFrame(X, schema=names)
    path.write_text(made.write_csv(separator=separator, quote_style="always"), encoding="utf-8")


def to_parquet(path, names, X, words):
    frame = pl.DataFrame(X, schema=names)
    if "words" not in names:
        frame = frame.with_columns(pl.Series("words", words))
    frame.write_parquet(path)


def to_npz(path, names, X, words):
    np.savez(path, X=X, feature_names=np.array(names), row_names=np.array(words))


def to_arff(path, names, X, words):
    def quoted(name):
        return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["@relation r", *(f"@attribute {quoted(name)} numeric" for name in names), "@data"]
    lines += [",".join("?" if x != x else repr(float(x)) for x in row) for row in X]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def to_anndata(path, names, X, words):
    made = anndata.AnnData(X, obs=pd.DataFrame(index=words), var=pd.DataFrame(index=names))
    made.obs["word"] = pd.Categorical(words)
    (made.write_h5ad if path.suffix == ".h5ad" else made.write_zarr)(path)


def to_mat(path, names, X, words):
    savemat(path, {"X": X, "feature_names": np.array(names, dtype=object)})


def to_mtx(path, names, X, words):
    mmwrite(path, sparse.coo_array(X) if len(words) % 2 else X)


def to_svmlight(path, names, X, words):
    dump_svmlight_file(sparse.csr_array(X), np.arange(len(X)) % 2, str(path))


def to_10x(path, names, X, words):
    path.mkdir()
    mmwrite(path / "matrix.mtx", sparse.coo_array(X.T))
    genes = [f"id{j}\t{name}\tGene Expression" for j, name in enumerate(names)]
    for name, lines in (("features.tsv", genes), ("barcodes.tsv", words)):
        (path / name).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


MAKERS = {
    "t": to_10x,
    "t.arff": to_arff,
    "t.csv": to_text,
    "t.h5ad": to_anndata,
    "t.mat": to_mat,
    "t.mtx": to_mtx,
    "t.npz": to_npz,
    "t.parquet": to_parquet,
    "t.svmlight": to_svmlight,
    "t.tsv": to_text,
    "t.zarr": to_anndata,
}

# The form has no names: columns are numbered anew.
NAMELESS = ("t.mtx", "t.svmlight")

OPTIONS = dict.fromkeys(["t.csv", "t.tsv"], TableOptions(header=True))


def same(one, other):
    """Whether two tables hold the same values, to the last bit."""
    if isinstance(one, pl.DataFrame):
        return one.equals(other) and one.columns == other.columns
    if sparse.issparse(one):  # without the sign of a zero
        one, other = one.toarray() + 0.0, other.toarray() + 0.0
    return one.shape == other.shape and one.tobytes() == other.tobytes()


@pytest.mark.filterwarnings("ignore")  # of the other programs, about the names
@pytest.mark.parametrize("name", MAKERS)
@several
@given(drawn=frames())
@example(drawn=(["\ufeff", "a,b"], np.zeros((1, 2)), ["a,b"]))
@example(drawn=(["# no remark", "a,b"], np.zeros((2, 2)), ["a,b", "c"]))
@example(drawn=(["sep=;", "a"], np.zeros((2, 2)), ["b", "c"]))
@example(drawn=(["a;b", "a|b", "c"], np.array([[np.nan, 1, 2], [0, 1, 2]]), ["b", "c"]))
@example(drawn=(["a", "b", "c"], np.zeros((3, 3)), ["d", "e", "f"]))
def test_a_reduced_table_is_read_back_as_it_was(name, tmp_path_factory, drawn):
    folder = tmp_path_factory.mktemp("written")
    try:
        MAKERS[name](folder / name, *drawn)
    except Exception:  # the other program does not write such names
        return
    try:
        table = read(folder / name, OPTIONS.get(name))
    except TableError:
        return
    for kept in (slice(None, None, len(table.names) % 2 + 1), slice(1)):
        fewer = table.take_columns(np.arange(len(table.names))[kept])
        target = folder / f"again{kept.stop}{name[1:]}"
        write(fewer, target)
        again = read(target, OPTIONS.get(name))
        assert name in NAMELESS or again.names == fewer.names
        assert same(again.values, fewer.values)
        assert again.row_names == table.row_names
        assert again.rows.equals(table.rows)


@pytest.mark.parametrize("ending", [".csv", ".json", ".parquet", ".tsv"])
@several
@given(drawn=frames())
@example(drawn=(["feature", "score"], np.array([[np.nan, 5e-324], [-0.0, 1e22]]), ["#a", "a\r"]))
def test_results_are_read_back_as_they_were(ending, tmp_path_factory, drawn):
    _, X, words = drawn
    path = tmp_path_factory.mktemp("results") / f"r{ending}"
    finite = [None if x != x else float(x) for x in X[:, 0]]
    frame = pl.DataFrame({"feature": words, "score": pl.Series(finite, dtype=pl.Float64)})
    facts = {"method": words[0], "parameters": {"a": X[0, 0]}, "notes": words}
    write_table(frame, path, "ranking", facts, safe=False)
    if ending == ".json":
        content = json.loads(path.read_text("utf-8"))
        assert content["ranking"] == frame.to_dicts()
        assert content["method"] == words[0]
    elif ending == ".parquet":
        assert pl.read_parquet(path).equals(frame)
    else:
        text = path.read_bytes().decode()
        start = text.index('"feature"')
        separator = "," if ending == ".csv" else "\t"
        found = pl.read_csv(text[start:].encode(), separator=separator, schema=frame.schema)
        assert found["score"].equals(frame["score"])
        assert (
            found["feature"].to_list() == [word or None for word in words]
            or found["feature"].to_list() == words
        )
        for line in text[:start].split("\n")[:-1]:
            assert line.startswith("# ")
