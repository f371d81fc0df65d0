"""Streams: however an output is cut and an LLM streams it, the same text and calls come out, and no JSON with them."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncGenerator, Generator, Iterable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ContentBlock, LogProb, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole, MockLLM, TextBlock

from integrations.llamaindex.scripted import CALL, STYLES, ScriptedLLM, Style, chunkings
from llama3_tools import Limits
from llama_index_llama3_tools import Llama3JsonToolOutputParser, MalformedToolCallError
from llama_index_llama3_tools.answers import NewText
from steps import steps_of

PARIS = {"city": "Paris"}
OPEN = '{"name": "get_weather", "parameters": {"city": "Par'

CITIES = {"type": "object", "properties": {"city": {"type": "array", "items": {"type": "string"}}}}

OUTPUTS = {
    "text, call, text": f"Let me check. {CALL} One moment.",
    "two calls": f"Tools: {CALL}; {CALL} End",
    "a call alone": CALL,
    "a call in white space": f" \n{CALL}\n",
    "a tagged call": f"Now:\n<tool_call>\n{CALL}\n</tool_call>",
    "a call with protocol tokens": f"<|python_tag|>{CALL}<|eom_id|>",
    "an array": f"[{CALL}, {CALL}]",
    "text alone": "It is 5 > 3, and {this} <b>is</b> text; \\ too. ",
    "data": '{"city": "Paris", "days": [1, 2]}',
    "a call left open": f"{CALL} {OPEN}",
    "white space alone": "  \n",
}


def messages() -> list[ChatMessage]:
    return [ChatMessage(content="Weather?")]


def said(responses: Iterable[ChatResponse]) -> str:
    return "".join(response.delta or "" for response in responses)


def calls_in(message: ChatMessage) -> list[tuple[str, Any]]:
    return [(block.tool_name, block.tool_kwargs) for block in message.blocks if isinstance(block, ToolCallBlock)]


def ids_in(message: ChatMessage) -> list[str | None]:
    return [block.tool_call_id for block in message.blocks if isinstance(block, ToolCallBlock)]


def check(responses: list[ChatResponse], output: str, fed: int) -> None:
    """What holds for every stream: it ends with what `parse` gives, never goes back, and shows no call as text."""
    parsed = Llama3JsonToolOutputParser().parse(output)
    last = responses[-1].message
    assert (last.content or "") == parsed.text
    assert calls_in(last) == [(call.tool_name, call.tool_kwargs) for call in parsed.tool_calls]
    assert [block.block_type for block in last.blocks] == [
        block.block_type for block in parsed.to_chat_message().blocks
    ]
    assert last.role == MessageRole.ASSISTANT
    assert fed <= len(responses) <= fed + 1
    # White space before the first text has gone out when a later call strips it: the one exception of the design.
    assert said(responses) == parsed.text or said(responses).lstrip() == parsed.text
    text, ids = "", []
    for response in responses:
        assert response.delta is not None
        text += response.delta
        assert (response.message.content or "") in {text, parsed.text}
        assert ids_in(response.message)[: len(ids)] == ids
        ids = ids_in(response.message)
        mirrored = response.message.additional_kwargs.get("tool_calls", [])
        assert [call["id"] for call in mirrored] == ids


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_every_chunking_gives_what_parse_gives(output: str) -> None:
    for chunks in chunkings(output):
        llm = ScriptedLLM(chunks=chunks)
        check(list(Llama3JsonToolOutputParser().stream(llm.stream_chat(messages()))), output, len(chunks))


def test_a_call_is_made_once_and_repeated_and_the_end_reports() -> None:
    llm, tools = ScriptedLLM(chunks=list(f"{CALL}; {CALL} End.")), [{**json.loads(CALL), "parameters": CITIES}]
    parser = Llama3JsonToolOutputParser(tools, coerce_arguments=True)
    *responses, last = parser.stream(llm.stream_chat(messages()))
    for repeated in (
        [response.message.blocks[-2:] for response in responses if calls_in(response.message)[1:]],
        [one.message.additional_kwargs["tool_calls"] for one in responses if calls_in(one.message)],
    ):
        assert len(repeated) > len("End.")
        assert len({id(parts) for parts in repeated}) == len(repeated)
        assert len({id(part) for parts in repeated for part in parts}) == 2
    assert calls_in(last.message) == [("get_weather", {"city": ["Paris"]})] * 2
    assert len(last.message.additional_kwargs["coerced_arguments"]) == 2


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("output", [OUTPUTS["text, call, text"], OUTPUTS["text alone"], OUTPUTS["a call left open"]])
def test_every_way_to_stream_gives_the_same(output: str, style: Style) -> None:
    for chunks in ([output], list(output), [output[:20], "", output[20:]]):
        llm = ScriptedLLM(chunks=chunks, style=style)
        check(list(Llama3JsonToolOutputParser().stream(llm.stream_chat(messages()))), output, len(chunks))


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
async def test_an_asynchronous_stream_gives_the_same(output: str) -> None:
    for chunks in ([output], list(output), [output[:9], output[9:]]):
        stream = await ScriptedLLM(chunks=chunks).astream_chat(messages())
        responses = [response async for response in Llama3JsonToolOutputParser().astream(stream)]
        check(responses, output, len(chunks))


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
async def test_a_stream_of_completions_gives_the_same(output: str) -> None:
    llm, parser = ScriptedLLM(chunks=list(output)), Llama3JsonToolOutputParser()
    check(list(parser.stream(llm.stream_complete("Weather?"))), output, len(output))
    stream = await llm.astream_complete("Weather?")
    check([response async for response in parser.astream(stream)], output, len(output))


def test_text_flows_and_a_call_appears_the_moment_it_is_closed() -> None:
    llm = ScriptedLLM(chunks=["Let me", " check. {", CALL[1:30], CALL[30:-1], "}", " Done", "!"])
    responses = list(Llama3JsonToolOutputParser().stream(llm.stream_chat(messages())))
    assert [(response.delta, len(calls_in(response.message))) for response in responses] == [
        ("Let me", 0),
        (" check.", 0),
        ("", 0),
        ("", 0),
        ("", 1),
        (" Done", 1),
        ("!", 1),
    ]


def test_the_framework_s_own_mock_streams_through() -> None:
    # MockLLM sends the whole text with every delta.
    responses = list(Llama3JsonToolOutputParser().stream(MockLLM().stream_complete(f"Hm. {CALL}")))
    assert said(responses) == "Hm."
    assert len(calls_in(responses[-1].message)) == 1


def test_a_whole_text_behind_its_deltas_is_not_read_twice() -> None:
    stream = [
        ChatResponse(message=ChatMessage(content="Hel"), delta="Hel"),
        ChatResponse(message=ChatMessage(content="Hello "), delta="lo "),
        ChatResponse(message=ChatMessage(content="Hello")),
    ]
    assert said(Llama3JsonToolOutputParser().stream(stream)) == "Hello "


def test_a_response_without_a_delta_counts_with_what_is_new_in_it() -> None:
    stream = [
        ChatResponse(message=ChatMessage(content="Hel"), delta="Hel"),
        ChatResponse(message=ChatMessage(content="Hello"), delta=""),
        ChatResponse(message=ChatMessage(content="Hello!")),
    ]
    assert said(Llama3JsonToolOutputParser().stream(stream)) == "Hello!"


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
    responses = list(Llama3JsonToolOutputParser().stream(stream))
    assert len(responses) == 2
    for given, response in zip(stream, responses, strict=True):
        assert response.raw == given.raw
        assert response.logprobs == given.logprobs
        assert response.additional_kwargs == given.additional_kwargs
        assert response.message.additional_kwargs["kept"] == given.message.additional_kwargs["kept"]
    assert "tool_calls" in responses[-1].message.additional_kwargs


def test_the_responses_given_are_not_changed() -> None:
    stream = [ChatResponse(message=ChatMessage(content=CALL, additional_kwargs={"a": 1}), delta=CALL)]
    before = [response.model_copy(deep=True) for response in stream]
    list(Llama3JsonToolOutputParser().stream(stream))
    assert stream == before


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


def test_reasoning_and_other_blocks_keep_their_place() -> None:
    def response(delta: str, text: str) -> ChatResponse:
        blocks: list[ContentBlock] = [ThinkingBlock(content="Paris, then."), TextBlock(text=text)]
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks), delta=delta)

    *_, last = Llama3JsonToolOutputParser().stream([response("Hm. ", "Hm. "), response(CALL, f"Hm. {CALL}")])
    assert [block.block_type for block in last.message.blocks] == ["thinking", "text", "tool_call"]
    assert last.message.content == "Hm."


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


@pytest.mark.parametrize("arguments", ['{"city": "Rome"}', {"city": "Rome"}])
def test_so_do_those_in_the_additional_arguments(arguments: object) -> None:
    given = {"id": "call_1", "function": {"name": "get_weather", "arguments": arguments}}
    message = ChatMessage(content="", additional_kwargs={"tool_calls": [given]})
    *_, last = Llama3JsonToolOutputParser().stream([ChatResponse(message=message, delta="")])
    assert (calls_in(last.message), ids_in(last.message)) == ([("get_weather", {"city": "Rome"})], ["call_1"])


def test_a_call_of_the_server_that_the_text_has_too_is_one() -> None:
    stream = [native(CALL, CALL), native(CALL, "", tool_kwargs={"city": "Paris"})]
    *_, last = Llama3JsonToolOutputParser().stream(stream)
    assert calls_in(last.message) == [("get_weather", PARIS)]


def test_an_empty_stream_gives_nothing() -> None:
    assert list(Llama3JsonToolOutputParser(on_invalid="raise").stream([])) == []


def test_a_stream_of_nothing_gives_an_empty_text() -> None:
    [response] = Llama3JsonToolOutputParser().stream([ChatResponse(message=ChatMessage(content=""), delta="")])
    assert (response.delta, response.message.content) == ("", "")


async def test_a_malformed_call_raises_when_everything_is_out() -> None:
    parser = Llama3JsonToolOutputParser(on_invalid="raise")
    output = f"One {CALL} two {OPEN}"
    for chunks in ([output], list(output)):
        responses: list[ChatResponse] = []
        with pytest.raises(MalformedToolCallError, match="truncated") as caught:
            responses.extend(parser.stream(ScriptedLLM(chunks=chunks).stream_chat(messages())))
        assert caught.value.output == output
        assert said(responses) == f"One two {OPEN}"
        stream = parser.astream(await ScriptedLLM(chunks=chunks).astream_chat(messages()))
        with pytest.raises(MalformedToolCallError, match="truncated"):
            [response async for response in stream]


def test_one_parser_serves_streams_side_by_side() -> None:
    parser = Llama3JsonToolOutputParser()
    streams = [parser.stream(ScriptedLLM(chunks=list(f"{n} {CALL} {n}")).stream_chat(messages())) for n in "ab"]
    last = [list(pair) for pair in zip(*streams, strict=True)][-1]
    assert [response.message.content for response in last] == ["a a", "b b"]


@pytest.mark.parametrize("wrong", [["Hi"], "Hi", ChatResponse(message=ChatMessage(content="Hi"))])
async def test_what_is_no_response_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a ChatResponse or a CompletionResponse of an LLM, not a "):
        list(Llama3JsonToolOutputParser().stream(wrong))


def test_a_stream_that_breaks_says_why_and_loses_nothing_that_was_said() -> None:
    def breaking() -> Generator[ChatResponse, None, None]:
        yield ChatResponse(message=ChatMessage(content="Let me"), delta="Let me")
        raise ConnectionError("reset by peer")

    responses = []
    with pytest.raises(ConnectionError, match="reset by peer"):
        responses.extend(Llama3JsonToolOutputParser().stream(breaking()))


@pytest.mark.parametrize("held", ['<tool_call>{"name": "now", "parameters": {}}', "<|python_tag|>import os", "[now(),"])
async def test_a_stream_that_breaks_within_a_call_calls_nothing(held: str) -> None:
    def breaking() -> Generator[ChatResponse, None, None]:
        yield ChatResponse(message=ChatMessage(content=held), delta=held)
        raise ConnectionError("reset by peer")

    async def abreaking() -> AsyncGenerator[ChatResponse, None]:
        for response in breaking():
            yield response

    parser = Llama3JsonToolOutputParser()
    responses: list[ChatResponse] = []
    with pytest.raises(ConnectionError, match="reset by peer"):
        responses.extend(parser.stream(breaking()))
    aresponses: list[ChatResponse] = []

    async def collect() -> None:
        async for response in parser.astream(abreaking()):
            aresponses.append(response)  # noqa: PERF401 (an exception ends it)

    with pytest.raises(ConnectionError, match="reset by peer"):
        await collect()
    for given in (responses, aresponses):
        assert "".join(response.delta or "" for response in given) == held.removeprefix("<|python_tag|>")
        assert [
            block for response in given for block in response.message.blocks if block.block_type == "tool_call"
        ] == []


async def test_closing_a_stream_closes_the_one_behind_it() -> None:
    closed = []

    def endless() -> Generator[ChatResponse, None, None]:
        try:
            while True:
                yield ChatResponse(message=ChatMessage(content="x"), delta="x")
        finally:
            closed.append("sync")

    async def aendless() -> AsyncGenerator[ChatResponse, None]:
        try:
            while True:
                yield ChatResponse(message=ChatMessage(content="x"), delta="x")
        finally:
            closed.append("async")

    stream = Llama3JsonToolOutputParser().stream(endless())
    next(stream)
    stream.close()
    astream = Llama3JsonToolOutputParser().astream(aendless())
    await anext(astream)
    await astream.aclose()
    assert closed == ["sync", "async"]


async def test_a_stream_need_not_be_a_generator() -> None:
    class Once:
        def __init__(self) -> None:
            self.responses = [ChatResponse(message=ChatMessage(content=CALL), delta=CALL)]

        def __aiter__(self) -> Once:
            return self

        async def __anext__(self) -> ChatResponse:
            if not self.responses:
                raise StopAsyncIteration
            return self.responses.pop()

    [response] = [response async for response in Llama3JsonToolOutputParser().astream(Once())]
    assert len(calls_in(response.message)) == 1


def test_what_is_new_and_the_text_so_far_are_known_whichever_way_an_llm_streams() -> None:
    by_delta, by_content, content = NewText(), NewText(), ""
    for piece in ["He", "", "llo", "!"] * 10:
        content += piece
        assert by_delta.of(ChatResponse(message=ChatMessage(content=""), delta=piece)) == piece
        assert by_content.of(ChatResponse(message=ChatMessage(content=content))) == piece
        assert by_content.output == content
    assert by_delta.output == content


@pytest.mark.no_cover
@pytest.mark.parametrize("arguments", ["", '{"city": ["'])
@pytest.mark.parametrize("piece", ["some words ", "{", '{"a": ', CALL])
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
