"""Splitters for partly labelled rows, by their own rules and by scikit-learn's checks."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.model_selection._split import _yields_constant_splits
from sklearn.model_selection.tests.test_split import check_valid_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tests.metadata_routing_common import assert_request_is_empty

from semisift import (
    SSFI,
    FisherScore,
    LabelledOnly,
    LaplacianScore,
    SemiSupervisedGroupKFold,
    SemiSupervisedKFold,
    SemiSupervisedStratifiedShuffleSplit,
    UnlabelledTextWarning,
)

SPLITTERS = [
    SemiSupervisedKFold(n_splits=3),
    SemiSupervisedKFold(n_splits=3, shuffle=True, random_state=0),
    SemiSupervisedStratifiedShuffleSplit(n_splits=3, test_size=0.5, random_state=0),
]

Y = np.array([0, -1, 1, 0, -1, 1, -1, 1, 0, -1, 1, 0, 1, -1, 0, 2, 2, -1, 2])
LABELLED = np.flatnonzero(Y >= 0)


def splits(cv, y=Y):
    return list(cv.split(np.zeros((len(y), 1)), y))


def assert_same(one, other):
    assert len(one) == len(other)
    for pair, duplicate in zip(one, other, strict=True):
        for rows, rows_of_duplicate in zip(pair, duplicate, strict=True):
            np.testing.assert_array_equal(rows, rows_of_duplicate)


@pytest.fixture(scope="module")
def wine():
    """Return wine with labels for every third row; the others are unlabelled."""
    X, y = load_wine(return_X_y=True)
    hidden = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    return X, hidden, y


# --- who trains and who tests ---------------------------------------------------------------------


@pytest.mark.parametrize("cv", SPLITTERS, ids=str)
def test_unlabelled_rows_train_and_labelled_rows_are_split(cv):
    found = splits(cv)
    assert len(found) == cv.get_n_splits() == 3
    for train, test in found:
        check_valid_split(train, test, n_samples=len(Y))
        assert set(np.flatnonzero(Y < 0)) <= set(train)
        assert (np.diff(train) > 0).all()
        assert set(Y[test]) == {0, 1, 2}  # stratified: each class is in each test set
        assert set(Y[train]) == {-1, 0, 1, 2}


def test_each_labelled_row_is_in_one_fold():
    tested = np.concatenate([test for _, test in splits(SemiSupervisedKFold(n_splits=3))])
    np.testing.assert_array_equal(np.sort(tested), LABELLED)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SemiSupervisedKFold(3), StratifiedKFold(3)),
        (
            SemiSupervisedKFold(3, shuffle=True, random_state=5),
            StratifiedKFold(3, shuffle=True, random_state=5),
        ),
        (
            SemiSupervisedStratifiedShuffleSplit(4, train_size=5, test_size=4, random_state=5),
            StratifiedShuffleSplit(4, train_size=5, test_size=4, random_state=5),
        ),
    ],
    ids=str,
)
def test_labelled_rows_are_split_as_scikit_learn_splits_them(ours, theirs):
    pairs = zip(splits(ours), splits(theirs, Y[LABELLED]), strict=True)
    for (train, test), (their_train, their_test) in pairs:
        np.testing.assert_array_equal(train[Y[train] >= 0], np.sort(LABELLED[their_train]))
        np.testing.assert_array_equal(test, LABELLED[their_test])


@pytest.mark.parametrize("cv", SPLITTERS[1:], ids=str)
def test_all_ways_to_mark_unlabelled_rows_agree(cv):
    words = np.array(["x", "y", "z"], dtype=object)[Y]
    words[Y < 0] = None
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    forms = [
        Y.astype(float),
        np.where(Y < 0, np.nan, Y),
        Y.tolist(),
        words,
        words.tolist(),
        pd.Series(words),
        pd.Series(np.where(Y < 0, None, Y)).astype("Int64"),
        pl.Series([None if code < 0 else code for code in Y.tolist()]),
    ]
    for y in forms:
        assert_same(splits(cv, y), splits(cv))


@pytest.mark.parametrize("cv", SPLITTERS[1:2], ids=str)
def test_labels_as_text_are_split_alike(cv):
    with pytest.warns(UnlabelledTextWarning, match=r"'-1' \(6 rows\)"):
        assert_same(splits(cv, Y.astype(str)), splits(cv))


def test_any_form_of_rows():
    cv = SemiSupervisedKFold(3)
    for X in (np.zeros((19, 2)), csr_array((19, 2)), [[0]] * 19):
        assert_same(list(cv.split(X, Y)), splits(cv))


def test_without_unlabelled_rows_it_is_the_ordinary_splitter():
    y = np.arange(30) % 3
    assert_same(splits(SemiSupervisedKFold(3), y), splits(StratifiedKFold(3), y))


# --- groups ---------------------------------------------------------------------------------------


def random_study(seed):
    """Return labels and groups of 12 to 20 donors, of one class each or of both."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(rng.integers(12, 21)), 4)
    y = groups % 2 if seed % 2 else np.arange(len(groups)) % 2
    return np.where(rng.random(len(y)) < 0.6, y, -1), np.array(list("abcdefghijklmnopqrst"))[groups]


GROUP_SPLITTERS = [
    SemiSupervisedGroupKFold(n_splits=3),
    SemiSupervisedGroupKFold(n_splits=3, shuffle=True, random_state=0),
    SemiSupervisedStratifiedShuffleSplit(n_splits=3, test_size=0.4, random_state=0),
]


@pytest.mark.parametrize("cv", GROUP_SPLITTERS, ids=str)
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (0, 2, 3, 4, 5))]
)
def test_no_group_is_on_both_sides(cv, seed):
    y, groups = random_study(seed)
    found = list(cv.split(np.zeros((len(y), 1)), y, groups=groups))
    assert len(found) == cv.get_n_splits() == 3
    for train, test in found:
        assert not set(groups[train]) & set(groups[test])
        assert (y[test] >= 0).all()
        assert set(y[test]) == {0, 1} <= set(y[train])
        # all that is not of a tested group trains
        assert set(train) == set(np.flatnonzero(~np.isin(groups, groups[test])))
        assert (np.diff(train) > 0).all()
        share = np.mean(y[test]) - np.mean(y[y >= 0])
        assert abs(share) < 0.25


@pytest.mark.parametrize("cv", GROUP_SPLITTERS[:2], ids=str)
def test_each_labelled_row_of_a_group_is_in_one_fold(cv):
    y, groups = random_study(1)
    tested = [test for _, test in cv.split(y, y, groups)]
    np.testing.assert_array_equal(np.sort(np.concatenate(tested)), np.flatnonzero(y >= 0))


def test_random_splits_hold_the_asked_share_of_the_groups():
    y, groups = random_study(1)
    n_groups = len(np.unique(groups[y >= 0]))
    for size, expected in [(4, 4), (0.5, -(-n_groups // 2))]:
        cv = SemiSupervisedStratifiedShuffleSplit(5, test_size=size, random_state=0)
        for _, test in cv.split(y, y, groups):
            assert len(np.unique(groups[test])) == expected


def test_folds_of_groups_of_one_row_are_balanced():
    y = np.array([0] * 6 + [1] * 6 + [-1] * 4)
    for _, test in SemiSupervisedGroupKFold(3).split(y, y, np.arange(16)):
        np.testing.assert_array_equal(np.bincount(y[test]), [2, 2])


def test_groups_that_cannot_be_split_are_refused():
    y = np.array([0, 0, 1, 1, -1])
    rows = np.zeros((5, 1))
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        SemiSupervisedGroupKFold(2).split(rows, y)
    message = (
        "n_splits=3 cannot be greater than the number of groups with labelled rows, which is 2"
    )
    with pytest.raises(ValueError, match=message):
        SemiSupervisedGroupKFold(3).split(rows, y, ["a", "a", "b", "b", "c"])
    with pytest.raises(ValueError, match=r"groups must hold .*: 1 of 5 rows have none"):
        SemiSupervisedGroupKFold(2).split(rows, y, ["a", "a", "b", "b", None])
    cv = SemiSupervisedStratifiedShuffleSplit(2, test_size=0.5)
    with pytest.raises(ValueError, match=r"at least two groups of a class.*: class 0 has one"):
        cv.split(rows, y, ["a", "a", "b", "c", "c"])


@pytest.mark.parametrize("cv", GROUP_SPLITTERS[1:], ids=str)
def test_groups_reach_the_splitter_in_cross_validation(wine, cv):
    X, y, _ = wine
    groups = np.arange(len(y)) % 12
    model = make_pipeline(StandardScaler(), LabelledOnly(LogisticRegression()))
    found = cross_validate(model, X, y, groups=groups, cv=cv, return_indices=True)
    assert_same(list(zip(*found["indices"].values(), strict=True)), list(cv.split(X, y, groups)))
    with config_context(enable_metadata_routing=True):
        routed = cross_validate(model, X, y, params={"groups": groups}, cv=cv)
        np.testing.assert_array_equal(routed["test_score"], found["test_score"])
        if isinstance(cv, SemiSupervisedStratifiedShuffleSplit):
            rows = clone(cv, safe=False).set_split_request(groups=False)
            alone = cross_validate(model, X, y, cv=rows)
            np.testing.assert_array_equal(
                alone["test_score"], cross_val_score(model, X, y, cv=rows)
            )


def test_groups_reach_a_ranker_in_a_pipeline(wine):
    """And the splitter as well, from the same parameter."""
    X, y, _ = wine
    groups = np.arange(len(y)) % 12
    with config_context(enable_metadata_routing=True):
        ranker = GroupsSeen(n_features_to_select=5).set_fit_request(groups=True)
        model = make_pipeline(StandardScaler(), ranker, LabelledOnly(LogisticRegression()))
        model.fit(X, y, groups=groups)
        np.testing.assert_array_equal(model[1].groups_, groups)
        found = cross_validate(
            model,
            X,
            y,
            params={"groups": groups},
            cv=SemiSupervisedGroupKFold(3),
            return_estimator=True,
            return_indices=True,
            error_score="raise",
        )
    for fitted, train in zip(found["estimator"], found["indices"]["train"], strict=True):
        np.testing.assert_array_equal(fitted[1].groups_, np.unique(groups[train], False, True)[1])


class GroupsSeen(SSFI):
    """SSFI that remembers the groups of its rows."""

    def _score(self, data):
        self.groups_ = data.design.groups
        return super()._score(data)


# --- the conventions of scikit-learn --------------------------------------------------------------


def test_repr():
    expected = "SemiSupervisedKFold(n_splits=3, random_state=0, shuffle=True)"
    assert repr(SPLITTERS[1]) == expected
    assert repr(SPLITTERS[2]) == (
        "SemiSupervisedStratifiedShuffleSplit(n_splits=3, random_state=0,\n"
        "                   test_size=0.5, train_size=None)"
    )


def test_metadata_routing():
    for cv in [*SPLITTERS, SemiSupervisedGroupKFold()]:
        routing = cv.get_metadata_routing()
        assert_request_is_empty(routing, exclude=["split"])
        if isinstance(cv, SemiSupervisedKFold):
            assert not routing.split.requests
            assert not hasattr(cv, "set_split_request")
        else:
            assert routing.split.requests == {"groups": True}


@pytest.mark.parametrize("cv", SPLITTERS[:2], ids=str)
def test_groups_are_ignored_with_a_warning(cv):
    message = f"The groups parameter is ignored by {type(cv).__name__}"
    with pytest.warns(UserWarning, match=message):
        cv.split(np.zeros((len(Y), 1)), Y, groups=np.arange(len(Y)))


@pytest.mark.parametrize("cv", SPLITTERS[1:], ids=str)
def test_y_is_required(cv):
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        cv.split(np.zeros((19, 1)))
    with pytest.raises(ValueError, match=r"needs labelled rows to test on: all 19 values of y"):
        cv.split(np.zeros((19, 1)), None)


def test_a_seed_repeats_and_counts_as_constant():
    for cv in SPLITTERS:
        assert_same(splits(cv), splits(cv))
        assert _yields_constant_splits(cv)


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: SemiSupervisedKFold(3, shuffle=True, random_state=seed),
        lambda seed: SemiSupervisedStratifiedShuffleSplit(3, test_size=0.5, random_state=seed),
    ],
)
def test_another_seed_splits_differently(make):
    tests = [[set(test) for _, test in splits(make(seed))] for seed in (0, 1)]
    assert tests[0] != tests[1]
    state = make(np.random.RandomState(0))
    assert [set(test) for _, test in splits(state)] != [set(test) for _, test in splits(state)]
    assert not _yields_constant_splits(make(None))


def test_relabelling_the_classes_does_not_change_the_folds():
    renamed = np.where(Y < 0, Y, 7 - Y)
    for cv in SPLITTERS[:2]:
        assert_same(splits(cv), splits(cv, renamed))


def test_random_state_needs_shuffling():
    with pytest.raises(ValueError, match="has no effect since shuffle is False"):
        SemiSupervisedKFold(3, random_state=0)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", SPLITTERS[2:], ids=str)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(19, -1), "needs labelled rows to test on: all 19 values of y are unlabelled"),
        (Y[1:], "y must have one label for each row of X: got 18 labels for 19 rows"),
        (np.linspace(0, 1, 19), "Unknown label type: continuous"),
    ],
)
def test_bad_labels(cv, y, message):
    with pytest.raises(ValueError, match=message):
        cv.split(np.zeros((19, 1)), y)


def test_more_folds_than_rows():
    y = np.array([0, 1, 0, 1, -1, -1])
    message = "n_splits=5 cannot be greater than the number of labelled rows, which is 4"
    with pytest.raises(ValueError, match=message):
        SemiSupervisedKFold(5).split(np.zeros((6, 1)), y)
    message = "n_splits=3 cannot be greater than the number of members in each class"
    with pytest.raises(ValueError, match=message):
        splits(SemiSupervisedKFold(3), y)


def test_a_class_with_fewer_rows_than_folds_is_warned_of():
    with pytest.warns(UserWarning, match="least populated class in y has only 3 members"):
        found = splits(SemiSupervisedKFold(4))
    assert sorted(np.count_nonzero(Y[test] == 2) for _, test in found) == [0, 1, 1, 1]


def test_a_single_row_of_a_class_cannot_be_split_at_random():
    y = np.array([0, 0, 0, 1, 1, 1, 2, -1])
    with pytest.raises(ValueError, match=r"too few members are: \[2\]|has only 1 member"):
        splits(SemiSupervisedStratifiedShuffleSplit(2, test_size=0.5), y)


# --- at work --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", SPLITTERS, ids=str)
@pytest.mark.parametrize("scoring", [None, pytest.param("accuracy", marks=pytest.mark.nightly)])
def test_scores_are_those_of_a_loop(wine, cv, scoring):
    X, y, truth = wine
    model = make_pipeline(StandardScaler(), LabelledOnly(LogisticRegression()))
    scores = cross_val_score(model, X, y, cv=cv, scoring=scoring)
    expected = []
    for train, test in cv.split(X, y):
        fitted = clone(model).fit(X[train], y[train])
        expected.append(np.mean(fitted.predict(X[test]) == truth[test]))
    np.testing.assert_allclose(scores, expected)


def test_words_with_none_are_scored(wine):
    X, y, _ = wine
    words = np.array(["red", "rose", "white"], dtype=object)[y]
    words[y < 0] = None
    model = make_pipeline(StandardScaler(), LabelledOnly(LogisticRegression()))
    cv = SemiSupervisedKFold(3)
    expected = cross_val_score(model, X, y, cv=cv)
    np.testing.assert_array_equal(cross_val_score(model, X, words, cv=cv), expected)


@pytest.mark.parametrize("cv", SPLITTERS[:1], ids=str)
def test_a_search_over_the_number_of_features(wine, cv):
    X, y, _ = wine
    model = make_pipeline(FisherScore(), StandardScaler(), LabelledOnly(LogisticRegression()))
    grid = {"fisherscore__n_features_to_select": [1, 4, 13]}
    search = GridSearchCV(model, grid, cv=cv, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_params_["fisherscore__n_features_to_select"] > 1
    for i, n_features in enumerate(grid["fisherscore__n_features_to_select"]):
        model.set_params(fisherscore__n_features_to_select=n_features)
        mean = cross_val_score(model, X, y, cv=cv).mean()
        assert search.cv_results_["mean_test_score"][i] == pytest.approx(mean)


def test_a_ranker_is_given_the_unlabelled_rows(wine):
    X, y, _ = wine
    cv = SemiSupervisedKFold(3)
    model = make_pipeline(LaplacianScore(n_features_to_select=5), LabelledOnly(GaussianNB()))
    found = cross_validate(model, X, y, cv=cv, return_estimator=True, return_indices=True)
    for fitted, train in zip(found["estimator"], found["indices"]["train"], strict=True):
        assert (y[train] == -1).sum() == (y == -1).sum()
        alone = LaplacianScore().fit(X[train], y[train])
        np.testing.assert_array_equal(fitted[0].scores_, alone.scores_)


def test_nested_searches(wine):
    X, y, _ = wine
    model = make_pipeline(StandardScaler(), LabelledOnly(LogisticRegression()))
    grid = {"labelledonly__estimator__C": [0.01, 1.0]}
    search = GridSearchCV(model, grid, cv=SemiSupervisedKFold(2), error_score="raise")
    assert cross_val_score(search, X, y, cv=SemiSupervisedKFold(3)).mean() > 0.9


def test_predictions_need_a_partition(wine):
    """As for every splitter of scikit-learn whose test sets do not hold all rows."""
    X, y, _ = wine
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(LabelledOnly(LogisticRegression()), X, y, cv=SemiSupervisedKFold(3))
