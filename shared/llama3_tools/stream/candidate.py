"""What is held back while it is read, as it may become a call."""

from __future__ import annotations

from llama3_tools.formats.code_interpreter import CODE_INTERPRETER
from llama3_tools.literals.json_tokens import JsonTokens
from llama3_tools.literals.python_tokens import PythonTokens
from llama3_tools.text.growing_text import GrowingText

__all__ = ["Candidate", "Code", "HeldBack"]


class HeldBack:
    """Text that is held back while it is read; if it gets too long for a call, it is released as it comes."""

    __slots__ = ("flows", "kept", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        """The offset of its first character."""
        self.kept = GrowingText()
        """What was read of it; nothing of what is too long."""
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


class Candidate(HeldBack):
    """An object, a dict of Python, or a pythonic call, read token by token."""

    __slots__ = ("before", "is_pythonic", "name", "tag", "tokens")

    def __init__(
        self,
        tokens: JsonTokens | PythonTokens,
        start: int,
        before: str,
        *,
        name: str | None = None,
        tag: str | None = None,
    ) -> None:
        super().__init__(start)
        self.tokens = tokens
        """What reads it."""
        self.before = before
        """The text before it, as far back as anyone looks."""
        self.name = name
        """The name of a pythonic call."""
        self.is_pythonic = name is not None
        """Whether it is a pythonic call, rather than an object or a dict."""
        self.tag = tag
        """The tool that the tag around it names, if one does."""

    @property
    def tool(self) -> str | None:
        """The tool that it calls, unless only its members say so."""
        return self.name or self.tag


class Code(HeldBack):
    """Code after `<|python_tag|>`, which has no grammar: the next token ends it."""

    __slots__ = ()

    @property
    def tool(self) -> str:
        """The tool that it calls."""
        return CODE_INTERPRETER
