"""Rule 9: tags go with the calls that they hold, and are text around anything else."""

from __future__ import annotations

from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta, ToolCallReady, extract

A, B = '{"arguments": {"x": 1}, "name": "a"}', '{"name": "b", "arguments": {}}'
SCHEMA = '{"type": "function", "function": {"name": "a", "parameters": {"type": "object", "properties": {"x": {}}}}}'

TAGS = [
    ("tools", "<tools>", "</tools>"),
    ("functioncall", "<functioncall>", "</functioncall>"),
    ("functioncall", "<functioncall ", ">"),
    ("functioncall", "<functioncall\n", ">"),
    ("functioncall", "<function_call>", "</function_call>"),
    ("function", "<function>", "</function>"),
    ("tool", "<tool-use>", "</tool-use>"),
    ("tool", "<TOOL>", "</TOOL>"),
    ("tool_call", "<TOOLCALL>", "</TOOLCALL>"),
]
"""The formats, and how they begin and end."""

over_tags = pytest.mark.parametrize(("name", "opening", "closing"), TAGS)


@over_tags
def test_a_tag_vanishes_with_its_calls(name: str, opening: str, closing: str):
    for inside, names in [(A, "a"), (f"\n{A}\n", "a"), (f"{A}; {B}", "ab"), (f"{A}\n{B}", "ab"), (f"[{A}, {B}]", "ab")]:
        extraction = extract_in_every_chunking(f"One {opening}{inside}{closing} two", is_sampled=True)
        assert "".join(call.name for call in extraction.tool_calls) == names
        assert extraction.content == "One two"
        assert {call.format for call in extraction.tool_calls} == {name}
        assert extraction.rejections == ()
        assert all(call.deviations == () for call in extraction.tool_calls)


@over_tags
def test_tags_follow_each_other_with_or_without_text_between(name: str, opening: str, closing: str):
    for between, content in [("", None), ("\n", None), ("; ", None), ("\n\n2. Then:\n", "2. Then:")]:
        extraction = extract_in_every_chunking(f"{opening}{A}{closing}{between}{opening}{B}")
        assert [(call.name, call.format) for call in extraction.tool_calls] == [("a", name), ("b", name)]
        assert extraction.content == content


@over_tags
def test_a_tag_left_open_after_complete_calls_vanishes_at_the_end(name: str, opening: str, closing: str):
    for cut in range(len(closing)):
        extraction = extract_in_every_chunking(f"One {opening}{A}{closing[:cut]}", is_sampled=True)
        assert [(call.name, call.format) for call in extraction.tool_calls] == [("a", name)]
        assert extraction.content == "One"


@over_tags
def test_output_that_is_cut_off_inside_a_tagged_call_gives_none(name: str, opening: str, closing: str):
    text = f"One {opening}{A}{closing}"
    for end in range(len(f"One {opening}{A}") - 1):
        extraction = extract(text[:end])
        assert not extraction.tools_called, (name, text[:end])
        assert extraction.content == text[:end]
    extract_in_every_chunking(f"One {opening}{A[:-1]}")


@over_tags
@pytest.mark.parametrize("token", ["<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|im_start|>assistant\n"])
def test_a_protocol_token_after_the_calls_closes_a_tag(name: str, opening: str, closing: str, token: str):
    for text, names, content in [
        (f"{opening} {A} {token}", "a", None),
        (f"{opening} {A} {token}\nIt is sunny.", "a", "It is sunny."),
        (f"{opening} {A}{closing}{token} Done.", "a", "Done."),
        (f"{opening} {A}{token} {opening} {B}{token}", "ab", None),
        (f"{opening} {A}{token} {B} oops", "ab", "oops"),
    ]:
        extraction = extract_in_every_chunking(text, is_sampled=True)
        assert "".join(call.name for call in extraction.tool_calls) == names
        assert extraction.tool_calls[0].format == name
        assert extraction.content == content


def test_a_tag_that_nothing_closes_is_closed_by_the_next_of_its_kind():
    extraction = extract_in_every_chunking(f"One\n<functioncall> {A}\n<functioncall> {B}")
    assert [(call.name, call.format) for call in extraction.tool_calls] == [
        ("a", "functioncall"),
        ("b", "functioncall"),
    ]
    assert extraction.content == "One"


def test_a_bracket_directly_before_a_tag_hides_none():
    extraction = extract_in_every_chunking(f"<<tool_call>{A}</tool_call>")
    assert ([call.name for call in extraction.tool_calls], extraction.content) == (["a"], "<")


def test_in_a_tool_tag_the_name_may_stand_under_tool_name():
    written = '{"tool_name": "a", "parameters": {"x": 1}}'
    extraction = extract_in_every_chunking(f"<tool>{written}</tool>")
    assert [(call.name, call.arguments, call.deviations) for call in extraction.tool_calls] == [("a", {"x": 1}, ())]
    assert extract_in_every_chunking(f"<tool_call>{written}</tool_call>").tool_calls == ()


AROUND_ANYTHING_ELSE = {
    "nothing": ("", []),
    "prose": ("x", []),
    "data": ('{"a": 1}', ["not_a_call"]),
    "a malformed call": ('{"name": "a", "arguments": {oops}}', ["malformed"]),
    "a dict of Python's": ("{'name': 'a', 'arguments': {}}", ["malformed"]),
    "a schema": (SCHEMA, ["schema_echo"]),
    "a list of schemas": (f"[{SCHEMA}, {SCHEMA}]", ["schema_echo"] * 2),
    "schemas on lines of their own": (f"{SCHEMA}\n{SCHEMA}", ["schema_echo"] * 2),
}


@over_tags
@pytest.mark.parametrize(("inside", "reasons"), AROUND_ANYTHING_ELSE.values(), ids=AROUND_ANYTHING_ELSE)
def test_a_tag_around_anything_else_is_text(name: str, opening: str, closing: str, inside: str, reasons: list[str]):
    assert name
    text = f"{opening}{inside}{closing}"
    extraction = extract_in_every_chunking(text, is_sampled=True)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [str(rejection.reason) for rejection in extraction.rejections] == reasons


@over_tags
def test_a_tag_in_prose_is_prose(name: str, opening: str, closing: str):
    assert name
    text = f"Write {opening} first, and {closing} last."
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, extraction.rejections) == (text, ())


ATTEMPTS = {
    "malformed arguments": ('{"arguments": {"x": oops}, "name": "a"}', "malformed"),
    "malformed arguments of a dict": ("{'arguments': {'x': oops}, 'name': 'a'}", "malformed"),
    "cut off": ('\n{"arguments": {"x": 1', "truncated"),
    "malformed data": ('{"a": oops}', "malformed"),
    "data": ('{"a": 1}', "not_a_call"),
}


@pytest.mark.parametrize(("name", "opening", "closing"), [tag for tag in TAGS if tag[0] != "tools"])
@pytest.mark.parametrize(("inside", "reason"), ATTEMPTS.values(), ids=ATTEMPTS)
@pytest.mark.parametrize("options", [{}, {"tools": [{"name": "a"}], "repair": True}], ids=["default", "repair"])
def test_whatever_is_wrong_in_a_tag_is_an_attempt(  # noqa: PLR0913, PLR0917 - a table each
    name: str, opening: str, closing: str, inside: str, reason: str, options: dict[str, Any]
):
    assert name
    text = f"{opening}{inside}{'' if reason == 'truncated' else closing}"
    extraction = extract_in_every_chunking(text, is_sampled=True, **options)
    assert [str(attempt.reason) for attempt in extraction.attempts] == [reason]
    assert extraction.attempts == extraction.rejections


def test_in_a_tag_that_holds_schemas_data_is_no_attempt():
    for text in ('<tools>{"type": "function", "function": {oops', '<tools>{"a": 1}</tools>', "<tools>{'a': 1}</tools>"):
        assert extract_in_every_chunking(text).attempts == ()


@over_tags
def test_what_is_in_a_tag_that_is_text_is_read_as_if_it_stood_bare(name: str, opening: str, closing: str):
    assert name
    for inside, content in [
        (f"I call {A}", f"{opening}I call {closing}"),
        (f"{A} oops", f"{opening.rstrip()} oops{closing}"),
        (f"{A}</tool_call>", f"{opening.rstrip()} </tool_call>{closing}"),
    ]:
        extraction = extract_in_every_chunking(f"{opening}{inside}{closing}")
        assert [(call.name, call.format) for call in extraction.tool_calls] == [("a", "json")]
        assert extraction.content == content


@over_tags
def test_a_tag_names_a_declared_tool_or_stays_text(name: str, opening: str, closing: str):
    text = f"{opening}{A}{closing} {opening}{B}{closing}"
    extraction = extract_in_every_chunking(text, tools=[{"name": "b"}])
    assert [(call.name, call.format) for call in extraction.tool_calls] == [("b", name)]
    assert extraction.content == f"{opening}{A}{closing}"
    assert [(str(rejection.reason), rejection.name) for rejection in extraction.rejections] == [("unknown_tool", "a")]


@over_tags
def test_a_tag_in_a_fence_vanishes_with_it(name: str, opening: str, closing: str):
    text = f"```json\n{opening}{A}{closing}\n```"
    outer = "tools" if name == "tool_call" else "tool_call"
    extraction = extract_in_every_chunking(f"{text} and <{outer}>{opening}{B}{closing}</{outer}>")
    assert [(call.name, call.format) for call in extraction.tool_calls] == [("a", "fence"), ("b", outer)]
    assert extraction.content == "and"


@over_tags
@pytest.mark.parametrize("quotation", ["```xml\n%s\n```", "Write `%s` for it.", "> %s"])
def test_a_tag_in_quotation_is_text(name: str, opening: str, closing: str, quotation: str):
    assert name
    text = quotation % f"{opening}{A}{closing}".replace("\n", " ")
    extraction = extract_in_every_chunking(text, is_sampled=True)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [str(rejection.reason) for rejection in extraction.rejections] == ["quoted"]


@over_tags
def test_a_tag_in_a_code_span_that_is_a_whole_line_vanishes_with_it(name: str, opening: str, closing: str):
    extraction = extract_in_every_chunking(f"So:\n`{opening}{A}{closing}`\nDone.".replace("l\n", "l "))
    assert [(call.name, call.format) for call in extraction.tool_calls] == [("a", name)]
    assert extraction.content == "So: Done."


@over_tags
def test_a_tag_is_read_alone_where_it_is_asked_for_by_name(name: str, opening: str, closing: str):
    others = "".join(f"{start}{B}{end}\n" for other, start, end in TAGS if other != name)
    text = f"{opening}{A}{closing} {B} {others}"
    extraction = extract_in_every_chunking(text, formats=[name])
    assert [(call.name, call.format) for call in extraction.tool_calls] == [("a", name)]
    assert (
        extract_in_every_chunking(f"{opening}{A}{closing}", formats=["json"]).content == f"{opening.rstrip()} {closing}"
    )


def test_a_tagged_call_is_out_when_its_tag_is_closed():
    stream = Extractor().stream()
    assert stream.feed(f"One <functioncall {A}") == [TextDelta("One")]
    (event,) = stream.feed("> two")[:1]
    assert isinstance(event, ToolCallReady)


CLOSED_TWICE = {
    "at the end": ("%s", None),
    "at the end of a line": ("One %s\ntwo", "One two"),
    "before a token": ("%s<|eot_id|>", None),
    "in another tag": ("<tools>%s</tools>", None),
    "before text": ("%s two", "two"),
    "three times": ("%s</functioncall> two", "</functioncall> two"),
}


@pytest.mark.parametrize("opening", ["<functioncall ", "<functioncall\n"])
@pytest.mark.parametrize(("around", "content"), CLOSED_TWICE.values(), ids=CLOSED_TWICE)
def test_a_tag_that_is_closed_twice_vanishes_whole(opening: str, around: str, content: str | None):
    extraction = extract_in_every_chunking(around % f"{opening}{A}></functioncall>")
    assert {call.name for call in extraction.tool_calls} == {"a"}
    assert extraction.content == content


def test_a_tag_is_not_closed_by_the_next_inside_of_something_broken():
    text = f'<functioncall> {A}{{"q": <functioncall>{A}</functioncall>'
    extraction = extract_in_every_chunking(text)
    assert [call.name for call in extraction.tool_calls] == ["a", "a"]
    assert extraction.content == '<functioncall> {"q":'


@pytest.mark.parametrize("prose", ["<tool", "<tools", "<function", "<functioncall", "<functioncall x", "<functions>"])
def test_prose_about_a_tag_flows_as_soon_as_it_is_none(prose: str):
    stream = Extractor().stream()
    assert stream.feed(f"Use {prose}!") == [TextDelta(f"Use {prose}!")]
