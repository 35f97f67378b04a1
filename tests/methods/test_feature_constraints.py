"""Columns that stay, go, belong together or are expected."""

import pickle
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from semisift import (
    GSFS,
    METHODS,
    MRMR,
    S3VMFS,
    S3VMRFE,
    SSFI,
    Consensus,
    ENSemiFS,
    FeatureRanker,
    FisherScore,
    FWSemiFS,
    LabelledOnly,
    OutOfCoreMatrix,
    SemiJMI,
    SequentialForward,
)
from semisift.out_of_core import _matrix as stored_rows
from semisift.selection import ranking_result
from semisift.utils._information import bin_columns, mutual_information
from tests.conftest import make_data
from tests.methods.test_common import make, nightly, spread

pytestmark = pytest.mark.filterwarnings("ignore::semisift.FallbackWarning")

NAMES = list("abcdef")


class Given(FeatureRanker):
    """Scores that a test has chosen."""

    labels_needed = "none"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "scores": ["array-like"],
    }
    scores: Any = ()

    def _score(self, data):
        return np.array(self.scores, dtype=float)


def frame(n_columns=6, n_rows=50):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(n_rows, n_columns)), columns=NAMES[:n_columns])


def ranked(scores=(6, 5, 4, 3, 2, 1), X=None, **known):
    X = frame(len(scores)) if X is None else X
    return Given(scores=scores, **known).fit(X)


def order(ranker):
    return "".join(np.array(NAMES)[np.argsort(ranker.ranking_)])


def chosen(ranker):
    return "".join(ranker.get_feature_names_out())


# --- what each does -------------------------------------------------------------------------------


def test_kept_columns_come_first_by_score_and_are_counted():
    ranker = ranked(include=["e", 3], n_features_to_select=3)
    assert order(ranker) == "deabcf"
    assert chosen(ranker) == "ade"
    assert_array_equal(ranker.score_ranking_, np.arange(1, 7))
    assert chosen(ranked(include=NAMES[:5])) == "abcde"  # more than half
    mask = np.array([False] * 5 + [True])
    assert order(ranked(include=mask)) == "fabcde"


def test_a_kept_constant_column():
    X = frame()
    X["c"] = 1.0
    ranker = ranked(X=X, include=["c", "f"], n_features_to_select=2)
    assert order(ranker) == "fcabde"
    assert chosen(ranker) == "cf"
    assert np.isnan(ranker.scores_[2])


def test_fewer_than_are_kept_is_an_error():
    with pytest.raises(ValueError, match="got 1 to select and 2 in keep"):
        ranked(include=["a", "b"], n_features_to_select=1)
    with pytest.raises(ValueError, match="got 1 to select and 2 in keep"):
        ranked(include=["a", "b"], n_features_to_select=0.2)


def test_excluded_columns_have_no_score_and_are_never_selected():
    ranker = ranked(exclude=["a", "c"], n_features_to_select=4)
    assert order(ranker)[:4] == "bdef"
    assert chosen(ranker) == "bdef"
    assert_array_equal(np.isnan(ranker.scores_), [True, False, True, False, False, False])
    with pytest.raises(ValueError, match="n_features_to_select=5 and n_features=4"):
        ranked(exclude=["a", "c"], n_features_to_select=5)
    X = frame()
    X["f"] = 0.0  # a constant column may be selected, an excluded one may not
    assert order(ranked(X=X, exclude=["a"])) == "bcdefa"


def test_groups_stand_where_their_best_column_does():
    groups = {"one": ["f", "b"], "two": [4, 2]}
    ranker = ranked(feature_groups=groups, n_features_to_select=2)
    assert order(ranker) == "abfced"
    assert chosen(ranker) == "abf"
    assert chosen(ranked(feature_groups=groups)) == "abf"  # half of four features
    assert order(ranked(feature_groups=[["f", "b"], [4, 2]])) == "abfced"
    # an excluded column leaves its group, a kept one keeps it
    assert order(ranked(feature_groups=groups, exclude=["b"])) == "acedfb"
    assert order(ranked(feature_groups=groups, include=["e"])) == "ceabfd"


def test_prior_divides_the_places():
    assert (
        order(ranked(feature_weights={"d": 2})) == "abdcef"
    )  # 4 / 2 ties with 2, which has the score
    assert order(ranked(feature_weights={"d": 2.1})) == "adbcef"
    assert order(ranked(feature_weights={"a": 0, "b": 0.4})) == "cdbefa"
    assert order(ranked(feature_weights=[1, 1, 1, 1, 1, 9])) == "fabcde"
    ranker = ranked(feature_weights={"f": 9})
    assert_array_equal(ranker.scores_, [6, 5, 4, 3, 2, 1])
    assert_array_equal(ranker.score_ranking_, np.arange(1, 7))
    # weight 0 ranks before what has no score
    X = frame()
    X["b"] = 0.0
    assert order(ranked(X=X, feature_weights={"a": 0})) == "cdefab"


def test_prior_of_groups_and_kept_columns():
    groups = {"one": ["e", "f"]}
    # 6 / 3 decides on the place of the group, and the score on the order within it
    assert order(ranked(feature_groups=groups, feature_weights={"f": 3})) == "abefcd"
    assert order(ranked(include=["b", "e"], feature_weights={"e": 9})) == "beacdf"
    assert order(ranked(feature_groups=groups, feature_weights={"one": 3})) == "aefbcd"


def with_copies():
    """Return columns of which c is a feature correlated with a, d of e, and f of b."""
    X = frame(n_rows=200)
    noise = frame(n_rows=200)[["f", "d", "c"]].to_numpy() * 0.1
    X["c"] = X["a"] + noise[:, 0]
    X["d"] = -X["e"] + noise[:, 1]
    X["f"] = X["b"] + noise[:, 2]
    return X


def test_near_copies_of_kept_columns_go_last():
    X = with_copies()
    ranker = ranked(X=X, include=["c", "e"])
    assert order(ranker) == "cebfad"
    assert_array_equal(ranker.representative_, [2, 1, 2, 4, 4, 5])
    assert_allclose(ranker.representative_correlation_[3], np.corrcoef(X["d"], X["e"])[0, 1])
    assert ranker.redundancy_threshold_ == 0.7
    # with a threshold others are put last as well, and kept ones never
    ranker = ranked(X=X, include=["c", "a"], redundancy_threshold=0.9)
    assert order(ranker) == "acbdef"
    assert_array_equal(ranker.representative_, [0, 1, 2, 3, 3, 1])
    ranker = ranked(X=X, include=["d"], redundancy_threshold=0.9999)
    assert (ranker.representative_ == np.arange(6)).all()


def test_an_expected_column_stands_for_its_correlated_group():
    X = with_copies()
    assert order(ranked(X=X, redundancy_threshold=0.9)) == "abdcef"
    ranker = ranked(X=X, redundancy_threshold=0.9, feature_weights={"c": 9})
    assert order(ranker) == "cbdaef"
    assert ranker.representative_[0] == 2


def test_a_group_is_a_near_copy_if_all_its_columns_are():
    X = with_copies()
    ranker = ranked(X=X, redundancy_threshold=0.9, feature_groups={"g": ["c", "f"]})
    assert order(ranker) == "abdcfe"
    assert_array_equal(ranker.representative_, [0, 1, 0, 3, 3, 1])
    ranker = ranked(X=X, redundancy_threshold=0.9, feature_groups={"g": ["c", "d"]})
    assert order(ranker) == "abcdef"
    assert_array_equal(ranker.representative_, [0, 1, 2, 3, 3, 1])


# --- what cannot be ------------------------------------------------------------------------------

WRONG = [
    ({"include": "a"}, "include"),
    ({"include": ["A"]}, "include names 'A', which is no column of X"),
    ({"include": [6]}, "include must hold numbers of columns from 0 to 5: got 6"),
    ({"include": [-1]}, "from 0 to 5: got -1"),
    ({"include": [1.5]}, "include must hold names or numbers of columns: got 1.5"),
    ({"include": ["a", 0]}, "include must name each column once: got 'a' again"),
    ({"include": [True, False]}, "include must say True or False of each of 6 columns: got 2"),
    ({"include": pd.Series([True], index=["A"])}, "include names 'A', which is no column of X"),
    ({"include": pd.Series([True, False], index=["a", "a"])}, "got 'a' again"),
    ({"include": {"a": False}}, "include must be a list of names or numbers of columns"),
    ({"include": np.array(1)}, "include must be a list of names or numbers of columns"),
    ({"include": ["a", "b"], "exclude": [1]}, "got 'b' in both"),
    ({"exclude": NAMES}, "exclude must leave a column"),
    ({"feature_groups": {"g": ["a"], "h": ["a", "b"]}}, "got 'a' in 'g' and 'h'"),
    ({"feature_groups": {"g": []}}, "it is empty"),
    ({"feature_groups": {"a": ["b", "c"]}}, "a column that is not in it is called so"),
    ({"feature_groups": {"g": ["x"]}}, r"feature_groups\['g'\] names 'x'"),
    (
        {"feature_weights": {"a": -1}},
        "feature_weights must be finite and 0 or more: got -1 for 'a'",
    ),
    ({"feature_weights": {"a": np.nan}}, "got nan for 'a'"),
    ({"feature_weights": {"a": "much"}}, "got 'much' for 'a'"),
    (
        {"feature_weights": {"a": 1, 0: 2}},
        "feature_weights must name a column once: got 'a' again",
    ),
    (
        {"feature_weights": [1, 2]},
        r"feature_weights must hold a weight for each of 6 columns.*\(2,\)",
    ),
    ({"feature_weights": [1, 2, 3, 4, 5, np.inf]}, "got .*inf.* for 'f'"),
    ({"feature_weights": np.zeros(6)}, "all are 0"),
    (
        {"feature_weights": np.ma.masked_equal([9, 1, 1, 1, 1, 1], 9)},
        "feature_weights must be finite .* got .*nan.* 'a'",
    ),
    ({"feature_weights": {"a": 10**400}}, "feature_weights must be finite"),
]


@pytest.mark.parametrize(("known", "message"), WRONG, ids=str)
def test_wrong_parameters(known, message):
    with pytest.raises(ValueError, match=message):
        ranked(**known)


def test_messages_name_what_is_near():
    X = frame().rename(columns={"a": "malic_acid"})
    with pytest.raises(ValueError, match=r"'malic_acids'.*Did you mean 'malic_acid'\?"):
        Given(scores=range(6), include=["malic_acids"]).fit(X)
    with pytest.raises(ValueError, match="numbers of columns, as X has no names: got 'a'"):
        Given(scores=range(6), include=["a"]).fit(X.to_numpy())


# --- every method --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", spread(METHODS))
def test_every_method_takes_them_together(name, data):
    known = {
        "exclude": [0, 5],
        "include": [6],
        "feature_groups": {"g": [2, 7]},
        "feature_weights": {3: 4.0},
    }
    ranker = make(name, n_features_to_select=3, **known).fit(data.X, data.y)
    assert_array_equal(np.isnan(ranker.scores_[[0, 5]]), True)
    assert set(ranker.ranking_[[0, 5]]) == {7, 8}
    assert ranker.ranking_[6] == 1
    assert abs(ranker.ranking_[2] - ranker.ranking_[7]) == 1
    support = ranker.get_support()
    assert support[6]
    assert not support[[0, 5]].any()
    assert support[2] == support[7]
    assert support.sum() == 3 + support[2]
    again = pickle.loads(pickle.dumps(ranker))
    assert_array_equal(again.get_support(), support)
    assert_array_equal(clone(ranker).fit(data.X, data.y).ranking_, ranker.ranking_)


@pytest.mark.parametrize("name", spread(METHODS))
@pytest.mark.parametrize("form", [np.asarray, *nightly(sparse.csr_array)])
def test_excluded_columns_are_as_zeros(name, form, data):
    zeros = data.X.copy()
    zeros[:, [0, 3]] = 0.0
    ranker = make(name, n_features_to_select=3, exclude=[0, 3]).fit(form(data.X), data.y)
    other = make(name, n_features_to_select=3).fit(form(zeros), data.y)
    assert_array_equal(ranker.scores_, other.scores_)


@pytest.mark.parametrize("name", ["fisher", "transductive", "consensus", "ssfi"])
def test_excluded_columns_of_stored_rows_are_as_zeros(name, monkeypatch):
    monkeypatch.setattr(stored_rows, "BLOCK_VALUES", 1 << 9)
    monkeypatch.setattr(stored_rows, "READ_BYTES", 1 << 12)
    data = make_data(n_rows=400)
    zeros = data.X.copy()
    zeros[:, [0, 3]] = 0.0

    def fit(X, **known):
        return make(name, max_unlabelled=100, **known).fit(
            OutOfCoreMatrix(X, max_memory=40_000), data.y
        )

    ranker, other = fit(data.X, exclude=[0, 3]), fit(zeros)
    assert_array_equal(ranker.scores_, other.scores_)
    if hasattr(other, "transduction_"):
        assert_array_equal(ranker.transduction_, other.transduction_)


def test_missing_values_of_an_excluded_column_do_not_matter(data):
    X = data.X.copy()
    X[::3, 4] = np.nan
    ranker = FisherScore(exclude=[4]).fit(X, data.y)
    assert_array_equal(ranker.scores_, FisherScore(exclude=[4]).fit(data.X, data.y).scores_)


def test_the_rows_of_the_user_are_left_alone(data):
    for X in (np.asfortranarray(data.X), sparse.csc_array(data.X)):
        before = X.copy()
        FisherScore(exclude=[0]).fit(X, data.y)
        assert (before != X).sum() == 0


# --- methods that pick one by one ----------------------------------------------------------------


@pytest.mark.parametrize("cls", [MRMR, SemiJMI])
def test_later_picks_are_conditional_on_the_kept_column(cls, data):
    """What comes after a first pick is what would come if it were by far the best."""
    X = data.X.copy()
    X[:, 7] = data.y_true * 10 + data.X[:, 7]
    free = cls(n_features_to_select=4).fit(X, data.y)
    assert free.ranking_[7] == 1
    kept = cls(n_features_to_select=4, include=[7]).fit(X, data.y)
    assert_array_equal(kept.scores_, free.scores_)
    # of two copies, one is kept: the other one adds nothing and is picked late
    X[:, 5] = X[:, 7]
    other = cls(n_features_to_select=4, include=[5]).fit(X, data.y)
    assert other.ranking_[5] == 1
    assert other.representative_[7] == 5


def test_the_second_pick_of_mrmr_is_the_best_beside_the_kept_column(data):
    labelled = np.flatnonzero(data.y >= 0)
    binned = bin_columns(data.X[labelled])
    relevance = mutual_information(binned, data.y[labelled])
    for kept in range(8):
        value = relevance - mutual_information(binned, binned.column(kept))
        value[kept] = -np.inf
        ranker = MRMR(n_features_to_select=2, include=[kept]).fit(data.X, data.y)
        second = int(np.flatnonzero(ranker.scores_ == 7)[0])
        assert ranker.scores_[kept] == 8
        assert value[second] >= value.max() - 1e-12


FORWARD = {
    SequentialForward: {},
    FWSemiFS: {"n_start": 2, "n_step": 2},
    ENSemiFS: {"n_start": 2},
}


@pytest.mark.parametrize("cls", FORWARD)
def test_forward_searches_start_with_the_kept_columns(cls, data):
    options = {"n_features_to_select": 5, **FORWARD[cls]}
    ranker = cls(include=[6, 4, 5], **options).fit(data.X, data.y)
    assert set(ranker.picked_[:3]) == {4, 5, 6}
    assert len(set(ranker.picked_)) == 5
    groups = {"g": [0, 1, 2]}
    ranker = cls(include=[6], feature_groups=groups, **options).fit(data.X, data.y)
    assert ranker.picked_[0] == 6
    assert len(ranker.picked_) == 5
    assert np.isin(ranker.picked_, [0, 1, 2]).sum() == 1


def test_the_column_after_the_kept_ones_is_the_best_with_them(data):
    ranker = SequentialForward(include=[3, 4], n_features_to_select=3).fit(data.X, data.y)
    labelled = np.flatnonzero(data.y >= 0)

    def accuracy(column):
        columns = [3, 4, column]
        right = 0
        for row in labelled:
            rest = labelled[labelled != row]
            model = GaussianNB().fit(data.X[np.ix_(rest, columns)], data.y[rest])
            right += model.predict(data.X[[row]][:, columns])[0] == data.y[row]
        return right

    others = [0, 1, 2, 5, 6, 7]
    assert accuracy(ranker.picked_[2]) == max(map(accuracy, others))


def test_early_stop_does_not_stop_before_the_kept_columns(data):
    ranker = SequentialForward(include=[5, 6, 7], early_stop=True, n_features_to_select=6)
    ranker.fit(data.X, data.y)
    assert ranker.get_support()[[5, 6, 7]].all()
    assert ranker.get_support().sum() == len(ranker.picked_)


def test_gsfs_keeps_what_is_to_stay():
    data = make_data(n_rows=120, per_class=20)
    free = GSFS(n_features_to_select=3).fit(data.X, data.y)
    weak = int(np.argmax(free.ranking_))
    ranker = GSFS(n_features_to_select=3, include=[weak]).fit(data.X, data.y)
    assert ranker.scores_[weak] == 8
    assert ranker.ranking_[weak] == 1


@pytest.mark.parametrize("cls", [S3VMRFE, S3VMFS])
def test_kept_columns_are_eliminated_last(cls, data):
    for step in (1, 3):
        ranker = cls(include=[5, 6, 7], n_features_to_select=3, step=step).fit(data.X, data.y)
        assert set(np.flatnonzero(ranker.scores_ > 5)) == {5, 6, 7}
        assert not np.isin([5, 6, 7], ranker.eliminated_[:5]).any()


def test_columns_of_a_group_are_picked_once(data):
    ranker = MRMR(n_features_to_select=3, feature_groups={"g": [0, 1]}).fit(data.X, data.y)
    assert set(ranker.scores_[[0, 1]]) != {8, 7}
    assert ranker.get_support().sum() == 4


# --- a consensus, and committees ------------------------------------------------------------------


def test_a_consensus_hands_on_what_is_excluded_alone(data):
    known = {"include": [6], "feature_weights": {3: 9.0}, "feature_groups": {"g": [1, 7]}}
    options = {"n_members": 30, "random_state": 0, "exclude": [0]}
    ranker, plain = Consensus(**options, **known), Consensus(**options)
    for each in (ranker, plain):
        each.fit(data.X, data.y)
    assert_array_equal(ranker.scores_, plain.scores_)
    assert_array_equal(ranker.part_rankings_, plain.part_rankings_)
    assert (ranker.part_rankings_[:, 0] == 8).all()
    assert ranker.ranking_[6] == 1
    assert ranker.ranking_[0] == 8


def test_a_committee_ranks_what_is_left(data):
    """Nine of ten columns are excluded, and the others are still told apart."""
    rng = np.random.default_rng(0)
    X = np.hstack([data.X, rng.normal(size=(60, 72))])
    X[:, 8:40] += 3 * data.y_true[:, None]
    ranker = SSFI(exclude=range(8, 80), n_members=400, random_state=0).fit(X, data.y)
    assert set(np.argsort(ranker.ranking_)[:2]) == {0, 1}


# --- rules and assessments -----------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "rule"), [(FisherScore, "shadow"), (MRMR, "stability")])
def test_a_rule_decides_as_if_nothing_were_kept(rule, cls):
    data = make_data(n_rows=80, per_class=20)
    free = cls(n_features_to_select=rule).fit(data.X, data.y)
    ranker = cls(n_features_to_select=rule, include=[7], feature_weights={3: 5}).fit(data.X, data.y)
    assert_array_equal(ranker.decisions_, free.decisions_)
    assert ranker.decisions_[7] != "significant"
    support = free.get_support()
    assert support.any()
    support[7] = True
    assert_array_equal(ranker.get_support(), support)


def test_a_group_is_confirmed_by_its_best_column():
    data = make_data(n_rows=80, per_class=20)
    ranker = FisherScore(n_features_to_select="shadow", feature_groups={"g": [0, 5], "h": [3, 4]})
    ranker.fit(data.X, data.y)
    assert_array_equal(np.flatnonzero(ranker.get_support()), [0, 1, 5])


def test_halves_know_what_the_ranker_knows():
    data = make_data(n_rows=80, per_class=12)
    known = {
        "include": [7],
        "exclude": [0],
        "feature_groups": {"g": [1, 2]},
        "feature_weights": {5: 0},
    }
    ranker = FisherScore(n_features_to_select=3, **known).fit(data.X, data.y)
    sure = ranker.assess(data.X, data.y, n_resamples=10, n_permutations=0)
    assert_array_equal(sure.rank_interval[[7, 0, 5]], [[1, 1], [7, 7], [6, 6]])
    assert_array_equal(sure.rank_interval[1], sure.rank_interval[2])
    assert sure.n_best == 3
    assert sure.n_kept == 1
    assert sure.selection_probability[7] == 1
    assert sure.selection_probability[1] == sure.selection_probability[2]
    plain = FisherScore(exclude=[0]).fit(data.X, data.y)
    tests = [each.assess(data.X, data.y, n_resamples=0).p_values for each in (ranker, plain)]
    assert_array_equal(*tests)


def test_stability_is_that_of_the_others(data):
    """Features that are kept in all halves would make any ranking look stable."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    sure = {}
    for keep in (None, [0, 1, 2, 3]):
        n = 5 if keep is None else 9
        ranker = FisherScore(n_features_to_select=n, include=keep).fit(X, data.y)
        sure[n] = ranker.assess(X, data.y, n_permutations=0)
    assert abs(sure[5].stability.value - sure[9].stability.value) < 0.1
    ranker = FisherScore(n_features_to_select=4, include=[0, 1, 2, 3]).fit(X, data.y)
    assert ranker.assess(X, data.y, n_permutations=0).stability is None


# --- names, frames and pipelines ------------------------------------------------------------------


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame])
def test_names_in_a_pipeline(form, data):
    columns = {name: data.X[:, j] for j, name in enumerate("abcdefgh")}
    ranker = FisherScore(n_features_to_select=2, include=["h"], exclude=["a"])
    model = make_pipeline(ranker, LabelledOnly(LogisticRegression()))
    model.fit(form(columns), data.y)
    assert model[0].get_feature_names_out().tolist() == ["b", "h"]
    assert model.predict(form(columns)).shape == (60,)


def test_the_frame_has_a_row_for_each_feature():
    ranker = ranked(
        include=["e"],
        exclude=["a"],
        feature_groups={"g": ["b", "f"]},
        feature_weights={"f": 12.0, "d": 0.5},
        n_features_to_select=2,
    )
    table = ranker.to_frame("pandas")
    assert table["feature"].tolist() == ["e", "g", "c", "d", "a"]
    assert table["kept"].tolist() == [True, False, False, False, False]
    assert table["n_columns"].tolist() == [1, 2, 1, 1, 1]
    assert table["best_column"].tolist() == ["e", "b", "c", "d", "a"]
    assert table["feature_weights"].tolist() == [1.0, 12.0, 1.0, 0.5, 1.0]
    assert table["score"].tolist()[:4] == [2, 5, 4, 3]
    assert table["selected"].tolist() == [True, True, False, False, False]
    assert table["score_rank"].tolist() == [4, 1, 2, 3, 5]
    assert not {"kept", "feature_weights", "n_columns"} & set(ranked().to_frame().columns)


def test_an_outcome_selects_kept_features_with_the_confirmed_ones():
    data = make_data(n_rows=80, per_class=20)
    ranker = FisherScore(include=[7]).fit(data.X, data.y)
    ranker.assess(data.X, data.y, n_resamples=0)
    outcome = ranking_result(ranker).select("significant")
    assert set(outcome.features[outcome.selected]) == {"x0", "x1", "x7"}
