"""Reasoning that is split off the text: where LlamaIndex's own reasoning models have it, whole and streamed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ContentBlock, ThinkingBlock
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, MessageRole, TextBlock

from chunkings import chunkings
from integrations.llamaindex.scripted import CALL, ScriptedLLM, said
from llama_index_llama3_tools import (
    Llama3JsonToolOutputParser,
)

ROME = CALL.replace("Paris", "Rome")
OUTPUTS: dict[str, tuple[str, list[tuple[str, Any]]]] = {
    "none": (
        f"Let me check. {CALL} One moment.",
        [("text", "Let me check. One moment."), ("tool_call", "get_weather")],
    ),
    "before an answer": (
        "<think>\nIs it <b>Paris</b>? 1 < 2.\n</think>\n\nIt is sunny.",
        [("thinking", "Is it <b>Paris</b>? 1 < 2."), ("text", "It is sunny.")],
    ),
    "before a call": (
        f"<think>\nThey want {CALL}.\n</think>\n\n{CALL}",
        [("thinking", f"They want {CALL}."), ("tool_call", "get_weather")],
    ),
    "around text and calls": (
        f"One <think>two</think> three {CALL}<think>four</think>; {ROME}",
        [("thinking", "two\n\nfour"), ("text", "One three"), *[("tool_call", "get_weather")] * 2],
    ),
    "cut off in the tag": ("<think>They want it.</thi", [("thinking", "They want it.</thi"), ("text", "")]),
}
"""What a model writes, and what its message holds then."""
each_output = pytest.mark.parametrize(("output", "expected"), OUTPUTS.values(), ids=OUTPUTS)
THINKS_AND_CALLS = OUTPUTS["before a call"][0]


def parser(**options: Any) -> Llama3JsonToolOutputParser:
    return Llama3JsonToolOutputParser(split_reasoning=True, **options)


def response(*blocks: ContentBlock, **fields: Any) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=list(blocks)), **fields)


def parts(message: ChatMessage) -> list[tuple[str, Any]]:
    """What a message holds, block by block; of a call its tool."""
    shown = {"thinking": "content", "text": "text", "tool_call": "tool_name"}
    return [(block.block_type, getattr(block, shown[block.block_type])) for block in message.blocks]


def thought(responses: Iterable[ChatResponse | CompletionResponse]) -> str:
    return "".join(response.additional_kwargs.get("thinking_delta") or "" for response in responses)


class TestWholeResponses:
    @each_output
    def test_it_is_a_block_of_its_own(self, output: str, expected: list[tuple[str, Any]]) -> None:
        parsed = parser().parse(output)
        assert parts(parsed.to_chat_message()) == expected
        assert parsed.reasoning == dict(expected).get("thinking")
        for given in (response(TextBlock(text=output)), CompletionResponse(text=output)):
            assert parts(parser().promote(given).message) == expected

    def test_what_the_server_split_off_stays_beside_it(self) -> None:
        signed = ThinkingBlock(content="So.", additional_information={"signature": "…"})
        promoted = parser().promote(response(signed, TextBlock(text=THINKS_AND_CALLS)))
        assert promoted.message.blocks[0] == signed
        assert parts(promoted.message)[1:] == [("thinking", f"They want {CALL}."), ("tool_call", "get_weather")]


class TestStreams:
    @staticmethod
    def check(responses: list[ChatResponse], output: str, options: dict[str, bool]) -> None:
        """What holds for every stream: what is new adds up to the message, and that to what `parse` gives."""
        parsed = parser(**options).parse(output)
        last = responses[-1].message
        assert parts(last) == parts(parsed.to_chat_message())
        assert (said(responses), thought(responses)) == (parsed.text, parsed.reasoning or "")
        for number, shown in enumerate(responses[:-1], start=1):
            blocks = dict(parts(shown.message))
            assert blocks.get("thinking", "") == thought(responses[:number])
            assert blocks.get("text", "") == said(responses[:number])
            assert shown.additional_kwargs.get("thinking_delta", "…") != ""

    @pytest.mark.parametrize("output", [output for output, _ in OUTPUTS.values()], ids=OUTPUTS)
    def test_it_comes_piece_by_piece_however_the_output_is_cut(self, output: str) -> None:
        for chunks in chunkings(output):
            self.check(list(parser().stream(ScriptedLLM(chunks=chunks).stream_chat([]))), output, {})
