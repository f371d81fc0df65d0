"""LlamaIndex's parser, LLM wrapper and agents over HTTP, on what a live model says.

Nothing here asks for wisdom: whatever the model says must be read, run and told as it should.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.agent.workflow import (
    AgentOutput,
    AgentStream,
    FunctionAgent,
    ReActAgent,
    ToolCallResult,
)
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from e2e.answers import ASKED, FORCED, Asked, check, check_read, read_chat_message
from e2e.relay import (
    FORECAST,
    FREELY,
    FUNCTIONS,
    HISTORY,
    QUESTIONS,
    TEXT,
    TEXT_AND_TWO_CALLS,
    Forecast,
    Relay,
    Result,
    form,
    run_of,
)
from endpoints.assistant import TOOLS as DECLARED
from endpoints.live import MODEL
from llama3_tools import extract
from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ReActOutputParser, Llama3ToolLLM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llama_index.core.llms import ChatResponse
    from llama_index.core.workflow import Event

pytestmark = [
    pytest.mark.model,
    # LlamaIndex's own ReActAgent asks its context, from within a step, whether it runs.
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),
    # With pydantic 2.14 it cannot serialise its own memory, and says so each time it takes stock of a context.
    pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key. memory"),
]

TOOLS = [FunctionTool.from_defaults(function) for function in FUNCTIONS]
STREAMS = pytest.mark.parametrize("streams", [True, False])
SOME_WAYS = pytest.mark.parametrize("way", ["chat_with_tools", "astream_chat_with_tools"])


def openai_like(relay: Relay, **options: Any) -> OpenAILike:
    client = {"api_base": relay.url, "api_key": "none", "model": MODEL, "temperature": 0, "max_retries": 0}
    return OpenAILike(**{**client, "is_chat_model": True, "timeout": 300.0, **options})


def history(answers: Sequence[tuple[str, str]] = HISTORY) -> list[ChatMessage]:
    return [ChatMessage(role=role, content=content) for role, content in answers]


async def ask(llm: Llama3ToolLLM, way: str, *given: Any, **options: Any) -> list[ChatResponse]:
    """Ask in one of the ways; give the responses of a stream, or the one."""
    if way == "chat_with_tools":
        return [llm.chat_with_tools(TOOLS, *given, **options)]
    return [response async for response in await llm.astream_chat_with_tools(TOOLS, *given, **options)]


def as_it_is(relay: Relay) -> Llama3ToolLLM:
    """The LLM of tests that look at each answer: the model is not asked again, and all of its calls run."""
    return Llama3ToolLLM(openai_like(relay), max_retries=0, repeated_calls="keep")


def said(responses: Sequence[ChatResponse]) -> str:
    return "".join(response.delta or "" for response in responses)


class TestParser:
    PARSER = Llama3JsonToolOutputParser(tools=DECLARED, repeated_calls="keep")

    # Each prompt is computed once.
    @pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.name, scope="class")
    @STREAMS
    def test_calls_and_text_are_what_the_model_said(self, streams: bool, asked: Asked, relay: Relay) -> None:
        relay.begin(asked.settings)
        llm, messages = openai_like(relay), [ChatMessage(**message) for message in asked.messages]
        if streams:
            responses = list(self.PARSER.stream(llm.stream_chat(messages)))
        else:
            responses = [self.PARSER.promote(llm.chat(messages))]
        extraction = check(asked, read_chat_message(relay.said[0], responses[-1].message))
        assert not streams or said(responses) == (extraction.content or "")

    def test_an_answer_cut_off_inside_a_call_gives_no_call(self, relay: Relay) -> None:
        relay.begin({**FORCED[0].settings, "max_tokens": 12})
        messages = [ChatMessage(**message) for message in FORCED[0].messages]
        *_, last = self.PARSER.stream(openai_like(relay).stream_chat(messages))
        assert (read_chat_message("", last.message).calls, last.message.content) == ([], relay.said[0])


class TestLLM:
    @SOME_WAYS
    async def test_calls_and_text_are_what_the_model_said(self, way: str, relay: Relay) -> None:
        llm = as_it_is(relay)
        runnable = 0
        for question in QUESTIONS:
            relay.begin()
            responses = await ask(llm, way, question, history(), allow_parallel_tool_calls=True)
            read = read_chat_message(relay.said[0], responses[-1].message)
            extraction = check_read(read, on_unknown_tool="call")
            if "stream" in way:
                assert said(responses) == (extraction.content or "")
            calls = llm.get_tool_calls_from_response(responses[-1], error_on_no_tool_call=False)
            assert [(call.tool_name, call.tool_kwargs) for call in calls] == read.calls
            runnable += sum(run_of(*call) is not None for call in read.calls)
        assert runnable, "none of the answers holds a call that runs"

    async def test_structured_output(self, relay: Relay) -> None:
        relay.begin(FORECAST)
        llm, prompt, city = Llama3ToolLLM(openai_like(relay)), PromptTemplate("How is {city}?"), {"city": "Oslo"}
        forecasts: list[Any] = [
            llm.structured_predict(Forecast, prompt, **city),
            await llm.astructured_predict(Forecast, prompt, **city),
            list(llm.stream_structured_predict(Forecast, prompt, **city))[-1],
            [made async for made in await llm.astream_structured_predict(Forecast, prompt, **city)][-1],
            llm.as_structured_llm(Forecast).complete("How is Oslo?").raw,
        ]
        assert forecasts == [Forecast.model_validate(extract(said).tool_calls[0].arguments) for said in relay.said]


async def run(agent: Any, question: str, **options: Any) -> tuple[str, list[Event]]:
    handler = agent.run(question, **options)
    events = [event async for event in handler.stream_events()]
    return str(await handler), events


def deltas(events: Sequence[Event]) -> str:
    return "".join(event.delta for event in events if isinstance(event, AgentStream))


def results_of(events: Sequence[Event]) -> list[ToolCallResult]:
    return [event for event in events if isinstance(event, ToolCallResult)]


def check_run(relay: Relay, answer: str, events: Sequence[Event], *, streams: bool) -> int:
    """Hold a run to `Relay.check`, and its stream to the texts; give how many calls ran."""
    outputs = [event for event in events if isinstance(event, AgentOutput)]
    pairs = zip(relay.said, outputs, strict=True)
    answers = [read_chat_message(said, output.response) for said, output in pairs]
    assert answer == answers[-1].text
    assert deltas(events) == ("".join(answer.text for answer in answers) if streams else "")
    results = {
        event.tool_id: Result(event.tool_output.content, event.tool_output.is_error) for event in results_of(events)
    }
    return relay.check(answers, results)


@STREAMS
class TestFunctionAgent:
    async def test_each_question_is_answered(self, streams: bool, relay: Relay) -> None:
        agent = FunctionAgent(tools=TOOLS, llm=as_it_is(relay), streaming=streams)
        ran = 0
        for question in QUESTIONS:
            relay.begin(FREELY, TEXT)
            ran += check_run(relay, *await run(agent, question, chat_history=history()), streams=streams)
        assert ran, "none of the calls ran"

    async def test_two_calls_run_and_the_results_are_told(self, streams: bool, relay: Relay) -> None:
        relay.begin(TEXT_AND_TWO_CALLS, TEXT)
        agent = FunctionAgent(tools=TOOLS, llm=as_it_is(relay), streaming=streams)
        assert check_run(relay, *await run(agent, "Compare Tokyo and Quito."), streams=streams) == 2


REACT_TEXT = form('"Thought: " words "\\nAnswer: " words')


def as_step(answer: str) -> str:
    return f"Thought: I need a tool.\n{answer}" if "{" in answer else f"Thought: I can answer now.\nAnswer: {answer}"


def parsed(parser: Llama3ReActOutputParser, said: str) -> tuple[Any, str]:
    """Return the step, or what is wrong with it."""
    try:
        return parser.parse(said), ""
    except ValueError as error:
        return None, str(error)


@STREAMS
class TestReActAgent:
    async def test_each_question_is_answered(self, streams: bool, relay: Relay) -> None:
        steps = [(role, content if role == "user" else as_step(content)) for role, content in HISTORY]
        ran = 0
        for question in QUESTIONS:
            relay.begin(FREELY, REACT_TEXT)
            ran += await self.check(relay, question, streams=streams, chat_history=history(steps))
        assert ran, "none of the calls ran"

    async def check(self, relay: Relay, question: str, *, streams: bool, **options: Any) -> int:
        """Run an agent, and hold each of its steps to what the parser makes of it; give how many calls ran."""
        parser = Llama3ReActOutputParser(TOOLS)
        agent = ReActAgent(
            tools=TOOLS,
            llm=openai_like(relay),
            output_parser=parser,
            streaming=streams,
        )
        answer, events = await run(agent, question, **options)
        results = results_of(events)
        assert deltas(events) == ("".join(relay.said) if streams else ""), "ReAct shows what the model writes as it is"
        ran = 0
        for place, said in enumerate(relay.said[:-1]):
            told = relay.messages(place + 1)
            step, error = parsed(parser, said)
            if error:
                assert error in told[told.index(("assistant", said)) + 1][1]
                continue
            result = results.pop(0)
            assert (result.tool_name, result.tool_kwargs) == (step.action, step.action_input)
            content = result.tool_output.content
            assert told[-2:] == [("assistant", step.get_content()), ("user", f"Observation: {content}")]
            assert result.tool_output.is_error or content == run_of(step.action, step.action_input)
            ran += not result.tool_output.is_error
        assert results == []
        last: Any = parser.parse(relay.said[-1])
        assert answer == last.response
        return ran
