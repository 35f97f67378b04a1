"""What ``semisift rank`` and ``select`` say of how sure they are, and how many features to keep."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_wine

from semisift import FisherScore
from semisift.selection._result import MAX_LISTED
from semisift.selection._summary import format_stability, format_test
from tests.commands import call

UNLABELLED = -1


@pytest.fixture(scope="module")
def wine():
    """Return rows, labels of eight rows a class, and names."""
    data = load_wine()
    few = np.full(len(data.target), UNLABELLED)
    for label in range(3):
        few[np.flatnonzero(data.target == label)[:8]] = label
    return data.data, few, list(data.feature_names)


@pytest.fixture
def folder(tmp_path, wine, monkeypatch):
    """Return the current folder, with wine.csv, few of whose rows are labelled, and noise.csv."""
    monkeypatch.chdir(tmp_path)
    X, y, names = wine
    write(tmp_path / "wine.csv", X, y, names)
    rng = np.random.default_rng(1)
    few = np.where(np.arange(50) < 16, np.arange(50) % 2, UNLABELLED)
    write(tmp_path / "noise.csv", rng.normal(size=(50, 25)), few, [f"x{j}" for j in range(25)])
    return tmp_path


def write(path, X, y, names):
    labels = [None if code == UNLABELLED else f"kind {code}" for code in y]
    pl.DataFrame(X, schema=names).with_columns(pl.Series("kind", labels)).write_csv(path)


def run(command, table, *arguments, code=0):
    """Call a command; return what it printed as one line, and the whole result."""
    result = call(command, f"{table}.csv", "--label", "kind", *arguments, code=code)
    return " ".join(result.stdout.split()), result


def facts_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


# --- by itself ------------------------------------------------------------------------------------


def test_rank_tells_how_sure_it_is(folder):
    shown, result = run("rank", "wine", "--out", "r.json")
    facts = facts_of(folder / "r.json")
    assert facts["method"] == "consensus"
    assert facts["parameters"]["n_features_to_select"] is None
    assert list(facts["parts"]) == ["transductive", "ssfi"]
    assert sum(facts["parts"].values()) == pytest.approx(1)
    sure = facts["assessment"]
    # two permuted features for each of 39 repetitions, and one more
    assert (sure["n_permutations"], sure["n_resamples"], sure["fast"]) == (79, 20, True)
    assert (sure["null"], sure["permuted"]) == ("permuted_features", True)
    assert sure["p_value"] == 0.025
    n_significant = sure["decisions"]["significant"]
    assert n_significant == sure["n_best"] > 0
    assert sum(sure["decisions"].values()) == 13
    first = f"Significant: {n_significant} of 13 features"
    second = (
        "were tried 79 times, and in none of them did one score as high as the best feature (p = "
        "0.025)."
    )
    assert shown.index(first) < shown.index(second)
    assert (
        "What the test with permuted features bounds: the chance to confirm any useless feature is"
        in shown
    )
    assert "shuffled labels" not in shown
    assert f"their stability is {sure['stability']['value']:.2f} (95% interval " in shown
    best = facts["ranking"][0]
    line = next(line for line in result.stdout.splitlines() if f" {best['feature']} " in line)
    for word in ("significant", f"{best['rank_low']}-{best['rank_high']}"):
        assert f" {word} " in line
    assert f"{best['selection_probability']:.0%}" in line
    assert result.stderr == ""


def test_noise_is_called_noise(folder):
    shown, result = run("rank", "noise", "--out", "r.json")
    p_value = facts_of(folder / "r.json")["assessment"]["p_value"]
    assert p_value > 0.05
    assert (
        "Caution. Permuted features (the same columns with their rows permuted) score as high "
        f"as the features themselves (p = {p_value:.2g}): with these labels the table cannot say "
        "which features matter" in shown
    )
    first = (
        "labels none of the 25 features can be significant: the list below is where to look first."
    )
    assert shown.index(first) < shown.index("Caution.")
    assert "The 12 best features by consensus" in result.stdout
    assert "the best 12 features are" in shown
    assert "Significant:" not in result.stdout


def test_eighty_columns_are_enough(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, result = run("rank", "wine")
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    cells = [re.split("[│┃]", line)[2].strip() for line in lines if line.startswith("│")]
    assert "od280/od315_of_diluted_wines" in "".join(cells)


def test_a_number_is_kept_and_decisions_are_shown(folder):
    shown, result = run("rank", "wine", "--top", 3, "--out", "r.json")
    assert "The 3 best features by consensus" in result.stdout
    assert "Significant: " in shown
    facts = facts_of(folder / "r.json")
    assert facts["parameters"]["n_features_to_select"] == 3
    assert facts["assessment"]["n_best"] == 3


# --- asked for, or not ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "is_assessed"),
    [
        ([], True),
        (["--no-assess"], False),
        (["--method", "fisher"], False),
        (["--method", "fisher", "--assess", "fast"], True),
        (["--method", "mrmr", "--assess", "fast", "--top", "2"], True),
        (["--top", "stability", "--param", "n_members=20"], False),
    ],
)
def test_when_rank_assesses(folder, arguments, is_assessed):
    run("rank", "wine", *arguments, "--out", "r.json")
    facts = facts_of(folder / "r.json")
    assert ("assessment" in facts) == is_assessed
    assert ("rank_low" in facts["ranking"][0]) == is_assessed


def test_select_assesses_only_if_asked(folder):
    run("select", "wine", "--out", "small.csv", "--ranking", "r.json")
    assert "assessment" not in facts_of(folder / "r.json")
    assert len(pl.read_csv("small.csv").columns) == 14
    run("select", "wine", "--out", "small.csv", "--ranking", "r.json", "--assess", "fast")
    facts = facts_of(folder / "r.json")
    is_copy = {row["feature"]: row["feature"] != row["representative"] for row in facts["ranking"]}
    significant = {row["feature"] for row in facts["ranking"] if row["decision"] == "significant"}
    selected = set(pl.read_csv("small.csv").columns) - {"kind"}
    assert selected == {feature for feature in significant if not is_copy[feature]}
    assert 0 < len(selected) == facts["assessment"]["decisions"]["significant"] < 13


def test_a_search_is_told_a_number(folder):
    """What a forward search finds depends on how many features it looks for."""
    shown, _ = run("rank", "wine", "--method", "mrmr", "--assess", "fast", "--out", "r.json")
    facts = facts_of(folder / "r.json")
    assert facts["parameters"]["n_features_to_select"] == 13
    assert f"Significant: {facts['assessment']['decisions']['significant']} of 13" in shown


def test_without_a_test_there_is_no_word_of_it(folder):
    """The Laplacian score uses no labels, so that shuffling them says nothing."""
    shown, _ = run("rank", "wine", "--method", "laplacian", "--assess", "fast", "--out", "r.json")
    facts = facts_of(folder / "r.json")
    assert facts["assessment"]["p_value"] is None
    assert "shuffled labels" not in shown
    assert "Significant" not in shown
    assert "their stability is" in shown


# --- rules ----------------------------------------------------------------------------------------


def test_a_rule_decides_as_in_python(folder, wine):
    shown, _ = run("rank", "wine", "--method", "fisher", "--top", "shadow", "--out", "r.json")
    X, y, names = wine
    ranker = FisherScore(n_features_to_select="shadow", random_state=0).fit(X, y)
    facts = facts_of(folder / "r.json")
    found = [row["feature"] for row in facts["ranking"] if row["decision"] == "significant"]
    assert set(found) == set(np.array(names)[ranker.get_support()])
    assert facts["rule"]["name"] == "shadow"
    assert facts["rule"]["repetitions"] == ranker.cutoff_.repetitions
    assert facts["rule"]["decisions"]["significant"] == len(found) > 0
    assert f"Significant: {len(found)} of 13 features" in shown
    assert f"What the shadow rule bounds: {ranker.cutoff_.error}." in shown
    assert "rankings from shuffled labels" not in shown


@pytest.mark.parametrize("rule", ["shadow", "stability", "knockoff"])
def test_a_rule_that_confirms_nothing_says_so_once(folder, rule):
    shown, result = run("rank", "noise", "--method", "fisher", "--top", rule)
    assert "None of the 25 features can be significant: the list below is" in shown
    assert "The 20 best features by fisher" in result.stdout
    assert result.stderr == ""


def test_select_writes_what_a_rule_confirms(folder, wine):
    run("select", "wine", "--method", "fisher", "--top", "SHADOW", "--out", "small.csv")
    X, y, names = wine
    ranker = FisherScore(n_features_to_select="shadow", random_state=0).fit(X, y)
    assert pl.read_csv("small.csv").columns[:-1] == np.array(names)[ranker.get_support()].tolist()


def test_select_writes_no_table_without_features(folder):
    files = ["--out", "small.csv", "--ranking", "r.csv"]
    shown, result = run("select", "noise", "--method", "fisher", "--top", "shadow", *files, code=1)
    assert "small.csv was not written: none of the 25 features is significant" in result.stderr
    assert "Written: r.csv" in shown
    assert "Written: small.csv" not in shown
    assert (folder / "r.csv").exists()
    assert not (folder / "small.csv").exists()


def test_thorough_takes_the_shadow_rule_and_a_full_assessment(folder):
    fast = ["--method", "fisher", "--assess", "full", "--out", "r.json"]
    run("rank", "wine", *fast)
    facts = facts_of(folder / "r.json")
    assert facts["rule"]["name"] == "shadow"
    sure = facts["assessment"]
    assert (sure["n_permutations"], sure["n_resamples"], sure["fast"]) == (99, 50, False)
    assert sure["n_best"] == facts["rule"]["decisions"]["significant"]
    run("rank", "wine", *fast, "--top", 4)
    facts = facts_of(folder / "r.json")
    assert "rule" not in facts
    assert facts["assessment"]["n_best"] == 4


def test_confirmed_variables_are_counted_not_their_columns(folder):
    frame = pl.read_csv("wine.csv")
    sweet = [f"{'low' if x < 700 else 'high' if x > 900 else 'middle'}" for x in frame["proline"]]
    frame.with_columns(pl.Series("proline", sweet)).write_csv("wine.csv")
    arguments = [
        "--categorical",
        "onehot",
        "--method",
        "fisher",
        "--assess",
        "fast",
        "--out",
        "r.json",
    ]
    shown, _ = run("rank", "wine", *arguments, "--out", "r.json")
    ranking = facts_of(folder / "r.json")["ranking"]
    assert len(ranking) == 13
    decisions = {row["feature"]: row["decision"] for row in ranking}
    assert decisions["proline"] == "significant"
    n_significant = list(decisions.values()).count("significant")
    assert f"Significant: {n_significant} of 13 features" in shown


def test_of_many_confirmed_features_some_are_printed(folder):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, MAX_LISTED + 7)) + 5 * y[:, None]
    few = np.where(np.arange(60) < 40, y, UNLABELLED)
    write(folder / "many.csv", X, few, [f"x{j}" for j in range(MAX_LISTED + 7)])
    shown, result = run("rank", "many", "--method", "fisher", "--assess", "fast")
    n_lines = len(re.findall(r"^│ +\d+ ", result.stdout, re.MULTILINE))
    assert n_lines == MAX_LISTED
    assert "7 more significant features are not shown" in shown


# --- correlated features --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "threshold", "is_used"),
    [
        ([], "auto", True),
        (["--redundancy", "off"], None, False),
        (["--redundancy", "None"], None, False),
        (["--redundancy", "0.9"], 0.9, True),
        (["--method", "fisher"], None, False),
    ],
)
def test_the_rule_for_near_copies(folder, arguments, threshold, is_used):
    run("rank", "wine", "--no-assess", *arguments, "--out", "r.json")
    facts = facts_of(folder / "r.json")
    assert facts["parameters"]["redundancy_threshold"] == threshold
    assert ("representative" in facts["ranking"][0]) == is_used


# --- the sentences --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def assess(wine):
    """Return a function that assesses the Fisher score, from all labels or from very few."""
    X, y, _ = wine

    def assess(y=y, **options):
        ranker = FisherScore(n_features_to_select=1).fit(X, y)
        return ranker.assess(X, y, **options)

    return assess


def test_the_sentence_on_labels_counts_the_rankings(assess):
    assert format_test(assess(n_resamples=0, n_permutations=19)) == (
        "The labels tell something: of 19 rankings from shuffled labels none had best features "
        "scoring as high as these (p = 0.05)."
    )
    assert format_test(assess(n_resamples=0, n_permutations=0)) == ""


@pytest.mark.filterwarnings("ignore::semisift.exceptions.NovelClassWarning")
def test_labels_that_are_too_few_to_permute_are_said(folder, wine):
    X, y, names = wine
    very_few = np.full(len(y), UNLABELLED)
    for label in (0, 1):
        very_few[np.flatnonzero(y == label)[:2]] = label
    write(folder / "few.csv", X, very_few, names)
    shown, _ = run("rank", "few", "--method", "fisher", "--assess", "fast")
    assert "so the shuffled labels went to rows drawn from all rows. This assumes that the" in shown
    assert "This assumes that the labelled rows are a random sample of all rows." in shown
    assert "committees" not in shown  # the Fisher score has none
    shown, _ = run("rank", "few")
    assert (
        "so the rows of the permuted features were exchanged among all rows. This assumes that the"
        in shown
    )
    assert "shuffled labels" not in shown


def test_the_sentence_on_stability_is_left_out_where_nothing_is_known(assess):
    assert "the best feature is" in format_stability(assess(n_resamples=5, n_permutations=0))
    assert format_stability(assess(n_resamples=5, n_permutations=0, n_best=13)) == ""
    assert format_stability(assess(n_resamples=0, n_permutations=0)) == ""


# --- interrupted ----------------------------------------------------------------------------------


@pytest.mark.kill
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for other processes")
def test_an_interrupted_assessment_does_not_lose_the_ranking(folder):
    command = [sys.executable, "-m", "semisift", "rank", str(folder / "wine.csv")]
    command += ["--label", "kind", "--out", str(folder / "r.json")]
    command += ["--assess", "full", "--top", "4", "--param", "n_members=2000"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": "120"},  # the bar tells the step
        cwd=Path(__file__).parents[2],
    )
    output = b""
    while b"Checking" not in output and (more := process.stderr.read1()):
        output += more
    process.send_signal(signal.SIGINT)
    shown, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"The assessment was interrupted and is left out" in errors
    assert b"Interrupted." in errors
    assert "4 best features" in shown.decode()
    facts = facts_of(folder / "r.json")
    assert len(facts["ranking"]) == 13
    assert "assessment" not in facts
    assert "assessment was interrupted" in facts["notes"][-1]
