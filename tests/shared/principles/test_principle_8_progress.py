"""Principle 8: progress events say that a call to NAME is being written, how far, and that it came or was withdrawn."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from chunkings import read
from fragments import READINGS, SITUATIONS
from llama3_tools import CallProgress, Extractor, Limits, TextDelta
from told import TOOLS

CALL = '{"name": "f", "parameters": {"city": "Paris"}}'
LONG = '{"name": "g", "parameters": {"city": "Paris"}}'


def progress(chunks: list[str], **options: Any) -> list[CallProgress]:
    """Return the progress that a stream tells of."""
    stream = Extractor(progress=True, **options).stream()
    events = [event for chunk in chunks for event in stream.feed(chunk)] + stream.flush()
    return [event for event in events if isinstance(event, CallProgress)]


def statuses(told: list[CallProgress]) -> list[tuple[str, str]]:
    """Return each name with each status, those in a row once."""
    return [one for one, _ in itertools.groupby((event.name, event.status) for event in told)]


def test_it_says_how_far_a_call_has_come():
    assert progress(["Hi ", CALL[:20], CALL[20:30], CALL[30:]]) == [
        CallProgress("f", 20, "writing"),
        CallProgress("f", 30, "writing"),
        CallProgress("f", 30, "ready"),
    ]
    assert progress([CALL]) == [], "a call that comes whole is the call"


READY = {
    "bare": CALL,
    "in a tag": f"<tool_call>{CALL}</tool_call>",
    "in a list": f"[{CALL}]",
    "in a fence": f"```json\n{CALL}\n```",
    "an envelope": f'{{"tool_calls": [{CALL}, {CALL}]}}',
    "OpenAI's": f'{{"type": "function", "function": {CALL}}}',
    "a function tag": '<function=f>{"city": "Paris"}</function>',
    "a name before its arguments": 'f\n{"city": "Paris"}',
    "a pythonic list": "[f(a='Paris')]",
    "a pythonic line": "f(a='Paris')\n",
}


@pytest.mark.parametrize("text", READY.values(), ids=READY)
def test_of_a_call_it_ends_as_it_is_ready(text: str):
    told = progress(list(text), tools=TOOLS)
    assert statuses(told) == [("f", "writing"), ("f", "ready")]
    assert sorted(event.characters for event in told) == [event.characters for event in told]


WITHDRAWN = {
    "malformed": '{"name": "f", "parameters": {"city": oops}}',
    "cut off": '{"name": "f", "parameters": {"city": "Pa',
    "no call": '{"name": "f", "parameters": 5}',
    "in a tag": '<tool_call>{"name": "f", "parameters": {"city": oops}}</tool_call>',
    "quoted": f"`{CALL}` is it.",
    "a pythonic call with a name": "[f(a=oops)]",
    "a tag that breaks": '<function=f>{"a": oops}',
}


@pytest.mark.parametrize("text", WITHDRAWN.values(), ids=WITHDRAWN)
def test_of_what_becomes_no_call_it_is_withdrawn(text: str):
    assert statuses(progress(list(text), tools=TOOLS)) == [("f", "writing"), ("f", "withdrawn")]


@pytest.mark.parametrize("form", ["<tool_call>%s\n%s</tool_call>", "<tool>%s%s</tool>"])
def test_it_is_told_of_a_call_while_another_one_waits(form: str):
    told = progress(list(form % (CALL, LONG)))
    assert statuses(told) == [("f", "writing"), ("g", "writing"), ("f", "ready"), ("g", "ready")]


@pytest.mark.parametrize("text", [f"{CALL}\n{LONG}", f"[{CALL}, {LONG}]", "f(a=1)\ng(a=1)\n"])
def test_it_is_told_of_each_call_in_turn(text: str):
    told = statuses(progress(list(text), tools=TOOLS))
    assert [one for one in told if one[1] == "ready"] == [("f", "ready"), ("g", "ready")]


def test_of_what_may_be_repaired_it_ends_as_it_is():
    text = '{"name": "f", "parameters": {"a": True}} So.'
    assert statuses(progress(list(text), tools=TOOLS, repair=True)) == [("f", "writing"), ("f", "ready")]


def test_of_a_call_that_is_too_long_it_is_withdrawn():
    stream = Extractor(progress=True, limits=Limits(max_call_length=256)).stream()
    told = [stream.feed(chunk)[-1] for chunk in ('{"name": "f", "parameters": {"q": "', "x" * 200, "x" * 200)]
    assert [event.status for event in told if isinstance(event, CallProgress)] == ["writing", "writing", "withdrawn"]
    assert stream.feed("x") == [TextDelta("x")]


@pytest.mark.parametrize(
    "text",
    [
        "Hello {you} and [1].",
        '{"a": 1}',
        "I said f(x)",
        "<tool_call>Hi</tool_call>",
        '{"name": 5}',
        f'{{"x": "{"y" * 5000}"',
    ],
)
def test_of_prose_and_data_there_is_none(text: str):
    assert progress(list(text), tools=TOOLS) == []


def test_a_name_in_the_arguments_is_not_taken_for_the_calls():
    for text in (
        '{"parameters": {"name": "Ann"}, "name": "f"}',
        '{"parameters": {"a": "}} \'name\': \'Ann\'"}, "name": "f"}',
    ):
        assert {event.name for event in progress(list(text))} <= {"f"}


@pytest.mark.parametrize("reading", READINGS)
def test_it_changes_nothing_else(reading: str):
    silent = READINGS[reading]
    extractor = Extractor(silent.tools and silent.tools.values(), options=silent.options, progress=True)
    for text in SITUATIONS[::7]:
        assert read(list(text), extractor) == read(list(text), silent)
