"""Families in a real browser: folded, opened by mouse and keyboard, found by the search."""

import numpy as np
import pandas as pd
import pytest

from semisift import VarianceScore
from semisift.report import write_report
from semisift.selection import ranking_result
from tests.browsing import By, Keys, messages, needs_browser, resize, wait

pytestmark = needs_browser


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Write a report of two families, of 30 and of 2 features, and ten features alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12)) * np.geomspace(64, 1, 12)
    copies = [X[:, 0] / -(k + 2) for k in range(30)]
    X = np.column_stack([X, *copies, 0.5 * X[:, 5], 0.4 * X[:, 5]])
    names = (
        [f"gene {j}" for j in range(12)] + [f"copy {k}" for k in range(30)] + ["twin", "triplet"]
    )
    X = pd.DataFrame(X, columns=names)
    ranker = VarianceScore(feature_scaling=None, redundancy_threshold=0.7, n_features_to_select=20)
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, ranking_result(ranker.fit(X)), X=X)
    return path


@pytest.fixture
def page(chromium, report):
    resize(chromium, 1200, 900)
    chromium.get(report.as_uri())
    return chromium


def group_of(page, name):
    """Return the family in the row of a feature."""
    for row in page.find_elements(By.CSS_SELECTOR, "#features tbody tr"):
        if row.find_element(By.CSS_SELECTOR, "td.feature > bdi").text == name:
            return row.find_element(By.CSS_SELECTOR, "details.copies")
    raise AssertionError(f"no row of {name!r}")


def rows_shown(page):
    rows = page.find_elements(By.CSS_SELECTOR, "#features tbody tr")
    return [
        row.find_element(By.CSS_SELECTOR, "td.feature > bdi").text
        for row in rows
        if row.is_displayed()
    ]


def test_a_correlated_group_opens_by_click_and_by_keyboard(page):
    group = group_of(page, "gene 5")
    summary, member = (group.find_element(By.CSS_SELECTOR, name) for name in ("summary", "li"))
    assert summary.text == "represents 2 correlated features: permuted feature, triplet"
    assert not member.is_displayed()
    summary.click()
    wait(page, member.is_displayed)
    assert member.text.startswith("twin r +1.00, score ")
    summary.send_keys(Keys.ENTER)
    wait(page, lambda: not member.is_displayed())
    summary.send_keys(Keys.SPACE)
    wait(page, member.is_displayed)


def test_strong_members_are_named_while_the_correlated_group_is_folded(page):
    summary = group_of(page, "gene 0").find_element(By.TAG_NAME, "summary")
    assert summary.text.startswith(
        "represents 30 correlated features: copy 0, copy 1, copy 2, copy 3"
    )
    assert summary.text.endswith(", …")
    first = group_of(page, "gene 0").find_elements(By.TAG_NAME, "li")[0]
    assert first.get_attribute("textContent").startswith("copy 0 r -1.00, score ")


def test_the_search_finds_members_and_opens_their_correlated_group(page):
    field = page.find_element(By.ID, "wanted")
    large, small = group_of(page, "gene 0"), group_of(page, "gene 5")
    field.send_keys("copy 29")
    wait(page, lambda: rows_shown(page) == ["gene 0", "copy 29"])
    assert large.get_attribute("open") is not None
    assert large.find_elements(By.TAG_NAME, "li")[29].is_displayed()
    assert small.get_attribute("open") is None
    field.clear()
    field.send_keys(Keys.SPACE, Keys.BACKSPACE)
    wait(page, lambda: large.get_attribute("open") is None)
    assert len(rows_shown(page)) == 44
    # a figure of a member is no name
    field.send_keys("r +1.00")
    wait(page, lambda: rows_shown(page) == [])
    assert messages(page) == []


def test_the_search_leaves_open_what_was_opened_by_hand(page):
    small = group_of(page, "gene 5")
    small.find_element(By.TAG_NAME, "summary").click()
    field = page.find_element(By.ID, "wanted")
    field.send_keys("twin")
    wait(page, lambda: rows_shown(page) == ["gene 5", "twin"])
    field.clear()
    field.send_keys(Keys.SPACE, Keys.BACKSPACE)
    wait(page, lambda: len(rows_shown(page)) == 44)
    assert small.get_attribute("open") is not None


def test_sorting_keeps_correlated_groups_with_their_features(page):
    head = page.find_elements(By.CSS_SELECTOR, "#features thead th button")[1]
    head.click()
    wait(page, lambda: rows_shown(page)[0] == "copy 0")
    assert "twin" in group_of(page, "gene 5").find_element(By.TAG_NAME, "summary").text
