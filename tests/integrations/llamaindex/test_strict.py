"""The strict response format in LlamaIndex: one object, or an error that is retried on and keeps what was written."""

from __future__ import annotations

import contextlib
import pickle
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.react.types import ActionReasoningStep, BaseReasoningStep, ResponseReasoningStep
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.output_parsers.base import OutputParserException
from llama_index.core.prompts import PromptTemplate
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from llama_index.core.workflow.retry_policy import ConstantDelayRetryPolicy

from integrations.llamaindex.endpoint import TOOLS as READ_TOOLS
from integrations.llamaindex.endpoint import endpoint
from integrations.llamaindex.scripted import STYLES, ScriptedLLM, Style, chunkings
from llama3_tools import Limits, ResponseFormatError, render_response_prompt
from llama_index_llama3_tools import Llama3JsonToolOutputParser, StrictResponseError

TOOLS: list[dict[str, Any]] = [{"name": "get_weather", "parameters": {"type": "object", "required": ["city"]}}]
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
ONE = f'{{"message": "One moment.", "tool_call": {CALL}}}'
MANY = f'{{"message": "", "tool_calls": [{CALL}, {CALL}]}}'
PARSER = Llama3JsonToolOutputParser(TOOLS, strict=True)

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


def response(text: str) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role="assistant", content=text))


@pytest.mark.parametrize(
    ("output", "multiple", "text", "count"),
    [(ONE, False, "One moment.", 1), ('{"message": "Hi", "tool_call": null}', False, "Hi", 0), (MANY, True, "", 2)],
)
def test_the_message_is_the_text_and_the_call_a_call(output: str, text: str, count: int, *, multiple: bool) -> None:
    parser = Llama3JsonToolOutputParser(TOOLS, strict=True, multiple=multiple)
    for read in (parser.parse(output).to_chat_message(), parser.promote(response(output)).message):
        assert (read.content or "") == text
        assert len(read.additional_kwargs.get("tool_calls", [])) == count
    assert [call.tool_kwargs for call in parser.parse(output).tool_calls] == [{"city": "Paris"}] * count


@pytest.mark.parametrize(
    ("limits", "problem"),
    [(Limits(max_calls=1), "too_many"), (Limits(max_depth=1), "too_deep"), (Limits(max_call_length=256), "too_long")],
)
def test_what_is_beyond_a_limit_is_an_error_and_a_long_message_none(limits: Limits, problem: str) -> None:
    text = "x" * 300
    deep = f'{{"name": "get_weather", "arguments": {{"city": ["{text}"]}}}}'
    output = f'{{"message": "{text}", "tool_calls": [{CALL}, {deep}]}}'
    parser = Llama3JsonToolOutputParser(TOOLS, strict=True, multiple=True, limits=limits)
    with pytest.raises(StrictResponseError, match=problem):
        parser.promote(response(output))
    with pytest.raises(StrictResponseError, match=problem):
        next(parser.stream(ScriptedLLM(chunks=[output]).stream_complete("Weather?")))
    wide = Llama3JsonToolOutputParser(TOOLS, strict=True, multiple=True, limits=Limits(max_call_length=400))
    streamed = list(wide.stream(ScriptedLLM(chunks=[output]).stream_complete("Weather?")))[-1]
    for message in (wide.promote(response(output)).message, streamed.message):
        assert message.content == text
        assert len(message.additional_kwargs["tool_calls"]) == 2


@pytest.mark.parametrize(("output", "problem"), BROKEN.values(), ids=BROKEN)
class TestBroken:
    def test_the_error_is_one_to_retry_on_and_keeps_the_output(self, output: str, problem: str) -> None:
        for read in (lambda: PARSER.parse(output), lambda: PARSER.promote(response(output))):
            with pytest.raises(StrictResponseError) as raised:
                read()
            error = raised.value
            assert isinstance(error, OutputParserException)
            assert isinstance(error, ValueError)
            assert isinstance(error, ResponseFormatError)
            assert (error.problem, error.output) == (problem, output)
            assert str(error).startswith(f"{problem}: ")

    @pytest.mark.parametrize("style", STYLES)
    def test_a_stream_gives_nothing_but_the_error(self, output: str, problem: str, style: Style) -> None:
        chunks = [piece for piece in (output[:9], output[9:]) if piece] or [" "]
        stream = PARSER.stream(ScriptedLLM(chunks=chunks, style=style).stream_complete("Weather?"))
        with pytest.raises(StrictResponseError, match=problem):
            next(stream)


@pytest.mark.parametrize("style", STYLES)
def test_a_stream_comes_at_its_end_and_ends_as_the_whole_does(style: Style) -> None:
    for chunks in chunkings(ONE):
        arrived: list[object] = []

        def responses(chunks: list[str] = chunks, arrived: list[object] = arrived) -> Iterator[Any]:
            for one in ScriptedLLM(chunks=chunks, style=style).stream_complete("Weather?"):
                arrived.append(one)
                yield one

        stream = PARSER.stream(responses())
        first = next(stream)
        assert len(arrived) == len(chunks), "all has arrived before anything is given"
        given = [first, *stream]
        assert len(given) == 1
        assert "".join(one.delta or "" for one in given) == "One moment."
        assert given[-1].message.content == "One moment."
        assert len(given[-1].message.additional_kwargs["tool_calls"]) == 1


async def test_asynchronous_streams_are_held_back_too() -> None:
    llm = ScriptedLLM(chunks=list(ONE))
    given = [one async for one in PARSER.astream(await llm.astream_complete("Weather?"))]
    assert given[-1].message.content == "One moment."
    broken = PARSER.astream(await ScriptedLLM(chunks=[*ONE, " Done."]).astream_complete("Weather?"))
    with pytest.raises(StrictResponseError, match="text_after"):
        await anext(broken)


@pytest.mark.no_cover
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("before", "piece"),
    [("<think>", "some prose "), ('</think>{"message": "Hi", "tool_call": null}', "some prose ")],
    ids=["thoughts", "prose behind the object"],
)
def test_what_is_held_back_takes_memory_as_it_is_long(before: str, piece: str, style: Style) -> None:
    parser = Llama3JsonToolOutputParser(strict=True, split_reasoning=True, starts_reasoning=True)

    def memory(count: int) -> int:
        responses = ScriptedLLM(chunks=[before, *[piece * 20] * count], style=style).stream_complete("Weather?")
        tracemalloc.start()
        with contextlib.suppress(StrictResponseError):
            next(parser.stream(responses))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    memory(3)
    assert memory(400) < 3 * memory(200)


def test_a_response_with_calls_of_the_server_need_not_be_the_object() -> None:
    native = PARSER.promote(response(ONE))
    assert PARSER.promote(native).message == native.message
    assert [one.message for one in PARSER.stream([native])] == [native.message]


@pytest.mark.filterwarnings("ignore:ConstantDelayRetryPolicy:DeprecationWarning")  # of newer workflows
async def test_a_workflow_step_is_run_again() -> None:
    answers = iter(["Sure!", ONE])

    class Ask(Workflow):
        @step(retry_policy=ConstantDelayRetryPolicy(delay=0, maximum_attempts=2))
        async def ask(self, event: StartEvent) -> StopEvent:
            del event
            return StopEvent(result=PARSER.parse(next(answers)).tool_calls)

    calls = await Ask().run()
    assert [call.tool_name for call in calls] == ["get_weather"]


@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")  # by LlamaIndex
async def test_a_react_agent_asks_again() -> None:
    class StrictSteps(ReActOutputParser):
        def parse(self, output: str, is_streaming: bool = False) -> BaseReasoningStep:  # noqa: ARG002, FBT002 (LlamaIndex's)
            read = PARSER.parse(output)
            for call in read.tool_calls:
                return ActionReasoningStep(thought=read.text, action=call.tool_name, action_input=call.tool_kwargs)
            return ResponseReasoningStep(thought="", response=read.text)

    answers = [
        f"Sure! {ONE}",
        ONE,
        '{"message": "Sunny.", "tool_call": null}',
    ]  # the agent gives the last one as it came
    with endpoint(*answers) as served:
        agent = ReActAgent(tools=READ_TOOLS, llm=served.llm(), output_parser=StrictSteps())
        assert PARSER.parse(str(await agent.run("Weather?"))).text == "Sunny."
    told = served.messages(1)[-1][1]
    assert "text_before: 'Sure! ' stands before the JSON object at offset 6. Expected one JSON object" in told
    assert "Sun in Paris" in served.messages(2)[-1][1]


def test_predict_gives_the_message_or_the_error() -> None:
    llm = ScriptedLLM(chunks=[ONE], output_parser=PARSER)
    assert llm.predict(PromptTemplate("Weather?")) == "One moment."
    llm = ScriptedLLM(chunks=["Sure!"], output_parser=PARSER)
    with pytest.raises(StrictResponseError, match="no_json"):
        llm.predict(PromptTemplate("Weather?"))


def test_an_unknown_tool_is_a_call_where_that_is_asked_for() -> None:
    parser = Llama3JsonToolOutputParser(TOOLS, strict=True, on_unknown_tool="call")
    assert parser.parse(ONE.replace("get_weather", "rm")).tool_calls[0].tool_name == "rm"


@pytest.mark.parametrize(("tools", "multiple"), [(TOOLS, False), (TOOLS, True), (None, False), ([], False)])
def test_a_query_gets_the_format_in_front_with_tools_or_without(
    tools: list[dict[str, Any]] | None, *, multiple: bool
) -> None:
    parser = Llama3JsonToolOutputParser(tools, strict=True, multiple=multiple)
    prompt = render_response_prompt(tools, multiple=multiple)
    assert parser.format("Weather?") == f"{prompt}\n\nWeather?"
    assert parser.format_messages([ChatMessage("Weather?")])[0].content == f"{prompt}\n\nWeather?"


def test_the_error_can_be_pickled() -> None:
    with pytest.raises(StrictResponseError) as raised:
        PARSER.parse("Sure!")
    copy = pickle.loads(pickle.dumps(raised.value))  # noqa: S301 (pickled in the line)
    assert isinstance(copy, StrictResponseError)
    assert (str(copy), copy.output) == (str(raised.value), "Sure!")


def test_multiple_is_for_the_strict_format() -> None:
    with pytest.raises(ValueError, match="it takes strict=True"):
        Llama3JsonToolOutputParser(multiple=True)


@pytest.mark.parametrize("option", [{"formats": "json"}, {"repair": True}])
def test_it_takes_no_other_form(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="strict=True reads one form, as it is: it takes neither formats nor repair"):
        Llama3JsonToolOutputParser(TOOLS, strict=True, **option)
