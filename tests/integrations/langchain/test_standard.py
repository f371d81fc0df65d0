"""LangChain's own tests of a chat model, on the wrapper around ChatOpenAI and ChatOllama.

The servers are on loopback; their model calls the first tool that its prompt shows, as a Llama 3 would. Skipped are
inputs that a text model does not take (images, audio, PDF, in messages and in results, Anthropic's blocks), and the
time of a stream, which wants recorded answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from endpoints.script import Turn, cut_at, scripted
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import api
from langchain_llama3_tools import Llama3ToolModel

EXAMPLES = {"integer": 3, "string": "你好, こんにちは, مرحبا"}
"""An argument of each type, as the tests ask for it: one of them looks for other alphabets."""
JOKE = json.dumps({"setup": "Why?", "punchline": "Because."})


def answer(messages: list[dict[str, Any]]) -> str:
    """Return what a model answers: a call of the tool that is due, or of the first one; words after its result."""
    texts = [str(message["content"]) for message in messages]
    prompt = "\n".join(texts)
    shown = re.findall(r'^\{\n    "type": "function",.*?^\}', prompt, re.DOTALL | re.MULTILINE)
    functions = {function["name"]: function for function in (json.loads(tool)["function"] for tool in shown)}
    if "Return the result as a JSON" in prompt:
        return JOKE
    if not functions or texts[-1].startswith(("Result of", "Error of")):
        return "Hello there."
    named = re.search("Call the function '(.+)' in your reply", prompt)
    function = functions[named[1]] if named else next(iter(functions.values()))
    properties = function.get("parameters", {}).get("properties", {})
    arguments = {name: EXAMPLES[schema.get("type", "string")] for name, schema in properties.items()}
    return json.dumps({"name": function["name"], "parameters": arguments}, ensure_ascii=False)


def as_openai(request: Request) -> Answer:
    text = answer(request.body["messages"])  # type: ignore[arg-type]
    return scripted([Turn(pieces=cut_at(text, *range(3, len(text), 3)), prompt_tokens=7)])(request)


def as_ollama(request: Request) -> Answer:
    text = answer(request.body["messages"])  # type: ignore[arg-type]
    pieces = cut_at(text, *range(3, len(text), 3))
    head = {"model": request.body["model"], "created_at": "2026-01-01T00:00:00Z"}
    lines = [{**head, "message": {"role": "assistant", "content": piece}, "done": False} for piece in pieces]
    counts = {"prompt_eval_count": 7, "eval_count": len(pieces)}
    lines.append(
        {**head, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", **counts}
    )
    return Answer(tuple(f"{json.dumps(line)}\n".encode() for line in lines), "application/x-ndjson")


class _WithAnotherModel:
    @property
    def supports_model_override(self) -> bool:
        return True

    @property
    def model_override_value(self) -> str:
        return "llama3.2"


class _Tests(_WithAnotherModel, ChatModelIntegrationTests):
    respond: ClassVar[Any]
    server: ClassVar[LoopbackServer]

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _serve(cls) -> Iterator[None]:
        with LoopbackServer(cls.respond) as server:
            cls.server = server
            yield

    @property
    def supports_json_mode(self) -> bool:
        return True


class WrappedChatOpenAI(Llama3ToolModel):
    """The wrapper, with the parameters of the wrapped model: they are that model's business."""

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return that it is not: it takes other arguments than the wrapper, whose own JSON is tested elsewhere."""
        return False

    def __init__(self, **parameters: Any) -> None:
        super().__init__(ChatOpenAI(**{"model": "llama3.1", "base_url": "http://127.0.0.1:9/v1", **parameters}))


class TestLlama3ToolModel(_WithAnotherModel, ChatModelUnitTests):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return WrappedChatOpenAI

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"api_key": "test"}


class TestAroundChatOpenAI(_Tests):
    respond = staticmethod(api(["llama3.1", "llama3.2"], as_openai))

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return WrappedChatOpenAI

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"model": "llama3.1", "base_url": self.server.base_url, "api_key": "none", "stream_usage": True}


class WrappedChatOllama(Llama3ToolModel):
    """The wrapper, with the parameters of the wrapped model."""

    def __init__(self, **parameters: Any) -> None:
        super().__init__(ChatOllama(**parameters))


class TestAroundChatOllama(_Tests):
    respond = staticmethod(as_ollama)

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return WrappedChatOllama

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"model": "llama3.1", "base_url": self.server.base_url.removesuffix("/v1")}
