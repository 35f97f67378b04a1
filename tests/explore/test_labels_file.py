"""The file of labels: whole or not there, one writer at a time, and read by the other commands."""

import csv
import os
import subprocess
import sys

import numpy as np
import pytest

from semisift.exceptions import TableError
from semisift.explore._label_store import (
    Answer,
    Answers,
    InvalidAnswerError,
    LabelsChangedError,
    LabelsFile,
    replay,
)
from semisift.io import load
from semisift.io._options import Reading
from tests.explore.sessions import make_file, read_cells, write_cells

HOLD = """
import sys, pathlib
from semisift.utils._files import FileLock
path = pathlib.Path(sys.argv[1])
FileLock(path.with_name(f".{path.name}.lock")).acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cells.csv.labels.csv"


@pytest.fixture
def dataset(tmp_path):
    return read_cells(write_cells(tmp_path))


def unnamed(path, n_rows=3):
    return LabelsFile(path, "kind", None, n_rows)


def read(file):
    with file.reading() as found:
        return found


def answers_of(dataset, path):
    return Answers(dataset.y, dataset.rows, make_file(dataset, path))


def test_labels_are_found_again_with_their_order(path):
    file = LabelsFile(path, "kind", ["a", "b", "c"], 3)
    assert read(file) is None
    answers = [Answer(2, 'say "x", y'), Answer(0, "# no remark"), Answer(2, None), Answer(2, "ü")]
    file.write({0: "# no remark", 2: "ü"}, answers)
    assert read(LabelsFile(path, "kind", ["a", "b", "c"], 3)) == (
        {0: "# no remark", 2: "ü"},
        answers,
    )
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_rows_without_names_are_kept_in_their_order(path):
    unnamed(path).write({1: "b"}, [Answer(1, "b")])
    assert path.read_text().splitlines()[1:] == ['"kind"', '"NA"', '"b"', '"NA"']
    assert read(unnamed(path)) == ({1: "b"}, [Answer(1, "b")])


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("label", ["B", "new", "7"])
def test_rank_reads_the_file(tmp_path, path, names, label):
    table = write_cells(tmp_path, names=names)
    options = {"label": "kind", "id": "id" if names else None}
    dataset = read_cells(table, **options)
    known = answers_of(dataset, path).give(40, label)
    again = load(table, Reading(**options, labels=str(path)))
    assert again.y.tolist() == known.y.tolist()
    assert again.y[40] == label


def test_whole_numbers_stay_numbers_until_a_word_comes(tmp_path, path):
    labels = [str(i % 2) if i < 6 else None for i in range(60)]
    table = write_cells(tmp_path, labels=labels)
    dataset = read_cells(table)
    answers = answers_of(dataset, path)
    known = answers.give(10, "2")
    assert known.y[[0, 1, 10]].tolist() == [0, 1, 2]
    assert (
        load(table, Reading(label="kind", id="id", labels=str(path))).y.tolist() == known.y.tolist()
    )
    known = answers.give(11, "odd")
    assert known.y[[0, 1, 10, 11]].tolist() == ["0", "1", "2", "odd"]
    assert known.classes == ["0", "1", "2", "odd"]
    assert (
        load(table, Reading(label="kind", id="id", labels=str(path))).y.tolist() == known.y.tolist()
    )


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("", "without a label"),
        (" NA ", "without a label"),
        ("-1", "without a label"),
        ("None", "without a label"),
        ("x" * 1001, "at most 1,000"),
        ("two\nlines", "cannot be seen"),
        ("\ud800", "cannot be seen"),
        ("\u202eevil", "cannot be seen"),
    ],
)
def test_what_is_no_name_of_a_class_is_refused(dataset, path, label, words):
    answers = answers_of(dataset, path)
    with pytest.raises(InvalidAnswerError, match=words):
        answers.give(40, label)
    assert not path.exists()
    assert answers.known.version == 0


def test_minus_one_is_a_class_where_the_table_was_read_so(tmp_path, path):
    labels = ["-1" if i % 2 else "1" for i in range(8)]
    table = write_cells(tmp_path, labels=labels + [None] * 52)
    dataset = read_cells(table, unlabelled="NA")
    answers = Answers(dataset.y, dataset.rows, make_file(dataset, path), ["NA"])
    known = answers.give(40, "-1")
    assert known.labels_of(np.arange(60))[0].counts.tolist() == [5, 4]
    reading = Reading(label="kind", id="id", labels=str(path), unlabelled=("NA",))
    assert load(table, reading).y.tolist() == known.y.tolist()


def test_numbers_that_are_not_whole_are_refused(tmp_path, path):
    dataset = read_cells(write_cells(tmp_path, labels=[None] * 60))
    with pytest.raises(InvalidAnswerError, match="whole numbers"):
        answers_of(dataset, path).give(0, "1.5")


def test_labels_of_the_table_stay(dataset, path):
    answers = answers_of(dataset, path)
    with pytest.raises(InvalidAnswerError, match="'A' in the table"):
        answers.give(0, "B")
    with pytest.raises(InvalidAnswerError, match="taken back"):
        answers.give(40, None)
    with pytest.raises(InvalidAnswerError, match="no answer"):
        answers.undo()


def test_undo_goes_back_over_a_restart(dataset, path):
    answers = answers_of(dataset, path)
    for row, label in [(40, "A"), (41, "new"), (40, "B"), (41, None)]:
        answers.give(row, label)
    answers = answers_of(dataset, path)
    assert answers.known.given == {40}
    found = []
    while answers.can_undo:
        known, row = answers.undo()
        found.append((row, known.y[[40, 41]].tolist()))
    assert found == [
        (41, ["B", "new"]),
        (40, ["A", "new"]),
        (41, ["A", None]),
        (40, [None, None]),
    ]
    assert known.classes == ["A", "B"]


def test_what_another_program_wrote_is_not_overwritten(dataset, path):
    answers = answers_of(dataset, path)
    answers.give(40, "A")
    mine, text = path.read_text(), path.read_text().replace('"s40","A"', '"s41","B"')
    assert text != mine
    path.write_text(text)
    with pytest.raises(LabelsChangedError, match="another program"):
        answers.give(42, "A")
    assert path.read_text() == text
    known = answers.read_again()
    assert known.given == {41}
    assert known.version == 2
    answers.give(42, "A")
    assert answers.known.given == {41, 42}


def test_what_another_program_took_out_can_be_taken_back(dataset, path):
    answers = answers_of(dataset, path)
    answers.give(40, "A")
    answers.give(41, "B")
    path.write_text("# mine: kept\nid,kind\ns42,A\ns41,A\n")
    with pytest.raises(LabelsChangedError):
        answers.undo()
    assert answers.read_again().given == {41, 42}
    assert [answers.undo()[1] for _ in range(3)] == [41, 42, 40]
    assert answers.known.given == {40, 41}
    assert answers.known.y[41] == "B"
    text = path.read_text()
    assert text.startswith("# mine: kept\n# answers: [")
    again = answers_of(dataset, path)
    assert again.known.given == {40, 41}
    again.undo()
    assert path.read_text().startswith("# mine: kept\n# answers: [")


def test_labels_of_rows_that_are_left_out_stay_in_the_file(dataset, path):
    path.write_text("id,kind\ns40,A\ns41,B\n")
    some = [row for row in range(60) if row != 41]
    answers = Answers(dataset.y[some], dataset.rows[some], make_file(dataset, path))
    answers.give(41, "A")  # s42
    assert answers_of(dataset, path).known.given == {40, 41, 42}


def test_a_heading_that_is_called_as_a_row_is_a_heading(path):
    names = ["id", "b", "c"]
    LabelsFile(path, "kind", names, 3, "id").write({1: "B"}, [])
    assert read(LabelsFile(path, "kind", names, 3, "id")) == ({1: "B"}, [])


def test_the_mark_of_editors_at_the_start_of_a_file_is_no_part_of_it(dataset, path):
    answers_of(dataset, path).give(40, "A")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    answers = answers_of(dataset, path)
    assert answers.known.given == {40}
    answers.give(41, "A")
    assert answers_of(dataset, path).undo()[1] == 41


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,kind\nnobody,A\n", "line 2: the table has no row 'nobody'"),
        ("id,kind\ns40\n", "line 2: there should be 2 cells, not 1. Mend the line"),
        ("id,kind\ns40,A\n\n", "line 3: there should be 2 cells, not 0. Mend the line"),
        ("id,kind\ns0,B\n", "line 2: the label of row 1 is 'B', and 'A' in the table. Change"),
        ("# of: me\nid,kind\ns40,A\ns40,B\n", "line 4: row 's40' is 'B', and 'A' in line 3. Take"),
        ('id,kind\n"s40\n,A\n', "line 3: there should be 2 cells, not 1. Mend"),
        ("s40,A\ns41,A\n", "line 1: there should be a heading, not the row 's40'. Put one"),
        ("id,kind\ns40,A\ns41,-1\n", "line 3: '-1' means a row without a label"),
        ("id,kind\ns40," + "x" * 200_000, "line 2: The name of a class has at most 1,000"),
        ('# answers: [[41, "A"]]\n', "there is no heading. Put one in"),
        (b"\xff\xfe", "line 1: is not UTF-8. Save"),
        (b"id,kind\ns40,A\ns41,\xfc\n", "line 3: is not UTF-8. Save"),
    ],
)
def test_files_that_are_of_something_else_are_refused(dataset, path, text, words):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TableError, match=words):
        answers_of(dataset, path)


def test_a_cell_too_large_to_be_read_is_refused(dataset, path):
    before = csv.field_size_limit(1_000)  # as it is before a table is read as text
    try:
        path.write_text(f"id,kind\ns40,{'x' * 2_000}\n")
        with pytest.raises(TableError, match=r"line 2: field larger .* Mend the line"):
            answers_of(dataset, path)
    finally:
        csv.field_size_limit(before)


def test_a_file_of_another_length_is_refused(path):
    path.write_text("kind\nA\n")
    with pytest.raises(TableError, match="1 label for 3 rows"):
        read(unnamed(path))


@pytest.mark.parametrize("remark", ["# answers: [[1]]", "# answers: {", "# answers: [[999, 1]]"])
def test_a_remark_that_makes_no_sense_costs_the_order_only(dataset, path, remark):
    path.write_text(f"{remark}\nid,kind\ns40,A\n")
    answers = answers_of(dataset, path)
    assert answers.known.given == {40}
    assert answers.undo()[1] == 40


def test_replay():
    assert replay([Answer(1, "a"), Answer(1, "b"), Answer(2, "c"), Answer(2, None)]) == {1: "b"}


def test_a_second_process_is_refused_and_told_of_the_first(path):
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(TableError, match=f"by process {holder.pid}"), unnamed(path).locked():
            pass
        holder.kill()
        holder.wait()
    with unnamed(path).locked():  # a dead process holds nothing
        assert str(os.getpid()) in path.with_name(f".{path.name}.lock").read_text()
    assert not list(path.parent.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_and_its_target_are_one_file(tmp_path, dataset, is_there):
    (tmp_path / "far").mkdir()
    real, link = tmp_path / "far" / "real.csv", tmp_path / "link.csv"
    link.symlink_to(real)
    if is_there:
        answers_of(dataset, real).give(40, "A")
    with make_file(dataset, link).locked() as file:
        with pytest.raises(TableError, match=f"real.csv is being written by process {os.getpid()}"):
            make_file(dataset, real).locked().__enter__()
        Answers(dataset.y, dataset.rows, file).give(41, "A")
    assert link.is_symlink()
    assert not real.is_symlink()
    assert answers_of(dataset, real).known.given == {40, 41} - set([] if is_there else [40])


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    with (
        pytest.raises(TableError, match="--answers"),
        unnamed(tmp_path / "nowhere" / "labels.csv").locked(),
    ):
        pass


def test_nothing_is_lost_where_writing_fails(dataset, path, monkeypatch):
    answers = answers_of(dataset, path)
    answers.give(40, "A")
    text = path.read_text()

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        answers.give(41, "A")
    monkeypatch.undo()
    assert path.read_text() == text
    assert answers.known.given == {40}
    assert [each.name for each in path.parent.iterdir() if each.suffix == ".draft"] == []
