"""The options ``--include``, ``--exclude``, ``--feature-groups`` and ``--feature-weights``."""

import json

import numpy as np
import polars as pl
import pytest

from semisift import FisherScore
from tests.commands import FEATURES, call, write_table
from tests.conftest import make_data


@pytest.fixture
def folder(tmp_path):
    """Return a folder with table.csv and words.csv, which has a column of words as well."""
    write_table(tmp_path)
    frame = pl.read_csv(tmp_path / "table.csv")
    colours = np.array(["red", "blue", "green"])[np.arange(len(frame)) % 3]
    frame.with_columns(pl.Series("colour", colours)).write_csv(tmp_path / "words.csv")
    (tmp_path / "groups.csv").write_text("feature,group\nx0,pair\nx3,pair\nnowhere,pair\n")
    (tmp_path / "sets.gmt").write_text("set\thttp://x\tx2\tcolour\n")
    (tmp_path / "prior.csv").write_text("feature,weight\nx6,3\nnowhere,2\n")
    (tmp_path / "keep.txt").write_text("x7\ncolour\n")
    return tmp_path


def rank(folder, *arguments, table="table.csv", command="rank", code=0):
    given = ["--label", "label", "--id", "id", "--method", "fisher", "--categorical", "onehot"]
    return call(command, folder / table, *given, *arguments, code=code)


def read_ranking(path):
    return pl.read_csv(path, comment_prefix="#")


def test_the_ranking_is_that_of_python(folder):
    options = ["--include", "x7", "--exclude", "x1", "--feature-groups", folder / "groups.csv"]
    options += ["--feature-weights", folder / "prior.csv", "--top", 4, "--out", folder / "r.csv"]
    output = rank(folder, *options).output
    data = make_data()
    known = {"include": ["x7"], "exclude": ["x1"], "feature_groups": {"pair": ["x0", "x3"]}}
    ranker = FisherScore(n_features_to_select=4, feature_weights={"x6": 3}, **known, random_state=0)
    frame = ranker.fit(pl.DataFrame(data.X, schema=FEATURES), data.y).to_frame()
    columns = ["feature", "rank", "n_columns", "best_column", "feature_weights", "score_rank"]
    written = read_ranking(folder / "r.csv")
    assert written.select(columns).to_dicts() == frame.select(columns).to_dicts()
    np.testing.assert_array_equal(written["score"], frame["score"])
    words = " ".join(output.split())
    assert "1 of 3 names of --feature-groups is not in the table" in words
    assert "1 of 2 names of --feature-weights is not in the table" in words
    assert "1 feature was kept" in words
    assert "1 feature was left out" in words
    assert "2 columns, best x0" in words
    assert "weight 3" in words


def test_without_them_nothing_is_said_of_them(folder):
    rank(folder, "--out", folder / "r.json")
    facts = json.loads((folder / "r.json").read_text())
    assert not {"include", "exclude", "feature_groups", "feature_weights"} & {
        *facts,
        *facts["parameters"],
    }
    assert not {"kept", "n_columns", "feature_weights"} & set(facts["ranking"][0])


def test_variables_of_several_columns_go_by_their_name(folder):
    rank(
        folder, "--include", folder / "keep.txt", "--top", 3, "--out", folder / "r.json",
        table="words.csv",
    )  # fmt: skip
    facts = json.loads((folder / "r.json").read_text())
    kept = {row["feature"]: row["n_columns"] for row in facts["ranking"][:2]}
    assert kept == {"x7": 1, "colour": 3}
    assert facts["include"]["file"] == "keep.txt"
    assert sum(row["selected"] for row in facts["ranking"]) == 3
    rank(folder, "--exclude", "colour,x0", "--out", folder / "r.csv", table="words.csv")
    last = read_ranking(folder / "r.csv").tail(4)
    assert last["score"].is_nan().all()
    assert "x0" in last["feature"]


def test_a_reduced_table_has_all_columns_of_a_group(folder):
    options = ["--feature-groups", folder / "sets.gmt", "--include", "set", "--top", 2]
    rank(folder, *options, "--out", folder / "s.csv", table="words.csv", command="select")
    assert set(pl.read_csv(folder / "s.csv").columns) == {"x1", "x2", "colour", "label", "id"}


def test_what_is_kept_is_selected_with_what_is_significant(folder):
    rank(folder, "--include", "x7", "--assess", "fast", "--out", folder / "r.csv")
    frame = read_ranking(folder / "r.csv")
    assert frame["feature"][0] == "x7"
    chosen = frame.filter(pl.col("selected"))
    assert ((chosen["decision"] == "significant") | chosen["kept"]).all()


def test_the_report_says_what_was_known(folder):
    options = ["--include", "x7", "--exclude", "x1", "--feature-groups", folder / "groups.csv"]
    rank(folder, *options, "--feature-weights", folder / "prior.csv", "--report", folder / "r.html")
    page = (folder / "r.html").read_text()
    assert '<bdi>x7</bdi> <span class="quiet">kept</span>' in page
    assert '<bdi>pair</bdi> <span class="quiet">2 columns</span>' in page
    assert '<bdi>x6</bdi> <span class="quiet">weight 3</span>' in page
    assert "1 feature was left out" in page


REFUSED = [
    (["--include", "x0,nowhere"], 2, "--include: 'nowhere' is not in the table"),
    (["--exclude", "no,where"], 2, "--exclude: none of 2 names is in the table"),
    (["--feature-weights", "nowhere.csv"], 1, "nowhere.csv: there is no such file"),
    (["--include", "x0,x1,x2", "--top", 2], 1, "--top 2: 3 features are to stay"),
    (["--exclude", "x0", "--top", 8], 1, "--top 8: the table has 7 features only"),
    (["--include", "x0", "--exclude", "x0"], 1, "got 'x0' in both"),
    (["--param", "include=[1]"], 2, "include has an option of its own: --include"),
    (["--include", ""], 1, "--include '': it holds no name"),
    (["--exclude", ","], 1, "--exclude ',': it holds no name"),
    (["--exclude", ",".join(FEATURES)], 2, "--exclude: names all features, and leaves none"),
]


def test_what_cannot_be(folder):
    for options, code, message in REFUSED:
        assert message in " ".join(rank(folder, *options, code=code).output.split())


def test_a_feature_in_two_groups(folder):
    (folder / "g.gmt").write_text("a\t\tx0\tx1\nb\t\tx1\n")
    output = rank(folder, "--feature-groups", folder / "g.gmt", code=2).output
    assert "'x1' is in the groups 'a' and 'b'" in " ".join(output.split())


@pytest.mark.parametrize(
    ("option", "line"), [("feature-weights", "x0,3"), ("feature-groups", "x0,a")]
)
def test_a_feature_called_like_a_heading_is_not_lost(folder, option, line):
    table = (folder / "table.csv").read_text().replace("x0", "gene", 1)
    (folder / "table.csv").write_text(table)
    (folder / "known.csv").write_text(line.replace("x0", "gene") + "\n")
    output = rank(folder, f"--{option}", folder / "known.csv").output
    assert ("weight 3" if option == "feature-weights" else " a ") in output
