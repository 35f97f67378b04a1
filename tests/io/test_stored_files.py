"""h5ad, zarr and Parquet whose rows stay in the file: the same rankings, and clear errors."""

import gc
import json
import os
import re
import shutil
import time

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csc_matrix, csr_matrix

from semisift import (
    SSFI,
    ConstraintScore,
    FisherScore,
    OutOfCoreMatrix,
    TransductiveScore,
    VarianceScore,
    read_table,
)
from semisift.exceptions import OutOfCoreError, TableError
from semisift.io import read
from semisift.io import write as write_table
from semisift.io._formats import zarr_store as zarr_files
from semisift.io._options import Reading, TableOptions
from tests.stored_files import (
    CELLS,
    FORMS,
    GENES,
    IN_CHUNKS,
    LITTLE,
    N_GENES,
    N_ROWS,
    make_cells,
    reading,
    write,
)

NIGHTLY = pytest.mark.nightly
ANNDATA = [form for form in FORMS if not form.endswith(".parquet")]
RANKERS = {
    "fisher": FisherScore,
    "variance": VarianceScore,
    "transductive": lambda: TransductiveScore(max_unlabelled=80),
    "ssfi": lambda: SSFI(n_members=100, max_unlabelled=80, random_state=0),
}

# Every day in some forms, every night in all.
IN_SOME = pytest.mark.parametrize(
    "form",
    [
        form if form in ("csr.h5ad", "table.parquet") else pytest.param(form, marks=NIGHTLY)
        for form in FORMS
    ],
)
DAILY = {("csr.h5ad", "ssfi"), ("dense.zarr", "fisher"), ("table.parquet", "transductive")}

pytestmark = pytest.mark.filterwarnings("ignore:150 kB of memory hold")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("semisift.out_of_core._matrix.BLOCK_VALUES", 1 << 10)


def stored(path, **options):
    data = read_table(path, **reading(path.name, max_memory=LITTLE, **options))
    assert isinstance(data.X, OutOfCoreMatrix)
    return data


# --- the same rankings ----------------------------------------------------------------------------


@IN_CHUNKS
@pytest.mark.parametrize(
    "height", [130, pytest.param(50, marks=NIGHTLY), pytest.param(600, marks=NIGHTLY)]
)
def test_the_rows_are_those_in_memory(tmp_path, form, height):
    path = write(tmp_path, form, height=height)
    in_memory, data = read_table(path, **reading(form)), stored(path)
    assert not isinstance(in_memory.X, OutOfCoreMatrix)
    assert data.feature_names == in_memory.feature_names == GENES == data.X.feature_names.tolist()
    assert data.y.tolist() == in_memory.y.tolist()
    assert data.row_ids == in_memory.row_ids == CELLS
    assert data.X.dtype == np.float32
    values = data.X.load()
    assert_array_equal(values.toarray() if data.X.is_sparse else values, make_cells()[0])
    if form.startswith("dense"):
        assert list(data.X.source.bounds) == [*range(0, N_ROWS, height), N_ROWS]
    elif form.endswith(".parquet"):  # older versions of polars write groups of about that height
        bounds = list(data.X.source.bounds)
        assert bounds == sorted({0, *bounds, N_ROWS})
        assert max(np.diff(bounds)) <= 1.2 * height


@pytest.mark.parametrize(
    ("form", "name"),
    [
        pytest.param(form, name, marks=() if (form, name) in DAILY else NIGHTLY)
        for form in FORMS
        for name in RANKERS
    ],
)
def test_the_ranking_is_that_of_memory(tmp_path, form, name):
    in_memory = None
    for height in (50, 170):
        folder = tmp_path / str(height)
        folder.mkdir()
        path = write(folder, form, height=height)
        if in_memory is None:
            data = read_table(path, **reading(form))
            in_memory = RANKERS[name]().fit(data.X, data.y)
        data = stored(path)
        found = RANKERS[name]().fit(data.X, data.y)
        assert found.scores_.tobytes() == in_memory.scores_.tobytes()
        assert found.ranking_.tolist() == in_memory.ranking_.tolist()
        assert found.feature_names_in_.tolist() == GENES
        if hasattr(in_memory, "transduction_"):
            assert found.transduction_.tolist() == in_memory.transduction_.tolist()


@IN_SOME
def test_options_that_go_block_by_block(tmp_path, form):
    path = write(tmp_path, form)
    options = {"drop": ["g1", "g7"], "log": True, "labels_per_class": 5}
    in_memory, data = read_table(path, **reading(form, **options)), stored(path, **options)
    assert data.feature_names == in_memory.feature_names
    assert "g7" not in data.feature_names
    assert data.y.tolist() == in_memory.y.tolist()
    assert any("log(1 + x) is taken of 28 columns" in note for note in data.notes)
    one, other = (FisherScore().fit(each.X, each.y) for each in (in_memory, data))
    assert one.scores_.tobytes() == other.scores_.tobytes()


@pytest.mark.parametrize("form", ["csr.zarr", "table.parquet"])
def test_pairs_of_rows_by_their_names(tmp_path, form):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("one,other\nc3,c507\nc8,c444\n")
    path = write(tmp_path, form, labels=np.full(N_ROWS, None, dtype=object))
    together = tmp_path / "together.csv"
    together.write_text("one,other\nc3,c8\n")
    files = {"cannot_link": pairs, "must_link": together}
    options = {**files, **({"drop": "kind"} if form.endswith("parquet") else {})}
    options |= {"id": "cell"} if form.endswith("parquet") else {}
    in_memory = read_table(path, **options)
    data = read_table(path, **options, max_memory=LITTLE)
    assert data.cannot_link.tolist() == in_memory.cannot_link.tolist() == [[3, 507], [8, 444]]
    one, other = (
        ConstraintScore().fit(each.X, cannot_link=each.cannot_link, must_link=each.must_link)
        for each in (in_memory, data)
    )
    assert one.scores_.tobytes() == other.scores_.tobytes()


@pytest.mark.parametrize("form", ANNDATA)
def test_layers_and_labels_of_their_own(tmp_path, form):
    path = write(tmp_path, form)
    labels = tmp_path / "labels.csv"
    labels.write_text("cell,label\n" + "".join(f"c{i},{'xy'[i % 2]}\n" for i in range(20)))
    data = read_table(path, matrix="twice", labels=labels, max_memory=LITTLE)
    assert [label for label in data.y if label is not None] == ["x", "y"] * 10
    assert data.X.take(np.array([5])).sum() == 2 * make_cells()[0][5].sum()


@pytest.mark.parametrize("form", ["csr.h5ad", "table.parquet"])
def test_a_column_of_the_values_may_hold_the_labels(tmp_path, form):
    X, _ = make_cells()
    X[:, 9] = np.arange(N_ROWS) % 3
    data = read_table(
        write(tmp_path, form, X),
        label="g9",
        max_memory=LITTLE,
        drop=(["kind", "cell"] if form.endswith(".parquet") else []),
    )
    assert data.y.tolist() == [i % 3 for i in range(N_ROWS)]
    assert data.X.shape == (N_ROWS, N_GENES - 1)


@pytest.mark.parametrize("form", ["dense.h5ad", "table.parquet"])
def test_a_column_that_counts_the_rows_is_told_of(tmp_path, form):
    X, _ = make_cells()
    X[:, 12] = np.arange(N_ROWS)
    with pytest.warns(UserWarning, match="'g12' counts the rows"):
        stored(write(tmp_path, form, X))


def test_the_file_stays_open_as_long_as_its_rows_are_needed(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = write(tmp_path, "csr.h5ad")
    rows = stored(path).X
    gc.collect()
    assert rows.take(np.array([3])).shape == (1, N_GENES)
    file = rows.source.data.file
    assert file
    del rows
    gc.collect()
    assert not file
    with h5py.File(path, "r+"):  # nobody holds it any more
        pass


# --- finished passes ------------------------------------------------------------------------------


@IN_SOME
def test_a_second_start_goes_on_from_the_finished_passes(tmp_path, form, monkeypatch):
    path, passes, reads = write(tmp_path, form), tmp_path / "passes", []
    read = OutOfCoreMatrix.read
    monkeypatch.setattr(
        OutOfCoreMatrix, "read", lambda self, *span: reads.append(span[:2]) or read(self, *span)
    )
    data = stored(path, cache_dir=passes)
    reads.clear()
    first = TransductiveScore(max_unlabelled=80).fit(data.X, data.y)
    assert sum(stop - start for start, stop in reads) >= N_ROWS
    again = stored(path, cache_dir=passes)
    reads.clear()
    second = TransductiveScore(max_unlabelled=80).fit(again.X, again.y)
    assert not reads
    assert second.scores_.tobytes() == first.scores_.tobytes()
    # another file has passes of its own
    del data, again
    gc.collect()
    time.sleep(0.01)
    if path.is_dir():
        shutil.rmtree(path)
    X, _ = make_cells(seed=1)
    other = stored(write(tmp_path, form, X), cache_dir=passes)
    reads.clear()
    assert TransductiveScore(max_unlabelled=80).fit(other.X, other.y)
    assert reads


def test_a_folder_of_passes_that_cannot_be(tmp_path):
    path = write(tmp_path, "csr.h5ad")
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(TableError, match=r"csr\.h5ad: cache_dir=.*no folder can be made there"):
        stored(path, cache_dir=tmp_path / "taken")


# --- bad input ------------------------------------------------------------------------------------


def rank(path):
    data = read_table(path, **reading(path.name, max_memory=LITTLE))
    return VarianceScore().fit(data.X, data.y)


def spoil_chunk(path, number):
    """Overwrite a chunk in the middle of the values."""
    if path.suffix == ".h5ad":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "r") as file:
            node = file["X"] if path.name.startswith("dense") else file["X/data"]
            info = node.id.get_chunk_info(number)
        with path.open("r+b") as file:
            file.seek(info.byte_offset)
            file.write(b"\xff" * info.size)
    elif path.suffix == ".zarr":
        name = f"X/{number}.0" if path.name.startswith("dense") else f"X/data/{number}"
        (path / name).write_bytes(b"\xff" * 40)
    else:
        # the heads of pages stay as they are: a row group follows another
        data = path.read_bytes()
        at = len(data) * (2 * number + 1) // 12
        path.write_bytes(data[:at] + b"\xff" * 60 + data[at + 60 :])


@IN_CHUNKS
def test_a_chunk_that_is_unreadable(tmp_path, form):
    path = write(tmp_path, form)
    spoil_chunk(path, 3)
    with pytest.raises(OutOfCoreError, match=rf"^chunk \d+ \(rows .* of {path.name}\) cannot be"):
        rank(path)


@IN_SOME
def test_nan_names_its_chunk(tmp_path, form):
    X, _ = make_cells()
    X[417, 22] = np.nan
    with pytest.raises(OutOfCoreError, match=r"NaN.*\n.*chunk \d+ \(row 417 .*column 'g22'"):
        rank(write(tmp_path, form, X, height=10))


@NIGHTLY
def test_nan_in_chunk_731(tmp_path):
    height = 8
    X = np.zeros((800 * height, 4), dtype=np.float32)
    X[731 * height + 3, 2] = np.nan
    path = tmp_path / "t.parquet"
    pl.DataFrame(X, schema=list("abcd")).write_parquet(path, row_group_size=height)
    with pytest.raises(OutOfCoreError, match=r"chunk 731 \(row 5,851 of t\.parquet\), column 'c'"):
        VarianceScore().fit(read_table(path, max_memory="120kB").X)


@IN_SOME
def test_less_memory_than_a_chunk(tmp_path, form, monkeypatch):
    monkeypatch.setattr("semisift.out_of_core._matrix.MIN_ROWS", 4)
    monkeypatch.setattr("semisift.out_of_core._matrix.BLOCK_VALUES", 1 << 7)
    path = write(tmp_path, form, height=500)
    options = reading(form, max_memory="20kB")
    with pytest.raises(OutOfCoreError, match=r"a chunk of .* rows, which take .*smaller chunks"):
        VarianceScore().fit(read_table(path, **options).X)


@IN_SOME
def test_less_memory_than_a_block(tmp_path, form):
    path = write(tmp_path, form)
    options = reading(form, max_memory="5kB")
    with pytest.raises(OutOfCoreError, match=r"a block of 64 rows .*may be used is 5 kB"):
        VarianceScore().fit(read_table(path, **options).X)


@pytest.mark.parametrize("form", ["csr.h5ad", "table.parquet"])
def test_a_file_that_ends_early(tmp_path, form):
    path = write(tmp_path, form)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(TableError, match=f"{form}: .*cut or damaged"):
        rank(path)


def test_a_sparse_folder_that_ends_early(tmp_path):
    path = write(tmp_path, "csr.zarr")
    (path / "X" / "data" / "4").unlink()
    with pytest.raises(OutOfCoreError, match=r"csr\.zarr: 1 of the \d+ chunks of values are miss"):
        rank(path)


def test_a_dense_folder_that_ends_early(tmp_path):
    path = write(tmp_path, "dense.zarr")
    (path / "X" / "4.0").unlink()
    with pytest.warns(UserWarning, match=r"1 of 6 chunks of X are not there and are read as zeros"):
        rank(path)


def test_a_chunk_of_another_width(tmp_path):
    numcodecs = pytest.importorskip("numcodecs")
    path = write(tmp_path, "dense.zarr")
    packing = json.loads((path / "X" / ".zarray").read_text())["compressor"]
    narrow = np.ones((100, N_GENES - 1), dtype=np.float32)
    (path / "X" / "3.0").write_bytes(numcodecs.get_codec(packing).encode(narrow))
    with pytest.raises(OutOfCoreError, match=r"^chunk 3 \(rows 300 to 399 of dense\.zarr\)"):
        rank(path)


@pytest.mark.parametrize("form", ["csr.h5ad", "csr.zarr"])
def test_an_index_that_lists_other_rows(tmp_path, form):
    anndata = pytest.importorskip("anndata")
    path = write(tmp_path, form)
    if form.endswith(".h5ad"):
        root = pytest.importorskip("h5py").File(path, "r+")
    else:
        root = pytest.importorskip("zarr").open_group(path, mode="r+", use_consolidated=False)
    index = np.asarray(root["X/indptr"][...])
    del root["X/indptr"]
    anndata.io.write_elem(root["X"], "indptr", index[:-5])
    if form.endswith(".h5ad"):
        root.close()
    with pytest.raises(OutOfCoreError, match="its index lists 595 rows, and the shape says 600"):
        rank(path)


@pytest.mark.parametrize("form", ["csr.h5ad", "csr.zarr"])
def test_columns_out_of_range_name_their_chunk(tmp_path, form):
    path = write(tmp_path, form)
    if form.endswith(".h5ad"):
        with pytest.importorskip("h5py").File(path, "r+") as file:
            file["X/indices"][-3] = N_GENES + 7
    else:
        root = pytest.importorskip("zarr").open_group(path, mode="r+", use_consolidated=False)
        root["X/indices"][-3:-2] = N_GENES + 7
    with pytest.raises(OutOfCoreError, match=r"chunk \d.*indices must be < 30"):
        rank(path)


@pytest.mark.parametrize("form", ["csr.h5ad", "csr.zarr"])
def test_a_matrix_by_columns_is_refused_with_a_cure(tmp_path, form):
    anndata = pytest.importorskip("anndata")
    X, _ = make_cells()
    path = write(tmp_path, form)
    if form.endswith(".h5ad"):
        with pytest.importorskip("h5py").File(path, "r+") as file:
            anndata.io.write_elem(file, "X", csc_matrix(X))
    else:
        root = pytest.importorskip("zarr").open_group(path, mode="r+", use_consolidated=False)
        shutil.rmtree(path / "X")
        anndata.io.write_elem(root, "X", csc_matrix(X))
    in_memory = read_table(path, **reading(form))  # in memory it is read
    assert_array_equal(in_memory.X.toarray(), X)
    with pytest.raises(OutOfCoreError, match=r"stored by columns \(csc.*tocsr\(\) before writing"):
        rank(path)


def test_a_file_that_claims_more_than_it_holds(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = write(tmp_path, "dense.h5ad")
    with h5py.File(path, "r+") as file:
        del file["X"]
        file.create_dataset("X", (N_ROWS, 10**9), "f4", chunks=(1, 1000))
    with pytest.raises(
        TableError, match=r"dense\.h5ad: /X of shape .* more than the file can hold"
    ):
        rank(path)


@IN_SOME
def test_negative_values_have_no_logarithm(tmp_path, form):
    X, _ = make_cells()
    X[333, 4] = -0.5
    path = write(tmp_path, form, X)
    with pytest.raises(
        OutOfCoreError, match=r"chunk \d.*row 333 .*, column 'g4': .* this one is -0\.5"
    ):
        VarianceScore().fit(stored(path, log=True).X)


# --- options --------------------------------------------------------------------------------------


@IN_SOME
@pytest.mark.parametrize(
    "option",
    [
        {"missing": "median"},
        {"missing": "drop-rows"},
        {"na": "-999"},
        {"categorical": "onehot"},
        {"category": "g1"},
    ],
)
def test_what_needs_all_values_is_refused(tmp_path, form, option):
    (name,) = option
    with pytest.raises(
        TableError, match=rf"{form}: {name}=.* needs all values at once.*max_memory="
    ):
        stored(write(tmp_path, form), **option)


def test_turning_needs_all_values(tmp_path):
    frame = pl.DataFrame({"name": ["a", "b"], **{f"s{i}": [1.0, 2.0] for i in range(2000)}})
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match="transpose=True needs all values at once"):
        read_table(tmp_path / "t.parquet", transpose=True, max_memory="10kB")


@pytest.mark.parametrize("value", ["much", "-4GB", "", 0, True])
def test_sizes_that_are_none(tmp_path, value):
    path = write(tmp_path, "table.parquet")
    with pytest.raises(TableError, match="max_memory must be a number of bytes, such as 4GB"):
        read_table(path, max_memory=value)


@pytest.mark.parametrize("option", [{"max_memory": "4GB"}, {"cache_dir": "kept"}])
def test_other_formats_stay_in_memory(tmp_path, option):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    (name,) = option
    with pytest.raises(TableError, match=rf"{name}=.* is for h5ad, zarr, parquet files.*csv"):
        read_table(tmp_path / "t.csv", **option)


def test_several_tables_are_read_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("semisift.out_of_core._matrix.available_memory", lambda: 1000)
    monkeypatch.setattr("semisift.io._formats.parquet.SMALL_FILE", 1000)
    for form in FORMS:
        path = write(tmp_path, form)
        assert not read(path, TableOptions()).is_stored
        assert read(path, Reading()).is_stored


# --- Parquet: columns of other kinds --------------------------------------------------------------


def odd_table(tmp_path, **columns):
    X, labels = make_cells()
    frame = pl.DataFrame(X, schema=GENES).with_columns(pl.Series("kind", labels.tolist()))
    path = tmp_path / "odd.parquet"
    frame.with_columns(**columns).write_parquet(path, row_group_size=100)
    return path


@pytest.mark.parametrize(
    "column",
    [
        pl.Series(["red", "blue", "green"] * 200),
        pl.Series([f"name {i}" for i in range(N_ROWS)]),
        pl.Series(["1"] * 599 + ["x"]),
        pl.Series([[1]] * N_ROWS),
        pl.Series(range(N_ROWS)).cast(pl.Date),
    ],
)
def test_columns_of_other_things_get_the_error_of_memory(tmp_path, column):
    path = odd_table(tmp_path, odd=column)
    with pytest.raises(TableError) as in_memory:
        read_table(path, label="kind")
    with pytest.raises(TableError) as found:
        read_table(path, label="kind", max_memory=LITTLE)
    same = re.sub(r"in 1 of \d+ columns", "in 1 of 1 columns", str(in_memory.value))
    assert str(found.value) == same


def test_numbers_as_text_must_be_written_as_numbers(tmp_path):
    path = odd_table(tmp_path, odd=pl.Series([str(i % 7) for i in range(N_ROWS)]))
    with pytest.raises(TableError, match=r"column 32 \('odd'\) holds numbers as t"):
        read_table(path, label="kind", max_memory=LITTLE)
    data = read_table(path, label="kind", drop="odd", max_memory=LITTLE)
    assert data.feature_names == GENES


def test_columns_are_read_some_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("semisift.io._formats.parquet.COLUMN_BYTES", 7 * 4 * 100)
    data = stored(write(tmp_path, "table.parquet"))
    assert_array_equal(data.X.load(), make_cells()[0])


def test_a_file_that_changes_while_it_is_read(tmp_path):
    path = write(tmp_path, "table.parquet")
    data = stored(path)
    pl.read_parquet(path)[:550].write_parquet(path, row_group_size=100)
    with pytest.raises(OutOfCoreError, match=r"chunk 5 .* 50 rows, where there were 100"):
        VarianceScore().fit(data.X)


def test_whole_numbers_and_booleans_are_features(tmp_path):
    path = odd_table(
        tmp_path, big=pl.Series(range(N_ROWS)) * 7, flag=pl.Series([True, False] * 300)
    )
    in_memory = read_table(path, label="kind")
    data = read_table(path, label="kind", max_memory="300kB")
    assert data.X.dtype == np.float64
    assert_array_equal(data.X.load(), in_memory.X)


# --- zarr -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::UserWarning:anndata")
@pytest.mark.parametrize("form", ["csr.zarr", "dense.zarr"])
@pytest.mark.parametrize("memory", [pytest.param(None, marks=NIGHTLY), LITTLE])
@pytest.mark.parametrize("version", [pytest.param(2, marks=NIGHTLY), 3])
def test_a_folder_is_written_with_fewer_genes(tmp_path, form, memory, version):
    anndata = pytest.importorskip("anndata")
    with anndata.settings.override(zarr_write_format=version):
        path = write(tmp_path, form)
    data = read_table(path, **reading(form, max_memory=memory))
    assert isinstance(data.X, OutOfCoreMatrix) == (memory is not None)
    zarr_files.write(data.reduced(["g3", "g11"]), tmp_path / "small.zarr")
    assert (tmp_path / "small.zarr" / ".zgroup").exists() == (version == 2)
    before, after = (anndata.read_zarr(tmp_path / name) for name in (form, "small.zarr"))
    compare_cells(before[:, ["g3", "g11"]], after)


@pytest.mark.parametrize("form", ["csr.h5ad", "dense.h5ad"])
def test_a_file_is_written_by_blocks(tmp_path, form, monkeypatch):
    monkeypatch.setattr("semisift.io._formats._anndata.WRITTEN_AT_ONCE", 3000)
    anndata = pytest.importorskip("anndata")
    path = write(tmp_path, form)
    with pytest.importorskip("h5py").File(path, "r+") as file:
        anndata.io.write_elem(file["layers"], "by columns", csc_matrix(make_cells()[0]))
        anndata.io.write_elem(file["varp"], "pairs", csr_matrix(np.eye(N_GENES)))
    before = anndata.read_h5ad(path)
    write_table(stored(path).reduced(["g3", "g11"]), tmp_path / "small.h5ad")
    after = anndata.read_h5ad(tmp_path / "small.h5ad")
    compare_cells(before[:, ["g3", "g11"]], after)
    assert_array_equal(after.varp["pairs"].toarray(), np.eye(2))


def compare_cells(before, after):
    before = before.copy()
    assert after.obs.equals(before.obs)
    assert after.var_names.tolist() == before.var_names.tolist()
    assert type(after.X) is type(before.X)
    for one, other in [
        (before.X, after.X),
        *((before.layers[name], after.layers[name]) for name in before.layers),
        (before.obsm["place"], after.obsm["place"]),
        (before.varm["weight"], after.varm["weight"]),
    ]:
        assert_array_equal(
            *(each.toarray() if hasattr(each, "toarray") else each for each in (one, other))
        )
    assert after.uns["about"]["made"] == 1


def test_a_file_that_has_changed_is_not_written(tmp_path):
    path = write(tmp_path, "csr.zarr")
    table = stored(path).reduced(["g3"])
    shutil.rmtree(path)
    write(tmp_path, "dense.zarr", make_cells()[0][:-1])
    (tmp_path / "dense.zarr").rename(path)
    with pytest.raises(TableError, match="has changed since it was read"):
        write_table(table, tmp_path / "small.zarr")


def test_zarr_is_told_from_10x_by_its_name(tmp_path):
    path = write(tmp_path, "csr.zarr")
    path.rename(tmp_path / "cells")
    with pytest.raises(TableError, match="the folder has no matrix"):
        read_table(tmp_path / "cells", label="kind")
    assert read_table(tmp_path / "cells", label="kind", format="zarr").X.shape == (N_ROWS, N_GENES)
    (tmp_path / "file.zarr").write_text("no folder")
    with pytest.raises(TableError, match="zarr is a folder, and this is a file"):
        read_table(tmp_path / "file.zarr")
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises(TableError, match=r"the folder holds no group of zarr"):
        read_table(tmp_path / "empty.zarr")


def test_a_way_of_packing_that_runs_code_is_refused(tmp_path):
    path = write(tmp_path, "csr.zarr")
    about = path / "obs" / "_index" / ".zarray"
    content = json.loads(about.read_text())
    about.write_text(json.dumps({**content, "filters": [{"id": "pickle"}]}))
    with pytest.raises(TableError, match="obs/_index is packed by 'pickle', which is not read"):
        read_table(path, label="kind")


def test_packing_inside_of_packing_is_looked_at():
    inner = {"name": "numcodecs.pickle", "configuration": {}}
    shards = {"name": "sharding_indexed", "configuration": {"codecs": [{"name": "bytes"}, inner]}}
    assert [*zarr_files._packing({"codecs": [shards]})] == ["sharding_indexed", "bytes", "pickle"]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_folder_with_links_is_refused(tmp_path):
    path = write(tmp_path, "csr.zarr")
    (path / "X" / "data" / "0").rename(tmp_path / "elsewhere")
    (path / "X" / "data" / "0").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TableError, match="X/data/0 is a link, and only what stands in the folder"):
        read_table(path, label="kind")
