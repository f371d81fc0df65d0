"""Asks vLLM's parser as vLLM does, with requests of its types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vllm.entrypoints.generate.base.protocol import DeltaMessage
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

from integrations.plugins import WEATHER, is_told
from server_outputs import Answer
from vllm_llama3_tools.tool_parser import Llama3ToolParser


def asked(tools: Iterable[dict[str, Any]] = (WEATHER,), **fields: Any) -> ChatCompletionRequest:
    """A request with tools."""
    declared = list(tools)
    given = {"tools": declared, "tool_choice": "auto", **fields} if declared else fields
    return ChatCompletionRequest.model_validate({"messages": [], "model": "llama3.1", **given})


def parser_of(request: ChatCompletionRequest, parser: type[Llama3ToolParser] = Llama3ToolParser) -> Llama3ToolParser:
    """The parser that vLLM makes for a request."""
    return parser(None, request.tools)


def whole(text: str, request: ChatCompletionRequest, parser: type[Llama3ToolParser] = Llama3ToolParser) -> Answer:
    """What comes out for a whole output."""
    found = parser_of(request, parser).extract_tool_calls(text, request)
    assert found.tools_called == bool(found.tool_calls)
    calls = [(call.function.name, call.function.arguments) for call in found.tool_calls]
    return Answer(found.content or "", calls)


def add(messages: Iterable[DeltaMessage | None]) -> Answer:
    """The sum of what is sent, as a client makes it. Every call comes whole, under an index of its own."""
    sent = [message for message in messages if message is not None]
    calls = [call for message in sent for call in message.tool_calls]
    assert [call.index for call in calls] == list(range(len(calls)))
    assert len({call.id for call in calls}) == len(calls)
    made = []
    for call in calls:
        assert call.id
        assert call.type == "function"
        assert call.function is not None
        made.append((call.function.name or "", call.function.arguments or ""))
    return Answer("".join(message.content or "" for message in sent), made)


def in_pieces(chunks: list[str], request: ChatCompletionRequest) -> Answer:
    """What comes out for an output in pieces, with the flush at its end."""
    parser = parser_of(request)
    sent = []
    for chunk in chunks:
        sent.append(parser.extract_tool_calls_streaming("", chunk, chunk, [], [], [], request))
        assert parser.get_remaining_unstreamed_args() == ""
    answer = add([*sent, parser.finish_streaming()])
    assert is_told(parser, answer)
    return answer
