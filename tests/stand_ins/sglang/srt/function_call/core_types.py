"""What a detector returns."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel


class ToolCallItem(BaseModel):
    tool_index: int
    name: str | None = None
    parameters: str


class StreamingParseResult(BaseModel):
    normal_text: str = ""
    calls: list[ToolCallItem] = []


@dataclass
class StructureInfo:
    begin: str
    end: str
    trigger: str
