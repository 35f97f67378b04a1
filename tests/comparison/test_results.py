import json

import numpy as np
import polars
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from semisift.comparison import _statistical_tests
from semisift.comparison._protocol import Protocol
from semisift.comparison._results import Results, Scores
from semisift.comparison._statistical_tests import win_tie_loss
from semisift.comparison._store import Store
from tests.comparisons import about_of, changed, record_of, results_of, without
from tests.nightly import few_daily

RNG = np.random.default_rng(0)
VALUES = RNG.uniform(0.4, 0.9, size=(6, 5, 3))

HOSTILE = [
    "dataset",
    "",
    " ",
    "a/b\\c:d",
    "<script>alert(1)</script>",
    "two\nlines",
    "half \ud800",
    "half \udfff",
    "..",
    "x" * 400,
    "méthode ☃",
]


# --- scores ---


def test_scores_are_means_over_sizes():
    scores = results_of(VALUES).scores()
    assert_allclose(scores.values, VALUES)
    assert scores.datasets == [f"set {i}" for i in range(6)]
    assert scores.methods == ["method 0", "method 1", "method 2"]


@pytest.mark.parametrize(("size", "shift"), [(1, -0.1), (2, 0.1)])
def test_scores_at_one_size(size, shift):
    assert_allclose(results_of(VALUES).scores(size=size).values, VALUES + shift)


def test_curves():
    curves = results_of(VALUES).curves()
    assert_allclose(curves, np.stack([VALUES - 0.1, VALUES + 0.1], axis=-1))


def test_scores_of_a_judge_and_a_metric():
    protocol = Protocol(n_runs=1, sizes=(1,), judges=("tree", "nb"), metrics=("auc", "accuracy"))
    curves = {
        "tree": {"auc": [0.1], "accuracy": [0.2]},
        "nb": {"auc": [0.3], "accuracy": [None]},
    }
    results = Results(about_of(["a"], ["m"], protocol), [record_of("a", "m", 0, [], curves=curves)])
    assert results.scores().values.item() == 0.1
    assert results.scores(metric="accuracy").values.item() == 0.2
    assert results.scores(judge="nb").values.item() == 0.3
    assert np.isnan(results.scores(judge="nb", metric="accuracy").values.item())


def test_sizes_without_a_value_are_left_out_of_the_mean():
    protocol = Protocol(n_runs=1, sizes=(1, 2, 3))
    record = record_of("a", "m", 0, [0.2, 0.4, None])
    results = Results(about_of(["a"], ["m"], protocol), [record])
    assert results.scores().values.item() == pytest.approx(0.3)
    assert np.isnan(results.scores(size=3).values.item())


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"judge": "svm"}, "judge must be one of tree: got 'svm'"),
        ({"metric": "auc"}, "metric must be one of accuracy: got 'auc'"),
        ({"level": 3}, r"level must be one of \[None\]: got 3"),
        ({"size": 7}, r"size must be one of \(1, 2\): got 7"),
    ],
)
def test_choice_that_is_not_there(choice, message):
    with pytest.raises(ValueError, match=message):
        results_of(VALUES).scores(**choice)


def test_levels_are_kept_apart():
    results = results_of(VALUES, levels=[1.0, 2.0])
    results = changed(
        results,
        lambda record: (
            {"curves": {"tree": {"accuracy": [0.0, 0.0]}}} if record["level"] == 2.0 else {}
        ),
    )
    assert_allclose(results.scores().values, VALUES)
    assert_allclose(results.scores(level=1).values, VALUES)
    assert_allclose(results.scores(level=2).values, 0)


def test_means_and_errors():
    scores = results_of(VALUES).scores()
    assert_allclose(scores.means, VALUES.mean(axis=1))
    assert_allclose(scores.errors, VALUES.std(axis=1, ddof=1) / np.sqrt(5))


def test_means_and_errors_of_some_runs():
    values = np.array([[[0.2, np.nan], [0.6, np.nan], [np.nan, 0.5]]])
    scores = Scores(["a"], ["m", "n"], values)
    assert_allclose(scores.means, [[0.4, 0.5]])
    assert_allclose(scores.errors, [[0.2, np.nan]])


def test_no_runs_at_all():
    scores = Scores(["a"], ["m"], np.full((1, 3, 1), np.nan))
    assert np.isnan(scores.means).all()
    assert np.isnan(scores.errors).all()


def test_complete_drops_empty_methods_then_data_sets_with_missing_values():
    values = np.ones((3, 2, 3))
    values[:, :, 1] = np.nan
    values[2, 0, 0] = np.nan
    complete = Scores(["a", "b", "c"], ["x", "y", "z"], values).complete()
    assert complete.datasets == ["a", "b"]
    assert complete.methods == ["x", "z"]
    assert_array_equal(complete.values, np.ones((2, 2, 2)))


# --- what is there and what is not ---


def test_nothing_is_missing():
    results = results_of(VALUES)
    assert (results.n_missing, results.failures, results.too_slow) == (0, [], {})


def test_missing_records():
    results = without(results_of(VALUES), lambda record: record["run"] > 2)
    assert results.n_missing == 6 * 2 * 3
    assert np.isnan(results.scores().values[:, 3:]).all()
    assert_allclose(results.scores().values[:, :3], VALUES[:, :3])


def test_no_records_at_all():
    results = without(results_of(VALUES), lambda record: True)
    assert results.records == []
    assert results.n_missing == VALUES.size
    assert np.isnan(results.scores().means).all()
    assert np.isnan(results.stability()).all()
    assert np.isnan(results.similarity()).all()
    assert np.isnan(results.measured("seconds").values).all()
    assert results.to_polars().is_empty()
    assert results.table().shape == (6, 4)


def test_failures():
    def fail(record):
        if (record["dataset"], record["method"]) != ("set 2", "method 1"):
            return {}
        return {"status": "failed", "error": "ValueError: no", "curves": {}, "top": []}

    results = changed(results_of(VALUES), fail)
    assert len(results.failures) == 5
    assert results.n_missing == 0
    assert np.isnan(results.scores().values[2, :, 1]).all()
    assert results.scores().complete().datasets == ["set 0", "set 1", "set 3", "set 4", "set 5"]
    assert np.isnan(results.stability()[2, 1])


def test_slow_methods_have_no_figures_where_they_were_slow():
    def slow(record):
        is_slow = (record["dataset"], record["method"], record["run"]) == ("set 1", "method 2", 0)
        return {"measured": {**record["measured"], "seconds": 99.0 if is_slow else 0.5}}

    def never_run(record):
        return record["dataset"] == "set 1" and record["method"] == "method 2" and record["run"] > 0

    results = without(changed(results_of(VALUES, max_seconds=10), slow), never_run)
    assert results.too_slow == {("set 1", "method 2"): 99.0}
    assert results.n_missing == 0
    assert np.isnan(results.scores().values[1, :, 2]).all()
    assert np.isfinite(results.scores().values).sum() == VALUES.size - 5


def test_without_a_limit_nothing_is_too_slow():
    assert results_of(VALUES, max_seconds=None).too_slow == {}


def test_records_of_other_methods_and_runs_do_not_count():
    results = results_of(VALUES)
    others = [record_of("set 0", "stranger", 0, [1, 1]), record_of("set 0", "method 0", 99, [1, 1])]
    assert Results(results.about, results.records + others).records == results.records


def test_same_numbers_whatever_they_took():
    results = results_of(VALUES)
    slower = changed(results, lambda record: {"measured": {"seconds": 1e9}})
    other = changed(results, lambda record: {"top": [1]})
    fewer = without(results, lambda record: record["run"] == 0)
    assert results.same_numbers(slower)
    assert not results.same_numbers(other)
    assert not results.same_numbers(fewer)


@pytest.mark.parametrize(("name", "expected"), [("seconds", 0.5), ("judge_seconds", 0.25)])
def test_measured(name, expected):
    assert_array_equal(results_of(VALUES).measured(name).values, np.full(VALUES.shape, expected))


def test_measured_where_the_system_does_not_tell():
    results = changed(
        results_of(VALUES), lambda record: {"measured": {**record["measured"], "peak_mb": None}}
    )
    assert np.isnan(results.measured("peak_mb").values).all()


def test_measured_what():
    with pytest.raises(ValueError, match="name must be one of seconds, judge_seconds, peak_mb"):
        results_of(VALUES).measured("minutes")


# --- tables ---


def test_long_table():
    frame = results_of(VALUES, levels=[1.0, 2.0]).to_polars()
    assert dict(frame.schema) == {
        "dataset": polars.String,
        "method": polars.String,
        "level": polars.Float64,
        "run": polars.Int64,
        "judge": polars.String,
        "metric": polars.String,
        "size": polars.Int64,
        "value": polars.Float64,
        "seconds": polars.Float64,
        "peak_mb": polars.Float64,
    }
    assert len(frame) == VALUES.size * 2 * 2
    cell = frame.filter(dataset="set 4", method="method 2", level=2.0, run=3, size=2)
    assert cell["value"].item() == pytest.approx(VALUES[4, 3, 2] + 0.1)


def test_long_table_without_values():
    protocol = Protocol(n_runs=1, sizes=(1, 2))
    record = record_of("a", "m", 0, [0.5, None], measured={"seconds": 1, "peak_mb": None})
    frame = Results(about_of(["a"], ["m"], protocol), [record]).to_polars()
    assert frame["value"].to_list() == [0.5, None]
    assert frame["seconds"].to_list() == [1.0, 1.0]
    assert frame["peak_mb"].dtype == polars.Float64


def test_table_of_means():
    table = results_of(VALUES).table()
    assert table.columns == ["dataset", "method 0", "method 1", "method 2"]
    assert_allclose(table.drop("dataset").to_numpy(), VALUES.mean(axis=1))


def test_table_where_figures_are_missing():
    results = without(results_of(VALUES), lambda record: record["dataset"] == "set 0")
    assert results.table().row(0) == ("set 0", None, None, None)


def test_hostile_names(tmp_path):
    values = RNG.uniform(size=(len(HOSTILE), 2, len(HOSTILE)))
    results = results_of(values, datasets=HOSTILE, methods=HOSTILE)
    store = Store(tmp_path / "runs")
    store.begin(results.about)
    for record in results.records:
        store.write(record)
    loaded = Results.load(store.folder)
    assert loaded.same_numbers(results)
    assert_allclose(loaded.scores().values, values)
    table = loaded.table()
    assert table.shape == (len(HOSTILE), len(HOSTILE) + 1)
    assert_allclose(table.drop("dataset_").to_numpy(), values.mean(axis=1))
    assert loaded.to_polars()["method"].n_unique() == len(HOSTILE)
    assert loaded.mean_ranks().keys() == set(HOSTILE)


# --- statistics ---


def test_mean_ranks():
    ranks = results_of(VALUES).mean_ranks()
    expected = _statistical_tests.ranks(VALUES.mean(axis=1)).mean(axis=0)
    assert ranks == dict(zip(["method 0", "method 1", "method 2"], expected, strict=True))


def test_friedman_and_nemenyi():
    results, means = results_of(VALUES), VALUES.mean(axis=1)
    assert results.friedman().chi2 == pytest.approx(_statistical_tests.friedman(means).chi2)
    found = results.nemenyi(alpha=0.1)
    assert found.critical_difference == _statistical_tests.nemenyi(means, 0.1).critical_difference


def test_statistics_at_one_size_and_level():
    results = results_of(VALUES, levels=[1.0, 2.0])
    assert results.mean_ranks(size=2, level=2.0) == results.mean_ranks()


def test_wilcoxon_of_two_methods():
    found = results_of(VALUES).wilcoxon("method 2", "method 0")
    means = VALUES.mean(axis=1)
    assert found == _statistical_tests.wilcoxon(means[:, 2], means[:, 0])


def test_wilcoxon_needs_no_third_method():
    results = without(results_of(VALUES), lambda record: record["method"] == "method 1")
    assert results.wilcoxon("method 2", "method 0").n == 6


def test_wilcoxon_over_data_sets_that_both_have():
    results = without(
        results_of(VALUES),
        lambda record: record["dataset"] == "set 3" and record["method"] == "method 0",
    )
    assert results.wilcoxon("method 2", "method 0").n == 5
    assert results.wilcoxon("method 2", "method 1").n == 6


def test_wilcoxon_of_a_method_that_is_not_there():
    with pytest.raises(ValueError, match=r"method must be one of method 0, .*: got 'nope'"):
        results_of(VALUES).wilcoxon("nope", "method 0")


def test_wilcoxon_of_a_method_without_figures():
    results = without(results_of(VALUES), lambda record: record["method"] == "method 0")
    with pytest.raises(ValueError, match="method 'method 0' has no figures"):
        results.wilcoxon("method 0", "method 1")


@pytest.mark.parametrize(
    "name", few_daily(["mean_ranks", "friedman", "nemenyi", "win_tie_loss"], 2)
)
def test_statistics_say_what_is_lacking(name):
    results = without(results_of(VALUES), lambda record: record["run"] == 0)
    with pytest.raises(ValueError, match="all 5 runs: 18 records are missing, 0 failed"):
        getattr(results, name)()


def test_win_tie_loss_as_the_papers_do():
    results = results_of(VALUES)
    expected = win_tie_loss(results.scores().values, 0.1)
    assert_array_equal(results.win_tie_loss(corrected=False), expected)
    assert_array_equal(expected.sum(axis=2), np.full((3, 3), 6))


def test_win_tie_loss_is_corrected_by_the_rows_of_each_data_set():
    """A difference that counts with few test rows does not with many."""
    values = 0.5 + 0.01 * np.random.default_rng(1).normal(size=(1, 10, 2)) + [0.02, 0.0]
    values = np.repeat(values, 2, axis=0)
    results = changed(
        results_of(values),
        lambda record: {"n_test": 2 if record["dataset"] == "set 0" else 4000},
    )
    assert results.test_share("set 0") == pytest.approx(0.05)
    assert results.test_share("set 1") == 100
    assert_array_equal(results.win_tie_loss()[0, 1], [1, 1, 0])
    assert_array_equal(results.win_tie_loss(corrected=False)[0, 1], [2, 0, 0])


def test_figures_of_different_splits_are_no_pairs():
    results = changed(
        results_of(VALUES),
        lambda record: (
            {"split": 5} if record["run"] == 3 and record["method"] == "method 1" else {}
        ),
    )
    with pytest.raises(ValueError, match=r"data set 'set 0', run 3: .*different splits"):
        results.mean_ranks()


def test_results_are_what_json_holds():
    results = results_of(VALUES)
    about = json.loads(json.dumps(results.about))
    records = json.loads(json.dumps(results.records))
    assert Results(about, records).same_numbers(results)
