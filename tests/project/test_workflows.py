"""What runs on the project's behalf elsewhere is pinned, and may do little."""

import re
from pathlib import Path

import pytest
import yaml

WORKFLOWS = sorted((Path(__file__).parents[2] / ".github" / "workflows").glob("*.yml"))
RELEASE = "release.yml"


def jobs_of(name):
    path = next(path for path in WORKFLOWS if path.name == name)
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_pinned_and_may_do_little(path):
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: *(.*)", text)
    assert used
    for action in used:  # a tag can be moved to other code, a commit cannot
        if action.startswith("./"):  # a workflow of our own, of the same commit
            assert (path.parents[2] / action).is_file(), action
            continue
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
    assert "\npermissions:\n  contents: read\n" in text
    assert ("write" in text) == (path.name == RELEASE)
    assert "secrets." not in text
    checkouts = re.findall(
        r"uses: actions/checkout@.*\n +with:\n +persist-credentials: false", text
    )
    assert len(checkouts) == text.count("actions/checkout@")
    for line in re.findall(r"pip install (.*)", text):
        assert all(word[0] in '-".' or "dist/" in word or "==" in word for word in line.split())
    for line in re.findall(r"run: .*", text):  # what others name must not become a command
        assert "github." not in line


def test_an_action_is_the_same_commit_everywhere():
    pins = {}
    for path in WORKFLOWS:
        for name, pin in re.findall(r"uses: *([\w/-]+)@(.*)", path.read_text(encoding="utf-8")):
            assert pins.setdefault(name, pin) == pin, name


def test_a_release_waits_for_a_tag_and_for_approval():
    text = next(path for path in WORKFLOWS if path.name == RELEASE).read_text(encoding="utf-8")
    assert re.search(r'^on:\n  push:\n    tags: \["v\*"\]\n\n', text, re.M)
    jobs = jobs_of(RELEASE)
    allowed = {name: job["permissions"] for name, job in jobs.items() if "permissions" in job}
    assert allowed == {
        "attest": {"id-token": "write", "attestations": "write"},
        "publish": {"id-token": "write"},
    }
    for name in allowed:
        assert not any("run" in step for step in jobs[name]["steps"])  # nothing of our own
    publish = jobs["publish"]
    assert publish["environment"]["name"] == "pypi"
    assert publish["needs"] == "attest"
    assert jobs["attest"]["needs"] == "distributions"
    assert jobs["distributions"]["needs"] == "version"
    assert "refs/tags/v" in publish["if"]


def test_nothing_else_publishes():
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        assert "twine upload" not in text
        assert ("pypi-publish" in text) == (path.name == RELEASE)


def test_what_is_published_was_checked():
    jobs = jobs_of("wheels.yml")
    assert jobs["check"]["needs"] == ["wheels", "sdist"]
    commands = [step.get("run") for step in jobs["check"]["steps"]]
    assert "twine check --strict dist/*" in commands
    assert "python tools/check_distributions.py dist --install" in commands
    for job in ("wheels", "sdist"):
        assert jobs[job]["steps"][-1]["with"]["name"].startswith("distributions-")


def test_a_release_says_what_it_was_made_from():
    check = jobs_of("wheels.yml")["check"]["steps"]
    assert any("cyclonedx-py environment" in step.get("run", "") for step in check)
    made = check[-1]["with"]
    fetched, provenance, materials = (step["with"] for step in jobs_of(RELEASE)["attest"]["steps"])
    assert made["name"] in fetched["pattern"]
    assert "sbom-path" not in provenance
    assert materials["sbom-path"] == f"dist/{made['path']}"
    assert provenance["subject-path"] == materials["subject-path"]


def test_known_holes_are_looked_for():
    commands = [step.get("run", "") for step in jobs_of("ci.yml")["audit"]["steps"]]
    assert any(command.startswith("pip-audit ") for command in commands)


def test_the_lowest_versions_and_the_coverage_are_looked_at():
    jobs = jobs_of("ci.yml")
    installs = [step.get("run", "") for step in jobs["lowest"]["steps"]]
    assert any("--constraint=packaging/lowest.txt" in command for command in installs)
    shown = [step.get("run", "") for step in jobs["tests"]["steps"]]
    assert any("coverage report" in line and "GITHUB_STEP_SUMMARY" in line for line in shown)
    counted = jobs["tests"]["strategy"]["matrix"]["include"]
    assert sum(entry.get("coverage", False) for entry in counted) == 1
