"""The keys and words of a suite's file. `suite.schema.json` beside it has the same, for editors."""

from __future__ import annotations

from typing import get_args

from llama3_acceptance.values import Equality, Mode, ResponseFormat, SuitePromptFormat, ToolsIn
from llama3_tools.formats import FormatName

KEYS = {
    "suite": ("$schema", "name", "tools", "prompt", "reading", "policies", "match", "cases"),
    "prompt": ("system", "format", "tools_in", "examples", "multiple", "response_format"),
    "reading": ("formats", "repair", "starts_reasoning"),
    "policies": ("text_calls", "direct_answers", "stringified_lists", "native_calls_only"),
    "match": ("equal", "tolerance", "unordered", "mode", "ignore"),
    "case": ("id", "command", "expect", "ordered", "direct_answer", "history", "tags"),
    "alternatives": ("any_of",),
    "call": ("tool", "arguments", "ignore", "defaults", "mode"),
    "rule": ("value", "any_of", "optional", "equal", "tolerance", "unordered"),
}
"""The keys of each kind of object."""

NO_CALL = "none"
"""What a case expects where the answer should be words."""

EQUALITIES: tuple[Equality, ...] = get_args(Equality)
FORMATS: tuple[FormatName, ...] = get_args(FormatName)
"""The forms of calls that can be read; or all of them, or none."""
MODES: tuple[Mode, ...] = get_args(Mode)
PROMPT_FORMATS: tuple[SuitePromptFormat, ...] = get_args(SuitePromptFormat)
RESPONSE_FORMATS: tuple[ResponseFormat, ...] = get_args(ResponseFormat)
ROLES = ("system", "user", "assistant", "tool")
TOOLS_IN: tuple[ToolsIn, ...] = get_args(ToolsIn)
