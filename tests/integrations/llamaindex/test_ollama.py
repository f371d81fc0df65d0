"""LlamaIndex's LLM for Ollama, which speaks Ollama's own API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.prompts import PromptTemplate
from pydantic import BaseModel

from endpoints.server import Answer, LoopbackServer, Request
from integrations.llamaindex.endpoint import TOOLS, WEATHER, explained
from llama_index_llama3_tools import Llama3ToolLLM

ollama = pytest.importorskip("llama_index.llms.ollama")


class Person(BaseModel):
    """A person."""

    name: str
    age: int


@contextmanager
def serving(*texts: str) -> Iterator[tuple[Llama3ToolLLM, list[Any]]]:
    """Serve one answer after another; yield the LLM for them, and the bodies of what it is asked."""
    bodies: list[Any] = []

    def respond(request: Request) -> Answer:
        if "nowhere" in request.path:
            return Answer((b"404 page not found",), "text/plain", status=404)
        if not request.path.endswith("/api/chat"):
            return Answer((b'{"model_info": {}}',))
        text = texts[len(bodies)]
        bodies.append(request.body)
        pieces = [text[at : at + 3] for at in range(0, len(text), 3)] if request.body["stream"] else [text]
        said = [
            {"model": "llama3.1", "message": {"role": "assistant", "content": one}, "done": False} for one in pieces
        ]
        said[-1] |= {"done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 3}
        return Answer(tuple(f"{json.dumps(line)}\n".encode() for line in said), "application/x-ndjson")

    with LoopbackServer(respond) as server:
        inside = ollama.Ollama(model="llama3.1", base_url=server.base_url.removesuffix("/v1"))
        yield Llama3ToolLLM(inside), bodies


@pytest.mark.parametrize("streaming", [True, False])
async def test_an_agent_runs_its_tool(streaming: bool) -> None:
    with serving(f"Hm. {WEATHER}", "Sunny.") as (llm, bodies):
        assert str(await FunctionAgent(tools=[*TOOLS], llm=llm, streaming=streaming).run("?")) == "Sunny."
    assert not bodies[0].get("tools")
    assert bodies[1]["messages"][-1]["content"] == "Result of get_weather: Sun in Paris"


async def test_a_wrong_address_is_explained_before_the_model_is_asked() -> None:
    with serving() as (llm, _):
        inside = ollama.Ollama(model="llama3.1", base_url=f"{llm.llm.base_url}/nowhere")
        with explained("at an address without /v1"):
            await FunctionAgent(tools=[*TOOLS], llm=Llama3ToolLLM(inside)).run("?")


def test_it_is_held_to_the_schema_and_the_object_grows() -> None:
    with serving(*['{"name": "Al", "age": 3}'] * 2) as (llm, bodies):
        assert llm.structured_predict(Person, PromptTemplate("Who?")) == Person(name="Al", age=3)
        first, *_, last = llm.stream_structured_predict(Person, PromptTemplate("Who?"))
    assert (first.model_dump(), last) == ({"name": "Al", "age": None}, Person(name="Al", age=3))
    assert [body["format"]["properties"]["name"] for body in bodies] == [{"type": "string", "enum": ["Person"]}] * 2
