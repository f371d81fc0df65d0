"""Search and colours of the built site, in a real browser. `make test-browser` builds the site and runs this."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsers import chromium

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = [pytest.mark.browser, pytest.mark.site]

SITE = Path(__file__).parents[2] / "site"
FIRST_FOUND = """
    for (const host of document.querySelectorAll("*"))
        for (const link of host.shadowRoot?.querySelectorAll("a") ?? [])
            if (new URL(link.href).searchParams.get("h") === arguments[0]) return new URL(link.href).pathname;
"""
"""The search box is in a shadow tree. Links of its results have the words that were searched in their query."""


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    if not (SITE / "search.json").exists():
        pytest.skip("no built site: make test-browser builds it")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with chromium(tmp_path_factory.mktemp("browser")) as started:
            started.set_script_timeout(60)
            started.get(f"http://127.0.0.1:{server.server_port}/index.html")
            yield started
        server.shutdown()


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("raw JSON", "troubleshooting"),
        ("agent stops", "troubleshooting"),
        ("ChatOllama", "langchain"),
        ("OpenAILike", "llama-index"),
        ("LM Studio", "servers"),
        ("Claude Code", "cookbook/clients"),
        ("no tool runs", "doctor"),
        ("calls nothing", "doctor"),
        ("wrong types", "arguments"),
    ],
)
def test_the_page_that_people_look_for_is_found_first(browser: Chrome, words: str, page: str) -> None:
    from selenium.webdriver.support.wait import WebDriverWait  # noqa: PLC0415 - only where there is a browser

    browser.refresh()
    browser.execute_script("document.querySelector('.md-search__button').click()")
    box = "return document.activeElement.shadowRoot?.querySelector('input')"
    WebDriverWait(browser, 60).until(lambda _: browser.execute_script(box)).send_keys(words)
    assert (
        WebDriverWait(browser, 60, 0.05).until(lambda _: browser.execute_script(FIRST_FOUND, words)) == f"/{page}.html"
    )


def test_the_colours_follow_the_system_at_each_visit(browser: Chrome) -> None:
    schemes = []
    for wanted in ("dark", "light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": wanted}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        browser.refresh()
        schemes.append(browser.execute_script("return document.body.dataset.mdColorScheme"))
    assert schemes == ["slate", "default", "slate"]
