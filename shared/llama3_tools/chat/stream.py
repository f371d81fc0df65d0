"""One answer of a model, whole or in deltas, as content, reasoning and calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from llama3_tools.chat.call_order import CallOrder
from llama3_tools.chat.due_call import DueCall
from llama3_tools.chat.finish_reason import is_complete, openai_finish_reason
from llama3_tools.chat.message_stream import MessageStream
from llama3_tools.chat.messages import CallPiece, Message, content_of, split_message
from llama3_tools.chat.report import MISFIT, NOT_CHOSEN, RefusedCall, Reply, Report
from llama3_tools.chat.server_calls import NATIVE, ServerCallReader, ServerCalls, UnreadCall
from llama3_tools.chat.tool_names import ToolNames
from llama3_tools.errors import StreamStateError, require_str
from llama3_tools.extractor import Extractor
from llama3_tools.literals.json_object import JsonObject
from llama3_tools.options import ReadOptions, written_id
from llama3_tools.prompts import render_tool_call
from llama3_tools.prompts.complaints import Complaints
from llama3_tools.reader.markup import search_end_of_turn
from llama3_tools.reader.stream import ExtractionStream
from llama3_tools.text.growing_text import GrowingText
from llama3_tools.values import (
    CallProgress,
    Event,
    Extraction,
    ReasoningDelta,
    Rejection,
    RejectionReason,
    Span,
    TextDelta,
    ToolCall,
)

__all__ = ["AnswerReaders", "ChatStream", "Delta", "Earlier"]

_MOST_LOOKED_FOR = 64
"""How many calls of the server are looked for in the content, at most: each search reads all of it."""

_BLANK_LINE = "\n\n"

Delta = dict[str, Any]
"""A delta in OpenAI's form."""


@dataclass(frozen=True, slots=True)
class AnswerReaders:
    """What reads the answers to a request."""

    extractor: Extractor
    """Reads the text."""
    without_start: Extractor
    """Reads the text if the server has split off the reasoning in which it begins."""
    server_calls: ServerCallReader
    """Reads the calls that the server found."""
    names: ToolNames
    """Maps the names of the tools."""
    reported_names: frozenset[str] | None
    """The names whose attempts are reported, with `on_unknown_tool="text"`; `None`: any."""
    not_chosen: Mapping[str, str] = field(default_factory=dict)
    """The tools that may not be called, as the tool choice names another one, and what is said of a call of each."""

    @property
    def options(self) -> ReadOptions:
        """How text is read."""
        return self.server_calls.options

    @property
    def complaints(self) -> Complaints:
        """Says what the model is told of calls that do not run."""
        return self.server_calls.complaints

    def reported_attempts(self, rejections: Iterable[Rejection]) -> list[Rejection]:
        """Return the attempts that are reported, and of which the model is told."""
        names = self.reported_names
        return [
            one
            for one in rejections
            if (one.is_attempt and (names is None or one.name is None or one.name in names))
            or self.says_not_chosen(one.name, one.reason)
        ]

    def says_not_chosen(self, name: str | None, reason: str) -> bool:
        """Return whether a call does not run because the tool choice names another tool."""
        return reason == RejectionReason.UNKNOWN_TOOL and name in self.not_chosen


@dataclass(frozen=True, slots=True)
class Earlier:
    """What earlier answers of a turn had, in which the model was asked again."""

    is_retried: bool = False
    """Whether there was one."""
    has_text: bool = False
    """Whether one had text."""
    has_thoughts: bool = False
    """Whether one had thoughts."""
    refused: tuple[RefusedCall, ...] = ()
    """The calls that were refused in them."""
    content: str | list[Any] | None = None
    """What the last one of them said, which stands if the next one says nothing."""
    finish_reason: str | None = None
    """Why it ended."""

    def with_reply(self, reply: Reply) -> Earlier:
        """Return the same with one more answer."""
        return Earlier(
            is_retried=True,
            has_text=self.has_text or bool(reply.content),
            has_thoughts=self.has_thoughts or bool(reply.reasoning),
            refused=(*self.refused, *reply.report.refused),
            content=reply.content,
            finish_reason=reply.finish_reason,
        )


class ChatStream:
    """Reads one answer. It is fed deltas in OpenAI's form, and returns deltas in which text and calls are apart.

    Text and reasoning come as soon as they are certain, each call of the text whole, when its last character has
    arrived. The server's own calls come at the end, as they stand after those in the text. If an answer begins with a
    call that is refused, and the model may be asked again, the text waits for the end: if `Request.retry` asks again,
    leave it out. Keys that are none of `content`, `tool_calls`, `function_call` and the reasoning's come through as
    they are. With `ReadOptions(progress=True)`, `tool_call_progress` says how far a call has come.

    >>> from llama3_tools.chat import ToolChat
    >>> stream = ToolChat([{"name": "now"}]).request([{"role": "user", "content": "The time?"}]).stream()
    >>> stream.feed({"role": "assistant", "content": "Let me see. "})
    [{'role': 'assistant'}, {'content': 'Let me see.'}]
    >>> [delta] = stream.feed({"content": '{"name": "now", "parameters": {}}'})
    >>> delta["tool_calls"][0]["function"]
    {'name': 'now', 'arguments': '{}'}
    >>> stream.end("stop")
    []
    >>> stream.reply.finish_reason
    'tool_calls'
    """

    def __init__(
        self,
        readers: AnswerReaders,
        order: CallOrder,
        earlier: Earlier,
        due: DueCall | None = None,
        *,
        may_retry: bool = False,
    ) -> None:
        """Begin an answer.

        Args:
            readers: what reads it.
            order: decides which calls run.
            earlier: what earlier answers of the turn had. What goes out stands a blank line apart from it.
            due: the one tool that has to be called, if there is one.
            may_retry: whether the model may be asked again.
        """
        self._due = due
        self._waits = may_retry
        """Whether nothing has gone out that the answer to a retry would follow."""
        self._waiting: list[str] = []
        self._is_refused = False
        self._earlier = earlier
        self._separator = _BLANK_LINE if earlier.has_text else ""
        self._readers = readers
        self._order = order
        self._extraction: ExtractionStream | MessageStream | None = None
        self._written = _Written()
        self._server = ServerCalls()
        self._content = _Content()
        self._thoughts = _Thoughts(follow=earlier.has_thoughts)
        self._looked_for = 0
        """How many calls of the server were looked for in the content."""
        self._reply: Reply | None = None
        self.is_silent = False
        """Whether the model was asked again and said nothing, so that the reply has what it had said before."""

    @property
    def is_over(self) -> bool:
        """Whether the answer is over."""
        return self._reply is not None

    @property
    def reply(self) -> Reply:
        """The answer; after `abort()`, what of it was handed out.

        If the model was asked again, and this answer has neither text nor a call, the content is that of the answer
        before it.

        Raises:
            StreamStateError: the answer is not over yet.
        """
        if self._reply is None:
            raise StreamStateError("the answer is not over yet: call end() or abort() before you read reply")
        return self._reply

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        """The calls that were handed out so far, as they are in the reply."""
        return self._order.called

    def feed(self, delta: Message) -> list[Delta]:
        """Take the next delta, or a whole message, and return what became certain.

        Raises:
            StreamStateError: the answer is over.
            TypeError: the delta, or a call in it, is no dict.
        """
        if self._reply is not None:
            self._require_open("feed()")
        if type(delta) is dict and len(delta) == 1 and type(text := delta.get("content")) is str:
            self._content.is_given = True  # as nearly all deltas are
            return self._feed_text(text)
        parts = split_message(delta)
        deltas: list[Delta] = [parts.rest] if parts.rest else []
        if parts.reasoning:
            deltas.append(self._thoughts.add(parts.reasoning, is_server=True))
        self._content.is_given = self._content.is_given or parts.has_content
        for part in parts.content:
            if isinstance(part, str):
                deltas += self._feed_text(part)
            else:
                self._content.add_part(part)
                deltas += [*self._release(), {"content": [part]}]
        for piece in parts.calls:
            self._server.add(piece)
        return deltas

    def end(self, finish_reason: str | None = None) -> list[Delta]:
        """Take the end of the answer, and return what was held back for it.

        Args:
            finish_reason: the server's word for why the model ended, if it has one.

        Raises:
            StreamStateError: the answer is over.
            TypeError: `finish_reason` is neither a `str` nor `None`.
        """
        self._require_open("end()")
        if finish_reason is not None:
            require_str(finish_reason, "finish_reason must be a str or None")
        complete = is_complete(finish_reason)
        text = self._text
        deltas = self._to_deltas(text.flush(complete=complete))
        extraction = text.extraction
        refused = self._refused_in(extraction)
        if self._due is not None:
            before = (extraction.content or "").removesuffix(self._due.held.lstrip()).rstrip()
            due, rest = self._called_as_object(self._due, before, refused)
            if due is not None:
                extraction = replace(extraction, content=before + rest)
                deltas += [{"content": self._separate(rest)}] if rest else []
                deltas += self._hand_out(self._order.take(due))
                self._waited(), self._due.release()
        deltas += self._release()
        ids = {call.id for call in text.extraction.tool_calls}
        for call in self._server.gathered:
            name = self._readers.names.own(call.name)
            read = self._readers.server_calls.read(call, name, ids, made=self._order.count, complete=complete)
            if isinstance(read, ToolCall):
                deltas += self._hand_out(self._order.take_from_server(read))
            else:
                deltas += self._as_text(read.text)
                if self._readers.says_not_chosen(name, read.reason):
                    refused.append(self._not_chosen(read))
                elif read.reason != RejectionReason.UNKNOWN_TOOL or self._readers.reported_names is None:  # as in text
                    refused.append(read)
        refused += [self._refuse_misfit(call, problems) for call, problems in self._order.waiting]
        reason = openai_finish_reason(finish_reason, has_calls=bool(self._order.called))
        self._finish(extraction, refused, reason)
        if self.is_silent and not self._earlier.has_text:
            deltas.append({"content": self.reply.content})
        return deltas

    def abort(self) -> list[Delta]:
        """Take the news that the stream broke off: what was held back is text, and nothing more is called.

        Raises:
            StreamStateError: the answer is over.
        """
        self._require_open("abort()")
        text = self._text
        deltas = self._to_deltas(text.abort()) + self._release()
        refused = self._refused_in(text.extraction)
        for call, problems in self._order.waiting:
            written = self._written.text[slice(*call.span)]
            deltas.append({"content": self._separate(self._content.append(written))})
            refused.append(self._refuse_misfit(call, problems))
        for unread in self._server.gathered:
            refused.append(self._refuse_unread(unread))
            deltas += self._as_text(refused[-1].text)
        self._finish(text.extraction, refused, None)
        return deltas

    @property
    def _text(self) -> ExtractionStream | MessageStream:
        """What reads the text. It begins with the first one, as it depends on what the server sends before that."""
        if self._extraction is None:
            readers = self._readers
            stream = (readers.without_start if self._thoughts else readers.extractor).stream()
            is_strict = readers.complaints.prompt_format == "strict"
            self._extraction = MessageStream(stream) if is_strict else stream
        return self._extraction

    def _feed_text(self, text: str) -> list[Delta]:
        if not text:
            return []
        self._written.recent.add(text)
        return self._to_deltas((self._extraction or self._text).feed(text))

    def _to_deltas(self, events: Iterable[Event]) -> list[Delta]:
        deltas: list[Delta] = []
        for event in events:
            if isinstance(event, TextDelta):
                text = event.text
                if not text.isspace():
                    self._order.is_interrupted = True
                self._content.add(text)
                text = text if self._due is None else self._due.hold(text)
                text = self._unless_refused(text) if self._waits and text else text
                if text:
                    deltas.append({"content": self._separate(text) if self._separator else text})
            elif isinstance(event, ReasoningDelta):
                self._order.is_interrupted = True
                deltas.append(self._thoughts.add(event.text, is_server=False))
            elif isinstance(event, CallProgress):
                progress = {**asdict(event), "name": self._readers.names.own(event.name)}
                deltas.append({"tool_call_progress": progress})
            else:
                call = event.tool_call
                if self._written.take_call(call.span):
                    self._order.is_interrupted = True
                name = self._readers.names.own(call.name)
                taken = self._order.take(call if name == call.name else replace(call, name=name))
                deltas += [*self._release(), *self._hand_out(taken)] if taken else []
        return deltas

    def _unless_refused(self, text: str) -> str:
        """Return what of the text may go out: it waits if it may be all that the model is asked to write again."""
        self._waiting.append(text)
        if text.isspace():
            return ""
        if not self._is_refused:
            attempts = self._readers.reported_attempts(self._text.rejections)
            self._is_refused = bool(attempts or self._order.waiting)
        return "" if self._is_refused else self._waited()

    def _waited(self) -> str:
        """Return the text that waits. From now on, none does."""
        self._waits = False
        text = "".join(self._waiting)
        self._waiting.clear()
        return text

    def _release(self) -> list[Delta]:
        """Return the deltas of what is held: as the arguments of the call that is due, or for the end."""
        held = self._waited() + ("" if self._due is None else self._due.release())
        return [{"content": self._separate(held)}] if held else []

    def _called_as_object(self, due: DueCall, before: str, refused: list[RefusedCall]) -> tuple[ToolCall | None, str]:
        """Return the call that is due, if one object is its arguments, and the text held around that.

        An object that does not fit is refused, if no other one may be the arguments.
        """
        found: list[tuple[JsonObject, ToolCall, list[str]]] = []
        for one in due.objects(before) if not (self._order.count or self._server.gathered or refused) else ():
            unread = UnreadCall(None, 0, name=due.name)
            unread.add(CallPiece(None, None, due.name, one.json))
            read = self._readers.server_calls.read(unread, due.name, set(), made=0, complete=True)
            if isinstance(read, ToolCall):
                found.append((one, read, due.misfits(read.arguments)))
        fitting = found if len(found) == 1 else [each for each in found if not each[2]]
        if len(fitting) != 1:
            return None, ""
        [(one, read, problems)] = fitting
        start, rest = self._written.text.rfind(one.json), due.without(one)
        span = (start, start + len(one.json))
        call = replace(read, format="json", span=span, deviations=("it is the arguments alone",))
        if problems and due.is_alone:
            return None, ""
        if problems and (before or rest or self._readers.options.coerce_arguments):
            refused.append(self._refuse_misfit(call, problems))
            return None, ""
        return call, rest if before else rest.lstrip()

    def _separate(self, text: str) -> str:
        """Return a text with what sets the first one of the answer apart from an earlier answer."""
        separator, self._separator = self._separator, ""
        return separator + text

    def _hand_out(self, calls: Iterable[ToolCall]) -> list[Delta]:
        """Return the deltas that hand calls out, which the order has counted."""
        calls = list(calls)
        first = len(self._order.called) - len(calls)
        return [{"tool_calls": [{"index": first + place, **call.to_openai()}]} for place, call in enumerate(calls)]

    def _as_text(self, call: str) -> list[Delta]:
        """Return the delta by which a call of the server becomes text, unless the server has left it there, too."""
        if self._looked_for < _MOST_LOOKED_FOR:
            self._looked_for += 1
            if call in (self._text.extraction.content or ""):
                return []
        return [{"content": self._separate(self._content.append(call))}]

    def _refused_in(self, extraction: Extraction) -> list[RefusedCall]:
        return [self._refuse(attempt) for attempt in self._readers.reported_attempts(extraction.rejections)]

    def _refuse(self, attempt: Rejection) -> RefusedCall:
        name = self._readers.names.own(attempt.name or "")
        told = self._readers.complaints.of_unread(attempt.name, attempt.reason, attempt.detail)
        text = self._written.text[slice(*attempt.span)]
        call_id = written_id(self._readers.options.id_factory)
        refused = RefusedCall(call_id, name, str(attempt.reason), attempt.detail, text, attempt.span, told)
        return self._not_chosen(refused) if self._readers.says_not_chosen(attempt.name, attempt.reason) else refused

    def _not_chosen(self, call: RefusedCall) -> RefusedCall:
        detail = self._readers.not_chosen[call.name]
        told = self._readers.complaints.of_unread(call.name, RejectionReason.UNKNOWN_TOOL, detail)
        return replace(call, reason=NOT_CHOSEN, detail=detail, told=told)

    def _refuse_misfit(self, call: ToolCall, problems: list[str]) -> RefusedCall:
        told = self._readers.complaints.of_misfit(call.name, problems, call.arguments)
        is_text = call.format != NATIVE
        text = self._written.text[slice(*call.span)] if is_text else render_tool_call(call.name, call.arguments_json)
        span = call.span if is_text else None
        return RefusedCall(call.id, call.name, MISFIT, "; ".join(problems), text, span, told)

    def _refuse_unread(self, call: UnreadCall) -> RefusedCall:
        call_id = call.id or written_id(self._readers.options.id_factory)
        name = self._readers.names.own(call.name)
        return self._readers.server_calls.refuse(call, call_id, name, RejectionReason.TRUNCATED, "the stream broke off")

    def _finish(self, extraction: Extraction, refused: list[RefusedCall], finish_reason: str | None) -> None:
        order = self._order
        called = tuple(order.called)
        repeated, surplus = tuple(order.repeated), tuple(order.surplus)
        is_retried, retried = self._earlier.is_retried, self._earlier.refused
        report = Report(called, tuple(refused), repeated, surplus, is_of_retry=is_retried, retried=retried)
        has_calls = bool(called or order.waiting)
        content = self._content.whole(extraction.content, has_calls=has_calls)
        says_nothing = not (has_calls or refused or (content if isinstance(content, list) else (content or "").strip()))
        if says_nothing and finish_reason is not None and self._earlier.content:
            self.is_silent, content, finish_reason = True, self._earlier.content, self._earlier.finish_reason
        self._reply = Reply(content, called, self._thoughts.text or None, finish_reason, report)

    def _require_open(self, verb: str) -> None:
        if self._reply is not None:
            raise StreamStateError(
                f"{verb} was called after the end of the answer: use Request.stream() for the next answer"
            )


class _Written:
    """The text of the model, as it came."""

    def __init__(self) -> None:
        self._settled: list[str] = []
        """What stands before the last call, or before an earlier one."""
        self.recent = GrowingText()
        """What has come since, to which the next text is added."""
        self._recent_at = 0
        self._called_to = 0

    def take_call(self, span: Span) -> bool:
        """Note where the next call stands, and return whether a token that ends a turn stands before it."""
        recent, at = self.recent.joined(), self._recent_at
        is_new_turn = search_end_of_turn(recent, self._called_to - at, span[0] - at) is not None
        self._called_to = span[1]
        cut = span[1] - at
        if cut > len(recent) // 2:  # which keeps the work linear
            self._settled.append(recent[:cut])
            recent, self._recent_at = recent[cut:], span[1]
        self.recent = GrowingText(recent)
        return is_new_turn

    @property
    def text(self) -> str:
        self._settled = ["".join([*self._settled, self.recent.joined()])]
        self.recent, self._recent_at = GrowingText(), len(self._settled[0])
        return self._settled[0]


class _Content:
    """The content of an answer: text that was read, parts other than text, and calls that became text at its end."""

    def __init__(self) -> None:
        self.is_given = False
        """Whether the server has sent a content, be it empty."""
        self._length = 0
        """How many characters of text were read. They are kept by what has read them."""
        self._parts: list[tuple[int, Any]] = []
        """The parts, and how much text stands before each."""
        self._appended: list[str] = []
        self._has_text = False

    def add(self, text: str) -> None:
        self._length += len(text)
        self._has_text = self._has_text or not text.isspace()

    def add_part(self, part: object) -> None:
        self._parts.append((self._length, part))

    def append(self, text: str) -> str:
        """Append text in place of a call that does not run, and return the piece that this adds."""
        piece = f" {text}" if self._has_text else text
        self._appended.append(piece)
        self._has_text = True
        return piece

    def whole(self, read: str | None, *, has_calls: bool) -> str | list[Any] | None:
        """Return the content, given what was read of the text, which may have lost white space at its start."""
        text = read or ""
        lost, at = self._length - len(text), 0
        pieces: list[Any] = []
        for place, part in self._parts:
            end = max(place - lost, 0)
            pieces += [text[at:end], part]
            at = end
        pieces.append("".join([text[at:], *self._appended]))
        content = content_of([piece for piece in pieces if piece != ""])
        return content or ("" if self.is_given and not has_calls else None)


class _Thoughts:
    """What the model thought: what the server sends as such, and what is split off the text, a blank line apart."""

    def __init__(self, *, follow: bool) -> None:
        self._text = GrowingText()
        self._is_server = True
        self._separator = _BLANK_LINE if follow else ""

    def add(self, text: str, *, is_server: bool) -> Delta:
        if self._text and self._is_server is not is_server:
            text = f"{_BLANK_LINE}{text.lstrip()}"
        self._is_server = is_server
        self._text.add(text)
        separator, self._separator = self._separator, ""
        return {"reasoning_content": separator + text}

    @property
    def text(self) -> str:
        return self._text.joined()

    def __bool__(self) -> bool:
        return bool(self._text)
