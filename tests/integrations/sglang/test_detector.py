"""SGLang's detector: one answer, whole and in pieces. It runs on SGLang's own types if SGLang is installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.core_types import ToolCallItem
from sglang.srt.function_call.function_call_parser import FunctionCallParser

from chunkings import chunkings
from llama3_tools import ReadOptions
from llama3_tools.chat import ChatOptions
from server_outputs import CASES, DECLARED, SIZES, Answer, agrees, entry_point_of, expected, pieces
from sglang_llama3_tools import register
from sglang_llama3_tools.detector import Llama3Detector

PARIS = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
ROME = '{"name": "get_weather", "parameters": {"city": "Rome"}}'
IN_PARIS, IN_ROME = ("get_weather", '{"city": "Paris"}'), ("get_weather", '{"city": "Rome"}')
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SGLang find the detector as its server does."""
    others = {name: one for name, one in FunctionCallParser.ToolCallParserEnum.items() if name != "llama3_tools"}
    monkeypatch.setattr(FunctionCallParser, "ToolCallParserEnum", others)
    register()


def parser_of(tools: list[dict[str, Any]] | None = None, name: str = "llama3_tools") -> FunctionCallParser:
    """What SGLang makes for an answer."""
    declared = [WEATHER] if tools is None else tools
    return FunctionCallParser([Tool.model_validate(tool) for tool in declared], name)


def whole(text: str, parser: FunctionCallParser) -> Answer:
    """What comes out for a whole answer: SGLang asks first whether it is worth reading."""
    if not parser.has_tool_call(text):
        return Answer(text, [])
    content, calls = parser.parse_non_stream(text)
    return Answer(content, list(made(calls)))


def in_pieces(chunks: list[str], parser: FunctionCallParser) -> Answer:
    """What comes out for an answer in pieces, with the flush at its end."""
    found = [*(parser.parse_stream_chunk(chunk) for chunk in chunks), parser.parse_stream_end()]
    return Answer("".join(text for text, _ in found), list(made([call for _, calls in found for call in calls])))


def made(calls: list[ToolCallItem]) -> Iterator[tuple[str, str]]:
    """The calls, each of which has come whole, under an index of its own."""
    for index, call in enumerate(calls):
        assert call.tool_index == index
        assert call.name
        yield call.name, call.parameters


@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        pytest.param(f"Let me check. {PARIS}", "Let me check.", [IN_PARIS], id="text before"),
        pytest.param(f"One: {PARIS} two: {ROME} Done.", "One: two: Done.", [IN_PARIS, IN_ROME], id="text between"),
        pytest.param(PARIS[:-2], PARIS[:-2], [], id="a call that is cut off"),
        pytest.param('{"name": "now", "parameters": {}}', "", [("now", "{}")], id="no arguments"),
        pytest.param("Prose.", "Prose.", [], id="prose"),
        pytest.param("", "", [], id="nothing"),
    ],
)
def test_text_and_calls_are_apart_whole_and_in_every_chunking(
    text: str, content: str, calls: list[tuple[str, str]]
) -> None:
    assert whole(text, parser_of()) == Answer(content, calls)
    for chunks in chunkings(text):
        assert in_pieces(chunks, parser_of()) == Answer(content, calls), chunks


@pytest.mark.parametrize("case", CASES)
def test_outputs_of_each_kind_are_read_as_the_chat_layer_reads_them(case: str) -> None:
    for text in CASES[case][::8]:
        answer = expected(text)
        parser = parser_of(DECLARED)
        assert parser.has_tool_call(text) or not answer.calls, text
        content, calls = parser.parse_non_stream(text)
        assert Answer(content, list(made(calls))) == (answer if parser.has_tool_call(text) else Answer(text, [])), text
        for size in SIZES:
            assert agrees(in_pieces(pieces(text, size), parser_of(DECLARED)), answer), text


def test_prose_is_not_worth_reading() -> None:
    assert [parser_of().has_tool_call(text) for text in ("Prose.", PARIS, "[now()]")] == [False, True, True]


def test_arguments_are_made_to_fit_the_schemas_of_the_request() -> None:
    call = '{"name": "get_weather", "parameters": {"city": "Paris", "days": "3"}}'
    assert whole(call, parser_of()).calls == [("get_weather", '{"city": "Paris", "days": 3}')]


def test_without_tools_nothing_is_read_and_nothing_is_lost() -> None:
    assert whole(PARIS, parser_of([])) == in_pieces(pieces(PARIS, 3), parser_of([])) == Answer(PARIS, [])


def test_a_call_of_an_unknown_tool_goes_to_the_client_which_can_answer_it() -> None:
    assert whole('{"name": "rm", "parameters": {}}', parser_of()).calls == [("rm", "{}")]


def test_sglang_is_told_all_that_was_sent_of_each_call() -> None:
    parser = parser_of()
    in_pieces(pieces(f"{PARIS}; {ROME}", 5), parser)
    detector = parser.detector
    assert [json.loads(call["arguments"]) for call in detector.prev_tool_call_arr] == [
        {"city": "Paris"},
        {"city": "Rome"},
    ]
    assert detector.streamed_args_for_tool == [IN_PARIS[1], IN_ROME[1]]


def test_an_end_without_an_answer_brings_nothing() -> None:
    assert in_pieces([], parser_of()) == Answer("", [])


def test_a_tool_that_cannot_be_read_loses_no_text(caplog: pytest.LogCaptureFixture) -> None:
    tools = [WEATHER, WEATHER]
    assert whole(PARIS, parser_of(tools)) == Answer(PARIS, [])
    assert in_pieces(pieces(PARIS, 3), parser_of(tools)) == Answer(PARIS, [])
    assert caplog.messages == ["no calls are read: tools[1]: the name 'get_weather' is declared twice"] * 2


def test_the_model_is_held_to_a_form_that_is_read() -> None:
    detector = Llama3Detector()
    assert detector.get_structural_tag_name() == "llama"
    about = detector.structure_info()("get_weather")
    assert about.begin.startswith(about.trigger)
    assert whole(f'{about.begin}{{"city": "Paris"}}{about.end}', parser_of()).calls == [IN_PARIS]


def test_a_call_whose_arguments_do_not_fit_goes_to_the_client_as_the_server_asks_no_model_again() -> None:
    call = '{"name": "get_weather", "parameters": {"city": "Paris", "days": "soon"}}'
    assert whole(call, parser_of()).calls == [("get_weather", '{"city": "Paris", "days": "soon"}')]


def test_a_subclass_reads_by_options_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Repairing(Llama3Detector):
        options = ChatOptions(read=ReadOptions(repair=True))

    monkeypatch.setitem(FunctionCallParser.ToolCallParserEnum, "repairing", Repairing)
    assert [name for name, _ in whole(PARIS.replace('"', "'"), parser_of(name="repairing")).calls] == ["get_weather"]


def test_reasoning_is_sglangs_to_split_off() -> None:
    class Splitting(Llama3Detector):
        options = ChatOptions(read=ReadOptions(split_reasoning=True))

    with pytest.raises(ValueError, match="--reasoning-parser"):
        Splitting()


def test_the_log_says_which_calls_were_not_made_and_nothing_of_their_arguments(
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = f'{PARIS} and again {PARIS} {{"name": "get_weather", "parameters": {{"city": secret}}}}'
    for answer in (whole(text, parser_of()), in_pieces([text], parser_of())):
        assert answer.calls == [IN_PARIS]
    lines = ["no call of 'get_weather': malformed", "no call of 'get_weather': repeats the one before it"]
    assert caplog.messages == lines * 2


def test_the_entry_point_is_what_registers() -> None:
    assert entry_point_of("sglang.srt.plugins") == f"{register.__module__}:{register.__name__}"
