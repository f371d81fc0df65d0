"""The HTML report: as text, and in a real browser where there is one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markupsafe import escape

from browsers import chromium, requested
from llama3_acceptance.reports.html_page import report_html
from llama3_acceptance.values import Reading
from runs import DIM, KITCHEN, judged

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

HOSTILE = (
    f"</pre></details><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    f"\" ' & \x1b[2J \u202e <tool_call>{KITCHEN}</tool_call> `{DIM}`"
)
OUTPUTS = {"kitchen": HOSTILE, "dim": DIM, "joke": "Knock, knock.", "hello": KITCHEN}
VOID = {"meta", "input", "rect"}


class Page(HTMLParser):
    """What a page holds, and whether each of its elements is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_is_well_formed_and_holds_each_response() -> None:
    page = Page(report_html(judged(OUTPUTS)))
    assert page.open == []
    assert page.tags["details"] == 4
    for text in (
        "Home",
        "llama3.1",
        "format json; multiple no",
        "Dim the hall to 20",
        'set_light(room="hall", level=20)',
        "Knock, knock.",
    ):
        assert text in page.texts


def test_the_page_loads_nothing_and_runs_nothing_but_its_own() -> None:
    html = report_html(judged(OUTPUTS))
    page = Page(html)
    assert page.tags["script"] == page.tags["style"] == 1
    assert not {"img", "link", "iframe", "object", "base", "form"} & set(page.tags)
    names = {name for name, _ in page.attributes}
    assert not {"src", "style", "action"} & names
    assert {value[:2] for name, value in page.attributes if name == "href" and value} == {"#r"}
    assert not [name for name in names if name.startswith("on")]
    (policy,) = [value for name, value in page.attributes if name == "content" and "default-src" in (value or "")]
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/]+='; script-src 'sha256-[\w+/]+='; "
        r"base-uri 'none'; form-action 'none'",
        policy or "",
    )


def test_the_page_says_where_each_segment_of_an_output_went() -> None:
    html = report_html(judged(OUTPUTS))
    assert '<span class="removed" title="wrapper, delimiter or protocol token"> &lt;tool_call&gt;</span>' in html
    assert '<span class="call" title="tool call 1">{&#34;name&#34;' in html
    assert '<span class="rejected" title="rejected candidate 1">{&#34;name&#34;' in html
    assert "<li><b>quoted</b>: in a code span</li>" in html
    assert "\\x1b[2J \\u202e" in html


def test_native_calls_errors_repeats_and_missing_responses_are_shown() -> None:
    call = {"type": "function", "function": {"name": "set_light", "arguments": '{"room": "kitchen"}'}}
    results = judged({"kitchen": ["No.", {"tool_calls": [call]}]}, errors={"dim": "HTTP 500: <oops>"}, repeats=2)
    page = Page(report_html(results))
    for text in ("Calls that the server sent", "kitchen[1]", "no text", "5 responses: the run is not complete"):
        assert text in page.texts
    assert ": HTTP 500: <oops>" in page.texts


def test_failures_come_first_then_what_was_let_through() -> None:
    outputs = {"kitchen": KITCHEN, "dim": DIM, "joke": "Knock, knock.", "hello": KITCHEN}
    html = report_html(judged(outputs))
    assert re.findall('class="case">([a-z]+)<', html) == ["hello", "dim", "joke", "kitchen"]


def test_rows_link_to_the_first_of_their_responses() -> None:
    html = report_html(judged(OUTPUTS))
    linked = {
        name: anchor
        for anchor, name in re.findall('<a href="#(r[0-9]+)" data-kind="[a-z]+" data-name="([^"]+)">', html)
    }
    cases = dict(re.findall('id="(r[0-9]+)" (?s:.*?)class="case">([a-z]+)<', html))
    assert {name: cases[anchor] for name, anchor in linked.items()} == {
        "set_light": "dim",
        "tell_joke": "joke",
        "(no call)": "hello",
        "passed": "dim",
        "unexpected_call": "hello",
        "wrong_type": "dim",
        "words": "joke",
        "coerced": "dim",
        "numbers": "dim",
    }


def test_rows_without_a_fault_are_folded() -> None:
    joke = '{"name": "tell_joke", "parameters": {}}'
    html = report_html(judged({"kitchen": "No.", "joke": joke, "hello": "Hi."}))
    assert html.count('<details class="folded"><summary>2 more without a fault</summary>') == 1
    html = report_html(judged({"kitchen": KITCHEN, "joke": joke, "hello": "Hi."}))
    assert "<summary>3 without a fault</summary>" in html
    assert "folded" not in report_html(judged({"kitchen": "No.", "joke": joke})).partition("</style>")[2]


def test_what_was_let_through_is_told_apart_from_what_is_clean() -> None:
    html = report_html(judged({"kitchen": KITCHEN, "dim": DIM, "joke": "Knock, knock."}))
    assert '<span class="verdict let" title="after coercion">passed: coerced</span>' in html
    assert '<span class="verdict good" title="as written">passed</span>' in html
    assert "3 of 3 passed, 1 of them clean; let through: 1 in words, 1 coerced; 95 % interval 44 to 100 %" in html


def test_the_page_reads_each_output_as_it_was_judged() -> None:
    thought = f"I could {KITCHEN}.</think>Then "
    outputs = {"kitchen": thought + KITCHEN, "hello": [{"content": f"Hello! {KITCHEN}", "reasoning": "Hm."}]}
    html = report_html(judged(outputs, reading=Reading(starts_reasoning=True)))
    assert html.count('class="call" title="tool call 1"') == 2
    for shown in (
        '<span class="quotation" title="quotation, in which nothing counts as a call">I could</span>',
        f'<span class="rejected" title="rejected candidate 1">{escape(KITCHEN)}</span>',
        '&lt;/think&gt;</span>Then<span class="removed"',
    ):
        assert shown in html


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture
def page(browser: Chrome, tmp_path: Path) -> Chrome:
    path = tmp_path / "report.html"
    path.write_text(report_html(judged(OUTPUTS)), "utf-8")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get("about:blank")  # in place of the browser's own first page
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(path.as_uri())
    return browser


def find(page: Chrome, selector: str) -> WebElement:
    return page.find_element("css selector", selector)


def shown(page: Chrome) -> list[str]:
    results = page.find_elements("css selector", ".result")
    return [one.find_element("css selector", ".case").text for one in results if one.is_displayed()]


def press(page: Chrome, *keys: str) -> WebElement:
    from selenium.webdriver import ActionChains  # noqa: PLC0415 - only where there is a browser

    ActionChains(page).send_keys(*keys).perform()
    return page.switch_to.active_element


@pytest.mark.browser
def test_hostile_output_runs_nothing_and_nothing_is_loaded(page: Chrome) -> None:
    assert page.title == "Home: acceptance report"
    assert page.get_log("browser") == []
    assert [url for url in requested(page) if not url.startswith("file:")] == []
    find(page, "#open").click()
    assert HOSTILE.split("\x1b", maxsplit=1)[0] in find(page, "#r4 .output").text


@pytest.mark.browser
def test_the_verdicts_that_are_checked_are_shown(page: Chrome) -> None:
    assert shown(page) == ["hello", "dim", "joke", "kitchen"]
    find(page, "[value=wrong_type]").click()
    assert shown(page) == ["hello", "joke", "kitchen"]
    assert find(page, "#count").text == "3 of 4 shown"
    find(page, "[name=judged][value=coerced]").click()
    assert shown(page) == ["hello", "dim", "joke", "kitchen"]
    find(page, "#failed").click()
    assert shown(page) == ["hello"]
    find(page, "#all").click()
    find(page, "#differs").click()
    assert shown(page) == ["dim"]
    find(page, "#differs").click()
    find(page, "#unclean").click()
    assert shown(page) == ["dim", "joke"]


@pytest.mark.browser
def test_a_row_shows_its_responses_and_a_button_the_others_again(page: Chrome) -> None:
    page.execute_script("for (const folded of document.querySelectorAll('.folded')) folded.open = true")
    for kind, name, expected in (
        ("tool", "set_light", ["dim", "kitchen"]),
        ("tag", "numbers", ["dim"]),
        ("verdict", "wrong_type", ["dim"]),
        ("allowance", "words", ["joke"]),
    ):
        find(page, f'a[data-kind="{kind}"][data-name="{name}"]').click()
        assert shown(page) == expected
        assert page.switch_to.active_element.tag_name == "summary"
        assert find(page, "#group").text == f"{kind}: {name} ✕"
        find(page, "#group").click()
        assert len(shown(page)) == 4
        assert not find(page, "#group").is_displayed()


@pytest.mark.browser
def test_the_page_can_be_used_with_the_keyboard_alone(page: Chrome) -> None:
    from selenium.webdriver import Keys  # noqa: PLC0415 - only where there is a browser

    search = press(page, "/")
    assert search.get_attribute("id") == "search"
    press(page, "KNOCK")
    assert shown(page) == ["joke"]
    press(page, Keys.ESCAPE)
    assert len(shown(page)) == 4
    page.execute_script("document.querySelector('[name=verdict]').focus()")
    press(page, Keys.SPACE)
    assert shown(page) == ["hello", "dim"]
    page.execute_script("document.querySelector('.result:not([hidden]) summary').focus()")
    focused = press(page, Keys.ENTER)
    assert find(page, ".result[open] .case").text == "hello"
    assert focused.value_of_css_property("outline-style") == "solid"


def brightness(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


BEHIND = """
for (let at = arguments[0]; at; at = at.parentElement) {
  const colour = getComputedStyle(at).backgroundColor;
  if (colour !== "rgba(0, 0, 0, 0)") return colour;
}
return "rgb(255, 255, 255)";
"""


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_all_text_has_enough_contrast(page: Chrome, scheme: str) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    is_dark = brightness(find(page, "body").value_of_css_property("background-color")) < 0.1
    assert is_dark == (scheme == "dark")
    find(page, "#open").click()
    texts = page.find_elements(
        "css selector", "h1, h2, h3, p, dt, dd, th, td span, label, button, li, summary span, pre, pre span"
    )
    assert len(texts) > 50
    for text in texts:
        ink, paper = brightness(text.value_of_css_property("color")), brightness(page.execute_script(BEHIND, text))
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5, text.get_attribute("outerHTML")


WIDER = """
return [...document.querySelectorAll(".table, .table *, .result, .output")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
  .filter((one) => getComputedStyle(one).display !== "contents")
  .map((one) => one.outerHTML);
"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 390, 800, 1920])
def test_the_page_never_scrolls_sideways(page: Chrome, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    find(page, "#open").click()
    page.execute_script("for (const folded of document.querySelectorAll('.folded')) folded.open = true")
    assert page.execute_script("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.execute_script(WIDER) == []
