"""LlamaIndex's parser over HTTP, on what a live model says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.llms.openai_like import OpenAILike

from e2e.answers import ASKED, FORCED, MAX_TOKENS, Asked, Read, check, read_chat_message
from endpoints.assistant import TOOLS
from endpoints.live import MODEL
from llama_index_llama3_tools import Llama3JsonToolOutputParser

if TYPE_CHECKING:
    from endpoints.live import LiveServer

pytestmark = pytest.mark.model

PARSER = Llama3JsonToolOutputParser(tools=TOOLS)


class Raw:
    """Keeps the model's own text, on its way into the parser."""

    def __init__(self) -> None:
        self.text = ""

    def tap(self, responses: Iterator[Any]) -> Iterator[Any]:
        for response in responses:
            self.text += response.delta or ""
            yield response


def llm(live: LiveServer, asked: Asked, *, max_tokens: int = MAX_TOKENS) -> OpenAILike:
    settings = {key: value for key, value in asked.settings.items() if key != "max_tokens"}
    return OpenAILike(
        api_base=live.base_url,
        api_key="none",
        model=MODEL,
        is_chat_model=True,
        temperature=0,
        max_tokens=max_tokens,
        max_retries=0,
        additional_kwargs={"extra_body": settings},
    )


def messages_of(asked: Asked) -> list[ChatMessage]:
    return [ChatMessage(role=message["role"], content=message["content"]) for message in asked.messages]


def check_stream(asked: Asked, raw: str, responses: list[ChatResponse]) -> None:
    last = responses[-1].message
    extraction = check(asked, read_chat_message(raw, last))
    deltas = "".join(response.delta or "" for response in responses)
    assert deltas == (extraction.content or "")
    counts = [len(read_chat_message(raw, response.message).calls) for response in responses]
    assert counts == sorted(counts), "a call that was given is not taken back"
    whole = PARSER.parse(raw)
    assert (last.content or "", read_chat_message(raw, last).calls) == (
        whole.text,
        [(call.tool_name, call.tool_kwargs) for call in whole.tool_calls],
    )


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.name, scope="class")  # each prompt is computed once
class TestChat:
    def test_streamed(self, asked: Asked, live: LiveServer) -> None:
        raw = Raw()
        responses = list(PARSER.stream(raw.tap(llm(live, asked).stream_chat(messages_of(asked)))))
        check_stream(asked, raw.text, responses)

    def test_whole(self, asked: Asked, live: LiveServer) -> None:
        response = llm(live, asked).chat(messages_of(asked))
        raw = response.message.content or ""
        check(asked, read_chat_message(raw, PARSER.promote(response).message))
        output = PARSER.parse(raw)
        check(
            asked,
            Read(
                raw=raw,
                text=str(output),
                calls=[(call.tool_name, call.tool_kwargs) for call in output.tool_calls],
                ids=[call.tool_id for call in output.tool_calls],
            ),
        )


def test_an_answer_cut_off_inside_a_call_gives_no_call(live: LiveServer) -> None:
    asked = FORCED[0]
    raw = Raw()
    *_, last = PARSER.stream(raw.tap(llm(live, asked, max_tokens=12).stream_chat(messages_of(asked))))
    assert (read_chat_message(raw.text, last.message).calls, last.message.content) == ([], raw.text)
