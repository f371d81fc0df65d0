"""An answer that may be the arguments of one of several tools that run nothing, such as `ToolStrategy(A | B)` makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from llama3_tools.chat import ChatStream, Reply, Request
from llama3_tools.chat.messages import Message
from llama3_tools.chat.stream import Delta

AnswerReader: TypeAlias = "ChatStream | OneOfSeveral"


def stream_of(request: Request, outputs: Sequence[str], *, follows: bool) -> AnswerReader:
    """Begin to read an answer.

    Args:
        request: what it answers.
        outputs: the tools that run nothing.
        follows: whether the answer follows an earlier one in the same message.
    """
    if len(outputs) > 1:
        return OneOfSeveral(request, outputs, follows=follows)
    return replace(request, output_tool=outputs[0] if outputs else None).stream(follows=follows)


class OneOfSeveral:
    """Reads an answer once for each of the tools. It is the call of the one whose arguments it is.

    Until the end, all of them read the same. If the answer may be the arguments of more than one, it is text.
    """

    def __init__(self, request: Request, outputs: Sequence[str], *, follows: bool) -> None:
        """Begin an answer; see `stream_of`."""
        self._request, self._outputs, self._follows = request, outputs, follows
        self._fed: list[Message] = []
        self._stream = self._begun(outputs[0])

    @property
    def reply(self) -> Reply:
        """The answer; see `ChatStream`."""
        return self._stream.reply

    def feed(self, delta: Message) -> list[Delta]:
        """Take the next delta, and return what became certain."""
        self._fed.append(delta)
        return self._stream.feed(delta)

    def abort(self) -> list[Delta]:
        """Take the news that the stream broke off, and return what was held back."""
        return self._stream.abort()

    def end(self, finish_reason: str | None = None) -> list[Delta]:
        """Take the end of the answer, and return what was held back for it."""
        as_text, fed, ending = self._read(None, finish_reason)
        readings = [] if as_text.reply.tool_calls else [self._read(name, finish_reason) for name in self._outputs]
        fitting = [(stream, ending) for stream, _, ending in readings if stream.reply.tool_calls]
        if not fitting:
            return self._stream.end(finish_reason)
        if len(fitting) == 1:
            [(self._stream, ending)] = fitting
            return ending
        self._stream = as_text
        return [delta for delta in (*fed, *ending) if "content" in delta]  # all of which was held back

    def _read(self, output: str | None, finish_reason: str | None) -> tuple[ChatStream, list[Delta], list[Delta]]:
        """Return the answer, read as that of one of the tools, and the deltas before its end and at it."""
        stream = self._begun(output)
        fed = [delta for given in self._fed for delta in stream.feed(given)]
        return stream, fed, stream.end(finish_reason)

    def _begun(self, output: str | None) -> ChatStream:
        return replace(self._request, output_tool=output).stream(follows=self._follows)
