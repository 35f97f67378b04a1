"""``semisift explore``: how it starts, ends and writes, and that a kill loses no answer."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from semisift.cli import explore as explore_module
from semisift.utils._files import _begun, _place
from tests.commands import call
from tests.conftest import make_data
from tests.explore.sessions import image_table, write_cells
from tests.stored_files import write

OF_CELLS = ("--label", "kind", "--id", "id")


class Process:
    """The command, in a process of its own."""

    def __init__(self, folder, *options, browser=False, env=None):
        command = [sys.executable, "-m", "semisift", "explore", *map(str, options)]
        self.process = subprocess.Popen(
            command if browser else [*command, "--no-browser"],
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = []
        while not (found := re.search(r"http://\S+", "".join(self.lines[-1:]))):
            line = self.process.stdout.readline()
            assert line, "".join(self.lines)
            self.lines.append(line)
        self.host, self.token = found.group().split("/?token=")

    def ask(self, path, body=None):
        request = urllib.request.Request(
            self.host + path,
            None if body is None else json.dumps(body).encode(),
            {"X-Semisift-Token": self.token},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def end(self, number):
        """Send a signal, and return what was said after it."""
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=120)
        return output


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture
def table(tmp_path):
    return write_cells(tmp_path)


def in_this_process(monkeypatch, answer):
    """Let the command serve no longer than it takes to answer."""
    sessions = []

    def serve(request, server):
        sessions.append(server.page.session)
        answer(server.page.session)
        server.server_close()

    monkeypatch.setattr(explore_module, "_serve", serve)
    return sessions


def test_help():
    text = call("explore", "--help").output
    for word in ("--out", "--answers", "--image", "--port", "--no-browser", "--label", "--seed"):
        assert word in text
    assert "--must-link" not in text
    assert "explore" in call("--help").output


@pytest.mark.kill
def test_a_kill_loses_no_answer_and_a_second_process_is_refused(tmp_path, table):
    options = ("cells.csv", "--label", "kind", "--id", "id")
    first = Process(tmp_path, *options)
    for version in range(6):
        answer = {"row": 20 + version, "label": "A", "version": version}
        assert first.ask("/api/label", answer) == {"labels_version": version + 1}
    refused = call("explore", table, *options[1:], "--no-browser", code=1).output
    assert f"by process {first.process.pid}" in " ".join(refused.split())
    first.process.kill()  # between answers, while it ranks
    first.process.communicate()
    second = Process(tmp_path, *options)
    state = second.ask("/api/state")
    assert state["classes"][0]["given"] == 6
    for version in range(6):
        assert second.ask("/api/undo", {"version": version})["row"] == 25 - version
    assert second.ask("/api/state")["classes"][0]["given"] == 0
    assert "given here" not in second.end(signal.SIGTERM)
    assert second.process.returncode == 143
    assert sorted(os.listdir(tmp_path)) == ["cells.csv", "cells.csv.labels.csv"]


@pytest.mark.kill
@pytest.mark.parametrize("odd", ["two\nlines", "two\rlines", "a\0b", "a\x1fb", " a", "a\u2003"])
def test_rank_finds_rows_again_whose_names_no_text_table_keeps(tmp_path, odd):
    data = make_data()
    names = [f"s{i}" for i in range(len(data.y))]
    names[40] = odd
    np.savez(tmp_path / "cells.npz", X=data.X, y=data.y, row_names=names)
    process = Process(tmp_path, "cells.npz")
    for version, row in enumerate((40, 50)):
        process.ask("/api/label", {"row": row, "label": "1", "version": version})
    process.end(signal.SIGINT)
    again = Process(tmp_path, "cells.npz")  # the file is read by the next session, too
    assert sum(each["given"] for each in again.ask("/api/state")["classes"]) == 2
    again.end(signal.SIGINT)
    labels, out = tmp_path / "cells.npz.labels.csv", tmp_path / "given.parquet"
    call("rank", tmp_path / "cells.npz", "--labels", labels, "--predictions", out, "--no-assess")
    given = pl.read_parquet(out).filter("given")
    labelled = {*np.flatnonzero(data.y >= 0), 40, 50}
    assert given["row"].to_list() == [names[row] for row in sorted(labelled)]
    assert given["label"].to_list()[-2:] == ["1", "1"]


@pytest.mark.kill
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_labels_that_have_vanished_are_written_again_at_the_end(tmp_path, table, number):
    process = Process(tmp_path, "cells.csv", "--label", "kind", "--id", "id")
    for version in range(3):
        process.ask("/api/label", {"row": 40 + version, "label": "A", "version": version})
    path = tmp_path / "cells.csv.labels.csv"
    before = path.read_bytes()
    path.unlink()
    assert "cells.csv.labels.csv had vanished, and was written again" in process.end(number)
    assert path.read_bytes() == before
    assert process.process.returncode == (0 if number == signal.SIGINT else 143)


def test_labels_whose_file_cannot_be_read_are_written_beside_it_at_the_end(
    tmp_path, table, monkeypatch
):
    path = tmp_path / "cells.csv.labels.csv"
    foreign = "id,kind\nnobody,A\n"

    def answer(session):
        session.label(40, "A", 0)
        path.write_text(foreign)

    in_this_process(monkeypatch, answer)
    options = ("--label", "kind", "--id", "id", "--out", tmp_path / "results", "--no-assess")
    (tmp_path / "cells.csv.labels.kept.csv").write_text("of an earlier time")
    output = "".join(call("explore", table, *options).output.split())
    kept = tmp_path / "cells.csv.labels.kept1.csv"
    assert f"goonwith--answers{kept}." in output
    assert f"1labelgivenhere:{kept}" in output
    assert '"s40","A"' in kept.read_text()
    assert path.read_text() == foreign
    assert '"cells.csv.labels.kept1.csv"' in (tmp_path / "results" / "ranking.csv").read_text()


def test_results_are_of_the_labels_that_another_program_left(tmp_path, table, monkeypatch):
    def answer(session):
        session.label(40, "A", 0)
        path = tmp_path / "cells.csv.labels.csv"
        path.write_text(path.read_text().replace('"s40","A"', '"s41","B"'))

    in_this_process(monkeypatch, answer)
    options = ("--label", "kind", "--id", "id", "--out", tmp_path / "results", "--no-assess")
    call("explore", table, *options)
    labels = pl.read_csv(tmp_path / "results" / "labels.csv", comment_prefix="# ")
    assert labels["given"].to_list()[39:43] == [False, False, True, False]


@pytest.mark.kill
def test_a_link_and_its_target_are_one_file(tmp_path, table):
    (tmp_path / "link.csv").symlink_to("real.csv")
    first = Process(tmp_path, "cells.csv", *OF_CELLS, "--answers", "link.csv")
    answers = ("--answers", tmp_path / "real.csv", "--no-browser")
    refused = call("explore", table, *OF_CELLS, *answers, code=1).output
    assert f"by process {first.process.pid}" in " ".join(refused.split())
    first.ask("/api/label", {"row": 40, "label": "A", "version": 0})
    assert "1 label given here: link.csv" in first.end(signal.SIGINT)
    assert (tmp_path / "link.csv").is_symlink()
    assert '"s40","A"' in (tmp_path / "real.csv").read_text()
    names = ["cells.csv", "link.csv", "real.csv"]
    assert sorted(os.listdir(tmp_path)) == names


def test_links_that_go_round_in_circles_are_an_error(tmp_path, table):
    (tmp_path / "a.csv").symlink_to("b.csv")
    (tmp_path / "b.csv").symlink_to("a.csv")
    given = (*OF_CELLS, "--no-browser", "--answers", tmp_path / "a.csv")
    assert "a.csv" in call("explore", table, *given, code=1).output


@pytest.mark.kill
def test_drafts_of_killed_sessions_are_removed_by_the_next_one(tmp_path, table):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, lives = (
        tmp_path / f".{_place()}-{pid}-{begun}-0123abcd.draft"
        for pid, begun in ((dead.pid, 1), (os.getpid(), _begun(os.getpid())))
    )
    others = tmp_path / ".mine.draft"
    for path in (left, lives, others):
        path.write_text("half a label")
        os.utime(path, (0, 0))
    process = Process(tmp_path, "cells.csv", *OF_CELLS)
    assert [path.exists() for path in (left, lives, others)] == [False, True, True]
    assert "Terminated." in process.end(signal.SIGTERM)
    assert process.process.returncode == 143


@pytest.mark.kill
def test_ctrl_c_writes_the_results(tmp_path, table):
    before = table.read_bytes()
    options = ("--label", "kind", "--id", "id", "--out", "results", "--no-assess")
    process = Process(tmp_path, "cells.csv", *options)
    process.ask("/api/label", {"row": 40, "label": "B", "version": 0})
    output = process.end(signal.SIGINT)
    assert process.process.returncode == 0
    assert "1 label given here: cells.csv.labels.csv" in output
    for name in ("ranking.csv", "labels.csv", "report.html"):
        assert f"Written: results/{name}" in output
        assert (tmp_path / "results" / name).exists()
    assert table.read_bytes() == before


def test_results_are_those_of_rank(tmp_path, table, monkeypatch):
    in_this_process(monkeypatch, lambda session: session.label(40, "C", 0))
    options = ("--label", "kind", "--id", "id")
    call("explore", table, *options, "--out", tmp_path / "results", "--no-assess")
    labels = tmp_path / "cells.csv.labels.csv"
    ranked = ("--no-assess", "--out", tmp_path / "ranking.csv", "--predictions", tmp_path / "l.csv")
    call("rank", table, *options, "--labels", labels, *ranked)
    for mine, other in [("ranking.csv", "ranking.csv"), ("labels.csv", "l.csv")]:
        frames = [
            pl.read_csv(folder, comment_prefix="# ")
            for folder in (tmp_path / "results" / mine, tmp_path / other)
        ]
        assert frames[0].equals(frames[1])
    facts = (tmp_path / "results" / "ranking.csv").read_text()
    assert '"cells.csv.labels.csv"' in facts


def test_what_the_page_had_written_is_not_written_again(tmp_path, table, monkeypatch):
    def answer(session):
        session.label(40, "C", 0)
        session.finish()
        while session.finished is None:
            session.wait(session.version, 1.0)

    in_this_process(monkeypatch, answer)
    times = []
    original = explore_module._write
    monkeypatch.setattr(explore_module, "_write", lambda *args: times.append(1) or original(*args))
    options = ("--label", "kind", "--id", "id", "--out", tmp_path / "results", "--no-assess")
    assert "Written" in call("explore", table, *options).output
    assert len(times) == 1


def test_without_labels_nothing_is_written(tmp_path, monkeypatch):
    table = write_cells(tmp_path, labels=[None] * 60, names=False)
    in_this_process(monkeypatch, lambda session: None)
    output = call("explore", table, "--drop", "kind", "--out", tmp_path / "results").output
    assert "nothing was written" in output
    assert list((tmp_path / "results").iterdir()) == []


def test_a_table_without_a_column_of_labels(tmp_path, monkeypatch):
    table = write_cells(tmp_path, labels=[None] * 60, names=False)

    def answer(session):
        session.label(3, "odd", 0)
        session.label(2, "even", 1)

    in_this_process(monkeypatch, answer)
    call("explore", table, "--drop", "kind", "--answers", tmp_path / "mine.csv")
    lines = (tmp_path / "mine.csv").read_text().splitlines()
    assert lines[1:6] == ['"label"', '"NA"', '"NA"', '"even"', '"odd"']
    call("rank", table, "--drop", "kind", "--labels", tmp_path / "mine.csv", "--no-assess")


def test_results_of_stored_rows_are_made_from_all(tmp_path, monkeypatch):
    monkeypatch.setattr("semisift.out_of_core._matrix.BLOCK_VALUES", 1 << 10)
    monkeypatch.setattr(explore_module, "MAX_AT_ONCE", "150kB")
    table = write(tmp_path, "csr.h5ad")
    sessions = in_this_process(monkeypatch, lambda session: session.label(100, "b", 0))
    call("explore", table, "--label", "kind", "--out", tmp_path / "results", "--no-assess")
    assert sessions[0].dataset.table.is_stored
    labels = pl.read_csv(tmp_path / "results" / "labels.csv")
    assert len(labels) == 600
    assert labels["given"].sum() == 41


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--image", "3x3"], "9 pixels, and the table has 6 features"),
        (["--image", "2"], "as in 28x28"),
        (["--image", "0x6"], "as in 28x28"),
        (["--port", "70000"], "70000"),
        (["--answers", "{table}"], "a file that is read"),
        (["--answers", "labels.txt"], "must be a csv file"),
        (["--answers", "nowhere/labels.csv"], "folder that exists"),
        (["--out", "nowhere/at/all"], "cannot be made"),
        (["--label", "nothing"], "nothing"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path, options, words):
    table = image_table(tmp_path)
    options = [each.format(table=table) for each in options]
    code = 1 if "features" in words or words == "nothing" else 2
    output = call("explore", table, *options, "--no-browser", code=code).output
    assert words in " ".join(output.split())
    assert not list(tmp_path.glob("*labels.csv"))


def test_a_port_that_is_taken_is_said(tmp_path, table):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        options = ("--id", "id", "--label", "kind", "--port", port, "--no-browser")
        output = call("explore", table, *options, code=2).output
    assert "cannot be used" in output


BROWSER = """#!{python}
import json, os, pathlib, re, stat, sys, urllib.request
address = sys.argv[1]
file = pathlib.Path(urllib.request.url2pathname(address.removeprefix("file://")))
seen = {{"argv": sys.argv[1:], "file": str(file), "text": file.read_text()}}
seen["modes"] = [stat.S_IMODE(each.stat().st_mode) for each in (file, file.parent)]
if {opens}:
    leads_to = re.search('url=([^"]+)"', seen["text"])[1]
    seen["title"] = urllib.request.urlopen(leads_to).read().decode()[:15]
pathlib.Path("seen.tmp").write_text(json.dumps(seen))
os.rename("seen.tmp", "seen.json")
"""


def start_with_browser(folder, home, *, opens):
    """Start the command with a browser that writes down what it sees, and return both."""
    (folder / "seen.json").unlink(missing_ok=True)
    browser = folder / "browser"
    browser.write_text(BROWSER.format(python=sys.executable, opens=opens))
    browser.chmod(0o755)
    places = {"BROWSER": str(browser), "HOME": str(home), "TMPDIR": str(folder / "tmp")}
    process = Process(folder, "cells.csv", *OF_CELLS, browser=True, env={**os.environ, **places})
    wait_for((folder / "seen.json").exists)
    return process, json.loads((folder / "seen.json").read_text())


@pytest.mark.kill
@pytest.mark.skipif(os.name == "nt", reason="the browser is a script")
@pytest.mark.parametrize("has_home", [True, False])
def test_a_browser_is_led_to_the_page_by_a_file_that_others_cannot_read(tmp_path, table, has_home):
    """Its command line can be read by every user of the machine."""
    home, tmp = tmp_path / "home", tmp_path / "tmp"
    for folder in [home, tmp] if has_home else [tmp]:
        folder.mkdir()
    process, seen = start_with_browser(tmp_path, home, opens=True)
    assert process.token not in "".join(seen["argv"])
    assert f"url={process.host}/?token={process.token}" in seen["text"]
    assert seen["title"] == "<!DOCTYPE html>"
    assert seen["modes"] == [0o600, 0o700]
    place = home if has_home else tmp
    assert seen["file"].startswith(f"{place}/semisift-page-")
    wait_for(lambda: not [*place.iterdir()])  # while the page is still served
    process.ask("/api/state")
    process.end(signal.SIGINT)


@pytest.mark.kill
@pytest.mark.skipif(os.name == "nt", reason="the browser is a script")
def test_what_leads_a_browser_to_the_page_does_not_stay(tmp_path, table):
    home = tmp_path / "home"
    home.mkdir()
    mine = home / "semisift-page-notes"
    mine.mkdir()
    os.utime(mine, (0, 0))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process, seen = start_with_browser(tmp_path, home, opens=False)
        assert Path(seen["file"]).exists()
        process.end(number)
        assert Path(seen["file"]).exists() == (number == signal.SIGKILL)
    last, _ = start_with_browser(tmp_path, home, opens=True)
    wait_for(lambda: [*home.iterdir()] == [mine])
    last.end(signal.SIGINT)


@pytest.mark.kill
def test_no_browser_is_opened_where_none_is_wanted(tmp_path, table):
    (tmp_path / "browser").write_text(BROWSER.format(python=sys.executable, opens=False))
    (tmp_path / "browser").chmod(0o755)
    env = {**os.environ, "BROWSER": str(tmp_path / "browser"), "HOME": str(tmp_path)}
    process = Process(tmp_path, "cells.csv", *OF_CELLS, env=env)
    process.ask("/api/state")
    process.end(signal.SIGINT)
    assert not (tmp_path / "seen.json").exists()


def test_the_browser_is_opened_unless_told_otherwise(tmp_path, table, monkeypatch):
    led = []

    def stop(address):
        led.append(Path(address.removeprefix("file://")).read_text())
        raise KeyboardInterrupt

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(explore_module.webbrowser, "open", stop)
    output = call("explore", table, *OF_CELLS).output
    assert re.search('url=([^"]+)"', led[0])[1] in "".join(output.split())
    assert not [*tmp_path.glob("semisift-page-*")]
