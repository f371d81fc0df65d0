"""Rule 11: pythonic calls, of declared tools or asked for by name, and only where a call may stand."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, Extractor, TextDelta, ToolCallReady, extract
from llama3_tools.literals.json_depth import MAX_DEPTH

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

LISTS = {
    "one call": ("[f(a=1)]", [F], None),
    "two calls": ("[f(a=1),g()]", [F, G], None),
    "white space and commas at the ends": ("[ f ( a = 1 , ) ,\n g ( ) , ]", [F, G], None),
    "tabs and carriage returns": ("[\r\n\tf(\r\n\ta\t=\t1)\r\n]", [F], None),
    "no comma between two": ("[f(a=1) g()]", [F, G], None),
    "a semicolon between two": ("[f(a=1); g()]", [F, G], None),
    "a list in a list": ("[[f(a=1)]]", [F], None),
    "two lists": ("[f(a=1)]; [g()]", [F, G], None),
    "two lists that touch": ("[f(a=1)][g()]", [F, G], None),
    "before JSON": ('[f(a=1)] {"name": "g", "parameters": {}}', [F, G], None),
    "in a sentence": ("Sure: [f(a=1)] One moment.", [F], "Sure: One moment."),
    "before a full stop": ("I call [f(a=1)].", [F], "I call ."),
    "in parentheses": ("(Now: [f(a=1)])", [F], "(Now: )"),
    "after an asterisk of a list": ("* [f(a=1)]", [F], "*"),
    "after a dash of a list": ("- [f(a=1)]", [F], "-"),
    "after a dash": ("One moment - [f(a=1)]", [F], "One moment -"),
    "after <|python_tag|>": ("<|python_tag|>[f(a=1)]<|eom_id|>", [F], None),
    "between Llama 4's tokens": ("<|python_start|>[f(a=1), g()]<|python_end|><|eot|>", [F, G], None),
    "in ChatML": ("<|im_start|>assistant[f(a=1)]<|im_end|>", [F], None),
    "in a tag": ("<tool_call>[f(a=1)]</tool_call>", [F], None),
    "in a fence": ("```python\n[f(a=1)]\n```", [F], None),
    "open at the end": ("[f(a=1)", [F], None),
}

LINES = {
    "alone": ("f(a=1)", [F], None),
    "with white space": ("  f(a=1)  ", [F], None),
    "two lines": ("f(a=1)\ng()", [F, G], None),
    "a comma between two": ("f(a=1), g()", [F, G], None),
    "a semicolon between two": ("f(a=1); g()", [F, G], None),
    "a semicolon at the end": ("f(a=1);\nDone.", [F], "Done."),
    "on several lines": ("f(\n  a=1,\n)\ng(\n)", [F, G], None),
    "among lines of prose": ("I will look.\nf(a=1)\nOne moment.", [F], "I will look. One moment."),
    "before a token": ("f(a=1)<|eot|>", [F], None),
    "after a token": ("<|eom_id|> f(a=1)", [F], None),
    "after <|python_tag|>": ("<|python_tag|>f(a=1)<|eom_id|>", [F], None),
    "after a header": ("<|start_header_id|>assistant<|end_header_id|>\n\nf(a=1)<|eot_id|>", [F], None),
    "between Llama 4's tokens": ("<|python_start|>f(a=1)<|python_end|>", [F], None),
    "in a tag": ("<tool_call>f(a=1);</tool_call>", [F], None),
    "in a fence": ("```python\nf(a=1)\ng()\n```", [F, G], None),
}

NAMES = {
    "with a dot": ("[math.factorial(number=5)]", [("math.factorial", {"number": 5})], None),
    "with a dot, on a line": ("math.factorial(number=5)", [("math.factorial", {"number": 5})], None),
    "Meta's method": ('<|python_tag|>brave_search.call(query="x")<|eom_id|>', [("brave_search", {"query": "x"})], None),
    "Meta's method in a list": ('[brave_search.call(query="x")]', [("brave_search", {"query": "x"})], None),
    "a tool that ends with it": ("g(), x.call(), g.call()", [G, ("x.call", {}), G], None),
}

ARGUMENTS = {
    "words of Python as names": ("[f(from='x', class=1)]", [("f", {"from": "x", "class": 1})], None),
    "names in other scripts": ("[g(तापमान=5, a·b=1)]", [("g", {"तापमान": 5, "a·b": 1})], None),
    "one without a name": ("[f(1)]", [F], None),
    "two without names": ("[f(1, 2)]", [("f", {"a": 1, "b": 2})], None),
    "one without a name, one with": ("[f(1, b=2)]", [("f", {"a": 1, "b": 2})], None),
    "an object and another value without names": ("[f({'a': 1}, 2)]", [("f", {"a": {"a": 1}, "b": 2})], None),
    "an object without a name, a value with one": ("[f({'a': 1}, b=2)]", [("f", {"a": {"a": 1}, "b": 2})], None),
    "all in an object": ("[f({'a': 1})]", [F], None),
    "an object that is a value": ("[f({'x': 1})]", [("f", {"a": {"x": 1}})], None),
    "an object, of a tool without parameters": ("[g({'x': 1})]", [("g", {"x": 1})], None),
    "none": ("[g()]", [G], None),
    "true, false and null": ("[g(a=true, b=false, c=null)]", [("g", {"a": True, "b": False, "c": None})], None),
}


def labelled(**tables: dict[str, Any]) -> dict[str, Any]:
    return {f"{table}: {label}": case for table, cases in tables.items() for label, case in cases.items()}


CALLS = labelled(list=LISTS, line=LINES, name=NAMES, arguments=ARGUMENTS)


@pytest.mark.parametrize(("text", "expected", "content"), CALLS.values(), ids=CALLS)
def test_calls(text: str, expected: list[tuple[str, dict[str, Any]]], content: str | None):
    extraction = read(text)
    assert calls(extraction) == expected
    assert extraction.content == content
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
    ('\'[g()] {"name": "g", "parameters": {}}\'', '[g()] {"name": "g", "parameters": {}}'),
    ("True", True),
    ("False", False),
    ("None", None),
    ("true", True),
    ("false", False),
    ("null", None),
    ("[true, {'k': null}]", [True, {"k": None}]),
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
    ("[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2), json.loads("[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2))),
]


@pytest.mark.parametrize(("written", "value"), VALUES, ids=[written[:40] for written, _ in VALUES])
def test_values_are_literals(written: str, value: object):
    (call,) = read(f"[f(a={written})]", is_sampled=True).tool_calls
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


MALFORMED = {
    "a variable": ("a=b", "expected a literal at offset 5, found the name 'b'"),
    "another constant": ("a=nan", "expected a literal at offset 5, found the name 'nan'"),
    "a sum": ("a=1+1", "expected ',' or the closing bracket at offset 6, found '+'"),
    "a method": ("a='x'.upper()", "expected ',' or the closing bracket at offset 8, found '.'"),
    "a minus before a string": ("a=-'x'", "no number"),
    "an imaginary number": ("a=1j", "expected a literal at offset 5, found '1j', no number that JSON has"),
    "a number with a zero before it": ("a=01", "no number"),
    "two underscores": ("a=1__0", "no number"),
    "a number that overflows": ("a=1e999", "no number"),
    "bytes": ("a=b'x'", "expected a literal at offset 5, found"),
    "an f-string": ("a=f'x'", "expected a literal at offset 5, found"),
    "strings side by side": ("a='x' 'y'", "expected ',' or the closing bracket at offset 9, found"),
    "strings side by side in a list": ("a=['x' 'y']", "expected ',' or the closing bracket at offset 10, found"),
    "a comprehension": ("a=[x for x in y]", "expected a literal or the closing bracket at offset 6, found"),
    "a lambda": ("a=lambda: 1", "expected a literal at offset 5, found the name 'lambda'"),
    "a negation": ("a=not True", "expected a literal at offset 5, found the name 'not'"),
    "unpacking": ("**a", "expected a literal or the closing bracket at offset 3, found '*'"),
    "a comparison": ("a==1", "expected a literal at offset 5, found '='"),
    "a constant as a name": ("True=1", "True"),
    "no comma": ("a=1 2", "expected ',' or the closing bracket at offset 7, found '2'"),
    "two commas": ("a=1,,", "expected a literal or the closing bracket at offset 7, found ','"),
    "a wrong bracket": ("a=[1}", "expected ',' or the closing bracket at offset 7, found '}'"),
    "a set with a pair": ("a={1, 'k': 2}", "expected ',' or the closing bracket at offset 12, found ':'"),
    "a key that is no string": ("a={1: 2}", "a key that is no string, before offset 7"),
    "what Meta's models write for a dict": ("{a=1}", "expected a literal or the closing bracket at offset 4, found"),
    "a line break in a string": ("a='x\ny'", "a line break in a string, at offset 7"),
    "half an escape": (r"a='\x4'", r"an escape that Python does not have in a string: \x, at offset 5"),
    "a character that has no name": (r"a='\N{no}'", r"an escape that names no character: \N{no}, at offset 5"),
    "half a surrogate pair": ("a='\ud83d'", "half a surrogate pair in the string at offset 5"),
    "half a surrogate pair, escaped": (r"a='\ud83d'", "half a surrogate pair in a string, at offset 5"),
    "an argument twice": ("a=1, a=2", "the argument 'a' stands twice, at offset 8"),
    "an argument twice, once without a name": ("1, a=2", "the argument 'a' stands twice"),
    "an argument without a name after one with": ("a=1, 2", "an argument without a name after one that has one"),
    "too many without a name": ("1, 2, 3", "3 arguments without a name, and 2 declared parameters to take them"),
    "too deep": ("a=" + "[" * MAX_DEPTH + "]" * MAX_DEPTH, "nested deeper than"),
}


@pytest.mark.parametrize(("arguments", "detail"), MALFORMED.values(), ids=MALFORMED)
def test_anything_else_is_malformed_and_hides_nothing(arguments: str, detail: str):
    extraction = read(f"[f({arguments})] [g()]")
    assert calls(extraction) == [G]
    assert extraction.content == f"[f({arguments})]"
    (rejection,) = extraction.rejections
    assert (rejection.name, rejection.is_attempt) == ("f", True)
    assert detail in rejection.detail


NEXT_TO_IT = {
    "bytes before a call": ("[f(x=b'z'), g()]", "[f(x=b'z'), ]", ["f"]),
    "an unknown tool before a call": ("[h(a=1), g()]", "[h(a=1), ]", ["h"]),
    "a malformed unknown tool before a call": ("[h(x=b'z'), g()]", "[h(x=b'z'), ]", ["h"]),
    "a malformed call after a call": ("[g(), f(a=b)]", "[ , f(a=b)]", ["f"]),
    "a malformed line before a line": ("f(a=b)\ng()", "f(a=b)", ["f"]),
}


@pytest.mark.parametrize(("text", "content", "rejected"), NEXT_TO_IT.values(), ids=NEXT_TO_IT)
def test_rule_2_a_bad_element_is_a_rejection_and_hides_no_call_beside_it(text: str, content: str, rejected: list[str]):
    extraction = read(text)
    assert (calls(extraction), extraction.content) == ([G], content)
    assert [rejection.name for rejection in extraction.rejections] == rejected


WITHIN = {
    "an argument": "[f(a=g())]",
    "an argument on a line": "f(a=g())",
    "an argument in a list": "[f(a=[g(), g()])]",
    "a part of a sum": "[f(a=1 + g())]",
    "a string": "[f(a=b, c='see g() now')]",
    "a string that holds a list": "[f(a=b, c='see [g()] now')]",
    "an f-string": "[f(a=f'see [g()] now')]",
}


@pytest.mark.parametrize("text", WITHIN.values(), ids=WITHIN)
def test_rule_6_nothing_within_a_malformed_call_is_promoted(text: str):
    extraction = read(text)
    assert (calls(extraction), extraction.content) == ([], text)
    assert [str(one.name) for one in extraction.rejections if one.is_attempt] == ["f"]


CUT_OFF = {
    "before a value": ("[f(a=", "the output ends inside it, where a literal was due"),
    "in an array": ("[f(a=[1", "the output ends inside it, where ',' or the closing bracket was due"),
    "in a word": ("[f(a=tru", "the output ends inside it, where"),
    "in a string": ("[f(a='x", "the output ends inside it, where the rest of a string was due"),
}


@pytest.mark.parametrize(("text", "detail"), CUT_OFF.values(), ids=CUT_OFF)
def test_rule_7_what_is_cut_off_is_no_call(text: str, detail: str):
    (rejection,) = read(text).rejections
    assert (str(rejection.reason), rejection.name, rejection.is_attempt) == ("truncated", "f", True)
    assert rejection.detail.startswith(detail)
    assert rejection.span == (1, len(text))


@pytest.mark.parametrize("text", ["[f(a=1), g()", "[f(a='x', b=[1, {'k': 'v'}])", "[f(a=1)"])
def test_rule_7_a_list_that_a_limit_cut_off_calls_nothing(text: str):
    for end in range(len(text) + 1):
        extraction = read(text[:end], complete=False, is_sampled=True)
        assert (extraction.content, extraction.tool_calls) == (text[:end], ())
        assert {str(rejection.reason) for rejection in extraction.rejections} <= {"truncated"}


NO_CALLS = {
    "in a sentence": "I call f(a=1) now.",
    "after a word": "Use f(a=1)",
    "assigned": "x = f(a=1)",
    "after a bullet": "- f(a=1)",
    "a method of something": "self.f(a=1)",
    "the end of a name": "reef(a=1)",
    "a parenthesis after a blank": "f (a=1)",
    "a parenthesis after a tab": "f\t(a=1)",
    "an attribute of it": "f(a=1).temperature",
    "in a sum": "f(a=1) + g()",
    "a comparison": "f(a=1) < 3",
    "before prose": "f(a=1) gives the weather",
    "before a clause": "f(a=1), which",
    "before another tool": "f(a=1), h()",
    "a definition": "def f(a=1):",
    "a signature": "f(a, b) takes two arguments",
    "a required argument missing": "f()",
    "a name alone": "f",
    "names in a list": "[f, g]",
    "a note": "[see (1)]",
    "bold within a line": "Now **f(a=1)** is it.",
    "bold that begins a line": "**f(a=1)** is it.",
    "indented code": "if x:\n    f(a=1)",
    "another tool": "[h(a=1)]",
    "another tool on a line": "h(a=1)",
    "an attribute of a tool": "[f.x(a=1)]",
}

CODE = {
    "a list assigned": "x = [f(a=1)]",
    "a list in a call": "print([f(a=1)])",
    "a list in a call, second": "foo(1, [f(a=1)])",
    "a list in a dict": "plan = {'a': [f(a=1)]}",
    "a list returned": "return [f(a=1)]",
    "a list asserted": "x = 1\nassert [f(a=1)]",
    "a list looped over": "for x in [f(a=1)]: pass",
    "a list in a lambda": "lambda x: [f(a=1)]",
    "a list in a condition": "x if [f(a=1)] else y",
    "a list after an operator": "x + [f(a=1)]",
    "a list after `or`": "x = y or [f(a=1)]",
    "a list after a comparison": "a < [f(a=1)]",
    "a list in a string": "Sure. g(text='see [f(a=1)] now')",
    "a list in a string after another": 'Sure. g(x="1", text="see [f(a=1)] now")',
    "an index": "items[f(a=1)]",
    "an index of the list": "Say [f(a=1)][1]",
    "a method of the list": "[f(a=1)].pop()",
    "a link": "[f(a=1)](http://x)",
    "a link in a sentence": "A link: [f(a=1)](x)",
    "a definition of a link": "[f(a=1)]: https://x",
    "directly after a word": "Sure[f(a=1)]",
}

OPERANDS = {
    "a sum": "[g() + g()]",
    "LaTeX": "so \\[ g() \\] is it",
    "a product in a sentence": "then [f(2) * g()] is 4",
    "an attribute": "[g().x]",
    "a comprehension": "[g() for x in y]",
}


@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
def test_prose_and_code_are_no_calls(text: str):
    extraction = read(text)
    assert (calls(extraction), extraction.content) == ([], text)


@pytest.mark.parametrize("text", CODE.values(), ids=CODE)
def test_a_list_that_is_a_part_of_code_or_of_a_link_is_no_call_but_says_so(text: str):
    extraction = read(text)
    assert (calls(extraction), extraction.content) == ([], text)
    assert [(str(one.reason), one.name, one.is_attempt) for one in extraction.rejections] == [
        ("not_a_call", "f", False)
    ]


@pytest.mark.parametrize("text", OPERANDS.values(), ids=OPERANDS)
def test_a_bracket_that_holds_an_expression_is_no_list(text: str):
    extraction = read(text)
    assert (calls(extraction), extraction.content) == ([], text)


def test_the_example_of_meta_s_prompt_is_no_call():
    echo = "[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]"
    for options in ({}, {"tools": None, "formats": "all"}):
        extraction = read(echo, **options)
        assert (extraction.content, extraction.tool_calls) == (echo, ())


ATTEMPTS = {
    "a named argument": ("f(a=g())", True),
    "a named argument, on lines": ("f(\n    a=g(\n    ),\n)", True),
    "a string that is cut off": ("f(a='x", True),
    "words": ("f(city) gives the weather", False),
    "an opening alone": ("f(", False),
    "a line that goes on": ("f(a=1) gives the weather", False),
}


@pytest.mark.parametrize(("text", "is_attempt"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_rule_15_without_brackets_a_named_argument_makes_an_attempt(text: str, is_attempt: bool):
    rejection = read(text).rejections[0]
    assert (rejection.name, rejection.is_attempt) == ("f", is_attempt)


def test_a_name_of_thousands_of_characters_is_none():
    extraction = read(f"[f(a=1, {'x' * 5000}=2)]", is_sampled=True)
    assert [one.detail for one in extraction.rejections] == [
        "expected a literal or the closing bracket at offset 8, found a long name"
    ]


def test_rule_15_a_rejection_ends_where_another_begins():
    text = 'x = [\nf(a="y'
    assert [text[slice(*one.span)] for one in read(text).rejections] == ["[\n", 'f(a="y']


ENDED_BRACKETS = {
    "of a call, before others in prose": ("f(q=[x\n])\nI mean (\nf(q=2)\n)\n", [2]),
    "of a list, before others in prose": ("[f(q=1), f(q=x\n)]\nThen (as said\nf(q=2)\n", [1, 2]),
    "of a list of objects": ("[{\nx }]\n(see\nf(q=1)\n", [1]),
    "open at the line break": ("f(q=[x\n\nf(q=2)\n", []),
}


@pytest.mark.parametrize(("text", "called"), ENDED_BRACKETS.values(), ids=ENDED_BRACKETS)
def test_brackets_that_broke_end_at_the_first_line_break_at_which_none_is_open(text: str, called: list[int]):
    extraction = extract_in_every_chunking(text, tools=[{"name": "f"}])
    assert [call.arguments["q"] for call in extraction.tool_calls] == called


@pytest.mark.parametrize("bad", [1, 2, 3, 5])
def test_rule_2_any_number_of_bad_elements_hides_no_call_after_them(bad: int):
    text = f"[{'now(zone=x), ' * bad}now(zone='UTC'), now(zone=y)]"
    extraction = extract_in_every_chunking(text, tools=[{"name": "now"}])
    assert [call.arguments for call in extraction.tool_calls] == [{"zone": "UTC"}]
    assert [str(attempt.reason) for attempt in extraction.attempts] == ["malformed"] * (bad + 1)


def test_rule_2_a_list_that_breaks_after_its_line_hides_nothing_on_the_next():
    assert calls(read("[f(a=1)\n<f{,[g()]")) == [F, G]


def test_a_list_of_another_tool_is_no_call_but_says_so():
    for name in ("h", "h.call"):
        (rejection,) = read(f"[{name}(a=1)]").rejections
        assert (str(rejection.reason), rejection.name) == ("unknown_tool", name)


@pytest.mark.parametrize(("kind", "arguments"), [("object", {"settings": {}}), ("string", {})])
def test_a_lone_empty_dict_is_the_object_that_a_tool_requires(kind: str, arguments: dict[str, Any]):
    schema = {"type": "object", "properties": {"settings": {"type": kind}, "b": {}}}
    (call,) = read("[u({})]", tools=[{"name": "u", "parameters": {**schema, "required": ["settings"]}}]).tool_calls
    assert call.arguments == arguments


@pytest.mark.parametrize("call", ["nn(a=1)", f"{'n' * 63}(a=1)", f"{'n' * 63}.call(a=1)"])
def test_a_call_is_found_wherever_it_stands_in_a_long_text(call: str):
    extractor = Extractor(tools=[{"name": "nn"}, {"name": "n" * 63}])
    for before in range(430, 530):
        (found,) = extractor.extract(f"{'x' * before}\n{call}\n{'y' * 700}").tool_calls
        assert found.span == (before + 1, before + 1 + len(call))


def test_a_name_that_python_could_not_have_is_read_all_the_same():
    tools = [{"name": name} for name in ("get-weather", "x" * 64, "früh", "from", "true")]
    for name in ("true", "get-weather", "from", "x" * 64, "früh"):
        assert calls(read(f"[{name}(a=1)]", tools=tools)) == [(name, {"a": 1})]
        assert calls(read(f"{name}(a=1)", tools=tools)) == [(name, {"a": 1})]


@pytest.mark.parametrize(
    ("before", "after"),
    [("[f(a=1)]", "\n"), ("[f(a=1)]", ";"), ("[f(a=1)].", "\n"), ("f(a=1)", "\n")],
)
def test_a_call_is_out_with_the_character_that_tells_that_it_is_no_code(before: str, after: str):
    stream = Extractor(tools=[{"name": "f"}]).stream()
    assert stream.feed(before) == []
    assert isinstance(stream.feed(after)[0], ToolCallReady)


def test_prose_about_a_call_flows():
    stream = Extractor(tools=TOOLS).stream()
    text = "f(x) is what " + "x" * 1000 + "! "
    assert "".join(event.text for event in stream.feed(text) if isinstance(event, TextDelta)) == text.rstrip()


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
    """Return what JSON makes of a literal."""
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
