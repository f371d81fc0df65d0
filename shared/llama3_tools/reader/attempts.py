"""What counts as an attempt: a rejection worth asking the model again for (principle 7). Only this module decides.

It is decided at the end of a turn, from evidence: the shape, the reason, and the text shortly before and after.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum

from llama3_tools.literals.bracket_span import LINE_BREAK, BracketSpan
from llama3_tools.values import RejectionReason

LINE = 160
"""How much of the line before something can be a list marker and labels, and how much after it punctuation."""
MOST_AFTER = 1024
"""How much of the text after it is searched for its closing tag and for words."""

_NEVER = (RejectionReason.SCHEMA_ECHO, RejectionReason.TOO_MANY, RejectionReason.TOO_LONG)
_TAG = r"</?[|\uff5c]?[A-Za-z!?/][^<>\n]{0,60}>|\[/?[A-Z][A-Z_]{1,30}\]"
_LABEL = r"(?:\w[\w'-]*(?:[ \t]+\w[\w'-]*){0,3}[ \t]*[\"'*`”]*:)"
_FILL = rf"(?:{_TAG}|[^\w.!?…|])*"
_ALONE = re.compile(
    rf"(?![ \t]{{4}}[ \t]*\Z)(?=(?P<marks>(?:{_TAG}|[^\w.!?…<>=|#])*))(?P=marks)"
    rf"(?:\d{{1,4}}[.)][ \t]+)?(?:{_FILL}{_LABEL}){{0,2}}"
    rf"(?:{_TAG}|[^\w.!?…>=|#])*(?:<[A-Za-z|/][^<>\n]{{0,60}})?\Z"
).match
"""What may be before it on the same line: the marker of a list, a label or two, punctuation, markup."""
_MARKER = re.compile(
    rf"(?=(?P<marks>(?:{_TAG}|<[A-Za-z|/][^<>\n]{{0,60}}\Z|[^\w•*+-])*))(?P=marks)"
    r"(?:[•*+-]\s|\d{1,4}[.)]|(?P<label>[^\W\d]))"
).match
"""The marker of a list, or a label."""
_SAYS_CALL = re.compile(r"tool|func|call|action", re.IGNORECASE).search
_OPENING = " \t\"'`*([{“‘«"  # noqa: RUF001
_ENDS_CLAUSE = tuple(".!?:;…。！？：|")  # noqa: RUF001
_AFTER = re.compile(rf"(?:{_TAG}|[ \t\r\xa0\"'`*,;:)\]}}>”’».!?…+])*").match  # noqa: RUF001
"""What may follow on its line: punctuation and markup."""
_ELIDED = re.compile(r"[({\[=:,]\s*[\"']?(?:\.{3}|…)[\"']?\s*[,)}\]]").search
_PLACEHOLDER = re.compile(r"[(=,]\s*[\"']?<[\w \t-]{1,40}>[\"']?\s*[,)]").search
"""Searches for `f(city=<city>)`. In an object it is an attempt: models write `{"x": <result of the first>}`."""
_LOOP = re.compile(r"[\])]{0,8}\s{1,8}for\s[\w, ]{1,40}\sin\s").match
_WORD = re.compile(rf"{_TAG}|</[\w:|-]{{0,30}}\Z|```\w*|\n[ \t]{{0,8}}\d{{1,4}}[.)][ \t]|(?P<word>[\w=])").finditer
_KEY = re.compile(r"[(\[\s]{0,8}\{\s{0,4}[\"'“”‘’]?(\w{1,64})[\"'“”‘’]?\s{0,4}[:=]").match  # noqa: RUF001
_OPENS = re.compile(r"[^([{\n]{0,80}(?:\n[^([{\n]{0,80}){0,2}[([{]").match
_MAY_OPEN = re.compile(
    r"[^([{\n]{0,80}(?:\n[^([{\n]{0,80}){0,2}"
    r"(?:[([{][(\[\s]{0,8}\{?\s{0,4}[\"'“”‘’]?\w{0,64}[\"'“”‘’]?\s{0,4})?\Z"  # noqa: RUF001
).match
"""Matches what may become arguments whose first key is known."""
_MORE = re.compile(r"[ \t\])*`]{0,8}(?:\s{0,8}[\w \t]{1,32}:\s{0,8})?(?=[{\[(])").match
_PAIRS = re.compile(
    r"(?:[,\s]\s{0,4}\w{1,64}\s?=\s?(?:\"[^\"\n]*(?:\"|\Z)|'[^'\n]*(?:'|\Z)|\[[^\]\n]*(?:\]|\Z)|[^\s,\])]+))+"
).match
_SAYS = r"(?:tool|func(?:tion)?|call(?:ing)?|python_tag)s?"
_NO_RESULT = r"(?![^<>\[\]\n]{0,40}(?:result|response|output|end\b))(?!tools\b|available_tools)"
_OPENER = re.compile(
    rf"[<\[][|\uff5c]?{_NO_RESULT}(?!END_)(?:\w*[_:-])??{_SAYS}(?![a-z0-9])[^<>\[\]{{}}\n]{{0,60}}[>\]]?", re.IGNORECASE
).finditer
_CLOSER = re.compile(
    r"</\w{0,24}(?:tool|func|call)[\w:-]{0,30}>|\[(?:/|END_)[A-Z_]{1,30}\]|<\|[a-z_]{1,24}\|>", re.IGNORECASE
).search


def open_tool_markup(markup: str) -> str:
    """Return the last tag or token in some markup whose name says tool, func or call, if nothing closes it."""
    said = markup.lower()
    if not ("tool" in said or "func" in said or "call" in said or "python_tag" in said):
        return ""  # known in a tenth of the time: ChatML's runs of tokens are long
    openers = [*_OPENER(markup)] if "<" in markup or "[" in markup else []
    if not openers or any(sign in markup[openers[-1].end() :] for sign in ("</", "[/", "[END_")):
        return ""
    return openers[-1][0]


class Shape(Enum):
    """What a rejection looks like."""

    OBJECT = "an object with a call's keys, or one that says a declared name and nothing but its parameters"
    NAMED = "a declared name with arguments in another shape"
    LISTED = "an undeclared name with arguments by name, in a list"
    TAG = "markup whose name says tool, func or call, whatever is in it"
    OTHER = "anything else"


class After(Enum):
    """What follows on the line."""

    NOTHING = "nothing but punctuation and markup"
    STOP = "a full stop"
    WORDS = "words"


@dataclass(slots=True, eq=False)
class Evidence:
    """What is known of a rejection."""

    shape: Shape
    before: str
    """The line before it, or the end of that."""
    raw: str = ""
    """The beginning of what was written of it."""
    is_whole: bool = True
    """Whether all of it is there; if not, it closes in what follows."""
    is_part: bool = False
    """Whether it is a part of something: of data, of code, of a quotation."""
    in_markup: bool = False
    """Whether it is in markup whose name says tool, func or call."""
    closes_with_output: bool = False
    """Whether nothing but the end of the output closes that markup: `<|python_tag|>`."""
    in_list: bool = False
    """Whether it is in a list of pythonic calls."""
    in_thoughts: bool = False
    """Whether it is in thoughts, which are not an answer."""
    is_odd: bool = False
    """Whether only its name was found, in an odd form: its arguments are in what follows."""
    parameters: Collection[str] = ()
    after: str = ""
    """The text that follows."""

    @property
    def is_full(self) -> bool:
        """Whether enough of the following text has come."""
        return len(self.after) >= MOST_AFTER

    @property
    def may_close(self) -> bool:
        """Whether it is in markup that is still open and is not prose about a tag: `<tool_call> is a tag`."""
        if not self.in_markup or self.is_run_into or self.is_full or _CLOSER(self.after) is not None:
            return False
        return self.shape is not Shape.TAG or self.after[:1] != " " or _on_line(self.after) is not After.WORDS

    @property
    def may_have_key(self) -> bool:
        """Whether the first key of its arguments may still come: `{name: "search", parameters: {…`."""
        return self.is_odd and bool(self.parameters) and _MAY_OPEN(self.after) is not None

    @property
    def begins_line(self) -> bool:
        """Whether only a marker, a label, punctuation and markup are before it on its line."""
        return len(self.before) < LINE and _ALONE(self.before) is not None

    @property
    def is_run_into(self) -> bool:
        """Whether words run into it."""
        text = self.before.rstrip(_OPENING)
        while text.endswith(">") and (tag := text.rfind("<")) >= 0:  # `So I will.</think><|python_tag|>…`
            text = text[:tag].rstrip(_OPENING)
        return not self.begins_line and text != "" and not text.endswith(_ENDS_CLAUSE)

    def is_told(self, *, has_words: bool) -> bool:
        """Return whether a label or a list marker shows that it is part of an answer.

        >>> Evidence(Shape.NAMED, "Refused: ").is_told(has_words=True)
        True
        >>> Evidence(Shape.NAMED, "- ").is_told(has_words=False)
        False
        """
        marker = _MARKER(self.before)
        if marker is None:
            return False
        return _SAYS_CALL(self.before) is None if marker["label"] else has_words

    @property
    def first_key(self) -> str:
        """The first key of its arguments, if these are an object."""
        text = self.after if self.is_odd else self.raw
        opens = _OPENS(text)
        key = _KEY(text, opens.end() - 1) if opens else None
        return key[1] if key else ""

    @property
    def is_elided(self) -> bool:
        """Whether its arguments leave something out, or it continues as code: `[f(a=x) for x in xs]`."""
        if not (self.is_odd or self.is_whole) and self.after.lstrip().startswith(("...", "…")):
            return True
        if self.in_list and _LOOP(self.after):
            return True
        arguments = self.after[:LINE] if self.is_odd else self.raw
        has_placeholder = self.shape is not Shape.OBJECT and _PLACEHOLDER(arguments) is not None
        return has_placeholder or _ELIDED(arguments) is not None

    def tag_end(self) -> int:
        """Return the index in what follows at which the tag closes, or all that is there."""
        closer = _CLOSER(self.after)
        return len(self.after) if closer is None else closer.start()

    def end(self) -> int:
        """Return the index in what follows at which it has closed."""
        if self.is_odd:
            pairs = _PAIRS(self.after)
            opens = _OPENS(self.after)
            if pairs is not None and (opens is None or pairs.start() < opens.end() - 1):
                return pairs.end()
            return 0 if opens is None else _closed(self.after, opens.end() - 1)
        if self.in_list and "]" not in self.after:
            return len(self.after.partition("\n")[0])
        if self.in_list:
            return _closed(f"[{self.after}", 0) - 1
        if self.is_whole:
            return 0
        text = self.raw + self.after
        opens = _OPENS(text)
        return max(_closed(text, opens.end() - 1) - len(self.raw), 0) if opens else 0


def _closed(text: str, at: int) -> int:
    """Return the index after the bracket that closes the one at an index, and others that follow it directly."""
    while True:
        span, pos = _span(text, at, tolerant=text[at] == "{")
        if span.flaw == LINE_BREAK:
            span, pos = _span(text, at, tolerant=True)
        more = _MORE(text, pos) if span.is_complete else None
        if more is None or more.end() >= len(text):
            return pos
        at = more.end()


def _span(text: str, at: int, *, tolerant: bool) -> tuple[BracketSpan, int]:
    """Return what was read of a bracket at an index, and the index after that."""
    span, pos, before = BracketSpan(tolerant=tolerant), at, -1
    while before != pos and not (span.flaw or span.is_complete):
        before, pos = pos, span.read(text, pos, ended=True)
    return span, pos


def _on_line(text: str) -> After:
    """Return what follows on the line at the beginning of some text."""
    found = _AFTER(text)
    rest = text[found.end() : found.end() + 1] if found else ""
    if text[:1] in ("[", "(") or (rest and rest not in "\n{[<#"):
        return After.WORDS
    return After.STOP if found and any(char in ".!?…" for char in found[0]) else After.NOTHING


def line_before(text: str, at: int, begin: int = 0) -> str:
    """Return what is before an index on its line, or the end of that; the line does not begin before another index."""
    begin = max(at - LINE, begin, 0)
    return text[max(text.rfind("\n", begin, at) + 1, begin) : at]


def words_from(text: str, pos: int) -> int:
    """Return the index of the first word from an index on, the numbers of items and markup aside; -1 if none is."""
    return next((word.start() for word in _WORD(text, pos) if word["word"]), -1)


def is_attempt(  # noqa: C901, PLR0911 (one rule after the other)
    found: Evidence, reason: RejectionReason, *, has_words: bool, words_follow: Callable[[], bool]
) -> bool:
    """Return whether asking again is worth more than the answer that is there.

    Args:
        found: what is known of the rejection.
        reason: why it was rejected.
        has_words: whether the output has words before it, thoughts aside; or anywhere else, if it is in thoughts.
        words_follow: whether words follow, calls and further rejections aside; asked only if it matters.
    """
    if found.is_part or reason in _NEVER or (found.is_elided and not found.in_markup):
        return False
    if reason is RejectionReason.QUOTED:
        return not has_words and (found.in_thoughts or not words_follow())
    if found.in_markup:
        end = found.end()
        closer = _CLOSER(found.after, end)
        if found.shape is Shape.TAG and found.closes_with_output:
            return not found.is_run_into and _OPENS(found.after) is not None  # `<|python_tag|>Hello!` is an answer
        if closer is not None or found.closes_with_output:
            return not (found.is_run_into or (closer and _on_line(found.after[closer.end() :]) is After.WORDS))
        if found.begins_line and not words_follow():
            return True
        if found.shape is Shape.TAG:
            return False
    if found.shape is Shape.OBJECT:
        follows = _on_line(found.after[found.end() :])
        if reason is RejectionReason.MISSING_ARGUMENTS and follows is After.WORDS:
            return False
        return not (found.is_run_into and follows is not After.NOTHING)
    if found.shape is Shape.OTHER or not found.begins_line:
        return False
    if found.shape is Shape.NAMED and found.first_key in found.parameters:
        return True
    return not found.is_told(has_words=has_words) and not words_follow()
