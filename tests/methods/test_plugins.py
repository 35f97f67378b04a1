import json
import os
import subprocess
import sys

import numpy as np
import pytest

MODULE = """
from semisift import FeatureRanker

class RangeScore(FeatureRanker):
    \"\"\"The range of each column.\"\"\"

    labels_needed = "none"

    def _score(self, problem):
        return problem.spans
"""

SCRIPT = """
import json, sys
from click.testing import CliRunner
from semisift.cli import main

found = []
for words in json.loads(sys.argv[1]):
    result = CliRunner().invoke(main, words)
    found.append([result.exit_code, result.output, "tiny_scores" in sys.modules])
print(json.dumps(found))
"""


@pytest.fixture
def package(tmp_path):
    """A package with an entry point, as pip would have installed it."""
    folder = tmp_path / "site"
    about = folder / "tiny_scores-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "tiny_scores.py").write_text(MODULE, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-scores\nVersion: 1.0\n")
    points = "[semisift.rankers]\nrange = tiny_scores:RangeScore\nfisher = tiny_scores:RangeScore\n"
    (about / "entry_points.txt").write_text(points + "broken = tiny_scores:Absent\n")
    return folder


def run(package, commands):
    path = os.pathsep.join([str(package), *sys.path])
    env = {**os.environ, "PYTHONPATH": path}
    words = [sys.executable, "-c", SCRIPT, json.dumps(commands)]
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_another_package_adds_a_method(package, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3)) * [1, 9, 2]
    labels = np.arange(60) % 2
    rows = [",".join(map(str, [*x, label])) for x, label in zip(X, labels, strict=True)]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["a,b,c,class", *rows]), encoding="utf-8")
    results = tmp_path / "results"
    given = [str(table), "--label", "class"]
    commands = [
        ["methods"],
        ["methods", "fisher"],
        ["rank", *given, "--method", "range", "--no-assess"],
        ["compare", *given, "--methods", "range,variance", "--runs", "2", "--n-jobs", "1"],
        ["rank", *given, "--method", "broken", "--no-assess"],
        ["methods", "range"],
    ]
    commands[3] += ["--labels-per-class", "4", "--sizes", "1", "--out", str(results)]
    listed, ours, ranked, compared, broken, described = run(package, commands)
    assert listed[0] == 0
    assert "RangeScore of the package tiny-scores 1.0." in listed[1]
    assert "RangeScore" not in ours[1]  # a name of ours stays ours
    assert ranked[0] == 0, ranked
    assert "1 │ b" in ranked[1]
    assert compared[0] == 0, compared
    assert "range" in compared[1]
    assert broken[0] == 1
    assert "The plug-in broken, Absent of the package tiny-scores 1.0," in broken[1]
    assert "has no attribute 'Absent'" in " ".join(broken[1].split())
    assert described[0] == 0
    assert "RangeScore" in described[1]
