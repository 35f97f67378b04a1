"""The session: what follows from labels, with few of them, none, new classes and odd tables."""

import threading

import numpy as np
import polars as pl
import pytest

from semisift import read_table
from semisift.explore import _session as session_module
from semisift.explore import _subsample as drawn_module
from semisift.explore._label_store import InvalidAnswerError
from semisift.explore._rankings import BY_CONSENSUS, BY_SOFT_LABELS, BY_VARIANCE
from semisift.explore._session import OutOfDateError
from tests.explore.sessions import (
    image_table,
    read_cells,
    session_of,
    wait_until_idle,
    write_cells,
)
from tests.stored_files import LITTLE, reading, write


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cells.csv.labels.csv"


def best(state, n=2):
    return {feature["name"] for feature in state["ranking"]["features"][:n]}


def test_a_label_leads_to_a_ranking_by_soft_labels_and_then_the_consensus(tmp_path, path):
    with session_of(read_cells(write_cells(tmp_path)), path) as (session, page):
        state = wait_until_idle(page, BY_CONSENSUS)
        assert best(state) == {"x0", "x1"}
        assert state["stability"] > 0.5
        assert [each["name"] for each in state["classes"]] == ["A", "B"]
        assert sum(each["guessed"] for each in state["classes"]) == 56
        first = state["queue"]["rows"][0]
        known = session.label(first["row"], "A", state["labels_version"])
        assert known.version == 1
        state = wait_until_idle(page, BY_CONSENSUS)
        assert state["classes"][0] == {"name": "A", "given": 1, "in_table": 2, "guessed": 28} | {
            "guessed": state["classes"][0]["guessed"]
        }
        assert {feature["was"] for feature in state["ranking"]["features"]} == set(range(1, 9))
        assert first["row"] not in [each["row"] for each in state["queue"]["rows"]]
        assert state["can_undo"]


def test_without_labels_there_is_a_ranking_a_queue_and_a_map(tmp_path, path):
    dataset = read_cells(write_cells(tmp_path, labels=[None] * 60))
    with session_of(dataset, path) as (session, page):
        state = wait_until_idle(page)
        assert state["ranking"]["by"] == BY_VARIANCE
        assert state["classes"] == []
        assert state["stability"] is None
        assert len(state["queue"]["rows"]) > 3
        assert all(each["guess"] == -1 for each in state["queue"]["rows"])
        found = page.map()
        assert found["rows"] == list(range(60))
        assert set(found["label"]) == set(found["guess"]) == {-1}
        assert page.row(0)["shares"] == []
        # one class: the others are sought among the unlabelled rows
        session.label(0, "A", 0)
        state = wait_until_idle(page)
        assert state["ranking"]["by"] in (BY_SOFT_LABELS, BY_CONSENSUS)
        assert [each["name"] for each in state["classes"]] == ["A"]
        assert -1 in page.map()["guess"]
        assert len(page.row(5)["shares"]) == 1
        session.label(1, "B", 1)
        for row in range(2, 12):
            session.label(row, "AB"[row % 2], row)
        assert best(wait_until_idle(page)) == {"x0", "x1"}


def test_a_new_class_takes_the_last_place_and_goes_with_its_last_label(tmp_path, path):
    with session_of(read_cells(write_cells(tmp_path)), path) as (session, page):
        session.label(40, "0 first by name", 0)
        state = wait_until_idle(page)
        assert [each["name"] for each in state["classes"]] == ["A", "B", "0 first by name"]
        assert page.row(40)["label"] == 2
        assert page.row(40)["guess"] == 2
        assert len(page.row(41)["shares"]) == 3
        assert session.undo(1)[1] == 40
        # the guess may still be of three classes
        assert len(page.row(41)["shares"]) == 2
        state = wait_until_idle(page)
        assert [each["name"] for each in state["classes"]] == ["A", "B"]
        assert not state["can_undo"]


def test_labels_that_changed_meanwhile_are_a_conflict(tmp_path, path):
    with session_of(read_cells(write_cells(tmp_path)), path, working=False) as (session, _):
        session.label(40, "A", 0)
        with pytest.raises(OutOfDateError, match="another tab"):
            session.label(41, "B", 0)
        with pytest.raises(OutOfDateError):
            session.undo(0)
        path.write_text(path.read_text().replace('"s40"', '"s42"'))
        with pytest.raises(OutOfDateError, match="read again"):
            session.label(41, "B", 1)
        assert session.known.given == {42}
        path.write_text("id,kind\nnobody,A\n")
        with pytest.raises(OutOfDateError, match="no row 'nobody'"):
            session.label(41, "B", 2)
        assert session.known.given == {42}


def test_of_two_who_answer_at_once_one_is_told(tmp_path, path):
    with session_of(read_cells(write_cells(tmp_path)), path, working=False) as (session, _):
        outcomes = []

        def answer(row):
            try:
                outcomes.append(session.label(row, "A", 0).version)
            except OutOfDateError:
                outcomes.append("conflict")

        threads = [threading.Thread(target=answer, args=(row,)) for row in range(20, 28)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(str, outcomes)) == ["1", *["conflict"] * 7]
        assert len(session.known.given) == 1


def test_new_labels_end_the_work_for_old_ones(tmp_path, path, monkeypatch):
    started, go_on = threading.Event(), threading.Event()
    original = session_module.rank_by_consensus

    def slow(data, labels, version, n_jobs, on_progress):
        started.set()
        while version == 0 and not go_on.wait(0.01):
            on_progress(0.5)
        return original(data, labels, version, n_jobs, on_progress)

    monkeypatch.setattr(session_module, "rank_by_consensus", slow)
    with session_of(read_cells(write_cells(tmp_path)), path) as (session, page):
        assert started.wait(30)
        session.label(40, "A", 0)
        state = wait_until_idle(page, BY_CONSENSUS)
        assert state["ranking"]["labels_version"] == 1
        assert not go_on.is_set()


def test_an_error_is_said_and_the_labels_are_safe(tmp_path, path, monkeypatch):
    def fail(*args):
        raise ValueError("out of luck")

    monkeypatch.setattr(session_module, "rank_by_soft_labels", fail)
    with session_of(read_cells(write_cells(tmp_path)), path) as (session, page):
        while not page.state()["notes"]:
            session.wait(session.version, 1.0)
        assert page.state()["notes"] == ["The ranking failed: out of luck"]
        assert page.state()["progress"] == {"what": None, "share": None}
        session.label(40, "A", 0)
        assert page.state()["classes"][0]["given"] == 1


def test_missing_values(tmp_path, path):
    table = write_cells(tmp_path)
    lines = table.read_text().splitlines()
    lines[5] = "," + lines[5].split(",", 1)[1]
    table.write_text("\n".join(lines) + "\n")
    with session_of(read_cells(table, missing="keep"), path, image=(2, 4)) as (_, page):
        assert best(wait_until_idle(page)) == {"x0", "x1"}
        row = page.row(4)
        (cell,) = (each for each in row["values"] if each["name"] == "x0")
        assert (cell["value"], cell["place"]) == (None, None)
        assert row["image"][0] == 0
        assert sum(each["n"] for each in page.feature(0)["groups"]) == 59


def test_groups_batches_and_weights(tmp_path, path):
    table = write_cells(tmp_path)
    lines = table.read_text().splitlines()
    more = ["donor,plate,weight"] + [f"d{i % 6},p{i % 2},{int(i != 50)}" for i in range(60)]
    table.write_text("\n".join(f"{a},{b}" for a, b in zip(lines, more, strict=True)) + "\n")
    dataset = read_cells(table, group="donor", batch="plate", weight="weight")
    with session_of(dataset, path) as (session, page):
        state = wait_until_idle(page)
        assert 50 not in page.map()["rows"]
        session.label(50, "A", state["labels_version"])  # it counts for nothing, and is kept
        wait_until_idle(page)
        assert page.row(50)["given_here"]


@pytest.mark.parametrize("form", ["csr.h5ad", "table.parquet"])
@pytest.mark.parametrize("memory", [LITTLE, "1GB"])
def test_rows_that_stay_in_their_file(tmp_path, path, monkeypatch, form, memory):
    monkeypatch.setattr("semisift.out_of_core._matrix.BLOCK_VALUES", 1 << 10)
    monkeypatch.setattr(drawn_module, "MAX_ROWS", 60)
    monkeypatch.setattr(drawn_module, "MIN_ROWS", 60)
    dataset = read_table(write(tmp_path, form), **reading(form, max_memory=memory))
    assert dataset.table.is_stored == (memory == LITTLE)
    with session_of(dataset, path) as (session, page):
        state = wait_until_idle(page)
        assert best(state, 4) == {"g0", "g1", "g2", "g3"}
        assert "represent all on this page" in state["notes"][-1]
        drawn = page.map()["rows"]
        assert set(range(40)) <= set(drawn)
        assert len(drawn) == 100
        other = next(row for row in range(600) if row not in drawn)
        assert len(page.row(other)["values"]) == 10
        session.label(other, "a", 0)  # a row that was not drawn is from now on
        wait_until_idle(page)
        assert other in page.map()["rows"]


def test_pictures_are_scaled_over_the_whole_table(tmp_path, path):
    dataset = read_table(image_table(tmp_path))
    with session_of(dataset, path, image=(2, 3)) as (_, page):
        wait_until_idle(page)
        shown = np.array([page.row(row)["image"] for row in range(40)])
        X = np.asarray(dataset.X)
        assert np.array_equal(shown, np.round(X / X.max() * 255))
        assert shown.max() == 255


def test_a_feature_by_class(tmp_path, path):
    with session_of(read_cells(write_cells(tmp_path, n_rows=900)), path) as (_, page):
        wait_until_idle(page)
        found = page.feature(0)
        assert found["name"] == "x0"
        assert [group["n"] for group in found["groups"]] == [896, 2, 2]
        assert len(found["groups"][0]["values"]) == 300
        low, _, middle, _, high = found["groups"][0]["quartiles"]
        assert low < middle < high
        assert sum(group["n"] for group in found["by_guess"]) == 896
        zero, one = (group["quartiles"][2] for group in found["by_guess"][1:])
        assert one > zero + 1


def test_before_anything_is_known_answers_are_empty(tmp_path, path):
    with session_of(read_cells(write_cells(tmp_path)), path, working=False) as (_, page):
        state = page.state()
        assert state["ranking"] is None
        assert state["queue"]["rows"] == []
        assert page.map()["rows"] == []
        assert page.feature(0)["groups"] == []
        assert page.row(0)["values"] == []
        assert page.row(0)["label"] == 0


def test_results_are_written_when_asked_for(tmp_path, path):
    started = []

    def write(y):
        started.append([label for label in y if label is not None])
        if len(started) > 1:
            raise ValueError("no room")
        return [tmp_path / "ranking.csv"]

    with session_of(read_cells(write_cells(tmp_path)), path, write=write) as (session, page):
        session.label(40, "C", 0)
        session.finish()
        while page.state()["finished"] is None:
            session.wait(session.version, 1.0)
        assert page.state()["finished"] == {"files": ["ranking.csv"]}
        assert session.finished_version == 1
        assert started == [["A", "B", "A", "B", "C"]]
        session.finish()
        while page.state()["finished"] is None:
            session.wait(session.version, 1.0)
        assert page.state()["finished"] == {"error": "no room"}


def test_results_need_a_place_and_labels(tmp_path, path):
    dataset = read_cells(write_cells(tmp_path, labels=[None] * 60))
    for place, words in [(None, "--out"), (list, "No row is labelled")]:
        with (
            session_of(dataset, path, write=place, working=False) as (session, _),
            pytest.raises(InvalidAnswerError, match=words),
        ):
            session.finish()


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_tiny_tables(tmp_path, path, n_rows):
    dataset = read_cells(write_cells(tmp_path, labels=[None] * n_rows, n_rows=n_rows))
    with session_of(dataset, path) as (session, page):
        for row in range(n_rows):
            state = wait_until_idle(page)
            assert state["notes"] == []
            session.label(row, "AB"[row % 2], row)
        assert wait_until_idle(page)["notes"] == []


def test_labels_that_tell_nothing_are_told(tmp_path, path):
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(rng.normal(size=(60, 200)), schema=[f"x{j}" for j in range(200)])
    labels = ["AB"[row % 2] if row < 10 else None for row in range(60)]
    frame.with_columns(pl.Series("kind", labels, dtype=pl.String)).write_csv(tmp_path / "t.csv")
    with session_of(read_cells(tmp_path / "t.csv", id=None), path) as (_, page):
        state = wait_until_idle(page)
    assert any(note.startswith("The labels may tell nothing: the") for note in state["notes"])
