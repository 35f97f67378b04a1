"""The soak finds what it looks for: its checks fail where something is wrong."""

import importlib.util
import itertools
import json
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from semisift import FisherScore, VarianceScore
from tests.conftest import make_data

SOURCE = Path(__file__).parents[2] / "tools" / "soak.py"


@pytest.fixture(scope="module")
def soak():
    spec = importlib.util.spec_from_file_location("soak", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.nightly
def test_turns_have_no_failure(soak):
    """Some of each kind that is not stopped, always the same."""
    done = [soak.take_turn(number) for number in range(8)]
    assert {kind for kind, _, _ in done} == {"fit", "use", "learn", "command"}
    assert [wrong for _, _, wrong in done if wrong] == []


def test_other_scores_are_a_failure(soak):
    data = make_data()
    fitted = [(cls().fit(data.X, data.y), None) for cls in (VarianceScore, FisherScore)]
    soak.same_outcome(fitted[0], fitted[0], "again")
    with pytest.raises(soak.WrongError, match="other scores"):
        soak.same_outcome(fitted[0], fitted[1], "again")
    with pytest.raises(soak.WrongError, match="too few rows"):
        soak.same_outcome(fitted[0], (None, "too few rows"), "again")


@pytest.mark.kill
def test_a_stopped_comparison_is_resumed_and_its_records_compared(soak, tmp_path):
    rng = np.random.default_rng(0)
    assert "records" in soak.stop_comparison(rng, tmp_path, signal.SIGKILL)
    stopped, straight = (soak.figures(tmp_path / store) for store in ("stopped", "straight"))
    assert stopped == straight
    path = next((tmp_path / "stopped").rglob("0003.json"))
    record = json.loads(path.read_text())
    record["top"].reverse()
    path.write_text(json.dumps(record))
    assert soak.figures(tmp_path / "stopped") != straight


class Ended:
    """A process that has ended with a status and some words."""

    def __init__(self, status, output=""):
        self.returncode, self.output = status, output

    def communicate(self, timeout=None):
        return "", self.output

    def poll(self):
        return self.returncode

    def send_signal(self, by):
        pass


TRACEBACK = 'Traceback (most recent call last):\n  File "semisift/cli.py"\nKeyboardInterrupt\n'


def ended_command(soak, monkeypatch, out, status, output=""):
    """Let every command be one that has ended so."""
    monkeypatch.setattr(soak, "draw_command", lambda *_: (["rank"], out))
    monkeypatch.setattr(soak, "start", lambda _: Ended(status, output))
    monkeypatch.setattr(soak, "time", SimpleNamespace(sleep=lambda _: None))


@pytest.mark.parametrize("output", [TRACEBACK, "Traceback (most recent call last):\nOSError\n"])
def test_a_traceback_of_a_command_is_a_failure(soak, output):
    assert soak.finish(Ended(1, "Nothing to rank.")) == (1, "Nothing to rank.")
    early = TRACEBACK.replace("semisift", "site")
    assert soak.finish(Ended(1, early)) == (1, early)
    with pytest.raises(soak.WrongError, match="a traceback"):
        soak.finish(Ended(1, output))


def test_a_command_without_end_is_a_failure(soak, monkeypatch):
    monkeypatch.setattr(soak, "AT_MOST", 0.2)
    sleeping = [sys.executable, "-c", "import time; time.sleep(600)"]
    process = subprocess.Popen(sleeping, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with pytest.raises(soak.WrongError, match="took longer"):
        soak.finish(process)
    assert process.returncode


@pytest.mark.parametrize(
    ("status", "output", "files", "wrong"),
    [
        (0, "", {"out.json": "[]"}, None),
        (2, "No such column.", {}, None),
        (3, "Gone.", {}, "exit status 3"),
        (-11, "", {}, "exit status -11"),
        (1, TRACEBACK, {}, "a traceback"),
        (0, "", {}, "exit status 0, and a file: False"),
        (1, "No such column.", {"out.json": "[]"}, "exit status 1, and a file: True"),
        (0, "", {"out.json": "[1, "}, "Expecting value"),
        (1, " \n", {}, "refused without a word"),
        (0, "", {"out.json": "[]", ".semisift-x": ""}, "a draft stayed"),
    ],
)
def test_what_a_command_must_not_do(soak, monkeypatch, tmp_path, status, output, files, wrong):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    ended_command(soak, monkeypatch, tmp_path / "out.json", status, output)
    if wrong is None:
        assert soak.turn_command(None, tmp_path).startswith("rank")
        return
    with pytest.raises((soak.WrongError, ValueError), match=wrong):
        soak.turn_command(None, tmp_path)


class Drawn:
    """Random numbers that choose a signal to stop a command by."""

    def __init__(self, by):
        self.by = by

    def integers(self, _):
        return self.by

    def random(self):
        return 0.9

    def uniform(self, low, _):
        return low


@pytest.mark.parametrize(
    ("by", "status", "files", "wrong"),
    [
        (signal.SIGTERM, 143, {}, None),
        (signal.SIGKILL, -signal.SIGKILL, {".semisift-x": ""}, None),
        (signal.SIGKILL, -signal.SIGKILL, {"out.json": "[1, "}, "Expecting value"),
        (signal.SIGTERM, 143, {".semisift-x": ""}, "a draft stayed"),
        (signal.SIGTERM, -signal.SIGSEGV, {}, "exit status -11 after SIGTERM"),
        (signal.SIGTERM, 3, {}, "exit status 3 after SIGTERM"),
    ],
)
def test_what_a_stopped_command_must_not_leave(
    soak, monkeypatch, tmp_path, by, status, files, wrong
):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    ended_command(soak, monkeypatch, tmp_path / "out.json", status)
    rng = Drawn(soak.STOPS.index(by))
    if wrong is None:
        assert soak.turn_stop(rng, tmp_path) == f"rank, {by.name}"
        return
    with pytest.raises((soak.WrongError, ValueError), match=wrong):
        soak.turn_stop(rng, tmp_path)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # numpy's open file
@pytest.mark.parametrize("ending", ["json", "parquet", "npz"])
def test_a_file_cut_short_is_a_failure(soak, tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    if ending == "json":
        path.write_text(json.dumps({"rank": [1, 2, 3]}))
    elif ending == "parquet":
        pl.DataFrame({"rank": range(1_000)}).write_parquet(path)
    else:
        np.savez(path, X=np.ones((50, 20)), y=np.arange(50))
    soak.check_whole(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Exception, match=r"."):
        soak.check_whole(path)


def test_every_array_of_a_file_is_read(soak, tmp_path):
    """Its list of names may be whole where what they represent is not."""
    path = tmp_path / "out.npz"
    np.savez(path, X=np.ones((50, 20)), y=np.arange(50))
    content = bytearray(path.read_bytes())
    content[1_000:1_100] = bytes(100)
    path.write_bytes(content)
    with pytest.raises(zipfile.BadZipFile, match="CRC"):
        soak.check_whole(path)


# --- the hours ------------------------------------------------------------------------------------


def fails(rng, folder):
    raise MemoryError("no room")


def goes_well(rng, folder):
    return "well"


def short_soak(soak, monkeypatch, log, turn, sizes):
    """Soak for forty turns, by a clock that ticks whenever it is asked."""
    ticks = itertools.count()
    monkeypatch.setattr(soak, "time", SimpleNamespace(time=lambda: next(ticks)))
    monkeypatch.setattr(soak, "TURNS", {"only": (turn, 1.0)})
    monkeypatch.setattr(soak, "CHECK_EVERY", 1)
    monkeypatch.setattr(soak, "resident", lambda: next(sizes))
    monkeypatch.setattr(soak, "gc", SimpleNamespace(collect=int))  # a second each in a long session
    return soak.soak(120 / 3600, 0, log)


def test_a_turn_that_raises_is_a_failure(soak, monkeypatch, tmp_path, capsys):
    log = tmp_path / "log"
    assert short_soak(soak, monkeypatch, log, fails, itertools.repeat(100.0)) is False
    kind, what, wrong = soak.take_turn(0)
    assert (kind, what) == ("only", "failed")
    assert "MemoryError: no room" in wrong
    assert "failed: 40" in capsys.readouterr().out
    assert all("no room" in json.loads(line)["wrong"] for line in log.read_text().splitlines())


@pytest.mark.parametrize(("by", "well"), [(0, True), (1, True), (10, False)])
def test_growing_memory_is_a_failure(soak, monkeypatch, tmp_path, by, well):
    sizes = itertools.count(100.0, by)
    found = short_soak(soak, monkeypatch, tmp_path / "log", goes_well, sizes)
    assert bool(found) is well


# --- comparisons that were stopped ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "statuses", "wrong"),
    [
        ({}, (0, 0), None),
        ({"0001.json": {"top": [1, 0]}}, (0, 0), "other records after a stop"),
        ({"more.json": {}}, (0, 0), "other records after a stop"),
        ({}, (1, 0), "not resumed: Damaged"),
        ({}, (0, 1), "not run: Damaged"),
    ],
)
def test_other_records_after_a_stop_are_a_failure(
    soak, monkeypatch, tmp_path, found, statuses, wrong
):
    records = {f"{run:04}.json": {"top": [0, 1]} for run in range(2 * soak.RUNS)}
    stores = {"straight": records, "stopped": records | found}
    ends = ((status, "Damaged.") for status in statuses)
    monkeypatch.setattr(soak, "start", lambda _: None)
    monkeypatch.setattr(soak, "stopped", lambda *_, **__: None)
    monkeypatch.setattr(soak, "finish", lambda _: next(ends))
    monkeypatch.setattr(soak, "figures", lambda store: stores[store.name])
    if wrong is None:
        assert "after 40 records" in soak.stop_comparison(None, tmp_path, signal.SIGKILL)
        return
    with pytest.raises(soak.WrongError, match=wrong):
        soak.stop_comparison(None, tmp_path, signal.SIGKILL)


def test_a_comparison_that_lacks_records_is_a_failure(soak, monkeypatch, tmp_path):
    monkeypatch.setattr(soak, "start", lambda _: None)
    monkeypatch.setattr(soak, "stopped", lambda *_, **__: None)
    monkeypatch.setattr(soak, "finish", lambda _: (0, ""))
    monkeypatch.setattr(soak, "figures", lambda _: {"0001.json": {}})
    with pytest.raises(soak.WrongError, match="1 records"):
        soak.stop_comparison(None, tmp_path, signal.SIGKILL)


@pytest.mark.parametrize("kind", ["fit", "learn"])
def test_what_is_not_the_same_again_is_a_failure(soak, monkeypatch, kind):
    """A refusal the second time; an error without a word."""
    fitted = iter([(SimpleNamespace(ranking_=np.arange(1, 4)), None), (None, "no")])
    monkeypatch.setattr(soak, "fit_or_reject", lambda *_: next(fitted))
    monkeypatch.setattr(soak, "draw_table", lambda _: (np.ones((4, 3)), np.zeros(4)))
    with pytest.raises(soak.WrongError, match=r"again: None \| no|refused once"):
        soak.TURNS[kind][0](np.random.default_rng(0), None)


def test_a_refusal_says_something(soak):
    def refuses():
        raise ValueError(" ")

    with pytest.raises(soak.WrongError, match="without a word"):
        soak.fit_or_reject(refuses, None, None)
