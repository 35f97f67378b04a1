"""Files of pairs and labels, and ``--param``: read, or refused in a sentence that says where."""

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from semisift import read_table
from semisift.cli import main
from semisift.exceptions import TableError
from tests.commands import write_table
from tests.properties.profiles import several

ROWS = ["s0", "s40", "s41", "s59", "1", "41", "60"]
ODD = [
    "",
    " ",
    "0",
    "-1",
    "+-5",
    "--5",
    "+1",
    "1.0",
    "1e1",
    "61",
    "9" * 5000,
    "\u0661",
    "²",
    "s60",
    "S0",
]
ODD += ['"s0', "s0'", "\0", "\ufeff", "💥", "s0;s1", "s0\rs1", "NaN", "id", "#", "=1", "s0\u2028"]
cell = st.one_of(
    st.sampled_from(ROWS), st.sampled_from(ODD), st.text(st.characters(exclude_categories=["Cs"]))
)
line = st.one_of(st.tuples(cell, cell), st.lists(cell, max_size=4))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("beside"))


def text_of(lines, separator):
    return "\n".join(separator.join(each) for each in lines)


def read(folder, **options):
    """Read the table with a file beside it; return the names of files where that is refused."""
    try:
        return read_table(folder / "table.csv", id="id", **options)
    except TableError as error:
        return check_named(str(error))


def check_named(message):
    assert "beside" in message or "table.csv" in message


@several
@given(lines=st.lists(line, max_size=5), separator=st.sampled_from([",", "\t", ";", " "]))
@example(lines=[("9" * 5000, "1")], separator=",")
@example(lines=[("+-5", "1")], separator=",")
@example(lines=[("²", "1")], separator=",")
@example(lines=[("1", "2"), ("--5", "1")], separator="\t")
def test_files_of_pairs(folder, lines, separator):
    (folder / "beside.txt").write_text(text_of(lines, separator), encoding="utf-8", newline="")
    for kind in ("must_link", "cannot_link"):
        data = read(folder, label="label", **{kind: folder / "beside.txt"})
        if data is not None:
            pairs = getattr(data, kind)
            assert pairs.shape[1] == 2
            assert pairs.min() >= 0
            assert pairs.max() < 60


@several
@given(content=st.binary(max_size=60))
def test_pairs_of_bytes(folder, content):
    (folder / "beside.txt").write_bytes(content)
    read(folder, label="label", must_link=folder / "beside.txt")


@several
@given(lines=st.lists(line, max_size=5), separator=st.sampled_from([",", "\t", ";"]))
@example(lines=[("s0", "9" * 5000), ("s1", "1")], separator=",")
def test_files_of_labels(folder, lines, separator):
    head = [("id", "kind"), ("s0", "A"), ("s1", "B")]
    (folder / "beside.csv").write_text(text_of([*head, *lines], separator), encoding="utf-8")
    data = read(folder, labels=folder / "beside.csv")
    assert data is None or len(data.y) == 60


# --- --param --------------------------------------------------------------------------------------

PARAMS = ["n_members=0", "n_members=-1", "n_members=nan", "n_members=1e3", "n_members=2**70"]
PARAMS += ["n_members=" + "9" * 5000, "n_members=" + "[" * 3000, "n_members=()", "n_members=b'1'"]
PARAMS += ["n_members=__import__('os')", "n_members=lambda: 1", "n_members=\u0663x", "n_members"]
PARAMS += ["=3", "", " = ", "__class__=3", "n_members=3=4", "n_members={1: [2]}", "n_members=1j"]
PARAMS += [
    "estimator=os",
    "estimator=3",
    "estimator=[]",
    "feature_weights={'x0': 'a'}",
    "include=[99]",
    "include=x0",
]
PARAMS += [
    "feature_weights={'x0': -1}",
    "feature_weights=[1, 2]",
    "feature_weights={'x0': 1e400}",
    "feature_groups=[[0], 3]",
]
PARAMS += [
    "max_features=nan",
    "class_prior={'A': 2}",
    "class_prior=3",
    "max_iter=1.5",
    "n_jobs=0.5",
]
PARAMS += [
    "class_prior={'A': None}",
    "exclude={}",
    "include=[None]",
    "include=[True]",
    "growth=inf",
]
PARAMS += [
    "random_state=3",
    "random_state=-1",
    "random_state=x",
    "permutation=\0",
    "variant=\ud83d",
]


def refused(folder, *params, method="ssfi"):
    given_ = [word for param in params for word in ("--param", param)]
    arguments = ["rank", folder / "table.csv", "--label", "label", "--id", "id", "--quiet"]
    arguments += ["--method", method]
    result = CliRunner().invoke(main, [str(word) for word in [*arguments, *given_]])
    assert result.exit_code in (0, 1, 2), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


@pytest.mark.parametrize("param", PARAMS)
def test_a_parameter_that_is_none(folder, param):
    result = refused(folder, param)
    assert result.exit_code, result.output
    output = " ".join(result.output.replace("│", " ").split())
    name = param.partition("=")[0].strip()
    assert not name or name in output
