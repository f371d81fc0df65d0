"""Streams: the sum of the chunks is what `invoke` gives, for every way to cut the model's output."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModelError
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessageChunk

from chunkings import chunkings
from integrations.langchain.scripted import (
    CALL,
    CUT_OFF,
    SHAPES,
    ScriptedChatModel,
    as_text_chunks,
    counted_ids,
    fields,
    keep,
    streamed,
    summed,
)
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolModel
from langchain_llama3_tools.answers import AnswerStream
from llama3_tools.chat import ToolChat
from steps import steps_of

OTHER = CALL.replace("Paris", "Rome")
OUTPUTS = {
    "empty": "",
    "text around calls": f"Let me check. {CALL}; {OTHER} One moment.",
    "malformed": f'{{"name": "f", "parameters": {{"x": oops}}}}, {CALL} and {CUT_OFF}',
    "thoughts around text and calls": f"One <think>two</think> three {CALL}<think>four</think>; {OTHER}",
}


def parser() -> Llama3JsonToolOutputParser:
    return Llama3JsonToolOutputParser(id_factory=counted_ids(), split_reasoning=True)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("output", OUTPUTS)
def test_the_sum_of_the_chunks_is_what_invoke_gives_and_each_has_its_own(output: str, shape: str) -> None:
    for pieces in chunkings(OUTPUTS[output], is_sampled=True):
        chunks = SHAPES[shape](pieces)
        expected = parser().invoke(summed(chunks))
        *others, last = out = streamed(parser(), chunks)
        message = summed(out)
        assert bool(message.additional_kwargs.get("reasoning_content")) == ("thoughts" in output or "v1" in shape)
        assert fields(message) == fields(expected), pieces
        calls = [call for chunk in out for call in chunk.tool_call_chunks]
        assert [call["index"] for call in calls] == [*range(len(message.tool_calls) + len(message.invalid_tool_calls))]
        usage = [chunk.usage_metadata for chunk in chunks if chunk.usage_metadata]
        assert [chunk.usage_metadata for chunk in out if chunk.usage_metadata] == usage
        assert not any(chunk.response_metadata for chunk in (*others[:-1], last)), "it comes at the end"
        assert (last.text, last.tool_call_chunks, last.chunk_position) == ("", [], "last")
        assert {chunk.chunk_position for chunk in others} == {None}
        assert {chunk.id for chunk in others} == {last.id}


def test_other_fields_of_chunks_are_kept() -> None:
    chunks = [
        AIMessageChunk(content="", additional_kwargs={"reasoning_content": "Hm"}, name="llama"),
        AIMessageChunk(content="{", additional_kwargs={"reasoning_content": "m."}, name="llama"),
        AIMessageChunk(content="}", additional_kwargs={"refusal": None}, logprobs=[-0.5]),
    ]
    out = streamed(Llama3JsonToolOutputParser(), chunks)
    assert summed(out).additional_kwargs == {"reasoning_content": "Hmm.", "refusal": None}
    assert [chunk.name for chunk in out[:2]] == ["llama", "llama"]
    assert [chunk.model_extra for chunk in out if chunk.model_extra] == [{"logprobs": [-0.5]}]


def test_prose_comes_as_it_arrives_and_what_is_held_back_makes_no_chunks() -> None:
    pieces = ["Let", " me", " check", ". ", '{"name":', ' "f", "param', 'eters": {}', "}", " Do", "ne", " {x", "}"]
    out = streamed(Llama3JsonToolOutputParser(), [AIMessageChunk(content=piece, id="1") for piece in pieces])
    assert [chunk.content for chunk in out] == ["Let", " me", " check", ".", "", " Do", "ne", " {x", "}", ""]
    assert [len(chunk.tool_calls) for chunk in out] == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_grows_as_the_stream_does(shape: str) -> None:
    """LangChain's own, which sums the chunks up, does not; so this is without it."""
    piece = f"Hi {CALL}; {CUT_OFF}"

    def work(times: int) -> int:
        answer = AnswerStream(ToolChat(None, split_reasoning=True).request([]))

        def feed(given: list[AIMessageChunk]) -> None:
            for chunk in given:
                list(answer.feed(chunk))
            list(answer.end())
            list(answer.last())

        given = SHAPES[shape]([(piece * times)[at : at + 8] for at in range(0, len(piece) * times, 8)])
        return steps_of(lambda: feed(given))

    work(3)
    assert work(100) < 5 * work(25) + 500


class TestModels:
    """LangChain's own fakes, and what they show of real ones."""

    @pytest.mark.parametrize("is_async", [False, True])
    async def test_one_that_breaks_off_loses_no_text(self, is_async: bool) -> None:
        answer = f"Let me check. {CALL} Then {CUT_OFF}"
        llm = FakeListChatModel(responses=[answer], error_on_chunk_number=len(answer) - 3)
        chain = llm | Llama3JsonToolOutputParser(on_invalid="raise")
        arrived: list[AIMessage] = []
        with pytest.raises(FakeListChatModelError):
            await keep(chain.astream(""), arrived) if is_async else arrived.extend(chain.stream(""))
        message = summed(arrived)
        assert message.content == f"Let me check. Then {CUT_OFF[:-3]}"
        assert [call["name"] for call in message.tool_calls] == ["get_weather"]

    async def test_one_that_does_not_stream_answers_in_one_piece(self) -> None:
        class Whole(ScriptedChatModel):
            _stream = BaseChatModel._stream  # noqa: SLF001 (which raises)

        llm = Whole(chunks=as_text_chunks([f"Sure. {CALL}"]))
        model: Any = Llama3ToolModel(llm).bind_tools([{"name": "get_weather"}])
        for chunks in (list(model.stream("Hi")), [chunk async for chunk in model.astream("Hi")]):
            message = summed(chunks)
            assert (message.text, len(message.tool_calls)) == ("Sure.", 1)

    def test_one_whose_messages_are_of_another_class(self) -> None:
        chunks = [ChatMessageChunk(role="assistant", content=piece, id="1") for piece in ("Sure. ", CALL)]
        message = summed(streamed(Llama3JsonToolOutputParser(), chunks))
        assert (message.content, len(message.tool_calls), message.id) == ("Sure.", 1, "1")
