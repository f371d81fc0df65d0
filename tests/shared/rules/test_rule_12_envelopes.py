"""Rule 12: an object with `tool_call` or `tool_calls` is its message and its calls."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking

A, B = (f'{{"name": "{name}", "parameters": {{}}}}' for name in "ab")

ENVELOPES = {
    "a message and a call": (f'{{"message": "Hi", "tool_call": {A}}}', "Hi", "a"),
    "the call first": (f'{{"tool_call": {A}, "message": "Hi"}}', "Hi", "a"),
    "a call alone": (f'{{"tool_call": {A}}}', None, "a"),
    "several calls": (f'{{"content": "Hi", "tool_calls": [{A}, {B}]}}', "Hi", "ab"),
    "no content": (f'{{"role": "assistant", "content": null, "tool_calls": [{A}]}}', None, "a"),
    "no call": ('{"message": "Hi", "tool_call": null}', "Hi", ""),
    "no calls": ('{"message": "Hi", "tool_calls": []}', "Hi", ""),
    "null for calls": ('{"message": "Hi", "tool_calls": null}', "Hi", ""),
    "white space around the message": ('{"message": " Hi\\n", "tool_call": null}', "Hi", ""),
    "escapes in the message": ('{"message": "a \\"b\\" \\u00e9", "tool_call": null}', 'a "b" é', ""),
    "neither": ('{"message": "", "tool_call": null}', None, ""),
    "nothing else": ('{"tool_call": null}', None, ""),
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
    "keys that are empty": (
        f'{{"role": "assistant", "refusal": null, "annotations": [], "tool_calls": [{A}]}}',
        None,
        "a",
    ),
    "calls in OpenAI's form": (
        f'{{"role": "assistant", "tool_calls": [{{"id": "1", "type": "function", "function": {A}}}]}}',
        None,
        "a",
    ),
    "text and calls around": (f'One {{"message": "two", "tool_call": {A}}}; three {B}', "One two three", "ab"),
    "in a fence": (f'```json\n{{"message": "Hi", "tool_call": {A}}}\n```', "Hi", "a"),
    "after a token": (f'<|python_tag|>{{"message": "Hi", "tool_call": {A}}}<|eom_id|>', "Hi", "a"),
    "two": (f'{{"message": "One", "tool_call": {A}}}\n{{"message": "two", "tool_call": {B}}}', "One two", "ab"),
}


@pytest.mark.parametrize(("text", "content", "names"), ENVELOPES.values(), ids=ENVELOPES)
def test_an_envelope_is_its_message_and_its_calls(text: str, content: str | None, names: str):
    extraction = extract_in_every_chunking(text)
    assert extraction.content == content
    assert "".join(call.name for call in extraction.tool_calls) == names
    assert all(text[slice(*call.span)] in {A, B} or A in text[slice(*call.span)] for call in extraction.tool_calls)
    assert extraction.rejections == ()


NOT_OURS = {
    "a word for the call": '{"message": "Hi", "tool_call": "none"}',
    "data for the call": '{"message": "Hi", "tool_call": {"city": "Paris"}}',
    "an object for the calls": '{"message": "Hi", "tool_calls": {}}',
    "numbers for the calls": '{"message": "Hi", "tool_calls": [1]}',
    "a call and a number": f'{{"message": "Hi", "tool_calls": [{A}, 1]}}',
    "a call and data": f'{{"message": "Hi", "tool_calls": [{A}, {{"a": 1}}]}}',
    "a call whose name stands under another key": '{"tool_calls": [{"tool_name": "a", "parameters": {}}]}',
    "a call and one that is none": f'{{"tool_calls": [{A}, {{"name": "x", "parameters": 5}}]}}',
    "both keys": f'{{"tool_call": {A}, "tool_calls": []}}',
    "an answer": '{"answer": "The result is 42", "tool_call": null}',
    "an output": '{"id": 7, "output": "All is well", "tool_calls": []}',
    "a number": '{"answer": 0, "tool_call": null}',
    "a reply beside the message": f'{{"message": "a", "reply": "KEEP", "tool_call": {A}}}',
    "a function beside the calls": f'{{"type": "function", "function": "x", "tool_calls": [{A}]}}',
    "a tool's message": f'{{"role": "tool", "name": "search", "content": "x", "tool_calls": [{A}]}}',
    "a user's message": f'{{"role": "user", "content": "x", "tool_calls": [{A}]}}',
    "a system message": f'{{"tool_call": {A}, "role": "system"}}',
    "an empty role": f'{{"role": "", "tool_calls": [{A}]}}',
    "a list of roles": f'{{"role": ["assistant"], "tool_call": {A}}}',
    "a message that is no text": f'{{"message": 5, "tool_call": {A}}}',
    "in a tag": '<tool_call>{"answer": 42, "tool_call": null}</tool_call>',
    "a key twice": f'{{"message": "a", "message": "b", "tool_call": {A}}}',
}


@pytest.mark.parametrize("text", NOT_OURS.values(), ids=NOT_OURS)
def test_what_would_be_lost_makes_all_of_it_text_and_an_attempt(text: str):
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [one.is_attempt for one in extraction.rejections] == [True]


@pytest.mark.parametrize("text", ['{"message": "Hello World!"}', '{"content": "Hi", "role": "assistant"}'])
def test_a_message_alone_is_data(text: str):
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, extraction.attempts) == (text, ())


def test_a_fence_around_an_envelope_that_is_none_stays():
    text = 'So:\n```json\n{"answer": 42, "tool_call": null}\n```\nDone.'
    assert extract_in_every_chunking(text).content == text


def test_a_broken_envelope_promotes_none_of_its_calls():
    text = f'{{"message": "Hi", "oops": , "tool_calls": [{A}]}}'
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, extraction.tool_calls) == (text, ())


def test_an_undeclared_tool_makes_all_of_it_text():
    text = f'{{"message": "Hi", "tool_calls": [{A}, {B}]}}'
    extraction = extract_in_every_chunking(text, tools=[{"name": "a"}])
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [(str(one.reason), one.name) for one in extraction.attempts] == [("unknown_tool", "b")]


def test_an_envelope_without_calls_that_is_quoted_stays_and_is_no_rejection():
    text = '> {"message": "Hi", "tool_calls": []}'
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, extraction.rejections) == (text, ())
