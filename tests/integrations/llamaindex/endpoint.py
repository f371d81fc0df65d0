"""An OpenAI-compatible endpoint that answers as a test chooses, over real HTTP, and LlamaIndex's LLM for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from endpoints.script import Turn, cut_at, scripted
from endpoints.server import Answer, LoopbackServer
from endpoints.wire import api

WEATHER = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
TIME = '{"name": "get_time", "parameters": {"zone": "CET"}}'


def get_weather(city: str) -> str:
    """Return the weather of a city."""
    return f"Sun in {city}"


def get_time(zone: str) -> str:
    """Return the time of a zone."""
    return f"12:30 {zone}"


def fail(reason: str) -> str:
    """Fail."""
    message = f"out of {reason}"
    raise ValueError(message)


TOOLS = [FunctionTool.from_defaults(get_weather), FunctionTool.from_defaults(get_time)]


def say(text: str, *, every: int = 3) -> Turn:
    """Answer with a text, streamed in pieces of a few characters, about a token each."""
    return Turn(pieces=cut_at(text, *range(every, len(text), every)) if text else ())


class Endpoint:
    """The endpoint, and what it was asked."""

    def __init__(self, server: LoopbackServer) -> None:
        self._server = server

    def llm(self, **options: Any) -> OpenAILike:
        return OpenAILike(
            **{
                "api_base": self._server.base_url,
                "api_key": "none",
                "model": "llama3.1",
                "is_chat_model": True,
                "max_retries": 0,
                **options,
            }
        )

    @property
    def bodies(self) -> list[Any]:
        return [request.body for request in self._server.requests]

    def messages(self, number: int) -> list[tuple[str, str]]:
        """The role and the content of each message of a request."""
        return [(message["role"], message["content"]) for message in self.bodies[number]["messages"]]


@contextmanager
def endpoint(*turns: str | Turn | Answer) -> Iterator[Endpoint]:
    """Serve one answer after another."""
    script = [say(turn) if isinstance(turn, str) else turn for turn in turns]
    with LoopbackServer(api(["llama3.1"], scripted(script))) as server:
        yield Endpoint(server)


def said(error: BaseException) -> str:
    """Return the text of an error, and what to do about it."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


@contextmanager
def explained(message: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect an error of the client, and what to do about it in its note."""
    with pytest.raises(Exception) as error:  # noqa: PT011 (clients differ)
        yield error
    assert re.search(message, said(error.value))
