"""Labels of one class alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from semisift import SSFI, Consensus, FisherScore, TransductiveClassifier, TransductiveScore
from semisift.base._training_data import TrainingData
from semisift.transduction._components import components
from semisift.transduction._positive_unlabelled import find_rest, rest_by, with_rest
from semisift.transduction._soft_labels import dimensions_of
from semisift.utils._labels import parse_labels


def study(n=200, share=0.5, seed=0, p=12):
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) < share * n).astype(int)
    X = rng.normal(size=(n, p))
    X[:, :4] += 3 * truth[:, None]
    y = np.where((truth == 1) & (np.arange(n) % 5 == 0), 1, -1)
    return X, y, truth


def slow_scores(T, labelled):
    """The scores in loops: of the others, and of each labelled row without its own help."""
    n, d = T.shape
    others = [i for i in range(n) if i not in set(labelled.tolist())]
    S = T.T @ T / n
    S = 0.5 * S + 0.5 * np.diag(np.diag(S)) + 1e-6 * np.diag(S).mean() * np.eye(d)
    mean = T[others].mean(axis=0)

    def along(rows):
        w = np.linalg.solve(S, T[rows].mean(axis=0) - mean)
        values = np.array([T[i] @ w for i in range(n)])
        return (values - values[others].mean()) / values[others].std()

    left = [along([i for i in labelled if i != j])[j] for j in labelled]
    return along(labelled)[others], np.array(left)


def test_the_rest_equals_the_loops():
    X, y, _ = study(60)
    data = TrainingData.build(X, y)
    T = components(data)
    parts = [T[:, :d] for d in dimensions_of(T)]
    rows, share = rest_by(parts, data.labels.labelled, None)
    slow = [slow_scores(part, data.labels.labelled) for part in parts]
    of_others = np.mean([each[0] for each in slow], axis=0)
    of_labelled = np.mean([each[1] for each in slow], axis=0)
    assert_allclose(share, 2 * np.mean(of_others > np.median(of_labelled)))
    others = np.flatnonzero(y < 0)
    low = others[np.argsort(of_others)[: int((1 - share) / 2 * len(others))]]
    n_taken = min(len(low), 3 * np.sum(y == 1))
    steps = np.linspace(0, len(low) - 1, n_taken).astype(int)
    assert rows.tolist() == np.sort(low[steps]).tolist()


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_rest_and_share_are_near_the_truth(share):
    X, y, truth = study(600, share)
    data, found = find_rest(TrainingData.build(X, y))
    assert abs(found - np.mean(truth[y < 0])) < 0.2
    rest = data.labels.codes == data.labels.rest
    assert np.mean(truth[rest] == 0) > 0.95


@pytest.mark.parametrize(
    ("given", "classes", "codes"),
    [
        (["case", None], ["case", "other"], [0, -1]),
        (["other", None], ["other", "rest"], [0, -1]),
        (["sick", None], ["other", "sick"], [1, -1]),
        ([0, -1], [0, 1], [0, -1]),
        ([7, -1], [0, 7], [1, -1]),
        ([True, None], [False, True], [1, -1]),
        ([b"case", None], [b"case", b"other"], [0, -1]),
    ],
)
def test_what_the_rest_is_called(given, classes, codes):
    labels = with_rest(parse_labels(given, 2))
    assert labels.classes.tolist() == classes
    assert labels.codes.tolist() == codes
    assert labels.rest == 1 - codes[0]


@pytest.mark.parametrize(
    ("cls", "given"),
    [
        *((TransductiveScore, given) for given in ({1: 0.3}, [0.3], {0: 0.7, 1: 0.3}, [0.7, 0.3])),
        (TransductiveClassifier, {1: 0.3}),
        (SSFI, [0.7, 0.3]),
    ],
)
def test_a_share_may_be_given(cls, given):
    X, y, _ = study()
    assert_allclose(cls(class_prior=given).fit(X, y).positive_share_, 0.3)


@pytest.mark.parametrize("given", [{1: 1.5}, [0.0], {1: "many"}])
def test_a_share_must_be_one(given):
    X, y, _ = study()
    with pytest.raises(ValueError, match=r"class_prior must be between 0 and 1, .* class 1 among"):
        TransductiveScore(class_prior=given).fit(X, y)


def test_one_labelled_row():
    X, y, _ = study()
    y[np.flatnonzero(y == 1)[1:]] = -1
    ranker = TransductiveScore().fit(X, y)
    assert ranker.positive_share_ == 0.5


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("cls", [TransductiveScore, SSFI])
def test_all_rows_are_labelled_where_a_sample_stands_for_them(cls, form):
    X, y, truth = study(600)
    ranker = cls(max_unlabelled=150, random_state=0).fit(form(X), y)
    assert len(ranker.transduction_) == 600
    assert np.mean(ranker.transduction_ == truth) > 0.85
    assert (ranker.transduction_[y == 1] == 1).all()


# the rest of rows drawn at random is far from them too, so that the F-score is judged strictly
@pytest.mark.parametrize(
    ("ranker", "least"), [(FisherScore(), 1), (Consensus(n_members=40, random_state=0), 4)]
)
def test_what_tells_the_class_apart_is_significant(ranker, least):
    X, y, _ = study()
    sure = ranker.fit(X, y).assess(X, y, n_permutations=39, n_resamples=3, fast=True)
    assert np.sum(sure.decisions[:4] == "significant") >= least
    assert "significant" not in sure.decisions[4:]


def test_groups_are_permuted_with_one_class():
    X, y, _ = study()
    groups = np.arange(200) // 5
    sure = FisherScore().fit(X, y, groups=groups).assess(X, y, groups=groups, n_resamples=0)
    assert "significant" in sure.decisions[:4]
    assert "significant" not in sure.decisions[4:]
