"""Calls that were meant and cannot be read: they are no answer in words. And JSON in a text, for strict mode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from llama3_acceptance.values import Suite, Verdict
from llama3_tools.extractor import Extractor
from llama3_tools.reading.json_tokens import JsonTokens
from llama3_tools.values import Extraction, Rejection, RejectionReason

__all__ = ["Attempt", "find_attempts", "json_in"]

_FENCE = re.compile(r"(`{3,})([\w+#.-]*)(.*?)(?:\1|\Z)", re.DOTALL)
_CALL_LANGUAGES = ("", "json", "tool_call", "python")
_INLINE_CODE = re.compile(r"(``?)[^`\n]*\1")

_KEYS = ("type", "id", "name", "tool_name", "function", "parameters", "arguments", "tool_call", "tool_calls")
_FIRST_KEY = re.compile(r'[\[\s]*\{\s*(?:\Z|"([^"]*)("?))')
_OPEN_NAME = re.compile(r'"(?:name|tool_name|function)"\s*:\s*"([^"]*)\Z')
_TAG = re.compile(r"<\|python_tag\|>\s*")
_CODE = re.compile(r"[\[{<]|[\w.]+\s*\(|\Z")
_BRACKET = re.compile(r"[\[{]")


class Attempt(NamedTuple):
    """A call that was meant, and cannot be read."""

    verdict: Verdict
    """Malformed, or truncated."""
    why: str
    """What is wrong with it."""
    written: str
    """What the model wrote, in whole or from there on."""


def find_attempts(text: str, extraction: Extraction, suite: Suite) -> list[Attempt]:
    """Return the calls that were meant: those that the extraction rejected or did not look for; else one in prose.

    >>> from llama3_tools import Tool
    >>> suite = Suite("Clocks", (Tool("clock"),), ())
    >>> text = "clock(17*23)"
    >>> find_attempts(text, suite.extractor.extract(text), suite)[0].why
    'a call in a form that does not exist'
    >>> find_attempts("A {clock} hangs here.", suite.extractor.extract("A {clock} hangs here."), suite)
    []

    Args:
        text: the model's output.
        extraction: what the suite's extractor made of it.
        suite: has the declared tools, and says how text is read.
    """
    tools = [tool.name for tool in suite.tools]
    found = [
        Attempt(
            Verdict.TRUNCATED if rejection.reason is RejectionReason.TRUNCATED else Verdict.MALFORMED,
            rejection.detail,
            text[slice(*rejection.span)],
        )
        for rejection in extraction.rejections
        if rejection.is_attempt or _may_be_meant(rejection, text, tools)
    ]
    usual = _as_usual(text, extraction, suite)
    read = {call.span for call in extraction.tool_calls}
    found += [
        Attempt(Verdict.MALFORMED, f"the form {call.format} is not read", text[slice(*call.span)])
        for call in usual.tool_calls
        if call.span not in read
    ]
    if found:
        return found
    end = max((end for _, end in read), default=0)
    seen = _seen_as_prose(usual.content or "", _behind_calls(text, end, suite), tools)
    return [] if seen is None else [seen]


def _as_usual(text: str, extraction: Extraction, suite: Suite) -> Extraction:
    """Return what is extracted where no form is left out: a call in one that is left out is no answer in words."""
    if suite.reading.formats is None:
        return extraction
    return replace(suite, reading=replace(suite.reading, formats=None)).extractor.extract(text)


def _behind_calls(text: str, end: int, suite: Suite) -> str:
    """Return the text after the last call as it was written, without what was thought there."""
    starts = suite.reading.starts_reasoning and not end
    return _of_reasoning(starts=starts).extract(text[end:]).content or ""


@cache
def _of_reasoning(*, starts: bool) -> Extractor:
    return Extractor(formats="none", split_reasoning=True, starts_reasoning=starts)


def json_in(text: str) -> Iterator[str]:
    """Yield the JSON objects and arrays in a text, in words too, and one that the text ends in.

    >>> list(json_in('On {it}: {"a": [1]}, [x], [2'))
    ['{"a": [1]}', '[2']
    """
    pos = 0
    while bracket := _BRACKET.search(text, pos):
        start = bracket.start()
        tokens = JsonTokens(start)
        end = tokens.read(text, start, 0, ended=True)
        reason = tokens.refusal.reason if tokens.refusal else None
        is_cut_off = reason is RejectionReason.TRUNCATED and (tokens.last > start or not text[:start].strip())
        if is_cut_off or reason in (None, RejectionReason.TOO_DEEP):
            yield text[start:end].rstrip()
        pos = end if reason in (None, RejectionReason.TRUNCATED) else max(tokens.resume, start + 1)


def _may_be_meant(rejection: Rejection, text: str, tools: Sequence[str]) -> bool:
    """Return whether what is no attempt may still be no answer in words: it names a tool, or ends before the name."""
    if rejection.reason is RejectionReason.QUOTED:
        return False
    written = text[slice(*rejection.span)]
    if any(f'"{tool}"' in written for tool in tools):
        return True
    return rejection.reason is RejectionReason.TRUNCATED and _begins_call(written, tools)


def _begins_call(written: str, tools: Sequence[str]) -> bool:
    """Return whether what the output ends in may begin a call: of one of the tools, if it got to the name."""
    first = _FIRST_KEY.match(written)
    if first is None:
        return False
    key, closing = first[1] or "", first[2]
    if not closing:
        return any(known.startswith(key) for known in _KEYS)
    name = _OPEN_NAME.search(written)
    return key in _KEYS and (name is None or not tools or any(tool.startswith(name[1]) for tool in tools))


def _seen_as_prose(content: str, behind_calls: str, tools: Sequence[str]) -> Attempt | None:
    """Find a call in a form that does not exist, in what is neither quotation nor thoughts."""
    for tag in _TAG.finditer(behind_calls):
        if _CODE.match(behind_calls, tag.end()):
            return Attempt(Verdict.MALFORMED, "no call after <|python_tag|>", behind_calls[tag.start() :])
    words = _unquoted(content).strip()
    form = _forms(tools).search(words) or _whole(tools).match(words)
    if form is None:
        return None
    written = words[form.start() :]
    if form.end() == len(words) and not written.endswith(")"):
        return Attempt(Verdict.TRUNCATED, "the output ends where a call begins", written)
    return Attempt(Verdict.MALFORMED, "a call in a form that does not exist", written)


def _unquoted(text: str) -> str:
    """Return a text without code that is shown: all but fences in which calls are looked for, too."""
    text = _FENCE.sub(
        lambda fence: (
            fence[3] if fence[2].lower() in _CALL_LANGUAGES and fence[3].lstrip()[:1] in ("{", "[", "<") else " "
        ),
        text,
    )
    return _INLINE_CODE.sub(" ", text)


def _forms(tools: Sequence[str]) -> re.Pattern[str]:
    """Match what no prose has: a tool's name under a key of calls, arguments in braces, and the wrappers of calls."""
    tool = _any_of(tools)
    return re.compile(
        rf"""(?:\{{\s*["']?|["'])(?:name|tool_name|function)["']?\s*:\s*["']?{tool}(?!\w)"""
        r"""|(?:\{\s*["']?|["'])(?:parameters|arguments)["']?\s*:\s*\{"""
        rf"""|<tool_call>\s*(?:\Z|[\[{{<]|{tool}(?!\w))"""
        r"""|(?:\A|\n)[ \t]*(?:<tool_call>|<function=[^<>\s]*>?|\[TOOL_CALLS\])"""
        rf"""|<function={tool}>"""
    )


def _whole(tools: Sequence[str]) -> re.Pattern[str]:
    """Match a text that is nothing but a call as in code, or an opening brace."""
    return re.compile(rf"\[?{_any_of(tools)}\((?:[^()]|\([^()]*\))*\)?\]?\Z|[\[{{]+\Z")


def _any_of(tools: Sequence[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, tools)) or '(?!)'})"
