"""Groups, batches, weights, missing values and one labelled class as a user meets them."""

import json
import re
from inspect import signature

import numpy as np
import polars as pl
import pytest

from semisift import FisherScore, TransductiveClassifier, read_table
from semisift.cli._reading import CAPABILITIES, names_of_takers
from semisift.registry import CLASSIFIERS, METHODS
from tests.commands import FEATURES, call, write_table

KNOWN = {"group": "donor", "batch": "plate", "weight": "w"}


@pytest.fixture
def folder(tmp_path):
    """Return a folder with table.csv, gaps.csv and one.csv, in which one class is labelled."""
    write_table(tmp_path)
    frame, numbers = pl.read_csv(tmp_path / "table.csv"), np.arange(60)
    frame = frame.with_columns(
        pl.Series("donor", [f"d{i}" for i in numbers // 4]),
        pl.Series("plate", [f"p{i}" for i in numbers // 2 % 3]),
        pl.Series("w", 1 + numbers % 2 / 2),
    )
    frame.write_csv(tmp_path / "table.csv")
    drawn = np.random.default_rng(0).random((60, 8)) < 0.1
    missing = [
        pl.when(pl.Series(drawn[:, j])).then(None).otherwise(pl.col(name)).alias(name)
        for j, name in enumerate(FEATURES)
    ]
    frame.with_columns(missing).write_csv(tmp_path / "gaps.csv")
    label = pl.col("label")
    frame.with_columns(pl.when(label == "A").then(label)).write_csv(tmp_path / "one.csv")
    return tmp_path


def options(*names):
    """Return the options of some columns, and leave the others out."""
    given = [part for name in names for part in (f"--{name}", KNOWN[name])]
    return [*given, *(part for name in {*KNOWN} - {*names} for part in ("--drop", KNOWN[name]))]


def rank(folder, *arguments, table="table.csv", command="rank", code=0, method="fisher"):
    given = ["--label", "label", "--id", "id", "--method", method]
    return call(command, folder / table, *given, *arguments, code=code)


def words(result):
    return " ".join(result.output.split())


def test_groups_batches_and_weights_are_those_of_python(folder):
    output = words(rank(folder, *options(*KNOWN), "--assess", "fast", "--out", folder / "r.json"))
    assert "table.csv: 60 rows of 15 groups in 3 batches, of which 12 carry a label" in output
    facts = json.loads((folder / "r.json").read_text())
    data = read_table(folder / "table.csv", label="label", id="id", **KNOWN)
    assert data.feature_names == FEATURES
    ranker = FisherScore(random_state=0)
    known = {"groups": data.groups, "batch": data.batch, "sample_weight": data.weight}
    frame = ranker.fit(data.X, data.y, **known).to_frame()
    written = {row["feature"]: row["score"] for row in facts["ranking"]}
    assert written == dict(frame.select("feature", "score").rows())
    plain = FisherScore(random_state=0).fit(data.X, data.y)
    assert not np.allclose(ranker.scores_, plain.scores_)
    about = facts["input"]
    assert {name: about[name] for name in KNOWN} == KNOWN
    assert (about["groups"], about["batches"], about["missing"]) == (15, 3, "error")


def test_a_reduced_table_keeps_the_columns_of_the_study(folder):
    rank(folder, *options(*KNOWN), "--top", 2, "--out", folder / "s.csv", command="select")
    columns = set(pl.read_csv(folder / "s.csv").columns)
    assert columns == {"x0", "x1", "label", "id", *KNOWN.values()}


def test_without_them_nothing_is_said_of_them(folder):
    output = words(rank(folder, *options(), "--out", folder / "r.json"))
    assert "60 rows, of which" in output
    about = json.loads((folder / "r.json").read_text())["input"]
    assert not {*KNOWN, "groups", "batches"} & {*about}


def test_batches_of_one_class(folder):
    frame = pl.read_csv(folder / "table.csv")
    plate = pl.when(pl.col("label") == "A").then(pl.lit("own")).otherwise(pl.col("plate"))
    frame.with_columns(plate.alias("plate")).write_csv(folder / "table.csv")
    output = words(rank(folder, *options("batch"), "--report", folder / "r.html"))
    assert "The labelled rows of 'A', 'B' are each all in batches without labelled rows" in output
    assert "takes out part of the difference" in (folder / "r.html").read_text()


@pytest.mark.parametrize(
    ("method", "given", "what", "mark"),
    [
        ("mrmr", ["--weight", "w"], "weights", lambda cls: "WeightedRanker" in mro(cls)),
        ("sffs", ["--missing", "keep"], "missing values", lambda cls: cls.allow_nan),
    ],
)
def test_methods_that_do_not_take_it_name_those_that_do(method, given, what, mark, folder):
    output = words(rank(folder, *given, method=method, code=2))
    assert f"{method} does not take {what}. Those that do: consensus" in output
    able = output.partition("Those that do: ")[2].rstrip(".").split(", ")
    expected = [name for name, each in METHODS.items() if mark(each.cls)]
    assert set(expected) <= set(able)
    assert method not in able


def mro(cls):
    return [each.__name__ for each in cls.__mro__]


def test_learners_get_what_they_take(folder):
    given = ["--label", "label", "--id", "id", "--drop", "plate", "--probabilities"]
    given += ["--out", folder / "l.json"]
    call("predict", folder / "table.csv", *given, "--group", "donor", "--weight", "w")
    labels = pl.DataFrame(json.loads((folder / "l.json").read_text())["labels"])
    data = read_table(folder / "table.csv", label="label", id="id", drop="plate", group="donor",
                      weight="w")  # fmt: skip
    model = TransductiveClassifier(random_state=0)
    model.fit(data.X, data.y, groups=data.groups, sample_weight=data.weight)
    np.testing.assert_array_equal(labels["p_A"], model.predict_proba(data.X)[:, 0])
    output = words(call("predict", folder / "table.csv", *given, "--group", "donor", "--drop", "w",
                      "--method", "rasco", code=2))  # fmt: skip
    able = [name for name in CLASSIFIERS if name.startswith(("co-forest", "co-bc", "tri", "ss-"))]
    assert f"rasco does not take groups. Those that do: {', '.join(able)}, transduction." in output
    call("predict", folder / "table.csv", *given, "--group", "donor", "--drop", "w",
         "--method", "tri-training")  # fmt: skip


def test_missing_values_stay(folder):
    output = words(rank(folder, *options(), table="gaps.csv", code=1))
    assert "or --missing keep for a method that takes them" in output
    keep = ["--missing", "keep"]
    report = ["--report", folder / "r.html", "--out", folder / "r.json"]
    output = words(rank(folder, *options(), *keep, *report, table="gaps.csv"))
    frame = pl.read_csv(folder / "gaps.csv")
    n_missing = sum(frame.select(FEATURES).null_count().row(0))
    assert f"{n_missing} missing values in 8 columns, kept as missing values" in output
    facts = json.loads((folder / "r.json").read_text())
    assert facts["input"]["missing"] == "keep"
    expected = FisherScore().fit(frame.select(FEATURES).to_numpy(), frame["label"].to_list())
    written = {row["feature"]: row["score"] for row in facts["ranking"]}
    np.testing.assert_allclose([written[name] for name in FEATURES], expected.scores_)
    page = (folder / "r.html").read_text()
    assert f"{n_missing} values of 480 missing: a cell without a colour has none" in page
    assert "taken as the mean of the feature" in page
    assert "without a value." in page
    shown = page.partition("<main")[2].partition("<script")[0]
    assert not re.search(r"\bnan\b", shown)


def test_a_reduced_table_has_its_missing_values(folder):
    rank(folder, *options(), "--missing", "keep", "--top", 8, "--out", folder / "s.csv",
         table="gaps.csv", command="select")  # fmt: skip
    before, after = pl.read_csv(folder / "gaps.csv"), pl.read_csv(folder / "s.csv")
    assert after.select(FEATURES).equals(before.select(FEATURES))


def test_a_comparison_takes_no_missing_values(folder):
    given = ["--label", "label", "--methods", "fisher", "--missing", "keep"]
    output = words(call("compare", folder / "gaps.csv", *given, "--out", folder / "runs", code=2))
    assert "--missing: the judges of a comparison take no missing values" in output


def test_one_labelled_class(folder):
    outputs = ["--report", folder / "r.html", "--predictions", folder / "l.csv"]
    outputs += ["--out", folder / "r.json"]
    given = [*options(), *outputs]
    output = words(rank(folder, *given, table="one.csv", method="transductive"))
    note = "One class is labelled: 18 unlabelled rows were taken for the rest; about"
    assert note in output
    assert "of the unlabelled rows are estimated to be of it" in output
    assert note in (folder / "r.html").read_text()
    assert set(pl.read_csv(folder / "l.csv")["label"]) == {"A", "other"}
    facts = json.loads((folder / "r.json").read_text())
    assert 0.02 <= facts["positive_share"] <= 0.98
    known = ["--param", "class_prior={'A': .2, 'other': .8}"]
    output = words(rank(folder, *given, *known, table="one.csv", method="transductive"))
    assert "20% of the unlabelled rows are of it, as class_prior says" in output
    output = words(call("predict", folder / "one.csv", "--label", "label", "--id", "id", *options(
        "group", "weight"), "--out", folder / "l.csv"))  # fmt: skip
    assert "One class is labelled: " in output


def test_one_class_is_too_few(folder):
    frame = pl.read_csv(folder / "one.csv").drop_nulls("label")
    frame.write_csv(folder / "one.csv")
    output = words(rank(folder, *options(), table="one.csv", code=1))
    assert "there are 6 rows of the class 'A' and 0 unlabelled" in output
    output = words(call("predict", folder / "table.csv", "--label", "label", "--unlabelled", "B",
                      "--id", "id", *options("group", "weight")[:2], "--drop", "plate", "--drop",
                      "w", "--method", "co-forest", "--out", folder / "l.csv", code=1))  # fmt: skip
    assert "take a method that finds the rest by itself (--method transduction)" in output


def test_methods_tell_what_they_take():
    listed = words(call("methods"))
    assert "Take weights (--weight): consensus, " in listed
    assert "one labelled class" not in listed  # which all of them take
    output = words(call("methods", "constraint"))
    assert "Takes: missing values (--missing keep), weights (--weight), groups (--group)" in output
    assert "pairs of rows (--must-link, --cannot-link), one labelled class" in output
    assert "Takes: values and labels alone" in words(call("methods", "rasco"))


@pytest.mark.nightly
def test_a_real_table_with_groups_missing_values_and_one_class(data_dir, tmp_path):
    with np.load(data_dir / "sonar.npz", allow_pickle=False) as file:
        X, y = file["X"].copy(), file["y"]
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    site = [f"site{i % 9}" for i in range(len(y))]
    np.savez(tmp_path / "sonar.npz", X=X, y=np.where(y == 1, "mine", "rock"), site=site)
    given = ["--labels-per-class", 10, "--group", "site", "--missing", "keep", "--no-assess"]
    given += ["--report", tmp_path / "r.html", "--predictions", tmp_path / "l.csv"]
    output = words(call("rank", tmp_path / "sonar.npz", *given))
    assert "208 rows of 9 groups, of which 20 carry a label" in output
    assert "missing values in 60 columns, kept as missing values" in output
    output = words(call("rank", tmp_path / "sonar.npz", "--unlabelled", "rock", *given))
    assert "One class is labelled: 30 unlabelled rows were taken for the rest" in output
    assert set(pl.read_csv(tmp_path / "l.csv")["label"]) == {"mine", "other"}


# --- what is known before anything is read --------------------------------------------------------

MARKS = {
    "missing values": lambda cls: getattr(cls, "allow_nan", False),
    "one labelled class": lambda cls: getattr(cls, "supports_positive_unlabelled", False),
    "weights": lambda cls: "sample_weight" in signature(cls.fit).parameters,
    "groups": lambda cls: "groups" in signature(cls.fit).parameters,
    "batches": lambda cls: "batch" in signature(cls.fit).parameters,
    "pairs of rows": lambda cls: "must_link" in signature(cls.fit).parameters,
}


@pytest.mark.parametrize("what", CAPABILITIES)
def test_the_registry_says_what_the_classes_take(what):
    for entries in (METHODS, CLASSIFIERS):
        assert names_of_takers(what, entries) == [
            name for name, entry in entries.items() if MARKS[what](entry.cls)
        ]
    assert MARKS.keys() == CAPABILITIES.keys()


TABLE = '"the ""kind"", by eye",a,b\nx,1,5\ny,2,3\nx,3,4\ny,2,2\n,3,3\n'


COLUMNS = [
    (TABLE, ["--label", 'the "kind", by eye'], 0, "2 x, 2 y"),
    (TABLE, ["--label", "1"], 0, "2 x, 2 y"),
    (TABLE, ["--label", "-3"], 0, "2 x, 2 y"),
    (TABLE, ["--label", "kinds"], 1, "It has, for example,"),
    (TABLE, ["--label", "1", "--drop", "b", "--drop", "c"], 1, "--drop c: table.csv has no"),
    (
        "# from kinds\n" + TABLE,
        ["--label", "1", "--id", "ids"],
        1,
        "--id ids: table.csv has no",
    ),
    ("id,r,s,t,u\nkind,x,y,x,\na,1,2,3,4\n", ["--label", "kind"], 1, "pass --transpose"),
    ("id,r,s,t,u\nkind,x,y,x,\na,1,2,3,4\n", ["--label", "kind", "--transpose"], 0, "2 x, 1 y"),
    ("x,1,5\ny,2,3\nx,3,4\n,2,2\n", ["--label", "1", "--no-header"], 0, "2 x, 1 y"),
    ("", ["--label", "kind"], 1, "the file is empty"),
    ("a\0b", ["--label", "kind"], 1, "table.csv"),
]


def test_columns_are_named_as_the_table_has_them(tmp_path, monkeypatch):
    for text, more, code, words in COLUMNS:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "table.csv").write_text(text)
        result = call("rank", "table.csv", *more, "--method", "fisher", code=code)
        assert words in " ".join(result.output.split())
