"""What is being read token by token, and may become a call."""

from __future__ import annotations

from llama3_tools.reading.json_tokens import JsonTokens
from llama3_tools.reading.python_tokens import PythonTokens

__all__ = ["Candidate"]


class Candidate:
    """What is being read token by token."""

    __slots__ = ("before", "flows", "kept", "name", "start", "tokens")

    def __init__(
        self, tokens: JsonTokens | PythonTokens | None, start: int, before: str, name: str | None = None
    ) -> None:
        self.tokens = tokens
        """What reads it; `None` for code, which has no grammar."""
        self.start = start
        self.before = before
        """The text before it, as far as anyone looks behind."""
        self.name = name
        """The name of a pythonic call."""
        self.kept: list[str] = []
        """What was read of it, in pieces."""
        self.flows = False
        """Whether it is too long for a call, so that its text is released as it comes."""
