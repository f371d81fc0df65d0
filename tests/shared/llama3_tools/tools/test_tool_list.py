"""Tools in JSON: a list, a request's body, one tool, or what is none of these."""

from __future__ import annotations

import json

import pytest

from llama3_tools.tools import read_tool_list

CLOCK = {"name": "clock"}


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        pytest.param([CLOCK], [CLOCK], id="a list"),
        pytest.param(CLOCK, [CLOCK], id="one tool"),
        pytest.param({"tools": [CLOCK]}, [CLOCK], id="a body of tools alone"),
        pytest.param({"messages": [], "tools": [CLOCK], "tool_choice": "auto"}, [CLOCK], id="tool_choice auto"),
        pytest.param({"messages": [], "tools": [CLOCK], "tool_choice": "none"}, [], id="tool_choice none"),
        pytest.param({"messages": [], "tools": None}, None, id="a body of null"),
        pytest.param({"model": "llama3.1"}, None, id="a body of a model alone"),
        pytest.param({}, None, id="an empty body"),
        pytest.param(None, None, id="null"),
    ],
)
def test_tools_are_found_in_every_form(written: object, tools: list[object] | None) -> None:
    assert read_tool_list(json.dumps(written)) == tools


@pytest.mark.parametrize("written", ["7", '{"tools": {"name": "clock"}}'])
def test_what_is_no_list_is_an_error(written: str) -> None:
    with pytest.raises(ValueError, match=r"^expected a JSON list of OpenAI tools$"):
        read_tool_list(written)


def test_what_is_no_json_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^not JSON: "):
        read_tool_list("[")
