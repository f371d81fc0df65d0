"""What the tests of agents share: a scripted model behind a strict server, the tools, and the ways to run an agent."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from endpoints.script import Turn, cut_at, scripted
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import CHAT, answer_error, api
from langchain_llama3_tools import Llama3ToolMiddleware
from llama3_tools import ReadOptions
from llama3_tools.chat import ChatOptions


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def call(name: str, /, **arguments: object) -> str:
    """Write a call as Llama 3.1 does."""
    return json.dumps({"name": name, "parameters": arguments})


PARIS = call("get_weather", city="Paris")
QUESTION: Any = {"messages": [("user", "How is Paris?")]}


@contextmanager
def serving(*answers: str | Turn) -> Iterator[LoopbackServer]:
    """Serve the answers, one after another, in pieces of three characters.

    The server refuses what some server refuses: tools, calls in messages, and roles beyond the three that all know.
    """
    turns = [
        Turn(pieces=cut_at(answer, *range(3, len(answer), 3)), prompt_tokens=7) if isinstance(answer, str) else answer
        for answer in answers
    ]
    answer_next = scripted(turns)

    def model(request: Request) -> Answer:
        messages: Any = request.body["messages"]
        refused = {"tools", "tool_choice", "parallel_tool_calls"} & request.body.keys()
        if refused or any("tool_calls" in message for message in messages):
            return answer_error(400, f"This model does not support tools: {sorted(refused)}")
        if not {message["role"] for message in messages} <= {"system", "user", "assistant"}:
            return answer_error(400, "Only user and assistant roles are supported!")
        return answer_next(request)

    with LoopbackServer(api(["llama3.1"], model)) as server:
        yield server


def chat_openai(server: LoopbackServer | str, **options: Any) -> ChatOpenAI:
    """Return the model that is served, or that of an address, as a user would."""
    address = server if isinstance(server, str) else server.base_url
    given = {"base_url": address, "api_key": SecretStr("none"), "model": "llama3.1", "stream_usage": True}
    return ChatOpenAI(**{**given, "max_retries": 0, **options})


def conversations(server: LoopbackServer) -> list[list[tuple[str, str]]]:
    """Return the role and the text of each message that arrived, a list a request."""
    bodies: list[Any] = [request.body["messages"] for request in server.requests if request.path == CHAT]
    return [[(message["role"], message["content"]) for message in messages] for messages in bodies]


def invoked(agent: Any, given: Any = QUESTION, config: Any = None) -> Any:
    return agent.invoke(given, config)


def awaited(agent: Any, given: Any = QUESTION, config: Any = None) -> Any:
    return asyncio.run(agent.ainvoke(given, config))


def streamed(agent: Any, given: Any = QUESTION, config: Any = None) -> Any:
    return list(agent.stream(given, config, stream_mode=["messages", "values"]))[-1][1]


def streamed_async(agent: Any, given: Any = QUESTION, config: Any = None) -> Any:
    async def run() -> Any:
        return [item async for item in agent.astream(given, config, stream_mode=["messages", "values"])][-1][1]

    return asyncio.run(run())


in_every_way = pytest.mark.parametrize("run", [invoked, awaited, streamed, streamed_async])


def agent_on(server: LoopbackServer, *tools: Any, **options: Any) -> Any:
    """Return an agent with the middleware, and whatever goes before that."""
    known = {one.name for kind in (ChatOptions, ReadOptions) for one in dataclasses.fields(kind)}
    own = {key: options.pop(key) for key in list(options) if key in known}
    middleware = [*options.pop("before", ()), Llama3ToolMiddleware(**own)]
    return create_agent(chat_openai(server), list(tools or (get_weather, add)), middleware=middleware, **options)


def shown(messages: list[BaseMessage]) -> list[tuple[str, object]]:
    """Return the type of each message, with the arguments of its calls, or its text."""
    return [
        (message.type, [made["args"] for made in message.tool_calls])
        if isinstance(message, AIMessage) and message.tool_calls
        else (message.type, message.text)
        for message in messages
    ]
