"""Text that waits until it is known whether the model is asked again, or whether an object in it is the call."""

from __future__ import annotations

import re

from llama3_tools.text.growing_text import GrowingText

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


class HeldText:
    """Holds an answer back from where an attempt begins, or an object where a call is due, and no more than that.

    >>> held = HeldText(for_retry=True)
    >>> held.let_out("Hm. {oops", "{oops"), held.let_out("}", "{oops"), held.text
    ('Hm.', '', ' {oops}')
    >>> held.let_out(" was meant.", None)
    ' {oops} was meant.'
    """

    def __init__(self, *, for_retry: bool, for_due: bool = False) -> None:
        """Begin an answer.

        Args:
            for_retry: whether the model may be asked again.
            for_due: whether an object may be the call that is due.
        """
        self.is_on = for_retry or for_due
        """Whether anything is held. It ends with a call that runs: the answer then stays."""
        self._for_due = for_due
        self._held = GrowingText()
        self._attempt: str | None = None
        """The attempt from which on text is held."""
        self._missed: str | None = None
        """The attempt that was not in the text when it was last looked for."""
        self._takes_all = False

    @property
    def text(self) -> str:
        """What is held."""
        return self._held.joined()

    def take_all(self) -> None:
        """Hold all that follows: a call was refused that is not in the text."""
        self._takes_all = True

    def let_out(self, text: str, attempt: str | None) -> str:
        """Add the next text, and return what may go out.

        Args:
            text: the text.
            attempt: what the model wrote for the first attempt so far, if there is one. Another text may show that it
                was none: what it held then goes out.
        """
        self._held.add(text)
        if self._takes_all or text.isspace() or (attempt is not None and attempt == self._attempt):
            return ""
        held = self._held.joined()
        at = len(held) if attempt is None else held.find(attempt)
        if at >= 0 or attempt == self._missed:  # its text may come with the next event; else it has gone out already
            self._attempt = attempt
        self._missed = attempt
        if self._for_due and (begin := _MAY_BE_OBJECT.search(held, 0, max(at, 0))):
            at, self._takes_all = begin.start(), True
        out = held[: max(at, 0)]
        if attempt is not None and (markup := _MARKUP_BEFORE.search(out, max(len(out) - _LONGEST_MARKUP, 0))):
            out = out[: markup.start()]
        elif attempt is None and (named := _MAY_NAME.search(out, max(len(out) - _LONGEST_MARKUP, 0))):
            out = out[: named.start()]
        out = out.rstrip()
        self._held = GrowingText(held[len(out) :])
        return out

    def release(self) -> str:
        """Return what is held. Nothing more is."""
        self.is_on = False
        held, self._held = self.text, GrowingText()
        return held
