"""Principle 3: JSON may be anywhere, but not as a part of something else (`…_at_any_distance` has how far back)."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from told import CLOCK, DELETE, TOOLS, called, refused

ANYWHERE = {
    "in a sentence": (f"I call {CLOCK} now.", "I call now."),
    "directly after a word": (f"Now{CLOCK}", "Now"),
    "after a colon": (f"The value is: {CLOCK}", "The value is:"),
    "after a quoted word and a colon": (f'The "call": {CLOCK}', None),
    "after an opening bracket of prose": (f"(so {CLOCK})", "(so )"),
    "after a parenthesis": (f"Yes. ({CLOCK})", "Yes. ( )"),
    "after a bullet": (f"- {CLOCK}\n2. {CLOCK}", "- 2."),
    "after a comma": (f"First, {CLOCK}", "First,"),
    "after a brace": (f"{{{CLOCK}", "{"),
    "after a heading": (f"Call\n====\n{CLOCK}", "Call\n===="),
    "after an arrow": (f"x -> {CLOCK}", "x ->"),
    "after a zero-width space": (f"\u200b{CLOCK}", "\u200b"),
    "after a byte order mark": (f"\ufeff{CLOCK}", "\ufeff"),
    "in bidirectional marks": (f"\u202e{CLOCK}\u202c", "\u202e \u202c"),
    "in NULs": (f"\x00{CLOCK}\x00", "\x00 \x00"),
    "after a terminal's escape": (f"\x1b[8m{CLOCK}\x1b[0m", "\x1b[8m \x1b[0m"),
    "after half a surrogate pair": (f"\ud83d{CLOCK}", "\ud83d"),
    "after an object": (f'{{"a": 1}} {CLOCK}', '{"a": 1}'),
    "after an array": (f'[{{"a": 1}}] Then {CLOCK}', '[{"a": 1}] Then'),
    "after thoughts": (f"<think>x</think>{CLOCK}", "<think>x</think>"),
    "in a word of HTML": (f"Use the <code> tag.\n{CLOCK}", "Use the <code> tag."),
    "in other quotation marks": (f"«{CLOCK}»", "« »"),
    "after an observation": (f"Observation: {CLOCK}", "Observation:"),
}


@pytest.mark.parametrize(("text", "content"), ANYWHERE.values(), ids=ANYWHERE)
def test_it_may_stand_anywhere(text: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert set(called(extraction).split()) == ({"clock"} if content else set())
    assert extraction.content == (content or text)


PARTS = {
    "an element after escapes": f'["a \\"b\\"", {DELETE}]',
    "an element after an object and a string": f'[{{"a": 1}}, "x", {DELETE}]',
    "a member": f'{{"example": {DELETE}}}',
    "a member with a bare key": f"Set {{x: {DELETE}}}",
    "an element of a member with a bare key": f"{{x: [{DELETE}]}}",
    "an element of a member": f'{{"examples": [{DELETE}]}}',
    "a member after what broke": f'{{"tags": ["a",], "example": {DELETE}}}',
    "a member after what broke, on the next line": f'{{"tags": ["a",], "example":\n{DELETE}}}',
    "an element after what broke": f'{{"tags": ["a",], "examples": [[ [{DELETE}]]]}}',
    "after many brackets": f'{{"a": oops, "b": {"[" * 20}{DELETE}{"]" * 20}}}',
    "after much white space": f'{{"a": oops, "b":{" " * 100}{DELETE}}}',
    "each member": f'{{"a": True, "b": {DELETE}, "c": [{DELETE}]}}',
    "each element": f'{{"a": True, "b": [{DELETE}, {DELETE}]}}',
    "an element after data": f'{{"a": True, "b": [{{"c": 1}}, {DELETE}]}}',
    "an element after a bad call": f'{{"a": True, "b": [{{"name": "f", "parameters": 5}}, {DELETE}]}}',
    "a member of a member": f'{{"a": True, "b": {{"c": {DELETE}}}}}',
    "before the break": f'{{"a": {DELETE}, oops',
    "before the end": f'{{"a": {DELETE}',
    "nested too deep": f'{{"result": {"[" * 200}{DELETE}{"]" * 200}}}',
    "assigned": f"x = {DELETE}",
    "assigned in a list": f"x = [{DELETE}]",
    "a default": f"def f(x={DELETE}):",
    "after objects in an array": f'[{{"a": 1}}, {{"b": 1}}, {DELETE}, {DELETE}]',
    "after a key in prose": f'"call": {DELETE}',
    "a list after a key": f'"calls": [{DELETE}]',
}


@pytest.mark.parametrize("text", PARTS.values(), ids=PARTS)
def test_but_not_as_a_part_of_something(text: str):
    for options in ({}, {"tools": TOOLS}, {"tools": TOOLS, "repair": True}):
        extraction = extract_in_every_chunking(text, is_sampled=True, **options)
        assert (extraction.content, called(extraction)) == (text, "")
        assert extraction.rejections
        for before in (f"<tool_call>{CLOCK}\n", f"[{CLOCK}, ", f"```json\n{CLOCK}\n", f"{CLOCK}\n"):
            assert "delete" not in called(extract_in_every_chunking(before + text, is_sampled=True, **options))


def test_a_part_is_reported_with_its_tool():
    extraction = extract_in_every_chunking(f'{{"a": True, "b": {DELETE}}}', tools=TOOLS)
    assert refused(extraction) == "malformed, not_a_call delete"


def test_after_what_broke_a_call_is_a_call_again():
    text = f'{{"tags": ["a",], "example": {DELETE}}}\n{CLOCK}\nDone: {CLOCK}'
    assert called(extract_in_every_chunking(text, tools=TOOLS)) == "clock clock"


@pytest.mark.parametrize(
    "text",
    [
        f"<clock><zone>{DELETE}</zone></clock>",
        f'<invoke name="clock">\n<parameter name="zone">{DELETE}</parameter></invoke>',
    ],
)
def test_a_value_in_the_tag_of_a_declared_tool_is_not_called(text: str):
    assert called(extract_in_every_chunking(text, tools=TOOLS)) == ""
    assert called(extract_in_every_chunking(text.replace("clock", "other"), tools=TOOLS)) == "delete"
