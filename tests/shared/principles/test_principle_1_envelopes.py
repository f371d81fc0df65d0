"""Principle 1: an envelope is its message and its calls, if nothing in it would be lost."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from told import called, refused

A, B = (f'{{"name": "{name}", "parameters": {{}}}}' for name in "ab")

ENVELOPES = {
    "a message and a call": (f'{{"message": "Hi", "tool_call": {A}}}', "Hi", "a"),
    "the call first": (f'{{"tool_call": {A}, "message": "Hi"}}', "Hi", "a"),
    "a call alone": (f'{{"tool_call": {A}}}', None, "a"),
    "several calls": (f'{{"content": "Hi", "tool_calls": [{A}, {B}]}}', "Hi", "a b"),
    "xLAM's thought": (f'{{"thought": "Hm.", "tool_calls": [{A}]}}', "Hm.", "a"),
    "xLAM's thought alone": ('{"thought": "Hm.", "tool_calls": []}', "Hm.", ""),
    "no content": (f'{{"role": "assistant", "content": null, "tool_calls": [{A}]}}', None, "a"),
    "no call": ('{"message": "Hi", "tool_call": null}', "Hi", ""),
    "no calls": ('{"message": "Hi", "tool_calls": []}', "Hi", ""),
    "null for calls": ('{"message": "Hi", "tool_calls": null}', "Hi", ""),
    "white space around the message": ('{"message": " Hi\\n", "tool_call": null}', "Hi", ""),
    "escapes in the message": ('{"message": "a \\"b\\" \\u00e9", "tool_call": null}', 'a "b" é', ""),
    "neither": ('{"message": "", "tool_call": null}', None, ""),
    "in a tag, without a call": ('<tool_call>{"tool_call": null}</tool_call>', None, ""),
    "labels of OpenAI's messages": (
        f'{{"index": 0, "id": 7, "type": "message", "finish_reason": "stop", "tool_calls": [{A}]}}',
        None,
        "a",
    ),
    "a name beside the role": (
        f'{{"role": "assistant", "name": "bot", "content": "Hi", "tool_calls": [{A}]}}',
        "Hi",
        "a",
    ),
    "keys that are empty": (f'{{"role": "assistant", "refusal": null, "notes": [], "tool_calls": [{A}]}}', None, "a"),
    "calls in OpenAI's shape": (
        f'{{"role": "assistant", "tool_calls": [{{"id": "1", "type": "function", "function": {A}}}]}}',
        None,
        "a",
    ),
    "text and calls around": (f'One {{"message": "two", "tool_call": {A}}}; three {B}', "One two three", "a b"),
    "in a fence": (f'```json\n{{"message": "Hi", "tool_call": {A}}}\n```', "Hi", "a"),
    "after a token": (f'<|python_tag|>{{"message": "Hi", "tool_call": {A}}}<|eom_id|>', "Hi", "a"),
    "two": (f'{{"message": "One", "tool_call": {A}}}\n{{"message": "two", "tool_call": {B}}}', "One two", "a b"),
    "after a call in a tag": (f'<tool_call>{A}{{"message": "two", "tool_call": {B}}}</tool_call>', "two", "a b"),
}


@pytest.mark.parametrize(("text", "content", "names"), ENVELOPES.values(), ids=ENVELOPES)
def test_an_envelope_is_its_message_and_its_calls(text: str, content: str | None, names: str):
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, called(extraction), refused(extraction)) == (content, names, "")
    assert all(A in text[slice(*call.span)] or text[slice(*call.span)] == B for call in extraction.tool_calls)


NO_ENVELOPES = {
    "a word for the call": '{"message": "Hi", "tool_call": "none"}',
    "data for the call": '{"message": "Hi", "tool_call": {"city": "Paris"}}',
    "an object for the calls": '{"message": "Hi", "tool_calls": {}}',
    "numbers for the calls": '{"message": "Hi", "tool_calls": [1]}',
    "a call and a number": f'{{"message": "Hi", "tool_calls": [{A}, 1]}}',
    "a call and data": f'{{"message": "Hi", "tool_calls": [{A}, {{"a": 1}}]}}',
    "a call and one that is none": f'{{"tool_calls": [{A}, {{"name": "x", "parameters": 5}}]}}',
    "both keys": f'{{"tool_call": {A}, "tool_calls": []}}',
    "an answer": '{"answer": "The result is 42", "tool_call": null}',
    "a number": '{"answer": 0, "tool_call": null}',
    "a reply beside the message": f'{{"message": "a", "reply": "KEEP", "tool_call": {A}}}',
    "a function beside the calls": f'{{"type": "function", "function": "x", "tool_calls": [{A}]}}',
    "a tool's message": f'{{"role": "tool", "name": "search", "content": "x", "tool_calls": [{A}]}}',
    "a user's message": f'{{"role": "user", "content": "x", "tool_calls": [{A}]}}',
    "a system message": f'{{"tool_call": {A}, "role": "system"}}',
    "an empty role": f'{{"role": "", "tool_calls": [{A}]}}',
    "a message that is no text": f'{{"message": 5, "tool_call": {A}}}',
    "in a tag": '<tool_call>{"answer": 42, "tool_call": null}</tool_call>',
    "in a fence": 'So:\n```json\n{"answer": 42, "tool_call": null}\n```\nDone.',
    "a key twice": f'{{"message": "a", "message": "b", "tool_call": {A}}}',
    "an argument twice": '{"tool_call": {"name": "f", "arguments": {"a": 1, "a": 2}}}',
    "malformed": f'{{"message": "Hi", "oops": , "tool_calls": [{A}]}}',
    "malformed in a call": f'{{"message": "Hi", "tool_calls": [{A}, {{"name": "b", "parameters": oops}}]}}',
    "cut off": f'{{"message": "Hi", "tool_calls": [{A}, ',
}

ANSWERS = [
    NO_ENVELOPES[key]
    for key in (
        "a word for the call",
        "an object for the calls",
        "numbers for the calls",
        "an answer",
        "a number",
        "in a fence",
    )
]
"""Those without an object for a call."""


@pytest.mark.parametrize("text", NO_ENVELOPES.values(), ids=NO_ENVELOPES)
def test_what_would_be_lost_makes_all_of_it_text_and_an_attempt_unless_it_is_an_answer(text: str):
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, called(extraction)) == (text, "")
    assert extraction.rejections[0].is_attempt is (text not in ANSWERS) or "oops" in text


@pytest.mark.parametrize("text", ['{"message": "Hello World!"}', '{"content": "Hi", "role": "assistant"}'])
def test_a_message_alone_is_data(text: str):
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, extraction.attempts) == (text, ())


def test_an_undeclared_tool_makes_all_of_it_text():
    text = f'{{"message": "Hi", "tool_calls": [{A}, {B}]}}'
    extraction = extract_in_every_chunking(text, tools=[{"name": "a"}])
    assert (extraction.content, called(extraction), refused(extraction)) == (text, "", "unknown_tool b!")


def test_an_envelope_without_calls_that_is_quoted_stays():
    text = '> {"message": "Hi", "tool_calls": []}'
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, extraction.attempts) == (text, ())
