"""What an output would have called with other options: each place once, with the first options that do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fragments import FRAGMENTS, READINGS
from llama3_tools import Extractor
from llama3_tools.output.other_readings import Option, other_calls
from llama3_tools.output.spans import first_overlap

CALL = '{"name": "f", "parameters": {}}'
F = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}, "required": ["a"]}}]
TOOLS, REPAIR, FORMATS = (option.value for option in Option)
PYTHON = "{'name': 'f', 'args': {'a': 1}}"


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        pytest.param(CALL, {}, [], id="called as it is"),
        pytest.param("I would {call} it, [x] or `f()`.", {}, [], id="words"),
        pytest.param(f"<think>{CALL}</think> `{CALL}`", {}, [], id="quoted"),
        pytest.param(CALL[:-1], {"tools": F, "formats": "json"}, [], id="cut off"),
        pytest.param('<function=f {"a": 1}></function>', {}, [([TOOLS], "f", 0)], id="a misspelt tag"),
        pytest.param(f'{CALL} {{"tool": "f", "args": {{}}}}', {}, [([TOOLS], "f", 32)], id="other keys beside a call"),
        pytest.param('f\n{"a": 1}', {}, [([TOOLS], "f", 0)], id="an object after a name"),
        pytest.param('{"tool": "g", "args": {}}', {"tools": F}, [([TOOLS], "g", 0)], id="other keys of another tool"),
        pytest.param('{"name": "g"}', {}, [([TOOLS], "g", 0)], id="no arguments"),
        pytest.param('{"name": "f"}', {"tools": F}, [], id="no arguments where some are required"),
        pytest.param(
            "So: [f(a=1), g.call()]", {}, [([TOOLS], "f", 5), ([TOOLS], "g", 13)], id="a pythonic list in a sentence"
        ),
        pytest.param("So:\nf(a=1)\nmain()", {}, [([TOOLS], "f", 4)], id="a pythonic call on its line"),
        pytest.param(f"{CALL} {CALL}", {"tools": []}, [([TOOLS], "f", 0), ([TOOLS], "f", 32)], id="another tool's"),
        pytest.param(CALL, {"formats": ["code"]}, [([FORMATS], "f", 0)], id="JSON where code is read"),
        pytest.param("<|python_tag|>1 + 1", {}, [([TOOLS], "code_interpreter", 14)], id="code"),
        pytest.param(PYTHON, {"tools": F}, [([REPAIR], "f", 0)], id="a dict of Python"),
        pytest.param(PYTHON, {"tools": F, "repair": True}, [], id="a dict of Python, repaired"),
        pytest.param(PYTHON, {}, [([TOOLS, REPAIR], "f", 0)], id="a dict of Python, undeclared"),
        pytest.param('{"name": "f", "parameters": {a}}', {"tools": F}, [], id="a name for a value"),
    ],
)
def test_what_is_no_call_is_one_with_these_options(
    text: str, options: dict[str, Any], expected: list[tuple[list[str], str, int]]
) -> None:
    others = other_calls(Extractor(**options), text)
    found = [([option.value for option in other.options], other.call.name, other.call.span[0]) for other in others]
    assert found == expected


def test_no_more_than_64_tools_are_declared() -> None:
    text = " ".join(["So:", *(f"[f{n}(a=1)]" for n in range(65))])
    declared = [other for other in other_calls(Extractor(), text) if Option.TOOLS in other.options]
    assert len(declared) == 64


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join), st.sampled_from(list(READINGS)))
def test_other_calls_stand_where_nothing_else_is_called(text: str, reading: str) -> None:
    extractor = READINGS[reading]
    called = [call.span for call in extractor.extract(text).tool_calls]
    for other in other_calls(extractor, text):
        assert first_overlap(called, other.call.span) is None
        called = sorted((*called, other.call.span))
