"""Cases that a reader can check by hand, for the reference implementations themselves."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from tests.reference import forest, sefr, sklearn_sefr, sklearn_ssfi, ssfi
from tests.reference.forest import node_columns
from tests.reference.importance import tree_importance
from tests.reference.plan import make_plan
from tests.reference.ssfi import ballot, decide
from tests.reference.streams import bounded, distinct, mix, word
from tests.reference.tree import (
    Example,
    Node,
    between,
    class_counts,
    confidence,
    fit_tree,
    leaf_counts,
    predict,
    purity,
    split_features,
)


def small_data(seed=0, n=40, p=8, n_classes=2, labelled_per_class=5):
    """Column 0 carries the class, the others are noise; returns X, codes, true classes."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    X = rng.normal(size=(n, p))
    X[:, 0] += 5 * truth
    codes = np.where(np.arange(n) < labelled_per_class * n_classes, truth, -1)
    return X, codes, truth


def run_ssfi(X, codes, **options):
    defaults = {"seed": 3, "n_members": 25, "m": 3, "n_rounds": 3, "n_k": [1, 1]}
    return ssfi(X, codes, **(defaults | options))


def stump(threshold=0.5):
    return Node([2, 2], 0, threshold, left=Node([2, 0]), right=Node([0, 2]))


# streams and plan


def test_words_are_splitmix64():
    # published outputs of SplitMix64 for seed 1234567
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [word(1234567, c) for c in range(3)] == expected


def test_bounded_draws_take_the_low_half_first():
    w = word(99, 0)
    assert bounded(99, 0, 2**32) == w % 2**32
    assert bounded(99, 1, 2**32) == w // 2**32
    assert {bounded(99, j, 3) for j in range(50)} == {0, 1, 2}
    assert sorted(distinct(99, 7)) == list(range(7))
    assert mix(0) == 0


@pytest.mark.parametrize("stratified", [False, True])
def test_plan_splits_the_rows(stratified):
    codes = np.array([0, -1, 1, 1, -1, 0, -1, 1, -1, -1])
    plan = make_plan(codes, 6, 4, seed=5, member=2, stratified=stratified)
    assert len(set(plan.subspace)) == 4
    assert sum(plan.weights.values()) == 5
    assert sorted([*plan.weights, *plan.oob_labelled]) == [0, 2, 3, 5, 7]
    assert sorted([*plan.pool, *plan.oob_unlabelled]) == [1, 4, 6, 8, 9]
    if stratified:
        assert sum(plan.weights.get(row, 0) for row in (0, 5)) == 2


# tree


def test_split_by_hand():
    # boundaries 0|1: 1/1 + (1+4)/3 = 8/3; 1|2: 4/2 + 4/2 = 4 (the winner); threshold 1.5
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    tree = fit_tree(
        X, [Example(0, 1, 0), Example(1, 1, 0), Example(2, 1, 1), Example(3, 1, 1)], [0], 2
    )
    assert (tree.feature, tree.threshold) == (0, 1.5)
    assert (tree.left.counts, tree.right.counts) == ([2, 0], [0, 2])


def test_zero_gain_still_splits_and_xor_is_learnt():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    examples = [Example(row, 1, label) for row, label in enumerate([0, 1, 1, 0])]
    tree = fit_tree(X, examples, [1, 0], 2)
    assert tree.feature == 1
    assert [predict(tree, x) for x in X] == [0, 1, 1, 0]


def test_ties_go_to_the_first_column_or_the_widest_gap():
    X = np.array([[0.0, 0.0], [1.0, 3.0]])
    examples = [Example(0, 1, 0), Example(1, 1, 1)]
    assert fit_tree(X, examples, [0, 1], 2).feature == 0
    assert fit_tree(X, examples, [1, 0], 2).feature == 1
    assert fit_tree(X, examples, [0, 1], 2, spread=[1.0, 2.0]).feature == 1
    assert fit_tree(X, examples, [0, 1], 2, spread=[1.0, 4.0]).feature == 0


def test_threshold_never_reaches_the_upper_value():
    a = 1.0
    b = np.nextafter(a, 2.0)
    assert between(a, b) == a
    assert between(-1e308, 1.5e308) == 2.5e307
    assert between(1e308, 1.5e308) == 1.25e308


def test_unsplittable_leaf_answers_the_lowest_of_the_largest_classes():
    X = np.zeros((3, 1))
    tree = fit_tree(X, [Example(0, 1, 2), Example(1, 2, 1), Example(2, 1, 2)], [0], 3)
    assert leaf_counts(tree, X[0]) == [0, 2, 2]
    assert predict(tree, X[0]) == 1
    assert confidence(tree, X[0]) == Fraction(1, 2)


def split_score(X, examples, feature, threshold):
    left = [e for e in examples if X[e.row, feature] <= threshold]
    right = [e for e in examples if X[e.row, feature] > threshold]
    return purity(class_counts(left, 3)) + purity(class_counts(right, 3)), left, right


def compare_nodes(ours, theirs, node, X, examples):
    """Return (equal nodes, tied nodes); scikit-learn may differ from us in exact ties only."""
    if ours.feature is None:
        assert theirs.feature[node] < 0
        np.testing.assert_allclose(
            theirs.value[node, 0], np.divide(ours.counts, sum(ours.counts)), atol=1e-12
        )
        return 1, 0
    score, left, right = split_score(X, examples, ours.feature, ours.threshold)
    feature, threshold = theirs.feature[node], theirs.threshold[node]
    if (feature, threshold) != (ours.feature, ours.threshold):
        assert split_score(X, examples, feature, threshold)[0] == score
        return 0, 1
    children = [
        compare_nodes(ours.left, theirs, theirs.children_left[node], X, left),
        compare_nodes(ours.right, theirs, theirs.children_right[node], X, right),
    ]
    return 1 + sum(equal for equal, _ in children), sum(tied for _, tied in children)


@pytest.mark.parametrize("max_depth", [3, None])
def test_tree_equals_sklearn(max_depth):
    equal = tied = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(50, 4)).astype(np.float32).astype(float)
        y = rng.integers(3, size=50)
        weights = rng.integers(1, 5, size=50)
        examples = [Example(row, weights[row], y[row]) for row in range(50)]
        ours = fit_tree(X, examples, range(4), 3, max_depth=max_depth)
        theirs = DecisionTreeClassifier(max_depth=max_depth, random_state=0)
        theirs.fit(X, y, sample_weight=weights)
        result = compare_nodes(ours, theirs.tree_, 0, X, examples)
        equal, tied = equal + result[0], tied + result[1]
        if max_depth is None:
            assert [predict(ours, x) for x in X] == theirs.predict(X).tolist()
    assert equal > 5 * tied  # the comparison reached most of the trees


# votes


def test_confidence_of_five_votes():
    votes = sum(np.array(ballot(c, "hard")) for c in [[2, 0], [3, 1], [0, 1], [1, 0], [1, 2]])
    label, conf = decide(votes[None, :])
    assert (label[0], conf[0]) == (0, 0.6)


def test_probability_ballot_rounds_the_share_of_65536():
    assert ballot([1, 1], "probability") == [32768, 32768]
    assert ballot([1, 2], "probability") == [21845, 43691]


def test_rows_without_votes_are_unusable():
    label, conf = decide(np.array([[0, 0], [1, 1]]))
    assert label.tolist() == [-1, 0]
    assert conf.tolist() == [0.0, 0.5]


def test_prior_scales_the_vote_mass():
    # shares (.75, .25) and (.5, .5), mass (.625, .375), factors (.8, 4/3):
    # (.6, .3333) -> .642857 for class 0; (.4, .6667) -> .625 for class 1
    label, conf = decide(np.array([[3, 1], [0, 0], [2, 2]]), prior=np.array([0.5, 0.5]))
    assert label.tolist() == [0, -1, 1]
    np.testing.assert_allclose(conf, [0.6 / (0.6 + 1 / 3), 0, 0.625])


# importance


def test_expected_mismatch_of_a_perfect_split_by_hand():
    # each row meets two of four values from the other side: half of every weight is lost
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    out_of_bag = [(0, 0, 1.0), (1, 0, 0.6), (2, 1, 0.8), (3, 1, 1.0)]
    for net in (False, True):
        assert tree_importance(stump(), X, out_of_bag, net=net) == {0: pytest.approx(1.7)}


def test_wrong_rows_lower_only_the_net_measure():
    # row 3 (value 1, label 0) is wrong. Paper: O = rows 0, 1, 2 with values 0, 0, 1:
    # 1/3 + 1/3 + 2/3. Net: values 0, 0, 1, 1: lost 1/2 three times, row 3 gains 1/2.
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    out_of_bag = [(0, 0, 1.0), (1, 0, 1.0), (2, 1, 1.0), (3, 0, 1.0)]
    assert tree_importance(stump(), X, out_of_bag, net=False) == {0: pytest.approx(4 / 3)}
    assert tree_importance(stump(), X, out_of_bag, net=True) == {0: pytest.approx(1.0)}


@pytest.mark.parametrize("net", [False, True])
def test_expectation_is_the_average_over_all_permutations(net):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 3))
    y = rng.integers(3, size=24)
    tree = fit_tree(X, [Example(row, 1, y[row]) for row in range(20)], range(3), 3)
    rows = [20, 21, 22, 23]
    before = [predict(tree, X[row]) for row in rows]
    labels = before if not net else [before[0], (before[1] + 1) % 3, before[2], before[3]]
    weights = [1.0, 0.6, 0.8, 0.3]

    result = tree_importance(tree, X, list(zip(rows, labels, weights, strict=True)), net=net)
    assert set(result) == split_features(tree)
    for feature, value in result.items():
        lost = []
        for order in permutations(rows):
            Z = X.copy()
            Z[rows, feature] = X[list(order), feature]
            after = [predict(tree, Z[row]) for row in rows]
            right = np.equal(before, labels).astype(int) - np.equal(after, labels).astype(int)
            lost.append(np.dot(weights, right))
        assert value == pytest.approx(np.mean(lost), abs=1e-12)


# the methods


def test_a_feature_never_split_on_scores_exactly_zero():
    X, codes, _ = small_data()
    X[:, 5] = 1.0
    result = run_ssfi(X, codes)
    used = set().union(*(split_features(tree) for tree in result["trees"]))
    assert 5 not in used
    assert all(result["scores"][f] == 0.0 for f in range(8) if f not in used)
    assert result["scores"].argmax() == 0
    assert sefr(X, codes, seed=3, n_members=25, m=3, max_iter=3)["scores"][5] == 0.0
    assert forest(X, codes, seed=3, n_members=25, m=3)["scores"][5] == 0.0


def test_no_rounds_add_no_row():
    X, codes, _ = small_data()
    result = run_ssfi(X, codes, n_rounds=0)
    assert result["n_iter"] == 0
    assert not any(result["picks"])
    assert not any(sefr(X, codes, seed=3, n_members=5, m=3, max_iter=0)["picks"])


@pytest.mark.parametrize("votes", ["hard", "probability"])
def test_picks_stay_inside_the_pool_and_the_quota(votes):
    X, codes, truth = small_data()
    result = run_ssfi(X, codes, votes=votes, n_k=[2, 1], stratified=True, net=True)
    assert result["n_iter"] == 3
    for plan, picks in zip(result["plans"], result["picks"], strict=True):
        rows = [row for _, row, _ in picks]
        assert len(rows) == len(set(rows))
        assert set(rows) <= set(plan.pool)
        for t in (1, 2, 3):
            labels = [label for number, _, label in picks if number == t]
            assert labels.count(0) <= 2
            assert labels.count(1) <= 1
    voted = result["label"] >= 0
    assert np.mean(result["label"][voted] == truth[voted]) > 0.8
    assert 0.5 < result["oob_agreement"] <= 1.0


def test_the_run_stops_once_the_pools_are_empty():
    X, codes, _ = small_data(n=16)
    result = run_ssfi(X, codes, n_rounds=50, n_k=[9, 9])
    assert 1 <= result["n_iter"] < 50
    assert all(
        len(picks) == len(plan.pool)
        for picks, plan in zip(result["picks"], result["plans"], strict=True)
    )


def test_normalisation_divides_by_members_or_draws():
    X, codes, _ = small_data()
    by_draws = run_ssfi(X, codes, normalise="draws")
    by_members = run_ssfi(X, codes, normalise="members")
    np.testing.assert_allclose(by_draws["scores"] * by_draws["draws"], by_members["scores"] * 25)


def test_without_unlabelled_rows_sefr_is_ssfi():
    X, codes, truth = small_data(n=20, labelled_per_class=10)
    assert (codes == truth).all()
    ours = run_ssfi(X, codes)
    assert np.isnan(ours["oob_agreement"])
    alone = sefr(X, codes, seed=3, n_members=25, m=3, max_iter=3)
    np.testing.assert_array_equal(ours["scores"], alone["scores"])


def test_forest_node_looks_on_until_a_column_varies():
    X = np.zeros((2, 6))
    X[1, 4] = 1.0
    examples = [Example(0, 1, 0), Example(1, 1, 1)]
    order = list(distinct(77, 6))
    columns = node_columns(X, examples, 2, 77)
    assert columns == (order[:2] if 4 in order[:2] else [*order[:2], 4])
    assert len(node_columns(np.zeros((2, 6)), examples, 2, 77)) == 2


# the scikit-learn versions


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_sklearn_versions_find_the_relevant_column(convert):
    X, codes, truth = small_data()
    scores, labels = sklearn_ssfi(convert(X), codes, n_members=40, seed=1)
    assert scores.argmax() == 0
    assert np.mean(labels == truth) > 0.8
    assert sklearn_sefr(convert(X), codes, n_members=40, seed=1).argmax() == 0


def test_sklearn_results_do_not_depend_on_the_cache():
    X, codes, _ = small_data()
    kept, _ = sklearn_ssfi(X, codes, n_members=20, seed=1)
    sliced, _ = sklearn_ssfi(X, codes, n_members=20, seed=1, cache_bytes=0)
    np.testing.assert_array_equal(kept, sliced)
