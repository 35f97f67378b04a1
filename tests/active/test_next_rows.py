"""`query`: the rows to label next, and why, as a user meets them."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from semisift import METHODS, SSFI, Consensus, FisherScore, OutOfCoreMatrix, VarianceScore
from semisift.base import _analysis
from semisift.out_of_core import _matrix as stored_rows
from tests.conftest import make_data

REASONS = {
    "start": "nothing is labelled yet",
    "stranger": "fits none of the classes",
    "disagreement": "the parts disagree",
    "cover": "that nothing like it is labelled among",
    "border": "lies between",
    "sure": "most likely",
}


def groups_of_rows(n=300, n_groups=3, seed=0):
    """Return rows in groups far apart, which are their classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_groups
    X = rng.normal(size=(n, 30))
    X[:, :n_groups] += 6 * np.eye(n_groups)[y]
    return X, y


DAILY = {"fisher", "laplacian", "semi-mim", "ssfi", "consensus"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in DAILY else pytest.mark.nightly) for n in METHODS],
)
def test_every_ranker_tells_from_any_labels(name):
    data = make_data()
    ranker = METHODS[name].cls()
    for y in (None, np.where(data.y == 1, 1, -1), data.y):
        found = ranker.query(data.X, y, n=4)
        assert len(found) == len(set(found.rows.tolist())) == 4
        assert y is None or (y[found.rows] < 0).all()
        for kind, reason in zip(found.kinds, found.reasons, strict=True):
            assert REASONS[kind] in reason
    assert not hasattr(ranker, "ranking_")


def test_the_same_answer_for_all_forms_of_the_rows():
    data = make_data()
    X = np.where(data.X > 1, data.X, 0.0)
    expected = Consensus().query(X, data.y)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    for other in (csr_array(X), frame, np.asfortranarray(X), X.tolist(), OutOfCoreMatrix(X)):
        assert Consensus().query(other, data.y).rows.tolist() == expected.rows.tolist()
    again = Consensus(n_jobs=2).query(X, np.where(data.y < 0, None, data.y.astype(object)))
    assert again.rows.tolist() == expected.rows.tolist()
    assert again.reasons == expected.reasons


def test_from_no_label_each_group_is_asked_about():
    X, y = groups_of_rows()
    found = FisherScore().query(X, n=3)
    assert set(y[found.rows]) == {0, 1, 2}
    assert found.stands_for.sum() == 300
    assert found.guesses.tolist() == [None] * 3
    assert np.isnan(found.confidence).all()


def test_a_group_without_a_label_is_asked_about_first():
    X, y = groups_of_rows()
    given = np.full(300, -1)
    given[[0, 1, 3, 4]] = y[[0, 1, 3, 4]]
    found = Consensus().query(X, given, n=1)
    assert y[found.rows[0]] == 2
    only_one = np.where(given == 0, 0, -1)
    assert y[Consensus().query(X, only_one, n=1).rows[0]] != 0


def test_rows_of_no_class_are_told_of():
    X, y = groups_of_rows(900)
    given = np.where((np.arange(900) < 60) & (y < 2), y, -1)
    found = Consensus().query(X, given, n=1)
    assert found.kinds == ["stranger"]
    assert found.reasons[0].startswith("fits none of the classes; represents ")


def test_the_parts_of_a_fitted_ranker_have_a_say():
    data = make_data(n_rows=120)
    ranker = Consensus(random_state=0)
    before = ranker.query(data.X, data.y)
    ranker.fit(data.X, data.y)
    after = ranker.query(data.X, data.y)
    assert after.rows.tolist() == before.rows.tolist()
    reasons = [reason for reason in after.reasons if reason.startswith("the parts disagree")]
    assert reasons
    numbers = [
        [int(word) for word in reason.split(";")[0].split() if word.isdigit()] for reason in reasons
    ]
    assert max(sum(each[:2]) for each in numbers) <= 8  # seven members and SSFI
    # a ranker that was fitted to other labels has none
    other = np.where(np.arange(120) % 5 == 0, data.y, -1)
    assert ranker.query(data.X, other).reasons == Consensus().query(data.X, other).reasons


def test_a_reason_names_the_column_and_the_classes():
    X, y = groups_of_rows(200, 2)
    X[100:] *= 0.15  # rows between the two
    X = pd.DataFrame(X, columns=[f"gene {j}" for j in range(30)])
    given = np.where(np.arange(200) < 6, y, -1)
    names = np.array(["ham", "spam", None], dtype=object)[given]
    found = Consensus().query(X, names, n=20)
    reasons = " ".join(found.reasons)
    assert "ham" in reasons
    assert "spam" in reasons
    speaking = [reason for reason in found.reasons if "speaks most" in reason]
    assert speaking
    assert all("for which gene " in reason for reason in speaking)


def test_groups_batches_and_weights():
    data = make_data(n_rows=120)
    groups = np.repeat(np.arange(12), 10)
    found = Consensus().query(data.X, data.y, n=8, groups=groups)
    assert len(set(groups[found.rows].tolist())) >= 6
    weights = np.where(data.y < 0, np.arange(120) % 2, 1.0)
    for ranker in (Consensus(), FisherScore()):  # which keep rows of weight 0, and do not
        rows = ranker.query(data.X, data.y, sample_weight=weights).rows
        assert (weights[rows] > 0).all()
        assert (data.y[rows] < 0).all()
    batch = np.arange(120) % 2
    shifted = data.X + 50.0 * batch[:, None]
    plain, corrected = (Consensus().query(X, data.y, batch=batch).rows for X in (data.X, shifted))
    assert plain.tolist() == corrected.tolist()
    with pytest.raises(TypeError, match="LaplacianScore takes no sample_weight"):
        METHODS["laplacian"].cls().query(data.X, data.y, sample_weight=weights)


def test_rows_that_do_not_fit_into_memory(monkeypatch):
    monkeypatch.setattr(stored_rows, "BLOCK_VALUES", 1 << 12)
    monkeypatch.setattr(stored_rows, "READ_BYTES", 1 << 14)
    X, y = groups_of_rows(3000)
    given = np.where(np.arange(3000) < 30, y, -1)
    found = Consensus().query(OutOfCoreMatrix(X, max_memory=2 * X.nbytes), given)
    assert (given[found.rows] < 0).all()
    assert found.n_unlabelled == 2970
    assert len(found) == 10


def test_many_rows_are_looked_at_in_part(monkeypatch):
    monkeypatch.setattr(_analysis, "MAX_ROWS_COMPARED", 200)
    X, y = groups_of_rows(2000)
    given = np.where(np.arange(2000) < 20, y, -1)
    found = Consensus().query(X, given, n=5)
    assert (given[found.rows] < 0).all()
    assert found.rows.max() > 300
    assert 0 < found.stands_for.sum() <= 1980
    ranker = Consensus(n_members=50).fit(X, given)
    assert ranker.query(X, given, n=5).rows.tolist() == found.rows.tolist()


def test_missing_values():
    data = make_data()
    X = data.X.copy()
    X[::7, 2] = np.nan
    assert len(Consensus().query(X, data.y)) == 10


def test_nothing_to_ask():
    data = make_data()
    found = SSFI().query(data.X, np.arange(60) % 2)
    assert len(found) == 0
    assert found.to_frame().columns == ["row", "reason", "guess", "confidence", "stands_for"]
    assert "No row is without a label" in found._repr_html_()


@pytest.mark.parametrize("n", [0, -1, 2.5, "three", None])
def test_numbers_that_are_none(n):
    with pytest.raises(ValueError, match=f"n must be a whole number, 1 or more: got {n!r}"):
        Consensus().query(np.eye(5), n=n)


def test_bad_rows_and_labels():
    with pytest.raises(ValueError, match="one label for each row of X: got 3 labels for 5 rows"):
        VarianceScore().query(np.eye(5), [0, 1, -1])
    with pytest.raises(ValueError, match="infinity"):
        VarianceScore().query(np.full((5, 2), np.inf), [0, 1, -1, -1, -1])


def test_frames_and_notebooks():
    data = make_data()
    found = Consensus().query(data.X, data.y, n=3)
    frame = found.to_frame("pandas", row_names=[f"s{i}" for i in range(60)])
    assert frame["row"].tolist() == [f"s{i}" for i in found.rows]
    assert frame["guess"].tolist() == [str(each) for each in found.guesses]
    np.testing.assert_allclose(frame["confidence"], found.confidence)
    assert found.to_frame()["row"].to_list() == found.rows.tolist()
    assert repr(found) == "<NextRows: 3 of 48 unlabelled rows>"
    with pytest.raises(ValueError, match="output must be 'polars' or 'pandas': got 'csv'"):
        found.to_frame("csv")
    shown = found._repr_html_()
    assert shown.count("<tr>") == 4
    named = np.array(["<b>", "&", None], dtype=object)[data.y]
    evil = Consensus().query(data.X, named, n=3)._repr_html_()
    assert "<b>" not in evil
    assert "&lt;b&gt;" in evil or "&amp;" in evil
