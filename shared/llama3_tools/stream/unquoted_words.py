"""Which words of a model output stand where a call is looked for: not in quotation, nor in what may be a call."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import NamedTuple

from llama3_tools.calls.reader import CallReader
from llama3_tools.extractor import Extractor
from llama3_tools.formats import Reads
from llama3_tools.formats.base import Candidate, WireFormat
from llama3_tools.formats.fence import FENCE
from llama3_tools.limits import Limits
from llama3_tools.reading.source import run_to_end
from llama3_tools.stream.content import Content
from llama3_tools.stream.machine import ExtractionStream

__all__ = ["Fence", "SearchingExtractor", "Words"]


class Fence(NamedTuple):
    """A fence: of a listing all of it, and of text that is searched the opening one."""

    start: int
    end: int
    is_first: bool
    """Whether nothing but white space, protocol tokens and reasoning that is split off stands before it."""


class Words(NamedTuple):
    """The words that stand where a call is looked for."""

    places: dict[int, str | None]
    """Their offsets, and what on its line would quote a call in the place of the word, if anything (rule 9)."""
    fences: tuple[Fence, ...]


class SearchingExtractor(Extractor):
    r"""An extractor that can tell which words it comes by while it looks for calls.

    >>> words = SearchingExtractor().search("Go! <!-- Go! -->\n> Go!", re.compile("Go!"))
    >>> words.places
    {0: None, 19: 'behind the > of a blockquote'}
    """

    __slots__ = ()

    def search(self, text: str, words: re.Pattern[str]) -> Words:
        """Find words in one whole model output.

        Args:
            text: the output.
            words: their pattern. Where it matches inside of what may be a call, or of quotation, there is no word.
        """
        stream = _Searching(self._calls, self._reads, self._options.limits, words)
        stream.read_whole(text, Content(is_kept=False), 0)
        return Words(stream.places, tuple(stream.fences))


class _Searching(ExtractionStream):
    """A stream that remembers the words it comes by."""

    __slots__ = ("_has_text", "_words", "fences", "places")

    def __init__(self, calls: CallReader, reads: Reads, limits: Limits, words: re.Pattern[str]) -> None:
        super().__init__(calls, reads, limits, keep_content=False)
        self._words = words
        self._has_text = False
        self.places: dict[int, str | None] = {}
        self.fences: list[Fence] = []

    def _settle_text(self, end: int) -> None:
        source = self._source
        start, stop = source.mark - source.base, end - source.base
        for word in self._words.finditer(source.text, start, stop):
            super()._settle_text(source.base + word.start())
            source.pos = word.end()
            self.places[source.base + word.start()] = run_to_end(self._line.quotes(source))
        super()._settle_text(end)

    def _follow(self, format_: WireFormat, candidate: Candidate) -> Generator[None, None, WireFormat | None]:
        start, is_first = self._source.offset, not self._has_text
        then = yield from super()._follow(format_, candidate)
        if format_ is FENCE:
            self.fences.append(Fence(start, self._source.mark, is_first))
        return then

    def _take_text(self, end: int) -> None:
        if not self._has_text:
            self._has_text = bool(self._source.slice(self._source.mark, end).strip())
        super()._take_text(end)
