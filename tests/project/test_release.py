"""What a release stands on agrees: version, dependencies, distributions, templates, paper."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from tools.check_distributions import BESIDE, fits, wrong_in_sdist, wrong_in_wheel
from tools.check_version import NAMED, release_dates, versions

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "paper").exists(), reason="the sources are not there")


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


# --- version ---


def test_all_files_name_one_version():
    named = versions()
    assert {*named} == {"pyproject.toml", *NAMED}
    assert {*named.values()} == {project()["version"]}


def test_changelog_and_citation_name_one_date():
    changed, cited = release_dates()
    assert changed == cited
    assert changed


@pytest.mark.parametrize("name", NAMED)
def test_a_file_that_was_forgotten_is_found(name, tmp_path):
    for each in ("pyproject.toml", *NAMED):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / each, tmp_path / each)
    text = (tmp_path / name).read_text("utf-8")
    (tmp_path / name).write_text(text.replace(project()["version"], "9.9.9"), "utf-8")
    assert versions(tmp_path)[name] == "9.9.9"


def test_what_is_not_released_stands_above_the_newest_release():
    headings = re.findall(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert headings[:2] == ["Unreleased", project()["version"]]


# --- dependencies ---


def bounds(needs):
    """Return name -> lowest version of requirements such as dask[distributed]>=2024.8."""
    return dict(re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", need).groups() for need in needs)


def test_the_lowest_versions_are_those_of_the_project():
    text = (ROOT / "packaging" / "lowest.txt").read_text("utf-8")
    extras = project()["optional-dependencies"]
    users = [need for name, needs in extras.items() if name in EXTRAS for need in needs]
    expected = bounds([*project()["dependencies"], *users])
    assert dict(re.findall(r"^([\w-]+)==([\d.]+)\.\*$", text, re.M)) == expected


EXTRAS = {"anndata", "hdf5", "excel", "dask", "ann"}


def test_the_tests_ask_for_no_lower_version_than_users_do():
    extras = project()["optional-dependencies"]
    users = bounds([need for name in EXTRAS for need in extras[name]])
    tests = bounds(extras["test"])
    assert {name: tests.get(name) for name in users} == users


def test_the_recipe_asks_for_what_the_project_does():
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("{%"))
    plain = re.sub(r"{{.*?}}", "filled", re.sub(r" # \[.*?\]", "", "\n".join(lines)))
    recipe = yaml.safe_load(plain)
    asked = [need.replace(" ", "") for need in recipe["requirements"]["run"]]
    asked = [need.replace("matplotlib-base", "matplotlib") for need in asked if need != "python"]
    assert asked == project()["dependencies"]
    built = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    host = {need.replace(" ", "") for need in recipe["requirements"]["host"]}
    assert {need.lower() for need in built} <= host
    scripts = [f"{name} = {target}" for name, target in project()["scripts"].items()]
    assert recipe["build"]["entry_points"] == scripts
    assert recipe["about"]["license"] == project()["license"]
    oldest = project()["requires-python"].removeprefix(">=").replace(".", "")
    assert f"# [py<{oldest}]" in text
    assert "  sha256: FILL-IN\n" in text or re.search(r"^  sha256: [0-9a-f]{64}$", text, re.M)


# --- distributions ---

WRITTEN = {"semisift/__init__.py", "semisift/py.typed", "semisift/_kernels/grow.pyx"}
SDIST = [
    *(f"semisift-1/src/{name}" for name in WRITTEN),
    *(f"semisift-1/{name}" for name in BESIDE),
    "semisift-1/tests/conftest.py",
]
WHEEL = [
    *WRITTEN,
    "semisift/_kernels/grow.cpython-311-x86_64-linux-gnu.so",
    "semisift-1.dist-info/licenses/LICENSE",
]


def test_whole_distributions_are_as_they_should_be():
    assert wrong_in_sdist(SDIST, WRITTEN) == []
    assert wrong_in_wheel(WHEEL, WRITTEN) == []


@pytest.mark.parametrize("name", sorted(SDIST))
def test_what_a_source_distribution_lacks_is_named(name):
    left = [other for other in SDIST if other != name]
    assert wrong_in_sdist(left, WRITTEN) == [f"missing: {name.partition('/')[2]}"]


@pytest.mark.parametrize("name", sorted(WHEEL))
def test_what_a_wheel_lacks_is_named(name):
    left = [other for other in WHEEL if other != name]
    wrong = "missing: the licence" if "LICENSE" in name else f"missing: {name}"
    wrong = "not compiled: grow" if name.endswith(".so") else wrong
    assert wrong_in_wheel(left, WRITTEN) == [wrong]


def test_what_does_not_belong_there_is_named():
    built = "src/semisift/_kernels/grow.c"
    assert wrong_in_sdist([*SDIST, f"semisift-1/{built}"], WRITTEN) == [
        f"does not belong there: {built}"
    ]
    for name in ("semisift/_kernels/grow.c", "tests/conftest.py"):
        assert wrong_in_wheel([*WHEEL, name], WRITTEN) == [f"does not belong there: {name}"]


def test_wheels_of_other_interpreters_are_not_installed():
    assert not fits(Path("semisift-0.1.0-cp27-cp27m-manylinux_2_28_x86_64.whl"))


# --- templates and pages ---


@pytest.mark.parametrize("name", ["bug", "wish", "method"])
def test_templates_of_issues_are_forms(name):
    form = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{name}.yml").read_text("utf-8"))
    assert {"name", "description", "body"} <= {*form}
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert all(part["attributes"]["label"] for part in asked)
    assert len({part["id"] for part in asked}) == len(asked)
    assert any(part.get("validations", {}).get("required") for part in asked)


PAGES = [
    "CODE_OF_CONDUCT.md",
    "CHANGELOG.md",
    "docs/project/governance.md",
    "docs/project/release.md",
    "docs/project/deprecation.md",
    "docs/results/versions.md",
]


@pytest.mark.parametrize("name", PAGES)
def test_links_of_the_pages_lead_somewhere(name):
    path = ROOT / name
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), target


def test_files_that_the_request_template_names_are_there():
    text = (ROOT / ".github/PULL_REQUEST_TEMPLATE.md").read_text("utf-8")
    for name in re.findall(r"[\w/]+\.md", text):
        assert (ROOT / name).exists(), name


# --- paper ---

PAPER = ROOT / "paper" / "paper.md"
FIGURE = r"(?<![\w.])(?:\d[\d,]*)?\.?\d+(?: %)?"


def evidence():
    """Yield each paragraph of the section on evidence with its file and figures."""
    section = PAPER.read_text("utf-8").partition("# Evidence")[2].partition("\n# ")[0]
    for paragraph in section.split("\n\n"):
        words, _, source = paragraph.partition("<!-- figures: ")
        name, _, figures = source.partition(" -->")[0].partition(": ")
        yield words, name, [figure.strip() for figure in re.split(r",(?!\d)", figures) if figure]


def test_figures_of_the_paper_are_those_of_the_results():
    found = 0
    for words, name, figures in evidence():
        if not name:
            assert not re.findall(r"\.\d|\d %", words), "a figure without its source"
            continue
        source = " ".join((ROOT / name).read_text("utf-8").split())
        for figure in figures:
            assert figure in source, f"{figure} is not in {name}"
        for figure in re.findall(FIGURE, words):
            assert any(known.startswith(figure) or figure in known for known in figures), figure
            found += 1
    assert found >= 15


def test_the_paper_cites_what_its_bibliography_holds():
    cited = {*re.findall(r"@(\w+)", PAPER.read_text("utf-8").partition("\n---\n")[2])}
    bibliography = (PAPER.parent / "paper.bib").read_text("utf-8")
    assert cited == {*re.findall(r"^@\w+{(\w+),$", bibliography, re.M)}


def test_dois_are_those_that_the_repository_cites():
    bibliography = (PAPER.parent / "paper.bib").read_text("utf-8")
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    assert all(doi in cited for doi in re.findall(r"doi = {(.*?)}", bibliography))


def test_the_paper_is_as_long_as_the_journal_asks():
    words = len(PAPER.read_text("utf-8").partition("\n---\n")[2].split())
    assert 750 <= words <= 1750


def test_the_paper_counts_the_methods():
    from semisift import CLASSIFIERS, METHODS

    learners = len(CLASSIFIERS) - 1  # the yardstick learns from labelled rows alone
    assert f"{len(METHODS)} rankers and {learners} classifiers" in " ".join(
        PAPER.read_text("utf-8").split()
    )
