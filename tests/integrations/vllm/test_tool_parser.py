"""vLLM's parser: one answer, whole and in deltas. It runs on vLLM's own types if vLLM is installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.exceptions import VLLMValidationError

from integrations.plugins import IN_PARIS, PARIS, ROME, WEATHER, PluginTests
from integrations.vllm.answers import asked, in_pieces, parser_of, whole
from server_outputs import Answer, pieces
from vllm_llama3_tools.tool_parser import Llama3ToolParser


class TestToolParser(PluginTests):
    kind = Llama3ToolParser
    log = "vllm.llama3_tools"

    def whole(self, text: str, tools: Iterable[dict[str, Any]] = (WEATHER,), kind: Any = Llama3ToolParser) -> Answer:
        return whole(text, asked(tools), kind)

    def streamed(self, chunks: list[str], tools: Iterable[dict[str, Any]] = (WEATHER,)) -> Answer:
        return in_pieces(chunks, asked(tools))


@pytest.mark.parametrize(
    ("fields", "content", "count"),
    [
        ({"tool_choice": "required"}, "So:", 2),
        ({"tool_choice": {"type": "function", "function": {"name": "get_weather"}}}, "So:", 2),
        ({"parallel_tool_calls": False}, "So:", 1),
        ({"tool_choice": "none"}, f"So: {PARIS}; {ROME}", 0),
    ],
    ids=["required", "named", "not parallel", "none"],
)
def test_what_is_asked_of_the_calls_is_kept(fields: dict[str, Any], content: str, count: int) -> None:
    request, text = asked(**fields), f"So: {PARIS}; {ROME}"
    for answer in (whole(text, request), in_pieces(pieces(text, 3), request)):
        assert (answer.content, len(answer.calls)) == (content, count)


def test_a_call_comes_as_soon_as_it_is_whole_and_the_end_brings_what_was_held_back() -> None:
    request = asked()
    parser = parser_of(request)
    first = parser.extract_tool_calls_streaming("", "", PARIS, [], [], [], request)
    assert first is not None
    assert len(first.tool_calls) == 1
    assert parser.extract_tool_calls_streaming("", "", ' {"name"', [], [], [], request) is None
    last = parser.finish_streaming()
    assert last is not None
    assert (last.content, last.tool_calls) == ('{"name"', [])
    assert parser.finish_streaming() is None


def test_vllm_leaves_a_call_that_has_to_be_made_to_the_parser() -> None:
    assert Llama3ToolParser.supports_required_and_named is False


@pytest.mark.parametrize(
    ("fields", "kept"), [({}, True), ({"tool_choice": "required"}, True), ({"tool_choice": "none"}, False)]
)
def test_special_tokens_are_kept_where_calls_are_read(fields: dict[str, Any], kept: bool) -> None:
    request, untouched = asked(**fields), asked(**fields).skip_special_tokens
    adjusted = parser_of(request).adjust_request(request)
    assert adjusted.skip_special_tokens is (False if kept else untouched)


def test_tools_of_a_responses_request_are_read_and_those_of_the_server_are_left_to_it() -> None:
    function = {"type": "function", "name": "get_weather", "parameters": WEATHER["function"]["parameters"]}
    tools = [{**function, "strict": False}, {"type": "web_search"}]
    request = ResponsesRequest.model_validate({"input": "Hi", "model": "llama3.1", "tools": tools})
    found = Llama3ToolParser(None, request.tools).extract_tool_calls(f"So: {PARIS}", request)  # type: ignore[arg-type]  # as vLLM does
    assert (found.content, [call.function.name for call in found.tool_calls]) == ("So:", [IN_PARIS[0]])


def test_a_tool_that_cannot_be_read_is_the_clients_fault() -> None:
    with pytest.raises(VLLMValidationError, match="'get_weather' is declared twice"):
        parser_of(asked([WEATHER, WEATHER]))
