"""What a text holds beside calls and words: attempts at a call, and JSON, for strict mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from llama3_acceptance.values import Suite
from llama3_tools.reading.json_tokens import JsonTokens
from llama3_tools.values import Extraction, Rejection, RejectionReason

__all__ = ["find_attempts", "json_in"]

_BRACKET = re.compile(r"[\[{]")
_NO_WORDS = " \t\r\n[]{}(),;"


def find_attempts(text: str, extraction: Extraction, suite: Suite, *, complete: bool) -> list[Rejection]:
    """Return the attempts at a call (rule 15), and two things more that are no answer in words.

    They are a call, or an attempt at one, in a form that the suite's `reading` leaves out; and whatever was rejected,
    if nothing else is left of the answer.

    >>> from llama3_acceptance import Reading
    >>> suite = Suite("Clocks", (), (), reading=Reading("function"))
    >>> text = 'It is {"name": "clock", "parameters": {}}'
    >>> find_attempts(text, suite.extractor.extract(text), suite, complete=True)
    [<Rejection 6:41 of 'clock' malformed: the form json is not read>]

    Args:
        text: the model's output.
        extraction: what the suite's extractor made of it.
        suite: says how text is read.
        complete: whether the model ended its turn, rather than a limit (rule 7).
    """
    found = list(extraction.attempts)
    if suite.reading.formats is not None:
        found += _in_other_forms(text, extraction, suite, complete=complete)
    return sorted(found, key=lambda one: one.span) or _in_place_of_words(text, extraction)


def _in_other_forms(text: str, extraction: Extraction, suite: Suite, *, complete: bool) -> Iterator[Rejection]:
    """Yield the calls and attempts that are there if no form is left out, where nothing was found before."""
    usual = replace(suite, reading=replace(suite.reading, formats=None)).extractor.extract(text, complete=complete)
    taken = [call.span for call in extraction.tool_calls] + [one.span for one in extraction.attempts]
    unread = [
        Rejection(
            call.span, RejectionReason.MALFORMED, f"the form {call.format} is not read", call.name, is_attempt=True
        )
        for call in usual.tool_calls
    ]
    for one in (*unread, *usual.attempts):
        if not any(start < one.span[1] and one.span[0] < end for start, end in taken):
            yield one


def _in_place_of_words(text: str, extraction: Extraction) -> list[Rejection]:
    rejected = [one for one in extraction.rejections if one.reason is not RejectionReason.QUOTED]
    words = extraction.content or ""
    for one in rejected:
        words = words.replace(text[slice(*one.span)], "", 1)
    return [] if extraction.tool_calls or words.strip(_NO_WORDS) else rejected


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
