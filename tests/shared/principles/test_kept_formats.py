"""Kept beside the principles: which forms of calls are read, by name, and arguments that are made to fit."""

from __future__ import annotations

from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, ReadOptions
from told import called, tool

CALL = '{"name": "f", "parameters": {"a": 1}}'
TOOLS = [tool("f", "a"), tool("code_interpreter", "code")]
OUTPUTS = {
    CALL: "json",
    f"```json\n{CALL}\n```": "json",
    f"<tool_call>{CALL}</tool_call>": "json",
    f"<|python_start|>[{CALL}]<|python_end|>": "json",
    f'{{"tool_call": {CALL}}}': "json",
    '{"tool": "f", "args": {"a": 1}}': "json",
    '<function=f>{"a": 1}</function>': "function",
    '```\n<function=f>{"a": 1}</function>\n```': "function",
    "[f(a=1)]": "pythonic",
    "f(a=1)": "pythonic",
    "<tool_call>[f(a=1)]</tool_call>": "pythonic",
    'f\n{"a": 1}': "pythonic",
    "<|python_tag|>x = 1<|eom_id|>": "code",
}


@pytest.mark.parametrize(("text", "format_"), OUTPUTS.items())
def test_a_form_is_read_if_it_is_asked_for(text: str, format_: str):
    for asked in ("json", "function", "pythonic", "code", "all", "none"):
        extraction = extract_in_every_chunking(text, tools=TOOLS, formats=[asked], is_sampled=True)
        assert len(extraction.tool_calls) == (asked in (format_, "all")), asked
        assert Extractor(TOOLS, formats=asked).extract(text) == extraction
        if asked == "none":
            assert (extraction.content, extraction.rejections) == (text, ())


def test_by_default_all_are_read_for_declared_tools():
    for text in OUTPUTS:
        assert extract_in_every_chunking(text, tools=TOOLS, is_sampled=True).tools_called


@pytest.mark.parametrize("text", [*OUTPUTS, "<tool_call></tool_call>; <|eot_id|>", f" <|eot_id|>\n\nYes; {CALL}; \n"])
def test_with_none_nothing_but_reasoning_is_taken_out(text: str):
    for options in ({}, {"tools": TOOLS, "repair": True}):
        extraction = extract_in_every_chunking(text, formats="none", is_sampled=True, **options)
        assert (extraction.content, called(extraction), extraction.rejections) == (text, "", ())
        thought = extract_in_every_chunking(
            f"<think>{CALL}?</think>{text}", formats="none", split_reasoning=True, is_sampled=True, **options
        )
        assert (thought.content, thought.reasoning, called(thought)) == (text.strip(), f"{CALL}?", "")
    begun = {"split_reasoning": True, "starts_reasoning": True, "formats": "none"}
    extraction = extract_in_every_chunking(f"Is it f?</think> {CALL}", **begun)
    assert (extraction.content, extraction.reasoning) == (CALL, "Is it f?")


NAMES = [
    ("json", ("json",)),
    (["code", "json"], ("code", "json")),
    ("none", ("none",)),
    (("none", "json"), ("json",)),
    ("all", ("json", "function", "pythonic", "code")),
    (["json", "all", "none"], ("json", "function", "pythonic", "code")),
    (None, None),
]


@pytest.mark.parametrize(("formats", "names"), NAMES)
def test_the_option_names_one_or_several(formats: Any, names: Any):
    assert ReadOptions(formats=formats).formats == names


@pytest.mark.parametrize(
    ("formats", "error", "found"),
    [
        ("xml", ValueError, "'xml'"),
        (["json", "xml", "yaml"], ValueError, "'xml'"),
        ([], ValueError, "an empty list"),
        ("tool_call", ValueError, "'tool_call'"),
        (1, TypeError, "not 1"),
        (b"json", TypeError, "not b'json'"),
    ],
)
def test_and_nothing_that_no_format_has(formats: Any, error: type[Exception], found: str):
    with pytest.raises(error) as raised:
        Extractor(formats=formats)
    assert found in str(raised.value)
    assert "json, function, pythonic, code, all, none" in str(raised.value)
