"""The public interface as a type checker sees it. `mypy` reads this file; nothing runs it.

Each function is something that a user writes. A type that gets lost on the way fails `make lint`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typing_extensions import assert_never, assert_type

from llama3_acceptance import FoundCall, Suite, Verdict, assert_tool_call, judge, load_suite
from llama3_tools import (
    ArgumentChange,
    ArgumentProblem,
    CallProgress,
    Coercion,
    Event,
    Extraction,
    ExtractionStream,
    Extractor,
    Llama3ToolsError,
    OpenAIMessage,
    PromptFormat,
    ReadOptions,
    ReasoningDelta,
    Rejection,
    RejectionReason,
    ResponseFormatError,
    ResponseFormatProblem,
    StreamStateError,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallReady,
    ToolChoice,
    ToolDefinitionError,
    ToolLike,
    coerce_arguments,
    declare_tools,
    extract,
    new_call_id,
    parse_response,
    render_response_prompt,
    render_tool_call,
    render_tool_calls,
    render_tool_prompt,
    render_tool_result,
    response_json_schema,
    validate_arguments,
)
from llama3_tools.chat import ChatOptions, ChatStream, RefusedCall, Reply, Report, Request, ToolChat, kept_chat


def one_shot(text: str) -> None:
    extraction = extract(text)
    assert_type(extraction, Extraction)
    assert_type(extraction.content, str | None)
    assert_type(extraction.tool_calls, tuple[ToolCall, ...])
    assert_type(extraction.rejections, tuple[Rejection, ...])
    assert_type(extraction.tools_called, bool)
    assert_type(extraction.to_openai(), OpenAIMessage)


def the_parts_of_a_call(call: ToolCall) -> None:
    assert_type(call.name, str)
    assert_type(call.arguments_json, str)
    assert_type(call.id, str)
    assert_type(call.span, tuple[int, int])
    assert_type(call.format, str)
    assert_type(call.to_openai()["function"]["arguments"], str)


def the_parts_of_a_rejection(rejection: Rejection) -> None:
    assert_type(rejection.reason, RejectionReason)
    assert_type(rejection.name, str | None)
    assert_type(rejection.span, tuple[int, int])


def streaming(extractor: Extractor, chunks: Sequence[str]) -> ExtractionStream:
    stream = extractor.stream()
    for chunk in chunks:
        assert_type(stream.feed(chunk), list[Event])
    for event in stream.flush():
        shown(event)
    assert_type(stream.extraction, Extraction)
    return stream


def shown(event: Event) -> str:
    if isinstance(event, TextDelta | ReasoningDelta):
        return event.text
    if isinstance(event, ToolCallReady):
        return event.tool_call.name
    if isinstance(event, CallProgress):
        return event.status
    assert_never(event)


def the_ways_to_declare_a_tool() -> Extractor:
    tool = Tool("get_weather", "The weather of a city", {"type": "object", "required": ["city"]})
    openai = {"type": "function", "function": {"name": "clock"}}
    assert_type(declare_tools([tool, openai]), dict[str, Tool])
    assert_type(render_tool_prompt([tool, openai]), str)
    extractor = Extractor(tools=[tool, openai], on_unknown_tool="call", id_factory=new_call_id)
    assert_type(extractor.tools, dict[str, Tool] | None)
    return extractor


def the_prompts_of_an_agent(call: ToolCall, tool: ToolLike, choice: ToolChoice, prompt_format: PromptFormat) -> str:
    assert_type(render_tool_prompt([tool], prompt_format=prompt_format, tool_choice=choice), str)
    assert_type(render_tool_call(call.name, call.arguments, prompt_format=prompt_format), str)
    assert_type(render_tool_calls([(call.name, call.arguments)], prompt_format=prompt_format), str)
    return render_tool_result(call.name, "sunny", arguments=call.arguments, is_error=False)


def what_goes_wrong(tools: Sequence[ToolLike], stream: ExtractionStream) -> str | None:
    try:
        declare_tools(tools)
        stream.flush()
    except (ToolDefinitionError, StreamStateError) as error:
        base: Llama3ToolsError = error
        return str(base)
    return None


def arguments_and_their_schema(call: ToolCall, tool: Tool) -> None:
    coercion = coerce_arguments(call.arguments, tool.parameters)
    assert_type(coercion, Coercion)
    assert_type(coercion.changes, tuple[ArgumentChange, ...])
    assert_type(coercion.problems, tuple[ArgumentProblem, ...])
    assert_type(validate_arguments(coercion.arguments, tool.parameters), tuple[ArgumentProblem, ...])


def the_format(text: str, tools: Sequence[Tool]) -> None:
    assert_type(response_json_schema(tools, multiple=True, tool_choice="required", max_string=9), dict[str, Any])
    assert_type(render_response_prompt(None, tool_choice="clock"), str)
    try:
        assert_type(parse_response(text, tools=tools, multiple=True, tool_choice="clock"), Extraction)
        assert_type(parse_response(text, tools=tools, coerce_arguments=True), Extraction)
    except ResponseFormatError as error:
        assert_type(error.problem, ResponseFormatProblem)
        assert_type(error.offset, int)
        assert_type(error.output, str)


def a_conversation(tools: Sequence[ToolLike], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    chat = ToolChat(tools, ChatOptions(read=ReadOptions(repair=True), tool_role="tool", max_retries=2))
    request = chat.request(messages, tool_choice={"type": "any"}, parallel_tool_calls=False)
    assert_type(request, Request)
    assert_type(request.messages, list[dict[str, Any]])
    return request.messages


def an_answer(request: Request, answer: dict[str, Any]) -> Request | None:
    reply = request.read(answer, "stop")
    assert_type(reply, Reply)
    assert_type(reply.content, str | list[Any] | None)
    assert_type(reply.tool_calls, tuple[ToolCall, ...])
    assert_type(reply.finish_reason, str | None)
    assert_type(reply.to_openai(), OpenAIMessage)
    assert_type(reply.report, Report)
    assert_type(reply.report.refused, tuple[RefusedCall, ...])
    return request.retry(reply)


def a_stream(request: Request, deltas: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    stream = request.stream()
    assert_type(stream, ChatStream)
    handed_out = [out for delta in deltas for out in stream.feed(delta)]
    return [*handed_out, *stream.end("stop"), *stream.abort()]


def a_chat_that_is_kept(tools: list[dict[str, Any]]) -> ToolChat:
    return kept_chat(tools)


def judging(response: object) -> None:
    suite = load_suite("commands.yaml")
    assert_type(suite, Suite)
    parsed, coerced = judge(suite.cases[0], response, suite)
    assert_type(parsed.verdict, Verdict)
    assert_type(coerced.calls, tuple[FoundCall, ...])
    assert_type(assert_tool_call(response, "get_weather", {"city": "Paris"}), tuple[FoundCall, ...])


def what_a_type_checker_must_refuse(extraction: Extraction) -> None:
    extract(b"bytes")  # type: ignore[arg-type]
    Extractor(on_unknown_tool="raise")  # type: ignore[arg-type]
    extraction.content = "frozen"  # type: ignore[misc]
