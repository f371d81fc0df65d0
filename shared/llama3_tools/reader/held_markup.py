"""The markup since the last text or call, and the place where it began (principle 2)."""

from __future__ import annotations

import re
from collections.abc import Container

from llama3_tools.reader.attempts import line_before
from llama3_tools.reader.content import CALL, Content
from llama3_tools.reader.markup import search_markup_for_calls
from llama3_tools.reader.quotation import IN_BLOCKQUOTE, IN_RESULT, Quotation
from llama3_tools.reader.surroundings import FREE, PART, Place, Surroundings
from llama3_tools.reader.window import Window

_KEPT = 1024
"""How much of the markup before a candidate is kept."""
_LINE = 64
_SENTENCE_ENDS = ("", "\n", ".", "!", "?", ":", ";", "…", ">", "}", "`", ")", "]", "。", "！", "？")  # noqa: RUF001
"""The ends of text after which `<|python_tag|>` may begin code: never in the middle of a sentence."""
_TAGS = re.compile(r"<([A-Za-z][\w.:-]*)(?:[^<>]*?\bname=[\"']?([\w.:-]+))?[^<>]*>").findall
_ON_LINE = (IN_BLOCKQUOTE, IN_RESULT)
_LETS_CALL_STAND = re.compile(r"(?:[\[\]`~]|[|\uff5c]>|>>>|functools)\s*\Z").search


class HeldMarkup:
    """The markup that is held back until something follows."""

    def __init__(
        self, window: Window, around: Surroundings, quotation: Quotation, content: Content, names: Container[str]
    ) -> None:
        self._window = window
        self._around = around
        self._quotation = quotation
        self._content = content
        self._names = names
        self.text = ""
        """The end of the markup; empty if there is none."""
        self.quoted: str | None = None
        self.place = FREE
        """What the place is in where it began."""
        self.before = ""
        self.list_before = ""
        """What is before the list that is open, on its line."""
        self.may_be_code = False
        """Whether code may begin there."""
        self.opened = ""
        """The name of the last tag before a call, while it is open: calls in it wait for its end."""
        self.in_list = False
        """Whether a list of pythonic calls is open."""

    def add(self, piece: str, at: int) -> None:
        """Add markup that begins at an index."""
        if not self.text and self._content.last is not CALL:
            self.note(at + len(piece) - len(piece.lstrip()))
        self.text = (self.text + piece.strip())[-_KEPT:]

    def add_run(self, run: re.Match[str], piece: str, at: int) -> None:
        """Add a run of markup, delimiters and white space that begins at an index."""
        if not piece.isspace():
            self.add(piece, at)
            opened, closed = run.group("open", "close")
            if closed is not None:
                is_closed = opened is None or run.start("open") < run.start("close")  # `<a></a>`, not `</a><b>`
                self.opened = "" if is_closed else opened
            elif opened is not None:
                self.opened = opened
        if self.quoted is not None and self.quoted in _ON_LINE and "\n" in piece:
            self.quoted = None  # the line ends that is quotation

    def open_list(self) -> None:
        """Note that a list of pythonic calls opens."""
        self.in_list, self.list_before = True, self.before

    def close_list(self) -> None:
        """Note that it closes."""
        self.in_list = False

    def end_call(self) -> None:
        """Note that a call ends."""
        self.text, self.quoted, self.place, self.may_be_code, self.before = "", None, FREE, True, ""

    def clear(self, *, keep_list: bool = False) -> None:
        """Note that text or a region follows: the markup is text, and its tag wraps no call."""
        self.text, self.opened = "", ""
        self.in_list = self.in_list and keep_list

    @property
    def is_for_calls(self) -> bool:
        """Whether there is markup whose only use is calls."""
        return search_markup_for_calls(self.text) is not None

    @property
    def has_python_tag(self) -> bool:
        """Whether `<|python_tag|>` is in it: the end of the output closes that."""
        return "<|python_tag|>" in self.text

    def line_before(self, at: int) -> str:
        """Return what is before a candidate at an index, or before the markup around it, on its line."""
        if self.in_list:
            return self.list_before
        if self.text:
            return self.before
        return self._line_before(at)

    @property
    def lets_call_stand(self) -> bool:
        """Whether a pythonic call may come after it, anywhere on a line."""
        return self.in_list or self.is_for_calls or _LETS_CALL_STAND(self.text) is not None

    def why_quoted(self, at: int) -> str | None:
        """Return why a candidate at an index, or the markup before it, is quoted; `None` if it is not."""
        return self.quoted if self.text else self._quotation.why(at)

    def place_of(self, at: int) -> Place:
        """Return the place of a candidate, or of the markup before it."""
        if not self.text:
            return self._around.place(at)
        return PART if self._is_in_tag_of_tool else self.place

    @property
    def _is_in_tag_of_tool(self) -> bool:
        """Whether a tag is open in that of a declared tool: `<write><content>`, `<invoke name="write"><content>`."""
        if self.text.count("<") == 1 or "</" in self.text:
            return False
        return any(tag in self._names or named in self._names for tag, named in _TAGS(self.text)[:-1])

    def note(self, at: int) -> None:
        """Note the facts about the index at which markup begins; after a call, they are known."""
        self.before = self._line_before(at)
        self.quoted = self._quotation.why(at)
        self.place = self._around.place(at)
        self.may_be_code = self._window.text[max(at - _LINE, 0) : at].rstrip(" \t")[-1:] in _SENTENCE_ENDS

    def _line_before(self, at: int) -> str:
        """Return what is before an index on its line, after the last call, which may wait still."""
        content = self._content
        last = content.waiting[-1].call if content.waiting else content.calls[-1] if content.calls else None
        return line_before(self._window.text, at, last.span[1] - self._window.base if last else 0)
