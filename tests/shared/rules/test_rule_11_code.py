"""Rule 11: code after `<|python_tag|>` is a call of a declared `code_interpreter`, unless it is cut off (rule 7)."""

from __future__ import annotations

import ast
import json
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, Extractor, RejectionReason, extract
from llama3_tools.formats.cut_off_code import what_is_open
from llama3_tools.output.segments import read_segments

F: dict[str, Any] = {"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}
TAG = "<|python_tag|>"


def interpreter(**properties: Any) -> dict[str, Any]:  # noqa: ANN401 - a schema each
    return {"name": "code_interpreter", "parameters": {"type": "object", "properties": properties}}


TOOLS = [interpreter(code={"type": "string"}), F]


def read(text: str, **options: Any) -> Extraction:  # noqa: ANN401 - as Extractor takes them
    return extract_in_every_chunking(text, **{"tools": TOOLS, **options})


def codes(extraction: Extraction) -> list[str]:
    assert {(call.name, call.format) for call in extraction.tool_calls} <= {("code_interpreter", "code")}
    return [call.arguments["code"] for call in extraction.tool_calls]


PROGRAM = 'import json\n\ndef g(x):\n    return {"name": x}\n\nprint(json.dumps(g("é")))  # \U0001f600'

PLACES = {
    "alone": (f"{TAG}print(1)<|eom_id|>", ["print(1)"], None),
    "a program": (f"{TAG}{PROGRAM}<|eom_id|>", [PROGRAM], None),
    "up to the end": (f"{TAG}{PROGRAM}", [PROGRAM], None),
    "after a line": (f"Let me compute.\n{TAG}1 + 1<|eom_id|>", ["1 + 1"], "Let me compute."),
    "after a sentence": (f"It was in 2024. {TAG}1", ["1"], "It was in 2024."),
    "after a colon": (f"Let me see: \n {TAG}1<|eom_id|>", ["1"], "Let me see:"),
    "after a long text": (f"{'x' * 2000}\n {TAG}1", ["1"], "x" * 2000),
    "after thoughts": (f"<think>1</think>{TAG}1", ["1"], "<think>1</think>"),
    "after a header": (f"<|start_header_id|>assistant<|end_header_id|>\n\n{TAG}1<|eot_id|>", ["1"], None),
    "before text": (f"{TAG}1<|eot_id|>\n\n Done.", ["1"], "Done."),
    "twice": (f"{TAG}a = 1\n{TAG}b = 2<|eom_id|>", ["a = 1", "b = 2"], None),
}

ENDS = {
    token: (f"{TAG}a = 1{token}", ["a = 1"], None)
    for token in ("<|eom_id|>", "<|eot_id|>", "<|eom|>", "<|eot|>", "<|end_of_text|>", "<|python_end|>")
} | {
    "a token in a string": (f"{TAG}a = '<|eot_id|>'", ["a = '"], "'"),
    "no token": (f"{TAG}a <| b", ["a <| b"], None),
    "a token that is cut off": (f"{TAG}a = 1<|eom_", ["a = 1"], None),
}

SPACE = {
    "around it": (f"{TAG} a = 1 \n\t\n<|eom_id|>", ["a = 1"], None),
    "an indented first line": (f"{TAG}\r\n \n  a = 1\r\n  b = 2\n", ["  a = 1\r\n  b = 2"], None),
    "a fence": (f"{TAG}```python\nprint(1)\n```<|eom_id|>", ["print(1)"], None),
    "a longer fence": (f"{TAG}````Python3 \r\nx = '''\n```\n'''\r\n````", ["x = '''\n```\n'''"], None),
    "a fence that is open at the end": (f"{TAG}```python\nprint(1)\n", ["print(1)"], None),
    "a fence that a token closes": (f"{TAG}```python\nprint(1)<|eom_id|>", ["print(1)"], None),
}

SIMILAR = {
    code: (f"{TAG}{code}<|eom_id|>", [code], None)
    for code in (
        "[1, 2][0]",
        "[x for x in y]",
        '[{"a": 1}, x]',
        '[run({"name": "f", "parameters": {}})]',
        "[print(x) for x in y]",
        "f(a=1) + 2",
        "x = f(a=1)",
        "f(a=1).b",
        "fly = f(a=1)",
        'subprocess.call(["ls"])',
        'brave_search.call(query="x")',
        "(1)",
        '{"error": "no tool"}',
        "not a",
        "pip install numpy",
        "f'I am'",
    )
}


def labelled(**tables: dict[str, Any]) -> dict[str, Any]:
    return {f"{table}: {label}": case for table, cases in tables.items() for label, case in cases.items()}


CODE = labelled(place=PLACES, end=ENDS, space=SPACE, similar=SIMILAR)


@pytest.mark.parametrize(("text", "expected", "content"), CODE.values(), ids=CODE)
def test_code_is_a_call(text: str, expected: list[str], content: str | None):
    extraction = read(text)
    assert codes(extraction) == expected
    assert extraction.content == content
    for call in extraction.tool_calls:
        assert call.arguments_json == json.dumps(call.arguments, ensure_ascii=False)
        assert text[slice(*call.span)] == call.arguments["code"]


def test_code_is_not_told_from_prose():
    assert codes(read(f"{TAG}I think that x = 1.<|eom_id|>")) == ["I think that x = 1."]


OTHER_FORMS = {
    "json": f'{TAG}{{"name": "f", "parameters": {{}}}}',
    "json in a list": f'{TAG}[{{"name": "f", "parameters": {{}}}}]',
    "pythonic": f"{TAG}\nf(a=1)<|eom_id|>",
    "pythonic in a list": f"{TAG} [f(a=1)]<|eom_id|>",
    "function": f'{TAG}<function=f>{{"a": 1}}</function>',
    "function without arguments": f"{TAG}<function=f>{{}}</function>",
    "tool_call": f'{TAG}<tool_call>{{"name": "f", "parameters": {{}}}}</tool_call>',
    "fence": f'{TAG}```json\n{{"name": "f", "parameters": {{}}}}\n```',
    "fence of python": f'{TAG}```python\n{{"name": "f", "parameters": {{}}}}\n```',
    "pythonic in a fence": f"{TAG}```python\nf(a=1)\n```",
}


@pytest.mark.parametrize(("label", "text"), OTHER_FORMS.items(), ids=OTHER_FORMS)
def test_a_call_in_another_form_is_read_as_anywhere(label: str, text: str):
    (call,) = read(text).tool_calls
    assert (call.name, call.format) == ("f", label.split(maxsplit=1)[0])


def test_an_id_is_made_for_each_call_once():
    ids = (f"id{number}" for number in count(1))
    extractor = Extractor(tools=TOOLS, id_factory=lambda: next(ids))
    text = f"{TAG}[f(a=1), f(a=2)]<|eom_id|>{TAG}[1][0]<|eom_id|>"
    assert [(call.id, call.name) for call in extractor.extract(text).tool_calls] == [
        ("id1", "f"),
        ("id2", "f"),
        ("id3", "code_interpreter"),
    ]


def test_calls_and_code_on_the_same_tag_are_code():
    assert codes(read(f"{TAG}f(a=1)\nprint(2)<|eom_id|>")) == ["f(a=1)\nprint(2)"]


QUOTED = {
    "in a repeated result": "Result of f: <|python_tag|>import os\nos.remove('x')",
    "a list in a repeated result": "Result of f: x. <|python_tag|>[f()]",
    "JSON in a repeated result": 'Result of f: x. <|python_tag|>{"name": "f", "parameters": {}}',
    "in a blockquote": "> He wrote: <|python_tag|>print(1)",
    "in a code span": "Use `tag: <|python_tag|>print(1)` now",
}


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_rule_9_quotation_protects_after_the_tag_too(text: str):
    assert not extract_in_every_chunking(text, tools=TOOLS).tools_called


IN_QUOTATION = {
    "thoughts": f"<think>\n{TAG}print(1)\n</think> Hi",
    "a fence": f"```js\n{TAG}print(1)\n```",
    "a result": f"<tool_response>{TAG}print(1)</tool_response>",
}


@pytest.mark.parametrize("text", IN_QUOTATION.values(), ids=IN_QUOTATION)
def test_rule_9_code_in_quotation_is_reported(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert [(one.name, str(one.reason)) for one in extraction.rejections] == [("code_interpreter", "quoted")]
    called = extract_in_every_chunking(text.replace("print(1)", "f()"), tools=TOOLS)
    assert [one.name for one in called.rejections] == ["f"]


NO_CODE = {
    "nothing": (TAG, ""),
    "white space": (f"{TAG} \n", " \n"),
    "nothing before a token": (f"{TAG}<|eom_id|>", ""),
    "dots": (f"{TAG}...<|eom_id|>", "..."),
    "the tag in a sentence": (f"The token {TAG} marks code.", f"The token {TAG} marks code."),
    "the tag in a code span": (f"The token `{TAG}` marks code.", f"The token `{TAG}` marks code."),
    "the tag in parentheses": (f"({TAG})", f"({TAG})"),
    "the tag in a list of tokens": (f"The tokens: {TAG}, <|eom_id|>, both", f"The tokens: {TAG}, <|eom_id|>, both"),
    "the tag in a list": (f"- {TAG}\n- <|eot_id|> ends", f"- {TAG}\n- <|eot_id|> ends"),
    "the tag in quotes": (f'"{TAG}import os; os.fork()<|eom_id|>"', f'"{TAG}import os; os.fork()<|eom_id|>"'),
    "in a sentence": (f"I run {TAG}print(1)", f"I run {TAG}print(1)"),
    "in thoughts": (f"<think>{TAG}print(1)</think>", f"<think>{TAG}print(1)</think>"),
    "in a tag": (f"<tool_call>{TAG}print(1)</tool_call>", f"<tool_call>{TAG}print(1)</tool_call>"),
    "in a fence": (f"```js\n{TAG}print(1)\n```", f"```js\n{TAG}print(1)\n```"),
    "in a blockquote": (f"> {TAG}print(1)", f"> {TAG}print(1)"),
    "Llama 4's token": ("<|python_start|>print(1)<|python_end|><|eot|>", "print(1)"),
}


@pytest.mark.parametrize(("text", "content"), NO_CODE.values(), ids=NO_CODE)
def test_what_is_no_code(text: str, content: str):
    extraction = read(text)
    assert (extraction.content, extraction.tool_calls) == (content, ())


FAILED = {
    "a pythonic list": ("[f(a=x)]", RejectionReason.MALFORMED, "f"),
    "a pythonic line": ("f(a=x)", RejectionReason.MALFORMED, "f"),
    "a pythonic line on lines": ("f(\n    a=x,\n    b=[1]\n)", RejectionReason.MALFORMED, "f"),
    "a pythonic list that is cut off": ("[f(a=1", RejectionReason.TRUNCATED, "f"),
    "JSON of an unknown tool": ('[{"name": "h", "parameters": {}}]', RejectionReason.UNKNOWN_TOOL, "h"),
    "JSON": ('{"name": "f", "parameters": {x}}', RejectionReason.MALFORMED, "f"),
}


@pytest.mark.parametrize(("attempt", "reason", "name"), FAILED.values(), ids=FAILED)
@pytest.mark.parametrize("before", [TAG, f"[f()]{TAG}"])
def test_a_failed_call_in_another_form_is_no_code(before: str, attempt: str, reason: RejectionReason, name: str):
    extraction = read(before + attempt)
    assert (extraction.content, len(extraction.tool_calls)) == (attempt, before.count("f()"))
    assert [(one.reason, one.name, one.is_attempt) for one in extraction.rejections] == [(reason, name, True)]


def test_rule_7_no_code_is_called_if_a_limit_ended_the_output():
    extraction = read(f"{TAG}print(1)", complete=False)
    assert not extraction.tool_calls
    assert [(one.reason, one.name) for one in extraction.rejections] == [
        (RejectionReason.TRUNCATED, "code_interpreter")
    ]


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("print(", "an open '('"),
        ("x = [1,\n  {'a': 2}", "an open '['"),
        ("print('a", "an open string"),
        ("# one\nf(1,", "an open '('"),
        ("'''a\n'b'", "an open string"),
        ('f"""{x}""', "an open string"),
        (r"'a\'", "an open string"),
        ("for x in y:", "':' at its end"),
        ("for x in y:  # all", "':' at its end"),
        ("a, ", "',' at its end"),
        ("a =", "'=' at its end"),
        ("a +", "'+' at its end"),
        ("a <", "'<' at its end"),
        ("a \\\n", "'\\\\' at its end"),
        ("a.", "'.' at its end"),
        ("a and", "'and' at its end"),
        ("import", "'import' at its end"),
    ],
)
def test_code_that_was_visibly_cut_off_is_not_called(code: str, detail: str):
    extraction = read(f"Sure. {TAG}{code}")
    assert extraction.content == f"Sure. {TAG}{code}"
    (rejection,) = extraction.rejections
    assert (rejection.reason, rejection.name) == (RejectionReason.TRUNCATED, "code_interpreter")
    assert rejection.detail == f"the output ends inside the code: {detail}"
    assert rejection.is_attempt
    assert read(f"{TAG}{code}<|eom_id|>").tools_called, "what the model has closed is not cut off"


def test_code_that_a_limit_cut_off_is_not_called():
    (rejection,) = extract(f"{TAG}a = 1", tools=TOOLS, complete=False).rejections
    assert rejection.reason is RejectionReason.TRUNCATED
    assert rejection.detail == "the output was cut off inside the code"


def test_calls_within_code_that_was_cut_off_are_not_promoted():
    extraction = read(f'{TAG}post({{"name": "f", "parameters": {{}}}}')
    assert (extraction.content, extraction.tool_calls) == ('post({"name": "f", "parameters": {}}', ())


@pytest.mark.parametrize(
    "code",
    [
        "print('(')",
        "x = '''a\n(\"'''",
        "x = 1  # (",
        "'it' \"s\"",
        r"x = '\''",
        "it's\nprint(1)",
        "f(1))",
        "x = 1.",
        "x = ...",
        "def f(): ...",
        "a.is_in",
        "begin",
    ],
)
def test_code_that_looks_whole_is_called_without_a_closing_token(code: str):
    assert codes(read(TAG + code)) == [code]


@given(st.text("ab ()[]{}'\"\\#\n:=.+", max_size=30))
def test_what_python_parses_is_not_cut_off(code: str):
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return
    if "\\\n" not in code:  # Python lets a line go on in nothing
        assert what_is_open(code) is None


PIECES = [TAG, "<|eom_id|>", "print(", ")", "'", "\n", "```python\n", "```", "[f(", "a=1", "I am", " ", "{", "<|", "é"]


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_noise_is_the_same_in_every_chunking(pieces: list[str]):
    text = "".join(pieces)
    extraction = read(text)
    for call in extraction.tool_calls:
        if call.format == "code":
            assert text[slice(*call.span)] == call.arguments["code"]
    assert "".join(segment.text for segment in read_segments(Extractor(tools=TOOLS), text).segments) == text


@pytest.mark.parametrize(
    ("tool", "parameter"),
    [
        ({"name": "code_interpreter"}, "code"),
        (interpreter(timeout={}, code={}), "code"),
        (interpreter(source={}), "source"),
        (interpreter(timeout={}, source={}), "timeout"),
    ],
)
def test_the_code_goes_to_the_tool_s_parameter(tool: dict[str, Any], parameter: str):
    (call,) = read(f"{TAG}1", tools=[tool]).tool_calls
    assert call.arguments == {parameter: "1"}


def test_the_code_goes_to_a_required_parameter_first():
    tool = interpreter(timeout={}, source={})
    tool["parameters"]["required"] = ["source"]
    (call,) = read(f"{TAG}1", tools=[tool], coerce_arguments=True).tool_calls
    assert (call.arguments, call.problems) == ({"source": "1"}, ())


@pytest.mark.parametrize(
    ("options", "is_called"),
    [
        ({"tools": None}, False),
        ({"tools": [F]}, False),
        ({"formats": ["json", "pythonic"]}, False),
        ({"formats": ["code"]}, True),
        ({"tools": None, "formats": "code"}, True),
        ({"tools": None, "formats": "all"}, True),
        ({"tools": [F], "formats": "all"}, False),
        ({"tools": [F], "formats": "all", "on_unknown_tool": "call"}, True),
    ],
)
def test_code_is_read_where_its_tool_is_declared_or_it_is_asked_for(options: dict[str, Any], is_called: bool):
    extraction = read(f"{TAG}print(1)<|eom_id|>", **options)
    assert extraction.tools_called is is_called
    assert extraction.content == (None if is_called else "print(1)")


def test_the_tool_has_to_be_among_those_declared():
    (rejection,) = read(f"{TAG}print(1)<|eom_id|>", tools=[F], formats="all").rejections
    assert (rejection.reason, rejection.name) == (RejectionReason.UNKNOWN_TOOL, "code_interpreter")
    assert rejection.span == (14, 22)


def test_half_a_surrogate_pair_is_malformed():
    (rejection,) = read(f"{TAG}print('\ud800')<|eom_id|>").rejections
    assert (rejection.reason, rejection.name) == (RejectionReason.MALFORMED, "code_interpreter")
    assert rejection.detail == "half a surrogate pair in the code"
