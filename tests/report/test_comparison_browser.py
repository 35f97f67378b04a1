"""The report of a comparison in a real browser: opened from the disk, used by mouse and keys."""

import csv
import time

import pytest

from semisift.report.comparison import write_comparison
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
from tests.shown_comparisons import EVIL, EVIL_SET, made_up, random_figures

pytestmark = needs_browser


@pytest.fixture(scope="module")
def report(comparison, tmp_path_factory):
    """Write the report of a real comparison; its title and some names would be scripts."""
    return write_comparison(comparison, tmp_path_factory.mktemp("report") / "c.html", title=EVIL)


@pytest.fixture
def page(chromium, report):
    """Open the report afresh, on a screen of ordinary size and without a theme chosen before."""
    resize(chromium, 1200, 900)
    chromium.get(report.as_uri())
    chromium.execute_script("localStorage.clear(); delete document.documentElement.dataset.theme;")
    return chromium


def box(driver, kind, number):
    selector = f"fieldset[data-kind={kind}] input[value='{number}']"
    return driver.find_element(By.CSS_SELECTOR, selector)


def shown(driver, selector):
    return [
        element.text.strip()
        for element in driver.find_elements(By.CSS_SELECTOR, selector)
        if element.is_displayed()
    ]


def n_shown(driver, selector):
    """Count what is displayed; checkVisibility knows nothing of groups in pictures."""
    script = """
        const isShown = (element) => {
            for (; element; element = element.parentElement)
                if (getComputedStyle(element).display === "none") return false;
            return true;
        };
        return [...document.querySelectorAll(arguments[0])].filter(isShown).length;
    """
    return driver.execute_script(script, selector)


def test_no_error_and_no_request(chromium, report):
    assert requests_of(chromium, report.as_uri()) == {report.as_uri()}
    assert chromium.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert messages(chromium) == []


def test_the_policy_stops_requests(page):
    script = """
        const done = arguments[0];
        document.addEventListener("securitypolicyviolation", (event) => done(event.blockedURI));
        new Image().src = "http://192.0.2.1/leak.png";
    """
    assert "192.0.2.1" in page.execute_async_script(script)


def test_names_that_would_be_scripts_are_text(page, comparison):
    assert page.execute_script("return window.stolen === undefined")
    assert len(page.find_elements(By.TAG_NAME, "script")) == 1
    assert page.find_elements(By.TAG_NAME, "img") == []
    assert page.title == EVIL
    names = page.execute_script(
        "return [...document.querySelectorAll('#v0-main thead bdi')].map((name) => name.title)"
    )
    assert names == comparison.methods
    errors = page.find_element(By.ID, "missing").text
    assert f"ValueError: {EVIL}" in errors
    assert f"semisift compare '{EVIL}'" in page.find_element(By.TAG_NAME, "pre").text


def test_a_method_that_is_not_chosen_is_hidden_everywhere(page, comparison):
    place = comparison.methods.index("laplacian")
    part = f"main [data-method='{place}']"
    before = n_shown(page, part)
    assert "laplacian" in shown(page, "#v0-main thead th bdi")
    assert n_shown(page, f"#curves svg.picture {part[5:]}") > 4
    box(page, "method", place).click()
    assert n_shown(page, part) == 0
    assert before > 20
    assert "laplacian" not in shown(page, "#v0-main thead th bdi")
    assert "laplacian" not in shown(page, "#v0-glance tbody th")
    status = page.find_element(By.CSS_SELECTOR, "#chooser [role=status]")
    assert status.text == "5 of 6 methods and 2 of 2 data sets are shown"
    assert "fisher" in shown(page, "#v0-main thead th bdi")
    box(page, "method", place).send_keys(Keys.SPACE)
    assert n_shown(page, part) == before


def test_a_data_set_that_is_not_chosen_is_hidden_everywhere(page, comparison):
    place = comparison.datasets.index("breast cancer")
    assert "breast cancer" in shown(page, "#v0-main tbody th")
    figures = n_shown(page, "#curves figure")
    box(page, "dataset", place).click()
    assert "breast cancer" not in shown(page, "#v0-main tbody th")
    assert n_shown(page, f"main [data-dataset='{place}']") == 0
    assert n_shown(page, "#curves figure") == figures / 2
    none = page.find_element(By.CSS_SELECTOR, "fieldset[data-kind=dataset] button[data-all='']")
    none.click()
    assert n_shown(page, "#curves figure") == 0
    page.find_element(By.CSS_SELECTOR, "fieldset[data-kind=dataset] button[data-all=true]").click()
    assert n_shown(page, "#curves figure") == figures


def test_judge_and_metric(page, comparison):
    for judge in range(2):
        for metric in range(2):
            for name, number in (("judge", judge), ("metric", metric)):
                page.find_element(By.ID, name).find_elements(By.TAG_NAME, "option")[number].click()
            panels = page.execute_script(
                "return [...new Set([...document.querySelectorAll('.panel')]"
                ".filter((each) => each.checkVisibility()).map((each) => each.dataset.panel))]"
            )
            assert panels == [str(2 * judge + metric)]
            scores = comparison.scores(
                judge=comparison.protocol.judges[judge], metric=comparison.protocol.metrics[metric]
            )
            cell = page.find_element(
                By.CSS_SELECTOR, f"#v{panels[0]}-main tbody tr[data-dataset='1'] td"
            )
            assert cell.text.split()[0] == f"{scores.means[1, 0]:.3f}"


def test_bands(page):
    assert n_shown(page, "#curves [data-band]") == 0  # more methods than bands can be told apart
    page.find_element(By.ID, "bands").click()
    assert n_shown(page, "#curves [data-band]") > 5


def test_pointing_at_a_method(page):
    script = """
        const part = document.querySelector("#curves .panel:not([hidden]) .of-sizes");
        const lines = [...part.querySelectorAll("[data-method]")];
        return lines.map((line) => [line.dataset.method, getComputedStyle(line).opacity]);
    """
    assert {opacity for _, opacity in page.execute_script(script)} == {"1"}
    page.execute_script(
        "document.querySelector('#curves .legend [data-method=\"1\"]')"
        ".dispatchEvent(new MouseEvent('mouseenter'))"
    )
    found = page.execute_script(script)
    assert {opacity for method, opacity in found if method == "1"} == {"1"}
    assert {opacity for method, opacity in found if method != "1"} == {"0.12"}


def values(driver, table, column):
    return driver.execute_script(
        "return [...document.querySelectorAll(`${arguments[0]} tbody tr`)]"
        ".map((row) => row.cells[arguments[1]].dataset.value)",
        table,
        column,
    )


def test_sort_by_click_and_keyboard(page):
    heads = page.find_elements(By.CSS_SELECTOR, "#v0-glance thead th")
    accuracy = next(k for k, head in enumerate(heads) if "accuracy" in head.text)
    heads[accuracy].find_element(By.TAG_NAME, "button").click()
    wait(page, lambda: heads[accuracy].get_attribute("aria-sort") == "descending")
    found = values(page, "#v0-glance", accuracy)
    numbers = [float(value) for value in found if value]
    assert numbers == sorted(numbers, reverse=True)
    assert found[-1] == ""  # the method that failed stands last, in both directions
    heads[accuracy].find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    wait(page, lambda: heads[accuracy].get_attribute("aria-sort") == "ascending")
    assert [float(value) for value in values(page, "#v0-glance", accuracy) if value] == numbers[
        ::-1
    ]
    assert values(page, "#v0-glance", accuracy)[-1] == ""
    heads[0].find_element(By.TAG_NAME, "button").send_keys(Keys.SPACE)
    wait(page, lambda: heads[0].get_attribute("aria-sort") == "ascending")
    assert heads[accuracy].get_attribute("aria-sort") is None
    footer = shown(page, "#v0-main tfoot th")
    page.find_elements(By.CSS_SELECTOR, "#v0-main thead button")[1].click()
    assert shown(page, "#v0-main tfoot th") == footer == ["mean", "mean rank"]


def test_download_the_numbers(page, comparison, tmp_path):
    page.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    page.find_element(By.CSS_SELECTOR, "#download button").click()
    path = tmp_path / "comparison.csv"
    wait(page, path.exists)
    time.sleep(0.2)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = comparison.to_polars()
    assert list(rows[0]) == table.columns
    assert len(rows) == len(table)
    for row, expected in zip(rows, table.iter_rows(named=True), strict=True):
        assert row["dataset"] == expected["dataset"]
        assert row["method"] == expected["method"]
        assert float(row["value"]) == round(expected["value"], 6)
        assert int(row["size"]) == expected["size"]
    assert EVIL_SET in {row["dataset"] for row in rows}


def test_themes_and_print(page):
    light = background(page)
    assert contrast(page) >= 4.5
    page.find_element(By.ID, "theme").send_keys(Keys.ENTER)
    wait(page, lambda: background(page) != light)
    assert contrast(page) >= 4.5
    page.find_element(By.ID, "theme").click()
    box(page, "method", 1).click()
    try:
        emulate(page, "screen", "dark")
        emulate(page, "print", "dark")
        wait(page, lambda: background(page) == light)
        assert not page.find_element(By.ID, "chooser").is_displayed()
        assert not page.find_element(By.CSS_SELECTOR, "#download button").is_displayed()
        assert n_shown(page, "main [data-method='1']") == 0
    finally:
        emulate(page, "", "light")


def test_the_theme_of_the_system(page):
    light = background(page)
    try:
        emulate(page, "screen", "dark")
        wait(page, lambda: background(page) != light)
        assert contrast(page) >= 4.5
    finally:
        emulate(page, "", "light")


@pytest.mark.parametrize("width", [320, 360, 768])
def test_nothing_sticks_out_sideways(page, width):
    resize(page, width, 740)
    wait(page, lambda: page.execute_script("return innerWidth") == width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    sizes = text_sizes(page)
    assert len(sizes) > 50
    assert min(sizes) > 8  # pixels


def test_endless_names_on_a_phone(chromium, tmp_path):
    names = ["W" * 300, "a" * 200, "漢字" * 50, "x"]
    results = made_up(random_figures(4, 2, 4), methods=names, datasets=names)
    path = write_comparison(results, tmp_path / "wide.html", title="W" * 300)
    resize(chromium, 360, 740)
    chromium.get(path.as_uri())
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= 360


def test_names_on_the_diagram_are_apart_in_the_browser(page):
    script = """
        const texts = [...document.querySelectorAll("#tests svg.picture text")];
        return texts.filter((text) => text.checkVisibility()).map((text) => {
            const box = text.getBoundingClientRect();
            return [box.left, box.top, box.right, box.bottom];
        });
    """
    boxes = page.execute_script(script)
    assert len(boxes) >= 13
    for place, a in enumerate(boxes):
        for b in boxes[:place]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_pictures_have_words(page):
    pictures = page.find_elements(By.CSS_SELECTOR, "svg[role=img]")
    labels = [picture.accessible_name for picture in pictures if picture.is_displayed()]
    assert len(labels) == 2 + 2 + 3
    assert all(labels)
    assert "does best" in labels[0]
    assert "Mean ranks, the best first" in labels[4]


def test_headings_and_landmarks(page):
    check_outline(page)


def test_print_to_pdf(page):
    assert 3 <= print_pages(page) <= 16


def test_without_scripts_all_is_there(page, report):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.get(report.as_uri())
        assert not page.find_element(By.ID, "chooser").is_displayed()
        assert not page.find_element(By.CSS_SELECTOR, "#download button").is_displayed()
        panels = page.find_elements(By.CSS_SELECTOR, "#results .panel")
        assert [panel.is_displayed() for panel in panels] == [True] * 4
        assert page.find_elements(By.CSS_SELECTOR, "th button") == []
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
