"""The report in a real browser: opened from the disk, used by mouse and by keyboard."""

import numpy as np
import pandas as pd
import pytest

from semisift import SSFI
from semisift.report import write_report
from semisift.selection import ranking_result
from tests.browsing import (
    By,
    Keys,
    background,
    check_outline,
    contrast,
    emulate,
    messages,
    needs_browser,
    print_pages,
    requests_of,
    resize,
    text_sizes,
    wait,
)
from tests.conftest import make_data

pytestmark = needs_browser
EVIL = "<script>window.stolen = true</script>"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Write a report of 1,500 columns, of which the best has a name that would be a script."""
    data = make_data(n_features=1500, per_class=20)
    names = [f"gene {j:04}" for j in range(1500)]
    X = pd.DataFrame(data.X, columns=names)
    ranker = SSFI(n_features_to_select=20, n_members=400, random_state=0).fit(X, data.y)
    best = names[int(np.argmin(ranker.ranking_))]
    X = X.rename(columns={best: EVIL})
    ranker = SSFI(n_features_to_select=20, n_members=400, random_state=0).fit(X, data.y)
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(
        path,
        ranking_result(ranker),
        X=X,
        y=data.y,
        title=EVIL,
        source={"checksum": "0123456789abcdef" * 8, "a" * 200: EVIL},
        notes=["a" * 200, EVIL],
    )
    return path


@pytest.fixture
def page(chromium, report):
    """Open the report afresh, on a screen of ordinary size and without a theme chosen before."""
    resize(chromium, 1200, 900)
    chromium.get(report.as_uri())
    chromium.execute_script("localStorage.clear(); delete document.documentElement.dataset.theme;")
    return chromium


def column(driver, number):
    return driver.execute_script(
        "return [...document.querySelectorAll('#features tbody tr')].filter((row) => !row.hidden)"
        ".map((row) => row.cells[arguments[0]].textContent)",
        number,
    )


def head(driver, name):
    """Return the heading of a column and its button."""
    for cell in driver.find_elements(By.CSS_SELECTOR, "#features thead th"):
        if cell.text.strip().lower().startswith(name):
            return cell, cell.find_element(By.TAG_NAME, "button")
    raise AssertionError(f"no column {name!r}")


def test_no_error_and_no_request(chromium, report):
    assert requests_of(chromium, report.as_uri()) == {report.as_uri()}
    assert chromium.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert messages(chromium) == []


def test_is_light(chromium, report):
    """What a page costs to open is what it holds; seconds depend on the machine."""
    chromium.get(report.as_uri())
    assert report.stat().st_size < 500_000
    assert chromium.execute_script("return document.querySelectorAll('*').length") < 20_000


def test_the_policy_stops_requests(page):
    script = """
        const done = arguments[0];
        document.addEventListener("securitypolicyviolation", (event) => done(event.blockedURI));
        new Image().src = "http://192.0.2.1/leak.png";
    """
    assert "192.0.2.1" in page.execute_async_script(script)


def test_a_name_that_would_be_a_script_is_text(page):
    assert page.execute_script("return window.stolen === undefined")
    assert column(page, 1)[0] == EVIL
    assert len(page.find_elements(By.TAG_NAME, "script")) == 1
    assert EVIL in page.find_element(By.CSS_SELECTOR, ".lead").text


def test_the_table_holds_the_top_thousand_and_says_so(page):
    assert len(column(page, 0)) == 1000
    assert "Top 1,000 of 1,500 shown" in page.find_element(By.ID, "table").text


def test_sort_by_click(page):
    ranks = column(page, 0)
    cell, button = head(page, "feature")
    button.click()
    wait(page, lambda: cell.get_attribute("aria-sort") == "ascending")
    names = column(page, 1)
    assert names[1:] == sorted(names[1:])  # the first one starts with a bracket
    button.click()
    wait(page, lambda: cell.get_attribute("aria-sort") == "descending")
    assert column(page, 1)[:-1] == names[:0:-1]
    sorted_columns = page.find_elements(By.CSS_SELECTOR, "#features th[aria-sort]")
    assert len(sorted_columns) == 1
    head(page, "rank")[1].click()
    wait(page, lambda: column(page, 0) == ranks)


def test_sort_by_score_and_draws(page):
    cell, button = head(page, "score")
    button.click()
    wait(page, lambda: cell.get_attribute("aria-sort") == "descending")
    scores = [float(text) for text in column(page, 2)]
    assert scores == sorted(scores, reverse=True)
    cell, button = head(page, "draws")
    button.click()
    wait(page, lambda: cell.get_attribute("aria-sort") == "descending")
    draws = [int(text.replace(",", "")) for text in column(page, 4)]
    assert draws == sorted(draws, reverse=True)


def test_sort_by_keyboard(page):
    page.find_element(By.ID, "wanted").click()
    focused = page.switch_to.active_element
    for _ in range(3):  # the table's own region, then its first two headings
        focused.send_keys(Keys.TAB)
        focused = page.switch_to.active_element
    assert focused.text.strip() == "feature"
    outline = page.execute_script("return getComputedStyle(arguments[0]).outlineStyle", focused)
    assert outline == "solid"
    focused.send_keys(Keys.ENTER)
    cell = head(page, "feature")[0]
    wait(page, lambda: cell.get_attribute("aria-sort") == "ascending")
    focused.send_keys(Keys.SPACE)
    wait(page, lambda: cell.get_attribute("aria-sort") == "descending")


def test_search(page):
    field = page.find_element(By.ID, "wanted")
    status = page.find_element(By.CSS_SELECTOR, "#search [role=status]")
    assert status.get_attribute("aria-live") == "polite"
    assert status.text == "1,000 rows"
    expected = [name for name in column(page, 1) if "gene 00" in name]
    field.send_keys("GENE 00")
    wait(page, lambda: status.text == f"{len(expected)} of 1,000 rows hold “GENE 00”")
    assert column(page, 1) == expected
    field.send_keys(" no such name", Keys.ENTER)
    wait(page, lambda: column(page, 1) == [])
    assert page.current_url.endswith("report.html")
    field.clear()
    field.send_keys("<script")
    wait(page, lambda: column(page, 1) == [EVIL])


def test_themes(page):
    light = background(page)
    button = page.find_element(By.ID, "theme")
    assert button.get_attribute("aria-pressed") == "false"
    button.send_keys(Keys.ENTER)
    wait(page, lambda: button.get_attribute("aria-pressed") == "true")
    assert background(page) != light
    page.refresh()
    button = page.find_element(By.ID, "theme")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    wait(page, lambda: background(page) == light)


def test_the_theme_of_the_system_and_print(page):
    light = background(page)
    try:
        emulate(page, "screen", "dark")
        wait(page, lambda: background(page) != light)
        assert contrast(page) >= 4.5
        emulate(page, "print", "dark")
        wait(page, lambda: background(page) == light)
        assert not page.find_element(By.ID, "theme").is_displayed()
        assert not page.find_element(By.ID, "search").is_displayed()
        rows = page.find_elements(By.CSS_SELECTOR, "#features tbody tr")[:60]
        assert sum(row.is_displayed() for row in rows) == 50
    finally:
        emulate(page, "", "light")


def test_contrast_of_the_light_theme(page):
    assert contrast(page) >= 4.5


@pytest.mark.parametrize("width", [320, 360, 768])
def test_nothing_sticks_out_sideways(page, width):
    resize(page, width, 740)
    wait(page, lambda: page.execute_script("return innerWidth") == width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    sizes = text_sizes(page)
    assert len(sizes) > 50
    assert min(sizes) > 8  # pixels


def test_pictures_have_words(page):
    pictures = page.find_elements(By.CSS_SELECTOR, "svg[role=img]")
    assert len(pictures) == 2 + 12 + 1 + 1
    labels = [picture.accessible_name for picture in pictures if picture.is_displayed()]
    assert len(labels) == 15
    assert "The score falls from" in labels[0]
    assert "Median of the labelled rows" in labels[1]
    assert "labelled rows of each class" in labels[-2]
    assert "principal components" in labels[-1]


def test_headings_and_landmarks(page):
    check_outline(page)


def test_print_to_pdf(page):
    assert 2 <= print_pages(page) <= 12


def test_without_scripts_it_is_a_plain_table(page, report):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.get(report.as_uri())
        assert not page.find_element(By.ID, "search").is_displayed()
        assert not page.find_element(By.ID, "theme").is_displayed()
        assert len(page.find_elements(By.CSS_SELECTOR, "#features tbody tr")) == 1000
        assert page.find_elements(By.CSS_SELECTOR, "#features th button") == []
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
