"""What SGLang reads answers by: the detector that its option names."""

from __future__ import annotations

from typing import ClassVar

from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import ToolCallItem


class FunctionCallParser:
    ToolCallParserEnum: ClassVar[dict[str, type[BaseFormatDetector]]] = {}

    def __init__(self, tools: list[Tool], tool_call_parser: str) -> None:
        self.tools = tools
        self.detector = self.ToolCallParserEnum[tool_call_parser]()

    def has_tool_call(self, text: str) -> bool:
        return bool(self.tools) and self.detector.has_tool_call(text)

    def parse_non_stream(self, full_text: str) -> tuple[str, list[ToolCallItem]]:
        if not self.tools:
            return full_text, []
        has_tool_call = self.detector.has_tool_call(full_text)
        found = self.detector.detect_and_parse(full_text, self.tools)
        return (found.normal_text, found.calls) if found.calls or has_tool_call else (full_text, [])

    def parse_stream_chunk(self, chunk_text: str) -> tuple[str, list[ToolCallItem]]:
        if not self.tools:
            return chunk_text, []
        found = self.detector.parse_streaming_increment(chunk_text, self.tools)
        return found.normal_text, found.calls

    def parse_stream_end(self) -> tuple[str, list[ToolCallItem]]:
        if not self.tools:
            return "", []
        found = self.detector.finish(self.tools)
        return found.normal_text, found.calls
