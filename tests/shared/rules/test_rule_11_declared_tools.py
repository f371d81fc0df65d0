"""Rule 11: with declared tools, other names stay text; and what is read only for declared tools, or if asked for."""

from __future__ import annotations

from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction

TOOLS: list[dict[str, Any]] = [
    {"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}},
    {"name": "code_interpreter", "parameters": {"type": "object", "properties": {"code": {"type": "string"}}}},
]


def calls(extraction: Extraction) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in extraction.tool_calls]


FORMS = {
    "json": '{{"name": "{}", "parameters": {{"a": 1}}}}',
    "a list": '[{{"name": "{}", "parameters": {{"a": 1}}}}]',
    "a tag": '<tool_call>{{"name": "{}", "parameters": {{"a": 1}}}}</tool_call>',
    "a function tag": '<function={}>{{"a": 1}}</function>',
    "a fence": '```json\n{{"name": "{}", "parameters": {{"a": 1}}}}\n```',
    "OpenAI's shape": '{{"type": "function", "function": {{"name": "{}", "arguments": "{{\\"a\\": 1}}"}}}}',
    "a pythonic list": "[{}(a=1)]",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_declared_tool_is_called_and_any_other_stays_text(form: str):
    assert calls(extract_in_every_chunking(form.format("f"), tools=TOOLS)) == [("f", {"a": 1})]
    for other in ("rm", "F", "f2", "ff"):
        text = form.format(other)
        extraction = extract_in_every_chunking(text, tools=TOOLS, is_sampled=True)
        assert (extraction.content, extraction.tool_calls) == (text, ())
        assert [(str(one.reason), one.name) for one in extraction.rejections] == [("unknown_tool", other)]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_an_unknown_tool_goes_through_if_that_is_wanted(form: str):
    extraction = extract_in_every_chunking(form.format("rm"), tools=TOOLS, on_unknown_tool="call")
    assert calls(extraction) == [("rm", {"a": 1})]


ONLY_DECLARED = {
    "a pythonic list": "[f(a=1)]",
    "a pythonic line": "f(a=1)",
    "Functionary's form": 'f\n{"a": 1}',
    "code": "<|python_tag|>print(1)<|eom_id|>",
    "a misspelt tag": '<function=f{"a": 1}</function>',
}


@pytest.mark.parametrize("text", ONLY_DECLARED.values(), ids=ONLY_DECLARED)
def test_what_prose_could_be_mistaken_for_is_read_only_for_declared_tools(text: str):
    assert len(extract_in_every_chunking(text, tools=TOOLS).tool_calls) == 1
    assert not extract_in_every_chunking(text).tool_calls
    assert not extract_in_every_chunking(text, tools=[{"name": "other"}]).tool_calls


ASKED_FOR = {
    "pythonic": ("[f(a=1)]", [("f", {"a": 1})]),
    "code": ("<|python_tag|>print(1)<|eom_id|>", [("code_interpreter", {"code": "print(1)"})]),
}


@pytest.mark.parametrize(("format_", "case"), ASKED_FOR.items(), ids=ASKED_FOR)
def test_or_if_it_is_asked_for_by_name(format_: Any, case: tuple[str, Any]):  # noqa: ANN401 - as Extractor takes them
    text, expected = case
    assert calls(extract_in_every_chunking(text, formats=format_)) == expected
    assert calls(extract_in_every_chunking(text, formats="all")) == expected
    assert not extract_in_every_chunking(text, tools=TOOLS, formats="json").tool_calls


def test_a_pythonic_line_is_read_for_declared_tools_alone():
    assert not extract_in_every_chunking("f(a=1)", formats="all").tool_calls


ASKED_NON_CALLS = {
    "values": "The values are [h(0), h(1)].",
    "a link": "See [print()](https://docs.python.org).",
    "an attribute of Rust": '#[serde(rename_all = "camelCase")]',
}


@pytest.mark.parametrize("text", ASKED_NON_CALLS.values(), ids=ASKED_NON_CALLS)
def test_prose_and_code_are_no_calls_of_unknown_tools(text: str):
    for options in ({"tools": TOOLS, "on_unknown_tool": "call"}, {}):
        extraction = extract_in_every_chunking(text, formats="all", **options)
        assert (extraction.content, extraction.tool_calls) == (text, ())
        assert not extraction.attempts
