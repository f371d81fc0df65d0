"""LangChain's parser over HTTP, on what a live model says."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, message_chunk_to_message
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from e2e.answers import ASKED, FORCED, Asked, check, read_ai_message
from endpoints.assistant import TOOLS
from endpoints.live import MODEL
from langchain_llama3_tools import Llama3JsonToolOutputParser

if TYPE_CHECKING:
    from langchain_core.outputs import LLMResult

    from endpoints.live import LiveServer

pytestmark = pytest.mark.model

PARSER = Llama3JsonToolOutputParser(tools=TOOLS, repeated_calls="keep")


class Raw(BaseCallbackHandler):
    """Keeps the model's own text."""

    def __init__(self) -> None:
        self.text = ""

    def on_llm_new_token(self, token: object, **_: object) -> None:
        self.text += str(token)

    def on_llm_end(self, response: LLMResult, **_: object) -> None:
        self.text = response.generations[0][0].text


def chat_model(live: LiveServer, asked: Asked, **settings: object) -> ChatOpenAI:
    body = {**asked.settings, **settings}
    return ChatOpenAI(
        base_url=live.base_url, api_key=SecretStr("none"), model=MODEL, temperature=0, max_retries=0, extra_body=body
    )


def summed(chunks: list[AIMessage]) -> AIMessage:
    assert all(isinstance(chunk, AIMessageChunk) for chunk in chunks)
    message = message_chunk_to_message(reduce(add, chunks))
    assert isinstance(message, AIMessage)
    return message


def alike(message: AIMessage) -> tuple[object, ...]:
    """Return what a message says, ids aside."""
    calls = [(call["name"], call["args"]) for call in message.tool_calls]
    invalid = [(call["name"], call["args"]) for call in message.invalid_tool_calls]
    return str(message.text), calls, invalid


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.name, scope="class")  # each prompt is computed once
class TestChat:
    def test_streamed(self, asked: Asked, live: LiveServer) -> None:
        raw = Raw()
        chain = chat_model(live, asked) | PARSER
        chunks = list(chain.stream(asked.messages, {"callbacks": [raw]}))
        message = summed(chunks)
        check(asked, read_ai_message(raw.text, message))
        assert alike(message) == alike(PARSER.invoke(raw.text)), "a stream and a whole answer are read alike"
        assert all(call["args"] is not None for chunk in chunks for call in chunk.tool_calls)
        assert message.response_metadata["finish_reason"] in {"stop", "length", "tool_calls"}

    def test_whole(self, asked: Asked, live: LiveServer) -> None:
        raw = Raw()
        chain = chat_model(live, asked) | PARSER
        message = chain.invoke(asked.messages, {"callbacks": [raw]})
        check(asked, read_ai_message(raw.text, message))
        assert message.id
        assert message.usage_metadata is not None
        assert message.usage_metadata["output_tokens"] > 0
        assert message.response_metadata["model_name"] == MODEL


@pytest.mark.parametrize("max_tokens", [4, 12, 21])
def test_an_answer_cut_off_inside_a_call_gives_no_call(max_tokens: int, live: LiveServer) -> None:
    asked = FORCED[0]
    raw = Raw()
    chain = chat_model(live, asked, max_tokens=max_tokens) | PARSER
    message = summed(list(chain.stream(asked.messages, {"callbacks": [raw]})))
    if message.response_metadata["finish_reason"] == "length":
        assert (message.tool_calls, message.text) == ([], raw.text)
    check(Asked(asked.name, asked.question), read_ai_message(raw.text, message))
