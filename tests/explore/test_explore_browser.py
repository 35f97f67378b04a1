"""The explorer in a real browser: rows are labelled by key, by click and by keyboard alone."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from urllib.parse import urlsplit

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from tests.browsing import (
    By,
    Keys,
    background,
    check_outline,
    emulate,
    messages,
    needs_browser,
    resize,
    wait,
)

pytestmark = needs_browser
EVIL = '<img src=x onerror="window.stolen = true">'
RTL = "\u05de\u05de\u05d0\u05d9\u05e8"
LONG = "a very long name " * 12 + "w" * 120


class Explorer:
    """A server of the explorer, as a process of its own."""

    def __init__(self, table, *options):
        self.table, self.options = table, options
        self.begin()

    def begin(self):
        command = [sys.executable, "-m", "semisift", "explore", self.table.name, *self.options]
        self.process = subprocess.Popen(
            [*command, "--no-browser"],
            cwd=self.table.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self._address = None

    @property
    def address(self):
        while self._address is None:
            line = self.process.stdout.readline()
            assert line, "the server ended"
            found = re.search(r"http://\S+", line)
            self._address = found and found.group()
        return self._address

    def ask(self, path, body=None):
        parts = urlsplit(self.address)
        token = parts.query.removeprefix("token=")
        request = urllib.request.Request(
            f"http://{parts.netloc}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"X-Semisift-Token": token, "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def write_table(path, X, names, target, per_class):
    """Write a table in which the first rows of each class are labelled."""
    labels = np.full(len(X), "", dtype=object)
    for label in dict.fromkeys(target):
        labels[np.flatnonzero(target == label)[:per_class]] = label
    rows = [[*map(str, row), label] for row, label in zip(X.tolist(), labels, strict=True)]
    lines = [
        ",".join('"' + cell.replace('"', '""') + '"' for cell in row)
        for row in [[*names, "kind"], *rows]
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def explorers(tmp_path_factory):
    """Start two servers: cells with names that would be scripts, and digits with pictures."""
    folder = tmp_path_factory.mktemp("explore")
    data, digits = load_breast_cancer(), load_digits()
    names = data.feature_names.astype(object)
    names[[7, 20, 27]] = [EVIL, LONG, RTL]
    target = np.array(["benign" if kind else f"malign {EVIL}" for kind in data.target])
    write_table(folder / "cells.csv", data.data[:300], names, target[:300], 3)
    kinds = digits.target.astype(str)
    write_table(folder / "digits.csv", digits.data[:400], digits.feature_names, kinds[:400], 1)
    running = {
        "cells": Explorer(folder / "cells.csv", "--label", "kind"),
        "digits": Explorer(folder / "digits.csv", "--label", "kind", "--image", "8x8"),
    }
    yield running
    for each in running.values():
        each.kill()


@pytest.fixture
def cells(explorers):
    return explorers["cells"]


@pytest.fixture
def page(chromium, cells):
    """Open the page afresh, on a screen of ordinary size and without a theme chosen before."""
    resize(chromium, 1280, 950)
    visit(chromium, cells)
    chromium.execute_script("localStorage.clear(); delete document.documentElement.dataset.theme;")
    return chromium


def visit(driver, explorer):
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get(explorer.address)
    wait(driver, lambda: by_id(driver, "row-name").is_displayed() and texts(driver, "#values td"))


def by_id(driver, name):
    return driver.find_element(By.ID, name)


def button(driver, words):
    for each in driver.find_elements(By.CSS_SELECTOR, "button"):
        if each.text == words:
            return each
    raise AssertionError(f"no button {words!r}")


def press(driver, *keys):
    driver.find_element(By.TAG_NAME, "body").send_keys(*keys)


def texts(driver, selector):
    script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
    return driver.execute_script(script, selector)


def text(driver, selector):
    return " ".join(texts(driver, selector))


def notices(driver):
    return text(driver, "#notices p")


def current(driver):
    """Return the name of the row to label."""
    return text(driver, "#row-name bdi")


def given_here(explorer):
    """Return how many labels the server holds that were given on the page."""
    return sum(each["given"] for each in explorer.ask("/api/state")["classes"])


def answer(driver, explorer, act):
    """Give an answer and return its row, once the label is on the disk and the page knows."""
    row, before = current(driver), given_here(explorer)
    act()
    wait(driver, lambda: current(driver) != row)  # at once, whatever the ranking does
    wait(driver, lambda: given_here(explorer) == before + 1)
    wait(driver, lambda: text(driver, "#saved").startswith("Saved in"))
    return int(row) - 1


def click_class(driver, place):
    driver.find_elements(By.CSS_SELECTOR, "#answers button")[place].click()


def wait_for_map(driver):
    wait(driver, lambda: " rows, " in text(driver, "#map-words"))


def test_ten_rows_are_found_again_after_a_crash(page, cells):
    given = {}
    for turn in range(10):
        place = turn % 2
        by_key, by_click = (press, str(place + 1)), (click_class, place)
        do, what = by_key if turn < 6 else by_click
        given[answer(page, cells, lambda do=do, what=what: do(page, what))] = place
    last = [*given][-1]
    press(page, "u")
    wait(page, lambda: given_here(cells) == 9)
    wait(page, lambda: current(page) == str(last + 1))
    given[answer(page, cells, lambda: press(page, "1"))] = 0
    assert len(given) == 10

    found = "16 of 300 rows are labelled, 10 of them here"
    page.refresh()
    wait(page, lambda: found in text(page, "#lead"))
    cells.kill()
    wait(page, lambda: "No connection" in notices(page))
    cells.begin()
    visit(page, cells)
    wait(page, lambda: found in text(page, "#lead"))
    for row, place in given.items():
        detail = cells.ask(f"/api/row?row={row}")
        assert (detail["label"], detail["given_here"]) == (place, True)


def test_undo_by_control_z_and_by_button(page, cells):
    before = given_here(cells)
    row = answer(page, cells, lambda: press(page, "1"))
    press(page, Keys.CONTROL + "z")
    wait(page, lambda: given_here(cells) == before)
    wait(page, lambda: current(page) == str(row + 1))
    answer(page, cells, lambda: click_class(page, 1))
    by_id(page, "undo").click()
    wait(page, lambda: given_here(cells) == before)


def test_the_ranking_follows_and_is_announced(page, cells):
    assert by_id(page, "live").get_attribute("aria-live") == "polite"
    answer(page, cells, lambda: press(page, "1"))
    wait(page, lambda: "Ranking updated: " in text(page, "#live"))
    assert re.search("same rank|up by|down by|new", text(page, "#features td.moved"))


def test_skip_next_and_previous(page):
    first = current(page)
    press(page, "j")
    second = current(page)
    assert second != first
    press(page, "k")
    assert current(page) == first
    press(page, "s")
    assert current(page) == second
    assert f"{first} (skipped)" in texts(page, "#queue-rows li")[-1]
    page.find_elements(By.CSS_SELECTOR, "#queue-rows button")[2].click()
    assert current(page) not in (first, second)


def test_single_keys_can_be_switched_off(page):
    by_id(page, "keys-on").click()
    row = current(page)
    press(page, "j", "s", "1")
    assert current(page) == row


def offline(driver, is_offline):
    limits = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": is_offline, **limits})


def test_a_conflict_with_a_second_tab_is_told(page, cells):
    """The first tab has no connection for a while, so that it does not hear of the second."""
    first, row, before = page.current_window_handle, current(page), given_here(cells)
    offline(page, True)
    press(page, "1")
    wait(page, lambda: f"Not saved yet: row {row} as benign" in notices(page))
    assert text(page, "#saved") == "1 answer not saved"
    page.switch_to.new_window("tab")
    try:
        visit(page, cells)
        press(page, "j", "j")
        answer(page, cells, lambda: press(page, "2"))
        page.close()
    finally:
        page.switch_to.window(first)
    offline(page, False)
    wait(page, lambda: f"Not saved: row {row} as benign" in notices(page))
    assert "labels changed in another tab or program" in notices(page)
    assert current(page) == row
    assert given_here(cells) == before + 1
    button(page, "Send again").click()
    wait(page, lambda: given_here(cells) == before + 2)
    wait(page, lambda: notices(page) == "")
    assert cells.ask(f"/api/row?row={int(row) - 1}")["label"] == 0


def test_no_answer_is_lost_with_the_connection(page, cells):
    before = given_here(cells)
    offline(page, True)
    press(page, "1")
    press(page, "2")
    wait(page, lambda: text(page, "#saved") == "2 answers not saved")
    offline(page, False)
    wait(page, lambda: given_here(cells) == before + 2)
    wait(page, lambda: notices(page) == "")


def test_an_answer_that_arrived_is_not_asked_for_again(page, cells):
    """The server saved the label, but the connection broke before it could say so."""
    before, row = given_here(cells), current(page)
    page.execute_script("""
        const real = window.fetch;
        window.fetch = async (path, options) => {
            const answer = await real(path, options);
            if (path !== "/api/label") return answer;
            window.fetch = real;
            throw new TypeError("lost");
        };
    """)
    press(page, "1")
    wait(page, lambda: f"Row {row} labelled benign" in text(page, "#live"))
    assert given_here(cells) == before + 1
    shown = notices(page)  # what the page says of the labels by then has nothing to do with it
    assert not shown or (shown.startswith("The labels may") and shown.endswith("was lowered."))


def test_labels_from_elsewhere_are_told(page, cells):
    state = cells.ask("/api/state")
    row, version = state["queue"]["rows"][-1]["row"], state["labels_version"]
    cells.ask("/api/label", {"row": row, "label": "benign", "version": version})
    wait(page, lambda: "Labels changed in another tab" in notices(page))
    button(page, "All right").click()
    assert notices(page) == ""


def test_names_are_text(page, cells):
    names = texts(page, "#features td.feature > button")
    assert {EVIL, LONG, RTL} <= {*names, *texts(page, "#features .copies button")}
    assert EVIL in text(page, "#answers button")
    new = f"{RTL} {EVIL}"
    answer(page, cells, lambda: by_id(page, "new-name").send_keys(new, Keys.ENTER))
    wait(page, lambda: new in text(page, "#answers button"))
    for name in (EVIL, LONG, RTL):
        page.execute_script(
            "[...document.querySelectorAll('#features button')]"
            ".find((each) => each.textContent === arguments[0]).click()",
            name,
        )
        wait(page, lambda name=name: text(page, "#feature-name") == name)
    press(page, "u")
    wait(page, lambda: "taken back" in text(page, "#live"))
    assert page.execute_script("return window.stolen === undefined")
    assert page.find_elements(By.CSS_SELECTOR, "img, main script") == []
    assert messages(page) == []


def test_one_feature_by_click_and_by_keyboard(page):
    wait(page, lambda: len(texts(page, "#feature-table tbody tr")) >= 4)
    for place, show in [(3, lambda each: each.click()), (1, lambda each: each.send_keys("\n"))]:
        each = page.find_elements(By.CSS_SELECTOR, "#features td.feature > button")[place]
        name = each.get_property("textContent")
        show(each)
        wait(page, lambda name=name: text(page, "#feature-name") == name)
    picture = page.find_element(By.CSS_SELECTOR, "#lanes svg[role=img]")
    assert "median" in text(page, "#" + picture.get_attribute("aria-describedby"))
    assert "labelled benign" in text(page, "#feature-table th")


def test_a_correlated_group_stays_open(page, cells):
    page.find_element(By.CSS_SELECTOR, "#features .copies summary").click()
    wait(page, lambda: page.find_elements(By.CSS_SELECTOR, "#features .copies[open] li button"))
    answer(page, cells, lambda: press(page, "2"))
    wait(page, lambda: "Ranking updated: " in text(page, "#live"))
    assert page.find_elements(By.CSS_SELECTOR, "#features .copies[open]")


def zoom(driver):
    return float(by_id(driver, "sheet").get_attribute("data-zoom"))


def mouse(driver, kind, x, y, **more):
    """Send a mouse event to a place on the map, in shares of its size."""
    left, top, width, height = driver.execute_script(
        "const sheet = document.getElementById('sheet');"
        "sheet.scrollIntoView({ block: 'nearest' });"
        "const box = sheet.getBoundingClientRect();"
        "return [box.left, box.top, box.width, box.height];"
    )
    event = {"type": kind, "x": left + x * width, "y": top + y * height, **more}
    driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def test_zoom_and_move(page):
    mouse(page, "mouseWheel", 0.5, 0.5, deltaX=0, deltaY=-240)
    wait(page, lambda: zoom(page) > 1.5)
    by_id(page, "closer").click()
    assert zoom(page) > 2.5
    by_id(page, "whole").click()
    assert zoom(page) == 1
    sheet = by_id(page, "sheet")
    sheet.send_keys("+", "+", Keys.ARROW_LEFT, "-")
    assert 1.3 < zoom(page) < 1.5
    sheet.send_keys(Keys.HOME)
    assert zoom(page) == 1


def test_zoom_by_two_fingers(page):
    page.execute_script("document.getElementById('sheet').scrollIntoView({ block: 'nearest' })")
    box = by_id(page, "sheet").rect
    scrolled = page.execute_script("return scrollY")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 - scrolled
    for apart in (20, 40, 60, 80):
        fingers = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        kind = "touchStart" if apart == 20 else "touchMove"
        page.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    page.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert zoom(page) > 2


def test_the_map_tells_of_rows(page):
    wait_for_map(page)
    sheet = by_id(page, "sheet")
    sheet.send_keys("n", "n")
    wait(page, lambda: re.search(r"\d+: (un)?labelled", text(page, "#map-live")))
    assert by_id(page, "tip").is_displayed()
    row = text(page, "#map-live").split(":")[0]
    sheet.send_keys(Keys.ENTER)
    assert current(page) == row


@pytest.mark.parametrize("shift", [True, False])
def test_lasso(page, cells, shift):
    wait_for_map(page)
    if not shift:
        by_id(page, "lasso").click()
    active = {"button": "left", "buttons": 1, "clickCount": 1, "modifiers": 8 if shift else 0}
    mouse(page, "mousePressed", 0.02, 0.02, **active)
    for x, y in [(0.6, 0.02), (0.6, 0.98), (0.02, 0.98), (0.02, 0.1)]:
        mouse(page, "mouseMoved", x, y, **active)
    mouse(page, "mouseReleased", 0.02, 0.1, **active)
    wait(page, lambda: "unlabelled rows chosen" in text(page, "#chosen-words"))
    n = int(text(page, "#chosen-words").split()[0])
    assert n > 5
    by_id(page, "take-chosen").click()
    assert f"{n} rows that you chose on the map" in text(page, "#queue-words")
    if shift:
        answer(page, cells, lambda: press(page, "1"))
        assert f"{n - 1} rows" in text(page, "#queue-words")
    by_id(page, "own-queue").click()
    assert "best first" in text(page, "#queue-words")


def test_rows_in_view_are_chosen_without_a_mouse(page):
    wait_for_map(page)
    by_id(page, "in-view").send_keys(Keys.ENTER)
    wait(page, lambda: "unlabelled rows chosen" in text(page, "#chosen-words"))
    by_id(page, "drop-chosen").send_keys(Keys.ENTER)
    assert not by_id(page, "chosen").is_displayed()


def test_keyboard_alone(page, cells):
    """From the top of the page to a class by the tab key, and an answer with Enter."""
    for _ in range(40):
        page.switch_to.active_element.send_keys(Keys.TAB)
        active = page.switch_to.active_element
        outline = page.execute_script("return getComputedStyle(arguments[0]).outlineStyle", active)
        assert outline == "solid"
        if active.get_attribute("class") == "answer":
            break
    else:
        raise AssertionError("the tab key does not reach the classes")
    answer(page, cells, lambda: active.send_keys(Keys.ENTER))
    assert page.switch_to.active_element.get_attribute("class") == "answer"


def test_headings_and_landmarks(page):
    check_outline(page)
    canvas = by_id(page, "sheet")
    assert canvas.accessible_name == "Map of the rows"
    assert canvas.get_attribute("aria-describedby") == "map-words map-keys"


@pytest.mark.parametrize("width", [320, 360, 768, 1000])
def test_nothing_sticks_out_sideways(page, width):
    resize(page, width, 740)
    wait(page, lambda: page.execute_script("return innerWidth") == width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


CONTRAST = r"""
    const numbers = (text) => text.match(/[\d.]+/g).map(Number);
    const light = (text) => numbers(text).slice(0, 3).map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
    const ground = (element) => {
        const own = getComputedStyle(element).backgroundColor;
        return numbers(own)[3] === 0 && element.parentElement ? ground(element.parentElement) : own;
    };
    const isWriting = (each) => each.checkVisibility() && !each.closest(":disabled, script")
        && [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    return [...document.body.querySelectorAll("*")].filter(isWriting).map((each) => {
        const style = getComputedStyle(each);
        const both = [light(each.closest("svg") ? style.fill : style.color), light(ground(each))];
        const contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
        return [contrast, `${each.tagName} ${each.textContent.slice(0, 40)}`];
    }).sort((a, b) => a[0] - b[0])[0];
"""


def test_contrast_in_both_themes(page):
    light = background(page)
    for _ in range(2):
        least, where = page.execute_script(CONTRAST)
        assert least >= 4.5, where
        by_id(page, "theme").click()
    assert background(page) == light
    page.execute_script("delete document.documentElement.dataset.theme")
    try:
        emulate(page, "screen", "dark")
        wait(page, lambda: background(page) != light)
    finally:
        emulate(page, "", "light")


def test_results_need_a_place(page):
    assert not by_id(page, "finish").is_enabled()
    assert "--out" in by_id(page, "finish").get_attribute("title")


def test_pictures_of_digits(chromium, explorers):
    """Rows are shown as pictures, and classes that are named by a digit have that key."""
    resize(chromium, 1280, 950)
    visit(chromium, explorers["digits"])
    wait(chromium, lambda: by_id(chromium, "thumbnail").is_displayed())
    row, data = int(current(chromium)) - 1, load_digits()
    pixels = chromium.execute_script(
        "const canvas = document.getElementById('thumbnail');"
        "const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        "return [...data].filter((_, place) => place % 4 === 0);"
    )
    assert np.allclose(pixels, data.data[row] / 16 * 255, atol=1)
    kind = int(data.target[row])
    answer(chromium, explorers["digits"], lambda: press(chromium, str(kind)))
    assert explorers["digits"].ask(f"/api/row?row={row}")["label"] == kind
    small = "return document.querySelectorAll('canvas.small:not([hidden])').length"
    wait(chromium, lambda: chromium.execute_script(small) >= 5)
    assert messages(chromium) == []
