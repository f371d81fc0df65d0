"""Calls that the server found itself: run when they are whole, reported when they are not, streamed or not."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Sequence
from datetime import date
from functools import reduce
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI

from endpoints.script import Turn, scripted
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import answer_events, answer_json, api
from integrations.langchain.agents import (
    add,
    awaited,
    chat_openai,
    conversations,
    get_weather,
    in_every_way,
    invoked,
    shown,
)
from integrations.langchain.scripted import CALL, CUT_OFF, ScriptedChatModel, counted_ids, fields, streamed, summed
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolMiddleware, Llama3ToolModel
from langchain_llama3_tools.native_calls import NativeCalls
from langchain_llama3_tools.native_streams import NativeStream
from llama3_tools import Limits
from steps import steps_of

PARIS = '{"city": "Paris"}'


def parser(**options: Any) -> Llama3JsonToolOutputParser:  # noqa: ANN401 (any option)
    return Llama3JsonToolOutputParser(id_factory=counted_ids(), **options)


def pieces(*given: tuple[int | None, str | None, str | None, str | None]) -> list[AIMessageChunk]:
    """Return a chunk for each piece of a call: its index, id and name, and some of its arguments."""
    return [
        AIMessageChunk(
            content="", id="1", tool_call_chunks=[tool_call_chunk(name=name, args=args, id=call_id, index=index)]
        )
        for index, call_id, name, args in given
    ]


def made(message: AIMessage) -> list[tuple[str, Any, str | None]]:
    """Return the calls of a message; of a malformed one, the text."""
    assert all(call["type"] == "tool_call" for call in message.tool_calls)
    calls: list[Any] = [(call["name"], call["args"], call["id"]) for call in message.tool_calls]
    return calls + [(call["name"], json.loads(str(call["args"])), call["id"]) for call in message.invalid_tool_calls]


def in_blocks(chunk: AIMessageChunk) -> AIMessageChunk:
    """Return a chunk as a model with content version `v1` sends it."""
    blocks: list[Any] = [dict(piece) for piece in chunk.tool_call_chunks]
    return chunk.model_copy(update={"content": blocks, "response_metadata": {"output_version": "v1"}})


def listed(message: AIMessage) -> list[dict[str, Any]]:
    """Return the blocks of a message that list calls, which are those it has."""
    blocks: list[Any] = [block for block in fields(message)["content"] if block["type"] != "text"]
    bare = [{key: value for key, value in block.items() if key != "extras"} for block in blocks]
    assert [block for block in bare if block["type"] == "tool_call"] == message.tool_calls
    assert [block for block in bare if block["type"] != "tool_call"] == message.invalid_tool_calls
    return blocks


GOOD: dict[str, Any] = {"name": "f", "args": {"s": "a\nb"}, "id": "b"}
MALFORMED = '{"name": "f", "parameters": %s}'

STREAMS: dict[str, tuple[list[AIMessageChunk], list[tuple[str, Any, str | None]]]] = {
    "in pieces": (
        pieces((0, "a", "f", ""), (0, None, None, '{"x": '), (0, None, None, "1}")),
        [("f", {"x": 1}, "a")],
    ),
    "cut off": (
        pieces((0, "a", "f", ""), (0, None, None, '{"city": "Par')),
        [("f", MALFORMED % '{"city": "Par', "a")],
    ),
    "cut off before any value": (pieces((0, "a", "f", "{")), [("f", MALFORMED % "{", "a")]),
    "one cut off behind a whole one": (
        pieces((0, "a", "g", "{}"), (1, "b", "f", '{"x"'), (1, None, None, ": [1,")),
        [("g", {}, "a"), ("f", MALFORMED % '{"x": [1,', "b")],
    ),
    "a whole one behind one that is cut off": (
        pieces((0, "a", "f", '{"x'), (1, "b", "g", "{}")),
        [("g", {}, "b"), ("f", MALFORMED % '{"x', "a")],
    ),
    "interleaved": (
        pieces(
            (0, "a", "f", '{"x": '),
            (1, "b", "g", '{"y"'),
            (0, None, None, "1"),
            (1, None, None, ": 2}"),
            (0, None, None, "}"),
            (2, "c", "h", "{}"),
        ),
        [("f", {"x": 1}, "a"), ("g", {"y": 2}, "b"), ("h", {}, "c")],
    ),
    "no arguments": (pieces((0, "a", "f", ""), (1, "b", "g", None)), [("f", {}, "a"), ("g", {}, "b")]),
    "no ids": (pieces((0, None, "f", "{}"), (1, "", "f", "{}")), [("f", {}, "call_0"), ("f", {}, "call_1")]),
    "no id, cut off": (pieces((0, None, "f", "{")), [("f", MALFORMED % "{", "call_0")]),
    "no name": (
        pieces((0, "a", None, PARIS)),
        [("", '{"name": "unknown", "parameters": {"city": "Paris"}}', "a")],
    ),
    "no index": (
        pieces((None, "a", "f", '{"x": '), (None, None, None, "1}"), (None, "b", "g", "{"), (None, "b", None, "}")),
        [("f", {"x": 1}, "a"), ("g", {}, "b")],
    ),
    "one index for all": (
        pieces((0, "a", "f", '{"x": 1}'), (0, "b", "g", "{}"), (0, "c", "h", "{"), (0, "c", None, "}")),
        [("f", {"x": 1}, "a"), ("g", {}, "b"), ("h", {}, "c")],
    ),
    "one index for all, and no ids": (
        pieces((0, None, "f", '{"x": 1}'), (0, None, "f", '{"x": 2}')),
        [("f", {"x": 1}, "call_0"), ("f", {"x": 2}, "call_1")],
    ),
    "one id for several": (
        pieces(
            (0, "a", "f", '{"x": 1}'), (1, "a", "g", "{}"), (2, "b", "f", "{"), (3, "b", "f", "["), (4, "a", "f", "")
        ),
        [
            ("f", {"x": 1}, "a"),
            ("g", {}, "call_0"),
            ("f", {}, "call_1"),
            ("f", MALFORMED % "{", "b"),
            ("f", MALFORMED % "[", "call_2"),
        ],
    ),
    "one id for several, the first of them cut off": (
        pieces((0, "a", "f", "{"), (1, "a", "g", "{}")),
        [("g", {}, "a"), ("f", MALFORMED % "{", "call_0")],
    ),
    "one id for several, the first of them without a name": (
        pieces((0, "a", None, "{}"), (1, "a", "g", "{}"), (2, "b", "g", "{}")),
        [("g", {}, "call_0"), ("g", {}, "b"), ("", '{"name": "unknown", "parameters": {}}', "a")],
    ),
    "the name with every piece": (pieces((0, "a", "f", '{"x": '), (0, "a", "f", "1}")), [("f", {"x": 1}, "a")]),
    "the name in pieces": (pieces((0, "a", "get_", ""), (0, None, "weather", "{}")), [("get_weather", {}, "a")]),
    "white space behind it": (
        pieces((0, "a", "f", "{}"), (0, None, None, "\n"), (1, "b", "g", "{}")),
        [("f", {}, "a"), ("g", {}, "b")],
    ),
    "a list": (pieces((0, "a", "f", "[1]")), [("f", MALFORMED % "[1]", "a")]),
    "an escape in two pieces": (
        pieces((0, "a", "f", '{"x": "\\'), (0, "a", "f", '"}'), (0, "a", "f", '"}'), (0, None, "g", "{}")),
        [("f", {"x": '"}'}, "a"), ("g", {}, "call_0")],
    ),
    "braces in strings": (pieces((0, "a", "f", '{"x": "}'), (0, None, None, '"}')), [("f", {"x": "}"}, "a")]),
    "a key twice": (pieces((0, "a", "f", '{"x": 1, '), (0, None, None, '"x": 2}')), [("f", {"x": 2}, "a")]),
    "an escaped pair of surrogates": (
        pieces((0, "a", "f", '{"x": "\\ud83d'), (0, None, None, '\\ude00"}')),
        [("f", {"x": "😀"}, "a")],
    ),
    **{
        name: (
            pieces((0, "a", "f", text[:9]), (0, None, None, text[9:]), (1, "b", "g", "{}")),
            [("g", {}, "b"), ("f", MALFORMED % text, "a")],
        )
        for name, text in {
            "no number": '{"x": [NaN]}',
            "a number too large for a float": '{"x": -1e999}',
            "half a pair of surrogates": '{"x": "é\\ud83d"}',
            "half a pair in a key": '{"\\ude00": 1}',
            "a raw line break": '{"x": "a\nb"}',
            "a comma too many": '{"x": 1, }',
            "an object and more": '{"x": 1} {}',
        }.items()
    },
}

of_each_stream = pytest.mark.parametrize(("chunks", "expected"), STREAMS.values(), ids=STREAMS)


class TestStreams:
    @of_each_stream
    def test_no_half_of_a_call_is_ever_in_a_chunk(self, chunks: list[AIMessageChunk], expected: list[Any]) -> None:
        out = streamed(parser(), [AIMessageChunk(content="Hm. ", id="1"), *chunks])
        assert made(summed(out)) == expected
        one_by_one = [call for chunk in out for call in made(chunk)]
        assert sorted(map(str, one_by_one)) == sorted(map(str, expected))
        assert {len(chunk.tool_call_chunks) for chunk in out} == {0, 1}
        assert summed(out).content == "Hm. "
        assert out[-1].chunk_position == "last"

    @pytest.mark.parametrize("name", ["in pieces", "cut off", "one cut off behind a whole one"])
    def test_a_sum_of_chunks_is_read_in_the_same_way(self, name: str) -> None:
        chunks, expected = STREAMS[name]
        assert made(parser().invoke(reduce(operator.add, chunks))) == expected

    @of_each_stream
    async def test_the_model_gives_the_same_in_every_way(
        self, chunks: list[AIMessageChunk], expected: list[Any]
    ) -> None:
        class Streaming(ScriptedChatModel):
            streaming: bool = True

        for inside in (ScriptedChatModel(chunks=chunks), Streaming(chunks=chunks, streaming=True)):

            def bound(llm: ScriptedChatModel = inside) -> Any:  # noqa: ANN401 (LangChain's own type for it says less)
                return Llama3ToolModel(llm, id_factory=counted_ids()).bind_tools([get_weather])

            assert made(summed(bound().stream("Hi"))) == expected
            assert made(summed([chunk async for chunk in bound().astream("Hi")])) == expected
        assert made(bound().invoke("Hi")) == expected
        assert made(await bound().ainvoke("Hi")) == expected

    def test_a_call_comes_when_the_next_one_begins(self) -> None:
        stream = parser().transform(iter([*STREAMS["interleaved"][0], AIMessageChunk(content=" Done.")]))
        assert [(chunk.content, len(chunk.tool_calls)) for chunk in stream] == [
            ("", 0),
            ("", 1),
            ("", 1),
            (" Done.", 0),
            ("", 1),
            ("", 0),
        ]

    @pytest.mark.parametrize(("name", "index"), [("f", 0), (None, None)], ids=["at one index", "without an index"])
    def test_many_open_calls_are_told_apart_in_linear_time(self, name: str | None, index: int | None) -> None:
        class Id(str):
            """An id whose comparisons are steps."""

            __slots__ = ()
            __hash__ = str.__hash__

            def __eq__(self, other: object) -> bool:
                return str.__eq__(self, other)

        def gather(count: int) -> None:
            stream = NativeStream(NativeCalls(counted_ids()))
            stream.feed([tool_call_chunk(name="f", args="{", id=Id("a"), index=0)])
            for number in range(count):
                stream.feed([tool_call_chunk(name=name, args="{}", id=Id(number), index=index)])
            assert len(stream.flush()) == 1 + count

        gather(1)  # what is cached is there then
        assert steps_of(lambda: gather(400)) < 2.5 * steps_of(lambda: gather(200))

    @pytest.mark.parametrize("first", ['{"x": "', "", "1", "{"], ids=["a string", "nothing", "a number", "an object"])
    @pytest.mark.parametrize("piece", ["x}" * 200, " " * 400], ids=["closed", "white space"])
    def test_a_name_with_every_piece_is_read_in_linear_time(self, first: str, piece: str) -> None:
        """A quadratic reading of these would take minutes."""
        stream = NativeStream(NativeCalls(counted_ids()))
        for args in [first, *[piece] * 25_000]:
            assert not stream.feed([tool_call_chunk(name="f", args=args, id="a", index=0)])
        assert len(stream.flush()) == 1

    def test_what_a_chunk_carries_beside_its_calls_goes_out_once(self) -> None:
        usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
        last = AIMessageChunk(content="", response_metadata={"finish_reason": "tool_calls"}, usage_metadata=usage)
        message = summed(streamed(parser(), [*STREAMS["cut off"][0], last]))
        assert (message.response_metadata, message.usage_metadata) == (last.response_metadata, usage)

    @of_each_stream
    @pytest.mark.parametrize("is_ended", [False, True])
    def test_in_version_1_blocks_too(self, chunks: list[AIMessageChunk], expected: list[Any], is_ended: bool) -> None:
        class Whole(ScriptedChatModel):
            def _generate(self, *_: Any, **__: Any) -> ChatResult:  # noqa: ANN401 (the framework's signature)
                return ChatResult(generations=[ChatGeneration(message=reduce(operator.add, self.chunks))])

        class Streaming(ScriptedChatModel):
            streaming: bool = True

        sent: list[Any] = [in_blocks(chunk) for chunk in chunks]
        if is_ended:  # where LangChain completes the blocks as well
            sent.append(AIMessageChunk(content=[], id="1", chunk_position="last"))
        for inside in (Whole(chunks=sent), Streaming(chunks=sent, streaming=True)):
            model = Llama3ToolModel(inside, id_factory=counted_ids()).bind_tools([get_weather])
            listed(model.invoke("Hi"))
            listed(summed(list(model.stream("Hi"))))
        listed(parser().invoke(reduce(operator.add, sent)))
        message = summed(streamed(parser(), sent))
        assert made(message) == expected
        assert len(listed(message)) == len(expected)

    def test_a_stream_that_breaks_off_loses_none(self) -> None:
        def breaking() -> Any:  # noqa: ANN401 (a generator)
            yield from STREAMS["one cut off behind a whole one"][0]
            raise ConnectionError

        arrived: list[BaseMessage] = []
        with pytest.raises(ConnectionError):
            arrived.extend(parser().transform(breaking()))
        assert made(summed(arrived)) == STREAMS["one cut off behind a whole one"][1]

    @pytest.mark.parametrize(
        "text",
        [f"<tool_call>{CALL}", f"Hm. <tool_call>{CALL}\n{CALL}", f"{CALL} Then\n```json\n{CALL}", f"<tool>{CALL} "],
    )
    def test_a_wrapper_that_they_interrupt_keeps_its_tag(self, text: str) -> None:
        message = summed(streamed(parser(), [*text, *STREAMS["in pieces"][0]]))
        assert message.content == text.removeprefix(f"{CALL} ")
        assert message.tool_calls[-1]["name"] == "f"


class TestWholeMessages:
    def test_one_that_is_malformed_is_given_as_those_of_the_text_are(self) -> None:
        broken: Any = {"name": "f", "args": '{"x', "id": None, "error": "cut off", "type": "invalid_tool_call"}
        message = AIMessage("Hm.", invalid_tool_calls=[broken])
        expected = [("f", MALFORMED % '{"x', "call_0")]
        read = parser().invoke(message)
        assert (read.content, made(read)) == ("Hm.", expected)
        assert parser().invoke(read) is read
        assert made(summed(list(parser().transform(iter([message]))))) == expected
        assert message.invalid_tool_calls == [broken]

    @pytest.mark.parametrize(
        ("args", "written"),
        [
            ({"n": math.nan}, '{"n": NaN}'),
            ({"n": [{"m": -math.inf}]}, '{"n": [{"m": -Infinity}]}'),
            ({"s": ["é\ud83d"]}, '{"s": ["é\\ud83d"]}'),
            ({"\ude00": {}}, '{"\\ude00": {}}'),
        ],
    )
    async def test_what_strict_json_does_not_have_is_malformed(self, args: dict[str, Any], written: str) -> None:
        message = AIMessage("Hm.", tool_calls=[tool_call(name="f", args=args, id="a"), tool_call(**GOOD)])
        expected = [("f", {"s": "a\nb"}, "b"), ("f", MALFORMED % written, "a")]
        read = parser().invoke(message)
        assert (made(read), parser().invoke(read)) == (expected, read)
        assert made(await parser().ainvoke(message)) == expected
        for before in ([], [AIMessageChunk(content="Oh. ")]):
            assert made(summed(list(parser().transform(iter([*before, message]))))) == expected
        bound = Llama3ToolModel(FakeMessagesListChatModel(responses=[message])).bind_tools([get_weather])
        for given in (bound.invoke("Hi"), await bound.ainvoke("Hi"), summed(bound.stream("Hi"))):
            assert made(given) == expected
        blocks: list[Any] = [dict(call) for call in message.tool_calls]
        listing = message.model_copy(update={"content": blocks, "response_metadata": {"output_version": "v1"}})
        assert [block["type"] for block in listed(parser().invoke(listing))] == ["invalid_tool_call", "tool_call"]

    def test_integers_of_any_size_are_kept_beside_what_is_made_to_fit(self) -> None:
        properties = {"n": {"type": "integer"}, "m": {"type": "integer"}}
        tools = [{"name": "f", "parameters": {"type": "object", "properties": properties}}]
        written = '{"n": "3", "m": %s}' % ("7" * 5000)
        [chunk] = pieces((0, "a", "f", written.replace(" ", "  ")))
        read = parser(tools=tools, coerce_arguments=True).invoke(chunk)
        assert read.tool_calls[0]["args"] == {"n": 3, "m": 7 * (10**5000 - 1) // 9}
        assert [told["written"] for told in read.response_metadata["coerced_arguments"]] == [written]

    @pytest.mark.parametrize("lists_calls", [False, True])
    def test_each_has_an_id_of_its_own_and_good_ones_keep_theirs(self, lists_calls: bool) -> None:
        calls = [tool_call(name="", args={}, id="a"), tool_call(**GOOD), tool_call(**{**GOOD, "name": "g"})]
        broken: Any = [
            {"name": name, "args": "{", "id": "b", "error": None, "type": "invalid_tool_call"} for name in "fg"
        ]
        message = AIMessage("Hm.", tool_calls=calls, invalid_tool_calls=broken)
        if lists_calls:
            blocks: list[Any] = [*broken, *map(dict, calls)]
            message = message.model_copy(update={"content": blocks, "response_metadata": {"output_version": "v1"}})
        read = parser().invoke(message)
        assert [(name, call_id) for name, _, call_id in made(read)] == [
            *(("f", "b"), ("g", "call_0"), ("", "a")),
            *(("f", "call_1"), ("g", "call_2")),
        ]
        assert parser().invoke(read) is read
        if lists_calls:
            assert [block["id"] for block in read.content if isinstance(block, dict)] == [
                *("call_1", "call_2", "a", "b", "call_0")
            ]

    def test_one_without_an_id_gets_one(self) -> None:
        message = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": None}, {"name": "", "args": {}, "id": "b"}])
        unnamed = '{"name": "unknown", "parameters": {}}'
        assert made(parser().invoke(message)) == [("f", {}, "call_0"), ("", unnamed, "b")]

    @pytest.mark.parametrize("first", ['{"x', '{"x": 1}'])
    def test_blocks_of_one_id_are_told_apart_by_their_order(self, first: str) -> None:
        sent = reduce(operator.add, map(in_blocks, pieces((0, "a", "f", first), (1, "a", "g", "{}"))))
        sent = sent.model_copy(update={"content": [{"type": "tool_call", "name": "g", "args": {}, "id": "a"}] * 2})
        assert [block["name"] for block in listed(parser().invoke(sent))] == ["f", "g"]

    def test_a_block_that_lists_no_call_goes(self) -> None:
        call = tool_call(name="f", args={}, id="a")
        broken: Any = {"name": "g", "args": '{"x', "id": "b", "error": "", "type": "invalid_tool_call"}
        completed = {"type": "tool_call", "name": "g", "args": {"x": 1}, "id": "b"}
        content: list[Any] = [dict(call), completed, {**call, "name": "h", "id": "c"}, dict(call)]
        read = parser().invoke(AIMessage(content, tool_calls=[call], invalid_tool_calls=[broken]))
        assert [(block["type"], block["name"]) for block in listed(read)] == [
            ("tool_call", "f"),
            ("invalid_tool_call", "g"),
        ]

    def test_an_id_that_is_no_text_becomes_one(self) -> None:
        broken: Any = {"name": "g", "args": '{"x', "id": None, "error": "", "type": "invalid_tool_call"}
        called = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": None}], invalid_tool_calls=[broken])
        numbered = Llama3JsonToolOutputParser(id_factory=lambda: 5)  # type: ignore[arg-type,return-value]  # on purpose
        for message in (called, AIMessage(CALL), AIMessage(CUT_OFF)):
            assert {call_id for _, _, call_id in made(numbered.invoke(message))} == {"5"}

    def test_a_model_that_does_not_stream_gives_the_same_in_a_stream(self) -> None:
        broken: Any = {"name": None, "args": '{"x', "id": None, "error": "", "type": "invalid_tool_call"}
        called = AIMessage("", tool_calls=[tool_call(name="f", args={"x": 1}, id="a")], invalid_tool_calls=[broken])
        llm = FakeMessagesListChatModel(responses=[called])
        bound = Llama3ToolModel(llm, id_factory=lambda: "call_0").bind_tools([get_weather])
        assert made(summed(bound.stream("Hi"))) == made(bound.invoke("Hi"))
        assert [name for name, _, _ in made(bound.invoke("Hi"))] == ["f", ""]


DEEP = '{"labels": [["sun"]]}'
LONG = '{"labels": ["%s"]}' % ("sun" * 100)


class TestLimits:
    """Calls that the server found are bound as those in text are."""

    LIMITS: Limits = Limits(max_depth=2, max_call_length=256, max_calls=2)
    CHUNKS: list[AIMessageChunk] = pieces(
        (0, "a", "f", "{}"), (1, "b", "g", DEEP), (2, "c", "h", LONG), (3, "d", "f", "[1"), (4, "e", "g", PARIS),
        (5, "f", "h", PARIS),
    )  # fmt: skip
    REFUSED = (
        ("b", "too_deep", "arguments nested deeper than 2 levels", DEEP),
        ("c", "too_long", "longer than 256 characters", LONG),
        ("f", "too_many", "beyond the first 2 calls", PARIS),
    )

    def check(self, message: AIMessage) -> None:
        assert [call["id"] for call in message.tool_calls] == ["a", "e"]
        assert {call["id"] for call in message.invalid_tool_calls} == {"b", "c", "d", "f"}
        texts = {call["id"]: json.loads(str(call["args"])) for call in message.invalid_tool_calls}
        rejected = message.response_metadata["rejected_tool_calls"]
        assert [(entry["id"], entry["reason"], entry["detail"], entry["text"]) for entry in rejected] == [
            (call_id, reason, detail, texts[call_id]) for call_id, reason, detail, _ in self.REFUSED
        ]
        for call_id, _, _, arguments in self.REFUSED:
            assert json.loads(texts[call_id])["parameters"] == json.loads(arguments)

    async def test_what_goes_beyond_is_no_call_and_says_so_in_every_way(self) -> None:
        made = parser(limits=self.LIMITS)
        sent = reduce(operator.add, self.CHUNKS)
        read = made.invoke(sent)
        for message in (read, made.invoke(summed([sent])), summed(streamed(made, self.CHUNKS))):
            self.check(message)
        assert made.invoke(read) is read
        for streaming in (False, True):
            model = Llama3ToolModel(ScriptedChatModel(chunks=self.CHUNKS), limits=self.LIMITS)
            bound = model.model_copy(update={"disable_streaming": not streaming}).bind_tools([get_weather])
            for message in (bound.invoke("Hi"), await bound.ainvoke("Hi"), summed(bound.stream("Hi"))):
                self.check(message)

    @pytest.mark.parametrize("depth", [129, 200])
    async def test_so_does_what_is_deeper_than_anything_that_is_read(self, depth: int) -> None:
        text = '{"x": ' * depth + "1" + "}" * depth
        chunks = pieces((0, "a", "f", text[:99]), (0, None, None, text[99:]), (1, "b", "g", "{}"))
        read = [parser().invoke(reduce(operator.add, chunks)), summed(streamed(parser(), chunks))]
        for disable_streaming in (False, True):
            model = Llama3ToolModel(ScriptedChatModel(chunks=chunks), disable_streaming=disable_streaming)
            bound = model.bind_tools([get_weather])
            read += [bound.invoke("Hi"), await bound.ainvoke("Hi"), summed(bound.stream("Hi"))]

        class Streaming(ScriptedChatModel):
            streaming: bool = True

        read.append(Llama3ToolModel(Streaming(chunks=chunks, streaming=True)).bind_tools([get_weather]).invoke("Hi"))
        for message in read:
            assert [call["id"] for call in message.tool_calls] == ["b"]
            [entry] = message.response_metadata["rejected_tool_calls"]
            detail = "arguments nested deeper than 127 levels"
            assert (entry["id"], entry["reason"], entry["detail"]) == ("a", "too_deep", detail)
            assert [json.loads(str(call["args"])) for call in message.invalid_tool_calls] == [entry["text"]]

    @pytest.mark.parametrize(
        ("limit", "called", "refused"), [(1, "f", "gh"), (2, "fg", "h"), (3, "fgh", "")], ids=["1", "2", "3"]
    )
    def test_those_that_a_stream_has_found_in_the_text_count(self, limit: int, called: str, refused: str) -> None:
        text = '{"name": "f", "parameters": {}} {"name": "e", "parameters": {'  # which a call of the server interrupts
        chunks = [AIMessageChunk(content=text, id="1"), *pieces((0, "a", "g", "{}"), (1, "b", "h", "{}"))]
        limits = Limits(max_calls=limit)
        model = Llama3ToolModel(ScriptedChatModel(chunks=chunks), limits=limits).bind_tools([get_weather])
        for message in (summed(streamed(parser(limits=limits), chunks)), summed(model.stream("Hi"))):
            assert "".join(call["name"] for call in message.tool_calls) == called
            assert "".join(str(call["name"]) for call in message.invalid_tool_calls) == refused
            told = message.response_metadata.get("rejected_tool_calls", [])
            assert [entry["detail"] for entry in told] == [f"beyond the first {limit} calls"] * len(refused)

    @pytest.mark.parametrize(
        ("ids", "given"),
        [
            ("abc", ["a", "b", "c"]),
            ("aaa", ["a", "call_1", "call_0"]),  # what can be run comes first
            ((None, None, None), ["call_0", "call_1", "call_2"]),
            (("", None, "a"), ["call_0", "call_1", "a"]),
        ],
        ids=range(4),
    )
    def test_version_1_blocks_list_the_calls_as_they_are_then(
        self, ids: Sequence[str | None], given: list[str]
    ) -> None:
        text: dict[str, Any] = {"type": "text", "text": "Hm."}
        calls = [
            tool_call(name="f", args={"labels": "sun"}, id=ids[0]),
            tool_call(name="f", args=json.loads(DEEP), id=ids[1]),
            tool_call(name="g", args=json.loads(PARIS), id=ids[2]),
        ]
        blocks: list[Any] = [{**call, "extras": {"item": 1}} for call in calls]
        message = AIMessage(content=[text, *blocks], tool_calls=calls, response_metadata={"output_version": "v1"})
        labels = {"type": "object", "properties": {"labels": {"type": "array", "items": {"type": "string"}}}}
        tools = [{"name": "f", "parameters": labels}]
        made = parser(tools=tools, coerce_arguments=True, limits=self.LIMITS)
        read = made.invoke(message)
        assert [call["args"] for call in read.tool_calls] == [{"labels": ["sun"]}, json.loads(PARIS)]
        assert [block["type"] for block in listed(read)] == ["tool_call", "invalid_tool_call", "tool_call"]
        assert all(block["extras"] == {"item": 1} for block in listed(read))
        assert [block["id"] for block in listed(read)] == given
        assert [entry["id"] for entry in read.response_metadata["rejected_tool_calls"]] == [given[1]]
        assert [entry["id"] for entry in read.response_metadata["coerced_arguments"]] == [given[0]]
        assert read.content[0] == text
        assert made.invoke(read) is read

    @pytest.mark.parametrize("depth", [1, 2])
    def test_making_arguments_fit_nests_them_no_deeper(self, depth: int) -> None:
        def tag(labels: list[str]) -> None:
            """Tag."""

        made = parser(tools=[tag], coerce_arguments=True, limits=Limits(max_depth=depth))
        [call] = made.invoke(
            AIMessage("", tool_calls=[tool_call(name="tag", args={"labels": "['a']"}, id="1")])
        ).tool_calls
        assert call["args"] == {"labels": ["a"] if depth > 1 else "['a']"}

    def test_what_json_does_not_have_is_not_measured(self) -> None:
        message = AIMessage("", tool_calls=[tool_call(name="f", args={"x": {(1, 2): [[3]]}}, id="a")])
        assert parser(limits=self.LIMITS).invoke(message) is message

    @in_every_way
    def test_an_agent_s_model_is_told(self, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.setenv(name, "127.0.0.1")
        answers = iter(
            [
                sending('{"city": [', '["Paris"]]}', finish_reason="tool_calls"),
                sending('{"city": "Paris"}', finish_reason="tool_calls"),
                scripted([Turn(pieces=("Sunny.",))]),
            ]
        )

        def model(request: Request) -> Answer:
            return next(answers)(request)

        with LoopbackServer(api(["llama3.1"], model)) as server:
            middleware = Llama3ToolMiddleware(limits=self.LIMITS)
            messages = run(create_agent(chat_openai(server), [get_weather], middleware=[middleware]))["messages"]
        told = [message.text for message in messages if isinstance(message, ToolMessage)]
        assert told[0].startswith("The call is beyond a limit, and was not run: arguments nested deeper than 2 levels.")
        assert told[1:] == ["sunny in Paris"]


def sending(*arguments: str, finish_reason: str, name: str = "get_weather") -> Callable[[Request], Answer]:
    """Return a server's answer with one call, whose arguments come in these pieces."""

    def model(request: Request) -> Answer:
        head = {"id": "1", "created": 0, "model": "llama3.1"}
        function = {"name": name, "arguments": "".join(arguments)}
        call = {"index": 0, "id": "call_1", "type": "function", "function": function}
        if not request.stream:
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
            choice = {"index": 0, "message": message, "finish_reason": finish_reason}
            return answer_json({**head, "object": "chat.completion", "choices": [choice]})
        pieces: list[dict[str, Any]] = [{"index": 0, "function": {"arguments": piece}} for piece in arguments]
        deltas: list[Any] = [{**call, "function": {**function, "arguments": ""}}, *pieces]
        choices: list[dict[str, Any]] = [
            {"index": 0, "delta": {"tool_calls": [delta]}, "finish_reason": None} for delta in deltas
        ]
        choices.append({"index": 0, "delta": {}, "finish_reason": finish_reason})
        events = [json.dumps({**head, "object": "chat.completion.chunk", "choices": [choice]}) for choice in choices]
        return answer_events([*events, "[DONE]"])

    return model


class TestAgents:
    @in_every_way
    @pytest.mark.parametrize(
        ("city", "finish_reason"),
        [('"Par', "length"), ('"Par', "tool_calls"), ("NaN}", "tool_calls"), ('"é\\ud83d"}', "tool_calls")],
        ids=["cut off", "cut off and not said so", "no number", "half a pair of surrogates"],
    )
    @pytest.mark.parametrize("streams", [False, True])
    def test_a_call_that_is_malformed_never_runs(
        self, run: Callable[..., Any], city: str, finish_reason: str, streams: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.setenv(name, "127.0.0.1")
        answers = iter(
            [
                sending('{"city": ', city, finish_reason=finish_reason),
                sending('{"city": "Paris"}', finish_reason="tool_calls"),
                scripted([Turn(pieces=("Sunny.",))]),
            ]
        )

        def model(request: Request) -> Answer:
            return next(answers)(request)

        with LoopbackServer(api(["llama3.1"], model)) as server:
            llm: ChatOpenAI = chat_openai(server).model_copy(update={"streaming": streams})
            messages = run(create_agent(llm, [get_weather], middleware=[Llama3ToolMiddleware()]))["messages"]
        assert [type_ for type_, _ in shown(messages)] == ["human", "ai", "tool", "ai", "tool", "ai"]
        assert messages[2].status == "error"
        assert [message.text for message in messages if isinstance(message, ToolMessage)][1] == "sunny in Paris"
        *_, written, complaint = conversations(server)[1]
        assert written == ("assistant", f'{{"name": "get_weather", "parameters": {{"city": {city}}}')
        assert complaint[1].startswith("Error of get_weather: The call is malformed, and was not run: ")

    @in_every_way
    def test_none_is_answered_in_place_of_another_one_of_its_id(self, run: Callable[..., Any]) -> None:
        def calling(name: str, **arguments: object) -> Any:  # noqa: ANN401 (LangChain's own type for it is another)
            return tool_call(name=name, args=arguments, id="1")

        broken: Any = {"name": "add", "args": "{", "id": "1", "error": None, "type": "invalid_tool_call"}
        paris = calling("get_weather", city="Paris")
        answers: list[BaseMessage] = [
            AIMessage("", tool_calls=[paris, calling("add", a=1, b=2)], invalid_tool_calls=[broken]),
            AIMessage("", tool_calls=[calling("add", a="x", b=1), calling("get_weather")]),
            AIMessage("Done."),
        ]
        llm = FakeMessagesListChatModel(responses=answers)
        messages = run(create_agent(llm, [get_weather, add], middleware=[Llama3ToolMiddleware()]))["messages"]
        results = [message for message in messages if isinstance(message, ToolMessage)]
        assert sorted(result.text.partition(",")[0] for result in results) == [
            *("3", "The arguments do not fit", "The arguments do not fit"),
            *("The call is malformed", "sunny in Paris"),
        ]
        assert len({result.tool_call_id for result in results[:3]}) == 3
        assert len({result.tool_call_id for result in results[3:]}) == 2

    @in_every_way
    @pytest.mark.parametrize(
        ("value", "shown_again"),
        [(date(2026, 1, 2), '"2026-01-02"'), ({1}, '"{1}"'), (b"x", "\"b'x'\"")],
        ids=["a date", "a set", "bytes"],
    )
    def test_values_of_python_that_a_model_puts_there_are_called_and_shown_again(
        self, run: Callable[..., Any], value: object, shown_again: str
    ) -> None:
        def note(what: Any) -> str:  # noqa: ANN401 (that is the point)
            """Note something."""
            return f"noted {what}"

        asked: list[list[BaseMessage]] = []

        class Asked(FakeMessagesListChatModel):
            def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:  # noqa: ANN401
                asked.append(messages)
                return super()._generate(messages, *args, **kwargs)

        calling = AIMessage("", tool_calls=[tool_call(name="note", args={"what": value}, id="a")])
        llm = Asked(responses=[calling, AIMessage("Done.")])
        messages = run(create_agent(llm, [note], middleware=[Llama3ToolMiddleware()]))["messages"]
        is_stream = run not in {invoked, awaited}  # whose chunks hold JSON
        assert messages[2].text == f"noted {json.loads(shown_again) if is_stream else value}"
        assert messages[3].text == "Done."
        assert asked[1][1].content == f'{{"name": "note", "parameters": {{"what": {shown_again}}}}}'


def test_pieces_of_calls_among_the_additional_arguments_are_one_call() -> None:
    def piece(**function: str) -> AIMessageChunk:
        sent = {"index": 0, "id": "1" if "name" in function else None, "type": "function", "function": function}
        return AIMessageChunk(content="", additional_kwargs={"tool_calls": [sent]})

    sent = [piece(name="add", arguments='{"a"'), piece(arguments=": 1}")]
    chunks = list(Llama3JsonToolOutputParser().transform(iter(sent)))
    message = reduce(operator.add, chunks)
    assert [(call["name"], call["args"], call["id"]) for call in message.tool_calls] == [("add", {"a": 1}, "1")]
    assert message.additional_kwargs == {}
