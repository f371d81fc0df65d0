"""Streams: the sum of the chunks is what `invoke` gives, for every way to cut the model's output."""

from __future__ import annotations

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModelError
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessageChunk
from langchain_core.messages.tool import tool_call_chunk

from chunkings import chunkings
from integrations.langchain.scripted import (
    CALL,
    CUT_OFF,
    SHAPES,
    counted_ids,
    fields,
    streamed,
    summed,
)
from langchain_llama3_tools import Llama3JsonToolOutputParser
from langchain_llama3_tools.answers import AnswerStream
from llama3_tools.chat import ToolChat
from steps import steps_of

OTHER = CALL.replace("Paris", "Rome")
OUTPUTS = {
    "empty": "",
    "a call": CALL,
    "text around a call": f"Let me check. {CALL} One moment.",
    "calls by semicolons": f'{CALL}; {{"name": "f", "parameters": {{}}}}; done',
    "a fenced call": f"Sure\n```json\n{CALL}\n```\ndone",
    "cut off": f"Let me check. {CUT_OFF}",
    "several malformed": f'{{"name": "f", "parameters": {{"x": oops}}}} and {CUT_OFF}',
    "thoughts around text and calls": f"One <think>two</think> three {CALL}<think>four</think>; {OTHER}",
    "thoughts cut off": "<think>They want it.</thi",
    "unicode": '¿Qué? {"name": "f", "parameters": {"s": "日本 \\u00e9 \\ud83d\\ude00 \\"}{"}} 😀',
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("output", OUTPUTS)
def test_the_sum_of_the_chunks_is_what_invoke_gives(output: str, shape: str) -> None:
    for pieces in chunkings(OUTPUTS[output], is_sampled=True):
        chunks = SHAPES[shape](pieces)
        expected = Llama3JsonToolOutputParser(id_factory=counted_ids(), split_reasoning=True).invoke(summed(chunks))
        parser = Llama3JsonToolOutputParser(id_factory=counted_ids(), split_reasoning=True)
        actual = summed(streamed(parser, chunks))
        assert bool(actual.additional_kwargs.get("reasoning_content")) == ("thoughts" in output or "v1" in shape)
        assert fields(actual) == fields(expected), pieces


@pytest.mark.parametrize("shape", SHAPES)
def test_what_each_chunk_carries_goes_out_once_and_what_the_server_tells_at_the_end(shape: str) -> None:
    for pieces in chunkings(f"Let me check. {CALL} Done.", is_sampled=True):
        chunks = SHAPES[shape](pieces)
        out = streamed(Llama3JsonToolOutputParser(), chunks)
        arrived = [chunk.usage_metadata for chunk in chunks]
        assert [chunk.usage_metadata for chunk in out if chunk.usage_metadata] == list(filter(None, arrived))
        told = [chunk.response_metadata for chunk in out]
        assert [*filter(None, told)] == told[-2:-1] * (shape != "blocks of its own")


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


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_comes_whole_in_one_chunk_with_an_index_of_its_own(shape: str) -> None:
    for pieces in chunkings(
        f'One {CALL}; {{"name": "f", "parameters": {{"s": "}}"}}}} two <tool_call>{OTHER}</tool_call>', is_sampled=True
    ):
        out = streamed(Llama3JsonToolOutputParser(id_factory=counted_ids()), SHAPES[shape](pieces))
        assert [call for chunk in out for call in chunk.tool_call_chunks] == [
            tool_call_chunk(name="get_weather", args='{"city": "Paris"}', id="call_0", index=0),
            tool_call_chunk(name="f", args='{"s": "}"}', id="call_1", index=1),
            tool_call_chunk(name="get_weather", args='{"city": "Rome"}', id="call_2", index=2),
        ]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_last_chunk_is_empty_and_says_that_it_is_the_last(shape: str) -> None:
    for pieces in chunkings(f"Let me check. {CALL}", is_sampled=True):
        *others, last = streamed(Llama3JsonToolOutputParser(), SHAPES[shape](pieces))
        assert not last.content
        assert not last.tool_call_chunks
        assert last.chunk_position == "last"
        assert {chunk.chunk_position for chunk in others} == {None}
        assert isinstance(last.content, type(others[-1].content))
        assert last.id == others[0].id


def test_prose_comes_as_it_arrives_and_what_is_held_back_makes_no_chunks() -> None:
    pieces = ["Let", " me", " check", ". ", '{"name":', ' "f", "param', 'eters": {}', "}", " Do", "ne", " {x", "}"]
    out = streamed(Llama3JsonToolOutputParser(), [AIMessageChunk(content=piece, id="1") for piece in pieces])
    assert [chunk.content for chunk in out] == ["Let", " me", " check", ".", "", " Do", "ne", " {x", "}", ""]
    assert [len(chunk.tool_calls) for chunk in out] == [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("piece", [f"Hi {CALL}; ", CUT_OFF, "a "])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_grows_as_the_stream_does(shape: str, piece: str) -> None:
    """LangChain's own, which sums the chunks up, does not; so this is without it."""

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
    assert work(200) < 5 * work(50) + 500


class TestModels:
    """LangChain's own fakes, and what they show of real ones."""

    def test_one_that_breaks_off_loses_no_text(self) -> None:
        answer = f"Let me check. {CALL} Then {CUT_OFF}"
        llm = FakeListChatModel(responses=[answer], error_on_chunk_number=len(answer) - 3)
        arrived: list[AIMessage] = []
        with pytest.raises(FakeListChatModelError):
            arrived.extend((llm | Llama3JsonToolOutputParser(on_invalid="raise")).stream(""))
        message = summed(arrived)
        assert message.content == f"Let me check. Then {CUT_OFF[:-3]}"
        assert [call["name"] for call in message.tool_calls] == ["get_weather"]

    def test_one_whose_messages_are_of_another_class(self) -> None:
        chunks = [ChatMessageChunk(role="assistant", content=piece, id="1") for piece in ("Sure. ", CALL)]
        message = summed(streamed(Llama3JsonToolOutputParser(), chunks))
        assert (message.content, len(message.tool_calls), message.id) == ("Sure.", 1, "1")
