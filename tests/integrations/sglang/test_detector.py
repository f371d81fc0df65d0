"""SGLang's detector: one answer, whole and in pieces. It runs on SGLang's own types if SGLang is installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.core_types import ToolCallItem
from sglang.srt.function_call.function_call_parser import FunctionCallParser

from integrations.plugins import IN_PARIS, PARIS, WEATHER, PluginTests, is_told
from server_outputs import Answer, entry_point_of, expected, pieces
from sglang_llama3_tools import register
from sglang_llama3_tools.detector import Llama3Detector


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SGLang find the detector as its server does."""
    others = {name: one for name, one in FunctionCallParser.ToolCallParserEnum.items() if name != "llama3_tools"}
    monkeypatch.setattr(FunctionCallParser, "ToolCallParserEnum", others)
    register()


def parser_of(tools: Iterable[dict[str, Any]] = (WEATHER,), kind: Any = None) -> FunctionCallParser:
    """What SGLang makes for an answer."""
    if kind is not None:
        FunctionCallParser.ToolCallParserEnum["llama3_tools"] = kind
    return FunctionCallParser([Tool.model_validate(tool) for tool in tools], "llama3_tools")


def made(calls: list[ToolCallItem]) -> Iterator[tuple[str, str]]:
    """The calls, each of which has come whole, under an index of its own."""
    for index, call in enumerate(calls):
        assert call.tool_index == index
        assert call.name
        yield call.name, call.parameters


class TestDetector(PluginTests):
    kind = Llama3Detector
    log = "sglang.llama3_tools"

    def whole(self, text: str, tools: Iterable[dict[str, Any]] = (WEATHER,), kind: Any = None) -> Answer:
        """SGLang asks first whether an answer is worth reading."""
        parser = parser_of(tools, kind)
        if not parser.has_tool_call(text):
            return Answer(text, [])
        content, calls = parser.parse_non_stream(text)
        return Answer(content, list(made(calls)))

    def streamed(self, chunks: list[str], tools: Iterable[dict[str, Any]] = (WEATHER,)) -> Answer:
        parser = parser_of(tools)
        found = [*(parser.parse_stream_chunk(chunk) for chunk in chunks), parser.parse_stream_end()]
        calls = list(made([call for _, calls in found for call in calls]))
        answer = Answer("".join(text for text, _ in found), calls)
        assert is_told(parser.detector, answer)
        return answer

    def expected(self, text: str) -> Answer:
        answer, is_read = expected(text), parser_of().has_tool_call(text)
        assert is_read or not answer.calls
        return answer if is_read else Answer(text, [])

    def test_prose_is_not_worth_reading(self) -> None:
        assert [parser_of().has_tool_call(text) for text in ("Prose.", PARIS, "[now()]")] == [False, True, True]

    def test_an_end_without_an_answer_brings_nothing(self) -> None:
        assert self.streamed([]) == Answer("", [])

    def test_a_tool_that_cannot_be_read_loses_no_text(self, caplog: pytest.LogCaptureFixture) -> None:
        tools = [WEATHER, WEATHER]
        assert self.whole(PARIS, tools) == self.streamed(pieces(PARIS, 3), tools) == Answer(PARIS, [])
        assert caplog.messages == ["no calls are read: tools[1]: the name 'get_weather' is declared twice"] * 2

    def test_the_model_is_held_to_a_form_that_is_read(self) -> None:
        detector = Llama3Detector()
        assert detector.get_structural_tag_name() == "llama"
        about = detector.structure_info()("get_weather")
        assert about.begin.startswith(about.trigger)
        assert self.whole(f'{about.begin}{{"city": "Paris"}}{about.end}').calls == [IN_PARIS]


def test_the_entry_point_is_what_registers() -> None:
    assert entry_point_of("sglang.srt.plugins") == f"{register.__module__}:{register.__name__}"
