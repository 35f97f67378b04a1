"""Values of single marks and the ranking file, in a real browser: by mouse and by keyboard."""

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.action_chains import ActionChains

from semisift import SSFI
from semisift.io._write import as_text
from semisift.report import write_report
from semisift.selection import ranking_result
from tests.browsing import By, Keys, emulate, messages, needs_browser, resize, wait
from tests.conftest import make_data

pytestmark = needs_browser
EVIL = '<b>, "1"\n</pre>'


@pytest.fixture(scope="module")
def fitted():
    data = make_data(n_features=30)
    names = [EVIL, *(f"gene {j}" for j in range(1, 30))]
    index = [f"patient {i}" for i in range(60)]
    X = pd.DataFrame(data.X, columns=names, index=index)
    y = np.array([None if code < 0 else ["ham", "spam"][code] for code in data.y], dtype=object)
    ranker = SSFI(n_features_to_select=3, n_members=200, random_state=0).fit(X, y)
    ranker.assess(X, y, n_resamples=4, n_permutations=4)
    return ranker, X, y


@pytest.fixture(scope="module")
def report(fitted, tmp_path_factory):
    ranker, X, y = fitted
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, ranking_result(ranker), X=X, y=y, source={"file": "cells.csv"})
    return path


@pytest.fixture
def page(chromium, report):
    resize(chromium, 1200, 900)
    chromium.get("about:blank")
    chromium.get_log("browser")
    chromium.get(report.as_uri())
    return chromium


def part(page, section, name):
    """Return the first such part of the pictures of a section that is drawn."""
    for found in page.find_elements(By.CSS_SELECTOR, f"#{section} .plot"):
        if found.is_displayed():
            return found.find_element(By.CLASS_NAME, name)
    raise AssertionError(f"no picture in {section}")


def centre(page, element):
    return page.execute_script(
        "const box = arguments[0].getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]",
        element,
    )


def hover(page, element):
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    x, y = centre(page, element)
    actions = ActionChains(page)
    actions.w3c_actions.pointer_action.move_to_location(round(x), round(y))
    actions.perform()


SECTIONS = ["scores", "moves", "by-class", "heat", "rows"]


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("width", [1200, 360])
def test_arrow_keys_lead_from_mark_to_mark(page, section, width):
    resize(page, width, 740)
    cursor, tip = part(page, section, "cursor"), part(page, section, "tip")
    assert cursor.get_attribute("role") == "slider"
    assert cursor.accessible_name.endswith("single values, by arrow keys")
    assert not tip.is_displayed()
    # a change of the width may still be under way, and takes the tip away
    focus = "arguments[0].blur(); arguments[0].focus({focusVisible: true})"
    wait(page, lambda: page.execute_script(focus, cursor) or tip.is_displayed())
    seen = []
    for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.END):
        cursor.send_keys(key)
        assert cursor.get_attribute("aria-valuetext") == tip.get_attribute("textContent")
        seen.append(tip.get_attribute("textContent"))
        box, wide = tip.rect, page.execute_script("return document.documentElement.clientWidth")
        assert 0 <= box["x"] <= box["x"] + box["width"] <= wide
    assert seen[1] == seen[3] != seen[0]
    assert seen[4] not in seen[:4]
    cursor.send_keys(Keys.ESCAPE)
    wait(page, lambda: not tip.is_displayed())
    cursor.send_keys(Keys.HOME)
    cursor.send_keys(Keys.TAB)
    wait(page, lambda: not tip.is_displayed())
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    assert messages(page) == []


def test_every_picture_of_single_marks_is_reached_by_the_tab_key(page):
    page.find_element(By.ID, "wanted").click()
    seen = set()
    for _ in range(60):
        page.switch_to.active_element.send_keys(Keys.TAB)
        focused = page.switch_to.active_element
        if focused.get_attribute("class") == "cursor":
            seen.add(focused.find_element(By.XPATH, "ancestor::section").get_attribute("id"))
    assert seen >= {"by-class", "heat", "rows"}


@pytest.mark.parametrize("width", [1200, 360])
def test_the_map_tells_rows_by_pointer_where_they_are_drawn(page, fitted, width):
    ranker, _, y = fitted
    resize(page, width, 740)
    marks = page.execute_script(
        "return [...document.querySelectorAll('#rows .plot use')]"
        ".filter((use) => use.closest('[stroke]').getAttribute('stroke') !== 'var(--line)')"
    )  # those with the colour of lines are ticks of the axes
    assert len(marks) == 60
    tip, ring = part(page, "rows", "tip"), part(page, "rows", "ring")
    texts = set()
    for mark in marks[::5]:
        hover(page, mark)
        wait(page, tip.is_displayed)
        x, y_ = centre(page, mark)
        ring_x, ring_y = centre(page, ring)
        assert abs(ring_x - x) < 4
        assert abs(ring_y - y_) < 4
        texts.add(tip.text)
    names = {text.split(":")[0] for text in texts}
    assert len(names) > 9  # some lie on others
    for text in texts:
        row = int(text.split(":")[0].removeprefix("patient "))
        if y[row] is not None:
            assert text == f"patient {row}: {y[row]}, labelled"
        else:
            sure = f"{ranker.confidence_[row]:.0%}"
            given = ranker.transduction_[row]
            assert text == f"patient {row}: given the label {given}, confidence {sure}"


def test_the_scores_tell_features_by_pointer(page, fitted):
    outcome = ranking_result(fitted[0])
    tip = part(page, "scores", "tip")
    cursor = part(page, "scores", "cursor")
    plot = cursor.find_element(By.XPATH, "..")
    x, y = (float(number) / 100 for number in plot.get_attribute("data-at").split()[2:4])
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    left, top, width, height = page.execute_script(
        "const box = arguments[0].getBoundingClientRect();"
        "return [box.left, box.top, box.width, box.height]",
        plot,
    )
    actions = ActionChains(page)
    place = round(left + x * width), round(top + y * height)
    actions.w3c_actions.pointer_action.move_to_location(*place)
    actions.perform()
    wait(page, tip.is_displayed)
    assert "rank 2, score" in tip.text
    assert tip.text.startswith(outcome.features[1]) or outcome.features[1] == EVIL
    actions = ActionChains(page)
    actions.w3c_actions.pointer_action.move_to_location(round(left + 0.98 * width), place[1])
    actions.perform()
    wait(page, lambda: not tip.is_displayed())


def test_the_heatmap_tells_values_in_two_directions(page, fitted):
    ranker, X, _ = fitted
    outcome = ranking_result(ranker)
    cursor, ring = part(page, "heat", "cursor"), part(page, "heat", "ring")
    page.execute_script("arguments[0].focus({focusVisible: true})", cursor)
    cursor.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    text = cursor.get_attribute("aria-valuetext")
    name, row = outcome.features[2], 2  # the second of the class ham
    value = float(X[name].iloc[row])
    far = (value - X[name].mean()) / X[name].std(ddof=0)
    expected = f"{name}, {value:.4g} ({far:.1f} standard deviations): patient {row}, ham, labelled"
    assert text == expected.replace(" (-", " (\N{MINUS SIGN}")
    names = page.find_elements(By.CSS_SELECTOR, ".heat-names li")
    assert abs(centre(page, names[2])[1] - centre(page, ring)[1]) < 2  # lines and names meet
    cursor.send_keys(Keys.END, Keys.ARROW_RIGHT)
    assert f"{name}, " in cursor.get_attribute("aria-valuetext")
    for _ in range(25):
        cursor.send_keys(Keys.ARROW_UP)
    assert EVIL.replace("\n", "␊") in cursor.get_attribute("aria-valuetext") or (
        outcome.features[0] in cursor.get_attribute("aria-valuetext")
    )


def test_colours_of_the_heatmap_follow_the_theme(page):
    def colours():
        return page.execute_script(
            "return [...document.querySelectorAll('.heat-scale path')]"
            ".map((path) => getComputedStyle(path).stroke)"
        )

    light = colours()
    assert len(set(light)) == 11
    try:
        emulate(page, "screen", "dark")
        wait(page, lambda: colours() != light)
        assert len(set(colours())) == 11
    finally:
        emulate(page, "", "light")


@pytest.mark.parametrize("key", ["click", Keys.ENTER])
def test_the_ranking_is_saved(page, fitted, tmp_path, key):
    settings = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.execute_cdp_cmd("Browser.setDownloadBehavior", settings)
    button = page.find_element(By.CSS_SELECTOR, "#download button")
    if key == "click":
        button.click()
    else:
        button.send_keys(key)
    file = tmp_path / "cells-ranking.csv"
    wait(page, file.exists)
    outcome = ranking_result(fitted[0])
    assert file.read_bytes().decode() == as_text(outcome.to_frame(), safe=False)
    assert messages(page) == []


def test_without_scripts_nothing_is_offered_that_does_not_work(page, report):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.get(report.as_uri())
        assert not page.find_element(By.ID, "download").is_displayed()
        assert page.find_elements(By.CLASS_NAME, "cursor") == []
        assert page.find_element(By.CSS_SELECTOR, ".heat-cells").is_displayed()
        assert not page.find_element(By.ID, "map-tips").is_displayed()
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
