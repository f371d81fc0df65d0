"""Reasoning that is split off the text: in the field where LangChain's reasoning models have it, whole and streamed."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModelError
from langchain_core.messages import AIMessage, AIMessageChunk

from chunkings import chunkings
from integrations.langchain.scripted import (
    CALL,
    CUT_OFF,
    SHAPES,
    as_text_chunks,
    counted_ids,
    fields,
    streamed,
    summed,
)
from langchain_llama3_tools import Llama3JsonToolOutputParser

OTHER = CALL.replace("Paris", "Oslo")

OUTPUTS = {
    "none": f"Let me check. {CALL} One moment.",
    "before an answer": "<think>\nIs it <b>Paris</b>? 1 < 2.\n</think>\n\nIt is sunny.",
    "before a call": f"<think>\nThey want {CALL}.\n</think>\n\n{CALL}",
    "around text and calls": f"One <think>two</think> three {CALL}<think>four</think>; {OTHER}",
    "twice": f"<think>One.</think><think>Two.</think> Let me check. {CALL}<think>Three.</think>",
    "empty": f"<think>\n\n</think>\n\nLet me check. {CALL}",
    "cut off": "<think>They want to know the wea",
    "cut off in the tag": "<think>They want it.</thi",
    "before a malformed call": f"<think>Use it.</think>{CUT_OFF}",
    "quoted": "Write `<think>` to think.",
}


def parser(**options: Any) -> Llama3JsonToolOutputParser:
    return Llama3JsonToolOutputParser(**{"split_reasoning": True, "id_factory": counted_ids(), **options})


def thoughts(message: AIMessage) -> str | None:
    return message.additional_kwargs.get("reasoning_content")


class TestWholeMessages:
    @pytest.mark.parametrize(
        ("output", "content", "reasoning", "calls"),
        [
            ("before an answer", "It is sunny.", "Is it <b>Paris</b>? 1 < 2.", 0),
            ("before a call", "", f"They want {CALL}.", 1),
            ("around text and calls", "One three", "two\n\nfour", 2),
            ("twice", "Let me check.", "One.\n\nTwo.\n\nThree.", 1),
            ("empty", "Let me check.", None, 1),
            ("cut off", "", "They want to know the wea", 0),
            ("quoted", "Write `<think>` to think.", None, 0),
        ],
    )
    def test_it_stands_beside_the_content(self, output: str, content: str, reasoning: str | None, calls: int) -> None:
        for given in (OUTPUTS[output], AIMessage(OUTPUTS[output], additional_kwargs={"refusal": None})):
            message = parser().invoke(given)
            assert (message.content, thoughts(message), len(message.tool_calls)) == (content, reasoning, calls)
            assert [block["type"] for block in message.content_blocks].count("reasoning") == bool(reasoning)

    def test_so_it_does_beside_blocks_of_version_1(self) -> None:
        blocks: list[str | dict[Any, Any]] = [{"type": "text", "text": OUTPUTS["twice"]}]
        message = parser().invoke(AIMessage(blocks, response_metadata={"output_version": "v1"}))
        assert message.content_blocks == [
            {"type": "reasoning", "reasoning": "One.\n\nTwo.\n\nThree."},
            {"type": "text", "text": "Let me check."},
            {"type": "tool_call", "name": "get_weather", "args": {"city": "Paris"}, "id": "call_0"},
        ]

    def test_other_lists_have_it_beside_them(self) -> None:
        image: dict[Any, Any] = {"type": "image_url", "image_url": {"url": "data:,"}}
        message = parser().invoke(AIMessage(["<think>One.</think>Yes. ", image, "<think>Two.</think>"]))
        assert message.content == ["Yes.", image]
        assert thoughts(message) == "One.\n\nTwo."

    def test_a_server_s_own_comes_first(self) -> None:
        given = AIMessage("<think>Two.</think>Yes.", additional_kwargs={"reasoning_content": "One."})
        assert thoughts(parser().invoke(given)) == "One.\n\nTwo."
        assert thoughts(given) == "One."
        assert thoughts(parser().invoke(parser().invoke(given))) == "One.\n\nTwo."


class TestStreams:
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("output", OUTPUTS)
    def test_the_sum_of_the_chunks_is_what_invoke_gives(self, output: str, shape: str) -> None:
        for pieces in chunkings(OUTPUTS[output]):
            chunks = SHAPES[shape](pieces)
            out = streamed(parser(), chunks)
            assert fields(summed(out)) == fields(parser().invoke(summed(chunks))), pieces
            assert not any("think>" in str(chunk.text) for chunk in out if output != "quoted")

    def test_it_comes_piece_by_piece_in_its_order(self) -> None:
        pieces = ["<thi", "nk>", "\n", "Hm", ", 1 <", " 2.", "</think>", "\n\nYes", f" {CALL}", "<think>Ok", "</think>"]
        assert [(chunk.content, thoughts(chunk), len(chunk.tool_calls)) for chunk in streamed(parser(), pieces)] == [
            ("", "Hm", 0),
            ("", ", 1", 0),
            ("", " < 2.", 0),
            ("Yes", None, 0),
            ("", None, 1),
            ("", "\n\nOk", 0),
            ("", None, 0),
        ]

    def test_a_server_s_own_is_joined(self) -> None:
        own = [AIMessageChunk(content="", additional_kwargs={"reasoning_content": piece}) for piece in ("One", ".")]
        for pieces in chunkings("<think>Two.</think>Yes."):
            chunks = [*own, *(AIMessageChunk(content=piece) for piece in pieces)]
            message = summed(streamed(parser(), chunks))
            assert (message.content, thoughts(message)) == ("Yes.", "One.\n\nTwo.")
            assert message == parser().invoke(summed(chunks))

    def test_one_that_breaks_off_within_it_keeps_it_apart(self) -> None:
        answer = "<think>They want to know the weather"
        llm = FakeListChatModel(responses=[answer], error_on_chunk_number=20)
        arrived: list[AIMessage] = []
        with pytest.raises(FakeListChatModelError):
            arrived.extend((llm | parser()).stream(""))
        message = summed(arrived)
        assert (message.content, thoughts(message)) == ("", answer[7:20].rstrip())


class TestTextThatBeginsInside:
    OUTPUT = f"They want {CALL}.\n</think>\n\nLet me check. {CALL}"

    def test_it_is_split_off(self) -> None:
        inside = parser(starts_reasoning=True)
        for pieces in chunkings(self.OUTPUT):
            message = summed(streamed(inside, as_text_chunks(pieces)))
            assert (message.text, thoughts(message)) == ("Let me check.", f"They want {CALL}.")
            assert len(message.tool_calls) == 1

    @pytest.mark.parametrize(
        "given",
        [
            AIMessage("Yes.", additional_kwargs={"reasoning_content": "One."}),
            AIMessage([{"type": "reasoning", "reasoning": "One."}, {"type": "text", "text": "Yes."}]),
        ],
    )
    def test_where_the_server_has_split_it_off_none_does(self, given: AIMessage) -> None:
        inside = parser(starts_reasoning=True)
        chunk = AIMessageChunk(content=given.content, additional_kwargs=given.additional_kwargs)
        for message in (inside.invoke(given), summed(streamed(inside, [chunk]))):
            assert (message.text, thoughts(message)) == ("Yes.", "One.")
            assert [block["type"] for block in message.content_blocks] == ["reasoning", "text"]
