"""Code behind `<|python_tag|>`: what is a call of `code_interpreter`, and what is not (rules 7, 8, 9, 10 and 11)."""

from __future__ import annotations

import ast
import json
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, Extractor, RejectionReason, TextDelta
from llama3_tools.formats.cut_off_code import what_is_open
from llama3_tools.stream.segments import read_segments

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


@pytest.mark.parametrize(
    ("text", "expected", "content"),
    [
        (f"{TAG}print(1)<|eom_id|>", ["print(1)"], None),
        (f"{TAG}{PROGRAM}<|eom_id|>", [PROGRAM], None),
        (f"{TAG}{PROGRAM}", [PROGRAM], None),
        ("<|python_start|>print(1)<|python_end|><|eot|>", ["print(1)"], None),
        ("<|python_start|>print(1)", ["print(1)"], None),
        (f"Let me compute.\n{TAG}1 + 1<|eom_id|>", ["1 + 1"], "Let me compute."),
        (f"{TAG}1<|eot_id|>\n\n Done.", ["1"], "Done."),
        (f"<|start_header_id|>assistant<|end_header_id|>\n\n{TAG}1<|eot_id|>", ["1"], None),
        # where it begins
        (f"Let me see.{TAG}1<|eom_id|>", ["1"], "Let me see."),
        (f"Let me see: \n {' ' * 30}{TAG}1<|eom_id|>", ["1"], "Let me see:"),
        (f"Let me see\n{' ' * 30}{TAG}1<|eom_id|>", ["1"], "Let me see"),
        (f"{' ' * 30}{TAG}1", ["1"], None),
        (f"{'x' * 2000}\n {TAG}1", ["1"], "x" * 2000),
        (f"It was in 2024. {TAG}1", ["1"], "It was in 2024."),
        (f"<think>1</think>{TAG}1", ["1"], "<think>1</think>"),
        (f"{TAG}a, b = 1, 2", ["a, b = 1, 2"], None),
        (f"{TAG}a: int = 1", ["a: int = 1"], None),
        # what ends it
        *((f"{TAG}a = 1{end}", ["a = 1"], None) for end in ("<|eom_id|>", "<|eot_id|>", "<|eom|>", "<|eot|>")),
        *((f"{TAG}a = 1{end}", ["a = 1"], None) for end in ("<|end_of_text|>", "<|python_end|>", "<|python_start|>")),
        (f"{TAG}a = 1\n{TAG}b = 2<|eom_id|>", ["a = 1", "b = 2"], None),
        (f"{TAG}a = '<|eot_id|>'", ["a = '"], "'"),
        (f"{TAG}a < b", ["a < b"], None),
        (f"{TAG}a <| b", ["a <| b"], None),
        (f"{TAG}a = 1<|eom_", ["a = 1"], None),
        (f"{TAG}a = 1<|", ["a = 1"], None),
        # space around it
        (f"{TAG} a = 1 \n\t\n<|eom_id|>", ["a = 1"], None),
        (f"{TAG}\r\n \n  a = 1\r\n  b = 2\n", ["  a = 1\r\n  b = 2"], None),
        (f"{TAG}\n \r a = 'é'", [" a = 'é'"], None),
        (f"{TAG}\r\r  a = 1", ["  a = 1"], None),
        # a fence of Python
        (f"{TAG}```python\nprint(1)\n```<|eom_id|>", ["print(1)"], None),
        (f"{TAG}\n```py\n\n  a = 1\n  b = 2\n  ```\nDone.", ["  a = 1\n  b = 2"], "Done."),
        (f"{TAG}~~~\nprint('```')\n~~~", ["print('```')"], None),
        (f"{TAG}````Python3 \r\nx = '''\n```\n'''\r\n````", ["x = '''\n```\n'''"], None),
        (f"{TAG}```python\nprint(1)\n``", ["print(1)"], None),
        (f"{TAG}```python\nprint(1)<|eom_id|>", ["print(1)"], None),
        (f"```python\n{TAG}print(1)\n```", ["print(1)"], "```python ```"),
        # what looks like something else
        (f"{TAG}[1, 2][0]<|eom_id|>", ["[1, 2][0]"], None),
        (f"{TAG}[x for x in y]<|eom_id|>", ["[x for x in y]"], None),
        (f'{TAG}[{{"a": 1}}, x]<|eom_id|>', ['[{"a": 1}, x]'], None),
        (f"{TAG}[print(x) for x in y]<|eom_id|>", ["[print(x) for x in y]"], None),
        (f"{TAG}f(a=1) + 2<|eom_id|>", ["f(a=1) + 2"], None),
        (f"{TAG}fly = f(a=1)<|eom_id|>", ["fly = f(a=1)"], None),
        (f'{TAG}subprocess.call(["ls"])<|eom_id|>', ['subprocess.call(["ls"])'], None),
        (f"{TAG}(1)<|eom_id|>", ["(1)"], None),
        (f"{TAG}not a<|eom_id|>", ["not a"], None),
        (f"{TAG}a if b else c<|eom_id|>", ["a if b else c"], None),
        (f"{TAG}from math import *", ["from math import *"], None),
        (f"{TAG}pip install numpy<|eom_id|>", ["pip install numpy"], None),
        (f"{TAG}f'I am'<|eom_id|>", ["f'I am'"], None),
    ],
)
def test_code_is_a_call(text: str, expected: list[str], content: str | None):
    extraction = read(text)
    assert codes(extraction) == expected
    assert extraction.content == content
    for call in extraction.tool_calls:
        assert call.arguments_json == json.dumps(call.arguments, ensure_ascii=False)
        assert text[slice(*call.span)] == call.arguments["code"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'{TAG}{{"name": "f", "parameters": {{}}}}', "json"),
        (f'{TAG}[{{"name": "f", "parameters": {{}}}}]', "json"),
        (f"{TAG} [f(a=1)]<|eom_id|>", "pythonic"),
        (f"{TAG}\nf(a=1)<|eom_id|>", "pythonic"),
        (f"{TAG}<function=f>{{}}</function>", "function"),
        (f'{TAG}<tool_call>{{"name": "f", "parameters": {{}}}}</tool_call>', "tool_call"),
        (f'{TAG}```python\n{{"name": "f", "parameters": {{}}}}\n```', "fence"),
        (f"{TAG}```python\nf(a=1)\n```", "pythonic"),
        (f'{TAG}```json\n{{"name": "f", "parameters": {{}}}}\n```', "fence"),
        ("<|python_start|>[f(a=1)]<|python_end|>", "pythonic"),
        ("<|python_start|>f(a=1)<|python_end|>", "pythonic"),
    ],
)
def test_a_call_in_another_form_is_read_as_anywhere(text: str, expected: str):
    (call,) = read(text).tool_calls
    assert (call.name, call.format) == ("f", expected)


def test_an_id_is_made_for_each_call_once():
    ids = (f"id{number}" for number in count(1))
    extractor = Extractor(tools=TOOLS, id_factory=lambda: next(ids))
    text = f"{TAG}[f(a=1), f(a=2)]<|eom_id|>{TAG}[f(a=3)][0]<|eom_id|>"
    assert [(call.id, call.name) for call in extractor.extract(text).tool_calls] == [
        ("id1", "f"),
        ("id2", "f"),
        ("id3", "code_interpreter"),
    ]


def test_calls_come_before_code_on_the_same_tag():
    extraction = read(f"{TAG}f(a=1)\nprint(2)<|eom_id|>")
    assert [call.name for call in extraction.tool_calls] == ["f"]
    assert extraction.content == "print(2)"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (TAG, ""),
        (f"{TAG} \n", " \n"),
        (f"{TAG}<|eom_id|>", ""),
        ("<|python_start|><|python_end|>", ""),
        (f"The token `{TAG}` marks code.", f"The token `{TAG}` marks code."),
        (f"The token {TAG} marks code, and {TAG} is one.", f"The token {TAG} marks code, and {TAG} is one."),
        (f"{TAG}I think that x = 1.", "I think that x = 1."),
        (f"{TAG}I'm sorry.<|eot_id|>", "I'm sorry."),
        (f"{TAG}Das ist 1.", "Das ist 1."),
        (f"{TAG}<b>bold</b>", "<b>bold</b>"),
        (f"{TAG}~~no~~", "~~no~~"),
        (f'{TAG}{{"error": "no tool"}}', '{"error": "no tool"}'),
        (f"{TAG}{{x}}", "{x}"),
        (f"{TAG}```bash\nls\n```", "```bash\nls\n```"),
        (f"{TAG}```python\n```", "```python\n```"),
        (f"{TAG}```python print(1)```", "```python print(1)```"),
        (f"<think>{TAG}print(1)</think>", f"<think>{TAG}print(1)</think>"),
        # the tag itself, in a sentence, quoted, in a list
        (f"({TAG})", f"({TAG})"),
        (f"The markers {TAG}/<|eom_id|> are special.", f"The markers {TAG}/<|eom_id|> are special."),
        (f"Use {TAG}: it runs code.", f"Use {TAG}: it runs code."),
        (f"I run {TAG}print(1)", f"I run {TAG}print(1)"),
        (f"One\n<think>Hm.</think> I run {TAG}print(1)", f"One\n<think>Hm.</think> I run {TAG}print(1)"),
        (f"{TAG}: it runs code.", ": it runs code."),
        (f'"{TAG}import os; os.fork()<|eom_id|>"', f'"{TAG}import os; os.fork()<|eom_id|>"'),
        (f"- {TAG}\n- <|eot_id|> ends", f"- {TAG}\n- <|eot_id|> ends"),
        (f"Two:\n  1. {TAG}\n  2. <|eot_id|> ends", f"Two:\n  1. {TAG}\n  2. <|eot_id|> ends"),
        (f"The tokens: {TAG}, <|eom_id|>, both", f"The tokens: {TAG}, <|eom_id|>, both"),
        (f"{TAG}...<|eom_id|>", "..."),
        (f"<tool_call>{TAG}print(1)</tool_call>", f"<tool_call>{TAG}print(1)</tool_call>"),
        (f"<tool_call>\n{TAG}print(1)\n</tool_call>", f"<tool_call>\n{TAG}print(1)\n</tool_call>"),
        # prose
        (f"{TAG}Sure! The answer is 4.", "Sure! The answer is 4."),
        (f"{TAG}Hello, how are you?", "Hello, how are you?"),
        (f"{TAG}Note: don't, please stop.", "Note: don't, please stop."),
        (f"{TAG}Done.\nGood.", "Done.\nGood."),
        *(
            (f"{TAG}{prose}{end}", prose)
            for prose in ("Hello!", "Yes.", "Sorry, no.", "Really?")
            for end in ("", "<|eom_id|>")
        ),
        *((f"{TAG}{char} x = 1", f"{char} x = 1") for char in ":,;)]}/|>=<"),
        (f"{TAG}**Answer**: 4", "**Answer**: 4"),
    ],
)
def test_what_is_no_code(text: str, content: str):
    extraction = read(text)
    assert (extraction.content, extraction.tool_calls) == (content, ())


@pytest.mark.parametrize(
    ("attempt", "reason", "name"),
    [
        ("[f(a=x)]", RejectionReason.MALFORMED, "f"),
        ("f(a=x)", RejectionReason.MALFORMED, "f"),
        ("f(\n    a=x,\n    b=[1]\n)", RejectionReason.MALFORMED, "f"),
        ('f(a="1 +\n2")', RejectionReason.MALFORMED, "f"),
        ("[f(a=1", RejectionReason.TRUNCATED, "f"),
        ("[h(a=1)]", RejectionReason.UNKNOWN_TOOL, "h"),
        ('brave_search.call(query="x")', RejectionReason.UNKNOWN_TOOL, "brave_search"),
        ('[{"name": "h", "parameters": {}}]', RejectionReason.UNKNOWN_TOOL, "h"),
        ('{"name": "f", "parameters": {x}}', RejectionReason.MALFORMED, "f"),
    ],
)
@pytest.mark.parametrize("tag", [TAG, "<|python_start|>", f"[f()]{TAG}"])
def test_a_failed_call_in_another_form_is_no_code(tag: str, attempt: str, reason: RejectionReason, name: str):
    extraction = read(tag + attempt)
    assert (extraction.content, len(extraction.tool_calls)) == (attempt, tag.count("f()"))
    assert [(one.reason, one.name) for one in extraction.rejections] == [(reason, name)]


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("print(", "an open '('"),
        ("x = [1,\n  {'a': 2}", "an open '['"),
        ("print('a", "an open string"),
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
        ("```python\nprint(1)\n", "an open fence"),
    ],
)
@pytest.mark.parametrize("tag", [TAG, "<|python_start|>"])
def test_code_that_was_visibly_cut_off_is_not_called(tag: str, code: str, detail: str):
    extraction = read(f"Sure. {tag}{code}")
    assert extraction.content == f"Sure. {tag}{code}"
    (rejection,) = extraction.rejections
    assert (rejection.reason, rejection.name) == (RejectionReason.TRUNCATED, "code_interpreter")
    assert rejection.detail == f"the output ends inside the code: {detail}"
    assert rejection.is_attempt
    assert read(f"{tag}{code}<|eom_id|>").tools_called, "what the model has closed is not cut off"


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


@pytest.mark.parametrize("prose", ["I think that", "```python is\nx", f"```python{'x' * 40}"])
def test_prose_behind_the_tag_is_released_at_once(prose: str):
    stream = Extractor(tools=TOOLS).stream()
    assert stream.feed(f"{TAG}{prose}") == [TextDelta(prose)]
