"""What finetunes of Llama 3 write around calls: their tags (rule 9) and ChatML's markers (rule 10)."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta, ToolCallReady, extract
from llama3_tools.stream.segments import read_segments

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
        extraction = extract_in_every_chunking(f"One {opening}{inside}{closing} two")
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
def test_a_tag_left_open_behind_complete_calls_vanishes_at_the_end(name: str, opening: str, closing: str):
    for cut in range(len(closing)):
        extraction = extract_in_every_chunking(f"One {opening}{A}{closing[:cut]}")
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
def test_a_protocol_token_behind_the_calls_closes_a_tag(name: str, opening: str, closing: str, token: str):
    for text, names, content in [
        (f"{opening} {A} {token}", "a", None),
        (f"{opening} {A} {token}\nIt is sunny.", "a", "It is sunny."),
        (f"{opening} {A}{token} {closing} Done.", "a", "Done."),
        (f"{opening} {A}{token} {opening} {B}{token}", "ab", None),
        (f"{opening} {A}{token} {B} oops", "ab", "oops"),
    ]:
        extraction = extract_in_every_chunking(text)
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


@over_tags
def test_a_tag_around_anything_else_is_text(name: str, opening: str, closing: str):
    attempt = ["malformed"] if name != "tools" else []  # which holds schemas
    for text, names, reasons in [
        (f"{opening}{closing}", "", []),
        (f"{opening}x{closing}", "", []),
        (f"Write {opening} first.", "", []),
        (f'{opening}{{"a": 1}}{closing}', "", ["not_a_call"]),
        (f'{opening}{{"name": "a", "arguments": {{oops}}}}{closing}', "", ["malformed"]),
        *((f"{opening}{{'{key}': {{}}}}{closing}", "", attempt) for key in ("arguments", "function", "type", "id")),
        (f"{opening}{{'name': 'a', 'arguments': {{}}}}{closing}", "", ["malformed"]),
        (f"{opening}{{'city': 'Paris'}}{closing}", "", []),
        (f"{opening}{SCHEMA}{closing}", "", ["schema_echo"]),
        (f"{opening}[{SCHEMA}, {SCHEMA}]{closing}", "", ["schema_echo"]),
        (f"{opening}{SCHEMA}\n{SCHEMA}{closing}", "", ["schema_echo"] * 2),
    ]:
        extraction = extract_in_every_chunking(text)
        assert extraction.content == text
        assert "".join(call.name for call in extraction.tool_calls) == names
        assert [str(rejection.reason) for rejection in extraction.rejections] == reasons, name


@pytest.mark.parametrize(("name", "opening", "closing"), [tag for tag in TAGS if tag[0] != "tools"])
@pytest.mark.parametrize("repair", [False, True])
def test_whatever_is_malformed_in_a_tag_is_an_attempt(name: str, opening: str, closing: str, *, repair: bool):
    assert name
    tools = {"tools": [{"name": "a"}], "repair": True} if repair else {}
    for inside, reason in [
        ('{"arguments": {"x": oops}, "name": "a"}', "malformed"),
        ('\n{"arguments": {"x": 1', "truncated"),
        ("{'arguments': {'x': oops}, 'name': 'a'}", "malformed"),
        (" {'type': 'function', 'name': oops}", "malformed"),
    ]:
        text = f"{opening}{inside}{'' if reason == 'truncated' else closing}"
        (rejection,) = extract_in_every_chunking(text, **tools).rejections
        assert (str(rejection.reason), rejection.name, rejection.is_attempt) == (reason, None, True)
    (rejection,) = extract_in_every_chunking(f'{opening}x {{"a": oops}}{closing}', **tools).rejections
    assert not rejection.is_attempt
    (rejection,) = extract_in_every_chunking(f'{opening}{{"a": 1}}{closing}', **tools).rejections
    assert (rejection.is_in_tag, rejection.is_attempt) == (True, False)
    (rejection,) = extract_in_every_chunking(f'`{opening}{{"a": oops}}{closing}`', **tools).rejections
    assert (rejection.is_in_tag, rejection.is_attempt) == (False, False)


@pytest.mark.parametrize("text", ['<tools>{"type": "function", "function": {oops', '<tools>{"arguments": {"x": 1'])
def test_what_models_repeat_of_their_prompt_s_tools_is_no_attempt(text: str):
    (rejection,) = extract_in_every_chunking(text).rejections
    assert (rejection.name, rejection.is_attempt) == (None, False)
    dicts = "<tools>\n{'type': 'function', 'function': {'name': 'a', 'parameters': {}}}\n</tools>"
    assert extract_in_every_chunking(dicts).rejections == ()


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
def test_tags_in_fences_vanish_with_them_and_other_languages_are_quotation(name: str, opening: str, closing: str):
    text = f"```json\n{opening}{A}{closing}\n```"
    outer = "tools" if name == "tool_call" else "tool_call"
    extraction = extract_in_every_chunking(f"{text} and <{outer}>{opening}{B}{closing}</{outer}>")
    assert [(call.name, call.format) for call in extraction.tool_calls] == [("a", "fence"), ("b", outer)]
    assert extraction.content == "and"
    quoted = f"```xml\n{opening}{A}{closing}\n```"
    assert extract_in_every_chunking(quoted).content == quoted
    assert extract_in_every_chunking(f"`{opening}{A}{closing}`").content == f"`{opening}{A}{closing}`"


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


@pytest.mark.parametrize("opening", ["<functioncall ", "<functioncall\n"])
def test_a_tag_that_is_closed_twice_vanishes_whole(opening: str):
    tag = f"{opening}{A}></functioncall>"
    for text, content in [
        (tag, None),
        (f"One {tag} two", "One two"),
        (f"{tag}{tag}", None),
        (f"<tools>{tag}</tools>", None),
        (f"{tag}</functioncall>", "</functioncall>"),
        (f"{tag[:-1]}s>", "</functioncalls>"),
    ]:
        extraction = extract_in_every_chunking(text)
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


CHATML = [
    "<|im_start|>",
    "<|im_start|>\n",
    "<|im_start|>assistant\n",
    "<|im_start|>assistant \r\n",
    "<|im_start|>tool ",
    "<|im_start|>assistant<|end_header_id|>\n\n",
    "<|im_start|><|im_start|>assistant\n",
    "<|im_end|>",
    "<|im_end|>\n<|im_start|>assistant\n",
    "<|endoftext|>",
]


@pytest.mark.parametrize("marker", CHATML)
def test_chatml_markers_go_at_the_edges_and_next_to_calls(marker: str):
    for text, content in [
        (f"{marker}{A}{marker}", None),
        (f"{marker}{A}{marker}{B}", None),
        (f"One {marker}{A} {marker}{marker}two", "One two"),
        (f"One {marker}two {A}", f"One {marker}two"),
    ]:
        extraction = extract_in_every_chunking(text)
        assert extraction.content == content
        segments = read_segments(Extractor(), text).segments
        assert "".join(segment.text for segment in segments) == text
    assert (extract_in_every_chunking(f"One{marker}").content or "").rstrip() == "One"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<|im_start|>assistant\nHello.<|im_end|>", "Hello."),
        ("<|im_start|>assistant\n\nHello.", "\nHello."),
        ("<|im_start|>assistant", ""),
        ("<|im_start|>assistants are many", "assistants are many"),
        ("<|im_start|>assist", "assist"),
        ("<|im_start|>", ""),
        ("<|im_start", "<|im_start"),
        ("<|im_start|>narrator\nHello.", "narrator\nHello."),
        ("A <|im_start|>user\nis what begins a turn.", "A <|im_start|>user\nis what begins a turn."),
        ("<|im_start|>\nHello.", "Hello."),
        ("A <|im_start|>user", "A "),
    ],
)
def test_a_role_goes_with_its_marker(text: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert extraction.content == content
    assert not extraction.tools_called


def test_chatml_markers_in_a_string_are_data():
    text = '{"name": "say", "arguments": {"text": "<|im_start|>assistant\\n<|im_end|>"}}'
    (call,) = extract_in_every_chunking(text).tool_calls
    assert call.arguments == {"text": "<|im_start|>assistant\n<|im_end|>"}


def test_only_what_may_be_a_role_is_held_back():
    stream = Extractor().stream()
    assert stream.feed("<|im_start|>assist") == []
    assert stream.feed("ed living") == [TextDelta("assisted living")]
