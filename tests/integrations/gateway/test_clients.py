"""Unchanged programs of many clients run their tools, on a server that refuses `tools`.

Clients that are not installed are skipped. `make test-clients` installs all but three: LangChain and LlamaIndex, which
`make test` has, and CrewAI.
"""

from __future__ import annotations

import gc
import importlib.util
import itertools
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest

from integrations.gateway.harness import (
    BREAK,
    CALL,
    QUESTION,
    WEATHER,
    Answer,
    Asked,
    Served,
    chunk,
    events,
    says,
    serving,
    wait_until,
)

TEXT = f"Let me check. {CALL}"
LAST = "The sun shines in Paris."
EXAMPLES = Path(__file__).parents[3] / "examples" / "gateway"
NUMBERS = itertools.count(1)
UNDECLARED = '{"name": "send_alarm", "parameters": {"city": "Paris"}}'
REFUSAL = b'{"error": {"message": "registry.ollama.ai/library/llama3:latest does not support tools"}}'


def model_without_tools(asked: Asked) -> Answer:
    """A server as many are: it refuses tools, and roles that its template does not know."""
    if asked.path not in {"/v1/chat/completions", "/api/chat"}:
        return Answer([b"404 page not found"], status=404, content_type="text/plain")
    body = asked.body
    roles = {message["role"] for message in body["messages"]}
    if "tools" in body or not roles <= {"system", "user", "assistant"}:
        return Answer([REFUSAL], status=400)
    told = str(body["messages"][-1]["content"])
    pieces = [LAST] if "Result of get_weather" in told else [TEXT[at : at + 5] for at in range(0, len(TEXT), 5)]
    answer = says(*pieces)(asked)
    name = f"chatcmpl-{next(NUMBERS)}".encode()  # LangGraph replaces a message by another one of its id
    return replace(
        answer, parts=[part.replace(b"chatcmpl-1", name) for part in answer.parts if isinstance(part, bytes)]
    )


def without_such_a_tool(asked: Asked) -> Answer:
    """A model that invents a tool, and believes the error."""
    told = str(asked.body["messages"][-1]["content"])
    return says("I cannot." if "send_alarm" in told and "get_weather" in told else UNDECLARED)(asked)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(model_without_tools) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.base_url)
        yield served
        gc.collect()


# Some clients leave it to the garbage collector to close their connections.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


class Tool:
    """A tool that notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get_weather(self, city: str) -> str:
        """The weather of a city.

        Args:
            city: the city.
        """
        self.asked.append(city)
        return "Sunny"


class TestOpenAI:
    @pytest.fixture
    def client(self, served: Served) -> Iterator[Any]:
        openai = pytest.importorskip("openai")
        with openai.OpenAI(base_url=served.base_url, api_key="none") as client:
            yield client

    def test_create(self, client: Any):
        completion = client.chat.completions.create(model="llama3.1", messages=QUESTION, tools=[WEATHER])
        choice = completion.choices[0]
        assert (choice.message.content, choice.finish_reason) == ("Let me check.", "tool_calls")
        (call,) = choice.message.tool_calls
        told = {"role": "tool", "tool_call_id": call.id, "content": "Sunny"}
        history = [*QUESTION, choice.message, told]
        completion = client.chat.completions.create(model="llama3.1", messages=history, tools=[WEATHER])
        assert completion.choices[0].message.content == LAST

    def test_the_helper_for_streams(self, client: Any):
        with client.chat.completions.stream(model="llama3.1", messages=QUESTION, tools=[WEATHER]) as stream:
            kinds = [event.type for event in stream]
            completion = stream.get_final_completion()
        assert "tool_calls.function.arguments.done" in kinds
        assert completion.choices[0].message.tool_calls[0].function.name == "get_weather"

    def test_parse(self, client: Any):
        openai = pytest.importorskip("openai")
        pydantic = pytest.importorskip("pydantic")
        tool = openai.pydantic_function_tool(pydantic.create_model("get_weather", city=(str, ...)))
        completion = client.chat.completions.parse(model="llama3.1", messages=QUESTION, tools=[tool])
        assert completion.choices[0].message.tool_calls[0].function.parsed_arguments.city == "Paris"

    def test_responses(self, client: Any):
        tool = {"type": "function", **WEATHER["function"], "strict": False}  # type: ignore[dict-item]
        response = client.responses.create(model="llama3.1", input="Paris?", tools=[tool])
        assert response.output_text == "Let me check."
        call = response.output[-1]
        told = {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny"}
        given = [{"role": "user", "content": "Paris?"}, *response.output, told]
        assert client.responses.create(model="llama3.1", input=given, tools=[tool]).output_text == LAST

    def test_responses_stream(self, client: Any):
        tool = {"type": "function", **WEATHER["function"], "strict": False}  # type: ignore[dict-item]
        with client.responses.stream(model="llama3.1", input="Paris?", tools=[tool]) as stream:
            deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
            response = stream.get_final_response()
        assert "".join(deltas) == response.output_text == "Let me check."
        assert json.loads(response.output[-1].arguments) == {"city": "Paris"}

    def test_a_stream_that_breaks_off_raises(self, served: Served, client: Any):
        openai = pytest.importorskip("openai")
        served.upstream.respond = lambda _: events(chunk({"content": "Hi"}), BREAK)
        chunks = client.chat.completions.create(model="m", messages=QUESTION, tools=[WEATHER], stream=True)
        with pytest.raises(openai.APIError, match="broke off"):
            list(chunks)


class TestAnthropic:
    TOOL: ClassVar[dict[str, Any]] = {
        "name": "get_weather",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
    FIELDS: ClassVar[dict[str, Any]] = {"model": "llama3.1", "max_tokens": 1000, "messages": QUESTION}

    @pytest.fixture
    def client(self, served: Served) -> Iterator[Any]:
        anthropic = pytest.importorskip("anthropic")
        with anthropic.Anthropic(base_url=served.address, api_key="none") as client:
            yield client

    def test_create(self, client: Any):
        message = client.messages.create(**self.FIELDS, tools=[self.TOOL])
        said, call = message.content
        assert (said.text, call.name, call.input) == ("Let me check.", "get_weather", {"city": "Paris"})
        assert (message.stop_reason, message.usage.input_tokens) == ("tool_use", 7)
        told = {"type": "tool_result", "tool_use_id": call.id, "content": "Sunny"}
        history = [*QUESTION, message.to_param(), {"role": "user", "content": [told]}]
        last = client.messages.create(**{**self.FIELDS, "messages": history}, tools=[self.TOOL])
        assert (last.content[0].text, last.stop_reason) == (LAST, "end_turn")

    def test_the_helper_for_streams(self, client: Any):
        with client.messages.stream(**self.FIELDS, tools=[self.TOOL]) as stream:
            kinds = {event.type for event in stream}
            message = stream.get_final_message()
        assert kinds >= {"text", "input_json", "content_block_stop", "message_stop"}
        assert (message.content[0].text, message.content[1].input) == ("Let me check.", {"city": "Paris"})
        assert (message.stop_reason, message.usage.output_tokens) == ("tool_use", 3)

    @pytest.mark.parametrize("is_stream", [False, True])
    def test_the_tool_runner(self, client: Any, is_stream: bool):
        beta_tool = pytest.importorskip("anthropic").beta_tool
        tool = Tool()
        runner = client.beta.messages.tool_runner(**self.FIELDS, tools=[beta_tool(tool.get_weather)], stream=is_stream)
        assert runner.until_done().content[0].text == LAST
        assert tool.asked == ["Paris"]

    def test_the_example_runs_its_tool(
        self, served: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        monkeypatch.syspath_prepend(EXAMPLES)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", served.address)
        pytest.importorskip("anthropic")
        pytest.importorskip("anthropic_client").main([])
        assert capsys.readouterr().out.splitlines() == ["[get_weather Paris]", LAST]

    def test_count_tokens(self, client: Any):
        count = client.messages.count_tokens(model="llama3.1", messages=QUESTION, tools=[self.TOOL])
        assert count.input_tokens > 0

    def test_a_key_that_is_not_the_gateways_raises(self, client: Any):
        anthropic = pytest.importorskip("anthropic")
        with serving(model_without_tools, api_key="sesame") as served:
            client = anthropic.Anthropic(base_url=served.address, api_key="none")
            with client, pytest.raises(anthropic.AuthenticationError, match="asks for its own key"):
                client.messages.create(**self.FIELDS)

    def test_a_stream_that_breaks_off_raises(self, served: Served, client: Any):
        anthropic = pytest.importorskip("anthropic")
        served.upstream.respond = lambda _: events(chunk({"content": "Hi"}), BREAK)
        with pytest.raises(anthropic.APIError, match="broke off"):
            list(client.messages.create(**self.FIELDS, tools=[self.TOOL], stream=True))


@pytest.fixture
async def client(served: Served) -> AsyncIterator[Any]:
    """A client of this test's own event loop: the SDKs would keep one for all tests."""
    async with pytest.importorskip("openai").AsyncOpenAI(base_url=served.base_url, api_key="none") as client:
        yield client


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("kind", ["OpenAIResponsesModel", "OpenAIChatCompletionsModel"])
async def test_the_agents_sdk(client: Any, is_stream: bool, kind: str):
    agents = pytest.importorskip("agents")
    agents.set_tracing_disabled(disabled=True)
    tool = Tool()
    model = getattr(agents, kind)("llama3.1", client)
    agent = agents.Agent(name="A", model=model, tools=[agents.function_tool(tool.get_weather)])
    if is_stream:
        run = agents.Runner.run_streamed(agent, "How is the weather in Paris?")
        async for _ in run.stream_events():
            pass
    else:
        run = await agents.Runner.run(agent, "How is the weather in Paris?")
    assert run.final_output == LAST
    assert tool.asked == ["Paris"]


@pytest.fixture
def pydantic_agent(client: Any) -> Callable[[str, Tool], Any]:
    models = pytest.importorskip("pydantic_ai.models.openai")
    provider = pytest.importorskip("pydantic_ai.providers.openai").OpenAIProvider(openai_client=client)

    def agent(kind: str, tool: Tool) -> Any:
        made = pytest.importorskip("pydantic_ai").Agent(getattr(models, kind)("llama3.1", provider=provider))
        made.tool_plain(tool.get_weather)
        return made

    return agent


@pytest.mark.parametrize("kind", ["OpenAIChatModel", "OpenAIResponsesModel"])
async def test_pydantic_ai(pydantic_agent: Callable[[str, Tool], Any], kind: str):
    tool = Tool()
    result = await pydantic_agent(kind, tool).run("How is the weather in Paris?")
    assert (result.output, tool.asked) == (LAST, ["Paris"])


@pytest.mark.parametrize("kind", ["OpenAIChatModel", "OpenAIResponsesModel"])
async def test_pydantic_ai_streams(served: Served, pydantic_agent: Callable[[str, Tool], Any], kind: str):
    def silent(asked: Asked) -> Answer:
        """Write nothing before the call: `run_stream` takes such text for the answer."""
        answer = model_without_tools(asked)
        is_call = answer.status == HTTPStatus.OK and LAST not in str(answer.parts)
        return says(CALL)(asked) if is_call else answer

    served.upstream.respond = silent
    tool = Tool()
    async with pydantic_agent(kind, tool).run_stream("How is the weather in Paris?") as run:
        assert await run.get_output() == LAST
    assert tool.asked == ["Paris"]


@pytest.mark.parametrize("is_stream", [False, True])
def test_smolagents(served: Served, is_stream: bool):
    smolagents = pytest.importorskip("smolagents")
    tool = Tool()

    class Weather(smolagents.Tool):  # type: ignore[misc]
        name = "get_weather"
        description = "The weather of a city"
        inputs: ClassVar = {"city": {"type": "string", "description": "the city"}}
        output_type = "string"

        def forward(self, city: str) -> str:
            return tool.get_weather(city)

    def finishing(asked: Asked) -> Answer:
        """End by a call of smolagents' own tool."""
        is_told = "Sunny" in str(asked.body["messages"][-1]["content"])
        last = json.dumps({"name": "final_answer", "parameters": {"answer": LAST}})
        return says(last if is_told else TEXT)(asked)

    served.upstream.respond = finishing
    model = smolagents.OpenAIServerModel("llama3.1", api_base=served.base_url, api_key="none")
    agent = smolagents.ToolCallingAgent([Weather()], model, stream_outputs=is_stream, verbosity_level=0, max_steps=3)
    assert agent.run("How is the weather in Paris?") == LAST
    assert tool.asked == ["Paris"]


def test_litellm_as_a_proxy_in_front(served: Served, tmp_path: Path):
    if importlib.util.find_spec("litellm") is None:
        pytest.skip("litellm is not installed")
    openai = pytest.importorskip("openai")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    config = tmp_path / "config.yaml"
    model = {"model": "openai/llama3.1", "api_base": served.base_url, "api_key": "none"}
    config.write_text(json.dumps({"model_list": [{"model_name": "llama3.1", "litellm_params": model}]}), "utf-8")
    command = [str(Path(sys.executable).with_name("litellm")), "--config", str(config), "--host", "127.0.0.1"]
    key = f"sk-{'0123456789abcdef' * 4}"  # without one, it does not start
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": key}
    command += ["--port", str(port)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as proxy:
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until(lambda: answers(f"{url}/health/liveliness"), 120)
            with openai.OpenAI(base_url=f"{url}/v1", api_key=key) as client:
                whole = client.chat.completions.create(model="llama3.1", messages=QUESTION, tools=[WEATHER])
                chunks = client.chat.completions.create(
                    model="llama3.1", messages=QUESTION, tools=[WEATHER], stream=True
                )
                deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
        finally:
            proxy.terminate()
    calls = [*whole.choices[0].message.tool_calls, *(call for delta in deltas for call in delta.tool_calls or ())]
    assert [json.loads(call.function.arguments) for call in calls if call.function.arguments] == [{"city": "Paris"}] * 2


class TestOllama:
    @pytest.fixture
    def client(self, served: Served) -> Any:
        return pytest.importorskip("ollama").Client(host=served.address)

    def test_chat_streams(self, client: Any):
        parts = list(client.chat("llama3.1", messages=QUESTION, tools=[WEATHER], stream=True))
        assert "".join(part.message.content for part in parts) == "Let me check."
        (call,) = [call for part in parts for call in part.message.tool_calls or ()]
        assert call.function.arguments == {"city": "Paris"}
        assert parts[-1].done


class TestLangChain:
    @pytest.fixture
    def model(self, served: Served) -> Any:
        chat = pytest.importorskip("langchain_openai").ChatOpenAI
        return chat(base_url=served.base_url, api_key="none", model="llama3.1")

    def test_bind_tools(self, model: Any):
        message = model.bind_tools([WEATHER]).invoke("How is the weather in Paris?")
        assert [call["args"] for call in message.tool_calls] == [{"city": "Paris"}]
        assert message.content == "Let me check."

    def test_an_agent_in_a_stream(self, model: Any):
        create_agent = pytest.importorskip("langchain.agents").create_agent
        tool = Tool()
        agent = create_agent(model, [tool.get_weather])
        messages = [part[0] for part in agent.stream({"messages": QUESTION}, stream_mode="messages")]
        assert LAST in "".join(str(message.content) for message in messages)
        assert tool.asked == ["Paris"]


async def test_llama_index(served: Served):
    llm = pytest.importorskip("llama_index.llms.openai_like").OpenAILike(
        api_base=served.base_url, api_key="none", model="llama3.1", is_chat_model=True, is_function_calling_model=True
    )
    tool = Tool()
    agent = pytest.importorskip("llama_index.core.agent.workflow").FunctionAgent(tools=[tool.get_weather], llm=llm)
    assert str(await agent.run("How is the weather in Paris?")) == LAST
    assert tool.asked == ["Paris"]


def answers(url: str) -> bool:
    """Whether something answers there."""
    try:
        return httpx.get(url, trust_env=False).status_code == HTTPStatus.OK
    except httpx.HTTPError:
        return False
