"""What is wrong with an endpoint, told from its answers, and what to do about it.

Each check looks at one thing, and yields a finding or none. `_CHECKS` has the order in which findings are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from llama3_acceptance.doctor.checks import access, calls, replies, requests
from llama3_acceptance.doctor.examination import Examination
from llama3_acceptance.doctor.finding import Finding

_Check: TypeAlias = Callable[[Examination], Iterator[Finding]]

_REFUSALS: tuple[_Check, ...] = (
    access.refused_key,
    access.missing_model,
    access.no_openai_server,
    access.no_answer,
)
"""What keeps everything else from being asked."""

_CHECKS: tuple[_Check, ...] = (
    access.behind_the_gateway,
    access.busy_server,
    replies.wrong_template,
    requests.refused_tools,
    calls.malformed_calls,
    calls.dropped_calls,
    calls.ignored_tools,
    calls.long_thoughts,
    calls.calls_as_text,
    calls.lost_calls,
    calls.lost_text,
    replies.different_streams,
    requests.short_context,
    requests.failed_prompts,
    requests.refused_results,
    calls.mistyped_arguments,
    replies.unreadable_calls,
    calls.unknown_tools,
    calls.ignored_choices,
    replies.wrong_finish_reasons,
    replies.not_asked,
)


def find_faults(examination: Examination) -> tuple[Finding, ...]:
    """Return what is wrong with an endpoint, the most important first, and what is worth a note.

    Args:
        examination: what it answered.
    """
    for check in _REFUSALS:
        found = tuple(check(examination))
        if found:
            return found
    return tuple(finding for check in _CHECKS for finding in check(examination))
