"""The tutorials run as they stand, each in a process of its own, and leave nothing behind."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

# Warnings are errors here too, but for those that the tests leave out.
RUN = """
import runpy, sys, warnings
warnings.simplefilter("error")
for message in sys.argv[2:]:
    warnings.filterwarnings("ignore", message)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def left_out():
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]
    filters = options["ini_options"]["filterwarnings"]
    return [text.removeprefix("ignore:") for text in filters if text.startswith("ignore:")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs_without_a_warning(path, tmp_path):
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", RUN, path, *left_out()],
        capture_output=True,
        text=True,
        cwd=here,
        env={**os.environ, "MPLBACKEND": "agg", "TMPDIR": str(temporary)},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert not list(here.iterdir())


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="the sources are not there")
def test_there_is_a_tutorial():
    assert [path.name for path in EXAMPLES] == ["plot_single_cells.py"]
