"""Rule 9: `<function=NAME>{…}</function>`, Functionary's form, and Llama's own misspellings of the tag."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta

WEATHER = {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}, "required": ["city"]}}
CLOCK = {"name": "clock"}
TOOLS = [WEATHER, CLOCK]
ARGUMENTS = '{"city": "Paris"}'

DOCUMENTED = {
    "closed": (f"<function=get_weather>{ARGUMENTS}</function>", None),
    "before a token": (f"<function=get_weather>{ARGUMENTS}</function><|eot_id|>", None),
    "white space": ('<function=get_weather>\n{"city":\n"Paris"}\n</function>\n', None),
    "open at the end": (f"<function=get_weather>{ARGUMENTS}", None),
    "the closing tag cut off": (f"<function=get_weather>{ARGUMENTS}</funct", None),
    "closed by a token": (f"<function=get_weather>{ARGUMENTS}<|eot_id|>", None),
    "in prose": (f"Sure: <function=get_weather>{ARGUMENTS}</function> Done.", "Sure: Done."),
    "closed twice": (f"<function=get_weather>{ARGUMENTS}</function></function>", None),
    "a brace too many": (f"<function=get_weather>{ARGUMENTS}}}</function>", None),
    "in a fence": (f"```\n<function=get_weather>{ARGUMENTS}</function>\n```", None),
    "after <|python_tag|>": (f"<|python_tag|><function=get_weather>{ARGUMENTS}</function><|eom_id|>", None),
    "the name as an attribute": (f'<function name="get_weather">{ARGUMENTS}</function>', None),
}


@pytest.mark.parametrize("tools", [None, TOOLS], ids=["any", "declared"])
@pytest.mark.parametrize(("text", "content"), DOCUMENTED.values(), ids=DOCUMENTED)
def test_a_function_tag_carries_the_name(text: str, content: str | None, tools: list[dict[str, object]] | None):
    extraction = extract_in_every_chunking(text, tools=tools)
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments, call.deviations) == ("get_weather", {"city": "Paris"}, ())
    assert extraction.content == content
    assert text[slice(*call.span)].startswith("<function")
    assert call.format == ("fence" if text.startswith("`") else "function")


@pytest.mark.parametrize("name", ["math.factorial", "mcp:tool/run", "get-weather", "wetter_für"])
@pytest.mark.parametrize("arguments", ['{"a": 1}', "{}"])
def test_a_function_tag_takes_the_names_that_tools_have(name: str, arguments: str):
    for tools in (None, [{"name": name}]):
        (call,) = extract_in_every_chunking(f"<function={name}>{arguments}</function>", tools=tools).tool_calls
        assert (call.name, call.arguments_json) == (name, arguments)


MISSPELLED = {
    "no bracket": f"<function=get_weather{ARGUMENTS}</function>",
    "no bracket, and a stray one": f"<function=get_weather{ARGUMENTS}></function>",
    "a blank": f"<function=get_weather {ARGUMENTS} </function>",
    "an equals sign": f"<function=get_weather={ARGUMENTS}</function>",
    "a dot": f"<function.get_weather>{ARGUMENTS}</function>",
    "a dot and no bracket": f"<function.get_weather{ARGUMENTS}></function>",
    "parentheses": f"<function(get_weather)>{ARGUMENTS}</function>",
    "parentheses and no bracket": f"<function(get_weather){ARGUMENTS}",
    "closed by the opening tag": f"<function=get_weather>{ARGUMENTS}<function>",
    "closed by a bracket": f"<function=get_weather>{ARGUMENTS}>",
}


@pytest.mark.parametrize("text", MISSPELLED.values(), ids=MISSPELLED)
def test_a_misspelt_tag_of_a_declared_tool_is_a_call_with_a_deviation(text: str):
    extraction = extract_in_every_chunking(f"Use {text}", tools=TOOLS)
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments, extraction.content) == ("get_weather", {"city": "Paris"}, "Use")
    assert call.deviations


@pytest.mark.parametrize("text", list(MISSPELLED.values())[:8], ids=list(MISSPELLED)[:8])
def test_a_misspelt_tag_of_any_other_tool_is_text(text: str):
    for options in ({}, {"tools": [CLOCK]}, {"tools": [CLOCK], "lenient": True}):
        extraction = extract_in_every_chunking(text, is_sampled=True, **options)
        assert (extraction.content, extraction.tool_calls) == (text, ())


def test_a_whole_call_in_the_tag_is_that_call_with_a_deviation():
    text = f'<function=get_weather>{{"name": "get_weather", "parameters": {ARGUMENTS}}}</function>'
    (call,) = extract_in_every_chunking(text, tools=TOOLS).tool_calls
    assert (call.name, call.arguments) == ("get_weather", {"city": "Paris"})
    assert call.deviations == ("a whole call stands in the tag",)


def test_what_only_looks_like_a_call_in_the_tag_is_the_arguments():
    for arguments in ('{"name": "get_weather", "args": {"a": 1}}', '{"tool_name": "get_weather", "parameters": {}}'):
        (call,) = extract_in_every_chunking(f"<function=get_weather>{arguments}</function>", tools=TOOLS).tool_calls
        assert (call.arguments_json, call.deviations) == (arguments, ())


FUNCTIONARY = {
    "a name and an object": f"get_weather\n{ARGUMENTS}",
    "after its marker": f">>>get_weather\n{ARGUMENTS}",
    "after a line break of Windows": f"get_weather\r\n{ARGUMENTS}",
    "after a blank and one of those": f">>>get_weather \r\n{ARGUMENTS}",
    "without arguments": "clock\n{}",
}


@pytest.mark.parametrize("text", FUNCTIONARY.values(), ids=FUNCTIONARY)
def test_functionary_writes_the_name_on_a_line_of_its_own(text: str):
    for output, content in ((text, None), (f"One moment.\n{text}\n", "One moment."), (f"{text}<|eot_id|>", None)):
        extraction = extract_in_every_chunking(output, tools=TOOLS)
        (call,) = extraction.tool_calls
        assert (call.name in text, call.format, extraction.content) == (True, "functionary", content)


def test_functionary_s_text_before_its_marker_is_content():
    extraction = extract_in_every_chunking(f"all\nOne moment.>>>get_weather\n{ARGUMENTS}", tools=TOOLS)
    assert [call.name for call in extraction.tool_calls] == ["get_weather"]
    assert extraction.content == "all\nOne moment."


NO_FUNCTIONARY = {
    "another name": f"get_news\n{ARGUMENTS}",
    "a name in a sentence": f"I use get_weather\n{ARGUMENTS}",
    "a name and a colon": f"get_weather:\n{ARGUMENTS}",
    "in a listing": f"```python\nx = 1\nget_weather\n{ARGUMENTS}\n```",
    "quoted": f"> get_weather\n> {ARGUMENTS}",
}


@pytest.mark.parametrize("text", NO_FUNCTIONARY.values(), ids=NO_FUNCTIONARY)
def test_anything_else_is_not_functionary_s(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert not extract_in_every_chunking(f"get_weather\n{ARGUMENTS}").tool_calls, "without tools"


REFUSED = {
    "an opening alone": ("<function=f>", None),
    "a tag that is spoken of": ("Use <function=name> tags.", None),
    "nothing in it": ("<function=f></function>", None),
    "prose after the object": ('<function=f>{"a": 1} oops</function>', "malformed"),
    "malformed arguments": ('<function=f>{"a": oops}</function>', "malformed"),
    "cut off": ('<function=f>{"a": 1', "truncated"),
    "cut off in a string": ('<function=f>{"a": "</function>', "truncated"),
    "too deep": (f'<function=f>{{"a": {"[" * 200}{"]" * 200}}}</function>', "too_deep"),
    "an array": ("<function=f>[1]</function>", None),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_function_tag_around_anything_but_one_object_is_text(text: str, reason: str | None):
    extraction = extract_in_every_chunking(text, is_sampled=len(text) > 200)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    expected = [] if reason is None else [(reason, "f", True)]
    assert [(str(one.reason), one.name, one.is_attempt) for one in extraction.rejections] == expected


def test_rule_7_an_open_function_tag_is_no_call_if_a_limit_ended_the_output():
    extraction = extract_in_every_chunking(f"<function=get_weather>{ARGUMENTS}", complete=False, tools=TOOLS)
    assert not extraction.tool_calls
    assert [(str(one.reason), one.name) for one in extraction.rejections] == [("truncated", "get_weather")]


@pytest.mark.parametrize("arguments", ['{"path": "/"}', "{}"])
def test_a_function_tag_names_a_declared_tool_or_stays_text(arguments: str):
    text = f"<function=rm>{arguments}</function> <function=clock>{{}}</function>"
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert [call.name for call in extraction.tool_calls] == ["clock"]
    assert extraction.content == f"<function=rm>{arguments}</function>"
    assert [(str(one.reason), one.name) for one in extraction.rejections] == [("unknown_tool", "rm")]


EMPTY = ["<function=clock></function>", "<function=clock>\n</function>", '<function name="clock"></function>']


@pytest.mark.parametrize("text", EMPTY)
def test_rule_1_a_function_tag_of_a_declared_tool_that_requires_no_argument_may_be_empty(text: str):
    extraction = extract_in_every_chunking(f"One {text}", tools=TOOLS)
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments, call.arguments_json, call.format) == ("clock", {}, "{}", "function")
    assert (extraction.content, call.span) == ("One", (4, 4 + len(text)))


MEANT = {
    "a word": ("<function=clock>None</function>", "malformed", "clock"),
    "another form of arguments": ("<function=get_weather>city=Paris</function>", "malformed", "get_weather"),
    "the same on lines of its own": ("<function=get_weather>\ncity=Paris\n</function>", "malformed", "get_weather"),
    "no arguments": ("<function=get_weather></function>", "missing_arguments", "get_weather"),
}


@pytest.mark.parametrize(("text", "reason", "name"), MEANT.values(), ids=MEANT)
def test_rule_15_a_closed_function_tag_of_a_declared_tool_is_an_attempt(text: str, reason: str, name: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [(str(one.reason), one.name, one.is_attempt) for one in extraction.rejections] == [(reason, name, True)]


def test_rule_15_a_function_tag_ends_for_its_rejection_where_another_begins():
    text = '<function=get_weather>`{"name": "clock", "arguments": {}}` {"city":: 1}</function>'
    rejections = extract_in_every_chunking(text, tools=TOOLS).rejections
    assert [text[slice(*one.span)] for one in rejections] == [
        "<function=get_weather>`",
        '{"name": "clock", "arguments": {}}',
        '{"city":',
    ]


IN_A_TAG = ["So: {}", "{{'city': 'run {} now'}}", "{{city: `{}`}}"]


@pytest.mark.parametrize("written", IN_A_TAG)
def test_rule_6_an_object_in_a_function_tag_of_anything_else_is_a_part_of_its_arguments(written: str):
    call = '{"name": "clock", "parameters": {"zone": "CET"}}'
    text = f"<function=get_weather>{written.format(call)}</function>"
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert {"clock", "get_weather"} == {rejection.name for rejection in extraction.rejections}
    after = extract_in_every_chunking(f"I use <function=get_weather>.\n{call}", tools=TOOLS)
    assert [one.name for one in after.tool_calls] == ["clock"]


@pytest.mark.parametrize("written", ["[clock()]", "\nclock()\n", "<parameter=city>\nclock()\n</parameter>"])
def test_a_pythonic_call_in_a_function_tag_is_a_part_of_its_arguments(written: str):
    text = f"<function=get_weather>{written}</function>"
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert "clock" in {rejection.name for rejection in extraction.rejections}


XML = {
    "lines": "<function=get_weather>\n<parameter=city>\n{}\n</parameter>\n</function>",
    "one line": "<function=get_weather><param name='city'>{}</param></function>",
    "in a tag": "<tool_call>\n<function=get_weather>\n<arg>{}</arg>\n</function>\n</tool_call>",
    "in a fence": "```\n<function=get_weather>\n<parameter=city>{}</parameter></function>\n```",
    "never closed": "<function=get_weather>\n<parameter=city>\n{}",
}
IN_XML = [
    '{"name": "clock", "parameters": {}}',
    '<tool_call>{"name": "clock", "parameters": {}}</tool_call>',
]


@pytest.mark.parametrize("call", IN_XML)
@pytest.mark.parametrize("written", XML.values(), ids=XML)
@pytest.mark.parametrize("tools", [TOOLS, None], ids=["declared", "any"])
def test_rule_6_a_call_in_an_argument_in_xml_is_quoted(written: str, call: str, tools: list[dict[str, object]] | None):
    text = written.format(call)
    extraction = extract_in_every_chunking(text, tools=tools, is_sampled=True)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    (attempt,) = extraction.attempts
    assert (str(attempt.reason), attempt.name) == ("malformed", "get_weather")
    (quoted,) = (one for one in extraction.rejections if one is not attempt)
    assert (str(quoted.reason), quoted.detail, quoted.name) == ("quoted", "in a tag with arguments in XML", "clock")


def test_after_a_tag_with_arguments_in_xml_calls_are_made():
    text = f"{XML['in a tag'].format('x')}\n<function=get_weather>{ARGUMENTS}</function>"
    assert [call.name for call in extract_in_every_chunking(text, tools=TOOLS).tool_calls] == ["get_weather"]


def test_a_tag_that_is_text_is_no_attempt_once_a_call_was_made():
    text = '<function=clock> is a tag.\n{"name": "clock", "parameters": {}}\n</function>'
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert ([call.name for call in extraction.tool_calls], extraction.rejections) == (["clock"], ())


def test_rule_15_a_dict_of_python_in_a_function_tag_is_an_attempt():
    text = "<function=f>{'name': 'f', 'parameters': {'a': 1}}</function>"
    extraction = extract_in_every_chunking(text, tools=[{"name": "f"}])
    assert extraction.tool_calls == ()
    assert extraction.content == text
    assert [(one.span, one.name) for one in extraction.attempts] == [((0, 12), "f"), ((12, 49), "f")]


def test_rule_6_a_malformed_function_tag_hides_no_call_after_it():
    text = '<function=f>{"a": oops}</function> <function=g>{"b": 1}</function>'
    extraction = extract_in_every_chunking(text)
    assert [call.name for call in extraction.tool_calls] == ["g"]
    assert extraction.content == '<function=f>{"a": oops}</function>'


def test_prose_after_a_function_tag_flows():
    prose = "<function=get_weather> is a tag"
    assert Extractor(tools=TOOLS).stream().feed(prose + " ") == [TextDelta(prose)]
