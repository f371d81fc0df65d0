"""Declared tools: what is taken for one, what they change, and how they get into the prompt."""

from __future__ import annotations

import functools
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableBinding
from langchain_core.tools import Tool, tool
from pydantic import BaseModel, Field, ValidationError

import llama3_tools
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolModel
from llama3_tools import ToolDefinitionError

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "The weather of a city.", "parameters": PARAMETERS}


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


class GetWeather(BaseModel):
    """The weather of a city."""

    city: str = Field(description="a city")


class WeatherOf(TypedDict):
    """The weather of a city."""

    city: Annotated[str, ..., "a city"]


def names(parser: Llama3JsonToolOutputParser) -> list[str]:
    return [tool["function"]["name"] for tool in parser.tools or []]


class TestWhatIsTakenForATool:
    """All that LangChain's `bind_tools` takes."""

    @pytest.mark.parametrize(
        ("given", "name"),
        [
            pytest.param(get_weather, "get_weather", id="a function"),
            pytest.param(tool(get_weather), "get_weather", id="a decorated function"),
            pytest.param(Tool("w", get_weather, "The weather"), "w", id="a tool of one string"),
            pytest.param(GetWeather, "GetWeather", id="a pydantic class"),
            pytest.param(WeatherOf, "WeatherOf", id="a TypedDict"),
            pytest.param({"type": "function", "function": FUNCTION}, "get_weather", id="an OpenAI tool"),
            pytest.param(FUNCTION, "get_weather", id="an OpenAI function"),
            pytest.param({"type": "function", **FUNCTION}, "get_weather", id="a tool of OpenAI's Responses API"),
            pytest.param({"type": "custom", "name": "w", "input_schema": PARAMETERS}, "w", id="an Anthropic tool"),
            pytest.param({"name": "w", "title": "W", "inputSchema": PARAMETERS}, "w", id="an MCP tool"),
            pytest.param({"toolSpec": {"name": "w", "inputSchema": {"json": PARAMETERS}}}, "w", id="a Bedrock tool"),
            pytest.param({"title": "W", **PARAMETERS}, "W", id="a JSON Schema with a title"),
            pytest.param(llama3_tools.Tool("w", "The weather", PARAMETERS), "w", id="a llama3_tools.Tool"),
        ],
    )
    def test_is_kept_as_an_openai_tool(self, given: Any, name: str) -> None:
        parser = Llama3JsonToolOutputParser(tools=[given])
        assert names(parser) == [name]
        assert parser.tools is not None
        assert list(parser.tools[0]["function"]["parameters"]["properties"]) in (["city"], ["__arg1"])
        assert parser.invoke(f'{{"name": "{name}", "parameters": {{"city": "Paris"}}}}').tool_calls[0]["name"] == name
        llm = FakeListChatModel(responses=[f'{{"name": "{name}", "parameters": {{"city": "Paris"}}}}'])
        bound = Llama3ToolModel(llm, on_unknown_tool="text").bind_tools([given], tool_choice=name)
        assert isinstance(bound, RunnableBinding)
        assert bound.kwargs["tools"] == parser.tools
        assert bound.invoke("Hi").tool_calls[0]["name"] == name

    def test_what_becomes_of_the_given_dict_later_does_not_matter(self) -> None:
        given: dict[str, Any] = {"type": "function", "function": {**FUNCTION}}
        parser = Llama3JsonToolOutputParser(tools=[given])
        given["function"]["name"] = "other"
        assert names(parser) == ["get_weather"]


class TestWhatIsNot:
    """One clear message for each."""

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            pytest.param("get_weather", r"^tools must be a list of tools, got 'get_weather'$", id="a name"),
            pytest.param(get_weather, r"got the function get_weather: put it in a list$", id="a tool alone"),
            pytest.param(["get_weather"], r"^tools\[0\] must be a LangChain tool, .+, not a str$", id="names"),
            pytest.param(
                [get_weather, None], r"^tools\[1\] must be a LangChain tool, .+, not None$", id="None among them"
            ),
        ],
    )
    def test_of_another_type(self, given: Any, message: str) -> None:
        with pytest.raises(TypeError, match=message):
            Llama3JsonToolOutputParser(tools=given)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            pytest.param(
                [{"description": "x"}],
                r"tools\[0\] \(.+\) cannot be read as a tool: ",
                id="no name",
            ),
            *(
                pytest.param(
                    [get_weather, given],
                    rf"tools\[1\] is a tool that only its server knows, .*'{given['type']}'.*: only functions can",
                    id=given["type"],
                )
                for given in [
                    {"type": "web_search"},
                    {"type": "custom", "name": "sql", "format": {"type": "grammar"}},
                ]
            ),
            pytest.param(
                [Tool("sql", str, "Query.", metadata={"type": "custom_tool"})],
                r"tools\[0\] is a tool that only its server knows, the Tool",
                id="a custom tool",
            ),
            pytest.param(
                [functools.partial(get_weather)],
                r"tools\[0\] \(the partial\) cannot be read as a tool: ",
                id="a partial",
            ),
        ],
    )
    def test_without_what_a_tool_needs(self, given: list[Any], message: str) -> None:
        with pytest.raises(ToolDefinitionError, match=message):
            Llama3JsonToolOutputParser(tools=given)

    def test_a_value_that_does_not_exist(self) -> None:
        with pytest.raises(ValidationError, match="'collect' or 'raise'"):
            Llama3JsonToolOutputParser(on_invalid="drop")  # type: ignore[arg-type]
        with pytest.raises(ValidationError, match="'report' or 'keep'"):
            Llama3JsonToolOutputParser(repeated_calls="drop")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match='on_unknown_tool must be "text", "call" or "retry", not '):
            Llama3JsonToolOutputParser(on_unknown_tool="drop")  # type: ignore[arg-type]
