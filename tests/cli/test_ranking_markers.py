"""Markers by class on the command line: what is printed, and written, and what is refused."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from semisift import TransductiveScore, read_table
from semisift.cli import main
from tests.pages import check

GENES = [f"g{j}" for j in range(24)]


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Write counts of three kinds of cells; kind c is marked by the genes 2c and 2c + 1."""
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 150)
    rates = np.full((3, len(GENES)), 0.2)
    for code in range(3):
        rates[code, [2 * code, 2 * code + 1]] = 4
    labels = np.array([["=b", "T cell", "NK"][code] for code in kind], dtype=object)
    labels[36:] = None
    obs = pd.DataFrame({"kind": pd.Categorical(labels)}, index=[f"c{i}" for i in range(150)])
    X = rng.poisson(rates[kind]).astype(np.float32)
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    anndata.AnnData(X, obs, pd.DataFrame(index=GENES)).write_h5ad(path)
    return path


def call(*arguments, code=0):
    result = CliRunner().invoke(main, [*map(str, arguments)], env={"COLUMNS": "120"})
    assert result.exit_code == code, result.output
    return result


MARKED = {"=b": {"g0", "g1"}, "T cell": {"g2", "g3"}, "NK": {"g4", "g5"}}
FAST = ["--label", "kind", "--method", "transductive"]


def test_the_terminal_lists_the_best_of_each_class(cells):
    output = call("rank", cells, *FAST, "--by-class").stdout
    lines = output[output.index("What is higher in each class") :].splitlines()
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
    assert [row[0] for row in rows if row[0] in MARKED] == ["=b", "NK", "T cell"]
    for place, row in enumerate(rows):
        if row[0] in MARKED:
            assert {row[1], rows[place + 1][1]} == MARKED[row[0]]
            assert rows[place + 1][0].endswith(" rows")
            assert float(row[2]) > 5
            assert float(row[3]) > 1  # the fold change
            assert int(row[4].strip("%")) > 80 > 40 > int(row[5].strip("%"))


def test_files_and_page_hold_them(cells, tmp_path):
    outputs = {"ranking": tmp_path / "r.json", "markers": tmp_path / "m.csv"}
    page = tmp_path / "r.html"
    output = call(
        *("rank", cells, *FAST, "--by-class", "--report", page),
        *("--ranking", outputs["ranking"], "--markers", outputs["markers"]),
    ).stdout
    assert f"Written: {outputs['markers'].name}" in output.replace(str(tmp_path) + "/", "")
    data = read_table(cells, label="kind")
    found = TransductiveScore(random_state=0).fit(data.X, data.y).markers(data.X, data.y)
    table = pl.read_csv(outputs["markers"], comment_prefix="#")
    assert len(table) == 3 * len(GENES)
    for name, values in found.to_frame().to_dict(as_series=False).items():
        assert table[name].to_list() == (pytest.approx(values) if name != "feature" else values)
    facts = json.loads(outputs["ranking"].read_text())
    assert [each["class"] for each in facts["markers"]] == ["=b", "NK", "T cell"]
    for each, size in zip(facts["markers"], found.sizes, strict=True):
        assert {line["feature"] for line in each["best"][:2]} == MARKED[each["class"]]
        assert each["rows"] == pytest.approx(size, abs=0.05)
    text = outputs["markers"].read_text()
    assert '# input: {"file": "cells.h5ad"' in text
    assert "# markers:" not in text
    text = page.read_text()
    check(text)
    assert "Markers by class" in text


@pytest.mark.parametrize("ending", ["tsv", "parquet", "json"])
def test_markers_alone_ask_for_them(cells, tmp_path, ending):
    path = tmp_path / f"m.{ending}"
    output = call("rank", cells, *FAST, "--markers", path, "--spreadsheet-safe").stdout
    assert "What is higher in each class" in output
    if ending == "parquet":
        table = pl.read_parquet(path)
    elif ending == "tsv":
        table = pl.read_csv(path, comment_prefix="#", separator="\t")
    else:
        table = pl.DataFrame(json.loads(path.read_text())["markers"])
    assert table.columns[:4] == ["class", "rank", "feature", "score"]
    assert table["class"].unique().len() == 3
    assert table["class"][0] == ("'=b" if ending == "tsv" else "=b")


def test_excluded_features_come_last_without_numbers(cells, tmp_path):
    text, plain, page = (tmp_path / name for name in ("m.csv", "m.json", "page.html"))
    left_out = ["--exclude", "g0,g7"]
    call("rank", cells, *FAST, *left_out, "--by-class", "--markers", text, "--report", page)
    call("rank", cells, *FAST, *left_out, "--markers", plain)
    read = pl.read_csv(text, comment_prefix="#").filter(pl.col("class") == "NK")
    assert read["feature"][-2:].to_list() == ["g0", "g7"]
    assert read["score"].is_nan().to_list() == [False] * 22 + [True] * 2
    last = json.loads(plain.read_text())["markers"][23]
    assert last["feature"] == "g7"
    assert {last[name] for name in ("score", "log2_fold_change", "share", "rest_share")} == {None}
    check(page.read_text())
    assert ">nan" not in page.read_text().lower()


def test_select_has_them_too(cells, tmp_path):
    arguments = ["--by-class", "--top", "6", "--out", tmp_path / "small.h5ad"]
    assert "What is higher" in call("select", cells, *FAST, *arguments).stdout


def test_rows_that_stay_in_the_file_have_the_same_markers(cells, tmp_path, monkeypatch):
    monkeypatch.setattr("semisift.out_of_core._matrix.BLOCK_VALUES", 1 << 10)
    tables = []
    for memory, known_by in (("1GB", "sha256"), ("50kB", "modified")):
        path = tmp_path / f"{memory}.json"
        more = ["--param", "max_unlabelled=20", "--max-memory", memory, "--quiet"]
        call("rank", cells, *FAST, *more, "--markers", path)
        written = json.loads(path.read_text())
        assert known_by in written["input"]
        tables.append(pl.DataFrame(written["markers"]))
    assert tables[0]["feature"].to_list() == tables[1]["feature"].to_list()
    assert tables[0]["score"].to_list() == pytest.approx(tables[1]["score"].to_list())


def test_methods_and_tables_without_classes_are_refused(cells, tmp_path):
    for method in ("variance", "laplacian"):
        output = " ".join(
            call("rank", cells, "--method", method, "--by-class", code=2).output.split()
        )
        assert f"--by-class: {method} looks at no labels, so it knows no classes" in output
        assert "consensus" in output
        output = call("rank", cells, "--method", method, "--markers", tmp_path / "m.csv", code=2)
        assert "--markers: " in output.output
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("c0,c1\nc2,c3\n")
    given = ["--method", "constraint", "--cannot-link", pairs, "--by-class"]
    output = " ".join(call("rank", cells, *given, code=1).output.split())
    assert "--by-class needs labelled rows of each class, and no row is labelled" in output
    call("rank", cells, *FAST, "--markers", tmp_path / "m.xlsx", code=2)
