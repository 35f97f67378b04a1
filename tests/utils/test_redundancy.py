"""Correlated features behind the others: the walk, what a ranker makes of it, how it shows."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from semisift import METHODS, FisherScore, VarianceScore
from semisift.cli import main
from semisift.report import render
from semisift.selection import ranking_result
from semisift.utils import _redundancy
from semisift.utils._redundancy import find_copies, put_copies_last, representative_correlations
from tests.conftest import make_data
from tests.methods.test_common import make
from tests.nightly import daily_are, nightly

FORMS = [np.asarray, np.asfortranarray, sparse.csc_array]
every_form = pytest.mark.parametrize("form", FORMS)


def make_copies(n_rows=40, n_groups=6, n_each=5, seed=0):
    """Return groups of columns that resemble each other more or less, in random order."""
    rng = np.random.default_rng(seed)
    origin = np.repeat(rng.normal(size=(n_rows, n_groups)), n_each, axis=1)
    noise = rng.normal(size=origin.shape) * rng.choice([0.05, 0.4, 1.5], origin.shape[1])
    X = (origin + noise) * rng.choice([-1, 1, 30], origin.shape[1])
    X[rng.random(X.shape) < 0.4] = 0.0
    return X[:, rng.permutation(X.shape[1])]


def walk_slowly(X, walk, threshold, n_kept):
    """Return what `find_copies` does, by one correlation after the other."""
    every = abs(pd.DataFrame(X).corr().to_numpy())
    kept, is_copy, stands = [], [], []
    for column in walk:
        correlations = every[column, kept].tolist()
        if len(kept) < n_kept and correlations and max(correlations) > threshold:
            is_copy.append(True)
            stands.append(kept[int(np.argmax(correlations))])
            continue
        is_copy.append(False)
        stands.append(column)
        if len(kept) < n_kept:
            kept.append(column)
    return is_copy, stands


# --- the walk -------------------------------------------------------------------------------------


@every_form
@pytest.mark.parametrize("threshold", [nightly(0.2), 0.5, 0.9])
@pytest.mark.parametrize("n_kept", [nightly(1), 4, 30])
@pytest.mark.parametrize("seed", [0, nightly(1)])
def test_agreement_with_one_correlation_after_the_other(form, threshold, n_kept, seed):
    X = make_copies(seed=seed)
    walk = np.random.default_rng(seed).permutation(30)
    is_copy, stands = find_copies(form(X), walk, threshold, n_kept)
    expected_copy, expected_stands = walk_slowly(X, walk, threshold, n_kept)
    assert_array_equal(is_copy, expected_copy)
    assert_array_equal(stands, expected_stands)


@every_form
@pytest.mark.parametrize("limits", [(16, 1 << 27), (16, 0), (256, 0)])
def test_blocks_and_memory_do_not_matter(form, limits, monkeypatch):
    X = make_copies(60, 40, 5)
    walk = np.random.default_rng(0).permutation(200)
    expected = find_copies(form(X), walk, 0.6, 50)
    monkeypatch.setattr(_redundancy, "BLOCK_COLUMNS", limits[0])
    monkeypatch.setattr(_redundancy, "MAX_CACHED_VALUES", limits[1])
    for one, other in zip(expected, find_copies(form(X), walk, 0.6, 50), strict=True):
        assert_array_equal(one, other)


@every_form
def test_a_correlation_equal_to_the_threshold_does_not_exceed_it(form):
    X = np.array([[1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0], [1, 0, 1, 0, 1, 0, 1, 0.0]]).T
    assert not find_copies(form(X), np.arange(3), 0.5, 3)[0].any()
    assert_array_equal(find_copies(form(X), np.arange(3), 0.499, 3)[0], [False, True, False])


@every_form
def test_constant_columns_and_extreme_values(form):
    X = make_copies()[:, :4] * [1e300, 1e-300, 1.0, 1.0]
    X = np.column_stack([X, np.full(40, 7.0), X[:, 0], X[:, 1]])
    is_copy, stands = find_copies(form(X), np.arange(7), 0.99, 7)
    assert_array_equal(is_copy[4:], [False, True, True])
    assert_array_equal(stands[4:], [4, 0, 1])


def test_groups_of_the_new_order(monkeypatch):
    monkeypatch.setattr(_redundancy, "MIN_KEPT", 2)
    X = np.random.default_rng(0).normal(size=(50, 6))
    X[:, 1], X[:, 5] = 2 * X[:, 0], -X[:, 3]
    ranking = np.arange(1, 7)
    scored = np.array([True, True, True, True, False, True])
    changed, stands = put_copies_last(X, ranking, scored, 0.9, 0)
    # kept: 0 and 2; not reached: 3 and 5, which would be its copy; copies: 1; no score: 4
    assert_array_equal(np.argsort(changed), [0, 2, 3, 5, 1, 4])
    assert_array_equal(stands, [0, 0, 2, 3, 4, 5])
    changed, stands = put_copies_last(X, ranking, scored, 0.9, 5)
    assert_array_equal(np.argsort(changed), [0, 2, 3, 1, 5, 4])
    assert_array_equal(stands, [0, 0, 2, 3, 4, 3])


@every_form
@pytest.mark.parametrize("width", [16, 256])
def test_correlations_in_correlated_groups_have_their_sign(form, width, monkeypatch):
    monkeypatch.setattr(_redundancy, "BLOCK_COLUMNS", width)
    X = make_copies(60, 40, 5)
    X[:, 7] = 1e6 + X[:, 8]  # far from zero
    stands = find_copies(form(X), np.arange(200), 0.6, 200)[1]
    expected = [np.corrcoef(X[:, j], X[:, other])[0, 1] for j, other in enumerate(stands)]
    found = representative_correlations(form(X * np.where(np.arange(200) % 9, 1.0, 1e-200)), stands)
    assert_allclose(found, expected, atol=1e-9)
    assert (found[stands == np.arange(200)] == 1).all()
    copies = found[stands != np.arange(200)]
    assert (np.abs(copies) > 0.6).all()
    assert {-1.0, 1.0} == set(np.sign(copies))


# --- rankers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", daily_are(["fisher", "cls", "mrmr", "s3vm-rfe"], METHODS))
@pytest.mark.filterwarnings("ignore::semisift.exceptions.FallbackWarning")
def test_every_ranker_puts_copies_last(name, data):
    X = np.column_stack([data.X, -3 * data.X[:, :3] + 0.01 * data.X[:, 5:8]])
    alone = make(name, n_features_to_select=5, redundancy_threshold=None).fit(X, data.y)
    assert not hasattr(alone, "representative_")
    ranker = make(name, n_features_to_select=5, redundancy_threshold=0.95).fit(X, data.y)
    assert_array_equal(ranker.scores_, alone.scores_)
    assert_array_equal(np.sort(ranker.ranking_), np.arange(1, 12))
    assert_array_equal(ranker.score_ranking_, alone.ranking_)
    assert_array_equal(alone.score_ranking_, alone.ranking_)
    for j in range(3):
        better, copy = sorted([j, j + 8], key=lambda column: alone.ranking_[column])
        assert ranker.representative_[copy] == better == ranker.representative_[better]
        assert ranker.ranking_[copy] > 8
        assert -1 <= ranker.representative_correlation_[copy] < -0.95
        assert ranker.representative_correlation_[better] == 1
    others = np.arange(3, 8)
    assert_array_equal(ranker.representative_[others], others)
    kept = np.flatnonzero(ranker.ranking_ <= 8)
    assert_array_equal(np.argsort(ranker.ranking_[kept]), np.argsort(alone.ranking_[kept]))
    ranker.set_params(redundancy_threshold=None).fit(X, data.y)
    assert not hasattr(ranker, "representative_")
    assert not hasattr(ranker, "representative_correlation_")


@pytest.mark.parametrize("threshold", [0, 1, -0.5, 2, "much"])
def test_thresholds_out_of_range(threshold, data):
    with pytest.raises(ValueError, match="redundancy_threshold"):
        FisherScore(redundancy_threshold=threshold).fit(data.X, data.y)


def test_dense_and_sparse_rank_alike():
    X = make_copies()
    dense = VarianceScore(redundancy_threshold=0.5).fit(X)
    for form in (sparse.csr_array, sparse.csc_array):
        thin = VarianceScore(redundancy_threshold=0.5).fit(form(X))
        assert_array_equal(thin.ranking_, dense.ranking_)
        assert_array_equal(thin.representative_, dense.representative_)


def test_all_columns_are_copies_or_constant():
    X = np.column_stack([np.arange(9.0)] * 5 + [np.ones(9)])
    ranker = VarianceScore(redundancy_threshold=0.5).fit(X)
    assert len(set(ranker.representative_[:5])) == 1
    assert ranker.ranking_[5] == 6


# --- what a reader sees ---------------------------------------------------------------------------

NAMES = ["plain", "<b>bold</b>", "other", "copy & paste", "third"]


def fitted(n_copies=0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) * [16, 8, 4, 2, 1]
    X[:, 3] = 0.1 * X[:, 1]
    X = np.column_stack([X, *(X[:, 0] / (k + 2) for k in range(n_copies))])
    ranker = VarianceScore(feature_scaling=None, redundancy_threshold=0.7).fit(X)
    return ranker, X, NAMES + [f"c{k}" for k in range(n_copies)]


def test_the_ranking_names_who_stands_for_whom():
    ranker, _, names = fitted()
    frame = ranking_result(ranker, names).to_frame()
    assert frame["feature"].to_list() == ["plain", "<b>bold</b>", "other", "third", "copy & paste"]
    assert frame["representative"].to_list()[-1] == "<b>bold</b>"
    assert frame["representative"].to_list()[:4] == frame["feature"].to_list()[:4]
    assert frame["score_rank"].to_list() == [1, 2, 3, 4, 5]
    assert_allclose(frame["correlation"], 1.0)
    without = ranking_result(VarianceScore().fit(fitted()[1]))
    assert not {"representative", "score_rank", "correlation"} & set(without.to_frame().columns)


def test_the_page_lists_copies_escaped_and_folded():
    ranker, X, names = fitted(60)
    page = render(ranking_result(ranker, names), X=X)
    assert "61 correlated features rank behind the others: correlated with a better feature" in page
    folded = re.findall(r"<details class=\"copies\"><summary>(.*?)</summary>(.*?)</details>", page)
    starts = [words.partition(":")[0] for words, _ in folded]
    assert starts == ["represents 60 correlated features", "represents 1 correlated feature"]
    assert folded[0][1].count("<li>") == 30
    assert folded[0][1].endswith("and 30 more")
    assert "The best 30 of each family are listed with the feature that represents them" in page
    few = render(ranking_result(*fitted(5)[::2]))
    assert "They are listed with the feature that represents them" in few
    assert folded[1][0].endswith(": <bdi>copy &amp; paste</bdi>")
    assert folded[1][1].startswith("<ul><li><bdi>copy &amp; paste</bdi> r +1.00, score 0.")
    assert folded[1][1].endswith(f", rank {ranker.score_ranking_[3]}</li></ul>")
    assert "feature correlated with <bdi>&lt;b&gt;bold&lt;/b&gt;</bdi>" in page
    assert "<b>bold" not in page
    assert "61 features correlated with better features stand behind the others" in page


def test_the_page_without_a_threshold_says_nothing_of_copies():
    _, X, names = fitted()
    ranker = VarianceScore().fit(X)
    page = render(ranking_result(ranker, names), X=X)
    assert "near-cop" not in page.replace(".copies", "")
    assert "Two that rank high can be strongly correlated" in page


def test_variables_of_several_columns():
    ranker, _, names = fitted()
    # the second variable has the columns 1 and 2, the third the copy of column 1, and column 4
    variable_of = np.array([0, 1, 1, 2, 3])
    shown = ranking_result(ranker, names, variables=list("uvwx"), variable_of=variable_of)
    assert shown.features.tolist() == ["u", "v", "x", "w"]
    assert shown.features[shown.representative].tolist() == ["u", "v", "x", "v"]
    variable_of = np.array([0, 1, 2, 1, 3])
    own = ranking_result(ranker, names, variables=list("uvwx"), variable_of=variable_of)
    assert not own.is_copy.any()
    assert_array_equal(own.correlation, 1.0)


def test_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = make_data()
    frame = pl.DataFrame(data.X, schema=[f"x{j}" for j in range(8)])
    labels = pl.Series("label", [None if code < 0 else "AB"[code] for code in data.y])
    frame.with_columns(labels, (2 * pl.col("x0")).alias("twin")).write_csv("table.csv")
    command = ["rank", "table.csv", "--label", "label", "--method", "fisher", "--top", "3"]
    more = ["--redundancy", "0.7", "--out", "r.json", "--report", "r.html"]
    result = CliRunner().invoke(main, command + more)
    assert result.exit_code == 0, result.output
    assert "1 correlated feature ranks behind the others: correlated with" in result.stdout
    rows = json.loads((tmp_path / "r.json").read_text())["ranking"]
    last = rows[-1]
    assert {last["feature"], last["representative"]} == {"x0", "twin"}
    assert "represents 1 correlated feature" in (tmp_path / "r.html").read_text()
    for bad in ("0", "1", "x"):
        assert CliRunner().invoke(main, [*command, "--redundancy", bad]).exit_code == 2


def test_sparse_columns_far_from_zero_are_no_copies():
    rng = np.random.default_rng(0)
    X = (rng.random((200, 6)) < 0.2) * rng.normal(size=(200, 6))
    X[:, :2] = 1e8 + rng.normal(size=(200, 2))
    X[:, 2] = X[:, 0] + 0.1 * rng.normal(size=200)
    y = np.full(200, -1)
    dense = VarianceScore(redundancy_threshold=0.7).fit(X, y)
    thin = VarianceScore(redundancy_threshold=0.7).fit(sparse.csc_array(X), y)
    assert_array_equal(dense.representative_, thin.representative_)
    assert dense.representative_[0] != dense.representative_[1]


# --- columns that are kept in any case -----------------------------------------------------------


def test_the_first_columns_are_kept_whatever_they_resemble():
    rng = np.random.default_rng(0)
    own = rng.normal(size=(100, 3))
    X = np.column_stack([own[:, 0], 2 * own[:, 0], own[:, 1], -own[:, 1], own[:, 2], own[:, 0] + 1])
    walk = np.arange(6)
    is_copy, stands = find_copies(X, walk, 0.9, 6, n_sure=2)
    assert is_copy.tolist() == [False, False, False, True, False, True]
    assert stands.tolist() == [0, 1, 2, 2, 4, 0]
    assert find_copies(X, walk, 0.9, 1, n_sure=2)[0].tolist() == [False] * 6


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("width", [1, 256])
def test_copies_of_the_first_columns_alone(form, width, monkeypatch):
    monkeypatch.setattr(_redundancy, "_block_width", lambda n_rows: width)
    rng = np.random.default_rng(0)
    own = rng.normal(size=(100, 3))
    noisy = own[:, 0] + rng.normal(size=100)
    X = np.column_stack([own[:, 0], noisy, own[:, 1], 3 * own[:, 1], -own[:, 0], own[:, 2]])
    walk = np.array([0, 1, 5, 4, 3, 2])
    for n_first, copies in ((2, {4: 0}), (0, {}), (3, {4: 0}), (6, {})):
        is_copy, stands = _redundancy.find_copies_of_first(form(X), walk, n_first, 0.9)
        assert dict(zip(walk[is_copy].tolist(), stands[is_copy].tolist(), strict=True)) == copies
        assert (stands[~is_copy] == walk[~is_copy]).all()
