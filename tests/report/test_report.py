"""What the report says."""

import re

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from semisift import SSFI
from semisift.report import write_report
from semisift.selection import ranking_result
from tests.pages import Given, check, fit_example, page_of


@pytest.fixture(scope="module")
def fitted():
    return fit_example()


@pytest.fixture(scope="module")
def page(fitted):
    return page_of(*fitted)


def test_the_page_says_what_was_done(fitted):
    ranker, X, y = fitted
    page = page_of(
        ranker,
        X,
        y,
        title="My data",
        source={"file": "a.csv", "seed": 0},
        notes=["3 values were replaced."],
    )
    check(page)
    best = ranking_result(ranker).features[0]
    for words in [
        "<title>My data</title>",
        "SSFI ranked 8 features of 60 rows, of which 12 carry a label.",
        f"Best: <bdi>{best}</bdi>",
        "ham",
        "spam",
        "The score falls from",
        "Barkia, Elghazel, Aussem (2011)",
        "shuffled",
        "n_members",
        "It does not show that it causes them",
        "3 values were replaced.",
        "a.csv",
        "first direction",
        "Median of the rows that were given a label",
    ]:
        assert words in page
    assert "(60 rows" not in page
    assert page.count("<figure>") == 1 + 8


def test_counts_of_classes(fitted, page):
    ranker, _, y = fitted
    for name in ("ham", "spam"):
        given = np.sum((ranker.transduction_ == name) & (y == None))  # noqa: E711
        line = f'{name}</bdi></th><td class="number">6</td><td class="number">{given}</td>'
        assert line in page


def test_the_same_input_gives_the_same_bytes(fitted, page, tmp_path):
    ranker, X, y = fitted
    write_report(tmp_path / "a", ranking_result(ranker), X=X, y=y)
    assert (tmp_path / "a").read_bytes() == page.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_style_of_the_user_does_not_matter(fitted, page):
    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "text.usetex": True, "axes.grid": True}):
        assert page_of(*fitted) == page
        assert matplotlib.rcParams["font.size"] == 30


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        sparse.csr_array,
        pytest.param(sparse.coo_array, marks=pytest.mark.nightly),
        pytest.param(pl.from_pandas, marks=pytest.mark.nightly),
        lambda X: X.to_numpy().tolist(),
    ],
)
def test_forms_of_x(fitted, page, form):
    ranker, X, y = fitted
    assert page_of(ranker, form(X), y.tolist()) == page


def test_without_rows(fitted):
    ranker, _, y = fitted
    page = page_of(ranker)
    check(page)
    assert page.count('ranker.report("report.html", X, y)') == 3
    assert "Classes: <bdi>ham</bdi>, <bdi>spam</bdi>." in page
    with_labels = page_of(ranker, y=y)
    check(with_labels)
    assert "of which 12 carry a label" in with_labels


def test_other_rows_than_those_of_the_fit(fitted):
    ranker, X, y = fitted
    with pytest.raises(ValueError, match="they have 50 rows, the ranker was fitted on 60"):
        page_of(ranker, X[:50], y[:50])
    with pytest.raises(ValueError, match="it has 7, the ranker has seen 8"):
        page_of(ranker, X.iloc[:, :7], y)
    with pytest.raises(ValueError, match="y must be given with X"):
        page_of(ranker, X)
    with pytest.raises(ValueError, match="some classes of the ranker are absent"):
        page_of(ranker, X, np.where(y == "ham", None, y))


def test_a_class_of_the_users_own():
    X = np.random.default_rng(0).normal(size=(10, 2))
    page = page_of(Given(scores=[1, 2]).fit(X))
    assert "Given is not one of semisift's own methods" in page
    assert "“Scores that a test has chosen.”" in page


def test_half_is_said_to_be_the_default(data):
    ranker = SSFI(n_members=30, random_state=0).fit(data.X, data.y)
    assert "half of all, as no number was asked for" in page_of(ranker)
    assert "half of all" not in page_of(ranker, select=2)


def test_the_content_policy_forbids_the_network(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in re.sub(r"http-equiv", "", page)


def test_report_of_microarrays(load_dataset, tmp_path):
    X, truth = load_dataset("chowdary")
    y = np.full(len(truth), -1)
    for label in np.unique(truth):
        y[np.flatnonzero(truth == label)[:3]] = label
    path = (
        SSFI(n_features_to_select=20, n_members=1000, random_state=0)
        .fit(X, y)
        .report(tmp_path / "report.html", X, y)
    )
    check(path.read_text(encoding="utf-8"))
    assert path.stat().st_size < 2_000_000
