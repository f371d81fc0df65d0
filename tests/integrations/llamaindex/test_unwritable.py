"""Calls of LLMs that find them themselves, with arguments that JSON has no form for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    MessageRole,
    MockFunctionCallingLLM,
)
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool

from llama_index_llama3_tools import Llama3ToolLLM

ran: list[Any] = []


def note(thing: Any) -> str:
    """Note a thing."""
    ran.append(thing)
    return "noted"


TOOL = FunctionTool.from_defaults(note)


class CallingLLM(MockFunctionCallingLLM):
    """Calls a tool when it is asked, and speaks when it has the result."""

    thing: Any
    _shown: list[list[tuple[str, str | None]]] = PrivateAttr(default_factory=list)

    @property
    def shown(self) -> list[list[tuple[str, str | None]]]:
        """The conversations that it was shown."""
        return self._shown

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:  # noqa: ARG002 (the framework's signature)
        self._shown.append([(message.role.value, message.content) for message in messages])
        if messages[-1].role == MessageRole.TOOL:
            return ChatResponse(message=ChatMessage(role="assistant", content="Done."), delta="Done.")
        call = ToolCallBlock(tool_call_id="1", tool_name="note", tool_kwargs={"thing": self.thing})
        return ChatResponse(message=ChatMessage(role="assistant", blocks=[call]), delta="")

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        async def responses() -> ChatResponseAsyncGen:
            yield self.chat(messages, **kwargs)

        return responses()


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(
    ("thing", "written"),
    [
        pytest.param(date(2026, 1, 2), '{"thing": "2026-01-02"}', id="a date"),
        pytest.param({"a"}, """{"thing": "{'a'}"}""", id="a set"),
        pytest.param({(1, 2): 3}, "{…}", id="keys that are no text"),
        pytest.param(10**5000, f'{{"thing": 1{"0" * 5000}}}', id="a long integer"),
    ],
)
async def test_the_call_is_run_and_the_conversation_goes_on(thing: object, written: str, streaming: bool) -> None:
    ran.clear()
    inside, memory = CallingLLM(thing=thing), ChatMemoryBuffer.from_defaults(token_limit=10**6)
    agent = FunctionAgent(
        tools=[TOOL], llm=Llama3ToolLLM(inside, tools_in="request", tool_role="tool"), streaming=streaming
    )
    for question in ("Once.", "Twice."):
        assert str(await agent.run(question, memory=memory)) == "Done."
    assert len(ran) == 2
    assert all(value is thing for value in ran)
    assert inside.shown[2] == [
        ("user", "Once."),
        ("assistant", f'{{"name": "note", "parameters": {written}}}'),
        ("tool", "Result of note: noted"),
        ("assistant", "Done."),
        ("user", "Twice."),
    ]
