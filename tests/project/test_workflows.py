"""What runs on the project's behalf elsewhere is pinned, and may do little."""

import re
from pathlib import Path

import pytest

WORKFLOWS = sorted((Path(__file__).parents[2] / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_pinned_and_may_do_little(path):
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: *(.*)", text)
    assert used
    for action in used:  # a tag can be moved to other code, a commit cannot
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
    assert "\npermissions:\n  contents: read\n" in text
    assert "write" not in text
    checkouts = re.findall(
        r"uses: actions/checkout@.*\n +with:\n +persist-credentials: false", text
    )
    assert len(checkouts) == text.count("actions/checkout@")
    for line in re.findall(r"pip install (.*)", text):
        assert all(word[0] in '-".' or "dist/" in word or "==" in word for word in line.split())
