"""``semisift compare`` as a user meets it."""

import json
import sys

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris, load_wine

import semisift
from semisift import Protocol, Results, read_table
from semisift.cli import _terminal, main
from semisift.cli import compare as compare_module

METHODS = "fisher,random,all-labels"
QUICK = ["--runs", 2, "--sizes", "1-3", "--judge", "nb"]
PROTOCOL = Protocol(n_runs=2, sizes=(1, 2, 3), judges=("nb",))


def call(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def words(text):
    return " ".join(text.split())


def write_csv(path, loaded, **more):
    frame = pl.DataFrame(loaded.data, schema=[f"x{j}" for j in range(loaded.data.shape[1])])
    kinds = [str(loaded.target_names[code]) for code in loaded.target]
    frame.with_columns(pl.Series("kind", kinds), **more).write_csv(path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the current folder, with wine.csv and iris.csv."""
    write_csv(tmp_path / "wine.csv", load_wine())
    write_csv(tmp_path / "iris.csv", load_iris())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compare(*arguments, methods=METHODS, files=("wine.csv", "iris.csv"), code=0):
    return call(
        *("compare", *files, "--label", "kind", "--methods", methods, "--out", "out"),
        *("--no-report", *QUICK, *arguments),
        code=code,
    )


# --- rows that judge ------------------------------------------------------------------------------


def write_partly(n_labelled, n_rows=200):
    """Write a table of which some rows of each of two classes are labelled."""
    rng = np.random.default_rng(0)
    kinds = ["ab"[i % 2] if i < n_labelled else None for i in range(n_rows)]
    columns = {f"x{j}": rng.normal(size=n_rows) for j in range(5)}
    pl.DataFrame({**columns, "kind": kinds}).write_csv("partly.csv")


def test_a_table_whose_labels_judge_nothing_is_refused(folder):
    write_partly(8)
    output = words(compare(files=["partly.csv"], code=1).stderr)
    assert "data set 'partly': 2 labelled rows would judge the methods in a run" in output
    assert "takes at least 10: of 200 rows 8 are labelled. Label more rows" in output
    data = read_table("partly.csv", label="kind")
    with pytest.raises(ValueError, match="2 labelled rows would judge"):
        semisift.compare("random", {"partly": (data.X, data.y)}, PROTOCOL)


@pytest.mark.filterwarnings("default::semisift.SmallTestSetWarning")
def test_how_many_rows_judge_is_said_and_few_are_warned_of(folder):
    write_partly(60)
    made = compare(files=["wine.csv", "partly.csv"], methods="random,fisher")
    assert "partly: 200 rows, of which 60 are labelled, 5 features, 2 classes; 20" in words(
        made.stdout
    )
    assert "wine: 178 rows, 13 features, 3 classes; 58 labelled rows judge each run" in words(
        made.stdout
    )
    doubt = "Few labelled rows judge a run on partly (20): an accuracy has a standard error of up "
    assert f"Warning: {doubt}to 11 points" in words(made.stderr)
    assert doubt in words(made.stdout)
    call("report", "out", "--summary", "summary")
    page = words((folder / "out" / "report.html").read_text(encoding="utf-8"))
    summary = (folder / "summary" / "README.md").read_text(encoding="utf-8")
    for text in (page, summary, repr(Results.load("out"))):
        assert doubt in words(text)
    for text in (page, summary):
        assert "20 to 58 labelled rows judge a run, depending on the data set." in text
    assert "none failed or warned" not in page


def test_few_rows_that_judge_are_a_warning_in_python():
    rng = np.random.default_rng(0)
    sets = {"small": (rng.normal(size=(60, 4)), np.arange(60) % 2)}
    with pytest.warns(semisift.SmallTestSetWarning, match=r"on small \(20\)") as caught:
        semisift.compare("random", sets, PROTOCOL)
    assert caught[0].filename == __file__


def test_groups_are_judged_by_the_fewest_rows_of_all_runs():
    X = np.random.default_rng(0).normal(size=(80, 4))
    data = {"groups": (X, np.arange(80) % 2, np.arange(80) // 13)}
    with pytest.warns(semisift.SmallTestSetWarning, match="on groups"):
        results = semisift.compare("random", data, Protocol(n_runs=12, sizes=(1,)))
    assert min(record["n_test"] for record in results.records) == results.n_judging["groups"]


# --- what is kept and shown -----------------------------------------------------------------------


def test_the_records_are_those_of_python(folder):
    compare()
    sets = {name: read_table(f"{name}.csv", label="kind") for name in ("wine", "iris")}
    expected = semisift.compare(
        METHODS, {name: (data.X, data.y) for name, data in sets.items()}, PROTOCOL
    )
    found = Results.load("out")
    assert len(found.records) == 12
    assert found.same_numbers(expected)


def test_how_the_methods_stand_is_shown(folder):
    shown = words(compare().stdout)
    assert "wine: 178 rows, 13 features, 3 classes" in shown
    assert "2 data sets, 2 runs: accuracy of nb" in shown
    results = Results.load("out")
    ranks = results.mean_ranks()
    for method, mean in zip(results.methods, results.scores().means.T, strict=True):
        assert f"{method} │ {ranks[method]:.2f} │ {mean.mean():.4f} │" in shown
    assert shown.endswith("Records: out")
    assert "failed on" not in shown


def test_quiet_prints_nothing(folder):
    assert compare("--quiet").output == ""


def test_what_a_protocol_is_changed_to(folder):
    changes = ["--labels-per-class", 2, "--train-size", 0.5, "--sizes", "1-3,5", "--seed", 4]
    changes += ["--judge", "knn:n_neighbors=3", "--judge", "nb", "--metric", "auc"]
    changes += ["--metric", "accuracy", "--train-on", "labelled", "--scaling", "none"]
    call(
        *("compare", "iris.csv", "--label", "kind", "--methods", "random", "--out", "out"),
        *("--no-report", "--protocol", "enscls", "--runs", 3, *changes),
    )
    assert Results.load("out").protocol == Protocol(
        name="enscls, changed",
        n_runs=3,
        labels_per_class=2,
        train_size=0.5,
        sizes=(1, 2, 3, 5),
        judges=("knn:n_neighbors=3", "nb"),
        metrics=("auc", "accuracy"),
        train_on="labelled",
        scaling=None,
        seed=4,
    )


def test_a_share_of_rows_takes_the_place_of_a_number(folder):
    call(
        *("compare", "wine.csv", "--label", "kind", "--methods", "random", "--out", "out"),
        *("--no-report", "--protocol", "fw-semifs", "--runs", 1, "--train-size", 0.8),
    )
    assert Results.load("out").records[0]["n_train"] == 178 - (11 + 14 + 9)


def test_the_store_says_how_to_do_it_again(folder):
    compare("--drop", "x0", "--drop", "x1", "--header", "--n-jobs", 1, "--missing", "error")
    notes = Results.load("out").about["notes"]
    assert notes["files"] == {name: str(folder / f"{name}.csv") for name in ("wine", "iris")}
    assert notes["command"] == (
        "semisift compare wine.csv iris.csv \\\n"
        "  --methods fisher,random,all-labels \\\n"
        "  --runs 2 \\\n"
        "  --sizes 1-3 \\\n"
        "  --judge nb \\\n"
        "  --label kind \\\n"
        "  --drop x0 \\\n"
        "  --drop x1 \\\n"
        "  --header \\\n"
        "  --out DIR"
    )


def test_a_sweep_has_a_column_for_each_level(folder):
    shown = words(compare("--sweep", "labels=1,4", methods="fisher,random").stdout)
    assert "labels=1 ┃ labels=4" in shown
    assert "at the first level, 1 (labelled rows of each class)" in shown
    found = {(record["level"], record["n_labelled"]) for record in Results.load("out").records}
    assert found == {(1.0, 3), (4.0, 12)}


def test_groups_are_kept_together_and_are_no_feature(folder):
    rng = np.random.default_rng(0)
    groups = [f"patient {number}" for number in rng.integers(30, size=178)]
    write_csv(folder / "groups.csv", load_wine(), patient=pl.Series(groups))
    compare("--group", "patient", files=["groups.csv"])
    data = read_table("groups.csv", label="kind", drop=["patient"])
    expected = semisift.compare(METHODS, {"groups": (data.X, data.y, groups)}, PROTOCOL)
    found = Results.load("out")
    assert found.records[0]["n_features"] == 13
    assert found.same_numbers(expected)
    without = semisift.compare(METHODS, {"groups": (data.X, data.y)}, PROTOCOL)
    assert not found.same_numbers(without)


def test_a_row_without_a_group_is_refused(folder):
    groups = ["a", None, *["b"] * 176]
    write_csv(folder / "groups.csv", load_wine(), patient=pl.Series(groups))
    output = compare("--group", "patient", files=["groups.csv"], code=1).stderr
    assert "groups.csv: line 3: no group is given (--group patient)" in words(output)


def test_declared_categories_of_an_npz_are_spread(folder):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=120), rng.integers(3, size=120)])
    y = np.arange(120) % 2
    np.savez("colours.npz", X=X, y=y, categorical=np.array([False, True]))
    arguments = ["compare", "colours.npz", "--methods", "random", "--out", "out", "--no-report"]
    assert "--categorical" in call(*arguments, code=1).stderr
    call(*arguments, "--categorical", "onehot", *QUICK)
    assert Results.load("out").records[0]["n_features"] == 4


def test_names_of_files_are_not_markup(folder):
    (folder / "wine.csv").rename(folder / "[bold]a.csv.b[/bold].csv".replace("/", "_"))
    shown = compare(files=["[bold]a.csv.b[_bold].csv"]).stdout
    assert "[bold]a.csv.b[_bold]: 178 rows" in words(shown)


def test_progress_is_shown_on_a_terminal(folder, monkeypatch):
    monkeypatch.setattr(_terminal, "PATIENCE", 0.0)
    assert compare().stderr == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    slow = compare("--resume", methods="tests.rankers.Slow:seconds=0.2").stderr
    assert "of 4: iris" in slow
    assert "% " in slow
    assert " left" in slow


# --- what is refused, before any work -------------------------------------------------------------


REFUSED = [
    (["--methods", "nonsense"], 2, "there is no method 'nonsense'"),
    (["--methods", "ssfi:nonsense=1"], 2, "'ssfi:nonsense=1'"),
    (["--methods", "ssfi:growth"], 2, "'growth' must be NAME=VALUE"),
    (["--methods", "ssfi:growth=-1"], 1, "'growth' parameter of SSFI"),
    (["--methods", "tests.rankers.Nothing"], 2, "cannot be imported"),
    (["--protocol", "nonsense"], 2, "There are ssfi, enscls, fw-semifs, rel-rasco"),
    (["--sizes", "1-x"], 2, "got '1-x'"),
    (["--sizes", "1,1"], 2, "different whole numbers from 1"),
    (["--sizes", "0-3"], 2, "different whole numbers from 1"),
    (["--sizes", "5-20"], 1, "data set 'iris' has 4 features, and sizes begin with 5"),
    (["--judge", "nonsense"], 2, "there is no judge 'nonsense'"),
    (["--judge", "knn:n_neighbors=0"], 1, "'n_neighbors' parameter"),
    (["--sweep", "labels"], 2, "labels=1,2,3"),
    (["--sweep", "rows=1,2"], 2, "got 'rows'"),
    (["--runs", "0"], 2, "--runs"),
    (["--n-jobs", "0"], 2, "--n-jobs"),
    (["--scheduler", "tcp://127.0.0.1:1"], 2, "--backend dask go together"),
    (["--backend", "dask"], 2, "--backend dask go together"),
    (["--separator", ",,"], 2, "single character"),
    (["--format", "docx"], 2, "'csv', 'tsv'"),
    (["--label", "none"], 1, "no column of this name"),
    (["--group", "none"], 1, "--group none"),
    (["--group", "kind"], 1, "data set 'wine': groups: no"),
    (["--out", "wine.csv"], 1, "wine.csv is a file"),
    (["--report", "page.pdf"], 2, "must end in .html"),
    (["--report", "none/page.html"], 2, "the folder none does not exist"),
]


def test_refused(folder):
    for arguments, code, message in REFUSED:
        if arguments[0] == "--report":  # which --no-report would make needless
            given = [
                "compare",
                "wine.csv",
                "--label",
                "kind",
                "--methods",
                "random",
                "--out",
                "out",
            ]
            output = call(*given, *arguments, code=code).stderr
        elif arguments[0] == "--methods":
            output = compare(methods=arguments[1], code=code).stderr
        else:
            output = compare(*arguments, code=code).stderr
        assert message in words(output)
        assert sorted(path.name for path in folder.iterdir()) == ["iris.csv", "wine.csv"]


def test_what_must_be_said_is_asked_for(folder):
    given = ["compare", "wine.csv", "--label", "kind"]
    assert "--out DIR is missing" in call(*given, "--methods", "random", code=2).stderr
    assert "--methods is missing" in call(*given, "--out", "out", code=2).stderr
    output = call("compare", "--methods", "random", "--out", "out", code=2).stderr
    assert "FILES are missing" in output
    output = call("compare", "--resume", "--out", "out", code=2).stderr
    assert "out holds no comparison" in words(output)
    output = call("compare", "wine.csv", "--methods", "random", "--out", "out", code=1).stderr
    assert "wine.csv: a comparison needs labels. Pass --label" in words(output)


def test_missing_values_name_the_file_and_the_option(folder):
    text = (folder / "iris.csv").read_text().replace("5.1", "", 1)
    (folder / "iris.csv").write_text(text)
    output = words(compare(code=1).stderr)
    assert "iris.csv: values are missing" in output
    assert "--missing median" in output
    assert not (folder / "out").exists()
    compare("--missing", "median")


def test_two_files_of_one_name(folder):
    (folder / "more").mkdir()
    (folder / "more" / "wine.csv.gz").write_bytes(b"")
    output = words(compare(files=["wine.csv", "more/wine.csv.gz"], code=2).stderr)
    assert "wine.csv and more/wine.csv.gz would both be called 'wine'" in output


def test_a_comparison_is_not_overwritten(folder):
    compare()
    assert "out holds a comparison already. Resume it" in words(compare(code=1).stderr)
    (folder / "full").mkdir()
    (folder / "full" / "letter.txt").write_text("dear")
    assert "full is not empty" in words(compare("--out", "full", code=1).stderr)


# --- going on -------------------------------------------------------------------------------------


def records_of(folder):
    return sorted((folder / "out" / "records").glob("*/*/*.json"))


def test_resume_needs_nothing_but_the_folder(folder, tmp_path_factory, monkeypatch):
    compare("--labels-per-class", 2, "--sweep", "flipped=0,0.2", methods="fisher,random")
    full = Results.load("out")
    kept = {path: path.stat().st_mtime_ns for path in records_of(folder)[::2]}
    for path in records_of(folder)[1::2]:
        path.unlink()
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    call("compare", "--resume", "--out", folder / "out")
    assert Results.load(folder / "out").same_numbers(full)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_a_resumed_comparison_may_grow(folder):
    compare(files=["wine.csv"], methods="random")
    call("compare", "iris.csv", "--resume", "--out", "out", "--methods", "fisher", "--runs", 3)
    grown = Results.load("out")
    assert (grown.datasets, grown.methods) == (["wine", "iris"], ["random", "fisher"])
    assert grown.protocol.n_runs == 3
    assert grown.n_missing == 0
    call("compare", "--resume", "--out", "out", "--runs", 2)
    assert Results.load("out").same_numbers(grown)


def test_a_resumed_sweep_does_all_levels(folder):
    compare("--sweep", "labels=1,4", methods="random")
    for path in records_of(folder):
        path.unlink()
    call("compare", "--resume", "--out", "out", "--sweep", "labels=2")
    assert Results.load("out").levels == [1.0, 4.0, 2.0]
    assert Results.load("out").n_missing == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seed", 5], "the protocol has seed=5, and there 0"),
        (["--judge", "tree"], "the protocol has judges=['tree'], and there ['nb']"),
        (["--sweep", "labels=1,2"], "the sweep has kind='labels'"),
        (["--drop", "x0"], "data set 'wine' has n_features=12, and there 13"),
    ],
)
def test_another_comparison_is_not_resumed(folder, arguments, message):
    compare()
    before = {path: path.read_bytes() for path in (folder / "out").rglob("*.json")}
    output = call("compare", "--resume", "--out", "out", *arguments, code=1).stderr
    assert "another comparison than the one in the folder" in words(output)
    assert message in words(output)
    assert {path: path.read_bytes() for path in (folder / "out").rglob("*.json")} == before


def test_a_changed_file_is_noticed(folder):
    compare()
    text = (folder / "iris.csv").read_text()
    (folder / "iris.csv").write_text(text.replace("5.1", "5.2", 1))
    output = call("compare", "--resume", "--out", "out", code=1).stderr
    assert "data set 'iris' has checksum=" in words(output)


# --- methods that fail or take too long -----------------------------------------------------------


def test_one_failing_method_does_not_stop_the_others(folder):
    bad = "tests.rankers.Failing,tests.rankers.Exiting"
    shown = words(compare(methods=f"fisher,{bad},random").stdout)
    failed = "tests.rankers.Failing failed on wine in 2 runs: RuntimeError: no [bold]luck[/bold]␊"
    assert failed in shown
    assert "tests.rankers.Exiting failed on iris in 2 runs: SystemExit: 3" in shown
    assert "tests.rankers.Failing │ - │ - │" in shown
    results = Results.load("out")
    assert len(results.failures) == 8
    assert np.isfinite(results.scores().means[:, [0, 3]]).all()


def test_every_run_failed(folder):
    result = compare(methods="tests.rankers.Failing", code=1)
    assert "every run failed" in result.stderr
    assert len(records_of(folder)) == 4


def test_failed_runs_can_be_done_again(folder):
    (folder / "rain").touch()
    own = "tests.rankers.Failing:path=rain"
    compare(methods=f"random,{own}")
    (folder / "rain").unlink()
    call("compare", "--resume", "--out", "out", "--methods", own)
    assert len(Results.load("out").failures) == 4
    before = {path: path.stat().st_mtime_ns for path in records_of(folder) if "random" in str(path)}
    call("compare", "--resume", "--out", "out", "--methods", own, "--retry-failed")
    assert Results.load("out").failures == []
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize("jobs", [[], ["--n-jobs", 2, "--backend", "threading"]])
def test_slow_methods_are_left_out_after_one_run(folder, jobs):
    limit = ["--max-seconds", 0.3, "--runs", 6]
    shown = compare(*limit, *jobs, methods="random,tests.rankers.Slow:seconds=0.4").stdout
    left_out = r"tests.rankers.Slow:seconds=0.4 on iris: left out after a run of 0.4"
    assert left_out in words(shown)
    results = Results.load("out")
    methods = [record["method"] for record in results.records]
    assert methods.count("random") == 12
    assert len(methods) == 14
    assert results.n_missing == 0
    compare("--resume", *limit, *jobs, methods="random,tests.rankers.Slow:seconds=0.4")
    assert len(records_of(folder)) == 14


def test_a_class_beside_the_data_can_take_part(folder):
    (folder / "my_ranker.py").write_text(
        "class Mine:\n"
        "    def fit(self, X, y):\n"
        "        self.scores_ = -X.var(axis=0)\n"
        "        return self\n"
    )
    compare(methods="random,my_ranker.Mine")
    top = [record["top"] for record in Results.load("out").records if "Mine" in record["method"]]
    assert len(top) == 4


# --- who does the runs ----------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_dead_process_is_told_and_its_records_are_kept(folder):
    dying = "fisher,random,all-labels,tests.rankers.Dying"
    output = words(compare("--n-jobs", 2, methods=dying, code=1).stderr)
    assert "a process at work died" in output
    assert "tests.rankers.Dying on wine, run 0" in output
    assert "--resume --out out --methods tests.rankers.Dying` goes on" in output
    assert Results.load("out").failures == []
    for path in records_of(folder):
        json.loads(path.read_text())


def test_a_scheduler_that_does_not_answer(folder, monkeypatch):
    monkeypatch.setattr(compare_module, "SECONDS_TO_CONNECT", 0.5)
    output = compare("--backend", "dask", "--scheduler", "tcp://127.0.0.1:1", code=1).stderr
    assert "no Dask scheduler answers there" in words(output)
    assert not (folder / "out").exists()


def test_dask_is_an_extra(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    output = compare("--backend", "dask", "--scheduler", "tcp://127.0.0.1:1", code=1).stderr
    assert 'pip install "semisift[dask]"' in output
    compare("--n-jobs", 2, "--backend", "threading")
