"""A stream: one turn that is fed in chunks. One-shot extraction is the same, given the whole output."""

from __future__ import annotations

from collections.abc import Callable

from llama3_tools.errors import StreamStateError, require_bool, require_str
from llama3_tools.reader.content import Trace
from llama3_tools.reader.machine import finish, read
from llama3_tools.reader.progress import Progress
from llama3_tools.reader.turn import Turn
from llama3_tools.values import Event, Extraction, Rejection


class ExtractionStream:
    """Reads one model turn in chunks, and returns text and calls as soon as they are certain.

    Made by `Extractor.stream()`. However an output is cut into chunks, text and calls are the same. Progress events
    depend on the chunks.

    >>> from llama3_tools import Extractor
    >>> stream = Extractor().stream()
    >>> stream.feed('Let me check. {"name": "get_weather", "param')
    [TextDelta(text='Let me check.')]
    >>> stream.feed('eters": {"city": "Paris"}}')
    [ToolCallReady(tool_call=<ToolCall get_weather({"city": "Paris"}) json 14:70>)]
    >>> stream.flush()
    []
    >>> stream.extraction.content
    'Let me check.'
    """

    __slots__ = ("_ended_by", "_extraction", "_is_open", "_progress", "_turn")

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._progress = Progress() if turn.rules.options.progress else None
        self._is_open = True
        """Whether more may come: not while it reads, nor after an exception or the end."""
        self._extraction: Extraction | None = None
        self._ended_by = ""

    def keep_trace(self) -> Trace:
        """Return where the pieces of the output that are content or reasoning, and quotation, will be."""
        turn = self._turn
        return turn.content.keep_trace(is_quoted=turn.quotation.region is not None)

    def feed(self, chunk: str) -> list[Event]:
        """Read the next chunk, of any length.

        Returns:
            The events that the chunk made certain, in order. White space at the end of text is held back until it is
            known what follows.

        Raises:
            TypeError: the chunk is not a `str`.
            StreamStateError: the turn is over, or the stream broke off with an exception of `id_factory`.
        """
        if type(chunk) is not str:
            require_str(chunk, "feed() takes a str")
        if not self._is_open:
            self._require_open("feed()")
        if not chunk:
            return []
        self._is_open = False
        read(self._turn, chunk)
        self._is_open = True
        return self._turn.content.take_events() if self._progress is None else self._events()

    def flush(self, *, complete: bool = True) -> list[Event]:
        """End the output, and return what was held back.

        Args:
            complete: whether the model ended its turn, rather than a limit (finish reason `length` or
                `content_filter`). If not, open code is not a call (principle 6).

        Returns:
            The last events, in order.

        Raises:
            StreamStateError: the turn is over, or the stream broke off with an exception of `id_factory`.
            TypeError: `complete` is not a `bool`.
        """
        require_bool(complete=complete)
        self._require_open("flush()")
        return self._end("flush()", complete=complete)

    def abort(self) -> list[Event]:
        """End a stream that was interrupted. Held-back output becomes text; no call is made (principle 6).

        Returns:
            The events of that text.

        Raises:
            StreamStateError: the turn is over, or the stream broke off with an exception of `id_factory`.
        """
        self._require_open("abort()")
        return self._end("abort()", aborted=True)

    @property
    def extraction(self) -> Extraction:
        """What `Extractor.extract` returns for the whole output, ids aside; after `abort()`, what was certain.

        Raises:
            StreamStateError: the turn is not over yet.
        """
        if self._extraction is None:
            raise StreamStateError("extraction before flush(): call flush() once the model has written all")
        return self._extraction

    def first_rejection(self, wanted: Callable[[Rejection], bool]) -> Rejection | None:
        """Return the first rejection so far that is wanted. What is not decided yet counts as an attempt.

        Args:
            wanted: whether one is wanted. It has to be the same in each call.
        """
        return self._turn.rejections.first(self._turn.content.calls, wanted)

    def read_whole(self, text: str, *, complete: bool = True) -> Extraction:
        """Read a whole output on a fresh stream, and end the turn.

        Args:
            text: the output.
            complete: as in `flush`.

        Returns:
            The content and the calls, as `extraction` does from then on.

        Raises:
            Exception: whatever `id_factory` raises.
        """
        self._ended_by, self._is_open = "read_whole()", False
        self._turn.window.add(text)
        self._extraction = extraction = finish(self._turn, complete=complete)
        return extraction

    def _require_open(self, verb: str) -> None:
        if self._extraction is not None:
            raise StreamStateError(
                f"{verb} after {self._ended_by}: the turn is over; call Extractor.stream() for the next one"
            )
        if not self._is_open:
            raise StreamStateError("the stream broke off with an exception, from id_factory: begin the turn anew")

    def _end(self, verb: str, *, complete: bool = True, aborted: bool = False) -> list[Event]:
        self._ended_by = verb
        self._is_open = False
        self._extraction = finish(self._turn, complete=complete, aborted=aborted)
        return self._events()

    def _events(self) -> list[Event]:
        events = self._turn.content.take_events()
        return events if self._progress is None else events + self._progress.events(self._turn)
