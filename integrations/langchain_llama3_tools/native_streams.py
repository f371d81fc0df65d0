"""Calls of a server, gathered from a stream's pieces.

LangChain closes what is open in the arguments of a chunk, so that a call which was cut off would run with arguments
that the model never finished. So the pieces of a call are held back until it is whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from langchain_core.messages import AIMessageChunk, ToolCallChunk
from langchain_core.outputs import ChatGenerationChunk

from langchain_llama3_tools.content import Content
from langchain_llama3_tools.invalid import REJECTED_TOOL_CALLS
from langchain_llama3_tools.native_blocks import to_native_block, without_call_blocks
from langchain_llama3_tools.native_calls import NativeArguments, NativeCall, NativeCalls, UnusableCall, to_native_chunk
from llama3_tools import ToolCall
from llama3_tools.arguments.native_arguments import GrowingArguments

__all__ = ["NativeStream", "gathered_chunks"]

_Key: TypeAlias = tuple[int | str | None, str | None]


class NativeStream:
    """Gathers the calls of one message from the pieces in which a server sends them.

    >>> stream = NativeStream(NativeCalls(lambda: "call_1"))
    >>> first = {"name": "now", "args": '{"city": ', "id": "a", "index": 0, "type": "tool_call_chunk"}
    >>> second = {"name": None, "args": '"Paris"}', "id": None, "index": 0, "type": "tool_call_chunk"}
    >>> stream.feed([first]), stream.feed([second]), stream.flush()
    ([], [], [<ToolCall now({"city": "Paris"}) native 0:0>])
    """

    def __init__(self, calls: NativeCalls, *, made: int = 0) -> None:
        """Start where the first one can begin.

        Args:
            calls: reads each call, once it is whole.
            made: how many calls the message has before them, in its text.
        """
        self.sent_ids: list[str | None] = []
        """The ids with which the calls that were given were sent."""
        self._calls = calls
        self._made = made
        self._ids: set[str] = set()
        self._begun = 0
        self._open: deque[_Gathered] = deque()
        self._latest: dict[_Key, _Gathered] = {}  # of those

    def feed(self, pieces: Iterable[ToolCallChunk]) -> list[NativeCall]:
        """Take pieces, and give the calls that are whole: those after which another one has begun."""
        for piece in pieces:
            gathered = self._gathered(piece)
            if gathered is None:
                gathered = _Gathered(piece.get("index"), self._begun)
                self._begun += 1
                self._open.append(gathered)
            self._forget(gathered)
            gathered.add(piece)
            for key in gathered.keys:
                if key not in self._latest or self._latest[key].place < gathered.place:
                    self._latest[key] = gathered
        whole: list[NativeCall] = []
        while len(self._open) > 1 and self._open[0].is_whole:  # in their order
            first = self._open.popleft()
            self._forget(first)
            whole += self._read([first])
        return whole

    def flush(self) -> list[NativeCall]:
        """Take the end of the message, and give the rest: what is not whole by then is malformed."""
        rest, self._open = self._open, deque()
        self._latest.clear()
        return self._read(rest)

    def _read(self, whole: Iterable[_Gathered]) -> list[NativeCall]:
        calls: list[NativeCall] = []
        for gathered in whole:
            read = gathered.arguments
            arguments = NativeArguments(read.value, "".join(gathered.texts), read.is_too_deep)
            calls.append(self._calls.read(gathered.name, arguments, gathered.id, made=self._made))
            self._made += isinstance(calls[-1], ToolCall)
            self.sent_ids.append(gathered.id)
        return self._calls.with_own_ids(calls, self._ids)

    def _gathered(self, piece: ToolCallChunk) -> _Gathered | None:
        """Find the call that a piece goes on with; `None`: it begins one."""
        index, call_id, name = piece.get("index"), piece["id"], piece["name"]
        if index is None:
            return None if name else self._latest.get((None, call_id or ""))
        keys: list[_Key] = [(index, call_id), (index, None)] if call_id else [(index, "")]
        gathered = max(
            (self._latest[key] for key in keys if key in self._latest), key=lambda made: made.place, default=None
        )
        if gathered and name and gathered.is_whole and gathered.texts:
            return None  # some servers number all calls 0
        return gathered

    def _forget(self, gathered: _Gathered) -> None:
        for key in gathered.keys:
            if self._latest.get(key) is gathered:
                del self._latest[key]


def gathered_chunks(chunks: Iterable[ChatGenerationChunk], calls: NativeCalls) -> Iterator[ChatGenerationChunk]:
    """Put the calls that a server sends in pieces into one last chunk, so that the sum completes none."""
    stream = NativeStream(calls)
    whole: list[NativeCall] = []
    lists_calls = False
    for chunk in chunks:
        message = chunk.message
        if not isinstance(message, AIMessageChunk) or not message.tool_call_chunks:
            yield chunk
            continue
        whole += stream.feed(message.tool_call_chunks)
        kept: dict[str, Any] = {"tool_call_chunks": [], "tool_calls": [], "invalid_tool_calls": []}
        kept["content"] = without_call_blocks(message.content)
        lists_calls = lists_calls or len(kept["content"]) < len(message.content)
        kept_message = message.model_copy(update=kept)
        yield ChatGenerationChunk(message=kept_message, generation_info=chunk.generation_info)
    whole += stream.flush()
    if whole:
        pieces = [to_native_chunk(call, index) for index, call in enumerate(whole)]
        content: Content = [to_native_block(call, index) for index, call in enumerate(whole)] if lists_calls else ""
        told = [call.rejected for call in whole if isinstance(call, UnusableCall) and call.rejected]
        metadata = {REJECTED_TOOL_CALLS: told} if told else {}
        yield ChatGenerationChunk(
            message=AIMessageChunk(content=content, tool_call_chunks=pieces, response_metadata=metadata)
        )


@dataclass(slots=True)
class _Gathered:
    """A call, as far as it has arrived."""

    index: int | str | None
    place: int
    id: str | None = None
    name: str = ""
    texts: list[str] = field(default_factory=list)
    arguments: GrowingArguments = field(default_factory=GrowingArguments)

    def add(self, piece: ToolCallChunk) -> None:
        self.id = self.id or piece["id"] or None
        if piece["name"] and piece["name"] != self.name:
            self.name += piece["name"]
        if piece["args"]:
            self.texts.append(piece["args"])
            self.arguments.feed(piece["args"])

    @property
    def keys(self) -> tuple[_Key, ...]:
        """What a later piece can find this by: its index or none, and its id, `None` without one, `""` for any."""
        return (self.index, self.id), (self.index, ""), (None, self.id), (None, "")

    @property
    def is_whole(self) -> bool:
        """Whether this may be all."""
        return self.arguments.value is not None
