"""The interface of a detector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.core_types import StreamingParseResult, StructureInfo


class BaseFormatDetector(ABC):
    def __init__(self) -> None:
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.current_tool_id: int = -1
        self.current_tool_name_sent: bool = False
        self.streamed_args_for_tool: list[str] = []

    @abstractmethod
    def detect_and_parse(self, text: str, tools: list[Tool]) -> StreamingParseResult: ...

    @abstractmethod
    def has_tool_call(self, text: str) -> bool: ...

    @abstractmethod
    def structure_info(self) -> Callable[[str], StructureInfo]: ...

    def parse_streaming_increment(self, new_text: str, tools: list[Tool]) -> StreamingParseResult:
        raise NotImplementedError

    def finish(self, tools: list[Tool]) -> StreamingParseResult:
        raise NotImplementedError

    def get_structural_tag_name(self) -> str | None:
        return None
