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

PAGE = Answer((b"<!doctype html><title>Welcome</title>",), "text/html")
NO_COMPLETION = "the server's answer is not a completion: does the address end in /v1?"
BROKE_OFF = "the answer stopped in the middle: look in the server's log"


BROKEN_STREAM = (httpx.RemoteProtocolError, openai.APIConnectionError)
"""What a client raises: before openai 3 what is below it, then its own."""


def model(llm: ChatOpenAI) -> Any:
    return Llama3ToolModel(llm).bind_tools([get_weather])


def agent(llm: ChatOpenAI) -> Any:
    return create_agent(llm, [get_weather], middleware=[Llama3ToolMiddleware()])


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


def notes(error: pytest.ExceptionInfo[BaseException]) -> list[str]:
    return getattr(error.value, "__notes__", [])


@pytest.mark.parametrize("way", ["invoke", "astream"])
@pytest.mark.parametrize("answer", [PAGE, answer_json({"status": "ok"})], ids=["a page", "another API"])
def test_another_answer_is_the_error_that_it_is_without_the_wrapper_with_a_hint_in_a_note(
    way: str, answer: Answer
) -> None:
    with LoopbackServer(lambda _: answer) as server, pytest.raises(Exception) as error:  # noqa: PT011 (of any class)
        ask(model(chat_openai(server)), way)
    assert f"{error.value} {notes(error)}".count(NO_COMPLETION) == 1


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_so_is_a_page_instead_of_the_stream_inside(way: str) -> None:
    with LoopbackServer(lambda _: PAGE) as server, pytest.raises(ValueError, match=r"^No generation") as error:
        ask(model(chat_openai(server, streaming=True)), way)
    assert NO_COMPLETION in f"{error.value} {notes(error)}"


@pytest.mark.parametrize("made", [model, agent])
@pytest.mark.parametrize("way", ["stream", "astream"])
def test_of_a_stream_that_breaks_all_text_arrives_and_then_the_error(made: Callable[..., Any], way: str) -> None:
    if made is agent and way == "astream" and sys.version_info < (3, 11):
        pytest.skip("before Python 3.11 tasks get no context, and LangGraph streams no model in an async agent")
    arrived: list[str] = []
    broken = Turn(pieces=cut_at(f'Hm. {PARIS} And {{"name": "get_w', 10), breaks=True)
    with serving(broken) as server, pytest.raises(BROKEN_STREAM) as error:
        ask(made(chat_openai(server)), way, arrived)
    assert "".join(arrived) == 'Hm. And {"name": "get_w'
    assert notes(error)[0] == BROKE_OFF


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_whole_answer_that_breaks_is_the_error_as_well(way: str) -> None:
    broken = Turn(pieces=("Let me see.",), breaks=True)
    with serving(broken) as server, pytest.raises(openai.APIConnectionError) as error:
        ask(model(chat_openai(server)), way)
    assert notes(error)[0] == BROKE_OFF


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
