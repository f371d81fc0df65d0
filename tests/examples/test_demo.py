"""The embedded endpoint: what it answers by which API, and the command that keeps it on a port."""

from __future__ import annotations

import doctest
import json
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

import demo_server as command
from endpoints import assistant, demo
from endpoints.server import LoopbackServer
from langchain_llama3_tools import Llama3ToolModel

WEATHER: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Person(BaseModel):
    """A person."""

    name: str
    age: int


def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Sun in {city}"


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with demo.demo_server() as server:
        yield server


def asked(question: str, tools: dict[str, Any], *before: tuple[str, str]) -> str:
    """Return what is written in answer to a question."""
    declared = [{"name": name, "parameters": parameters} for name, parameters in tools.items()]
    messages = [{"role": role, "content": content} for role, content in [*before, ("user", question)]]
    return demo.write({"messages": messages, "tools": declared})


def test_a_call_for_each_name_in_the_question() -> None:
    text = asked("How is the weather in Oslo and Rome?", {"get_weather": WEATHER})
    assert text.count('"get_weather"') == 2
    assert '"city": "Rome"' in text


def test_numbers_go_where_they_are_named_then_in_order() -> None:
    kinds = {"amount": {"type": "integer"}, "order": {"type": "integer"}, "is_urgent": {"type": "boolean"}}
    text = asked("Refund 20 euros for order 4711", {"refund": {"type": "object", "properties": kinds}})
    assert '{"amount": 20, "order": 4711, "is_urgent": true}' in text


def test_a_question_without_a_tool_is_answered_in_words() -> None:
    assert asked("Hello!", {"get_weather": WEATHER}) == asked("Hello!", {})
    assert "not a model" in asked("Hello!", {})


def test_results_are_told_and_the_conversation_is_remembered() -> None:
    call = ("assistant", '{"name": "get_weather", "parameters": {"city": "Rome"}}')
    assert asked("Result of get_weather: Sun in Rome", {}, call) == "The sun shines in Rome."
    assert asked("Which order was that?", {}, ("user", "Refund order 4711."), ("assistant", "Done.")) == (
        "It was order 4711."
    )


def test_the_recorded_answers_come_token_by_token(server: LoopbackServer) -> None:
    client = openai.OpenAI(base_url=server.base_url, api_key="none")
    for question, pieces in demo.RECORDED.items():
        messages: list[Any] = [*assistant.chat_messages(question)]
        chunks = client.chat.completions.create(model=demo.MODEL, messages=messages, stream=True)
        assert [chunk.choices[0].delta.content for chunk in chunks if chunk.choices[0].delta.content] == pieces


@pytest.mark.parametrize("kind", ["openai", "ollama"])
def test_both_clients_of_langchain_get_calls_and_objects(kind: str, server: LoopbackServer) -> None:
    llm = (
        ChatOpenAI(base_url=server.base_url, api_key=SecretStr("none"), model=demo.MODEL)
        if kind == "openai"
        else ChatOllama(base_url=server.base_url.removesuffix("/v1"), model=demo.MODEL)
    )
    model = Llama3ToolModel(llm)
    message = model.bind_tools([get_weather]).invoke("What is the weather in Paris?")
    assert (message.text, [call["args"] for call in message.tool_calls]) == (
        "Let me check. One moment.",
        [{"city": "Paris"}],
    )
    assert model.with_structured_output(Person).invoke("Al is 33 years old.") == Person(name="Al", age=33)
    strict = Llama3ToolModel(llm, prompt_format="strict").bind_tools([get_weather])
    assert [call["args"] for call in strict.invoke("What is the weather in Paris?").tool_calls] == [{"city": "Paris"}]


def test_a_model_of_another_name_is_not_found(server: LoopbackServer) -> None:
    body = json.dumps({"model": "llama4", "messages": []}).encode()
    request = urllib.request.Request(f"{server.base_url.removesuffix('/v1')}/api/chat", body)  # noqa: S310 (loopback)
    with pytest.raises(urllib.error.HTTPError, match="404") as raised:
        urllib.request.urlopen(request)  # noqa: S310 (the same)
    raised.value.close()


def test_the_command_keeps_it_on_a_port_until_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pressed() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "threading", SimpleNamespace(Event=lambda: SimpleNamespace(wait=pressed)))
    with demo.demo_server() as taken:
        port = taken.base_url.removesuffix("/v1").rpartition(":")[2]
        monkeypatch.setattr(sys, "argv", ["demo_server.py", "--port", port])
        assert command.main() == 1
        assert f"Port {port} cannot be used" in capsys.readouterr().out
    assert command.main() == 0
    assert capsys.readouterr().out.split()[:2] == ["base_url", f"http://127.0.0.1:{port}/v1"]


@pytest.mark.parametrize("name", sorted(path.stem for path in Path(demo.__file__).parent.glob("[!_]*.py")))
def test_the_examples_in_docstrings_run(name: str) -> None:
    assert doctest.testmod(__import__(f"endpoints.{name}", fromlist=[name])).failed == 0
