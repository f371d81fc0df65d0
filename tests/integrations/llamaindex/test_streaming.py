"""Streams: however an output is cut and an LLM streams it, the same text and calls come out, and no JSON with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, get_args

import pytest
from llama_index.core.base.llms.types import ContentBlock, LogProb, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole, TextBlock

from chunkings import chunkings
from integrations.llamaindex.scripted import CALL, OPEN, ScriptedLLM, Style, calls_in, said
from llama3_tools import Limits
from llama_index_llama3_tools import Llama3JsonToolOutputParser, MalformedToolCallError
from steps import steps_of

PARIS = {"city": "Paris"}

OUTPUTS = {
    "text and calls": f"Let me check. {CALL}; {CALL} One moment.",
    "text alone": "It is 5 > 3, and {this} <b>is</b> text; \\ too. ",
    "a call left open": f"{CALL} {OPEN}",
    "white space alone": "  \n",
    "a thought before a call": f"<think>\nThey want {CALL}.\n</think>\n\n{CALL}",
    "thoughts around text and calls": f"One <think>two</think> three {CALL}<think>four</think>; {CALL}",
    "a thought cut off": "<think>They want it.</thi",
}
PARSER = Llama3JsonToolOutputParser(split_reasoning=True)


def ids_in(message: ChatMessage) -> list[str | None]:
    return [block.tool_call_id for block in message.blocks if isinstance(block, ToolCallBlock)]


def thought(responses: Iterable[ChatResponse]) -> str:
    return "".join(response.additional_kwargs.get("thinking_delta") or "" for response in responses)


def thought_in(message: ChatMessage) -> str:
    return "".join(block.content or "" for block in message.blocks if isinstance(block, ThinkingBlock))


def check(responses: list[ChatResponse], output: str, fed: int) -> None:
    """What holds for every stream: it ends with what `parse` gives, never goes back, and shows no call as text."""
    parsed = PARSER.parse(output)
    last, expected = responses[-1].message, parsed.to_chat_message()
    assert (last.role, last.content or "") == (MessageRole.ASSISTANT, parsed.text)
    assert thought_in(last) == thought_in(expected) == (parsed.reasoning or "")
    assert calls_in(last) == [(call.tool_name, call.tool_kwargs) for call in parsed.tool_calls]
    assert [block.block_type for block in last.blocks] == [block.block_type for block in expected.blocks]
    assert fed <= len(responses) <= fed + 1
    # White space before the first text has gone out when a later call strips it: the one exception of the design.
    assert said(responses) == parsed.text or said(responses).lstrip() == parsed.text
    ids: list[str | None] = []
    for count, response in enumerate(responses, start=1):
        assert response.delta is not None
        assert (response.message.content or "") in {said(responses[:count]), parsed.text}
        assert thought_in(response.message) == thought(responses[:count])
        assert response.additional_kwargs.get("thinking_delta", "…") != ""
        assert ids_in(response.message)[: len(ids)] == ids
        ids = ids_in(response.message)
        mirrored = response.message.additional_kwargs.get("tool_calls", [])
        assert [call["id"] for call in mirrored] == ids


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_every_chunking_gives_what_parse_gives(output: str) -> None:
    for chunks in chunkings(output, is_sampled=True):
        llm = ScriptedLLM(chunks=chunks)
        check(list(PARSER.stream(llm.stream_chat([]))), output, len(chunks))


@pytest.mark.parametrize("style", get_args(Style))
def test_every_way_to_stream_gives_the_same(style: Style) -> None:
    for output in OUTPUTS.values():
        for chunks in ([output], list(output), [output[:20], "", output[20:]]):
            llm = ScriptedLLM(chunks=chunks, style=style)
            check(list(PARSER.stream(llm.stream_chat([]))), output, len(chunks))


def test_text_flows_and_a_call_appears_the_moment_it_is_closed() -> None:
    llm = ScriptedLLM(chunks=["Let me", " check. {", CALL[1:30], CALL[30:-1], "}", " Done", "!"])
    responses = list(Llama3JsonToolOutputParser().stream(llm.stream_chat([])))
    assert [response.delta for response in responses] == ["Let me", " check.", "", "", "", " Done", "!"]
    assert [len(calls_in(response.message)) for response in responses] == [0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([("Hel", "Hel"), ("Hello ", "lo "), ("Hello", None)], "Hello "),
        ([("Hel", "Hel"), ("Hello", ""), ("Hello!", None)], "Hello!"),
        ([("", "")], ""),
        ([("Hel", None), ("lo", None), ("lo", None)], "Hellolo"),
    ],
    ids=["the whole text behind its deltas", "what is new in a text without a delta", "nothing", "pieces alone"],
)
def test_a_text_is_read_once_with_or_without_deltas(pieces: list[tuple[str, str | None]], text: str) -> None:
    stream = [ChatResponse(message=ChatMessage(content=content), delta=delta) for content, delta in pieces]
    responses = list(Llama3JsonToolOutputParser().stream(stream))
    assert said(responses) == responses[-1].message.content == text


def test_raw_answers_log_probabilities_and_additional_arguments_stay_where_they_were() -> None:
    stream = [
        ChatResponse(
            message=ChatMessage(role=MessageRole.ASSISTANT, content=text, additional_kwargs={"kept": number}),
            delta=delta,
            raw={"number": number},
            logprobs=[[LogProb(token=delta, logprob=-1.0)]],
            additional_kwargs={"prompt_tokens": number},
        )
        for number, (text, delta) in enumerate([("Hm. ", "Hm. "), (f"Hm. {CALL} x", f"{CALL} x")])
    ]
    before = [given.model_copy(deep=True) for given in stream]
    responses = list(Llama3JsonToolOutputParser().stream(stream))
    assert len(responses) == 2
    assert stream == before
    for given, response in zip(stream, responses, strict=True):
        assert response.raw == given.raw
        assert response.logprobs == given.logprobs
        assert response.additional_kwargs == given.additional_kwargs
        assert response.message.additional_kwargs["kept"] == given.message.additional_kwargs["kept"]
    assert "tool_calls" in responses[-1].message.additional_kwargs


def test_what_was_held_back_comes_in_one_more_response_with_the_last_usage() -> None:
    stream = [
        ChatResponse(
            message=ChatMessage(role=MessageRole.ASSISTANT, content=OPEN),
            delta=OPEN,
            raw={"usage": 7},
            logprobs=[[LogProb(logprob=-1.0)]],
            additional_kwargs={"prompt_tokens": 3, "thinking_delta": "Hm"},
        )
    ]
    first, last = Llama3JsonToolOutputParser().stream(stream)
    assert (first.delta, first.additional_kwargs["thinking_delta"]) == ("", "Hm")
    assert (last.delta, last.message.content, last.raw) == (OPEN, OPEN, {"usage": 7})
    # These belong to the piece that they came with, and are not said a second time.
    assert (last.logprobs, last.additional_kwargs) == (None, {"prompt_tokens": 3})


def native(text: str, delta: str, **kwargs: Any) -> ChatResponse:
    blocks: list[ContentBlock] = [TextBlock(text=text)]
    if kwargs:
        blocks.append(ToolCallBlock(tool_call_id="call_1", tool_name="get_weather", **kwargs))
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks), delta=delta)


def test_calls_that_the_server_found_come_at_the_end() -> None:
    stream = [
        native("Hm. ", "Hm. "),
        native("Hm. ", "", tool_kwargs=""),
        native("Hm. ", "", tool_kwargs='{"city": "Ro'),
        native(f"Hm. {CALL}", CALL, tool_kwargs='{"city": "Rome"}'),
        native(f"Hm. {CALL}", ""),  # some clients do not repeat them
    ]
    before = [response.model_copy(deep=True) for response in stream]
    *responses, last = Llama3JsonToolOutputParser().stream(stream)
    assert [calls_in(response.message) for response in responses] == [[], [], [], *[[("get_weather", PARIS)]] * 2]
    assert calls_in(last.message) == [("get_weather", PARIS), ("get_weather", {"city": "Rome"})]
    assert (said([*responses, last]), stream) == ("Hm.", before)


async def test_a_malformed_call_raises_when_everything_is_out() -> None:
    parser = Llama3JsonToolOutputParser(on_invalid="raise")
    output = f"One {CALL} two {OPEN}"
    for chunks in ([output], list(output)):
        responses: list[ChatResponse] = []
        with pytest.raises(MalformedToolCallError, match="truncated") as caught:
            responses.extend(parser.stream(ScriptedLLM(chunks=chunks).stream_chat([])))
        assert caught.value.output == output
        assert said(responses) == f"One two {OPEN}"
        stream = parser.astream(await ScriptedLLM(chunks=chunks).astream_chat([]))
        with pytest.raises(MalformedToolCallError, match="truncated"):
            [response async for response in stream]


@pytest.mark.no_cover
@pytest.mark.parametrize(("piece", "arguments"), [("some words ", ""), (CALL, '{"city": ["')])
def test_the_work_grows_as_the_stream_does(piece: str, arguments: str) -> None:
    def work(times: int) -> int:
        stream = [
            native(piece * number, piece, **({"tool_kwargs": arguments + "x" * number} if arguments else {}))
            for number in range(1, times + 1)
        ]
        parser = Llama3JsonToolOutputParser(limits=Limits(max_calls=2))
        return steps_of(lambda: deque(parser.stream(stream), maxlen=0))

    work(3)
    assert work(400) < 5 * work(100) + 500
