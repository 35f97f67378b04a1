"""Pairs of rows that must, or cannot, belong to the same class, as arguments and as files."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from semisift import METHODS, ConstraintScore, read_table
from semisift.base._ranker import PairRanker
from semisift.cli import main
from semisift.exceptions import TableError
from semisift.utils._labels import pairs_from_labels, parse_labels
from tests.conftest import make_data
from tests.methods.test_common import assert_is_ranking, assert_same_fit, make
from tests.nightly import daily_are

TAKE_PAIRS = [name for name in METHODS if issubclass(METHODS[name].cls, PairRanker)]
MUST, CANNOT = [(0, 2), (1, 3), (30, 31)], [(0, 1), (2, 3), (40, 1)]

each = pytest.mark.parametrize("name", TAKE_PAIRS)
few = pytest.mark.parametrize("name", daily_are(["constraint", "csfs"], TAKE_PAIRS))
one = pytest.mark.parametrize("name", daily_are(["constraint"], TAKE_PAIRS))


# --- in Python ------------------------------------------------------------------------------------


def test_there_are_such_methods():
    assert {"constraint", "bs"} <= set(TAKE_PAIRS)


@few
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_pairs_alone(name, form, data):
    ranker = make(name).fit(form(data.X), must_link=MUST, cannot_link=CANNOT)
    assert_is_ranking(ranker, 8)
    assert np.isfinite(ranker.scores_).all()
    assert not hasattr(ranker, "classes_")
    again = make(name).fit(form(data.X), must_link=np.array(MUST), cannot_link=np.array(CANNOT))
    assert_same_fit(ranker, again)


@few
def test_order_and_repetition_of_pairs_do_not_matter(name, data):
    expected = make(name).fit(data.X, must_link=MUST, cannot_link=CANNOT)
    turned = [(j, i) for i, j in MUST[::-1]] + MUST
    assert_same_fit(expected, make(name).fit(data.X, must_link=turned, cannot_link=CANNOT * 2))


@few
def test_pairs_that_the_labels_imply_change_nothing(name, data):
    must, cannot = pairs_from_labels(parse_labels(data.y, 60))
    expected = make(name).fit(data.X, data.y)
    ranker = make(name).fit(data.X, data.y, must_link=must, cannot_link=cannot)
    assert_allclose(ranker.scores_, expected.scores_, rtol=1e-9)
    assert_array_equal(ranker.ranking_, expected.ranking_)


# EnsCLS draws bags of rows where there are labels, and bags of pairs where there are none
@pytest.mark.parametrize("name", [name for name in TAKE_PAIRS if name != "enscls"])
def test_pairs_equal_to_those_of_the_labels_give_the_same_scores(name, data):
    must, cannot = pairs_from_labels(parse_labels(data.y, 60))
    expected = make(name).fit(data.X, data.y)
    ranker = make(name).fit(data.X, must_link=must, cannot_link=cannot)
    assert_allclose(ranker.scores_, expected.scores_, rtol=1e-9)
    assert_array_equal(ranker.ranking_, expected.ranking_)


@each
def test_pairs_beside_labels_count(name, data):
    expected = make(name).fit(data.X, data.y)
    ranker = make(name).fit(data.X, data.y, must_link=[(0, 30)], cannot_link=[(0, 31), (33, 40)])
    assert (ranker.scores_ != expected.scores_).any()


@one
@pytest.mark.parametrize(
    ("must_link", "cannot_link", "message"),
    [
        ([(20, 21)], [(21, 20)], r"contradict each other.*\(20, 21\), which must_link joins"),
        ([(20, 21), (21, 22), (22, 23)], [(30, 31), (20, 23)], r"pairs \(20, 23\), .* chain"),
        ([(0, 1)], None, "must_link contradicts the labels: it joins the rows 0 and 1"),
        ([(0, 40), (40, 41), (41, 1)], None, r"joins the rows 0 and 1, .*labels are 0 and 1"),
        (
            None,
            [(0, 2), (20, 21)],
            r"cannot_link contradicts the labels: .* \(0, 2\) have the same",
        ),
        ([(20, 0)], [(20, 2)], r"\(2, 20\) have the same label, of their own or through must_link"),
    ],
)
def test_contradictions_are_shown(name, must_link, cannot_link, message, data):
    with pytest.raises(ValueError, match=message):
        make(name).fit(data.X, data.y, must_link=must_link, cannot_link=cannot_link)


@one
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 60)], "row numbers from 0 to 59: got 60"),
        ([(-1, 3)], "row numbers from 0 to 59: got -1"),
        ([(4, 4)], "pair different rows: got row 4 twice"),
        ([(0.0, 1.0)], "pairs of integers: got dtype float64"),
        ([(0, 1, 2)], r"pairs of row numbers: got shape \(1, 3\)"),
        ([(0, 2), (4,)], r"pairs of row numbers: got shape \(2,\)"),
        (np.ma.masked_equal([(0, 2), (1, 3)], 3), "pairs of integers: got dtype object"),
    ],
)
def test_bad_pairs_are_named(name, pairs, message, data):
    with pytest.raises(ValueError, match=f"must_link must .*{message}"):
        make(name).fit(data.X, must_link=pairs, cannot_link=[(0, 1)])
    with pytest.raises(ValueError, match=f"cannot_link must .*{message}"):
        make(name).fit(data.X, must_link=[(0, 1)], cannot_link=pairs)


def test_many_pairs_that_contradict_are_cut_short(data):
    must_link = [(i, i + 1) for i in range(20, 40)]
    cannot_link = [(20, i) for i in range(22, 40)]
    with pytest.raises(ValueError, match=r"\(20, 22\), .*\(20, 26\) and 13 more, which"):
        ConstraintScore().fit(data.X, must_link=must_link, cannot_link=cannot_link)


# --- in files -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    data = make_data()
    frame = pl.DataFrame(data.X, schema=[f"x{j}" for j in range(8)])
    labels = [None if code < 0 else "AB"[code] for code in data.y]
    names = [f"s{i}" for i in range(60)]
    frame = frame.with_columns(pl.Series("label", labels), pl.Series("id", names))
    frame.write_csv(tmp_path / "table.csv")
    monkeypatch.chdir(tmp_path)
    write_pairs("must.csv", [("one", "other"), *((f"s{i}", f"s{j}") for i, j in MUST)])
    write_pairs("cannot.csv", [(f"s{i}", f"s{j}") for i, j in CANNOT])
    write_pairs("must_numbers.csv", [(i + 1, j + 1) for i, j in MUST])
    write_pairs("cannot_numbers.csv", [("a", "b"), *((i + 1, j + 1) for i, j in CANNOT)])
    return tmp_path


def write_pairs(name, pairs, separator=","):
    with open(name, "w") as file:
        file.writelines(f"{separator.join(map(str, pair))}\n" for pair in pairs)


def rank(*arguments, code=0):
    command = ["rank", "table.csv", *map(str, arguments)]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


NO_LABEL = ("--drop", "label", "--method", "constraint")


def ranking(*arguments):
    rank(*arguments, "--out", "r.json")
    with open("r.json") as file:
        return json.load(file)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("must.csv", "cannot.csv"), ("--id", "id")),
        (("must_numbers.csv", "cannot_numbers.csv"), ("--id", "id")),
        (("must_numbers.csv", "cannot_numbers.csv"), ("--drop", "id")),
    ],
)
def test_files_give_the_scores_of_python(folder, files, names):
    must, cannot = files
    result = ranking(*NO_LABEL, *names, "--must-link", must, "--cannot-link", cannot)
    expected = ConstraintScore().fit(make_data().X, must_link=MUST, cannot_link=CANNOT)
    order = np.argsort(expected.ranking_)
    assert [row["feature"] for row in result["ranking"]] == [f"x{j}" for j in order]
    assert_array_equal([row["score"] for row in result["ranking"]], expected.scores_[order])
    for name, file in (("must_link", must), ("cannot_link", cannot)):
        assert result[name]["file"] == file
        assert len(result[name]["sha256"]) == 64
    assert "3 must-link pairs read from" in " ".join(result["notes"])
    assert "was read as a heading" in " ".join(result["notes"])


def test_separators_and_quotation_marks(folder):
    write_pairs("must.tsv", [(f'"s{i}"', f"s{j}") for i, j in MUST], "\t")
    with_tabs = ranking(
        *NO_LABEL, "--id", "id", "--must-link", "must.tsv", "--cannot-link", "cannot.csv"
    )
    plain = ranking(
        *NO_LABEL, "--id", "id", "--must-link", "must.csv", "--cannot-link", "cannot.csv"
    )
    assert with_tabs["ranking"] == plain["ranking"]


def test_labels_and_pairs_together(folder):
    data = make_data()
    options = ("--label", "label", "--id", "id", "--method", "constraint")
    result = ranking(*options, "--must-link", "must.csv", "--cannot-link", "cannot.csv")
    expected = ConstraintScore().fit(data.X, data.y, must_link=MUST, cannot_link=CANNOT)
    scores = [row["score"] for row in result["ranking"]]
    assert_array_equal(scores, np.sort(expected.scores_)[::-1])


@pytest.mark.parametrize(
    "files", [("must.csv", "cannot.csv"), ("must_numbers.csv", "cannot_numbers.csv")]
)
def test_rows_that_are_left_out_do_not_shift_the_pairs(folder, files):
    frame = pl.read_csv("table.csv")
    gone = [5, 30, 35]
    values = [None if i in gone else value for i, value in enumerate(frame["x3"])]
    frame.with_columns(pl.Series("x3", values)).write_csv("table.csv")
    options = (*NO_LABEL, "--id", "id", "--missing", "drop-rows")
    result = ranking(*options, "--must-link", files[0], "--cannot-link", files[1])
    kept = np.setdiff1d(np.arange(60), gone)
    number = {int(row): place for place, row in enumerate(kept)}
    must = [(number[i], number[j]) for i, j in MUST if not {i, j} & set(gone)]
    cannot = [(number[i], number[j]) for i, j in CANNOT]
    expected = ConstraintScore().fit(make_data().X[kept], must_link=must, cannot_link=cannot)
    scores = [row["score"] for row in result["ranking"]]
    assert_array_equal(scores, np.sort(expected.scores_)[::-1])
    assert "1 of the must-link pairs were left out with rows" in " ".join(result["notes"])


def test_read_table_reads_pairs(folder):
    data = read_table("table.csv", label="label", id="id", must_link="must.csv")
    assert_array_equal(data.must_link, MUST)
    assert data.cannot_link is None


def test_rows_with_names_are_not_silently_counted(folder):
    counted = "must_numbers.csv holds no name of a row: its numbers count rows from 1."
    given = {"drop": ["label"], "must_link": "must_numbers.csv"}
    assert counted in read_table("table.csv", id="id", **given).notes
    assert counted not in read_table("table.csv", **{**given, "drop": ["label", "id"]}).notes
    frame = pl.read_csv("table.csv")
    numbers = pl.Series("id", [f"{i:03}" for i in range(60)])
    frame.with_columns(numbers).write_csv("numbers.csv")
    with pytest.raises(TableError, match=r"none of its cells is a row of numbers.csv.*'000'"):
        read_table("numbers.csv", id="id", **given)


@pytest.mark.parametrize(
    ("lines", "names", "words"),
    [
        ([("s0", "s2"), ("s1", "s99")], "id", ["line 2", "'s99' is no row of table.csv", "'s0'"]),
        ([("s0", "s99")], "id", ["line 1", "'s99' is no row"]),
        ([("s0", "s0")], "id", ["line 1", "'s0' is paired with itself"]),
        ([(1, 2), (3, 61)], None, ["line 2", "no row 61", "from 1 to 60"]),
        ([(0, 2)], None, ["line 1", "no row 0", "from 1 to 60"]),
        ([(1, 2), (1.5, 3)], None, ["line 2", "'1.5' is no row number", "--id"]),
        ([("s0", "s1"), ("s2", "s3")], None, ["line 2", "'s2' is no row number", "--id"]),
        ([(1, 2, 3)], None, ["two columns", "has 3"]),
        ([(1,)], None, ["two columns", "has 1"]),
        ([("a", "b")], None, ["a heading but no pair"]),
    ],
)
def test_bad_files_are_refused_with_the_line(folder, lines, names, words):
    write_pairs("bad.csv", lines)
    names = ("--id", names) if names else ("--drop", "id")
    shown = " ".join(rank(*NO_LABEL, *names, "--must-link", "bad.csv", code=1).stderr.split())
    for word in ("bad.csv", *words):
        assert word in shown


def test_contradictions_in_files_are_shown_by_name(folder):
    write_pairs("bad.csv", [("s2", "s0")])
    options = (*NO_LABEL, "--must-link", "must.csv", "--cannot-link", "bad.csv")
    shown = " ".join(rank(*options, "--id", "id", code=1).stderr.split())
    assert "must.csv and bad.csv" in shown
    assert "('s0', 's2'), which must_link joins" in shown
    write_pairs("bad.csv", [(1, 2)])
    options = ("--label", "label", "--drop", "id", "--method", "bs", "--must-link", "bad.csv")
    shown = " ".join(rank(*options, code=1).stderr.split())
    assert "joins the rows 1 and 2" in shown
    assert "whose labels are A and B" in shown


def test_methods_without_pairs_refuse_them_before_any_work(folder):
    result = rank("--label", "none", "--method", "ssfi", "--must-link", "missing.csv", code=2)
    assert "ssfi does not take pairs of rows. Those that do: bs, enscls" in " ".join(
        result.stderr.split()
    )
    result = rank("--method", "fisher", "--cannot-link", "cannot.csv", code=2)
    assert "--cannot-link" in result.stderr


def test_missing_files_and_files_that_are_read(folder):
    assert "no such file" in rank(*NO_LABEL, "--id", "id", "--must-link", "none.csv", code=1).stderr
    options = ("--id", "id", "--must-link", "must.csv", "--out", "must.csv")
    assert "is a file that is read" in rank(*NO_LABEL, *options, code=2).stderr


def test_labels_are_still_needed_without_pairs(folder):
    assert "constraint needs labels" in rank(*NO_LABEL, "--id", "id", code=1).stderr
