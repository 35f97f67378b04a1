"""A store is data: nothing that it names is imported, called, written to or connected with."""

import json
import os
import subprocess
import sys

import pytest
from sklearn.datasets import load_iris

from semisift import Protocol, Results, compare
from semisift.comparison._methods import find_methods
from semisift.comparison._store import Store
from tests.cli.test_compare import write_csv
from tests.commands import call

QUICK = ["--runs", "1", "--sizes", "1", "--judge", "nb"]
OWN = "tests.rankers.Slow:seconds=0"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the current folder, with iris.csv and a comparison of it in out/."""
    write_csv(tmp_path / "iris.csv", load_iris())
    monkeypatch.chdir(tmp_path)
    call(*("compare", "iris.csv", "--label", "kind", "--methods", "random", "--out", "out"), *QUICK)
    return tmp_path


def change_options(folder, **options):
    path = folder / "out" / "comparison.json"
    about = json.loads(path.read_text())
    about["notes"]["options"] |= options
    path.write_text(json.dumps(about))


SPECS = ["os.system:command=touch pwned", OWN, "un\x1b[31mheard", "trap.Trap", "trap.Trap:x=1"]


@pytest.mark.parametrize("name", ["methods", "judge"])
@pytest.mark.parametrize(
    "spec", [*(pytest.param(spec, marks=pytest.mark.nightly) for spec in SPECS[1:4]), *SPECS[::4]]
)
def test_what_a_store_names_is_not_imported(folder, name, spec):
    (folder / "trap.py").write_text("open('pwned', 'w').close()")
    change_options(folder, **{name: ["random", spec] if name == "methods" else [spec]})
    output = " ".join(call("compare", "--resume", "--out", "out", code=2).stderr.split())
    assert "Nothing that a folder names is imported" in output
    option = "--methods" if name == "methods" else "--judge"
    assert f"name them again: {option} " in output
    assert "\x1b" not in output
    assert not (folder / "pwned").exists()
    call("report", "out")
    assert not (folder / "pwned").exists()


def test_a_class_of_ones_own_is_named_again(folder):
    begin = ["compare", "iris.csv", "--label", "kind", "--out", "own", "--runs", "1"]
    judge = "sklearn.naive_bayes.BernoulliNB"
    call(*begin, "--sizes", "1", "--methods", f"random,{OWN}", "--judge", judge)
    resume = ["compare", "--resume", "--out", "own", "--runs", "2"]
    assert f"--methods {OWN}" in call(*resume, code=2).stderr
    assert f"--judge {judge}" in call(*resume, "--methods", OWN, code=2).stderr
    call(*resume, "--methods", OWN, "--judge", judge)
    results = Results.load("own")
    assert (results.n_missing, results.methods) == (0, ["random", OWN])
    assert results.about["notes"]["options"]["methods"] == [f"random,{OWN}"]


@pytest.mark.parametrize("spec", ["os.system:command=touch pwned", "builtins.print", "os.path"])
@pytest.mark.parametrize("option", ["--methods", "--judge"])
def test_only_classes_with_fit_are_made(folder, spec, option):
    given = ["compare", "iris.csv", "--label", "kind", "--out", "new", "--methods", "random"]
    output = " ".join(call(*given, option, spec, code=2).stderr.split())
    assert "must be a class with fit" in output
    with pytest.raises(ValueError, match="must be a class with fit"):
        find_methods([spec])
    assert not (folder / "pwned").exists()


def test_paths_and_addresses_in_a_store_are_not_used(folder):
    victim = folder / "victim.html"
    victim.write_text("precious")
    change_options(
        folder, report=str(victim), no_report=False, backend="dask", scheduler="tcp://127.0.0.1:1"
    )
    (folder / "out" / "report.html").unlink()
    call("compare", "--resume", "--out", "out", "--runs", "2")
    assert victim.read_text() == "precious"
    assert (folder / "out" / "report.html").is_file()
    assert Results.load("out").n_missing == 0
    call("compare", "--resume", "--out", "out", "--report", "elsewhere.html")
    assert (folder / "elsewhere.html").is_file()
    kept = Results.load("out").about["notes"]["options"]
    assert not {"report", "backend", "scheduler"} & {*kept}


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_the_lock_of_a_store_leads_nowhere_else(folder):
    (folder / "victim").write_text("precious")
    (folder / "out" / ".lock").symlink_to(folder / "victim")
    call("compare", "--resume", "--out", "out", "--runs", "2", code=1)
    assert (folder / "victim").read_text() == "precious"


def test_one_process_has_the_store_to_itself(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows, where this was always said
    with Store(tmp_path).claimed() as first, Store(tmp_path).claimed() as second:
        assert (first, second) == (True, False)
    with Store(tmp_path).claimed() as again:
        assert again


MINE = """
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB
import beside

class Mine(BaseEstimator):
    def fit(self, X, y):
        self.scores_ = beside.scores(X)
        return self

class Judge(GaussianNB):
    pass
"""

# -P: as the installed command, without the current folder on the path
COMMAND = """
import sys
from semisift.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    try:
        import trap
    except ImportError:
        print("not found")
    raise
"""


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.nightly)])
def test_the_current_folder_is_searched_for_named_classes_alone(folder, jobs):
    (folder / "mine.py").write_text(MINE)
    (folder / "beside.py").write_text("def scores(X):\n    return X.var(axis=0)\n")
    (folder / "trap.py").write_text("open('pwned', 'w').close()")
    given = [*QUICK[:4], "--n-jobs", jobs, "--out", "new", "--label", "kind", "--no-report"]
    given += ["--methods", "variance,mine.Mine", "--judge", "mine.Judge"]
    made = subprocess.run(
        [sys.executable, "-P", "-c", COMMAND, "compare", "iris.csv", *given],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout.endswith("not found\n")
    assert not (folder / "pwned").exists()
    results = Results.load("new")
    assert not results.failures
    means = results.scores().means
    assert means[0, 0] == means[0, 1]


def test_names_in_python_are_the_callers_own(tmp_path):
    protocol = Protocol(n_runs=1, sizes=(1,), judges=("sklearn.naive_bayes.BernoulliNB",))
    sets = {"iris": load_iris(return_X_y=True)}
    for resume in (False, True):
        results = compare([OWN], sets, protocol, out=tmp_path / "out", resume=resume)
        assert not results.failures
