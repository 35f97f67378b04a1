"""The records of a comparison survive whatever stops it."""

import contextlib
import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from semisift import Protocol, Results, compare
from semisift.comparison._run import RunKey
from semisift.comparison._store import ABOUT_RUNS, FORMAT, Store
from tests.cli.test_compare import call
from tests.nightly import few_daily

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals and no forkserver")

N_KILLS = 20
PROTOCOL = Protocol(n_runs=4, sizes=(1, 2), judges=("nb",))
METHODS = "fisher,random,variance,all-labels"

# Children of a server that has imported all there is: a real process in some milliseconds.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["semisift.comparison._compare", "sklearn.naive_bayes", __name__])


@pytest.fixture
def files(tmp_path):
    for name, load in (("wine", load_wine), ("iris", load_iris)):
        X, y = load(return_X_y=True)
        np.savez(tmp_path / f"{name}.npz", X=X, y=y)
    return [str(tmp_path / "wine.npz"), str(tmp_path / "iris.npz")]


@pytest.fixture(scope="module")
def undisturbed():
    sets = {"wine": load_wine(return_X_y=True), "iris": load_iris(return_X_y=True)}
    return compare(METHODS, sets, PROTOCOL)


def arguments(files, out, *more, methods=METHODS):
    given = ["compare", *files, "--methods", methods, "--out", out, "--resume", "--no-report"]
    return [str(part) for part in [*given, "--runs", 4, "--sizes", "1,2", "--judge", "nb", *more]]


def run_command(given, errors=os.devnull):
    """Run a command as a process of its own does."""
    from semisift.cli import main

    with open(errors, "w") as sys.stderr, contextlib.redirect_stdout(io.StringIO()):
        main(given, prog_name="semisift")


def start(given, errors=os.devnull):
    process = PROCESSES.Process(target=run_command, args=(given, str(errors)))
    process.start()
    return process


def records_in(out):
    return sorted(Path(out).glob("records/*/*/*.json"))


def wait_for(condition, seconds=120):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


# --- kill -9 --------------------------------------------------------------------------------------


@pytest.mark.kill
def test_killed_at_any_moment_it_goes_on_to_the_same_numbers(files, tmp_path, undisturbed):
    for _ in range(2):  # the first one waits for the server
        begun = time.monotonic()
        process = start(arguments(files, tmp_path / f"whole{begun}"))
        process.join(120)
        longest = time.monotonic() - begun
        assert process.exitcode == 0
    rng = np.random.default_rng(0)
    n_kills, n_stores, partly = 0, 0, 0
    while n_kills < N_KILLS:
        out = tmp_path / f"out{n_stores}"
        n_stores += 1
        while True:
            process = start(arguments(files, out))
            process.join(rng.uniform(0, longest))
            if process.exitcode is not None:
                break
            process.kill()
            process.join(120)
            if process.exitcode == 0:  # it was done in that very moment
                break
            assert process.exitcode == -signal.SIGKILL
            n_kills += 1
            for path in records_in(out):
                json.loads(path.read_text())
            partly += 0 < len(records_in(out)) < len(undisturbed.records)
            if (out / ABOUT_RUNS).exists():
                n_missing = len(undisturbed.records) - len(records_in(out))
                assert Results.load(out).n_missing == n_missing
        assert process.exitcode == 0
        assert Results.load(out).same_numbers(undisturbed)
    assert partly >= 3  # else the moments were badly chosen


def test_a_store_that_was_killed_before_its_first_file(files, tmp_path, undisturbed):
    out = tmp_path / "out"
    (out / ".semisift-draft").mkdir(parents=True)
    (out / ".semisift-draft" / ABOUT_RUNS).write_text('{"format"')
    call(*arguments(files, out))
    assert Results.load(out).same_numbers(undisturbed)


def test_drafts_of_dead_processes_are_cleared_away(files, tmp_path):
    out = tmp_path / "out"
    call(*arguments(files, out))
    old, new = (records_in(out)[0].parent / f".{name}.draft" for name in ("old", "new"))
    for draft in (old, new):
        draft.write_text("half a rec")
    os.utime(old, (0, 0))
    call(*arguments(files, out))
    assert (old.exists(), new.exists()) == (False, True)


SPREAD = """
import time
import joblib
from semisift.parallel import Workers
with joblib.parallel_config(backend="loky"), Workers(2) as workers:
    [*workers.map(time.sleep, [0.1] * 4)]
    print("at work", flush=True)
    [*workers.map(time.sleep, [0.1, 600])]
"""


@pytest.mark.kill
@pytest.mark.parametrize("is_command", [True, False])
def test_a_kill_leaves_no_process_at_work(files, tmp_path, is_command):
    """Nor one that waits for work, and holds the output open."""
    out = tmp_path / "out"
    slow = "random,tests.rankers.Slow:seconds=0.1"
    given = arguments(files, out, "--n-jobs", "2", "--runs", "50", methods=slow)
    command = ["-m", "semisift", *given] if is_command else ["-c", SPREAD]
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if is_command:
        wait_for(lambda: len(records_in(out)) >= 3)
    else:
        assert process.stdout.readline() == b"at work\n"
    process.kill()
    try:
        process.communicate(timeout=30)
        wait_for(lambda: not processes_in_session(process.pid), 30)
    finally:
        for left in processes_in_session(process.pid):
            os.kill(int(left), signal.SIGKILL)


# --- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.mark.kill
@pytest.mark.parametrize("jobs", [[], ["--n-jobs", "2", "--backend", "threading"]])
def test_an_interrupted_comparison_says_how_to_go_on(files, tmp_path, jobs):
    out, errors = tmp_path / "out", tmp_path / "errors"
    slow = "random,tests.rankers.Slow:seconds=0.1"
    process = start(arguments(files, out, *jobs, methods=slow), errors)
    wait_for(lambda: len(records_in(out)) >= 3)
    os.kill(process.pid, signal.SIGINT)
    process.join(120)
    assert process.exitcode == 130
    output = errors.read_text()
    again = ["--methods", "tests.rankers.Slow:seconds=0.1"]
    resume = f"semisift compare --resume --out {out} {' '.join(again)}"
    assert output == f"Interrupted. `{resume}` goes on.\n"
    assert 3 <= len(records_in(out)) < 16
    call("compare", "--resume", "--out", out, *again)
    assert Results.load(out).n_missing == 0


@pytest.mark.kill
def test_an_interruption_reaches_the_processes_at_work(files, tmp_path):
    """As from a terminal, which signals all of them; none is left behind."""
    out = tmp_path / "out"
    given = arguments(files, out, "--n-jobs", "2", methods="random,tests.rankers.Slow:seconds=0.1")
    process = subprocess.Popen(
        [sys.executable, "-m", "semisift", *given],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: len(records_in(out)) >= 3)
    os.killpg(process.pid, signal.SIGINT)
    _, output = process.communicate(timeout=120)
    assert process.returncode == 130, output
    assert "--resume" in output
    assert "Traceback" not in output
    wait_for(lambda: not processes_in_session(process.pid))
    for path in records_in(out):
        json.loads(path.read_text())


def processes_in_session(number):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, session = status.read_text().rpartition(")")[2].split()[:4]
            if int(session) == number and state != "Z":
                found.append(status.parent.name)
    return found


# --- two at once ----------------------------------------------------------------------------------


def make_and_count(out, counts):
    made = []
    sets = {"iris": load_iris(return_X_y=True)}
    methods = ["random", "tests.rankers.Slow:seconds=0.05"]
    protocol = Protocol(n_runs=20, sizes=(1,), judges=("nb",))
    compare(
        methods, sets, protocol, out=out, resume=True, on_record=lambda *each: made.append(each)
    )
    counts.put(len(made))


def test_two_processes_share_the_work(tmp_path):
    counts = PROCESSES.Queue()
    both = [
        PROCESSES.Process(target=make_and_count, args=(tmp_path / name, counts))
        for name in ("out", "out", "alone")
    ]
    for process in both:
        process.start()
    made = sorted(counts.get(timeout=120) for _ in both)
    for process in both:
        process.join(120)
        assert process.exitcode == 0
    assert made[-1] == 40  # by the one that was alone
    assert made[0] >= 5
    assert 40 <= made[0] + made[1] <= 44  # where the two meet, a record may be made twice
    assert Results.load(tmp_path / "out").same_numbers(Results.load(tmp_path / "alone"))


# --- what cannot be read --------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path):
    sets = {"iris": load_iris(return_X_y=True)}
    compare("random,fisher", sets, Protocol(n_runs=1, sizes=(1,)), out=tmp_path / "out")
    return tmp_path / "out"


def changed(path, **parts):
    path.write_text(json.dumps({**json.loads(path.read_text()), **parts}))


@pytest.mark.parametrize("which", few_daily(["about", "record"], 1))
@pytest.mark.parametrize(
    ("found", "message"),
    [
        (FORMAT + 1, "a newer version of semisift, in format 2; this one reads format 1"),
        (0, "an older version of semisift, in format 0"),
        (None, "is not a file of a comparison: it names no format"),
        (True, "it names no format"),
    ],
)
def test_files_of_another_format(store, which, found, message):
    path = store / ABOUT_RUNS if which == "about" else records_in(store)[0]
    changed(path, format=found)
    with pytest.raises(ValueError, match=message):
        Results.load(store)
    output = call("compare", "--resume", "--out", store, code=1 if which == "about" else 2).stderr
    assert which == "record" or message in " ".join(output.split())


@pytest.mark.parametrize(
    "content", ["", '{"format": 1, "dataset": "iris"', "\udcff", '{"format": 1}']
)
def test_a_damaged_record_is_named_and_can_be_made_again(files, tmp_path, undisturbed, content):
    out = tmp_path / "out"
    call(*arguments(files, out))
    path = records_in(out)[5]
    path.write_text(content, errors="surrogateescape")
    output = " ".join(call("compare", "--resume", "--out", out, code=1).stderr.split())
    assert f"{path} is damaged" in output
    assert "Delete it, and resume the comparison to make it again" in output
    path.unlink()
    call("compare", "--resume", "--out", out)
    assert Results.load(out).same_numbers(undisturbed)


def test_a_damaged_description(store):
    (store / ABOUT_RUNS).write_text('{"format": 1, "protocol": {}}')
    with pytest.raises(ValueError, match="is damaged: there is no datasets, methods, notes, sweep"):
        Results.load(store)
    with pytest.raises(ValueError, match=f"holds no comparison: there is no {ABOUT_RUNS}"):
        Results.load(store.parent)


def test_names_that_look_alike_have_records_of_their_own(tmp_path):
    names = ["a/b", "a_b", "A_b", "a%2Fb", "x" * 300, "x" * 301, "\udcff", "..", "con"]
    data = load_iris(return_X_y=True)
    sets = dict.fromkeys(names, data)
    made = compare("random", sets, Protocol(n_runs=1, sizes=(1,)), out=tmp_path / "out")
    assert len(records_in(tmp_path / "out")) == len(names)
    assert Results.load(tmp_path / "out").same_numbers(made)


def test_levels_are_numbers_however_they_are_written(tmp_path):
    store = Store(tmp_path)
    assert store.path(RunKey("a", "b", 0, 1)) == store.path(RunKey("a", "b", 0, 1.0))
    assert store.path(RunKey("a", "b", 0, 0.1)) != store.path(RunKey("a", "b", 0, 0.2))
