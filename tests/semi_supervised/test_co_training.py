"""What all co-training classifiers share, and the two oldest of them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import RASCO, CoTraining, ProbMRMR, RelRASCO, SelfTraining
from semisift.exceptions import NoUnlabelledDataWarning
from semisift.semi_supervised.co_training import merge_picks, shuffled
from semisift.utils._random import Purpose, stream_words
from tests.conftest import make_data, needs_callbacks
from tests.reference import cotraining as reference

ALL = [
    SelfTraining(),
    SelfTraining(LogisticRegression(max_iter=5000), label_by="min_confidence"),
    CoTraining(),
    RASCO(GaussianNB(), n_members=3),
    RelRASCO(),
    ProbMRMR(),
]
# The others share the loop and the trainers of these.
DAILY = {0, 2, 4}
CASES = [
    pytest.param(
        model,
        marks=() if i in DAILY else pytest.mark.nightly,
        id=type(model).__name__ + str(i),
    )
    for i, model in enumerate(ALL)
]

every = pytest.mark.parametrize("model", CASES)


def words(seed):
    return lambda iteration, rows: stream_words(seed, iteration, Purpose.TIES, np.array(rows))


@every
def test_labelled_rows_keep_their_labels(model, data):
    model = clone(model).fit(data.X, data.y)
    known = data.y >= 0
    assert_array_equal(model.transduction_[known], data.y[known])
    assert_array_equal(model.labeled_iter_[known], 0)
    assert_array_equal(model.labeled_iter_[~known] == -1, model.transduction_[~known] == -1)
    assert (model.labeled_iter_[~known] > 0).any()
    assert model.score(data.X, data.y_true) > 0.7


@every
def test_kinds_of_labels(model, data):
    model = clone(model).fit(data.X, data.y)
    names = np.array([None, "no", "yes"], dtype=object)
    named = clone(model).fit(data.X, names[data.y + 1])
    assert_array_equal(named.classes_, ["no", "yes"])
    assert_array_equal(named.predict(data.X), names[model.predict(data.X) + 1])
    assert_array_equal(named.transduction_, names[model.transduction_ + 1])
    floats = clone(model).fit(data.X, np.where(data.y < 0, np.nan, data.y))
    assert_array_equal(floats.predict(data.X), model.predict(data.X))


@every
def test_forms_of_x(model, data):
    expected = clone(model).fit(data.X, data.y)
    frames = [pytest.importorskip(name).DataFrame for name in ("pandas", "polars")]
    forms = [csr_array, csc_array, np.float32, *frames]
    if isinstance(model.estimator, GaussianNB):  # which does not take sparse rows
        forms = forms[2:]
    for form in forms:
        X = form(data.X)
        found = clone(model).fit(X, data.y)
        assert_array_equal(found.labeled_iter_, expected.labeled_iter_)
        assert_allclose(found.predict_proba(X), expected.predict_proba(data.X), atol=1e-5)


@every
def test_pickle_and_read_only(model, data):
    X = data.X.copy()
    X.flags.writeable = False
    model = clone(model).fit(X, data.y)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


@every
def test_nothing_unlabelled(model, data):
    with pytest.warns(NoUnlabelledDataWarning, match="no unlabelled row"):
        model = clone(model).fit(data.X, data.y_true)
    assert model.n_iter_ == 1
    assert model.termination_condition_ == "all_labeled"
    assert_array_equal(model.labeled_iter_, 0)


@every
def test_too_few_labels(model, data):
    with pytest.raises(ValueError, match="needs labelled rows of at least two classes"):
        clone(model).fit(data.X, np.where(data.y == 0, 0, -1))
    X = data.X.copy()
    X[5, 3] = np.nan
    with pytest.raises(ValueError, match="column 3"):
        clone(model).fit(X, data.y)


@every
def test_scores_labelled_rows_alone(model, data):
    model = clone(model).fit(data.X, data.y)
    known = data.y >= 0
    assert model.score(data.X, data.y) == model.score(data.X[known], data.y[known])
    assert len(cross_val_score(model, data.X, data.y, cv=2)) == 2
    with pytest.raises(ValueError, match=r"sample_weight must be one number.*got 120 for 60 rows"):
        model.score(data.X, data.y, sample_weight=np.ones(120))
    with pytest.raises(ValueError, match="score needs labelled rows"):
        model.score(data.X, np.full(60, -1))


@needs_callbacks
def test_progress_bar(data, capsys):
    from sklearn.callback import ProgressBar

    for model in ALL:
        model = clone(model).set_callbacks(ProgressBar())
        model.fit(data.X, data.y)
        assert type(model).__name__ in capsys.readouterr().out


# --- self-training --------------------------------------------------------------------------------


@pytest.mark.parametrize(("estimator", "k_best"), [(GaussianNB(), 3), (LogisticRegression(), 1)])
def test_self_training_against_the_reference(data, estimator, k_best):
    model = SelfTraining(estimator, k_best=k_best, max_iter=5, random_state=2).fit(data.X, data.y)
    codes, iterations = reference.rasco(
        data.X, data.y, 2, [np.arange(8)], lambda: clone(estimator), words(2), 5, k_best
    )
    assert_array_equal(model.transduction_, codes)
    assert_array_equal(model.labeled_iter_, iterations)


def test_rasco_of_all_columns_is_self_training(data):
    one = RASCO(n_members=1, max_features=8, random_state=1).fit(data.X, data.y)
    other = SelfTraining(random_state=1).fit(data.X, data.y)
    assert_array_equal(one.labeled_iter_, other.labeled_iter_)
    assert_array_equal(one.transduction_, other.transduction_)


@pytest.mark.parametrize("threshold", [0.6, 0.9])
def test_threshold_is_that_of_scikit_learn(data, threshold):
    model = SelfTraining(LogisticRegression(), label_by="min_confidence", min_confidence=threshold)
    model.fit(data.X, data.y)
    expected = SelfTrainingClassifier(LogisticRegression(), threshold=threshold)
    expected.fit(data.X, data.y)
    assert_array_equal(model.transduction_, expected.transduction_)
    assert_array_equal(model.labeled_iter_, expected.labeled_iter_)
    assert_allclose(model.predict_proba(data.X), expected.predict_proba(data.X))
    assert model.termination_condition_ == expected.termination_condition_
    known = data.y >= 0
    supervised = LogisticRegression().fit(data.X[known], data.y[known])
    begin, end = model.evaluate_committee(data.X, data.y_true)
    assert begin.accuracy == supervised.score(data.X, data.y_true)
    assert end.accuracy == expected.score(data.X, data.y_true)


def test_a_threshold_that_nothing_exceeds_is_the_supervised_fit(data):
    model = SelfTraining(LogisticRegression(C=1e-6), label_by="min_confidence", min_confidence=0.99)
    model.fit(data.X, data.y)
    assert_array_equal(model.transduction_, data.y)
    assert model.termination_condition_ == "no_change"


# --- co-training ----------------------------------------------------------------------------------


@pytest.mark.parametrize("pool_size", [10, 75, None])
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))]
)
def test_co_training_against_the_reference(seed, pool_size):
    data = make_data(n_rows=90, per_class=5, n_classes=2, seed=seed)
    data.y[np.flatnonzero(data.y == 1)[:2]] = -1  # 5 and 3 labelled rows
    model = CoTraining(GaussianNB(), pool_size=pool_size, max_iter=6, random_state=seed)
    model.fit(data.X, data.y)
    assert_array_equal(model.n_per_class_, [2, 1])
    assert_array_equal(np.sort(np.concatenate(model.views_)), np.arange(8))
    pool = shuffled(np.flatnonzero(data.y < 0).astype(np.int32), seed)
    given = reference.co_training(
        data.X, data.y, model.views_, [2, 1], GaussianNB, words(seed), pool, pool_size, 6
    )
    assert_array_equal(model.transduction_, given)


def test_swapping_the_views_changes_nothing(data):
    views = [0, 2, 4, 6], [1, 3, 5, 7]
    one = CoTraining(GaussianNB(), views=views).fit(data.X, data.y)
    other = CoTraining(GaussianNB(), views=views[::-1]).fit(data.X, data.y)
    assert_array_equal(one.labeled_iter_, other.labeled_iter_)
    assert_array_equal(one.transduction_, other.transduction_)


def test_identical_views_are_self_training(data):
    model = CoTraining(GaussianNB(), views=(range(8), range(8)), pool_size=None, max_iter=5)
    model.fit(data.X, data.y)
    alone = SelfTraining(GaussianNB(), max_iter=5).fit(data.X, data.y)
    assert_array_equal(model.labeled_iter_, alone.labeled_iter_)


def test_clashes():
    one = np.array([0, 1, 2, 5]), np.array([0, 0, 1, 1])
    other = np.array([1, 2, 3, 5]), np.array([1, 1, 0, 0])
    sureness = np.array([[0.9, 0.8, 0.7, 0.6, 1.0, 0.7], [0.6, 0.9, 0.9, 0.9, 1.0, 0.7]])
    places, codes = merge_picks(one, other, sureness)
    assert_array_equal(places, [0, 1, 2, 3])  # of row 5 both are equally sure
    assert_array_equal(codes, [0, 1, 1, 0])


def test_views(data):
    for views, message in [
        (([0, 1], [2], [3]), "two lists of columns: got 3"),
        (([0, 8], [1]), "from 0 to 7: got"),
        (([0, 0], [1]), "each once in a view"),
        (([], [1]), "column numbers"),
        (([0.5], [1]), "column numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            CoTraining(views=views).fit(data.X, data.y)


def test_views_of_different_sizes(data):
    model = CoTraining(DecisionTreeClassifier(), views=([0], [1, 2, 3]), random_state=0)
    assert model.fit(data.X, data.y).predict(data.X).shape == (60,)


def test_two_members_that_vote_take_the_first_of_two_classes():
    data = make_data(n_rows=100, n_classes=3, per_class=4)
    model = CoTraining(GaussianNB(), voting="hard", random_state=1).fit(data.X[:60], data.y[:60])
    X, truth = data.X[60:], data.y_true[60:]
    for when, members in (("begin", model._first_members.fitted), ("end", model._members.fitted)):
        choices = np.array([m.estimator.predict(X[:, m.columns]) for m in members])
        vote = choices.min(axis=0)
        assert getattr(model.evaluate_committee(X, truth), when).accuracy == (vote == truth).mean()
    assert_array_equal(model.predict(X), vote)
