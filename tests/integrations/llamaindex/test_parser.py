"""What the parser makes of a text, and what it says to wrong input."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, CompletionResponse
from llama_index.core.output_parsers.base import OutputParserException
from llama_index.core.tools import FunctionTool, ToolMetadata
from pydantic import BaseModel

from integrations.llamaindex.scripted import CALL, OPEN
from llama3_tools import Llama3ToolsError, Tool, ToolDefinitionError
from llama_index_llama3_tools import (
    Llama3JsonToolOutputParser,
    MalformedToolCallError,
)

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": SCHEMA,
    },
}

BROKEN = '{"name": "get_weather", "parameters": {"city": Paris}}'


def get_weather(city: str, days: int = 1) -> str:
    """Return the weather of a city."""
    return f"Sun in {city} for {days}"


async def aget_weather(city: str) -> str:
    """Return the weather of a city."""
    return f"Sun in {city}"


@pytest.mark.parametrize(
    ("output", "text", "calls"),
    [
        ("", "", []),
        (f"{BROKEN} {CALL}", BROKEN, [("get_weather", {"city": "Paris"})]),
        ('One {"name": "a", "parameters": {}}; {"name": "b", "parameters": {}} two', "One two", [("a", {}), ("b", {})]),
    ],
)
def test_an_output_is_taken_apart(output: str, text: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    parsed = Llama3JsonToolOutputParser().parse(output)
    assert parsed.text == str(parsed) == text
    assert [(call.tool_name, call.tool_kwargs) for call in parsed.tool_calls] == calls
    assert [call.arguments for call in parsed.report.calls] == [arguments for _, arguments in calls]


def test_it_raises_where_that_is_asked_for_and_the_error_survives_pickling() -> None:
    output = f"{CALL} {BROKEN} and {OPEN}"
    with pytest.raises(MalformedToolCallError, match="2 tool calls do not run: get_weather") as caught:
        Llama3JsonToolOutputParser([WEATHER], on_invalid="raise").parse(output)
    assert {OutputParserException, ValueError, Llama3ToolsError} <= {*type(caught.value).__mro__}
    assert (caught.value.output, [call.name for call in caught.value.errors]) == (output, ["get_weather"] * 2)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 (made here)
    assert (str(again), again.output, again.errors) == (str(caught.value), caught.value.output, caught.value.errors)


class Weather(BaseModel):
    city: str


class Forecaster:
    def get_weather(self, city: str) -> str:
        """Return the weather of a city."""
        return city


TOOLS = {
    "a function tool": FunctionTool.from_defaults(get_weather),
    "an asynchronous function tool": FunctionTool.from_defaults(async_fn=aget_weather, name="get_weather"),
    "metadata": ToolMetadata("The weather of a city", "get_weather", Weather),
    "a function": get_weather,
    "a method": Forecaster().get_weather,
    "an OpenAI tool": WEATHER,
    "a tool of MCP": {"name": "get_weather", "inputSchema": SCHEMA},
    "a tool of the core": Tool("get_weather", "", SCHEMA),
}


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_tools_are_declared_from_all_that_llama_index_users_have(tool: Any) -> None:
    parser = Llama3JsonToolOutputParser(tools=[tool])
    assert parser.chat.tools["get_weather"].parameters["required"] == ["city"]
    assert [call.tool_name for call in parser.parse(CALL).tool_calls] == ["get_weather"]
    assert parser.parse('{"name": "x", "parameters": {}}').tool_calls == []


def test_a_tool_without_a_schema_takes_one_input() -> None:
    parser = Llama3JsonToolOutputParser([ToolMetadata("Looks something up", "look_up", None)])
    assert parser.chat.tools["look_up"].parameters["required"] == ["input"]


WRONG_TOOLS: dict[str, tuple[Any, type[Exception], str]] = {
    "one tool": (
        FunctionTool.from_defaults(get_weather),
        TypeError,
        "list of tools, got the FunctionTool: put it in a list",
    ),
    "a list of texts": (["get_weather"], TypeError, r"tools\[0\] must be a tool \(FunctionTool, .+, not a str$"),
    "a class": ([Weather], TypeError, r"tools\[0\] must be .+, not the class Weather$"),
    "metadata without a name": ([ToolMetadata("Does it")], ToolDefinitionError, r"tools\[0\] has no name"),
    "a name twice": ([WEATHER, get_weather], ToolDefinitionError, r"tools\[1\]: .*'get_weather' is declared twice"),
}


@pytest.mark.parametrize(("tools", "kind", "message"), WRONG_TOOLS.values(), ids=WRONG_TOOLS)
def test_wrong_tools_are_named(tools: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Llama3JsonToolOutputParser(tools)


@pytest.mark.parametrize("output", [None, ChatMessage(content="Hi"), CompletionResponse(text="Hi")])
def test_an_output_that_is_no_text_is_named_with_what_to_do(output: Any) -> None:
    with pytest.raises(
        TypeError, match=rf"a str, not .*{type(output).__name__.removesuffix('Type')}: a response is for promote"
    ):
        Llama3JsonToolOutputParser().parse(output)


def test_a_value_that_an_option_cannot_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"on_invalid.*'ignore'"):
        Llama3JsonToolOutputParser(on_invalid="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="coerce_arguments needs the schemas of the tools"):
        Llama3JsonToolOutputParser(coerce_arguments=True)
