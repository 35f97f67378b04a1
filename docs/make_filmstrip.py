"""Make docs/images/explore.png: four views of the explorer while ten rows of digits are labelled.

Run ``python docs/make_filmstrip.py`` with selenium, chromium and chromedriver installed.
"""

import base64
import io
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from sklearn.datasets import load_digits

TARGET = Path(__file__).parent / "images" / "explore.png"
WIDTH, HEIGHT = 1120, 1240
SCALE, GAP, GROUND = 0.62, 12, "#d5dae0"
VIEWS = (0, 3, 6, 10)  # labels given when a view is taken


def write_table(path: Path) -> None:
    """Write the digits with one label a class."""
    data = load_digits(as_frame=True)
    labels = np.full(len(data.target), "", dtype=object)
    for kind in range(10):
        labels[np.flatnonzero(data.target == kind)[0]] = str(kind)
    data.data.assign(digit=labels).to_csv(path, index=False)


@contextmanager
def explorer(table: Path) -> Iterator[str]:
    """Serve the page and yield its address."""
    command = [sys.executable, "-um", "semisift", "explore", table.name, "--label", "digit"]
    with subprocess.Popen(
        [*command, "--image", "8x8", "--no-browser"],
        cwd=table.parent,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            found = (re.search(r"http://\S+", line) for line in process.stdout)
            yield next(match.group() for match in found if match)
        finally:
            process.kill()


@contextmanager
def browser(profile: str) -> Iterator[Any]:
    """Start a browser without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        yield driver
    finally:
        driver.quit()


def wait(driver: Any, condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    WebDriverWait(driver, 60, poll_frequency=0.1).until(lambda _: condition())


def wait_until_idle(driver: Any) -> None:
    """Wait until the page has said all that it has to say."""
    work = driver.find_element(By.ID, "working")
    quiet = 0
    while quiet < 15:
        time.sleep(0.1)
        quiet = quiet + 1 if "off" in work.get_attribute("class") else 0


def photograph(driver: Any) -> Image.Image:
    """Return the top of the page."""
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    image = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    return image.resize((round(WIDTH * SCALE), round(HEIGHT * SCALE)), Image.Resampling.LANCZOS)


def label_rows(driver: Any, address: str) -> list[Image.Image]:
    """Label ten rows as they are asked for, and return the views on the way."""
    kinds, views = load_digits().target, []
    driver.get(address)
    name = driver.find_element(By.CSS_SELECTOR, "#row-name bdi")
    wait(driver, lambda: name.text != "")
    for given in range(max(VIEWS) + 1):
        wait_until_idle(driver)
        if given in VIEWS:
            views.append(photograph(driver))
        row = name.text
        driver.find_element(By.TAG_NAME, "body").send_keys(str(kinds[int(row) - 1]))
        wait(driver, lambda row=row: name.text != row)
    return views


def join(views: list[Image.Image]) -> Image.Image:
    """Put four views beside and below each other."""
    width, height = views[0].size
    strip = Image.new("RGB", (2 * width + 3 * GAP, 2 * height + 3 * GAP), GROUND)
    for place, view in enumerate(views):
        down, right = divmod(place, 2)
        strip.paste(view, (GAP + right * (width + GAP), GAP + down * (height + GAP)))
    return strip.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "digits.csv"
        write_table(table)
        with explorer(table) as address, browser(f"{folder}/profile") as driver:
            strip = join(label_rows(driver, address))
    TARGET.parent.mkdir(exist_ok=True)
    strip.save(TARGET, optimize=True)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")
