"""Nothing in the data can break the report: names, scores, classes and shapes of all kinds."""

import re

import numpy as np
import pytest

from semisift import SSFI, ForestImportance
from semisift.report import render
from semisift.selection import RankingResult, ranking_result
from tests.conftest import make_data
from tests.pages import EVIL, Given, check, page_of


def test_evil_names_are_shown_as_text(data):
    X = np.hstack([data.X, data.X[:, :4] + 1])
    y = np.array([None if code < 0 else EVIL[code] for code in data.y], dtype=object)
    ranker = SSFI(n_members=60, random_state=0).fit(X, y)
    evil = dict.fromkeys(EVIL, EVIL[0])
    page = render(
        ranking_result(ranker, EVIL),
        X=X,
        y=y,
        title=EVIL[0],
        source=evil,
        notes=EVIL,
    )
    checker = check(page)
    page.encode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", page)
    assert len(checker.text["script"]) == len(checker.text["style"]) == 1
    assert "alert" not in checker.text["script"][0] + checker.text["style"][0]
    names = " ".join(checker.text["bdi"])
    for name in [EVIL[0], "$x^2$", "$\\frac{", "</style></title></svg>", "{{ 7 * 7 }}", "§0§"]:
        assert name in names
    assert "two␊lines␀and␉tab" in names
    assert "(no name)" in names
    assert "(1,000 characters)" in names
    svg_text = checker.text["text"]
    assert "$x^2$" in svg_text  # a class in the box plots
    assert "<script>a…pt>" in svg_text
    assert EVIL[0] in checker.text["title"]  # its whole name


def test_a_hundred_thousand_features():
    rng = np.random.default_rng(0)
    n = 100_000
    scores = np.sort(rng.exponential(size=n))[::-1]
    names = np.array([f"gene {j}" for j in range(n)], dtype=object)
    ranker = Given(scores=[3.0, 2.0, 1.0]).fit(rng.normal(size=(20, 3)))
    columns = np.zeros(n, dtype=int)
    page = render(RankingResult(ranker, names, scores, columns, names, np.arange(n) < 50, "number"))
    check(page)
    assert "Top 1,000 of 100,000 shown" in page
    assert page.count("<tr><td") == 1000
    assert len(page) < 500_000


def test_scores_that_are_missing_or_infinite():
    X = np.random.default_rng(0).normal(size=(30, 6))
    X[:, 4:] = 1.0
    ranker = Given(scores=[np.inf, 2.0, np.nan, -np.inf, 1.0, 1.0]).fit(X)
    page = page_of(ranker, X)
    check(page)
    assert "2 features have a single value and no score." in page
    assert "1 feature has no score." in page
    assert "2 features have an infinite score and stand outside the picture." in page
    assert "<td>∞</td>" in page
    assert "<td>-∞</td>" in page
    assert "<td>none</td>" in page
    assert "3 features have a single value and no score." in page_of(ranker)


def test_features_that_no_member_drew():
    X = np.random.default_rng(0).normal(size=(40, 50))
    y = np.array([0, 1] * 4 + [-1] * 32)
    ranker = SSFI(n_members=2, max_features=3, random_state=0).fit(X, y)
    page = page_of(ranker, X, y)
    check(page)
    assert "have no score, as no member of the committee drew them." in page
    assert "Few draws" in page


@pytest.mark.parametrize("scores", [[np.nan] * 4, [0.0] * 4, [-1.0, -2.0, -3.0, -4.0], [1e-12] * 4])
def test_odd_scores(scores):
    X = np.random.default_rng(0).normal(size=(10, 4))
    check(page_of(Given(scores=scores).fit(X), X))


@pytest.mark.parametrize(("n_rows", "n_features"), [(2, 1), (6, 1), (2, 2), (6, 3)])
def test_tiny_data(n_rows, n_features):
    X = np.random.default_rng(0).normal(size=(n_rows, n_features))
    page = page_of(Given(scores=np.arange(n_features)).fit(X), X)
    check(page)
    assert "none of which carries a label" in page
    assert ("needs two features that vary" in page) == (n_features == 1)


def test_one_class():
    X = np.random.default_rng(0).normal(size=(10, 3))
    y = ["only"] * 2 + [None] * 8

    class Optional(Given):
        labels_needed = "optional"

    check(page_of(Optional(scores=[1, 2, 3]).fit(X, y), X, y))


def test_many_classes():
    data = make_data(n_rows=240, n_classes=12, per_class=4)
    ranker = SSFI(n_members=40, random_state=0).fit(data.X, data.y)
    page = page_of(ranker, data.X, data.y)
    check(page)
    assert "The 8 largest of 12 classes are drawn." in page


def test_rankers_that_give_no_labels(data):
    ranker = ForestImportance(n_members=30, random_state=0).fit(data.X, data.y)
    page = page_of(ranker, data.X, data.y)
    check(page)
    assert "48 rows carry no label" in page
    assert "unlabelled rows (hatched)" in page
    assert "gave it this label" not in page


@pytest.mark.filterwarnings("ignore::semisift.NoUnlabelledDataWarning")
def test_every_row_labelled(data):
    ranker = SSFI(n_members=30, random_state=0).fit(data.X, data.y_true)
    page = page_of(ranker, data.X, data.y_true)
    check(page)
    assert "all of which carry a label" in page


def test_many_rows_are_thinned_out_and_labelled_ones_kept():
    data = make_data(n_rows=5000, per_class=30)
    page = page_of(SSFI(n_members=30, random_state=0).fit(data.X, data.y), data.X, data.y)
    assert "2,000 of 5,000 rows" in page
    picture = page[page.index('<figure class="map">') :].split("</figure>")[0]
    assert picture.count("<use ") == pytest.approx(2000 + 12, abs=6)  # and ticks
    assert len(page) < 500_000


def test_variables_of_several_columns(data):
    ranker = SSFI(n_members=60, random_state=0).fit(data.X, data.y)
    names = [f"v{j // 2}={j % 2}" for j in range(8)]
    variables = ["v0", "v1", "v2", "v3"]
    outcome = ranking_result(ranker, names, variables=variables, variable_of=np.arange(8) // 2)
    page = render(outcome.select(2), X=data.X, y=data.y)
    check(page)
    assert "SSFI ranked 4 features" in page
    assert re.search(r'<bdi>v0</bdi> <span class="quiet">by <bdi>v0=\d</bdi>', page)


def test_random_state_instance_is_written_without_its_address(data):
    ranker = SSFI(n_members=30, random_state=np.random.RandomState(0)).fit(data.X, data.y)
    assert " at 0x" not in page_of(ranker)
