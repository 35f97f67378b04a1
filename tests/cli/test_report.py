"""``semisift report``, and the report that ``semisift compare`` writes at its end."""

import re
import shutil

import pytest
from sklearn.datasets import load_iris, load_wine

from semisift import Protocol, compare
from tests.cli.test_compare import call, words, write_csv


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "runs"
    sets = {"wine": load_wine(return_X_y=True), "iris": load_iris(return_X_y=True)}
    methods = ["fisher", "random", "tests.rankers.Failing"]
    protocol = Protocol(n_runs=2, sizes=(1, 2, 3), judges=("nb",))
    return compare(methods, sets, protocol, out=folder).folder


@pytest.fixture
def runs(made, tmp_path, monkeypatch):
    """Return the folder of a comparison, which lies in the current one."""
    shutil.copytree(made, tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def test_the_page_is_written_beside_the_records(runs):
    shown = words(call("report", "runs").stdout)
    page = (runs / "report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    for name in ("fisher", "random", "wine", "iris"):
        assert name in page
    assert "2 data sets, 2 runs: accuracy of nb" in shown
    assert "tests.rankers.Failing failed on wine in 2 runs: RuntimeError" in shown
    assert "Report: runs/report.html" in shown


def test_the_page_can_have_another_place_and_title(runs):
    call("report", "runs", "--out", "page.html", "--title", "Two <sets> & more")
    assert "Two &lt;sets&gt; &amp; more" in (runs.parent / "page.html").read_text(encoding="utf-8")
    assert not (runs / "report.html").exists()


def test_tables_for_papers(runs):
    shown = call("report", "runs", "--markdown", "table.md", "--latex", "table.tex").stdout
    markdown = (runs.parent / "table.md").read_text(encoding="utf-8")
    latex = (runs.parent / "table.tex").read_text(encoding="utf-8")
    assert "| wine" in markdown
    assert "fisher" in markdown
    assert "\\begin{tabular}" in latex
    assert "fisher" in latex
    assert "Written: table.md" in shown
    assert "Written: table.tex" in shown


@pytest.mark.parametrize(("form", "begins"), [("svg", b"<"), ("pdf", b"%PDF")])
def test_pictures_as_files(runs, form, begins):
    call("report", "runs", "--figures", "figures/new", "--figure-format", form)
    pictures = list((runs.parent / "figures" / "new").iterdir())
    assert len(pictures) >= 2
    for picture in pictures:
        assert picture.suffix == f".{form}"
        assert picture.read_bytes().startswith(begins)


def test_a_summary_stands_with_its_pictures_in_a_folder(runs):
    call("report", "runs", "--summary", "short")
    text = (runs.parent / "short" / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\]\((.+\.svg)\)", text)
    assert pictures
    assert all((runs.parent / "short" / name).is_file() for name in pictures)


def test_an_unfinished_comparison_has_a_report_too(runs):
    for path in list(runs.glob("records/*/*/0001.json")):
        path.unlink()
    shown = words(call("report", "runs").stdout)
    assert "6 records are missing: resume the comparison" in shown
    assert (runs / "report.html").exists()


def test_the_records_are_not_touched(runs):
    before = {path: path.read_bytes() for path in runs.rglob("*.json")}
    call("report", "runs", "--quiet", "--figures", "figures")
    assert {path: path.read_bytes() for path in runs.rglob("*.json")} == before


def test_quiet_prints_nothing(runs):
    assert call("report", "runs", "--quiet").output == ""


REFUSED = [
    (["none"], 1, "none holds no comparison"),
    (["runs", "--out", "page.pdf"], 2, "must end in .html"),
    (["runs", "--markdown", "table.txt"], 2, "must end in .md"),
    (["runs", "--latex", "none/table.tex"], 2, "the folder none does not exist"),
    (["runs", "--figures", "runs/comparison.json"], 2, "comparison.json is a file"),
    (["runs", "--summary", "runs/comparison.json"], 2, "comparison.json is a file"),
    (["runs", "--figure-format", "png"], 2, "--figure-format"),
]


def test_refused(runs):
    for arguments, code, message in REFUSED:
        assert message in words(call("report", *arguments, code=code).stderr)
        assert sorted(path.name for path in runs.iterdir()) == [
            "comparison.json",
            "records",
        ]


# --- at the end of a comparison -------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_csv(tmp_path / "iris.csv", load_iris())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compare_iris(*arguments, code=0):
    return call(
        *("compare", "iris.csv", "--label", "kind", "--methods", "fisher,random", "--out", "out"),
        *("--runs", 2, "--sizes", "1-3", "--judge", "nb", *arguments),
        code=code,
    )


def test_compare_writes_a_report(folder):
    assert "Report: out/report.html" in words(compare_iris().stdout)
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "semisift compare iris.csv" in page


def test_the_report_of_a_comparison_has_the_place_that_was_asked_for(folder):
    compare_iris("--report", "page.html", "--quiet")
    assert (folder / "page.html").exists()
    assert not (folder / "out" / "report.html").exists()
    (folder / "page.html").unlink()
    call("compare", "--resume", "--out", "out", "--report", "page.html")
    assert (folder / "page.html").exists()


def test_a_report_can_be_asked_for_later(folder):
    compare_iris("--no-report")
    assert not (folder / "out" / "report.html").exists()
    call("compare", "--resume", "--out", "out")
    assert not (folder / "out" / "report.html").exists()
    call("compare", "--resume", "--out", "out", "--report", "late.html")
    assert (folder / "late.html").exists()


def test_a_comparison_that_failed_altogether_has_a_report(folder):
    output = call(
        *("compare", "iris.csv", "--label", "kind", "--methods", "tests.rankers.Failing"),
        *("--out", "failed", "--runs", 1),
        code=1,
    )
    assert "every run failed" in output.stderr
    assert (folder / "failed" / "report.html").exists()
