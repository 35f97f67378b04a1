"""``semisift reproduce rel-rasco-fig1``: committees, their store, tables and picture."""

import json
import multiprocessing
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import joblib
import numpy as np
import pytest

from semisift.comparison._datasets import ComparisonData
from semisift.comparison._results import Results
from semisift.papers.cotraining import (
    MEASURES,
    CommitteeRecords,
    committee_plan,
    contender_of,
    published_moments,
    run_committee,
    run_committees,
)
from semisift.papers.cotraining_report import committee_tables
from semisift.papers.reproduce import prepare
from semisift.papers.targets import TARGETS
from semisift.registry import CLASSIFIERS
from tests import stand_ins
from tests.commands import call

TARGET = TARGETS["rel-rasco-fig1"]
KNN = "knn:n_neighbors=3"
PROCESSES = multiprocessing.get_context("forkserver")


@pytest.fixture(autouse=True)
def learners(monkeypatch, request):
    if "real" not in request.fixturenames:
        replaced = dict(CLASSIFIERS)
        stand_ins.register(replaced)
        for name, entry in replaced.items():
            monkeypatch.setitem(CLASSIFIERS, name, entry)


@pytest.fixture
def real():
    """Leave the registry as it is."""


def make_set(name, n_rows=60, n_features=30, n_classes=2, seed=0, **overrides):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_features))
    X[:, :10] += 0.8 * y[:, None]
    return ComparisonData.build(name, X, y, overrides=overrides)


def plan_of(*specs, n_runs=2, sets=None):
    sets = sets or [make_set("OptDigits"), make_set("Isolet", seed=1, labelled_share=0.2)]
    contenders = [contender_of(spec, KNN) for spec in specs]
    return committee_plan(sets, contenders, replace(TARGET.protocol, n_runs=n_runs))


@pytest.fixture
def folder(tmp_path):
    """Return a folder with two small sets that bear the names of the paper's."""
    for stem, seed in (("optdigits", 0), ("isolet_bc", 1)):
        data = make_set(stem, seed=seed)
        np.savez(tmp_path / f"{stem}.npz", X=data.X, y=data.y)
    return tmp_path


def reproduce(folder, *arguments, code=0, methods="co-training,rasco,rel-rasco"):
    given = ("--data", folder, "--out", folder / "out", "--runs", 2, "--methods", methods)
    return call("reproduce", "rel-rasco-fig1", *given, *arguments, code=code)


# --- runs -----------------------------------------------------------------------------------------


def test_a_record_is_what_the_classifier_diagnoses():
    data = make_set("OptDigits")
    contender = contender_of("rasco", KNN)
    record = run_committee(data, contender, TARGET.protocol, 1, 10)
    assert record["status"] == "done", record["error"]
    assert (record["n_train"], record["n_test"], record["n_labelled"]) == (30, 30, 4)
    classifier = contender.make(10, record["random_state"])
    assert classifier.n_members == 10
    assert classifier.max_features == 25
    assert classifier.estimator.n_neighbors == 3
    assert set(record["curves"]) == set(MEASURES)
    assert all(len(pair) == 2 for pair in record["curves"].values())
    again = run_committee(data, contender, TARGET.protocol, 1, 10)
    for part in ("curves", "split", "random_state"):
        assert again[part] == record[part]


def test_splits_are_shared_and_partitions_are_kept_over_runs():
    results = run_committees(plan_of("co-training", "rasco", n_runs=3))
    splits, seeds = {}, {}
    for record in results.records:
        splits.setdefault((record["dataset"], record["run"]), set()).add(record["split"])
        part = record["level"] if record["method"] == "co-training" else None
        run = record["run"] if record["method"] == "rasco" else None
        seeds.setdefault((part, run), set()).add(record["random_state"])
    assert {len(found) for found in splits.values()} == {1}
    assert len(splits) == 6
    assert {len(found) for found in seeds.values()} == {1}
    assert len({min(found) for (part, _), found in seeds.items() if part is not None}) == 10


def test_figures_are_means_over_runs_and_partitions():
    results = run_committees(plan_of("co-training", "rasco", n_runs=3))
    rasco = results.values("Isolet", "rasco", "accuracy")
    assert rasco.shape == (3, 5, 2)
    by_key = {
        (each["dataset"], each["method"], each["run"], each["level"]): each["curves"]
        for each in results.records
    }
    assert rasco[2, 3].tolist() == by_key["Isolet", "rasco", 2, 20.0]["accuracy"]
    both = [
        np.mean(
            [by_key["Isolet", "co-training", run, float(i)]["diversity"] for i in range(10)],
            axis=0,
        )
        for run in range(3)
    ]
    mean, error = results.summary("Isolet", "co-training", "diversity")
    np.testing.assert_allclose(mean, [np.mean(both, axis=0)])
    np.testing.assert_allclose(error, [np.std(both, axis=0, ddof=1) / np.sqrt(3)])


def test_a_classifier_that_fails_leaves_a_record_and_no_figure():
    results = run_committees(plan_of("prob-mrmr", "rasco", n_runs=1))
    assert {record["method"] for record in results.failures} == {"prob-mrmr"}
    assert "no luck" in results.failures[0]["error"]
    assert np.isnan(results.summary("Isolet", "prob-mrmr", "accuracy")[0]).all()
    assert not np.isnan(results.summary("Isolet", "rasco", "accuracy")[0]).any()


@pytest.mark.parametrize("name", [name for name in TARGET.specs if name in CLASSIFIERS])
def test_the_real_classifiers_take_part(name, real):
    contender = contender_of(name, KNN)
    for level in (contender.levels[0], contender.levels[-1]):
        record = run_committee(make_set("OptDigits", 120), contender, TARGET.protocol, 0, level)
        assert record["status"] == "done", record["error"]
        begin, end = record["curves"]["accuracy"]
        assert min(begin, end) > 0.5
        assert all(0 <= value <= 1 for pair in record["curves"].values() for value in pair)


# --- the store ------------------------------------------------------------------------------------


class StopError(Exception):
    pass


def stop_after(n_records):
    def on_record(record, n_left):
        on_record.n_calls += 1
        if on_record.n_calls == n_records:
            raise StopError

    on_record.n_calls = 0
    return on_record


@pytest.mark.parametrize("jobs", [None, 2])
def test_stopped_and_resumed_it_has_the_same_numbers(tmp_path, jobs):
    plan, out = plan_of("co-training", "rasco"), tmp_path / "out"
    undisturbed = run_committees(plan)
    with pytest.raises(StopError):
        run_committees(plan, out=out, on_record=stop_after(7))
    partly = CommitteeRecords.load(out)
    assert partly.n_missing == len(undisturbed.records) - 7 == 53
    calls = []
    with joblib.parallel_config(backend="threading"):
        resumed = run_committees(
            plan, out=out, resume=True, n_jobs=jobs, on_record=lambda *each: calls.append(each)
        )
    assert len(calls) == 53
    assert calls[-1][1] == 0
    assert resumed.same_numbers(undisturbed)
    assert CommitteeRecords.load(out).same_numbers(undisturbed)


def make_slowly(out):
    stand_ins.register()
    slow = "rasco:seconds=0.02"
    run_committees(plan_of("co-training", slow), out=out, resume=True)


@pytest.mark.kill
def test_killed_and_resumed_it_has_the_same_numbers(tmp_path):
    out = tmp_path / "out"
    process = PROCESSES.Process(target=make_slowly, args=(out,))
    process.start()
    until = time.monotonic() + 120
    while len(list(out.glob("records/*/*/*.json"))) < 5:
        assert time.monotonic() < until
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    for path in out.glob("records/*/*/*.json"):
        json.loads(path.read_text())
    assert CommitteeRecords.load(out).n_missing > 0
    plan = plan_of("co-training", "rasco:seconds=0.02")
    assert run_committees(plan, out=out, resume=True).same_numbers(run_committees(plan))


def test_a_resumed_folder_may_grow_but_not_change(tmp_path):
    out = tmp_path / "out"
    run_committees(plan_of("rasco"), out=out)
    with pytest.raises(ValueError, match="holds a comparison already"):
        run_committees(plan_of("rasco"), out=out)
    grown = run_committees(plan_of("rasco", "rel-rasco", n_runs=3), out=out, resume=True)
    assert grown.methods == ["rasco", "rel-rasco"]
    assert grown.n_missing == 0
    assert grown.same_numbers(run_committees(plan_of("rasco", "rel-rasco", n_runs=3)))
    other = plan_of("rasco", sets=[make_set("OptDigits", seed=5)])
    with pytest.raises(ValueError, match="another comparison than the one in the folder"):
        run_committees(other, out=out, resume=True)


@pytest.mark.filterwarnings("ignore::semisift.SmallTestSetWarning")
def test_records_of_committees_are_not_taken_for_rankings(folder):
    reproduce(folder, "--quiet")
    with pytest.raises(ValueError, match="holds records of committees"):
        Results.load(folder / "out")
    given = ("compare", folder / "optdigits.npz", "--methods", "random", "--out", folder / "runs")
    call(*given, "--runs", 1, "--quiet", "--no-report")
    with pytest.raises(ValueError, match="holds records of rankings"):
        CommitteeRecords.load(folder / "runs")


# --- what is found --------------------------------------------------------------------------------


def test_what_is_missing_is_said(folder, monkeypatch):
    monkeypatch.delitem(CLASSIFIERS, "prob-mrmr")
    plan = prepare(TARGET, folder)
    assert [name for name, _ in plan.methods] == ["co-training", "rasco", "rel-rasco"]
    assert plan.missing_methods == ["prob-mrmr"]
    assert set(plan.missing_sets) == {"Audio Genre", "Classic-3", "MFeat"}
    assert plan.differences["Isolet"].startswith("60 rows (the paper: 480)")


def test_published_numbers_of_co_training_at_both_ends():
    found = published_moments(TARGET)["co-training"]
    assert found["OptDigits"] == [0.8159, 0.7564]
    assert found["MFeat"] == [0.8664, 0.9274]


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ("ssfi", "has the methods co-training, rasco, rel-rasco, prob-mrmr: got ssfi"),
        ("+self-training", "got self-training"),
        ("rasco:5", "must be NAME=VALUE"),
    ],
)
def test_methods_that_are_not_the_figures(folder, methods, message):
    assert message in " ".join(reproduce(folder, code=1, methods=methods).stderr.split())
    assert not (folder / "out").exists()


# --- what is shown --------------------------------------------------------------------------------


def test_tables_hold_means_errors_and_published_numbers():
    notes = {"moments": published_moments(TARGET)}
    results = run_committees(plan_of("co-training", "rasco"), notes=notes)
    tables = committee_tables(results)
    assert len(tables) == 3 * 2 + 1
    table = next(each for each in tables if each.title == "Isolet: accuracy of the committee")
    assert table.columns == ["K = 5", "K = 10", "K = 15", "K = 20", "K = 25"]
    assert [line.name for line in table.lines] == ["rasco, at the beginning", "rasco, at the end"]
    means, errors = results.summary("Isolet", "rasco", "accuracy")
    for moment, line in enumerate(table.lines):
        assert [cell.value for cell in line.cells] == means[:, moment].tolist()
        assert line.cells[0].aside == f"± {errors[0, moment]:.3f}"
    views = tables[-1]
    assert "10 random partitions" in views.title
    assert [line.cells[0].text for line in views.lines] == ["0.816", "0.756", "0.897", "0.887"]
    words = {"above", "below", "within the error"}
    assert {line.cells[2].text for line in views.lines} <= words


def test_reproduce_writes_a_page_and_a_picture(folder):
    shown = reproduce(folder, methods="co-training,rasco,rel-rasco,prob-mrmr").stdout
    for words in ("No data: Audio Genre", "K = 25", "prob-mrmr failed on Isolet", "The paper says"):
        assert words in shown
    page = (folder / "out" / "summary" / "README.md").read_text()
    for words in (
        "semisift reproduce rel-rasco-fig1 --data",
        "10% on OptDigits",
        "### Isolet: diversity of its members",
        "| OptDigits, at the beginning | 0.816 |",
        "RuntimeError: no luck",
        "There were no data for Audio Genre, Classic-3 and MFeat.",
        "(committees.svg)",
    ):
        assert words in page
    picture = ElementTree.parse(folder / "out" / "summary" / "committees.svg").getroot()
    texts = "".join(picture.itertext())
    for words in ("OptDigits", "Isolet", "rel-rasco", "diversity of its members"):
        assert words in texts


def test_report_draws_it_again_from_the_records(folder):
    reproduce(folder)
    files = ("README.md", "committees.svg")
    before = {name: (folder / "out" / "summary" / name).read_bytes() for name in files}
    output = call("report", folder / "out", "--summary", folder / "docs").stdout
    assert {name: (folder / "docs" / name).read_bytes() for name in files} == before
    assert "Written:" in output
    call("report", folder / "out", "--markdown", folder / "t.md", "--figures", folder / "f", "-q")
    assert (folder / "t.md").read_text().startswith("### OptDigits: accuracy of the committee")
    assert (folder / "f" / "committees.svg").read_bytes() == before["committees.svg"]
    refused = call("report", folder / "out", "--latex", folder / "t.tex", code=2).stderr
    assert "records of committees" in " ".join(refused.split())


def test_an_unfinished_figure_is_drawn_and_told(folder):
    reproduce(folder, "--quiet")
    lost = sorted((folder / "out").glob("records/*/rasco*/*.json"))[0]
    Path(lost).unlink()
    shown = call("report", folder / "out").stdout
    assert "not finished: 1 record of 80" in " ".join(shown.split())
    resumed = reproduce(folder, "--resume").stdout
    assert "not finished" not in resumed


def test_slow_classifiers_are_left_out(folder):
    methods = "rel-rasco,rasco:seconds=0.2"
    shown = reproduce(folder, "--max-seconds", 0.1, methods=methods).stdout
    assert "rasco:seconds=0.2 on Isolet: left out after a run of" in " ".join(shown.split())
    results = CommitteeRecords.load(folder / "out")
    assert np.isnan(results.values("Isolet", "rasco:seconds=0.2", "accuracy")).all()
    assert results.n_missing == 0


def test_quiet_prints_nothing(folder):
    result = reproduce(folder, "--quiet")
    assert result.stdout == result.stderr == ""
