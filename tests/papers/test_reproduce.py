"""``semisift reproduce``: published numbers, targets, and runs on the papers' data sets."""

import io
import json
import math
import shutil
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console
from scipy.io import savemat
from sklearn.datasets import load_breast_cancer

from semisift import METHODS, Results, compare
from semisift.cli import main
from semisift.comparison import _statistical_tests
from semisift.comparison._datasets import ComparisonData
from semisift.comparison._methods import BASELINES, find_methods
from semisift.comparison._protocol import Protocol
from semisift.comparison._statistical_tests import win_tie_loss
from semisift.papers.figures import (
    OurFigure,
    cell,
    count_ahead,
    paper_scores,
    published_wins,
    show,
    wins,
)
from semisift.papers.reproduce import is_registered, load, make_method, prepare
from semisift.papers.targets import PAPERS, TARGETS
from tests.comparisons import changed
from tests.nightly import few_daily
from tests.shown_comparisons import made_up

# The papers' own data sets are small; the page of a reproduction says so.
pytestmark = pytest.mark.filterwarnings("ignore::semisift.SmallTestSetWarning")

# Methods of the papers that need not be there yet.
TO_COME = {"co-training", "rasco", "rel-rasco", "prob-mrmr"}


# --- the published numbers give the published conclusions -----------------------------------------


ENSCLS = PAPERS["enscls"]
SSFI_SETS = TARGETS["ssfi-table2"].sets


def names_of(target):
    return [column.name for column in TARGETS[target].columns]


def rows_of(target, learner):
    rows = TARGETS[target].values[learner]
    return {name: list(row.values()) for name, row in rows.items()}


def table_of(target, learner):
    return np.array(list(rows_of(target, learner).values()))


@pytest.mark.parametrize(
    ("other", "w_minus", "p"),
    [("RF", 4, 0.013672), ("FwFS", 0, 0.001953), ("sSelect", 0, 0.001953)],
)
def test_ssfi_is_better_by_signed_ranks(other, w_minus, p):
    table = table_of("ssfi-table2", "tree")
    second = table[:, names_of("ssfi-table2").index(other)]
    test = _statistical_tests.wilcoxon(table[:, 0], second)
    assert test.w_minus == w_minus
    assert test.p == pytest.approx(p, abs=5e-7)
    assert test.p < 0.02


def test_ssfi_is_best_on_all_sets_but_one():
    rows = rows_of("ssfi-table2", "tree")
    best = {name: names_of("ssfi-table2")[int(np.argmax(row))] for name, row in rows.items()}
    assert best.pop("Warpar10P") == "RF"
    assert set(best.values()) == {"SSFI"}


def test_mean_ranks_and_friedman_of_enscls():
    test = _statistical_tests.friedman(table_of("enscls-table2", "svm"))
    np.testing.assert_allclose(test.mean_ranks, ENSCLS["mean_ranks"], atol=5e-5)
    assert test.chi2 == pytest.approx(28.0)
    assert test.p_chi2 < 0.05


def test_critical_difference_of_enscls():
    test = _statistical_tests.nemenyi(table_of("enscls-table2", "svm"), ENSCLS["alpha"])
    assert test.critical_difference == pytest.approx(ENSCLS["critical_difference"], abs=5e-4)
    different = dict(zip(names_of("enscls-table2"), test.different[0], strict=True))
    assert different == {"EnsCLS": False, "CLS": True, "CSFS": True, "BS": True, "SSFI": False}


def test_wins_of_enscls_mirror_each_other():
    counted = published_wins(ENSCLS["wins"])
    assert counted.methods == names_of("enscls-table2")
    np.testing.assert_array_equal(counted.counts, counted.counts.transpose(1, 0, 2)[..., ::-1])
    assert (counted.counts.sum(axis=-1) == 9).all()


def test_bold_cells_of_enscls():
    counted = published_wins(ENSCLS["wins"])
    bold = {
        (counted.methods[i], counted.methods[j]) for i, j in np.argwhere(counted.is_better).tolist()
    }
    ensemble = {("EnsCLS", other) for other in ("CLS", "CSFS", "BS", "SSFI")}
    assert bold == ensemble | {("SSFI", other) for other in ("CLS", "CSFS", "BS")}


def test_fw_semifs_in_21_cases():
    learners = TARGETS["fw-semifs-table2"].values
    rows = np.concatenate([table_of("fw-semifs-table2", learner) for learner in learners])
    assert rows.shape == (21, 4)
    # the 13 that the paper counts are its bold cells: the highest of four, shared or not
    assert (rows[:, 3] == rows.max(axis=1)).sum() == 13
    others = rows[:, 1:3].max(axis=1)
    assert (rows[:, 3] > others).sum() == 12
    assert (rows[:, 3] == others).sum() == 2


@pytest.mark.parametrize("learner", few_daily(["nb", "nnge", "knn"], 2))
@pytest.mark.parametrize("dataset", ["German", "Ionosphere"])
def test_fw_semifs_has_the_highest_mean(learner, dataset):
    assert int(np.argmax(rows_of("fw-semifs-table3", learner)[dataset])) == 2


def test_co_training_gains_on_mfeat_alone():
    rows = rows_of("rel-rasco-fig1", "knn:n_neighbors=3")
    assert [name for name, (before, after, *_) in rows.items() if after > before] == ["MFeat"]


# --- targets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", few_daily(TARGETS.values(), 4), ids=TARGETS)
def test_published_numbers_have_their_place(target):
    for learner, rows in (*target.values.items(), *target.deviations.items()):
        assert learner in target.protocol.judges
        assert list(rows) == list(target.sets)
        for row in rows.values():
            assert list(row) == [column.name for column in target.columns]


def test_the_file_of_published_numbers_is_whole():
    figures = {"ssfi": ["table2", "table2-alon", "fig1"]}
    figures |= {"enscls": ["table2", "table3", "fig1", "fig2"]}
    figures |= {"fw-semifs": ["table2", "table3"], "rel-rasco": ["fig1", "fig1-half"]}
    assert {paper: list(content["targets"]) for paper, content in PAPERS.items()} == figures
    assert [len(content["sets"]) for content in PAPERS.values()] == [10, 9, 7, 5]
    n_printed = dict.fromkeys(TARGETS, 0)
    for name, target in TARGETS.items():
        assert target.sentences
        for figures in (target.values, target.deviations):
            rows = [row for table in figures.values() for row in table.values()]
            numbers = [x for row in rows for x in row.values() if x is not None]
            assert all(0 <= number <= 1 for number in numbers)
            n_printed[name] += len(numbers)
    assert n_printed == {
        "ssfi-table2": 40,
        "ssfi-table2-alon": 4,
        "ssfi-fig1": 0,
        **dict.fromkeys(["enscls-table2", "enscls-table3"], 90),
        "enscls-fig1": 0,
        "enscls-fig2": 90,
        "fw-semifs-table2": 84,
        "fw-semifs-table3": 126,
        **dict.fromkeys(["rel-rasco-fig1", "rel-rasco-fig1-half"], 10),
    }


@pytest.mark.parametrize("target", few_daily(TARGETS.values(), 4), ids=TARGETS)
def test_methods_can_be_made_or_are_known_to_be_missing(target):
    for spec in target.specs:
        if is_registered(spec):
            find_methods([(spec, make_method(spec))])
        else:
            assert spec.partition(":")[0] in TO_COME


@pytest.mark.parametrize("name", ["ssfi-table2", "enscls-table2"])
def test_both_forms_and_the_yardsticks_take_part(name):
    specs = TARGETS[name].specs
    assert {"ssfi:variant=paper", "ssfi", "random", "fisher", "all-labels"} <= set(specs)


def test_targets_of_one_table_have_one_protocol():
    names = ("enscls-table2", "enscls-table3", "enscls-fig1", "enscls-fig2")
    assert len({TARGETS[name].protocol for name in names}) == 1
    assert len({tuple(TARGETS[name].specs) for name in names}) == 1


def test_a_learner_inside_a_method_is_the_judge_of_that_name():
    method = make_method("ssfi:n_members=7:estimator=knn")
    assert method.n_members == 7
    assert type(method.estimator).__name__ == "KNeighborsClassifier"


# --- data sets ------------------------------------------------------------------------------------


def write_set(folder, stem, shape, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(shape[0]) % n_classes
    X = rng.normal(size=shape)
    X[:, :3] += 1.5 * y[:, None]
    np.savez(folder / f"{stem}.npz", X=X, y=y)


def test_a_data_set_is_found_in_any_format_and_case(tmp_path):
    kind = SSFI_SETS["Leukemia"]
    assert kind.find(tmp_path) is None
    for name in ("ALLAML.mat", "leukemia_allaml.csv", "leukemia_allaml.npz"):
        (tmp_path / name).touch()
        assert kind.find(tmp_path).name == name


def test_a_matlab_file_whose_classes_are_minus_one_and_one(tmp_path):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(62) < 40, -1, 1)
    savemat(tmp_path / "colon.mat", {"X": rng.normal(size=(62, 5)), "Y": y[:, None]})
    data = load("Colon", SSFI_SETS["Colon"].find(tmp_path), {})
    assert data.classes == ["-1", "1"]
    assert np.bincount(data.y).tolist() == [40, 22]


def test_text_has_its_labels_in_the_column_class(tmp_path):
    lines = ["size,class,cap", *(f"{i},{'ep'[i % 2]},{'xyz'[i % 3]}" for i in range(2, 30))]
    (tmp_path / "mushroom.csv").write_text("\n".join([*lines, "7,e,?"]))
    data = load("Mushroom", tmp_path / "mushroom.csv", {})
    assert data.X.shape == (29, 2)
    assert data.classes == ["e", "p"]


def test_differences_from_the_paper_are_told(tmp_path):
    write_set(tmp_path, "leukemia_allaml", (72, 12))
    plan = prepare(TARGETS["enscls-table2"], tmp_path, "random")
    text = "72 rows (the paper: 73) and 12 features (the paper: 7,129)"
    assert plan.differences == {"Leukemia": text}


# --- what is different for one data set -----------------------------------------------------------


@pytest.fixture
def fw_folder(tmp_path):
    """Return a folder with three sets of the FW-SemiFS paper: two of their shape alone."""
    folder = tmp_path / "data"
    folder.mkdir()
    X, y = load_breast_cancer(return_X_y=True)
    np.savez(folder / "wdbc.npz", X=X, y=y)
    write_set(folder, "german", (1000, 20))
    write_set(folder, "colon_alon", (62, 40))
    return folder


def quick(name, *sizes):
    """Return a target that judges a few sizes alone."""
    target = TARGETS[name]
    return replace(target, protocol=replace(target.protocol, sizes=sizes))


def run(plan, **options):
    return compare(plan.methods, plan.sets, plan.target.protocol, notes=plan.notes, **options)


def test_each_set_is_split_as_the_paper_splits_it(fw_folder):
    plan = prepare(quick("fw-semifs-table3", 5), fw_folder, "random", 1)
    results = run(plan)
    sizes = {
        record["dataset"]: (record["n_labelled"], record["n_train"], record["n_test"])
        for record in results.records
    }
    assert sizes == {
        "German": (6, 106, 294),
        "wdbc": (6, 106, 463),
        "ColonTumor": (6, 36, 26),
    }
    assert not results.failures


def test_overrides_are_stored_and_a_resumed_comparison_must_have_them(tmp_path, fw_folder):
    plan = prepare(quick("fw-semifs-table3", 5), fw_folder, "random", 1)
    results = run(plan, out=tmp_path / "store")
    about = Results.load(tmp_path / "store").about["datasets"]
    assert about == results.about["datasets"]
    assert about["ColonTumor"]["overrides"] == {"n_unlabelled": 30, "n_test": 26}
    assert "overrides" not in about["wdbc"]
    without = [replace(data, overrides={}) for data in plan.sets if data.name == "German"]
    with pytest.raises(ValueError, match="data set 'German' has overrides"):
        compare(plan.methods, without, plan.target.protocol, out=tmp_path / "store", resume=True)


def test_overrides_are_about_splits_alone():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match=r"data set 'wdbc': overrides may have .*: got 'sizes'"):
        ComparisonData.build("wdbc", X, y, overrides={"sizes": (1, 2)})


# --- what is there and what is not ----------------------------------------------------------------


def test_what_is_missing(fw_folder):
    plan = prepare(TARGETS["fw-semifs-table2"], fw_folder)
    assert set(plan.missing_sets) == {"Ionosphere", "Mushroom", "Sonar", "Waveform"}
    known = {*METHODS, *BASELINES}
    assert all(spec.partition(":")[0] in known for spec, _ in plan.methods)
    assert not any(spec.partition(":")[0] in known for spec in plan.missing_methods)
    wanted = TARGETS["fw-semifs-table2"].protocol.judges
    assert {*plan.target.protocol.judges, *plan.missing_evaluators} == set(wanted)


def test_notes_hold_the_published_numbers_by_our_names(fw_folder):
    notes = prepare(TARGETS["fw-semifs-table3"], fw_folder).notes
    assert notes["published"]["table"]["German"]["sls"] == 0.5299
    assert notes["published"]["tables"]["knn"]["wdbc"]["sls:variant=paper"] == 0.86
    assert notes["published"]["source"].startswith("Table 3 of Ren")
    assert notes["files"]["ColonTumor"] == "colon_alon.npz"
    json.dumps(notes)


@pytest.mark.parametrize(
    ("published_value", "mean", "error", "word"),
    few_daily(
        [
            (0.6, 0.622, 0.01, "within"),  # Student's t of ten runs is 2.262
            (0.6, 0.623, 0.01, "above"),
            (0.6, 0.577, 0.01, "below"),
            (0.6, 0.6, 0.0, "within"),
            (0.6, 0.7, math.nan, ""),
            (None, 0.7, 0.01, ""),
        ],
        3,
    ),
)
def test_a_word_for_each_cell(published_value, mean, error, word):
    assert OurFigure(published_value, mean, error, n_runs=10).word == word


def test_few_runs_and_the_papers_own_error_leave_more_to_chance():
    assert OurFigure(0.6, 0.64, 0.01, n_runs=3).word == "within"  # 4.303 errors
    assert OurFigure(0.6, 0.644, 0.01, n_runs=3).word == "above"
    # a mean of three splits, of which thirty of ours have the error .01: sqrt(11) times as much
    assert OurFigure(0.6, 0.66, 0.01, n_runs=30, n_published=3).word == "within"
    assert OurFigure(0.6, 0.67, 0.01, n_runs=30, n_published=3).word == "above"


def test_published_numbers_of_co_training_stand_beside_half_of_the_labels():
    whole, half = TARGETS["rel-rasco-fig1"], TARGETS["rel-rasco-fig1-half"]
    (judge,) = half.protocol.judges
    assert half.value(judge, "OptDigits", "CoTrain-B") == 0.8159
    assert half.protocol.labelled_share == whole.protocol.labelled_share / 2
    for name, kind in half.sets.items():
        share = whole.sets[name].overrides.get("labelled_share", 0.1)
        assert kind.overrides.get("labelled_share", 0.05) == share / 2
    assert half.specs == ["co-training:voting=hard"]


def test_forward_search_has_another_reading():
    target = TARGETS["fw-semifs-table2"]
    column = next(each for each in target.columns if each.name == "SFFS")
    assert column.forms("knn")["reading"].endswith(":cv=resubstitution")
    assert target.by_spec(target.values, "knn")["wdbc"][column.forms("knn")["reading"]] == 0.8985
    assert make_method(column.forms("knn")["reading"]).cv == "resubstitution"


def test_the_other_colon_stands_beside_the_same_numbers(tmp_path):
    write_set(tmp_path, "colon_alon", (62, 20))
    plan = prepare(TARGETS["ssfi-table2-alon"], tmp_path, "ssfi", 1)
    assert plan.files["Colon"].name == "colon_alon.npz"
    assert plan.notes["published"]["table"]["Colon"]["ssfi"] == 0.5645
    assert not plan.missing_sets


def test_cells_without_a_figure_say_why(fw_folder):
    plan = prepare(quick("fw-semifs-table3", 5), fw_folder, "random,fisher", 1)
    results = run(plan, max_seconds=1e-9)
    scores = results.scores()
    assert cell(results, scores, "wdbc", "fisher", 0.5).why_not == "left out: 0 s"
    assert cell(results, scores, "wdbc", "sls", 0.5).why_not == "not run"
    assert cell(results, scores, "wdbc", None, 0.5).why_not == ""


# --- what is printed ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small_enscls(tmp_path_factory):
    """Return results on small sets that are called as three of the EnsCLS paper."""
    folder = tmp_path_factory.mktemp("small")
    for seed, stem in enumerate(("leukemia_allaml", "lymphoma", "prostata")):
        write_set(folder, stem, (45, 25), seed=seed)
    methods = "cls:variant=paper,cls,csfs,bs,random"
    return run(prepare(quick("enscls-table3", 1, 10), folder, methods, 3))


def printed(name, results):
    stream = io.StringIO()
    show(Console(file=stream, width=150, highlight=False), TARGETS[name], results)
    return stream.getvalue()


def test_the_table_has_published_numbers_beside_ours(small_enscls):
    text = printed("enscls-table2", small_enscls)
    mean = small_enscls.table()["bs"][0]
    line = next(line for line in text.splitlines() if "BS" in line and "0.618" in line)
    assert f"{mean:.3f}±" in line
    assert line.split("│")[-2].split()[-1] in {"above", "within", "below"}
    assert "Mean ranks on 9 data sets: EnsCLS 1.0000, SSFI 2.3333" in text
    assert "Our default: of 9 cells" in text


def test_paper_scores_are_those_of_the_wanted_form(small_enscls):
    whole = small_enscls.scores()
    for form, spec in (("printed", "cls:variant=paper"), ("default", "cls")):
        scores = paper_scores(TARGETS["enscls-table3"], small_enscls, form)
        assert scores.methods == ["CLS", "CSFS", "BS"]
        column = whole.values[:, :, whole.methods.index(spec)]
        np.testing.assert_array_equal(scores.values[:, :, 0], column)


def test_wins_are_counted_over_the_papers_methods(small_enscls):
    scores = paper_scores(TARGETS["enscls-table3"], small_enscls, "default")
    counted = wins(scores)
    expected = win_tie_loss(scores.values, 0.1)
    np.testing.assert_array_equal(counted.counts, expected)
    text = printed("enscls-table3", small_enscls)
    assert "8/1/0*" in text
    assert "5/4/0*" in text
    assert "5/2/2*" not in text
    assert "/".join(map(str, expected[0, 1])) in text


def test_mean_ranks_are_printed_for_both_forms(small_enscls):
    text = printed("enscls-fig2", small_enscls)
    assert text.count("Mean ranks on 3 data sets") == 2
    assert "Critical difference at 0.1: 1.8332" in text
    assert "EnsCLS = SSFI; SSFI = BS = CSFS; BS = CSFS = CLS" in text


def test_curves_are_printed_for_each_data_set(small_enscls):
    text = printed("enscls-fig1", small_enscls)
    at_ten = small_enscls.scores(size=10)
    j = at_ten.methods.index("csfs")
    for i, dataset in enumerate(small_enscls.datasets):
        part = text[text.index(f"{dataset}: accuracy") :]
        line = next(line for line in part.splitlines() if "csfs" in line)
        assert f"{at_ten.means[i, j]:.3f}" in line


def test_signed_ranks_are_printed(tmp_path):
    for seed, stem in enumerate(("colon", "madelon")):
        write_set(tmp_path, stem, (40, 20), seed=seed)
    results = run(prepare(quick("ssfi-table2", 3), tmp_path, "ssfi,forest,sselect", 2))
    text = printed("ssfi-table2", results)
    assert "SSFI against RF on 10 data sets: W+ = 51, W- = 4, p = 0.0137." in text
    assert "SSFI against RF on 2 data sets" in text


@pytest.mark.parametrize("name", few_daily(["enscls-table2", "enscls-table3", "enscls-fig2"], 2))
def test_figures_of_different_splits_are_not_tested(small_enscls, name):
    results = changed(small_enscls, lambda record: {"split": hash(record["method"])})
    text = printed(name, results)
    assert "There are no tests: data set 'Leukemia', run 0: methods were given different" in text
    assert "Friedman" not in text.partition("The paper says")[0]
    assert "Wins/ties/losses" not in text


# --- the command ----------------------------------------------------------------------------------


def call(*arguments, code=0):
    result = CliRunner().invoke(main, ["reproduce", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output


def test_the_help_lists_the_targets():
    text = call("--help")
    assert all(name in text for name in TARGETS)


def test_a_folder_without_the_data_sets(tmp_path):
    text = call("ssfi-table2", "--data", tmp_path, "--out", tmp_path / "out", code=1)
    assert "has none of the data sets of ssfi-table2" in text
    assert "leukemia_allaml" in text
    assert not (tmp_path / "out").exists()


def test_a_method_that_does_not_exist(tmp_path, fw_folder):
    options = ("--data", fw_folder, "--out", tmp_path / "out")
    text = call("fw-semifs-table2", *options, "--methods", "+slss", code=1)
    assert "there is no method 'slss'" in text


def test_methods_that_are_all_to_come(tmp_path, fw_folder):
    spec = "nothing-yet"
    target = TARGETS["fw-semifs-table2"]
    target = replace(target, others=(spec,))
    with pytest.raises(ValueError, match="none of the methods is there yet: nothing-yet"):
        prepare(target, fw_folder, spec)


def test_a_target_that_does_not_exist(tmp_path):
    text = call("table9", "--data", tmp_path, "--out", tmp_path / "out", code=2)
    assert "ssfi-table2" in text


@pytest.fixture
def needs_report():
    pytest.importorskip(
        "semisift.report.comparison", reason="the report of comparisons is not there"
    )


def test_a_table_of_the_enscls_paper_on_real_data(tmp_path, data_dir, needs_report):
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(data_dir / "leukemia_allaml.npz", folder)
    options = ("--data", folder, "--out", tmp_path / "out", "--runs", 2, "--methods", "bs,random")
    text = call("enscls-table2", *options)
    assert "No data: BaseHock (basehock), Lymphoma (lymphoma)" in text
    assert "Leukemia has 72 rows (the paper: 73)" in text
    results = Results.load(tmp_path / "out")
    assert [record["n_labelled"] for record in results.records] == [6] * 4
    assert results.protocol.n_runs == 2
    notes = results.about["notes"]
    assert notes["published"]["table"]["Leukemia"]["bs"] == 0.618
    assert notes["target"] == "enscls-table2"
    assert notes["command"].startswith("semisift reproduce enscls-table2 --data ")
    assert 0.5 < results.table()["bs"][0] < 1.0
    assert (tmp_path / "out" / "report.html").is_file()
    assert (tmp_path / "out" / "summary").is_dir()
    again = call("enscls-fig1", *options, "--resume")
    assert "Leukemia: accuracy with the best 1, 2, ... features" in again
    page = (tmp_path / "out" / "summary" / "enscls-fig1.md").read_text(encoding="utf-8")
    assert page.startswith("# Figure 1 of Hindawi")
    assert "1 data set, 2 runs each" in page
    assert "Leukemia: accuracy with the best 1, 2, ... features" in page
    assert Results.load(tmp_path / "out").same_numbers(results)


def test_quiet_prints_nothing(tmp_path, fw_folder, needs_report):
    options = ("--data", fw_folder, "--out", tmp_path / "out", "--runs", 1, "--methods", "random")
    assert call("fw-semifs-table2", *options, "--quiet") == ""
    assert (tmp_path / "out" / "report.html").is_file()


def test_cells_in_which_a_method_is_ahead():
    target = TARGETS["fw-semifs-table2"]
    specs = {column.name: column.nearest("printed", "nb") for column in target.columns}
    methods = [specs[name] for name in ("SFFS", "SLS", "SemiFS")]
    values = np.array([[[0.5, 0.6, 0.7]], [[0.5, 0.7, 0.7]]])
    results = made_up(
        values, methods=methods, protocol=Protocol(judges=("nb",), sizes=(10,), n_runs=1)
    )
    assert count_ahead(target, results, "printed") == (1, 2)
