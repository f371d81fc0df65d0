"""Words are found where a call would be looked for, and nowhere else (rule 9)."""

from __future__ import annotations

import re

import pytest

from llama3_tools import extract
from llama3_tools.stream.unquoted_words import Fence, SearchingExtractor

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
    found = SearchingExtractor().search(marks, WORD).places
    calls = []
    for which in range(text.count("{}")):
        there = [CALL if one == which else "Go:" for one in range(text.count("{}"))]
        calls.append(extract(text.format(*there)).tools_called)
    places = [word.start() for word in WORD.finditer(marks)]
    assert [at in found and found[at] is None for at in places] == calls


def test_what_an_output_may_begin_with_is_searched_as_it_is_read() -> None:
    text = "Go:</think> Go:"
    assert list(SearchingExtractor().search(text, WORD).places) == [0, 12]
    assert list(SearchingExtractor(starts_reasoning=True).search(text, WORD).places) == [12]


@pytest.mark.parametrize("before", ["", "\n ", "<|python_tag|>", "<think>So.</think>\n"])
def test_a_fence_is_the_first_thing_behind_white_space_tokens_and_thoughts(before: str) -> None:
    listing = "```\nfor x in y:\n```"
    text = f"{before}{listing}\n{listing}"
    first, second = SearchingExtractor(split_reasoning=True).search(text, WORD).fences
    start = len(before)
    assert first == Fence(start, start + len(listing), is_first=True)
    assert second == Fence(start + len(listing) + 1, len(text), is_first=False)
