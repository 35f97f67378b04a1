"""The README is short, and its commands are those that the gate runs."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"

pytestmark = pytest.mark.skipif(not README.exists(), reason="the sources are not there")


def test_it_is_short():
    assert len(README.read_text("utf-8").splitlines()) <= 150


@pytest.mark.parametrize("marker", ["demo-command", "test-command"])
def test_the_gate_finds_its_commands(marker):
    text = README.read_text("utf-8")
    assert re.search(rf"^<!-- {marker} -->\n```bash\n.*venv.*\n```$", text, re.M)


def test_the_output_of_the_demo_is_shown():
    text = README.read_text("utf-8")
    assert re.search(r"^<!-- demo-output -->\n```text\nBreast-cancer data", text, re.M)
