"""``rank`` and ``select`` on tables whose rows stay in the file."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from semisift.cli import _terminal
from semisift.io import read_table
from semisift.out_of_core._matrix import OutOfCoreMatrix
from tests.commands import call
from tests.stored_files import (
    CELLS,
    GENES,
    N_LABELLED,
    N_ROWS,
    flags,
    make_cells,
    reading,
    write,
)

# Each form is read by tests of its own; here, one represents the others on most days.
FORMS = [
    pytest.param(form, marks=[] if form == "table.parquet" else pytest.mark.nightly)
    for form in ("csr.h5ad", "dense.h5ad", "csr.zarr", "dense.zarr", "table.parquet")
]
TWO_FORMS = ["csr.h5ad", *FORMS[1:]]

N_UNLABELLED = N_ROWS - N_LABELLED


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("semisift.out_of_core._matrix.BLOCK_VALUES", 1 << 10)


def in_memory(form):
    return [f"--{name}={value}" for name, value in reading(form).items()]


def ranked(path, *more):
    """Return the facts of a ranking."""
    target = path.parent / "ranking.json"
    result = call("rank", path, *more, "--out", target)
    return json.loads(target.read_text()), result.output


# --- the same results -----------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "method",
    [
        ["fisher"],
        ["variance"],
        ["transductive", "--param", "max_unlabelled=80"],
        ["ssfi", "--param", "max_unlabelled=80", "--param", "n_members=100"],
    ],
    ids=lambda method: method[0],
)
def test_the_ranking_is_that_of_memory(tmp_path, form, method):
    path = write(tmp_path, form, height=70)
    in_one, _ = ranked(path, *in_memory(form), "--method", *method)
    found, _ = ranked(path, *flags(form), "--method", *method)
    assert found["ranking"] == in_one["ranking"]
    assert found["parameters"] == in_one["parameters"]


@pytest.mark.parametrize("form", TWO_FORMS)
def test_what_is_told_and_written(tmp_path, form):
    path = write(tmp_path, form)
    labels, page, passes = (tmp_path / name for name in ("labels.csv", "page.html", "passes"))
    more = ["--method", "transductive", "--param", "max_unlabelled=80", "--cache-dir", passes]
    facts, output = ranked(path, *flags(form, *more, "--predictions", labels, "--report", page))
    words = (
        f"The ranking was made from 80 of {N_UNLABELLED} unlabelled rows, drawn at random; all "
        "rows were labelled in a last pass."
    )
    assert facts["notes"] == [words]
    assert words in output.replace("\n", " ").replace("  ", " ")
    text = page.read_text()
    assert words in text
    assert "this picture and those below show" in text
    assert f"of {N_ROWS} rows, drawn at random, of which {N_LABELLED} carry a label" in text
    assert f"<dd>{N_ROWS}</dd>" in text
    assert 'id="map' in text
    # no checksum, which would read the file once more
    assert "sha256" not in facts["input"]
    assert facts["input"]["file"] == form
    assert facts["input"]["bytes"] > 0
    assert facts["input"]["modified"].startswith("20")
    assert "<dt>modified</dt>" in text
    frame = pl.read_csv(labels)
    assert frame["row"].to_list() == CELLS
    assert frame["given"].sum() == N_LABELLED
    assert len(list(passes.glob("*.npz"))) == 2


def test_statistics_are_those_of_all_rows(tmp_path):
    facts, _ = ranked(write(tmp_path, "csr.h5ad"), *flags("csr.h5ad", "--method", "fisher"))
    assert facts["notes"] == [
        "The ranking was made from the labelled rows and from passes over all 600 rows."
    ]


@pytest.mark.filterwarnings("always:150 kB of memory hold")
@pytest.mark.parametrize("form", FORMS[2::2])
def test_a_ranking_by_itself_is_assessed_on_the_sample(tmp_path, form):
    facts, output = ranked(write(tmp_path, form), *flags(form, "--seed", "1"))
    assert facts["assessment"]["n_permutations"] > 0
    assert output.count("of memory hold") == 1
    assert "valid feature names" not in output
    assert {row["feature"] for row in facts["ranking"][:4]} == set(GENES[:4])


@pytest.mark.parametrize("form", [FORMS[1], *FORMS[3:]])
def test_long_tails_are_seen_in_some_rows(tmp_path, form):
    X = np.exp(np.random.default_rng(0).normal(5, 1, size=(N_ROWS, len(GENES))))
    path = write(tmp_path, form, X.astype(np.float32))
    options = flags(form, "--method", "fisher")
    assert "long right tail" in call("rank", path, *options).output
    output = call("rank", path, *options, "--log").output
    assert "long right tail" not in output
    assert "log(1 + x) is taken of 30 columns" in output


def test_a_trial_hides_labels(tmp_path):
    path = write(tmp_path, "csr.h5ad", labels=np.array(["ab"[i % 2] for i in range(N_ROWS)]))
    method = ["--method", "transductive", "--param", "max_unlabelled=80"]
    method += ["--labels-per-class", "10"]
    assert "Of the 580 hidden labels" in call("rank", path, *flags("csr.h5ad", *method)).output


# --- select ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", TWO_FORMS)
def test_the_reduced_table_is_written_by_blocks(tmp_path, form, monkeypatch):
    path = write(tmp_path, form)
    small, in_one = (tmp_path / f"{name}.{form.partition('.')[2]}" for name in ("small", "whole"))
    method = ["--method", "fisher", "--top", "4"]
    call("select", path, *in_memory(form), *method, "--out", in_one)
    monkeypatch.setattr("semisift.io._formats._anndata.WRITTEN_AT_ONCE", 3000)
    monkeypatch.setattr("semisift.io._formats.parquet.read_in_child", None)  # nor read as a whole
    call("select", path, *flags(form), *method, "--out", small)
    monkeypatch.undo()
    one, other = (read_table(each, **reading(form)) for each in (small, in_one))
    assert one.feature_names == other.feature_names == GENES[:4]
    assert one.y.tolist() == other.y.tolist()
    assert one.row_ids == other.row_ids == CELLS
    values = [each.toarray() if hasattr(each, "toarray") else each for each in (one.X, other.X)]
    assert values[0].tobytes() == values[1].tobytes()


# --- bad input and wrong usage --------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_bad_values_leave_nothing(tmp_path, form):
    X, _ = make_cells()
    X[417, 22] = np.nan
    path, target = write(tmp_path, form, X, height=10), tmp_path / "out"
    target.mkdir()
    outputs = ["--out", target / "r.csv", "--report", target / "r.html"]
    output = call("rank", path, *flags(form, "--method", "variance", *outputs), code=1).output
    assert "NaN" in output
    assert "(row 417 of" in output
    assert list(target.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--missing", "median"], "--missing median needs all values at once"),
        (["--na", "-9"], "--na -9 needs all values at once"),
        (["--categorical", "onehot"], "--categorical onehot needs all values at once"),
        (["--category", "g1"], "--category g1 needs all values at once"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_what_needs_all_values_is_refused(tmp_path, form, options, message):
    path = write(tmp_path, form)
    output = " ".join(call("rank", path, *flags(form, *options), code=1).output.split())
    assert message in output
    assert "Allow more with --max-memory" in output


def test_sizes_and_places_that_are_none(tmp_path):
    path = write(tmp_path, "csr.h5ad")
    output = call("rank", path, "--label", "kind", "--max-memory", "much", code=2).output
    assert "--max-memory must be a number of bytes, such as 4GB" in output
    (tmp_path / "taken").write_text("")
    output = call(
        "rank", path, *flags("csr.h5ad", "--cache-dir", tmp_path / "taken"), code=1
    ).output
    assert "no folder can be made there" in output
    (tmp_path / "t.csv").write_text("a,b,kind\n1,2,a\n3,4,b\n")
    output = call(
        "rank", tmp_path / "t.csv", "--label", "kind", "--max-memory", "1GB", code=1
    ).output
    assert "--max-memory is for h5ad, zarr, parquet files" in output


def test_a_classifier_holds_all_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("semisift.out_of_core._matrix.available_memory", lambda: 1000)
    path, target = write(tmp_path, "csr.h5ad"), tmp_path / "labels.csv"
    call("predict", path, "--label", "kind", "--out", target)
    assert len(pl.read_csv(target, comment_prefix="#")) == N_ROWS
    output = call(
        "predict", path, "--label", "kind", "--max-memory", "1MB", "--out", target, code=2
    )
    assert "No such option" in output.output


# --- progress, interruption, resumption -----------------------------------------------------------


def test_a_pass_has_a_bar_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(_terminal, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    read = OutOfCoreMatrix.read
    monkeypatch.setattr(
        OutOfCoreMatrix, "read", lambda self, *span: time.sleep(0.05) or read(self, *span)
    )
    path = write(tmp_path, "csr.h5ad")
    method = ["--method", "transductive", "--param", "max_unlabelled=80"]
    output = call("rank", path, *flags("csr.h5ad", *method)).output
    assert "labelling, " in output
    assert " rows/s" in output
    output = call("rank", path, *flags("csr.h5ad", *method), "--quiet").output
    assert "rows/s" not in output


SLOW = """
import time
import semisift.out_of_core._matrix as stored
stored.BLOCK_VALUES = 1 << 10
read = stored.OutOfCoreMatrix.read
def slowly(self, *span):
    time.sleep({seconds})
    return read(self, *span)
stored.OutOfCoreMatrix.read = slowly
from semisift.cli import main
main()
"""


@pytest.mark.kill
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for other processes")
@pytest.mark.parametrize("form", ["csr.h5ad", "dense.zarr", "table.parquet"])
def test_an_interrupted_pass_leaves_nothing_half_written(tmp_path, form):
    path, passes, target = write(tmp_path, form), tmp_path / "passes", tmp_path / "out"
    target.mkdir()
    method = ["--method", "transductive", "--param", "max_unlabelled=80", "--cache-dir", passes]
    command = ["rank", path, *flags(form, *method), "--out", target / "ranking.json"]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW.format(seconds=0.3), *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    end = time.monotonic() + 60
    while not list(passes.glob("sample-*.npz")) and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.3)  # in the middle of the next pass
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"Interrupted." in errors
    assert list(target.iterdir()) == []
    (kept,) = passes.iterdir()
    assert kept.name.startswith("sample-")
    # the second start goes on from there, and finds what an undisturbed one finds
    written = kept.stat().st_mtime_ns
    call(*command)
    assert kept.stat().st_mtime_ns == written
    assert len(list(passes.iterdir())) == 2
    undisturbed, _ = ranked(path, *flags(form, *method[:-2]))
    assert json.loads((target / "ranking.json").read_text())["ranking"] == undisturbed["ranking"]
