"""Answers that a limit ended: code in them is not called (principle 6), in every way to read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.tools import FunctionTool

from endpoints.script import Turn, cut_at
from integrations.llamaindex.endpoint import endpoint
from integrations.llamaindex.scripted import calls_in
from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolLLM

CODE = "<|python_tag|>print(1)"


def code_interpreter(code: str) -> str:
    """Run code."""
    return code


TOOLS = [FunctionTool.from_defaults(code_interpreter)]

ENDS = pytest.mark.parametrize(("reason", "is_called"), [("length", False), ("stop", True)])


def check(response: ChatResponse, *, is_called: bool) -> None:
    assert calls_in(response.message) == [("code_interpreter", {"code": "print(1)"})] * is_called
    assert (response.message.content or "") == ("" if is_called else "print(1)")


def last(responses: Iterable[ChatResponse]) -> ChatResponse:
    return list(responses)[-1]


@ENDS
async def test_of_the_llm_over_a_server(reason: str, is_called: bool):
    turn = Turn(pieces=cut_at(CODE, 4, 18), finish_reason=reason)
    with endpoint(turn, turn, turn, turn) as served:
        llm = Llama3ToolLLM(served.llm(), max_retries=0)
        check(llm.chat_with_tools(TOOLS, user_msg="Hi"), is_called=is_called)
        check(await llm.achat_with_tools(TOOLS, user_msg="Hi"), is_called=is_called)
        check(last(llm.stream_chat_with_tools(TOOLS, user_msg="Hi")), is_called=is_called)
        stream = await llm.astream_chat_with_tools(TOOLS, user_msg="Hi")
        check([response async for response in stream][-1], is_called=is_called)


@ENDS
@pytest.mark.parametrize("is_completion", [False, True], ids=["chat", "completion"])
def test_of_responses(is_completion: bool, reason: str, is_called: bool):
    def response(text: str, raw: object = None, delta: str | None = None) -> Any:
        if is_completion:
            return CompletionResponse(text=text, delta=delta, raw=raw)
        return ChatResponse(message=ChatMessage(role="assistant", content=text), delta=delta, raw=raw)

    raw, parser = {"choices": [{"finish_reason": reason}]}, Llama3JsonToolOutputParser(tools=TOOLS)
    check(parser.promote(response(CODE, raw)), is_called=is_called)
    pieces = [response(CODE, delta=CODE), response(CODE, raw, ""), response(CODE, {"choices": []}, "")]
    check(last(parser.stream(pieces)), is_called=is_called)
