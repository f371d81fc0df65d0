"""Rule 2: all calls count, in the order of the text; a list of calls is read element by element."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction

A, B, C = (f'{{"name": "{name}", "parameters": {{}}}}' for name in "abc")
BAD = '{"name": "x", "parameters": 5}'
BROKEN = '{"parameters": {"q": oops}, "name": "x"}'
TOOLS = [{"name": name} for name in "abcx"]


def names(extraction: Extraction) -> str:
    return "".join(call.name for call in extraction.tool_calls)


BARE = {
    "one": (A, "a", None),
    "side by side": (f"{A}{B}", "ab", None),
    "on lines of their own": (f"{A}\n{B}\n\n{C}", "abc", None),
    "with text between": (f"{A} and {B}", "ab", "and"),
    "with text everywhere": (f"One {A} two {B} three", "ab", "One two three"),
    "the same one twice": (f"{A}\n{A}", "aa", None),
    "in several forms": (f"<tool_call>{A}</tool_call> [{B}]\n<function=c>{{}}</function>", "abc", None),
}


@pytest.mark.parametrize(("text", "called", "content"), BARE.values(), ids=BARE)
def test_all_calls_are_called_in_order(text: str, called: str, content: str | None):
    extraction = extract_in_every_chunking(text)
    assert (names(extraction), extraction.content) == (called, content)


LISTS = {
    "of one": (f"[{A}]", "a", None),
    "of several": (f"[ {A} ,\n{B},{C}\n]", "abc", None),
    "with semicolons": (f"[{A}; {B}]", "ab", None),
    "with line breaks alone": (f"[{A}\n{B}]", "ab", None),
    "with blanks alone": (f"[{A} {B}]", "ab", None),
    "with nothing between": (f"[{A}{B}]", "ab", None),
    "with a comma too many": (f"[{A}, {B},]", "ab", None),
    "with two commas": (f"[{A},, {B}]", "ab", None),
    "with text around": (f"x [{A}] y [{B}] z", "ab", "x y z"),
    "one after the other": (f"[{A}]\n[{B}]", "ab", None),
    "with a semicolon after it": (f"[{A}]; {B}", "ab", None),
    "in a list": (f"[[{A}]]", "a", None),
    "of lists": (f"[[{A}], [{B}, {C}]]", "abc", None),
    "beside a call": (f"[{A}, [{B}]]", "ab", None),
    "that never closes": (f"[{A}, {B}", "ab", None),
    "in a tag": (f"<tool_call>[{A}, {B}]</tool_call>", "ab", None),
    "in a fence": (f"```json\n[\n  {A},\n  {B}\n]\n```", "ab", None),
}


@pytest.mark.parametrize(("text", "called", "content"), LISTS.values(), ids=LISTS)
def test_a_list_goes_with_its_calls(text: str, called: str, content: str | None):
    extraction = extract_in_every_chunking(text)
    assert (names(extraction), extraction.content, extraction.rejections) == (called, content, ())


PYTHONIC_LISTS = {
    "of one": ("[a()]", "a", None),
    "of several": ("[a(x=1), b(), c()]", "abc", None),
    "with semicolons": ("[a(); b()]", "ab", None),
    "with line breaks alone": ("[a()\nb()]", "ab", None),
    "with a comma too many": ("[a(), b(),]", "ab", None),
    "with text around": ("I call [a()] and [b()] now.", "ab", "I call and now."),
    "in a list": ("[[a()], [b()]]", "ab", None),
    "that never closes": ("[a(), b()", "ab", None),
}


@pytest.mark.parametrize(("text", "called", "content"), PYTHONIC_LISTS.values(), ids=PYTHONIC_LISTS)
def test_a_pythonic_list_goes_with_its_calls(text: str, called: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (names(extraction), extraction.content, extraction.rejections) == (called, content, ())


BESIDE_BAD_ONES = {
    "before a call": (f"[{BAD}, {A}]", "a", ["invalid_arguments"]),
    "after a call": (f"[{A}, {BAD}]", "a", ["invalid_arguments"]),
    "between calls": (f"[{A}, {BAD}, {B}]", "ab", ["invalid_arguments"]),
    "malformed, before a call": (f"[{BROKEN}, {A}]", "a", ["malformed"]),
    "malformed, after a call": (f"[{A}, {BROKEN}]", "a", ["malformed"]),
    "malformed, between calls": (f"[{A}, {BROKEN}, {B}]", "ab", ["malformed"]),
    "on lines of their own": (f"[{A}\n{BROKEN}\n{B}]", "ab", ["malformed"]),
    "several": (f"[{BAD}, {A}, {BROKEN}, {B}]", "ab", ["invalid_arguments", "malformed"]),
    "data": (f'[{A}, {{"a": 1}}, {B}]', "ab", ["not_a_call"]),
    "an undeclared tool": (f'[{A}, {{"name": "rm", "parameters": {{}}}}, {B}]', "ab", ["unknown_tool"]),
    "a dict of Python's": (f"[{A}, {{'name': 'x', 'parameters': {{}}}}, {B}]", "ab", ["malformed"]),
    "a pythonic one, before a call": ("[x(q=oops), a()]", "a", ["malformed"]),
    "a pythonic one, between calls": ("[a(), x(q=b'z'), b()]", "ab", ["malformed"]),
    "an undeclared pythonic one": ("[a(), rm(), b()]", "ab", ["unknown_tool"]),
    "an undeclared, malformed pythonic one": ("[rm(q=b'z'), a()]", "a", ["malformed"]),
}


@pytest.mark.parametrize(("text", "called", "reasons"), BESIDE_BAD_ONES.values(), ids=BESIDE_BAD_ONES)
def test_a_bad_element_is_a_rejection_and_hides_no_call_beside_it(text: str, called: str, reasons: list[str]):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert names(extraction) == called
    assert [str(one.reason) for one in extraction.rejections] == reasons


def test_an_array_of_data_is_no_list_and_its_elements_are_no_calls():
    text = f'[{{"a": 1}}, {A}]'
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [(str(one.reason), one.name) for one in extraction.rejections] == [("not_a_call", None), ("not_a_call", "a")]


@pytest.mark.parametrize("element", ['{"b": 2}', A, BAD])
def test_each_element_of_an_array_of_data_is_data(element: str):
    text = f'[{{"a": 1}}, {element}, {A}]'
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())


def test_an_object_after_an_array_of_data_is_no_element_of_it():
    extraction = extract_in_every_chunking(f'[{{"a": 1}}] Then {{"b": 2}}, {A}', tools=TOOLS)
    assert names(extraction) == "a"


def test_a_list_that_holds_anything_else_is_text():
    extraction = extract_in_every_chunking(f"Say [{A}, {BAD}] now.", tools=TOOLS)
    assert (names(extraction), extraction.content) == ("a", f"Say [ , {BAD}] now.")


PROSE = {
    "nothing in it": ("[]", "", "[]"),
    "words before the call": (f"[see {A}] now", "a", "[see ] now"),
    "a number before the call": (f"[1, {A}] now", "a", "[1, ] now"),
    "a string before the call": (f'["a", {A}] now', "a", '["a", ] now'),
    "another bracket": (f"[1] {A}", "a", "[1]"),
    "a link": (f"[weather](url) {A}", "a", "[weather](url)"),
}


@pytest.mark.parametrize(("text", "called", "content"), PROSE.values(), ids=PROSE)
def test_any_other_bracket_is_prose(text: str, called: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert (names(extraction), extraction.content) == (called, content)


def test_a_bracket_of_prose_is_none_too_many_at_the_end_of_the_output():
    assert extract_in_every_chunking(f"[see {A}]").content == "[see ]"
