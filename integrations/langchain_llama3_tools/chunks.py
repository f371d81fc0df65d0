"""A message that streams in, read into chunks: text and reasoning at once, each tool call whole.

The sum of the chunks is the message that `read_message` gives. Two things differ, neither of which can be taken
back once it is out: white space before the first text, where a call follows later; and a call that was read in
text, where the server sends calls of its own after it. Those come whole as well, as LangChain would complete one that
was cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCallChunk
from langchain_core.messages.tool import tool_call_chunk

from langchain_llama3_tools.calls import to_chunk, to_chunk_block
from langchain_llama3_tools.coerced import COERCED_ARGUMENTS, coerced_arguments
from langchain_llama3_tools.content import (
    Block,
    Content,
    ContentReader,
    Part,
    copied,
    is_block,
    joined_text,
    merge_text,
)
from langchain_llama3_tools.invalid import REJECTED_TOOL_CALLS, InvalidCalls, to_invalid_chunk
from langchain_llama3_tools.messages import preserved_fields, read_message, uses_v1_blocks
from langchain_llama3_tools.native_blocks import to_native_block, without_call_blocks
from langchain_llama3_tools.native_calls import NativeCall, NativeCalls, to_native_chunk
from langchain_llama3_tools.native_messages import has_native_calls
from langchain_llama3_tools.native_streams import NativeStream
from langchain_llama3_tools.reading import Extractors
from langchain_llama3_tools.reasoning import REASONING_CONTENT, Thoughts
from llama3_tools import ReasoningDelta, ToolCall
from llama3_tools.chat.finish_reason import finish_reason_in, is_complete
from llama3_tools.text.json_writing import written_arguments

__all__ = ["MessageChunks", "as_chunk"]


class MessageChunks:
    """Reads the chunks of one message.

    All that a chunk carried besides its content goes out on exactly one chunk, so that sums count it once.

    >>> from langchain_llama3_tools import Llama3JsonToolOutputParser
    >>> id_factory = lambda: "call_1"
    >>> extractors = Extractors(Llama3JsonToolOutputParser(), tools=None)
    >>> chunks = MessageChunks(extractors, InvalidCalls("collect", id_factory), NativeCalls(id_factory))
    >>> text = ["Sure. ", '{"name": "now", ', '"parameters": {}}', " One moment."]
    >>> read = [chunk for piece in text for chunk in chunks.feed(piece)]
    >>> [(chunk.content, [call["name"] for call in chunk.tool_calls]) for chunk in read + list(chunks.flush())]
    [('Sure.', []), ('', ['now']), (' One moment.', []), ('', [])]
    """

    def __init__(self, extractors: Extractors, invalid_calls: InvalidCalls, native_calls: NativeCalls) -> None:
        """Start at the beginning of a message.

        Args:
            extractors: what reads the texts.
            invalid_calls: what becomes of malformed calls.
            native_calls: what makes a server's calls fit to be run.
        """
        self._extractors = extractors
        self._reader = ContentReader(extractors)
        self._thoughts = Thoughts()
        self._native_calls = native_calls
        self._native = NativeStream(native_calls)
        self._invalid_calls = invalid_calls
        self._index = 0
        self._ids: dict[str, None] = {}
        self._name: str | None = None
        self._in_blocks = False
        self._lists_calls = False
        self._began = False
        self._is_native = False
        self._finish_reason: str | None = None

    def feed(self, output: str | BaseMessage) -> Iterator[AIMessage]:
        """Take the next chunk, and give what became certain: nothing, text, or each call in a chunk of its own.

        A model that does not stream gives one whole message. It is read like a chunk; one that the server found
        calls in comes as a whole. Text that is certain at once comes in the chunk that brought it.
        """
        if not self._began and _is_settled(output):
            yield read_message(output, self._extractors, self._invalid_calls, self._native_calls)
            return
        self._began = True
        chunk = as_chunk(output)
        is_news = self._note(chunk)
        if has_native_calls(chunk) and not self._is_native:
            self._is_native = True
            self._native = NativeStream(self._native_calls, made=self._index)
            yield from self._released()
            self._reader = self._reader.without_calls() or self._reader
        if chunk.additional_kwargs.get(REASONING_CONTENT):
            self._reader.begin()
        if self._is_native:
            yield from self._passed_on(chunk, self._fields(chunk), is_news=is_news)
            return
        parts = self._reader.feed(chunk.content)
        if parts == [chunk.content] and _is_text_alone(chunk):
            self._thoughts.interrupt(parts[0])
            yield chunk
        elif parts or is_news:
            yield from self._chunks(parts, self._fields(chunk))

    def flush(self) -> Iterator[AIMessageChunk]:
        """Take the end of the message, and give what was held back for it; then an empty last chunk.

        Raises:
            OutputParserException: a call is malformed, and `invalid_calls` raises on that.
        """
        if not self._began:
            return
        parts = self._reader.flush(complete=is_complete(self._finish_reason))
        if parts:
            yield from self._chunks(parts, self._identity())
        if self._is_native:
            yield from self._native_chunks(self._native.flush())
        else:
            rejected = self._invalid_calls.collect(self._reader.runs)
            if rejected:
                chunks = [to_invalid_chunk(call, self._index + place) for place, call in enumerate(rejected)]
                yield AIMessageChunk(
                    content=self._content([]),
                    tool_call_chunks=chunks,
                    response_metadata={REJECTED_TOOL_CALLS: rejected},
                    **self._identity(),
                )
        yield AIMessageChunk(content=self._content([]), chunk_position="last", **self._identity())

    def release(self) -> Iterator[AIMessageChunk]:
        """Yield what is held back, for a message that breaks off: nothing that arrived is lost.

        Text is mere text then. A call that the server was sending is one if it was whole, and malformed otherwise.
        """
        yield from self._released()
        yield from self._native_chunks(self._native.flush())

    def note_end(self, told: object) -> None:
        """Note why the message ended, if that is among what the server told."""
        self._finish_reason = finish_reason_in(told) or self._finish_reason

    def _released(self) -> Iterator[AIMessageChunk]:
        parts = self._reader.release()
        if parts:
            yield from self._chunks(parts, self._identity())

    def _note(self, chunk: AIMessageChunk) -> bool:
        """Remember what later chunks need; tell whether this one brings anything besides its content."""
        self.note_end(chunk.response_metadata)
        if chunk.content != "":
            self._in_blocks = isinstance(chunk.content, list)
        self._lists_calls = self._lists_calls or uses_v1_blocks(chunk)
        self._name = chunk.name or self._name
        is_new = chunk.id is not None and chunk.id not in self._ids
        if chunk.id is not None and is_new:
            self._ids[chunk.id] = None
        return is_new or bool(chunk.additional_kwargs or chunk.response_metadata or chunk.usage_metadata)

    def _fields(self, chunk: AIMessageChunk) -> dict[str, Any]:
        fields = preserved_fields(chunk)
        fields["additional_kwargs"] = self._thoughts.sent(fields["additional_kwargs"])
        return fields

    def _identity(self) -> dict[str, Any]:
        return {"id": next(iter(self._ids), None), "name": self._name}

    def _content(self, blocks: list[Block]) -> Content:
        return blocks if self._in_blocks else joined_text(blocks)

    def _chunks(self, parts: Iterable[Part], fields: dict[str, Any]) -> Iterator[AIMessageChunk]:
        """Yield parts as chunks, in their order: reasoning, text, a call. The fields go out on the first one, once."""
        for group in _grouped(parts) or [[]]:
            yield self._chunk(group, fields)
            fields = {"id": fields["id"], "name": fields["name"]}

    def _chunk(self, parts: list[Part], fields: dict[str, Any]) -> AIMessageChunk:
        """Return one chunk, with what became of the arguments of its calls in the metadata."""
        blocks: list[Block] = []
        calls: list[ToolCallChunk] = []
        made = [part for part in parts if isinstance(part, ToolCall)]
        if coerced := coerced_arguments(made):
            metadata = {**fields.get("response_metadata", {}), COERCED_ARGUMENTS: coerced}
            fields = {**fields, "response_metadata": metadata}
        for part in parts:
            if isinstance(part, ReasoningDelta):
                if self._lists_calls and self._in_blocks:
                    blocks.append(self._thoughts.block(part.text))
                else:
                    kwargs = self._thoughts.beside(fields.get("additional_kwargs", {}), part.text)
                    fields = {**fields, "additional_kwargs": kwargs}
                continue
            self._thoughts.interrupt(part)
            if not isinstance(part, ToolCall):
                blocks.append(part)
                continue
            # LangChain merges what has the same index, and never what has none: each call gets one of its own.
            calls.append(to_chunk(part, self._index))
            if self._lists_calls:
                blocks.append(to_chunk_block(part, self._index))
            self._index += 1
        return AIMessageChunk(content=self._content(blocks), tool_call_chunks=calls, **fields)

    def _passed_on(self, chunk: AIMessageChunk, fields: dict[str, Any], *, is_news: bool) -> Iterator[AIMessageChunk]:
        """Yield the text of a message in which the server finds the calls as it is, and those once they are whole."""
        content = without_call_blocks(chunk.content) if self._lists_calls else chunk.content
        blocks = [content] if isinstance(content, str) else [copied(block) for block in content]
        calls = self._native.feed(chunk.tool_call_chunks)
        if self._extractors.without_calls is not None:
            parts = self._reader.feed(blocks if self._in_blocks else joined_text(blocks))
            if parts or is_news:
                yield from self._chunks(parts, fields)
        elif content or is_news:
            yield self._chunk(list(blocks), fields)
        yield from self._native_chunks(calls)

    def _native_chunks(self, calls: Iterable[NativeCall]) -> Iterator[AIMessageChunk]:
        """Yield the calls of a server, each in a chunk of its own."""
        for call in calls:
            if isinstance(call, ToolCall):
                yield self._chunk([call], self._identity())
                continue
            content = self._content([to_native_block(call, self._index)] if self._lists_calls else [])
            pieces = [to_native_chunk(call, self._index)]
            self._index += 1
            metadata = {REJECTED_TOOL_CALLS: [call.rejected]} if call.rejected else {}
            yield AIMessageChunk(
                content=content, tool_call_chunks=pieces, response_metadata=metadata, **self._identity()
            )


def as_chunk(output: str | BaseMessage) -> AIMessageChunk:
    """Return a piece of text, or a whole message, as a chunk; a chunk as it is."""
    if isinstance(output, str):
        return AIMessageChunk(content=output)
    if isinstance(output, AIMessageChunk):
        return _with_pieces(output)
    fields = preserved_fields(output)
    if isinstance(output, AIMessage):
        given = [(call["name"], written_arguments(call["args"]), call["id"]) for call in output.tool_calls]
        invalid = [(call["name"], call["args"], call["id"]) for call in output.invalid_tool_calls]
        fields["tool_call_chunks"] = [
            tool_call_chunk(name=name, args=args, id=call_id, index=index)
            for index, (name, args, call_id) in enumerate([*given, *invalid])
        ]
    return AIMessageChunk(content=output.content, **fields)


def _with_pieces(chunk: AIMessageChunk) -> AIMessageChunk:
    """Return a chunk with the pieces of calls that it has among its `additional_kwargs`, as OpenAI sends them.

    LangChain reads those with a name alone, keeps them as well, and reads them again in each chunk made of this one.
    """
    sent = chunk.additional_kwargs.get("tool_calls")
    if not isinstance(sent, list) or not all(map(_is_piece, sent)):
        return chunk
    pieces = [
        tool_call_chunk(
            name=piece["function"].get("name"),
            args=piece["function"].get("arguments"),
            id=piece.get("id"),
            index=piece.get("index"),
        )
        for piece in sent
    ]
    kwargs = {key: value for key, value in chunk.additional_kwargs.items() if key != "tool_calls"}
    return chunk.model_copy(update={"additional_kwargs": kwargs, "tool_call_chunks": pieces})


def _is_piece(sent: object) -> bool:
    """Return whether this is a piece of a call, as OpenAI sends it."""
    function = sent.get("function") if isinstance(sent, dict) else None
    return isinstance(function, dict) and isinstance(function.get("arguments", ""), str | None)


def _is_text_alone(chunk: AIMessageChunk) -> bool:
    return not (chunk.additional_kwargs or chunk.tool_call_chunks or chunk.chunk_position)


def _grouped(parts: Iterable[Part]) -> list[list[Part]]:
    groups: list[list[Part]] = []
    for part in merge_text(parts):
        if groups and is_block(part) and is_block(groups[-1][0]):
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def _is_settled(output: str | BaseMessage) -> TypeGuard[AIMessage]:
    if isinstance(output, AIMessageChunk) or not isinstance(output, AIMessage):
        return False
    return has_native_calls(output)
