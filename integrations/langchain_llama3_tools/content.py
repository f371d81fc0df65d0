"""The content of messages, a string or a list of blocks, read into text, tool calls and reasoning.

A run is text without another block in between: a string, or text blocks that follow each other. It is one model
output for the extractor. Blocks that hold no text end a run, and pass through as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

from langchain_llama3_tools.reading import Extractors
from llama3_tools import (
    Event,
    Extraction,
    ExtractionStream,
    Extractor,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallReady,
)

__all__ = [
    "Block",
    "Content",
    "ContentReader",
    "Part",
    "Run",
    "block_text",
    "copied",
    "is_block",
    "joined_text",
    "merge_text",
]

Block: TypeAlias = str | dict[Any, Any]
"""A block of list content. A bare string is a text block too."""

Content: TypeAlias = str | list[Block]
"""The content of a message, as LangChain types it."""

Part: TypeAlias = Block | ToolCall | ReasoningDelta
"""What content is read into. Of string content, the blocks are pieces of that string."""

_ALWAYS_THERE = frozenset({"type", "text", "index"})


def block_text(block: Block) -> str | None:
    """Return the text of a text block, and `None` for any other block.

    >>> block_text({"type": "text", "text": "Hi"}), block_text("Hi"), block_text({"type": "image", "url": "…"})
    ('Hi', 'Hi', None)
    """
    if isinstance(block, str):
        return block
    text = block.get("text") if block.get("type", "text") == "text" else None
    return text if isinstance(text, str) else None


def is_block(part: Part) -> TypeGuard[Block]:
    """Whether a part is a block of content, rather than a call or reasoning."""
    return isinstance(part, (str, dict))


def joined_text(parts: Iterable[Part]) -> str:
    """Return the text of all text blocks."""
    return "".join(block_text(part) or "" for part in parts if is_block(part))


def merge_text(parts: Iterable[Part]) -> list[Part]:
    """Join neighbouring pieces of one text block, or of reasoning, as LangChain's sum of chunks does.

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
        elif isinstance(last, ReasoningDelta) and isinstance(part, ReasoningDelta):
            merged[-1] = ReasoningDelta(last.text + part.text)
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
    without_calls: Extractor | None = None
    """Splits off its reasoning alone; `None`: that is a part of the text."""

    @property
    def answer(self) -> str:
        """The run without the reasoning that is split off: its calls as they are written."""
        return self.text if self.without_calls is None else self.without_calls.extract(self.text).content or ""


class ContentReader:
    """Reads the content of one message, in one piece or chunk by chunk.

    >>> from langchain_llama3_tools import Llama3JsonToolOutputParser
    >>> reader = ContentReader(Extractors(Llama3JsonToolOutputParser(), tools=None))
    >>> reader.feed("It is su"), reader.feed("nny. "), reader.flush()
    (['It is su'], ['nny.'], [' '])
    """

    def __init__(self, extractors: Extractors) -> None:
        """Start at the beginning of a message.

        Args:
            extractors: what reads its texts.
        """
        self.runs: list[Run] = []
        """The runs that have ended."""
        self._extractors = extractors
        self._extractor = extractors.first
        self._has_begun = False
        self._stream: ExtractionStream | None = None
        self._texts: list[str] = []
        self._offset = 0
        self._cuts = 0
        """How many calls and thoughts stand between the texts."""
        self._is_thinking = False
        self._template: Block = ""

    def begin(self) -> None:
        """Let something stand before the first text, which so does not begin inside reasoning."""
        self._has_begun = True

    def without_calls(self) -> ContentReader | None:
        """Return a reader of what follows that looks for reasoning alone; `None`: that is not to be split off."""
        if self._extractors.without_calls is None:
            return None
        reader = ContentReader(self._extractors.without_calls)
        reader._has_begun, reader._cuts = self._has_begun, self._cuts
        return reader

    def read_whole(self, text: str, *, complete: bool = True) -> list[Part]:
        """Read a string that is all of a message, without its reasoning: its text in one piece, and its calls.

        Args:
            text: the string.
            complete: whether the model ended it, rather than a limit (rule 7).
        """
        if not text:
            return []
        extraction = self._begun().extract(text, complete=complete)
        self.runs.append(Run(text, 0, extraction))
        return [extraction.content or "", *extraction.tool_calls]

    def feed(self, content: str | Iterable[Block]) -> list[Part]:
        """Read on, and give what is certain by now."""
        if isinstance(content, str):
            return self._feed(content, "")
        parts: list[Part] = []
        for block in content:
            text = block_text(block)
            if text is None:
                parts += self.flush()
                self.begin()
                parts.append(copied(block))
            else:
                parts += self._feed(text, block)
        return parts

    def flush(self, *, complete: bool = True) -> list[Part]:
        """End the run, and give what was held back.

        Args:
            complete: whether the model ended it, rather than a limit (rule 7).
        """
        if self._stream is None:
            return []
        parts = self._parts(self._stream.flush(complete=complete), self._template)
        self._end_run(self._stream.extraction)
        return parts

    def release(self) -> list[Part]:
        """End the run early, and give what was held back as mere text, without a call."""
        if self._stream is None:
            return []
        parts = self._parts(self._stream.abort(), self._template)
        self._end_run(self._stream.extraction)
        return parts

    def _feed(self, text: str, block: Block) -> list[Part]:
        events: list[Event] = []
        if text:
            if self._stream is None:
                self._stream = self._begun().stream()
            self._texts.append(text)
            self._template = _without_extras(block)
            events = self._stream.feed(text)
        return self._parts(events, block)

    def _begun(self) -> Extractor:
        self._extractor = self._extractors.later if self._has_begun else self._extractors.first
        self.begin()
        return self._extractor

    def _parts(self, events: Iterable[Event], block: Block) -> list[Part]:
        """Return events as parts, their text in blocks like the one it came in. Its other keys are kept, once."""
        parts: list[Part] = []
        emptied = self._text_block(block, "")
        template = block
        for event in events:
            if isinstance(event, ReasoningDelta):
                self._cuts += not self._is_thinking
                parts.append(event)
            elif isinstance(event, ToolCallReady):
                self._cuts += 1
                parts.append(event.tool_call)
            elif isinstance(event, TextDelta):
                parts.append(self._text_block(template, event.text))
                template = _without_extras(block)
            self._is_thinking = isinstance(event, ReasoningDelta)
        if template is block and isinstance(block, dict) and any(block[key] for key in block.keys() - _ALWAYS_THERE):
            parts.insert(0, emptied)
        return parts

    def _text_block(self, template: Block, text: str) -> Block:
        if isinstance(template, str):
            return text
        block = {**template, "text": text}
        if self._cuts and "index" in block:
            # LangChain merges blocks of equal index: text on either side of a call must not merge.
            block["index"] = f"lc_llama3_text_{self._cuts}_{block['index']}"
        return block

    def _end_run(self, extraction: Extraction) -> None:
        text = "".join(self._texts)
        without_calls = self._extractors.without_calls
        if without_calls is None:
            self.runs.append(Run(text, self._offset, extraction))
        else:
            is_first = self._extractor is self._extractors.first
            reasoning = without_calls.first if is_first else without_calls.later
            self.runs.append(Run(text, self._offset, extraction, reasoning))
        self._offset += len(text)
        self._stream, self._texts = None, []


def _continues(block: dict[Any, Any], part: dict[Any, Any]) -> bool:
    are_texts = block_text(block) is not None and block_text(part) is not None
    return are_texts and part.keys() <= _ALWAYS_THERE and block.get("index") == part.get("index")


def _without_extras(block: Block) -> Block:
    if isinstance(block, str):
        return ""
    return {key: value for key, value in block.items() if key in _ALWAYS_THERE}
