"""Servers that are not there, are none, or break off: the client's error with a note that says what to do."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import httpx
import ollama
import openai
import pytest
from langchain.agents import create_agent
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from endpoints.demo import demo_server
from endpoints.script import Turn, cut_at
from endpoints.server import Answer, LoopbackServer
from endpoints.wire import answer_json
from integrations.langchain.agents import (
    PARIS,
    QUESTION,
    chat_openai,
    get_weather,
    serving,
)
from langchain_llama3_tools import Llama3ToolMiddleware, Llama3ToolModel

PAGE = b"<!doctype html><title>Welcome</title>"
NO_COMPLETION = "the server's answer is not a completion: does the address end in /v1?"
BROKE_OFF = "the answer stopped in the middle: look in the server's log"


BROKEN_STREAM = (httpx.RemoteProtocolError, openai.APIConnectionError)
"""What a client raises: before openai 3 what is below it, then its own."""


def model(llm: ChatOpenAI, **options: Any) -> Any:
    return Llama3ToolModel(llm, **options).bind_tools([get_weather])


def agent(llm: ChatOpenAI, **options: Any) -> Any:
    return create_agent(llm, [get_weather], middleware=[Llama3ToolMiddleware(**options)])


def ask(asked: Any, way: str, arrived: list[str] | None = None) -> None:
    """Ask a model or an agent in one way; the text that arrives goes into the list, whatever happens then."""
    is_agent = not hasattr(asked, "bound")
    given, options = (QUESTION, {"stream_mode": "messages"}) if is_agent else (QUESTION["messages"], {})
    arrived = [] if arrived is None else arrived

    def note(item: Any) -> None:
        arrived.append(str((item[0] if is_agent else item).text))

    async def astream() -> None:
        async for item in asked.astream(given, **options):
            note(item)

    if way == "invoke":
        asked.invoke(given)
    elif way == "ainvoke":
        asyncio.run(asked.ainvoke(given))
    elif way == "astream":
        asyncio.run(astream())
    else:
        for item in asked.stream(given, **options):
            note(item)


of_both = pytest.mark.parametrize("made", [model, agent])
whole = pytest.mark.parametrize("way", ["invoke", "ainvoke"])
as_a_stream = pytest.mark.parametrize("way", ["stream", "astream"])
in_each_way = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])


def notes(error: pytest.ExceptionInfo[BaseException]) -> list[str]:
    return getattr(error.value, "__notes__", [])


def llm_at(address: str, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(
        **{"base_url": address, "api_key": SecretStr("none"), "model": "llama3.1", "max_retries": 0, **options}
    )


@of_both
@pytest.mark.parametrize("way", ["invoke", "astream"])
class TestEndpoints:
    """Each error is the one that is raised without the wrapper, and has its hint in a note."""

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param(Answer((PAGE,), "text/html"), id="a-page"),
            pytest.param(Answer((PAGE,), "text/html", status=404), id="a-page-that-says-404"),
            pytest.param(Answer((PAGE,)), id="a-page-called-json"),
            pytest.param(Answer((b"data: ", PAGE, b"\n\n"), "text/event-stream"), id="a-page-as-events"),
            pytest.param(answer_json({"status": "ok"}), id="another-api"),
        ],
    )
    def test_something_else_than_a_completion(self, made: Callable[..., Any], way: str, answer: Answer) -> None:
        with LoopbackServer(lambda _: answer) as server, pytest.raises(Exception) as error:  # noqa: PT011 (of any class)
            ask(made(llm_at(server.base_url)), way)
        assert f"{error.value} {notes(error)}".count(NO_COMPLETION) == 1


@of_both
class TestStreamsThatBreak:
    @as_a_stream
    @pytest.mark.parametrize(
        "text",
        ['Let me see. {"name": "get_w', "Let me see.   ", "Let me <|pyth"],
    )
    def test_all_text_arrives_and_then_the_error(self, made: Callable[..., Any], way: str, text: str) -> None:
        if made is agent and way == "astream" and sys.version_info < (3, 11):
            pytest.skip("before Python 3.11 tasks get no context, and LangGraph streams no model in an async agent")
        arrived: list[str] = []
        broken = Turn(pieces=cut_at(text, *range(3, len(text), 3)), breaks=True)
        with serving(broken) as server, pytest.raises(BROKEN_STREAM) as error:
            ask(made(chat_openai(server)), way, arrived)
        assert "".join(arrived) == text
        assert notes(error)[0] == BROKE_OFF

    def test_a_call_that_was_complete_is_there(self, made: Callable[..., Any]) -> None:
        arrived: list[str] = []
        broken = Turn(pieces=cut_at(f"Hm. {PARIS} And", 10), breaks=True)
        with serving(broken) as server, pytest.raises(BROKEN_STREAM):
            ask(made(chat_openai(server)), "stream", arrived)
        assert "".join(arrived) == "Hm. And"

    @whole
    def test_an_answer_in_one_piece(self, made: Callable[..., Any], way: str) -> None:
        with (
            serving(Turn(pieces=("Let me see.",), breaks=True)) as server,
            pytest.raises(openai.APIConnectionError) as error,
        ):
            ask(made(chat_openai(server)), way)
        assert notes(error)[0] == BROKE_OFF

    @whole
    def test_a_page_instead_of_the_stream_inside(self, made: Callable[..., Any], way: str) -> None:
        page = Answer((PAGE,), "text/html")
        with LoopbackServer(lambda _: page) as server, pytest.raises(ValueError, match=r"^No generation") as error:
            ask(made(llm_at(server.base_url, streaming=True)), way)
        assert NO_COMPLETION in f"{error.value} {notes(error)}"


@pytest.mark.parametrize(
    ("model_name", "path", "told"),
    [("llama4", "", "has no model 'llama4': `ollama list`"), ("llama3.1", "/v1", "no /api/chat")],
)
def test_ollamas_client_is_told_of_ollamas_own_addresses(model_name: str, path: str, told: str) -> None:
    with demo_server() as server:
        llm = ChatOllama(model=model_name, base_url=server.base_url.removesuffix("/v1") + path)
        with pytest.raises(ollama.ResponseError) as error:
            Llama3ToolModel(llm).invoke("Hello?")
    assert told in notes(error)[0]
