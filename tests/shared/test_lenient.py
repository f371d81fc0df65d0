"""What is read with `lenient` alone: other keys (rule 1), and other spellings of the custom tag (rule 9)."""

from __future__ import annotations

from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta, extract

CLOCK = {"name": "clock"}
SEARCH = {"name": "search", "parameters": {"type": "object", "properties": {"q": {}}, "required": ["q"]}}
TOOLS = [CLOCK, SEARCH]
BESIDE = "the arguments stand beside the function, not in it"


def _name(key: str) -> str:
    return f"the name stands under {key!r}"


def _arguments(key: str) -> str:
    return f"the arguments stand under {key!r}"


OTHER_KEYS = [
    ('{"name": "search", "args": {"q": "x"}}', [_arguments("args")]),
    ('{"input": {"q": "x"}, "name": "search"}', [_arguments("input")]),
    ('{"name": "search", "args": "{\\"q\\": \\"x\\"}", "type": "tool_call", "id": "1"}', [_arguments("args")]),
    ('{"function": "search", "params": {"q": "x"}}', [_name("function"), _arguments("params")]),
    ('{"tool": "search", "tool_input": {"q": "x"}}', [_name("tool"), _arguments("tool_input")]),
    ('{"action": "search", "action_input": {"q": "x"}}', [_name("action"), _arguments("action_input")]),
    ('{"function_name": "search", "arguments": {"q": "x"}}', [_name("function_name")]),
    ('{"tool_name": "search", "parameters": {"q": "x"}}', [_name("tool_name")]),
    ('{"type": "function", "function": "search", "args": {"q": "x"}}', [_arguments("args")]),
    ('{"type": "function", "function": {"name": "search", "args": {"q": "x"}}}', [_arguments("args")]),
    ('{"function": {"name": "search"}, "parameters": {"q": "x"}}', [BESIDE]),
    ('{"function": {"name": "search"}, "kwargs": {"q": "x"}}', [BESIDE, _arguments("kwargs")]),
    ('{"function": {"name": "search", "args": {"q": "x"}}, "kwargs": {"n": 1}}', [_arguments("args")]),
    # Empty values are none, the same value twice is one, and a name is a string.
    ('{"name": "search", "args": [], "kwargs": {"q": "x"}, "input": null}', [_arguments("kwargs")]),
    ('{"name": "search", "args": {"q": "x"}, "kwargs": {"q": "x"}}', [_arguments("args")]),
    ('{"tool": "", "function": 1, "action": "search", "args": {"q": "x"}}', [_name("action"), _arguments("args")]),
    ('{"tool": "search", "action": "search", "args": {"q": "x"}}', [_name("tool"), _arguments("args")]),
    ('{"tool": "call", "action": "search", "args": {"q": "x"}}', [_name("action"), _arguments("args")]),
]


@pytest.mark.parametrize(("text", "deviations"), OTHER_KEYS)
def test_name_and_arguments_may_stand_under_other_keys(text: str, deviations: list[str]):
    for written, content in [(text, None), (f"One {text} two", "One two"), (f"[{text}]", None)]:
        extraction = extract_in_every_chunking(written, lenient=True, tools=TOOLS)
        (call,) = extraction.tool_calls
        assert (call.name, call.arguments, call.format) == ("search", {"q": "x"}, "json")
        assert call.deviations == tuple(deviations)
        assert extraction.content == content


@pytest.mark.parametrize("text", [text for text, _ in OTHER_KEYS])
def test_without_lenient_other_keys_are_no_call(text: str):
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, extraction.tools_called) == (text, False)


@pytest.mark.parametrize("text", [text for text, _ in OTHER_KEYS])
def test_a_call_under_other_keys_that_is_cut_off_is_none(text: str):
    for end in range(len(text)):
        assert extract(text[:end], lenient=True).content == text[:end]


@pytest.mark.parametrize(
    ("opening", "closing", "format_"),
    [
        ("<tool_call>", "</tool_call>", "tool_call"),
        ("<tool>", "</tool>", "tool"),
        ("<tools>", "</tools>", "tools"),
        ("<functioncall ", ">", "functioncall"),
        ("```json\n", "\n```", "fence"),
        ('{"message": "", "tool_call": ', "}", "envelope"),
        ('{"tool_calls": [', "]}", "envelope"),
    ],
)
def test_other_keys_are_read_inside_of_whatever_holds_calls(opening: str, closing: str, format_: str):
    text = f'{opening}{{"tool": "search", "args": {{"q": "x"}}}}{closing}'
    (call,) = extract_in_every_chunking(text, lenient=True).tool_calls
    assert (call.name, call.format, call.deviations) == ("search", format_, (_name("tool"), _arguments("args")))


def test_an_envelope_with_arguments_beside_the_functions_in_a_tag():
    calls = ", ".join(f'{{"id": "pending", "function": {{"name": "{name}"}}, "parameters": {{}}}}' for name in "fg")
    extraction = extract_in_every_chunking(f'<tool-use>{{"tool_calls": [{calls}]}}</tool-use>', lenient=True)
    assert [(call.name, call.deviations) for call in extraction.tool_calls] == [("f", (BESIDE,)), ("g", (BESIDE,))]
    assert extraction.content is None


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ('{"name": "f", "parameters": {"a": 1}, "args": {"a": 2}, "tool": "g"}', "f", '{"a": 1}'),
        ('{"type": "function", "function": {"name": "f", "arguments": {}}, "args": {"a": 2}}', "f", "{}"),
        ('{"type": "chat", "input": {}, "tool_call": {"name": "f", "arguments": {}}}', "f", "{}"),
    ],
)
def test_what_is_documented_wins(text: str, name: str, arguments: str):
    (call,) = extract_in_every_chunking(text, lenient=True).tool_calls
    assert (call.name, call.arguments_json, call.deviations) == (name, arguments, ())


@pytest.mark.parametrize(
    ("text", "reason", "name"),
    [
        # Nothing is invented: text is no arguments.
        ('{"tool": "search", "input": "llamas"}', "invalid_arguments", "search"),
        ('{"name": "Alice", "input": "text"}', "invalid_arguments", "Alice"),
        ('{"action": "Final Answer", "action_input": "It is sunny."}', "invalid_arguments", "Final Answer"),
        ('{"name": "search", "args": ["llamas"]}', "invalid_arguments", "search"),
        ('{"name": "search", "args": ["llamas"], "kwargs": {"pages": 2}}', "invalid_arguments", "search"),
        ('{"name": "search", "args": {"q": "x"}, "kwargs": {"q": "y"}}', "conflicting_arguments", "search"),
        ('{"name": "search", "parameters": "llamas", "args": {"q": "x"}}', "invalid_arguments", "search"),
        # Without arguments it is the documented key, or none.
        ('{"tool": "clock"}', "not_a_call", None),
        ('{"tool": "clock", "args": null}', "not_a_call", None),
        ('{"function": {"tool": "clock"}, "args": {}}', "not_a_call", None),
        ('{"name": "search", "args": null}', "missing_arguments", "search"),
        ('{"name": 1, "tool": "search", "args": {"q": "x"}}', "invalid_name", None),
        ('{"tool": "search", "action": "clock", "args": {"q": "x"}}', "invalid_name", "search"),
        ('{"tool": "rm", "action": "x", "args": {}}', "invalid_name", "rm"),
        # A schema, as servers and frameworks show it.
        ('{"tool": "search", "parameters": {"type": "object", "properties": {}}}', "schema_echo", "search"),
        ('{"name": "search", "input": {"type": "object", "properties": {"q": {}}}}', "schema_echo", "search"),
        (
            '{"name": "search", "description": "…", "args": {"q": {"title": "Q", "type": "string"}}}',
            "schema_echo",
            "search",
        ),
        (
            '{"function": {"name": "search", "description": "…"}, "args": {"q": {"type": "string"}}}',
            "schema_echo",
            "search",
        ),
        # A wrapper that someone made up.
        ('{"query": {"tool": "search", "args": {"q": "x"}}}', "not_a_call", None),
        ('{"search": {"q": "x"}}', "not_a_call", None),
        ('[{"tool": "search", "args": {"q": "x"}}, {"a": 1}]', "not_a_call", None),
        ('{"tool": "rm", "args": {"path": "/"}}', "unknown_tool", "rm"),
        ('{"tool": "search", "args": {"q": x}}', "malformed", None),
        ('{"tool": "search", "args": {"q": 1}, "args": {"q": 1}}', "malformed", None),
    ],
)
def test_what_is_still_no_call(text: str, reason: str, name: str | None):
    extraction = extract_in_every_chunking(text, lenient=True, tools=TOOLS)
    assert extraction.content == text
    assert [(str(rejection.reason), rejection.name) for rejection in extraction.rejections] == [(reason, name)]


def test_names_that_differ_are_told():
    text = '{"tool_name": "search", "action": "x", "function_name": "search", "args": {}}'
    (rejection,) = extract_in_every_chunking(text, lenient=True).rejections
    assert rejection.detail == "'tool_name' and 'action' have different values"


def test_a_declared_tool_that_requires_no_argument_needs_none():
    for text in ['{"name": "clock"}', '{"name": "clock", "args": {}}', '{"tool": "clock", "input": {}}']:
        (call,) = extract_in_every_chunking(text, lenient=True, tools=TOOLS).tool_calls
        assert (call.name, call.arguments) == ("clock", {})


def test_arguments_under_another_key_are_coerced():
    pages = {"name": "search", "parameters": {"type": "object", "properties": {"pages": {"type": "integer"}}}}
    text = '{"tool": "search", "args": {"pages": "2"}}'
    (call,) = extract_in_every_chunking(text, lenient=True, tools=[pages], coerce_arguments=True).tool_calls
    assert (call.arguments, call.arguments_json) == ({"pages": 2}, '{"pages": "2"}')
    assert (len(call.changes), len(call.deviations)) == (1, 2)


CALL_F = '{"name": "f", "parameters": {"a": 1}}'

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
CLOSINGS = ["</function>", "\n</function>", "<|eom_id|></function>", "<function>", ">", "", "</func"]


def _as_written(opening: str) -> str:
    return f"the tag is written {opening.replace('search', 'NAME').split('{')[0].rstrip()}{{…}}"


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("closing", CLOSINGS)
def test_the_custom_tag_may_be_written_in_other_ways(opening: str, closing: str):
    text = f'One {opening}"q": "x"}}{closing}'
    extraction = extract_in_every_chunking(text, lenient=True)
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments, call.format) == ("search", {"q": "x"}, "function")
    closes = [f"the tag is closed by {closing}"] if closing in ("<function>", ">") else []
    assert call.deviations == (_as_written(opening), *closes)
    assert (extraction.content, call.span) == ("One", (4, len(text)))


@pytest.mark.parametrize("tools", [None, [{"name": "f"}, {"name": "g"}]])
@pytest.mark.parametrize(
    ("text", "name", "content"),
    [
        (f"<function=f{CALL_F}\nWell?", "f", "<function=f Well?"),
        (f"<function.call>{CALL_F}</function>", "f", "<function.call> </function>"),
        (f"<function=g{CALL_F}</function>", "f", "<function=g </function>"),
        (f"<function(g)>{CALL_F} oops", "f", "<function(g)> oops"),
        (f"<tool_call><function=g{CALL_F}</function></tool_call>", "f", None),
    ],
)
def test_a_call_that_is_one_without_lenient_stays_one(
    text: str, name: str, content: str | None, tools: list[dict[str, str]] | None
):
    for lenient in (False, True):
        extraction = extract_in_every_chunking(text, tools=tools, lenient=lenient)
        assert [(call.name, call.arguments) for call in extraction.tool_calls] == [(name, {"a": 1})]
        assert extraction.content == content or content is None


@pytest.mark.parametrize(
    ("held", "name"), [('{"name": "clock"}', "clock"), ('{"tool": "clock", "args": {}}', "search")]
)
def test_nothing_else_in_a_misspelled_tag_is_read_as_if_it_stood_bare(held: str, name: str):
    (call,) = extract_in_every_chunking(f"<function=search{held}</function>", tools=TOOLS, lenient=True).tool_calls
    assert call.name == name


def test_the_documented_tag_may_be_closed_in_other_ways():
    text = '<function=search>{"q": "x"}'
    for closing in CLOSINGS:
        (call,) = extract_in_every_chunking(text + closing, lenient=True).tool_calls
        assert call.deviations == ((f"the tag is closed by {closing}",) if closing in ("<function>", ">") else ())


@pytest.mark.parametrize("opening", ["<function=search>{", *OPENINGS])
def test_a_tag_that_is_closed_twice_vanishes_whole(opening: str):
    tag = f'{opening}"q": "x"}}></function>'
    for text, content in [(tag, None), (f"One {tag} two", "One two"), (f"```json\n{tag}\n```", None)]:
        extraction = extract_in_every_chunking(text, lenient=True)
        (call,) = extraction.tool_calls
        assert (call.arguments, call.deviations[-1]) == ({"q": "x"}, "the tag is closed by >")
        assert extraction.content == content
    assert extract_in_every_chunking(f"{tag} two {tag}", lenient=True).content == "two"
    assert extract_in_every_chunking(f"{tag[:-1]}!", lenient=True).content == "</function!"
    stream = Extractor(lenient=True).stream()
    assert len(stream.feed(tag.removesuffix("</function>"))) == 1


@pytest.mark.parametrize("name", ["math.factorial", "mcp:tool/run", "get-weather", "wetter_für", "function"])
@pytest.mark.parametrize("opening", OPENINGS)
def test_the_name_ends_where_the_arguments_begin(opening: str, name: str):
    (call,) = extract_in_every_chunking(f"{opening.replace('search', name)}}}</function>", lenient=True).tool_calls
    assert (call.name, call.arguments, call.deviations) == (name, {}, (_as_written(opening),))


def test_several_tags_in_other_spellings_and_text_around_them():
    text = 'A <function=f{"a": 1}</function>; <function(g){}</function> B <function=h>{}</function> <function=i={}'
    extraction = extract_in_every_chunking(text, lenient=True)
    assert "".join(call.name for call in extraction.tool_calls) == "fghi"
    assert extraction.content == "A B"


@pytest.mark.parametrize("opening", OPENINGS)
def test_tags_in_other_spellings_are_text_without_lenient(opening: str):
    text = f'{opening}"q": "x"}}</function>'
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, extraction.tools_called) == (text, False)


@pytest.mark.parametrize("opening", OPENINGS)
def test_tags_in_other_spellings_are_held_to_the_rules(opening: str):
    for arguments, closing, reasons in [
        ('"q": x}', "</function>", ["malformed"]),
        ('"q": "x"}', " oops", ["malformed"]),
        ('"q": "x"}', "<|eot_id|> oops", ["malformed"]),
        ('"q": "x"', "", ["truncated"]),
        ('"q": "x</function>', "", ["truncated"]),
    ]:
        text = f"{opening}{arguments}{closing}"
        extraction = extract_in_every_chunking(text, lenient=True)
        assert extraction.content == text
        found = [(str(rejection.reason), rejection.name) for rejection in extraction.rejections]
        assert found == [(reason, "search") for reason in reasons]
    text = f'{opening}"q": "x"}}</function>'
    (rejection,) = extract_in_every_chunking(text, lenient=True, tools=[CLOCK]).rejections
    assert (str(rejection.reason), rejection.span) == ("unknown_tool", (0, len(text)))
    for end in range(text.index("}")):
        assert extract(text[:end], lenient=True).content == text[:end]


@pytest.mark.parametrize(
    "prose",
    [
        "<function=f> tags",
        "<function(f) and (g)",
        "<function.f is a name",
        "<function = f {}",
        f"<function=f{' ' * 17}{{}}",
        "<function(){}",
        f"<function({'f' * 129}){{}}",
        "<functional>",
    ],
)
def test_prose_about_the_tag_flows(prose: str):
    stream = Extractor(lenient=True).stream()
    assert stream.feed(f"Use {prose}!") == [TextDelta(f"Use {prose}!")]
    extract_in_every_chunking(f"Use {prose}!", lenient=True)


def test_lenient_tags_are_read_where_that_format_is():
    text = '<function=f{"a": 1}</function>'
    assert extract_in_every_chunking(text, lenient=True, formats=["function"]).tools_called
    assert not extract_in_every_chunking(text, lenient=True, formats=["tool_call"]).tools_called


WHOLE_CALL = "a whole call stands in the tag"


@pytest.mark.parametrize(
    ("held", "deviations"),
    [
        ('{"name": "f", "parameters": {"a": 1}}', (WHOLE_CALL,)),
        ('{"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}', (WHOLE_CALL,)),
        ('{"name": "f", "args": {"a": 1}}', (WHOLE_CALL, "the arguments stand under 'args'")),
    ],
)
@pytest.mark.parametrize(
    "tools",
    [None, *([{"name": "f", "parameters": {"properties": {"a": {}, key: {}}}}] for key in ("name", "type", "id"))],
)
def test_a_whole_call_in_the_tag_of_its_name(held: str, deviations: tuple[str, ...], tools: Any):  # noqa: ANN401
    text = f"<function=f>{held}</function>"
    (call,) = extract_in_every_chunking(text, tools=tools, lenient=True).tool_calls
    assert (call.arguments, call.deviations) == ({"a": 1}, deviations)
    misspelled = f"<function=f{held}</function>"
    (call,) = extract_in_every_chunking(misspelled, tools=tools, lenient=True).tool_calls
    assert (call.arguments, call.deviations) == ({"a": 1}, ("the tag is written <function=NAME{…}", *deviations))


@pytest.mark.parametrize("tools", [None, [{"name": "f", "parameters": {"properties": {"a": {}}}}]])
def test_by_default_it_is_no_arguments(tools: Any):  # noqa: ANN401
    for key in ("parameters", "arguments"):
        text = f'<function=f>{{"name": "f", "{key}": {{"a": 1}}}}</function>'
        extraction = extract_in_every_chunking(text, tools=tools)
        assert (extraction.content, extraction.tool_calls) == (text, ())
        assert [(one.reason, one.name) for one in extraction.rejections] == [("invalid_arguments", "f")]


def test_by_default_tool_name_names_an_argument():
    held = '{"tool_name": "f", "parameters": {"a": 1}}'
    (call,) = extract_in_every_chunking(f"<function=f>{held}</function>").tool_calls
    assert call.arguments_json == held


@pytest.mark.parametrize("lenient", [False, True])
def test_what_is_wrong_with_a_whole_call_in_the_tag_is_said_of_it(lenient: bool):
    text = '<function=f>{"name": "f", "parameters": {"a": 1}, "arguments": {"a": 2}}</function>'
    (rejection,) = extract_in_every_chunking(text, lenient=lenient).rejections
    assert (rejection.reason, rejection.name) == ("conflicting_arguments", "f")


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("held", ['{"name": "g", "parameters": {"a": 1}}', '{"name": "f"}', '{"name": "f", "a": 1}'])
def test_what_only_looks_like_it_are_arguments(held: str, lenient: bool):
    tools = [{"name": "f", "parameters": {"properties": {"name": {}, "a": {}}}}]
    (call,) = extract_in_every_chunking(f"<function=f>{held}</function>", tools=tools, lenient=lenient).tool_calls
    assert (call.arguments_json, call.deviations) == (held, ())


@pytest.mark.parametrize("lenient", [False, True])
def test_a_tool_may_have_parameters_of_these_names(lenient: bool):
    tools = [{"name": "f", "parameters": {"properties": {"name": {}, "parameters": {}}}}]
    held = '{"name": "f", "parameters": {"a": 1}}'
    (call,) = extract_in_every_chunking(f"<function=f>{held}</function>", tools=tools, lenient=lenient).tool_calls
    assert (call.arguments_json, call.deviations) == (held, ())


RAN = "a call that was run already: its result stands beside it"


@pytest.mark.parametrize("key", ["output", "result", "observation", "tool_output"])
def test_a_call_beside_its_result_was_run_already(key: str):
    for call in ('"tool": "search", "input": {"q": "x"}', '"name": "search", "args": {"q": "x"}'):
        extraction = extract_in_every_chunking(f'{{{call}, "{key}": "found 3"}}', lenient=True)
        assert not extraction.tools_called
        (rejection,) = extraction.rejections
        assert (rejection.reason, rejection.name, rejection.detail) == ("not_a_call", "search", RAN)
        assert extract_in_every_chunking(f'{{{call}, "{key}": null}}', lenient=True).tools_called
    documented = f'{{"name": "search", "parameters": {{}}, "{key}": "found 3"}}'
    assert extract_in_every_chunking(documented, lenient=True).tools_called
