"""How alike the features are that runs, levels and methods rank best."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.comparisons import changed, results_of, without
from tests.nightly import few_daily

VALUES = np.random.default_rng(0).uniform(0.4, 0.9, size=(6, 5, 3))


def with_tops(results, top):
    return changed(results, lambda record: {"top": top(record)})


def test_tops():
    results = with_tops(results_of(VALUES), lambda record: [record["run"], *range(10, 60)])
    tops = results.tops("set 0", "method 0", 3)
    assert {run: top.tolist() for run, top in tops.items()} == {
        run: [run, 10, 11] for run in range(5)
    }
    assert len(results.tops("set 0", "method 0")[0]) == 2


def test_tops_of_failed_runs_are_left_out():
    results = changed(
        results_of(VALUES),
        lambda record: {"status": "failed", "curves": {}} if record["run"] == 1 else {},
    )
    assert list(results.tops("set 0", "method 0")) == [0, 2, 3, 4]


@pytest.mark.parametrize(
    ("where", "message"),
    few_daily(
        [
            (("nope", "method 0"), "dataset must be one of set 0"),
            (("set 0", "nope"), "method must be one of method 0"),
            (("set 0", "method 0", 51), "size must be from 1 to 50, which records keep: got 51"),
            (("set 0", "method 0", 0), "size must be from 1 to 50"),
            (("set 0", "method 0", 2, 1.0), "level must be one of"),
        ],
        3,
    ),
)
def test_tops_that_are_not_kept(where, message):
    with pytest.raises(ValueError, match=message):
        results_of(VALUES).tops(*where)


def test_stability():
    same = results_of(VALUES)
    assert_allclose(same.stability(), np.ones((6, 3)))
    others = with_tops(same, lambda record: list(range(record["run"] * 10, record["run"] * 10 + 9)))
    assert_allclose(others.stability(size=5), np.full((6, 3), -5 / 95))


def test_stability_of_one_run():
    assert np.isnan(results_of(VALUES[:, :1]).stability()).all()


def test_stability_of_all_features():
    results = results_of(VALUES)
    for about in results.about["datasets"].values():
        about["n_features"] = 2
    results = with_tops(results, lambda record: [1, 0])
    assert np.isnan(results.stability()).all()


def test_agreement_with_the_first_level():
    results = with_tops(
        results_of(VALUES, levels=[1.0, 2.0]),
        lambda record: [0, 1, 2, 3] if record["level"] == 1.0 else [0, 1, 7, 8],
    )
    assert_allclose(results.agreement(1.0, size=4), np.ones((6, 3)))
    assert_allclose(results.agreement(2.0, size=4), np.full((6, 3), (2 - 0.16) / (4 - 0.16)))


def test_agreement_over_runs_that_both_levels_have():
    results = without(
        results_of(VALUES, levels=[1.0, 2.0]),
        lambda record: (
            record["level"] == 2.0 and (record["run"] > 1 or record["dataset"] == "set 0")
        ),
    )
    agreement = results.agreement(2.0)
    assert np.isnan(agreement[0]).all()
    assert_allclose(agreement[1:], 1)


def test_similarity():
    tops = {"method 0": [0, 1], "method 1": [1, 0], "method 2": [8, 9]}
    results = with_tops(results_of(VALUES), lambda record: tops[record["method"]])
    assert_allclose(results.similarity(), [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])


def test_similarity_over_what_both_methods_have():
    results = without(
        results_of(VALUES),
        lambda record: record["method"] == "method 1" and record["dataset"] != "set 5",
    )
    assert_allclose(results.similarity(), np.ones((3, 3)))
