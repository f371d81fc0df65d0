"""The strict response format in a stream: the text of its message goes out while it is written."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from llama3_tools.reader.stream import ExtractionStream
from llama3_tools.values import CallProgress, Event, Extraction, TextDelta

__all__ = ["MessageStream"]

_BEGIN = re.compile(r'\{\s*"message"\s*:\s*"')
_MAY_BEGIN = re.compile(r'(\{\s*("(m(e(s(s(a(g(e("(\s*(:\s*)?)?)?)?)?)?)?)?)?)?)?)?')
_INSIDE = re.compile(
    r'(?:[^"\\\ud800-\udfff]|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB]..\\u[dD][c-fC-F]..))*'
)
"""A piece of a string that can be decoded: it ends before half an escape, and before half a surrogate pair."""


class MessageStream:
    r"""Reads an answer like an `ExtractionStream`, and shows the message of a response object as it comes.

    What the object is in the end, the one reader says. If it is none, what was shown stays at the beginning of the
    content, and the rest follows as it was written.

    >>> from llama3_tools import Extractor
    >>> stream = MessageStream(Extractor([{"name": "now"}]).stream())
    >>> stream.feed('{"message": "Let me se')
    [TextDelta(text='Let me se')]
    >>> stream.feed('e.", "tool_call": {"name": "now", "arguments": {}}')
    [TextDelta(text='e.')]
    >>> [event.tool_call.name for event in stream.feed("}")]
    ['now']
    """

    def __init__(self, stream: ExtractionStream) -> None:
        """Take what reads the answer."""
        self._stream = stream
        self._tail = ""
        """What was not decoded yet."""
        self._decoded_to = 0
        """How many characters were, from the brace on: what is before the message counts as decoded."""
        self._shown: list[str] = []
        self._blank = ""
        """White space that was decoded, and may be the end of the message."""
        self._is_open = True
        """Whether more of the message may come."""
        self._skip: int | None = None
        """How many characters of the reader's text were shown, once it has some."""

    @property
    def extraction(self) -> Extraction:
        """The answer so far, as an `ExtractionStream` has it."""
        extraction, shown = self._stream.extraction, "".join(self._shown)
        content = extraction.content
        if content is None or content.startswith(shown):
            return extraction
        return replace(extraction, content=shown + self._blank + content.lstrip()[self._decoded_to :])

    def feed(self, text: str) -> list[Event]:
        """Take the next text, and return what became certain."""
        shown, events = self._show(text), self._stream.feed(text)
        is_open = all(isinstance(event, CallProgress) for event in events)
        return [*shown, *(events if is_open else self._without_shown(events))]

    def flush(self, *, complete: bool) -> list[Event]:
        """Take the end of the answer, and return what was held back."""
        return self._without_shown(self._stream.flush(complete=complete))

    def abort(self) -> list[Event]:
        """Take the news that the stream broke off, and return what was held back, as text."""
        return self._without_shown(self._stream.abort())

    def _show(self, text: str) -> list[Event]:
        """Return what can be shown of the message."""
        if not self._is_open:
            return []
        self._tail += text
        begin = None
        if not self._decoded_to:
            self._tail = self._tail.lstrip()
            begin = _BEGIN.match(self._tail)
            self._is_open = begin is not None or _MAY_BEGIN.fullmatch(self._tail) is not None
            if begin is None:
                return []
        inside = _INSIDE.match(self._tail, begin.end() if begin else 0)
        assert inside is not None  # noqa: S101  # it may match nothing
        self._is_open = not self._tail.startswith('"', inside.end())
        self._decoded_to += inside.end()
        self._tail = self._tail[inside.end() :]
        decoded = self._blank + json.loads(f'"{inside[0]}"', strict=False)
        decoded = decoded if self._shown else decoded.lstrip()
        shown = decoded.rstrip()
        self._blank = decoded[len(shown) :]
        if not shown:
            return []
        self._shown.append(shown)
        return [TextDelta(shown)]

    def _without_shown(self, events: list[Event]) -> list[Event]:
        """Take what was shown out of the reader's text."""
        self._is_open = False
        left: list[Event] = []
        for event in events:
            if isinstance(event, TextDelta) and (self._skip is None or self._skip):
                text = event.text
                if self._skip is None:
                    shown = "".join(self._shown)
                    is_message = text.startswith(shown)
                    self._skip = len(shown) if is_message else self._decoded_to + len(text) - len(text.lstrip())
                    text = text if is_message else text[: self._skip] + self._blank + text[self._skip :]
                skipped, self._skip = self._skip, max(self._skip - len(text), 0)
                if text[skipped:]:
                    left.append(TextDelta(text[skipped:]))
            else:
                left.append(event)
        return left
