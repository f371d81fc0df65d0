"""The gateway in front of a live model: tools that the server would not put into `tool_calls` come as such."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pytest

from endpoints.assistant import TOOLS
from endpoints.live import MODEL, SETTINGS
from integrations.gateway.harness import gathered, read_events, running
from llama3_gateway import Gateway, GatewaySettings

if TYPE_CHECKING:
    from endpoints.live import LiveServer

pytestmark = pytest.mark.model

NAMES = {str(tool["function"]["name"]) for tool in TOOLS}  # type: ignore[index]
MESSAGES = [{"role": "user", "content": "What is the weather like in Oslo right now?"}]
BODY: dict[str, Any] = {"model": MODEL, "messages": MESSAGES, "max_tokens": 120, **SETTINGS}
NAMED: Any = {"type": "function", "function": {"name": "get_weather"}}


@pytest.fixture
def address(live: LiveServer) -> Iterator[str]:
    settings = GatewaySettings.model_validate({"upstream": live.base_url, "constrain": "json_object"})
    with running(Gateway(settings)) as address:
        yield address


def post(address: str, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(f"{address}/v1/chat/completions", json=body, timeout=300, trust_env=False)


def test_a_call_that_has_to_be_made_is_made_whole_and_in_a_stream(address: str):
    body = {**BODY, "tools": [*TOOLS], "tool_choice": "required"}
    choice = post(address, body).json()["choices"][0]
    (streamed,) = gathered(read_events(post(address, {**body, "stream": True}))).values()
    assert choice["finish_reason"] in {"tool_calls", "length"}
    assert streamed.finish_reason == choice["finish_reason"]
    functions = [call["function"] for call in choice["message"].get("tool_calls", ())]
    assert functions == streamed.calls
    if choice["finish_reason"] == "tool_calls":
        (function,) = functions
        assert function["name"] in NAMES
        assert isinstance(json.loads(function["arguments"]), dict)


def test_a_named_tool_is_called(address: str):
    answer = post(address, {**BODY, "tools": [*TOOLS], "tool_choice": NAMED}).json()["choices"][0]
    called = [call["function"]["name"] for call in answer["message"].get("tool_calls", ())]
    assert called == ["get_weather"] or answer["finish_reason"] == "length"


def test_the_results_go_back_to_the_model(address: str):
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    told = {"role": "tool", "tool_call_id": "call_1", "content": "Rain, 7 degrees"}
    history = [*MESSAGES, {"role": "assistant", "content": None, "tool_calls": [call]}, told]
    for fields in ({"tools": [*TOOLS]}, {}):
        choice = post(address, {**BODY, "messages": history, **fields}).json()["choices"][0]
        assert choice["message"]["content"] or choice["message"].get("tool_calls")


def test_without_tools_it_is_the_server(address: str, live: LiveServer):
    body = {**BODY, "max_tokens": 20, "seed": 1}
    direct = httpx.post(f"{live.base_url}/chat/completions", json=body, timeout=300, trust_env=False).json()
    through = post(address, body).json()
    assert through["choices"] == direct["choices"]
    assert through["usage"] == direct["usage"]


class TestAnthropic:
    """The API that the server does not have."""

    def post(self, address: str, path: str, content: str, **fields: object) -> httpx.Response:
        tool = {"name": "get_weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}
        body = {"model": MODEL, "messages": [{"role": "user", "content": content}], "tools": [tool], **fields}
        return httpx.post(f"{address}/v1/messages{path}", json=body, timeout=300, trust_env=False)

    def test_the_server_counts_tokens(self, address: str):
        few, many = (self.post(address, "/count_tokens", "sun " * count) for count in (1, 101))
        assert {one.headers["llama3-tools-token-count"] for one in (few, many)} == {"counted"}
        assert many.json()["input_tokens"] - few.json()["input_tokens"] == 100

    def test_a_prompt_that_is_too_long_is_told_with_both_numbers(self, address: str):
        answer = self.post(address, "", "sun " * 5000, max_tokens=20)
        assert answer.status_code == 400
        assert re.match(r"prompt is too long: 5\d{3} tokens > 4096 maximum", answer.json()["error"]["message"])

    def test_in_a_stream_this_server_says_nothing_of_it(self, address: str):
        answer = self.post(address, "", "sun " * 5000, max_tokens=20, stream=True)
        assert "the prompt may be too long" in answer.text


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("kind", ["OpenAIResponsesModel", "OpenAIChatCompletionsModel"])
async def test_an_agent_of_the_agents_sdk_runs_its_tool(address: str, kind: str, is_stream: bool):
    agents = importlib.import_module("agents")  # `make test-model` installs it
    agents.set_tracing_disabled(disabled=True)
    asked: list[str] = []

    def get_weather(city: str) -> str:
        """The weather of a city."""
        asked.append(city)
        return "Rain, 7 degrees"

    async with httpx.AsyncClient(trust_env=False) as http:
        client = openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="none", timeout=300, http_client=http)
        settings = agents.ModelSettings(tool_choice="get_weather", temperature=0.0, max_tokens=120)
        agent = agents.Agent(
            name="Guide",
            model=getattr(agents, kind)(MODEL, client),
            model_settings=settings,
            tools=[agents.function_tool(get_weather)],
            tool_use_behavior="stop_on_first_tool",
        )
        if is_stream:
            run: Any = agents.Runner.run_streamed(agent, MESSAGES[0]["content"], max_turns=1)
            async for _ in run.stream_events():
                pass
        else:
            run = await agents.Runner.run(agent, MESSAGES[0]["content"], max_turns=1)
    assert run.final_output == "Rain, 7 degrees"
    assert len(asked) == 1
