"""A finding of the doctor, and its names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

IN_BETWEEN = "put llama3-tools in between: it finds the calls in the text"
"""What to do about most of what a server loses."""

FindingCode: TypeAlias = Literal[
    "unreachable",
    "not_openai",
    "key_refused",
    "model_missing",
    "server_error",
    "server_busy",
    "too_slow",
    "gateway",
    "template_wrong",
    "tools_refused",
    "tools_ignored",
    "no_calls",
    "malformed_calls",
    "calls_as_text",
    "calls_lost",
    "calls_unreadable",
    "stream_differs",
    "thinks_long",
    "context_limit",
    "results_refused",
    "arguments_mistyped",
    "unknown_tool",
    "tool_choice_ignored",
    "finish_reason_wrong",
]
"""The name of a finding."""

StillWorks: TypeAlias = Literal["native", "text", "nothing"]
"""What works in spite of a finding: the server's own calls, only calls in the text, or nothing that is known."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or worth knowing."""

    code: FindingCode
    """Its name, for programs: `calls_as_text`."""
    what: str
    """What was found."""
    to_do: str
    """What to do about it."""
    is_fault: bool = True
    """Whether it is wrong; if not, it is a note."""
    still_works: StillWorks = "text"
    """What can be advised nevertheless. A note always has `native`: it is no reason against the server's own calls."""

    def __post_init__(self) -> None:
        """Let everything work in spite of a note."""
        if not self.is_fault:
            object.__setattr__(self, "still_works", "native")
