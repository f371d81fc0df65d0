"""Text that is no call, though something in it may look like one: principles 1, 3, 4 and 7.

There are many, so each is tried in some of its chunkings only.

The tables are in `non_calls/`, one kind of text a file, as a model would write it: a line `=== id`, then the text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import extract
from told import tool

pytestmark = pytest.mark.no_cover  # much of the same: other tests cover what these try

_HEADING = re.compile(r"^=== (\S+)\n", re.MULTILINE)


def table(path: Path) -> dict[str, str]:
    """Read a table: the texts by their ids."""
    before, *parts = _HEADING.split(path.read_text(encoding="utf-8"))
    ids, texts = parts[::2], [text.removesuffix("\n") for text in parts[1::2]]
    assert not before, f"{path.name} begins with a heading"
    assert len(set(ids)) == len(ids), f"{path.name}: an id occurs twice"
    return dict(zip(ids, texts, strict=True))


TABLES = {path.stem: table(path) for path in sorted((Path(__file__).parent / "non_calls").glob("*.txt"))}
MENTIONS = TABLES.pop("mentions")
"""Texts in which the tools that are declared for them are named."""

TEXTS = [pytest.param(text, id=f"{name}-{case}") for name, texts in TABLES.items() for case, text in texts.items()]


OTHER_TOOLS = [tool("book_flight", "to", required=("to",)), tool("stop_alarm")]
NEEDS = {"get_weather": "city", "search": "query", "print": "value"}
NAMED_TOOLS = [*(tool(name, needed, required=(needed,)) for name, needed in NEEDS.items()), tool("clock")]


def assert_untouched(text: str, **options: Any) -> None:
    """Fail if anything in the text was called, or the text is not the content."""
    extraction = extract_in_every_chunking(text, is_sampled=True, **options)
    assert extraction.tool_calls == ()
    assert extraction.content == text


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_no_call(text: str):
    for options in ({}, {"tools": OTHER_TOOLS}):
        assert (extract(text, **options).content, extract(text, **options).tool_calls) == (text, ())
    assert_untouched(text, formats="all")
    assert_untouched(text, tools=OTHER_TOOLS, repair=True)


@pytest.mark.parametrize("text", MENTIONS.values(), ids=MENTIONS)
def test_to_mention_a_declared_tool_is_not_to_call_it(text: str):
    assert_untouched(text, tools=NAMED_TOOLS)
    assert_untouched(text, tools=NAMED_TOOLS, repair=True)


QUOTED_ALONE = "quoted, and the output has no other words"
IN_IT = "a call of a declared tool in it"
IN_TAG = "in markup of calls, whatever is in it"
BY_ITSELF = "a declared name with its lines to itself"
ASKED_AGAIN = {
    "code-diff": QUOTED_ALONE,
    "json_answers-nested-wrapper-action": IN_IT,
    "json_answers-nested-wrapper-list": IN_IT,
    "prose-tag-around-prose": IN_TAG,
    "prose-tag-around-data": IN_TAG,
    "prose-function-tag-placeholder": IN_TAG,
    "prose-function-tag-without-braces": IN_TAG,
    "prose-react-format": "a declared name, with one of its parameters under labels",
    "quotations-think-block-unclosed": "only thoughts are beside it, which are no answer",
    "quotations-call-in-single-quotes": "an object with a call's keys",
    "quotations-injection_in_broken_list": IN_IT,
    "shell_and_config-yaml-flow-style": BY_ITSELF,
    "shell_and_config-xml-elements": IN_TAG,
    "mentions-call-in-a-numbered-list": BY_ITSELF,
    "mentions-method-call": BY_ITSELF,
    "mentions-declared-name-as-a-key": BY_ITSELF,
    "mentions-declared-call-nested": IN_IT,
    "mentions-tool-that-needs-arguments-named-alone": "an object that says a declared name and nothing else",
    "mentions-yaml-with-names": BY_ITSELF,
}
"""The texts without a call about which the model is asked again, and why."""


def test_about_few_of_them_the_model_is_asked_again():
    texts = {f"{name}-{case}": text for name, texts in TABLES.items() for case, text in texts.items()}
    texts |= {f"mentions-{case}": text for case, text in MENTIONS.items()}
    found = {case for case, text in texts.items() if extract(text, tools=NAMED_TOOLS).attempts}
    assert found == set(ASKED_AGAIN)
    assert len(found) <= 20


FENCED = "a fence whose first thing is a call is markup, whatever its language: models fence calls in any"
CALLED = {
    "a call in a fence of js": ('```js\n{"name": "search", "arguments": {"query": "x"}}\n```', FENCED),
    "a call in a fence of text": ('```text\n{"name": "search", "parameters": {"query": "x"}}\n```', FENCED),
    "a tag in a fence of xml": (
        '```xml\n<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>\n```',
        FENCED,
    ),
    "JSON in a fence of html": (
        '```html\n<script>{"name": "search", "arguments": {"query": "x"}}</script>\n```',
        FENCED,
    ),
    "a token and a call in a fence of text": (
        '```text\n<|python_tag|>{"name": "clock", "parameters": {}}<|eom_id|>\n```',
        FENCED,
    ),
    "a call of js": ('```js\nsearch({"query": "llamas"})\n```', FENCED),
    "a call of ruby": ('```ruby\nprint("done")\n```', FENCED),
    "a command of a shell": ('```sh\nsearch("llamas")\n```', FENCED),
    "calls in a fence of text": ('```text\nget_weather(city="Paris")\n[search(query="llamas")]\n```', FENCED),
}
"""What is called though a person may have meant to show it, and why a user accepts that."""


@pytest.mark.parametrize(("text", "reason"), CALLED.values(), ids=CALLED)
def test_a_call_alone_in_a_fence_is_called_by_principle_4(text: str, reason: str):
    extraction = extract_in_every_chunking(text, tools=NAMED_TOOLS)
    assert extraction.tools_called, reason
    assert extraction.content is None
    shown = extract_in_every_chunking(text.replace("\n", "\n# so\n", 1), tools=NAMED_TOOLS)
    assert not shown.tools_called, "code before it shows it"


def test_a_list_of_any_tool_is_called_if_pythonic_calls_are_asked_for_without_tools():
    text = "#[derive(Debug, Clone)]\n#[serde(rename_all = \"camelCase\")]\nstruct Call<'a> { name: &'a str }"
    for options in ({}, {"tools": OTHER_TOOLS}, {"tools": OTHER_TOOLS, "formats": "all"}):
        assert_untouched(text, **options)
    assert extract_in_every_chunking(text, formats="all").tools_called, "nothing tells it from a call of some tool"
