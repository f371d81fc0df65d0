"""What the tests of agents share: a scripted model behind a strict server, and the tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from endpoints.script import Turn, cut_at, scripted
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import CHAT, answer_error, api


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def call(name: str, **arguments: object) -> str:
    """Write a call as Llama 3.1 does."""
    return json.dumps({"name": name, "parameters": arguments})


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
        refused = {"tools", "tool_choice", "parallel_tool_calls", "response_format"} & request.body.keys()
        if refused or any("tool_calls" in message for message in messages):
            return answer_error(400, f"This model does not support tools: {sorted(refused)}")
        if not {message["role"] for message in messages} <= {"system", "user", "assistant"}:
            return answer_error(400, "Only user and assistant roles are supported!")
        return answer_next(request)

    with pytest.MonkeyPatch.context() as environment:
        for name in ("NO_PROXY", "no_proxy"):
            environment.setenv(name, "127.0.0.1")
        with LoopbackServer(api(["llama3.1"], model)) as server:
            yield server


def chat_openai(server: LoopbackServer) -> ChatOpenAI:
    """Give the model that is served, as a user would."""
    return ChatOpenAI(
        base_url=server.base_url, api_key=SecretStr("none"), model="llama3.1", stream_usage=True, max_retries=0
    )


def conversations(server: LoopbackServer) -> list[list[tuple[str, str]]]:
    """Give the role and the text of each message that arrived, a list a request."""
    bodies: list[Any] = [request.body["messages"] for request in server.requests if request.path == CHAT]
    return [[(message["role"], message["content"]) for message in messages] for messages in bodies]
