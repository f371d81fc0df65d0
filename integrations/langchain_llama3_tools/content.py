"""The content of messages, a string or a list of blocks, read into text and tool calls.

A run is text without another block in between: a string, or text blocks that follow each other. It is one model
output for the extractor. Blocks that hold no text end a run, and pass through as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from llama3_tools import Event, Extraction, ExtractionStream, Extractor, ToolCall, ToolCallReady

__all__ = ["Block", "Content", "ContentReader", "Part", "Run", "block_text", "copied", "joined_text", "merge_text"]

Block: TypeAlias = str | dict[Any, Any]
"""A block of list content. A bare string is a text block too."""

Content: TypeAlias = str | list[Block]
"""The content of a message, as LangChain types it."""

Part: TypeAlias = Block | ToolCall
"""What content is read into. Of string content, the blocks are pieces of that string."""

_ALWAYS_THERE = frozenset({"type", "text", "index"})


def block_text(block: Block) -> str | None:
    """Give the text of a text block, and `None` for any other block.

    >>> block_text({"type": "text", "text": "Hi"}), block_text("Hi"), block_text({"type": "image", "url": "…"})
    ('Hi', 'Hi', None)
    """
    if isinstance(block, str):
        return block
    text = block.get("text") if block.get("type", "text") == "text" else None
    return text if isinstance(text, str) else None


def joined_text(parts: Iterable[Part]) -> str:
    """Give the text of all text blocks."""
    return "".join(block_text(part) or "" for part in parts if not isinstance(part, ToolCall))


def merge_text(parts: Iterable[Part]) -> list[Part]:
    """Join neighbouring pieces of one text block, as LangChain's sum of chunks does.

    >>> merge_text(["Let me", " check.", {"type": "image", "url": "…"}])
    ['Let me check.', {'type': 'image', 'url': '…'}]
    """
    merged: list[Part] = []
    for part in parts:
        last = merged[-1] if merged else None
        if isinstance(last, str) and isinstance(part, str):
            merged[-1] = last + part
        elif isinstance(last, dict) and isinstance(part, dict) and _continues(last, part):
            merged[-1] = {**last, "text": last["text"] + part["text"]}
        else:
            merged.append(part)
    return merged


def copied(block: Block) -> Block:
    """Copy a block: LangChain rewrites those of a summed chunk in place."""
    return block if isinstance(block, str) else dict(block)


@dataclass(frozen=True, slots=True)
class Run:
    """A run that was read to its end."""

    text: str
    """The run, as the model wrote it."""
    offset: int
    """Where it starts in the text of its message."""
    extraction: Extraction
    """What it held."""


class ContentReader:
    """Reads the content of one message, in one piece or chunk by chunk.

    >>> reader = ContentReader(Extractor())
    >>> reader.feed("It is su"), reader.feed("nny. "), reader.flush()
    (['It is su'], ['nny.'], [' '])
    """

    def __init__(self, extractor: Extractor) -> None:
        """Start at the beginning of a message.

        Args:
            extractor: what reads the text.
        """
        self.runs: list[Run] = []
        """The runs that have ended."""
        self._extractor = extractor
        self._stream: ExtractionStream | None = None
        self._texts: list[str] = []
        self._given = 0
        """How many characters of the run are out as text."""
        self._offset = 0
        self._calls = 0
        self._template: Block = ""

    def feed(self, content: str | Iterable[Block]) -> list[Part]:
        """Read on, and give what is certain by now."""
        if isinstance(content, str):
            return self._feed(content, "")
        parts: list[Part] = []
        for block in content:
            text = block_text(block)
            if text is None:
                parts += self.flush()
                parts.append(copied(block))
            else:
                parts += self._feed(text, block)
        return parts

    def flush(self) -> list[Part]:
        """End the run, and give what was held back."""
        if self._stream is None:
            return []
        parts = self._parts(self._stream.flush(), self._template)
        self._end_run(self._stream.extraction)
        return parts

    def release(self) -> list[Part]:
        """End the run early, and give what was held back as mere text, without a call."""
        if self._stream is None:
            return []
        events = self._stream.flush()
        held = "".join(event.text for event in events if not isinstance(event, ToolCallReady))
        first = next((event.tool_call for event in events if isinstance(event, ToolCallReady)), None)
        if first is not None:  # complete, in a wrapper that is still open and would have gone with it (rule 9)
            text, start = "".join(self._texts), first.span[0]
            before = self._extractor.stream()
            events = before.feed(text[:start]) + before.flush()
            written = "".join(event.text for event in events if not isinstance(event, ToolCallReady))
            held = written[self._given :]  # white space, and the wrapper's beginning
            tag = held.strip()
            held = held[: len(held) - len(held.lstrip())] + text[text.rfind(tag, 0, start) if tag else start :]
        self._end_run(self._stream.extraction)
        return [self._text_block(self._template, held)] if held else []

    def _feed(self, text: str, block: Block) -> list[Part]:
        events: list[Event] = []
        if text:
            if self._stream is None:
                self._stream = self._extractor.stream()
            self._texts.append(text)
            self._template = _without_extras(block)
            events = self._stream.feed(text)
        return self._parts(events, block)

    def _parts(self, events: Iterable[Event], block: Block) -> list[Part]:
        """Give events as parts, their text in blocks like the one it came in. Its other keys are kept, once."""
        parts: list[Part] = []
        emptied = self._text_block(block, "")
        template = block
        for event in events:
            if isinstance(event, ToolCallReady):
                self._calls += 1
                parts.append(event.tool_call)
            else:
                self._given += len(event.text)
                parts.append(self._text_block(template, event.text))
                template = _without_extras(block)
        if template is block and isinstance(block, dict) and any(block[key] for key in block.keys() - _ALWAYS_THERE):
            parts.insert(0, emptied)
        return parts

    def _text_block(self, template: Block, text: str) -> Block:
        if isinstance(template, str):
            return text
        block = {**template, "text": text}
        if self._calls and "index" in block:
            # LangChain merges blocks of equal index: text on either side of a call must not merge.
            block["index"] = f"lc_llama3_text_{self._calls}_{block['index']}"
        return block

    def _end_run(self, extraction: Extraction) -> None:
        text = "".join(self._texts)
        self.runs.append(Run(text, self._offset, extraction))
        self._offset += len(text)
        self._stream, self._texts, self._given = None, [], 0


def _continues(block: dict[Any, Any], part: dict[Any, Any]) -> bool:
    are_texts = block_text(block) is not None and block_text(part) is not None
    return are_texts and part.keys() <= _ALWAYS_THERE and block.get("index") == part.get("index")


def _without_extras(block: Block) -> Block:
    if isinstance(block, str):
        return ""
    return {key: value for key, value in block.items() if key in _ALWAYS_THERE}
