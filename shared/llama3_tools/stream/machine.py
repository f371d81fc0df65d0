"""The incremental machine. One-shot extraction is this machine, fed once.

It looks for the beginnings of wire formats, lets a reader read on, and files what comes out: calls and text to
the content, what was no call to the rejections. It does no I/O and knows no format.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from llama3_tools.calls.reader import CallReader, Parts, Scope
from llama3_tools.errors import StreamStateError, require_str
from llama3_tools.formats import Reads
from llama3_tools.formats.base import Candidate, IsCall, IsReasoning, IsText, Outcome, WireFormat
from llama3_tools.limits import Limits
from llama3_tools.reading.json_scan import refuse_too_long
from llama3_tools.reading.source import Source
from llama3_tools.stream.content import Content
from llama3_tools.stream.quotation import Line
from llama3_tools.values import Event, Extraction, Rejection, RejectionReason, Span

__all__ = ["ExtractionStream"]

_BARE = Scope("json")


class ExtractionStream:
    """Takes the output of one model turn in chunks, and hands out text and calls as soon as they are certain.

    Made by `Extractor.stream()`. For every way to cut an output into chunks the events are the same, once
    neighbouring text deltas are joined.

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

    __slots__ = (
        "_calls",
        "_content",
        "_extraction",
        "_is_reading",
        "_limits",
        "_line",
        "_machine",
        "_reads",
        "_rejections",
        "_source",
    )

    def __init__(self, calls: CallReader, reads: Reads, limits: Limits, *, keep_content: bool = True) -> None:
        self._calls = calls
        self._reads = reads
        self._limits = limits
        self._source = Source()
        self._content = Content(is_kept=keep_content)
        self._line = Line()
        self._rejections: list[Rejection] = []
        self._extraction: Extraction | None = None
        self._is_reading = False
        """Whether the machine is at work. Between two calls it is not, unless an exception ended it."""
        self._machine = self._run()

    def feed(self, chunk: str) -> list[Event]:
        """Take the next chunk, of any length.

        Returns:
            The events that the chunk made certain, in order. White space at the end of text is held back until
            it is known what follows.

        Raises:
            TypeError: the chunk is not a `str`.
            StreamStateError: the stream was flushed, or broke off with an exception of `id_factory`.
        """
        require_str(chunk, "feed() takes a str")
        if self._extraction is not None:
            raise StreamStateError("feed() after flush(): the turn is over; call Extractor.stream() for the next one")
        if not chunk:
            return []
        self._require_alive()
        self._source.feed(chunk)
        self._is_reading = True
        next(self._machine)
        self._is_reading = False
        return self._content.take_events()

    def flush(self) -> list[Event]:
        """Take the end of the output, and hand out what was held back for it.

        Raises:
            StreamStateError: the stream was flushed before, or broke off with an exception of `id_factory`.
        """
        if self._extraction is not None:
            raise StreamStateError("flush() twice: the turn is over; call Extractor.stream() for the next one")
        self._require_alive()
        self._extraction = self._end()
        return self._content.take_events()

    def read_whole(self, text: str, content: Content, behind: int) -> Extraction:
        """Take a whole output, on a stream that was given nothing yet, and end the turn.

        Args:
            text: the output.
            content: what was taken of it, up to and with a call.
            behind: the index behind that call; 0 where none was taken.
        """
        self._content = content
        self._source.feed(text)
        if behind:
            self._source.pos = behind
            self._source.drop(behind)
            self._line.add_call()
        self._extraction = extraction = self._end()
        return extraction

    def _end(self) -> Extraction:
        self._source.ended = True
        self._is_reading = True
        for _ in self._machine:  # pragma: no cover  # it does not wait once the output has ended
            pass
        content = self._content
        content.end()
        calls, rejections = tuple(content.tool_calls), tuple(self._rejections)
        return Extraction(content.content, calls, rejections, content.all_reasoning)

    @property
    def extraction(self) -> Extraction:
        """What `Extractor.extract` gives for the whole output, ids aside.

        Raises:
            StreamStateError: the stream was not flushed yet.
        """
        if self._extraction is None:
            raise StreamStateError("extraction before flush(): call flush() once the model has written all")
        return self._extraction

    def _require_alive(self) -> None:
        """Refuse to go on after an exception: what was being read then is lost."""
        if self._is_reading:
            raise StreamStateError("the stream broke off with an exception, from id_factory: begin the turn anew")

    def _run(self) -> Generator[None, None, None]:
        source, openings = self._source, self._reads.bare
        unmarked = self._reads.first
        while True:
            if unmarked is not None:
                unmarked = yield from self._follow(unmarked, self._candidate(""))
                continue
            at = openings.find(source.text, source.pos)
            if at < 0:
                self._settle_text(source.base + len(source.text))
            else:
                match = openings.match(source.text, at)
                if match is not None:
                    self._settle_text(source.base + at)
                    format_, marker = match
                    unmarked = yield from self._follow(format_, self._candidate(marker))
                    continue
                if source.ended:
                    source.pos = at + 1
                    continue
                self._settle_text(source.base + at)
            if source.ended:
                return
            yield

    def _candidate(self, marker: str) -> Candidate:
        return Candidate(marker, _BARE, self._calls, self._reads.inside, self._content.is_after_call)

    def _follow(self, format_: WireFormat, candidate: Candidate) -> Generator[None, None, WireFormat | None]:
        """Let a format read, and file what comes out; give the format of what stands behind, where that is known."""
        source, start = self._source, self._source.offset
        outcome = yield from self._read(format_, candidate)
        if isinstance(outcome, IsText):
            self._reject(outcome.rejection)
            source.rewind(outcome.resume)
            if outcome.token_end is not None:
                self._take_token(outcome.token_end)
            self._take_text(outcome.resume)
            return None
        self._clip_rejection(start)
        if isinstance(outcome, IsCall):
            self._file(outcome.parts)
            self._line.add_call()
            source.drop(source.offset)
            if outcome.surplus is not None:
                for _ in outcome.surplus(source):
                    yield
                source.drop(source.offset)
        elif isinstance(outcome, IsReasoning):
            self._content.reasoning(source.settle(outcome.end))
            self._content.end_reasoning()
            source.drop(source.offset)
        else:
            source.rewind(outcome.end)
            self._take_token(outcome.end)
            return outcome.then
        return None

    def _read(self, format_: WireFormat, candidate: Candidate) -> Generator[None, None, Outcome]:
        """Let a format read, settle what it settles on the way, and give what comes out within the limits."""
        source, reading = self._source, format_.read(self._source, candidate)
        start, open_fences = source.offset, source.open_fences
        source.hold(self._limits.candidate)
        while True:
            try:
                settled = next(reading)
            except StopIteration as stop:
                outcome: Outcome = stop.value
                break
            if source.holds_too_much:
                break
            if settled is None:
                pass
            elif format_.is_reasoning:
                self._content.reasoning(source.settle(settled))
            else:
                self._take_text(settled)
            yield
        if source.holds_too_much:
            source.open_fences = open_fences
            return self._too_long(format_, start)
        if isinstance(outcome, IsCall):
            quoted = yield from self._line.quotes(source)
            return _quoted(outcome.parts, (start, source.offset), quoted) if quoted else self._within(outcome, start)
        return outcome

    def _file(self, parts: Parts) -> None:
        self._content.begin_call()
        for part in parts:
            if isinstance(part, str):
                self._content.message(part)
            else:
                self._content.call(part)

    def _too_long(self, format_: WireFormat, start: int) -> IsText:
        source = self._source
        source.unrepairable = range(0)
        if not format_.marker.begins(source.slice(start, source.bound)):  # prose with a brace in it
            return IsText(source.bound)
        refusal = refuse_too_long(source, start)
        if format_.tool and refusal.name not in (self._calls.tools or ()):
            refusal = refusal._replace(name=format_.tool)
        return IsText(source.bound, Rejection((start, source.bound), *refusal))

    def _within(self, outcome: IsCall, start: int) -> Outcome:
        """Give the calls if the turn may have so many, or else their text."""
        calls = [part for part in outcome.parts if not isinstance(part, str)]
        if len(self._content.tool_calls) + len(calls) <= self._limits.calls:
            return outcome
        end, detail = self._source.offset, f"beyond the first {self._limits.calls} calls"
        return IsText(end, Rejection((start, end), RejectionReason.TOO_MANY, detail, calls[0].name))

    def _reject(self, rejection: Rejection | None) -> None:
        if rejection is None or len(self._rejections) > self._limits.rejections:
            return
        self._clip_rejection(rejection.span[0])
        if len(self._rejections) == self._limits.rejections:
            detail = f"beyond the first {self._limits.rejections} rejections, and no others are listed"
            rejection = replace(rejection, reason=RejectionReason.TOO_MANY, detail=detail)
        self._rejections.append(rejection)

    def _clip_rejection(self, start: int) -> None:
        """End the last rejection before what was found inside its last token (rule 6)."""
        if self._rejections and self._rejections[-1].span[1] > start:
            last = self._rejections[-1]
            self._rejections[-1] = replace(last, span=(last.span[0], start))

    def _settle_text(self, end: int) -> None:
        self._source.pos = end - self._source.base
        self._take_text(end)

    def _take_text(self, end: int) -> None:
        text = self._source.settle(end)
        self._line.add(text)
        self._content.text(text)

    def _take_token(self, end: int) -> None:
        token = self._source.settle(end)
        self._line.add_token(token)
        self._content.token(token)


def _quoted(parts: Parts, span: Span, detail: str) -> IsText:
    name = next((part.name for part in parts if not isinstance(part, str)), None)
    rejection = Rejection(span, RejectionReason.QUOTED, detail, name)
    return IsText(span[1], rejection)
