"""What goes wrong around a command: full disks, folders to read only, other names and clocks."""

import gc
import gzip
import os
import shutil
import subprocess
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import polars as pl
import pytest
from scipy.io import mmwrite
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file, load_iris

from semisift import Protocol, Results, compare
from semisift.cli._output import _as_date
from semisift.io._formats.matlab import write_mat
from semisift.utils._files import process_name, remove_left_overs
from tests.commands import call, write_table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has other links and file systems")

# --- a full disk ----------------------------------------------------------------------------------


@contextmanager
def file_system(folder, size):
    """Make a file system of that size at a folder."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root may make a small file system, and some containers forbid it")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Return a file system with room for 32 kB."""
    with file_system(tmp_path_factory.mktemp("tiny"), "32k") as folder:
        yield folder


@pytest.fixture
def full(tiny):
    """Return a folder in which whatever is larger than 24 kB does not fit."""
    for path in tiny.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (tiny / "kept").write_bytes(b"x" * 100)
    yield tiny
    assert [path.name for path in tiny.iterdir()] == ["kept"]  # no half of a result, and no draft
    assert (tiny / "kept").read_bytes() == b"x" * 100


X = np.abs(np.random.default_rng(0).normal(size=(60, 120)))  # 58 kB
CODES = np.tile([0, 1, -1, -1], 15)
NAMES = [f"x{j}" for j in range(X.shape[1])]


def frame():
    return pl.DataFrame(X, schema=NAMES).with_columns(label=pl.Series([*"ab", None, None] * 15))


def write_arff(path):
    head = "".join(f"@attribute {name} numeric\n" for name in NAMES)
    rows = "".join(",".join(map(repr, row)) + "\n" for row in X.tolist())
    path.write_text(f"@relation a\n{head}@data\n{rows}")


def write_cells(path):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on what AnnData plans for zarr
        cells.write_h5ad(path) if path.suffix == ".h5ad" else cells.write_zarr(path)


WRITERS = {
    "csv": lambda path: frame().write_csv(path),
    "csv.gz": lambda path: path.write_bytes(gzip.compress(frame().write_csv().encode())),
    "parquet": lambda path: frame().write_parquet(path),
    "npz": lambda path: np.savez(path, X=X, y=CODES),
    "mat": lambda path: write_mat(path, {"X": X, "y": CODES[:, None]}, "5"),
    "hdf5.mat": lambda path: write_mat(path, {"X": X, "y": CODES[:, None]}, "7.3"),
    "arff": write_arff,
    "svmlight": lambda path: dump_svmlight_file(X, CODES, str(path)),
    "mtx": lambda path: mmwrite(path, csr_array(X)),
    "h5ad": write_cells,
    "zarr": write_cells,
}


STAYING = [(ending, ("--max-memory", "250kB")) for ending in ("h5ad", "parquet", "zarr")]


@pytest.mark.parametrize(
    ("ending", "memory"), [*((each, ()) for each in sorted(WRITERS)), *STAYING]
)
def test_a_table_that_does_not_fit_is_told(full, tmp_path, ending, memory):
    """In a process that goes on, in which nothing of the file is left open."""
    source = tmp_path / f"table.{ending}"
    WRITERS[ending](source)
    given = ["--label", "label"] if ending in ("csv", "csv.gz", "parquet") else []
    given += ["--method", "variance", "--top", 110, *memory]
    output = call("select", source, *given, "--out", full / f"small.{ending}", code=1)
    assert "No space left on device" in output.stderr
    assert "small" in output.stderr
    gc.collect()


@pytest.mark.parametrize("name", ["ranking.csv", "ranking.json", "ranking.parquet", "page.html"])
def test_results_that_do_not_fit_are_told(full, tmp_path, name):
    frame().write_csv(tmp_path / "table.csv")
    (full / "filling").write_bytes(b"x" * 27_000)
    option = "--report" if name.endswith("html") else "--out"
    given = ("--label", "label", "--method", "variance", option, full / name)
    output = call("rank", tmp_path / "table.csv", *given, code=1)
    (full / "filling").unlink()
    assert "No space left on device" in output.stderr


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
from semisift.cli import start
start()
"""


def limited(*arguments):
    """Call the command line where no file may have more than 16 KiB (``ulimit -f``)."""
    command = [sys.executable, "-c", LIMITED, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


OTHERS = sorted({*WRITERS} - {"npz"})
NIGHTLY = [pytest.param(each, marks=pytest.mark.nightly) for each in OTHERS]


@pytest.mark.parametrize("ending", ["npz", *NIGHTLY])
def test_a_table_larger_than_files_may_be_is_named(tmp_path, ending):
    source, small = tmp_path / f"table.{ending}", tmp_path / f"small.{ending}"
    WRITERS[ending](source)
    given = ["--label", "label"] if ending in ("csv", "csv.gz", "parquet") else []
    output = limited("select", source, *given, "--method", "variance", "--top", 110, "--out", small)
    assert output.returncode == 1
    assert output.stderr == f"Error: {small}: File too large.\n"


@pytest.mark.nightly
def test_of_several_results_the_one_that_is_too_large_is_named(tmp_path):
    frame().write_csv(tmp_path / "table.csv")
    ranking, page = tmp_path / "ranking.csv", tmp_path / "page.html"
    given = ("rank", tmp_path / "table.csv", "--label", "label", "--method", "variance")
    output = limited(*given, "--out", ranking, "--report", page)
    assert output.stderr == f"Error: {page}: File too large.\n"
    assert not ranking.exists()


def test_a_comparison_goes_on_when_there_is_room_again(full, tmp_path):
    """The records that were written stay, and the others are made."""
    sets = {"iris": load_iris(return_X_y=True)}
    protocol = Protocol(n_runs=8, sizes=(1,), judges=("nb",))
    with pytest.raises(OSError, match="No space left on device"):
        compare("random,variance", sets, protocol, out=full / "out")
    n_left = Results.load(full / "out").n_missing
    assert 0 < n_left < 16
    shutil.move(full / "out", tmp_path / "out")
    resumed = compare("random,variance", sets, protocol, out=tmp_path / "out", resume=True)
    assert resumed.same_numbers(compare("random,variance", sets, protocol))
    assert not [path for path in (tmp_path / "out").rglob(".*") if path.name != ".lock"]


# --- folders that cannot be written to ------------------------------------------------------------


@pytest.fixture
def read_only(tmp_path):
    """Return a folder with table.csv that cannot be written to."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    if os.geteuid():
        write_table(folder).chmod(0o555)
        yield folder
        folder.chmod(0o755)
        return
    with file_system(folder, "64k"):  # modes do not keep root out
        write_table(folder)
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield folder


@pytest.mark.parametrize(
    ("command", "out"), [("rank", "a.csv"), ("select", "a.csv"), ("predict", "a.csv")]
)
def test_read_only_folders_are_told_before_any_work(read_only, command, out):
    output = call(
        command, read_only / "table.csv", "--label", "label", "--out", read_only / out, code=2
    )
    assert "cannot be written to" in " ".join(output.stderr.split())
    assert [path.name for path in read_only.iterdir()] == ["table.csv"]


def test_a_comparison_in_a_read_only_folder(read_only):
    sets = {"iris": load_iris(return_X_y=True)}
    with pytest.raises(OSError, match=r"Read-only file system|Permission denied"):
        compare("random", sets, Protocol(n_runs=1, sizes=(1,)), out=read_only / "runs")
    assert [path.name for path in read_only.iterdir()] == ["table.csv"]


# --- other names of what is read ------------------------------------------------------------------


@pytest.mark.parametrize("way", ["hard", "symbolic", "through a folder"])
def test_the_input_has_no_other_name_to_be_overwritten_by(tmp_path, way):
    table = write_table(tmp_path) / "table.csv"
    other = tmp_path / "other.csv"
    if way == "hard":
        os.link(table, other)
    elif way == "symbolic":
        other.symlink_to(table)
    else:
        (tmp_path / "door").symlink_to(tmp_path)
        other = tmp_path / "door" / "table.csv"
    before = table.read_bytes()
    for command in ("rank", "select"):
        output = call(command, table, "--label", "label", "--out", other, code=2).stderr
        assert "is a file that is read" in " ".join(output.split())
        # and the other way round
        output = call(command, other, "--label", "label", "--out", table, code=2).stderr
        assert "is a file that is read" in " ".join(output.split())
    assert table.read_bytes() == other.read_bytes() == before
    assert not list(tmp_path.glob(".semisift-*"))


def test_a_link_to_a_result_is_replaced_and_not_followed(tmp_path):
    write_table(tmp_path)
    (tmp_path / "precious.csv").write_text("precious")
    (tmp_path / "out.csv").symlink_to(tmp_path / "precious.csv")
    given = ("--label", "label", "--drop", "id", "--method", "fisher")
    call("rank", tmp_path / "table.csv", *given, "--out", tmp_path / "out.csv")
    assert (tmp_path / "precious.csv").read_text() == "precious"
    assert not (tmp_path / "out.csv").is_symlink()


def test_nothing_is_written_into_a_folder_that_is_read(tmp_path):
    pytest.importorskip("zarr")
    write_cells(tmp_path / "cells.zarr")
    out = tmp_path / "cells.zarr" / "ranking.csv"
    output = call("rank", tmp_path / "cells.zarr", "--method", "variance", "--out", out, code=2)
    assert "lies in a folder that is read" in " ".join(output.stderr.split())
    assert not out.exists()


# --- clocks ---------------------------------------------------------------------------------------


def test_a_clock_that_jumps_takes_no_draft_from_a_process_that_lives(tmp_path, monkeypatch):
    mine, foreign = (
        tmp_path / f".semisift-{name}-x" for name in (process_name(), f"{'0' * 12}-1-1")
    )
    for folder in (mine, foreign):
        folder.mkdir()
        (folder / "half").write_text("half")
        os.utime(folder, (0, 0))  # begun long ago, written to just now
    remove_left_overs([mine, foreign])
    assert mine.exists()
    assert foreign.exists()
    os.utime(foreign / "half", (0, 0))
    os.utime(mine / "half", (0, 0))
    remove_left_overs([mine, foreign])
    assert (mine.exists(), foreign.exists()) == (True, False)


def test_drafts_that_cannot_be_removed_are_left(tmp_path, monkeypatch):
    draft = tmp_path / f".{'0' * 12}-1-1-x.draft"
    draft.write_text("another user's")
    os.utime(draft, (0, 0))

    def refuse(*args, **kwargs):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(type(draft), "unlink", refuse)
    remove_left_overs([draft])
    assert draft.exists()


@pytest.mark.parametrize("seconds", [-(10**10), 0, 2**33, 10**12])
def test_times_of_files_that_no_calendar_has(tmp_path, seconds):
    pytest.importorskip("anndata")
    path = tmp_path / "cells.h5ad"
    write_cells(path)
    os.utime(path, (seconds, seconds))
    given = ("--method", "variance", "--max-memory", "250kB", "--out", tmp_path / "ranking.json")
    call("rank", path, *given)
    assert (tmp_path / "ranking.json").exists()


def test_times_that_no_calendar_has_are_no_date():
    """Asked directly, since few file systems keep such times."""
    assert _as_date(0) == "1970-01-01T00:00:00+00:00"
    for seconds in (1e12, -1e12, 1e300, float("inf"), float("nan")):
        assert _as_date(seconds) is None


def test_a_clock_that_jumps_changes_no_record(monkeypatch):
    import time

    sets = {"iris": load_iris(return_X_y=True)}
    protocol = Protocol(n_runs=2, sizes=(1,), judges=("nb",))
    plain = compare("random", sets, protocol)
    jumps = iter(range(10**9, 0, -(10**5)))
    monkeypatch.setattr(time, "time", lambda: float(next(jumps)))
    jumped = compare("random", sets, protocol)
    assert jumped.same_numbers(plain)
    assert all(record["measured"]["seconds"] >= 0 for record in jumped.records)
