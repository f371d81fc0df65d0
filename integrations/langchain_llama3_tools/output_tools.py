"""An answer that may be the arguments of one of several tools that run nothing, such as `ToolStrategy(A | B)` makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from llama3_tools.chat import ChatStream, Reply, Request

AnswerReader: TypeAlias = "ChatStream | OneOfSeveral"


def stream_of(request: Request, outputs: Sequence[str]) -> AnswerReader:
    """Begin to read an answer to a request, with the tools that run nothing; see `Request.stream`."""
    if len(outputs) > 1:
        return OneOfSeveral(request, outputs)
    return replace(request, output_tool=outputs[0] if outputs else None).stream()


class OneOfSeveral:
    """Reads an answer once for each of the tools: it is a call of the only one whose arguments it is.

    Until the end, all of them hold back the same. If several fit, the answer is text.
    """

    def __init__(self, request: Request, outputs: Sequence[str]) -> None:
        """Begin an answer."""
        self._request = request
        self._plain, *self._streams = [replace(request, output_tool=output).stream() for output in (None, *outputs)]
        self._as_text: list[dict[str, Any]] = []
        self._chosen = self._streams[0]

    @property
    def reply(self) -> Reply:
        """What the chat layer says of the answer."""
        return self._chosen.reply

    def feed(self, delta: dict[str, Any]) -> list[dict[str, Any]]:
        """Read the next delta, and return what became certain."""
        self._as_text += self._plain.feed(delta)
        return [stream.feed(delta) for stream in self._streams][0]  # noqa: RUF015 (all are fed)

    def abort(self) -> list[dict[str, Any]]:
        """End an answer that broke off, and return what was held back."""
        return self._chosen.abort()

    def end(self, finish_reason: str | None = None) -> list[dict[str, Any]]:
        """End the answer, and return what was held back for its end."""
        self._as_text += self._plain.end(finish_reason)
        ended = [(stream, stream.end(finish_reason)) for stream in self._streams]
        fitting = [] if self._plain.reply.tool_calls else [one for one in ended if one[0].reply.tool_calls]
        if len(fitting) > 1:
            self._chosen = self._plain
            is_asked_again = self._request.retry(self._plain.reply) is not None
            return [] if is_asked_again else [delta for delta in self._as_text if "content" in delta]
        self._chosen, deltas = (fitting or ended)[0]
        return deltas
