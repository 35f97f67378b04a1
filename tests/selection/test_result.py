"""Families: no feature among the best by score is missing from what a reader sees first."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import polars as pl
import pytest

from semisift.report import render
from semisift.selection import ranking_result
from semisift.selection._result import FIRST_NAMES
from tests.commands import call
from tests.pages import Given


class GivenCorrelatedGroups(Given):
    """Scores that a test has chosen, with correlated features put last."""

    def __init__(self, *, scores=None, n_features_to_select=None, random_state=None):
        super().__init__(
            scores=scores, n_features_to_select=n_features_to_select, random_state=random_state
        )
        self.redundancy_threshold = 0.9


def one_large_group(n_copies=30, n_others=60, **options):
    """Return the outcome of a feature that scores best, its copies after it, and others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 1 + n_others))
    signs = np.where(np.arange(n_copies) % 2, 1.0, -1.0)
    X = np.column_stack([X[:, :1], X[:, :1] * signs, X[:, 1:]])
    scores = np.arange(X.shape[1], 0, -1.0)
    return ranking_result(GivenCorrelatedGroups(scores=scores, **options).fit(X)), X


def seen_on_terminal(text):
    """Return the cells of the column of features as one text."""
    lines = [line.split("│") for line in text.splitlines() if line.startswith("│")]
    return " ".join(" ".join(cells[2].strip() for cells in lines).split())


def seen_on_page(page):
    """Return the names that are seen in the table before anything is opened."""
    table = page[page.index('<table id="features"') :].split("</table>")[0]
    folded = re.sub(r"</summary>.*?</details>", "</summary></details>", table)
    return {unescape(name) for name in re.findall(r"<bdi>(.*?)</bdi>", folded)}


# --- what is shown first --------------------------------------------------------------------------


def test_all_strong_members_are_named():
    outcome, _ = one_large_group()
    outcome = outcome.select(20)
    assert outcome.correlated_groups.strongest.tolist() == [0, *range(61, 80)]
    assert outcome.correlated_groups.named == {0: [*range(61, 80)]}
    assert outcome.correlated_groups.shown.tolist() == [*range(20)]
    assert outcome.features[outcome.correlated_groups.named[0]].tolist() == [
        f"x{j}" for j in range(1, 20)
    ]
    assert outcome.correlation[61:64].round(6).tolist() == [-1.0, 1.0, -1.0]
    assert outcome.score_rank[61] == 2


def test_no_more_features_are_listed_than_were_asked_for():
    few = one_large_group()[0].select(2)
    assert few.correlated_groups.shown.tolist() == [0, 1]
    assert len(few.correlated_groups.named[0]) == 19


def test_a_few_names_of_a_correlated_group_that_is_not_strong():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 40))
    X = np.column_stack([X, *(X[:, 39] * (k + 2) for k in range(8))])
    outcome = ranking_result(GivenCorrelatedGroups(scores=np.arange(48, 0, -1.0)).fit(X))
    assert len(outcome.copies[39]) == 8
    assert outcome.correlated_groups.named == {39: outcome.copies[39][:FIRST_NAMES]}


def test_the_list_grows_where_a_strong_feature_would_be_missing():
    """Significant features need not be the first, and with none significant few are listed."""
    outcome, _ = one_large_group(n_copies=3)
    ranks = np.arange(len(outcome))
    decisions = np.where((ranks >= 30) & (ranks < 60), "significant", "not significant")
    outcome = replace(outcome, decisions=decisions).select("significant")
    assert outcome.listed.tolist() == [*range(30, 60)]
    assert outcome.correlated_groups.shown.tolist() == [*range(17), *range(30, 60)]
    seen = {*outcome.correlated_groups.shown, *outcome.correlated_groups.named[0]}
    assert seen.issuperset(outcome.correlated_groups.strongest.tolist())


def test_features_without_a_score_are_not_strong():
    scores = [3.0, np.nan, 1.0, 2.0]
    X = np.random.default_rng(0).normal(size=(9, 4))
    outcome = ranking_result(GivenCorrelatedGroups(scores=scores).fit(X))
    assert outcome.features[outcome.correlated_groups.strongest].tolist() == ["x0", "x3", "x2"]


# --- real data ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("wdbc", ["--method", "fisher", "--redundancy", 0.7, "--no-assess"]),
        pytest.param("wdbc", ["--no-assess"], marks=pytest.mark.nightly),
        pytest.param(
            "wdbc",
            ["--method", "fisher", "--redundancy", 0.7, "--assess", "fast"],
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "chowdary", ["--method", "ssfi", "--redundancy", 0.7], marks=pytest.mark.nightly
        ),
        pytest.param(
            "chowdary",
            ["--method", "fisher", "--redundancy", 0.7, "--assess", "fast"],
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_the_best_by_score_are_seen_first(name, options, data_dir, tmp_path):
    table = data_dir / f"{name}.npz"
    if not table.exists():
        pytest.skip(f"the data set {name} is not in {data_dir}")
    files = {ending: tmp_path / f"ranking.{ending}" for ending in ("csv", "html")}
    outputs = ["--out", files["csv"], "--report", files["html"]]
    result = call("rank", table, "--labels-per-class", 3, *options, *outputs)
    frame = pl.read_csv(files["csv"], comment_prefix="#")
    best = frame.sort("score_rank")["feature"].to_list()[:20]
    assert frame["score"].sort(descending=True).to_list()[:20] == [
        frame.filter(pl.col("feature") == feature)["score"].item() for feature in best
    ]
    hidden = frame.filter(pl.col("feature").is_in(best) & (pl.col("rank") > 20))
    assert len(hidden) > 0  # else nothing is shown by this test
    terminal, page = seen_on_terminal(result.stdout), seen_on_page(files["html"].read_text())
    for feature in best:
        assert re.search(rf"(^|[ ,]){re.escape(feature)}([ ,]|$)", terminal), feature
        assert feature in page
    copies = frame.filter(pl.col("feature") != pl.col("representative"))
    assert (copies["correlation"].abs() > 0.7 - 1e-6).all()


def test_the_page_folds_correlated_groups_and_names_the_strong():
    outcome, X = one_large_group()
    page = render(outcome.select(20), X=X)
    assert {f"x{j}" for j in range(20)} <= seen_on_page(page)
    assert "<li><bdi>x1</bdi> r -1.00, score 90.000, rank 2</li>" in page
    assert "<li><bdi>x2</bdi> r +1.00, score 89.000, rank 3</li>" in page
