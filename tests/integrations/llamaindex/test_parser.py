"""What the parser makes of a text, and what it says to wrong input."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, CompletionResponse
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.output_parsers.base import OutputParserException
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.calling import call_tool_with_selection
from pydantic import BaseModel

from integrations.llamaindex.scripted import CALL
from llama3_tools import Llama3ToolsError, Tool, ToolDefinitionError
from llama3_tools.chat import RefusedCall
from llama_index_llama3_tools import (
    Llama3JsonToolOutputParser,
    Llama3ReActOutputParser,
    MalformedToolCallError,
)

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

OPEN = '{"name": "get_weather", "parameters": {"city": "Par'
BROKEN = '{"name": "get_weather", "parameters": {"city": Paris}}'


def get_weather(city: str, days: int = 1) -> str:
    """Return the weather of a city."""
    return f"Sun in {city} for {days}"


async def aget_weather(city: str) -> str:
    """Return the weather of a city."""
    return f"Sun in {city}"


# The output, its text, and its calls.
CASES = {
    "text, call, text": (
        'Here is the result:\n{"name": "searchTool", "parameters": {"query": "test"}}\nWould you like to know more?',
        "Here is the result: Would you like to know more?",
        [("searchTool", {"query": "test"})],
    ),
    "two calls": (
        'Tools: {"name":"a","parameters":{}}; {"name":"b","parameters":{}} End',
        "Tools: End",
        [("a", {}), ("b", {})],
    ),
    "a call alone": (CALL, "", [("get_weather", {"city": "Paris"})]),
    "a call in white space": (f"\n  {CALL}\n", "", [("get_weather", {"city": "Paris"})]),
    "an array of calls": (f"[{CALL}, {CALL}]", "", [("get_weather", {"city": "Paris"})] * 2),
    "a tagged call": (f"<tool_call>\n{CALL}\n</tool_call>", "", [("get_weather", {"city": "Paris"})]),
    "a call with a protocol token": (f"<|python_tag|>{CALL}<|eom_id|>", "", [("get_weather", {"city": "Paris"})]),
    "arguments of every type": (
        '{"name": "f", "parameters": {"n": 12345678901234567890, "l": [1, {"x": null}], "b": true, "s": "ü\\n"}}',
        "",
        [("f", {"n": 12345678901234567890, "l": [1, {"x": None}], "b": True, "s": "ü\n"})],
    ),
    "arguments as a string": ('{"name": "f", "arguments": "{\\"a\\": 1}"}', "", [("f", {"a": 1})]),
    "no call": ('Braces {like these} and "quotes"; \\ stay.', 'Braces {like these} and "quotes"; \\ stay.', []),
    "data": ('{"name": "Alice", "age": 5}', '{"name": "Alice", "age": 5}', []),
    "nothing": ("", "", []),
    "a call left open": (f"Hm. {OPEN}", f"Hm. {OPEN}", []),
    "a broken call before a good one": (
        f"{BROKEN} {CALL}",
        BROKEN,
        [("get_weather", {"city": "Paris"})],
    ),
}


@pytest.mark.parametrize(("output", "text", "calls"), CASES.values(), ids=CASES)
def test_an_output_is_taken_apart(output: str, text: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    parsed = Llama3JsonToolOutputParser().parse(output)
    assert parsed.text == str(parsed) == text
    assert [(call.tool_name, call.tool_kwargs) for call in parsed.tool_calls] == calls
    assert all(isinstance(call, ToolSelection) for call in parsed.tool_calls)
    assert [call.arguments for call in parsed.report.calls] == [arguments for _, arguments in calls]


def test_ids_are_those_of_the_report_and_unique() -> None:
    parsed = Llama3JsonToolOutputParser().parse(f"{CALL} {CALL}")
    ids = [call.tool_id for call in parsed.tool_calls]
    assert ids == [call.id for call in parsed.report.calls]
    assert len(set(ids)) == 2
    assert all(re.fullmatch("call_[0-9a-f]{24}", id_) for id_ in ids)


def test_ids_come_from_the_factory_given() -> None:
    ids = iter(["first", "second"])
    parsed = Llama3JsonToolOutputParser(id_factory=lambda: next(ids)).parse(f"{CALL}; {CALL}")
    assert [call.tool_id for call in parsed.tool_calls] == ["first", "second"]


def test_a_call_runs_as_llama_index_runs_it() -> None:
    tool = FunctionTool.from_defaults(get_weather)
    [call] = Llama3JsonToolOutputParser([tool]).parse(CALL).tool_calls
    assert call_tool_with_selection(call, [tool]).content == "Sun in Paris for 1"


# What failed, and the reason.
FAILED = {
    "left open": (f"Hm. {OPEN}", OPEN, "truncated"),
    "not JSON": (BROKEN, BROKEN, "malformed"),
    "arguments that are none": ('{"name": "get_weather", "parameters": 5}',) * 2 + ("invalid_arguments",),
    "two sets of arguments": ('{"name": "get_weather", "parameters": {"a": 2}, "arguments": {"a": 1}}',) * 2
    + ("conflicting_arguments",),
}


@pytest.mark.parametrize(("output", "text", "reason"), FAILED.values(), ids=FAILED)
def test_an_attempted_call_that_failed_is_an_error_and_stays_text(output: str, text: str, reason: str) -> None:
    parsed = Llama3JsonToolOutputParser([WEATHER]).parse(output)
    assert parsed.text == output
    assert parsed.tool_calls == []
    [error] = parsed.errors
    assert (error.name, str(error.reason)) == ("get_weather", reason)
    assert text.startswith(error.text)
    assert str(error) == f"get_weather ({reason}): {error.detail}"


NO_ATTEMPTS = {
    "prose": "An object {like this} or [1].",
    "data": '{"city": "Paris"}',
    "data with a name": '{"name": "Alice", "age": 5}',
    "an echoed schema": '{"name": "f", "description": "F", "parameters": {"type": "object", "properties": {}}}',
    "a quoted call": f"Write `{CALL}` to call it.",
    "data that breaks off": '{"city": "Par',
}


@pytest.mark.parametrize("output", NO_ATTEMPTS.values(), ids=NO_ATTEMPTS)
def test_what_was_no_attempt_is_no_error(output: str) -> None:
    parsed = Llama3JsonToolOutputParser(on_invalid="raise").parse(output)
    assert (parsed.text, parsed.tool_calls, parsed.errors) == (output, [], [])


@pytest.mark.parametrize("output", [case[0] for case in FAILED.values()], ids=FAILED)
def test_a_malformed_call_raises_where_that_is_asked_for(output: str) -> None:
    with pytest.raises(MalformedToolCallError, match="1 tool call could not be read: get_weather") as caught:
        Llama3JsonToolOutputParser([WEATHER], on_invalid="raise").parse(f"{CALL} {output}")
    error = caught.value
    assert error.output == f"{CALL} {output}"
    assert [failed.name for failed in error.errors] == ["get_weather"]


@pytest.mark.parametrize("kind", [OutputParserException, ValueError, Llama3ToolsError])
def test_the_error_is_caught_as_the_frameworks_as_a_value_error_and_as_ours(kind: type[Exception]) -> None:
    with pytest.raises(kind):
        Llama3JsonToolOutputParser(on_invalid="raise").parse(OPEN)


def test_the_error_counts_and_survives_pickling() -> None:
    with pytest.raises(MalformedToolCallError, match="2 tool calls") as caught:
        Llama3JsonToolOutputParser(on_invalid="raise").parse(f"{BROKEN} and {OPEN}")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 (made here)
    assert (str(again), again.output, again.errors) == (str(caught.value), caught.value.output, caught.value.errors)


@pytest.mark.parametrize("end", ["}}", ""], ids=["well-formed", "cut off"])
def test_a_call_of_an_unknown_tool_is_text_malformed_or_not(end: str) -> None:
    output = '{"name": "get_time", "parameters": {"a": 1' + end
    parsed = Llama3JsonToolOutputParser([WEATHER], on_invalid="raise").parse(output)
    assert (parsed.text, parsed.tool_calls, parsed.errors) == (output, [], [])


def test_an_unknown_tool_is_a_call_where_that_is_asked_for() -> None:
    parsed = Llama3JsonToolOutputParser([WEATHER], on_unknown_tool="call").parse('{"name": "x", "parameters": {}}')
    assert [call.tool_name for call in parsed.tool_calls] == ["x"]
    assert parsed.errors == []


def test_a_malformed_call_of_an_unknown_tool_raises_where_unknown_tools_are_calls() -> None:
    parser = Llama3JsonToolOutputParser([WEATHER], on_unknown_tool="call", on_invalid="raise")
    with pytest.raises(MalformedToolCallError, match=r"get_time \(truncated\)"):
        parser.parse('{"name": "get_time", "parameters": {"a": 1')


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
    "the function of an OpenAI tool": WEATHER["function"],
    "a tool of the core": Tool("get_weather", "", {"type": "object", "required": ["city"]}),
}


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_tools_are_declared_from_all_that_llama_index_users_have(tool: Any) -> None:
    parser = Llama3JsonToolOutputParser(tools=[tool])
    assert parser.chat.tools["get_weather"].parameters["required"] == ["city"]
    assert [call.tool_name for call in parser.parse(CALL).tool_calls] == ["get_weather"]
    assert parser.parse('{"name": "x", "parameters": {}}').tool_calls == []


def test_a_tool_keeps_the_name_that_agents_look_it_up_by() -> None:
    tool = FunctionTool.from_defaults(get_weather, name="weather.get")
    [call] = Llama3JsonToolOutputParser([tool]).parse(CALL.replace("get_weather", "weather.get")).tool_calls
    assert call_tool_with_selection(call, [tool]).is_error is False


def test_a_description_may_be_long() -> None:
    tool = FunctionTool.from_defaults(get_weather, description="long " * 1000)
    assert "long long" in Llama3JsonToolOutputParser([tool]).format("")


def test_a_tool_without_a_schema_takes_one_input() -> None:
    parser = Llama3JsonToolOutputParser([ToolMetadata("Looks something up", "look_up", None)])
    assert parser.chat.tools["look_up"].parameters["required"] == ["input"]


def test_tools_may_come_from_a_generator() -> None:
    assert "get_weather" in Llama3JsonToolOutputParser(tool for tool in [WEATHER]).chat.tools


def test_without_tools_every_name_is_a_call_and_with_an_empty_list_none() -> None:
    assert len(Llama3JsonToolOutputParser().parse(CALL).tool_calls) == 1
    assert Llama3JsonToolOutputParser([]).parse(CALL).text == CALL


WRONG_TOOLS: dict[str, tuple[Any, type[Exception], str]] = {
    "one tool": (
        FunctionTool.from_defaults(get_weather),
        TypeError,
        "list of tools, got the FunctionTool: put it in a list",
    ),
    "one dict": (WEATHER, TypeError, r"list of tools, got \{.*: put it in a list"),
    "a text": ("get_weather", TypeError, "list of tools, got 'get_weather'$"),
    "a list of texts": (["get_weather"], TypeError, r"tools\[0\] must be a tool \(FunctionTool, .+, not a str$"),
    "a list of numbers": ([WEATHER, 5], TypeError, r"tools\[1\] must be .+, not an int$"),
    "a class": ([Weather], TypeError, r"tools\[0\] must be .+, not the class Weather$"),
    "metadata without a name": ([ToolMetadata("Does it")], ToolDefinitionError, r"tools\[0\] has no name"),
    "a dict without a name": ([{"type": "function"}], ToolDefinitionError, r"tools\[0\]: no name"),
    "a name twice": ([WEATHER, get_weather], ToolDefinitionError, "'get_weather' is declared twice"),
    "one function twice": (
        [get_weather, get_weather],
        ToolDefinitionError,
        r"tools\[1\]: .*'get_weather' is declared twice",
    ),
    "one dict twice": ([WEATHER, WEATHER], ToolDefinitionError, "'get_weather' is declared twice"),
}


@pytest.mark.parametrize(("tools", "kind", "message"), WRONG_TOOLS.values(), ids=WRONG_TOOLS)
def test_wrong_tools_are_named(tools: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Llama3JsonToolOutputParser(tools)


@pytest.mark.parametrize("parser", [Llama3JsonToolOutputParser, Llama3ReActOutputParser])
def test_a_tool_that_is_declared_twice_is_named(parser: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="declared twice"):
        parser([get_weather, get_weather])


@pytest.mark.parametrize("output", [None, b"{}", ChatMessage(content="Hi"), CompletionResponse(text="Hi")])
def test_an_output_that_is_no_text_is_named_with_what_to_do(output: Any) -> None:
    with pytest.raises(
        TypeError, match=rf"a str, not .*{type(output).__name__.removesuffix('Type')}: a response is for promote"
    ):
        Llama3JsonToolOutputParser().parse(output)


@pytest.mark.parametrize("option", ["on_unknown_tool", "on_invalid"])
def test_an_unknown_value_of_an_option_is_refused(option: str) -> None:
    options: dict[str, Any] = {option: "ignore"}
    with pytest.raises(ValueError, match=f"{option}.*'ignore'"):
        Llama3JsonToolOutputParser(**options)


DUPLICATES: dict[str, Callable[[Llama3JsonToolOutputParser], Llama3JsonToolOutputParser]] = {
    "pickled": lambda parser: pickle.loads(pickle.dumps(parser)),  # noqa: S301 (made here)
    "copied": copy.copy,
    "deeply copied": copy.deepcopy,
}


@pytest.mark.parametrize("duplicate", DUPLICATES.values(), ids=DUPLICATES)
def test_a_parser_survives_duplication(
    duplicate: Callable[[Llama3JsonToolOutputParser], Llama3JsonToolOutputParser],
) -> None:
    parser = duplicate(Llama3JsonToolOutputParser([get_weather], on_unknown_tool="call", on_invalid="raise"))
    assert [call.tool_name for call in parser.parse('{"name": "x", "parameters": {}}').tool_calls] == ["x"]
    assert "get_weather" in parser.format("")
    with pytest.raises(MalformedToolCallError):
        parser.parse(OPEN)


def test_a_parser_shows_its_tools() -> None:
    assert repr(Llama3JsonToolOutputParser()) == "<Llama3JsonToolOutputParser tools: any>"
    assert repr(Llama3JsonToolOutputParser([WEATHER])) == "<Llama3JsonToolOutputParser tools: get_weather>"


def test_an_error_is_a_frozen_value() -> None:
    [error] = Llama3JsonToolOutputParser().parse(OPEN).errors
    assert isinstance(error, RefusedCall)
    with pytest.raises(AttributeError):
        error.name = "other"  # type: ignore[misc]
