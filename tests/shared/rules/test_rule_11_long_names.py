"""Names of up to 128 characters, as tools of MCP servers have them, are read in every form (rules 11 and 14)."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import RejectionReason, Tool, render_tool_call, render_tool_result
from llama3_tools.limits import LONGEST_NAME

MCP = "mcp__github_enterprise_cloud__repositories_create_or_update_file_contents"
NAMES = {
    len(name): name for name in (MCP, f"{MCP}__{'in_a_branch_of_a_fork' * 3}"[:LONGEST_NAME].ljust(LONGEST_NAME, "x"))
}
FORMS = {
    "JSON": '{"name": "NAME", "parameters": {"a": 1}}',
    "a tag": '<tool_call>{"name": "NAME", "parameters": {"a": 1}}</tool_call>',
    "<function=NAME>": '<function=NAME>{"a": 1}</function>',
    "<function name=>": '<function name="NAME">{"a": 1}</function>',
    "<function=NAME{": '<function=NAME {"a": 1}</function>',
    "<function.NAME": '<function.NAME{"a": 1}</function>',
    "<function(NAME)": '<function(NAME)>{"a": 1}<function>',
    "functools": 'functools[{"name": "NAME", "arguments": {"a": 1}}]',
    "Functionary": 'NAME\n{"a": 1}',
    "Functionary, in a line": 'all\nI look.>>>NAME \r\n\n{"a": 1}',
    "Functionary, with all white space": 'NAME    \r\n        {"a": 1}',
    "a list": "[ NAME (a=1)]",
    "a list after prose": "Let me see. [NAME(a=1)]",
    "two in a list": "[NAME(a=1), NAME(a=1)]",
    "a line": "NAME(a=1)",
    "a line after prose": "Let me see.\n  NAME(a=1)\nSo.",
    "a line, as a built-in tool": "NAME.call(a=1)",
    "a list, as a built-in tool": "[NAME.call(a=1)]",
    "a code span": "`NAME(a=1)`",
    "bold": "1. **NAME(a=1)**",
    "a fence": "```\nNAME(a=1)\n```",
    "Llama 4's tokens": "<|python_start|>[NAME(a=1)]<|python_end|>",
    "a token": "<|python_tag|>NAME.call(a=1)<|eom_id|>",
}
PYTHONIC = [form for form in FORMS.values() if form.count("NAME") == 1 and "(a=1)" in form and "<|" not in form]
REJECTED = {
    "a bad value": "[NAME(a=b)]",
    "a list in code": "x = [NAME(a=1)]",
    "a list of a name": '["NAME", {"a": 1}]',
    "a name in prose": "NAME(a=1) is a call.",
    "a string": "['NAME(a=1)']",
    "an empty tag": "<function=NAME>a=1</function>",
    "a listing": "```python\nprint(1)\nNAME(a=1)\n```",
    "broken JSON": '{"name": "NAME", "parameters": {oops',
    "escaped, in broken JSON": '{"name": "ESCAPED", "parameters": {oops',
}


def tool(name: str) -> Tool:
    return Tool(name, parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})


@pytest.mark.parametrize("length", NAMES)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_long_names_are_read(form: str, length: int):
    name = NAMES[length]
    assert len(name) == length
    extraction = extract_in_every_chunking(form.replace("NAME", name), tools=[tool(name)])
    called = [(call.name, call.arguments) for call in extraction.tool_calls]
    assert called == [(name, {"a": 1})] * form.count("NAME")
    assert extraction.rejections == ()


@pytest.mark.parametrize("length", NAMES)
@pytest.mark.parametrize("text", REJECTED.values(), ids=REJECTED)
def test_rejections_have_long_names(text: str, length: int):
    name = NAMES[length]
    escaped = "".join(f"\\u{ord(char):04x}" for char in name)
    text = text.replace("NAME", name).replace("ESCAPED", escaped)
    rejection = extract_in_every_chunking(text, tools=[tool(name)]).rejections[0]
    assert rejection.name == name


@pytest.mark.parametrize("length", NAMES)
def test_a_repeated_result_of_a_long_name_is_quotation(length: int):
    name = NAMES[length]
    result = render_tool_result(name, '{"name": "f", "parameters": {}}')
    (rejection,) = extract_in_every_chunking(result, tools=[tool(name), tool("f")]).rejections
    assert (rejection.reason, rejection.name) == (RejectionReason.QUOTED, "f")


@pytest.mark.parametrize("length", NAMES)
@pytest.mark.parametrize("prompt_format", ["json", "function", "pythonic"])
def test_long_names_are_rendered_as_they_are_read(prompt_format, length: int):  # noqa: ANN001
    name = NAMES[length]
    text = render_tool_call(name, {"a": 1}, prompt_format=prompt_format)
    assert text.startswith({"json": "{", "function": "<function=", "pythonic": "["}[prompt_format])
    assert [call.name for call in extract_in_every_chunking(text, tools=[tool(name)]).tool_calls] == [name]


@pytest.mark.parametrize("length", [LONGEST_NAME + 1, LONGEST_NAME + len(".call"), LONGEST_NAME + len(".call") + 1])
def test_longer_names_are_read_in_json_only(length: int):
    name = "x" * length
    tools = [tool(name)]
    for text in (FORMS["JSON"], FORMS["a tag"], FORMS["functools"]):
        assert extract_in_every_chunking(text.replace("NAME", name), tools=tools).tools_called
    for text in (FORMS["<function=NAME>"], FORMS["Functionary"]):
        extraction = extract_in_every_chunking(text.replace("NAME", name), tools=tools)
        assert extraction.rejections
        assert not extraction.tools_called
    for text in [form.replace("NAME", name) for form in PYTHONIC]:
        extraction = extract_in_every_chunking(text, tools=tools)
        assert (extraction.content, extraction.tool_calls, extraction.rejections) == (text, (), ())
    for prompt_format in ("function", "pythonic"):
        assert render_tool_call(name, {"a": 1}, prompt_format=prompt_format).startswith("{")
