"""Files are whole or absent, keep their permissions, and no draft stays for long."""

import os
import signal
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from semisift import Protocol, compare
from semisift.utils._files import (
    STALE_AFTER,
    _place,
    can_write,
    drafts,
    process_name,
    remove_left_overs,
    write_atomically,
)
from tests.commands import call
from tests.comparison.test_store import (
    arguments,
    processes_in_session,
    records_in,
    wait_for,
)

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(os.name == "nt", reason="Windows has other modes and signals"),
]


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# --- permissions ----------------------------------------------------------------------------------


@pytest.fixture(params=[0o022, 0o077, 0o002])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def write_by_draft(path, text):
    with drafts([path]) as (draft,):
        draft.write_text(text)


@pytest.mark.parametrize("write", [write_by_draft, write_atomically])
def test_new_files_have_the_mode_of_the_umask_and_replaced_ones_keep_theirs(tmp_path, umask, write):
    path = tmp_path / "file"
    write(path, "new")
    assert mode(path) == 0o666 & ~umask
    for kept in (0o600, 0o644, 0o640):
        path.chmod(kept)
        write(path, "replaced")
        assert (mode(path), path.read_text()) == (kept, "replaced")
    assert list(tmp_path.iterdir()) == [path]


def test_all_files_of_a_store_can_be_read_by_the_same_users(tmp_path, umask):
    sets = {"iris": load_iris(return_X_y=True)}
    results = compare("random", sets, Protocol(n_runs=1, sizes=(1,)), out=tmp_path / "out")
    results.report(tmp_path / "out" / "report.html")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) == 3  # the comparison, a record, the report
    assert {mode(path) for path in files} == {0o666 & ~umask}


# --- drafts of others -----------------------------------------------------------------------------

WRITER = """
import sys, time
from pathlib import Path
from semisift.utils._files import drafts
with drafts([Path(sys.argv[1])]) as (draft,):
    draft.write_text("half")
    print("begun", flush=True)
    time.sleep(600)
"""


def start_writing(target):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n"
    return process


def test_drafts_of_a_killed_process_are_removed_and_those_of_a_living_one_are_not(tmp_path):
    killed, living = (start_writing(tmp_path / name) for name in ("a", "b"))
    killed.kill()
    killed.communicate()
    assert len(list(tmp_path.glob(".semisift-*"))) == 2
    write_by_draft(tmp_path / "c", "whole")
    (left,) = tmp_path.glob(".semisift-*")
    assert (left / "b").read_text() == "half"
    living.kill()
    living.communicate()
    call("methods")  # writes nothing, and so removes nothing
    assert left.exists()
    remove_left_overs([left])
    assert not left.exists()


STOPPED_IN_A_CLEAN_UP = """
import shutil, sys
from pathlib import Path
from semisift.utils._files import drafts

def stop(*args, **kwargs):
    shutil.rmtree = remove
    raise KeyboardInterrupt

remove, shutil.rmtree = shutil.rmtree, stop
path = Path(sys.argv[1])
try:
    with drafts([path]) as (draft,):
        draft.write_text("whole")
except KeyboardInterrupt:
    print(len(list(path.parent.glob(".semisift-*"))))
"""


def test_a_draft_whose_clean_up_was_interrupted_goes_when_the_process_ends(tmp_path):
    command = [sys.executable, "-c", STOPPED_IN_A_CLEAN_UP, tmp_path / "file"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"  # else nothing was interrupted
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_only_what_is_certainly_dead_is_removed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    here, mine = _place(), process_name().rpartition("-")[2]
    dead = f".semisift-{here}-{process.pid}-{mine}-x"
    reused = f".semisift-{here}-{os.getpid()}-{int(mine) + 1}-x"
    kept = {
        f".semisift-{process_name()}-x",
        f".semisift-{'0' * 12}-{process.pid}-{mine}-elsewhere",
        ".semisift-of-nobody",
        ".semisift-",
    }
    for name in (dead, *([reused] if sys.platform == "linux" else []), *kept):
        (tmp_path / name).mkdir()
    (tmp_path / "precious").mkdir()
    (tmp_path / f".semisift-{here}-{process.pid}-{mine}-link").symlink_to(tmp_path / "precious")
    assert can_write(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left - {f".semisift-{here}-{process.pid}-{mine}-link"} == {*kept, "precious"}


def old_draft(folder, pid, begun):
    """Make a draft that nobody has written to for two days."""
    draft = folder / f".semisift-{_place()}-{pid}-{begun}-x"
    draft.mkdir()
    os.utime(draft, (time.time() - 2 * STALE_AFTER,) * 2)
    return draft


def test_drafts_of_another_user_who_is_at_work_stay(tmp_path, monkeypatch):
    def forbidden(pid, by):
        raise PermissionError("another user's")

    monkeypatch.setattr(os, "kill", forbidden)
    begun = int(process_name().rpartition("-")[2])
    living = old_draft(tmp_path, os.getpid(), begun)
    assert can_write(tmp_path)
    assert living.exists()
    if sys.platform == "linux":  # the number has gone to another user
        reused = old_draft(tmp_path, os.getpid(), begun + 1)
        assert can_write(tmp_path)
        assert list(tmp_path.iterdir()) == [living]
        assert not reused.exists()


def test_numbers_that_no_process_has_and_times_that_no_system_told(tmp_path):
    gone, living = old_draft(tmp_path, 10**30, 1), old_draft(tmp_path, os.getpid(), 0)
    assert can_write(tmp_path)
    assert not gone.exists()
    assert living.exists()


FORKED = """
import atexit, os, sys
from pathlib import Path
from semisift.utils._files import drafts

with drafts([Path(sys.argv[1])]) as (draft,):
    draft.write_text("whole")
    child = os.fork()
    if child == 0:
        atexit._run_exitfuncs()
        os._exit(0)
    os.waitpid(child, 0)
    print(draft.exists())
"""


def test_a_fork_that_ends_leaves_the_drafts_of_its_parent(tmp_path):
    command = [sys.executable, "-c", FORKED, tmp_path / "file"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert (tmp_path / "file").read_text() == "whole"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_drafts_of_killed_comparisons_are_removed_by_the_next_run(tmp_path):
    X, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "iris.npz", X=X, y=y)
    out = tmp_path / "out"
    given = arguments([tmp_path / "iris.npz"], out, methods="random")
    call(*given)
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    dead = f"{_place()}-{process.pid}-1-x"
    (out / f".semisift-{dead}").mkdir()
    (records_in(out)[0].parent / f".{dead}.draft").write_text("half a rec")
    call(*given)
    assert not [path for path in out.rglob(".*") if path.name != ".lock"]


# --- SIGTERM --------------------------------------------------------------------------------------


def start_command(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "semisift", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


STOPPED = """
import atexit, os, signal, sys
import click
from semisift import cli

class CrashesWhenPythonIsTakenDown:
    def __del__(self, crash=os.abort):
        crash()

kept = CrashesWhenPythonIsTakenDown()
atexit.register(print, "put away")

@click.command()
def methods():
    print("at work")
    os.kill(os.getpid(), signal.{signal})

cli.LazyGroup.get_command = lambda *_: methods
sys.argv = ["semisift", "methods"]
cli.start()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_stopped_command_does_not_crash_on_its_way_out(name, code):
    """Threads of libraries, or one that is half loaded, can crash what takes Python down."""
    command = [sys.executable, "-c", STOPPED.replace("{signal}", name)]
    # what was printed waits in memory, as it does for a user who sends it to a file
    waits = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    ended = subprocess.run(command, capture_output=True, text=True, env=waits)
    assert ended.returncode == code, ended.stderr
    assert ended.stdout.split("\n") == ["at work", "put away", ""]
    assert ended.stderr in ("Terminated.\n", "Interrupted.\n")


EARLY = """
import sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == "semisift.cli":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
from semisift.__main__ import main
main()
"""


def test_an_interruption_while_the_command_is_loaded_is_no_traceback():
    ended = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "Interrupted.\n")


def test_the_installed_command_is_the_one_that_can_be_interrupted_early():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"semisift": "semisift.__main__:main"}


def has_drafts(folder):
    try:
        return any(folder.glob(".semisift-*/*"))
    except FileNotFoundError:  # a trial draft has just been removed
        return False


def test_a_terminated_command_leaves_nothing_behind(tmp_path):
    """At different moments after it began to write."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4_000))
    np.savez(tmp_path / "big.npz", X=X, y=np.tile([0, 1, -1, -1, -1, -1], 50))
    out = tmp_path / "out"
    out.mkdir()
    target, page = out / "small.npz", out / "page.html"
    n_drafts = 0
    for delay in (0, 0.002, 0.01, 0.03, 0.1):
        target.unlink(missing_ok=True)
        page.unlink(missing_ok=True)
        process = start_command(
            *("select", tmp_path / "big.npz", "--top", 3_000, "--out", target),
            *("--method", "fisher", "--report", page),
        )
        while process.poll() is None and not has_drafts(out):
            time.sleep(0.0005)
        time.sleep(delay)
        n_drafts += any(out.glob(".semisift-*"))
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        assert process.returncode in (143, 0), errors
        assert "Traceback" not in errors
        assert process.returncode == 0 or "Terminated." in errors
        assert not list(out.glob(".*"))
    assert n_drafts  # else the moments were badly chosen


@pytest.mark.parametrize("jobs", [[], ["--n-jobs", 2]])
def test_a_terminated_comparison_says_how_to_go_on(tmp_path, jobs):
    X, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "iris.npz", X=X, y=y)
    out, slow = tmp_path / "out", "random,tests.rankers.Slow:seconds=0.3"
    process = start_command(*arguments([tmp_path / "iris.npz"], out, *jobs, methods=slow))
    wait_for(lambda: len(records_in(out)) >= 2)
    process.send_signal(signal.SIGTERM)  # to the command alone, as `kill` does
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 143, errors
    assert f"Terminated. `semisift compare --resume --out {out} --methods tests." in errors
    assert "Traceback" not in errors
    wait_for(lambda: not processes_in_session(process.pid))
    assert len(records_in(out)) < 8
    assert not [path for path in out.rglob(".*") if path.name != ".lock"]
