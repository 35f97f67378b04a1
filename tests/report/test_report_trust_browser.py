"""The report of a consensus that was assessed, in a real browser."""

import pandas as pd
import pytest

from semisift import C4, Consensus, FisherScore
from semisift.report import write_report
from semisift.selection import ranking_result
from tests.browsing import (
    By,
    contrast,
    emulate,
    luminance,
    messages,
    needs_browser,
    print_pages,
    resize,
    text_sizes,
    wait,
)
from tests.conftest import make_data

pytestmark = needs_browser
EVIL = "<script>window.stolen = true</script>"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Write a report of 120 columns with long names, ranked by three parts, one with a bad name."""
    data = make_data(n_features=120, per_class=10)
    X = pd.DataFrame(data.X, columns=[f"a gene of a very long name {j:03}" for j in range(120)])
    rankers = [("fisher", FisherScore()), ("c4", C4()), (EVIL, FisherScore())]
    ranker = Consensus(rankers=rankers, n_features_to_select=20, random_state=0).fit(X, data.y)
    ranker.assess(X, data.y, n_resamples=10, n_permutations=19)
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, ranking_result(ranker), X=X, y=data.y)
    return path


@pytest.fixture
def page(chromium, report):
    resize(chromium, 1200, 900)
    chromium.get(report.as_uri())
    return chromium


def column(driver, number, key="textContent"):
    return driver.execute_script(
        "return [...document.querySelectorAll('#features tbody tr')]"
        ".map((row) => row.cells[arguments[0]]).map((cell) => arguments[1] === 'value' "
        "? Number(cell.dataset.value) : cell.textContent)",
        number,
        key,
    )


def sort_by(driver, name):
    heads = driver.find_elements(By.CSS_SELECTOR, "#features thead th")
    (head,) = [head for head in heads if head.text.strip().split("\n")[0].startswith(name)]
    head.find_element(By.TAG_NAME, "button").click()
    wait(driver, lambda: head.get_attribute("aria-sort") is not None)
    return heads.index(head)


def test_no_error(page):
    assert page.execute_script("return window.stolen === undefined")
    assert messages(page) == []


def test_sort_by_decision(page):
    words = column(page, sort_by(page, "told"))
    order = ["significant", "suggestive", "no"]
    assert words == sorted(words, key=order.index)
    assert len(set(words)) > 1


def test_sort_by_interval_and_share(page):
    place = sort_by(page, "ranks")
    lows = column(page, place, "value")
    assert lows == sorted(lows)
    assert [int(text.split("\N{EN DASH}")[0]) for text in column(page, place)] == lows
    shares = column(page, sort_by(page, "in the"), "value")
    assert shares == sorted(shares, reverse=True)


def test_sort_by_a_part(page):
    ranks = [float(text) for text in column(page, 8)]
    head = page.find_elements(By.CSS_SELECTOR, "#features thead th")[8]
    assert "c4" in head.text
    head.find_element(By.TAG_NAME, "button").click()
    wait(page, lambda: [float(text) for text in column(page, 8)] == sorted(ranks))


def test_pictures_have_words(page):
    pictures = page.find_elements(By.CSS_SELECTOR, "#scores svg[role=img], #moves svg[role=img]")
    labels = [picture.accessible_name for picture in pictures if picture.is_displayed()]
    assert len(pictures) == 4
    assert len(labels) == 2
    assert "Marks: " in labels[0]
    assert "The whiskers span the ranks on 10 halves of the rows" in labels[1]


@pytest.mark.parametrize("width", [320, 390, 768, 1200])
def test_nothing_sticks_out_sideways(page, width):
    resize(page, width, 740)
    wait(page, lambda: page.execute_script("return innerWidth") == width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    assert min(text_sizes(page)) > 8
    lefts = page.execute_script(
        "return [...document.querySelectorAll('#moves svg text')]"
        ".filter((text) => text.checkVisibility())"
        ".map((text) => text.getBoundingClientRect()).map((box) => [box.left, box.right])"
    )
    assert len(lefts) > 12
    assert min(left for left, _ in lefts) >= 0
    assert max(right for _, right in lefts) <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_words_and_marks(page, scheme):
    try:
        emulate(page, "screen", scheme)
        assert contrast(page) >= 4.5
        script = """
            const style = (element) => getComputedStyle(element);
            return [...document.querySelectorAll("#trust .note, #trust li, .mark path")].map(
                (element) => element.closest("svg") ? style(element).stroke : style(element).color
            ).concat(style(document.body).backgroundColor);
        """
        *inks, ground = [luminance(colour) for colour in page.execute_script(script)]
        assert len(inks) > 6
        for ink in inks:
            assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5
    finally:
        emulate(page, "", "light")


def test_print(page):
    emulate(page, "print", "light")
    try:
        assert page.find_element(By.ID, "trust").is_displayed()
        assert page.find_element(By.CSS_SELECTOR, "#moves .wide svg").is_displayed()
        heads = page.find_elements(By.CSS_SELECTOR, "#features thead th")
        assert heads[1].text == "feature"
        assert print_pages(page)
    finally:
        emulate(page, "", "light")
