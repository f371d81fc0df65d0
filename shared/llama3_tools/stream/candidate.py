"""What is being read token by token, and may become a call."""

from __future__ import annotations

from llama3_tools.reading.json_tokens import JsonTokens
from llama3_tools.reading.python_tokens import PythonTokens
from llama3_tools.text.growing_text import GrowingText

__all__ = ["Candidate"]


class Candidate:
    """What is being read token by token."""

    __slots__ = ("before", "flows", "kept", "name", "start", "tag", "tokens")

    def __init__(
        self, tokens: JsonTokens | PythonTokens | None, start: int, before: str, name: str | None = None
    ) -> None:
        self.tokens = tokens
        """What reads it; `None` for code, which has no grammar."""
        self.start = start
        self.before = before
        """The text before it, as far back as anyone looks."""
        self.name = name
        """The name of a pythonic call."""
        self.kept = GrowingText()
        """What was read of it; nothing of what is too long."""
        self.tag: str | None = None
        """The tool that the tag around it names."""
        self.flows = False
        """Whether it is too long for a call, so that its text is released as it comes."""

    @property
    def text(self) -> str:
        """What was read of it."""
        return self.kept.joined()

    def let_go(self) -> None:
        """Keep no more of it: it is too long."""
        self.flows = True
        self.kept = GrowingText()
