"""Calls that a server has found itself: gathered from a stream's pieces, made fit to be run, or malformed.

LangChain closes what is open in the arguments of a chunk, so that a call which was cut off would run with arguments
that the model never finished. So the pieces of a call are held back until it is whole.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias, cast

from langchain_core.messages import AIMessage, AIMessageChunk, InvalidToolCall, ToolCallChunk, message_chunk_to_message
from langchain_core.messages import ToolCall as LangChainToolCall
from langchain_core.messages.tool import invalid_tool_call, tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from langchain_llama3_tools.calls import block_index, to_block, to_chunk, to_chunk_block, to_tool_call
from langchain_llama3_tools.coerced import COERCED_ARGUMENTS, coerced_arguments
from langchain_llama3_tools.content import Block, Content
from langchain_llama3_tools.invalid import REJECTED_TOOL_CALLS, RejectedToolCall, collected_text, to_invalid_call
from llama3_tools import Limits, RejectionReason, ToolCall, render_tool_call
from llama3_tools.arguments import Coercer
from llama3_tools.extractor import written_id
from llama3_tools.json_writing import written_arguments
from llama3_tools.limits import DEFAULT_LIMITS, excess, too_deep
from llama3_tools.native_arguments import GrowingArguments, is_strict, with_escaped_halves

__all__ = [
    "NativeCall",
    "NativeCalls",
    "NativeStream",
    "UnusableCall",
    "gathered_chunks",
    "has_native_calls",
    "to_native_block",
    "to_native_chunk",
    "without_call_blocks",
]


class UnusableCall(NamedTuple):
    """A call that cannot be run."""

    listed: InvalidToolCall
    """The call for a message's `invalid_tool_calls`."""
    rejected: RejectedToolCall | None = None
    """What is told of it, where it is beyond a limit."""


NativeCall: TypeAlias = ToolCall | UnusableCall
"""A call that can be run, or one that cannot."""


class _Arguments(NamedTuple):
    """The arguments of a call, as far as they could be read."""

    value: dict[str, Any] | None
    """The object; `None` where it is none of strict JSON."""
    text: str
    """Their text; nothing where a tool that takes none is called without any."""
    is_too_deep: bool = False
    """Whether there is no object as it would be deeper than anything that is read."""


_Sent: TypeAlias = tuple[str | None, NativeCall]
"""A call with the id that it was sent with."""

_Key: TypeAlias = tuple[int | str | None, str | None]

_CALL_BLOCKS = frozenset({"tool_call", "tool_call_chunk", "invalid_tool_call"})


def has_native_calls(message: AIMessage) -> bool:
    """Whether the server found the calls itself, or tried to."""
    return bool(message.tool_calls or message.invalid_tool_calls)


def without_call_blocks(content: Content) -> Content:
    """Give content (LangChain's version `v1`) without the blocks that list calls."""
    if isinstance(content, str):
        return content
    return [block for block in content if isinstance(block, str) or block.get("type") not in _CALL_BLOCKS]


def to_native_chunk(call: NativeCall, index: int) -> ToolCallChunk:
    """Give a call for a chunk's `tool_call_chunks`: no sum completes it."""
    if isinstance(call, ToolCall):
        return to_chunk(call, index)
    listed = call.listed
    return tool_call_chunk(name=listed["name"], args=listed["args"], id=listed["id"], index=index)


def to_native_block(call: NativeCall, index: int) -> Block:
    """Give a call as a block of a chunk's content (LangChain's version `v1`)."""
    if isinstance(call, ToolCall):
        return to_chunk_block(call, index)
    return {**call.listed, "index": block_index(index)}


@dataclass(frozen=True, slots=True)
class NativeCalls:
    """Makes the calls of a server fit to be run: each gets an id, and arguments that fit where that is wanted."""

    id_factory: Callable[[], str]
    """Makes the ids that are missing."""
    coercers: Mapping[str, Coercer] = field(default_factory=dict)
    """What makes arguments fit, by the names of the tools."""
    limits: Limits | None = DEFAULT_LIMITS
    """How deep, how long and how many they may be (rule 14); `None`: whatever is read at all."""

    def as_written(self) -> NativeCalls:
        """Give the same, without a change to arguments and without limits: for calls that are settled later."""
        return NativeCalls(self.id_factory, limits=None)

    def settle(self, message: AIMessage) -> AIMessage:
        """Give a whole message whose calls are fit to be run; where they are already, the message as it is."""
        called: list[_Sent] = []
        invalid: list[_Sent] = []
        if isinstance(message, AIMessageChunk):  # whose calls LangChain has completed, and kept as they were sent
            stream = NativeStream(self)
            read = [*stream.feed(message.tool_call_chunks), *stream.flush()]
            called += zip(stream.sent_ids, read, strict=True)
        else:
            made = 0
            for call in message.tool_calls:
                called.append((call["id"], self._read_whole(call, made)))
                made += isinstance(called[-1][1], ToolCall)
            invalid += [(call["id"], self._read_invalid(call)) for call in message.invalid_tool_calls]
        calls = [call for _, call in called if isinstance(call, ToolCall)]
        unusable = [call for _, call in called + invalid if isinstance(call, UnusableCall)]
        fields: dict[str, Any] = {
            "tool_calls": [to_tool_call(call) for call in calls],
            "invalid_tool_calls": [call.listed for call in unusable],
            "content": _relisted(message.content, called, invalid),
        }
        told: dict[str, Sequence[Any]] = {
            COERCED_ARGUMENTS: coerced_arguments(calls),
            REJECTED_TOOL_CALLS: [call.rejected for call in unusable if call.rejected],
        }
        metadata = _with_news(message.response_metadata, told)
        if metadata == message.response_metadata and all(fields[name] == getattr(message, name) for name in fields):
            return message
        fields["response_metadata"] = metadata
        if isinstance(message, AIMessageChunk):
            message = cast("AIMessage", message_chunk_to_message(message))
        return message.model_copy(update=fields)

    def read(self, name: str, arguments: _Arguments, call_id: str | None, *, made: int) -> NativeCall:
        """Read a call from its parts.

        Args:
            name: the tool's name.
            arguments: the arguments.
            call_id: the id, if there is one.
            made: how many calls the message has before it.
        """
        value, text, is_too_deep = arguments
        if not name or (value is None and not is_too_deep):
            return self._malformed(name, text, call_id)
        limits = self.limits or DEFAULT_LIMITS
        call = ToolCall(name, value or {}, text or "{}", call_id or written_id(self.id_factory), (0, 0), "native")
        if value is None:
            return _rejected(call, *too_deep(limits))
        beyond = self.limits and excess(value, self.limits, made)
        if beyond:
            return _rejected(call, *beyond)
        if name not in self.coercers:
            return call
        fit = self.coercers[name].coerce(value, depth=limits.depth)
        return replace(call, arguments=fit.arguments, changes=fit.changes, problems=fit.problems)

    def _malformed(self, name: str, arguments: str, call_id: str | None) -> UnusableCall:
        text = render_tool_call(name or "unknown", with_escaped_halves(arguments))
        args = json.dumps(text, ensure_ascii=False)  # which cannot be repaired: see `to_invalid_call`
        return UnusableCall(
            invalid_tool_call(name=name, args=args, id=call_id or written_id(self.id_factory), error=None)
        )

    def _read_whole(self, call: LangChainToolCall, made: int) -> NativeCall:
        value = call["args"] if is_strict(call["args"]) else None
        return self.read(call["name"], _Arguments(value, written_arguments(call["args"])), call["id"], made=made)

    def _read_invalid(self, call: InvalidToolCall) -> UnusableCall:
        arguments = call["args"] or ""
        if call["id"] and collected_text(arguments) is not None:
            return UnusableCall(call)
        return self._malformed(call["name"] or "", arguments, call["id"])


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
        self._begun = 0
        self._open: deque[_Gathered] = deque()
        self._latest: dict[_Key, _Gathered] = {}  # of those

    def feed(self, pieces: Iterable[ToolCallChunk]) -> list[NativeCall]:
        """Take pieces, and give the calls that are whole: those behind which another one has begun."""
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
        whole = []
        while len(self._open) > 1 and self._open[0].is_whole:  # in their order
            first = self._open.popleft()
            self._forget(first)
            whole.append(self._read(first))
        return whole

    def flush(self) -> list[NativeCall]:
        """Take the end of the message, and give the rest: what is not whole by then is malformed."""
        rest, self._open = self._open, deque()
        self._latest.clear()
        return [self._read(gathered) for gathered in rest]

    def _read(self, gathered: _Gathered) -> NativeCall:
        read = gathered.arguments
        arguments = _Arguments(read.value, "".join(gathered.texts), read.is_too_deep)
        call = self._calls.read(gathered.name, arguments, gathered.id, made=self._made)
        self._made += isinstance(call, ToolCall)
        self.sent_ids.append(gathered.id)
        return call

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


def _rejected(call: ToolCall, reason: RejectionReason, detail: str) -> UnusableCall:
    text = render_tool_call(call.name, call.arguments_json)
    rejected = RejectedToolCall(
        id=call.id, name=call.name, reason=str(reason), detail=detail, text=text, start=0, end=0
    )
    return UnusableCall(to_invalid_call(rejected), rejected)


def _with_news(metadata: Mapping[str, Any], told: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Add to what a message tells of its calls, by their ids, what it does not tell yet."""
    added = dict(metadata)
    for key, entries in told.items():
        known = added.get(key, [])
        ids = {entry["id"] for entry in known}
        if news := [entry for entry in entries if entry["id"] not in ids]:
            added[key] = [*known, *news]
    return added


def _relisted(content: Content, called: Iterable[_Sent], invalid: Iterable[_Sent]) -> Content:
    """Give content whose blocks list the calls as they are now. Both come in one order, and a block of no call goes."""
    if isinstance(content, str):
        return content
    listed = (_by_id(called), _by_id(invalid))
    kept: list[Block] = []
    for block in content:
        if isinstance(block, str) or block.get("type") not in _CALL_BLOCKS:
            kept.append(block)
            continue
        likely = reversed(listed) if block["type"] == "invalid_tool_call" else listed
        calls = next((calls for by_id in likely if (calls := by_id.get(block.get("id") or None))), None)
        if calls:
            call = calls.popleft()
            kept.append({**block, **(to_block(call) if isinstance(call, ToolCall) else call.listed)})
    return kept


def _by_id(sent: Iterable[_Sent]) -> dict[str | None, deque[NativeCall]]:
    by_id: dict[str | None, deque[NativeCall]] = {}  # servers have given several calls one id, or none
    for call_id, call in sent:
        by_id.setdefault(call_id or None, deque()).append(call)
    return by_id
