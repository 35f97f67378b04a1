"""The tutorials run as they stand, each in a process of its own, and leave nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs_without_a_warning(path, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "agg", "TMPDIR": str(tmp_path / "temporary")}
    (tmp_path / "temporary").mkdir()
    (tmp_path / "here").mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", path],
        capture_output=True,
        text=True,
        cwd=tmp_path / "here",
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert not list((tmp_path / "here").iterdir())


def test_there_is_a_tutorial():
    assert [path.name for path in EXAMPLES] == ["plot_single_cells.py"]
