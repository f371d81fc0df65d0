"""Principle 5: a call is made when it is complete; one that waits, when what it waits for is known."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta, ToolCallReady
from told import CLOCK, TOOLS, called, refused

MADE: dict[str, tuple[str, str]] = {
    "bare": (CLOCK[:-1], "}"),
    "after text": (f"Well, {CLOCK[:-1]}", "}"),
    "after a token": (f"<|python_tag|>{CLOCK[:-1]}", "}"),
    "after thoughts": (f"<think>x</think>{CLOCK[:-1]}", "}"),
    "in a list": (f"[{CLOCK[:-1]}", "}"),
    "in a fence": (f"```json\n{CLOCK[:-1]}", "}"),
    "an envelope": (f'{{"tool_call": {CLOCK}', "}"),
    "in a tag, when that closes": (f"<tool_call>{CLOCK}\n</tool_call", ">"),
    "in a tag, when text follows": (f"<tool_call>{CLOCK} ", "x"),
    "in a function tag, when that closes": ("<function=clock>{}</function", ">"),
    "in an empty function tag": ("<function=clock></function", ">"),
    "a line, when that ends": ("clock()", "\n"),
    "a line, before a token": ("clock()<|eot_id|", ">"),
    "a list, when what follows is known": ("[clock()", "];"),
    "in a fence, when that closes": ("```python\nclock()\n``", "`\n"),
    "after a name": ("clock\n{", "}"),
}


@pytest.mark.parametrize(("before", "last"), MADE.values(), ids=MADE)
def test_a_call_comes_whole_with_the_character_that_makes_it_certain(before: str, last: str):
    stream = Extractor(tools=TOOLS).stream()
    events = [event for char in before for event in stream.feed(char)]
    assert not [event for event in events if isinstance(event, ToolCallReady)]
    (ready,) = [event for event in stream.feed(last) if isinstance(event, ToolCallReady)]
    assert ready.tool_call.name == "clock"


@pytest.mark.parametrize(
    "text", [f"<tool>{CLOCK}</tool>", '<function=f>{"a": 1}</function>', "<tool_call>[g()]</tool_call>"]
)
def test_a_half_received_tag_never_calls(text: str):
    for end in range(len(text)):
        stream = Extractor(tools=TOOLS).stream()
        assert not any(isinstance(event, ToolCallReady) for event in stream.feed(text[:end])), text[:end]
        assert not any(isinstance(event, ToolCallReady) for event in stream.abort()), text[:end]
        assert stream.extraction.content == text[:end]


OPEN = {
    "a tag": f"One <tool_call>{CLOCK}",
    "a tag, its closing begun": f"One <tool_call>{CLOCK}</",
    "two calls in a tag": f"One <tool_call>{CLOCK}; {CLOCK}\n",
    "a list": f"One [{CLOCK}, ",
    "a fence": f"One\n```json\n{CLOCK}\n",
    "a fence, its closing begun": f"One\n```json\n{CLOCK}\n``",
    "a function tag": "One <function=clock>{}",
    "a pythonic list": "One [clock(), ",
    "a line": "One\nclock()",
    "a fence of pythonic calls": "One\n```python\nclock()\n",
}


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN)
@pytest.mark.parametrize("complete", [True, False])
def test_at_the_end_of_the_output_what_waits_is_called(text: str, *, complete: bool):
    extraction = extract_in_every_chunking(text, tools=TOOLS, complete=complete)
    assert set(called(extraction).split()) == {"clock"}
    assert extraction.content in ("One", "One </", "One\n``", "One ``")


def test_what_stands_earlier_is_settled_before_anything_later_is_judged():
    good, bad = CLOCK, '{"name": "f", "arguments": oops}'
    for text in (f"<tool_call>{good}\n{bad}</tool_call>", f"<tool_call>{good}<function=f>text</function></tool_call>"):
        extraction = extract_in_every_chunking(text, tools=TOOLS)
        assert (called(extraction), refused(extraction)) == ("clock", "malformed f!")


def test_text_and_calls_come_in_their_order():
    stream = Extractor(tools=TOOLS).stream()
    first, ready, last = stream.feed(f"One <tool_call>{CLOCK}</tool_call> two")
    assert (first, last) == (TextDelta("One"), TextDelta(" two"))
    assert isinstance(ready, ToolCallReady)


@pytest.mark.parametrize("between", ["", " ", "\n", "; ", "\n\n2. Then:\n"])
def test_tags_in_a_row_are_read_with_or_without_text_between(between: str):
    tag = f"<tool_call>{CLOCK}</tool_call>"
    extraction = extract_in_every_chunking(f"{tag}{between}{tag}{between}{tag}", tools=TOOLS)
    assert called(extraction) == "clock clock clock"
    assert (extraction.content or "").split() == between.replace(";", "").split() * 2
