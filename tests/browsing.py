"""What the tests in a real browser share. Without selenium and chromium they are skipped."""

import base64
import json
import shutil
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

__all__ = ["By", "Keys"]

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="needs chromium and chromedriver on the PATH"
)

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@contextmanager
def browser(profile):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        driver.set_page_load_timeout(60)
        yield driver
    finally:
        driver.quit()


def resize(driver, width, height):
    # several browsers run at a time, and one window alone has the focus of the system
    driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )


def wait(driver, condition):
    return WebDriverWait(driver, 20, poll_frequency=0.05).until(lambda _: condition())


def background(driver):
    return driver.execute_script("return getComputedStyle(document.body).backgroundColor")


def messages(driver):
    return [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def contrast(driver):
    """Return the least contrast of quiet and ordinary text, and of links, with the ground."""
    script = """
        const style = (element) => getComputedStyle(element);
        const names = ["p.quiet", "body", "nav a", "figcaption", "svg text"];
        return [style(document.body).backgroundColor, ...names.map((name) => {
            const element = document.querySelector(name);
            return element.closest("svg") ? style(element).fill : style(element).color;
        })];
    """
    ground, *inks = [luminance(colour) for colour in driver.execute_script(script)]
    return min((max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) for ink in inks)


def luminance(colour):
    channels = np.array([int(part) for part in colour[4:-1].split(",")]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def requests_of(driver, address):
    """Open an address and return all that is asked for."""
    driver.get("about:blank")
    driver.get_log("performance")
    driver.get_log("browser")
    driver.get(address)
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }


def text_sizes(driver):
    """Return the sizes in pixels of all writing on pictures that can be seen."""
    return driver.execute_script(
        "return [...document.querySelectorAll('svg.picture text')]"
        ".filter((text) => text.checkVisibility()).map((text) => {"
        "  const scale = text.getScreenCTM();"
        "  return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(scale.a, scale.b);"
        "})"
    )


def emulate(driver, media, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def check_outline(driver):
    """Check headings and landmarks, and that the first stop of the tab key leads to the content."""
    levels = [int(tag.tag_name[1]) for tag in driver.find_elements(By.CSS_SELECTOR, "h1, h2, h3")]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for landmark in ("header", "nav[aria-label]", "main", "footer"):
        assert len(driver.find_elements(By.CSS_SELECTOR, f"body > {landmark}")) == 1
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert driver.switch_to.active_element.get_attribute("href").endswith("#content")


def print_pages(driver):
    """Print to PDF and return how many pages there are."""
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF")
    return pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ")
