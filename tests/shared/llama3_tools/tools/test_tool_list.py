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
        pytest.param([], [], id="an empty list"),
        pytest.param(CLOCK, [CLOCK], id="one tool"),
        pytest.param({"type": "function", "function": CLOCK}, [{"type": "function", "function": CLOCK}], id="OpenAI's"),
        pytest.param({"tools": [CLOCK]}, [CLOCK], id="a body of tools alone"),
        pytest.param({"messages": [], "tools": [CLOCK], "tool_choice": "auto"}, [CLOCK], id="tool_choice auto"),
        pytest.param({"messages": [], "tools": [CLOCK], "tool_choice": "none"}, [], id="tool_choice none"),
        pytest.param({"tool_choice": "none"}, [], id="tool_choice none alone"),
        pytest.param({"messages": [], "tools": None}, None, id="a body of null"),
        pytest.param({"messages": []}, None, id="a body without tools"),
        pytest.param({"model": "llama3.1"}, None, id="a body of a model alone"),
        pytest.param({"prompt": "Hi"}, None, id="a body of a completion"),
        pytest.param({}, None, id="an empty body"),
        pytest.param({"nmae": "clock"}, [{"nmae": "clock"}], id="one tool, misspelt"),
        pytest.param({"input": "Hi"}, None, id="a body of the Responses API without tools"),
        pytest.param(None, None, id="null"),
    ],
)
def test_tools_are_found_in_every_form(written: object, tools: list[object] | None) -> None:
    assert read_tool_list(json.dumps(written)) == tools


@pytest.mark.parametrize("written", ["7", '"clock"', "true", '{"tools": {"name": "clock"}}', '{"tools": ""}'])
def test_what_is_no_list_is_an_error(written: str) -> None:
    with pytest.raises(ValueError, match=r"^expected a JSON list of OpenAI tools$"):
        read_tool_list(written)


def test_what_is_no_json_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^not JSON: "):
        read_tool_list("[")
