"""The incremental machine: states, and what moves it from one to the next. One-shot extraction is this machine, fed once.

It knows no format by name: what begins is told by the grammar, and by the kind of the format that begins. It does no
I/O. Text goes to the content as soon as it is certain; calls go there when they are complete, or wait in the queue of
the wrappers around them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from enum import Enum

from llama3_tools.calls.attempts import attempted_name, has_call_keys
from llama3_tools.calls.reader import BUILT_IN, CallReader, Found, Placed
from llama3_tools.calls.repair import Mended, Mending
from llama3_tools.calls.shapes import WrittenCall, read_call, refuse_empty
from llama3_tools.errors import StreamStateError, require_str
from llama3_tools.formats import Grammar
from llama3_tools.formats.base import Closing, Kind, WireFormat
from llama3_tools.formats.code_interpreter import CODE_INTERPRETER, END_OF_CODE, code_call, refuse_code
from llama3_tools.formats.fences import LISTINGS, WORDS, end_of_fence
from llama3_tools.formats.json_calls import LITERAL
from llama3_tools.formats.function_tag import CLOSING, MISSPELLED_CLOSINGS
from llama3_tools.formats.protocol_tokens import END_OF_TURN, FOR_CALLS, PYTHON_TAG
from llama3_tools.formats.pythonic import METHOD, arguments_in_json, is_part_of_code
from llama3_tools.formats.quotations import end_of_tag
from llama3_tools.options import ReadOptions
from llama3_tools.reading.json_equality import same_json
from llama3_tools.reading.json_object import JsonObject, parse_object, parse_whole
from llama3_tools.reading.json_tokens import JsonTokens
from llama3_tools.reading.python_tokens import PythonTokens
from llama3_tools.reading.refusal import Refusal
from llama3_tools.stream.content import Content
from llama3_tools.stream.line import Line, is_marker
from llama3_tools.stream.candidate import Candidate as _Candidate
from llama3_tools.stream.progress import Progress
from llama3_tools.stream.quoted import find_quoted
from llama3_tools.stream.rejections import Rejections
from llama3_tools.stream.window import LOOK_BEHIND, Window
from llama3_tools.stream.wrappers import Held, Part, Piece, Wrapper, WrapperKind
from llama3_tools.values import Event, Extraction, RejectionReason

__all__ = ["ExtractionStream", "State"]

_FAILURES = 16
"""After so many failures of the scanner in C, only the token reader reads: each failure may cost a look at all text."""

_FAR_AFTER_TOKEN = 64
_FAR = 512
"""Longer than anything is that may be the beginning of a format at the end of the text."""

_MOST_WRAPPERS = 16
_LONGEST_LINE_NAME = 72
_MOST_QUOTED = 65536

_WORD = re.compile(r"\w").search
_DATA = re.compile(r'"[ \t\n\r]*:[ \t\n\r]*(?:\[[ \t\n\r]*){0,8}\Z').search
_LITERAL = re.compile(LITERAL.opening).match
_SURPLUS = re.compile(r"[}\]](?:(?=[ \t]{0,64}(?:[\r\n]|<[|/]))|(?P<more>[ \t]{0,64}<?\Z))").match
_LINE_END = re.compile(r"[ \t]*;?[ \t]*(?:(?=[\r\n]|<[|/]|```)|(?P<more>(?:<|`{1,2})?\Z))").match
_AFTER_LINE = re.compile(r"[ \t]*(?:(?=[\r\n])|(?P<more>\Z))").match
_HEADER_LINE = re.compile(r"(?:(?<=\n)|>>>)([^\W\d][\w.:/-]{0,63})[ \t]{0,4}\r?\n[ \t\r\n]{0,8}\Z")
_NAME_AT_END = re.compile(r"(?<![\w.:/-])([^\W\d][\w.:/-]{0,63})[ \t]{0,4}\Z")
_LISTED_NAME = re.compile(r"\[\s{0,128}([\w.:/-]{1,64})").match
_QUOTED_NAME = re.compile(r"[\[(,]\s{0,8}[\"'(]{1,2}\s{0,8}([^\W\d][\w.:/-]{0,63})\Z")
_HELD_TAIL = re.compile(r"[`*]{1,2}\Z|>{1,3}\Z|(?<!\w)f(?:u(?:n(?:c(?:t(?:o(?:o(?:l(?:s)?)?)?)?)?)?)?)?\Z")
_FUNCTOOLS = "functools"
_NAME_ENDS = "_.:/- \t\r\n"
_SENTENCE_END = re.compile(r"[.!?:\u2026\u3002\uff01\uff1f\uff1a]\s*\Z")


class State(Enum):
    """Where the machine stands, and what it may turn to."""

    PROSE = "text, in which anything may begin"
    QUOTATION = "text up to what closes it, in which nothing is called"
    CANDIDATE = "an object or the arguments of a call, read token by token"
    WRAPPER = "in a wrapper, after its opening or after a call"
    CODE = "code after <|python_tag|>"
    REPAIR = "malformed JSON, of which it is being found out where it closes"
    OVER = "the turn is over"


TRANSITIONS: dict[State, frozenset[State]] = {
    State.PROSE: frozenset({State.QUOTATION, State.CANDIDATE, State.WRAPPER, State.OVER}),
    State.QUOTATION: frozenset({State.PROSE, State.OVER}),
    State.CANDIDATE: frozenset({State.PROSE, State.QUOTATION, State.WRAPPER, State.CODE, State.REPAIR, State.OVER}),
    State.WRAPPER: frozenset({State.PROSE, State.QUOTATION, State.CANDIDATE, State.CODE, State.OVER}),
    State.CODE: frozenset({State.PROSE, State.QUOTATION, State.OVER}),
    State.REPAIR: frozenset({State.PROSE, State.QUOTATION, State.WRAPPER, State.OVER}),
    State.OVER: frozenset(),
}
"""Which state may follow which. A state may be entered again from itself."""


class _Quotation:
    """Quotation that is open."""

    __slots__ = ("closing", "is_split", "keeps_end", "length", "pieces", "start", "why")

    def __init__(self, closing: Closing, start: int, why: str, *, keeps_end: bool = True, is_split: bool = False) -> None:
        self.closing = closing
        self.start = start
        """The offset from which on it was not searched yet."""
        self.why = why
        self.keeps_end = keeps_end
        """Whether what closes it is a part of it."""
        self.is_split = is_split
        """Whether it is reasoning to be split off."""
        self.pieces: list[str] = []
        """What was not searched yet."""
        self.length = 0


class ExtractionStream:
    """Takes the output of one model turn in chunks, and hands out text and calls as soon as they are certain.

    Made by `Extractor.stream()`. For every way to cut an output into chunks the events are the same, once neighbouring
    text deltas are joined.

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
        "_broken",
        "_calls",
        "_candidate",
        "_content",
        "_count",
        "_extraction",
        "_failures",
        "_fence_is_open",
        "_fresh",
        "_grammar",
        "_has_words",
        "_is_after_tag",
        "_is_complete",
        "_is_reading",
        "_limits",
        "_line",
        "_list_is_open",
        "_names",
        "_mending",
        "_progress",
        "_queue",
        "_quotation",
        "_rejections",
        "_splits",
        "_state",
        "_surplus",
        "_token",
        "_unrepairable_to",
        "_window",
        "_wrappers",
        "trace",
    )

    def __init__(
        self, calls: CallReader, grammar: Grammar, options: ReadOptions, *, keep_content: bool = True
    ) -> None:
        self._calls = calls
        self._grammar = grammar
        self._limits = limits = options.limits
        self._splits = options.split_reasoning
        self._names = (calls.tools or {}) if grammar.pythonic else {}
        self._progress = Progress() if options.progress else None
        self._window = Window()
        self._content = Content(is_kept=keep_content)
        self._line = Line(grammar.off)
        self._rejections = Rejections(limits.max_rejections)
        self._state = State.PROSE
        self._wrappers: list[Wrapper] = []
        self._queue: list[Part] = []
        self._count = 0
        """How many calls the innermost wrapper holds."""
        self._candidate: _Candidate | None = None
        self._quotation: _Quotation | None = None
        self._fence_is_open = False
        """Whether a fence is open that is text, so that the next one closes it."""
        self._list_is_open = False
        """Whether a pythonic list is open on this line whose brackets are text."""
        self._fresh = 0
        """The offset after the last call, token or opening: a call may stand there."""
        self._is_after_tag = False
        """Whether the candidate stands directly after a token whose only use is calls."""
        self._token: str | None = None
        """The token that ends there, if one does."""
        self._surplus: str | None = None
        """What closed the wrapper that ends there, if one does; empty after a bare call."""
        self._broken = False
        """Whether JSON broke since the last call: what stands at a member's value may be a part of it."""
        self._failures = 0
        self._mending: tuple[Mending, _Candidate, Refusal] | None = None
        self._unrepairable_to = 0
        """The offset up to which a repair was tried in vain: nothing before it is tried again, so the work is linear."""
        self._has_words = False
        """Whether there is text outside of candidates and quotation."""
        self._is_complete = True
        self._is_reading = False
        """Whether the machine is at work. Between two calls it is not, unless an exception ended it."""
        self._extraction: Extraction | None = None
        self.trace: list[tuple[int, int, bool]] | None = None
        """Where text stands that is content, and whether it is quotation: kept if this is set to a list."""
        if options.starts_reasoning:
            self._open_quotation(end_of_tag("</think>"), 0, "in thoughts", is_split=self._splits)

    # The turn, as callers see it.

    def feed(self, chunk: str) -> list[Event]:
        """Take the next chunk, of any length.

        Returns:
            The events that the chunk made certain, in order. White space at the end of text is held back until it is
            known what follows.

        Raises:
            TypeError: the chunk is not a `str`.
            StreamStateError: the turn is over, or the stream broke off with an exception of `id_factory`.
        """
        require_str(chunk, "feed() takes a str")
        self._require_open("feed()")
        if not chunk:
            return []
        self._window.feed(chunk)
        self._run()
        self._hold_no_more_than_a_call()
        events = self._content.take_events()
        return events if self._progress is None else events + self._progress.events(self._candidate, self._held_spans())

    def flush(self, *, complete: bool = True) -> list[Event]:
        """Take the end of the output, and hand out what was held back for it.

        Args:
            complete: whether the model ended its turn, rather than a limit (finish reason `length`): if not, no open
                wrapper counts as closed, and no code is called (rule 7).

        Raises:
            StreamStateError: the turn is over, or the stream broke off with an exception of `id_factory`.
        """
        self._require_open("flush()")
        self._is_complete = complete
        self._window.ended = True
        self._run()
        return self._end()

    def abort(self) -> list[Event]:
        """Take the news that the stream broke off: what was held back is text, and nothing is called (rule 7).

        Raises:
            StreamStateError: the turn is over.
        """
        if self._extraction is not None:
            raise StreamStateError("abort() after the end: the turn is over")
        window = self._window
        window.ended = True
        cut_off = Refusal(RejectionReason.TRUNCATED, "the stream broke off inside it")
        end = window.arrived
        for part in self._queue:
            held = part.what
            if isinstance(held, Held):
                for name in _names_of(held.found)[:1]:
                    self._reject(held.start, held.end, cut_off._replace(name=name), is_meant=True)
            self._put(part.start, part.text)
        self._queue, self._wrappers = [], []
        candidate = self._candidate
        if candidate is not None:
            written = "".join(candidate.kept)
            self._reject(candidate.start, end, cut_off._replace(name=candidate.name or attempted_name(written)), is_meant=candidate.name is not None or has_call_keys(written))
            if not candidate.flows:
                self._put(candidate.start, written)
        self._put(window.offset, window.text[window.pos :])
        self._state = State.OVER
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
        """
        window = self._window
        window.text = f"\n{text}"
        window.ended = True
        self._is_complete = complete
        self._run()
        self._end()
        assert self._extraction is not None  # noqa: S101  # the turn has ended
        return self._extraction

    def _require_open(self, verb: str) -> None:
        if self._extraction is not None:
            after = "abort()" if self._state is State.OVER and not self._is_complete else "flush()"
            raise StreamStateError(f"{verb} after {after}: the turn is over; call Extractor.stream() for the next one")
        if self._is_reading:
            raise StreamStateError("the stream broke off with an exception, from id_factory: begin the turn anew")

    def _run(self) -> None:
        self._is_reading = True
        steps = _STEPS
        while steps[self._state](self):
            pass
        self._is_reading = False

    def _end(self) -> list[Event]:
        content = self._content
        self._end_quotation()
        content.end()
        if not content.tool_calls and not self._has_words:
            self._rejections.mean_quoted()
        self._state = State.OVER
        self._extraction = Extraction(
            content.content, tuple(content.tool_calls), self._rejections.in_order(), content.all_reasoning
        )
        self._candidate = None
        events = content.take_events()
        return events if self._progress is None else events + self._progress.events(None, self._held_spans())

    def _held_spans(self) -> list[tuple[int, int, bool]]:
        """Return where the calls stand that were made, and those that wait for the wrappers around them."""
        held = [part.what for part in self._queue if isinstance(part.what, Held)]
        made = [(*call.span, True) for call in self._content.tool_calls]
        return [*made, *((one.start, one.end, False) for one in held)]

    # Text.

    def _put(self, start: int, text: str, *, is_prose: bool = False) -> None:
        """Put text into the content."""
        if not text:
            return
        self._content.text(text)
        self._line.add(text)
        if self.trace is not None:
            self.trace.append((start, start + len(text), self._quotation is not None))
        if is_prose and not self._has_words:
            self._has_words = _WORD(text) is not None
        if self._list_is_open and "\n" in text:
            self._list_is_open = False

    def _put_up_to(self, at: int) -> None:
        """Put the text up to an index of the window, as prose."""
        window = self._window
        if at > window.pos:
            self._put(window.base + window.pos, window.text[window.pos : at], is_prose=True)
            window.pos = at

    def _reject(self, start: int, end: int, refusal: Refusal, *, is_meant: bool = False) -> None:
        self._rejections.add(start, end, refusal, is_meant=is_meant)

    # Prose.

    def _read_prose(self) -> bool:
        """Look for what a call, a wrapper, a token or quotation begins with."""
        window = self._window
        if self._surplus is not None and not self._skip_surplus():
            return False
        text, at, grammar = window.text, window.pos, self._grammar
        first, (going, ended) = grammar.first.search, grammar.outside
        size = sys.maxsize if window.ended else len(text) - _FAR
        while (found := first(text, at)) is not None:
            at = found.start()
            match = (ended if at < size else going).match(text, at)
            if match is None:
                at += 1
                continue
            name = match.lastgroup
            if name == "more":
                self._put_up_to(self._before_marker(at))
                return False
            format_ = grammar.formats[name]  # type: ignore[index]  # every alternative has a name
            if _BEGIN[format_.kind](self, format_, match):
                return True
            at = max(match.end(), at + 1)
        self._put_up_to(len(text) if window.ended else self._held_tail(text))
        return False

    def _before_marker(self, at: int) -> int:
        """Return where what may belong to a call that begins at an index begins: bold, or the name on a line before."""
        text, pos = self._window.text, self._window.pos
        header = _HEADER_LINE.search(text, max(at - _LONGEST_LINE_NAME, 0), at) if self._names else None
        if header is not None:
            return max(header.start(), pos)
        tail = _HELD_TAIL.search(text, max(at - len(_FUNCTOOLS), pos), at)
        return tail.start() if tail else at

    def _held_tail(self, text: str) -> int:
        """Return from where on the end of the text may belong to a call that begins later."""
        pos, end = self._window.pos, len(text)
        last = text[-1]
        if self._grammar.pythonic and (last.isalnum() or last in _NAME_ENDS):
            if last in " \t\r\n":
                header = _HEADER_LINE.search(text, max(end - LOOK_BEHIND, 0))
                if header is not None and header[1] in self._names:
                    return max(header.start(), pos)
            found = _NAME_AT_END.search(text, max(end - _LONGEST_LINE_NAME, 0))
            if found is not None and self._calls.may_begin_name(found[1]):
                start = found.start()
                if text.startswith(">>>", start - 3):
                    return max(start - 3, pos)
                lead = text[start - 2 : start]
                if lead[-1:] == "`" or lead == "**":
                    return max(start - (2 if lead[:1] == lead[-1:] else 1), pos)
                if self._may_stand_at(start):
                    return max(start, pos)
        if last in "*`>functools":
            tail = _HELD_TAIL.search(text, max(end - len(_FUNCTOOLS), pos))
            return tail.start() if tail else end
        return end

    def _skip_surplus(self) -> bool:
        """Skip one closing too many directly after a call (rule 9); return whether it is known what stands there."""
        window, closing = self._window, self._surplus
        text, pos = window.text, window.pos
        if window.offset == self._fresh:
            if pos == len(text) and not window.ended:
                return False
            if closing and not window.ended and len(text) - pos < len(closing) and closing.startswith(text[pos:]):
                return False
            if closing and text.startswith(closing, pos):
                window.pos += len(closing)
            else:
                match = _SURPLUS(text, pos)
                if match is not None and match["more"] is not None and not window.ended:
                    return False
                if match is not None and not (match["more"] or "").endswith("<"):
                    window.pos += 1
            self._fresh = window.offset
        self._surplus = None
        return True

    # What begins in prose.

    def _begin_object(self, _: WireFormat, match: re.Match[str]) -> bool:
        at = match.start()
        if self._opens_line_wrapper(at):
            return True
        self._put_up_to(at)
        return self._begin_json(at)

    def _begin_literal(self, _: WireFormat, match: re.Match[str]) -> bool:
        at = match.start()
        self._put_up_to(at)
        self._begin_candidate(PythonTokens(self._window.base + at, is_call=False), at)
        return True

    def _begin_call(self, _: WireFormat, match: re.Match[str]) -> bool:
        """Begin a pythonic call without brackets, if it names a declared tool and a call may stand there."""
        at, window = match.start(), self._window
        found = _NAME_AT_END.search(window.text, max(at - _LONGEST_LINE_NAME, 0), at)
        if found is None:
            return False
        name, start = found[1], found.start()
        tool = self._tool_named(name)
        if tool is not None and self._opens_line_wrapper(start):
            return True
        if tool is None or start < window.pos or not self._may_stand_at(start):
            self._reject_quoted_name(at)
            return False
        self._put_up_to(start)
        if self._quoted_name(name, start):
            return False
        self._push(WrapperKind.LINE, start, "", "", None)
        return self._begin_pythonic(start, at, name)

    def _may_stand_at(self, start: int) -> bool:
        """Return whether a pythonic call may stand at an index: where a line begins, after a token, in a broken list."""
        window = self._window
        if self._list_is_open and "\n" not in window.text[window.pos : start]:
            return True
        line_start = max(window.text.rfind("\n", 0, start) + 1, self._fresh - window.base)
        return line_start > 0 and not window.text[line_start:start].strip(" \t")

    def _quoted_name(self, name: str, start: int) -> bool:
        """Reject the name of a declared tool that stands in quotation on its line; return whether it does."""
        why = self._line.quotation(self._calls.tools or ())
        if why is not None:
            offset = self._window.base + start
            self._rejections.quoted(offset, offset + len(name), why, self._tool_named(name))
        return why is not None

    def _reject_quoted_name(self, at: int) -> None:
        """Report a declared name with arguments that stands in a list of strings."""
        window = self._window
        found = _QUOTED_NAME.search(window.text, max(at - LOOK_BEHIND, 0), at)
        if found is not None and self._tool_named(found[1]) is not None:
            self._rejections.quoted(
                window.base + found.start(1), window.base + at, "directly between quotation marks", found[1]
            )

    def _begin_list(self, format_: WireFormat, match: re.Match[str]) -> bool:
        at, text = match.start(), self._window.text
        if self._opens_line_wrapper(at):
            return True
        start = at
        if text.endswith(_FUNCTOOLS, 0, at) and at - len(_FUNCTOOLS) >= self._window.pos:
            start = at - len(_FUNCTOOLS)
        if format_.name == "pythonic_list" and is_part_of_code(self._line_before(at), ""):
            return self._begin_code_list(match)
        return self._open_wrapper(WrapperKind.LIST, start, match.end(), "]", None)

    def _begin_code_list(self, match: re.Match[str]) -> bool:
        """Pass a list that is a part of code, and report the declared tool in it."""
        at, text, window = match.start(), self._window.text, self._window
        found = _LISTED_NAME(text, at)
        name = self._tool_named(found[1]) if found else None
        if found is not None and name is not None:
            refusal = Refusal(RejectionReason.NOT_A_CALL, "a list that is a part of code, or quoted", name)
            self._reject(window.base + at, window.base + found.end(), refusal)
        return False

    def _begin_named_list(self, _: WireFormat, match: re.Match[str]) -> bool:
        """Report a list whose first element is the name of a declared tool: no call in any form, but meant as one."""
        window = self._window
        name = self._tool_named(match["listed_name"])
        if name is not None:
            self._put_up_to(match.start())
            offset = window.offset
            detail = f"a list that begins with the name {name!r}, not a call of it"
            why = self._line.quotation(self._calls.tools or ())
            refusal = Refusal(RejectionReason.QUOTED if why else RejectionReason.MALFORMED, why or detail, name)
            self._reject(offset, window.base + match.end("listed_name"), refusal, is_meant=True)
        return False

    def _begin_tag(self, format_: WireFormat, match: re.Match[str]) -> bool:
        opening = match[0]
        name = format_.name
        kind = WrapperKind.TAG
        if self._opens_line_wrapper(match.start()):
            return True
        return self._open_wrapper(
            kind, match.start(), match.end(), format_.closings[opening], name, is_for_calls=name != "tools"
        )

    def _begin_named_tag(self, _: WireFormat, match: re.Match[str]) -> bool:
        name = match["tag_name"] or match["attribute_name"] or match["dotted_name"] or match["called_name"]
        deviation = None
        if not (match["tag_name"] or match["attribute_name"]):
            if name not in (self._calls.tools or ()) and not self._calls.lenient:
                return False
            deviation = f"the tag is written {match[0].replace(name, 'NAME')}{{…}}"
        return self._open_wrapper(
            WrapperKind.NAMED, match.start(), match.end(), CLOSING, "function", name=name, deviation=deviation, is_for_calls=True
        )

    def _begin_fence(self, _: WireFormat, match: re.Match[str]) -> bool:
        window, ticks = self._window, match["ticks"]
        if ticks is None:
            self._put_up_to(match.end())
            return True
        info = match["info"].lower()
        if self._fence_is_open and not info:
            self._fence_is_open = False
            self._put_up_to(match.end("ticks"))
            return True
        self._put_up_to(match.start())
        if self._line.quotation(()) is not None:
            self._put_up_to(match.end("ticks"))
            return True
        if info in WORDS:
            return self._open_wrapper(WrapperKind.FENCE, match.start(), match.end(), ticks, "fence", name=info)
        self._put_up_to(match.end("ticks"))
        self._fresh = window.offset
        return self._open_quotation(end_of_fence(len(ticks)), window.offset, f"in a fence of {info or 'code'}")

    def _begin_token(self, _: WireFormat, match: re.Match[str]) -> bool:
        at = match.start()
        self._put_up_to(at)
        if self._grammar.code and self._is_place_for_code(match[0]):
            return self._open_wrapper(WrapperKind.CODE, at, match.end(), "", None, is_for_calls=True)
        self._take_token(match[0])
        return True

    def _is_place_for_code(self, token: str) -> bool:
        """Return whether code is meant after a token, rather than the token itself, as in prose about it."""
        if token != PYTHON_TAG:
            return False
        window = self._window
        before = self._line.text
        return (
            window.offset == self._fresh
            or not before.strip()
            or self._content.is_after_call
            or _SENTENCE_END.search(before) is not None
        )

    def _take_token(self, token: str) -> None:
        self._window.pos += len(token)
        self._content.token(token)
        if token.endswith("\n"):
            self._line.add("\n")
        self._fresh = self._window.offset
        self._token = token.rstrip()

    def _begin_turn(self, _: WireFormat, match: re.Match[str]) -> bool:
        self._put_up_to(match.start())
        self._take_token(match[0])
        return self._open_quotation(END_OF_TURN, self._window.offset, "in another's turn", keeps_end=False)

    def _begin_thought(self, format_: WireFormat, match: re.Match[str]) -> bool:
        self._put_up_to(match.start())
        if self._line.quotation(()) is not None:
            return False
        window = self._window
        if not self._splits:
            self._put(window.offset, match[0])
        window.pos = match.end()
        closing = end_of_tag(format_.closings[match[0]])
        return self._open_quotation(closing, window.offset, "in thoughts", is_split=self._splits)

    def _begin_response(self, format_: WireFormat, match: re.Match[str]) -> bool:
        self._put_up_to(match.end())
        closing = end_of_tag(format_.closings[match[0]])
        return self._open_quotation(closing, self._window.offset, "in the repeated result of a tool")

    def _line_before(self, at: int) -> str:
        """Return the text of the line up to an index of the window."""
        window = self._window
        text = window.text[window.pos : at]
        after_break = text.rfind("\n") + 1
        return text[after_break:] if after_break else self._line.text + text

    def _opens_line_wrapper(self, at: int) -> bool:
        """Open what may be a wrapper that is a whole line, if it stands directly before an index: a span, bold, a name."""
        window = self._window
        text, pos = window.text, window.pos
        last = text[at - 1]
        if last in "`*" and at > pos:
            run = len(text[pos:at]) - len(text[pos:at].rstrip(last))
            kind = WrapperKind.SPAN if last == "`" else WrapperKind.BOLD
            is_run = run <= 2 if last == "`" else run == 2
            if is_run and kind.name.lower() not in self._grammar.off and is_marker(self._line_before(at - run)):
                return self._open_wrapper(kind, at - run, at, last * run, None)
        elif self._names and last in " \t\r\n" and text.startswith("{", at) and "functionary" not in self._grammar.off:
            header = _HEADER_LINE.search(text, max(at - LOOK_BEHIND, 0), at)
            if header is not None and header[1] in self._names and header.start() >= pos:
                return self._open_wrapper(
                    WrapperKind.NAMED, header.start(), at, "", "functionary", name=header[1], is_for_calls=False
                )
        return False

    # Candidates.

    def _begin_json(self, at: int) -> bool:
        """Read an object of JSON: by the scanner in C if that can, or else token by token."""
        window = self._window
        text = window.text
        window.pos = at
        self._note_place(at)
        if self._failures < _FAILURES and text.find("}", at) > 0:
            parsed = parse_object(text, at)
            if parsed is not None and parsed.end - at <= self._limits.max_call_length:
                window.pos = parsed.end
                return self._end_json(parsed, window.base + at)
            self._failures += 1
        self._begin_candidate(JsonTokens(window.base + at), at)
        return True

    def _begin_pythonic(self, start: int, at: int, name: str) -> bool:
        """Read a pythonic call from its parenthesis on."""
        window = self._window
        tokens = PythonTokens(window.base + at, as_they_are=name.endswith(METHOD))
        self._begin_candidate(tokens, start, name)
        assert self._candidate is not None  # noqa: S101  # it was made now
        self._candidate.kept.append(window.text[start:at])
        window.pos = at
        return True

    def _begin_candidate(self, tokens: JsonTokens | PythonTokens, at: int, name: str | None = None) -> None:
        window = self._window
        self._note_place(at)
        before = window.text[max(at - LOOK_BEHIND, 0) : at]
        self._candidate = _Candidate(tokens, window.base + at, before, name)
        self._state = State.CANDIDATE
        window.pos = at

    def _read_candidate(self) -> bool:
        """Read on token by token, up to where the candidate ends or breaks."""
        window, candidate = self._window, self._candidate
        assert candidate is not None  # noqa: S101  # the state says so
        tokens, pos = candidate.tokens, window.pos
        end = tokens.read(window.text, pos, window.base, ended=window.ended)
        piece = window.text[pos:end]
        window.pos = end
        if candidate.flows:
            self._put(window.base + pos, piece)
            candidate.kept = [("".join(candidate.kept) + piece)[-LOOK_BEHIND:]]
        else:
            candidate.kept.append(piece)
        if tokens.refusal is None and not tokens.is_complete:
            return False
        if not candidate.flows and window.offset - candidate.start > self._limits.max_call_length and not self._wrappers:
            self._let_flow(candidate)
        self._candidate = None
        if tokens.refusal is not None:
            return self._begin_mending(candidate, tokens.refusal) or self._give_up(candidate, tokens.refusal)
        if candidate.flows:
            self._state = State.PROSE
            return True
        whole = "".join(candidate.kept)
        if isinstance(tokens, JsonTokens):
            parsed = parse_object(whole, 0, checked=True)
            if parsed is None:
                detail = "a number or a constant that JSON does not have"
                refusal = Refusal(RejectionReason.MALFORMED, detail, attempted_name(whole))
                return self._refuse(refusal, candidate.start, whole, candidate)
            return self._end_json(parsed, candidate.start)
        if candidate.name is None:
            return self._end_literal(candidate, tokens, whole)
        return self._end_pythonic(candidate, tokens, whole)

    def _begin_mending(self, candidate: _Candidate, refusal: Refusal) -> bool:
        """Begin to find out what malformed JSON was meant to be, if that is asked for."""
        start = candidate.start
        is_open = refusal.reason in (RejectionReason.MALFORMED, RejectionReason.TRUNCATED)
        is_json = isinstance(candidate.tokens, JsonTokens)
        if not self._calls.repair or not is_open or not is_json or candidate.flows or start < self._unrepairable_to:
            return False
        wrapper = self._wrappers[-1] if self._wrappers else None
        name = wrapper.name if wrapper is not None and wrapper.kind is WrapperKind.NAMED else None
        is_after = wrapper is not None or self._content.is_after_call
        before = "" if wrapper is not None else candidate.before
        self._mending = Mending(self._calls, start, before, name=name, is_after_call=is_after), candidate, refusal
        self._resume(candidate, "".join(candidate.kept), 0)
        self._state = State.REPAIR
        return True

    def _read_repair(self) -> bool:
        """Read on in what may be mended."""
        window = self._window
        assert self._mending is not None  # noqa: S101  # the state says so
        mending, candidate, refusal = self._mending
        mended = mending.read(window.text[window.pos :], ended=window.ended)
        if mended is True:
            return False
        self._mending = None
        if isinstance(mended, Mended) and not self._is_made(mended.found):
            window.pos += len(mended.text)
            format_ = "json" if isinstance(mended.found, WrittenCall) else "envelope"
            end = candidate.start + len(mended.text)
            return self._add(Held(mended.found, candidate.start, end, format_, mended.text), mended.text)
        self._unrepairable_to = mending.reached
        if _LITERAL(window.text, window.pos):
            self._begin_candidate(PythonTokens(candidate.start, is_call=False), window.pos)
            return True
        window.pos += sum(map(len, candidate.kept))
        return self._give_up(candidate, refusal)

    def _is_made(self, found: Found) -> bool:
        """Return whether the same call stood well-formed before: then it is repeated, not meant once more."""
        written = [found] if isinstance(found, WrittenCall) else [part.written for part in found if isinstance(part, Placed)]
        made = [(call.name, call.arguments_json) for call in self._content.tool_calls]
        return any(
            one.name == name and same_json(one.arguments, json.loads(arguments)) for one in written for name, arguments in made
        )

    def _let_flow(self, candidate: _Candidate) -> None:
        """Release the text of a candidate that is too long for a call (rule 14)."""
        written = "".join(candidate.kept)
        limit = self._limits.max_call_length
        refusal = Refusal(RejectionReason.TOO_LONG, f"longer than {limit} characters", self._name_in(candidate, written))
        is_meant = has_call_keys(written) or candidate.name is not None
        self._break_wrappers(began=True)
        self._state = State.CANDIDATE
        self._reject(candidate.start, candidate.start + limit, refusal, is_meant=is_meant)
        self._put(candidate.start, written)
        candidate.flows = True
        candidate.kept = [written[-LOOK_BEHIND:]]

    def _name_in(self, candidate: _Candidate, written: str) -> str | None:
        return self._tool_named(candidate.name) or candidate.name if candidate.name else attempted_name(written)

    def _give_up(self, candidate: _Candidate, refusal: Refusal) -> bool:
        """Go on after a candidate that broke: at the token that broke it (rule 6)."""
        window, tokens, start = self._window, candidate.tokens, candidate.start
        self._broken = True
        if candidate.flows:
            self._state = State.PROSE
            return True
        is_cut_off = refusal.reason is RejectionReason.TRUNCATED
        if is_cut_off:
            candidate.kept.append(window.text[window.pos :])
            window.pos = len(window.text)
        whole = "".join(candidate.kept)
        at = len(whole) if is_cut_off else max(tokens.resume, start + 1) - start
        self._resume(candidate, whole, at)
        if isinstance(tokens, JsonTokens) and not tokens.has_key and not self._is_for_calls():
            self._break_wrappers()  # a brace in prose
            self._put(start, whole[:at], is_prose=True)
            return True
        self._refuse_at(start, whole[:at], refusal, candidate, whole)
        return True

    def _resume(self, candidate: _Candidate, whole: str, at: int) -> None:
        """Let reading go on at an index of what was kept of a candidate."""
        window = self._window
        passed = (candidate.before + whole[:at])[-LOOK_BEHIND:]
        window.text = passed + whole[at:] + window.text[window.pos :]
        window.pos = len(passed)
        window.base = candidate.start + at - len(passed)

    def _note_place(self, at: int) -> None:
        """Note whether a candidate at an index stands directly after a token whose only use is calls."""
        window = self._window
        after = self._fresh - window.base
        self._is_after_tag = (
            self._token in FOR_CALLS and at - after <= _FAR_AFTER_TOKEN and not window.text[max(after, 0) : at].strip()
        )

    def _end_json(self, parsed: JsonObject, start: int) -> bool:
        """Take an object that is complete: the machine stands after it."""
        wrapper = self._wrappers[-1] if self._wrappers else None
        found: Found | Refusal
        if wrapper is None:
            found = self._calls.read(parsed)
        elif wrapper.kind is WrapperKind.NAMED:
            found = self._read_arguments(parsed, wrapper)
        else:
            found = self._calls.read(parsed, tool_name=wrapper.format == "tool")
        if type(found) is Refusal:
            return self._refuse(found, start, parsed.json)
        format_ = "json" if type(found) is WrittenCall else "envelope"
        if type(found) is list and parsed.start:
            found = [part if isinstance(part, str) else part._replace(start=part.start - parsed.start, end=part.end - parsed.start) for part in found]
        return self._add(Held(found, start, start + parsed.end - parsed.start, format_), parsed.json)  # type: ignore[arg-type]

    def _read_arguments(self, parsed: JsonObject, wrapper: Wrapper) -> WrittenCall | Refusal:
        """Read the object in a tag that names the tool: the arguments, or the whole call once more."""
        name = wrapper.name or ""
        if parsed.flaw:
            return Refusal(RejectionReason.MALFORMED, parsed.flaw, name)
        tools, members = self._calls.tools, parsed.members
        deviations = () if wrapper.deviation is None else (wrapper.deviation,)
        written = WrittenCall(name, members, parsed.json, deviations)
        held = read_call(parsed, tools) if "name" in members or "function" in members else None
        if isinstance(held, WrittenCall) and held.name == name:
            tool = (tools or {}).get(name)
            properties = (tool.parameters.get("properties") or {}) if tool else {}
            if members.keys().isdisjoint(properties):
                written = held._replace(deviations=(*deviations, "a whole call stands in the tag"))
        return self._calls.checked(written)

    def _end_literal(self, candidate: _Candidate, tokens: PythonTokens, whole: str) -> bool:
        """Take a dict of Python that is complete: no call, but perhaps an attempt at one (rule 15)."""
        parsed = parse_whole(tokens.positional[0])
        found = self._calls.read(parsed) if parsed else None
        name = _names_of(found)[0] if found and not isinstance(found, Refusal) and _names_of(found) else found.name if isinstance(found, Refusal) else None
        detail = f"keys and strings have to stand in double quotes, as in JSON, at offset {candidate.start + 1}"
        return self._refuse(Refusal(RejectionReason.MALFORMED, detail, name), candidate.start, whole)

    def _end_pythonic(self, candidate: _Candidate, tokens: PythonTokens, whole: str) -> bool:
        """Take the arguments of a pythonic call that are complete."""
        written_name = candidate.name or ""
        name = self._tool_named(written_name) or written_name
        tool = (self._calls.tools or {}).get(name)
        json = arguments_in_json(tokens, tool)
        found: WrittenCall | Refusal
        if isinstance(json, Refusal):
            found = json._replace(name=name)
        else:
            parsed = parse_object(json, 0, checked=True)
            members = parsed.members if parsed and not parsed.flaw else {}
            found = self._calls.checked(WrittenCall(name, members, json))
            is_line = self._wrappers and self._wrappers[-1].kind is WrapperKind.LINE
            if is_line and not members and isinstance(found, WrittenCall):
                found = refuse_empty(name, self._calls.tools) or found
        if isinstance(found, Refusal):
            return self._refuse(found, candidate.start, whole, candidate)
        return self._add(Held(found, candidate.start, candidate.start + len(whole), "pythonic"), whole)

    def _add(self, held: Held, text: str) -> bool:
        """Take a call: it waits if wrappers are open; else it is made."""
        if self._wrappers:
            self._queue.append(Part(held.start, text, held))
            self._count += 1
            self._state = State.WRAPPER
            wrapper = self._wrappers[-1]
            if (wrapper.kind is WrapperKind.NAMED and not wrapper.closing) or (
                wrapper.kind is WrapperKind.LINE and self._list_is_open
            ):
                return self._close()
            return True
        self._state = State.PROSE
        self._make_bare(held, text)
        return True

    def _make_bare(self, held: Held, text: str) -> None:
        """Make the calls of an object that stands bare, unless it is quoted or a part of broken JSON."""
        names = _names_of(held.found)
        name = names[0] if names else None
        why = self._line.quotation(self._calls.tools or ())
        if why is not None:
            if names:
                self._rejections.quoted(held.start, held.end, why, name)
            self._put(held.start, text)
        elif self._broken and self._is_data(held):
            refusal = Refusal(RejectionReason.MALFORMED, "the value of a member of a malformed object", name)
            self._reject(held.start, held.end, refusal)
            self._put(held.start, text)
        elif not self._grammar.json and held.format != "pythonic":
            self._put(held.start, text)
        else:
            self._make(held, held.format, text)
            self._surplus = ""

    def _is_data(self, held: Held) -> bool:
        window = self._window
        at = held.start - window.base
        return at > 0 and "broken_data" not in self._grammar.off and _DATA(window.text, max(at - LOOK_BEHIND, 0), at) is not None

    def _make(self, held: Held, format_: str, text: str) -> None:
        """Make the calls of what was found."""
        content, calls = self._content, self._calls
        found = held.found
        names = 1 if type(found) is WrittenCall else len(_names_of(found))
        if len(content.tool_calls) + names > self._limits.max_calls:
            detail = f"beyond the first {self._limits.max_calls} calls"
            self._reject(held.start, held.end, Refusal(RejectionReason.TOO_MANY, detail, (_names_of(found) or [None])[0]))
            self._put(held.start, text)
            return
        if type(found) is WrittenCall:
            content.call(calls.make(found, (held.start, held.end), format_, held.repaired_from))
        else:
            content.begin_call()
            for part in found:
                if isinstance(part, Placed):
                    span = held.start + part.start, held.start + part.end
                    content.call(calls.make(part.written, span, format_, held.repaired_from))
                else:
                    content.message(part)  # type: ignore[arg-type]
        self._broken = False
        self._fresh = held.end
        self._token = None

    def _refuse(self, refusal: Refusal, start: int, text: str, candidate: _Candidate | None = None) -> bool:
        """Take a candidate that is complete, and no call."""
        return self._refuse_at(start, text, refusal, candidate, text)

    def _refuse_at(self, start: int, text: str, refusal: Refusal, candidate: _Candidate | None, whole: str) -> bool:
        """Report a candidate that is no call, and let its text be text.

        Args:
            start: its offset.
            text: what of it is text now: the search goes on after that.
            refusal: why it is no call.
            candidate: what was read token by token, if it was.
            whole: all that was read of it.
        """
        wrapper = self._wrappers[-1] if self._wrappers else None
        name = refusal.name
        if name is None and candidate is not None:
            name = wrapper.name if wrapper and wrapper.kind is WrapperKind.NAMED else self._name_in(candidate, whole)
        is_for_calls = self._is_for_calls()
        is_declared = name is not None and self._is_declared(name)
        if candidate is not None and candidate.name is not None:
            is_line = wrapper is not None and wrapper.kind is WrapperKind.LINE
            is_meant = is_for_calls or (is_declared and (not is_line or "=" in text))
            self._list_is_open = not is_line
        else:
            is_meant = is_for_calls or is_declared or has_call_keys(whole)
        self._break_wrappers(began=True)
        why = self._line.quotation(self._calls.tools or ())
        if why is not None and (name is not None or is_meant):
            self._rejections.quoted(start, start + len(text), why, name)
        else:
            self._rejections.add(start, start + len(text), refusal._replace(name=name), is_meant=is_meant)
        self._put(start, text)
        return True

    def _is_for_calls(self) -> bool:
        """Return whether a candidate stands in a tag, or after a token, whose only use is calls."""
        return any(wrapper.is_for_calls for wrapper in self._wrappers) or self._is_after_tag

    def _is_declared(self, name: str) -> bool:
        return name in (self._calls.tools or ())

    def _tool_named(self, name: str | None) -> str | None:
        """Return the declared tool that a pythonic name means; or the name, if any may be called."""
        if not name or not self._grammar.pythonic:
            return None
        if name in self._names:
            return name
        base = name.removesuffix(METHOD)
        if base != name and (base in self._names or (base in BUILT_IN and self._calls.tools is None)):
            return base
        return None

    # Wrappers.

    def _open_wrapper(  # noqa: PLR0913 (what a wrapper is)
        self,
        kind: WrapperKind,
        start: int,
        end: int,
        closing: str,
        format_: str | None,
        *,
        name: str | None = None,
        deviation: str | None = None,
        is_for_calls: bool = False,
    ) -> bool:
        """Open a wrapper between two indexes of the window, unless it is quoted."""
        window = self._window
        if not self._wrappers:
            self._put_up_to(start)
            if kind is not WrapperKind.CODE and self._line.quotation(self._calls.tools or ()) is not None:
                self._put_up_to(end)
                return True
        self._push(kind, start, window.text[start:end], closing, format_, name=name, deviation=deviation, is_for_calls=is_for_calls)
        window.pos = end
        self._state = State.WRAPPER
        return True

    def _push(  # noqa: PLR0913 (what a wrapper is)
        self,
        kind: WrapperKind,
        start: int,
        opening: str,
        closing: str,
        format_: str | None,
        *,
        name: str | None = None,
        deviation: str | None = None,
        is_for_calls: bool = False,
    ) -> None:
        offset = self._window.base + start
        self._wrappers.append(
            Wrapper(kind, offset, offset + len(opening), opening, closing, format_, len(self._queue), self._count, name, deviation, is_for_calls)
        )
        self._count = 0
        if opening:
            self._queue.append(Part(offset, opening, Piece.TEXT))

    def _read_wrapper(self) -> bool:
        """Read what follows in a wrapper: delimiters, and then a call, another wrapper, or what closes it."""
        window, wrapper = self._window, self._wrappers[-1]
        text, pos = window.text, window.pos
        if wrapper.kind is WrapperKind.LINE:
            ended_line = self._read_line_end()
            if ended_line is not None:
                return ended_line
        going, ended = self._grammar.inside
        match = (ended if window.ended else going).match(text, pos)
        kind = None if match is None else match.lastgroup
        if match is None or kind is None:
            return self._break_unless_surplus(wrapper, pos)
        if kind == "more":
            return False
        at = match.start(kind)
        if at > pos:
            gap = text[pos:at]
            if not self._count and not gap.isspace():
                return self._break_wrappers()
            self._queue.append(Part(window.base + pos, gap, Piece.TEXT))
            window.pos = at
        return self._follow(wrapper, kind, match, at)

    def _break_unless_surplus(self, wrapper: Wrapper, pos: int) -> bool:
        skipped = self._skip_surplus_inside(wrapper, pos)
        return False if skipped is None else skipped or self._break_wrappers()

    def _follow(self, wrapper: Wrapper, kind: str, match: re.Match[str], at: int) -> bool:  # noqa: C901, PLR0911, PLR0912 (one case a kind)
        """Go on in a wrapper with what stands at an index of the window."""
        window = self._window
        if kind == "gap":
            if not window.ended:
                return False
            return self._end_wrappers()
        if kind == "end":
            return self._read_closing(wrapper, match["end"], at)
        if kind == "call":
            return self._begin_call_inside(wrapper, match, at)
        format_ = self._grammar.formats[kind]
        written = match[kind]
        if format_.kind is Kind.OBJECT:
            if wrapper.kind is WrapperKind.NAMED and self._count:
                return self._break_wrappers()
            if self._broken and wrapper.kind is WrapperKind.LIST and not self._count and self._is_data_at(wrapper.start):
                return self._break_wrappers()
            return self._begin_json(at)
        if format_.kind is Kind.LITERAL and wrapper.kind is not WrapperKind.NAMED:
            self._begin_candidate(PythonTokens(window.base + at, is_call=False), at)
            return True
        if format_.kind is Kind.TOKEN or format_.kind is Kind.TURN:
            return self._read_token_inside(wrapper, format_.kind, written, at)
        if format_.kind is Kind.FENCE:
            return self._read_fence_inside(wrapper, match, at)
        if format_.kind is Kind.TAG and self._count and wrapper.opening in format_.closings:
            return self._close()  # the same tag once more closes it
        if wrapper.kind is WrapperKind.NAMED:
            if self._count and written in MISSPELLED_CLOSINGS and wrapper.name in (self._calls.tools or ()):
                return self._close_at(at, written)
            return self._break_wrappers()
        if wrapper.kind in (WrapperKind.LINE, WrapperKind.SPAN) and self._count:
            return self._break_wrappers()
        return self._open_inside(format_, match, at)

    def _is_data_at(self, offset: int) -> bool:
        at = offset - self._window.base
        return at > 0 and _DATA(self._window.text, max(at - LOOK_BEHIND, 0), at) is not None

    def _open_inside(self, format_: WireFormat, match: re.Match[str], at: int) -> bool:
        """Open a wrapper in a wrapper."""
        if len(self._wrappers) >= _MOST_WRAPPERS:
            return self._break_wrappers()
        end = match.end()
        if format_.kind is Kind.LIST:
            return self._open_wrapper(WrapperKind.LIST, at, end, "]", None)
        if format_.kind is Kind.TAG:
            opening = match[format_.name]
            if any(wrapper.opening == opening for wrapper in self._wrappers):
                return self._break_wrappers()
            return self._open_wrapper(
                WrapperKind.TAG, at, end, format_.closings[opening], format_.name, is_for_calls=format_.name != "tools"
            )
        if format_.kind is Kind.NAMED_TAG and not any(wrapper.kind is WrapperKind.NAMED for wrapper in self._wrappers):
            return self._begin_named_tag(format_, match) or self._break_wrappers()
        return self._break_wrappers()

    def _begin_call_inside(self, wrapper: Wrapper, match: re.Match[str], at: int) -> bool:
        """Begin a pythonic call in a wrapper: in a list whatever it names, elsewhere of a declared tool."""
        name = match["call"][:-1].rstrip(" \t")
        is_read = self._grammar.pythonic and wrapper.kind is not WrapperKind.NAMED
        if not is_read or (wrapper.kind is not WrapperKind.LIST and self._tool_named(name) is None):
            return self._break_wrappers()
        return self._begin_pythonic(at, match.end("call") - 1, name)

    def _read_closing(self, wrapper: Wrapper, written: str, at: int) -> bool:
        """Read what may close the wrapper."""
        window, text = self._window, self._window.text
        closing = wrapper.closing
        if written != closing:
            if wrapper.kind is WrapperKind.NAMED and self._count and written in MISSPELLED_CLOSINGS and wrapper.name in (self._calls.tools or ()):
                return self._close_at(at, written)
            if written.startswith("`") and closing.startswith("`") and written.startswith(closing) and wrapper.kind is WrapperKind.FENCE and self._count:
                return self._close_at(at, written)
            if closing.startswith(written) and at + len(written) == len(text) and not window.ended:
                return False
            return self._break_unless_surplus(wrapper, at)
        if not self._count:
            return self._close_empty(wrapper, at)
        if wrapper.kind in (WrapperKind.SPAN, WrapperKind.BOLD):
            after = _AFTER_LINE(text, at + len(closing))
            if after is not None and after["more"] is not None and not window.ended:
                return False
            if after is None:
                return self._break_wrappers()
        if wrapper.kind is WrapperKind.LIST and self._is_pythonic():
            after_at = at + len(closing)
            if len(text) - after_at < 2 and not window.ended:  # noqa: PLR2004  # `.x` is two characters
                return False
            if len(self._wrappers) == 1 and is_part_of_code("", text[after_at : after_at + 2]):
                return self._break_wrappers(is_code=True)
        return self._close_at(at, closing)

    def _close_empty(self, wrapper: Wrapper, at: int) -> bool:
        """Take a wrapper that closes around nothing: a call without arguments, if it names a tool that needs none."""
        if wrapper.kind is WrapperKind.NAMED and wrapper.name is not None and wrapper.deviation is None:
            name, window = wrapper.name, self._window
            refusal = refuse_empty(name, self._calls.tools)
            if refusal is None:
                held = Held(WrittenCall(name, {}, "{}"), wrapper.inside, window.base + at, "function")
                self._queue.append(Part(held.start, "", held))
                self._count += 1
                return self._close_at(at, wrapper.closing)
            if name in (self._calls.tools or ()):
                start = wrapper.start
                self._break_wrappers(began=True)
                self._reject(start, window.base + at, refusal, is_meant=True)
                return True
        return self._break_wrappers()

    def _is_pythonic(self) -> bool:
        return any(isinstance(part.what, Held) and part.what.format == "pythonic" for part in self._queue)

    def _read_token_inside(self, wrapper: Wrapper, kind: Kind, token: str, at: int) -> bool:
        """Take a protocol token in a wrapper: after a call it closes what is open, before one it is passed."""
        window = self._window
        if self._count:
            if token == wrapper.closing:
                return self._close_at(at, token)
            if wrapper.kind is WrapperKind.SPAN:
                return self._break_wrappers()
            while self._wrappers and self._count:
                self._close()
            return self._break_wrappers() if self._wrappers else True  # prose takes the token
        if kind is Kind.TURN or wrapper.kind is not WrapperKind.TAG:
            return self._break_wrappers(began=wrapper.kind is WrapperKind.CODE)
        self._queue.append(Part(window.base + at, token, Piece.TOKEN))
        window.pos = at + len(token)
        return True

    def _read_fence_inside(self, wrapper: Wrapper, match: re.Match[str], at: int) -> bool:
        """Take a fence in a wrapper: it closes the fence that is open, or opens one in a tag."""
        ticks = match["ticks"] or match["fence"]
        if wrapper.kind is WrapperKind.FENCE and self._count and ticks.startswith(wrapper.closing):
            return self._close_at(at, ticks)
        info = (match["info"] or "").lower()
        is_closing = wrapper.kind is WrapperKind.FENCE or any(one.kind is WrapperKind.FENCE for one in self._wrappers)
        if match["ticks"] is None or self._count or is_closing or info not in WORDS or wrapper.kind is WrapperKind.LIST:
            return self._break_wrappers(is_closed=is_closing)
        return self._open_wrapper(WrapperKind.FENCE, at, match.end(), ticks, "fence", name=info)

    def _read_line_end(self) -> bool | None:
        """Read what ends a line of pythonic calls; return `None` if something else follows."""
        window = self._window
        match = _LINE_END(window.text, window.pos)
        if match is None or not self._count:
            return None
        if match["more"] is not None and not window.ended:
            return False
        if match["more"]:
            return None
        return self._close()

    def _skip_surplus_inside(self, wrapper: Wrapper, pos: int) -> bool | None:
        """Skip one bracket too many directly after a call, before what closes the wrapper (rule 9).

        Returns:
            Whether there was one; `None` if it takes more text to know.
        """
        window = self._window
        text = window.text
        is_after_call = bool(self._queue) and isinstance(self._queue[-1].what, Held)
        if not is_after_call or wrapper.kind in _WITHOUT_SURPLUS or text[pos : pos + 1] not in ("}", "]", ">"):
            return False
        rest = text[pos + 1 : pos + _FAR].lstrip()
        closings = (wrapper.closing, "<|") if wrapper.closing else ("<|",)
        if not rest.startswith(closings) and (rest or not window.ended):
            is_open = not window.ended and any(closing.startswith(rest) for closing in closings)
            return None if is_open else False
        self._queue.append(Part(window.base + pos, text[pos], Piece.TEXT))
        window.pos = pos + 1
        return True

    def _end_wrappers(self) -> bool:
        """Take the end of the output: what is open around calls is closed, if the model ended its turn."""
        while self._wrappers and self._count and (self._is_complete or self._wrappers[-1].kind is WrapperKind.LINE):
            self._close()
        return self._break_wrappers(is_cut_off=not self._is_complete) if self._wrappers else True

    def _close_at(self, at: int, closing: str) -> bool:
        window = self._window
        self._queue.append(Part(window.base + at, closing, Piece.TEXT))
        window.pos = at + len(closing)
        return self._close()

    def _close(self) -> bool:
        """Close the innermost wrapper: it vanishes. The calls are made once none is open."""
        window, queue = self._window, self._queue
        if window.base + window.pos - self._wrappers[0].start > self._limits.max_call_length:
            return self._break_wrappers(began=True)
        wrapper = self._wrappers.pop()
        if wrapper.kind is WrapperKind.NAMED:
            self._close_named(wrapper)
        if self._wrappers:
            for index in range(wrapper.first, len(queue)):
                held = queue[index].what
                if isinstance(held, Held) and not held.is_closed:
                    queue[index] = queue[index]._replace(what=held._replace(is_closed=True, format=_format_in(held, wrapper)))
            self._count += wrapper.outer_count
            return True
        self._queue, self._count, self._state = [], 0, State.PROSE
        for part in queue:
            held = part.what
            if isinstance(held, Held):
                self._make(held, _format_in(held, wrapper), part.text)
        self._fresh = window.offset
        self._surplus = wrapper.closing
        return True

    def _close_named(self, wrapper: Wrapper) -> None:
        """Let the whole tag be the call."""
        queue = self._queue
        index = next(i for i in range(wrapper.first, len(queue)) if isinstance(queue[i].what, Held))
        held = queue[index].what
        assert isinstance(held, Held)  # noqa: S101  # as it was looked for
        text = "".join(part.text for part in queue[wrapper.first :])
        closing = queue[-1].text if wrapper.closing and len(queue) > index + 1 else ""
        if closing in MISSPELLED_CLOSINGS and isinstance(held.found, WrittenCall):
            deviation = f"the tag is closed by {closing}"
            held = held._replace(found=held.found._replace(deviations=(*held.found.deviations, deviation)))
        end = self._window.offset if wrapper.closing else held.end
        queue[wrapper.first :] = [Part(wrapper.start, text, held._replace(start=wrapper.start, end=end))]

    def _break_wrappers(self, *, began: bool = False, is_code: bool = False, is_cut_off: bool = False, is_closed: bool = False) -> bool:  # noqa: C901, PLR0912, PLR0915
        """Let the wrappers be text, and read what they hold as if it stood bare.

        Args:
            began: whether a candidate has begun that is no call.
            is_code: whether a pythonic list turned out to be a part of code.
            is_cut_off: whether a limit ended the output.
            is_closed: whether a fence that is open is closed by what follows.
        """
        if not self._wrappers:
            if self._state is not State.CODE:
                self._state = State.PROSE
            return True
        wrappers, queue, count = self._wrappers, self._queue, self._count
        self._wrappers, self._queue, self._count, self._state = [], [], 0, State.PROSE
        held_any = any(isinstance(part.what, Held) for part in queue)
        outer, inner = wrappers[0], wrappers[-1]
        if outer.kind is WrapperKind.CODE:
            if not held_any and not began:
                return self._begin_code(outer, queue)
            self._content.token(outer.opening)
            self._fresh, self._token = outer.inside, outer.opening
            queue = queue[1:]
        fence = next((one for one in wrappers if one.kind is WrapperKind.FENCE), None)
        is_listing = fence is not None and fence.name in LISTINGS and "listing" not in self._grammar.off and not is_cut_off and not is_closed
        is_listing = is_listing and ((inner is fence and not count and not began) or (held_any and self._holds_pythonic(queue) and not began))
        is_span = any(one.kind is WrapperKind.SPAN for one in wrappers)
        if fence is not None and is_listing:
            self._open_quotation(end_of_fence(len(fence.closing)), fence.inside, "in a listing of code")
            self._state = State.QUOTATION
        elif fence is not None:
            self._fence_is_open = True
        for part in queue:
            held = part.what
            if isinstance(held, Held):
                self._unwrap(held, part, inner, is_quoted=is_span or is_listing, is_code=is_code, is_cut_off=is_cut_off)
            elif held is Piece.TOKEN:
                self._content.token(part.text)
            else:
                self._put_wrapper(part)
        if any(one.kind is WrapperKind.LIST for one in wrappers) and self._names:
            self._list_is_open = True
        return True

    def _put_wrapper(self, part: Part) -> None:
        """Put the text of a wrapper that failed."""
        if self._quotation is not None and part.start >= self._quotation.start:
            self._quotation.pieces.append(part.text)
            self._quotation.length += len(part.text)
        self._put(part.start, part.text)

    def _holds_pythonic(self, queue: list[Part]) -> bool:
        return any(isinstance(part.what, Held) and part.what.format == "pythonic" for part in queue)

    def _unwrap(self, held: Held, part: Part, inner: Wrapper, *, is_quoted: bool, is_code: bool, is_cut_off: bool) -> None:
        """Take a call out of wrappers that are text."""
        name = (_names_of(held.found) or [None])[0]
        if self._quotation is not None:
            self._put_wrapper(part)
        elif is_quoted:
            self._rejections.quoted(held.start, held.end, "in a code span", name)
            self._put(part.start, part.text)
        elif is_code or (inner.kind is WrapperKind.LINE and not held.is_closed):
            detail = "a list that is a part of code" if is_code else "the line goes on after it, as prose or as code"
            self._reject(held.start, held.end, Refusal(RejectionReason.NOT_A_CALL, detail, name))
            self._put(part.start, part.text)
        elif inner.kind is WrapperKind.NAMED and not held.is_closed:
            self._unwrap_named(held, part, inner, is_cut_off=is_cut_off)
        elif is_cut_off and held.format == "pythonic":
            self._reject(held.start, held.end, Refusal(RejectionReason.TRUNCATED, "the output ends inside the wrapper around it", name), is_meant=True)
            self._put(part.start, part.text)
        elif held.format == "json" and not held.is_closed:
            self._make_bare(held, part.text)
            self._surplus = None
        else:
            self._make(held, held.format, part.text)

    def _unwrap_named(self, held: Held, part: Part, wrapper: Wrapper, *, is_cut_off: bool) -> None:
        """Take what stands in a tag that does not close: a call in it counts, arguments do not."""
        parsed = parse_whole(part.text)
        found = self._calls.read(parsed) if parsed and not is_cut_off else None
        if found is not None and not isinstance(found, Refusal):
            self._make_bare(held._replace(found=found), part.text)
            return
        reason = RejectionReason.TRUNCATED if is_cut_off else RejectionReason.MALFORMED
        refusal = Refusal(reason, f"expected {wrapper.closing or 'the end of the line'} at offset {held.end}", wrapper.name)
        self._reject(wrapper.start, held.end, refusal, is_meant=True)
        self._put(part.start, part.text)

    # Code.

    def _begin_code(self, wrapper: Wrapper, queue: list[Part]) -> bool:
        """Take what follows <|python_tag|>, and is no call in another form, as code."""
        self._content.token(wrapper.opening)
        self._candidate = _Candidate(None, wrapper.inside, "", CODE_INTERPRETER)
        self._candidate.kept = [part.text for part in queue[1:]]
        self._state = State.CODE
        return True

    def _read_code(self) -> bool:
        """Read code up to the next token, or to the end of the output."""
        window, candidate = self._window, self._candidate
        assert candidate is not None  # noqa: S101  # the state says so
        text, pos = window.text, window.pos
        match = (END_OF_CODE.ended if window.ended else END_OF_CODE.going).search(text, pos)
        end = len(text) if match is None else match.start()
        piece = text[pos:end]
        window.pos = end
        if candidate.flows:
            self._put(window.base + pos, piece)
        else:
            candidate.kept.append(piece)
            if window.offset - candidate.start > self._limits.max_call_length:
                self._let_flow(candidate)
                self._state = State.CODE
        if not window.ended and (match is None or match.lastgroup == "more"):
            return False
        self._candidate, self._state = None, State.PROSE
        if not candidate.flows:
            self._end_code(candidate.start, "".join(candidate.kept), is_closed=match is not None)
        return True

    def _end_code(self, start: int, text: str, *, is_closed: bool) -> None:
        found = code_call(text, (self._calls.tools or {}).get(CODE_INTERPRETER))
        if found is None:
            self._put(start, text)
            return
        written, at, length = found
        span = start + at, start + at + length
        refusal = refuse_code(written, is_closed=is_closed, is_complete=self._is_complete)
        checked = refusal or self._calls.checked(written)
        if isinstance(checked, Refusal):
            self._reject(*span, checked, is_meant=True)
            self._put(start, text)
            return
        self._make(Held(written, *span, "code"), "code", text)
        self._fresh = self._window.offset

    # Quotation.

    def _open_quotation(self, closing: Closing, start: int, why: str, *, keeps_end: bool = True, is_split: bool = False) -> bool:
        self._quotation = _Quotation(closing, start, why, keeps_end=keeps_end, is_split=is_split)
        if is_split:
            self._content.begin_thought()
        self._state = State.QUOTATION
        return True

    def _read_quotation(self) -> bool:
        """Let text flow up to what closes the quotation."""
        window, quotation = self._window, self._quotation
        assert quotation is not None  # noqa: S101  # the state says so
        text, pos = window.text, window.pos
        match = (quotation.closing.ended if window.ended else quotation.closing.going).search(text, pos)
        end = len(text) if match is None else match.start()
        self._take_quoted(text[pos:end])
        if match is None or match.lastgroup == "more":
            return False
        after = match.end() if quotation.keeps_end else end
        self._end_quotation()
        if quotation.is_split:
            window.pos = after
        elif after > window.pos:
            self._put(window.offset, text[window.pos : after])
            window.pos = after
        self._fresh = window.offset
        self._token = None
        self._state = State.PROSE
        return True

    def _take_quoted(self, piece: str) -> None:
        window, quotation = self._window, self._quotation
        if not piece or quotation is None:
            return
        if quotation.is_split:
            self._content.reasoning(piece)
        else:
            self._put(window.offset, piece)
        window.pos += len(piece)
        quotation.pieces.append(piece)
        quotation.length += len(piece)
        while quotation.length > _MOST_QUOTED:
            text = "".join(quotation.pieces)
            self._search_quoted(quotation, text[:_MOST_QUOTED])
            quotation.pieces, quotation.length = [text[_MOST_QUOTED:]], len(text) - _MOST_QUOTED

    def _search_quoted(self, quotation: _Quotation, text: str) -> None:
        """Report the calls in what was quoted."""
        for start, end, name in find_quoted(text, self._calls):
            self._rejections.quoted(quotation.start + start, quotation.start + end, quotation.why, name)
        quotation.start += len(text)

    def _end_quotation(self) -> None:
        quotation, self._quotation = self._quotation, None
        if quotation is not None:
            self._search_quoted(quotation, "".join(quotation.pieces))

    # Limits.

    def _hold_no_more_than_a_call(self) -> None:
        """Release what is held back beyond the length of a call (rule 14)."""
        limit, window = self._limits.max_call_length, self._window
        if self._wrappers and window.arrived - self._wrappers[0].start > limit:
            candidate, self._candidate = self._candidate, None
            state = self._state
            self._break_wrappers(began=True)
            self._candidate = candidate
            self._state = State.CANDIDATE if candidate is not None else self._state
            del state
            self._run()
        candidate = self._candidate
        if candidate is not None and not candidate.flows and window.arrived - candidate.start > limit:
            self._let_flow(candidate)


_WITHOUT_SURPLUS = (WrapperKind.LIST, WrapperKind.LINE, WrapperKind.SPAN)
"""The wrappers in which a bracket after a call is no slip."""

_STEPS: dict[State, Callable[[ExtractionStream], bool]] = {
    State.PROSE: ExtractionStream._read_prose,
    State.QUOTATION: ExtractionStream._read_quotation,
    State.CANDIDATE: ExtractionStream._read_candidate,
    State.WRAPPER: ExtractionStream._read_wrapper,
    State.CODE: ExtractionStream._read_code,
    State.REPAIR: ExtractionStream._read_repair,
}
"""What each state does: it reads on, and returns whether to go on, or whether more text is needed."""

_BEGIN: dict[Kind, Callable[[ExtractionStream, WireFormat, re.Match[str]], bool]] = {
    Kind.OBJECT: ExtractionStream._begin_object,
    Kind.LITERAL: ExtractionStream._begin_literal,
    Kind.CALL: ExtractionStream._begin_call,
    Kind.LIST: ExtractionStream._begin_list,
    Kind.NAMED_LIST: ExtractionStream._begin_named_list,
    Kind.TAG: ExtractionStream._begin_tag,
    Kind.NAMED_TAG: ExtractionStream._begin_named_tag,
    Kind.FENCE: ExtractionStream._begin_fence,
    Kind.TOKEN: ExtractionStream._begin_token,
    Kind.TURN: ExtractionStream._begin_turn,
    Kind.THOUGHT: ExtractionStream._begin_thought,
    Kind.RESPONSE: ExtractionStream._begin_response,
}
"""What each kind of format does where it begins in prose: it returns whether anything has begun."""


def _names_of(found: Found) -> list[str]:
    """Return the names of the tools that are called."""
    if isinstance(found, WrittenCall):
        return [found.name]
    return [part.written.name for part in found if isinstance(part, Placed)]


def _format_in(held: Held, wrapper: Wrapper) -> str:
    """Return the format of a call in a wrapper: that of the outermost wrapper that has one, unless it is pythonic."""
    return held.format if held.format == "pythonic" or wrapper.format is None else wrapper.format
