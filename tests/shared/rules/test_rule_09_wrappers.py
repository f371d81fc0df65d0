"""Rule 9: wrappers go with their calls, where they hold nothing but calls."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, Extractor, TextDelta, ToolCallReady

A, B = '{"name": "a", "parameters": {"x": 1}}', '{"name": "b", "arguments": {}}'
TOOLS = [{"name": "a", "parameters": {"properties": {"x": {}}}}, {"name": "b"}]


def names(extraction: Extraction) -> str:
    return "".join(call.name for call in extraction.tool_calls)


WRAPPERS = {
    "python tag": ("<|python_tag|>", ""),
    "python tag and end of message": ("<|python_tag|>", "<|eom_id|>"),
    "Llama 4's tokens": ("<|python_start|>", "<|python_end|>"),
    "tool": ("<tool>", "</tool>"),
    "TOOL": ("<TOOL>", "</TOOL>"),
    "tools": ("<tools>", "</tools>"),
    "tool-use": ("<tool-use>", "</tool-use>"),
    "tool_call": ("<tool_call>", "</tool_call>"),
    "TOOLCALL": ("<TOOLCALL>", "</TOOLCALL>"),
    "tool_call on lines": ("<tool_call>\n", "\n</tool_call>\n"),
    "function": ("<function>", "</function>"),
    "functioncall": ("<functioncall>", "</functioncall>"),
    "function_call": ("<function_call>", "</function_call>"),
    "fence": ("```json\n", "\n```"),
    "fence on one line": ("```", "```"),
    "tag in a fence": ("```json\n<tool_call>\n", "\n</tool_call>\n```"),
    "fence in a tag": ("<tool_call>\n```json\n", "\n```\n</tool_call>"),
    "tag in tokens": ("<|python_start|><tool>", "</tool><|python_end|>"),
}
CLOSED = {label: pair for label, pair in WRAPPERS.items() if pair[1] not in ("", "<|eom_id|>")}


@pytest.mark.parametrize(("opening", "closing"), WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize(
    ("inside", "called"),
    [(A, "a"), (f"{A}; {B}", "ab"), (f"{A}\n{B}", "ab"), (f"[{A}, {B}]", "ab")],
    ids=["one call", "a semicolon", "lines", "a list"],
)
def test_a_wrapper_vanishes_with_its_calls(opening: str, closing: str, inside: str, called: str):
    extraction = extract_in_every_chunking(f"One {opening}{inside}{closing} two", is_sampled=True)
    assert names(extraction) == called
    assert extraction.content == "One two"
    assert not extraction.rejections


@pytest.mark.parametrize(("opening", "closing"), CLOSED.values(), ids=CLOSED)
def test_at_the_end_of_a_complete_output_an_open_wrapper_counts_as_closed(opening: str, closing: str):
    for cut in range(len(closing)):
        extraction = extract_in_every_chunking(f"One {opening}{A}; {B}{closing[:cut]}", is_sampled=True)
        assert names(extraction) == "ab"
        assert extraction.content == "One"


@pytest.mark.parametrize("opening", ["<tool_call>", "```json\n", "["])
def test_rule_7_if_a_limit_ended_the_output_an_open_wrapper_is_text_and_its_calls_count(opening: str):
    extraction = extract_in_every_chunking(f"{opening}{A}", complete=False)
    assert names(extraction) == "a"
    assert extraction.content == opening.strip()


def test_neighbouring_wrappers_give_their_calls_in_order():
    text = f"<tool_call>{A}</tool_call>\n<tool_call>{B}</tool_call>, ```json\n{A}\n```"
    extraction = extract_in_every_chunking(text)
    assert names(extraction) == "aba"
    assert extraction.content is None


def test_the_same_opening_tag_once_more_closes_a_tag():
    extraction = extract_in_every_chunking(f"<tool_call>{A}<tool_call>{B}</tool_call>")
    assert (names(extraction), extraction.content) == ("ab", None)


ALMOST = {
    "nothing": ("<tool_call></tool_call>", "", "<tool_call></tool_call>"),
    "an opening alone": ("<tool_call>", "", "<tool_call>"),
    "a tag that is spoken of": (f"Use <tool_call> tags. {A}", "a", "Use <tool_call> tags."),
    "data": ('<tool_call>{"a": 1}</tool_call>', "", '<tool_call>{"a": 1}</tool_call>'),
    "prose after a call": (f"<tool_call>{A} oops</tool_call>", "a", "<tool_call> oops</tool_call>"),
    "prose before a call": (f"<tool_call>oops {A}</tool_call>", "a", "<tool_call>oops </tool_call>"),
    "a delimiter before a call": (f"<tool_call>; {A}</tool_call>", "a", "<tool_call>; </tool_call>"),
    "a malformed call": (f'<tool_call>{{"bad" }} {A}</tool_call>', "a", '<tool_call>{"bad" } </tool_call>'),
    "a call that is cut off": (f'<tool_call>{A} {{"name": "b", "par', "a", '<tool_call> {"name": "b", "par'),
    "another closing tag": (f"<tool_call>{A}</tool>", "a", "<tool_call> </tool>"),
    "a closing tag alone": (f"</tool_call>{A}", "a", "</tool_call>"),
    "a tag that is none": (f"<TOOL_CALL>{A}</TOOL_CALL>", "a", "<TOOL_CALL> </TOOL_CALL>"),
    "prose after Llama 4's token": (f"<|python_start|>Well {A}<|python_end|>", "a", "Well"),
    "a turn that is made up": (f"<tool_call>{A}<|im_start|>user\nHi", "a", "Hi"),
}


@pytest.mark.parametrize(("text", "called", "content"), ALMOST.values(), ids=ALMOST)
def test_a_wrapper_around_anything_else_is_text_and_hides_no_call(text: str, called: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert names(extraction) == called
    assert extraction.content == content


def test_a_span_that_a_token_ends_is_none():
    extraction = extract_in_every_chunking(f"`{A}<|eot_id|>", tools=TOOLS)
    assert (extraction.content, [str(one.reason) for one in extraction.rejections]) == (f"`{A}", ["quoted"])


BEFORE_A_TAG = {
    "a tag that is cut off": f'<tool_call>{A}\n<function=b>{{"a": 1',
    "a tag with prose": f'[{A}, <function=b>{{"a": 1}}x</function>]',
    "a tag that another one closes": '<tool_call>\na(x=1)\n<function=b>{"c": 1}</tool_call>',
    "a list whose line ends": '[a(x=1)\n<function=b>{"c": 1}x</function>]',
    "a list and a tag with prose": '[a(x=1), <function=b>{"c": 1}x</function>]',
}


@pytest.mark.parametrize("text", BEFORE_A_TAG.values(), ids=BEFORE_A_TAG)
def test_a_tag_that_fails_takes_no_call_before_it(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert names(extraction) == "a"
    assert [rejection.name for rejection in extraction.rejections] == ["b"]


SURPLUS = {
    "a brace in a tag": f"<tool_call>{A}}}</tool_call>",
    "a bracket in a tag": f"<tool_call>{A}]</tool_call>",
    "an angle bracket in a tag": f"<tool>{A}></tool>",
    "a closing tag": f"<tool_call>{A}</tool_call></tool_call>",
    "a closing tag before a line's end": f"<tool_call>{A}</tool_call></tool_call>\n",
    "a brace": f"{A}}}",
    "a bracket": f"{A}]",
    "a brace before a token": f"{A}}}<|eot_id|>",
}


@pytest.mark.parametrize("text", SURPLUS.values(), ids=SURPLUS)
def test_one_closing_too_many_goes(text: str):
    extraction = extract_in_every_chunking(text)
    assert (names(extraction), extraction.content) == ("a", None)


@pytest.mark.parametrize(
    ("rest", "content"), [("}}", "}}"), ("} and more", "} and more")], ids=["two", "prose after it"]
)
def test_no_other_closing_goes(rest: str, content: str):
    extraction = extract_in_every_chunking(f"{A}{rest}")
    assert (names(extraction), extraction.content) == ("a", content)


MARKED_LISTS = {
    "xLAM's token": f"[TOOL_CALLS][{A}, {B}]",
    "xLAM's token and a blank": f"[TOOL_CALLS] [{A}, {B}]",
    "functools": f"functools[{A}, {B}]",
    "functools and pythonic calls": "functools[a(x=1), b()]",
}


@pytest.mark.parametrize("text", MARKED_LISTS.values(), ids=MARKED_LISTS)
def test_what_marks_a_list_goes_with_it(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (names(extraction), extraction.content) == ("ab", None)


LINES = {
    "a code span": (f"`{A}`", "a", None),
    "two backticks": (f"``{A}``", "a", None),
    "a span around a list": (f"`[{A}, {B}]`", "ab", None),
    "a span around a tag": (f"`<tool_call>{A}</tool_call>`", "a", None),
    "a span around a pythonic call": ("`a(x=1)`", "a", None),
    "a span around a pythonic list": ("`[a(x=1), b()]`", "ab", None),
    "bold": (f"**{A}**", "a", None),
    "bold around a pythonic call": ("**a(x=1)**", "a", None),
    "bold around a pythonic list": ("**[a(x=1)]**", "a", None),
    "after a bullet": (f"- `{A}`", "a", "-"),
    "bold after a bullet": ("- **a(x=1)**", "a", "-"),
    "after numbers": (f"1. `{A}`\n2. `{B}`", "ab", "1. 2."),
    "before other lines": (f"`{A}`\nDone.", "a", "Done."),
}


@pytest.mark.parametrize(("text", "called", "content"), LINES.values(), ids=LINES)
def test_a_code_span_or_bold_that_is_a_whole_line_is_a_wrapper(text: str, called: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (names(extraction), extraction.content) == (called, content)


@pytest.mark.parametrize("text", ["Now **a(x=1)** is it.", "*a(x=1)*", "**a(x=1)** is it."])
def test_bold_within_a_line_is_no_wrapper(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (names(extraction), extraction.content) == ("", text)


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        (f"<|python_start|>{A}<|eot_id|> oops", ["python_start"]),
        (f"<|python_start|>{A} oops<|python_end|>", ["json"]),
        (f"<|python_start|>{A}<|python_start|>{B}<|python_end|>", ["python_start", "python_start"]),
        (f"<tool_call>{A}</tool_call>{B}", ["tool_call", "json"]),
        (f"`{A}`", ["json"]),
    ],
    ids=["a token closes it", "not closed", "once more", "before a bare call", "a code span"],
)
def test_a_call_is_named_by_the_wrapper_that_closed_around_it(text: str, formats: list[str]):
    assert [call.format for call in extract_in_every_chunking(text).tool_calls] == formats


def test_the_calls_of_a_wrapper_come_when_it_closes():
    stream = Extractor().stream()
    assert stream.feed(f"One <tool_call>{A}; {B}</tool_call") == [TextDelta("One")]
    assert [type(event) for event in stream.feed(">")] == [ToolCallReady, ToolCallReady]


def test_the_calls_of_a_wrapper_come_when_the_first_thing_that_is_no_call_makes_it_text():
    stream = Extractor().stream()
    stream.feed(f"<tool_call>{A} ")
    assert [type(event) for event in stream.feed("!")] == [TextDelta, ToolCallReady, TextDelta]
