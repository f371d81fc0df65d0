"""Principle 7: what looks like a call is one, or a rejection that says why, of which tool, and whether it was meant."""

from __future__ import annotations

from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, RejectionReason, extract
from told import CLOCK, TOOLS, called, refused, tool

GOOD = '{"name": "f", "parameters": {"a": 1}}'
ATTEMPTS = {
    "a malformed argument": ('{"name": "f", "parameters": {"a": oops}}', "malformed f!"),
    "a comma too many": ('{"name": "f", "parameters": {"a": 1,}}', "malformed f!"),
    "a dict of Python": ("{'name': 'clock', 'arguments': {}}", "malformed clock!"),
    "a dict of Python, the arguments first": ("{'arguments': {'x': 1}, 'name': 'clock'}", "malformed clock!"),
    "a dict of an undeclared tool": ("{'name': 'rm', 'arguments': {}}", "malformed rm!"),
    "cut off": ('{"name": "f", "parameters": {"a": "Pa', "truncated f!"),
    "cut off, the arguments first": ('{"parameters": {"a": "Pa', "truncated!"),
    "cut off before the arguments": ('{"name": "f"', "truncated f!"),
    "missing arguments": ('{"name": "f"}', "missing_arguments f!"),
    "arguments beside the name": ('{"name": "f", "a": 1}', "missing_arguments f!"),
    "arguments that are text": ('{"name": "clock", "arguments": "today"}', "invalid_arguments clock!"),
    "no name": ('{"parameters": {"city": "Paris"}}', "not_a_call!"),
    "an undeclared tool": ('{"name": "rm", "parameters": {}}', "unknown_tool rm!"),
    "an undeclared tool in a tag": ('<tool_call>{"name": "rm"}</tool_call>', "missing_arguments rm!"),
    "data in a tag": ('<tool_call>{"city": "Paris"}</tool_call>', "not_a_call!"),
    "data in any tag of tools": ('<my_functions>{"city": "Paris"}</my_functions>', "not_a_call!"),
    "data in brackets": ('[TOOL_CALLS][{"city": "Paris"}]', "not_a_call!"),
    "data after a token": ('<|python_tag|>{"city": "Paris"}<|eom_id|>', "not_a_call!"),
    "malformed data in a tag": ('<tool_call>{"city": Paris}</tool_call>', "malformed!"),
    "a tag that is cut off": ('<tool_call>{"ci', "truncated!"),
    "a function tag, malformed": ('<function=f>{"a": }</function>', "malformed f!"),
    "a function tag, cut off": ('<function=f>{"a": "Pa', "truncated f!"),
    "an envelope with data": ('{"tool_calls": [{"a": 1}]}', "not_a_call!"),
    "a malformed envelope": ('{"tool_calls": [{"name": "clock", "parameters": oops}]}', "malformed clock!"),
    "a pythonic call with a name": ("f(a=paris)", "malformed f!"),
    "a pythonic list with a name": ("[f(a=paris)]", "malformed f!"),
    "a pythonic call, cut off": ("f(a=", "truncated f!"),
    "a pythonic call without arguments": ("f()", "missing_arguments f!"),
    "an undeclared pythonic list": ("[nope(x=1)]", "unknown_tool nope!"),
    "an undeclared pythonic call in a tag": ("<tool_call>nope(x=1)</tool_call>", "unknown_tool nope!"),
    "a name before malformed arguments": ('f\n{"a": oops}', "malformed f!"),
    "a tag without a name": ("<tool_call>Hi</tool_call>", "not_a_call!"),
    # odd forms, which have no reader
    "a name and an attribute": ('<tool_call>f a="x"</tool_call>', "not_a_call f!"),
    "a name alone in a tag": ("<tool_call>f</tool_call>", "not_a_call f!"),
    "a name and a broken object in a tag": ("<tool_call>f {bad", "malformed f!"),
    "a function tag that is not ended": ("<function=f", "malformed f!"),
    "a function tag at the end": ("<function=f>", "malformed f!"),
    "a function tag with an attribute": ('<function=f a="x"></function>', "malformed f!"),
    "a function tag that is ended": ("<function=f/>", "malformed f!"),
    "a function tag and a broken object": ("<function=f>{bad", "malformed f!"),
    "a name and an attribute after a token": ('<|python_tag|>f a="x"', "not_a_call f!"),
    "the name as the key": ('{"f": {"a": "b"}}', "not_a_call f!"),
    "the name as the key, in a fence": ('```\n{"f": {"a": "b"}}\n```', "not_a_call f!"),
    "a list of the name and its arguments": ('["f", {"a": 1}]', "not_a_call f!, not_a_call"),
    "a list of Python's": ("['f', {'a': 1}]", "not_a_call f!, malformed"),
    "a module before the name": ("tools.f(a='b')", "not_a_call f!"),
    "an item of a list": ("- f(a='b')", "not_a_call f!"),
    "a name in a string": ("['f(a=1)']", "not_a_call f!"),
    "a name in a token's place": ("[TOOL_REQUEST]f[END_TOOL_REQUEST]", "not_a_call f!"),
    "keys of another model": ("<tool_call>f\n<arg_key>a</arg_key></tool_call>", "not_a_call f!"),
    "another model's tag": ('<invoke name="f"></invoke>', "not_a_call f!"),
}


@pytest.mark.parametrize(("text", "reasons"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_by_an_attempt_the_model_meant_to_call(text: str, reasons: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (called(extraction), refused(extraction)) == ("", reasons)
    assert extraction.attempts == tuple(one for one in extraction.rejections if one.is_attempt)


NO_ATTEMPTS = {
    "data": ('{"city": "Paris"}', "not_a_call"),
    "malformed data": ('{"city": Paris}', "malformed"),
    "data in a list": ('[{"city": "Paris"}]', "not_a_call"),
    "data in another tag": ('<response>{"city": "Paris"}</response>', "not_a_call"),
    "data in <tools>": ('<tools>{"city": "Paris"}</tools>', "not_a_call"),
    "a person": ('{"name": "Alice"}', "missing_arguments Alice"),
    "a person, malformed": ('{"name": "Alice", "age": unknown}', "malformed"),
    "a person, cut off": ('{"name": "Alice", "age": 3', "truncated"),
    "a schema": ('{"name": "clock", "description": "d", "parameters": {"type": "object"}}', "schema_echo clock"),
    "a schema in a tag": (
        '<tool_call>{"name": "clock", "description": "d", "parameters": {"type": "object"}}</tool_call>',
        "schema_echo clock",
    ),
    "quoted in a sentence": (f"Write `{GOOD}` for it.", "quoted f"),
    "quoted on a line": (f"> {GOOD}", "quoted f"),
    "quoted in a fence": (f"So:\n```xml\nx = {GOOD}\n```", "quoted f"),
    "malformed in a code span": ('Write `{"name": "f", "parameters": oops}` for it.', "quoted f"),
    "a pythonic line that goes on": ("f(a='Paris') is what I call.", "not_a_call f"),
    "a call within a line": ("So: f(a='b'), see?", "not_a_call f"),
    "a mention with a parenthesis": ("I would use f(x) here.", ""),
    "a mention": ("I would use f for it, or the `clock` tool.", ""),
    "a mention at the end of a line": ("The tool is f\nand so on: clock.", ""),
    "a name in a word": ("of(x), reef {", ""),
}


@pytest.mark.parametrize(("text", "reasons"), NO_ATTEMPTS.values(), ids=NO_ATTEMPTS)
def test_any_other_rejection_is_no_attempt_and_mere_mention_is_none(text: str, reasons: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, called(extraction), refused(extraction)) == (text, "", reasons)


BESIDE = {
    "a name in a tag": "<tool_call>f</tool_call>",
    "a name and an attribute": '<tool_call>f a="x"</tool_call>',
    "a broken object": '{"name": "f", "parameters": {oops',
    "the name as the key": '{"f": {"a": 1}}',
    "a function tag": "<function=f>text</function>",
}


@pytest.mark.parametrize("text", BESIDE.values(), ids=BESIDE)
def test_beside_a_call_nothing_is_silent_either(text: str):
    for output in (f"{CLOCK}\n{text}", f"<tool_call>{CLOCK}</tool_call>\n{text}", f"{text}\n{CLOCK}"):
        extraction = extract_in_every_chunking(output, tools=TOOLS)
        assert called(extraction) == "clock"
        assert [one.name for one in extraction.attempts] == ["f"], output


DETAILS = {
    "a name alone": ('{"name": "rm"}', "'rm' has no arguments, and is no declared tool"),
    "keys beside the name": ('{"name": "clock", "x": 1}', "'clock' has no arguments, but the keys x"),
    "a list": ('{"name": "f", "parameters": [1]}', "'parameters' is neither an object nor a string that contains one"),
    "an argument twice": ('{"name": "f", "parameters": {"a": 1, "a": 2}}', "a key occurs twice in the arguments"),
    "an undeclared tool": (
        '{"name": "rm", "parameters": {}}',
        "'rm' is not a declared tool; declared: f, g, clock, save, delete",
    ),
    "an envelope with more": ('{"answer": 42, "tool_call": null}', "an envelope with 'answer', which would be lost"),
    "an envelope of another's": (f'{{"tool_call": {CLOCK}, "role": "user"}}', "an envelope of the role 'user'"),
}


@pytest.mark.parametrize(("text", "detail"), DETAILS.values(), ids=DETAILS)
def test_a_rejection_says_what_to_mend(text: str, detail: str):
    (rejection,) = extract_in_every_chunking(text, tools=TOOLS).rejections
    assert rejection.detail == detail


def test_with_many_tools_an_odd_form_is_reported_too():
    tools = [tool(f"tool_{number}") for number in range(100)]
    assert refused(extract_in_every_chunking("<tool_call>tool_7</tool_call>", tools=tools)) == "not_a_call tool_7!"


def test_it_says_what_quotes_a_call():
    call = CLOCK
    text = (
        f"Write `{call}` so.\n> {call}\nor '{call}'.\nResult of f: {call}\n<think>{call}</think>\n```\nx = {call}\n```"
    )
    assert list(dict.fromkeys(one.detail for one in extract_in_every_chunking(text, tools=TOOLS).rejections)) == [
        "in a code span",
        "after the > of a blockquote",
        "directly after a quotation mark",
        "in the repeated result of a tool",
        "in thoughts",
        "in a fence of code",
    ]


def test_the_reasons_are_a_closed_list_each_with_a_case():
    texts = [text for text, _ in (*ATTEMPTS.values(), *NO_ATTEMPTS.values(), *DETAILS.values())]
    extractor = Extractor(tools=TOOLS)
    found = {one.reason for text in texts for one in extractor.extract(text).rejections}
    others = {
        "conflicting_arguments",
        "invalid_name",
        "too_deep",
        "too_long",
        "too_many",
    }  # in the files of principles 1 and 8
    assert {str(reason) for reason in RejectionReason} - {str(reason) for reason in found} == others


@pytest.mark.parametrize("options", [{}, {"tools": TOOLS}, {"formats": "all"}])
def test_attempts_are_the_rejections_that_say_so(options: dict[str, Any]):
    text = f'{{"a": 1}} {{"parameters": oops {GOOD} `{GOOD}` ok <tool_call>{{"b": 1}}</tool_call>'
    extraction = extract(text, **options)
    assert 0 < len(extraction.attempts) < len(extraction.rejections)
