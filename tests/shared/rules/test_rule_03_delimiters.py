"""Rule 3: which `;` and `,` go with calls, and which are the model's prose."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking

A, B = (f'{{"name": "{name}", "parameters": {{}}}}' for name in "ab")

BETWEEN = ["", " ", "\n", "\r\n\t", ";", "; ", " ; ", ";\n", "\n;\n", ",", ", ", ",\n", ";;", ",;", "; ;\n;"]


@pytest.mark.parametrize("between", BETWEEN, ids=repr)
def test_between_two_calls_delimiters_vanish(between: str):
    extraction = extract_in_every_chunking(f"One {A}{between}{B} two")
    assert [call.name for call in extraction.tool_calls] == ["a", "b"]
    assert extraction.content == "One two"


FORMS = {"tags": "<tool_call>%s</tool_call>", "lists": "[%s]", "fences": "\n```json\n%s\n```\n"}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("between", ["; ", ",\n", ";"], ids=repr)
def test_between_two_wrappers_delimiters_vanish(form: str, between: str):
    extraction = extract_in_every_chunking(f"{form % A}{between}{form % B}")
    assert [call.name for call in extraction.tool_calls] == ["a", "b"]
    assert extraction.content is None


AFTER = {
    "a semicolon at the end": (f"{A};", None),
    "a semicolon before text": (f"{A}; then", "then"),
    "a semicolon after a blank": (f"{A} ; then", "then"),
    "a semicolon before a line": (f"{A};\nthen", "then"),
    "a comma at the end": (f"{A},", None),
    "a comma and white space": (f"{A},  \n ", None),
    "a comma at the end of its line": (f"{A},\nthen", "then"),
    "a comma before a token": (f"{A}, <|eot_id|>", None),
    "a comma before text": (f"{A}, then", ", then"),
    "a comma after a blank, before text": (f"{A} , then", ", then"),
    "a comma after a list": (f"[{A}],\nthen", "then"),
    "a comma after a tag": (f"<tool_call>{A}</tool_call>,\nthen", "then"),
    "two semicolons, a blank and a line break at the end": (f"{A};; \n", ";"),
    "a comma before what closes a list": (f"[{A},] then", "then"),
    "a comma before what closes a tag": (f"<tool_call>{A},</tool_call> then", "then"),
    "a semicolon before what closes a tag": (f"<tool_call>{A};</tool_call> then", "then"),
}


@pytest.mark.parametrize(("text", "content"), AFTER.values(), ids=AFTER)
def test_after_a_call_a_semicolon_goes_and_a_comma_at_the_end_of_its_line(text: str, content: str | None):
    extraction = extract_in_every_chunking(text)
    assert [call.name for call in extraction.tool_calls] == ["a"]
    assert extraction.content == content


STAYS = {
    "before a call": (f"One; {A}", "One;"),
    "alone before a call": (f"; {A}", ";"),
    "a comma before a call": (f"First, {A}", "First,"),
    "after text after a call": (f"{A} one; two, three;", "one; two, three;"),
    "a colon": (f"{A}: one", ": one"),
    "a full stop": (f"{A}. One", ". One"),
    "a second one at the end": (f"{A}; ,", ","),
    "a third one at the end": (f"{A};;;", ";;"),
    "a second one after text and a call": (f"One {A};,", "One ,"),
}


@pytest.mark.parametrize(("text", "content"), STAYS.values(), ids=STAYS)
def test_any_other_delimiter_is_prose(text: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert [call.name for call in extraction.tool_calls] == ["a"]
    assert extraction.content == content


def test_without_a_call_no_delimiter_goes():
    text = "; one; {two}, [three]; "
    assert extract_in_every_chunking(text).content == text


def test_after_a_candidate_that_is_no_call_delimiters_stay():
    text = '{"city": "Paris"}; {"city": "Rome"}, '
    assert extract_in_every_chunking(text).content == text
