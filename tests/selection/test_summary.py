"""What came out of a fit is one thing: the terminal, the page, files and Python say the same."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from semisift import C4, MRMR, SSFI, Consensus, FisherScore
from semisift.selection import ranking_result
from tests.commands import call
from tests.conftest import make_data
from tests.pages import Checker


@pytest.fixture(scope="module")
def assessed():
    """Return a consensus whose first two columns follow the class, with its rows and labels."""
    data = make_data(n_features=30, per_class=10)
    rankers = [("fisher", FisherScore()), ("c4", C4())]
    ranker = Consensus(rankers=rankers, redundancy_threshold=None, random_state=0)
    ranker.fit(data.X, data.y)
    ranker.assess(data.X, data.y, n_resamples=6, n_permutations=39)
    return ranker, data.X, data.y


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the current folder, with copies.csv: 8 features, 12 correlated with two of them."""
    monkeypatch.chdir(tmp_path)
    data = make_data(per_class=15)
    rng = np.random.default_rng(0)
    copies = data.X[:, [0, 7] * 6] + 0.01 * rng.normal(size=(len(data.X), 12))
    write(tmp_path / "copies.csv", np.hstack([data.X, copies]), data.y)
    labels = np.where(np.arange(50) < 16, np.arange(50) % 2, -1)
    write(tmp_path / "noise.csv", np.random.default_rng(1).normal(size=(50, 60)), labels)
    return tmp_path


def write(path, X, y):
    labels = pl.Series("kind", [None if code < 0 else f"kind {code}" for code in y])
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])
    frame.with_columns(labels).write_csv(path)


def page_of(ranker, tmp_path, *rows):
    return ranker.report(tmp_path / "page.html", *rows).read_text(encoding="utf-8")


def with_assessment(ranker, **changes):
    """Change what an assessment found."""
    ranker.assessment_ = replace(ranker.assessment_, **changes)
    ranker.rank_interval_ = ranker.assessment_.rank_interval
    return ranker


# --- one selection --------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [None, 3, 0.25, "shadow"])
def test_the_frame_selects_what_the_ranker_selects(wanted):
    data = make_data(per_class=20)
    X = np.hstack([data.X, data.X[:, :2] + 1e-6])
    ranker = FisherScore(n_features_to_select=wanted, redundancy_threshold=0.9).fit(X, data.y)
    selected = ranker.to_frame().filter("selected")["feature"].to_list()
    assert set(selected) == set(ranker.get_feature_names_out())


def test_a_number_that_was_changed_after_the_fit_selects_nothing(data):
    ranker = FisherScore().fit(data.X, data.y).set_params(n_features_to_select=99)
    assert not ranker.to_frame()["selected"].any()


def test_the_ranking_as_a_frame(assessed):
    ranker, X, _ = assessed
    frame = ranker.to_frame()
    order = np.argsort(ranker.ranking_)
    assert frame["feature"].to_list() == [f"x{j}" for j in order]
    assert_array_equal(frame["score"], ranker.scores_[order])
    assert_array_equal(frame["rank_low"], ranker.rank_interval_[order, 0])
    assert frame["decision"].to_list() == ranker.assessment_.decisions[order].tolist()
    assert frame["selected"].sum() == X.shape[1] // 2
    assert repr(ranking_result(ranker)) == "<RankingResult: 30 features by Consensus, 15 selected>"
    other = ranker.to_frame("pandas")
    assert isinstance(other, pd.DataFrame)
    assert other.columns.tolist() == frame.columns
    assert other["feature"].tolist() == frame["feature"].to_list()
    with pytest.raises(ValueError, match="output must be 'polars' or 'pandas': got 'dask'"):
        ranker.to_frame("dask")
    with pytest.raises(NotFittedError):
        FisherScore().to_frame()


def test_the_file_is_the_frame(folder):
    call("rank", "copies.csv", "--label", "kind", "--method", "ssfi", "--top", 3, "--out", "r.csv")
    table = pl.read_csv("copies.csv")
    y = table["kind"].to_list()
    X = table.drop("kind")
    frame = SSFI(n_features_to_select=3, random_state=0).fit(X, y).to_frame()
    assert pl.read_csv("r.csv", comment_prefix="#").equals(frame)


# --- one count ------------------------------------------------------------------------------------


def test_near_copies_are_counted_apart_everywhere(folder):
    options = ["--method", "fisher", "--assess", "fast", "--redundancy", 0.9]
    outputs = ["--out", "r.json", "--report", "r.html"]
    shown = " ".join(
        call("rank", "copies.csv", "--label", "kind", *options, *outputs).stdout.split()
    )
    counts = json.loads((folder / "r.json").read_text())["assessment"]["decisions"]
    assert counts["correlated_features"] == 12
    assert sum(counts.values()) == 20
    page = (folder / "r.html").read_text(encoding="utf-8")
    words = {"suggestive": "suggestive", "not significant": "not significant"}
    for decision, word in {"significant": "significant", **words}.items():
        assert f"<strong>{counts[decision]} {word}</strong>" in page
        if counts[decision]:
            assert re.search(rf"Marks: .*\b{counts[decision]} {word} \(", page)
    assert "<strong>12 correlated features</strong>" in page
    assert f"<dd>{counts['significant']}</dd>" in page
    assert f"Significant: {counts['significant']} of 20 features" in shown
    assert "not significant" not in shown
    assert "rejected" not in page + shown


def test_the_legend_shows_the_marks_that_are_drawn(tmp_path):
    data = make_data(per_class=15)
    X = np.hstack([data.X, data.X[:, :1] + 1e-6])
    ranker = FisherScore(redundancy_threshold=0.9, n_features_to_select=2).fit(X, data.y)
    ranker.assess(X, data.y, n_resamples=3, n_permutations=39)
    decisions = np.where(ranker.ranking_ == 1, "significant", "not significant")
    decisions[ranker.ranking_ == 9] = "suggestive"  # the correlated feature, which is not drawn
    page = page_of(with_assessment(ranker, decisions=decisions), tmp_path, X, data.y)
    for section in ("scores", "moves"):
        part = page[page.index(f'<section id="{section}"') :].split("</section>")[0]
        assert "</svg> significant</li>" in part
        assert "suggestive" not in part


# --- words that say what was done -----------------------------------------------------------------


def test_a_consensus_says_how_it_confirms(assessed, tmp_path):
    """Its parts are put together by how rare their scores are, so that ranks do not tell."""
    ranker, X, y = assessed
    page = page_of(ranker, tmp_path, X, y)
    assert "score higher than the best feature does" not in page
    assert "put together by how rarely shuffled labels reach each of them" in page
    plain = FisherScore().fit(X, y)
    plain.assess(X, y, n_resamples=0, n_permutations=39)
    assert "score higher than the best feature does in almost all" in page_of(plain, tmp_path)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_confirmed_feature_behind_others_is_explained(assessed, tmp_path, is_first):
    ranker, X, y = assessed
    significant = ranker.ranking_ == (1 if is_first else 3)
    before = ranker.assessment_
    try:
        with_assessment(ranker, decisions=np.where(significant, "significant", "suggestive"))
        page = page_of(ranker, tmp_path, X, y)
    finally:
        ranker.assessment_ = before
    assert ("a feature may be significant while one that ranks higher is not" in page) != is_first


def test_a_search_says_how_it_confirms(tmp_path):
    """By what a feature tells before others are picked, which is not the order of the picks."""
    data = make_data(per_class=20)
    ranker = MRMR(n_features_to_select=4).fit(data.X, data.y)
    ranker.assess(data.X, data.y, n_resamples=0, n_permutations=39)
    decisions = np.where(ranker.ranking_ == 2, "significant", "suggestive")
    page = page_of(with_assessment(ranker, decisions=decisions), tmp_path)
    assert "tell more by themselves, before any other feature is picked, than the best" in page
    assert "score higher than the best feature does" not in page
    assert "The search ranks by what a feature adds to those picked before, but confirms" in page


def test_the_rule_of_a_consensus_says_so_too(tmp_path):
    data = make_data(per_class=20)
    rankers = [("fisher", FisherScore()), ("c4", C4())]
    ranker = Consensus(rankers=rankers, n_features_to_select="shadow", random_state=0)
    page = page_of(ranker.fit(data.X, data.y), tmp_path)
    assert "with their values shuffled; and have scores with the single methods" in page


def test_labels_that_tell_something_of_no_feature_are_explained(assessed, tmp_path):
    ranker, X, y = assessed
    before = ranker.assessment_
    try:
        with_assessment(ranker, decisions=np.full(30, "suggestive"), p_value=0.05)
        trust, page = ranking_result(ranker).trust, page_of(ranker, tmp_path, X, y)
    finally:
        ranker.assessment_ = before
    assert trust.summary == (
        "The labels tell something, but with these 20 labels none of the 30 features can be "
        "significant by itself: the list below is where to look first."
    )
    assert trust.test.startswith("The labels tell something: of 39 rankings")
    assert trust.test.endswith(
        "This is about the best features taken together; to be significant, a feature must by "
        "itself do better than the best of all 30 in almost all of these rankings."
    )
    assert page.index(trust.summary) < page.index(trust.test)


@pytest.mark.parametrize("p_value", [0.01, 0.5])
@pytest.mark.parametrize("rule", ["shadow", "stability"])
def test_a_rule_and_an_assessment_that_differ_are_explained(rule, p_value):
    data = make_data(per_class=20)
    ranker = FisherScore(n_features_to_select=rule).fit(data.X, data.y)
    ranker.assess(data.X, data.y, n_resamples=0, n_permutations=39)
    same = np.where(ranker.get_support(), "significant", "suggestive")
    with_assessment(ranker, decisions=same, p_value=p_value)
    trust = ranking_result(ranker).trust
    assert not any("Shuffled labels alone" in note for note in trust.notes)
    disagrees = f"What is significant passed the {rule} rule, " in trust.test
    assert disagrees == (p_value > 0.05)
    with_assessment(ranker, decisions=np.full(8, "significant"))
    n_significant = int(ranker.get_support().sum())
    (note,) = (
        n for n in ranking_result(ranker).trust.notes if n.startswith("Shuffled labels alone")
    )
    why = "asks that features score higher" if rule == "shadow" else "bounds another error"
    assert f"would confirm 8 features, {n_significant} of them among those significant here" in note
    assert f"by the {rule} rule, which {why}" in note


def test_moves_are_counted_in_ranks(assessed, tmp_path):
    ranker, X, y = assessed
    before = ranker.assessment_
    intervals = np.tile([5, 60], (30, 1))
    intervals[ranker.ranking_ == 1] = [1, 50]
    intervals[ranker.ranking_ == 2] = [11, 242]
    try:
        page = page_of(with_assessment(ranker, rank_interval=intervals), tmp_path, X, y)
    finally:
        with_assessment(ranker, rank_interval=before.rank_interval)
    best, second = (int(np.flatnonzero(ranker.ranking_ == rank)[0]) for rank in (1, 2))
    words = f"x{best} moves by the fewest ranks (1 to 50), x{second} by the most (11 to 242)."
    assert words in page


def test_the_number_of_best_features_is_one_number(folder):
    """Correlated features always come last, so that half of the others are the best ones."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 14))
    X = np.hstack([X, X + 0.01 * rng.normal(size=X.shape), X + 0.01 * rng.normal(size=X.shape)])
    write(folder / "few.csv", X, np.where(np.arange(50) < 16, np.arange(50) % 2, -1))
    options = ["--method", "fisher", "--assess", "fast", "--redundancy", 0.9]
    result = call("rank", "few.csv", "--label", "kind", *options)
    shown = " ".join(result.stdout.split())
    assert "With these 16 labels none of the 42 features can be significant: the list" in shown
    assert "the best 7 features are" in shown
    assert "The 7 best features by fisher" in shown
    assert {int(n) for n in re.findall(r"best (\d+)", result.stdout)} == {7}
    assert len(re.findall(r"^│ +\d+ ", result.stdout, re.MULTILINE)) == 7


# --- pictures and titles --------------------------------------------------------------------------


def test_two_pictures_of_a_notebook_share_no_id(data):
    ranker = FisherScore(n_features_to_select=2).fit(data.X, data.y)
    shown = [ranker._repr_html_(), ranker._repr_html_()]
    ranker.assess(data.X, data.y, n_resamples=3, n_permutations=3)
    shown.append(ranker._repr_html_())
    ids = [{name for name in Checker(part).ids if "semisift" in name} for part in map(own, shown)]
    assert all(ids)
    assert len(set.union(*ids)) == sum(map(len, ids))


def own(html):
    """Return what stands below the diagram of scikit-learn."""
    return html[html.index('<div class="semisift-fit">') :]


def test_the_map_shows_what_is_listed_where_nothing_is_significant(folder):
    command = ["rank", "noise.csv", "--label", "kind", "--method", "fisher", "--assess", "fast"]
    call(*command, "--report", "r.html")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "none of the 60 features can be significant" in page
    assert "principal components of the 20 best features" in page


def test_the_map_shows_what_is_selected(tmp_path):
    """With a rule these need not be the first features."""
    data = make_data(per_class=20)
    ranker = FisherScore(n_features_to_select="stability").fit(data.X, data.y)
    ranker.decisions_ = np.where(
        np.isin(ranker.ranking_, [2, 4, 5]), "significant", "not significant"
    )
    page = page_of(ranker, tmp_path, data.X, data.y)
    assert "principal components of the 3 selected features" in page


def test_the_title_of_the_page_names_the_file(folder):
    command = ["rank", "noise.csv", "--label", "kind", "--method", "fisher", "--report", "r.html"]
    call(*command)
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "<title>noise.csv: features ranked by FisherScore</title>" in page
    call(*command, "--title", "Mine")
    assert "<title>Mine</title>" in (folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["rank", "predict"])
def test_the_heading_of_a_narrow_table_stands_on_one_line(folder, command):
    options = ["--method", "fisher", "--top", 3] if command == "rank" else ["--out", "labels.csv"]
    lines = call(command, "noise.csv", "--label", "kind", *options).stdout.splitlines()
    heading = "The 3 best features by fisher"
    assert (heading if command == "rank" else "The labels of all rows by transduction") in lines


# --- an assessment --------------------------------------------------------------------------------


def test_an_assessment_can_be_read():
    data = make_data(per_class=20)
    X = np.hstack([data.X, data.X[:, :1] + 1e-6])
    ranker = FisherScore(n_features_to_select=2, redundancy_threshold=0.9).fit(X, data.y)
    sure = ranker.assess(X, data.y, n_resamples=10, n_permutations=39)
    n_significant = (sure.decisions[:8] == "significant").sum()
    assert sure.decisions[8] == "significant"
    text = repr(sure)
    assert text.startswith(
        f"<Assessment: p = 0.025 by 39 permutations; {n_significant} of 9 columns significant, "
    )
    stable = sure.stability
    assert f"stability of the best 2 {stable.value:.2f} ({stable.low:.2f} to " in text
    assert text.endswith("on 10 halves of the rows>")
    assert len(text) < 250
    nothing = ranker.assess(X, data.y, n_resamples=0, n_permutations=0)
    assert repr(nothing) == "<Assessment: nothing was asked for>"
