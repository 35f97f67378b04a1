"""The entry for scverse's list of packages says what pyproject.toml says."""

import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ENTRY = ROOT / "packaging" / "scverse" / "meta.yaml"

pytestmark = pytest.mark.skipif(not ENTRY.exists(), reason="the sources are not there")

# What the list's schema.json requires.
REQUIRED = "name description project_home documentation_home install license tags version contact"


def test_the_entry_is_complete_and_agrees_with_the_project():
    entry = yaml.safe_load(ENTRY.read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert not {*REQUIRED.split(), "category"} - {*entry}
    for name in ("name", "license", "version"):
        assert entry[name] == project[name]
    assert entry["install"] == {"pypi": project["name"]}
    assert entry["category"] == "ecosystem"  # the only one that is open to proposals
    assert "test" in project["optional-dependencies"]


@pytest.mark.parametrize("name", ["documentation_home", "tutorials_home"])
def test_the_pages_that_the_entry_names_are_there(name):
    address = yaml.safe_load(ENTRY.read_text("utf-8"))[name]
    assert (ROOT / address.partition("/blob/main/")[2]).is_file()
