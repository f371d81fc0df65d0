"""The strict response format at the end of a chain: one object, or LangChain's error with all that was written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_classic.output_parsers import OutputFixingParser, RetryOutputParser
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumps, loads
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call_chunk
from langchain_core.prompt_values import StringPromptValue

from chunkings import chunkings
from integrations.langchain.scripted import as_block_chunks, as_text_chunks, counted_ids, fields, streamed, summed
from langchain_llama3_tools import Llama3JsonToolOutputParser
from llama3_tools import Limits, ResponseFormatError, render_response_prompt

TOOLS: list[dict[str, Any]] = [{"name": "get_weather", "parameters": {"type": "object", "required": ["city"]}}]
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
ONE = f'{{"message": "One moment.", "tool_call": {CALL}}}'
MANY = f'{{"message": "", "tool_calls": [{CALL}, {CALL}]}}'
PARIS = ("get_weather", {"city": "Paris"})

BROKEN = {
    "nothing": ("", "empty"),
    "prose": ("It is sunny.", "no_json"),
    "text before": (f"Sure! {ONE}", "text_before"),
    "text after": (f"{ONE} Done.", "text_after"),
    "a fence": (f"```json\n{ONE}\n```", "fenced"),
    "two objects": (ONE + ONE, "two_objects"),
    "cut off": (ONE[:-12], "truncated"),
    "a bare call": (CALL, "missing_key"),
    "an unknown tool": (ONE.replace("get_weather", "rm"), "unknown_tool"),
}


def parser(**options: Any) -> Llama3JsonToolOutputParser:
    return Llama3JsonToolOutputParser(**{"tools": TOOLS, "strict": True, "id_factory": counted_ids(), **options})


def calls(message: AIMessage) -> list[tuple[str, dict[str, Any]]]:
    return [(call["name"], call["args"]) for call in message.tool_calls]


@pytest.mark.parametrize(
    ("output", "multiple", "content", "expected"),
    [
        (ONE, False, "One moment.", [PARIS]),
        ('{"message": "Hi", "tool_call": null}', False, "Hi", []),
        (MANY, True, "", [PARIS, PARIS]),
    ],
)
def test_the_message_is_the_content_and_the_call_a_call(
    output: str, content: str, expected: list[Any], *, multiple: bool
) -> None:
    message = parser(multiple=multiple).invoke(output)
    assert (message.content, calls(message)) == (content, expected)


def test_all_else_of_the_message_stays() -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    given = AIMessage(ONE, id="1", usage_metadata=usage, response_metadata={"finish_reason": "stop"})
    message = parser().invoke(given)
    assert (message.id, message.usage_metadata, message.response_metadata) == ("1", usage, {"finish_reason": "stop"})


@pytest.mark.parametrize(
    ("limits", "problem"),
    [(Limits(max_calls=1), "too_many"), (Limits(max_depth=1), "too_deep"), (Limits(max_call_length=256), "too_long")],
)
def test_what_is_beyond_a_limit_is_an_error_and_a_long_message_none(limits: Limits, problem: str) -> None:
    text = "x" * 300
    deep = f'{{"name": "get_weather", "arguments": {{"city": ["{text}"]}}}}'
    output = f'{{"message": "{text}", "tool_calls": [{CALL}, {deep}]}}'
    with pytest.raises(OutputParserException, match=problem):
        parser(multiple=True, limits=limits).invoke(output)
    with pytest.raises(OutputParserException, match=problem):
        streamed(parser(multiple=True, limits=limits), [output])
    wide = parser(multiple=True, limits=Limits(max_call_length=400))
    for message in (wide.invoke(output), summed(streamed(wide, [output]))):
        assert (message.content, calls(message)) == (text, [PARIS, ("get_weather", {"city": [text]})])


@pytest.mark.parametrize(("output", "problem"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("on_invalid", ["collect", "raise"])
class TestBroken:
    def test_the_error_keeps_the_output_and_says_what_to_tell_the_model(
        self, output: str, problem: str, on_invalid: str
    ) -> None:
        with pytest.raises(OutputParserException, match=problem) as raised:
            parser(on_invalid=on_invalid).invoke(AIMessage(output))
        error = raised.value
        assert error.llm_output == output
        assert error.send_to_llm
        assert isinstance(error.__cause__, ResponseFormatError)
        assert error.__cause__.problem == problem
        assert error.__cause__.detail in str(error.observation)
        assert "Expected one JSON object and nothing else" in str(error)

    def test_a_stream_gives_nothing_but_the_error(self, output: str, problem: str, on_invalid: str) -> None:
        strict = parser(on_invalid=on_invalid)
        for pieces in chunkings(output):
            stream = strict.transform(iter(as_text_chunks(pieces)))
            with pytest.raises(OutputParserException, match=problem):
                next(stream)


@pytest.mark.parametrize("as_chunks", [as_text_chunks, as_block_chunks])
def test_a_stream_comes_at_its_end_and_its_sum_is_the_message(as_chunks: Any) -> None:
    for pieces in chunkings(ONE):
        chunks = as_chunks(pieces)
        arriving = iter(chunks)
        stream = parser().transform(arriving)
        first = next(stream)
        assert list(arriving) == [], "all has arrived before anything is given"
        assert fields(summed([first, *stream])) == fields(parser().invoke(summed(chunks)))


async def test_asynchronous_streams_are_held_back_too() -> None:
    async def chunks(text: str) -> AsyncIterator[BaseMessage]:
        for chunk in as_text_chunks(list(text)):
            yield chunk

    assert calls(summed([chunk async for chunk in parser().atransform(chunks(ONE))])) == [PARIS]
    with pytest.raises(OutputParserException, match="text_after"):
        await anext(parser().atransform(chunks(f"{ONE} Done.")))


def test_two_objects_around_another_block_are_two() -> None:
    with pytest.raises(OutputParserException, match="two_objects"):
        parser().invoke(AIMessage([ONE, {"type": "image", "url": "…"}, ONE]))


IMAGE: dict[str, Any] = {"type": "image", "url": "…"}


@pytest.mark.parametrize("content", [["\n", IMAGE, ONE], [ONE, IMAGE, " \n"], [f"\n{ONE[:20]}", f"{ONE[20:]} ", IMAGE]])
def test_white_space_beside_another_block_is_that_around_the_object(content: list[Any]) -> None:
    assert calls(parser().invoke(AIMessage(content))) == [PARIS]
    assert calls(summed(parser().stream(AIMessage(content)))) == [PARIS]


@pytest.mark.parametrize(
    ("content", "problem"),
    [(["x", IMAGE, ONE], "text_before"), ([ONE, IMAGE, "x"], "text_after"), (["\xa0", IMAGE, ONE], "text_before")],
)
def test_text_beside_another_block_is_text_around_the_object(content: list[Any], problem: str) -> None:
    with pytest.raises(OutputParserException, match=problem) as raised:
        parser().invoke(AIMessage(content))
    assert raised.value.llm_output == "".join(block for block in content if isinstance(block, str))


def test_reasoning_before_the_object_is_another_block() -> None:
    message = parser().invoke(AIMessage([{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": ONE}]))
    assert calls(message) == [PARIS]


@pytest.mark.parametrize(
    "message", [AIMessage("", tool_calls=[{"name": "get_weather", "args": {"city": "Paris"}, "id": "1"}])]
)
def test_a_message_with_calls_of_the_server_comes_back_as_it_is(message: AIMessage) -> None:
    assert parser().invoke(message) == message
    assert summed(parser().transform(iter([message]))) == message


async def test_a_stream_of_nothing_is_empty() -> None:
    async def nothing() -> AsyncIterator[BaseMessage]:
        for chunk in ():
            yield chunk

    with pytest.raises(OutputParserException, match="empty"):
        list(parser().transform(iter([])))
    with pytest.raises(OutputParserException, match="empty"):
        await anext(parser().atransform(nothing()))


@pytest.mark.parametrize("text", ["", "Sure!", ONE[:-9]])
def test_calls_of_the_server_that_are_all_broken_are_no_answer(text: str) -> None:
    broken = invalid_tool_call(name="get_weather", args='{"city": ', id="1", error=None)
    message = AIMessage(text, invalid_tool_calls=[broken])
    piece = tool_call_chunk(name="get_weather", args='{"city": ', id="1", index=0)
    for read in (
        lambda: parser().invoke(message),
        lambda: list(parser().transform(iter([message]))),
        lambda: list(parser().transform(iter([AIMessageChunk(text, tool_call_chunks=[piece])]))),
    ):
        with pytest.raises(OutputParserException, match="did not keep to the response format") as raised:
            read()
        assert raised.value.llm_output == text
    good = {"name": "get_weather", "args": {"city": "Paris"}, "id": "2", "type": "tool_call"}
    assert calls(parser().invoke(message.model_copy(update={"tool_calls": [good]}))) == [PARIS]


def test_an_unknown_tool_is_a_call_where_that_is_asked_for() -> None:
    message = parser(on_unknown_tool="call").invoke(ONE.replace("get_weather", "rm"))
    assert calls(message) == [("rm", {"city": "Paris"})]


def test_a_chain_asks_again() -> None:
    llm = FakeListChatModel(responses=["Sure!", ONE])
    chain = (llm | parser()).with_retry(
        retry_if_exception_type=(OutputParserException,), stop_after_attempt=2, wait_exponential_jitter=False
    )
    assert calls(chain.invoke("Weather?")) == [PARIS]


def test_another_model_may_stand_in() -> None:
    chain = (FakeListChatModel(responses=["Sure!"]) | parser()).with_fallbacks(
        [FakeListChatModel(responses=[ONE]) | parser()]
    )
    assert calls(chain.invoke("Weather?")) == [PARIS]


def test_the_parsers_that_ask_a_model_to_mend_an_output_take_it() -> None:
    llm = FakeListChatModel(responses=[ONE])
    assert calls(OutputFixingParser.from_llm(llm, parser()).invoke("Sure!")) == [PARIS]
    retrying = RetryOutputParser.from_llm(llm, parser())
    assert calls(retrying.parse_with_prompt("Sure!", StringPromptValue(text="Weather?"))) == [PARIS]


@pytest.mark.parametrize("options", [{}, {"multiple": True}, {"tools": None}])
def test_the_instructions_are_those_of_the_format(options: dict[str, Any]) -> None:
    strict = parser(**options)
    expected = render_response_prompt(strict.tools, multiple=strict.multiple)
    assert strict.get_format_instructions() == expected


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
def test_it_can_be_saved() -> None:
    text = dumps(parser(multiple=True))
    copy = loads(text, allowed_objects=[Llama3JsonToolOutputParser], valid_namespaces=["langchain_llama3_tools"])
    assert (copy.strict, copy.multiple) == (True, True)
    assert isinstance(streamed(copy, [AIMessageChunk(MANY)])[0], AIMessageChunk)


def test_multiple_is_for_the_strict_format() -> None:
    with pytest.raises(ValueError, match="it takes strict=True"):
        Llama3JsonToolOutputParser(multiple=True)
