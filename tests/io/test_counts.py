"""Counts of cells: brought to one total by default, told of, and left alone where asked."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, csr_matrix, issparse

from semisift import FisherScore, OutOfCoreMatrix, read_table
from semisift.cli import main
from semisift.exceptions import TableError
from semisift.out_of_core import _matrix
from semisift.preprocessing._counts import log_of_shares, usual_total
from tests.nightly import few_daily
from tests.stored_files import GENES, LITTLE, N_GENES, N_ROWS, make_cells, reading, write

OTHER_FORMS = few_daily(["csr.zarr", "dense.h5ad", "dense.zarr"], 0)
LOGARITHMS = (
    "The values look like logarithms of counts (fractions of at most 25, most of them 0): kept so."
)


def counts(seed=1):
    """Return counts of cells of different depths, most of them 0."""
    rng = np.random.default_rng(seed)
    depth = rng.uniform(0.1, 0.6, size=(N_ROWS, 1))
    return rng.poisson(depth, size=(N_ROWS, N_GENES)).astype(np.float32)


def dense(X):
    return X.toarray() if issparse(X) else np.asarray(X)


def shares(X):
    return log_of_shares(X, usual_total(X))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(_matrix, "BLOCK_VALUES", 1 << 10)


@pytest.mark.parametrize("form", ["csr.h5ad", *OTHER_FORMS])
def test_counts_of_cells_are_normalised_unless_told_otherwise(tmp_path, form):
    X = counts()
    path = write(tmp_path, form, X)
    data = read_table(path, label="kind")
    assert_array_equal(dense(data.X), shares(X))
    assert data.usual_total == np.median(X.sum(axis=1)[X.sum(axis=1) > 0])
    note = (
        "The table holds counts: each row was brought to the median total (10), and log(1 + x) was "
        "taken; normalize=False leaves them as they are."
    )
    assert data.notes == [note]
    normalized = read_table(path, label="kind", normalize=True)
    assert dense(normalized.X).tobytes() == dense(data.X).tobytes()
    assert normalized.notes == [note.split(";")[0] + "."]
    left = read_table(path, label="kind", normalize=False)
    assert_array_equal(dense(left.X), X)
    assert (left.usual_total, left.notes) == (None, [])


def test_other_values_of_cells_are_left_alone(tmp_path):
    for number, X in enumerate((make_cells()[0], counts() - 1)):
        (tmp_path / str(number)).mkdir()
        data = read_table(write(tmp_path / str(number), "csr.h5ad", X), label="kind")
        assert_array_equal(dense(data.X), X)
        assert (data.usual_total, data.notes) == (None, [])
    logged = read_table(write(tmp_path, "csr.h5ad", counts()), label="kind", log=True)
    assert dense(logged.X) == pytest.approx(np.log1p(counts()))


def test_cells_of_whole_numbers_and_without_counts(tmp_path):
    X = counts().astype(np.int64)
    X[3] = 0
    for form in ("csr.h5ad", "dense.h5ad"):
        data = read_table(write(tmp_path, form, X), label="kind", drop="g2")
        own = np.delete(X, 2, axis=1)
        assert_array_equal(dense(data.X), shares(own.astype(np.float64)))
        assert not dense(data.X)[3].any()


def test_other_formats_are_normalised_where_asked(tmp_path):
    X = counts()
    np.savez(tmp_path / "t.npz", X=X)
    assert_array_equal(read_table(tmp_path / "t.npz").X, X)
    data = read_table(tmp_path / "t.npz", normalize=True)
    assert_array_equal(data.X, shares(X))
    assert data.notes[0].startswith("The table holds counts: each row was brought to the median")
    matrix = csr_array(X)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    np.savez(tmp_path / "s.npz", shape=matrix.shape, **parts)
    assert_array_equal(dense(read_table(tmp_path / "s.npz", normalize=True).X), shares(X))


def test_values_that_are_no_counts_are_told_of(tmp_path):
    X = make_cells()[0]
    np.savez(tmp_path / "t.npz", X=X)
    data = read_table(tmp_path / "t.npz", normalize=True)
    assert_array_equal(data.X, shares(X))
    assert data.notes[0].startswith("More than half of the values are other than 0, which is un")
    assert "As normalize=True says, each row was brought to the median total (" in data.notes[0]
    np.savez(tmp_path / "t.npz", X=np.log1p(counts()))
    data = read_table(tmp_path / "t.npz", normalize=True)
    assert_array_equal(data.X, np.log1p(counts()))
    assert data.notes == [LOGARITHMS]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("options", [{}, {"max_memory": LITTLE}])
def test_what_holds_logarithms_of_counts_knows_it(tmp_path, options):
    X = counts()
    path = write(tmp_path, "csr.h5ad", X)
    assert read_table(path, label="kind", **options).X.is_log
    assert not read_table(path, label="kind", normalize=False, **options).X.is_log
    assert not read_table(path, label="kind", log=True, **options).X.is_log
    path = write(tmp_path, "dense.h5ad", np.log1p(X))
    data = read_table(path, label="kind", **options)
    assert data.X.is_log
    assert (data.usual_total, data.notes) == (None, [LOGARITHMS])
    assert_array_equal(data.X.load() if options else data.X, np.log1p(X))
    assert not read_table(path, label="kind", normalize=False, **options).X.is_log


def test_what_cannot_be_normalised(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,x\n3,0,y\n4,-5,x\n")
    with pytest.raises(
        TableError,
        match=r"line 4, column 2 \('b'\): normalize=True takes rows of counts, which are 0 or "
        r"more, and this value is -5\. Leave such columns out with drop=\.\.\., or pass "
        r"normalize=False\.",
    ):
        read_table(tmp_path / "t.csv", label="c", normalize=True)
    with pytest.raises(TableError, match=r"there are 1 column of 3 with categories: 'c'"):
        read_table(tmp_path / "t.csv", normalize=True, categorical="onehot")
    with pytest.raises(TableError, match=r"normalize=True and log=True take the same logarithms"):
        read_table(tmp_path / "t.csv", label="c", normalize=True, log=True)
    missing = read_table(tmp_path / "t.csv", label="c", normalize=True, drop="b")
    assert missing.usual_total == 3


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", ["csr.h5ad", "table.parquet", *OTHER_FORMS])
def test_rows_that_stay_in_the_file_have_the_same_bits(tmp_path, form):
    X = counts() * np.float32(9.7)  # totals that depend on the order of adding
    path = write(tmp_path, form, X)
    options = reading(form, normalize=True)
    in_memory = read_table(path, **options)
    data = read_table(path, **options, max_memory=LITTLE, cache_dir=tmp_path / "passes")
    assert isinstance(data.X, OutOfCoreMatrix)
    assert data.usual_total == in_memory.usual_total
    assert data.feature_names == GENES
    assert dense(data.X.load()).tobytes() == dense(in_memory.X).tobytes()
    one, other = (FisherScore().fit(each.X, each.y) for each in (in_memory, data))
    assert one.scores_.tobytes() == other.scores_.tobytes()
    (kept,) = (tmp_path / "passes").glob("totals-of-rows-*.npz")
    written = kept.stat().st_mtime_ns
    read_table(path, **options, max_memory=LITTLE, cache_dir=tmp_path / "passes")
    assert kept.stat().st_mtime_ns == written


@pytest.mark.usefixtures("small_blocks")
def test_rows_that_stay_in_the_file_are_judged_by_some(tmp_path):
    X = counts()
    path = write(tmp_path, "csr.h5ad", X)
    data = read_table(path, label="kind", max_memory=LITTLE)
    assert_array_equal(data.X.load().toarray(), shares(X))
    assert data.notes[0].startswith("The table holds counts")
    left = read_table(path, label="kind", max_memory=LITTLE, normalize=False)
    assert_array_equal(left.X.load().toarray(), X)
    other = write(tmp_path, "dense.h5ad", make_cells()[0])
    assert read_table(other, label="kind", max_memory=LITTLE).usual_total is None
    X[300, 7] = -1
    other = write(tmp_path, "csr.zarr", X)
    with pytest.raises(TableError, match=r"row 300 of .*column 'g7': counts are 0 or more, and"):
        read_table(other, label="kind", max_memory=LITTLE, normalize=True)


def test_the_command_line_says_so_and_the_files_too(tmp_path):
    path = write(tmp_path, "csr.h5ad", csr_matrix(counts()).toarray())
    options = ["--label", "kind", "--method", "fisher"]

    def call(*more, code=0):
        result = CliRunner().invoke(main, ["rank", str(path), *options, *map(str, more)])
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    output = call("--out", tmp_path / "one.json")
    assert (
        "brought to the median total (10), and log(1 + x) was taken; --no-normalize leaves"
        in output
    )
    facts = json.loads((tmp_path / "one.json").read_text())
    assert facts["input"]["normalized_total"] == 10
    output = call("--no-normalize", "--out", tmp_path / "other.json")
    assert "median total" not in output
    assert json.loads((tmp_path / "other.json").read_text())["input"]["normalized_total"] is None
    assert "--normalize and --log take the same logarithms" in call("--normalize", "--log", code=2)
