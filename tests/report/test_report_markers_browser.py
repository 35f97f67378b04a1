"""Markers by class in a real browser: dots by pointer and by keyboard, classes that unfold."""

import numpy as np
import pandas as pd
import pytest

from semisift import TransductiveScore
from tests.browsing import By, Keys, emulate, messages, needs_browser, resize, wait

pytestmark = needs_browser
EVIL = '<b>, "1"\n</pre>'


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Write a report of six classes of cells, one with a name that would be an element."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 6, 300)
    rates = np.full((6, 40), 0.2)
    for code in range(6):
        rates[code, [2 * code, 2 * code + 1]] = 4
    names = [EVIL, "T cell", "a class with a name that is longer than its room", "B", "NK", "D"]
    y = np.array([names[code] for code in kind], dtype=object)
    y[60:] = None
    genes = [f"gene {j}" for j in range(40)]
    X = pd.DataFrame(rng.poisson(rates[kind]), columns=genes)
    ranker = TransductiveScore(random_state=0).fit(X, y)
    path = tmp_path_factory.mktemp("report") / "report.html"
    return ranker.report(path, X, y, by_class=True)


@pytest.fixture
def page(chromium, report):
    resize(chromium, 1200, 900)
    chromium.get("about:blank")
    chromium.get_log("browser")
    chromium.get(report.as_uri())
    return chromium


def dots(page, name):
    return page.find_element(By.CSS_SELECTOR, f"#markers .plot .{name}")


@pytest.mark.parametrize("width", [1200, 360])
def test_arrow_keys_go_from_dot_to_dot(page, width):
    resize(page, width, 740)
    cursor, tip, ring = (dots(page, name) for name in ("cursor", "tip", "ring"))
    assert cursor.accessible_name == "Markers by class: single values, by arrow keys"
    page.execute_script("arguments[0].focus({focusVisible: true})", cursor)
    wait(page, tip.is_displayed)
    texts = []
    for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.END):
        cursor.send_keys(key)
        texts.append(tip.get_attribute("textContent"))
        assert cursor.get_attribute("aria-valuetext") == texts[-1]
        box = ring.rect
        cell = page.find_element(By.CSS_SELECTOR, "#markers .dots-cells").rect
        assert cell["x"] - 1 <= box["x"] + box["width"] / 2 <= cell["x"] + cell["width"] + 1
    assert len(set(texts)) == 4
    assert all("% of rows have a value, " in text for text in texts)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    assert messages(page) == []


def test_a_dot_is_told_where_it_is_drawn(page):
    """The dots of the class that is marked are the largest of their line."""
    names = [item.text for item in page.find_elements(By.CSS_SELECTOR, "#markers .heat-names li")]
    cursor, tip = dots(page, "cursor"), dots(page, "tip")
    page.execute_script("arguments[0].focus({focusVisible: true})", cursor)
    cursor.send_keys(Keys.HOME)
    shares = {}
    for _ in range(6):
        texts = tip.get_attribute("textContent")
        assert texts.startswith(f"{names[0]}, ")
        share, _, name = texts.removeprefix(f"{names[0]}, ").partition("%")
        shares[name.rpartition(": ")[2]] = int(share)
        cursor.send_keys(Keys.ARROW_RIGHT)
    heads = page.find_elements(By.CSS_SELECTOR, "#markers .dots-head text")
    assert len(heads) == len(shares) == 6
    best = max(shares, key=shares.get)
    assert shares[best] > 60 > max(share for name, share in shares.items() if name != best)
    summary = page.find_element(By.CSS_SELECTOR, "#markers summary").text
    assert best in summary
    assert names[0] in summary


def test_classes_unfold(page):
    details = page.find_elements(By.CSS_SELECTOR, "#markers details")
    assert [each.get_attribute("open") for each in details] == ["true", *[None] * 5]
    summary = details[3].find_element(By.TAG_NAME, "summary")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", summary)
    summary.send_keys(Keys.ENTER)
    rows = details[3].find_elements(By.CSS_SELECTOR, "tbody tr")
    assert rows[0].is_displayed()
    assert rows[0].find_element(By.TAG_NAME, "th").text.startswith("gene ")
    assert not details[4].find_element(By.CSS_SELECTOR, "tbody tr").is_displayed()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_dots_can_be_seen_in_both_themes(page, theme):
    emulate(page, "screen", theme)
    colours = page.execute_script(
        "return [...document.querySelectorAll('#markers .dots-cells path')]"
        ".map((path) => getComputedStyle(path).stroke)"
    )
    assert (theme == "dark") == ("rgb(163, 173, 184)" in colours)  # of the rims
    ground = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert ground not in colours
    assert len(set(colours)) > 2
    emulate(page, "", "light")
