"""Principle 6: `repair=True` reads what has one reading only, for declared tools, and runs nothing twice."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, Limits, extract
from told import CLOCK, called, calls, refused, tool

TOOLS = [tool("f", "a", "b", "q"), tool("clock")]
REPAIRED: dict[str, tuple[str, dict[str, Any]]] = {
    "single quotes": ("{'name': 'f', 'parameters': {'city': 'Paris'}}", {"city": "Paris"}),
    "a comma too many": ('{"name": "f", "parameters": {"a": ["x", 2,], "b": "x",},}', {"a": ["x", 2], "b": "x"}),
    "a comma too many, far in": (f'{{"name": "f", "parameters": {{"q": "{"x" * 700}",}}}}', {"q": "x" * 700}),
    "a comma too few": (
        '{"name": "f" "parameters": {"a": 1 "b": {} "c": "x" "d": 2}}',
        {"a": 1, "b": {}, "c": "x", "d": 2},
    ),
    "Python's constants": ('{"name": "f", "parameters": {"a": [True, False, None]}}', {"a": [True, False, None]}),
    "the arguments first": ('{"arguments": {"a": True}, "name": "f"}', {"a": True}),
    "an odd quote, escaped": (r'{"name": "f", "parameters": {"q": "5\" wide",}}', {"q": '5" wide'}),
    "an escape of Python's": (r'{"name": "f", "parameters": {"q": "open(\'a.txt\')"}}', {"q": "open('a.txt')"}),
    "escapes of Python's and of none": (r'{"name": "f", "parameters": {"q": "\'a\' \`b\`"}}', {"q": "'a' `b`"}),
    "escapes that are none": (
        r'{"name": "f", "parameters": {"re": "\d+\.\w", "q": "a\n\"\u00e9\""}}',
        {"re": r"\d+\.\w", "q": 'a\n"é"'},
    ),
    "arguments in a string": (r"""{'name': 'f', 'parameters': "{\"a\": 1}"}""", {"a": 1}),
    "the 1B's shape": ("{'type': 'function', 'function': 'f', 'parameters': {'a': 1}}", {"a": 1}),
    "OpenAI's shape": (
        "{'type': 'function', 'function': {'name': 'f', 'arguments': {'a': {'b': []}}}}",
        {"a": {"b": []}},
    ),
}


@pytest.mark.parametrize(("text", "arguments"), REPAIRED.values(), ids=REPAIRED)
def test_what_has_one_reading_is_repaired(text: str, arguments: dict[str, Any]):
    output = f"One moment: {text} Done; {CLOCK} now."
    first, second = extract_in_every_chunking(output, tools=TOOLS, repair=True, is_sampled=len(text) > 300).tool_calls
    assert (first.name, first.arguments, json.loads(first.arguments_json)) == ("f", arguments, arguments)
    assert output[slice(*first.span)] == first.repaired_from == text
    assert (second.name, second.repaired_from) == ("clock", None)
    assert extract(text, tools=TOOLS).content == text, "unasked"
    extractor = Extractor(tools=TOOLS, repair=True)
    for end in range(len(text)):  # what is cut off is never repaired
        assert extractor.extract(text[:end]).content == text[:end]


AS_WITHOUT = {
    "a missing brace, and text": "{'name': 'f', 'parameters': {'a': 'x'} and more.",
    "a missing quote": '{"name": "f", "parameters": {"a": "x, "b": "y"}}',
    "a missing quote in single quotes": "{'name': 'f', 'parameters': {'a': 'x}}",
    "an unknown tool": "{'name': 'rm', 'parameters': {'path': '/'}}",
    "no name": "{'type': 'f', 'parameters': {}}",
    "text for arguments": "{'name': 'f', 'parameters': 'x'}",
    "a schema": "{'name': 'f', 'description': 'x', 'parameters': {'type': 'object', 'properties': {}}}",
    "a message alone": "{'message': 'f', 'tool_call': None}",
    "a wrapper that nobody has": "{'query': {'name': 'f', 'parameters': {}}}",
    "an envelope of an unknown tool": "{'message': 'Hm.', 'tool_call': {'name': 'rm', 'parameters': {}}}",
    "a placeholder": '{"name": "f", "parameters": {"a": <slope>}}',
    "a concatenation": '{"name": "f", "parameters": {"a": "x" + "y"}}',
    "a condition": '{"name": "f", "parameters": {"path": "a" if x else "b"}}',
    "a missing value": '{"name": "f", "parameters": {"a": }}',
    "half a surrogate pair, raw": "{'name': 'f', 'parameters': {'a': '\ud83d'}}",
    "an argument twice": '{"name": "f", "parameters": {"a": 1, "a": 2}}',
    "arguments twice": "{'name': 'f', 'parameters': {'a': 1}, 'parameters': {'a': 2}}",
    "an odd quote": '{"name": "f", "parameters": {"c": "5" wide"}}',
    "quotes in a string": '{"name": "f", "parameters": {"c": "print("a", "b")"}}',
    "quotes around a brace": '{"name": "f", "parameters": {"c": "{"a"}"}}',
    "JSON in a string": '{"name": "f", "parameters": {"c": "curl -d \'{"command": "jq", "args": "x"}\' http"}}',
    "quotes twice": '{"name": "f", "parameters": {"city"": "Paris"", "days"": "3""}}',
    "no comma before a bare key": '{"name": "f", "parameters": {city: "Paris" unit: "c"}}',
    "prose": "Use {name} and {'name'}, {name: 'f'}, {name and f}, { 'x' } or {}.",
    "a dict that is assigned": "tool = {'name': 'f', 'parameters': {'a': 1}}",
    "a dict that is an argument": "print({'name': 'f', 'parameters': {'a': 1}})",
    "a listing": "```python\ncall = {'name': 'f', 'parameters': {}}\n```",
    "a thought": "<think>{'name': 'f', 'parameters': {}}</think>",
    "a code span": "Write `{'name': 'f', 'parameters': {'a': 1}}` to call f.",
    "a member": "{'a': {'name': 'clock', 'parameters': {}}}",
    "a member of what is none": "{'name': 'rm', 'parameters': {'a': {'name': 'clock', 'parameters': {}}}}",
    "a string left open before calls": f'{{"name": "f", "parameters": {{"query": "F-0001; {CLOCK}; {CLOCK}',
    "a call left open": f"{{'name': 'f', 'parameters': {{'a': 1, {CLOCK}; {CLOCK}",
}


@pytest.mark.parametrize("text", AS_WITHOUT.values(), ids=AS_WITHOUT)
def test_anything_else_is_as_without(text: str):
    for output in (text, f"Now: {text}\n\n{CLOCK}"):
        without = extract(output, tools=TOOLS)
        extraction = extract_in_every_chunking(output, tools=TOOLS, repair=True, is_sampled=True)
        assert (calls(extraction), extraction.content) == (calls(without), without.content)


BROKEN = "{'name': 'f', 'parameters': {'a': 1}}"
PLACES = {
    "in a tag": (f"<tool_call>{BROKEN}</tool_call> Done.", "tool_call", "Done."),
    "in a fence": (f"```json\n{BROKEN}\n```", "fence", None),
    "after a token": (f"<|python_tag|>{BROKEN}<|eom_id|>", "json", None),
    "between calls": (f"{CLOCK}; {BROKEN}; {CLOCK}", "json", None),
    "in a list": (f"Now: [{BROKEN}, {CLOCK}] Done.", "json", "Now: Done."),
    "in an envelope": (f"{{'message': 'Hm.', 'tool_call': {BROKEN}}} Done.", "envelope", "Hm. Done."),
    "in a function tag": ("<function=f>{'a': 1,}</function> Done.", "function", "Done."),
    "in a misspelt one": ("<function=f={'a': 1,}</function>", "function", None),
    "after a name": ("f\n{'a': 1,}", "name", None),
}


@pytest.mark.parametrize(("text", "format_", "content"), PLACES.values(), ids=PLACES)
def test_it_is_repaired_wherever_a_call_may_stand(text: str, format_: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS, repair=True)
    (call,) = (one for one in extraction.tool_calls if one.name == "f")
    assert (call.arguments, call.format, extraction.content) == ({"a": 1}, format_, content)
    assert "'a': 1" in str(call.repaired_from)
    assert len(extraction.tool_calls) == 1 + text.count(CLOCK)


GOOD = '{"name": "f", "parameters": {"a": 1}}'


@pytest.mark.parametrize(
    "text",
    [
        f"{GOOD}\n{BROKEN}",
        f"<tool_call>{GOOD}</tool_call>\nThat is: {BROKEN}",
        f"<tool_call>{GOOD}\n{BROKEN}</tool_call>",
        f"[f(a=1)]\n{BROKEN}\n{BROKEN}",
        f"{GOOD} {GOOD[:-1]},}}",
        f"[{GOOD}, {BROKEN}]",
        "\n".join(f'{{"name": "f", "parameters": {{"a": {number}}}}}' for number in range(1, 400)) + BROKEN,
    ],
)
def test_it_never_runs_again_what_was_called_already(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS, repair=True, is_sampled=len(text) > 300)
    assert len(extraction.tool_calls) == (399 if len(text) > 300 else 1)
    other = extract_in_every_chunking(
        text[-300:].replace("'a': 1", "'a': 2"), tools=TOOLS, repair=True, is_sampled=True
    )
    assert {"a": 2} in [call.arguments for call in other.tool_calls] or "'" not in text


ALIKE = {
    "a number in a string": ('{"n": "1", "q": 2}', "{'q': 2, 'n': 1}"),
    "an array in a string": ('{"tags": "[\\"a\\"]"}', "{'tags': ['a']}"),
}
TYPED = [
    {
        "name": "f",
        "parameters": {
            "properties": {"n": {"type": "integer"}, "ok": {"type": "boolean"}, "tags": {"type": "array"}, "q": {}}
        },
    }
]


@pytest.mark.parametrize(("good", "broken"), ALIKE.values(), ids=ALIKE)
def test_nor_what_coercion_makes_the_same(good: str, broken: str):
    for form in ("{good}\n{broken}", "[{good}, {broken}]"):
        written = {
            "good": f'{{"name": "f", "parameters": {good}}}',
            "broken": f"{{'name': 'f', 'parameters': {broken}}}",
        }
        text = form.format(**written)
        extraction = extract_in_every_chunking(text, tools=TYPED, repair=True, coerce_arguments=True, is_sampled=True)
        assert len(extraction.tool_calls) == 1


@pytest.mark.parametrize(
    "pattern",
    [
        '{"name":"f","parameters":{%scity%s:%sParis%s,%sunit%s:%sc%s}}',
        "{'name': 'f', 'parameters': {%scity%s: %sParis%s, %sunit%s: %sc%s}}",
    ],
)
@pytest.mark.parametrize("quotes", [("'", '"'), ('"', '""'), ("'", "''")])
def test_whatever_quotes_are_wrong_nothing_but_what_was_meant_is_called(pattern: str, quotes: tuple[str, str]):
    extractor = Extractor(tools=TOOLS, repair=True, id_factory=str)
    for eight in itertools.product(quotes, repeat=8):
        for call in extractor.extract(pattern % eight).tool_calls:
            assert call.repaired_from is None or call.arguments == {"city": "Paris", "unit": "c"}, eight


def test_an_unknown_tool_is_not_repaired_even_where_it_would_be_let_through():
    text = "{'name': 'rm', 'parameters': {'path': 'f'}}"
    extraction = extract_in_every_chunking(text, tools=TOOLS, repair=True, on_unknown_tool="call")
    assert (extraction.content, called(extraction), refused(extraction)) == (text, "", "malformed rm!")


@pytest.mark.parametrize("length", range(240, 258))
def test_around_the_limit_of_length_every_chunking_reads_alike(length: int):
    for opening, head, closing in (
        ("<tool_call>", '{"name": "f", "parameters": {"x": "', '",}}</tool_call>'),
        ("<function=f>", '{"x": "', '",}</function>'),
    ):
        text = f"{opening}{head}{'x' * (length - len(head) - 3)}{closing}"
        options = {"tools": TOOLS, "repair": True, "limits": Limits(max_call_length=256)}
        extract_in_every_chunking(text, is_sampled=True, **options)
