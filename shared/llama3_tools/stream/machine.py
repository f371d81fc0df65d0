"""The incremental machine: a turn that is fed in chunks. One-shot extraction is this machine, given the whole output.

What happens to a chunk: it is appended to the window; then the step of the state that the turn is in reads on, and may
leave it in another state, until more text is needed. `states` says which state may follow which.
"""

from __future__ import annotations

from collections.abc import Callable

from llama3_tools.calls.reader import CallReader
from llama3_tools.errors import StreamStateError, require_bool, require_str
from llama3_tools.formats import Grammar
from llama3_tools.formats.quotations import end_of_tag
from llama3_tools.options import ReadOptions
from llama3_tools.stream.candidates import let_flow, read_candidate, read_repair
from llama3_tools.stream.code import read_code
from llama3_tools.stream.inside import read_wrapper
from llama3_tools.stream.progress import Progress
from llama3_tools.stream.prose import read_prose
from llama3_tools.stream.quotation import end_quotation, open_quotation, read_quotation
from llama3_tools.stream.rejections import IN_THOUGHTS
from llama3_tools.stream.states import GO_ON, IS_OVER, State, Step
from llama3_tools.stream.turn import Quotation, Turn, is_too_long
from llama3_tools.stream.wrapping import break_too_long
from llama3_tools.values import Event, Extraction

__all__ = ["ExtractionStream"]

_STEPS: dict[State, Callable[[Turn], Step]] = {
    State.PROSE: read_prose,
    State.QUOTATION: read_quotation,
    State.CANDIDATE: read_candidate,
    State.WRAPPER: read_wrapper,
    State.CODE: read_code,
    State.REPAIR: read_repair,
}
"""What each state does."""


class ExtractionStream:
    """Takes the output of one model turn in chunks, and hands out text and calls as soon as they are certain.

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

    __slots__ = ("_ended_by", "_extraction", "_has_failed", "_progress", "_turn")

    def __init__(self, reader: CallReader, grammar: Grammar, options: ReadOptions, *, keep_content: bool) -> None:
        self._turn = turn = Turn.of(reader, grammar, options, keep_content=keep_content)
        self._progress = Progress() if options.progress else None
        self._has_failed = False
        """Whether an exception ended the machine's work. Set while it is at work, too."""
        self._extraction: Extraction | None = None
        self._ended_by = ""
        if options.starts_reasoning:
            opening = "<think>" if turn.splits else ""
            thoughts = Quotation(end_of_tag("</think>"), 0, IN_THOUGHTS, is_split=turn.splits, opening=opening)
            open_quotation(turn, thoughts)

    def keep_trace(self) -> list[tuple[int, int, bool]]:
        """Return a list that will say where text stands that is content or reasoning, and whether it is quotation."""
        self._turn.trace = trace = list[tuple[int, int, bool]]()
        return trace

    def feed(self, chunk: str) -> list[Event]:
        """Take the next chunk, of any length.

        Returns:
            The events that the chunk made certain, in order. White space at the end of text is held back until it is
            known what follows.

        Raises:
            TypeError: the chunk is not a `str`.
            StreamStateError: the turn is over, or the stream broke off with an exception of `id_factory`.
        """
        if type(chunk) is not str:
            require_str(chunk, "feed() takes a str")
        if self._extraction is not None or self._has_failed:
            self._require_open("feed()")
        if not chunk:
            return []
        turn = self._turn
        window = turn.window
        window.feed(chunk)
        self._run()
        if window.base + len(window.text) > turn.limits.max_call_length:
            self._hold_no_more_than_a_call()
        return turn.content.take_events() if self._progress is None else self._events(self._progress)

    def flush(self, *, complete: bool = True) -> list[Event]:
        """Take the end of the output, and hand out what was held back for it.

        Args:
            complete: whether the model ended its turn, rather than a limit (finish reason `length` or
                `content_filter`). If not, no open wrapper counts as closed, and no open code is called (rule 7).

        Returns:
            The last events, in order.

        Raises:
            StreamStateError: the turn is over, or the stream broke off with an exception of `id_factory`.
            TypeError: `complete` is not a `bool`.
        """
        require_bool(complete=complete)
        self._require_open("flush()")
        self._ended_by = "flush()"
        self._turn.is_complete = complete
        self._turn.window.ended = True
        self._run()
        return self._end()

    def abort(self) -> list[Event]:
        """Take the news that the stream broke off: what was held back is text, and nothing is called (rule 7).

        Returns:
            The events of that text.

        Raises:
            StreamStateError: the turn is over.
        """
        if self._extraction is not None:
            self._require_open("abort()")
        self._ended_by = "abort()"
        turn = self._turn
        turn.is_complete, turn.is_broken_off = False, True
        turn.window.ended = True
        self._run()
        return self._end()

    @property
    def extraction(self) -> Extraction:
        """What `Extractor.extract` returns for the whole output, ids aside; after `abort()`, what was certain.

        Raises:
            StreamStateError: the turn is not over yet.
        """
        if self._extraction is None:
            raise StreamStateError("extraction before flush(): call flush() once the model has written all")
        return self._extraction

    def read_whole(self, text: str, *, complete: bool = True) -> Extraction:
        """Take a whole output, on a stream that was given nothing yet, and end the turn.

        Args:
            text: the output.
            complete: as `flush` has it.

        Returns:
            The content and the calls, as `extraction` has them from then on.

        Raises:
            Exception: whatever `id_factory` raises.
        """
        self._turn.window.take_whole(text)
        self._turn.is_complete = complete
        self._run()
        return self._finish()

    def _require_open(self, verb: str) -> None:
        if self._extraction is not None:
            raise StreamStateError(
                f"{verb} after {self._ended_by}: the turn is over; call Extractor.stream() for the next one"
            )
        if self._has_failed:
            raise StreamStateError("the stream broke off with an exception, from id_factory: begin the turn anew")

    def _run(self) -> None:
        self._has_failed = True
        turn, steps = self._turn, _STEPS
        while steps[turn.state](turn) is GO_ON:
            pass
        self._has_failed = False

    def _hold_no_more_than_a_call(self) -> None:
        """Release what is held back beyond the length of a call (rule 14)."""
        turn = self._turn
        limit, window = turn.limits.max_call_length, turn.window
        if turn.wrappers and is_too_long(turn, len(window.text)):
            break_too_long(turn)
            self._run()
        candidate = turn.candidate
        if candidate is not None and not candidate.flows and window.arrived - candidate.start > limit:
            let_flow(turn, candidate)

    def _end(self) -> list[Event]:
        self._finish()
        return self._turn.content.take_events() if self._progress is None else self._events(self._progress)

    def _finish(self) -> Extraction:
        turn = self._turn
        content = turn.content
        end_quotation(turn)
        content.end()
        if not content.tool_calls and not turn.has_words:
            turn.rejections.mean_quoted()
        turn.state, turn.candidate = IS_OVER, None
        self._extraction = extraction = Extraction(
            content.whole(), tuple(content.tool_calls), turn.rejections.in_order(), content.all_reasoning
        )
        return extraction

    def _events(self, progress: Progress) -> list[Event]:
        return self._turn.content.take_events() + progress.events(self._turn)
