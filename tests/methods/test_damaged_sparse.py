"""Sparse matrices whose arrays do not fit together are refused before scipy goes by them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from semisift import CoTraining, LabelledOnly, LaplacianScore, TriTraining, VarianceScore
from semisift.utils._columns import check_structure
from tests.conftest import make_data

DATA = make_data(n_rows=20, n_features=5)


def damaged(form, part, place, value):
    """Return a matrix with one number of its structure changed; None cuts the array there."""
    X = getattr(sparse, form)(DATA.X)
    if part == "coords":
        column = X.coords[1].copy()
        column[place] = value
        X.coords = (X.coords[0], column)
    elif part == "rows":
        X.rows[place][0] = value
    else:
        numbers = getattr(X, part).copy()
        if value is None:
            numbers = numbers[:place]
        else:
            numbers[place] = value
        setattr(X, part, numbers)
    return X


CASES = {
    "column too high": (("csr_array", "indices", 3, 5), "indices must be < 5"),
    "column far too high": (("csr_matrix", "indices", 3, 10**9), "indices must be < 5"),
    "negative column": (("csr_array", "indices", 3, -1), "indices must be >= 0"),
    "row too high": (("csc_array", "indices", 3, 20), "indices must be < 20"),
    "order": (("csr_array", "indptr", 3, 90), "indptr must not fall"),
    "start": (("csc_matrix", "indptr", 0, 1), "should start with 0"),
    "end": (("csr_array", "indptr", -1, 10**8), "should be less than the size of index"),
    "falls to 0": (("csr_array", "indptr", slice(3, None), 0), "indptr must not fall"),
    "negative": (("csc_array", "indptr", 2, -7), "indptr must not fall"),
    "length": (("csr_array", "indptr", 7, None), "size 7 should be 21"),
    "too few places": (("csr_array", "indices", 7, None), "should have the same size"),
    "coordinates": (("coo_array", "coords", 3, 10**6), "index 1000000 exceeds"),
    "blocks": (("bsr_array", "indices", 0, 77), "must be < 5"),
    "lists": (("lil_array", "rows", 2, 10**6), "indices must be < 5"),
}
FITTED = VarianceScore().fit(DATA.X)
LEARNT = TriTraining().fit(DATA.X, DATA.y)
ONLY = LabelledOnly(KNeighborsClassifier(3)).fit(DATA.X, DATA.y)

DOORS = {
    "fit of a ranker": lambda X: VarianceScore().fit(X),
    "fit_transform": lambda X: VarianceScore().fit_transform(X),
    "transform": FITTED.transform,
    "inverse_transform": FITTED.inverse_transform,
    "report": lambda X: FITTED.report("never.html", X),
    "fit of a learner": lambda X: CoTraining().fit(X, DATA.y),
    "predict": LEARNT.predict,
    "predict_proba": LEARNT.predict_proba,
    "score": lambda X: LEARNT.score(X, DATA.y),
    "evaluate_committee": lambda X: LEARNT.evaluate_committee(X, DATA.y),
    "fit of LabelledOnly": lambda X: LabelledOnly(KNeighborsClassifier(3)).fit(X, DATA.y),
    "predict of LabelledOnly": ONLY.predict,
    "score of LabelledOnly": lambda X: ONLY.score(X, DATA.y),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_named(case):
    how, message = CASES[case]
    with pytest.raises(ValueError, match=f"X is a damaged sparse matrix: .*{message}"):
        check_structure(damaged(*how))


@pytest.mark.parametrize("door", DOORS)
def test_no_door_lets_it_in(door):
    for case in ("column far too high", "order", "length", "coordinates"):
        with pytest.raises(ValueError, match="X is a damaged sparse matrix"):
            DOORS[door](damaged(*CASES[case][0]))


def test_graphs_are_checked():
    graph = sparse.csr_array(np.ones((20, 20)))
    graph.indices[3] = 10**8
    with pytest.raises(ValueError, match=r"graph is a damaged sparse matrix: indices must"):
        LaplacianScore(graph=graph).fit(DATA.X)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "bsr", "dia", "dok"])
def test_whole_matrices_pass_unchanged(form):
    X = sparse.csr_array(np.round(DATA.X)).asformat(form)
    check_structure(X)
    check_structure(X[:0].asformat(form) if form in ("csr", "csc", "lil") else X)
    assert np.array_equal(X.toarray(), np.round(DATA.X))


def test_room_behind_the_last_value_is_allowed():
    X = sparse.csr_array(DATA.X)
    X.data, X.indices = np.append(X.data, 0.0), np.append(X.indices, 99)
    check_structure(X)
