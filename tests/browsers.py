"""Chromium, for tests that look at pages; where it is missing they are skipped, with what to install."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


@contextmanager
def chromium(folder: Path) -> Iterator[Chrome]:
    """Start the browser, with its profile in a folder; its logs have what pages say and what they fetch."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("no browser: install chromium and chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver", reason="no driver of a browser: pip install selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for argument in (
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
        *("--disable-background-networking", "--disable-component-update", "--window-size=1280,1000"),
        f"--user-data-dir={folder}",
    ):
        options.add_argument(argument)
    with webdriver.Chrome(options, webdriver.ChromeService(driver)) as started:
        yield started


def requested(browser: Chrome) -> list[str]:
    """The addresses that pages asked for since the last time, by the browser's own log."""
    found = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            found.append(message["params"]["request"]["url"])
    return found
