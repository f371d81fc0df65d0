"""Calls that a model meant to make, but that are not read: attempts, and calls in a form that a suite leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from llama3_acceptance.values import Suite
from llama3_tools.values import Extraction, Rejection, RejectionReason


def find_unread_calls(text: str, extraction: Extraction, suite: Suite, *, complete: bool) -> list[Rejection]:
    """Return the attempts at a call (principle 7), and those calls and attempts that the suite's `reading` leaves out.

    >>> from llama3_acceptance import Reading
    >>> suite = Suite("Clocks", (), (), reading=Reading("function"))
    >>> text = 'It is {"name": "clock", "parameters": {}}'
    >>> find_unread_calls(text, suite.extractor.extract(text), suite, complete=True)
    [<Rejection 6:41 of 'clock' malformed: the form json is not read>]

    Args:
        text: the model's output.
        extraction: what the suite's extractor made of it.
        suite: says how text is read.
        complete: whether the model ended its turn, rather than a limit (principle 6).
    """
    found = list(extraction.attempts)
    if suite.reading.formats is not None:
        found += _in_other_forms(text, extraction, suite, complete=complete)
    return sorted(found, key=lambda one: one.span)


def _in_other_forms(text: str, extraction: Extraction, suite: Suite, *, complete: bool) -> Iterator[Rejection]:
    """Yield the calls and attempts that are there if all forms are read, unless others were found before."""
    usual = replace(suite, reading=replace(suite.reading, formats=None)).extractor.extract(text, complete=complete)
    taken = [call.span for call in extraction.tool_calls] + [one.span for one in extraction.attempts]
    unread = [
        Rejection(
            call.span, RejectionReason.MALFORMED, f"the form {call.format} is not read", call.name, is_attempt=True
        )
        for call in usual.tool_calls
    ]
    for one in (*unread, *usual.attempts):
        end = one.span[1] + (one.name is None)  # `<|python_tag|>` with words in it, which count as code here
        if not any(taken_from < end and one.span[0] < taken_to for taken_from, taken_to in taken):
            yield one
