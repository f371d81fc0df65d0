"""Words are found where a call would be looked for, and nowhere else (rule 9)."""

from __future__ import annotations

import re

import pytest

from llama3_tools import Extractor, extract
from llama3_tools.output.unquoted_words import find_words

CALL = '{"name": "f", "parameters": {}}'
WORD = re.compile("Go:")


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "So: {} and on",
        "{} {}",
        "```json\nSo: {}\n```",
        "```python\nprint()\n{}\n```",
        "```\nSo: {}\n``` {}",
        "```js\n{}\n```\n{}",
        "~~~js\n{}\n~~~\n{}",
        "`{}` {}",
        "`x` {}",
        "> {}\n{}",
        '"{}"',
        "<!-- {} --> {}",
        "<code>{}</code>{}",
        "<pre>{}",
        "`<pre>` {}",
        "<tool_response>{}</tool_response>{}",
        "<think>{}</think>{}",
        "Result of f: {}\n{}",
        "<|start_header_id|>user<|end_header_id|>\n\n{}<|start_header_id|>assistant<|end_header_id|>\n\n{}",
        '{{"result": oops, {}',
    ],
)
def test_a_word_is_found_where_a_call_in_its_place_is_called(text: str) -> None:
    marks = text.format(*["Go:"] * text.count("{}"))
    found = find_words(Extractor(), marks, WORD).places
    calls = []
    for which in range(text.count("{}")):
        there = [CALL if one == which else "Go:" for one in range(text.count("{}"))]
        calls.append(extract(text.format(*there)).tools_called)
    places = [word.start() for word in WORD.finditer(marks)]
    assert [at in found and found[at] is None for at in places] == calls


def test_what_an_output_may_begin_with_is_searched_as_it_is_read() -> None:
    text = "Go:</think> Go:"
    assert list(find_words(Extractor(), text, WORD).places) == [0, 12]
    assert list(find_words(Extractor(starts_reasoning=True), text, WORD).places) == [12]


def test_what_may_be_a_call_holds_no_word() -> None:
    text = '{"name": "f", "parameters": {"a": "Go:"} oops} Go:'
    assert list(find_words(Extractor(), text, WORD).places) == [47]


@pytest.mark.parametrize(
    ("text", "quotations"),
    [
        ("Go:", []),
        ("So:\n```js\nGo:\n```\n", ["js\nGo:\n"]),
        ("```\nfor x in y:\n```\n", ["```\nfor x in y:\n"]),
        ("<think>Go:</think> and <think>on</think>", ["Go:", "on"]),
    ],
)
@pytest.mark.parametrize("split_reasoning", [False, True])
def test_quotations_are_told_with_the_reasoning_that_is_split_off(
    text: str, quotations: list[str], *, split_reasoning: bool
) -> None:
    found = find_words(Extractor(split_reasoning=split_reasoning), text, WORD).quotations
    assert [text[start:end] for start, end in found] == quotations
