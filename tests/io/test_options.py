"""One door: options that are spelled once, messages in the words of the user, features in rows."""

import inspect
from dataclasses import fields

import numpy as np
import pytest
from click.testing import CliRunner

from semisift import TableError, read_table
from semisift.cli import main
from semisift.cli.compare import compare
from semisift.cli.predict import predict
from semisift.cli.rank import rank
from semisift.cli.select import select
from semisift.io._options import Reading

GENES = """gene,s1,s2,s3,s4,s5,s6
BRCA1,1,9,2,8,1,9
TP53,3,4,5,3,4,5
MYC,7,1,6,2,8,1
EGFR,1,2,1,2,1,3
"""
LABELS = "sample,outcome\ns1,good\ns2,bad\ns3,good\ns4,bad\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "genes.csv").write_text(GENES)
    (tmp_path / "labels.csv").write_text(LABELS)

    def call(*arguments, code=0):
        result = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
        assert result.exit_code == code, result.output
        return result

    return call


def refused(message, *arguments, **options):
    with pytest.raises(TableError, match=message) as error:
        read_table(*arguments, **options)
    assert "--" not in str(error.value)


# --- options --------------------------------------------------------------------------------------


def test_both_surfaces_have_every_option():
    names = {each.name for each in fields(Reading)}
    assert set(inspect.signature(read_table).parameters) == {"path", *names}
    of_command = {
        command.name: {option.name for option in command.params}
        for command in (rank, select, predict, compare)
    }
    assert of_command["rank"] >= names
    assert of_command["select"] >= names
    held_in_memory = {"max_memory", "cache_dir"}
    assert of_command["predict"] >= names - {"batch", "must_link", "cannot_link"} - held_in_memory
    assert of_command["compare"] >= {"group", "duplicates", "missing", "transpose"}
    for name in names:
        assert f"\n{name} : " in inspect.getdoc(read_table)


def test_help_and_documentation_are_the_same_words():
    for each in fields(Reading):
        about = each.metadata["about"]
        assert about in " ".join(read_table.__doc__.split())
        option = next((option for option in rank.params if option.name == each.name), None)
        assert each.name in ("group", "seed") or option.help.startswith(about)


def test_python_takes_numbers_paths_and_single_values(run, tmp_path):
    data = read_table(
        tmp_path / "genes.csv", transpose=True, labels=tmp_path / "labels.csv", unlabelled="bad"
    )
    assert data.y.tolist() == ["good", None, "good", None, None, None]
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,x\n3,4,y\n")
    assert read_table("t.csv", label=-1, drop=1).feature_names == ["b"]
    assert read_table("t.csv", label="c", group="a").groups.tolist() == ["1", "3"]
    with pytest.raises(TypeError, match=r"read_table has no parameter 'lable'\. It has label,"):
        read_table("t.csv", lable="c")


@pytest.mark.parametrize(
    ("options", "flags", "python", "command"),
    [
        ({"unlabelled": "u"}, ["--unlabelled", "u"], "unlabelled='u':", "--unlabelled u:"),
        ({"label": "d"}, ["--label", "d"], "label='d':", "--label d:"),
        (
            {"separator": ";;"},
            ["--separator", ";;"],
            "separator must be a",
            "--separator must be a",
        ),
        ({"matrix": "X"}, ["--matrix", "X"], "matrix=... is for npz", "--matrix is for npz"),
        ({}, [], "na='<3', pass category='b'", "--na '<3', pass --category b"),
    ],
)
def test_each_surface_names_its_own_options(run, tmp_path, options, flags, python, command):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,x\n3,<3,y\n4,5,\n")
    refused(python.replace(".", r"\."), "t.csv", **{"label": "c", **options})
    if "--label" not in flags:
        flags = [*flags, "--label", "c"]
    code = 2 if "--separator" in flags else 1
    shown = " ".join(run("rank", "t.csv", *flags, code=code).stderr.split())
    assert command in shown
    assert python not in shown.replace(command, "")


def test_the_words_of_the_command_line_end_with_it(run):
    run("rank", "genes.csv", "--label", "none", code=1)
    refused("label='none'", "genes.csv", label="none")


def test_the_separator_of_quoted_cells_is_named(tmp_path):
    (tmp_path / "t.csv").write_text('a;"b"\n1;2\n3;4;5\n')
    refused(r"extra separator \(semicolon\)", tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text('a~"b"\n1~2\n3~4~5\n')
    refused(r"extra separator \('~'\)", tmp_path / "t.csv", separator="~")


# --- features in rows -----------------------------------------------------------------------------


@pytest.mark.parametrize("id_", [None, "gene"])
def test_labels_that_go_by_columns_tell_that_features_are_in_rows(run, id_):
    message = r"columns of genes.csv, not rows: 's1', 's2'.*pass transpose=True"
    refused(message, "genes.csv", labels="labels.csv", id=id_)
    names = ["--id", id_] if id_ else []
    shown = run("rank", "genes.csv", "--labels", "labels.csv", *names, code=1).stderr
    assert "pass --transpose" in shown
    assert "--id" not in shown


def test_as_many_labels_as_columns_tell_it_too(run, tmp_path):
    (tmp_path / "column.csv").write_text("outcome\ngood\nbad\ngood\nbad\ngood\nbad\n")
    refused("6 labels for the 4 rows.*as many columns.*transpose", "genes.csv", labels="column.csv")
    np.savez(tmp_path / "t.npz", X=np.ones((4, 6)))
    refused("6 labels for the 4 rows.*as many columns.*transpose", "t.npz", labels="column.csv")
    assert len(read_table("t.npz", labels="column.csv", transpose=True).y) == 6


def test_a_label_that_is_a_row_tells_it_too(run, tmp_path):
    (tmp_path / "genes.csv").write_text(GENES + "outcome,good,bad,good,bad,,\n")
    refused("label='outcome'.*A row is called so.*transpose=True", "genes.csv", label="outcome")
    (tmp_path / "genes.csv").write_text(GENES.removeprefix("gene") + "outcome,good,bad,,,,\n")
    refused("label='outcome'.*A row is called so.*transpose=True", "genes.csv", label="outcome")
    data = read_table("genes.csv", label="outcome", transpose=True)
    assert data.feature_names == ["BRCA1", "TP53", "MYC", "EGFR"]


def test_a_first_column_of_names_may_be_features(run):
    refused("looks like an identifier.*id='gene'; if it names features.*transpose", "genes.csv")


# --- what was read is told before the work --------------------------------------------------------


def test_what_was_read_is_said_first(run):
    arguments = ["rank", "genes.csv", "--transpose", "--labels", "labels.csv", "--method", "fisher"]
    line = "genes.csv: 6 rows, of which 4 carry a label (2 bad, 2 good); 4 features."
    assert run(*arguments).stdout.startswith(line)
    assert line in run(*arguments, "--top", "99", code=1).stdout  # the work never began
    assert line not in run(*arguments, "--quiet").output
    assert line not in run(*arguments, "--out", "-").output
    arguments = ["predict", "genes.csv", "--transpose", "--labels", "labels.csv", "--out", "l.csv"]
    assert run(*arguments).stdout.startswith(line)


# --- names that stand twice -----------------------------------------------------------------------


def test_names_that_stand_twice_can_be_numbered(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a,a (2),a,outcome\n1,2,3,4,5,x\n5,1,2,3,4,y\n")
    refused("'a' stands twice.*or pass duplicates='number'", "t.csv", label="outcome")
    data = read_table("t.csv", label="outcome", duplicates="number")
    assert data.feature_names == ["a", "b", "a (3)", "a (2)", "a (4)"]
    assert data.X[0].tolist() == [1, 2, 3, 4, 5]
    assert any("2 columns with the name of another" in note for note in data.notes)
    shown = run("rank", "t.csv", "--label", "outcome", code=1).stderr
    assert "or pass --duplicates number" in shown


def test_features_in_rows_can_be_numbered_and_written(run, tmp_path):
    (tmp_path / "genes.csv").write_text(GENES.replace("MYC", "TP53"))
    refused("'TP53' stands twice.*duplicates='number'", "genes.csv", transpose=True)
    arguments = ["genes.csv", "--transpose", "--labels", "labels.csv", "--duplicates", "number"]
    run("select", *arguments, "--method", "fisher", "--top", "4", "--out", "small.csv")
    written = (tmp_path / "small.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in written] == ["gene", "BRCA1", "TP53", "TP53 (2)", "EGFR"]


def test_names_of_a_matrix_can_be_numbered(run, tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    np.savez(tmp_path / "t.npz", X=X, feature_names=["a", "b", "a"], y=["x", "y", "x", ""])
    refused("'a' stands twice.*duplicates='number'", "t.npz")
    arguments = ["--duplicates", "number", "--method", "fisher", "--top", "2", "--out", "small.npz"]
    run("select", "t.npz", *arguments)
    assert len(np.load(tmp_path / "small.npz")["feature_names"]) == 2
