"""Repair of malformed calls, `repair=True` (rule 6): of what is closed and beyond doubt, and of nothing else."""

from __future__ import annotations

import itertools
import json
import pickle
import re
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkings import extract_in_every_chunking, read
from llama3_tools import Extractor, Limits, TextDelta, ToolCall, extract
from llama3_tools.calls.repair_tokens import MAX_LENGTH
from llama3_tools.literals.json_depth import MAX_DEPTH
from steps import steps_of

TOOLS = [{"name": "f"}, {"name": "g", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}}]
GOOD = '{"name": "g", "parameters": {}}'
SPACE = " " * 300

REPAIRED: dict[str, tuple[str, dict[str, Any]]] = {
    "quotes of two kinds around a key": ("{\"name\":\"f\",\"parameters':{'city':'New York'}}", {"city": "New York"}),
    "single quotes": ("{'name': 'f', 'parameters': {'city': 'Paris'}}", {"city": "Paris"}),
    "an apostrophe in single quotes": ("{'name': 'f', 'parameters': {'q': 'it's \"5\"'}}", {"q": 'it\'s "5"'}),
    "single quotes, escaped": (r"{'name': 'f', 'parameters': {'q': 'it\'s'}}", {"q": "it's"}),
    "keys without quotes": ('{name: "f", parameters: {city: "Paris", b: 1}}', {"city": "Paris", "b": 1}),
    "a key without its first quote": ('{"name": "f", "parameters": {"a": ["x"],floor":""}}', {"a": ["x"], "floor": ""}),
    "commas at the end": ('{"name": "f", "parameters": {"a": ["x", 2,], "b": "x",},}', {"a": ["x", 2], "b": "x"}),
    "a comma at the end, far in": ('{"name": "f", "parameters": {"q": "%s",}}' % ("x" * 700), {"q": "x" * 700}),
    "no comma": ('{"name": "f" "parameters": {"a": 1 "b": {} "c": "x" "d": 2}}', {"a": 1, "b": {}, "c": "x", "d": 2}),
    "no colon": ('{"name" "f", "parameters" {"a": "x"}}', {"a": "x"}),
    "Python's literals": ('{"name": "f", "parameters": {"a": [True, False, None]}}', {"a": [True, False, None]}),
    "quotes in a string": (
        '{"name": "f", "parameters": {"command": "echo "hi" > flag.txt", "n": 1}}',
        {"command": 'echo "hi" > flag.txt', "n": 1},
    ),
    "quotes at the end of a string": ('{"name": "f", "parameters": {"q": "say "a" or "b""}}', {"q": 'say "a" or "b"'}),
    "quotes of one kind around two words": (
        "{'name': 'f', 'parameters': {'q': 'say 'a' 'b' to'}}",
        {"q": "say 'a' 'b' to"},
    ),
    "many quotes": ('{"name": "f", "parameters": {"q": "%s"}}' % ('a "b" c ' * 40), {"q": 'a "b" c ' * 40}),
    "quotes around a brace": ('{"name": "f", "parameters": {"q": "say "x{1}" to"}}', {"q": 'say "x{1}" to'}),
    "much space between quotes": (f'{{"name": "f", "parameters": {{"q": "a "b"{SPACE}c"}}}}', {"q": f'a "b"{SPACE}c'}),
    "an odd quote, escaped": (r'{"name": "f", "parameters": {"q": "5\" wide",}}', {"q": '5" wide'}),
    "an escape of Python's": (
        r'{"name": "f", "parameters": {"code": "print(open(\'a.txt\').read())"}}',
        {"code": "print(open('a.txt').read())"},
    ),
    "an escape of Python's beside one of JSON's": (
        r'{"name": "f", "parameters": {"code": "print(\'hi\')\nx = \"\u00e9\""}}',
        {"code": "print('hi')\nx = \"\u00e9\""},
    ),
    "escapes that are none": (
        r'{"name": "f", "parameters": {"command": "find a -exec ls {} \;", "re": "\d+\.\w", "q": "a\n\"\u00e9\""}}',
        {"command": r"find a -exec ls {} \;", "re": r"\d+\.\w", "q": 'a\n"\u00e9"'},
    ),
    "escapes of regular expressions": (r'{"name": "f", "parameters": {"re": "\X+\d"}}', {"re": r"\X+\d"}),
    "escapes that JSON and Python share": (
        r"""{'name': 'f', 'parameters': {'q': '\"a\"\t\\\'\u00e9'}}""",
        {"q": '"a"\t\\\'\u00e9'},
    ),
    "code in quotes": (
        '{"name": "f", "parameters": {"code": "say("x"); n ="y"", "list": ["print(\'a\', \'\')", "{\'k\': [\'v\']}"]}}',
        {"code": 'say("x"); n ="y"', "list": ["print('a', '')", "{'k': ['v']}"]},
    ),
    "quotes behind an escape": (r"""{"name": "f", "parameters": {"q": "\n'x', 'y'",}}""", {"q": "\n'x', 'y'"}),
    "a comment in a string": ("{'name': 'f', 'parameters': {'q': '# 5\" x\n', 'n': 1}}", {"q": '# 5" x\n', "n": 1}),
    "JSON in single quotes": (
        """{'name': 'f', 'parameters': {'q': '{"a": 1, "b": ""}'}}""",
        {"q": '{"a": 1, "b": ""}'},
    ),
    "what looks like a key in plain quotes": (
        "{'name': 'f', 'parameters': {'q': 'Dear Bob, note: x'}}",
        {"q": "Dear Bob, note: x"},
    ),
    "apostrophes": (
        "{'name': 'f', 'parameters': {'q': 'I'll say it's O'Brien's by d'Artagnan', \"a\": \"the dogs' food\"}}",
        {"q": "I'll say it's O'Brien's by d'Artagnan", "a": "the dogs' food"},
    ),
    "an empty key": ("{'name': 'f', 'parameters': {'': 1}}", {"": 1}),
    "comments": (
        '{"name": "f", /* "} */ "parameters": {"a": 1 // one of {\n, # it\'s "two", \'II\'\n "b": /**/ 2}}',
        {"a": 1, "b": 2},
    ),
    "a comment in front": ('{# "why"\n // two\n/**/ "name": "f", "parameters": {},}', {}),
    "line breaks and tabs in a string": ('{"name": "f", "parameters": {"q": "one\n\ttwo\n"}}', {"q": "one\n\ttwo\n"}),
    "good escapes beside it": (r'{"name": "f", "parameters": {"q": "a:\/\/\ud83d\ude00",}}', {"q": "a://\U0001f600"}),
    "arguments in a string": (r"""{'name': 'f', 'parameters': "{\"a\": 1}"}""", {"a": 1}),
    "numbers": (
        "{'name': 'f', 'parameters': {'a': -1.10e+2, 'b': %s}}" % ("7" * 40),
        {"a": -110.0, "b": int("7" * 40)},
    ),
    "the shape of the 1B": ("{'type': 'function', 'function': 'f', 'parameters': {'a': 1}}", {"a": 1}),
    "OpenAI's shape": (
        "{'type': 'function', 'function': {'name': 'f', 'arguments': {'a': {'b': []}}}}",
        {"a": {"b": []}},
    ),
    "white space": ("{\n  'name' : 'f' ,\n  'parameters' : { 'a' : 1\n}\n}", {"a": 1}),
}

AS_WITHOUT = {
    # Cut off, or not closed: a brace is missing, and what follows is no part of the call.
    "a missing brace": "{'name': 'f', 'parameters': {'a': 'x'}",
    "a missing brace, and text": "{'name': 'f', 'parameters': {'a': 'x'} and more.",
    "a missing quote": '{"name": "f", "parameters": {"a": "x, "b": "y"}}',
    "a missing quote at the end": '{"name": "f", "parameters": {"command": "a "b" || echo "0"}}',
    "a missing quote in single quotes": "{'name': 'f', 'parameters': {'a': 'x}}",
    "a wrong bracket": "{'name': 'f', 'parameters': {'a': [1}}}",
    "an open comment": "{'name': 'f', /* 'parameters': {}}",
    # Not a call of a declared tool.
    "an unknown tool": "{'name': 'rm', 'parameters': {'path': '/'}}",
    "no name": "{'type': 'f', 'parameters': {}}",
    "no arguments that it needs": "{'name': 'f', 'parameters': 'x'}",
    "no word of arguments": "{'name': 'f', 'type': 'function'}",
    "a schema": "{'name': 'f', 'description': 'x', 'parameters': {'type': 'object', 'properties': {}}}",
    "a message alone": "{'message': 'f', 'tool_call': None}",
    "a wrapper that nobody has": "{'query': {'name': 'f', 'parameters': {}}}",
    "an array with no more hope": "[1, {'name': 'f', 'parameters': {}}, oops]",
    "an envelope of an unknown tool": "{'message': 'Hm.', 'tool_call': {'name': 'rm', 'parameters': {}}}",
    "an envelope with two": "{'tool_call': {'name': 'f', 'parameters': {}}, 'tool_calls': []}",
    # Values that would have to be made up.
    "a variable": '{"name": "f", "parameters": {"a": oops}}',
    "a placeholder": '{"name": "f", "parameters": {"a": <slope>}}',
    "an expression": '{"name": "f", "parameters": {"p": 1/6}}',
    "a concatenation": '{"name": "f", "parameters": {"a": "x" + "y"}}',
    "a method": '{"name": "f", "parameters": {"a": "x".upper()}}',
    "a missing value": '{"name": "f", "parameters": {"a": }}',
    "NaN": '{"name": "f", "parameters": {"a": NaN}}',
    "a number that overflows": "{'name': 'f', 'parameters': {'a': 1e999}}",
    "a leading zero": '{"name": "f", "parameters": {"a": 01}}',
    "a leading plus": '{"name": "f", "parameters": {"a": +1}}',
    "a hexadecimal number": '{"name": "f", "parameters": {"a": 0x1F}}',
    "an ellipsis": '{"name": "f", "parameters": {"a": [1, ...]}}',
    "three quotes": '{"name": "f", "parameters": {"a": """x"""}}',
    "two commas": '{"name": "f", "parameters": {"a": [1,, 2]}}',
    "half a surrogate pair": r"{'name': 'f', 'parameters': {'a': '\ud83d'}}",
    "half a surrogate pair in a key": r"{'name': 'f', 'parameters': {'\ud83d': 1}}",
    "a raw half of a surrogate pair": "{'name': 'f', 'parameters': {'a': '\ud83d'}}",
    "half a surrogate pair, and a raw half": "{'name': 'f', 'parameters': {'a': '\\ud83d\udcd2'}}",
    "a key that stands twice": "{'name': 'f', 'parameters': {'a': 1}, 'parameters': {'a': 2}}",
    "a key that stands twice in a value": "{'name': 'f', 'parameters': {'a': {'b': 1, 'b': 2}}}",
    # Where a string ends is anybody's guess.
    "JSON in a string": '{"name": "f", "parameters": {"c": "curl -d \'{"command": "jq", "args": "x"}\' http"}}',
    "two strings side by side": "{'name': 'f', 'parameters': {'a': ['x' 'y', 'z']}}",
    "two strings side by side in an object": "{'name': 'f', 'parameters': {'q': 'a' 'b'}}",
    "two strings that touch": "{'name': 'f', 'parameters': {'q': 'a''b'}}",
    "two strings with different quotes": """{'name': 'f', 'parameters': {'q': 'a' "b"}}""",
    "an odd quote": '{"name": "f", "parameters": {"c": "5" wide"}}',
    "an odd quote, escaped": r'{"name": "f", "parameters": {"c": "[\"cover\]", "d": 1}}',
    "an odd quote at the start": "{'name': 'f', 'parameters': {'q': ''tis so'}}",
    "pairs of quotes, and another string": """{'name': 'f', 'parameters': {'q': 'a 'b ' c'" 'd'}}""",
    "quotes and commas": '{"name": "f", "parameters": {"c": "print("a", "b")"}}',
    "quotes around a brace": '{"name": "f", "parameters": {"c": "{"a"}"}}',
    "a quote behind the end": '{"name": "f", "parameters": {"c": "echo "a" > "}}" now"}}',
    "much space behind a quote": f'{{"name": "f", "parameters": {{"q": "x"{SPACE},}}}}',
    "arguments under a broken key": "{'name': 'f', 'paramet,ers': {'a': 1}}",
    # A key in a value, or the other way round.
    "no comma before a bare key": '{"name": "f", "parameters": {city: "Paris" unit: "c"}}',
    "no comma before a bare key, single quotes": "{'name': 'f', 'parameters': {city: 'Paris' unit: 'c'}}",
    "another quote behind a value and a key": """{"name": "f", "parameters": {"city": "Paris', "unit': "c"}}""",
    "another quote before two values": """{"name": "f", "parameters": {"city": 'Paris", 'unit": 'c'}}""",
    "no quote behind a value and a key": '{"name": "f", "parameters": {"city": "Paris, "unit: "c"}}',
    "no quotes within an array": '{"name": "f", "parameters": {"a": ["x, "y, "z"]}}',
    "quotes twice": '{"name": "f", "parameters": {"city"": "Paris"", "days"": "3""}}',
    "quotes twice around a value": '{"name": "f", "parameters": {"city": ""Paris""}}',
    "quotes that touch between members": "{'name': 'f', 'parameters': {'a': 'x''b': 1}}",
    "quotes that touch between key and value": '{"name": "f", "parameters": {"a""x"}}',
    "a member in a value": """{'name': "f", "parameters": {"city": "Paris', 'unit': 'c"}}""",
    "a key in a value": """{'name': "f", "parameters": {"city": "Paris, 'unit': c"}}""",
    "a bare key in a value": """{"name": "f", parameters: {"city": "Paris, unit: c"}}""",
    "a bare key in a value, half quoted": """{"name": "f", "parameters": {"city': "Paris, unit: c"}}""",
    "a key and its value in a key": """{"name": "f", "parameters": {"my city': 1, 'unit": 2,}}""",
    "a key and its value in a key, without quotes": '{"name": "f", "parameters": {"a: 1, b": 2,}}',
    "an apostrophe that may be a quote": "{name: 'f', parameters: {to: '-,is_ok'wow!'}}",
    "an apostrophe that may be a quote, behind a comma": "{name: 'f', parameters: {a: '-, b'wow!'}}",
    "an apostrophe that may be a quote, right behind a comma": "{name: 'f', parameters: {a: '-,b'wow!'}}",
    "two strings in one": """{name: "f", "parameters": {q: ["'a','b'"]}}""",
    "a comma at the end of a string, and a line break": "{'name': 'f', 'parameters': {'a': 'x,'\n'b': 'y'}}",
    "a comma at the end of a string, and none behind": '{"name": "f", "parameters": {"a": "x, " "b": "y"}}',
    "an empty string, and more": '{name: "f", parameters: {a: ""}}", b: 1}}',
    "a blank string, and more": "{'name': 'f', 'parameters': {'a': ' '}}'}}",
    "a string in a comment": '{"name": "f", "parameters": {"a": ["x", // y",\n"z"]}}',
    "a string in a comment, single quotes": "{'name': 'f', 'parameters': {'a': ['x', # y',\n'z']}}",
    **{
        f"other quotes in {value}": f'{{"name": "f", "parameters": {{"q": "{value}",}}}}'
        for value in (
            *("'x", "x'", "x, 'y", "x: 'y", "x{ 'y", "x ', y", "x ': y", "x' }y", "x! ''y", "x' y: z", "x' y': z"),
            *("(x) 'y':z", "x' 'y' z'"),
        )
    },
    **{
        f"quotes in {value}": f'{{"name": "f", "parameters": {{"q": "{value}"}}}}'
        for value in (
            *('x" y" z', 'x: "y" z', '"y" z', 'x " y" z', 'x ";y" z', 'x "y " z', 'x "y"z', 'x ("y" "z', 'x ""y z'),
            *('x "|" z', 'x "|y|" z', 'x "if y else" z', 'x "and |" z', 'x "|y not" z'),
            *(f'x "{word}" z' for word in ("or", "in", "is", "xor", "div", "mod")),
        )
    },
    # A backslash that may be one, or begin an escape.
    "a path": r'{"name": "f", "parameters": {"path": "C:\Users\bob\notes.txt"}}',
    "another path": r'{"name": "f", "parameters": {"path": "C:\work\tmp\readme.md"}}',
    "a path from the root": r'{"name": "f", "parameters": {"path": "\Users"}}',
    "a regular expression": r'{"name": "f", "parameters": {"re": "^\s*\bfoo\b\.\d+$"}}',
    "an escaped quote and a plain backslash": r'{"name": "f", "parameters": {"c": "find \"a\" -exec ls {} \;"}}',
    "an escaped backslash and a plain one": r'{"name": "f", "parameters": {"c": "C:\\docs\wide"}}',
    "an apostrophe that is escaped, and a plain backslash": r'{"name": "f", "parameters": {"c": "sub(\'\d\')"}}',
    "no escape of JSON's": r'{"name": "f", "parameters": {"c": "caf\u00g9"}}',
    "a slash that Python does not escape": r"{'name': 'f', 'parameters': {'c': 'a\/b'}}",
    # Expressions, which are no strings.
    **{
        f"the expression {value}": f'{{"name": "f", "parameters": {{"path": {value}}}}}'
        for value in (
            *('"a" if x else "b"', '"a" or "b"', '"a" & name & "b"', '"Paris"/"Rome"', '"a" == "b"', '"a" - "b"'),
            *(
                '"a" * "b"',
                '"a" | "b"',
                '"a" || "b"',
                '"a "or" b"',
                "'a'or'b'",
                "'a'or b'c'",
                "'x or'b'",
                "7 // 2\n",
                "7 //n\n",
            ),
            *("7 // n if x else 1\n", "7 // n or m\n"),
        )
    },
    # Prose, code and data with braces.
    "prose": "Use {name} and {'name'}, {name: 'f'}, {name and f}, { 'x' } or {}.",
    "a dict in Python": "tool = {'name': 'f', 'parameters': {'a': 1}}",
    "an argument in Python": "print({'name': 'f', 'parameters': {'a': 1}})",
    "a dict that is returned": "    return {'name': 'f', 'parameters': {'a': 1}}",
    "an indented dict in Python": f"tools = [1,\n{' ' * 40}{{'name': 'f', 'parameters': {{'a': 1}}}}]",
    "an object in JavaScript": 'const call = {name: "f", parameters: {a: 1}};',
    "a set": "{'name', 'f'}",
    "another dict": "{'city': 'Paris', 'tool': 'f', 'name': 'f', 'parameters': {}}",
    "CSS": "a {name: f; color: red} b { content: 'f' }",
    "JavaScript": "function f() {name = 'f'; return {content: 'f'};}",
    "LaTeX": r"\frac{name}{id} and {type}",
    "a listing": "```python\ncall = {'name': 'f', 'parameters': {}}\n```",
    "thought": "<think>{'name': 'f', 'parameters': {}}</think>",
}


@pytest.mark.parametrize(("text", "arguments"), REPAIRED.values(), ids=REPAIRED.keys())
def test_what_is_closed_and_beyond_doubt_is_repaired(text: str, arguments: dict[str, Any]):
    output = f"One moment: {text} Done; {GOOD} now."
    first, second = extract_in_every_chunking(output, tools=TOOLS, repair=True).tool_calls
    assert (first.name, first.arguments, json.loads(first.arguments_json)) == ("f", arguments, arguments)
    assert output[slice(*first.span)] == first.repaired_from == text
    assert (second.name, second.repaired_from) == ("g", None)
    alone = extract_in_every_chunking(text, tools=TOOLS, repair=True)
    assert (alone.content, len(alone.tool_calls), alone.rejections) == (None, 1, ())
    assert repr(alone.tool_calls[0]).endswith(f"json 0:{len(text)} repaired>")


@pytest.mark.parametrize("text", [text for text, _ in REPAIRED.values()], ids=REPAIRED.keys())
def test_it_is_text_unless_repair_is_asked_for(text: str):
    assert extract(text, tools=TOOLS).content == text


@pytest.mark.parametrize("text", [text for text, _ in REPAIRED.values()], ids=REPAIRED.keys())
def test_rule_7_what_is_cut_off_is_never_repaired(text: str):
    extractor = Extractor(tools=TOOLS, repair=True)
    for end in range(len(text)):
        assert extractor.extract(text[:end]).content == text[:end]


@pytest.mark.parametrize("text", [text for text, _ in REPAIRED.values()], ids=REPAIRED.keys())
def test_what_was_repaired_needs_no_repair(text: str):
    (call,) = extract(text, tools=TOOLS, repair=True).tool_calls
    written = json.dumps({"name": call.name, "parameters": json.loads(call.arguments_json)})
    (again,) = extract(written, tools=TOOLS, repair=True).tool_calls
    assert (again.arguments, again.repaired_from) == (call.arguments, None)


@pytest.mark.parametrize(
    "pattern",
    [
        '{"name": "f", "parameters": {%scity%s: %sParis%s, %sunit%s: %sc%s}}',
        '{"name":"f","parameters":{%scity%s:%sParis%s,%sunit%s:%sc%s}}',
        "{'name': 'f', 'parameters': {%scity%s: %sParis%s, %sunit%s: %sc%s}}",
    ],
)
@pytest.mark.parametrize("quotes", [("'", '"'), ('"', '""'), ("'", "''"), ('"', ""), ("'", "\"'")])
def test_whatever_quotes_are_wrong_nothing_but_what_was_meant_is_called(pattern: str, quotes: tuple[str, str]):
    extractor = Extractor(tools=TOOLS, repair=True, id_factory=str)
    for eight in itertools.product(quotes, repeat=8):
        text = pattern % eight
        for call in extractor.extract(text).tool_calls:
            assert call.repaired_from is None or call.arguments == {"city": "Paris", "unit": "c"}, text


@pytest.mark.parametrize("text", AS_WITHOUT.values(), ids=AS_WITHOUT.keys())
def test_anything_else_is_as_without_repair(text: str):
    assert extract_in_every_chunking(text, tools=TOOLS, repair=True, is_sampled=True) == extract(text, tools=TOOLS)


@pytest.mark.parametrize("text", AS_WITHOUT.values(), ids=AS_WITHOUT.keys())
def test_rule_6_it_hides_no_call_that_follows(text: str):
    for output in (f"{text}\n{GOOD}", f"Now: {text}\n\n{GOOD} and {GOOD}"):
        expected = extract(output, tools=TOOLS)
        assert extract(output, tools=TOOLS, repair=True).tool_calls == expected.tool_calls


@pytest.mark.parametrize(
    "text",
    [
        # A call left open, then valid ones: the 8B's commonest broken shape.
        f'{{"name": "f", "parameters": {{"query": "F-0001; {GOOD}; {GOOD}',
        f'{{"name": "f", "parameters": {{"query": "F-0001", {GOOD}; {GOOD}}}',
        f'{{"name": "f", "parameters": {{"a": True}}; {GOOD}; {GOOD}}}',
        f"{{'name': 'f', 'parameters': {{'a': 1, {GOOD}; {GOOD}",
    ],
)
def test_rule_6_a_broken_call_swallows_none_behind_it(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS, repair=True)
    assert [call.name for call in extraction.tool_calls] == ["g", "g"]
    assert extraction == extract(text, tools=TOOLS)


@pytest.mark.parametrize(
    "text",
    [
        "{'a': {'name': 'g', 'parameters': {}}}",
        "{'a': [1, {'name': 'g', 'parameters': {}}], 'b': oops}",
        "{ {'name': 'g', 'parameters': {}} }",
        "{'name': 'f', 'parameters': {'a': {'name': 'g', 'parameters': {}}, oops}}",
        "{'name': 'rm', 'parameters': {'a': {'name': 'g', 'parameters': {}}}}",
        "{'name': 'f', 'parameters' {'name': 'g', 'parameters': {}}, oops}",
        *(
            f"{{'type': 'f' && '', {key} {{'name': 'g', 'parameters': {{}}}}}}"
            for key in ("'function'::", "'function' =>", "'function',:", "'function:", "'function'", "function")
        ),
        "{'type': 'f' && '', 'function'/* c */: {'name': 'g', 'parameters': {}}}",
        "{'type': 'f' && '', 'function': /* c */ {'name': 'g', 'parameters': {}}}",
    ],
)
def test_rule_6_an_object_within_is_never_promoted(text: str):
    assert not extract_in_every_chunking(text, tools=TOOLS, repair=True).tools_called


MALFORMED = "{'name': 'f', 'parameters': {'a': 1}}"
UNQUOTED = "{name: 'f', 'parameters': {'a': 1}}"


@pytest.mark.parametrize(
    ("text", "format_", "content"),
    [
        (f"<tool_call>{MALFORMED}</tool_call> Done.", "tool_call", "Done."),
        (f"call = <tool_call>\n{MALFORMED}\n{GOOD}", "tool_call", "call ="),
        (f"```json\n{MALFORMED}\n```", "fence", None),
        (f"<|python_tag|>{MALFORMED}<|eom_id|>", "json", None),
        (f"{GOOD}; {MALFORMED}; {GOOD}", "json", None),
        (f"{GOOD}, {MALFORMED}", "json", None),
        (f"Now both: [{MALFORMED}, {GOOD}] Done.", "json", "Now both: Done."),
        (f"{{'message': 'Hm.', 'tool_call': {MALFORMED}}} Done.", "envelope", "Hm. Done."),
        (f"Well: {{'message': 'Hm.', 'tool_call': {MALFORMED}}} Done.", "envelope", "Well: Hm. Done."),
        (f"{{'content': None, 'tool_calls': [{MALFORMED}, {GOOD}]}}", "envelope", None),
        (f"<tool_call>{MALFORMED} and prose</tool_call>", "json", "<tool_call> and prose</tool_call>"),
        (f"<tool_call>{MALFORMED} {{'id': oops", "json", "<tool_call> {'id': oops"),
        (f"{{'a': {{'b': 1}}, oops}} {MALFORMED}", "json", "{'a': {'b': 1}, oops}"),
    ],
)
def test_it_is_repaired_wherever_a_call_may_stand(text: str, format_: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS, repair=True)
    assert extraction.content == content
    (call,) = (call for call in extraction.tool_calls if call.name == "f")
    assert (call.arguments, call.format, text[slice(*call.span)]) == ({"a": 1}, format_, MALFORMED)
    assert MALFORMED in str(call.repaired_from)
    assert len(extraction.tool_calls) == 1 + text.count(GOOD)
    start = text.index(str(call.repaired_from))
    end = start + len(str(call.repaired_from))
    for other in extraction.tool_calls:
        assert other.repaired_from == (call.repaired_from if start <= other.span[0] < end else None)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"message": "Hm.", "tool_calls": [{GOOD},]}}',
        f'{{"message": "Hm.", "tool_call": {GOOD},}}',
    ],
)
def test_a_call_that_only_repair_makes_is_marked_though_it_is_well_formed_itself(text: str):
    assert not extract(text, tools=TOOLS).tools_called
    calls = extract_in_every_chunking(text, tools=TOOLS, repair=True).tool_calls
    assert text[slice(*calls[0].span)] == GOOD
    assert all(call.repaired_from == text for call in calls)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("<function=f>{'a': 1,}</function> Done.", "f"),
        ("<function=f>{a: 1}", "f"),
        ("<function=f>{a: 1}</function><function=f>{a: 1}</function>", "ff"),
        ("<function=rm>{'a': 1}</function>", ""),
        ("<function=f>{'a': oops}</function>", ""),
        ("<function=f>{'a': 1, 'a': 2}</function>", ""),
        ("<function=f>{'a': 1}</tool>", ""),
        ("<function=f>{'a': 1", ""),
    ],
)
def test_of_a_function_tag_the_arguments_are_repaired(text: str, names: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS, repair=True, on_unknown_tool="call")
    assert [(call.name, call.arguments) for call in extraction.tool_calls] == [(name, {"a": 1}) for name in names]
    assert all(call.repaired_from == text[text.index("{") : text.index("}") + 1] for call in extraction.tool_calls)


def test_between_backticks_it_is_quoted():
    extraction = extract_in_every_chunking(f"Write `{MALFORMED}` to call f.", tools=TOOLS, repair=True)
    assert [str(rejection.reason) for rejection in extraction.rejections] == ["quoted"]


@pytest.mark.parametrize(
    "value",
    ["'x' 'y", "'x 'y' z' 'w", "'x' + 'y", "['x' 'y"],
    ids=["two strings side by side", "the same after a word in quotes", "an expression", "two strings in an array"],
)
def test_the_search_goes_on_where_no_string_can_stand(value: str):
    output = f"{{'name': 'f', 'a': {value}}}}} {MALFORMED}"
    (call,) = extract_in_every_chunking(output, tools=TOOLS, repair=True).tool_calls
    assert (call.arguments, call.repaired_from) == ({"a": 1}, MALFORMED)


@pytest.mark.parametrize(
    "text",
    [
        "{'name': 'rm', 'parameters': {}}",
        "{'name': 'rm', 'parameters': {'path': 'f'}}",
        "{'tool_calls': [{'name': 'f', 'parameters': {}}, {'name': 'rm', 'parameters': {}}]}",
    ],
    ids=["no argument", "the name of a tool among the arguments", "beside a declared one in an envelope"],
)
def test_an_unknown_tool_is_not_repaired_even_where_it_would_be_let_through(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS, repair=True, on_unknown_tool="call")
    assert (extraction.content, extraction.tool_calls) == (text, ())


def test_an_envelope_without_a_call_is_not_repaired():
    text = "{'message': 'f', 'tool_calls': [], 'id': {'parameters': 1}}"
    assert extract_in_every_chunking(text, tools=TOOLS, repair=True).content == text


@pytest.mark.parametrize("first", ["Note", "_note", "\u00e9t\u00e9", "7", "-", "("])
@pytest.mark.parametrize("before", ["{", "{ \n", "<tool_call>{"])
def test_whatever_key_comes_first_a_stream_reads_it_as_one_shot(before: str, first: str):
    text = f"{before}{first}: 1, 'name': 'f', 'parameters': {{}}}}"
    calls = extract_in_every_chunking(text, tools=TOOLS, repair=True, lenient=True).tool_calls
    assert bool(calls) == first.isidentifier()


def test_it_adds_up_with_lenient_and_coercion():
    text = "{'args': {'days': '3'}, 'tool_name': 'g'}"
    assert not extract_in_every_chunking(text, tools=TOOLS, repair=True).tools_called
    (call,) = extract_in_every_chunking(text, tools=TOOLS, repair=True, lenient=True, coerce_arguments=True).tool_calls
    assert (call.arguments, call.arguments_json, call.repaired_from) == ({"days": 3}, '{"days":"3"}', text)
    assert call.deviations


def test_numbers_keep_their_digits():
    (call,) = extract("{'name': 'f', 'parameters': {'rate': 1.10}}", tools=TOOLS, repair=True).tool_calls
    assert call.arguments_json == '{"rate":1.10}'


def test_an_id_is_made_for_a_call_alone():
    numbers = count(1)
    extractor = Extractor(tools=TOOLS, repair=True, on_unknown_tool="call", id_factory=lambda: f"id{next(numbers)}")
    text = f"{{'name': 'rm', 'parameters': {{}}}} {MALFORMED}"
    assert [call.id for call in extractor.extract(text).tool_calls] == ["id1"]


def test_a_call_comes_once_it_is_closed_and_prose_flows():
    stream = Extractor(tools=TOOLS, repair=True).stream()
    assert stream.feed("Use {x} or {'x': 1} or {name} {name") == [TextDelta("Use {x} or {'x': 1} or {name}")]
    assert stream.feed(": 'f', 'parameters': {'q': 'x'}") == []
    (event,) = stream.feed("}")
    assert isinstance(getattr(event, "tool_call", None), ToolCall)
    assert stream.feed(' {"name": "f", "parameters": {"a": oops') == [
        TextDelta(' {"name": "f", "parameters": {"a": oops')
    ]


def test_nothing_is_held_back_for_it_unless_it_is_asked_for():
    assert Extractor(tools=TOOLS).stream().feed("{name: 'f',") == [TextDelta("{name: 'f',")]
    assert Extractor(tools=TOOLS).stream().feed("{'B") == [TextDelta("{'B")]


@pytest.mark.parametrize("value", ["[" * (MAX_DEPTH - 1), "'" + "x" * (MAX_LENGTH - 33)])
def test_what_is_too_much_flows_at_once(value: str):
    stream, text = Extractor(tools=TOOLS, repair=True).stream(), f"{{name: 'f', 'parameters': {{'a': {value}"
    assert not stream.feed(text[:-1])
    assert stream.feed(text[-1])


@pytest.mark.parametrize(
    ("shape", "most"),
    [
        (lambda length: f"{UNQUOTED[:-1]:{length - 1}}}}", MAX_LENGTH),
        (lambda depth: f"{{name: 'f', 'parameters': {{'a': {'[' * (depth - 2)}{']' * (depth - 2)}}}}}", MAX_DEPTH),
        (lambda length: f"{{'name': 'f', /*{'x' * length}*/ 'parameters': {{}}}}", 1024),
    ],
    ids=["characters", "levels", "characters of a comment"],
)
def test_of_everything_there_is_a_most(shape: Callable[[int], str], most: int):
    assert extract(shape(most), tools=TOOLS, repair=True).tools_called
    assert not extract(shape(most + 1), tools=TOOLS, repair=True).tools_called


@pytest.mark.parametrize("text", ["{name: '" + "x" * 2 * MAX_LENGTH, "{name:" + " " * 2 * MAX_LENGTH])
def test_for_repair_no_more_is_read_than_may_be_repaired(text: str):
    extractor = Extractor(tools=TOOLS, repair=True, limits=Limits(max_call_length=MAX_LENGTH + 100))
    assert not extractor.extract(text).rejections


def test_an_extractor_that_repairs_can_be_pickled():
    extractor = pickle.loads(pickle.dumps(Extractor(tools=TOOLS, repair=True, id_factory=str)))  # noqa: S301
    assert extractor.extract(MALFORMED).tools_called


def test_repair_is_for_declared_tools():
    with pytest.raises(ValueError, match="pass tools"):
        Extractor(repair=True)


PIECES = [
    *(
        "{'name': 'f', 'parameters': {",
        '{"name": "g", "parameters": {',
        "{",
        "}",
        "}}",
        "[",
        "]",
        ",",
        ":",
        '"',
        "'",
        '"a": ',
    ),
    *(
        "'b': ",
        "c: ",
        '"x"',
        "'y'",
        "1",
        "True",
        "None",
        "nul",
        " ",
        "\n",
        "/* c */",
        "#",
        "//",
        "\\'",
        "\\d",
        "\\u00e9",
        "it's",
    ),
    *("say", "-", "<tool_call>", "</tool_call>", "<function=f>", "```json\n", "\n```", "\ud83d", "é", MALFORMED, GOOD),
]


@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join))
@settings(max_examples=60)
def test_nothing_is_made_up_and_every_chunking_gives_the_same(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS, repair=True)
    for call in extraction.tool_calls:
        original = call.repaired_from
        if original is not None:
            assert original in text
            written = re.findall(r"\w+", call.arguments_json.replace("\\n", " "))
            meant = original.replace(r"\u00e9", "é").replace("True", "true").replace("None", "null")
            assert all(word in meant for word in written)


@pytest.mark.parametrize("chunk", [0, 1, 7])
@pytest.mark.parametrize(
    "piece",
    [
        '{"name":\'',
        "{'name': 'f', 'a': [{",
        "{'name': 'f', 'parameters': {'a': \"",
        "{'name': 'f', /* ",
        '{"name": "f" "f" ',
        "{'name': 'f', 'parameters': {'a': oops}} ",
        "[{'name': 'f', ",
        f"{MALFORMED} ",
        '{"name": "f", "parameters\':{',
    ],
)
def test_the_work_grows_as_the_output_does(piece: str, chunk: int):
    extractor = Extractor(tools=TOOLS, repair=True, id_factory=str)

    def steps(length: int) -> int:
        text = piece * (length // len(piece))
        chunks = [text[at : at + chunk] for at in range(0, len(text), chunk)] if chunk else [text]
        return steps_of(lambda: read(chunks, extractor))

    assert steps(3 * MAX_LENGTH) < 2.4 * steps(3 * MAX_LENGTH // 2)
