"""Pythonic calls: what is read, what is malformed, and what stays text (rules 2, 6, 7, 9 and 11)."""

from __future__ import annotations

import ast
import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, Extractor, FormatName, RejectionReason, TextDelta, ToolCallReady, extract
from llama3_tools.reading.json_depth import MAX_DEPTH

TOOLS: list[dict[str, Any]] = [
    {
        "name": "f",
        "parameters": {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]},
    },
    {"name": "g"},
    {"name": "x.call"},
    {"name": "math.factorial", "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}}},
    {"name": "brave_search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
]


def read(text: str, **options: Any) -> Extraction:  # noqa: ANN401 - as Extractor takes them
    return extract_in_every_chunking(text, **{"tools": TOOLS, **options})


def calls(extraction: Extraction) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in extraction.tool_calls]


F, G = ("f", {"a": 1}), ("g", {})


@pytest.mark.parametrize(
    ("text", "expected", "content"),
    [
        ("[f(a=1)]", [F], None),
        ("[f(a=1),g()]", [F, G], None),
        ("[f(from='x', class=1)]", [("f", {"from": "x", "class": 1})], None),
        ("[ f ( a = 1 , ) ,\n g ( ) , ]", [F, G], None),
        ("Sure: [f(a=1)] One moment.", [F], "Sure: One moment."),
        ("<|python_tag|>[f(a=1)]<|eom_id|>", [F], None),
        ("<|python_start|>[f(a=1), g()]<|python_end|><|eot|>", [F, G], None),
        ("<|python_start|>f(a=1)<|python_end|>", [F], None),
        ("<|im_start|>assistant[f(a=1)]<|im_end|>", [F], None),
        ("<|im_start|>assistant f(a=1)", [F], None),
        ("<tool_call>[f(a=1)]</tool_call>", [F], None),
        ("```python\n[f(a=1)]\n```", [F], None),
        ("```python\nf(a=1)\ng()\n```", [F, G], None),
        ("```tool_call\nf(a=1)```", [F], None),
        ("[f(a=1)]; [g()]", [F, G], None),
        ('[f(a=1)] {"name": "g", "parameters": {}}', [F, G], None),
        # without brackets, on a line of its own
        ("f(a=1)", [F], None),
        ("  f(a=1)  ", [F], None),
        ("f(a=1)\ng()", [F, G], None),
        ("f(a=1), g()", [F, G], None),
        ("f(a=1); g()", [F, G], None),
        ("One [f(a=1)]; g()", [F, G], "One"),
        ("f(a=1);\nDone.", [F], "Done."),
        ("f(a=1)<|eot|>", [F], None),
        ("<tool_call>f(a=1);</tool_call>", [F], None),
        ("<|start_header_id|>assistant<|end_header_id|>\n\n  f(a=1)", [F], None),
        ("<|eom_id|> f(a=1)", [F], None),
        ("[f(a=1)][g()]", [F, G], None),
        ("[f(a=1)]. Done", [F], ". Done"),
        ("Tell me if [f(a=1)] e", [F], "Tell me if e"),
        ("Both: [f(a=1)] else", [F], "Both: else"),
        ("(Now: [f(a=1)])", [F], "(Now: )"),
        ("* [f(a=1)]", [F], "*"),
        ("One moment - [f(a=1)]", [F], "One moment -"),
        ("Sure: \\\n[f(a=1)]", [F], "Sure: \\"),
        ("x =\\\n<tool_call>[g()]</tool_call>\n[f(a=1)]", [G, F], "x =\\"),
        (f"{' ' * 40}f(a=1)", [F], None),
        ("Both: [f(a=1)] [g()]", [F, G], "Both:"),
        ("Here.[f(a=1)].", [F], "Here. ."),
        ("I will look.\nf(a=1)\nOne moment.", [F], "I will look. One moment."),
        ("<|python_tag|>f(a=1)<|eom_id|>", [F], None),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nf(a=1)<|eot_id|>", [F], None),
        ("<|python_tag|> [f(a=1)]", [F], None),
        ("<|python_start|>\n[\n  f(\n    a=1,\n  ),\n  g(),\n]\n<|python_end|>", [F, G], None),
        ("f(\n  a=1,\n)\ng(\n)", [F, G], None),
        ("[\r\n\tf(\r\n\ta\t=\t1)\r\n]", [F], None),
        ("One. <|python_tag|>[f(a=1)]<|eom_id|>\n\nTwo.", [F], "One. Two."),
        # names
        ("[f(a=1), math.factorial(number=5)]", [F, ("math.factorial", {"number": 5})], None),
        ("<|python_tag|>math.factorial(5)", [("math.factorial", {"number": 5})], None),
        ("[math.factorial(number=5)]", [("math.factorial", {"number": 5})], None),
        ("math.factorial(number=5)", [("math.factorial", {"number": 5})], None),
        ('<|python_tag|>brave_search.call(query="x")<|eom_id|>', [("brave_search", {"query": "x"})], None),
        ('[brave_search.call(query="x")]', [("brave_search", {"query": "x"})], None),
        ("g(), x.call(), g.call()", [G, ("x.call", {}), G], None),
        ("[x.call(), g.call()]", [("x.call", {}), G], None),
        # arguments with names in other scripts, of more than letters
        ("[g(तापमान=5, a·b=1)]", [("g", {"तापमान": 5, "a·b": 1})], None),
        # arguments without names
        ("[f(1)]", [F], None),
        ("[f(1, 2)]", [("f", {"a": 1, "b": 2})], None),
        ("[f(1, b=2)]", [("f", {"a": 1, "b": 2})], None),
        ("[f({'a': 1})]", [F], None),
        ("[f({'x': 1})]", [("f", {"a": {"x": 1}})], None),
        ("[f({})]", [("f", {})], None),
        ("[g({'x': 1})]", [("g", {"x": 1})], None),
        ("[f()]", [("f", {})], None),
    ],
)
def test_calls(text: str, expected: list[tuple[str, dict[str, Any]]], content: str | None):
    extraction = read(text)
    assert calls(extraction) == expected
    assert extraction.content == content
    for call in extraction.tool_calls:
        assert json.loads(call.arguments_json) == call.arguments
    assert extraction.tool_calls[0].format == "pythonic"


def test_a_call_has_its_own_span():
    text = "[f(a=1), g()]\nf(a=1); g()"
    assert [text[slice(*call.span)] for call in read(text).tool_calls] == ["f(a=1)", "g()"] * 2


VALUES = [
    ("'x'", "x"),
    ('"x"', "x"),
    ("''", ""),
    ('"it\'s"', "it's"),
    (r"'it\'s'", "it's"),
    (r'"a\nb\tc\\d"', "a\nb\tc\\d"),
    (r"'\x41\u00e9\U0001f600\101\N{BULLET}\a\0'", "Aé\U0001f600A•\a\0"),
    (r"'\ud83d\ude00'", "\U0001f600"),
    (r"'\d \/'", r"\d \/"),
    ("'a\\\nb'", "ab"),
    ("'''a\n'b' ''c'''", "a\n'b' ''c"),
    ('""""x" y"""', '"x" y'),
    ("''''''", ""),
    (r"r'\d\''", r"\d\'"),
    (r"R'\n'", r"\n"),
    ("u'x'", "x"),
    ("U'x'", "x"),
    (r"'''a'\''''", "a''"),
    ("'a' \"b\"\n'c'", "abc"),
    ('\'[g()] {"name": "g", "parameters": {}}\'', '[g()] {"name": "g", "parameters": {}}'),
    ("True", True),
    ("False", False),
    ("None", None),
    ("0", 0),
    ("00", 0),
    ("-5", -5),
    ("+5", 5),
    ("1_000", 1000),
    ("0x1F", 31),
    ("0b101", 5),
    ("0o17", 15),
    ("1.50", 1.5),
    (".5", 0.5),
    ("5.", 5.0),
    ("-.5e-3", -0.0005),
    ("1E+3", 1000.0),
    ("01.5", 1.5),
    ("123456789012345678901234567890", 123456789012345678901234567890),
    ("[]", []),
    ("[1, [2], ]", [1, [2]]),
    ("()", []),
    ("(1)", 1),
    ("(1,)", [1]),
    ("(1, 2)", [1, 2]),
    ("{}", {}),
    ("{1, 2}", [1, 2]),
    ("{'k': {'l': (1, None)}, \"m\": [],}", {"k": {"l": [1, None]}, "m": []}),
    ("{'a' 'b':1}", {"ab": 1}),
    ("[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1), json.loads("[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))),
]


@pytest.mark.parametrize(("written", "value"), VALUES)
def test_values_are_literals(written: str, value: object):
    (call,) = read(f"[f(a={written})]").tool_calls
    assert call.arguments == {"a": value}
    assert type(call.arguments["a"]) is type(value)
    assert call.span == (1, len(written) + 6)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("1.10", "1.10"),
        ("3.14159265358979323846264", "3.14159265358979323846264"),
        ("1e3", "1e3"),
        ("1_0.5_0e1_0", "10.50e10"),
        ("1_000", "1000"),
        ("0.50E05", "0.50e05"),
        ("00.5", "0.5"),
        ("05e3", "5e3"),
        ("50e1", "50e1"),
        ("00e1", "0e1"),
    ],
)
def test_digits_are_kept_as_they_were_written(written: str, kept: str):
    (call,) = read(f"[f(b={written})]").tool_calls
    assert call.arguments_json == f'{{"b": {kept}}}'


def test_an_object_in_place_of_the_arguments_may_have_an_integer_of_any_length():
    arguments = f'{{"a": {"7" * 5000}}}'
    (call,) = read(f"[f({arguments})]").tool_calls
    assert call.arguments_json == arguments


@pytest.mark.parametrize(
    "arguments",
    [
        "a=g()",
        "a=b",
        "a=true",
        "a=nan",
        "a=1+1",
        "a=-'x'",
        "a=--1",
        "a=1j",
        "a=b'x'",
        "a=f'x'",
        "a=[x for x in y]",
        "a=lambda: 1",
        "a=not True",
        "a={**b}",
        "*a",
        "**a",
        "a==1",
        "True=1",
        "a=1, None='x'",
        "a=1 2",
        "a=01",
        "a=1__0",
        "a=0x",
        "a=1e",
        "a=1e999",
        "a='x\ny'",
        r"a='\x4'",
        r"a='\ud83d'",
        "a='\ud83d'",
        r"a='\N{no such name}'",
        r"a='\U00110000'",
        "a={1: 2}",
        "a={'k': 1, 2}",
        "a={'k' 1}",
        "a={1, 'k': 2}",
        "a=[1}",
        "a=,",
        "a=1,,",
        "a=1, a=2",
        "a=1, 2",
        "1, a=2",
        "{a=1}",
        "1, 2, 3",
        "a=" + "[" * MAX_DEPTH + "]" * MAX_DEPTH,
    ],
)
def test_anything_else_is_malformed_and_hides_nothing(arguments: str):
    extraction = read(f"[f({arguments})] [g()]")
    assert calls(extraction) == [G]
    assert extraction.content == f"[f({arguments})]"
    (rejection,) = extraction.rejections
    assert rejection.name == "f"
    assert rejection.is_attempt
    assert rejection.span[0] == 0


@pytest.mark.parametrize("arguments", [r"a='\x4'", r"a='\ud83d'", "a='\ud83d'", r"a='\N{no such name}'", "a=1, 2)"])
def test_what_is_wrong_for_certain_is_malformed_where_the_output_ends_behind_it(arguments: str):
    (rejection,) = read(f"[f({arguments}").rejections
    assert rejection.reason is RejectionReason.MALFORMED


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("[g(a“b=1)]", "expected a literal or the closing bracket at offset 3, found the name 'a“b'"),
        ("[f(a=g())]", "expected a literal at offset 5, found a call of 'g'"),
        ("[f(a=b)]", "expected a literal at offset 5, found the name 'b'"),
        ("[f(a=x.y)]", "expected a literal at offset 5, found the name 'x'"),
        ("[f(a=1+1)]", "expected ',' or the closing bracket at offset 6, found '+'"),
        ("[f(a='x'.upper())]", "expected ',' or the closing bracket at offset 8, found '.'"),
        ("[f(a='x' if b else 1)]", "expected ',' or the closing bracket at offset 9, found 'if'"),
        ("[f(a=[x for x in y])]", "expected a literal or the closing bracket at offset 6, found a comprehension"),
        ("[f(a=[1 for x in y])]", "expected ',' or the closing bracket at offset 8, found 'for'"),
        ("[f(a=f'x')]", "expected a literal at offset 5, found an f-string"),
        ("[f(a=Rb'x')]", "expected a literal at offset 5, found bytes"),
        ("[f(a=...)]", "expected a literal at offset 5, found '...', no number that JSON has"),
        ("[f(a=1j)]", "expected a literal at offset 5, found '1j', no number that JSON has"),
        ("[f(a:=1)]", "expected a literal or the closing bracket at offset 3, found an assignment to 'a'"),
        ("[f(*a)]", "expected a literal or the closing bracket at offset 3, found '*'"),
        ("[f(a=lambda: 1)]", "expected a literal at offset 5, found the name 'lambda'"),
        ("[f({1: 2})]", "a key that is no string, before offset 5"),
        # what Meta's models write for a dict
        ("[f({a=1})]", "expected a literal or the closing bracket at offset 4, found 'a=' within '{'"),
        ("[f(a={b='x'})]", "expected a literal or the closing bracket at offset 6, found 'b=' within '{'"),
        ("[f(a=[1}", "expected ',' or the closing bracket at offset 7, found '}'"),
        ("[f(a=1) g()]", "expected ',' or ']' at offset 8, found 'g'"),
        ("[f(a=1), 2]", "expected '(' at offset 10, found ']'"),
        ("[f(a=1), {}]", "expected a call or ']' at offset 9, found '{'"),
        ("[f(1, 2, 3)]", "3 arguments without a name, and 2 declared parameters to give them to"),
        ("[g(1)]", "1 arguments without a name, and 0 declared parameters to give them to"),
        ("[f(a=1, a=2)]", "the argument 'a' stands twice, at offset 8"),
        ("[f(1, a=2)]", "the argument 'a' stands twice"),
        ("[f(a=1, 2)]", "an argument without a name behind one that has one, before offset 10"),
        ("[f(a=Xy)]", "expected a literal at offset 5, found the name 'Xy'"),
        ("[f(a='x' 55)]", "expected ',' or the closing bracket at offset 9, found '5'"),
        ("[f(a='a\nb')]", "a line break in a string, at offset 7"),
        ("[f(a='a\rb')]", "a line break in a string, at offset 7"),
        (r"[f(a='\x4')]", r"an escape that Python does not have in a string: \x"),
        (r"[f(a='\N{no}')]", r"an escape that names no character: \N{no}"),
        (r"[f(a='\ud83d')]", "half a surrogate pair in a string"),
        ("[f(a='\ud83d')]", "half a surrogate pair in the string at offset 6"),
        ("[f(a='\\ud83d\udcd2')]", "half a surrogate pair in the string at offset 6"),
        ("[f(a='\ud83d\\udcd2')]", "half a surrogate pair in the string at offset 6"),
    ],
)
def test_a_rejection_says_what_was_found_and_where(text: str, detail: str):
    (rejection,) = read(text).rejections
    assert (rejection.detail, rejection.name) == (detail, text[1])
    assert rejection.span[0] == 0 < rejection.span[1] <= len(text)
    assert rejection.is_attempt


@pytest.mark.parametrize(
    ("text", "reason", "detail"),
    [
        ("[f(a=", "truncated", "the output ends inside it, where a literal was due"),
        ("[f(a=[1", "truncated", "the output ends inside it, where ',' or the closing bracket was due"),
        ("[f(a=1)", "truncated", "the output ends inside it, where ',' or ']' was due"),
        ("[f(a=tru", "truncated", "expected a literal at offset 5, found the name 'tru'"),
        ("[f(a='x", "truncated", "an open string"),
        (f"[f(a={'[' * MAX_DEPTH}", "too_deep", f"nested deeper than {MAX_DEPTH} levels"),
    ],
)
def test_what_is_cut_off_or_too_deep_says_so(text: str, reason: str, detail: str):
    (rejection,) = read(text).rejections
    assert (str(rejection.reason), rejection.detail, rejection.name) == (reason, detail, "f")
    assert rejection.span == (0, min(len(text), 4 + MAX_DEPTH))


@pytest.mark.parametrize("text", ["[f(a=1), g()]", "[f(a='x', b=[1, {'k': 'v'}])]", "f(a='''x''')", "[f(a=1)"])
def test_what_is_cut_off_is_no_call(text: str):
    for end in range(len(text.rstrip("]").rstrip(")"))):
        extraction = read(text[:end])
        assert extraction.tool_calls == ()
        assert extraction.content == text[:end]
        assert all(rejection.reason is RejectionReason.TRUNCATED for rejection in extraction.rejections)
    assert read("[f(a=1").rejections[0].is_attempt


@pytest.mark.parametrize(
    "text",
    [
        "I call f(a=1) now.",
        "Use f(a=1)",
        "x = f(a=1)",
        "x = [f(a=1)]",
        "print([f(a=1)])",
        "items[g()]",
        "f(a=1).temperature",
        "f(a=1) + g()",
        "f(a=1) gives the weather",
        "f(a=1) < 3",
        "f(a=1) <",
        "f(a=1), which",
        "f(a=1), h()",
        "f(a=1); that is how",
        "f(a=1); g() x",
        "<code>\nf(a=1)</code>",
        "x|>f(a=1)",
        "[\u00a0f(a=1)]",
        "[\u2028f(a=1)]",
        "Sure[f(a=1)]",
        "A link: [f(a=1)](x)",
        "for x in [f(a=1)]: pass",
        "return [f(a=1)]",
        "Say [f(a=1)].append(1)",
        "Say [f(a=1)][1]",
        "[f(a=1)](http://x)",
        "[f(a=1)]: https://x",
        "[f(a=1)][docs]",
        "[f(a=1)][0]",
        "[f(a=1)].pop()",
        "Done.\n[f(a=1)].pop()",
        "x + [f(a=1)]",
        "x if [f(a=1)] else y",
        "for y in [f(a=1)] :",
        "lambda: [f(a=1)]",
        "lambda x: [f(a=1)]",
        "x =\\\n[f(a=1)]",
        "x =\\\r[f(a=1)]",
        f"{'x' * 1993} return\n [f(a=1)]",
        f"x ={' ' * 40}[f(a=1)]",
        f"f({chr(10)}{' ' * 40}[f(a=1)]",
        "[[f(a=1)]]",
        "``[f(a=1)]``",
        "\u201c[f(a=1)]\u201d",
        "\u00ab [f(a=1)] \u00bb",
        "self.f(a=1)",
        "reef(a=1)",
        "    x\n    f(a=1)",
        "- f(a=1)",
        "*f(a=1)",
        "`f(a=1)`",
        "`[f(a=1)]`",
        "def f(a=1):",
        "f(a, b) takes two arguments",
        "f()",
        "f",
        "f [1]",
        "[f]",
        "[f, g]",
        "[see (1)]",
        "[1] [f] [g]",
        "[true, f(a=1)]",
        '[null, {"name": "g", "parameters": {}}]',
        "```python\nf(a=1)\nprint('done')\n```",
        "```js\n[f(a=1)]\n```",
        "<think>[f(a=1)]</think>",
        "[h(a=1)]",
        "[h(a=1), f(a=1)]",
        "h(a=1)",
        "[f.x(a=1)]",
    ],
)
def test_prose_and_code_are_no_calls(text: str):
    extraction = read(text)
    assert calls(extraction) == []
    assert extraction.content == text


ECHO = "[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]"


@pytest.mark.parametrize(("options", "names"), [({}, []), ({"tools": None, "formats": "all"}, ["func_name1"])])
def test_the_example_of_meta_s_prompt_is_no_call(options: dict[str, Any], names: list[str]):
    extraction = read(ECHO, **options)
    assert (extraction.content, extraction.tool_calls) == (ECHO, ())
    assert [one.name for one in extraction.rejections] == names


@pytest.mark.parametrize(
    ("text", "is_attempt"),
    [
        ("f(city) gives the weather", False),
        ("f(a=city) gives the weather.", False),
        ("f(a=g())", True),
        ("f(a=g());\nDone.", True),
        ("f(\n    a=g(\n    ),\n)", True),
        ("f(\n    a=city\n) gives the weather.", False),
        ("f(a=city\n\nThat is it.", False),
        ("f(a=g(), b=2);", True),
        (f"f(a={'g(' * 9}{')' * 10}", False),
        (f"f(a=g{'(1)' * 100})", True),
        (f"f(a=b{' ' * 999})", True),
        (f"f(a=g{'(1)' * 400})", False),
        ("f(a='x", True),
        ("f(", False),
    ],
)
def test_without_brackets_a_named_argument_makes_an_attempt(text: str, is_attempt: bool):
    (rejection,) = read(text).rejections
    assert rejection.is_attempt is is_attempt


def test_a_declared_tool_in_code_is_no_call_but_says_so():
    for text, reason in (
        ("Sure[f(a=1)]", "not_a_call"),
        ("A link: [f(a=1)](x)", "not_a_call"),
        ("[[f(a=1)]]", "not_a_call"),
        ("[x, [f(a=1)]]", "not_a_call"),
        ("plan = {'a': [f(a=1)]}", "not_a_call"),
        ("foo(1, [f(a=1)])", "not_a_call"),
        ("foo(*[f(a=1)])", "not_a_call"),
        ("x = y or [f(a=1)]", "not_a_call"),
        ("a < [f(a=1)]", "not_a_call"),
        ("x = 1\nassert [f(a=1)]", "not_a_call"),
        ("`[f(a=1)]`", "quoted"),
    ):
        (rejection,) = read(text, formats=["pythonic"]).rejections
        assert (rejection.reason, rejection.name, rejection.is_attempt) == (reason, "f", False)
        assert rejection.detail == "a part of code, or quoted"
    assert read("items[h()]").rejections == ()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[f(a=b, c='see [g()] now')]", ""),
        ('[f(a={b=1}, c="see [g()] now")]', ""),
        ("[f(c=f'see [g()] now')]", ""),
        ("[f(a=(b, [1, 'see [g()] now']), c={'d': 1})]", ""),
        ("[f(a=b, c='''\n[g()]\n'''), g()]", ""),
        ('[f(a=b, c="""it\'s "\n[g()]\n"")""")]', ""),
        ("f(a=b, c='''\ng()\n''')", ""),
        ("[f(a=b, c='\\' [g()]')]", ""),
        (f"[f(a=b, c={'(' * 14}'see [g()] now'{')' * 14})]", ""),
        ("[f(a=b, c='', d='see [g()] now')]", ""),
        # What is behind it, and what does not close, or not before long, is searched.
        ("[f(a=b, c='see') [g()]", "g"),
        ("[f(a=b, c='don't see [g()] now')]", "g"),
        ("[f(a=b, c='see\n[g()]\n')]", "g"),
        ("[f(a=b)] [g()]", "g"),
        ("f(a=#ff0000)\ng()\n\nDone :)", "g"),
        ("[f(a=#ff0000)]\n[g()]\n1) light\n2) time", "g"),
        ("[f(a=b,\nc='see [g()] now')]", "g"),
        ("[f(a=It's late)] [g()] [f(a=It's cold)]", "g"),
        ("[f(a=b], [g()] now)", "g"),
        ("[f(a=b, c=(1])]", ""),
        ("f(a=b)\ng()", "g"),
        ("f(1, a=2)\ng()", "g"),
        (f"[f(a=b, c='{'x' * 1000}see [g()] now')]", "g"),
        (f"[f(a=b, c={'(' * 60}'see [g()] now'{')' * 60})]", "g"),
        ("[f(a=b, c='see [g()]", "g"),
        ("[f(a=b, c='''see [g()]", "g"),
        # So is what is no attempt at a call of a declared tool.
        ("[h(a=b, c='see [g()] now')]", "g"),
        ("f(b, 'see [g()] now') gives", "g"),
    ],
)
def test_rule_6_a_broken_call_s_strings_are_data_if_its_brackets_close(text: str, names: str):
    assert "".join(name for name, _ in calls(read(text))) == names


def test_a_broken_call_flows_as_soon_as_a_string_in_it_is_broken_too():
    text = "[f(a=b, c='x\ny"
    assert Extractor(tools=TOOLS).stream().feed(text) == [TextDelta(text)]


@pytest.mark.parametrize(("kind", "arguments"), [("object", {"settings": {}}), ("string", {})])
def test_a_lone_empty_dict_is_the_object_that_a_tool_requires(kind: str, arguments: dict[str, Any]):
    schema = {"type": "object", "properties": {"settings": {"type": kind}, "b": {}}}
    (call,) = read("[u({})]", tools=[{"name": "u", "parameters": {**schema, "required": ["settings"]}}]).tool_calls
    assert call.arguments == arguments
    (call,) = read("[u({})]", tools=[{"name": "u", "parameters": schema}]).tool_calls
    assert call.arguments == {}


def test_asked_for_by_name_another_tool_s_list_has_to_begin_a_line():
    options: dict[str, Any] = {"on_unknown_tool": "call", "formats": "all"}
    for text in ("Done.\n[h(a=1)] Bye.", "<tool>[h(a=1)] oops</tool>"):
        assert calls(read(text, **options)) == [("h", {"a": 1})]
    for text in ("The values are [h(0), h(1)].", "See [print()](https://docs.python.org).", "See [h(a=1)]."):
        for extraction in (read(text, **options), read(text, tools=None, formats="all")):
            assert (extraction.content, extraction.tool_calls) == (text, ())
            assert not any(rejection.is_attempt for rejection in extraction.rejections)


def test_a_list_of_another_tool_is_no_call_but_says_so():
    for name in ("h", "h.call"):
        (rejection,) = read(f"[{name}(a=1)]").rejections
        assert (rejection.reason, rejection.name) == (RejectionReason.UNKNOWN_TOOL, name)
    for text in ("[h(a=b)]", "f(a=1), h()", "f(a=1), h.call()", "f(a=1), g now"):
        assert read(text).rejections == ()


def test_unknown_tools_go_through_where_that_is_wanted_and_the_list_is_meant():
    assert calls(read("[h(a=1), g()]", on_unknown_tool="call")) == [("h", {"a": 1}), G]
    assert calls(read("[len('abc')]", on_unknown_tool="call")) == []
    assert calls(read("[len({'obj': 'abc'})]", on_unknown_tool="call", formats="all")) == [("len", {"obj": "abc"})]


def test_without_declared_tools_it_is_read_only_where_it_is_asked_for():
    assert calls(read("[f(a=1)]", tools=None)) == []
    assert calls(read("[f(a=1)]", tools=None, formats=["pythonic"])) == [F]
    assert calls(read("f(a=1)", tools=None, formats="all")) == []


@pytest.mark.parametrize(
    ("formats", "found"),
    [
        (["json"], "abc"),  # their tags are prose then, and what is inside stands bare
        (["tool_call"], "b"),
        (["tool"], "c"),
        (["function"], "d"),
        (["pythonic"], "ef"),
        ("pythonic", "ef"),
        (["json", "pythonic"], "abcef"),
        ("all", "abcdef"),
        (None, "abcdef"),
    ],
)
def test_only_the_formats_asked_for_are_read(formats: Any, found: str):  # noqa: ANN401 - as Extractor takes them
    call = '{{"name": "{}", "parameters": {{}}}}'.format
    text = (
        f"[{call('a')}]\n<tool_call>[{call('b')}]</tool_call>\n<tool>{call('c')}</tool>\n<function=d>{{}}</function>\n"
        "[e()]\nf()\n"
    )
    extraction = read(text, tools=[{"name": name} for name in "abcdef"], formats=formats)
    assert "".join(name for name, _ in calls(extraction)) == found


@pytest.mark.parametrize(("formats", "found"), [(["xml"], "'xml'"), ([], "an empty list"), ("yaml", "'yaml'")])
def test_a_format_that_does_not_exist_is_an_error(formats: Any, found: str):  # noqa: ANN401 - on purpose
    names = ", ".join(get_args(FormatName))
    with pytest.raises(ValueError, match=f"formats are out of {names}; not {found}"):
        Extractor(formats=formats)


@pytest.mark.parametrize("call", ["nn(a=1)", f"{'n' * 63}(a=1)", f"{'n' * 63}.call(a=1)"])
def test_a_call_is_found_wherever_it_stands_in_a_long_text(call: str):
    extractor = Extractor(tools=[{"name": "nn"}, {"name": "n" * 63}])
    for before in range(430, 530):
        (found,) = extractor.extract(f"{'x' * before}\n{call}\n{'y' * 700}").tool_calls
        assert found.span == (before + 1, before + 1 + len(call))


def test_a_name_that_python_could_not_have_is_read_all_the_same():
    tools = [{"name": name} for name in ("get-weather", "x" * 200, "fr\u00fch", "from", "true")]
    assert calls(read("[true(a=1)]", tools=tools)) == [("true", {"a": 1})]
    assert calls(read("[get-weather(a=1), from(a=2)]", tools=tools)) == [("get-weather", {"a": 1}), ("from", {"a": 2})]
    assert calls(read(f"[{'x' * 200}()]", tools=tools)) == [("x" * 200, {})]
    assert calls(read("fr\u00fch(\u00e4=1)", tools=tools)) == [("fr\u00fch", {"\u00e4": 1})]


literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)


def _in_json(value: object) -> object:
    """Give what JSON makes of a literal."""
    return json.loads(json.dumps(value))


@given(literals)
def test_every_literal_that_python_writes_is_read(value: object):
    (call,) = extract(f"[f(a={value!r})]", tools=TOOLS).tool_calls
    assert call.arguments == {"a": _in_json(value)}


PIECES = [
    *"[](){},:=",
    "f",
    "g",
    "'",
    '"',
    "\\",
    "\n",
    " ",
    "1",
    "-",
    ".",
    "e",
    "_",
    "True",
    "'x'",
    "r'",
    "f(a=1)",
    "g()",
]


@given(st.lists(st.sampled_from([*PIECES, "[f(", "a=", "<|python_tag|>", "`", "```python\n", "{}"]), max_size=14))
def test_noise_is_the_same_in_every_chunking_and_python_agrees(pieces: list[str]):
    text = "".join(pieces)
    for call in read(text).tool_calls:
        written = text[slice(*call.span)]
        node = ast.parse(written.strip(), mode="eval").body
        assert isinstance(node, ast.Call)
        for keyword in node.keywords:
            assert call.arguments[str(keyword.arg)] == _in_json_of_literal(keyword.value)


def _in_json_of_literal(node: ast.expr) -> object:
    value = ast.literal_eval(node)
    return sorted(value, key=str) if isinstance(value, set) else _in_json(value)


@pytest.mark.parametrize("before", ["", "<|python_tag|>", "<|python_start|>", "<tool_call>", "<tool_call>\n", "One.\n"])
@pytest.mark.parametrize("attempt", ["f(a=Paris)", "f({a='Paris'})", "f(a=g(1) + 2)", "f(a=(1), b=(x))", "f(a=x);"])
@pytest.mark.parametrize("behind", ["", "\n", "<|eom_id|>", "<|eot_id|>", "<|python_end|>", "</tool_call>", " \nDone."])
def test_a_failed_call_on_its_line_is_an_attempt_whatever_closes_it(before: str, attempt: str, behind: str):
    tools = [
        {"name": "f", "parameters": {"type": "object", "properties": {"a": {}, "b": {}}}},
        {"name": "code_interpreter"},
    ]
    extraction = extract(f"{before}{attempt}{behind}", tools=tools)
    assert extraction.tool_calls == ()
    assert [rejection.name for rejection in extraction.rejections if rejection.is_attempt] == ["f"]


@pytest.mark.parametrize(
    "prose", ["f(x) is the function", "f(a=x) gives a value", "f(x", "f(a=(x) and more", "f(x) = 2"]
)
def test_prose_about_a_call_is_no_attempt_and_flows(prose: str):
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}]
    extraction = extract_in_every_chunking(f"{prose}\nDone.", tools=tools)
    assert not any(rejection.is_attempt for rejection in extraction.rejections)
    stream = Extractor(tools=tools).stream()
    released = sum(
        len(event.text) for event in stream.feed("f(x) is what " + "x" * 1000) if isinstance(event, TextDelta)
    )
    assert released == 1013
    assert Extractor(tools=tools).stream().feed("f(a=1) is") == [TextDelta("f(a=1) is")]


@pytest.mark.parametrize(
    ("before", "behind"),
    [("[f(a=1)]", " "), ("[f(a=1)]", ";"), ("[f(a=1)].", " "), ("[f(a=1)][", " "), ("f(a=1)", "\n")],
)
def test_a_call_is_out_with_the_character_that_tells_that_it_is_no_code(before: str, behind: str):
    stream = Extractor(tools=[{"name": "f"}]).stream()
    assert stream.feed(before) == []
    assert isinstance(stream.feed(behind)[0], ToolCallReady)
