"""Which words of a model output stand where a call could stand: not in quotation, nor in what may be a call."""

from __future__ import annotations

import re
from itertools import groupby
from typing import NamedTuple

from llama3_tools.extractor import Extractor
from llama3_tools.output.spans import index_at, joined, kept_apart
from llama3_tools.stream.line import Line
from llama3_tools.values import Span

__all__ = ["Words", "find_words"]


class Words(NamedTuple):
    """The words that stand where a call could stand."""

    places: dict[int, str | None]
    """Their offsets, and what on its line would quote a call in the place of the word, if anything (rule 9)."""
    quotations: list[Span]
    """Where quotation stands, reasoning that is split off included."""


def find_words(extractor: Extractor, text: str, words: re.Pattern[str]) -> Words:
    r"""Find words in one whole model output.

    >>> find_words(Extractor(), "Go! <think>Go!</think>\n> Go!", re.compile("Go!")).places
    {0: None, 25: 'after the > of a blockquote'}

    Args:
        extractor: reads the output.
        text: the output.
        words: their pattern. If it matches inside of what may be a call, or of quotation, there is no word.
    """
    stream = extractor.stream()
    trace = stream.keep_trace()
    candidates = kept_apart([rejection.span for rejection in stream.read_whole(text).rejections])
    line, tools = Line(), extractor.tools or ()
    places: dict[int, str | None] = {}
    quotations: list[Span] = []
    for is_quotation, spans in groupby(trace, key=lambda traced: traced[2]):
        for start, end in joined((start, end) for start, end, _ in spans):
            at = start
            for word in () if is_quotation else words.finditer(text, start, end):
                line.add(text[at : word.start()])
                at = word.start()
                if index_at(candidates, at) is None:
                    places[at] = line.quotation(tools)
            line.add(text[at:end])
            if is_quotation:
                quotations.append((start, end))
    return Words(places, quotations)
