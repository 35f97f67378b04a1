"""Damaged, absurd and unfit files end in an error that says what and where, and quickly."""

import gzip
import importlib
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.io
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from semisift.exceptions import TableError
from semisift.io import prepare, read_table
from semisift.io._formats import (
    _common,
    arff,
    gct,
    geo,
    h5ad,
    matlab,
    mtx,
    npz,
    parquet,
    svmlight,
    tenx,
    text,
    zarr_store,
)
from semisift.io._formats._common import read_in_child
from semisift.io._formats.matlab import write_hdf5
from semisift.io._options import Reading, TableOptions

PLAIN = TableOptions()
MTX = "%%MatrixMarket matrix coordinate real general\n"


def refused(module, path, message, options=PLAIN):
    with pytest.raises(TableError, match=message) as caught:
        module.read(path, options)
    assert str(path.name) in str(caught.value)


def outcome(module, path):
    """Return what the error says; nothing if there is none. Other errors pass through."""
    try:
        module.read(path, PLAIN)
    except TableError as error:
        return str(error)
    return ""


# --- NumPy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"A": np.eye(2)}, r"no array 'X'.*holds A \(2, 2\).*matrix="),
        ({"X": np.ones(3)}, "must be a matrix"),
        ({"X": np.array([["a", "b"]])}, "must be numbers"),
        ({"X": np.ones((2, 3)), "y": [1, 2, 3]}, "'y' has 3 values for 2 rows.*transpose=True"),
        ({"X": np.ones((2, 3)), "feature_names": ["a", "b"]}, "2 feature names for 3 features"),
        ({"X": np.ones((2, 2)), "feature_names": ["a", "a"]}, "'a' stands twice"),
        ({"X": np.ones((2, 3)), "categorical": [5]}, "positions of features from 0 to 2.*5"),
    ],
)
def test_npz_unfit(tmp_path, arrays, message):
    np.savez(tmp_path / "t.npz", **arrays)
    refused(npz, tmp_path / "t.npz", message)


def test_npz_options(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(2), u_X=np.ones((3, 1)))
    refused(npz, tmp_path / "t.npz", "no array 'Z'", TableOptions(matrix="Z"))
    refused(npz, tmp_path / "t.npz", "columns of the others", TableOptions(append_unlabelled=True))


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        (
            "indices",
            [0, 9, 1],
            "stored value 2 claims column 9, counted from 0, of a matrix with 3",
        ),
        ("indices", [0, -1, 1], "claims column -1"),
        ("indices", [0, 1], "3 stored values .* but 2 places"),
        ("indptr", [0, 3, 2], "rise from 0 to the number of stored values, 3: got 3 to 2"),
        ("indptr", [0, 1, 2], "got 0 to 2"),
        ("indptr", [0, 3], "needs 3 numbers for 2 rows: got 2"),
        ("indptr", [0.0, 1, 3], "must be a list of whole numbers"),
        ("shape", [2, 10**15], "needs 200 PB of memory"),
        ("shape", [2], "two whole numbers"),
    ],
)
def test_npz_bad_sparse(tmp_path, part, value, message):
    parts = {"data": [1.0, 2, 3], "indices": [0, 2, 1], "indptr": [0, 2, 3], "shape": [2, 3]}
    np.savez(tmp_path / "t.npz", **{**parts, part: value})
    refused(npz, tmp_path / "t.npz", message)


def test_npz_never_loads_objects(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=np.array([{"a": 1}, None], dtype=object))
    refused(npz, tmp_path / "t.npz", "'y' holds Python objects .* never loaded")


def test_npz_refuses_an_array_that_stands_twice(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        for value in (1.0, 2.0):
            with warnings.catch_warnings(action="ignore"), archive.open("X.npy", "w") as file:
                np.save(file, np.full((3, 2), value))
    refused(npz, tmp_path / "t.npz", "'X' stands twice")


def npy(shape, size):
    """Return an array file that claims a shape and has another size."""
    file = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + bytes(size)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((10**8, 10**7), "the array 'X' of shape .* needs 8 PB of memory"),
        ((3, 3), "'X' of shape .* takes 72 bytes, but the file has 64"),
    ],
)
def test_npz_claims_more_than_it_has(tmp_path, shape, message):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", npy(shape, 64))
    refused(npz, tmp_path / "t.npz", message)


# --- text that is packed, or claims too much -----------------------------------------------------


@pytest.mark.parametrize(
    ("module", "name", "start"),
    [
        (svmlight, "t.svmlight.gz", b"1 1:"),
        pytest.param(mtx, "t.mtx.gz", MTX.encode(), marks=pytest.mark.nightly),
    ],
)
def test_a_small_file_that_unpacks_to_a_huge_one(tmp_path, monkeypatch, module, name, start):
    monkeypatch.setattr("semisift.utils._memory.available_memory", lambda: 100_000_000)
    packer = zlib.compressobj(9, wbits=31)
    block = bytes(10_000_000)
    with (tmp_path / name).open("wb") as file:
        file.write(packer.compress(start))
        for _ in range(40):
            file.write(packer.compress(block))
        file.write(packer.flush())
    refused(module, tmp_path / name, "the unpacked file needs .* of memory")


def test_npz_that_unpacks_to_a_huge_one(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "t.npz", X=np.zeros((1000, 2000)))
    monkeypatch.setattr("semisift.utils._memory.available_memory", lambda: 10_000_000)
    refused(npz, tmp_path / "t.npz", "its content, unpacked, needs 16 MB")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 1:2\n0 1:1 1000000000000:1\n",
            "line 2: a table with feature number 1000000000000 needs",
        ),
        ("1,2 1:2\n", r"line 1 has several labels \('1,2'\)"),
        ("# x\ncat 1:2\n", "line 2 starts with 'cat', where the label must stand"),
        ("1 1:2 3\n", "line 1 holds '3', where a feature must stand as number:value"),
        ("1 1:two\n", "line 1 holds '1:two'"),
        ("1 1:2\n1 3:1 2:1\n", "line 2 has feature 2 after feature 3"),
        ("1\n2\n", "no row has a feature"),
        ("1 qid:one 1:2\n", "not a readable svmlight file"),
        ("", "no row"),
    ],
)
def test_svmlight_says_where(tmp_path, text, message):
    (tmp_path / "t.svm").write_text(text)
    refused(svmlight, tmp_path / "t.svm", message)


def test_svmlight_of_few_bytes_takes_few(tmp_path, monkeypatch):
    """34 bytes that name feature 16,000,000 must not take 16 GB."""
    (tmp_path / "t.svm").write_text("1 1:2 16000000:1\n-1 2:1 4:0.5\n")
    monkeypatch.setattr("semisift.utils._memory.available_memory", lambda: 10**9)
    refused(svmlight, tmp_path / "t.svm", "line 1: a table with feature number 16000000 needs")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n", "the first line must read '%%MatrixMarket.*got '1 2'"),
        (MTX.replace("real", "complex") + "1 1 1\n1 1 1 1\n", "first line must read"),
        (MTX + "3 3\n", "line 2 must give the numbers of rows, columns and stored values"),
        (MTX + f"3 3 {10**12}\n1 1 1\n", "claims 1000000000000 values, .* the file has 7 after"),
        (MTX + f"3 {10**15} 1\n1 1 1\n", "needs 200 PB of memory"),
        (MTX.replace("coordinate", "array") + f"{10**7} {10**8}\n1\n", "needs 8 PB of memory"),
        (MTX + "%\n3 3 2\n1 1 1\n\n1 x 2\n", "line 6 must hold a row .*, a column .*got '1 x 2'"),
        (MTX + "3 3 2\n1 1 1\n1 2\n", "line 4 must hold a row"),
        (MTX + "3 3 2\n1 1 1\n1 2 3 4\n", "line 4 must hold a row"),
        (MTX + "3 3 2\n1 1 1\n3 4 2\n", "line 4 names column 4; they are counted from 1 to 3"),
        (MTX + "3 3 2\n1 1 1\n0 3 2\n", "line 4 names row 0"),
        (MTX + "3 3 3\n1 1 1000000\n1 2 1000000", "claims 3 values, and the file holds 2"),
    ],
)
def test_mtx_says_where(tmp_path, text, message):
    (tmp_path / "t.mtx").write_text(text)
    refused(mtx, tmp_path / "t.mtx", message)


def test_tenx(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    refused(tenx, folder, "has no matrix.mtx.gz or matrix.mtx")
    (folder / "matrix.mtx").write_text(MTX + "2 3 1\n1 1 5\n")
    (folder / "genes.tsv").write_text("g1\tA\ng2\tB\n")
    (folder / "barcodes.tsv").write_text("c1\nc2\n")
    with pytest.raises(TableError, match=r"barcodes.tsv: 2 cells for 3 cells of matrix.mtx"):
        tenx.read(folder, PLAIN)
    refused(tenx, folder, "leave out transpose=True", TableOptions(transpose=True))


# --- MATLAB, HDF5, Parquet -----------------------------------------------------------------------


def test_mat_claims_more_than_it_has(tmp_path):
    scipy.io.savemat(tmp_path / "t.mat", {"X": np.eye(3)})
    good = (tmp_path / "t.mat").read_bytes()
    shape = struct.pack("<2i", 3, 3)
    assert shape in good
    (tmp_path / "t.mat").write_bytes(good.replace(shape, struct.pack("<2i", 10**9, 10**6)))
    refused(matlab, tmp_path / "t.mat", r"the variable X \(1000000000 x 1000000\) needs 8 PB")
    (tmp_path / "t.mat").write_bytes(good.replace(shape, struct.pack("<2i", 300, 300)))
    refused(matlab, tmp_path / "t.mat", "X has 9 values for the shape")


def test_mat_hdf5_claims_more_than_fits(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.mat", "w", userblock_size=512) as file:
        file.create_dataset("X", shape=(10**6, 10**9), chunks=(100, 100), dtype="f8")
    refused(matlab, tmp_path / "t.mat", "the variable X .* needs 8 PB")


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_more_columns_than_numbers_can_count_are_an_error(tmp_path, form):
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    X = csr_array(np.eye(4))
    anndata.AnnData(X if form == "csr" else X.tocsc()).write_h5ad(tmp_path / "t.h5ad")
    with h5py.File(tmp_path / "t.h5ad", "r+") as file:
        file["X"].attrs["shape"] = np.array([4, 2**62])
    with (
        warnings.catch_warnings(action="error", category=RuntimeWarning),
        pytest.raises(TableError, match=f"h5ad: a table of 4 rows and {2**62} columns needs"),
    ):
        read_table(tmp_path / "t.h5ad")


@pytest.mark.parametrize(
    ("module", "name", "library", "extra"),
    [(matlab, "t.mat", "h5py", "hdf5"), (h5ad, "t.h5ad", "anndata", "anndata")],
)
def test_missing_library(tmp_path, monkeypatch, module, name, library, extra):
    write_hdf5(tmp_path / name, {"X": np.eye(2)})

    def without(wanted, package=None):
        if wanted == library:
            raise ImportError(wanted)
        return real(wanted, package)

    real = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", without)
    refused(module, tmp_path / name, rf'{library}: pip install "semisift\[{extra}\]"')


def test_parquet_page_that_claims_a_negative_size(tmp_path):
    """Polars would ask for 2 ** 61 bytes, which ends the process."""
    frame = pl.DataFrame({"a": np.arange(20.0)})
    frame.write_parquet(tmp_path / "t.parquet", compression="uncompressed")
    good = (tmp_path / "t.parquet").read_bytes()
    messages = []
    for position in (i for i in range(4, 40) if good[i] == 40):  # 20 values in zigzag
        damaged = good[:position] + b"\x7f" + good[position + 1 :]
        (tmp_path / "t.parquet").write_bytes(damaged)
        messages.append(outcome(parquet, tmp_path / "t.parquet"))
    assert messages
    assert all("not a readable Parquet file" in message for message in messages)


def test_readers_that_die_hang_or_eat_memory_do_so_elsewhere(monkeypatch):
    read_in_child("import sys; assert sys.stdin.buffer.read() == b'data'", b"data")
    for program, message in [
        ("import os; os.abort()", "ends with -6"),
        ("raise ValueError('no table')", "^no table$"),
        ("bytes(1 << 50)", "MemoryError"),
    ]:
        with pytest.raises(ValueError, match=message):
            read_in_child(program, b"")
    monkeypatch.setattr(_common, "MIN_SECONDS_TO_READ", 0.5)
    with pytest.raises(ValueError, match="does not come to an end"):
        read_in_child("while True: pass", b"")


UNDER_A_LIMIT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({soft}, {hard}))
from semisift import read_table
print(read_table(sys.argv[1], label="y").X.shape)
"""


@pytest.mark.skipif(os.name == "nt", reason="of systems that limit addresses")
@pytest.mark.parametrize(
    ("name", "soft", "hard"),
    [
        pytest.param("t.parquet", 4 << 30, -1, marks=pytest.mark.nightly),
        ("t.xlsx", 8 << 30, 8 << 30),
        pytest.param("t.parquet", 8 << 30, 8 << 30, marks=pytest.mark.nightly),
        pytest.param("t.xlsx", 4 << 30, -1, marks=pytest.mark.nightly),
        pytest.param("t.mat", 8 << 30, 8 << 30, marks=pytest.mark.nightly),
        pytest.param("t.mat", 4 << 30, -1, marks=pytest.mark.nightly),
    ],
)
def test_a_limit_of_addresses_leaves_good_files_readable(tmp_path, name, soft, hard):
    frame = pl.DataFrame({"a": [1.5, 2.5, 3.5], "b": [2.5, 1.5, 0.5], "y": [1, 2, 1]})
    if name.endswith(".parquet"):
        frame.write_parquet(tmp_path / name)
    elif name.endswith(".xlsx"):
        pytest.importorskip("xlsxwriter")
        frame.write_excel(tmp_path / name)
    else:
        scipy.io.savemat(tmp_path / name, {"X": frame[["a", "b"]].to_numpy(), "y": frame["y"]})
    done = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT.format(soft=soft, hard=hard), tmp_path / name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "(3, 2)", done.stderr


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="of Linux")
def test_what_is_free_is_no_more_than_the_limit_of_addresses():
    program = (
        "import resource; from semisift.utils._memory import available_memory; "
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, -1)); print(available_memory())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert 0 < int(done.stdout) < 2 << 30


# --- anything else -------------------------------------------------------------------------------


def examples(folder):
    """Write a small file of each form and return them with their modules."""
    X, S = np.eye(4), csr_array(np.eye(4))
    pl.DataFrame({"a": [1.5, 2], "b": ["x", "y"]}).write_parquet(folder / "t.parquet")
    np.savez(folder / "t.npz", X=X, y=np.arange(4))
    scipy.io.savemat(folder / "t5.mat", {"X": X, "y": np.array(["a", "b"] * 2, dtype=object)})
    scipy.io.savemat(folder / "packed.mat", {"X": S}, do_compression=True)
    write_hdf5(folder / "t7.mat", {"X": X, "names": list("abcd")})
    (folder / "t.arff").write_text("@relation x\n@attribute 'a b' real\n@data\n1\n'2'\n")
    (folder / "t.svm").write_text("1 1:2.5\n-1 2:3\n")
    (folder / "t.svm.gz").write_bytes(gzip.compress(b"1 1:2.5\n-1 2:3\n"))
    (folder / "t.mtx").write_text(MTX + "2 2 1\n1 2 7\n")
    (folder / "t.gct").write_text("#1.2\n1\t2\nName\tDescription\ts\tt\na\tna\t1\t3\n")
    text = '!series_matrix_table_begin\n"ID_REF"\t"s"\t"t"\na\t1\t3\n!series_matrix_table_end\n'
    (folder / "t.geo").write_text("!Sample_title\ta\tb\n" + text)
    modules = {".parquet": parquet, ".npz": npz, ".mat": matlab, ".arff": arff, ".mtx": mtx}
    modules |= {".gct": gct, ".geo": geo}
    return [(file, modules.get(file.suffix, svmlight)) for file in sorted(folder.iterdir())]


@pytest.mark.parametrize("n_times", [2, pytest.param(40, marks=pytest.mark.nightly)])
def test_damaged_files_never_end_in_another_error(tmp_path, n_times):
    """Bytes flipped, cut out or cut off: a table or a TableError, nothing else."""
    rng = random.Random(0)
    for path, module in examples(tmp_path):
        good = path.read_bytes()
        for _ in range(n_times):
            data = bytearray(good)
            for _ in range(rng.choice([1, 1, 3])):
                data[rng.randrange(len(data))] = rng.randrange(256)
            cut = rng.randrange(len(data)) if rng.random() < 0.2 else len(data)
            path.write_bytes(data[:cut])
            message = outcome(module, path)
            assert not message or str(path) in message


def test_missing_and_empty_files(tmp_path):
    for path, module in examples(tmp_path):
        path.write_bytes(b"")
        with pytest.raises(TableError):
            module.read(path, PLAIN)
        path.unlink()
        refused(module, path, "cannot be opened: No such file")


# --- what a small file would need ----------------------------------------------------------------


def test_text_is_refused_by_what_its_cells_need(tmp_path, monkeypatch):
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        file.write(b"a,b,c,d\n" + b"0,0,0,0\n" * 200_000)
    monkeypatch.setattr("semisift.utils._memory.available_memory", lambda: 20_000_000)
    message = "a table of 200,000 rows and 4 columns needs 20.8 MB of memory, and 20 MB are free"
    refused(text, tmp_path / "t.csv.gz", message)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_small_numbers_are_refused_by_what_they_need_as_floats(tmp_path, monkeypatch, make):
    X = np.ones((1000, 200), dtype=np.int8)
    parts = {"X": X}
    if make is csr_array:
        X = csr_array(X)
        parts = {name: getattr(X, name) for name in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "t.npz", **parts)
    table = npz.read(tmp_path / "t.npz", PLAIN)
    monkeypatch.setattr("semisift.utils._memory.available_memory", lambda: 900_000)
    with pytest.raises(TableError, match=r"t.npz: the table as floating-point numbers .* 800 kB"):
        prepare(table)


def test_logarithms_are_refused_by_the_copy_that_they_need(tmp_path, monkeypatch):
    np.savez(tmp_path / "t.npz", X=np.ones((1000, 200), order="F"))
    table = npz.read(tmp_path / "t.npz", PLAIN)
    monkeypatch.setattr("semisift.utils._memory.available_memory", lambda: 1_900_000)
    with pytest.raises(TableError, match=r"t.npz: a copy .*, for its logarithms, needs 1.6 MB"):
        prepare(table, Reading(log=True))


# --- text that is none ---------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0x110000, 0xD800])
@pytest.mark.parametrize("key", ["class_names", "feature_names", "row_names"])
def test_npz_with_characters_that_do_not_exist(tmp_path, code, key):
    names = np.array([[97, 98, 99], [100, 101, code]], dtype=np.uint32).view("<U3").ravel()
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=[0, 1], **{key: names})
    refused(npz, tmp_path / "t.npz", f"holds {code:#x}, which is no character")


def test_mat_with_half_a_character(tmp_path):
    h5py = pytest.importorskip("h5py")
    write_hdf5(tmp_path / "t.mat", {"X": np.eye(2), "y": ["ab", "cd"]})
    with h5py.File(tmp_path / "t.mat", "r+") as file:
        file["#refs#/y_0"][1, 0] = 0xD800
    refused(matlab, tmp_path / "t.mat", "unexpected end of data")
    scipy.io.savemat(tmp_path / "u.mat", {"X": np.eye(2), "y": np.array(["aé", "bc"])})
    data = (tmp_path / "u.mat").read_bytes()
    assert matlab.read(tmp_path / "u.mat", PLAIN).rows["y"].to_list() == ["aé", "bc"]
    (tmp_path / "u.mat").write_bytes(data.replace("é".encode(), b"\xff\xff"))
    refused(matlab, tmp_path / "u.mat", "invalid start byte")


# --- HDF5: what stands in other files -------------------------------------------------------------


@pytest.fixture
def foreign(tmp_path):
    """Return h5py, and functions that put values of other files into an HDF5 file."""
    h5py = pytest.importorskip("h5py")
    (tmp_path / "secret").write_bytes(bytes(48))
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.zeros((2, 3))

    def external(file, name):
        storage = [(str(tmp_path / "secret"), 0, 48)]
        file.create_dataset(name, shape=(2, 3), dtype="f8", external=storage)

    def virtual(file, name):
        layout = h5py.VirtualLayout((2, 3), dtype="f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "x", shape=(2, 3))
        file.create_virtual_dataset(name, layout)

    def link(file, name):
        file[name] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/x")

    def link_through(file, name):
        file["aside"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/")
        file[name] = h5py.SoftLink("/aside/x")

    return h5py, {f.__name__: f for f in (external, virtual, link, link_through)}


KINDS = {
    "external": "X is external storage",
    "virtual": "X is a virtual dataset",
    "link": "is a link to another file",
    "link_through": "/aside is a link to another file",
}


@pytest.mark.parametrize("kind", KINDS)
def test_mat_with_values_of_another_file(tmp_path, foreign, kind):
    h5py, puts = foreign
    with h5py.File(tmp_path / "t.mat", "w", userblock_size=512) as file:
        puts[kind](file, "X")
    refused(matlab, tmp_path / "t.mat", f"{KINDS[kind]}.* only what stands in the file itself")


def test_mat_with_a_cell_of_another_file(tmp_path, foreign):
    h5py, _ = foreign
    (tmp_path / "secret").write_bytes("ab".encode("utf-16-le"))
    write_hdf5(tmp_path / "t.mat", {"X": np.eye(2), "feature_names": ["a", "b"]})
    with h5py.File(tmp_path / "t.mat", "r+") as file:
        storage = [(str(tmp_path / "secret"), 0, 4)]
        cell = file.create_dataset(None, shape=(2, 1), dtype="<u2", external=storage)
        file["kept"] = cell
        file["feature_names"][0, 0] = cell.ref
    refused(matlab, tmp_path / "t.mat", "/kept is external storage")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "place", ["obs/X", *(pytest.param(p, marks=pytest.mark.nightly) for p in ("X", "layers/X"))]
)
def test_h5ad_with_values_of_another_file(tmp_path, foreign, kind, place):
    h5py, puts = foreign
    anndata = pytest.importorskip("anndata")
    path = tmp_path / "t.h5ad"
    anndata.AnnData(np.zeros((2, 3), dtype=np.float32)).write_h5ad(path)
    before = h5ad.read(path, PLAIN)
    with h5py.File(path, "r+") as file:
        if place in file:
            del file[place]
        puts[kind](file, place)
    refused(h5ad, path, f"{KINDS[kind]}.* only what stands in the file itself")
    with pytest.raises(TableError, match="only what stands in the file itself"):
        h5ad.write(before, tmp_path / "written.h5ad")


@pytest.mark.parametrize(("module", "name"), [(h5ad, "t.h5ad"), (matlab, "t.mat")])
def test_hdf5_that_claims_what_was_never_written(tmp_path, module, name):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / name
    if module is h5ad:
        pytest.importorskip("anndata").AnnData(np.zeros((2, 3))).write_h5ad(path)
    with h5py.File(path, "a", **({} if path.exists() else {"userblock_size": 512})) as file:
        file.pop("X", None)
        file.create_dataset("X", shape=(30_000, 25_000), dtype="f4", chunks=(1000, 1000))
    refused(
        module, path, r"/X of shape \(30000, 25000\) claims 3000000000 bytes, more than the file"
    )


# --- chunks of zarr ------------------------------------------------------------------------------


NO_SIZE = b"\x28\xb5\x2f\xfd\0\x58"  # a frame of zstd that does not say how much it holds


def of_zstd(n_blocks):
    """Return a frame of blocks of 128 KiB of one byte, in four bytes each."""
    heads = [(1 << 17) << 3 | 1 << 1 | (i == n_blocks - 1) for i in range(n_blocks)]
    return NO_SIZE + b"".join(head.to_bytes(3, "little") + b"\0" for head in heads)


def write_zarr(path, **storage):
    """Write ten cells of four genes; X is stored as is said."""
    anndata, library = pytest.importorskip("anndata"), pytest.importorskip("zarr")
    X = np.arange(40.0).reshape(10, 4)
    table = anndata.AnnData(X)
    table.obs["y"] = ["a", "b"] * 5
    with warnings.catch_warnings(action="ignore"):
        table.write_zarr(path)
        kind = storage.pop("zarr_format", 3)
        root = library.open_group(path, mode="r+", use_consolidated=False)
        if root.metadata.zarr_format != kind:
            shutil.rmtree(path)
            with anndata.settings.override(zarr_write_format=kind):
                table.write_zarr(path)
            root = library.open_group(path, mode="r+", use_consolidated=False)
        attributes = dict(root["X"].attrs)
        shutil.rmtree(path / "X")
        array = root.create_array("X", shape=X.shape, dtype=X.dtype, **storage)
        array.attrs.update(attributes)
        array[:] = X
    return X


def packers():
    """Return the ways of packing: format of zarr, codec."""
    numcodecs = pytest.importorskip("numcodecs")
    names = ("Blosc", "Zlib", "GZip", "Zstd", "LZ4", "BZ2", "LZMA")
    return {name: getattr(numcodecs, name)() for name in names}


@pytest.mark.parametrize("name", ["Blosc", "Zlib", "GZip", "Zstd", "LZ4", "BZ2", "LZMA"])
def test_zarr_chunk_that_unpacks_to_more_than_a_chunk(tmp_path, monkeypatch, name):
    path, packer = tmp_path / "t.zarr", packers()[name]
    X = write_zarr(path, chunks=(5, 4), compressors=packer, zarr_format=2)
    assert_array_equal(read_table(path, label="y").X, X)
    monkeypatch.setattr(zarr_store, "ALWAYS_UNPACKED", 1 << 16)
    (path / "X" / "1.0").write_bytes(packer.encode(bytes(1 << 22)))
    refused(zarr_store, path, r"X/1\.0 unpacks to more than a chunk of shape \(5, 4\)")


@pytest.mark.parametrize(
    ("start", "n_blocks"), [(b"", 20), ("abc", 20), (b"\x50\x2a\x4d\x18\3\0\0\0xyz", 20)]
)
@pytest.mark.parametrize("shards", [None, (10, 4)])
def test_zarr_chunk_of_zstd_that_does_not_say_its_size(
    tmp_path, monkeypatch, start, n_blocks, shards
):
    path = tmp_path / "t.zarr"
    X = write_zarr(path, chunks=(5, 4), shards=shards)
    assert_array_equal(read_table(path, label="y").X, X)
    start = packers()["Zstd"].encode(b"abc") if start == "abc" else start
    bomb, file = start + of_zstd(n_blocks), path / "X" / "c" / "0" / "0"
    assert len(packers()["Zstd"].decode(bomb)) >= n_blocks << 17
    if shards is not None:
        index = np.array([0, len(bomb), 2**64 - 1, 2**64 - 1], dtype="<u8").tobytes()
        checksum = pytest.importorskip("google_crc32c").value(index)
        bomb += index + checksum.to_bytes(4, "little")
    file.write_bytes(bomb)
    monkeypatch.setattr(zarr_store, "ALWAYS_UNPACKED", 1 << 16)
    refused(zarr_store, path, r"X/c/0/0 unpacks to more than a chunk of shape \(5, 4\)")


@pytest.mark.parametrize(
    ("shape", "chunks", "n_chunks"),
    [((10**9, 10**6), (10, 10), "10,000,000,000,000"), ((30, 10**7), (1, 1), "300,000,000")],
)
@pytest.mark.parametrize("memory", [None, "1MB"])
def test_zarr_of_more_chunks_than_could_be_there(tmp_path, shape, chunks, n_chunks, memory):
    path = tmp_path / "t.zarr"
    write_zarr(path, chunks=(5, 4))
    about = json.loads((path / "X" / "zarr.json").read_text())
    about["shape"] = shape
    about["chunk_grid"]["configuration"]["chunk_shape"] = chunks
    (path / "X" / "zarr.json").write_text(json.dumps(about))
    refused(zarr_store, path, f"has {n_chunks} chunks, and files for 2", Reading(max_memory=memory))


def test_zarr_that_is_not_packed(tmp_path):
    X = write_zarr(tmp_path / "t.zarr", chunks=(5, 4), compressors=None)
    assert_array_equal(read_table(tmp_path / "t.zarr", label="y").X, X)


def test_zarr_packed_twice(tmp_path):
    known = packers()
    path, twice = tmp_path / "t.zarr", [known["Zlib"]]
    write_zarr(path, chunks=(5, 4), filters=twice, compressors=known["BZ2"], zarr_format=2)
    refused(zarr_store, path, "X is packed by zlib and bz2")
