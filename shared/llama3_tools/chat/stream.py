"""One answer of a model, whole or in deltas, as content, reasoning and calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

from llama3_tools.chat.answer_reader import NATIVE, AnswerReader
from llama3_tools.chat.call_order import CallOrder
from llama3_tools.chat.content import BLANK_LINE, Content, Thoughts, Written
from llama3_tools.chat.due_call import DueCall
from llama3_tools.chat.finish_reason import is_complete, openai_finish_reason
from llama3_tools.chat.message_stream import MessageStream
from llama3_tools.chat.messages import Message, split_message
from llama3_tools.chat.report import MISFIT, Earlier, RefusedCall, Reply, Report
from llama3_tools.chat.server_calls import ServerCalls
from llama3_tools.errors import StreamStateError, require_str
from llama3_tools.prompts import render_tool_call
from llama3_tools.prompts.render import is_after_heading
from llama3_tools.reader.stream import ExtractionStream
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

Delta = dict[str, Any]
"""A delta in OpenAI's form."""
_MOST_LOOKED_FOR = 100
"""How many calls of a server are looked for in the text, so that the work stays linear."""


class ChatStream:
    """Reads one answer. It is fed deltas in OpenAI's form, and returns deltas in which text and calls are apart.

    Text and reasoning come as soon as they are certain, each call of the text whole, when its last character has
    arrived. The server's own calls come at the end, after those in the text. From a call on that is
    refused, text waits for the end, and does not come if the model is asked again. Keys that are none of `content`,
    `tool_calls`, `function_call` and the reasoning's come through as they are. With `ReadOptions(progress=True)`,
    `tool_call_progress` says how far a call has come.

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

    def __init__(  # noqa: PLR0913 (options, each by its name)
        self,
        reader: AnswerReader,
        order: CallOrder,
        earlier: Earlier,
        due: DueCall | None = None,
        *,
        may_retry: bool = False,
        is_due: bool = False,
    ) -> None:
        """Begin an answer.

        Args:
            reader: reads the text and the server's calls.
            order: decides which calls run.
            earlier: what earlier answers of the turn had. What goes out follows it after a blank line.
            due: finds the object that is the due call; `None`: no object can be one.
            may_retry: whether the model may be asked again.
            is_due: whether a call has to be made.
        """
        self._due, self._is_due, self._may_retry = due, is_due, may_retry
        self._attempt_at: Span | None = None
        """Where the first attempt is."""
        self._attempt: str | None = None
        """What the model wrote for it."""
        self._unwanted: list[RefusedCall] = []
        """Calls that were read, and never run."""
        self._maybe_retold: ToolCall | None = None
        """A call that was just answered: if text follows, the model only retells it."""
        self._earlier = earlier
        self._separator = BLANK_LINE if earlier.has_text else ""
        self._has_text = earlier.has_text
        """Whether text has gone out, of this answer or of an earlier one."""
        self._reader = reader
        self._order = order
        is_strict = reader.complaints.prompt_format == "strict" and bool(reader.extractor.tools)
        self._message = MessageStream() if is_strict else None
        self._stream: ExtractionStream | None = None
        self._written = Written()
        self._server = ServerCalls()
        self._content = Content(self._first_attempt, for_retry=may_retry, for_due=due is not None)
        self._thoughts = Thoughts(follow=earlier.has_thoughts)
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
        """Add the next delta, or a whole message, and return what became certain.

        Raises:
            StreamStateError: the answer is over.
            TypeError: the delta, or a call in it, is not a dict.
        """
        if self._reply is not None:
            self._require_open("feed()")
        if type(delta) is dict and len(delta) == 1 and type(text := delta.get("content")) is str:
            self._content.note_content()  # as nearly all deltas are
            return self._feed_text(text)
        parts = split_message(delta)
        deltas: list[Delta] = [parts.rest] if parts.rest else []
        if parts.reasoning:
            deltas.append(self._thoughts.add(parts.reasoning, from_server=True))
        if parts.has_content:
            self._content.note_content()
        for part in parts.content:
            if isinstance(part, str):
                deltas += self._feed_text(part)
            else:
                deltas += [*self._say(self._content.add_part(part)), {"content": [part]}]
        for piece in parts.calls:
            self._server.add(piece)
        return deltas

    def end(self, finish_reason: str | None = None) -> list[Delta]:
        """End the answer, and return what was held back for it.

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
        deltas = [*self._end_text(text.flush(complete=complete)), *self._settle_retold()]
        extraction = text.extraction
        refused = [*self._refused_in(extraction), *self._unwanted]
        if self._due is not None:
            deltas += self._end_due(self._due, refused)
        deltas += self._end_server_calls({call.id for call in extraction.tool_calls}, refused, complete=complete)
        asks_again = self._may_retry and complete and not self._order.called
        asks_again = asks_again and bool(refused or self._order.waiting or self._is_due)
        if not asks_again:
            deltas += [*self._release(), *self._hand_out(self._order.release())]
        refused += [self._refuse_misfit(call, problems) for call, problems in self._order.waiting]
        reason = openai_finish_reason(finish_reason, has_calls=bool(self._order.called))
        self._finish(refused, reason, asks_again=asks_again)
        if self.is_silent and not asks_again and self._earlier.unsaid:
            deltas.append({"content": self._earlier.unsaid})
        return deltas

    def abort(self) -> list[Delta]:
        """End a stream that broke off: held-back output becomes text, and no more calls are made.

        Raises:
            StreamStateError: the answer is over.
        """
        self._require_open("abort()")
        text = self._text
        deltas = self._end_text(text.abort())
        deltas += self._settle_retold(is_text=True)
        deltas += self._release()
        refused = [*self._refused_in(text.extraction), *self._unwanted]
        refused += [self._refuse_misfit(call, problems) for call, problems in self._order.waiting]
        for unread in self._server.gathered:
            call_id = unread.id or self._reader.new_id()
            broke_off = RejectionReason.TRUNCATED, "the stream broke off"
            refused.append(self._reader.refuse_unread(unread, *broke_off, call_id))
        for call in refused:
            if call.span is None or call.reason == MISFIT:
                deltas += self._say(self._content.add_call(call.text))
        self._finish(refused, None)
        return deltas

    @property
    def _text(self) -> ExtractionStream:
        """What reads the text. It begins with the first one, as it depends on what the server sends before that."""
        if self._stream is None:
            extractor = self._reader.without_start if self._thoughts else self._reader.extractor
            self._stream = extractor.stream(keep_content=False)
        return self._stream

    def _feed_text(self, text: str) -> list[Delta]:
        if not text:
            return []
        self._written.add(text)
        events = (self._stream or self._text).feed(text)
        return self._to_deltas(events if self._message is None else self._message.feed(text, events))

    def _end_text(self, events: list[Event]) -> list[Delta]:
        return self._to_deltas(events if self._message is None else self._message.end(events))

    def _to_deltas(self, events: Iterable[Event]) -> list[Delta]:
        deltas: list[Delta] = []
        for event in events:
            if isinstance(event, TextDelta):
                if not event.text.isspace():
                    deltas += self._settle_retold(is_text=True)
                    self._order.interrupt()
                deltas += self._say(self._content.add(event.text))
            elif isinstance(event, ReasoningDelta):
                self._order.interrupt()
                deltas.append(self._thoughts.add(event.text, from_server=False))
            elif isinstance(event, CallProgress):
                progress = {**asdict(event), "name": self._reader.names.own(event.name)}
                deltas.append({"tool_call_progress": progress})
            else:
                deltas += [*self._settle_retold(), *self._read_call(event.tool_call)]
        return deltas

    def _first_attempt(self) -> str | None:
        """Return what the model wrote for the first attempt so far."""
        first = self._text.first_rejection(self._is_reported)
        if first is None:
            return None
        if first.span != self._attempt_at:
            self._attempt_at, self._attempt = first.span, self._written.text[slice(*first.span)]
        return self._attempt

    def _is_reported(self, one: Rejection) -> bool:
        """Return whether the model is told of an attempt: not if it retells a result, or a call just answered."""
        if not self._reader.reports(one, is_due=self._is_due):
            return False
        text, at = self._written.text, one.span[0]
        return not (is_after_heading(text, at) or self._order.retells_answered(one.name, text, at))

    def _release(self) -> list[Delta]:
        """Return the held text as a delta, and hold nothing more."""
        return self._say(self._content.release())

    def _read_call(self, call: ToolCall) -> list[Delta]:
        """Add the next call of the text."""
        name = self._reader.names.own(call.name)
        call = call if name == call.name else replace(call, name=name)
        if self._due is not None:
            call = self._due.whole(call, self._written.text[slice(*call.span)])
        elif not self._is_due and self._order.was_answered(call):
            self._maybe_retold = call
            return []
        return self._take_call(call)

    def _take_call(self, call: ToolCall) -> list[Delta]:
        if self._written.take_call(call.span):
            self._order.interrupt()
        if (refused := self._reader.refuse_unwanted(call, self._text_of)) is not None:
            self._unwanted.append(refused)
            self._content.hold_all()
            return self._say(self._content.add_call(refused.text))
        return self._handed_out(self._order.take(call))

    def _handed_out(self, taken: list[ToolCall]) -> list[Delta]:
        """Return the deltas of calls that run now, after the text before them; without any, text may have to wait."""
        if self._order.waiting:
            self._content.hold_all()
        return [*self._release(), *self._hand_out(taken)] if taken else []

    def _settle_retold(self, *, is_text: bool = False) -> list[Delta]:
        """Add the call that was just answered, if there is one. If text follows, it is reported, and stays text."""
        call, self._maybe_retold = self._maybe_retold, None
        if call is None:
            return []
        if not is_text:
            return self._take_call(call)
        self._order.repeated.append(call)
        return self._say(self._content.add_call(self._text_of(call)))

    def _end_due(self, due: DueCall, refused: list[RefusedCall]) -> list[Delta]:
        """Make the object that is the call that is due, if one is, and return the deltas of that."""
        if self._order.count or self._server.gathered:
            return []
        before = self._content.text_out
        found = due.find(self._content.held, before, self._written.text, may_misfit=not refused)
        if found is None:
            return []
        if found.problems:
            refused.append(self._refuse_misfit(found.call, found.problems))
            return []
        start, end = found.call.span
        refused[:] = [one for one in refused if one.span is None or one.span[1] <= start or end <= one.span[0]]
        deltas = self._say(self._content.release(instead=found.rest))
        return [*deltas, *self._handed_out(self._order.take(found.call))]

    def _end_server_calls(self, ids: set[str], refused: list[RefusedCall], *, complete: bool) -> list[Delta]:
        """Add the calls that the server found, and return the deltas of those that run or become text."""
        deltas: list[Delta] = []
        reader, gathered = self._reader, self._server.gathered
        written = self._written.text if 0 < len(gathered) <= _MOST_LOOKED_FOR else ""
        for call in gathered:
            read = reader.read(call, ids, made=self._order.count, complete=complete)
            if isinstance(read, ToolCall):
                if (unwanted := reader.refuse_unwanted(read, self._text_of)) is None:
                    deltas += self._handed_out(self._order.take_from_server(read))
                    continue
                read = unwanted
            self._content.hold_all()
            if read.text not in written:  # some servers leave it in the text, too
                deltas += self._say(self._content.add_call(read.text))
            if read.reason != RejectionReason.UNKNOWN_TOOL or reader.options.on_unknown_tool != "text":  # as in text
                refused.append(read)
        return deltas

    def _text_of(self, call: ToolCall) -> str:
        """Return what the model wrote for a call; of one that the server found, what it would write."""
        if call.format == NATIVE:
            return render_tool_call(call.name, call.arguments_json)
        return self._written.text[slice(*call.span)]

    def _say(self, text: str) -> list[Delta]:
        """Return the delta of text that goes out, with what sets the first one apart from an earlier answer."""
        if self._separator:
            text = text.lstrip()
        if not text:
            return []
        separator, self._separator, self._has_text = self._separator, "", True
        return [{"content": separator + text}]

    def _hand_out(self, calls: Iterable[ToolCall]) -> list[Delta]:
        """Return the deltas that hand calls out, which the order has counted."""
        calls = list(calls)
        first = len(self._order.called) - len(calls)
        return [{"tool_calls": [{"index": first + place, **call.to_openai()}]} for place, call in enumerate(calls)]

    def _refused_in(self, extraction: Extraction) -> list[RefusedCall]:
        attempts = [one for one in extraction.rejections if self._is_reported(one)]
        text = self._written.text if attempts else ""
        return [self._reader.refuse_attempt(one, text[slice(*one.span)]) for one in attempts]

    def _refuse_misfit(self, call: ToolCall, problems: list[str]) -> RefusedCall:
        return self._reader.refuse_misfit(call, problems, self._text_of(call))

    def _finish(self, refused: list[RefusedCall], finish_reason: str | None, *, asks_again: bool = False) -> None:
        order, earlier, first = self._order, self._earlier, self._earlier.reply
        called = tuple(order.called)
        has_calls = bool(called or order.waiting)
        content = self._content.whole(has_calls=has_calls)
        says_nothing = not (has_calls or refused or (content if isinstance(content, list) else (content or "").strip()))
        if says_nothing and finish_reason is not None and first is not None and first.content:
            self.is_silent, content, finish_reason = True, first.content, first.finish_reason
        report = Report(
            called,
            tuple(refused),
            tuple(order.repeated),
            tuple(order.surplus),
            is_of_retry=first is not None,
            retried=earlier.refused,
        )
        self._reply = Reply(content, called, self._thoughts.text or None, finish_reason, report)
        if asks_again:
            unsaid = (earlier.unsaid if self.is_silent else "") + self._content.held
            has_thoughts = earlier.has_thoughts or bool(self._thoughts)
            self._reply = replace(self._reply, earlier=Earlier(self._reply, self._has_text, has_thoughts, unsaid))

    def _require_open(self, verb: str) -> None:
        if self._reply is not None:
            raise StreamStateError(
                f"{verb} was called after the end of the answer: use Request.stream() for the next answer"
            )
