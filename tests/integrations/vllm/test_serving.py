"""vLLM's server with a small model and our parser, asked by openai-python: `make test-vllm`."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from openai import BadRequestError, OpenAI

from integrations.plugins import PARIS, WEATHER
from integrations.vllm.serving import MODEL, Server

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("default")]

ROME = '{"name": "get_weather", "parameters": {"city": "Rome", "days": "2"}}'
IN_PARIS, IN_ROME = ("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome", "days": 2})
QUESTION = [{"role": "user", "content": "What is the weather in Paris?"}]
CITY = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
"""A tool whose arguments are short, whatever a small model thinks of."""


@pytest.fixture
def client(server: Server) -> OpenAI:
    return OpenAI(base_url=server.base_url, api_key="none", max_retries=0, timeout=300)


def forced(text: str) -> dict[str, Any]:
    """The fields of a request that make the model write a text."""
    return {"extra_body": {"structured_outputs": {"regex": re.escape(text)}}, "max_tokens": 200, "temperature": 0}


def ask(client: OpenAI, **fields: Any) -> list[tuple[str, list[tuple[str, Any]], str]]:
    """Ask for a whole answer and for a stream, and return the content, the calls and the finish reason of each."""
    request: Any = {"model": MODEL, "messages": QUESTION, "tools": [WEATHER], **fields}
    choice = client.chat.completions.create(**request).choices[0]
    made = [(call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls or ()]
    content, names, arguments, reason = "", dict[int, str](), dict[int, str](), ""
    for chunk in client.chat.completions.create(**request, stream=True):
        for streamed in chunk.choices:
            content += streamed.delta.content or ""
            reason = streamed.finish_reason or reason
            for call in streamed.delta.tool_calls or ():
                names[call.index] = names.get(call.index, "") + (call.function.name or "")
                arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    calls = [(name, json.loads(arguments[index])) for index, name in names.items()]
    return [(choice.message.content or "", made, choice.finish_reason), (content, calls, reason)]


@pytest.mark.parametrize(
    ("text", "content", "calls", "reason"),
    [
        pytest.param(f"Let me check. {PARIS} Done.", "Let me check. Done.", [IN_PARIS], "tool_calls", id="text around"),
        pytest.param(f"{PARIS}\n{ROME}", "", [IN_PARIS, IN_ROME], "tool_calls", id="two calls, one mistyped"),
        pytest.param("[get_weather(city='Paris')]", "", [IN_PARIS], "tool_calls", id="pythonic"),
        pytest.param('The data: {"name": "Alice"}', 'The data: {"name": "Alice"}', [], "stop", id="data"),
    ],
)
def test_text_and_calls_of_a_served_model_are_apart(
    client: OpenAI, text: str, content: str, calls: list[Any], reason: str
) -> None:
    for answer in ask(client, **forced(text)):
        assert answer == (content, calls, reason)


def test_nothing_is_read_with_tool_choice_none(client: OpenAI) -> None:
    for answer in ask(client, tool_choice="none", **forced(PARIS)):
        assert answer == (PARIS, [], "stop")


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_a_call_that_has_to_be_made_is_made(client: OpenAI, choice: Any) -> None:
    for _, calls, _ in ask(client, tools=[CITY], tool_choice=choice, max_tokens=60, temperature=0):
        assert calls
        assert all(name == "get_weather" and arguments["city"] in {"Paris", "Rome"} for name, arguments in calls)


def test_a_call_that_a_limit_cuts_off_is_text(client: OpenAI) -> None:
    for content, calls, reason in ask(client, **{**forced(PARIS), "max_tokens": 10}):
        assert content
        assert PARIS.startswith(content)
        assert (calls, reason) == ([], "length")


def test_the_responses_api_has_text_and_calls_apart(client: OpenAI) -> None:
    tool = {"type": "function", **WEATHER["function"], "strict": False}
    body = {"structured_outputs": {"regex": re.escape(f"So: {PARIS}")}}
    request: Any = {"model": MODEL, "input": "The weather?", "tools": [tool], "max_output_tokens": 200}
    output = client.responses.create(**request, extra_body=body).output
    assert [item.type for item in output] == ["message", "function_call"]
    events = list(client.responses.create(**request, extra_body=body, stream=True))
    for found in (output, events[-1].response.output):
        (call,) = (item for item in found if item.type == "function_call")
        assert (call.name, json.loads(call.arguments)) == IN_PARIS


def test_a_tool_that_cannot_be_read_is_answered_with_what_is_wrong(client: OpenAI) -> None:
    with pytest.raises(BadRequestError, match="declared twice"):
        ask(client, tools=[WEATHER, WEATHER])


def test_the_log_says_which_call_was_not_made(client: OpenAI, server: Server) -> None:
    ask(client, **forced('{"name": "get_weather", "parameters": {"city": secret}}'))
    assert "no call of 'get_weather': malformed" in server.log
    assert "secret" not in server.log.rpartition("no call of")[2].split("\n")[0]
