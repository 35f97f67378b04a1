"""``semisift next`` as a user meets it."""

import json

import numpy as np
import polars as pl
import pytest

from semisift import Consensus
from tests.commands import FEATURES, call, write_table
from tests.conftest import make_data


@pytest.fixture
def folder(tmp_path):
    return write_table(tmp_path)


def ask(folder, *arguments, code=0):
    given = ("--label", "label", "--id", "id", *arguments)
    return call("next", folder / "table.csv", *given, code=code)


def expected(n=10, y=None):
    data = make_data()
    names = np.array(["A", "B", None], dtype=object)[data.y]
    return Consensus(random_state=0).query(
        pl.DataFrame(data.X, schema=FEATURES), names if y is None else y, n
    )


def test_the_rows_are_those_of_python(folder):
    result = ask(folder, "--out", folder / "next.csv", "-n", "4")
    frame = pl.read_csv(folder / "next.csv", comment_prefix="#")
    found = expected(4)
    assert frame["row"].to_list() == [f"s{i}" for i in found.rows]
    assert frame["reason"].to_list() == found.reasons
    assert frame["guess"].to_list() == list(found.guesses)
    np.testing.assert_allclose(frame["confidence"], found.confidence)
    shown = " ".join(result.output.split())
    assert "The 4 rows to label next" in shown
    assert f"s{found.rows[0]}" in shown
    assert f"Written: {folder / 'next.csv'}" in result.output.replace("\n", "")


def test_forms_of_the_file(folder):
    ask(folder, "--out", folder / "next.json", "--quiet")
    found = json.loads((folder / "next.json").read_text())
    assert [row["row"] for row in found["rows"]] == [f"s{i}" for i in expected().rows]
    assert found["input"]["file"] == "table.csv"
    printed = ask(folder, "--out", "-").output
    assert printed.startswith("# semisift")
    assert printed.count("\n") == len([line for line in printed.splitlines() if line])
    assert "label next" not in printed


def test_from_nothing_labelled(folder):
    table = folder / "table.csv"
    result = call("next", table, "--id", "id", "--drop", "label", "--n", "2")
    assert "nothing is labelled yet" in " ".join(result.output.split())
    assert "0 carry a label" in result.output
    assert "most likely" not in result.output


def test_nothing_left_to_ask(folder):
    frame = pl.read_csv(folder / "table.csv").with_columns(pl.lit("A").alias("label"))
    frame.write_csv(folder / "table.csv")
    assert "No row is without a label" in ask(folder).output


def test_groups_are_read(folder):
    frame = pl.read_csv(folder / "table.csv")
    frame = frame.with_columns(donor=pl.Series([f"d{i // 6}" for i in range(60)]))
    frame.write_csv(folder / "table.csv")
    ask(folder, "--group", "donor", "--out", folder / "next.csv", "-q")
    rows = pl.read_csv(folder / "next.csv", comment_prefix="#")["row"]
    assert len({int(row[1:]) // 6 for row in rows}) >= 7


def test_what_is_refused(folder):
    assert "must end in .csv" in ask(folder, "--out", folder / "next.txt", code=2).output
    assert "is a file that is read" in ask(folder, "--out", folder / "table.csv", code=2).output
    assert "0 is not in the range" in ask(folder, "--n", "0", code=2).output
    result = call("next", folder / "table.csv", "--label", "nothing", code=1)
    assert "nothing" in result.output
