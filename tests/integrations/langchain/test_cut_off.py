"""Answers that a limit ended: code in them is not called (principle 6), in every way to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from endpoints.script import Turn, cut_at
from integrations.langchain.agents import chat_openai, serving
from integrations.langchain.scripted import ScriptedChatModel, summed
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolModel

CODE = "<|python_tag|>print(1)"
TOOL = {"type": "function", "function": {"name": "code_interpreter", "parameters": {"type": "object"}}}

ENDS = pytest.mark.parametrize(
    ("reason", "is_called"), [("length", False), ("content_filter", False), ("stop", True), ("eos", True)]
)


def check(message: AIMessage, *, is_called: bool) -> None:
    called = [call["name"] for call in message.tool_calls]
    broken = [call["name"] for call in message.invalid_tool_calls]
    assert (called, broken) == ((["code_interpreter"], []) if is_called else ([], ["code_interpreter"]))
    assert message.text == ("" if is_called else "print(1)")


def parsed(llm: Any) -> Any:
    return llm | Llama3JsonToolOutputParser(tools=[TOOL])


def wrapped(llm: Any) -> Any:
    return Llama3ToolModel(llm, max_retries=0).bind_tools([TOOL])


@ENDS
@pytest.mark.parametrize("made", [parsed, wrapped])
async def test_over_a_server(made: Callable[[Any], Any], reason: str, is_called: bool):
    turn = Turn(pieces=cut_at(CODE, 4, 18), finish_reason=reason)
    with serving(turn, turn, turn, turn) as server:
        chain = made(chat_openai(server))
        check(chain.invoke("Hi"), is_called=is_called)
        check(await chain.ainvoke("Hi"), is_called=is_called)
        check(summed(chain.stream("Hi")), is_called=is_called)
        check(summed([chunk async for chunk in chain.astream("Hi")]), is_called=is_called)


class Telling(ScriptedChatModel):
    """Tells the reason beside its messages, as models do of which LangChain copies it into them afterwards."""

    reason: str

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        generation = ChatGeneration(message=AIMessage(CODE), generation_info={"finish_reason": self.reason})
        return ChatResult(generations=[generation])

    def _stream(self, *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(CODE), generation_info={"finish_reason": self.reason})
        yield ChatGenerationChunk(message=AIMessageChunk(""))


@ENDS
def test_told_beside_the_message(reason: str, is_called: bool):
    chain = wrapped(Telling(chunks=[], reason=reason))
    check(chain.invoke("Hi"), is_called=is_called)
    check(summed(chain.stream("Hi")), is_called=is_called)
