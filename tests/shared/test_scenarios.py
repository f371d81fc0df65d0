"""The scenarios that this library began with, each by its name."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta, ToolCallReady

TOOL = '<tool>{"tool_name": "get_weather", "parameters": {"city": "Paris"}}</tool>'


def test_text_before_and_after_a_call_is_kept():
    text = 'Here is the result:\n{"name": "searchTool", "parameters": {"query": "test"}}\nWould you like to know more?'
    extraction = extract_in_every_chunking(text)
    assert extraction.content == "Here is the result: Would you like to know more?"
    assert [(call.name, call.arguments) for call in extraction.tool_calls] == [("searchTool", {"query": "test"})]


def test_text_around_a_call_is_joined_by_one_space():
    extraction = extract_in_every_chunking('Let me search: {"name":"search","parameters":{}} Done!')
    assert extraction.content == "Let me search: Done!"
    assert [call.name for call in extraction.tool_calls] == ["search"]


def test_two_calls_with_a_semicolon_between():
    extraction = extract_in_every_chunking('Tools: {"name":"a","parameters":{}}; {"name":"b","parameters":{}} End')
    assert extraction.content == "Tools: End"
    assert [call.name for call in extraction.tool_calls] == ["a", "b"]


@pytest.mark.parametrize("around", ["", " ", "\n\n", " \t\r\n "], ids=repr)
def test_a_call_alone_or_in_white_space_has_no_content(around: str):
    extraction = extract_in_every_chunking(around + '{"name":"search","parameters":{}}' + around)
    assert extraction.content is None
    assert extraction.tools_called


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\t ",
        "Hello!",
        "  Hello,\n\n  you. \n",
        '{"name": "search", "parameters": {"query": }}',
        '{"name": "search", "parameters": {"query": "a" "b"}}',
        "{not json}",
        "a { b } c [ d ] \" e \\ f ' g",
        "f(x) = {x; x > 0}; g(x) = [x]; ",
        'He said: "use {braces}; and \\"quotes\\""',
        "C:\\temp\\{0}; `code`; **bold**; 1 < 2; <b>bold</b>",
    ],
    ids=repr,
)
def test_output_without_a_call_comes_back_unchanged(text: str):
    extraction = extract_in_every_chunking(text)
    assert extraction.content == text
    assert not extraction.tools_called


@pytest.mark.parametrize("prose", ['{x}, "y" and \\z', "a; b", "first; {second}; [third]"])
def test_braces_quotes_backslashes_and_semicolons_in_prose_stay_beside_a_call(prose: str):
    extraction = extract_in_every_chunking(f'{prose}\n{{"name":"search","parameters":{{}}}}\n{prose}')
    assert extraction.content == f"{prose} {prose}"
    assert [call.name for call in extraction.tool_calls] == ["search"]


def test_tool_tags_cut_at_every_place_leave_no_trace():
    extraction = extract_in_every_chunking(f"Before. {TOOL} Between. {TOOL}\n{TOOL} After.")
    assert extraction.content == "Before. Between. After."
    assert [call.arguments for call in extraction.tool_calls] == [{"city": "Paris"}] * 3


@pytest.mark.parametrize("chunks", [["<", "tool>"], ["<tool", ">"], ["<too", "l", ">"]])
@pytest.mark.parametrize("closing", [["<", "/tool>"], ["</", "tool>"], ["</too", "l>"], ["</tool", ">"]])
def test_a_tag_cut_in_these_places_leaks_nothing(chunks: list[str], closing: list[str]):
    stream = Extractor().stream()
    body = ['{"tool_name": "f", ', '"parameters": {}}']
    events = [event for chunk in [*chunks, *body, *closing[:1]] for event in stream.feed(chunk)]
    assert events == [], "the call is out before its tag is closed, or a piece of the tag leaked"
    (ready,) = stream.feed(closing[1])
    assert isinstance(ready, ToolCallReady)
    assert ready.tool_call.name == "f"
    assert stream.flush() == []
    assert stream.extraction.content is None


def test_a_tagged_call_waits_for_its_closing_tag():
    stream = Extractor().stream()
    assert stream.feed(TOOL.removesuffix("</tool>")) == []
    assert stream.feed("\n") == []
    assert [type(event) for event in stream.feed("</tool>")] == [ToolCallReady]
    assert stream.feed(" Done") == [TextDelta("Done")]


@pytest.mark.parametrize("prose", ["1 < 2", "a <b>c", "a </b>", "<toad> ", "<|x", "a <- b"])
def test_less_than_in_prose_is_released_as_soon_as_it_can_be_no_tag(prose: str):
    stream = Extractor().stream()
    released = "".join(event.text for character in f"{prose}." for event in stream.feed(character))
    assert released == f"{prose}."


def test_a_tag_that_never_closes_gives_its_complete_call_at_the_end_only():
    stream = Extractor().stream()
    assert stream.feed("Well: " + TOOL.removesuffix("</tool>")) == [TextDelta("Well:")]
    assert [type(event) for event in stream.flush()] == [ToolCallReady]
    assert stream.extraction.content == "Well:"


@pytest.mark.parametrize("cut", range(len("<tool>"), len(TOOL) - len("</tool>")))
def test_a_tag_cut_off_inside_its_json_gives_no_call(cut: int):
    extraction = extract_in_every_chunking(TOOL[:cut])
    assert not extraction.tools_called
    assert extraction.content == TOOL[:cut]


@pytest.mark.parametrize("cut", range(len(TOOL) - len("</tool>"), len(TOOL)))
def test_a_closing_tag_that_was_cut_off_leaks_nothing(cut: int):
    extraction = extract_in_every_chunking(TOOL[:cut])
    assert extraction.tools_called
    assert extraction.content is None


def test_tool_name_is_read_inside_the_tool_tag_only():
    bare = '{"tool_name": "get_weather", "parameters": {"city": "Paris"}}'
    for text in (bare, f"<tool_call>{bare}</tool_call>"):
        extraction = extract_in_every_chunking(text)
        assert not extraction.tools_called
        assert extraction.content == text
