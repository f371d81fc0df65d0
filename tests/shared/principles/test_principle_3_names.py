"""Principle 3: an object is the arguments of the declared tool whose name is before it."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from told import CLOCK, DELETE, TOOLS, called, calls, refused, tool

NAMED = {
    "a line": 'f\n{"a": 1}',
    "a line of Windows": 'f \r\n{"a": 1}',
    "an empty line": 'f\n\n{"a": 1}',
    "Functionary's marker": '>>>f\n{"a": 1}',
    "directly": 'f{"a": 1}',
    "a blank": 'f {"a": 1}',
    "a colon": 'f: {"a": 1}',
    "an equals sign": 'f = {"a": 1}',
    "a comma": 'f, {"a": 1}',
    "a parenthesis": 'f({"a": 1})',
    "a fence": 'f\n```json\n{"a": 1}\n```',
    "a name in brackets": '[f]\n{"a": 1}',
    "a name in brackets and LM Studio's end": '[f]\n{"a": 1}\n[END_TOOL_REQUEST]',
    "in a tag": '<tool_call>f {"a": 1}</tool_call>',
    "in a tag, on lines": '<tool_call>f\n{"a": 1}\n</tool_call>',
    "in a tag that is its name": '<f>{"a": 1}</f>',
    "in a tag, parentheses": '<tool_call>f({"a": 1})</tool_call>',
    "after a token": '<|python_tag|>f {"a": 1}<|eom_id|>',
    "Groq's, cut off at its beginning": 'f{"a": 1}</function>',
    "the documented tag": '<function=f>{"a": 1}</function>',
    "white space in it": '<function=f>\n{"a":\n1}\n</function>\n',
    "a brace too many": '<function=f>{"a": 1}}</function>',
    "not closed": '<function=f>{"a": 1}',
    "closed by a token": '<function=f>{"a": 1}<|eot_id|>',
    "closed twice": '<function=f>{"a": 1}></function></function>',
    "in a fence ": '```\n<function=f>{"a": 1}</function>\n```',
    "the name as an attribute": '<function name="f">{"a": 1}</function>',
    "no bracket": '<function=f{"a": 1}</function>',
    "a blank, no bracket": '<function=f {"a": 1} </function>',
    "an equals sign, no bracket": '<function=f={"a": 1}></function>',
    "a line break, no bracket": '<function=f\n  {"a": 1}</function>',
    "a dot": '<function.f>{"a": 1}</function>',
    "a dot, no bracket": '<function.f{"a": 1}',
    "parentheses": '<function(f)>{"a": 1}</function>',
    "parentheses, no bracket": '<function(f){"a": 1}>',
    "Groq's parentheses": '<function=f({"a": 1})</function>',
    "Groq's comma": '<function=f,{"a": 1}</function>',
    "a bracket": '<function=f]{"a": 1}</function>',
    "quotes": '<function="f">{"a": 1}</function>',
    "a colon in the tag": '<function:f>{"a": 1}</function>',
}


@pytest.mark.parametrize("text", NAMED.values(), ids=NAMED)
def test_the_name_of_a_declared_tool_makes_a_call_of_an_object(text: str):
    for before, content in (("", None), ("One moment.\n", "One moment.")):
        extraction = extract_in_every_chunking(before + text, tools=TOOLS)
        assert (calls(extraction), extraction.content, refused(extraction)) == ([("f", {"a": 1})], content, "")
        (call,) = extraction.tool_calls
        written = (before + text)[slice(*call.span)]
        assert written.startswith(("f", "[f", "<f", "<function", '{"a"')), written
        assert written.endswith(("}", ")")), written
    if "<function=f>" not in text and "name=" not in text:
        assert not extract_in_every_chunking(text, is_sampled=True).tools_called, "without tools"


@pytest.mark.parametrize("name", ["math.factorial", "mcp:tool/run", "get-weather", "wetter_für", "function", "x" * 128])
@pytest.mark.parametrize(
    "form", ["<function=N>{}</function>", "<function=N{}", "N\n{}", "[N]\n{}", "N({})", ">>>N\n{}"]
)
def test_a_name_is_any_that_tools_have(form: str, name: str):
    extraction = extract_in_every_chunking(form.replace("N", name), tools=[tool(name)], is_sampled=len(name) > 100)
    assert [(call.name, call.arguments_json) for call in extraction.tool_calls] == [(name, "{}")]


def test_a_name_of_more_than_128_characters_is_read_in_json_alone():
    name = "x" * 129
    for form in ("<function=N>{}</function>", "N\n{}", "[N()]", "N()"):
        extraction = extract_in_every_chunking(form.replace("N", name), tools=[tool(name)], is_sampled=True)
        assert not extraction.tools_called
    assert extract_in_every_chunking(f'{{"name": "{name}", "parameters": {{}}}}', tools=[tool(name)]).tools_called


WHOLE = {
    "its own": '{"name": "f", "parameters": {"a": 1}}',
    "OpenAI's": '{"name": "f", "arguments": {"a": 1}}',
}


@pytest.mark.parametrize("held", WHOLE.values(), ids=WHOLE)
def test_a_whole_call_after_its_own_name_is_that_call(held: str):
    for form in ("<function=f>{}</function>", "<function=f{}</function>", "f\n{}", "<tool_call>f {}</tool_call>"):
        (call,) = extract_in_every_chunking(form.replace("{}", held), tools=TOOLS).tool_calls
        assert (call.name, call.arguments) == ("f", {"a": 1})
        assert "a whole call follows the name" in call.deviations


ARGUMENTS = {
    "a call of another tool": DELETE,
    "a call that is none": '{"name": "f", "parameters": 5}',
    "a name and an argument": '{"name": "f", "a": 1}',
    "another key": '{"tool_name": "f", "parameters": {"a": 1}}',
}


@pytest.mark.parametrize("held", ARGUMENTS.values(), ids=ARGUMENTS)
def test_anything_else_there_is_arguments_and_never_called_itself(held: str):
    for form in ("<function=f>{}</function>", "<function=f({})</function>", "f\n{}", "f,{}", "f:{}", "[f]\n{}"):
        (call,) = extract_in_every_chunking(form.replace("{}", held), tools=TOOLS).tool_calls
        assert (call.name, call.arguments_json) == ("f", held), form


def test_a_tool_may_have_a_parameter_name():
    (call,) = extract_in_every_chunking(
        f"<function=f>{WHOLE['its own']}</function>", tools=[tool("f", "name")]
    ).tool_calls
    assert call.arguments_json == WHOLE["its own"]


EMPTY = ["<function=clock></function>", "<function=clock>\n</function>", '<function name="clock"></function>']


@pytest.mark.parametrize("text", EMPTY)
def test_the_tag_of_a_tool_that_requires_nothing_may_be_empty(text: str):
    extraction = extract_in_every_chunking(f"One {text}", tools=TOOLS)
    assert [(call.name, call.arguments_json, call.format) for call in extraction.tool_calls] == [
        ("clock", "{}", "function")
    ]
    assert (extraction.content, refused(extraction)) == ("One", "")


NO_CALLS = {
    "the name in a sentence": ('I use f\n{"a": 1}', True),
    "the name in a sentence, directly": ('I use f{"a": 1}', True),
    "an undeclared name": ('rm\n{"a": 1}', False),
    "the end of a name": ('reef\n{"a": 1}', False),
    "quoted": ('> f\n> {"a": 1}', True),
    "in a code span": ('`f {"a": 1}` is it', True),
    "in a listing": ('```python\nx = 1\nf\n{"a": 1}\n```', True),
    "in thoughts": ('<think>\nf\n{"a": 1}</think>', True),
    "an undeclared misspelt tag": ('<function=rm{"a": 1}</function>', True),
    "an undeclared tag": ('<function=rm>{"a": 1}</function>', True),
    "text in the tag": ("<function=f>oops</function>", True),
    "no object in the tag": ("<function=f>[1]</function>", True),
    "a required argument missing": ("<function=f></function>", True),
    "malformed arguments": ('<function=f>{"a": oops}</function>', True),
    "cut off": ('<function=f>{"a": 1', True),
    "cut off in a string": ('<function=f>{"a": "</function>', True),
    "malformed after the name": ('f\n{"a": oops}', True),
    "a schema": ('f\n{"type": "object", "properties": {}}', True),
    "too deep": (f'<function=f>{{"a": {"[" * 200}{"]" * 200}}}</function>', True),
}


@pytest.mark.parametrize(("text", "is_reported"), NO_CALLS.values(), ids=NO_CALLS)
def test_anything_else_is_text_and_reported(text: str, *, is_reported: bool):
    extraction = extract_in_every_chunking(text, tools=TOOLS, is_sampled=len(text) > 200)
    assert (extraction.content, called(extraction)) == (text, "")
    names = {one.name for one in extraction.rejections}
    assert bool(names & {"f", "rm"}) is is_reported


XML = {
    "lines": "<function=f>\n<parameter=a>\n{}\n</parameter>\n</function>",
    "one line": "<function=f><param name='a'>{}</param></function>",
    "in a tag": "<tool_call>\n<function=f>\n<arg>{}</arg>\n</function>\n</tool_call>",
    "in a fence": "```\n<function=f>\n<parameter=a>{}</parameter></function>\n```",
    "never closed": "<function=f>\n<parameter=a>\n{}",
}


@pytest.mark.parametrize("written", XML.values(), ids=XML)
@pytest.mark.parametrize(
    "call", [DELETE, f"<tool_call>{DELETE}</tool_call>", "\ndelete(path='/')\n", "[delete(path='/')]"]
)
def test_arguments_in_xml_are_quotation(written: str, call: str):
    text = written.replace("{}", call)
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, called(extraction)) == (text, "")
    assert [one.name for one in extraction.attempts] == ["f"]
    after = extract_in_every_chunking(f"{XML['in a tag']}\n{CLOCK}", tools=TOOLS)
    assert called(after) == "clock"


@pytest.mark.parametrize("text", ["I use <function=f>.\n%s\n</function>", "<function=f=%s"])
def test_a_call_after_a_tag_that_is_spoken_of(text: str):
    names = called(extract_in_every_chunking(text % CLOCK, tools=TOOLS))
    assert names == ("f" if "=f=" in text else "clock")
