"""What NNge learns: by hand, against the reference, and what holds for all boxes."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import mutual_info_score

from semisift import NNge
from tests.conftest import in_numpy, needs_kernels
from tests.reference.nnge import NNgeReference


def boxes_of(model):
    """Return class, number of rows, and sides or values in each column of each box."""
    n_columns = range(model.n_features_in_)
    return [
        (
            label,
            int(n_rows),
            [values[j].tolist() if j in values else (lower[j], upper[j]) for j in n_columns],
        )
        for label, n_rows, lower, upper, values in zip(
            model.exemplar_classes_.tolist(),
            model.counts_,
            model.lower_.tolist(),
            model.upper_.tolist(),
            model.values_,
            strict=True,
        )
    ]


def reference_boxes(reference):
    def side(exemplar, j):
        values = exemplar.values(j)
        return sorted(set(values)) if j in reference.nominal else (min(values), max(values))

    return [
        (exemplar.label, len(exemplar.rows), [side(exemplar, j) for j in reference.columns])
        for exemplar in reference.exemplars
    ]


def overlap(one, other):
    return all(
        bool(set(a) & set(b)) if isinstance(a, list) else a[0] <= b[1] and b[0] <= a[1]
        for a, b in zip(one[2], other[2], strict=True)
    )


def fit_then(rows, last, **params):
    """Fit rows of class a, which make one box, and then a row of class b."""
    return NNge(**params).fit(np.array([*rows, last], dtype=float), ["a"] * len(rows) + ["b"])


# Worked by hand


def test_five_rows_by_hand(path):
    # 0 and 4 and 6 make the box [0, 6]; 5, of the other class, splits it, cannot be joined to 10
    # because [5, 10] holds 6, and stays alone
    model = NNge().fit([[0.0], [10.0], [4.0], [6.0], [5.0]], list("abaab"))
    assert boxes_of(model) == [
        ("b", 1, [(5.0, 5.0)]),
        ("b", 1, [(10.0, 10.0)]),
        ("a", 2, [(0.0, 4.0)]),
        ("a", 1, [(6.0, 6.0)]),
    ]
    # intervals hold a, -, ab, a, b: H(2/5) less 2/5 of a bit
    assert model.weights_[0] == pytest.approx(0.9709505944546686 - 0.4)
    assert model.predict([[5.4], [5.6], [-3.0], [8.1], [11.0]]).tolist() == list("baabb")
    assert_array_equal(model.predict_proba([[5.4], [5.6]]), [[0, 1], [1, 0]])


def test_weights_of_the_small_table(path):
    X, y = [[0, 0], [1, 3], [4, 0], [5, 3]], list("AABB")
    assert NNge(half_open=False).fit(X, y).weights_.tolist() == [1.5, 0.0]
    assert NNge().fit(X, y).weights_.tolist() == [1.0, 0.0]


def test_the_cut_is_where_the_box_ends_soonest(path):
    # column 1 ends .1 of its range from the row, column 0 .45; (5, 1) lies on the cut: a box with
    # (10, 10) would hold the row, one with (0, 0) does not
    model = fit_then([(0, 0), (10, 10), (5, 1)], (5.5, 1))
    assert boxes_of(model) == [
        ("b", 1, [(5.5, 5.5), (1.0, 1.0)]),
        ("a", 2, [(0.0, 5.0), (0.0, 1.0)]),
        ("a", 1, [(10.0, 10.0), (10.0, 10.0)]),
    ]


def test_of_equal_cuts_the_one_with_the_larger_part_is_taken(path):
    # both columns end .5 of their ranges away; three rows lie below in column 1, two in column 0
    model = fit_then([(0, 4), (4, 0), (1, 1), (3, 1)], (2, 2))
    assert [box[1:] for box in boxes_of(model)] == [
        (1, [(2.0, 2.0), (2.0, 2.0)]),
        (3, [(1.0, 4.0), (0.0, 1.0)]),
        (1, [(0.0, 0.0), (4.0, 4.0)]),
    ]


def test_equal_rows_that_fit_nowhere_make_one_box(path):
    # (5, 9) lies on the cut of column 0; with the rows above or below, the row would be held
    rows = [(6, 1), (6, 10), (0, 1), (0, 10), (5, 9), (5, 9)]
    assert boxes_of(fit_then(rows, (5, 5)))[1:] == [
        ("a", 2, [(0.0, 0.0), (1.0, 10.0)]),
        ("a", 2, [(6.0, 6.0), (1.0, 10.0)]),
        ("a", 2, [(5.0, 5.0), (9.0, 9.0)]),
    ]


def test_parts_of_a_split_do_not_overlap(path):
    # (0, -1, 3) would not make the part below hold the row, but it would overlap the part above
    rows = [(1, 1, -5), (1, 2, 5), (0, 1, 0), (0, -1, 3), (-0.1, 1.5, 4)]
    assert boxes_of(fit_then(rows, (0, 0, 0)))[1:] == [
        ("a", 1, [(-0.1, -0.1), (1.5, 1.5), (4.0, 4.0)]),
        ("a", 3, [(0.0, 1.0), (1.0, 2.0), (-5.0, 5.0)]),
        ("a", 1, [(0.0, 0.0), (-1.0, -1.0), (3.0, 3.0)]),
    ]
    # the same with a nominal column
    rows = [(1, 1, -5), (1, 2, 5), (0, 1, 0), (0, 0, 3), (-0.1, 2, 4), *[(-0.1, 0, 4)] * 3]
    assert boxes_of(fit_then(rows, (0, 0, 0), categorical=[1]))[1:] == [
        ("a", 4, [(-0.1, -0.1), [0.0, 2.0], (4.0, 4.0)]),
        ("a", 3, [(0.0, 1.0), [1.0, 2.0], (-5.0, 5.0)]),
        ("a", 1, [(0.0, 0.0), [0.0], (3.0, 3.0)]),
    ]


def test_nominal_cut_only_where_it_keeps_more_rows(path):
    rows = [(0, 0), (1, 5), (1, 10), (2, 5)]
    # the values 1 and 2 keep three rows, the numeric column one
    assert boxes_of(fit_then(rows, (0, 5), categorical=[0])) == [
        ("b", 1, [[0.0], (5.0, 5.0)]),
        ("a", 1, [[0.0], (0.0, 0.0)]),
        ("a", 3, [[1.0, 2.0], (5.0, 10.0)]),
    ]
    # one row each: the numeric column is cut
    assert boxes_of(fit_then([(0, 0), (1, 10)], (0, 5), categorical=[0]))[1:] == [
        ("a", 1, [[0.0], (0.0, 0.0)]),
        ("a", 1, [[1.0], (10.0, 10.0)]),
    ]


def test_of_equal_rows_with_different_classes_the_last_is_kept(path):
    X = [[1.0, 2.0]] * 4
    model = NNge().fit(X, list("abab"))
    assert boxes_of(model) == [("b", 1, [(1.0, 1.0), (2.0, 2.0)])]
    assert model.predict([[1.0, 2.0], [9.0, 9.0]]).tolist() == ["b", "b"]


def test_ties_go_to_the_box_touched_last(path):
    # columns of no weight: all distances are 0
    model = NNge().fit([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], list("aabb"))
    assert model.weights_.tolist() == [0.0, 0.0]
    assert model.exemplar_classes_.tolist() == list("bbaa")
    assert model.predict([[0.0, 0.0], [1.0, 1.0]]).tolist() == ["b", "b"]


def test_attempts(path):
    # 5 is nearest to 7, but [5, 7] would hold 6; the next try, [1, 5], is free
    X, y = [[1.0], [6.0], [7.0], [5.0]], list("abaa")
    assert boxes_of(NNge(n_attempts=2).fit(X, y)) == [
        ("a", 2, [(1.0, 5.0)]),
        ("a", 1, [(7.0, 7.0)]),
        ("b", 1, [(6.0, 6.0)]),
    ]
    assert boxes_of(NNge(n_attempts=1).fit(X, y)) == [
        ("a", 1, [(5.0, 5.0)]),
        ("a", 1, [(7.0, 7.0)]),
        ("a", 1, [(1.0, 1.0)]),
        ("b", 1, [(6.0, 6.0)]),
    ]


# Properties


KINDS = ["normal", "coarse", "nominal", "mixed", "sorted"]


def random_problem(kind, seed):
    """Return rows, codes, nominal columns and parameters."""
    rng = np.random.default_rng(seed)
    n, p, n_classes = rng.integers([1, 1, 1], [45, 6, 4])
    y = np.unique(rng.integers(0, n_classes, n), return_inverse=True)[1]
    X = rng.normal(size=(n, p)) + y[:, None] * rng.uniform(0, 2, p)
    nominal = []
    if kind != "normal":
        X = np.round(X * rng.choice([0.5, 1.0, 2.0]))  # ties and equal rows
        X[:, rng.random(p) < 0.1] = 3.0
    if kind == "nominal":
        nominal = list(range(p))
    if kind in ("mixed", "sorted"):
        nominal = np.flatnonzero(rng.random(p) < 0.3).tolist()
    if kind == "sorted":  # large boxes that are split over and over
        y.sort()
        X = rng.integers(0, 3, size=(n, p)).astype(float)
    params = {
        "n_attempts": int(rng.integers(1, 6)),
        "n_intervals": int(rng.integers(2, 7)),
        "half_open": bool(rng.integers(2)),
    }
    return X, y, nominal, params


@pytest.mark.parametrize(
    "seeds", [range(20), pytest.param(range(20, 50), marks=pytest.mark.nightly)], ids=str
)
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_reference(path, kind, seeds):
    for seed in seeds:
        X, y, nominal, params = random_problem(kind, seed)
        reference = NNgeReference(nominal, **params).learn(X.tolist(), y.tolist())
        model = NNge(categorical=nominal, **params).fit(X, y)
        assert boxes_of(model) == reference_boxes(reference)
        assert model.weights_.tolist() == reference.weights
        rng = np.random.default_rng(seed)
        queries = np.vstack([X, np.round(rng.normal(scale=3, size=(30, X.shape[1])) * 4) / 4])
        expected = [reference.predict(row) for row in queries.tolist()]
        assert model.predict(queries).tolist() == expected


@needs_kernels
@pytest.mark.parametrize("categorical", [None, [1, 3]])
def test_kernel_equals_numpy_on_more_rows(categorical):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 5)) + y[:, None]
    X[:, 1] = rng.integers(0, 200, 400)  # values for more than one word of bits
    X[:, 3] = np.round(X[:, 3])
    model = NNge(categorical=categorical).fit(X, y)
    expected = model.predict(X[::-1] * 1.1)
    with in_numpy():
        assert boxes_of(clone(model).fit(X, y)) == boxes_of(model)
        assert_array_equal(model.predict(X[::-1] * 1.1), expected)


def positive_after_the_second_class(history, y):
    start = np.argmax(y != y[0])
    return y[start] != y[0] and all(weight > 0 for weights in history[start:] for weight in weights)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=() if kind == "mixed" else pytest.mark.nightly) for kind in KINDS],
)
def test_boxes_do_not_overlap_where_all_columns_weigh(kind):
    n_checked = 0
    for seed in range(150):
        X, y, nominal, params = random_problem(kind, seed)
        reference = NNgeReference(nominal, **params).learn(X.tolist(), y.tolist())
        if not positive_after_the_second_class(reference.history, y):
            continue
        model = NNge(categorical=nominal, **params).fit(X, y)
        boxes = boxes_of(model)
        n_checked += len(boxes) > 3
        assert not any(overlap(one, other) for one, other in combinations(boxes, 2))
        # so each row lies in one box, of its own class unless a later row equals it
        last_label = {tuple(row): label for row, label in zip(X.tolist(), y, strict=True)}
        assert model.predict(X).tolist() == [last_label[tuple(row)] for row in X.tolist()]
    assert n_checked > 10


def test_inside_one_box(path):
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    model = NNge().fit(X[order], y[order])
    assert (model.weights_ > 0).all()
    rng = np.random.default_rng(1)
    for i, (lower, upper) in enumerate(zip(model.lower_, model.upper_, strict=True)):
        inside = lower + rng.random((20, X.shape[1])) * (upper - lower)
        alone = [
            ((model.lower_ <= row) & (row <= model.upper_)).all(axis=1).sum() == 1 for row in inside
        ]
        assert all(alone)
        assert (model.predict(inside) == model.exemplar_classes_[i]).all()


def test_a_single_class(path):
    X, _, _, _ = random_problem("normal", 3)
    model = NNge().fit(X, ["only"] * len(X))
    assert boxes_of(model) == [
        ("only", len(X), list(zip(X.min(axis=0), X.max(axis=0), strict=True)))
    ]
    assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))


def test_same_rows_same_boxes():
    for kind in KINDS:
        X, y, nominal, params = random_problem(kind, 5)
        model = NNge(categorical=nominal, **params).fit(X, y)
        assert boxes_of(model) == boxes_of(clone(model).fit(X.copy(), y))
        assert boxes_of(model) == boxes_of(pickle.loads(pickle.dumps(model)))
        assert boxes_of(model.fit(X, y)) == boxes_of(model)


def test_weights_are_mutual_information(path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 50)
    X = rng.normal(size=(50, 3)) + y[:, None]
    X[:, 2] = np.round(X[:, 2])
    model = NNge(n_intervals=4, categorical=[2]).fit(X, y)
    low, high = X[:, :2].min(axis=0), X[:, :2].max(axis=0)
    binned = np.minimum((X[:, :2] - low) / (high - low) * 4, 3).astype(int)
    columns = [*binned.T, X[:, 2]]
    assert_allclose(
        model.weights_, [mutual_info_score(y, column) / np.log(2) for column in columns]
    )
