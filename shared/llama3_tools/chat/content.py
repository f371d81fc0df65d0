"""An answer as it grows: what the model wrote, what it thought, and the content that is read of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from llama3_tools.chat.messages import content_of
from llama3_tools.reader.markup import search_end_of_turn
from llama3_tools.text.growing_text import GrowingText
from llama3_tools.values import Span

BLANK_LINE = "\n\n"

_MAY_BE_OBJECT = re.compile(r"[{`]")
_MARKUP_BEFORE = re.compile(
    r"(?:\s|<[^<>\n]{1,64}>|\[[A-Z_]{2,32}\]|```\w{0,32}|[\[(`*]|\{\s{0,4}[\"']?\w{1,32}[\"']?\s{0,4}:\s{0,4}[\"']?)*\Z"
)
"""What goes with an attempt, which is of no use without that: markup, and the key before the tool's name."""
_MAY_NAME = re.compile(
    r"\{\s{0,4}(?:\w{1,32}\s{0,4}(?::\s{0,4}[\"']?[\w.-]{0,64}[\"']?\s{0,4}(?:,\s{0,4}\w{0,32})?)?)?\Z"
)
"""An object in JavaScript's form that may name a tool: `{name: "search", parameters`."""
_LONGEST_MARKUP = 256


class Content:
    """Holds an answer back from where an attempt begins, or an object where a call is due, and no more than that.

    >>> content = Content(lambda: "{oops", for_retry=True)
    >>> content.add("Hm. {oops"), content.add("}"), content.held
    ('Hm.', '', ' {oops}')
    >>> content.release(), content.whole(has_calls=False)
    (' {oops}', 'Hm. {oops}')
    """

    def __init__(self, first_attempt: Callable[[], str | None], *, for_retry: bool, for_due: bool = False) -> None:
        """Begin an answer.

        Args:
            first_attempt: returns what the model wrote for the first attempt so far, if there is one. More text may
                show that it was none: what it held then goes out.
            for_retry: whether the model may be asked again.
            for_due: whether an object may be the call that is due.
        """
        self._is_given = False
        self._first_attempt = first_attempt
        self._holds = for_retry or for_due
        """Whether anything is held. It ends with a call that runs: the answer then stays."""
        self._for_due = for_due
        self._out: list[Any] = []
        """What has gone out: texts that grow, and parts."""
        self._held = GrowingText()
        self._attempt: str | None = None
        """The attempt from which on text is held."""
        self._missed: str | None = None
        """The attempt that was not in the text when it was last looked for."""
        self._holds_all = False
        self._has_text = False
        self._is_after_call = False
        """Whether the last text was a call: the reader's next one may not begin with a space."""

    @property
    def held(self) -> str:
        """The text that is held."""
        return self._held.joined()

    @property
    def text_out(self) -> str:
        """The text that has gone out."""
        return "".join(one.joined() for one in self._out if isinstance(one, GrowingText))

    def note_content(self) -> None:
        """Note that the server has sent a content, be it empty."""
        self._is_given = True

    def add(self, text: str) -> str:
        """Add the next text that was read, and return what may go out."""
        separator = " " if self._is_after_call and not text[0].isspace() else ""
        self._is_after_call = False
        return self._add(separator + text)

    def add_call(self, text: str) -> str:
        """Add a call that does not run, and return what may go out."""
        separator = " " if self._has_text else ""
        self._is_after_call = True
        return self._add(separator + text)

    def add_part(self, part: object) -> str:
        """Add a part other than text, and return the text before it. Nothing more is held."""
        before = self.release()
        self._out.append(part)
        return before

    def hold_all(self) -> None:
        """Hold all that follows: a call was refused that is not in the text that was read."""
        self._holds_all = True

    def release(self, instead: str | None = None) -> str:
        """Return what is held, or what is to take its place. Nothing more is held."""
        self._holds = False
        held, self._held = self.held if instead is None else instead, GrowingText()
        return self._let_out(held)

    def whole(self, *, has_calls: bool) -> str | list[Any] | None:
        """Return the whole content, held text included."""
        pieces = [one.joined() if isinstance(one, GrowingText) else one for one in (*self._out, self._held)]
        content = content_of([piece for piece in pieces if piece != ""])
        if has_calls and isinstance(content, str):
            content = content.lstrip()
        return content or ("" if self._is_given and not has_calls else None)

    def _add(self, text: str) -> str:
        self._has_text = self._has_text or not text.isspace()
        if not self._holds:
            return self._let_out(text)
        self._held.add(text)
        attempt = self._first_attempt()
        if self._holds_all or text.isspace() or (attempt is not None and attempt == self._attempt):
            return ""
        held = self.held
        at = len(held) if attempt is None else held.find(attempt)
        if at >= 0 or attempt == self._missed:  # its text may come with the next event; else it has gone out already
            self._attempt = attempt
        self._missed = attempt
        if self._for_due and (begin := _MAY_BE_OBJECT.search(held, 0, max(at, 0))):
            at, self._holds_all = begin.start(), True
        out = held[: max(at, 0)]
        if attempt is not None and (markup := _MARKUP_BEFORE.search(out, max(len(out) - _LONGEST_MARKUP, 0))):
            out = out[: markup.start()]
        elif attempt is None and (named := _MAY_NAME.search(out, max(len(out) - _LONGEST_MARKUP, 0))):
            out = out[: named.start()]
        out = out.rstrip()
        self._held = GrowingText(held[len(out) :])
        return self._let_out(out)

    def _let_out(self, text: str) -> str:
        if not self._out or not isinstance(self._out[-1], GrowingText):
            self._out.append(GrowingText())
        self._out[-1].add(text)
        return text


class Written:
    """The text of the model, as it came."""

    def __init__(self) -> None:
        self._settled: list[str] = []
        """What is before the end of the last call."""
        self._settled_to = 0
        """How many characters that has."""
        self._recent = GrowingText()
        """What has come since."""

    def add(self, text: str) -> None:
        """Add the next text."""
        self._recent.add(text)

    def take_call(self, span: Span) -> bool:
        """Note where the next call is, and return whether a token before it ends a turn."""
        recent, start, end = self._recent.joined(), *(place - self._settled_to for place in span)
        self._settled.append(recent[:end])
        self._settled_to = span[1]
        self._recent = GrowingText(recent[end:])
        return search_end_of_turn(recent, 0, start) is not None

    @property
    def text(self) -> str:
        """All of it."""
        self._settled = ["".join(self._settled)]
        return self._settled[0] + self._recent.joined()


class Thoughts:
    """What the model thought: what the server sends as such, and what is split off the text, a blank line apart."""

    def __init__(self, *, follow: bool) -> None:
        self._text = GrowingText()
        self._from_server = True
        self._separator = BLANK_LINE if follow else ""

    def add(self, text: str, *, from_server: bool) -> dict[str, Any]:
        """Add the next text, and return its delta."""
        if self._text and self._from_server is not from_server:
            text = f"{BLANK_LINE}{text.lstrip()}"
        self._from_server = from_server
        self._text.add(text)
        separator, self._separator = self._separator, ""
        return {"reasoning_content": separator + text}

    @property
    def text(self) -> str:
        """All of them."""
        return self._text.joined()

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self._text)
