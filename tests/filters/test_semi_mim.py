"""Semi-MIM and Semi-JMI: golden values, the slow references, and what must not matter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from semisift import FallbackWarning, SemiJMI, SemiMIM
from semisift.filters._pseudo_class_ranker import surrogates, threshold
from semisift.utils._information import bin_columns, conditional_mutual_information
from tests.conftest import make_data
from tests.nightly import nightly
from tests.reference import information as slow

BITS = np.log(2)
T1 = np.array([[0, 0, 2], [1, 3, 2], [4, 0, 2], [5, 3, 2], [0, 2, 2], [5, 1, 2]], dtype=float)
T1_Y = np.array([0, 0, 1, 1, -1, -1])

both = pytest.mark.parametrize("ranker", [SemiMIM, SemiJMI])


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((3, 3, 94), 0.5), ((5, 1, 94), 0.6953688), ((4, 0, 9), 1.0), ((0, 4, 9), 0.0)],
)
def test_threshold(counts, expected):
    assert_allclose(threshold(*counts), expected, atol=5e-8)


def test_by_hand():
    X = np.column_stack([T1[:, 0] > 2.5, T1[:, 1] > 1.5, T1[:, 2]]).astype(float)
    for target in surrogates(T1_Y, 1, None, both_on_threshold=True):
        assert_allclose(slow.mutual(X[:, 0].tolist(), target.tolist()) / BITS, 0.4591479, atol=5e-8)
    scores = SemiMIM().fit(X, T1_Y).scores_
    assert_allclose(scores / BITS, [0.4591479, 0, np.nan], atol=5e-8)


def test_joint_information_by_hand():
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    columns = ["00011111", "00011111", "00101101", "01010101"]
    X = np.array([[float(value) for value in column] for column in columns]).T
    binned = bin_columns(X)
    beside = conditional_mutual_information(binned, y, binned.column(0)) / BITS + 0.5487949
    assert_allclose(beside[1:], [0.5487949, 0.75, 0.6556391], atol=5e-8)
    with pytest.warns(UserWarning, match="no unlabelled row"):
        ranker = SemiJMI(n_features_to_select=2).fit(X[:, [0, 2, 3]], y)
    assert_array_equal(ranker.get_support(), [True, True, False])


def test_surrogates():
    codes = np.array([0, 1, 1, -1, -1])
    (negative,) = surrogates(codes, 1, 0.1, both_on_threshold=True)
    (positive,) = surrogates(codes, 1, 0.9, both_on_threshold=True)
    assert_array_equal(negative, [0, 1, 1, 0, 0])
    assert_array_equal(positive, [0, 1, 1, 1, 1])
    balanced = np.array([0, 1, -1])
    assert len(surrogates(balanced, 1, None, both_on_threshold=True)) == 2
    (chosen,) = surrogates(balanced, 1, None, both_on_threshold=False)
    assert_array_equal(chosen, [0, 1, 1])


def reference_scores(X, y, jmi, class_prior=None, n_picks=3):
    """Return the scores of one binary problem; there must be no ties."""
    columns = [slow.binned(column) for column in X.T.tolist()]
    targets = [t.tolist() for t in surrogates(y, 1, class_prior, both_on_threshold=True)]

    def mean(measure):
        return [sum(measure(f, t) for t in targets) / len(targets) for f in columns]

    relevance = mean(slow.mutual)
    if not jmi:
        return relevance
    picks = [int(np.argmax(relevance))]
    joint = np.zeros(len(columns))
    while len(picks) < n_picks:
        s = columns[picks[-1]]
        pairs = mean(lambda f, t, s=s: slow.mutual(list(zip(f, s, strict=True)), t))
        joint += pairs
        left = [j for j in range(len(columns)) if j not in picks]
        picks.append(max(left, key=lambda j: joint[j]))
    rest = sorted((j for j in range(len(columns)) if j not in picks), key=lambda j: relevance[j])
    scores = np.empty(len(columns))
    scores[rest] = 1 + np.arange(len(rest))
    scores[picks] = len(columns) - np.arange(n_picks)
    return scores


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("prior", [None, 0.2, 0.7])
@pytest.mark.parametrize("seed", [0, *map(nightly, range(1, 4))])
def test_against_the_reference(form, prior, seed):
    data = make_data(n_rows=80, per_class=9, seed=seed)
    expected = reference_scores(data.X, data.y, jmi=False, class_prior=prior)
    assert_allclose(
        SemiMIM(class_prior=prior).fit(form(data.X), data.y).scores_, expected, atol=1e-11
    )
    expected = reference_scores(data.X, data.y, jmi=True, class_prior=prior)
    ranker = SemiJMI(n_features_to_select=3, class_prior=prior).fit(form(data.X), data.y)
    assert_array_equal(ranker.scores_, expected)


@both
def test_swapped_classes_with_the_other_prior(ranker, data):
    swapped = np.where(data.y < 0, -1, 1 - data.y)
    expected = ranker(class_prior=0.3).fit(data.X, data.y).scores_
    assert_allclose(ranker(class_prior=0.7).fit(data.X, swapped).scores_, expected, atol=1e-12)
    assert_allclose(
        ranker(class_prior=[0.3, 0.7]).fit(data.X, swapped).scores_, expected, atol=1e-12
    )


@both
def test_values_may_be_renamed(ranker, data):
    X = np.round(data.X).clip(-2, 2)
    expected = ranker().fit(X, data.y)
    names = np.array([7.0, -3.0, 0.5, 100.0, 2.0])
    renamed = ranker().fit(names[(X + 2).astype(int)], data.y)
    assert_allclose(renamed.scores_, expected.scores_, atol=1e-12)


def test_without_unlabelled_rows_it_is_mutual_information(data):
    with pytest.warns(UserWarning, match="no unlabelled row"):
        scores = SemiMIM().fit(data.X, data.y_true).scores_
    columns = [slow.binned(column) for column in data.X.T.tolist()]
    expected = [slow.mutual(column, data.y_true.tolist()) for column in columns]
    assert_allclose(scores, expected, atol=1e-11)


def test_labels_missing_at_random_keep_the_order():
    rng = np.random.default_rng(0)
    n = 40_000
    y = (rng.random(n) < 0.3).astype(int)
    X = np.column_stack([np.where(rng.random(n) < keep, y, rng.random(n) < 0.5)
                         for keep in (0.2, 0.8, 0.0, 0.5)]).astype(float)  # fmt: skip
    given = np.where(rng.random(n) < 0.1, y, -1)
    assert_array_equal(SemiMIM().fit(X, given).ranking_[[1, 3, 0]], [1, 2, 3])
    forced = [SemiMIM(class_prior=prior).fit(X, given) for prior in (0.01, 0.99)]
    assert_array_equal(forced[0].ranking_, forced[1].ranking_)
    favoured, other = forced
    assert favoured.scores_[1] > other.scores_[1]
    assert_array_equal(SemiMIM().fit(X, given).scores_, favoured.scores_)


def test_several_classes_are_one_against_the_rest():
    data = make_data(n_classes=3)
    ranks = []
    for label in range(3):
        y = np.where(data.y < 0, -1, data.y == label)
        information = SemiMIM(class_prior=1 / 3).fit(data.X, y).scores_
        ranks.append(np.argsort(np.argsort(information)) + 1)
    assert_allclose(SemiMIM().fit(data.X, data.y).scores_, np.mean(ranks, axis=0))


@both
def test_one_class_against_the_unlabelled_rows(ranker, data):
    y = np.where(data.y == 1, 1, -1)
    fitted = ranker().fit(data.X, y)
    columns = [slow.binned(column) for column in data.X.T.tolist()]
    relevance = [slow.mutual(column, (y == 1).astype(int).tolist()) for column in columns]
    assert fitted.ranking_[np.argmax(relevance)] == 1
    assert_array_equal(ranker(class_prior=0.1).fit(data.X, y).scores_, fitted.scores_)


@both
def test_no_labels_fall_back_on_entropy(ranker, data):
    with pytest.warns(FallbackWarning, match="entropy"):
        scores = ranker().fit(data.X).scores_
    columns = [slow.binned(column) for column in data.X.T.tolist()]
    assert_allclose(scores, [slow.entropy(column) for column in columns], atol=1e-11)


def test_the_authors_choice_on_the_threshold(data):
    expected = [t.tolist() for t in surrogates(data.y, 1, None, both_on_threshold=True)]
    columns = [slow.binned(column) for column in data.X.T.tolist()]
    scores = SemiMIM(variant="paper").fit(data.X, data.y).scores_
    assert_allclose(scores, [slow.mutual(column, expected[1]) for column in columns], atol=1e-11)


@both
@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.2, 0.3, 0.5], r"each of the 2 classes.*\[0.2, 0.3, 0.5\]"),
        ([0.2, 0.3], "add up to 1 over the 2 classes.*add up to 0.5"),
        ([1.0, 0.0], "between 0 and 1"),
    ],
)
def test_priors_that_are_none(ranker, prior, message, data):
    with pytest.raises(ValueError, match=message):
        ranker(class_prior=prior).fit(data.X, data.y)


@both
def test_one_prior_for_three_classes(ranker):
    data = make_data(n_classes=3)
    with pytest.raises(ValueError, match="each of the 3 classes"):
        ranker(class_prior=0.5).fit(data.X, data.y)


@pytest.mark.filterwarnings("ignore::semisift.NoFeatureSelectedWarning")
def test_a_rule_picks_no_more_columns_one_by_one_than_no_number_does(data, monkeypatch):
    monkeypatch.setattr(SemiJMI, "most_picked", 2)
    scores = [
        SemiJMI(n_features_to_select=wanted, random_state=0).fit(data.X, data.y).scores_
        for wanted in (None, "stability")
    ]
    assert_array_equal(*scores)
    ranker = SemiJMI(n_features_to_select=4, random_state=0).fit(data.X, data.y)
    assert (ranker.scores_ != scores[0]).any()
