"""The command line: its start-up, its exit codes and the truth of what the demo prints."""

import errno
import io
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal
from rich.progress import Progress, TextColumn
from rich.table import Table
from rich.text import Text

from semisift.cli import COMMANDS, Terminated, main
from semisift.cli import demo as demo_module
from semisift.cli._terminal import Terminal
from semisift.cli.demo import (
    Accuracy,
    build_data,
    compare_selections,
    count_real,
    evaluate,
    hide_among_copies,
    keep_labels,
    verdict,
)
from tests.commands import call, write_table


@pytest.fixture
def runner():
    return CliRunner()


@pytest.fixture(scope="module")
def data():
    return build_data(labels_per_class=5, seed=0, n_copies=2)


def columns_ranked(is_real, real_first):
    """Rank the columns perfectly, or as badly as can be."""
    order = np.argsort(~is_real if real_first else is_real, kind="stable")
    ranking = np.empty(len(order), dtype=int)
    ranking[order] = np.arange(1, len(order) + 1)
    return ranking


# --- the group -----------------------------------------------------------------------------------


def test_help_lists_every_command_and_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from semisift.cli import main\n"
        "main(['--help'], prog_name='semisift', standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'rich', 'joblib'} & set(sys.modules)\n"
        "sys.exit(f'imported: {sorted(heavy)}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in COMMANDS:
        assert re.search(rf"^\s+{name}\s", done.stdout, re.MULTILINE)


LIGHT = """
import sys
from click.testing import CliRunner
from semisift.cli import main

nothing = "no such file or folder"
for code, words, *arguments in [
    (0, "semi-mim", "methods"),
    (0, "co-forest", "methods", "--learners"),
    (2, "there is no method", "methods", "nope"),
    (1, nothing, "rank", "none.csv", "--method", "ssfi"),
    (1, nothing, "rank", "table.csv", "--labels", "none.csv"),
    (1, nothing, "select", "none.csv", "--out", "small.csv"),
    (1, nothing, "predict", "none.csv", "--out", "labels.csv"),
    (1, nothing, "next", "none.csv"),
    (1, nothing, "explore", "none.csv"),
    (1, nothing, "compare", "none.csv", "--methods", "fisher", "--out", "runs"),
    (1, "It has, for example, 'label'", "rank", "table.csv", "--label", "lable"),
    (1, "--group g: table.csv has no", "predict", "table.csv", "--group", "g", "--out", "l.csv"),
    (2, "does not take missing values", "rank", "table.csv", "--method", "bs", "--missing", "keep"),
]:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code and words in result.output, (arguments, result.output)
    heavy = {"scipy", "sklearn", "polars", "matplotlib", "pandas", "joblib"} & set(sys.modules)
    assert not heavy, (arguments, heavy)
"""


def test_files_and_columns_are_checked_before_anything_heavy_is_imported(tmp_path):
    write_table(tmp_path)
    run = [sys.executable, "-c", LIGHT]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_listed_help_is_the_first_line_of_the_command(runner, name):
    result = runner.invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert COMMANDS[name] in " ".join(result.stdout.split())


def test_version(runner):
    result = runner.invoke(main, ["--version"])
    assert result.exit_code == 0
    assert re.fullmatch(r"semisift \d+\.\d+\S*\n", result.stdout)


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["--nonsense"], ["demo", "--top", "0"], ["demo", "--seed", "x"]]
)
def test_wrong_usage_exits_with_2(runner, arguments):
    assert runner.invoke(main, arguments).exit_code == 2


def test_bad_input_exits_with_1_and_says_why(runner):
    result = runner.invoke(main, ["demo", "--labels-per-class", "400"])
    assert result.exit_code == 1
    assert "400 labels were asked" in result.stderr
    assert "Traceback" not in result.output


def test_interruption_exits_with_130(runner, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "rank_columns", interrupted)
    result = runner.invoke(main, ["demo"])
    assert result.exit_code == 130
    assert result.stderr.endswith("Interrupted.\n")


# --- the functional core of the demo -------------------------------------------------------------


def test_copies_hold_the_values_of_their_column_in_another_order():
    X = np.arange(60.0).reshape(20, 3)
    wide, names, is_real = hide_among_copies(X, ["a", "b", "c"], 4, np.random.default_rng(0))
    assert wide.shape == (20, 15)
    assert len(set(names)) == 15
    assert set(names[is_real]) == {"a", "b", "c"}
    for column, name, real in zip(wide.T, names, is_real, strict=True):
        original = X[:, "abc".index(name[0])]
        assert_array_equal(np.sort(column), original)
        assert np.array_equal(column, original) == real
    assert len({tuple(column) for column in wide.T}) == 15  # no two copies shuffled alike


def test_keep_labels_keeps_as_many_as_asked_and_never_invents_one():
    y = np.array([0] * 7 + [1] * 9 + [2] * 4)
    kept = keep_labels(y, 3, np.random.default_rng(0))
    assert_array_equal(np.unique(kept, return_counts=True), [[-1, 0, 1, 2], [11, 3, 3, 3]])
    assert_array_equal(kept[kept != -1], y[kept != -1])


def test_keep_labels_refuses_more_labels_than_rows():
    with pytest.raises(ValueError, match="class 1 has 2 rows, 3 labels were asked"):
        keep_labels(np.array([0, 0, 0, 1, 1]), 3, np.random.default_rng(0))


def test_data_is_split_hidden_and_repeatable(data):
    assert data.X_train.shape[1] == data.X_test.shape[1] == len(data.names) == 90
    assert data.is_real.sum() == 30
    assert data.labelled.sum() == 10
    assert_array_equal(data.y_train[data.labelled], data.y_train_true[data.labelled])
    again = build_data(labels_per_class=5, seed=0, n_copies=2)
    assert_array_equal(again.X_train, data.X_train)
    assert_array_equal(again.y_train, data.y_train)
    other = build_data(labels_per_class=5, seed=1, n_copies=2)
    assert not np.array_equal(other.X_train, data.X_train)


@pytest.mark.parametrize(("real_first", "found"), [(True, 10), (False, 0)])
def test_count_real(data, real_first, found):
    ranking = columns_ranked(data.is_real, real_first)
    assert count_real(data.is_real, ranking, 10) == (found, pytest.approx(10 * 30 / 90))


def test_real_columns_classify_better_than_copies(data):
    real = evaluate(data, np.flatnonzero(data.is_real), "real")
    copies = evaluate(data, np.flatnonzero(~data.is_real), "copies")
    assert real.test > copies.test
    assert real.unlabelled > copies.unlabelled


def test_comparison_names_its_rows_in_order(data):
    accuracies = compare_selections(data, np.flatnonzero(data.is_real)[:4], seed=0)
    assert [accuracy.features.split(" (")[0] for accuracy in accuracies] == [
        "the 4 selected by SSFI",
        "all 90 columns",
        "4 random columns, mean of 20 choices",
        "the 30 real ones",
    ]
    assert all(0 <= accuracy.test <= 1 for accuracy in accuracies)


def test_verdict_admits_a_loss():
    selected = Accuracy("selected", 0.8, 0.8)
    others = [Accuracy("all", 0.9, 0.9), Accuracy("random", 0.5, 0.5), Accuracy("x", 0.8, 0.8)]
    assert verdict(selected, others) == (
        "On the test rows the selected columns do 10.0 points worse than all; "
        "30.0 points better than random; as well as x."
    )


# --- the demo as a user sees it ------------------------------------------------------------------


def test_demo_prints_a_failure_as_a_failure(runner, monkeypatch):
    """A ranker that puts copies first must be shown to have found nothing."""

    def rank_badly(data, top, seed, n_jobs):
        ranking = columns_ranked(data.is_real, real_first=False)
        ranker = SimpleNamespace(
            ranking_=ranking,
            scores_=1 / ranking,
            transduction_=1 - data.y_train_true,
            get_support=lambda: ranking <= top,
        )
        return ranker, 0.0

    monkeypatch.setattr(demo_module, "rank_columns", rank_badly)
    result = runner.invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    assert "Real among the best 10: 0 (by chance 0.5)" in result.stdout
    assert "Real among the best 20: 0 (by chance 1.0)" in result.stdout
    assert result.stdout.count("shuffled copy") == 10
    assert "unlabelled rows: 0.0% are right" in " ".join(result.stdout.split())


def test_demo_runs_with_the_real_ranker(runner):
    result = runner.invoke(main, ["demo", "--top", "5", "--seed", "1", "--n-jobs", "2"])
    assert result.exit_code == 0, result.output
    assert "The 5 best columns" in result.stdout
    for k in (5, 10, 20):
        assert f"Real among the best {k}: " in result.stdout
    assert "the 5 selected by SSFI" in result.stdout
    assert re.search(r"SSFI ranked 630 columns in \d+\.\d\d s", result.stdout)


STEERING = "\x1b[31m\x9b1m\u202e\u2066\u200f\u2028\x07\r"
CONTROLS = {character for character in STEERING if not character.isprintable()}


def test_nothing_in_a_file_steers_the_terminal(tmp_path):
    name = f"x{STEERING.rstrip(chr(13))}"  # text files end their lines with it
    rows = "".join(f"{i % 2 + 0.1 * (i % 5)},{i % 3},{'AB'[i % 2]}\n" for i in range(12))
    table = tmp_path / f"{name}[red].csv"
    table.write_text(f"{name}[red],b,label\n{rows}1,2,\n3,4,\n", encoding="utf-8")
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(f"a,{name},label\n1,{name},A\n2,2,A\n3,4,B\n", encoding="utf-8")
    missing = tmp_path / f"{name}.csv"
    shown = ""
    for arguments, code in (
        (["rank", table, "--label", "label", "--method", "fisher"], 0),
        (["predict", table, "--label", "label", "--out", tmp_path / f"{name}.json"], 0),
        (["rank", wrong, "--label", "label", "--method", "fisher"], 1),
        (["rank", missing, "--label", "label"], 1),
        (["rank", table, "--label", "label", "--method", name], 2),
    ):
        result = call(*arguments, code=code)
        shown += result.output + result.stderr
    assert not CONTROLS & set(shown)
    assert "[red]" in shown
    assert "(6 A, 6 B)" in shown
    assert "␛[31m" in shown
    assert "\\u202e" in shown


def test_progress_and_cells_do_not_steer_the_terminal():
    text = io.StringIO()
    terminal = Terminal(file=text, width=200)
    with Progress(TextColumn("{task.description}", markup=False), console=terminal) as p:
        p.add_task(f"Reading {STEERING}[red]")
    terminal.print(Text(f"a cell {STEERING}[red]"))
    assert not CONTROLS & set(text.getvalue())
    assert "a cell ␛[31m�1m" in text.getvalue()
    assert "[red]" in text.getvalue()


@pytest.mark.parametrize(
    ("stop", "words", "code"),
    [(KeyboardInterrupt, "Interrupted.", 130), (Terminated, "Terminated.", 143)],
)
def test_a_stop_while_a_library_is_loaded_is_no_missing_library(monkeypatch, stop, words, code):
    def stopped(*args):
        raise ImportError("initialization failed") from stop()

    monkeypatch.setattr("click.Group.invoke", stopped)
    assert call("methods", code=code).stderr == f"{words}\n"


def test_a_lack_of_memory_is_one_sentence(monkeypatch):
    monkeypatch.setattr("click.Group.invoke", lambda *_: np.empty(1 << 55))
    output = call("methods", code=1).stderr
    assert re.fullmatch(
        r"Error: the memory does not suffice \(Unable .*\)\. Rank fewer .*\n", output
    )


def test_work_that_memory_does_not_suffice_for_is_not_begun(tmp_path, monkeypatch):
    write_table(tmp_path)
    monkeypatch.setattr("semisift.utils._memory.available_memory", lambda: 40_000_000)
    given = ("--label", "label", "--id", "id", "--method", "ssfi")
    many = ("--param", "n_members=1000000", "--param", "max_features=8")
    output = call("rank", tmp_path / "table.csv", *given, *many, code=1).stderr
    assert output == (
        "Error: SSFI on 8 features needs 64 MB of memory, and 40 MB are free. Rank fewer features, "
        "or set a smaller n_members.\n"
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_that_cannot_be_printed_is_no_traceback(option):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from semisift.cli import start; start()", option],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "Error: No space left on device.\n"


@pytest.mark.parametrize(("columns", "width"), [("0", 80), ("19", 80), ("20", 20), ("abc", 80)])
def test_a_width_that_nothing_can_be_shown_in_is_none(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    terminal = Terminal(file=io.StringIO())
    assert terminal.width == width


def test_what_the_stream_cannot_encode_is_escaped():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    table = Table("feature")
    table.add_row("größe")
    Terminal(file=stream).print(table)
    assert rb"gr\xf6\xdfe" in stream.buffer.getvalue()


@pytest.mark.parametrize(
    "command",
    [["rank", "t"], ["select", "t", "--out", "s"], ["predict", "t", "--out", "l"], ["next", "t"],
     ["explore", "t"], ["compare", "t", "--out", "c"], ["demo"],
     ["reproduce", "ssfi-table2", "--data", ".", "--out", "r"]],
    ids=lambda command: command[0],
)  # fmt: skip
def test_numbers_of_jobs_have_one_rule(command):
    for jobs in ("0", "two", "99999999999"):
        output = " ".join(call(*command, "--n-jobs", jobs, code=2).stderr.split())
        rule = "must be a whole number other than 0, -1 for all processors"
        assert f"'--n-jobs': {rule}: got '{jobs}'" in output


@pytest.mark.skipif(os.name == "nt", reason="Windows removes no folder that is in use")
def test_a_folder_that_is_gone_is_said_to_be(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    output = call("rank", "t.csv", "--label", "y", code=1).stderr
    assert output == "Error: the folder that this was started in is gone. Go to another one.\n"


def test_errors_of_the_system_name_their_file(monkeypatch):
    def denied(*args):
        raise PermissionError(errno.EACCES, "Permission denied", "t.csv")

    monkeypatch.setattr("click.Group.invoke", denied)
    assert call("methods", code=1).stderr == "Error: t.csv: Permission denied.\n"
