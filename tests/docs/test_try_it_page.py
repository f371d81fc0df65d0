"""The page *Try it* of the built site, used in a real browser. `make test-browser` builds the site and runs this."""

from __future__ import annotations

import base64
import json
import random
import re
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

import browser_runtime
from browsers import chromium, requested

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

pytestmark = [pytest.mark.browser, pytest.mark.site]

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
MANIFEST = SITE / browser_runtime.MANIFEST
EXAMPLES = json.loads((ROOT / "docs/assets/try-it/examples.json").read_text("utf-8"))
CALL = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
HOSTILE = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
PATIENCE = 120
"""Seconds after which a page that does not say what is expected has failed, on a busy machine too."""


class Handler(SimpleHTTPRequestHandler):
    """Serves the site.

    A manifest may be another one, to see what the page says of a site that is not whole.
    """

    manifest: ClassVar[bytes | None] = None

    def do_GET(self) -> None:
        if self.path.endswith("/manifest.json") and self.manifest is not None:
            self.answer(self.manifest)
        else:
            super().do_GET()

    def answer(self, body: bytes) -> None:
        """Answer with a text, or, if it is empty, that there is none."""
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not MANIFEST.exists():
        pytest.skip("no built site: make test-browser builds it")
    if missing := json.loads(MANIFEST.read_text("utf-8")).get("missing"):
        pytest.skip(missing)
    for built in ("reading.py", "page.js"):
        if (SITE / "assets/try-it" / built).read_bytes() != (ROOT / "docs/assets/try-it" / built).read_bytes():
            pytest.skip("the built site is older than its sources: make test-browser builds it anew")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/try-it.html"
        server.shutdown()


@pytest.fixture(scope="module")
def browser(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    assert address
    with chromium(tmp_path_factory.mktemp("browser")) as started:
        started.set_script_timeout(300)
        yield started


@pytest.fixture
def page(browser: Chrome, address: str) -> Chrome:
    """The page as it is opened."""
    return opened(browser, address)


@pytest.fixture
def manifest(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    return partial(monkeypatch.setattr, Handler, "manifest")


@pytest.fixture
def loaded(browser: Chrome, address: str) -> Chrome:
    """The page with Python loaded, as one test or another has left it."""
    if not browser.execute_script("return window.isLoaded === true"):
        choose(opened(browser, address), 0)
        browser.execute_script("window.isLoaded = true")
    show(browser, 1280)
    return browser


def show(browser: Chrome, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def opened(browser: Chrome, address: str) -> Chrome:
    show(browser, 1280)
    browser.get("about:blank")
    requested(browser)
    browser.get_log("browser")
    browser.get(address)
    if address.startswith("http"):
        until(lambda: find(browser, "#try-it-form").is_displayed())
        until(lambda: len(browser.find_elements("css selector", "#try-it-example option")) > 1)
    return browser


def until(is_so: Callable[[], object]) -> None:
    from selenium.webdriver.support.wait import WebDriverWait  # noqa: PLC0415 - only where there is a browser

    WebDriverWait(None, PATIENCE, 0.05).until(lambda _: is_so())


def find(page: Chrome, selector: str) -> WebElement:
    return page.find_element("css selector", selector)


def texts(page: Chrome, selector: str) -> list[str]:
    found = page.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)", selector
    )
    return [str(text) for text in found]


def fill(page: Chrome, selector: str, text: str) -> None:
    """Put a text into a field, as a paste does."""
    script = (
        "const [field, text] = arguments; field.value = text; field.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    page.execute_script(script, find(page, selector), text)


def says(page: Chrome, words: str) -> None:
    until(lambda: words in find(page, "#try-it-status").text)


def choose(page: Chrome, example: int) -> None:
    """Choose an example, and wait until it is read."""
    script = "const [choice, value] = arguments; choice.value = value; choice.dispatchEvent(new Event('change'))"
    page.execute_script(script, find(page, "#try-it-example"), str(example))
    written = EXAMPLES[example]["state"]["text"].split()
    until(lambda: " ".join(texts(page, "#try-it-output")).split() == written)


def test_a_page_opens_with_an_example_that_is_read_by_what_this_site_has_alone(page: Chrome, address: str) -> None:
    before = requested(page)
    says(page, "1 call")
    assert texts(page, "#try-it-calls > li") != []
    find(page, "#try-it-clear").click()
    find(page, "#try-it-text").send_keys(CALL)
    says(page, "1 call")
    after = requested(page)
    host = address.rpartition("/")[0]
    assert [url for url in before + after if not url.startswith((host, "data:", "blob:", "about:"))] == []
    assert [url for url in before + after if "Paris" in url or "get_weather" in url] == []
    assert page.get_log("browser") == []


def test_what_a_link_brings_is_not_read_before_someone_asks(browser: Chrome, address: str) -> None:
    page = opened(browser, address + link_of({"text": CALL}))
    says(page, "This link has an output.")
    assert [url for url in requested(page) if "runtime" in url or url.endswith(".wasm")] == []


@pytest.mark.parametrize("example", range(len(EXAMPLES)), ids=[one["title"] for one in EXAMPLES])
def test_an_example_is_shown_and_streams_to_the_same(loaded: Chrome, example: int) -> None:
    choose(loaded, example)
    wanted = EXAMPLES[example]
    assert texts(loaded, "#try-it-calls .try-it-name") == wanted["calls"]
    assert texts(loaded, "#try-it-explanations strong") == wanted["rejections"]
    find(loaded, "#try-it-play").click()
    until(lambda: "the same as at once" in find(loaded, "#try-it-progress").text)
    assert texts(loaded, "#try-it-streamed-calls .try-it-name") == wanted["calls"]
    content = find(loaded, "#try-it-content")
    if "try-it-none" not in str(content.get_attribute("class")):
        assert find(loaded, "#try-it-streamed").text.split() == content.text.split()
    assert "extractor.stream()" in find(loaded, "#try-it-python-stream").text
    assert find(loaded, "#try-it-command").text.startswith("llama3-tools extract --show ")


def test_it_can_be_used_by_keyboard(page: Chrome) -> None:
    from selenium.webdriver import ActionChains, Keys  # noqa: PLC0415 - only where there is a browser

    def press(*keys: str) -> WebElement:
        ActionChains(page).send_keys(*keys).perform()
        return page.switch_to.active_element

    page.execute_script("document.getElementById('try-it-clear').focus()")
    assert press(Keys.ENTER).get_attribute("id") == "try-it-text"
    page.execute_script("document.getElementById('try-it-clear').focus()")
    assert press(Keys.TAB).get_attribute("id") == "try-it-text"
    press(f"Hm. `{CALL}`")
    says(page, "0 calls, 1 rejection")
    focused = {}
    for _ in range(30):
        active = press(Keys.TAB)
        name = active.get_attribute("id") or active.get_attribute("class") or active.tag_name
        focused[name] = page.execute_script(
            "return document.activeElement.matches(':focus-visible')"
            " && getComputedStyle(document.activeElement).outlineStyle"
        )
        if "try-it-place" in name:
            break
    assert "try-it-place" in name
    assert {"none", False} & set(focused.values()) == set()
    press(Keys.ENTER)
    assert texts(page, "#try-it-output .try-it-chosen") == [CALL]


def test_the_link_holds_what_stands_in_the_form(page: Chrome, address: str) -> None:
    state = {
        "text": f"é 🌤️ \u202e {CALL[:-1]} {HOSTILE}",
        "tools": '[{"name": "get_weather"}]',
        "options": {"coerce_arguments": True, "repair": True, "formats": ["json", "code"], "limits": {"max_calls": 3}},
        "chunk": 9,
        "complete": False,
    }
    fill(page, "#try-it-text", state["text"])
    fill(page, "#try-it-tools", state["tools"])
    script = """
        const { elements } = document.getElementById("try-it-form");
        elements.coerce_arguments.checked = elements.repair.checked = elements.incomplete.checked = true;
        elements.formats.value = "some";
        for (const box of elements.format) box.checked = ["json", "code"].includes(box.value);
        elements.max_calls.value = 3;
        elements.chunk.value = 9;
        elements.repair.dispatchEvent(new Event("input", {bubbles: true}));
    """
    page.execute_script(script)
    says(page, "rejection")
    until(lambda: "#try=" in page.current_url)
    said, link = find(page, "#try-it-status").text, page.current_url
    opened(page, link)
    says(page, "This link has an output.")
    assert [url for url in requested(page) if "runtime" in url] == []
    script = """
        const done = arguments[0];
        import(new URL("assets/try-it/state.js", location.href).href)
          .then(({ readForm }) => done(readForm(document.getElementById("try-it-form"))));
    """
    assert page.execute_async_script(script) == state
    find(page, "button[type=submit]").click()
    says(page, said)
    assert "#try=" not in address


@pytest.mark.parametrize("broken", ["#try=%%%", "#try=AAAA", "#try=q1YqSa0oUbJSqkoty0lV0lHKTSxKTM5OLQIA"])
def test_a_broken_link_is_told(browser: Chrome, address: str, broken: str) -> None:
    says(opened(browser, address + broken), "This link is broken")


def link_of(state: object, *, text: str = "") -> str:
    """Return the part of a link that holds a state, as one would write it by hand."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress((text or json.dumps(state)).encode()) + packer.flush()
    return "#try=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


@pytest.mark.parametrize(
    "state",
    [
        5,
        {"odd": 1},
        {"options": {"odd": True}},
        {"options": {"repair": 1}},
        {"options": {"formats": ["zzz"]}},
        {"options": {"limits": {"odd": 1}}},
        {"text": CALL, "options": {"limits": {"max_depth": {"toString": 1}}}},
    ],
    ids=json.dumps,
)
def test_a_link_that_holds_what_the_form_does_not_is_told(browser: Chrome, address: str, state: object) -> None:
    says(opened(browser, address + link_of(state)), "This link is broken")
    assert find(browser, "#try-it-text").get_attribute("value") == ""


def test_a_link_that_is_too_large_is_not_opened(browser: Chrome, address: str) -> None:
    unpacks_to_much = link_of(None, text=f'{{"text": "{"a" * 20_000_000}"}}')
    assert len(unpacks_to_much) < 40_000
    seeded = random.Random(0)  # noqa: S311 - no two pieces alike, so that it stays long
    long = link_of({"text": " ".join(str(seeded.random()) for _ in range(10_000))})
    for link in (unpacks_to_much, long):
        says(opened(browser, address + link), "This link is larger than any that this page writes")
        assert find(browser, "#try-it-text").get_attribute("value") == ""


def test_a_page_that_is_offline_says_so(browser: Chrome, address: str) -> None:
    page = opened(browser, address + link_of({"text": "Hi."}))  # which loads no Python
    page.execute_cdp_cmd("Network.clearBrowserCache", {})  # else Python may come from there
    conditions = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    page.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)
    try:
        fill(page, "#try-it-text", CALL)
        says(page, "could not be loaded. Are you offline?")
    finally:
        rates = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        page.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **rates})
    fill(page, "#try-it-text", f"{CALL} again")
    says(page, "1 call")


def test_what_a_link_holds_is_never_markup(page: Chrome, address: str) -> None:
    fill(
        page,
        "#try-it-text",
        f"{HOSTILE} `{CALL}` {CALL[:-2]} {{'name': '{HOSTILE[:20]}'}} <tool_call>{CALL}</tool_call>",
    )
    fill(page, "#try-it-tools", json.dumps([{"name": "get_weather", "description": HOSTILE}]))
    says(page, "rejection")
    until(lambda: "#try=" in page.current_url)
    opened(page, page.current_url)
    says(page, "This link has an output.")
    find(page, "button[type=submit]").click()
    says(page, "rejection")
    find(page, "#try-it-play").click()
    until(lambda: "the same as at once" in find(page, "#try-it-progress").text)
    fill(page, "#try-it-tools", json.dumps([{"name": HOSTILE, "parameters": 5}]))
    says(page, "Tools: ")
    assert page.title != "taken"
    assert page.find_elements("css selector", "#try-it-form img, #try-it-form script") == []
    assert page.get_log("browser") == []
    assert address in page.current_url


def test_what_takes_long_can_be_stopped(page: Chrome) -> None:
    choose(page, 0)
    page.execute_script("window.post = Worker.prototype.postMessage; Worker.prototype.postMessage = () => {}")
    fill(page, "#try-it-text", "This is never answered.")
    until(lambda: find(page, "#try-it-stop").is_displayed())
    page.execute_script("Worker.prototype.postMessage = window.post")
    find(page, "#try-it-stop").click()
    says(page, "Stopped.")
    choose(page, 1)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("#try-it-tools", "{", "Tools: not JSON: "),
        ("#try-it-tools", "[5]", "Tools: tools[0] is an int"),
        ("[name=max_depth]", "0", "Options: limits: max_depth is at least 1, not 0"),
    ],
)
def test_an_error_is_told_in_words_with_its_place(loaded: Chrome, field: str, value: str, words: str) -> None:
    fill(loaded, "#try-it-text", CALL)
    fill(loaded, field, value)
    says(loaded, words)
    assert find(loaded, "[aria-invalid=true]").is_displayed()
    assert not find(loaded, "#try-it-content").is_displayed()
    fill(loaded, field, "")
    says(loaded, "1 call")
    assert loaded.find_elements("css selector", "[aria-invalid=true]") == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b'{"missing": "This site was built without Python: there was no npm."}', "there was no npm"),
        (b"", "Please report it. If the site is your own build, run make docs again."),
    ],
)
def test_a_site_without_python_says_what_is_missing(
    browser: Chrome, address: str, manifest: Callable[[bytes], None], answer: bytes, words: str
) -> None:
    manifest(answer)
    page = opened(browser, address)
    says(page, words)
    fill(page, "#try-it-text", CALL)
    says(page, words)
    assert find(page, "#try-it-text").get_attribute("value") == CALL


@pytest.mark.parametrize("example", range(len(EXAMPLES)), ids=[one["title"] for one in EXAMPLES])
def test_nothing_is_wider_than_a_phone(loaded: Chrome, example: int) -> None:
    page = loaded
    show(page, 400)
    choose(page, example)
    page.execute_script("document.querySelectorAll('#try-it-form details').forEach((one) => { one.open = true; })")
    find(page, "#try-it-play").click()
    until(lambda: find(page, "#try-it-played").is_displayed())
    wide = """
        return [...document.querySelectorAll("#try-it-form *")]
          .filter((one) => one.getBoundingClientRect().right > 401).map((one) => one.outerHTML.slice(0, 80));
    """
    assert page.execute_script(wide) == []
    assert page.execute_script("return document.documentElement.scrollWidth") <= 400


def test_every_field_has_a_label_and_results_are_read_aloud(loaded: Chrome) -> None:
    unlabelled = """
        return [...document.querySelectorAll("#try-it-form :is(input, select, textarea)")]
          .filter((one) => one.labels.length === 0 && !one.ariaLabel).map((one) => one.outerHTML);
    """
    assert loaded.execute_script(unlabelled) == []
    live = loaded.find_elements("css selector", "#try-it-form [aria-live]")
    assert [one.get_attribute("id") for one in live] == ["try-it-status"]
    ids = loaded.execute_script("return [...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    assert re.fullmatch(r"Try it - .*", loaded.title)
