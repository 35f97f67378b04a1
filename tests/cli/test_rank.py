"""``semisift rank``, ``select`` and ``methods`` as a user meets them."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from click import ClickException

from semisift import CLASSIFIERS, METHODS, SSFI, Consensus, FisherScore
from semisift.cli import _terminal, main
from tests.commands import FEATURES, call, write_table
from tests.conftest import make_data


@pytest.fixture
def folder(tmp_path):
    """Return a folder with table.csv: eight features, an id and few labels."""
    return write_table(tmp_path)


def rank(folder, *arguments, code=0):
    return call(
        "rank", folder / "table.csv", "--label", "label", "--id", "id", *arguments, code=code
    )


def read_ranking(path):
    return pl.read_csv(path, comment_prefix="#")


# --- what is written ------------------------------------------------------------------------------


def test_the_ranking_is_that_of_python(folder):
    rank(folder, "--out", folder / "r.csv", "--seed", 3)
    data = make_data()
    ranker = Consensus(random_state=3).fit(data.X, data.y)
    sure = ranker.assess(data.X, data.y, n_resamples=20, n_permutations=39, fast=True)
    frame = read_ranking(folder / "r.csv")
    assert frame["rank"].to_list() == list(range(1, 9))
    order = np.argsort(ranker.ranking_)
    assert frame["feature"].to_list() == [FEATURES[j] for j in order]
    np.testing.assert_array_equal(frame["score"].to_numpy(), ranker.scores_[order])
    np.testing.assert_array_equal(frame["rank_by_ssfi"].to_numpy(), ranker.part_rankings_[1][order])
    assert frame["decision"].to_list() == sure.decisions[order].tolist()
    np.testing.assert_array_equal(frame["rank_high"].to_numpy(), sure.rank_interval[order, 1])
    np.testing.assert_array_equal(
        frame["selection_probability"].to_numpy(), sure.selection_probability[order]
    )


def test_the_ranking_by_a_method_is_that_of_python(folder):
    rank(folder, "--out", folder / "r.csv", "--seed", 3, "--method", "ssfi")
    data = make_data()
    ranker = SSFI(random_state=3).fit(data.X, data.y)
    frame = read_ranking(folder / "r.csv")
    assert frame.columns == ["feature", "rank", "score", "selected", "draws"]
    order = np.argsort(ranker.ranking_)
    np.testing.assert_array_equal(frame["score"].to_numpy(), ranker.scores_[order])
    np.testing.assert_array_equal(frame["draws"].to_numpy(), ranker.n_draws_[order])


def test_the_ranking_says_where_it_comes_from(folder):
    parameters = ["--param", "max_iter=2", "--param", "variant=paper"]
    rank(folder, "--out", folder / "r.csv", "--method", "ssfi", *parameters)
    lines = [line for line in (folder / "r.csv").read_text().splitlines() if line[0] == "#"]
    facts = {key: json.loads(value) for key, value in (line[2:].split(": ", 1) for line in lines)}
    assert facts["method"] == "ssfi"
    assert facts["parameters"]["max_iter"] == 2
    assert facts["parameters"]["variant"] == "paper"
    assert facts["seed"] == 0
    assert facts["input"]["labelled"] == {"A": 6, "B": 6}
    assert len(facts["input"]["sha256"]) == 64
    assert {"python", "numpy", "scikit-learn"} <= set(facts["versions"])
    assert "Barkia" in facts["citation"]


def test_all_forms_of_the_ranking_agree(folder):
    for name in ("r.csv", "r.json", "r.parquet"):
        rank(folder, "--ranking", folder / name)
    expected = read_ranking(folder / "r.csv")
    assert pl.read_parquet(folder / "r.parquet").equals(expected)
    metadata = pl.read_parquet_metadata(folder / "r.parquet")
    assert json.loads(metadata["method"]) == "consensus"
    assert json.loads(metadata["assessment"])["n_permutations"] == 79
    content = json.loads((folder / "r.json").read_text())
    assert [row["feature"] for row in content["ranking"]] == expected["feature"].to_list()
    assert content["input"]["file"] == "table.csv"
    printed = rank(folder, "--out", "-").stdout
    assert printed == (folder / "r.csv").read_text()


def test_labels_of_all_rows(folder):
    rank(folder, "--predictions", folder / "l.csv", "--no-assess")
    frame = pl.read_csv(folder / "l.csv")
    data = make_data()
    ranker = Consensus(random_state=0).fit(data.X, data.y)
    assert frame["row"].to_list() == [f"s{i}" for i in range(60)]
    assert frame["label"].to_list() == ["AB"[code] for code in ranker.transduction_]
    np.testing.assert_array_equal(frame["confidence"].to_numpy(), ranker.confidence_)
    assert frame["given"].to_list() == (data.y >= 0).tolist()


def test_scores_that_are_missing_survive_every_form(folder):
    frame = pl.read_csv(folder / "table.csv").with_columns(pl.lit(1.0).alias("constant"))
    frame.write_csv(folder / "table.csv")
    rank(folder, "--out", folder / "r.json")
    last = json.loads((folder / "r.json").read_text())["ranking"][-1]
    assert (last["feature"], last["rank"], last["score"]) == ("constant", 9, None)
    assert last["decision"] == "not significant"
    rank(folder, "--out", folder / "r.csv")
    assert np.isnan(read_ranking(folder / "r.csv")["score"][-1])


def test_select_writes_the_table_and_all_the_rest(folder):
    outputs = [folder / name for name in ("small.csv", "r.csv", "l.csv", "report.html")]
    options = ["--out", "--ranking", "--predictions", "--report"]
    pairs = [part for pair in zip(options, outputs, strict=True) for part in pair]
    table = folder / "table.csv"
    result = call("select", table, "--label", "label", "--id", "id", "--top", 2, *pairs)
    assert all(path.stat().st_size for path in outputs)
    small = pl.read_csv(outputs[0])
    best = read_ranking(outputs[1])["feature"][:2].to_list()
    assert set(small.columns) == {*best, "label", "id"}
    original = pl.read_csv(table)
    assert small.equals(original.select(small.columns))
    assert "The 2 best features by consensus" in result.stdout
    assert "<html" in outputs[3].read_text()
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["table.csv", *(path.name for path in outputs)]
    )


def test_one_hot_columns_are_reported_as_their_variable(folder):
    frame = pl.read_csv(folder / "table.csv")
    colours = ["red" if x > 1 else "blue" if x > 0 else "green" for x in frame["x0"]]
    frame.with_columns(pl.Series("colour", colours)).write_csv(folder / "table.csv")
    rank(folder, "--categorical", "onehot", "--out", folder / "r.csv")
    features = read_ranking(folder / "r.csv")["feature"].to_list()
    assert sorted(features) == sorted([*FEATURES, "colour"])
    call(
        *("select", folder / "table.csv", "--label", "label", "--id", "id", "--top", 9),
        *("--categorical", "onehot", "--out", folder / "all.csv"),
    )
    assert pl.read_csv(folder / "all.csv")["colour"].to_list() == colours


def test_a_trial_tells_how_many_hidden_labels_were_found(folder):
    frame = pl.read_csv(folder / "table.csv")
    truth = ["AB"[code] for code in make_data().y_true]
    frame.with_columns(pl.Series("label", truth)).write_csv(folder / "table.csv")
    result = rank(folder, "--labels-per-class", 6)
    assert "12 labels were kept" in result.stdout
    assert "Of the 48 hidden labels the method found" in result.stdout


def test_quiet_prints_nothing(folder):
    assert rank(folder, "--quiet", "--out", folder / "r.csv").output == ""


def test_names_from_the_data_are_not_markup(folder):
    text = (folder / "table.csv").read_text().replace("x0", "[bold]x0[/bold]", 1)
    (folder / "table.csv").write_text(text)
    assert "[bold]x0[/bold]" in rank(folder).stdout


# --- what is refused, before any work -------------------------------------------------------------


REFUSED = [
    (["--method", "nonsense"], 2, ["no method 'nonsense'", "ssfi"]),
    (["--param", "n_members"], 2, ["NAME=VALUE"]),
    (["--method", "ssfi", "--param", "depth=3"], 2, ["no parameter 'depth'", "max_depth"]),
    (["--param", "random_state=3"], 2, ["--seed"]),
    (["--method", "ssfi", "--param", "growth=-1"], 1, ["'growth'", "Got -1"]),
    (["--method", "ssfi", "--param", "growth={[]:1}"], 1, ["'growth'", "Got '{[]:1}'"]),
    (["--method", "ssfi", "--param", "growth={{}}"], 1, ["'growth'", "Got '{{}}'"]),
    (["--top", "9"], 1, ["--top 9", "8 features"]),
    (["--top", "0"], 2, ["'--top'", "at least 1", "shadow, stability, knockoff", "got '0'"]),
    (["--top", "boruta"], 2, ["'--top'", "shadow, stability, knockoff", "got 'boruta'"]),
    (["--redundancy", "1.5"], 2, ["'--redundancy'", "between 0 and 1, or off", "got '1.5'"]),
    (["--redundancy", "auto"], 2, ["'--redundancy'", "between 0 and 1, or off", "got 'auto'"]),
    (["--assess", "full", "--no-assess"], 2, ["--assess", "full", "--no-assess"]),
    (["--out", "r.txt"], 2, ["for --out / --ranking:", ".csv or .tsv or .parquet or .json"]),
    (["--out", f"{'r' * 300}.csv"], 2, ["cannot be written to: File name too long."]),
    (["--out", "none/r.csv"], 2, ["does not exist"]),
    (["--report", "page.pdf"], 2, [".html"]),
    (["--out", "r.csv", "--predictions", "r.csv"], 2, ["also given for"]),
    (["--method", "forest", "--predictions", "l.csv"], 2, ["gives no labels", "ssfi"]),
    (["--separator", ",,"], 2, ["single character"]),
    (["--format", "docx"], 2, ["'csv', 'tsv'"]),
    (["--label", "x0"], 1, ["measurement"]),
    (["--unlabelled", "A", "--unlabelled", "B"], 1, ["at least two classes", "no row is"]),
]


def test_refused(folder, monkeypatch):
    for arguments, code, words in REFUSED:
        monkeypatch.chdir(folder)
        result = rank(folder, *arguments, code=code)
        for word in words:
            assert word in " ".join(result.stderr.split())
        assert [path.name for path in folder.iterdir()] == ["table.csv"]


def test_the_input_is_never_overwritten(folder):
    before = (folder / "table.csv").read_bytes()
    rank(folder, "--out", folder / "." / "table.csv", code=2)
    call("select", folder / "table.csv", "--label", "label", "--out", folder / "table.csv", code=2)
    assert (folder / "table.csv").read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_what_is_no_regular_file_is_never_replaced(folder):
    os.mkfifo(folder / "pipe.csv")
    (folder / "link.csv").symlink_to(folder / "pipe.csv")
    for name in ("pipe.csv", "link.csv"):
        refused = rank(folder, "--out", folder / name, code=2)
        assert "no regular file" in " ".join(refused.stderr.split())
    assert (folder / "pipe.csv").is_fifo()
    (folder / "old.csv").write_text("")
    (folder / "other.csv").symlink_to(folder / "old.csv")
    rank(folder, "--method", "fisher", "--out", folder / "other.csv")


@pytest.mark.parametrize(
    "arguments",
    [
        ["rank", "--out", "-"],
        ["select", "--out", "small.csv", "--ranking", "-"],
        ["predict", "--out", "-"],
        ["next", "--out", "-"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_result_is_not_printed_to_nowhere(folder, arguments, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdout", None)
    command, *others = arguments
    with pytest.raises(ClickException, match="the standard output is closed") as caught:
        main([command, "table.csv", "--label", "label", *others], standalone_mode=False)
    assert caught.value.exit_code == 1
    assert [path.name for path in folder.iterdir()] == ["table.csv"]


def test_select_keeps_the_form_of_the_input(folder):
    result = call("select", folder / "table.csv", "--label", "label", "--out", "s.npz", code=2)
    assert "which is csv" in result.stderr


def test_missing_file_and_missing_label(folder):
    assert "no such file" in call("rank", folder / "none.csv", code=1).stderr
    assert "consensus needs labels" in call("rank", folder / "table.csv", code=1).stderr


@pytest.mark.filterwarnings("always::semisift.exceptions.NoUnlabelledDataWarning")
def test_all_labelled_is_told(folder):
    (folder / "full.csv").write_text("x,y,label\n" + "1,2,A\n2,1,B\n3,4,A\n0,5,B\n" * 3)
    result = call("rank", folder / "full.csv", "--label", "label")
    assert result.stderr.count("Warning: every row of") == 1


# --- methods --------------------------------------------------------------------------------------


def test_methods_are_listed_a_line_each_and_told(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = call("methods").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    entries = METHODS | CLASSIFIERS
    assert len(lines) < len(entries) + 25
    for entry in entries.values():
        assert [line.split() for line in lines].count([entry.name, *entry.summary.split()]) == 1
    output = call("methods", "SSFI").stdout
    for word in ("Barkia", "n_members = 'auto'", "the source was followed", "two classes"):
        assert word in output
    assert "co-forest" in call("methods", "Co-Forest").stdout
    assert "no method 'x'" in call("methods", "x", code=2).stderr


# --- long work ------------------------------------------------------------------------------------


def test_progress_is_shown_on_a_terminal_after_a_while(folder, monkeypatch):
    monkeypatch.setattr(_terminal, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    slow = ["--method", "ssfi", "--param", "n_members=9000", "--param", "variant=paper"]
    shown = rank(folder, *slow).stderr
    assert "Ranking 8 features by ssfi" in shown
    assert "% " in shown
    assert " left" in shown
    assert rank(folder, *slow, "--quiet").stderr == ""
    monkeypatch.setattr(_terminal, "PATIENCE", 60.0)
    assert rank(folder).stderr == ""


@pytest.fixture
def big_table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(400, 2_000)), schema=[f"x{j}" for j in range(2_000)])
    label = ["A", "B", None, None] * 100
    frame.insert_column(0, pl.Series("label", label)).write_csv(tmp_path / "big.csv")
    (tmp_path / "out").mkdir()
    return tmp_path / "big.csv"


def start_select(big_table, n_members=100, **environment):
    target = big_table.parent / "out" / "small.csv"
    command = [sys.executable, "-m", "semisift", "select", str(big_table), "--label", "label"]
    command += ["--top", "1900", "--out", str(target), "--method", "ssfi"]
    command += ["--param", f"n_members={n_members}"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    )
    return process, target


@pytest.mark.kill
def test_a_killed_select_leaves_no_output_or_a_whole_one(big_table):
    """The process is killed at different moments after it began to write."""
    process, target = start_select(big_table)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    full = target.read_bytes()
    for delay in (0, 0.002, 0.01, 0.03, 0.1):
        target.unlink(missing_ok=True)
        process, target = start_select(big_table)
        seen = {path.name for path in target.parent.iterdir()}
        while process.poll() is None and {path.name for path in target.parent.iterdir()} == seen:
            time.sleep(0.0005)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert not target.exists() or target.read_bytes() == full


@pytest.mark.kill
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for other processes")
def test_an_interruption_leaves_nothing_and_says_so(big_table):
    process, target = start_select(big_table, 1_000_000, FORCE_COLOR="1")  # the bar tells the step
    output = b""
    while b"Ranking" not in output and (read := process.stderr.read1()):
        output += read
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"Interrupted" in errors
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("safe", [True, False])
def test_formulas_are_made_harmless_on_request(tmp_path, safe):
    names = ["=1+1", "@x", "-y", "+z", "plain"]
    table = tmp_path / "t,=1+1.csv"
    rows = "".join(
        f"{'=r' if i else '-r'}{i},{i % 2},{i},{-i},3,4,{'AB'[i % 2]}\n" for i in range(9)
    )
    table.write_text(f"id,{','.join(names)},label\n{rows}=u,1,1,1,1,1,\n")
    common = ["--label", "label", "--id", "id", *(["--spreadsheet-safe"] if safe else [])]
    ranking, labels, own = (tmp_path / name for name in ("r.csv", "l.tsv", "own.csv"))
    call("rank", table, *common, "--method", "ssfi", "--out", ranking, "--predictions", labels)
    call("predict", table, *common, "--out", own)
    mark = "'" if safe else ""
    found = pl.read_csv(ranking, comment_prefix="#")["feature"].to_list()
    assert sorted(found) == sorted([*(mark + name for name in names[:4]), "plain"])
    assert pl.read_csv(labels, separator="\t")["row"][1] == f"{mark}=r1"
    assert pl.read_csv(own, comment_prefix="#")["row"].to_list()[0] == f"{mark}-r0"
    for file in (ranking, own):
        remarks = [line for line in file.read_text().splitlines() if line.startswith("#")]
        assert any(",=" in line for line in remarks) != safe
        facts = dict(line[2:].split(": ", 1) for line in remarks)
        assert json.loads(facts["input"])["file"] == table.name


def test_logarithms_of_raw_intensities_are_advised_and_taken(tmp_path):
    data = make_data(n_features=12)
    frame = pl.DataFrame(np.exp(data.X), schema=[f"x{j}" for j in range(12)])
    labels = pl.Series("label", [None if code < 0 else "AB"[code] for code in data.y])
    table, ranking = tmp_path / "raw.csv", tmp_path / "ranking.json"
    frame.with_columns(labels).write_csv(table)
    common = [table, "--label", "label"]
    by_fisher = ["rank", *common, "--method", "fisher", "--out", ranking]
    advice = "Consider the logarithm: --log on the command line"
    assert advice in " ".join(call(*by_fisher).output.split())
    assert json.loads(ranking.read_text())["input"]["log"] is False
    output = " ".join(call(*by_fisher, "--log").output.split())
    assert advice not in output
    assert "Note: log(1 + x) was taken of 12 columns." in output
    written = json.loads(ranking.read_text())
    assert written["input"]["log"] is True
    expected = FisherScore().fit(np.log1p(frame.to_numpy()), data.y).scores_
    found = {row["feature"]: row["score"] for row in written["ranking"]}
    assert [found[name] for name in frame.columns] == pytest.approx(expected)

    small, labelled = tmp_path / "small.csv", tmp_path / "labels.json"
    call("select", *common, "--log", "--method", "fisher", "--top", 1, "--out", small)
    (name,) = [name for name in pl.read_csv(small).columns if name != "label"]
    assert pl.read_csv(small)[name].to_list() == frame[name].to_list()
    assert advice in " ".join(call("predict", *common, "--out", labelled).output.split())
    call("predict", *common, "--log", "--out", labelled)
    assert json.loads(labelled.read_text())["input"]["log"] is True
