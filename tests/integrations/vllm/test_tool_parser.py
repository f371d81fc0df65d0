"""vLLM's parser: one answer, whole and in deltas. It runs on vLLM's own types if vLLM is installed."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.exceptions import VLLMValidationError

from chunkings import chunkings
from integrations.vllm.answers import WEATHER, asked, in_pieces, parser_of, whole
from llama3_tools import ReadOptions
from llama3_tools.chat import ChatOptions
from server_outputs import CASES, DECLARED, SIZES, Answer, agrees, expected, pieces
from vllm_llama3_tools.tool_parser import Llama3ToolParser

PARIS = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
ROME = '{"name": "get_weather", "parameters": {"city": "Rome"}}'
IN_PARIS, IN_ROME = ("get_weather", '{"city": "Paris"}'), ("get_weather", '{"city": "Rome"}')


@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        pytest.param(f"Let me check. {PARIS}", "Let me check.", [IN_PARIS], id="text before"),
        pytest.param(f"One: {PARIS} two: {ROME} Done.", "One: two: Done.", [IN_PARIS, IN_ROME], id="text between"),
        pytest.param('{"name": "now", "parameters": {}}', "", [("now", "{}")], id="no arguments"),
        pytest.param(PARIS[:-2], PARIS[:-2], [], id="a call that is cut off"),
        pytest.param("", "", [], id="nothing"),
    ],
)
def test_text_and_calls_are_apart_whole_and_in_every_chunking(
    text: str, content: str, calls: list[tuple[str, str]]
) -> None:
    request = asked()
    assert whole(text, request) == Answer(content, calls)
    for chunks in chunkings(text):
        assert in_pieces(chunks, request) == Answer(content, calls), chunks


@pytest.mark.parametrize("case", CASES)
def test_outputs_of_each_kind_are_read_as_the_chat_layer_reads_them(case: str) -> None:
    request = asked(DECLARED)
    for text in CASES[case][::8]:
        answer = expected(text)
        assert whole(text, request) == answer, text
        for size in SIZES:
            assert agrees(in_pieces(pieces(text, size), request), answer), text


def test_arguments_are_made_to_fit_the_schemas_of_the_request() -> None:
    call = '{"name": "get_weather", "parameters": {"city": "Paris", "days": "3"}}'
    assert whole(call, asked()).calls == [("get_weather", '{"city": "Paris", "days": 3}')]


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "get_weather"}}], ids=["required", "named"]
)
def test_a_call_that_has_to_be_made_is_read_like_all_others(choice: Any) -> None:
    request = asked(tool_choice=choice)
    for answer in (whole(f"So: {PARIS}", request), in_pieces(pieces(f"So: {PARIS}", 3), request)):
        assert answer == Answer("So:", [IN_PARIS])


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(asked(tool_choice="none"), id="tool_choice none"),
        pytest.param(asked([]), id="no tools"),
    ],
)
@pytest.mark.parametrize("text", [PARIS, f" <|python_tag|>{PARIS}<|eom_id|> ", "<think>So</think>", ""])
def test_nothing_is_read_and_nothing_is_lost_if_nothing_may_be_called(request_: Any, text: str) -> None:
    assert whole(text, request_) == Answer(text, [])
    for chunks in chunkings(text):
        assert in_pieces(chunks, request_) == Answer(text, [])


def test_one_call_is_made_if_calls_may_not_be_parallel() -> None:
    request = asked(parallel_tool_calls=False)
    for answer in (whole(f"{PARIS}; {ROME}", request), in_pieces(pieces(f"{PARIS}; {ROME}", 4), request)):
        assert answer == Answer("", [IN_PARIS])


def test_a_call_of_an_unknown_tool_goes_to_the_client_which_can_answer_it() -> None:
    assert whole('{"name": "rm", "parameters": {}}', asked()).calls == [("rm", "{}")]


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


def test_vllm_is_told_all_that_was_sent_of_each_call() -> None:
    request = asked()
    parser = parser_of(request)
    in_pieces(pieces(f"{PARIS}; {ROME}", 5), request, parser)
    assert [json.loads(call["arguments"]) for call in parser.prev_tool_call_arr] == [
        {"city": "Paris"},
        {"city": "Rome"},
    ]
    assert parser.streamed_args_for_tool == [IN_PARIS[1], IN_ROME[1]]
    assert parser.get_remaining_unstreamed_args() == ""


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
    assert (found.content, [call.function.name for call in found.tool_calls]) == ("So:", ["get_weather"])


def test_a_tool_that_cannot_be_read_is_the_clients_fault() -> None:
    request = asked([WEATHER, WEATHER])
    with pytest.raises(VLLMValidationError, match="'get_weather' is declared twice"):
        parser_of(request)


def test_a_call_whose_arguments_do_not_fit_goes_to_the_client_as_the_server_asks_no_model_again() -> None:
    class Asking(Llama3ToolParser):
        options = ChatOptions(max_retries=3)

    call = '{"name": "get_weather", "parameters": {"city": "Paris", "days": "soon"}}'
    for parser in (Llama3ToolParser, Asking):
        assert whole(call, asked(), parser).calls == [("get_weather", '{"city": "Paris", "days": "soon"}')]


def test_a_subclass_reads_by_options_of_its_own() -> None:
    class Repairing(Llama3ToolParser):
        options = ChatOptions(read=ReadOptions(repair=True))

    assert [name for name, _ in whole(PARIS.replace('"', "'"), asked(), Repairing).calls] == ["get_weather"]


def test_reasoning_is_vllms_to_split_off() -> None:
    class Splitting(Llama3ToolParser):
        options = ChatOptions(read=ReadOptions(split_reasoning=True))

    with pytest.raises(ValueError, match="--reasoning-parser"):
        parser_of(asked(), Splitting)


def test_the_log_says_which_calls_were_not_made_and_nothing_of_their_arguments(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = logging.getLogger("vllm.llama3_tools")
    monkeypatch.setattr(log, "propagate", False)  # which vLLM sets for all of its own
    monkeypatch.setattr(log, "handlers", [caplog.handler])
    text = f'{PARIS} and again {PARIS} {{"name": "get_weather", "parameters": {{"city": secret}}}}'
    for answer in (whole(text, asked()), in_pieces([text], asked())):
        assert answer.calls == [IN_PARIS]
    lines = ["no call of 'get_weather': malformed", "no call of 'get_weather': repeats the one before it"]
    assert caplog.messages == lines * 2
