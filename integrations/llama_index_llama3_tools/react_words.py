"""Which words of ReAct are a step's own: not those in quotation, where no call is looked for either (rule 9)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llama3_tools import Extractor
from llama3_tools.output.unquoted_words import find_words
from llama3_tools.values import Span

__all__ = ["Masked", "mask_quoted"]

_WORD = re.compile(r"(?:Action(?: Input)?|Answer):")
_STEP = re.compile(r"(?:Action|Answer):")
_OPENING = re.compile(r"(?P<fence>`{3,16})(?P<language>[^\r\n]*)[\r\n]\s*(?=Thought:|Action:)")
_CLOSING = re.compile(r"\s*(?P<fence>`{3,})")
_NOTHING = re.compile(r"(?:\s|`{3,}|<\|[a-z_]{1,32}\|>)*")
_LONGEST_FENCE = 16
_FIRST_PRIVATE, _LAST = 0xE000, 0x10FFFF


class Masked:
    r"""An output in which the words that are quoted have lost their colon, and nothing else is changed.

    >>> masked = mask_quoted(Extractor(), "<think>Action: f</think> Answer: no")
    >>> "Action:" in masked.text, "Answer:" in masked.text, masked.shown(masked.text[:16])
    (False, True, '<think>Action: f')
    """

    __slots__ = ("_mark", "text")

    def __init__(self, text: str, colons: Iterable[int]) -> None:
        used = set(text)
        self._mark = next((char for char in map(chr, range(_FIRST_PRIVATE, _LAST + 1)) if char not in used), "\0")
        self.text = _replaced(text, ((at, at + 1) for at in colons), self._mark)

    def shown(self, part: str) -> str:
        """Return a part of the text as the model wrote it."""
        return part.replace(self._mark, ":")


def mask_quoted(extractor: Extractor, output: str) -> Masked:
    r"""Mask the words that are quoted.

    A fence that begins with a step is its wrapper, rather than quotation, where nothing stands after it but an
    observation, which the model makes up: if nothing stands before it either, or it has no language and is closed.
    The input of a quoted action is quoted with it. Where quotation holds all of the words for actions and answers, as a
    model writes of a tag that it never closes, the answers count.

    >>> "Action:" in mask_quoted(Extractor(), "```\nThought: So.\nAction: f\n```").text
    True
    >>> "Action:" in mask_quoted(Extractor(), "```\nThought: So.\nAction: f\n```\nsays the page").text
    False
    """
    if not _WORD.search(output):
        return Masked(output, ())
    found = find_words(extractor, output, _WORD)
    wrappers = _wrappers(extractor, output, found.quotations)
    if wrappers:
        found = find_words(extractor, _replaced(output, wrappers, " "), _WORD)
    quoted: list[re.Match[str]] = []
    own: list[re.Match[str]] = []
    is_action_quoted = False
    for word in _WORD.finditer(output):
        is_quoted = _is_quoted(word, found.places) or (is_action_quoted and word[0] == "Action Input:")
        (quoted if is_quoted else own).append(word)
        if word[0] == "Action:":
            is_action_quoted = is_quoted
    if not any(_STEP.match(word[0]) for word in own):
        quoted = [word for word in quoted if word[0].startswith("Action")]
    return Masked(output, (word.end() - 1 for word in quoted))


def _is_quoted(word: re.Match[str], places: dict[int, str | None]) -> bool:
    """Return whether a word is quoted: what is on its line matters for actions alone, as prose has answers anywhere."""
    if word.start() not in places:
        return True
    return word[0].startswith("Action") and places[word.start()] is not None


def _wrappers(extractor: Extractor, text: str, quotations: Iterable[Span]) -> list[Span]:
    """Return the opening and the closing of each fence that wraps a step."""
    wrappers: list[Span] = []
    is_next = False
    for start, end in quotations:
        opening = _OPENING.match(text, start) or _OPENING.match(text, _before_fence(text, start))
        if opening is None or opening.start() > start:
            continue
        is_first = not is_next and not (extractor.extract(text[: opening.start()]).content or "").strip()
        is_next = True
        wrappers += _wrapper(text, opening, end, is_first=is_first)
    return wrappers


def _before_fence(text: str, end: int) -> int:
    """Return the index at which the fence begins that ends at an index."""
    start = max(end - _LONGEST_FENCE, 0)
    return start + len(text[start:end].rstrip("`"))


def _wrapper(text: str, opening: re.Match[str], end: int, *, is_first: bool) -> list[Span]:
    """Return the opening of a fence and its closing, if they wrap a step, which ends at an index."""
    fence = opening["fence"]
    closing = _CLOSING.match(text, end)
    is_closed = closing is not None and closing["fence"].startswith(fence)
    nothing = _NOTHING.match(text, closing.end() if closing and is_closed else end)
    rest = nothing.end() if nothing else end
    if rest < len(text) and not text.startswith("Observation:", rest):
        return []
    if not is_first and (opening["language"].strip() or not is_closed):
        return []
    spans = [(opening.start(), opening.end("language"))]
    return [*spans, closing.span("fence")] if closing and is_closed else spans


def _replaced(text: str, spans: Iterable[Span], char: str) -> str:
    """Return the text with the same character for each one in the spans."""
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], char * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])
