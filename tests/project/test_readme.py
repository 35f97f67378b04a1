"""The README's programs run, and its tables say what the registry says."""

import re
from pathlib import Path

import polars as pl
import pytest

from semisift import LEARNERS, METHODS

README = Path(__file__).parents[2] / "README.md"

pytestmark = pytest.mark.skipif(not README.exists(), reason="the sources are not there")


def test_python_blocks_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S)
    assert len(blocks) >= 6
    names: dict[str, object] = {}
    for block in blocks:
        if "scheduler-address" in block:  # stands for one of the reader's own
            continue
        exec(block, names)
        if "cancer.csv" in block:  # the reader's own table
            labels = pl.col("diagnosis")
            few = pl.when(pl.int_range(pl.len()) % 20 == 0).then(labels).alias("diagnosis")
            pl.read_csv("cancer.csv").with_columns(few).write_csv("table.csv")
        if "report.html" in block:
            assert "mean concave points" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize("entries", [METHODS, LEARNERS])
def test_every_method_has_its_row(entries):
    cells = [
        [cell.strip() for cell in line.split("|")[1:4]]
        for line in README.read_text("utf-8").splitlines()
        if line.startswith("| `")
    ]
    for entry in entries.values():
        assert cells.count([f"`{entry.name}`", f"`{entry.cls.__name__}`", entry.summary]) == 1


def test_no_row_is_left_over():
    text = README.read_text("utf-8")
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| `\w+` \|", text, re.M)
    assert sorted(rows) == sorted([*METHODS, *LEARNERS])
