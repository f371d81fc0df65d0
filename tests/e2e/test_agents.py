"""The wrappers and agents of both frameworks over HTTP, on what a live model says.

A model this small answers as it is shown, so that each conversation begins with a few answered questions. Nothing here
asks for wisdom: whatever it says must be read, run and told as it should.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage, message_chunk_to_message
from langchain_openai import ChatOpenAI
from llama_index.core.agent.workflow import AgentStream, FunctionAgent, ToolCallResult
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import SecretStr

from endpoints.assistant import EXAMPLES, write_bare
from endpoints.fetch import fetch
from endpoints.live import MODEL, SETTINGS
from endpoints.recordings import text_of_event
from endpoints.server import Answer, LoopbackServer, Request
from langchain_llama3_tools import Llama3ToolMiddleware, Llama3ToolModel
from llama3_tools import Extraction, extract
from llama_index_llama3_tools import Llama3ToolLLM

if TYPE_CHECKING:
    from endpoints.live import LiveServer

pytestmark = [
    pytest.mark.model,
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),  # LlamaIndex's own
]

HISTORY = [m for one in EXAMPLES for m in (("user", one.question), ("assistant", write_bare(one)))]
QUESTION = "What is the weather in Oslo?"
MAX_TOKENS = 48


def get_weather(city: str) -> str:
    """The current weather of a city."""
    return f"Sun in {city}"


def search_web(query: str) -> str:
    """Search the web."""
    return f"Found {query}"


def set_timer(minutes: int, label: str) -> str:
    """Start a timer."""
    return f"{label}: {minutes} minutes"


TOOLS = [get_weather, search_web, set_timer]


@dataclass
class Relay:
    """Hands everything to the live server, and keeps what was asked and what the model said."""

    live: str
    url: str = ""
    asked: list[list[dict[str, Any]]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> Answer:
        self.asked.append(request.body["messages"])
        answer = fetch(f"{self.live}{request.path.removeprefix('/v1')}", request.body, timeout=60)
        if request.stream:
            events = [part for part in answer.text.replace("\r\n", "\n").split("\n\n") if part]
            self.said.append("".join(text_of_event(e.removeprefix("data: ")) for e in events))
            return Answer(tuple(f"{event}\n\n".encode() for event in events), answer.content_type)
        self.said.append(json.loads(answer.text)["choices"][0]["message"]["content"] or "")
        return Answer((answer.text.encode(),), answer.content_type)

    def read(self, place: int) -> Extraction:
        return extract(self.said[place], tools=[{"name": tool.__name__} for tool in TOOLS], on_unknown_tool="call")

    def check(self, place: int, text: str, calls: list[tuple[str, Any]]) -> None:
        extraction = self.read(place)
        assert text.strip() == (extraction.content or "").strip(), self.said
        assert calls == [(call.name, call.arguments) for call in extraction.tool_calls], self.said

    def check_results(self, results: list[str]) -> None:
        """Hold the second request to what the tools gave: told by name, behind the question."""
        assert results, f"no tool was run: {self.said}"
        assert len(self.asked) > 1, "the model was not asked again"
        place = next(i for i, message in enumerate(self.asked[1]) if QUESTION in str(message["content"]))
        told = "\n".join(str(message["content"]) for message in self.asked[1][place + 1 :])
        for call, result in zip(self.read(0).tool_calls, results, strict=True):
            assert f"Result of {call.name}" in told
            assert result in told


@pytest.fixture
def relay(live: LiveServer) -> Iterator[Relay]:
    responder = Relay(live.base_url)
    with LoopbackServer(responder) as server:
        responder.url = server.base_url
        yield responder


def chat_openai(relay: Relay) -> ChatOpenAI:
    body = {"max_tokens": MAX_TOKENS, **SETTINGS}
    key = SecretStr("none")
    return ChatOpenAI(base_url=relay.url, api_key=key, model=MODEL, temperature=0, max_retries=0, extra_body=body)


def openai_like(relay: Relay) -> OpenAILike:
    return OpenAILike(
        api_base=relay.url,
        api_key="none",
        model=MODEL,
        is_chat_model=True,
        temperature=0,
        max_tokens=MAX_TOKENS,
        max_retries=0,
        additional_kwargs={"extra_body": dict(SETTINGS)},
    )


class TestLangChain:
    @pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
    async def test_the_model(self, way: str, relay: Relay) -> None:
        model = Llama3ToolModel(chat_openai(relay)).bind_tools(TOOLS)
        messages = [*HISTORY, ("user", QUESTION)]
        if way == "invoke":
            message = model.invoke(messages)
        elif way == "ainvoke":
            message = await model.ainvoke(messages)
        else:
            chunks: list[Any] = (
                list(model.stream(messages)) if way == "stream" else [c async for c in model.astream(messages)]
            )
            message = message_chunk_to_message(reduce(add, chunks))
        assert isinstance(message, AIMessage)
        assert message.tool_calls, f"the model calls: {relay.said}"
        assert len({call["id"] for call in message.tool_calls}) == len(message.tool_calls)
        relay.check(0, str(message.text), [(call["name"], call["args"]) for call in message.tool_calls])

    @pytest.mark.parametrize("streams", [True, False])
    def test_an_agent(self, streams: bool, relay: Relay) -> None:
        agent = create_agent(chat_openai(relay), TOOLS, middleware=[Llama3ToolMiddleware()])
        question: Any = {"messages": [*HISTORY, ("user", QUESTION)]}
        answers, results, text = [], [], ""
        for mode, data in agent.stream(question, stream_mode=["updates", "messages"] if streams else ["updates"]):
            if mode == "messages":
                text += str(data[0].text) if data[1]["langgraph_node"] == "model" else ""
                continue
            for update in data.values():
                messages = (update or {}).get("messages", [])
                answers += [m for m in messages if isinstance(m, AIMessage)]
                results += [str(m.text) for m in messages if isinstance(m, ToolMessage)]
            if len(answers) == 2:
                break
        for place, answer in enumerate(answers):
            relay.check(place, str(answer.text), [(call["name"], call["args"]) for call in answer.tool_calls])
        relay.check_results(results)
        assert not streams or text.startswith("".join(str(answer.text) for answer in answers))


class TestLlamaIndex:
    @pytest.mark.parametrize("streams", [True, False])
    def test_the_llm(self, streams: bool, relay: Relay) -> None:
        llm = Llama3ToolLLM(openai_like(relay))
        tools = [FunctionTool.from_defaults(tool) for tool in TOOLS]
        history = [ChatMessage(role=role, content=content) for role, content in HISTORY]
        if streams:
            *before, last = llm.stream_chat_with_tools(tools, QUESTION, history, allow_parallel_tool_calls=True)
            deltas = "".join(response.delta or "" for response in [*before, last])
            assert deltas.strip() == (relay.read(0).content or "").strip()
        else:
            last = llm.chat_with_tools(tools, QUESTION, history, allow_parallel_tool_calls=True)
        calls = llm.get_tool_calls_from_response(last)
        relay.check(0, last.message.content or "", [(call.tool_name, call.tool_kwargs) for call in calls])

    @pytest.mark.parametrize("streams", [True, False])
    async def test_a_function_agent(self, streams: bool, relay: Relay) -> None:
        agent = FunctionAgent(
            tools=list(TOOLS),
            llm=Llama3ToolLLM(openai_like(relay)),
            streaming=streams,
            early_stopping_method="generate",
        )
        history = [ChatMessage(role=role, content=content) for role, content in HISTORY]
        handler = agent.run(QUESTION, chat_history=history, max_iterations=2)
        results: list[str] = []
        deltas = ""
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                results.append(event.tool_output.content)
            elif isinstance(event, AgentStream):
                deltas += event.delta
        await handler
        relay.check_results(results)
        contents = "".join(relay.read(place).content or "" for place in range(len(relay.said)))
        # The last answer, which ends the run early, is not streamed.
        assert "".join(contents.split()).startswith("".join(deltas.split()))
        assert bool(deltas) is streams
