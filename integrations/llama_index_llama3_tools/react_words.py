"""Which words of ReAct are a step's own: not those in quotation, where no call is looked for either (rule 9)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from llama3_tools.formats.protocol_tokens import TOKEN_PATTERN
from llama3_tools.stream.unquoted_words import Fence, SearchingExtractor
from llama3_tools.values import Span

__all__ = ["Masked", "mask_quoted"]

_WORD = re.compile(r"(?:Action(?: Input)?|Answer):")
_STEP = re.compile(r"(?:Action|Answer):")
_OPENING = re.compile(r"(?:(`{3,16})|~{3,16})([^\r\n]*)[\r\n]\s*(?=Thought:|Action:)")
_NOTHING = re.compile(rf"(?:\s|`{{3,}}|{TOKEN_PATTERN})*")
_FIRST_PRIVATE, _LAST = 0xE000, 0x10FFFF


class Masked:
    r"""An output in which the words that are quoted have lost their colon, and nothing else is changed.

    >>> masked = mask_quoted(SearchingExtractor(), "<!-- Action: f --> Answer: no")
    >>> "Action:" in masked.text, "Answer:" in masked.text, masked.shown(masked.text[:16])
    (False, True, '<!-- Action: f -')
    """

    __slots__ = ("_mark", "text")

    def __init__(self, text: str, colons: Iterable[int]) -> None:
        used = set(text)
        self._mark = next((char for char in map(chr, range(_FIRST_PRIVATE, _LAST + 1)) if char not in used), "\0")
        self.text = _replaced(text, ((at, at + 1) for at in colons), self._mark)

    def shown(self, part: str) -> str:
        """Give a part of the text as the model wrote it."""
        return part.replace(self._mark, ":")


def mask_quoted(extractor: SearchingExtractor, output: str) -> Masked:
    r"""Mask the words that are quoted.

    A fence that begins with a step is its wrapper, rather than quotation, where nothing stands behind it but an
    observation, which the model makes up: if nothing stands before it either, or it has no language and is closed.
    The input of a quoted action is quoted with it. Where quotation holds all of the words for actions and answers, as a
    model writes of a tag that it never closes, the answers count.

    >>> "Action:" in mask_quoted(SearchingExtractor(), "```\nThought: So.\nAction: f\n```").text
    True
    >>> "Action:" in mask_quoted(SearchingExtractor(), "```\nThought: So.\nAction: f\n```\nsays the page").text
    False
    """
    if not _WORD.search(output):
        return Masked(output, ())
    found = extractor.search(output, _WORD)
    wrappers = [span for fence in found.fences for span in _wrapper(output, fence)]
    if wrappers:
        found = extractor.search(_replaced(output, wrappers, " "), _WORD)
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
    """Tell whether a word is quoted: what is on its line matters for actions alone, as prose has answers anywhere."""
    if word.start() not in places:
        return True
    return word[0].startswith("Action") and places[word.start()] is not None


def _wrapper(text: str, fence: Fence) -> Iterator[Span]:
    """Give the opening fence and the closing one, if they wrap a step."""
    opening = _OPENING.match(text, fence.start, fence.end)
    if not opening:
        return
    behind = _NOTHING.match(text, fence.end)
    rest = behind.end() if behind else fence.end
    if rest < len(text) and not text.startswith("Observation:", rest):
        return
    inside = text[opening.end() : fence.end].rstrip()
    char = opening[0][0]
    length = len(inside) - len(inside.rstrip(char))
    is_closed = length >= len(opening[0]) - len(opening[0].lstrip(char))
    if not fence.is_first and (opening[2].strip() or not is_closed):
        return
    yield opening.start(), opening.end(2)
    if is_closed:
        end = opening.end() + len(inside)
        yield end - length, end


def _replaced(text: str, spans: Iterable[Span], char: str) -> str:
    """Give the text with the same character for each one in the spans."""
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], char * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])
