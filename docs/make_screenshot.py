"""Make docs/images/report.png: the first screens of a report on scikit-learn's breast-cancer table.

Run ``python docs/make_screenshot.py`` with selenium, chromium and chromedriver installed.
"""

import base64
import shutil
import tempfile
from pathlib import Path

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from sklearn.datasets import load_breast_cancer

from semisift import SSFI

TARGET = Path(__file__).parent / "images" / "report.png"
WIDTH, HEIGHT = 1000, 1400
LABELS_PER_CLASS = 8


def write_example(path: Path) -> None:
    """Hide most labels of the table, rank its columns and write the report."""
    data = load_breast_cancer(as_frame=True)
    y = np.full(len(data.data), None, dtype=object)
    for code, name in enumerate(data.target_names):
        y[np.flatnonzero(data.target == code)[:LABELS_PER_CLASS]] = name
    ranker = SSFI(n_features_to_select=8, random_state=0).fit(data.data, y)
    ranker.report(path, data.data, y, title="Breast cancer, 16 labelled rows")


def photograph(page: Path, profile: str) -> bytes:
    """Return the top of the page as PNG."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False},
        )
        driver.get(page.as_uri())
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        return base64.b64decode(shot["data"])
    finally:
        driver.quit()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        write_example(report)
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_bytes(photograph(report, f"{folder}/profile"))
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")
