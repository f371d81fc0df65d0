"""Which tool has to be called: what may be asked for, by the tools that there are."""

from __future__ import annotations

import pytest

from llama3_tools import ToolDefinitionError
from llama3_tools.tools.choice import require_tool_choice


@pytest.mark.parametrize(("choice", "names"), [("auto", []), ("auto", None), ("required", None), ("now", ["now"])])
def test_what_the_tools_allow(choice: str, names: list[str] | None):
    require_tool_choice(choice, names)


@pytest.mark.parametrize(
    ("choice", "names", "message"),
    [
        pytest.param(
            "required",
            [],
            'tool_choice "required" takes a tool that can be called; declared: none',
            id="required without tools",
        ),
        pytest.param(
            "then", ["now", "today"], "tool_choice 'then' is not declared; declared: now, today", id="a misspelt tool"
        ),
        pytest.param("now", None, "tool_choice 'now' is not declared; declared: none", id="one tool of any"),
    ],
)
def test_what_they_do_not(choice: str, names: list[str] | None, message: str):
    with pytest.raises(ToolDefinitionError) as raised:
        require_tool_choice(choice, names)
    assert str(raised.value) == message


def test_a_choice_is_a_word():
    with pytest.raises(TypeError, match=r'"auto", "required" or the name of a tool, got int$'):
        require_tool_choice(5, ["now"])
    with pytest.raises(TypeError, match=r'got dict: pass the name, which OpenAI has under \["function"\]\["name"\]$'):
        require_tool_choice({"type": "function", "function": {"name": "now"}}, ["now"])
