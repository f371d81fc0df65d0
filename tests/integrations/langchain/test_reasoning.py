"""Reasoning that is split off the text: in the field where LangChain's reasoning models have it, whole and streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModelError
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk

from chunkings import chunkings
from integrations.langchain.scripted import (
    CALL,
    CUT_OFF,
    SHAPES,
    as_block_chunks,
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

CITY = {"name": "get_weather", "args": {"city": "Paris"}, "id": "a", "type": "tool_call"}


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

    def test_by_default_it_is_content(self) -> None:
        message = Llama3JsonToolOutputParser().invoke(OUTPUTS["before a call"])
        assert message.content == f"<think>\nThey want {CALL}.\n</think>"
        assert message.additional_kwargs == {}

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

    def test_a_server_that_has_none_may_say_so(self) -> None:
        given = AIMessage("<think>Two.</think>Yes.", additional_kwargs={"reasoning_content": None})
        assert thoughts(parser().invoke(given)) == "Two."

    @pytest.mark.parametrize("output", ["before an answer", "before a call", "empty"])
    def test_it_goes_from_a_message_whose_calls_the_server_found(self, output: str) -> None:
        given = AIMessage(OUTPUTS[output], tool_calls=[{**CITY, "args": {"city": "Oslo"}}])
        message = summed(parser().transform(iter([given])))
        assert message == parser().invoke(given)
        assert "<think>" not in str(message.content)
        assert message.tool_calls[-1]["args"] == {"city": "Oslo"}


class TestStreams:
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("output", OUTPUTS)
    def test_the_sum_of_the_chunks_is_what_invoke_gives(self, output: str, shape: str) -> None:
        for pieces in chunkings(OUTPUTS[output]):
            chunks = SHAPES[shape](pieces)
            out = streamed(parser(), chunks)
            assert fields(summed(out)) == fields(parser().invoke(summed(chunks))), pieces
            assert not any("think>" in str(chunk.text) for chunk in out if output != "quoted")

    @pytest.mark.parametrize("shape", SHAPES)
    async def test_asynchronous_chunks_are_the_same(self, shape: str) -> None:
        for output in OUTPUTS.values():
            chunks = SHAPES[shape](list(output))

            async def arriving(chunks: list[AIMessageChunk] = chunks) -> AsyncIterator[AIMessageChunk]:
                for chunk in chunks:
                    yield chunk

            actual = [chunk async for chunk in parser().atransform(arriving())]
            assert actual == streamed(parser(), chunks)

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

    @pytest.mark.parametrize("as_chunks", [as_text_chunks, as_block_chunks])
    def test_what_each_chunk_carries_goes_out_once(self, as_chunks: Callable[[list[str]], list[Any]]) -> None:
        for pieces in chunkings(OUTPUTS["before a call"]):
            chunks = as_chunks(pieces)
            out, given = streamed(parser(), chunks), summed(chunks)
            assert [
                chunk.response_metadata["finish_reason"] for chunk in out if "finish_reason" in chunk.response_metadata
            ] == ["tool_calls"]
            said = {
                key: value for key, value in given.response_metadata.items() if key in {"model_name", "finish_reason"}
            }
            assert summed(out).response_metadata == {**said, "finish_reason": "tool_calls"}
            assert summed(out).usage_metadata == given.usage_metadata

    def test_a_server_s_own_is_joined(self) -> None:
        own = [AIMessageChunk(content="", additional_kwargs={"reasoning_content": piece}) for piece in ("One", ".")]
        for pieces in chunkings("<think>Two.</think>Yes."):
            chunks = [*own, *(AIMessageChunk(content=piece) for piece in pieces)]
            message = summed(streamed(parser(), chunks))
            assert (message.content, thoughts(message)) == ("Yes.", "One.\n\nTwo.")
            assert message == parser().invoke(summed(chunks))

    def test_in_one_chunk_and_behind_what_was_split_off_too(self) -> None:
        own = {"reasoning_content": "One."}
        chunks = [
            AIMessageChunk(content="<think>Two.</think>Yes.", additional_kwargs=own),
            AIMessageChunk(content=" So.", additional_kwargs=own),
            AIMessageChunk(content="", additional_kwargs=own),
        ]
        message = summed(streamed(parser(), chunks))
        assert (message.content, thoughts(message)) == ("Yes. So.", "One.\n\nTwo.\n\nOne.One.")
        assert own == {"reasoning_content": "One."}

    def test_where_the_server_finds_the_calls_it_goes_as_well(self) -> None:
        native = [
            AIMessageChunk(
                content="", tool_call_chunks=[tool_call_chunk(name="get_weather", args='{"city": ', id="a", index=0)]
            ),
            AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(args='"Paris"}', index=0)]),
        ]
        for pieces in chunkings(f"<think>{CALL}</think>Let me check."):
            text = [AIMessageChunk(content=piece) for piece in pieces]
            for chunks in ([*text, *native], [*native, *text]):
                message = summed(streamed(parser(), chunks))
                assert (message.content, thoughts(message)) == ("Let me check.", CALL)
                assert message.tool_calls == [CITY]
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

    def test_or_kept_and_not_read(self) -> None:
        message = parser(split_reasoning=False, starts_reasoning=True).invoke(self.OUTPUT)
        assert message.content == f"They want {CALL}.\n</think>\n\nLet me check."
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

    def test_nor_does_a_second_text(self) -> None:
        image: dict[Any, Any] = {"type": "image_url", "image_url": {"url": "data:,"}}
        message = parser(starts_reasoning=True).invoke(AIMessage(["One.</think>Yes. ", image, "No."]))
        assert (message.content, thoughts(message)) == (["Yes.", image, " No."], "One.")
