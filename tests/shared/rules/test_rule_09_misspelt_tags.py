"""Rule 9: how Llama misspells `<function=NAME>{…}</function>`, and the whole calls that it writes in it."""

from __future__ import annotations

from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta, extract

CLOCK = {"name": "clock"}
SEARCH = {"name": "search", "parameters": {"type": "object", "properties": {"q": {}}, "required": ["q"]}}
TOOLS = [CLOCK, SEARCH]

OPENINGS = [
    "<function=search={",
    "<function=search{",
    "<function=search {",
    "<function=search= {",
    "<function=search\n  {",
    "<function(search){",
    "<function(search) {",
    "<function(search)>{",
    "<function.search>{",
    "<function.search{",
]
CLOSINGS = ["</function>", "\n</function>", "<function>", ">", "", "</func"]


def _as_written(opening: str) -> str:
    return f"the tag is written {opening.replace('search', 'NAME').split('{')[0].rstrip()}{{…}}"


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("closing", CLOSINGS)
def test_llamas_misspellings_of_a_declared_tool_are_deviations(opening: str, closing: str):
    text = f'One {opening}"q": "x"}}{closing}'
    extraction = extract_in_every_chunking(text, is_sampled=True, tools=TOOLS)
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments, call.format) == ("search", {"q": "x"}, "function")
    closes = [f"the tag is closed by {closing}"] if closing in ("<function>", ">") else []
    assert call.deviations == (_as_written(opening), *closes)
    assert (extraction.content, call.span) == ("One", (4, len(text)))


@pytest.mark.parametrize("opening", OPENINGS)
def test_a_misspelt_tag_of_an_undeclared_tool_is_text(opening: str):
    text = f'{opening}"q": "x"}}</function>'
    for tools in (None, [CLOCK]):
        extraction = extract_in_every_chunking(text, is_sampled=True, tools=tools)
        assert (extraction.content, extraction.tool_calls) == (text, ())
        assert extraction.rejections


def test_a_misspelt_tag_that_names_no_declared_tool_is_an_attempt():
    (attempt,) = extract_in_every_chunking('<function=rm{"q": "x"}</function>', tools=TOOLS).attempts
    assert (str(attempt.reason), attempt.name) == ("unknown_tool", "rm")


@pytest.mark.parametrize("closing", CLOSINGS)
def test_the_documented_tag_may_be_closed_in_other_ways(closing: str):
    (call,) = extract_in_every_chunking(f'<function=search>{{"q": "x"}}{closing}', tools=TOOLS).tool_calls
    assert call.deviations == ((f"the tag is closed by {closing}",) if closing in ("<function>", ">") else ())


@pytest.mark.parametrize("opening", ["<function=search>{", *OPENINGS])
def test_a_tag_that_is_closed_twice_vanishes_whole(opening: str):
    tag = f'{opening}"q": "x"}}></function>'
    for text, content in [(tag, None), (f"One {tag} two", "One two"), (f"```json\n{tag}\n```", None)]:
        extraction = extract_in_every_chunking(text, is_sampled=True, tools=TOOLS)
        (call,) = extraction.tool_calls
        assert (call.arguments, call.deviations[-1]) == ({"q": "x"}, "the tag is closed by >")
        assert extraction.content == content


@pytest.mark.parametrize("name", ["math.factorial", "mcp:tool/run", "get-weather", "wetter_für", "function", "f"])
@pytest.mark.parametrize("opening", OPENINGS)
def test_the_name_ends_where_the_arguments_begin(opening: str, name: str):
    text = f"{opening.replace('search', name)}}}</function>"
    (call,) = extract_in_every_chunking(text, is_sampled=True, tools=[{"name": name}]).tool_calls
    assert (call.name, call.arguments, call.deviations) == (name, {}, (_as_written(opening),))


def test_several_tags_in_several_spellings_and_text_around_them():
    text = 'A <function=f{"a": 1}</function>; <function(g){}</function> B <function=h>{}</function> <function=i={}'
    extraction = extract_in_every_chunking(text, tools=[{"name": name} for name in "fghi"])
    assert "".join(call.name for call in extraction.tool_calls) == "fghi"
    assert extraction.content == "A B"


REFUSED = {
    "a malformed value": ('"q": x}', "</function>", "malformed"),
    "text after it": ('"q": "x"}', " oops", "malformed"),
    "cut off": ('"q": "x"', "", "truncated"),
    "cut off in a string": ('"q": "x</function>', "", "truncated"),
}


@pytest.mark.parametrize("opening", ["<function=search>{", *OPENINGS])
@pytest.mark.parametrize(("arguments", "closing", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_broken_tag_is_text_and_an_attempt(opening: str, arguments: str, closing: str, reason: str):
    text = f"{opening}{arguments}{closing}"
    extraction = extract_in_every_chunking(text, is_sampled=True, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [(str(attempt.reason), attempt.name) for attempt in extraction.attempts] == [(reason, "search")]


@pytest.mark.parametrize("opening", ["<function=search>{", *OPENINGS])
def test_a_token_closes_the_tag(opening: str):
    extraction = extract_in_every_chunking(f'{opening}"q": "x"}}<|eot_id|> So.', is_sampled=True, tools=TOOLS)
    assert [call.name for call in extraction.tool_calls] == ["search"]
    assert extraction.content == "So."


@pytest.mark.parametrize("opening", ["<function=search>{", *OPENINGS])
def test_a_tag_that_is_cut_off_calls_nothing(opening: str):
    text = f'{opening}"q": "x"}}</function>'
    for end in range(text.index("}")):
        assert extract(text[:end], tools=TOOLS).content == text[:end]


PROSE = {
    "a word after the name": "<function=search> tags",
    "a word after the brackets": "<function(search) and (clock)",
    "a sentence": "<function.search is a name",
    "blanks around the equals sign": "<function = search {}",
    "too many blanks": f"<function=search{' ' * 17}{{}}",
    "no name": "<function(){}",
    "a name too long": f"<function({'f' * 129}){{}}",
    "another word": "<functional>",
}


@pytest.mark.parametrize("prose", PROSE.values(), ids=PROSE)
def test_prose_about_the_tag_flows(prose: str):
    stream = Extractor(tools=TOOLS).stream()
    assert (
        "".join(event.text for event in stream.feed(f"Use {prose}! ") if isinstance(event, TextDelta))
        == f"Use {prose}!"
    )
    assert extract_in_every_chunking(f"Use {prose}!", is_sampled=True, tools=TOOLS).content == f"Use {prose}!"


def test_the_tag_is_read_if_its_format_is():
    text = '<function=search{"q": 1}</function>'
    assert extract_in_every_chunking(text, tools=TOOLS, formats=["function"]).tools_called
    assert not extract_in_every_chunking(text, tools=TOOLS, formats=["tool_call"]).tools_called


WHOLE_CALL = "a whole call stands in the tag"
WHOLE = {
    "named": '{"name": "f", "parameters": {"a": 1}}',
    "with arguments": '{"name": "f", "arguments": {"a": 1}}',
    "OpenAI's": '{"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}',
}
DECLARATIONS: dict[str, Any] = {"any": None, "declared": [{"name": "f", "parameters": {"properties": {"a": {}}}}]}


@pytest.mark.parametrize("held", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("tools", DECLARATIONS.values(), ids=DECLARATIONS)
def test_a_whole_call_in_the_tag_of_its_name_is_called(held: str, tools: Any):  # noqa: ANN401 - as Extractor takes them
    (call,) = extract_in_every_chunking(f"<function=f>{held}</function>", is_sampled=True, tools=tools).tool_calls
    assert (call.arguments, call.deviations) == ({"a": 1}, (WHOLE_CALL,))


def test_a_whole_call_in_a_misspelt_tag_of_its_name_is_called():
    text = f"<function=f{WHOLE['named']}</function>"
    (call,) = extract_in_every_chunking(text, tools=[{"name": "f"}]).tool_calls
    assert (call.arguments, call.deviations) == ({"a": 1}, ("the tag is written <function=NAME{…}", WHOLE_CALL))


def test_the_name_alone_in_the_tag_of_a_tool_that_requires_nothing_is_a_whole_call():
    (call,) = extract_in_every_chunking('<function=clock>{"name": "clock"}</function>', tools=TOOLS).tool_calls
    assert (call.arguments, call.deviations) == ({}, (WHOLE_CALL,))


def test_a_whole_call_with_two_values_is_none():
    text = '<function=f>{"name": "f", "parameters": {"a": 1}, "arguments": {"a": 2}}</function>'
    (attempt,) = extract_in_every_chunking(text).attempts
    assert (str(attempt.reason), attempt.name) == ("conflicting_arguments", "f")


ARGUMENTS = {
    "a call of another tool": '{"name": "g", "parameters": {"a": 1}}',
    "a name alone": '{"name": "f"}',
    "a name and an argument": '{"name": "f", "a": 1}',
    "tool_name": '{"tool_name": "f", "parameters": {"a": 1}}',
}


@pytest.mark.parametrize("held", ARGUMENTS.values(), ids=ARGUMENTS)
def test_what_only_looks_like_a_whole_call_are_arguments(held: str):
    tools = [{"name": "f", "parameters": {"properties": {"name": {}, "a": {}}}}]
    (call,) = extract_in_every_chunking(f"<function=f>{held}</function>", tools=tools).tool_calls
    assert (call.arguments_json, call.deviations) == (held, ())


def test_a_tool_may_have_parameters_of_these_names():
    tools = [{"name": "f", "parameters": {"properties": {"name": {}, "parameters": {}}}}]
    held = '{"name": "f", "parameters": {"a": 1}}'
    (call,) = extract_in_every_chunking(f"<function=f>{held}</function>", tools=tools).tool_calls
    assert (call.arguments_json, call.deviations) == (held, ())


def test_arguments_in_a_misspelt_tag_are_repaired_and_the_tag_is_a_deviation():
    text = '<function=search={"q": "x",}</function>'
    (call,) = extract_in_every_chunking(text, tools=TOOLS, repair=True).tool_calls
    assert (call.name, call.arguments, call.repaired_from) == ("search", {"q": "x"}, '{"q": "x",}')
    assert call.deviations == ("the tag is written <function=NAME={…}",)


CALL_F = '{"name": "f", "parameters": {"a": 1}}'
AS_IF_BARE = {
    "no closing tag and text": (f"<function=g{CALL_F}\nWell?", "<function=g Well?"),
    "a name that is not declared": (f"<function.call>{CALL_F}</function>", "<function.call> </function>"),
    "brackets and text": (f"<function(g)>{CALL_F} oops", "<function(g)> oops"),
}


def test_so_it_is_after_the_token_of_code():
    text = f"<|python_tag|><function=rm={CALL_F}<|eom_id|>"
    extraction = extract_in_every_chunking(text, tools=[{"name": "f"}, {"name": "code_interpreter"}])
    assert [(call.name, call.arguments) for call in extraction.tool_calls] == [("f", {"a": 1})]
    assert extraction.content == "<function=rm="


@pytest.mark.parametrize(("text", "content"), AS_IF_BARE.values(), ids=AS_IF_BARE)
def test_a_call_in_a_tag_that_is_text_is_read_as_if_it_stood_bare(text: str, content: str):
    extraction = extract_in_every_chunking(text, tools=[{"name": "f"}, {"name": "g"}])
    assert [(call.name, call.arguments) for call in extraction.tool_calls] == [("f", {"a": 1})]
    assert extraction.content == content
