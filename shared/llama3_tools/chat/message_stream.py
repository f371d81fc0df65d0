"""The strict response format in a stream: the text of its message goes out while it is written."""

from __future__ import annotations

import json
import re
from os.path import commonprefix

from llama3_tools.values import CallProgress, Event, TextDelta

_BEGIN = re.compile(r'\{\s*"message"\s*:\s*"')
_MAY_BEGIN = re.compile(r'(\{\s*("(m(e(s(s(a(g(e("(\s*(:\s*)?)?)?)?)?)?)?)?)?)?)?)?')
_INSIDE = re.compile(
    r'(?:[^"\\\x00-\x1f\ud800-\udfff]'
    r'|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB]..\\u[dD][c-fC-F]..))*'
)
"""A piece of a string that can be decoded: it ends before what JSON does not have, and before half an escape."""
_END = re.compile(
    r"(?:\s|\\(?:[fnrt]|u(?:000[9a-dA-D]|001[c-fC-F]|0020|0085|00[aA]0|1680|200[0-9aA]|202[89fF]|205[fF]|3000)))*\Z"
)
"""White space, which is none of the content at the end of the message."""


class MessageStream:
    r"""Shows the message of a response object as it comes, before the events of what reads the answer.

    What the object is in the end, the one reader says. If it is none, what was shown stays at the beginning of the
    content, and the rest follows as it was written.

    >>> from llama3_tools import Extractor
    >>> message, stream = MessageStream(), Extractor([{"name": "now"}]).stream()
    >>> for text in ('{"message": "Let me se', 'e.", "tool_call": {"name": "now", "arguments": {}}'):
    ...     print(message.feed(text, stream.feed(text)))
    [TextDelta(text='Let me se')]
    [TextDelta(text='e.')]
    >>> [event.tool_call.name for event in message.feed("}", stream.feed("}"))]
    ['now']
    """

    def __init__(self) -> None:
        """Begin an answer."""
        self._tail = ""
        """What was not shown yet."""
        self._at = 0
        """How much of it was read, and may be white space."""
        self._raw: list[str] = []
        """What was, as it was written, from the brace on."""
        self._shown: list[str] = []
        self._is_open = True
        """Whether more of the message may come."""
        self._skipped: str | None = None
        """What of the reader's text was shown, once it has some: what is left of it."""

    def feed(self, text: str, events: list[Event]) -> list[Event]:
        """Add the next text and the events that it made certain, and return those to go on with."""
        shown = self._show(text)
        is_open = all(isinstance(event, CallProgress) for event in events)
        return [*shown, *(events if is_open else self.end(events))]

    def end(self, events: list[Event]) -> list[Event]:
        """Return events without the text that was shown. An object that is not a response stays as written."""
        self._is_open = False
        left: list[Event] = []
        for event in events:
            if isinstance(event, TextDelta) and self._skipped != "":
                text, known = self._compared(event.text) if self._skipped is None else (event.text, self._skipped)
                same = len(commonprefix([text, known]))  # noqa: RUF071 (characters are meant)
                self._skipped = known[same:] if same == len(text) else ""
                if text[same:]:
                    left.append(TextDelta(text[same:]))
            else:
                left.append(event)
        return left

    def _show(self, text: str) -> list[Event]:
        """Return what can be shown of the message."""
        if not self._is_open:
            return []
        self._tail += text
        if not self._raw:
            self._tail = self._tail.lstrip()
            begin = _BEGIN.match(self._tail)
            self._is_open = begin is not None or _MAY_BEGIN.fullmatch(self._tail) is not None
            if begin is None:
                return []
            self._cut(begin.end())
        inside = _INSIDE.match(self._tail, self._at)
        assert inside is not None  # noqa: S101  # it may match nothing
        start, self._at = self._at, inside.end()
        self._is_open = self._tail[self._at : self._at + 1] in {"", "\\"}
        end = _END.search(inside[0])
        assert end is not None  # noqa: S101  # the same
        if not end.start():
            return []
        cut = start + end.start()
        shown: str = json.loads(f'"{self._tail[:cut]}"')
        self._shown.append(shown if self._shown else shown.lstrip())
        self._cut(cut)
        return [TextDelta(self._shown[-1])]

    def _cut(self, end: int) -> None:
        """Remove from the tail what was read."""
        self._raw.append(self._tail[:end])
        self._tail, self._at = self._tail[end:], max(self._at - end, 0)

    def _compared(self, text: str) -> tuple[str, str]:
        """Return the reader's text, and what of it was shown: the message, or what was written, if that was none."""
        written, shown = text.lstrip(), "".join(self._shown)
        begin = self._raw[0] if shown else ""
        is_written = shown and begin[: len(written)] == written[: len(begin)]
        return (written, "".join(self._raw)) if is_written else (text, shown)
