"""A finding of the doctor, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

IN_BETWEEN = "put llama3-tools in between, as shown below: it finds the calls in the text"
"""What to do about most of what a server loses."""

FindingCode: TypeAlias = Literal[
    "unreachable",
    "not_openai",
    "key_refused",
    "model_missing",
    "server_error",
    "too_slow",
    "empty_answer",
    "server_busy",
    "gateway",
    "tools_refused",
    "tools_failed",
    "tools_ignored",
    "no_calls",
    "malformed_calls",
    "calls_lost",
    "calls_as_text",
    "second_call_lost",
    "text_lost",
    "stream_differs",
    "stream_broken",
    "prompt_cut_off",
    "prompt_failed",
    "thinks_long",
    "context_limit",
    "no_usage",
    "tool_role_refused",
    "null_content_refused",
    "arguments_mistyped",
    "arguments_unreadable",
    "unknown_tool",
    "ids_missing",
    "tool_choice_ignored",
    "tool_choice_refused",
    "finish_reason_wrong",
    "tokens_left",
    "not_asked",
]
"""What a finding is called."""

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
    """What can be advised all the same. A note is no reason against the server's own calls: it always has `native`."""

    def __post_init__(self) -> None:
        """Let everything work in spite of a note."""
        if not self.is_fault:
            object.__setattr__(self, "still_works", "native")
