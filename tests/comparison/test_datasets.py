import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from semisift.comparison._datasets import ComparisonData, find_datasets
from tests.comparisons import counts_data
from tests.nightly import few_daily


@pytest.mark.parametrize(
    ("parts", "message"),
    few_daily(
        [
            ((np.zeros(4), [0, 1, 0, 1]), "data set 'it': X must have two dimensions: got 1"),
            ((np.zeros((4, 2)), [0, 1]), "data set 'it': y must have one label for each row"),
            ((np.zeros((4, 2)), [1, 1, -1, 1]), "data set 'it': .*at least two classes, found 1"),
            (
                (np.array([["a"], ["b"]]), [0, 1]),
                "data set 'it': X must hold numbers: got the type",
            ),
            (([[1.0, np.nan], [2, 3]], [0, 1]), "X must be finite: 1 column.* is column 1"),
            ((csr_array([[1.0, np.inf], [2, 3]]), [0, 1]), "X must be finite: 1 column.* column 1"),
            ((np.ma.masked_less(np.eye(2), 1), [0, 1]), "data set 'it': X must not have masked"),
            ((np.zeros((2, 2)), [0, 1], [1]), r"groups must have one entry .* 2 rows.*\(1,\)"),
            (
                (np.zeros((2, 2)), [0, 1], ["a", None]),
                "groups must be known.*the first one of row 1",
            ),
            (
                (np.zeros((2, 2)), [0, 1], [np.nan, 1]),
                "groups must be known.*the first one of row 0",
            ),
            ((np.zeros((2, 2)),), r"data set 'it' must be \(X, y\) or \(X, y, groups\)"),
            ({"data": 1}, r"data set 'it' must be \(X, y\) or \(X, y, groups\)"),
        ],
        4,
    ),
)
def test_bad_data_set(parts, message):
    with pytest.raises(ValueError, match=message):
        find_datasets({"it": parts})


@pytest.mark.parametrize("datasets", few_daily([{}, [], None, "colon", [1]], 2))
def test_no_data_sets(datasets):
    with pytest.raises(ValueError, match="datasets must map names"):
        find_datasets(datasets)


def test_data_sets_with_one_name():
    data = counts_data()
    with pytest.raises(ValueError, match="different names: counts came twice"):
        find_datasets([data, data])


def test_labels_and_groups_of_any_kind():
    data = ComparisonData.build(
        "it", np.zeros((4, 1)), ["b", "a", None, "b"], ["p2", "p1", "p1", 7]
    )
    assert_array_equal(data.y, [1, 0, -1, 1])
    assert data.classes == ["a", "b"]
    assert_array_equal(data.groups, [2, 1, 1, 0])


def test_checksum_tells_data_apart():
    data = counts_data()
    same = ComparisonData.build("other name", data.X.copy(order="F"), data.y.copy())
    assert data.about["checksum"] == same.about["checksum"]
    X, y = data.X.copy(), data.y.copy()
    X[0, 0] += 1
    y[0] += 1
    others = [
        ComparisonData.build("counts", X, data.y),
        ComparisonData.build("counts", data.X, y),
        ComparisonData.build("counts", data.X, data.y, np.arange(90)),
        counts_data(sparse=True),
    ]
    assert len({found.about["checksum"] for found in [data, *others]}) == 5


def test_groups_are_told_apart_and_a_long_name_widens_no_other():
    groups = ["a", "a\0", "x" * 1_000_000, *["b"] * 1_000]
    X, y = np.zeros((len(groups), 2)), np.arange(len(groups)) % 2
    tracemalloc.start()
    codes = ComparisonData.build("it", X, y, groups).groups
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert codes[:4].tolist() == [0, 1, 3, 2]
    assert peak < 10_000_000
