"""The path of a million cells, at 30,000 x 2,000: made chunk by chunk, ranked from the file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "million.py"


def call(*words):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["h5ad", "zarr"])
def test_thirty_thousand_cells_from_the_file(form, tmp_path):
    pytest.importorskip("anndata")
    file = tmp_path / f"cells.{form}"
    call("make", file, "--rows", 30_000, "--columns", 2_000)
    works = ["variance+fisher", "consensus"] if form == "h5ad" else ["transductive"]
    for work in works:
        result = json.loads(call("run", file, "--work", work, "--here", "--max-memory", "35MB"))
        assert not result["in_memory"]
        assert result["shape"] == [30_000, 2_000]
        found, of = map(int, result["markers_among_best"].split(" of "))
        assert of == 200
        assert found >= (120 if work == "variance+fisher" else 190)
        if "labels_right" in result:
            assert result["labels_right"] > 0.85
