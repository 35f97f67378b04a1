"""The ranking file inside the page."""

import base64
import json
import re
import zlib

import numpy as np
import polars as pl
import pytest

from semisift import Consensus
from semisift.io._write import as_text
from semisift.report import render
from semisift.report._download import MAX_FEATURES, MAX_PACKED
from semisift.selection import ranking_result
from tests.commands import call, write_table
from tests.pages import EVIL, Given, fit_example, page_of


def unpack(page):
    """Return name and text of the file, as the script of the page makes it."""
    name, packed = re.search(
        r'<pre id="packed-file" data-name="(.*?)" hidden>(.*?)</pre>', page
    ).groups()
    content = json.loads(zlib.decompress(base64.b64decode(packed), -15))
    columns, n = content["columns"], max(len(cells or ()) for cells in content["columns"])
    cells = [range(1, n + 1) if each is None else each for each in columns]
    lines = [",".join(map(str, line)) for line in zip(*cells, strict=True)]
    return name, content["head"] + "".join(f"{line}\n" for line in lines)


def test_it_is_the_file_of_the_command_line(tmp_path):
    table = write_table(tmp_path) / "table.csv"
    for options in [
        ("--no-assess",),
        ("--assess", "fast", "--redundancy", "0.5", "--spreadsheet-safe"),
    ]:
        common = ["--label", "label", "--id", "id", *options]
        ranking, report = tmp_path / "ranking.csv", tmp_path / "report.html"
        call("rank", table, *common, "--out", ranking, "--report", report)
        assert unpack(report.read_text()) == ("table-ranking.csv", ranking.read_text())


def test_names_of_all_kinds():
    names = [*EVIL[:-1], 'a "quoted" name', "comma, and\nline"]  # the last no file can hold
    ranker = Given(scores=np.arange(len(names)), n_features_to_select=2).fit(np.eye(len(names)))
    outcome = ranking_result(ranker, names)
    assert unpack(render(outcome)) == ("ranking.csv", as_text(outcome.to_frame(), safe=False))


def test_a_name_that_no_file_can_hold():
    ranker = Given(scores=[1.0, 2.0]).fit(np.eye(2))
    assert '"? lone",1,2.0,' in unpack(render(ranking_result(ranker, ["a", EVIL[-1]])))[1]


def test_without_a_source_it_has_a_plain_name():
    ranker, _, _ = fit_example()
    assert unpack(page_of(ranker))[0] == "ranking.csv"
    assert unpack(page_of(ranker, source={"file": "cells.csv.gz"}))[0] == "cells-ranking.csv"


def test_very_many_features_have_their_main_columns():
    rng = np.random.default_rng(0)
    n = MAX_FEATURES + 100
    ranker = Given(scores=rng.normal(size=n), n_features_to_select=3).fit(rng.normal(size=(4, n)))
    page = page_of(ranker)
    found = pl.read_csv(unpack(page)[1].encode())
    expected = ranker.to_frame()[:MAX_FEATURES]
    assert found.columns == ["feature", "rank", "score", "selected"]
    assert found["feature"].to_list() == expected["feature"].to_list()
    assert found["rank"].to_list() == expected["rank"].to_list()
    assert found["score"].to_numpy() == pytest.approx(expected["score"].to_numpy(), rel=1e-3)
    assert "with scores of 4 digits, of the best 25,000 features." in page
    assert len(page) < 900_000


@pytest.mark.nightly
def test_22283_features_of_104_rows_stay_below_a_megabyte(load_dataset):
    """With all that an assessed consensus knows of them."""
    X, truth = load_dataset("chowdary")
    y = np.full(len(truth), None, dtype=object)
    for label in np.unique(truth):
        y[np.flatnonzero(truth == label)[:5]] = label
    ranker = Consensus(random_state=0).fit(X, y)
    ranker.assess(X, y, n_resamples=2, n_permutations=2, fast=True)
    page = page_of(ranker, X, y)
    assert len(page.encode()) < 1_000_000
    text = unpack(page)[1]
    assert text.count("\n") == 1 + 22_283
    assert len(text) > 3 * MAX_PACKED
    assert "it has the main columns, with scores of 4 digits." in page
